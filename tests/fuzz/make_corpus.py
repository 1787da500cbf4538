# SPDX-License-Identifier: LGPL-2.1-or-later
"""Regenerates the corpus of the fuzz targets. The inputs are small.

    tests/fuzz/make-corpus [BUILD-DIRECTORY]

The inputs of the link targets are written in this file. The other inputs are
made from clips of ffmpeg's test picture, in MPEG-1 and MPEG-2, with 48x48
pixels. Field pictures and rare headers are inserted as in the interoperability
tests. rfc2250pay, rtpmpvpay and ffmpeg convert the clips to RTP payloads. The
layout of the control bytes is defined by the files fuzz_*.c in this directory.
The existing files found-* are kept, because they are inputs with which the
fuzzers have found faults.
"""

import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1
                     else HERE.parents[1] / "build").resolve()
WORK = tempfile.TemporaryDirectory(prefix="fuzz-corpus-")
os.environ["WIRELESS_BUILD_DIR"] = WORK.name
os.environ["GST_PLUGIN_PATH_1_0"] = ":".join(
    map(str, (BUILD / "gst").glob("*/")))
os.environ["GST_REGISTRY_1_0"] = f"{WORK.name}/registry.bin"

import broadcast  # noqa: E402
import clips  # noqa: E402
import h264writer  # noqa: E402
import peers  # noqa: E402
from mpegvideo import SEQUENCE, Stream  # noqa: E402

FRAMES = 7
MTU = 300
SEQUENCE_END = b"\0\0\1\xb7"


def encode(name, size, codec, options=""):
    path = pathlib.Path(WORK.name) / name
    subprocess.run(
        ["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "lavfi",
         "-i", f"testsrc2=size={size}:rate=25", "-frames:v", str(FRAMES),
         "-g", "4", "-bf", "2", "-sc_threshold", "1000000000", "-q:v", "31",
         *options.split(), "-c:v", f"{codec}video", "-f", f"{codec}video",
         str(path)], check=True)
    return path.read_bytes()


def fields():
    """Returns a clip that is coded in field pictures. Its frames have 48x48
    pixels. clips._to_fields() always writes a height of 576 lines into the
    sequence header, so this function changes the height to 48.
    """
    half = encode("half.m2v", "48x24", "mpeg2")
    stream = clips._to_fields(Stream(half), 4)
    out = bytearray(stream)
    for unit in Stream(stream).units:
        if unit.code == SEQUENCE:
            raw = clips.set_bits(stream[unit.start:unit.end],
                                 *clips.VERTICAL_SIZE, 48)
            out[unit.start:unit.end] = raw
    return bytes(out)


def streams():
    mpeg1 = encode("small.m1v", "48x48", "mpeg1")
    mpeg2 = encode("small.m2v", "48x48", "mpeg2")
    parsed = Stream(mpeg2)
    return {
        "mpeg1": mpeg1,
        "mpeg2": mpeg2 + SEQUENCE_END,
        "interlaced": encode("interlaced.m2v", "48x64", "mpeg2",
                             "-flags +ildct+ilme -top 1"),
        "fields": fields(),
        "decorated": clips._decorate(parsed),
        "talkative": clips._add_user_data(parsed)[:3000],
        "no-groups": clips._without(
            parsed, [p.group for p in parsed.pictures if p.group]),
        "pulldown": clips._pull_down(parsed),
        "change": mpeg1 + SEQUENCE_END + encode("wide.m2v", "64x48", "mpeg2"),
        "junk": b"\0\0\1\xba junk \0\0" + mpeg1[40:900] + b"\0" * 9
                + mpeg2[:-30],
    }


def times(*choices):
    return bytes(choices[i % len(choices)] for i in range(16))


# The control bytes with which an input of fuzz_framer.c begins. For each
# stream, they have these values, in this order: flags, max_frame_size, steps,
# times.
FRAMER_CONTROL = {
    "mpeg1": (0, 0, b"\7\1\3\xff\2\0\5\x40", times(1, 1, 1)),
    "mpeg2": (1, 0, b"\x20\x21\1\1\4\3\2\6", times(0, 0, 3)),
    "interlaced": (2, 900, b"\1\2\3\4\5\6\7\x08", times(1, 0, 0)),
    "fields": (0, 0, b"\xbc\3\0\1\x11\x80\4\4", times(0, 1, 2)),
    "decorated": (4, 0, b"\4\3\2\1\4\5\6\7", times(0, 0, 0)),
    "talkative": (6, 500, b"\x30\x10\1\0\0\2\3\4", times(2, 9, 18)),
    "no-groups": (0, 0, b"\2\2\2\2\2\2\2\3", times(0, 0, 1)),
    "pulldown": (0, 0, b"\x7f\x7f\1\2\3\4\5\6", times(0, 0, 0)),
    "change": (1, 0, b"\x55\1\2\3\4\5\6\7", times(4, 5, 6, 7)),
    "junk": (5, 0, b"\5\3\1\1\1\1\1\1", times(0, 0, 0)),
}


def framer(made):
    for name, stream in made.items():
        flags, limit, steps, clock = FRAMER_CONTROL[name]
        yield name, struct.pack(">BH", flags, limit) + steps + clock + stream


def header(made):
    fields_of = bytes(range(0x80, 0x8c))
    for name in ("mpeg1", "fields", "decorated"):
        stream = Stream(made[name])
        seen = set()
        for unit in stream.units:
            raw = made[name][unit.start:unit.end]
            kind = (unit.code, raw[4] >> 4 if unit.code == 0xb5 else 0)
            if unit.is_slice or kind in seen:
                continue
            seen.add(kind)
            yield f"{name}-{kind[0]:02x}-{kind[1]}", fields_of + raw
    for name, packets in payloads(made):
        if name.startswith("extension"):
            for i, packet in enumerate(packets[:6]):
                yield f"{name}-{i}", fields_of + packet.payload[:64]


ROUND_TRIP = 1
EXTENSION = 1 << 5
NEW_PICTURE = 1 << 6


def unpacker(made):
    for i, (name, stream) in enumerate(made.items()):
        # on-loss says what the unpacker does after a loss, and aggregate says
        # how the packer divides the stream into packets. Together, the inputs
        # cover all values of both. Some inputs have lost packets, and the
        # others have none.
        flags = (ROUND_TRIP | i % 3 << 1 | (i + i // 3) % 3 << 3
                 | (EXTENSION if i % 2 else 0)
                 | (NEW_PICTURE if i % 4 > 1 else 0))
        interval = 255 if i % 3 == 1 else 0
        lost = 0 if i % 2 else 0x00100804
        yield f"stream-{name}", struct.pack(
            ">BHBI", flags, 37 * i, interval, lost) + stream
    for i, (name, packets) in enumerate(payloads(made)):
        yield f"packets-{name}", struct.pack(
            ">BHBI", i % 3 << 1, 0, 0, 0) + pack_packets(packets[:12])


def pack_packets(packets):
    """Returns the bytes of the packets in the format of fuzz_unpacker.c: for
    each packet a byte of flags, a length and the payload. Every ninth packet
    is left out, as if it had been lost.
    """
    out, last, gap = b"", None, False
    for i, packet in enumerate(packets):
        if i % 9 == 8:
            gap = True
            continue
        flags = packet.marker | gap << 1
        flags |= (packet.timestamp != last) << 2
        out += struct.pack(">BH", flags, len(packet.payload)) + packet.payload
        last, gap = packet.timestamp, False
    return out


def payloads(made):
    source = pathlib.Path(WORK.name)
    for name in ("mpeg1", "mpeg2", "fields", "decorated"):
        (source / f"{name}.mpv").write_bytes(made[name])
    ours = f"rfc2250pay mtu={MTU}"
    more = " mpeg2-extension=true new-picture-bits=true"
    yield "ours-mpeg1", peers.pay(source / "mpeg1.mpv", ours)
    yield "ours-fields", peers.pay(source / "fields.mpv", ours)
    yield "extension-fields", peers.pay(source / "fields.mpv", ours + more)
    yield "extension-decorated", peers.pay(source / "decorated.mpv",
                                           ours + more)
    yield "stock", peers.pay_stock(source / "mpeg2.mpv", mtu=MTU)
    yield "ffmpeg", peers.pay_ffmpeg(source / "small.m2v", mtu=MTU)


def reorder(_made):
    yield "in-order", bytes([8]) + bytes([0, 1]) * 24
    yield "swapped", bytes([8]) + bytes([0, 2, 0, 255, 0, 2]) * 12
    yield "duplicates", bytes([4]) + bytes([0, 1, 0, 0, 0, 3, 0, 0]) * 8
    yield "gap", bytes([3]) + bytes([0, 1, 0, 1, 0, 4, 0, 1, 14, 2]) * 6
    yield "sources", bytes([16]) + bytes([0, 2, 1, 1, 1, 2, 0, 1]) * 8
    yield "restart", (bytes([64]) + bytes([0, 1]) * 4 + b"\xc0\x12\x34"
                      + bytes([0, 3]) * 40 + b"\xe0\xc0\x12\x00"
                      + bytes([0, 1, 0, 2]) * 4 + b"\xd0\x02\xf0\0\1\0\2")


# --- links -----------------------------------------------------------------

PROFILES_C = HERE.parents[1] / "gst/wirelesslink/core/linkprofiles.c"
# The names (nicks) of the link profiles, in the order of the table in
# linkprofiles.c. A fuzz input selects a profile by its index in this table.
PROFILES = tuple(re.findall(r'^ *{{"([^"]+)",', PROFILES_C.read_text(), re.M))
TRACE, ABANDON, DIAL_UP, MANY_FLOWS = 1, 4, 8, 16
DROP_FRAME, IFD, END_FLOWS = 32, 64, 128
INPUT, SMALL, BURST, ADVANCE, WAKEUP, SET_STATION, ADD_FLOW, BACK = range(8)


def ifd(_made):
    """Makes inputs for fuzz_ifd.c. An input consists of an algorithm,
    max_frames, and commands. A command with a frame has three bytes. The first
    byte is the type of the frame, multiplied by 8. The second byte has the
    flags, and the third byte has the size.
    """
    closed, broken, leading, trailing, incomplete = (1 << i for i in range(5))

    def frame(kind, flags=0, size=10):
        return bytes(["IPB".index(kind) * 8, flags, size])

    def gop(flags, n_b, n_p, send):
        out = frame("I", flags, 90) + send
        for _ in range(n_p):
            out += (frame("B", 0, 20) + send) * n_b + frame("P", 0, 50) + send
        return out

    send, restart, flush = b"\4", b"\7", b"\x0f"
    slow = gop(closed, 2, 4, b"") + send + gop(0, 2, 4, send)
    for algorithm, name in enumerate(("paper", "paper-gop", "gop")):
        yield name, bytes([algorithm, 3]) + slow * 4
    yield "closed", b"\2\1" + gop(closed, 2, 2, send) * 6
    yield "overwritten", b"\2\1" + (
        frame("I") + send + frame("P") + frame("I") + send +
        frame("B") + send) * 3
    yield "broken", b"\2\2" + gop(0, 1, 3, send) + gop(broken, 3, 2, b"") * 4
    yield "pyramids", b"\2\4" + (
        frame("I") + frame("P", leading) + frame("B", leading) * 2 + send +
        frame("P", trailing) + frame("B", trailing) + send) * 6
    yield "incomplete", b"\2\2" + (
        gop(0, 2, 2, send) + frame("P", incomplete) + gop(incomplete, 1, 1,
                                                          send)) * 3
    yield "receivers", b"\2\3" + (slow + restart) * 3 + flush + slow
    yield "sizes", b"\2\1" + b"".join(
        gop(0, 2, 3, b"") + bytes([0x46, n]) + send for n in (9, 1, 0, 64, 255))
    yield "algorithms", b"\0\1" + b"".join(
        gop(0, 2, 2, send) + bytes([a << 5 | 6, 2]) for a in (1, 2, 0, 2))
    yield "i-only", b"\2\3" + (frame("I", 0, 9) * 5 + send) * 9
    yield "no-i", b"\2\3" + (frame("P", 0, 9) + frame("B") + send) * 99
    for seed in range(3):
        yield f"slots-{seed}", ifd_slots(seed)


def ifd_slots(seed):
    """Returns an input for fuzz_ifd. Most of its frames use and update slots,
    in which a decoder stores reference frames. A few frames belong to a codec
    without slots.
    """
    rng = random.Random(seed)
    out = bytearray([2, rng.randint(1, 6)])
    for _ in range(150):
        if rng.random() > 0.7:
            out.append(rng.choice([4, 4, 4, 4, 4, 4, 4, 4, 4, 7, 15]))
            continue
        kind = rng.choices([0, 1, 2], [1, 5, 4])[0]
        out += bytes([kind << 3, 0x80 if rng.random() < 0.95 else 0,
                      rng.randint(0, 255)])
        if out[-2]:
            out += bytes([rng.randint(1, 255) & rng.randint(1, 255),
                          0 if kind == 2 else 1 << rng.randint(0, 7),
                          rng.randint(0, 3)])
    return bytes(out)


def h264_headers():
    """Yields NAL units of H.264: headers with the values 1 and 2 of
    pic_order_cnt_type, and slices with all optional fields.
    """
    def bits():
        return h264writer.Bits()

    yield bits().u(8, 77).u(16, 30).ue(0, 0, 1).u(1, 0).se(-2, 1).ue(1).se(
        4).ue(4).u(1, 0).ue(0, 0).u(2, 0).unit(0x67)
    yield bits().ue(0, 0).u(2, 1).ue(0, 0, 0).u(3, 0).se(0, 0, 0).u(
        3, 0b100).unit(0x68)
    yield bits().ue(0, 7, 0).u(4, 0).u(1, 0).ue(0).se(0, 0).u(2, 0).unit(0x65)
    yield bits().ue(0, 7, 0).u(4, 1).u(1, 0).se(1, -3).u(1, 0).unit(0x41)
    yield bits().ue(0, 7, 0).u(4, 2).u(2, 3).se(0).unit(0x01)
    # H.264 headers of the profile High 4:4:4 with separate colour planes,
    # pic_order_cnt_type 2, weighted prediction and redundant pictures.
    yield bits().u(8, 244).u(16, 30).ue(0, 3).u(1, 1).ue(0, 0).u(3, 3).se(
        -8).u(11, 0).ue(0, 2, 4).u(1, 0).ue(0, 0).u(1, 1).unit(0x67)
    yield bits().ue(0, 0).u(2, 0).ue(1, 6, 3).u(4, 5).ue(3, 3).u(3, 5).se(
        0, 0, 0).u(3, 0b101).unit(0x68)
    yield bits().ue(0, 1, 0).u(2, 1).u(4, 1).ue(0).u(2, 3).ue(1, 0).u(1, 1).ue(
        0, 5, 2, 7, 3).u(1, 0).ue(3).u(1, 1).se(-20, 7).u(1, 0).u(1, 1).se(
        1, -1).u(1, 1).ue(1, 0, 2, 1, 3, 0, 2, 4, 3, 6, 1, 5, 0).unit(0x41)


def ifdclassifier(_made):
    """Makes inputs in the format that fuzz_ifdclassifier.c describes.
    """
    h264 = {
        "idr": "09 10; 67 64 00 28 ac; 68 ee 3c 80; 65 88 84",
        "open": "06 05 04 00 00 03 01 aa 06 01 e4 80; 41 88 82",
        "refresh": "67 64; 68 ee; 06 06 02 0f 44 80; 41 9a 02",
        "b": "01 9e 08; 01 03 33", "p": "41 9a 02; 41 05 55",
        "fields": "01 9e 08; 41 9a 02", "partitions": "02 9e; 03 11; 04 22",
        "views": "0e 40; 01 9e; 74 40 11",
        # Each of the following entries is an access unit with one or two
        # fields, or with a frame. The headers in the entries are the same as
        # in the streams that h264writer.py (tests/interop) writes. The entries
        # are, in this order:
        # - parameter sets and an I-field, the first field of an IDR picture
        # - the second field of this IDR picture, which is a P-field
        # - two B-fields
        # - two I-fields
        # - a leading P-picture
        # - a P-picture
        # - a picture that clears the references
        # - a P-picture
        "sets": "67 4d 00 1e 96 52 94 a0 1e 2c 5b 2c; 68 ce 3c 80;"
                "45 88 80 50 42 a0",
        "second": "41 9a 01 82 e5 40",
        "pair": "01 9e 03 00 79 50; 01 9e 03 80 f9 50",
        "field-i": "06 06 01 c4 80; 41 88 81 c2 8a 80",
        "field-i2": "06 06 01 c4 80; 41 88 81 e2 aa 80",
        "leading": "41 9a 08 12 ca 80", "p26": "41 9a 0a 1a ca 80",
        "forgets": "41 9a 0c 0a d3 6a", "p2": "41 9a 02 02 ca 80"}
    h264.update((f"headers-{i}", unit[4:].hex())
                for i, unit in enumerate(h264_headers()))
    h265 = {
        "idr": "40 01 0c; 42 01 01 01 60; 44 01 c1; 26 01 af",
        "cra": "46 01 50; 4e 01 05 00 80; 2a 01 af", "bla": "20 01 af",
        "rasl": "10 01 d0; 12 01 d0", "b": "00 01 d0", "p": "02 01 d0",
        "layers": "42 01 05 01 60; 00 03 d0; 02 09 d0"}
    avcc = bytes.fromhex("01 64 00 1e ff e1 000a 67 64 00 1e ac d9 40 a0 3d a1"
                         " 01 0004 68 ee 3c 80")
    hvcc = bytes.fromhex("01 01 60000000 900000000000 5d f000 fc fd f8 f8 0000"
                         " 0f 01 a1 0001 0005 42 01 03 01 60")

    def framed(units, head):
        return b"".join(head(unit) + unit for unit in units)

    def start_code(_unit):
        return b"\0\0\0\1"

    def length(unit):
        return struct.pack(">I", len(unit))

    for codec, vectors, codec_data in ((0, h264, avcc), (1, h265, hvcc)):
        streams, lengths, lists = b"", b"", b""
        for i, text in enumerate(vectors.values()):
            units = [bytes.fromhex(unit) for unit in text.split(";")]
            flags = (i * 5 % 32) << 3
            unit = framed(units, start_code)
            streams += bytes([flags, len(unit)]) + unit
            unit = framed(units, length)
            lengths += bytes([flags, len(unit)]) + unit
            lists += b"".join(bytes([flags & 0x7e, len(unit)]) + unit
                              for unit in units[:-1])
            lists += bytes([flags | 1, len(units[-1])]) + units[-1]
        name = f"h26{4 + codec}"
        yield f"{name}-byte-stream", bytes([codec]) + streams
        yield f"{name}-lengths", (bytes([2 + codec, len(codec_data)]) +
                                  codec_data + lengths)
        yield f"{name}-units", bytes([4 + codec]) + lists
        yield f"{name}-refused", (bytes([2 + codec, len(codec_data) - 2]) +
                                  codec_data[:-2] + streams)


def ivf_frames(codec, *options):
    """Yields the frames of a small clip that ffmpeg encodes with `codec`."""
    data = subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "lavfi", "-i",
         "testsrc=size=64x64:rate=25", "-frames:v", "7", "-threads", "1",
         "-c:v", codec, *options, "-f", "ivf", "-"],
        check=True, stdout=subprocess.PIPE).stdout
    at = 32
    while at < len(data):
        size = int.from_bytes(data[at:at + 4], "little")
        yield data[at + 12:at + 12 + size]
        at += 12 + size


def tspictures(_made):
    """Makes inputs for fuzz_tspictures.c. An input consists of one byte for
    the size of the buffers, followed by a transport stream."""
    def make(options):
        return subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i",
             "testsrc=size=64x64:rate=25", "-f", "lavfi", "-i", "sine",
             "-t", "0.2", "-threads", "1", *options.split(), "-pix_fmt",
             "yuv420p", "-c:a", "mp2", "-f", "mpegts", "-"],
            check=True, stdout=subprocess.PIPE).stdout

    yield "mpeg2", bytes([187]) + make("-c:v mpeg2video -bf 2")
    yield "h264", bytes([255]) + make("-c:v libx264 -bf 2")
    yield "h265", bytes([6]) + make(
        "-c:v libx265 -x265-params log-level=error")
    yield "no-video", bytes([99]) + make("-vn")
    # A transport stream with null packets, and with a program map table that
    # is so long that it needs two packets.
    yield "long-map", bytes([187]) + broadcast.add_data(
        make("-c:v mpeg2video -bf 2 -muxrate 3M"))[:80 * broadcast.PACKET]


def tsjoiner(made):
    """Makes inputs for fuzz_tsjoiner.c, which cuts a transport stream into
    pieces and joins the pieces again. An input has four parts:
    - the size of the buffers that contain the stream
    - a bit mask that says which pieces are left out
    - a bit mask that is XORed with the flags of each piece
    - the transport stream
    """
    for i, (name, data) in enumerate(tspictures(made)):
        missing = 0x11041 << i
        yield name, data[:1] + struct.pack(">IB", missing, i << 2) + data[1:]


def slotuse(_made):
    """Makes inputs for fuzz_slotuse.c. An input consists of a byte for the
    codec, followed by units. A unit consists of a byte of flags, the length of
    its data in two bytes, and its data.
    """
    vp8, vp9, av1, av1_frame = range(4)
    layer, sync, flush = 1, 2, 4

    def case(codec, frames, flags=lambda number: 0):
        return bytes([codec]) + b"".join(
            bytes([flags(number)]) + struct.pack(">H", len(frame)) + frame
            for number, frame in enumerate(frames))

    quick = "-deadline", "realtime", "-cpu-used", "8"
    frames = list(ivf_frames("libvpx", *quick, "-error-resilient", "1"))
    yield "vp8", case(vp8, frames)
    yield "vp8-layers", case(
        vp8, frames, lambda number: layer | (number % 3) << 4
        | (sync if number == 2 else 0))
    yield "vp8-altref", case(vp8, ivf_frames(
        "libvpx", "-auto-alt-ref", "1", "-lag-in-frames", "5"))
    yield "vp9", case(vp9, ivf_frames("libvpx-vp9", *quick),
                      lambda number: flush if number == 5 else 0)
    yield "vp9-resilient", case(vp9, ivf_frames(
        "libvpx-vp9", *quick, "-error-resilient", "1"))
    yield "vp9-superframe", case(vp9, ivf_frames(
        "libvpx-vp9", "-auto-alt-ref", "1", "-lag-in-frames", "7"))
    yield "vp9-existing", case(vp9, [b"\x8d", b"\x88\xc0\x01\xc0"])
    frames = list(ivf_frames("libaom-av1", "-cpu-used", "8"))
    yield "av1", case(av1, frames)
    yield "av1-frames", case(av1_frame, frames)
    yield "av1-svt", case(av1, ivf_frames("libsvtav1", "-preset", "12"))


def pictureinfo(_made):
    """Makes inputs for fuzz_pictureinfo.c. An input consists of a format, the
    codec data, and buffers. A buffer has flags, a time, a length and its data.
    """
    mpeg, h264, h265, h264_nal, h265_nal, rtp_mpeg, rtp_h264, rtp_h265, \
        vp8, vp9, av1, _, rtp_vp8, rtp_vp9, rtp_av1 = range(15)
    key, timed, flush = 1, 2, 4
    rtp = "80 60 0001 00000000 00000001"
    avcc = "01 64 00 1f fd e0 00"
    hvcc = "01" + 20 * "00" + "fd 00"

    def case(kind, *buffers, codec_data=""):
        data = bytes.fromhex(codec_data)
        whole = bytes([kind, len(data)]) + data
        for flags, time, text in buffers:
            one = bytes.fromhex(text)
            whole += struct.pack(">BBH", flags, time, len(one)) + one
        return whole

    gop = "000001b8 00080000"
    yield "mpeg", case(
        mpeg, (0, 0, gop + "00000100 008ffff8 00000101 20"),
        (0, 0, "00000100 001ffff8 00000101 20"),
        (0, 0, "00000100 0157fff8 00000101 20"))
    yield "h264", case(
        h264, (timed, 2, "00000001 0910 000001 6588 84"),
        (timed, 1, "000001 019e 80"), (timed | flush, 3, "000001 419a 80"))
    yield "h264-lengths", case(h264, (key, 0, "0002 0910 0003 419a80"),
                               codec_data=avcc)
    yield "h265", case(
        h265, (timed, 2, "00000001 2a01 af"), (timed, 1, "00000001 1001 d0"),
        (timed, 3, "000001 0001 d0"))
    yield "h264-nal", case(
        h264_nal, (timed | key, 2, "000001 4188"), (timed, 1, "000001 0188"),
        (0, 0, "00000001 0910"))
    yield "h264-nal-lengths", case(h264_nal, (0, 0, "0002 0188"),
                                   codec_data=avcc)
    yield "h265-nal-lengths", case(h265_nal, (0, 0, "0003 0001d0"),
                                   (0, 0, "0003 0003d0"), codec_data=hvcc)
    yield "rtp-mpeg", case(
        rtp_mpeg, (0, 0, rtp + "00020100" + gop +
                   "00000100 008ffff8 00000101 20"),
        (0, 0, rtp + "00000300 01020304"))
    yield "rtp-h264", case(
        rtp_h264, (timed, 2, rtp + "18 0002 0910 0001 67 0002 6588"),
        (timed, 1, rtp + "1c 8188"), (0, 0, rtp + "19 0007 0002 4188"),
        (0, 0, rtp + "18 0009 01"))
    yield "rtp-h265", case(
        rtp_h265, (0, 0, rtp + "6001 0003 460150 0003 260188"),
        (0, 0, rtp + "6201 8000"), (flush, 0, rtp + "1001 d0"))
    vp8_key = "b00000 9d012a4001f000 0200780800"
    vp9_key = "83498342 4013f00ef0"
    av1_sequence = "0000002444fdde000000"
    yield "vp8", case(vp8, (0, 0, vp8_key), (0, 0, "d10000 0801e0000000"),
                      (0, 0, "d10000 0801e0001000"))
    yield "vp9", case(vp9, (0, 0, vp9_key), (0, 0, "8701000900"),
                      (0, 0, "8700000900"), (0, 0, "8d"))
    yield "av1", case(av1, (0, 0, "0a0a" + av1_sequence + "301000"),
                      (0, 0, "30300000000000"))
    yield "rtp-vp8", case(
        rtp_vp8, (0, 0, rtp + "10" + vp8_key), (0, 0, rtp + "00 010203"),
        (0, 0, rtp + "90f0120560 d100000801e0000000"))
    yield "rtp-vp9", case(
        rtp_vp9, (0, 0, rtp + "8a81231801400 0f0020401 00".replace(" ", "")
                  + vp9_key), (0, 0, rtp + "f812200304 8700000900"))
    yield "rtp-av1", case(
        rtp_av1, (0, 0, rtp + "280b 08" + av1_sequence + "301000"),
        (0, 0, rtp + "0007 30300000000000 07 30300040000000"))


def videopacket(_made):
    """Makes inputs for fuzz_videopacket.c. An input consists of three parts:
    - one byte that selects the function that reads the packet
    - one byte that says how many bytes were cut off at the end of the packet
    - the remaining bytes of the packet
    """
    picture = bytes.fromhex("00000100 014ffff8")
    gop = bytes.fromhex("000001b8 00080040")
    sequence = bytes.fromhex("000001b3 16012013 ffffe0a0 000001b5 148a0001")
    slices = bytes.fromhex("00000101 12345678")
    ip, rtp_32, rtp_any, frame = range(4)

    def rtp(payload, kind=1, head=0x80, first=0x20, more=b""):
        return bytes([head, first, 1, 2, 0, 0, 0, 3, 9, 9, 9, 9]) + more \
            + bytes([0, 5, kind, 0]) + payload

    def udp(packet, protocol=17):
        length = struct.pack(">HHHH", 5004, 5004, len(packet) + 8, 0)
        return protocol, length + packet

    def ipv4(transport, fragment=0x4000):
        protocol, payload = transport
        return struct.pack(">BBHHHBBHII", 0x45, 0, len(payload) + 20, 1,
                           fragment, 64, protocol, 0, 1, 2) + payload

    def ipv6(transport):
        protocol, payload = transport
        return struct.pack(">IHBB", 6 << 28, len(payload), protocol,
                           64) + bytes(range(32)) + payload

    whole = rtp(sequence + gop + picture + slices)
    yield "rtp", bytes([rtp_32, 0]) + whole
    yield "marker", bytes([rtp_32, 9]) + rtp(slices, 2, first=0xa0)
    yield "empty-header", bytes([rtp_32, 0]) + rtp(picture, 0).replace(
        b"\0\5\0\0", bytes(4))
    yield "sources", bytes([rtp_any, 0]) + rtp(
        picture, head=0x92, first=96,
        more=bytes(8) + b"\xbe\xde\0\1" + bytes(4))
    yield "extension", bytes([rtp_32, 0]) + whole[:12] + bytes.fromhex(
        "04050100 40000001 00000000 02000001b58000 00") + picture
    yield "ipv4", bytes([ip, 0]) + ipv4(udp(whole))
    yield "ipv6", bytes([ip, 0]) + ipv6(udp(whole))
    yield "udp-lite", bytes([ip, 0]) + ipv4(udp(whole, 136))
    yield "fragment", bytes([ip, 0]) + ipv4(udp(whole), 0x2000)
    yield "short", bytes([ip, 0]) + ipv4(udp(whole))[:60]
    yield "head", bytes([ip, 4]) + ipv4(udp(whole))[:-4]
    yield "tcp", bytes([ip, 0]) + ipv4(udp(whole, 6))
    yield "frame", bytes([frame, 0]) + sequence + gop + picture + slices


def tunmerge(_made):
    """Makes inputs for fuzz_tunmerge.c. An input is a list of packets. Some
    packets have arbitrary bytes. The others are UDP packets with correct
    checksums.
    """
    ip4, ip6, dont_fragment, port = 0, 1, 8, 16

    def udp(different, payload, number=0, bit=0):
        return struct.pack(">BBHBHI", 1, different, payload, 65, number, bit)

    def any_bytes(data):
        return struct.pack(">BH", 0, len(data)) + data

    yield "ip4", b"".join(udp(ip4, 20, 65534 + i & 65535) for i in range(4))
    yield "ip4-same-number", udp(ip4, 20, 5) * 3
    yield "ip4-dont-fragment", udp(dont_fragment, 20) * 3
    yield "ip6", udp(ip6, 20) * 3
    yield "both", udp(ip4, 20) + udp(ip6, 20)
    yield "shorter", b"".join(udp(ip6, size) for size in (20, 20, 19, 20, 21))
    yield "empty", udp(ip6, 20) + udp(ip6, 0) + udp(ip6, 1)
    yield "ports", b"".join(udp(ip6 | port * (i % 2), 9) for i in range(4))
    yield "many", udp(ip6, 1) * 70
    yield "large", udp(ip6, 20000) * 4 + udp(dont_fragment, 21835) * 4
    yield "damaged", b"".join(udp(dont_fragment, 20, 0, bit)
                              for bit in (0, 1, 40, 0, 90, 170, 230, 0))
    yield "any", any_bytes(b"") + any_bytes(bytes.fromhex(
        "45000021000040004011") + bytes(23)) + any_bytes(b"\x60" + bytes(60))


def udplite(_made):
    """Makes inputs for fuzz_udplite.c. An input consists of one byte that
    selects the action, four bytes of settings for the action, and the bytes of
    a packet.
    """
    parse, parse_ipv4, write, coverage = range(4)
    rtp, mpv, h263, h263_1998 = range(1, 5)
    whole = bytes.fromhex("138c138e00286308") + bytes(range(32))
    partly = bytes.fromhex("138c138e001435f9") + bytes(range(32))
    addresses = bytes([192, 0, 2, 1, 192, 0, 2, 2])
    slices = bytes.fromhex("00000101 12345678")
    picture = bytes.fromhex("00000100 014ffff8")
    baseline = bytes.fromhex("00008002 08290a5a5a")
    plus = bytes.fromhex("8002 1c4800 1c0c 4500 5a5a")

    def ipv4(packet, options=b"", fragment=0x4000, protocol=136):
        length = len(options) + 20
        return struct.pack(">BBHHHBBH", 0x40 | length // 4, 0,
                           length + len(packet), 7, fragment, 64, protocol,
                           0) + addresses + options + packet

    def packet(payload, first=0x80, kind=96, more=b""):
        return bytes([first, kind, 1, 2, 0, 0, 0, 3, 9, 9, 9, 9]) + more \
            + payload

    def cover(kind, payload, mark=0):
        return struct.pack(">BBBH", coverage, kind, 0, mark) + payload

    for name, data in {"whole": whole, "partly": partly,
                       "short": whole[:7]}.items():
        yield f"parse-{name}", bytes([parse, 0, 0, 0, 20]) + data
    for name, data in {
            "plain": ipv4(partly), "options": ipv4(whole, bytes(8)),
            "padded": ipv4(whole) + bytes(6), "cut": ipv4(whole)[:-1],
            "fragment": ipv4(whole, fragment=0x2000),
            "udp": ipv4(whole, protocol=17)}.items():
        yield f"ipv4-{name}", bytes([parse_ipv4, 0, 0, 0, 0]) + data
    for i, covered in enumerate((0, 5, 8, 9, 20, 39, 40, 60)):
        yield f"write-{covered}", struct.pack(
            ">BHBB", write, covered, i, i * 3) + whole[8:]
    for name, data in {
            "unknown": cover(0, slices, 4), "rtp": cover(rtp, packet(slices)),
            "sources": cover(rtp, packet(
                slices, 0x92, more=bytes(8) + b"\xbe\xde\0\1" + bytes(4))),
            "padding": cover(rtp, packet(slices, 0xa0)),
            "rtcp": cover(rtp, packet(slices, kind=200)),
            "mpv": cover(mpv, packet(
                bytes.fromhex("00050f00") + picture + slices)),
            "mpv-slices": cover(mpv, packet(
                bytes.fromhex("00050f00") + slices), 9),
            "mpv-extensions": cover(mpv, packet(bytes.fromhex(
                "04050100 40000001 00000000 02000001b58000 00") + picture)),
            "h263-a": cover(h263, packet(bytes(4) + baseline)),
            "h263-b": cover(h263, packet(b"\x80" + bytes(7) + slices)),
            "h263-c": cover(h263, packet(b"\xc0" + bytes(11) + slices)),
            "h263-plus": cover(h263, packet(bytes(6) + plus)),
            "h263-1998": cover(h263_1998, packet(b"\4\0" + baseline[2:])),
            "h263-1998-plus": cover(h263_1998, packet(b"\4\0" + plus)),
            "h263-1998-extra": cover(h263_1998, packet(
                b"\2\x40\1" + plus[:8] + slices))}.items():
        yield f"coverage-{name}", data


def mmtp_message(kind, body, channel=3, number=0x0708, trailer=0xa1a2a3a4):
    """Returns an MMTP message as sections 2 and 3 of docs/wire-mmtp.md define
    it.
    """
    return struct.pack(">BBHBH", 2 << 5 | kind, channel, number, 1, 2) + body \
        + struct.pack(">Q", trailer)


def mmtp_messages():
    """Yields one message of each type in the order of the type numbers.
    Variants of some messages follow them.
    """
    nonce, cookie, mac = bytes(range(16)), bytes(range(32)), bytes(range(16))
    whole = 0x0102030405060708
    rates = struct.pack(">IQ", 25000, 4 * 10**6)
    record = struct.pack(">BB5IBHiiiI", 3, 1, 2000, 1990, 10, 2, 10**6, 0x12,
                         0x3456, -4, -5, 400, 1100)
    ranges = struct.pack(">BHBHB", 2, 1990, 3, 65535, 255)
    report = struct.pack(">QIIBHBHBB", whole, 9, 500, 3, 1, 2, 3, 4, 2)
    data = struct.pack(">BHIBB", 1, 2, 10**6, 0x28, 1)
    first = struct.pack(">BHIBB", 1, 2, 10**6, 0xc5, 1)
    prelude = struct.pack(">BBiI", 26, 0x3f, -40000, 40000) + rates \
        + struct.pack(">i", -2)
    opening = nonce + cookie + struct.pack(
        ">QIQIHHQB", whole, 500000, 10**6, 40000, 1460, 200, whole, 1) + mac
    yield from {
        "data": (0, data + b"payload"), "data-empty": (0, data),
        "data-prelude": (0, first + prelude + b"payload"),
        "data-prelude-longer": (0, first + b"\x08\xc9" + bytes(6) + b"x"),
        "data-prelude-cut": (0, first + prelude[:-1]),
        "probe": (1, bytes(40)), "probe-empty": (1, b""),
        "init": (2, nonce + bytes(33)),
        "cookie": (3, nonce + cookie), "open": (4, opening),
        "open-padded": (4, opening + bytes(100)),
        "accept": (5, nonce + nonce[::-1] + struct.pack(
            ">QIB", whole, 250000, 1) + mac),
        "refuse": (6, nonce + b"\2"),
        "join": (7, struct.pack(">QQH", whole, 99, 1460) + bytes(31)),
        "challenge": (8, struct.pack(">QQ", 99, 98)),
        "response": (9, struct.pack(">Q", 98)),
        "keepalive": (10, struct.pack(
            ">QIIIIBBBiBHBHBH", whole, 500000, 600, 500, 30000, 3, 1, 1, -1000,
            1, 1, 2, 3, 4, 50)),
        "report": (11, report + record + b"\0" + record + ranges),
        "report-cut": (11, report + record + b"\1"),
        "query": (12, b"\xff"),
        "reserved": (13, struct.pack(">BBII", 3, 7, 20000, 90000)),
        "leave": (14, struct.pack(">BBBI", 3, 1, 2, 2000)),
        "caps": (15, struct.pack(">BHH", 1, 300, 290) + b"video/mpeg"),
        "caps-ack": (16, b"\1"), "end": (17, struct.pack(">I", 700)),
        "end-ack": (18, struct.pack(">I", 700)),
        "repair": (19, b"\0\0\1" + struct.pack(">IH", 9, 40)
                   + b"repaired contents")}.items()


def mmtppacket(_made):
    """Makes inputs for fuzz_mmtppacket.c, which tests two functions. The first
    byte of an input selects the function:
    - 0 selects parse. The next byte of the input is the role of the endpoint
      that sent the message. The message follows.
    - 1 selects unwrap. This function returns the integer that has the given
      low bits and is nearest to a given integer. The input contains three
      integers: the number of low bits minus 1, the low bits, and the given
      integer.
    """
    parse, unwrap = range(2)
    sender, receiver = range(2)
    # Types of the MMTP messages that a receiver sends. All other messages in
    # this function come from a sender.
    theirs = (3, 5, 6, 8, 11, 13, 16, 18)
    for name, (kind, body) in mmtp_messages():
        yield name, bytes([parse, receiver if kind in theirs else sender]) \
            + mmtp_message(kind, body)
    for kind in (2, 4, 6):
        yield f"version-1-{kind}", bytes([parse, kind // 6, 0x20 | kind]) \
            + bytes(70 if kind < 6 else 31)
    for bits in (16, 24, 32):
        for name, low, near in (("zero", 2**bits - 1, 3), ("wrap", 3, 2**bits),
                                ("half", 2**(bits - 1), 2**40),
                                ("end", 3, 2**64 - 5)):
            yield f"unwrap-{bits}-{name}", struct.pack(
                ">BBQQ", unwrap, bits - 1, low, near)


MMTP_ORDERS = ("run", "run_long", "to_receiver", "to_sender", "replay", "lose",
               "spoil", "noise", "move", "add", "remove", "block", "put",
               "caps", "delays", "flush", "end", "begin_anew")


def mmtpsession(_made):
    """Yields pairs (name, input) for fuzz_mmtpsession.c. An input is a byte
    with flags, followed by commands. Each command is followed by its
    arguments.
    """
    def order(name, *arguments):
        return bytes([MMTP_ORDERS.index(name), *arguments])

    second = order("run_long", 10)
    for i, name in enumerate(MMTP_ORDERS[4:]):
        draw = random.Random(i)
        yield name, bytes([i % 2]) + second + order(
            name, 1, 1, *draw.randbytes(6)) * 3 + second
    for kind in range(19):
        draw = random.Random(kind)
        for role in "to_receiver", "to_sender":
            forged = [order(role, kind, i % 3, i % 3, *draw.randbytes(40))
                      for i in range(3)]
            yield f"{role}-{kind}", bytes([kind % 2]) + second \
                + (order("run", 20)).join(forged) + second
    for i in range(4):
        draw = random.Random(i)
        yield f"mixed-{i}", bytes([i]) + second + draw.randbytes(400)


def dccp_packet(kind, options=b"", payload=b"payload", coverage=0, long=1):
    """Returns a DCCP packet as RFC 4340 section 5 defines it. `kind` is the
    packet type. `long` selects long sequence numbers. The fuzz target inserts
    the checksum.
    """
    number = bytes(range(1, 7))
    head = b"\0" + number if long else number[:3]
    if kind not in (0, 2, 10):
        head += bytes(2) + number if long else b"\0" + number[:3]
    if kind in (0, 1, 7, 10):
        head += b"RTPV"
    options += bytes(-len(options) % 4)
    return struct.pack(">HHBBHB", 5004, 5001,
                       (9 + len(head) + len(options)) // 4, 0x50 | coverage, 0,
                       kind << 1 | long) + head + options + payload


DCCP_OPTIONS = {
    "none": "",
    "times": "290601020304 2a06aabbccdd 2a08aabbccdd0102"
             "2a0aaabbccdd00010203 2b0403e8 2b060001e848",
    "feedback": "02 2b040001 c006ffffffff c20600001000",
    "intervals": "c12702 00000a800001 00000a 000008000005 00000a"
                 "000008000001 000008 00000a800000 00000f",
    "drops": "280600a003a2",
    "ndp": "250307 2508000000000001",
    "rtt": "80032a 8005ffffff",
    "mandatory": "0120040103 0100 0102 013c02 0101",
    "broken": "022b04",
    "crc": "2c06deadbeef",
}
DCCP_CHANGES = {
    "profile": "0122040103 0120040103 200903000000002710 0120040401"
               "2205c00100",
    "linux": "000000 29060049e640 2105010303 2305010303 2105020000"
             "2305020000 200903000000002710 0120040401 2305040101"
             "2005050000 22040600 20040600 20040600 22040701 0122040701"
             "2204c001 012004c001",
    "linux-request": "00 29060874b262 2006010302f8 2206010302f8 0120040200",
    "confirms": "2305010303 2105010303 230903000000002710 2305040101"
                "2105c00101",
    "empty": "230304 2103c0 230303",
    "unknown": "20047e01 22037f 2004ff01",
    "wrong": "2305010202",
    "ccid2": "20040102",
    "mandatory": "0120047e01",
    "coverage": "22060803090500 20040803",
    "window": "20090300000000001f 200903400000000000",
}


def dccpconnection(_made):
    """Makes inputs for fuzz_dccpconnection.c. An input consists of one byte of
    flags, followed by commands.
    """
    (run, run_long, inject, elsewhere, again, spoil, noise, lose, delay,
     connect, close, abort, slow, dropped, unreachable, stream) = range(16)
    opened = 0x40
    second = bytes([run, 250]) * 4
    for flags in 0, 1, 2, 4, 8, 16, 32, 64, 128, 255:
        yield f"flags-{flags}", bytes([flags, connect]) + second * 3 \
            + bytes([run_long, 3])
    for kind in range(11):
        for end in range(2):
            packets = b"".join(
                bytes([inject, end, kind, 32, number, ack, 12, run, 20])
                for number, ack in ((1, 0), (7, 0), (1, 1), (255, 0)))
            yield f"forged-{kind}-{end}", bytes([opened]) + second + packets \
                + second
            yield f"handshake-{kind}-{end}", bytes([0, connect, run, 20]) \
                + packets + second
            yield f"elsewhere-{kind}-{end}", bytes([0, connect]) + second \
                + packets.replace(bytes([inject, end]),
                                  bytes([elsewhere, end])) + second
    for name, text in (DCCP_OPTIONS | DCCP_CHANGES).items():
        option = bytes.fromhex(text)
        packet = bytes([inject, 0, 3, 16, 1, 0, len(option)]) + option
        yield f"options-{name}", bytes([opened]) + second \
            + (packet + bytes([run, 60])) * 3 + second
        yield f"request-{name}", bytes(
            [0, inject, 1, 0, 16, 1, 0, len(option)]) \
            + option + bytes([inject, 1, 3, 0, 1, 0]) + second
    for name, order in (("lose", [lose, 0, 200]), ("lose-acks", [lose, 1, 200]),
                        ("late", [delay, 0, 90]), ("again", [again, 3]),
                        ("spoil", [spoil, 3, 20, 4]), ("close", [close, 0]),
                        ("close-server", [close, 1]), ("abort", [abort, 1]),
                        ("slow", [slow, 1, 1]), ("dropped", [dropped, 1, 2, 0]),
                        ("unreachable", [unreachable, 0, 100]),
                        ("stream", [stream, 1]),
                        ("noise", [noise, 0, 20] + list(range(20)))):
        yield name, bytes([opened]) + second + bytes(order) + second \
            + bytes([run_long, 12, connect]) + second
    for i in range(8):
        draw = random.Random(i)
        yield f"mixed-{i}", bytes([opened | i]) + draw.randbytes(300)


def dccppacket(_made):
    """Makes inputs for fuzz_dccppacket.c. An input has two parts:
    - one byte that selects the action
    - the data for this action
    """
    parse, options, forged, agree = range(4)
    for kind in range(12):
        for path in range(3):
            yield f"packet-{kind}-{path}", bytes([parse, path | 4]) \
                + dccp_packet(kind, bytes.fromhex(DCCP_OPTIONS["feedback"]))
    for kind in (2, 3, 4, 5):
        yield f"packet-short-{kind}", bytes([parse, 4]) \
            + dccp_packet(kind, long=0)
    for coverage in (1, 2, 15):
        yield f"packet-coverage-{coverage}", bytes([parse, 4]) \
            + dccp_packet(2, coverage=coverage)
    yield "packet-checksum", bytes([parse, 0]) + dccp_packet(2)
    for name, text in DCCP_OPTIONS.items():
        for kind in (0, 2, 3):
            yield f"options-{name}-{kind}", bytes([options, kind]) \
                + bytes.fromhex(text)
    for name, text in DCCP_CHANGES.items():
        change = bytes.fromhex(text)
        for server in range(2):
            yield f"forged-{name}-{server}", bytes([forged, server, 0x40]) \
                + (bytes([3, 1, 0, 2, len(change)]) + change) * 2
    for i in range(8):
        draw = random.Random(i)
        yield f"agree-{i}", bytes([agree, i * 0x12, i * 0x21]) \
            + draw.randbytes(60)


def link_fields():
    """Returns the names of the fields that an input can change, in the order
    of the table fuzz_fields in fuzzlink.c.
    """
    text = (HERE / "fuzzlink.c").read_text()
    text = text[text.index("fuzz_fields[] = {"):]
    names = []
    for macro, args in re.findall(r"\b(FIELD|ON_OFF|BOTH) \(([^()]*)\)",
                                  text[:text.index("};")]):
        name = args.split(",")[-1].strip()
        names += {"FIELD": [name], "BOTH": [name + "[0]", name + "[1]"],
                  "ON_OFF": [name + ".mean_good", name + ".mean_bad"]}[macro]
    return names


def magnitude(number):
    """Packs a number into one byte, rounded down to a mantissa of 4 bits
    multiplied by a power of ten."""
    exponent = 0
    while number >= 16:
        number, exponent = number // 10, exponent + 1
    return exponent << 4 | int(number)


def changes(numbers):
    names = link_fields()
    out = bytes([len(numbers)])
    for name, number in numbers.items():
        if isinstance(number, float):  # A probability, in parts of 10^9.
            number *= 1e9
        out += bytes([names.index(name), magnitude(number)])
    return out


def orders(choices, n, seed):
    """Makes random commands: packets, waits of 1 ms to 1 s, and a few other
    commands.
    """
    draw = random.Random(seed)
    out = b""
    for _ in range(n):
        order = draw.choice(choices)
        argument = draw.randrange(65536)
        if order == ADVANCE:
            argument = magnitude(draw.choice((1, 3, 10, 50, 200)) * 10**6) << 8
        out += struct.pack(">BH", order, argument)
    return out


CHANGED = {
    "burst-loss": ("custom", {"pipe.rate[0]": 10**6, "pipe.loss_bad": .5,
                              "pipe.fading.mean_good": 10**8,
                              "pipe.fading.mean_bad": 10**7}),
    "damage": ("custom", {"pipe.bit_error_good": .001, "pipe.duplicate": .3,
                          "pipe.jitter": 10**7, "pipe.reorder": .2,
                          "pipe.reorder_delay": 3 * 10**7}),
    "check": ("custom", {"pipe.bit_error_good": .0001, "pipe.drop_damaged": 1,
                         "queue.bytes": 3000, "pipe.rate[0]": 10**5}),
    "receiver": ("custom", {"pipe.receiver_rate": 10**6,
                            "pipe.receiver_buffer": 3000,
                            "queue.time": 10**8}),
    "half-duplex": ("irda", {"pipe.outage.mean_good": 10**8,
                             "pipe.outage.mean_bad": 10**8}),
    "stall": ("gprs", {"pipe.stall.mean_good": 10**8,
                       "pipe.jitter_exponential": 1,
                       "pipe.stall.mean_bad": 10**8}),
    "bad-air": ("80211b", {"dcf.failure[0]": .5, "dcf.failure[1]": .7,
                           "dcf.retry_limit": 4, "dcf.down_after": 2,
                           "dcf.up_after": 2, "dcf.loss_up_after": 3}),
    "oven": ("80211b", {"oven.always": 1, "dcf.short_preamble": 1,
                        "pipe.fading.mean_good": 10**7, "pipe.loss_bad": .9,
                        "pipe.fading.mean_bad": 10**7}),
    "window": ("80211g", {"oven.n_windows": 1, "oven.windows[0].begin": 10**7,
                          "oven.windows[0].end": 10**9,
                          "dcf.ack_rate": 6 * 10**6}),
    "give-up": ("gsm", {"blocks.block_error_rate": .9, "blocks.rlp_n2": 1,
                        "blocks.mean_burst": 3., "blocks.serial_rate[0]": 10**4,
                        "queue.packets": 3}),
    "hang-up": ("gsm", {"blocks.block_error_rate": .8, "blocks.rlp_n2": 1,
                        "blocks.mean_burst": 3., "blocks.rlp_after_n2": 1,
                        "dial_up.failure": .4,
                        "dial_up.mean_time_to_break": 10**9}),
    "no-check": ("gsm-transparent", {"blocks.frame_check": 0,
                                     "blocks.block_error_rate": .5,
                                     "blocks.mean_burst": 2.}),
    "redial": ("nmt", {"dial_up.failure": .9, "dial_up.failure_min": 10**7,
                       "dial_up.failure_max": 10**8, "dial_up.slow": .5}),
    "burst": ("custom", {"pipe.rate[0]": 10**6, "pipe.burst": 5000}),
    "outages": ("cellular", {"pipe.cellular.mean_rate[0]": 2 * 10**6,
                             "pipe.cellular.outage_interval": 10**8,
                             "pipe.cellular.outage_escape": 10.}),
}


def link(_made):
    everything = (INPUT, INPUT, SMALL, BURST, BURST, ADVANCE, ADVANCE, ADVANCE,
                  WAKEUP, SET_STATION, ADD_FLOW, BACK)
    plain = (INPUT, INPUT, BURST, ADVANCE, ADVANCE, WAKEUP)
    for i, profile in enumerate(PROFILES):
        flags = MANY_FLOWS if i % 2 else 0
        flags |= TRACE if profile == "trace" else 0
        flags |= ABANDON if i % 3 == 2 else 0
        yield profile, bytes([i, i % 3, flags, i * 5, i]) + changes({}) \
            + orders(everything, 40, i)
    for i, (name, (profile, numbers)) in enumerate(CHANGED.items()):
        flags = MANY_FLOWS | (DIAL_UP if name in ("hang-up", "redial") else 0)
        yield name, bytes([PROFILES.index(profile), 1, flags, 0, i]) \
            + changes(numbers) + orders(plain, 60, i)
    for i, profile in enumerate(("custom", "80211b", "gsm", "gprs")):
        for name, flags in ("drop-frame", DROP_FRAME), ("ifd", IFD):
            flags |= END_FLOWS | (MANY_FLOWS if i % 2 else 0)
            yield f"{name}-{profile}", bytes(
                [PROFILES.index(profile), 0, flags, 0, i + 1]) + changes(
                    {"pipe.rate[0]": 10**6}) + orders(everything, 60, i)
    yield "block-trace", bytes([PROFILES.index("gsm"), 0, TRACE, 0b1110, 1]) \
        + changes({}) + orders(plain, 30, 7)


def linkconfig(_made):
    interference, blocks, numbers = range(3)
    for name, text in {
            "windows": "20-40,50.5-60", "always": "always", "none": "none",
            "order": "20-40,30-60", "spellings": "1e3-0x7d0,inf-nan",
            "many": ",".join(f"{i}-{i + 1}" for i in range(17))}.items():
        yield f"interference-{name}", bytes([interference]) + text.encode()
    for name, text in {"plain": "0001\n10 # hit\n0", "wrong": "0012",
                       "nothing": "# none"}.items():
        yield f"blocks-{name}", bytes([blocks]) + text.encode()
    yield "blocks-rlp", bytes([16]) + b"0001 0" * 9
    yield "blocks-down", bytes([49]) + b"000001"
    names = link_fields()
    for i, profile in enumerate(PROFILES):
        yield f"numbers-{profile}", bytes([numbers, i, i % 3])
    for name, number in (("oven.n_windows", 17), ("dcf.ack_rate", 1),
                         ("pipe.outage.mean_bad", 1), ("dcf.n_rates", 9),
                         ("dial_up.command_max", 2**64 - 1),
                         ("blocks.block_time", 1)):
        profile = 4 if name.startswith(("blocks", "dial_up")) else 3
        raw = struct.pack(">BQ", names.index(name), number)
        if name.startswith("pipe"):
            raw += struct.pack(">BQ", names.index("pipe.outage.mean_good"), 1)
        yield f"numbers-{name}", bytes([numbers, profile, 0]) + raw


def linkdelivery(_made):
    steady = b"".join(
        struct.pack(">BH", magnitude(10**7 if i % 5 else 10**8), 1500)
        for i in range(32))
    mixed = b"".join(
        struct.pack(">BH", magnitude((i % 9 + 1) * 10**(i % 3 + 6)), i * 1999)
        for i in range(32))
    for name, control, text in (
            ("even", steady, "10\n20\n30\n40\n"),
            ("bursts", mixed, "# a comment\n1\n1\n1\n1\n500\r\n500\r\n1000\n"),
            ("one", steady, "7"), ("slow", mixed, "4294967295\n"),
            ("falling", steady, "10\n5\n"), ("words", steady, "10\nten\n"),
            ("zero", steady, "0\n0\n"), ("nothing", steady, "# nothing\n")):
        outage = bytes([magnitude(10**12), magnitude(10**12)]) \
            if name in ("bursts", "one") else bytes(2)
        yield name, outage + control + text.encode()


def linkpattern(_made):
    head = "wirelesslink-pattern 1\n"
    for name, text in {
            "plain": head + "seed 42\npacket 0 0 1 delivered 0 0\n"
            "packet 0 1 3 damaged 1500000 1 17:80 18:01\n"
            "packet 1 0 16 air 0 0\npacket 0 2 1 check 7 0 0:ff\n",
            "limits": f"# a run\n{head}\n  seed 18446744073709551615\t# all\n"
            " packet  65535 18446744073709551614 256 delivered"
            " 4611686018427387903 16 # x\n",
            "twice": head + "packet 0 0 1 air 0 0\n" * 2,
            "too-large": head + "seed 18446744073709551616\n",
            "version": "wirelesslink-pattern 2\n",
            "flip": head + "packet 0 0 1 damaged 0 0 4:0\n",
            "fate": head + "packet 0 0 1 queue 0 0\n",
            "nothing": "# nothing\n"}.items():
        yield name, text.encode()


def main():
    made = streams()
    total = 0
    for target in (framer, header, unpacker, reorder, ifd, ifdclassifier,
                   link, linkconfig, linkdelivery, linkpattern, pictureinfo,
                   slotuse, tspictures, tsjoiner, videopacket,
                   udplite, tunmerge, mmtppacket, mmtpsession, dccppacket,
                   dccpconnection):
        corpus = HERE / "corpus" / target.__name__
        corpus.mkdir(parents=True, exist_ok=True)
        for old in corpus.iterdir():
            if not old.name.startswith("found-"):
                old.unlink()
        for name, data in target(made):
            (corpus / name).write_bytes(data)
        sizes = [path.stat().st_size for path in corpus.iterdir()]
        print(f"{target.__name__}: {len(sizes)} inputs, {sum(sizes)} bytes")
        total += sum(sizes)
    print(f"{total} bytes in all")


if __name__ == "__main__":
    main()
