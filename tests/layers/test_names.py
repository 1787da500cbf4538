# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the names in the sources.

The name of an error domain must contain no spaces. This name is the argument
of G_DEFINE_QUARK. The program gst-indent mistakes the hyphens of the name for
minus signs, and inserts spaces around them.

No function of this project has a name that looks like a method of a GStreamer
type, such as gst_buffer_cut. A later version of GStreamer may have a method
with this name. The functions of metas are an exception, because GStreamer
itself asks for names such as gst_buffer_add_coverage_meta.

No identifier, property name or test name contains a word of FORBIDDEN.
FORBIDDEN maps each of these words to the common technical term for the same
thing. In tests/, no name is a metaphor for a fixture, a simulation or a
network, such as "rig" or "wire".
"""

import ast
import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
# The name of this file. It contains forbidden names as examples.
THIS = pathlib.Path(__file__).name
QUARK = re.compile(r"G_DEFINE_QUARK\s*\(([^,]*),|"
                   r"g_quark_from(?:_static)?_string\s*\(\s*\"([^\"]*)\"")
DEFINITION = re.compile(r"^(gst_\w+) \(", re.M)
FOREIGN = re.compile(
    r"gst_(?:allocator|bin|buffer(?:_list|_pool)?|bus|caps|clock|context|element"
    r"|event|ghost_pad|iterator|memory|message|mini_object|object|pad|pipeline"
    r"|plugin|poll|query|registry|sample|segment|structure|tag|task|uri|util"
    r"|value)_")
# Words that names must not contain. Each forbidden word is mapped to the term
# that replaces it.
FORBIDDEN = {
    "least": "min", "most": "max", "longest": "max", "shortest": "min",
    "penance": "reprobe", "chancy": "speculative", "doors": "relays",
    "keeper": "init process", "patience": "timeout", "wishes": "request",
    "lodger": "shared address", "thief": "attacker",
    "deaf": "discarding", "mute": "silent or unreported",
    "stranger": "unknown host", "strangers": "unknown hosts",
    "hopeless": "expired",
}
# Names that may contain "most" or "least", because these words do not stand
# for a maximum or a minimum in such a name. For example, "at_most" is followed
# by a number, and the "most" of "lose_most" means "the majority".
ALLOWED = re.compile(r"at_(?:least|most)|others_lose_most|window_holds_most"
                     r"|most_important")
# Words that names under tests/ must not contain. Each forbidden word is mapped
# to the term that replaces it.
FORBIDDEN_IN_TESTS = {
    "rig": "fixture", "rigs": "fixture", "bench": "fixture",
    "forge": "build, inject or send", "forges": "build, inject or send",
    "forger": "packet builder or attacker",
    "sim": "simulation", "sims": "simulation",
}
# In C tests, "pair" is forbidden, because it could mean a fixture or a sender
# with its receiver. In Python, "pair" is allowed as a name for two values.
FORBIDDEN_IN_C_TESTS = FORBIDDEN_IN_TESTS | {
    "pair": "fixture, sender or receiver", "pairs": "combinations",
}
# This name may contain "pair", because the two fields of one picture are
# called a pair in video.
ALLOWED_IN_TESTS = re.compile(r"a_pair_behind_a_lone_field")
# Matches a name that consists only of the word "wire". The tests must not use
# this name for the connection between two endpoints. Such a connection is
# called a network, a link or a socket. A longer name like wire_size is
# allowed, because it says that data has the wire format.
BARE_WIRE = re.compile(r"_?wires?", re.I)
# A test is named after the behaviour that it holds. A name that begins with
# one of these words is a relative clause and names no behaviour.
RELATIVE = re.compile(r"(?:test_)?(?:who|what|that|of|whoever|whatever)_")
TEST = re.compile(r"GST_START_TEST \((\w+)\)|def (test_\w+)")
C_TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\""
                     r"|'(?:\\.|[^'\\\n])*'|([A-Za-z_]\w*)", re.S)
NICK = re.compile(r'"([a-z][a-z0-9]*(?:-[a-z0-9]+)*)"')
MESON_NAME = re.compile(r"'([\w.-]+)'")
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# Matches a string of a Python file that is a name as a whole, for example the
# name of a property ("max-delay") or the key of a dictionary ("max_delay").
KEY = re.compile(r"\A([a-z][a-z0-9]*(?:[-_][a-z0-9]+)+)\Z")
META = re.compile(r"gst_buffer_(?:add|get)_\w+_meta$")


def find_quark_faults(text):
    names = ["".join(groups) for groups in QUARK.findall(text)]
    return [name for name in names if re.search(r"\s", name.strip())]


def find_foreign_names(text):
    return [name for name in DEFINITION.findall(text)
            if FOREIGN.match(name) and not META.match(name)]


def find_forbidden_words(names):
    return sorted(name for name in names
                  if FORBIDDEN.keys() & {word.lower() for word in
                                         WORD.findall(ALLOWED.sub("", name))})


def find_metaphors(names, forbidden):
    return sorted(name for name in names if BARE_WIRE.fullmatch(name)
                  or forbidden.keys() & {word.lower() for word in WORD.findall(
                      ALLOWED_IN_TESTS.sub("", name))})


def find_relative_tests(text):
    return [name for name in map("".join, TEST.findall(text))
            if RELATIVE.match(name)]


def find_c_names(text):
    return {name for name in C_TOKEN.findall(text) if name} | set(
        NICK.findall(text))


def find_python_names(text):
    names = set()
    for node in ast.walk(ast.parse(text)):
        names |= {value for field in ("id", "attr", "name", "arg", "asname")
                  if isinstance(value := getattr(node, field, None), str)}
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            names |= set(KEY.findall(node.value))
    return names


def find_meson_names(text):
    return set(MESON_NAME.findall(re.sub(r"#.*", "", text)))


def read_sources():
    for root in ("gst", "ext"):
        for path in sorted((SOURCE / root).rglob("*.c")):
            yield path.relative_to(SOURCE).as_posix(), path.read_text()


def read_names(root):
    """Yields a pair for each C, Python and meson file below `root`: the path of
    the file, and the names that the file contains, together with the name of
    the file itself. Skips this file, because it contains forbidden names.
    """
    for path in sorted((SOURCE / root).rglob("*")):
        find = {".c": find_c_names, ".h": find_c_names,
                ".py": find_python_names}.get(path.suffix)
        if path.name == "meson.build":
            find = find_meson_names
        if find and path.name != THIS:
            yield path, find(path.read_text()) | {path.stem}


class NamesTest(unittest.TestCase):
    def test_no_error_domain_has_spaces(self):
        for path, text in read_sources():
            self.assertEqual(find_quark_faults(text), [], path)

    def test_no_function_has_a_name_of_gstreamer(self):
        for path, text in read_sources():
            self.assertEqual(find_foreign_names(text), [], path)

    def test_names_use_the_terms_of_the_field(self):
        for root in ("gst", "ext", "tests", "pipelines"):
            for path, names in read_names(root):
                self.assertEqual(find_forbidden_words(names), [], path)

    def test_tests_are_named_after_behaviour(self):
        for path in sorted((SOURCE / "tests").rglob("*.[cp]*")):
            if path.suffix in (".c", ".py") and path.name != THIS:
                self.assertEqual(find_relative_tests(path.read_text()), [],
                                 path)

    def test_helpers_of_the_tests_are_named_after_what_they_are(self):
        for path, names in read_names("tests"):
            forbidden = FORBIDDEN_IN_C_TESTS if path.suffix in (".c", ".h") \
                else FORBIDDEN_IN_TESTS
            self.assertEqual(find_metaphors(names, forbidden), [], path)


class FaultsTest(unittest.TestCase):
    def test_forbidden_words_are_found(self):
        self.assertEqual(find_forbidden_words(find_c_names(
            "guint least; /* the most */ int at_most = MOST_TIME;\n"
            'g_object_set (o, "longest-delay", 3, "shortest", "a most b");'
            "guint RTTLeast;")),
            ["MOST_TIME", "RTTLeast", "least", "longest-delay", "shortest"])
        self.assertEqual(find_forbidden_words(find_python_names(
            "import a as least\n"
            "def shortest_path(keeper):\n    'most'\n"
            "    return keeper.size['longest_delay']")),
            ["keeper", "least", "longest_delay", "shortest_path"])
        self.assertEqual(find_forbidden_words(find_meson_names(
            "foreach name : ['mmtpleast', 'most_paths'] # the 'most'")),
            ["most_paths"])

    def test_metaphors_are_found(self):
        self.assertEqual(find_metaphors(find_c_names(
            "Rig *rig; Wire wire; guint wire_size, on_the_wire, trigger;\n"
            "/* a pair */ LoopbackPair pair; MmtpRepair repair; guint forged;\n"
            "bench_init (simulation, sim_new (), MMTP_PAIR_PATHS, \"a sim\");\n"
            "tcase_add_test (tcase, a_pair_behind_a_lone_field);"),
            FORBIDDEN_IN_C_TESTS),
            ["LoopbackPair", "MMTP_PAIR_PATHS", "Rig", "Wire", "bench_init",
             "pair", "rig", "sim_new", "wire"])
        self.assertEqual(find_metaphors(find_python_names(
            "class WireFormat(Case):\n    def forge_reset(self, wire, pair):\n"
            "        self._wires = [self.benchmark]"), FORBIDDEN_IN_TESTS),
            ["_wires", "forge_reset", "wire"])

    def test_relative_clauses_are_found(self):
        self.assertEqual(find_relative_tests(
            "GST_START_TEST (who_is_late)\nGST_START_TEST (late_is_lost)\n"
            "def test_what_is_late(self):\n    def test_of(self):"),
            ["who_is_late", "test_what_is_late"])

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
