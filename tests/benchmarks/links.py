#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the cost of the emulated links with that of similar programs.

    meson test -C build --benchmark -v links

The benchmark has five parts:
(a) Packets per second through one element: wirelesslink, netsim or queue. Like
    wirelesslink, the element queue has a thread of its own.
(b) UDP packets per second between two network namespaces. The packets pass
    either through TUN devices with the element wirelesslink between them, or
    through a veth pair.
(c) The wall-clock time in which one minute of virtual time is computed. It is
    measured twice: for the emulation of the link alone, and for a whole
    pipeline.
(d) How late packets leave the elements wirelesslink and clocksync in real
    time. For comparison, a program waits for a clock time without using an
    element. The benchmark measures how late this wait ends.
(e) How many packets are lost, and which threads need CPU time, at 1 Gbit/s of
    UDP between two network namespaces.

Our elements and the similar programs are measured in turn. The figures are
medians with minimum and maximum. The benchmark fails only if a part does not
run at all, or if (a) or (c) loses packets that should not be lost. A slow
element does not make the benchmark fail.

In (e), the sender may fall far behind its schedule because the machine is busy
with other work. The number of losses in such a run has no meaning.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass

from linkhosts import Ends, Hosts

from wirelesslab.errors import LabError
from wirelesslab.streams import clips

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WIRELESS_BUILD_DIR", SOURCE / "build"))


# LIMITED (for wirelesslink) and NETSIM_LIMITED (for netsim) mean the same
# link: 10 Gbit/s, a delay of 50 ms, and one lost packet in 100.
LINK = "wirelesslink max-output-packets=1000000 txqueuelen=0"
LIMITED = "rate=10000000000 delay-ms=50 loss=0.01"
NETSIM_LIMITED = ("netsim max-kbps=10000000 delay-probability=1 min-delay=50 "
                  "max-delay=50 drop-probability=0.01")
MAX_LOSS = 0.02
LATE_DELAY = 20000000       # ns
UDP_SECONDS = 2
# (e): 1 Gbit/s of payload
RATE_SIZE = 1400
RATE_PACKETS = 89286
RATE_SECONDS = 3
# The benchmark sends 1 Gbit/s of UDP between two network namespaces. On a
# machine with other work, a program of the benchmark may have to wait for a
# CPU for 100 ms. Each queue therefore has room for all packets that are sent
# in 100 ms.
RATE_SOURCE = "txqueuelen=10000"
RATE_LINKS = {
    "no limits": "txqueuelen=0 max-output-packets=10000",
    "1.2 Gbit/s, 20 ms": "rate=1200000000 delay-ms=20 txqueuelen=10000 "
                         "max-output-packets=10000",
}
LIMIT_STEP = 5000
MAX_LIMIT = 400000
LIMIT_SECONDS = 1
PIPELINE = ("filesrc location={clip} ! mpegstat ! rfc2250pay ! {link} ! "
            "rfc2250depay ! mpegstat ! fakesink")
IN_A_MINUTE = "wirelesslink mode=timestamp profile=80211b overhead=28"


class Failed(Exception):
    pass


@dataclass(frozen=True)
class Programs:
    flood: str
    time: str
    udp: str
    rate: str


# ---------------------------------------------------------------- figures

def span(values, form):
    if len(values) == 1:
        return "one run"
    return f"{form.format(min(values))} to {form.format(max(values))}"


def show(title, figures, unit, form="{:10.0f}"):
    """Prints a table. `figures` maps the name of each element to its values.
    The first element is ours, and is compared with each of the other elements.
    """
    print(f"\n{title}")
    (ours, values), *peers = figures.items()
    for name, own in figures.items():
        print(f"    {name:34} {form.format(statistics.median(own))} {unit} "
              f"({span(own, form.replace('10', ''))})")
    for name, others in peers:
        rounds = [a / b for a, b in zip(values, others) if b > 0]
        if not rounds:
            continue
        middle = statistics.median(values) / statistics.median(others)
        print(f"    {ours} : {name} = {middle:.2f} ({span(rounds, '{:.2f}')})")
    sys.stdout.flush()


def take_turns(runs, measures):
    """Runs the functions of `measures`, a dictionary {name: function}. There
    are `runs` rounds, and each function runs once in a round. Returns {name:
    list of the results of the function}.
    """
    values = {name: [] for name in measures}
    for _ in range(runs):
        for name, measure in measures.items():
            values[name].append(measure())
    return values


def numbers(argv, env=None, **options):
    done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True, timeout=300,
                          **options)
    if done.returncode:
        raise Failed(f"{' '.join(argv)}: exit status {done.returncode}")
    return [float(word) for word in done.stdout.split()]


# ----------------------------------------------- (a) packets in a pipeline

def flood(programs, env, element, packets, in_list):
    came, seconds = numbers([programs.flood, "flood", element, str(packets),
                             str(in_list)], env)
    lossy = "loss" in element or "drop" in element
    if came < packets * (1 - (MAX_LOSS if lossy else 0)):
        raise Failed(f"{element}: {came:.0f} of {packets} packets came out")
    return came / seconds


def elements(options, env):
    sets = {
        "without limits": {"wirelesslink": LINK, "netsim": "netsim",
                           "queue": "queue max-size-buffers=1000 "
                                    "max-size-bytes=0 max-size-time=0"},
        "10 Gbit/s, 50 ms, 1 % loss": {"wirelesslink": f"{LINK} {LIMITED}",
                                       "netsim": NETSIM_LIMITED},
    }
    for what, peers in sets.items():
        for in_list in (1, 32):
            show(f"(a) {what}, 1400 bytes, "
                 + ("buffers" if in_list == 1 else f"lists of {in_list}"),
                 take_turns(options.runs, {
                     name: lambda element=element: flood(
                         options.programs, env, element, options.packets,
                         in_list)
                     for name, element in peers.items()}),
                 "packets/s")


# ------------------------------------------ (b) between network namespaces

def send_udp(hosts, programs, link, size):
    """Sends UDP packets over a link from host a to host b as fast as possible.
    Returns the number of packets per second that arrive.
    """
    received, _ = hosts.transfer(link, programs.udp, [size, UDP_SECONDS])
    if received[0] < 2:
        raise Failed(f"nothing arrived over {link}")
    return received[0] / received[1]


def machines(options, env):
    if not shutil.which("ip"):
        print("\n(b) left out: there is no ip command")
        return
    words = LINK.partition(" ")[2]
    links = {"TUN, wirelesslink": Ends(words),
             "TUN, wirelesslink, gro": Ends(words, sink="gro=true"),
             "TUN, queue": Ends("none")}
    with Hosts(links, env) as hosts:
        if hosts.why_not:
            print(f"\n(b) left out: {hosts.why_not}")
            return
        for size in (64, 1400):
            show(f"(b) UDP between two namespaces, {size} bytes",
                 take_turns(options.runs, {
                     name: lambda name=name: send_udp(
                         hosts, options.programs, name, size)
                     for name in (*links, "veth")}), "packets/s")


# ------------------------------------------ (e) 1 Gbit/s between namespaces

@dataclass
class Transfer:
    sent: float
    lost: float
    # The maximum lateness of a burst in s, as the sender measured it.
    late: float
    # The CPU time in us that each part of the transfer needs per packet. The
    # keys are "sender", "receiver" and the names of the threads of the link.
    cpu: dict


def transfer(hosts, programs, link, rate, seconds):
    before = hosts.cpu_times(link)
    (arrived, _, receiver, overtaken), (sent, _, sender, late) = hosts.transfer(
        link, programs.rate, [RATE_SIZE, seconds, rate])
    if overtaken:
        raise Failed(f"{link}: {overtaken:.0f} packets were overtaken")
    cpu = {"sender": sender, "receiver": receiver}
    for thread, value in hosts.cpu_times(link).items():
        cpu[thread] = value - before[thread]
    return Transfer(sent, sent - arrived, late,
                    {name: value / sent * 1e6 for name, value in cpu.items()})


def show_transfers(link, transfers):
    lost = " ".join(f"{t.lost:.0f}" for t in transfers)
    late = " ".join(f"{t.late * 1e3:.1f}" for t in transfers)
    print(f"    {link}\n"
          f"        lost {lost} of {transfers[0].sent:.0f} packets\n"
          f"        the sender was at most {late} ms late\n"
          "        CPU time in us per packet:")
    sums = [sum(t.cpu.values()) for t in transfers]
    for name in transfers[0].cpu:
        values = [t.cpu[name] for t in transfers]
        print(f"        {name:12} {statistics.median(values):6.2f} "
              f"({span(values, '{:.2f}')})")
    print(f"        {'all':12} {statistics.median(sums):6.2f} "
          f"({span(sums, '{:.2f}')})")
    sys.stdout.flush()


def find_limit(hosts, programs, link):
    """Finds the highest rate at which the network between the hosts loses no
    packet. Returns this rate in packets/s. The function tries different rates
    in a binary search, each for LIMIT_SECONDS seconds. Each rate is a multiple
    of LIMIT_STEP.
    """
    low, high = 0, MAX_LIMIT // LIMIT_STEP
    while high - low > 1:
        middle = (low + high) // 2
        if transfer(hosts, programs, link, middle * LIMIT_STEP,
                    LIMIT_SECONDS).lost:
            high = middle
        else:
            low = middle
    return low * LIMIT_STEP


def gigabit(options, env):
    if not shutil.which("ip"):
        print("\n(e) left out: there is no ip command")
        return
    links = {
        f"{name}{', gro' if gro else ''}":
            Ends(words, RATE_SOURCE, "gro=true" if gro else "")
        for name, words in RATE_LINKS.items() for gro in (False, True)}
    with Hosts(links, env) as hosts:
        if hosts.why_not:
            print(f"\n(e) left out: {hosts.why_not}")
            return
        names = (*links, "veth")
        print(f"\n(e) 1 Gbit/s of UDP between two namespaces: {RATE_PACKETS} "
              f"packets/s of {RATE_SIZE} bytes for {RATE_SECONDS} s")
        found = take_turns(options.runs, {
            name: lambda name=name: transfer(
                hosts, options.programs, name, RATE_PACKETS, RATE_SECONDS)
            for name in names})
        for name, transfers in found.items():
            show_transfers(name, transfers)
        if options.limit:
            show(f"(e) highest rate without loss for {LIMIT_SECONDS} s",
                 take_turns(options.runs, {
                     name: lambda name=name: find_limit(
                         hosts, options.programs, name)
                     for name in names}), "packets/s")


# ------------------------------------------------- (c) without waiting

def run_pipeline(clip, link, env):
    argv = ["gst-launch-1.0", "-q",
            *PIPELINE.format(clip=clip, link=link).split()]
    begin = time.monotonic()
    done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL)
    if done.returncode:
        raise Failed(f"{' '.join(argv)}: exit status {done.returncode}")
    return time.monotonic() - begin


def count_frames(clip, link, env):
    """Runs the pipeline, and returns the number of frames after the link. With
    this number, the caller checks that data passes through the pipeline.
    """
    rows = BUILD / "benchmarks" / "frames.csv"
    argv = PIPELINE.format(clip=clip, link=link).split()
    argv.insert(-2, f"location={rows}")
    subprocess.run(["gst-launch-1.0", "-q", *argv], env=env, check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    with rows.open() as lines:
        return sum(line.startswith("frame,") for line in lines)


def run_core(programs):
    done = subprocess.run([programs.time], check=True, stdout=subprocess.PIPE,
                          text=True)
    return {name: float(wall) for name, _, wall in
            map(str.split, done.stdout.splitlines())}


def minutes(options, env):
    rounds = [run_core(options.programs) for _ in range(options.runs)]
    print("\n(c) the core alone: wall time of a minute of link time, and its "
          "part of real time")
    for name in rounds[0]:
        walls = [figures[name] for figures in rounds]
        middle = statistics.median(walls)
        print(f"    {name:34} {middle * 1e3:10.3f} ms "
              f"({span([w * 1e3 for w in walls], '{:.3f}')})  "
              f"{middle / 60:.2e}")
    clip = clips.make_clip(BUILD, 6)
    links = {"wirelesslink 80211b": IN_A_MINUTE, "identity": "identity"}
    frames = {name: count_frames(clip, link, env)
              for name, link in links.items()}
    if min(frames.values()) <= frames["identity"] / 2:
        raise Failed(f"frames that came out: {frames}")
    show("(c) a minute of MPEG-2 over it, from file to frames; wall time of "
         "the process", take_turns(options.runs, {
             name: lambda link=link: run_pipeline(clip, link, env)
             for name, link in links.items()}), "s", "{:10.3f}")
    print(f"    frames that came out: {frames}")


# ------------------------------------------------------------ (d) lateness

def lateness(options, env):
    found = {"wirelesslink": [], "clocksync": [], "clock": []}
    own = []
    for _ in range(options.runs):
        for name, element in (
                ("wirelesslink", f"{LINK} delay-ms={LATE_DELAY / 1e6:g}"),
                ("clocksync", "clocksync"), ("clock", "clock")):
            figures = numbers([options.programs.flood, "late", element,
                               str(options.late), str(LATE_DELAY)], env)
            found[name].append([ns / 1000 for ns in figures[:2]])
            if len(figures) > 2:
                own.append([ns / 1000 for ns in figures[2:]])
    for i, what in enumerate(("median", "99th percentile")):
        show(f"(d) lateness of {options.late} packets, one each ms: {what}",
             {name: [figures[i] for figures in rounds]
              for name, rounds in found.items()}, "us")
        print("    by wirelesslink's own statistics   "
              f"{statistics.median(f[i] for f in own):10.0f} us")


PARTS = {"elements": elements, "machines": machines, "minutes": minutes,
         "lateness": lateness, "gigabit": gigabit}


def environment():
    env = dict(os.environ)
    env.setdefault("GST_PLUGIN_PATH_1_0", ":".join(
        str(path) for tree in ("gst", "ext")
        for path in (BUILD / tree).glob("*/")))
    env["GST_REGISTRY_1_0"] = str(BUILD / "benchmarks" / "registry.bin")
    env["GST_DEBUG"] = "0"
    subprocess.run(["gst-inspect-1.0", "wirelesslink"], env=env, check=True,
                   stdout=subprocess.DEVNULL)
    return env


def main():
    own = BUILD / "tests" / "benchmarks"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5,
                        help="number of runs of each measurement "
                        "(default: %(default)s)")
    parser.add_argument("--packets", type=int, default=300000,
                        help="number of packets in each run of the part "
                        "elements (default: %(default)s)")
    parser.add_argument("--late", type=int, default=3000,
                        help="number of packets in each run of the part "
                        "lateness (default: %(default)s)")
    parser.add_argument("--limit", action="store_true",
                        help="in the part gigabit, also search for the "
                        "highest packet rate without loss")
    parser.add_argument("parts", nargs="*", metavar="PART",
                        help="parts of the benchmark to run (default: all); "
                        f"possible values are: {', '.join(PARTS)}")
    options = parser.parse_args()
    options.programs = Programs(*(str(own / name) for name in (
        "linkflood", "linktime", "udpflood", "udprate")))
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"{part} is none of: {', '.join(PARTS)}")
    (BUILD / "benchmarks").mkdir(parents=True, exist_ok=True)
    try:
        env = environment()
        for part in options.parts or PARTS:
            PARTS[part](options, env)
    except (Failed, LabError,
            subprocess.CalledProcessError) as failure:
        sys.exit(f"{parser.prog}: {failure}")


if __name__ == "__main__":
    main()
