# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads DCCP packets as RFC 4340 defines them, and checks whole connections.

This module shares no code with the project's elements. The module itself may
have errors, too, so test_dccp.py also checks the packets with tshark.
"""

import collections
import dataclasses
import ipaddress
import struct

import peers
import udplite
from udplite import sockets

DCCP = 33
TYPES = ("Request", "Response", "Data", "Ack", "DataAck", "CloseReq", "Close",
         "Reset", "Sync", "SyncAck", "Listen")
WITHOUT_ACK = {"Request", "Data", "Listen"}
# Some packet types have further bytes in the header, after the sequence and
# acknowledgement numbers. This is the number of these bytes for each such type
# (RFC 4340 section 5).
MORE = {"Request": 4, "Response": 4, "Listen": 4, "Reset": 4}
# Size in bytes of DCCP's generic header with long sequence numbers (bit X =
# 1).
GENERIC = 16
RESET_SIZE = 28
# Reset codes
CLOSED, NO_CONNECTION, BAD_SERVICE, TOO_BUSY = 1, 3, 8, 9
CLOSING = ("CloseReq", "Close", "Reset")
NUMBERS = 1 << 48
# The default of DCCP's feature Sequence Window, in packets (RFC 4340 section
# 7.5.2).
SEQUENCE_WINDOW = 100

# The severities of remarks that tshark makes about a packet without a fault.
# "" means that tshark makes no remark. "Chat" is a note about an unusual
# value.
FINE = {"", "Chat"}
TSHARK_FIELDS = ("dccp.checksum.status", "_ws.expert.severity",
                 "_ws.expert.message", "_ws.malformed")
SEVERITIES = {"1048576": "Comment", "2097152": "Chat", "4194304": "Note",
              "6291456": "Warning", "8388608": "Error"}


class Wrong(Exception):
    """A violation of RFC 4340."""


def need(condition, *words):
    if not condition:
        raise Wrong(" ".join(map(str, words)))


def number(data):
    return int.from_bytes(data, "big")


@dataclasses.dataclass(frozen=True)
class Packet:
    time: float
    is_lost: bool
    source: tuple  # (address, port)
    to: tuple
    type: str
    sequence: int
    # The acknowledgement number, or None if packets of this type have no such
    # number.
    acknowledged: int
    ccval: int
    # The value of the header field CsCov (checksum coverage), from 0 to 15.
    coverage: int

    # Bytes of the header that depend on the packet type. In a Request, Response
    # or Listen, they contain the service code. In a Reset, they contain the
    # reset code and its data. Other packets have no such bytes.
    more: bytes
    options: bytes
    payload: bytes

    @classmethod
    def read(cls, seen):
        """Reads the packet `seen`. Raises Wrong if it violates a rule that RFC
        4340 has for every packet.
        """
        segment = udplite.segment_of(seen.packet)
        addresses = _addresses(seen.packet)
        need(len(segment) >= GENERIC, "only", len(segment), "bytes")
        need(segment[8] & 1, "a short sequence number")
        kind = segment[8] >> 1 & 15
        need(kind < len(TYPES), "type", kind)
        name = TYPES[kind]
        at = GENERIC
        acknowledged = None
        if name not in WITHOUT_ACK:
            acknowledged, at = number(segment[18:24]), 24
        more = segment[at:at + MORE.get(name, 0)]
        at += len(more)
        header = 4 * segment[4]
        need(at <= header <= len(segment), name, "with data offset",
             segment[4])
        _check_sum(segment, header, *addresses)
        return cls(seen.time, seen.is_lost,
                   (addresses[0], number(segment[:2])),
                   (addresses[1], number(segment[2:4])), name,
                   number(segment[10:16]), acknowledged, segment[5] >> 4,
                   segment[5] & 15, more, segment[at:header],
                   segment[header:])

    @property
    def reset_code(self):
        return self.more[0] if self.type == "Reset" else None

    @property
    def has_data(self):
        return self.type in ("Data", "DataAck")

    def __str__(self):
        return (f"{self.source[1]}>{self.to[1]} {self.type} "
                f"seq={self.sequence} ack={self.acknowledged} "
                f"more={self.more.hex()} options={self.options.hex()} "
                f"payload={len(self.payload)}{' lost' * self.is_lost}")


def _addresses(packet):
    return (packet[8:24], packet[24:40]) if packet[0] >> 4 == 6 else (
        packet[12:16], packet[16:20])


def _check_sum(segment, header, source, to):
    coverage = segment[5] & 15
    covered = header + 4 * (coverage - 1) if coverage else len(segment)
    need(covered <= len(segment), "coverage of", covered, "bytes of",
         len(segment))
    need(_sum(segment, covered, source, to) == sockets.NO_ERROR,
         "bad checksum")


def _sum(segment, covered, source, to):
    """Returns the one's complement sum from which the checksum of a DCCP
    packet is computed (RFC 4340 section 9). The sum covers the pseudo-header
    and the first `covered` bytes of the packet. The pseudo-header is the same
    as that of TCP, except for the protocol number.
    """
    pseudo = source + to + len(segment).to_bytes(4, "big") \
        + DCCP.to_bytes(4, "big")
    return sockets.internet_sum(pseudo + segment[:covered])


def reset(source, to, sequence, acknowledged):
    """Returns an IP packet with a DCCP Reset. `source` and `to` are pairs
    (address, port), as in the class Packet."""
    segment = struct.pack(
        "!HHBBHBB6s2x6sB3x", source[1], to[1], RESET_SIZE // 4, 0, 0,
        TYPES.index("Reset") << 1 | 1, 0, sequence.to_bytes(6, "big"),
        acknowledged.to_bytes(6, "big"), CLOSED)
    total = ~_sum(segment, RESET_SIZE, source[0], to[0]) & 0xffff
    return udplite.ip_packet(
        "IPv4", DCCP, *(str(ipaddress.ip_address(end[0]))
                        for end in (source, to)),
        segment[:6] + total.to_bytes(2, "big") + segment[8:])


class Connection:
    """A DCCP connection with all its packets, in the order in which they were
    sent.
    """

    def __init__(self, packets):
        self.packets = packets
        self.client = packets[0].source
        self.server = packets[0].to

    @classmethod
    def all(cls, seen):
        """Sorts the packets `seen` into connections and returns the list of
        connections. All packets between the same two endpoints belong to one
        connection. An endpoint is an address with a port."""
        found = collections.defaultdict(list)
        for each in map(Packet.read, seen):
            found[frozenset((each.source, each.to))].append(each)
        return [cls(packets) for packets in found.values()]

    def sent_by(self, end):
        return [packet for packet in self.packets if packet.source == end]

    def count(self, *types):
        return sum(packet.type in types for packet in self.packets)

    def data(self):
        return [packet for packet in self.packets if packet.has_data]

    def is_late_answer(self, sync):
        """Returns whether the Sync packet `sync` was sent only because the
        machine was slow. In this case, the peer has violated no rule.

        An endpoint compares the acknowledgement number of each packet that it
        receives with its own last packets. If the number is older than the
        last 100 packets, the endpoint answers with a Sync (RFC 4340 section
        7.5.1). 100 packets is the default of section 7.5.2, which Linux uses,
        too. On a busy machine, an endpoint may read a packet late and send
        many packets in the meantime. The acknowledgement number is then too
        old."""
        asked = next((packet for packet in self.packets
                      if packet.source == sync.to
                      and packet.sequence == sync.acknowledged), None)
        return (asked is not None and asked.acknowledged is not None
                and (sync.sequence - asked.acknowledged) % NUMBERS
                > SEQUENCE_WINDOW)

    def unexpected_syncs(self):
        return [packet for packet in self.packets
                if packet.type == "Sync" and not self.is_late_answer(packet)]

    def check(self, syncs=0):
        """Checks that the connection is opened and closed correctly, and that
        its packets are numbered correctly. The connection may have at most
        `syncs` Sync packets. Sync packets that an endpoint sent only because
        the machine is slow do not count. is_late_answer() finds them."""
        need(self.packets[0].type == "Request", "begins with",
             self.packets[0])
        for end in (self.client, self.server):
            self._check_numbers(end)
        unexpected = self.unexpected_syncs()
        need(len(unexpected) <= syncs, "Syncs:", *unexpected)
        self._check_end()

    def _check_numbers(self, end):
        """Checks the sequence numbers of the packets that the endpoint `end`
        has sent: the number must rise by one from each packet to the next (RFC
        4340 section 7.1). A Reset with the code No Connection is left out,
        because its sequence number does not continue the numbers of the
        connection.
        """
        mine = [packet for packet in self.sent_by(end)
                if packet.reset_code != NO_CONNECTION]
        for before, after in zip(mine, mine[1:]):
            if after.sequence != (before.sequence + 1) % NUMBERS:
                raise Wrong(f"{after} behind {before}")

    def _check_end(self):
        """Checks that the last packet of the connection is a Reset with the
        code Closed, and that there is no other Reset.

        There is one exception. To end the connection, an endpoint sends a
        packet such as Close. If this packet is lost or its answer is late, the
        endpoint sends it again. The peer may have forgotten the connection by
        then, and may answer the repeated packet with a Reset that has the code
        No Connection."""
        closing = [packet for packet in self.packets if packet.type in CLOSING]
        resets = [packet for packet in closing if packet.reset_code]
        need(any(packet.type == "Close" for packet in closing), "no Close")
        need(resets, "no Reset")
        # No packet may follow the last Reset, except a repeated Close. The
        # peer repeats its Close if this Reset is lost. The program that sent
        # the Reset may have ended by then, so the repeated Close may get no
        # answer.
        last, = [index for index, packet in enumerate(self.packets)
                 if packet is resets[-1]]
        behind = self.packets[last + 1:]
        need(not behind or (resets[-1].is_lost and all(
            packet.type == "Close" for packet in behind)),
            "behind the Reset:", *behind)
        asked = [(packet.source, packet.type) for packet in closing
                 if packet.type != "Reset"]
        again = len(asked) > len(set(asked)) or any(
            packet.is_lost for packet in closing)
        allowed = {CLOSED, NO_CONNECTION} if again else {CLOSED}
        need(again or len(resets) == 1, "Resets:", *resets)
        need({reset.reset_code for reset in resets} <= allowed, *resets)


def check_with_tshark(seen):
    """Checks that tshark finds no fault in any of the packets `seen`."""
    for packet, row in zip(seen, dissect([each.packet for each in seen])):
        need(row["dccp.checksum.status"] == udplite.GOOD, "tshark's checksum",
             row, packet.packet.hex())
        need(not row["_ws.malformed"], row, packet.packet.hex())
        for severity in row["_ws.expert.severity"].split(","):
            need(SEVERITIES.get(severity, severity) in FINE, row,
                 packet.packet.hex())


def dissect(packets):
    with peers.workdir() as work:
        udplite.write_pcap(work / "pcap", packets)
        rows = peers.tshark(work / "pcap", TSHARK_FIELDS, "-o",
                            "dccp.check_checksum:TRUE")
    need(len(rows) == len(packets), "tshark read", len(rows), "packets of",
         len(packets))
    return rows
