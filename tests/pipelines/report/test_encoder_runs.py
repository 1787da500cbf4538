# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the table in a report for runs with a live encoder. The tests make up
the numbers of the runs, so they run no stream.
"""

import math
import unittest

from wirelesslab.report import encoder_runs


class Run:
    def __init__(self, protocol, ssim, delay_ms=100.0, is_flagged=False):
        self.protocol, self.title = protocol, f"title of {protocol}"
        self.is_flagged = is_flagged
        self._numbers = {
            **{number: 0.0 for _, number, _ in encoder_runs.SUMMARY},
            "SSIM": ssim, "delay 99 % ms": delay_ms}

    def numbers(self):
        return self._numbers


class SummaryTest(unittest.TestCase):

    def rows(self, *runs):
        heads, rows = encoder_runs.summary(list(runs))
        return [dict(zip(heads, row)) for row in rows]

    def test_medians_with_ranges_for_each_protocol(self):
        first, second = self.rows(Run("a", 0.9), Run("b", 0.5), Run("a", 0.7),
                                  Run("a", 0.8))
        self.assertEqual(first["protocol"], "a: title of a")
        self.assertEqual(first["SSIM"], "0.800 (0.700–0.900)")
        self.assertEqual(second["SSIM"], "0.500")
        self.assertEqual([row["runs"] for row in (first, second)], ["3", "1"])

    def test_missing_frames_have_infinite_delay(self):
        (row,) = self.rows(Run("a", 0.9, 200.0), Run("a", 0.9, math.inf),
                           Run("a", 0.9, math.inf))
        self.assertEqual(row["delay 99 %, ms"], "∞ (200–∞)")

    def test_a_flagged_run_is_left_out(self):
        (row,) = self.rows(Run("a", 0.9), Run("a", 0.1, is_flagged=True),
                           Run("a", 0.7))
        self.assertEqual(row["SSIM"], "0.800 (0.700–0.900)")
        self.assertEqual(row["runs"], "2, 1 more flagged")

    def test_where_all_are_flagged_it_says_so(self):
        (row,) = self.rows(Run("a", 0.9, is_flagged=True),
                           Run("a", 0.7, is_flagged=True))
        self.assertEqual(row["SSIM"], "0.800 (0.700–0.900)")
        self.assertEqual(row["runs"], "2, all flagged")


if __name__ == "__main__":
    unittest.main()
