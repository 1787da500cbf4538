# SPDX-License-Identifier: LGPL-2.1-or-later
"""A testbed for machines that do not allow network namespaces.

The testbed consists of hosts, for example host a and host b. A host is not a
machine of its own: it consists of several loopback addresses of this machine.
Relays between these addresses carry UDP packets.

A command is a program that the user runs in a host. For each host, each command
has an environment variable. The variable has the name of the host and contains
an address. For host b, the variable is $b. The value of $b depends on the host
in which the command runs:
- In host b itself, $b is the address at which commands of host b listen.
- In any other host, $b is the address of a relay.

A packet from host a to host b takes this route:
- A command of host a sends the packet to the relay.
- The relay sends the packet through the emulated link.
- The packet arrives at the address at which the commands of host b listen.

The port is the same at all these addresses. A command can therefore be used
without changes in a testbed with namespaces and in a testbed with relays.

Each direction of a link has its own relay (relay_process.py). If a command of
host b answers a packet, the relay from b to a carries the answer. This relay
delivers the answer to the program of host a that sent the last packet to host
b.
"""

import contextlib
import json
import os
import socket
import subprocess
from collections.abc import Sequence
from typing import Any

from wirelesslab import paths
from wirelesslab.errors import LabError
from wirelesslab.testbed import init_process, namespaces
from wirelesslab.testbed import links as linkage

LEFT_OUT = """\
no network namespaces for hosts here ({why}).
Relaying UDP port {ports} over this machine's loopback instead. Left out are
  - TCP, UDP-Lite, ICMP, raw IP and IPv6, and every other UDP port;
  - the kernel's check of checksums: damaged packets arrive damaged;
  - the sender's port: a receiver sees the relay's port, and its answers go to
    the sender of the last packet to that port;
  - settings of a single host or device: sysctls, MTU, queues, token bucket.
A receiver has to bind to the address of its host, or with SO_REUSEADDR, as \
udpsrc does."""
# The four kinds of addresses that a host has on a link. A packet to the host
# passes them in this order:
# - RELAY: the relay receives packets for the host here.
# - INTO: the packet enters the emulated link here.
# - OUT: the packet leaves the emulated link here.
# - OWN: the programs that run in the host receive packets here.
RELAY, OWN, INTO, OUT = range(4)
ADDRESSES_PER_LINK = 8
MAX_LINKS = 250 // ADDRESSES_PER_LINK
NETWORKS = 255
# Size in bytes of the headers of UDP and IPv4. A relay passes only the payload
# of a packet into the emulated link. The link therefore has to add this size
# to each packet.
OVERHEAD = 28


class Loopback:
    """The hosts of a testbed without network namespaces. A testbed uses either
    this class or the class Namespaces, so both have the same methods.
    """

    def __init__(self, links: list[linkage.Link], ports: list[int]) -> None:
        if len(links) > MAX_LINKS:
            raise LabError(
                f"{len(links)} links are too many for relays; the maximum is "
                f"{MAX_LINKS}")
        self._commands = []
        self._claim = socket.socket(socket.AF_UNIX)
        self._end, self._say_end = os.pipe()
        self._network = self._claim_network()
        self._relays = self._start_relays(links, ports)

    def _claim_network(self) -> str:
        """Returns a loopback network 127.77.N that no other testbed uses. To
        claim the network, this process binds a Unix socket whose name contains
        N. The kernel closes the socket when this process ends.
        """
        for number in range(NETWORKS):
            with contextlib.suppress(OSError):
                self._claim.bind(f"\0gst-wireless-testbed-{number}")
                return f"127.77.{number}"
        raise LabError(f"{NETWORKS} testbeds run on this machine, which is the "
                       "maximum")

    def _address(self, link: linkage.Link, host: str, what: int) -> str:
        place = (ADDRESSES_PER_LINK * link.index + 2 * what
                 + link.hosts.index(host))
        return f"{self._network}.{1 + place}"

    def relay_address(self, link: linkage.Link, host: str) -> str:
        """Returns the address to which other hosts send packets for the host
        `host`. The relay, a process that passes packets between the hosts,
        receives these packets.
        """
        return self._address(link, host, RELAY)

    def own_address(self, link: linkage.Link, host: str) -> str:
        """Returns the address at which commands in the host `host` receive
        packets.
        """
        return self._address(link, host, OWN)

    def _start_relays(self, links: list[linkage.Link],
                     ports: list[int]) -> namespaces.Command:
        directions = [{"relay": self._address(link, host, RELAY),
                       "into": self._address(link, host, INTO),
                       "out": self._address(link, host, OUT),
                       "to": self._address(link, host, OWN),
                       "from": self._address(link, link.peer(host), RELAY),
                       "port": port}
                      for link in links for host in link.hosts
                      for port in ports]
        return self.popen(namespaces.BETWEEN,
                          [*paths.command("testbed.relay_process",
                                          namespaces.PYTHON),
                           json.dumps(directions)],
                          stdin=subprocess.DEVNULL)

    def check(self) -> None:
        if self._relays.poll() is not None:
            raise LabError("the process of the relays has ended")

    def flows(self, link: linkage.Link, ports: list[int]) -> list[linkage.Flow]:
        """Returns the flows of the link: two flows for each port in `ports`,
        one for each direction. A flow says how packets enter and leave the
        link.
        """
        return [(host,
                 ["udpsrc",
                  f"address={self._address(link, link.peer(host), INTO)}",
                  f"port={port}"],
                 ["udpsink",
                  f"host={self._address(link, link.peer(host), OUT)}",
                  f"port={port}", "sync=false", "async=false"])
                for host in link.hosts for port in ports]

    def are_ready(self, link: linkage.Link, ports: list[int]) -> bool:
        return all(init_process.listening("udp", port,
                                          self._address(link, host, what))
                   for host in link.hosts for port in ports
                   for what in (RELAY, INTO, OUT))

    def popen(self, host: str, argv: Sequence[str | os.PathLike[str]],
              **options: Any) -> namespaces.Command:
        del host  # All hosts are this machine.
        child = namespaces.Command(
            argv, descriptors=[self._end],
            how={"join": [], "owner": os.getpid(), "end": self._end}, **options)
        self._commands.append(child)
        return child

    def close(self) -> None:
        # Writes one byte to the pipe that all processes watch. A process ends
        # when this pipe becomes readable. No process reads the byte. The pipe
        # therefore stays readable, so that all processes notice it.
        os.write(self._say_end, b".")
        for child in self._commands:
            child.wait()
        os.close(self._end)
        os.close(self._say_end)
        self._claim.close()
