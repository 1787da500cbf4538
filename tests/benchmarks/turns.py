# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares several pairs of a sink and a source. All pairs carry the same
packets. In each round, each pair runs once, and there are several rounds.

The program bondflood pushes the packets over the loopback interface. If
network namespaces are permitted, the benchmark runs in its own namespace. The
figures are medians with minimum and maximum. The first pair is compared with
each of the other pairs.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys

from wirelesslab.testbed import linux

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WIRELESS_BUILD_DIR", SOURCE / "build"))


PROGRAM = BUILD / "tests" / "benchmarks" / "bondflood"
# A run must end within this number of seconds.
SECONDS = 20
# In a run with a fixed packet rate, the program pushes packets for this number
# of seconds at most.
PUSH_SECONDS = 0.6


class Failed(Exception):
    pass


def enter_own_network():
    try:
        linux.unshare(linux.CLONE_NEWNET, "a network namespace")
        linux.set_up("lo")
    except OSError as error:
        print(f"On this machine's own loopback: {error}")


class Run:
    """One run of the program bondflood, and its results. `pair` contains the
    launch lines of a sink and of its source. `packets` is the number of
    packets that the program pushes. `rate` is the number of packets per
    second; 0 means as fast as possible. `size` is the number of packets in a
    buffer list. `bytes_each` is the size of a packet in bytes.
    """

    def __init__(self, name, pair, packets, rate, size, bytes_each):
        words = [PROGRAM, *pair,
                 *map(str, (packets, rate, size, bytes_each))]
        done = subprocess.run(words, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=SECONDS)
        if done.returncode:
            raise Failed(f"{name}: {done.stderr.strip()}")
        came, wall, sink, source = map(float, done.stdout.split())
        if not came:
            raise Failed(f"{name}: nothing came out")
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


def take_turns(pairs, options, rate, size, bytes_each):
    """Runs the pairs of a sink and a source in rounds, each pair once per
    round. If a pair does not finish in time, prints this and leaves the pair
    out of the results.
    """
    values = {name: [] for name in pairs}
    packets = min(options.packets, int(rate * PUSH_SECONDS)
                  ) if rate else options.packets
    for _ in range(options.runs):
        for name in list(values):
            try:
                values[name].append(Run(name, pairs[name], packets, rate, size,
                                        bytes_each))
            except subprocess.TimeoutExpired:
                print(f"\n{name} came to no end within {SECONDS} s")
                del values[name]
    return values


def read_options(description, rates):
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3,
                        help="number of runs of each pair of a sink and a "
                        "source (default: %(default)s)")
    parser.add_argument("--packets", type=int, default=50000,
                        help="maximum number of packets in each run "
                        "(default: %(default)s)")
    parser.add_argument("--rates", type=int, nargs="*", default=rates,
                        help="packet rates in packets per second; 0 sends as "
                        "fast as possible (default: "
                        + " ".join(map(str, rates)) + ")")
    return parser.parse_args()


def compare(plugin, pairs, options, bytes_each):
    """Measures the packet rate, the share of packets that arrive, and the CPU
    time of each pair of a sink and a source. Each pair is measured with single
    buffers and with buffer lists, and at each packet rate in `options`. Prints
    a comparison. If a measurement fails, prints the reason and ends the
    program.
    """
    enter_own_network()
    os.environ.setdefault("GST_PLUGIN_PATH_1_0", str(BUILD / "gst" / plugin))
    os.environ["GST_DEBUG"] = "0"
    print(f"{bytes_each} bytes, median of {options.runs} (least to most)")
    try:
        for size in (1, 32):
            what = "single buffers" if size == 1 else f"lists of {size}"
            for rate in options.rates:
                show(f"{what}, " + (f"{rate} packets a second" if rate
                                    else "as many as there can be"),
                     take_turns(pairs, options, rate, size, bytes_each))
    except Failed as failure:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {failure}")
