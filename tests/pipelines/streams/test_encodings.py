# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests which pictures of an encoded video a decoder can decode if some frames
of the video are missing. ffmpeg encodes the small videos of these tests."""

import pathlib
import subprocess
import tempfile
import unittest

from wirelesslab.streams import clips, display, encodings, frame_log

FRAMES = 12
MS = 1_000_000
PERIOD_MS = 40
# The stream begins with the frames I B P in display order. A B-frame refers to
# the frame before it and the frame after it in display order, so it is sent
# after these two frames. The first three frames are therefore sent in the
# order I P B.
B_FRAMES = ("-c:v libx264 -x264-params keyint=6:min-keyint=6:scenecut=0:"
            "bframes=1:b-adapt=0:open-gop=0")
CHAIN = "-c:v libvpx -deadline realtime -g 6"


def encode(directory, name, options):
    path = pathlib.Path(directory, name)
    subprocess.run(
        [*clips.FFMPEG, "-f", "lavfi", "-i", "testsrc=size=96x64:rate=25",
         "-frames:v", str(FRAMES), "-pix_fmt", "yuv420p", *options.split(),
         str(path)], check=True)
    return path


def log(numbers, delay_ms=0):
    found = frame_log.Log(pathlib.Path("none"))
    found.frames = [
        frame_log.Frame("I" if number % 6 == 0 else "P",
                        (number * PERIOD_MS + delay_ms) * MS, 0, 0, 0, number,
                        1000, (str(number), 1000))
        for number in numbers]
    return found


class EncodingsTest(unittest.TestCase):

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def decodable(self, path, codec, missing):
        return encodings.decodable(
            path, codec,
            [number for number in range(FRAMES) if number not in missing])

    def test_pictures_of_a_stream_with_b_frames(self):
        path = encode(self.directory, "b.mp4", B_FRAMES)
        places = [packet.place for packet
                  in encodings.read_packets(path, "h264")]
        self.assertEqual(places, [0, 2, 1, 4, 3, 5, 6, 8, 7, 10, 9, 11])
        whole = set(range(FRAMES))
        self.assertEqual(self.decodable(path, "h264", []), whole)
        # A missing B-frame costs only itself.
        self.assertEqual(self.decodable(path, "h264", [2]), whole - {1})
        # A missing P-frame makes the rest of its GOP undecodable.
        self.assertEqual(self.decodable(path, "h264", [3]),
                         whole - {3, 4, 5})

    def test_a_missing_frame_of_a_chain_costs_the_rest_of_its_gop(self):
        path = encode(self.directory, "chain.ivf", CHAIN)
        self.assertEqual(self.decodable(path, "vp8", [4]),
                         set(range(FRAMES)) - {4, 5})

    def test_times_of_frames(self):
        path = encode(self.directory, "b.mp4", B_FRAMES)
        encoding = {"name": "b", "codec": "h264", "delay": 1}
        kept = self.directory / "kept"
        for _ in range(2):  # with and without the file
            found = encodings.frames(
                encoding, path, log(range(FRAMES)),
                log([0, 1, 3, *range(4, FRAMES)], delay_ms=100), kept)
            self.assertEqual([frame.captured_ns for frame in found],
                             [n * PERIOD_MS * MS for n in range(FRAMES)])
            # The encoder delays its output by one frame (`delay`). The first
            # frame must therefore count as sent one frame period after its
            # capture.
            self.assertEqual(found[0].sent_ns, PERIOD_MS * MS)
            self.assertEqual(found[0].arrived_ns, (PERIOD_MS + 100) * MS)
            self.assertEqual(found[1].arrived_ns, display.NEVER)
            # `found` has the frames in display order. found[2] is a P-frame,
            # and is sent before the B-frame found[1]. The P-frame is therefore
            # the second frame that is sent. Without a delay, the encoder would
            # output the second frame after one frame period. The encoder
            # delays its output by one more frame period, so the P-frame is
            # sent after two frame periods. It arrives 100 ms later.
            self.assertEqual(found[2].arrived_ns, (2 * PERIOD_MS + 100) * MS)
            self.assertEqual([n for n, frame in enumerate(found)
                              if frame.is_key], [0, 6])


if __name__ == "__main__":
    unittest.main()
