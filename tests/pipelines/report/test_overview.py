# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the comparison of protocols in README.md, which shows ranges of
results. The tests check that protocols whose ranges overlap are not ranked,
and that the table and the chart agree with the file of results in the
repository."""

import csv
import pathlib
import tempfile
import unittest
import xml.etree.ElementTree

from wirelesslab.commands import comparison
from wirelesslab.errors import LabError
from wirelesslab.lab import matrix
from wirelesslab.report import overview


def row(protocol, low, median, high):
    same = overview.Spread(1, 1, 1)
    return overview.Row(protocol, overview.Spread(low, median, high), same,
                        same)


def protocols(groups):
    return [[one.protocol for one in own] for own in groups]


class GroupTest(unittest.TestCase):
    def test_separate_ranges_are_ranked(self):
        self.assertEqual(protocols(overview.group(
            [row("srt", 5, 6, 7), row("mmtp", 87, 88, 89),
             row("ifd", 74, 75, 76)])), [["mmtp"], ["ifd"], ["srt"]])

    def test_overlapping_ranges_are_in_order_of_the_alphabet(self):
        self.assertEqual(protocols(overview.group(
            [row("tcp", 8, 9, 10), row("srt", 5, 6, 8)])), [["srt", "tcp"]])

    def test_ranges_that_touch_overlap(self):
        self.assertEqual(len(overview.group(
            [row("tcp", 3, 3, 3), row("srt", 3, 3, 3)])), 1)

    def test_two_that_a_third_one_joins_are_one_group(self):
        self.assertEqual(protocols(overview.group(
            [row("tcp", 8, 9, 10), row("rist", 1, 2, 3),
             row("srt", 3, 4, 8)])), [["rist", "srt", "tcp"]])

    def test_places_of_a_group_are_all_of_its_places(self):
        lines = overview.table(overview.group(
            [row("mmtp", 87, 88, 89), row("tcp", 8, 9, 10),
             row("srt", 5, 6, 8)]))
        self.assertEqual([line.split("|")[1].strip() for line in lines[2:]],
                         ["1", "2 to 3", "2 to 3"])


class NumbersTest(unittest.TestCase):
    def test_flagged_runs_are_refused(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "runs.csv"
            with open(path, "w", newline="") as file:
                csv.writer(file).writerows(
                    [overview.COLUMNS, ["mmtp", 1, 1, 88, 200, 450]])
            with self.assertRaisesRegex(LabError, "1 runs were flagged"):
                overview.read(path)

    def test_numbers_are_those_of_the_matrix(self):
        cells = {(cell["protocol"]["name"], str(cell["seed"]))
                 for cell in matrix.read(comparison.MATRIX)}
        with open(comparison.NUMBERS, newline="") as file:
            runs = {(run["protocol"], run["seed"])
                    for run in csv.DictReader(file)}
        self.assertEqual(runs, cells)

    def test_all_transports_with_retransmissions_have_the_same_latency(self):
        transports = {cell["protocol"]["name"]: cell["protocol"]
                      for cell in matrix.read(comparison.MATRIX)}
        self.assertIn("latency=450", transports["mmtp"]["sender"])
        self.assertIn("latency=450", transports["srt"]["sender"])
        self.assertIn("latency=450", transports["srt"]["receiver"])
        self.assertIn("receiver-buffer=450", transports["rist"]["receiver"])


class PageTest(unittest.TestCase):
    def test_table_and_chart_are_made_of_the_numbers(self):
        groups = overview.read(comparison.NUMBERS)
        page = comparison.PAGE.read_text()
        self.assertEqual(page, overview.insert(
            page, overview.table(groups), "comparison"))
        chart = overview.chart(groups, comparison.chart_title())
        self.assertEqual(comparison.CHART.read_text(), chart)
        xml.etree.ElementTree.fromstring(chart)

    def test_a_page_without_marks_is_refused(self):
        with self.assertRaises(LabError):
            overview.insert("text", [], "comparison")


if __name__ == "__main__":
    unittest.main()
