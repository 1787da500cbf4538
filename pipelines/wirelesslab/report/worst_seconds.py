# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the video of the worst five seconds of the film, in which the viewers'
pictures differ most from the pictures that were sent. The video shows several
pictures side by side: the picture that was sent, and the picture that the
viewer of each compared run saw. The template worst_seconds.html puts the video
on the page.
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
SOURCE_COLOUR = "#ffffff"
DPI = 100
# The height of the dark strip behind a label, and the height of the letters of
# the label, in pixels.
STRIP, LETTERS = 24, 16
LETTER_WIDTH = 0.62  # The mean width of a letter, as a fraction of its height.
POINTS_PER_PIXEL = 72 / DPI


class Viewer(typing.NamedTuple):
    """The pictures that the viewer of one run saw. The lists `shown` and
    `pictures` have one item for each picture of the film. `shown[n]` is the
    number of the picture that was on the screen when picture n was due.
    `pictures[n]` says how much the picture on the screen differs from picture
    n.
    """

    label: str
    colour: Any
    video: pathlib.Path
    shown: Sequence[int | None]
    pictures: Sequence[quality.Picture]


def of_clips(runs: list[run_results.Run], prefix: str,
             beside: pathlib.Path) -> dict[str, Any]:
    """Writes a video that shows several runs side by side. A label stands for
    one of the compared variants, for example a protocol. The video shows the
    first run of each label, and these runs have the same seed. Returns the
    values for the template worst_seconds.html.
    """
    looks, firsts = plots.looks(runs), plots.first_runs(runs)
    return describe(
        [Viewer(looks[name]["label"], looks[name]["color"], run.clip(),
                run.shown, run.pictures) for name, run in firsts.items()],
        list(firsts.values())[-1].clip(), "as sent", prefix, beside)


def describe(viewers: Sequence[Viewer], source: pathlib.Path,
             source_label: str, prefix: str,
             beside: pathlib.Path) -> dict[str, Any]:
    """Writes a video of the worst seconds of a stream. It shows side by side
    the video `source` and what each viewer saw. The error of a picture is the
    mean squared difference between what the viewer saw and the picture of
    `source`. The worst seconds are those in which the sum of the errors of all
    viewers is largest.

    Also writes an image of one frame of the new video. Returns the values for
    the template worst_seconds.html.
    """
    errors = [[picture.mse for picture in viewer.pictures]
              for viewer in viewers]
    places = measurements.worst_places(
        errors, SECONDS * clips.FRAMES_PER_SECOND)
    if places is None:
        return {"worst": None}
    moment = measurements.worst_place(
        [own[places.start:places.stop] for own in errors])
    pictures = side_by_side.Pictures(
        [side_by_side.Tile(source, places, places.start), *(
            side_by_side.Tile(viewer.video,
                              viewer.shown[places.start:places.stop],
                              places.start) for viewer in viewers)])
    labels = beside / f"{prefix}labels.png"
    draw_labels([(source_label, SOURCE_COLOUR), *(
        (viewer.label, viewer.colour) for viewer in viewers)], pictures.size,
        labels)
    video, poster = side_by_side.write(
        pictures, labels, clips.FRAMES_PER_SECOND, beside / f"{prefix}worst",
        moment)
    labels.unlink()
    return {"worst": {
        "video": video, "poster": poster,
        "seconds": f"{len(places) / clips.FRAMES_PER_SECOND:g}",
        "begin": seconds(places.start), "end": seconds(places.stop),
        "moment": seconds(places.start + moment),
        "rows": [words(viewer, places, places.start + moment)
                 for viewer in viewers]}}


def paths(group: dict[str, Any]) -> list[pathlib.Path]:
    """A group is a part of the report. It may have a video of its worst
    seconds, and a still image that stands for this video. Returns the paths of
    these two files of `group`. If there are no such files, the list is empty.
    The caller adds up the sizes of the files to compute the size of the page.
    """
    worst = group.get("worst") or {}
    return [path for path in (worst.get("video"), worst.get("poster")) if path]


def seconds(place: int) -> str:
    return f"{place / clips.FRAMES_PER_SECOND:.2f}"


def words(viewer: Viewer, places: range, moment: int) -> dict[str, str]:
    """The video shows a part of the stream. Returns texts that describe what
    the viewer saw in this part, for readers who do not watch the video. If a
    freeze began before this part, only the time of the freeze within this part
    is counted.
    """
    shown = [number - places.start
             if number is not None and number in places else None
             for number in viewer.shown[places.start:places.stop]]
    seen = sum(number == place for place, number in enumerate(shown))
    max_freeze = max(freezes.durations_ns(shown, PERIOD_NS), default=0)
    return {"label": viewer.label, "seen": f"{seen} of {len(places)}",
            "freeze": f"{max_freeze / measurements.NS:.1f} s" if max_freeze
            else "none",
            "psnr": decibels(viewer.pictures[places.start:places.stop]),
            "moment": decibels([viewer.pictures[moment]])}


def decibels(found: Sequence[quality.Picture]) -> str:
    psnr = quality.mean_psnr(found)
    return "unharmed" if math.isinf(psnr) else f"{psnr:.1f} dB"


def draw_labels(labels: Sequence[tuple[str, Any]], size: side_by_side.Size,
                path: pathlib.Path) -> None:
    """Draws the labels of all tiles as a transparent picture, and writes it
    into the file `path`. The picture has the size of the video. A tile is the
    part of the video that shows one stream. Each label is on a dark strip. The
    left end of the strip has the colour that the label has in the plots. The
    letters are drawn with matplotlib, which has a font of its own, so the
    labels look the same on every machine.
    """
    width, height = size.whole()
    figure = plots.plt.figure(figsize=(width / DPI, height / DPI), dpi=DPI)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    for number, (label, own) in enumerate(labels):
        x, y = size.place(number)
        letters = min(LETTERS, (size.width - STRIP)
                      / (LETTER_WIDTH * max(len(label), 1)))
        wide = STRIP + LETTER_WIDTH * letters * len(label)
        for length, colour, alpha in ((min(wide, size.width), "#000000", 0.65),
                                      (STRIP / 3, own, 1)):
            axes.add_patch(plots.plt.Rectangle(
                (x, y), length, STRIP, color=colour, alpha=alpha,
                linewidth=0))
        axes.text(x + STRIP / 2, y + STRIP / 2, label, color="#ffffff",
                  fontsize=letters * POINTS_PER_PIXEL, va="center_baseline")
    figure.savefig(path, dpi=DPI, transparent=True)
    plots.plt.close(figure)
