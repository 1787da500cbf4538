# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a command and turns each error into an exit status and one message."""

import os
import signal
import sys
from collections.abc import Callable

from wirelesslab.errors import LabError


def run_main(name: str, main: Callable[[], None]) -> None:
    """Runs `main` and exits. An error becomes one message that begins with
    `name`, without a traceback.
    """
    # If standard output was already closed when Python started, sys.stdout is
    # None. The command's output is then discarded.
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")
    try:
        main()
        sys.stdout.flush()
    except BrokenPipeError:
        # The program that reads the output has closed the pipe, as `head` does
        # in `command | head`. At exit, Python flushes standard output once
        # more. This flush would fail, so standard output is replaced by
        # /dev/null.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)
    except OSError as error:
        what = [f"{error.filename}"] if error.filename is not None else []
        sys.exit(": ".join([name, *what, error.strerror or str(error)]))
    except LabError as failure:
        sys.exit(f"{name}: {failure}")
