# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hosts where there may be no namespaces: the same machine under several
addresses of its loopback, with relays between them for UDP.

A command of host a sends to $b, where a relay listens; the relay sends through
the link to the address that $b is for b's own commands. The port is the same
throughout, so the commands are those that would run in namespaces.
"""

import contextlib
import os
import socket

import children
import keeper
import namespaces

LEFT_OUT = """\
no hosts of their own here ({why}).
Relaying UDP port {ports} over this machine's loopback instead. Left out are
  - TCP, UDP-Lite, ICMP, raw IP and IPv6, and every other UDP port;
  - the kernel's verdict on checksums: what the link damages arrives damaged;
  - the sender's port: a receiver sees the relay's, and its answers have to go
    to one of the ports above;
  - what is set for a host or device alone: sysctls, MTU, queues, token bucket.
A receiver binds to its own host's address or with SO_REUSEADDR, as udpsrc does."""
ADDRESSES_PER_LINK = 4  # for each host: its own and that of the relay to it
MAX_LINKS = 250 // ADDRESSES_PER_LINK
NETWORKS = 255
OVERHEAD = 28  # headers of UDP and IPv4, which the relays don't see


class Loopback:
    """As Namespaces, without any."""

    def __init__(self, links):
        if len(links) > MAX_LINKS:
            raise children.Failed(
                f"{len(links)} links; {MAX_LINKS} is the most for relays")
        self._commands = []
        self._claim = socket.socket(socket.AF_UNIX)
        self._end, self._say_end = os.pipe()
        self._network = self._claim_network()

    def _claim_network(self):
        """One of 127.77.N.0/24 that no other testbed has; the kernel gives it
        back when we are gone."""
        for number in range(NETWORKS):
            with contextlib.suppress(OSError):
                self._claim.bind(f"\0gst-wireless-testbed-{number}")
                return f"127.77.{number}"
        raise children.Failed("too many testbeds run on this machine")

    def _place(self, link, host):
        return 1 + ADDRESSES_PER_LINK * link.index + link.hosts.index(host)

    def relay_address(self, link, host):
        """Where to send what is for the host."""
        return f"{self._network}.{self._place(link, host)}"

    def own_address(self, link, host):
        """Where the host's commands get it."""
        return f"{self._network}.{self._place(link, host) + 2}"

    def flows(self, link, ports):
        """Both directions of a link, for every port."""
        return [(host,
                 ["udpsrc",
                  f"address={self.relay_address(link, link.peer(host))}",
                  f"port={port}"],
                 ["udpsink",
                  f"host={self.own_address(link, link.peer(host))}",
                  f"port={port}", "sync=false", "async=false",
                  f"bind-address={self.relay_address(link, host)}"])
                for host in link.hosts for port in ports]

    def are_ready(self, link, ports):
        return all(keeper.listening("udp", port,
                                    self.relay_address(link, host))
                   for host in link.hosts for port in ports)

    def popen(self, host, argv, **options):
        del host  # they are all this machine
        child = namespaces.Command(
            argv, descriptors=[self._end],
            how={"join": [], "owner": os.getpid(), "end": self._end}, **options)
        self._commands.append(child)
        return child

    def close(self):
        os.write(self._say_end, b".")  # nobody reads it, so all see it
        for child in self._commands:
            child.wait()
        os.close(self._end)
        os.close(self._say_end)
        self._claim.close()
