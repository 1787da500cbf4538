#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts allocations, locks and clock readings per packet.

    meson test -C build --benchmark -v calls
    tests/benchmarks/calls.py --build OTHER

For each pair of a sink and a source, the program bondflood runs the sink and
the source in separate processes. The sink sends packets of 1316 bytes as fast
as it can. In both processes, a preloaded library counts the calls that
allocate memory, take a lock or read a clock (see callcount.c).

The calls that bondflood itself makes are subtracted. The calls that GStreamer
makes are included, for example the lock of a pad for each buffer or buffer
list. GStreamer makes the same calls with udpsink and udpsrc. All figures are
therefore compared with those of udpsink and udpsrc.

The number of calls in a sink is divided by the packets that were pushed. The
number of calls in a source is divided by the packets that arrived. If the
source is faster than the sink, the packets arrive one by one. The source then
makes more calls per packet than if several packets arrive together.

--build OTHER also measures the plugins of another build directory. The option
may be given several times.
"""

import argparse
import subprocess
import sys

import builds
import turns
from datagrams import BUFFER, LIST, PAIRS, SINK, SIZE, SOURCE, WITHOUT_GSO

SECONDS = 60  # The maximum time in seconds that a run may take.
LIBRARY = turns.BUILD / "tests" / "benchmarks" / "callcount.so"
FUNCTIONS = ("malloc", "lock", "clock")
ROWS = {name: pair for name, pair in PAIRS.items()
        if name not in WITHOUT_GSO} | {
    f"udplite, backend={backend}":
        (f"udplitesink {SINK} backend={backend}",
         f"udplitesrc {SOURCE} {BUFFER} backend={backend}")
    for backend in ("kernel", "raw")}


class Failed(Exception):
    pass


def run(name, pair, packets, size, environment):
    """Runs a sink and a source once. Returns two lists, one for the sink and
    one for the source. They contain the number of calls per packet of each
    counted function.
    """
    done = subprocess.run([turns.PROGRAM, *pair, str(packets), "0", str(size),
                           str(SIZE)], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=SECONDS,
                          env=environment | {"LD_PRELOAD": str(LIBRARY),
                                             "G_SLICE": "always-malloc"})
    if done.returncode:
        raise Failed(f"{name}: {done.stderr.strip()}")
    figures, calls = done.stdout.splitlines()
    arrived = max(1, int(figures.split()[0]))
    calls = [int(number) for number in calls.split()]
    return ([number / packets for number in calls[:len(FUNCTIONS)]],
            [number / arrived for number in calls[len(FUNCTIONS):]])


def show(title, packets, size, environments):
    columns = " ".join(f"{word:>7}" for word in FUNCTIONS)
    print(f"\n{title:33}    sink {columns}   source {columns}")
    for name, pair in ROWS.items():
        for build, environment in environments.items():
            if build and name == next(iter(ROWS)):
                continue
            print(f"{name + build:33}         " + "          ".join(
                " ".join(f"{number:7.2f}" for number in end)
                for end in run(name, pair, packets, size, environment)),
                flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packets", type=int, default=32000,
                        help="number of packets in each run "
                        "(default: %(default)s)")
    builds.add_option(parser)
    options = parser.parse_args()
    turns.enter_own_network()
    try:
        with builds.open_environments(options.build) as environments:
            for size in (1, LIST):
                show("single buffers" if size == 1 else f"lists of {size}",
                     options.packets, size, environments)
    except (Failed, subprocess.TimeoutExpired) as failure:
        sys.exit(f"{parser.prog}: {failure}")


if __name__ == "__main__":
    main()
