# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the demo's tables and sentences with numbers that are worked out by
hand."""

import math
import pathlib
import tempfile
import textwrap
import unittest
from unittest import mock

from wirelesslab.commands import demo_comparison, demo_findings, demo_radio
from wirelesslab.report import findings, problems

SENT = {"I": 10, "P": 40, "B": 50}  # 100 frames
NONE = {"I": 0, "P": 0, "B": 0}


def sender(name, share, lost=NONE, late=NONE, **more):
    """Returns a sender of which `share` of 100 frames were decodable."""
    good = {"I": 0, "P": 0, "B": share} if share < 100 else SENT
    return demo_findings.Sender(
        findings.Row(name, [float(share)], [],
                     [findings.Frames(SENT, {**NONE, **lost},
                                      {**NONE, **late}, good)]),
        [120.0], [340.6], [31.25], **more)


def summary(lost, damaged, psnr, delay):
    return {"sent": 200, "lost": lost, "damaged": damaged, "psnr_db": psnr,
            "delay_s": delay, "whole_frames": 150}


# Two radios. 200 packets are sent over each of them.
RADIOS = [
    {"udp": summary(20, 0, 15.0, 0.7), "udplite": summary(8, 12, 25.5, 0.7),
     "udp-rlp": summary(0, 0, math.inf, 0.9)},
    {"udp": summary(10, 0, 20.0, 0.8), "udplite": summary(4, 6, 20.5, 0.8),
     "udp-rlp": summary(0, 0, math.inf, 1.1)}]


class ClipTest(unittest.TestCase):
    def test_a_row_has_the_shares_of_the_frames_in_time(self):
        row = sender("asink", 70, {"B": 20}, {"I": 1}, is_flagged=True).cells()
        self.assertEqual(row, ["asink*", "70.0", "90", "100", "60", "120",
                               "341", "31.2"])
        self.assertEqual(
            [row[0] for row in demo_findings.table(
                [sender("low", 5), sender("high", 90)])[1]], ["high", "low"])
        self.assertEqual(demo_findings.table([sender("a", 5)])[0],
                         demo_findings.HEADS)
        self.assertEqual(len(demo_findings.HEADS), len(row))

    def test_a_value_of_several_runs_has_its_range(self):
        for values, text in (([1.0, 5.0, 2.0], "2.0 (1.0–5.0)"),
                             ([3.0, 3.04], "3.0"), ([math.inf], "∞"),
                             ([4.0, math.inf, math.inf], "∞ (4.0–∞)"),
                             ([math.nan], "–")):
            self.assertEqual(demo_findings.spread(values, "{:.1f}"), text)

    def test_senders_with_several_runs_are_compared_over_the_same_links(self):
        def several(name, *shares):
            return demo_findings.Sender(
                findings.Row(name, list(shares), [], [findings.Frames(
                    SENT, {**NONE, "B": 5}, NONE, {**NONE, "B": 45})] * len(
                        shares)),
                [1.0, 2.0], [3.0, 3.0], [30.0, 31.0])

        senders = [several("b", 70, 60), several("a", 90, 80),
                   several("c", 10, 20)]
        self.assertEqual(demo_findings.clip_finding(senders), (
            "`a` wins over each of 2 pairs of links: 85.0 (80.0–90.0) % of the "
            "frames were in time. The next one, `b`, had 65.0 (60.0–70.0) %, "
            "which is 20.0 percentage points less over the same links. The "
            "last one, `c`, had 15.0 (10.0–20.0) %."))
        self.assertEqual(demo_findings.clip_finding(
            [several("a", 90, 60), several("b", 70, 70)]), (
            "No sender wins by more than 11 percentage points over each of 2 "
            "pairs of links. `a`: 75.0 (60.0–90.0) % of the frames were in "
            "time. `b`: 70.0 %. `a` was better over 1 of the "
            "pairs. The lowest result of `b` is the highest one of all "
            "senders' lowest results: 70.0 %."))
        self.assertEqual(demo_findings.table(senders[:1]), (
            ["sender", "in time %", "I %", "99 %", "PSNR"],
            [["b", "65.0 (60.0–70.0)", "100", "3", "30.5 (30.0–31.0)"]]))
        self.assertIn("the median of 2 runs", demo_findings.key(senders, 500))
        self.assertEqual(senders[1].cells(), [
            "a", "85.0 (80.0–90.0)", "100", "100", "90", "2 (1–2)", "3",
            "30.5 (30.0–31.0)"])

    def test_the_best_sender_wins_by_the_difference_to_the_next(self):
        senders = [sender("tcpsink", 10, late={"I": 10, "P": 40, "B": 40}),
                   sender("ifdsink", 80, {"B": 20}),
                   sender("udpsink", 40, {"I": 6, "B": 5})]
        words = " ".join([demo_findings.clip_finding(senders),
                          demo_findings.clip_reasons(senders, 500)])
        self.assertEqual(words, (
            "`ifdsink` wins: 80.0 % of the frames were in time. The next one, "
            "`udpsink`, had 40.0 %, which is 40.0 percentage points less. The "
            "last one, `tcpsink`, had 10.0 %. With `ifdsink` all I- and "
            "P-frames were in time. Only B-frames are missing, 40 % of them, "
            "and no other frame refers to a B-frame. `udpsink` delivered 60 % "
            "of the I-frames late or never, and no frame that refers to such "
            "an I-frame can be decoded. `tcpsink` delivered 90 % of the frames "
            "more than 500 ms late."))

    def test_a_difference_that_repeated_runs_have_too_is_no_ranking(self):
        senders = [sender("a", 84, {"B": 16}), sender("b", 90, {"B": 10}),
                   sender("c", 83)]
        self.assertEqual(
            [one.name for one in demo_findings.first_place(senders)],
            ["b", "a"])
        words = demo_findings.clip_finding(senders)
        self.assertIn("`b` and `a` share the first place: 84.0 to 90.0 %",
                      words)
        self.assertIn("The next one, `c`, had 83.0 %, which is 1.0 percentage "
                      "points less.", words)
        words = demo_findings.clip_finding(senders[:2])
        self.assertTrue(words.startswith("No sender wins: 84.0 to 90.0 %"))

    def test_nothing_is_said_about_causes_that_are_not_there(self):
        words = demo_findings.clip_reasons(
            [sender("a", 90, {"P": 4, "B": 6}), sender("b", 50, {"B": 50})],
            500)
        for absent in ("I-frame", "never", "`b` lost"):
            self.assertNotIn(absent, words)
        self.assertIn("`a` lost 10 % of the frames, and 0 % were late.", words)
        self.assertIn("With `a` every frame was in time.",
                      demo_findings.clip_reasons([sender("a", 100),
                                                  sender("b", 50)], 500))

    def test_the_advice_names_what_a_lower_bitrate_gives(self):
        self.assertEqual(demo_findings.lower_bitrate(3, []), "")
        words = demo_findings.lower_bitrate(3, [sender("a", 98),
                                                sender("b", 100)])
        self.assertEqual(words, (
            "The usual advice is to lower the bitrate. With the clip of 3 "
            "Mbit/s, 98.0 to 100.0 % of the frames were in time (`b` and `a`). "
            "Then the choice of the transport hardly matters."))
        words = demo_findings.lower_bitrate(3, [sender("a", 60)])
        self.assertNotIn("hardly", words)

    def test_the_rates_of_two_links(self):
        self.assertEqual(
            demo_findings.of_links([
                ("a", [[2.0, 1.0], [2.5, 3.3], [3.0, 9.0]]),
                ("b", [[3.5, 0.0]]), ("c", [[0.1, 4.0]])]),
            "`a` got 2.5 and 3.3 Mbit/s through the links. `b` and `c` got 3.5 "
            "to 4.0 Mbit/s through one link.")


class RadioTest(unittest.TestCase):
    def test_a_row_has_the_median_and_the_range_of_the_radios(self):
        rows = demo_findings.radio_rows(
            RADIOS, 200, {"udp": "udpsink", "udp-rlp": "RLP"})
        self.assertEqual(rows, [
            ["udpsink", "7.5 (5.0–10.0)", "0", "75.0", "750 (700–800)",
             "17.5 (15.0–20.0)"],
            ["RLP", "0.0", "0", "75.0", "1000 (900–1100)", "∞"]])
        self.assertEqual(len(demo_findings.RADIO_HEADS), len(rows[0]))

    def test_udplite_wins_only_if_it_is_better_with_each_radio(self):
        words = " ".join([demo_findings.radio_finding(RADIOS),
                          demo_findings.radio_reasons(RADIOS, 30)])
        for part in ("`udplitesink` wins with each of 2 radios",
                     "by 0.5 to 10.5 dB", "`udpsink` loses 5.0 to 10.0 %",
                     "6 to 12 damaged packets in 30 s",
                     "`udplitesink` loses 2.0 to 4.0 %"):
            self.assertIn(part, words)
        equal = [*RADIOS, {**RADIOS[0], "udplite": RADIOS[0]["udp"]}]
        self.assertEqual(
            demo_findings.radio_finding(equal), "No transport wins: the "
            "pictures of `udplitesink` were better than those of `udpsink` "
            "with 2 of 3 radios.")

    def test_the_advice_says_what_retransmission_costs(self):
        self.assertIn("lost 0.0 % of the packets, but its packets took 200 to "
                      "300 ms longer",
                      demo_findings.let_the_bearer_retransmit(RADIOS))

    def test_runs_with_a_result_are_not_started_again(self):
        with tempfile.TemporaryDirectory() as directory:
            runs = demo_radio.Runs(pathlib.Path(directory), pathlib.Path(), [1])
            self.assertEqual((runs.summaries(), runs.figure()), ([], None))
            (path,) = runs.results()
            path.parent.mkdir(parents=True)
            path.write_text('{"udp": {}}')
            path.with_name("figure.png").touch()
            with mock.patch.object(demo_radio.processes, "start") as start:
                runs.start()
            start.assert_not_called()
            self.assertEqual(runs.finish(), [])
            self.assertEqual(runs.summaries(), [{"udp": {}}])
            self.assertEqual(runs.figure(), path.with_name("figure.png"))

    def test_the_radio_is_left_out_with_the_reason(self):
        for why, words in (("there is no udplitesink", "no udplitesink"),
                           ("", "every run failed")):
            radio = demo_radio.Runs(pathlib.Path("/none"), pathlib.Path(), [1])
            found = demo_comparison.radio_problem(radio, why)
            self.assertEqual(found.rows, [])
            self.assertIn(words, found.left_out)


class ProblemTest(unittest.TestCase):
    def test_a_problem_is_read_as_it_was_written(self):
        found = [problems.Problem(
            "A title", "What.", ["sender", "%"], [["a", "12.5"]], "Key.",
            "Finding.", "Why.", "Advice.", [problems.Picture("a.png", "Words")],
            ["a group"])]
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "problems.json")
            problems.write(path, found)
            self.assertEqual(problems.read(path), found)
        self.assertEqual(problems.read(None), [])

    def test_a_terminal_has_the_table_and_all_sentences(self):
        found = problems.Problem("A title", "One two", ["sender", "%"],
                                 [["a", "12.5"], ["bcd!efg", "3"]], "Key.",
                                 "Finding.", "", "")
        self.assertEqual(
            found.text(lambda words: textwrap.wrap(words, 4)[:2]), [
                "A title", "One", "two", "", "sender      %", "a        12.5",
                "bcd!efg     3", "", "Key.", "", "Find", "ing."])


class CellsTest(unittest.TestCase):
    def test_few_transports_stream_with_the_lower_bitrate(self):
        found = demo_comparison.chosen(demo_comparison.BOTTLENECK)
        names = {rate: [cell["protocol"]["name"] for cell in found
                        if cell["rate"] == rate] for rate in (3, 6)}
        self.assertEqual(
            set(names[3]),
            set(demo_comparison.ALSO_LOWER[demo_comparison.BOTTLENECK]))
        self.assertLess(set(names[3]), set(names[6]))


if __name__ == "__main__":
    unittest.main()
