# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the RTP packets of the 60 s clip with tshark. The fields of the
header of RFC 2250, as tshark decodes them, must agree with the video stream.

tshark 4.0 reads the fields AN, N, S, B, E and P from the wrong byte. The test
therefore first finds out which fields the installed tshark decodes correctly.
The test computes the other fields itself from the bytes that tshark shows.
"""

import collections
import unittest

import clips
import peers
from mpegvideo import Stream
from rfc2250check import (
    FIELDS,
    VideoHeader,
    check,
    expected_fields,
    place,
    summary,
)
from rtpfile import RtpPacket, write_pcap

NAMES = [name for name, _ in FIELDS]
TSHARK_NAMES = ["rtp.payload_mpeg_" + ("T" if name == "t" else name)
                for name in NAMES]
RTP_NAMES = ["rtp.p_type", "rtp.seq", "rtp.marker", "rtp.timestamp",
             "udp.payload"]

Row = collections.namedtuple("Row", "fields pt seq marker timestamp raw")


def dissect(packets):
    """Lets tshark decode the packets. Yields a Row (a named tuple) for each
    packet, with the values that tshark has found.
    """
    with peers.workdir() as work:
        write_pcap(work / "pcap", packets)
        rows = peers.tshark(work / "pcap", TSHARK_NAMES + RTP_NAMES,
                            "-d", "udp.port==5004,rtp")
    for row in rows:
        *words, raw = row.values()
        values = [int(word or 0) for word in words]
        fields = dict(zip(NAMES, values))
        yield Row(fields, *values[len(NAMES):], bytes.fromhex(raw))


def fields_that_tshark_knows():
    probes = []
    for bit in range(32):
        header = (1 << bit).to_bytes(4, "big")
        probes.append(RtpPacket(header + b"\0\0\1\1" + bytes(8), bit, 0))
    rows = list(dissect(probes))
    return [name for name in NAMES if all(
        row.fields[name] == VideoHeader.parse(row.raw[12:16] + b"\0\0\0\0"
                                              + b"\0" * 8).fields[name]
        for row in rows if not row.raw[12] & 4 or name == "t")]


class SixtySeconds(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        clip = clips.film(6)
        cls.stream = Stream(clip.read_bytes())
        cls.packets = peers.pay(clip, "rfc2250pay mtu=1400")
        cls.placed, cls.faults = place(cls.stream, cls.packets)

    def test_clip_is_the_papers(self):
        letters = collections.Counter(f.letter for f in self.stream.frames)
        self.assertEqual(letters, {"I": 101, "P": 400, "B": 999})

    def test_the_checker_finds_no_fault(self):
        faults = check(self.stream, self.packets, mtu=1400, mode="slices")
        self.assertEqual(summary(faults), {}, faults[:3])

    def test_tshark_decodes_every_field_of_every_packet(self):
        known = fields_that_tshark_knows()
        for name in ("mbz", "t", "tr", "fbv", "bfc", "ffv", "ffc"):
            self.assertIn(name, known)
        self.assertEqual(self.faults, [])
        wrong, rows = collections.Counter(), 0
        data = bytearray()
        first = self.packets[0]
        for row, item in zip(dissect(self.packets), self.placed):
            rows += 1
            expected = expected_fields(item)
            bits = VideoHeader.parse(row.raw[12:]).fields
            for name in NAMES:
                value = (row.fields if name in known else bits)[name]
                wrong[name] += value != expected[name]
            frame = item.picture.frame
            wrong["pt"] += row.pt != 32
            wrong["seq"] += row.seq != (first.seq + item.index) & 0xffff
            wrong["marker"] += row.marker != (item.end == frame.end)
            wrong["timestamp"] += (row.timestamp - first.timestamp) \
                & 0xffffffff != frame.display * 3600
            data += row.raw[16:]
        self.assertEqual(+wrong, {})
        self.assertEqual(rows, len(self.packets))
        self.assertTrue(bytes(data) == self.stream.data)
        print("tshark: %d packets, %d of 13 fields decoded by its dissector"
              % (rows, len(known)))


if __name__ == "__main__":
    unittest.main()
