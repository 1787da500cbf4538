# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that the element playbin3 can play each URI scheme of the project.
The test uses the example players, in C and in Python. Such a player consists
of playbin3 and a display of the source's statistics."""

import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

import clips
import screen

from wirelesslab import processes
from wirelesslab.streams import placement

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"])


# The test uses Debian's own Python, because Debian's package python3-gi
# contains a module that is made for this Python.
PYTHON = "/usr/bin/python3"
PLAYERS = {
    "C": [BUILD / "tests" / "examples" / "player"],
    "Python": [PYTHON, SOURCE / "tests" / "examples" / "player.py"],
}

RTP = "media=video&encoding-name=MPV&payload=32&clock-rate=90000"
# Maps each URI scheme to what the test needs for it:
# - the protocol of the socket that the source binds;
# - the keys that follow the port in the URI;
# - the sink that sends to the source;
# - whether the sink signals the end of the stream to the source.
SCHEMES = {
    "udplite": ("udplite", RTP, "udplitesink", False),
    "mmtp": ("udp", "", "mmtpsink", True),
    "dccpthin": ("udp", RTP, "dcctpthinsink", True),
}
FRAMES = 50
# On a busy machine, frames may be late, and UDP-Lite packets may be lost.
# Therefore only half of the frames have to be shown.
MUST_BE_SHOWN = FRAMES // 2
SECONDS = 60
# Time in s that the test waits for the window of a player. A player usually
# shows its window within this time. Otherwise the test starts the player
# again.
WINDOW_SECONDS = 15
# Matches a line with counters, which a player prints every second and at its
# end. The two groups of the expression are the number of shown frames and the
# number of received bytes.
LINE = re.compile(r"^ *\d+ s  frames (\d+)  .*\bbytes (\d+)", re.M)


class Player:
    """A player that plays a URI without a display."""

    def __init__(self, argv, uri):
        self.output = tempfile.TemporaryFile("w+")
        self.process = processes.start(
            [*map(str, argv), "--headless", uri], stdout=self.output,
            stderr=subprocess.STDOUT)

    def said(self):
        return os.pread(self.output.fileno(), 1 << 20, 0).decode()

    def seen(self):
        """Returns two counters from the last statistics line that the player
        has printed: the number of shown frames and the number of received
        bytes.
        """
        lines = LINE.findall(self.said())
        return tuple(map(int, lines[-1])) if lines else (0, 0)

    def wait_for(self, condition, what):
        deadline = time.monotonic() + SECONDS
        while not condition():
            if self.process.poll() is not None:
                raise AssertionError(f"ended before {what}:\n{self.said()}")
            if time.monotonic() > deadline:
                raise AssertionError(f"no {what}:\n{self.said()}")
            time.sleep(0.05)

    def finish(self):
        return processes.finish(self.process, SECONDS)

    def close(self):
        if self.process.poll() is None:
            processes.kill(self.process)
        self.output.close()


def play(argv, scheme, port, clip):
    """Plays `clip` with the player that is started by the command `argv`. A
    sink streams the clip to the port `port`, and the player plays a URI with
    the scheme `scheme` and this port. Returns how many frames were shown, and
    how many bytes were received.
    """
    binds, keys, sink, tells_end = SCHEMES[scheme]
    player = Player(argv, f"{scheme}://127.0.0.1:{port}?{keys}".rstrip("?"))
    try:
        player.wait_for(lambda: placement.is_bound(
            binds, port, player.process.pid), "port")
        processes.run(
            ["timeout", str(SECONDS), "gst-launch-1.0", "-q", "filesrc",
             f"location={clip}", "!", "rfc2250pay", "!", sink,
             "host=127.0.0.1", f"port={port}"], sink)
        if not tells_end:
            player.wait_for(lambda: player.seen()[0] >= MUST_BE_SHOWN, "frames")
            player.process.send_signal(signal.SIGINT)
        status = player.finish()
        if status != 0:
            raise AssertionError(f"exit status {status}:\n{player.said()}")
        return player.seen()
    finally:
        player.close()


def why_no_python():
    """Returns the reason why the Python player cannot run here, or "" if it can
    run.
    """
    done = subprocess.run(
        [PYTHON, "-c", "import gi; gi.require_version('Gst', '1.0')"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return "" if done.returncode == 0 else "needs python3-gi: " + done.stdout


def schemes_of_sources():
    """Returns the URI schemes of all source elements in the directories that
    the environment variable GST_PLUGIN_PATH_1_0 lists."""
    found = set()
    for directory in os.environ["GST_PLUGIN_PATH_1_0"].split(":"):
        for plugin in pathlib.Path(directory).glob("libgst*.so"):
            listed = inspect(plugin)
            for element in re.findall(r"^  ([\w-]+): ", listed, re.M):
                uris = re.search(
                    r"can act as source.*?protocols:\n((?: {4}\w+\n)+)",
                    inspect(element), re.S)
                found |= set(uris[1].split()) if uris else set()
    return found


def inspect(what):
    return subprocess.run(["gst-inspect-1.0", what], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


class PlayerTest(unittest.TestCase):

    def setUp(self):
        self.no_python = why_no_python()

    def test_every_uri_of_ours_is_among_those_played(self):
        self.assertEqual(schemes_of_sources(), set(SCHEMES))

    def plays_every_uri(self, language):
        clip = clips.small(FRAMES)
        ports = {scheme: placement.free_port(SCHEMES[scheme][0])
                 for scheme in SCHEMES}
        with concurrent.futures.ThreadPoolExecutor(len(SCHEMES)) as pool:
            plays = {scheme: pool.submit(play, PLAYERS[language], scheme,
                                         ports[scheme], clip)
                     for scheme in SCHEMES}
            for scheme, running in plays.items():
                with self.subTest(scheme=scheme):
                    frames, size = running.result()
                    self.assertGreaterEqual(frames, MUST_BE_SHOWN)
                    self.assertGreater(size, clip.stat().st_size / 2)

    def test_the_player_in_c_plays_every_uri(self):
        self.plays_every_uri("C")

    def test_the_player_in_python_plays_every_uri(self):
        if self.no_python:
            self.skipTest(self.no_python)
        self.plays_every_uri("Python")

    def test_an_unknown_uri_scheme_is_an_error(self):
        for language, argv in PLAYERS.items():
            with self.subTest(language=language):
                if language == "Python" and self.no_python:
                    self.skipTest(self.no_python)
                player = Player(argv, "nosuchscheme://127.0.0.1:5004")
                self.addCleanup(player.close)
                self.assertEqual(player.finish(), 1)
                self.assertIn("nosuchscheme", player.said())

    def open_window(self, argv, environment):
        """Starts a player that shows a test video. Returns its process and the
        identifier of its window.

        On a busy machine, playbin3 of GStreamer 1.22 sometimes stops its only
        stream during the start. It posts no message, and no window appears.
        The function then starts the player again, because the test does not
        check the start: it checks only how the player ends.
        """
        title = pathlib.Path(argv[0]).name
        for seconds in (WINDOW_SECONDS, WINDOW_SECONDS, SECONDS):
            player = subprocess.Popen(
                [*argv, "testbin://video"], env=environment, text=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            self.addCleanup(player.stderr.close)
            self.addCleanup(player.kill)
            try:
                return player, screen.window(title, environment, seconds)
            except subprocess.CalledProcessError:
                player.kill()
                self.assertEqual(player.communicate()[1], "")
                print(f"{title} showed no window within {seconds} s")
        return self.fail(f"{title} never showed a window")

    def test_a_closed_window_ends_it_well(self):
        for language, argv in PLAYERS.items():
            with self.subTest(language=language), \
                    screen.screen() as environment:
                if language == "Python" and self.no_python:
                    self.skipTest(self.no_python)
                player, window = self.open_window(argv, environment)
                screen.close(window, environment)
                _, said = player.communicate(timeout=SECONDS)
                self.assertEqual((player.returncode, said), (0, ""))


if __name__ == "__main__":
    unittest.main()
