# SPDX-License-Identifier: LGPL-2.1-or-later
"""Follows docs/tutorial.md: runs each block of commands on the page, in the
order of the page, in a fresh copy of the source.

A block of code contains commands if it begins with one of the words in
COMMANDS. All other blocks show output. The test decides for each block in
which shell it is run:

- If the text above the block has the words "second shell", the block is run in
  a shell of its own. Its commands are ended with Ctrl-C after the next block
  of the first shell.
- If a block contains "--shell ", its command opens a shell in a testbed. The
  next block is typed into that shell.
- Otherwise, the block is run in the first shell.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import textwrap
import time
import unittest

import test_package

PAGE = pathlib.PurePath("docs/tutorial.md")
COMMANDS = ("./pipelines/", "pipelines/", "gst-launch-1.0 ", "ffmpeg ", "awk ",
            "ping ", "cat >")
# The start of the command that opens a shell with the environment for this
# project. All later commands of the tutorial run in this environment.
DEVENV = "meson devenv "
IN_A_HOST = "--shell "
# The maximum time in s for a block of commands. It is long because the first
# block of the tutorial compiles the whole project.
SECONDS = 1800
BAD = re.compile(r"^.*(?:ERROR|CRITICAL|WARNING).*$", re.M)


def blocks(text):
    """Yields a pair for each indented block of the page: the text between the
    previous block and this block, and the lines of this block.
    """
    words, code = [], []
    for line in [*text.splitlines(), "end"]:
        if line.startswith("    ") or (code and not line):
            code.append(line)
            continue
        if code:
            yield " ".join(words), textwrap.dedent("\n".join(code)).strip()
            words, code = [], []
        words += line.split()


def shell_environment(environment, home):
    """Returns the environment of the shell that the tutorial opens with `meson
    devenv`."""
    said = subprocess.run(
        ["meson", "devenv", "-C", "build", "env", "-0"], cwd=home,
        env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
    return dict(line.split("=", 1) for line in said.split("\0") if "=" in line)


class Reader:
    """Runs the commands of the tutorial as a reader would run them: in one
    terminal, and in some steps in a second terminal."""

    def __init__(self, home):
        self.home = home
        self.second = None
        self.environment = {
            key: value for key, value in os.environ.items()
            if not key.startswith(("GST_", "WIRELESS_", "MESON"))}
        self.environment["SHELL"] = "/bin/sh"

    def start(self, block, typed=None):
        output = tempfile.TemporaryFile("w+")
        child = subprocess.Popen(
            ["sh", "-e", "-c", block], cwd=self.home, env=self.environment,
            stdin=subprocess.PIPE if typed else subprocess.DEVNULL,
            stdout=output, stderr=subprocess.STDOUT, text=True,
            start_new_session=True)
        child.block, child.output = block, output
        if typed:
            child.stdin.write(f"set -e\n{typed}\n")
            child.stdin.close()
        return child

    def finish(self, child, seconds=SECONDS):
        try:
            status = child.wait(seconds)
        except subprocess.TimeoutExpired:
            status = "none: it does not end"
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        child.output.seek(0)
        said = child.output.read()
        child.output.close()
        if status != 0 or BAD.search(said):
            raise AssertionError(
                f"exit status {status}:\n{child.block}\n\n{said[-4000:]}")
        return said

    def in_second_shell(self, block):
        self.second = self.start(f"exec {block}")
        # The command in the second shell needs some time to start. The test
        # therefore waits, for about as long as a reader needs to type the next
        # line into the first shell.
        time.sleep(3)

    def leave_second_shell(self):
        if self.second:
            os.killpg(self.second.pid, signal.SIGINT)
            self.finish(self.second, 60)
            self.second = None

    def close(self):
        if self.second and self.second.poll() is None:
            os.killpg(self.second.pid, signal.SIGKILL)
            self.second.wait()

    def run(self, block, typed=None):
        said = self.finish(self.start(block, typed))
        self.leave_second_shell()
        return said


class TutorialTest(unittest.TestCase):

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.home = pathlib.Path(directory.name) / "gst-plugins-wireless"
        shutil.copytree(test_package.SOURCE, self.home,
                        ignore=test_package.NOT_SOURCE)
        self.reader = Reader(self.home)
        self.addCleanup(self.reader.close)

    def follow(self):
        """Runs all blocks of commands on the page. Returns how many blocks it
        has run."""
        waiting, count = None, 0
        for above, block in blocks((self.home / PAGE).read_text()):
            if block.startswith(DEVENV):
                self.reader.environment = shell_environment(
                    self.reader.environment, self.home)
            if not block.startswith(COMMANDS):
                continue
            count += 1
            if "second shell" in above:
                self.reader.in_second_shell(block)
            elif IN_A_HOST in block:
                self.assertIsNone(waiting)
                waiting = block
            elif waiting:
                # The command of the previous block opens a shell in a testbed.
                # This block is typed into that shell.
                self.reader.run(waiting, block)
                waiting = None
            else:
                self.reader.run(block)
        self.assertIsNone(waiting)
        return count

    def test_every_command_works_as_pasted(self):
        self.assertGreater(self.follow(), 20)
        report = self.home / "build" / "lab" / "mine" / "report"
        with self.subTest("what the reader added is in the report"):
            table = (report / "runs.csv").read_text()
            for name in ("fec", "lossy", "tunnel", "radio", "again"):
                self.assertRegex(table, rf"\b{name}\b")


class BlocksTest(unittest.TestCase):

    def test_blocks_have_the_words_above_them(self):
        self.assertEqual(
            list(blocks("Type\nthis:\n\n    one\n\n    two\n      three\n\n"
                        "and in a second shell\n\n    four\n")),
            [("Type this:", "one\n\ntwo\n  three"),
             ("and in a second shell", "four")])


if __name__ == "__main__":
    unittest.main()
