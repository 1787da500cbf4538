# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the comparisons in reports. The tests check:
- which runs are compared with each other
- the tables that have the same form as those in the thesis of Ouwens
- the pool of processes that computes parts of a report
"""

import collections
import os
import pathlib
import subprocess
import tempfile
import types
import unittest

import test_measurements

from wirelesslab import process_pool
from wirelesslab.commands import ouwens
from wirelesslab.errors import LabError
from wirelesslab.report import comparisons


def run(protocol="ifd", link="oven_retry-limit=4", rate=6):
    section, *values = link.split("_")
    transport = {"name": protocol, "title": protocol.upper()}
    return types.SimpleNamespace(protocol=protocol, transport=transport, cell={
        "protocol": transport,
        "link": {"name": link, "title": ", ".join([f"The {section}", *values])},
        "rate": rate})


def square_of(number):
    return number * number


def fail(_):
    raise LabError("no")


# Shell script that replaces `rm`. It fails at the first two calls, as `rm` does
# if another process makes a file in the directory at the same time.
FAILING_RM = """#!/bin/sh
echo >>"$0.calls"
[ "$(wc -l <"$0.calls")" -gt 2 ] || exit 1
exec /bin/rm "$@"
"""


class WayTest(unittest.TestCase):

    def groups(self, by, *runs):
        """Groups the runs for a comparison. `by` says what is compared, such
        as "protocol" or "link"; it is a key of comparisons.WAYS. Returns a
        list with a pair for each group: its title, and a list of the labels of
        its runs.
        """
        way, found = comparisons.WAYS[by], {}
        for one in runs:
            found.setdefault(way.group(one), []).append(one)
        return [(way.group_title(own[0]), [way.label(one) for one in own])
                for own in found.values()]

    def test_protocols_over_the_same_link_at_the_same_bitrate(self):
        self.assertEqual(
            self.groups("protocol", run(), run("tcp"), run(rate=3)),
            [("The oven, retry-limit=4, clip of 6 Mbit/s", ["ifd", "tcp"]),
             ("The oven, retry-limit=4, clip of 3 Mbit/s", ["ifd"])])

    def test_values_of_one_link_for_one_protocol(self):
        self.assertEqual(
            self.groups("link", run(), run(link="oven_retry-limit=8"),
                        run(link="radio_retry-limit=8"), run("tcp")),
            [("ifd: IFD, The oven, clip of 6 Mbit/s",
              ["retry-limit=4", "retry-limit=8"]),
             ("ifd: IFD, The radio, clip of 6 Mbit/s", ["retry-limit=8"]),
             ("tcp: TCP, The oven, clip of 6 Mbit/s", ["retry-limit=4"])])

    def test_links_without_values(self):
        self.assertEqual(
            self.groups("link", run(link="radio"), run(link="oven")),
            [("ifd: IFD, all links, clip of 6 Mbit/s", ["radio", "oven"])])

    def test_bitrates(self):
        self.assertEqual(
            self.groups("rate", run(rate=3), run(), run(link="radio")),
            [("ifd: IFD, The oven, retry-limit=4, MPEG-2",
              ["3 Mbit/s", "6 Mbit/s"]),
             ("ifd: IFD, The radio, MPEG-2", ["6 Mbit/s"])])


class ParallelTest(unittest.TestCase):

    def test_each_in_its_order(self):
        self.assertEqual(list(process_pool.each(square_of, range(40))),
                         [n * n for n in range(40)])

    def test_a_failure_is_the_caller_s(self):
        with self.assertRaisesRegex(LabError, "no"):
            list(process_pool.each(fail, range(4)))

    def test_the_temporary_directory_is_removed_although_rm_fails_twice(self):
        with tempfile.TemporaryDirectory() as name:
            command = pathlib.Path(name, "rm")
            command.write_text(FAILING_RM)
            command.chmod(0o755)
            script = subprocess.Popen(
                ["sh", "-c", process_pool.DIRECTORY_OF_A_POOL], text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                env={**os.environ, "PATH": f"{name}:{os.environ['PATH']}"})
            directory = pathlib.Path(script.stdout.readline().rstrip("\n"))
            self.assertTrue(directory.is_dir())
            script.communicate()
            self.assertEqual(script.returncode, 0)
            self.assertFalse(directory.exists())

    def test_the_temporary_directory_is_removed_if_its_name_was_not_read(self):
        with tempfile.TemporaryDirectory() as name:
            read, write = os.pipe()
            os.close(read)
            script = subprocess.Popen(
                ["sh", "-c", process_pool.DIRECTORY_OF_A_POOL],
                stdin=subprocess.DEVNULL, stdout=write,
                env={**os.environ, "TMPDIR": name})
            os.close(write)
            self.assertEqual(script.wait(), 0)
            self.assertEqual(os.listdir(name), [])


class OuwensTest(unittest.TestCase):

    def setUp(self):
        self.theirs = ouwens.read_theirs()

    def test_the_tables_of_ouwens_are_complete(self):
        """Checks that the file with the tables of the thesis has all results.
        The retry value is the maximum number of transmissions of a packet.
        Tables 3.12 and 3.18 of the thesis have results for four retry values.
        The other tables have results for seven retry values from 0 to 16. All
        tables have results with and without the microwave oven."""
        counts = collections.Counter(table for table, *_ in self.theirs)
        self.assertEqual(counts["3.7"], 7 * 2 * 4)
        self.assertEqual(counts["3.13"], 7 * 2 * 4)
        for tables in ouwens.LOSSES.values():
            for table in tables:
                self.assertEqual(counts[table], 7 * 2 * 3, table)
        for table in ouwens.LOSSES_IN_A_ROW:
            self.assertEqual(counts[table], 4 * 4 * 2 * 8, table)

    def test_totals_are_those_that_he_printed(self):
        for table, protocol, rate, retry, oven, total in (
                ("3.8", "udp-blocking", 3, 1, "yes", 137.3),
                ("3.17", "udp", 6, 8, "yes", 1418.3),
                ("3.22", "ifd", 6, 2, "no", 314.3)):
            self.assertAlmostEqual(sum(
                self.theirs[table, protocol, rate, retry, oven, f"lost {type}"]
                for type in "IPB"), total, delta=0.11)

    def test_a_row_is_theirs_beside_the_median_of_ours(self):
        ours = collections.defaultdict(list)
        ours["tcp", 4, 2, "yes"] = [{"duration s": seconds, "flagged": False}
                                    for seconds in (70.04, 61, 66.5)]
        ours["tcp", 3, 2, "yes"] = [{"duration s": 60, "flagged": True}]
        heads, *rows = ouwens.durations("3.13", self.theirs, ours)
        found = {row[0]: row for row in rows}
        self.assertEqual(found["2, yes"][heads.index("4 Mbit/s")],
                         "65.6 / 66.5 (61.0–70.0)")
        self.assertEqual(found["2, yes"][heads.index("3 Mbit/s")],
                         "59.9 / 60.0*")
        self.assertEqual(found["1, no"][heads.index("6 Mbit/s")], "363.7 / –")
        # The retry value is the maximum number of transmissions of a packet.
        # The thesis of Ouwens lists the retry value 256, but its tables have
        # no results for 256. The corresponding value of our runs is 255, the
        # maximum of the element wirelesslink. This test has no runs with 255.
        # In the table, the result of the thesis and our result must therefore
        # both be missing.
        self.assertEqual(found["255, no"][1], "– / –")

    def test_flagged_runs_count_if_there_are_no_others(self):
        good, bad = {"flagged": False}, {"flagged": True}
        self.assertEqual(ouwens.believed([bad, good, bad]), [good])
        self.assertEqual(ouwens.believed([bad, bad]), [bad, bad])

    def test_lengths_of_losses_in_a_row(self):
        # There is one Counter for each of two seeds. It maps the length of a
        # series of consecutive lost packets to the number of series with this
        # length. The two seeds together have 7 series: 4 of one packet, 2 of
        # seven packets, and 1 of eleven packets. shares() must return the
        # percentage of series in each of six classes of lengths.
        own = [{"in a row": collections.Counter({1: 3, 7: 2})},
               {"in a row": collections.Counter({1: 1, 11: 1})}]
        self.assertEqual(ouwens.shares(own), ["57", "0", "0", "0", "29", "14"])
        self.assertEqual(ouwens.shares([]), ["–"] * 6)

    def test_throughput_of_a_part_of_the_film(self):
        # The stream has 25 frames of 1000 bytes per second, which is 0.2
        # Mbit/s. Each frame arrives 1 ms after it was sent. The throughput
        # from second 1 to second 3 must be 0.2 Mbit/s.
        ways = test_measurements.ways("P" * 100, [1] * 100)
        self.assertAlmostEqual(ouwens.throughput(ways, (1, 3)), 0.2)

    def test_how_much_of_the_lateness_goes_with_the_size(self):
        ways = test_measurements.ways("PPPP", [1, 2, None, 3],
                                  sizes=[100, 200, 900, 300])
        self.assertAlmostEqual(ouwens.of_size(ways), 1)
        ways = test_measurements.ways("PP", [5, 5], sizes=[100, 200])
        # of_size() returns the correlation between the sizes of frames and
        # their lateness. If all frames are equally late, there is no
        # correlation, so it must return NaN. Only NaN is not equal to itself,
        # so the test checks that two calls of of_size() do not return equal
        # results.
        self.assertNotEqual(ouwens.of_size(ways), ouwens.of_size(ways))

    def test_a_run_s_retry_value_and_oven(self):
        self.assertEqual(ouwens.key(run("udp", "80211b_retry-limit=255", 3)),
                         ("udp", 3, 255, "no"))
        self.assertEqual(ouwens.key(run()), ("ifd", 6, 4, "yes"))

    def test_markdown(self):
        self.assertEqual(ouwens.markdown([["a", "b"], ["1", "2"]]),
                         "| a | b |\n| --- | --- |\n| 1 | 2 |")


if __name__ == "__main__":
    unittest.main()
