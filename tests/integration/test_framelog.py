# SPDX-License-Identifier: LGPL-2.1-or-later
"""The demo's arithmetic, on logs small enough to check by hand."""

import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
                       / "pipelines"))
import framelog  # noqa: E402

COLUMNS = ("event,wall_ns,arrival_ns,expected_ns,latency_ns,type,"
           "temporal_reference,coding_number,display_number,pts_90khz,"
           "size_bytes,time_code,closed_gop,broken_link,pictures,hash")
MS = 1_000_000


def frame(number, type, wall_ms, hash=None, size=1000, first_ms=0):
    """A log line of frame `number` in coding order, 40 ms to a frame."""
    arrival = (wall_ms - first_ms) * MS
    expected = number * 40 * MS
    return ",".join(map(str, (
        "frame", wall_ms * MS, arrival, expected, arrival - expected, type,
        "", number, number, "", size, "", "", "", "",
        hash or f"{number:016x}")))


def lost(number, type):
    return f"lost,0,,,,{type},,{number},,,,,,,,"


class LogTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def log(self, name, *lines):
        path = self.directory / name
        path.write_text("\n".join((COLUMNS, *lines)) + "\n")
        log = framelog.Log(path)
        log.read()
        return log

    def test_reads_only_whole_lines_of_a_growing_log(self):
        path = self.directory / "growing.csv"
        log = framelog.Log(path)
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
        result = framelog.measure(sent, received)
        self.assertEqual(result.sent, {"I": 1, "P": 2, "B": 4})
        self.assertEqual(result.arrived, {"I": 1, "P": 2, "B": 2})
        self.assertEqual(result.lost, {"B": 2})
        self.assertEqual(result.guessed_lost, {"B": 1})
        self.assertIn("counted as lost: B 1", "\n".join(framelog.table(result)))

    def test_latency_is_from_wall_clock_to_wall_clock(self):
        sent = self.log("s", *(frame(n, "P", 40 * n) for n in range(100)))
        received = self.log("r", *(
            frame(n, "P", 40 * n + (30 if n == 50 else 3), first_ms=3)
            for n in range(100)))
        result = framelog.measure(sent, received)
        self.assertEqual(framelog.percentile(result.delays_ns, 50), 3 * MS)
        self.assertEqual(framelog.percentile(result.delays_ns, 99), 3 * MS)
        self.assertEqual(framelog.percentile(result.delays_ns, 100), 30 * MS)

    def test_equal_frames_join_with_their_own_twin(self):
        # The film repeats after 10 frames; the second round starts 400 ms
        # later. Losing frames of the first round must not shift the join.
        sent = self.log("s", *(frame(n, "P", 40 * n, hash=f"{n % 10:016x}")
                               for n in range(20)))
        received = self.log("r", *(
            frame(n, "P", 40 * n + 5, hash=f"{n % 10:016x}")
            for n in range(20) if n not in (3, 4)))
        result = framelog.measure(sent, received)
        self.assertEqual(set(result.delays_ns), {5 * MS})
        self.assertEqual(result.lost, {"P": 2})
        self.assertEqual(result.strangers, 0)

    def test_equal_frames_join_when_the_receiver_began_late(self):
        sent = self.log("s", *(frame(n, "P", 40 * n, hash=f"{n % 10:016x}")
                               for n in range(20)))
        received = self.log("r", *(
            frame(n - 2, "P", 40 * n + 5, hash=f"{n % 10:016x}")
            for n in range(2, 20)))
        result = framelog.measure(sent, received)
        self.assertEqual(set(result.delays_ns), {5 * MS})

    def test_a_frame_that_was_never_sent_is_a_stranger(self):
        sent = self.log("s", frame(0, "I", 0))
        received = self.log("r", frame(0, "I", 1, hash="f" * 16))
        result = framelog.measure(sent, received)
        self.assertEqual((result.strangers, result.lost), (1, {"I": 1}))

    def test_jitter_follows_rfc_3550(self):
        # One frame 16 ms late: J rises by 16/16 on the way out and, with the
        # step back, by (16 - 1)/16 more; then it decays by 1/16 a frame.
        received = self.log("r", *(
            frame(n, "P", 40 * n + (16 if n == 1 else 0)) for n in range(4)))
        ms = [j / MS for j in framelog.jitter_ns(received.frames)]
        self.assertEqual(ms, [0, 1, 1 + 15 / 16, (1 + 15 / 16) * 15 / 16])

    def test_bitrate_counts_the_last_frame_s_own_time(self):
        received = self.log("r", *(frame(n, "P", 40 * n, size=20_000)
                                   for n in range(25)))
        self.assertAlmostEqual(framelog.bits_per_second(received.frames), 4e6)

    def test_a_sender_that_was_late_itself_is_named(self):
        sent = self.log("s", *(frame(n, "P", 40 * n + 90 * (n > 0))
                               for n in range(20)))
        result = framelog.measure(sent, sent)
        self.assertIn("up to 90 ms late", "\n".join(framelog.table(result)))

    def test_what_the_pipelines_warned_of_is_among_the_notes(self):
        sent = self.log("s", frame(0, "I", 0))
        result = framelog.measure(sent, sent)
        self.assertIn("note     the disk is full",
                      framelog.table(result, ["the disk is full"]))
        self.assertNotIn("note", "\n".join(framelog.table(result)))

    def test_percentile_is_one_of_the_values(self):
        values = list(range(1, 11))
        self.assertEqual([framelog.percentile(values, p)
                          for p in (1, 50, 90, 99, 100)], [1, 5, 9, 10, 10])


if __name__ == "__main__":
    unittest.main()
