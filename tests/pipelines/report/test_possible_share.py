# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the possible share of a run: the share of its frames that an ideal
sender could have delivered in time, and how early these frames could have
arrived. The ideal sender knows in advance when the link can carry data. The
tests make up these times.
"""

import pathlib
import tempfile
import unittest
from unittest import mock

from wirelesslab.errors import LabError
from wirelesslab.report import possible_share
from wirelesslab.streams import frame_log, measurements, possible

MS = 1_000_000
CELL = {"name": "wire/6M/own/1-1", "seed": 1,
        "link": {"name": "wire", "properties": "rate=5000000"},
        "protocol": {"name": "own", "link": "", "computed": False}}


def passages(*sizes):
    return [measurements.Passage(
        frame_log.Frame("IPBB"[number], 0, 0, 0, 0, number, size,
                        (number, size)), number * 40 * MS, number * 40 * MS,
        None) for number, size in enumerate(sizes)]


def packet(size, arrival_ms):
    return measurements.Packet(1, 0, size, "delivered", 1, arrival_ms * MS,
                               arrival_ms * MS)


class PossibleShareTest(unittest.TestCase):

    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(
            tempfile.TemporaryDirectory()))
        # The simulated link can deliver 1000 bytes at each of these times: 100
        # ms, 140 ms, 180 ms and 220 ms.
        self.of_link = self.enterContext(mock.patch.object(
            possible_share.opportunities, "of_link", return_value=[
                possible.Opportunity(ms * MS, ms * MS, 1000)
                for ms in range(100, 260, 40)]))

    def result(self, sizes=(1000, 2000, 1000, 1500), cell=CELL,
               begins_ms=(100,), began_ms=0, late_ms=50):
        return possible_share.of_run(
            cell, self.directory, passages(*sizes),
            [None if ms is None else ms * MS for ms in begins_ms],
            began_ms * MS, late_ms, None)

    def share(self, *args, **options):
        return self.result(*args, **options).share

    def test_the_best_frames_for_these_opportunities(self):
        # The link can send 1000 bytes at 100, 140, 180 and 220 ms. The first
        # frame is due at 100 ms, and the other frames follow at intervals of
        # 40 ms. A frame is in time if it arrives within 50 ms after its due
        # time.
        # - The I-frame has 1000 bytes and is complete at 100 ms.
        # - The P-frame has 2000 bytes and is due at 140 ms. It is complete at
        #   180 ms.
        # - The first B-frame has 1000 bytes and is sent at 220 ms.
        # - The second B-frame has 1500 bytes, for which no bytes are left.
        #
        # The result must therefore be 3 of 4 frames. They arrive 0, 40 and 40
        # ms after their due times.
        self.assertEqual(self.result(), (0.75, [0, 40, 40]))
        (call,) = self.of_link.call_args_list
        self.assertEqual(call.args[:4],
                         ("rate=5000000 seed=1", 1, 1, 270 * MS))

    def test_the_result_is_kept(self):
        self.assertEqual(self.share(), 0.75)
        self.assertEqual(self.share(), 0.75)
        self.assertEqual(self.of_link.call_count, 1)
        self.assertEqual(
            (self.directory / "possible-50.csv").read_text(),
            "frame,type,possible,delay_ms\n0,I,1,0.0\n1,P,1,40.0\n"
            "2,B,1,40.0\n3,B,0,\n")
        self.assertEqual(self.share(late_ms=0), 0.25)
        self.assertEqual(self.of_link.call_count, 2)

    def test_files_of_earlier_versions_have_no_delays(self):
        (self.directory / "possible-50.csv").write_text(
            "frame,type,possible\n0,I,1\n1,P,0\n")
        self.assertEqual(self.result(), (0.5, []))

    def test_a_computed_run_has_one_flow(self):
        computed = {**CELL, "protocol": {**CELL["protocol"], "computed": True}}
        self.share(cell=computed)
        self.assertEqual(self.of_link.call_args.args[1:3], (0, 1))

    def test_without_packets_it_is_not_known(self):
        self.assertIsNone(self.result(begins_ms=(None,)))

    def test_links_with_clocks_of_their_own(self):
        # A link delivers 1000 bytes whenever its clock shows 100 ms, 140 ms,
        # 180 ms and so on. There are four frames of 2000 bytes: I, P, B and B.
        # The I-frame is due when it is sent, and each further frame is due 40
        # ms after the previous frame.
        #
        # First there is only one such link, and a frame may be 50 ms late.
        # Each frame needs two deliveries. The I-frame is complete 40 ms after
        # its due time, and the P-frame 80 ms after its due time. The P-frame
        # is too late, and the B-frames need the P-frame. Only the I-frame is
        # in time.
        #
        # Then there are two such links, and each link delivers one half of
        # each frame. Their clocks differ. When the I-frame is sent, the clock
        # of the first link shows 100 ms, and that of the second link shows 90
        # ms. The following times are counted from the moment at which the
        # I-frame is sent. The frames are due at 0 ms, 40 ms and so on. The
        # first link delivers at 0 ms, 40 ms and so on, and the second link
        # delivers at 10 ms, 50 ms and so on. Each frame is therefore complete
        # 10 ms after its due time. If a frame may be 10 ms late, the result
        # must be that all frames are in time. If a frame may be only 9 ms
        # late, the result must be that all frames are late.
        sizes = (2000, 2000, 2000, 2000)
        self.assertEqual(self.share(sizes), 0.25)
        self.forget()
        link = {**CELL["link"], "links": [CELL["link"], CELL["link"]]}
        both = {**CELL, "link": link}
        self.assertEqual(self.result(sizes, both, (100, 90), late_ms=10),
                         (1, [10] * 4))
        self.forget()
        self.assertEqual(self.share(sizes, both, (100, 90), late_ms=9), 0)

    def test_a_link_that_was_closed_for_a_while(self):
        # The wall clock shows 200 ms when the first frame is sent. All other
        # times in this comment are counted from this moment.
        #
        # The link can send at 0, 40, 80 and 120 ms. From 70 to 150 ms, it
        # accepts no new packets. At 80 and 120 ms, it can therefore send only
        # packets that it accepted before 70 ms. The I-frame and the P-frame
        # were accepted before 70 ms. The two B-frames are generated at 80 and
        # 120 ms, so the link does not accept them. They must count as lost, so
        # that 2 of 4 frames are possible.
        self.assertEqual(self.share((1000, 2000, 1000, 1000), late_ms=50), 0.75)
        self.forget()
        (self.directory / "schedule.csv").write_text(
            "wall_ns,device,state,dropped\n0,wl0,up,0\n"
            "270000000,wl0,outage,0\n350000000,wl0,up,0\n"
            "900000000,wl0,end,0\n")
        self.assertEqual(
            self.share((1000, 2000, 1000, 1000), began_ms=200), 0.5)

    def forget(self):
        for path in self.directory.glob("possible-*"):
            path.unlink()

    def test_several_streams_and_other_workloads_are_not_known(self):
        one = CELL["protocol"]
        self.assertIsNone(self.result(cell={
            **CELL, "protocol": {**one, "streams": [one, one]}}))
        self.assertIsNone(self.result(cell={**CELL, "encoder": {}}))
        self.assertIsNone(self.result(cell={
            **CELL, "workload": {"kind": "bulk"}}))

    def test_a_link_that_cannot_be_run_is_not_known(self):
        self.of_link.side_effect = LabError("no such element")
        with mock.patch("sys.stderr") as stderr:
            self.assertIsNone(self.result())
        self.assertIn("no such element", str(stderr.write.call_args_list))
        self.assertEqual(list(self.directory.iterdir()), [])


class BeginTest(unittest.TestCase):
    PACKETS = (packet(60, 10), packet(1400, 100), packet(1400, 101))

    def begin_ms(self, packets, since_ms=None):
        return possible_share.begin_ns(
            packets, since_ms and since_ms * MS) / MS

    def test_the_stream_begins_with_the_first_large_packet(self):
        self.assertEqual(self.begin_ms(self.PACKETS), 100)
        self.assertEqual(self.begin_ms(self.PACKETS[:1]), 10)

    def test_a_handshake_may_follow_the_begin(self):
        self.assertEqual(self.begin_ms(self.PACKETS, 12), 12)
        self.assertEqual(self.begin_ms(self.PACKETS, 104), 100)

    def test_without_packets_the_clock_of_the_machine_decides(self):
        self.assertEqual(self.begin_ms([], 5), 5)
        self.assertIsNone(possible_share.begin_ns([], None))


if __name__ == "__main__":
    unittest.main()
