# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the lab, the program that streams video over emulated links and
compares the results. The tests in this file run in real time. They check when
the streams crossed the link, and at what rate. The tests in test_lab.py check
no times.
"""

import contextlib
import functools
import io
import unittest
from unittest import mock

import test_lab
import test_testbed

from wirelesslab.errors import LabError
from wirelesslab.lab import cells, matrix
from wirelesslab.report import run_results
from wirelesslab.streams import measurements, placement

BUILD, FOR_EVER_MS, MATRIX = (test_lab.BUILD, test_lab.FOR_EVER_MS,
                              test_lab.MATRIX)
# Properties of a link of 20 Mbit/s. Its queue has no limit, so the link loses
# no packet.
ROOMY = "rate=20000000 txqueuelen=0"


class StreamsTest(test_lab.LabCase):

    @test_testbed.needs_namespaces
    def test_the_video_meets_the_rate_of_its_direction(self):
        """Sends one second of video of 3 Mbit/s over the uplink, which has 1
        Mbit/s, and over the downlink, which has 20 Mbit/s. On the downlink,
        the last frame must arrive less than 0.2 s after it was sent. On the
        uplink, the last frame must arrive more than one second after it was
        sent. The expected time is about two seconds: the last frame is sent
        after about one second, and the uplink needs three seconds to transmit
        the whole video.

        The video of the uplink and the video of the downlink are sent by
        different stations. In both cases, the lab must find the packets of the
        sending station in the log of the link.
        """
        path = self.directory / "matrix.ini"
        path.write_text(MATRIX.format(
            protocols="mine rtp", rate=3, seconds=1, more="",
            interference="none",
            properties="rate=1000000 rate-down=20000000 txqueuelen=0")
            + "[link up]\ndirection = up\nproperties = rate=1000000 "
            "rate-down=20000000 txqueuelen=0\n")
        done = self.lab("grid", path, "--output", self.output, "--plain")
        self.assertEqual(done.returncode, 0, done.stdout)
        runs, _, _ = run_results.read(self.output, BUILD, FOR_EVER_MS)
        for run in runs:
            longer = (run.passages[-1].arrived_ns
                      - run.passages[-1].sent_ns) / measurements.NS
            name = run.cell["name"]
            self.assertEqual(len(run.passages), 25, name)
            self.assertGreater(len(run.link.packets), 100, name)
            if "direction" in run.cell["link"]:
                self.assertGreater(longer, 1, name)
            else:
                self.assertLess(longer, 0.2, name)

    def run_cell(self, protocols, *more, mode="auto"):
        """Sends a clip of 3 Mbit/s over one link, for 2 s. `protocols` is the
        name of the protocol. With the value "rtp+rtp", two streams are sent
        over RTP, and the second stream begins 1 s later than the first stream.
        `more` contains additional lines for matrix.ini, the file that
        describes the runs. Returns the results of the runs.
        """
        path = self.directory / "matrix.ini"
        path.write_text("\n".join([
            f"[matrix]\nprotocols = {protocols}\nrates = 3\nseconds = 2\n"
            f"apart = 1\n[link radio]\nproperties = {ROOMY}", *more]))
        (cell,) = matrix.read(path)
        cells.describe(self.output, cell)
        with mock.patch.object(placement, "OverLink", functools.partial(
                placement.OverLink, mode=mode)), \
                contextlib.redirect_stdout(io.StringIO()):
            return run_results.runs_of(
                self.output, cells.run(self.output, BUILD), BUILD, FOR_EVER_MS)

    def check_streams(self, mode):
        # The same experiment is run twice in the same directory. The results
        # of the second run must replace those of the first run.
        for _ in range(2):
            first, second = self.run_cell("rtp+rtp", mode=mode)
            for number, run in (("1", first), ("2", second)):
                self.assertEqual(run.protocol, f"rtp+rtp/{number}-rtp")
                self.assertEqual(run.directory, self.output / number)
                self.assertEqual(len(run.passages), 49)
            self.assertGreater(second.began_ns, first.began_ns + 9e8)
            self.assertEqual(run_results.of_cells([first, second]), [first])
            # Both streams use the same link. The log of this link must contain
            # the packets of both streams.
            self.assertEqual(first.link.packets, second.link.packets)
            self.assertEqual(sum(
                packet.size for packet in first.link.packets) // 1_000_000, 1)

    @test_testbed.needs_namespaces
    def test_two_streams_share_a_link(self):
        self.check_streams("auto")

    def test_two_streams_share_relays(self):
        self.check_streams("relay")

    @test_testbed.needs_namespaces
    def test_a_cell_fails_if_one_of_its_streams_does(self):
        with self.assertRaisesRegex(LabError,
                                    "2-bad: the sender failed"):
            self.run_cell("rtp+bad", "[protocol bad]\nsender = filesrc "
                          "location={clip} ! mpegstat ! mpegstat "
                          "location={sent} ! identity error-after=9 ! "
                          "fakesink\nreceiver = udpsrc port={port} ! mpegstat "
                          "location={received} ! fakesink")


if __name__ == "__main__":
    unittest.main()
