# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the steps of the README on minimal Debian installations. debootstrap
makes these installations. They are removed at the end.

The source is a clone of the current commit; changes that are not committed are
not tested. Prints one line for each step. For each Debian, also prints the
versions of Debian and of the tools, such as GStreamer and meson. Needs root.
The logs of the steps stay in build-fresh/logs.
"""

import argparse
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import debians
import summary

from wirelesslab import command_line, files, processes
from wirelesslab.errors import LabError

SUITES = ("bookworm", "trixie", "sid")
PROJECT = "gst-plugins-wireless"
PLACE = debians.SOURCE / "build-fresh"
LOGS = PLACE / "logs"
# Path of the cloned source, relative to the root directory of a Debian
# installation. In this directory, every user of the installation can read the
# source.
CLONE = "srv/wireless"
SECONDS_TO_REMOVE = 60
# The steps of the README that the script tests: {step: shell command that runs
# the step in the cloned source}.
STEPS = {
    "demo": "./pipelines/demo",
    "tests": "./tests/run",
    "clang": "pipelines/setup build test fuzz && "
             "CC=clang meson setup build-clang -Dwerror=true -Dtests=enabled "
             "-Dexamples=enabled && ninja -C build-clang",
    "fuzz": "tests/fuzz/run --seconds 5",
    # This command installs the package, so it must be run after all other
    # commands of this list. gst-inspect-1.0 is used without its option
    # --exists, because in version 1.22 this option also checks a version: the
    # version of the plugin must be at least the version of gst-inspect-1.0.
    "package": "pipelines/setup build package && "
               "{ test -f build/build.ninja || "
               "meson setup build -Dtests=enabled; } && "
               "meson test -C build --no-rebuild --suite long package && "
               "dpkg-buildpackage -us -uc -b && "
               "apt-get install --yes ../gstreamer1.0-wireless_*.deb && "
               "gst-inspect-1.0 mmtpsink",
}
VERSIONS = r"""
printf 'Debian %s\n' "$(cat /etc/debian_version)"
for package in libgstreamer1.0-0:GStreamer libglib2.0-dev:GLib gcc:gcc \
    clang:clang meson:meson python3:Python tshark:tshark; do
  # Not every step installs all of them.
  if version=$(dpkg-query -W -f '${Version}' "${package%:*}" 2>/dev/null); then
    printf '%s %s\n' "${package#*:}" "$version"
  fi
done
"""


def main():
    options = read_options()
    if debians.why_not():
        raise LabError(debians.why_not())
    mirror = options.mirror or debians.machine_mirror()
    if not mirror:
        raise LabError("apt knows no mirror of Debian here: type "
                       "apt-get update, or name one with --mirror")
    LOGS.mkdir(parents=True, exist_ok=True)
    failed, skipped = [], {}
    for suite in options.suites:
        with place(options.keep, suite) as root:
            failed += run_suite(suite, root, mirror, options.steps)
            skipped[suite] = skipped_checks(root)
    failed += find_more_skipped(skipped)
    for what in failed:
        print(f"--- {what}")
    print(f"{len(failed)} failed")
    if failed:
        sys.exit(1)


def read_options():
    parser = argparse.ArgumentParser(
        prog="tests/fresh", description=__doc__.split("\n\n")[0])
    parser.add_argument("suites", nargs="*", default=SUITES, metavar="SUITE",
                        help="Debian release on which the steps run "
                        f"(default: {' '.join(SUITES)})")
    parser.add_argument("--mirror", metavar="URL",
                        help="Debian mirror from which debootstrap installs "
                        "(default: the mirror that apt uses on this machine)")
    parser.add_argument("--steps", metavar="STEP,...", type=read_steps,
                        default=list(STEPS),
                        help="steps to run on each release, separated by "
                        f"commas (default: {','.join(STEPS)})")
    parser.add_argument("--keep", metavar="DIRECTORY", type=pathlib.Path,
                        help="make the Debian installations in this directory "
                        "and keep them; an installation that already exists "
                        "there is used again (default: a temporary "
                        "directory, which is removed at the end)")
    return parser.parse_args()


def read_steps(text):
    wanted = text.split(",")
    unknown = set(wanted) - set(STEPS)
    if unknown:
        raise argparse.ArgumentTypeError(
            f"there is no step {', '.join(sorted(unknown))}")
    return [step for step in STEPS if step in wanted]


# ---------------------------------------------------------------- the directory

@contextlib.contextmanager
def place(keep, suite):
    """Yields the path of the root directory for one Debian installation.
    `keep` is a directory for installations that stay on the disk. If it is not
    given, the installation is removed afterwards.
    """
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep.resolve() / suite
        return
    run = files.RunDirectory(PLACE, f"{suite}-")
    guard = Guard(run.path)
    try:
        yield run.path / "root"
    finally:
        processes.kill_all()
        guard.end()
        # guard.end() has removed the directory run.path. run.close() would
        # fail without this directory, so an empty one is created.
        run.path.mkdir()
        run.close()


class Guard:
    """Removes a directory when this program ends, even if this program is
    killed. A child process reads from a pipe. Only this program has the write
    end of the pipe. When this program ends, the child process reads EOF, and
    then removes the directory."""

    def __init__(self, directory):
        read, self._write = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._write)
            self._wait(read, directory)
        os.close(read)

    @staticmethod
    def _wait(read, directory):
        """Runs in the child process. Waits until the write end of the pipe is
        closed, removes `directory`, and ends the child process. Never returns.
        """
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(null, descriptor)
        os.read(read, 1)
        deadline = time.monotonic() + SECONDS_TO_REMOVE
        # While this loop runs, the processes in the Debian installation are
        # being killed. Until these processes have ended, they can create new
        # files in the directory, so the removal is repeated.
        while directory.exists() and time.monotonic() < deadline:
            shutil.rmtree(directory, ignore_errors=True)
        os._exit(0)

    def end(self):
        os.close(self._write)
        os.waitpid(self._pid, 0)


# ------------------------------------------------------------------- one Debian

def run_suite(suite, root, mirror, steps):
    """Runs `steps` in the Debian installation in the directory `root`. Creates
    the installation first if it does not exist. Returns a list with one text
    for each step that failed.
    """
    failed = []
    started = time.monotonic()
    if not debians.is_made(root):
        print(f"{suite}: making it from {mirror}", flush=True)
        debians.make(suite, root, mirror)
        print(f"{suite}: made in {minutes(started)}", flush=True)
    clone(root / CLONE)
    for step in steps:
        failed += run_step(suite, root, step)
    versions = processes.run(
        debians.entering(root, "sh", "-c", VERSIONS), "reading versions")
    print(f"{suite}: {', '.join(versions.splitlines())}", flush=True)
    return failed


def clone(directory):
    """Clones the current commit of the project into `directory`. This also
    works if the project's directory is a separate Git worktree."""
    if directory.exists():
        shutil.rmtree(directory)
    processes.run(["git", "clone", "-q", "--no-hardlinks", debians.SOURCE,
                   directory], "git clone")


def run_step(suite, root, step):
    log = LOGS / f"{suite}-{step}.log"
    started = time.monotonic()
    with open(log, "wb") as output:
        status = processes.finish(processes.start(
            debians.entering(root, "sh", "-c",
                             f"cd /{CLONE} && {STEPS[step]}"),
            stdout=output, stderr=subprocess.STDOUT))
    last = (log.read_text(errors="replace").rstrip().splitlines() or [""])[-1]
    outcome = "passed" if status == 0 else processes.describe(status)
    print(f"{suite}: {step}: {outcome} after {minutes(started)}: {last}",
          flush=True)
    return [] if status == 0 else [f"{suite}: {step}: {log}"]


def minutes(started):
    return f"{(time.monotonic() - started) / 60:.1f} min"


# --------------------------------------------------------------- skipped checks

def skipped_checks(root):
    """Returns {test program: number of its checks that were skipped}. The
    numbers are from ordinary.json, a test log that tests/run writes.
    """
    log = root / CLONE / "build" / "meson-logs" / "ordinary.json"
    return {common_name(test["name"]): summary.count(test).skipped
            for test in summary.read(log)[0]}


def common_name(name):
    """Returns the name of a test in a form that does not depend on the version
    of meson. Old versions write "project:suite / test", and newer versions
    write "suite - project:test".
    """
    return name.replace(f"{PROJECT}:", "").replace(" - ", " / ", 1)


def find_more_skipped(skipped):
    """Compares each version of Debian with the first version in `skipped`,
    which is {version: {program: number of skipped checks}}. Yields a message
    for each program that skips more checks on another version than on the
    first one.
    """
    first, *others = skipped
    for suite in others:
        for name, number in skipped[suite].items():
            if number > skipped[first].get(name, number):
                yield (f"{suite}: {name} skips {number} checks, and "
                       f"{skipped[first][name]} on {first}")


if __name__ == "__main__":
    processes.die_on_signals()
    command_line.run_main("tests/fresh", main)
