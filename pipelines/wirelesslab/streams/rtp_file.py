# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads files of RTP packets. In such a file, each packet is preceded by its
length (RFC 4571). GStreamer's `rtpstreampay` writes this format. Compares the
packets that were sent with those that arrived, and finds the complete frames.
"""

import dataclasses
import pathlib
import struct
from collections.abc import Sequence

HEADER = struct.Struct("!BBHI")  # RFC 3550 section 5.1, the first 8 bytes
HEADER_SIZE = 12
MARKER = 0x80


@dataclasses.dataclass(frozen=True)
class Packet:
    data: bytes
    marker: bool
    sequence_number: int
    timestamp: int

    def payload_size(self) -> int:
        return len(self.data) - HEADER_SIZE


def parse(data: bytes) -> Packet:
    _, second, sequence_number, timestamp = HEADER.unpack_from(data)
    return Packet(data, bool(second & MARKER), sequence_number, timestamp)


def read(path: pathlib.Path) -> list[Packet]:
    """Returns all complete packets of the file. If the last packet is cut off,
    it is left out.
    """
    data = path.read_bytes()
    found, place = [], 0
    while place + 2 <= len(data):
        size = int.from_bytes(data[place:place + 2], "big")
        packet = data[place + 2:place + 2 + size]
        if len(packet) == size >= HEADER_SIZE:
            found.append(parse(packet))
        place += 2 + size
    return found


def match(sent: Sequence[Packet],
          received: Sequence[Packet]) -> dict[int, Packet]:
    """Compares the packets that were sent with the packets that were received.
    Returns {index: packet} for the sent packets that arrived. The index is the
    position of the sent packet in `sent`. The packet is the received one with
    the same sequence number.
    """
    places = {packet.sequence_number: index
              for index, packet in enumerate(sent)}
    return {places[packet.sequence_number]: packet for packet in received
            if packet.sequence_number in places}


def frames(sent: Sequence[Packet]) -> list[list[int]]:
    """Groups the packets in `sent` into frames. Packets with the same RTP
    timestamp belong to the same frame. Returns a list with one item for each
    frame: the list of the indices of its packets in `sent`.
    """
    found = {}
    for index, packet in enumerate(sent):
        found.setdefault(packet.timestamp, []).append(index)
    return list(found.values())


def whole_frames(sent: Sequence[Packet],
                 arrived: dict[int, Packet]) -> list[int]:
    """Returns the numbers of the complete frames, counted from 0 in the order
    of sending. A frame is complete if all of its packets arrived. `sent` is
    the list of all packets that were sent. `arrived` has one entry for each
    packet that arrived. The key of the entry is the index of the packet in
    `sent`.
    """
    return [number for number, indices in enumerate(frames(sent))
            if all(index in arrived for index in indices)]
