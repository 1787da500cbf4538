# SPDX-License-Identifier: LGPL-2.1-or-later
"""Computes PSNR and SSIM of each picture with ffmpeg. The pictures are aligned
in display order; a missing picture is replaced by the last one that was shown.

A frame that arrives complete is bit-identical to the frame that was sent. The
pictures are therefore taken from the clip, and no decoder has to run during the
stream. The reference is the clip as it was sent. The loss of quality in the
encoder does not count, because the network did not cause it.
"""

import math
import os
import pathlib
import re
import subprocess
import typing
from collections.abc import Sequence
from typing import BinaryIO

from wirelesslab import processes
from wirelesslab.errors import LabError
from wirelesslab.streams import clips, pictures

# A finite value in dB that plots and means use for an infinite PSNR.
DB_OF_INFINITE = 100.0
# Only the luminance is compared, as EvalVid does.
MSE = re.compile(r"\bmse_y:(\S+)")
SSIM = re.compile(r"\bY:(\S+)")
# The pictures are compared in their order and their times are ignored, because
# ffmpeg begins raw MPEG-1 with a gap.
COUNTED = "settb=1/25,setpts=N"
BLACK = (16, 128)  # luminance and chrominance of ITU-R BT.601


class Picture(typing.NamedTuple):
    mse: float
    ssim: float

    def psnr(self) -> float:
        """Returns the PSNR in dB; infinite if the picture is the one that was
        sent.
        """
        return pictures.psnr([self.mse])


UNHARMED = Picture(0.0, 1.0)


def measure(clip: pathlib.Path, shown: list[int | None],
            directory: pathlib.Path,
            reference: pathlib.Path | None = None) -> list[Picture]:
    """Returns a Picture for each place in display order. `shown` has for each
    place the number of the picture that is seen there, and None before the
    first one. This picture is compared with the clip's picture at the same
    place. If there is a `reference`, a video that may be longer than the clip,
    it is compared with the picture of that video instead."""
    if not reference and all(number == place
                             for place, number in enumerate(shown)):
        return [UNHARMED] * len(shown)
    first = f"trim=end_frame={len(shown)}," if reference else ""
    read, write = os.pipe()
    score = processes.start(
        [*clips.FFMPEG, "-f", "yuv4mpegpipe", "-i", f"pipe:{read}",
         "-i", str(reference or clip), "-filter_complex",
         f"[0]{COUNTED},split[a][b];[1]{first}{COUNTED},split[c][d];"
         "[a][c]psnr=f=psnr.log[x];[b][d]ssim=f=ssim.log[y]",
         "-map", "[x]", "-f", "null", "-", "-map", "[y]", "-f", "null", "-"],
        cwd=directory, pass_fds=(read,), stdout=subprocess.DEVNULL)
    os.close(read)
    try:
        with open(write, "wb") as pipe:
            repeat(clip, shown, pipe)
    except BaseException:
        processes.kill(score)
        raise
    if processes.finish(score) != 0:
        raise LabError(f"ffmpeg could not compare the pictures of {clip}")
    found = [Picture(*both) for both in zip(
        numbers(directory / "psnr.log", MSE),
        numbers(directory / "ssim.log", SSIM))]
    if len(found) != len(shown):
        raise LabError(f"{reference or clip} has {len(found)} pictures, but "
                       f"{len(shown)} frames were sent of it")
    return found


def repeat(clip: pathlib.Path, shown: list[int | None],
           pipe: BinaryIO) -> None:
    """Writes the clip as the viewer saw it to `pipe`, as YUV4MPEG2."""
    decoder = processes.start(
        [*clips.FFMPEG, "-i", str(clip), "-frames:v", str(len(shown)),
         "-fps_mode", "passthrough", "-pix_fmt", "yuv420p",
         "-f", "yuv4mpegpipe", "-"],
        stdout=subprocess.PIPE)
    header = decoder.stdout.readline()
    width, height = (int(re.search(rb" %b(\d+)" % side, header)[1])
                     for side in (b"W", b"H"))
    luminance, chrominance = BLACK
    seen = (bytes([luminance]) * (width * height)
            + bytes([chrominance]) * (width * height // 2))
    pipe.write(header)
    for place, number in enumerate(shown):
        own = decoder.stdout.readline()
        data = decoder.stdout.read(len(seen))
        if len(data) < len(seen):
            processes.kill(decoder)
            raise LabError(f"{clip} has {place} pictures, but "
                           f"{len(shown)} frames were sent of it")
        seen = data if number == place else seen
        pipe.write(own + seen)
    decoder.stdout.close()
    if processes.finish(decoder) != 0:
        raise LabError(f"ffmpeg could not decode {clip}")


def numbers(path: pathlib.Path, pattern: re.Pattern[str]) -> list[float]:
    return [float(word) for word in pattern.findall(path.read_text())]


def mean_psnr(found: Sequence[Picture]) -> float:
    """Returns the PSNR of the mean of the square errors, as pictures.psnr does.
    """
    return pictures.psnr([picture.mse for picture in found])


def drawable(psnr: float) -> float:
    return DB_OF_INFINITE if math.isinf(psnr) else psnr


def take(clip: pathlib.Path, number: int, target: pathlib.Path,
         width: int) -> pathlib.Path:
    """Saves one picture of a clip, for a page."""
    pictures.ffmpeg(["-i", clip, "-vf",
                     rf"select=eq(n\,{number}),scale={width}:-2",
                     "-frames:v", 1, "-update", 1, target],
                    "taking a picture")
    return pathlib.Path(target)
