#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares packet rate and CPU time of the UDP-Lite and the UDP elements.

    meson test -C build --benchmark -v udplite

udplitesink and udplitesrc are compared with udpsink and udpsrc. The program
packetflood makes all of them send or receive the same packets of 1316 bytes on
the loopback interface. If network namespaces are permitted, the benchmark and
packetflood run in a network namespace of their own. Each sink sends to a
socket that nobody reads. Each source reads from a socket that was filled
before.

The elements run in turn. The figures are medians with minimum and maximum. The
benchmark fails if an element does not run or loses packets. It never fails
because an element is slow.
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


PROGRAM = BUILD / "tests" / "benchmarks" / "packetflood"
SINKS = {"udpsink": "udpsink"} | {
    f"udplitesink {backend}, {mode}":
        f"udplitesink backend={backend} coverage-mode={mode}"
    for mode in ("full", "headers") for backend in ("kernel", "raw", "udp")}
# With coverage-mode=fixed, udplitesink sets the checksum coverage of the
# socket only once. In any other mode, it makes a system call each time the
# coverage changes.
SINKS["udplitesink kernel, fixed"] = (
    "udplitesink backend=kernel coverage-mode=fixed checksum-coverage=28")
# With gso=off, the sink passes each packet to the kernel as a separate
# message.
SINKS["udplitesink udp, full, gso=off"] = (
    "udplitesink backend=udp coverage-mode=full gso=off")
# Maps the name of each source, as the benchmark prints it, to a pair: the
# launch line of the source, and the protocol of the packets that the source
# receives.
SOURCES = {"udpsrc": ("udpsrc", "udp")} | {
    f"udplitesrc {backend}": (f"udplitesrc backend={backend}", protocol)
    for backend, protocol in (("kernel", "udplite"), ("raw", "udplite"),
                              ("udp", "both"))}
SINK_TARGET, SOURCE_TARGET = 1.0, 1.5
LIST = 32
SECONDS = 120  # Maximum seconds for a run.


class Failed(Exception):
    pass


def enter_own_network():
    try:
        linux.unshare(linux.CLONE_NEWNET, "a network namespace")
        linux.set_up("lo")
    except OSError as error:
        print(f"On this machine's own loopback: {error}")


def run(*words):
    """Returns two figures of a run: the number of packets per second, and the
    CPU time per packet in ns.
    """
    done = subprocess.run([PROGRAM, *map(str, words)],
                          stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=SECONDS)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    packets, wall, cpu = map(float, done.stdout.split())
    return packets / wall, cpu / packets * 1e9


def take_turns(runs, measures):
    values = {name: [] for name in measures}
    for _ in range(runs):
        for name, words in measures.items():
            values[name].append(run(*words))
    return values


def compare(rounds, theirs, target):
    """Returns a text that compares two elements by two figures: packets per
    second, and packets per second of CPU time. The second figure depends less
    on other programs that keep the machine busy.
    """
    rates = [ours / its for (ours, _), (its, _) in zip(rounds, theirs)]
    rate, cpu = (statistics.median(ours[i] for ours in rounds)
                 / statistics.median(its[i] for its in theirs)
                 for i in range(2))
    return (f"{rate:.2f} times the rate ({min(rates):.2f} to "
            f"{max(rates):.2f}), {1 / cpu:.2f} per CPU time"
            + ("" if min(rate, 1 / cpu) >= target
               else f"   <== less than {target}"))


def show(title, values, target):
    """Prints a table with the values of all elements. The first element is
    compared with each of the others.
    """
    print(f"\n{title}")
    theirs = next(iter(values.values()))
    for name, rounds in values.items():
        rates = [rate / 1000 for rate, _ in rounds]
        print(f"    {name:31} {statistics.median(rates):6.0f} k/s "
              f"({min(rates):.0f} to {max(rates):.0f}), "
              f"{statistics.median(cpu for _, cpu in rounds):5.0f} ns CPU"
              + (f"; {compare(rounds, theirs, target)}"
                 if rounds is not theirs else ""), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7,
                        help="number of runs of each element "
                        "(default: %(default)s)")
    parser.add_argument("--packets", type=int, default=100000,
                        help="number of packets that are sent or received in "
                        "each run (default: %(default)s)")
    options = parser.parse_args()
    enter_own_network()
    os.environ.setdefault("GST_PLUGIN_PATH_1_0", str(BUILD / "gst/udplite"))
    os.environ["GST_DEBUG"] = "0"
    print(f"1316 bytes on the loopback, median of {options.runs} (least to "
          "most)")
    try:
        for size in (1, LIST):
            show("sinks, " + ("single buffers" if size == 1
                              else f"lists of {size}"),
                 take_turns(options.runs, {
                     name: ("send", line, options.packets, size)
                     for name, line in SINKS.items()}), SINK_TARGET)
        show("sources", take_turns(options.runs, {
            name: ("receive", line, options.packets, protocol)
            for name, (line, protocol) in SOURCES.items()}), SOURCE_TARGET)
    except Failed as failure:
        sys.exit(f"{parser.prog}: {failure}")


if __name__ == "__main__":
    main()
