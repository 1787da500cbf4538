# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a directory for each cell of a matrix, and runs the cells that have
not been run yet. A cell is one experiment. Snakemake runs the cells if it is
installed. Otherwise a loop in this module does so.
"""

import argparse
import functools
import json
import math
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from typing import Any

from wirelesslab import files, paths, processes
from wirelesslab.descriptions import Cell, Protocol
from wirelesslab.errors import LabError
from wirelesslab.lab import cells, combined_links, estimate, matrix
from wirelesslab.streams import clips, lateness, transports, video_codecs
from wirelesslab.testbed import testbed
from wirelesslab.workloads import definitions

GRID, RUN_OUT = "grid.json", cells.RUN_OUT
SNAKEFILE = paths.PIPELINES / "Snakefile"
# If fewer bytes than this are free on the disk, a run probably failed because
# its log did not fit on the disk.
LITTLE = 1 << 16
# The exit status with which Snakemake rejects its options.
WRONG_OPTIONS = 2
SECONDS_BETWEEN_LOOKS = 0.05


def lay_out(found: list[Cell], left_out: list[str], output: pathlib.Path,
            command: str) -> None:
    """Writes a directory for each experiment (cell), with a description of the
    experiment. Also writes the file `GRID`, which contains:

    - a list of all experiments;
    - `left_out`: lines about the experiments that this machine cannot run;
    - `command`: the command that the user typed, so that somebody else can
      repeat it.
    """
    for cell in found:
        cells.describe(output / cell["name"], cell)
    grid = {"command": command, "left_out": left_out,
            "cells": [{"name": cell["name"],
                       "computed": cell["protocol"][matrix.COMPUTED]}
                      for cell in found]}
    files.write_whole(output / GRID, json.dumps(grid, indent=1) + "\n")


def possible(found: list[Cell],
             build: pathlib.Path) -> tuple[list[Cell], list[str]]:
    """Returns those experiments (cells) in `found` that this machine can run.
    Also returns, and prints, a line of text for each reason why it cannot run
    the others.
    """
    words = []
    for choose in (without_files, without_misfits,
                   combined_links.without_misfits,
                   functools.partial(without_missing, build=build),
                   without_hosts):
        found, more = choose(found)
        words += more
    print("".join(f"{line}\n" for line in words), end="", flush=True)
    return found, words


def without_files(found: list[Cell]) -> tuple[list[Cell], list[str]]:
    """Returns the cells (experiments) whose links have all the files that they
    need. Also returns a line about each link whose files are missing.
    """
    missing = {cell["link"]["name"]: matrix.missing_files(cell["link"])
               for cell in found}
    return ([cell for cell in found if not missing[cell["link"]["name"]]],
            [f"left out link {name}: {', '.join(words)}"
             for name, words in missing.items() if words])


def without_misfits(found: list[Cell]) -> tuple[list[Cell], list[str]]:
    """Returns those experiments (cells) in `found` whose protocol supports the
    codec of the clip. Also returns a message for each pair of a protocol and a
    codec that do not fit together.
    """
    there, words, left = video_codecs.read(), set(), []
    for cell in found:
        codec = there[matrix.codec(cell)]
        misfits = video_codecs.misfits(codec, cell["protocol"])
        if misfits:
            words.add(f"left out {cell['protocol']['name']} for {codec.title}: "
                      f"{', '.join(misfits)} cannot carry it")
        else:
            left.append(cell)
    return left, sorted(words)


def without_missing(found: list[Cell],
                    build: pathlib.Path) -> tuple[list[Cell], list[str]]:
    """`found` is a list of experiments (cells). Returns those of them for
    which GStreamer has all elements. Also returns a line of text for each
    protocol that needs a missing element.
    """
    missing = {}
    for cell in found:
        protocol = cell["protocol"]
        key = protocol["name"], matrix.codec(cell)
        if key not in missing:
            missing[key] = cells.missing_elements(protocol, build)
    return ([cell for cell in found
             if not missing[cell["protocol"]["name"], matrix.codec(cell)]],
            list(dict.fromkeys(
                f"left out {name}: GStreamer has no {', '.join(elements)}"
                for (name, _), elements in missing.items() if elements)))


def without_hosts(found: list[Cell]) -> tuple[list[Cell], list[str]]:
    """Returns those experiments (cells) in `found` that this machine can run,
    and lines of text about the experiments that are left out.

    Without network namespaces, this machine cannot have virtual hosts.
    Programs that relay UDP packets are then used in place of the hosts. They
    cannot carry other protocols, so experiments with such protocols are left
    out.
    """
    if all(cell["protocol"][matrix.COMPUTED] for cell in found):
        return found, []
    why = testbed.why_no_hosts()
    if not why:
        return found, []
    others = dict.fromkeys(cell["protocol"]["name"] for cell in found
                           if not is_possible(cell["protocol"]))
    words = [f"no network namespaces for hosts here ({why}): protocols over "
             "UDP go through relays on this machine's loopback instead "
             "(docs/testbed.md says what that changes)"]
    if others:
        words.append(f"left out {', '.join(others)}: not over UDP")
    found, scheduled = combined_links.without_schedules(
        [cell for cell in found if cell["protocol"]["name"] not in others])
    return found, words + scheduled


def is_possible(protocol: Protocol) -> bool:
    """Returns whether the protocol also works on a machine without network
    namespaces, where no virtual hosts can be made.
    """
    return protocol[transports.COMPUTED] or transports.is_relayed(protocol)


def set_flagged_aside(found: list[Cell], output: pathlib.Path) -> None:
    """A run is flagged as unreliable if the machine did its work too late.
    This function renames the result file of each flagged run. The lab runs
    every experiment that has no result file, so it repeats each flagged run.
    When such a run is repeated, the lab first deletes the renamed file of this
    run.
    """
    for cell in found:
        directory = output / cell["name"]
        result = cells.result(directory)
        if result and result["lateness"]["flagged"]:
            (directory / cells.RESULT).rename(directory / cells.ASIDE)


def take_flagged_back(found: list[Cell], output: pathlib.Path) -> None:
    """Undoes what set_flagged_aside() has done. That function renames the
    result of each run that is flagged as unreliable, so that the run is
    repeated. If the user ended the lab before the repetition began, the
    renamed result still exists. It then gets its usual name again.
    """
    for cell in found:
        directory = output / cell["name"]
        if (directory / cells.ASIDE).exists():
            (directory / cells.ASIDE).rename(directory / cells.RESULT)


def words_of(cell: Cell, output: pathlib.Path) -> str:
    result = cells.result(output / cell["name"])
    if result is None:
        return "failed: " + first_words(output / cell["name"] / RUN_OUT)
    if result["lateness"]["flagged"]:
        return "flagged: " + lateness.words(result["lateness"])
    return "done"


def first_words(path: pathlib.Path) -> str:
    """Returns the error message of a run that failed. The file `path` has the
    whole output of the run, and the message is taken from it.
    """
    text = path.read_text(errors="replace") if path.exists() else ""
    said = re.search(r"^pipelines/lab: (.*)", text, re.M)
    if not said:
        full = shutil.disk_usage(path.parent).free < LITTLE
        return f"{path}" + (", and the disk is full" if full else "")
    # The error message of pipelines/lab is returned. If the output of the run
    # also contains an error message of GStreamer, this second message is
    # appended, because it says why the pipeline failed.
    why = re.search(r"^ *(?:ERROR: (?:from element \S*/)?|WARNING: erroneous "
                    r"pipeline: )(.*)", text, re.M)
    words = re.sub(r"(\. The (end of its output|output of both ends))?:$",
                   lambda _: f": {why[1]}" if why else "", said[1])
    return f"{words} ({path})"


class Loop:
    """Runs experiments (cells), `at_once` of them at the same time. If one of
    them fails, the others are still run.
    """

    def __init__(self, found: list[Cell], output: pathlib.Path,
                 build: pathlib.Path, at_once: int) -> None:
        self._left = [cell for cell in found
                      if cells.result(output / cell["name"]) is None]
        self._total, self._done = len(self._left), 0
        self._output, self._build, self._at_once = output, build, at_once
        # The experiments (cells) that are being run, each as a tuple (child
        # process, cell, time at which the child process was started).
        self._running = []
        # The durations of the runs that have ended, in seconds, for an
        # estimate of the remaining time.
        self._seconds = []

    def run(self) -> list[str]:
        """Runs all experiments that have no result. When a run has ended,
        prints a line about it. Returns the names of all experiments that were
        run, including those that failed.
        """
        told = [cell["name"] for cell in self._left]
        while self._left or self._running:
            while self._left and len(self._running) < self._at_once:
                self._start(self._left.pop(0))
            time.sleep(SECONDS_BETWEEN_LOOKS)
            for running in list(self._running):
                if running[0].poll() is not None:
                    self._end(*running)
        return told

    def _start(self, cell: Cell) -> None:
        directory = self._output / cell["name"]
        with open(directory / RUN_OUT, "w") as out:
            child = processes.start(
                [*paths.command("lab"), "run", str(directory),
                 "--build", str(self._build)], ended_by=signal.SIGTERM,
                stdout=out, stderr=out)
        self._running.append((child, cell, time.monotonic()))

    def _end(self, child: subprocess.Popen[Any], cell: Cell,
             started: float) -> None:
        processes.finish(child)
        self._running.remove((child, cell, started))
        self._done += 1
        self._seconds.append(time.monotonic() - started)
        print(f"{self._done}/{self._total} {cell['name']} "
              f"{words_of(cell, self._output)}{self._time_left()}", flush=True)

    def _time_left(self) -> str:
        """Returns a text with the estimated time until all experiments are
        done. The experiments that are running are assumed to be half done on
        average.
        """
        todo = len(self._left) + len(self._running) / 2
        if not todo:
            return ""
        seconds = (statistics.mean(self._seconds) * todo
                   / min(self._at_once, math.ceil(todo)))
        return f" (about {duration(seconds)} left)"


def duration(seconds: float) -> str:
    """Returns the duration as a rounded text, such as "5 min". The duration is
    only an estimate, so more digits would be useless.
    """
    for name, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} s"


def run_plain(found: list[Cell], options: argparse.Namespace) -> list[str]:
    """Runs all experiments (cells) that have no result, and prints a line
    about each of them. Returns the names of all experiments that were run,
    even if the run failed.

    First the experiments in virtual time are run, on all cores. The
    experiments in real time follow. They do not run at the same time as the
    others, because a busy machine would delay their packets.
    """
    told = []
    for computed, at_once in ((True, os.cpu_count()), (False, options.jobs)):
        told += Loop([cell for cell in found
                      if cell["protocol"][matrix.COMPUTED] == computed],
                     options.output, options.build, at_once).run()
    return told


def run_snakemake(snakemake: str, found: list[Cell],
                  options: argparse.Namespace) -> None:
    """Runs the cells (experiments) with Snakemake. Snakemake runs a cell if the
    result of the cell is missing or older than its description.
    """
    where = on_cluster(options.profile) if options.profile else [
        "--cores", str(max(os.cpu_count(), options.jobs)),
        "--resources", f"realtime={options.jobs}"]
    kinds = {cell["protocol"][matrix.COMPUTED] for cell in found}
    for target in ("computed", "all") if len(kinds) == 2 else ("all",):
        child = processes.start(
            # In Snakemake's command line, the target must precede all options.
            # If it followed them, it would need "--" before it. But Snakemake
            # 7 appends further options from the profile to the end of the
            # command, and would take everything after "--" for targets.
            [snakemake, target, "--snakefile", str(SNAKEFILE),
             "--directory", str(options.output), *where, "--keep-going",
             "--rerun-incomplete", "--rerun-triggers", "mtime", "--nolock",
             # The scheduler "ilp" writes its problem to a temporary file, which
             # remains if Snakemake is killed meanwhile. The experiments need
             # only one limit at a time, so "greedy" starts just as many.
             "--scheduler", "greedy",
             "--quiet", "all", "--config", f"python={sys.executable}",
             f"package={paths.PACKAGE}", f"build={options.build}",
             *(["scratch=1"] if options.profile else [])],
            # On a cluster, Snakemake is ended by SIGINT, which makes it cancel
            # the jobs that it has submitted. Without a cluster, SIGINT would
            # make it wait until all running experiments have ended. In that
            # case, Snakemake is therefore ended by SIGKILL.
            ended_by=signal.SIGINT if options.profile else signal.SIGKILL,
            env=with_commands(options.profile))
        if processes.finish(child) == WRONG_OPTIONS and options.profile:
            raise LabError(
                "Snakemake does not accept the profile; its message is above. "
                "Since version 8, Snakemake needs the package "
                "snakemake-executor-plugin-cluster-generic for a cluster")


def on_cluster(profile: str) -> list[str]:
    """Returns the options with which Snakemake runs experiments on a cluster.
    `profile` is a Snakemake profile, which says how many jobs may run at the
    same time. Experiments in real time need no further limit, because each
    node runs only one of them at a time.
    """
    directory = pathlib.Path(profile)
    return ["--profile", str(directory.resolve() if directory.is_dir()
                             else profile)]


def with_commands(profile: str) -> dict[str, str] | None:
    """Returns an environment whose PATH begins with `profile`, the directory
    of a Snakemake profile. The directory contains the commands with which
    Snakemake submits and checks jobs, and Snakemake finds them through PATH.
    Returns None if `profile` is not a directory.
    """
    directory = pathlib.Path(profile)
    if not profile or not directory.is_dir():
        return None
    return {**os.environ, "PATH": os.pathsep.join(
        (str(directory.resolve()), os.environ.get("PATH", os.defpath)))}


def left_to_run(found: list[Cell],
                options: argparse.Namespace) -> tuple[list[Cell], str]:
    """Returns those experiments (cells) in `found` that have no result yet.
    Also returns a text that says how many they are. If the time that their
    runs need is known, the text also contains this time.
    """
    results = [result_of(cell, options.output) for cell in found]
    todo = [cell for cell, result in zip(found, results) if not result]
    counted = "1 cell" if len(found) == 1 else f"{len(found)} cells"
    words = f"{counted}, {len(todo)} of them to run"
    # The text contains an estimate of the duration only if all runs take place
    # on this machine. On a cluster, the duration depends on how many jobs the
    # cluster runs at the same time, and this number is unknown.
    if not todo or options.profile:
        return todo, words
    known = estimate.Estimate(list(filter(None, results)), cells.host())
    seconds = known.total(todo, options.jobs, os.cpu_count())
    return todo, (f"{words} (about {duration(seconds)} with --jobs "
                  f"{options.jobs})")


def result_of(cell: Cell, output: pathlib.Path) -> dict[str, Any] | None:
    """Returns the result of the experiment `cell`. Returns None if there is no
    result. Also returns None if the description of the experiment has changed
    since the run, because the result then belongs to an older description. The
    directory of the experiment need not exist.
    """
    try:
        result = cells.result(output / cell["name"])
    except LabError:
        return None
    return result if result and result["cell"] == cell else None


def run_all(found: list[Cell], left_out: list[str],
            options: argparse.Namespace) -> list[str]:
    """Runs those experiments (cells) in `found` that have no result yet.
    Returns the names of the experiments that failed.
    """
    if not found:
        built = (options.build / "build.ninja").exists()
        raise LabError("no cell of the matrix can be run here" + (
            "" if built else f": {options.build} is not a build directory. "
            "pipelines/demo makes one"))
    options.output.mkdir(parents=True, exist_ok=True)
    lay_out(found, left_out, options.output, options.command)
    take_flagged_back(found, options.output)
    if options.again:
        set_flagged_aside(found, options.output)
    films = {(cell["rate"], cell["seconds"], matrix.codec(cell))
             for cell in found if matrix.kind(cell) == definitions.VIDEO}
    for film in sorted(films):
        clips.make_cut(options.build, *film)
    for cell in found:
        if matrix.kind(cell) == matrix.LIVE:
            cells.clip_of(cell, options.build)
    todo, words = left_to_run(found, options)
    print(f"{words}, in {options.output}", flush=True)
    snakemake = None if options.plain else shutil.which("snakemake")
    if options.profile and not snakemake:
        raise LabError("--profile needs Snakemake, which is not installed. "
                       "Install it with: pipelines/setup lab")
    told = []
    if todo and snakemake:
        run_snakemake(snakemake, found, options)
    elif todo:
        told = run_plain(found, options)
    return summarize(found, options.output, told)


def summarize(found: list[Cell], output: pathlib.Path,
              told: list[str]) -> list[str]:
    """Prints a line for each experiment (cell) whose run failed. Also prints a
    line for each experiment whose result was flagged as unreliable, because
    the machine did its work too late. Then prints how many experiments are
    done, flagged and failed. Returns the names of the failed experiments.

    `told` has the names of the experiments about which a line has already been
    printed. No second line is printed about them.
    """
    words = {cell["name"]: words_of(cell, output) for cell in found}
    counts = {what: [name for name, said in words.items()
                     if said.startswith(what)]
              for what in ("done", "flagged", "failed")}
    for what in ("flagged", "failed"):
        for name in counts[what]:
            if name not in told:
                print(f"{name} {words[name]}")
    print(", ".join(f"{len(names)} {what}" for what, names in counts.items()))
    return counts["failed"]
