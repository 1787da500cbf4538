# SPDX-License-Identifier: LGPL-2.1-or-later
"""The includes of gst/ and ext/ follow the plan in docs/architecture.md.

Elements include their own core and the layers of gst/common, cores include the
layers video and net, and these include nothing of ours. The linker holds the
calls (without_gstreamer_* of the suite `unit`); this program holds the includes,
which also bring in types, macros and inline functions.

The plugins read no environment variables: what a user may set is a property.
"""

import collections
import os
import pathlib
import re
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
ROOTS = ["gst", "ext"]

# The build makes these.
GENERATED = {"config.h"}
# The directories of gst/common, each with those that it may include
COMMON = {
    "gst/common/export": set(),
    "gst/common/video": {"gst/common/export"},
    "gst/common/net": {"gst/common/export"},
    "gst/common": {"gst/common/export", "gst/common/video", "gst/common/net"},
}
# What a core may include beside itself
BELOW_CORES = {"gst/common/export", "gst/common/video", "gst/common/net"}
# Files that may read the environment: path to a reason
ENVIRONMENT = {}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(\S[^\n]*)', re.M)
TARGET = re.compile(r'(?:"([^"]+)"|<([^>]+)>)')
COMMENT_OR_STRING = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
READS_ENVIRONMENT = re.compile(
    r'\b(?:(?:g_|g_environ_|secure_)?getenv|g_get_environ|environ)\b')


def allowed_directories(directory):
    """The directories that files of this one may include; None: there is no
    such directory in the plan."""
    if directory in COMMON:
        return COMMON[directory] | {directory}
    parts = directory.split("/")
    if len(parts) == 3 and parts[2] == "core" and parts[1] != "common":
        return BELOW_CORES | {directory}
    if len(parts) == 2:
        return set(COMMON) | {directory, directory + "/core"}
    return None


def may_use_gstreamer(directory):
    return directory not in BELOW_CORES and not directory.endswith("/core")


class Tree:
    """The sources below a directory, and what they include."""

    def __init__(self, top):
        self.top = pathlib.Path(top)
        self.files = sorted(
            path.relative_to(self.top).as_posix() for root in ROOTS
            for path in (self.top / root).rglob("*") if path.suffix in
            (".c", ".h"))
        self.by_name = collections.defaultdict(list)
        for path in self.files:
            self.by_name[path.rsplit("/", 1)[1]].append(path)
        self.faults = []
        # file -> the files of the tree that it includes
        self.includes = {path: [] for path in self.files}
        for path in self.files:
            self.read(path)

    def read(self, path):
        text = (self.top / path).read_text()
        for argument in INCLUDE.findall(text):
            target = TARGET.match(argument)
            if not target:
                self.faults.append(f"{path} includes {argument}, a macro")
                continue
            quoted, system = target.groups()
            self.add(path, quoted or system, bool(quoted))
        code = COMMENT_OR_STRING.sub(" ", text)
        if READS_ENVIRONMENT.search(code) and path not in ENVIRONMENT:
            self.faults.append(f"{path} reads the environment")

    def add(self, path, name, is_quoted):
        directory = path.rsplit("/", 1)[0]
        found = self.find(directory, name)
        if len(found) > 1:
            self.faults.append(f"{path} includes {name}, which there is more "
                               f"than once: {', '.join(found)}")
        elif found:
            self.includes[path].append(found[0])
        elif is_quoted and name not in GENERATED:
            self.faults.append(f"{path} includes {name}, which there is not")
        elif name.startswith("gst/") and not may_use_gstreamer(directory):
            self.faults.append(f"{path} includes <{name}> of GStreamer")
        elif name.startswith("gio/") and directory == "gst/common/video":
            self.faults.append(f"{path} includes <{name}> of GIO")

    def find(self, directory, name):
        """A compiler looks beside the file and below each include directory."""
        beside = os.path.normpath(f"{directory}/{name}")
        if beside in self.includes:
            return [beside]
        return [path for path in self.by_name[name.rsplit("/", 1)[-1]]
                if f"/{path}".endswith(f"/{name}")]

    def directories(self):
        """Each directory with those that it includes"""
        graph = collections.defaultdict(set)
        for path, included in self.includes.items():
            directory = path.rsplit("/", 1)[0]
            graph[directory].update(
                other.rsplit("/", 1)[0] for other in included)
            graph[directory].discard(directory)
        return graph

    def find_faults(self):
        faults = list(self.faults)
        for path, included in self.includes.items():
            directory = path.rsplit("/", 1)[0]
            allowed = allowed_directories(directory)
            if allowed is None:
                faults.append(f"{path} is in no directory of the plan")
                continue
            faults += [f"{path} includes {other}" for other in included
                       if other.rsplit("/", 1)[0] not in allowed]
        for what, graph in (("directories", self.directories()),
                            ("files", self.includes)):
            circle = find_circle(graph)
            if circle:
                faults.append(f"{what} in a circle: {' -> '.join(circle)}")
        return faults


def find_circle(graph):
    """The nodes of one circle, the first one again at the end; or None"""
    done = set()

    def walk(node, way):
        if node in way:
            return way[way.index(node):] + [node]
        if node in done:
            return None
        for other in sorted(graph.get(node, ())):
            circle = walk(other, way + [node])
            if circle:
                return circle
        done.add(node)
        return None

    for node in sorted(graph):
        circle = walk(node, [])
        if circle:
            return circle
    return None


class LayersTest(unittest.TestCase):
    def test_the_tree_follows_the_plan(self):
        tree = Tree(SOURCE)
        self.assertGreater(len(tree.files), 100)
        self.assertEqual(tree.find_faults(), [])

    def test_all_of_the_plan_is_there(self):
        directories = {path.rsplit("/", 1)[0] for path in Tree(SOURCE).files}
        self.assertLessEqual(set(COMMON), directories)
        plugins = {directory for directory in directories
                   if directory.count("/") == 1} - {"gst/common"}
        self.assertEqual({f"{plugin}/core" for plugin in plugins},
                         {directory for directory in directories
                          if directory.endswith("/core")})


class FaultsTest(unittest.TestCase):
    """Each kind of fault, in a small tree that is right but for this fault"""

    RIGHT = {
        "gst/common/export/prelude.h": "",
        "gst/common/video/frames.h": '#include "prelude.h"\n',
        "gst/common/net/sockets.h": "#include <gio/gio.h>\n",
        "gst/common/gsthelper.h":
            '#include <gst/gst.h>\n#include "frames.h"\n',
        "gst/one/core/one.h": '#include "sockets.h"\n#include <glib.h>\n',
        "gst/one/core/one.c": '#include "one.h"\n/* not g_getenv () */\n',
        "gst/one/gstone.c":
            '#include "config.h"\n#include "one.h"\n#include "gsthelper.h"\n',
        "gst/one/gstone.h": "#include <gst/gst.h>\n",
        "gst/two/core/two.h": "",
        "ext/three/gstthree.c": '#include "gsthelper.h"\n',
    }

    def find_faults(self, changes):
        with tempfile.TemporaryDirectory() as directory:
            for path, text in {**self.RIGHT, **changes}.items():
                file = pathlib.Path(directory) / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            return Tree(directory).find_faults()

    def check(self, path, line, *words):
        faults = self.find_faults({path: self.RIGHT.get(path, "") + line})
        self.assertTrue(faults, "no fault was found")
        for word in words:
            self.assertTrue(any(word in fault for fault in faults), faults)

    def test_the_right_tree_has_none(self):
        self.assertEqual(self.find_faults({}), [])

    def test_a_core_includes_an_element(self):
        for line in ('#include "gstone.h"', '#include "../gstone.h"',
                     '#include "gst/one/gstone.h"', "#include <gstone.h>",
                     '  # include "gstone.h"'):
            with self.subTest(line):
                self.check("gst/one/core/one.c", line,
                           "gst/one/core/one.c includes gst/one/gstone.h")

    def test_a_core_includes_a_helper_of_gstreamer(self):
        self.check("gst/one/core/one.h", '#include "gsthelper.h"',
                   "gst/one/core/one.h includes gst/common/gsthelper.h")

    def test_a_core_includes_gstreamer(self):
        self.check("gst/one/core/one.h", "#include <gst/gst.h>",
                   "gst/one/core/one.h includes <gst/gst.h>")

    def test_a_plugin_includes_another(self):
        self.check("gst/two/gsttwo.c", '#include "gstone.h"',
                   "gst/two/gsttwo.c includes gst/one/gstone.h")
        self.check("gst/two/core/two.h", '#include "one.h"',
                   "gst/two/core/two.h includes gst/one/core/one.h")
        self.check("ext/three/gstthree.c", '#include "two.h"',
                   "ext/three/gstthree.c includes gst/two/core/two.h")

    def test_a_layer_includes_one_above(self):
        self.check("gst/common/video/frames.h", '#include "sockets.h"',
                   "gst/common/video/frames.h includes gst/common/net/")
        self.check("gst/common/net/sockets.h", '#include "gsthelper.h"',
                   "gst/common/net/sockets.h includes gst/common/gsthelper.h")
        self.check("gst/common/net/sockets.h", "#include <gst/gst.h>",
                   "gst/common/net/sockets.h includes <gst/gst.h>")
        self.check("gst/common/video/frames.h", "#include <gio/gio.h>",
                   "gst/common/video/frames.h includes <gio/gio.h>")

    def test_common_includes_a_plugin(self):
        self.check("gst/common/gsthelper.h", '#include "one.h"',
                   "gst/common/gsthelper.h includes gst/one/core/one.h")

    def test_directories_in_a_circle(self):
        self.check("gst/common/video/frames.h", '#include "gsthelper.h"',
                   "directories in a circle: gst/common -> gst/common/video "
                   "-> gst/common")

    def test_files_in_a_circle(self):
        faults = self.find_faults({
            "gst/one/core/more.h": '#include "other.h"\n',
            "gst/one/core/other.h": '#include "more.h"\n'})
        self.assertEqual(faults, ["files in a circle: gst/one/core/more.h -> "
                                  "gst/one/core/other.h -> "
                                  "gst/one/core/more.h"])

    def test_an_include_that_cannot_be_followed(self):
        self.check("gst/one/gstone.h", '#include "nowhere.h"', "there is not")
        self.check("gst/one/gstone.h", "#include HEADER", "a macro")
        self.check("gst/two/one.h", "", "more than once")

    def test_a_directory_that_is_not_in_the_plan(self):
        self.check("gst/one/core/more/more.c", "", "no directory of the plan")
        self.check("gst/common/more/more.c", "", "no directory of the plan")

    def test_the_environment_is_read(self):
        for line in ('g_getenv ("A");', "getenv (name);", "secure_getenv (n);",
                     "g_get_environ ();", "extern char **environ;"):
            with self.subTest(line):
                self.check("gst/one/gstone.c", line, "reads the environment")


if __name__ == "__main__":
    unittest.main()
