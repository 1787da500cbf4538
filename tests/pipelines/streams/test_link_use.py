# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests link_use, which computes from the log of an emulated link how the link
was used over time: at which rate packets left the link, how long they stayed
in the link, and when packets were lost. The expected values were computed by
hand.
"""

import math
import unittest

from wirelesslab.streams import link_use, measurements

MS = 1_000_000


def packets(*rows):
    """Returns a list with a packet for each of `rows`. A row is a tuple with
    the time in ms at which the packet enters the link, the time in ms at which
    it leaves the link, its size in bytes, and its fate. The fate says whether
    the packet was delivered, or how it was lost or damaged.
    """
    return [measurements.Packet(0, index, size, fate, 1, arrival * MS,
                                departure * MS)
            for index, (arrival, departure, size, fate) in enumerate(rows)]


# Packets of a link: first a packet of a handshake, which enters the link at 20
# ms, and then the packets of a video. The first packet of the video enters the
# link at 100 ms.
PACKETS = packets(
    (20, 21, 60, "delivered"), (100, 110, 1000, "delivered"),
    (100, 120, 1000, "delivered"), (130, 190, 500, "damaged"),
    (145, 145, 1000, "queue"), (150, 230, 1000, "air"),
    (190, 290, 1000, "delivered"), (260, 260, 1000, "frame"),
    (310, 320, 1000, "delivered"))


class LinkUseTest(unittest.TestCase):

    def test_the_film_begins_with_the_first_large_packet(self):
        self.assertEqual(link_use.begin_ns(PACKETS), 100 * MS)
        # The video begins with the first large packet. If there are only small
        # packets, begin_ns() must return the time at which the first packet
        # entered the link.
        self.assertEqual(link_use.begin_ns(PACKETS[:1]), 20 * MS)
        self.assertEqual(link_use.begin_ns([]), 0)

    def test_rates_count_what_left_the_link(self):
        # From 100 to 200 ms, 2500 bytes leave the link, which is 200 kbit/s.
        # From 200 to 300 ms, 1000 bytes leave the link, which is 80 kbit/s.
        # Lost packets do not count.
        self.assertEqual(
            [round(rate) for rate in
             link_use.rates(PACKETS, 200 * MS, 100 * MS)], [200000, 80000])

    def test_a_sojourn_belongs_to_the_time_at_which_the_packet_came(self):
        # The result must have one value for each interval of 50 ms: the
        # longest time that a packet stayed in the link. A packet belongs to
        # the interval in which it entered the link, and lost packets do not
        # count.
        # - 100 to 150 ms: three packets stay for 10, 20 and 60 ms.
        # - 150 to 200 ms: one packet stays for 100 ms, and one is lost.
        # - 200 to 250 ms: no packet enters the link, so the value must be NaN.
        # - 250 to 300 ms: the only packet is dropped, so the value must be
        #   NaN.
        found = link_use.sojourns_ns(PACKETS, 200 * MS, 50 * MS)
        self.assertEqual(found[:2], [60 * MS, 100 * MS])
        self.assertEqual([math.isnan(ns) for ns in found],
                         [False, False, True, True])

    def test_drops_are_those_of_the_queue(self):
        # The video begins at 100 ms. Packets are dropped at 145 ms and at 260
        # ms, which is 45 ms and 160 ms after the beginning of the video. The
        # result must be the intervals of 50 ms that contain these times.
        self.assertEqual(link_use.drops_ns(PACKETS, 200 * MS, 50 * MS),
                         [(0, 50 * MS), (150 * MS, 50 * MS)])
        self.assertEqual(link_use.drops_ns(PACKETS, 100 * MS, 50 * MS),
                         [(0, 50 * MS)])

    def test_consecutive_steps_with_drops_are_joined(self):
        dropped = packets((0, 0, 1000, "delivered"), *(
            (ms, ms, 1000, "queue") for ms in (40, 41, 85, 120, 200)))
        # The time is divided into steps of 40 ms, beginning at 0. Packets are
        # dropped in the steps 1, 2, 3 and 5. The result must have one interval
        # for the steps 1 to 3, from 40 to 160 ms, and another interval for
        # step 5.
        self.assertEqual(link_use.drops_ns(dropped, 400 * MS, 40 * MS),
                         [(40 * MS, 120 * MS), (200 * MS, 40 * MS)])


if __name__ == "__main__":
    unittest.main()
