#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts the instructions per buffer of each element in two builds.

    meson test -C build --benchmark -v instructions

The first build is the present one. Without --against, the program makes the
second build itself from the same sources, but without log statements and trace
callbacks. The difference is the cost of logging while GST_DEBUG is not set.
With `--against DIRECTORY`, the second build is any other build, such as one of
an earlier commit. The difference then shows whether a change costs time.

callgrind counts the instructions of all threads from READY to EOS. Unlike CPU
seconds, a count does not depend on other load of the machine. However, it does
not include the time in the kernel. callgrind counts the instruction "rep movsb"
once for each byte that it copies, so memcpy() is told not to use it. The count
of the same pipeline without the element is subtracted.

Each repetition (option --runs) measures the second build twice and then the
first build once. The second build thus has two series of counts. The
difference between the medians of these two series shows how large a random
difference may be. This random difference is large for mmtpsink with a key,
because the work of this element depends on the timing of its peer.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

from wirelesslab.streams import clips
from wirelesslab.testbed import linux

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WIRELESS_BUILD_DIR", SOURCE / "build"))


PROGRAM = BUILD / "tests" / "benchmarks" / "pipelinecount"
WITHOUT_LOG = BUILD / "benchmarks" / "without-log"
WITHOUT_LOG_ARGUMENTS = "-DGST_DISABLE_GST_DEBUG -DWITHOUT_TRACE"
COLLECTED = re.compile(r"Collected : (\d+)")
SECONDS = 120  # Maximum seconds for a run.
SECONDS_TO_LISTEN = 1.5
KEY = secrets.token_hex(32)
# With a threshold above the size of all buffers, glibc never uses the
# instructions "rep movsb" and "rep stosb" (section "Hardware Capability
# Tunables" of the glibc manual).
TUNABLES = ":".join(f"glibc.cpu.x86_rep_{instruction}_threshold=1000000000"
                    for instruction in ("movsb", "stosb"))
FILE = "filesrc name=in location={clip} blocksize=65536 num-buffers=100"
PACKETS = ("fakesrc name=in num-buffers=5000 sizetype=fixed sizemax=1316 "
           "filltype=zero format=time datarate=13160000")
LIVE = PACKETS + " is-live=true"
LINK = "wirelesslink mode=timestamp rate=100000000"
MMTP_SINK = "mmtpsink host=127.0.0.1 port=7781 sync=false"
MMTP_SOURCE = "mmtpsrc address=127.0.0.1 port=7781"
DCCP_SINK = "dccpthinsink host=127.0.0.1 port=7782 sync=false"
DCCP_SOURCE = "dccpthinsrc address=127.0.0.1 port=7782"
LITE_SINK = "udplitesink backend={} host=127.0.0.1 port=7783 sync=false"
LITE_SOURCE = "udplitesrc backend={} address=127.0.0.1 port=7783"
END = "fakesink sync=false"


class Failed(Exception):
    pass


@dataclass(frozen=True)
class Case:
    pipeline: str
    # The same pipeline as `pipeline`, but without the measured element. Its
    # instructions are subtracted from those of `pipeline`. If the text is
    # empty, nothing is subtracted.
    base: str
    # The pipeline of the receiver. It is given if `pipeline` contains a
    # network sink, and runs at the same time as `pipeline`, but outside of
    # callgrind.
    peer: str = ""


CASES = {
    "mpegstat": Case(f"{FILE} ! mpegstat ! {END}", f"{FILE} ! {END}"),
    "rfc2250pay": Case(f"{FILE} ! rfc2250pay ! {END}", f"{FILE} ! {END}"),
    "rfc2250depay": Case(f"{FILE} ! rfc2250pay ! rfc2250depay ! {END}",
                         f"{FILE} ! rfc2250pay ! {END}"),
    "ifdqueue": Case(f"{FILE} ! ifdqueue ! {END}", f"{FILE} ! {END}"),
    "wirelesslink": Case(f"{PACKETS} ! {LINK} ! {END}", f"{PACKETS} ! {END}"),
    "udplitesink kernel": Case(
        f"{PACKETS} ! {LITE_SINK.format('kernel')}", f"{PACKETS} ! {END}",
        f"{LITE_SOURCE.format('kernel')} ! {END}"),
    "udplitesink udp": Case(
        f"{PACKETS} ! {LITE_SINK.format('udp')}", f"{PACKETS} ! {END}",
        f"{LITE_SOURCE.format('udp')} ! {END}"),
    "udplitesink, lists": Case(
        f"{FILE} ! rfc2250pay ! {LITE_SINK.format('udp')}",
        f"{FILE} ! rfc2250pay ! {END}",
        f"{LITE_SOURCE.format('udp')} ! {END}"),
    "dccpthinsink": Case(f"{PACKETS} ! {DCCP_SINK}", f"{PACKETS} ! {END}",
                          f"{DCCP_SOURCE} ! {END}"),
    "mmtpsink": Case(f"{PACKETS} ! {MMTP_SINK}", f"{PACKETS} ! {END}",
                     f"{MMTP_SOURCE} ! {END}"),
    "mmtpsink, key": Case(f"{PACKETS} ! {MMTP_SINK} key={KEY}",
                          f"{PACKETS} ! {END}",
                          f"{MMTP_SOURCE} key={KEY} ! {END}"),
}


def enter_own_network():
    try:
        linux.unshare(linux.CLONE_NEWNET, "a network namespace")
        linux.set_up("lo")
    except OSError as error:
        print(f"On this machine's own loopback: {error}")


def make_build_without_log():
    information = BUILD / "meson-info" / "intro-buildoptions.json"
    options = {option["name"]: option["value"]
               for option in json.loads(information.read_text())}
    if not (WITHOUT_LOG / "build.ninja").exists():
        subprocess.run(
            ["meson", "setup", WITHOUT_LOG, SOURCE, "-Dtests=disabled",
             "-Dexamples=disabled", f"-Dbuildtype={options['buildtype']}",
             f"-Dc_args={WITHOUT_LOG_ARGUMENTS}"],
            check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", WITHOUT_LOG], check=True,
                   stdout=subprocess.DEVNULL)
    return WITHOUT_LOG


def environment(build, directory):
    """Returns the environment variables with which GStreamer loads the plugins
    of the build directory `build`. The plugin registry is in `directory`.
    """
    env = dict(os.environ)
    plugins = [*(build / "gst").glob("*/"), *(build / "ext").glob("*/")]
    env["GST_PLUGIN_PATH_1_0"] = ":".join(map(str, plugins))
    env["GST_REGISTRY_1_0"] = str(pathlib.Path(directory, "registry"))
    env.pop("GST_DEBUG", None)
    env["GLIBC_TUNABLES"] = TUNABLES
    subprocess.run(["gst-inspect-1.0", "mpegstat"], env=env, check=True,
                   stdout=subprocess.DEVNULL)
    env["GST_REGISTRY_UPDATE"] = "no"
    return env


@contextlib.contextmanager
def running(pipeline, env):
    """Runs a pipeline in gst-launch-1.0 while the `with` block runs."""
    if not pipeline:
        yield
        return
    process = subprocess.Popen(["gst-launch-1.0", "-q", *pipeline.split()],
                               env=env, stdin=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def count(pipeline, env):
    """Instructions and buffers"""
    argv = ["valgrind", "--tool=callgrind", "--instr-atstart=no",
            "--callgrind-out-file=/dev/null", str(PROGRAM), pipeline]
    done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, timeout=SECONDS)
    found = COLLECTED.search(done.stderr)
    if done.returncode or not found:
        raise Failed(f"{pipeline}: {done.stderr[-500:]}")
    return int(found[1]), int(done.stdout)


def count_base(case, env, clip):
    """Returns how many instructions the pipeline of `case` executes without
    the measured element. Returns 0 if `case` has no such pipeline.
    """
    return count(case.base.format(clip=clip), env)[0] if case.base else 0


def count_case(case, without, env, clip):
    """Returns the number of instructions per buffer that the measured element
    of `case` adds. `without` is the number of instructions of the pipeline
    without this element.
    """
    pipeline = case.pipeline.format(clip=clip)
    with running(case.peer, env):
        if case.peer:
            time.sleep(SECONDS_TO_LISTEN)
        total, buffers = count(pipeline, env)
    if not buffers:
        raise Failed(f"{pipeline}: no buffers")
    return (total - without) / buffers


def measure(case, environments, runs, clip):
    values = [[] for _ in environments]
    bases = [count_base(case, env, clip) for env in environments]
    for _ in range(runs):
        for own, base, env in zip(values, bases, environments):
            own.append(count_case(case, base, env, clip))
    return values


def show(name, other, again, this):
    peer = statistics.median(other + again)
    middle = statistics.median(this)
    chance = abs(statistics.median(again) / statistics.median(other) - 1)
    print(f"{name:20} {peer:10.0f} ({min(other + again):.0f} to "
          f"{max(other + again):.0f}) {middle:10.0f} ({min(this):.0f} to "
          f"{max(this):.0f}) {100 * (middle / peer - 1):+6.2f} %, by chance "
          f"{100 * chance:.2f} %", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1,
                        help="number of repetitions; each runs the pipelines "
                        "of the second build twice and those of the first "
                        "build once (default: %(default)s)")
    parser.add_argument("--against", type=pathlib.Path, metavar="DIRECTORY",
                        help="build directory of the second build (default: a "
                        "new build of the same sources without log "
                        "statements and trace callbacks)")
    parser.add_argument("--only", metavar="NAME", action="append",
                        choices=list(CASES),
                        help="measure only the case NAME; may be given "
                        "several times (default: all cases)")
    options = parser.parse_args()
    other = options.against or make_build_without_log()
    clip = clips.make_clip(BUILD, 6)
    enter_own_network()
    print(f"instructions per buffer, median of {options.runs}: {other}, then "
          f"{BUILD}")
    try:
        with tempfile.TemporaryDirectory() as first, \
                tempfile.TemporaryDirectory() as second:
            theirs = environment(other, first)
            ours = environment(BUILD, second)
            for name in options.only or CASES:
                show(name, *measure(CASES[name], (theirs, theirs, ours),
                                    options.runs, clip))
    except (Failed, subprocess.TimeoutExpired) as failure:
        sys.exit(f"{parser.prog}: {failure}")


if __name__ == "__main__":
    main()
