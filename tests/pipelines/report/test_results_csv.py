# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests how CSV tables with the results of lab runs are read and merged. The
tests write the tables themselves, so they need no lab run.
"""

import copy
import csv
import pathlib
import tempfile
import unittest

from wirelesslab.errors import LabError
from wirelesslab.lab import definition
from wirelesslab.report import results_csv

HEADS = [*results_csv.NEEDED, "definition", "commit"]
CELL = {"name": "radio/6M/tcp/1-1", "seed": 1, "repetition": 1, "rate": 6,
        "seconds": 10,
        "link": {"name": "radio", "title": "a radio",
                 "properties": "delivery-trace=/a/lte.down rate=6"},
        "protocol": {"name": "tcp", "title": "TCP", "sender": "a ! b"}}


def row(name, share, protocol="tcp", **more):
    seed, _, repetition = name.rpartition("/")[2].partition("-")
    return {**dict(zip(HEADS, (name, protocol, "radio", "6", "mpeg2", seed,
                               repetition, "0", str(share), "d1", "c1"))),
            **more}


def table(*rows, name="a"):
    return results_csv.Results(pathlib.Path(name), list(rows[0]), list(rows))


def names(results):
    return {own["name"]: own["decodable %"] for own in results.rows}


class MergeTest(unittest.TestCase):
    def merge(self, *parts):
        return results_csv.merge(parts)

    def test_cells_of_both_are_in_the_result(self):
        merged = self.merge(table(row("radio/6M/tcp/1-1", 50)),
                            table(row("radio/6M/tcp/2-1", 60)))
        self.assertEqual(names(merged), {"radio/6M/tcp/1-1": "50",
                                         "radio/6M/tcp/2-1": "60"})

    def test_another_run_of_a_cell_is_a_further_repetition(self):
        merged = self.merge(
            table(row("radio/6M/tcp/1-1", 50), row("radio/6M/tcp/1-2", 51)),
            table(row("radio/6M/tcp/1-1", 60), row("radio/6M/tcp/1-3", 61)))
        self.assertEqual(names(merged), {
            "radio/6M/tcp/1-1": "50", "radio/6M/tcp/1-2": "51",
            "radio/6M/tcp/1-3": "61", "radio/6M/tcp/1-4": "60"})
        self.assertEqual([own["repetition"] for own in merged.rows],
                         ["1", "2", "4", "3"])

    def test_the_same_run_is_kept_once(self):
        first = table(row("radio/6M/tcp/1-1", 50), row("radio/6M/tcp/1-2", 51))
        # The second table contains the same two runs as the first table, but
        # with swapped repetition numbers, as an earlier merge can cause. The
        # merged table must contain each run only once.
        second = table(row("radio/6M/tcp/1-1", 51, flagged="1"),
                       row("radio/6M/tcp/1-2", 50))
        self.assertEqual(names(self.merge(first, second, first)),
                         names(first))

    def test_streams_of_one_cell_stay_together(self):
        def cell(share):
            return table(row("radio/6M/a+b/1-1", share, "a+b/1-a"),
                         row("radio/6M/a+b/1-1", share + 1, "a+b/2-b"))

        merged = self.merge(cell(50), cell(60))
        self.assertEqual(
            [(own["name"], own["protocol"]) for own in merged.rows],
            [("radio/6M/a+b/1-1", "a+b/1-a"), ("radio/6M/a+b/1-1", "a+b/2-b"),
             ("radio/6M/a+b/1-2", "a+b/1-a"), ("radio/6M/a+b/1-2", "a+b/2-b")])

    def test_another_definition_is_refused(self):
        with self.assertRaisesRegex(LabError, "b and a have different runs of "
                                    "radio/6M/tcp/1: "):
            self.merge(table(row("radio/6M/tcp/1-1", 50)), table(
                row("radio/6M/tcp/1-2", 60, definition="d2"), name="b"))

    def test_other_columns_are_refused(self):
        first = table(row("radio/6M/tcp/1-1", 50))
        more = table(row("radio/6M/tcp/1-1", 50, freezes="1"), name="b")
        for parts in ((first, more), (more, first)):
            with self.assertRaisesRegex(
                    LabError, "a has no column 'freezes', but b has"):
                self.merge(*parts)

    def test_a_table_without_definitions_is_refused(self):
        old = row("radio/6M/tcp/1-1", 50)
        del old["definition"]
        with self.assertRaisesRegex(LabError, "a was written by an older"):
            self.merge(table(old), table(old))


class KnownTest(unittest.TestCase):
    def test_only_cells_with_the_same_definition_are_known(self):
        changed = {**CELL, "name": "radio/6M/tcp/2-1", "seconds": 20}
        new = {**CELL, "name": "radio/6M/tcp/3-1"}
        known = table(*(row(cell["name"], 50,
                            definition=definition.checksum(CELL))
                        for cell in (CELL, changed)))
        self.assertEqual(
            results_csv.without_known([CELL, changed, new], known),
            ([changed, new], ["1 of 3 cells are in a"]))


class DefinitionTest(unittest.TestCase):
    def test_seeds_titles_and_directories_do_not_matter(self):
        same = copy.deepcopy(CELL)
        same.update(name="radio/6M/tcp/2-3", seed=2, repetition=3)
        same["link"].update(title="another",
                            properties="delivery-trace=/b/lte.down rate=6")
        same["protocol"]["title"] = "another"
        self.assertEqual(definition.checksum(same), definition.checksum(CELL))

    def test_everything_else_matters(self):
        for change in ({"seconds": 20}, {"rate": 3}, {"codec": "h264"},
                       {"link": {**CELL["link"], "properties":
                                 "delivery-trace=/a/other.down rate=6"}},
                       {"protocol": {**CELL["protocol"], "sender": "a ! c"}}):
            self.assertNotEqual(definition.checksum({**CELL, **change}),
                                definition.checksum(CELL), change)


    def test_differences_are_named_by_key_and_word(self):
        other = copy.deepcopy(CELL)
        other["link"]["properties"] = "delivery-trace=/b/lte.down rate=5 x=1"
        other["protocol"]["title"] = "another"
        other["codec"] = "h264"
        self.assertEqual(definition.differences(CELL, other), [
            "link.properties: -rate=6 +rate=5 +x=1", "codec: +h264"])
        self.assertEqual(definition.differences(CELL, CELL), [])


class ReadTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.path = self.directory / "runs.csv"

    def read(self, path=None):
        return results_csv.read(path or self.path, None)

    def test_a_table_is_found_in_its_directory_and_in_that_of_a_report(self):
        written = table(row("radio/6M/tcp/1-1", 50))
        results_csv.write(self.path, written)
        report = self.directory / "runs" / "report"
        report.mkdir(parents=True)
        results_csv.write(report / "runs.csv", written)
        for path in (self.path, self.directory, report, report.parent):
            self.assertEqual(self.read(path)[1:3], written[1:3])

    def test_directory_without_complete_results_is_refused(self):
        empty = self.directory / "empty"
        empty.mkdir()
        for path, words in (
                (empty, "has no results: neither grid.json"),
                (self.directory / "none", "Could not read .*none")):
            with self.assertRaisesRegex(LabError, words):
                self.read(path)
        (empty / "grid.json").write_text(
            '{"cells": [], "command": "", "left_out": []}')
        with self.assertRaisesRegex(LabError, "has no complete run"):
            self.read(empty)

    def test_files_that_are_no_tables_of_runs_are_refused(self):
        for text, words in (
                (b"", "it has no column 'name'"),
                (b"name,protocol\na,b\n", "it has no column 'link'"),
                (b"\xff\xfe\x00", "is not a CSV file"),
                (",".join(HEADS).encode(), "has no runs"),
                (",".join(HEADS).encode() + b"\nradio/6M/tcp/1-1,tcp\n",
                 f"line 2 does not have {len(HEADS)} columns")):
            self.path.write_bytes(text)
            with self.assertRaisesRegex(LabError, words):
                self.read()

    def test_a_written_table_is_the_same_when_read(self):
        written = table(row("radio/6M/tcp/1-1", 50, title="a, \"b\""))
        results_csv.write(self.path, written)
        self.assertEqual(self.read()[1:], written[1:])
        with open(self.path, newline="") as file:
            self.assertEqual(next(csv.reader(file)), written.heads)


if __name__ == "__main__":
    unittest.main()
