# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes pictures of the received video with ffmpeg, one for each picture that
was sent. Compares each of them with the sent picture, and shows the videos
side by side.
"""

import math
import pathlib
import re
from collections.abc import Sequence
from typing import Any

from wirelesslab import processes
from wirelesslab.errors import LabError
from wirelesslab.streams import clips

PEAK = 255
LOSSLESS = "-c:v ffv1 -level 3 -g 1".split()
MSE = re.compile(r"^n:\d+ mse_avg:(\S+)", re.M)
# A filter of ffmpeg that fills in missing pictures. In the place of a missing
# picture, it repeats the picture before it. This includes pictures that are
# missing at the end of the video.
NO_PICTURE_MISSING = "fps={fps}:start_time=0:round=near:eof_action=pass," \
    "tpad=stop=-1:stop_mode=clone"


def ffmpeg(words: Sequence[Any], what: str) -> None:
    processes.run([*clips.FFMPEG, *map(str, words)], what)


def decode_sent(clip: pathlib.Path, muxer: str, fps: int, count: int,
                target: pathlib.Path) -> None:
    """Decodes the first `count` pictures of `clip` to the file `target`.
    `clip` is an elementary stream.
    """
    ffmpeg(["-r", fps, "-f", muxer, "-i", clip, "-frames:v", count,
            *LOSSLESS, target], "decoding what was sent")


def decode_received(video: pathlib.Path, speed: int, first: int, fps: int,
                    count: int, target: pathlib.Path) -> bool:
    """Decodes the received video, a Matroska file, to the file `target`. The
    video was sent `speed` times slower than it plays, so the times between its
    pictures are divided by `speed`. Its first picture has the number `first`
    in the clip.

    The decoder conceals damage. If the first headers are missing in the file,
    the decoder finds no picture. The function then writes black pictures to
    `target` and returns False. Otherwise it returns True.
    """
    times = f"setpts=(PTS-STARTPTS)/{speed}+{first}/{fps}/TB"
    try:
        ffmpeg(["-threads", 1, "-loglevel", "fatal", "-i", video,
                "-vf", f"{times},{NO_PICTURE_MISSING.format(fps=fps)}",
                "-frames:v", count, *LOSSLESS, target],
               "decoding what was received")
    except LabError:
        ffmpeg(["-f", "lavfi", "-i", f"color=black:s=qcif:r={fps}",
                "-pix_fmt", "yuv420p", "-frames:v", count, *LOSSLESS, target],
               "a black video")
        return False
    return True


def errors(video: pathlib.Path, reference: pathlib.Path,
           run_dir: pathlib.Path) -> list[float]:
    """Compares each picture of `video` with the picture of `reference` at the
    same position. Returns a list of the mean square errors.
    """
    log = run_dir / f"{video.stem}.psnr"
    ffmpeg(["-i", video, "-i", reference, "-lavfi",
            f"psnr=stats_file={log}", "-f", "null", "-"], "comparing pictures")
    return [float(word) for word in MSE.findall(log.read_text())]


def psnr(mean_square_errors: list[float]) -> float:
    """Returns the PSNR in dB over all pictures. It is computed from the mean
    of the mean square errors of all pictures. The PSNR is infinite if all
    pictures are identical to the original pictures.
    """
    if not mean_square_errors:
        return math.nan
    mean = sum(mean_square_errors) / len(mean_square_errors)
    return 10 * math.log10(PEAK ** 2 / mean) if mean else math.inf


def put_side_by_side(videos: list[pathlib.Path], target: pathlib.Path) -> None:
    ffmpeg([*(word for video in videos for word in ("-i", video)),
            "-lavfi", f"hstack=inputs={len(videos)}", *LOSSLESS, target],
           "putting the videos side by side")


def take_picture(video: pathlib.Path, number: int,
                 target: pathlib.Path) -> None:
    """Writes one picture of the video `video` as the file `target`, enlarged
    to twice its size. `number` is the number of the picture, counted from 0.
    """
    ffmpeg(["-i", video, "-vf",
            rf"select=eq(n\,{number}),scale=iw*2:ih*2:flags=neighbor",
            "-frames:v", 1, target], "taking a picture")
