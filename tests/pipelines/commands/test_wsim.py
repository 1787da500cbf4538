# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests pipelines/wsim, which sends a video over the same bad radio with UDP
and with UDP-Lite. The tests use real sockets in real time.

In every run the radio damages the same packets in the same way, so the losses
of UDP and UDP-Lite do not depend on the load of the machine. The delays that
wsim measures depend on the load, so the tests print them but do not check
them.
"""

import csv
import functools
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import unittest

import linktestbed
import test_testbed

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"])
COMMAND = SOURCE / "pipelines" / "wsim"
SECONDS_TO_WAIT = 200
# Options for wsim. The error rate of the radio blocks is so high that even a
# run of 4 s has many damaged blocks.
BAD = ["--seconds", "4", "--link", "block-error-rate=0.06"]
FILES = ["figure.png", "radio.pattern", "sent.mkv", "side-by-side.mkv",
         "summary.json", "udp.csv", "udp.mkv", "udplite.csv", "udplite.mkv"]
# Size in bytes of the headers at the beginning of each packet: IPv4 (20
# bytes), UDP-Lite (8), RTP (12) and RFC 4629 (2). Checksums cover these
# headers, so damage in them is detected. In some packets, a picture header of
# H.263 follows, which the checksum of UDP-Lite covers as well.
COVERED = 20 + 8 + 12 + 2
PICTURE_HEADER = 8


def needs_elements(test):
    @functools.wraps(test)
    def guarded(self):
        for name in ("udplitesink", "udplitesrc", "qtdemux", "rtph263ppay"):
            if not test_testbed.has_element(name):
                self.skipTest(f"{name} is not there")
        test(self)
    return test_testbed.needs_namespaces(guarded)


class Packet:
    """One packet that was sent by wsim, as a line of the file udp.csv or
    udplite.csv describes it.
    """

    def __init__(self, row):
        self.fate = row["link"]
        self.delivered = row["delivered"] == "1"
        self.damaged_bytes = int(row["damaged_bytes"] or 0)
        self.sent, self.arrived = (float(row[name] or math.nan)
                                   for name in ("sent_s", "arrived_s"))

    def delay(self):
        return self.arrived - self.sent


class Wsim(test_testbed.Nothing):
    """Base class of the tests. Runs wsim as a separate process, and checks
    that none of its processes, namespaces and devices remains after its end.
    """

    def start(self, *words, output="out"):
        self.output = self.directory / output
        child = subprocess.Popen(
            [COMMAND, "--build", BUILD, "--output", self.output, *words],
            env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def simulate(self, *words):
        """Returns what wsim printed."""
        child = self.start(*words)
        text, _ = child.communicate(timeout=SECONDS_TO_WAIT)
        self.assertEqual(child.returncode, 0, text)
        return text

    def packets(self, name, directory=None):
        with open((directory or self.output) / f"{name}.csv") as file:
            return list(map(Packet, csv.DictReader(file)))

    def summary(self, directory=None):
        return json.loads(
            ((directory or self.output) / "summary.json").read_text())

    def names(self):
        return sorted(path.name for path in self.output.iterdir()
                      if not path.name.startswith("."))

    def check_packets(self, udp, udplite):
        """Compares two runs over the same simulated radio, one with UDP and
        one with UDP-Lite. The radio must damage the same packets in both runs.
        UDP must deliver only intact packets.

        UDP-Lite must discard a packet if a damaged byte is among the headers
        that the checksum always covers. UDP-Lite must deliver a damaged packet
        if all damaged bytes are behind these headers and behind the H.263
        picture header that may follow them.
        """
        self.assertEqual([packet.fate for packet in udp],
                         [packet.fate for packet in udplite])
        hits = linktestbed.read_pattern(self.output / "radio.pattern", 0)
        self.assertEqual(len(hits), len(udp))
        for index, packet in enumerate(udplite):
            with self.subTest(packet=index):
                self.check_packet(hits[index], udp[index], packet)

    def check_packet(self, hit, udp, udplite):
        self.assertEqual(udplite.fate, hit.fate)
        intact = hit.fate == "delivered"
        self.assertEqual(udp.delivered, intact)
        self.assertEqual(udp.damaged_bytes, 0)
        if intact:
            self.assertTrue(udplite.delivered)
        elif hit.fate != "damaged":
            self.assertFalse(udplite.delivered)
        elif min(offset for offset, _ in hit.flips) < COVERED:
            self.assertFalse(udplite.delivered)
        elif min(offset for offset, _ in
                 hit.flips) >= COVERED + PICTURE_HEADER:
            self.assertTrue(udplite.delivered)
        if udplite.delivered:
            self.assertEqual(udplite.damaged_bytes, len(hit.flips))


class ShortTest(Wsim):
    @needs_elements
    def test_udplite_delivers_packets_damaged_outside_the_coverage(self):
        text = self.simulate(*BAD)
        print(text, flush=True)
        self.assertEqual(self.names(), FILES)
        self.check_packets(self.packets("udp"), self.packets("udplite"))
        udp, udplite = self.summary().values()
        self.assertGreater(udp["lost"], udplite["lost"])
        self.assertGreater(udplite["damaged"], 0)
        self.assertGreater(udplite["whole_frames"], udp["whole_frames"])
        self.assertGreater(udplite["psnr_db"], udp["psnr_db"])
        self.assertRegex(text, rf"(?m)^lost +{udp['lost']} +{udplite['lost']}$")

    @needs_elements
    def test_a_bearer_that_retransmits_delivers_all_packets_later(self):
        text = self.simulate(*BAD, "--rlp")
        self.assertEqual(self.names(), sorted(
            [*FILES, "udp-rlp.csv", "udp-rlp.mkv"]))
        udp, _, rlp = self.summary().values()
        self.assertGreater(udp["lost"], 0)
        self.assertEqual((rlp["lost"], rlp["damaged"]), (0, 0))
        self.assertEqual(rlp["psnr_db"], math.inf)
        self.assertGreater(rlp["delay_s"], udp["delay_s"])
        self.assertIn("by UDP, by UDP-Lite and by UDP over RLP.", text)

    @needs_elements
    def test_an_ideal_radio_loses_nothing(self):
        text = self.simulate("--seconds", "1", "--link", "block-error-rate=0")
        self.assertIn("The radio damaged no packet.", text)
        for outcome in self.summary().values():
            self.assertEqual(outcome["lost"], 0)
            self.assertEqual(outcome["psnr_db"], math.inf)
            self.assertEqual(outcome["whole_frames"], 10)

    @needs_elements
    def test_no_damage_makes_anything_crash_or_hang(self):
        """Damages 1 % of all bytes, at random places. Most packets are then
        damaged, but only few of them in their headers. UDP must lose most
        packets, and UDP-Lite must deliver damaged packets.
        """
        for codec in ("h263", "mpeg"):
            if codec == "mpeg" and not test_testbed.has_element("rfc2250pay"):
                continue
            with self.subTest(codec):
                self.simulate("--codec", codec, "--seconds", "1", "--link",
                              "block-error-rate=1 corrupt-share=0.01")
                udp, udplite = self.summary().values()
                self.assertGreater(udp["lost"], udp["sent"] / 2)
                self.assertGreater(udplite["damaged"], udp["sent"] / 5)

    @needs_elements
    def test_nothing_is_left_when_it_is_killed(self):
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal.Signals(number).name):
                child = self.start("--seconds", "60")
                # Six programs run: two links, two receivers and two senders.
                self.assertTrue(test_testbed.wait_for(
                    lambda: self.programs() >= 6), "it does not begin")
                child.send_signal(number)
                child.communicate(timeout=SECONDS_TO_WAIT)
                self.assertNotEqual(child.returncode, 0)
                self.assertTrue(test_testbed.wait_for(
                    lambda: not test_testbed.marked(self.mark)))
        # A run that was killed may leave its directory behind. The next run
        # must remove this directory.
        self.simulate("--seconds", "1")
        self.assertEqual(self.names(), FILES)

    def programs(self):
        return sum(map(self.is_program, test_testbed.marked(self.mark)))

    @staticmethod
    def is_program(pid):
        """Returns whether the process `pid` is a GStreamer program that is
        still running.
        """
        try:
            name = pathlib.Path(f"/proc/{pid}/comm").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return False
        return name.startswith("gst-")

    def test_nonsense_is_refused(self):
        for words in (["--seconds", "0"], ["--packet-size", "39"],
                      ["--codec", "h265"], ["--point", "nowhere"]):
            child = self.start(*words)
            child.communicate(timeout=SECONDS_TO_WAIT)
            self.assertEqual(child.returncode, 2, words)
        if test_testbed.why_no_namespaces():
            return
        child = self.start("--seconds", "1", "--link", "no-such=1")
        text, _ = child.communicate(timeout=SECONDS_TO_WAIT)
        self.assertEqual(child.returncode, 1, text)
        self.assertRegex(text, re.escape("no-such"))


if __name__ == "__main__":
    unittest.main()
