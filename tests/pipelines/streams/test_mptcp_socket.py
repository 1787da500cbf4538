# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests mptcp_socket, which tells the MPTCP implementation of the kernel which
addresses the host has. It reads the addresses from the output of the command
`ip`."""

import unittest
import unittest.mock

from wirelesslab.streams import mptcp_socket

ADDRESSES = """\
2: wl0    inet 10.77.0.2/24 scope global wl0\\       valid_lft forever
3: wl1    inet 10.77.1.2/24 brd 10.77.1.255 scope global wl1\\       valid_lft 9
"""
ENDPOINTS = """\
10.77.0.2 id 1 subflow dev wl0
10.77.1.102 id 3 subflow dev wl1
"""


class AddressesTest(unittest.TestCase):

    def test_addresses_and_their_devices(self):
        with unittest.mock.patch.object(mptcp_socket, "ip",
                                        lambda *_: ADDRESSES):
            self.assertEqual(mptcp_socket.addresses(),
                             {"10.77.0.2": "wl0", "10.77.1.2": "wl1"})

    def test_endpoints_and_their_numbers(self):
        self.assertEqual(mptcp_socket.endpoints(ENDPOINTS),
                         {"10.77.0.2": "1", "10.77.1.102": "3"})
        self.assertEqual(mptcp_socket.endpoints(""), {})

    def test_the_kernel_is_told_what_disappeared_and_what_appeared(self):
        self.assertEqual(
            mptcp_socket.changes({"10.77.0.2": "1", "10.77.1.102": "3"},
                                 {"10.77.0.2": "wl0", "10.77.1.2": "wl1"}),
            [["delete", "id", "3"],
             ["add", "10.77.1.2", "dev", "wl1", "subflow"]])
        self.assertEqual(
            mptcp_socket.changes({"10.77.0.2": "1"}, {"10.77.0.2": "wl0"}), [])


if __name__ == "__main__":
    unittest.main()
