# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the logs of a run say, as numbers: frames and their ways, packets and
their fates, and the statistics of the papers. No processes, no files but the
logs.
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
# Ouwens tables 3.12 and 3.18: packets lost one after the other, from, to
OUWENS_RUNS = {"1": (1, 1), "2": (2, 2), "3": (3, 3), "4": (4, 4),
               "5-10": (5, 10), "over 10": (11, math.inf)}
OUWENS_MAX_ATTEMPTS = 5  # table 3.2
# EvalVid's mos.c: above so many dB it is a 5, a 4, a 3 or a 2, else a 1.
EVALVID_GRADES = ((37, 5), (31, 4), (25, 3), (20, 2))


# --------------------------------------------------------- frames and their way

class Passage(typing.NamedTuple):
    """A frame that was sent and its way, in ns since the first frame was. It
    was due at the film's own pace."""

    frame: frame_log.Frame
    due_ns: int
    sent_ns: int
    arrived_ns: int | None  # None: not at all

    def latency_ns(self) -> int:
        return self.arrived_ns - self.sent_ns

    def lateness_ns(self) -> int:
        return self.arrived_ns - self.due_ns


def join(
        sent_log: frame_log.Log, received_log: frame_log.Log
) -> dict[int, tuple[frame_log.Frame, frame_log.Frame]]:
    """{coding number: the pair of frames} of those that arrived."""
    joined = frame_log.Join()
    joined.add_sent(sent_log.frames)
    joined.add_arrived(received_log.frames)
    return {sent.coding_number: (sent, arrived)
            for sent, arrived in joined.pairs}


def in_real_time(sent_log: frame_log.Log,
                 received_log: frame_log.Log) -> list[Passage]:
    """Passages by the clock of the host that both ends share."""
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
    """Passages by the time of the link: a frame is sent when the first of its
    packets enters, which is when it is due unless it has to wait for room, and
    arrives with the last. Which ones arrive is what the receiver's log says."""
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
    """Those of use to somebody who waits for so long and no longer."""
    return [way for way in arrived(passages) if way.lateness_ns() <= late_ns]


def decodable(passages: Sequence[Passage],
              late_ns: float) -> list[frame_log.Frame]:
    """Frames of which such a person sees a picture."""
    return frame_log.decodable(
        [way.frame for way in passages],
        {way.frame.coding_number for way in in_time(passages, late_ns)})


def by_type(passages: Sequence[Passage],
            late_ns: float) -> dict[str, collections.Counter[str]]:
    """{what: {type: frames}}; sent are lost, late or in time."""
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
    """RFC 3550, after each frame that arrived, in transport order"""
    return list(frame_log.jitter_of(
        way.lateness_ns() for way in arrived(passages)))


def latency_by_size(passages: Sequence[Passage],
                    width: int) -> list[tuple[int, int, float]]:
    """[(first size of a class of that width, frames, median latency)]"""
    classes = collections.defaultdict(list)
    for way in arrived(passages):
        classes[way.frame.size // width * width].append(way.latency_ns())
    return [(size, len(times), statistics.median(times))
            for size, times in sorted(classes.items())]


def throughput(passages: Sequence[Passage],
               step_ns: int) -> list[tuple[int, float]]:
    """[(begin in ns, bit/s of video)] for each step until the last arrival."""
    ways = arrived(passages)
    if not ways:
        return []
    bits = collections.Counter()
    for way in ways:
        bits[way.arrived_ns // step_ns] += 8 * way.frame.size
    return [(step * step_ns, bits[step] / (step_ns / NS))
            for step in range(max(bits) + 1)]


def duration_ns(passages: Sequence[Passage]) -> float:
    """From the first frame's arrival to where the one after the last to
    arrive would be due (Ouwens table 3.7)."""
    times = [way.arrived_ns for way in arrived(passages)]
    return max(times) - min(times) + period_ns(passages) if times else 0


def common_throughput(
        streams: Sequence[tuple[int, Sequence[Passage]]]) -> list[float] | None:
    """bit/s of video of each of several streams, (time at which its first frame
    was sent, passages), over the time in which all of them were being sent;
    None if there is no such time."""
    begin = max(start for start, _ in streams)
    end = min(start + passages[-1].sent_ns for start, passages in streams)
    if end <= begin:
        return None
    return [8 * NS / (end - begin) * sum(
        way.frame.size for way in arrived(passages)
        if begin < start + way.arrived_ns <= end)
        for start, passages in streams]


def fairness(rates: Sequence[float]) -> float:
    """Jain's index: 1 where all are equal, 1/n where one of n has all."""
    squares = len(rates) * sum(rate ** 2 for rate in rates)
    return sum(rates) ** 2 / squares if squares else math.nan


def period_ns(passages: Sequence[Passage]) -> float:
    steps = [b.due_ns - a.due_ns for a, b in itertools.pairwise(passages)]
    return statistics.median(steps) if steps else 0


def mean_throughput(passages: Sequence[Passage]) -> float:
    """bit/s of video over the stream's duration"""
    bits = 8 * sum(way.frame.size for way in arrived(passages))
    return bits / (duration_ns(passages) / NS) if bits else 0.0


def shown(passages: Sequence[Passage], late_ns: float) -> list[int | None]:
    """For each picture of the film in display order, which one is shown in its
    place: itself, or the last that was; None before the first."""
    order = {way.frame.coding_number: place for place, way in enumerate(
        sorted(passages, key=lambda way: way.frame.display_number))}
    seen = {order[frame.coding_number]
            for frame in decodable(passages, late_ns)}
    found, last = [], None
    for place in range(len(passages)):
        last = place if place in seen else last
        found.append(last)
    return found


# ------------------------------------------------------ packets and their fates

class Packet(typing.NamedTuple):
    """One of the link's log, times in ns of the link."""

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
    packets: list  # of one station, as they were sent
    quality: list  # (ns of the link, 0 to 1) from then on, of that station


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


def loss_runs(lost: Iterable[bool]) -> collections.Counter[int]:
    """{length: how many runs of lost packets have it} of what became of
    packets in the order in which they were sent."""
    return collections.Counter(
        len(list(run)) for is_lost, run in itertools.groupby(lost) if is_lost)


def run_percents(
        runs: collections.Counter[int]) -> tuple[list[float], int, int]:
    """Ouwens table 3.12: of all runs, how many per cent are of one packet, of
    two and so on, by OUWENS_RUNS; packets lost; runs."""
    total = sum(runs.values())
    counts = [sum(count for length, count in runs.items()
                  if first <= length <= last)
              for first, last in OUWENS_RUNS.values()]
    return ([100 * count / total if total else 0.0 for count in counts],
            sum(n * count for n, count in runs.items()), total)


def attempts(packets: Sequence[Packet]) -> collections.Counter[int]:
    """{transmissions: packets}"""
    return collections.Counter(packet.attempts for packet in packets)


def attempt_percents(
        found: collections.Counter[int], maximum: int = OUWENS_MAX_ATTEMPTS
) -> tuple[list[float], int]:
    """Ouwens table 3.2: of the packets that were on the air, how many per cent
    were sent once, twice and so on, the last with all above; packets."""
    total = sum(count for tries, count in found.items() if tries)
    counts = [found[tries] for tries in range(1, maximum)]
    counts.append(total - sum(counts))
    return [100 * count / total if total else 0.0 for count in counts], total


def sequence(
        packets: Sequence[Packet]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]], list[tuple[int, int]]]:
    """(sent, delivered, lost), each [(ns of the link, bytes sent so far)], as a
    time-sequence plot has them: a packet at its arrival at the link, again when
    it came out, or when it was given up."""
    sent, delivered, lost, total = [], [], [], 0
    for packet in packets:
        total += packet.size
        sent.append((packet.arrival_ns, total))
        (lost if packet.is_lost() else delivered).append(
            (packet.departure_ns, total))
    return sent, delivered, lost


def worst_window(times: Sequence[float], length: float) -> float | None:
    """Where a window of that length begins that holds most of the times; None
    where there are none."""
    times, best, first = sorted(times), (0, None), 0
    for last, time in enumerate(times):
        while time - times[first] > length:
            first += 1
        best = max(best, (last - first + 1, times[first]),
                   key=lambda found: found[0])
    return best[1]


def mean_attempts(packets: Sequence[Packet]) -> float:
    """Of those that were on the air"""
    tried = [packet.attempts for packet in packets if packet.attempts]
    return statistics.fmean(tried) if tried else 0.0


# -------------------------------------------------------- papers: other traffic

class RequestReply(typing.NamedTuple):
    """Alanko tables 3 and 4, in the unit of the times."""

    minimum: float
    percentiles: dict
    maximum: float
    outliers: dict  # {tolerance: fraction}


def request_reply(
        times: Sequence[float],
        percents: tuple[int, int, int, int] = ALANKO_PERCENTS,
        tolerances: tuple[float, ...] = ALANKO_TOLERANCES_S) -> RequestReply:
    return RequestReply(
        min(times), {percent: frame_log.percentile(times, percent)
                     for percent in percents}, max(times),
        {tolerance: outliers(times, tolerance) for tolerance in tolerances})


def outliers(times: Sequence[float], tolerance: float) -> float:
    """The fraction that exceeds the median by more than that (Alanko 3.2)."""
    limit = statistics.median(times) + tolerance
    return sum(time > limit for time in times) / len(times)


def sustainable_rate(blocks: Sequence[tuple[float, int]]) -> float:
    """The median of the rates between any two of (time, bytes so far), Alanko
    3.3: what a transfer would do that never stagnates."""
    rates = [(x - y) / (t - u)
             for (u, y), (t, x) in itertools.combinations(blocks, 2) if t != u]
    return statistics.median(rates) if rates else 0.0


def one_way_delay(sent: int, received: int, reception: int,
                  sending_ack: int) -> float:
    """Of a packet, by the clocks of both ends, which need not agree: half of
    what the way there and back took (Erixzon equations 5.3 and 5.4). `sent`
    and `received`, of the acknowledgement, are the sender's times."""
    elapsed = sending_ack - reception
    return (received - sent - elapsed) / 2


# -------------------------------------------------------------- how it looks

def mos(psnr: float) -> int:
    """The grade that EvalVid gives a picture of so many dB."""
    for above, grade in EVALVID_GRADES:
        if psnr > above:
            return grade
    return 1


def worst_place(errors: Sequence[Sequence[float]]) -> int | None:
    """The place in display order with the largest sum; None if none differs."""
    sums = [sum(each) for each in zip(*errors)]
    return sums.index(max(sums)) if any(sums) else None
