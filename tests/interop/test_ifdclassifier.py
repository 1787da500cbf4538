# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the project's classifier, which finds the type of each frame in H.264
and H.265 streams. The types must agree with the headers of the NAL units.
ffmpeg reads these headers with its filter trace_headers.

The tests also decode parts of each stream. If the B-frames are dropped, the
other frames must decode without errors, to the same pictures as in the
complete stream. The same must hold for a stream that begins at any I-frame, if
the leading frames of this I-frame are dropped. Leading frames follow an
I-frame in the stream, but are shown before it.
"""

import functools
import os
import pathlib
import re
import subprocess
import unittest

import clips
import decoder
import peers

PROGRAM = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"]) / \
    "tests" / "interop" / "ifdclassify"
FRAMES = 90
# This number is added to the presentation times of all frames. Some frames may
# be shown before the first frame in decoding order. Their presentation times
# could be negative without this addition.
FIRST_PTS = 1 << 40
# A message of ffmpeg that the tests ignore, because it does not report an
# error. An I-frame may tell the decoder to mark earlier frames as unused
# (H.264, 8.2.5.4). If decoding begins at this I-frame, the decoder does not
# have the earlier frames, and prints the message.
NOTHING_TO_FORGET = r"\] mmco: unref short failure$"

H264 = {
    "closed": "keyint=24:bframes=2:b-pyramid=none",
    "closed-pyramid": "keyint=24:bframes=3:b-pyramid=normal",
    "no-b": "keyint=24:bframes=0",
    "open": "open-gop=1:keyint=16:min-keyint=2:bframes=2:b-pyramid=none",
    "open-strict": "open-gop=1:keyint=20:bframes=3:b-adapt=0:b-pyramid=strict",
    "open-normal": "open-gop=1:keyint=14:bframes=3:b-adapt=2:b-pyramid=normal",
    "open-slices": "open-gop=1:keyint=16:bframes=1:slices=4",
    "refresh": "intra-refresh=1:keyint=20:bframes=2",
    "interlaced": "keyint=24:bframes=2:interlaced=1:open-gop=1",
}
H265 = {
    "closed": "open-gop=0:keyint=24:bframes=2:b-pyramid=0",
    "radl": "open-gop=0:keyint=24:bframes=3:b-adapt=0:radl=2",
    "no-b": "keyint=24:bframes=0",
    "open": "open-gop=1:keyint=16:min-keyint=4:bframes=3:b-adapt=0",
    "open-no-pyramid": "open-gop=1:keyint=16:bframes=3:b-pyramid=0",
    "layers": "open-gop=1:keyint=16:bframes=3:b-adapt=0:temporal-layers=1",
}


def assert_no_faults(printed):
    """Checks that `printed`, the output of ffmpeg, contains no error.
    Otherwise raises AssertionError.
    """
    faults = [line for line in printed.splitlines()
              if line.strip() and not re.search(NOTHING_TO_FORGET, line)]
    assert not faults, faults


def sized(library):
    return "-frames:v %d -vf scale=320:240 -r 25 -pix_fmt yuv420p " \
        "-b:v 400k -c:v %s -preset fast" % (FRAMES, library)


class Film:
    """A film in two forms: as a byte-stream, and as MP4, in which each NAL
    unit has a length field and the parameter sets are in the codec data."""

    def __init__(self, codec, name, params, options=sized):
        self.codec = codec
        library, option = ("libx264", "-x264-params") if codec == "h264" \
            else ("libx265", "-x265-params")
        quiet = "" if codec == "h264" else ":log-level=error"
        self.mp4 = clips._ffmpeg(
            "%s-%s.mp4" % (codec, name), "%s %s %s%s" % (
                options(library), option, params, quiet))
        self.stream = clips._cached("%s-%s.%s" % (codec, name, codec),
                                    self._make_stream)
        self.bytes = self.stream.read_bytes()
        self.packets = self._packets(self.mp4)
        self.units = self._packets(self.stream)
        self.pts = [pts for _, _, pts in self.packets]
        self.kinds = self.classify(self.stream, self.units)

    def _make_stream(self, path):
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", str(self.mp4),
                        "-c", "copy", "-f", self.codec, str(path)], check=True)

    @staticmethod
    def _packets(path):
        """Returns a list with a tuple (offset, size, presentation time) for
        each access unit in the file `path`. The offset and the size are in
        bytes.
        """
        text, _ = peers.run(
            ["ffprobe", "-v", "error", "-select_streams", "v", "-of",
             "csv=p=0", "-show_entries", "packet=pts,size,pos", path])
        found = []
        for line in text.decode().split():
            pts, size, offset = line.split(",")[:3]
            found.append((int(offset), int(size),
                          None if pts == "N/A" else int(pts)))
        return found

    def codec_data(self):
        text, _ = peers.run(
            ["ffprobe", "-v", "error", "-show_data", "-of", "default=nw=1",
             "-show_entries", "stream=extradata", self.mp4])
        lines = re.findall(r"^[0-9a-f]{8}: ((?:[0-9a-f]{2,4} )+)",
                           text.decode(), re.M)
        return "".join(lines).replace(" ", "")

    def classify(self, path, units, *codec_data):
        lines = "".join("%d %d %d\n" % (offset, size, FIRST_PTS + pts)
                        for (offset, size, _), pts in zip(units, self.pts))
        result = subprocess.run(
            [str(PROGRAM), self.codec, str(path), *codec_data], check=True,
            input=lines.encode(), stdout=subprocess.PIPE)
        *kinds, malformed = result.stdout.decode().split()
        assert malformed == "0", malformed
        return kinds

    def traced(self):
        """Reads the header fields of the stream with ffmpeg. Returns a list of
        lists, one for each access unit. Each of these lists contains the
        fields of the access unit as tuples (name, value), in the order of the
        stream.
        """
        _, text = peers.run(["ffmpeg", "-hide_banner", "-nostats", "-i",
                             self.stream, "-c", "copy", "-bsf:v",
                             "trace_headers", "-f", "null", "-"])
        found = []
        for line in text.splitlines():
            if "Packet: " in line:
                found.append([])
            field = re.search(r"\] \d+ +(\w+) +[01]+ = (-?\d+)$", line)
            if field and found:
                found[-1].append((field[1], int(field[2])))
        return found

    def parameter_sets(self):
        """Returns the parameter sets that precede the first SEI message or
        slice of the byte-stream.
        """
        kinds = {7, 8} if self.codec == "h264" else {32, 33, 34}
        out = b""
        for unit in re.split(b"\0*\0\0\1", self.bytes)[1:]:
            kind = unit[0] & 31 if self.codec == "h264" else unit[0] >> 1
            if kind in kinds:
                out += b"\0\0\0\1" + unit
            elif out:
                break
        return out

    def decode(self, *choices):
        """Decodes parts of the film. Each of `choices` is a list of indices of
        access units. Returns for each list the hashes of its pictures. Asserts
        that the decoder reports no errors.
        """
        head = self.parameter_sets()
        hashes, printed = decoder.hash_pictures(self.codec, [
            head + b"".join(self.bytes[offset:offset + size]
                            for offset, size, _ in (self.units[n]
                                                    for n in numbers))
            for numbers in choices], "repeat+error")
        assert_no_faults(printed)
        return hashes

    def shown(self, numbers):
        """Sorts frames into display order. `numbers` contains the indices of
        these frames in the stream. Returns the sorted list of the indices.
        """
        return sorted(numbers, key=lambda n: self.pts[n])


@functools.cache
def get_film(codec, name, params):
    return Film(codec, name, params)


def films(codec, names):
    for name, params in names.items():
        yield name, get_film(codec, name, params)


def all_films():
    for codec, names in (("h264", H264), ("hevc", H265)):
        for name, film in films(codec, names):
            yield "%s %s" % (codec, name), film


def expected_h264(fields):
    """Returns the picture type that the classifier must find. The type follows
    from nal_unit_type, nal_ref_idc and the recovery point in the stream. The
    returned type does not say whether the picture is leading or trailing.
    """
    reference, recovery, slices = 0, None, []
    for name, value in fields:
        if name == "nal_ref_idc":
            reference = value
        elif name == "recovery_frame_cnt":
            recovery = value
        elif name == "nal_unit_type" and 1 <= value <= 5:
            slices.append((value, reference))
    if slices[0][0] == 5:
        return "Ic"
    if not any(reference for _, reference in slices):
        return "B"
    if recovery is None:
        return "P"
    return "Pr" if recovery else "I"


def expected_h265(access_units):
    """Yields the expected type of each access unit. The type follows from
    three header fields: nal_unit_type (H.265, table 7-1), the temporal
    sub-layer, and the number of sub-layers in the SPS."""
    names = {**dict.fromkeys((16, 17, 18), "Ix"),
             **dict.fromkeys((19, 20), "Ic"), 21: "I"}
    highest = None
    for fields in access_units:
        kind = None
        for name, value in fields:
            if name == "nal_unit_type" and value < 32 and kind is None:
                kind = value
            elif name == "nuh_temporal_id_plus1" and kind is not None:
                layer = value - 1
                break
            elif name == "sps_max_sub_layers_minus1":
                highest = value
        if kind in names:
            yield names[kind]
            continue
        letter = "B" if kind <= 14 and kind % 2 == 0 and layer == highest \
            else "P"
        yield letter + ("l" if kind in (8, 9) else "t")


class AgainstTheTrace(unittest.TestCase):

    def test_h264_types(self):
        seen = set()
        for name, film in films("h264", H264):
            with self.subTest(film=name):
                traced = film.traced()
                self.assertEqual(len(traced), len(film.kinds))
                self.assertEqual([kind.rstrip("lt") for kind in film.kinds],
                                 list(map(expected_h264, traced)))
                seen.update(film.kinds)
        self.assertEqual(seen, {"Ic", "I", "Pt", "Pl", "Prt", "Bt", "Bl"})

    def test_h265_types(self):
        seen = set()
        for name, film in films("hevc", H265):
            with self.subTest(film=name):
                self.assertEqual(film.kinds,
                                 list(expected_h265(film.traced())))
                seen.update(film.kinds)
        self.assertEqual(seen, {"Ic", "I", "Pt", "Pl", "Bt", "Bl"})

    def test_lengths_and_start_codes_say_the_same(self):
        for name, film in all_films():
            with self.subTest(film=name):
                self.assertEqual(len(film.packets), FRAMES)
                self.assertEqual(
                    film.classify(film.mp4, film.packets, film.codec_data()),
                    film.kinds)


class AgainstTheDecoder(unittest.TestCase):

    def test_nothing_refers_to_b(self):
        for name, film in all_films():
            with self.subTest(film=name):
                kept = [n for n, kind in enumerate(film.kinds)
                        if kind[0] != "B"]
                if "no-b" in name:
                    self.assertEqual(len(kept), FRAMES)
                else:
                    self.assertLess(len(kept), FRAMES * 0.8)
                whole, decoded = film.decode(range(FRAMES), kept)
                self.assertEqual(len(whole), FRAMES)
                pictures = dict(zip(film.shown(range(FRAMES)), whole))
                self.assertEqual(decoded,
                                 [pictures[n] for n in film.shown(kept)])

    def test_one_can_begin_with_any_i_and_without_leading_frames(self):
        for name, film in all_films():
            # The test decodes each film from each of its I-frames on. The film
            # "h264 refresh" is skipped, because its first picture is its only
            # I-frame.
            if name == "h264 refresh":
                continue
            begins = [n for n, kind in enumerate(film.kinds)
                      if kind[0] == "I"]
            self.assertGreater(len(begins), 2)
            choices = [[n for n in range(first, end)
                        if "l" not in film.kinds[n]]
                       for first, end in zip(begins, begins[1:] + [FRAMES])]
            whole, *decoded = film.decode(range(FRAMES), *choices)
            pictures = dict(zip(film.shown(range(FRAMES)), whole))
            for first, kept, found in zip(begins, choices, decoded,
                                          strict=True):
                with self.subTest(film=name, first=first):
                    self.assertEqual(found,
                                     [pictures[n] for n in film.shown(kept)])


if __name__ == "__main__":
    unittest.main()
