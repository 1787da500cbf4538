# SPDX-License-Identifier: LGPL-2.1-or-later
"""The results of runs with a live encoder: the quality and the delay at the
display, and how much of the link's capacity was used."""

import csv
import functools
import math
import pathlib
import shlex
import statistics
import tempfile

from wirelesslab.descriptions import Link
from wirelesslab.lab import cells, encoders, opportunities
from wirelesslab.report import run_results
from wirelesslab.streams import (
    clips,
    display,
    encodings,
    frame_log,
    link_paths,
    link_schedules,
    live_sources,
    live_stream,
    measurements,
    placement,
    quality,
)
from wirelesslab.streams import freezes as fixed_freezes
from wirelesslab.streams.live_stream import Adaptation

NS, NS_PER_MS, MBIT = 1e9, 1e6, 1e6
PERIOD_NS = NS / clips.FRAMES_PER_SECOND
# To measure the capacity of a link, packets of PROBE_BYTES bytes are sent over
# it. PROBE_BYTES_PER_SECOND is the rate at which they are sent, in bytes per
# second. It is higher than the rates of the usual links of the lab, so such a
# link always has a packet to send. If a link has a higher rate, the measured
# capacity is about PROBE_BYTES_PER_SECOND.
PROBE_BYTES = 1328
PROBE_BYTES_PER_SECOND = 30_000_000 // 8
STEP_NS = NS / 5
CAPACITY = "capacity.csv"
# The name of a file with the numbers of all pictures that can be decoded
# without damage.
DECODABLE = "decodable.txt"
# The last frames of the stream do not count for the results; this is their
# number. Some transports drop the packets that are in flight when the sender
# ends. A loss of these frames then says nothing about the transport during the
# stream.
LAST_FRAMES = clips.FRAMES_PER_SECOND
# Large packets belong to the video, because the packets of a handshake are
# small. The first packet with at least this number of bytes belongs to the
# first frame.
LARGE = 500


class EncoderRun:
    """A run of the lab with a live encoder."""

    def __init__(self, run: run_results.Run, build: pathlib.Path,
                 late_ms: int | None) -> None:
        self.run, self._build = run, build
        self.cell, self.directory = run.cell, run.directory
        self.late_ms = self.cell["encoder"]["late_ms"] \
            if late_ms is None else late_ms

    @property
    def protocol(self) -> str:
        return self.run.protocol

    @property
    def title(self) -> str:
        return self.run.transport["title"]

    @property
    def is_flagged(self) -> bool:
        return self.run.is_flagged

    @property
    def group(self) -> tuple[str, str]:
        """The key by which runs are grouped: the name of the link and the name
        of the video source. Two runs are compared only if both names are
        equal.
        """
        return self.cell["link"]["name"], encoders.source_of(self.cell)

    @property
    def group_title(self) -> str:
        source = live_sources.TITLES[encoders.source_of(self.cell)]
        return f"{self.cell['link']['title']}, live encoder, {source}"

    # ----------------------------------------------------------- at the display

    @functools.cached_property
    def frames(self) -> list[display.Frame]:
        """The frames of the stream, except the last LAST_FRAMES frames. These
        last frames may still be in flight when the sender ends. They would
        then count as lost.
        """
        captured, sent, received = (
            display.read_log(self.directory / name) for name in (
                live_stream.CAPTURED, cells.SENT, cells.RECEIVED))
        return display.read(captured.frames, sent, received)[:-LAST_FRAMES]

    @functools.cached_property
    def delays_ns(self) -> list[float]:
        return display.delays_ns(self.frames, self.late_ms * NS_PER_MS)

    @functools.cached_property
    def pictures(self) -> list[quality.Picture]:
        """The result of comparing each shown picture with the picture of the
        source. It is kept in a file and not computed again, because the
        comparison takes longer than all other computations of a run.
        """
        return run_results.kept_pictures(
            self.directory / f"quality-{self.late_ms}.csv",
            display.shown(self.delays_ns),
            lambda shown: quality.measure(
                self.encoded_path, shown, self.directory, self.source()))

    def source(self) -> pathlib.Path:
        return cells.source_of(self.cell, self._build)

    @property
    def encoded_path(self) -> pathlib.Path:
        return self.directory / live_stream.ENCODED

    # ----------------------------------------------------------------- the link

    @functools.cached_property
    def begin_ns(self) -> float:
        """The time at which the first frame was due, in ns by the clock of the
        link.
        """
        first = next((packet.arrival_ns for packet in self.run.link.packets
                      if packet.size >= LARGE), 0)
        return first - self.frames[0].sent_ns

    @property
    def end_ns(self) -> float:
        """The time at which the stream ends, in ns by the clock of the link.
        This is one frame period after the last frame was due.
        """
        return self.begin_ns + len(self.frames) * PERIOD_NS

    @functools.cached_property
    def capacity(self) -> list[float]:
        """The capacity of the link in Mbit/s as a list, with one value for
        each interval of STEP_NS ns. The first interval begins at the time at
        which the first frame was due.
        """
        path = self.directory / CAPACITY
        if path.exists():
            with open(path) as file:
                return [float(row["Mbit/s"]) for row in csv.DictReader(file)]
        found = [sum(rates) / MBIT for rates in zip(*map(
            self._capacity_of, link_paths.parts(self.cell["link"]),
            cells.all_properties(self.cell, self.directory)))]
        run_results.write_csv(
            path, ["s", "Mbit/s"],
            [(step * STEP_NS / NS, rate) for step, rate in enumerate(found)])
        return found

    def _capacity_of(self, link: Link, properties: str) -> list[float]:
        """Returns the capacity of one link in bit/s as a list, with one value
        for each interval of STEP_NS ns. A schedule can close the link for some
        time. During this time the value is 0.
        """
        packets = probe(properties, placement.sender_station(link),
                        self.end_ns, self._build)
        rates = display.rates(packets, max(self.begin_ns, 0), self.end_ns,
                              STEP_NS)
        return [0.0 if link_schedules.is_closed(link, step * STEP_NS / NS)
                else rate for step, rate in enumerate(rates)]

    @functools.cached_property
    def used(self) -> list[float]:
        """The throughput of the link in Mbit/s as a list. Each value is the
        mean over an interval of STEP_NS ns. The first interval begins at the
        time at which the first frame was due.
        """
        return [rate / MBIT for rate in display.rates(
            self.run.link.packets, max(self.begin_ns, 0), self.end_ns,
            STEP_NS)]

    # --------------------------------------------------------------- the sender

    @functools.cached_property
    def adaptations(self) -> list[Adaptation]:
        path = self.directory / live_stream.SENDER_OUT
        return live_stream.adaptations(path.read_text(errors="replace"))

    def encoded(self) -> list[float]:
        """Returns the bitrate of the encoder's output in Mbit/s for each
        second.
        """
        bits = [0.0] * math.ceil(len(self.frames) / clips.FRAMES_PER_SECOND)
        for number, frame in enumerate(self.frames):
            bits[number // clips.FRAMES_PER_SECOND] += 8 * frame.size / MBIT
        return bits

    # ------------------------------------------------------------------ numbers

    def numbers(self) -> dict[str, float]:
        """Returns the results of the run as {name: number}, for use in tables.
        Results that consist of several numbers are not included.
        """
        return dict(self._numbers)

    def know(self, numbers: dict[str, float]) -> None:
        """Stores `numbers`, the results of this run that are single numbers.
        Another process has computed them, so that this process does not have
        to compute them.
        """
        self.__dict__["_numbers"] = numbers

    @functools.cached_property
    def _numbers(self) -> dict[str, float]:
        delays = self.delays_ns
        freezes = display.freezes_ns(self.frames, delays, PERIOD_NS)
        shown = sum(not math.isinf(delay) for delay in delays)
        seconds = len(self.frames) * PERIOD_NS / NS
        used = mean(self.used)
        usable = mean([min(rate, self.cell["encoder"]["max"] / 1000)
                       for rate in self.capacity])
        return {
            "SSIM": mean([picture.ssim for picture in self.pictures]),
            "PSNR dB": quality.mean_psnr(self.pictures),
            **{f"delay {percent} % ms":
               frame_log.percentile(delays, percent) / NS_PER_MS
               for percent in (50, 95, 99)},
            "frames": len(delays),
            "not shown": len(delays) - shown,
            "freezes": len(freezes),
            "frozen s": sum(freezes) / NS,
            "longest freeze s": max(freezes, default=0) / NS,
            **{f"{name}, fixed delay": number for name, number
               in fixed_freezes.numbers(display.shown(delays),
                                        PERIOD_NS).items()},
            "key frames": sum(frame.is_key for frame in self.frames),
            "encoded Mbit/s":
                8 * sum(frame.size for frame in self.frames) / seconds / MBIT,
            "used Mbit/s": used,
            "capacity Mbit/s": mean(self.capacity),
            "usable Mbit/s": usable,
            "used %": run_results.share(used, usable),
            "encoder 99 % ms": self.run.lateness.get("encoder_p99_ms",
                                                     math.nan),
        }


class EncodedRun(EncoderRun):
    """A run whose stream was encoded before the run. No encoder is active
    during the run.
    """

    @property
    def _encoding(self) -> encodings.Encoding:
        return encoders.encoding_of(self.cell)

    @functools.cached_property
    def frames(self) -> list[display.Frame]:
        logs = [display.read_log(self.directory / name)
                for name in (cells.SENT, cells.RECEIVED)]
        return encodings.frames(self._encoding, self.encoded_path, *logs,
                                self.directory / DECODABLE)[:-LAST_FRAMES]

    @functools.cached_property
    def delays_ns(self) -> list[float]:
        """The delay of each frame in ns, from its capture to its arrival. It
        is infinite if the frame is not shown. There are two reasons for this:
        - The delay exceeds `late_ms`, the limit above which a frame is not
          shown.
        - The frame cannot be decoded without damage. In `frames`, the arrival
          time of such a frame is infinite.
        """
        return display.in_time([frame.arrived_ns - frame.captured_ns
                                for frame in self.frames],
                               self.late_ms * NS_PER_MS)

    @property
    def encoded_path(self) -> pathlib.Path:
        return cells.clip_of(self.cell, self._build)

    @functools.cached_property
    def adaptations(self) -> list[Adaptation]:
        return []


def of_run(run: run_results.Run, build: pathlib.Path,
           late_ms: int | None) -> EncoderRun:
    kind = EncodedRun if encoders.encoding_of(run.cell) else EncoderRun
    return kind(run, build, late_ms)


def mean(values: list[float]) -> float:
    return statistics.fmean(values) if values else math.nan


def probe(properties: str, station: int, duration_ns: float,
          build: pathlib.Path) -> list[measurements.Packet]:
    """Sends more packets over a link than it can carry, in virtual time.
    Returns those packets of the station `station` that have left the link.
    They show the capacity of the link, because an overloaded link always has a
    packet to send.
    """
    with tempfile.TemporaryDirectory() as name:
        log = pathlib.Path(name, "link.log")
        opportunities.saturate(log, shlex.split(properties), 0, station,
                               PROBE_BYTES, PROBE_BYTES_PER_SECOND,
                               duration_ns, build)
        return measurements.read_link(log, station).packets


# ---------------------------------------------------------------------- tables

# The columns of the summary. Each column is a tuple (heading, key in
# `numbers()`, format).
SUMMARY = (
    ("SSIM", "SSIM", "{:.3f}"), ("PSNR, dB", "PSNR dB", "{:.1f}"),
    ("delay median, ms", "delay 50 % ms", "{:.0f}"),
    ("delay 95 %, ms", "delay 95 % ms", "{:.0f}"),
    ("delay 99 %, ms", "delay 99 % ms", "{:.0f}"),
    ("frames not shown", "not shown", "{:.0f}"),
    ("freezes", "freezes", "{:.0f}"), ("frozen, s", "frozen s", "{:.1f}"),
    ("longest freeze, s", "longest freeze s", "{:.1f}"),
    ("encoded, Mbit/s", "encoded Mbit/s", "{:.2f}"),
    ("through the link, Mbit/s", "used Mbit/s", "{:.2f}"),
    ("of its usable capacity, %", "used %", "{:.0f}"),
)


def by_protocol(runs: list[EncoderRun]) -> dict[str, list[EncoderRun]]:
    return run_results.grouped(runs, lambda run: run.protocol)


def firsts(runs: list[EncoderRun]) -> dict[str, EncoderRun]:
    """Returns {protocol: run}, with one run of each protocol for plots over
    time. The run is the first one that was not flagged as unreliable. If all
    runs of a protocol were flagged, it is the first one of them.
    """
    return {name: valid(own)[0] for name, own in by_protocol(runs).items()}


def valid(runs: list[EncoderRun]) -> list[EncoderRun]:
    """Returns the runs that were not flagged as unreliable. If all runs were
    flagged, returns all of them, because the tables and plots would otherwise
    be empty.
    """
    return [run for run in runs if not run.is_flagged] or runs


def summary(runs: list[EncoderRun]) -> run_results.Table:
    """Returns the column heads and the rows of a table about `runs`, with one
    row for each protocol. Only the runs that valid() returns are counted. Each
    entry of the table is the median of these runs, with the lowest and the
    highest value.
    """
    heads = ["protocol", *(head for head, _, _ in SUMMARY), "runs"]
    rows = []
    for name, own in by_protocol(runs).items():
        found = [run.numbers() for run in valid(own)]
        rows.append([
            f"{name}: {own[0].title}",
            *(run_results.spread([numbers[number] for numbers in found], form)
              for _, number, form in SUMMARY), words_of(own)])
    return heads, rows


def words_of(runs: list[EncoderRun]) -> str:
    flagged = sum(run.is_flagged for run in runs)
    if flagged == len(runs):
        return f"{len(runs)}, all flagged"
    return f"{len(runs) - flagged}" + (
        f", {flagged} more flagged" if flagged else "")


def all_numbers(runs: list[EncoderRun]) -> run_results.Table:
    """Returns a table with a row for each run. The numbers in the table are
    not rounded.
    """
    rows = [(run.cell["name"], run.protocol, *run.group, run.cell["seed"],
             run.cell["repetition"], int(run.is_flagged),
             *run.numbers().values()) for run in runs]
    return ["name", "protocol", "link", "source", "seed", "repetition",
            "flagged", *runs[0].numbers()], rows
