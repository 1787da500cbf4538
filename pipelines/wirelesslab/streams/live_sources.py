# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the pictures that a live encoder of the lab encodes: video files of
1280x720 at 25 frames per second.

Each file is made only once, so that each run encodes the same pictures. The
pictures that a viewer saw can then be compared with those in the file.
Decoding the file needs little CPU time. Each frame refers at most to the frame
before it, and the low-delay flag lets a decoder output each frame immediately.
"""

import os
import pathlib
import subprocess

from wirelesslab import processes
from wirelesslab.errors import LabError
from wirelesslab.streams import clips

WIDTH, HEIGHT = 1280, 720
TITLES = {
    "film": "bundled film, repeated",
    "motion": "generated sequence with complex motion",
}
# The high value of -sc_threshold keeps the encoder from beginning a new GOP at
# each scene change, as it would do by default.
ENCODE = (f"-pix_fmt yuv420p -r {clips.FRAMES_PER_SECOND} -c:v mpeg2video "
          "-flags +low_delay -g 15 -bf 0 -sc_threshold 1000000000 -q:v 3 "
          "-f mpeg2video").split()
# Test patterns that make up the picture. Four patterns fill one quarter of the
# picture each. Another pattern covers the middle, and the last one covers the
# whole picture. Each pattern moves at a different speed.
QUARTER = (f"video/x-raw,format=I420,width={WIDTH // 2},height={HEIGHT // 2},"
           f"framerate={clips.FRAMES_PER_SECOND}/1")
WHOLE = (f"video/x-raw,format=I420,width={WIDTH},height={HEIGHT},"
         f"framerate={clips.FRAMES_PER_SECOND}/1")
PLACES = ((0, 0), (WIDTH // 2, 0), (0, HEIGHT // 2), (WIDTH // 2, HEIGHT // 2),
          (WIDTH // 4, HEIGHT // 4), (0, 0))
ALPHAS = (1, 1, 1, 1, 0.6, 0.3)
PATTERNS = (
    ("pattern=zone-plate kx2=12 ky2=12 kt=2", QUARTER),
    ("pattern=smpte horizontal-speed=7", QUARTER),
    ("pattern=pinwheel horizontal-speed=5", QUARTER),
    ("pattern=spokes horizontal-speed=9", QUARTER),
    ("pattern=ball motion=sweep animation-mode=frames", QUARTER),
    ("pattern=zone-plate kx=12 ky=8 kx2=2 ky2=5 kt=5", WHOLE),
)


def path_of(build: pathlib.Path, name: str, seconds: int) -> pathlib.Path:
    return pathlib.Path(build) / "clips" / f"live-{name}-{seconds}s.m2v"


def make(build: pathlib.Path, name: str, seconds: int) -> pathlib.Path:
    """Returns the path of the video file for the source `name`. If the file
    does not exist, makes it.
    """
    write = {"film": write_film, "motion": write_motion}[name]
    return clips.make_whole(path_of(build, name, seconds),
                            lambda path: write(path, seconds))


def write_film(path: pathlib.Path, seconds: int) -> None:
    processes.run(
        [*clips.FFMPEG, *clips.REPEATED_FILM, "-an", "-t", str(seconds),
         "-vf", f"scale={WIDTH}:{HEIGHT}", *ENCODE, str(path)], "ffmpeg")


def write_motion(path: pathlib.Path, seconds: int) -> None:
    """Draws the pictures with videotestsrc and encodes them with ffmpeg. The
    element avenc_mpeg2video is not used, because it does not work in GStreamer
    1.22.
    """
    read, write = os.pipe()
    drawing = processes.start(
        ["gst-launch-1.0", "-q", *motion_pipeline(seconds).split(),
         "!", "y4menc", "!", "fdsink", f"fd={write}"],
        pass_fds=(write,), stdout=subprocess.DEVNULL)
    os.close(write)
    try:
        processes.run(
            [*clips.FFMPEG, "-f", "yuv4mpegpipe", "-i", f"pipe:{read}",
             *ENCODE, str(path)], "ffmpeg", pass_fds=(read,))
    except BaseException:
        processes.kill(drawing)
        raise
    finally:
        os.close(read)
    if processes.finish(drawing) != 0:
        raise LabError("drawing the pictures with videotestsrc failed")


def motion_pipeline(seconds: int) -> str:
    """Returns the pipeline that draws the pictures, as a text. The last
    element is the caps filter downstream of the compositor. The caller appends
    the elements that take the pictures.
    """
    frames = seconds * clips.FRAMES_PER_SECOND
    pads = " ".join(
        f"sink_{number}::xpos={x} sink_{number}::ypos={y} "
        f"sink_{number}::alpha={alpha}"
        for number, ((x, y), alpha) in enumerate(zip(PLACES, ALPHAS)))
    inputs = " ".join(
        f"videotestsrc num-buffers={frames} {pattern} ! {caps} "
        f"! mix.sink_{number}"
        for number, (pattern, caps) in enumerate(PATTERNS))
    return f"{inputs} compositor name=mix background=black {pads} ! {WHOLE}"
