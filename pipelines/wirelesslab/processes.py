# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs that we start and that never outlive us.

A demo that is interrupted must not leave a sender behind that floods a port.
So a child gets its own process group, which we kill on the way out, and asks
the kernel to be killed if we vanish without a way out (kill -9).
"""

import atexit
import ctypes
import os
import signal
import subprocess
import sys
import types
from collections.abc import Sequence
from typing import Any

from wirelesslab.errors import LabError

PR_SET_PDEATHSIG = 1
SECONDS_TO_END = 5

_libc = ctypes.CDLL(None, use_errno=True)
_running = []


def die_on_signals() -> None:
    """Turns the signals that would end us silently into an orderly exit."""

    def leave(number: int, _frame: types.FrameType | None) -> None:
        sys.exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP,
                   signal.SIGQUIT):
        signal.signal(number, leave)


def end_with_parent(number: int) -> None:
    """For who was started by a program that is not ours."""
    _libc.prctl(PR_SET_PDEATHSIG, number)


def start(argv: Sequence[str | os.PathLike[str]],
          ended_by: int = signal.SIGKILL,
          **options: Any) -> subprocess.Popen[Any]:
    """Popen for a child that ends with us. Call it from the main thread: the
    kernel takes the death of the starting thread for that of the parent.
    A program that has children of its own is `ended_by` SIGTERM."""
    parent = os.getpid()

    def before_exec() -> None:
        _libc.prctl(PR_SET_PDEATHSIG, ended_by)
        if os.getppid() != parent:
            os._exit(1)

    child = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=before_exec,
        **options,
    )
    child.ended_by = ended_by
    _running.append(child)
    return child


def finish(child: subprocess.Popen[Any], timeout: float | None = None) -> int:
    """Waits for a child and returns its exit status; TimeoutExpired if late."""
    status = child.wait(timeout)
    _running.remove(child)
    return status


def kill(child: subprocess.Popen[Any]) -> None:
    for number in (child.ended_by, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
            finish(child, SECONDS_TO_END)
            return
        except ProcessLookupError:
            finish(child)
            return
        except subprocess.TimeoutExpired:
            pass


@atexit.register
def kill_all() -> None:
    for child in list(_running):
        kill(child)


def run(argv: Sequence[str | os.PathLike[str]], what: str,
        **options: Any) -> str:
    """Runs a program to its end; LabError with its last lines unless it
    succeeds."""
    child = start(
        argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", **options,
    )
    output, _ = child.communicate()
    status = finish(child)
    if status != 0:
        raise LabError(f"{what} failed ({describe(status)}):\n{tail(output)}")
    return output


def describe(status: int) -> str:
    if status < 0:
        return f"ended by signal {signal.Signals(-status).name}"
    return f"exit status {status}"


def tail(text: str, lines: int = 15) -> str:
    return "\n".join("  " + line
                     for line in text.rstrip().splitlines()[-lines:])
