# SPDX-License-Identifier: LGPL-2.1-or-later
"""A stream that would fill the link, and a bulk transfer of this kernel's TCP
beside it, over one emulated link with a drop-tail queue, in real time: what each
has of it. A run in which the link itself was late says nothing: it is repeated
once, then skipped.
"""

import contextlib
import dataclasses
import subprocess
import sys
import threading
import time
import unittest

import linkbed
import test_testbed

PORT, TCP_PORT = 5004, 5001
RATE = 5000000  # bit/s, of IP packets
SIZE = 1400  # bytes of a buffer
SECONDS_ALONE = 3  # of the first one
SECONDS_TO_SETTLE = 10
SECONDS = 60
MS_LATE = 5
QUIET = "GST_DEBUG= exec"  # linkbed watches the bus of the link's
# A network may not set its own, but that of a route.
CONGESTION = "ip route replace 10.77.0.0/24 dev wl0 src $a congctl {}"


@dataclasses.dataclass(frozen=True)
class Transport:
    sink: str
    source: str
    rate: int = 0  # bit/s that are offered; 0: as much as the sink takes


TRANSPORTS = {
    # Frames each within a second, more than there is room for
    "mmtp": Transport(
        f"mmtpsink host={{to}} port={PORT} sync=false blocking=false "
        "latency=1000", f"mmtpsrc port={PORT}", 6000000),
}


@dataclasses.dataclass(frozen=True)
class Case:
    congestion: str  # TCP's
    round_trip: int  # ms
    queue: float  # bandwidth-delay products
    stream_first: bool

    def link(self):
        queue = int(self.queue * self.round_trip * RATE / 8000)
        return (f"rate={RATE} delay={self.round_trip * 500000} "
                f"queue-bytes={queue}")


class Arrivals(threading.Thread):
    """Counts what a pipe brings: [(time, bytes so far)]."""

    def __init__(self, pipe):
        super().__init__()
        self.seen = []
        self._pipe = pipe
        self.start()

    def run(self):
        total = 0
        while data := self._pipe.read(1 << 16):
            total += len(data)
            self.seen.append((time.monotonic(), total))


def rate(seen, begin, end):
    """bit/s, of (time, bytes so far)"""
    before = [total for moment, total in seen if moment < begin]
    within = [total for moment, total in seen if moment < end]
    if not within:
        return 0
    return 8 * (within[-1] - (before[-1] if before else 0)) / (end - begin)


class SharingTest(linkbed.LinkCase):

    def start_stream(self, bed, transport):
        source = bed.popen(
            "b", f"{QUIET} gst-launch-1.0 -q {transport.source} ! fdsink fd=1",
            stdout=subprocess.PIPE, bufsize=0)
        bed.wait_listening("b", "udp", PORT)
        arrivals = Arrivals(source.stdout)
        sink = transport.sink.format(to=bed.variables("a")["b"])
        sender = bed.popen(
            "a", f"{QUIET} gst-launch-1.0 -q fdsrc fd=0 do-timestamp=true "
            f"blocksize={SIZE} ! {sink}", stdin=subprocess.PIPE)
        pump = threading.Thread(target=self.pump, args=(
            sender.stdin, transport.rate), daemon=True)
        pump.start()
        return arrivals, sender, source, pump

    @staticmethod
    def pump(pipe, bits_per_second):
        period = 8 * SIZE / bits_per_second if bits_per_second else 0
        due = time.monotonic()
        try:
            while True:
                time.sleep(max(0, due - time.monotonic()))
                due += period
                pipe.write(bytes(SIZE))
                pipe.flush()
        except (BrokenPipeError, ValueError):
            pass

    def start_tcp(self, bed):
        receiver = self.start_receiver(
            bed, "b", "tcp", TCP_PORT, "pull", "0.0.0.0", TCP_PORT,
            SECONDS_ALONE + SECONDS_TO_SETTLE + SECONDS)
        self.start(bed, "a", "push", bed.variables("a")["b"], TCP_PORT)
        return receiver

    def run_case(self, transport, case):
        bed = self.open_link(case.link())
        bed.run("a", CONGESTION.format(case.congestion), check=True)
        if case.stream_first:
            stream = self.start_stream(bed, transport)
            time.sleep(SECONDS_ALONE)
            tcp = self.start_tcp(bed)
        else:
            tcp = self.start_tcp(bed)
            time.sleep(SECONDS_ALONE)
            stream = self.start_stream(bed, transport)
        begin = time.monotonic() + SECONDS_TO_SETTLE
        arrivals, sender, source, pump = stream
        tcp_seen = self.finish(tcp, SECONDS_ALONE + SECONDS_TO_SETTLE
                               + SECONDS + 60)
        end = begin + SECONDS - SECONDS_ALONE
        sender.kill()
        source.terminate()
        arrivals.join()
        pump.join()
        for child in (sender, source):
            child.wait()
        with contextlib.suppress(BrokenPipeError):
            sender.stdin.close()
        source.stdout.close()
        lateness = self.lateness(bed)
        bed.close()
        return (rate(arrivals.seen, begin, end), rate(tcp_seen, begin, end),
                lateness)

    def run_valid(self, name, case):
        for _ in range(2):
            ours, tcp, lateness = self.run_case(TRANSPORTS[name], case)
            text = (f"{name} beside {case.congestion}, round trip "
                    f"{case.round_trip} ms, queue {case.queue}, "
                    f"{'stream' if case.stream_first else 'TCP'} first: "
                    f"{ours / 1e6:.2f} and {tcp / 1e6:.2f} Mbit/s, "
                    f"{ours / max(tcp, 1):.2f}, {100 * (ours + tcp) / RATE:.0f} % "
                    f"of the link ({lateness})")
            print(text, file=sys.stderr, flush=True)
            if lateness.p99 < MS_LATE:
                return ours, tcp
        self.skipTest(f"this machine is too slow: {lateness}")

    @test_testbed.needs_namespaces
    def test_mmtp_and_tcp_do_not_starve_each_other(self):
        if not test_testbed.has_element("mmtpsink"):
            self.skipTest("mmtpsink is not built")
        for case in (Case("cubic", 40, 1, True), Case("cubic", 40, 1, False),
                     Case("reno", 40, 1, False), Case("cubic", 40, 5, True),
                     Case("cubic", 40, 5, False)):
            with self.subTest(case=case):
                ours, tcp = self.run_valid("mmtp", case)
                self.assertGreater(ours, 0.15 * (ours + tcp))
                self.assertGreater(tcp, 0.15 * (ours + tcp))


if __name__ == "__main__":
    unittest.main()
