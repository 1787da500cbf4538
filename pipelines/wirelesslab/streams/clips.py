# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the clips that the lab streams, from a film that is part of this
project. A clip that exists already is not made again.

A clip has 60 seconds of 720x576 MPEG-2 at 25 frames per second, with a GOP of
15 frames and a constant bitrate. It has 101 I-frames, 400 P-frames and 999
B-frames, as the clips of Ouwens 2006.
"""

import os
import pathlib
import subprocess
import time
from collections.abc import Callable

from wirelesslab import files, paths, processes

FILM = paths.PIPELINES / "film" / "bigbuckbunny.mp4"
RATES = (3, 4, 5, 6)  # Mbit/s
SECONDS = 60
FRAMES_PER_SECOND = 25

# Settings for small clips that slow radios can carry. Their pictures have the
# small size QCIF. The dictionary with the settings is named QCIF, too. It maps
# the name of each codec to a tuple: the options of the encoder, the muxer of
# ffmpeg, the demuxer of ffmpeg, and the number of frames per second.
#
# The H.263 clip has a bitrate of 10 kbit/s and 10 frames per second, as in
# section 2.3 of Singh (2000). It has an I-frame every 10 s. It also has GOB
# (group of blocks) headers, at which a decoder can resume after damaged data.
# The MPEG-1 clip has the lowest bitrate that the encoder accepts.
QCIF = {
    "h263": ("-c:v h263 -g 100 -ps 100 -b:v 10k -maxrate 10k -bufsize 20k",
             "h263", "h263", 10),
    "mpeg": ("-c:v mpeg1video -g 50 -bf 0 -b:v 50k -maxrate 50k -bufsize 100k",
             "mpeg1video", "mpegvideo", 25),
}


# Settings for clips in codecs other than MPEG-2. For each codec, CODECS has
# the options of the encoder and the suffix of the file. The clips have the
# same film and the same bitrate as the MPEG-2 clips. The bitrate is constant,
# and the rate buffer of the encoder has the same size. The frame types have
# the same order as in MPEG-2: there are two non-reference B-frames between two
# reference frames.
X26X = ("-preset superfast -g 15 -bf 2 -x26{n}-params keyint=15:min-keyint=15:"
        "scenecut=0:open-gop=0:{pyramid}:bframes=2:b-adapt=0")
CODECS = {
    "mpeg1": ("-c:v mpeg1video -g 15 -bf 2 -sc_threshold 1000000000", "m1v"),
    "h264": ("-c:v libx264 " + X26X.format(n=4, pyramid="b-pyramid=none")
             + ":nal-hrd=cbr", "h264.mp4"),
    "h265": ("-c:v libx265 " + X26X.format(n=5, pyramid="b-pyramid=0")
             + ":hrd=1:strict-cbr=1:log-level=none", "h265.mp4"),
}
MUXERS = {".ts": "mpegts", ".m2v": "mpeg2video", ".m1v": "mpeg1video",
          ".mp4": "mp4"}
CODED_GOP = 15  # frames in a GOP of H.264 and H.265

FFPROBE = "ffprobe -hide_banner -loglevel error".split()
FFMPEG = "ffmpeg -nostdin -hide_banner -loglevel error -y".split()
# The film lasts 5.3 s. ffmpeg reads it twelve times, which yields 63 s. A clip
# has 60 s.
REPEATED_FILM = ["-stream_loop", "11", "-i", str(FILM)]
SOUND = "-c:a mp2 -ac 2 -b:a 192k".split()


def clip_path(build_dir: pathlib.Path, rate: int,
              ts: bool = False) -> pathlib.Path:
    suffix = "ts" if ts else "m2v"
    return pathlib.Path(build_dir) / "clips" / f"bunny-{rate}M.{suffix}"


def make_clip(build_dir: pathlib.Path, rate: int) -> pathlib.Path:
    """Returns the path of the clip of `rate` Mbit/s. If the file does not
    exist, makes the clip.
    """
    path = clip_path(build_dir, rate)
    encode = (
        f"-an -t {SECONDS} -vf scale=720:576 -r {FRAMES_PER_SECOND} "
        "-pix_fmt yuv420p -c:v mpeg2video -g 15 -bf 2 "
        f"-sc_threshold 1000000000 -b:v {rate}M -minrate {rate}M "
        f"-maxrate {rate}M -bufsize 1835k -f mpeg2video"
    )
    return _make(path, REPEATED_FILM + encode.split())


def make_coded(build_dir: pathlib.Path, rate: int, codec: str) -> pathlib.Path:
    """Returns the path of the clip of `rate` Mbit/s in the codec `codec`,
    which is not MPEG-2. If the file does not exist, makes the clip.
    """
    encoder, suffix = CODECS[codec]
    muxer = MUXERS[f".{suffix.rpartition('.')[2]}"]
    return _make(
        pathlib.Path(build_dir) / "clips" / f"bunny-{rate}M.{suffix}",
        REPEATED_FILM + (
            f"-an -t {SECONDS} -vf scale=720:576 -r {FRAMES_PER_SECOND} "
            f"-pix_fmt yuv420p {encoder} -b:v {rate}M -minrate {rate}M "
            f"-maxrate {rate}M -bufsize 1835k -f {muxer}").split())


def make_ts(build_dir: pathlib.Path, rate: int) -> pathlib.Path:
    """Returns the path of an MPEG-TS file. Its video is the clip of
    make_clip() at `rate` Mbit/s, and its sound is that of FILM.
    """
    video = make_clip(build_dir, rate)
    return _make(
        clip_path(build_dir, rate, ts=True),
        ["-fflags", "+genpts", "-r", str(FRAMES_PER_SECOND), "-i", str(video)]
        + REPEATED_FILM
        + f"-map 0:v -map 1:a -t {SECONDS} -c:v copy".split()
        + SOUND + "-f mpegts".split(),
    )


def make_qcif(build_dir: pathlib.Path, codec: str,
              seconds: int) -> pathlib.Path:
    """Returns the path of a small clip, an elementary stream. The table QCIF
    contains the settings of each codec.
    """
    encoder, muxer, _, frames_per_second = QCIF[codec]
    path = pathlib.Path(build_dir) / "clips" / f"bunny-qcif-{seconds}s.{codec}"
    return _make(
        path, ["-stream_loop", "-1", "-i", str(FILM)]
        + f"-an -t {seconds} -vf scale=176:144 -r {frames_per_second} "
          f"-pix_fmt yuv420p {encoder} -loglevel fatal -f {muxer}".split())


def make_cut(build_dir: pathlib.Path, rate: int, seconds: int,
             codec: str | None = None) -> pathlib.Path:
    """Returns the path of a file with the first `seconds` seconds of the clip
    of `rate` Mbit/s. If `codec` is None, the clip is MPEG-2.
    """
    clip = make_coded(build_dir, rate, codec) if codec in CODECS \
        else make_clip(build_dir, rate)
    if seconds == SECONDS:
        return clip
    stem, _, suffix = clip.name.partition(".")
    return _make(clip.with_name(f"{stem}-{seconds}s.{suffix}"),
                 _cutting(clip, seconds))


def cut(clip: pathlib.Path, seconds: int, path: pathlib.Path) -> pathlib.Path:
    """Copies the first `seconds` seconds of a clip to the file `path`. The
    frames are copied and not encoded again.
    """
    processes.run(FFMPEG + _cutting(clip, seconds) + [str(path)], "ffmpeg")
    return path


def count_frames(clip: pathlib.Path) -> int:
    # The output format is "default" and not "csv". For a stream with side
    # data, ffprobe with the format "csv" appends a comma and an empty line to
    # the number of packets, and int() could not parse that.
    return int(subprocess.run(
        [*FFPROBE, "-select_streams", "v", "-count_packets", "-show_entries",
         "stream=nb_read_packets", "-of", "default=nw=1:nk=1", str(clip)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout)


def _cutting(clip: pathlib.Path, seconds: int) -> list[str]:
    # The clip is cut after an I- or P-frame and the two B-frames that follow
    # it in the file and are shown before it. If these B-frames were cut off,
    # the receiver would take them for lost frames.
    frames = 1 + (seconds * FRAMES_PER_SECOND - 1) // 3 * 3
    # This value of `frames` is right only if all frames after the first one
    # form groups of three: an I- or P-frame and two B-frames. In an .mp4 file,
    # the last group of each GOP is shorter: only one B-frame is shown before
    # the last P-frame. The clip in an .mp4 file is therefore cut at the end of
    # a GOP.
    if clip.suffix == ".mp4":
        frames = seconds * FRAMES_PER_SECOND // CODED_GOP * CODED_GOP
    muxer = MUXERS[clip.suffix]
    return ["-i", str(clip), "-map", "0", "-c", "copy",
            "-frames:v", str(frames), "-t", str(seconds), "-f", muxer]


def _make(path: pathlib.Path, arguments: list[str]) -> pathlib.Path:
    def write(unfinished: pathlib.Path) -> None:
        processes.run(FFMPEG + arguments + [str(unfinished)], "ffmpeg")

    return make_whole(path, write)


def make_whole(path: pathlib.Path,
               write: Callable[[pathlib.Path], None]) -> pathlib.Path:
    """Returns `path`. If there is no file at this path, the function `write`
    is called first and makes it.
    """
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with files.locked(path.parent / ".lock"):
        # While this process waited for the lock, another process may have made
        # the clip. Only the holder of the lock makes clips. An unfinished clip
        # that this process finds here is therefore left over from a process
        # that has ended, and it can be removed.
        if not path.exists():
            for dead in path.parent.glob(".*-*"):
                dead.unlink()
            _make_now(path, write)
    return path


def _make_now(path: pathlib.Path,
              write: Callable[[pathlib.Path], None]) -> None:
    # While the clip is being written, its file has another name. It gets its
    # final name when it is complete. A reader therefore never finds half of a
    # clip.
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    print(f"Making {path.name} ...", end=" ", flush=True)
    started = time.monotonic()
    try:
        write(unfinished)
        unfinished.rename(path)
    finally:
        unfinished.unlink(missing_ok=True)
    print(f"{path.stat().st_size / 1e6:.1f} MB in "
          f"{time.monotonic() - started:.0f} s", flush=True)
