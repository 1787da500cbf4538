# SPDX-License-Identifier: LGPL-2.1-or-later
"""If the lab is killed, it leaves files behind. The tests check that the next
run of the lab removes these files, but not files that another process still
uses.
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

from wirelesslab import files
from wirelesslab.errors import LabError
from wirelesslab.report import output_directory
from wirelesslab.streams import clips

PIPELINES = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"]) / "pipelines"

KILLED = """
import os, pathlib, signal, sys
from wirelesslab import files
run = files.RunDirectory(pathlib.Path(sys.argv[1]), "killed-")
(run.path / "film").write_text("large")
os.kill(os.getpid(), signal.SIGKILL)
"""


class Directory(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)


class ReportFilesTest(Directory):
    """A report consists of a page and a directory with plots and tables. The
    directory has the name of the page without the suffix. The user chooses the
    name of the page, so a directory of this name may already exist. If an older
    report made this directory, the new report replaces its content. If the
    directory contains files that no report made, an error is raised."""

    def setUp(self):
        super().setUp()
        self.runs = self.directory / "runs"
        self.cell = self.runs / "radio" / "cell.json"
        self.cell.parent.mkdir(parents=True)
        self.cell.write_text("{}")

    def make(self, page):
        return output_directory.make_beside(self.directory / page, self.runs)

    def check_refused(self, page, words):
        before = sorted(self.directory.rglob("*"))
        with self.assertRaisesRegex(LabError, words):
            self.make(page)
        self.assertEqual(sorted(self.directory.rglob("*")), before)

    def test_an_older_report_is_replaced(self):
        beside = self.make("runs/report.html")
        self.assertEqual(beside, self.runs / "report")
        (beside / "group").mkdir()
        (beside / "group" / "plot.png").write_text("old")
        (beside / "runs.csv").write_text("old")
        (beside / "linked").symlink_to(self.runs)
        self.assertEqual(self.make("runs/report.html"), beside)
        self.assertEqual([path.name for path in beside.iterdir()],
                         [output_directory.MARKER])
        self.assertTrue(self.cell.exists())

    def test_an_empty_directory_is_taken(self):
        (self.directory / "new").mkdir()
        self.make("new.html")

    def test_the_runs_stay(self):
        (self.runs / output_directory.MARKER).touch()
        (self.directory / output_directory.MARKER).touch()
        self.check_refused("runs.html", "contains the runs")
        self.check_refused(f"../{self.directory.name}.html",
                           "contains the runs")

    def test_runs_of_somebody_else_stay(self):
        beside = self.make("page.html")
        (beside / "radio").mkdir()
        (beside / "radio" / "cell.json").write_text("{}")
        self.check_refused("page.html", "contains runs")

    def test_files_that_no_report_made_are_kept(self):
        (self.directory / "letters").mkdir()
        (self.directory / "letters" / "one").write_text("dear")
        (self.directory / "file").write_text("mine")
        self.check_refused("letters.html", "was not made by this program")
        self.check_refused("runs/radio.html", "was not made by this program")
        self.check_refused("file.html", "is not a directory")

    def test_a_symbolic_link_stays(self):
        beside = self.make("page.html")
        (self.directory / "linked").symlink_to(beside)
        self.check_refused("linked.html", "is a symbolic link")
        (self.directory / "all").symlink_to(self.runs)
        self.check_refused("all.html", "contains the runs")

    def test_a_page_without_an_ending_is_refused(self):
        self.check_refused("runs", "needs a suffix")


class RunDirectoryTest(Directory):
    def names(self):
        return {path.name for path in self.directory.glob("[!.]*")}

    def run_directory(self):
        return files.RunDirectory(self.directory, "run-")

    def test_is_gone_after_the_run(self):
        run = self.run_directory()
        self.assertEqual(self.names(), {run.path.name})
        run.close()
        self.assertEqual(self.names(), set())

    def test_is_kept_if_requested(self):
        kept = self.run_directory()
        kept.keep = True
        kept.close()
        self.assertEqual(list(kept.path.iterdir()), [])
        self.run_directory().close()
        self.assertEqual(self.names(), {kept.path.name})

    def test_the_next_run_removes_the_directory_of_a_killed_run(self):
        status = subprocess.run(
            [sys.executable, "-c", KILLED, self.directory]).returncode
        self.assertEqual(status, -signal.SIGKILL)
        self.assertEqual(len(self.names()), 1)
        run = self.run_directory()
        self.addCleanup(run.close)
        self.assertEqual(self.names(), {run.path.name})

    def test_the_directory_of_a_live_run_is_kept(self):
        first = self.run_directory()
        second = self.run_directory()
        self.assertEqual(self.names(), {first.path.name, second.path.name})
        first.close()
        second.close()


class ClipTest(Directory):
    def setUp(self):
        super().setUp()
        self.clip = self.directory / "bunny-3M.m2v"
        self.made = 0

    def make(self):
        def make_now(path, _arguments):
            self.made += 1
            path.write_text("film")

        with mock.patch.object(clips, "_make_now", make_now):
            clips._make(self.clip, [])

    def test_half_a_clip_of_a_killed_run_goes_with_the_next(self):
        dead = self.directory / ".bunny-6M.m2v.1"
        dead.write_text("half")
        self.make()
        self.assertFalse(dead.exists())
        self.assertTrue(self.clip.exists())

    def test_a_clip_made_by_another_process_is_not_made_again(self):
        with files.locked(self.directory / ".lock"):
            waiting = threading.Thread(target=self.make)
            waiting.start()
            waiting.join(0.2)
            self.assertTrue(waiting.is_alive())
            self.clip.write_text("film")
        waiting.join()
        self.assertEqual(self.made, 0)


if __name__ == "__main__":
    unittest.main()
