# SPDX-License-Identifier: LGPL-2.1-or-later
"""Streams a clip over one or more transports in real time and prints tables of
what arrived.

Without options the demo compares all transports; see demo_comparison.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence

from wirelesslab import files, gst_environment, paths, processes
from wirelesslab.commands import demo_comparison
from wirelesslab.descriptions import Protocol
from wirelesslab.errors import LabError
from wirelesslab.streams import clips, frame_log, placement, stream, transports

SECONDS_BETWEEN_STEPS = 10.0
STEP = re.compile(r"\[(\d+)/(\d+)\]")
# The demo builds the plugins and the examples. It does not build the tests,
# because the tests take three times as long to compile as the plugins and the
# examples.
TARGET = re.compile(
    r"^((?:gst|ext)/\S+\.so|tests/examples/\S+): c_LINKER$", re.M)
# Rate of the clip's sound. clips.py encodes the sound as mp2 at 48 kHz with
# 192 kbit/s, which are 24,000 byte/s: a frame of mp2 has 1152 samples (24 ms)
# and 576 bytes.
SOUND_BYTES_PER_SECOND = 24000


def parse_arguments(known: dict[str, Protocol]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="pipelines/demo",
        description="Streams a clip through this project's elements in real "
        "time, on this machine, and prints a table of what arrived.",
    )
    parser.add_argument("--all", action="store_true",
                        help="compare all available transports over three bad "
                        "links, and make a page with the results; this is the "
                        "default if no other option is given")
    videos = [name for name, transport in known.items()
              if transport["clip"] == "m2v"]
    parser.add_argument("--transport", metavar="NAME[,NAME...]",
                        default=videos[0],
                        help="transports, which stream one after the other: "
                        f"{', '.join(videos)} (%(default)s)")
    parser.add_argument("--rate", type=int, choices=clips.RATES, default=6,
                        help="bitrate of the clip in Mbit/s (%(default)s)")
    parser.add_argument("--seconds", type=int, default=clips.SECONDS,
                        metavar=f"1..{clips.SECONDS}",
                        help="how much of the clip to stream (%(default)s)")
    parser.add_argument("--ts", action="store_true",
                        help="stream the clip from MPEG-TS, with its sound")
    parser.add_argument("--link", metavar="'PROPERTIES'",
                        help="stream from one host to another over an emulated "
                        "link with these properties of wirelesslink, such as "
                        "'profile=80211b interference=20-40'")
    parser.add_argument("--port", type=int,
                        help="port of the receiver (any free port)")
    parser.add_argument("--keep", action="store_true",
                        help="keep the logs and print their directory")
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR",
                        default=paths.BUILD_DIR,
                        help="build directory (build)")
    options = parser.parse_args()
    nothing_asked = all(value == parser.get_default(name)
                        for name, value in vars(options).items()
                        if name not in ("all", "build"))
    if options.all and not nothing_asked:
        parser.error("--all cannot be combined with any option except --build")
    options.all = nothing_asked
    if not 1 <= options.seconds <= clips.SECONDS:
        parser.error(f"--seconds must be from 1 to {clips.SECONDS}")
    if options.port is not None and not 1 <= options.port <= 65534:
        parser.error("--port must be from 1 to 65534")
    if options.link is not None:
        try:
            placement.describe_link(options.link)
        except LabError as failure:
            parser.error(f"--link: {failure}")
    suffix = "-ts" if options.ts else ""
    options.transports = [name + suffix
                          for name in options.transport.split(",")]
    for name in options.transports:
        if name not in known:
            parser.error(f"there is no transport {name}; "
                         f"there are: {', '.join(known)}")
    return options


def build(build_dir: pathlib.Path) -> None:
    """Configures the build directory and compiles what is out of date."""
    meson = shutil.which("meson")
    ninja = shutil.which("ninja")
    if meson is None or ninja is None:
        raise LabError("meson or ninja is missing. Install them with: "
                       "pipelines/setup build")
    if not (build_dir / "build.ninja").exists():
        print(f"Configuring {build_dir} ...", flush=True)
        processes.run([meson, "setup", str(build_dir), str(paths.SOURCE_DIR)],
                      "meson setup", ended_by=signal.SIGTERM)
    print("Building ...", flush=True)
    ninja = [ninja, "-C", str(build_dir)]
    # Several demos may run at the same time, and ninja does not lock its build
    # directory. This lock prevents two demos from building at the same time.
    with files.locked(build_dir / ".demo-lock"):
        processes.run([*ninja, "build.ninja"], "the build",
                      ended_by=signal.SIGTERM)
        targets = TARGET.findall(
            processes.run([*ninja, "-t", "targets", "all"], "ninja"))
        compile_all([*ninja, *targets])


def compile_all(argv: Sequence[str | os.PathLike[str]]) -> None:
    """Runs the compiler. Every 10 s, prints how many steps of the build are
    done. Raises LabError if the build fails.
    """
    child = processes.start(
        argv, ended_by=signal.SIGTERM, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace")
    output = []
    due = time.monotonic() + SECONDS_BETWEEN_STEPS
    for line in child.stdout:
        output.append(line)
        step = STEP.match(line)
        if step and time.monotonic() >= due:
            print(f"  {step[1]} of {step[2]} steps", flush=True)
            due = time.monotonic() + SECONDS_BETWEEN_STEPS
    status = processes.finish(child)
    if status != 0:
        raise LabError(
            f"the build failed ({processes.describe(status)}):\n"
            + processes.tail("".join(output)))


def print_sound(run_dir: pathlib.Path) -> None:
    sound = run_dir / "sound.mp2"
    if sound.exists():
        seconds = sound.stat().st_size / SOUND_BYTES_PER_SECOND
        print(f"sound    {seconds:.1f} s arrived")


def make_place(options: argparse.Namespace) -> placement.Place:
    if options.link is None:
        return placement.SameMachine(gst_environment.environment(options.build))
    return placement.OverLink(options.link, options.build)


def show(name: str, transport: Protocol, options: argparse.Namespace,
         place: placement.Place) -> None:
    """Streams the clip over one transport and prints a table of the results."""
    clip = (clips.make_ts if transport["clip"] == "ts"
            else clips.make_clip)(options.build, options.rate)
    port = place.choose_port(transport["binds"], options.port)

    run = files.RunDirectory(options.build / "demo", f"{name}-")
    run.keep = options.keep
    try:
        print(f"\n{transport['title']}: {clip.name}, {options.seconds} s, "
              f"{place.way(port)}", flush=True)
        if options.seconds < clips.SECONDS:
            clip = clips.cut(clip, options.seconds, run.path / clip.name)
        with place.opened(run.path, transports.ports_of(transport, port)):
            transports.check_relayed(transport, place.left_out)
            if place.left_out:
                print(f"There are {place.left_out}", flush=True)
            sent, received, warnings = stream.stream(
                transport, clip, port, run.path, place)
        print()
        result = frame_log.measure(sent, received)
        print("\n".join(frame_log.table(result, warnings)))
        print_sound(run.path)
        for line in place.report():
            print(line)
    except LabError:
        run.keep = True
        raise
    finally:
        run.close()
        if run.keep:
            print(f"logs     {run.path}", flush=True)


def main() -> None:
    known = transports.read()
    options = parse_arguments(known)
    options.build = options.build.resolve()
    processes.die_on_signals()
    build(options.build)
    if options.all:
        demo_comparison.run(options.build, options.build / "lab" / "demo")
        return
    for name in options.transports:
        show(name, known[name], options, make_place(options))
