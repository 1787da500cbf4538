# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the output of pipelines/logplot for the log of a link. The expected
numbers were computed by hand."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import test_lab

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
COMMAND = SOURCE / "pipelines" / "logplot"
PYTHON = test_lab.python_that_can_report()
HEAD = """# wirelesslink-log 1
# packet time_ns flow station index size_bytes fate attempts arrival_ns departure_ns
"""  # noqa: E501

# The packets in the log of the link. Each packet is a tuple (number of the
# flow, size in bytes, fate, time in s at which the packet enters the link,
# time in s at which it leaves the link). The last two packets of flow 1 stay
# in the link for 3 s or more, so no packet of flow 1 leaves the link between
# 2.9 s and 6 s.
PACKETS = ((1, 100, "delivered", 2.0, 2.5), (1, 300, "delivered", 2.0, 2.9),
           (1, 900, "queue", 2.1, 2.1), (0, 50, "delivered", 2.2, 2.3),
           (1, 200, "damaged", 3.0, 6.0), (1, 400, "delivered", 3.0, 6.5))


def line(flow, size, fate, entered, left):
    return (f"packet {left * 1e9:.0f} {flow} 0 0 {size} {fate} 1 "
            f"{entered * 1e9:.0f} {left * 1e9:.0f}\n")


class LogplotTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.log = pathlib.Path(directory.name, "wl0.log")
        self.log.write_text(HEAD + "".join(line(*packet)
                                           for packet in PACKETS))

    def run_it(self, *words):
        return subprocess.run(
            [PYTHON or sys.executable, COMMAND, *words, self.log], text=True,
            capture_output=True)

    def test_prints_the_throughput_and_the_silences(self):
        done = self.run_it("--flow", "1")
        self.assertEqual(done.stdout.splitlines(), [
            "1000 bytes in 4.5 s, 222 byte/s", "nothing from 0.9 s for 3.1 s",
            "beside that 714 byte/s"])

    def test_the_minimum_length_of_a_silence_can_be_set(self):
        done = self.run_it("--flow", "1", "--silence", "0.45")
        self.assertEqual(done.stdout.count("nothing from"), 2)

    def test_a_flow_that_brought_nothing_is_an_error(self):
        done = self.run_it("--flow", "7")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no packet of flow 7", done.stderr)

    @unittest.skipUnless(PYTHON, "no Python has matplotlib")
    def test_draws_the_same_picture_twice(self):
        pictures = []
        for name in ("one.svg", "two.svg"):
            path = self.log.with_name(name)
            done = self.run_it("--flow", "1", "--output", path)
            self.assertEqual(done.returncode, 0, done.stderr)
            pictures.append(path.read_bytes())
            xml.etree.ElementTree.parse(path)
        self.assertEqual(*pictures)


if __name__ == "__main__":
    unittest.main()
