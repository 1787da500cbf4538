# SPDX-License-Identifier: LGPL-2.1-or-later
"""Starts programs that never outlive this process.

A sender that outlived this process would flood its destination port with
packets and keep this port busy. Each child therefore has its own process
group, which is killed when this process exits. If this process is killed with
SIGKILL, the kernel kills the child, because the child has requested this with
PR_SET_PDEATHSIG.
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
    """Installs handlers for the signals that would otherwise end this process
    immediately. The handlers make the process exit normally, so that Python
    still calls the functions that are registered with atexit.
    """

    def leave(number: int, _frame: types.FrameType | None) -> None:
        sys.exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP,
                   signal.SIGQUIT):
        signal.signal(number, leave)


def end_with_parent(number: int) -> None:
    """Makes the kernel send signal `number` to this process when its parent
    ends. The function start() already arranges this for the processes that it
    starts, so only other processes need to call this function.
    """
    _libc.prctl(PR_SET_PDEATHSIG, number)


def start(argv: Sequence[str | os.PathLike[str]],
          ended_by: int = signal.SIGKILL,
          **options: Any) -> subprocess.Popen[Any]:
    """Starts a child process that ends when this process ends, and returns its
    Popen object. `ended_by` is the signal that ends the child. If the child
    has children of its own and has to end them, `ended_by` must be SIGTERM.

    Only the main thread may call this function. The kernel sends the signal
    when the thread that started the child ends, even if the process of this
    thread continues.
    """
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
    """Waits for a child and returns its exit status. Raises TimeoutExpired if
    the child is still running after `timeout` seconds.
    """
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
    """Runs a program to its end and returns its output. If the exit status is
    not 0, raises LabError. The message says that `what` failed and has the last
    lines of the output.
    """
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
