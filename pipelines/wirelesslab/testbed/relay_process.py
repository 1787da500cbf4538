# SPDX-License-Identifier: LGPL-2.1-or-later
"""What stands at the ends of a link of relays: answers find their way back.

Who sends to a host that is none gets to its door, an address of the loopback,
and is let into the link as whoever stands at its other end. What comes out of
the link leaves by the door of who sent it, for the host's own port. So an
answer to that door is let in again, towards the first, and there it is for
whoever sent from that host last, too.

Called by loopback.py as `testbed.relay_process DESCRIPTION`, one JSON text:
for each way through a link `door` and `out`, addresses to have; `into` and
`to`, addresses to send to; `from`, the door of the other way; and `port`, the
same for all.
"""

import json
import select
import socket
import sys
from typing import Any

BUFFER_BYTES = 1 << 20  # a burst that the link has to take, not we
MESSAGE_BYTES = 1 << 16


class Way:
    """From one host to another."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.given = description
        self.door = bound(description["door"], description["port"])
        self.out = bound(description["out"], description["port"])
        self.back = None  # of the other direction
        self.sender = None  # who came to the door last


def bound(address: str, port: int) -> socket.socket:
    new = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    new.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    new.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
    new.setblocking(False)
    new.bind((address, port))
    return new


def let_in(way: Way) -> None:
    """One who wants to go to the host."""
    message, way.sender = way.door.recvfrom(MESSAGE_BYTES)
    way.door.sendto(message, (way.given["into"], way.given["port"]))


def let_out(way: Way) -> None:
    """One who has come through, and leaves as who stands at the other end."""
    message = way.out.recv(MESSAGE_BYTES)
    port = way.given["port"]
    way.back.door.sendto(message, (way.given["to"], port))
    # From the port itself who listens there has sent, and has it by now.
    if way.back.sender and way.back.sender[1] != port:
        way.back.door.sendto(message, way.back.sender)


def main() -> None:
    ways = [Way(each) for each in json.loads(sys.argv[1])]
    doors = {(way.given["door"], way.given["port"]): way for way in ways}
    waiting = select.epoll()
    actions = {}
    for way in ways:
        way.back = doors[way.given["from"], way.given["port"]]
        for end, action in ((way.door, let_in), (way.out, let_out)):
            waiting.register(end, select.EPOLLIN)
            actions[end.fileno()] = action, way
    while True:
        for descriptor, _ in waiting.poll():
            action, way = actions[descriptor]
            try:
                action(way)
            except OSError:
                pass  # nobody listens there, or its queue is full: lost
