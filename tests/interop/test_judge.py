# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the checker of RTP packets itself, on bytes that were written by hand
and on senders whose faults are known.

A checker that accepts everything would accept a wrong payloader, too. These
tests show that each rule finds the fault for which it was made, and that no
other rule reports this fault.
"""

import unittest

import clips
import peers
import receivers
from mpegvideo import Stream
from rfc2250check import check, expected_extension, summary
from rtpfile import (
    RtpPacket,
    read_pcap,
    read_rfc4571,
    write_pcap,
    write_rfc4571,
)

SEQUENCE = bytes.fromhex("000001b3 1601 2033 ffff e080"
                         "000001b5 148a 0001 0000")
GROUP = bytes.fromhex("000001b8 0008 0040")
I_HEADER = bytes.fromhex("00000100 000f fff8" "000001b5 8fff f341 80")
P_HEADER = bytes.fromhex("00000100 0097 fffb 80" "000001b5 822f f341 80")
B_HEADER = bytes.fromhex("00000100 005f fffb b8" "000001b5 8112 2341 80")


def slice_of(row, size):
    return b"\0\0\1" + bytes([row]) + bytes([0x55]) * (size - 4)


# A stream with three frames, which are sent in the order I0 P2 B1. I0 and B1
# fit into one packet each, and P2 needs several packets.
I_FRAME = SEQUENCE + GROUP + I_HEADER + slice_of(1, 50) + slice_of(2, 50)
P_SLICES = slice_of(1, 60), slice_of(2, 200)
B_FRAME = B_HEADER + slice_of(1, 20) + slice_of(2, 20)
TINY = I_FRAME + P_HEADER + b"".join(P_SLICES) + B_FRAME

# RTP packets with the stream TINY, which contains the frames I0, P2 and B1.
# The largest packet has 200 bytes. The video-specific headers were written by
# hand from section 3.4 of RFC 2250.
PACKETS = [
    RtpPacket(bytes.fromhex("00003900") + I_FRAME, 1, 0, True),
    RtpPacket(bytes.fromhex("00021a07") + P_HEADER + P_SLICES[0], 2, 7200),
    RtpPacket(bytes.fromhex("00021207") + P_SLICES[1][:184], 3, 7200),
    RtpPacket(bytes.fromhex("00020a07") + P_SLICES[1][184:], 4, 7200, True),
    RtpPacket(bytes.fromhex("00011b77") + B_FRAME, 5, 3600, True),
]


def with_packet(index, packet):
    return PACKETS[:index] + [packet] + PACKETS[index + 1:]


def with_bits(index, place, mask):
    payload = bytearray(PACKETS[index].payload)
    payload[place] ^= mask
    return with_packet(index, PACKETS[index].but(payload=bytes(payload)))


class HandMade(unittest.TestCase):

    def faults(self, packets, **options):
        options.setdefault("mtu", 200)
        return summary(check(Stream(TINY), packets, **options))

    def test_stream_is_read_as_it_was_written(self):
        stream = Stream(TINY)
        self.assertTrue(stream.mpeg2)
        self.assertEqual(stream.rate, 25)
        self.assertEqual([(p.letter, p.temporal_reference, p.vectors,
                           len(p.slices)) for p in stream.pictures],
                         [("I", 0, (0, 0, 0, 0), 2),
                          ("P", 2, (0, 0, 0, 7), 2),
                          ("B", 1, (0, 7, 0, 7), 2)])
        self.assertEqual([f.display for f in stream.frames], [0, 2, 1])

    def test_right_packets_have_no_fault(self):
        self.assertEqual(self.faults(PACKETS, mode="slices"), {})

    def test_each_wrong_bit_is_named(self):
        bits = {"mbz": (0, 0x80), "tr": (1, 0x01), "an": (2, 0x80),
                "n": (2, 0x40), "s": (2, 0x20), "b": (2, 0x10),
                "e": (2, 0x08), "p": (2, 0x01), "fbv": (3, 0x80),
                "bfc": (3, 0x40), "ffv": (3, 0x08), "ffc": (3, 0x04)}
        for rule, (place, mask) in bits.items():
            for index in range(len(PACKETS)):
                with self.subTest(rule=rule, packet=index):
                    packets = with_bits(index, place, mask)
                    self.assertEqual(self.faults(packets, timestamps=False),
                                     {rule: 1})

    def test_each_wrong_rtp_field_is_named(self):
        for rule, change in (("seq", {"seq": 9}), ("pt", {"pt": 96}),
                             ("marker", {"marker": True})):
            with self.subTest(rule=rule):
                packets = with_packet(1, PACKETS[1].but(**change))
                found = self.faults(packets, timestamps=False)
                self.assertEqual(set(found), {rule})
        packets = with_packet(4, PACKETS[4].but(timestamp=0))
        self.assertEqual(self.faults(packets)["timestamp"], 1)
        self.assertEqual(self.faults(PACKETS, mtu=199, timestamps=False),
                         {"mtu": 1})

    def test_headers_are_at_the_beginning_and_complete(self):
        head, rest = I_FRAME[:26], I_FRAME[26:]
        split = [RtpPacket(bytes.fromhex("00002100") + head, 1, 0),
                 RtpPacket(bytes.fromhex("00000900") + rest, 2, 0, True)]
        found = self.faults(split + [p.but(seq=p.seq + 1)
                                     for p in PACKETS[1:]], timestamps=False)
        self.assertIn("header-split", found)
        joined = [RtpPacket(PACKETS[0].payload + P_HEADER, 1, 0)]
        found = self.faults(joined, timestamps=False)
        self.assertEqual(found["header-place"], 1)
        self.assertEqual(found["one-picture"], 1)

    def test_slice_does_not_follow_a_part_of_one(self):
        packets = PACKETS[:1] + [
            RtpPacket(bytes.fromhex("00021207") + P_HEADER + P_SLICES[0][:20],
                      2, 0),
            RtpPacket(bytes.fromhex("00020207") + P_SLICES[0][20:]
                      + P_SLICES[1][:9], 3, 0)]
        self.assertEqual(self.faults(packets, timestamps=False),
                         {"slice-place": 1, "bytes": 1})

    def test_aggregation(self):
        alone = [RtpPacket(bytes.fromhex("00003900") + I_FRAME[:-50], 0, 0),
                 RtpPacket(bytes.fromhex("00001900") + I_FRAME[-50:], 1, 0,
                           True)] + PACKETS[1:]
        alone = [p.but(seq=n) for n, p in enumerate(alone)]
        kwargs = {"timestamps": False}
        self.assertEqual(self.faults(alone, mode="slices", **kwargs),
                         {"greedy": 1})
        self.assertEqual(self.faults(PACKETS, mode="none", **kwargs),
                         {"none": 2})
        self.assertEqual(self.faults(PACKETS, mode="slices", mtu=250,
                                     **kwargs), {"whole": 2})

    def test_missing_bytes_are_found(self):
        self.assertEqual(self.faults(PACKETS[:4], timestamps=False),
                         {"bytes": 1})
        wrong = with_bits(2, 100, 1)
        self.assertEqual(self.faults(wrong, timestamps=False), {"bytes": 1})


class Extension(unittest.TestCase):
    """Tests how the checker treats the MPEG-2 video-specific header extension
    (RFC 2250, section 3.4.1). The stream contains a picture coding extension
    that was written by hand."""

    # The picture coding extension of MPEG-2 and the RTP header extension of
    # RFC 2250 have most fields in common. COMMON contains these fields, in the
    # order of both extensions. With the names of RFC 2250, the fields have
    # these values:
    # - The four f_codes are 2, 2, 15 and 15.
    # - DC is 0, and PS is 3.
    # - The bits T, C, Q, A, G and D are 1.
    # - The bits P, V, R and H are 0.
    COMMON = "0010" "0010" "1111" "1111" "00" "11" "1011010011"
    WORD = int("01" + COMMON, 2)  # preceded by X 0 and E 1
    COPYRIGHT = "000001b5" "4f"

    def setUp(self):
        self.stream = Stream(
            SEQUENCE + P_HEADER[:9] + self.coding() +
            bytes.fromhex(self.COPYRIGHT) + slice_of(1, 10))

    def coding(self):
        bits = "1000" + self.COMMON + f"{0xabcde:020b}" + "00"
        return b"\0\0\1\xb5" + int(bits, 2).to_bytes(7, "big")

    def payload(self, word=WORD, composite="000abcde",
                extra="02 000001b5 4f 0000"):
        return bytes.fromhex("04023a07 %08x" % word + composite
                             + extra) + self.stream.data

    def faults(self, payload):
        return summary(check(self.stream, [RtpPacket(payload, 0, 0, True)],
                             mpeg2_extension=True))

    def test_the_stream_is_read_with_its_extension(self):
        picture = self.stream.pictures[0]
        fields, composite, extra = expected_extension(self.stream, picture)
        self.assertEqual(composite, 0xabcde)
        self.assertEqual(extra, bytes.fromhex(self.COPYRIGHT))
        self.assertEqual((fields["E"], fields["PS"], fields["D"]), (1, 3, 1))

    def test_right_extension_has_no_fault(self):
        self.assertEqual(self.faults(self.payload()), {})

    def test_wrong_extensions_are_named(self):
        wrong = {"ext-T": {"word": self.WORD ^ 1 << 9},
                 "ext-PS": {"word": self.WORD ^ 1 << 10},
                 "ext-f00": {"word": self.WORD ^ 1 << 26},
                 "ext-composite": {"composite": "001abcde"},
                 "ext-extra": {"extra": "02 000001b5 4e 0000"},
                 "ext-padding": {"extra": "02 000001b5 4f 0001"}}
        for rule, change in wrong.items():
            with self.subTest(rule=rule):
                self.assertEqual(self.faults(self.payload(**change)),
                                 {rule: 1})

    def test_length_beyond_the_payload_is_malformed(self):
        payload = self.payload(extra="ff 000001b5 4f 0000")
        self.assertEqual(set(self.faults(payload)), {"header"})


class Receivers(unittest.TestCase):

    def test_both_rebuild_right_packets(self):
        self.assertEqual(receivers.live555(PACKETS), TINY)
        frames, refused = receivers.gortsplib(PACKETS)
        self.assertEqual((b"".join(frames), refused), (TINY, 0))

    def test_live555_discards_the_unit_that_a_loss_hit(self):
        packets = PACKETS[:2] + PACKETS[3:]
        delivered = receivers.live555(packets)
        self.assertEqual(delivered, I_FRAME + P_HEADER + P_SLICES[0]
                         + B_FRAME)
        missing = receivers.lacks_slices(Stream(TINY), delivered)
        self.assertEqual(len(missing), 1)

    def test_nothing_comes_of_an_empty_header(self):
        packets = [p.but(payload=bytes(4) + p.payload[4:]) for p in PACKETS]
        self.assertEqual(receivers.live555(packets), b"")
        self.assertEqual(receivers.gortsplib(packets), ([], len(packets)))

    def test_gortsplib_refuses_t_an_and_n(self):
        for place, mask in ((0, 0x04), (2, 0x80), (2, 0x40)):
            packets = with_bits(0, place, mask)
            self.assertEqual(receivers.gortsplib(packets)[1], 1)


class Files(unittest.TestCase):

    def test_packets_come_back_from_files(self):
        with peers.workdir() as work:
            write_rfc4571(work / "rtp", PACKETS)
            self.assertEqual(read_rfc4571(work / "rtp"), PACKETS)
            write_pcap(work / "pcap", PACKETS)
            self.assertEqual(read_pcap(work / "pcap"), PACKETS)


class KnownSenders(unittest.TestCase):
    """Lets the checker of RTP packets check two senders whose faults are
    known: ffmpeg, and GStreamer's own payloader. The checker must find exactly
    these faults.
    """

    def test_ffmpeg_leaves_vectors_empty(self):
        stream = Stream(clips.small().read_bytes())
        packets = peers.pay_ffmpeg(clips.small())
        faults = summary(check(stream, packets, mtu=1400))
        # If a frame fits into one packet, ffmpeg leaves the fields TR and P of
        # the video-specific header empty.
        self.assertEqual(set(faults), {"bfc", "ffc", "tr", "p"})
        alone = [p for p in packets if p.payload[2] & 0x18 == 0x18
                 and p.marker and not p.payload[2] & 7]
        self.assertEqual(faults["p"], len(alone))
        self.assertEqual(receivers.live555(packets), stream.data)

    def test_ffmpeg_sets_s_on_a_gop_header(self):
        clip = clips.one_sequence_header()
        stream = Stream(clip.read_bytes())
        faults = summary(check(stream, peers.pay_ffmpeg(clip), mtu=1400))
        self.assertEqual(faults.pop("s"), len(stream.groups) - 1)
        self.assertEqual(set(faults), {"bfc", "ffc", "tr", "p"})

    def test_ffmpeg_knows_no_field_pictures(self):
        clip = clips.fields()
        faults = summary(check(Stream(clip.read_bytes()),
                               peers.pay_ffmpeg(clip), mtu=1400))
        self.assertIn("one-picture", faults)

    def test_stock_payloader_sends_an_empty_header(self):
        stream = Stream(clips.small().read_bytes())
        packets = peers.pay_stock(clips.small())
        self.assertFalse(any(any(p.payload[:4]) for p in packets))
        faults = summary(check(stream, packets, mtu=1400))
        self.assertEqual(faults["p"], len(packets))
        self.assertEqual(faults["s"], len(stream.sequences))
        for rule in ("tr", "b", "e", "ffc", "bfc", "slice-place",
                     "header-place", "one-picture"):
            self.assertIn(rule, faults)
        for rule in ("bytes", "mtu", "pt", "seq", "mbz", "t", "an", "n"):
            self.assertNotIn(rule, faults)
        # GStreamer's own payloader rtpmpvpay has a known fault: it gives all
        # packets the same timestamp.
        self.assertEqual(len({p.timestamp for p in packets}), 1)
        self.assertEqual(receivers.live555(packets), b"")


class Paths(unittest.TestCase):
    """The helpers of the tests must also work if the path of a file contains
    blanks."""

    def test_a_path_may_have_blanks(self):
        with peers.workdir() as work:
            clip = work / "an 'odd' name" / "c l i p"
            clip.parent.mkdir()
            clip.write_bytes(clips.small().read_bytes())
            there, here = ([packet.payload for packet in peers.pay_stock(at)]
                           for at in (clip, clips.small()))
            self.assertTrue(there == here)
            peers.gst("filesrc %s ! %s" % (
                peers.location(clip), peers.filesink(work / "a b")))
            self.assertTrue((work / "a b").read_bytes() == clip.read_bytes())


if __name__ == "__main__":
    unittest.main()
