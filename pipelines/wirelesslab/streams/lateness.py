# SPDX-License-Identifier: LGPL-2.1-or-later
"""Decides whether lateness makes the result of a run unreliable. The lateness
of the machine is the time by which processes wake up too late. The lateness of
the link is the time by which wirelesslink pushes packets too late.

Only some percentiles of the lateness are known. This module therefore makes
these assumptions:
- For 50 % of the frames, the lateness was the median.
- For 49 % of the frames, the lateness was between the median and the 99th
  percentile.
- For 1 % of the frames, the lateness was the maximum.

With these assumptions, it computes the result that the run would have had
without lateness. A run is flagged as unreliable if this result and the actual
result differ too much. docs/lab.md explains the limits.

A single stall at the start of the stream, for example during a handshake, is
checked separately. Such a stall delays all frames of the run by the length of
the stall.
"""

import bisect
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from wirelesslab.streams import frame_log, measurements
from wirelesslab.testbed import wakeup_delay

NS_PER_MS = 1e6
MS_PER_S = 1e3
# Limit in ms for the lateness of a frame. A frame that arrives later than this
# after its due time is useless. For a report, the user can choose another
# limit.
LATE_MS = 500
# Maps each statistic of the lateness to a percentile. The lateness of the
# machine has all of these statistics. The lateness of wirelesslink has only
# the median, the 99th percentile and the maximum.
STATISTICS = {"median": 50, "p75": 75, "p90": 90, "p95": 95, "p99": 99,
              "max": 100}
# Percentiles that approximate the distribution of a delay: the delay of frames
# because of late processes and a late wirelesslink. All frames between two of
# these percentiles are assumed to have the delay of the higher one. For
# example, 7 % of the frames are between the 50th and the 57th percentile. They
# are assumed to have the delay of the 57th percentile.
PERCENTS = (50, 57, 64, 71, 78, 85, 90, 95, 99, 100)
LINK_STATISTICS = ("median", "p99", "max")
# Two kinds of lateness are measured: how late processes wake up, and how late
# wirelesslink pushes packets. Usually wirelesslink is late because its process
# wakes up late. This is assumed if the 99th percentile of the first kind is at
# least SAME_CAUSE times the 99th percentile of the second kind.
SAME_CAUSE = 0.5
PARTS = ("machine", "link")
# Key in the results of a run, which results of older versions do not have. The
# value is a percentage of the sent frames. It assumes that the longest stall
# of the run was at the start of the stream and delayed all frames. The value
# counts the frames that were decodable in time without this delay, but not
# with it.
STALL = "stall_verdicts_percent"
# Maximum percentage of the sent frames whose verdict may be wrong because the
# measuring machine was busy. The verdict of a frame says whether the frame was
# decodable in time. On a busy machine, processes and the element wirelesslink
# do their work too late, so frames arrive later than they would otherwise. If
# this may have changed more verdicts, the run is flagged as unreliable.
MAX_VERDICTS = 1.0
# Limit for the effect of a stall at the start of the stream, in % of the sent
# frames. Such a stall delays all frames. Without it, some of the late frames
# might have been decodable in time. If their percentage exceeds the limit, the
# run is flagged as unreliable.
#
# The time of a stall is not known. The check therefore assumes that the
# longest stall of the run was at the start. Its length is the longest time by
# which a process woke up too late or wirelesslink pushed a packet too late. In
# nearly every run, a process wakes up 20 to 30 ms too late at least once, but
# rarely at the start. The assumption is therefore rarely true, and the limit
# is larger than MAX_VERDICTS, the limit for the effect of lateness during the
# whole run.
MAX_STALL_VERDICTS = 5.0
# Limits for the increase of the latency. If processes wake up too late, or
# wirelesslink pushes packets too late, the latency of the frames increases.
# The increase is computed for the median and for the 95th percentile. A run
# is flagged as unreliable if one of them increases by more than
# MAX_SHIFT_MS ms, and also by more than MAX_SHIFT times its measured value.
PERCENTILES = {"median": 50, "p95": 95}
MAX_SHIFT_MS, MAX_SHIFT = 10.0, 0.05
# Limit for the 99th percentile of the lateness in ms, half of a frame period.
# It applies to both kinds of lateness: how late processes wake up, and how
# late wirelesslink pushes packets. If one of them exceeds the limit, the run
# is flagged as unreliable. The reason is that a late sender sends bursts, and
# a transport may mistake the delay for congestion. The other checks do not
# detect these effects, because they use only the times of the frames.
MAX_P99_MS = 20.0
# Limit for the 99th percentile of the lateness in ms, in runs that do not send
# video. It applies to both kinds of lateness: how late processes wake up, and
# how late wirelesslink pushes packets. If one of them exceeds the limit, the
# run is flagged as unreliable. The limit is low, because these runs contain
# exchanges of messages that take only a few ms.
MS_LATE = 1.0

Lateness = dict[str, Any]


def wakeups(late_ms: Sequence[float]) -> list[float]:
    """Returns the lateness in ms of each wake-up that was due. If the machine
    did not run the process for some time, several wake-ups were due in that
    time, but only one took place. `late_ms` contains the lateness of this one,
    which is the lateness of the first wake-up that was due. The lateness of
    each following one is smaller by the interval between two wake-ups.
    """
    every = wakeup_delay.SECONDS_BETWEEN * MS_PER_S
    return [late - every * missed for late in late_ms
            for missed in range(max(1, math.ceil(late / every)))]


def describe(late_ms: Sequence[float],
             link_ns: Sequence[Mapping[str, int] | None]) -> Lateness:
    """Returns statistics of the lateness of a run: how late processes woke up,
    and how late the links pushed packets. If there are several links, each
    statistic is the maximum over the links. If a link did not report its
    lateness, the statistics of the links are None.
    """
    found, late_ms = {}, wakeups(late_ms)
    known = link_ns and None not in link_ns
    for name, percent in STATISTICS.items():
        found[f"machine_{name}_ms"] = (
            frame_log.percentile(late_ms, percent) if late_ms else None)
        if name in LINK_STATISTICS:
            found[f"link_{name}_ms"] = (
                max(link[name] for link in link_ns) / NS_PER_MS if known
                else None)
    return found


def percentile_of(lateness: Lateness, part: str, percent: int) -> float:
    """Returns a percentile of the lateness of `part`, in ms. For the part
    "machine", lateness is the time by which processes wake up too late. For
    the part "link", it is the time by which wirelesslink pushes packets too
    late.

    If the percentile was not measured, it is interpolated between the next
    lower and the next higher measured percentile. Most values of the lateness
    are near the median, and few are much larger. An interpolated value is
    therefore rather too large than too small.
    """
    known = [(own, max(ms, 0.0)) for name, own in STATISTICS.items()
             if (ms := lateness.get(f"{part}_{name}_ms")) is not None]
    for (low, low_ms), (high, high_ms) in itertools.pairwise(known):
        if low <= percent <= high:
            return low_ms + (high_ms - low_ms) * (percent - low) / (high - low)
    # Results of older versions contain no other percentile of the lateness
    # than the 99th.
    return known[0][1]


def percentile_of_link(lateness: Lateness, percent: int) -> float:
    """Returns a percentile of the lateness of the link, in ms. This lateness
    is the time by which wirelesslink pushes packets too late. Only its median,
    its 99th percentile and its maximum were measured. Percentiles between the
    median and the 99th percentile are estimated in one of two ways:

    - Usually wirelesslink is late because its process wakes up late. The
      percentiles of the link are then assumed to rise from the median to the
      99th percentile in the same proportion as the percentiles of the wake-up
      delays.
    - If processes woke up much less late than wirelesslink pushed packets,
      wirelesslink has another reason to be late. The percentile is then
      interpolated linearly.
    """
    machine = [percentile_of(lateness, "machine", own)
               for own in (50, percent, 99)]
    link = [percentile_of(lateness, "link", own) for own in (50, 99)]
    if not 50 < percent < 99 or machine[2] <= machine[0] \
            or machine[2] < link[1] * SAME_CAUSE:
        return percentile_of(lateness, "link", percent)
    rise = (machine[1] - machine[0]) / (machine[2] - machine[0])
    return link[0] + (link[1] - link[0]) * rise


def steps(lateness: Lateness) -> list[tuple[float, float]] | None:
    """Returns the distribution of the lateness, or None if a measurement is
    missing. The distribution is a list of pairs (lateness in ms, share of the
    frames that were late by this time).
    """
    if None in [lateness[f"{part}_p99_ms"] for part in PARTS]:
        return None
    return [(percentile_of(lateness, "machine", percent)
             + percentile_of_link(lateness, percent), (percent - before) / 100)
            for before, percent in itertools.pairwise((0, *PERCENTS))]


def stall_ms(lateness: Lateness) -> float:
    """Returns the length of the longest stall in ms: the larger one of the
    longest stall of the machine and the longest stall of the link. They are
    not added, because the link also stalls when the machine stalls.
    """
    return max(percentile_of(lateness, part, 100) for part in PARTS)


def without_maximum(late: Sequence[tuple[float, float]]
                    ) -> list[tuple[float, float]]:
    """Returns a copy of `late` in which the maximum lateness is replaced by
    the 99th percentile. `late` is a list of pairs (lateness in ms, share of
    the frames that had this lateness), and its last pair has the maximum.

    Percentiles of the latency are computed from this copy. The maximum often
    comes from a single late wake-up, which delays only one frame. The delay of
    one frame does not change a percentile, so the maximum must not count for 1
    % of the frames.
    """
    return [*late[:-1], (late[-2][0], late[-1][1])]


def changed_verdicts(passages: Sequence[measurements.Passage],
                     late: Sequence[tuple[float, float]],
                     late_ms: float) -> float:
    """Returns the effect of lateness as a percentage of the sent frames. It
    counts the frames that were not decodable in time, but would have been
    without the lateness. `late` is the distribution of the lateness, as
    steps() returns it.
    """
    def decodable(ms: float) -> int:
        return len(measurements.decodable(passages, ms * NS_PER_MS))

    now = decodable(late_ms)
    more = sum(share * (decodable(late_ms + ms) - now) for ms, share in late)
    return 100 * more / len(passages) if passages else 0.0


def percentile_without(latency_ms: Sequence[float],
                       late: Sequence[tuple[float, float]],
                       percent: float) -> float:
    """Returns a percentile of the latency that the frames would have had
    without lateness, in ms. `latency_ms` contains the measured latencies.
    `late` is the distribution of the lateness, as steps() returns it. The
    lateness is subtracted from the measured latencies. For the median,
    `percent` is 50.
    """
    earlier = sorted((own - ms, share) for own in latency_ms
                     for ms, share in late)
    sums = list(itertools.accumulate(share for _, share in earlier))
    # The percentile is the first value at which the sum of the shares reaches
    # `percent` % of the total. Because of rounding errors, the sum may be
    # slightly too small at this value. The tolerance of 1e-9 allows for them.
    place = bisect.bisect_left(sums, sums[-1] * percent / 100 - 1e-9)
    return earlier[min(place, len(earlier) - 1)][0]


def effect(passages: Sequence[measurements.Passage],
           late: Sequence[tuple[float, float]], stall_ms: float,
           late_ms: float) -> dict[str, float]:
    """Estimates how much lateness changed the results of a stream. The
    lateness is the time by which processes woke up too late or wirelesslink
    pushed packets too late. Returns a dictionary that maps names such as
    "verdicts_percent" to numbers.

    - `passages` contains the frames of the stream with their times.
    - `late` is the distribution of the lateness, as steps() returns it.
    - `stall_ms` is the length of the longest stall. The function assumes that
      it delayed the start of the stream.
    - `late_ms` is the limit above which a frame counts as late.
    """
    found = {"verdicts_percent": changed_verdicts(passages, late, late_ms),
             STALL: changed_verdicts(passages, [(stall_ms, 1)], late_ms)}
    latency_ms = [ns / NS_PER_MS for ns in measurements.latencies_ns(passages)]
    for name, percent in PERCENTILES.items() if latency_ms else ():
        own = frame_log.percentile(latency_ms, percent)
        found[f"{name}_ms"] = own
        found[f"{name}_shift_ms"] = own - percentile_without(
            latency_ms, without_maximum(late), percent)
    return found


def reasons(found: Mapping[str, float]) -> list[str]:
    """Returns the parts of a sentence that says why a run is unreliable.
    `found` is a result of effect(). Each of its values that exceeds a limit
    yields one part.
    """
    words = []
    if found["verdicts_percent"] > MAX_VERDICTS:
        words.append(
            f"whether {found['verdicts_percent']:.2f} % of the frames were "
            "decodable in time")
    if found.get(STALL, 0) > MAX_STALL_VERDICTS:
        words.append(
            f"whether {found[STALL]:.2f} % of the frames were decodable in "
            "time, if the longest stall delayed the start")
    for name, percent in PERCENTILES.items():
        shift_ms = found.get(f"{name}_shift_ms", 0)
        if shift_ms > max(MAX_SHIFT_MS,
                          MAX_SHIFT * found.get(f"{name}_ms", 0)):
            what = "median" if percent == 50 else f"{percent}th percentile"
            words.append(f"the {what} of the latency by {shift_ms:.1f} ms")
    return words


def grade(lateness: Lateness,
          streams: Sequence[Sequence[measurements.Passage]],
          late_ms: float = LATE_MS) -> Lateness:
    """Decides whether lateness makes the result of a run unreliable.
    `lateness` contains the measured lateness. Returns a copy of it with three
    more entries: `late_ms`, the effect of the lateness on each stream, and
    whether the run is flagged as unreliable. `late_ms` is the limit in ms
    above which a frame counts as late. If a measurement is missing, the run is
    flagged, because it may be unreliable.
    """
    late = steps(lateness)
    effects = [effect(passages, late, stall_ms(lateness), late_ms)
               for passages in streams] if late else []
    return {**lateness, "late_ms": late_ms, "effects": effects,
            "flagged": not late or any(map(reasons, effects))
            or is_above(lateness, MAX_P99_MS)}


def is_above(lateness: Lateness, limit_ms: float) -> bool:
    """Returns True if the lateness exceeds a limit. There are two kinds of
    lateness: how late processes woke up, and how late wirelesslink pushed
    packets. The result is True if the 99th percentile of one of them exceeds
    `limit_ms` or is unknown.
    """
    return any(ms is None or ms > limit_ms
               for ms in (lateness[f"{part}_p99_ms"] for part in PARTS))


def is_graded(lateness: Lateness, late_ms: float) -> bool:
    """Returns whether `lateness` is a result of grade() with the limit
    `late_ms`. A result of an older version of this program does not count.
    """
    return lateness.get("late_ms") == late_ms and is_of_this_version(lateness)


def is_of_this_version(lateness: Lateness) -> bool:
    return "effects" in lateness and all(STALL in found
                                         for found in lateness["effects"])


def grade_constant(lateness: Lateness) -> Lateness:
    """Returns a copy of `lateness` with the additional entry "flagged", for a
    run that does not send video. The run is flagged as unreliable if the 99th
    percentile of the lateness exceeds MS_LATE or is not known.
    """
    return {**lateness, "flagged": is_above(lateness, MS_LATE)}


def words(lateness: Lateness) -> str:
    """Returns a text that says why a run was flagged as unreliable. `lateness`
    is a result of grade(), possibly from an older version of this program.
    """
    times = [f"{part} {shown(lateness.get(f'{part}_p99_ms'))} and "
             f"{shown(lateness.get(f'{part}_max_ms'))}"
             for part in (*PARTS, "encoder") if f"{part}_p99_ms" in lateness]
    why = list(dict.fromkeys(
        words for found in lateness.get("effects", ())
        for words in reasons(found)))
    what = f"lateness may have changed {', '.join(why)}" if why \
        else "the lateness was not measured" if not steps(lateness) \
        else "the machine, the link or the encoder was too late"
    return f"{what} (99th percentile and maximum: {', '.join(times)})"


def shown(ms: float | None) -> str:
    return "unknown" if ms is None else f"{ms:.2f} ms"
