# SPDX-License-Identifier: LGPL-2.1-or-later
"""Streams that are encoded before a run. They take the place of a live
encoder.

The lab sends such a stream at the pace of its frames, as a live encoder would
do. A run then needs little CPU time, and all runs with this stream send the
same frames. After the run, ffmpeg decodes the frames that arrived. A picture
counts as decodable only if it is identical to the picture that ffmpeg decodes
from the whole stream.
"""

import difflib
import functools
import hashlib
import pathlib
import shlex
import struct
import subprocess
import typing
from collections.abc import Sequence
from typing import Any

from wirelesslab import files, gst_environment, processes
from wirelesslab.errors import LabError
from wirelesslab.streams import clips, display, frame_log, measurements

Encoding = dict[str, Any]


class Codec(typing.NamedTuple):
    # The file name extension of the encoded clip.
    suffix: str
    # The part of a GStreamer pipeline that splits the encoded clip into frames.
    read: str
    # The bitstream filter of ffmpeg through which the frames are read from the
    # encoded clip.
    bitstream_filter: str
    # After a run, ffmpeg decodes the frames that have arrived. It reads these
    # frames in a certain format. This field is ffmpeg's name for the format.
    muxer: str


PARSE = ("qtdemux ! h26{n}parse config-interval=-1 "
         "! video/x-h26{n},stream-format=byte-stream,alignment=au")
CODECS = {
    "h264": Codec("mp4", PARSE.format(n=4), "h264_mp4toannexb", "h264"),
    "h265": Codec("mp4", PARSE.format(n=5), "hevc_mp4toannexb", "hevc"),
    "vp8": Codec("ivf", "ivfparse", "null", "ivf"),
    "vp9": Codec("ivf", "ivfparse ! vp9parse", "null", "ivf"),
    "av1": Codec("ivf", "ivfparse ! av1parse "
                 "! video/x-av1,stream-format=obu-stream,alignment=tu",
                 "null", "ivf"),
}
FOURCC = {"vp8": b"VP80", "vp9": b"VP90", "av1": b"AV01"}
# Elements that read the file of the encoded clip and output its frames, each
# frame at its due time.
PIPELINE = ("filesrc location={{clip}} ! {read} ! clocksync "
            "! mpegstat location={{sent}}")
PERIOD_NS = 1e9 / clips.FRAMES_PER_SECOND
HASH_DIGITS = 8


class Packet(typing.NamedTuple):
    """A coded frame of a file. Lists of coded frames are in coding order."""

    place: int  # The position of the frame's picture in display order.
    data: bytes


def pipeline(encoding: Encoding) -> str:
    return PIPELINE.format(read=CODECS[encoding["codec"]].read)


def make(build: pathlib.Path, encoding: Encoding,
         source: pathlib.Path) -> pathlib.Path:
    """Returns the path of the file with the encoded stream. If the file does
    not exist, makes it. The name of the file contains a hash of the command
    that makes it, so a changed command results in a new file.
    """
    command = encoding["make"]
    digest = hashlib.sha256(f"{source.name} {command}".encode()).hexdigest()
    path = source.with_name(f"{source.stem}-{encoding['name']}-"
                            f"{digest[:HASH_DIGITS]}"
                            f".{CODECS[encoding['codec']].suffix}")

    def write(unfinished: pathlib.Path) -> None:
        values = {"source": source, "output": unfinished, "build": build}
        text = command.format_map(
            {name: shlex.quote(str(value)) for name, value in values.items()})
        processes.run(["bash", "-o", "pipefail", "-c", text],
                      f"encoding {encoding['name']}",
                      env=gst_environment.environment(build))

    return clips.make_whole(path, write)


# ------------------------------------------------------------ after the run

def frames(encoding: Encoding, path: pathlib.Path, sent_log: frame_log.Log,
           received_log: frame_log.Log,
           kept: pathlib.Path) -> list[display.Frame]:
    """Returns the frames of the stream in display order. If the picture of a
    frame is damaged, the frame is treated as if it had not arrived. To find
    the damaged pictures, the frames must be decoded, which takes longer than
    all other steps. The first call therefore writes the positions of the
    undamaged pictures to the file `kept`. Later calls only read this file.

    All times are counted from the capture of the first picture. A live encoder
    outputs a frame some time after the capture of its picture. This stream was
    encoded before the run, so the run itself does not contain this delay. The
    delay, `encoding["delay"]` frame periods, is therefore added to the times
    at which the frames were sent and arrived.
    """
    packets = read_packets(path, encoding["codec"])
    sent = sent_log.frames
    if len(sent) != len(packets):
        raise LabError(f"{len(sent)} frames were sent of {path}, which has "
                       f"{len(packets)}")
    pairs = measurements.join(sent_log, received_log)
    arrived = [number for number, frame in enumerate(sent)
               if frame.coding_number in pairs]
    if kept.exists():
        good = set(map(int, kept.read_text().split()))
    else:
        good = decodable(path, encoding["codec"], arrived)
        files.write_whole(kept, "".join(f"{place}\n"
                                        for place in sorted(good)))
    begin_ns = min(frame.wall_ns - number * PERIOD_NS
                   for number, frame in enumerate(sent)) \
        - encoding["delay"] * PERIOD_NS
    found: list[Any] = [None] * len(packets)
    for packet, frame in zip(packets, sent):
        found[packet.place] = display.Frame(
            packet.place * PERIOD_NS, frame.wall_ns - begin_ns,
            pairs[frame.coding_number][1].wall_ns - begin_ns
            if packet.place in good else display.NEVER,
            frame.type == "I", frame.size)
    return found


def decodable(path: pathlib.Path, codec: str,
              arrived: Sequence[int]) -> set[int]:
    """Decodes the frames that arrived. `arrived` contains the numbers of these
    frames, which are counted in coding order. A picture is damaged if it is
    not equal to the picture that a decoder makes from the whole stream.
    Returns the positions, in display order, of all pictures that are not
    damaged.
    """
    packets = read_packets(path, codec)
    whole = pictures_of_all(path, codec)
    if len(whole) != len(packets):
        raise LabError(f"{path} has {len(packets)} frames, but ffmpeg decodes "
                       f"{len(whole)} pictures")
    places = sorted(packets[number].place for number in arrived)
    expected = [whole[place] for place in places]
    found = pictures(codec, [packets[number] for number in arrived])
    matcher = difflib.SequenceMatcher(None, expected, found, autojunk=False)
    return {places[number] for block in matcher.get_matching_blocks()
            for number in range(block.a, block.a + block.size)}


@functools.lru_cache(maxsize=4)
def read_packets(path: pathlib.Path, codec: str) -> list[Packet]:
    """Returns all coded frames of the file. Frames of H.264 and H.265 begin
    with start codes, and their key frames contain the parameter sets, so that
    a decoder can begin at each key frame.
    """
    copy = [*clips.FFMPEG, "-i", str(path), "-map", "0:v", "-c", "copy",
            "-copyts", "-bsf:v", CODECS[codec].bitstream_filter]
    data = output([*copy, "-f", "data", "-"])
    listing = output([*copy, "-f", "framecrc", "-"]).decode()
    rows = [line.split(",") for line in listing.splitlines()
            if not line.startswith("#")]
    times = [int(row[2]) for row in rows]
    places = {time: place for place, time in enumerate(sorted(times))}
    found, at = [], 0
    for time, row in zip(times, rows):
        size = int(row[4])
        found.append(Packet(places[time], data[at:at + size]))
        at += size
    if at != len(data) or len(places) != len(found):
        raise LabError(f"could not divide {path} into frames")
    return found


@functools.lru_cache(maxsize=4)
def pictures_of_all(path: pathlib.Path, codec: str) -> list[str]:
    """Returns the hash of each picture of the whole stream. All runs with this
    stream compare their pictures with these hashes, so the hashes are kept in
    a file.
    """
    kept = path.with_suffix(".md5")
    if kept.exists():
        return kept.read_text().split()
    found = pictures(codec, read_packets(path, codec))
    files.write_whole(kept, "\n".join(found))
    return found


def pictures(codec: str, packets: Sequence[Packet]) -> list[str]:
    """Decodes the frames `packets` with ffmpeg. Returns the hash of each
    picture, in display order.
    """
    if not packets:
        return []
    fourcc = FOURCC.get(codec)
    data = ivf(fourcc, packets) if fourcc \
        else b"".join(packet.data for packet in packets)
    listing = output(
        [*clips.FFMPEG, "-loglevel", "quiet", "-threads", "1",
         "-flags", "output_corrupt", "-f", CODECS[codec].muxer, "-i", "-",
         "-fps_mode", "passthrough", "-f", "framehash", "-hash", "md5", "-"],
        data)
    return [line.split(",")[-1].strip()
            for line in listing.decode().splitlines()
            if not line.startswith("#")]


def ivf(fourcc: bytes, packets: Sequence[Packet]) -> bytes:
    head = struct.pack("<4sHH4sHHIIII", b"DKIF", 0, 32, fourcc, 0, 0,
                       clips.FRAMES_PER_SECOND, 1, len(packets), 0)
    return head + b"".join(
        struct.pack("<IQ", len(packet.data), packet.place) + packet.data
        for packet in packets)


def output(argv: list[str], data: bytes = b"") -> bytes:
    """Runs the command `argv`, passes `data` to its standard input, and
    returns its standard output. The command is usually ffmpeg with the option
    -nostdin. This option only makes ffmpeg ignore commands from the keyboard.
    ffmpeg still reads `data`, because its option -i names the standard input.
    """
    return subprocess.run(argv, input=data, stdout=subprocess.PIPE,
                          check=True).stdout
