# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the walks in docs/architecture.md. A walk lists the functions that a
packet passes, in their order, and the file of each function. Each function
must exist in this file, and must call the next function of the walk. A walk
must not exceed a maximum length. The page must also name all other functions
that a function of the walk calls with a packet.
"""

import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
PAGE = SOURCE / "docs/architecture.md"
# In docs/architecture.md, a walk lists the functions that a packet passes on
# its way through a sink element. This dictionary maps each sink to the limits
# of its walk: (maximum number of functions, maximum number of files).
LIMITS = {"mmtpsink": (25, 12), "dccpthinsink": (20, 10),
           "udplitesink": (20, 10)}
# Some functions are called through function pointers in a struct. This
# dictionary maps the name of each such function to the name of its pointer.
VERBS = {"gst_network_sink_render": "render",
         "gst_mmtp_sink_send_packets": "send_packets",
         "gst_dccp_thin_sink_send_packets": "send_packets",
         "gst_udplite_sink_send_packets": "send_packets",
         "sender_poll_output": "poll_output", "poll_output": "poll_output",
         "kernel_send": "send"}
# The types of the C structs that contain a packet or a part of it, or the
# buffer from which packets are made.
PACKET_TYPES = ("GstBuffer", "MmtpPacket", "MmtpUnit", "Datagram",
                "SocketMessage", "DccpPacket", "UdpliteOutput")
PACKET = re.compile(rf"\b(?:{'|'.join(PACKET_TYPES)})\b \*")
DEFINITION = re.compile(
    r"^(static )?\w[^\n;{}()]*\n(\w+) \(((?:[^()]|\([^()]*\))*)\)\n\{", re.M)
HEADING = re.compile(r"^`(\w+)`.*, (\d+) functions in (\d+) files:$", re.M)
LINE = re.compile(r"^( {4,})(\w+) +(\w+\.c)$")


def read_walks(text):
    """Reads the walk of each sink from `text`, which is docs/architecture.md.
    A walk is the list of the functions that a packet passes. Returns {sink:
    (number of functions, number of files, steps)}. The two numbers are those
    that the text states. `steps` is a list of tuples (depth, function, file).
    """
    walks = {}
    for heading in HEADING.finditer(text):
        steps = []
        for line in text[heading.end():].lstrip("\n").splitlines():
            step = LINE.match(line)
            if not step:
                break
            steps.append((len(step[1]), step[2], step[3]))
        walks[heading[1]] = int(heading[2]), int(heading[3]), steps
    return walks


def find_body(function, file):
    """Returns the text of the definition of `function` in `file`. Returns None
    if the file does not define this function.
    """
    path, = [path for root in ("gst", "ext")
             for path in (SOURCE / root).rglob(file)]
    found = re.search(rf"^{function} \(.*?^}}", path.read_text(), re.M | re.S)
    return found and found[0]


def read_others(text):
    """Returns {sink: names of the functions that the page names below the walk
    of this sink}. A function of the walk calls them with a packet, but the
    packet does not pass through them.
    """
    return {found[1]: re.findall(r"`(\w+)`", found[2]) for found in re.finditer(
        r"^Beside the list of `(\w+)`:\n\n((?:- .*\n|  .*\n)+)", text, re.M)}


def find_functions_with_packets():
    """Returns all functions with a pointer to a packet among their parameters,
    as a set of pairs (file, function). For a function that is not static, the
    file is "", because functions in all files can call it.
    """
    functions = set()
    for root in ("gst", "ext"):
        for path in (SOURCE / root).rglob("*.c"):
            for is_static, function, parameters in DEFINITION.findall(
                    path.read_text()):
                if PACKET.search(parameters):
                    functions.add((path.name if is_static else "", function))
    return functions


class WalkTest(unittest.TestCase):

    def setUp(self):
        self.walks = read_walks(PAGE.read_text())

    def test_there_is_one_for_each_sink(self):
        self.assertEqual(set(self.walks), set(LIMITS))

    def test_the_page_names_all_functions_that_get_a_packet(self):
        others = read_others(PAGE.read_text())
        with_packets = find_functions_with_packets()
        for sink, (_, _, steps) in self.walks.items():
            names = {function for _, function, _ in steps}
            # A verb is a function pointer in a struct, and the walk names the
            # function to which it points.
            names |= {VERBS[name] for name in names if name in VERBS}
            called = set()
            for _, function, file in steps:
                body = find_body(function, file).partition("{")[2]
                called |= {name for name in re.findall(r"\b(\w+) \(", body)
                           if {("", name), (file, name)} & with_packets}
            with self.subTest(sink):
                self.assertEqual(sorted(called - names),
                                 sorted(others.get(sink, [])))

    def test_they_are_as_short_as_they_say(self):
        for sink, (functions, files, steps) in self.walks.items():
            with self.subTest(sink):
                self.assertEqual(functions, len(steps))
                self.assertEqual(files, len({file for *_, file in steps}))
                self.assertLessEqual(functions, LIMITS[sink][0])
                self.assertLessEqual(files, LIMITS[sink][1])

    def test_each_function_calls_the_next(self):
        for sink, (_, _, steps) in self.walks.items():
            callers = []
            for depth, function, file in steps:
                with self.subTest(sink, function=function):
                    body = find_body(function, file)
                    self.assertIsNotNone(body, f"{file} has no {function}")
                    while callers and callers[-1][0] >= depth:
                        callers.pop()
                    if callers:
                        called = VERBS.get(function, function)
                        self.assertRegex(callers[-1][1], rf"\b{called} \(")
                    callers.append((depth, body))


if __name__ == "__main__":
    unittest.main()
