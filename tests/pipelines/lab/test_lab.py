# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the lab, the program that runs the experiments of a matrix file and
reports their results. The tests use the lab as its user does: they run the
experiments of a matrix file, continue after an interruption, and change the
matrix file.
"""

import collections
import contextlib
import csv
import html.parser
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
from unittest import mock

import test_demo
import test_testbed

from wirelesslab import files
from wirelesslab.commands import demo, demo_comparison
from wirelesslab.errors import LabError
from wirelesslab.lab import grid, matrix
from wirelesslab.report import run_results
from wirelesslab.streams import measurements, transports

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"])
LAB = SOURCE / "pipelines" / "lab"

SECONDS_TO_WAIT = 120
FOR_EVER_MS = 10**9
# Number of plots that a report contains for each group of runs.
PLOTS = 12
MATRIX = """
[matrix]
protocols = {protocols}
rates = {rate}
seconds = {seconds}
[link radio]
properties = {properties}
interference = {interference}
[protocol mine]
computed = yes
sender = filesrc location={{clip}} ! mpegstat location={{sent}} ! rfc2250pay
receiver = rfc2250depay ! mpegstat location={{received}} ! {more} fakesink sync=false async=false
[protocol other]
computed = yes
sender = filesrc location={{clip}} ! noelement location={{sent}}
receiver = fakesink name={{received}}
[protocol broken]
computed = yes
sender = filesrc location={{clip}} ! mpegstat location={{sent}} ! rfc2250pay
receiver = rfc2250depay ! mpegstat location={{received}} ! fakesink nosuch=1
"""  # noqa: E501


def python_that_can_report():
    """Returns the Python interpreter that pipelines/lab would choose to make a
    report. Returns None if no interpreter has the necessary modules.
    """
    for python in ("python3", "/usr/bin/python3"):
        if shutil.which(python) and subprocess.run(
                [python, "-c", "import jinja2, matplotlib"],
                stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


def hashes(video):
    """Returns the hashes of the pictures that ffmpeg decodes from a video."""
    done = subprocess.run(
        ["ffmpeg", "-v", "quiet", "-i", video, "-fps_mode", "passthrough",
         "-f", "framemd5", "-"], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, text=True)
    return [line.split(",")[-1].strip() for line in done.stdout.splitlines()
            if not line.startswith("#")]


def types(video):
    """Returns the types of the pictures that ffmpeg decodes from a video."""
    return subprocess.run(
        ["ffprobe", "-v", "quiet", "-show_entries", "frame=pict_type", "-of",
         "csv=print_section=0", video], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, text=True).stdout.replace(",", "").split()


def coded(video):
    """Counts the coded pictures of an MPEG-2 file. Returns {(type, bytes):
    number of pictures with this type and these bytes}. The file is cut into
    pictures at the start codes of pictures, GOPs and sequences."""
    parts = re.split(rb"\0\0\x01(?=[\0\xb3\xb7\xb8])", video.read_bytes())
    return collections.Counter(
        (" IPB"[part[2] >> 3 & 7], part.rstrip(b"\0"))
        for part in parts if part.startswith(b"\0"))


class LabCase(unittest.TestCase):
    def setUp(self):
        for element in ("mpegstat", "rfc2250pay", "wirelesslink"):
            if not test_testbed.has_element(element):
                self.skipTest(f"{element} is not built")
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.output = self.directory / "out"

    def lab(self, *words):
        return subprocess.run(
            [LAB, *words, "--build", BUILD], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=SECONDS_TO_WAIT)

    def grid(self, *words, protocols="mine", interference="none 0.5-1",
             rate=3, seconds=2, properties="profile=80211b",
             more=""):
        path = self.directory / "matrix.ini"
        path.write_text(MATRIX.format(protocols=protocols,
                                      interference=interference,
                                      rate=rate, seconds=seconds,
                                      properties=properties, more=more))
        return self.lab("grid", path, "--output", self.output, *words)

    def results(self):
        """Returns a dictionary that maps the name of each result to the time
        at which the file of this result was written.
        """
        return {str(path.parent.relative_to(self.output)):
                path.stat().st_mtime_ns
                for path in self.output.glob("*/*/*/*/result.json")}


class LabTest(LabCase):

    def test_a_cell_with_a_result_is_not_run_again(self):
        """The function left_to_run() decides which cells (experiments) still
        have to be run. If Snakemake is installed, Snakemake runs these cells.
        Otherwise, the loop in grid.py runs them. This test checks the decision
        of left_to_run(). The test must pass with and without Snakemake.
        """
        done = self.grid()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("2 cells, 2 of them to run", done.stdout)
        self.assertIn("2 done, 0 flagged, 0 failed", done.stdout)
        first = self.results()
        self.assertEqual(len(first), 2)
        # If a run was interrupted, there are logs of it, but no result. The
        # lab must run it again.
        name = "radio_interference=none/3M/mine/1-1"
        (self.output / name / "result.json").unlink()
        done = self.grid()
        self.assertIn("2 cells, 1 of them to run", done.stdout)
        again = self.results()
        self.assertGreater(again.pop(name), first.pop(name))
        self.assertEqual(again, first)

    def test_a_run_has_its_logs_and_its_description(self):
        done = self.grid("--plain", interference="0.5-1")
        self.assertEqual(done.returncode, 0, done.stdout)
        (name,) = self.results()
        directory = self.output / name
        for log in ("sent.csv", "received.csv", "wl0.log", "packets.rtp"):
            self.assertGreater((directory / log).stat().st_size, 0, log)
        result = json.loads((directory / "result.json").read_text())
        self.assertEqual(result["cell"]["seed"], 1)
        self.assertEqual(result["machine"]["gstreamer"].split(".")[0], "1")
        self.assertFalse(result["lateness"]["flagged"])
        # A second run of this experiment, with the same seed, must write an
        # identical log of the link.
        log = (directory / "wl0.log").read_bytes()
        done = self.lab("run", directory)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual((directory / "wl0.log").read_bytes(), log)

    def test_a_decoder_decodes_exactly_the_decodable_frames(self):
        """Decodes the clip and the received video with ffmpeg, and compares the
        hashes of their pictures. ffmpeg also shows damaged pictures, but their
        hashes differ from those of the clip. The number of decodable frames in
        the table must equal the number of identical pictures.

        Also compares the bytes of the coded frames. In the table, the number of
        frames in time plus the number of late frames must equal the number of
        identical frames."""
        video = self.directory / "received.m2v"
        done = self.grid(
            "--plain", interference="0.5-3", seconds=4,
            properties="profile=80211b retry-limit=1 queue=ifd",
            more=f"tee name=t t. ! queue ! filesink location={video} "
            "async=false t. ! queue !")
        self.assertEqual(done.returncode, 0, done.stdout)
        (run,), _, _ = run_results.read(self.output, BUILD, FOR_EVER_MS)
        sent = hashes(run.clip())
        whole = {sent.index(picture) for picture in hashes(video)
                 if picture in sent}
        self.assertEqual(len(set(sent)), len(run.passages))
        self.assertEqual(whole, {number for place, number
                                 in enumerate(run.shown) if number == place})
        arrived = measurements.arrived(run.passages)
        self.assertLess(0, len(whole))
        self.assertLess(len(whole), len(arrived))
        self.assertLess(len(arrived), len(sent))
        numbers = run.numbers()
        same = coded(run.clip()) & coded(video)
        of_type = types(run.clip())
        for type in "IPB":
            self.assertEqual(
                numbers[f"decodable {type}"],
                sum(of_type[number] == type for number in whole), type)
            self.assertEqual(
                numbers[f"in time {type}"] + numbers[f"late {type}"], sum(
                    count for (own, _), count in same.items() if own == type))

    def test_a_killed_grid_leaves_nothing_behind(self):
        """Kills the lab while it runs cells (experiments). If Snakemake is
        installed, the lab runs the cells with Snakemake. All processes that
        the lab has started must end. No cell may have a result, because no
        cell was finished.
        """
        if test_testbed.why_no_namespaces():
            self.skipTest(test_testbed.why_no_namespaces())
        path = self.directory / "matrix.ini"
        path.write_text(MATRIX.format(
            protocols="rtp", rate=3, seconds=60, more="",
            properties="profile=80211b", interference="none"))
        grid = subprocess.Popen(
            [LAB, "grid", path, "--output", self.output, "--build", BUILD],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, test_demo.MARK: self.id()})
        self.addCleanup(grid.wait)
        self.addCleanup(grid.kill)
        self.assertTrue(test_demo.wait_for(lambda: 3 == sum(
            name.startswith("gst-launch")
            for _, name in test_demo.marked_processes(self.id()))))
        grid.kill()
        self.assertNotEqual(grid.wait(SECONDS_TO_WAIT), 0)
        self.assertTrue(test_demo.wait_for(
            lambda: not test_demo.marked_processes(self.id())),
            test_demo.marked_processes(self.id()))
        self.assertEqual(self.results(), {})

    def test_a_failed_cell_is_named_and_the_others_are_run(self):
        done = self.grid("--plain", protocols="mine broken",
                         interference="0.5-1")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("1 done, 0 flagged, 1 failed", done.stdout)
        self.assertRegex(done.stdout, "interference=0.5-1/3M/broken/1-1 "
                                      "failed: (?s:.*)run.out")
        self.assertNotIn("Traceback", done.stdout)

    def test_properties_that_wirelesslink_rejects_are_reported_first(self):
        path = self.directory / "matrix.ini"
        text = MATRIX.format(protocols="mine", interference="none", rate=3,
                             seconds=2, properties="profile=80211b", more="")
        for changed, words in (
                (text.replace("interference = none", "bogus = 1"),
                 "[link radio]: wirelesslink rejects its properties "
                 "'profile=80211b bogus=1': no property \"bogus\""),
                (text.replace("profile=80211b", "rate=x"),
                 "[link radio]: wirelesslink rejects its properties 'rate=x "
                 "interference=none': could not set property \"rate\""),
                (text.replace("profile=80211b", "nosuch=1"),
                 "no property \"nosuch\""),
                (text.replace("[protocol mine]",
                              "[protocol mine]\nlink = nosuch=1"),
                 "protocol mine: wirelesslink rejects its key link 'nosuch=1': "
                 "no property \"nosuch\"")):
            path.write_text(changed)
            done = self.lab("grid", path, "--output", self.output)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"{path}: ", done.stdout)
            self.assertIn(words, done.stdout)
            self.assertFalse(self.output.exists())

    def test_the_reason_of_a_failed_run_fits_one_line(self):
        path = self.directory / "run.out"
        for said, told in (
                ("link wl0 ended (exit status 1). The end of its output:\n  "
                 "WARNING: "
                 "erroneous pipeline: no property \"a\" in element \"b\"\n",
                 'link wl0 ended (exit status 1): no property "a" in element '
                 '"b"'),
                ("the sender failed (exit status 1). The end of its output:\n"
                 "  New clock: x\n  ERROR: from element "
                 "/GstPipeline:p/GstX:x0: No room\n  Additional",
                 "the sender failed (exit status 1): GstX:x0: No room"),
                ("the pipeline failed (exit status 255):\n  ERROR: from "
                 "element /GstPipeline:p/GstX:x0: No room\n",
                 "the pipeline failed (exit status 255): GstX:x0: No room"),
                ("no room", "no room")):
            path.write_text(f"Making it ...\npipelines/lab: {said}\n")
            self.assertEqual(grid.first_words(path), f"{told} ({path})")

    def test_a_full_disk_is_named(self):
        path = self.directory / "run.out"
        path.touch()
        self.assertEqual(grid.first_words(path), str(path))
        usage = shutil.disk_usage(self.directory)._replace(free=4096)
        with mock.patch.object(shutil, "disk_usage", return_value=usage):
            self.assertEqual(grid.first_words(path),
                             f"{path}, and the disk is full")
        full = self.directory / ".result.json"
        full.symlink_to("/dev/full")
        with self.assertRaisesRegex(
                LabError, "/result.json: No space left on device"):
            files.write_whole(self.directory / "result.json", "some")

    def test_a_protocol_without_its_elements_is_left_out_and_named(self):
        done = self.grid("--list", protocols="mine other")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("left out other: GStreamer has no noelement",
                      done.stdout)
        self.assertIn("\nradio_interference=none/3M/mine/1-1\n", done.stdout)

    def test_without_namespaces_only_udp_protocols_are_run(self):
        with mock.patch.object(grid.testbed, "why_no_hosts",
                               return_value="as user: no"):
            found, words = grid.without_hosts(
                matrix.read(demo_comparison.BOTTLENECK))
        names = {cell["protocol"]["name"] for cell in found}
        self.assertLessEqual({"rtp", "mmtp", "dccpthin", "srt"}, names)
        self.assertFalse({"ifd", "tcp", "udplite"} & names)
        self.assertIn("no network namespaces for hosts here (as user: no)",
                      words[0])
        self.assertRegex(words[1], "^left out ifd, .*tcp.*: not over UDP$")

    def test_a_grid_prints_the_remaining_time(self):
        done = self.grid("--plain", interference="none 0.5-1 1-2 0-2 0-1")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"(?m)^1/5 .* \(about \d+ s left\)$")
        self.assertRegex(done.stdout, r"(?m)^5/5 .* done$")
        loop = grid.Loop([], self.output, BUILD, 2)
        loop._left, loop._running = ["a cell"] * 7, ["a cell"] * 2
        loop._seconds = [10, 20]
        self.assertEqual(loop._time_left(), " (about 60 s left)")
        self.assertEqual([grid.duration(seconds) for seconds in
                          (59.6, 119, 120, 7199, 9000)],
                         ["60 s", "119 s", "2 min", "120 min", "2 h"])

    def test_with_namespaces_nothing_is_left_out(self):
        cells = matrix.read(demo_comparison.BOTTLENECK)
        with mock.patch.object(grid.testbed, "why_no_hosts", return_value=""):
            self.assertEqual(grid.without_hosts(cells), (cells, []))

    @test_testbed.needs_namespaces
    def test_a_run_in_real_time_reports_the_lateness_of_the_machine(self):
        done = self.grid("--plain", protocols="rtp", interference="none",
                         seconds=1)
        self.assertEqual(done.returncode, 0, done.stdout)
        (name,) = self.results()
        result = json.loads(
            (self.output / name / "result.json").read_text())
        self.assertGreaterEqual(result["lateness"]["machine_p99_ms"], 0)
        self.assertGreaterEqual(result["lateness"]["link_p99_ms"], 0)
        words = "flagged" if result["lateness"]["flagged"] else "done"
        self.assertIn(f"{name} {words}", done.stdout)

    def test_the_demo_compares_when_nothing_else_is_asked_for(self):
        for words, expected in (([], True), (["--build", "/tmp"], True),
                                (["--all"], True), (["--rate", "3"], False),
                                (["--link", ""], False)):
            with self.subTest(words=words), \
                    mock.patch("sys.argv", ["demo", *words]):
                self.assertEqual(demo.parse_arguments(
                    transports.read()).all, expected)
        with mock.patch("sys.argv", ["demo", "--all", "--rate", "3"]), \
                contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertRaises(SystemExit, demo.parse_arguments,
                              transports.read())
        self.assertIn("--all cannot be combined with any option",
                      said.getvalue())


class Page(html.parser.HTMLParser):
    """Parses the HTML page `path`. Collects the text of the page, the files
    that it loads, and the targets of its links.
    """

    def __init__(self, path):
        super().__init__()
        self.words, self.loads, self.links, self.ids = "", [], [], []
        self.feed(path.read_text())
        self.close()

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "src":
                self.loads.append(value)
            elif name == "href":
                self.links.append(value)
            elif name == "id":
                self.ids.append(value)

    def handle_data(self, data):
        self.words += data


class ReportTest(LabCase):

    def compare(self):
        """Runs the demo with two cells (experiments), of which the second
        fails. Returns the output of the demo.
        """
        path = self.directory / "demo.ini"
        path.write_text(MATRIX.format(
            protocols="mine other", rate=6, seconds=2, more="",
            properties="profile=80211b", interference="nonsense 0.5-1"))
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            demo_comparison.run(BUILD, self.output, path, None, ())
        return printed.getvalue()

    def test_the_demo_has_a_table_and_a_page_of_all_runs(self):
        text = self.compare()
        self.assertIn("left out other: GStreamer has no noelement", text)
        self.assertIn("1 done, 0 flagged, 1 failed", text)
        (name,) = self.results()
        self.check_table(text, self.output / name)
        last = text.splitlines()[-1]
        if python_that_can_report():
            self.assertNotIn("no report.html", last)
            self.check_page(Page(self.output / "report.html"))
            self.check_numbers(self.output / name)
        else:
            self.assertIn("no report.html", last)

    @unittest.skipUnless(python_that_can_report(),
                         "no Python has Jinja2 and matplotlib")
    def test_points_of_many_protocols_are_distinguishable(self):
        done = subprocess.run(
            [python_that_can_report(), "-c",
             "from wirelesslab.report import plots\n"
             "points = [plots.dotted(plots.look(n)) for n in range(32)]\n"
             "print(len({(one['color'], one['marker']) for one in points}),"
             "{one['linestyle'] for one in points})"],
            stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE)
        self.assertEqual(done.stdout, "32 {''}\n")

    @unittest.skipUnless(python_that_can_report(),
                         "no Python has Jinja2 and matplotlib")
    def test_a_link_without_logged_states_has_none_drawn(self):
        done = subprocess.run(
            [python_that_can_report(), "-c", """
import types
from wirelesslab.report import plots
for changes in [], [(0, 0.9), (1e9, 0.5)]:
    figure, ax = plots.axes("", "")
    plots.draw_link(ax, {"": types.SimpleNamespace(
        cell={"seconds": 2, "link": {"title": ""}},
        quality_of_link=lambda *_: changes)})
    print(len(ax.collections), ax.get_title(loc="left"))
"""], stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE)
        self.assertEqual(done.stdout, (
            "0 link: its state never changed\n"
            "1 link: packets through at the first attempt, %\n"))

    @unittest.skipUnless(python_that_can_report(),
                         "no Python has Jinja2 and matplotlib")
    def test_groups_can_be_chosen_and_a_large_page_is_divided(self):
        done = self.grid("--plain", rate="3 6", seconds=1,
                         interference="none 0-1")
        self.assertEqual(done.returncode, 0, done.stdout)
        done = subprocess.run(
            [python_that_can_report(), "-c",
             "import pathlib; from wirelesslab.report import page; "
             "page.LARGEST_PAGE = 0; page.write(pathlib.Path("
             f"{str(self.output)!r}), pathlib.Path({str(BUILD)!r}), 500, "
             f"pathlib.Path({str(self.output / 'page.html')!r}), print, "
             "by='link')"], stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)
        page = Page(self.output / "page.html")
        self.assertEqual(page.loads, [])
        self.assertEqual([link for link in page.links if ".html" in link],
                         ["page/1.html", "page/2.html"])
        one = Page(self.output / "page" / "2.html")
        self.assertEqual(len(one.loads), PLOTS + 1)
        for words in ("mine, radio, clip of 6 Mbit/s", "interference=none",
                      "interference=0-1"):
            self.assertIn(words, one.words)
        for link in one.links:
            self.assertTrue((self.output / "page" / link).exists(), link)
        done = self.lab("report", self.output, "--only", "none 3 mbit")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("interference=none, clip of 3 Mbit/s",
                      Page(self.output / "report.html").words)
        self.assertNotIn("6 Mbit/s", Page(self.output / "report.html").words)
        done = self.lab("report", self.output, "--only", "nothing")
        self.assertIn("no group has all words of 'nothing' in its title",
                      done.stdout)

    @unittest.skipUnless(python_that_can_report(),
                         "no Python has Jinja2 and matplotlib")
    def test_a_report_removes_nothing_but_an_older_report(self):
        done = self.grid("--plain", interference="none", seconds=1)
        self.assertEqual(done.returncode, 0, done.stdout)
        there = self.results()
        beside = self.directory / "own"
        beside.mkdir()
        (beside / "letter").write_text("dear\n")
        linked = self.directory / "linked"
        linked.symlink_to(self.output)
        for page, words in (
                (f"{self.output}.html", "contains the runs"),
                (f"{self.directory}.html", "contains the runs"),
                (self.output / "radio_interference=none.html",
                 "was not made by"),
                (beside / ".." / "own.html", "was not made by"),
                (f"{linked}.html", "contains the runs"),
                (self.directory / "own", "needs a suffix")):
            with self.subTest(page=page):
                done = self.lab("report", self.output, "--page", page)
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn(words, done.stdout)
                self.assertEqual(self.results(), there)
                self.assertEqual((beside / "letter").read_text(), "dear\n")
        for _ in "12":
            done = self.lab("report", self.output)
            self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.results(), there)
        (self.output / "report" / "1-1").mkdir()
        (self.output / "report" / "1-1" / "cell.json").write_text("{}")
        done = self.lab("report", self.output)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("contains runs", done.stdout)

    def check_table(self, text, directory):
        """Checks the table in `text`, the output of the demo. For each picture
        type, the table must contain the percentage of the sent frames that
        arrived. The expected percentage is computed from received.csv, the log
        of the receiver in `directory`. This table contains no counts of
        frames, because the first table of the HTML report contains them.
        """
        self.assertIn("\n1. A link that is too slow\n", text)
        self.assertIn("interference=0.5-1", text)
        heads, row = (re.split("  +", line.strip()) for line in re.search(
            r"^(sender .*)\n(mine.*|rfc2250pay.*)$", text, re.M).groups())
        found = dict(zip(heads, row, strict=True))
        # All frames in the receiver's log arrived in time, so the test counts
        # all of them.
        log = (directory / "received.csv").read_text().splitlines()
        for type, sent in (("I", 4), ("P", 13), ("B", 32)):
            arrived = sum(line.split(",")[0::5][:2] == ["frame", type]
                          for line in log)
            self.assertEqual(found[f"{type} %"], f"{100 * arrived / sent:.0f}")

    def check_page(self, page):
        # The page contains all plots, and a video that shows what was sent and
        # what was received. The plots and the video are embedded as data URLs,
        # so the page loads no other file.
        self.assertEqual(len(page.loads), PLOTS + 1)
        for source in page.loads:
            self.assertRegex(source, r"^data:(image/svg\+xml|video/mp4);base64,"
                             ".{1000}")
        for link in page.links:
            self.assertTrue(link.lstrip("#") in page.ids
                            or (self.output / link).exists(), link)
        self.assertIn("#group-1", page.links)
        for words in ("1 run is missing", "saw in the worst 1.96 seconds",
                      "interference=0.5-1, clip of 6 Mbit/s",
                      "pipelines/demo", "GStreamer", "kernel", "commit",
                      "profile=80211b interference=0.5-1"):
            self.assertIn(words, page.words)
        self.assertNotRegex(page.words, r"\bnan\b")

    def check_numbers(self, directory):
        with open(self.output / "report" / "runs.csv") as file:
            (run,) = csv.DictReader(file)
        self.assertEqual((run["rate Mbit/s"], run["codec"]), ("6", "mpeg2"))
        for type, sent in (("I", 4), ("P", 13), ("B", 32)):
            self.assertEqual(int(run[f"sent {type}"]), sent)
            self.assertEqual(sent, sum(int(run[f"{what} {type}"]) for what in
                                       ("lost", "late", "in time")))
        # The table of the report contains the number of packets and the share
        # of lost packets. Both must agree with the log of the link.
        fates = [line.split()[6] for line in (
            directory / "wl0.log").read_text().splitlines()
            if line.startswith("packet ")]
        self.assertEqual(int(run["packets"]), len(fates))
        self.assertAlmostEqual(
            float(run["packets lost %"]), 100 * (
                1 - fates.count("delivered") / len(fates)))
        self.assertLess(float(run["PSNR dB"]), 60)


if __name__ == "__main__":
    unittest.main()
