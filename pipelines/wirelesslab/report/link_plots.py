# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the plots of a link over time: what the link carried, what it could
carry, and how long packets waited in its queue. Each plot has one row for each
compared transport. The row shows the first run of the transport.
"""

import csv
from collections.abc import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wirelesslab.errors import LabError
from wirelesslab.lab import cells
from wirelesslab.report import encoder_runs, plots, run_results
from wirelesslab.streams import display, link_paths, link_use

NS, MS, MBIT = 1e9, 1e6, 1e6
ROW = 0.65  # inches
RATE_STEP_NS, SOJOURN_STEP_NS = NS / 5, NS / 25
# The name of the file with the measured capacity of the link. The file has one
# value for each interval of RATE_STEP_NS ns. The first interval begins when
# the link is started.
CAPACITY = "link-capacity.csv"
# The capacity of a link is measured: packets are sent at a very high bitrate,
# and the bitrate that leaves the link is its capacity. If it is at least
# UNLIMITED (95 %) of the bitrate at which packets were sent, the real capacity
# may be higher than the measured one. The plot then treats the link as a link
# without a rate limit.
UNLIMITED = 0.95
GREY, DROP = "#bbbbbb", "#d55e00"


def capacity(run: run_results.Run) -> list[float]:
    """Returns the capacity of the link that the run used, as a list of numbers
    in Mbit/s, one for each time step since the link was started. To measure
    the capacity, the link is emulated once more in virtual time, with the same
    properties and seed. The result is kept in a file. Returns an empty list if
    the link cannot be emulated again, for example because the file of a trace
    is missing.
    """
    path = run.directory / CAPACITY
    if path.exists():
        with open(path) as file:
            return [float(row["Mbit/s"]) for row in csv.DictReader(file)]
    # The plots of all compared runs with this link use the measured capacity.
    # Some of these runs may begin their stream slightly later than `run`. The
    # capacity is therefore measured until one second after the end of the
    # stream in `run`.
    end = link_use.begin_ns(run.link.packets) + run.cell["seconds"] * NS + NS
    try:
        rates = [display.rates(
            encoder_runs.probe(text, station, end, run.build), 0, end,
            RATE_STEP_NS) for text, (_, station) in zip(
                cells.all_properties(run.cell, run.directory),
                cells.link_logs(run.cell))]
    except LabError:
        return []
    # A run over several links at the same time can use the capacities of all
    # of them, so the capacities are added.
    found = [sum(own) / MBIT for own in zip(*rates)]
    # The last time step may be incomplete. Its rate would be wrong, so it is
    # removed.
    del found[int(end // RATE_STEP_NS):]
    run_results.write_csv(path, ["s of the link", "Mbit/s"], [
        (step * RATE_STEP_NS / NS, rate) for step, rate in enumerate(found)])
    return found


def capacities(firsts: dict[str, run_results.Run]) -> dict[str, list[float]]:
    """Returns {label: capacity of the link} for `firsts`, which is {label:
    run}. The capacity is a list of numbers in Mbit/s, one for each time step.
    If the links of several runs have the same properties and the same seed,
    their capacity is measured only once.
    """
    known, found = {}, {}
    for name, run in firsts.items():
        link = (tuple(cells.properties(run.cell, part, place)
                      + part.get("steps", "")
                      for place, part in enumerate(
                          link_paths.parts(run.cell["link"]))),
                run.cell["seconds"])
        if link not in known:
            known[link] = capacity(run)
        found[name] = known[link]
    return found


def rows(runs: list[run_results.Run], unit: str,
         draw: Callable[[Axes, str, run_results.Run, dict], None]) -> Figure:
    """Returns a figure with one plot below another. There is a plot for each
    label of `runs`, for example for each protocol. `unit` is the unit of the y
    axes. The function `draw` draws one of the plots. Its arguments are the
    axes, the label, the first run that has this label, and the style of the
    label's line.
    """
    firsts, looks = plots.first_runs(runs), plots.looks(runs)
    figure, all_axes = plots.plt.subplots(
        len(firsts), 1, sharex=True, sharey=True, squeeze=False,
        figsize=(plots.WIDTH, 0.7 + ROW * len(firsts)))
    own = list(all_axes[:, 0])
    for ax, (name, run) in zip(own, firsts.items()):
        draw(ax, name, run, looks[name])
        ax.set_title(looks[name]["label"], fontsize=7, loc="left", pad=1)
    own[0].set_ylabel(unit)
    own[0].set_ylim(0, 1.15 * own[0].get_ylim()[1])
    own[0].set_xlim(0, max(run.cell["seconds"] for run in firsts.values()))
    own[-1].set_xlabel("s of the film")
    labelled = dict(pair for ax in own for pair in zip(
        *reversed(ax.get_legend_handles_labels())))
    height = figure.get_size_inches()[1]
    figure.legend(labelled.values(), labelled.keys(), ncol=3, fontsize=7,
                  loc="lower center")
    figure.tight_layout(h_pad=0.2, rect=(0, 0.25 / height, 1, 1))
    return figure


def carried_over_time(runs: list[run_results.Run]) -> Figure:
    found = capacities(plots.first_runs(runs))
    limits = [rate for one in found.values() for rate in one]
    top = encoder_runs.PROBE_BYTES_PER_SECOND * 8 / MBIT * UNLIMITED
    step = RATE_STEP_NS / NS

    def draw(ax: Axes, name: str, run: run_results.Run, look: dict) -> None:
        packets = run.link.packets
        begin = link_use.begin_ns(packets) / NS
        could = found[name]
        if could:
            ax.stairs([min(rate, top) for rate in could],
                      [step * number - begin
                       for number in range(len(could) + 1)],
                      fill=True, color=GREY, alpha=0.6,
                      label="what the link could carry")
        else:
            ax.text(0.99, 0.9, "capacity not known: the link could not be run "
                    "again", transform=ax.transAxes, fontsize=6, ha="right")
        rates = link_use.rates(packets, run.cell["seconds"] * NS, RATE_STEP_NS)
        ax.stairs([rate / MBIT for rate in rates],
                  [step * number for number in range(len(rates) + 1)],
                  color=look["color"], label="what it carried")

    figure = rows(runs, "Mbit/s", draw)
    # If a link has no rate limit, its capacity is far above all other lines of
    # the plot. If the vertical axis included this capacity, the other lines
    # would be squeezed together at the bottom. The axis is therefore scaled
    # without the capacity.
    if limits and max(limits) > top:
        highest = max((rate for run in plots.first_runs(runs).values()
                       for rate in link_use.rates(
                           run.link.packets, run.cell["seconds"] * NS,
                           RATE_STEP_NS)), default=1)
        figure.axes[0].set_ylim(top=1.5 * highest / MBIT or 1)
    return figure


def queue_over_time(runs: list[run_results.Run]) -> Figure:
    step = SOJOURN_STEP_NS / NS

    def draw(ax: Axes, name: str, run: run_results.Run, look: dict) -> None:
        end = run.cell["seconds"] * NS
        times = link_use.sojourns_ns(run.link.packets, end, SOJOURN_STEP_NS)
        ax.plot([step * number for number in range(len(times))],
                [ns / MS for ns in times], color=look["color"], linewidth=0.8)
        drops = link_use.drops_ns(run.link.packets, end, SOJOURN_STEP_NS)
        if drops:
            ax.broken_barh([(begin / NS, length / NS)
                            for begin, length in drops], (0.88, 0.1),
                           transform=ax.get_xaxis_transform(), color=DROP,
                           linewidth=0,
                           label="the queue dropped packets")

    return rows(runs, "ms", draw)


# All plots of this module: {file name: (function that draws the plot, text
# below the plot)}.
ALL = {
    "link": (carried_over_time,
             "The bitrate through the link in each fifth of a second, with all "
             "headers. The grey area is what the link could carry in this "
             "direction. It was measured with more packets than the link can "
             "carry, over the same link with the same seed."),
    "queue": (queue_over_time,
              "How long packets stayed in the link: the wait in its queue, the "
              "transmissions, and the delay of the link. A bar at the top "
              "shows when the queue dropped packets."),
}
