# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how late this machine wakes a process that sleeps. The results of a
run in real time are only valid if this lateness is small. A separate process
measures it, because the threads of a Python process wait for each other."""

import json
import select
import subprocess
import sys
import time
from typing import IO, Any, Self

from wirelesslab import paths

SECONDS_BETWEEN = 0.01


class Measurement:
    """Measures how late this machine wakes a sleeping process. The measurement
    lasts as long as the context is open. Afterwards `late_ms` has all measured
    times in ms.
    """

    def __enter__(self) -> Self:
        self._child = subprocess.Popen(
            paths.command("testbed.wakeup_delay"), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_: Any) -> None:
        # If a signal has ended all processes of the run, the output is empty.
        # There are then no measurements.
        self.late_ms = json.loads(self._child.communicate()[0] or "[]")


def measure(stream: IO[str]) -> list[float]:
    """Returns the delays of all wake-ups in ms. The measurement lasts until
    EOF on `stream`. `stream` is a pipe from the process that started this
    program. If that process is killed, the pipe is closed, so the measurement
    ends."""
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
