# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws how the bitrate of an encoder follows the bitrate of the network. The
input is one or more logs that the program tests/examples/follow has printed.
The output is one SVG with a picture for each log, one picture below another.

    rateplot --link 20:4 --link 20:1.5 --link 20:4 mmtp.csv dccp.csv > rates.svg
"""

import argparse
import csv
import pathlib
import sys
import xml.sax.saxutils
from collections.abc import Iterable, Iterator, Sequence

from wirelesslab.errors import LabError

WIDTH, HEIGHT = 760, 260  # The size of one picture in pixels.
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 30, 40
# The curves, each as a tuple (column of the log, meaning of the column, colour
# of the curve). The colours are from the palette of Okabe and Ito, which
# colour-blind people can distinguish.
CURVES = (
    ("made", "the encoder makes", "#56b4e9"),
    ("estimated", "the sink estimates", "#d55e00"),
    ("asked", "the encoder is asked for", "#000000"),
)
LINK_COLOUR = "#e8e8e8"
STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
MAX_MARKS = 6


def read(path: pathlib.Path) -> list[dict[str, float]]:
    """Returns the rows of the log `path`, with all values as numbers. The log
    is a CSV file. A line of it that begins with `#` is a comment and is
    skipped.
    """
    with open(path) as lines:
        rows = [{name: float(value) for name, value in row.items()}
                for row in csv.DictReader(line for line in lines
                                          if not line.startswith("#"))]
    if not rows:
        raise LabError(f"{path}: no line of numbers, so there is nothing to "
                       "draw")
    return rows


def smooth(values: Sequence[float], count: int = 5) -> Iterator[float]:
    """Yields a smoothed value for each of the `values`: the mean of this value
    and of the values before it, `count` values in total. Without the
    smoothing, a single large key frame would look like a change of the
    bitrate.
    """
    for end in range(1, len(values) + 1):
        window = values[max(0, end - count):end]
        yield sum(window) / len(window)


def link_corners(
        steps: Iterable[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Yields the corners of the curve that shows the rate of the link over
    time, each as a pair (time in s, rate in bit/s). The rate changes in steps.
    `steps` has a pair (duration in s, rate in Mbit/s) for each step.
    """
    begin = 0
    for seconds, megabits in steps:
        yield begin, megabits * 1e6
        begin += seconds
        yield begin, megabits * 1e6


def marks(maximum: float) -> list[float]:
    """Returns round numbers from 0 to `maximum`, for the marks of an axis."""
    step = next((step for step in STEPS if maximum / step <= MAX_MARKS),
                STEPS[-1])
    return [round(step * number, 1)
            for number in range(int(maximum / step) + 1)]


class Picture:
    """Draws the curves of one log. `title` is the text above the picture,
    `rows` has the rows of the log, and `link` has pairs (seconds, bit/s) of the
    link's rate. `above` is the vertical position of the picture in pixels: the
    height of all pictures above it.
    """

    def __init__(self, title: str, rows: Sequence[dict[str, float]],
                 link: Iterable[tuple[float, float]], above: int) -> None:
        self.title, self.rows, self.link = title, rows, list(link)
        self.above = above
        self.seconds = max(row["seconds"] for row in rows)
        self.maximum = 1.05 * max(
            [rate for _, rate in self.link]
            + [row[name] for row in rows for name in ("estimated", "asked")])
        self.parts = []

    def x(self, seconds: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * min(
            seconds / self.seconds, 1)

    def y(self, rate: float) -> float:
        inner = HEIGHT - TOP - BOTTOM
        return self.above + TOP + inner * (1 - min(rate / self.maximum, 1))

    def text(self, x: float, y: float, words: str, anchor: str = "start",
             colour: str = "#000000") -> None:
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" '
            f'fill="{colour}">{xml.sax.saxutils.escape(words)}</text>')

    def line(self, points: Iterable[tuple[float, float]], colour: str,
             width: float) -> None:
        places = " ".join(f"{self.x(seconds):.1f},{self.y(rate):.1f}"
                          for seconds, rate in points)
        self.parts.append(f'<polyline points="{places}" fill="none" '
                          f'stroke="{colour}" stroke-width="{width}"/>')

    def draw_link(self) -> None:
        if not self.link:
            return
        ends = [(0, 0), *self.link, (self.link[-1][0], 0)]
        places = " ".join(f"{self.x(seconds):.1f},{self.y(rate):.1f}"
                          for seconds, rate in ends)
        self.parts.append(f'<polygon points="{places}" fill="{LINK_COLOUR}"/>')

    def draw_axes(self) -> None:
        for megabits in marks(self.maximum / 1e6):
            y = self.y(megabits * 1e6)
            self.parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" '
                              'stroke="#bbbbbb" stroke-width="0.5"/>')
            self.text(LEFT - 6, y + 4, f"{megabits:g}", "end")
        bottom = self.above + HEIGHT - BOTTOM
        for seconds in marks(self.seconds):
            self.text(self.x(seconds), bottom + 16, f"{seconds:g}", "middle")
        self.text(WIDTH - RIGHT, bottom + 32, "seconds", "end")
        self.text(LEFT, self.above + 18, f"{self.title}, Mbit/s")

    def draw_curves(self) -> None:
        seconds = [row["seconds"] for row in self.rows]
        for name, _, colour in CURVES:
            values = [row[name] for row in self.rows]
            if name == "made":
                values = smooth(values)
            self.line(zip(seconds, values), colour, 1.5)

    def draw_legend(self) -> None:
        x, y = LEFT + 155, self.above + 18
        named = [(words, colour) for _, words, colour in CURVES]
        if self.link:
            named.append(("the link", "#999999"))
        for words, colour in named:
            self.text(x, y, words, colour=colour)
            x += 16 + 6.9 * len(words)

    def draw(self) -> list[str]:
        self.draw_link()
        self.draw_axes()
        self.draw_curves()
        self.draw_legend()
        return self.parts


def drawing(logs: list[tuple[str, list[dict[str, float]]]],
            link: Iterable[tuple[float, float]]) -> str:
    parts = [part for number, (title, rows) in enumerate(logs)
             for part in Picture(title, rows, link, number * HEIGHT).draw()]
    height = HEIGHT * len(logs)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
        f'height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        *parts, "</svg>"]) + "\n"


def seconds_and_rate(text: str) -> tuple[float, float]:
    seconds, _, rate = text.partition(":")
    return float(seconds), float(rate)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("logs", nargs="+", metavar="LOG.csv",
                        help="output of tests/examples/follow; the name of the "
                        "file without its suffix is the title of its picture")
    parser.add_argument("--link", action="append", default=[],
                        metavar="SECONDS:MBIT/S", type=seconds_and_rate,
                        help="a step of the link: duration and bitrate; the "
                        "option may be repeated")
    options = parser.parse_args()
    logs = [(pathlib.Path(path).stem, read(path)) for path in options.logs]
    sys.stdout.write(drawing(logs, list(link_corners(options.link))))
