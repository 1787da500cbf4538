# SPDX-License-Identifier: LGPL-2.1-or-later
"""Repeats experiments of several papers about links. The papers measured real
links, whereas the links of this test are emulated. The test uses the kernel's
sockets and runs in real time.

Each printed line has the figures of the paper and those of this run. If the
emulated link delivered packets too late, the run is invalid and is repeated
once. If it is invalid again, the test is skipped.
"""

import hashlib
import itertools
import os
import pathlib
import shutil
import statistics
import unittest

import linktestbed
import test_testbed

from wirelesslab.streams import clips

BUILD = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"])

PORT = 5004
WLAN = "profile=80211b seed=1"
# Maximum lateness in ms of the emulated WLAN. The element wirelesslink
# computes a delivery time for each packet with its model. The lateness is the
# time by which the real delivery is later than the computed time. A run is
# invalid if the 99th percentile of its lateness exceeds this limit.
#
# A late delivery must not empty the full queue of a station. The station needs
# ten times this limit to transmit all packets of a full queue, so a delivery
# that is late by this limit cannot empty the queue.
WLAN_MS_LATE = 20
GSM = "profile=gsm quality=ideal seed=1"
GSM_MS_LATE = 20  # The duration of a radio block.
MBIT = 1e6

UDP_SIZE = 1472
# Duration in s for which the sender sends more than the link can carry.
SECONDS = 20
# Duration in s at the beginning of a measurement. Data that arrive during this
# time do not count.
WARM_UP = 2

# Settings of a token bucket at the sender. The rate of the bucket is higher
# than the rate of the link, so the sender overloads the link. If the queue of
# the bucket is full, the socket blocks, so the bucket drops nothing. If the
# queue of the link is full, the link drops packets.
TOO_FAST = {"a.wl0": "rate 8mbit burst 5kb limit 1mb"}

# If the queue of a real network card is full, the sender has to wait, and no
# packet is dropped. An emulated queue without a limit (txqueuelen=0) has the
# same effect.
VIDEO_LINK = f"{WLAN} txqueuelen=0"
VIDEO_BUCKET = {"a.wl0": "rate 10mbit burst 5kb limit 1mb"}
SECONDS_FOR_VIDEO = 180
RTP_AND_VIDEO_HEADER = 16
SLICES = f"mtu={1100 + RTP_AND_VIDEO_HEADER}"
ONE_SLICE = "aggregate-mode=none mtu=1472"
# Results of Ouwens (2006). OUWENS_SECONDS is a duration in s from table 3.7.
# It is in the row for 6 Mbit/s, no microwave oven, and retry value 0, which is
# the card's default. OUWENS_VIDEO is a bitrate in Mbit/s from section 3.6,
# conclusion 1: "merely about 4 Mbit/s".
OUWENS_SECONDS = 84.6
OUWENS_VIDEO = 4
# Maps the bitrate of each clip to the permitted range (minimum, maximum) of
# the bitrate with which the clip arrives. All bitrates are in Mbit/s. The
# ranges contain the predictions of the model of the link: 2.76, 3.28 and 3.92
# Mbit/s for the clips of 3, 4 and 6 Mbit/s.
#
# For comparison, Ouwens (2006) measured about 4 Mbit/s (OUWENS_VIDEO) with one
# clip, whose packets had 770 bytes. The clips of this test have packets of 400
# to 660 bytes. With smaller packets, the link carries a lower bitrate.
ONE_SLICE_MBIT = {3: (2.6, 2.9), 4: (3.1, 3.45), 6: (3.7, 4.1)}

# Results of Alanko et al. (1994), table 4. In this measurement, a program sent
# a request and waited for the reply. The table has the median time in s of 500
# such exchanges, as {(bytes of the request, bytes of the reply): time}.
ALANKO_TABLE_4 = {(1, 1): 0.99, (32, 512): 1.54, (32, 1024): 2.14,
                  (1024, 32): 2.20, (32, 2048): 3.24}
# The number of exchanges (a request and its reply) at the beginning that are
# not measured.
WARM = 2
EXCHANGES = 38
# Results of Alanko et al. (1994), section 3.3: {host: rate in byte/s at which
# the host sends data}. The host "a" is the mobile node.
ALANKO_BULK = {"a": 880, "b": 890}
BULK_SECONDS = 130
SECONDS_FOR_GSM = 300
# TCP is set up as in 1994, when Alanko's results were measured: without
# timestamps and without tail loss probes.
#
# A tail loss probe is an early retransmission. As long as Linux has not
# measured the round trip, it sends this probe after 1 s. The round trip of
# this link is longer than 1 s, so each probe would be an unnecessary
# retransmission. It would also do harm: Linux cannot measure the round trip
# with a packet that was retransmitted. If both the SYN and the next packet
# were retransmitted, Linux would never measure the round trip.
SLIP = {"devices": {"wl0": "mtu=576"},
        "sysctls": {host: {"net.ipv4.tcp_timestamps": "0",
                           "net.ipv4.tcp_early_retrans": "0"}
                    for host in "ab"}}


class Late(Exception):
    """Raised if a run is invalid. The argument of the exception gives the
    reason.
    """


class PapersCase(linktestbed.LinkCase):
    def valid(self, run):
        """Calls `run` and returns its result. If `run` raises Late, calls it
        a second time. If it raises Late again, skips the test.
        """
        try:
            return run()
        except Late as first:
            print(f"again: {first}", flush=True)
        for bed in self.beds:
            bed.close()
        try:
            return run()
        except Late as second:
            self.skipTest(str(second))

    def check_lateness(self, bed, limit, what=""):
        lateness = self.lateness(bed)
        print(f"    {what}{lateness}", flush=True)
        if lateness.p99 > limit:
            raise Late(f"void, this machine was too busy: {lateness}")

    def compare(self, what, theirs, ours, unit, minimum, maximum):
        print(f"{what}: theirs {theirs:.4g}, ours {ours:.4g} {unit} "
              f"({100 * (ours / theirs - 1):+.1f} %)", flush=True)
        with self.subTest(what):
            self.assertTrue(minimum <= ours <= maximum,
                            f"{ours:.4g} is not in {minimum:g} to {maximum:g}")


def rate_of(times, sizes):
    """Returns the mean rate in bytes per second at which packets arrived.
    `times` are the arrival times in s, and `sizes` are the sizes of the
    packets. The first WARM_UP seconds do not count.
    """
    begin = times[0] + WARM_UP
    count = sum(size for time, size in zip(times, sizes) if time > begin)
    return count / (times[-1] - begin)


def needs_tc(test):
    return unittest.skipUnless(shutil.which("tc"), "there is no tc")(test)


class Wlan(PapersCase):
    """Ouwens (2006) measured 802.11b at 11 Mbit/s. This class repeats two
    groups of his measurements. The first group led to conclusion 1 of section
    3.6, and the second group to conclusion 1 of section 3.7.
    """

    def check_path(self, bed, theirs=""):
        """Prints how many packets were sent, and which share of them was
        transmitted more than once. Checks that the emulated radio lost no
        packet (fate "air").
        """
        sent = [packet for packet in self.log(bed) if packet.fate != "queue"]
        again = sum(packet.attempts > 1 for packet in sent)
        air = sum(packet.fate == "air" for packet in sent)
        print(f"    {len(sent)} packets sent, {100 * again / len(sent):.2f} % "
              f"more than once{theirs}, {air} lost on the air", flush=True)
        self.assertEqual(air, 0)  # after 16 transmissions

    def saturate(self):
        bed = self.open_link(WLAN, buckets=TOO_FAST)
        to = bed.variables("a")["b"], PORT
        receiver = self.start_receiver(bed, "b", "udp", PORT, "watch", *to)
        self.finish(self.start(bed, "a", "flood", *to, UDP_SIZE, SECONDS))
        self.end_link(bed)
        seen = self.finish(receiver)
        self.check_lateness(bed, WLAN_MS_LATE)
        self.check_path(bed, " (theirs 0.2, table 3.2)")
        return rate_of(seen["times"], seen["sizes"])

    @needs_tc
    @test_testbed.needs_namespaces
    def test_saturated_udp(self):
        rate = self.valid(self.saturate)
        self.compare("802.11b, UDP of 1472 bytes", 6.0, rate * 8 / MBIT,
                     "Mbit/s", 5.6, 6.4)

    def pull_over_tcp(self):
        bed = self.open_link(WLAN)
        to = bed.variables("a")["b"], PORT
        receiver = self.start_receiver(bed, "b", "tcp", PORT, "pull", *to,
                                       SECONDS)
        self.start(bed, "a", "push", *to)
        seen = self.finish(receiver)
        self.check_lateness(bed, WLAN_MS_LATE)
        self.check_path(bed, " (theirs 2.3 to 2.7, table 3.4)")
        data = [packet for packet in self.log(bed) if packet.fate != "queue"]
        acknowledgements = [packet for packet in self.log(bed, flow=1)
                            if packet.fate != "queue"]
        print(f"    {len(data) / len(acknowledgements):.2f} segments to an "
              "acknowledgement", flush=True)
        times, totals = zip(*seen)
        return rate_of(times, [totals[0], *(
            after - before for before, after in itertools.pairwise(totals))])

    @test_testbed.needs_namespaces
    def test_tcp(self):
        rate = self.valid(self.pull_over_tcp)
        self.compare("802.11b, TCP", 5.0, rate * 8 / MBIT, "Mbit/s", 4.6, 5.4)

    # -------------------------------------------------------------------- video

    def start_video(self, rate, pay):
        bed = self.open_link(VIDEO_LINK, buckets=VIDEO_BUCKET)
        address = bed.variables("a")["b"]
        receiver = self.start_receiver(bed, "b", "udp", PORT, "watch",
                                       address, PORT, "--rtp")
        clip = clips.clip_path(BUILD, rate)
        sender = bed.popen(
            "a", f"gst-launch-1.0 -q filesrc location={clip} ! "
            f"rfc2250pay {pay} ! udpsink sync=false host={address} port={PORT}",
            env=linktestbed.QUIET)
        return bed, receiver, sender

    def finish_video(self, clip, bed, receiver, sender):
        """Waits for the end of the video. Checks that all bytes of the file
        `clip` arrived. Returns the bitrate in Mbit/s with which the video
        arrived.
        """
        self.assertEqual(sender.wait(SECONDS_FOR_VIDEO), 0)
        self.wait_until_bucket_is_empty(bed, "a")
        self.end_link(bed)
        seen = self.finish(receiver)
        with open(clip, "rb") as file:
            self.assertEqual(seen["md5"],
                             hashlib.file_digest(file, "md5").hexdigest())
        seconds = seen["times"][-1] - seen["times"][0]
        return sum(seen["sizes"][1:]) * 8 / seconds / MBIT

    def stream_all(self, cases):
        """Streams the clip of each case. All clips are streamed at the same
        time, each over an emulated radio of its own. Returns {case: bitrate in
        Mbit/s}.
        """
        runs = {case: self.start_video(*case) for case in cases}
        rates = {}
        for (rate, pay), run in runs.items():
            rates[rate, pay] = self.finish_video(clips.clip_path(BUILD, rate),
                                                 *run)
            self.check_lateness(run[0], WLAN_MS_LATE, f"{rate}M {pay}: ")
            self.check_path(run[0])
        return rates

    @needs_tc
    @test_testbed.needs_namespaces
    def test_video(self):
        if not test_testbed.has_element("rfc2250pay"):
            self.skipTest("rfc2250pay is not built")
        for rate in ONE_SLICE_MBIT:
            if not clips.clip_path(BUILD, rate).exists():
                self.skipTest(f"pipelines/clips made no clip of {rate} Mbit/s")
        rates = self.valid(lambda: self.stream_all(
            [(6, SLICES), *((rate, ONE_SLICE) for rate in ONE_SLICE_MBIT)]))
        size = clips.clip_path(BUILD, 6).stat().st_size
        self.compare("802.11b, video of 6 Mbit/s, slices up to 1100 bytes",
                     size * 8 / OUWENS_SECONDS / MBIT, rates.pop((6, SLICES)),
                     "Mbit/s of video", 4.0, 4.8)
        for (rate, _), ours in rates.items():
            self.compare(f"802.11b, video of {rate} Mbit/s, one slice to a "
                         "packet", OUWENS_VIDEO, ours, "Mbit/s of video",
                         *ONE_SLICE_MBIT[rate])


class Gsm(PapersCase):
    """Alanko et al. 1994, 3.2 and 3.3"""

    def start_exchanges(self, sizes):
        bed = self.open_link(GSM, **SLIP)
        to = bed.variables("a")["b"], PORT
        self.start_receiver(bed, "b", "tcp", PORT, "reply", *to, *sizes)
        return bed, self.start(bed, "a", "request", *to, *sizes,
                               WARM + EXCHANGES)

    def start_bulk(self, host):
        """Starts a TCP transfer over an emulated GSM link. The data go from
        `host`, which is "a" or "b", to the other host.
        """
        bed = self.open_link(GSM, **SLIP)
        peer = "b" if host == "a" else "a"
        to = bed.variables(host)[peer], PORT
        receiver = self.start_receiver(bed, peer, "tcp", PORT, "pull", *to,
                                       BULK_SECONDS)
        self.start(bed, host, "push", *to)
        return bed, receiver

    def finish_run(self, what, bed, program):
        outcome = self.finish(program, SECONDS_FOR_GSM)
        self.check_lateness(bed, GSM_MS_LATE, f"{what}: ")
        return outcome

    def measure(self):
        """Measures all links at the same time. Measuring one link after the
        other would take long, because the links are slow. The measurements
        need so little CPU time that they do not disturb each other.
        """
        runs = {sizes: self.start_exchanges(sizes) for sizes in ALANKO_TABLE_4}
        runs.update({host: self.start_bulk(host) for host in ALANKO_BULK})
        return {what: self.finish_run(what, *run) for what, run in runs.items()}

    @test_testbed.needs_namespaces
    def test_exchanges_and_bulk(self):
        outcomes = self.valid(self.measure)
        for sizes, theirs in ALANKO_TABLE_4.items():
            self.compare("GSM, request and reply of {}/{} bytes".format(*sizes),
                         theirs, statistics.median(outcomes[sizes][WARM:]),
                         "s", 0.95 * theirs, 1.05 * theirs)
        for host, theirs in ALANKO_BULK.items():
            self.compare(f"GSM, bulk from {host}", theirs,
                         sustainable_rate(outcomes[host]), "byte/s",
                         0.98 * theirs, 1.02 * theirs)


def sustainable_rate(seen):
    """Returns the rate in byte/s at which data arrived, computed as Alanko
    does it (section 3.3, robust regression). `seen` has a pair for each
    arrival: the time, and the number of bytes received so far. Any two of
    these pairs give a rate, and the result is the median of all these rates.
    """
    return statistics.median(
        (after - before) / (end - begin) for (begin, before), (end, after)
        in itertools.combinations(seen, 2) if end > begin)


if __name__ == "__main__":
    unittest.main()
