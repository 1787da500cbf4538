# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests how the lab compares two sets of results, A and B, of the same
experiments. All expected numbers were computed by hand. The tests run no
stream."""

import importlib.util
import itertools
import math
import os
import pathlib
import subprocess
import tempfile
import unittest

from wirelesslab.errors import LabError
from wirelesslab.report import results_csv, two_matrices

LAB = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"]) / "pipelines" / "lab"
DELAY = two_matrices.MEASURES[1]


def rows(shares, protocol="tcp", rate="6", seeds=None, **more):
    """Returns rows of a CSV file with results of the lab, one row for each
    run. `shares` has the percentage of decodable frames of each run. `seeds`
    has the seed of each run. The default seeds are 1, 2, 3 and so on."""
    return [{"name": f"radio/{rate}M/{protocol}/{seed}-1",
             "protocol": protocol, "link": "radio", "rate Mbit/s": rate,
             "codec": "mpeg2", "seed": str(seed), "repetition": "1",
             "flagged": "0", "decodable %": str(share), "definition": "d1",
             "commit": "c1", **more}
            for seed, share in zip(seeds or itertools.count(1), shares)]


def results(*parts, path="a"):
    found = [row for part in parts for row in part]
    return results_csv.Results(pathlib.Path(path), list(found[0]), found)


def compare(a, b):
    return two_matrices.compare(results(a), results(b, path="b"))


def only_row(a, b):
    (group,) = compare(a, b).groups
    (own,) = group.primary()
    return own


class IntervalTest(unittest.TestCase):
    def test_rank_sums_are_those_of_all_orders(self):
        """Checks rank_sums(), which returns how often each value of U occurs.
        U is the statistic of the Mann-Whitney test: each run of A forms a pair
        with each run of B, and U is the number of pairs in which the run of B
        is smaller. To check the result, this test function goes through all
        possible orders of the runs of A and B, and counts how many orders have
        each value of U.
        """
        for count_a, count_b in ((2, 3), (3, 2), (1, 4), (4, 4)):
            counted = [0] * (count_a * count_b + 1)
            everything = range(count_a + count_b)
            for of_a in itertools.combinations(everything, count_a):
                counted[sum(b < a for a in of_a for b in everything
                            if b not in of_a)] += 1
            self.assertEqual(two_matrices.rank_sums(count_a, count_b), counted)

    def test_three_and_three_runs_use_all_differences(self):
        """Compares three runs of A with three runs of B, for example [1, 2, 4]
        with [7, 8, 9]. Each run of A is compared with each run of B, which
        makes nine differences. The interval reaches from the smallest to the
        largest of these differences.

        Assume that the true difference between B and A is added to each run of
        A. The shifted runs of A then have the same distribution as the runs of
        B. The three shifted runs of A and the three runs of B are sorted by
        their values. There are 20 ways to divide the six positions in this
        order between A and B, and all 20 ways are equally probable.

        The true difference is less than all nine differences if all shifted
        runs of A are below all runs of B. It is greater than all nine
        differences if all shifted runs of A are above all runs of B. In these
        2 of the 20 ways, and in no other way, the true difference is outside
        the interval. The error probability must therefore be 2 / 20 = 10 %.
        """
        self.assertEqual(two_matrices.interval_of([1, 2, 4], [7, 8, 9]),
                         (3, 8, 0.1))

    def test_five_and_five_runs_lose_two_differences_at_each_end(self):
        """Tests the interval for the difference between B and A, which have
        five runs each. Each run of A is subtracted from each run of B, which
        makes 25 differences.

        The Mann-Whitney test has a statistic U from 0 to 25. U is the number
        of pairs in which the run of A has a larger value than the run of B. If
        the ten runs are sorted by their values, 252 orders of A and B are
        possible. Each order has a value of U:
        - U is 0 in one order, 1 in one order, and 2 in two orders.
        - U is 23, 24 or 25 in four other orders.

        These 8 orders are 3.2 % of the 252 orders, which is less than 5 %. At
        the 5 % level, values of U up to 2 are therefore significant.

        To test an assumed difference d, d is added to each run of A. The run
        of A is then larger in exactly those pairs whose difference, B minus A,
        was below d. U is therefore the number of the 25 differences that are
        below d. If d is less than the third smallest difference, U is at most
        2, so the test rejects d. The same holds at the other end. The interval
        must therefore leave out the two smallest and the two largest of the 25
        differences.

        The sorted differences begin with -39, -38, -37 and end with 3, 4, 5.
        The interval must therefore be from -37 to 3.
        """
        low, high, chance = two_matrices.interval_of(
            [0, 10, 20, 30, 40], [1, 2, 3, 4, 5])
        self.assertEqual((low, high), (-37, 3))
        self.assertAlmostEqual(chance, 8 / 252)

    def test_tables_of_the_rank_sum_test(self):
        """Checks the critical values of the Mann-Whitney test against the
        tables of textbooks. U is the statistic of this test. The critical
        value is the largest U at which the two-sided test still finds a
        difference at the 5 % level.
        """
        for count_a, count_b, largest in (
                (4, 4, 0), (5, 5, 2), (6, 6, 5), (8, 8, 13), (10, 10, 23),
                (5, 8, 6), (20, 20, 127)):
            orders = two_matrices.rank_sums(count_a, count_b)
            self.assertLessEqual(2 * sum(orders[:largest + 1]),
                                 0.05 * sum(orders))
            self.assertGreater(2 * sum(orders[:largest + 2]),
                               0.05 * sum(orders))

    def test_infinite_values_that_are_equal_do_not_differ(self):
        self.assertEqual(two_matrices.minus(math.inf, math.inf), 0)
        self.assertEqual(two_matrices.minus(math.inf, 30), math.inf)


class VerdictTest(unittest.TestCase):
    def test_separate_ranges_are_a_change(self):
        own = only_row(rows([74, 75, 76]), rows([80, 79, 81]))
        self.assertEqual(own.verdict, "better")
        self.assertEqual(own.a, (74, 75, 76, 3, 0))
        self.assertEqual(own.b, (79, 80, 81, 3, 0))
        self.assertEqual((own.difference, *own.interval), (5, 3, 7, 0.1))
        self.assertEqual(own.change_text(), "+5.0 (+3.0 to +7.0)")

    def test_overlapping_ranges_are_not_a_change(self):
        own = only_row(rows([74, 75, 79]), rows([78, 80, 81]))
        self.assertEqual(own.verdict,
                         "no change that the spread does not explain")
        self.assertEqual(own.interval[:2], (-1, 7))

    def test_ranges_that_touch_overlap(self):
        self.assertEqual(only_row(rows([74, 75, 76]), rows([76, 80, 81])
                                  ).verdict, two_matrices.NONE_CHANGED)

    def test_with_ten_runs_ranges_may_overlap_a_little(self):
        """Ten runs of A are compared with ten runs of B. Each run of A is
        compared with each run of B, so there are 100 differences. Only one
        difference is negative, because one run of B (8.5) is below one run of
        A (9). For an interval with an error probability of 5 %, the 23 lowest
        and the 23 highest differences are left out. Only positive differences
        remain, so B must count as better."""
        own = only_row(rows(range(10)), rows([8.5, *range(20, 29)]))
        self.assertEqual(own.verdict, "better")

    def test_runs_that_mostly_agree_are_not_the_same(self):
        """Each of ten runs of A is compared with each of ten runs of B, so
        there are 100 differences. 10 of them are -10, and the other 90 are 0.
        For an interval with an error probability of 5 %, 23 of the sorted
        differences are left out at each end. Only zeros remain, so the
        interval must be from 0 to 0."""
        own = only_row(rows([100] * 10), rows([100] * 9 + [90]))
        self.assertEqual((own.verdict, *own.interval[:2]),
                         (two_matrices.NONE_CHANGED, 0, 0))

    def test_two_and_two_runs_are_too_few(self):
        """The results A and B have two runs each. If the four runs are sorted
        by their values, six orders are possible: AABB, ABAB, ABBA, BAAB, BABA
        and BBAA. In two of them, AABB and BBAA, the ranges of A and B do not
        overlap. Separate ranges therefore occur by chance with a probability
        of 1/3, so the verdict must be that there are too few runs.
        """
        own = only_row(rows([10, 11]), rows([80, 81]))
        self.assertEqual(own.verdict, "too few runs")
        self.assertAlmostEqual(own.interval.chance, 1 / 3)
        self.assertEqual(only_row(rows([10]), rows([80])).verdict,
                         "too few runs")

    def test_flagged_runs_do_not_count(self):
        b = rows([80, 79, 81]) + rows([0], seeds=[4], flagged="1")
        a = rows([74, 75, 76, 75])
        own = only_row(a, b)
        self.assertEqual((own.verdict, own.b), ("better", (79, 80, 81, 3, 1)))
        self.assertEqual(own.runs_text(), "4, 3 (1 flagged)")
        self.assertEqual(only_row(a, rows([80, 79, 81], flagged="1")).verdict,
                         "only flagged runs")

    def test_a_lower_latency_is_better(self):
        a, b = ([{**row, DELAY.column: str(value)} for row, value
                 in zip(rows([50, 50, 50]), values)]
                for values in ((300, 310, 320), (200, 210, 220)))
        (group,) = compare(a, b).groups
        self.assertEqual([one.verdict for one in group.rows["tcp"]],
                         ["the same in every run", "better"])
        self.assertEqual([one.measure for one in group.others()], [DELAY])

    def test_a_missing_number_is_not_compared(self):
        a = [{**row, DELAY.column: "nan"} for row in rows([0, 0, 0])]
        b = [{**row, DELAY.column: "200"} for row in rows([50, 51, 52])]
        (group,) = compare(a, b).groups
        delay = group.rows["tcp"][1]
        self.assertEqual((delay.verdict, delay.a.text("{:.0f}"),
                          delay.change_text()), ("no number", "–", "–"))

    def test_a_wrong_number_is_an_error(self):
        with self.assertRaisesRegex(
                LabError, "radio/6M/tcp/1-1: decodable % is no number: 'x'"):
            compare(rows(["x"]), rows([1]))

    def test_computed_runs_are_compared_by_seed(self):
        """Runs in virtual time (computed runs) are compared by seed: each run
        of A is compared only with the run of B that has the same seed. In the
        first comparison of the test, the ranges of A and B overlap, but each
        value of B is higher by 1 or 2 than the value of A with the same seed.
        B must therefore count as better.
        """
        a = rows([50, 60, 70], computed="1")
        own = only_row(a, rows([51, 62, 71], computed="1"))
        self.assertEqual((own.verdict, own.difference, *own.interval),
                         ("better", 1, 1, 2, 0))
        self.assertEqual(only_row(a, a).verdict, "the same in every run")
        self.assertEqual(only_row(a, rows([49, 62, 70], computed="1")).verdict,
                         "changed in both directions")
        self.assertEqual(only_row(a, rows([49, 60, 70], computed="1")).verdict,
                         "worse")


class MatricesTest(unittest.TestCase):
    def test_each_link_and_rate_is_a_group(self):
        found = compare(rows([1, 2, 3]) + rows([5, 6, 7], rate="3"),
                        rows([1, 2, 3]) + rows([5, 6, 7], rate="3"))
        self.assertEqual([group.title for group in found.groups],
                         ["radio, 6 Mbit/s", "radio, 3 Mbit/s"])

    def test_cells_of_one_side_are_named_and_not_compared(self):
        found = compare(rows([1, 2, 3]) + rows([9], "srt"),
                        rows([2, 3, 4], seeds=[2, 3, 4]))
        self.assertEqual(found.only_a, ["radio/6M/tcp/1", "radio/6M/srt/1"])
        self.assertEqual(found.only_b, ["radio/6M/tcp/4"])
        (own,) = found.groups[0].primary()
        self.assertEqual((own.a.runs, own.b.runs), (2, 2))
        text = "\n".join(two_matrices.text(found))
        self.assertIn("only in A: radio/6M/tcp/1, radio/6M/srt/1", text)
        self.assertIn("only in B: radio/6M/tcp/4", text)

    def test_matrices_without_a_common_cell_have_no_table(self):
        text = "\n".join(two_matrices.text(compare(
            rows([1, 2, 3]), rows([1, 2, 3], "srt"))))
        self.assertIn("A and B have no cell in common.", text)

    def test_another_definition_is_told(self):
        own = only_row(rows([1, 2, 3]), rows([5, 6, 7], definition="d2"))
        self.assertEqual(two_matrices.verdict_text(own),
                         "better, with another definition")
        old = rows([1, 2, 3])
        for row in old:
            del row["definition"]
        self.assertFalse(only_row(old, rows([5, 6, 7])).is_redefined)

    def test_differences_are_listed_with_the_number_of_cells(self):
        a, b = (results_csv.Results(pathlib.Path("a"), list(own[0]), own, {
            f"radio/6M/tcp/{seed}": {"seed": seed, "seconds": seconds}
            for seed in range(1, 4)})
            for own, seconds in ((rows([1, 2, 3]), 10), (rows([4, 5, 6]), 20)))
        self.assertEqual(two_matrices.compare(a, b).redefined,
                         ["seconds: -10 +20 (3 cells)"])
        self.assertEqual(two_matrices.compare(a, a).redefined, [])

    def test_the_number_of_changes_by_chance(self):
        """Each of three rows compares three runs of A with three runs of B.
        With so few runs, a row shows a change by chance with a probability of
        0.1. The expected number of such rows is therefore 0.3."""
        a, b = ([row for name in ("a", "b", "c")
                 for row in rows(values, name)]
                for values in ([1, 2, 3], [4, 5, 6]))
        self.assertEqual(two_matrices.summary(compare(a, b)), [
            "Of 3 rows, 3 became better and 0 worse.",
            "If nothing had changed, 0.3 of these rows would still show a "
            "change, by chance."])

    def test_the_table_for_a_terminal(self):
        lines = two_matrices.text(compare(
            rows([74, 75, 76]) + rows([9, 9, 9], "srt"),
            rows([80, 79, 81], commit="c2")
            + rows([9, 9, 9], "srt", commit="c2")))
        self.assertEqual(lines[:7], [
            "A: a, c1, 6 runs",
            "B: b, c2, 6 runs",
            "",
            "radio, 6 Mbit/s: decodable in time, %",
            "     A                 B                 B − A                "
            "runs",
            "tcp  75.0 (74.0–76.0)  80.0 (79.0–81.0)  +5.0 (+3.0 to +7.0)  "
            "3, 3  better",
            "srt  9.0               9.0               ±0.0                 "
            "3, 3  the same in every run"])

    def test_signs_of_differences(self):
        for value, text in ((0.04, "±0.0"), (-0.04, "±0.0"), (0, "±0.0"),
                            (1, "+1.0"), (-1, "−1.0"), (math.inf, "+∞")):
            self.assertEqual(two_matrices.shown(value, "{:+.1f}"), text)


@unittest.skipUnless(importlib.util.find_spec("jinja2"),
                     "Jinja2 is not installed")
class PageTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def write(self, name):
        from wirelesslab.report import two_matrices_page
        return two_matrices_page.write(compare(
            rows([74, 75, 76]) + rows([9], "<srt>"), rows([80, 79, 81])),
            self.directory / name)

    def test_the_page_has_the_table_and_the_chart(self):
        table = self.write("page.html")
        page = (self.directory / "page.html").read_text()
        for words in ("<style>", "radio, 6 Mbit/s", "75.0 (74.0–76.0)",
                      "+5.0 (+3.0 to +7.0)", "better",
                      "<li>tcp over radio, 6 Mbit/s: decodable in time, %, "
                      "from 75.0 (74.0–76.0) to 80.0 (79.0–81.0), better.</li>",
                      "left:74.00%;width:2.00%", "left:80.00%",
                      "1 cell is\nonly in A", "radio/6M/&lt;srt&gt;/1"):
            self.assertIn(words, page)
        self.assertNotIn("nan", page)
        self.assertEqual(
            table.read_text().splitlines()[1],
            '"radio, 6 Mbit/s",tcp,decodable %,74.0,75.0,76.0,3,'
            "79.0,80.0,81.0,3,5.0,3.0,7.0,0.1,better,0")

    def test_the_table_never_replaces_the_page(self):
        with self.assertRaisesRegex(LabError, "another suffix"):
            self.write("page.csv")


class CommandTest(unittest.TestCase):
    """Runs the commands `compare` and `merge` of pipelines/lab on two CSV
    files. Each file has the results of some experiments.
    """

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.a, self.b = self.directory / "a.csv", self.directory / "b.csv"
        results_csv.write(self.a, results(rows([74, 75, 76])))
        results_csv.write(self.b, results(rows([80, 79, 81], commit="c2")))

    def lab(self, *words):
        return subprocess.run(
            [LAB, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=60)

    def test_compare_prints_a_table_and_writes_a_page(self):
        page = self.directory / "pages" / "page.html"
        done = self.lab("compare", self.a, self.b, "--page", page)
        self.assertIn("+5.0 (+3.0 to +7.0)  3, 3  better", done.stdout)
        if importlib.util.find_spec("jinja2"):
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertIn("</html>", page.read_text())
            self.assertTrue(page.with_suffix(".csv").exists())

    def test_directory_without_results_causes_one_message(self):
        done = self.lab("compare", self.a, self.directory)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, "^pipelines/lab: .* has no results: .*"
                         "\n$")

    def test_merge_writes_one_table(self):
        merged = self.directory / "merged.csv"
        done = self.lab("merge", merged, self.a, self.b)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout, f"6 runs in {merged}\n"
                         "These runs are of 2 commits: c1, c2\n")
        self.assertEqual(
            [(row["name"], row["decodable %"])
             for row in results_csv.read_table(merged).rows],
            [("radio/6M/tcp/1-1", "74"), ("radio/6M/tcp/2-1", "75"),
             ("radio/6M/tcp/3-1", "76"), ("radio/6M/tcp/1-2", "80"),
             ("radio/6M/tcp/2-2", "79"), ("radio/6M/tcp/3-2", "81")])


if __name__ == "__main__":
    unittest.main()
