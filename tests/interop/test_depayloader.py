# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the depayloader rfc2250depay with packets of two other senders:
ffmpeg, and rtpmpvpay, the payloader of GStreamer itself. The output must be
bit-identical to the stream that was sent.

These senders never set the bits T, D, E, AN and N of the headers that RFC 2250
defines. Only the payloader rfc2250pay sets them. One test therefore replaces
the headers in ffmpeg's packets by headers with these bits.
"""

import itertools
import unittest

import clips
import peers
from mpegvideo import Stream
from rfc2250check import check, new_headers, packed_header, place, summary

KINDS = (clips.mpeg2, clips.mpeg1, clips.interlaced, clips.fields,
         clips.small, clips.decorated, clips.pulldown,
         clips.one_sequence_header, clips.no_groups, clips.closed_gops)


def stream_of(clip):
    return Stream(clip.read_bytes())


def with_true_headers(stream, packets, t=False, n=False):
    """`packets` come from a sender whose video-specific headers are not
    correct. Returns copies of the packets with the headers that RFC 2250
    requires.
    """
    placed, _ = place(stream, packets)
    flags = new_headers(stream) if n else {}
    out = []
    for item in placed:
        head = packed_header(stream, item, t, flags.get(id(item.picture)))
        body = item.packet.payload[item.header.size:]
        out.append(item.packet.but(payload=head + body, seq=len(out)))
    return out


class UnknownHosts(unittest.TestCase):

    def assert_rebuilt(self, clip, packets):
        data, = peers.depay_all([packets])
        wanted = clip.read_bytes()
        self.assertTrue(data == wanted, "%d bytes, not %d" % (
            len(data), len(wanted)))

    def test_ffmpeg(self):
        for kind, mtu in itertools.product(KINDS, (300, 1400)):
            with self.subTest(kind=kind.__name__, mtu=mtu):
                self.assert_rebuilt(kind(), peers.pay_ffmpeg(kind(), mtu))

    def test_ffmpeg_sixty_seconds(self):
        self.assert_rebuilt(clips.film(6), peers.pay_ffmpeg(clips.film(6)))

    def test_stock_payloader(self):
        for kind, mtu in itertools.product(KINDS, (300, 1400)):
            if kind is clips.mpeg1:
                continue  # The payloader only accepts MPEG-2.
            with self.subTest(kind=kind.__name__, mtu=mtu):
                self.assert_rebuilt(kind(), peers.pay_stock(kind(), mtu))

    def test_headers_that_no_other_sender_has(self):
        for kind, t, n in itertools.product(KINDS, (False, True),
                                            (False, True)):
            with self.subTest(kind=kind.__name__, t=t, n=n):
                stream = stream_of(kind())
                packets = with_true_headers(
                    stream, peers.pay_ffmpeg(kind(), 1000), t, n)
                faults = check(stream, packets, mpeg2_extension=t,
                               new_picture_bits=n, timestamps=False)
                self.assertLessEqual(
                    set(summary(faults)), {"one-picture", "header-place",
                                           "slice-place"})
                self.assert_rebuilt(kind(), packets)


if __name__ == "__main__":
    unittest.main()
