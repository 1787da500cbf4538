# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes pictures of the received video with ffmpeg, one for each picture that
was sent. Compares the received pictures with the sent pictures, and shows both
side by side."""

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
# A filter that replaces a missing picture by the picture before it. It also
# replaces pictures that are missing at the end of the video.
NO_PICTURE_MISSING = "fps={fps}:start_time=0:round=near:eof_action=pass," \
    "tpad=stop=-1:stop_mode=clone"


def ffmpeg(words: Sequence[Any], what: str) -> None:
    processes.run([*clips.FFMPEG, *map(str, words)], what)


def decode_sent(clip: pathlib.Path, muxer: str, fps: int, count: int,
                target: pathlib.Path) -> None:
    """Decodes the first `count` pictures of `clip`, an elementary stream, to
    the file `target`.
    """
    ffmpeg(["-r", fps, "-f", muxer, "-i", clip, "-frames:v", count,
            *LOSSLESS, target], "decoding what was sent")


def decode_received(video: pathlib.Path, speed: int, first: int, fps: int,
                    count: int, target: pathlib.Path) -> bool:
    """Decodes the received video in a Matroska file to the file `target`. The
    first picture in the Matroska file has the number `first` in the clip. The
    time between two pictures in the Matroska file is divided by `speed`.

    The decoder conceals damage. If the first headers are missing in the file,
    the decoder finds no picture. In this case, the function writes black
    pictures to `target` and returns False. Otherwise it returns True.
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
    """Returns a list with the mean square error of each picture of `video`,
    compared with the picture of `reference` that has the same position.
    """
    log = run_dir / f"{video.stem}.psnr"
    ffmpeg(["-i", video, "-i", reference, "-lavfi",
            f"psnr=stats_file={log}", "-f", "null", "-"], "comparing pictures")
    return [float(word) for word in MSE.findall(log.read_text())]


def psnr(mean_square_errors: list[float]) -> float:
    """Returns the PSNR in dB over all pictures. It is infinite if all pictures
    are identical to the original pictures.
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
    """Writes one picture of the file `video` to the file `target`, at twice its
    size. `number` is the number of the picture; the first picture has number 0.
    """
    ffmpeg(["-i", video, "-vf",
            rf"select=eq(n\,{number}),scale=iw*2:ih*2:flags=neighbor",
            "-frames:v", 1, target], "taking a picture")
