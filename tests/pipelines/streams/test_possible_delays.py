# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks how early the frames of a stream can arrive over one or two links.
Some tests compare the times with values that were computed by hand. The other
tests make small random streams and links, and compare the times with the
results of an algorithm for maximum flows.
"""

import math
import random
import unittest

import test_possible

from wirelesslab.streams import possible, possible_delays

MS = test_possible.MS
INSTANCES = 60


def earliest_ms(ways, *links):
    work = possible.jobs(ways, 0, 0)
    return [ns / MS for ns in possible_delays.earliest_ns(work, links)]


def one_byte_at(times_ms, delay_ms):
    return test_possible.link(*times_ms, size=1, delay=delay_ms * MS)


class ByHandTest(unittest.TestCase):
    # The frames of all streams are due at 0 ms, 40 ms, 80 ms and so on.

    def test_frames_wait_for_each_other(self):
        # The first frame needs 60 opportunities, one in each ms, from 0 to 59
        # ms. The second one exists at 40 ms, and gets those from 60 to 69 ms.
        # At 80 ms, the link is idle again.
        self.assertEqual(
            earliest_ms(test_possible.stream("IPP", (60, 10, 1)),
                        one_byte_at(range(200), 20)), [79, 89, 100])

    def test_small_frames_use_the_fast_link_and_large_ones_both(self):
        # The fast link has a delay of 10 ms, and the slow link 30 ms. Both
        # carry a byte in each ms. A frame of 5 bytes arrives over the fast
        # link alone, at 14 ms. A frame of 40 bytes needs 30 opportunities of
        # the fast link, and 10 of the slow link: the last ones arrive at 39
        # ms after the frame exists. In this time, the bytes of the slow link
        # that were sent before the frame existed arrive, too. They must not
        # be subtracted.
        fast, slow = (one_byte_at(range(400), delay) for delay in (10, 30))
        self.assertEqual(
            earliest_ms(test_possible.stream("IP", (5, 40)), fast, slow),
            [14, 40 + 39])
        self.assertEqual(
            earliest_ms(test_possible.stream("IP", (5, 40)), fast),
            [14, 40 + 49])

    def test_a_frame_that_arrives_as_the_next_one_begins(self):
        # A link without delay carries bytes at 0, 40 and 80 ms. The first
        # frame uses the opportunity at 40 ms, when the second one begins.
        self.assertEqual(
            earliest_ms(test_possible.stream("IP", (2, 1)),
                        one_byte_at((0, 40, 80), 0)), [40, 80])

    def test_a_frame_that_the_links_cannot_carry_never_arrives(self):
        self.assertEqual(
            earliest_ms(test_possible.stream("IPP", (1, 5, 1)),
                        one_byte_at((0, 50, 60), 0)),
            [0, math.inf, math.inf])

    def test_nothing_to_send_and_no_link(self):
        self.assertEqual(earliest_ms([], one_byte_at((0,), 0)), [])
        self.assertEqual(earliest_ms(test_possible.stream("I", (1,))),
                         [math.inf])


def flow_time(work, number, opportunities):
    """Returns the earliest time at which all frames up to `number` can have
    arrived. It tries all times at which bytes can arrive.
    """
    for time in sorted({one.arrival_ns for one in opportunities}):
        limited = [job._replace(deadline_ns=time) for job in work]
        if test_possible.fits(limited, range(number + 1), opportunities):
            return time
    return math.inf


class MaximumFlowTest(unittest.TestCase):

    def test_one_and_two_links_are_exact(self):
        late = 0
        for seed in range(INSTANCES):
            draw = random.Random(seed)
            ways = test_possible.draw_stream(draw)[:6]
            delays = [draw.choice((0, 20)) * MS,
                      draw.choice((0, 40, 70)) * MS][:1 + seed % 2]
            links = [test_possible.draw_link(draw, len(ways), delay)[::2]
                     for delay in delays]
            work = possible.jobs(ways, 0, 0)
            expected = [flow_time(work, number, [
                one for link in links for one in link])
                for number in range(len(work))]
            with self.subTest(seed=seed):
                self.assertEqual(
                    possible_delays.earliest_ns(work, links), expected)
            late += sum(time > job.release_ns + 80 * MS
                        for time, job in zip(expected, work))
        # In many instances, frames must wait for earlier ones.
        self.assertGreater(late, INSTANCES)


if __name__ == "__main__":
    unittest.main()
