# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests a transport stream that ifdqueue sends over a slow link.

Each picture that ffmpeg decodes from the sent stream must be bit-identical to
the picture that it decodes from the whole stream at the same time. No picture
may be missing. The sound must be unchanged. tsdemux, ffmpeg, tshark and this
test, which follows ISO/IEC 13818-1, must find no gap in a continuity counter.
The test also checks the intervals between clock references.

The variable WIRELESS_TS_RECORDINGS may name files with recorded broadcasts of
one program each, separated as in PATH. The first minute of each recording is
sent, too.
"""

import concurrent.futures
import contextlib
import os
import pathlib
import shlex
import subprocess
import time
import unittest

import broadcast
import clips
import peers

PROGRAM = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"]) / \
    "tests" / "interop" / "ifdencode"
SECONDS = 4
FPS = 25
FRAMES = SECONDS * FPS
PACKET = 188
MAX_CLOCK_INTERVAL = 0.1        # s, 2.7.2
VIDEO = {
    "mpeg2": "-c:v mpeg2video -g 15 -bf 2 -sc_threshold 1000000000",
    "h264": "-c:v libx264 -preset fast -x264-params "
            "keyint=24:bframes=3:b-pyramid=normal:b-adapt=0:scenecut=0",
    "h264-fields": "-c:v libx264 -preset fast -x264-params "
                   "keyint=24:bframes=2:interlaced=1:open-gop=1",
    "h265": "-c:v libx265 -preset fast -x265-params "
            "keyint=24:bframes=3:b-adapt=0:log-level=error",
}
UNTIMED = "video/mpegts,systemstream=true,packetsize=188"
DROPS = r"mp2t.analysis.drops || mp2t.cc.drop"
SLOW = "identity sleep-time=45000"  # us, for each picture
FAST = "identity"
RECORDINGS = "WIRELESS_TS_RECORDINGS"
RECORDED_SECONDS = 60


def stream(name):
    def make(path):
        options = "-t %d -map 0:v -map 1:a -vf scale=160:96 -r %d " \
            "-pix_fmt yuv420p -b:v 300k %s -c:a mp2 -b:a 64k -f mpegts" % (
                SECONDS, FPS, VIDEO[name])
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-i",
                        str(clips.FILM), "-f", "lavfi", "-i", "sine",
                        *options.split(), str(path)], check=True)
    return clips._cached("ifdts-sound-%s.ts" % name, make)


def decode(data):
    """Returns {time: hash of the picture}. Asserts that ffmpeg reports no
    error.
    """
    result = subprocess.run(
        ["ffmpeg", "-v", "error", "-threads", "1", "-f", "mpegts", "-i", "-",
         "-map", "v", "-copyts", "-fps_mode", "passthrough", "-f",
         "framehash", "-hash", "md5", "-"], input=data, capture_output=True)
    faults = result.stderr.decode()
    assert result.returncode == 0 and not faults, faults
    lines = [line.split(",") for line in result.stdout.decode().splitlines()
             if not line.startswith("#")]
    pictures = {int(fields[2]): fields[-1].strip() for fields in lines}
    assert len(pictures) == len(lines)
    return pictures


def packets(data):
    assert len(data) % PACKET == 0
    for at in range(0, len(data), PACKET):
        packet = data[at:at + PACKET]
        assert packet[0] == 0x47
        yield (packet[1] << 8 | packet[2]) & 0x1fff, packet


def counter_gaps(data):
    """Returns the number of packets that do not continue the continuity counter
    of their PID (2.4.3.3).
    """
    last, gaps = {}, 0
    for pid, packet in packets(data):
        if pid == 0x1fff:
            continue
        counter, has_payload = packet[3] & 15, packet[3] & 0x10
        if pid in last:
            gaps += counter != (last[pid] + bool(has_payload)) % 16
        last[pid] = counter
    return gaps


def clocks(data):
    """Returns the program clock references in seconds (2.4.3.5)."""
    found = []
    for _, packet in packets(data):
        if packet[3] & 0x20 and packet[4] >= 7 and packet[5] & 0x10:
            base = int.from_bytes(packet[6:10], "big") << 1 | packet[10] >> 7
            found.append((base * 300 + ((packet[10] & 1) << 8 | packet[11]))
                         / 27e6)
    return found


def limit(rate):
    """Returns an element that limits the rate to this number of bytes per
    second.
    """
    return f"identity datarate={rate} sync=true"


def tshark_gaps(path):
    text, _ = peers.run(["tshark", "-r", path, "-Y", DROPS])
    return len(text.splitlines())


def ffmpeg_gaps(path):
    _, text = peers.run(["ffmpeg", "-v", "debug", "-nostdin", "-i", path,
                         "-map", "0", "-c", "copy", "-f", "null", "-"])
    return text.count("Continuity check failed")


def tsdemux_gaps(path):
    """Returns the number of gaps that tsdemux reports. It reports gaps only in
    the streams that it outputs, which are the video and the sound.
    """
    _, text = peers.run(
        ["gst-launch-1.0", "-q", "filesrc", f"location={path}", "!",
         "tsdemux", "name=demux", *shlex.split(
             "demux. ! queue ! fakesink async=false sync=false "
             "demux. ! queue ! fakesink async=false sync=false")],
        env={"GST_DEBUG": "tsdemux:6", "GST_DEBUG_NO_COLOR": "1"})
    assert "CONTINUITY: Got expected" in text
    return text.count("CONTINUITY: Mismatch")


PROGRAMS = {"tshark": tshark_gaps, "ffmpeg": ffmpeg_gaps,
            "tsdemux": tsdemux_gaps}


def beginning(path, seconds):
    """Returns the packets of the first `seconds` of the file, by the clock of
    the stream.
    """
    kept, first = [], None
    with path.open("rb") as file:
        while len(packet := file.read(PACKET)) == PACKET:
            times = clocks(packet)
            first = first if first is not None or not times else times[0]
            if times and not 0 <= times[0] - first < seconds:
                break
            kept.append(packet)
    return b"".join(kept)


def others(data, video):
    """Returns all packets that do not belong to the video. Null packets are
    left out, because tsparse adds some at the end to fill its last buffer."""
    return [packet for pid, packet in packets(data)
            if pid not in (video, 0x1fff)]


def video_pid(path):
    text, _ = peers.run(["ffprobe", "-v", "error", "-select_streams", "v",
                         "-show_entries", "stream=id", "-of", "csv=p=0", path])
    return int(text.decode().split()[0].strip(","), 16)


class TransportStream(unittest.TestCase):

    def send(self, path, work, channel,
             parser="tsparse set-timestamps=true alignment=7", options=""):
        """Sends the stream through ifdqueue and the element `channel`, which
        limits the rate. Returns the stream that was sent, the number of frames
        that arrived at ifdqueue, and the number of frames that were sent."""
        queue = "queue max-size-buffers=0 max-size-bytes=0 max-size-time=0"
        result = subprocess.run(
            [str(PROGRAM), "1",
             f"filesrc location={path} ! {parser} ! "
             f"{queue} ! ifdqueue name=ifd {options} ! "
             f"{channel} ! "
             f"filesink location={work}/sent.ts"],
            check=True, stdout=subprocess.PIPE, timeout=120)
        frames, sent, dropped, _ = map(int, result.stdout.decode().split())
        self.assertEqual(frames, sent + dropped)
        return (work / "sent.ts").read_bytes(), frames, sent

    def sound(self, path, work, caps="audio/mpeg"):
        """Returns the sound that tsdemux outputs."""
        peers.gst(f"filesrc {peers.location(path)} ! tsdemux ! {caps} ! "
                  f"filesink {peers.location(work / 'sound')}")
        sound = (work / "sound").read_bytes()
        self.assertGreater(len(sound), 1000 * SECONDS)
        return sound

    def check_packets(self, path, work, data):
        """Checks that all packets that do not belong to the video are sent. The
        clock references must be unchanged, and there must be no more gaps in
        the continuity counters than in the whole stream."""
        whole = path.read_bytes()
        pid = video_pid(path)
        self.assertEqual(others(data, pid), others(whole, pid))
        self.assertLessEqual(counter_gaps(data), counter_gaps(whole))
        self.assertEqual(clocks(data), clocks(whole))
        for name, count in PROGRAMS.items():
            with self.subTest(program=name):
                self.assertLessEqual(count(work / "sent.ts"), count(path))

    def check_stream(self, path, work, data, sent):
        whole = path.read_bytes()
        pictures, all_pictures = decode(data), decode(whole)
        self.assertEqual(len(all_pictures), FRAMES)
        self.assertEqual(len(pictures), sent)
        self.assertEqual(pictures, {
            pts: all_pictures[pts] for pts in pictures})
        self.assertEqual(self.sound(work / "sent.ts", work),
                         self.sound(path, work))
        self.assertEqual(counter_gaps(whole), 0)
        self.check_packets(path, work, data)
        self.assertLess(max(b - a for a, b in zip(
            clocks(data), clocks(data)[1:])), MAX_CLOCK_INTERVAL)

    def test_whole_pictures_are_dropped(self):
        for name in VIDEO:
            path = stream(name)
            with self.subTest(video=name), peers.workdir() as work:
                data, frames, sent = self.send(path, work, SLOW)
                self.assertEqual(frames, FRAMES)
                self.assertGreater(sent, FRAMES / 4)
                self.assertLess(sent, FRAMES)
                self.check_stream(path, work, data, sent)

    def test_whole_pictures_of_broadcasts_are_dropped(self):
        """All streams are sent at the same time, because sending a stream takes
        as long as the stream lasts. Sound and data together need a third of a
        stream's rate. The link carries two thirds of the rate."""
        with contextlib.ExitStack() as stack:
            pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor())
            sending = {}
            for name in broadcast.STREAMS:
                path = broadcast.make(name, SECONDS)
                work = stack.enter_context(peers.workdir())
                channel = limit(broadcast.get_rate(name) * 2 // 3)
                sending[name] = path, work, pool.submit(
                    self.send, path, work, channel)
            for name, (path, work, result) in sending.items():
                with self.subTest(video=name):
                    self.check_broadcast(path, work, *result.result())

    def check_broadcast(self, path, work, data, frames, sent):
        self.assertEqual(frames, FRAMES)
        self.assertGreater(sent, FRAMES / 4)
        self.assertLess(sent, FRAMES)
        self.check_stream(path, work, data, sent)
        self.assertEqual(self.sound(work / "sent.ts", work, "audio/x-ac3"),
                         self.sound(path, work, "audio/x-ac3"))
        self.assertLessEqual({broadcast.TELETEXT, broadcast.SPLICES},
                             {pid for pid, _ in packets(data)})

    @unittest.skipUnless(os.environ.get(RECORDINGS), f"{RECORDINGS} is not set")
    def test_whole_pictures_of_recordings_are_dropped(self):
        for name in os.environ[RECORDINGS].split(os.pathsep):
            with self.subTest(recording=name), peers.workdir() as work:
                path = work / "whole.ts"
                path.write_bytes(beginning(pathlib.Path(name),
                                           RECORDED_SECONDS))
                times = clocks(path.read_bytes())
                rate = path.stat().st_size / (times[-1] - times[0])
                data, frames, sent = self.send(path, work,
                                               limit(int(rate * 3 / 4)))
                self.assertGreater(sent, 0)
                self.assertLess(sent, frames)
                self.check_packets(path, work, data)

    def test_times_are_those_of_the_pictures(self):
        """Sends a stream from a file. Its buffers have no timestamps, so
        ifdqueue must take the times from the pictures.
        """
        for name in "mpeg2", "h264":
            path = stream(name)
            with self.subTest(video=name), peers.workdir() as work:
                begin = time.monotonic()
                data, frames, sent = self.send(path, work, SLOW, UNTIMED)
                self.assertGreater(time.monotonic() - begin, SECONDS - 0.2)
                self.assertEqual(frames, FRAMES)
                self.assertGreater(sent, FRAMES / 4)
                self.assertLess(sent, FRAMES)
                self.check_stream(path, work, data, sent)

    def test_programs_find_a_gap(self):
        path = stream("h264")
        pid = video_pid(path)
        kept = list(packets(path.read_bytes()))
        del kept[[i for i, (found, _) in enumerate(kept) if found == pid][50]]
        with peers.workdir() as work:
            gap = work / "gap.ts"
            gap.write_bytes(b"".join(p for _, p in kept))
            self.assertGreater(counter_gaps(gap.read_bytes()), 0)
            for name, count in PROGRAMS.items():
                with self.subTest(program=name):
                    self.assertGreater(count(gap), 0)
                    self.assertEqual(count(path), 0)

    def test_nothing_is_changed_where_nothing_is_dropped(self):
        path = stream("h264")
        with peers.workdir() as work:
            # tsparse gives the same timestamp to several pictures. ifdqueue
            # nevertheless sends each picture at its own due time.
            data, frames, sent = self.send(path, work, FAST)
            self.assertEqual(frames, sent)
            self.assertEqual(others(data, None),
                             others(path.read_bytes(), None))

    def test_scrambled_video_passes_untouched(self):
        path = stream("h264")
        pid = video_pid(path)
        scrambled = b"".join(
            packet[:3] + bytes([packet[3] | 0x80]) + packet[4:]
            if found == pid else packet
            for found, packet in packets(path.read_bytes()))
        with peers.workdir() as work:
            (work / "scrambled.ts").write_bytes(scrambled)
            # The test does not use tsparse, because it removes scrambled
            # packets.
            data, frames, _ = self.send(work / "scrambled.ts", work, FAST,
                                        UNTIMED)
            self.assertEqual(frames, 0)
            self.assertEqual(data, scrambled)


if __name__ == "__main__":
    unittest.main()
