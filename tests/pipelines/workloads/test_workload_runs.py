# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the commands of the lab with workloads, that is, with traffic other
than video. A matrix file describes a short experiment for each kind of
workload. Some experiments take place in real time, over sockets between two
hosts. The others are computed in virtual time."""

import csv
import json
import os
import subprocess
import unittest

import test_demo
import test_lab
import test_testbed

LAB, BUILD = test_lab.LAB, test_lab.BUILD
KINDS = """
[link fast]
properties = rate=2000000 delay-ms=5
[workload bulk]
kind = bulk
bytes = 60000
[workload ask]
kind = request-reply
request = 32
reply = 2048
count = 5
[workload voice]
kind = voice
seconds = 1
acknowledge = 100 ms
[workload calls]
kind = dial-up
calls = 3
every = 50 ms
[theirs fast/ask]
source = a table
50 % s = 0.123
"""
CALLS = """
[matrix]
seeds = {seeds}
[link gsm]
properties = profile=gsm dial-up=true hang-up-after=10000000000
[workload calls]
kind = dial-up
calls = 40
protocols = computed
[workload voice]
kind = voice
seconds = 2
protocols = computed
"""


class RunCase(test_lab.LabCase):

    def run_matrix(self, text, *words):
        path = self.directory / "matrix.ini"
        path.write_text(text)
        return self.lab("grid", path, "--output", self.output, *words)

    def rows(self, name, log):
        with open(self.output / name / log) as file:
            return list(csv.DictReader(file))

    def check_all_went(self, done, carrier):
        """Checks that the traffic of each workload arrived completely.

        Also checks the printed table. The lab prints the results of a paper
        beside its own results. It reads the paper's results from sections
        whose names begin with "theirs". The section [theirs fast/ask] in KINDS
        has the invented value 0.123, which the table must contain.
        """
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(", 0 failed", done.stdout)
        place = "fast/{}/" + carrier + "/1-1"
        self.assertEqual(self.rows(place.format("bulk"), "received.csv")[-1][
            "bytes"], "60000")
        asked = self.rows(place.format("ask"), "exchanges.csv")
        self.assertEqual([row["number"] for row in asked], list("0123456"))
        self.assertTrue(all(row["received_ns"] for row in asked))
        called = self.rows(place.format("calls"), "exchanges.csv")
        self.assertEqual(len(called), 3)
        spoken = self.rows(place.format("voice"), "received.csv")
        self.assertEqual(len(spoken), 50)
        self.assertEqual(len(self.rows(place.format("voice"),
                                       "acknowledged.csv")), 50)
        self.assertRegex(done.stdout, r"theirs: a table +" + carrier)
        self.assertRegex(done.stdout, r"50 % s +0\.123 +\d")


class RealTimeTest(RunCase):

    @test_testbed.needs_namespaces
    def test_each_kind_on_a_socket_of_its_own(self):
        done = self.run_matrix("[matrix]\nprotocols = tcp-socket" + KINDS,
                               "--plain", "--jobs", "2")
        self.check_all_went(done, "tcp-socket")
        name = "fast/ask/tcp-socket/1-1"
        result = json.loads((self.output / name / "result.json").read_text())
        self.assertGreaterEqual(result["lateness"]["link_p99_ms"], 0)
        self.assertIn(f"{name} " + (
            "flagged" if result["lateness"]["flagged"] else "done"),
            done.stdout)
        # The link delays packets by 5 ms in each direction, so an exchange of
        # a request and its reply must take at least 10 ms.
        for row in self.rows(name, "exchanges.csv"):
            self.assertGreater(int(row["received_ns"]) - int(row["sent_ns"]),
                               10_000_000)

    @test_testbed.needs_namespaces
    def test_each_kind_in_pipelines_of_bytes(self):
        self.check_all_went(self.run_matrix(
            "[matrix]\nprotocols = tcp-bytes" + KINDS, "--plain", "--jobs",
            "2"), "tcp-bytes")

    @test_testbed.needs_namespaces
    def test_each_kind_in_pipelines_of_packets(self):
        self.check_all_went(self.run_matrix(
            "[matrix]\nprotocols = udp-packets" + KINDS.replace(
                "rate=2000000", "rate=20000000 txqueuelen=0")
            .replace("bytes = 60000", "bytes = 60000\nblock = 1400"),
            "--plain", "--jobs", "2"), "udp-packets")

    @test_testbed.needs_namespaces
    def test_a_workload_with_a_result_is_not_run_again(self):
        text = "[matrix]\nprotocols = tcp-socket\nworkloads = calls" + KINDS
        self.run_matrix(text, "--plain")
        (first,) = self.results().items()
        done = self.run_matrix(text, "--plain")
        self.assertIn("1 cell, 0 of them to run", done.stdout)
        self.assertEqual([first], list(self.results().items()))

    @test_testbed.needs_namespaces
    def test_a_failed_carrier_is_reported(self):
        done = self.run_matrix(
            "[matrix]\nworkloads = ask" + KINDS
            + "[protocol mine]\nsender = fdsrc fd={input} ! udpsink "
            "host={host} port={port} bind-address=192.0.2.1\n"
            "receiver = udpsrc address={host} port={port} ! "
            "fdsink fd={output}", "--plain")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("fast/ask/mine/1-1 failed: the end that begins failed",
                      done.stdout)
        out = self.output / "fast/ask/mine/1-1/begins.out"
        self.assertIn("a pipeline failed", out.read_text())
        self.assertNotIn("Traceback", done.stdout)

    def test_a_killed_run_leaves_nothing_behind(self):
        if test_testbed.why_no_namespaces():
            self.skipTest(test_testbed.why_no_namespaces())
        path = self.directory / "matrix.ini"
        path.write_text("[matrix]\nprotocols = udp-packets\nworkloads = voice"
                        + KINDS.replace("seconds = 1", "seconds = 600"))
        grid = subprocess.Popen(
            [LAB, "grid", path, "--output", self.output, "--build", BUILD,
             "--plain"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, test_demo.MARK: self.id()})
        self.addCleanup(grid.wait)
        self.addCleanup(grid.kill)
        # The test kills the lab when five processes of gst-launch-1.0 run: one
        # for the link, and two at each end of the link.
        self.assertTrue(test_demo.wait_for(lambda: 5 == sum(
            name.startswith("gst-launch")
            for _, name in test_demo.marked_processes(self.id()))))
        grid.kill()
        grid.wait(test_lab.SECONDS_TO_WAIT)
        self.assertTrue(test_demo.wait_for(
            lambda: not test_demo.marked_processes(self.id())),
            test_demo.marked_processes(self.id()))
        self.assertEqual(self.results(), {})


class VirtualTimeTest(RunCase):

    def test_calls_and_voice_are_computed(self):
        done = self.run_matrix(CALLS.format(seeds="1"), "--plain")
        self.assertEqual(done.returncode, 0, done.stdout)
        log = self.output / "gsm/calls/computed/1-1/wl0.log"
        words = [line.split() for line in log.read_text().splitlines()]
        # The simulated modem makes a separate phone call for each of the 40
        # packets. Some calls are not connected at the first attempt and are
        # repeated. The test therefore counts only connected calls.
        self.assertEqual(sum(line[0] == "call" and line[2] == "connected"
                             for line in words), 40)
        self.assertRegex(done.stdout, r"\ncalls +40\n")
        self.assertRegex(done.stdout, r"\npackets +100\n")
        first = log.read_bytes()
        again = self.lab("run", log.parent)
        self.assertEqual(again.returncode, 0, again.stdout)
        self.assertEqual(log.read_bytes(), first)

    def test_a_page_with_the_plots_and_tables_of_each_kind(self):
        if not test_lab.python_that_can_report():
            self.skipTest("there is no Jinja2 or matplotlib")
        self.run_matrix(CALLS.format(seeds="1 2"), "--plain")
        done = self.lab("report", self.output)
        self.assertEqual(done.returncode, 0, done.stdout)
        page = test_lab.Page(self.output / "report.html")
        self.assertEqual(len(page.loads), 4)
        for words in ("Calls", "Voice", "set-up median s", "4 runs", "2"):
            self.assertIn(words, page.words)
        self.assertNotIn("No picture differs", page.words)
        self.assertNotRegex(page.words, r"\bnan\b")
        for link in page.links:
            self.assertTrue(link.startswith("#")
                            or (self.output / link).exists(), link)
        with open(self.output / "report" / "dial-up-runs.csv") as file:
            runs = list(csv.DictReader(file))
        self.assertEqual([run["seed"] for run in runs], ["1", "2"])
        self.assertEqual([run["calls"] for run in runs], ["40", "40"])


if __name__ == "__main__":
    unittest.main()
