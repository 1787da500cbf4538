# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sends UDP-Lite packets in a network namespace, captures them, and checks
them independently of the elements.

The packets use the loopback interface of a network namespace that ends with
the test's process. A packet socket captures them. tshark and sockets.py check
them; sockets.py implements RFC 3828 and shares no code with the elements.
"""

import contextlib
import ipaddress
import os
import pathlib
import shlex
import signal
import socket
import struct
import subprocess
import threading
import time
import unittest

import peers
import sockets

from wirelesslab.testbed import init_process, linux

TESTS = pathlib.Path(__file__).resolve().parents[1]


LOOPBACK = {"IPv4": "127.0.0.1", "IPv6": "::1"}
UNSPECIFIED = {"IPv4": "0.0.0.0", "IPv6": "::"}
IP_HEADER = {"IPv4": 20, "IPv6": 40}
PORT = 5004
INJECTOR_PORT = 5000
HEADER = sockets.HEADER
ETHERNET_HEADER = 14
ETH_P_ALL = 3
LARGEST = 1 << 17
# The maximum payload size of a UDP-Lite packet over IPv4: 65535 bytes less the
# IPv4 header (20 bytes) and the UDP-Lite header (8 bytes).
LARGEST_PAYLOAD = 65507
# The next two constants are from the Linux header asm-generic/socket.h.
SO_RCVBUFFORCE = 33
SO_NO_CHECK = 11
# The next two constants are from the Linux header linux/udp.h.
UDP_NO_CHECK6_TX = 101
UDP_NO_CHECK6_RX = 102
# SOL_PACKET is from sys/socket.h, and PACKET_STATISTICS from linux/if_packet.h.
SOL_PACKET, PACKET_STATISTICS = 263, 6
RECEIVE_BUFFER = 1 << 26
LINKTYPE_RAW = 101
SECONDS = 60  # Time in s after which a test stops waiting and fails.
POLL = 0.02


def enter_own_network():
    """Moves this process and all its later children into a new network
    namespace. Call this function before the process has threads."""
    try:
        if os.geteuid() != 0:
            init_process.become_root_of_our_own()
        linux.unshare(linux.CLONE_NEWNET, "a network namespace")
        linux.set_up("lo")
    except OSError as error:
        raise unittest.SkipTest(
            f"no rights to make a network namespace: {error}") from None


def why_no_backend(backend):
    if backend == "kernel":
        return sockets.why_no_udplite()
    if backend == "raw":
        try:
            socket.socket(socket.AF_INET, socket.SOCK_RAW,
                          sockets.UDPLITE).close()
        except OSError as error:
            return f"no raw sockets: {error}"
    return None


def has_element(name):
    return subprocess.run(
        ["gst-inspect-1.0", name], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL).returncode == 0


def wait_until(condition, what):
    """Waits until `condition()` is true, at least for SECONDS. The attempts
    are counted, because the clock of a machine that is paused may jump.
    """
    for _ in range(round(SECONDS / POLL)):
        if condition():
            return
        time.sleep(POLL)
    raise AssertionError(f"waited in vain {what}")


# ------------------------------------------------------------------- IP packets

def ip_packet(ip, protocol, source, to, segment):
    source, to = (ipaddress.ip_address(a).packed for a in (source, to))
    if ip == "IPv6":
        return struct.pack("!IHBB", 6 << 28, len(segment), protocol, 64) \
            + source + to + segment
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(segment), 0, 0, 64,
                       protocol, 0) + source + to
    total = ~sockets.internet_sum(head) & 0xffff
    return head[:10] + struct.pack("!H", total) + head[12:] + segment


def udplite_packet(ip, payload, coverage, source=None, to=None,
                   ports=(INJECTOR_PORT, PORT)):
    """Returns a UDP-Lite packet as RFC 3828 defines it, with a correct
    checksum. `coverage` is the value that the field Checksum Coverage of the
    packet gets.
    """
    head = struct.pack("!HHHH", *ports, coverage, 0)
    covered = (head + payload)[:coverage or None]
    pseudo = (ipaddress.ip_address(source or LOOPBACK[ip]).packed
              + ipaddress.ip_address(to or LOOPBACK[ip]).packed
              + struct.pack("!IHH", len(head + payload), 0, sockets.UDPLITE))
    total = ~sockets.internet_sum(pseudo + covered) & 0xffff
    return head[:6] + struct.pack("!H", total or 0xffff) + payload


def in_udp(ip, segment):
    """Returns an IP packet with the UDP-Lite packet `segment`. With the
    backend "udp", UDP-Lite packets are sent inside UDP packets. The checksum
    in the UDP-Lite header then does not cover the IP addresses. The addresses
    of the returned packet are therefore unspecified (all zero).
    """
    return ip_packet(ip, sockets.UDPLITE, UNSPECIFIED[ip], UNSPECIFIED[ip],
                     segment)


def judge(ip, backend, segment, coverage=0):
    """Returns what a receiver with the backend `backend` must do with the
    UDP-Lite packet `segment` according to RFC 3828: the fate of the packet,
    and the payload if the packet must be delivered. `coverage` is the minimum
    checksum coverage, in bytes, that the receiver accepts.
    """
    if backend == "udp":
        # The backend "udp" sends UDP-Lite packets inside UDP packets. A NAT
        # changes only the ports in the UDP header, so the ports in the
        # UDP-Lite header may no longer be valid. The receiver must therefore
        # ignore the ports in the UDP-Lite header.
        segment = bytes(segment)
        port = int.from_bytes(segment[2:4], "big")
        return sockets.judge(in_udp(ip, segment), sockets.Receiver(
            "udplite", UNSPECIFIED[ip], port, coverage))
    return sockets.judge(
        ip_packet(ip, sockets.UDPLITE, LOOPBACK[ip], LOOPBACK[ip], segment),
        sockets.Receiver("udplite", LOOPBACK[ip], PORT, coverage))


# --------------------------------------------------------------------- captures

class Capture(threading.Thread):
    """Captures the IP packets of some protocols on the loopback interface.
    `protocols` are the IP protocol numbers of these protocols, such as 17 for
    UDP.
    """

    def __init__(self, *protocols):
        super().__init__(daemon=True)
        self.protocols = protocols
        self.packets = []
        self._ending = threading.Event()
        self._own = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                  socket.htons(ETH_P_ALL))
        # SO_RCVBUFFORCE sets a receive buffer that is larger than the limit of
        # the system. Only root outside of a user namespace may set this
        # option. For other users, the call fails, and the buffer keeps its
        # default size.
        with contextlib.suppress(PermissionError):
            self._own.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE,
                                 RECEIVE_BUFFER)
        self._own.bind(("lo", ETH_P_ALL))
        self._own.settimeout(POLL)

    def run(self):
        while True:
            ending = self._ending.is_set()
            try:
                data, sender = self._own.recvfrom(LARGEST)
            except TimeoutError:
                if ending:
                    return
                continue
            packet = data[ETHERNET_HEADER:]
            # This socket receives each packet of the loopback device twice:
            # when the packet is sent and when it arrives. Only the copy that
            # was made on sending is stored.
            if sender[2] == socket.PACKET_OUTGOING \
                    and protocol_of(packet) in self.protocols:
                self.packets.append(packet)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, error, *_):
        self._ending.set()
        self.join(SECONDS)
        _, lost = struct.unpack("II", self._own.getsockopt(
            SOL_PACKET, PACKET_STATISTICS, 8))
        self._own.close()
        if lost and not error:
            raise unittest.SkipTest(
                f"the capture lost {lost} packets, and has no right to a "
                "larger buffer")


def protocol_of(packet):
    return packet[6] if packet[0] >> 4 == 6 else packet[9]


def segment_of(packet):
    """Returns the payload of the IP packet, without the IP header."""
    return packet[40:] if packet[0] >> 4 == 6 else packet[
        4 * (packet[0] & 15):int.from_bytes(packet[2:4], "big")]


def coverage_of(segment):
    """Returns the number of bytes that the UDP-Lite checksum of the packet
    covers. If the field Checksum Coverage is 0, this is the whole packet."""
    return int.from_bytes(segment[4:6], "big") or len(segment)


def write_pcap(path, packets):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, LARGEST,
                              LINKTYPE_RAW))
        for number, packet in enumerate(packets):
            out.write(struct.pack("<IIII", number, 0, len(packet),
                                  len(packet)) + packet)


TSHARK_FIELDS = ("udp.length", "udp.checksum_coverage", "udp.checksum.status",
                 "udplite.checksum_coverage.bad", "udp.checksum.zero",
                 "udp.payload")
# Value of tshark's field udp.checksum.status for a correct checksum.
GOOD = "1"


def dissect(packets):
    """Lets tshark read the UDP-Lite packets `packets`. Returns a dictionary
    for each packet, with the fields named in TSHARK_FIELDS.
    """
    with peers.workdir() as work:
        write_pcap(work / "pcap", packets)
        return peers.tshark(
            work / "pcap", TSHARK_FIELDS,
            "-o", "udplite.check_checksum:TRUE",
            "-o", "udplite.ignore_checksum_coverage:TRUE")


# -------------------------------------------------------- senders and receivers

def new_path(work):
    """Returns the path of a new file in the directory `work`."""
    return work / f"received-{len(list(work.glob('received-*')))}"


class Process:
    """A child process that is stopped when the test ends."""

    def __init__(self, case, argv, last=signal.SIGINT):
        self._last = last
        self.child = subprocess.Popen(
            [str(word) for word in argv], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env={**os.environ, "GST_DEBUG": "0", "G_DEBUG": ""})
        case.addCleanup(self.end)

    def end(self):
        if self.child.stderr.closed:
            return
        self.child.send_signal(self._last)
        try:
            _, self.errors = self.child.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.communicate()
            raise

    def check_runs(self):
        if self.child.poll() is not None:
            raise AssertionError("%s: %d\n%s" % (
                " ".join(self.child.args), self.child.returncode,
                self.child.stderr.read().decode(errors="replace")[-1000:]))


class OurReceiver:
    """Runs a pipeline with the element udplitesrc, which receives packets. The
    pipeline writes the payload of each packet to a file.
    """

    def __init__(self, case, work, backend, ip, options=""):
        self._path = new_path(work)
        self._path.touch()
        self._at = 0
        self.payloads = []
        self.process = Process(case, shlex.split(
            f"gst-launch-1.0 -q udplitesrc address={LOOPBACK[ip]} port={PORT} "
            f"backend={backend} caps=application/x-rtp "
            f"mtu={LARGEST_PAYLOAD} {options} ! "
            f"rtpstreampay ! {peers.filesink(self._path)}"))

    def read(self):
        """Returns all payloads that have arrived so far."""
        self.process.check_runs()
        with open(self._path, "rb") as file:
            file.seek(self._at)
            data = file.read()
        at = 0
        while len(data) >= at + 2:
            end = at + 2 + int.from_bytes(data[at:at + 2], "big")
            if end > len(data):
                break
            self.payloads.append(data[at + 2:end])
            at = end
        self._at += at
        return self.payloads

    def close(self):
        self.process.end()


class KernelReceiver:
    """A receiver that uses an ordinary UDP-Lite socket of the kernel, and no
    element."""

    def __init__(self, case, ip):
        self._own = sockets.datagram_socket("udplite", LOOPBACK[ip])
        case.addCleanup(self._own.close)
        self._own.bind((LOOPBACK[ip], PORT))
        self._own.setblocking(False)
        self.payloads = []

    def read(self):
        # The test calls recv() and does not call poll() before. Both calls
        # drop damaged packets, but the kernel's counters are wrong for the
        # packets that poll() drops.
        with contextlib.suppress(BlockingIOError):
            while True:
                self.payloads.append(self._own.recv(LARGEST))
        return self.payloads

    def close(self):
        self._own.close()


class FfmpegReceiver:
    """A receiver that runs ffmpeg. ffmpeg writes the payloads to a file as one
    stream of bytes.
    """

    def __init__(self, case, work, ip, coverage):
        self._path = new_path(work)
        self._path.touch()
        self.process = Process(case, [
            "ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "data", "-i",
            ffmpeg_url(ip, coverage), "-map", "0", "-c", "copy",
            "-flush_packets", "1", "-f", "data", self._path],
            # If ffmpeg is waiting for another packet, only SIGKILL can end it.
            signal.SIGKILL)

    def read(self):
        self.process.check_runs()
        return self._path.read_bytes()

    def close(self):
        self.process.end()


def ffmpeg_url(ip, coverage, more=""):
    # In these tests, the coverage 0 means that the checksum covers the whole
    # packet. For ffmpeg, the value 0 of its option means plain UDP. Therefore
    # 0 is replaced by the maximum payload size. If the coverage exceeds the
    # size of a packet, the kernel covers the whole packet.
    coverage = coverage or LARGEST_PAYLOAD
    address = f"[{LOOPBACK[ip]}]" if ip == "IPv6" else LOOPBACK[ip]
    return f"udplite://{address}:{PORT}?udplite_coverage={coverage}{more}"


class Injector:
    """Sends UDP-Lite packets that the test has built, including their headers.
    The packets are sent unchanged, even if the test has damaged them.
    """

    def __init__(self, case, backend, ip):
        self._to = (LOOPBACK[ip], 0)
        family = socket.AF_INET6 if ip == "IPv6" else socket.AF_INET
        if backend != "udp":
            self._own = socket.socket(family, socket.SOCK_RAW, sockets.UDPLITE)
        else:
            self._to = (LOOPBACK[ip], PORT)
            self._own = socket.socket(family, socket.SOCK_DGRAM)
            if ip == "IPv6":
                self._own.setsockopt(socket.IPPROTO_UDP, UDP_NO_CHECK6_TX, 1)
            else:
                self._own.setsockopt(socket.SOL_SOCKET, SO_NO_CHECK, 1)
        case.addCleanup(self._own.close)

    def send(self, segment):
        # If an earlier packet caused an ICMP error, the first call of sendto()
        # may report this error instead of sending the packet. The second call
        # then sends it.
        with contextlib.suppress(ConnectionRefusedError):
            self._own.sendto(segment, self._to)
            return
        self._own.sendto(segment, self._to)


def is_bound(ip):
    """Returns whether a UDP-Lite socket of the kernel is bound to the port
    PORT."""
    table = pathlib.Path("/proc/net/udplite" + ("6" if ip == "IPv6" else ""))
    return any(int(line.split()[1].rpartition(":")[2], 16) == PORT
               for line in table.read_text().splitlines()[1:])


def udp_checksum(segment):
    return int.from_bytes(segment[6:8], "big")
