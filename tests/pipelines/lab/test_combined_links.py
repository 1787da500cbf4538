# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests which cells (single experiments) result from a matrix file with
combined links and schedules. A combined link consists of several links between
the same two hosts. A schedule says when a link changes its state. No cell is
run."""

import pathlib
import tempfile
import unittest
import unittest.mock

import test_matrix

from wirelesslab.errors import LabError
from wirelesslab.lab import cells, combined_links
from wirelesslab.streams import measurements, mptcp_socket

LINKS = """
[link lte]
title = LTE
properties = rate=5000000
schedule = 0 up 8 outage 10 up
[link wi-fi]
title = Wi-Fi
properties = profile=80211b
retry-limit = 2 4
sysctls = net.ipv4.ip_forward=1
device = txqueuelen=7
[link sat]
properties = rate=1000000
steps = 1 5 0.5
"""
BOTH = """
[protocol both]
sender = filesrc location={clip} ! mpegstat location={sent} ! some a={host_1} b={host_2} c={local_lte}
receiver = some a={host_ports} ! mpegstat location={received} ! fakesink
"""  # noqa: E501
COMPUTED = """
[protocol counted]
computed = yes
sender = filesrc location={clip} ! mpegstat location={sent} ! rfc2250pay
receiver = rfc2250depay ! mpegstat location={received} ! fakesink
"""


class CombinedLinksTest(test_matrix.MatrixCase):

    def assert_refused(self, words, *parts):
        with self.assertRaisesRegex(LabError, words):
            self.read(*parts)

    def test_a_combined_link_has_the_properties_of_each_section(self):
        first, second = self.read(
            "[matrix]\nprotocols = rtp\nlinks = lte+wi-fi\nseeds = 7", LINKS)
        self.assertEqual(first["name"], "lte+wi-fi_retry-limit=2/6M/rtp/7-1")
        self.assertEqual(first["link"]["title"], "LTE and Wi-Fi, retry-limit=2")
        self.assertEqual(
            cells.all_properties(first, self.directory),
            ["rate=5000000 seed=7",
             "profile=80211b retry-limit=2 seed=1007"])
        self.assertEqual(cells.all_properties(second, self.directory)[1],
                         "profile=80211b retry-limit=4 seed=1007")
        self.assertEqual(cells.link_logs(first),
                         [("wl0.log", 1), ("wl1.log", 1)])
        with self.assertRaisesRegex(LabError, "is 2 links, where only one"):
            cells.with_steps(first, self.directory)

    def test_a_plain_link_keeps_its_seed_and_its_log(self):
        (cell,) = self.read(
            "[matrix]\nprotocols = rtp\nlinks = lte\nseeds = 7", LINKS)
        self.assertEqual(cells.with_steps(cell, self.directory),
                         "rate=5000000 seed=7")
        self.assertEqual(cells.link_logs(cell), [("wl0.log", 1)])

    def test_steps_of_each_link_have_a_trace_of_their_own(self):
        (cell,) = self.read(
            "[matrix]\nprotocols = rtp\nlinks = sat+sat", LINKS)
        first, second = cells.all_properties(cell, self.directory)
        self.assertIn("steps.trace", first)
        self.assertIn("steps-2.trace", second)
        self.assertTrue((self.directory / "steps-2.trace").exists())

    def test_devices_and_sysctls_are_those_of_all_links(self):
        cell, _ = self.read(
            "[matrix]\nprotocols = rtp\nlinks = lte+wi-fi", LINKS)
        self.assertEqual(
            cells.placement.hosts_of(cell["link"], ("receiver", "sender")),
            {"devices": {"wl1": "txqueuelen=7"},
             "sysctls": {role: {"net.ipv4.ip_forward": "1"}
                         for role in ("receiver", "sender")}})

    def test_mistakes_in_names_of_links(self):
        self.assert_refused("lte\\+umts: there is no link 'umts'; there are: "
                            "lte, wi-fi, sat", "[matrix]\nlinks = lte+umts",
                            LINKS)
        self.assert_refused("lte\\+: there is no link ''",
                            "[matrix]\nlinks = lte+", LINKS)
        self.assert_refused(
            "9 links; the maximum is 8",
            "[matrix]\nlinks = " + "+".join(["lte"] * 9), LINKS)
        self.assert_refused(
            "protocol both: {local_umts}: there is no link umts; there are: "
            "lte, sat, wi_fi", "[matrix]\nprotocols = both\nlinks = lte+sat",
            LINKS, BOTH.replace("local_lte", "local_umts"))

    def test_a_wrong_schedule_is_refused(self):
        self.assert_refused(
            "link lte: schedule = 0 gone: there is no state gone",
            "[matrix]\nprotocols = rtp\nlinks = lte\n[link lte]\n"
            "schedule = 0 gone")

    def test_protocols_for_two_links_are_left_out_over_one(self):
        found = self.read(
            "[matrix]\nprotocols = both rtp\nlinks = lte sat+lte", LINKS, BOTH)
        left, words = combined_links.without_misfits(found)
        self.assertEqual([cell["name"] for cell in left],
                         ["lte/6M/rtp/1-1", "sat+lte/6M/both/1-1",
                          "sat+lte/6M/rtp/1-1"])
        self.assertEqual(words, ["left out both over lte: the link has no "
                                 "{host_2}"])

    def test_computed_protocols_have_one_link_and_no_schedule(self):
        found = self.read("[matrix]\nprotocols = counted\n"
                          "links = sat sat+sat lte", LINKS, COMPUTED)
        left, words = combined_links.without_misfits(found)
        self.assertEqual([cell["name"] for cell in left],
                         ["sat/6M/counted/1-1"])
        self.assertEqual(words, [
            "left out counted over sat+sat: a computed protocol cannot have "
            "several links",
            "left out counted over lte: a computed protocol cannot have a "
            "schedule"])

    def test_mptcp_is_left_out_where_the_kernel_has_none(self):
        found = self.read(
            "[matrix]\nprotocols = both\nlinks = lte+sat", LINKS,
            BOTH + "connection = mptcp\n")
        self.assertEqual(found[0]["protocol"]["binds"], "tcp")
        with unittest.mock.patch.object(mptcp_socket, "why_not",
                                        lambda: "the kernel has no MPTCP"):
            self.assertEqual(
                combined_links.without_misfits(found),
                ([], ["left out both over lte+sat: the kernel has no MPTCP"]))

    def test_without_namespaces_there_are_no_schedules(self):
        found = self.read(
            "[matrix]\nprotocols = rtp\nlinks = lte sat sat+lte", LINKS)
        left, words = combined_links.without_schedules(found)
        self.assertEqual([cell["name"] for cell in left], ["sat/6M/rtp/1-1"])
        self.assertEqual(words, [
            "left out the link lte: its schedule needs network namespaces",
            "left out the link sat+lte: its schedule needs network namespaces"])

    def test_the_matrix_of_the_project(self):
        found = test_matrix.matrix.read(
            test_matrix.paths.PIPELINES / "mobile.ini")
        self.assertEqual(
            [name for name in dict.fromkeys(cell["protocol"]["name"]
                                            for cell in found)],
            ["mmtp-both", "rist-broadcast", "rist-round-robin", "mptcp", "rtp",
             "rtp-second", "srt", "srt-second"])
        self.assertEqual({len(cell["link"]["links"]) for cell in found}, {2})


class LatenessTest(unittest.TestCase):

    def test_the_link_that_was_latest_counts(self):
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            for number, ns in enumerate((200_000, 700_000)):
                (directory / f"wl{number}.out").write_text(
                    "x-wirelesslink-stats, lateness-median=(gint64)1, "
                    f"lateness-p99=(gint64){ns}, lateness-max=(gint64)9;\n")
            self.assertEqual(
                cells.lateness_of([0.1], directory)["link_p99_ms"], 0.7)
            (directory / "wl2.out").write_text("")
            self.assertIsNone(
                cells.lateness_of([0.1], directory)["link_p99_ms"])


class MergeTest(unittest.TestCase):

    @staticmethod
    def packet(index, arrival_ns):
        return measurements.Packet(1, index, 100, "delivered", 1, arrival_ns,
                                   arrival_ns + 5)

    def test_packets_of_all_links_are_in_the_order_of_their_arrival(self):
        first = measurements.LinkLog(
            [self.packet(0, 10), self.packet(1, 40)], [(3, 0.5)])
        second = measurements.LinkLog([self.packet(0, 20)], [(4, 0.1)])
        merged = measurements.merge_links([first, second])
        self.assertEqual([packet.arrival_ns for packet in merged.packets],
                         [10, 20, 40])
        self.assertEqual(merged.quality, [(3, 0.5)])
        self.assertIs(measurements.merge_links([first]), first)


if __name__ == "__main__":
    unittest.main()
