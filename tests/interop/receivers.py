# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small models of two RTP receivers, live555 and gortsplib. Both receivers
rely on the video-specific header of RFC 2250.

If this header is empty (all bits are 0), both models output nothing. If both
models can receive a stream, the real live555 and gortsplib can receive it,
too.
"""


def live555(packets):
    """Returns the bytes that live555 outputs for `packets`.

    S, B and E are bits in the video-specific header of RFC 2250. live555 uses
    them to find units of the stream:
    - A packet with S or B begins a unit.
    - A packet with E ends a unit.
    - A packet with S but not B begins a unit and also ends it, so it is a
      whole unit.

    After a loss, live555 discards the current unit and all packets before the
    next unit.
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
    """Returns the frames that gortsplib (the library of mediamtx) outputs for
    `packets`, and the number of packets that it refuses.
    """
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
    """Looks for each slice of the stream in `delivered`, which is the output of
    a receiver. Returns the slices that are missing or in a wrong order.
    """
    missing, at = [], 0
    for picture in stream.pictures:
        for span in picture.slices:
            found = delivered.find(stream.bytes_of(span), at)
            if found < 0:
                missing.append(span)
            else:
                at = found + span[1] - span[0]
    return missing
