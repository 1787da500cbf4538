# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the video of the worst five seconds: what the viewer of each compared
run saw, and what was sent, side by side. The template worst_seconds.html shows
it.
"""

import math
import pathlib
import typing
from collections.abc import Sequence
from typing import Any

from wirelesslab.report import plots, run_results
from wirelesslab.streams import (
    clips,
    freezes,
    measurements,
    quality,
    side_by_side,
)

SECONDS = 5
PERIOD_NS = measurements.NS / clips.FRAMES_PER_SECOND
SENT = "as sent"
SENT_COLOUR = "#ffffff"
DPI = 100
STRIP, LETTERS = 20, 13  # heights in pixels
LETTER_WIDTH = 0.62  # mean width of a letter, relative to its height
POINTS_PER_PIXEL = 72 / DPI


class Label(typing.NamedTuple):
    words: str
    colour: Any


def describe(runs: list[run_results.Run], prefix: str,
             beside: pathlib.Path) -> dict[str, Any]:
    """Returns the values for the template, and writes the video and one frame
    of it. The first run of each label is used, and all of them have the same
    seed. The seconds are those in which the pictures of all these runs together
    differ most from what was sent."""
    firsts = plots.first_runs(runs)
    places = measurements.worst_places(
        [[picture.mse for picture in run.pictures] for run in firsts.values()],
        SECONDS * clips.FRAMES_PER_SECOND)
    if places is None:
        return {"worst": None}
    moment = measurements.worst_place(
        [errors_of(run, places) for run in firsts.values()])
    looks = plots.looks(runs)
    labels = [Label(SENT, SENT_COLOUR), *(
        Label(looks[name]["label"], looks[name]["color"]) for name in firsts)]
    clip = list(firsts.values())[-1].clip()
    pictures = side_by_side.Pictures(
        [side_by_side.Tile(clip, places, places.start), *(
            side_by_side.Tile(run.clip(), run.shown[places.start:places.stop],
                              places.start) for run in firsts.values())])
    strips = beside / f"{prefix}labels.png"
    draw_labels(labels, pictures.size, strips)
    video, poster = side_by_side.write(
        pictures, strips, clips.FRAMES_PER_SECOND, beside / f"{prefix}worst",
        moment)
    strips.unlink()
    return {"worst": {
        "video": video, "poster": poster,
        "seconds": f"{len(places) / clips.FRAMES_PER_SECOND:g}",
        "begin": seconds(places.start), "end": seconds(places.stop),
        "moment": seconds(places.start + moment),
        "rows": [words(label.words, run, places, moment)
                 for label, run in zip(labels[1:], firsts.values())]}}


def paths(group: dict[str, Any]) -> list[pathlib.Path]:
    """Returns the files of a group's video, for the size of the page."""
    worst = group.get("worst") or {}
    return [path for path in (worst.get("video"), worst.get("poster")) if path]


def seconds(place: int) -> str:
    return f"{place / clips.FRAMES_PER_SECOND:.2f}"


def errors_of(run: run_results.Run, places: range) -> list[float]:
    return [run.pictures[place].mse for place in places]


def words(label: str, run: run_results.Run, places: range,
          moment: int) -> dict[str, str]:
    """Describes the tile of a run in words and numbers, for readers who do not
    see the video.
    """
    shown = [number if number is not None and number >= places.start else None
             for number in run.shown[places.start:places.stop]]
    seen = sum(number == place for number, place in zip(shown, places))
    longest = max(freezes.durations_ns(
        [number if number is None else number - places.start
         for number in shown], PERIOD_NS), default=0)
    return {"label": label, "seen": f"{seen} of {len(places)}",
            "freeze": f"{longest / measurements.NS:.1f} s" if longest
            else "none",
            "psnr": decibels([run.pictures[place] for place in places]),
            "moment": decibels([run.pictures[places.start + moment]])}


def decibels(found: Sequence[quality.Picture]) -> str:
    psnr = quality.mean_psnr(found)
    return "unharmed" if math.isinf(psnr) else f"{psnr:.1f} dB"


def draw_labels(labels: Sequence[Label], size: side_by_side.Size,
                path: pathlib.Path) -> None:
    """Draws the label of each tile on a dark strip with the colour that the
    label has in the plots. matplotlib has its own font, so the labels look the
    same on every machine."""
    width, height = size.whole()
    figure = plots.plt.figure(figsize=(width / DPI, height / DPI), dpi=DPI)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    for number, label in enumerate(labels):
        x, y = size.place(number)
        letters = min(LETTERS, (size.width - STRIP)
                      / (LETTER_WIDTH * max(len(label.words), 1)))
        wide = STRIP + LETTER_WIDTH * letters * len(label.words)
        for begin, length, colour, alpha in (
                (x, min(wide, size.width), "#000000", 0.65),
                (x, STRIP / 3, label.colour, 1)):
            axes.add_patch(plots.plt.Rectangle(
                (begin, y), length, STRIP, color=colour, alpha=alpha,
                linewidth=0))
        axes.text(x + STRIP / 2, y + STRIP / 2, label.words, color="#ffffff",
                  fontsize=letters * POINTS_PER_PIXEL, va="center_baseline")
    figure.savefig(path, dpi=DPI, transparent=True)
    plots.plt.close(figure)
