# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the schedules of links. A schedule says at which times an emulated
link changes its state, for example to `down` and back to `up`. The tests check
how the text of a schedule is read, in which times the link delivers nothing,
and which commands change the state.
"""

import math
import pathlib
import tempfile
import unittest

from wirelesslab.errors import LabError
from wirelesslab.streams import link_schedules

DEVICE, ADDRESS, PEER = "wl1", "10.77.1.2", "10.77.1.1"


def parse(text):
    return link_schedules.parse("lte", text)


class TextTest(unittest.TestCase):

    def test_a_schedule_is_times_and_states(self):
        self.assertEqual(parse("0 up 10 down 15.5 up"),
                         [(0, "up"), (10, "down"), (15.5, "up")])
        self.assertEqual(parse("3 outage"), [(3, "outage")])

    def test_the_message_says_what_is_wrong(self):
        for text, words in (
                ("10", "pairs of a time in s and a state"),
                ("0 up 10", "pairs of a time in s and a state"),
                ("", "pairs of a time in s and a state"),
                ("up 0", "up is no time in s"),
                ("-1 up", "-1 s is no time from 0 on"),
                ("inf up", "inf s is no time from 0 on"),
                ("nan up", "nan s is no time from 0 on"),
                ("0 up 5 off", "there is no state off; the states are: up, "
                 "outage, hold, down, absent, renumbered"),
                ("0 up 5 down 5 up", "5 s must be later than 5 s"),
                ("9 down 5 up", "5 s must be later than 9 s")):
            with self.subTest(text=text), self.assertRaises(LabError) as failed:
                parse(text)
            self.assertIn(f"link lte: schedule = {text}: ",
                          str(failed.exception))
            self.assertIn(words, str(failed.exception))


class ClosedTest(unittest.TestCase):

    def test_times_without_the_link(self):
        for text, closed in (
                ("0 up", []),
                ("0 up 10 down 15 up", [(10, 15)]),
                ("0 absent 5 up", [(0, 5)]),
                ("2 outage", [(2, math.inf)]),
                # The states `outage` and `down` both mean that the link
                # delivers nothing. If the link changes from one to the other,
                # it still delivers nothing, so both states must be part of the
                # same period.
                ("1 outage 2 down 4 up 6 hold 7 up", [(1, 4), (6, 7)]),
                ("3 renumbered", [])):
            with self.subTest(text=text):
                self.assertEqual(link_schedules.closed(parse(text)), closed)

    def test_a_link_without_a_schedule_is_never_closed(self):
        self.assertEqual(link_schedules.closed_times({"name": "lte"}), [])

    def test_the_end_of_a_time_without_the_link_does_not_belong_to_it(self):
        link = {"name": "lte", "schedule": "0 up 10 down 15 up"}
        self.assertEqual([link_schedules.is_closed(link, seconds)
                          for seconds in (9.9, 10, 14.9, 15)],
                         [False, True, True, False])


class CommandsTest(unittest.TestCase):
    """Tests the commands that put a link into a state, such as `down`, and the
    commands that end this state. There are commands for the sending host and
    commands for the other host. Both are checked.
    """

    def check(self, state, enter, leave):
        self.assertEqual(link_schedules.enter(state, DEVICE, ADDRESS), enter)
        self.assertEqual(link_schedules.leave(state, DEVICE, ADDRESS, PEER),
                         leave)

    def test_up_needs_no_commands(self):
        self.check("up", ("", ""), ("", ""))

    def test_an_outage_drops_the_packets_of_both_hosts(self):
        self.check("outage", ("tc qdisc replace dev wl1 root blackhole",) * 2,
                   ("tc qdisc del dev wl1 root",) * 2)

    def test_held_packets_wait_in_both_hosts_and_are_released_by_another(self):
        self.assertEqual(
            link_schedules.enter("hold", DEVICE, ADDRESS),
            ("tc qdisc replace dev wl1 root tbf rate 8bit burst 3000 "
             "limit 150000",) * 2)
        commands = link_schedules.leave("hold", DEVICE, ADDRESS, PEER)
        for command, other in zip(commands, (PEER, ADDRESS)):
            self.assertRegex(
                command, "^tc qdisc change dev wl1 root tbf rate 1gbit burst "
                rf"300000 limit 150000 && .*\(\"{other}\", 9\)")

    def test_only_the_sending_host_loses_its_device(self):
        self.check("down", ("ip link set wl1 down", ""),
                   ("ip link set wl1 up", ""))

    def test_an_absent_link_has_no_address(self):
        self.check("absent", ("ip link set wl1 down && "
                              "ip -4 addr flush dev wl1", ""),
                   ("ip addr add 10.77.1.2/24 dev wl1 && "
                    "ip link set wl1 up", ""))

    def test_a_renumbered_link_has_another_address_of_the_same_network(self):
        self.check("renumbered", ("ip addr del 10.77.1.2/24 dev wl1 && "
                                  "ip addr add 10.77.1.102/24 dev wl1", ""),
                   ("ip addr del 10.77.1.102/24 dev wl1 && "
                    "ip addr add 10.77.1.2/24 dev wl1", ""))


class LogTest(unittest.TestCase):

    def test_dropped_packets_of_all_links_are_added(self):
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            self.assertEqual(link_schedules.dropped(directory), 0)
            (directory / link_schedules.LOG).write_text(
                "wall_ns,device,state,dropped\n1,wl0,up,0\n2,wl1,outage,0\n"
                "3,wl1,up,17\n4,wl0,end,0\n4,wl1,end,3\n")
            self.assertEqual(link_schedules.dropped(directory), 20)


class ClosedRunTest(unittest.TestCase):

    def closed(self, text):
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            if text:
                (directory / link_schedules.LOG).write_text(
                    ",".join(link_schedules.HEADS) + "\n" + text)
            return link_schedules.closed_ns(directory)

    def test_the_times_of_day_at_which_links_were_closed(self):
        self.assertEqual(
            self.closed("10,wl0,up,0\n20,wl1,absent,0\n30,wl0,down,0\n"
                        "40,wl1,up,0\n50,wl0,up,0\n60,wl1,outage,0\n"
                        "90,wl0,end,0\n90,wl1,end,5\n"),
            {"wl0": [(30, 50)], "wl1": [(20, 40), (60, math.inf)]})

    def test_a_run_without_schedules(self):
        self.assertEqual(self.closed(""), {})


if __name__ == "__main__":
    unittest.main()
