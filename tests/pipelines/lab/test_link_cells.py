# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a cell (one experiment) of the lab. The sender uses two links at once,
and a schedule takes one of them down for two seconds.
"""

import csv
import unittest

import test_lab
import test_testbed

from wirelesslab.report import run_results
from wirelesslab.streams import link_schedules

NS = 1e9
MATRIX = """
[matrix]
protocols = both
links = near+far
rates = 3
seconds = 8
[link near]
properties = rate=2500000 delay-ms=20
[link far]
properties = rate=2500000 delay-ms=40
schedule = 0 up 3 down 5 up
[protocol both]
sender = filesrc location={clip} ! mpegstat ! clocksync ! mpegstat location={sent}
 ! mmtpsink channels=wl0->{host_near},wl1->{host_2} port={port} latency=450 blocking=false sync=false
receiver = mmtpsrc port={port} ! mpegstat location={received} ! fakesink sync=false async=false
"""  # noqa: E501

# Minimum number of packets per second on the link "far" while this link is up.
# The rate of the link allows about 200 packets per second.
MIN_PACKETS = 20
# Maximum time in s for which the link may still deliver packets after its
# device went down. Such packets were already in the link when the device went
# down.
SECONDS_TO_EMPTY = 0.7


class LinkCellTest(test_lab.LabCase):

    @test_testbed.needs_namespaces
    def test_both_links_carry_packets_and_one_is_away_for_two_seconds(self):
        if not test_testbed.has_element("mmtpsink"):
            self.skipTest("mmtpsink is not built")
        path = self.directory / "matrix.ini"
        path.write_text(MATRIX)
        done = self.lab("grid", path, "--output", self.output, "--plain")
        self.assertEqual(done.returncode, 0, done.stdout)
        (run,), _, _ = run_results.read(self.output, test_lab.BUILD, 500)

        with open(run.directory / link_schedules.LOG) as log:
            changes = list(csv.DictReader(log))
        self.assertEqual([(line["device"], line["state"]) for line in changes],
                         [("wl1", state)
                          for state in ("up", "down", "up", "end")])
        down_ns, up_ns = (int(line["wall_ns"]) for line in changes[1:3])
        self.assertAlmostEqual((up_ns - down_ns) / NS, 2, delta=0.5)

        near, far = run.links
        # The log of the schedule and the log of the link use different clocks.
        # The schedule uses the clock of the machine. By this clock, the first
        # frame is sent at the time run.began_ns. By the clock of the link, the
        # first packet of this frame enters the link at the time first_ns.
        # These two times are about the same moment. Their difference therefore
        # converts the times of the schedule to the clock of the link.
        first_ns = near.packets[0].arrival_ns
        down, up = (first_ns + (ns - run.began_ns) for ns in (down_ns, up_ns))

        def carried(log, begin_ns, end_ns):
            return sum(begin_ns <= packet.departure_ns < end_ns
                       and not packet.is_lost() for packet in log.packets)

        self.assertGreater(carried(near, down, up), 2 * MIN_PACKETS)
        self.assertGreater(carried(far, 0, down), 3 * MIN_PACKETS)
        self.assertEqual(
            carried(far, down + SECONDS_TO_EMPTY * NS, up - 0.2 * NS), 0)
        self.assertGreater(carried(far, up, up + 10 * NS), MIN_PACKETS)
        self.assertEqual(len(run.link.packets),
                         len(near.packets) + len(far.packets))


if __name__ == "__main__":
    unittest.main()
