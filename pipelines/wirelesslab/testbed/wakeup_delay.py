# SPDX-License-Identifier: LGPL-2.1-or-later
"""How late this machine is when it is asked to wake somebody: what a run in
real time says of a network holds only where that is little. A process of its
own measures it, for threads of one process wait for each other."""

import json
import select
import subprocess
import sys
import time
from typing import IO, Any, Self

from wirelesslab import paths

SECONDS_BETWEEN = 0.01


class Measurement:
    """`late_ms` has each of them when it is left."""

    def __enter__(self) -> Self:
        self._child = subprocess.Popen(
            paths.command("testbed.wakeup_delay"), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_: Any) -> None:
        # Nothing, where somebody ended all of us.
        self.late_ms = json.loads(self._child.communicate()[0] or "[]")


def measure(stream: IO[str]) -> list[float]:
    """Until the stream ends, as it does too when whoever started us is
    killed."""
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
