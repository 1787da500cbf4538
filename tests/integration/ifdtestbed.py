# SPDX-License-Identifier: LGPL-2.1-or-later
"""Helpers for tests that stream a video clip over links that are too slow for
it. A test can run several transports at the same time, each between two
emulated hosts of its own. If the machine was too busy during a run, the result
does not depend on the transport alone. Such a run is not valid."""

import collections
import concurrent.futures
import contextlib
import dataclasses
import functools
import math
import os
import pathlib
import re
import shutil
import tempfile
from unittest import mock

import test_testbed

from wirelesslab.streams import (
    clips,
    frame_log,
    placement,
    progress,
    stream,
    transports,
)
from wirelesslab.testbed import link_log, wakeup_delay

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"])

PORT = 5004
NS_PER_MS = 1e6
# Shell command that makes TCP use the congestion control CUBIC on the hosts of
# the test. Without it, TCP would use the default of the machine, which may be
# another algorithm. A network namespace may be forbidden to change this
# default, but it may always set the congestion control of a route. The command
# therefore sets CUBIC for a route.
CUBIC = (f"ip route replace 10.77.0.0/24 dev {placement.LINK} src $sender "
         "congctl cubic")
# Properties of the element wirelesslink, which emulates a link here. These
# properties describe the 802.11b link that Ouwens (2006) measured. The radio
# card transmits each packet at most four times. The queue of the card has room
# for 20 packets, which need 50 ms on the air. TCP with the congestion control
# CUBIC keeps this queue full.
RADIO = "profile=80211b retry-limit=4 txqueuelen=20"
OVEN = "interference=20-40"
# If the machine is busy, three things are late: the sender sends frames late,
# the emulated link delivers packets late, and a sleeping process is woken
# late. A run is invalid if one of these limits (in ms) is exceeded:
# - MS_LATE is the limit for the 99th percentile of each of these three kinds
#   of lateness. It is half of the time between two frames.
# - MS_FROZEN is the limit for the longest time by which a sleeping process was
#   woken late. It is a fifth of MS_IN_TIME, the delay that makes a frame
#   useless.
MS_LATE = 20
MS_FROZEN = 100
# Maximum delay of a frame in ms, from the time when the frame is due until its
# arrival. In a live stream, a frame that arrives later is useless.
MS_IN_TIME = 500
BUCKET = "rate 5mbit burst 5kb limit 75000"
# Property of the elements udpsink and udplitesink: the size in bytes of the
# socket's send buffer. The buffer has room for 52 packets, which need 0.12 s
# at 5 Mbit/s. This is the rate of the token bucket UDP_BUCKET, into which the
# socket sends. The queue of the bucket has room for more packets than the send
# buffer. The send buffer is therefore full first. The sink then waits, so no
# packet is dropped.
SMALL_BUFFER = "buffer-size=60000"
UDP_BUCKET = "rate 5mbit burst 5kb limit 1mb"


def clip_path(rate):
    return clips.clip_path(BUILD, rate)


class Hosts(placement.OverLink):
    @contextlib.contextmanager
    def opened(self, run_dir, ports):
        with super().opened(run_dir, ports):
            self._bed.run("sender", CUBIC, check=True)
            yield


class Bottleneck(Hosts):
    """A link that loses no packets. The link itself does not limit the rate. A
    token bucket in the kernel of the sending host limits the rate instead."""

    def __init__(self, bucket=BUCKET):
        super().__init__("", BUILD,
                         buckets={f"sender.{placement.LINK}": bucket})
        self._text = f"{placement.LINK}={','.join(placement.ROLES)}: none"

    def hang_up(self):
        # The result says whether packets may still be in the queue of the
        # element wirelesslink. If it is True, the caller waits at the end of a
        # run until this queue is empty. The link of this class does not use
        # wirelesslink, which emulates the links of other classes. The result
        # False therefore tells the caller not to wait.
        return False

    def lateness_ms(self):
        return 0

    def lost_on_air(self):
        return 0


class Radio(Hosts):
    def __init__(self, properties=RADIO):
        super().__init__(f"{properties} stats-update-interval=1000", BUILD)

    def lateness_ms(self):
        """Returns the 99th percentile of the emulated link's lateness in ms.
        The lateness is the time by which the link delivers a packet later than
        its model has computed.
        """
        output = (self._bed.logs / f"{placement.LINK}.out").read_text(
            errors="replace")
        return (link_log.lateness_ns(output) or 0) / NS_PER_MS

    def lost_on_air(self):
        return sum(tally.fates["air"] for tally in link_log.read(
            self._bed.log(placement.LINK)).values())


@dataclasses.dataclass
class Case:
    """A clip, the transport that streams it, and the link over which it is
    streamed (`place`).

    `is_paced` is true if the sender itself decides when it sends each packet.
    If `is_paced` is false, a slow network blocks the sender, so the sender's
    log shows frames that were sent late. The network is then the cause, and
    not a busy machine. In this case, the field sender_late of the result is
    set to 0, so that the run is not considered invalid."""
    transport: dict
    place: placement.OverLink
    clip: pathlib.Path
    is_paced: bool = True


@dataclasses.dataclass
class Run:
    """Result of streaming a clip over one transport. Times are in ms, except
    where a comment names another unit.
    """
    name: str
    sent: dict
    arrived: dict
    lost: dict
    decodable: dict
    # Maps each frame type to the number of decodable frames that arrived in
    # time: at most MS_IN_TIME ms after they were due.
    in_time: dict
    foreign_frames: int
    p50: float
    p99: float
    max: float
    # Duration of the stream in s. It begins when the sender sends the first
    # frame, and ends one frame period after the arrival of the last frame.
    end: float
    # The time in ms by which the sender itself was late. This time is measured
    # for each frame, from the moment when the frame is due until it is sent.
    # The value is the 99th percentile of these times. It is 0 if the sender
    # does not pace its packets.
    sender_late: float
    link_late: float
    ticks_late: float
    ticks_worst: float
    # The number of packets that the emulated radio lost: it transmitted each
    # of them as often as it is allowed to, and every attempt failed.
    air: int

    def why_void(self):
        """Returns the reason why the run is not valid, or None if the run is
        valid.
        """
        for what, ms, maximum in (("the sender", self.sender_late, MS_LATE),
                               ("the link", self.link_late, MS_LATE),
                               ("the machine", self.ticks_late, MS_LATE),
                               ("the machine", self.ticks_worst, MS_FROZEN)):
            if ms > maximum:
                return f"{self.name}: {what} was {ms:.0f} ms late"
        return None

    def lost_share(self, type):
        return 100 * self.lost.get(type, 0) / self.sent[type]

    def all_lost_share(self):
        return self._share(self.lost)

    def decodable_share(self):
        return self._share(self.decodable)

    def in_time_share(self):
        return self._share(self.in_time)

    def _share(self, frames):
        return 100 * sum(frames.values()) / sum(self.sent.values())

    def __str__(self):
        types = frame_log.FRAME_TYPES
        lost = " ".join(f"{type} {self.lost.get(type, 0)}" for type in types)
        shares = " ".join(f"{self.lost_share(type):.1f}" for type in types)
        return (f"{self.name}: lost {lost} ({shares} %), decodable "
                f"{self.decodable_share():.1f} %, in time "
                f"{self.in_time_share():.1f} %, late {self.p50:.0f} p99 "
                f"{self.p99:.0f} max {self.max:.0f} ms, end {self.end:.2f} s, "
                f"{self.air} packets lost on the air; "
                f"itself late: sender {self.sender_late:.1f}, link "
                f"{self.link_late:.1f}, machine {self.ticks_late:.1f} "
                f"(worst {self.ticks_worst:.1f}) ms")


def decodable_in_time(sent, received):
    """Returns {frame type: number of frames that the receiver can decode in
    time}. A frame that arrives late counts as lost. Frames that cannot be
    decoded without a late frame do not count, either. `sent` and `received`
    are the frame logs of the sender and of the receiver.
    """
    join = frame_log.Join()
    join.add_sent(sent.frames)
    pairs = join.add_arrived(received.frames)
    late = frame_log.lateness_ns(sent.frames, pairs)
    whole = {frame.coding_number for (frame, _), ns in zip(pairs, late)
             if ns <= MS_IN_TIME * NS_PER_MS}
    return dict(collections.Counter(
        frame.type for frame in frame_log.decodable(sent.frames, whole)))


def measure(name, case, sent, received, ticks_ms):
    result = frame_log.measure(sent, received)
    late = result.lateness_ns or [math.nan]
    last = received.frames[-1].wall_ns if received.frames else math.nan
    period = sent.frames[1].expected_ns - sent.frames[0].expected_ns
    p50, p99, maximum = (frame_log.percentile(late, percent) / NS_PER_MS
                      for percent in (50, 99, 100))
    return Run(
        name, dict(result.sent), dict(result.arrived), dict(result.lost),
        dict(result.decodable), decodable_in_time(sent, received),
        result.foreign_frames, p50, p99, maximum,
        (last - sent.frames[0].wall_ns + period) / 1e9,
        result.sender_late_ns / NS_PER_MS if case.is_paced else 0,
        case.place.lateness_ms(), frame_log.percentile(ticks_ms, 99),
        max(ticks_ms), case.place.lost_on_air())


def transport(name, **replaced):
    """Returns the transport `name` as the file transports.ini describes it.
    For each argument ELEMENT=TEXT in `replaced`, the name ELEMENT in the
    sender's pipeline is replaced by TEXT.
    """
    found = dict(transports.read()[name])
    for old, new in replaced.items():
        found["sender"] = re.sub(rf"\b{old}\b", new, found["sender"])
    return found


def ifd(algorithm="gop"):
    return transport("ifd", ifdsink=f"ifdsink algorithm={algorithm}")


def stream_clip(name, case, directory):
    """Streams the clip of `case`, and writes the logs into `directory`.
    Returns the results as a Run."""
    directory.mkdir(parents=True)
    with case.place.opened(directory, [PORT]), \
            wakeup_delay.Measurement() as machine:
        sent, received, warnings = stream.stream(
            case.transport, case.clip, PORT, directory, case.place)
    for words in warnings:
        print(f"    {name}: {words}", flush=True)
    run = measure(name, case, sent, received, machine.late_ms)
    # Other threads print at the same time. The whole text is printed with one
    # call, so that their output does not interrupt it.
    print(f"{run}\n", end="", flush=True)
    return run


def stream_all(cases, directory, at_once):
    """Streams the clip of each case in `cases`, which is {name: Case}. At most
    `at_once` cases run at the same time, each over its own link. Returns
    {name: Run}.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with mock.patch.object(progress, "PLAIN_EVERY", math.inf), \
            concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        futures = {name: pool.submit(
            stream_clip, name, case,
            pathlib.Path(tempfile.mkdtemp(dir=directory)) / "run")
            for name, case in cases.items()}
        concurrent.futures.wait(futures.values())
    return {name: future.result() for name, future in futures.items()}


def stream_valid(cases, directory, at_once):
    """Streams the clip of each case in `cases`, which is {name: Case}, and
    repeats each invalid run once. Returns {name: Run}. At most `at_once` cases
    run at the same time. During the repetitions, the maximum is only half of
    `at_once`, so that the machine is less busy.
    """
    runs = stream_all(cases, directory, at_once)
    again = {name: cases[name] for name, run in runs.items() if run.why_void()}
    for name in again:
        print(f"again: {runs[name].why_void()}", flush=True)
    return {**runs, **stream_all(again, directory, max(at_once // 2, 1))}


def needs_all(test):
    """Decorator that skips a test if the programs for a stream over IFD are
    missing.
    """
    @functools.wraps(test)
    def guarded(self):
        for element in ("ifdsink", "mpegstat", "rfc2250pay", "wirelesslink"):
            if not test_testbed.has_element(element):
                self.skipTest(f"{element} is not built")
        if shutil.which("tc") is None:
            self.skipTest("there is no tc")
        test(self)
    return test_testbed.needs_namespaces(guarded)


class IfdCase(test_testbed.Api):
    def clip(self, rate):
        path = clip_path(rate)
        if not path.exists():
            self.skipTest(f"pipelines/clips made no clip of {rate} Mbit/s")
        return path
