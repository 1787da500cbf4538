# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the bit errors that the element wirelesslink makes in packets between
two hosts. The kernels of the hosts check the packets.

The test makes two comparisons:
- The log of the link says which bits were flipped in which packet. The test
  flips the same bits in the sent packets, and compares the result with the
  received packets.
- The packets that the receiving kernel delivers, and its counters, are
  compared with the requirements of the RFCs (sockets.py).

All results are exact, because the same seed always produces the same errors.
"""

import collections
import functools
import unittest

import linktestbed
import sockets
import test_testbed
from sockets import CHECKSUM, DELIVERED, ELSEWHERE, FORMAT

PORT = 5004
FLOW = 0  # from a to b
SIZE = 200
COUNT = 500
COVERAGE = sockets.HEADER + 12  # The RTP header has 12 bytes.

# With a bit error rate of 2.2e-4, about a third of the packets are damaged: a
# packet has 228 bytes with its headers, so it is damaged with the probability
# 1 - (1 - 2.2e-4) ** (8 * 228).
BIT_ERRORS = "profile=custom bit-error-rate=2.2e-4 txqueuelen=0 seed=5"
# These values are for the test with the packets of Singh's paper, which calls
# them application data units. SINGH_SIZE is their payload size in bytes, and
# SINGH_COUNT is the number of packets in a run. TRANSPARENT describes the
# link. Because a run has only SINGH_COUNT packets, a low error rate would
# cause too few errors. The block error rate of the link (block-error-rate) is
# therefore high.
SINGH_SIZE, SINGH_COUNT = 125, 40
TRANSPARENT = ("profile=gsm-transparent block-error-rate=0.08 mean-burst=1.7 "
               "seed=5")
DEEP_QUEUE = {"wl0": "txqueuelen=2000"}
IP_HEADER = {"IPv4": 20, "IPv6": 40}


def needs_udplite(test):
    @functools.wraps(test)
    def guarded(self):
        if sockets.why_no_udplite():
            self.skipTest(sockets.why_no_udplite())
        test(self)
    return guarded


class Run:
    """A run, in which host a sends packets to host b over one link. The link
    records for each packet whether it was delivered, damaged or lost.
    """

    def __init__(self, case, link, kind, ip="IPv4", coverage=0, size=SIZE,
                 count=COUNT):
        self.case, self.count = case, count
        self.ip, self.kind = ip, kind
        bed = self.bed = case.open_link(link, devices=DEEP_QUEUE)
        address = bed.variables("a")["b" if ip == "IPv4" else "b_ip6"]
        self.receiver = sockets.Receiver(kind, address, PORT, coverage)
        to = (kind, address, PORT)
        coverage_option = f"--coverage={coverage}"
        self._programs = [
            case.start_receiver(bed, "b", kind, PORT, "receive", *to,
                                coverage_option),
            case.start_capture(bed, "a", "out"),
            case.start_capture(bed, "b", "in")]
        self._sender = case.start(bed, "a", "send", *to, count, size,
                                  coverage_option)

    def finish(self):
        """Waits until all packets are sent and the link has ended. Then reads
        the results. The constructor only starts the run, so that several runs
        can take place at the same time.
        """
        self.case.finish(self._sender)
        self.case.wait_until_sent(self.bed, "a", self.count)
        self.case.end_link(self.bed)
        self.received, self.sent, self.came = [
            [bytes.fromhex(text) for text in self.case.finish(program)]
            for program in self._programs]
        self.hits = self.case.pattern(self.bed)
        self.arrived = self._damaged()
        self.verdicts = [sockets.judge(packet, self.receiver)
                         for packet in self.arrived.values()]
        self.counters = self.case.counters(self.bed, "b")
        return self

    def _damaged(self):
        """Returns {index: packet} of the packets that left the link. These
        packets are computed and not captured: each sent packet gets the bit
        errors that the link's log contains for it."""
        return {index: sockets.damage(packet, self.hits[index].flips)
                for index, packet in enumerate(self.sent)
                if self.hits[index].fate in ("delivered", "damaged")}

    def count_of(self, fate):
        return collections.Counter(
            verdict.fate for verdict in self.verdicts)[fate]

    def hit_indices(self):
        return {index for index, hit in self.hits.items() if hit.flips}

    def received_damaged(self):
        return set(self.received) - {
            packet[IP_HEADER[self.ip] + sockets.HEADER:]
            for packet in self.sent}

    def counter(self, name):
        words = {"udp": "Udp", "udplite": "UdpLite"}[self.kind]
        return self.counters[words + ("6" if self.ip == "IPv6" else "")][name]

    def check(self):
        """Checks two things: the link's log contains the number of damaged
        bytes of each packet, and the kernel has delivered or dropped each
        packet as the RFCs require."""
        case = self.case
        case.assertEqual(len(self.sent), self.count)
        case.assertEqual(sorted(self.hits), list(range(self.count)))
        case.assertEqual({packet.index: packet.damaged_bytes
                          for packet in case.log(self.bed)},
                         {index: len(hit.flips)
                          for index, hit in self.hits.items()})
        case.assertEqual(self.came, [packet for packet in self.arrived.values()
                                     if sockets.is_ip(packet)])
        case.assertEqual(self.received,
                         [verdict.payload for verdict in self.verdicts
                          if verdict.fate == DELIVERED])
        case.assertEqual(self.counter("InCsumErrors"), self.count_of(CHECKSUM))
        case.assertEqual(self.counter("InErrors"),
                         self.count_of(CHECKSUM) + self.count_of(FORMAT))
        case.assertEqual(self.counter("RcvbufErrors"), 0)
        if self.ip == "IPv4":
            # In this test, an IPv4 packet has the fate ELSEWHERE only if its
            # IP header is damaged. The kernel must count each such packet in
            # InHdrErrors.
            case.assertEqual(
                self.counters["Ip"]["InHdrErrors"],
                sum(packet[0] >> 4 == 4 and verdict.fate == ELSEWHERE
                    for packet, verdict in zip(self.arrived.values(),
                                               self.verdicts)))

    def print(self, what):
        print(f"{what}: {self.count} sent, {len(self.hit_indices())} hit, "
              f"{len(self.received)} delivered, "
              f"{len(self.received_damaged())} of them damaged, "
              f"{self.count_of(CHECKSUM)} with a wrong checksum, "
              f"{self.count_of(ELSEWHERE)} with a wrong IP header", flush=True)


class BitErrorsTest(linktestbed.LinkCase):
    """Tests a link that only flips random bits and has no other fault."""

    def finish_and_check(self, run):
        run.finish().check()
        coverage = run.receiver.coverage
        run.print(f"{run.ip}, {run.kind}"
                  + (f" covering {coverage}" if coverage else ""))

    def check_udp(self, ip):
        run = Run(self, BIT_ERRORS, "udp", ip)
        self.finish_and_check(run)
        self.assertGreater(run.count_of(CHECKSUM), COUNT // 5)
        self.assertGreater(run.count_of(DELIVERED), COUNT // 2)
        # A damaged packet must not arrive. The only exception is a packet
        # whose checksum is correct by chance, and this must be rare.
        self.assertLess(len(run.received_damaged()), COUNT // 100)

    def check_udplite(self, ip):
        runs = [Run(self, BIT_ERRORS, kind, ip, coverage) for kind, coverage in
                (("udp", 0), ("udplite", COVERAGE), ("udplite", 0))]
        for run in runs:
            self.finish_and_check(run)
        udp, lite, full = runs
        # All runs use the same seed, so the link must make the same bit errors
        # in all of them.
        self.assertEqual(lite.hits, udp.hits)
        self.assertEqual(full.hits, udp.hits)
        # With UDP-Lite, a damaged packet must arrive if all its errors are
        # outside the checksum coverage.
        covered = IP_HEADER[ip] + COVERAGE
        outside = {index for index in lite.hit_indices()
                   if all(offset >= covered
                          for offset, _ in lite.hits[index].flips)}
        self.assertGreater(len(outside), COUNT // 5)
        for index in outside:
            payload = lite.arrived[index][IP_HEADER[ip] + sockets.HEADER:]
            self.assertIn(payload, lite.received)
        self.assertGreater(len(lite.received), len(full.received))

    @test_testbed.needs_namespaces
    def test_udp_with_a_bit_error_is_counted_and_dropped(self):
        for ip in IP_HEADER:
            with self.subTest(ip):
                self.check_udp(ip)

    @test_testbed.needs_namespaces
    @needs_udplite
    def test_udplite_damaged_outside_its_coverage_is_delivered(self):
        for ip in IP_HEADER:
            with self.subTest(ip):
                self.check_udplite(ip)


class FrameCheckTest(linktestbed.LinkCase):
    """Tests the emulation of the transparent data service of GSM, which
    delivers damaged data. PPP can check each packet (frame check). With this
    check, no damaged packet may reach the kernel. Without it, damaged packets
    reach the kernel. The kernel then drops a packet if a checksum shows the
    damage, and delivers it otherwise."""

    def start_run(self, kind, frame_check, coverage=0):
        return Run(self, f"{TRANSPARENT} frame-check={frame_check}", kind,
                   coverage=coverage, size=SINGH_SIZE, count=SINGH_COUNT)

    def finish_run(self, run, what):
        run.finish().check()
        run.print(what)

    @test_testbed.needs_namespaces
    def test_without_a_frame_check_the_kernel_decides(self):
        runs = {"PPP, udp": self.start_run("udp", True),
                "PPP Lite, udp": self.start_run("udp", False)}
        if not sockets.why_no_udplite():
            runs["PPP Lite, udplite"] = self.start_run("udplite", False,
                                                       COVERAGE)
        for name, run in runs.items():
            run.finish().check()
            run.print(name)
        checked, udp, *lite = runs.values()
        self.assertLess(len(checked.arrived), SINGH_COUNT)
        self.assertEqual(checked.count_of(DELIVERED), len(checked.arrived))
        self.assertGreater(udp.count_of(CHECKSUM), 0)
        if not lite:
            self.skipTest(sockets.why_no_udplite())
        self.assertGreater(len(lite[0].received_damaged()), 0)


if __name__ == "__main__":
    unittest.main()
