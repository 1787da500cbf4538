# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks every statistic that the lab computes from the logs of its
experiments, such as latency, jitter and losses. The expected values were
computed by hand.
"""

import collections
import math
import pathlib
import random
import shutil
import tempfile
import unittest

from wirelesslab import processes
from wirelesslab.errors import LabError
from wirelesslab.report import run_results
from wirelesslab.streams import (
    clips,
    frame_log,
    measurements,
    quality,
    rtp_file,
)

MS = 1_000_000
LATE = 500 * MS


def frame(number, type, display=None, size=1000, closed=False, wall_ms=None,
          key=None):
    """Returns the log entry of a frame of a video with 25 frames per second.
    `number` is the number of the frame in coding order, and `display` is its
    number in display order. `wall_ms` is the time of day at which the frame
    was logged, in ms."""
    wall_ms = 40 * number if wall_ms is None else wall_ms
    return frame_log.Frame(
        type, wall_ms * MS, 0, number * 40 * MS, 0, number, size,
        key or (number, size), closed=closed,
        display_number=number if display is None else display)


def ways(types, arrivals_ms, sizes=None, displays=None):
    """Returns a Passage for each frame, that is, the frame with the times at
    which it was due, sent and received. Each frame is sent when it is due. For
    each frame, `arrivals_ms` has the time in ms from its sending to its
    arrival, or None if it does not arrive. The first GOP is closed."""
    return [measurements.Passage(
        frame(number, type, displays[number] if displays else None,
              sizes[number] if sizes else 1000, closed=number == 0),
        number * 40 * MS, number * 40 * MS,
        None if late is None else (number * 40 + late) * MS)
        for number, (type, late) in enumerate(zip(types, arrivals_ms))]


class Logs:
    def __init__(self, *frames):
        self.frames = list(frames)


class PassageTest(unittest.TestCase):

    def test_logs_of_both_ends_by_one_clock(self):
        sent = Logs(*(frame(n, "P", wall_ms=1000 + 40 * n) for n in range(3)))
        received = Logs(frame(0, "P", wall_ms=1007),
                        frame(2, "P", wall_ms=1095))
        found = measurements.in_real_time(sent, received)
        self.assertEqual([way.sent_ns for way in found],
                         [0, 40 * MS, 80 * MS])
        self.assertEqual([way.arrived_ns for way in found],
                         [7 * MS, None, 95 * MS])
        self.assertEqual(measurements.latencies_ns(found), [7 * MS, 15 * MS])

    def test_waiting_at_the_sender_is_lateness_but_no_latency(self):
        sent = Logs(frame(0, "P", wall_ms=0), frame(1, "P", wall_ms=140))
        received = Logs(frame(0, "P", wall_ms=0), frame(1, "P", wall_ms=141))
        late = measurements.in_real_time(sent, received)[1]
        self.assertEqual((late.latency_ns(), late.lateness_ns()),
                         (1 * MS, 101 * MS))

    def test_in_virtual_time_a_frame_arrives_with_its_last_packet(self):
        sent = Logs(frame(0, "I"), frame(1, "P"))
        received = Logs(frame(0, "I"))
        # The first frame has two packets, which arrive after 4 ms and 3 ms.
        # The frame must count as arrived after 4 ms, when the later packet has
        # arrived. The only packet of the second frame is lost.
        packets = [rtp_file.Packet(b"", False, n, t)
                   for n, t in enumerate((90, 90, 3690))]
        log = [measurements.Packet(0, 0, 1, "delivered", 1, 100 * MS, 104 * MS),
               measurements.Packet(0, 1, 1, "delivered", 1, 100 * MS, 103 * MS),
               measurements.Packet(0, 2, 1, "air", 1, 140 * MS, 141 * MS)]
        found = measurements.in_virtual_time(sent, received, packets, log)
        self.assertEqual([(way.sent_ns, way.arrived_ns) for way in found],
                         [(0, 4 * MS), (40 * MS, None)])

    def test_in_virtual_time_a_frame_that_waits_for_room_is_sent_late(self):
        sent = Logs(frame(0, "I"), frame(1, "P"))
        packets = [rtp_file.Packet(b"", False, n, t)
                   for n, t in enumerate((90, 3690, 3690))]
        # The second frame is due at 40 ms, but the link has no room for it at
        # that time. Its two packets enter the link only at 65 and 70 ms. The
        # frame must count as sent at 65 ms.
        log = [measurements.Packet(0, 0, 1, "delivered", 1, 100 * MS, 165 * MS),
               measurements.Packet(0, 1, 1, "delivered", 1, 165 * MS, 170 * MS),
               measurements.Packet(0, 2, 1, "delivered", 1, 170 * MS, 175 * MS)]
        _, way = measurements.in_virtual_time(sent, sent, packets, log)
        self.assertEqual((way.due_ns, way.sent_ns, way.arrived_ns),
                         (40 * MS, 65 * MS, 75 * MS))
        self.assertEqual((way.latency_ns(), way.lateness_ns()),
                         (10 * MS, 35 * MS))

    def test_a_log_without_frames_has_no_passages(self):
        self.assertEqual(measurements.in_real_time(Logs(), Logs()), [])


class FrameTest(unittest.TestCase):

    def test_sent_are_lost_late_or_in_time(self):
        found = measurements.by_type(
            ways("IPBBPBB", [0, 501, 500, None, 20, 30, 40]), LATE)
        self.assertEqual(found["sent"], {"I": 1, "P": 2, "B": 4})
        self.assertEqual(found["lost"], {"B": 1})
        self.assertEqual(found["late"], {"P": 1})
        self.assertEqual(found["in time"], {"I": 1, "P": 1, "B": 3})
        # The deadline is 500 ms. The first P-frame arrives after 501 ms, which
        # is too late, and all later frames refer to it. Only the I-frame must
        # therefore be decodable in time.
        self.assertEqual(found["decodable"], {"I": 1})

    def test_latency_by_size(self):
        found = measurements.latency_by_size(
            ways("PPPPP", [1, 3, 8, None, 5],
                 sizes=[100, 900, 950, 1, 2100]), 1000)
        self.assertEqual(found, [(0, 3, 3 * MS), (2000, 1, 5 * MS)])

    def test_jitter(self):
        # D is the difference between the latencies of two consecutive frames.
        # Its absolute values are 16, 0 and 32 ms. After each frame, the jitter
        # J changes by (|D| - J) / 16. The values of J must therefore be 1 ms,
        # then 1 - 1/16 = 15/16 ms, and then 15/16 + (32 - 15/16)/16 ms.
        found = measurements.jitter_ns(ways("PPPPP", [0, 16, None, 16, 48]))
        self.assertEqual(
            [ns / MS for ns in found],
            [0, 1, 15 / 16, 15 / 16 + (32 - 15 / 16) / 16])

    def test_throughput_over_time(self):
        # Frames of 1000, 500 and 2000 bytes arrive at 0, 40 and 130 ms. In the
        # first three intervals of 50 ms, 1500, 0 and 2000 bytes arrive. The
        # throughput in these intervals must be 240, 0 and 320 kbit/s.
        found = measurements.throughput(
            ways("PPP", [0, 0, 50], sizes=[1000, 500, 2000]), 50 * MS)
        self.assertEqual(found, [(0, 240_000), (50 * MS, 0),
                                 (100 * MS, 320_000)])
        self.assertEqual(measurements.throughput(ways("P", [None]), MS), [])

    def test_duration_is_to_the_end_of_the_last_frame(self):
        found = ways("PPPP", [10, None, 60, None])
        # The first frame arrives at 10 ms. The last frame is sent at 80 ms and
        # arrives 60 ms later, at 140 ms. The time from the first to the last
        # arrival is 130 ms. The duration also includes the frame period of the
        # last frame, 40 ms, so it must be 170 ms.
        self.assertEqual(measurements.duration_ns(found), 170 * MS)
        self.assertAlmostEqual(measurements.mean_throughput(found),
                               2 * 8000 / 0.170)
        self.assertEqual(measurements.duration_ns(ways("P", [None])), 0)
        self.assertEqual(measurements.mean_throughput(ways("P", [None])), 0)

    def test_a_missing_picture_is_the_last_that_was_shown(self):
        # The types of the frames are I P B B P B B in the order of sending,
        # and I B B P B B P in the order of display. `displays` has the place
        # of each sent frame in the order of display.
        displays = [0, 3, 1, 2, 6, 4, 5]
        found = ways("IPBBPBB", [0, 0, None, 0, 0, 0, 0], displays=displays)
        self.assertEqual(measurements.shown(found, LATE), [0, 0, 2, 3, 4, 5, 6])
        found = ways("IPBBPBB", [0, None, 0, 0, 0, 0, 0], displays=displays)
        self.assertEqual(measurements.shown(found, LATE), [0] * 7)
        found = ways("IP", [None, 0])
        self.assertEqual(measurements.shown(found, LATE), [None, None])


class DeadlineTest(unittest.TestCase):
    def test_a_frame_needs_the_deadline_of_its_latest_reference(self):
        # The GOP is closed, so the first B-frame needs only the I-frame, which
        # arrives after 10 ms. A deadline of 10 ms is enough for this B-frame.
        # The second B-frame needs the I-frame and the P-frame, which arrives
        # only after 600 ms. It needs a deadline of 600 ms.
        self.assertEqual(
            [ns / MS for ns in measurements.needed_deadlines_ns(
                ways("IBPBP", [10, 5, 600, 7, 20]))],
            [10, 10, 600, 600, 600])

    def test_frames_that_never_become_decodable(self):
        self.assertEqual(
            [ns / MS for ns in measurements.needed_deadlines_ns(
                ways("IPBIP", [10, None, 5, 30, 40]))],
            [10, math.inf, math.inf, 30, 40])

    def test_a_frame_is_decodable_from_this_deadline_on(self):
        chance = random.Random(25)
        for _ in range(100):
            found = ways(["I", *chance.choices("IPB", k=20)],
                         [chance.choice([None, chance.randrange(1000)])
                          if chance.random() < 0.5 else 20 for _ in range(21)])
            for late_ms in (10, 20, 500, 2000):
                self.assertEqual(
                    [way.frame for way in measurements.decodable_in_time(
                        found, late_ms * MS)],
                    measurements.decodable(found, late_ms * MS))

    def test_throughput_counts_decodable_frames_only(self):
        # The P-frame arrives after 600 ms, which is too late. Only the 1000
        # bytes of the I-frame count. The video has two frames and lasts 80 ms.
        # 1000 bytes in 80 ms are 100 kbit/s.
        self.assertEqual(measurements.decodable_throughput(
            ways("IP", [10, 600]), LATE), 100_000)
        self.assertEqual(measurements.decodable_throughput([], LATE), 0)


class SharingTest(unittest.TestCase):
    def test_streams_are_compared_while_all_of_them_are_sent(self):
        """The first stream is sent from 0 to 120 ms, and the second stream
        from 60 to 180 ms. To compare the streams, their throughputs must be
        computed for the common time, from 60 to 120 ms. In this time, one
        frame of each stream arrives.
        """
        first = ways("IPPP", [10] * 4)
        second = ways("IPPP", [30] * 4, sizes=[3000] * 4)
        for moved in (0, 10**18):
            rates = measurements.common_throughput(
                [(moved, first), (moved + 60 * MS, second)])
            self.assertAlmostEqual(rates[0], 8000 / 0.06)
            self.assertAlmostEqual(rates[1], 24000 / 0.06)

    def test_streams_one_after_the_other_share_nothing(self):
        self.assertIsNone(measurements.common_throughput(
            [(0, ways("IP", [0, 0])), (40 * MS, ways("IP", [0, 0]))]))

    def test_fairness_is_jain_s(self):
        """The indices are (1 + 3)^2 / (2 (1 + 9)) and (1 + 2 + 3)^2 / (3 (1 + 4
        + 9)).
        """
        for rates, index in (((1, 3), 0.8), ((1, 2, 3), 36 / 42),
                             ((5, 5, 5), 1), ((7, 0, 0, 0), 0.25)):
            self.assertAlmostEqual(measurements.fairness(rates), index)
        self.assertTrue(math.isnan(measurements.fairness((0, 0))))


class PacketTest(unittest.TestCase):
    LOG = """\
# wirelesslink-log 1
# packet time_ns flow station index size_bytes fate attempts arrival_ns departure_ns airtime_ns damaged_bytes
# quality time_ns station value
# call time_ns state
quality 0 0 0.5
quality 0 1 1
packet 20 1 1 1 100 air 4 10 20 5 0
packet 30 1 1 0 100 delivered 2 10 30 5 0
packet 30 0 0 0 40 delivered 1 10 30 5 0
quality 35 1 0.25
packet 40 1 1 2 100 queue 0 40 40 0 0
packet 50 1 1 3 100 damaged 1 40 50 5 1
"""  # noqa: E501

    def log(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "wl0.log"
            path.write_text(self.LOG)
            return measurements.read_link(path, 1)

    def test_the_log_of_one_station_in_the_order_of_sending(self):
        log = self.log()
        self.assertEqual([packet.index for packet in log.packets],
                         [0, 1, 2, 3])
        self.assertEqual([packet.is_lost() for packet in log.packets],
                         [False, True, True, False])
        self.assertEqual(log.quality, [(0, 1), (35, 0.25)])

    def test_attempts(self):
        log = self.log()
        self.assertEqual(measurements.attempts(log.packets),
                         {2: 1, 4: 1, 0: 1, 1: 1})
        # The packets have 2, 4, 0 and 1 attempts. The packet with 0 attempts
        # was dropped before its first transmission. It does not count, so the
        # mean must be (2 + 4 + 1) / 3.
        self.assertAlmostEqual(measurements.mean_attempts(log.packets), 7 / 3)
        self.assertEqual(measurements.mean_attempts([]), 0)

    def test_attempts_in_the_classes_of_the_paper(self):
        # Ten packets were transmitted: six of them once, two twice, one five
        # times and one seven times. Three packets were never transmitted, so
        # they do not count. The table must have the shares of five classes:
        # one, two, three, four, and at least five transmissions.
        found = {1: 6, 2: 2, 5: 1, 7: 1, 0: 3}
        shares, total = measurements.attempt_percents(
            collections.Counter(found))
        self.assertEqual(shares, [60, 20, 0, 0, 20])
        self.assertEqual(total, 10)
        self.assertEqual(measurements.attempt_percents(collections.Counter()),
                         ([0] * 5, 0))

    def test_sequence_counts_bytes_as_they_were_sent(self):
        # Each packet has 100 bytes. There are four packets:
        # - Packet 0 entered the link at 10 ns and was delivered at 30 ns.
        # - Packet 1 entered the link at 10 ns and was lost at 20 ns.
        # - Packet 2 entered the link at 40 ns and was lost at 40 ns.
        # - Packet 3 entered the link at 40 ns and was delivered at 50 ns.
        #
        # sequence() must return three lists of pairs: one list for the packets
        # that were sent, one for those that were delivered, and one for those
        # that were lost. The first number of a pair is the time at which the
        # packet was sent, delivered or lost. The second number is the total
        # size in bytes of this packet and of all packets that were sent before
        # it.
        sent, delivered, lost = measurements.sequence(self.log().packets)
        self.assertEqual(sent, [(10, 100), (10, 200), (40, 300), (40, 400)])
        self.assertEqual(delivered, [(30, 100), (50, 400)])
        self.assertEqual(lost, [(20, 200), (40, 300)])

    def test_worst_window_holds_most(self):
        self.assertEqual(measurements.worst_window([1, 20, 22, 29, 40], 10), 20)
        self.assertEqual(measurements.worst_window([30, 5], 10), 5)
        self.assertIsNone(measurements.worst_window([], 10))

    def test_runs_of_lost_packets(self):
        lost = [word == "x" for word in "x.xx...x.xxx.xx"]
        runs = measurements.loss_runs(lost)
        self.assertEqual(runs, {1: 2, 2: 2, 3: 1})
        shares, packets, total = measurements.run_percents(runs)
        self.assertEqual(shares, [40, 40, 20, 0, 0, 0])
        self.assertEqual((packets, total), (9, 5))

    def test_runs_where_nothing_was_lost(self):
        self.assertEqual(
            measurements.run_percents(measurements.loss_runs([False] * 3)),
            ([0] * 6, 0, 0))

    def test_a_row_of_ouwens_table_3_12(self):
        # This row of the thesis has the results for retry value R = 1 (each
        # packet is transmitted only once), for a clip of 3 Mbit/s, and with a
        # microwave oven that disturbed the link. 529 packets were lost, in 509
        # series of consecutive losses. The table sorts these series into six
        # classes by their length: 1, 2, 3, 4, 5 to 10, and more than 10
        # packets. The shares of the classes in the thesis are, in %: 97.1 2.6
        # 0.0 0.2 0.2 0.0.
        runs = collections.Counter({1: 494, 2: 13, 4: 1, 5: 1})
        shares, packets, total = measurements.run_percents(runs)
        self.assertEqual([round(share, 1) for share in shares],
                         [97.1, 2.6, 0, 0.2, 0.2, 0])
        self.assertEqual((packets, total), (529, 509))

    def test_long_runs_are_counted_too(self):
        """A table in the thesis of Ouwens sorts series of consecutive losses
        by their length. The last two classes of the table are 5 to 10 packets,
        and more than 10 packets. This test has series of 10, 11 and 200 lost
        packets. Long series must count in the last class, too.
        """
        lost = [True] * 10 + [False] + [True] * 11 + [False] + [True] * 200
        shares, packets, total = measurements.run_percents(
            measurements.loss_runs(lost))
        self.assertAlmostEqual(sum(shares), 100)
        self.assertEqual([round(share) for share in shares],
                         [0, 0, 0, 0, 33, 67])
        self.assertEqual((packets, total), (221, 3))


class PaperTest(unittest.TestCase):

    def test_request_reply(self):
        # The times are 1, 2, 3 and so on up to 100 s. If they are sorted, the
        # 90th percentile is the 90th time, which is 90 s.
        found = measurements.request_reply(
            [float(n) for n in range(100, 0, -1)])
        self.assertEqual((found.minimum, found.maximum), (1, 100))
        self.assertEqual(found.percentiles, {50: 50, 90: 90, 95: 95, 99: 99})
        # The median of the times from 1 to 100 s is 50.5 s. A time is an
        # outlier if it exceeds the median by more than a tolerance. The
        # outliers must be:
        # - with a tolerance of 0.2 s, the times from 51 s to 100 s
        # - with a tolerance of 0.5 s or 1 s, the times from 52 s to 100 s
        # - with a tolerance of 10 s, the times from 61 s to 100 s
        self.assertEqual(found.outliers, {0.2: 0.5, 0.5: 0.49, 1: 0.49,
                                          2: 0.48, 5: 0.45, 10: 0.40})

    def test_outliers_exceed_the_median_by_more_than_the_tolerance(self):
        times = [1.0, 1.0, 1.0, 1.25, 3.0]
        self.assertEqual(measurements.outliers(times, 0.25), 0.2)
        self.assertEqual(measurements.outliers(times, 0.2), 0.4)
        self.assertEqual(measurements.outliers(times, 5), 0)

    def test_sustainable_rate_is_that_between_stalls(self):
        # `blocks` has five points. Each point consists of a time in s and the
        # number of bytes that have arrived until then. 10 bytes arrive in each
        # of the first three seconds, and the last 10 bytes take six seconds.
        # For each pair of points, a rate is computed: the difference in bytes,
        # divided by the difference in time. There are ten pairs. For the six
        # pairs without the last point, the rate is 10 byte/s. For the four
        # pairs with the last point, the rates are 40/9, 30/8, 20/7 and 10/6
        # byte/s. The sustainable rate is the median of all ten rates, so it
        # must be 10 byte/s.
        blocks = [(0, 0), (1, 10), (2, 20), (3, 30), (9, 40)]
        self.assertEqual(measurements.sustainable_rate(blocks), 10)
        self.assertEqual(measurements.sustainable_rate(blocks[3:]), 10 / 6)
        self.assertEqual(measurements.sustainable_rate([(0, 0), (0, 5)]), 0)

    def test_one_way_delay(self):
        # Times are in an arbitrary unit. The packet needs 30 units to reach
        # the receiver. The receiver then waits for 7 units before it sends the
        # acknowledgement, which needs 50 units to reach the sender. The
        # receiver's clock is 1000 units ahead of the sender's clock. The
        # estimated one-way delay must be the mean of 30 and 50 units.
        self.assertEqual(measurements.one_way_delay(
            sent=0, reception=1030, sending_ack=1037, received=87), 40)

    def test_grades_are_those_of_evalvid(self):
        for psnr, grade in ((float("inf"), 5), (37.1, 5), (37, 4), (31.1, 4),
                            (31, 3), (25.1, 3), (25, 2), (20.1, 2), (20, 1),
                            (0, 1)):
            self.assertEqual(measurements.mos(psnr), grade, psnr)

    def test_the_worst_moment_is_that_of_all_together(self):
        self.assertEqual(
            measurements.worst_place([[0, 9, 5, 0], [0, 1, 6, 2]]), 2)
        self.assertIsNone(measurements.worst_place([[0, 0], [0, 0]]))

    def test_the_worst_places_are_those_with_the_largest_sum(self):
        # `errors` contains the error of each picture in two streams. The sums
        # over both streams are 0, 10, 11, 2, 2 and 10 for the pictures 0 to 5.
        # There are five groups of two neighbouring pictures, and the sums of
        # their errors are 10, 21, 13, 4 and 12. The second group has the
        # largest sum, so the result must be pictures 1 and 2.
        errors = [[0, 9, 5, 0, 0, 10], [0, 1, 6, 2, 2, 0]]
        self.assertEqual(measurements.worst_places(errors, 2), range(1, 3))
        # There are four groups of three neighbouring pictures. The groups
        # overlap: they begin with the pictures 0, 1, 2 and 3. The sums of
        # their errors over both streams are 21, 23, 15 and 14. The second
        # group has the largest sum. It begins with picture 1, so the result
        # must be pictures 1 to 3.
        self.assertEqual(measurements.worst_places(errors, 3), range(1, 4))
        self.assertEqual(measurements.worst_places(errors, 9), range(6))
        self.assertIsNone(measurements.worst_places([[0, 0], [0, 0]], 2))

    def test_the_first_of_equally_bad_places_is_chosen(self):
        self.assertEqual(measurements.worst_places([[0, 3, 3, 3]], 2),
                         range(1, 3))


class TableTest(unittest.TestCase):

    def test_a_number_has_its_median_minimum_and_maximum(self):
        self.assertEqual(run_results.spread([3.0, 1.0, 2.5], "{:.1f}"),
                         "2.5 (1.0–3.0)")
        self.assertEqual(run_results.spread([1.04, 1.03], "{:.1f}"), "1.0")
        self.assertEqual(run_results.spread([float("nan"), 2], "{:.0f}"), "2")
        self.assertEqual(run_results.spread([float("nan")], "{:.0f}"), "–")
        self.assertEqual(run_results.spread([20, float("inf")], "{:.0f}"),
                         "∞ (20–∞)")

    def test_a_directory_without_runs_is_an_error(self):
        with tempfile.TemporaryDirectory() as directory:
            output = pathlib.Path(directory)
            with self.assertRaisesRegex(LabError, "has no runs"):
                run_results.read(output, None, 500)
            (output / "grid.json").write_text(
                '{"command": "", "cells": [{"name": "a"}]}')
            with self.assertRaisesRegex(LabError,
                                        "has no complete run"):
                run_results.read(output, None, 500)


@unittest.skipUnless(shutil.which("ffmpeg"), "there is no ffmpeg")
class QualityTest(unittest.TestCase):
    """Compares pictures that were shown with the pictures of a clip. The
    pictures of the clip are grey. The luminance of each picture is higher by
    16 than that of the previous picture. The mean square error between two
    consecutive pictures is therefore 256."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.clip = self.directory / "grey.mkv"
        video = b"".join(bytes([64 + 16 * n]) * 4096 + bytes([128]) * 2048
                         for n in range(5))
        raw = self.directory / "grey.yuv"
        raw.write_bytes(video)
        processes.run(
            [*clips.FFMPEG, "-f", "rawvideo", "-s", "64x64", "-pix_fmt",
             "yuv420p", "-i", str(raw), "-c:v", "ffv1", str(self.clip)],
            "ffmpeg")

    def test_pictures_that_were_repeated_differ(self):
        found = quality.measure(self.clip, [0, 0, 0, 3, 3], self.directory)
        self.assertEqual([picture.mse for picture in found],
                         [0, 256, 1024, 0, 256])
        # The mean square error of the second picture is 256, so its PSNR is 10
        # log10(255^2 / 256) = 24.05 dB. The PSNR of all five pictures together
        # is computed from the mean of their errors, which is 1536 / 5. This
        # PSNR is therefore 10 log10(255^2 / (1536 / 5)) = 23.26 dB.
        self.assertAlmostEqual(found[1].psnr(), 24.0484, places=3)
        self.assertAlmostEqual(quality.mean_psnr(found), 23.2567, places=3)
        # All pixels of a picture have the same luminance. If a and b are the
        # luminances of two such pictures, the SSIM of the two pictures must be
        # (2 a b + C1) / (a a + b b + C1), where C1 = (0.01 * 255)^2.
        c1 = (0.01 * 255) ** 2
        self.assertAlmostEqual(
            found[1].ssim, (2 * 64 * 80 + c1) / (64 ** 2 + 80 ** 2 + c1),
            places=4)

    def test_times_of_a_raw_stream_move_no_picture(self):
        raw = self.directory / "grey.m1v"
        processes.run(
            [*clips.FFMPEG, "-i", str(self.clip), "-r", "25", "-c:v",
             "mpeg1video", "-bf", "2", "-q:v", "1", "-f", "mpeg1video",
             str(raw)], "ffmpeg")
        found = quality.measure(raw, [0, 0, 2, 3, 4], self.directory)
        self.assertEqual([picture.mse > 0 for picture in found],
                         [False, True, False, False, False])

    def test_the_picture_before_the_first_frame_is_black(self):
        found = quality.measure(self.clip, [None, 1, 2, 3, 4], self.directory)
        self.assertEqual([picture.mse for picture in found],
                         [(64 - 16) ** 2, 0, 0, 0, 0])

    def test_an_unharmed_film(self):
        found = quality.measure(self.clip, list(range(5)), self.directory)
        self.assertEqual(found, [quality.UNHARMED] * 5)
        self.assertEqual(quality.drawable(quality.mean_psnr(found)), 100)

    def test_a_film_of_another_length_is_a_failure(self):
        for count in (4, 6):
            with self.assertRaisesRegex(LabError,
                                        f"5 pictures, but {count} frames"):
                quality.measure(self.clip, [0] * count, self.directory)


if __name__ == "__main__":
    unittest.main()
