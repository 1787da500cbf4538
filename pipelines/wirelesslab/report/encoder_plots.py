# SPDX-License-Identifier: LGPL-2.1-or-later
"""The plots of runs that had a live encoder. Each function gets runs that are
compared with each other, and returns a matplotlib figure.
"""

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wirelesslab.report import encoder_runs, plots
from wirelesslab.report.encoder_runs import EncoderRun
from wirelesslab.streams import clips

NS, MS = 1e9, 1e6
# ROW is the height of the plot of one protocol, in inches. HIGHEST_RATE is the
# upper end of the bitrate axis, in Mbit/s. The axis can be that short because
# the bitrate of the encoder is at most 6 Mbit/s.
ROW = 0.9
HIGHEST_RATE = 8
COLOURS = {"capacity": "#bbbbbb", "encoded": "#0072b2", "target": "#d55e00",
           "estimate": "#009e73", "never shown": "#d55e00"}


def rows(found: dict[str, EncoderRun], words: str) -> tuple[Figure, list[Axes]]:
    """Returns a figure with a row for each protocol in `found`, and the axes
    of these rows. `words` is the label of the y axis.
    """
    figure, all_axes = plots.plt.subplots(
        len(found), 1, sharex=True, squeeze=False,
        figsize=(plots.WIDTH, 0.8 + ROW * len(found)))
    own = list(all_axes[:, 0])
    for ax, name in zip(own, found):
        ax.set_title(name, fontsize=7, loc="left", pad=1)
    own[0].set_ylabel(words)
    own[-1].set_xlabel("s of the stream")
    return figure, own


def finish(figure: Figure, ax: Axes) -> Figure:
    handles, labels = ax.get_legend_handles_labels()
    height = figure.get_size_inches()[1]
    figure.legend(handles, labels, ncol=4, fontsize=7, loc="lower center")
    figure.tight_layout(h_pad=0.3, rect=(0, 0.25 / height, 1, 1))
    return figure


def rates_over_time(runs: list[EncoderRun]) -> Figure:
    found = encoder_runs.firsts(runs)
    figure, all_axes = rows(found, "Mbit/s")
    for ax, run in zip(all_axes, found.values()):
        draw_rates(ax, run)
    # One legend is shown for all plots. It is made from the plot with the most
    # lines, because this plot contains all kinds of lines. A plot has fewer
    # lines if its sender does not use the element bitrateadapt, which reports
    # an estimate and a target.
    return finish(figure, max(all_axes, key=lambda ax: len(ax.lines)))


def draw_rates(ax: Axes, run: EncoderRun) -> None:
    step = encoder_runs.STEP_NS / NS
    times = [step * number for number in range(len(run.capacity) + 1)]
    ax.stairs(run.capacity, times, fill=True, color=COLOURS["capacity"],
              alpha=0.6, label="capacity of the link")
    encoded = run.encoded()
    ax.stairs(encoded, range(len(encoded) + 1), color=COLOURS["encoded"],
              linewidth=1, label="encoded")
    told = [one for one in run.adaptations if one.frames]
    seconds = [one.frames / clips.FRAMES_PER_SECOND for one in told]
    for name, values in (("estimate", [one.estimate for one in told]),
                         ("target", [one.target for one in told])):
        if any(values):
            ax.plot(seconds, [value / 1e6 or math.nan for value in values],
                    color=COLOURS[name], linewidth=0.8, label=name)
    ax.set_ylim(0, HIGHEST_RATE)
    ax.set_xlim(0, times[-1])


def delays_over_time(runs: list[EncoderRun]) -> Figure:
    found = encoder_runs.firsts(runs)
    figure, all_axes = rows(found, "ms")
    for ax, run in zip(all_axes, found.values()):
        draw_delays(ax, run)
    return finish(figure, all_axes[0])


def draw_delays(ax: Axes, run: EncoderRun) -> None:
    limit = run.late_ms
    seconds = [frame.captured_ns / NS for frame in run.frames]
    ax.plot(seconds, [delay / MS if not math.isinf(delay) else math.nan
                      for delay in run.delays_ns], ".", markersize=1.2,
            color=COLOURS["encoded"], label="delay of a frame")
    lost = [second for second, delay in zip(seconds, run.delays_ns)
            if math.isinf(delay)]
    ax.plot(lost, [1.08 * limit] * len(lost), "|", markersize=4,
            color=COLOURS["never shown"], label="never shown")
    ax.set_ylim(0, 1.15 * limit)
    ax.set_xlim(0, len(run.frames) / clips.FRAMES_PER_SECOND)


def quality_against_delay(runs: list[EncoderRun]) -> Figure:
    """Draws a point for each run. The x axis is the delay, and the y axis is
    the quality of the pictures. Runs that are flagged as unreliable are left
    out. If all runs of a protocol are flagged, all of them are drawn.
    """
    figure, ax = plots.axes("delay, 95th percentile, ms", "SSIM")
    limit = max(run.late_ms for run in runs)
    grouped = encoder_runs.by_protocol(runs)
    looks = plots.of_transports({name: own[0].run.transport
                                 for name, own in grouped.items()})
    for name, own in grouped.items():
        numbers = [run.numbers() for run in encoder_runs.valid(own)]
        # If more than 5 % of the frames of a run are never shown, the 95th
        # percentile of the run's delay is infinite. The point of such a run is
        # drawn near the right edge of the plot.
        ax.plot([min(one["delay 95 % ms"], 1.1 * limit) for one in numbers],
                [one["SSIM"] for one in numbers],
                **plots.dotted({**looks[name], "label": name}), alpha=0.7)
    ax.axvline(limit, color="#888888", linewidth=0.8)
    ax.set_xlim(0, 1.15 * limit)
    plots.legend(ax)
    return figure


# All plots of this module: {file name: (function that makes the plot, text
# below the plot)}.
ALL = {
    "quality-delay": (quality_against_delay, "SSIM against the delay from "
                      "capture to display. To the right of the line, more "
                      "than 5 % of the frames were never shown."),
    "rates": (rates_over_time, "The capacity of the link, the bitrate of the "
              "encoder in each second, and the estimate and target of "
              "bitrateadapt, in the first valid run of each protocol."),
    "delays": (delays_over_time, "The time from the capture of each frame to "
               "its display, in the first valid run of each protocol."),
}
