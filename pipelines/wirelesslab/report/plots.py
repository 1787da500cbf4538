# SPDX-License-Identifier: LGPL-2.1-or-later
"""The plots of a report. Each function gets runs that are compared with each
other and returns a figure, small enough for the screen of a phone."""

import math
import pathlib
from collections.abc import Callable
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib import ticker  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.axis import Axis  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from wirelesslab.report import run_results
from wirelesslab.streams import (
    link_paths,
    link_schedules,
    measurements,
    quality,
)

WIDTH, HEIGHT, DPI = 5.2, 3.6, 160  # inches
NS, MS = measurements.NS, 1e6
STEP_NS = 10**9
SEQUENCE_S = 2  # The number of seconds that a time-sequence plot shows.
# {style of a line: shape of the points that stand for this line}
STYLES = {"-": "o", "--": "s", ":": "^", "-.": "D"}
# A palette that colour-blind people can distinguish (Okabe and Ito, 2008).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
           "#000000", "#999999")
# Colours of labels that have an order, from dark to the lightest one that can
# be seen on white paper.
SHADES, SPAN = plt.get_cmap("plasma"), 0.88
# The links of a cell that has several, from the first one on.
LINK_COLOURS = ("#888888", "#56b4e9", "#e69f00", "#009e73")
FATES = (("decodable", "#009e73"), ("of no use", "#f0e442"),
         ("late", "#e69f00"), ("lost", "#d55e00"))
# The top of the axis in dB. Pictures with a higher PSNR look the same to a
# viewer.
HIGHEST_DB = 50
plt.rcParams.update({"font.size": 8, "axes.grid": True, "grid.alpha": 0.3,
                     "axes.spines.top": False, "axes.spines.right": False})


def look(place: int) -> dict[str, Any]:
    """Returns colour and style of a label without an order."""
    return {"color": COLOURS[place % len(COLOURS)],
            "linestyle": list(STYLES)[place // len(COLOURS) % len(STYLES)]}


def looks(runs: list[run_results.Run]) -> dict[str, dict[str, Any]]:
    """Returns {label: colour and style of its line}."""
    names = list(run_results.by_label(runs))
    if runs[0].way.is_ordered and len(names) > 1:
        return {name: {"color": SHADES(SPAN * n / (len(names) - 1)),
                       "linestyle": "-", "label": name}
                for n, name in enumerate(names)}
    return {name: {**look(n), "label": name} for n, name in enumerate(names)}


def dotted(line: dict[str, Any]) -> dict[str, Any]:
    """Returns the style for points in place of this line."""
    return {**line, "linestyle": "", "marker": STYLES[line["linestyle"]]}


def axes(x: str, y: str) -> tuple[Figure, Axes]:
    figure, ax = plt.subplots(figsize=(WIDTH, HEIGHT), layout="tight")
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    return figure, ax


def plain(value: float, _position: int) -> str:
    """Formats a mark of a logarithmic axis as 1000, not as a power of ten, and
    leaves out most marks.
    """
    first = value / 10 ** math.floor(math.log10(value))
    return f"{value:g}" if round(first, 6) in (1, 2, 5) else ""


def name_numbers(axis: Axis) -> None:
    for use in (axis.set_major_formatter, axis.set_minor_formatter):
        use(ticker.FuncFormatter(plain))


def legend(ax: Axes) -> None:
    if ax.get_legend_handles_labels()[0]:
        ax.legend(fontsize=7, ncol=2, framealpha=0.6)


def first_runs(runs: list[run_results.Run]) -> dict[str, run_results.Run]:
    """Returns the first run of each label, for plots over time. All of them
    have the same seed."""
    return {name: own[0] for name, own in run_results.by_label(runs).items()}


# -------------------------------------------------------------------- the plots

def delay_against_throughput(runs: list[run_results.Run]) -> Figure:
    figure, ax = axes("latency, 95th percentile, ms",
                      "throughput, Mbit/s of video")
    delays, rates = [1], [0]
    for name, look in looks(runs).items():
        points = [(numbers["latency 95 % ms"], numbers["throughput Mbit/s"])
                  for numbers in (run.numbers()
                                  for run in run_results.by_label(runs)[name])]
        points = [point for point in points if not math.isnan(point[0])]
        if points:
            ax.plot(*zip(*points), alpha=0.7, **dotted(look))
            delays += [max(delay, 1) for delay, _ in points]
            rates += [rate for _, rate in points]
    ax.set_xscale("log")
    name_numbers(ax.xaxis)
    ax.set_xlim(0.9, 2 * max(delays))
    ax.set_ylim(0, 1.2 * max(rates) or 1)
    legend(ax)
    return figure


def latency_distribution(runs: list[run_results.Run]) -> Figure:
    figure, ax = axes("latency, ms", "frames that arrived so fast, % of sent")
    for name, look in looks(runs).items():
        own = run_results.by_label(runs)[name]
        times = sorted(ns / MS for run in own
                       for ns in measurements.latencies_ns(run.passages))
        sent = sum(len(run.passages) for run in own)
        ax.plot(times, [100 * (n + 1) / sent for n in range(len(times))],
                **look)
    ax.set_xscale("log")
    name_numbers(ax.xaxis)
    ax.set_ylim(0, 101)
    legend(ax)
    return figure


def frames_by_type(runs: list[run_results.Run]) -> Figure:
    """Draws what happened to the frames of all runs of a label. A frame is of
    no use if it arrived, but not all frames that it refers to."""
    names = list(run_results.by_label(runs))
    height = 1 + 0.2 * len(measurements.TYPES) * (len(names) + 1)
    figure, all_axes = plt.subplots(len(measurements.TYPES), 1, sharex=True,
                                    figsize=(WIDTH, height))
    for ax, type in zip(all_axes, measurements.TYPES):
        for row, name in enumerate(names):
            counts = sum_of_frames(run_results.by_label(runs)[name], type)
            left = 0
            for (fate, colour), count in zip(FATES, counts):
                width = 100 * count / max(sum(counts), 1)
                ax.barh(row, width, left=left, color=colour,
                        label=fate if row == 0 else None)
                left += width
        ax.set_yticks(range(len(names)), names)
        ax.invert_yaxis()
        ax.grid(False)
        ax.set_title(f"{type}-frames, %", fontsize=8, loc="left", pad=2)
        ax.set_xlim(0, 100)
    figure.legend(*all_axes[0].get_legend_handles_labels(), ncol=len(FATES),
                  fontsize=7, loc="lower center")
    figure.tight_layout(rect=(0, 0.3 / height, 1, 1))
    return figure


def sum_of_frames(runs: list[run_results.Run], type: str) -> list[int]:
    """Returns the number of frames for each of FATES."""
    found = [0] * len(FATES)
    for run in runs:
        frames = {what: counts[type] for what, counts in measurements.by_type(
            run.passages, run.late_ns).items()}
        for n, count in enumerate((
                frames["decodable"], frames["in time"] - frames["decodable"],
                frames["late"], frames["lost"])):
            found[n] += count
    return found


def psnr_over_time(runs: list[run_results.Run]) -> Figure:
    """Draws a row for each label, and the state of the link below."""
    firsts = first_runs(runs)
    rows = len(firsts) + 1
    figure, all_axes = plt.subplots(
        rows, 1, sharex=True, figsize=(WIDTH, 0.6 + 0.65 * rows))
    for ax, (name, look) in zip(all_axes, looks(runs).items()):
        run = firsts[name]
        period = measurements.period_ns(run.passages) / NS
        ax.plot([place * period for place in range(len(run.pictures))],
                [min(quality.drawable(picture.psnr()), HIGHEST_DB)
                 for picture in run.pictures], color=look["color"],
                linewidth=0.8)
        ax.set_ylim(0, HIGHEST_DB + 3)
        ax.set_title(name, fontsize=7, loc="left", pad=1)
    all_axes[0].set_ylabel("dB")
    draw_link(all_axes[-1], firsts)
    figure.tight_layout(h_pad=0.2)
    return figure


def draw_link(ax: Axes, firsts: dict[str, run_results.Run]) -> None:
    """Draws the link of the first run. All runs with this seed have the same
    link.
    """
    run = next(iter(firsts.values()))
    end = run.cell["seconds"]
    parts = link_paths.parts(run.cell["link"])
    # Each link of a combined link has a band of the axis.
    height, has_changes = 100 / len(parts), False
    for place, part in enumerate(parts):
        colour = LINK_COLOURS[place % len(LINK_COLOURS)]
        base = place * height
        changes = [(ns / NS, base + height * value)
                   for ns, value in run.quality_of_link(place)
                   if ns / NS <= end]
        if changes:
            # The log contains only the changes of the state and not the initial
            # state. Initially every packet gets through at the first attempt.
            times, values = zip((0, base + height), *changes,
                                (end, changes[-1][1]))
            ax.fill_between(times, base, values, step="post", color=colour,
                            alpha=0.6)
            has_changes = True
        for begin, stop in link_schedules.closed_times(part):
            if begin < end:
                ax.fill_between((begin, min(stop, end)), base, base + height,
                                hatch="//", facecolor="none", linewidth=0.4,
                                edgecolor=colour)
    if not has_changes or len(parts) > 1:
        # The log does not have a state that never changes.
        ax.set_yticks([])
    words = link_words(parts, has_changes)
    ax.set_ylim(0, 105)
    ax.set_xlim(0, end)
    ax.set_title(words, fontsize=7, loc="left", pad=1)
    ax.set_xlabel("s of the film")


def link_words(parts: list[dict[str, Any]], has_changes: bool) -> str:
    """Returns the text above the plot of a link, or of the links that a
    combined link has.
    """
    words = "packets through at the first attempt, %" if has_changes \
        else "its state never changed"
    if any(map(link_schedules.closed_times, parts)):
        words += "; hatched: away by its schedule"
    if len(parts) == 1:
        return f"link: {words}"
    words = words.replace("its state", "their states")
    titles = [part["title"] for part in parts]
    return f"links: {words}\nfrom below: {'; '.join(titles)}"


def jitter_over_time(runs: list[run_results.Run]) -> Figure:
    figure, ax = axes("s of the film", "jitter (RFC 3550), ms")
    for name, look in looks(runs).items():
        ways = measurements.arrived(first_runs(runs)[name].passages)
        ax.plot([way.due_ns / NS for way in ways],
                [ns / MS for ns in measurements.jitter_ns(ways)], linewidth=0.9,
                **look)
    legend(ax)
    return figure


def latency_over_time(runs: list[run_results.Run]) -> Figure:
    return ms_over_time(runs, "latency, ms", measurements.Passage.latency_ns)


def lateness_over_time(runs: list[run_results.Run]) -> Figure:
    return ms_over_time(runs, "late by, ms", measurements.Passage.lateness_ns)


def ms_over_time(runs: list[run_results.Run], words: str,
                 time_of: Callable[[measurements.Passage], float]) -> Figure:
    figure, ax = axes("s of the film", words)
    for name, look in looks(runs).items():
        ways = measurements.arrived(first_runs(runs)[name].passages)
        ax.plot([way.due_ns / NS for way in ways],
                [max(time_of(way) / MS, 0.1) for way in ways],
                linewidth=0.7, **look)
    ax.set_yscale("log")
    name_numbers(ax.yaxis)
    legend(ax)
    return figure


def throughput_over_time(runs: list[run_results.Run]) -> Figure:
    figure, ax = axes("s since the first frame was sent",
                      "throughput, Mbit/s of video")
    for name, look in looks(runs).items():
        steps = measurements.throughput(first_runs(runs)[name].passages,
                                        STEP_NS)
        if steps:
            ax.stairs([rate / 1e6 for _, rate in steps],
                      [n * STEP_NS / NS for n in range(len(steps) + 1)],
                      **look)
    ax.set_ylim(bottom=0)
    legend(ax)
    return figure


def latency_against_size(runs: list[run_results.Run]) -> Figure:
    figure, ax = axes("frame's size, kB", "latency, ms")
    for name, look in looks(runs).items():
        ways = measurements.arrived(first_runs(runs)[name].passages)
        ax.plot([way.frame.size / 1e3 for way in ways],
                [max(way.latency_ns() / MS, 0.1) for way in ways],
                markersize=1.5, **dotted(look))
    ax.set_yscale("log")
    name_numbers(ax.yaxis)
    legend(ax)
    return figure


def time_sequence(runs: list[run_results.Run]) -> Figure:
    """Draws a row for each label. All rows show the same seconds, which are
    those in which most packets were lost."""
    firsts = first_runs(runs)
    begin = worst_seconds(firsts)
    figure, all_axes = plt.subplots(
        len(firsts), 1, sharex=True, squeeze=False,
        figsize=(WIDTH, 0.6 + 0.9 * len(firsts)))
    for (ax,), (name, run) in zip(all_axes, firsts.items()):
        draw_sequence(ax, run.link.packets, begin)
        ax.set_title(name, fontsize=7, loc="left", pad=1)
        ax.set_ylabel("MB")
    all_axes[-1][0].set_xlabel("s of the link")
    all_axes[-1][0].set_xlim(begin, begin + SEQUENCE_S)
    figure.legend(*all_axes[0][0].get_legend_handles_labels(), ncol=3,
                  fontsize=7, loc="lower center")
    figure.tight_layout(rect=(0, 0.3 / figure.get_figheight(), 1, 1), h_pad=0.2)
    return figure


def worst_seconds(firsts: dict[str, run_results.Run]) -> float:
    begin = measurements.worst_window(
        [packet.departure_ns for run in firsts.values()
         for packet in run.link.packets if packet.is_lost()],
        SEQUENCE_S * NS / 2)
    return 0 if begin is None else max(begin / NS - SEQUENCE_S / 4, 0)


def draw_sequence(ax: Axes, packets: list[measurements.Packet],
                  begin: float) -> None:
    """Draws bytes over time: packets that entered the link, left it, and were
    lost.
    """
    for points, look in zip(measurements.sequence(packets), (
            {"color": "#777777", "label": "came to the link", "marker": ".",
             "markersize": 1},
            {"color": "#0072b2", "label": "delivered", "marker": ".",
             "markersize": 2.5},
            {"color": "#d55e00", "label": "lost", "marker": "x",
             "markersize": 2.5})):
        seen = [(ns / NS, total / 1e6) for ns, total in points
                if begin <= ns / NS <= begin + SEQUENCE_S]
        ax.plot(*(zip(*seen) if seen else ([], [])), linestyle="", **look)


# {file name: (function, text below the plot)}
ALL = {
    "delay-throughput": (delay_against_throughput,
                         "Delay against throughput: a point is a run. Best is "
                         "the upper left."),
    "latency-cdf": (latency_distribution,
                    "How many of the frames that were sent arrived, and how "
                    "fast. What ends below 100 % was lost."),
    "frames": (frames_by_type,
               "What became of the frames, by type. Of no use is what arrived "
               "in time without all that it refers to."),
    "psnr": (psnr_over_time,
             "PSNR of each picture against the film as sent, from 50 dB on "
             "cut off, and the link's state under it. A frame that is missing "
             "or late is the last that was shown."),
    "throughput": (throughput_over_time, "Throughput, second by second."),
    "latency": (latency_over_time,
                "Latency of frames over time, from the sender's log to the "
                "receiver's."),
    "lateness": (lateness_over_time,
                 "How late frames were against the film's own pace, the "
                 "sender's waiting included."),
    "jitter": (jitter_over_time, "Jitter of frames in transport order."),
    "sequence": (time_sequence,
                 "Time-sequence: bytes of all packets so far against time, in "
                 "the seconds in which most were lost."),
    "latency-size": (latency_against_size,
                     "Latency against the size of the frame."),
}


def save(figure: Figure, path: pathlib.Path) -> None:
    figure.savefig(path, dpi=DPI, metadata={"Software": None})
    plt.close(figure)
