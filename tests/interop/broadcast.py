# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes transport streams like those of broadcasters: interlaced video in
4:2:0 and 4:2:2, two audio streams, a constant bitrate with null packets,
teletext, and splice information.

ffmpeg makes everything except for the teletext and the splice information.
This module adds them as a multiplexer does: it replaces null packets by
packets with these data. The program map table then lists so many streams that
it no longer fits into one packet. Programs of broadcasters often have such
tables.
"""

import itertools
import subprocess

import clips

PACKET = 188
NULL = 0x1fff
TELETEXT = 0x300
SPLICES = 0x301
FPS = 25
INTERLACED = "-vf fps=50,scale=160:96,interlace,setfield=tff"
FIELDS = "-flags +ildct+ilme"
# Maps the name of each stream to three values: the ffmpeg options for the
# video, the bitrate of the stream in kbit/s, and the time between clock
# references (PCR) in ms.
STREAMS = {
    "mpeg2-420": ("-c:v mpeg2video -pix_fmt yuv420p -g 12 -bf 2 "
                  "-sc_threshold 1000000000 -b:v 300k", 1000, 20),
    "mpeg2-422": ("-c:v mpeg2video -pix_fmt yuv422p -profile:v 0 -level:v 5 "
                  "-g 12 -bf 2 -dc 10 -sc_threshold 1000000000 -b:v 400k",
                  1200, 80),
    "h264-422-10": ("-c:v libx264 -preset fast -pix_fmt yuv422p10le "
                    "-x264-params keyint=24:bframes=2:open-gop=1 -b:v 300k",
                    1000, 35),
}
SOUNDS = ("-map 1:a -map 2:a -c:a:0 mp2 -b:a:0 64k -c:a:1 ac3 -b:a:1 96k "
          "-metadata:s:a:0 language=eng -metadata:s:a:1 language=nld")


def make(name, seconds):
    video, rate, period = STREAMS[name]

    def make_stream(path):
        whole = path.with_suffix(".ffmpeg")
        subprocess.run(
            ["ffmpeg", "-v", "error", "-nostdin", "-y", "-stream_loop", "1",
             "-i", str(clips.FILM), "-f", "lavfi", "-i", "sine", "-f",
             "lavfi", "-i", "sine=frequency=880",
             *f"-map 0:v -t {seconds} {INTERLACED} -r {FPS} {video} {FIELDS} "
             f"{SOUNDS} -muxrate {rate}k -pcr_period {period} -f "
             "mpegts".split(), str(whole)],
            check=True)
        path.write_bytes(add_data(whole.read_bytes()))
        whole.unlink()
    return clips._cached(f"broadcast-{name}-{seconds}.ts", make_stream)


def get_rate(name):
    """Returns the rate of the stream in bytes per second."""
    return STREAMS[name][1] * 1000 // 8


def pid_of(packet):
    return (packet[1] << 8 | packet[2]) & 0x1fff


# ------------------------------------------------------------ program tables

def get_crc(data):
    """ISO/IEC 13818-1, annex A"""
    crc = 0xffffffff
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04c11db7 if crc >> 31 else 0)) & 0xffffffff
    return crc


def descriptor(tag, data):
    return bytes([tag, len(data)]) + data


def entry(kind, pid, *descriptors):
    """Returns the entry for one stream in a program map table, as bytes
    (ISO/IEC 13818-1, 2.4.4.8)."""
    data = b"".join(descriptors)
    return bytes([kind, 0xe0 | pid >> 8, pid & 0xff, 0xf0 | len(data) >> 8,
                  len(data) & 0xff]) + data


def payload(packet):
    assert packet[3] & 0x10
    return packet[5 + packet[4] if packet[3] & 0x20 else 4:]


def get_section(packet):
    data = payload(packet)
    section = data[1 + data[0]:]
    return section[:3 + ((section[1] & 15) << 8 | section[2])]


def find_map_pid(packets):
    section = get_section(next(p for p in packets if pid_of(p) == 0))
    return (section[10] << 8 | section[11]) & 0x1fff


def extend_map(section):
    """Adds two streams to the program map table `section`: a teletext stream
    and a stream with splice information. Their entries have the descriptors
    that EN 300 468 and SCTE 35 define for them."""
    pages = b"".join(b"eng" + bytes([kind << 3 | 1, page])
                     for kind, page in ((1, 0x00), (2, 0x88), (2, 0x89)))
    names = b"".join(descriptor(0x0a, language + b"\0")
                     for language in (b"eng", b"nld", b"fra", b"deu") * 6)
    streams = entry(0x06, TELETEXT, descriptor(0x56, pages), names) + \
        entry(0x86, SPLICES, descriptor(0x8a, b"\1"))
    body = section[:10]
    at = 12 + ((section[10] & 15) << 8 | section[11])
    program = section[12:at] + descriptor(0x05, b"CUEI")
    body += bytes([0xf0, len(program)]) + program + section[at:-4] + streams
    size = len(body) - 3 + 4
    body = body[:1] + bytes([0xb0 | size >> 8, size & 0xff]) + body[3:]
    return body + get_crc(body).to_bytes(4, "big")


def split_section(section, pid):
    """Splits a section, which is a table such as the program map, into
    transport stream packets and yields these packets. Their continuity
    counters are 0.
    """
    data, begins = b"\0" + section, 0x40
    while data:
        yield bytes([0x47, begins | pid >> 8, pid & 0xff, 0x10]) + \
            data[:PACKET - 4].ljust(PACKET - 4, b"\xff")
        data, begins = data[PACKET - 4:], 0


# --------------------------------------------------------------- data streams

def teletext():
    """Returns a transport stream packet that contains a PES packet. The PES
    packet holds three teletext data units, each with one line of text (EN 300
    472).
    """
    unit = bytes([0x02, 0x2c, 0xe7, 0xe4]) + bytes(range(42))
    pes = b"\0\0\1\xbd" + (178).to_bytes(2, "big") + b"\x84\x00\x24" + \
        36 * b"\xff" + b"\x10" + 3 * unit
    return bytes([0x47, 0x40 | TELETEXT >> 8, TELETEXT & 0xff, 0x10]) + pes


def splice():
    """splice_null() (SCTE 35, 9.7.1)"""
    section = bytes.fromhex("fc301100000000000000fff0000000007a4fbfff")
    return next(split_section(section, SPLICES))


def add_data(data):
    """Extends each program map table in the transport stream `data`, and
    replaces some null packets by packets with teletext or splice information.
    An extended table needs more packets than before. For each additional
    packet, one later null packet is left out, so that the bitrate does not
    change."""
    packets = [data[at:at + PACKET] for at in range(0, len(data), PACKET)]
    map_pid = find_map_pid(packets)
    kinds = itertools.cycle((teletext, teletext, splice))
    counters, out, n_more = {}, [], 0
    for i, packet in enumerate(packets):
        if pid_of(packet) == map_pid:
            section = list(split_section(extend_map(get_section(packet)),
                                         map_pid))
            out += section
            n_more += len(section) - 1
        elif pid_of(packet) == NULL and n_more > 0:
            n_more -= 1
        elif pid_of(packet) == NULL and i % 7 == 0:
            out.append(next(kinds)())
        else:
            out.append(packet)
    pids = map_pid, TELETEXT, SPLICES
    return b"".join(set_counter(packet, pids, counters) for packet in out)


def set_counter(packet, pids, counters):
    """Sets the continuity counter of a transport stream packet if the PID of
    the packet is one of `pids`. The new value is the next one for this PID.
    Returns the changed packet. A packet with another PID is returned
    unchanged."""
    pid = pid_of(packet)
    if pid not in pids:
        return packet
    counter = counters[pid] = counters.get(pid, -1) + 1 & 15
    return packet[:3] + bytes([packet[3] & 0xf0 | counter]) + packet[4:]
