# SPDX-License-Identifier: LGPL-2.1-or-later
"""Computes the result of a sender with perfect foresight, which knows when the
link can deliver how many bytes. The result says how many frames of a stream
could have been decodable in time over this link. This module starts no
processes and reads no files.

The result is the optimum, not a heuristic. The time from the due time to the
deadline is the same for all frames, so the order of the stream is also the
order of the deadlines. Therefore it is optimal to send the chosen frames in
the order of the stream (Jackson 1955, earliest due date first).

The capacity of the link is a sequence of opportunities. Each opportunity is a
number of bytes that the link can deliver. A chosen frame uses up the bytes of
the next opportunities that are left. Whether the frame arrives in time depends
only on how many bytes have been used up in total when the frame has been sent.

A dynamic program goes through the frames. For each number of decodable frames,
it keeps the choice of frames that uses up the smallest number of bytes,
because this choice leaves most bytes for the later frames. See Lawler and
Moore (1969) and, for jobs whose release times and deadlines have the same
order, Kise, Ibaraki and Mine (1978).
"""

from __future__ import annotations

import bisect
import itertools
import math
import typing
from collections.abc import Iterable, Sequence

from wirelesslab.streams import frame_log, measurements


class Opportunity(typing.NamedTuple):
    """An opportunity to deliver bytes. `size` is the number of bytes that the
    link can deliver at once, and `arrival_ns` is the time at which these bytes
    arrive. All times are in ns, by the clock of the link.
    """

    # The latest time at which the link can accept the bytes, so that they
    # still arrive at `arrival_ns`.
    taken_ns: float
    arrival_ns: float
    size: int


class Supply:
    """The capacity of the links that carry a stream, as a function of time. It
    says how many bytes the links can accept before a given time, and how many
    bytes can arrive by a given time.
    """

    def __init__(self, opportunities: Iterable[Opportunity],
                 max_delay_ns: float = math.inf) -> None:
        """`opportunities` are the opportunities of the links to deliver bytes.
        If the bytes of an opportunity need more than `max_delay_ns` ns to
        cross the link, they always arrive too late, and the opportunity is
        ignored.
        """
        usable = [one for one in opportunities
                  if one.arrival_ns - one.taken_ns <= max_delay_ns]
        self._taken = _Sum((one.taken_ns, one.size) for one in usable)
        self._arrived = _Sum((one.arrival_ns, one.size) for one in usable)

    def gone(self, time_ns: float) -> int:
        """Returns the number of bytes that the link could have accepted before
        `time_ns`. A frame that is ready at `time_ns` is too late to use this
        capacity.
        """
        return self._taken.before(time_ns)

    def delivered(self, time_ns: float) -> int:
        """Returns the number of bytes that can arrive until `time_ns`,
        including this time.
        """
        return self._arrived.until(time_ns)


class _Sum:
    """A sum that grows with time. It is made from events, which are pairs
    (time, size). At the time of an event, the size is added to the sum.
    """

    def __init__(self, events: Iterable[tuple[float, int]]) -> None:
        ordered = sorted(events)
        self._times = [time for time, _ in ordered]
        self._sums = [0, *itertools.accumulate(size for _, size in ordered)]

    def before(self, time: float) -> int:
        return self._sums[bisect.bisect_left(self._times, time)]

    def until(self, time: float) -> int:
        return self._sums[bisect.bisect_right(self._times, time)]


class Job(typing.NamedTuple):
    """A frame that a sender with perfect foresight may send over the link. The
    times are in ns, by the clock of the link.
    """

    frame: frame_log.Frame
    # The earliest time at which the link can send the frame.
    release_ns: float
    # The time by which the last byte of the frame has to arrive.
    deadline_ns: float


def jobs(passages: Sequence[measurements.Passage], begin_ns: float,
         late_ns: float) -> list[Job]:
    """Returns a Job for each frame of a run: the earliest time at which the
    link may send the frame, and the deadline of the frame. `begin_ns` is the
    time at which the run sent the first frame.

    The earliest time is normally the due time of the frame. Because of the
    jitter of the machine, a run may send a frame before its due time. In this
    case, the earliest time is the time at which the run sent the frame. The
    deadline is `late_ns` after the due time.

    The due times normally have the order of the stream. If they do not, this
    function decreases the earliest times and increases the deadlines until
    both have this order. This gives the link more time for each frame. The
    function best() may therefore choose more frames than the link could really
    deliver in time, but never fewer.
    """
    releases = list(itertools.accumulate(
        (min(way.due_ns, way.sent_ns) for way in reversed(passages)), min))
    deadlines = itertools.accumulate(
        (way.due_ns + late_ns for way in passages), max)
    return [Job(way.frame, begin_ns + release, begin_ns + deadline)
            for way, release, deadline in zip(
                passages, reversed(releases), deadlines)]


class _Plan(typing.NamedTuple):
    """A partial solution of best(): for each frame that best() has examined so
    far, the decision whether the frame is sent. The frames that are sent are
    called the chosen frames.
    """

    # The number of frames that can be decoded if exactly the chosen frames are
    # sent.
    count: int
    # The number of bytes of the link's capacity that later frames can no
    # longer use. It is the sum of two parts: the bytes that the chosen frames
    # use, and the bytes that stay unused. A byte stays unused if the link
    # could have carried it at a time when no frame was ready.
    used: int
    # The numbers of the chosen frames as a linked list: (number of the last
    # frame, list of the frames before it). The empty list is None.
    chosen: tuple | None


def best(work: Sequence[Job], supply: Supply) -> list[int]:
    """Chooses the frames that a sender with perfect foresight sends: the
    largest possible number of frames that are all decodable in time. Returns
    the indices of the chosen frames in `work`.
    """
    # The best partial solutions so far. A partial solution (_Plan) is a choice
    # of frames to send. It leads to a state of the decoder, which is a pair of
    # truth values: whether the last but one I- or P-frame can be decoded, and
    # whether the last I- or P-frame can be decoded. `plans` is {state: list of
    # the partial solutions that lead to this state}.
    plans = {(False, False): [_Plan(0, 0, None)]}
    for number, job in enumerate(work):
        gone = supply.gone(job.release_ns)
        limit = supply.delivered(job.deadline_ns)
        found: dict[tuple[bool, bool], list[_Plan]] = {}
        for state, own in plans.items():
            without = _after(job.frame, state, False)
            waiting = [plan._replace(used=max(plan.used, gone))
                       for plan in own]
            found.setdefault(without, []).extend(waiting)
            if not _can_decode(job.frame, state):
                continue
            found.setdefault(_after(job.frame, state, True), []).extend(
                _Plan(plan.count + 1, plan.used + job.frame.size,
                      (number, plan.chosen))
                for plan in waiting if plan.used + job.frame.size <= limit)
        plans = {state: _undominated(own) for state, own in found.items()}
    last = max((plan for own in plans.values() for plan in own),
               key=lambda plan: plan.count).chosen
    numbers = []
    while last:
        number, last = last
        numbers.append(number)
    return numbers[::-1]


def _undominated(plans: list[_Plan]) -> list[_Plan]:
    """Returns those plans that can still lead to the best result. A plan is
    left out if another plan is at least as good in both respects: it has at
    least as many decodable frames, and it has used at most as many bytes of
    the link.
    """
    found, min_used = [], math.inf
    for plan in sorted(plans, key=lambda plan: (-plan.count, plan.used)):
        if plan.used < min_used:
            found.append(plan)
            min_used = plan.used
    return found


# In the following functions, the state of a decoder is a pair of truth values.
# The first value says whether the last but one I- or P-frame can be decoded.
# The second value says whether the last I- or P-frame can be decoded. A
# P-frame refers to the last I- or P-frame, and a B-frame refers to the last
# two of them. The function decodable() of frame_log uses the same rules.

def _can_decode(frame: frame_log.Frame, state: tuple[bool, bool]) -> bool:
    older, newer = state
    return {"P": newer, "B": older and newer}.get(frame.type, True)


def _after(frame: frame_log.Frame, state: tuple[bool, bool],
           good: bool) -> tuple[bool, bool]:
    if frame.type not in ("I", "P"):
        return state
    older, newer = state[1], good
    if frame.type == "I" and frame.closed:
        older = True
    if frame.type == "I" and frame.broken:
        older = False
    return older, newer
