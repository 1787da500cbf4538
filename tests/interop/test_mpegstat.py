# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the log that the element mpegstat writes about the frames of a stream.
The log must agree with the output of ffprobe and with the elementary stream
itself.
"""

import unittest
from collections import Counter

import clips
import peers
from framelist import lost_by_type, of, read_log
from mpegvideo import Stream

KINDS = (clips.small, clips.mpeg2, clips.mpeg1, clips.interlaced,
         clips.fields, clips.decorated, clips.pulldown,
         clips.one_sequence_header, clips.no_groups, clips.closed_gops)


def log_of(clip, *elements):
    """Sends the file `clip` through the pipeline elements `elements` and then
    through mpegstat. Returns the log that mpegstat has written.
    """
    with peers.workdir() as work:
        peers.gst(" ! ".join(
            ["filesrc %s" % peers.location(clip), *elements,
             "mpegstat %s" % peers.location(work / "csv"), "fakesink"]))
        return read_log(work / "csv")


def ffprobe(clip, what, *names):
    text, _ = peers.run(["ffprobe", "-v", "error", "-of", "csv=p=0",
                         "-show_entries", "%s=%s" % (what, ",".join(names)),
                         "-select_streams", "v", clip])
    return [line.split(",") for line in text.decode().split()]


class AgainstFfprobe(unittest.TestCase):

    def test_counts_by_type(self):
        for clip in (clips.film(6), clips.small(), clips.mpeg1(),
                     clips.interlaced()):
            with self.subTest(clip=clip.name):
                seen = Counter(row["type"] for row in
                               of(log_of(clip), "frame"))
                probed = Counter(words[0] for words in
                                 ffprobe(clip, "frame", "pict_type"))
                self.assertEqual(seen, probed)

    def test_sizes(self):
        for clip in (clips.film(6), clips.small(), clips.mpeg1(),
                     clips.interlaced(), clips.fields()):
            with self.subTest(clip=clip.name):
                sizes = [row["size_bytes"] for row in
                         of(log_of(clip), "frame")]
                probed = [int(words[0]) for words in
                          ffprobe(clip, "packet", "size")]
                self.assertEqual(sizes, probed)


class AgainstTheStream(unittest.TestCase):

    def assert_log(self, clip, rows):
        stream = Stream(clip.read_bytes())
        frames = of(rows, "frame")
        columns = ("type", "temporal_reference", "coding_number",
                   "display_number", "size_bytes")
        self.assertEqual(
            [tuple(row[name] for name in columns) for row in frames],
            [(f.letter, f.pictures[0].temporal_reference, f.coding,
              f.display, f.coded_end - f.start) for f in stream.frames])
        first = frames[0]["pts_90khz"] - round(
            stream.frames[0].pts * 90000)
        for row, frame in zip(frames, stream.frames):
            self.assertAlmostEqual(row["pts_90khz"] - first,
                                   float(frame.pts * 90000), delta=1)
        self.assertEqual(
            [(row["time_code"], row["closed_gop"], row["broken_link"],
              row["pictures"]) for row in of(rows, "gop")],
            [(g.time_code, g.closed, g.broken, g.pictures)
             for g in stream.groups])
        for event in ("lost", "incomplete"):
            self.assertEqual(of(rows, event), [])

    def test_every_kind(self):
        for kind in KINDS:
            with self.subTest(kind=kind.__name__):
                self.assert_log(kind(), log_of(kind()))

    def test_behind_the_parser(self):
        for kind in KINDS:
            with self.subTest(kind=kind.__name__):
                self.assert_log(kind(), log_of(kind(), "mpegvideoparse"))

    def test_behind_the_pair(self):
        for kind in KINDS:
            with self.subTest(kind=kind.__name__):
                self.assert_log(kind(), log_of(kind(), "rfc2250pay",
                                               "rfc2250depay"))

    def test_passes_every_byte(self):
        for kind in KINDS:
            with self.subTest(kind=kind.__name__), peers.workdir() as work:
                peers.gst("filesrc %s ! mpegstat ! %s"
                          % (peers.location(kind()),
                             peers.filesink(work / "out")))
                self.assertTrue((work / "out").read_bytes()
                                == kind().read_bytes())


class Damage(unittest.TestCase):
    """Tests damaged streams. The damage has produced a sequence end code
    inside a slice, and an element may take this code for the end of the
    stream. The elements mpegvideoparse, mpegstat, rfc2250pay and rfc2250depay
    must nevertheless pass every byte.
    """

    PERIOD = 97  # One of 97 slices is damaged.

    def damaged(self, kind):
        data = bytearray(kind().read_bytes())
        slices = [place for frame in Stream(bytes(data)).frames
                  for picture in frame.pictures for place in picture.slices]
        long = [start for start, end in slices if end - start > 40]
        for start in long[self.PERIOD // 2::self.PERIOD]:
            data[start + 20:start + 24] = b"\0\0\1\xb7"
        return bytes(data)

    def test_passes_every_byte_as_the_parser_does(self):
        for kind in (clips.mpeg1, clips.mpeg2):
            with self.subTest(kind=kind.__name__), peers.workdir() as work:
                data = self.damaged(kind)
                self.assertNotEqual(data, kind().read_bytes())
                (work / "in").write_bytes(data)
                elements = ("mpegvideoparse",
                            "mpegstat discard-incomplete=false",
                            "rfc2250pay ! rfc2250depay")
                peers.gst(*("filesrc %s ! %s ! %s" % (
                    peers.location(work / "in"), element,
                    peers.filesink(work / str(number)))
                    for number, element in enumerate(elements)))
                for number, element in enumerate(elements):
                    self.assertTrue((work / str(number)).read_bytes() == data,
                                    element)


class LostFrames(unittest.TestCase):
    """Cuts some frames out of a stream. Checks that mpegstat reports exactly
    these frames as lost, with the correct number for each frame type.
    """

    KINDS = clips.small, clips.closed_gops, clips.no_groups, clips.fields, \
        clips.one_sequence_header, clips.mpeg1_gops

    def logs_without(self, stream, runs, at_once=16):
        data = stream.data
        for first in range(0, len(runs), at_once):
            with peers.workdir() as work:
                lines = []
                part = runs[first:first + at_once]
                for n, run in enumerate(part):
                    (work / ("%d.es" % n)).write_bytes(b"".join(
                        data[f.start:f.end] for f in stream.frames
                        if f.coding not in run))
                    lines.append(
                        "filesrc %s ! mpegstat %s ! fakesink"
                        % (peers.location(work / ("%d.es" % n)),
                           peers.location(work / ("%d.csv" % n))))
                peers.gst(*lines)
                for n, run in enumerate(part):
                    yield run, read_log(work / ("%d.csv" % n))

    def assert_reported(self, stream, run, rows):
        kept = [f for f in stream.frames if f.coding not in run]
        wanted = Counter(f.letter for f in stream.frames if f.coding in run)
        self.assertEqual(lost_by_type(rows), wanted)
        self.assertEqual([(row["coding_number"], row["display_number"])
                          for row in of(rows, "frame")],
                         [(f.coding, f.display) for f in kept])

    def test_runs_in_mid_stream(self):
        for kind in self.KINDS:
            stream = Stream(kind().read_bytes())
            starts = [f.coding for f in stream.frames if f.letter == "I"]
            # The test never removes frames of the first two groups of
            # pictures, because mpegstat learns the order of the frame types
            # from these groups. It never removes frames of the last group
            # either, because mpegstat cannot notice a loss at the end of the
            # stream.
            runs = [range(n, n + length) for length in (1, 2, 3, 5)
                    for n in range(starts[2], starts[-2] + 1)]
            for run, rows in self.logs_without(stream, runs):
                with self.subTest(kind=kind.__name__, lost=str(run)):
                    self.assert_reported(stream, run, rows)

    def test_whole_groups(self):
        for kind in self.KINDS:
            if kind is clips.no_groups:
                # Without GOP headers, mpegstat cannot know how many frames are
                # missing, so this clip is left out.
                continue
            stream = Stream(kind().read_bytes())
            starts = [f.coding for f in stream.frames if f.letter == "I"]
            missing = range(starts[-3], starts[-2])
            for run, rows in self.logs_without(stream, [missing]):
                with self.subTest(kind=kind.__name__):
                    self.assert_reported(stream, run, rows)


class AtBothEnds(unittest.TestCase):
    """Checks that a log of the sender and a log of the receiver can be
    compared. The element mpegstat writes both logs. Each frame must have the
    same values of hash and size_bytes in both logs.
    """

    def test_join(self):
        clip = clips.small()
        with peers.workdir() as work:
            peers.gst("filesrc %s ! mpegstat %s ! "
                      "rfc2250pay mtu=600 ! rfc2250depay ! "
                      "mpegstat %s ! fakesink"
                      % tuple(map(peers.location,
                                  (clip, work / "a", work / "b"))))
            ends = [of(read_log(work / name), "frame") for name in "ab"]
        keys = [[(row["hash"], row["size_bytes"]) for row in end]
                for end in ends]
        self.assertEqual(keys[0], keys[1])
        self.assertEqual(len(set(keys[0])), len(keys[0]))
        self.assertTrue(all(len(key[0]) == 16 for key in keys[0]))

    def test_latency_of_a_paced_stream(self):
        rows = of(log_of(clips.small(), "mpegstat", "clocksync"), "frame")
        self.assertEqual(rows[0]["latency_ns"], 0)
        for number, row in enumerate(rows):
            self.assertEqual(row["expected_ns"], number * 40_000_000)
            self.assertEqual(row["latency_ns"],
                             row["arrival_ns"] - row["expected_ns"]
                             - rows[0]["arrival_ns"])
        late = sorted(row["latency_ns"] for row in rows)
        # The pipeline delivers the frames at the frame rate of the stream, so
        # the median latency is close to 0, even on a busy machine.
        self.assertLess(abs(late[len(late) // 2]), 200_000_000)


if __name__ == "__main__":
    unittest.main()
