# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the logs of two elements mpegstat, one at the sender and one at the
receiver. Computes what happened to the frames between these two elements.

The sender's log says which frames were sent and when. The receiver's log says
which frames arrived and when. The two logs together give the loss, the frames
that a decoder can decode, and the end-to-end delay. Both ends must share one
clock, as they do on one host.

This module starts no processes and reads no other files. Therefore a test can
check it with a few lines of text.
"""

import collections
import pathlib
import statistics
import typing
from collections.abc import Iterator, Sequence
from typing import Any

FRAME_TYPES = "IPB"
NS_PER_MS = 1e6
NS_PER_S = 1e9


class Frame(typing.NamedTuple):
    """A complete frame. It was read from a line with the event `frame` in a
    log of the element mpegstat.
    """

    type: str
    wall_ns: int
    arrival_ns: int
    expected_ns: int
    latency_ns: int
    coding_number: int
    size: int
    # The pair (hash, size) by which the frame is recognised at both ends.
    key: tuple
    # True if the frame is the first frame of a closed GOP.
    closed: bool = False
    # True if the frame is the first one after a GOP header with the flag
    # broken_link. The B-frames that follow this frame cannot be decoded
    # correctly.
    broken: bool = False
    display_number: int = 0


class Log:
    """A log of the element mpegstat. The log may still be growing. read()
    reads the lines that were added since its last call.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self.frames = []
        self.lost = collections.Counter()
        self.incomplete = 0
        self._path = path
        self._columns = None
        self._offset = 0
        # Flags of the GOP header that precedes the next frame. The dictionary
        # is empty if no such header has been read.
        self._gop = {}

    def read(self) -> list[Frame]:
        """Reads the lines that were added to the log since the last call.
        Returns the frames in these lines.
        """
        known = len(self.frames)
        for line in self._new_lines():
            values = line.split(",")
            if self._columns is None:
                self._columns = values
                continue
            self._take(dict(zip(self._columns, values)))
        return self.frames[known:]

    def _new_lines(self) -> list[str]:
        try:
            with open(self._path, "rb") as log:
                log.seek(self._offset)
                text = log.read()
        except FileNotFoundError:
            return []
        # A line without a newline at its end is still being written, so it is
        # not read yet.
        text = text[: text.rfind(b"\n") + 1]
        self._offset += len(text)
        return text.decode().splitlines()

    def _take(self, line: dict[str, str]) -> None:
        if line["event"] == "frame":
            size = int(line["size_bytes"])
            self.frames.append(Frame(
                type=line["type"],
                wall_ns=int(line["wall_ns"]),
                arrival_ns=int(line["arrival_ns"]),
                expected_ns=int(line["expected_ns"]),
                latency_ns=int(line["latency_ns"]),
                coding_number=int(line["coding_number"]),
                size=size,
                key=(line["hash"], size),
                display_number=int(line["display_number"]),
                **self._gop,
            ))
            self._gop = {}
        elif line["event"] == "lost":
            self.lost[line["type"]] += int(line.get("lost_frames") or 1)
        elif line["event"] == "incomplete":
            self.incomplete += 1
            self._gop = {}
        elif line["event"] == "gop":
            self._gop = {"closed": line["closed_gop"] == "1",
                         "broken": line["broken_link"] == "1"}


class Join:
    """Finds the sent frame that matches each received frame. Two frames match
    if their bytes are equal.

    If the film is repeated, several sent frames can have the same bytes as one
    received frame. The class then uses the numbers that the two ends give to
    their frames in coding order. The offset of a match is the number of the
    sent frame minus the number of the received frame. It is usually the same
    as in the previous match. The class therefore chooses the sent frame whose
    offset is nearest to the offset of the previous match.
    """

    def __init__(self) -> None:
        self.pairs = []
        # The number of received frames that match no sent frame, because their
        # bytes differ.
        self.foreign_frames = 0
        self._waiting = collections.defaultdict(list)
        self._ahead = 0

    def add_sent(self, frames: Sequence[Frame]) -> None:
        for frame in frames:
            self._waiting[frame.key].append(frame)

    def add_arrived(self,
                    frames: Sequence[Frame]) -> list[tuple[Frame, Frame]]:
        """Adds frames that have arrived, and finds the sent frame that matches
        each of them. Returns a list of pairs (sent frame, arrived frame).
        Arrived frames without a matching sent frame are not in this list.
        """
        known = len(self.pairs)
        for frame in frames:
            twins = [sent for sent in self._waiting[frame.key]
                     if sent.wall_ns <= frame.wall_ns]
            if not twins:
                self.foreign_frames += 1
                continue
            expected = frame.coding_number + self._ahead
            sent = min(twins, key=lambda t: abs(t.coding_number - expected))
            self._waiting[frame.key].remove(sent)
            self._ahead = sent.coding_number - frame.coding_number
            self.pairs.append((sent, frame))
        return self.pairs[known:]


def decodable(film: list[Frame], whole: set[int]) -> list[Frame]:
    """Returns the frames that can be decoded. `film` contains all frames in
    transport order, and `whole` contains the coding numbers of the frames that
    arrived. A frame must have arrived, and the frames to which it refers must
    be decodable:

    - A P-frame refers to the previous I- or P-frame in transport order.
    - A B-frame refers to the previous two I- or P-frames in transport order.
    - If the GOP is closed, the B-frames between its I-frame and the next
      P-frame refer only to this I-frame.
    - If the GOP has the flag broken_link, the B-frames between its I-frame and
      the next P-frame cannot be decoded.
    """
    found = []
    # `newer` says whether the last I- or P-frame so far is decodable. `older`
    # says whether the I- or P-frame before that one is decodable.
    older, newer = False, False
    for frame in film:
        good = frame.coding_number in whole
        if frame.type == "P":
            good = good and newer
        elif frame.type == "B":
            good = good and older and newer
        if frame.type in "IP":
            older, newer = newer, good
        if frame.type == "I" and frame.closed:
            older = True
        if frame.type == "I" and frame.broken:
            older = False
        if good:
            found.append(frame)
    return found


def jitter_ns(frames: Sequence[Frame]) -> Iterator[Any]:
    """Yields the jitter after each of the frames, which must be in transport
    order. The jitter is the variation of the delays of the frames. The delay
    of a frame is counted from `expected_ns`, the time at which the frame is
    expected in transport order. It is not counted from the presentation time:
    in transport order, presentation times go back and forth around B-frames,
    which would look like jitter even on a perfect link.
    """
    return jitter_of(frame.arrival_ns - frame.expected_ns for frame in frames)


def jitter_of(latencies: list[float] | Iterator[Any]) -> Iterator[float]:
    """Yields the jitter J after each latency, as RFC 3550 section 6.4.1
    defines it: J += (|D| - J) / 16. D is the difference between this latency
    and the previous one.
    """
    jitter = 0.0
    previous = None
    for latency in latencies:
        if previous is not None:
            jitter += (abs(latency - previous) - jitter) / 16
        previous = latency
        yield jitter


def percentile(values: Sequence[float], percent: int) -> float:
    """Returns a percentile by the nearest-rank method: the smallest value for
    which at least `percent` % of all values are less than or equal to it."""
    ordered = sorted(values)
    rank = -(-len(ordered) * percent // 100)  # rounded up
    return ordered[max(int(rank), 1) - 1]


def delays_ns(pairs: Sequence[tuple[Frame, Frame]]) -> list[int]:
    return [arrived.wall_ns - sent.wall_ns for sent, arrived in pairs]


def lateness_ns(film: list[Frame],
                pairs: Sequence[tuple[Frame, Frame]]) -> list[int]:
    """Returns the lateness of each frame that arrived: the time in ns from its
    due time to its arrival. The first frame is due when it is sent, and the
    other frames follow at the frame rate of the film. If the network made the
    sender wait before it could send a frame, the waiting time also counts as
    lateness, because the viewer has to wait, too.
    """
    return [arrived.wall_ns - film[0].wall_ns
            - (sent.expected_ns - film[0].expected_ns)
            for sent, arrived in pairs]


def bits_per_second(frames: Sequence[Frame]) -> float:
    """Returns the bitrate of the frames: the sum of their sizes in bits,
    divided by a duration in s. The duration begins when the first frame
    arrives, and ends one frame period after the last frame arrives.
    """
    if len(frames) < 2:
        return 0.0
    steps = [b.expected_ns - a.expected_ns for a, b in zip(frames, frames[1:])]
    span = (frames[-1].arrival_ns - frames[0].arrival_ns
            + statistics.median(steps))
    bits = 8 * sum(frame.size for frame in frames)
    return bits / (span / NS_PER_S) if span > 0 else 0.0


class Result(typing.NamedTuple):
    sent: collections.Counter
    arrived: collections.Counter
    lost: collections.Counter
    decodable: collections.Counter
    # The losses that the receiver detected by itself, without the sender's
    # log.
    guessed_lost: collections.Counter
    incomplete: int
    foreign_frames: int
    bits_per_second: float
    delays_ns: list
    lateness_ns: list
    jitter_mean_ns: float
    jitter_max_ns: float
    # The 99th percentile of the lateness of the sender, in ns. The lateness is
    # the time by which the sender sends a frame after its due time.
    sender_late_ns: int


def measure(sent_log: Log, received_log: Log) -> Result:
    join = Join()
    join.add_sent(sent_log.frames)
    join.add_arrived(received_log.frames)
    sent = collections.Counter(frame.type for frame in sent_log.frames)
    arrived = collections.Counter(pair[0].type for pair in join.pairs)
    whole = {sent.coding_number for sent, _ in join.pairs}
    jitter = list(jitter_ns(received_log.frames))
    pace = [frame.latency_ns for frame in sent_log.frames]
    return Result(
        sent=sent,
        arrived=arrived,
        lost=sent - arrived,
        decodable=collections.Counter(
            frame.type for frame in decodable(sent_log.frames, whole)),
        guessed_lost=received_log.lost,
        incomplete=received_log.incomplete,
        foreign_frames=join.foreign_frames,
        bits_per_second=bits_per_second(received_log.frames),
        delays_ns=delays_ns(join.pairs),
        lateness_ns=lateness_ns(sent_log.frames, join.pairs),
        jitter_mean_ns=statistics.fmean(jitter) if jitter else 0.0,
        jitter_max_ns=max(jitter, default=0.0),
        sender_late_ns=percentile(pace, 99) if pace else 0,
    )


def table(result: Result,
          warnings: Sequence[str] | tuple[()] = ()) -> list[str]:
    """Formats `result` as a text table and returns its lines. Below the table
    are notes about the result, and the warnings of the pipelines (`warnings`).
    """
    types = FRAME_TYPES + "".join(
        sorted(set(result.sent) - set(FRAME_TYPES)))
    lines = ["frames   " + "".join(f"{name:>8}" for name in (*types, "all"))]
    for name in ("sent", "arrived", "lost", "decodable"):
        counts = getattr(result, name)
        lines.append(f"{name:9}"
                     + "".join(f"{counts[type]:8}" for type in types)
                     + f"{sum(counts.values()):8}")
    lines.append("")
    lines.append(f"bitrate  {result.bits_per_second / 1e6:.2f} Mbit/s of video")
    for name, times in (("latency", result.delays_ns),
                        ("lateness", result.lateness_ns)):
        if times:
            median, high, worst = (percentile(times, percent) / NS_PER_MS
                                   for percent in (50, 99, 100))
            lines.append(f"{name:8} median {median:.2f} ms, 99th percentile "
                         f"{high:.2f} ms, worst {worst:.2f} ms")
    lines.append(f"jitter   mean {result.jitter_mean_ns / NS_PER_MS:.2f} ms, "
                 f"highest {result.jitter_max_ns / NS_PER_MS:.2f} ms")
    return lines + [f"note     {note}" for note in (*notes(result), *warnings)]


def notes(result: Result) -> list[str]:
    """Returns remarks that the user should read before relying on the table.
    They report problems such as frames that arrived incomplete.
    """
    found = []
    if result.guessed_lost != result.lost:
        seen = ", ".join(f"{type} {count}" for type, count
                         in sorted(result.guessed_lost.items())) or "none"
        found.append("without the sender's log, the receiver "
                     f"counted as lost: {seen}")
    if result.incomplete:
        found.append(f"{result.incomplete} frames arrived incomplete "
                     "and were discarded")
    if result.foreign_frames:
        found.append(f"{result.foreign_frames} frames arrived with other bytes "
                     "than they were sent with")
    if result.sender_late_ns > 40 * NS_PER_MS:
        found.append(
            "the sender itself was up to "
            f"{result.sender_late_ns / NS_PER_MS:.0f} ms late (99th "
            "percentile), because the network made it wait or this machine was "
            "busy; in the latter case the times above are not reliable")
    return found
