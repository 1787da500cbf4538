# SPDX-License-Identifier: LGPL-2.1-or-later
"""Computes the values for the template front.html. A report has one section for
each group of runs. The template shows the beginning of such a section: the
findings, a bar chart of the frames that are decodable in time, and a table with
few columns."""

import math
import typing
from collections.abc import Callable, Sequence
from typing import Any

from wirelesslab.descriptions import Protocol
from wirelesslab.report import findings, names, ranking, run_results

# The colour of table rows that do not stand for a transport. Only transports
# have colours of their own. A row can also stand for a bitrate, for example.
NEUTRAL = "#0072b2"


class Pipelines(typing.NamedTuple):
    """The launch lines of the sender and the receiver of one stream. With these
    lines, people can repeat the runs of a table row by hand.
    """

    name: str
    title: str
    sender: str
    receiver: str


def possible(run: run_results.Run) -> float | None:
    """Returns the share of frames, in %, that a sender with perfect foresight
    could have delivered so early that they were decodable in time. Returns
    None if the share is not known.
    """
    return None if run.possible is None else 100 * run.possible


def row_names(runs: list[run_results.Run]) -> dict[str, names.Look]:
    """Returns {label: name and colour}."""
    labels = run_results.by_label(runs)
    if runs[0].way.head == "protocol":
        return names.looks({label: own[0].transport
                            for label, own in labels.items()})
    return {label: names.Look(label, NEUTRAL, 0) for label in labels}


def counted(runs: list[run_results.Run]) -> list[run_results.Run]:
    """Returns the runs that are not flagged as unreliable. If all runs are
    flagged, returns all of them, because the tables would otherwise be empty.
    """
    return [run for run in runs if not run.is_flagged] or runs


def in_order(runs: list[run_results.Run]) -> list[run_results.Run]:
    """Returns the runs in the order in which all plots and tables show them.
    The runs are compared in one property, for example in the protocol. The
    runs with the same protocol then form a group, and the groups are sorted
    from the best to the worst. But if the property has an order of its own, as
    bitrates do, the order of the runs is not changed.
    """
    if runs[0].way.is_ordered:
        return runs
    found = run_results.by_label(runs)
    return [run for label in ranking.in_order({
        label: ranking.range_of(run.numbers()["decodable %"]
                                for run in counted(own))
        for label, own in found.items()}) for run in found[label]]


def rows_of(runs: list[run_results.Run]) -> dict[str, findings.Row]:
    """Returns {label: Row} for `runs`, which the report compares with each
    other. The runs that agree in the compared property, for example in the
    protocol, have the same label. The Row contains the results of all runs
    with this label.
    """
    called = row_names(runs)
    found = {}
    for label, every in run_results.by_label(runs).items():
        own = counted(every)
        numbers = [run.numbers() for run in own]
        found[label] = findings.Row(
            called[label].name, [each["decodable %"] for each in numbers],
            [value for value in map(possible, own) if value is not None],
            [findings.frames_of(each) for each in numbers],
            [(run.cell["seed"], run.cell["repetition"]) for run in own],
            all(run.is_flagged for run in own))
    return found


def group(runs: list[run_results.Run]) -> dict[str, Any]:
    """Returns the values that the template front.html needs to show `runs`.
    These runs form one group of the report, which compares them with each
    other.
    """
    rows = rows_of(runs)
    heads, lines = table(runs, rows)
    counts = sorted({len(row.shares) for row in rows.values()})
    return {"runs_each": "–".join(map(str, [counts[0], counts[-1]][
                :len(counts)])),
            "findings": findings.sentences(list(rows.values()),
                                           runs[0].way.head),
            "chart": chart(runs, rows),
            "table": {"heads": heads, "rows": lines}}


# ------------------------------------------------------------------------ chart

def chart(runs: list[run_results.Run],
          rows: dict[str, findings.Row]) -> list[dict[str, Any]]:
    """Returns the bars of the bar chart. The bar of the row with the highest
    share of decodable frames comes first. The lengths of the bars are in % of
    the axis.
    """
    called, labels = row_names(runs), run_results.by_label(runs)
    ranges = {label: row.share for label, row in rows.items()}
    places = ranking.places(ranges)
    return [{"name": rows[label].name, "colour": called[label].colour,
             "place": ranking.place_text(places[label]),
             "share": ranges[label], "text": ranges[label].text(),
             "why": findings.why(rows[label]),
             "possible": (ranking.range_of(rows[label].possible)
                          if rows[label].possible else None),
             "flagged": sum(run.is_flagged for run in labels[label])}
            for label in ranking.in_order(ranges)]


# ------------------------------------------------------------------------ table

def table(runs: list[run_results.Run],
          rows: dict[str, findings.Row]) -> tuple[list[str], list[Any]]:
    """Returns the column heads and the rows of the first table of a section.
    This table has at most eight columns. The tables after it contain all other
    results.
    """
    labels = run_results.by_label(runs)
    places = ranking.places({label: row.share for label, row in rows.items()})
    has_possible = any(row.possible for row in rows.values())
    heads = [runs[0].way.head, "place", "decodable in time,\u00a0%",
             *(["of the possible,\u00a0%"] if has_possible else []),
             "lost,\u00a0%", "late,\u00a0%", "latency 99\u00a0%,\u00a0ms",
             "PSNR,\u00a0dB"]
    lines = []
    for label in ranking.in_order(
            {label: row.share for label, row in rows.items()}):
        row, own = rows[label], counted(labels[label])
        lines.append({
            "cells": [
                row.name, ranking.place_text(places[label]),
                row.share.text(),
                *([share_of_possible(row)] if has_possible else []),
                of_frames(row, findings.Frames.all_lost),
                of_frames(row, findings.Frames.all_late),
                of_runs(own, "latency 99 % ms", "{:.0f}"),
                of_runs(own, "PSNR dB", "{:.1f}")],
            "pipelines": pipelines(own[0].transport)})
    return heads, lines


def share_of_possible(row: findings.Row) -> str:
    shares = [100 * share / possible_share
              for share, possible_share in zip(row.shares, row.possible)
              if possible_share]
    if len(row.possible) < len(row.shares) or not shares:
        return "–"
    return ranking.range_of(shares).text()


def of_frames(row: findings.Row,
              value: Callable[[findings.Frames], float]) -> str:
    return ranking.range_of(map(value, row.frames)).text()


def of_runs(runs: Sequence[run_results.Run], name: str, form: str) -> str:
    values = [run.numbers()[name] for run in runs]
    known = [value for value in values if not math.isnan(value)]
    return (ranking.range_of(known).text(form).replace("inf", "∞") if known
            else "–")


def pipelines(transport: Protocol) -> list[Pipelines]:
    """Returns the launch lines of a transport's pipelines. The list has one
    element for each stream of the transport.
    """
    return [Pipelines(one["name"], one.get("title", ""), one["sender"],
                      one["receiver"])
            for one in transport.get("streams", [transport])
            if "sender" in one]
