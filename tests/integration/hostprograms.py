# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs that the tests start on the hosts of a testbed. They use the
kernel's sockets and print their results as one line of JSON.

A receiving program receives until its standard input ends. Then it reads the
packets that still wait in its socket, and prints its result.
"""

import argparse
import contextlib
import errno
import hashlib
import json
import random
import select
import socket
import struct
import sys
import time

import sockets

LARGEST = 65536
SOURCE_PORT = 5000
ETH_P_ALL = 3  # linux/if_ether.h
RTP_HEADER = 12
# Pause in seconds between two packets that are sent. During the pause, the
# receiver has enough time to read the packet. A receive buffer of the default
# size therefore does not overflow.
SECONDS_BETWEEN = 0.0005
SO_RCVBUFFORCE = 33  # asm-generic/socket.h
BUFFER = 1 << 24
WAIT = struct.pack("@ll", 0, 100_000)  # a struct timeval


def payload(number, size):
    """Returns a payload of `size` bytes. Its content is derived from `number`,
    so the packets with this number are identical in all runs.
    """
    return struct.pack("!I", number) + random.Random(number).randbytes(size - 4)


# ------------------------------------------------------------------- datagrams

def send(options):
    # All packets, including their headers, must be identical in each run. The
    # socket therefore has a fixed source port and is not connected: connect()
    # would make Linux choose a random IP identification.
    with sockets.datagram_socket(options.kind, options.address) as own:
        own.bind(("", SOURCE_PORT))
        if options.kind == "udplite":
            own.setsockopt(sockets.SOL_UDPLITE, sockets.UDPLITE_SEND_CSCOV,
                           options.coverage)
        for number in range(options.count):
            own.sendto(payload(number, options.size),
                       (options.address, options.port))
            time.sleep(SECONDS_BETWEEN)


def flood(options):
    """Sends packets faster than the link carries them. The only limit of the
    rate is the send buffer of the socket: sendto() blocks while this buffer is
    full.
    """
    end = time.monotonic() + options.seconds
    with sockets.datagram_socket("udp", options.address) as own:
        while time.monotonic() < end:
            own.sendto(bytes(options.size), (options.address, options.port))


def has_ended(stream):
    return bool(select.select([stream], [], [], 0)[0])


def arrivals(own):
    """Yields the packets that a socket receives, with their senders, until the
    standard input ends.

    The function waits in recvfrom() and not in poll(), because poll() would
    cause wrong error counters. If poll() finds a packet with a wrong checksum
    in the queue, Linux increases the error counters of IPv4, even if the packet
    is an IPv6 packet."""
    # A larger receive buffer loses fewer packets. Only the root user of the
    # machine may use SO_RCVBUFFORCE. Any other user gets a PermissionError,
    # which is ignored, and the buffer keeps its default size.
    with contextlib.suppress(PermissionError):
        own.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, WAIT)
    while True:
        last = has_ended(sys.stdin)
        try:
            yield own.recvfrom(LARGEST)
        except BlockingIOError:
            if last:
                return
        except OSError as error:
            if error.errno != errno.ENETDOWN:  # The device disappeared.
                raise


def bound(options):
    own = sockets.datagram_socket(options.kind, options.address)
    if options.kind == "udplite":
        own.setsockopt(sockets.SOL_UDPLITE, sockets.UDPLITE_RECV_CSCOV,
                       options.coverage)
    own.bind((options.address, options.port))
    return own


def receive(options):
    """The payloads."""
    with bound(options) as own:
        return [data.hex() for data, _ in arrivals(own)]


def watch(options):
    """Records the arrival times and the sizes of the packets that arrive. With
    --rtp, a size counts only the video data in the packet and not the headers
    of RTP and RFC 2250.
    """
    times, sizes, digest = [], [], hashlib.md5()
    with bound(options) as own:
        for data, _ in arrivals(own):
            times.append(time.monotonic())
            if options.rtp:
                data = data[video_begins(data):]
                digest.update(data)
            sizes.append(len(data))
    return {"times": times, "sizes": sizes, "md5": digest.hexdigest()}


def video_begins(packet):
    """Returns the offset in an RTP packet at which the video begins. Before
    the video, there is an RFC 2250 header of four bytes, or of eight bytes if
    its bit T is set (section 3.4).
    """
    return RTP_HEADER + (8 if packet[RTP_HEADER] & 4 else 4)


def capture(options):
    """Captures packets at a network device and returns them as hexadecimal
    strings. `options.way` selects the direction: "out" means the packets that
    the host sends through the device, and any other value means the packets
    that the host receives.
    """
    seen = []
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                       socket.htons(ETH_P_ALL)) as own:
        own.bind((options.device, ETH_P_ALL))
        print("captures", flush=True)
        for data, sender in arrivals(own):
            is_outgoing = sender[2] == socket.PACKET_OUTGOING
            if is_outgoing == (options.way == "out"):
                seen.append(data.hex())
    return seen


# ------------------------------------------------------------------------- TCP

def receive_exactly(own, size):
    left = size
    while left > 0:
        data = own.recv(left)
        if not data:
            return False
        left -= len(data)
    return True


def without_delay(own):
    own.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return own


def reply(options):
    """Accepts a single TCP connection, and answers each request that arrives
    on it.
    """
    with socket.create_server((options.address, options.port)) as server:
        peer, _ = server.accept()
    with without_delay(peer):
        while receive_exactly(peer, options.request):
            peer.sendall(bytes(options.reply))


def request(options):
    """Sends requests on one TCP connection, each after the reply to the
    previous one. Returns a list of times in seconds, each from a request to
    the end of its reply.
    """
    seconds = []
    with without_delay(socket.create_connection(
            (options.address, options.port))) as own:
        for _ in range(options.count):
            begin = time.monotonic()
            own.sendall(bytes(options.request))
            receive_exactly(own, options.reply)
            seconds.append(time.monotonic() - begin)
    return seconds


def push(options):
    """Connects to the peer and sends zeros until the peer closes the
    connection."""
    block = bytes(16384)
    with contextlib.suppress(ConnectionError, KeyboardInterrupt), \
            socket.create_connection((options.address, options.port)) as own:
        while True:
            own.sendall(block)


def pull(options):
    """Accepts a connection and reads from it. Ends `seconds` seconds after the
    first read, or when the peer closes the connection. Returns a list of
    pairs, one for each read: the time, and the number of bytes received so
    far. If --rate is set, the function waits after each read, so that it reads
    at most --rate bytes per second. --buffer is the size of the receive buffer
    in bytes."""
    seen, total, end = [], 0, None
    with socket.create_server((options.address, options.port)) as server:
        if options.buffer:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF,
                              options.buffer)
        peer, _ = server.accept()
    with peer:
        while end is None or time.monotonic() < end:
            data = peer.recv(LARGEST)
            if not data:
                break
            total += len(data)
            now = time.monotonic()
            end = end or now + options.seconds
            seen.append((now, total))
            if options.rate:
                time.sleep(len(data) / options.rate)
    return seen


# ---------------------------------------------------------------- command line

def parse_arguments():
    parser = argparse.ArgumentParser()
    programs = parser.add_subparsers(required=True)

    def add(function, *numbers, kinds=()):
        program = programs.add_parser(function.__name__)
        program.set_defaults(function=function, kind="udp")
        if kinds:
            program.add_argument("kind", choices=kinds)
        program.add_argument("address")
        program.add_argument("port", type=int)
        for number in numbers:
            program.add_argument(number, type=int)
        return program

    for function, numbers in ((send, ("count", "size")), (receive, ())):
        program = add(function, *numbers, kinds=list(sockets.PROTOCOLS))
        program.add_argument("--coverage", type=int, default=0)
    add(watch).add_argument("--rtp", action="store_true")
    add(flood, "size", "seconds")
    add(reply, "request", "reply")
    add(request, "request", "reply", "count")
    add(push)
    program = add(pull, "seconds")
    program.add_argument("--rate", type=int, default=0)
    program.add_argument("--buffer", type=int, default=0)
    program = programs.add_parser("capture")
    program.add_argument("device")
    program.add_argument("way", choices=("in", "out"))
    program.set_defaults(function=capture)
    return parser.parse_args()


if __name__ == "__main__":
    arguments = parse_arguments()
    outcome = arguments.function(arguments)
    if outcome is not None:
        print(json.dumps(outcome))
