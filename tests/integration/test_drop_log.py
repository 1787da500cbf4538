# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that the debug log contains a reason for each frame and each packet
that does not arrive. Most tests send a stream over the emulated link of the
demo (pipelines/demo) or over a path with a fixed rate.

The elements `ifdqueue` and `mmtpsink` depend on the clock, so their pipelines
run in real time. How much they drop depends on the speed of the machine, but
the log and the statistics must agree in any case. `mmtpsink` is tested over
the path with a fixed rate, and between two hosts over the demo's link. One
test checks only packets that the link loses. Its pipeline runs in virtual
time.
"""

import collections
import configparser
import os
import pathlib
import re
import socket
import subprocess
import time
import unittest

import test_testbed

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"])
CLIP = BUILD / "clips" / "bunny-6M.m2v"
# The number of frames in the stream. The emulated link of the demo has a
# period of interference. The stream is so long that it ends after this period.
FRAMES = 210
SECONDS_TO_WAIT = 60

DROP = re.compile(
    r" DEBUG +ifdqueue .*<ifdqueue0> dropped (?P<type>[IPB])-frame"
    r" (?P<number>\d+) of (?P<size>\d+) bytes when frame (?P<cause>\d+) came:"
    r" (?P<reason>[a-z-]+): (?P<rule>\w.*)$", re.M)
LOSS = re.compile(
    r" DEBUG +wirelesslink .*<wirelesslink0> flow 0: lost a packet of \d+ bytes"
    r" at [\d:.]+ after \d+ attempts: (?P<fate>[a-z-]+): \w.*$", re.M)
GIVEN_UP = re.compile(
    r" DEBUG +mmtpsink .*<mmtpsink0> gave up a (?P<kind>[a-z ]+) of \d+ bytes"
    r" with pts (?P<pts>[\d:.]+): (?P<reason>[a-z-]+): \w.*$", re.M)
# Matches the log line for a dropped buffer. The common base class of the
# network sinks writes this line.
SINK_DROP = re.compile(
    r" DEBUG +(?P<element>\w+) .*> dropped a buffer of (?P<size>\d+) bytes with"
    r" pts [\d:.]+: (?P<reason>[a-z-]+): \w.*$", re.M)
# Maps each reason for a drop in the log to the field of the statistics that
# counts the drops with this reason.
MMTP_FIELDS = {"late": "discarded", "no-room": "discarded-no-room",
               "incomplete": "discarded-incomplete",
               "connection-lost": "discarded-connection-lost"}
# Rate of the path in bit/s. It is lower than the 6000000 bit/s of the clip, so
# the sink has to drop frames.
SLOW_PATH = 3500000
# Time in s after the start of the stream at which the test kills the receiver.
SECONDS_TO_STREAM = 2
FIELD = re.compile(r"([a-z0-9-]+)=\((?:g?u?int64|g?uint)\)(-?\d+)")


def read_link():
    """Returns the properties that the demo gives to the element wirelesslink,
    as they are in the file pipelines/demo.ini.
    """
    demo = configparser.ConfigParser(interpolation=None)
    demo.read(SOURCE / "pipelines" / "demo.ini")
    return demo["link " + demo["matrix"]["links"]]["properties"]


def start_over_link(debug, payloader, link):
    return start(debug, f"{payloader} ! wirelesslink {read_link()} {link} ! "
                 "fakesink sync=false")


def start(debug, rest):
    """Starts a gst-launch-1.0 process that streams the clip. `rest` is the end
    of the pipeline: the elements that receive the clip's frames. `debug` is
    the value of GST_DEBUG. Returns the process."""
    pipeline = (f"filesrc location={CLIP} ! mpegstat ! identity "
                f"eos-after={FRAMES} ! {rest}")
    return subprocess.Popen(
        ["gst-launch-1.0", "-m", *pipeline.split()],
        env={**os.environ, "GST_DEBUG": debug, "GST_DEBUG_NO_COLOR": "1",
             "LC_ALL": "C"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def find_port():
    """Returns a free UDP port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def finish(process, element, returncode=0):
    """Waits until the process ends. Returns two values: the last statistics of
    the element, and the log. The element has either posted the statistics on
    the bus or logged them."""
    try:
        output, log = process.communicate(timeout=SECONDS_TO_WAIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    if process.returncode != returncode:
        raise AssertionError(f"gst-launch-1.0 ended with {process.returncode}, "
                             f"not {returncode}: {log}")
    stats = re.findall(rf"application/x-{element}-stats, .*",
                       output + log)[-1]
    return {name: int(value) for name, value in FIELD.findall(stats)}, log


class ClipCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        if not CLIP.exists():
            self.skipTest("pipelines/clips made no clip of 6 Mbit/s")

    def check_given_up(self, stats, log):
        """Checks that the log of mmtpsink has a line for each buffer that the
        statistics `stats` count as discarded. Returns how many buffers
        mmtpsink discarded for each reason.
        """
        given_up = list(GIVEN_UP.finditer(log))
        self.assertGreater(len(given_up), 0)
        # In this stream, each buffer is a frame and has a PTS of its own. If
        # two lines of the log had the same PTS, one frame would have been
        # logged twice.
        self.assertEqual(len({buffer["pts"] for buffer in given_up}),
                         len(given_up))
        reasons = collections.Counter(
            MMTP_FIELDS[buffer["reason"]] for buffer in given_up)
        for field in MMTP_FIELDS.values():
            self.assertEqual(reasons[field], stats[field], field)
        self.assertEqual(
            sum(buffer["kind"] == "droppable buffer" for buffer in given_up),
            stats["discarded-droppable"])
        return reasons


class DropLogTest(ClipCase):
    def check(self, stats, log):
        drops = list(DROP.finditer(log))
        self.assertGreater(len(drops), 0)
        # The log must have exactly one line for each dropped frame: the number
        # of lines equals the counter, and no frame is logged twice.
        self.assertEqual(len(drops), stats["dropped"])
        self.assertEqual(len({drop["number"] for drop in drops}), len(drops))
        self.assertEqual(sum(int(drop["size"]) for drop in drops),
                         stats["bytes-dropped"])
        reasons = collections.Counter(drop["reason"] for drop in drops)
        types = collections.Counter(drop["type"] for drop in drops)
        counted = {
            name.removeprefix("dropped-"): value
            for name, value in stats.items()
            if name.startswith("dropped-") and value}
        for type_ in "IPB":
            self.assertEqual(types[type_], counted.pop(type_.lower(), 0))
        self.assertEqual(dict(reasons), counted)

    def test_each_frame_that_ifdqueue_drops_is_explained(self):
        algorithms = "gop", "paper", "paper-gop"
        runs = [(name, start_over_link(
                    "ifdqueue:5", f"ifdqueue algorithm={name} ! rfc2250pay",
                    "blocking=true"))
                for name in algorithms]
        for name, process in runs:
            with self.subTest(name):
                self.check(*finish(process, "ifdqueue"))

    def test_each_packet_that_the_link_loses_is_explained(self):
        stats, log = finish(
            start_over_link("wirelesslink:5", "rfc2250pay", "mode=timestamp"),
            "wirelesslink")
        losses = collections.Counter(
            loss["fate"] for loss in LOSS.finditer(log))
        self.assertGreater(sum(losses.values()), 0)
        self.assertEqual(dict(losses), {
            name.removeprefix("lost-"): value for name, value in stats.items()
            if name.startswith("lost-") and value})

    def start_receiver(self, port):
        receiver = subprocess.Popen(
            ["gst-launch-1.0", "-q", "mmtpsrc", "address=127.0.0.1",
             f"port={port}", "!", "fakesink", "sync=false"],
            stdout=subprocess.DEVNULL)
        self.addCleanup(receiver.wait)
        self.addCleanup(receiver.kill)
        return receiver

    def start_sender(self, port, properties):
        return start("mmtpsink:5", f"mmtpsink host=127.0.0.1 port={port} "
                     f"channels=127.0.0.1?rate={SLOW_PATH} {properties}")

    def test_each_buffer_that_mmtpsink_gives_up_is_explained(self):
        port = find_port()
        self.start_receiver(port)
        self.check_given_up(*finish(
            self.start_sender(port, "latency=300"), "mmtpsink"))

    def test_each_buffer_that_mmtpsink_loses_with_a_receiver_is_explained(self):
        port = find_port()
        receiver = self.start_receiver(port)
        # mmtpsink notices that the connection is lost only after the time
        # peer-timeout, here one second. At that moment, some frames must still
        # wait in mmtpsink, so that mmtpsink drops them. The latency is
        # therefore 3 s: more frames then wait in mmtpsink than it can send
        # within one second.
        sender = self.start_sender(port, "latency=3000 peer-timeout=1000")
        time.sleep(SECONDS_TO_STREAM)
        receiver.kill()
        receiver.wait()
        self.start_receiver(port)
        stats, log = finish(sender, "mmtpsink")
        self.assertEqual(stats["connections"], 2)
        reasons = self.check_given_up(stats, log)
        self.assertGreater(reasons["discarded-connection-lost"], 0)
        # Each buffer was sent or discarded. The number of sent buffers plus
        # the number of discarded buffers therefore counts each buffer at least
        # once. It counts a buffer twice if the buffer was sent first, and was
        # discarded while it waited for its retransmission. The sum may
        # therefore exceed the number of buffers.
        self.assertLessEqual(stats["buffers"], stats["buffers-sent"] + sum(
            stats[field] for field in MMTP_FIELDS.values()))

    def check_sink(self, element, properties, reason, returncode=0):
        """Streams the clip into the network sink `element` with the properties
        `properties`. Checks that the sink drops buffers, that each drop has
        the reason `reason`, and that the log has a line for each drop.
        `returncode` is the expected exit status.
        """
        stats, log = finish(start(
            f"{element}:5", f"rfc2250pay ! {element} {properties}"), element,
            returncode)
        drops = list(SINK_DROP.finditer(log))
        self.assertGreater(len(drops), 0)
        self.assertEqual({drop["reason"] for drop in drops}, {reason})
        self.assertEqual(len(drops), stats[f"dropped-{reason}"])
        self.assertEqual(sum(int(drop["size"]) for drop in drops),
                         stats["bytes-dropped"])

    def test_each_drop_of_a_sink_without_connection_is_explained(self):
        # No receiver listens, so mmtpsink never has a connection. When the
        # stream from the file ends, mmtpsink posts an error, because it has
        # sent nothing. The expected exit status is therefore 1.
        self.check_sink("mmtpsink", f"host=127.0.0.1 port={find_port()} "
                        "wait-for-connection=false", "not-connected", 1)

    def test_each_packet_without_receiver_is_explained(self):
        self.check_sink("udplitesink", 'clients=""', "unsendable")

    def test_without_debug_level_nothing_is_logged(self):
        process = subprocess.run(
            ["gst-launch-1.0", "-q", "filesrc", f"location={CLIP}", "!",
             "mpegstat", "!", "identity", "eos-after=20", "!", "ifdqueue",
             "sync=false", "!", "fakesink"],
            env={**os.environ, "GST_DEBUG": "ifdqueue:3",
                 "GST_DEBUG_NO_COLOR": "1"},
            stderr=subprocess.PIPE, text=True, timeout=SECONDS_TO_WAIT)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(process.stderr, "")


class LinkDropLogTest(ClipCase, test_testbed.Api):
    """Checks that mmtpsink logs each buffer that it discards. mmtpsink sends
    from one host to another, over the emulated link that pipelines/demo.ini
    describes.
    """

    @test_testbed.needs_namespaces
    def test_each_buffer_that_mmtpsink_gives_up_is_explained(self):
        bed = self.open(f"wl0=a,b: {read_link()}")
        bed.popen("b", "exec gst-launch-1.0 -q mmtpsrc port=5004 ! "
                  "fakesink sync=false")
        bed.wait_listening("b", "udp", 5004)
        sender = bed.popen(
            "a", "exec env GST_DEBUG=mmtpsink:5 GST_DEBUG_NO_COLOR=1 LC_ALL=C "
            f"gst-launch-1.0 -m filesrc location={CLIP} ! mpegstat ! "
            f"identity eos-after={FRAMES} ! "
            "mmtpsink host=$b port=5004 latency=450",
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.check_given_up(*finish(sender, "mmtpsink"))


if __name__ == "__main__":
    unittest.main()
