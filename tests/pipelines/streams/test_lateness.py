# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests lateness.py. A busy machine delays an experiment in two ways:
processes wake up late, and the emulated link pushes packets late. If this
lateness may have changed the results of a run, lateness.py must flag the run.
Most runs in these tests have only a few frames. The expected values were
computed by hand."""

import unittest

from wirelesslab.streams import frame_log, lateness, measurements

MS = 1_000_000
PERIOD_MS = 40


def passages(late_ms, types="I"):
    """Returns a list of frames, each with the times of its way (Passage). Each
    frame was sent when it was due. For each frame, `late_ms` has the time in
    ms from its sending to its arrival, or None if it did not arrive."""
    found = []
    for number, ms in enumerate(late_ms):
        due = number * PERIOD_MS * MS
        frame = frame_log.Frame(
            types[number % len(types)], due, due, due, 0, number, 1000,
            (str(number), 1000), display_number=number)
        found.append(measurements.Passage(
            frame, due, due, None if ms is None else due + ms * MS))
    return found


def known(machine=(0.0, 0.0, 0.0), link=(0.0, 0.0, 0.0)):
    """Returns a part of the results of a run as a dictionary, with keys such
    as "machine_p99_ms". `machine` says how late a process on the machine woke
    up. `link` says how late the emulated link pushed packets. Each of them is
    a tuple (median, 99th percentile, maximum) in ms.
    """
    return {f"{part}_{name}_ms": ms
            for part, own in (("machine", machine), ("link", link))
            for name, ms in zip(lateness.LINK_STATISTICS, own)}


class DescribeTest(unittest.TestCase):
    LINK = {"median": MS // 10, "p99": 2 * MS, "max": 5 * MS}

    def test_the_statistics_of_the_machine_and_of_the_link(self):
        self.assertEqual(
            lateness.describe([*[0.1] * 98, 3, 4], [self.LINK]),
            {**known((0.1, 3, 4), (0.1, 2, 5)), "machine_p75_ms": 0.1,
             "machine_p90_ms": 0.1, "machine_p95_ms": 0.1})

    def test_the_latest_of_several_links_counts(self):
        other = {"median": 0, "p99": 3 * MS, "max": 3 * MS}
        found = lateness.describe([0.1], [self.LINK, other])
        self.assertEqual([found[f"link_{name}_ms"]
                          for name in ("median", "p99", "max")], [0.1, 3, 5])

    def test_unmeasured_lateness_is_unknown(self):
        for ticks, links in (([], [self.LINK]), ([1], []), ([1], [None]),
                             ([1], [self.LINK, None])):
            found = lateness.describe(ticks, links)
            self.assertIsNone(lateness.steps(found), (ticks, links))
            self.assertTrue(lateness.grade(found, [])["flagged"])

    def test_percentiles_between_known_ones_rise_evenly(self):
        late = {**known((1, 99, 200)), "machine_p75_ms": 2,
                "machine_p90_ms": 5, "machine_p95_ms": 10}
        self.assertEqual(
            [lateness.percentile_of(late, "machine", percent)
             for percent in (50, 60, 75, 78, 93, 99, 100)],
            [1, 1.4, 2, 2.6, 8, 99, 200])
        self.assertEqual(lateness.percentile_of(
            known((1, 50, 60)), "machine", 57), 8)

    def test_a_link_is_late_when_the_machine_is(self):
        """A process of the machine can wake up late, and the emulated link can
        push packets late. Both kinds of lateness were measured, but not the
        95th percentile of the link. The known percentiles are, in ms:

            percentile  50th  95th  99th
            machine        1    10    99
            link           2     ?   100

        The 99th percentiles are almost equal, so a busy machine is assumed to
        be the cause of both kinds of lateness. The lateness of the link is
        then assumed to rise in the same proportion as that of the machine.
        From the 50th to the 99th percentile, both rise by 98 ms. From the 50th
        to the 95th percentile, the machine rises by 9 ms, so the link must
        rise by 9 ms, too. The missing value is therefore 2 ms + 9 ms = 11 ms.
        """
        late = {**known((1, 99, 200), (2, 100, 120)), "machine_p75_ms": 2,
                "machine_p90_ms": 5, "machine_p95_ms": 10}
        for percent, ms in ((50, 2), (95, 11), (99, 100), (100, 120)):
            self.assertAlmostEqual(
                lateness.percentile_of_link(late, percent), ms)
        # The lateness of the machine is the time by which processes wake up
        # too late. The lateness of the link is the time by which the emulated
        # link pushes packets too late. In this case, the 99th percentile of
        # the lateness is 99 ms for the machine, but 296 ms for the link. A
        # busy machine can therefore not be the only cause of the lateness of
        # the link.
        #
        # In this case, percentile_of_link() must not derive the 95th
        # percentile of the link from the percentiles of the machine. It must
        # interpolate linearly between the median of the link (2 ms) and the
        # 99th percentile of the link (296 ms).
        late["link_p99_ms"] = 296
        self.assertAlmostEqual(
            lateness.percentile_of_link(late, 95), 2 + 294 * 45 / 49)

    def test_the_shares_of_the_frames_add_up(self):
        found = lateness.steps(known((1, 50, 60), (2, 2, 2)))
        self.assertAlmostEqual(sum(share for _, share in found), 1)
        self.assertEqual((found[0], found[-1]), ((3, 0.5), (62, 0.01)))

    def test_a_stall_counts_for_each_wake_up_that_was_due_in_it(self):
        # The process that measures the lateness of the machine should wake up
        # every 10 ms. One wake-up is 35 ms late. In these 35 ms, three more
        # wake-ups were due, so the late wake-up must count as four wake-ups.
        self.assertEqual(lateness.wakeups([0, 0.5, 10, 35, 0.2]),
                         [0, 0.5, 10, 35, 25, 15, 5, 0.2])


class GradeTest(unittest.TestCase):
    def test_a_run_far_from_its_deadline_may_be_late(self):
        """A busy machine wakes processes up late, and its emulated link pushes
        packets late. In this test, the sum of these two delays has a 99th
        percentile of 12 ms, as in many runs over LTE links. All frames have a
        latency of 150 ms, and the deadline is 500 ms. Delays of 12 ms can
        therefore not change the result, and the run must not be flagged."""
        found = lateness.grade(known((0.2, 9, 40), (0.1, 3, 20)),
                               [passages([150] * 100)])
        self.assertFalse(found["flagged"])
        # grade() adds the lateness of the machine, the time by which processes
        # wake up too late, and the lateness of the link, the time by which the
        # emulated link pushes packets too late. The sum has a median of 0.3 ms
        # and a 99th percentile of 12 ms. Between the two, grade() interpolates
        # linearly. From the median to the 57th percentile are 7 of the 49
        # percent up to the 99th percentile, so the sum rises by 7/49 of the
        # difference of 11.7 ms. The 57th percentile is therefore 0.3 ms + 11.7
        # ms * 7/49.
        #
        # grade() computes the median of the latencies without lateness. For
        # this, it subtracts the assumed lateness of each frame from the
        # measured latency, which is 150 ms for all frames. The greatest
        # lateness gives the lowest result. From the lowest to the highest
        # result, the groups of frames are:
        # - 43 % of the frames with a lateness above the 57th percentile
        # - 7 % of the frames with the 57th percentile as lateness
        # - 50 % of the frames with the median, 0.3 ms, as lateness
        #
        # The lower half of the results ends with the second group. The median
        # of the results is therefore 150 ms minus the 57th percentile.
        (effect,) = found["effects"]
        self.assertEqual(effect["verdicts_percent"], 0)
        self.assertAlmostEqual(effect["median_shift_ms"], 0.3 + 11.7 / 7)
        self.assertAlmostEqual(effect["p95_shift_ms"], 0.3)

    def test_the_shift_of_the_median_may_be_10_ms_or_5_percent(self):
        for latency, late, flagged in ((50, 10, False), (50, 10.1, True),
                                       (300, 15, False), (300, 15.1, True)):
            found = lateness.grade(known((late, late, late)),
                                   [passages([latency] * 10)])
            self.assertEqual(found["flagged"], flagged, (latency, late))

    def test_a_transport_may_react_to_more_than_20_ms(self):
        ways = passages([400] * 100)
        for machine, link, flagged in ((20, 0, False), (20.1, 0, True),
                                       (0, 20, False), (0, 20.1, True)):
            found = lateness.grade(known((0, machine, machine),
                                         (0, link, link)), [ways])
            self.assertEqual(found["flagged"], flagged, (machine, link))
            self.assertEqual(lateness.reasons(found["effects"][0]), [])

    def test_verdicts_that_change_are_weighted_by_the_lateness(self):
        """Each frame must arrive within 500 ms after it was sent. Of 100
        I-frames, 90 have a latency of 100 ms, 4 a latency of 502 ms, and 6 a
        latency of 508 ms. A verdict says whether a frame is decodable in time.
        It is negative for the 10 frames with more than 500 ms.

        A busy machine delays frames, because its processes wake up too late.
        This delay is called lateness. It has these statistics:

          - median: 1 ms
          - 99th percentile: 5 ms
          - maximum: 10 ms

        Without lateness, the latencies would be lower and verdicts would
        change. If all frames were late by the same time, the number of changed
        verdicts would depend on this time:

          - less than 2 ms: no verdict
          - 2 ms or more, but less than 8 ms: 4 of the 100 verdicts
          - 8 ms or more: 10 of the 100 verdicts

        grade() does not know the lateness of a single frame. It assumes that
        the lateness rises linearly from the median, 1 ms, to the 99th
        percentile, 5 ms. As an approximation, it divides the frames into
        groups at fixed percentiles (PERCENTS): 50, 57, 64 and so on. All
        frames of a group count with the lateness at the upper end of their
        group. At the 57th percentile, the lateness is below 2 ms. At the 64th
        percentile, the lateness is above 2 ms. The frames count as follows:

          - the first 57 % of the frames: less than 2 ms, so no verdict changes
          - the next 42 % of the frames: between 2 and 5 ms, so 4 % of their
            verdicts change
          - the last 1 % of the frames: the maximum, 10 ms, so 10 % of their
            verdicts change

        The share of all verdicts that change must therefore be 0 % * 0.57 +
        4 % * 0.42 + 10 % * 0.01 = 1.78 %.
        """
        late = known((1, 5, 10))
        ways = passages([100] * 90 + [502] * 4 + [508] * 6)
        found = lateness.grade(late, [ways])
        self.assertAlmostEqual(found["effects"][0]["verdicts_percent"], 1.78)
        self.assertTrue(found["flagged"])
        self.assertIn("lateness may have changed whether 1.78 % of the frames "
                      "were decodable in time, ", lateness.words(found))
        self.assertIn("(99th percentile and maximum: machine 5.00 ms and 10.00 "
                      "ms, link 0.00 ms and 0.00 ms)", lateness.words(found))
        # The same frames are now graded with a deadline of 400 ms. Their
        # latencies are 100, 502 and 508 ms. The busy machine delayed each
        # frame by at most 10 ms. Without this delay, the frames with 502 and
        # 508 ms would still have missed the deadline. The result is therefore
        # reliable, and the run must not be flagged as unreliable.
        self.assertFalse(lateness.grade(late, [ways], 400)["flagged"])

    def test_a_stall_at_the_start_delays_all_frames(self):
        """A stall of 140 ms at the handshake delayed a whole stream. Each of
        its 500 I-frames had a latency of 510 ms, but the deadline is 500 ms.
        Without the stall, all I-frames would have been in time. A special rule
        about stalls at the start must flag this run.

        The general rule about lateness would not flag this run. Only 1 of 100
        wake-ups was late because of the stall. The general rule therefore
        assumes that the stall delayed 1 of 100 frames, so that lateness may
        have changed the result of 1 % of the frames. The general rule flags a
        run only if this percentage is greater than the limit MAX_VERDICTS.
        This limit is 1 %, so 1 % does not exceed it."""
        late = known((0.03, 0.1, 140), (0.03, 0.1, 140))
        found = lateness.grade(late, [passages([510] * 500)])
        (effect,) = found["effects"]
        self.assertAlmostEqual(effect["verdicts_percent"], 1)
        self.assertAlmostEqual(effect[lateness.STALL], 100)
        self.assertTrue(found["flagged"])
        self.assertEqual(
            lateness.words(found),
            "lateness may have changed whether 100.00 % of the frames were "
            "decodable in time, if the longest stall delayed the start (99th "
            "percentile and maximum: machine 0.10 ms and 140.00 ms, link 0.10 "
            "ms and 140.00 ms)")
        # A stall is a time in which the busy machine does not run a process.
        # In this part of the test, the longest stall is 140 ms for the machine
        # and 140 ms for the link. grade() must assume that both are the same
        # stall. It must therefore subtract 140 ms once from the latency, and
        # not the sum of the two stalls, 280 ms. Each frame has a latency of
        # 641 ms. Without the stall, the latency is 501 ms.
        #
        # The deadline is 500 ms. The frames miss it with and without the
        # stall, so the result is reliable. The run must not be flagged as
        # unreliable.
        self.assertFalse(lateness.grade(
            late, [passages([641] * 500)])["flagged"])

    def test_a_stall_may_change_5_percent_of_the_verdicts(self):
        late = known((0, 0, 30))
        for frames, flagged in ((5, False), (6, True)):
            found = lateness.grade(late, [passages(
                [100] * (100 - frames) + [520] * frames)])
            self.assertEqual(found["flagged"], flagged, frames)

    def test_the_maximum_does_not_move_percentiles(self):
        """Processes of the machine woke up at most 25 ms too late, and the
        emulated link pushed packets at most 25 ms too late. Such a maximum
        often comes from a single late wake-up, which delays only one frame.
        The two maxima must therefore not change the percentiles of the
        latency.

        Of 2000 frames, 1899 have a latency of at most 150 ms, and 101 have
        162.5 ms. 95 % of 2000 frames are 1900 frames. The 1900th frame, sorted
        by latency, is the first one with 162.5 ms. The 95th percentile is
        therefore 162.5 ms.

        For other results, grade() assumes that 1 % of the frames were late by
        50 ms, the sum of the two maxima. This assumption would make the
        percentile wrong. grade() does not know which frames were late, so it
        would take 1 % of the frames of each latency. Of the 101 frames with
        162.5 ms, it would take 1.01 frames and subtract 50 ms from their
        latency. These 1.01 frames and the 1899 frames would then have at most
        150 ms. Together they are 1900.01 frames, which is more than 95 % of
        all frames. The 95th percentile would wrongly fall from 162.5 ms to 150
        ms, which is 12.5 ms too low."""
        ways = passages([30] * 1879 + [150] * 20 + [162.5] * 101)
        found = lateness.grade(known((0, 0, 25), (0, 0, 25)), [ways])
        self.assertEqual(found["effects"][0]["p95_shift_ms"], 0)
        self.assertFalse(found["flagged"])
        # The lateness of the machine is the time by which processes wake up
        # too late. In this run, its median and its 99th percentile are both 12
        # ms. grade() therefore assumes that almost all frames were 12 ms late.
        # Without lateness, the 95th percentile of their latency would be 12 ms
        # lower. grade() must report this difference.
        found = lateness.grade(known((12, 12, 25)), [ways])
        self.assertEqual(found["effects"][0]["p95_shift_ms"], 12)
        self.assertTrue(found["flagged"])

    def test_grades_of_older_versions_are_recognised(self):
        late = lateness.grade(known((1, 1, 1)), [passages([100] * 10)])
        self.assertTrue(lateness.is_graded(late, 500))
        self.assertFalse(lateness.is_graded(late, 400))
        del late["effects"][0][lateness.STALL]
        self.assertFalse(lateness.is_graded(late, 500))
        self.assertTrue(lateness.words(late))

    def test_a_late_reference_counts_with_all_its_frames(self):
        """There are 20 frames in two groups. Each group consists of an I-frame
        and nine P-frames that refer to it. A frame must arrive within 500 ms.
        The I-frame of the second group arrives after 505 ms, which is too
        late. All ten frames of the second group are therefore not decodable in
        time.

        A busy machine delayed each frame by 6 ms. Without this delay, the
        I-frame would have arrived after 499 ms. All ten frames of the second
        group would then have been decodable in time. The lateness has changed
        the result for ten frames, which are 50 % of the 20 frames."""
        ways = passages([100] * 10 + [505] + [100] * 9, "IPPPPPPPPP")
        found = lateness.grade(known((6, 6, 6)), [ways])
        self.assertAlmostEqual(found["effects"][0]["verdicts_percent"], 50)

    def test_one_flagged_stream_flags_the_cell(self):
        late = known((11, 11, 11))
        good, bad = passages([400] * 9), passages([20] * 9)
        self.assertFalse(lateness.grade(late, [good])["flagged"])
        self.assertTrue(lateness.grade(late, [good, bad])["flagged"])

    def test_a_run_in_which_nothing_arrives_is_not_flagged(self):
        for ways in ([], passages([None] * 5)):
            self.assertFalse(lateness.grade(known((1, 9, 9)),
                                            [ways])["flagged"])

    def test_old_results_have_only_the_99th_percentile(self):
        old = {"machine_p99_ms": 4.0, "link_p99_ms": 5.0, "flagged": True}
        found = lateness.grade(old, [passages([100] * 10)])
        self.assertEqual(found["effects"][0]["median_shift_ms"], 9)
        self.assertFalse(found["flagged"])

    def test_without_frames_one_ms_is_the_limit(self):
        for machine, link, flagged in ((0.2, 1.0, False), (1.01, 0.1, True),
                                       (0.1, 1.01, True), (None, 0.1, True),
                                       (0.1, None, True)):
            found = lateness.grade_constant(
                {"machine_p99_ms": machine, "link_p99_ms": link})
            self.assertEqual(found["flagged"], flagged, (machine, link))

    def test_why_a_run_was_flagged(self):
        self.assertEqual(
            lateness.words({"machine_p99_ms": 2.5, "link_p99_ms": None}),
            "the lateness was not measured (99th percentile and maximum: "
            "machine 2.50 ms and unknown, link unknown and unknown)")
        self.assertEqual(
            lateness.words({"machine_p99_ms": 2.5, "link_p99_ms": 0.1,
                            "link_max_ms": 0.3, "encoder_p99_ms": 30,
                            "encoder_max_ms": 31}),
            "the machine, the link or the encoder was too late (99th "
            "percentile and maximum: machine 2.50 ms and unknown, link 0.10 ms "
            "and 0.30 ms, encoder 30.00 ms and 31.00 ms)")


if __name__ == "__main__":
    unittest.main()
