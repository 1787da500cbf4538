# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the log of a link. Prints how many bytes left the link, and the times
at which nothing left the link. With --output it also draws two plots: the
throughput above, and the arrivals below. Papers about wireless links have
plots of this form.

  logplot --flow 1 --output gprs.svg logs/wl0.log
"""

import argparse
import itertools
import pathlib
from collections.abc import Iterator

from wirelesslab.errors import LabError
from wirelesslab.testbed import link_log

NS = 1e9
LOST = "no packet of flow {flow} left the link; --flow chooses another flow"


def arrivals(path: str | pathlib.Path, flow: int) -> list[tuple[float, int]]:
    """Returns (seconds, total bytes so far) for each packet of the flow that
    left the link. The seconds are counted from the moment at which the first
    packet of the flow entered the link."""
    begin, packets = None, []
    for word, packet in link_log.events(path):
        if word != "packet" or int(packet["flow"]) != flow:
            continue
        entered = int(packet["arrival_ns"])
        begin = entered if begin is None else min(begin, entered)
        if packet["fate"] in link_log.ARRIVED:
            packets.append((int(packet["departure_ns"]),
                            int(packet["size_bytes"])))
    packets.sort()
    totals = itertools.accumulate(size for _, size in packets)
    return [((departure - begin) / NS, total)
            for (departure, _), total in zip(packets, totals)]


def in_each_second(seen: list[tuple[float, int]]) -> list[int]:
    """Returns the number of bytes that arrived in each second. The last number
    may cover less than a second.
    """
    sums = [0] * (int(seen[-1][0]) + 1)
    for (seconds, total), (_, before) in zip(seen, [(0, 0), *seen]):
        sums[int(seconds)] += total - before
    return sums


def silences(seen: list[tuple[float, int]],
             minimum: float) -> list[tuple[float, float]]:
    """Returns the silences, the periods in which nothing left the link. Each
    silence is a pair (begin, length) in seconds. Silences shorter than
    `minimum` seconds are left out.
    """
    return [(before, after - before)
            for (before, _), (after, _) in itertools.pairwise(seen)
            if after - before >= minimum]


def words(seen: list[tuple[float, int]], minimum: float) -> Iterator[str]:
    seconds, total = seen[-1]
    yield f"{total} bytes in {seconds:.1f} s, {total / seconds:.0f} byte/s"
    quiet = silences(seen, minimum)
    for begin, length in quiet:
        yield f"nothing from {begin:.1f} s for {length:.1f} s"
    rest = seconds - sum(length for _, length in quiet)
    if quiet and rest > 0:
        yield f"beside that {total / rest:.0f} byte/s"


def draw(seen: list[tuple[float, int]], title: str, output: str) -> None:
    try:
        from wirelesslab.report import plots  # this module needs matplotlib
    except ImportError as missing:
        raise LabError(
            f"a picture needs the Python module {missing.name}, which is not "
            "installed. Install it for /usr/bin/python3 with: "
            "pipelines/setup lab") from None
    figure, (above, below) = plots.plt.subplots(
        2, figsize=(plots.WIDTH, plots.HEIGHT), layout="tight", sharex=True)
    rates = [size / 1000 for size in in_each_second(seen)]
    above.stairs(rates, color=plots.COLOURS[0])
    above.set_ylabel("kbyte in each second")
    above.set_title(title)
    below.plot([seconds for seconds, _ in seen],
               [total / 1000 for _, total in seen], ".", markersize=2,
               color=plots.COLOURS[1])
    below.set_ylabel("kbyte so far")
    below.set_xlabel("seconds")
    with plots.plt.rc_context({"svg.hashsalt": "logplot",
                               "svg.fonttype": "none"}):
        figure.savefig(output, metadata={"Date": None}
                       if output.endswith(".svg") else None)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", metavar="LOG", help="log of wirelesslink")
    parser.add_argument("--flow", type=int, default=0, metavar="N",
                        help="number of the flow in the log (0)")
    parser.add_argument("--silence", type=float, default=1, metavar="SECONDS",
                        help="minimum length of a silence that is printed (1)")
    parser.add_argument("--output", metavar="FILE",
                        help="draw a picture into this file, .svg or .png")
    parser.add_argument("--title", default="", help="title of the picture")
    return parser.parse_args()


def main() -> None:
    options = parse_arguments()
    seen = arrivals(options.log, options.flow)
    if not seen:
        raise LabError(
            f"{options.log}: {LOST.format(flow=options.flow)}")
    print(*words(seen, options.silence), sep="\n")
    if options.output:
        draw(seen, options.title, options.output)
