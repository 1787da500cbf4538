# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks RTP packets against the elementary stream that they carry.

Checks the rules of these sections of RFC 2250:
- 3.1: the positions of headers and slices in a payload
- 3.3: the marker and the timestamp
- 3.4 and 3.4.1: the video-specific header and its extension

All expected values are computed from the elementary stream, and not from the
packets.

    faults = check(stream, packets, mtu=1400, mode="slices")
    print(summary(faults))          # {} if there are none
"""

from bisect import bisect_right
from collections import Counter, namedtuple
from dataclasses import dataclass, field

import mpegvideo
from mpegvideo import (
    EXTENSION,
    GROUP,
    PICTURE,
    SEQUENCE,
    SEQUENCE_END,
    USER_DATA,
)

Fault = namedtuple("Fault", "rule packet detail")

HEADER_ORDER = {SEQUENCE: 0, GROUP: 1, PICTURE: 2}
HEADER_CODES = (SEQUENCE, GROUP, PICTURE, EXTENSION, USER_DATA)

# The fields of the video-specific header (RFC 2250 section 3.4) as (name,
# number of bits), in the order of the figure in that section.
FIELDS = (("mbz", 5), ("t", 1), ("tr", 10), ("an", 1), ("n", 1), ("s", 1),
          ("b", 1), ("e", 1), ("p", 3), ("fbv", 1), ("bfc", 3), ("ffv", 1),
          ("ffc", 3))

# The fields of the MPEG-2 header extension (RFC 2250 section 3.4.1) as (name,
# number of bits), in the order of the figure in that section.
EXTENSION_FIELDS = (
    ("X", 1), ("E", 1), ("f00", 4), ("f01", 4), ("f10", 4), ("f11", 4),
    ("DC", 2), ("PS", 2), ("T", 1), ("P", 1), ("C", 1), ("Q", 1), ("V", 1),
    ("A", 1), ("R", 1), ("H", 1), ("G", 1), ("D", 1))


class MalformedHeader(Exception):
    pass


@dataclass
class VideoHeader:
    """The video-specific header of RFC 2250, which is between the RTP header
    and the video data.
    """
    fields: dict
    # The fields of the MPEG-2 header extension (RFC 2250 section 3.4.1). None
    # if the packet has no such extension, that is, if its bit T is 0.
    extension: dict = None
    # The 32 bits of the composite display fields. None if the bit D of the
    # MPEG-2 header extension is 0.
    composite: int = None
    # The extensions of the picture, with their padding. None if the bit E of
    # the MPEG-2 header extension is 0.
    extra: bytes = None
    size: int = 4

    @classmethod
    def parse(cls, payload):
        header = cls(_split(payload[:4], FIELDS))
        if header.fields["t"]:
            header._parse_extension(payload)
        return header

    def _parse_extension(self, payload):
        self.extension = _split(payload[4:8], EXTENSION_FIELDS)
        self.size = 8
        if self.extension["D"]:
            word = payload[8:12]
            if len(word) < 4:
                raise MalformedHeader("no room for composite display")
            self.composite = int.from_bytes(word, "big")
            self.size = 12
        if self.extension["E"]:
            length = 4 * payload[self.size] if self.size < len(payload) else 0
            if not length or self.size + length > len(payload):
                raise MalformedHeader("extensions of %d bytes" % length)
            self.extra = payload[self.size + 1:self.size + length]
            self.size += length


def _split(data, layout):
    if len(data) < 4:
        raise MalformedHeader("payload ends within the header")
    bits = mpegvideo.Bits(data)
    return {name: bits.take(width) for name, width in layout}


@dataclass
class Placed:
    """A packet, and the part of the elementary stream that it contains."""
    index: int
    packet: object
    header: VideoHeader
    start: int
    end: int
    picture: mpegvideo.Picture
    # All units of the stream (headers and slices) that are in the packet,
    # either completely or in part.
    units: list = field(default_factory=list)
    # Size in bytes of the sequence header that the sender has repeated in this
    # packet; 0 if there is none.
    injected: int = 0

    @property
    def begins_unit(self):
        return bool(self.injected) or self.units[0].start == self.start

    def begun(self, code_test):
        return [u for u in self.units
                if u.start >= self.start and code_test(u.code)]


def is_slice(code):
    return code in mpegvideo.SLICES


# ---------------------------------------------------------------------- placing

def place(stream, packets):
    """Finds out which part of the elementary stream each packet contains.
    Returns (list of Placed, list of faults). Stops at the first packet whose
    payload differs from the stream.
    """
    placed, faults, at, first = [], [], 0, 0
    starts = [picture.start for picture in stream.pictures]
    if starts:
        starts[0] = 0
    for index, packet in enumerate(packets):
        try:
            header = VideoHeader.parse(packet.payload)
        except MalformedHeader as error:
            return placed, faults + [Fault("header", index, str(error))]
        body = packet.payload[header.size:]
        injected = _injected_sequence(stream, at, body)
        body = body[injected:]
        if not body:
            faults.append(Fault("empty", index, "no payload"))
            continue
        if not stream.data.startswith(body, at):
            detail = "%d bytes differ from stream at %d" % (len(body), at)
            return placed, faults + [Fault("bytes", index, detail)]
        end = at + len(body)
        while stream.units[first].end <= at:
            first += 1
        last = first
        while last < len(stream.units) and stream.units[last].start < end:
            last += 1
        picture = stream.pictures[max(0, bisect_right(starts, at) - 1)]
        placed.append(Placed(index, packet, header, at, end, picture,
                             stream.units[first:last], injected))
        at = end
    if at != len(stream.data):
        detail = "%d of %d bytes came" % (at, len(stream.data))
        faults.append(Fault("bytes", len(packets), detail))
    return placed, faults


def _injected_sequence(stream, at, body):
    """Returns the length of the repeated sequence header at the beginning of
    the payload `body`, or 0 if there is none. A sender may repeat a sequence
    header at a position where the stream has none. `at` is the position in the
    stream at which the packet begins.
    """
    if not body.startswith(b"\0\0\1\xb3") or stream.data.startswith(body, at):
        return 0
    for span in reversed(stream.sequences):
        if span[0] < at and body.startswith(stream.bytes_of(span)):
            return span[1] - span[0]
    return 0


# -------------------------------------------------------------- expected fields

def expected_fields(placed, mpeg2_extension=False, new_header=None):
    """Returns the value that each field of the video-specific header (RFC 2250
    section 3.4) must have in the packet `placed`.

    `new_header` is the expected value of the bit N. It is None if the sender's
    property new-picture-bits is off.
    """
    picture, mpeg2 = placed.picture, placed.picture.coding is not None
    fbv, bfc, ffv, ffc = picture.vectors
    counts = mpeg2 and new_header is not None
    return {
        "mbz": 0,
        "t": int(mpeg2_extension and mpeg2),
        "tr": picture.temporal_reference,
        "an": int(counts),
        "n": int(counts and new_header),
        "s": int(bool(placed.injected
                      or placed.begun(lambda code: code == SEQUENCE))),
        "b": int(_slice_follows_headers(placed)),
        "e": int(_ends_slice(placed)),
        "p": picture.type,
        "fbv": fbv, "bfc": bfc, "ffv": ffv, "ffc": ffc,
    }


def _slice_follows_headers(placed):
    if not placed.begins_unit:
        return False
    for unit in placed.units:
        if unit.is_slice:
            return True
        if unit.code not in HEADER_CODES:
            return False
    return False


def _ends_slice(placed):
    last = placed.units[-1]
    return last.is_slice and last.end == placed.end


def _may_count_as_slice_end(placed):
    """Returns whether the packet ends with a sequence end code after the last
    slice.

    The bit E says that the last byte of a packet is the end of a slice
    (section 3.4). Section 3.4 does not say whether the end code belongs to the
    slice. If the end code belongs to the slice, E must be 1 in this packet. If
    the end code does not belong to the slice, E must be 0. However, with E =
    0, receivers that wait for E would lose the slice. Both values of E are
    therefore accepted in such a packet.
    """
    units = placed.units
    return (len(units) > 1 and units[-1].code == SEQUENCE_END
            and units[-1].end == placed.end and units[-2].is_slice)


def new_headers(stream):
    """Returns for each picture the expected bit N of RFC 2250. The bit says
    that a receiver cannot rebuild the picture header from an earlier picture
    of the same type.
    """
    latest, flags = {}, {}
    for picture in stream.pictures:
        flags[id(picture)] = latest.get(picture.type) != picture.parameters
        latest[picture.type] = picture.parameters
    return flags


def packed_header(stream, placed, mpeg2_extension=False, new_header=None):
    """Returns the video-specific header (RFC 2250 sections 3.4 and 3.4.1) that
    a correct sender writes into the packet `placed`.
    """
    fields = expected_fields(placed, mpeg2_extension, new_header)
    head = _join(fields, FIELDS)
    if not fields["t"]:
        return head
    words, composite, extra = expected_extension(stream, placed.picture)
    head += _join(words, EXTENSION_FIELDS)
    if composite is not None:
        head += composite.to_bytes(4, "big")
    if extra:
        padded = 1 + len(extra) + 3 & ~3
        head += bytes([padded // 4]) + extra + bytes(padded - 1 - len(extra))
    return head


def _join(fields, layout):
    word = 0
    for name, width in layout:
        word = word << width | fields[name]
    return word.to_bytes(4, "big")


# The MTU must be so large that a packet has room for at least this number of
# payload bytes (RFC 2250, section 3.1).
SMALLEST_PAYLOAD = 261


def expected_extension(stream, picture, mtu=None):
    """Returns (fields, composite, extra), the expected header extension of a
    packet (RFC 2250 section 3.4.1). `composite` is the composite display
    information, or None. `extra` contains the extensions of the picture,
    without padding.

    A packet must have room for SMALLEST_PAYLOAD bytes of video. If the
    extensions are too long for this, the sender must omit them. In this case,
    `extra` is empty.
    """
    coding = picture.coding
    extra = b"".join(stream.bytes_of(span) for span in picture.extensions)
    head = 12 + 8 + 4 * coding.composite_display_flag + (len(extra) + 4 & ~3)
    if mtu and mtu - head < SMALLEST_PAYLOAD:
        extra = b""
    names = [name for name, _ in EXTENSION_FIELDS]
    values = [0, int(bool(extra)), *coding.f_code,
              coding.intra_dc_precision, coding.picture_structure,
              coding.top_field_first, coding.frame_pred_frame_dct,
              coding.concealment_motion_vectors, coding.q_scale_type,
              coding.intra_vlc_format, coding.alternate_scan,
              coding.repeat_first_field, coding.chroma_420_type,
              coding.progressive_frame, coding.composite_display_flag]
    composite = coding.composite_display \
        if coding.composite_display_flag else None
    return dict(zip(names, values)), composite, extra


# ------------------------------------------------------------------------ rules

def check(stream, packets, mtu=None, mode=None, mpeg2_extension=False,
          new_picture_bits=False, timestamps=True, pt=32):
    """Checks `packets` against the elementary stream `stream`, and returns a
    list of all faults. The faults that one rule finds are in packet order.
    """
    placed, faults = place(stream, packets)
    faults += check_rtp(packets, pt, mtu)
    flags = new_headers(stream) if new_picture_bits else {}
    for item in placed:
        new_header = flags.get(id(item.picture))
        faults += check_header(item, mpeg2_extension, new_header)
        faults += check_order(item)
        faults += check_marker(item)
        if mpeg2_extension and item.picture.coding:
            faults += check_extension(stream, item, mtu)
    if timestamps:
        faults += check_timestamps(placed)
    if mode:
        faults += check_aggregation(stream, placed, mtu, mode)
    return faults


def check_rtp(packets, pt, mtu):
    for index, packet in enumerate(packets):
        previous = packets[index - 1] if index else packet.but(
            seq=packet.seq - 1)
        if packet.pt != pt:
            yield Fault("pt", index, packet.pt)
        if packet.ssrc != previous.ssrc:
            yield Fault("ssrc", index, packet.ssrc)
        if packet.seq != (previous.seq + 1) & 0xffff:
            yield Fault("seq", index, packet.seq)
        if mtu and packet.size > mtu:
            yield Fault("mtu", index, "%d > %d" % (packet.size, mtu))


def check_header(placed, mpeg2_extension, new_header):
    expected = expected_fields(placed, mpeg2_extension, new_header)
    for name, value in placed.header.fields.items():
        if value == expected[name]:
            continue
        if name == "e" and value and _may_count_as_slice_end(placed):
            continue
        yield Fault(name, placed.index, "%d, not %d in %s picture"
                    % (value, expected[name], placed.picture.letter))


def check_order(placed):
    """Checks section 3.1 of RFC 2250 for one packet. Sequence, GOP and picture
    headers must be complete, in this order, and at the beginning of the
    payload. If the payload begins inside a slice, no other slice may begin in
    this payload. A packet must not contain parts of two pictures.
    """
    top, rank = placed.begins_unit, -1
    for unit in placed.units:
        begins = unit.start >= placed.start
        header = unit.code in HEADER_ORDER
        if begins and header:
            if not top or HEADER_ORDER[unit.code] <= rank:
                yield Fault("header-place", placed.index, "%02x" % unit.code)
            rank = HEADER_ORDER[unit.code]
        if begins and unit.code == EXTENSION and rank < 0 \
                and not placed.injected:
            yield Fault("header-place", placed.index, "extension by itself")
        if begins and unit.end > placed.end and (
                header or unit.code == EXTENSION):
            yield Fault("header-split", placed.index, "%02x" % unit.code)
        if begins and unit.is_slice and not placed.begins_unit:
            yield Fault("slice-place", placed.index,
                        "slice %02x after a part of one" % unit.code)
        top = top and unit.code in HEADER_CODES
    if placed.picture.end < placed.end:
        yield Fault("one-picture", placed.index, "more than one picture")


def check_marker(placed):
    """Checks the marker bit of a packet: it must be set if and only if the
    packet contains the end of the last slice of a frame. A sequence end code
    after this slice does not count. It may be in a later packet, whose marker
    bit must then be 0.
    """
    frame = placed.picture.frame
    last = placed.start < frame.coded_end <= placed.end
    if placed.packet.marker != last:
        yield Fault("marker", placed.index, "%d, not %d"
                    % (placed.packet.marker, last))


def check_timestamps(placed):
    """Checks that each RTP timestamp is the presentation time of the frame in
    units of 1/90000 s, plus an offset. The sender may choose any offset, but
    it must be the same for all packets.
    """
    if not placed:
        return
    origin = placed[0].packet.timestamp - _ticks(placed[0])
    for item in placed:
        late = (item.packet.timestamp - origin - _ticks(item)) & 0xffffffff
        if late not in (0, 1, 0xffffffff):
            yield Fault("timestamp", item.index, "%d ticks off in %s frame %d"
                        % (late - (late >> 31 << 32), item.picture.letter,
                           item.picture.frame.display))


def _ticks(placed):
    return round(placed.picture.frame.pts * 90000)


def check_extension(stream, placed, mtu):
    header = placed.header
    if header.extension is None:
        return
    fields, composite, extra = expected_extension(stream, placed.picture,
                                                  mtu)
    for name, value in header.extension.items():
        if value != fields[name]:
            yield Fault("ext-" + name, placed.index, "%d, not %d"
                        % (value, fields[name]))
    if header.composite != composite:
        yield Fault("ext-composite", placed.index, header.composite)
    yield from _check_extra(placed.index, header.extra or b"", extra)


def _check_extra(index, got, wanted):
    padding = got[len(wanted):]
    if not got.startswith(wanted):
        yield Fault("ext-extra", index, got.hex())
    elif any(padding) or len(padding) > 3:
        yield Fault("ext-padding", index, padding.hex())


# ------------------------------------------------------------ aggregation modes

def check_aggregation(stream, placed, mtu, mode):
    for item in placed:
        slices = [u for u in item.units if u.is_slice]
        if mode == "none" and len(slices) > 1:
            yield Fault("none", item.index, "%d slices" % len(slices))
        if mode in ("none", "slices"):
            yield from _check_whole(item, mtu)
        if mode == "slices":
            yield from _check_greedy(stream, item, mtu)


def _check_whole(placed, mtu):
    """Checks a packet that ends in the middle of a slice. A slice may be
    divided only if it is too large for one packet, or if it is the first slice
    of a picture. If a slice is divided, the packet must be full: its size must
    be `mtu`.
    """
    last = placed.units[-1]
    if not last.is_slice or last.end == placed.end:
        return
    head = 12 + placed.header.size
    fits = last.end - last.start + head <= mtu
    after_headers = placed.picture.slices[0] == (last.start, last.end)
    if fits and not after_headers:
        yield Fault("whole", placed.index, "%d bytes would have fitted"
                    % (last.end - last.start))
    if placed.packet.size != mtu:
        yield Fault("whole", placed.index, "a part, and %d bytes unused"
                    % (mtu - placed.packet.size))


def _check_greedy(stream, placed, mtu):
    following = _unit_at(stream, placed.end)
    if not following or not following.is_slice or not placed.begins_unit:
        return
    if placed.packet.size + following.end - following.start <= mtu:
        yield Fault("greedy", placed.index, "room for the next slice, %d bytes"
                    % (following.end - following.start))


def _unit_at(stream, start):
    index = bisect_right(stream.units, start, key=lambda unit: unit.start) - 1
    unit = stream.units[index]
    return unit if unit.start == start else None


def packets_per_frame(stream, packets):
    placed, _ = place(stream, packets)
    return Counter(item.picture.frame.coding for item in placed)


def summary(faults):
    """Returns {rule: number of faults}."""
    return dict(Counter(fault.rule for fault in faults))
