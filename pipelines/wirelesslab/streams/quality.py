# SPDX-License-Identifier: LGPL-2.1-or-later
"""Computes the PSNR and the SSIM of each picture with ffmpeg. The pictures are
compared in display order. If a picture is missing, the last picture that was
shown takes its place.

A frame that arrives complete is bit-identical to the frame that was sent. The
pictures can therefore be taken from the clip, and no decoder has to run during
the stream. The reference is the clip as it was sent. The loss of quality in
the encoder does not count, because the network did not cause it.
"""

import contextlib
import math
import os
import pathlib
import re
import subprocess
import typing
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from wirelesslab import processes
from wirelesslab.errors import LabError
from wirelesslab.streams import clips, pictures

# The value in dB that replaces an infinite PSNR in plots.
DB_OF_INFINITE = 100.0
# Only the luminance of the pictures is compared. EvalVid does the same.
MSE = re.compile(r"\bmse_y:(\S+)")
SSIM = re.compile(r"\bY:(\S+)")
# Filters of ffmpeg that give each picture its number as the timestamp. The
# original timestamps are not used, because ffmpeg inserts a gap in them at the
# start of raw MPEG-1 video.
COUNTED = "settb=1/25,setpts=N"
BLACK = 16  # the luminance of ITU-R BT.601


class Picture(typing.NamedTuple):
    mse: float
    ssim: float

    def psnr(self) -> float:
        """Returns the PSNR in dB. If the viewer saw exactly the picture that
        was sent, the PSNR is infinite.
        """
        return pictures.psnr([self.mse])


UNHARMED = Picture(0.0, 1.0)


def measure(clip: pathlib.Path, shown: list[int | None],
            directory: pathlib.Path,
            reference: pathlib.Path | None = None) -> list[Picture]:
    """Returns a Picture for each place, which says how much the picture that
    the viewer sees differs from the correct picture. A place is the position
    of a picture of `clip` in display order. The viewer sees pictures of
    `clip`. `shown` contains, for each place, the number of the picture of
    `clip` that the viewer sees. The number is None if the viewer has not seen
    any picture yet.

    If `reference` is None, the correct picture of a place is the picture of
    `clip` at this place. If the viewer sees the correct picture, the result is
    UNHARMED. Otherwise, ffmpeg compares the picture that the viewer sees with
    the correct picture. `clip` must have as many pictures as `shown`.

    If `reference` is given, the correct picture of a place is the picture of
    the video `reference` at this place. ffmpeg then compares the pictures of
    all places. `clip` and `reference` may be longer than `shown`. Their
    pictures after the last place are ignored.
    """
    compared = [place for place, number in enumerate(shown)
                if reference or number != place]
    if not compared:
        return [UNHARMED] * len(shown)
    read, write = os.pipe()
    score = processes.start(
        [*clips.FFMPEG, "-f", "yuv4mpegpipe", "-i", f"pipe:{read}",
         "-filter_complex",
         f"[0]{COUNTED},split[u][v];[u]crop=iw:ih/2:0:0,split[a][b];"
         "[v]crop=iw:ih/2:0:ih/2,split[c][d];"
         "[a][c]psnr=f=psnr.log[x];[b][d]ssim=f=ssim.log[y]",
         "-map", "[x]", "-f", "null", "-", "-map", "[y]", "-f", "null", "-"],
        cwd=directory, pass_fds=(read,), stdout=subprocess.DEVNULL)
    os.close(read)
    try:
        with open(write, "wb") as pipe:
            write_pairs(clip, shown, reference, pipe)
    except BaseException:
        processes.kill(score)
        raise
    if processes.finish(score) != 0:
        raise LabError(f"ffmpeg could not compare the pictures of {clip}")
    found = [UNHARMED] * len(shown)
    for place, *both in zip(
            compared, numbers(directory / "psnr.log", MSE),
            numbers(directory / "ssim.log", SSIM), strict=True):
        found[place] = Picture(*both)
    return found


def write_pairs(clip: pathlib.Path, shown: list[int | None],
                reference: pathlib.Path | None, pipe: BinaryIO) -> None:
    """Writes pairs of pictures to `pipe`, as YUV4MPEG2 with luminance only. A
    pair is one frame with two pictures, one above the other. The upper picture
    is what the viewer saw. The lower picture is the picture with which it is
    compared.
    """
    with contextlib.ExitStack() as stack:
        own = stack.enter_context(luminance(clip))
        others = stack.enter_context(luminance(reference)) if reference \
            else None
        pipe.write(b"YUV4MPEG2 W%d H%d F25:1 Ip A1:1 Cmono\n"
                   % (own.width, 2 * own.height))
        seen = bytes([BLACK]) * (own.width * own.height)
        for place, number in enumerate(shown):
            data = next(own.pictures, None)
            expected = next(others.pictures, None) if others else data
            if data is None or expected is None:
                raise other_length(clip if data is None else reference, place,
                                   len(shown))
            seen = data if number == place else seen
            if reference or number != place:
                pipe.write(b"FRAME\n" + seen + expected)
        more = 0 if reference else sum(1 for _ in own.pictures)
        if more:
            raise other_length(clip, len(shown) + more, len(shown))


def other_length(video: pathlib.Path, count: int, sent: int) -> LabError:
    return LabError(f"{video} has {count} pictures, but {sent} frames were "
                    "sent of it")


class Luminance(typing.NamedTuple):
    """A video that is reduced to its luminance. The pictures are in display
    order.
    """

    width: int
    height: int
    pictures: Iterator[bytes]


@contextlib.contextmanager
def luminance(video: pathlib.Path) -> Iterator[Luminance]:
    decoder = processes.start(
        [*clips.FFMPEG, "-i", str(video), "-fps_mode", "passthrough",
         "-vf", "format=yuv420p,extractplanes=y", "-f", "yuv4mpegpipe", "-"],
        stdout=subprocess.PIPE)
    try:
        yield Luminance(*yuv4mpeg(decoder.stdout, video))
    finally:
        processes.kill(decoder)
        decoder.stdout.close()


def yuv4mpeg(stream: BinaryIO,
             video: pathlib.Path) -> tuple[int, int, Iterator[bytes]]:
    """Returns the width, the height and the pictures of `stream`, a YUV4MPEG2
    stream with luminance only, that is, without chrominance.
    """
    header = stream.readline()
    if not header:
        raise LabError(f"ffmpeg could not decode {video}")
    width, height = (int(re.search(rb" %b(\d+)" % side, header)[1])
                     for side in (b"W", b"H"))

    def pictures() -> Iterator[bytes]:
        while stream.readline():
            data = stream.read(width * height)
            if len(data) < width * height:
                return
            yield data

    return width, height, pictures()


def numbers(path: pathlib.Path, pattern: re.Pattern[str]) -> list[float]:
    return [float(word) for word in pattern.findall(path.read_text())]


def mean_psnr(found: Sequence[Picture]) -> float:
    """Returns the PSNR of the whole video in dB. It is computed from the mean
    of the mean square errors of all pictures.
    """
    return pictures.psnr([picture.mse for picture in found])


def drawable(psnr: float) -> float:
    return DB_OF_INFINITE if math.isinf(psnr) else psnr


def take(clip: pathlib.Path, number: int, target: pathlib.Path,
         width: int) -> pathlib.Path:
    """Saves one picture of the video `clip` as the file `target`, scaled to a
    width of `width` pixels. `number` is the number of the picture. Returns the
    path of the file.
    """
    pictures.ffmpeg(["-i", clip, "-vf",
                     rf"select=eq(n\,{number}),scale={width}:-2",
                     "-frames:v", 1, "-update", 1, target],
                    "taking a picture")
    return pathlib.Path(target)
