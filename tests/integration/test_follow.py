# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that the example program `follow` adapts the bitrate of its video to
the network. Also checks that the script `rateplot` draws the bitrates in the
log of `follow` correctly."""

import csv
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree

from wirelesslab import processes
from wirelesslab.streams import placement

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"])


FOLLOW = str(BUILD / "tests" / "examples" / "follow")
RATEPLOT = str(SOURCE / "pipelines" / "rateplot")
SECONDS = 60
LINES = 6
MIN_RATE, START_RATE, MAX_RATE = 100_000, 500_000, 2_000_000  # bit/s

# The element bitrateadapt chooses the encoder's bitrate. It uses an estimate
# of the bitrate that the network can carry. As long as the stream does not use
# the full capacity of the network, this estimate is too low. bitrateadapt may
# therefore request more than the estimate, but at most RISE times as much.
RISE = 1.5
# Maps the name of each tested sink to the source that receives from it.
ENDS = {"mmtpsink": "mmtpsrc", "dcctpthinsink": "dcctpthinsrc"}
SVG = "{http://www.w3.org/2000/svg}"


def rows(text):
    return list(csv.DictReader(line for line in text.splitlines()
                               if not line.startswith("#")))


class FollowTest(unittest.TestCase):

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.home = pathlib.Path(directory.name)

    def start_source(self, source, port):
        child = processes.start(
            ["gst-launch-1.0", "-q", source, "address=127.0.0.1",
             f"port={port}", "!", "fakesink"],
            stdout=subprocess.DEVNULL)
        self.addCleanup(self.end, child)
        deadline = time.monotonic() + SECONDS
        while not placement.is_bound("udp", port, child.pid):
            self.assertLess(time.monotonic(), deadline, f"no {source}")
            self.assertIsNone(child.poll(), f"{source} ended")
            time.sleep(0.05)

    def end(self, child):
        if child.poll() is None:
            processes.kill(child)

    def follow(self, sink, log):
        """Runs the example program `follow` until it has requested the maximum
        bitrate from its encoder. Returns the lines of its log.
        """
        port = placement.free_port("udp")
        self.start_source(ENDS[sink], port)
        with open(log, "w") as output:
            sender = processes.start(
                [FOLLOW, f"--max-bitrate={MAX_RATE // 1000}",
                 f"--bitrate={START_RATE // 1000}", sink, "host=127.0.0.1",
                 f"port={port}", "blocking=false"],
                stdout=output, stderr=subprocess.DEVNULL)
        self.addCleanup(self.end, sender)
        deadline = time.monotonic() + SECONDS
        while (f",{MAX_RATE}," not in log.read_text()
               or len(rows(log.read_text())) < LINES):
            self.assertLess(time.monotonic(), deadline, log.read_text())
            self.assertIsNone(sender.poll(), log.read_text())
            time.sleep(0.1)
        sender.send_signal(signal.SIGINT)
        self.assertEqual(processes.finish(sender, SECONDS), 0)
        return rows(log.read_text())

    def check(self, sink):
        lines = self.follow(sink, self.home / f"{sink}.csv")
        # Other tests check in virtual time how the element bitrateadapt
        # chooses the bitrate. This test checks only conditions that do not
        # depend on the speed of the machine. Each line of the log contains an
        # estimated bitrate of the network, and the bitrate that bitrateadapt
        # requested from the encoder. The requested bitrate must not be too
        # high for the estimates.
        #
        # `highest` is the maximum of the estimates in all lines up to the
        # present line, and in the line after it. The reason for including that
        # next line: a new estimate may arrive while the present line is being
        # written. The present line may then already contain a requested
        # bitrate that depends on the new estimate, but only the next line
        # contains the new estimate.
        highest = 0
        for line, later in zip(lines, lines[1:] + lines[-1:]):
            highest = max(highest, int(line["estimated"]),
                          int(later["estimated"]))
            self.assertLessEqual(MIN_RATE, int(line["asked"]), lines)
            self.assertLessEqual(
                int(line["asked"]),
                min(MAX_RATE, max(START_RATE, RISE * highest)), lines)
        self.assertGreater(sum(float(line["made"]) for line in lines), 0)

    def test_the_encoder_follows_mmtpsink(self):
        self.check("mmtpsink")

    def test_the_encoder_follows_dcctpthinsink(self):
        self.check("dcctpthinsink")

    def test_a_sink_that_can_not_be_followed_is_an_error(self):
        for sink, words in (("nosuchsink", "nosuchsink"),
                            ("mmtpsink nosuchproperty=1", "nosuchproperty"),
                            ("fakesink", "fakesink does not say")):
            with self.subTest(sink=sink):
                done = subprocess.run(
                    ["timeout", str(SECONDS), FOLLOW, *sink.split()],
                    capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(words, done.stderr)
                self.assertNotIn("CRITICAL", done.stderr)

    def test_a_receiver_that_was_never_connected_is_an_error(self):
        for sink in ENDS:
            with self.subTest(sink=sink):
                done = subprocess.run(
                    ["timeout", str(SECONDS), FOLLOW, sink,
                     "host=nosuchhost.invalid"],
                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                    text=True)
                self.assertEqual(done.returncode, 1)
                self.assertIn("nosuchhost.invalid", done.stderr)

    def test_an_unknown_encoder_is_an_error(self):
        done = subprocess.run([FOLLOW, "--encoder=nosuchenc", "fakesink"],
                              stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("nosuchenc", done.stderr)


class PictureTest(unittest.TestCase):

    LOG = ("# anencoder\nseconds,estimated,asked,made\n"
           "0.20,0,1000000,900000\n1.00,2000000,1800000,1700000\n"
           "2.00,1000000,900000,950000\n")

    def draw(self, text, *options):
        with tempfile.TemporaryDirectory() as home:
            log = pathlib.Path(home) / "asink.csv"
            log.write_text(text)
            return subprocess.run([RATEPLOT, *options, log], text=True,
                                  capture_output=True)

    def test_curves_have_the_coordinates_of_the_numbers(self):
        done = self.draw(self.LOG, "--link=2:2")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        drawn = xml.etree.ElementTree.fromstring(done.stdout)
        self.assertIn("asink, Mbit/s",
                      [text.text for text in drawn.iter(SVG + "text")])
        (link,) = drawn.iter(SVG + "polygon")
        top = min(y for _, y in points(link))
        curves = [points(line) for line in drawn.iter(SVG + "polyline")]
        self.assertEqual([len(curve) for curve in curves], [3, 3, 3])
        # The plot shows the link's rate as an area. This rate is 2 Mbit/s, and
        # so is the second value of the curve "estimated". The second point of
        # the curve must therefore be as high as the top of the area.
        estimated = curves[1]
        self.assertAlmostEqual(estimated[1][1], top, delta=0.1)
        self.assertAlmostEqual(estimated[2][0], max(x for x, _ in points(link)),
                               delta=0.1)

    def test_a_log_without_numbers_is_an_error(self):
        done = self.draw("# anencoder\nseconds,estimated,asked,made\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("asink.csv: no line of numbers", done.stderr)


def points(shape):
    return [tuple(map(float, pair.split(",")))
            for pair in shape.get("points").split()]


if __name__ == "__main__":
    unittest.main()
