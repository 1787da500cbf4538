#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures the time from the push of a buffer until its packet is sent.

    meson test -C build --benchmark -v latency
    tests/benchmarks/latency.py --build OTHER --busy

Packets of 1316 bytes are pushed live at 6 Mbit/s. They are pushed either
evenly or as 25 buffer lists per second, as a payloader pushes the packets of
frames. The kernel timestamps each packet on the loopback interface (see
wiretime.c). The benchmark runs in a network namespace of its own, if this is
permitted.

The sinks run one after the other, and this sequence is repeated. Each run of a
sink gives three figures: the median, the 99th percentile and the maximum of
the measured times. For each figure, the program prints the median, the minimum
and the maximum over all runs of the sink. It also prints a ratio. In each
repetition, the figure from the run of the sink is divided by the figure from
the run of udpsink. The ratio is the median of these quotients. The program
fails if a sink does not send all packets or changes their order. It never
fails because a sink is slow.

--build OTHER also measures the plugins of another build directory, for example
of an earlier version. The option may be given several times. --busy measures
while another process keeps the second core busy.
"""

import argparse
import contextlib
import os
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass

import builds
import turns
from datagrams import KEY, SINK, SOURCE

SIZE = 1316
RATE = 6000000  # bit/s
FRAMES = 25  # per second
PACKETS = RATE // 8 // SIZE
LISTS = {"single packets": 1, f"{FRAMES} lists a second": -(-PACKETS // FRAMES)}
SECONDS = 60  # The maximum time in seconds that a run may take.
PROGRAM = turns.BUILD / "tests" / "benchmarks" / "wiretime"
# The pairs of a sink and a source that are measured. All other pairs are
# compared with the first pair.
PAIRS = {
    "udpsink": (f"udpsink {SINK}", f"udpsrc {SOURCE}"),
    "udplitesink, kernel": (f"udplitesink {SINK} backend=kernel",
                            f"udplitesrc {SOURCE} backend=kernel"),
    "udplitesink, udp": (f"udplitesink {SINK} backend=udp",
                         f"udplitesrc {SOURCE} backend=udp"),
    "mmtpsink": (f"mmtpsink {SINK}", f"mmtpsrc {SOURCE}"),
    "mmtpsink, key": (f"mmtpsink {SINK} key={KEY}",
                      f"mmtpsrc {SOURCE} key={KEY}"),
    "dccpthinsink": (f"dccpthinsink {SINK}", f"dccpthinsrc {SOURCE}"),
}


class Failed(Exception):
    pass


@dataclass
class Run:
    median: float  # us
    p99: float
    maximum: float


def run(name, pair, packets, size, environment):
    done = subprocess.run([PROGRAM, *pair, str(packets), str(size)],
                          stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=SECONDS, env=environment)
    if done.returncode:
        raise Failed(f"{name}: {done.stderr.strip()}")
    late, times = done.stdout.splitlines()
    times = sorted(map(float, times.split()))
    # There may be more packets than were requested, because the last buffer
    # list is always full.
    if len(times) < packets:
        raise Failed(f"{name}: {packets} packets were pushed, but only "
                     f"{len(times)} were sent")
    if int(late):
        raise Failed(f"{name}: {late} packets were sent after later packets")
    return Run(statistics.median(times), times[len(times) * 99 // 100],
               times[-1])


def take_turns(options, size, environments):
    peer = next(iter(PAIRS))
    pairs = {name: pair for name, pair in PAIRS.items()
             if re.search(options.only, name) or name == peer}
    values = {name + build: [] for name in pairs for build in environments
              if not build or name != peer}
    for _ in range(options.runs):
        for name, pair in pairs.items():
            for build, environment in environments.items():
                if name + build in values:
                    values[name + build].append(
                        run(name + build, pair, options.packets, size,
                            environment))
    return values


def describe(runs, peer, attribute):
    own, others = ([getattr(one, attribute) for one in all_runs]
                   for all_runs in (runs, peer))
    ratio = statistics.median(mine / other for mine, other in zip(own, others))
    return (f"{statistics.median(own):6.1f} us ({min(own):.1f} to "
            f"{max(own):.1f}), {ratio:5.2f} times")


def show(title, values):
    print(f"\n{title}")
    peer = next(iter(values.values()))
    for name, runs in values.items():
        print(f"    {name:33} " + "; ".join(
            f"{word} {describe(runs, peer, attribute)}"
            for word, attribute in (("median", "median"), ("p99", "p99"),
                                    ("maximum", "maximum"))), flush=True)


@contextlib.contextmanager
def keep_core_busy(is_wanted):
    """Keeps the last available core busy while the `with` block runs (the
    second core on a machine with two cores). Starts a process that runs an
    endless loop on this core.
    """
    if not is_wanted:
        yield
        return
    core = sorted(os.sched_getaffinity(0))[-1]
    code = f"import os\nos.sched_setaffinity(0, {{{core}}})\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        try:
            yield
        finally:
            process.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7,
                        help="number of runs of each sink "
                        "(default: %(default)s)")
    parser.add_argument("--packets", type=int, default=400,
                        help="number of packets that are sent in each run "
                        "(default: %(default)s)")
    parser.add_argument("--busy", action="store_true",
                        help="keep the last available core busy with another "
                        "process during the measurement")
    parser.add_argument("--only", default="", metavar="EXPRESSION",
                        help="measure only udpsink and the sinks whose names "
                        "contain a match of this regular expression "
                        "(default: all sinks)")
    builds.add_option(parser)
    options = parser.parse_args()
    turns.enter_own_network()
    print(f"{SIZE} bytes at {RATE / 1e6:.0f} Mbit/s, from the push to the "
          f"network, median of {options.runs} runs (minimum to maximum), "
          "compared with udpsink"
          + (", while the second core is busy" if options.busy else ""))
    try:
        with (keep_core_busy(options.busy),
              builds.open_environments(options.build) as environments):
            for title, size in LISTS.items():
                show(title, take_turns(options, size, environments))
    except (Failed, subprocess.TimeoutExpired) as failure:
        sys.exit(f"{parser.prog}: {failure}")


if __name__ == "__main__":
    main()
