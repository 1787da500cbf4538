# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests transport streams that the element ifdqueue sends over a slow link. If
a link is too slow for the whole stream, ifdqueue drops pictures.

ffmpeg decodes the stream that was sent, and the original stream. Each picture
of the sent stream must be bit-identical to the picture of the original stream
with the same presentation time. Every picture that ifdqueue has sent must be
decoded. The sound must be unchanged. tsdemux, ffmpeg and tshark must find no
gap in a continuity counter. The test itself also searches for such gaps,
according to ISO/IEC 13818-1, and checks the intervals between the clock
references.

The environment variable WIRELESS_TS_RECORDINGS may list files, in the syntax
of PATH. Each file is a recorded broadcast of one program. The test also sends
the first minute of each recording.
"""

import concurrent.futures
import contextlib
import os
import pathlib
import socket
import subprocess
import time
import unittest

import broadcast
import peers
from transportstreams import (
    FRAMES,
    MAX_CLOCK_INTERVAL,
    PACKET,
    PROGRAMS,
    SECONDS,
    VIDEO,
    clocks,
    counter_gaps,
    decode,
    others,
    packets,
    stream,
    video_pid,
)

PROGRAM = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"]) / \
    "tests" / "interop" / "ifdencode"
UNTIMED = "video/mpegts,systemstream=true,packetsize=188"
SLOW = "identity sleep-time=45000"  # us, for each picture
FAST = "identity"
RECORDINGS = "WIRELESS_TS_RECORDINGS"
RECORDED_SECONDS = 60


def limit(rate):
    """Returns the description of an element that limits the rate of a stream
    to `rate` bytes per second. The description is a part of a pipeline
    description.
    """
    return f"identity datarate={rate} sync=true"


def beginning(path, seconds):
    """Returns the first `seconds` seconds of the transport stream in the file
    `path`, as bytes. The end is determined by the program clock references
    (PCRs): the result ends before the first packet whose PCR is at least
    `seconds` later than the first PCR.
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


def receive_slowly(server, rate):
    """Accepts a connection of `server` and reads at most `rate` bytes per
    second from it. Returns all bytes.
    """
    connection, _ = server.accept()
    data, begin = b"", time.monotonic()
    with connection:
        while piece := connection.recv(2048):
            data += piece
            time.sleep(max(0, begin + len(data) / rate - time.monotonic()))
    return data


class TransportStream(unittest.TestCase):

    def send(self, path, work, channel,
             parser="tsparse set-timestamps=true alignment=7", options=""):
        """Sends the transport stream in the file `path` through the element
        ifdqueue. Downstream of ifdqueue, the element `channel` limits the
        rate. Returns three values: the stream that passed `channel`, the
        number of frames that arrived at ifdqueue, and the number of frames
        that ifdqueue sent.
        """
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
        """Returns the sound in the transport stream in the file `path`, as
        tsdemux outputs it.
        """
        peers.gst(f"filesrc {peers.location(path)} ! tsdemux ! {caps} ! "
                  f"filesink {peers.location(work / 'sound')}")
        sound = (work / "sound").read_bytes()
        self.assertGreater(len(sound), 1000 * SECONDS)
        return sound

    def check_packets(self, path, work, data):
        """Checks the sent stream `data`. All packets that do not belong to the
        video must be in it, and the clock references must be unchanged. The
        continuity counters of the sent stream must not have more gaps than
        those of the original stream.
        """
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

    def test_ifdsink_sends_whole_pictures(self):
        path = stream("mpeg2")
        rate = path.stat().st_size / SECONDS * 3 / 4
        with peers.workdir() as work, socket.create_server(
                ("127.0.0.1", 0)) as server, \
                concurrent.futures.ThreadPoolExecutor() as pool:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
            received = pool.submit(receive_slowly, server, rate)
            peers.gst(f"filesrc {peers.location(path)} ! tsparse "
                      "set-timestamps=true alignment=7 ! ifdsink "
                      f"host=127.0.0.1 port={server.getsockname()[1]} "
                      "buffer-size=16384")
            data = received.result()
            (work / "sent.ts").write_bytes(data)
            pictures = len(decode(data))
            self.assertGreater(pictures, FRAMES / 8)
            self.assertLess(pictures, FRAMES)
            self.check_stream(path, work, data, pictures)

    def test_whole_pictures_of_broadcasts_are_dropped(self):
        """Sends several streams like those of broadcasters, each over a link
        of its own. A link has two thirds of the rate of its stream. Sound and
        data, which the element ifdqueue does not drop, need one third of the
        rate of the stream, so ifdqueue has to drop pictures. All streams are
        sent at the same time, because sending a stream takes as long as the
        stream lasts.
        """
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
        """Sends a stream that filesrc reads from a file. filesrc sets no
        timestamps on its buffers, so ifdqueue must take the times from the
        pictures in the stream.
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
            # In this test, the element ifdqueue must drop no picture. tsparse
            # gives the same timestamp to several pictures, but ifdqueue sends
            # each picture at its own due time. Pictures therefore wait in
            # ifdqueue, and on a slow machine there are many of them.
            # max-frames is so large that ifdqueue has room for all of them.
            data, frames, sent = self.send(path, work, FAST,
                                           options="max-frames=64")
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
            # This pipeline contains no tsparse, because tsparse would remove
            # the scrambled packets that this test has to send.
            data, frames, _ = self.send(work / "scrambled.ts", work, FAST,
                                        UNTIMED)
            self.assertEqual(frames, 0)
            self.assertEqual(data, scrambled)


if __name__ == "__main__":
    unittest.main()
