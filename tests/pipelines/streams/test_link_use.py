# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests link_use, which computes how a link was used over time. The expected
values were worked out by hand.
"""

import math
import unittest

from wirelesslab.streams import link_use, measurements

MS = 1_000_000


def packets(*rows):
    """Returns a list with a packet for each of `rows`. A row is a tuple (time
    of entry into the link in ms, time of departure from the link in ms, size
    in bytes, fate). The fate says whether the packet was delivered, or how it
    was lost or damaged.
    """
    return [measurements.Packet(0, index, size, fate, 1, arrival * MS,
                                departure * MS)
            for index, (arrival, departure, size, fate) in enumerate(rows)]


# One packet of a handshake, which arrives at 20 ms, and the packets of a video.
# The first packet of the video arrives at 100 ms.
PACKETS = packets(
    (20, 21, 60, "delivered"), (100, 110, 1000, "delivered"),
    (100, 120, 1000, "delivered"), (130, 190, 500, "damaged"),
    (145, 145, 1000, "queue"), (150, 230, 1000, "air"),
    (190, 290, 1000, "delivered"), (260, 260, 1000, "frame"),
    (310, 320, 1000, "delivered"))


class LinkUseTest(unittest.TestCase):

    def test_the_film_begins_with_the_first_large_packet(self):
        self.assertEqual(link_use.begin_ns(PACKETS), 100 * MS)
        # The film begins with the first large packet. If there are only small
        # packets, begin_ns() must return the arrival time of the first packet.
        self.assertEqual(link_use.begin_ns(PACKETS[:1]), 20 * MS)
        self.assertEqual(link_use.begin_ns([]), 0)

    def test_rates_count_what_left_the_link(self):
        # From 100 to 200 ms, 2500 bytes leave the link: 200 kbit/s. From 200 to
        # 300 ms, 1000 bytes leave it: 80 kbit/s. Lost packets do not count.
        self.assertEqual(
            [round(rate) for rate in
             link_use.rates(PACKETS, 200 * MS, 100 * MS)], [200000, 80000])

    def test_a_sojourn_belongs_to_the_time_at_which_the_packet_came(self):
        # The result must have one value for each interval of 50 ms: the
        # maximum time that a packet stayed in the link. A packet belongs to
        # the interval in which it arrived, and lost packets do not count.
        # - 100 to 150 ms: the packets stay for 10, 20 and 60 ms.
        # - 150 to 200 ms: one packet stays for 100 ms, and one is lost.
        # - 200 to 250 ms: no packet arrives, so the value is NaN.
        # - 250 to 300 ms: the only packet is dropped, so the value is NaN.
        found = link_use.sojourns_ns(PACKETS, 200 * MS, 50 * MS)
        self.assertEqual(found[:2], [60 * MS, 100 * MS])
        self.assertEqual([math.isnan(ns) for ns in found],
                         [False, False, True, True])

    def test_drops_are_those_of_the_queue(self):
        # The video begins at 100 ms. Packets are dropped 45 ms and 160 ms after
        # this time.
        self.assertEqual(link_use.drops_ns(PACKETS, 200 * MS, 50 * MS),
                         [(0, 50 * MS), (150 * MS, 50 * MS)])
        self.assertEqual(link_use.drops_ns(PACKETS, 100 * MS, 50 * MS),
                         [(0, 50 * MS)])

    def test_consecutive_steps_with_drops_are_joined(self):
        dropped = packets((0, 0, 1000, "delivered"), *(
            (ms, ms, 1000, "queue") for ms in (40, 41, 85, 120, 200)))
        # The time is divided into steps of 40 ms, which are counted from 0.
        # Packets are dropped in the steps 1, 2, 3 and 5. The steps 1 to 3 must
        # be one interval, from 40 to 160 ms. Step 5 must be another interval.
        self.assertEqual(link_use.drops_ns(dropped, 400 * MS, 40 * MS),
                         [(40 * MS, 120 * MS), (200 * MS, 40 * MS)])


if __name__ == "__main__":
    unittest.main()
