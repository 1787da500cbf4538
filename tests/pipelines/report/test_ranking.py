# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests how the rows of a table are ranked: first place, second place and so
on. A row has the results of several runs, which form a range. If the ranges of
two rows overlap, neither row is ranked before the other. A row with fewer than
three runs has no place."""

import unittest

from wirelesslab.report import ranking


def ranges(**values):
    return {name: ranking.range_of(each) for name, each in values.items()}


class RangeTest(unittest.TestCase):
    def test_a_range_is_the_median_with_the_lowest_and_the_highest(self):
        self.assertEqual(ranking.range_of([3, 1, 2]), (1, 2, 3, 3, False))
        self.assertEqual(ranking.range_of([88.44, 89, 88.8]).text(unit=" %"),
                         "88.8 % (88.4–89.0)")

    def test_one_run_has_no_range(self):
        self.assertEqual(ranking.range_of([3]).text(), "3.0 (one\u00a0run)")
        self.assertFalse(ranking.range_of([3]).is_known)


class PlaceTest(unittest.TestCase):
    def test_separate_ranges_have_one_place_each(self):
        found = ranges(srt=[5, 6, 7], mmtp=[87, 88, 89], ifd=[74, 75, 76])
        self.assertEqual(ranking.places(found),
                         {"mmtp": (1, 1), "ifd": (2, 2), "srt": (3, 3)})
        self.assertEqual(ranking.best(found), ["mmtp"])

    def test_ranges_that_touch_share_their_places(self):
        found = ranges(a=[3, 4, 5], b=[5, 6, 8])
        self.assertEqual(ranking.places(found), {"a": (1, 2), "b": (1, 2)})
        self.assertEqual(ranking.best(found), ["a", "b"])

    def test_a_wide_range_shares_the_places_of_separate_ones(self):
        # The range of `wide` is from 40 to 81. It overlaps with the ranges of
        # `high` and of `low`, so `wide` must share places with both. The
        # ranges of `high` and `low` do not overlap, so they must not share a
        # place.
        found = ranges(wide=[40, 60, 81], high=[74, 75, 76],
                       low=[42, 43, 44])
        self.assertEqual(ranking.places(found),
                         {"wide": (1, 3), "high": (1, 2), "low": (2, 3)})
        self.assertEqual(sorted(ranking.best(found)), ["high", "wide"])
        self.assertEqual(ranking.in_order(found), ["high", "wide", "low"])

    def test_a_row_with_fewer_than_three_runs_has_no_place(self):
        found = ranges(a=[3, 4, 5], once=[99], twice=[98, 99], b=[1, 1, 2])
        self.assertEqual(ranking.places(found), {
            "a": (1, 1), "once": None, "twice": None, "b": (2, 2)})
        self.assertEqual([ranking.place_text(place) for place
                          in ranking.places(found).values()],
                         ["1", "–", "–", "2"])
        self.assertEqual(found["twice"].text(), "98.5 (98.0–99.0)")

    def test_a_row_with_flagged_runs_has_no_place(self):
        found = {**ranges(a=[3, 4, 5]),
                 "late": ranking.range_of([8, 9, 10], is_flagged=True)}
        self.assertEqual(ranking.places(found), {"a": (1, 1), "late": None})

    def test_a_place_is_one_or_a_range(self):
        self.assertEqual(ranking.place_text((2, 2)), "2")
        self.assertEqual(ranking.place_text((1, 3)), "1–3")


class ListTest(unittest.TestCase):
    def test_words_are_listed_as_in_a_sentence(self):
        self.assertEqual([ranking.listed(words) for words in (
            ["a"], ["a", "b"], ["a", "b", "c"])], ["a", "a and b",
                                                   "a, b and c"])


if __name__ == "__main__":
    unittest.main()
