# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs one cell of a matrix: a clip by one protocol over one link, in a
directory of its own, which then has the logs of both ends and of the link, and
how far the run can be believed.

What has sockets runs in real time between hosts of a testbed; what is computed
is one pipeline with the link in virtual time.
"""

import contextlib
import functools
import json
import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wirelesslab import files, gst_environment, paths, processes
from wirelesslab.descriptions import Cell, Protocol
from wirelesslab.errors import LabError
from wirelesslab.lab import encoders, matrix, rate_steps
from wirelesslab.streams import (
    clips,
    display,
    frame_log,
    live_sources,
    live_stream,
    placement,
    stream,
    transports,
)
from wirelesslab.testbed import link_log, wakeup_delay
from wirelesslab.workloads import definitions, runner

CELL, RESULT, LOCK = "cell.json", "result.json", ".lock"
ASIDE = "result.flagged.json"  # that of a run which is to be repeated
RUN_OUT = "run.out"  # what a run printed, when it is one of many
SENT, RECEIVED, PACKETS = "sent.csv", "received.csv", "packets.rtp"
LINK_LOG = f"{placement.LINK}.log"
STEPS = "steps.trace"  # the link's, where it changes in steps
NS_PER_MS = 1e6
# Of the times at which this machine should have done something, 99 % no later;
# else the run is flagged.
MS_LATE = 1.0
# A live encoder has 40 ms for a frame, and a viewer waits for 400 ms.
ENCODER_P99_MS, ENCODER_MAX_MS = 20.0, 100.0
SENDER = placement.ROLES.index("sender")  # its station
IP_AND_UDP = 28
# Who computes is never late.
IN_TIME = {"warnings": [], "left_out": "",
           "lateness": {"machine_p99_ms": None, "link_p99_ms": None,
                        "flagged": False}}
ELEMENT = re.compile(r"(?:^|! )([a-z][a-z0-9_]*)(?![a-z0-9_/.])")  # not caps


def describe(directory: pathlib.Path, cell: Cell) -> None:
    """Writes down what is to be run there; the file stays as it is where that
    has not changed, for whoever goes by its age."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / CELL
    text = json.dumps(cell, indent=1) + "\n"
    if not path.exists() or path.read_text() != text:
        files.write_whole(path, text)


def read(directory: pathlib.Path) -> Cell:
    try:
        return json.loads((directory / CELL).read_text())
    except FileNotFoundError:
        raise LabError(f"{directory} has no {CELL}: pipelines/lab grid "
                       "writes it") from None


def result(directory: pathlib.Path) -> dict[str, Any] | None:
    """That of the cell which is described there; None if it was not run to its
    end since."""
    path = directory / RESULT
    if not path.exists():
        return None
    found = json.loads(path.read_text())
    return found if found["cell"] == read(directory) else None


def run(directory: pathlib.Path, build: pathlib.Path) -> dict[str, Any]:
    """Its result, which is written when all else is there."""
    cell = read(directory)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(
                files.locked(directory / LOCK, wait=False))
        except BlockingIOError:
            raise LabError(f"{directory} is being run") from None
        remove_old(directory)
        for name, _ in transports.streams(cell["protocol"]):
            if name:
                shutil.rmtree(stream_directory(directory, name),
                              ignore_errors=True)
        found = {"cell": cell, **way_of(cell)(cell, directory, build),
                 "machine": machine(build)}
        files.write_whole(directory / RESULT,
                          json.dumps(found, indent=1) + "\n")
        return found


def way_of(
        cell: Cell
) -> Callable[[Cell, pathlib.Path, pathlib.Path], dict[str, Any]]:
    computed = cell["protocol"][matrix.COMPUTED]
    if matrix.kind(cell) == matrix.LIVE:
        return stream_over
    if matrix.kind(cell) == definitions.VIDEO:
        return compute if computed else stream_over
    return compute_workload if computed else carry


def remove_old(directory: pathlib.Path) -> None:
    for path in directory.iterdir():
        if path.is_file() and path.name not in (CELL, LOCK, RUN_OUT):
            path.unlink()


def clip_of(cell: Cell, build: pathlib.Path) -> pathlib.Path:
    if matrix.kind(cell) == matrix.LIVE:
        return live_sources.make(build, encoders.source_of(cell),
                                 cell["seconds"])
    return clips.make_cut(build, cell["rate"], cell["seconds"],
                          matrix.codec(cell))


def properties(cell: Cell) -> str:
    """Those of a protocol come last, and hold."""
    words = (cell["link"]["properties"], cell["protocol"]["link"],
             f"seed={cell['seed']}")
    return " ".join(filter(None, words))


def with_steps(cell: Cell, directory: pathlib.Path) -> str:
    """All properties of the link; steps of its bitrate become a trace in the
    directory."""
    link = cell["link"]
    if not link.get(matrix.STEPS):
        return properties(cell)
    path = directory / STEPS
    files.write_whole(path, rate_steps.trace(
        rate_steps.parse(link["name"], link[matrix.STEPS])))
    return f"delivery-trace-down={shlex.quote(str(path))} {properties(cell)}"


# ---------------------------------------------------------------- in real time

def stream_over(cell: Cell, directory: pathlib.Path,
                build: pathlib.Path) -> dict[str, Any]:
    protocol = cell["protocol"]
    is_live = matrix.kind(cell) == matrix.LIVE
    kind = live_stream.LiveStream if is_live else stream.Stream
    clip = clip_of(cell, build)
    place = placement.OverLink(
        with_steps(cell, directory), build,
        **placement.hosts_of(cell["link"], placement.ROLES))
    streams, ports = [], []
    for name, transport in transports.streams(protocol):
        port = free_port(place, transport, ports)
        ports += transports.ports_of(transport, port)
        own = stream_directory(directory, name)
        own.mkdir(exist_ok=True)
        streams.append(kind(transport, clip, port, own, place, name))
    with place.opened(directory, ports), wakeup_delay.Measurement() as delays:
        for _, transport in transports.streams(protocol):
            transports.check_relayed(transport, place.left_out)
        stream.stream_all(streams, place, protocol.get("apart", 0))
        left_out = place.left_out
    late = lateness(delays.late_ms, directory)
    return {"warnings": [words for one in streams for words in one.warnings()],
            "left_out": left_out,
            "lateness": {**late, **(encoder_lateness(directory, late["flagged"])
                                    if is_live else {})}}


def encoder_lateness(directory: pathlib.Path,
                     flagged: bool) -> dict[str, Any]:
    """Of a sender whose encoder fell behind: its frames are late, whatever the
    network does."""
    times = display.encoding_ns(*(
        display.read_log(directory / name).frames
        for name in (live_stream.CAPTURED, SENT)))
    p99_ms, max_ms = (frame_log.percentile(times, percent) / NS_PER_MS
                      for percent in (99, 100))
    return {"encoder_p99_ms": p99_ms, "encoder_max_ms": max_ms,
            "flagged": flagged or p99_ms > ENCODER_P99_MS
            or max_ms > ENCODER_MAX_MS}


def free_port(place: placement.Place, transport: Protocol,
              taken: list[int]) -> int:
    """Relays of several streams and runs may have to share this machine's."""
    while True:
        port = place.choose_port(transport["binds"])
        if not set(transports.ports_of(transport, port)) & set(taken):
            return port


def stream_directory(directory: pathlib.Path, name: str) -> pathlib.Path:
    """Of one stream of a cell: the cell's own, where it has no other, else one
    with the stream's number."""
    return directory / name.partition("-")[0]


def carry(cell: Cell, directory: pathlib.Path,
          build: pathlib.Path) -> dict[str, Any]:
    """A workload besides video"""
    late_ms, warnings, left_out = runner.over_sockets(
        cell, with_steps(cell, directory), directory, build)
    return {"warnings": warnings, "left_out": left_out,
            "lateness": lateness(late_ms, directory)}


def lateness(ticks_ms: list[float], directory: pathlib.Path) -> dict[str, Any]:
    """Of whoever should have been woken, and of the link against its model."""
    output = (directory / f"{placement.LINK}.out").read_text(errors="replace")
    link_ns = link_log.lateness_ns(output)
    machine_ms = frame_log.percentile(ticks_ms, 99) if ticks_ms else None
    link_ms = None if link_ns is None else link_ns / NS_PER_MS
    return {"machine_p99_ms": machine_ms, "link_p99_ms": link_ms,
            "flagged": is_flagged(machine_ms, link_ms)}


def is_flagged(*lateness_ms: float | None) -> bool:
    """Also where nobody measured: that is no reason to believe."""
    return any(ms is None or ms > MS_LATE for ms in lateness_ms)


# ------------------------------------------------------------- in virtual time

def compute(cell: Cell, directory: pathlib.Path,
            build: pathlib.Path) -> dict[str, Any]:
    """Nobody waits, so nobody is late. The packets go into a file besides, as
    the log of the link has their numbers alone."""
    clip = clip_of(cell, build)
    values = {"clip": clip, "sent": directory / SENT,
              "received": directory / RECEIVED}
    protocol = cell["protocol"]
    pipeline = [
        *fill(protocol["sender"], values), "!", "tee", "name=packets",
        "!", "queue", "!", "wirelesslink", "mode=timestamp",
        f"overhead={IP_AND_UDP}", f"sink_0::station={SENDER}",
        f"location={directory / LINK_LOG}",
        *shlex.split(with_steps(cell, directory)),
        "!", *fill(protocol["receiver"], values),
        "packets.", "!", "queue", "!", "rtpstreampay",
        "!", "filesink", "async=false", f"location={directory / PACKETS}"]
    processes.run(["gst-launch-1.0", "-q", *pipeline], "the pipeline",
                  env=gst_environment.environment(build))
    return IN_TIME


def compute_workload(cell: Cell, directory: pathlib.Path,
                     build: pathlib.Path) -> dict[str, Any]:
    runner.compute(cell, with_steps(cell, directory), directory, build)
    return IN_TIME


def fill(pipeline: str, values: Mapping[str, Any]) -> list[str]:
    # Split first: a value with a blank in it stays one word.
    return [word.format_map(values) for word in shlex.split(pipeline)]


# ------------------------------------------------------------ what was there

def machine(build: pathlib.Path) -> dict[str, Any]:
    """What somebody who repeats it should know."""
    version = said(["gst-launch-1.0", "--version"]).splitlines()
    git = ["git", "-C", str(paths.SOURCE_DIR)]
    commit = said([*git, "rev-parse", "--short=12", "HEAD"])
    if commit and said([*git, "status", "--porcelain", "-uno"]):
        commit += " and changes"
    return {"kernel": f"{platform.system()} {platform.release()}",
            "gstreamer": version[1].split()[-1] if len(version) > 1 else "",
            "commit": commit, "cores": os.cpu_count(),
            "build": pathlib.Path(build).name}


def said(argv: Sequence[str | os.PathLike[str]]) -> str:
    """Nothing, where there is no such program."""
    try:
        return subprocess.run(argv, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout.strip()
    except OSError:
        return ""


def missing_elements(protocol: Protocol, build: pathlib.Path) -> list[str]:
    """Those of its pipelines that GStreamer has not."""
    words = " ! ".join(one[end] for _, one in transports.streams(protocol)
                       for end in ("sender", "receiver"))
    return [name for name in dict.fromkeys(ELEMENT.findall(words))
            if not is_element(name, build)]


@functools.cache
def is_element(name: str, build: pathlib.Path) -> bool:
    # --exists is false for plugins with a version below 1.0.
    return subprocess.run(
        ["gst-inspect-1.0", name], env=gst_environment.environment(build),
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL).returncode == 0
