# SPDX-License-Identifier: LGPL-2.1-or-later
"""Computes statistics of a link over time from the packets in its log: the
rate at which packets left the link, the time that packets stayed in the link,
and the intervals in which the queue of the link dropped packets.
"""

import math
from collections.abc import Sequence

from wirelesslab.streams import display, measurements

# Size in bytes. The packets of a handshake are smaller. The first packet that
# has at least this size therefore belongs to the first frame.
LARGE = 500
# The log of a link contains the fate of each packet, that is, what happened to
# it. These two fates mark packets that the queue of the link dropped: packets
# that found the queue full, and packets that were dropped together with their
# frame.
DROPPED = ("queue", "frame")


def begin_ns(packets: Sequence[measurements.Packet]) -> int:
    """Returns the time at which the stream begins, by the clock of the link.
    This is the time at which the first large packet enters the link. Small
    packets before it belong to a handshake.
    """
    if not packets:
        return 0
    return next((packet.arrival_ns for packet in packets
                 if packet.size >= LARGE), packets[0].arrival_ns)


def rates(packets: Sequence[measurements.Packet], end_ns: float,
          step_ns: float) -> list[float]:
    """Returns the rate in bit/s at which packets left the link, as a list with
    one value for each step of `step_ns` ns. The steps cover the
    first `end_ns` ns of the stream.
    """
    begin = begin_ns(packets)
    return display.rates(packets, begin, begin + end_ns, step_ns)


def sojourns_ns(packets: Sequence[measurements.Packet], end_ns: float,
                step_ns: float) -> list[float]:
    """Returns the maximum time in ns that a packet stayed in the link, as a
    list with one value for each step of `step_ns` ns. This time is the sum of
    the waiting time in the queue, the duration of all transmissions of the
    packet, and the delay of the link.

    The first step begins at the beginning of the stream, and the last step
    ends `end_ns` ns later. A packet belongs to the step in which it entered
    the link. Lost packets are ignored. If a step has no packets, its value is
    NaN.
    """
    begin = begin_ns(packets)
    found = [math.nan] * math.ceil(end_ns / step_ns)
    for packet in packets:
        if packet.is_lost() or not begin <= packet.arrival_ns < begin + end_ns:
            continue
        step = int((packet.arrival_ns - begin) // step_ns)
        sojourn = packet.departure_ns - packet.arrival_ns
        # found[step] is NaN until the first packet of the step. max() cannot
        # be used here, because max(NaN, sojourn) returns NaN. Every comparison
        # with NaN is False, so `not ... >= sojourn` is True for the first
        # packet.
        if not found[step] >= sojourn:
            found[step] = sojourn
    return found


def drops_ns(packets: Sequence[measurements.Packet], end_ns: float,
             step_ns: float) -> list[tuple[float, float]]:
    """Returns the intervals in which the queue dropped packets, as a list of
    pairs (begin, length) in ns. `begin` is counted from the start of the
    stream. The time is divided into steps of `step_ns` ns. A series of
    consecutive steps with dropped packets forms one interval.
    """
    begin = begin_ns(packets)
    found = []
    for step in sorted({int((packet.arrival_ns - begin) // step_ns)
                        for packet in packets if packet.fate in DROPPED
                        and begin <= packet.arrival_ns < begin + end_ns}):
        start = step * step_ns
        if found and sum(found[-1]) == start:
            found[-1] = (found[-1][0], found[-1][1] + step_ns)
        else:
            found.append((start, step_ns))
    return found
