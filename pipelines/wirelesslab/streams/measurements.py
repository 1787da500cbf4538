# SPDX-License-Identifier: LGPL-2.1-or-later
"""Turns the logs of a run into numbers: the times of frames, the fates of
packets, and the statistics that the papers use. This module starts no
processes and reads no files other than the logs.
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
# The classes of the rows in tables 3.12 and 3.18 of Ouwens (2006), which count
# series of consecutive lost packets. Each class is (minimum, maximum) of the
# length of a series, in packets.
OUWENS_RUNS = {"1": (1, 1), "2": (2, 2), "3": (3, 3), "4": (4, 4),
               "5-10": (5, 10), "over 10": (11, math.inf)}
# Table 3.2 of Ouwens (2006) counts packets by their number of transmissions.
# The last class of the table is five or more transmissions.
OUWENS_MAX_ATTEMPTS = 5
# Pairs (PSNR in dB, grade) from EvalVid's mos.c, in descending order. A
# picture gets the first grade whose PSNR value it exceeds. If it exceeds none
# of them, it gets the grade 1.
EVALVID_GRADES = ((37, 5), (31, 4), (25, 3), (20, 2))


# ----------------------------------------------------------------------- frames

class Passage(typing.NamedTuple):
    """A frame that was sent. Its times are in ns, counted from the time at
    which the first frame was sent. `due_ns` is the due time of the frame: the
    time at which it would arrive if nothing delayed it. The due time is
    computed from the field `expected_ns` of the log (docs/mpegstat.md). The
    due times increase in the transport order of the frames, not in their
    display order.
    """

    frame: frame_log.Frame
    due_ns: int
    sent_ns: int
    # The time at which the frame arrived, or None if it did not arrive.
    arrived_ns: int | None

    def latency_ns(self) -> int:
        return self.arrived_ns - self.sent_ns

    def lateness_ns(self) -> int:
        return self.arrived_ns - self.due_ns


def join(
        sent_log: frame_log.Log, received_log: frame_log.Log
) -> dict[int, tuple[frame_log.Frame, frame_log.Frame]]:
    """Pairs the frames in the sender's log with the frames in the receiver's
    log. Returns {coding number: (sent frame, arrived frame)} for all frames
    that arrived. The coding number is the position of the frame in transport
    order. It is taken from the sender's log.
    """
    joined = frame_log.Join()
    joined.add_sent(sent_log.frames)
    joined.add_arrived(received_log.frames)
    return {sent.coding_number: (sent, arrived)
            for sent, arrived in joined.pairs}


def in_real_time(sent_log: frame_log.Log,
                 received_log: frame_log.Log) -> list[Passage]:
    """Returns a Passage for each frame of a run in real time. A Passage has
    the due time of one frame, the time at which it was sent, and the time at
    which it arrived. Sender and receiver share the clock that measures these
    times.
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
    """Returns a Passage for each frame of a run in virtual time. A Passage has
    the due time of one frame, the time at which it was sent, and the time at
    which it arrived, all by the clock of the link.

    A frame is sent when its first packet enters the link. This happens at the
    due time of the frame, or later if the queue was full. A frame arrives when
    its last packet leaves the link. The receiver's log says which frames
    arrived at all.
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
    """Returns the frames that arrived in time, that is, at most `late_ns` ns
    after their due time.
    """
    return [way for way in arrived(passages) if way.lateness_ns() <= late_ns]


def decodable(passages: Sequence[Passage],
              late_ns: float) -> list[frame_log.Frame]:
    """Returns the frames that can be decoded if every late frame counts as
    lost. A frame is late if it arrives more than `late_ns` ns after its due
    time.
    """
    return frame_log.decodable(
        [way.frame for way in passages],
        {way.frame.coding_number for way in in_time(passages, late_ns)})


def needed_deadlines_ns(passages: Sequence[Passage]) -> list[float]:
    """Returns, for each frame, the shortest deadline with which the frame is
    decodable in time. The deadline is in ns after the due time of the frame.
    The lateness of a frame is the time from its due time to its arrival. The
    shortest deadline is therefore the maximum of the lateness of the frame
    itself and the lateness of each frame to which it refers. If one of these
    frames did not arrive, the deadline is infinite.

    frame_log.decodable() defines to which frames a frame refers.
    """
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
    """Returns the frames that are decodable at most `late_ns` ns after their
    due time. Each frame is a Passage, which contains the times at which the
    frame was sent and arrived.
    """
    return [way for way, needed in zip(passages, needed_deadlines_ns(passages))
            if needed <= late_ns]


def decodable_throughput(passages: Sequence[Passage],
                         late_ns: float) -> float:
    """Returns the mean bitrate in bit/s of the frames that are decodable in
    time: the sum of their sizes in bits, divided by the duration of the film
    in s.
    """
    film_ns = len(passages) * period_ns(passages)
    bits = 8 * sum(way.frame.size
                   for way in decodable_in_time(passages, late_ns))
    return bits / (film_ns / NS) if film_ns else 0.0


def by_type(passages: Sequence[Passage],
            late_ns: float) -> dict[str, collections.Counter[str]]:
    """Counts the frames by what happened to them and by their type. Returns
    {what: {type: number of frames}}, where `what` is "sent", "lost", "late",
    "in time" or "decodable". Each sent frame is lost, late or in time.
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
    """Returns the jitter of the frames that arrived, in transport order, as a
    list. The jitter is a running value, computed as RFC 3550 defines it. The
    list contains its value after each frame.
    """
    return list(frame_log.jitter_of(
        way.lateness_ns() for way in arrived(passages)))


def latency_by_size(passages: Sequence[Passage],
                    width: int) -> list[tuple[int, int, float]]:
    """Divides the frames that arrived into classes by their size. Each class
    is `width` bytes wide. Returns a list with a tuple (smallest size in the
    class, number of frames, median latency in ns) for each class.
    """
    classes = collections.defaultdict(list)
    for way in arrived(passages):
        classes[way.frame.size // width * width].append(way.latency_ns())
    return [(size, len(times), statistics.median(times))
            for size, times in sorted(classes.items())]


def throughput(passages: Sequence[Passage],
               step_ns: int) -> list[tuple[int, float]]:
    """Returns the bitrate of the video that arrived, over time. The time is
    divided into steps of `step_ns` ns. The result is a list with a pair (start
    of the step in ns, bitrate in bit/s) for each step. The last step is the
    one in which the last frame arrived.
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
    """Returns the duration of the video at the viewer, in ns. It begins when
    the first frame arrives. It ends one frame period after the last frame
    arrives, because the last frame is shown for one frame period (table 3.7 of
    Ouwens 2006).
    """
    times = [way.arrived_ns for way in arrived(passages)]
    return max(times) - min(times) + period_ns(passages) if times else 0


def common_throughput(
        streams: Sequence[tuple[int, Sequence[Passage]]]) -> list[float] | None:
    """Returns the bitrate of each stream in bit/s, measured in the period in
    which all streams were being sent. If there is no such period, returns
    None. Only frames that arrived in this period are counted. `streams` has a
    pair for each stream: the time at which its first frame was sent, and a
    list of Passages, one for each frame.
    """
    begin = max(start for start, _ in streams)
    end = min(start + passages[-1].sent_ns for start, passages in streams)
    if end <= begin:
        return None
    return [8 * NS / (end - begin) * sum(
        way.frame.size for way in arrived(passages)
        if begin < start + way.arrived_ns <= end)
        for start, passages in streams]


def fairness(rates: Sequence[float]) -> float:
    """Returns Jain's fairness index of the rates. It is 1 if all rates are
    equal, and 1/n if only one of n streams has a rate above 0.
    """
    squares = len(rates) * sum(rate ** 2 for rate in rates)
    return sum(rates) ** 2 / squares if squares else math.nan


def period_ns(passages: Sequence[Passage]) -> float:
    steps = [b.due_ns - a.due_ns for a, b in itertools.pairwise(passages)]
    return statistics.median(steps) if steps else 0


def mean_throughput(passages: Sequence[Passage]) -> float:
    """Returns the mean bitrate in bit/s at the viewer: the size in bits of all
    frames that arrived, divided by the duration of the video in s.
    """
    bits = 8 * sum(way.frame.size for way in arrived(passages))
    return bits / (duration_ns(passages) / NS) if bits else 0.0


def shown(passages: Sequence[Passage], late_ns: float) -> list[int | None]:
    """Returns what the viewer saw, as a list with one item for each picture of
    the film, in display order. If the picture was shown, the item is the
    number of this picture. If the picture was not shown, the previous picture
    stayed on the screen, and the item is the number of the last picture that
    was shown. The item is None if no picture had been shown yet.
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
    """One packet in the log of a link. The times are in ns, by the clock of
    the link.
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
    # The packets that one station has sent, in the order of sending. A station
    # is one emulated transmitter of the link, for example that of the sender.
    packets: list
    # The channel quality of the station over time, as a list of pairs (time in
    # ns by the clock of the link, quality from this time on). The quality is
    # between 0 and 1. It is the probability that a packet arrives undamaged at
    # the first attempt.
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
    """Joins the logs of all links of a run into one log. It contains the
    packets of all links, but the channel quality of the first link only. The
    packets are sorted by the time at which they entered their link. The clock
    of each link measures this time. The clocks start within about 0.1 s of
    each other, so the order is only approximate.
    """
    if len(logs) == 1:
        return logs[0]
    return LinkLog(
        sorted((packet for log in logs for packet in log.packets),
               key=lambda packet: packet.arrival_ns), logs[0].quality)


def loss_runs(lost: Iterable[bool]) -> collections.Counter[int]:
    """Counts series of consecutive lost packets. Returns {length of a series:
    number of series with this length}. `lost` has one item for each packet, in
    the order of sending. The item is True if the packet was lost.
    """
    return collections.Counter(
        len(list(run)) for is_lost, run in itertools.groupby(lost) if is_lost)


def run_percents(
        runs: collections.Counter[int]) -> tuple[list[float], int, int]:
    """Returns a row in the form of table 3.12 of Ouwens (2006), which is about
    series of consecutive lost packets. `runs` is {length of a series: number
    of series}. The row has:
    - for each class of lengths in OUWENS_RUNS: the percentage of the series
      whose length is in this class,
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
    """Returns a row in the form of table 3.2 of Ouwens (2006), and the number
    of packets that were transmitted at least once. `found` is {number of
    transmissions: number of packets}.

    The row is a list of percentages of the transmitted packets: first those
    that were transmitted once, then those that were transmitted twice, and so
    on. The last percentage is for packets with `maximum` or more
    transmissions. Packets that were never transmitted do not count.
    """
    total = sum(count for tries, count in found.items() if tries)
    counts = [found[tries] for tries in range(1, maximum)]
    counts.append(total - sum(counts))
    return [100 * count / total if total else 0.0 for count in counts], total


def sequence(
        packets: Sequence[Packet]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]], list[tuple[int, int]]]:
    """Returns the points of a time-sequence plot as three lists: sent,
    delivered and lost. A point is a pair (time in ns by the clock of the link,
    number of bytes).

    Each packet has two points. The first point is in `sent`. Its time is the
    time at which the packet enters the link. The second point is in
    `delivered` or in `lost`. Its time is the time at which the packet leaves
    the link or is given up. In both points, the number of bytes is the total
    size of this packet and of all packets before it.
    """
    sent, delivered, lost, total = [], [], [], 0
    for packet in packets:
        total += packet.size
        sent.append((packet.arrival_ns, total))
        (lost if packet.is_lost() else delivered).append(
            (packet.departure_ns, total))
    return sent, delivered, lost


def worst_window(times: Sequence[float], length: float) -> float | None:
    """Finds the interval of the duration `length` that contains as many of the
    `times` as possible. Returns the start of this interval, or None if `times`
    is empty.
    """
    times, best, first = sorted(times), (0, None), 0
    for last, time in enumerate(times):
        while time - times[first] > length:
            first += 1
        best = max(best, (last - first + 1, times[first]),
                   key=lambda found: found[0])
    return best[1]


def mean_attempts(packets: Sequence[Packet]) -> float:
    """Returns the mean number of transmissions per packet. Packets that were
    never transmitted, for example because the queue dropped them, do not
    count.
    """
    tried = [packet.attempts for packet in packets if packet.attempts]
    return statistics.fmean(tried) if tried else 0.0


# -------------------------------------------------------------- other workloads

class RequestReply(typing.NamedTuple):
    """Statistics of round-trip times, as in one row of tables 3 and 4 of
    Alanko and others (1994). `minimum`, `maximum` and `percentiles` have the
    same unit as the round-trip times that were passed to request_reply().
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
    median by more than `tolerance` (section 3.2 of Alanko and others 1994).
    """
    limit = statistics.median(times) + tolerance
    return sum(time > limit for time in times) / len(times)


def sustainable_rate(blocks: Sequence[tuple[float, int]]) -> float:
    """Returns the sustainable rate: the rate of a transfer that never
    stagnates (section 3.3 of Alanko and others 1994). `blocks` has a point for
    each block of data that arrived: (time, number of bytes so far). Each pair
    of points yields a rate. The sustainable rate is the median of these rates.
    """
    rates = [(x - y) / (t - u)
             for (u, y), (t, x) in itertools.combinations(blocks, 2) if t != u]
    return statistics.median(rates) if rates else 0.0


def one_way_delay(sent: int, received: int, reception: int,
                  sending_ack: int) -> float:
    """Returns the one-way delay of a packet (equations 5.3 and 5.4 of Erixzon
    2004). The round-trip time contains the time between the arrival of the
    packet at the receiver and the sending of the acknowledgement. This time is
    subtracted from the round-trip time, and the one-way delay is half of the
    rest.

    `sent` and `received` are times on the sender's clock: the sender sent the
    packet at `sent`, and received the acknowledgement at `received`.
    `reception` and `sending_ack` are times on the receiver's clock: the
    receiver received the packet at `reception`, and sent the acknowledgement
    at `sending_ack`. The clocks need not agree, because each difference is
    between two times on the same clock.
    """
    elapsed = sending_ack - reception
    return (received - sent - elapsed) / 2


# ---------------------------------------------------------------------- quality

def mos(psnr: float) -> int:
    """Returns the grade, from 1 to 5, that EvalVid gives to a picture. `psnr`
    is the PSNR of the picture in dB.
    """
    for above, grade in EVALVID_GRADES:
        if psnr > above:
            return grade
    return 1


def worst_place(errors: Sequence[Sequence[float]]) -> int | None:
    """Returns the picture with the largest total error, as its number in
    display order. `errors` has one list for each stream. The list contains the
    error of each picture in this stream. The total error of a picture is the
    sum of its errors in all streams. If all errors are 0, returns None.
    """
    sums = [sum(each) for each in zip(*errors)]
    return sums.index(max(sums)) if any(sums) else None


def worst_places(errors: Sequence[Sequence[float]],
                 length: int) -> range | None:
    """Finds the `length` consecutive pictures that differ most from the
    original pictures. Returns their numbers in display order as a range.
    `errors` has one list for each stream, with the error of each picture. The
    error of a picture is first added up over all streams, and then over the
    consecutive pictures. If the film has fewer than `length` pictures, the
    range contains all of them. If all errors are 0, returns None.
    """
    sums = [sum(each) for each in zip(*errors)]
    if not any(sums):
        return None
    length = min(length, len(sums))
    before = [0, *itertools.accumulate(sums)]
    begin = max(range(len(sums) - length + 1),
                key=lambda place: before[place + length] - before[place])
    return range(begin, begin + length)
