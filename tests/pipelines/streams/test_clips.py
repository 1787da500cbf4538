# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the video clips of the lab, which are made like those in the thesis
of Ouwens (2006). Each clip must have as many I-, P- and B-frames as the clips
in the thesis. The bitrate of each clip may differ by at most 1 % from the one
in its name.
"""

import collections
import os
import pathlib
import subprocess
import unittest

from wirelesslab.streams import clips

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"])

RATES = (3, 4, 5, 6)
SECONDS = 60
OUWENS = {"I": 101, "P": 400, "B": 999}


def frame_types(path):
    listed = subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", "v",
         "-show_entries", "frame=pict_type", "-of", "default=nw=1:nk=1", path],
        check=True, stdout=subprocess.PIPE, text=True)
    return collections.Counter(listed.stdout.split())


def make(*arguments):
    return subprocess.run(
        [SOURCE / "pipelines" / "clips", "--build", BUILD, *arguments],
        check=True, stdout=subprocess.PIPE, text=True).stdout


class ClipsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        make("--ts", "6")
        make()

    def test_frame_counts_are_the_papers(self):
        for rate in RATES:
            with self.subTest(rate=rate):
                clip = BUILD / "clips" / f"bunny-{rate}M.m2v"
                self.assertEqual(frame_types(clip), OUWENS)
                self.assertEqual(clips.count_frames(clip),
                                 sum(OUWENS.values()))

    def test_size_is_within_a_percent_of_the_rate(self):
        for rate in RATES:
            with self.subTest(rate=rate):
                clip = BUILD / "clips" / f"bunny-{rate}M.m2v"
                expected = rate * 1e6 * SECONDS / 8
                self.assertAlmostEqual(clip.stat().st_size, expected,
                                       delta=expected / 100)

    def test_an_existing_clip_is_not_made_again(self):
        self.assertEqual(make(), "")

    def test_the_twin_in_ts_holds_the_same_video_and_sound(self):
        twin = BUILD / "clips" / "bunny-6M.ts"
        video = subprocess.run(
            ["ffmpeg", "-nostdin", "-v", "error", "-i", twin, "-map", "0:v",
             "-c", "copy", "-f", "mpeg2video", "-"],
            check=True, stdout=subprocess.PIPE).stdout
        clip = (BUILD / "clips" / "bunny-6M.m2v").read_bytes()
        self.assertTrue(video == clip, "the video is not the clip's")
        sound = subprocess.run(
            ["ffprobe", "-v", "error", "-select_streams", "a",
             "-show_entries", "stream=codec_name", "-of",
             "default=nw=1:nk=1", twin],
            check=True, stdout=subprocess.PIPE, text=True).stdout
        self.assertEqual(set(sound.split()), {"mp2"})


if __name__ == "__main__":
    unittest.main()
