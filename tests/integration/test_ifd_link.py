# SPDX-License-Identifier: LGPL-2.1-or-later
"""IFD over a link that is too slow for the clip, with this kernel's sockets,
for a few seconds: what holds however busy the machine is. How much arrives and
how late is a matter for test_ifd_papers.py.
"""

import shutil
import subprocess
import unittest

import ifdtestbed

from wirelesslab.streams import clips

RATE = 6  # Mbit/s, of the clip; the bottleneck has 5
SECONDS = 8


def pictures(path):
    """The checksums of what ffmpeg makes of a video"""
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
        """More came than the link takes: B-frames go first, nothing is sent in
        vain, and nothing but whole frames."""
        self.assertEqual(run.strangers, 0)
        self.assertEqual(run.decodable, run.arrived)
        self.assertGreater(run.lost.get("B", 0), 0)
        self.assertGreaterEqual(run.lost_share("B"), run.lost_share("P"))
        self.assertGreaterEqual(run.lost_share("P"), run.lost_share("I"))

    @ifdtestbed.needs_all
    def test_gop_sends_nothing_in_vain(self):
        self.check_choice(self.stream(ifdtestbed.ifd("gop")))

    @ifdtestbed.needs_all
    def test_what_can_be_decoded_is_what_ffmpeg_decodes(self):
        """With the paper's algorithm, which also sends what can't be: of what
        the receiver got ffmpeg makes as many pictures of the clip."""
        if not shutil.which("ffmpeg"):
            self.skipTest("there is no ffmpeg")
        file = self.directory / "received.m2v"
        transport = ifdtestbed.ifd("paper")
        transport["receiver"] = transport["receiver"].replace(
            "! mpegstat", f"! tee name=t ! queue ! filesink location={file} "
            "t. ! queue ! mpegstat")
        run = self.stream(transport)
        self.assertEqual(run.strangers, 0)
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
        # (On a busy machine the receiver may lose some too.)
        self.assertEqual(run.strangers, 0)
        self.assertGreater(run.lost.get("B", 0), 0)
        self.assertGreater(run.decodable.get("I", 0), 0)


if __name__ == "__main__":
    unittest.main()
