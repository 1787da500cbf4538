# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the clips that the demo, the lab and the tests stream."""

import argparse
import pathlib

from wirelesslab import paths, processes
from wirelesslab.streams import clips


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="pipelines/clips",
        description="Makes the clips BUILD/clips/bunny-RATEM.m2v that are "
        "missing.",
    )
    parser.add_argument("rates", nargs="*", type=int, metavar="RATE",
                        help="bitrate of a clip in Mbit/s: 3, 4, 5 or 6 (all)")
    parser.add_argument("--ts", action="store_true",
                        help="also make each clip in MPEG-TS, with the film's "
                        "sound")
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR",
                        default=paths.BUILD_DIR,
                        help="the build directory (build)")
    options = parser.parse_args()
    rates = options.rates or clips.RATES
    if not set(rates) <= set(clips.RATES):
        parser.error("RATE must be one of "
                     f"{', '.join(map(str, clips.RATES))} Mbit/s")

    processes.die_on_signals()
    for rate in rates:
        clips.make_clip(options.build, rate)
        if options.ts:
            clips.make_ts(options.build, rate)
