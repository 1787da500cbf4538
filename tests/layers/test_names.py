# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names that the sources of gst/ and ext/ must not have.

An error domain has no spaces in its name: an indenter that takes the argument
of G_DEFINE_QUARK for a difference puts some into it.

No function of ours looks like a method of a type of GStreamer: a later
GStreamer may have one of that name. Metas are the exception, for which
GStreamer itself asks for names such as gst_buffer_add_coverage_meta.
"""

import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
QUARK = re.compile(r"G_DEFINE_QUARK\s*\(([^,]*),|"
                   r"g_quark_from(?:_static)?_string\s*\(\s*\"([^\"]*)\"")
DEFINITION = re.compile(r"^(gst_\w+) \(", re.M)
FOREIGN = re.compile(
    r"gst_(?:allocator|bin|buffer(?:_list|_pool)?|bus|caps|clock|context|element"
    r"|event|ghost_pad|iterator|memory|message|mini_object|object|pad|pipeline"
    r"|plugin|poll|query|registry|sample|segment|structure|tag|task|uri|util"
    r"|value)_")
META = re.compile(r"gst_buffer_(?:add|get)_\w+_meta$")


def find_quark_faults(text):
    names = ["".join(groups) for groups in QUARK.findall(text)]
    return [name for name in names if re.search(r"\s", name.strip())]


def find_foreign_names(text):
    return [name for name in DEFINITION.findall(text)
            if FOREIGN.match(name) and not META.match(name)]


def read_sources():
    for root in ("gst", "ext"):
        for path in sorted((SOURCE / root).rglob("*.c")):
            yield path.relative_to(SOURCE).as_posix(), path.read_text()


class NamesTest(unittest.TestCase):
    def test_no_error_domain_has_spaces(self):
        for path, text in read_sources():
            self.assertEqual(find_quark_faults(text), [], path)

    def test_no_function_has_a_name_of_gstreamer(self):
        for path, text in read_sources():
            self.assertEqual(find_foreign_names(text), [], path)


class FaultsTest(unittest.TestCase):
    def test_spaces_of_an_indenter_are_found(self):
        self.assertEqual(find_quark_faults(
            "G_DEFINE_QUARK (link - error - quark, link_error)\n"
            "G_DEFINE_QUARK (good-quark, good)\n"
            'q = g_quark_from_static_string ("a b");'),
            ["link - error - quark", "a b"])

    def test_methods_of_other_types_are_found(self):
        self.assertEqual(find_foreign_names(
            "GstEvent *\ngst_event_new_restart (void)\n{\n}\n"
            "void\ngst_buffer_add_coverage_meta (GstBuffer * buffer)\n"
            "void\ngst_buffer_cut (GstBuffer * buffer)\n"
            "void\ngst_wireless_stats_fill (GstStructure * s)\n"),
            ["gst_event_new_restart", "gst_buffer_cut"])


if __name__ == "__main__":
    unittest.main()
