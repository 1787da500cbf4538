# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks which pictures a viewer sees, and when, if a live encoder sends a
stream. The expected values were computed by hand."""

import math
import pathlib
import tempfile
import unittest

from wirelesslab.errors import LabError
from wirelesslab.lab import cells
from wirelesslab.streams import display, frame_log, live_stream, measurements

MS = 1_000_000
NEVER = math.inf
LATE = 400 * MS
PERIOD = 40 * MS


def stream(types, delays_ms):
    """Returns frames at 25 frames per second. `types` has the type of each
    frame, such as "IPP". `delays_ms` has the time in ms from the capture of
    each frame to its arrival, or None if the frame never arrives."""
    return [display.Frame(
        number * PERIOD, number * PERIOD + 5 * MS,
        NEVER if delay is None else number * PERIOD + delay * MS,
        type == "I", 1000)
        for number, (type, delay) in enumerate(zip(types, delays_ms))]


def delays_ms(types, arrivals_ms):
    return [delay / MS for delay in
            display.delays_ns(stream(types, arrivals_ms), LATE)]


def frame(number, type="P", wall_ms=0, key=None):
    return frame_log.Frame(type, wall_ms * MS, 0, number * PERIOD, 0, number,
                           1000, (key or number, 1000))


class Log:
    def __init__(self, *frames):
        self.frames = list(frames)


class DelayTest(unittest.TestCase):

    def test_a_frame_is_shown_when_it_arrives(self):
        self.assertEqual(delays_ms("IPP", [50, 60, 70]), [50, 60, 70])

    def test_nothing_is_shown_after_a_loss_until_the_next_key_frame(self):
        self.assertEqual(delays_ms("IPPPIP", [50, None, 50, 50, 80, 50]),
                         [50, NEVER, NEVER, NEVER, 80, 50])

    def test_nothing_is_shown_before_the_first_key_frame_has_arrived(self):
        self.assertEqual(delays_ms("IPIP", [None, 50, 50, 50]),
                         [NEVER, NEVER, 50, 50])

    def test_a_frame_waits_for_the_frame_that_it_refers_to(self):
        # The second frame is captured at 40 ms and arrives 150 ms later, at
        # 190 ms. The third frame is captured at 80 ms and arrives at 130 ms.
        # It refers to the second frame, so it must not be shown before 190 ms.
        # This is 110 ms after its capture.
        self.assertEqual(delays_ms("IPP", [50, 150, 50]), [50, 150, 110])

    def test_a_late_frame_is_dropped_but_serves_as_a_reference(self):
        # The frames are captured at 0, 40 and 80 ms. The second frame arrives
        # at 450 ms, which is 410 ms after its capture. This exceeds the limit
        # of 400 ms, so the second frame must not be shown. The third frame
        # refers to the second frame, so it can be decoded only at 450 ms. This
        # is 370 ms after the capture of the third frame, and does not exceed
        # the limit. The third frame must therefore be shown at 450 ms.
        self.assertEqual(delays_ms("IPP", [50, 410, 60]), [50, NEVER, 370])

    def test_a_frame_at_the_limit_is_in_time(self):
        self.assertEqual(delays_ms("II", [400, 401]), [400, NEVER])

    def test_percentiles_count_what_never_came(self):
        delays = display.delays_ns(
            stream("IPPP", [50, 60, 70, None]), LATE)
        self.assertEqual(frame_log.percentile(delays, 50), 60 * MS)
        self.assertEqual(frame_log.percentile(delays, 75), 70 * MS)
        self.assertEqual(frame_log.percentile(delays, 95), NEVER)


class PictureTest(unittest.TestCase):

    def test_a_frame_that_is_not_shown_is_the_last_one_that_was(self):
        self.assertEqual(
            display.shown([NEVER, 50 * MS, NEVER, NEVER, 50 * MS]),
            [None, 1, 1, 1, 4])


class FreezeTest(unittest.TestCase):

    def freezes_ms(self, types, arrivals_ms):
        frames = stream(types, arrivals_ms)
        return [gap / MS for gap in display.freezes_ns(
            frames, display.delays_ns(frames, LATE), PERIOD)]

    def test_a_steady_stream_has_none(self):
        self.assertEqual(self.freezes_ms("IPPPPPPP", [50] * 8), [])

    def test_a_gap_between_two_pictures(self):
        # A freeze must be longer than 200 ms. In the first stream, picture 0
        # is shown at 50 ms, and the next picture, number 5, at 5 * 40 + 50 ms.
        # The interval is 200 ms, so it is not a freeze. In the second stream,
        # the next picture is number 6. The interval is 240 ms, so it is a
        # freeze.
        self.assertEqual(
            self.freezes_ms("IPPPPI", [50, *[None] * 4, 50]), [])
        self.assertEqual(
            self.freezes_ms("IPPPPPI", [50, *[None] * 5, 50]), [240])

    def test_a_delay_that_grows_freezes_the_picture(self):
        # The first picture is captured at 0 ms and shown at 50 ms. The second
        # picture is captured at 40 ms and shown 300 ms later, at 340 ms. The
        # first picture is therefore frozen for 290 ms.
        self.assertEqual(self.freezes_ms("II", [50, 300]), [290])

    def test_black_before_the_first_picture(self):
        self.assertEqual(
            self.freezes_ms("IPPPPPI", [None] * 6 + [50]), [240])

    def test_no_picture_up_to_the_end(self):
        self.assertEqual(
            self.freezes_ms("IPPPPPPP", [50, 50] + [None] * 6), [240])

    def test_nothing_was_shown(self):
        self.assertEqual(self.freezes_ms("IPPPPPPP", [None] * 8), [320])


class LogTest(unittest.TestCase):

    def test_frames_are_captured_at_the_pace_of_the_source(self):
        # The frames were due at 1000, 1040 and 1080 ms. The first frame was
        # captured 10 ms late, at 1010 ms. display.read() must use the time at
        # which this frame was due, and not the time of its capture. It counts
        # all times from 1000 ms, so it must return 0 ms for this frame.
        captured = [frame(0, wall_ms=1010), frame(1, wall_ms=1040),
                    frame(2, wall_ms=1080)]
        sent = Log(frame(0, "I", 1015), frame(1, "P", 1045),
                   frame(2, "P", 1088))
        received = Log(frame(0, "I", 1060), frame(2, "P", 1150))
        found = display.read(captured, sent, received)
        self.assertEqual([one.captured_ns / MS for one in found], [0, 40, 80])
        self.assertEqual([one.sent_ns / MS for one in found], [15, 45, 88])
        self.assertEqual([one.arrived_ns / MS for one in found],
                         [60, NEVER, 150])
        self.assertEqual([one.is_key for one in found], [True, False, False])

    def test_an_encoder_that_reorders_frames_is_refused(self):
        with self.assertRaisesRegex(LabError, "tune=zerolatency"):
            display.check_encoded([frame(0), frame(1)],
                                  [frame(0, "I"), frame(1, "B")])

    def test_an_encoder_that_drops_pictures_is_refused(self):
        with self.assertRaisesRegex(LabError, "1 frames of 2 pictures"):
            display.check_encoded([frame(0), frame(1)], [frame(0, "I")])

    def test_time_in_the_encoder_without_its_start(self):
        captured = [frame(number, wall_ms=40 * number) for number in range(27)]
        sent = [frame(number, "P" if number else "I",
                      40 * number + (90 if number < 25 else number))
                for number in range(27)]
        self.assertEqual([ns / MS for ns in
                          display.encoding_ns(captured, sent)], [25, 26])

    def test_statistics_of_bitrateadapt(self):
        found = live_stream.adaptations(
            'Got message #7 from element "bitrateadapt0" (element): '
            "application/x-bitrateadapt-stats, encoder=(string)encoder, "
            "estimator=(string)mmtpsink0, rule=(string)estimate, "
            "estimated-bitrate=(guint64)2800000, "
            "application-limited=(boolean)false, "
            "target-bitrate=(guint64)2300000, "
            "encoder-bitrate=(guint64)1100000, queued-bytes=(guint64)0, "
            "buffers=(guint64)35, reports=(guint64)9;\n")
        self.assertEqual(found, [(35, 2800000, 2300000, 1100000)])

    def test_a_stream_without_bitrateadapt_has_no_statistics(self):
        self.assertEqual(live_stream.adaptations(
            'Got message #7 from element "x" (element): '
            "application/x-mpegstat-stats, frames=(guint64)3;\n"), [])


class EncoderLatenessTest(unittest.TestCase):
    COLUMNS = ("event", "wall_ns", "arrival_ns", "expected_ns", "latency_ns",
               "type", "coding_number", "display_number", "size_bytes", "hash")

    def lateness(self, encoding_ms, flagged=False):
        """Writes the logs of a simulated encoder, and returns the result
        of encoder_lateness() for these logs. That function finds out whether
        the encoder was too slow. The encoder encodes 50 frames. `encoding_ms`
        has the encoding times of the last frames in ms. The frames before
        these take 5 ms each."""
        times = [5] * (50 - len(encoding_ms)) + encoding_ms
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            for log, more in (("captured.csv", [0] * 50), ("sent.csv", times)):
                lines = [",".join(self.COLUMNS)] + [
                    f"frame,{(40 * number + ms) * MS},0,{number * PERIOD},0,P,"
                    f"{number},{number},1000,{number}"
                    for number, ms in enumerate(more)]
                (directory / log).write_text("\n".join(lines) + "\n")
            return cells.encoder_lateness(directory, flagged)

    def test_an_encoder_that_keeps_up(self):
        self.assertEqual(self.lateness([12]), {
            "encoder_p99_ms": 12, "encoder_max_ms": 12, "flagged": False})

    def test_an_encoder_that_falls_behind_flags_the_run(self):
        self.assertTrue(self.lateness([25])["flagged"])
        self.assertTrue(self.lateness([101])["flagged"])

    def test_a_run_that_is_flagged_stays_so(self):
        self.assertTrue(self.lateness([], flagged=True)["flagged"])

    def test_the_start_of_the_encoder_does_not_count(self):
        self.assertFalse(self.lateness([90] + [5] * 49)["flagged"])


class LinkTest(unittest.TestCase):
    # Packets of 1000 bytes. The first, the second and the fourth packet leave
    # the link at 10, 110 and 210 ms. The third packet is lost, so it must not
    # be counted.
    PACKETS = [measurements.Packet(0, index, 1000, fate, 1, 0, ms * MS)
               for index, (fate, ms) in enumerate((
                   ("delivered", 10), ("delivered", 110), ("queue", 120),
                   ("delivered", 210)))]

    def test_bytes_that_came_out_in_a_time(self):
        self.assertEqual(display.carried(self.PACKETS, 0, 200 * MS), 2000)
        self.assertEqual(display.carried(self.PACKETS, 100 * MS, 300 * MS),
                         2000)

    def test_rates_in_steps(self):
        # 1000 bytes in 100 ms are 80 kbit/s.
        self.assertEqual(
            display.rates(self.PACKETS, 0, 300 * MS, 100 * MS),
            [80000, 80000, 80000])
        self.assertEqual(
            display.rates(self.PACKETS, 0, 300 * MS, 200 * MS), [80000, 40000])


class FileTest(unittest.TestCase):

    def test_a_log_that_is_missing_has_no_frames(self):
        with tempfile.TemporaryDirectory() as name:
            self.assertEqual(
                display.read_log(pathlib.Path(name, "captured.csv")).frames,
                [])


if __name__ == "__main__":
    unittest.main()
