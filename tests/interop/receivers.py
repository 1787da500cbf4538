# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two receivers that trust the video-specific header, as small models.

Both refuse what a payloader that leaves the header empty sends, so a stream
that passes here is understood by the programs that these rules come from.
"""


def live555(packets):
    """Bytes that live555 delivers.

    A unit begins with S or B and is complete with E, or with S without B;
    what a loss has hit is discarded up to the next beginning.
    """
    delivered, unit, whole, seq = bytearray(), bytearray(), True, None
    for packet in packets:
        flags = packet.payload[2]
        s, b, e = flags & 0x20, flags & 0x10, flags & 0x08
        if seq is not None and packet.seq != (seq + 1) & 0xffff:
            unit, whole = bytearray(), False
        seq = packet.seq
        if s or b:
            whole = True
        if whole:
            unit += packet.payload[4:]
            if e or (s and not b):
                delivered += unit
                unit = bytearray()
    return bytes(delivered)


def gortsplib(packets):
    """Frames that gortsplib (mediamtx) delivers, and packets it refuses."""
    frames, refused, parts, slices = [], 0, [], []
    seq = None
    for packet in packets:
        head = packet.payload[:4]
        b, e = head[2] & 0x10, head[2] & 0x08
        out_of_line = not b and (not parts or packet.seq != seq)
        if head[0] & 0xfc or head[2] & 0xc0 or out_of_line:
            parts, refused = [], refused + 1
            continue
        parts = [] if b else parts
        parts.append(packet.payload[4:])
        seq = (packet.seq + 1) & 0xffff
        if not e:
            continue
        slices += parts
        parts = []
        if packet.marker:
            frames.append(b"".join(slices))
            slices = []
    return frames, refused


def lacks_slices(stream, delivered):
    """Slices of the stream that aren't in what was delivered, in order."""
    missing, at = [], 0
    for picture in stream.pictures:
        for span in picture.slices:
            found = delivered.find(stream.bytes_of(span), at)
            if found < 0:
                missing.append(span)
            else:
                at = found + span[1] - span[0]
    return missing
