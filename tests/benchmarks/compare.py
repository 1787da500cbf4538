#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the CPU time of our elements with that of similar elements.

    meson test -C build --benchmark -v

The results are ratios. Every pipeline reads the same stream of about 120 MB
(option --megabytes) from the file cache. The stream is a repeated clip. Each
pipeline runs in its own gst-launch-1.0, whose registry already exists. The CPU
time is the sum of the user and system seconds that wait4 reports. In each
round, each pipeline runs once. There are several rounds, so that other load of
the machine affects all pipelines.

The cost of an element is a difference of CPU times: the time of a pipeline
with the element, minus the time of the same pipeline without it in the same
round. A ratio below 1 means that our element needs less time. The program
fails only if a pipeline fails or outputs less than the whole stream. It never
fails because of noise.
"""

import argparse
import itertools
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass

from wirelesslab.errors import LabError
from wirelesslab.streams import clips

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WIRELESS_BUILD_DIR", SOURCE / "build"))


SEQUENCE = b"\0\0\1\xb3"
BUFFER = re.compile(rb"chain .*?\((\d+) bytes")
PIPELINES = {
    "parse": "mpegvideoparse",
    "parse, pay": "mpegvideoparse ! rfc2250pay",
    "parse, stock pay": "mpegvideoparse ! rtpmpvpay",
    "pay": "rfc2250pay",
    "pay, depay": "rfc2250pay ! rfc2250depay",
    "pay, stock depay": "rfc2250pay ! rtpmpvdepay",
    "stat": "mpegstat",
}
FFPROBE = "ffprobe"


@dataclass(frozen=True)
class Comparison:
    title: str
    ours: str
    peer: str
    # The name of the pipeline without the elements that are compared. Its CPU
    # time is subtracted from the CPU time of the pipeline `ours` and from that
    # of the pipeline `peer`. The CPU time of the compared elements remains. If
    # `base` is empty, nothing is subtracted.
    base: str = ""


COMPARISONS = (
    Comparison("(a) rfc2250pay : rtpmpvpay, each behind mpegvideoparse",
               "parse, pay", "parse, stock pay", "parse"),
    Comparison("(a) file to packets: rfc2250pay : mpegvideoparse ! rtpmpvpay",
               "pay", "parse, stock pay"),
    Comparison("(b) rfc2250depay : rtpmpvdepay, each behind rfc2250pay",
               "pay, depay", "pay, stock depay", "pay"),
    Comparison("(c) file to frames: mpegstat : mpegvideoparse",
               "stat", "parse"),
    Comparison("(c) file to figures: mpegstat : ffprobe -show_frames",
               "stat", FFPROBE),
)


class Failed(Exception):
    pass


# ------------------------------------------------------------- the stream

def make_stream(rate, size):
    """Writes a stream of at most `size` bytes to a file, and returns the path
    of the file. The stream repeats the clip, and ends at the end of a GOP. If
    the file exists already, it is not written again.
    """
    clip = clips.make_clip(BUILD, rate)
    path = BUILD / "benchmarks" / f"bunny-{rate}M-{size // 1000000}MB.m2v"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        data = clip.read_bytes()
        whole, rest = divmod(size, len(data))
        end = max(data.rfind(SEQUENCE, 0, rest), 0)
        partial = path.with_suffix(f".{os.getpid()}")
        with partial.open("wb") as out:
            for _ in range(whole):
                out.write(data)
            out.write(data[:end])
        partial.rename(path)
    return path


# -------------------------------------------------------------- processes

def command(name, stream, sink="fakesink"):
    if name == FFPROBE:
        return ["ffprobe", "-v", "error", "-show_frames", str(stream)]
    return ["gst-launch-1.0", "-q", "filesrc", f"location={stream}",
            *f"! {PIPELINES[name]} ! {sink}".split()]


def environment():
    env = dict(os.environ)
    env.setdefault("GST_PLUGIN_PATH_1_0", ":".join(
        map(str, (BUILD / "gst").glob("*/"))))
    env["GST_REGISTRY_1_0"] = str(BUILD / "benchmarks" / "registry.bin")
    env["GST_DEBUG"] = "0"
    subprocess.run(["gst-inspect-1.0", "rfc2250pay"], env=env, check=True,
                   stdout=subprocess.DEVNULL)
    env["GST_REGISTRY_UPDATE"] = "no"
    return env


def cpu_seconds(argv, env):
    """Runs a program and returns its CPU time in s: user time plus system
    time. The CPU time of child processes is included if the program waited for
    their end.
    """
    process = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise Failed(f"{' '.join(argv)}: exit status {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def count_output(name, stream, env):
    """Runs the pipeline `name`. Returns the number of buffers that reach its
    sink, and the number of their bytes. For the program ffprobe, returns the
    number of frames and 0.
    """
    argv = command(name, stream, "fakesink silent=false")
    if name != FFPROBE:
        argv[1] = "-v"
    process = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE)
    n = size = 0
    for line in process.stdout:
        if name == FFPROBE:
            n += line == b"[FRAME]\n"
        elif found := BUFFER.search(line):
            n += 1
            size += int(found[1])
    if process.wait():
        raise Failed(f"{' '.join(argv)}: exit status {process.returncode}")
    return n, size


# ------------------------------------------------------------ measurement

def check_counts(counts, stream):
    """Raises Failed if a pipeline outputs no data, or less than the whole
    stream.
    """
    size = stream.stat().st_size
    frames = counts["parse"][0]
    for name, (n, out) in counts.items():
        if n == 0:
            raise Failed(f"{name}: nothing came out")
        if name != FFPROBE and out < size:
            raise Failed(f"{name}: {out} bytes came out of {size}")
    for name in ("stat", "pay, depay", FFPROBE):
        if name in counts and counts[name][0] != frames:
            raise Failed(f"{name}: {counts[name][0]} frames, "
                         f"mpegvideoparse {frames}")


def measure(names, stream, runs, env):
    """Runs all pipelines one after another, and repeats this until each
    pipeline has run `runs` times. Returns {name of a pipeline: list of CPU
    times in s}, with one CPU time for each run.
    """
    seconds = {name: [] for name in names}
    for _ in range(runs):
        for name in names:
            seconds[name].append(cpu_seconds(command(name, stream), env))
    return seconds


def added(seconds, name, base):
    return [own - other for own, other in
            zip(seconds[name], seconds[base] if base else
                [0.0] * len(seconds[name]))]


def min_added(seconds, name, base):
    """Returns the CPU time in s that an element adds. The pipeline `name` has
    the element, and the pipeline `base` does not have it. The result is the
    minimum CPU time of `name` minus the minimum CPU time of `base`. Noise only
    increases CPU times, so the minimum is closest to the true value.
    """
    return min(seconds[name]) - (min(seconds[base]) if base else 0)


def divide(a, b):
    return a / b if b > 0 else math.nan


def mark(rounds, ratio):
    if ratio <= 1:
        return ""
    if rounds[0] > 1:
        return "   <== MORE THAN THE PEER"
    return "   <== over 1, but not in each round"


def show(comparison, seconds, counts):
    ours = added(seconds, comparison.ours, comparison.base)
    peer = added(seconds, comparison.peer, comparison.base)
    rounds = sorted(map(divide, ours, itertools.cycle(peer)))
    ratio = divide(statistics.median(ours), statistics.median(peer))
    minimum = divide(min_added(seconds, comparison.ours, comparison.base),
                   min_added(seconds, comparison.peer, comparison.base))
    print(comparison.title)
    for name, values, who in ((comparison.ours, ours, "ours"),
                              (comparison.peer, peer, "peer")):
        n = counts[name][0]
        middle = statistics.median(values)
        spread = f"{min(values):.3f} to {max(values):.3f}" \
            if len(values) > 1 else "one run"
        print(f"    {who}  {middle:7.3f} s ({spread:14})  {n:7d} buffers, "
              f"{middle / n * 1e9:6.0f} ns each")
    print(f"    ratio {ratio:6.2f}   ({rounds[0]:.2f} to {rounds[-1]:.2f}; "
          f"of the minimum times {minimum:.2f}){mark(rounds, ratio)}",
          flush=True)


def compare(rate, options, env):
    stream = make_stream(rate, options.megabytes * 1000000)
    comparisons = [c for c in COMPARISONS
                   if c.peer != FFPROBE or not options.no_ffprobe]
    names = list(dict.fromkeys(
        name for c in comparisons for name in (c.base, c.ours, c.peer)
        if name and name != FFPROBE))
    counts = {name: count_output(name, stream, env) for name in names}
    if not options.no_ffprobe:
        counts[FFPROBE] = count_output(FFPROBE, stream, env)
    check_counts(counts, stream)

    seconds = measure(names, stream, options.runs, env)
    # ffprobe is measured only once, because it decodes the stream. It needs as
    # much time as all other pipelines together.
    if not options.no_ffprobe:
        seconds |= measure([FFPROBE], stream, 1, env)
    print(f"\n{rate} Mbit/s, {stream.stat().st_size} bytes, "
          f"{counts['parse'][0]} frames; CPU seconds, median of "
          f"{options.runs} (least to most)")
    for comparison in comparisons:
        show(comparison, seconds, counts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7,
                        help="number of runs of each pipeline "
                        "(default: %(default)s)")
    parser.add_argument("--megabytes", type=int, default=120,
                        help="size of the stream in MB "
                        "(default: %(default)s)")
    parser.add_argument("--rates", type=int, nargs="*", default=[6, 3],
                        help="bitrates of the clip in Mbit/s; possible "
                        "values are 3, 4, 5 and 6 (default: 6 3)")
    parser.add_argument("--no-ffprobe", action="store_true",
                        help="leave out the comparison with ffprobe, which "
                        "takes long")
    options = parser.parse_args()
    (BUILD / "benchmarks").mkdir(parents=True, exist_ok=True)
    try:
        env = environment()
        for rate in options.rates:
            compare(rate, options, env)
    except (Failed, LabError) as failure:
        sys.exit(f"{parser.prog}: {failure}")


if __name__ == "__main__":
    main()
