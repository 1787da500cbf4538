# SPDX-License-Identifier: LGPL-2.1-or-later
"""Computes which pictures of a live encoder's stream a viewer sees, and when,
from the logs of captured, encoded and received frames. It starts no processes
and reads no files but the logs.

Each frame of the encoder refers to the frame before it, but for a key frame. A
decoder that decodes all that it gets, in order, can therefore show a frame when
the frame and all those since the last key frame have arrived. A frame that can
be shown later than the limit after its capture is dropped. It still serves
later frames as a reference.
"""

from __future__ import annotations

import itertools
import math
import pathlib
import typing
from collections.abc import Sequence

from wirelesslab.errors import LabError
from wirelesslab.streams import frame_log, measurements

NS = 1e9
FREEZE_NS = 200e6
START_NS = 1e9  # for which an encoder may be slow, as it has just begun
NEVER = math.inf


class Frame(typing.NamedTuple):
    """Times in ns since the first frame was due to be captured."""

    captured_ns: float
    sent_ns: float  # by the encoder
    arrived_ns: float  # NEVER where it did not arrive whole
    is_key: bool
    size: int


def read_log(path: pathlib.Path) -> frame_log.Log:
    log = frame_log.Log(path)
    log.read()
    return log


def read(captured: Sequence[frame_log.Frame], sent_log: frame_log.Log,
         received_log: frame_log.Log) -> list[Frame]:
    """A frame is captured when it is due at the pace of the source. That pace
    is that of the frame which was least late."""
    sent = sent_log.frames
    check_encoded(captured, sent)
    if not captured:
        return []
    begin_ns = min(picture.wall_ns - picture.expected_ns
                   for picture in captured)
    pairs = measurements.join(sent_log, received_log)
    return [Frame(
        picture.expected_ns,
        frame.wall_ns - begin_ns,
        pairs[frame.coding_number][1].wall_ns - begin_ns
        if frame.coding_number in pairs else NEVER,
        frame.type == "I", frame.size)
        for picture, frame in zip(captured, sent)]


def check_encoded(captured: Sequence[frame_log.Frame],
                  sent: Sequence[frame_log.Frame]) -> None:
    """LabError unless the encoder made one frame of each picture, in order."""
    if len(sent) != len(captured):
        raise LabError(f"the encoder made {len(sent)} frames of "
                       f"{len(captured)} pictures")
    if any(frame.type not in "IP" for frame in sent):
        raise LabError("the encoder made frames that others do not refer to, "
                       "such as B-frames: set tune=zerolatency")


def encoding_ns(captured: Sequence[frame_log.Frame],
                sent: Sequence[frame_log.Frame]) -> list[int]:
    """How long each frame took from its capture through the encoder, without
    those of the time in which the encoder starts. A sink that blocks does not
    count, because it blocks before the next capture."""
    check_encoded(captured, sent)
    return [frame.wall_ns - picture.wall_ns
            for picture, frame in zip(captured, sent)
            if picture.expected_ns >= START_NS]


# -------------------------------------------------------------------- pictures

def decodable_ns(frames: Sequence[Frame]) -> list[float]:
    """When each frame can be shown: when it and all those since the last key
    frame have arrived."""
    found, ready = [], NEVER
    for frame in frames:
        ready = frame.arrived_ns if frame.is_key \
            else max(ready, frame.arrived_ns)
        found.append(ready)
    return found


def delays_ns(frames: Sequence[Frame], late_ns: float) -> list[float]:
    """From the capture of each frame to its display. A frame that is never
    shown, or is dropped because it is late, is infinitely late."""
    delays = [ready - frame.captured_ns
              for frame, ready in zip(frames, decodable_ns(frames))]
    return [delay if delay <= late_ns else NEVER for delay in delays]


def shown(delays: Sequence[float]) -> list[int | None]:
    """For each frame period, the number of the frame that is seen: its own or
    the last one that was shown; None before the first."""
    found, last = [], None
    for number, delay in enumerate(delays):
        last = last if math.isinf(delay) else number
        found.append(last)
    return found


def freezes_ns(frames: Sequence[Frame], delays: Sequence[float],
               period_ns: float, longer_than: float = FREEZE_NS) -> list[float]:
    """How long each freeze is: a time without a new picture. Before the first
    picture and behind the last one, each frame that was not shown is a frame
    period."""
    visible = [number for number, delay in enumerate(delays)
               if not math.isinf(delay)]
    if not visible:
        gaps = [len(frames) * period_ns]
    else:
        times = [frames[number].captured_ns + delays[number]
                 for number in visible]
        gaps = [visible[0] * period_ns,
                *(after - before for before, after
                  in itertools.pairwise(times)),
                (len(frames) - 1 - visible[-1]) * period_ns]
    return [gap for gap in gaps if gap > longer_than]


# ------------------------------------------------------------------------ link

def carried(packets: Sequence[measurements.Packet], begin_ns: float,
            end_ns: float) -> int:
    """Bytes that came out of the link in that time"""
    return sum(packet.size for packet in packets if not packet.is_lost()
               and begin_ns <= packet.departure_ns < end_ns)


def rates(packets: Sequence[measurements.Packet], begin_ns: float,
          end_ns: float, step_ns: float) -> list[float]:
    """bit/s that came out of the link, for each step of that time"""
    found = [0.0] * math.ceil((end_ns - begin_ns) / step_ns)
    for packet in packets:
        if not packet.is_lost() and begin_ns <= packet.departure_ns < end_ns:
            found[int((packet.departure_ns - begin_ns) // step_ns)] += \
                8 * packet.size / (step_ns / NS)
    return found
