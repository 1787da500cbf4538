#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the packets that two payloaders make from the same clip, for the
documentation. The payloaders are rtpmpvpay of GStreamer and the project's
rfc2250pay.

    meson devenv -C build ../tests/interop/show_packets.py CLIP FIRST COUNT

CLIP is a file, FIRST the index of the first printed packet, and COUNT the
number of printed packets. Without arguments, the program prints the first two
packets of a small clip of the tests.
"""

import pathlib
import sys

import clips
import peers
from rfc2250check import FIELDS, VideoHeader

TYPES = {0: "forbidden", 1: "I", 2: "P", 3: "B", 4: "D"}


def describe(packet):
    raw = packet.pack()
    header = VideoHeader.parse(packet.payload)
    fields = header.fields
    words = ["%s=%d" % (name.upper(), fields[name]) for name, _ in FIELDS]
    words[8] += " (%s)" % TYPES.get(fields["p"], "reserved")
    yield "RTP      %s   seq %d, time %d, marker %d, %d bytes" % (
        raw[:12].hex(" ", 4), packet.seq, packet.timestamp, packet.marker,
        len(raw))
    yield "video    %s   %s" % (packet.payload[:4].hex(" ", 4),
                                " ".join(words))
    yield "stream   %s ..." % packet.payload[
        header.size:header.size + 32].hex(" ", 4)


def main(clip=None, first=0, count=2):
    clip = pathlib.Path(clip) if clip else clips.small()
    first, count = int(first), int(count)
    for element in ("mpegvideoparse ! rtpmpvpay", "rfc2250pay"):
        packets = peers.pay(clip, element)
        print("%s: %d packets" % (element, len(packets)))
        for packet in packets[first:first + count]:
            print("\n".join(describe(packet)) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
