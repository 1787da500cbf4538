# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the table, the chart and the pictures that README.md shows as a
comparison. The data are the results of the runs that the file comparison.ini
describes.
"""

import argparse
import pathlib

from wirelesslab import files, paths
from wirelesslab.errors import LabError
from wirelesslab.lab import matrix
from wirelesslab.report import overview, run_results
from wirelesslab.streams import clips, quality

MATRIX = paths.PIPELINES / "comparison.ini"
PAGE = paths.SOURCE_DIR / "README.md"
DOCS = paths.SOURCE_DIR / "docs"
NUMBERS = DOCS / "comparison.csv"
CHART = DOCS / "comparison.svg"
# SHOWN has the two protocols whose pictures are shown side by side. SECOND is
# the time, in seconds from the start of the stream, at which these pictures
# are displayed. This time is in the middle of the period in which a microwave
# oven disturbs the link.
SHOWN = ("mmtp", "rtp-stock")
SECOND = 10
PICTURE_WIDTH = 360
LATE_MS = 500


def chart_title() -> str:
    cell = matrix.read(MATRIX)[0]
    return f"{cell['rate']} Mbit/s of MPEG-2 over {cell['link']['title']}"


def write_chart_and_table() -> None:
    groups = overview.read(NUMBERS)
    files.write_whole(CHART, overview.chart(groups, chart_title()))
    files.write_whole(PAGE, overview.insert(
        PAGE.read_text(), overview.table(groups), "comparison"))


def take_pictures(output: pathlib.Path, build: pathlib.Path) -> None:
    """Saves one picture for each protocol in SHOWN: the picture that the first
    run of the protocol displays at SECOND, a time in seconds.
    """
    runs, _, _ = run_results.read(output, build, LATE_MS)
    place = SECOND * clips.FRAMES_PER_SECOND
    for protocol in SHOWN:
        run = next(run for run in runs if run.protocol == protocol)
        number = run.shown[place]
        if number is None:
            raise LabError(
                f"the first run of {protocol} shows no picture within "
                f"{SECOND} s, so there is none to save")
        picture = DOCS / f"comparison-{protocol}.jpg"
        quality.take(run.clip(), number, picture, PICTURE_WIDTH)
        print(f"{picture}: after {SECOND} s it shows the frame of "
              f"{number / clips.FRAMES_PER_SECOND:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="pipelines/comparison",
        description="Writes the table and the chart of the comparison into "
        "README.md and docs/.")
    parser.add_argument("directory", type=pathlib.Path, nargs="?",
                        help="directory of the runs, with a report, from which "
                        "the numbers and two pictures are taken; without it "
                        "the numbers are those of docs/comparison.csv")
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR",
                        default=paths.BUILD_DIR,
                        help="build directory, which has the clip (build)")
    options = parser.parse_args()
    if options.directory:
        numbers = options.directory / "report" / "runs.csv"
        if not numbers.exists():
            raise LabError(f"{numbers} does not exist. Make it with: "
                           f"pipelines/lab report {options.directory}")
        overview.reduce(numbers, NUMBERS)
        take_pictures(options.directory.resolve(), options.build.resolve())
    write_chart_and_table()
