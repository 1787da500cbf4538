# SPDX-License-Identifier: LGPL-2.1-or-later
"""Streams a live clip over two different links by several transports: mmtpsink,
ristsink with both bonding methods, the kernel's MPTCP, and UDP over the faster
link. The bitrate of the clip is higher than the rate of the faster link, and
lower than the sum of the rates of both links.

For each run of a transport, the test prints the percentage of frames that
arrived completely, the percentage of decodable frames, and the percentage of
frames that are decodable within one second after their due times.
"""

import contextlib
import dataclasses
import os
import pathlib
import re
import statistics
import subprocess
import threading
import time
import unittest

import linktestbed
import test_testbed

from wirelesslab.streams import clips, frame_log

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"])

PORT = 5004
MEGABITS = 3
LINKS = ("fast=a,b: rate=2500000 delay-ms=20 queue-bytes=64000",
         "slow=a,b: rate=1200000 delay-ms=120 queue-bytes=64000")
# A frame is in time if it can be decoded at most this number of ms after it
# was due.
IN_TIME = 1000

# Number of runs of each transport. All runs of a transport take place at the
# same time, and each run has its own links. A single run is not sufficient,
# because the results differ from run to run: with MPTCP, 91 to 100 % of the
# frames were in time.
RUNS = 4

# The time in s from the start of a transport until the test sends the first
# frame. The transport may use this time to measure its links.
SECONDS_TO_CONNECT = 5
AFTER = 5
# The test writes each frame into a pipe when the frame is due, and the element
# fdsrc reads the pipe. With do-timestamp, fdsrc gives each frame a timestamp:
# the running time at which the frame arrived. The difference between the
# timestamps of two frames therefore equals the difference between their due
# times.
#
# The first frame may be an exception, because fdsrc is not a live source. If
# the sink prerolls, the running time begins only when the first frame arrives,
# and this frame then has no timestamp.
SENDER = ("fdsrc do-timestamp=true blocksize=1000000 fd=0 ! mpegstat ! "
          "mpegstat location={sent} ! ")
FRAME_PERIOD = 1 / 25  # s
START_CODES = re.compile(rb"\x00\x00\x01([\x00-\xb8])")
# Last bytes of the start codes of three headers: picture header, sequence
# header and GOP header (ISO/IEC 13818-2, table 6-1). The headers of a frame
# begin with these start codes.
HEADERS = (0x00, 0xb3, 0xb8)
RECEIVER = (" ! mpegstat location={received} ! "
            "fakesink sync=false async=false")
TS_SENDER = SENDER + "mpegtsmux alignment=7 ! rtpmp2tpay ! "
RTP_CAPS = ("application/x-rtp,media=video,clock-rate=90000,"
            "encoding-name=MPV,payload=32")
# Two Python programs that do the same as the elements tcpclientsink and
# tcpserversrc, but with MPTCP instead of TCP. 262 is the protocol number
# IPPROTO_MPTCP.
MPTCP_SENDER = """
# This program opens an MPTCP connection to the address and port in its
# arguments. It copies its standard input into the connection. 262 is the
# protocol number of MPTCP.
import shutil, socket, sys
own = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
own.connect((sys.argv[1], int(sys.argv[2])))
shutil.copyfileobj(sys.stdin.buffer, own.makefile("wb", buffering=0), 4096)
"""
MPTCP_RECEIVER = """
# This program accepts an MPTCP connection on the port in its argument. It
# copies the data that arrive to its standard output. 262 is the protocol
# number of MPTCP.
import shutil, socket, sys
own = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
own.bind(("0.0.0.0", int(sys.argv[1])))
own.listen()
peer, _ = own.accept()
shutil.copyfileobj(peer.makefile("rb", buffering=0), sys.stdout.buffer, 4096)
"""


@dataclasses.dataclass(frozen=True)
class Transport:
    """A transport. `sender` and `receiver` are the pipelines of its two ends.
    `behind_sender` is shell code that is appended to the gst-launch-1.0
    command of the sender. `before_receiver` is shell code that is inserted
    before the gst-launch-1.0 command of the receiver.
    """
    sender: str
    receiver: str
    binds: str = "udp"
    behind_sender: str = ""
    before_receiver: str = ""
    needs: tuple = ()
    # Commands that run before the stream starts: pairs (host, shell command).
    first: tuple = ()


def rist(method):
    return Transport(
        TS_SENDER + f"ristsink bonding-method={method} sender-buffer=1200 "
        "bonding-addresses={b_fast}:%d,{b_slow}:%d" % (PORT, PORT),
        "ristsrc bonding-addresses={b_fast}:%d,{b_slow}:%d "
        "receiver-buffer=%d ! rtpmp2tdepay ! tsdemux" % (
            PORT, PORT, IN_TIME - 200) + RECEIVER,
        needs=("ristsink", "tsdemux"))


TRANSPORTS = {
    "mmtpsink": Transport(
        SENDER + f"mmtpsink sync=false port={PORT} latency={IN_TIME - 50} "
        "blocking=false channels='->{b_fast}?name=fast,->{b_slow}?name=slow'",
        f"mmtpsrc port={PORT}" + RECEIVER, needs=("mmtpsink",)),
    "ristsink, broadcast": rist("broadcast"),
    "ristsink, round-robin": rist("round-robin"),
    "udpsink, fast link": Transport(
        SENDER + f"rfc2250pay ! udpsink sync=false port={PORT} host={{b_fast}}",
        f"udpsrc port={PORT} caps={RTP_CAPS} ! rtpjitterbuffer latency=200 "
        "faststart-min-packets=1 ! rfc2250depay" + RECEIVER,
        needs=("rfc2250pay",)),
    "MPTCP": Transport(
        SENDER + "fdsink sync=false fd=1", "fdsrc fd=0" + RECEIVER, "tcp",
        f" | python3 -c '{MPTCP_SENDER}' $b_fast {PORT}",
        f"python3 -c '{MPTCP_RECEIVER}' {PORT} | ",
        first=(("a", "ip mptcp limits set subflows 2 add_addr_accepted 2"),
               ("b", "ip mptcp limits set subflows 2 add_addr_accepted 2"),
               ("b", "ip mptcp endpoint add $b_slow dev slow signal"))),
}


@dataclasses.dataclass
class Run:
    name: str
    sent: int
    whole: int
    decodable: int
    in_time: int
    # The lateness in ms of each frame that arrived: the time from when the
    # frame was due until its arrival.
    late: list

    def share(self, frames):
        return 100 * frames / self.sent

    def __str__(self):
        p50, p99 = (frame_log.percentile(self.late, percent)
                    for percent in (50, 99)) if self.late else (0, 0)
        return (f"{self.name}: whole {self.share(self.whole):.1f} %, decodable "
                f"{self.share(self.decodable):.1f} %, within a second "
                f"{self.share(self.in_time):.1f} %; late median {p50:.0f}, "
                f"99 % {p99:.0f} ms; {self.sent} frames")


def frames(video):
    """Yields the frames of the MPEG video `video`. Each frame includes the
    headers that precede it.
    """
    starts, in_headers = [], False
    for found in START_CODES.finditer(video):
        is_header = found[1][0] in HEADERS
        if is_header and not in_headers:
            starts.append(found.start())
        if is_header or found[1][0] < 0xb0:
            in_headers = is_header
    for begin, end in zip(starts, [*starts[1:], len(video)]):
        yield video[begin:end]


class MmtpPeersTest(linktestbed.LinkCase):

    def setUp(self):
        super().setUp()
        self.clip = clips.clip_path(BUILD, MEGABITS)
        if not self.clip.exists():
            self.skipTest(f"pipelines/clips made no clip of {MEGABITS} Mbit/s")

    def start(self, name):
        """Starts a run of the transport `name`. Returns three values: the
        testbed of the run, its log files, and the thread that writes the
        frames. Returns None if the kernel does not support the transport.
        """
        transport = TRANSPORTS[name]
        bed = self.open(*LINKS)
        for host, command in transport.first:
            if bed.run(host, command).returncode != 0:
                bed.close()
                return None
        logs = {way: self.directory / f"{len(self.beds)}-{way}"
                for way in ("sent", "received")}
        self.beds.append(bed)
        values = {**bed.variables("a"), **logs}
        bed.popen("b", f"{transport.before_receiver} gst-launch-1.0 -q "
                  + transport.receiver.format(**values))
        bed.wait_listening("b", transport.binds, PORT)
        sender = bed.popen("a", "gst-launch-1.0 -q " + transport.sender.format(
            **values) + transport.behind_sender, stdin=subprocess.PIPE)
        pump = threading.Thread(target=self.pump, args=(sender.stdin,))
        pump.start()
        return bed, logs, pump

    def stream(self, name):
        """Streams the clip RUNS times over the transport `name`, in parallel.
        Returns the list of the results. The list is empty if the kernel does
        not support the transport.
        """
        started = []
        for _ in range(RUNS):
            run = self.start(name)
            if run is None:
                return []
            started.append(run)
        time.sleep(SECONDS_TO_CONNECT + clips.SECONDS + AFTER)
        for bed, _, pump in started:
            bed.close()
            pump.join()
        return [self.judge(name, logs["sent"], logs["received"])
                for _, logs, _ in started]

    def pump(self, pipe):
        begin = time.monotonic() + SECONDS_TO_CONNECT
        with contextlib.suppress(BrokenPipeError), pipe:
            for number, frame in enumerate(frames(self.clip.read_bytes())):
                due = begin + number * FRAME_PERIOD
                time.sleep(max(0, due - time.monotonic()))
                pipe.write(frame)
                pipe.flush()

    @staticmethod
    def judge(name, sent_path, received_path):
        sent, received = frame_log.Log(sent_path), frame_log.Log(received_path)
        sent.read()
        received.read()
        join = frame_log.Join()
        join.add_sent(sent.frames)
        pairs = join.add_arrived(received.frames)
        late = [ns / frame_log.NS_PER_MS
                for ns in frame_log.lateness_ns(sent.frames, pairs)]

        def count(pairs):
            whole = {frame.coding_number for frame, _ in pairs}
            return len(frame_log.decodable(sent.frames, whole))

        return Run(name, len(sent.frames), len(pairs), count(pairs),
                   count([pair for pair, ms in zip(pairs, late)
                          if ms <= IN_TIME]), late)

    @test_testbed.needs_namespaces
    def test_more_frames_in_time_than_by_any_other(self):
        runs = {}
        for name, transport in TRANSPORTS.items():
            missing = [element for element in transport.needs
                       if not test_testbed.has_element(element)]
            if missing:
                print(f"{name}: left out, there is no {missing[0]}")
                continue
            runs[name] = self.stream(name)
            if not runs[name]:
                print(f"{name}: left out, the kernel has none")
                del runs[name]
                continue
            print(*runs[name], sep="\n", flush=True)
        in_time = {name: statistics.mean(run.in_time for run in of_name)
                   for name, of_name in runs.items()}
        ours = in_time.pop("mmtpsink")
        for name, theirs in in_time.items():
            with self.subTest(peer=name):
                self.assertGreater(ours, theirs)


if __name__ == "__main__":
    unittest.main()
