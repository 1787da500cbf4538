# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the output of the receiver when a packet is lost, duplicated or
reordered, or comes from another source.

The receiver is rfc2250depay followed by mpegstat. It runs once for each packet
of the first GOP, and once for each packet of a GOP in the middle of the
stream. In each run, only this packet is lost. The expected result follows from
the elementary stream and from the frames of which the lost packet carried a
part.
"""

import random
import unittest
from collections import Counter

import clips
import peers
from framelist import lost_by_type, of, read_log
from mpegvideo import Stream
from rfc2250check import place
from rtpfile import write_rfc4571
from test_depayloader import with_true_headers


class Outcome:
    """The output of the receiver for one list of packets: the stream, and the
    log of mpegstat."""

    def __init__(self, data, log):
        self.data = data
        self.frames = of(log, "frame")
        self.lost = lost_by_type(log)
        self.incomplete = len(of(log, "incomplete"))


def receive(variants, element="rfc2250depay", at_once=16):
    outcomes = []
    for first in range(0, len(variants), at_once):
        with peers.workdir() as work:
            names = []
            for n, packets in enumerate(variants[first:first + at_once]):
                names.append([work / ("%d.%s" % (n, kind))
                              for kind in ("rtp", "csv", "es")])
                write_rfc4571(names[-1][0], packets)
            peers.gst(*(peers.depay_line(
                rtp, es, "%s ! tee name=t%d t%d. ! queue ! mpegstat "
                "%s ! fakesink t%d. ! queue" % (element, n, n,
                                                peers.location(log), n))
                for n, (rtp, log, es) in enumerate(names)))
            outcomes += [Outcome(es.read_bytes(), read_log(log))
                         for _, log, es in names]
    return outcomes


class LossTest(unittest.TestCase):
    """Base class of the loss tests. `packets` contains all packets that the
    sender has sent. `placed` contains, for each packet, the picture to which
    the packet belongs.
    """

    @classmethod
    def setUpClass(cls):
        cls.stream = Stream(cls.clip().read_bytes())
        cls.packets = cls.send(cls.clip())
        cls.placed, faults = place(cls.stream, cls.packets)
        assert not faults, faults
        starts = [f.coding for f in cls.stream.frames
                  if f.pictures[0].type == 1] + [len(cls.stream.frames)]
        cls.gops = list(zip(starts, starts[1:]))

    clip = staticmethod(clips.small)

    @staticmethod
    def send(clip):
        return peers.pay(clip, "rfc2250pay mtu=1000")

    def positions(self, gop):
        first, end = self.gops[gop]
        return [item.index for item in self.placed
                if first <= item.picture.frame.coding < end]

    def without(self, *indices):
        return [p for n, p in enumerate(self.packets) if n not in indices]

    def frames_that_lost(self, indices):
        return {self.placed[n].picture.frame.coding for n in indices}

    def bytes_but(self, lost):
        data = self.stream.data
        return b"".join(data[f.start:f.end] for f in self.stream.frames
                        if f.coding not in lost)

    def assert_frames(self, outcome, lost, what):
        with self.subTest(what):
            wanted = self.bytes_but(lost)
            self.assertTrue(outcome.data == wanted, "%d bytes, not %d" % (
                len(outcome.data), len(wanted)))

    def assert_report(self, outcome, lost, what):
        with self.subTest(what + ", reported"):
            types = Counter(f.letter for f in self.stream.frames
                            if f.coding in lost)
            self.assertEqual(outcome.lost, types)
            self.assertEqual(outcome.incomplete, 0)
            kept = [f for f in self.stream.frames if f.coding not in lost]
            self.assertEqual(
                [(row["type"], row["size_bytes"]) for row in outcome.frames],
                [(f.letter, f.end - f.start) for f in kept])
            self.assertEqual(
                [(row["coding_number"], row["display_number"])
                 for row in outcome.frames],
                [(f.coding, f.display) for f in kept])


class LossAtEveryPosition(LossTest):

    def lose_each_of(self, gop):
        indices = self.positions(gop)
        outcomes = receive([self.without(n) for n in indices])
        for n, outcome in zip(indices, outcomes):
            lost = self.frames_that_lost([n])
            frame = self.placed[n].picture.frame
            what = "packet %d, of %s frame %d" % (n, frame.letter,
                                                  frame.coding)
            yield what, lost, outcome

    def test_mid_stream_gop(self):
        for what, lost, outcome in self.lose_each_of(2):
            self.assert_frames(outcome, lost, what)
            self.assert_report(outcome, lost, what)

    def test_first_gop(self):
        for what, lost, outcome in self.lose_each_of(0):
            self.assert_frames(outcome, lost, what)
            # If the first frame of the stream is lost, the receiver cannot
            # notice the loss, so its report of lost frames is not checked.
            if lost != {0}:
                self.assert_report(outcome, lost, what)

    def test_whole_frames_and_runs_of_them(self):
        first, end = self.gops[2]
        sets = [{n} for n in range(first, end)]
        sets += [set(range(n, n + length)) for length in (2, 3, 5)
                 for n in range(first, end - length)]
        outcomes = receive([
            [p for p, item in zip(self.packets, self.placed)
             if item.picture.frame.coding not in lost] for lost in sets])
        for lost, outcome in zip(sets, outcomes):
            what = "frames %s" % sorted(lost)
            self.assert_frames(outcome, lost, what)
            self.assert_report(outcome, lost, what)


class LossOfFfmpegsPackets(LossAtEveryPosition):
    """Repeats the tests of LossAtEveryPosition with ffmpeg as the sender.
    ffmpeg writes wrong values into the video-specific headers, so these
    headers are corrected first.
    """

    @staticmethod
    def send(clip):
        packets = peers.pay_ffmpeg(clip, 1000)
        return with_true_headers(Stream(clip.read_bytes()), packets)


class LossWithoutGroups(LossAtEveryPosition):
    clip = staticmethod(clips.no_groups)

    test_whole_frames_and_runs_of_them = None


class LossOfFields(LossAtEveryPosition):
    clip = staticmethod(clips.fields)

    test_whole_frames_and_runs_of_them = None


class Disorder(LossTest):

    def each_seventh(self):
        return self.positions(1)[::7] + self.positions(2)[::7]

    def assert_all_come(self, variants, element="rfc2250depay"):
        for n, outcome in enumerate(receive(variants, element)):
            self.assert_frames(outcome, set(), "variant %d" % n)
            self.assert_report(outcome, set(), "variant %d" % n)

    def test_duplicates_are_ignored(self):
        self.assert_all_come([
            self.packets[:n + late] + [self.packets[n]]
            + self.packets[n + late:]
            for n in self.each_seventh() for late in (1, 3)])

    def test_neighbours_are_swapped_back(self):
        self.assert_all_come([
            self.packets[:n] + [self.packets[n + 1], self.packets[n]]
            + self.packets[n + 2:] for n in self.each_seventh()],
            "rfc2250depay reorder-window=4")

    def test_cleared_markers_cost_nothing(self):
        self.assert_all_come(
            [[p.but(marker=False) for p in self.packets]]
            + [self.packets[:n] + [self.packets[n].but(marker=False)]
               + self.packets[n + 1:] for n in self.each_seventh()])

    def test_a_new_ssrc_continues_at_the_next_frame(self):
        variants = []
        for frame in (5, 12, 13, 30):
            cut = next(i.index for i in self.placed
                       if i.picture.frame.coding == frame)
            variants.append(self.packets[:cut] + [
                p.but(ssrc=0xabcdef01, seq=(p.seq + 30000) & 0xffff,
                      timestamp=(p.timestamp + 12345678) & 0xffffffff)
                for p in self.packets[cut:]])
        for outcome in receive(variants):
            self.assert_frames(outcome, set(), "new SSRC")

    def test_garbage_is_dropped(self):
        """Inserts invalid packets between the valid packets. Some of them have
        the same sequence number as the next valid packet. The receiver must
        nevertheless output all frames.
        """
        rng = random.Random(2250)
        def garbage(near):
            noise = bytes(rng.randrange(256) for _ in range(40))
            return rng.choice([
                noise,  # no RTP at all
                near.but(payload=b"").pack(),
                near.but(payload=b"\0\0\x18").pack(),
                near.but(pt=96, payload=noise).pack(),
                near.but(pt=96, payload=noise, seq=77).pack(),
                b"\x80\x20\0\1"])
        variants = []
        for _ in range(16):
            variant = []
            for packet in self.packets:
                if rng.random() < 0.05:
                    variant.append(garbage(packet))
                variant.append(packet)
            variants.append(variant)
        self.assert_all_come(variants)

    def test_packets_without_payload_cost_nothing(self):
        """Inserts packets without payload into the stream, each with its own
        sequence number. RFC 6263 uses such packets as keep-alives (section
        4.1). No frame of the stream may be missing in the output.
        """
        keeping = []
        for packet in self.packets:
            if len(keeping) % 20 == 7:
                keeping.append(packet.but(payload=b"", marker=False))
            keeping.append(packet)
        first = self.packets[0].seq
        self.assert_all_come([[p.but(seq=(first + n) & 0xffff)
                               for n, p in enumerate(keeping)]])

    def test_sequence_numbers_wrap(self):
        shift = 65536 - self.packets[0].seq - self.positions(1)[3]
        self.assert_all_come([[p.but(seq=(p.seq + shift) & 0xffff)
                               for p in self.packets]])


class Conceal(LossTest):
    """Tests the value "conceal" of the property on-loss of rfc2250depay. With
    this value, damaged pictures are output as far as possible. The output must
    contain the header of each picture and all slices that were received
    completely. If the header of a picture was lost, the whole picture may be
    missing.
    """

    def test_each_position(self):
        indices = self.positions(2)
        results = peers.depay_all([self.without(n) for n in indices],
                                  "rfc2250depay on-loss=conceal")
        for n, data in zip(indices, results):
            with self.subTest(packet=n):
                self.assert_intact(n, data)

    def assert_intact(self, n, data):
        item = self.placed[n]
        rebuilt = Stream(data)
        wanted = []
        for picture in self.stream.pictures:
            whole = [span for span in picture.slices
                     if span[1] <= item.start or span[0] >= item.end]
            wanted.append((picture, [self.stream.bytes_of(span)
                                     for span in whole]))
        headless = item.picture.header[0] >= item.start \
            and item.picture.header[0] < item.end
        if headless and len(rebuilt.pictures) < len(wanted):
            wanted = [(p, s) for p, s in wanted if p is not item.picture]
        self.assertEqual(
            [(p.letter, p.temporal_reference) for p in rebuilt.pictures],
            [(p.letter, p.temporal_reference) for p, _ in wanted])
        for got, (picture, slices) in zip(rebuilt.pictures, wanted):
            self.assertEqual([rebuilt.bytes_of(s) for s in got.slices],
                             slices)
            self.assertEqual(got.parameters, picture.parameters)


class Pass(LossTest):
    """Tests the value "pass" of the property on-loss of rfc2250depay. With
    this value, rfc2250depay outputs all bytes that arrive, even if packets are
    missing. The element mpegstat must detect the damage.
    """

    def test_each_position(self):
        indices = self.positions(2)
        outcomes = receive([self.without(n) for n in indices],
                           "rfc2250depay on-loss=pass")
        for n, outcome in zip(indices, outcomes):
            with self.subTest(packet=n):
                gap = self.placed[n]
                data = self.stream.data
                self.assertTrue(outcome.data == data[:gap.start]
                                + data[gap.end:], len(outcome.data))
                damaged = self.frames_that_lost([n])
                self.assertEqual(
                    [row["coding_number"] for row in outcome.frames],
                    [f.coding for f in self.stream.frames
                     if f.coding not in damaged])
                self.assertEqual(sum(outcome.lost.values())
                                 + outcome.incomplete, len(damaged))

class ConcealFromExtension(Conceal):
    """Tests the bit T of RFC 2250. If T is 1, each packet contains all fields
    of the picture header. If the packet with the picture header itself is
    lost, the receiver must rebuild this header from another packet of the
    picture.
    """

    @staticmethod
    def send(clip):
        return peers.pay(clip, "rfc2250pay mtu=1000 mpeg2-extension=true")

    def assert_intact(self, n, data):
        super().assert_intact(n, data)
        alone = [i for i in self.placed
                 if i.picture is self.placed[n].picture]
        missing = len(alone) == 1
        self.assertEqual(len(Stream(data).pictures),
                         len(self.stream.pictures) - missing)


class ConcealMpeg1(ConcealFromExtension):
    """Repeats the tests of ConcealFromExtension with MPEG-1. In MPEG-1, the
    video-specific header of section 3.4 of RFC 2250 contains all fields of the
    picture header. Each packet has a video-specific header, so a lost picture
    header can be rebuilt without an extension.
    """

    clip = staticmethod(lambda: clips.mpeg1(frames=48))

    @staticmethod
    def send(clip):
        return peers.pay(clip, "rfc2250pay mtu=1000")


if __name__ == "__main__":
    unittest.main()
