# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks which cells (single experiments) the lab makes from a matrix file. No
cell is run."""

import json
import os
import pathlib
import tempfile
import unittest
import unittest.mock

from wirelesslab import paths
from wirelesslab.errors import LabError
from wirelesslab.lab import cells, grid, matrix, rate_steps
from wirelesslab.streams import transports

LINKS = """
[link radio]
properties = profile=80211b
"""
OWN = """
[protocol mine]
sender = filesrc location={clip} ! mpegstat location={sent} ! mine host={host} port={port}
receiver = minesrc port={port} ! mpegstat location={received} ! fakesink
"""  # noqa: E501


class MatrixCase(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def read(self, *parts):
        path = self.directory / "matrix.ini"
        path.write_text("\n".join(parts))
        return matrix.read(path)


class MatrixTest(MatrixCase):
    def assert_refused(self, words, *parts):
        with self.assertRaisesRegex(LabError, words):
            self.read(*parts)

    def test_a_file_extends_its_base(self):
        (self.directory / "base.ini").write_text(
            "[matrix]\nprotocols = rtp tcp\nseeds = 1 2\n" + LINKS)
        found = self.read("[matrix]\nbase = base.ini\nseeds = 7\n"
                          "[link radio]\nproperties = rate=1000")
        self.assertEqual(
            [(cell["seed"], cell["protocol"]["name"]) for cell in found],
            [(7, "rtp"), (7, "tcp")])
        self.assertEqual({cell["link"]["properties"] for cell in found},
                         {"rate=1000"})
        self.assert_refused("base = nowhere.ini: No such file",
                            "[matrix]\nbase = nowhere.ini")

    def test_every_protocol_meets_every_link_rate_seed_and_repetition(self):
        found = self.read(
            "[matrix]\nprotocols = rtp tcp\nrates = 3 6\nseeds = 1 2 3\n"
            "repetitions = 2", LINKS, "[link other]\nproperties = rate=1000")
        self.assertEqual(len(found), 2 * 2 * 3 * 2 * 2)
        self.assertEqual(len({cell["name"] for cell in found}), len(found))

    def test_all_protocols_meet_one_seed_before_the_next(self):
        found = self.read("[matrix]\nprotocols = rtp tcp\nseeds = 7 8", LINKS)
        self.assertEqual(
            [(cell["seed"], cell["protocol"]["name"]) for cell in found],
            [(7, "rtp"), (7, "tcp"), (8, "rtp"), (8, "tcp")])

    def test_a_property_with_several_values_makes_several_links(self):
        found = self.read(
            "[matrix]\nprotocols = rtp",
            LINKS, "retry-limit = 1 2", "interference = none always")
        self.assertEqual(
            [cell["link"]["properties"] for cell in found],
            [f"profile=80211b retry-limit={retries} interference={oven}"
             for retries in (1, 2) for oven in ("none", "always")])
        self.assertEqual(found[0]["link"]["name"],
                         "radio_retry-limit=1_interference=none")

    def test_a_property_without_values_is_refused(self):
        self.assert_refused("link radio: the key retry-limit has no values",
                            "[matrix]\nprotocols = rtp", LINKS,
                            "retry-limit =")

    def test_values_and_links_that_occur_twice_count_once(self):
        found = self.read("[matrix]\nprotocols = rtp\nlinks = radio radio",
                          LINKS, "retry-limit = 1 2 1")
        self.assertEqual([cell["name"] for cell in found],
                         ["radio_retry-limit=1/6M/rtp/1-1",
                          "radio_retry-limit=2/6M/rtp/1-1"])

    def test_files_of_a_link_lie_beside_the_matrix(self):
        found = self.read(
            "[matrix]\nprotocols = rtp", "[link mine]\n"
            "properties = profile=trace pattern=/all/losses.pattern",
            "delivery-trace = walk.trace lab/drive.trace")
        self.assertEqual(
            [cell["link"]["properties"] for cell in found],
            ["profile=trace pattern=/all/losses.pattern "
             f"delivery-trace={self.directory.resolve() / name}"
             for name in ("walk.trace", "lab/drive.trace")])
        self.assertEqual(found[0]["link"]["name"],
                         "mine_delivery-trace=walk.trace")

    def test_a_variable_names_the_directory_of_files(self):
        lines = ("[matrix]\nprotocols = rtp", "[link mine]\n"
                 "properties = delivery-trace-down=$LAB_TRACES/walk.trace")
        with unittest.mock.patch.dict(os.environ, LAB_TRACES="/all"):
            (cell,) = self.read(*lines)
        self.assertEqual(cell["link"]["properties"],
                         "delivery-trace-down=/all/walk.trace")
        with unittest.mock.patch.dict(os.environ):
            os.environ.pop("LAB_TRACES", None)
            (cell,) = self.read(*lines)
        self.assertEqual(grid.without_files([cell]), ([], [
            "left out link mine: the environment variable LAB_TRACES is not "
            "set; it names the directory of walk.trace"]))

    def test_only_links_without_their_files_are_left_out(self):
        (self.directory / "walk.trace").write_text("1\n")
        found = self.read(
            "[matrix]\nprotocols = rtp", LINKS,
            "[link mine]\ndelivery-trace = walk.trace drive.trace")
        left, words = grid.without_files(found)
        self.assertEqual([cell["link"]["name"] for cell in left],
                         ["radio", "mine_delivery-trace=walk.trace"])
        self.assertEqual(words, [
            "left out link mine_delivery-trace=drive.trace: there is no file "
            f"{self.directory.resolve() / 'drive.trace'}"])

    def test_the_mobile_host_receives_unless_the_matrix_says_otherwise(self):
        lines = ("[link a]\nproperties = profile=80211b",
                 "[link b]\nproperties = profile=80211b\ndirection = {}")
        for default, own, ups in (("down", "up", [False, True]),
                                  ("up", "down", [True, False]),
                                  ("down", "down", [False, False])):
            found = self.read(
                f"[matrix]\nprotocols = rtp\ndirection = {default}",
                lines[0], lines[1].format(own))
            self.assertEqual([cell["link"].get("direction") for cell in found],
                             ["up" if up else None for up in ups])
            # Station 0 is the mobile.
            self.assertEqual([cells.sender_station(cell) for cell in found],
                             [0 if up else 1 for up in ups])
        with self.assertRaisesRegex(
                LabError, r"link b: direction = left must be down \(the mobile "
                r"host receives\) or up \(the mobile host sends\)"):
            self.read("[matrix]\nprotocols = rtp", lines[0],
                      lines[1].format("left"))

    def test_a_workload_has_a_direction_of_its_own(self):
        (cell,) = self.read(
            "[matrix]\nprotocols = udp-packets\ndirection = up", LINKS,
            "[workload w]\nkind = voice\nfrom = network\nseconds = 1\n"
            "bytes = 100\nevery = 20 ms\nacknowledge = 500 ms")
        self.assertNotIn("direction", cell["link"])

    def test_all_protocols_run_once_before_any_runs_again(self):
        found = self.read(
            "[matrix]\nprotocols = rtp tcp\nseeds = 1 2\nrepetitions = 2",
            "[link a]\nproperties = profile=80211b\nretry-limit = 1 2")
        self.assertEqual(
            [cell["name"].replace("a_retry-limit=", "") for cell in found],
            [f"{retries}/6M/{protocol}/{seed}-{repetition}"
             for repetition in (1, 2) for seed in (1, 2) for retries in (1, 2)
             for protocol in ("rtp", "tcp")])

    def test_a_protocol_is_two_lines(self):
        (cell,) = self.read(OWN, LINKS)
        protocol = cell["protocol"]
        self.assertEqual((protocol["name"], protocol["title"],
                          protocol["binds"]), ("mine", "mine", "udp"))
        self.assertTrue(protocol["sender"].endswith(
            "! mine host={host} port={port}"))

    def test_a_codec_is_in_the_name_and_in_the_pipelines(self):
        first, other = self.read(
            "[matrix]\nprotocols = rtp\ncodecs = mpeg2 h264", LINKS)
        self.assertEqual((first["name"], other["name"]),
                         ("radio/6M/rtp/1-1", "radio/6M-h264/rtp/1-1"))
        self.assertNotIn("codec", first)
        self.assertIn("! rtph264pay aggregate-mode=zero-latency ! udpsink",
                      other["protocol"]["sender"])
        self.assertIn("encoding-name=H264,payload=96",
                      other["protocol"]["receiver"])
        self.assertIn("! rtph264depay ! h264parse ! video/x-h264,alignment=au "
                      "! mpegstat location={received} !",
                      other["protocol"]["receiver"])

    def test_mpeg1_needs_no_other_pipelines(self):
        first, other = self.read(
            "[matrix]\nprotocols = rtp-stock\ncodecs = mpeg2 mpeg1", LINKS)
        self.assertEqual(first["protocol"], other["protocol"])

    def test_protocols_without_support_for_a_codec_are_left_out(self):
        found = self.read("[matrix]\nprotocols = rtp rtp-stock rtp+rtp-stock\n"
                          "codecs = mpeg2 h265", LINKS)
        left, words = grid.without_misfits(found)
        self.assertEqual(
            [cell["name"] for cell in left],
            ["radio/6M/rtp/1-1", "radio/6M/rtp-stock/1-1",
             "radio/6M/rtp+rtp-stock/1-1", "radio/6M-h265/rtp/1-1"])
        self.assertEqual(words, [
            "left out rtp+rtp-stock for H.265: rtpmpvpay, rtpmpvdepay cannot "
            "carry it",
            "left out rtp-stock for H.265: rtpmpvpay, rtpmpvdepay cannot "
            "carry it"])

    def test_each_of_our_protocols_has_its_pipelines_for_each_codec(self):
        found = self.read("[matrix]\nprotocols = rtp ifd udplite mmtp dccpthin "
                          "tcp srt rist http\ncodecs = h264 h265", LINKS)
        left, words = grid.without_misfits(found)
        self.assertEqual((len(left), words), (18, []))
        for cell in left:
            ends = cell["protocol"]["sender"] + cell["protocol"]["receiver"]
            for words in ("qtdemux", f"{cell['codec']}parse"):
                self.assertIn(words, ends)
            self.assertNotIn("MPV", ends)

    def test_flagged_runs_are_only_set_aside_until_they_are_repeated(self):
        found = self.read("[matrix]\nprotocols = rtp tcp\nseeds = 1 2", LINKS)
        for number, cell in enumerate(found):
            directory = self.directory / cell["name"]
            cells.describe(directory, cell)
            (directory / cells.RESULT).write_text(json.dumps(
                {"cell": cell, "lateness": {"flagged": number > 0}}))

        def there():
            return [cells.result(self.directory / cell["name"]) is not None
                    for cell in found]

        grid.set_flagged_aside(found, self.directory)
        self.assertEqual(there(), [True, False, False, False])
        cells.remove_old(self.directory / found[1]["name"])
        grid.take_flagged_back(found, self.directory)
        self.assertEqual(there(), [True, False, True, True])

    def test_codecs_that_are_none_are_refused(self):
        self.assert_refused("no codec vp9; there are: mpeg2, mpeg1, h264, h265",
                            "[matrix]\nprotocols = rtp\ncodecs = vp9", LINKS)

    def test_a_receiver_may_listen_at_the_port_above_too(self):
        (one,), (two,) = (self.read(OWN, words, LINKS)
                          for words in ("", "ports = 2"))
        self.assertEqual(transports.ports_of(one["protocol"], 5004), [5004])
        self.assertEqual(transports.ports_of(two["protocol"], 5004),
                         [5004, 5005])

    def test_a_protocol_may_be_like_one_of_transports_ini_or_the_file(self):
        found = self.read(
            "[matrix]\nprotocols = near far", LINKS,
            "[protocol near]\nlike = srt\nreplace = latency=300 -> latency=9",
            "[protocol far]\nlike = near\nreplace = latency=9 -> latency=8")
        self.assertEqual(
            ["latency=9" in cell["protocol"]["sender"] for cell in found],
            [True, False])
        self.assertIn("latency=8", found[1]["protocol"]["receiver"])

    def test_each_cell_of_a_suite_has_its_name_and_version(self):
        own, other = (self.read("[matrix]\nprotocols = rtp", words, LINKS)
                      for words in ("suite = radios 1", ""))
        self.assertEqual(own[0]["suite"], "radios 1")
        self.assertNotIn("suite", other[0])

    def test_the_standard_suite_has_ten_links_and_ranks_four(self):
        found = matrix.read(paths.PIPELINES / "suite.ini")
        seeds = {}
        for cell in found:
            seeds.setdefault(cell["link"]["name"], set()).add(cell["seed"])
        self.assertEqual(
            {name: len(own) for name, own in seeds.items()},
            {"oven": 3, "cellular": 3, "verizon": 3, "bursts": 3, "wifi": 1,
             "tmobile": 1, "satellite": 1, "shaper": 1, "loss": 1,
             "rtt-240": 1})
        self.assertEqual({cell["suite"] for cell in found}, {"wireless 1"})
        # The standard suite has ten links. Four of them have three seeds, and
        # six have one seed. Each protocol has one run for each link and seed,
        # so it has 4 * 3 + 6 = 18 runs.
        self.assertEqual(len(found), 18 * len(
            {cell["protocol"]["name"] for cell in found}))

    def test_the_search_has_no_two_equal_variants(self):
        found = matrix.read(paths.PIPELINES / "search.ini")
        protocols = {cell["protocol"]["name"]: cell["protocol"]
                     for cell in found}
        self.assertEqual(len(found), 2 * len(protocols))
        self.assertEqual(len({(one["sender"], one["receiver"])
                              for one in protocols.values()}), len(protocols))

    def test_ports_above_and_addresses_of_both_ends_have_names(self):
        words = "{own} {peer} {port+1} {port+2}"
        (cell,) = self.read("[matrix]\nprotocols = mine", LINKS,
                            OWN.replace("port={port}", words))
        self.assertIn(words, cell["protocol"]["receiver"])

    def test_behind_a_server_the_receiver_asks(self):
        (own,), (asked,) = (self.read(OWN, words, LINKS)
                            for words in ("", "server = http"))
        self.assertEqual(transports.listener(own["protocol"]), "receiver")
        self.assertEqual(transports.listener(asked["protocol"]), "sender")
        self.assertEqual(asked["protocol"]["binds"], "tcp")

    def test_several_protocols_are_so_many_streams_at_once(self):
        (alone, both) = self.read(
            "[matrix]\nprotocols = rtp ifd+rtp\napart = 3", LINKS)
        protocol = both["protocol"]
        self.assertEqual(both["name"], "radio/6M/ifd+rtp/1-1")
        self.assertEqual([name for name, _ in transports.streams(protocol)],
                         ["1-ifd", "2-rtp"])
        self.assertEqual(protocol["streams"][1], alone["protocol"])
        self.assertEqual(transports.streams(alone["protocol"]),
                         [("", alone["protocol"])])
        self.assertEqual(protocol["apart"], 3)
        self.assertNotIn("apart", alone)

    def test_own_protocols_beside_those_of_transports_ini(self):
        found = self.read("[matrix]\nprotocols = mine ifd rtp", OWN, LINKS)
        self.assertEqual([cell["protocol"]["binds"] for cell in found],
                         ["udp", "tcp", "udp"])

    def test_the_kind_of_socket_is_that_of_the_receiver(self):
        for receiver, kind in (("tcpserversrc port=1 ! x", "tcp"),
                               ("udplitesrc ! x", "udplite"),
                               ("srtsrc ! x", "udp")):
            self.assertEqual(transports.socket_of(receiver), kind)

    def test_computed_cells_are_not_repeated(self):
        found = self.read("[matrix]\nrepetitions = 3", OWN, "computed = yes",
                          LINKS)
        self.assertEqual(len(found), 1)

    def test_a_file_s_own_protocol_hides_that_of_transports_ini(self):
        (cell,) = self.read("[matrix]\nprotocols = tcp",
                            OWN.replace("mine]", "tcp]"), LINKS)
        self.assertIn("! mine host", cell["protocol"]["sender"])

    def test_link_properties_of_a_protocol_come_last(self):
        with_queue, plain = self.read(
            "[matrix]\nprotocols = mine rtp", OWN, "link = txqueuelen=7",
            LINKS)
        self.assertEqual(cells.properties(with_queue),
                         "profile=80211b txqueuelen=7 seed=1")
        self.assertEqual(cells.properties(plain), "profile=80211b seed=1")
        self.assertEqual(with_queue["link"], plain["link"])

    def test_each_mistake_is_named(self):
        for words, *parts in (
                ("no protocol nix; there are: .*rtp",
                 "[matrix]\nprotocols = nix", LINKS),
                ("no link nix; there are: radio",
                 "[matrix]\nlinks = nix", LINKS),
                ("there is no link: a section .link NAME. describes",
                 "[matrix]\nprotocols = rtp"),
                ("no clip of 7 Mbit/s", "[matrix]\nrates = 7", LINKS),
                ("seeds = 'x' must be one or more numbers",
                 "[matrix]\nseeds = x", LINKS),
                ("seconds must be from 1 to 60",
                 "[matrix]\nseconds = 61", LINKS),
                (r"\[matrix\] has no key colour",
                 "[matrix]\ncolour = 1", LINKS),
                ("protocol mine has no key receiver",
                 "[protocol mine]\nsender = x", LINKS),
                ("unknown key port; its keys are: binds", OWN, "port = 5",
                 LINKS),
                ("binds = sctp must be one of: udp, ", OWN, "binds = sctp",
                 LINKS),
                ("ports = 4 must be from 1 to 3", OWN, "ports = 4", LINKS),
                ("ports = two must be from", OWN, "ports = two", LINKS),
                ("server = gopher must be one of: http", OWN, "server = gopher",
                 LINKS),
                ("no protocol nix; there are: .*rtp",
                 "[matrix]\nprotocols = rtp+nix", LINKS),
                ("mine is computed, so it cannot stream at the same time",
                 "[matrix]\nprotocols = rtp+mine", OWN, "computed = yes",
                 LINKS),
                (r"rtp\+mine: these protocols share one link, but set "
                 "different properties of it: '' and 'txqueuelen=9'",
                 "[matrix]\nprotocols = rtp+mine", OWN, "link = txqueuelen=9",
                 LINKS),
                ("apart = 'x' must be one or more numbers",
                 "[matrix]\napart = x\nprotocols = rtp+rtp", LINKS),
                ("mine: its sender has the unknown name {send}; the names are: "
                 "{clip}, {host}, ",
                 OWN.replace("{sent}", "{send}"), LINKS),
                ("mine: its sender has no {sent}",
                 OWN.replace("{sent}", "x"), LINKS),
                ("mine: its receiver has no {received}",
                 OWN.replace("{received}", "x"), LINKS),
                ("mine: its sender: expected '}' before end of string: files",
                 OWN.replace("{host}", "{host"), LINKS),
                ("mine: its receiver: No closing quotation: mine",
                 OWN.replace("port={port} ! mpeg", "'port={port} ! mpeg"),
                 LINKS),
                (r"unknown section \[protokol x\]; the sections are: "
                 r"\[matrix\], \[protocol NAME\]",
                 "[matrix]\nprotocols = rtp\n[protokol x]", LINKS),
                ("seconds = '5 10' must be a single number",
                 "[matrix]\nprotocols = rtp\nseconds = 5 10", LINKS),
                ("repetitions must be at least 1",
                 "[matrix]\nprotocols = rtp\nrepetitions = 0", LINKS),
                ("ends = never must be yes or no", OWN, "ends = never",
                 LINKS),
                ("computed = perhaps must be yes or no", OWN,
                 "computed = perhaps", LINKS),
                ("seed=4 cannot be set", "[link a]\nproperties = seed=4"),
                ("mode cannot be set",
                 "[link a]\nmode = realtime timestamp"),
                ("are not properties of wirelesslink",
                 "[link a]\nproperties = identity"),
                ("protocol mine: seed=4 cannot be set, because the lab", OWN,
                 "link = seed=4", LINKS),
                ("a name consists of small letters",
                 "[link A/B]\nproperties ="),
                ("parsing errors", "[link a]\nproperties = x=1\nwhat is this")):
            with self.subTest(words=words):
                self.assert_refused(words, *parts)

    def test_a_mistake_in_transports_ini_is_named_as_one_of_that_file(self):
        transport = OWN.replace("[protocol mine]", "[mine]")
        for words, text in (
                ("no {sent}", transport.replace("{sent}", "x")),
                ("section 'mine' already exists", transport + "[mine]"),
                ("parsing errors", transport + "what is this")):
            path = self.directory / "transports.ini"
            path.write_text(text)
            with self.subTest(words=words), \
                    unittest.mock.patch.object(transports, "OURS", path), \
                    self.assertRaisesRegex(LabError, words) as refused:
                self.read("[matrix]", LINKS)
            self.assertTrue(str(refused.exception).startswith(f"{path}: "))

    def test_a_transport_that_is_appended_is_in_the_demo(self):
        path = self.directory / "transports.ini"
        path.write_text(transports.OURS.read_text()
                        + OWN.replace("[protocol mine]", "[mine]"))
        with unittest.mock.patch.object(transports, "OURS", path):
            found = matrix.read(paths.PIPELINES / "demo.ini")
        self.assertIn("oven/6M/mine/1-1", [cell["name"] for cell in found])

    def test_some_cells_are_chosen_by_the_parts_of_their_names(self):
        found = self.read(
            "[matrix]\nprotocols = rtp rtp+rtp tcp\nrates = 3 6\nseeds = 1 2",
            LINKS)
        self.assertEqual(
            [cell["name"] for cell in matrix.only(found, "rtp 6M")],
            ["radio/6M/rtp/1-1", "radio/6M/rtp/2-1"])
        self.assertEqual(matrix.only(found, ""), found)
        with self.assertRaisesRegex(LabError, "no cell has 6M and rt between"):
            matrix.only(found, "6M rt")

    def test_the_example_is_one(self):
        found = matrix.read(paths.PIPELINES / "lab.ini")
        self.assertEqual({cell["link"]["name"] for cell in found},
                         {"radio", "oven"})
        self.assertGreaterEqual(len({cell["seed"] for cell in found}), 3)

    def test_the_grid_of_ouwens_table_3_1(self):
        found = matrix.read(
            paths.PIPELINES / "ouwens.ini")
        self.assertEqual(len(found), 4 * 8 * 4 * 2 * 3)
        self.assertEqual(len({cell["name"] for cell in found}), 768)
        self.assertEqual({cell["rate"] for cell in found}, {3, 4, 5, 6})
        self.assertEqual({cell["seconds"] for cell in found}, {60})
        computed = [cell for cell in found if cell["protocol"]["computed"]]
        self.assertEqual(len(computed), 384)
        self.assertEqual(
            {cells.properties(cell) for cell in found
             if cell["protocol"]["name"] == "udp-blocking"
             and cell["seed"] == 2},
            {f"profile=80211b {oven}retry-limit={retry} blocking=true "
             "txqueuelen=1000 seed=2"
             for oven in ("", "interference=20-40 ")
             for retry in (0, 1, 2, 3, 4, 8, 16, 255)})


class CellTest(MatrixCase):
    def setUp(self):
        super().setUp()
        (self.cell,) = self.read("[matrix]\nprotocols = rtp", LINKS)
        self.place = self.directory / self.cell["name"]
        cells.describe(self.place, self.cell)

    def end(self, cell, flagged=False):
        (self.place / cells.RESULT).write_text(json.dumps(
            {"cell": cell, "lateness": {
                "machine_p99_ms": 2.5,
                "link_p99_ms": None if flagged else 0.1,
                "flagged": flagged}}))

    def test_a_result_counts_for_the_cell_that_it_is_of(self):
        self.assertIsNone(cells.result(self.place))
        self.end(self.cell)
        self.assertEqual(cells.result(self.place)["cell"], self.cell)
        self.end({**self.cell, "seed": 2})
        self.assertIsNone(cells.result(self.place))

    def test_a_description_that_stays_keeps_its_age(self):
        path = self.place / cells.CELL
        os.utime(path, (1, 1))
        cells.describe(self.place, self.cell)
        self.assertEqual(path.stat().st_mtime, 1)
        cells.describe(self.place, {**self.cell, "seed": 2})
        self.assertGreater(path.stat().st_mtime, 1)

    def test_flagged_runs_can_be_repeated(self):
        self.end(self.cell)
        grid.set_flagged_aside([self.cell], self.directory)
        self.assertIsNotNone(cells.result(self.place))
        self.end(self.cell, flagged=True)
        self.assertEqual(
            grid.words_of(self.cell, self.directory),
            "flagged: the lateness was not measured (99th percentile and "
            "maximum: machine 2.50 ms and unknown, link unknown and unknown)")
        grid.set_flagged_aside([self.cell], self.directory)
        self.assertIsNone(cells.result(self.place))

    def test_elements_of_a_protocol(self):
        self.assertEqual(
            cells.ELEMENT.findall("filesrc location=a!b ! x264enc "
                                  "! video/x-h264,alignment=au ! fakesink"),
            ["filesrc", "x264enc", "fakesink"])

    def test_a_pipeline_s_values_may_have_blanks(self):
        self.assertEqual(cells.fill("a location={clip} ! b",
                                    {"clip": "/my clip"}),
                         ["a", "location=/my clip", "!", "b"])


ENCODER = """
[encoder]
pipeline = filesrc location={clip} ! mpegstat location={captured} ! x264enc bitrate={bitrate} ! mpegstat location={sent} ! tee name=t t. ! filesink location={encoded} t.
adapter = bitrateadapt max-bitrate={max}000
bitrate = 700
"""  # noqa: E501
LIVE = """
[protocol adapted]
sender = {adaptive} ! mine host={host} port={port}
receiver = minesrc port={port} ! mpegstat location={received} ! fakesink
"""
FIXED = """
[protocol fixed]
title = Fixed
bitrate = 500 4500
sender = {encoder} ! mine host={host} port={port}
receiver = minesrc port={port} ! mpegstat location={received} ! fakesink
"""
ENCODING = """
[encoder]
bitrate = 700
[encoding one]
title = One
codec = h264
delay = 2
make = encode
    --rate {bitrate} {source} {output}
[encoding two]
codec = vp8
make = encode {source} {output}
[protocol mine]
title = Mine
sender = {encoding} ! mine host={host} port={port}
receiver = minesrc port={port} ! mpegstat location={received} ! fakesink
"""


class EncoderTest(MatrixCase):
    """Tests matrix files for live encoders. A matrix file describes the
    experiments of the lab. With a live encoder, the video is encoded during
    the experiment, and its bitrate can change. Other matrix files stream a
    clip that was encoded before.
    """

    def assert_refused(self, words, *parts):
        with self.assertRaisesRegex(LabError, words):
            self.read(*parts)

    def test_each_source_meets_each_protocol_and_link(self):
        found = self.read("[matrix]\nencoders = film motion\nseconds = 5",
                          ENCODER, LIVE, LINKS)
        self.assertEqual([cell["name"] for cell in found],
                         ["radio/film/adapted/1-1", "radio/motion/adapted/1-1"])
        self.assertEqual(found[1]["encoder"],
                         {"source": "motion", "late_ms": 400, "max": 6000})
        self.assertEqual({matrix.kind(cell) for cell in found}, {matrix.LIVE})

    def test_elements_before_the_transport_form_one_string(self):
        (cell,) = self.read("[matrix]\nencoders = film", ENCODER, LIVE, LINKS)
        self.assertEqual(
            cell["protocol"]["sender"],
            "filesrc location={clip} ! mpegstat location={captured} "
            "! x264enc bitrate=700 ! mpegstat location={sent} "
            "! tee name=t t. ! filesink location={encoded} t. "
            "! bitrateadapt max-bitrate=6000000 "
            "! mine host={host} port={port}")

    def test_several_bitrates_are_as_many_protocols(self):
        found = self.read("[matrix]\nencoders = film", ENCODER, FIXED, LINKS)
        self.assertEqual(
            [(cell["protocol"]["name"], cell["protocol"]["title"])
             for cell in found],
            [("fixed-500", "Fixed, 0.5 Mbit/s"),
             ("fixed-4500", "Fixed, 4.5 Mbit/s")])
        self.assertIn("x264enc bitrate=4500 !", found[1]["protocol"]["sender"])
        self.assertNotIn("bitrateadapt", found[1]["protocol"]["sender"])

    def test_invalid_definitions_are_refused_with_a_reason(self):
        matrix_of = "[matrix]\nencoders = "
        for words, parts in (
                ("needs a section", (matrix_of + "film", LIVE, LINKS)),
                ("no encoder source nix; there are: film, motion",
                 (matrix_of + "nix", ENCODER, LIVE, LINKS)),
                ("protocol mine has no {adaptive}",
                 (matrix_of + "film", ENCODER, OWN, LINKS)),
                (r"\[encoder\] has no height",
                 (matrix_of + "film", ENCODER + "height = 3", LIVE, LINKS)),
                ("bitrate = x is no number above 0",
                 (matrix_of + "film", ENCODER, FIXED.replace("4500", "x"),
                  LINKS)),
                ("has no {encoded}",
                 (matrix_of + "film", ENCODER.replace("{encoded}", "here"),
                  LIVE, LINKS)),
                ("link radio: steps = '4 5' are no bitrates",
                 (matrix_of + "film", ENCODER, LIVE, LINKS, "steps = 4 5"))):
            with self.subTest(words):
                self.assert_refused(words, *parts)

    def test_each_encoding_is_a_protocol(self):
        found = self.read("[matrix]\nencoders = film", ENCODING, LINKS)
        self.assertEqual(
            [(cell["protocol"]["name"], cell["protocol"]["title"])
             for cell in found],
            [("mine-one", "One, Mine"), ("mine-two", "two, Mine")])
        self.assertEqual(
            found[0]["protocol"]["encoding"],
            {"name": "one", "title": "One", "codec": "h264", "delay": 2,
             "make": "encode --rate 700 {source} {output}"})
        self.assertEqual(
            found[1]["protocol"]["sender"],
            "filesrc location={clip} ! ivfparse ! clocksync "
            "! mpegstat location={sent} ! mine host={host} port={port}")
        self.assertEqual({matrix.kind(cell) for cell in found}, {matrix.LIVE})

    def test_invalid_encodings_are_refused_with_a_reason(self):
        for words, old, new in (
                ("there is no encoding three; there are: one, two",
                 "title = Mine", "encodings = three"),
                (r"\[encoding one\] has no size", "delay = 2", "size = 3"),
                (r"\[encoding two\] has no codec", "codec = vp8", ""),
                ("codec = vp7 must be one of: h264", "vp8", "vp7"),
                ("delay = x is no number of frames", "delay = 2",
                 "delay = x")):
            with self.subTest(words):
                self.assert_refused(words, "[matrix]\nencoders = film",
                                    ENCODING.replace(old, new), LINKS)

    def test_a_protocol_for_an_encoder_needs_one(self):
        self.assert_refused("its sender has the unknown name {adaptive}",
                            "[matrix]", ENCODER, LIVE, LINKS)

    def test_the_matrix_of_the_project(self):
        with unittest.mock.patch.dict(os.environ, MMTP_TRACES="/somewhere"):
            found = matrix.read(paths.PIPELINES / "encoder.ini")
        # The matrix file encoder.ini describes runs with two video sources, 12
        # protocols and five links. Four links have 3 seeds each, and one link
        # has 5 seeds. There is one run for each source, protocol, link and
        # seed.
        self.assertEqual(len(found), 2 * 12 * (4 * 3 + 5))
        adapted = [cell["protocol"]["sender"] for cell in found
                   if cell["protocol"]["name"] in (
                       "mmtp", "dccpthin", "ifd", "srt")]
        self.assertEqual(
            len({sender.partition(" ! bitrateadapt ")[0]
                 for sender in adapted}), 1)


class StepsTest(MatrixCase):

    def test_a_link_may_have_seeds_of_its_own(self):
        found = self.read(
            "[matrix]\nprotocols = rtp\nseeds = 1 2", LINKS,
            "[link other]\nseeds = 2 3\nproperties = rate=1000")
        self.assertEqual(
            [(cell["seed"], cell["link"]["name"]) for cell in found],
            [(1, "radio"), (2, "radio"), (2, "other"), (3, "other")])

    def test_steps_are_times_and_bitrates(self):
        self.assertEqual(rate_steps.parse("x", "4 20 1.5 30 4"),
                         [(0, 4), (20, 1.5), (30, 4)])

    def test_invalid_rate_steps_are_refused(self):
        for text in ("4 20", "4 20 1 10 2", "0", "4 500 2", "fast"):
            with self.subTest(text), self.assertRaises(LabError):
                rate_steps.parse("x", text)

    def test_a_packet_of_1500_bytes_takes_its_time_at_each_bitrate(self):
        # A packet of 1500 bytes (12,000 bits) takes 3 ms at 4 Mbit/s and 8 ms
        # at 1.5 Mbit/s. The rate changes after 12 ms, so four packets are sent
        # at 4 Mbit/s, and the later ones at 1.5 Mbit/s.
        lines = rate_steps.trace([(0, 4), (0.012, 1.5)]).split()[:6]
        self.assertEqual(lines, ["3", "6", "9", "12", "20", "28"])

    def test_a_run_makes_a_trace_of_them(self):
        (cell,) = self.read(
            "[matrix]\nprotocols = rtp",
            "[link steps]\nsteps = 12\nproperties = delay-ms=20")
        found = cells.with_steps(cell, self.directory)
        trace = self.directory / "steps.trace"
        self.assertEqual(
            found, f"delivery-trace-down={trace} delay-ms=20 seed=1")
        self.assertEqual(trace.read_text().split()[:3], ["1", "2", "3"])

    def test_steps_limit_only_the_direction_of_the_stream(self):
        (cell,) = self.read(
            "[matrix]\nprotocols = rtp",
            "[link steps]\nsteps = 12\ndirection = up")
        self.assertEqual(
            cells.with_steps(cell, self.directory),
            f"delivery-trace={self.directory / 'steps.trace'} "
            f"delivery-trace-down={self.directory / 'back.trace'} seed=1")
        # The key `steps` of the link limits the rate only in the direction of
        # the stream. In the other direction, the link must be practically
        # unlimited: 83 packets of 1500 bytes in each millisecond are 996
        # Mbit/s.
        self.assertEqual((self.directory / "back.trace").read_text(),
                         "1\n" * 83)

    def test_a_receiver_of_srt_does_not_end_by_itself(self):
        there = transports.read()
        for name, ends in (("srt", False), ("rist", False), ("rtp", True)):
            self.assertEqual(transports.receiver_ends(there[name]), ends, name)
        srt = {key: value for key, value in there["srt"].items()
               if key != "ends"}
        self.assertTrue(transports.ends(srt))
        self.assertFalse(transports.receiver_ends(srt))


if __name__ == "__main__":
    unittest.main()
