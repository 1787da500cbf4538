# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the tables of Ouwens 2006, chapter 3, as Markdown for docs/ouwens.md.

Each cell of a table shows two results: the result of the thesis (from
ouwens.csv) and the result of our runs, which ouwens.ini describes. Our result
is the median over all seeds, with the lowest and the highest value. A run is
flagged if its result is not reliable. The flagged runs of a cell are left out.
If all runs of a cell are flagged, all runs are used, and a star marks the cell.

  pipelines/ouwens build/lab/ouwens
"""

import argparse
import collections
import csv
import pathlib
import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from wirelesslab import paths, process_pool, processes
from wirelesslab.report import run_results
from wirelesslab.streams import measurements

THEIRS = paths.PIPELINES / "ouwens.csv"
PROTOCOLS = {"udp-blocking": "Blocking UDP", "tcp": "TCP",
             "udp": "Non-blocking UDP", "ifd": "TCP with IFD"}
RATES = (3, 4, 5, 6)
LONG_RETRIES = (0, 1, 2, 3, 4, 8, 16, 255)
# Retry values in Ouwens' figures and in his tables of consecutive losses. The
# retry value is the maximum number of transmissions of a packet. His other
# tables also have further values, such as 0, which stands for the default of
# 16 transmissions.
RETRIES = (1, 2, 3, 4)
# Maps each section of ouwens.ini, which describes a link, to "yes" if a
# microwave oven disturbs this link, otherwise to "no".
OVENS = {"80211b": "no", "oven": "yes"}
DURATIONS = {"3.7": "udp-blocking", "3.13": "tcp"}
LOSSES = {"udp-blocking": ("3.8", "3.9", "3.10", "3.11"),
          "udp": ("3.14", "3.15", "3.16", "3.17"),
          "ifd": ("3.19", "3.20", "3.21", "3.22")}
LOSSES_IN_A_ROW = {"3.12": "udp-blocking", "3.18": "udp"}
# Periods of the film, as pairs (begin, end) in seconds. The throughput is
# measured in each period. The microwave oven is switched on at 20 s and off at
# 40 s. No period contains these times.
PARTS = ((2, 19), (21, 39), (41, 59))
LATE_MS = 500

Theirs = dict[tuple[str, str, int, int, str, str], float]
Ours = dict[tuple[str, int, int, str], list[dict[str, Any]]]


# ----------------------------------------------------------------------- theirs

def read_theirs() -> Theirs:
    """Reads ouwens.csv, which contains the values of the tables in the thesis.
    Returns a dictionary that maps the tuple (table, protocol, rate, retry,
    oven, what) of each line to the value in the line. In the tuple, `retry` is
    the maximum number of transmissions, and `what` is the name of the value.
    """
    with open(THEIRS) as file:
        return {(row["table"], row["protocol"], int(row["rate"]),
                 int(row["retry"]), row["oven"], row["what"]):
                float(row["value"]) for row in csv.DictReader(file)}


# ------------------------------------------------------------------------- ours

def key(run: run_results.Run) -> tuple[str, int, int, str]:
    """Returns the tuple (protocol, rate, maximum number of transmissions,
    oven) of a run. `oven` is "yes" if a microwave oven disturbs the link,
    otherwise "no".
    """
    section, _, retry = run.cell["link"]["name"].partition("_retry-limit=")
    return run.protocol, run.cell["rate"], int(retry), OVENS[section]


def measure(run: run_results.Run) -> dict[str, Any]:
    """Returns {name: value} for each quantity that chapter 3 of Ouwens' thesis
    reports. The values are measured in `run`.
    """
    ways = run.passages
    lateness = [way.lateness_ns() for way in measurements.arrived(ways)]
    jitter = measurements.jitter_ns(ways)
    frames = measurements.by_type(ways, run.late_ns)
    packets = run.link.packets
    return {
        **{f"lost {type}": frames["lost"][type] for type in measurements.TYPES},
        "lost": frames["lost"].total(),
        "decodable %": run_results.share(frames["decodable"].total(),
                                         len(ways)),
        "duration s": measurements.duration_ns(ways) / measurements.NS,
        **{f"Mbit/s {n}": throughput(ways, part)
           for n, part in enumerate(PARTS)},
        "late median ms": run_results.percentile_ms(lateness, 50),
        "late worst ms": run_results.percentile_ms(lateness, 100),
        "jitter mean ms": run_results.mean(jitter) / run_results.NS_PER_MS,
        "jitter 99 % ms": run_results.percentile_ms(jitter, 99),
        "of size": of_size(ways),
        "packets lost": sum(packet.is_lost() for packet in packets),
        "in a row": measurements.loss_runs(
            packet.is_lost() for packet in packets),
    }


def throughput(ways: list[measurements.Passage],
               part: tuple[int, int]) -> float:
    """Returns the throughput in Mbit/s of the frames that arrived in `part`, a
    pair (begin, end) in seconds.
    """
    begin, end = (seconds * measurements.NS for seconds in part)
    bits = sum(8 * way.frame.size for way in measurements.arrived(ways)
               if begin <= way.arrived_ns < end)
    return bits / (end - begin) * measurements.NS / 1e6


def of_size(ways: list[measurements.Passage]) -> float:
    """Returns Pearson's correlation coefficient r of the size of a frame and
    its lateness.
    """
    there = measurements.arrived(ways)
    try:
        return statistics.correlation([way.frame.size for way in there],
                                      [way.lateness_ns() for way in there])
    except statistics.StatisticsError:
        return run_results.NAN


def read_ours(directory: pathlib.Path,
              build: pathlib.Path) -> tuple[Ours, int, int]:
    """Returns three values: a dictionary, the number of runs that are flagged
    as unreliable, and the number of all runs. The dictionary maps (protocol,
    rate, retry value, oven) to a list of the results of all runs that have
    these four values.
    """
    runs, _, _ = run_results.read(directory, build, LATE_MS)
    found = collections.defaultdict(list)
    for measured, run in zip(process_pool.each(measure, runs), runs):
        found[key(run)].append({**measured, "flagged": run.is_flagged})
    ours = collections.defaultdict(list, {
        where: believed(own) for where, own in found.items()})
    return ours, sum(run.is_flagged for run in runs), len(runs)


def believed(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the runs that are not flagged as unreliable. If all runs are
    flagged, returns all of them, so that the table has a value.
    """
    return [run for run in runs if not run["flagged"]] or runs


def star(runs: list[dict[str, Any]]) -> str:
    return "*" if any(run["flagged"] for run in runs) else ""


# ----------------------------------------------------------------------- tables

def both(theirs: float | None, ours: list[dict[str, Any]], what: str,
         form: str, digits: int = 1) -> str:
    """Returns the text of a table cell in the form `result of the thesis / our
    result`.
    """
    his = "–" if theirs is None else f"{theirs:.{digits}f}"
    return f"{his} / " + spread(ours, what, form)


def spread(ours: list[dict[str, Any]], what: str, form: str) -> str:
    return run_results.spread([run[what] for run in ours], form) + star(ours)


def rows_of(retries: Sequence[int]) -> list[tuple[int, str]]:
    return [(retry, oven) for retry in retries for oven in ("no", "yes")]


def durations(table: str, theirs: Theirs, ours: Ours) -> Iterator[list[str]]:
    protocol = DURATIONS[table]
    yield ["R, oven", *(f"{rate} Mbit/s" for rate in RATES)]
    for retry, oven in rows_of(LONG_RETRIES):
        yield [f"{retry}, {oven}", *(both(
            theirs.get((table, protocol, rate, retry, oven, "duration s")),
            ours[protocol, rate, retry, oven], "duration s", "{:.1f}")
            for rate in RATES)]


def losses(protocol: str, rate: int, theirs: Theirs,
           ours: Ours) -> Iterator[list[str]]:
    table = LOSSES[protocol][RATES.index(rate)]
    yield ["R, oven", *measurements.TYPES, "all", "decodable in time, %"]
    for retry, oven in rows_of(LONG_RETRIES):
        own = ours[protocol, rate, retry, oven]
        his = [theirs.get((table, protocol, rate, retry, oven,
                           f"lost {type}")) for type in measurements.TYPES]
        yield [f"{retry}, {oven}",
               *(both(lost, own, f"lost {type}", "{:.0f}")
                 for lost, type in zip(his, measurements.TYPES)),
               both(None if None in his else sum(his), own, "lost", "{:.0f}"),
               spread(own, "decodable %", "{:.1f}")]


def losses_in_a_row(table: str, theirs: Theirs,
                    ours: Ours) -> Iterator[list[str]]:
    """Yields the rows of a table about series of consecutive lost packets.
    Each column stands for a class of series: those of one length, or those in
    a range of lengths. A cell has two values, which say how many percent of
    all series belong to this class. The first value is that of Ouwens. The
    second one is ours, which is computed from the losses of all seeds
    together.
    """
    protocol = LOSSES_IN_A_ROW[table]
    yield ["R, Mbit/s, oven", *measurements.OUWENS_RUNS, "packets lost"]
    for retry in RETRIES:
        for rate in RATES:
            for oven in ("no", "yes"):
                own = ours[protocol, rate, retry, oven]
                where = table, protocol, rate, retry, oven
                yield [f"{retry}, {rate}, {oven}",
                       *(f"{theirs[*where, 'in a row ' + length]:.0f} / {part}"
                         for length, part in zip(measurements.OUWENS_RUNS,
                                                 shares(own))),
                       both(theirs[*where, "packets lost"], own,
                            "packets lost", "{:.0f}", 0)]


def shares(ours: list[dict[str, Any]]) -> list[str]:
    """Counts the series of consecutive lost packets in the runs `ours`.
    measurements.OUWENS_RUNS divides the series into classes by their length.
    Returns the percentage of the series in each class, as text.
    """
    runs = sum((run["in a row"] for run in ours), collections.Counter())
    return [f"{percent:.0f}" if runs else "–"
            for percent in measurements.run_percents(runs)[0]]


def courses(protocol: str, ours: Ours) -> Iterator[list[str]]:
    """Yields the rows of a table: first the header, then the values that the
    thesis shows in figures.

    Each pair of a bitrate and a retry value has two rows, one without and one
    with the microwave oven. The retry value is the maximum number of
    transmissions of a packet. The table contains these pairs:
    - 3 Mbit/s is combined with each retry value.
    - A second bitrate is also combined with each retry value. It is 4 Mbit/s
      for non-blocking UDP, and 6 Mbit/s for the other protocols.
    - The retry value 4 is combined with each bitrate.
    """
    rate = 4 if protocol == "udp" else 6
    yield ["Mbit/s, R, oven", "Mbit/s until 19 s, 21 to 39, 41 to 59",
           "late: median, worst, ms", "jitter: mean, 99 %, ms",
           "r of size and lateness"]
    wanted = dict.fromkeys(
        [(3, retry) for retry in RETRIES] + [(rate, retry) for retry in RETRIES]
        + [(rate, 4) for rate in RATES])
    for rate, retry in wanted:
        for oven in ("no", "yes"):
            own = ours[protocol, rate, retry, oven]
            yield [f"{rate}, {retry}, {oven}",
                   ", ".join(middle(own, f"Mbit/s {n}", "{:.2f}")
                             for n in range(len(PARTS))),
                   ", ".join(middle(own, f"late {what} ms", "{:.0f}")
                             for what in ("median", "worst")),
                   ", ".join(middle(own, f"jitter {what} ms",
                                              "{:.1f}")
                             for what in ("mean", "99 %")),
                   middle(own, "of size", "{:.2f}")]


def middle(ours: list[dict[str, Any]], what: str, form: str) -> str:
    """Returns a text with the median over the runs `ours`. `what` is the name
    of the measured value. The text contains only the median, and not the
    lowest and the highest value.
    """
    return form.format(statistics.median(run[what] for run in ours)) \
        + star(ours) if ours else "–"


def markdown(rows: Iterable[list[str]]) -> str:
    rows = list(rows)
    return "\n".join("| " + " | ".join(row) + " |" for row in (
        rows[0], ["---"] * len(rows[0]), *rows[1:]))


def all_tables(theirs: Theirs,
               ours: Ours) -> Iterator[tuple[str, Iterator[list[str]]]]:
    """Yields a tuple (title, rows) for each table, in the order of chapter 3 of
    Ouwens."""
    yield "Table 3.7: seconds, blocking UDP", durations("3.7", theirs, ours)
    yield from loss_tables("udp-blocking", theirs, ours)
    yield ("Table 3.12: packets lost in a row, %, blocking UDP",
           losses_in_a_row("3.12", theirs, ours))
    yield "Table 3.13: seconds, TCP", durations("3.13", theirs, ours)
    yield from loss_tables("udp", theirs, ours)
    yield ("Table 3.18: packets lost in a row, %, non-blocking UDP",
           losses_in_a_row("3.18", theirs, ours))
    yield from loss_tables("ifd", theirs, ours)
    for protocol, title in PROTOCOLS.items():
        yield f"Figures, {title}", courses(protocol, ours)


def loss_tables(protocol: str, theirs: Theirs,
                ours: Ours) -> Iterator[tuple[str, Iterator[list[str]]]]:
    for rate, table in zip(RATES, LOSSES[protocol]):
        yield (f"Table {table}: frames lost, {PROTOCOLS[protocol]}, "
               f"{rate} Mbit/s", losses(protocol, rate, theirs, ours))


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="pipelines/ouwens", description="Prints the tables of Ouwens "
        "2006, chapter 3. Each cell has the number of the thesis and the "
        "result of the runs of ouwens.ini.")
    parser.add_argument("directory", type=pathlib.Path,
                        help="directory of the runs, which was --output of "
                        "pipelines/lab grid")
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR",
                        default=paths.BUILD_DIR,
                        help="build directory (build)")
    options = parser.parse_args()
    processes.die_on_signals()
    ours, flagged, runs = read_ours(options.directory.resolve(),
                                    options.build.resolve())
    print(f"{runs} runs, {flagged} of them flagged")
    for title, rows in all_tables(read_theirs(), ours):
        print(f"\n### {title}\n\n{markdown(rows)}")
