# SPDX-License-Identifier: LGPL-2.1-or-later
"""How a command ends, whatever goes wrong."""

import os
import signal
import sys
from collections.abc import Callable

from wirelesslab.errors import LabError


def run_main(name: str, main: Callable[[], None]) -> None:
    """Runs it and exits; what went wrong is one message, no traceback."""
    if sys.stdout is None:  # closed by who called us
        sys.stdout = open(os.devnull, "w")
    try:
        main()
        sys.stdout.flush()
    except BrokenPipeError:
        # Nobody reads on, as behind `| head`: go, and don't flush again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)
    except OSError as error:
        what = [f"{error.filename}"] if error.filename is not None else []
        sys.exit(": ".join([name, *what, error.strerror or str(error)]))
    except LabError as failure:
        sys.exit(f"{name}: {failure}")
