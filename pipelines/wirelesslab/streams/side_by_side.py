# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a video in which several streams play side by side. For each stream,
the caller gives the list of the pictures that its viewer sees.

The video is H.264 in MP4 or, if ffmpeg has no libx264, VP9 in WebM. All common
browsers play both formats. The bitrate is limited, so that a video of five
seconds is smaller than 1.5 MB.
"""

import contextlib
import functools
import math
import os
import pathlib
import re
import subprocess
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO

from wirelesslab import processes
from wirelesslab.errors import LabError
from wirelesslab.streams import clips

# Two limits in pixels: the maximum width of the whole video, and the maximum
# width of one stream in it.
WIDTH, WIDTH_OF_ONE = 1200, 480
COLUMNS = 4
# The gap between two streams in the video, in pixels.
GAP = 4
# The height of a bar at the lower edge of a picture, in pixels. The bar marks a
# picture that is shown in the place of another picture, because the picture
# that is due is not available. The height is even, because the chrominance has
# half as many lines as the luminance.
BAR = 8
# Colours as (luminance, blue chrominance, red chrominance) of ITU-R BT.601.
# ORANGE is the RGB colour #e69f00.
BLACK, ORANGE = (16, 128, 128), (155, 43, 171)
BITS_PER_SECOND = 1_900_000
# The encoders for the video, in order of preference: {encoder of ffmpeg:
# (suffix of the file, options)}. The first encoder that ffmpeg has is used.
ENCODERS = {
    "libx264": ("mp4", "-preset veryfast -crf 25 -pix_fmt yuv420p -maxrate "
                f"{BITS_PER_SECOND} -bufsize {BITS_PER_SECOND // 2} -g 25 "
                "-movflags +faststart"),
    "libvpx-vp9": ("webm", "-deadline realtime -cpu-used 8 -row-mt 1 -crf 36 "
                   f"-b:v {BITS_PER_SECOND} -maxrate {BITS_PER_SECOND} "
                   f"-bufsize {BITS_PER_SECOND // 2} -g 25"),
}


class Tile(typing.NamedTuple):
    """One of the streams that the new video shows side by side. Pictures are
    numbered in display order.
    - `video` is the file from which the pictures of the stream are taken.
    - `numbers` has one item for each frame of the new video: the number of the
      picture that the viewer of the stream sees. The item is None as long as
      the viewer has seen no picture.
    - `first` is the number of the picture that the viewer should see in the
      first frame of the new video. In each following frame, the next picture
      is due.
    """

    video: pathlib.Path
    numbers: Sequence[int | None]
    first: int


class Size(typing.NamedTuple):
    """The arrangement of the streams in the video. Each stream has a tile, a
    part of the video. The streams fill the rows of a grid one after another.
    Sizes are in pixels.
    """

    columns: int
    rows: int
    width: int  # of a tile
    height: int

    def place(self, number: int) -> tuple[int, int]:
        """Returns the upper left corner of a tile as (x, y) in pixels.
        `number` is the number of the tile, counted from 0.
        """
        row, column = divmod(number, self.columns)
        return column * (self.width + GAP), row * (self.height + GAP)

    def whole(self) -> tuple[int, int]:
        """Returns the width and the height of the whole video in pixels."""
        return (self.columns * (self.width + GAP) - GAP,
                self.rows * (self.height + GAP) - GAP)


def columns(count: int) -> int:
    return min(math.ceil(math.sqrt(count)), COLUMNS)


def width(count: int) -> int:
    """Returns the width of a tile in pixels. A tile is the part of the video
    that shows one stream. `count` is the number of tiles.
    """
    space = (WIDTH + GAP) // columns(count) - GAP
    return min(space, WIDTH_OF_ONE) // 4 * 4


class Pictures:
    """The pictures of all tiles. They are kept in memory, scaled to the size
    of a tile. A tile is the part of the video that shows one stream.
    """

    def __init__(self, tiles: Sequence[Tile]) -> None:
        self.tiles = tiles
        wanted = {}
        for tile in tiles:
            wanted.setdefault(tile.video, set()).update(
                number for number in tile.numbers if number is not None)
        self._kept, sizes = {}, set()
        for video, numbers in wanted.items():
            if numbers:
                size, self._kept[video] = take(video, numbers,
                                               width(len(tiles)))
                sizes.add(size)
        if len(sizes) != 1:
            raise LabError("there are no pictures to be put side by side, or "
                           "they have different shapes")
        self.size = Size(columns(len(tiles)),
                         math.ceil(len(tiles) / columns(len(tiles))),
                         *sizes.pop())
        self._black = plain(self.size, BLACK)

    def frames(self) -> Iterator[list[bytes]]:
        """Yields a list of pictures for each frame of the video: one picture
        for each stream (tile).
        """
        for place in range(len(self.tiles[0].numbers)):
            yield [self.seen(tile, place) for tile in self.tiles]

    def seen(self, tile: Tile, place: int) -> bytes:
        number = tile.numbers[place]
        data = self._black if number is None \
            else self._kept[tile.video][number]
        return data if number == tile.first + place \
            else marked(data, self.size)


def take(video: pathlib.Path, numbers: set[int], wide: int
         ) -> tuple[tuple[int, int], Mapping[int, bytes]]:
    """Decodes those pictures of `video` whose numbers are in `numbers`.
    Returns two values: the size of the pictures, and {number: picture}. The
    pictures are scaled to the width `wide` and keep the aspect ratio of the
    video. A picture consists of the luminance, followed by both parts of the
    chrominance.
    """
    chosen = "+".join(f"between(n\\,{first}\\,{last})"
                      for first, last in ranges(numbers))
    decoder = processes.start(
        [*clips.FFMPEG, "-i", str(video), "-fps_mode", "passthrough", "-vf",
         f"select={chosen},scale={wide}:2*round({wide}/dar/2):"
         "flags=area,setsar=1,format=yuv420p",
         "-frames:v", str(len(numbers)), "-f", "yuv4mpegpipe", "-"],
        stdout=subprocess.PIPE)
    try:
        size, pictures = read(decoder.stdout)
        found = dict(zip(sorted(numbers), pictures))
    finally:
        processes.kill(decoder)
        decoder.stdout.close()
    if len(found) < len(numbers):
        raise LabError(f"{video} has no picture {max(numbers)}")
    return size, found


def ranges(numbers: set[int]) -> list[tuple[int, int]]:
    """Divides the set `numbers` into ranges of consecutive numbers. Returns
    each range as a pair (first, last).
    """
    found = []
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def read(stream: BinaryIO) -> tuple[tuple[int, int], list[bytes]]:
    """Reads a YUV4MPEG2 stream. Returns two values: the size of the pictures
    as (width, height), and a list of the pictures.
    """
    header = stream.readline()
    if not header:
        return (0, 0), []
    wide, high = (int(re.search(rb" %b(\d+)" % side, header)[1])
                  for side in (b"W", b"H"))
    pictures = []
    while stream.readline():
        pictures.append(stream.read(wide * high * 3 // 2))
    return (wide, high), pictures


def plain(size: Size, colour: tuple[int, int, int]) -> bytes:
    """Returns a picture with the given `size`, in which all pixels have the
    given `colour`.
    """
    return b"".join(bytes([value]) * (size.width * size.height // share)
                    for value, share in zip(colour, (1, 4, 4)))


def marked(picture: bytes, size: Size) -> bytes:
    """Returns a copy of `picture` with an orange bar at its lower edge. `size`
    contains the width and the height of the picture.
    """
    found, begin = [], 0
    for value, side in zip(ORANGE, (1, 2, 2)):
        length = (size.width // side) * (size.height // side)
        bar = (size.width // side) * (BAR // side)
        found += [picture[begin:begin + length - bar], bytes([value]) * bar]
        begin += length
    return b"".join(found)


@functools.cache
def encoder() -> str | None:
    """Returns the first encoder in ENCODERS that ffmpeg has. If it has none of
    them, returns None.
    """
    known = processes.run([*clips.FFMPEG, "-encoders"], "ffmpeg").split()
    return next((name for name in ENCODERS if name in known), None)


def write(pictures: Pictures, labels: pathlib.Path | None, fps: int,
          stem: pathlib.Path, poster_place: int = 0
          ) -> tuple[pathlib.Path | None, pathlib.Path]:
    """Writes a video that shows all streams side by side, and one of its
    frames as a picture file. `poster_place` is the number of this frame.
    `labels` is a partly transparent picture of the same size, which is drawn
    over the video.

    Returns the paths of the two files. Each path is `stem` with a suffix. If
    ffmpeg has no encoder for the video, there is no video, and its path is
    None.
    """
    name = encoder()
    poster, target = stem.with_suffix(".jpg"), None
    graph = (f"[0]tile={pictures.size.columns}x{pictures.size.rows}:"
             f"padding={GAP}:nb_frames={len(pictures.tiles)}:color=black,"
             f"settb=1/{fps},setpts=N")
    if labels:
        graph += "[v];[v][1]overlay=format=auto"
    graph += (f",split[v][p];[p]select=eq(n\\,{poster_place}),"
              "format=yuvj420p[p]")
    outputs = ["-map", "[p]", "-frames:v", "1", "-q:v", "4", "-update", "1",
               str(poster)]
    if name:
        suffix, options = ENCODERS[name]
        target = stem.with_suffix(f".{suffix}")
        outputs += ["-map", "[v]", "-r", str(fps), "-c:v", name,
                    *options.split(), str(target)]
    else:
        graph += ";[v]nullsink"
    draw(pictures, labels, fps, graph, outputs)
    return target, poster


def draw(pictures: Pictures, labels: pathlib.Path | None, fps: int, graph: str,
         outputs: Sequence[str]) -> None:
    """Runs ffmpeg with the filter graph `graph` and the output options
    `outputs`. ffmpeg reads pictures from a pipe. For each frame of the video,
    one picture of each stream is written to this pipe.
    """
    readable, writable = os.pipe()
    child = processes.start(
        [*clips.FFMPEG, "-f", "yuv4mpegpipe", "-i", f"pipe:{readable}",
         *(["-i", str(labels)] if labels else []),
         "-filter_complex", graph, *outputs],
        pass_fds=(readable,), stdout=subprocess.DEVNULL)
    os.close(readable)
    # If ffmpeg ends early, writing to the pipe fails. This error is ignored
    # here. The exit status of ffmpeg, which is checked afterwards, shows the
    # failure.
    with contextlib.suppress(BrokenPipeError), open(writable, "wb") as pipe:
        pipe.write(b"YUV4MPEG2 W%d H%d F%d:1 Ip A1:1 C420jpeg\n"
                   % (pictures.size.width, pictures.size.height,
                      fps * len(pictures.tiles)))
        for tiles in pictures.frames():
            for picture in tiles:
                pipe.write(b"FRAME\n" + picture)
    if processes.finish(child) != 0:
        raise LabError("ffmpeg could not put the pictures side by side")
