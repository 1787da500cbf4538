# SPDX-License-Identifier: LGPL-2.1-or-later
"""Decides whether lateness makes the result of a run unreliable. The lateness
of the machine is the time by which processes wake up too late. The lateness of
the link is the time by which the element wirelesslink, which emulates the
link, pushes packets too late.

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
# The statistics of the lateness, as {name: percentile}. All of them are
# measured for the lateness of the machine, which is the time by which
# processes wake up too late. For the lateness of the element wirelesslink,
# only the median, the 99th percentile and the maximum are measured.
STATISTICS = {"median": 50, "p75": 75, "p90": 90, "p95": 95, "p99": 99,
              "max": 100}
# A frame is late because processes wake up too late and because the element
# wirelesslink pushes packets too late. The lateness of each single frame is
# not known. Its distribution is therefore approximated by these percentiles.
# All frames between two of the percentiles are assumed to have the lateness of
# the higher one. For example, 7 % of the frames are between the 50th and the
# 57th percentile. They are assumed to have the lateness of the 57th
# percentile.
PERCENTS = (50, 57, 64, 71, 78, 85, 90, 95, 99, 100)
LINK_STATISTICS = ("median", "p99", "max")
# Two kinds of lateness are measured: the machine lateness, which is the time
# by which processes wake up too late, and the link lateness, which is the time
# by which the element wirelesslink pushes packets too late. Usually
# wirelesslink is late because its process wakes up late. This is assumed if
# the 99th percentile of the machine lateness is at least SAME_CAUSE times the
# 99th percentile of the link lateness.
SAME_CAUSE = 0.5
PARTS = ("machine", "link")
# Key of a value in the results of a run. The value is the percentage of the
# sent frames that missed their deadline only because of a stall at the start
# of the stream. Without the stall, these frames would have been decodable in
# time. The percentage is an estimate. It assumes that the longest stall of the
# run was at the start and delayed all frames.
#
# The results of older versions of this program do not have this key.
STALL = "stall_verdicts_percent"
# Maximum percentage of the sent frames whose verdict may be wrong because the
# measuring machine was busy. The verdict of a frame says whether the frame was
# decodable in time. On a busy machine, processes and the element wirelesslink
# do their work too late, so a frame may miss its deadline only for this
# reason. If the percentage of frames with a possibly wrong verdict exceeds the
# limit, the run is flagged as unreliable.
MAX_VERDICTS = 1.0
# Limit for the effect of a stall at the start of the stream, in % of the sent
# frames. A stall is a time in which the busy machine does not run a process. A
# stall at the start delays all frames. Some frames then miss their deadline,
# although they would have been decodable in time without the stall. If the
# percentage of these frames exceeds the limit, the run is flagged as
# unreliable.
#
# It is known only how long the longest stall of a run was, but not when it
# took place. The check assumes the worst case, a stall at the start. Two
# maxima were measured: the longest time by which a process woke up too late,
# and the longest time by which the element wirelesslink pushed a packet too
# late. The check takes the larger of the two maxima as the length of the
# longest stall.
#
# In nearly every run, a process wakes up 20 to 30 ms too late at least once,
# but rarely at the start. Because the worst case is rare, this limit is larger
# than MAX_VERDICTS, the limit for the effect of lateness during the whole run.
MAX_STALL_VERDICTS = 5.0
# Limits for the increase of the latency. If processes wake up too late, or the
# element wirelesslink pushes packets too late, the latency of the frames
# increases. The increase is computed for two percentiles of the latency, the
# median and the 95th percentile. A run is flagged as unreliable if the
# increase of one of them exceeds both limits: MAX_SHIFT_MS ms, and the
# fraction MAX_SHIFT of the measured percentile.
PERCENTILES = {"median": 50, "p95": 95}
MAX_SHIFT_MS, MAX_SHIFT = 10.0, 0.05
# Limit in ms, half of a frame period. It applies to the 99th percentile of two
# kinds of lateness: the time by which processes wake up too late, and the time
# by which the element wirelesslink pushes packets too late. If one of these
# two percentiles exceeds the limit, the run is flagged as unreliable.
#
# This limit is needed because of two effects of lateness. A late sender sends
# bursts of packets, and a transport may mistake the additional delay for
# congestion. The other checks do not detect these effects, because they use
# only the times of the frames.
MAX_P99_MS = 20.0
# Limit in ms for runs that do not send video. It applies to the 99th
# percentile of two kinds of lateness: the time by which processes wake up too
# late, and the time by which the element wirelesslink pushes packets too late.
# If one of these two percentiles exceeds the limit, the run is flagged as
# unreliable. The limit is low, because these runs contain exchanges of
# messages that take only a few ms.
MS_LATE = 1.0

Lateness = dict[str, Any]


def wakeups(late_ms: Sequence[float]) -> list[float]:
    """A process wants to wake up at a fixed interval. If the machine does not
    run the process for some time, several wake-ups are due in this time, but
    the process wakes up only once. Returns the lateness in ms of each wake-up
    that was due, including those that did not take place.

    `late_ms` has one value for each time the process woke up. If several
    wake-ups were due at that time, the value is the lateness of the earliest
    of them. The next of them was due one interval later, so its lateness is
    one interval less, and so on.
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
    the part "link", it is the time by which the element wirelesslink pushes
    packets too late.

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
    # The results of older versions of this program contain only one percentile
    # of the lateness, the 99th. For these results, the function returns the
    # 99th percentile, whatever percentile is requested.
    return known[0][1]


def percentile_of_link(lateness: Lateness, percent: int) -> float:
    """Returns a percentile of the lateness of the link, in ms. The lateness is
    the time by which the element wirelesslink pushes packets too late. Only
    the median, the 99th percentile and the maximum of the lateness were
    measured. Percentiles between the median and the 99th percentile are
    estimated in one of two ways:

    - Usually wirelesslink is late because its process wakes up late. The time
      by which processes wake up late is called the wake-up delay. More
      percentiles of the wake-up delay were measured. The estimate assumes that
      both distributions have the same form. For example, let the wanted
      percentile be the 90th. If the 90th percentile of the wake-up delay is
      the mean of its median and its 99th percentile, the result is the mean of
      the median and the 99th percentile of the lateness. Other positions
      between the median and the 99th percentile are transferred in the same
      way.
    - If the 99th percentile of the wake-up delay is less than SAME_CAUSE times
      the 99th percentile of the lateness, wirelesslink has another reason to
      be late. The wanted percentile is then interpolated linearly between the
      measured percentiles of the lateness.
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
    frames with this lateness).
    """
    if None in [lateness[f"{part}_p99_ms"] for part in PARTS]:
        return None
    return [(percentile_of(lateness, "machine", percent)
             + percentile_of_link(lateness, percent), (percent - before) / 100)
            for before, percent in itertools.pairwise((0, *PERCENTS))]


def stall_ms(lateness: Lateness) -> float:
    """Returns the length of the longest stall in ms. Two lengths are known:
    the longest stall of the machine, and the longest stall of the link. When
    the machine stalls, the link stalls, too. The two lengths are therefore not
    added, and the larger one is returned.
    """
    return max(percentile_of(lateness, part, 100) for part in PARTS)


def without_maximum(late: Sequence[tuple[float, float]]
                    ) -> list[tuple[float, float]]:
    """`late` is a list of pairs (lateness in ms, share of the frames that had
    this lateness). The last pair has the maximum lateness, with a share of 1 %
    of the frames. The pair before it has the 99th percentile of the lateness.
    Returns a copy of `late` in which the lateness of the last pair is replaced
    by the 99th percentile of the lateness.

    Percentiles of the frames' latency are computed from the copy. The maximum
    lateness often comes from a single late wake-up, which makes only one frame
    late. One late frame cannot change a percentile of the latency. In `late`,
    however, the maximum lateness counts for 1 % of all frames, and 1 % of the
    frames would change the percentiles.
    """
    return [*late[:-1], (late[-2][0], late[-1][1])]


def changed_verdicts(passages: Sequence[measurements.Passage],
                     late: Sequence[tuple[float, float]],
                     late_ms: float) -> float:
    """Returns the effect of lateness as a percentage of the sent frames: the
    percentage that was not decodable in time, but would have been without the
    lateness. `late` is the distribution of the lateness, as steps() returns
    it.
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
    without lateness, in ms. For the median, `percent` is 50. `latency_ms`
    contains the measured latencies. `late` is the distribution of the
    lateness, as steps() returns it: a list of pairs. Each pair has a lateness
    in ms, and the share of the frames that were late by this time.

    It is not known which frame had which lateness. Therefore each lateness in
    `late` is subtracted from each measured latency. Each difference is
    weighted with the share that belongs to the subtracted lateness.
    """
    earlier = sorted((own - ms, share) for own in latency_ms
                     for ms, share in late)
    sums = list(itertools.accumulate(share for _, share in earlier))
    # `earlier` is a list of pairs (latency, share), sorted by the latency. The
    # percentile is the first latency at which the sum of the shares so far
    # reaches `percent` % of the sum of all shares. Because of rounding errors,
    # the sum may be slightly too small at this latency. The tolerance of 1e-9
    # allows for these errors.
    place = bisect.bisect_left(sums, sums[-1] * percent / 100 - 1e-9)
    return earlier[min(place, len(earlier) - 1)][0]


def effect(passages: Sequence[measurements.Passage],
           late: Sequence[tuple[float, float]], stall_ms: float,
           late_ms: float) -> dict[str, float]:
    """Estimates how much lateness changed the results of a stream. The
    lateness is the time by which processes woke up too late or the element
    wirelesslink pushed packets too late. Returns a dictionary that maps names
    such as "verdicts_percent" to numbers.

    - `passages` contains the frames of the stream with their times.
    - `late` is the distribution of the lateness, as steps() returns it.
    - `stall_ms` is the length of the longest stall. The function assumes that
      this stall delayed the start of the stream.
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
    """Returns parts of a sentence that says why a run is unreliable. `found`
    is a result of effect(), which maps names to values. Each value that
    exceeds its limit yields one part of the sentence.
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
    `lateness` contains the measured lateness. If a measurement is missing, the
    run is flagged, because it may be unreliable. Returns a copy of `lateness`
    with three more entries:
    - `late_ms`: the limit in ms above which a frame counts as late
    - `effects`: the effect of the lateness on each stream
    - `flagged`: whether the run is flagged as unreliable
    """
    late = steps(lateness)
    effects = [effect(passages, late, stall_ms(lateness), late_ms)
               for passages in streams] if late else []
    return {**lateness, "late_ms": late_ms, "effects": effects,
            "flagged": not late or any(map(reasons, effects))
            or is_above(lateness, MAX_P99_MS)}


def is_above(lateness: Lateness, limit_ms: float) -> bool:
    """Returns True if the lateness exceeds a limit. There are two kinds of
    lateness: how late processes woke up, and how late the element wirelesslink
    pushed packets. The result is True if the 99th percentile of one of them
    exceeds `limit_ms` or is unknown.
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
