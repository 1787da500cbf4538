# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests how the lab finds the opportunities of an emulated link. An
opportunity is a time at which the link could deliver a packet. The lab is the
program that runs experiments over such links. Some tests use logs that were
written by hand, others use links with a known rate.
"""

import os
import pathlib
import tempfile
import time
import unittest

from wirelesslab.lab import opportunities
from wirelesslab.streams import possible
from wirelesslab.testbed import link_log

MS = 1_000_000
BUILD = pathlib.Path(os.environ.get("WIRELESS_BUILD_DIR", "build"))
HEADS = ("# packet time_ns flow station index size_bytes fate attempts "
         "arrival_ns departure_ns airtime_ns damaged_bytes\n")


class LogTest(unittest.TestCase):

    def read(self, *packets, **options):
        """Writes the log of a link. The log contains `packets`. Each packet is
        a tuple (fate, time of entry into the link, time of departure from the
        link, duration of its transmission), with times in ms.

        Returns the opportunities that opportunities.read() finds in this log.
        An opportunity says when the link can deliver a packet to the receiver.
        Each opportunity is a tuple (latest time at which the packet can enter
        the link, time at which the packet then arrives at the receiver, size
        in bytes), with times in ns.
        """
        with tempfile.TemporaryDirectory() as name:
            log = pathlib.Path(name, "link.log")
            log.write_text(HEADS + "".join(
                f"packet {departure * MS} 1 1 {index} 1500 {fate} 1 "
                f"{arrival * MS} {departure * MS} {airtime * MS} 0\n"
                for index, (fate, arrival, departure, airtime)
                in enumerate(packets)))
            return [tuple(one) for one in
                    opportunities.read(log, 1472, **options)]

    def test_a_packet_is_taken_until_the_end_of_its_transmission(self):
        # Two packets enter the link at the time 0. The link transmits them one
        # after the other. Each transmission takes 3 ms, so the transmissions
        # end after 3 ms and 6 ms. For each packet, the latest time at which
        # its bytes could have entered the link must be reported. This is the
        # end of its transmission, not the time 0. After its transmission, each
        # packet needs another 20 ms to reach the receiver.
        self.assertEqual(
            self.read(("delivered", 0, 23, 3), ("delivered", 0, 26, 3)),
            [(3 * MS, 23 * MS, 1472), (6 * MS, 26 * MS, 1472)])

    def test_lost_packets_are_no_opportunities_and_damaged_ones_are(self):
        self.assertEqual(
            self.read(("queue", 0, 0, 0), ("delivered", 0, 2, 2),
                      ("air", 0, 4, 2), ("damaged", 0, 6, 2)),
            [(2 * MS, 2 * MS, 1472), (6 * MS, 6 * MS, 1472)])

    def test_a_full_bucket_makes_packets_early(self):
        self.assertEqual(
            self.read(("delivered", 0, 30, 10), early_ns=5 * MS),
            [(10 * MS, 25 * MS, 1472)])

    def test_a_log_without_packets(self):
        self.assertEqual(self.read(), [])


class MovedTest(unittest.TestCase):
    FOUND = [possible.Opportunity(ms, ms + 20, 1000) for ms in (10, 20, 30)]

    def test_the_clock_of_another_link(self):
        self.assertEqual(
            [tuple(one) for one in opportunities.moved(self.FOUND, -5)],
            [(5, 25, 1000), (15, 35, 1000), (25, 45, 1000)])

    def test_a_closed_link_sends_only_what_it_has(self):
        self.assertEqual(
            [tuple(one) for one in opportunities.moved(
                self.FOUND, 100, [(115, 130)])],
            [(110, 130, 1000), (115, 140, 1000), (130, 150, 1000)])


class CreationTest(unittest.TestCase):

    def test_the_time_at_which_a_log_was_created(self):
        with tempfile.TemporaryDirectory() as name:
            log = pathlib.Path(name, "link.log")
            before = time.time_ns()
            log.write_text(HEADS)
            os.utime(log, (0, 0))
            found = link_log.created_ns(log)
            if found is None:
                self.skipTest("this file system has no times of creation")
            self.assertLess(abs(found - before), 1000 * MS)

    def test_a_missing_log(self):
        self.assertIsNone(link_log.created_ns("/nowhere/link.log"))


class PropertyTest(unittest.TestCase):

    def test_the_last_value_of_a_property_counts(self):
        words = ["rate=5", "rate-down=6", "rate=7"]
        self.assertEqual(opportunities.value(words, "rate"), 7)
        self.assertEqual(opportunities.value(words, "burst"), 0)

    def test_packets_fit_the_link(self):
        self.assertEqual(opportunities.packet_size([]), 1500)
        self.assertEqual(opportunities.packet_size(["max-size=576"]), 576)
        self.assertEqual(opportunities.packet_size(["max-size=9000"]), 1500)
        self.assertEqual(opportunities.packet_size(["max-size=0"]), 1500)

    def test_the_worth_of_a_bucket(self):
        # The property `burst` is the size of the token bucket, 10,000 bytes
        # (80,000 bits). early_ns() must return the time in which the link
        # sends this amount: 20 ms at 4 Mbit/s, and 40 ms at 2 Mbit/s.
        words = ["rate=4000000", "burst=10000"]
        self.assertEqual(opportunities.early_ns(words, 1), 20 * MS)
        self.assertEqual(
            opportunities.early_ns([*words, "rate-down=2000000"], 1), 40 * MS)
        self.assertEqual(
            opportunities.early_ns([*words, "rate-down=2000000"], 0), 20 * MS)
        self.assertEqual(opportunities.early_ns(["burst=10000"], 1), 0)


class LinkTest(unittest.TestCase):
    """Runs links in virtual time."""

    def of(self, properties, station=1):
        return opportunities.of_link(properties, station, station, 1e9, BUILD)

    def test_a_constant_rate(self):
        # 1500 bytes at 12 Mbit/s take 1 ms.
        found = self.of("rate=12000000 delay-ms=20")
        self.assertEqual([tuple(one) for one in found[:3]], [
            (1 * MS, 21 * MS, 1472), (2 * MS, 22 * MS, 1472),
            (3 * MS, 23 * MS, 1472)])
        self.assertGreaterEqual(len(found), 4000)

    def test_queue_jitter_and_reorder_properties_have_no_effect(self):
        found = self.of(
            "rate=12000000 delay-ms=20 queue-bytes=3000 queue-time-ms=1 "
            "txqueuelen=1 jitter-ms=100 reorder=0.5 reorder-delay-ms=50 "
            "queue=ifd blocking=true")
        self.assertEqual(found[:3000],
                         self.of("rate=12000000 delay-ms=20")[:3000])

    def test_the_bucket_is_measured_without_its_burst(self):
        # 15,000 bytes at 12 Mbit/s take 10 ms.
        found = self.of("rate=12000000 delay-ms=20 burst=15000")
        self.assertEqual([tuple(one) for one in found[:2]], [
            (1 * MS, 11 * MS, 1472), (2 * MS, 12 * MS, 1472)])

    def test_losses_are_lost_opportunities(self):
        found = self.of("rate=12000000 loss=0.25 seed=1")
        within = sum(one.arrival_ns <= 4e9 for one in found)
        self.assertAlmostEqual(within, 3000, delta=110)  # four sigma

    def test_the_station_decides_the_direction(self):
        words = "rate=12000000 rate-down=6000000"
        self.assertEqual(self.of(words, 1)[0].arrival_ns, 2 * MS)
        self.assertEqual(self.of(words, 0)[0].arrival_ns, 1 * MS)


if __name__ == "__main__":
    unittest.main()
