# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs one experiment, a cell of a matrix. An experiment sends a clip or
another workload with one protocol over one emulated link. After the run, the
directory of the experiment contains the logs of both ends and of the link, and
a result that says how reliable the run is.

If the protocol uses sockets, the run takes place in real time between two
virtual hosts of a testbed. If the protocol is simulated, the run is a single
pipeline in virtual time. This pipeline includes the link.
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
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wirelesslab import files, gst_environment, paths, processes
from wirelesslab.descriptions import Cell, Link, Protocol
from wirelesslab.errors import LabError
from wirelesslab.lab import encoders, matrix, rate_steps
from wirelesslab.streams import (
    clips,
    display,
    encodings,
    frame_log,
    lateness,
    link_paths,
    live_sources,
    live_stream,
    measurements,
    placement,
    stream,
    transports,
)
from wirelesslab.testbed import link_log, wakeup_delay
from wirelesslab.workloads import definitions, runner

CELL, RESULT, LOCK = "cell.json", "result.json", ".lock"
# The option --again repeats the runs that are flagged as unreliable. Until the
# repetition of a run begins, the file with the old result of this run has this
# name.
ASIDE = "result.flagged.json"
# The result of a run is a dictionary. This key of the dictionary holds the
# duration of the run, in s.
TOOK = "took_s"
# The file into which a run writes its standard output and its error messages.
RUN_OUT = "run.out"
SENT, RECEIVED, PACKETS = "sent.csv", "received.csv", "packets.rtp"
LINK_LOG = f"{placement.LINK}.log"
# Key in the result of a run. The value is a list with one number for each link
# of the run: the time of day in ns at which the clock of this link started
# from 0.
LINKS_BEGAN = "links_began_ns"
# A glob pattern for the names of the files into which the processes of the
# links write their output.
LINK_OUTPUTS = "wl[0-9]*.out"
# A run can use several links, and each of them has a seed. The first link has
# the seed of the run. Each further link has the seed of the previous link plus
# this number. Two links with the same properties therefore change
# independently of each other.
SEEDS_BETWEEN_LINKS = 1000
# Names of files for a link whose bitrate changes in steps. Each file is a
# delivery trace, a list of the times at which the link can send a packet.
# STEPS is the trace for the direction of the stream. BACK is the trace for the
# opposite direction, if that direction has a separate trace.
STEPS, BACK = "steps.trace", "back.trace"
NS_PER_MS = 1e6
# Limits for the lateness of a live encoder, which is the time from the capture
# of a picture to the output of its frame. ENCODER_P99_MS is the limit for the
# 99th percentile of the lateness in a run. ENCODER_MAX_MS is the limit for the
# maximum. If the lateness exceeds one of these limits, the run is flagged as
# unreliable. For comparison: the source has 25 frames per second, so the
# encoder has 40 ms for each frame. By default, a viewer waits for at most 400
# ms for a frame.
ENCODER_P99_MS, ENCODER_MAX_MS = 20.0, 100.0
IP_AND_UDP = 28
# Entries in the result of a run in virtual time. In virtual time nothing can
# be late, so the lateness is not measured. These entries are the same for each
# such run.
IN_TIME = {"warnings": [], "left_out": "",
           "lateness": {"machine_p99_ms": None, "link_p99_ms": None,
                        "flagged": False}}
# Matches the name of an element in a launch line. Does not match caps, such as
# video/x-raw.
ELEMENT = re.compile(r"(?:^|! )([a-z][a-z0-9_-]*)(?![a-z0-9_/.-])")


def describe(directory: pathlib.Path, cell: Cell) -> None:
    """Writes the description of the experiment `cell` into `directory`. If the
    description has not changed, the file is not written again. Snakemake
    repeats a run if this file is newer than the result.
    """
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / CELL
    text = json.dumps(cell, indent=1) + "\n"
    if not path.exists() or path.read_text() != text:
        files.write_whole(path, text)


def read(directory: pathlib.Path) -> Cell:
    try:
        return json.loads((directory / CELL).read_text())
    except FileNotFoundError:
        raise LabError(f"{directory} has no {CELL}. Make it with: "
                       "pipelines/lab grid") from None


def result(directory: pathlib.Path) -> dict[str, Any] | None:
    """Returns the result of the experiment in `directory`. Returns None if the
    experiment was not run to its end. Also returns None if the description of
    the experiment has changed since then, because the result belongs to the
    old description.
    """
    path = directory / RESULT
    if not path.exists():
        return None
    found = json.loads(path.read_text())
    if found["cell"] != read(directory):
        return None
    if is_old_grade(found):
        found["lateness"] = graded(found["cell"], directory, found["lateness"])
    return found


def run(directory: pathlib.Path, build: pathlib.Path) -> dict[str, Any]:
    """Runs the experiment (cell) that is described in `directory`, and returns
    its result. The file with the result is written last, so the existence of
    this file means that the run is complete.
    """
    cell, started = read(directory), time.monotonic()
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(
                files.locked(directory / LOCK, wait=False))
        except BlockingIOError:
            raise LabError(f"{directory} is already being run by another "
                           "process. Wait for it, or end it") from None
        remove_old(directory)
        for name, _ in transports.streams(cell["protocol"]):
            if name:
                shutil.rmtree(stream_directory(directory, name),
                              ignore_errors=True)
        found = {"cell": cell, **way_of(cell)(cell, directory, build),
                 TOOK: round(time.monotonic() - started, 3),
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


def source_of(cell: Cell, build: pathlib.Path) -> pathlib.Path:
    """Returns the path of a video file. Its pictures are the input of the live
    encoder in the experiment `cell`.
    """
    return live_sources.make(build, encoders.source_of(cell), cell["seconds"])


def clip_of(cell: Cell, build: pathlib.Path) -> pathlib.Path:
    """Returns the path of the video file that the sender of the experiment
    `cell` reads.
    """
    if matrix.kind(cell) == matrix.LIVE:
        source, encoding = source_of(cell, build), encoders.encoding_of(cell)
        return encodings.make(build, encoding, source) if encoding else source
    return clips.make_cut(build, cell["rate"], cell["seconds"],
                          matrix.codec(cell))


def properties(cell: Cell, link: Link | None = None, place: int = 0) -> str:
    """Returns the properties of the link as a text. First come the properties
    from the matrix file, then those that the protocol sets for the link, then
    the seed. If a property occurs twice, the later value is used.

    If the link is a combined link, which consists of several parts, the caller
    passes one part as `link` and the index of this part as `place`. Each part
    has a different seed.
    """
    words = ((link or cell["link"])["properties"], cell["protocol"]["link"],
             f"seed={cell['seed'] + place * SEEDS_BETWEEN_LINKS}")
    return " ".join(filter(None, words))


def with_steps(cell: Cell, directory: pathlib.Path) -> str:
    """Returns all properties of the link of the experiment `cell`. Raises
    LabError if the link is a combined link, which consists of several links.
    If the bitrate of the link changes in steps, these steps are written into a
    file in `directory`, in the form of a delivery trace.
    """
    parts = all_properties(cell, directory)
    if len(parts) > 1:
        raise LabError(f"{cell['link']['name']} is {len(parts)} links, where "
                       "only one is expected")
    return parts[0]


def all_properties(cell: Cell, directory: pathlib.Path) -> list[str]:
    """Returns a list with the properties of each link that the run uses. A
    combined link consists of several links, and the list has one element for
    each of them. For any other link, the list has one element.
    """
    return [part_with_steps(cell, part, place, directory)
            for place, part in enumerate(link_paths.parts(cell["link"]))]


def part_with_steps(cell: Cell, link: Link, place: int,
                    directory: pathlib.Path) -> str:
    own = properties(cell, link, place)
    if not link.get(matrix.STEPS):
        return own
    path, back = (pathlib.Path(directory, name) for name in (STEPS, BACK))
    if place:
        path, back = (one.with_stem(f"{one.stem}-{place + 1}")
                      for one in (path, back))
    files.write_whole(path, rate_steps.trace(
        rate_steps.parse(link["name"], link[matrix.STEPS])))
    if placement.sender_station(link):
        words = [f"delivery-trace-down={path}"]
    else:
        # If wirelesslink gets only one delivery trace, it uses this trace for
        # both directions of the link. Here, the rate must change only in the
        # direction of the stream. The opposite direction therefore gets a
        # trace of its own, with a high constant rate.
        files.write_whole(back, rate_steps.FAST)
        words = [f"delivery-trace={path}", f"delivery-trace-down={back}"]
    return f"{shlex.join(words)} {own}"


def link_logs(cell: Cell) -> list[tuple[str, int]]:
    """Returns a pair for each link that the experiment `cell` uses: the file
    name of the link's log, and the station number of the sender. The log of a
    link names the two hosts of the link by their station numbers.
    """
    return [(f"{placement.link_name(number)}.log",
             placement.sender_station(part))
            for number, part in enumerate(link_paths.parts(cell["link"]))]


def sender_station(cell: Cell) -> int:
    """Returns the station number of the sending host. The log of a link names
    the two hosts of the link by their station numbers. If the experiment
    `cell` uses several links, the number is that of the first link.
    """
    return link_logs(cell)[0][1]


# ----------------------------------------------------------------- in real time

def stream_over(cell: Cell, directory: pathlib.Path,
                build: pathlib.Path) -> dict[str, Any]:
    protocol = cell["protocol"]
    is_live = matrix.kind(cell) == matrix.LIVE \
        and not encoders.encoding_of(cell)
    kind = live_stream.LiveStream if is_live else stream.Stream
    clip = clip_of(cell, build)
    first, *further = all_properties(cell, directory)
    place = placement.OverLink(
        first, build, further=further, link=cell["link"],
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
    late = graded(cell, directory, lateness_of(delays.late_ms, directory))
    return {"warnings": [words for one in streams for words in one.warnings()],
            "left_out": left_out,
            LINKS_BEGAN: [link_log.created_ns(directory / name)
                          for name, _ in link_logs(cell)],
            "lateness": {**late, **(encoder_lateness(directory, late["flagged"])
                                    if is_live else {})}}


def encoder_lateness(directory: pathlib.Path,
                     flagged: bool) -> dict[str, Any]:
    """Returns a dictionary. Two of its entries are the 99th percentile and the
    maximum of the encoder's lateness in ms. The lateness is the time from the
    capture of a picture to the output of its frame. The third entry,
    "flagged", is true if the run is unreliable. A run is unreliable if its
    encoder was too slow, because then the frames are late, whatever the
    network does. If the caller has found another reason, it passes True as
    `flagged`, and the entry "flagged" is true as well.
    """
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
    """Returns a free port for the protocol `transport`. Some protocols need
    several ports. Then the ports directly above the returned port are for this
    protocol, too. `taken` lists the ports that other streams of the run use
    already. Neither the returned port nor a port above it is in this list.

    On a machine without virtual hosts, relays on this machine carry the
    packets. All streams and runs then share the ports of this machine. Two
    streams must therefore never get the same port.
    """
    while True:
        port = place.choose_port(transport["binds"])
        if not set(transports.ports_of(transport, port)) & set(taken):
            return port


def stream_directory(directory: pathlib.Path, name: str) -> pathlib.Path:
    """Returns the directory for the files of one stream of an experiment.
    `directory` is the directory of the experiment. If the experiment has only
    one stream, the files of this stream are in `directory` itself. If it has
    several streams, each stream has a subdirectory of `directory`. The number
    of the stream is the name of the subdirectory.
    """
    return directory / name.partition("-")[0]


def carry(cell: Cell, directory: pathlib.Path,
          build: pathlib.Path) -> dict[str, Any]:
    """Performs an experiment whose workload (its traffic) is not video. The
    experiment runs in real time. Returns the result of the run.
    """
    late_ms, warnings, left_out = runner.over_sockets(
        cell, with_steps(cell, directory), directory, build)
    return {"warnings": warnings, "left_out": left_out,
            "lateness": lateness.grade_constant(
                lateness_of(late_ms, directory))}


def lateness_of(ticks_ms: list[float],
                directory: pathlib.Path) -> dict[str, Any]:
    """Returns two kinds of lateness of a run: of the machine and of the links.
    The machine is late if it wakes a waiting process too late. `ticks_ms`
    contains the measured values of this lateness in ms. A link is late if it
    delivers a packet later than its model has computed. The lateness of the
    links is read from files in `directory`.
    """
    outputs = directory.glob(LINK_OUTPUTS)
    return lateness.describe(ticks_ms, [
        link_log.all_lateness_ns(path.read_text(errors="replace"))
        for path in outputs])


def graded(cell: Cell, directory: pathlib.Path,
           late: dict[str, Any]) -> dict[str, Any]:
    """Estimates the effect of lateness on a run that streamed video in real
    time: how much the result of the run was changed by late processes and late
    links. `cell` describes the run. `late` says how late processes woke up
    during the run, and how late the links delivered packets. Returns a copy of
    `late` with three more entries: the limit above which a frame counts as
    late, the effect of the lateness on each stream, and whether the run is
    flagged as unreliable.
    """
    streams = []
    for name, _ in transports.streams(cell["protocol"]):
        own = stream_directory(directory, name)
        logs = [frame_log.Log(own / log) for log in (SENT, RECEIVED)]
        for log in logs:
            log.read()
        streams.append(measurements.in_real_time(*logs))
    late_ms = cell["encoder"]["late_ms"] if "encoder" in cell \
        else lateness.LATE_MS
    return lateness.grade(late, streams, late_ms)


def is_old_grade(result: dict[str, Any]) -> bool:
    """Returns whether `result`, the result of a run, contains an outdated
    verdict. The verdict says whether the run is flagged as unreliable. Older
    versions of this program decided this by another rule, so their verdicts
    have to be decided again. Only runs that streamed a clip in real time can
    have such an old verdict.
    """
    cell, late = result["cell"], result["lateness"]
    return (matrix.kind(cell) == definitions.VIDEO
            and not cell["protocol"][matrix.COMPUTED]
            and "machine_p99_ms" in late
            and not lateness.is_of_this_version(late))


# -------------------------------------------------------------- in virtual time

def compute(cell: Cell, directory: pathlib.Path,
            build: pathlib.Path) -> dict[str, Any]:
    """Streams the clip of `cell` in virtual time. The link's log has only the
    numbers of the packets and not their contents. The pipeline therefore also
    writes the packets into a file."""
    clip = clip_of(cell, build)
    values = {"clip": clip, "sent": directory / SENT,
              "received": directory / RECEIVED}
    protocol = cell["protocol"]
    pipeline = [
        *fill(protocol["sender"], values), "!", "tee", "name=packets",
        "!", "queue", "!", "wirelesslink", "mode=timestamp",
        f"overhead={IP_AND_UDP}", f"sink_0::station={sender_station(cell)}",
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
    # The launch line is split at blanks before the values are inserted. A
    # value that contains a blank therefore stays one argument.
    return [word.format_map(values) for word in shlex.split(pipeline)]


# ------------------------------------------------------------ machine, elements

def machine(build: pathlib.Path) -> dict[str, Any]:
    """Returns the conditions on this machine that somebody needs to know in
    order to repeat a run. The dictionary contains the kernel, the number of
    cores, the GStreamer version, the commit, and the name of the build
    directory.
    """
    version = said(["gst-launch-1.0", "--version"]).splitlines()
    git = ["git", "-C", str(paths.SOURCE_DIR)]
    commit = said([*git, "rev-parse", "--short=12", "HEAD"])
    if commit and said([*git, "status", "--porcelain", "-uno"]):
        commit += " and changes"
    return {**host(),
            "gstreamer": version[1].split()[-1] if len(version) > 1 else "",
            "commit": commit, "build": pathlib.Path(build).name}


def host() -> dict[str, Any]:
    """Returns the properties that distinguish this machine from others: its
    kernel and its number of cores.
    """
    return {"kernel": f"{platform.system()} {platform.release()}",
            "cores": os.cpu_count()}


def said(argv: Sequence[str | os.PathLike[str]]) -> str:
    """Returns the output of the program `argv`, or "" if the program does not
    exist.
    """
    try:
        return subprocess.run(argv, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout.strip()
    except OSError:
        return ""


def missing_elements(protocol: Protocol, build: pathlib.Path) -> list[str]:
    """Returns the names of the elements that `protocol` uses, but that
    GStreamer cannot find.
    """
    words = " ! ".join(one[end] for _, one in transports.streams(protocol)
                       for end in ("sender", "receiver"))
    return [name for name in dict.fromkeys(ELEMENT.findall(words))
            if not is_element(name, build)]


@functools.cache
def is_element(name: str, build: pathlib.Path) -> bool:
    # With the option --exists, gst-inspect-1.0 reports a plugin with a version
    # below 1.0 as missing. For this reason, gst-inspect-1.0 is run without
    # this option.
    return subprocess.run(
        ["gst-inspect-1.0", name], env=gst_environment.environment(build),
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL).returncode == 0
