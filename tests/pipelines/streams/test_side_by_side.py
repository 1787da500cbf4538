# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the video in which several streams are shown side by side, each in its
own tile. Each tile in each frame of the video must show the correct picture of
the correct clip.
"""

import pathlib
import subprocess
import tempfile
import unittest

from wirelesslab import processes
from wirelesslab.errors import LabError
from wirelesslab.streams import clips, pictures, side_by_side
from wirelesslab.streams.side_by_side import Tile

# The test clip has grey pictures. All pixels of a picture have the same
# luminance: 40 in the first picture, 60 in the second picture, 80 in the third
# picture, and so on.
COUNT, FIRST, STEP = 8, 40, 20
BLACK, ORANGE = 16, 155


class VideoCase(unittest.TestCase):

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.clip = self.directory / "grey.mkv"
        raw = self.directory / "grey.yuv"
        raw.write_bytes(b"".join(
            bytes([FIRST + STEP * n]) * 4096 + bytes([128]) * 2048
            for n in range(COUNT)))
        processes.run(
            [*clips.FFMPEG, "-f", "rawvideo", "-s", "64x64", "-r", "25",
             "-pix_fmt", "yuv420p", "-i", raw, "-c:v", "ffv1", self.clip],
            "ffmpeg")

    def write(self, *tiles, poster_place=0):
        self.small = side_by_side.Pictures(tiles)
        return side_by_side.write(self.small, None, 25,
                                  self.directory / "video", poster_place)

    def frames(self, video):
        """Decodes the file `video` and returns the luminance of its pixels.
        The result is a list of frames. Each frame is a list of rows. Each row
        is a bytes object with the luminance of its pixels.
        """
        width, height = self.small.size.whole()
        data = subprocess.run(
            [*clips.FFMPEG, "-i", video, "-vf", "extractplanes=y", "-f",
             "rawvideo", "-"], stdout=subprocess.PIPE, check=True).stdout
        rows = [data[begin:begin + width]
                for begin in range(0, len(data), width)]
        return [rows[begin:begin + height]
                for begin in range(0, len(rows), height)]


class FramesTest(VideoCase):

    def check(self, frames, tile, levels, bars):
        """Checks one tile of the video in all frames. `levels` has the
        luminance that the middle of the tile must have in each frame. `bars`
        says for each frame whether the tile must have an orange bar at its
        lower edge.
        """
        size = self.small.size
        x, y = size.place(tile)
        for number, (rows, level, has_bar) in enumerate(
                zip(frames, levels, bars, strict=True)):
            with self.subTest(tile=tile, frame=number):
                middle = rows[y + size.height // 2][x + size.width // 2]
                edge = rows[y + size.height - side_by_side.BAR // 2][
                    x + size.width // 2]
                self.assertAlmostEqual(middle, level, delta=3)
                self.assertAlmostEqual(edge, ORANGE if has_bar else level,
                                       delta=6)

    def test_each_tile_has_the_picture_that_is_seen(self):
        # The video has four frames and three tiles. In its frames, the
        # pictures 3, 4, 5 and 6 of the clip are due. Each tile shows what one
        # viewer sees:
        # - The first tile shows the pictures 3, 4, 5 and 6.
        # - The second tile shows picture 1, and then picture 4 three times.
        # - The third tile is black twice, and then shows the pictures 5 and 6.
        #
        # A tile must have a bar at its lower edge in each frame in which it
        # does not show the picture that is due.
        video, _ = self.write(
            Tile(self.clip, [3, 4, 5, 6], 3), Tile(self.clip, [1, 4, 4, 4], 3),
            Tile(self.clip, [None, None, 5, 6], 3))
        frames = self.frames(video)
        self.assertEqual(len(frames), 4)
        self.check(frames, 0, [100, 120, 140, 160], [False] * 4)
        self.check(frames, 1, [60, 120, 120, 120], [True, False, True, True])
        self.check(frames, 2, [BLACK, BLACK, 140, 160],
                   [True, True, False, False])

    def test_the_poster_is_the_chosen_frame(self):
        video, poster = self.write(
            Tile(self.clip, range(8), 0), Tile(self.clip, [0] * 8, 0),
            poster_place=6)
        self.assertEqual(len(self.frames(video)), 8)
        (rows,) = self.frames(poster)
        # The poster, a JPEG, shows the picture with the luminance 160. In the
        # video, luminance goes from 16 (black) to 235 (white). In a JPEG, it
        # goes from 0 to 255. In the poster, 160 must therefore become (160 -
        # 16) * 255 / 219, which is 168.
        self.assertAlmostEqual(rows[100][100], 168, delta=3)

    def test_streams_may_come_from_different_files(self):
        other = self.directory / "other.mkv"
        processes.run([*clips.FFMPEG, "-i", self.clip, "-vf",
                       "lutyuv=y=val+10", "-c:v", "ffv1", other], "ffmpeg")
        video, _ = self.write(Tile(self.clip, [2, 3], 2),
                              Tile(other, [2, 2], 2))
        frames = self.frames(video)
        self.check(frames, 0, [80, 100], [False, False])
        self.check(frames, 1, [90, 90], [False, True])

    def test_a_clip_that_is_too_short_is_a_failure(self):
        with self.assertRaisesRegex(LabError, "has no picture 8"):
            self.write(Tile(self.clip, [7, 8], 7))


class ClipTest(VideoCase):

    def test_frames_look_like_those_of_the_clip(self):
        """Makes a video from the frames 5 to 19 of a clip, and checks that it
        shows these frames in order. The picture of the clip moves in each
        frame. A comparison with a wrong frame therefore gives a PSNR of less
        than 30 dB.
        """
        clip = self.directory / "moving.mkv"
        processes.run(
            [*clips.FFMPEG, "-f", "lavfi", "-i",
             "testsrc=s=480x270:r=25:d=1,setsar=1,format=yuv420p", "-vf",
             "scroll=h=0.05", "-c:v", "ffv1", clip], "ffmpeg")
        video, _ = self.write(Tile(clip, range(5, 20), 5))
        self.assertEqual(clips.count_frames(video), 15)
        self.assertEqual(self.small.size.whole(), (480, 270))
        for moved, is_good in ((5, True), (6, False)):
            part = self.directory / "part.mkv"
            processes.run(
                [*clips.FFMPEG, "-i", clip, "-vf",
                 f"trim=start_frame={moved}:end_frame={moved + 15},"
                 "setpts=PTS-STARTPTS", "-c:v", "ffv1", part], "ffmpeg")
            found = [pictures.psnr([error]) for error in pictures.errors(
                video, part, self.directory)]
            self.assertEqual(len(found), 15)
            self.assertEqual([psnr > 30 for psnr in found], [is_good] * 15)


class LayoutTest(unittest.TestCase):

    def test_tiles_fill_the_width(self):
        self.assertEqual([side_by_side.columns(count)
                          for count in (1, 2, 4, 5, 9, 10, 20)],
                         [1, 2, 2, 3, 3, 4, 4])
        # A video is at most 1200 pixels wide, and the gap between two tiles is
        # 4 pixels. If it has 11 tiles, each row has 4 of them. Each tile could
        # be 297 pixels wide, because 4 * 297 + 3 * 4 = 1200. The width must be
        # divisible by 4, so it must be 296.
        self.assertEqual(side_by_side.width(11), 296)
        # A video is at most 1200 pixels wide, and the gap between two tiles is
        # 4 pixels. A video with 2 tiles has them in one row. They would fill
        # the video if each were 598 pixels wide, because 2 * 598 + 4 = 1200.
        # However, a tile is at most 480 pixels wide, so the width must be 480.
        self.assertEqual(side_by_side.width(2), 480)

    def test_places_of_tiles(self):
        size = side_by_side.Size(columns=4, rows=3, width=296, height=166)
        self.assertEqual(size.place(0), (0, 0))
        # If each row has 4 tiles, tile 5 (counted from 0) is the second tile
        # of the second row. Its left edge must be at 300 and its upper edge at
        # 170 pixels.
        self.assertEqual(size.place(5), (300, 170))
        self.assertEqual(size.whole(), (4 * 300 - 4, 3 * 170 - 4))

    def test_ranges_of_numbers(self):
        self.assertEqual(side_by_side.ranges({7, 1, 2, 3, 9, 8}),
                         [(1, 3), (7, 9)])
        self.assertEqual(side_by_side.ranges({4}), [(4, 4)])


if __name__ == "__main__":
    unittest.main()
