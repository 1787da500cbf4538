# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that a decoder can decode the frames of VP8, VP9 and AV1 that the
element ifdqueue sends over a slow link. On such a link, ifdqueue drops frames.

ffmpeg decodes the sent frames, and also the whole stream. For each
presentation time of a sent frame, the picture from the sent frames must be
bit-identical to the picture from the whole stream. No picture of a sent frame
may be missing. ffmpeg must report no error.
"""

import os
import pathlib
import struct
import subprocess
import unittest

import clips
import peers
from rtpfile import read_rfc4571

PROGRAMS = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"]) / "tests" / "interop"
FRAMES = 100
FPS = 25
# Three links. Each number is the time in seconds in which the link sends one
# frame. A frame period is 1 / FPS, or 0.04 s, so the three times are 3, 2 and
# 1.3 frame periods. All three links are therefore too slow for the stream.
SLOW = 0.12, 0.08, 0.052
IVF_HEADER = 32
IVF_FRAME_HEADER = 12
OBU_TEMPORAL_DELIMITER, OBU_TILE_GROUP = 2, 4
OBU_FRAME_HEADER, OBU_FRAME, OBU_TILE_LIST = 3, 6, 8

VPX = "-deadline realtime -cpu-used 8 -b:v 100k -g 50"
LAYERS2 = "-error-resilient 1 -ts-parameters ts_number_layers=2:" \
    "ts_target_bitrate=60,100:ts_rate_decimator=2,1:ts_periodicity=2:" \
    "ts_layer_id=0,1:ts_layering_mode=2"
LAYERS3 = "-error-resilient 1 -ts-parameters ts_number_layers=3:" \
    "ts_target_bitrate=40,60,100:ts_rate_decimator=4,2,1:ts_periodicity=4:" \
    "ts_layer_id=0,2,1,2:ts_layering_mode=3"
# SVT-AV1 has a constant quality here, because newer versions (2.3) refuse a
# bitrate together with pred-struct=1.
SVT = "-c:v libsvtav1 -preset 10 -crf 50 -g 50 -svtav1-params "
# CHAIN and DROPPABLE have one number for each of the three links in SLOW. The
# number is the minimum number of pictures, out of 100, that ifdqueue must send
# over this link. CHAIN is for streams in which each frame refers to the
# previous frame. DROPPABLE is for streams in which every second frame is a
# non-reference frame.
CHAIN = 6, 8, 15
DROPPABLE = 12, 40, 70
# Each stream is a tuple (name, codec, options of the encoder, minimum). The
# item `minimum` is the minimum number of pictures that must be sent over each
# of the three links. It is CHAIN if each frame refers to the previous frame,
# and DROPPABLE if every second frame is a non-reference frame.
FILMS = [
    ("vp8", "vp8", f"-c:v libvpx {VPX}", CHAIN),
    ("vp8-altref", "vp8", "-c:v libvpx -b:v 100k -g 25 -auto-alt-ref 1 "
     "-lag-in-frames 10", CHAIN),
    ("vp8-layers2", "vp8", f"-c:v libvpx {VPX} {LAYERS2}", DROPPABLE),
    ("vp9", "vp9", f"-c:v libvpx-vp9 {VPX}", CHAIN),
    ("vp9-resilient", "vp9", f"-c:v libvpx-vp9 {VPX} -error-resilient 1",
     CHAIN),
    ("vp9-altref", "vp9", "-c:v libvpx-vp9 -cpu-used 5 -b:v 100k -g 25 "
     "-auto-alt-ref 1 -lag-in-frames 16", CHAIN),
    ("vp9-layers2", "vp9", f"-c:v libvpx-vp9 {VPX} {LAYERS2}", DROPPABLE),
    ("vp9-layers3", "vp9", f"-c:v libvpx-vp9 {VPX} {LAYERS3}", DROPPABLE),
    ("av1-low-delay", "av1", "-c:v libaom-av1 -usage realtime -cpu-used 8 "
     "-b:v 100k -g 50 -lag-in-frames 0", CHAIN),
    ("av1-pyramid", "av1", "-c:v libaom-av1 -cpu-used 8 -b:v 100k -g 50 "
     "-lag-in-frames 19", DROPPABLE),
    ("av1-svt", "av1", SVT + "hierarchical-levels=4", DROPPABLE),
    ("av1-svt-low-delay", "av1", SVT + "pred-struct=1:hierarchical-levels=3",
     DROPPABLE),
]


def read_ivf(data):
    """Divides an IVF file into its frames. Returns the file header, and a list
    of tuples (presentation time, content), one for each frame of the file.
    """
    units, at = [], IVF_HEADER
    while at < len(data):
        size, pts = struct.unpack_from("<IQ", data, at)
        at += IVF_FRAME_HEADER
        units.append((pts, data[at:at + size]))
        at += size
    return data[:IVF_HEADER], units


def write_ivf(header, units):
    return header + b"".join(struct.pack("<IQ", len(unit), pts) + unit
                             for pts, unit in units)


def read_obus(unit):
    """Yields (type, bytes) of each OBU (a part of an AV1 stream) in `unit`.
    Each OBU must have a size field."""
    at = 0
    while at < len(unit):
        begin, kind = at, unit[at] >> 3 & 15
        at += 2 if unit[at] & 4 else 1
        size, shift = 0, 0
        while True:
            size |= (unit[at] & 127) << shift
            shift += 7
            at += 1
            if not unit[at - 1] & 128:
                break
        at += size
        yield kind, unit[begin:at]


def split_frames(units):
    """Divides temporal units of AV1 into frames. Yields (pts, bytes) for each
    frame in `units`. If other OBUs (parts of an AV1 stream) stand directly
    before a frame, the bytes of this frame begin with those OBUs.
    """
    for pts, unit in units:
        frame, is_open = b"", False
        for kind, obu in read_obus(unit):
            if is_open and kind != OBU_TILE_GROUP:
                yield pts, frame
                frame, is_open = b"", False
            frame += obu
            is_open |= kind in (OBU_FRAME_HEADER, OBU_FRAME)
        yield pts, frame


def decode(data, kind):
    """Decodes `data`. Returns {presentation time: hash of the picture}.
    Asserts that ffmpeg reports no error.
    """
    result = subprocess.run(
        ["ffmpeg", "-v", "error", "-threads", "1", "-f", kind, "-i", "-",
         "-fps_mode", "passthrough", "-f", "framehash", "-hash", "md5", "-"],
        input=data, capture_output=True)
    faults = result.stderr.decode()
    assert result.returncode == 0 and not faults, faults
    pictures = {}
    for line in result.stdout.decode().splitlines():
        if not line.startswith("#"):
            fields = line.split(",")
            assert int(fields[2]) not in pictures, line
            pictures[int(fields[2])] = fields[-1].strip()
    return pictures


def choose(codec, units, seconds):
    """Passes the frames `units` to ifdqueue, whose link needs `seconds`
    seconds for each frame. Returns the indices of the frames that ifdqueue
    sends.
    """
    with peers.workdir() as work:
        path = work / "units"
        path.write_bytes(b"".join(unit for _, unit in units))
        lines, at = "", 0
        for _, unit in units:
            lines += "%d %d -1\n" % (at, len(unit))
            at += len(unit)
        result = subprocess.run(
            [str(PROGRAMS / "ifdchoose"), codec, str(path), str(FPS),
             str(seconds), "0"], check=True, input=lines.encode(),
            stdout=subprocess.PIPE)
    *sent, counts = result.stdout.decode().splitlines()
    assert int(counts.split()[0]) == len(units)
    return list(map(int, sent))


def make_clip(name, options):
    return clips._ffmpeg(
        "ifdslots-%s.ivf" % name,
        "-frames:v %d -vf scale=160:96 -r %d -pix_fmt yuv420p %s -f ivf"
        % (FRAMES, FPS, options))


def join(header, units, codec):
    """Returns an IVF file with the frames `units`. If `codec` is "av1-frame",
    the AV1 frames with the same presentation time are written as one IVF
    frame, because a decoder expects whole temporal units.
    """
    if codec != "av1-frame":
        return write_ivf(header, units)
    joined = []
    for pts, frame in units:
        if joined and joined[-1][0] == pts:
            joined[-1] = pts, joined[-1][1] + frame
        else:
            joined.append((pts, frame))
    return write_ivf(header, joined)


class OfEncoders(unittest.TestCase):
    """Tests streams of several encoders. The program ifdchoose sends them
    through the element ifdqueue over a link that is simulated in virtual time.
    """

    def check(self, film, codec, units, whole, seconds):
        sent = choose(codec, units, seconds)
        self.assertEqual(sent, sorted(set(sent)))
        pictures = decode(join(film[0], [units[n] for n in sent], codec),
                          "ivf")
        # ffmpeg outputs one picture for each presentation time. In AV1,
        # several frames may have the same presentation time, but only one of
        # them shows a picture. If ifdqueue drops the frame that shows the
        # picture, and sends another frame with this time, ffmpeg outputs no
        # picture for this time.
        times = {units[n][0] for n in sent}
        if codec == "av1-frame":
            times &= set(pictures)
        self.assertEqual(pictures, {
            pts: picture for pts, picture in whole.items() if pts in times})
        return len(pictures)

    def films(self):
        for name, codec, options, minimum in FILMS:
            film = read_ivf(make_clip(name, options).read_bytes())
            whole = decode(write_ivf(*film), "ivf")
            self.assertEqual(len(whole), FRAMES)
            yield name, codec, film, whole, minimum

    def test_sent_frames_are_decodable(self):
        for name, codec, film, whole, minimum in self.films():
            for seconds, count in zip(SLOW, minimum):
                with self.subTest(film=name, seconds=seconds):
                    self.assertGreaterEqual(self.check(
                        film, codec, film[1], whole, seconds), count)

    def test_frames_of_a_temporal_unit_may_come_one_by_one(self):
        for name, codec, film, whole, _ in self.films():
            if codec != "av1":
                continue
            frames = list(split_frames(film[1]))
            for seconds in SLOW:
                with self.subTest(film=name, seconds=seconds):
                    self.assertGreater(self.check(
                        film, "av1-frame", frames, whole, seconds), 0)


class Layers(unittest.TestCase):
    """Tests temporal layers of VP8 and VP9. A VP8 stream does not contain the
    number of the layer of a frame. The encoder vp8enc puts this number on its
    output buffers, and the element ifdqueue reads it there. The encoder and
    ifdqueue must therefore run in one pipeline.
    """

    def send(self, layers, encoder, sleep):
        """Encodes a stream and sends it through ifdqueue. Returns the decoded
        pictures of the whole stream, the decoded pictures of the output of
        ifdqueue, and the number of frames that ifdqueue counted as sent."""
        queue = "queue max-size-buffers=0 max-size-bytes=0 max-size-time=0"
        with peers.workdir() as work:
            result = subprocess.run(
                [str(PROGRAMS / "ifdencode"), str(layers),
                 f"videotestsrc num-buffers={FRAMES} pattern=ball ! "
                 f"video/x-raw,width=160,height=96,framerate={FPS}/1 ! "
                 f"{encoder} name=encoder deadline=1 keyframe-max-dist=50 "
                 f"end-usage=cbr ! tee name=t "
                 f"t. ! {queue} ! matroskamux ! filesink location={work}/whole "
                 f"t. ! {queue} ! ifdqueue name=ifd ! "
                 f"identity sleep-time={sleep} ! matroskamux ! "
                 f"filesink location={work}/sent"],
                check=True, stdout=subprocess.PIPE, timeout=120)
            frames, sent, dropped, malformed = map(
                int, result.stdout.decode().split())
            self.assertEqual(frames, FRAMES)
            self.assertEqual(frames, sent + dropped)
            self.assertEqual(malformed, 0)
            return [decode((work / name).read_bytes(), "matroska")
                    for name in ("whole", "sent")], sent

    def check(self, layers, encoder, sleep):
        (whole, pictures), sent = self.send(layers, encoder, sleep)
        self.assertEqual(len(whole), FRAMES)
        self.assertEqual(len(pictures), sent)
        self.assertEqual(pictures, {pts: whole[pts] for pts in pictures})
        return sent

    def test_vp8_drops_the_highest_layers(self):
        for layers, sleep, minimum in ((2, 60000, 40), (3, 60000, 40),
                                     (3, 120000, 20)):
            with self.subTest(layers=layers, sleep=sleep):
                self.assertGreater(self.check(layers, "vp8enc", sleep), minimum)

    def test_vp9(self):
        for layers in (2, 3):
            with self.subTest(layers=layers):
                self.check(layers, "vp9enc cpu-used=8 error-resilient=default",
                           60000)

    def test_without_layers(self):
        self.check(1, "vp8enc target-bitrate=100000", 60000)


class Payloaded(unittest.TestCase):
    """Checks that the project's parser finds the same kind of picture (I, P or
    B) in two places: in a frame, and in the RTP packets that GStreamer's own
    payloader makes from this frame.
    """

    def kinds(self, kind, buffers):
        with peers.workdir() as work:
            (work / "buffers").write_bytes(b"".join(
                struct.pack(">H", len(data)) + data for data in buffers))
            text, _ = peers.run([PROGRAMS / "picturekinds", kind,
                                 work / "buffers"])
        return text.decode().strip()

    def packets(self, clip, payloader):
        with peers.workdir() as work:
            peers.gst(
                f"filesrc {peers.location(clip)} ! ivfparse ! "
                f"{payloader} mtu=400 ! rtpstreampay ! "
                f"filesink {peers.location(work / 'packets')}")
            return read_rfc4571(work / "packets")

    def test_packets_of_a_frame_are_of_its_kind(self):
        seen = set()
        for name, codec, options, _ in FILMS:
            # AV1 is left out, because GStreamer 1.22 has no payloader for it.
            if codec == "av1":
                continue
            clip = make_clip(name, options)
            frames = [unit for _, unit in read_ivf(clip.read_bytes())[1]]
            kinds = self.kinds(codec, frames)
            packets = self.packets(clip, f"rtp{codec}pay")
            found = self.kinds("rtp-" + codec, [p.pack() for p in packets])
            self.assertEqual(len(found), len(packets))
            by_time = {}
            for packet, kind in zip(packets, found):
                by_time.setdefault(packet.timestamp, []).append(kind)
            with self.subTest(film=name):
                # In this clip, some frames are not shown and have the
                # timestamp of the next frame. The packets of both frames
                # therefore cannot be distinguished by their timestamps.
                if name != "vp8-altref":
                    self.assertEqual(kinds, "".join(
                        kind[0] for kind in by_time.values()))
                    self.assertEqual({len(set(k)) for k in by_time.values()},
                                     {1})
                self.assertNotIn("?", found)
            seen.update(found)
        self.assertEqual(seen, {"I", "P", "B"})


if __name__ == "__main__":
    unittest.main()
