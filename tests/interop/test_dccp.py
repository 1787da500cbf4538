# SPDX-License-Identifier: LGPL-2.1-or-later
"""DCCP before Linux, which had its own up to 6.15.

A machine with that kernel runs in QEMU; the packets between it and ours cross
a network of the test, which loses some of them and notes them all. Every
packet is judged by tshark and by dccppackets.py; of the payloads, those that
were not lost arrive, and no others.
"""

import dataclasses
import random
import unittest

import dccpguest
import dccpnetwork
import dccppackets
import peers
import udplite
from udplite import sockets

PORT = 5004
PACKETS_PER_SECOND = 400
SECONDS_TO_STREAM = 120
GUEST = {"IPv4": "10.33.0.2", "IPv6": "fd33::2"}
OTHER_GUEST = {"IPv4": "10.33.0.3", "IPv6": "fd33::3"}


def setUpModule():
    reason = dccpguest.why_none()
    if reason:
        raise unittest.SkipTest(reason)
    udplite.enter_own_network()
    reason = dccpnetwork.why_none()
    if reason:
        raise unittest.SkipTest(reason)


def noise_packets(count, size=1316):
    """Each another one, so that it tells which it is"""
    noise = random.Random(9)
    return [(number / PACKETS_PER_SECOND, noise.randbytes(size))
            for number in range(count)]


def losing_by_chance(probability, seed=1):
    chance = random.Random(seed)
    return dccpnetwork.losing(lambda packet: chance.random() < probability)


class DccpCase(unittest.TestCase):

    def setUp(self):
        work = peers.workdir()
        self.work = work.__enter__()
        self.addCleanup(work.__exit__, None, None, None)
        self.network = dccpnetwork.Network(self)
        self.guest = self.boot(GUEST)

    def boot(self, addresses):
        return dccpguest.Guest(self, self.work, self.network,
                               *addresses.values())

    def take_connection(self, **options):
        """The only one that there was, after all that must be in any"""
        self.seen = self.network.take_seen()
        connection, = dccppackets.Connection.all(self.seen)
        connection.check(**options)
        dccppackets.check_with_tshark(self.seen)
        return connection

    def check_payloads(self, connection, sent, received):
        """The whole stream was sent, in order; what was not lost came."""
        data = connection.data()
        self.assertEqual([packet.payload for packet in data], sent)
        self.assertEqual([packet.payload for packet in data
                          if not packet.is_lost], received)


class KernelTest(DccpCase):
    """Two machines: what judges here finds no fault with those whose protocol
    it is."""

    def stream(self, ip, **network):
        other = self.boot(OTHER_GUEST)
        packets = noise_packets(2 * PACKETS_PER_SECOND)
        receiver = self.guest.open(self, "listen", GUEST[ip], PORT)
        receiver.wait_for("listening")
        self.network.set(**network)
        sender = other.open(self, "connect", GUEST[ip], PORT, packets)
        sender.wait_for("connected")
        sender.wait_for("sent", SECONDS_TO_STREAM)
        self.assertEqual(sender.outcome().error, 0)
        received = receiver.outcome()
        self.assertEqual(received.error, 0)
        self.check_payloads(self.take_connection(),
                            [data for _, data in packets],
                            [data for _, data in received.received])
        for machine in (self.guest, other):
            machine.check()

    def test_ipv4_and_that_faults_are_found(self):
        self.stream("IPv4")
        for each in (self.seen[0], self.seen[1], self.seen[-1]):
            self.assert_refuses_changes(each)
        for at in (0, len(self.seen) // 2, -2, -1):
            with self.assertRaises(dccppackets.Wrong, msg=f"without {at}"):
                without = list(self.seen)
                del without[at]
                dccppackets.Connection.all(without)[0].check()

    def assert_refuses_changes(self, seen):
        """Of any bit; some by tshark too, which is slow to start"""
        segment = len(udplite.segment_of(seen.packet))
        for bit in range(8 * segment):
            damaged = dataclasses.replace(seen, packet=sockets.damage(
                seen.packet, [(len(seen.packet) - segment + bit // 8,
                               1 << bit % 8)]))
            with self.assertRaises(dccppackets.Wrong, msg=f"bit {bit}"):
                dccppackets.Packet.read(damaged)
        with self.assertRaises(dccppackets.Wrong):
            dccppackets.check_with_tshark([seen, damaged])

    def test_ipv6_with_loss(self):
        self.stream("IPv6", treat=losing_by_chance(0.01), delay=0.02)


if __name__ == "__main__":
    unittest.main()
