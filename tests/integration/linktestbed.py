# SPDX-License-Identifier: LGPL-2.1-or-later
"""Base class for tests of the emulated links themselves. A test opens a
testbed, which consists of hosts and a link between them. The element
wirelesslink emulates the link, and the test reads the log and the statistics
that this element writes. On the hosts, the test runs programs that send and
receive packets."""

import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from unittest import mock

import test_testbed

HOST_PROGRAMS = pathlib.Path(__file__).with_name("hostprograms.py")
SECONDS_TO_END = 60
SECONDS_TO_DELIVER = 120
NS_PER_MS = 1e6
# Environment variables for the process of the emulated link. GStreamer then
# writes each message that an element posts on the bus into the debug log. The
# tests find the statistics of the link among these messages.
BUS = {"GST_DEBUG": "GST_BUS:5", "GST_DEBUG_NO_COLOR": "1"}
# Environment variable for other commands on the hosts. It disables the debug
# log, because the tests read only the debug log of the link.
QUIET = {"GST_DEBUG": ""}
PATH_STATES = re.compile(r"mmtp-channel, channel=\(uint\)\d+, "
                         r"name=\(string\)([\w.]+), state=\(string\)(\w+)")
STATS = re.compile(r"application/x-wirelesslink-stats, (.*)")
# The emulated link writes its statistics every second. It does not wait for
# the end of the stream, because a test may end the link before that.
STATS_INTERVAL = "stats-update-interval=1000"


@dataclasses.dataclass(frozen=True)
class Hit:
    """A packet of a pattern file."""
    fate: str
    flips: tuple  # (offset, bits)


@dataclasses.dataclass(frozen=True)
class Packet:
    """A packet, as the element wirelesslink records it in one line of its log.
    Times are in ns."""
    flow: int
    index: int
    size: int
    fate: str
    attempts: int
    arrival: int
    departure: int
    damaged_bytes: int


@dataclasses.dataclass(frozen=True)
class Lateness:
    """How late the element wirelesslink was, in ms. The lateness of one packet
    is the time from its computed departure until the element has sent it. The
    fields are statistics of this time over all packets.
    """
    median: float
    p99: float
    max: float

    def __str__(self):
        return (f"lateness {self.median:.2f} ms, p99 {self.p99:.2f} ms, "
                f"max {self.max:.2f} ms")


def read_pattern(path, flow):
    """Reads the file `path`, a pattern file. In it, the element wirelesslink
    has recorded the fate and the flipped bits of each packet. Returns {index
    of the packet: Hit} for the packets of the flow `flow`.
    """
    found = {}
    for line in pathlib.Path(path).read_text().splitlines():
        word, *values = line.split()
        if word != "packet" or int(values[0]) != flow:
            continue
        flips = [flip.split(":") for flip in values[6:]]
        found[int(values[1])] = Hit(values[3], tuple(
            (int(offset), int(bits, 16)) for offset, bits in flips))
    return found


def read_log(path, flow):
    found = []
    for line in pathlib.Path(path).read_text().splitlines():
        word, *values = line.split()
        if word == "packet" and int(values[1]) == flow:
            found.append(Packet(flow, *map(int, values[3:5]), values[5],
                                *map(int, values[6:9]), int(values[10])))
    return found


def path_states(messages, name):
    """Returns the states of the network path `name`, in the order in which
    mmtpsink posted them. `messages` is a text that contains these messages.
    """
    return [state for path, state in PATH_STATES.findall(messages)
            if path == name]


class LinkCase(test_testbed.Api):
    """Base class for tests of a link. At the end of each test, the class
    checks that the test has left no process, network namespace or network
    device behind.
    """

    def setUp(self):
        super().setUp()
        self.beds = []

    def open_link(self, description, hosts="a,b", **options):
        """Opens a testbed in which a link connects the hosts a and b. `hosts`
        is "a,b" or "b,a", and the host that is named first is the mobile host.
        `description` contains the properties of the link."""
        logs = self.directory / str(len(self.beds))
        with mock.patch.dict(os.environ, BUS):
            bed = self.open(
                f"wl0={hosts}: {description} {STATS_INTERVAL} "
                f"record-pattern={logs}/wl0.pattern", logs=logs, **options)
        self.beds.append(bed)
        return bed

    # --------------------------------------------------------------- programs

    def start(self, bed, host, program, *words):
        """A program of hostprograms.py."""
        child = bed.popen(
            host, [sys.executable, HOST_PROGRAMS, program, *map(str, words)],
            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(child.stdin.close)
        self.addCleanup(child.stdout.close)
        return child

    def start_receiver(self, bed, host, kind, port, program, *words):
        """The program already listens."""
        child = self.start(bed, host, program, *words)
        bed.wait_listening(host, kind, port)
        return child

    def start_capture(self, bed, host, way):
        child = self.start(bed, host, "capture", "wl0", way)
        self.assertEqual(child.stdout.readline(), "captures\n")
        return child

    def finish(self, child, seconds=SECONDS_TO_END):
        """Closes the standard input of the program `child` and waits until the
        program ends. Returns the result that the program has printed, or None
        if it has printed nothing.
        """
        out, _ = child.communicate(timeout=seconds)
        self.assertEqual(child.returncode, 0)
        return json.loads(out) if out else None

    # --------------------------------------------------------------- the link

    def counters(self, bed, host):
        """Returns the network counters of a host's kernel, for example {"Udp":
        {"InErrors": 0}}. The key "Udp6" has the counters of UDP over IPv6.
        """
        lines = self.text(bed, host, "cat /proc/net/snmp").splitlines()
        found = {}
        for names, numbers in zip(lines[::2], lines[1::2]):
            protocol, *words = names.split()
            found[protocol.rstrip(":")] = dict(
                zip(words, map(int, numbers.split()[1:])))
        for line in self.text(bed, host, "cat /proc/net/snmp6").splitlines():
            name, number = line.split()
            protocol, _, rest = name.partition("6")
            found.setdefault(protocol + "6", {})[rest] = int(number)
        return found

    def wait_until_sent(self, bed, host, packets):
        """Waits until the kernel of this host has sent `packets` packets into
        the link.
        """
        sent = "awk '/wl0:/ { print $11 }' /proc/self/net/dev"
        self.assertTrue(test_testbed.wait_for(
            lambda: int(self.text(bed, host, sent)) >= packets),
            f"the link did not take {packets} packets")

    def wait_until_bucket_is_empty(self, bed, host):
        show = "tc -s qdisc show dev wl0"
        self.assertTrue(test_testbed.wait_for(
            lambda: "backlog 0b 0p" in self.text(bed, host, show)))

    def end_link(self, bed):
        """Ends the link: interrupts its processes and waits until they end.
        Before a process ends, it delivers all packets that still wait in the
        link.
        """
        # The kernel may still be passing the last packet from the network
        # device to the process of the link. It gets some time for this.
        time.sleep(0.1)
        for process in bed.link_processes():
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(SECONDS_TO_DELIVER), 0)

    def lateness(self, bed):
        """Returns how late the element wirelesslink delivered packets. The
        values are from the most recent statistics that the element has
        written."""
        reports = STATS.findall((bed.logs / "wl0.out").read_text())
        self.assertTrue(reports, "no statistics")
        return Lateness(*(
            int(re.search(rf"lateness-{name}=\(gint64\)(\d+)",
                          reports[-1])[1]) / NS_PER_MS
            for name in ("median", "p99", "max")))

    def pattern(self, bed, flow=0):
        return read_pattern(bed.logs / "wl0.pattern", flow)

    def log(self, bed, flow=0):
        return read_log(bed.log("wl0"), flow)
