# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the names that stand for IP addresses in pipelines. A host that is
connected by several links has several addresses. A name therefore contains the
number or the name of the link, such as `host_2` or `host_lte`.
"""

import unittest

from wirelesslab.streams import link_paths

COMBINED = {"name": "lte_delay-ms=20+wi-fi.5",
            "links": [{"name": "lte_delay-ms=20"}, {"name": "wi-fi.5"}]}


class LinkPathsTest(unittest.TestCase):

    def test_addresses_have_the_number_and_the_name_of_their_link(self):
        self.assertEqual(
            link_paths.values(["10.77.0.1", "10.77.1.1"],
                              ["10.77.0.2", "10.77.1.2"], ["lte", "wi_fi"],
                              5004),
            {"hosts": "10.77.0.1,10.77.1.1",
             "host_ports": "10.77.0.1:5004,10.77.1.1:5004",
             "host_1": "10.77.0.1", "host_2": "10.77.1.1",
             "local_1": "10.77.0.2", "local_2": "10.77.1.2",
             "host_lte": "10.77.0.1", "host_wi_fi": "10.77.1.1",
             "local_lte": "10.77.0.2", "local_wi_fi": "10.77.1.2"})

    def test_the_name_of_two_equal_links_stands_for_the_first(self):
        found = link_paths.values(["a", "b"], ["c", "d"], ["lte", "lte"], 1)
        self.assertEqual((found["host_lte"], found["host_2"]), ("a", "b"))

    def test_names_are_those_of_sections_without_dots_and_dashes(self):
        self.assertEqual(link_paths.names(COMBINED), ["lte", "wi_fi_5"])
        self.assertEqual(link_paths.names({"name": "lte"}), ["lte"])

    def test_only_names_of_addresses_are_names(self):
        for word in ("host_1", "host_lte", "local_2", "hosts", "host_ports"):
            self.assertTrue(link_paths.is_name(word), word)
        for word in ("host", "host_", "local", "port", "hosts_1", "host_A"):
            self.assertFalse(link_paths.is_name(word), word)

    def test_a_link_lacks_the_addresses_of_other_links(self):
        pipelines = ["a host={host_2} b={host_lte} ! c={sent}",
                     "d address={host_3} e={local_umts} f={hosts}"]
        self.assertEqual(link_paths.missing(pipelines, COMBINED),
                         ["host_3", "local_umts"])
        self.assertEqual(link_paths.missing(pipelines, {"name": "lte"}),
                         ["host_2", "host_3", "local_umts"])


if __name__ == "__main__":
    unittest.main()
