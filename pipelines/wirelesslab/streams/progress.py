# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows how much of a stream has arrived while the stream is running. On a
terminal, one line is rewritten again and again. If the output is not a
terminal, a new line is printed every few seconds.
"""

import collections
import shutil
import statistics
import sys
import time

from wirelesslab.streams import frame_log

PLAIN_EVERY = 5.0  # seconds
LIVE_EVERY = 0.2


class Progress:
    """Reads the logs of the sender and the receiver, and prints the progress
    of a stream. If there is only one stream, its progress is a single line on
    the terminal, which is rewritten. Several streams cannot share such a line,
    so they print separate lines. Each of these lines begins with the `name` of
    the stream.
    """

    def __init__(self, sent: frame_log.Log, received: frame_log.Log,
                 name: str = "") -> None:
        self._sent = sent
        self._received = received
        self._name = name and f"{name}: "
        self._join = frame_log.Join()
        self._counts = collections.Counter()
        # The frames that arrived in the last second, as pairs (time of arrival
        # in ns, size in bytes).
        self._recent = collections.deque()
        self._delays = collections.deque(maxlen=25)
        self._started = time.monotonic()
        self._live = sys.stdout.isatty() and not name
        self._every = LIVE_EVERY if self._live else PLAIN_EVERY
        self._due = self._started + self._every

    def update(self, show: bool = True) -> bool:
        """Reads the new lines of both logs. If `show` is True and the time for
        the next output has come, prints the progress. Returns whether the
        receiver's log has new frames.
        """
        # The sender logs each frame before the receiver does. The receiver's
        # log is read before the sender's log. Each frame that was read from
        # the receiver's log is therefore also in the part of the sender's log
        # that is read next.
        arrived = self._received.read()
        self._join.add_sent(self._sent.read())
        self._delays.extend(
            frame_log.delays_ns(self._join.add_arrived(arrived)))
        for frame in arrived:
            self._counts[frame.type] += 1
            self._recent.append((frame.wall_ns, frame.size))
        now = time.monotonic()
        if show and now >= self._due:
            self._due = now + self._every
            self._show()
        return bool(arrived)

    def finish(self) -> None:
        if self._live:
            print(flush=True)

    def _show(self) -> None:
        second_ago = time.time_ns() - 10**9
        while self._recent and self._recent[0][0] < second_ago:
            self._recent.popleft()
        rate = 8 * sum(size for _, size in self._recent) / 1e6
        types = "  ".join(f"{type} {self._counts[type]:3}"
                          for type in frame_log.FRAME_TYPES)
        delay = "-"
        if self._delays:
            delay = f"{statistics.median(self._delays) / 1e6:.1f} ms"
        line = (f"{self._name}{time.monotonic() - self._started:5.1f} s  "
                f"{types}  lost {sum(self._received.lost.values())}  "
                f"{rate:5.2f} Mbit/s  latency {delay}")
        if self._live:
            # The line is shortened to the width of the terminal, because a line
            # that wraps cannot be overwritten.
            columns = max(shutil.get_terminal_size().columns - 1, 0)
            print("\r" + line[:columns].ljust(columns), end="", flush=True)
        else:
            print(line, flush=True)
