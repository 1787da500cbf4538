# SPDX-License-Identifier: LGPL-2.1-or-later
"""Computes which pictures of a live encoder's stream a viewer sees, and when.
The only input is the logs of the captured, the encoded and the received
frames. This module starts no processes.

Each frame of the encoder, except for a key frame, refers to the frame before
it. A decoder can therefore show a frame when this frame and all frames since
the last key frame have arrived. A frame is shown only if it can be decoded
within a time limit after its capture. A frame that exceeds the limit is not
shown, but it is still decoded, because later frames refer to it.
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
# Duration in ns of the start of a stream. Encoding times during the start are
# not used, because the encoder has just begun and may be slow.
START_NS = 1e9
NEVER = math.inf


class Frame(typing.NamedTuple):
    """The times of a frame in ns. They are counted from the time at which the
    first frame was due to be captured.
    """

    captured_ns: float
    # The time at which the encoder output the frame, in ns.
    sent_ns: float
    # The time at which the frame arrived, or NEVER if it did not arrive
    # completely.
    arrived_ns: float
    is_key: bool
    size: int


def read_log(path: pathlib.Path) -> frame_log.Log:
    log = frame_log.Log(path)
    log.read()
    return log


def read(captured: Sequence[frame_log.Frame], sent_log: frame_log.Log,
         received_log: frame_log.Log) -> list[Frame]:
    """Joins the logs of the captured, the sent and the received frames.
    Returns one Frame for each captured frame.

    `captured_ns` of a Frame is not the logged time of the capture, but the
    time at which the frame was due to be captured. The due times follow the
    frame rate of the source. The first due time is chosen so that no frame was
    captured too early, and at least one frame was captured exactly on time.
    """
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
    """Raises LabError if the encoder has not made exactly one frame for each
    captured picture, or if it has made other frames than I- and P-frames. If
    neither is the case, the frame with the index n in `sent` belongs to the
    picture with the index n in `captured`.
    """
    if len(sent) != len(captured):
        raise LabError(f"the encoder made {len(sent)} frames of "
                       f"{len(captured)} pictures")
    if any(frame.type not in "IP" for frame in sent):
        raise LabError("the encoder made frames that others do not refer to, "
                       "such as B-frames: set tune=zerolatency")


def encoding_ns(captured: Sequence[frame_log.Frame],
                sent: Sequence[frame_log.Frame]) -> list[int]:
    """Returns, for each frame, the time from its capture to its output by the
    encoder. Frames of the first second are left out, because the encoder has
    just started. A sink that blocks does not increase these times. It delays
    the capture of the next frame, but the time of this next frame is counted
    only from its capture on.
    """
    check_encoded(captured, sent)
    return [frame.wall_ns - picture.wall_ns
            for picture, frame in zip(captured, sent)
            if picture.expected_ns >= START_NS]


# -------------------------------------------------------------------- pictures

def decodable_ns(frames: Sequence[Frame]) -> list[float]:
    """Returns, for each frame, the time from which on it can be shown, in ns.
    Each frame except a key frame refers to the frame before it. A frame can
    therefore be shown when this frame and all frames since the last key frame
    have arrived.
    """
    found, ready = [], NEVER
    for frame in frames:
        ready = frame.arrived_ns if frame.is_key \
            else max(ready, frame.arrived_ns)
        found.append(ready)
    return found


def delays_ns(frames: Sequence[Frame], late_ns: float) -> list[float]:
    """Returns the delay of each frame from its capture to its display, in ns.
    The delay is infinite if the frame is not shown. A frame is not shown if
    this frame or a frame to which it refers is missing. It is also not shown
    if it can be decoded only more than `late_ns` ns after its capture.
    """
    return in_time([ready - frame.captured_ns for frame, ready
                    in zip(frames, decodable_ns(frames))], late_ns)


def in_time(delays: Sequence[float], late_ns: float) -> list[float]:
    return [delay if delay <= late_ns else NEVER for delay in delays]


def shown(delays: Sequence[float]) -> list[int | None]:
    """Returns what the viewer sees, as a list with one item for each frame
    period. The item is the number of the frame that is on the screen: the
    frame of this period or, if that frame is not shown, the last frame that
    was shown before. The item is None if no frame has been shown yet. `delays`
    has the delay of each frame. An infinite delay means that the frame is not
    shown.
    """
    found, last = [], None
    for number, delay in enumerate(delays):
        last = last if math.isinf(delay) else number
        found.append(last)
    return found


def freezes_ns(frames: Sequence[Frame], delays: Sequence[float],
               period_ns: float, longer_than: float = FREEZE_NS) -> list[float]:
    """Returns the durations in ns of all freezes that are longer than
    `longer_than` ns. A freeze is a time without a new picture. If the first n
    frames or the last n frames of the stream are not shown, they count as a
    freeze of n frame periods.
    """
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
    """Returns the number of bytes that left the link between two times,
    `begin_ns` and `end_ns`.
    """
    return sum(packet.size for packet in packets if not packet.is_lost()
               and begin_ns <= packet.departure_ns < end_ns)


def rates(packets: Sequence[measurements.Packet], begin_ns: float,
          end_ns: float, step_ns: float) -> list[float]:
    """Returns the rate in bit/s at which bytes left the link, as a list with
    one value for each interval. The time from `begin_ns` to `end_ns` is
    divided into intervals of `step_ns` ns.
    """
    found = [0.0] * math.ceil((end_ns - begin_ns) / step_ns)
    for packet in packets:
        if not packet.is_lost() and begin_ns <= packet.departure_ns < end_ns:
            found[int((packet.departure_ns - begin_ns) // step_ns)] += \
                8 * packet.size / (step_ns / NS)
    return found
