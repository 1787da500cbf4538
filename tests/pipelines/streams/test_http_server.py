# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the web server that the demo uses to send video over HTTP: which data
it sends to a client, when it starts its GStreamer pipeline, and when it ends.
"""

import os
import pathlib
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.request

from wirelesslab import paths
from wirelesslab.streams import placement

SECONDS_TO_WAIT = 30
# Size of a response in bytes. It is larger than the buffers of a socket. The
# socket therefore cannot take all of it before the client reads.
MANY = 20_000_000


def wait_for(condition):
    deadline = time.monotonic() + SECONDS_TO_WAIT
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


class WebserverTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.port = placement.free_port("tcp")

    def serve(self, command):
        """Starts the web server and returns its process. Normally the server
        starts a GStreamer pipeline and streams its output. In these tests, it
        runs the shell command `command` instead.
        """
        server = subprocess.Popen(
            [*paths.command("streams.http_server"), placement.HOST,
             str(self.port), "sh", "-c", command], cwd=self.directory,
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.assertTrue(wait_for(lambda: placement.is_bound(
            "tcp", self.port, server.pid)))
        return server

    def ask(self):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        answer = opener.open(f"http://{placement.HOST}:{self.port}/")
        self.addCleanup(answer.close)
        return answer

    def test_it_begins_when_asked_and_ends_with_the_pipeline(self):
        server = self.serve("touch begun; printf 'one\\0two'")
        self.assertEqual(os.listdir(self.directory), [])
        answer = self.ask()
        self.assertEqual((answer.status, answer.headers["Content-Type"]),
                         (200, "video/mpeg"))
        self.assertEqual(answer.read(), b"one\0two")
        self.assertEqual(server.wait(SECONDS_TO_WAIT), 0)
        self.assertEqual(os.listdir(self.directory), ["begun"])

    def test_data_is_sent_at_once(self):
        self.serve("printf one; while ! [ -e go ]; do sleep 0.1; done; "
                   "printf two")
        answer = self.ask()
        self.assertEqual(answer.read1(), b"one")
        (self.directory / "go").touch()
        self.assertEqual(answer.read(), b"two")

    def test_the_pipeline_never_waits_for_the_client(self):
        self.serve(f"head -c {MANY} /dev/zero; touch done")
        answer = self.ask()
        self.assertTrue(wait_for((self.directory / "done").exists))
        self.assertEqual(len(answer.read()), MANY)

    def test_a_pipeline_that_fails_is_a_failure(self):
        server = self.serve("printf one; exit 3")
        self.assertEqual(self.ask().read(), b"one")
        self.assertEqual(server.wait(SECONDS_TO_WAIT), 1)
        self.assertIn("the pipeline failed (exit status 3)",
                      server.stderr.read())

    def test_the_server_ends_when_the_client_disconnects(self):
        server = self.serve("echo $$ > pid; exec cat /dev/zero")
        with socket.create_connection((placement.HOST, self.port)) as client:
            client.sendall(b"GET / HTTP/1.0\r\n\r\n")
            client.recv(1)
        self.assertEqual(server.wait(SECONDS_TO_WAIT), 1)
        self.assertIn("the client closed the connection", server.stderr.read())
        pid = (self.directory / "pid").read_text().strip()
        self.assertFalse(pathlib.Path("/proc", pid).exists())


if __name__ == "__main__":
    unittest.main()
