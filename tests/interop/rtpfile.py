# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads and writes files of RTP packets, with RFC 4571 framing and as pcap.

gst-launch-1.0 writes the packets of a payloader with `rtpstreampay ! filesink`,
which needs no socket and loses nothing. tshark needs a pcap file.
"""

import pathlib
import struct
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class RtpPacket:
    """An RTP packet whose header is the fixed header of RFC 3550 section 5.1,
    without CSRC list and without header extension.
    """
    payload: bytes
    seq: int
    timestamp: int
    marker: bool = False
    ssrc: int = 0x57495245
    pt: int = 32

    @classmethod
    def parse(cls, data):
        first, second, seq, timestamp, ssrc = struct.unpack(">BBHII",
                                                            data[:12])
        if first >> 6 != 2:
            raise ValueError("RTP version %d" % (first >> 6))
        head = 12 + 4 * (first & 15)
        if first & 0x10:
            head += 4 + 4 * int.from_bytes(data[head + 2:head + 4], "big")
        tail = data[-1] if first & 0x20 else 0
        return cls(data[head:len(data) - tail], seq, timestamp,
                   bool(second & 0x80), ssrc, second & 0x7f)

    def pack(self):
        return struct.pack(">BBHII", 0x80, self.marker << 7 | self.pt,
                           self.seq & 0xffff, self.timestamp & 0xffffffff,
                           self.ssrc) + self.payload

    def but(self, **changes):
        return replace(self, **changes)

    @property
    def size(self):
        return 12 + len(self.payload)


def read_rfc4571(path):
    data, at, packets = pathlib.Path(path).read_bytes(), 0, []
    while at + 2 <= len(data):
        size, = struct.unpack_from(">H", data, at)
        packets.append(RtpPacket.parse(data[at + 2:at + 2 + size]))
        at += 2 + size
    if at != len(data):
        raise ValueError("%s: %d bytes over" % (path, len(data) - at))
    return packets


def write_rfc4571(path, packets):
    """Writes `packets` to a file, each preceded by its length (RFC 4571). An
    item of `packets` is either an RtpPacket, or bytes that are written
    unchanged as a packet.
    """
    with open(path, "wb") as out:
        for packet in packets:
            raw = packet if isinstance(packet, bytes) else packet.pack()
            out.write(struct.pack(">H", len(raw)) + raw)


def write_pcap(path, packets, port=5004):
    """Writes `packets` as a pcap file with raw IPv4 packets (LINKTYPE_RAW,
    101). The capture times of the packets are 10 microseconds apart.
    """
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101))
        for n, packet in enumerate(packets):
            raw = packet.pack()
            datagram = struct.pack(">HHHH", port, port, 8 + len(raw), 0) + raw
            ip = _ip_header(20 + len(datagram)) + datagram
            out.write(struct.pack("<IIII", n // 100000, n % 100000 * 10,
                                  len(ip), len(ip)) + ip)


def read_pcap(path):
    """Reads a pcap file. Returns the RTP packet in each UDP packet of the
    file. The captured packets may be Ethernet frames, frames of a Linux
    "cooked" capture, or raw IPv4 packets.
    """
    data = pathlib.Path(path).read_bytes()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") \
        else ">"
    link, = struct.unpack_from(order + "I", data, 20)
    skip = {1: 14, 101: 0, 113: 16, 228: 0}[link & 0xffff]
    at, packets = 24, []
    while at < len(data):
        size, = struct.unpack_from(order + "I", data, at + 8)
        ip = data[at + 16 + skip:at + 16 + size]
        at += 16 + size
        if ip[9] == 17:
            total, = struct.unpack_from(">H", ip, 2)
            packets.append(RtpPacket.parse(ip[4 * (ip[0] & 15) + 8:total]))
    return packets


def _ip_header(total):
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, total, 0, 0, 64, 17, 0,
                       b"\x7f\0\0\1", b"\x7f\0\0\1")
    checksum = sum(struct.unpack(">10H", head))
    checksum = ~((checksum & 0xffff) + (checksum >> 16)) & 0xffff
    return head[:10] + struct.pack(">H", checksum) + head[12:]
