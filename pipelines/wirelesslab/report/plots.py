# SPDX-License-Identifier: LGPL-2.1-or-later
"""The plots of a report. Each function gets runs that are compared with each
other and returns a figure, small enough for the screen of a phone."""

import io
import math
import pathlib
import re
from collections.abc import Callable
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib import ticker  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.axis import Axis  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from wirelesslab.descriptions import Protocol
from wirelesslab.report import names, run_results
from wirelesslab.streams import (
    link_paths,
    link_schedules,
    measurements,
    quality,
)

# The width and the height of a plot in inches, and its resolution in dots per
# inch.
WIDTH, HEIGHT, DPI = 4.9, 3.3, 160
# The height in inches of the space above a legend that is beside its plot. A
# legend is beside the plot if the figure has only one plot.
ABOVE_LEGEND = 0.3
# The width, in inches, that a figure with several plots reserves for its
# legend. The legend is at the right of the plots.
LEGEND = 0.95
NS, MS = measurements.NS, 1e6
STEP_NS = 10**9
# The length in seconds of the time range that a time-sequence plot shows.
SEQUENCE_S = 2
# Maps each line style of the plots to a marker. If a plot draws points instead
# of a line, it uses the marker in place of the line style.
STYLES = {"-": "o", "--": "s", ":": "^", "-.": "D", (0, (6, 1)): "v",
          (0, (4, 1, 1, 1, 1, 1)): "P"}
# Colours that colour-blind people can distinguish (Okabe and Ito, 2008).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
           "#000000", "#999999")
# Colours for labels with an order, such as bitrates. They range from dark, for
# the first label, to light, for the last label. The lightest colour can still
# be seen on white paper.
SHADES, SPAN = plt.get_cmap("plasma"), 0.88
# The colours in which a plot draws the parts of a combined link, which
# consists of several links. The first colour is for the first part, the second
# one for the second part, and so on.
LINK_COLOURS = ("#888888", "#56b4e9", "#e69f00", "#009e73")
FATES = (("decodable", "#009e73"), ("of no use", "#f0e442"),
         ("late", "#e69f00"), ("lost", "#d55e00"))
# The upper end of the PSNR axis in dB. Pictures with a higher PSNR look the
# same to a viewer.
HIGHEST_DB = 50
# The colours of text and of separating lines. In an SVG they are replaced by
# variables, whose values depend on the reader's browser. The SVG can therefore
# also be read on a dark page.
INK, RULE = "#1c2530", "#8b96a2"
plt.rcParams.update({
    "font.size": 8.5, "axes.grid": True, "grid.alpha": 0.4, "grid.color": RULE,
    "axes.spines.top": False, "axes.spines.right": False, "text.color": INK,
    "axes.labelcolor": INK, "axes.edgecolor": INK, "xtick.color": INK,
    "ytick.color": INK, "legend.frameon": False,
    "svg.fonttype": "none", "svg.hashsalt": "lab"})
STYLE_OF_SVG = """<style>
:root { --ink: #1c2530; --rule: #8b96a2; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e3e7ec; --rule: #76818d; }
}
</style>"""


def look(place: int) -> dict[str, Any]:
    """Returns the colour and the style of a line in a plot. `place` is the
    index of the line's label in the legend. This function is for labels that
    have no order, such as names of protocols. Neighbouring labels get
    different colours.
    """
    return {"color": COLOURS[place % len(COLOURS)],
            "linestyle": list(STYLES)[place // len(COLOURS) % len(STYLES)]}


def looks(runs: list[run_results.Run]) -> dict[str, dict[str, Any]]:
    """Returns {label: look}. A label names a line in a plot. A look is the
    colour and the style of this line, and the name of the line in the legend.
    If the labels stand for transports, a transport has the same look in every
    plot of every report.
    """
    found = run_results.by_label(runs)
    if runs[0].way.is_ordered and len(found) > 1:
        return {label: {"color": SHADES(SPAN * n / (len(found) - 1)),
                        "linestyle": "-", "label": label}
                for n, label in enumerate(found)}
    if runs[0].way.head == "protocol":
        return of_transports({label: own[0].transport
                              for label, own in found.items()})
    return {label: {**look(n), "label": label}
            for n, label in enumerate(found)}


def of_transports(
        transports: dict[str, Protocol]) -> dict[str, dict[str, Any]]:
    """Returns {label: look} for `transports`, which is {label: transport}. A
    look is a dictionary that says how to draw the line of one transport: its
    colour, its line style and its name in the legend.
    """
    return {label: {"color": one.colour, "label": one.name,
                    "linestyle": list(STYLES)[one.style % len(STYLES)]}
            for label, one in names.looks(transports).items()}


def dotted(line: dict[str, Any]) -> dict[str, Any]:
    """Returns a copy of `line`, the style of a line in a plot. The copy draws
    separate points in place of the line, with the same colour.
    """
    return {**line, "linestyle": "", "marker": STYLES[line["linestyle"]]}


def axes(x: str, y: str) -> tuple[Figure, Axes]:
    figure, ax = plt.subplots(figsize=(WIDTH, HEIGHT), layout="tight")
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    return figure, ax


def plain(value: float, _position: int) -> str:
    """Returns the label of a mark on a logarithmic axis, as a plain number
    such as 1000 and not as a power of ten. Only 1, 2 and 5, and these numbers
    times a power of ten, get a label. The label of all other marks is empty.
    """
    first = value / 10 ** math.floor(math.log10(value))
    return f"{value:g}" if round(first, 6) in (1, 2, 5) else ""


def name_numbers(axis: Axis) -> None:
    for use in (axis.set_major_formatter, axis.set_minor_formatter):
        use(ticker.FuncFormatter(plain))


def legend(ax: Axes) -> None:
    """Draws the legend beside the axes, where it hides no data. If the legend
    is higher than the figure, the figure is enlarged, because otherwise a part
    of the legend would be cut off.
    """
    handles, labels = ax.get_legend_handles_labels()
    if not handles:
        return
    found = ax.legend(
        handles, [wrapped(label) for label in labels], fontsize=7.5,
        frameon=False, loc="upper left", bbox_to_anchor=(1, 1.03),
        borderaxespad=0.2, handlelength=2.2)
    figure = ax.get_figure()
    height = found.get_window_extent(
        figure.canvas.get_renderer()).height / figure.dpi
    figure.set_figheight(max(HEIGHT, height + ABOVE_LEGEND))


def wrapped(name: str) -> str:
    """Returns the name in the form in which a legend shows it, with a line
    break after each "!" and each comma. A name can be a long chain of
    elements.
    """
    return name.replace(" ! ", " !\n").replace(", ", ",\n")


def draw_deadline(ax: Axes, late_ms: float) -> None:
    ax.axvline(late_ms, color=INK, linewidth=1, linestyle=(0, (2, 2)))
    ax.annotate(f"deadline, {late_ms:g} ms", (late_ms, 1),
                xycoords=("data", "axes fraction"), fontsize=7, ha="center",
                xytext=(0, 3), textcoords="offset points")


def first_runs(runs: list[run_results.Run]) -> dict[str, run_results.Run]:
    """Returns {label: run} for plots over time. The runs are divided into
    groups. All runs of a group have the same value of the compared property,
    for example the same protocol. The label is the name of the group, and
    `run` is the first run of the group. In all groups, the first run has the
    same seed.
    """
    return {name: own[0] for name, own in run_results.by_label(runs).items()}


# -------------------------------------------------------------------- the plots

def delay_against_throughput(runs: list[run_results.Run]) -> Figure:
    """Draws a point for each run. The lateness of a frame is the time from its
    due time to its arrival. The x axis is the 95th percentile of the lateness
    in the run, and the y axis is the throughput. Only frames that are
    decodable in time count for the throughput, because a viewer sees only
    these frames.
    """
    figure, ax = axes("frames late by, 95th percentile, ms",
                      "decodable in time, Mbit/s of video")
    late_ms = runs[0].late_ns / MS
    delays, rates = [max(late_ms, 1)], [0.0]
    for label, look in looks(runs).items():
        points = [(numbers["lateness 95 % ms"], numbers["decodable Mbit/s"])
                  for numbers in (run.numbers()
                                  for run in run_results.by_label(runs)[label])]
        points = [(max(delay, 1), rate) for delay, rate in points
                  if not math.isnan(delay)]
        if points:
            ax.plot(*zip(*points), alpha=0.7, **dotted(look))
            delays += [delay for delay, _ in points]
            rates += [rate for _, rate in points]
    ax.set_xscale("log")
    name_numbers(ax.xaxis)
    ax.set_xlim(0.5 * min(delays), 2 * max(delays))
    ax.set_ylim(0, 1.2 * max(rates) or 1)
    draw_deadline(ax, late_ms)
    legend(ax)
    return figure


def decodable_distribution(runs: list[run_results.Run]) -> Figure:
    """Draws which share of the frames would be decodable in time if the
    deadline were shorter or longer. The x axis is the deadline, and the y axis
    is the share. The tables contain the share only for one deadline, the one
    of the report.
    """
    figure, ax = axes("deadline after the frame's due time, ms",
                      "decodable, % of sent")
    late_ms = runs[0].late_ns / MS
    curves = {}
    for label, own in run_results.by_label(runs).items():
        sent = sum(len(run.passages) for run in own)
        times = sorted(max(ns / MS, 1) for run in own
                       for ns in measurements.needed_deadlines_ns(run.passages)
                       if ns < math.inf)
        curves[label] = times, [100 * n / sent for n in range(len(times) + 1)]
    known = [late_ms, *(time for times, _ in curves.values()
                        for time in times)]
    first, last = max(min(known) / 2, 1), 1.5 * max(known)
    for label, look in looks(runs).items():
        times, shares = curves[label]
        # The curve consists of steps. After the last step, its value stays
        # constant up to the right end of the axis. The last value is therefore
        # drawn once more at this end.
        ax.step([first, *times, last], [*shares, shares[-1]], where="post",
                **look)
    ax.set_xscale("log")
    name_numbers(ax.xaxis)
    ax.set_xlim(first, last)
    ax.set_ylim(0, 101)
    draw_deadline(ax, late_ms)
    legend(ax)
    return figure


def frames_by_type(runs: list[run_results.Run]) -> Figure:
    """Draws a bar for each label and each frame type. A label stands for the
    runs that agree in the compared property, for example in the protocol. A
    bar stands for all frames of one type in these runs. It shows which
    percentages of them were decodable, of no use, late or lost. A frame is "of
    no use" if it arrived in time, but cannot be decoded in time, because it
    refers to a late or lost frame.
    """
    called = looks(runs)
    labels = list(called)
    height = 1 + 0.2 * len(measurements.TYPES) * (len(labels) + 1)
    figure, all_axes = plt.subplots(len(measurements.TYPES), 1, sharex=True,
                                    figsize=(WIDTH, height))
    for ax, type in zip(all_axes, measurements.TYPES):
        for row, label in enumerate(labels):
            counts = sum_of_frames(run_results.by_label(runs)[label], type)
            left = 0
            for (fate, colour), count in zip(FATES, counts):
                width = 100 * count / max(sum(counts), 1)
                ax.barh(row, width, left=left, color=colour,
                        label=fate if row == 0 else None)
                left += width
        ax.set_yticks(range(len(labels)),
                      [called[label]["label"] for label in labels], fontsize=7)
        ax.invert_yaxis()
        ax.grid(False)
        ax.set_title(f"{type}-frames, %", fontsize=8, loc="left", pad=2)
        ax.set_xlim(0, 100)
    beside(figure, all_axes[0])
    return figure


def beside(figure: Figure, ax: Axes, **more: float) -> None:
    """Draws one legend for all plots of `figure`, to the right of them. The
    legend has the labels of the plot `ax`.
    """
    figure.legend(*ax.get_legend_handles_labels(), fontsize=7, frameon=False,
                  loc="upper right")
    figure.tight_layout(rect=(0, 0, 1 - LEGEND / WIDTH, 1), **more)


def sum_of_frames(runs: list[run_results.Run], type: str) -> list[int]:
    """Counts the frames of the type `type` ("I", "P" or "B") in all `runs`.
    Returns a list with one number for each item of FATES, such as the number
    of late frames and the number of lost frames.
    """
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
    """Draws the PSNR over time. The figure has a row for each label, for
    example for each protocol, with the first run that has this label. Below
    the last row, it shows the state of the link.
    """
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
        ax.set_title(look["label"], fontsize=7, loc="left", pad=1)
    all_axes[0].set_ylabel("dB")
    draw_link(all_axes[-1], firsts)
    figure.tight_layout(h_pad=0.2)
    return figure


def draw_link(ax: Axes, firsts: dict[str, run_results.Run]) -> None:
    """Draws the state of the link over time. All runs in `firsts` have the
    same seed, so the state of the link is the same in all of them. The log of
    one run is therefore enough.
    """
    run = next(iter(firsts.values()))
    end = run.cell["seconds"]
    parts = link_paths.parts(run.cell["link"])
    # A combined link consists of several links, its parts. Each part has a
    # horizontal band of its own in the plot.
    height, has_changes = 100 / len(parts), False
    for place, part in enumerate(parts):
        colour = LINK_COLOURS[place % len(LINK_COLOURS)]
        base = place * height
        changes = [(ns / NS, base + height * value)
                   for ns, value in run.quality_of_link(place)
                   if ns / NS <= end]
        if changes:
            # The log contains the changes of the quality, but not the quality
            # at the start. It is 1 at the start, which means that every packet
            # gets through at the first attempt.
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
        # The y axis has no numbers in two cases:
        # - The state of the link never changed. The log contains only changes,
        #   so the plot has no values to show.
        # - The plot shows several links, each in a horizontal band of its own.
        #   A number at the axis would not be a value of one of the links.
        ax.set_yticks([])
    words = link_words(parts, has_changes)
    ax.set_ylim(0, 105)
    ax.set_xlim(0, end)
    ax.set_title(words, fontsize=7, loc="left", pad=1)
    ax.set_xlabel("s of the film")


def link_words(parts: list[dict[str, Any]], has_changes: bool) -> str:
    """Returns the text above a plot of the link's state. `parts` has the links
    that the plot shows: the parts of a combined link, or a single link.
    """
    words = "packets through at the first attempt, %" if has_changes \
        else "its state never changed"
    if any(map(link_schedules.closed_times, parts)):
        words += "; hatched: the schedule took the link away"
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
                      "decodable in time, Mbit/s of video")
    for name, look in looks(runs).items():
        run = first_runs(runs)[name]
        steps = measurements.throughput(measurements.decodable_in_time(
            run.passages, run.late_ns), STEP_NS)
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
                markersize=1.5, rasterized=True, **dotted(look))
    ax.set_yscale("log")
    name_numbers(ax.yaxis)
    legend(ax)
    return figure


def time_sequence(runs: list[run_results.Run]) -> Figure:
    """Draws the packets of the link over time, with a row for each value of
    the compared property, for example for each protocol. All rows show the
    same time range, which is SEQUENCE_S seconds long. The range is chosen so
    that it contains the worst second, which is the interval of one second with
    the most lost packets in all rows together.
    """
    firsts, called = first_runs(runs), looks(runs)
    begin = worst_seconds(firsts)
    figure, all_axes = plt.subplots(
        len(firsts), 1, sharex=True, squeeze=False,
        figsize=(WIDTH, 0.6 + 0.9 * len(firsts)))
    for (ax,), (name, run) in zip(all_axes, firsts.items()):
        draw_sequence(ax, run.link.packets, begin)
        ax.set_title(called[name]["label"], fontsize=7, loc="left", pad=1)
        ax.set_ylabel("MB")
    all_axes[-1][0].set_xlabel("s of the link")
    all_axes[-1][0].set_xlim(begin, begin + SEQUENCE_S)
    beside(figure, all_axes[0][0], h_pad=0.2)
    return figure


def worst_seconds(firsts: dict[str, run_results.Run]) -> float:
    begin = measurements.worst_window(
        [packet.departure_ns for run in firsts.values()
         for packet in run.link.packets if packet.is_lost()],
        SEQUENCE_S * NS / 2)
    return 0 if begin is None else max(begin / NS - SEQUENCE_S / 4, 0)


def draw_sequence(ax: Axes, packets: list[measurements.Packet],
                  begin: float) -> None:
    """Draws three curves over time for the packets of a link: packets that
    came to the link, packets that it delivered, and packets that were lost. A
    packet is drawn as a point. Its y value is the total size of this packet
    and of all packets before it.
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
        ax.plot(*(zip(*seen) if seen else ([], [])), linestyle="",
                rasterized=True, **look)


# All plots of this module: {file name: (function that draws the plot, text
# below the plot)}.
ALL = {
    "decodable-cdf": (decodable_distribution,
                      "How many frames would be decodable in time with a "
                      "shorter or longer deadline. The vertical line is the "
                      "deadline that all other figures use. Each curve is of "
                      "all runs of a row together."),
    "delay-throughput": (delay_against_throughput,
                         "Delay against throughput. Each point is a run. Only "
                         "frames that are decodable in time count as "
                         "throughput. The best runs are at the upper left."),
    "frames": (frames_by_type,
               "What happened to the frames, by type. A frame is of no use if "
               "it arrived in time, but not all frames that it refers to."),
    "psnr": (psnr_over_time,
             "PSNR of each picture compared with the film as it was sent. The "
             "lower plot is the state of the link. Values above 50 dB are "
             "drawn at 50 dB. In place of a frame that is missing or late, the "
             "viewer sees the last frame that was shown."),
    "throughput": (throughput_over_time,
                   "Throughput of the frames that are decodable in time, for "
                   "each second."),
    "latency": (latency_over_time,
                "Latency of frames over time, from the sender's log to the "
                "receiver's log."),
    "lateness": (lateness_over_time,
                 "The time from the due time of each frame to its arrival. It "
                 "includes the time for which the sender had to wait."),
    "jitter": (jitter_over_time, "Jitter of frames in transport order."),
    "sequence": (time_sequence,
                 "Time-sequence: the sum of the bytes of all packets over "
                 "time, in the seconds in which most packets were lost."),
    "latency-size": (latency_against_size,
                     "Latency against the size of the frame."),
}


def save(figure: Figure, path: pathlib.Path) -> None:
    """Writes the figure to a file. In an SVG, the colours of text and of
    separating lines depend on the reader's browser, which may prefer light or
    dark pages. In any other format, the background is white.
    """
    if path.suffix == ".svg":
        text = io.StringIO()
        figure.savefig(text, format="svg", dpi=DPI, transparent=True,
                       metadata={"Date": None, "Creator": None})
        path.write_text(adaptive(text.getvalue()))
    else:
        figure.savefig(path, dpi=DPI, metadata={"Software": None})
    plt.close(figure)


def adaptive(svg: str) -> str:
    """Returns a copy of the SVG text `svg` in which the colours of text and of
    separating lines are replaced by variables. The style of the SVG defines
    the values of these variables for light pages and for dark pages.
    """
    svg = svg.replace(INK, "var(--ink)").replace(RULE, "var(--rule)")
    return re.sub("(<svg [^>]*>)", rf"\1\n{STYLE_OF_SVG}", svg, count=1)
