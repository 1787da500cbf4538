#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares our elements with udpsink and udpsrc by the CPU time per packet.

    meson test -C build --benchmark -v datagrams

Each sink sends RTP packets of 1316 bytes to its own source as fast as it can.
The source runs in another process. The packets cross the loopback interface.
If network namespaces are permitted, the benchmark runs in its own namespace.

The result is a table with a row for each pair of a sink and a source. All
pairs run one after another, and this sequence is repeated. Each figure is the
median of all runs of a pair, with the minimum and the maximum. The program
fails if a run ends with an error, if a run takes more than 60 s, or if no
packet arrives.

The CPU time of a sink is divided by the packets that were pushed into it,
because udpsink does not notice when packets are lost. The CPU time of a source
is divided by the packets that arrived.

The last row is a loop without GStreamer that sends 32 packets with one system
call (GSO). In the rows with gso=off, the sink passes packets to the kernel one
by one, but the source still receives several packets with one system call
(GRO).

A sink gets either single buffers or buffer lists. In the first 0.1 s of a run,
the rate control of mmtpsink measures which rate the path can carry. The
figures include this time. Its influence is smaller with buffer lists: such a
run has four times as many packets and lasts for much longer than 0.1 s.
"""

import argparse
import os
import secrets
import statistics
import subprocess
import sys
from dataclasses import dataclass

import turns

SIZE = 1316
LIST = 32
SECONDS = 60  # The maximum time in seconds that a run may take.
KEY = secrets.token_hex(32)
SINK = "host=127.0.0.1 port=5004 sync=false async=false"
SOURCE = "address=127.0.0.1 port=5004"
# The size of the receive buffer. mmtpsrc and dccpthinsrc have this size by
# default. For a fair comparison, udpsrc and udplitesrc are set to the same
# size.
BUFFER = "buffer-size=2097152"
FLOOD = turns.BUILD / "tests" / "benchmarks" / "udpflood"
# Pairs of a sink and its source. All other pairs are compared with the first
# pair.
PAIRS = {
    "udpsink, udpsrc": (f"udpsink {SINK}", f"udpsrc {SOURCE} {BUFFER}"),
    "udplite, backend=udp": (f"udplitesink {SINK} backend=udp",
                             f"udplitesrc {SOURCE} {BUFFER} backend=udp"),
    "udplite, gso=off": (f"udplitesink {SINK} backend=udp gso=off",
                         f"udplitesrc {SOURCE} {BUFFER} backend=udp"),
    "mmtp": (f"mmtpsink {SINK}", f"mmtpsrc {SOURCE}"),
    "mmtp, gso=off": (f"mmtpsink {SINK} gso=off", f"mmtpsrc {SOURCE}"),
    "mmtp, key": (f"mmtpsink {SINK} key={KEY}", f"mmtpsrc {SOURCE} key={KEY}"),
    "dccpthin": (f"dccpthinsink {SINK}", f"dccpthinsrc {SOURCE}"),
    "dccpthin, gso=off": (f"dccpthinsink {SINK} gso=off",
                          f"dccpthinsrc {SOURCE}"),
}
WITHOUT_GSO = ("mmtp, gso=off", "dccpthin, gso=off")
PLUGINS = ("dccpthin", "mmtp", "udplite")


class Failed(Exception):
    pass


@dataclass
class Run:
    # The packet rate: the number of packets per second that arrived.
    rate: float
    # The percentage of packets that arrived, out of those that were pushed.
    share: float
    # The CPU time in us that the sink needs per packet, and that of the
    # source.
    sink: float
    source: float


def run(name, words, pushed):
    done = subprocess.run(list(map(str, words)), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=SECONDS)
    if done.returncode:
        raise Failed(f"{name}: {done.stderr.strip()}")
    arrived, wall, sink, source = map(float, done.stdout.split())
    if not arrived:
        raise Failed(f"{name}: nothing arrived")
    return Run(arrived / wall, 100 * arrived / pushed, sink / pushed * 1e6,
               source / arrived * 1e6)


def get_commands(packets, size):
    commands = {name: [turns.PROGRAM, *pair, packets, 0, size, SIZE]
                for name, pair in PAIRS.items()}
    if size == 1:
        # A pair is a sink and its source. With single buffers, the pairs in
        # WITHOUT_GSO, which do not use GSO, are left out. GSO combines the
        # packets of a buffer list into one message. A single buffer is one
        # message with and without GSO, so these pairs would only repeat the
        # results of the pairs that use GSO.
        for name in WITHOUT_GSO:
            del commands[name]
    else:
        commands["loop with GSO and GRO"] = [FLOOD, "gso", packets, SIZE]
    return commands


def take_turns(commands, runs, packets):
    values = {name: [] for name in commands}
    for _ in range(runs):
        for name, words in commands.items():
            values[name].append(run(name, words, packets))
    return values


def describe(values, peer, attribute):
    """Returns a text with two figures for the table. Each figure is the median
    of all runs, followed by the minimum and the maximum.

    The first figure is the CPU time per packet of the tested element, in us.
    The second figure is a ratio: the CPU time per packet of a reference
    element, divided by that of the tested element.

    `values` has the runs of the tested element, and `peer` has the runs of the
    reference element. `attribute` is the name of the attribute of a run that
    contains the CPU time.
    """
    own, others = ([getattr(one, attribute) for one in all_runs]
                   for all_runs in (values, peer))
    ratios = [other / mine for mine, other in zip(own, others)]
    return (f"{statistics.median(own):5.2f} us ({min(own):.2f} to "
            f"{max(own):.2f}), {statistics.median(ratios):5.2f} times "
            f"({min(ratios):.2f} to {max(ratios):.2f})")


def show(title, values):
    print(f"\n{title}")
    peer = next(iter(values.values()))
    for name, runs in values.items():
        rates = [one.rate / 1000 for one in runs]
        print(f"    {name:22} {statistics.median(rates):5.0f} k/s "
              f"({min(rates):.0f} to {max(rates):.0f}), "
              f"{statistics.median(one.share for one in runs):5.1f} % "
              "arrived; "
              f"sink {describe(runs, peer, 'sink')}; "
              f"source {describe(runs, peer, 'source')}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7,
                        help="number of runs of each pair of a sink and a "
                        "source (default: %(default)s)")
    parser.add_argument("--packets", type=int, default=96000,
                        help="number of packets in a run with single buffers; "
                        "a run with buffer lists has four times as many "
                        "(default: %(default)s)")
    options = parser.parse_args()
    turns.enter_own_network()
    os.environ.setdefault("GST_PLUGIN_PATH_1_0", ":".join(
        str(turns.BUILD / "gst" / plugin) for plugin in PLUGINS))
    os.environ["GST_DEBUG"] = "0"
    print(f"{SIZE} bytes, CPU time of a packet and packets per CPU time "
          f"compared with udpsink and udpsrc, median of {options.runs} "
          "(minimum to maximum)")
    try:
        for size in (1, LIST):
            what = "single buffers" if size == 1 else f"lists of {size}"
            packets = options.packets * (1 if size == 1 else 4)
            commands = get_commands(packets, size)
            show(what, take_turns(commands, options.runs, packets))
    except (Failed, subprocess.TimeoutExpired) as failure:
        sys.exit(f"{parser.prog}: {failure}")


if __name__ == "__main__":
    main()
