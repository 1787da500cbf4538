# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the names and colours that reports use for transports."""

import unittest

from wirelesslab.report import names, overview
from wirelesslab.streams import transports

FIRST = "filesrc location={clip} ! mpegstat ! mpegstat location={sent} ! "
RECEIVER = "udpsrc port={port} ! fakesink"


def transport(name, sender, receiver=RECEIVER, **more):
    return {"name": name, "sender": FIRST + sender, "receiver": receiver,
            **more}


def names_of(*several):
    return names.of_elements({one["name"]: one for one in several})


class NameTest(unittest.TestCase):
    def test_transports_have_the_names_of_the_readme(self):
        found = names.of_elements(names.known_with([]))
        for name, known in overview.NAMES.items():
            with self.subTest(name=name):
                # The names of transports in README.md can have settings after
                # the name of the element, such as " latency=450". The test
                # compares only the name of the element.
                elements = found[name].split(", ")[-1].split(" ! ")
                self.assertIn(elements[-1].split()[0], known)

    def test_payloaders_are_named_only_if_two_names_are_equal(self):
        self.assertEqual(
            names_of(transport("a", "rtppay ! udpsink host={host}")),
            {"a": "udpsink"})
        self.assertEqual(
            names_of(transport("a", "rtppay ! udpsink host={host}"),
                     transport("b", "otherpay ! udpsink host={host}")),
            {"a": "rtppay ! udpsink", "b": "otherpay ! udpsink"})

    def test_a_queue_of_this_project_is_named(self):
        self.assertEqual(
            names_of(transport("a", "srtsink uri={host}"),
                     transport("b", "ifdqueue ! srtsink uri={host}")),
            {"a": "srtsink", "b": "ifdqueue ! srtsink"})

    def test_equal_elements_have_the_properties_that_differ(self):
        self.assertEqual(
            names_of(transport("a", "srtsink uri={host} latency=1 sync=no"),
                     transport("b", "srtsink uri={host} latency=2 sync=no")),
            {"a": "srtsink latency=1", "b": "srtsink latency=2"})

    def test_the_receiver_may_have_the_only_property_that_differs(self):
        self.assertEqual(
            names_of(transport("a", "ristsink", "ristsrc receiver-buffer=1"),
                     transport("b", "ristsink", "ristsrc receiver-buffer=2")),
            {"a": "ristsink receiver-buffer=1",
             "b": "ristsink receiver-buffer=2"})

    def test_equal_pipelines_have_the_names_of_their_sections(self):
        self.assertEqual(
            names_of(transport("a", "ifdsink"), transport("b", "ifdsink")),
            {"a": "ifdsink (a)", "b": "ifdsink (b)"})

    def test_a_transport_over_two_links_is_named_after_them(self):
        both = transport("b", "pay ! asink to={host_1},{host_2}")
        self.assertEqual(
            names_of(transport("a", "pay ! asink to={host}"), both),
            {"a": "pay ! asink", "b": "asink over both links"})
        self.assertEqual(names_of(both), {"b": "asink"})
        self.assertEqual(
            names_of(transport("a", "asink to={host_2}"),
                     transport("b", "asink to={host_1},{host_2},{host_3}")),
            {"a": "asink (a)", "b": "asink (b)"})

    def test_a_branch_that_ends_at_a_pad_has_the_next_sink(self):
        self.assertEqual(
            names_of(transport("a", "vpay ! application/x-rtp,pt=32 ! "
                               "rtprtxsend x=1 ! rtpbin.send_0 "
                               "rtpbin name=rtpbin rtpbin. ! udpsink")),
            {"a": "rtprtxsend ! udpsink"})

    def test_a_branch_ends_where_the_next_one_begins(self):
        self.assertEqual(
            names_of(transport("a", "ifdsink host={host} demux. ! audiopay ! "
                               "udpsink")), {"a": "ifdsink"})

    def test_a_branch_into_a_file_is_left_out(self):
        self.assertEqual(
            names_of(transport("a", "tee name=t ! filesink location=x t. ! "
                               "queue ! tsmux ! srtsink latency=250")),
            {"a": "srtsink"})

    def test_a_computed_transport_has_no_sink(self):
        self.assertEqual(names_of(transport("a", "rfc2250pay")),
                         {"a": "rfc2250pay"})


class LookTest(unittest.TestCase):
    def test_looks_do_not_depend_on_the_other_transports_of_a_report(self):
        known = {name: one for name, one in transports.read().items()
                 if one["clip"] == "m2v"}
        together = names.looks(known)
        for name, one in known.items():
            self.assertEqual(names.looks({name: one})[name], together[name])

    def test_looks_differ(self):
        looks = names.looks(names.known_with([])).values()
        self.assertEqual(len({(one.colour, one.style) for one in looks}),
                         len(looks))

    def test_streams_of_one_transport_have_different_styles(self):
        ifd = transports.read()["ifd"]
        first, second = names.looks(
            {"ifd+ifd/1-ifd": ifd, "ifd+ifd/2-ifd": ifd}).values()
        self.assertEqual(first.name, "ifd+ifd/1-ifd: ifdsink")
        self.assertEqual(first.colour, second.colour)
        self.assertNotEqual(first.style, second.style)

    def test_the_first_element_with_a_colour_determines_it(self):
        self.assertEqual(
            [names.colour(transport("a", chain)) for chain in (
                "ifdqueue ! srtsink", "rtprtxsend ! udpsink", "udpsink")],
            [names.COLOURS[name] for name in (
                "srtsink", "rtprtxsend", "udpsink")])

    def test_other_elements_have_a_colour_that_their_name_selects(self):
        mine = transport("mine", "minesink")
        self.assertIn(names.colour(mine), names.OTHERS)
        self.assertEqual(names.colour(mine),
                         names.colour(transport("again", "minesink")))


if __name__ == "__main__":
    unittest.main()
