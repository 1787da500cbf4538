# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the sentences that findings.py writes about groups of runs. A sentence
must be true of all runs to which it refers. The tests use invented numbers of
frames instead of real runs."""

import collections
import itertools
import random
import re
import types
import unittest

from wirelesslab.report import findings, front, ranking

SENT = {"I": 10, "P": 40, "B": 100}


def frames(lost="0 0 0", late="0 0 0", decodable=None):
    """Returns a findings.Frames, which says how many frames of a run were
    sent, lost, late and decodable. Each argument is a text with three numbers:
    the number of I-frames, of P-frames and of B-frames. `lost` counts the lost
    frames, `late` counts the late frames, and `decodable` counts the decodable
    frames. If `decodable` is not given, each frame that arrived in time is
    decodable."""
    def counts(words):
        return dict(zip("IPB", map(int, words.split())))

    missing = [counts(lost), counts(late)]
    return findings.Frames(SENT, *missing, counts(decodable) if decodable else {
        type: SENT[type] - sum(each[type] for each in missing)
        for type in "IPB"})


def row(name, *runs, possible=()):
    return findings.Row(name, [
        100 * sum(run.decodable.values()) / 150 for run in runs], possible,
        runs)


def share(name, *shares, possible=()):
    """Returns a findings.Row, which is the results of one protocol, with one
    run for each of `shares`. A share is the percentage of decodable frames of
    a run. All runs have the same number of lost frames and the same number of
    late frames."""
    return findings.Row(name, shares, possible, [frames(
        "1 4 10", decodable="0 0 0")] * len(shares))


def text(words):
    return words.replace("\u00a0", " ")


def sentences(*rows):
    return [text(words) for words in findings.sentences(rows)]


def paired(name, *shares):
    """Returns a findings.Row, which is the results of one protocol, with one
    run for each of `shares`. A share is the percentage of decodable frames of
    a run. The runs have the seeds 1, 2, 3 and so on. Rows that are made in
    this way can be compared seed by seed.
    """
    return share(name, *shares)._replace(
        keys=[(seed, 1) for seed in range(1, len(shares) + 1)])


class PairedTest(unittest.TestCase):
    def test_a_lead_with_each_seed_is_told_although_ranges_overlap(self):
        # The differences are 5.6, 8.6 and 8.04 points.
        found = sentences(paired("a", 52.7, 38.9, 73.34),
                          paired("b", 47.1, 30.3, 65.3))
        self.assertIn("share the first place", found[0])
        self.assertIn("With each seed, `a` showed at least 5.6 percentage "
                      "points more than every other protocol with the same "
                      "seed.", found[0])

    def test_a_lead_of_less_than_one_point_is_not_told(self):
        for lead, is_told in ((0.1, False), (0.9, False), (1.1, True)):
            found = sentences(
                paired("a", *(share + lead for share in (50, 40, 70))),
                paired("b", 50, 40, 70))
            self.assertEqual("With each seed" in found[0], is_told, lead)

    def test_repetitions_of_two_seeds_are_not_enough(self):
        keys = [(1, 1), (2, 1), (2, 2)]
        found = sentences(*(one._replace(keys=keys) for one in (
            share("a", 60, 40, 80), share("b", 50, 30, 70))))
        self.assertIn("share the first place", found[0])
        self.assertNotIn("With each seed", found[0])

    def test_nothing_is_told_if_one_seed_is_different(self):
        found = sentences(paired("a", 52.7, 38.9, 60.0),
                          paired("b", 47.1, 30.3, 65.3))
        self.assertNotIn("With each seed", found[0])

    def test_nothing_is_told_if_a_seed_is_missing(self):
        found = sentences(paired("a", 52.7, 38.9, 73.3),
                          paired("b", 47.1, 50.3))
        self.assertNotIn("With each seed", found[0])

    def test_many_rows_that_share_the_first_place_are_counted(self):
        found = sentences(*(paired(name, 10 + place, 30 + place / 2, 50)
                            for place, name in enumerate("abcdef")))
        # The medians are 30, 30.5, 31, 31.5, 32 and 32.5.
        self.assertIn("6 rows share the first place, because their ranges "
                      "overlap. The highest medians are those of `f`, 32.5 % "
                      "(15.0–50.0), `e`, 32.0 % (14.0–50.0) and `d`, 31.5 % "
                      "(13.0–50.0) of the frames decodable in time.", found[0])


class WhyTest(unittest.TestCase):
    def why(self, *runs):
        return text(findings.why(row("x", *runs)))

    def test_nothing_is_missing(self):
        self.assertEqual(self.why(frames(), frames()),
                         "delivered every frame in time")

    def test_key_frames_are_missed_first(self):
        # In the first run, 9 of 10 I-frames and 20 of 100 B-frames are
        # missing. In the second run, 8 of 10 I-frames and 10 of 100 B-frames
        # are missing. In both runs, the share of missing I-frames is more than
        # twice the share of missing B-frames. The sentence must therefore say
        # "missed key frames first", which means that key frames were lost more
        # often than other frames.
        self.assertEqual(
            self.why(frames("9 20 20", decodable="1 1 2"),
                     frames("8 20 10", decodable="2 2 4")),
            "missed key frames first: 85 % (80–90) of them, and 15 % (10–20) "
            "of the B-frames")

    def test_it_is_not_said_if_it_is_not_true_of_each_run(self):
        # The first run lost 49 of 150 frames, and the second run lost 115 of
        # 150 frames. In the second run, 5 of 10 I-frames (50 %) and 80 of 100
        # B-frames (80 %) are missing. The share of missing I-frames is thus
        # lower than that of missing B-frames. A sentence about the two runs
        # must be true of each of them, so it must not contain "missed key
        # frames first".
        self.assertEqual(
            self.why(frames("9 20 20", decodable="1 1 2"),
                     frames("5 30 80", decodable="1 1 2")),
            "lost 55 % (33–77) of the frames and delivered 43 % (21–65) "
            "without the frames that they refer to")

    def test_only_b_frames_are_missed(self):
        self.assertEqual(
            self.why(frames("0 0 30"), frames(late="0 0 20")),
            "missed only B-frames, which no other frame refers to: 25 % "
            "(20–30) of them")

    def test_b_frames_are_missed_first(self):
        # In each run, 1 of 10 I-frames, 2 of 40 P-frames and 40 of 100
        # B-frames are missing. The percentage of missing frames is highest for
        # the B-frames, so the sentence must begin with "missed B-frames
        # first".
        self.assertEqual(
            self.why(*[frames("1 2 40")] * 2),
            "missed B-frames first: 40 % (40–40) of them, and 10 % (10–10) of "
            "the key frames")

    def test_frames_are_too_late(self):
        # Of 150 frames, 90 are late in the first run, and 120 are late in the
        # second run. Each run also loses one frame. The sentence about these
        # runs must name the late frames as the cause.
        self.assertEqual(
            self.why(frames("0 0 1", "9 30 51"), frames("0 0 1", "9 30 81")),
            "delivered frames too late: 70 % (60–80) of them")

    def test_a_single_run_has_no_range(self):
        self.assertEqual(self.why(frames("0 0 30")),
                         "missed only B-frames, which no other frame refers "
                         "to: 30 % of them")

    def test_a_cause_that_is_rounded_to_nothing_is_left_out(self):
        # 1 of 1000 frames is late.
        few = {"I": 100, "P": 400, "B": 500}
        run = findings.Frames(few, {"I": 20, "P": 80, "B": 100},
                              {"I": 0, "P": 1, "B": 0},
                              {"I": 80, "P": 319, "B": 400})
        self.assertEqual(self.why(run, run), "lost 20 % (20–20) of the frames")


class SentenceTest(unittest.TestCase):
    def test_a_winner_has_its_range_and_its_lead(self):
        # 85.0 - 75.96 = 9.04, which is rounded down.
        self.assertEqual(sentences(
            share("mmtpsink", 85, 88, 89, possible=[99, 98, 99]),
            share("ifdsink", 74, 75, 75.96))[0],
            "`mmtpsink` wins: 88.0 % (85.0–89.0) of the frames were decodable "
            "in time, and 99.0 % (98.0–99.0) were possible. In every run it "
            "showed at least 9.0 percentage points more than every other "
            "protocol. The next one is `ifdsink` with 75.0 % (74.0–76.0).")

    def test_a_small_lead_is_not_rounded_to_nothing(self):
        self.assertIn("it showed more than every other protocol",
                      sentences(share("a", 85.02, 86, 86),
                                share("b", 84, 85, 85))[0])

    def test_overlapping_ranges_have_no_winner(self):
        self.assertEqual(
            sentences(share("a", 40, 60, 80), share("b", 70, 72.5, 75),
                      share("c", 10, 20, 30))[0],
            "`a` and `b` share the first place, because their ranges overlap. "
            "Frames decodable in time: `a` 60.0 % (40.0–80.0); `b` 72.5 % "
            "(70.0–75.0).")

    def test_complete_rows_share_the_first_place(self):
        self.assertEqual(
            sentences(row("a", *[frames()] * 3), row("b", *[frames()] * 3),
                      row("c", frames("0 0 3"), frames(), frames("0 0 3"))),
            ["With `a` and `b` every frame was decodable in time in every run. "
             "The best runs of `c`, 98.0 % (98.0–100.0) reached this, too."])

    def test_reasons_are_named_for_those_that_lost(self):
        self.assertEqual(
            sentences(row("a", *[frames("0 0 30")] * 3),
                      row("srtsink", *[frames("9 20 20", decodable="1 1 2")]
                          * 3),
                      row("tcpclientsink", *[frames(late="9 39 99")] * 3))[1:],
            ["`a` missed only B-frames, which no other frame refers to: 30 % "
             "(30–30) of them.",
             "`srtsink` missed key frames first, and no frame that refers to a "
             "missing key frame can be decoded.",
             "`tcpclientsink` delivered frames too late."])

    def test_nothing_is_ranked_if_each_row_has_too_few_runs(self):
        self.assertEqual(sentences(share("a", 88), share("b", 74, 75)),
                         ["Each protocol has fewer than three runs that were "
                          "not flagged, so nothing is ranked. The highest "
                          "median is that of `a`, 88.0 % (one run) of the "
                          "frames decodable in time."])
        self.assertEqual(sentences(share("a", 0), share("b", 0)),
                         ["Each protocol has fewer than three runs that were "
                          "not flagged, and no frame was decodable in time."])
        self.assertEqual(sentences(share("a", 8, 9)), [
            "`a` has fewer than three runs that were not flagged: 8.5 % "
            "(8.0–9.0) of the frames were decodable in time."])

    def test_a_row_with_too_few_runs_is_named_and_not_ranked(self):
        late = share("d", 98, 98, 98)._replace(is_flagged=True)
        ranked = [share("a", 80, 80.5, 81), share("c", 70, 70, 71)]
        for few, last in (
                ([share("b", 99)], "`b` has fewer than three runs that were "
                 "not flagged, so it is not ranked."),
                ([share("b", 98, 99), late], "`b` and `d` have fewer than "
                 "three runs that were not flagged, so they are not ranked.")):
            found = sentences(*ranked, *few)
            self.assertTrue(found[0].startswith("`a` wins: 80.5 % (80.0–81.0)"))
            self.assertEqual(found[-1], last)

    def test_one_row_with_a_range_is_not_compared(self):
        self.assertEqual(
            sentences(share("a", 80, 80.5, 81), share("b", 99)),
            ["`a`: 80.5 % (80.0–81.0) of the frames were decodable in time. "
             "Each other protocol has fewer than three runs that were not "
             "flagged, so nothing is ranked.",
             "`a` lost 10 % (10–10) of the frames and delivered 90 % (90–90) "
             "without the frames that they refer to.",
             "`b` has fewer than three runs that were not flagged, so it is "
             "not ranked."])

    def test_sentences_are_true_of_random_rows(self):
        chance = random.Random(25)
        for _ in range(500):
            rows = [share(name, *(chance.randrange(40) + chance.random()
                                  for _ in range(chance.randint(2, 4))))
                    for name in "abcd"]
            first = sentences(*rows)[0]
            by_name = {one.name: one.shares for one in rows}
            ranked = {name for name, shares in by_name.items()
                      if len(shares) > 2}
            winner = re.match("`(.)` wins", first)
            if winner:
                lead = re.search(r"at least (\d+\.\d) percentage", first)
                for other in ranked - {winner[1]}:
                    for one, two in itertools.product(
                            by_name[winner[1]], by_name[other]):
                        self.assertGreaterEqual(one - two, float(
                            lead[1]) if lead else 0)
            elif "share the first place" in first:
                names = re.findall("`(.)`", first.partition("share")[0])
                self.assertGreater(len(names), 1)
                for one, two in itertools.combinations(names, 2):
                    self.assertLessEqual(min(by_name[one]), max(by_name[two]))
                    self.assertLessEqual(min(by_name[two]), max(by_name[one]))
            else:
                self.assertLess(len(ranked), 2)

    def test_every_share_has_its_range(self):
        for words in sentences(share("a", 80, 81, 81, possible=[98, 97, 98]),
                               share("b", 60, 65, 65), share("c", 1, 2, 2)):
            # Each percentage in a sentence, such as "80.0 %", must be followed
            # by its range in brackets. The pattern finds all percentages. It
            # does not match differences in percentage points, because they
            # have no range.
            for found in re.finditer(r"\d+\.\d %(.*)", words):
                self.assertRegex(found[1], r"^ \(\d")


def measured(seed, decodable, is_flagged=False):
    """Returns a run with the given seed and the given share of decodable
    frames in %. All its other numbers are 0.
    """
    numbers = collections.defaultdict(float, {"decodable %": decodable})
    return types.SimpleNamespace(
        label="a", way=types.SimpleNamespace(head="rate"), possible=None,
        is_flagged=is_flagged, cell={"seed": seed, "repetition": 1},
        numbers=lambda: numbers)


class FlaggedTest(unittest.TestCase):
    def test_flagged_runs_do_not_count(self):
        row = front.rows_of([measured(1, 5), measured(2, 99, is_flagged=True),
                             measured(3, 7)])["a"]
        self.assertEqual((row.shares, row.keys), ([5, 7], [(1, 1), (3, 1)]))
        self.assertFalse(row.share.is_ranked)
        self.assertFalse(row.is_flagged)

    def test_flagged_runs_are_shown_if_all_are_flagged(self):
        row = front.rows_of([measured(seed, seed, is_flagged=True)
                             for seed in (1, 2, 3)])["a"]
        self.assertEqual(row.shares, [1, 2, 3])
        self.assertFalse(row.share.is_ranked)


class RangeTest(unittest.TestCase):
    def test_equal_ends_of_the_possible_are_not_repeated(self):
        self.assertIn("and 99.0 % were possible", text(findings.shown(
            share("a", 80, 81, possible=[99, 99]))))

    def test_ranges_of_rows_are_those_of_their_runs(self):
        self.assertEqual(share("a", 3, 1, 2).share, ranking.Range(1, 2, 3, 3))


if __name__ == "__main__":
    unittest.main()
