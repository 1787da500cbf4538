# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests freezes.py. This module computes for how long a picture stays frozen
on the screen of a viewer. Its input is the list of pictures that the viewer
sees. The expected durations were computed by hand.
"""

import unittest

from test_measurements import LATE, ways

from wirelesslab.streams import freezes, measurements

MS = 1_000_000
PERIOD = 40 * MS


def durations_ms(shown):
    return [ns / MS for ns in freezes.durations_ns(shown, PERIOD)]


class FreezeTest(unittest.TestCase):

    def test_nothing_freezes_if_every_picture_is_shown(self):
        self.assertEqual(durations_ms(range(20)), [])

    def test_four_missing_pictures_are_no_freeze_and_five_are_one(self):
        # A freeze must be longer than 200 ms. Picture 6 is shown 200 ms after
        # picture 1, so this is not a freeze.
        self.assertEqual(durations_ms([0, 1, 1, 1, 1, 1, 6, 7]), [])
        # A freeze must be longer than 200 ms. Picture 7 is shown 240 ms after
        # picture 1, so this is a freeze.
        self.assertEqual(durations_ms([0, 1, 1, 1, 1, 1, 1, 7, 8]), [240])

    def test_missing_pictures_at_both_ends_count_as_one_period_each(self):
        # A freeze must be longer than 200 ms. No picture is shown in the first
        # six frame periods, so the result must have a freeze of 240 ms.
        # Picture 6 is shown in the next frame period. No new picture follows
        # in the last seven frame periods, so the result must also have a
        # freeze of 280 ms.
        self.assertEqual(durations_ms([None] * 6 + [6] * 8), [240, 280])
        self.assertEqual(durations_ms([None] * 5 + [5] * 6), [])

    def test_nothing_shown_at_all_is_one_freeze(self):
        self.assertEqual(durations_ms([None] * 10), [400])

    def test_numbers_of_a_table(self):
        shown = [0, 1, *[1] * 6, 8, 9, *[9] * 9]
        # A freeze must be longer than 200 ms. Picture 8 is shown 280 ms after
        # picture 1. No new picture is shown in the last nine frame periods,
        # which are 360 ms. Both times must count as freezes.
        self.assertEqual(freezes.numbers(shown, PERIOD), {
            "freezes": 2, "frozen s": 0.64, "longest freeze s": 0.36})
        self.assertEqual(freezes.numbers(range(9), PERIOD), {
            "freezes": 0, "frozen s": 0, "longest freeze s": 0})

    def test_a_late_key_frame_freezes_all_pictures_that_refer_to_it(self):
        # The deadline is 500 ms. The first I-frame arrives after 501 ms, which
        # is 1 ms too late. The pictures 0 to 7 are therefore not shown, and
        # picture 8, the next I-frame, is the first one that is shown. The
        # result must be a freeze of 8 frame periods, which are 320 ms.
        passages = ways("IPPPPPPPIP", [501] + [0] * 9)
        shown = measurements.shown(passages, LATE)
        self.assertEqual(shown, [None] * 8 + [8, 9])
        self.assertEqual(durations_ms(shown), [320])
        # If the I-frame arrives after exactly 500 ms, which is the deadline,
        # it is in time. No picture freezes.
        shown = measurements.shown(ways("IPPPPPPPIP", [500] + [0] * 9), LATE)
        self.assertEqual(durations_ms(shown), [])


if __name__ == "__main__":
    unittest.main()
