# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests variants of protocols. A protocol of the lab is a pair of pipelines,
which a section of a file describes. If this section has the key `like`, the
protocol is a variant of another protocol: it has the pipelines of the other
protocol, but some words in them are replaced. The section lists these words.
"""

import unittest

from wirelesslab.errors import LabError
from wirelesslab.streams import protocol_variants, transports


class VariantTest(unittest.TestCase):
    def setUp(self):
        self.known = {"rtp": transports.read()["rtp"],
                      "rist": transports.read()["rist"]}

    def make(self, like, replace="", **keys):
        return protocol_variants.of_section(
            "mine", {"like": like, "replace": replace, **keys}, self.known)

    def test_a_variant_has_the_keys_of_its_base(self):
        made = self.make("rist")
        for key in ("sender", "receiver", "clip", "binds", "ports", "ends"):
            self.assertEqual(made[key], self.known["rist"][key])
        self.assertEqual((made["ports"], made["ends"]), (2, False))
        self.assertEqual(made["name"], "mine")
        self.assertEqual(made["title"], "RIST, stock ristsink, mine")

    def test_words_are_replaced_at_both_ends(self):
        made = self.make(
            "rtp", "\nrfc2250pay -> rtpmpvpay\nrfc2250depay -> rtpmpvdepay")
        self.assertIn("! rtpmpvpay !", made["sender"])
        self.assertIn("! rtpmpvdepay !", made["receiver"])

    def test_words_may_be_removed(self):
        made = self.make("rtp", " sync=false ->")
        self.assertNotIn("sync=false", made["sender"])

    def test_own_keys_override_those_of_the_base(self):
        made = self.make("rtp", title="Mine", link="txqueuelen=40")
        self.assertEqual((made["title"], made["link"]),
                         ("Mine", "txqueuelen=40"))

    def test_mistakes_are_refused(self):
        for words, like, replace in (
                ("like = nix is not a protocol", "nix", ""),
                ("of rtp contains 'nix'", "rtp", "nix -> y"),
                ("not written as: OLD -> NEW", "rtp", "sync=false"),
                ("not written as: OLD -> NEW", "rtp", "-> y"),
                ("unknown name {nix}", "rtp", "{host} -> {nix}"),
                ("its sender has no {sent}", "rtp", "{sent} -> x")):
            with self.subTest(replace), \
                    self.assertRaisesRegex(LabError, words):
                self.make(like, replace)


if __name__ == "__main__":
    unittest.main()
