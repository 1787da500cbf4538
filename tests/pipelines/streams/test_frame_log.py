# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the statistics that the demo computes from the logs of frames at the
sender and at the receiver. The logs are small enough to check the results by
hand.
"""

import pathlib
import tempfile
import unittest

from wirelesslab.streams import frame_log

COLUMNS = ("event,wall_ns,arrival_ns,expected_ns,latency_ns,type,"
           "temporal_reference,coding_number,display_number,pts_90khz,"
           "size_bytes,time_code,closed_gop,broken_link,pictures,hash,lost_frames")
MS = 1_000_000


def frame(number, type, wall_ms, hash=None, size=1000, first_ms=0):
    """Returns the line of a frame log that describes a frame. `number` is the
    number of the frame in coding order. `wall_ms` is the time of day in ms at
    which the frame was seen. The interval between two frames is 40 ms.
    """
    arrival = (wall_ms - first_ms) * MS
    expected = number * 40 * MS
    return ",".join(map(str, (
        "frame", wall_ms * MS, arrival, expected, arrival - expected, type,
        "", number, number, "", size, "", "", "", "",
        hash or f"{number:016x}", "")))


def lost(number, type, frames=1):
    return f"lost,0,,,,{type},,,{number},,,,,,,,{frames}"


def gop(number, closed=0, broken=0):
    """Returns the line of a frame log that describes a GOP header. The header
    comes directly before frame `number`.
    """
    return f"gop,0,0,,,,,{number},,,,00:00:00:00,{closed},{broken},0,,"


class LogTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def log(self, name, *lines):
        path = self.directory / name
        path.write_text("\n".join((COLUMNS, *lines)) + "\n")
        log = frame_log.Log(path)
        log.read()
        return log

    def test_reads_only_whole_lines_of_a_growing_log(self):
        path = self.directory / "growing.csv"
        log = frame_log.Log(path)
        self.assertEqual(log.read(), [])
        line = frame(0, "I", 0)
        path.write_text(COLUMNS + "\n" + line[:20])
        self.assertEqual(log.read(), [])
        path.write_text(COLUMNS + "\n" + line + "\n")
        self.assertEqual([f.type for f in log.read()], ["I"])
        self.assertEqual(log.read(), [])

    def test_loss_by_type_is_what_was_sent_and_did_not_arrive(self):
        sent = self.log("s", *(frame(n, t, 40 * n)
                               for n, t in enumerate("IPBBPBB")))
        received = self.log(
            "r", frame(0, "I", 1), frame(1, "P", 41), lost(2, "B"),
            frame(3, "B", 121), frame(4, "P", 161), frame(6, "B", 241))
        result = frame_log.measure(sent, received)
        self.assertEqual(result.sent, {"I": 1, "P": 2, "B": 4})
        self.assertEqual(result.arrived, {"I": 1, "P": 2, "B": 2})
        self.assertEqual(result.lost, {"B": 2})
        self.assertEqual(result.guessed_lost, {"B": 1})
        self.assertIn("counted as lost: B 1",
                      "\n".join(frame_log.table(result)))

    def test_a_range_of_lost_frames_counts_each_of_them(self):
        log = self.log("r", frame(0, "I", 1), lost(1, "?", 150), lost(151, "B"))
        self.assertEqual(log.lost, {"?": 150, "B": 1})

    def test_a_log_without_the_number_of_lost_frames_is_read(self):
        path = self.directory / "old.csv"
        columns, line = (text.rpartition(",")[0]
                         for text in (COLUMNS, lost(1, "B")))
        path.write_text(f"{columns}\n{line}\n")
        log = frame_log.Log(path)
        log.read()
        self.assertEqual(log.lost, {"B": 1})

    def test_latency_is_from_wall_clock_to_wall_clock(self):
        sent = self.log("s", *(frame(n, "P", 40 * n) for n in range(100)))
        received = self.log("r", *(
            frame(n, "P", 40 * n + (30 if n == 50 else 3), first_ms=3)
            for n in range(100)))
        result = frame_log.measure(sent, received)
        self.assertEqual(frame_log.percentile(result.delays_ns, 50), 3 * MS)
        self.assertEqual(frame_log.percentile(result.delays_ns, 99), 3 * MS)
        self.assertEqual(frame_log.percentile(result.delays_ns, 100), 30 * MS)

    def test_equal_frames_join_with_their_own_twin(self):
        # The clip has 10 frames and is sent in two rounds, so each hash of a
        # frame occurs twice. The second round starts 400 ms after the first
        # round. Frames 3 and 4 of the first round are lost. Each received
        # frame must still be matched with the sent frame of its own round, and
        # not with the frame with the same hash in the other round.
        sent = self.log("s", *(frame(n, "P", 40 * n, hash=f"{n % 10:016x}")
                               for n in range(20)))
        received = self.log("r", *(
            frame(n, "P", 40 * n + 5, hash=f"{n % 10:016x}")
            for n in range(20) if n not in (3, 4)))
        result = frame_log.measure(sent, received)
        self.assertEqual(set(result.delays_ns), {5 * MS})
        self.assertEqual(result.lost, {"P": 2})
        self.assertEqual(result.foreign_frames, 0)

    def test_equal_frames_join_when_the_receiver_began_late(self):
        sent = self.log("s", *(frame(n, "P", 40 * n, hash=f"{n % 10:016x}")
                               for n in range(20)))
        received = self.log("r", *(
            frame(n - 2, "P", 40 * n + 5, hash=f"{n % 10:016x}")
            for n in range(2, 20)))
        result = frame_log.measure(sent, received)
        self.assertEqual(set(result.delays_ns), {5 * MS})

    def test_a_frame_that_was_never_sent_is_counted_separately(self):
        sent = self.log("s", frame(0, "I", 0))
        received = self.log("r", frame(0, "I", 1, hash="f" * 16))
        result = frame_log.measure(sent, received)
        self.assertEqual((result.foreign_frames, result.lost), (1, {"I": 1}))

    def test_lateness_counts_from_when_a_frame_was_due(self):
        # Frame n is due 7 ms + n * 40 ms after the start. The first five
        # frames are sent when they are due. They arrive 2 ms later, so their
        # lateness must be 2 ms. The sender is blocked before frame 5, so it
        # sends frame 5 and all later frames 300 ms late. Each of these later
        # frames needs 10 ms to arrive, so its lateness at the receiver must be
        # 300 ms + 10 ms = 310 ms.
        sent = self.log("s", *(
            frame(n, "P", 7 + 40 * n + (300 if n > 4 else 0), first_ms=7)
            for n in range(10)))
        received = self.log("r", *(
            frame(n, "P", 7 + 40 * n + (310 if n > 4 else 2), first_ms=9)
            for n in range(10) if n != 7))
        result = frame_log.measure(sent, received)
        self.assertEqual([ns // MS for ns in result.lateness_ns],
                         5 * [2] + 4 * [310])
        self.assertEqual({ns // MS for ns in result.delays_ns}, {2, 10})
        self.assertIn("lateness median 2.00 ms, 99th percentile 310.00 ms",
                      "\n".join(frame_log.table(result)))

    def decodable(self, film, lost=(), headers=()):
        """Makes a stream whose frame types are the characters of `film`, such
        as "IPBB", and returns which of its frames can be decoded. The result
        has one character for each frame: `+` if the frame can be decoded, `.`
        if it cannot, and a blank if it is lost. `lost` contains the numbers of
        the lost frames. `headers` maps a frame number to the flags
        (closed_gop, broken_link) of the GOP header before this frame."""
        lines = []
        for number, type in enumerate(film):
            if number in dict(headers):
                lines.append(gop(number, *dict(headers)[number]))
            lines.append(frame(number, type, 40 * number))
        sent = self.log("s", *lines)
        received = self.log("r", *(
            frame(number, type, 40 * number)
            for number, type in enumerate(film) if number not in lost))
        result = frame_log.measure(sent, received)
        whole = set(range(len(film))) - set(lost)
        found = [f.coding_number
                 for f in frame_log.decodable(sent.frames, whole)]
        self.assertEqual(sum(result.decodable.values()), len(found))
        return "".join(" " if number in lost else ".+"[number in found]
                       for number in range(len(film)))

    def test_all_frames_of_a_complete_film_are_decodable(self):
        self.assertEqual(self.decodable("IPBBPBBIBBPBB", headers={7: (0, 0)}),
                         "+++++++++++++")

    def test_a_lost_b_frame_costs_itself(self):
        self.assertEqual(self.decodable("IPBBPBBIBBPBB", lost=[3, 8]),
                         "+++ ++++ ++++")

    def test_a_lost_p_frame_costs_the_rest_of_its_gop(self):
        # Frame 4, a P-frame of the first GOP, is lost. The frames after it in
        # this GOP therefore cannot be decoded. The second GOP is open: its
        # first two B-frames refer to the last P-frame of the first GOP, so
        # they cannot be decoded either.
        self.assertEqual(self.decodable("IPBBPBBPBBIBBPBB", lost=[4]),
                         "++++ .....+..+++")

    def test_a_lost_i_frame_costs_its_gop(self):
        self.assertEqual(self.decodable("IPBBIBBPBBIBBPBB", lost=[4]),
                         "++++ .....+..+++")
        self.assertEqual(self.decodable("IPBBI", lost=[0]), " ...+")

    def test_leading_frames_of_a_closed_gop_need_their_own_i_alone(self):
        closed = {5: (1, 0)}
        self.assertEqual(self.decodable("IPBBPIBBPBB", [4], closed),
                         "++++ ++++++")
        self.assertEqual(self.decodable("IPBBPIBBPBB", [5], closed),
                         "+++++ .....")
        # The first GOP has the flag closed_gop. The second GOP does not have
        # it, so its first two B-frames need the lost frame 3, and cannot be
        # decoded.
        self.assertEqual(self.decodable("IBBPIBB", [3], {0: (1, 0)}),
                         "+++ +..")

    def test_leading_frames_behind_a_broken_link_are_never_decodable(self):
        self.assertEqual(self.decodable("IPBBIBBPBB", headers={4: (0, 1)}),
                         "+++++..+++")

    def test_leading_frames_of_an_open_first_gop_are_not_decodable(self):
        self.assertEqual(self.decodable("IBBPBB"), "+..+++")
        self.assertEqual(self.decodable("IBBPBB", headers={0: (1, 0)}),
                         "++++++")

    def test_i_frames_without_p_between_are_references_too(self):
        self.assertEqual(self.decodable("IIBBIBBIBB", lost=[4]), "++++ ..+..")

    def test_jitter_follows_rfc_3550(self):
        # The jitter J of RFC 3550 changes by (|D| - J) / 16 with each frame. D
        # is the difference between the transit times of this frame and of the
        # previous frame.
        # - The second frame is 16 ms late. D is 16 ms, and J rises from 0 to 1
        #   ms.
        # - The third frame is in time again. |D| is 16 ms, and J rises by (16
        #   - 1) / 16 ms.
        # - For the last frame, D is 0, and J falls by a sixteenth.
        received = self.log("r", *(
            frame(n, "P", 40 * n + (16 if n == 1 else 0)) for n in range(4)))
        ms = [j / MS for j in frame_log.jitter_ns(received.frames)]
        self.assertEqual(ms, [0, 1, 1 + 15 / 16, (1 + 15 / 16) * 15 / 16])

    def test_bitrate_counts_the_last_frame_s_own_time(self):
        received = self.log("r", *(frame(n, "P", 40 * n, size=20_000)
                                   for n in range(25)))
        self.assertAlmostEqual(frame_log.bits_per_second(received.frames), 4e6)

    def test_a_sender_that_was_late_itself_is_named(self):
        sent = self.log("s", *(frame(n, "P", 40 * n + 90 * (n > 0))
                               for n in range(20)))
        result = frame_log.measure(sent, sent)
        self.assertIn("up to 90 ms late", "\n".join(frame_log.table(result)))

    def test_warnings_of_the_pipelines_are_among_the_notes(self):
        sent = self.log("s", frame(0, "I", 0))
        result = frame_log.measure(sent, sent)
        self.assertIn("note     the disk is full",
                      frame_log.table(result, ["the disk is full"]))
        self.assertNotIn("note", "\n".join(frame_log.table(result)))

    def test_percentile_is_one_of_the_values(self):
        values = list(range(1, 11))
        self.assertEqual([frame_log.percentile(values, p)
                          for p in (1, 50, 90, 99, 100)], [1, 5, 9, 10, 10])


if __name__ == "__main__":
    unittest.main()
