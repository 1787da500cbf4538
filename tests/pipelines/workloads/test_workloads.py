# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the workloads of the lab that are not video. Some tests check how the
lab reads the description of a workload. Other tests check each number that the
lab computes from the logs of a run. These logs were written by hand, and the
expected numbers were computed by hand."""

import math
import os
import pathlib
import tempfile
import threading
import unittest
from unittest import mock

from wirelesslab import paths
from wirelesslab.errors import LabError
from wirelesslab.lab import matrix
from wirelesslab.report import workload_statistics as numbers
from wirelesslab.workloads import definitions
from wirelesslab.workloads import endpoint as end
from wirelesslab.workloads import runner as runs

MS, S = 10**6, 10**9
LINKS = """
[link gsm]
properties = profile=gsm
[link nmt]
properties = profile=nmt
"""
ASK = """
[workload ask]
kind = request-reply
reply = 2048
"""
CALL = """
[workload call]
kind = dial-up
"""
OWN = """
[protocol mine]
sender = fdsrc fd={input} ! minesink host={host} port={port}
receiver = minesrc port={port} ! fdsink fd={output}
"""


class DirectoryCase(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)


class MatrixTest(DirectoryCase):
    def read(self, *parts):
        path = self.directory / "matrix.ini"
        path.write_text("\n".join(parts))
        return matrix.read(path)

    def test_a_workload_takes_the_place_of_the_rate(self):
        found = self.read("[matrix]\nprotocols = tcp-socket\nrates = 3 6\n"
                          "seeds = 1 2", LINKS, ASK)
        self.assertEqual([cell["name"] for cell in found], [
            f"{link}/ask/tcp-socket/{seed}-1"
            for seed in (1, 2) for link in ("gsm", "nmt")])
        self.assertEqual(found[0]["workload"], {
            "name": "ask", "title": "ask", "kind": "request-reply",
            "from": "mobile", "request": 1, "reply": 2048, "count": 40,
            "warm": 2, "pause": 0, "wait": 60})
        self.assertIsNone(found[0]["rate"])

    def test_without_workloads_it_is_video_as_ever(self):
        (cell,) = self.read("[matrix]\nprotocols = rtp\nlinks = gsm", LINKS)
        self.assertNotIn("workload", cell)
        self.assertEqual(matrix.kind(cell), "video")

    def test_each_workload_uses_the_protocols_that_carry_it(self):
        found = self.read(
            "[matrix]\nworkloads = video ask call\n"
            "protocols = rtp tcp-socket computed\nlinks = gsm",
            LINKS, ASK, CALL)
        self.assertEqual(
            [cell["name"].split("/")[1:3] for cell in found],
            [["6M", "rtp"], ["ask", "tcp-socket"], ["call", "tcp-socket"],
             ["call", "computed"]])

    def test_a_workload_has_its_own_protocols_and_links(self):
        found = self.read("[matrix]", LINKS, CALL,
                          "protocols = computed\nlinks = nmt")
        self.assertEqual([cell["name"] for cell in found],
                         ["nmt/call/computed/1-1"])

    def test_a_carrier_is_two_lines(self):
        (cell,) = self.read("[matrix]\nlinks = gsm", LINKS, ASK, OWN)
        self.assertEqual(cell["protocol"], {
            "name": "mine", "title": "mine", "binds": "udp", "socket": "",
            "computed": False, "link": "",
            "sender": "fdsrc fd={input} ! minesink host={host} port={port}",
            "receiver": "minesrc port={port} ! fdsink fd={output}"})

    def test_times_have_units(self):
        for text, seconds in (("20 ms", 0.02), ("1.5s", 1.5), ("5 min", 300)):
            (cell,) = self.read("[matrix]\nlinks = gsm\nprotocols = computed",
                                LINKS, CALL, f"every = {text}")
            self.assertEqual(cell["workload"]["every"], seconds)

    def test_hosts_of_a_link(self):
        (cell,) = self.read(
            "[matrix]\nprotocols = tcp-socket", ASK,
            "[link slip]\nproperties = profile=gsm\ndevice = mtu=576\n"
            "sysctls = net.a=0 net.b=1")
        self.assertEqual(cell["link"]["properties"], "profile=gsm")
        self.assertEqual(runs.placement.hosts_of(cell["link"], ("a", "b")), {
            "devices": {"wl0": "mtu=576"},
            "sysctls": {host: {"net.a": "0", "net.b": "1"}
                        for host in ("a", "b")}})

    def test_theirs_go_into_the_cell(self):
        gsm, nmt = self.read(
            "[matrix]\nprotocols = tcp-socket", LINKS, ASK,
            "[theirs gsm/ask]\nsource = a table\n50 % s = 3.24")
        self.assertEqual(gsm["theirs"],
                         {"source": "a table", "50 % s": "3.24"})
        self.assertNotIn("theirs", nmt)

    def test_each_mistake_is_named(self):
        for words, *parts in (
                ("workload a has no kind", "[workload a]\nbytes = 1"),
                ("there is no kind nix; there are: bulk, request-reply, voice, "
                 "dial-up", "[workload a]\nkind = nix"),
                ("workload ask has the unknown key colour; the keys of "
                 "request-reply are: kind",
                 ASK, "colour = 1"),
                ("from must be mobile or network", ASK, "from = here"),
                ("workload ask: count = 'x' is not a number", ASK, "count = x"),
                ("workload ask: request must be from 1 to 4096", ASK,
                 "request = 4097"),
                ("pause = '5' is not a time, such as 20 ms", ASK, "pause = 5"),
                ("every must be from 0.001 to 86400 s", CALL, "every = 0 s"),
                ("the maximum is 65535",
                 "[workload v]\nkind = voice\nseconds = 2000"),
                ("acknowledge must not be less than every",
                 "[workload v]\nkind = voice\nacknowledge = 10 ms"),
                ("no workload nix; there are: ask, video",
                 "[matrix]\nworkloads = nix", ASK),
                ("protocol rtp cannot carry the workload ask", ASK,
                 "protocols = rtp"),
                ("protocol computed cannot carry the workload ask", ASK,
                 "protocols = computed"),
                ("no chosen protocol can carry the workload ask",
                 "[matrix]\nprotocols = rtp", ASK),
                ("can carry the workload video",
                 "[matrix]\nworkloads = video\nprotocols = tcp-socket"),
                ("protocol mine: its receiver has no {output}", ASK,
                 "[protocol mine]\nsender = fdsrc fd={input} ! x\n"
                 "receiver = y"),
                ("protocol mine has no key receiver", ASK,
                 "[protocol mine]\nsender = fdsrc fd={input} ! x"),
                ("socket = udp must be one of", ASK,
                 "[protocol mine]\nsocket = udp"),
                ("unknown key clip; the keys of a carrier", ASK, OWN,
                 "clip = ts"),
                ("theirs gsm/ask: request-reply has no number median", ASK,
                 "[theirs gsm/ask]\nmedian = 3")):
            with self.subTest(words=words), \
                    self.assertRaisesRegex(LabError, words):
                self.read(LINKS, *parts)

    def test_the_example_is_one(self):
        path = paths.PIPELINES / "workloads.ini"
        self.assertEqual({cell["workload"]["kind"]
                          for cell in matrix.read(path)},
                         set(definitions.KINDS))


class SizeTest(unittest.TestCase):
    def test_an_acknowledgement_has_room_for_all_packets_since_the_last(self):
        voice = {"kind": "voice", "bytes": 33, "every": 0.02,
                 "acknowledge": 0.2, "seconds": 60}
        self.assertEqual(runs.sizes(runs.prepared(voice)), (33, 40))
        self.assertEqual(definitions.packets(voice), 3000)

    def test_a_call_is_a_request(self):
        call = {"kind": "dial-up", "bytes": 40, "calls": 3, "every": 100}
        self.assertEqual(runs.sizes(runs.prepared(call)), (40, 40))

    def test_the_host_that_begins_can_be_chosen(self):
        self.assertEqual(runs.hosts_of({"from": "mobile"}),
                         ("mobile", "network"))
        self.assertEqual(runs.hosts_of({"from": "network"}),
                         ("network", "mobile"))


class WakeupDelayTest(unittest.TestCase):
    def test_a_killed_measurement_has_no_values(self):
        with runs.wakeup_delay.Measurement() as delays:
            delays._child.kill()
        self.assertEqual(delays.late_ms, [])


class EndTest(unittest.TestCase):
    """Connects both ends with pipes."""

    def run_both(self, work):
        """Runs both ends of the workload `work`, which are connected by two
        pipes. Returns the logs of both ends.
        """
        there, back, word = os.pipe(), os.pipe(), os.pipe()
        first, answers = end.ENDS[work["kind"]]
        found = {}
        listening = threading.Thread(target=lambda: found.update(
            answers(work, back[1], there[0])))
        with mock.patch.object(end, "STDIN", word[0]):
            listening.start()
            found.update(first(work, there[1], back[0]))
            if first is end.send_bulk:
                os.close(there[1])
            os.close(word[1])
            listening.join()
        return {name: rows for name, (_, rows) in found.items()}

    def test_requests_are_answered(self):
        found = self.run_both({"kind": "request-reply", "request": 1,
                               "reply": 2048, "count": 40, "warm": 2,
                               "pause": 0, "wait": 60})
        rows = found["exchanges.csv"]
        self.assertEqual([row[:2] for row in rows],
                         [(n, int(n < 2)) for n in range(42)])
        self.assertEqual(len(found["answers.csv"]), 42)
        for (_, _, sent, received), (_, came, went) in zip(
                rows, found["answers.csv"]):
            self.assertLessEqual(sent, came)
            self.assertLessEqual(went, received)

    def test_a_bulk_transfer_arrives_complete(self):
        found = self.run_both({"kind": "bulk", "bytes": 10000, "block": 512,
                               "wait": 60})
        self.assertEqual(found["sent.csv"][-1][1], 10000)
        self.assertEqual(len(found["sent.csv"]), 20)
        self.assertEqual(found["received.csv"][-1][1], 10000)

    def test_a_bulk_transfer_without_data_times_out(self):
        there, into = os.pipe()
        with mock.patch.object(end, "SECONDS_TO_BEGIN", 0):
            found = end.receive_bulk({"bytes": 1, "wait": 0.01}, None, there)
        os.close(into)
        self.assertEqual(found["received.csv"][1], [])

    def test_each_packet_of_voice_is_acknowledged_once(self):
        with mock.patch.object(end, "SECONDS_OF_QUIET", 0.3):
            found = self.run_both(
                {"kind": "voice", "bytes": 33, "packets": 25, "every": 0.001,
                 "acknowledge": 0.01, "acknowledgement": 40})
        for name in ("sent.csv", "received.csv", "acknowledged.csv"):
            self.assertEqual([row[0] for row in found[name]],
                             list(range(25)), name)

    def test_an_acknowledgement_has_the_elapsed_time_of_each_packet(self):
        data = end.acknowledge([(7, 0), (8, 150 * MS)], 3, 200 * MS)
        log = []
        end.note(data, log)
        self.assertEqual(len(data), 3 * 4)
        self.assertEqual([(number, elapsed) for number, _, elapsed in log],
                         [(7, 200 * MS), (8, 50 * MS)])

    def test_packets_of_one_byte_have_a_number_too(self):
        self.assertEqual(end.numbered(258, 1), b"\x02")
        self.assertEqual(end.numbered(258, 4), b"\x02\x01\0\0")
        self.assertEqual(len(end.numbered(258, 2048)), 2048)
        self.assertTrue(end.is_answer(b"\x02", end.numbered(258, 8)))
        self.assertFalse(end.is_answer(b"\x03", end.numbered(258, 8)))

    def test_a_reader_returns_whole_packets_from_any_pieces(self):
        out, into = os.pipe()
        reader = end.Reader(out, 4)
        for data in (b"ab", b"cdefghi", b"jkl"):
            os.write(into, data)
            reader.fill()
        os.close(into)
        self.assertEqual([reader.wait() for _ in range(4)],
                         [b"abcd", b"efgh", b"ijkl", None])


class NumberTest(DirectoryCase):
    def log(self, name, text):
        (self.directory / name).write_text(text)

    def cell(self, kind, computed=False, **parameters):
        return {"workload": {"kind": kind, "from": "mobile", **parameters},
                "protocol": {"computed": computed}}

    def of(self, kind, computed=False, **parameters):
        return numbers.numbers(self.directory,
                               self.cell(kind, computed, **parameters))

    def test_each_kind_has_its_numbers(self):
        self.assertEqual(set(numbers.READERS), set(definitions.NUMBERS))
        self.assertEqual(set(numbers.READERS), set(definitions.KINDS))

    def test_bulk(self):
        # 100 bytes arrive in each second, except for the last 100 bytes, which
        # take 6 s. This stall must lower the mean rate. It must not lower the
        # sustainable rate, which is the median of the rates between all pairs
        # of arrivals.
        self.log("received.csv", "time_ns,bytes\n" + "".join(
            f"{(7 + s) * S},{size}\n" for s, size in (
                (0, 100), (1, 200), (2, 300), (3, 400), (9, 500))))
        found = self.of("bulk", bytes=1000)
        self.assertEqual(found, {
            "bytes": 500, "arrived %": 50.0, "mean byte/s": 400 / 9,
            "sustainable byte/s": 100})

    def test_bulk_of_which_nothing_came(self):
        self.log("received.csv", "time_ns,bytes\n")
        found = self.of("bulk", bytes=1000)
        self.assertEqual((found["bytes"], found["arrived %"]), (0, 0))
        self.assertTrue(math.isnan(found["mean byte/s"]))

    def test_long_transfers_are_thinned(self):
        found = numbers.thinned([(n, 10 * n) for n in range(5000)])
        self.assertEqual((len(found), found[0], found[-1]),
                         (1000, (0, 0), (4999, 49990)))

    def test_request_reply(self):
        # The log of the test has five exchanges of a request and its reply.
        # The first exchange is a warm-up, which does not count. The third
        # exchange is lost. The other exchanges take 2, 1 and 3 s.
        self.log("exchanges.csv", "number,warm,sent_ns,received_ns\n"
                 f"0,1,0,{9 * S}\n1,0,{10 * S},{12 * S}\n2,0,{20 * S},\n"
                 f"3,0,{30 * S},{31 * S}\n4,0,{40 * S},{43 * S}\n")
        found = self.of("request-reply")
        self.assertEqual(
            [found[name] for name in ("exchanges", "lost", "min s", "50 % s",
                                      "99 % s", "max s")], [3, 1, 1, 2, 3, 3])
        self.assertEqual([found["over by 0.5 s"], found["over by 1 s"]],
                         [1 / 3, 0])

    def test_request_reply_without_any_reply(self):
        self.log("exchanges.csv", "number,warm,sent_ns,received_ns\n1,0,5,\n")
        found = self.of("request-reply")
        self.assertEqual((found["exchanges"], found["lost"]), (0, 1))
        self.assertTrue(math.isnan(found["50 % s"]))

    def test_voice(self):
        # The log has four packets of voice. Three of them have one-way delays
        # of 100, 140 and 180 ms, and one is lost. The acknowledgement of each
        # packet has a one-way delay that is 30 ms higher than that of the
        # packet. The lab estimates the one-way delay as half of the round
        # trip, so each estimate is 15 ms too high. The median of the estimates
        # must be 155 ms instead of 140 ms.
        sent = [1000 * MS + 20 * MS * n for n in range(4)]
        self.log("sent.csv", "number,sent_ns,taken\n" + "".join(
            f"{n},{ns},1\n" for n, ns in enumerate(sent)))
        delays = {0: 100, 1: 140, 3: 180}
        self.log("received.csv", "number,received_ns\n" + "".join(
            f"{n},{sent[n] + ms * MS}\n" for n, ms in delays.items()))
        rows = [f"{n},{sent[n] + (2 * ms + 30 + 50) * MS},{50 * MS}\n"
                for n, ms in delays.items()]
        self.log("acknowledged.csv",
                 "number,received_ns,elapsed_ns\n" + "".join(rows))
        found = self.of("voice")
        self.assertEqual(
            [found[name] for name in (
                "packets", "lost %", "delay median ms", "delay 99 % ms",
                "estimate median ms", "within 150 ms %")],
            [4, 25, 140, 180, 155, 50])
        # RFC 3550: J is 0, then 40 / 16 = 2.5, then rises by (40 - 2.5) / 16.
        jitter = [0, 2.5, 2.5 + 37.5 / 16]
        self.assertAlmostEqual(found["jitter ms"],
                               sum(jitter) / 3, places=6)

    def test_voice_that_was_computed(self):
        self.log("wl0.log", LOG_HEAD + "".join(
            f"packet {end_ms * MS} 0 0 {n} 33 {fate} 1 {20 * MS * n} "
            f"{end_ms * MS} 0 0\n" for n, (end_ms, fate) in enumerate(
                ((100, "delivered"), (50, "queue"), (240, "delivered")))))
        found = self.of("voice", computed=True)
        self.assertEqual([found[name] for name in (
            "packets", "delay median ms", "delay 95 % ms", "within 150 ms %")],
            [3, 100, 200, 100 / 3])
        self.assertTrue(math.isnan(found["estimate median ms"]))

    def test_calls(self):
        # The log has four attempts to make a phone call:
        # - The first call is connected after 30 s and later ends.
        # - The second call fails after 33 s.
        # - The third call repeats the second one and is connected after 36 s.
        # - The last call is still dialling when the log ends, so it does not
        #   count.
        self.log("wl0.log", LOG_HEAD + "".join(
            f"call {s * S} {state}\n" for s, state in (
                (0, "dialling"), (30, "connected"), (45, "idle"),
                (300, "dialling"), (333, "idle"), (333, "dialling"),
                (369, "connected"), (400, "idle"), (600, "dialling")))
            + "".join(f"packet {t * S} 0 0 {n} 40 delivered 1 {300 * n * S} "
                      f"{t * S} 0 0\n" for n, t in enumerate((31, 370))))
        self.assertEqual(numbers.calls(self.directory), ([30, 36], [33]))
        found = self.of("dial-up", computed=True)
        self.assertEqual(
            [found[name] for name in (
                "calls", "failed", "set-up min s", "set-up max s",
                "over 35 s %", "failure seen median s", "packets", "lost",
                "delay median s", "delay max s")],
            [2, 1, 30, 36, 50, 33, 2, 0, 31, 70])
        self.assertAlmostEqual(found["failed %"], 100 / 3)

    def test_classes_of_times(self):
        self.assertEqual(numbers.histogram([30, 28.2, 31.5, 28.9]),
                         ([0.5, 0, 0.25, 0.25], [28, 29, 30, 31, 32]))

    def test_theirs_stand_above_ours(self):
        self.log("received.csv", f"time_ns,bytes\n0,0\n{S},900\n")
        run = mock.Mock(directory=self.directory, is_flagged=False, cell={
            **self.cell("bulk", bytes=900, name="b"),
            "link": {"name": "gsm"}, "theirs": {
                "source": "a table", "sustainable byte/s": "890"}})
        run.cell["protocol"]["name"] = "tcp"
        heads, (theirs, ours) = numbers.summary([run])
        self.assertEqual(theirs, ["gsm", "b", "theirs: a table", "", "", "",
                                  "890", ""])
        self.assertEqual(ours, ["gsm", "b", "tcp", "900", "100.0", "900",
                                "900", "1"])
        self.assertIn("sustainable byte/s              890    900",
                      numbers.text([run]))


LOG_HEAD = """# wirelesslink-log 1
# packet time_ns flow station index size_bytes fate attempts arrival_ns \
departure_ns airtime_ns damaged_bytes
# call time_ns state
"""

if __name__ == "__main__":
    unittest.main()
