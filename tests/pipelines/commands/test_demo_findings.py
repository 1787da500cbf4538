# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the tables and the sentences of the demo. The expected numbers were
calculated by hand."""

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
    """Returns the results of a sender that has sent 100 frames. `share` is the
    percentage of its frames that were decodable in time.
    """
    good = {"I": 0, "P": 0, "B": share} if share < 100 else SENT
    return demo_findings.Sender(
        findings.Row(name, [float(share)], [],
                     [findings.Frames(SENT, {**NONE, **lost},
                                      {**NONE, **late}, good)]),
        [120.0], [340.6], [31.25], **more)


def summary(lost, damaged, psnr, delay):
    return {"sent": 200, "lost": lost, "damaged": damaged, "psnr_db": psnr,
            "delay_s": delay, "whole_frames": 150}


# The results of three transports over two simulated radios: UDP, UDP-Lite, and
# UDP over a radio that retransmits (udp-rlp). Each transport sent 200 packets
# over each radio.
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
        no_winner = ("Two runs of a sender over the same links differ by up "
                     "to 11 points, and no sender is ahead of all others by "
                     "more than this over each pair, so there is no winner.")
        self.assertEqual(demo_findings.clip_finding(
            [several("a", 90, 60), several("b", 70, 70)]), (
            "`a` had the best median: 75.0 (60.0–90.0) % of the frames were in "
            "time. `b` had the best worst result: 70.0 %. The next median is "
            "that of `b`: 70.0 %. Over the same links, `a` showed more than "
            "`b` over 1 of 2 pairs, and more than 11 percentage points more "
            f"over 1 of them. {no_winner}"))
        self.assertEqual(demo_findings.clip_finding(
            [several("MPTCP of the kernel", 60, 80),
             several("asink over both links", 75, 90)]), (
            "`asink` over both links had the best median and the best worst "
            "result: 82.5 (75.0–90.0) % of the frames were in time. The next "
            "median is that of MPTCP of the kernel: 70.0 (60.0–80.0) %. Over "
            "the same links, `asink` over both links showed more than MPTCP "
            "of the kernel over 2 of 2 pairs, and more than 11 percentage "
            f"points more over 1 of them. {no_winner}"))
        self.assertEqual(demo_findings.table(senders[:1]), (
            ["sender", "in time %", "I %", "99 %", "PSNR"],
            [["b", "65.0 (60.0–70.0)", "100", "3", "30.5 (30.0–31.0)"]]))
        self.assertIn("the median of 2 runs", demo_findings.key(senders, 500))
        self.assertEqual(senders[1].cells(), [
            "a", "85.0 (80.0–90.0)", "100", "100", "90", "2 (1–2)", "3",
            "30.5 (30.0–31.0)"])

    def test_the_best_single_run_is_compared_with_the_next(self):
        senders = [sender("tcpsink", 10, late={"I": 10, "P": 40, "B": 40},
                          element="tcpclientsink"),
                   sender("ifdsink", 80, {"B": 20}),
                   sender("udpsink", 40, {"I": 6, "B": 5})]
        words = " ".join([demo_findings.clip_finding(senders),
                          demo_findings.clip_reasons(senders, 500)])
        self.assertEqual(words, (
            "`ifdsink` showed most in its one run: 80.0 % of the frames were "
            "in time. The next one, `udpsink`, had 40.0 %, which is 40.0 "
            "percentage points less. Two runs of the same sender differ by up "
            "to 6 percentage points, which is less than this lead. The last "
            "one, `tcpsink`, had 10.0 %. With `ifdsink` all I- and P-frames "
            "were in time. Only B-frames are missing, 40 % of them, and no "
            "other frame refers to a B-frame. `tcpsink` delivered 90 % of the "
            "frames more than 500 ms late: TCP drops nothing and delivers in "
            "order, so later frames wait for earlier ones."))

    def test_a_difference_that_repeated_runs_have_too_is_no_ranking(self):
        senders = [sender("a", 84, {"B": 16}), sender("b", 90, {"B": 10}),
                   sender("c", 83)]
        self.assertEqual(
            [one.name for one in demo_findings.first_place(senders)],
            ["b", "a"])
        words = demo_findings.clip_finding(senders)
        self.assertIn(
            "`b` and `a` showed most in their one run: 84.0 to 90.0 % of the "
            "frames were in time. Two runs of the same sender differ by up to "
            "6 percentage points, so these senders are not ranked.", words)
        self.assertIn("The next one, `c`, had 83.0 %, which is 1.0 percentage "
                      "points less.", words)
        self.assertNotIn("which is less than this lead", words)
        words = demo_findings.clip_finding(senders[:2])
        self.assertNotIn("next", words)
        self.assertTrue(words.endswith("not ranked."))

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

    def test_each_kind_of_sender_has_a_reason_of_its_own(self):
        best = sender("mmtpsink", 90, {"B": 10}, element="mmtpsink",
                      mmtp_latency_ms=450)
        words = demo_findings.clip_reasons([
            best, sender("ifdsink", 75, {"B": 25}),
            sender("srtsink", 10, {"I": 9, "P": 10}, element="srtsink"),
            sender("ristsink", 9, {"I": 4}, {"I": 4}, element="ristsink"),
            sender("late ! srtsink", 5, late={"P": 40, "B": 50},
                   element="srtsink"),
            sender("udpsink", 4, {"I": 9}, element="udpsink"),
            sender("mmtpsink x", 3, {"B": 47}, {"P": 40, "I": 10},
                   element="mmtpsink", mmtp_latency_ms=1000)], 500)
        for part in (
                "`ifdsink` missed only B-frames, too: 50 % of them.",
                "`srtsink` and `ristsink` retransmit and give up packets "
                "without regard to the type of their frame: 80 to 90 % of the "
                "I-frames were late or lost, and no frame that refers to such "
                "an I-frame can be decoded.",
                "`mmtpsink x` has a latency of 1000 ms, so it also sends "
                "frames that arrive more than 500 ms late: 50 % of the frames "
                "were late and 47 % were lost.",
                "`late ! srtsink` delivered 90 % of the frames more than 500 "
                "ms late."):
            self.assertIn(part, words)
        self.assertNotIn("udpsink", words)
        # In this loop, the sender `b` has lost frames, but no late frames. The
        # text about `b` must therefore not mention late frames.
        for other in (sender("b", 50, {"B": 50}, element="tcpclientsink"),
                      sender("b", 50, {"B": 50}, mmtp_latency_ms=1000)):
            self.assertEqual(
                demo_findings.clip_reasons([best, other], 500).split(
                    "a B-frame. ")[1], "`b` missed only B-frames, too: 100 % "
                "of them.")

    def test_the_latency_of_mmtpsink_is_that_of_the_pipeline(self):
        for pipeline, latency in (("mmtpsink latency=450 sync=false", 450),
                                  ("rfc2250pay ! mmtpsink port=1", 1000),
                                  ("srtsink latency=300", 0)):
            self.assertEqual(
                demo_comparison.mmtp_latency_ms({"sender": pipeline}), latency)

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
                ("`a`", [[2.0, 1.0], [2.5, 3.3], [3.0, 9.0]]),
                ("`b`", [[3.5, 0.0]]), ("`c`", [[0.1, 4.0]])]),
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

    def test_transports_are_compared_over_the_same_radio(self):
        self.assertEqual(demo_findings.radio_finding(RADIOS, 200, 500), (
            "`udpsink` over a bearer with RLP had the best pictures with each "
            "of 2 radios, and 75.0 % of its frames were whole. Its packets "
            "took 200 to 300 ms longer on average than without RLP. It is the "
            "best choice if this delay is acceptable. Without RLP, the "
            "pictures of `udplitesink` were closer to what was sent than those "
            "of `udpsink` with each of 2 radios, by 0.5 to 10.5 dB (PSNR). The "
            "limit of 500 ms of the other problems is not applied here: the "
            "mean delay was 750 ms with `udplitesink` and 1000 ms with RLP."))
        words = demo_findings.radio_reasons(RADIOS, 30)
        for part in ("`udpsink` loses 5.0 to 10.0 %",
                     "6 to 12 damaged packets in 30 s",
                     "`udplitesink` loses 2.0 to 4.0 %"):
            self.assertIn(part, words)
        # UDP-Lite has a higher PSNR than UDP over each radio. However, the
        # best radio with UDP is better than the worst radio with UDP-Lite, so
        # the ranges of the two transports over all radios overlap. The text
        # that compares the two transports must say this.
        overlapping = [RADIOS[0], {**RADIOS[1], "udp": summary(9, 0, 26.0, 0.8),
                                   "udplite": summary(4, 6, 27.0, 0.8)}]
        self.assertIn("by 1.0 to 10.5 dB (PSNR). Their ranges over all radios "
                      "overlap, so compare them only over the same radio.",
                      demo_findings.without_rlp(overlapping))
        equal = [*RADIOS, {**RADIOS[0], "udplite": RADIOS[0]["udp"]}]
        self.assertEqual(
            demo_findings.without_rlp(equal), "Without RLP, the pictures of "
            "`udplitesink` were closer to what was sent than those of "
            "`udpsink` with 2 of 3 radios. Their ranges over all radios "
            "overlap.")

    def test_rlp_is_best_only_if_its_pictures_are(self):
        worse = [{**one, "udp-rlp": {**one["udp-rlp"], "psnr_db": 1.0}}
                 for one in RADIOS[:1]] + RADIOS[1:]
        words = demo_findings.with_rlp(worse, 200)
        self.assertIn("the best pictures with 1 of 2 radios", words)
        self.assertNotIn("best choice", words)
        fast = [{**one, "udp-rlp": {**one["udp-rlp"], "delay_s": 0.1}}
                for one in RADIOS]
        self.assertNotIn("longer", demo_findings.with_rlp(fast, 200))

    def test_the_advice_says_what_retransmission_gives(self):
        self.assertIn("lost 0.0 % of the packets. UDP-Lite is for video that "
                      "cannot wait",
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
