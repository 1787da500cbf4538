# SPDX-License-Identifier: LGPL-2.1-or-later
"""Computes what the kernel of a receiver must do with an IP packet. The
computation follows the texts of the RFCs and does not use a kernel: RFC 1071
(checksum), 791 and 8200 (IP), 768 (UDP) and 3828 (UDP-Lite).
"""

import dataclasses
import ipaddress
import socket
import struct

UDP, UDPLITE = 17, 136
PROTOCOLS = {"udp": UDP, "udplite": UDPLITE}
# Linux: include/net/udplite.h
SOL_UDPLITE = 136
UDPLITE_SEND_CSCOV, UDPLITE_RECV_CSCOV = 10, 11
HEADER = 8  # The size of a UDP or UDP-Lite header in bytes.

# The one's complement sum of the data and the checksum has this value if the
# checksum is correct.
NO_ERROR = 0xffff

# The fates of a packet.
DELIVERED = "delivered"
# The fate of a packet with a wrong checksum: the kernel drops the packet and
# counts it in InCsumErrors.
CHECKSUM = "checksum"
# The fate of a packet whose UDP or UDP-Lite header is invalid, or whose
# checksum coverage is too small for the receiver. The kernel drops the packet
# and counts it in InErrors, but not in InCsumErrors.
FORMAT = "format"
NO_PORT = "no port"
# The fate of a packet that does not reach the receiver's socket. There are two
# possible reasons. Either IP drops the packet, or the packet is not meant for
# this socket, because its protocol or its destination address differs.
ELSEWHERE = "elsewhere"


@dataclasses.dataclass(frozen=True)
class Verdict:
    fate: str
    payload: bytes = b""


@dataclasses.dataclass(frozen=True)
class Receiver:
    """A socket that receives. `coverage` is for UDP-Lite only: the socket
    refuses packets with a checksum that covers less than `coverage` bytes.
    """
    kind: str
    address: str
    port: int
    coverage: int = 0

    def protocol(self):
        return PROTOCOLS[self.kind]


def datagram_socket(kind, address):
    """Returns a datagram socket of the protocol `kind`, which is "udp" or
    "udplite". Raises OSError if the kernel does not support UDP-Lite (Linux
    removed it in 2026).
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.socket(family, socket.SOCK_DGRAM, PROTOCOLS[kind])


def why_no_udplite():
    try:
        datagram_socket("udplite", "127.0.0.1").close()
    except OSError as error:
        return f"this kernel has no UDP-Lite: {error}"
    return None


def internet_sum(data):
    """Returns the one's complement sum of 16-bit words (RFC 1071)."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total > 0xffff:
        total = (total & 0xffff) + (total >> 16)
    return total


def damage(packet, flips):
    """Returns a copy of the packet in which bits are inverted. `flips` is a
    list of pairs: the offset of a byte, and a mask of the bits of this byte
    that are inverted.
    """
    changed = bytearray(packet)
    for offset, flip in flips:
        changed[offset] ^= flip
    return bytes(changed)


def is_ip(packet):
    """Returns whether a TUN device accepts the packet. It accepts only the IP
    versions 4 and 6."""
    return packet[0] >> 4 in (4, 6)


def _open_ip4(packet):
    size = 4 * (packet[0] & 15)
    total = int.from_bytes(packet[2:4], "big")
    if (size < 20 or not size <= total <= len(packet)
            or internet_sum(packet[:size]) != NO_ERROR):
        return None
    if int.from_bytes(packet[6:8], "big") & 0x3fff:
        return None  # a fragment
    return packet[9], packet[12:16], packet[16:20], packet[size:total]


def _open_ip6(packet):
    end = 40 + int.from_bytes(packet[4:6], "big")
    # The kernel drops a packet if it is truncated or if its source is a
    # multicast address.
    if end > len(packet) or packet[8] == 0xff:
        return None
    return packet[6], packet[8:24], packet[24:40], packet[40:end]


def _pseudo_header(source, to, size, protocol):
    form = "!HBB" if len(source) == 4 else "!I3xB"
    values = (size, 0, protocol) if len(source) == 4 else (size, protocol)
    return source + to + struct.pack(form, *values)


def _covered(segment, protocol, is_ip6):
    """Reads the header of `segment`, which is the UDP or UDP-Lite part of a
    packet. Returns a pair. If the header is valid, the first item is the
    number of bytes that the checksum covers, or 0 if there is no checksum. The
    second item is the segment. In UDP, the header contains a length, and bytes
    beyond this length are removed from the segment.

    If the header is invalid, the first item is the fate of the packet: the
    constant FORMAT or CHECKSUM, which says why the kernel drops the packet.
    The second item is None."""
    length = int.from_bytes(segment[4:6], "big")
    if length > len(segment):
        return FORMAT, None
    if protocol == UDPLITE:
        # RFC 3828 section 3.1: in UDP-Lite, a coverage of 0 means the whole
        # packet. Coverages of 1 to 7 are forbidden, and so is a checksum of 0.
        if 0 < length < HEADER or segment[6:8] == b"\0\0":
            return CHECKSUM, None
        return length or len(segment), segment
    if length == 0 and is_ip6:  # RFC 2675: a jumbogram
        length = len(segment)
    if length < HEADER:
        return FORMAT, None
    if segment[6:8] == b"\0\0":
        # RFC 768: a checksum of 0 means that the packet has no checksum. This
        # is not allowed with IPv6 (RFC 8200 section 8.1).
        return (CHECKSUM, None) if is_ip6 else (0, segment[:length])
    return length, segment[:length]


def judge(packet, receiver):
    """Computes what the receiver's kernel must do with the packet. Returns the
    fate of the packet, and its payload if the fate is DELIVERED.
    """
    is_ip6 = packet[0] >> 4 == 6
    if not is_ip(packet):
        return Verdict(ELSEWHERE)
    opened = _open_ip6(packet) if is_ip6 else _open_ip4(packet)
    if opened is None:
        return Verdict(ELSEWHERE)
    protocol, source, to, segment = opened
    if (protocol != receiver.protocol()
            or to != ipaddress.ip_address(receiver.address).packed):
        return Verdict(ELSEWHERE)
    if len(segment) < HEADER:
        return Verdict(FORMAT)
    covered, segment = _covered(segment, protocol, is_ip6)
    if segment is None:
        return Verdict(covered)
    if covered and internet_sum(
            _pseudo_header(source, to, len(segment), protocol)
            + segment[:covered]) != NO_ERROR:
        return Verdict(CHECKSUM)
    if int.from_bytes(segment[2:4], "big") != receiver.port:
        return Verdict(NO_PORT)
    if protocol == UDPLITE and covered < min(receiver.coverage, len(segment)):
        return Verdict(FORMAT)
    return Verdict(DELIVERED, segment[HEADER:])
