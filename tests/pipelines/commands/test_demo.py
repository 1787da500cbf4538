# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the command `demo`, which streams video with one or more transports
and prints a table of what arrived. The tests use real sockets in real time.

All assertions also hold on a busy machine. Therefore no test checks how many
frames are lost.
"""

import io
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from unittest import mock

from wirelesslab import gst_environment, processes
from wirelesslab.errors import LabError
from wirelesslab.streams import (
    clips,
    frame_log,
    placement,
    progress,
    stream,
    transports,
)

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"])
DEMO = SOURCE / "pipelines" / "demo"

SECONDS_TO_WAIT = 60
# Name of an environment variable. Child processes inherit the variable. The
# tests find the processes of a demo by its value.
MARK = "WIRELESS_DEMO_TEST"


def marked_processes(mark):
    """Returns (pid, name) of each running process in whose environment the
    variable MARK has the value `mark`.
    """
    wanted = f"{MARK}={mark}".encode()
    found = []
    for directory in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if wanted not in (directory / "environ").read_bytes().split(b"\0"):
                continue
            stat = (directory / "stat").read_text()
            state = stat.rsplit(")", 1)[1].split()[0]
            if state != "Z":
                name = (directory / "comm").read_text().strip()
                found.append((int(directory.name), name))
        except OSError:
            pass  # The process ended while its files were read.
    return found


def has_element(name):
    """Returns whether GStreamer finds the element `name`."""
    return subprocess.run(
        ["gst-inspect-1.0", name], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL).returncode == 0


def wait_for(condition):
    deadline = time.monotonic() + SECONDS_TO_WAIT
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


class Demo(unittest.TestCase):
    """Base class of the tests. Starts demos as separate processes, and checks
    that no process of a demo is left at the end.
    """

    def start(self, *arguments):
        env = dict(os.environ)
        for name in list(env):
            if name.startswith("GST_"):
                # The test removes the variables of GStreamer from the
                # environment, because the demo must find the project's plugins
                # without them.
                del env[name]
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
        """Returns the numbers of I-frames, P-frames, B-frames and all frames
        from the row `name` of the demo's table.
        """
        row = re.search(rf"^{name} +(\d+) +(\d+) +(\d+) +(\d+)$", output, re.M)
        self.assertIsNotNone(row, output)
        return [int(number) for number in row.groups()]

    def assert_nothing_left(self):
        self.assertTrue(wait_for(lambda: not marked_processes(self.mark)),
                        marked_processes(self.mark))


class DemoTest(Demo):
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
        self.assertRegex(output, r"latency +median \d+\.\d+ ms, "
                         r"99th percentile "
                                 r"\d+\.\d+ ms")
        self.assertLessEqual(self.counts(output, "decodable")[3], arrived[3])
        self.assertRegex(output, r"lateness +median -?\d+\.\d+ ms")
        self.assertRegex(output, r"jitter +mean \d+\.\d+ ms")
        self.assertRegex(output, r"(?m)^ +\d+\.\d s +I +\d+ +P +\d+ +B +\d+")
        self.assertNotIn("arrived with other bytes", output)
        self.assert_nothing_left()

    @unittest.skipUnless(has_element("udplitesink"), "udplitesink is not built")
    def test_streams_over_udplite(self):
        status, output = self.demo("--transport", "udplite", "--seconds", "3",
                                   "--rate", "3")
        self.assertEqual(status, 0, output)
        sent, arrived, lost = (self.counts(output, name)
                               for name in ("sent", "arrived", "lost"))
        self.assertEqual(sent[3], 73, output)
        self.assertEqual([a + b for a, b in zip(arrived, lost)], sent, output)
        self.assertNotIn("arrived with other bytes", output)
        self.assert_nothing_left()

    @unittest.skipUnless(has_element("souphttpsrc"), "there is no souphttpsrc")
    def test_streams_over_http_despite_a_proxy(self):
        with mock.patch.dict(os.environ, http_proxy="http://127.0.0.1:9"):
            status, output = self.demo("--transport", "http", "--seconds", "3",
                                       "--rate", "3")
        self.assertEqual(status, 0, output)
        self.assertEqual(self.counts(output, "sent")[3], 73, output)
        self.assertEqual(self.counts(output, "decodable"),
                         self.counts(output, "sent"), output)
        self.assertNotIn("arrived with other bytes", output)
        self.assert_nothing_left()

    @unittest.skipUnless(has_element("ristsink"), "there is no ristsink")
    def test_streams_over_rist_which_has_no_end(self):
        status, output = self.demo("--transport", "rist", "--seconds", "3",
                                   "--rate", "3")
        self.assertEqual(status, 0, output)
        sent, arrived, lost = (self.counts(output, name)
                               for name in ("sent", "arrived", "lost"))
        self.assertEqual(sent[3], 73, output)
        self.assertEqual([a + b for a, b in zip(arrived, lost)], sent, output)
        self.assertNotIn("arrived with other bytes", output)
        self.assert_nothing_left()

    @unittest.skipUnless(has_element("mmtpsink"), "mmtpsink is not built")
    def test_streams_over_mmtp(self):
        status, output = self.demo("--transport", "mmtp", "--seconds", "3",
                                   "--rate", "3")
        self.assertEqual(status, 0, output)
        sent, arrived, lost = (self.counts(output, name)
                               for name in ("sent", "arrived", "lost"))
        self.assertEqual(sent[3], 73, output)
        self.assertEqual([a + b for a, b in zip(arrived, lost)], sent, output)
        self.assertNotIn("arrived with other bytes", output)
        self.assert_nothing_left()

    @unittest.skipUnless(has_element("dcctpthinsink"),
                         "dcctpthinsink is not built")
    def test_streams_over_dccp(self):
        status, output = self.demo("--transport", "dccpthin", "--seconds",
                                   "3", "--rate", "3")
        self.assertEqual(status, 0, output)
        sent, arrived, lost = (self.counts(output, name)
                               for name in ("sent", "arrived", "lost"))
        self.assertEqual(sent[3], 73, output)
        self.assertEqual([a + b for a, b in zip(arrived, lost)], sent, output)
        self.assertNotIn("arrived with other bytes", output)
        self.assert_nothing_left()

    @unittest.skipUnless(has_element("ifdsink"), "ifdsink is not built")
    def test_streams_over_two_transports_one_after_the_other(self):
        status, output = self.demo("--transport", "ifd,tcp", "--seconds", "3",
                                   "--rate", "3")
        self.assertEqual(status, 0, output)
        ifd, tcp = output.split("\nTCP, stock tcpclientsink:")
        sent, arrived, lost, decodable = (
            self.counts(ifd, name)
            for name in ("sent", "arrived", "lost", "decodable"))
        self.assertEqual(sent[3], 73, ifd)
        self.assertEqual([a + b for a, b in zip(arrived, lost)], sent, ifd)
        # On a busy machine, the element ifdsink may drop frames. It must drop
        # them in such a way that all frames that it sends can be decoded.
        self.assertEqual(decodable, arrived, ifd)
        self.assertEqual(self.counts(tcp, "decodable"),
                         self.counts(tcp, "sent"), tcp)
        self.assertNotIn("arrived with other bytes", output)
        self.assert_nothing_left()

    def test_streams_the_twin_in_ts_with_its_sound(self):
        status, output = self.demo("--ts", "--seconds", "4")
        self.assertEqual(status, 0, output)
        self.assertEqual(self.counts(output, "sent")[3], 100, output)
        self.assertGreater(self.counts(output, "arrived")[3], 0, output)
        self.assertRegex(output, r"sound +[1-9]")
        self.assert_nothing_left()

    def test_a_killed_demo_leaves_nothing_behind(self):
        self.check_killed("rtp")

    @unittest.skipUnless(has_element("souphttpsrc"), "there is no souphttpsrc")
    def test_a_killed_demo_leaves_no_server_behind(self):
        self.check_killed("http")

    def check_killed(self, transport):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            with self.subTest(signal=number.name):
                demo = self.start("--seconds", "60", "--rate", "3",
                                  "--transport", transport)
                self.assertTrue(wait_for(lambda: 2 == sum(
                    name.startswith("gst-launch")
                    for _, name in marked_processes(self.mark))))
                demo.send_signal(number)
                demo.wait(SECONDS_TO_WAIT)
                self.assertNotEqual(demo.returncode, 0)
                self.assert_nothing_left()

    def test_a_closed_output_causes_no_traceback(self):
        for redirection, expected in (("| head -n 1", "141 0"), (">&-", "0")):
            with self.subTest(redirection=redirection):
                demo = subprocess.run(
                    ["bash", "-c", '"$0" --build "$1" --seconds 1 --rate 3 '
                     f'{redirection}; echo "${{PIPESTATUS[*]}}" >&2',
                     DEMO, BUILD], stdin=subprocess.DEVNULL, text=True,
                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                    timeout=SECONDS_TO_WAIT)
                self.assertEqual(demo.stderr, expected + "\n")

    def test_a_port_in_use_is_reported(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.bind(("127.0.0.1", 0))
            port = other.getsockname()[1]
            status, output = self.demo("--port", str(port), "--rate", "3")
        self.assertNotEqual(status, 0)
        self.assertIn(f"port {port} is in use", output)
        self.assertNotIn("Traceback", output)


class StreamTest(unittest.TestCase):
    """Tests the function with which the demo sends and receives a stream. Tests
    that run the whole demo would be too slow or unreliable.
    """

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.addCleanup(processes.kill_all)
        self.clip = SOURCE / "tests" / "fuzz" / "corpus" / "framer" / "mpeg2"
        self.place = placement.SameMachine(gst_environment.environment(BUILD))

    def stream(self, port, run_dir):
        """Streams a small clip over RTP."""
        return stream.stream(transports.read()["rtp"], self.clip, port,
                             run_dir, self.place)

    def test_a_log_that_ends_early_is_a_failure(self):
        for end, log in (("sender", "sent.csv"), ("receiver", "received.csv")):
            with self.subTest(end=end):
                run_dir = self.directory / end
                run_dir.mkdir()
                (run_dir / log).symlink_to("/dev/full")
                # The log file is a symbolic link to /dev/full. As on a full
                # disk, writing to /dev/full fails, which this test needs.
                # Reading from /dev/full never ends, so the test also prevents
                # that the demo reads the log.
                with mock.patch.object(frame_log.Log, "_new_lines",
                                       return_value=[]), \
                        self.assertRaisesRegex(
                            LabError,
                            f"the {end}'s mpegstat.*No space is left"):
                    self.stream(placement.free_port("udp"), run_dir)
                processes.kill_all()
                self.assertIn("No space is left",
                              (run_dir / f"{end}.out").read_text())

    def endless(self, **added):
        """Streams the clip over RTP. The transport is marked as one whose
        pipelines do not end by themselves, like those of RIST. The arguments
        `sender` and `receiver` contain additional elements. Those in `sender`
        are appended to the sender's pipeline, and those in `receiver` to the
        receiver's pipeline. The additional elements prevent EOS. If
        stream.stream() waited for EOS, the test would fail. Returns the result
        of stream.stream().
        """
        transport = transports.read()["rtp"]
        for end, words in added.items():
            transport[end] += " " + words
        return stream.stream({**transport, "ends": False}, self.clip,
                             placement.free_port("udp"), self.directory,
                             self.place)

    def test_an_endless_pipeline_is_ended_when_all_is_sent(self):
        ignoring = "appsrc ! fakesink async=false"
        sent, received, _ = self.endless(sender=ignoring, receiver=ignoring)
        self.assertEqual(len(sent.frames), clips.count_frames(self.clip))
        self.assertGreater(len(sent.frames), 1)
        self.assertEqual([frame.key for frame in received.frames],
                         [frame.key for frame in sent.frames])

    def test_an_endless_pipeline_that_fails_is_a_failure(self):
        bad = "fakesrc num-buffers=9 ! identity error-after=3 ! fakesink"
        for end in ("sender", "receiver"):
            with self.subTest(end=end), self.assertRaisesRegex(
                    LabError, f"the {end} failed"):
                self.endless(**{end: bad})

    def test_a_port_that_another_shares_is_a_failure(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            other.bind((placement.HOST, 0))
            port = other.getsockname()[1]
            with self.assertRaisesRegex(
                    LabError, "the receiver failed(?s:.*)bind failed"):
                self.stream(port, self.directory)
            other.setblocking(False)
            self.assertRaises(BlockingIOError, other.recv, 1)

    def test_a_port_is_even_and_the_one_above_it_free(self):
        for binds in placement.BINDS:
            with self.subTest(binds=binds):
                port = placement.free_port(binds)
                self.assertEqual(port % 2, 0)
                self.assertTrue(placement.is_free(binds, port + 1))

    def test_only_the_receiver_s_own_port_is_ready(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
            own.bind((placement.HOST, 0))
            port = own.getsockname()[1]
            self.assertTrue(placement.is_bound("udp", port, os.getpid()))
            self.assertFalse(placement.is_bound("udp", port, os.getppid()))

    def test_each_warning_of_a_pipeline_is_reported_once(self):
        clip = self.directory / "large"
        clip.write_bytes(self.clip.read_bytes() + 100_000 * b"U")
        launch = stream.Launch(
            "sender", "filesrc location={clip} ! mpegstat "
            "max-frame-size=65536 ! fakesink", {"clip": clip}, self.place)
        launch.finish()
        self.assertEqual(len(launch.warnings()), 1, launch.output())
        self.assertRegex(launch.warnings()[0],
                         "^mpegstat0: .*larger than max-frame-size")

    def test_the_progress_line_fits_the_terminal(self):
        class Terminal(io.StringIO):
            def isatty(self):
                return True

        log = frame_log.Log(self.directory / "none")
        for columns in ("20", "200"):
            with self.subTest(columns=columns), \
                    mock.patch.dict(os.environ, COLUMNS=columns), \
                    mock.patch("sys.stdout", Terminal()) as terminal, \
                    mock.patch.object(progress, "LIVE_EVERY", 0):
                progress.Progress(log, log).update()
                self.assertRegex(terminal.getvalue(), r"\A\r +0\.0 s  I")
                self.assertEqual(len(terminal.getvalue()), int(columns))


if __name__ == "__main__":
    unittest.main()
