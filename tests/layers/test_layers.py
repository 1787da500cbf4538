# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that the files of gst/ and ext/ follow the plan in
docs/architecture.md. In this plan, a plugin consists of GStreamer elements and
of a core. The core contains the protocol and does not use GStreamer. This
program checks the following rules of the plan:

1. Elements include only headers of their own plugin, of its core, and of
   gst/common. Cores include only their own headers and those of two layers,
   gst/common/video and gst/common/net. Each of these two layers includes only
   its own headers. The other files of gst/common may include the headers of
   both layers. No include contains "..", because the compiler would search for
   such a header beside each include directory.

2. There are no cyclic dependencies between files or units. A unit is the set
   of files with the same name before the suffix, such as `frames.c` and
   `frames.h`. A unit depends on another unit in two cases: it includes the
   header of the other unit, or it uses a function or a constant table of the
   other unit. There are two exceptions: `framesprivate.h` may include
   `frames.h`, which it extends, and the cast macros of GObject may call the
   `get_type` function of a type.

3. The plugins read no environment variables, because each setting is a
   property.

4. A core uses no clock, no thread and no random numbers of the system. Its
   caller passes times and a seed to the core, so that a test can repeat every
   run.

The linker also checks a part of rule 1: the tests without_gstreamer_* of the
suite `unit` check which functions are called. But the linker cannot check the
use of types, macros and inline functions. This program therefore checks the
includes.
"""

import collections
import os
import pathlib
import re
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
ROOTS = ["gst", "ext"]

# Headers that the build generates.
GENERATED = {"config.h"}
# Maps each directory of gst/common to the other directories whose headers the
# files of this directory may include.
COMMON = {
    "gst/common/video": set(),
    "gst/common/net": set(),
    "gst/common": {"gst/common/video", "gst/common/net"},
}
# The directories whose headers a core may include, in addition to its own
# directory. A core is the part of a plugin that contains the protocol and does
# not use GStreamer.
BELOW_CORES = {"gst/common/video", "gst/common/net"}
# The files that may read environment variables: {path of the file: reason why
# it may read them}.
ENVIRONMENT = {}
# The known cycles in the dependency graph. A cycle is a set of units that
# include or call each other. This list may only become shorter: a unit that is
# no longer in a cycle must be removed from it.
KNOWN_CIRCLES: list[set[str]] = []

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(\S[^\n]*)', re.M)
TARGET = re.compile(r'(?:"([^"]+)"|<([^>]+)>)')
COMMENT_OR_STRING = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DEFINITION = re.compile(r'^(\w+) \([^;{}]*?\)\s*\{', re.M)
STATIC = re.compile(r'\bstatic\b[^\n;{}()]*\n\Z')
# Matches the definition of a constant table. The use of a table counts like a
# function call, because the table can contain pointers to the functions of a
# unit, such as the operations of an algorithm.
TABLE = re.compile(
    r'^(static )?const \w+ (?:\* ?const )?(\w+)(?:\[[^\]]*\])* =', re.M)
EXTERN = re.compile(r'^extern\b[^;{}()]*;', re.M)
# Matches a function declaration, but not a function call. A declaration begins
# in the first column, and calls are indented.
PROTOTYPE = re.compile(r'^\w[^;{}=]*\([^;{}]*\)[^;{}]*;', re.M)
WORD = re.compile(r'\b[a-z]\w*\b')
READS_ENVIRONMENT = re.compile(
    r'\b(?:(?:g_|g_environ_|secure_)?getenv|g_get_environ|environ)\b')

# Functions of GLib, POSIX and the C library that read a clock, use threads or
# return random numbers. The core of a plugin (its protocol code, which uses no
# GStreamer) must not call them.
CLOCK = (r"g_get_(?:monotonic|real|current)_time|g_date_time_new_now\w*|"
         r"g_(?:timer|timeout)_\w+|clock(?:_gettime|_nanosleep)?|gettimeofday|time|localtime\w*|"
         r"gmtime\w*|ftime|g_usleep|(?:u|nano)?sleep")
THREAD = (r"g_(?:thread|mutex|rec_mutex|rw_lock|cond|async_queue|private|once)_"
          r"\w+|pthread_\w+|thrd_\w+|fork")
RANDOM = (r"g_rand(?:om)?_\w+|g_uuid_string_random|s?random(?:_r)?|s?rand|"
          r"rand_r|[delmn]rand48|getrandom|getentropy|arc4random\w*")
USES_SYSTEM = re.compile(rf"\b({CLOCK}|{THREAD}|{RANDOM}) ?\(")


def allowed_directories(directory):
    """Returns the directories whose headers the files in `directory` may
    include. Returns None if there must be no source files in `directory`.
    """
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


def is_plain(name):
    """Returns whether the name of an included header is a relative path without
    "." and "..". The compiler looks for <../x.h> beside each of its include
    directories, so that such a name could reach any file of the project, and
    this program would have to know the include directories of each target.
    """
    return (name == os.path.normpath(name) and not os.path.isabs(name)
            and ".." not in name.split("/"))


def get_unit(path):
    """Returns the unit to which a file belongs. The name of a unit is the path
    of its files without the suffix."""
    return path.rsplit(".", 1)[0]


class Tree:
    """Reads the C files below the directory `top`. Records which files each
    file includes, and which names it defines and uses.
    """

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
        # Maps the path of each source file to the list of the project's files
        # that this source file includes.
        self.includes = {path: [] for path in self.files}
        # A unit is a path without the suffix .c or .h. These two dictionaries
        # describe each unit:
        # - `own` contains its static functions and tables.
        # - `named` contains all names that it uses.
        self.own = collections.defaultdict(set)
        self.named = collections.defaultdict(set)
        # Maps each name of a non-static function or table to the units that
        # define it. A unit is a path without the suffix .c or .h.
        self.definers = collections.defaultdict(set)
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
        self.read_functions(get_unit(path), code)
        if READS_ENVIRONMENT.search(code) and path not in ENVIRONMENT:
            self.faults.append(f"{path} reads the environment")
        if path.rsplit("/", 1)[0].endswith("/core"):
            self.faults += [f"{path} calls {name} ()"
                            for name in USES_SYSTEM.findall(code)]

    def read_functions(self, unit, code):
        for definition in DEFINITION.finditer(code):
            if STATIC.search(code, 0, definition.start()):
                self.own[unit].add(definition[1])
            else:
                self.definers[definition[1]].add(unit)
        for is_static, table in TABLE.findall(code):
            if is_static:
                self.own[unit].add(table)
            else:
                self.definers[table].add(unit)
        self.named[unit].update(
            WORD.findall(EXTERN.sub(" ", PROTOTYPE.sub(" ", code))))

    def add(self, path, name, is_quoted):
        directory = path.rsplit("/", 1)[0]
        if not is_plain(name):
            self.faults.append(f"{path} includes {name}, which is not a plain "
                               "path below an include directory")
            return
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
        """Returns the files to which `#include "name"` may refer if it stands
        in a file of `directory`. Like a compiler, the function searches
        `directory` first, and then all include directories.
        """
        beside = os.path.normpath(f"{directory}/{name}")
        if beside in self.includes:
            return [beside]
        return [path for path in self.by_name[name.rsplit("/", 1)[-1]]
                if f"/{path}".endswith(f"/{name}")]

    def directories(self):
        """Returns a dictionary that maps each directory to a set of other
        directories. The set contains the directories from which the files of
        the first directory include headers.
        """
        graph = collections.defaultdict(set)
        for path, included in self.includes.items():
            directory = path.rsplit("/", 1)[0]
            graph[directory].update(
                other.rsplit("/", 1)[0] for other in included)
            graph[directory].discard(directory)
        return graph

    def units(self):
        """Returns a dictionary that maps each unit to the set of the other
        units that it includes or calls.
        """
        graph = {get_unit(path): set() for path in self.files}
        for path, included in self.includes.items():
            unit = get_unit(path)
            graph[unit].update(
                other for other in map(get_unit, included)
                if unit != other + "private")
        for unit, words in self.named.items():
            for word in words - self.own[unit]:
                definers = self.definers.get(word, set())
                if unit not in definers:
                    graph[unit] |= definers
        for unit, others in graph.items():
            others.discard(unit)
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


def find_circles(graph):
    """Returns the cycles of a graph, as a sorted list of sorted lists of nodes.
    A cycle here is a set of two or more nodes, each of which can be reached
    from every other node of the set."""
    def reach(node):
        reached = set()
        waiting = [node]
        while waiting:
            for other in graph[waiting.pop()] - reached:
                reached.add(other)
                waiting.append(other)
        return reached

    reached = {node: reach(node) for node in graph}
    circles = {frozenset(other for other in reached[node]
                         if node in reached[other])
               for node in graph if node in reached[node]}
    return sorted(map(sorted, circles))


def judge_circles(circles, known):
    """Compares the cycles that were found in the dependency graph (`circles`)
    with the accepted cycles (`known`). Each cycle is a set of units. A unit is
    a file `x.c` together with its header `x.h`. Returns a list of faults.
    There are two kinds of fault: a cycle in `circles` that is not part of a
    cycle in `known`, and a unit that is in a cycle of `known`, but in no cycle
    of `circles`.
    """
    faults = [f"units in a circle: {', '.join(circle)}" for circle in circles
              if not any(set(circle) <= others for others in known)]
    found = {unit for circle in circles for unit in circle}
    return faults + [f"{unit} is in no circle, but among the known ones"
                     for others in known for unit in sorted(others - found)]


def find_circle(graph):
    """Returns the nodes of one cycle of the graph, with the first node again at
    the end. Returns None if the graph has no cycle.
    """
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

    def test_no_units_are_in_a_circle(self):
        circles = find_circles(Tree(SOURCE).units())
        self.assertEqual(judge_circles(circles, KNOWN_CIRCLES), [])

    def test_congestion_controls_of_dccp_are_behind_their_table(self):
        """The plugin dccpthin has several congestion controls (CCIDs). The
        code of a connection must call a CCID only through a table of function
        pointers. Therefore, the files of the connection must include no header
        of a CCID. The files of the CCIDs may include only their own headers
        and three others: dccpoption.h, dccpsequence.h, and dccpccid.h, which
        declares the table.
        """
        core = "gst/dccpthin/core/"
        table = {"dccpccid.h", "dccpoption.h", "dccpsequence.h"}
        own = re.compile(r"(?:ccid|tfrc)\w*\.[ch]")
        read = 0
        for path, included in Tree(SOURCE).includes.items():
            if not path.startswith(core):
                continue
            names = {other.rsplit("/", 1)[1] for other in included}
            others = {name for name in names if not own.fullmatch(name)}
            with self.subTest(path):
                if own.fullmatch(path[len(core):]):
                    read += 1
                    self.assertLessEqual(others, table)
                else:
                    self.assertEqual(names - others, set())
        self.assertGreater(read, 10)

    def test_all_of_the_plan_is_there(self):
        directories = {path.rsplit("/", 1)[0] for path in Tree(SOURCE).files}
        self.assertLessEqual(set(COMMON), directories)
        plugins = {directory for directory in directories
                   if directory.count("/") == 1} - {"gst/common"}
        self.assertEqual({f"{plugin}/core" for plugin in plugins},
                         {directory for directory in directories
                          if directory.endswith("/core")})


class FaultsTest(unittest.TestCase):
    """Tests the checks of this file themselves. Each test adds a fault to a
    small source tree that has no other fault. The fault must be found.
    """

    RIGHT = {
        "gst/common/video/frames.h": "#include <glib.h>\n",
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
        for line in ('#include "gstone.h"', '#include "gst/one/gstone.h"',
                     "#include <gstone.h>", "#include <one/gstone.h>",
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

    def test_an_include_that_leads_out_of_an_include_directory(self):
        # The compiler finds each of these headers if the build gives the file
        # its own directory and gst/common/net as include directories.
        for path, name in (
                ("gst/one/core/one.c", "../gsthelper.h"),
                ("gst/one/core/one.c", "../gstone.h"),
                ("gst/one/core/one.c", "../net/../gsthelper.h"),
                ("gst/one/core/one.c", "./frames.h"),
                ("gst/two/gsttwo.c", "../../one/gstone.h"),
                ("gst/two/gsttwo.c", ".././one/gstone.h"),
                ("gst/two/gsttwo.c", "..//one/gstone.h"),
                ("gst/two/gsttwo.c", "core/../../one/gstone.h"),
                ("gst/common/video/frames.h", "../net/sockets.h"),
                ("ext/three/gstthree.c", "../one/core/one.h"),
                ("ext/three/gstthree.c", "/usr/include/stdio.h")):
            for line in (f"#include <{name}>", f'#include "{name}"'):
                with self.subTest(line):
                    self.check(path, line, f"{path} includes {name}, which")

    def test_an_include_of_a_system_header_with_a_directory(self):
        self.assertEqual(self.find_faults({
            "gst/one/core/more.c": "#include <sys/types.h>\n"}), [])

    def test_a_directory_that_is_not_in_the_plan(self):
        self.check("gst/one/core/more/more.c", "", "no directory of the plan")
        self.check("gst/common/more/more.c", "", "no directory of the plan")

    def test_the_environment_is_read(self):
        for line in ('g_getenv ("A");', "getenv (name);", "secure_getenv (n);",
                     "g_get_environ ();", "extern char **environ;"):
            with self.subTest(line):
                self.check("gst/one/gstone.c", line, "reads the environment")

    def test_a_core_uses_the_system(self):
        for call in ("g_get_monotonic_time ()", "time (NULL)", "sleep (1)",
                     "clock_gettime (CLOCK_MONOTONIC, &now)",
                     "g_thread_new (name, run, self)", "g_mutex_lock (&lock)",
                     "pthread_create (&thread, NULL, run, NULL)",
                     "g_random_int ()", "g_rand_double (rand)", "rand ()",
                     "getrandom (bytes, 8, 0)"):
            with self.subTest(call):
                name = call.split(" ", 1)[0]
                line = f"void\none_do (void)\n{{\n  use ({call});\n}}\n"
                self.check("gst/one/core/one.c", line,
                           f"gst/one/core/one.c calls {name} ()")
                self.assertEqual(
                    self.find_faults({"gst/one/gstmore.c": line}), [])
        for line in ("my_time (NULL);", "x = time * (a + b);", "time_t t;"):
            self.assertEqual(
                self.find_faults({"gst/one/core/more.c": line}), [])


class CirclesTest(unittest.TestCase):
    """Tests of find_circles() with small source trees, in which units include
    or call each other in a cycle.
    """

    def find_circles(self, files):
        with tempfile.TemporaryDirectory() as directory:
            for path, text in files.items():
                file = pathlib.Path(directory) / "gst/one" / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            circles = find_circles(Tree(directory).units())
        return [[unit.removeprefix("gst/one/") for unit in circle]
                for circle in circles]

    def check_circle(self, files):
        self.assertEqual(self.find_circles(files), [["a", "b"]])

    CALLED = {
        "a.h": "void a_do (void);\n",
        "b.h": "void b_do (void);\n",
        "a.c": '#include "a.h"\n#include "b.h"\n\n'
               "void\na_do (void)\n{\n  b_do ();\n}\n",
        "b.c": '#include "b.h"\n\nvoid\nb_do (void)\n{\n}\n',
    }

    def test_one_that_calls_another(self):
        self.assertEqual(self.find_circles(self.CALLED), [])

    def test_two_that_include_each_other(self):
        self.check_circle({"a.h": '#include "b.h"\n', "b.h": "",
                           "b.c": '#include "a.h"\n'})

    def test_two_that_call_each_other(self):
        self.check_circle({
            **self.CALLED,
            "b.c": "void a_do (void);\nvoid\nb_do (void)\n{\n  a_do ();\n}\n"})

    def test_one_that_includes_what_calls_it(self):
        self.check_circle({
            **self.CALLED,
            "b.c": '#include "a.h"\nvoid\nb_do (void)\n{\n}\n'})

    def test_a_function_that_is_handed_over(self):
        self.check_circle({
            **self.CALLED,
            "b.c": "void a_do (void);\nvoid\nb_do (int a,\n    int b)\n{\n"
                   "  call (a_do);\n}\n"})

    def test_an_inline_function_that_calls(self):
        self.check_circle({
            **self.CALLED,
            "b.h": "void b_do (void);\nstatic inline void\nb_run (void)\n{\n"
                   "  a_do ();\n}\n"})

    TABLES = {
        "b.h": "typedef struct { int n; } Table;\n"
               "extern const Table a_table;\n",
        "a.c": '#include "b.h"\nconst Table a_table = { 1 };\n',
        "b.c": '#include "b.h"\n',
    }

    def test_a_table_of_functions(self):
        self.assertEqual(self.find_circles(self.TABLES), [])
        self.check_circle({
            **self.TABLES,
            "b.c": "static const Table *const all[] = { &a_table };\n"})
        self.check_circle({
            "b.h": "extern const Table *const a_list[];\n",
            "a.c": '#include "b.h"\nconst Table *const a_list[] = { 0 };\n',
            "b.c": "void\nb_do (void)\n{\n  run (a_list[0]);\n}\n"})

    def test_static_table_of_the_same_name(self):
        self.assertEqual(self.find_circles({
            **self.TABLES,
            "b.c": "static const Table a_table = { 2 };\nvoid\nb_do (void)\n"
                   "{\n  run (&a_table);\n}\n"}), [])

    def test_three_of_which_none_calls_back(self):
        circles = self.find_circles({
            "a.c": '#include "b.h"\n', "b.c": '#include "c.h"\n',
            "c.c": '#include "a.h"\n', "a.h": "", "b.h": "", "c.h": "",
            "d.c": '#include "a.h"\n'})
        self.assertEqual(circles, [["a", "b", "c"]])

    def test_functions_of_the_same_name(self):
        self.assertEqual(self.find_circles({
            **self.CALLED,
            "b.c": "static int\na_do (void)\n{\n  return 0;\n}\n\n"
                   "void\nb_do (void)\n{\n  a_do ();\n}\n"}), [])

    def test_a_name_in_a_comment_or_string(self):
        self.assertEqual(self.find_circles({
            **self.CALLED,
            "b.c": '/* a_do */\nvoid\nb_do (void)\n{\n  log ("a_do");\n}\n'
        }), [])

    def test_a_private_header_continues_the_public_one(self):
        self.assertEqual(self.find_circles({
            "a.h": "", "aprivate.h": '#include "a.h"\n',
            "a.c": '#include "aprivate.h"\n',
            "b.c": '#include "aprivate.h"\n'}), [])

    def test_a_known_circle_may_only_shrink(self):
        known = [{"a", "b", "c"}]
        self.assertEqual(judge_circles([["a", "b", "c"]], known), [])
        for circles, words in (
                ([["a", "b", "c", "d"]], "in a circle: a, b, c, d"),
                ([["a", "b", "c"], ["d", "e"]], "in a circle: d, e"),
                ([["a", "b"]], "c is in no circle"),
                ([], "a is in no circle")):
            with self.subTest(words):
                faults = judge_circles(circles, known)
                self.assertIn(words, faults[0])


if __name__ == "__main__":
    unittest.main()
