# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a killed run leaves is gone after the next; what is in use stays."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

PIPELINES = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"]) / "pipelines"
sys.path.insert(0, str(PIPELINES))
import clips  # noqa: E402
import leftovers  # noqa: E402

KILLED = """
import os, pathlib, signal, sys, leftovers
run = leftovers.RunDirectory(pathlib.Path(sys.argv[1]), "killed-")
(run.path / "film").write_text("large")
os.kill(os.getpid(), signal.SIGKILL)
"""


class Directory(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)


class RunDirectoryTest(Directory):
    def names(self):
        return {path.name for path in self.directory.glob("[!.]*")}

    def run_directory(self):
        return leftovers.RunDirectory(self.directory, "run-")

    def test_is_gone_after_the_run(self):
        run = self.run_directory()
        self.assertEqual(self.names(), {run.path.name})
        run.close()
        self.assertEqual(self.names(), set())

    def test_is_kept_for_who_wants_it(self):
        kept = self.run_directory()
        kept.keep = True
        kept.close()
        self.assertEqual(list(kept.path.iterdir()), [])
        self.run_directory().close()
        self.assertEqual(self.names(), {kept.path.name})

    def test_that_of_a_killed_run_goes_with_the_next(self):
        status = subprocess.run(
            [sys.executable, "-c", KILLED, self.directory],
            env=dict(os.environ, PYTHONPATH=str(PIPELINES))).returncode
        self.assertEqual(status, -signal.SIGKILL)
        self.assertEqual(len(self.names()), 1)
        run = self.run_directory()
        self.addCleanup(run.close)
        self.assertEqual(self.names(), {run.path.name})

    def test_that_of_a_living_run_stays(self):
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

    def test_who_waited_for_another_to_make_it_does_not_make_it_again(self):
        with leftovers.locked(self.directory / ".lock"):
            waiting = threading.Thread(target=self.make)
            waiting.start()
            waiting.join(0.2)
            self.assertTrue(waiting.is_alive())
            self.clip.write_text("film")
        waiting.join()
        self.assertEqual(self.made, 0)


if __name__ == "__main__":
    unittest.main()
