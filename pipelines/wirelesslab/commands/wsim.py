# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sends one clip over the same bad radio by UDP and by UDP-Lite, and shows
what arrives. The program is modelled on A. Singh's simulator WSim (Networking
Protocols for Wireless Multimedia Streaming, 2000, 5.1), but uses GStreamer
elements, sockets and an emulated link.

First the packets of the clip pass an emulated link in virtual time. The
program records what this link does to each packet, for example a loss. Then
UDP and UDP-Lite send the clip in real time, both at the same time. UDP and
UDP-Lite use separate emulated links. Both links repeat the record: if a packet
was lost in the record, each of the two links loses this packet.
"""

import argparse
import contextlib
import csv
import dataclasses
import json
import math
import pathlib
import shlex
import signal
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

from wirelesslab import files, gst_environment, paths, processes
from wirelesslab.errors import LabError
from wirelesslab.streams import clips, pictures, rtp_file
from wirelesslab.testbed import namespaces
from wirelesslab.testbed.testbed import Testbed

# Two sets of values for the errors of the radio. "wsim" stands for the trace
# of a place with bad reception in Singh's thesis (5.1). "live" stands for the
# live experiment of the thesis (5.2.3). The thesis gives neither the error
# rate nor the mean burst of this experiment, so the values were chosen to
# produce the same losses.
POINTS = {"wsim": "block-error-rate=0.0158 mean-burst=1.7",
          "live": "block-error-rate=0.0085 mean-burst=3.4"}
# The value 0 means that the transmit queue of the emulated radio has no limit.
# A large I-frame has many packets, and none of them is lost before it reaches
# the radio.
QUEUE = "txqueuelen=0"
# The properties of a radio link that delivers damaged packets, as PPP Lite
# does. The socket of the receiver decides whether to drop them.
TRANSPARENT = "profile=gsm-transparent frame-check=false"
# The properties of a radio link that retransmits damaged blocks. Its packets
# arrive late but undamaged.
RETRANSMITTING = "profile=gsm"
# The emulated phone line carries 9600 bit/s. Each byte needs ten bits on the
# line, including its start bit and its stop bit.
LINE_BYTES_PER_SECOND = 960
PPP = 7
IP_AND_UDP = 28
# The share of the phone line's capacity that the clip uses, from 0 to 1. With
# a larger share, the packets of an I-frame would fill the queue for a longer
# time. The frames that follow the I-frame would wait too long.
LOAD = 0.85
PORT = 5004
IP_PROTOCOL_UDPLITE = 136
# The names of the two hosts. The first host of a link is the mobile host, so
# the mobile host sends.
SENDER, RECEIVER = "a", "b"

# The maximum time for starting a pipeline. It is long because GStreamer scans
# all plugins when it is started for the first time.
SECONDS_TO_START = 60
SECONDS_TO_DRAIN = 60
SECONDS_TO_END = 10
MULTIPART = (b"--packet\r\nContent-Type: application/x-packet\r\n"
             b"Content-Length: %d\r\n\r\n%s\r\n")
NS = 1e9


@dataclasses.dataclass(frozen=True)
class Codec:
    """The elements and settings with which video of one codec is sent and
    received.
    """
    # The muxer that writes the clip into a container that qtdemux can read.
    container: str
    pay: str
    depay: str
    # Maximum number of bytes of video in an RTP packet. The option
    # --packet-size replaces this value.
    packet_size: int
    # The caps of the RTP packets.
    caps: str
    # The caps of the video that have to be added after the depayloader. The
    # muxer for Matroska needs them, but the depayloader does not set them.
    video: str


CODECS = {
    "h263": Codec(
        "mov", "rtph263ppay", "rtph263pdepay", 250,
        "application/x-rtp,media=video,clock-rate=90000,"
        "encoding-name=H263-1998,payload=96",
        "video/x-h263,variant=itu,width=176,height=144"),
    "mpeg": Codec(
        "mp4", "rfc2250pay", "rfc2250depay", 265,
        "application/x-rtp,media=video,clock-rate=90000,"
        "encoding-name=MPV,payload=32",
        "video/mpeg,mpegversion=1,systemstream=false,width=176,height=144"),
}


@dataclasses.dataclass(frozen=True)
class Transport:
    name: str
    title: str
    sink: str
    source: str
    bearer: str = TRANSPARENT


UDP = Transport("udp", "UDP", "udpsink", "udpsrc")
UDPLITE = Transport("udplite", "UDP-Lite", "udplitesink", "udplitesrc")
TRANSPORTS = (UDP, UDPLITE)
UDP_RLP = Transport("udp-rlp", "UDP over RLP", "udpsink", "udpsrc",
                    RETRANSMITTING)


# ----------------------------------------------------------- the clip, the link

class Clip:
    """A short video clip, divided into RTP packets. The emulated phone line
    carries only 9600 bit/s, so the clip has to be played more slowly. The
    constructor computes by which factor.
    """

    def __init__(self, options: argparse.Namespace,
                 run_dir: pathlib.Path) -> None:
        self.codec = CODECS[options.codec]
        _, _, self.format, self.fps = clips.QCIF[options.codec]
        self.path = clips.make_qcif(options.build, options.codec,
                                    options.seconds)
        self._run_dir = run_dir
        self._mtu = rtp_file.HEADER_SIZE + options.packet_size
        self._env = gst_environment.environment(options.build)
        # The code divides the clip into packets twice. In the first division,
        # the clip has its normal speed. At this speed, it usually needs a
        # higher bitrate than the phone line has. The only purpose of the first
        # division is to learn the sizes of the packets. From the sizes, the
        # code computes how much the clip has to be slowed down. In the second
        # division, the slowed-down clip is divided into packets.
        self._packetize(1)
        self.speed = max(1, self.line_seconds() / LOAD / options.seconds)
        self._packetize(self.speed)
        self.seconds = options.seconds * self.speed

    def pay(self) -> str:
        """Returns the payloader with its properties for gst-launch-1.0. SSRC,
        first sequence number and first timestamp are fixed, so UDP and UDP-Lite
        send identical packets.
        """
        return (f"{self.codec.pay} mtu={self._mtu} ssrc=1 seqnum-offset=0 "
                "timestamp-offset=0")

    def source(self) -> str:
        return f"filesrc location={shlex.quote(str(self.slow))} ! qtdemux"

    def _packetize(self, speed: float) -> None:
        self.slow = self._run_dir / f"slow.{self.codec.container}"
        packets = self._run_dir / "sent.rtp"
        pictures.ffmpeg(["-f", self.format, "-i", self.path, "-c", "copy",
                         "-bsf:v", f"setts=ts=N*{speed / self.fps}/TB",
                         self.slow], "giving the clip its pace")
        launch(f"{self.source()} ! {self.pay()} ! rtpstreampay "
               f"! filesink location={shlex.quote(str(packets))}", self._env,
               "making packets")
        self.packets = rtp_file.read(packets)
        self.frames = rtp_file.frames(self.packets)
        if len(self.packets) > 1 << 16:
            raise LabError(
                f"the clip has {len(self.packets)} packets, but RTP has only "
                "65536 sequence numbers; choose a shorter clip with --seconds")

    def line_seconds(self) -> float:
        return sum(len(packet.data) + IP_AND_UDP + PPP
                   for packet in self.packets) / LINE_BYTES_PER_SECOND

    def cross_radio(self, link: str, pattern: pathlib.Path) -> None:
        """Sends the packets of the clip over an emulated link in virtual time.
        `link` contains the properties of the link. What happens to each packet
        is recorded in the file `pattern`.
        """
        parts = self._run_dir / "packets"
        parts.write_bytes(b"".join(
            MULTIPART % (size, bytes(size)) for size in (
                len(packet.data) + IP_AND_UDP for packet in self.packets)))
        launch(f"filesrc location={shlex.quote(str(parts))} "
               "! multipartdemux boundary=packet "
               # This data rate is so high that, in virtual time, all packets
               # arrive at the link nearly at once. Until all are sent, the
               # link therefore always has a packet to send.
               "! identity single-segment=true datarate=1000000000 "
               f"! wirelesslink mode=timestamp {link} "
               f"record-pattern={shlex.quote(str(pattern))} ! fakesink",
               self._env, "the radio")


def launch(pipeline: str, env: dict[str, str], what: str) -> None:
    processes.run(["gst-launch-1.0", "-q", *shlex.split(pipeline)], what,
                  env=env)


# ---------------------------------------------------------------- one transport

class Run:
    """Sends the clip by one transport. Each Run opens a separate link."""

    def __init__(self, transport: Transport, clip: Clip, link: str,
                 options: argparse.Namespace, run_dir: pathlib.Path) -> None:
        self.transport = transport
        self._clip = clip
        self._backend = (f" backend={options.backend}"
                         if transport is UDPLITE else "")
        self._dir = run_dir / transport.name
        self._dir.mkdir()
        self.packets = self._dir / "received.rtp"
        self.video = self._dir / "received.mkv"
        self._bed = Testbed(
            [f"wl0={SENDER},{RECEIVER}: {link}"],
            build=options.build, logs=self._dir,
            # The sender writes all packets of a frame in one burst. The
            # transmit queue of the network device wl0 has room for the whole
            # burst, so no packet is lost before it reaches the link.
            devices={"wl0": "txqueuelen=1000"})

    def __enter__(self) -> Self:
        self._bed.__enter__()
        try:
            self._receiver = self._start_receiver()
        except BaseException:
            self._bed.close()
            raise
        return self

    def __exit__(self, *_: Any) -> None:
        self._bed.close()

    def _popen(self, host: str, pipeline: str) -> namespaces.Command:
        with open(self._output(host), "w") as output:
            return self._bed.popen(
                host, ["gst-launch-1.0", "-e", *shlex.split(pipeline)],
                stdout=output, stderr=subprocess.STDOUT)

    def _output(self, host: str) -> pathlib.Path:
        return self._dir / f"{host}.out"

    def _address(self) -> str:
        return self._bed.variables(SENDER)[RECEIVER]

    def _start_receiver(self) -> namespaces.Command:
        """Starts the receiver and waits until its socket is open. The jitter
        buffer does not wait for packets, because no packet is late or
        reordered on this link. The buffer is only needed to give each frame
        the timestamp of its packets.
        """
        codec = self._clip.codec
        child = self._popen(
            RECEIVER, f"{self.transport.source}{self._backend} "
            f"address={self._address()} port={PORT} reuse=false "
            f'caps="{codec.caps}" ! tee name=t '
            "t. ! queue ! rtpstreampay "
            f"! filesink location={shlex.quote(str(self.packets))} async=false "
            "t. ! queue ! rtpjitterbuffer mode=none latency=0 "
            f'! {codec.depay} ! capssetter caps="{codec.video}" ! matroskamux '
            f"! filesink location={shlex.quote(str(self.video))} async=false")
        deadline = time.monotonic() + SECONDS_TO_START
        while not self._is_listening():
            self._check(RECEIVER, child)
            if time.monotonic() > deadline:
                raise self._failure(RECEIVER, "did not open its port")
            time.sleep(0.02)
        return child

    def _is_listening(self) -> bool:
        """Returns whether the receiver's socket is open. A receiver of UDP-Lite
        opens a UDP-Lite socket, a raw socket or a UDP socket, depending on its
        backend. All three kinds are checked. No other program runs in this
        host, so any such socket is the receiver's.
        """
        return any(self._bed.is_listening(RECEIVER, kind, port)
                   for kind, port in (("udp", PORT), ("udplite", PORT),
                                      ("raw", IP_PROTOCOL_UDPLITE)))

    def start_sender(self) -> None:
        self._sender = self._popen(
            SENDER, f"{self._clip.source()} ! clocksync ! {self._clip.pay()} "
            f"! {self.transport.sink}{self._backend} host={self._address()} "
            f"port={PORT} bind-port={PORT} sync=false async=false")

    def has_sent(self) -> bool:
        """Returns whether the sender has sent all packets. Raises LabError if a
        process ended too early or failed.
        """
        self._bed.check()
        self._check(RECEIVER, self._receiver)
        if self._sender.poll() not in (None, 0):
            self._check(SENDER, self._sender)
        return self._sender.poll() == 0

    def _check(self, host: str, child: namespaces.Command) -> None:
        if child.poll() is not None:
            raise self._failure(
                host, f"ended ({processes.describe(child.returncode)})")

    def _failure(self, host: str, what: str) -> LabError:
        words = self._output(host).read_text(errors="replace")
        role = "sender" if host == SENDER else "receiver"
        return LabError(f"the {role} of {self.transport.title} {what}. The "
                        f"end of its output:\n{processes.tail(words)}")

    def finish(self) -> None:
        """Ends the links, and then the receiver. Each link delivers its waiting
        packets before it ends. The receiver's file is therefore complete."""
        for link in self._bed.link_processes():
            self._end(link, SECONDS_TO_DRAIN, "the link")
        self._end(self._receiver, SECONDS_TO_END, "the receiver")

    def _end(self, process: namespaces.Command, seconds: float,
             what: str) -> None:
        process.send_signal(signal.SIGINT)
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise LabError(
                f"{what} of {self.transport.title} did not end within "
                f"{seconds:g} s") from None
        if status != 0:
            raise LabError(f"{what} of {self.transport.title} failed "
                           f"({processes.describe(status)})")

    def fates(self) -> dict[int, tuple[str, float, float]]:
        """Reads the log of the link. Returns {index of a packet: (fate, time
        of arrival at the link, time of departure)}. The fate says what the
        link did with the packet, for example "delivered". The times are in
        seconds.
        """
        found = {}
        for line in self._bed.log("wl0").read_text().splitlines():
            word, *values = line.split()
            if word == "packet" and values[1] == "0":
                found[int(values[3])] = (values[5], int(values[7]) / NS,
                                         int(values[8]) / NS)
        return found


def send(runs: Sequence[Run], seconds: float) -> None:
    """Sends the clip by all transports at the same time. Returns when all of
    them have ended.
    """
    for run in runs:
        run.start_sender()
    deadline = time.monotonic() + 2 * seconds + SECONDS_TO_START
    # The argument of all() is a list and not a generator. With a generator,
    # all() would stop at the first transport that is still sending, and
    # has_sent() would not be called for the transports after it. But
    # has_sent() also notices failures, so it must be called for every
    # transport in each round.
    while not all([run.has_sent() for run in runs]):
        if time.monotonic() > deadline:
            raise LabError("the senders did not end within "
                           f"{2 * seconds + SECONDS_TO_START:.0f} s")
        time.sleep(0.05)
    # A link needs some time to read the last packets from its network devices.
    # If finish() ended the link immediately, these packets would be lost.
    time.sleep(0.2)
    for run in runs:
        run.finish()


# ----------------------------------------------------------------- what arrived

class Outcome:
    """The result of sending the clip by one transport: which packets and frames
    arrived, and which were lost.
    """

    def __init__(self, run: Run, clip: Clip) -> None:
        self.transport = run.transport
        self.video = run.video
        self.sent = clip.packets
        self.arrived = rtp_file.match(clip.packets, rtp_file.read(run.packets))
        self.fates = run.fates()
        self.whole_frames = rtp_file.whole_frames(clip.packets, self.arrived)
        # The mean square error of each picture, compared with the sent
        # picture.
        self.errors = []

    def lost(self) -> int:
        return len(self.sent) - len(self.arrived)

    def lost_share(self) -> float:
        return self.lost() / len(self.sent)

    def damaged(self) -> int:
        """Returns the number of packets that reached the application with wrong
        bytes.
        """
        return sum(packet.data != self.sent[index].data
                   for index, packet in self.arrived.items())

    def delivered_bytes(self) -> int:
        return sum(packet.payload_size() for packet in self.arrived.values())

    def times(self) -> list[tuple[float, float]]:
        """Returns a pair (time sent, time of arrival) for each packet that
        arrived. The times are in seconds by the clock of the link.
        """
        return [self.fates[index][1:] for index in sorted(self.arrived)
                if index in self.fates]

    def delay(self) -> float:
        return mean(end - begin for begin, end in self.times())

    def gaps(self) -> list[float]:
        """Returns the times in seconds between consecutive arrivals. Singh
        calls these times jitter (5.2.2).
        """
        ends = [end for _, end in self.times()]
        return [after - before for before, after in zip(ends, ends[1:])]

    def throughput(self) -> float:
        """Returns the throughput in bit/s. It counts the RTP payloads, which
        consist of the video and the headers of the payload format.
        """
        begin = min((begin for _, begin, _ in self.fates.values()), default=0)
        end = max((end for _, _, end in self.fates.values()), default=0)
        return 8 * self.delivered_bytes() / (end - begin) if end else math.nan

    def psnr(self) -> float:
        return pictures.psnr(self.errors)

    def write_log(self, path: pathlib.Path) -> None:
        with open(path, "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["packet", "frame", "size_bytes", "sent_s",
                             "arrived_s", "link", "delivered",
                             "damaged_bytes"])
            frame_of = {index: number for number, indices
                        in enumerate(rtp_file.frames(self.sent))
                        for index in indices}
            for index, packet in enumerate(self.sent):
                fate, begin, end = self.fates.get(
                    index, ("", math.nan, math.nan))
                arrived = self.arrived.get(index)
                writer.writerow([
                    index, frame_of[index], len(packet.data), f"{begin:.6f}",
                    f"{end:.6f}" if arrived else "", fate,
                    int(arrived is not None),
                    differing_bytes(packet, arrived) if arrived else ""])

    def summary(self) -> dict[str, float]:
        return {
            "sent": len(self.sent), "lost": self.lost(),
            "damaged": self.damaged(),
            "delivered_bytes": self.delivered_bytes(),
            "throughput_bps": self.throughput(), "delay_s": self.delay(),
            "gap_mean_s": mean(self.gaps()),
            "gap_deviation_s": deviation(self.gaps()),
            "whole_frames": len(self.whole_frames), "psnr_db": self.psnr()}


def differing_bytes(packet: rtp_file.Packet, other: rtp_file.Packet) -> int:
    return (sum(a != b for a, b in zip(packet.data, other.data))
            + abs(len(packet.data) - len(other.data)))


def mean(values: Iterator[Any] | list[float]) -> float:
    values = list(values)
    return statistics.fmean(values) if values else math.nan


def deviation(values: Sequence[float]) -> float:
    return statistics.pstdev(values) if values else math.nan


def look(clip: Clip, outcomes: list[Outcome], run_dir: pathlib.Path,
         output: pathlib.Path) -> int:
    """Compares each received frame with the frame that was sent. Writes these
    videos to the directory `output`: the sent video, the video that each
    transport delivered, and a comparison video that shows all of these videos
    side by side. Also writes one frame of the comparison video as a still
    image, and returns the number of this frame.
    """
    sent = output / "sent.mkv"
    count = len(clip.frames)
    pictures.decode_sent(clip.path, clip.format, clip.fps, count, sent)
    for outcome in outcomes:
        target = output / f"{outcome.transport.name}.mkv"
        first = outcome.whole_frames[0] if outcome.whole_frames else 0
        if not pictures.decode_received(outcome.video, clip.speed, first,
                                        clip.fps, count, target):
            print(f"By {outcome.transport.title} nothing arrived that can be "
                  "decoded.")
        outcome.errors = pictures.errors(target, sent, run_dir)
    videos = [sent, *(output / f"{outcome.transport.name}.mkv"
                      for outcome in outcomes)]
    side_by_side = output / "side-by-side.mkv"
    pictures.put_side_by_side(videos, side_by_side)
    number = bad_picture(outcomes)
    pictures.take_picture(side_by_side, number, output / "figure.png")
    return number


def bad_picture(outcomes: list[Outcome]) -> int:
    """Returns the number of a typical bad picture. Each transport has
    transmitted each picture, so a picture has one error value for each
    transport. The function adds the error values of a picture. A typical bad
    picture has a large sum: nine of ten pictures have a smaller sum than the
    returned picture.
    """
    sums = [sum(errors) for errors in zip(*(outcome.errors
                                            for outcome in outcomes))]
    order = sorted(range(len(sums)), key=sums.__getitem__)
    return order[len(order) * 9 // 10]


# -------------------------------------------------------------------- the table

def rows(outcomes: list[Outcome]) -> list[list[str]]:
    def row(what: str, form: str, value: Callable[..., Any]) -> list[str]:
        return [what, *(form.format(value(outcome)) for outcome in outcomes)]

    return [
        ["", *(outcome.transport.title for outcome in outcomes)],
        row("packets sent", "{}", lambda o: len(o.sent)),
        row("lost", "{}", Outcome.lost),
        row("lost, %", "{:.2f}", lambda o: 100 * o.lost_share()),
        row("delivered with damage", "{}", Outcome.damaged),
        row("video delivered, bytes", "{}", Outcome.delivered_bytes),
        row("throughput, bit/s", "{:.0f}", Outcome.throughput),
        row("delay, ms", "{:.0f}", lambda o: 1000 * o.delay()),
        row("between arrivals, ms", "{:.0f}", lambda o: 1000 * mean(o.gaps())),
        row("  standard deviation", "{:.0f}",
            lambda o: 1000 * deviation(o.gaps())),
        row("frames without a gap", "{}", lambda o: len(o.whole_frames)),
        row("PSNR, dB", "{:.1f}", Outcome.psnr),
    ]


def comparison(udp: Outcome, udplite: Outcome) -> str:
    if not udp.lost():
        return "The radio damaged no packet."
    words = (f"UDP-Lite lost {udplite.lost() / udp.lost():.2f} of what UDP "
             "lost")
    if udp.arrived:
        more = 100 * (len(udplite.arrived) / len(udp.arrived) - 1)
        words += f" and delivered {more:.1f} % more"
    return words + "."


def table(outcomes: list[Outcome]) -> list[str]:
    lines = rows(outcomes)
    widths = [max(map(len, column)) for column in zip(*lines)]
    return ["  ".join([line[0].ljust(widths[0]),
                       *(cell.rjust(width) for cell, width
                         in zip(line[1:], widths[1:]))]).rstrip()
            for line in lines]


# ------------------------------------------------------------------------- main

def simulate(options: argparse.Namespace,
             run_dir: pathlib.Path) -> tuple[list[Outcome], Clip]:
    """Sends the clip by all transports. Returns two values: a list of Outcome
    objects, and the clip. The list begins with UDP and UDP-Lite, in the order
    of TRANSPORTS. With the option --rlp, UDP over RLP follows.
    """
    clip = Clip(options, run_dir)
    radio = (f"{QUEUE} seed={options.seed} {POINTS[options.point]} "
             f"{options.link}")
    pattern = options.output / "radio.pattern"
    clip.cross_radio(f"{TRANSPARENT} {radio}", pattern)
    print(f"Sending {len(clip.packets)} packets of {clip.path.name}, "
          f"{clip.speed:.2f} times slower than the clip plays, because the "
          f"line has 9600 bit/s. This takes {clip.seconds:.0f} s.", flush=True)
    # A radio was simulated and recorded before these runs. The record says
    # what happened to each packet. The links of UDP and UDP-Lite apply this
    # record. The third link has RLP (Radio Link Protocol), which sends damaged
    # blocks again. Such a link cannot apply a record. It therefore has a radio
    # of its own, with the same seed as the recorded radio. Because of the same
    # seed, both radios damage the same blocks.
    replay = f" pattern={shlex.quote(str(pattern))}"
    runs = [Run(transport, clip, f"{transport.bearer} {radio}" + (
                replay if transport.bearer == TRANSPARENT else ""),
                options, run_dir)
            for transport in (*TRANSPORTS, *([UDP_RLP] * options.rlp))]
    with contextlib.ExitStack() as stack:
        for run in runs:
            stack.enter_context(run)
        send(runs, clip.seconds)
        return [Outcome(run, clip) for run in runs], clip


def parse_arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="pipelines/wsim",
        description="Sends a small clip over an emulated GSM line twice, by "
        "UDP and by UDP-Lite, with the same radio errors, and shows what "
        "arrives of it.")
    parser.add_argument("--codec", choices=CODECS, default="h263",
                        help="codec of the clip (%(default)s)")
    parser.add_argument("--point", choices=POINTS, default="wsim",
                        help="error rate of the radio: that of the thesis' "
                        "simulations or of its live experiment (%(default)s)")
    parser.add_argument("--seed", type=int, default=1,
                        help="seed of the radio (%(default)s)")
    parser.add_argument("--link", metavar="'PROPERTIES'", default="",
                        help="further properties of wirelesslink, such as "
                        "'block-error-rate=0.05 mean-burst=1' or "
                        "'block-trace=FILE'")
    parser.add_argument("--seconds", type=int, default=30,
                        metavar="1..600",
                        help="length of the clip in seconds (%(default)s)")
    parser.add_argument("--packet-size", type=int, metavar="BYTES",
                        help="maximum bytes of video in a packet (250 for "
                        "H.263, whose packets then have about 125 on average; "
                        "265, the minimum, for MPEG)")
    parser.add_argument("--rlp", action="store_true",
                        help="also send by UDP over the same radio with RLP, "
                        "which retransmits damaged radio blocks")
    parser.add_argument("--backend", default="auto",
                        choices=("auto", "kernel", "raw"),
                        help="backend of UDP-Lite (%(default)s)")
    parser.add_argument("--output", type=pathlib.Path, metavar="DIR",
                        help="directory for videos, picture and logs "
                        "(BUILD/wsim)")
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR",
                        default=paths.BUILD_DIR,
                        help="build directory (build)")
    options = parser.parse_args(words)
    if not 1 <= options.seconds <= 600:
        parser.error("--seconds must be from 1 to 600")
    if options.packet_size is None:
        options.packet_size = CODECS[options.codec].packet_size
    if not 40 <= options.packet_size <= 1400:
        parser.error("--packet-size must be from 40 to 1400")
    options.build = options.build.resolve()
    options.output = (options.output or options.build / "wsim").resolve()
    return options


def main() -> None:
    options = parse_arguments()
    processes.die_on_signals()
    options.output.mkdir(parents=True, exist_ok=True)
    run = files.RunDirectory(options.output, "run-")
    try:
        outcomes, clip = simulate(options, run.path)
        number = look(clip, outcomes, run.path, options.output)
        for outcome in outcomes:
            outcome.write_log(
                options.output / f"{outcome.transport.name}.csv")
        (options.output / "summary.json").write_text(json.dumps(
            {outcome.transport.name: outcome.summary()
             for outcome in outcomes}, indent=1) + "\n")
    finally:
        run.close()
    print("\n".join(["", *table(outcomes), "",
                     comparison(*outcomes[:len(TRANSPORTS)])]))
    titles = [outcome.transport.title for outcome in outcomes]
    print(f"Videos and logs are in {options.output}; figure.png there is "
          f"picture {number} as sent, by {', by '.join(titles[:-1])} and by "
          f"{titles[-1]}.")
