#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the CPU time of frame classifiers with that of GStreamer's parsers.

    meson test -C build --benchmark -v classifiers

The classifiers are the elements mpegstat and ifdqueue. mpegstat classifies
each frame, finds and counts the slices of H.264 and H.265, and passes the
frame on. ifdqueue classifies each frame and passes it to another thread. For
comparison, the program also measures the element queue, which only passes
frames to another thread. No frame is dropped, because fakesink accepts
everything.

The frames of a stream are read from a GDP file, which contains the caps and
the boundaries of the frames. A pipeline with a classifier therefore gets the
same frames as a pipeline without it. The difference of their CPU times is the
CPU time of the classifier.

GStreamer has no parser for VP8. The classifiers of VP8 are therefore compared
with vp9parse, which gets a VP9 stream of the same rate.

The CPU time of the whole process is measured as in compare.py. The pipelines
run one after another, and this sequence is repeated. The program fails if a
pipeline fails or does not output all frames. It never fails because of noise
in the measured times.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
from dataclasses import dataclass

import compare

from wirelesslab.errors import LabError
from wirelesslab.streams import clips

# The length of the clip in seconds. A stream repeats this clip several times.
SECONDS = 10
FPS = 25
# A filter of ffmpeg that scales the film and adds noise to it. Without the
# noise, the encoded film would not reach 20 Mbit/s.
FILTER = "scale=1280:720,noise=alls=16:allf=t"
# The goal is that mpegstat needs less than this fraction of the CPU time of
# the parser. VP8 has a different goal, which is in CODECS.
GOAL = 0.5
CLASSIFIER = "mpegstat"  # GOAL is for this element.
ELEMENTS = {
    "mpegstat": "mpegstat",
    "ifdqueue": "ifdqueue sync=false max-frames=64",
    "queue": "queue max-size-buffers=64 max-size-bytes=0 max-size-time=0",
}


@dataclass(frozen=True)
class Codec:
    encoder: str
    # The elements that divide the stream into whole frames, as a part of a
    # launch line. The text is empty if the demuxer already outputs whole
    # frames.
    form: str
    parser: str
    # If GStreamer has no parser for this codec, this is the name of another
    # codec, whose parser is used for the comparison. If GStreamer has a parser
    # for this codec, the text is empty.
    peer: str = ""
    goal: float = GOAL


X264 = "-c:v libx264 -preset veryfast -bf 2 -x264-params scenecut=0"
X265 = "-c:v libx265 -preset ultrafast -x265-params bframes=2:log-level=error"
VPX = "-deadline realtime -cpu-used 8 -qmin 0"
CODECS = {
    "MPEG-2": Codec("-c:v mpeg2video -qmin 1 -bf 2 -sc_threshold 1000000000",
                    "mpegvideoparse", "mpegvideoparse"),
    "H.264, byte-stream": Codec(
        X264, "h264parse ! video/x-h264,stream-format=byte-stream,alignment=au",
        "h264parse"),
    "H.264, avc": Codec(
        X264, "h264parse ! video/x-h264,stream-format=avc,alignment=au",
        "h264parse"),
    "H.265, byte-stream": Codec(
        X265, "h265parse ! video/x-h265,stream-format=byte-stream,alignment=au",
        "h265parse"),
    "H.265, hvc1": Codec(
        X265, "h265parse ! video/x-h265,stream-format=hvc1,alignment=au",
        "h265parse"),
    "VP9": Codec(f"-c:v libvpx-vp9 {VPX} -row-mt 1",
                 "vp9parse ! video/x-vp9,alignment=super-frame", "vp9parse"),
    "VP8": Codec(f"-c:v libvpx {VPX}", "", "vp9parse", "VP9", 1),
    "AV1": Codec("-c:v libsvtav1 -preset 12 -svtav1-params rc=1",
                 "av1parse ! video/x-av1,stream-format=obu-stream,alignment=tu",
                 "av1parse"),
}


class Failed(Exception):
    pass


@dataclass(frozen=True)
class Stream:
    path: pathlib.Path
    frames: int


# ------------------------------------------------------------- the streams

def run(words):
    done = subprocess.run(list(map(str, words)), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, words))}: {done.stderr.strip()}")


def make_clip(codec, rate):
    """Makes a Matroska file with the film, encoded with `codec` at `rate`
    Mbit/s. Returns its path. If the file exists already, it is not made again.
    """
    name = "".join(filter(str.isalnum, codec.encoder.split()[1]))
    path = compare.BUILD / "benchmarks" / f"{name}-{rate}M.mkv"
    if path.exists():
        return path
    partial = path.with_suffix(".partial.mkv")
    run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-stream_loop", "1",
         "-i", clips.FILM, "-an", "-t", SECONDS,
         *f"-vf {FILTER} -r {FPS} -pix_fmt yuv420p {codec.encoder} "
         f"-g 50 -b:v {rate}M -maxrate {rate + 1}M -bufsize {rate}M".split(),
         partial])
    partial.rename(path)
    return path


def make_stream(name, rate, size):
    """Writes the clip several times into a GDP file of about `size` bytes.
    Returns a Stream that describes the file. GDP, the GStreamer Data Protocol,
    keeps the boundaries of the frames.
    """
    codec = CODECS[name]
    clip = make_clip(codec, rate)
    repeats = max(size // clip.stat().st_size, 1)
    path = compare.BUILD / "benchmarks" / "classified.gdp"
    repeated = path.with_suffix(".mkv")
    run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-stream_loop",
         repeats - 1, "-i", clip, "-c", "copy", repeated])
    form = f"! {codec.form}" if codec.form else ""
    run(["gst-launch-1.0", "-q", *f"filesrc location={repeated} ! "
         f"matroskademux {form} ! gdppay ! filesink location={path}".split()])
    repeated.unlink()
    return Stream(path, repeats * SECONDS * FPS)


# ------------------------------------------------------------- measurement

def command(element, stream, sink="fakesink"):
    return ["gst-launch-1.0", "-q", "filesrc", f"location={stream.path}",
            "blocksize=65536", *f"! gdpdepay {element} ! {sink}".split()]


def count_bytes(element, stream, env):
    """Passes the stream through `element` and returns the number of bytes that
    the element outputs.
    """
    argv = command(element, stream, "filesink location=/dev/stdout")
    with subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE) as process:
        n = 0
        while data := process.stdout.read(1 << 20):
            n += len(data)
    if process.returncode:
        raise Failed(f"{' '.join(argv)}: exit status {process.returncode}")
    return n


def check_output(name, elements, stream, env):
    """Passes the stream through each element of `elements`. Some of these
    elements are also in ELEMENTS, which contains our own elements and
    GStreamer's element "queue". An element of ELEMENTS must output all bytes.
    Any other element must output something. Raises Failed if an element does
    not do so. Returns the total size of the frames in bytes.
    """
    sizes = {title: count_bytes(element, stream, env)
             for title, element in elements.items()}
    for title, size in sizes.items():
        if size == 0 or (title in ELEMENTS and size != sizes[""]):
            raise Failed(f"{name}, {title or 'no element'}: {size} bytes came "
                         f"out of {sizes['']}")
    return sizes[""]


def measure(name, stream, runs, env):
    """Returns two values: {element: list of CPU times}, and the size of all
    frames in bytes. A CPU time is the time in us that the element adds to the
    processing of one frame. Each list has `runs` measurements.
    """
    elements = {"": "", "parser": f"! {CODECS[name].parser}"} if \
        not CODECS[name].peer else {"": ""}
    elements |= {title: f"! {line}" for title, line in ELEMENTS.items()}
    size = check_output(name, elements, stream, env)
    seconds = {title: [] for title in elements}
    for _ in range(runs):
        for title, element in elements.items():
            seconds[title].append(
                compare.cpu_seconds(command(element, stream), env))
    return {title: [(own - base) / stream.frames * 1e6
                    for own, base in zip(seconds[title], seconds[""])]
            for title in seconds if title}, size


def describe(values):
    return (f"{statistics.median(values):6.1f} us ({min(values):.1f} to "
            f"{max(values):.1f})")


def show(name, size, stream, times, peer):
    codec = CODECS[name]
    print(f"\n{name}: {size / stream.frames / 1000:.1f} kB in a frame, "
          f"{size * 8 * FPS / stream.frames / 1e6:.1f} Mbit/s, "
          f"{stream.frames} frames")
    print(f"    {codec.parser:15} {describe(peer)}"
          + (f", with {codec.peer}" if codec.peer else ""))
    for title in ELEMENTS:
        ratios = sorted(map(compare.divide, times[title], peer))
        ratio = compare.divide(statistics.median(times[title]),
                               statistics.median(peer))
        print(f"    {title:15} {describe(times[title])}, ratio {ratio:.2f} "
              f"({ratios[0]:.2f} to {ratios[-1]:.2f})"
              + (f"   <== over {codec.goal}"
                 if title == CLASSIFIER and ratio > codec.goal else ""),
              flush=True)


def compare_all(names, rate, options, env):
    parsers = {}
    print(f"\n{rate} Mbit/s; CPU time for a frame, median of {options.runs} "
          "(minimum to maximum)")
    for name in names:
        stream = make_stream(name, rate, options.megabytes * 1000000)
        times, size = measure(name, stream, options.runs, env)
        stream.path.unlink()
        peer = parsers[CODECS[name].peer] if CODECS[name].peer else \
            times["parser"]
        parsers[name] = peer
        show(name, size, stream, times, peer)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7,
                        help="number of runs of each pipeline "
                        "(default: %(default)s)")
    parser.add_argument("--megabytes", type=int, default=120,
                        help="size of each stream in MB "
                        "(default: %(default)s)")
    parser.add_argument("--rates", type=int, nargs="*", default=[6],
                        help="bitrates of the streams in Mbit/s "
                        "(default: 6)")
    parser.add_argument("--codecs", nargs="*", default=list(CODECS),
                        choices=list(CODECS), metavar="CODEC",
                        help="codecs to measure (default: all); possible "
                        "values are: " + "; ".join(CODECS))
    options = parser.parse_args()
    # If a codec has no parser, it is compared with the parser of another
    # codec. This other codec is called the peer. The peer must be measured,
    # too, even if the user has not named it. The peer must also be measured
    # before the codec that needs it. Codecs are measured in the order of
    # CODECS, which lists each peer before the codec that needs it.
    names = [name for name in CODECS if name in options.codecs or name in
             {CODECS[other].peer for other in options.codecs}]
    (compare.BUILD / "benchmarks").mkdir(parents=True, exist_ok=True)
    try:
        env = compare.environment()
        for rate in options.rates:
            compare_all(names, rate, options, env)
    except (Failed, compare.Failed, LabError) as failure:
        sys.exit(f"{parser.prog}: {failure}")


if __name__ == "__main__":
    main()
