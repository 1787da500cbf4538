# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how late this machine wakes a process that sleeps. The results of a
run in real time are valid only if this lateness is small. A separate process
measures it: the threads of one Python process wait for each other, and this
waiting would look like lateness.
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
    """Measures, while its `with` block runs, how late this machine wakes a
    sleeping process. After the block, `late_ms` contains all measured times in
    ms.
    """

    def __enter__(self) -> Self:
        self._child = subprocess.Popen(
            paths.command("testbed.wakeup_delay"), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_: Any) -> None:
        # The output is empty if a signal has ended all processes of the run.
        # In this case there are no measurements.
        self.late_ms = json.loads(self._child.communicate()[0] or "[]")


def measure(stream: IO[str]) -> list[float]:
    """Measures until EOF on `stream`. Returns the delays of all wake-ups in
    ms. `stream` is a pipe from the process that started this program. If that
    process is killed, the pipe is closed, so the measurement ends, too.
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
