# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the demo over an emulated link and checks what the demo prints about
the link.

The links are chosen so that all assertions also hold on a busy machine: either
the queue of the link has no limit, or the rate of the link is much lower than
the bitrate of the clip.
"""

import contextlib
import io
import os
import pathlib
import re
import signal
import tempfile
import unittest
from unittest import mock

import test_demo
from test_demo import wait_for

from wirelesslab import processes
from wirelesslab.errors import LabError
from wirelesslab.streams import clips, placement, stream, transports
from wirelesslab.testbed import link_log

BUILD = test_demo.BUILD
HAS_LINK = all(map(test_demo.has_element, ("wirelesslink", "tunsrc")))
# Properties of a link that loses no packets. Its queue has no limit
# (txqueuelen=0), so it does not overflow on a busy machine either.
IDEAL = "delay-ms=20 txqueuelen=0"
SLOW = "rate=500000 txqueuelen=10"
HEAD = ("# packet time_ns flow station index size_bytes fate attempts "
        "arrival_ns departure_ns airtime_ns damaged_bytes\n")


def networks_of(processes):
    """Returns the network namespaces of the processes, except for the network
    namespace of this process.
    """
    found = set()
    for pid, _ in processes:
        # If the process has ended in the meantime, its entry in /proc does not
        # exist any more. The process is then skipped.
        with contextlib.suppress(OSError):
            found.add(os.readlink(f"/proc/{pid}/ns/net"))
    return found - {os.readlink("/proc/self/ns/net")}


def names(directory):
    try:
        return sorted(os.listdir(directory))
    except FileNotFoundError:
        return []


def on_the_machine():
    """Returns the names of the testbed's network devices and network
    namespaces that are visible on the machine itself. The testbed should make
    them visible only inside its own namespaces, so there should be none.
    """
    devices = pathlib.Path("/proc/self/net/dev").read_text()
    return (re.findall(rf"^ *{placement.LINK}:", devices, re.M)
            + [name for name in names("/run/netns") if name in placement.ROLES])


def link_line(output, what):
    """Returns the number that stands before the words `what` in the output."""
    found = re.search(rf"(\d+) {what}", output)
    return int(found[1]) if found else None


@unittest.skipUnless(HAS_LINK, "the elements of a link are not built")
class DemoLinkTest(test_demo.Demo):
    def setUp(self):
        self.before = on_the_machine()

    def demo_over(self, link, *arguments):
        return self.demo("--link", link, "--rate", "3", "--seconds", "3",
                         *arguments)

    def assert_nothing_left(self):
        super().assert_nothing_left()
        self.assertEqual(on_the_machine(), self.before)

    def test_an_ideal_link_loses_nothing_and_takes_its_time(self):
        status, output = self.demo_over(IDEAL)
        self.assertEqual(status, 0, output)
        self.assertIn("over wirelesslink delay-ms=20", output)
        self.assertEqual(self.counts(output, "lost"), [0, 0, 0, 0], output)
        self.assertEqual(self.counts(output, "arrived")[3], 73, output)
        latency = re.search(r"latency +median (\d+\.\d+) ms", output)
        self.assertGreaterEqual(float(latency[1]), 20, output)
        offered = link_line(output, "packets came to the link")
        self.assertGreater(offered, 73, output)
        self.assertEqual(link_line(output, "arrived"), offered, output)
        self.assertRegex(output, r"The emulation itself was up to \d+\.\d\d ms")
        self.assert_nothing_left()

    def test_a_link_slower_than_the_clip_loses_frames_in_its_queue(self):
        status, output = self.demo_over(SLOW)
        self.assertEqual(status, 0, output)
        self.assertGreater(self.counts(output, "lost")[3], 0, output)
        offered = link_line(output, "packets came to the link")
        lost = link_line(output, "were lost in the sender's queue")
        self.assertGreater(lost, offered / 2, output)
        self.assertEqual(link_line(output, "arrived") + lost, offered, output)
        self.assert_nothing_left()

    def test_a_link_that_loses_all_is_a_result(self):
        status, output = self.demo_over("loss=1")
        self.assertEqual(status, 0, output)
        self.assertEqual(self.counts(output, "arrived"), [0, 0, 0, 0], output)
        self.assertEqual(link_line(output, "were lost on the air"),
                         link_line(output, "packets came to the link"), output)

    @unittest.skipUnless(test_demo.has_element("ifdsink"),
                         "ifdsink is not built")
    def test_ifd_over_a_slow_link_sends_only_decodable_frames(self):
        status, output = self.demo_over(SLOW, "--transport", "ifd")
        if "is not over UDP" in output:
            self.skipTest("there are no network namespaces here, only relays")
        self.assertEqual(status, 0, output)
        self.assertGreater(self.counts(output, "lost")[2], 0, output)
        self.assertEqual(self.counts(output, "decodable"),
                         self.counts(output, "arrived"), output)
        self.assert_nothing_left()

    @unittest.skipUnless(test_demo.has_element("ristsink"),
                         "there is no ristsink")
    def test_the_link_s_end_is_no_failure_of_a_stream_without_one(self):
        status, output = self.demo_over(IDEAL, "--transport", "rist")
        self.assertEqual(status, 0, output)
        self.assertEqual(self.counts(output, "sent")[3], 73, output)
        self.assertGreater(self.counts(output, "arrived")[3], 0, output)
        self.assertGreater(
            link_line(output, "packets of the receiver went the other way"), 0)
        self.assert_nothing_left()

    @unittest.skipUnless(test_demo.has_element("souphttpsrc"),
                         "there is no souphttpsrc")
    def test_a_web_server_buffers_what_the_link_cannot_take(self):
        """The sender's pipeline reads the film in real time and does not wait
        for the slow link. Frames that the link cannot take wait in the buffers
        of the web server. The whole time of this wait must count as latency.
        """
        status, output = self.demo_over("rate=2000000 txqueuelen=20",
                                        "--transport", "http")
        if "is not over UDP" in output:
            self.skipTest("there are no network namespaces here, only relays")
        self.assertEqual(status, 0, output)
        self.assertEqual(self.counts(output, "lost"), [0, 0, 0, 0], output)
        latency, late = (float(re.search(
            rf"{name} +median .*worst (\d+\.\d+) ms", output)[1])
            for name in ("latency", "lateness"))
        self.assertGreater(latency, 500)
        self.assertGreater(latency, late / 2)
        self.assert_nothing_left()

    def test_late_frames_are_waited_for(self):
        status, output = self.demo_over("delay-ms=4000 txqueuelen=0")
        self.assertEqual(status, 0, output)
        self.assertEqual(self.counts(output, "lost"), [0, 0, 0, 0], output)

    def test_the_twin_in_ts_goes_over_it_with_its_sound(self):
        status, output = self.demo_over(IDEAL, "--ts")
        self.assertEqual(status, 0, output)
        self.assertEqual(self.counts(output, "lost"), [0, 0, 0, 0], output)
        self.assertRegex(output, r"sound +[1-9]")

    def test_an_unknown_property_is_an_error_message(self):
        for link, words in (
                ("colour=red", 'no property "colour" in element'),
                ("profile=tin-cans", 'could not set property "profile"'),
                ("profile=80211b interference=often", 'interference "often"'),
                ("none", "are not properties of wirelesslink"),
                ("location=x", "location cannot be set"),
                ("'", "No closing quotation")):
            with self.subTest(link=link):
                status, output = self.demo_over(link)
                self.assertNotEqual(status, 0)
                self.assertIn(words, output)
                self.assertNotIn("Traceback", output)
                self.assertNotIn("Got message", output)
                self.assert_nothing_left()

    def test_a_killed_demo_leaves_no_host_behind(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            with self.subTest(signal=number.name):
                demo = self.start("--seconds", "60", "--rate", "3",
                                  "--link", IDEAL)
                # There are three processes of gst-launch-1.0: the link, the
                # receiver and the sender.
                self.assertTrue(wait_for(lambda: 3 <= sum(
                    name.startswith("gst-launch")
                    for _, name in test_demo.marked_processes(self.mark))))
                networks = networks_of(test_demo.marked_processes(self.mark))
                # In this test, the demo uses three network namespaces to
                # emulate hosts. On a machine that does not allow network
                # namespaces, the demo uses relays: processes that forward
                # packets between loopback addresses. The set `networks` is
                # then empty.
                self.assertIn(len(networks), (0, 3))
                demo.send_signal(number)
                demo.wait(test_demo.SECONDS_TO_WAIT)
                self.assertNotEqual(demo.returncode, 0)
                self.assert_nothing_left()


@unittest.skipUnless(HAS_LINK, "the elements of a link are not built")
class RelayTest(unittest.TestCase):
    """Tests for machines that do not allow network namespaces."""

    def test_relays_stand_in_for_hosts_and_say_so(self):
        """On a machine without network namespaces, relays (processes that
        forward packets) replace the emulated hosts. Checks that several
        transports deliver frames over relays. With some of these transports,
        the receiver also sends packets to the sender.
        """
        clip = clips.make_cut(BUILD, 3, 2)
        self.addCleanup(processes.kill_all)
        for name, element in (
                ("rtp", "rfc2250pay"), ("mmtp", "mmtpsink"),
                ("dccpthin", "dcctpthinsink"), ("rist", "ristsink"),
                ("srt", "srtsink")):
            if test_demo.has_element(element):
                with self.subTest(name):
                    self.stream(name, clip)

    def stream(self, name, clip):
        place = placement.OverLink("delay-ms=20", BUILD, "relay")
        port = place.choose_port("udp")
        with tempfile.TemporaryDirectory() as directory:
            run_dir = pathlib.Path(directory)
            transport = transports.read()[name]
            with place.opened(run_dir, transports.ports_of(transport, port)):
                self.assertIn("Left out are", place.left_out)
                self.assertNotEqual(place.address("sender", "receiver"),
                                    place.address("receiver", "receiver"))
                sent, received, _ = stream.stream(
                    transport, clip, port, run_dir, place)
            self.assertTrue(received.frames)
            # If the transport is "rtp", all frames must arrive. The other
            # transports are allowed to drop frames.
            if name == "rtp":
                self.assertEqual([frame.key for frame in received.frames],
                                 [frame.key for frame in sent.frames])
            self.assertRegex("\n".join(place.report()),
                             r"^link +[1-9]\d* packets came")


    def test_protocols_that_relays_cannot_carry_are_an_error(self):
        known = transports.read()
        with self.assertRaisesRegex(
                LabError, "tcp is not over UDP, and there are no namespaces"):
            transports.check_relayed(known["tcp"], "no namespaces")
        transports.check_relayed(known["tcp"], "")
        transports.check_relayed(known["rtp"], "no namespaces")


class FateLogTest(unittest.TestCase):
    def tallies(self, *lines):
        with mock.patch("builtins.open",
                        return_value=io.StringIO(HEAD + "\n".join(lines))):
            return link_log.read("any")

    def packet(self, station, fate, attempts=1):
        return f"packet 9 0 {station} 0 1400 {fate} {attempts} 1 2 3 0"

    def test_each_station_is_counted_apart(self):
        tallies = self.tallies(
            self.packet(1, "delivered"), self.packet(1, "delivered", 3),
            self.packet(1, "air", 16), self.packet(0, "queue", 0),
            "quality 5 0 0.5", "call 5 idle")
        self.assertEqual(tallies[1].fates, {"delivered": 2, "air": 1})
        self.assertEqual((tallies[1].offered(), tallies[1].lost(),
                          tallies[1].repeated), (3, 1, 2))
        self.assertEqual(tallies[0].fates, {"queue": 1})
        self.assertEqual(tallies[2].offered(), 0)

    def test_the_words_always_have_the_three_main_fates(self):
        tallies = self.tallies(*2 * [self.packet(1, "delivered", 2)],
                               self.packet(1, "call", 0),
                               self.packet(0, "air"), self.packet(0, "queue"))
        self.assertEqual(link_log.words(tallies[1], tallies[0], 1_234_567), [
            "link     3 packets came to the link; of these",
            "         2 arrived",
            "         0 were lost in the sender's queue, which was full",
            "         0 were lost on the air after all retransmissions",
            "         1 were lost because there was no call, or the call broke",
            "         2 were sent more than once",
            "         2 packets of the receiver went the other way; 2 of these "
            "were lost",
            "         The emulation itself was up to 1.23 ms late (99th "
            "percentile)."])

    def test_words_say_when_the_numbers_are_not_all(self):
        tally = self.tallies(self.packet(1, "delivered"))[1]
        self.assertIn("ended before its last packets",
                      link_log.words(tally, link_log.Tally(), None)[-1])
        self.assertIn("was busy",
                      link_log.words(tally, link_log.Tally(), 30_000_000)[-1])

    def test_the_last_statistics_count(self):
        stats = ("Got message #{} from element \"wl\" (element): application/"
                 "x-wirelesslink-stats, offered=(guint64)3, "
                 "lateness-p99=(gint64){}, lateness-max=(gint64)9;\n")
        self.assertEqual(link_log.lateness_ns(
            stats.format(1, 5) + "other\n" + stats.format(2, 7)), 7)
        self.assertIsNone(
            link_log.lateness_ns("Setting pipeline to PAUSED ..."))

    def test_every_fate_of_the_log_has_words(self):
        page = (test_demo.SOURCE / "docs" / "wirelesslink.md").read_text()
        row = re.search(r"^\| `fate` \|(.*)\|$", page, re.M)[1]
        self.assertEqual(set(re.findall(r"`([a-z-]+)`", row)),
                         set(link_log.FATES))


if __name__ == "__main__":
    unittest.main()
