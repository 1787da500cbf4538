# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the runs of a matrix from their directories, and makes tables of
several runs."""

import collections
import csv
import functools
import json
import math
import pathlib
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from wirelesslab.descriptions import Protocol
from wirelesslab.errors import LabError
from wirelesslab.lab import cells, definition, matrix
from wirelesslab.report import comparisons, possible_share
from wirelesslab.streams import (
    frame_log,
    freezes,
    lateness,
    link_schedules,
    measurements,
    quality,
    rtp_file,
    transports,
)

NS_PER_MS = 1e6
SIZE_CLASS = 10000  # bytes
NAN = math.nan
# The report shows after which time this percentage of the possible frames has
# arrived. The possible frames are those that a sender with perfect foresight
# could have delivered in time.
POSSIBLE_PERCENT = 90
Table = tuple[list[str], list[Any]]  # (heads, rows)


class Run:
    """The results of one stream of an experiment. Most experiments have a
    single stream. For such an experiment, there is one Run. If an experiment
    has several streams that are sent at the same time, there is one Run for
    each of them. `beside` contains all Runs of the experiment, including this
    one.
    """

    def __init__(self, directory: pathlib.Path, result: dict[str, Any],
                 build: pathlib.Path | None, late_ms: float,
                 by: str = "protocol", name: str = "",
                 transport: Protocol | None = None) -> None:
        self.directory = cells.stream_directory(directory, name)
        self.cell, self._home, self._name = result["cell"], directory, name
        self.transport = transport or self.cell["protocol"]
        self.beside = [self]
        self._lateness, self.machine = result["lateness"], result["machine"]
        self.warnings, self.left_out = result["warnings"], result["left_out"]
        # LINKS_BEGAN is the key for the start times of the emulated links.
        # Results that an older version has written do not have this key. The
        # value is then None.
        self._links_began_ns = result.get(cells.LINKS_BEGAN)
        self.late_ns = late_ms * NS_PER_MS
        self._late_ms, self._build = late_ms, build
        self._by = by

    @property
    def protocol(self) -> str:
        return "/".join(filter(None, (self.cell["protocol"]["name"],
                                      self._name)))

    @functools.cached_property
    def lateness(self) -> lateness.Lateness:
        """Returns the lateness of the run: how late processes on the machine
        woke up, and how late the emulated link pushed packets. The key
        "flagged" says whether this lateness may make the result of the run
        unreliable. The answer depends on the limit above which a frame counts
        as late. The option --late of the report sets this limit. If this limit
        differs from the limit that was used directly after the run, "flagged"
        is computed again.
        """
        own = self._lateness
        if "effects" not in own or matrix.kind(self.cell) == matrix.LIVE \
                or lateness.is_graded(own, self._late_ms):
            return own
        return lateness.grade(own, [run.passages for run in self.beside],
                              self._late_ms)

    @property
    def is_flagged(self) -> bool:
        return self.lateness["flagged"]

    @property
    def why_flagged(self) -> str:
        return lateness.words(self.lateness)

    @property
    def way(self) -> comparisons.Way:
        """The way in which the report compares runs, for example by protocol
        or by bitrate.
        """
        return comparisons.WAYS[self._by]

    @property
    def label(self) -> str:
        """The label of this run in plots and tables. It distinguishes the run
        from the runs with which it is compared, for example by the name of the
        protocol.
        """
        return self.way.label(self)

    @property
    def group(self) -> tuple[Any, ...]:
        """The key of the group to which the run belongs. Only runs of the same
        group are compared with each other.
        """
        return self.way.group(self)

    @property
    def build(self) -> pathlib.Path | None:
        """The path of the build directory, which contains the plugins and the
        clips.
        """
        return self._build

    @functools.cached_property
    def link(self) -> measurements.LinkLog:
        """The log of the run's link, with the packets of all its streams. If
        the run uses several links, their logs are joined.
        """
        return measurements.merge_links(self.links)

    @functools.cached_property
    def links(self) -> list[measurements.LinkLog]:
        """A list with the log of each link that the run uses. If the link of
        the run is a combined link, it consists of several links, and the list
        has a log for each of them. For any other link, the list has one log.
        """
        return [measurements.read_link(self._home / name, station)
                for name, station in cells.link_logs(self.cell)]

    @functools.cached_property
    def dropped_in_outages(self) -> int:
        """The number of packets that the sending host dropped while the link
        was closed. A schedule closes and opens a link at certain times. The
        log of the link does not contain these packets.
        """
        return link_schedules.dropped(self._home)

    @functools.cached_property
    def _logs(self) -> list[frame_log.Log]:
        logs = [frame_log.Log(self.directory / name)
                for name in (cells.SENT, cells.RECEIVED)]
        for log in logs:
            log.read()
        return logs

    @property
    def began_ns(self) -> int:
        """The time of day at which the stream began, in ns."""
        return self._logs[0].frames[0].wall_ns

    @functools.cached_property
    def passages(self) -> list[measurements.Passage]:
        sent, received = self._logs
        if not self.cell["protocol"][matrix.COMPUTED]:
            return measurements.in_real_time(sent, received)
        return measurements.in_virtual_time(
            sent, received, rtp_file.read(self.directory / cells.PACKETS),
            self.link.packets)

    def quality_of_link(self, place: int = 0) -> list[tuple[int, float]]:
        """Returns the quality of one link over time. The quality is the share
        of packets that get through at the first attempt, from 0 to 1. `place`
        is the index of the link. The result is a list of pairs (time in ns,
        quality from this time on). The times are counted from the start of the
        stream, when its first packet enters the link. The clock of the link
        starts earlier.
        """
        first = self.link.packets[0].arrival_ns if self.link.packets else 0
        return [(max(ns - first, 0), value)
                for ns, value in self.links[place].quality]

    def clip(self) -> pathlib.Path:
        return cells.clip_of(self.cell, self._build)

    @functools.cached_property
    def shown(self) -> list[int | None]:
        return measurements.shown(self.passages, self.late_ns)

    @functools.cached_property
    def pictures(self) -> list[quality.Picture]:
        """The quality of each picture that the viewer saw. The result is kept
        in a file, because this computation takes longer than all other
        computations of a run.
        """
        return kept_pictures(
            self.directory / f"quality-{self._late_ms}.csv", self.shown,
            lambda shown: quality.measure(self.clip(), shown, self.directory))

    @property
    def possible(self) -> float | None:
        """The share of the frames, between 0 and 1, that would have been
        decodable in time if a sender with perfect foresight had sent them. It
        is None if this share is not known.
        """
        return self._possible and self._possible.share

    @functools.cached_property
    def _possible(self) -> possible_share.Result | None:
        if not self.passages:
            return None
        return possible_share.of_run(
            self.cell, self.directory, self.passages, self.begin_of_links,
            self.began_ns, self._late_ms, self._build)

    @property
    def begin_of_links(self) -> list[float | None]:
        """A list with one entry for each link: the time in ns, by the clock of
        the link, at which the first frame was sent. The entry is None if this
        time is unknown.
        """
        began = self._links_began_ns or [None] * len(self.links)
        return [possible_share.begin_ns(
            link.packets, None if one is None else self.began_ns - one)
            for one, link in zip(began, self.links)]

    def numbers(self) -> dict[str, float]:
        """Returns {name: number}, for tables."""
        return dict(self._numbers)

    def know(self, numbers: dict[str, float]) -> None:
        """Stores `numbers`, the results of this run that another process has
        computed. A later call of numbers() returns them and does not compute
        them again.
        """
        self.__dict__["_numbers"] = numbers

    @functools.cached_property
    def _numbers(self) -> dict[str, float]:
        frames = measurements.by_type(self.passages, self.late_ns)
        latency = measurements.latencies_ns(self.passages)
        lateness = [way.lateness_ns()
                    for way in measurements.arrived(self.passages)]
        jitter = measurements.jitter_ns(self.passages)
        packets = self.link.packets
        dropped = self.dropped_in_outages
        offered = len(packets) + dropped
        lost = sum(packet.is_lost() for packet in packets) + dropped
        decodable = share(frames["decodable"].total(), frames["sent"].total())
        possible = NAN if self.possible is None else 100 * self.possible
        possible_delays_ms = self._possible.delays_ms if self._possible else []
        return {
            **{f"{what} {type}": frames[what][type]
               for what in frames for type in measurements.TYPES},
            "decodable %": decodable,
            "possible %": possible,
            "of the possible %": share(decodable, possible),
            "90 % of the possible ms": time_of_number_ms(
                lateness, POSSIBLE_PERCENT, len(possible_delays_ms)),
            "90 % of the possible at best ms": (
                frame_log.percentile(possible_delays_ms, POSSIBLE_PERCENT)
                if possible_delays_ms else NAN),
            "latency median ms": percentile_ms(latency, 50),
            "latency 95 % ms": percentile_ms(latency, 95),
            "latency 99 % ms": percentile_ms(latency, 99),
            "lateness 95 % ms": percentile_ms(lateness, 95),
            "lateness 99 % ms": percentile_ms(lateness, 99),
            "jitter mean ms": mean(jitter) / NS_PER_MS,
            "throughput Mbit/s":
                measurements.mean_throughput(self.passages) / 1e6,
            "decodable Mbit/s": measurements.decodable_throughput(
                self.passages, self.late_ns) / 1e6,
            "duration s":
                measurements.duration_ns(self.passages) / measurements.NS,
            "PSNR dB": quality.mean_psnr(self.pictures),
            "SSIM": mean([picture.ssim for picture in self.pictures]),
            "MOS": mean([measurements.mos(picture.psnr())
                         for picture in self.pictures]),
            **freezes.numbers(self.shown,
                              measurements.period_ns(self.passages)),
            "packets": offered,
            "packets lost %": share(lost, offered),
            "attempts mean": measurements.mean_attempts(packets),
            "beside others Mbit/s": self.common_rate / 1e6,
            "share %": share(self.common_rate, sum(self.common_rates)),
            "fairness": measurements.fairness(self.common_rates),
        }

    @property
    def common_rate(self) -> float:
        return self.common_rates[self.beside.index(self)]

    @functools.cached_property
    def common_rates(self) -> list[float]:
        """The bitrate in bit/s of each stream in `beside`, the list of all
        streams that were sent at the same time. Only the period in which all
        of them were being sent is measured.
        """
        none = [NAN] * len(self.beside)
        if self.beside == [self] or not all(run.passages
                                            for run in self.beside):
            return none
        return measurements.common_throughput(
            [(run.began_ns, run.passages) for run in self.beside]) or none


def kept_pictures(
        path: pathlib.Path, shown: list[int | None],
        measure: Callable[[list[int | None]], list[quality.Picture]]
) -> list[quality.Picture]:
    """Returns the quality of each picture that the viewer saw. The quality is
    kept in the file `path`. If this file exists, it is read. Otherwise
    `measure(shown)` computes the quality, and the file is written.

    The list `shown` has one item for each picture of the film. If the picture
    was shown, the item is the number of this picture. If another picture was
    on the screen instead, the item is the number of the other picture. If the
    screen was still empty, the item is None.
    """
    if path.exists():
        with open(path) as file:
            return [quality.Picture(float(row["mse"]), float(row["ssim"]))
                    for row in csv.DictReader(file)]
    found = measure(shown)
    unfinished = path.with_name(f".{path.name}")
    write_csv(unfinished, ["picture", "shown", "mse", "ssim"],
              [(place, "" if number is None else number, *picture)
               for place, (number, picture) in enumerate(zip(shown, found))])
    unfinished.rename(path)
    return found


def share(part: float, all_: float) -> float:
    return 100 * part / all_ if all_ else NAN


def mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else NAN


def percentile_ms(values: Sequence[float], percent: int) -> float:
    return (frame_log.percentile(values, percent) / NS_PER_MS if values
            else NAN)


def time_of_number_ms(lateness_ns: Sequence[float], percent: int,
                      number: int) -> float:
    """Returns the time in ms after which `percent` % of `number` frames have
    arrived. `lateness_ns` contains the lateness of each frame that arrived, in
    ns. The time is infinite if fewer frames arrived. It is not a number if
    `number` is 0.
    """
    if not number:
        return NAN
    missing = [math.inf] * max(number - len(lateness_ns), 0)
    earliest = sorted([*lateness_ns, *missing])[:number]
    return frame_log.percentile(earliest, percent) / NS_PER_MS


def read_grid(output: pathlib.Path) -> dict[str, Any]:
    path = output / "grid.json"
    if not path.exists():
        raise LabError(f"{output} has no runs. Make them with: "
                       "pipelines/lab grid")
    return json.loads(path.read_text())


def left_out(output: pathlib.Path) -> list[str]:
    """Returns lines of text about the cells that this machine could not run. A
    cell is one experiment of a matrix.
    """
    return read_grid(output).get("left_out", [])


def read(output: pathlib.Path, build: pathlib.Path | None, late_ms: float,
         by: str = "protocol") -> tuple[list[Run], int, str]:
    """Returns three values:

    - the completed runs of a matrix, in the order of the matrix
    - the number of cells (experiments of the matrix) that have no completed
      run
    - the command with which the user started the runs
    """
    grid = read_grid(output)
    found = []
    for cell in grid["cells"]:
        result = cells.result(output / cell["name"])
        if result:
            found += runs_of(output / cell["name"], result, build, late_ms, by)
    if not found:
        raise LabError(f"{output} has no complete run")
    missing = len(grid["cells"]) - len(of_cells(found))
    return found, missing, grid["command"]


def of_cells(runs: list[Run]) -> list[Run]:
    """Returns one Run for each experiment. `runs` contains a Run for each
    stream. If an experiment has several streams, only the Run of the first one
    is returned.
    """
    return [run for run in runs if run.beside[0] is run]


def runs_of(directory: pathlib.Path, result: dict[str, Any],
            build: pathlib.Path | None, late_ms: float,
            by: str = "protocol") -> list[Run]:
    """Returns a list with one Run object for each stream of an experiment.
    `directory` is the directory of the experiment, and `result` is its result.
    """
    found = [Run(directory, result, build, late_ms, by, *one)
             for one in transports.streams(result["cell"]["protocol"])]
    for run in found:
        run.beside = found
    return found


def grouped(runs: list[Run],
            key: Callable[[Any], Any]) -> dict[Any, list[Any]]:
    """Divides the runs into groups. The function `key` returns a key for each
    run, and runs with equal keys form a group. Returns {key: runs of this
    group}. The runs of a group keep their order.
    """
    found = {}
    for run in runs:
        found.setdefault(key(run), []).append(run)
    return found


# ----------------------------------------------------------------------- tables

# The columns of the summary table. A column is a tuple: (heading, keys of the
# values in Run.numbers(), format of each value).
SUMMARY = (
    ("decodable in time, %", ("decodable %",), "{:.1f}"),
    ("possible, %", ("possible %",), "{:.1f}"),
    ("of the possible, %", ("of the possible %",), "{:.1f}"),
    ("90 % of the possible after, ms", ("90 % of the possible ms",), "{:.0f}"),
    ("at best, ms", ("90 % of the possible at best ms",), "{:.0f}"),
    ("decodable I, P, B",
     ("decodable I", "decodable P", "decodable B"), "{:.0f}"),
    ("lost I, P, B", ("lost I", "lost P", "lost B"), "{:.0f}"),
    ("late I, P, B", ("late I", "late P", "late B"), "{:.0f}"),
    ("latency median, ms", ("latency median ms",), "{:.1f}"),
    ("latency 99 %, ms", ("latency 99 % ms",), "{:.0f}"),
    ("late by (99 %), ms", ("lateness 99 % ms",), "{:.0f}"),
    ("jitter, ms", ("jitter mean ms",), "{:.1f}"),
    ("throughput, Mbit/s", ("throughput Mbit/s",), "{:.2f}"),
    ("duration, s", ("duration s",), "{:.1f}"),
    ("PSNR, dB", ("PSNR dB",), "{:.1f}"),
    ("SSIM", ("SSIM",), "{:.3f}"),
    ("MOS", ("MOS",), "{:.2f}"),
    ("freezes", ("freezes",), "{:.0f}"),
    ("longest freeze, s", ("longest freeze s",), "{:.2f}"),
    ("frozen, s", ("frozen s",), "{:.2f}"),
    ("packets lost, %", ("packets lost %",), "{:.2f}"),
    ("transmissions a packet", ("attempts mean",), "{:.2f}"),
)


def by_label(runs: list[Run]) -> dict[str, list[Run]]:
    return grouped(runs, lambda run: run.label)


def title_of(run: Run) -> str:
    return run.way.title(run)


def summary(runs: list[Run]) -> Table:
    """Returns a table as two values: the heads of the columns, and the rows.
    Runs that agree in the compared property, for example in the protocol,
    share a row. Each entry of the row is the median over these runs. If they
    have different values, the entry also has the lowest and the highest value.
    """
    heads = [runs[0].way.head, *(head for head, _, _ in SUMMARY), "runs"]
    rows = []
    for own in by_label(runs).values():
        found = [run.numbers() for run in own]
        flagged = sum(run.is_flagged for run in own)
        rows.append([
            title_of(own[0]),
            *(", ".join(spread([numbers[name] for numbers in found], form)
                        for name in names) for _, names, form in SUMMARY),
            f"{len(own)}" + (f", {flagged} flagged" if flagged else "")])
    return heads, rows


def spread(values: Sequence[float], form: str) -> str:
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return "–"
    middle, low, high = (form.format(value).replace("inf", "∞") for value in (
        statistics.median(known), min(known), max(known)))
    return middle if low == high else f"{middle} ({low}–{high})"


def all_numbers(runs: list[Run]) -> Table:
    """Returns a table with a row for each run. The row has all numbers that
    describe the result of the run, and they are not rounded.
    """
    rows = [(run.cell["name"], run.protocol, run.cell["link"]["name"],
             run.cell["rate"], matrix.codec(run.cell), run.cell["seed"],
             run.cell["repetition"], int(run.is_flagged),
             int(run.cell["protocol"][matrix.COMPUTED]), run.machine["commit"],
             definition.checksum(run.cell),
             *run.numbers().values()) for run in runs]
    return ["name", "protocol", "link", "rate Mbit/s", "codec", "seed",
            "repetition", "flagged", "computed", "commit", "definition",
            *runs[0].numbers()], rows


def fairness(runs: list[Run]) -> Table | None:
    """Returns a table that shows how several streams shared a link. If no link
    had several streams, returns None.
    """
    heads = ["stream", "throughput beside the others, Mbit/s", "share, %",
             "Jain's index", "runs"]
    rows = []
    for own in grouped(runs, lambda run: run.protocol).values():
        if len(own[0].beside) > 1:
            found = [run.numbers() for run in own]
            rows.append([title_of(own[0]), *(
                spread([numbers[name] for numbers in found], form)
                for name, form in (("beside others Mbit/s", "{:.2f}"),
                                   ("share %", "{:.1f}"),
                                   ("fairness", "{:.3f}"))), f"{len(own)}"])
    return (heads, rows) if rows else None


def loss_runs(runs: list[Run]) -> Table:
    """Returns a table of series of consecutive lost packets, in the form of
    Ouwens' table 3.12. A series consists of one or more packets. The columns
    classify the series by their length: which percentage of all series
    consists of one packet, which percentage consists of two packets, and so
    on. The table has one row for each value of the compared property, for
    example for each protocol. A row covers all test runs with this value.
    """
    heads = [runs[0].way.head,
             *(f"{length} in a row, %" for length in measurements.OUWENS_RUNS),
             "packets lost", "times"]
    rows = []
    for own in by_label(runs).values():
        found = sum((measurements.loss_runs(
            packet.is_lost() for packet in log.packets)
            for run in own for log in run.links), collections.Counter())
        shares, packets, times = measurements.run_percents(found)
        rows.append([title_of(own[0]),
                     *(f"{value:.1f}" for value in shares), str(packets),
                     str(times)])
    return heads, rows


def attempts(runs: list[Run]) -> Table:
    """Returns a table that counts packets by their number of transmissions, in
    the form of Ouwens' table 3.2. A packet may be transmitted several times.
    The columns show which percentage of the packets was transmitted once,
    twice, and so on. Runs that agree in the compared property, for example in
    the protocol, share a row. The row counts the packets of all of these runs.
    """
    max_attempts = measurements.OUWENS_MAX_ATTEMPTS
    heads = [runs[0].way.head,
             *(f"{n}, %" for n in range(1, max_attempts)),
             f"{max_attempts} or more, %",
             "packets on the air"]
    rows = []
    for own in by_label(runs).values():
        found = sum((measurements.attempts(run.link.packets) for run in own),
                    collections.Counter())
        shares, total = measurements.attempt_percents(found)
        rows.append([title_of(own[0]), *(f"{value:.2f}" for value in shares),
                     str(total)])
    return heads, rows


def latency_by_size(runs: list[Run]) -> Table:
    """Returns a table with the median latency of the frames in ms, for each
    class of frame sizes. Runs that agree in the compared property, for example
    in the protocol, share a row. This row covers the frames of all of these
    runs.
    """
    found = {title_of(own[0]): measurements.latency_by_size(
        [way for run in own for way in run.passages], SIZE_CLASS)
        for own in by_label(runs).values()}
    sizes = sorted({size for classes in found.values()
                    for size, _, _ in classes})
    heads = [runs[0].way.head, *(
        f"{size // 1000}–{(size + SIZE_CLASS) // 1000} kB" for size in sizes)]
    rows = []
    for title, classes in found.items():
        times = {size: f"{ns / NS_PER_MS:.1f}" for size, _, ns in classes}
        rows.append([title, *(times.get(size, "–") for size in sizes)])
    return heads, rows


def write_csv(path: pathlib.Path, heads: list[str],
              rows: Iterable[Sequence[Any]]) -> None:
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(heads)
        writer.writerows(rows)
