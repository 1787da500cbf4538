# SPDX-License-Identifier: LGPL-2.1-or-later
"""Relays UDP between hosts. Each host consists only of loopback addresses.

A command sends a datagram to the relay address of a host. The relay passes the
datagram into the link. When the datagram leaves the link, it is sent to the
port `port` of that host. Its source address is then the relay address of the
sending host. If the receiver answers to the source address, the answer
therefore goes back through the link.

An answer, too, is delivered to the port `port` of the host that receives it.
This host may have sent its last datagram from a different port. In this case,
a second copy of the answer is delivered to that other port.

loopback.py starts this program as `testbed.relay_process DESCRIPTION`.
DESCRIPTION is a JSON text with an entry for each direction of a link. An entry
has:
- `relay` and `out`, the addresses that this process binds,
- `into` and `to`, the addresses to which this process sends,
- `from`, the relay address of the other direction,
- `port`, the port that all these addresses use.
"""

import json
import select
import socket
import sys
from typing import Any

# The size of the socket's receive buffer in bytes. A burst fits into it, so
# that packets of a burst are lost only in the link, and not in the socket.
BUFFER_BYTES = 1 << 20
MESSAGE_BYTES = 1 << 16


class Direction:
    """The relay of one direction of a link, from one host to the other."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.given = description
        self.relay = bound(description["relay"], description["port"])
        self.out = bound(description["out"], description["port"])
        # `back` is the Direction object of the opposite direction. `sender` is
        # the address from which the last packet for `relay` came.
        self.back = None
        self.sender = None


def bound(address: str, port: int) -> socket.socket:
    new = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    new.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    new.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
    new.setblocking(False)
    new.bind((address, port))
    return new


def pass_into_link(direction: Direction) -> None:
    """Receives a packet at the relay address of a host, and sends it into the
    link to this host.
    """
    message, direction.sender = direction.relay.recvfrom(MESSAGE_BYTES)
    direction.relay.sendto(
        message, (direction.given["into"], direction.given["port"]))


def pass_to_host(direction: Direction) -> None:
    """Receives a packet that has left the link, and passes it to the host for
    which it is meant.
    """
    message = direction.out.recv(MESSAGE_BYTES)
    port = direction.given["port"]
    direction.back.relay.sendto(message, (direction.given["to"], port))
    # The host may have sent its last packet from a different port than `port`.
    # The program at that port may expect this packet as an answer, so a copy
    # of the packet is also sent to it.
    if direction.back.sender and direction.back.sender[1] != port:
        direction.back.relay.sendto(message, direction.back.sender)


def main() -> None:
    directions = [Direction(each) for each in json.loads(sys.argv[1])]
    relays = {(each.given["relay"], each.given["port"]): each
              for each in directions}
    waiting = select.epoll()
    actions = {}
    for direction in directions:
        direction.back = relays[direction.given["from"],
                                direction.given["port"]]
        for end, action in ((direction.relay, pass_into_link),
                            (direction.out, pass_to_host)):
            waiting.register(end, select.EPOLLIN)
            actions[end.fileno()] = action, direction
    while True:
        for descriptor, _ in waiting.poll():
            action, direction = actions[descriptor]
            try:
                action(direction)
            except OSError:
                # No socket listens at the address, or the queue of the socket
                # is full. The packet is lost, as it would be in a network.
                pass
