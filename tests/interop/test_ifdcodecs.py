# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that a decoder can decode the frames of H.264 and H.265 that the
element ifdqueue sends over a slow link. On such a link, ifdqueue drops frames.

ffmpeg decodes the sent frames, and also the whole stream. Each picture of the
sent frames must be bit-identical to the same picture of the whole stream. No
picture of a sent frame may be missing. ffmpeg must report no error.

The clips have all kinds of references between frames. Encoders make most of
the clips. No available encoder makes field pictures or long-term references,
so h264writer.py writes the clips that contain them.
"""

import os
import pathlib
import re
import struct
import subprocess
import unittest

import clips
import decoder
import h264writer
import h265layers
import peers
from rtpfile import read_rfc4571
from test_ifdclassifier import Film, assert_no_faults

PROGRAM = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"]) / \
    "tests" / "interop" / "ifdchoose"
# Path of the program that encodes H.264 with temporal layers. The program
# exists only if OpenH264 was installed when the project was built.
ENCODER = PROGRAM.with_name("openh264layers")
DELIMITER = b"\0\0\0\1\t\xf0"
FRAMES = 100
FPS = 25
# Three links that are too slow for the stream. Each link is described by the
# time in seconds that it needs to send one frame. A frame lasts 0.04 s, so
# these times are 3, 2 and 1.3 times the duration of a frame.
SLOW = 0.12, 0.08, 0.052

# The POC (picture order count) gives the display order of the pictures. The
# field pic_order_cnt_lsb contains only the low bits of the POC. A decoder
# derives the high bits from the previous reference picture. In the clips
# "short-range" and "long", the POC of an open GOP covers more than half of the
# range of this field. The element ifdqueue may drop so many frames of such a
# GOP that the dropped frames cover more than half of the range. A decoder then
# cannot determine how many frames are missing (H.264, 8.2.1.1).
H264 = {
    "short-range": "open-gop=1:keyint=10:bframes=1:slice-max-size=300:"
                   "b-adapt=0",
    "long": "open-gop=1:keyint=24:bframes=3:b-pyramid=normal:b-adapt=0:"
            "scenecut=0",
    "open": "open-gop=1:keyint=16:bframes=3:b-pyramid=strict:b-adapt=0:ref=6",
    "open-no-pyramid": "open-gop=1:keyint=8:bframes=2:b-pyramid=none:slices=4",
    "mbaff": "open-gop=1:keyint=16:bframes=3:interlaced=1",
    "closed": "keyint=24:bframes=3:b-pyramid=normal:ref=4",
    "refresh": "keyint=24:bframes=0:intra-refresh=1",
}
H265 = {
    "open": "open-gop=1:keyint=24:bframes=3:b-adapt=0:scenecut=0:slices=2",
    "open-no-pyramid": "open-gop=1:keyint=16:bframes=3:b-pyramid=0:ref=5",
    "layers": "open-gop=1:keyint=16:bframes=3:b-adapt=0:temporal-layers=1",
    "closed": "open-gop=0:keyint=24:bframes=3:b-adapt=0:radl=2:ref=4",
    "refresh": "keyint=24:bframes=0:intra-refresh=1",
}
# Clips with B-pyramids: some B-frames refer to other B-frames. The P-frames do
# not refer to B-frames. The element ifdqueue can therefore drop all B-frames
# of these clips and keep all P-frames.
PYRAMIDS = {
    "pyramid": "keyint=24:bframes=3:b-pyramid=strict:b-adapt=0:ref=2",
    "pyramid-6": "keyint=24:bframes=5:b-pyramid=strict:b-adapt=0:ref=4",
    "pyramid-one-reference": "keyint=24:bframes=3:b-pyramid=normal:b-adapt=0:"
                             "ref=1",
    "pyramid-slices": "keyint=24:bframes=3:b-pyramid=strict:b-adapt=0:ref=3:"
                      "slices=3",
    "pyramid-open": "open-gop=1:keyint=26:bframes=3:b-pyramid=strict:"
                    "b-adapt=0:ref=3",
}
PYRAMID_GOP = 24
THREE_LAYERS = "open-gop=0:keyint=24:bframes=3:b-adapt=0:scenecut=0:ref=1:" \
    "weightp=0:wpp=0"
# Two more links, which are slower than the three links in SLOW. Each link is
# described by the time in seconds that it needs to send one frame. A new frame
# comes every 0.04 s. The first link needs four times this interval, so it can
# carry every fourth frame. The second link needs six times this interval, so
# it can carry every sixth frame.
SLOWER = 0.16, 0.24
# LAYERED contains the expected results for streams with temporal layers. It
# has the form {number of temporal layers: {time in s that the link needs to
# send one frame: n}}. The number n says which frames the element ifdqueue must
# send at least: each frame whose index is a multiple of n. The link is too
# slow for all frames, so ifdqueue may drop the others. For example, if the
# link needs twice the duration of a frame to send one frame, it can carry
# every second frame, and n is 2.
LAYERED_GOP = 48
LAYERED = {2: {0.08: 2, 0.052: 2}, 3: {0.16: 4, 0.12: 4, 0.08: 2, 0.052: 2},
           4: {0.24: 8, 0.16: 8, 0.08: 2}}
# Durations of the simulated outages in seconds. During the shortest outage,
# the field pic_order_cnt_lsb of the frames advances by less than half of its
# range. During the longest outage, this field wraps several times.
OUTAGES = [0.2 + 0.32 * i for i in range(12)]
OUTAGE_FRAMES = 200
WITH_OUTAGES = {
    "short-range": H264["short-range"],
    "short-gops": "open-gop=1:keyint=4:bframes=2:b-adapt=0",
    "long": H264["long"],
    "closed": H264["closed"],
}
# An error message of ffmpeg that is ignored. After an outage, an I-frame that
# is not an IDR picture may have the same frame_num as an older picture that
# the decoder still stores. ffmpeg then has to remove the older picture, and
# prints this message. No picture is damaged.
SAME_FRAME_NUM = re.compile(r".*\] illegal short term buffer state detected\n")
# Clips that contain leading frames. Leading frames follow an I-frame in the
# stream, but are shown before it. They may refer to frames before the I-frame,
# in the previous GOP. If some of those frames are missing, the leading frames
# cannot be decoded. On the slow links in SLOW, ifdqueue must therefore drop
# some of the leading frames.
WITH_LEADING = {"h264 long", "h264 open", "h264 open-no-pyramid", "h264 mbaff",
                "hevc open", "hevc layers"}


def small(library, frames=FRAMES):
    return "-frames:v %d -vf scale=160:96 -r %d -pix_fmt yuv420p " \
        "-b:v 80k -c:v %s -preset fast" % (frames, FPS, library)


def small_with_outage(library):
    return small(library, OUTAGE_FRAMES)


def choose(codec, path, units, seconds, outage=0):
    """Runs ifdqueue on the access units `units` of a stream, over a simulated
    link that needs `seconds` seconds for a frame. Returns three values: the
    indices of the access units that are sent, the number of all frames, and
    the number of dropped leading frames. Leading frames follow an I-frame in
    the stream, but are shown before it.

    Each access unit is a tuple (offset, size, PTS). The PTS (presentation
    timestamp) is given as a number of frame periods. It is None if the access
    unit has no PTS.
    """
    lines = "".join("%d %d %d\n" % (
        offset, size, -1 if pts is None else 10 ** 9 * (pts + 8) // FPS)
        for offset, size, pts in units)
    result = subprocess.run(
        [str(PROGRAM), codec, str(path), str(FPS), str(seconds),
         str(outage)], check=True,
        input=lines.encode(), stdout=subprocess.PIPE)
    *sent, counts = result.stdout.decode().splitlines()
    frames, leading = map(int, counts.split())
    return list(map(int, sent)), frames, leading


def decode(codec, *streams, may_repeat_frame_num=False):
    """Decodes `streams`. Returns for each stream the hashes of all pictures,
    including the damaged pictures. Asserts that the decoder reports no errors.
    """
    hashes, printed = decoder.hash_pictures(codec, streams, "repeat+error",
                                            "-flags", "output_corrupt")
    assert_no_faults(SAME_FRAME_NUM.sub("", printed) if may_repeat_frame_num
                     else printed)
    return hashes


class OfEncoders(unittest.TestCase):

    def check(self, film, units, links):
        """Lets ifdqueue send the clip `film` over each of `links`. Checks that
        each sent frame is decoded to the same picture as when the whole clip
        is decoded.

        A link is a pair of times in seconds: the time that it needs to send a
        frame, and the duration of its outage. `units` contains the offset, the
        size and the PTS of each access unit of `film`. Returns a pair for each
        link: the indices of the access units that were sent, and the number of
        leading frames that were dropped.
        """
        chosen = [choose(film.codec, film.stream, units, *link)
                  for link in links]
        head = film.parameter_sets()
        pictures, *decoded = decode(film.codec, film.bytes, *(
            head + b"".join(film.bytes[offset:offset + size]
                            for offset, size, _ in (units[n] for n in sent))
            for sent, _, _ in chosen),
            may_repeat_frame_num=any(outage for _, outage in links))
        self.assertEqual(len(pictures), len(units))
        whole = dict(zip(film.shown(range(len(units))), pictures))
        for link, (sent, frames, _), found in zip(links, chosen, decoded,
                                                  strict=True):
            with self.subTest(link=link):
                self.assertEqual(frames, len(pictures))
                self.assertEqual(sent, sorted(set(sent)))
                self.assertEqual(found, [whole[n] for n in film.shown(sent)])
        return [(sent, leading) for sent, _, leading in chosen]

    def check_all(self, codec, name, params):
        film = Film(codec, "ifdcodecs-" + name, params, small)
        self.assertEqual(len(film.units), FRAMES)
        first, step = film.pts[0], min(film.pts[1:]) - min(film.pts)
        timed = [(offset, size, (pts - first) // step)
                 for (offset, size, _), pts in zip(film.units, film.pts)]
        untimed = [(offset, size, None) for offset, size, _ in film.units]
        n_leading = 0
        results = self.check(film, untimed, [(seconds, 0) for seconds in SLOW])
        for seconds, (sent, leading) in zip(SLOW, results):
            n_leading += leading
            with self.subTest(clip=codec + " " + name, seconds=seconds):
                # In the runs above, the access units had no timestamps. If
                # they have timestamps, ifdqueue must select the same frames.
                self.assertEqual(choose(codec, film.stream, timed, seconds),
                                 (sent, FRAMES, leading))
                if "refresh" not in name:
                    self.assertGreater(len(sent), 0.02 / seconds * FRAMES)
        if codec + " " + name in WITH_LEADING:
            self.assertGreater(n_leading, 0)

    def test_h264(self):
        for name, params in H264.items():
            with self.subTest(clip=name):
                self.check_all("h264", name, params)

    def check_pyramid(self, film, since, has_all_references):
        """Lets ifdqueue send the clip `film` over links of several speeds.
        Checks that each sent frame is decoded to the same picture as in the
        whole clip.

        If `has_all_references` is true, one more check is made on the link
        that needs SLOWER[0] seconds for a frame. The frames that were sent
        over this link are sorted by their position in display order. From each
        of these frames to the next one, the position must increase by at most
        8. Frames whose index is below `since` are ignored in this check.
        """
        units = [(offset, size, None) for offset, size, _ in film.units]
        self.assertEqual(len(units), FRAMES)
        step = min(film.pts[1:]) - min(film.pts)
        speeds = SLOW + SLOWER
        results = self.check(film, units, [(seconds, 0) for seconds in speeds])
        for seconds, (sent, _) in zip(speeds, results):
            shown = sorted(film.pts[n] // step for n in sent if n >= since)
            gap = max(b - a for a, b in zip(shown, shown[1:]))
            # `gap` is the longest distance, in frames of the clip, between two
            # sent frames that follow each other in display order. In these
            # clips, at least every fourth frame is a P-frame or an I-frame.
            # The link can carry every fourth frame of the clip. ifdqueue may
            # therefore drop all B-frames. Of the P-frames, ifdqueue may drop
            # only the last one of each GOP. If this P-frame is dropped, the
            # sent frames before and after it are up to 8 frames apart.
            if has_all_references and seconds == SLOWER[0]:
                self.assertLessEqual(gap, 8)

    def test_pyramids(self):
        for name, params in PYRAMIDS.items():
            film = Film("h264", "ifdcodecs-" + name, params + ":scenecut=0",
                        small)
            with self.subTest(clip=name):
                self.check_pyramid(film, PYRAMID_GOP, name == "pyramid")

    def test_temporal_id(self):
        """Tests a stream with a prefix NAL unit before each slice (H.264,
        G.7.3.1.1). The prefix NAL unit contains the temporal layer of the
        slice. The element ifdqueue therefore knows the layers from the first
        GOP on. Without these NAL units, it would have to learn from the first
        GOP which frames refer to each other.
        """
        film = Film("h264", "ifdcodecs-pyramid",
                    PYRAMIDS["pyramid"] + ":scenecut=0", small)
        layers = {0: 2, 1: 1}
        out, units = b"", []
        for offset, size, _ in film.units:
            begin = len(out)
            for nal in re.split(b"\0*\0\0\1",
                                film.bytes[offset:offset + size])[1:]:
                if nal[0] & 31 in (1, 5):
                    layer = layers.get(nal[0] >> 5 & 3, 0)
                    out += b"\0\0\1" + bytes([
                        nal[0] & 0x60 | 14, 0x80 | (nal[0] & 31 == 5) << 6,
                        0x80, layer << 5 | 7])
                    # If nal_ref_idc is not 0, the prefix NAL unit must have a
                    # payload. The payload consists of two flags, which are 0
                    # here, and the stop bit.
                    out += b"\x20" if nal[0] & 0x60 else b""
                out += b"\0\0\1" + nal
            units.append((begin, len(out) - begin, None))
        film.bytes, film.units = out, units
        path = clips.CACHE / ("ifdcodecs-prefix-%d.h264" % os.getpid())
        self.addCleanup(path.unlink, missing_ok=True)
        path.write_bytes(out)
        film.stream = path
        self.check_pyramid(film, 0, True)

    def test_sub_layers(self):
        """Three temporal layers of H.265"""
        film = Film("hevc", "ifdcodecs-three-layers", THREE_LAYERS, small)
        before = film.bytes
        film.bytes, film.units = h265layers.add_layers(film.stream, film.units)
        path = clips.CACHE / ("ifdcodecs-layers-%d.h265" % os.getpid())
        self.addCleanup(path.unlink, missing_ok=True)
        path.write_bytes(film.bytes)
        film.stream = path
        with_layers, without_layers = decode("hevc", film.bytes, before)
        self.assertEqual(with_layers, without_layers)
        self.check_pyramid(film, 0, True)

    def test_outages(self):
        for name, params in WITH_OUTAGES.items():
            film = Film("h264", "ifdcodecs-outage-" + name, params,
                        small_with_outage)
            units = [(offset, size, None) for offset, size, _ in film.units]
            self.assertEqual(len(units), OUTAGE_FRAMES)
            with self.subTest(clip=name):
                for sent, _ in self.check(
                        film, units, [(0.03, outage) for outage in OUTAGES]):
                    # The outage of the link interrupts the sending.
                    # Afterwards, ifdqueue must resume, so the last frame that
                    # it sends must be near the end of the stream.
                    self.assertGreater(sent[-1], OUTAGE_FRAMES - 24)

    def test_h265(self):
        for name, params in H265.items():
            with self.subTest(clip=name):
                self.check_all("hevc", name, params)


class Payloaded(unittest.TestCase):
    """Checks that the classifier finds the same picture type (I, P or B) in
    two places: in a frame, and in the RTP packets that GStreamer's own
    payloader makes from this frame.
    """

    CLIPS = (("h264", "264", "closed", H264["closed"]),
             ("h264", "264", "pyramid", PYRAMIDS["pyramid"] + ":scenecut=0"),
             ("hevc", "265", "closed", H265["closed"]),
             ("hevc", "265", "layers", H265["layers"]))

    def kinds(self, kind, buffers):
        with peers.workdir() as work:
            (work / "buffers").write_bytes(b"".join(
                struct.pack(">H", len(data)) + data for data in buffers))
            text, _ = peers.run([PROGRAM.with_name("picturekinds"), kind,
                                 work / "buffers"])
        return text.decode().strip()

    def packets(self, film, number, mode):
        with peers.workdir() as work:
            peers.gst(
                f"filesrc {peers.location(film.mp4)} ! qtdemux ! "
                f"h{number}parse ! rtph{number}pay mtu=400 "
                f"config-interval=-1 aggregate-mode={mode} ! rtpstreampay ! "
                f"filesink {peers.location(work / 'packets')}")
            return read_rfc4571(work / "packets")

    def check(self, film, number, mode):
        frames = [film.bytes[offset:offset + size]
                  for offset, size, _ in film.units]
        packets = self.packets(film, number, mode)
        self.assertGreater(len(packets), FRAMES)
        found = self.kinds("rtp-h" + number, [p.pack() for p in packets])
        self.assertEqual(len(found), len(packets))
        by_time = {}
        for packet, kind in zip(packets, found):
            by_time.setdefault(packet.timestamp, set()).add(kind)
        # Some packets contain no part of a picture, but only parameter sets or
        # SEI messages. The program picturekinds prints a dot for them.
        kinds = ["".join(kinds - {"."}) for kinds in by_time.values()]
        self.assertEqual(kinds, list(self.kinds("h" + number, frames)))
        self.assertEqual(set(kinds), {"I", "P", "B"})

    def test_packets_of_a_frame_are_of_its_kind(self):
        for codec, number, name, params in self.CLIPS:
            film = Film(codec, "ifdcodecs-" + name, params, small)
            max_mode = "max-stap" if codec == "h264" else "max"
            for mode in "none", "zero-latency", max_mode:
                with self.subTest(clip=codec + " " + name, mode=mode):
                    self.check(film, number, mode)


class OfOpenH264(unittest.TestCase):
    """Temporal layers of H.264 without B-frames"""

    def encode(self, layers):
        """Encodes a clip with OpenH264 in `layers` temporal layers. Returns a
        list of the access units. Each access unit begins with an access unit
        delimiter.
        """
        pictures = subprocess.run(
            ["ffmpeg", "-v", "error", "-stream_loop", "-1", "-i", clips.FILM,
             "-frames:v", str(FRAMES), "-vf", "scale=160:96", "-r", str(FPS),
             "-pix_fmt", "yuv420p", "-f", "rawvideo", "-"],
            stdout=subprocess.PIPE, check=True).stdout
        stream = subprocess.run(
            [ENCODER, "160", "96", str(FPS), "80", str(layers),
             str(LAYERED_GOP)], input=pictures, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, check=True).stdout
        return [DELIMITER + unit for unit in stream.split(DELIMITER)[1:]]

    def check(self, path, units, whole, seconds):
        """Lets ifdqueue send the access units `units` over a link that needs
        `seconds` seconds for a frame. Checks that each sent frame is decoded
        to the same picture as in the whole stream: `whole` contains the
        pictures of all frames. Returns the indices of the sent frames.
        """
        places, at = [], 0
        for unit in units:
            places.append((at, len(unit), None))
            at += len(unit)
        sent, frames, _ = choose("h264", path, places, seconds)
        self.assertEqual(frames, FRAMES)
        arrived = b"".join(units[n] for n in sent)
        (found,) = decode("h264", arrived)
        self.assertEqual(found, [whole[n] for n in sent])
        errors = subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "h264", "-i", "-", "-f", "null",
             "-"], input=arrived, stderr=subprocess.PIPE, check=True).stderr
        self.assertEqual(errors.decode(), "")
        return sent

    def test_upper_layers_are_dropped_first(self):
        if not ENCODER.exists():
            self.skipTest("OpenH264 was not installed when this was built")
        path = clips.CACHE / ("ifdcodecs-openh264-%d.h264" % os.getpid())
        clips.CACHE.mkdir(parents=True, exist_ok=True)
        self.addCleanup(path.unlink, missing_ok=True)
        for layers, highest in LAYERED.items():
            units = self.encode(layers)
            self.assertEqual(len(units), FRAMES)
            path.write_bytes(b"".join(units))
            (whole,) = decode("h264", path.read_bytes())
            self.assertEqual(len(whole), FRAMES)
            for seconds, step in highest.items():
                with self.subTest(layers=layers, seconds=seconds):
                    sent = self.check(path, units, whole, seconds)
                    # The link is fast enough for the lower temporal layers.
                    # These layers contain each frame whose index is a multiple
                    # of `step`, so ifdqueue must send all these frames. The
                    # last frames of the stream are not checked, because they
                    # would arrive too late.
                    missing = set(range(0, FRAMES - 4, step)) - set(sent)
                    self.assertEqual(missing, set())


class ByHand(unittest.TestCase):

    def check(self, name, stream, joined):
        """Lets ifdqueue send `stream` over slow links. If `joined` is true,
        ifdqueue gets the two fields of a frame in one buffer, as in MP4.
        Checks two things:

        - Either both fields of a frame are sent, or neither of them.
        - The sent frames are decoded to the same pictures as in the whole
          stream.

        Returns a list with one entry for each link. Each entry is a list with
        the indices of the frames that were sent over this link.
        """
        units = stream.units
        if joined:
            units = [(b"".join(unit for unit, of in units if of == number),
                      number) for number in range(len(stream.order))]
        path = clips.CACHE / ("ifdcodecs-%s-%d.h264" % (name, os.getpid()))
        clips.CACHE.mkdir(parents=True, exist_ok=True)
        data = b"".join(unit for unit, _ in units)
        self.addCleanup(path.unlink, missing_ok=True)
        path.write_bytes(data)
        places, at = [], 0
        for unit, _ in units:
            places.append((at, len(unit), None))
            at += len(unit)
        chosen = [choose("h264", path, places, seconds) for seconds in SLOW]
        whole, *decoded = decode("h264", data, *(
            b"".join(units[n][0] for n in sent) for sent, _, _ in chosen))
        self.assertEqual(len(set(whole)), len(stream.order))
        pictures = dict(zip(stream.shown(range(len(stream.order))), whole))
        results = []
        for seconds, (sent, frames, _), found in zip(SLOW, chosen, decoded,
                                                     strict=True):
            with self.subTest(clip=name, joined=joined, seconds=seconds):
                self.assertEqual(frames, len(stream.order))
                numbers = sorted({units[n][1] for n in sent})
                # Either both fields of a frame must have been sent, or neither
                # of them.
                self.assertEqual(sent, [n for n, (_, number)
                                        in enumerate(units)
                                        if number in numbers])
                self.assertEqual(found,
                                 [pictures[n] for n in stream.shown(numbers)])
                results.append(numbers)
        return results

    def test_fields(self):
        for name, stream in {
                "closed": h264writer.paff(5, False, False),
                "open": h264writer.paff(5, True, False),
                "fields": h264writer.paff(5, True, True)}.items():
            with self.subTest(stream=name):
                self.assertEqual(self.check(name, stream, False),
                                 self.check(name, stream, True))

    def test_long_term_references(self):
        self.check("long-term", h264writer.long_term(5), False)


if __name__ == "__main__":
    unittest.main()
