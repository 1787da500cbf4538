# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests how the lab (the program that runs experiments) estimates the duration
of the remaining runs from a few earlier results.
"""

import unittest

from wirelesslab.lab import estimate

HERE = {"kernel": "Linux 6", "cores": 2}


def cell(protocol="rtp", link="radio", rate=6, computed=False, seconds=20,
         **more):
    return {"protocol": {"name": protocol, "computed": computed, **more},
            "link": {"name": link}, "rate": rate, "seconds": seconds}


def took(seconds, own, machine=HERE):
    return {"cell": own, "took_s": seconds, "machine": machine}


class EstimateTest(unittest.TestCase):
    def seconds(self, own, *results):
        return estimate.Estimate(results, HERE).seconds(own)

    def test_without_any_result(self):
        self.assertEqual(self.seconds(cell()), 23)
        self.assertEqual(self.seconds(cell(computed=True)), 2.5)
        # The estimate for a run with one stream is 23 s. In a run with two
        # streams, the second stream begins 5 s after the first, so the
        # estimate must be 28 s.
        self.assertEqual(self.seconds(cell(streams=[{}, {}], apart=5)), 28)

    def test_similar_runs_count(self):
        results = [took(21, cell()), took(23, cell()), took(24, cell()),
                   took(50, cell(rate=3)), took(80, cell("tcp")),
                   took(90, cell("tcp", "oven"))]
        # The results contain three runs of this experiment, which took 21, 23
        # and 24 s. The estimate must be their median, 23 s. The clip lasts 20
        # s, so the median run took 3 s longer than its clip.
        self.assertEqual(self.seconds(cell(), *results), 23)
        # No result has a clip of 40 s. The median run with a clip of 20 s took
        # 3 s longer than its clip, so the estimate must be 43 s.
        self.assertEqual(self.seconds(cell(seconds=40), *results), 43)
        self.assertEqual(self.seconds(cell("tcp", "oven"), *results), 90)
        # There is no result of TCP over this link. The estimate then comes
        # from the results of TCP over all links. Two runs of TCP took 60 and
        # 70 s longer than their clips, 65 s on average. The clip of this run
        # lasts 20 s, so the estimate must be 85 s.
        self.assertEqual(self.seconds(cell("tcp", "lte"), *results), 85)
        # There is no result of MMTP, so the estimate comes from the results of
        # all protocols. The runs took 1, 3, 4, 30, 60 and 70 s longer than
        # their clips. The median of these times is 17 s. The clip lasts 20 s,
        # so the estimate must be 37 s.
        self.assertEqual(self.seconds(cell("mmtp"), *results), 37)

    def test_other_machines_and_old_results_do_not_count(self):
        old = took(90, cell())
        del old["took_s"]
        other = took(90, cell(), {"kernel": "Linux 5", "cores": 2})
        self.assertEqual(self.seconds(cell(), old, other), 23)

    def test_computed_runs_do_not_count_for_runs_in_real_time(self):
        fast = took(1, cell(computed=True))
        self.assertEqual(self.seconds(cell(), fast), 23)
        self.assertEqual(self.seconds(cell(computed=True), fast), 1)

    def test_computed_cells_use_all_cores_and_the_others_jobs(self):
        """Nine cells (experiments) remain to be run. Four of them are computed
        cells, which run in virtual time. The other five run in real time.

        Each of the four computed cells takes 2.5 s. The machine has two cores,
        which run two of these cells at a time, so the four cells take 5 s in
        total.

        Each of the other five cells takes 23 s. Their total time is:

        - 115 s, if one cell runs at a time,
        - 115 s / 3, if three cells run at a time,
        - 23 s, if eight cells may run at a time, because all five then run at
          the same time."""
        todo = [cell(computed=True)] * 4 + [cell()] * 5
        for jobs, seconds in ((1, 120), (3, 5 + 115 / 3), (8, 28)):
            self.assertEqual(
                estimate.Estimate([], HERE).total(todo, jobs, 2), seconds)


if __name__ == "__main__":
    unittest.main()
