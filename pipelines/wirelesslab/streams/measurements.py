# SPDX-License-Identifier: LGPL-2.1-or-later
"""Turns the logs of a run into numbers: the times of frames, the fates of
packets, and the statistics of the papers. This module starts no processes and
reads no files other than the logs.
"""

from __future__ import annotations

import collections
import itertools
import math
import pathlib
import statistics
import typing
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from wirelesslab.streams import frame_log, rtp_file
from wirelesslab.testbed import link_log

NS = 1e9
NS_PER_MS = 1e6
TYPES = frame_log.FRAME_TYPES
# Alanko 3.2, tables 3 and 4
ALANKO_PERCENTS = (50, 90, 95, 99)
ALANKO_TOLERANCES_S = (0.2, 0.5, 1, 2, 5, 10)
# The classes of Ouwens tables 3.12 and 3.18, as {class: (minimum, maximum)}.
# The minimum and the maximum are numbers of consecutive lost packets.
OUWENS_RUNS = {"1": (1, 1), "2": (2, 2), "3": (3, 3), "4": (4, 4),
               "5-10": (5, 10), "over 10": (11, math.inf)}
# The last class of Ouwens table 3.2 is five or more transmissions.
OUWENS_MAX_ATTEMPTS = 5
# Pairs (dB, grade) from EvalVid's mos.c. A picture gets the grade if its PSNR
# is above this number of dB. A picture whose PSNR is below all these numbers
# gets grade 1.
EVALVID_GRADES = ((37, 5), (31, 4), (25, 3), (20, 2))


# ----------------------------------------------------------------------- frames

class Passage(typing.NamedTuple):
    """A frame that was sent, with its times in ns since the first frame was
    sent. `due_ns` is the due time of the frame, computed from `expected_ns`
    (docs/mpegstat.md). Like `expected_ns`, the due times follow the transport
    order of the frames, not the display order."""

    frame: frame_log.Frame
    due_ns: int
    sent_ns: int
    # Arrival time of the frame, or None if the frame did not arrive.
    arrived_ns: int | None

    def latency_ns(self) -> int:
        return self.arrived_ns - self.sent_ns

    def lateness_ns(self) -> int:
        return self.arrived_ns - self.due_ns


def join(
        sent_log: frame_log.Log, received_log: frame_log.Log
) -> dict[int, tuple[frame_log.Frame, frame_log.Frame]]:
    """Finds the frame in the receiver's log that belongs to each frame in the
    sender's log. Returns {coding number: (sent frame, arrived frame)} for the
    frames that arrived. The coding number is the position of the frame in
    transport order, as logged by the sender.
    """
    joined = frame_log.Join()
    joined.add_sent(sent_log.frames)
    joined.add_arrived(received_log.frames)
    return {sent.coding_number: (sent, arrived)
            for sent, arrived in joined.pairs}


def in_real_time(sent_log: frame_log.Log,
                 received_log: frame_log.Log) -> list[Passage]:
    """Returns a Passage for each frame that was sent in a run in real time. A
    Passage has the due time, the time of sending and the time of arrival of one
    frame. All times are from the clock that both ends share.
    """
    if not sent_log.frames:
        return []
    pairs = join(sent_log, received_log)
    first = sent_log.frames[0]
    return [Passage(frame, frame.expected_ns - first.expected_ns,
                    frame.wall_ns - first.wall_ns,
                    pairs[frame.coding_number][1].wall_ns - first.wall_ns
                    if frame.coding_number in pairs else None)
            for frame in sent_log.frames]


def in_virtual_time(sent_log: frame_log.Log, received_log: frame_log.Log,
                    sent_packets: Sequence[rtp_file.Packet],
                    packets: Sequence[Packet]) -> list[Passage]:
    """Returns a Passage for each frame that was sent in a run in virtual time.
    A Passage has the due time, the time of sending and the time of arrival of
    one frame, by the clock of the link.

    A frame is sent when its first packet enters the link. The packet enters the
    link at the due time of the frame, or later if the queue was full. A frame
    arrives with its last packet. The receiver's log says which frames arrived.
    """
    pairs = join(sent_log, received_log)
    ways = {packet.index: packet for packet in packets}
    first_ns = ways[0].arrival_ns if ways else 0
    found = []
    frames = rtp_file.frames(sent_packets)
    for frame, indices in zip(sent_log.frames, frames):
        way = [ways[index] for index in indices]
        sent_ns = min(packet.arrival_ns for packet in way) - first_ns
        arrived_ns = max(packet.departure_ns for packet in way) - first_ns
        found.append(Passage(
            frame, frame.expected_ns - sent_log.frames[0].expected_ns, sent_ns,
            arrived_ns if frame.coding_number in pairs else None))
    return found


def arrived(passages: Sequence[Passage]) -> list[Passage]:
    return [way for way in passages if way.arrived_ns is not None]


def in_time(passages: Sequence[Passage], late_ns: float) -> list[Passage]:
    """Returns the frames that arrived at most `late_ns` after their due time.
    """
    return [way for way in arrived(passages) if way.lateness_ns() <= late_ns]


def decodable(passages: Sequence[Passage],
              late_ns: float) -> list[frame_log.Frame]:
    """Returns the frames that can be decoded if every frame that arrives more
    than `late_ns` after its due time counts as lost.
    """
    return frame_log.decodable(
        [way.frame for way in passages],
        {way.frame.coding_number for way in in_time(passages, late_ns)})


def needed_deadlines_ns(passages: Sequence[Passage]) -> list[float]:
    """Returns one number for each frame: the minimum deadline with which the
    frame is decodable in time, in ns after the due time of the frame. This
    deadline is the maximum of the lateness of the frame and of all frames that
    it refers to. The deadline is infinite if one of these frames did not
    arrive.

    frame_log.decodable() defines which frames a frame refers to."""
    found = []
    older, newer = math.inf, math.inf
    for way in passages:
        frame = way.frame
        own = math.inf if way.arrived_ns is None else way.lateness_ns()
        if frame.type == "P":
            own = max(own, newer)
        elif frame.type == "B":
            own = max(own, older, newer)
        if frame.type in "IP":
            older, newer = newer, own
        if frame.type == "I" and frame.closed:
            older = -math.inf
        if frame.type == "I" and frame.broken:
            older = math.inf
        found.append(own)
    return found


def decodable_in_time(passages: Sequence[Passage],
                      late_ns: float) -> list[Passage]:
    """Returns the frames that decodable() returns, each as a Passage with the
    times at which it was sent and arrived.
    """
    return [way for way, needed in zip(passages, needed_deadlines_ns(passages))
            if needed <= late_ns]


def decodable_throughput(passages: Sequence[Passage],
                         late_ns: float) -> float:
    """Returns the mean bitrate in bit/s of those frames that are decodable in
    time, over the duration of the film.
    """
    film_ns = len(passages) * period_ns(passages)
    bits = 8 * sum(way.frame.size
                   for way in decodable_in_time(passages, late_ns))
    return bits / (film_ns / NS) if film_ns else 0.0


def by_type(passages: Sequence[Passage],
            late_ns: float) -> dict[str, collections.Counter[str]]:
    """Returns {what: {type: number of frames}}, where `what` is "sent", "lost",
    "late", "in time" or "decodable". Each sent frame is lost, late or in time.
    """
    def count(
            frames: Iterator[Any] | list[frame_log.Frame]
    ) -> collections.Counter[str]:
        return collections.Counter(frame.type for frame in frames)

    sent = count(way.frame for way in passages)
    there = count(way.frame for way in arrived(passages))
    timely = count(way.frame for way in in_time(passages, late_ns))
    return {"sent": sent, "lost": sent - there, "late": there - timely,
            "in time": timely,
            "decodable": count(decodable(passages, late_ns))}


def latencies_ns(passages: Sequence[Passage]) -> list[int]:
    return [way.latency_ns() for way in arrived(passages)]


def jitter_ns(passages: Sequence[Passage]) -> list[float]:
    """Returns a list with the jitter after each frame that arrived, in
    transport order. The jitter is computed as RFC 3550 defines it.
    """
    return list(frame_log.jitter_of(
        way.lateness_ns() for way in arrived(passages)))


def latency_by_size(passages: Sequence[Passage],
                    width: int) -> list[tuple[int, int, float]]:
    """Divides the frames that arrived into classes by their size. Each class is
    `width` bytes wide. Returns a list with a tuple (smallest size of the class,
    number of frames, median latency in ns) for each class.
    """
    classes = collections.defaultdict(list)
    for way in arrived(passages):
        classes[way.frame.size // width * width].append(way.latency_ns())
    return [(size, len(times), statistics.median(times))
            for size, times in sorted(classes.items())]


def throughput(passages: Sequence[Passage],
               step_ns: int) -> list[tuple[int, float]]:
    """Divides the time into steps of `step_ns`. Returns a list with a pair
    (start of the step in ns, bitrate of the video that arrived in the step in
    bit/s) for each step. The last step contains the last arrival.
    """
    ways = arrived(passages)
    if not ways:
        return []
    bits = collections.Counter()
    for way in ways:
        bits[way.arrived_ns // step_ns] += 8 * way.frame.size
    return [(step * step_ns, bits[step] / (step_ns / NS))
            for step in range(max(bits) + 1)]


def duration_ns(passages: Sequence[Passage]) -> float:
    """Returns the duration of the video at the viewer. The duration begins with
    the first arrival. It ends one frame period after the last arrival, when
    another frame would be due (Ouwens table 3.7)."""
    times = [way.arrived_ns for way in arrived(passages)]
    return max(times) - min(times) + period_ns(passages) if times else 0


def common_throughput(
        streams: Sequence[tuple[int, Sequence[Passage]]]) -> list[float] | None:
    """Returns the bitrates of the streams in bit/s, in the period in which all
    streams were being sent. Only frames that arrived in this period are
    counted. Returns None if there is no such period. Each stream is a pair: the
    time at which its first frame was sent, and a list of Passages, one for each
    frame."""
    begin = max(start for start, _ in streams)
    end = min(start + passages[-1].sent_ns for start, passages in streams)
    if end <= begin:
        return None
    return [8 * NS / (end - begin) * sum(
        way.frame.size for way in arrived(passages)
        if begin < start + way.arrived_ns <= end)
        for start, passages in streams]


def fairness(rates: Sequence[float]) -> float:
    """Returns Jain's index of fairness. It is 1 if all rates are equal, and 1/n
    if only one of n streams has a rate above 0.
    """
    squares = len(rates) * sum(rate ** 2 for rate in rates)
    return sum(rates) ** 2 / squares if squares else math.nan


def period_ns(passages: Sequence[Passage]) -> float:
    steps = [b.due_ns - a.due_ns for a, b in itertools.pairwise(passages)]
    return statistics.median(steps) if steps else 0


def mean_throughput(passages: Sequence[Passage]) -> float:
    """Returns the mean bitrate in bit/s at the viewer. It is the size in bits
    of all frames that arrived, divided by the duration of the video in s.
    """
    bits = 8 * sum(way.frame.size for way in arrived(passages))
    return bits / (duration_ns(passages) / NS) if bits else 0.0


def shown(passages: Sequence[Passage], late_ns: float) -> list[int | None]:
    """Returns for each picture of the film, in display order, the number of the
    picture that is shown in its place: its own number, or the number of the
    last picture that was shown before. None means that no picture was shown
    before.
    """
    order = {way.frame.coding_number: place for place, way in enumerate(
        sorted(passages, key=lambda way: way.frame.display_number))}
    seen = {order[frame.coding_number]
            for frame in decodable(passages, late_ns)}
    found, last = [], None
    for place in range(len(passages)):
        last = place if place in seen else last
        found.append(last)
    return found


# ---------------------------------------------------------------------- packets

class Packet(typing.NamedTuple):
    """One packet of the link's log. The times are in ns, by the clock of the
    link.
    """

    flow: int
    index: int
    size: int
    fate: str
    attempts: int
    arrival_ns: int
    departure_ns: int

    def is_lost(self) -> bool:
        return self.fate not in link_log.ARRIVED


class LinkLog(typing.NamedTuple):
    # The packets of one station, in the order of sending.
    packets: list
    # A list of pairs (time in ns by the clock of the link, link quality of the
    # station from this time on). The quality is between 0 and 1.
    quality: list


def read_link(path: pathlib.Path, station: int) -> LinkLog:
    packets, quality = [], []
    for word, values in link_log.events(path):
        if values.get("station") != str(station):
            continue
        if word == "packet":
            flow, index, size, tries, arrival, departure = (
                int(values[name]) for name in (
                    "flow", "index", "size_bytes", "attempts", "arrival_ns",
                    "departure_ns"))
            packets.append(Packet(flow, index, size, values["fate"], tries,
                                  arrival, departure))
        elif word == "quality":
            quality.append((int(values["time_ns"]), float(values["value"])))
    return LinkLog(sorted(packets), quality)


def merge_links(logs: Sequence[LinkLog]) -> LinkLog:
    """Joins the logs of all links of a run. The result contains the packets of
    all links, but the channel quality of the first link only. The packets are
    sorted by the time at which they entered their link. Each link measures this
    time with its own clock. These clocks start within about 0.1 s of each
    other, so the order is only approximate."""
    if len(logs) == 1:
        return logs[0]
    return LinkLog(
        sorted((packet for log in logs for packet in log.packets),
               key=lambda packet: packet.arrival_ns), logs[0].quality)


def loss_runs(lost: Iterable[bool]) -> collections.Counter[int]:
    """Counts the series of consecutive lost packets. Returns {length of a
    series: number of such series}. `lost` says for each packet, in the order of
    sending, whether it was lost."""
    return collections.Counter(
        len(list(run)) for is_lost, run in itertools.groupby(lost) if is_lost)


def run_percents(
        runs: collections.Counter[int]) -> tuple[list[float], int, int]:
    """Returns a row of Ouwens table 3.12, which is about series of consecutive
    lost packets. The row has:
    - the share in % of each class of OUWENS_RUNS among all series,
    - the number of lost packets,
    - the number of series.
    """
    total = sum(runs.values())
    counts = [sum(count for length, count in runs.items()
                  if first <= length <= last)
              for first, last in OUWENS_RUNS.values()]
    return ([100 * count / total if total else 0.0 for count in counts],
            sum(n * count for n, count in runs.items()), total)


def attempts(packets: Sequence[Packet]) -> collections.Counter[int]:
    """Counts the packets by their number of transmissions. Returns {number of
    transmissions: number of packets}.
    """
    return collections.Counter(packet.attempts for packet in packets)


def attempt_percents(
        found: collections.Counter[int], maximum: int = OUWENS_MAX_ATTEMPTS
) -> tuple[list[float], int]:
    """Returns a pair (row of Ouwens table 3.2, number of transmitted packets).
    The row is a list of percentages: first the percentage of packets that were
    transmitted once, then the percentage of packets that were transmitted
    twice, and so on. The last percentage is for `maximum` or more
    transmissions. Packets that were never transmitted do not count."""
    total = sum(count for tries, count in found.items() if tries)
    counts = [found[tries] for tries in range(1, maximum)]
    counts.append(total - sum(counts))
    return [100 * count / total if total else 0.0 for count in counts], total


def sequence(
        packets: Sequence[Packet]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]], list[tuple[int, int]]]:
    """Returns the points (sent, delivered, lost) of a time-sequence plot. Each
    of the three is a list of pairs (time in ns by the clock of the link, number
    of bytes). A packet has a point in `sent` at the time at which it enters the
    link. It has a second point, in `delivered` or in `lost`, at the time at
    which it leaves the link or is given up. The number of bytes in both points
    is the total size of the packet and of all packets before it."""
    sent, delivered, lost, total = [], [], [], 0
    for packet in packets:
        total += packet.size
        sent.append((packet.arrival_ns, total))
        (lost if packet.is_lost() else delivered).append(
            (packet.departure_ns, total))
    return sent, delivered, lost


def worst_window(times: Sequence[float], length: float) -> float | None:
    """Finds the time window of the given `length` that contains as many
    elements of `times` as possible. Returns the start of this window, or None
    if `times` is empty."""
    times, best, first = sorted(times), (0, None), 0
    for last, time in enumerate(times):
        while time - times[first] > length:
            first += 1
        best = max(best, (last - first + 1, times[first]),
                   key=lambda found: found[0])
    return best[1]


def mean_attempts(packets: Sequence[Packet]) -> float:
    """Returns the mean number of transmissions per packet. Packets that were
    never transmitted do not count.
    """
    tried = [packet.attempts for packet in packets if packet.attempts]
    return statistics.fmean(tried) if tried else 0.0


# -------------------------------------------------------------- other workloads

class RequestReply(typing.NamedTuple):
    """Statistics of round-trip times, as in one row of Alanko's tables 3 and 4.
    `minimum`, `maximum` and the values of `percentiles` are in the unit in
    which the round-trip times were passed to request_reply().
    """

    minimum: float
    percentiles: dict
    maximum: float
    outliers: dict  # {tolerance: fraction of the times}


def request_reply(
        times: Sequence[float],
        percents: tuple[int, int, int, int] = ALANKO_PERCENTS,
        tolerances: tuple[float, ...] = ALANKO_TOLERANCES_S) -> RequestReply:
    return RequestReply(
        min(times), {percent: frame_log.percentile(times, percent)
                     for percent in percents}, max(times),
        {tolerance: outliers(times, tolerance) for tolerance in tolerances})


def outliers(times: Sequence[float], tolerance: float) -> float:
    """Returns the fraction (0 to 1) of the values in `times` that exceed the
    median by more than `tolerance` (Alanko 3.2)."""
    limit = statistics.median(times) + tolerance
    return sum(time > limit for time in times) / len(times)


def sustainable_rate(blocks: Sequence[tuple[float, int]]) -> float:
    """Returns the sustainable rate: the rate of a transfer that never stagnates
    (Alanko 3.3). `blocks` has a point (time, bytes so far) for each block. The
    sustainable rate is the median of the rates between all pairs of points."""
    rates = [(x - y) / (t - u)
             for (u, y), (t, x) in itertools.combinations(blocks, 2) if t != u]
    return statistics.median(rates) if rates else 0.0


def one_way_delay(sent: int, received: int, reception: int,
                  sending_ack: int) -> float:
    """Returns the one-way delay of a packet (Erixzon equations 5.3 and 5.4). It
    is half of a difference: the round-trip time, minus the time for which the
    receiver held the acknowledgement.

    `sent` and `received` are times of the sender's clock. `reception` and
    `sending_ack` are times of the receiver's clock. The clocks need not agree,
    because only differences of times of the same clock are used."""
    elapsed = sending_ack - reception
    return (received - sent - elapsed) / 2


# ---------------------------------------------------------------------- quality

def mos(psnr: float) -> int:
    """Returns the grade from 1 to 5 that EvalVid gives to a picture whose PSNR
    in dB is `psnr`.
    """
    for above, grade in EVALVID_GRADES:
        if psnr > above:
            return grade
    return 1


def worst_place(errors: Sequence[Sequence[float]]) -> int | None:
    """Returns the number, in display order, of the picture with the largest
    error, or None if no picture differs. `errors` has one list for each stream,
    with the errors of all pictures. The errors of a picture in all streams are
    added.
    """
    sums = [sum(each) for each in zip(*errors)]
    return sums.index(max(sums)) if any(sums) else None


def worst_places(errors: Sequence[Sequence[float]],
                 length: int) -> range | None:
    """Returns the range of `length` consecutive pictures, in display order, for
    which the sum of the errors is largest. `errors` has one list for each
    stream, with the error of each picture. The errors in all streams are added.
    If the film has fewer than `length` pictures, the range contains all of
    them. Returns None if all errors are 0."""
    sums = [sum(each) for each in zip(*errors)]
    if not any(sums):
        return None
    length = min(length, len(sums))
    before = [0, *itertools.accumulate(sums)]
    begin = max(range(len(sums) - length + 1),
                key=lambda place: before[place + length] - before[place])
    return range(begin, begin + length)
