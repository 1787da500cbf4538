# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the sending and the receiving program of a test. No packets are lost
between the two programs.

A receiving program that can read files with RFC 4571 framing gets the RTP
packets in such a file. ffmpeg cannot read these files. Therefore an RTSP
server sends the packets to ffmpeg, in the TCP connection of the RTSP session.
"""

import contextlib
import os
import pathlib
import re
import shlex
import shutil
import socket
import subprocess
import tempfile
import threading

from rtpfile import RtpPacket, read_rfc4571, write_rfc4571

STREAM_CAPS = ("application/x-rtp-stream,media=video,clock-rate=90000,"
               "encoding-name=MPV,payload=32")


# Maps the boolean values in the output of tshark to digits. Since version 4.2,
# tshark writes these values as words. Older versions write digits.
TSHARK_BOOLEANS = {"True": "1", "False": "0"}


class PeerFailed(Exception):
    pass


@contextlib.contextmanager
def workdir():
    path = tempfile.mkdtemp(prefix="interop-", dir=os.environ.get(
        "WIRELESS_BUILD_DIR"))
    try:
        yield pathlib.Path(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)


def run(command, timeout=120, env=None):
    result = subprocess.run(
        [str(word) for word in command], timeout=timeout,
        capture_output=True, env={**os.environ, **(env or {})})
    text = result.stderr.decode(errors="replace")
    if result.returncode:
        raise PeerFailed("%s: %d\n%s" % (" ".join(map(str, command)),
                                         result.returncode, text[-2000:]))
    return result.stdout, text


def gst(*pipelines, timeout=120):
    """Runs the pipelines at the same time in one process of gst-launch-1.0,
    until they reach EOS. Returns what the process has printed."""
    _, text = run(["gst-launch-1.0", "-q"] + shlex.split(" ".join(pipelines)),
                  timeout, {"GST_DEBUG": "0", "G_DEBUG": ""})
    for word in ("CRITICAL", "ERROR"):
        if word in text:
            raise PeerFailed("%s\n%s" % (" ".join(pipelines), text[-2000:]))
    return text


def tshark(pcap, fields, *options):
    """Reads the packets of a pcap file with tshark. Returns the fields of each
    packet as a dictionary. The values have the format of tshark 4.0, whatever
    the version of tshark is."""
    command = ["tshark", "-r", pcap, *options, "-T", "fields"]
    for name in fields:
        command += ["-e", name]
    text, _ = run(command)
    return [dict(zip(fields, map(_without_words, line.split("\t"))))
            for line in text.decode().split("\n")[:-1]]


def _without_words(values):
    return ",".join(TSHARK_BOOLEANS.get(value, value)
                    for value in values.split(","))


def location(path):
    """Returns the text that sets an element's property `location` to `path`.
    The value is quoted, because the path may contain blanks."""
    return "location=%s" % shlex.quote(str(path))


def filesink(path):
    """Returns an unbuffered filesink. A buffered filesink of GStreamer 1.22
    loses bytes if it collects more small buffers than one call of writev()
    accepts (IOV_MAX).
    """
    return "filesink buffer-mode=unbuffered %s" % location(path)


# ---------------------------------------------------------------------- senders

def pay_line(source, out, element="rfc2250pay"):
    return "filesrc %s ! %s ! rtpstreampay ! %s" % (
        location(source), element, filesink(out))


def pay(source, element="rfc2250pay"):
    return pay_all([(source, element)])[0]


def pay_all(jobs, at_once=16):
    """Converts several streams to RTP packets. `jobs` is a list of pairs
    (source, element): the file with the stream, and the payloader. Returns one
    list of packets for each stream. To save time, one process converts up to
    `at_once` streams.
    """
    results = []
    with workdir() as work:
        for first in range(0, len(jobs), at_once):
            lines, outs = [], []
            for n, (source, element) in enumerate(jobs[first:first + at_once]):
                outs.append(work / ("%d.rtp" % n))
                lines.append(pay_line(source, outs[-1], element))
            gst(*lines)
            results += [read_rfc4571(out) for out in outs]
    return results


def pay_stock(source, mtu=1400):
    """Sends the file `source` through mpegvideoparse and GStreamer's own
    payloader rtpmpvpay (the stock payloader), as users of this payloader do.
    Returns the packets.
    """
    return pay(source, "mpegvideoparse ! rtpmpvpay mtu=%d" % mtu)


FFMPEG_SSRC = 0x12345678


def pay_ffmpeg(source, mtu=1400, rate=25):
    """Returns the RTP packets into which ffmpeg's RTP muxer divides the stream
    in the file `source`. ffmpeg writes the packets to a file one after the
    other, without the size of each packet.
    """
    with workdir() as work:
        run(["ffmpeg", "-v", "error", "-nostdin", "-y",
             "-fflags", "+genpts", "-r", rate, "-i", source,
             "-c", "copy", "-f", "rtp", "-packetsize", mtu,
             "-ssrc", FFMPEG_SSRC, "-seq", 1, "-rtpflags", "skip_rtcp",
             "file:%s" % (work / "rtp")])
        return split_packets((work / "rtp").read_bytes(), FFMPEG_SSRC)


def split_packets(data, ssrc):
    """Returns a list of the RTP packets that are concatenated in `data`
    without their sizes. A packet begins where an RTP header with the next
    sequence number is found.
    """
    starts, at, seq = [], 0, 1
    while at >= 0:
        starts.append(at)
        seq += 1
        head = re.compile(b"\x80[\x20\xa0]" + re.escape(
            (seq & 0xffff).to_bytes(2, "big")) + b"...." + re.escape(
            ssrc.to_bytes(4, "big")), re.DOTALL)
        found = head.search(data, at + 12)
        at = found.start() if found else -1
    ends = starts[1:] + [len(data)]
    return [RtpPacket.parse(data[a:b]) for a, b in zip(starts, ends)]


# -------------------------------------------------------------------- receivers

def depay_line(source, out, element="rfc2250depay"):
    return "filesrc %s ! %s ! rtpstreamdepay ! %s ! %s" % (
        location(source), STREAM_CAPS, element, filesink(out))


def depay(packets, element="rfc2250depay"):
    return depay_all([packets], element)[0]


def depay_all(variants, element="rfc2250depay", at_once=16):
    """Runs the depayloader `element` on each list of packets in `variants`.
    Returns one output for each of these lists. To save time, one process
    handles up to `at_once` lists.
    """
    results = []
    with workdir() as work:
        for first in range(0, len(variants), at_once):
            names = []
            for n, packets in enumerate(variants[first:first + at_once]):
                names.append((work / ("%d.rtp" % n), work / ("%d.es" % n)))
                write_rfc4571(names[-1][0], packets)
            gst(*(depay_line(a, b, element.replace("%d", str(first + n)))
                  for n, (a, b) in enumerate(names)))
            results += [b.read_bytes() for _, b in names]
    return results


def depay_ffmpeg(packets, mpeg2=True):
    """Sends the packets to ffmpeg. Returns the elementary stream that ffmpeg
    rebuilds from them."""
    with workdir() as work, RtspServer(packets) as url:
        out = work / "out"
        run(["ffmpeg", "-v", "error", "-nostdin", "-y",
             "-rtsp_transport", "tcp", "-i", url, "-c", "copy", "-copyinkf",
             "-f", "mpeg2video" if mpeg2 else "mpeg1video", out])
        return out.read_bytes()


class RtspServer:
    """An RTSP server for one client. It sends a list of RTP packets over the
    RTSP connection (RFC 2326 section 10.12).
    """

    SDP = "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n" \
        "m=video 0 RTP/AVP 32\r\na=control:track\r\n"

    def __init__(self, packets):
        self.packets = packets
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(60)
        self.thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self):
        self.thread.start()
        return "rtsp://127.0.0.1:%d/clip" % self.listener.getsockname()[1]

    def __exit__(self, *_):
        self.listener.close()
        self.thread.join(10)

    def _serve(self):
        with contextlib.suppress(OSError):
            client, _ = self.listener.accept()
            with client, client.makefile("rb") as lines:
                while self._answer(client, lines):
                    pass

    def _answer(self, client, lines):
        words = lines.readline().split()
        headers = {}
        while line := lines.readline().strip():
            name, _, value = line.partition(b":")
            headers[name.lower()] = value.strip().decode()
        if not words:
            return False
        method = words[0].decode()
        extra, body = "", ""
        if method == "DESCRIBE":
            extra, body = "Content-Type: application/sdp\r\n", self.SDP
        elif method == "SETUP":
            extra = "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n"
        client.sendall(("RTSP/1.0 200 OK\r\nCSeq: %s\r\nSession: 1\r\n"
                        "Public: DESCRIBE, SETUP, PLAY, TEARDOWN\r\n"
                        "%sContent-Length: %d\r\n\r\n%s" % (
                            headers.get(b"cseq", "0"), extra, len(body),
                            body)).encode())
        if method != "PLAY":
            return method != "TEARDOWN"
        for packet in self.packets:
            raw = packet.pack()
            client.sendall(b"$\0" + len(raw).to_bytes(2, "big") + raw)
        return False
