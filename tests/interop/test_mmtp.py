# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the elements mmtpsink and mmtpsrc, which are the sender and the
receiver of the protocol MMTP. The tests run these elements over two emulated
links with different rates and delays. The elements use sockets of the kernel.

The module mmtp.py checks all packets on the links. mmtp.py follows
docs/wire-mmtp.md, which describes the packets, and shares no code with the
elements. In some tests, the elements authenticate their messages with a shared
key. mmtp.py then checks the authentication with the same key.

The clip must arrive unchanged, even if one of the links goes down and comes
back. The property `latency` of mmtpsink is longer than the test, so no packet
is too late, even on a slow machine. Only RepairTest has a short latency, and
does not require that the whole clip arrives.
"""

import dataclasses
import functools
import pathlib
import secrets
import subprocess
import unittest

import clips
import linktestbed
import mmtp
import test_testbed

TESTS = pathlib.Path(__file__).resolve().parents[1]


PORT = 5004
SECONDS = 60
LATENCY = 20000  # The latency in ms.

# The fast path has a high rate and a short delay. The slow path has a low rate
# and a long delay.
LINKS = ("fast=a,b: rate=4000000 delay-ms=20 stats-update-interval=1000",
         "slow=a,b: rate=400000 delay-ms=150 stats-update-interval=1000")
DEVICES = ("fast", "slow")
IPV4_AND_UDP = 28
MTU = 1400


def needs_elements(test):
    @functools.wraps(test)
    def guarded(self):
        for name in ("mmtpsink", "mmtpsrc", "mpegstat", "wirelesslink"):
            if not test_testbed.has_element(name):
                self.skipTest(f"{name} is not there")
        test(self)
    return test_testbed.needs_namespaces(guarded)


class MmtpCase(linktestbed.LinkCase):

    def setUp(self):
        super().setUp()
        self.clip = clips.small()
        self.received = self.directory / "received.m2v"
        self.sink_log = self.directory / "sink.txt"
        self.captures = []

    def open_links(self, links=LINKS):
        bed = self.open(*links)
        self.captures = [
            (way, self.start(bed, "a", "capture", device, way))
            for device in DEVICES for way in ("out", "in")]
        for _, capture in self.captures:
            self.assertEqual(capture.stdout.readline(), "captures\n")
        return bed

    def read_captures(self):
        """Returns two lists: one for the messages that the host "a" has sent,
        and one for the messages that this host has received. Each of the two
        lists contains one list of messages for each network device.
        """
        seen = {"out": [], "in": []}
        for way, capture in self.captures:
            packets = map(bytes.fromhex, self.finish(capture))
            seen[way].append(mmtp.payloads(packets, PORT))
        return seen["out"], seen["in"]

    def start_source(self, bed, options=""):
        source = bed.popen(
            "b", "exec gst-launch-1.0 -q mmtpsrc "
            f"port={PORT} max-latency={LATENCY} {options} ! "
            f"filesink buffer-mode=unbuffered location={self.received}")
        bed.wait_listening("b", "udp", PORT)
        return source

    def start_sink(self, bed, options):
        with open(self.sink_log, "w") as log:
            return bed.popen(
                "a", f"exec gst-launch-1.0 -m filesrc location={self.clip} ! "
                f"mpegstat ! mmtpsink host=$b_fast port={PORT} mtu={MTU} "
                f"latency={LATENCY} drain-timeout=60000 {options}",
                stdout=log, stderr=subprocess.STDOUT)

    def end(self, sink, source):
        self.assertEqual(sink.wait(SECONDS), 0, self.sink_log.read_text())
        self.assertEqual(source.wait(SECONDS), 0)

    def named_channels(self, bed):
        own = bed.variables("a")
        return ",".join(f"{device}->{own['b_' + device]}?name={device}"
                        for device in DEVICES)

    def states(self, name):
        """Returns the states that mmtpsink has reported for the path `name`,
        in the order of the reports.
        """
        return linktestbed.path_states(self.sink_log.read_text(), name)

    def assert_arrived(self):
        self.assertEqual(self.received.read_bytes(), self.clip.read_bytes())


class WireFormatTest(MmtpCase):

    def stream(self, key=None):
        bed = self.open_links()
        options = f"key={key}" if key else ""
        source = self.start_source(bed, options)
        self.end(self.start_sink(
            bed, f"channels='{self.named_channels(bed)}' {options}"), source)
        self.assert_arrived()
        session = mmtp.Session(bytes.fromhex(key) if key else None)
        session.check(*self.read_captures())
        return session

    def check(self, session):
        clip = self.clip.read_bytes()
        sent, came = session.sender.counts, session.receiver.counts
        # A message of each of these types must have been sent. INIT, COOKIE,
        # OPEN and ACCEPT are the handshake. JOIN, CHALLENGE and RESPONSE add
        # the second path.
        for name in ("INIT", "OPEN", "JOIN", "RESPONSE", "DATA", "KEEPALIVE",
                     "CAPS", "END"):
            self.assertGreater(sent[name], 0, name)
        for name in ("COOKIE", "ACCEPT", "CHALLENGE", "REPORT", "CAPS-ACK",
                     "END-ACK"):
            self.assertGreater(came[name], 0, name)
        self.assertTrue(session.end_acknowledged)
        # The whole stream must arrive in order, without any other data.
        packets = session.stream.packets
        self.assertEqual(sorted(packets), list(range(session.end)))
        buffers = session.stream.buffers()
        self.assertEqual(b"".join(data for _, data in buffers), clip)
        self.assertEqual(sum(len(packet.payload)
                             for packet in packets.values()) - len(clip),
                         sum(mmtp.prelude_size(first.payload)
                             for first, _ in buffers
                             if first.flags & mmtp.PRELUDE))
        self.assert_frames(buffers)
        # Each of the two paths must carry a part of the stream. No packet may
        # exceed the MTU.
        self.assertEqual(len(session.sender.bytes), len(DEVICES))
        for channel, size in session.sender.bytes.items():
            self.assertGreater(size, 0, channel)
            self.assertIn(channel, session.receiver.last_report)
        max_size = max(size for sizes in session.sender.sizes.values()
                      for size in sizes)
        self.assertLessEqual(max_size, MTU - IPV4_AND_UDP)
        self.assertIn("video/mpeg", session.caps_text(min(session.caps)))

    def assert_frames(self, buffers):
        """Checks `buffers`, which were restored from the captured packets.
        Each buffer must be one frame, and its flags must give the type of this
        frame. The buffers must be in the order of their due times.
        """
        types = {1: 0, 2: mmtp.DELTA, 3: mmtp.DELTA | mmtp.DROPPABLE}
        last = buffers[0][0].due
        for first, data in buffers:
            at = data.index(b"\0\0\1\0")
            picture = data[at + 5] >> 3 & 7
            self.assertEqual(first.flags & (mmtp.DELTA | mmtp.DROPPABLE),
                             types[picture])
            self.assertLess((first.due - last) % mmtp.DUE, mmtp.DUE // 2)
            last = first.due

    @needs_elements
    def test_every_message_is_as_the_page_has_it(self):
        self.check(self.stream())

    @needs_elements
    def test_every_message_is_as_the_page_has_it_with_a_key(self):
        self.check(self.stream(secrets.token_hex(32)))

    @needs_elements
    def test_the_checker_finds_changed_messages(self):
        bed = self.open_links()
        key = secrets.token_hex(16)
        source = self.start_source(bed, f"key={key}")
        self.end(self.start_sink(bed, f"key={key} channels='"
                                 f"{self.named_channels(bed)}'"), source)
        sent, came = self.read_captures()
        for ways in (sent, came):
            for way in ways:
                self.assert_refuses(way, sent, came, bytes.fromhex(key))

    def assert_refuses(self, way, sent, came, key):
        """Changes each byte of the last message in the list `way`, one after
        the other. The list has the captured messages of one network device and
        one direction. For each change, the checker (mmtp.py) must report an
        error.
        """
        whole = way[-1]
        for at in range(len(whole)):
            way[-1] = whole[:at] + bytes([whole[at] ^ 1 << at % 8]) \
                + whole[at + 1:]
            with self.assertRaises(mmtp.Wrong, msg=f"byte {at}"):
                mmtp.Session(key).check(sent, came)
        way[-1] = whole


class RepairTest(MmtpCase):
    """Checks REPAIR messages, from which a receiver can compute a lost packet.
    The sender uses them on this link, because a retransmission may be too
    late: detection, report and retransmission of a loss together may take
    longer than the latency."""

    LINKS = ("fast=a,b: rate=4000000 delay-ms=1000 loss=0.05 seed=1",
             "slow=a,b: rate=400000")
    OPTIONS = "sync=true latency=2500"

    @needs_elements
    def test_every_repair_is_as_the_page_has_it(self):
        self.clip = clips.small(300)
        bed = self.open_links(self.LINKS)
        source = self.start_source(bed)
        sink = self.start_sink(bed, f"channels=fast {self.OPTIONS}")
        self.assertEqual(sink.wait(SECONDS), 0, self.sink_log.read_text())
        self.assertEqual(source.wait(SECONDS), 0)
        session = mmtp.Session()
        session.check(*self.read_captures())
        repairs = session.stream.repairs
        self.assertGreater(len(repairs), 0)
        self.assertGreater(max(len(repair.numbers()) for repair in repairs), 1)
        self.assert_refuses_another(session.stream, repairs[0])

    def assert_refuses_another(self, stream, repair):
        for change in ({"sizes": repair.sizes ^ 1},
                       {"mask": repair.mask & repair.mask - 1},
                       {"content": repair.content + b"\0"},
                       {"content": bytes([repair.content[0] ^ 1])
                        + repair.content[1:]}):
            stream.repairs[0] = dataclasses.replace(repair, **change)
            with self.assertRaises(mmtp.Wrong, msg=change):
                stream.check_repairs()
        stream.repairs[0] = repair


class HandoffTest(MmtpCase):
    """Takes down the faster path in the middle of the stream for some time.
    All frames must arrive nevertheless.
    """

    LINKS = ("fast=a,b: rate=1000000 delay-ms=20",
             "slow=a,b: rate=500000 delay-ms=100")

    def setUp(self):
        super().setUp()
        self.clip = clips.small(200)

    def wait_until_arrived(self, part):
        size = part * self.clip.stat().st_size
        self.assertTrue(test_testbed.wait_for(
            lambda: self.received.exists()
            and self.received.stat().st_size >= size), f"{part} of the clip")

    def wait_for_state(self, name, *states):
        self.assertTrue(test_testbed.wait_for(
            lambda: self.states(name)[-1:] and self.states(name)[-1] in states),
            f"{name}: {self.states(name)}, none of {states}")

    def stream(self, host, options, gone):
        """Streams the clip while the network device of the fast path is down
        for some time. `host` is the host on which the device is down. `gone`
        contains the states that mmtpsink may report for the fast path during
        this time.
        """
        bed = self.open_links(self.LINKS)
        # $b_fast is the receiver's address on the fast path. With
        # channels=auto, mmtpsink sends to this one address over both paths.
        # For the slow path, it uses a socket that is bound to the network
        # device of the slow path. Packets can leave through this device only
        # if there is a route to $b_fast over it. The next line adds this
        # route.
        self.text(bed, "a", "ip route add $b_fast via $b_slow dev slow")
        source = self.start_source(bed)
        sink = self.start_sink(bed, options.format(
            channels=self.named_channels(bed)))
        self.wait_until_arrived(0.2)
        self.wait_for_state("fast", "active")
        self.wait_for_state("slow", "active")
        self.text(bed, host, "ip link set fast down")
        self.wait_for_state("fast", *gone)
        self.wait_until_arrived(0.4)
        self.text(bed, host, "ip link set fast up")
        self.wait_for_state("fast", "active")
        self.end(sink, source)
        self.assert_arrived()
        session = mmtp.Session()
        session.check(*self.read_captures(), is_complete=False)
        return session

    @needs_elements
    def test_interface_goes_and_comes(self):
        session = self.stream("a", "channels=auto", ("gone",))
        self.assertIn("active", self.states("fast")[
            self.states("fast").index("gone"):])
        self.assertEqual(len(session.sender.bytes), len(DEVICES))

    @needs_elements
    def test_path_fails_without_a_link_event(self):
        self.stream("b", "channels='{channels}'", ("silent",))


if __name__ == "__main__":
    unittest.main()
