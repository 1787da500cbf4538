# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads captured MMTP packets as the page docs/wire-mmtp.md defines them, and
reports each message that the page does not allow. To be independent, it shares
no code with the elements that send and receive MMTP.
"""

import collections
import dataclasses
import hashlib
import hmac
import struct

VERSION = 2
HEADER, TRAILER = 7, 8
DATA_HEADER = 16
NUMBERS = 1 << 16
TICKS = 1 << 24
DUE = 1 << 32
TYPES = ("DATA", "PROBE", "INIT", "COOKIE", "OPEN", "ACCEPT", "REFUSE", "JOIN",
         "CHALLENGE", "RESPONSE", "KEEPALIVE", "REPORT", "QUERY", "reserved",
         "LEAVE", "CAPS", "CAPS-ACK", "END", "END-ACK", "REPAIR")
OF_SENDER = {"DATA", "PROBE", "INIT", "OPEN", "JOIN", "RESPONSE", "KEEPALIVE",
             "QUERY", "LEAVE", "CAPS", "END", "REPAIR"}
OF_RECEIVER = {"COOKIE", "ACCEPT", "REFUSE", "CHALLENGE", "REPORT", "QUERY",
               "LEAVE", "CAPS-ACK", "END-ACK"}
UNNUMBERED = {"INIT", "COOKIE", "REFUSE"}
# The last 8 bytes of a message are its trailer. Without a key, no message has
# a seal, which is a digest that is computed with a key. If the sender and the
# receiver share a key, the trailer of some handshake messages is a seal. This
# set has the message types whose trailer is always a seal if there is a key. A
# REFUSE is not in the set, because its trailer is a seal only if the reason of
# the REFUSE is 2 (busy) or 5 (over).
SEALED = {"INIT", "COOKIE"}
UNSIGNED = {"INIT", "COOKIE", "OPEN", "ACCEPT", "REFUSE"}
# The size in bytes of each message type that has a fixed size.
SIZES = {"COOKIE": 63, "ACCEPT": 76, "REFUSE": 32,
         "CHALLENGE": 31, "RESPONSE": 23, "KEEPALIVE": 55, "QUERY": 16,
         "LEAVE": 22, "CAPS-ACK": 16, "END": 19, "END-ACK": 19}
MIN_SIZE = {"DATA": 24, "PROBE": 15, "INIT": 64, "OPEN": 116, "JOIN": 64,
            "REPORT": 39, "CAPS": 21, "REPAIR": 30, **SIZES}
FIRST, LAST, DELTA, DROPPABLE = 0x80, 0x40, 0x20, 0x10
MARKER, IS_HEADER, ZERO, PRELUDE = 0x08, 0x04, 0x02, 0x01
OF_BUFFER = DELTA | DROPPABLE | MARKER | IS_HEADER
# The fields that may occur in a prelude, an optional header of a buffer. They
# are listed in their order. Each field is a pair. The first number is a bit in
# the mask of the prelude, and says whether the field is present. The second
# number is the size of the field in bytes.
PRELUDE_FIELDS = ((0x01, 4), (0x02, 4), (0x04, 12), (0x08, 0), (0x10, 0),
                  (0x20, 4))
RECORD, MAX_RANGES, MAX_RECORDS = 42, 16, 16
UNMEASURED = 0x01
# A receiver sends REPORT messages over each channel, which is one network
# path. This is the minimum time between two of them on one channel, in units
# of 10 us.
REPORT_DISTANCE = 500


class Wrong(Exception):
    """A violation of the page."""


def need(condition, *words):
    if not condition:
        raise Wrong(" ".join(map(str, words)))


def number(data):
    return int.from_bytes(data, "big")


def digest(key, *parts):
    return hmac.new(key, b"".join(parts), hashlib.sha256).digest()


@dataclasses.dataclass
class Message:
    data: bytes
    type: str
    channel: int
    # Low 16 bits of the message's sequence number. The messages of each
    # channel (one network path) are numbered separately.
    low: int
    # The time at which the message was sent, in units of 10 us. It has 24
    # bits.
    time: int

    @classmethod
    def read(cls, data, allowed):
        need(len(data) >= HEADER + TRAILER, "short:", len(data), "bytes")
        need(data[0] >> 5 == VERSION, "version", data[0] >> 5)
        code = data[0] & 0x1f
        need(code < len(TYPES), "type", code)
        name = TYPES[code]
        need(name in allowed, name, "from the other side")
        need(len(data) >= MIN_SIZE[name], name, "of", len(data), "bytes")
        need(name not in SIZES or len(data) == SIZES[name], name, "of",
             len(data), "bytes")
        return cls(data, name, data[1], number(data[2:4]), number(data[4:7]))

    @property
    def body(self):
        return self.data[HEADER:-TRAILER]

    @property
    def trailer(self):
        return self.data[-TRAILER:]

    def field(self, first, last):
        """Returns the value of a field of the message. The field consists of
        the bytes `first` to `last`, including both. The bytes are numbered as
        in docs/wire-mmtp.md.
        """
        return number(self.data[first:last + 1])


@dataclasses.dataclass
class Keys:
    """Computes the trailer, which is the last 8 bytes of a message. If the
    endpoints share a key, `sender` and `receiver` are keys with which the
    sender and the receiver authenticate their messages. Otherwise they are
    tokens, and the trailer of a message is the token itself. Both values are
    known only after the handshake.
    """
    sender: bytes = None
    receiver: bytes = None
    has_key: bool = False

    def trailer(self, of_sender, whole_number, message):
        secret = self.sender if of_sender else self.receiver
        need(secret is not None, message.type, "before the handshake")
        if not self.has_key:
            return secret
        return digest(secret, struct.pack("!Q", whole_number),
                      message.data[:-TRAILER])[:TRAILER]


class Side:
    """Checks the messages of one endpoint, the sender or the receiver. The
    messages of each channel must be passed to this object in the order in
    which they were sent."""

    def __init__(self, session, is_sender):
        self.session, self.is_sender = session, is_sender
        self.allowed = OF_SENDER if is_sender else OF_RECEIVER
        self.next_number = collections.Counter()
        self.last_time = {}
        self.counts = collections.Counter()
        self.bytes = collections.Counter()
        self.sizes = collections.defaultdict(set)
        self.last_report = {}
        self.hasty_reports = 0

    def take(self, data, is_complete=True):
        """Checks one message, whose bytes are in `data`. If `is_complete` is
        true, it is an error if an earlier message of this endpoint is missing.
        """
        message = Message.read(data, self.allowed)
        self.counts[message.type] += 1
        self.bytes[message.channel] += len(data)
        self.sizes[message.type].add(len(data))
        self._check_time(message)
        whole = self._check_number(message, is_complete)
        self.session.shake_hands(message)
        if message.type in UNSIGNED:
            need(message.trailer == self.session.seal(message), message.type,
                 "with a wrong seal")
        else:
            need(message.trailer == self.session.keys.trailer(
                self.is_sender, whole, message), message.type, whole,
                "on channel", message.channel, "with a wrong trailer")
        check = getattr(self, "_check_" + message.type.lower().replace(
            "-", "_"), None)
        if check:
            check(message, whole)
        return message

    def _check_time(self, message):
        last = self.last_time.get(message.channel, message.time)
        need((message.time - last) % TICKS < TICKS // 2, message.type,
             "was sent before its forerunner")
        self.last_time[message.channel] = message.time

    def _check_number(self, message, is_complete):
        if message.type in UNNUMBERED:
            need(message.low == 0 or message.type == "REFUSE", message.type,
                 "has a number")
            return 0
        expected = self.next_number[message.channel]
        ahead = (message.low - expected) % NUMBERS
        need(ahead == 0 or not is_complete and ahead < NUMBERS // 2,
             message.type, "on channel", message.channel, "has number",
             message.low, "and not", expected % NUMBERS)
        self.next_number[message.channel] = expected + ahead + 1
        return expected + ahead

    # --------------------------------------------------------------- the sender

    def _check_data(self, message, _whole):
        self.session.stream.take(message)

    def _check_probe(self, message, _whole):
        need(not any(message.body), "a PROBE is of zeros")

    def _check_init(self, message, _whole):
        need(not any(message.data[23:-TRAILER]), "an INIT ends in zeros")

    def _check_open(self, message, _whole):
        need(message.field(63, 66) <= 60_000_000, "D0 of an OPEN")
        need(128 <= message.field(79, 80) <= 65507, "longest of an OPEN")
        need(10 <= message.field(81, 82) <= 10000, "period of an OPEN")
        need(message.field(83, 90) // 10 % TICKS == message.time,
             "an OPEN has two times")
        need(not any(message.data[108:]), "an OPEN ends in zeros")
        need(len(message.data) <= message.field(79, 80), "an OPEN is too long")

    def _check_join(self, message, whole):
        need(message.field(7, 14) == whole, "number of a JOIN")
        need(128 <= message.field(23, 24) <= 65507, "longest of a JOIN")
        need(not any(message.data[25:-TRAILER]), "a JOIN ends in zeros")

    def _check_keepalive(self, message, whole):
        need(message.field(7, 14) == whole, "number of a KEEPALIVE")
        need(message.field(15, 18) <= 60_000_000, "D0 of a KEEPALIVE")
        need(message.field(23, 26) <= message.field(19, 22),
             "given up behind what is new")
        need(message.data[33] & ~1 == 0, "flags of a KEEPALIVE")
        need(message.data[38] <= 1, "offset of a KEEPALIVE")

    def _check_caps(self, message, _whole):
        version, length, offset = message.data[7], message.field(8, 9), \
            message.field(10, 11)
        piece = message.data[12:-TRAILER]
        need(version > 0, "version of the CAPS")
        need(length <= 8192 and offset + len(piece) <= length,
             "a piece of the CAPS")
        self.session.caps.setdefault(version, {})[offset] = piece

    def _check_repair(self, message, _whole):
        need(message.field(10, 13) & 1, "mask of a REPAIR")
        self.session.stream.repairs.append(Repair(
            message.field(7, 9), message.field(10, 13),
            message.field(14, 15), message.data[16:-TRAILER]))

    def _check_end(self, message, _whole):
        self.session.end = message.field(7, 10)

    # ------------------------------------------------------------- the receiver

    def _check_report(self, message, whole):
        need(message.field(7, 14) == whole, "number of a REPORT")
        reported = message.field(15, 18)
        need(reported > 0 and reported not in self.session.reports,
             "a REPORT twice")
        self.session.reports.add(reported)
        need(message.data[30] <= MAX_RECORDS, "records of a REPORT")
        self._check_distance(message)
        rest = message.data[31:-TRAILER]
        for _ in range(message.data[30]):
            rest = self._check_record(rest, message.time)
        need(not rest, "bytes behind the records")

    def _check_distance(self, message):
        """Checks that the receiver waits at least 5 ms between two REPORT
        messages on a channel. A REPORT that answers a QUERY may come earlier.
        """
        last = self.last_report.get(message.channel)
        self.last_report[message.channel] = message.time
        if last is None or (message.time - last) % TICKS >= REPORT_DISTANCE:
            return
        self.hasty_reports += 1
        need(self.hasty_reports <= self.session.sender.counts["QUERY"],
             "REPORTs that are less than 5 ms apart")

    def _check_record(self, data, time):
        need(len(data) >= RECORD, "a record is cut")
        ranges = data[41]
        end = RECORD + 3 * ranges
        need(ranges <= MAX_RANGES and len(data) >= end, "ranges of a record")
        need(data[1] & ~UNMEASURED == 0, "flags of a record")
        minimum, high = struct.unpack("!2i", data[29:37])
        need(minimum <= high, "transits of a record")
        need(data[1] & UNMEASURED
             or (time - number(data[22:25])) % TICKS < TICKS // 2,
             "a message that comes after its REPORT")
        need(all(data[at] > 0 for at in range(RECORD + 2, end, 3)),
             "an empty range")
        sent = self.session.sender.next_number[data[0]]
        need(sent > 0, "a record of a channel without messages")
        need(number(data[6:10]) <= sent, "more came than was sent")
        need(number(data[18:22]) <= self.session.sender.bytes[data[0]],
             "more bytes came than were sent")
        return data[end:]

    def _check_cookie(self, message, _whole):
        need(len(message.data) <= max(self.session.sender.sizes["INIT"]),
             "a COOKIE is longer than what asked for it")

    def _check_challenge(self, message, _whole):
        need(len(message.data) <= max(self.session.sender.sizes["JOIN"]),
             "a CHALLENGE is longer than what asked for it")

    def _check_end_ack(self, message, _whole):
        need(message.field(7, 10) == self.session.end, "END-ACK of no END")
        self.session.end_acknowledged = True


@dataclasses.dataclass
class Packet:
    due: int
    flags: int
    caps: int
    payload: bytes

    @property
    def content(self):
        return struct.pack("!L2B", self.due, self.flags, self.caps) \
            + self.payload


@dataclasses.dataclass
class Repair:
    # The first packet that the REPAIR message protects. The value has the low
    # 24 bits of this packet's number in the stream. Bit 0 of `mask` stands for
    # this packet, and the following bits for the following packets.
    first: int
    mask: int
    sizes: int
    content: bytes

    def numbers(self):
        return [(self.first + bit) % TICKS for bit in range(32)
                if self.mask >> bit & 1]


def combined(contents):
    """Returns the XOR of all byte strings in `contents`. Shorter strings are
    padded with zeros at their end to the length of the longest string.
    """
    size = max(map(len, contents))
    result = 0
    for content in contents:
        result ^= number(content.ljust(size, b"\0"))
    return result.to_bytes(size, "big")


class Stream:
    """Collects the packets of the MMTP stream and joins them into buffers. A
    packet that was sent several times is stored once.
    """

    def __init__(self):
        self.packets = {}
        self.repairs = []
        self.again = 0
        self._highest = 0

    def take(self, message):
        need(len(message.data) - len(message.data[DATA_HEADER:-TRAILER])
             <= 24, "header and trailer of DATA")
        need(not message.data[14] & ZERO, "flags of DATA")
        low = message.field(7, 9)
        whole = self._highest + (low - self._highest + TICKS // 2) % TICKS \
            - TICKS // 2
        self._highest = max(self._highest, whole)
        packet = Packet(message.field(10, 13), message.data[14],
                        message.data[15], message.data[DATA_HEADER:-TRAILER])
        if whole in self.packets:
            self.again += 1
            need(self.packets[whole] == packet, "packet", whole,
                 "is another one when it is sent again")
        self.packets[whole] = packet

    def check_repairs(self):
        """Checks that each REPAIR message is the XOR of the packets that it
        protects. All packets of the stream must have been passed to take()
        before this check.
        """
        contents = {at % TICKS: packet.content
                    for at, packet in self.packets.items()}
        for repair in self.repairs:
            of_it = repair.numbers()
            need(all(at in contents for at in of_it),
                 "a REPAIR of what was not sent")
            size = 0
            for at in of_it:
                size ^= len(contents[at])
            need(repair.sizes == size, "sizes of a REPAIR")
            need(repair.content == combined([contents[at] for at in of_it]),
                 "contents of a REPAIR")

    def buffers(self):
        """Joins packets into buffers. Returns a list with a tuple (first
        packet, payload of the buffer) for each buffer that is complete. The
        flag FIRST marks the first packet of a buffer.
        """
        found, parts = [], []
        for at in sorted(self.packets):
            packet = self.packets[at]
            if packet.flags & FIRST:
                parts = [(at, packet)]
            elif parts and at == parts[-1][0] + 1:
                parts.append((at, packet))
            else:
                parts = []
            if parts and packet.flags & LAST:
                found.append(self._join([packet for _, packet in parts]))
                parts = []
        return found

    @staticmethod
    def _join(packets):
        first = packets[0]
        for packet in packets:
            need((packet.due, packet.caps, packet.flags & OF_BUFFER)
                 == (first.due, first.caps, first.flags & OF_BUFFER),
                 "packets of a buffer differ")
            need(packet is first or not packet.flags & (FIRST | PRELUDE),
                 "a prelude in the middle")
        payload = b"".join(packet.payload for packet in packets)
        if first.flags & PRELUDE:
            payload = payload[prelude_size(first.payload):]
        return first, payload


def prelude_size(payload):
    need(len(payload) >= 2, "a prelude is cut")
    size, mask = payload[0], payload[1]
    need(2 <= size <= min(64, len(payload)), "length of a prelude")
    need(sum(width for bit, width in PRELUDE_FIELDS if mask & bit) + 2 <= size,
         "a prelude is shorter than its mask says")
    return size


class Session:
    """A session between an MMTP sender and an MMTP receiver. `key` is the key
    that the application has given to both of them, or None if they have no
    key.
    """

    def __init__(self, key=None):
        self.key = key
        self.keys = Keys(has_key=key is not None)
        self.sender, self.receiver = Side(self, True), Side(self, False)
        self.stream = Stream()
        self.caps, self.reports = {}, set()
        self.end, self.end_acknowledged = None, False
        self._nonce_s = self._nonce_r = None

    def seal(self, message):
        """Returns the trailer that a handshake message must have. Such a
        message is not authenticated with the keys of the session. If the
        message has a seal, the trailer is a digest that is computed with the
        shared key. Otherwise all bytes of the trailer are zero.
        """
        busy_or_over = message.type == "REFUSE" and message.data[23] in (2, 5)
        if not self.key or not (message.type in SEALED or busy_or_over):
            return bytes(TRAILER)
        return digest(digest(self.key, b"mmtp1 handshake"),
                      message.data[:-TRAILER])[:TRAILER]

    def shake_hands(self, message):
        act = getattr(self, "_" + message.type.lower(), None)
        if act:
            act(message.data)

    def _init(self, data):
        need(self._nonce_s in (None, data[7:23]), "INIT with another nonce")
        self._nonce_s = data[7:23]


    def _open(self, data):
        need(data[7:23] == self._nonce_s, "OPEN with another nonce")
        need(data[91] == (1 if self.key else 0), "flags of an OPEN")
        self._check_mac(data, 92)
        if not self.key:
            self.keys.receiver = data[55:63]

    def _accept(self, data):
        need(data[7:23] == self._nonce_s, "ACCEPT of another nonce")
        need(data[51] == (1 if self.key else 0), "flags of an ACCEPT")
        self._check_mac(data, 52)
        self._nonce_r = data[23:39]
        if not self.key:
            self.keys.sender = data[39:47]
            return
        secret = digest(self.key, b"mmtp1 session", self._nonce_s,
                        self._nonce_r)
        self.keys.sender = digest(secret, b"sender")
        self.keys.receiver = digest(secret, b"receiver")

    def _check_mac(self, data, at):
        expected = digest(digest(self.key, b"mmtp1 handshake"),
                          data[:at])[:16] if self.key else bytes(16)
        need(data[at:at + 16] == expected, "MAC of the handshake")

    def caps_text(self, version):
        pieces = self.caps[version]
        text, at = b"", 0
        while at in pieces and pieces[at]:
            text += pieces[at]
            at = len(text)
        return text.decode()

    def check(self, sent, received, is_complete=True):
        """Checks all messages of the session. The sender may use several
        network devices. `sent` has one list for each device, with the messages
        that the sender sent over the device. `received` has one list for each
        device, with the messages of the receiver that arrived at the device.
        Messages of the receiver that were lost are not in these lists.
        `is_complete` is true if `sent` contains all messages that the sender
        sent."""
        for data in (data for way in sent for data in way):
            if data[0] & 0x1f in (TYPES.index("INIT"), TYPES.index("OPEN")):
                self.shake_hands(Message.read(data, OF_SENDER))
        for data in (data for way in received for data in way):
            if data[0] & 0x1f == TYPES.index("ACCEPT"):
                self.shake_hands(Message.read(data, OF_RECEIVER))
        for way in sent:
            for data in way:
                self.sender.take(data, is_complete)
        for way in received:
            for data in way:
                self.receiver.take(data, is_complete=False)
        if is_complete:
            self.stream.check_repairs()


def payloads(packets, port):
    """Returns the UDP payloads in `packets`, which are IP packets from a TUN
    device. Uses only UDP packets over IPv4 whose source or destination port is
    `port`.
    """
    found = []
    for packet in packets:
        if packet[0] >> 4 != 4 or packet[9] != 17:
            continue
        udp = packet[4 * (packet[0] & 15):]
        if port in struct.unpack("!2H", udp[:4]):
            found.append(udp[8:number(udp[4:6])])
    return found
