# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the pages: pasted lines must run, and the tables of properties must
match the elements.

The test runs each line of code in README.md and docs/*.md that begins with one
of the words in RUNNABLE, in the order of its page. Before it runs a line, it
replaces:
- the long clip by a short clip,
- each port by a free port,
- each screen or loudspeaker by a file.

A line that listens on a port is a receiver. The next line on the page that
sends to this port is the sender. The test stops the receiver when the sender
has ended. The receiver must then have written its output files and printed the
expected output. A sender that would never end is stopped after SECONDS_TO_END.
"""

import concurrent.futures
import functools
import itertools
import json
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"])
FILM = SOURCE / "pipelines" / "film" / "bigbuckbunny.mp4"
PAGES = [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md",
         *sorted((SOURCE / "docs").glob("*.md"))]

PLAYER = "build/tests/examples/player --headless "
RUNNABLE = ("gst-launch-1.0 ", "ffmpeg ", "awk ", "openssl rand ", PLAYER)
# Two regular expressions for launch lines. LISTENS matches a receiver, and its
# group captures the port of the receiver. SENDS matches a sender.
LISTENS = (r"(?:(?:udpsrc|udplitesrc|mmtpsrc|dcct?pthinsrc|tcpserversrc)"
           r"\b[^!]* port="
           r"|srtsrc\b[^!]*srt://127\.0\.0\.1:"
           r"|player\b.*(?:udplite|mmtp|dccpthin)://127\.0\.0\.1:)(\d+)")
SENDS = (r"\b(udpsink|udplitesink|mmtpsink|dcct?pthinsink|tcpclientsink"
         r"|srtsink|ifdsink)\b"
         r"|\bffmpeg\b.*\b(?:rtp|udplite)://")
# Time in s after which a launch line is stopped because it takes too long,
# even on a busy machine. Usually a line runs for one second.
SECONDS_TO_RUN = 60
PAGES_AT_ONCE = 4
# Matches launch lines in which rtpbin sends RTCP. It is possible that the
# pipeline of such a line runs forever. Normally rtpbin sends a BYE after the
# end of the RTP stream, and then ends its RTCP stream. Sometimes rtpbin sends
# the BYE before it has noticed the end of the RTP stream, and the RTCP stream
# then never ends. In GStreamer 1.22, this also happens with stock elements
# alone. Pages with such a launch line explain this, and tell the user to stop
# the pipeline with Ctrl-C.
MAY_NOT_END = re.compile(r"\brtp\.send_rtcp_src")
# Some launch lines may never end (see MAY_NOT_END). This constant is the
# maximum time in s for which the test lets such a line run. The test
# interrupts the line after this time.
SECONDS_TO_END = 20
# Newer versions of srtsrc print these warnings when the sender closes the
# connection. The test does not treat them as a failure.
SENDER_HAS_GONE = (r"WARNING: from element \S*/GstSRTSrc:\S+: "
                   r"(?:Error on SRT socket: .*|Socket is broken or closed)")
# A test machine has neither a screen nor a loudspeaker. The test therefore
# replaces the elements for them by elements that write to files.
DISPLAYS = {
    "autovideosink": "filesink sync=true location=shown-{}.raw",
    "autoaudiosink": "filesink sync=true location=heard-{}.raw",
}
# On a busy machine, an encoder for pictures of 640x480 may be slower than
# real time. mmtpsink then gives up all buffers because they come too late. The
# test therefore encodes small pictures.
PICTURE, SMALL_PICTURE = "width=640,height=480", "width=160,height=120"
# Matches a launch line with a live source. Such a source never ends if it has
# no num-buffers, so the test interrupts the sender when the receiver has
# received data.
ENDLESS = re.compile(r"\bis-live=true\b")
# Properties that the pages do not list, because every GStreamer object has
# them.
NOT_ON_PAGES = {"name", "parent"}
# Some elements have two names, but only one page in docs/. Maps the name
# without a page to the name that has a page.
OTHER_NAMES = {"dccpthinsink": "dcctpthinsink", "dccpthinsrc": "dcctpthinsrc"}


# ---------------------------------------------------------------- reading pages

def code_lines(text):
    """Returns the lines of code on a Markdown page: the lines that are
    indented and the lines between two fences (```). A line that ends with a
    backslash is joined with the next line.
    """
    code, fenced = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            code.append(line.strip())
    return re.sub(r"\\\n", " ", "\n".join(code)).splitlines()


def launch_lines(page):
    """Returns the launch lines of a page: the commands, such as
    gst-launch-1.0, that the test runs. Reads the page only up to its second
    heading of level 1, because the commands after this heading need a testbed
    and run for minutes. tests/integration/test_tutorial.py runs those
    commands."""
    _, first, *_ = re.split(r"^# ", page.read_text(), flags=re.M)
    return [line for line in code_lines(first) if line.startswith(RUNNABLE)]


def section(text, title):
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    return found.group(1) if found else ""


def table_rows(text):
    """Returns the cells of each row of the tables, without header rows and
    separator lines.
    """
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in text.splitlines() if line.startswith("|")]
    return [row for row in rows if "`" in row[0]]


def last_cells(text, head):
    """Returns the last cell of each row, for all tables whose last column has
    the heading `head`.
    """
    cells, inside = [], False
    for line in text.splitlines():
        if not line.startswith("|"):
            inside = False
            continue
        last = line.strip().strip("|").split("|")[-1].strip()
        if last == head:
            inside = True
        elif inside and not set(last) <= set("- "):
            cells.append(last)
    return cells


def names_in(cell):
    """Returns the names in a cell of a table. A cell may shorten a name to its
    last part. For example, a cell with `frames-i` and `-p` has the names
    frames-i and frames-p.
    """
    names = []
    for name in re.findall(r"`([^`]+)`", cell):
        if name.startswith("-"):
            name = names[-1].rsplit("-", 1)[0] + name
        names.append(name)
    return names


def is_there(row):
    """Returns False if the row of the table needs a newer version of GStreamer
    than the installed version.
    """
    found = re.search(r"GStreamer (\d+)\.(\d+) and newer", " ".join(row))
    return not found or gstreamer_version() >= tuple(map(int, found.groups()))


class Described:
    """The properties and statistics of one element, as its documentation page
    describes them."""

    def __init__(self, page):
        text = page.read_text()
        self.defaults, self.words = {}, {}
        for row in filter(is_there, table_rows(section(text, "Properties"))):
            for name in names_in(row[0]):
                default = row[1].rsplit(",", 1)[-1].strip(" `")
                # gst-inspect-1.0 prints no default for a property whose value
                # is caps or an object. The page says "unset" for such a
                # property, so "unset" becomes None here.
                self.defaults[name] = {"none": "null", "unset": None,
                                       "read only": None}.get(default, default)
                self.words[name] = " ".join(row[1:])
        said = re.search(r"^Keys that a URI may have:([^.]*)\.",
                         section(text, "URIs"), re.M)
        self.uri_keys = re.findall(r"`([^`]+)`", said.group(1) if said else "")
        statistics = section(text, "Statistics")
        self.stats_property = (re.findall(r"`([^`]+)`", statistics) or [""])[0]
        self.stats = {name for row in table_rows(statistics)
                      for name in names_in(row[0])}


# ---------------------------------------------------------- inspecting elements

def inspect(what):
    return subprocess.run(["gst-inspect-1.0", what], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


@functools.cache
def gstreamer_version():
    found = re.search(r"GStreamer (\d+)\.(\d+)", inspect("--version"))
    return tuple(map(int, found.groups()))


def built_elements():
    """Returns all elements in the plugins of the build directory."""
    elements = []
    for directory in os.environ["GST_PLUGIN_PATH_1_0"].split(":"):
        for plugin in sorted(pathlib.Path(directory).glob("libgst*.so")):
            elements += re.findall(r"^  ([\w-]+): ", inspect(str(plugin)), re.M)
    return elements


def keys_of_uris(element):
    """Returns the keys that a URI of the element may have. The function passes
    an unknown key, so that the element lists the known keys in its error
    message.
    """
    scheme = re.sub("^dcct?p", "dccp", re.sub("(?:sink|src)$", "", element))
    element += f" uri={scheme}://127.0.0.1?no-such-key=1"
    line = (f"{element} ! fakesink" if "src uri=" in element
            else f"fakesrc num-buffers=1 ! {element}")
    said = subprocess.run(["gst-launch-1.0", *line.split()], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return re.search(r"takes these keys from a URI: ([^.]*)\.",
                     said.stdout).group(1).split(", ")


class Inspected:
    """The properties and statistics of one element, as gst-inspect-1.0 prints
    them."""

    def __init__(self, element):
        _, _, text = inspect(element).partition("Element Properties:\n")
        text = text.partition("\nElement Signals:")[0]
        self.defaults, self.ready_only, self.stats = {}, {}, {}
        self.values = {}
        for name, body in re.findall(
                r"^  ([a-z][a-z0-9-]*) *: (.*?)(?=^  [a-z]|\Z)", text,
                re.M | re.S):
            if name in NOT_ON_PAGES:
                continue
            default = re.search(r'Default: *(?:\d+, )?"?([^"\s]*)"?',
                                body)
            # Newer versions of gst-inspect-1.0 print the default of a property
            # that is an array. The test ignores this default, because the
            # pages do not show it.
            self.defaults[name] = (default and default.group(1)
                                   if "GstValueArray" not in body else None)
            self.ready_only[name] = "only in NULL or READY" in body
            # the values of an enumeration
            self.values[name] = re.findall(r"^ {10,}\(-?\d+\): (\S+) +- ", body,
                                           re.M)
            self.stats[name] = set(re.findall(r"^ {30,}([a-z0-9_-]+): ", body,
                                              re.M))


# --------------------------------------------------------------- running a line

_given_ports = set()
_given_lock = threading.Lock()


def free_port():
    """Returns a free port, and never returns the same port twice. The test
    runs the commands of several pages at the same time, so the pages must use
    different ports."""
    with _given_lock:
        while True:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, \
                    socket.socket(socket.AF_INET, socket.SOCK_STREAM) as twin:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]
                try:
                    twin.bind(("127.0.0.1", port))
                except OSError:
                    continue
            if port not in _given_ports:
                _given_ports.add(port)
                return str(port)


def is_bound(port):
    """Returns whether a UDP or UDP-Lite socket is bound to the port, or a TCP
    socket listens on it. The function reads the tables of sockets in
    /proc/net, in which the state 0A means that a TCP socket listens.
    """
    ending = f":{port:04X}"
    tables = [pathlib.Path("/proc/net") / name
              for name in ("udp", "udp6", "udplite", "udplite6", "tcp",
                           "tcp6")]
    rows = [(table, line.split()) for table in tables if table.exists()
            for line in table.read_text().splitlines()[1:]]
    return any(row[1].endswith(ending)
               and ("udp" in table.name or row[3] == "0A")
               for table, row in rows)


def wait_for(condition):
    deadline = time.monotonic() + SECONDS_TO_RUN
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)


class Failed(Exception):
    pass


class Line:
    """A command line from a documentation page. It runs as a process in the
    directory `directory`.
    """

    def __init__(self, text, directory, number):
        for display, file in DISPLAYS.items():
            text = text.replace(display, file.format(number))
        text = text.replace(PICTURE, SMALL_PICTURE)
        self.text, self.directory = text, directory
        self.interrupted = False
        self.output = directory / f"output-{number}.txt"
        # The launch line runs under the program `timeout`. Even if this test
        # is killed, `timeout` ends the process of the launch line.
        guard = f"timeout --foreground -k 2 {2 * SECONDS_TO_RUN} "
        # The test looks into the output files while the line runs. filesink
        # therefore writes without a buffer, so that received data are visible
        # in the file immediately.
        words = shlex.split(text.replace(
            "filesink ", "filesink buffer-mode=unbuffered "))
        if "|" in text:
            words = ["sh", "-c", text]
        elif "$(" in text or " > " in text:
            words = ["sh", "-c", f"exec {text}"]
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen(
                guard.split() + words, cwd=directory,
                stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT)

    def printed(self):
        return self.output.read_text(errors="replace")

    def missing(self):
        """Returns a list of the outputs that the launch line should produce,
        but has not produced yet: files, or text on standard output.
        """
        missing = []
        if "silent=false" in self.text and ": frame " not in self.printed():
            missing.append("frames on standard output")
        if self.text.startswith(PLAYER) and not re.search(
                r"^ *\d+ s  frames [1-9]", self.printed(), re.M):
            missing.append("frames that are shown")
        for element, name in re.findall(
                r"(mpegstat|filesink)\b[^!]* location=(\S+)", self.text):
            path = self.output if name == "-" else self.directory / name
            if not path.exists() or not path.stat().st_size or (
                    element == "mpegstat" and "\nframe," not in
                    path.read_text(errors="replace")):
                missing.append(name)
        return missing

    def interrupt(self):
        """Sends the signal of Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        self.interrupted = True

    def ended(self):
        return self.process.poll() is not None

    def finish(self):
        if MAY_NOT_END.search(self.text):
            try:
                self.process.wait(SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                self.interrupt()
        try:
            status = self.process.wait(SECONDS_TO_RUN)
        except subprocess.TimeoutExpired:
            raise self.failure("does not end") from None
        bad = re.search(r"ERROR|CRITICAL|WARNING",
                        re.sub(SENDER_HAS_GONE, "", self.printed()))
        # A receiver may get SIGINT while it is already ending by itself. The
        # signal may then kill it, so the exit status -SIGINT is allowed, too.
        if bad or status not in ((0, -signal.SIGINT) if self.interrupted
                                 else (0,)):
            raise self.failure(f"exit status {status}")
        if self.missing():
            raise self.failure(f"did not give {', '.join(self.missing())}")

    def stop(self):
        """Stops the launch line with SIGTERM. The launch line runs under the
        program `timeout`, which passes SIGTERM on to it. `timeout` could not
        pass on SIGKILL.
        """
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()

    def failure(self, what):
        return Failed(f"{what}: {self.text}\n{self.printed()[-1500:]}")


class Receiver(Line):

    def __init__(self, text, directory, number):
        super().__init__(text, directory, number)
        self.ports = [int(port) for port in re.findall(LISTENS, text)]
        wait_for(lambda: self.ended() or all(map(is_bound, self.ports)))
        if not all(map(is_bound, self.ports)):
            self.stop()
            raise self.failure("did not open its port")

    def has_all(self):
        return self.ended() or not self.missing()

    def finish(self):
        wait_for(self.has_all)
        self.interrupt()
        super().finish()


def run_page(page, clips):
    """Runs the launch lines of the page `page` with the clips in the directory
    `clips`. Returns the number of launch lines.
    """
    with tempfile.TemporaryDirectory(dir=BUILD, prefix="docs-") as name:
        directory = pathlib.Path(name)
        (directory / "build").mkdir()
        (directory / "build" / "clips").symlink_to(clips)
        (directory / "build" / "tests").symlink_to(BUILD / "tests")
        running = []
        try:
            run_lines(launch_lines(page), directory, running)
        finally:
            for line in running:
                line.stop()
    return len(running)


def run_lines(lines, directory, running):
    receiver, ports = None, {}
    for number, text in enumerate(lines):
        receives = re.search(LISTENS, text) is not None
        sends = re.search(SENDS, text) is not None
        if receives and receiver:
            raise Failed(f"nothing is sent to: {receiver.text}")
        if sends and receiver and ports_in(text) - set(ports):
            raise Failed(f"sends elsewhere than {receiver.text}: {text}")
        if receives or (sends and not receiver):
            ports = {written: free_port() for written in ports_in(text)}
        kind = Receiver if receives else Line
        line = kind(with_ports(text, ports), directory, number)
        running.append(line)
        if receives:
            receiver = line
            continue
        if receiver and ENDLESS.search(text) and "num-buffers" not in text:
            wait_for(lambda: line.ended() or receiver.has_all())
            line.interrupt()
        line.finish()
        if sends and receiver:
            receiver.finish()
            receiver = None
    if receiver:
        raise Failed(f"nothing is sent to: {receiver.text}")


PORT = r"(\bport=|127\.0\.0\.1:)(\d+)"


def ports_in(text):
    return {port for _, port in re.findall(PORT, text)}


def with_ports(text, ports):
    return re.sub(PORT, lambda m: m[1] + ports.get(m[2], m[2]), text)


def make_clips(directory):
    """Makes replacements for the long clips that the pages use. The clips in
    `directory` have the same file names as the long clips, but they are small
    and last one second.
    """
    video, ts = directory / "bunny-6M.m2v", directory / "bunny-6M.ts"
    ffmpeg = "ffmpeg -nostdin -v error -y".split()
    subprocess.run([*ffmpeg, "-i", FILM, *"-an -vf scale=352:288 -r 25 "
                    "-pix_fmt yuv420p -c:v mpeg2video -g 15 -bf 2 -b:v 1M "
                    "-frames:v 25 -f mpeg2video".split(), video], check=True)
    subprocess.run([*ffmpeg, *"-fflags +genpts -r 25 -i".split(), video,
                    "-i", FILM, *"-map 0:v -map 1:a -t 1 -c:v copy -c:a mp2 "
                    "-ac 2 -b:a 192k -f mpegts".split(), ts], check=True)
    subprocess.run([*ffmpeg, "-i", video, *"-c:v libx264 -bf 2".split(),
                    directory / "bunny-6M.h264.mp4"], check=True)


# -------------------------------------------------------------------- the tests

def count_cells(row):
    r"""Returns the number of cells in a row of a Markdown table. An escaped bar
    (\|) does not separate cells.
    """
    return len(re.findall(r"(?<!\\)\|", row.strip())) - 1


@functools.cache
def anchors_of(page):
    """Returns the anchors of all headings of a page. A link to a heading
    contains the anchor, which GitHub derives from the text of the heading."""
    anchors = set()
    for heading in re.findall(r"(?m)^#+ (.+)$", page.read_text()):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        text = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        count = sum(re.fullmatch(re.escape(text) + r"(-\d+)?", anchor)
                    is not None for anchor in anchors)
        anchors.add(f"{text}-{count}" if count else text)
    return anchors


class Lines(unittest.TestCase):

    def test_every_launch_line_runs_as_pasted(self):
        # This call starts gst-inspect-1.0, which creates GStreamer's registry,
        # the cache of all plugins. Without this call, all launch lines would
        # try to create the registry at the same time.
        inspect("rfc2250pay")
        with tempfile.TemporaryDirectory(dir=BUILD, prefix="docs-") as clips, \
                concurrent.futures.ThreadPoolExecutor(PAGES_AT_ONCE) as pool:
            make_clips(pathlib.Path(clips))
            runs = {page: pool.submit(run_page, page, clips) for page in PAGES}
            total = 0
            for page, run in runs.items():
                with self.subTest(page=page.name):
                    try:
                        total += run.result()
                    except Failed as failure:
                        self.fail(str(failure))
        self.assertGreater(total, 0)

    def test_no_page_has_a_key_to_paste(self):
        """A key that is printed in a page is public, so nobody must use it.
        The page therefore must not contain keys: each command that needs a key
        must read it from a file that the user has created.
        """
        for page in PAGES:
            for key in re.findall(r"\bkey=(?:\(buffer\))?(\S+)",
                                  page.read_text()):
                with self.subTest(page=page.name, key=key):
                    self.assertRegex(key, r"^'?\$\(cat$")

    def test_every_link_has_an_existing_target(self):
        for page in PAGES:
            for link in re.findall(r"\]\(([^)#]+)", page.read_text()):
                with self.subTest(page=page.name, link=link):
                    self.assertTrue("://" in link
                                    or (page.parent / link).exists())

    def test_every_anchor_is_a_heading(self):
        for page in PAGES:
            for link, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)",
                                           page.read_text()):
                target = page.parent / link if link else page
                with self.subTest(page=page.name, link=link, anchor=anchor):
                    self.assertIn(anchor, anchors_of(target.resolve()))

    def test_tables_are_separate_and_complete(self):
        """Checks the tables in the pages. Above a table, there must be an
        empty line or an HTML comment. Each row must have a line of its own and
        as many cells as the header.
        """
        for page in PAGES:
            lines = page.read_text().splitlines()
            for number, line in enumerate(lines):
                if "| --- |" not in line or line.startswith("    "):
                    continue
                with self.subTest(page=page.name, line=number + 1):
                    self.assertRegex(line.strip(), r"^\|( --- \|)+$")
                    self.assertRegex(lines[number - 2].strip(), r"^$|-->$")
                    for row in itertools.takewhile(
                            lambda text: text.lstrip().startswith("|"),
                            lines[number - 1:]):
                        self.assertEqual(count_cells(row), count_cells(line),
                                         row)

    def test_every_page_is_in_the_list(self):
        listed = (SOURCE / "docs" / "README.md").read_text()
        for page in (SOURCE / "docs").glob("*.md"):
            with self.subTest(page=page.name):
                self.assertTrue(page.name == "README.md"
                                or f"({page.name})" in listed)


class Sources(unittest.TestCase):
    """Checks the documentation comments in the source code. The comment of
    each element and of each public symbol must have a tag "Since:" with a
    version.
    """

    # The files that declare the complete public interface of the library
    # libgstwireless-1.0 (see CONTRIBUTING.md).
    PUBLIC = ("gst/common/gstcoveragemeta", "gst/common/gstframeinfometa")

    @staticmethod
    def comments(path):
        return re.findall(r"^/\*\*\n(.*?)\*/", path.read_text(), re.M | re.S)

    def test_every_element_has_a_since_tag(self):
        found = [comment for directory in ("gst", "ext")
                 for path in sorted((SOURCE / directory).rglob("*.c"))
                 for comment in self.comments(path) if "SECTION:" in comment]
        self.assertGreater(len(found), 0)
        for comment in found:
            with self.subTest(element=comment.split()[1]):
                self.assertRegex(comment, r"\* Since: \d")

    def test_every_public_symbol_has_a_since_tag(self):
        found = [comment for name in self.PUBLIC for ending in (".c", ".h")
                 for comment in self.comments(SOURCE / (name + ending))]
        self.assertGreater(len(found), 0)
        for comment in found:
            with self.subTest(symbol=comment.split()[1]):
                self.assertRegex(comment, r"\* Since: \d")


class Papers(unittest.TestCase):
    """Checks the tables in the pages about papers (docs/papers*.md). The
    column "command" must contain the tests and programs that print the results
    of this project.
    """

    PAGES = sorted((SOURCE / "docs").glob("papers*.md"))
    # Each cell of the column "command" must name a test or a program, unless
    # this expression matches the cell.
    OTHERWISE = r"below|–|none\b.*|\[.*\]\(.*\)"

    @classmethod
    def setUpClass(cls):
        tests = json.loads(
            (BUILD / "meson-info" / "intro-tests.json").read_text())
        cls.suites = {test["name"]: [suite.rsplit(":", 1)[-1]
                                     for suite in test["suite"]]
                      for test in tests}

    def test_commands_are_tests_or_programs(self):
        found = 0
        for page in self.PAGES:
            for cell in last_cells(page.read_text(), "command"):
                names = re.findall(r"`([^`]+)`", cell)
                found += len(names)
                with self.subTest(page=page.name, cell=cell):
                    self.assertTrue(names or re.fullmatch(self.OTHERWISE, cell))
                    for name in names:
                        self.assertTrue(name in self.suites
                                        or (SOURCE / name).is_file(), name)
        self.assertGreater(found, 0)

    def test_lines_of_meson_name_existing_tests(self):
        for page in self.PAGES:
            for line in code_lines(page.read_text()):
                if not line.startswith("meson test "):
                    continue
                words = shlex.split(line.replace(" -C build", "", 1))[2:]
                is_long = "--suite" in words
                names = [word for word in words
                         if word not in ("--suite", "long", "-v")]
                with self.subTest(page=page.name, line=line):
                    self.assertGreater(len(names), 0)
                    for name in names:
                        self.assertEqual("long" in self.suites[name], is_long)


class Elements(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.built = built_elements()
        cls.elements = [name for name in cls.built if name not in OTHER_NAMES]
        cls.pages = {
            page.stem: Described(page)
            for page in (SOURCE / "docs").glob("*.md")
            if section(page.read_text(), "Properties")}

    def test_every_element_has_a_page_and_every_page_an_element(self):
        self.assertEqual(sorted(self.elements), sorted(self.pages))

    def test_another_name_is_the_same_element(self):
        for name, element in OTHER_NAMES.items():
            with self.subTest(name=name):
                self.assertIn(name, self.built)
                self.assertEqual(Inspected(name).defaults,
                                 Inspected(element).defaults)

    def test_properties_and_defaults(self):
        for element, page in self.pages.items():
            with self.subTest(element=element):
                self.assertEqual(page.defaults, Inspected(element).defaults)

    def test_each_value_of_an_enumeration_is_in_the_row_of_its_property(self):
        for element, page in self.pages.items():
            for name, values in Inspected(element).values.items():
                row = page.words.get(name, "")
                with self.subTest(element=element, name=name):
                    self.assertLessEqual(set(values),
                                         set(re.findall("`([^`]+)`", row)))

    def test_each_link_profile_is_in_the_first_table_of_links(self):
        first, _, _ = (SOURCE / "docs" / "links.md").read_text().partition(
            "\n## ")
        in_table = [name for row in table_rows(first)
                    for name in names_in(row[0])]
        self.assertEqual(sorted(in_table),
                         sorted(Inspected("wirelesslink").values["profile"]))

    def test_when_properties_may_change(self):
        for element, page in self.pages.items():
            for name, ready_only in Inspected(element).ready_only.items():
                said = re.search("READY|take effect at start",
                                 page.words.get(name, ""))
                with self.subTest(element=element, name=name):
                    self.assertEqual(bool(said), ready_only)

    def test_keys_of_uris(self):
        for element, page in self.pages.items():
            if "uri" not in page.defaults:
                continue
            with self.subTest(element=element):
                self.assertEqual(page.uri_keys, keys_of_uris(element))

    def test_statistics_that_troubleshooting_names(self):
        text = (SOURCE / "docs" / "troubleshooting.md").read_text()
        said = set()
        for field, elements in re.findall(
                r"`([a-z0-9-]+)` of ((?:`[a-z0-9]+`(?:, | or )?)+)", text):
            said |= {(field, element)
                     for element in re.findall(r"`([a-z0-9]+)`", elements)
                     if element in self.built}
        self.assertGreater(len(said), 20)
        for field, element in said:
            found = Inspected(element)
            with self.subTest(element=element, field=field):
                self.assertTrue(field in found.defaults or any(
                    field in names for names in found.stats.values()))

    def test_statistics(self):
        for element, page in self.pages.items():
            with self.subTest(element=element):
                self.assertEqual(
                    page.stats,
                    Inspected(element).stats.get(page.stats_property))


class Units(unittest.TestCase):
    """Checks docs/properties.md, which must list every property of the
    project's elements with its unit.
    """

    # Some elements that belong to GStreamer. The project's elements have the
    # same base classes as these elements, and inherit the properties of the
    # base classes. The test therefore ignores every property that one of these
    # elements has.
    BASES = ("fakesink", "fakesrc", "identity", "bin", "rtpmpvpay",
             "rtpmpvdepay")
    UNIT = re.compile(r"\((ms|ns|bytes|bit/s|packets|frames/s|frames|blocks"
                      r"|seconds|per second|changes/s|Hz)\b")
    NUMBER = re.compile(r"^ *(?:Unsigned )?Integer(?:64)?\. |^ *Double\. ",
                        re.M)
    # Matches the description of a property whose value is a number without a
    # unit, such as a fraction or a count. The description of a count says what
    # is counted.
    WITHOUT = re.compile(r"number of|port\b|\b0 to (?:0\.5|0\.9|1)\b|code point"
                         r"|Seed|Descriptor|coverage|Ouwens|Maximum number"
                         r"|Deprecated|transmissions", re.I)

    @staticmethod
    def texts(element):
        """Reads the output of gst-inspect-1.0. Returns {property: (its blurb,
        the lines below the blurb)}."""
        _, _, text = inspect(element).partition("Element Properties:\n")
        text = text.partition("\nElement Signals:")[0]
        return {name: (blurb, rest) for name, blurb, rest in re.findall(
            r"^  ([a-z][a-z0-9-]*) *: (.*)\n((?: {10,}.*\n?|\n)*)", text,
            re.M)}

    @classmethod
    def table(cls):
        """Reads the units of all properties from the blurbs of the elements.
        Returns {(property, unit): elements that have this property}.
        """
        base = {name for element in cls.BASES for name in cls.texts(element)}
        found = {}
        for element in built_elements():
            if element in OTHER_NAMES.values():
                continue
            for name, (blurb, _) in cls.texts(element).items():
                if name in base:
                    continue
                unit = cls.UNIT.search(blurb)
                if "one is in ns" in blurb:
                    unit = "ns"
                else:
                    unit = unit[1] if unit else "–"
                found.setdefault((name, unit), []).append(element)
        return found

    def test_the_table_is_that_of_the_elements(self):
        page = (SOURCE / "docs" / "properties.md").read_text()
        rows = section(page, "All properties").splitlines()[7:]
        self.assertEqual(
            [row for row in rows if row],
            [f"| `{name}` | {unit} | "
             f"{', '.join(f'`{element}`' for element in sorted(elements))} |"
             for (name, unit), elements in sorted(self.table().items())])

    def test_each_number_has_a_unit_or_is_a_count(self):
        base = {name for element in self.BASES for name in self.texts(element)}
        for element in built_elements():
            for name, (blurb, rest) in self.texts(element).items():
                if name in base or not self.NUMBER.search(rest):
                    continue
                with self.subTest(element=element, name=name, text=blurb):
                    self.assertTrue(self.UNIT.search(blurb)
                                    or self.WITHOUT.search(blurb))

    def test_each_text_is_a_sentence_without_a_bare_pronoun(self):
        base = {name for element in self.BASES for name in self.texts(element)}
        for element in built_elements():
            for name, (blurb, _) in self.texts(element).items():
                if name not in base:
                    with self.subTest(element=element, name=name, text=blurb):
                        self.assertNotRegex(
                            blurb, r"^(?:Who|Of|That|The same)\b")


if __name__ == "__main__":
    unittest.main()
