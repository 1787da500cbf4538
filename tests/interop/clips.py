# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes MPEG elementary streams for the tests. They are made once and kept in
the build directory.

Most streams contain the film that comes with the tests, encoded by ffmpeg.
Some streams must have field pictures, composite display information or
quantiser matrix extensions. No available encoder makes these features
(mjpegtools crashes on field pictures). To make such a stream, this module
changes the headers that ffmpeg wrote. The result has correct headers and start
codes. The part of each slice that a payloader reads is also correct.
"""

import itertools
import os
import pathlib
import subprocess

from mpegvideo import (
    EXTENSION,
    GROUP,
    PICTURE,
    PICTURE_CODING,
    SEQUENCE,
    SEQUENCE_EXT,
    Stream,
)

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WIRELESS_BUILD_DIR", SOURCE / "build"))
FILM = SOURCE / "pipelines" / "film" / "bigbuckbunny.mp4"
CACHE = BUILD / "interop-clips"

PAL = "-vf scale=720:576 -r 25 -pix_fmt yuv420p"
CIF = "-vf scale=352:288 -r 25 -pix_fmt yuv420p"
MPEG1 = "-c:v mpeg1video -f mpeg1video"
MPEG2 = "-c:v mpeg2video -f mpeg2video"
GOP = "-g 12 -bf 2 -sc_threshold 1000000000"


def film(megabits, seconds=60):
    """A clip like that of the demo. Its frames have the same pattern of I-, P-
    and B-frames as the clips of Ouwens (2006), and its bitrate is constant.
    """
    rate = "-b:v %dM -minrate %dM -maxrate %dM -bufsize 1835k" % (
        3 * (megabits,))
    return _ffmpeg("film-%dM-%ds.m2v" % (megabits, seconds),
                   "-t %d %s -g 15 -bf 2 -sc_threshold 1000000000 %s %s"
                   % (seconds, PAL, rate, MPEG2))


def mpeg2(megabits=3, frames=30):
    return _ffmpeg("mpeg2-%dM-%d.m2v" % (megabits, frames),
                   "-frames:v %d %s %s %s %s"
                   % (frames, PAL, GOP, _rate(megabits), MPEG2))


def mpeg1(megabits=3, frames=30):
    return _ffmpeg("mpeg1-%dM-%d.m1v" % (megabits, frames),
                   "-frames:v %d %s %s %s %s"
                   % (frames, PAL, GOP, _rate(megabits), MPEG1))


def interlaced(megabits=3, frames=30):
    """Returns the path of a stream with interlaced video. Each frame is coded
    as one picture (a frame picture), and not as two field pictures.
    """
    return _ffmpeg("interlaced-%dM-%d.m2v" % (megabits, frames),
                   "-frames:v %d "
                   "-vf fps=50,scale=720:576,interlace,setfield=tff "
                   "-pix_fmt yuv420p -flags +ildct+ilme %s %s %s"
                   % (frames, GOP, _rate(megabits), MPEG2))


def small(frames=60):
    """Returns a short clip with five GOPs of about a hundred packets each. A
    test sends this clip many times, and drops another packet each time. With a
    longer clip, the test would take too long.
    """
    return _ffmpeg("small-%d.m2v" % frames,
                   "-frames:v %d %s %s -b:v 900k %s"
                   % (frames, CIF, GOP, MPEG2))


def mpeg1_gops(frames=60):
    return _ffmpeg("mpeg1-gops-%d.m1v" % frames,
                   "-frames:v %d %s %s -b:v 900k %s"
                   % (frames, CIF, GOP, MPEG1))


def closed_gops(frames=60):
    """A stream in which all GOPs are closed. In display order, each GOP
    therefore begins with its I-picture, which has the temporal reference 0.
    """
    return _ffmpeg("closed-%d.m2v" % frames,
                   "-frames:v %d %s %s -flags +cgop -b:v 900k %s"
                   % (frames, CIF, GOP, MPEG2))


def fields(megabits=3, frames=50):
    """Returns the path of a stream whose frames consist of two field pictures
    each (I/P, P/P or B/B). A GOP has ten frames.
    """
    half = _ffmpeg("half-%dM-%d.m2v" % (megabits, frames),
                   "-frames:v %d -vf scale=720:288 -r 50 -pix_fmt yuv420p "
                   "%s %s %s" % (2 * frames, GOP, _rate(megabits), MPEG2))
    return _derived("fields-%dM-%d.m2v" % (megabits, frames), half,
                    lambda stream: _to_fields(stream, frames))


def decorated(frames=24):
    """A stream with quantiser matrix extensions, composite display information,
    user data and a sequence end code.
    """
    return _derived("decorated-%d.m2v" % frames, mpeg2(frames=frames),
                    _decorate)


def talkative():
    """A stream with user data after each header. The user data are so long
    that they do not fit into one packet if the packets are small.
    """
    return _derived("talkative.m2v", small(frames=24), _add_user_data)


def one_sequence_header():
    """Returns a stream with only one sequence header, at its start. Every GOP
    has a GOP header.
    """
    return _derived("one-sequence.m2v", small(),
                    lambda stream: _without(stream, stream.sequences[1:]))


def no_groups():
    """A stream without GOP headers: all of them were removed. The temporal
    references are not changed. They still start again at each I-frame,
    although no GOP header announces this.
    """
    return _derived("no-groups.m2v", small(), lambda stream: _without(
        stream, [p.group for p in stream.pictures if p.group]))


def pulldown(frames=24):
    """A film with 3:2 pulldown: frames are shown alternately for three fields
    and for two fields."""
    source = _ffmpeg("telecine-%d.m2v" % frames,
                     "-frames:v %d -vf scale=720:576 -r 30000/1001 "
                     "-pix_fmt yuv420p %s -b:v 3M %s" % (frames, GOP, MPEG2))
    return _derived("pulldown-%d.m2v" % frames, source, _pull_down)


# ------------------------------------------------------------------- the makers

def _rate(megabits):
    return "-b:v %dM -maxrate %dM -bufsize 1835k" % (megabits, megabits)


def _ffmpeg(name, options):
    def make(path):
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y",
                        "-stream_loop", "11", "-i", str(FILM), "-an",
                        *options.split(), str(path)], check=True)
    return _cached(name, make)


def _derived(name, source, change):
    def make(path):
        path.write_bytes(change(Stream(source.read_bytes())))
    return _cached(name, make)


def _cached(name, make):
    CACHE.mkdir(parents=True, exist_ok=True)
    path = CACHE / name
    if not path.exists():
        partial = CACHE / ("%d-%s" % (os.getpid(), name))
        make(partial)
        # Other test programs may make or read the same clip at the same time.
        # They must never find an incomplete clip. The clip is therefore
        # written under another name, and gets its own name when it is
        # complete.
        partial.rename(path)
    return path


# ------------------------------------------------------------ rewritten headers

def set_bits(data, at, width, value):
    """Returns a copy of `data` in which `width` bits, beginning with the bit
    `at`, are replaced by `value`.
    """
    number = int.from_bytes(data, "big")
    shift = 8 * len(data) - at - width
    mask = ((1 << width) - 1) << shift
    return (number & ~mask | value << shift).to_bytes(len(data), "big")


# Positions of header fields as (offset, width), both in bits. The offset is
# counted from the first bit of the start code.
TEMPORAL_REFERENCE = 32, 10
VERTICAL_SIZE = 44, 12
FRAME_RATE_CODE = 60, 4
TIME_CODE = 32, 25
PROGRESSIVE_SEQUENCE = 44, 1
PICTURE_STRUCTURE = 54, 2
TOP_FIELD_FIRST = 56, 1
FRAME_PRED_FRAME_DCT = 57, 1
REPEAT_FIRST_FIELD = 62, 1
PROGRESSIVE_FRAME = 64, 1
COMPOSITE_DISPLAY = 65, 1


def _units(stream, start, end):
    return [(unit, stream.data[unit.start:unit.end])
            for unit in stream.units if start <= unit.start < end]


def _extends(unit, raw, kind):
    return unit.code == EXTENSION and raw[4] >> 4 == kind


def _to_fields(stream, frames):
    donors = {kind: itertools.cycle([p for p in stream.pictures
                                     if p.letter == kind]) for kind in "IPB"}
    out = []
    for base in range(0, frames, 10):
        for letters, reference in _field_pattern(10):
            for structure, letter in enumerate(letters, 1):
                out += _as_field(stream, next(donors[letter]), base,
                                 reference, structure)
    return b"".join(out)


def _field_pattern(length):
    """Yields a pair for each frame of a closed GOP. The first item has the
    types of the frame's two fields, and the second item is its temporal
    reference. The frames are in coding order: I0 P3 B1 B2 P6 ...
    """
    yield "IP", 0
    for reference in range(3, length, 3):
        yield "PP", reference
        yield "BB", reference - 2
        yield "BB", reference - 1


def _as_field(stream, picture, base, reference, structure):
    for unit, raw in _units(stream, picture.start, picture.end):
        if unit.code == SEQUENCE:
            raw = set_bits(raw, *VERTICAL_SIZE, 576)
            raw = set_bits(raw, *FRAME_RATE_CODE, 3)
        elif unit.code == GROUP:
            time_code = base // 25 << 6 | base % 25 | 1 << 12
            raw = set_bits(raw, *TIME_CODE, time_code)
        elif _extends(unit, raw, SEQUENCE_EXT):
            raw = set_bits(raw, *PROGRESSIVE_SEQUENCE, 0)
        elif unit.code == PICTURE:
            raw = set_bits(raw, *TEMPORAL_REFERENCE, reference)
        elif _extends(unit, raw, PICTURE_CODING):
            raw = set_bits(raw, *PICTURE_STRUCTURE, structure)
            raw = set_bits(raw, *FRAME_PRED_FRAME_DCT, 0)
            raw = set_bits(raw, *PROGRESSIVE_FRAME, 0)
        yield raw


def _without(stream, spans):
    out, at = [], 0
    for start, end in spans:
        out.append(stream.data[at:start])
        at = end
    return b"".join(out) + stream.data[at:]


def _decorate(stream):
    out = []
    for number, picture in enumerate(stream.pictures):
        for unit, raw in _units(stream, picture.start, picture.end):
            if _extends(unit, raw, PICTURE_CODING):
                out += _coding_with_extras(raw, number)
            else:
                out.append(raw)
    return b"".join(out) + b"\0\0\1\xb7"


def _coding_with_extras(raw, number):
    """Yields the headers of the picture with the number `number`, beginning
    with its picture coding extension. `raw` is the original picture coding
    extension. Three things are added:
    - In every second picture, the picture coding extension gets composite
      display information.
    - In every third picture, a quantiser matrix follows the picture coding
      extension.
    - In every fifth picture, user data follow.
    """
    if number % 2:
        raw = set_bits(raw[:8] + bytes(3), *COMPOSITE_DISPLAY, 1)
        raw = set_bits(raw, 66, 20, 0xabcde)
    yield raw
    if number % 3 == 0:
        yield b"\0\0\1\xb5" + _quant_matrix()
    if number % 5 == 0:
        yield b"\0\0\1\xb2" + b"user data of a picture"


def _add_user_data(stream):
    out = []
    for unit, raw in _units(stream, 0, len(stream.data)):
        follows = stream.data[unit.end + 3:unit.end + 4]
        out.append(raw)
        if follows not in (b"", bytes([EXTENSION])) and not unit.is_slice:
            out.append(b"\0\0\1\xb2" + b"talk" * 100)
    return b"".join(out)


def _quant_matrix():
    """Returns a quant matrix extension (13818-2 section 6.2.3.2). All values
    of its intra matrix are 16.
    """
    bits = "0011" + "1" + 64 * f"{16:08b}" + "000"
    bits += -len(bits) % 8 * "0"
    return int(bits, 2).to_bytes(len(bits) // 8, "big")


def _pull_down(stream):
    out = []
    for frame in stream.frames:
        flags = ((1, 1), (0, 0), (0, 1), (1, 0))[frame.display % 4]
        for unit, raw in _units(stream, frame.start, frame.end):
            if _extends(unit, raw, SEQUENCE_EXT):
                raw = set_bits(raw, *PROGRESSIVE_SEQUENCE, 0)
            elif _extends(unit, raw, PICTURE_CODING):
                raw = set_bits(raw, *TOP_FIELD_FIRST, flags[0])
                raw = set_bits(raw, *REPEAT_FIRST_FIELD, flags[1])
            out.append(raw)
    return b"".join(out)
