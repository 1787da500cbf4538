# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests IFD for some seconds over a link that is too slow for the clip, with
the kernel's sockets. IFD (I-Frame Delay) drops B-frames first and I-frames
last if a link is too slow for a video. This test checks only properties that
also hold on a busy machine. test_ifd_papers.py checks how many frames arrive
and how late they are.
"""

import shutil
import subprocess
import unittest

import ifdtestbed

from wirelesslab.streams import clips

# The bitrate of the clip in Mbit/s. It is higher than the rate of the link,
# which is 5 Mbit/s.
RATE = 6
SECONDS = 8


def pictures(path):
    """Returns the checksums of all pictures that ffmpeg decodes from the video
    file `path`.
    """
    done = subprocess.run(
        ["ffmpeg", "-nostdin", "-loglevel", "quiet", "-threads", "1",
         "-i", path, "-fps_mode", "passthrough", "-f", "framemd5", "-"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True)
    return [line.rpartition(",")[2].strip()
            for line in done.stdout.splitlines() if not line.startswith("#")]


class IfdLinkTest(ifdtestbed.IfdCase):
    def setUp(self):
        super().setUp()
        self.short = clips.cut(self.clip(RATE), SECONDS,
                               self.directory / "clip.m2v")

    def stream(self, transport, place=None):
        case = ifdtestbed.Case(transport, place or ifdtestbed.Bottleneck(),
                               self.short)
        directory = self.directory / "run"
        runs = ifdtestbed.stream_all({self.id(): case}, directory, 1)
        return runs[self.id()]

    def check_choice(self, run):
        """Checks a run in which the stream has a higher bitrate than the link.
        The sender must drop B-frames first. It must send only whole frames,
        and each frame that it sends must be decodable."""
        self.assertEqual(run.foreign_frames, 0)
        self.assertEqual(run.decodable, run.arrived)
        self.assertGreater(run.lost.get("B", 0), 0)
        self.assertGreaterEqual(run.lost_share("B"), run.lost_share("P"))
        self.assertGreaterEqual(run.lost_share("P"), run.lost_share("I"))

    @ifdtestbed.needs_all
    def test_gop_sends_only_decodable_frames(self):
        self.check_choice(self.stream(ifdtestbed.ifd("gop")))

    @ifdtestbed.needs_all
    def test_ffmpeg_decodes_exactly_the_decodable_frames(self):
        """Uses the original algorithm of Ouwens, which also sends frames that
        cannot be decoded. The test computes from the frame logs how many
        received frames should be decodable. ffmpeg must decode exactly this
        number of pictures from the received stream.
        """
        if not shutil.which("ffmpeg"):
            self.skipTest("there is no ffmpeg")
        file = self.directory / "received.m2v"
        transport = ifdtestbed.ifd("paper")
        transport["receiver"] = transport["receiver"].replace(
            "! mpegstat", f"! tee name=t ! queue ! filesink location={file} "
            "t. ! queue ! mpegstat")
        run = self.stream(transport)
        self.assertEqual(run.foreign_frames, 0)
        whole = set(pictures(self.short))
        self.assertEqual(len(whole), sum(run.sent.values()))
        self.assertEqual(sum(picture in whole for picture in pictures(file)),
                         sum(run.decodable.values()))

    @ifdtestbed.needs_all
    def test_a_socket_that_waits_makes_ifdqueue_choose(self):
        run = self.stream(
            ifdtestbed.transport("rtp", rfc2250pay="ifdqueue ! rfc2250pay",
                             udpsink=f"udpsink {ifdtestbed.SMALL_BUFFER}"),
            ifdtestbed.Bottleneck(ifdtestbed.UDP_BUCKET))
        # In this test, the sender drops frames. On a busy machine, the
        # receiver may also lose frames. The test therefore requires no exact
        # number of lost frames.
        self.assertEqual(run.foreign_frames, 0)
        self.assertGreater(run.lost.get("B", 0), 0)
        self.assertGreater(run.decodable.get("I", 0), 0)


if __name__ == "__main__":
    unittest.main()
