# SPDX-License-Identifier: LGPL-2.1-or-later
"""Computes how early the frames of a stream can arrive over one link or over
several links at once, if they are sent in the order of the stream. This module
starts no processes and reads no files.

A frame arrives after all frames before it, because a frame is of no use before
the frames to which it refers. For each frame, the result is the earliest time
that any sender can reach. One sender may not reach all of these times: it may
have to choose whether a frame uses the slow link, so that the fast link stays
free for a later frame.
"""

import bisect
import math
from collections.abc import Sequence

from wirelesslab.streams import possible


def earliest_ns(work: Sequence[possible.Job],
                links: Sequence[Sequence[possible.Opportunity]]) -> list[float]:
    """Returns the earliest arrival of each frame in `work`, in ns by the same
    clock as the times in `work`. It is infinite if the links cannot carry the
    frame at all. `links` contains the opportunities of each link, in the order
    of their times. Deadlines are ignored.

    For each frame, the function examines all sequences of frames that end with
    it. All bytes of such a sequence have to use opportunities that begin when
    its first frame exists, or later. The last frame cannot arrive before these
    opportunities have enough room. The longest of these times is the result,
    and by Hall's theorem (1935) this time is sufficient, too.
    """
    supplies = [possible.Supply(link) for link in links]
    times = sorted({one.arrival_ns for link in links for one in link})
    found: list[float] = []
    for number in range(len(work)):
        place = size = 0
        for first in range(number, -1, -1):
            size += work[first].frame.size
            place = _find_room(times, place, supplies, work[first], size)
            # If all earlier frames can arrive before this one exists, they
            # leave all later opportunities to it.
            if first > 0 and found[first - 1] < work[first].release_ns:
                break
        found.append(times[place] if place < len(times) else math.inf)
    return found


def _find_room(times: Sequence[float], low: int,
               supplies: Sequence[possible.Supply], first: possible.Job,
               size: int) -> int:
    """Returns the index of the earliest time in `times` by which the links can
    deliver `size` bytes that exist when the frame `first` exists. Times with
    an index below `low` are not examined. Returns the length of `times` if
    there is no such time.
    """
    gone = [supply.gone(first.release_ns) for supply in supplies]

    def has_room(time: float) -> bool:
        # On a link with a long delay, bytes that exist now arrive much later.
        # What arrives before that has been sent earlier, and must not be
        # subtracted from the room on the other links.
        return sum(max(0, supply.delivered(time) - before)
                   for supply, before in zip(supplies, gone)) >= size

    return bisect.bisect_left(times, True, lo=low, key=has_room)
