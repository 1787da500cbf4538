# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that the packets of rfc2250pay conform to RFC 2250, and that several
receivers can read them.

Without arguments, this program runs the default cases. `test_payloader.py
long` runs other cases: clips of 15 Mbit/s with every tested MTU and every
option.
"""

import functools
import itertools
import sys
import unittest

import clips
import peers
import receivers
from mpegvideo import Stream
from rfc2250check import check, packets_per_frame, summary

MTUS = (277, 300, 576, 1400, 1500, 9000)
MODES = ("slices", "none", "fill")
KINDS = (clips.mpeg2, clips.mpeg1, clips.interlaced, clips.fields)
OTHERS = (clips.small, clips.decorated, clips.pulldown,
          clips.one_sequence_header, clips.no_groups, clips.closed_gops)


@functools.cache
def stream_of(path):
    return Stream(path.read_bytes())


class Case:
    """A clip, and the properties with which the payloader rfc2250pay runs on
    it.
    """

    def __init__(self, path, mtu=1400, mode="slices", t=False, n=False):
        self.path, self.mtu, self.mode, self.t, self.n = path, mtu, mode, t, n

    @property
    def element(self):
        return ("rfc2250pay mtu=%d aggregate-mode=%s mpeg2-extension=%s "
                "new-picture-bits=%s" % (self.mtu, self.mode, self.t, self.n))

    def __str__(self):
        return "%s %s" % (self.path.name, self.element)

    def faults(self, packets):
        return check(stream_of(self.path), packets, mtu=self.mtu,
                     mode=self.mode, mpeg2_extension=self.t,
                     new_picture_bits=self.n)


class CaseTest(unittest.TestCase):

    def run_cases(self, cases):
        """Runs all `cases`: the payloader makes packets, the checker checks
        them, and the depayloader restores the stream. Returns the packets of
        each case.
        """
        packets = peers.pay_all([(c.path, c.element) for c in cases])
        back = peers.depay_all(packets)
        for case, sent, data in zip(cases, packets, back):
            with self.subTest(case=str(case)):
                faults = case.faults(sent)
                self.assertEqual(summary(faults), {}, faults[:3])
                self.assertTrue(data == stream_of(case.path).data,
                                "rfc2250depay gives %d bytes of %d" % (
                                    len(data),
                                    len(stream_of(case.path).data)))
        return packets

    def assert_fill_is_never_more(self, cases, packets):
        counts = {}
        for case, sent in zip(cases, packets):
            key = case.path, case.mtu, case.t, case.n
            counts.setdefault(key, {})[case.mode] = packets_per_frame(
                stream_of(case.path), sent)
        for key, modes in counts.items():
            with self.subTest(case=str(key)):
                more = {frame: (n, modes["slices"][frame])
                        for frame, n in modes["fill"].items()
                        if n > modes["slices"][frame]}
                self.assertEqual(more, {})
        return counts


class Rules(CaseTest):

    def test_every_kind_mtu_and_mode(self):
        for kind in KINDS:
            cases = [Case(kind(), mtu, mode)
                     for mtu, mode in itertools.product(MTUS, MODES)]
            packets = self.run_cases(cases)
            self.assert_fill_is_never_more(cases, packets)

    def test_unusual_streams(self):
        self.run_cases([Case(kind(), mtu, mode) for kind, mtu, mode in
                        itertools.product(OTHERS + (clips.talkative,),
                                          (300, 1400), MODES)])

    def test_mpeg2_extension_and_new_picture_bits(self):
        kinds = (clips.mpeg1, clips.mpeg2, clips.interlaced, clips.fields,
                 clips.decorated, clips.pulldown)
        for t, n in ((True, False), (False, True), (True, True)):
            self.run_cases([Case(kind(), mtu, mode, t, n)
                            for kind, mtu, mode in itertools.product(
                                kinds, (300, 1400), MODES)])

    def test_fifteen_megabits(self):
        cases = [Case(kind(15), 1400, mode)
                 for kind, mode in itertools.product(KINDS, MODES)]
        packets = self.run_cases(cases)
        counts = self.assert_fill_is_never_more(cases, packets)
        modes = counts[clips.mpeg2(15), 1400, False, False]
        self.assertLess(sum(modes["fill"].values()),
                        sum(modes["slices"].values()))

    def test_behind_the_parser(self):
        cases = [Case(kind()) for kind in KINDS + OTHERS]
        packets = peers.pay_all(
            [(c.path, "mpegvideoparse ! " + c.element) for c in cases])
        for case, sent in zip(cases, packets):
            with self.subTest(case=str(case)):
                faults = case.faults(sent)
                self.assertEqual(summary(faults), {}, faults[:3])

    def test_sequence_header_is_repeated(self):
        """Tests the property config-interval, with which rfc2250pay repeats
        headers of the video stream. If a payload begins with repeated headers,
        the bit S in its video-specific header (RFC 2250) must be set.
        """
        clip = clips.one_sequence_header()
        for interval in (1, -1):
            with self.subTest(interval=interval):
                packets = peers.pay(clip, "rfc2250pay config-interval=%d"
                                    % interval)
                faults = check(stream_of(clip), packets, mtu=1400)
                self.assertEqual(summary(faults), {}, faults[:3])
                marked = sum(bool(p.payload[2] & 0x20) for p in packets)
                groups = len(stream_of(clip).groups)
                self.assertEqual(marked, groups if interval < 0 else 2)

    def test_too_small_an_mtu_is_a_clear_error(self):
        with self.assertRaises(peers.PeerFailed) as caught:
            peers.pay(clips.small(), "rfc2250pay mtu=100")
        self.assertIn("mtu", str(caught.exception).lower())


class Understood(unittest.TestCase):
    """Checks that other receivers can read the packets. Receivers that rely on
    the video-specific header must get every slice. Receivers that ignore this
    header must get every byte.
    """

    def test_live555_and_mediamtx_rules(self):
        for kind, mode, mtu in itertools.product(KINDS + OTHERS, MODES,
                                                 (300, 1400)):
            with self.subTest(kind=kind.__name__, mode=mode, mtu=mtu):
                stream = stream_of(kind())
                packets = peers.pay(kind(), Case(kind(), mtu, mode).element)
                delivered = receivers.live555(packets)
                self.assertEqual(receivers.lacks_slices(stream, delivered),
                                 [])
                frames, refused = receivers.gortsplib(packets)
                ends = sum(p.payload[4:] == b"\0\0\1\xb7" for p in packets)
                self.assertEqual(refused, ends)
                self.assertEqual(len(frames), len(stream.frames))
                self.assertEqual(receivers.lacks_slices(
                    stream, b"".join(frames)), [])

    def test_stock_depayloader_rebuilds_every_byte(self):
        for kind in KINDS + OTHERS:
            with self.subTest(kind=kind.__name__), peers.workdir() as work:
                peers.gst("filesrc %s ! rfc2250pay ! rtpmpvdepay ! %s"
                          % (peers.location(kind()),
                             peers.filesink(work / "out")))
                data = (work / "out").read_bytes()
                self.assertTrue(data == stream_of(kind()).data, len(data))

    def test_ffmpeg_rebuilds_every_byte(self):
        for kind, mode in itertools.product(KINDS + OTHERS, MODES):
            with self.subTest(kind=kind.__name__, mode=mode):
                stream = stream_of(kind())
                packets = peers.pay(kind(), Case(kind(), mode=mode).element)
                data = peers.depay_ffmpeg(packets, stream.mpeg2)
                self.assertTrue(data == stream.data, len(data))


class Long(CaseTest):

    def test_fifteen_megabits_everywhere(self):
        for kind, t, n in itertools.product(KINDS, (False, True),
                                            (False, True)):
            # With `t`, rfc2250pay sends the MPEG-2 header extension. Its
            # minimum MTU is then 8 bytes larger than MTUS[0], so MTUS[0] is
            # left out.
            mtus = MTUS[1:] if t else MTUS
            cases = [Case(kind(15), mtu, mode, t, n)
                     for mtu, mode in itertools.product(mtus, MODES)]
            packets = self.run_cases(cases)
            self.assert_fill_is_never_more(cases, packets)


if __name__ == "__main__":
    if sys.argv[1:2] == ["long"]:
        unittest.main(argv=[sys.argv[0], "Long"] + sys.argv[2:])
    default = unittest.defaultTestLoader.loadTestsFromTestCase
    names = sys.argv[1:] or ["Rules", "Understood"]
    unittest.main(argv=[sys.argv[0]] + names)
