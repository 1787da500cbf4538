#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Packets per second, and CPU time of each, of mmtpsink and mmtpsrc with two
channels beside ristsink and ristsrc with two bonded links.

    meson test -C build --benchmark -v mmtp

All carry the same RTP packets of 1328 bytes over the loopback, by bondflood, in
network namespaces of their own where that is allowed, and take turns; figures
are medians, with the least and the most. First at rates of which the lowest is
carried by all of them, for the CPU time; then as many as they take. ristsink
doesn't notice that a link is full: what counts is what comes out. Nothing here
fails for being slow: only what does not run at all makes the program fail.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WIRELESS_BUILD_DIR", SOURCE / "build"))
sys.path.insert(0, str(SOURCE / "pipelines"))

import kernel  # noqa: E402

PROGRAM = BUILD / "tests" / "benchmarks" / "bondflood"
LINKS = "127.0.0.1:5004,127.0.0.1:5006"
# The first is the one that the others are compared with.
PAIRS = {f"rist {method}":
         (f"ristsink bonding-addresses={LINKS} bonding-method={method}",
          f"ristsrc bonding-addresses={LINKS}")
         for method in ("round-robin", "broadcast")}
PAIRS |= {f"mmtp{name}":
          ("mmtpsink host=127.0.0.1 port=5008 sync=false async=false "
           f"channels=127.0.0.2,127.0.0.3{key}",
           f"mmtpsrc address=127.0.0.1 port=5008{key}")
          for name, key in (("", ""), (", key", " key=sesame"))}
SECONDS = 120               # that a run may take


class Failed(Exception):
    pass


def enter_own_network():
    try:
        kernel.unshare(kernel.CLONE_NEWNET, "a network namespace")
        kernel.set_up("lo")
    except OSError as error:
        print(f"On this machine's own loopback: {error}")


class Run:
    def __init__(self, pair, packets, rate, size):
        words = [PROGRAM, *PAIRS[pair], *map(str, (packets, rate, size))]
        done = subprocess.run(words, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=SECONDS)
        if done.returncode:
            raise Failed(f"{pair}: {done.stderr.strip()}")
        came, wall, sink, source = map(float, done.stdout.split())
        if not came:
            raise Failed(f"{pair}: nothing came out")
        self.rate = came / wall
        self.share = 100 * came / packets
        self.sink, self.source = (cpu / came * 1e6 for cpu in (sink, source))
        self.cpu = self.sink + self.source


def median(runs, name):
    return statistics.median(getattr(run, name) for run in runs)


def against(runs, peer):
    return (f"; {median(runs, 'rate') / median(peer, 'rate'):.2f} times the "
            f"rate, {median(runs, 'cpu') / median(peer, 'cpu'):.2f} times the "
            "CPU time")


def show(title, values):
    print(f"\n{title}")
    peer = next(iter(values.values()))
    for name, runs in values.items():
        rates = [run.rate / 1000 for run in runs]
        print(f"    {name:18} {median(runs, 'rate') / 1000:6.1f} k/s "
              f"({min(rates):.1f} to {max(rates):.1f}), "
              f"{median(runs, 'share'):5.1f} % came; CPU of each "
              f"{median(runs, 'sink'):5.2f} us sink, "
              f"{median(runs, 'source'):5.2f} us source"
              + ("" if runs is peer else against(runs, peer)), flush=True)


def take_turns(options, rate, size):
    values = {pair: [] for pair in PAIRS}
    for _ in range(options.runs):
        for pair, runs in values.items():
            runs.append(Run(pair, options.packets, rate, size))
    return values


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--packets", type=int, default=50000)
    parser.add_argument("--rates", type=int, nargs="*",
                        default=[10000, 20000, 40000, 0],
                        help="packets a second; 0: as many as there can be")
    options = parser.parse_args()
    enter_own_network()
    os.environ.setdefault("GST_PLUGIN_PATH_1_0", str(BUILD / "gst/mmtp"))
    os.environ["GST_DEBUG"] = "0"
    print(f"1328 bytes over two links, median of {options.runs} (least to "
          "most)")
    try:
        for size in (1, 32):
            what = "single buffers" if size == 1 else f"lists of {size}"
            for rate in options.rates:
                show(f"{what}, " + (f"{rate} packets a second" if rate
                                    else "as many as there can be"),
                     take_turns(options, rate, size))
    except Failed as failure:
        sys.exit(f"{parser.prog}: {failure}")


if __name__ == "__main__":
    main()
