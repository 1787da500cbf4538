# SPDX-License-Identifier: LGPL-2.1-or-later
"""Repeats the experiments of Erixzon (2004), chapter 5, over emulated links in
real time. The test uses the kernel's TCP, ping, and dcctpthinsink (another
name of dccpthinsink). Each printed line has the figures of the thesis and
those of this run. If the machine is too slow, the emulated link delivers
packets too late, and the run is invalid. An invalid run is repeated once. If
the second run is invalid, too, the test is skipped.

All streams go from host a to host b, because the thesis streams from a
computer to a phone. In the tests over GPRS, host b is therefore the mobile
host of the link.
"""

import re
import subprocess
import sys
import time
import unittest

import flows
import test_testbed

# Payload size of a packet in bytes (section 5.3.5 of Erixzon's thesis).
SIZE = 512

# Size in bytes of an IP packet. It contains SIZE bytes of data, 24 bytes for
# the DCCP header and its option RTT Estimate, and 28 bytes for the headers of
# UDP and IP.
WIRE_SIZE = SIZE + 24 + 28
SINK = ("dcctpthinsink host={{to}} port={{port}} sync=false "
        "stats-update-interval=200{}")
SOURCE = "dcctpthinsrc port={port}"
# In Erixzon's thesis, the phone is connected to the computer by USB. This
# connection has a round trip of 22 ms (section 5.3.5), so the delay of the
# emulated link is 11 ms in each direction.
USB = "delay-ms=11"
# The rate in byte/s at which the phone in Erixzon's thesis reads data from its
# socket (section 5.2.1).
PHONE = 42000

# The receiving host plays the role of the phone in Erixzon's thesis. Like the
# phone, it reads only 42 kbyte/s. The stream is faster, so the socket buffer
# of the receiving host becomes full. The thesis gives neither the rate of the
# link nor the size of the socket buffer. Both values were chosen for this
# test.
FAST_USB = f"rate=8000000 {USB}"
SLOW_PHONE = ("--rate", str(PHONE), "--buffer", "16384")
GPRS = "profile=gprs seed=1"
# The rate in byte/s of the streams over GPRS in figures 5.5 to 5.7 of
# Erixzon's thesis (section 5.2.3). In each figure, the stream is interrupted
# by a silence, which the thesis calls a glitch.
GPRS_RATE = 6000
# Round trip times of pings over GPRS in table 5.1 of Erixzon's thesis: {(bytes
# of a ping, interval between two pings in s, number of pings): (mean, maximum,
# minimum in s)}.
PINGS = {(60, 1, 20): (0.877, 1.078, 0.671),
         (576, 1, 20): (0.825, 1.015, 0.687),
         (60, 0.02, 100): (1.256, 2.281, 0.671)}
SECONDS_TO_SETTLE = 10
MS_LATE = 5
# Limit in ms for the lateness of the emulated GPRS link: the 99th percentile
# of the time by which the link delivers packets later than intended. The limit
# is higher than for the other links, because the GPRS link has a round trip of
# 850 ms.
GPRS_MS_LATE = 20
# One test loses every tenth packet. Its loss pattern, a list of the packets
# that the link loses, covers this number of packets.
EACH_TENTH = 20000


def payload_of(bytes_per_second):
    """Converts the rate of a stream of IP packets into the rate of the
    payloads in these packets. `bytes_per_second` is the rate of the packets
    with all headers. The result is in bit/s.
    """
    return 8 * bytes_per_second * SIZE / WIRE_SIZE


def values(messages, name):
    """Returns the values of the statistics field `name` of the sink, in the
    order in which they were printed. `messages` has the lines that the sink's
    pipeline has printed.
    """
    return [float(found[1]) for line in messages if "-stats" in line
            for found in [re.search(rf"\b{name}=\([a-z0-9]+\)([\d.e+-]+)",
                                    line)]
            if found]


class DccpPapersTest(flows.FlowCase):

    def say(self, text):
        print(text, file=sys.stderr, flush=True)

    def run_valid(self, run, late=MS_LATE):
        """Calls run(), which returns several results. The last result is the
        lateness: the time by which the emulated link delivers packets later
        than intended. If the 99th percentile of the lateness is not below
        `late` (in ms), the call is invalid, and run() is called once more.
        Returns the results of the valid call, without the lateness. If both
        calls are invalid, skips the test.
        """
        for _ in range(2):
            *found, lateness = run()
            if lateness.p99 < late:
                return found
        self.skipTest(f"this machine is too slow: {lateness}")

    def stream(self, bed, more="", offered=0, port=flows.PORT, size=SIZE):
        return flows.Stream(self, bed, SINK.format(more), SOURCE, size, offered,
                            port)

    def close(self, bed):
        lateness = self.lateness(bed)
        bed.close()
        return lateness

    def run_one(self, link, seconds, hosts="a,b", **options):
        bed = self.open_link(link, hosts)
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
        self.say("figure 5.1, one TCP: theirs 42000 byte/s, ours "
                 f"{tcp / 8:.0f} "
                 "of data")
        seen, _, begin, end = self.run_valid(lambda: self.run_one(link, 40))
        rate = flows.rate(seen, begin, end)
        self.say(f"figure 5.8, one DCCP: theirs 42000 byte/s, ours "
                 f"{rate / 8:.0f} of data, "
                 f"{100 * rate / payload_of(PHONE):.1f} % "
                 "of the link, varies by "
                 f"{flows.variation(seen, begin, end):.3f}")
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
                 f"{rates[1] / 8:.0f} byte/s, Jain's index {index:.3f}; "
                 "then one "
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
                         f"bytes: {100 * rate / payload_of(20000):.1f} % of "
                         "the "
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

    def watch_windows(self, bed, seconds):
        """Starts a command in host a that prints the TCP receive window of
        host b every 0.2 s. Returns the process.
        """
        return bed.popen(
            "a", f"for i in $(seq {5 * seconds}); do "
            f"ss -tinHO state established dport = :{flows.TCP_PORT}; "
            "sleep 0.2; done",
            stdout=subprocess.PIPE, text=True)

    def windows(self, watcher):
        """Returns the TCP receive windows that the process `watcher` has
        printed. The process runs ss, which does not print a window of zero. A
        missing window therefore counts as zero.
        """
        text, _ = watcher.communicate(timeout=180)
        found = [re.search(r"\bsnd_wnd:(\d+)", line)
                 for line in text.splitlines() if "cwnd:" in line]
        return [int(window[1]) if window else 0 for window in found]

    def run_tcp(self, link, seconds, hosts="a,b", taken=()):
        """Runs TCP over an emulated link. Returns three values:
        - how much data had arrived at which time: a list of (time, bytes so
          far)
        - the receive windows
        - the lateness of the link
        """
        bed = self.open_link(link, hosts)
        tcp = self.start_tcp(bed, seconds, "reno", taken=taken)
        watcher = self.watch_windows(bed, seconds)
        seen, windows = self.finish(tcp, 180), self.windows(watcher)
        return seen, windows, self.close(bed)

    @test_testbed.needs_namespaces
    def test_a_phone_that_takes_less_than_comes(self):
        seen, windows = self.run_valid(
            lambda: self.run_tcp(FAST_USB, 30, taken=SLOW_PHONE))
        begin = seen[0][0] + 5
        rate = flows.rate(seen, begin, begin + 20) / 8
        pauses = flows.silences(seen, 0.1)
        max_pause = max(length for _, length in pauses)
        self.say(f"figures 5.3 and 5.4, TCP to a phone that takes {PHONE} of "
                 f"1000000 byte/s: {rate:.0f} byte/s, {len(pauses)} silences "
                 f"of 0.1 s or more in 30 s, the longest {max_pause:.2f} s "
                 "(theirs: bursts, long silences); receive window at most "
                 f"{max(windows)} bytes, zero in {windows.count(0)} of "
                 f"{len(windows)} looks (theirs: zero several times)")
        self.assertLess(rate, 1.05 * PHONE)
        self.assertIn(0, windows)

    @test_testbed.needs_namespaces
    def test_gprs(self):
        seen, windows = self.run_valid(
            lambda: self.run_tcp(f"{GPRS} quality=good", 60, "b,a", SLOW_PHONE),
            GPRS_MS_LATE)
        begin = seen[0][0]
        glitches = flows.silences(seen, 1.5)
        total = flows.rate(seen, begin, begin + 59) / 8
        rest = 59 - sum(length for _, length in glitches)
        self.say(f"figure 5.5, TCP over GPRS: theirs 6000 byte/s, ours "
                 f"{total:.0f}; without the silences {total * 59 / rest:.0f}")
        self.say("figure 5.7: theirs a silence from 38 to 43 s, then many "
                 "packets at once; ours " + ", ".join(
                     f"from {moment - begin:.1f} s for {length:.1f} s, then "
                     f"{self.burst(seen, moment + length)} bytes in 0.2 s"
                     for moment, length in glitches))
        self.say(f"figure 5.6, receive window: theirs zero once, after the "
                 f"silence; ours {min(windows)} to {max(windows)} bytes")
        self.assertGreater(total, 0.75 * GPRS_RATE)
        seen, messages, begin, end = self.run_valid(
            lambda: self.run_one(GPRS, 60, hosts="b,a"), GPRS_MS_LATE)
        round_trip = values(messages, "round-trip")[-1] / 1e9
        p = values(messages, "loss-event-rate")
        self.say(f"figures 5.20 and 5.21, DCCP over GPRS: theirs 2000 to 5000 "
                 f"byte/s, round trip 0.94 s, two loss events; ours "
                 f"{flows.rate(seen, begin, end) / 8:.0f}, {round_trip:.2f} s, "
                 f"p {min(p):.4f} to {max(p):.4f}")
        self.assertGreater(flows.rate(seen, begin, end), 8 * 2000)

    @staticmethod
    def burst(seen, moment):
        """Returns how many bytes arrived between the time `moment` and 0.2 s
        later.
        """
        return flows.total(seen, moment + 0.2) - flows.total(seen, moment)

    @test_testbed.needs_namespaces
    def test_pings(self):
        """Measures round trip times over GPRS with ping. The phone (host b)
        sends the pings, because the thesis has a measurement called newTELnet
        that was made from the phone.
        """
        def run(size, interval, count):
            bed = self.open_link(GPRS, "b,a")
            ping = f"ping -q -c {count} -i {interval} -s {size} -W 9 $a"
            text = self.text(bed, "b", ping)
            return text, self.close(bed)

        for case, (mean, maximum, minimum) in PINGS.items():
            with self.subTest(case=case):
                (text,) = self.run_valid(lambda: run(*case), GPRS_MS_LATE)
                received = re.search(r"(\d+) received", text)[1]
                low, average, high = (
                    float(value) / 1000 for value in re.search(
                        r"= ([\d.]+)/([\d.]+)/([\d.]+)/", text).groups())
                self.say("table 5.1, {} bytes each {} s: theirs mean {:.3f}, "
                         "max {:.3f}, min {:.3f} s; ours {:.3f}, {:.3f}, "
                         "{:.3f}, {} of {} are answered".format(
                             *case[:2], mean, maximum, minimum,
                             average, high, low, received, case[2]))
                self.assertGreater(int(received), 0)

    @test_testbed.needs_namespaces
    def test_voice(self):
        for name, link, hosts, theirs in (
                ("two computers", "delay-ms=0.5", "a,b", "1 to 1.5 ms"),
                ("phone by USB", f"rate={8 * PHONE} delay-ms=2.5", "a,b",
                 "5 to 6 ms"), ("GPRS", GPRS, "b,a", "350 to 600 ms")):
            with self.subTest(link=name):
                seen, messages, begin, end = self.run_valid(
                    lambda: self.run_one(link, 30, hosts=hosts,
                                         offered=33 * 8 * 50, size=33,
                                         more=" blocking=false"),
                    GPRS_MS_LATE if link == GPRS else MS_LATE)
                trips = values(messages, "round-trip")[-50:]
                self.say(f"section 5.4, voice, {name}: "
                         f"{100 * flows.rate(seen, begin, end) / 13200:.1f} % "
                         f"arrive; by equation 5.4 "
                         f"{sum(trips) / len(trips) / 2e6:.1f} ms (theirs "
                         f"{theirs})")


if __name__ == "__main__":
    unittest.main()
