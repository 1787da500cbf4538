# SPDX-License-Identifier: LGPL-2.1-or-later
"""The debug log explains each frame that is dropped over the link of the demo.

`ifdqueue` paces by the clock, so these pipelines run in real time, all of them at
once. How many frames are dropped depends on the machine. The log and the statistics
have to agree in any case.
"""

import collections
import configparser
import os
import pathlib
import re
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"])
CLIP = BUILD / "clips" / "bunny-6M.m2v"
FRAMES = 210  # until the interference of the demo's link ends
SECONDS_TO_WAIT = 60

DROP = re.compile(
    r" DEBUG +ifdqueue .*<ifdqueue0> dropped (?P<type>[IPB])-frame (?P<number>\d+)"
    r" of (?P<size>\d+) bytes when frame (?P<cause>\d+) came:"
    r" (?P<reason>[a-z-]+): (?P<rule>\w.*)$", re.M)
STATS = re.compile(r"application/x-ifdqueue-stats, .*")
FIELD = re.compile(r"([a-z0-9-]+)=\((?:g?u?int64|g?uint)\)(-?\d+)")


def read_link():
    """The properties of wirelesslink in the demo"""
    demo = configparser.ConfigParser(interpolation=None)
    demo.read(SOURCE / "pipelines" / "demo.ini")
    return demo["link " + demo["matrix"]["links"]]["properties"]


def start(queue):
    """Streams the clip through this ifdqueue over the link."""
    pipeline = (f"filesrc location={CLIP} ! mpegstat ! identity "
                f"eos-after={FRAMES} ! {queue} ! rfc2250pay ! wirelesslink "
                f"{read_link()} blocking=true ! fakesink sync=false")
    return subprocess.Popen(
        ["gst-launch-1.0", "-m", *pipeline.split()],
        env={**os.environ, "GST_DEBUG": "ifdqueue:5", "GST_DEBUG_NO_COLOR": "1",
             "LC_ALL": "C"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process):
    """Its statistics and its log"""
    try:
        output, log = process.communicate(timeout=SECONDS_TO_WAIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    if process.returncode != 0:
        raise AssertionError(f"gst-launch-1.0 failed: {log}")
    stats = STATS.findall(output)[-1]
    return {name: int(value) for name, value in FIELD.findall(stats)}, log


class DropLogTest(unittest.TestCase):
    def setUp(self):
        if not CLIP.exists():
            self.skipTest("pipelines/clips made no clip of 6 Mbit/s")

    def check(self, stats, log):
        drops = list(DROP.finditer(log))
        self.assertGreater(len(drops), 0)
        # One line for each frame, and one frame for each line
        self.assertEqual(len(drops), stats["dropped"])
        self.assertEqual(len({drop["number"] for drop in drops}), len(drops))
        self.assertEqual(sum(int(drop["size"]) for drop in drops),
                         stats["bytes-dropped"])
        reasons = collections.Counter(drop["reason"] for drop in drops)
        types = collections.Counter(drop["type"] for drop in drops)
        counted = {
            name.removeprefix("dropped-"): value for name, value in stats.items()
            if name.startswith("dropped-") and value}
        for type_ in "IPB":
            self.assertEqual(types[type_], counted.pop(type_.lower(), 0))
        self.assertEqual(dict(reasons), counted)

    def test_each_frame_that_ifdqueue_drops_is_explained(self):
        algorithms = "gop", "paper", "paper-gop"
        queues = [f"ifdqueue algorithm={name}" for name in algorithms]
        for queue, process in [(queue, start(queue)) for queue in queues]:
            with self.subTest(queue):
                self.check(*finish(process))

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


if __name__ == "__main__":
    unittest.main()
