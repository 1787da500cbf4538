# SPDX-License-Identifier: LGPL-2.1-or-later
"""The demo from its command line to its table, with real sockets in real time.

What is asserted holds on a busy machine too: how many frames get lost there is
not a question for a test.
"""

import os
import pathlib
import re
import signal
import socket
import subprocess
import time
import unittest

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"])
DEMO = SOURCE / "pipelines" / "demo"
SECONDS_TO_WAIT = 60
# Children are found by a mark in the environment that they inherit.
MARK = "WIRELESS_DEMO_TEST"


def processes(mark):
    """Those that live and carry the mark."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for directory in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if wanted not in (directory / "environ").read_bytes().split(b"\0"):
                continue
            state = (directory / "stat").read_text().rsplit(")", 1)[1].split()[0]
            if state != "Z":
                name = (directory / "comm").read_text().strip()
                found.append((int(directory.name), name))
        except OSError:
            pass  # ended meanwhile
    return found


def wait_for(condition):
    deadline = time.monotonic() + SECONDS_TO_WAIT
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


class DemoTest(unittest.TestCase):
    def start(self, *arguments):
        env = dict(os.environ)
        for name in list(env):
            if name.startswith("GST_"):
                del env[name]  # the demo must find its plugins by itself
        self.mark = self.id()
        env[MARK] = self.mark
        demo = subprocess.Popen(
            [DEMO, "--build", BUILD, *arguments], env=env, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        self.addCleanup(demo.stdout.close)
        self.addCleanup(demo.wait)
        self.addCleanup(demo.kill)
        return demo

    def demo(self, *arguments):
        demo = self.start(*arguments)
        output, _ = demo.communicate(timeout=4 * SECONDS_TO_WAIT)
        return demo.returncode, output

    def counts(self, output, name):
        """I, P, B and all, from one row of the table."""
        row = re.search(rf"^{name} +(\d+) +(\d+) +(\d+) +(\d+)$", output, re.M)
        self.assertIsNotNone(row, output)
        return [int(number) for number in row.groups()]

    def assert_nothing_left(self):
        self.assertTrue(wait_for(lambda: not processes(self.mark)),
                        processes(self.mark))

    def test_streams_and_prints_the_table(self):
        status, output = self.demo("--seconds", "8", "--rate", "3")
        self.assertEqual(status, 0, output)
        sent = self.counts(output, "sent")
        self.assertEqual(sent, [14, 53, 132, 199], output)
        arrived = self.counts(output, "arrived")
        lost = self.counts(output, "lost")
        self.assertGreater(arrived[3], 0, output)
        self.assertEqual([a + b for a, b in zip(arrived, lost)], sent, output)
        self.assertRegex(output, r"bitrate +\d+\.\d+ Mbit/s")
        self.assertRegex(output, r"latency +median \d+\.\d+ ms, 99th percentile "
                                 r"\d+\.\d+ ms")
        self.assertRegex(output, r"jitter +mean \d+\.\d+ ms")
        self.assertRegex(output, r"(?m)^ +\d+\.\d s +I +\d+ +P +\d+ +B +\d+")
        self.assertNotIn("arrived other than sent", output)
        self.assert_nothing_left()

    def test_streams_the_twin_in_ts_with_its_sound(self):
        status, output = self.demo("--ts", "--seconds", "4")
        self.assertEqual(status, 0, output)
        self.assertEqual(self.counts(output, "sent")[3], 100, output)
        self.assertGreater(self.counts(output, "arrived")[3], 0, output)
        self.assertRegex(output, r"sound +[1-9]")
        self.assert_nothing_left()

    def test_a_killed_demo_leaves_nothing_behind(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            with self.subTest(signal=number.name):
                demo = self.start("--seconds", "60", "--rate", "3")
                self.assertTrue(wait_for(lambda: 2 == sum(
                    name.startswith("gst-launch")
                    for _, name in processes(self.mark))))
                demo.send_signal(number)
                demo.wait(SECONDS_TO_WAIT)
                self.assertNotEqual(demo.returncode, 0)
                self.assert_nothing_left()

    def test_a_failure_says_what_failed(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.bind(("127.0.0.1", 0))
            port = other.getsockname()[1]
            status, output = self.demo("--port", str(port), "--rate", "3")
        self.assertNotEqual(status, 0)
        self.assertIn(f"port {port} is in use", output)
        self.assertNotIn("Traceback", output)


if __name__ == "__main__":
    unittest.main()
