# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests three programs: the lab (which runs the experiments of a matrix file),
the program that writes its report, and the demo's comparison of transports.
The tests interrupt each program at random moments and in several ways. An
interrupted program must leave no processes or temporary files behind. When it
is started again, it must continue its work.

The random moments follow from a seed. If a test fails, it prints the seed. The
normal suite tries a few ways to interrupt a program. With `--long`, the test
tries all of them.
"""

import fcntl
import os
import pathlib
import pty
import random
import shutil
import signal
import subprocess
import sys
import termios
import unittest

import test_lab
import test_testbed

from wirelesslab.lab import cells, matrix
from wirelesslab.testbed import init_process, linux

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"])
LAB = SOURCE / "pipelines" / "lab"

LONG = "--long" in sys.argv
SECONDS_TO_WAIT = 240
# Maximum time in seconds from the start of a program until the test interrupts
# it. The actual time is random.
MAX_SECONDS = 20 if LONG else 6
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT,
           signal.SIGKILL)
# The ways in which a terminal can end a program: it sends Ctrl-C, it sends
# Ctrl-\, or it is closed.
KEYS = {"Ctrl-C": b"\x03", "Ctrl-\\": b"\x1c", "closed": None}
SHARED_MEMORY = pathlib.Path("/dev/shm")
MATRIX = r"""
[matrix]
protocols = rtp tcp computed
rates = 3
seconds = 2
seeds = 1 2
[link radio]
properties = profile=80211b
[protocol computed]
computed = yes
sender = filesrc location={clip} ! mpegstat location={sent} ! rfc2250pay
receiver = rfc2250depay ! mpegstat location={received} ! fakesink sync=false async=false
"""  # noqa: E501

# Source code of a program that runs the demo's comparison of transports. The
# arguments of the program are a matrix file, the build directory and the
# output directory. The program also runs demo_radio, the part of the demo in
# which a radio damages packets, for one second.
COMPARE = """
import pathlib, sys
from wirelesslab import command_line, processes
from wirelesslab.commands import demo_comparison, demo_radio
demo_radio.SECONDS = 1
processes.die_on_signals()
command_line.run_main("pipelines/demo", lambda: demo_comparison.run(
    pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]),
    pathlib.Path(sys.argv[1]), None, (1,)))
"""


def setUpModule():
    """Mounts a private /dev/shm for this program and its children. The test
    checks whether a program leaves files in this directory, so other tests must
    not use the same directory.
    """
    try:
        if os.geteuid() != 0:
            init_process.become_root_of_our_own()
        linux.unshare(linux.CLONE_NEWNS, "a mount namespace")
        linux.mount(None, "/", None, linux.MS_REC | linux.MS_SLAVE)
        linux.mount("tmpfs", str(SHARED_MEMORY), "tmpfs", data="mode=1777")
    except OSError as error:
        raise unittest.SkipTest(
            f"no rights to mount a directory: {error}") from None


def ways_to_end():
    return [*((number, whole) for number in SIGNALS for whole in (False, True)),
            *((key, True) for key in KEYS)]


INTERRUPTIONS = len(ways_to_end()) if LONG else 2


class InterruptedTest(test_testbed.Nothing):
    def setUp(self):
        for element in ("mpegstat", "rfc2250pay", "wirelesslink"):
            if not test_testbed.has_element(element):
                self.skipTest(f"{element} is not built")
        if test_testbed.why_no_namespaces():
            self.skipTest(test_testbed.why_no_namespaces())
        super().setUp()
        self.path = self.directory / "matrix.ini"
        self.path.write_text(MATRIX)
        self.output = self.directory / "out"
        self.temporary = self.directory / "tmp"
        self.temporary.mkdir()
        self.env["TMPDIR"] = str(self.temporary)
        self.env["PYTHONPATH"] = str(SOURCE / "pipelines")

    def launch(self, argv, terminal):
        """Starts a program. Returns the process and a file descriptor. If
        `terminal` is true, the program runs in a pseudo-terminal, and the
        descriptor is its master end. Otherwise the descriptor is None.
        """
        master, slave = pty.openpty() if terminal else (None, None)

        def take_terminal():
            os.setsid()
            # If this test was started by nohup, it ignores some signals, and
            # its child processes would ignore them, too. The child process
            # must not ignore the signals, so it restores their default
            # actions.
            for number in SIGNALS[:-1]:
                signal.signal(number, signal.SIG_DFL)
            if terminal:
                fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        child = subprocess.Popen(
            argv, env=self.env, preexec_fn=take_terminal,
            stdin=slave or subprocess.DEVNULL,
            stdout=slave or subprocess.DEVNULL,
            stderr=slave or subprocess.DEVNULL)
        if terminal:
            os.close(slave)
        return child, master

    def end(self, argv, way, whole, seconds):
        """Runs a program, and ends it if it still runs after `seconds`. `way`
        is a signal or a key of the dictionary KEYS. A signal is sent to the
        program or, if `whole` is true, to the whole process group of the
        program. A key of KEYS names a way to end the program through the
        terminal in which it runs.
        """
        child, master = self.launch(argv, terminal=way in KEYS)
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            if master is None:
                (os.killpg if whole else os.kill)(child.pid, way)
            elif KEYS[way]:
                os.write(master, KEYS[way])
            else:
                os.close(master)
                master = None
        child.wait(SECONDS_TO_WAIT)
        if master is not None:
            os.close(master)

    def check_nothing_is_left(self):
        super().check_nothing_is_left()
        self.assertEqual(list(self.temporary.iterdir()), [])
        self.assertEqual(list(SHARED_MEMORY.iterdir()), [])

    def check_results(self):
        """Checks that each result has complete logs of the sender, of the
        receiver and of the link.
        """
        for cell in matrix.read(self.path):
            directory = self.output / cell["name"]
            if not directory.exists() or not (
                    directory / cells.CELL).exists():
                continue
            result = cells.result(directory)
            if result:
                self.assertEqual(result["cell"], cell)
                for name in (cells.SENT, cells.RECEIVED, cells.LINK_LOG):
                    self.assertGreater((directory / name).stat().st_size, 0)

    def interrupt(self, argv, after=lambda: None):
        seed = random.randrange(10**6)
        chance = random.Random(seed)
        ways = ways_to_end()
        for number in range(INTERRUPTIONS):
            if number % len(ways) == 0:
                chance.shuffle(ways)
            way, whole = ways[number % len(ways)]
            seconds = chance.uniform(0.1, MAX_SECONDS)
            with self.subTest(seed=seed, number=number, way=way, whole=whole,
                              seconds=seconds):
                self.end(argv, way, whole, seconds)
                self.check_nothing_is_left()
                self.check_results()
            after()
        done = subprocess.run(
            argv, env=self.env, stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=SECONDS_TO_WAIT)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.check_nothing_is_left()
        return done.stdout

    def forget(self):
        """Removes all results. The next run then has to make them again."""
        for path in self.output.glob("*/*/*/*/result.json"):
            path.unlink()

    def grid(self, *words):
        argv = [LAB, "grid", self.path, "--output", self.output, "--build",
                BUILD, "--jobs", "2", *words]
        said = self.interrupt(argv, self.forget)
        self.assertIn(" 0 failed", said)
        self.assertTrue(all(cells.result(self.output / cell["name"])
                            for cell in matrix.read(self.path)))

    def test_a_grid_in_a_loop(self):
        self.grid("--plain")

    @unittest.skipUnless(shutil.which("snakemake"),
                         "there is no snakemake")
    def test_a_grid_under_snakemake(self):
        self.grid()

    def check_page(self):
        """If the lab has written the page of its report, checks that the page
        is complete, and removes the page. Also removes the results of the
        picture comparison, so that the next report must compute them again.
        """
        page = self.output / "report.html"
        if page.exists():
            self.assertTrue(page.read_text().rstrip().endswith("</html>"))
            page.unlink()
        for comparison in self.output.glob("*/*/*/*/quality-*.csv"):
            comparison.unlink()

    @unittest.skipUnless(test_lab.python_that_can_report(),
                         "no Python has Jinja2 and matplotlib")
    def test_a_report(self):
        self.path.write_text(MATRIX.replace("seeds = 1 2", "seeds = 1"))
        argv = [LAB, "report", self.output, "--build", BUILD]
        subprocess.run([LAB, "grid", self.path, "--output", self.output,
                        "--build", BUILD, "--plain"], env=self.env, check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       timeout=SECONDS_TO_WAIT)
        self.assertIn("report.html, with its plots",
                      self.interrupt(argv, self.check_page))
        self.assertTrue((self.output / "report.html").exists())
        self.check_page()

    def test_the_demo_s_comparison_and_its_page(self):
        """Interrupts the demo's comparison of transports several times. Each
        new run continues the interrupted run. Some interruptions may therefore
        occur during the last steps of the comparison, which write its tables
        and its page."""
        said = self.interrupt([sys.executable, "-c", COMPARE, self.path,
                               BUILD, self.output])
        self.assertIn("Comparing pictures", said)
        page = self.output / "report.html"
        if page.exists():
            self.assertIn("</html>", page.read_text())
        else:
            self.assertIn("no report.html: ", said)


if __name__ == "__main__":
    unittest.main(argv=[word for word in sys.argv if word != "--long"])
