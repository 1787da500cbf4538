# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks how much of a transport stream arrives if mmtpsink sends it to
mmtpsrc over a slow link.

ffmpeg decodes the received stream. Each decoded picture must be bit-identical
to the picture of the sent stream that has the same presentation time. Sound,
data and clock references must all arrive. The continuity counters must have no
gaps. The programs tsdemux, ffmpeg and tshark search for gaps. The test itself
also searches for gaps, according to ISO/IEC 13818-1.

The received stream must be bit-identical to the sent stream in two cases: if
the link is fast enough, and if no pictures can be found in the stream.
"""

import re
import subprocess
import unittest

import broadcast
import linktestbed
import test_mmtp
from transportstreams import (
    FRAMES,
    MAX_CLOCK_INTERVAL,
    PROGRAMS,
    SECONDS,
    clocks,
    closed_fields,
    counter_gaps,
    decode,
    others,
    packets,
    sound_only,
    stream,
    video_pid,
)

PORT = 5004
SECONDS_TO_WAIT = 60
# The rate of the slow link in % of the stream's rate. The packet headers take
# a tenth of the link's rate, so even less than SLOW_PERCENT % of the stream
# fits into the link.
SLOW_PERCENT = 75
FAST = "rate=20000000 delay-ms=5"
TIMED = "tsparse set-timestamps=true alignment=7"
UNTIMED = "video/mpegts,systemstream=true,packetsize=188"
LIVE = "sync=true blocking=false latency=1500"
# A latency in ms that is longer than any test. No packet is then too late,
# even on a slow machine.
LONG = 20000
COMPLETE = f"latency={LONG} drain-timeout=60000"
REFUSAL = re.compile(r"The transport stream passes untouched, because (.*)\.")


class TransportStreamTest(linktestbed.LinkCase):

    def setUp(self):
        super().setUp()
        self.received = self.directory / "received.ts"
        self.log = self.directory / "sink.txt"

    def send(self, bed, path, parser, options):
        """Returns what arrives."""
        self.received.unlink(missing_ok=True)
        source = bed.popen(
            "b", f"exec gst-launch-1.0 -q mmtpsrc port={PORT} "
            f"max-latency={LONG} ! "
            f"filesink location={self.received}")
        bed.wait_listening("b", "udp", PORT)
        with open(self.log, "w") as log:
            sink = bed.popen(
                "a", f"exec gst-launch-1.0 -m filesrc location={path} ! "
                f"{parser} ! mmtpsink host=$b port={PORT} {options}",
                stdout=log, stderr=subprocess.STDOUT)
        self.assertEqual(sink.wait(SECONDS_TO_WAIT), 0, self.log.read_text())
        self.assertEqual(source.wait(SECONDS_TO_WAIT), 0)
        return self.received.read_bytes()

    def check(self, path, data):
        whole = path.read_bytes()
        pid = video_pid(path)
        self.assertEqual(others(data, pid), others(whole, pid))
        self.assertEqual(counter_gaps(data), 0)
        for name, count in PROGRAMS.items():
            with self.subTest(program=name):
                self.assertEqual(count(self.received), 0)
        self.assertEqual(clocks(data), clocks(whole))
        self.assertLess(max(b - a for a, b in zip(
            clocks(data), clocks(data)[1:])), MAX_CLOCK_INTERVAL)
        pictures, all_pictures = decode(data), decode(whole)
        self.assertEqual(len(all_pictures), FRAMES)
        self.assertGreater(len(pictures), FRAMES / 5)
        self.assertLess(len(pictures), FRAMES)
        self.assertEqual(pictures, {
            pts: all_pictures[pts] for pts in pictures})

    def check_slow_link(self, path, percent):
        rate = path.stat().st_size * 8 // SECONDS * percent // 100
        bed = self.open(f"wl0=a,b: rate={rate} delay-ms=20")
        data = self.send(bed, path, TIMED, LIVE)
        self.check(path, data)
        return data

    @test_mmtp.needs_elements
    def test_whole_pictures_of_mpeg2_are_given_up(self):
        self.check_slow_link(stream("mpeg2"), SLOW_PERCENT)

    @test_mmtp.needs_elements
    def test_whole_pictures_of_h264_are_given_up(self):
        self.check_slow_link(stream("h264"), SLOW_PERCENT)

    @test_mmtp.needs_elements
    def test_whole_pictures_of_h265_are_given_up(self):
        self.check_slow_link(stream("h265"), SLOW_PERCENT)

    @test_mmtp.needs_elements
    def test_whole_pictures_of_interlaced_video_are_given_up(self):
        self.check_slow_link(closed_fields(), SLOW_PERCENT)

    @test_mmtp.needs_elements
    def test_whole_pictures_of_a_broadcast_are_given_up(self):
        """The link carries only 60 % of the stream's rate, so mmtpsink has to
        drop pictures. Sound and data together need a third of the stream's
        rate. All their packets must arrive."""
        data = self.check_slow_link(broadcast.make("mpeg2-420", SECONDS), 60)
        self.assertLessEqual({broadcast.TELETEXT, broadcast.SPLICES},
                             {pid for pid, _ in packets(data)})

    @test_mmtp.needs_elements
    def test_nothing_is_changed_where_nothing_is_given_up(self):
        bed = self.open(f"wl0=a,b: {FAST}")
        for path in stream("h264"), broadcast.make("mpeg2-422", SECONDS):
            with self.subTest(path=path):
                data = self.send(bed, path, UNTIMED, COMPLETE)
                self.assertEqual(data, path.read_bytes())

    @test_mmtp.needs_elements
    def test_stream_without_pictures_passes_untouched(self):
        path = stream("h264")
        pid = video_pid(path)
        scrambled = self.directory / "scrambled.ts"
        scrambled.write_bytes(b"".join(
            packet[:3] + bytes([packet[3] | 0x80]) + packet[4:]
            if found == pid else packet
            for found, packet in packets(path.read_bytes())))
        bed = self.open(f"wl0=a,b: {FAST}")
        for path, reason in (
                (scrambled, "its video is scrambled"),
                (sound_only(), "it has no MPEG, H.264 or H.265 video")):
            with self.subTest(path=path):
                data = self.send(bed, path, UNTIMED, COMPLETE)
                self.assertEqual(data, path.read_bytes())
                self.assertEqual(REFUSAL.findall(self.log.read_text()),
                                 [reason])


if __name__ == "__main__":
    unittest.main()
