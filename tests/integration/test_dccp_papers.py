# SPDX-License-Identifier: LGPL-2.1-or-later
"""The experiments of Erixzon (2004), chapter 5, with dcctpthinsink and this
kernel's TCP over the testbed's emulated links, in real time. Each line that is
printed has theirs and ours. A run in which the link itself was late says nothing:
it is repeated once, then skipped.
"""

import re
import sys
import time
import unittest

import flows
import test_testbed

SIZE = 512  # bytes of data in a packet, 5.3.5
WIRE = SIZE + 24 + 28  # DCCP with an RTT Estimate, UDP and IP
SINK = ("dcctpthinsink host={{to}} port={{port}} sync=false "
        "stats-interval=200000000{}")
SOURCE = "dcctpthinsrc port={port}"
USB = "delay=11000000"  # a round trip of 22 ms, 5.3.5
PHONE = 42000  # byte/s, 5.2.1
SECONDS_TO_SETTLE = 10
MS_LATE = 5
EACH_TENTH = 20000  # packets


def payload_of(bytes_per_second):
    """bit/s of data on a link of so many bytes of IP packets"""
    return 8 * bytes_per_second * SIZE / WIRE


def values(messages, name):
    """What the sink's statistics had under this name, in their order"""
    return [float(found[1]) for line in messages if "-stats" in line
            for found in [re.search(rf"\b{name}=\([a-z0-9]+\)([\d.e+-]+)", line)]
            if found]


class DccpPapersTest(flows.FlowCase):

    def say(self, text):
        print(text, file=sys.stderr, flush=True)

    def run_valid(self, run):
        """What run() gives with its lateness"""
        for _ in range(2):
            *found, lateness = run()
            if lateness.p99 < MS_LATE:
                return found
        self.skipTest(f"this machine is too slow: {lateness}")

    def stream(self, bed, more="", offered=0, port=flows.PORT, size=SIZE):
        return flows.Stream(self, bed, SINK.format(more), SOURCE, size, offered,
                            port)

    def close(self, bed):
        lateness = self.lateness(bed)
        bed.close()
        return lateness

    def run_one(self, link, seconds, **options):
        bed = self.open_link(link)
        stream = self.stream(bed, **options)
        begin = time.monotonic() + SECONDS_TO_SETTLE
        time.sleep(SECONDS_TO_SETTLE + seconds)
        seen, messages = stream.stop()
        return seen, messages, begin, begin + seconds, self.close(bed)

    @test_testbed.needs_namespaces
    def test_one_flow_fills_the_link(self):
        link = f"rate={8 * PHONE} {USB} queue-bytes=8000"

        def run_tcp():
            bed = self.open_link(link)
            tcp = self.start_tcp(bed, SECONDS_TO_SETTLE + 30, "reno")
            begin = time.monotonic() + SECONDS_TO_SETTLE
            seen = self.finish(tcp, 120)
            return flows.rate(seen, begin, begin + 29), self.close(bed)

        (tcp,) = self.run_valid(run_tcp)
        self.say(f"figure 5.1, one TCP: theirs 42000 byte/s, ours {tcp / 8:.0f} "
                 "of data")
        seen, _, begin, end = self.run_valid(lambda: self.run_one(link, 40))
        rate = flows.rate(seen, begin, end)
        self.say(f"figure 5.8, one DCCP: theirs 42000 byte/s, ours "
                 f"{rate / 8:.0f} of data, {100 * rate / payload_of(PHONE):.1f} % "
                 f"of the link, varies by {flows.variation(seen, begin, end):.3f}")
        self.assertGreater(rate, 0.95 * payload_of(PHONE))

    @test_testbed.needs_namespaces
    def test_two_flows_share_join_and_leave(self):
        link = f"rate={8 * PHONE} {USB} queue-bytes=8000"

        def run():
            bed = self.open_link(link)
            first = self.stream(bed)
            time.sleep(23)
            second = self.stream(bed, port=flows.PORT + 1)
            begin = time.monotonic() + 20
            time.sleep(20 + 60)
            end = time.monotonic()
            one, _ = first.stop()
            time.sleep(25)
            two, _ = second.stop()
            return ([flows.rate(seen, begin, end) for seen in (one, two)],
                    flows.rate(two, end + 10, end + 25), self.close(bed))

        rates, alone = self.run_valid(run)
        index = flows.fairness(rates)
        self.say(f"figure 5.9, two DCCP: {rates[0] / 8:.0f} and "
                 f"{rates[1] / 8:.0f} byte/s, Jain's index {index:.3f}; then one "
                 f"alone {alone / 8:.0f}")
        self.assertGreaterEqual(index, 0.95)
        self.assertGreater(alone, 0.9 * payload_of(PHONE))

    @test_testbed.needs_namespaces
    def test_two_tcps(self):
        def run():
            bed = self.open_link(f"rate={8 * PHONE} {USB} queue-bytes=8000")
            tcps = [self.start_tcp(bed, 60, "reno"),
                    self.start_tcp(bed, 60, "reno", flows.TCP_PORT + 1)]
            begin = time.monotonic() + 20
            rates = [flows.rate(self.finish(tcp, 120), begin, begin + 39)
                     for tcp in tcps]
            return rates, self.close(bed)

        (rates,) = self.run_valid(run)
        self.say(f"figure 5.2, two TCP: {rates[0] / 8:.0f} and "
                 f"{rates[1] / 8:.0f} byte/s, Jain's index "
                 f"{flows.fairness(rates):.3f}")

    @test_testbed.needs_namespaces
    def test_a_link_that_delays_is_used_evenly(self):
        for queue in (4000, 8000, 20000):
            with self.subTest(queue=queue):
                seen, _, begin, end = self.run_valid(lambda: self.run_one(
                    f"rate=160000 {USB} queue-bytes={queue}", 60))
                rate = flows.rate(seen, begin, end)
                varies = flows.variation(seen, begin, end)
                self.say(f"figures 5.13 and 5.14, 20 kbyte/s, queue {queue} "
                         f"bytes: {100 * rate / payload_of(20000):.1f} % of the "
                         f"link, varies by {varies:.3f} (theirs: a sawtooth)")
                self.assertGreater(rate, 0.95 * payload_of(20000))
                self.assertLess(varies, 0.1)

    @test_testbed.needs_namespaces
    def test_every_tenth_packet_is_lost(self):
        pattern = self.directory / "each-tenth"
        pattern.write_text("wirelesslink-pattern 1\nseed 1\n" + "".join(
            f"packet 0 {index} 1 air 0 1\n"
            for index in range(19, EACH_TENTH, 10)))
        seen, messages, begin, end = self.run_valid(lambda: self.run_one(
            f"rate=8000000 {USB} pattern={pattern}", 30))
        p = values(messages, "loss-event-rate")[-100:]
        self.say(f"figures 5.15 and 5.16, every tenth lost: p {min(p):.4f} to "
                 f"{max(p):.4f} (theirs 0.10), "
                 f"{flows.rate(seen, begin, end) / 8:.0f} byte/s arrive")
        for value in p:
            self.assertAlmostEqual(value, 0.1, delta=0.005)

    @test_testbed.needs_namespaces
    def test_a_tenth_is_lost_at_random(self):
        seen, messages, begin, end = self.run_valid(lambda: self.run_one(
            f"rate=8000000 {USB} loss=0.1", 30, offered=8 * 12800))
        p = values(messages, "loss-event-rate")[-100:]
        self.say(f"figures 5.18 and 5.19, 10 % lost at random, 25 packets/s: p "
                 f"{min(p):.3f} to {max(p):.3f}, "
                 f"{flows.rate(seen, begin, end) / 8:.0f} byte/s, varies by "
                 f"{flows.variation(seen, begin, end):.2f}")

    @test_testbed.needs_namespaces
    def test_gprs(self):
        def run_tcp():
            bed = self.open_link("profile=gprs")
            tcp = self.start_tcp(bed, 60, "reno")
            begin = time.monotonic() + 15
            seen = self.finish(tcp, 180)
            return flows.rate(seen, begin, begin + 44), self.close(bed)

        (tcp,) = self.run_valid(run_tcp)
        self.say(f"figure 5.5, TCP over GPRS: theirs 6000 byte/s, ours "
                 f"{tcp / 8:.0f}")
        seen, messages, begin, end = self.run_valid(
            lambda: self.run_one("profile=gprs", 60))
        round_trips = values(messages, "round-trip")
        self.say(f"figure 5.20, DCCP over GPRS: theirs 2000 to 5000 byte/s, "
                 f"round trip 0.94 s; ours "
                 f"{flows.rate(seen, begin, end) / 8:.0f}, "
                 f"{round_trips[-1] / 1e9:.2f} s")
        self.assertGreater(flows.rate(seen, begin, end), 8 * 2000)

    @test_testbed.needs_namespaces
    def test_voice(self):
        for name, link, theirs in (
                ("two computers", "delay=500000", "1 to 1.5 ms"),
                ("phone by USB", f"rate={8 * PHONE} delay=2500000",
                 "5 to 6 ms"), ("GPRS", "profile=gprs", "350 to 600 ms")):
            with self.subTest(link=name):
                seen, messages, begin, end = self.run_valid(
                    lambda: self.run_one(link, 30, offered=33 * 8 * 50, size=33,
                                         more=" blocking=false"))
                trips = values(messages, "round-trip")[-50:]
                self.say(f"section 5.4, voice, {name}: "
                         f"{100 * flows.rate(seen, begin, end) / 13200:.1f} % "
                         f"arrive; by equation 5.4 "
                         f"{sum(trips) / len(trips) / 2e6:.1f} ms (theirs "
                         f"{theirs})")


if __name__ == "__main__":
    unittest.main()
