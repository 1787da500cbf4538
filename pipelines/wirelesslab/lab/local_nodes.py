# SPDX-License-Identifier: LGPL-2.1-or-later
"""Simulates a cluster on this machine. Some programs take the place of the
nodes of a cluster, and run jobs. Other programs are the commands by which
Snakemake submits, checks and cancels jobs. pipelines/profiles/local has a
script for each command.

Each node has a directory in $WIRELESS_NODES (default: build/nodes). Each job
is a file in a subdirectory of it, and the name of the subdirectory is the
state of the job. A job waits in queue/ and runs in running/. A file in done/
contains the exit status of a job that has ended.

A running node holds a lock, which the kernel releases when the node is killed.
If the lock of a node is free, its unfinished jobs have failed.
"""

import argparse
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time
import uuid
from typing import Any

from wirelesslab import command_line, files, paths, processes
from wirelesslab.errors import LabError

LOCK = "lock"
LOG = "log"  # The output of all jobs.
QUEUE, RUNNING, DONE, CANCELLED = "queue", "running", "done", "cancelled"
WORK = "work"  # The directory in which a node keeps its temporary files.
PLACES = (QUEUE, RUNNING, DONE, CANCELLED, WORK)
# The number of a job is NODE:RANDOM.
BETWEEN = ":"
SECONDS_BETWEEN_LOOKS = 0.05
FAILED, SUCCESS, IS_RUNNING = "failed", "success", "running"


def home() -> pathlib.Path:
    return pathlib.Path(os.environ.get(
        "WIRELESS_NODES", paths.BUILD_DIR / "nodes")).resolve()


def is_alive(directory: pathlib.Path) -> bool:
    """Returns whether the process of a node is running. The files of this node
    are in `directory`.
    """
    try:
        with files.locked(directory / LOCK, wait=False):
            return False
    except BlockingIOError:
        return True


# ------------------------------------------------------------------ Snakemake's

def submit(script: pathlib.Path) -> str:
    """Gives a new job to one of the running nodes, the one with the fewest
    jobs. The job runs `script`. Returns the number of the job.
    """
    nodes = [path.parent for path in sorted(home().glob(f"*/{LOCK}"))
             if is_alive(path.parent)]
    if not nodes:
        raise LabError(f"no node is running in {home()}. Start one with: "
                       "pipelines/profiles/local/node NAME")
    node = min(nodes, key=lambda directory: sum(
        len(list((directory / place).iterdir()))
        for place in (QUEUE, RUNNING)))
    name = uuid.uuid4().hex[:12]
    files.write_whole(node / QUEUE / name, f"{script.resolve()}\n")
    return f"{node.name}{BETWEEN}{name}"


def status(job: str) -> str:
    """Returns the state of `job` in the words that Snakemake expects: running,
    success or failed.
    """
    directory, name = find(job)
    # A node holds its lock until it ends. The lock must be checked before the
    # exit status of the job is read. Suppose that the exit status were read
    # first, while the job is running. The exit status would not exist yet. The
    # node could then write the exit status and end. The lock would be checked
    # last and would be free. A job without an exit status whose node has ended
    # seems to have failed.
    alive = is_alive(directory)
    done = directory / DONE / name
    if done.exists():
        return SUCCESS if done.read_text().strip() == "0" else FAILED
    return IS_RUNNING if alive else FAILED


def cancel(job: str) -> None:
    directory, name = find(job)
    (directory / CANCELLED / name).touch()


def find(job: str) -> tuple[pathlib.Path, str]:
    node, _, name = job.rpartition(BETWEEN)
    if not (home() / node / LOCK).is_file():
        raise LabError(f"there is no job {job} in {home()}")
    return home() / node, name


# ----------------------------------------------------------------------- a node

class Node:
    """A process that acts as one node of a cluster. It runs the jobs in its
    queue, up to `slots` jobs at the same time.
    """

    def __init__(self, directory: pathlib.Path, slots: int) -> None:
        self._directory, self._slots = directory, slots
        self._running: dict[str, subprocess.Popen[Any]] = {}
        for place in PLACES:
            (directory / place).mkdir(parents=True, exist_ok=True)

    def run(self) -> None:
        """Runs jobs until this process is ended."""
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(
                    files.locked(self._directory / LOCK, wait=False))
            except BlockingIOError:
                raise LabError(f"the node {self._directory.name} is already "
                               "running") from None
            self._forget()
            while True:
                self.work()
                time.sleep(SECONDS_BETWEEN_LOOKS)

    def _forget(self) -> None:
        """Looks for jobs that an earlier process of this node has not
        finished, and marks them as failed. They must not be continued, because
        Snakemake may have given them to another node in the meantime.
        """
        for place in (RUNNING, QUEUE):
            for path in (self._directory / place).iterdir():
                self._end(path.name, -signal.SIGKILL)
                path.unlink(missing_ok=True)

    def work(self) -> None:
        for name, child in list(self._running.items()):
            if (self._directory / CANCELLED / name).exists() \
                    and child.poll() is None:
                processes.kill(child)
                self._end(name, -signal.SIGTERM)
                del self._running[name]
            elif child.poll() is not None:
                self._end(name, processes.finish(child))
                del self._running[name]
        # While a job file is being written, its name begins with a dot. The
        # complete file is then renamed to its final name. A file with a dot is
        # skipped, because it might be renamed while the files are sorted.
        # stat() would then fail, because no file would have the old name.
        waiting = [path for path in (self._directory / QUEUE).iterdir()
                   if not path.name.startswith(".")]
        for path in sorted(waiting, key=lambda path: path.stat().st_mtime_ns):
            if len(self._running) < self._slots:
                self._start(path)

    def _start(self, path: pathlib.Path) -> None:
        if (self._directory / CANCELLED / path.name).exists():
            self._end(path.name, -signal.SIGTERM)
            path.unlink()
            return
        script = path.read_text().strip()
        path.rename(self._directory / RUNNING / path.name)
        with open(self._directory / LOG, "a") as log:
            self._running[path.name] = processes.start(
                [*paths.command("lab.local_nodes"), "job", script],
                ended_by=signal.SIGTERM, cwd=self._directory, stdout=log,
                stderr=log,
                env={**os.environ, "TMPDIR": str(self._directory / WORK)})

    def _end(self, name: str, exit_status: int) -> None:
        """Moves the file of the job `name` to the directory done/. There, the
        content of the file is the exit status of the job. First the file in
        done/ is written, then the file in running/ is removed. The job is
        therefore always in at least one of the two directories.
        """
        files.write_whole(self._directory / DONE / name, f"{exit_status}\n")
        (self._directory / RUNNING / name).unlink(missing_ok=True)


def run_job(script: str) -> int:
    """Runs the script of a job and returns its exit status. This function runs
    in a process of its own, a child of the process of the node. If the node's
    process is killed, the kernel sends SIGTERM to the child. The child then
    kills all processes of the script.

    A node here is only a process, but it thus behaves like a computer: if a
    computer fails, all its processes end.
    """
    return processes.finish(processes.start(["sh", script]))


def main() -> None:
    parser = argparse.ArgumentParser(prog="pipelines/profiles/local")
    commands = parser.add_subparsers(required=True, dest="command")
    node = commands.add_parser("node", help="run jobs until Ctrl-C")
    node.add_argument("name", help="the node's name, which is also the name of "
                      "its directory")
    node.add_argument("--slots", type=int, default=1, metavar="N",
                      help="number of jobs at the same time (%(default)s)")
    for name, words in (
            ("submit", "give the script JOB to a node, print the job's number"),
            ("status", "print whether the job is running"),
            ("cancel", "end jobs"), ("job", "run a script on this node")):
        one = commands.add_parser(name, help=words)
        one.add_argument("jobs", nargs="+" if name == "cancel" else 1,
                         metavar="JOB")
    options = parser.parse_args()
    processes.die_on_signals()

    def perform() -> None:
        if options.command == "node":
            Node(home() / options.name, options.slots).run()
        elif options.command == "submit":
            print(submit(pathlib.Path(*options.jobs)))
        elif options.command == "status":
            print(status(*options.jobs))
        elif options.command == "cancel":
            for job in options.jobs:
                cancel(job)
        elif run_job(*options.jobs):
            sys.exit(1)

    command_line.run_main(f"pipelines/profiles/local/{options.command}",
                          perform)
