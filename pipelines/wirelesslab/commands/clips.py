# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the clips that the demo, the lab and the tests stream."""

import argparse
import pathlib

from wirelesslab import paths, processes
from wirelesslab.streams import clips


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="pipelines/clips",
        description="Makes the missing ones among BUILD/clips/bunny-RATEM.m2v.",
    )
    parser.add_argument("rates", nargs="*", type=int, metavar="RATE",
                        help="Mbit/s, of 3, 4, 5 and 6 (all of them)")
    parser.add_argument("--ts", action="store_true",
                        help="also the same in MPEG-TS with the film's sound")
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR",
                        default=paths.BUILD_DIR,
                        help="the build directory (build)")
    options = parser.parse_args()
    rates = options.rates or clips.RATES
    if not set(rates) <= set(clips.RATES):
        parser.error(f"a RATE is one of {', '.join(map(str, clips.RATES))}")

    processes.die_on_signals()
    for rate in rates:
        clips.make_clip(options.build, rate)
        if options.ts:
            clips.make_ts(options.build, rate)
