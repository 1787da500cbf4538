# SPDX-License-Identifier: LGPL-2.1-or-later
"""The plots of workloads other than video, grouped by the kind of workload.
Each function gets runs of one kind, compares them, and returns a figure.
"""

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wirelesslab.report import plots, run_results
from wirelesslab.report import workload_statistics as numbers
from wirelesslab.streams import measurements
from wirelesslab.workloads.definitions import TOLL_QUALITY_MS

MS, NS = numbers.MS, numbers.NS


def rows(runs: list[run_results.Run]) -> dict[str, Any]:
    """Groups the runs by link, workload and protocol, for a plot with a line
    for each group. Returns {label of the line: (runs of the group, style of
    the line)}. The label consists of the names of the link, the workload and
    the protocol. A name that all groups have in common is left out.
    """
    own = run_results.grouped(runs, numbers.key)
    differing = [n for n in range(3) if len({key[n] for key in own}) > 1] or [2]
    # Here the groups differ only in the protocol, which is the third element
    # of the key. All lines therefore belong to the same link and the same
    # workload.
    if differing == [2]:
        looks = plots.of_transports({key[2]: same[0].transport
                                     for key, same in own.items()})
        return {name: (same, {part: looks[name][part]
                              for part in ("color", "linestyle")})
                for (_, _, name), same in own.items()}
    return {" ".join(key[n] for n in differing): (same, plots.look(place))
            for place, (key, same) in enumerate(own.items())}


def draw_share(ax: Axes, values: Sequence[float], sent: int,
               **look: Any) -> None:
    """Draws the cumulative distribution of `values`, which are the delays or
    round-trip times of the packets that arrived. `sent` is the number of
    packets that were sent. On the y axis, 100 % stands for this number, so
    lost packets keep the curve below 100 %.
    """
    values = sorted(values)
    ax.plot(values, [100 * (n + 1) / sent for n in range(len(values))], **look)


def finish_shares(ax: Axes) -> None:
    ax.set_xscale("log")
    plots.name_numbers(ax.xaxis)
    ax.set_ylim(0, 101)
    plots.legend(ax)


def round_trips(runs: list[run_results.Run]) -> Figure:
    figure, ax = plots.axes("round trip, s", "that took at most so long, %")
    for name, (own, look) in rows(runs).items():
        found = [numbers.round_trips(run.directory) for run in own]
        times = [time for each, _ in found for time in each]
        sent = len(times) + sum(lost for _, lost in found)
        draw_share(ax, times, sent, label=name, **look)
    finish_shares(ax)
    return figure


def typical_round_trips(runs: list[run_results.Run]) -> Figure:
    """Draws the minimum, the median and the 90th percentile of the round-trip
    times, in the form of figure 6 of Alanko and others (1994).
    """
    own = rows(runs)
    figure, ax = plots.plt.subplots(
        figsize=(plots.WIDTH, 1 + 0.25 * len(own)), layout="tight")
    for place, (same, look) in enumerate(own.values()):
        times = [time for run in same
                 for time in numbers.round_trips(run.directory)[0]]
        if times:
            middle = measurements.request_reply(times)
            ax.plot([middle.minimum, middle.percentiles[90]], [place] * 2,
                    color=look["color"], linewidth=3, alpha=0.4)
            ax.plot(middle.percentiles[50], place, "o", color=look["color"])
    ax.set_yticks(range(len(own)), own)
    ax.invert_yaxis()
    ax.set_xlim(left=0)
    ax.set_xlabel("s")
    return figure


def bytes_over_time(runs: list[run_results.Run]) -> Figure:
    """Draws the number of received bytes over time, in the form of figure 7 of
    Alanko and others (1994). Also draws the sustainable rate, which is the
    rate of a transfer that never stagnates.
    """
    figure, ax = plots.axes("s since the first byte came", "bytes received")
    for name, (own, look) in rows(runs).items():
        for nth, run in enumerate(own):
            found = numbers.thinned(numbers.blocks(run.directory))
            if not found:
                continue
            ax.step(*zip(*found), where="post", linewidth=0.9,
                    label=None if nth else name, **look)
            rate = measurements.sustainable_rate(found)
            ax.axline(found[0], (found[0][0] + 1, found[0][1] + rate),
                      color=look["color"], linewidth=0.5, linestyle=":")
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    plots.legend(ax)
    return figure


def voice_over_time(runs: list[run_results.Run]) -> Figure:
    """Draws the one-way delays of packets over time. For each group of runs
    that are compared, only the first run is drawn. A line shows the true
    delays. Points show the delays that the sender has estimated from the
    acknowledgements.
    """
    figure, ax = plots.axes("s of the call", "one-way delay, ms")
    for name, (own, look) in rows(runs).items():
        run = own[0]
        found = [way for way in numbers.ways(run.directory, run.cell)]
        begin = found[0][0] if found else 0
        ax.plot([(sent - begin) / NS for sent, _ in found],
                [math.nan if came is None else (came - sent) / MS
                 for sent, came in found], linewidth=0.8, label=name, **look)
        estimated = numbers.estimates(run.directory)
        ax.plot([(sent - begin) / NS for sent, _ in estimated],
                [ns / MS for _, ns in estimated], ".", markersize=1.5,
                alpha=0.5, color=look["color"])
    ax.axhline(TOLL_QUALITY_MS, color="#888888", linewidth=0.8)
    ax.set_ylim(bottom=0)
    plots.legend(ax)
    return figure


def delays(runs: list[run_results.Run], what: str,
           unit: float) -> tuple[Figure, Axes]:
    """Draws the cumulative distribution of the delays, with one curve for each
    group of runs that are compared. A point of a curve shows which percentage
    of the packets have at most the delay on the x axis. `what` is the title of
    the x axis. One unit of this axis is `unit` ns. Returns the figure and its
    axes.
    """
    figure, ax = plots.axes(what, "of the packets sent, %")
    for name, (own, look) in rows(runs).items():
        found = [way for run in own
                 for way in numbers.ways(run.directory, run.cell)]
        draw_share(ax, [ns / unit for ns in numbers.delays_ns(found)],
                   max(len(found), 1), label=name, **look)
    return figure, ax


def voice_distribution(runs: list[run_results.Run]) -> Figure:
    figure, ax = delays(runs, "one-way delay, ms", MS)
    for own, look in rows(runs).values():
        estimated = [ns / MS for run in own
                     for _, ns in numbers.estimates(run.directory)]
        sent = sum(len(numbers.ways(run.directory, run.cell)) for run in own)
        if estimated:
            draw_share(ax, estimated, sent, color=look["color"],
                       linewidth=1, linestyle=":")
    ax.axvline(TOLL_QUALITY_MS, color="#888888", linewidth=0.8)
    finish_shares(ax)
    return figure


def set_up_times(runs: list[run_results.Run]) -> Figure:
    """Draws a histogram of the call set-up times, as in figure 5 of Alanko and
    others (1994). Let x be the share of the calls in a bin. The height of the
    bin's bar is the arcsine of the square root of x, so that even small shares
    are visible.
    """
    figure, ax = plots.axes("call set-up, s", "of the calls set up, %")
    found = {name: ([time for run in own
                     for time in numbers.calls(run.directory)[0]], look)
             for name, (own, look) in rows(runs).items()}
    found = {name: each for name, each in found.items() if each[0]}
    for times, look in found.values():
        shares, edges = numbers.histogram(times)
        ax.stairs([arcsin(share) for share in shares], edges, fill=True,
                  alpha=0.25, color=look["color"])
    for name, (times, look) in found.items():
        shares, edges = numbers.histogram(times)
        ax.stairs([arcsin(share) for share in shares], edges, label=name,
                  **look)
    marks = (0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1)
    ax.set_yticks([arcsin(mark) for mark in marks],
                  [f"{100 * mark:g}" for mark in marks])
    plots.legend(ax)
    return figure


def arcsin(share: float) -> float:
    return math.asin(math.sqrt(share))


def waiting_for_a_call(runs: list[run_results.Run]) -> Figure:
    figure, ax = delays(runs, "delay of a packet after a pause, s", NS)
    finish_shares(ax)
    return figure


# All plots of this module, as {kind of workload: {file name: (function that
# draws the plot, text below the plot)}}.
ALL = {
    "request-reply": {
        "round-trips": (round_trips, "Round trips: how many of the requests "
                        "were answered in so long."),
        "typical": (typical_round_trips, "From the shortest round trip to the "
                    "90th percentile, the median as a point (Alanko, "
                    "figure 6)."),
    },
    "bulk": {
        "bytes": (bytes_over_time, "Bytes received; dotted, the sustainable "
                  "rate: the median of the rates between any two blocks "
                  "(Alanko, figure 7)."),
    },
    "voice": {
        "delay": (voice_over_time, "Delay of each packet by the clock that "
                  "both ends share; points are what its acknowledgement says, "
                  "half of the way there and back. The line is at 150 ms."),
        "delay-cdf": (voice_distribution, "How many of the packets that were "
                      "sent came in so long; dotted, as acknowledgements say."),
    },
    "dial-up": {
        "set-up": (set_up_times, "Set-up of calls that succeeded; the scale is "
                   "the arcsin of the root (Alanko, figure 5)."),
        "waiting": (waiting_for_a_call, "Packets after a pause: what it costs "
                    "that the call was ended meanwhile."),
    },
}
