# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures the wake-up delay: how late this machine wakes a process that
sleeps. The results of a run in real time are valid only if this delay is
small.

The measurement runs in a process of its own. In the process of the caller, it
would also measure how long the threads of Python wait for each other.
"""

import json
import select
import subprocess
import sys
import time
from typing import IO, Any, Self

from wirelesslab import paths

SECONDS_BETWEEN = 0.01


class Measurement:
    """Measures how late this machine wakes a sleeping process, from the
    beginning to the end of a `with` block. After the block, `late_ms` contains
    the delays of all wake-ups in ms.
    """

    def __enter__(self) -> Self:
        self._child = subprocess.Popen(
            paths.command("testbed.wakeup_delay"), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_: Any) -> None:
        # If a signal ends all processes of a run, it also ends the measuring
        # process. Its output is then empty, and there are no delays.
        self.late_ms = json.loads(self._child.communicate()[0] or "[]")


def measure(stream: IO[str]) -> list[float]:
    """Measures until EOF on `stream`. Returns the delays of all wake-ups in
    ms. `stream` is a pipe from the process that started this program. If that
    process is killed, the kernel closes the pipe, so the measurement ends.
    """
    late, due = [], time.monotonic()
    while not select.select([stream], [], [], 0)[0]:
        due += SECONDS_BETWEEN
        time.sleep(max(due - time.monotonic(), 0))
        now = time.monotonic()
        late.append((now - due) * 1e3)
        due = max(due, now - SECONDS_BETWEEN)
    return late


def main() -> None:
    print(json.dumps(measure(sys.stdin)))
