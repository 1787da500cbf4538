# SPDX-License-Identifier: LGPL-2.1-or-later
"""Relays UDP packets between hosts. The hosts are not network namespaces, but
consist only of loopback addresses.

loopback.py starts this program as `testbed.relay_process DESCRIPTION`.
DESCRIPTION is a JSON text with an entry for each direction of a link. The
entry for the direction from host A to host B has the addresses `relay`,
`into`, `out`, `to` and `from`. It also has the field `port`, the port of all
five addresses. A datagram from A to B is relayed in these steps:
1. A command in A sends the datagram to `relay`, the relay address of B. This
   process receives the datagram there.
2. This process sends the datagram to `into`, so that it enters the emulated
   link.
3. The datagram leaves the link. This process receives it at `out`.
4. This process sends the datagram to `to`, the address of B. The source
   address is `from`, the relay address of A.

`from` is also the `relay` of the direction from B to A. If B answers to
`from`, the answer therefore passes the link, too.

The answer is delivered to the port `port` of A. If A has sent its last
datagram from a different port, a second copy of the answer is delivered to
that port.
"""

import json
import select
import socket
import sys
from typing import Any

# The size in bytes of the receive buffer of each socket. A whole burst of
# packets fits into the buffer. Packets of a burst can therefore be lost only
# in the emulated link, and not in the socket.
BUFFER_BYTES = 1 << 20
MESSAGE_BYTES = 1 << 16


class Direction:
    """Relays packets in one direction of a link, from one host to the other.
    """

    def __init__(self, description: dict[str, Any]) -> None:
        self.given = description
        self.relay = bound(description["relay"], description["port"])
        self.out = bound(description["out"], description["port"])
        # `back` is the Direction object of the opposite direction. `sender` is
        # the source address of the latest packet that the socket `relay` has
        # received.
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
    """Receives a packet that was sent to the relay address of a host. Sends
    the packet into the emulated link to this host.
    """
    message, direction.sender = direction.relay.recvfrom(MESSAGE_BYTES)
    direction.relay.sendto(
        message, (direction.given["into"], direction.given["port"]))


def pass_to_host(direction: Direction) -> None:
    """Receives a packet that has left the emulated link. Passes the packet to
    the host at the end of the link.
    """
    message = direction.out.recv(MESSAGE_BYTES)
    port = direction.given["port"]
    direction.back.relay.sendto(message, (direction.given["to"], port))
    # The receiving host may have sent its latest packet from a port other than
    # `port`. The program at that port may be waiting for an answer. `message`
    # may be this answer, so a copy of `message` is sent to that port, too.
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
                # No socket listens at the destination address, or the queue of
                # the sending socket is full. The packet is lost, as it would
                # be in a network.
                pass
