# SPDX-License-Identifier: LGPL-2.1-or-later
"""Turns the logs of workloads other than video into numbers and tables. The
statistics are those of the papers that docs/workloads.md cites. Their formulas
are in measurements.py.
"""

import csv
import itertools
import math
import pathlib
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from wirelesslab.descriptions import Cell
from wirelesslab.report import run_results
from wirelesslab.streams import frame_log, measurements, placement
from wirelesslab.testbed import link_log
from wirelesslab.workloads import runner
from wirelesslab.workloads.definitions import (
    LONG_CALL_S,
    NUMBERS,
    TOLL_QUALITY_MS,
)

NS, MS = 1e9, 1e6
# Maximum number of points from which the sustainable rate of a transfer is
# computed. A point is a time and the number of bytes that had arrived by then.
# Each pair of points yields a rate, and the sustainable rate is the median of
# all these rates. 1000 points yield half a million rates, which are enough for
# a median.
MAX_BLOCKS = 1000


def rows_of(path: pathlib.Path) -> list[dict[str, Any]]:
    """Returns the rows of a log as dictionaries with integers as values. An
    empty field becomes None.
    """
    with open(path) as file:
        return [{key: int(text) if text else None
                 for key, text in row.items()}
                for row in csv.DictReader(file)]


def numbers(directory: pathlib.Path, cell: Cell) -> dict[str, float]:
    """Returns the results of a run as {name: number}, in the order of NUMBERS.
    `directory` contains the logs of the run, and `cell` is the description of
    the run. A result that was not measured is NaN.
    """
    kind = cell["workload"]["kind"]
    found = READERS[kind](directory, cell)
    return {name: found.get(name, math.nan) for name, _ in NUMBERS[kind]}


def percentiles(prefix: str, unit: str, values: Sequence[float],
                percents: tuple[int, ...]) -> dict[str, float]:
    return {f"{prefix} {'median' if percent == 50 else f'{percent} %'} {unit}":
            frame_log.percentile(values, percent) for percent in percents
            if values}


# ------------------------------------------------------------------------- bulk

def blocks(directory: pathlib.Path) -> list[tuple[float, int]]:
    """Returns the progress of a transfer as a list of points (seconds since
    the first block arrived, number of bytes that have arrived by then).
    """
    rows = rows_of(directory / "received.csv")
    begin = rows[0]["time_ns"] if rows else 0
    return [((row["time_ns"] - begin) / NS, row["bytes"]) for row in rows]


def thinned(found: list[tuple[float, int]],
            maximum: int = MAX_BLOCKS) -> list[tuple[float, int]]:
    """Selects at most `maximum` of the points, at equal intervals. The first
    and the last point are always among them.
    """
    if len(found) <= maximum:
        return found
    return [found[n * (len(found) - 1) // (maximum - 1)]
            for n in range(maximum)]


def of_bulk(directory: pathlib.Path, cell: Cell) -> dict[str, float]:
    found = blocks(directory)
    if not found:
        return {"bytes": 0, "arrived %": 0.0}
    seconds = found[-1][0] - found[0][0]
    return {
        "bytes": found[-1][1],
        "arrived %": 100 * found[-1][1] / cell["workload"]["bytes"],
        "mean byte/s": (found[-1][1] - found[0][1]) / seconds if seconds
        else math.nan,
        "sustainable byte/s": measurements.sustainable_rate(thinned(found))}


# ---------------------------------------------------------------- request-reply

def round_trips(directory: pathlib.Path) -> tuple[list[float], int]:
    """Returns a pair (list of round-trip times in s, number of requests
    without an answer). The list has one time for each request that was
    answered. The first requests are a warm-up and do not count.
    """
    rows = [row for row in rows_of(directory / "exchanges.csv")
            if not row["warm"]]
    times = [(row["received_ns"] - row["sent_ns"]) / NS
             for row in rows if row["received_ns"] is not None]
    return times, len(rows) - len(times)


def of_request_reply(directory: pathlib.Path,
                     _cell: dict[str, Any]) -> dict[str, float]:
    times, lost = round_trips(directory)
    found = {"exchanges": len(times), "lost": lost}
    if times:
        result = measurements.request_reply(times)
        found.update({"min s": result.minimum, "max s": result.maximum})
        found.update({f"{percent} % s": value
                      for percent, value in result.percentiles.items()})
        found.update({f"over by {tolerance} s": share
                      for tolerance, share in result.outliers.items()})
    return found


# ------------------------------------------------------------------------ voice

def ways(directory: pathlib.Path, cell: Cell) -> list[tuple[int, int | None]]:
    """Returns a pair (time at which the packet was sent, time at which it
    arrived) for each packet. Both times are in ns and from the same clock. The
    second time is None if the packet is lost.
    """
    if cell["protocol"]["computed"]:
        station = runner.HOSTS.index(cell["workload"]["from"])
        link = measurements.read_link(directory / f"{placement.LINK}.log",
                                      station)
        return [(packet.arrival_ns,
                 None if packet.is_lost() else packet.departure_ns)
                for packet in link.packets]
    sent, received = (("sent.csv", "received.csv")
                      if cell["workload"]["kind"] == "voice"
                      else ("exchanges.csv", "answers.csv"))
    arrivals = {}
    for row in rows_of(directory / received):
        arrivals.setdefault(row["number"], row["received_ns"])
    return [(row["sent_ns"], arrivals.get(row["number"]))
            for row in rows_of(directory / sent)]


def delays_ns(found: Iterable[tuple[int, int | None]]) -> list[int]:
    return [arrived - sent for sent, arrived in found if arrived is not None]


def estimates(directory: pathlib.Path) -> list[tuple[float, float]]:
    """Returns the sender's estimates of the one-way delay, as a list of pairs
    (time at which a packet was sent, delay), with one pair for each
    acknowledged packet. The times and delays are in ns. A delay is computed
    from the times of the acknowledgement (equation 5.4 of Erixzon 2004). If
    there were no acknowledgements, the list is empty.
    """
    path = directory / "acknowledged.csv"
    if not path.exists():
        return []
    sent = {row["number"]: row["sent_ns"]
            for row in rows_of(directory / "sent.csv")}
    return [(sent[row["number"]], measurements.one_way_delay(
        sent[row["number"]], row["received_ns"], 0, row["elapsed_ns"]))
        for row in rows_of(path)]


def of_voice(directory: pathlib.Path, cell: Cell) -> dict[str, float]:
    found = ways(directory, cell)
    delays = [ns / MS for ns in delays_ns(found)]
    estimated = [ns / MS for _, ns in estimates(directory)]
    jitter = list(frame_log.jitter_of(delays))
    return {
        "packets": len(found),
        "lost %": run_results.share(len(found) - len(delays), len(found)),
        **percentiles("delay", "ms", delays, (50, 95, 99)),
        **percentiles("estimate", "ms", estimated, (50, 95)),
        "jitter ms": run_results.mean(jitter),
        f"within {TOLL_QUALITY_MS} ms %": run_results.share(
            sum(delay <= TOLL_QUALITY_MS for delay in delays), len(found))}


# ---------------------------------------------------------------------- dial-up

def calls(directory: pathlib.Path) -> tuple[list[float], list[float]]:
    """Returns two lists of durations in s, computed from the log of a link
    that sets up a call before it carries data. The first list has the duration
    of each call set-up that succeeded. The second list has the time that each
    failed call set-up took until it failed.
    """
    set_up, failed = [], []
    states = [(int(values["time_ns"]) / NS, values["state"])
              for word, values in link_log.events(
                  directory / f"{placement.LINK}.log") if word == "call"]
    for (begin, state), (end, then) in itertools.pairwise(states):
        if state == "dialling":
            (set_up if then == "connected" else failed).append(end - begin)
    return set_up, failed


def histogram(times: Sequence[float],
              width: int = 1) -> tuple[list[float], list[int]]:
    """Divides `times` into classes of the width `width`. Returns two lists.
    The first list has the share of the times in each class, from 0 to 1. The
    second list has the limits between the classes.
    """
    first = math.floor(min(times) / width)
    counts = [0] * (math.floor(max(times) / width) - first + 1)
    for time in times:
        counts[math.floor(time / width) - first] += 1
    return ([count / len(times) for count in counts],
            [(first + n) * width for n in range(len(counts) + 1)])


def of_dial_up(directory: pathlib.Path, cell: Cell) -> dict[str, float]:
    set_up, failed = calls(directory)
    found = ways(directory, cell)
    delays = [ns / NS for ns in delays_ns(found)]
    result = {
        "calls": len(set_up), "failed": len(failed),
        "failed %": run_results.share(len(failed), len(set_up) + len(failed)),
        **percentiles("set-up", "s", set_up, (5, 50, 95)),
        **percentiles("delay", "s", delays, (50, 95)),
        "packets": len(found), "lost": len(found) - len(delays)}
    if set_up:
        result.update({
            "set-up min s": min(set_up), "set-up max s": max(set_up),
            f"over {LONG_CALL_S} s %": run_results.share(
                sum(time > LONG_CALL_S for time in set_up), len(set_up))})
    if failed:
        result["failure seen median s"] = statistics.median(failed)
    if delays:
        result["delay max s"] = max(delays)
    return result


READERS = {"bulk": of_bulk, "request-reply": of_request_reply,
           "voice": of_voice, "dial-up": of_dial_up}


# ----------------------------------------------------------------------- tables

def key(run: run_results.Run) -> tuple[str, str, str]:
    """Returns a key for a run. Runs that differ only in their seed or
    repetition have equal keys.
    """
    return tuple(run.cell[what]["name"]
                 for what in ("link", "workload", "protocol"))


def summary(runs: list[run_results.Run]) -> tuple[list[str], list[list[str]]]:
    """Returns the headings of the columns and the rows of a table. All runs
    must have the same kind of workload. The table has a row for each
    combination of link, workload and protocol. A cell contains the median over
    the runs of this row and, if there are several runs, the lowest and the
    highest value.

    If a paper has results for the same link and workload, they are in a row of
    their own above the measured rows for this link and workload.
    """
    columns = NUMBERS[runs[0].cell["workload"]["kind"]]
    heads = ["link", "workload", "protocol", *(name for name, _ in columns),
             "runs"]
    rows, told = [], set()
    for (link, workload, protocol), own in run_results.grouped(
            runs, key).items():
        theirs = own[0].cell.get("theirs")
        if theirs and (link, workload) not in told:
            told.add((link, workload))
            rows.append([link, workload, f"theirs: {theirs['source']}",
                         *(theirs.get(name, "") for name, _ in columns),
                         ""])
        found = [numbers(run.directory, run.cell) for run in own]
        flagged = sum(run.is_flagged for run in own)
        rows.append([link, workload, protocol, *(
            run_results.spread([each[name] for each in found], form)
            for name, form in columns),
            f"{len(own)}" + (f", {flagged} flagged" if flagged else "")])
    return heads, rows


def all_numbers(runs: list[run_results.Run]) -> run_results.Table:
    """Returns the headings of the columns and the rows of a table, with a row
    for each run. All `runs` must have the same kind of workload. The numbers
    are not rounded.
    """
    names = [name for name, _ in NUMBERS[runs[0].cell["workload"]["kind"]]]
    return ["name", "link", "workload", "protocol", "seed", "repetition",
            "flagged", *names], [
        [run.cell["name"], *key(run), run.cell["seed"],
         run.cell["repetition"], int(run.is_flagged),
         *numbers(run.directory, run.cell).values()] for run in runs]


def by_kind(runs: list[run_results.Run]) -> dict[str, list[run_results.Run]]:
    return run_results.grouped(runs, lambda run: run.cell["workload"]["kind"])


def text(runs: list[run_results.Run]) -> list[str]:
    """Returns the lines of a table for a terminal. All runs must have the same
    kind of workload. Each number is on a line of its own, because a terminal
    is too narrow for a table with all numbers.
    """
    heads, rows = summary(runs)
    lines = []
    for own in itertools.groupby(rows, lambda row: row[:2]):
        (link, workload), same = own[0], list(own[1])
        table = [[head, *cells] for head, *cells in
                 list(zip(heads, *same))[2:] if any(cells)]
        widths = [max(map(len, column)) for column in zip(*table)]
        lines += ["", f"{link}, {workload}", *(
            "  ".join([line[0].ljust(widths[0]), *(
                cell.rjust(width) for cell, width
                in zip(line[1:], widths[1:]))]).rstrip() for line in table)]
    return lines
