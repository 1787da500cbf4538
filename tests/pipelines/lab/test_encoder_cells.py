# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a cell (one experiment of the lab) with a live encoder in real time, and
checks what the lab measures in this run.
"""

import csv
import math
import os
import pathlib
import subprocess
import tempfile
import unittest

from wirelesslab.lab import cells, matrix
from wirelesslab.report import encoder_runs, run_results
from wirelesslab.streams import clips, display, live_sources, quality
from wirelesslab.testbed import testbed

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"])
LAB = SOURCE / "pipelines" / "lab"
SECONDS = 3
FRAMES = SECONDS * clips.FRAMES_PER_SECOND
ELEMENTS = ("mpegstat", "wirelesslink", "mmtpsink", "bitrateadapt", "x264enc",
            "h264parse", "avdec_mpeg2video", "compositor")
RATE = 3  # Mbit/s


def shortened(text):
    """`text` is the content of the project's matrix file encoder.ini. Returns
    a copy that describes only one short experiment.
    """
    link = (f"[link slow]\nsteps = {RATE}\n"
            "properties = delay-ms=20 txqueuelen=50\n")
    head, front = text.split("[matrix]")[0], text.split("[encoder]")[1]
    return (f"{head}[matrix]\nencoders = motion\nprotocols = mmtp\n"
            f"links = slow\nseconds = {SECONDS}\n[encoder]"
            f"{front.split('[link ')[0]}{link}")


class EncoderCase(unittest.TestCase):
    def setUp(self):
        for element in ELEMENTS:
            if not cells.is_element(element, BUILD):
                self.skipTest(f"{element} is not installed")
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)


class CellTest(EncoderCase):

    def lab(self, *words):
        return subprocess.run(
            [LAB, *words, "--build", BUILD], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=120)

    def run_cell(self):
        path = self.directory / "encoder.ini"
        path.write_text(shortened(
            (SOURCE / "pipelines" / "encoder.ini").read_text()))
        done = self.lab("grid", path, "--output", self.directory / "out",
                        "--plain")
        self.assertEqual(done.returncode, 0, done.stdout)
        (run,), missing, _ = run_results.read(
            self.directory / "out", BUILD, 500)
        self.assertEqual(missing, 0)
        return run

    def test_a_cell_leaves_all_that_its_numbers_need(self):
        run = self.run_cell()
        self.assertEqual(matrix.kind(run.cell), matrix.LIVE)
        self.assertGreater(run.lateness["encoder_p99_ms"], 0)
        self.assertGreaterEqual(run.lateness["encoder_max_ms"],
                                run.lateness["encoder_p99_ms"])
        logs = [display.read_log(run.directory / name).frames
                for name in ("captured.csv", "sent.csv")]
        self.assertEqual([len(frames) for frames in logs], [FRAMES] * 2)
        self.assertEqual(clips.count_frames(run.directory / "encoded.h264"),
                         FRAMES)
        measured = encoder_runs.EncoderRun(run, BUILD, None)
        self.assertEqual(measured.late_ms, 400)
        numbers = measured.numbers()
        self.assertEqual(numbers["frames"],
                         FRAMES - encoder_runs.LAST_FRAMES)
        self.assertEqual(len(measured.pictures), numbers["frames"])
        self.assertAlmostEqual(numbers["capacity Mbit/s"], RATE, delta=0.05)
        self.assertTrue(0 < numbers["SSIM"] < 1)
        self.assertLessEqual(numbers["used Mbit/s"], RATE)
        if not testbed.why_no_hosts() and not run.is_flagged:
            self.assertGreater(numbers["used %"], 10)
            self.assertTrue(math.isfinite(numbers["delay 50 % ms"]))
        self.assertTrue(measured.adaptations)
        for told in measured.adaptations:
            self.assertTrue(300_000 <= told.target <= 6_000_000, told)
        self.check_report()

    def check_report(self):
        output = self.directory / "out"
        done = self.lab("report", output)
        if "is not installed" in done.stdout:
            self.skipTest("no Python has Jinja2 and matplotlib")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("live encoder", (output / "report.html").read_text())
        with open(output / "report" / "encoder-1-summary.csv") as file:
            (row,) = csv.DictReader(file)
        self.assertRegex(row["SSIM"], r"^0\.\d{3}$")
        self.assertEqual(len(list((output / "report").glob("*.svg"))), 3)
        # A report has a video of the worst part of a stream, which lasts at
        # most five seconds. This stream is shorter, so the video must have all
        # of its frames.
        self.assertEqual(
            clips.count_frames(output / "report" / "encoder-1-worst.mp4"),
            FRAMES - encoder_runs.LAST_FRAMES)
        for words, status in (("motion", 0), ("film", 1)):
            done = self.lab("report", output, "--only", words, "--page",
                            self.directory / "some.html")
            self.assertEqual(done.returncode, status, done.stdout)


class CapacityTest(EncoderCase):

    def test_a_link_with_a_rate_carries_that_rate(self):
        packets = encoder_runs.probe("rate=2000000", 1, 3e9, BUILD)
        rates = display.rates(packets, 1e9, 3e9, 1e9)
        self.assertEqual(len(rates), 2)
        for rate in rates:
            self.assertAlmostEqual(rate / 2e6, 1, delta=0.01)


class QualityTest(EncoderCase):

    def test_a_frozen_picture_is_compared_with_the_source(self):
        source = live_sources.make(BUILD, "motion", SECONDS)
        # `shown` contains the number of the picture that a viewer sees in each
        # frame period, or None before the first picture. `shown` has four
        # entries. The video `source` has more pictures, but the result must
        # also have four entries.
        shown = [None, 1, 1, 3]
        found = quality.measure(source, shown, self.directory, source)
        self.assertEqual(len(found), 4)
        self.assertEqual([picture.mse == 0 for picture in found],
                         [False, True, False, True])
        self.assertLess(found[0].ssim, found[2].ssim)


class SourceTest(EncoderCase):

    def test_sources_have_one_frame_for_each_period(self):
        for name in live_sources.TITLES:
            with self.subTest(name):
                path = live_sources.make(BUILD, name, SECONDS)
                self.assertEqual(clips.count_frames(path), FRAMES)
                self.assertEqual(
                    subprocess.run(
                        [*clips.FFPROBE, "-select_streams", "v",
                         "-show_entries",
                         "stream=width,height,r_frame_rate,has_b_frames",
                         "-of", "default=nw=1:nk=1", path], text=True,
                        stdout=subprocess.PIPE).stdout.split(),
                    ["1280", "720", "0", "25/1"])


if __name__ == "__main__":
    unittest.main()
