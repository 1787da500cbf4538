# SPDX-License-Identifier: LGPL-2.1-or-later
"""The network between this process's kernel and machines of dccpguest.py.

The kernel has a TUN device, each machine a socket with its Ethernet frames; in
between a thread carries IP packets to whom they are for, those of DCCP late,
damaged or not at all as the test wants, and notes each of them.
"""

import contextlib
import dataclasses
import fcntl
import heapq
import ipaddress
import os
import pathlib
import re
import select
import struct
import threading
import time

import peers
import udplite

DCCP = 33
HOST = {"IPv4": "10.33.0.1", "IPv6": "fd33::1"}
DEVICE = "dccp0"
QUEUE = 10000                   # packets that may wait for the thread
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000  # linux/if_tun.h
TRANSMIT_DROPPED = 11           # column of /proc/net/dev
ETHERNET = struct.Struct("!6s6sH")
ETHERTYPES = {4: 0x0800, 6: 0x86DD}


@dataclasses.dataclass(frozen=True)
class Seen:
    """A packet of DCCP as it was sent; lost: or arrived as another one"""
    time: float
    packet: bytes
    is_lost: bool


def destination(packet):
    return packet[24:40] if packet[0] >> 4 == 6 else packet[16:20]


def open_tun():
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack(
        "16sH22x", DEVICE.encode(), IFF_TUN | IFF_NO_PI))
    return tun


def why_none():
    """None: there can be one."""
    try:
        os.close(open_tun())
    except OSError as error:
        return f"no TUN device may be made here: {error}"
    return None


def unharmed(packet):
    return [(packet, 0)]


def losing(is_lost):
    """is_lost (packet)"""
    return lambda packet: [] if is_lost(packet) else unharmed(packet)


class Network(threading.Thread):
    """From enter_own_network on. Ends with the test `case`."""

    def __init__(self, case):
        super().__init__(daemon=True)
        self._seen = []
        self._treat = unharmed
        self._delay = 0
        self._late = []         # heap of time, number, packet
        self._late_count = 0
        self._link_sockets = []
        self._stations = {}     # address: how it is sent there
        self._readers = {}      # descriptor: how to read its packets
        self._poll = select.poll()
        self._lock = threading.Lock()
        self._tun = self._open_tun()
        self._end_read, self._end_write = os.pipe()
        self._poll.register(self._end_read, select.POLLIN)
        self._ask_read, self._ask_write = os.pipe()  # whether it is quiet
        self._poll.register(self._ask_read, select.POLLIN)
        self._quiet = threading.Event()
        case.addCleanup(self._end)
        self.start()

    def _open_tun(self):
        tun = open_tun()
        # The queue's length comes before `up`: when it changes on a device
        # that is up, Linux drops packets until the change is over. TCP
        # connections of an earlier test may be sending just then.
        for words in (f"link set {DEVICE} addrgenmode none",
                      f"link set {DEVICE} txqueuelen {QUEUE}",
                      f"address add {HOST['IPv4']}/24 dev {DEVICE}",
                      f"address add {HOST['IPv6']}/64 dev {DEVICE} nodad",
                      f"link set {DEVICE} up"):
            peers.run(["ip", *words.split()])
        self._add(tun, HOST.values(), lambda: os.read(tun, udplite.LARGEST),
                  lambda packet: os.write(tun, packet))
        return tun

    def attach(self, link_socket, hardware_address, addresses):
        """A machine; its frames are on this socket."""

        def read():
            frame = link_socket.recv(udplite.LARGEST)
            return frame[ETHERNET.size:]

        def write(packet):
            link_socket.send(ETHERNET.pack(hardware_address, bytes(6),
                                    ETHERTYPES[packet[0] >> 4]) + packet)

        self._add(link_socket.fileno(), addresses, read, write)
        self._link_sockets.append(link_socket)

    def _add(self, descriptor, addresses, read, write):
        with self._lock:
            self._readers[descriptor] = read
            for address in addresses:
                self._stations[ipaddress.ip_address(address).packed] = write
        self._poll.register(descriptor, select.POLLIN)

    def set(self, treat=None, delay=0):
        """From now on; treat (packet): what arrives of one of DCCP, and so
        much later in s; delay: s, each way."""
        with self._lock:
            self._treat = treat or unharmed
            self._delay = delay

    def inject(self, packet):
        """Brings it to whom it is for; nobody has sent it."""
        self._deliver(packet)

    def take_seen(self):
        """What crossed since the last call, which was all"""
        self._wait_until_quiet()
        line, = re.findall(rf"^ *{DEVICE}:(.*)$", pathlib.Path(
            "/proc/net/dev").read_text(), re.M)
        if int(line.split()[TRANSMIT_DROPPED]):
            raise AssertionError(f"{DEVICE} has lost packets: {line}")
        with self._lock:
            seen, self._seen = self._seen, []
        return seen

    def _wait_until_quiet(self):
        """An end that has just left may have sent something that the thread
        has not read yet."""
        self._quiet.clear()
        os.write(self._ask_write, b".")
        if not self._quiet.wait(udplite.SECONDS):
            raise AssertionError("the network does not become quiet")

    def seen(self):
        """The same, which stays"""
        with self._lock:
            return list(self._seen)

    def run(self):
        while True:
            wait = self._late[0][0] - time.monotonic() if self._late else None
            ready = [descriptor for descriptor, _ in self._poll.poll(
                None if wait is None else max(0, 1000 * wait))]
            if ready == [self._ask_read] and not self._late:
                os.read(self._ask_read, 1)
                self._quiet.set()
            for descriptor in ready:
                if descriptor == self._end_read:
                    return
                if descriptor == self._ask_read:
                    continue
                with contextlib.suppress(OSError):
                    self._take(self._readers[descriptor]())
            while self._late and self._late[0][0] <= time.monotonic():
                self._deliver(heapq.heappop(self._late)[2])

    def _take(self, packet):
        if packet[0] >> 4 not in ETHERTYPES:
            return
        if udplite.protocol_of(packet) != DCCP:
            self._deliver(packet)
            return
        now = time.monotonic()
        with self._lock:
            arriving = self._treat(packet)
            self._seen.append(Seen(now, packet, packet not in (
                each for each, _ in arriving)))
            delay = self._delay
        for each, later in arriving:
            if delay or later:
                self._late_count += 1
                heapq.heappush(self._late, (
                    now + delay + later, self._late_count, each))
            else:
                self._deliver(each)

    def _deliver(self, packet):
        write = self._stations.get(destination(packet))
        # (A machine that has ended hears no more.)
        with contextlib.suppress(OSError):
            if write:
                write(packet)

    def _end(self):
        os.write(self._end_write, b".")
        self.join(udplite.SECONDS)
        for descriptor in (self._tun, self._end_read, self._end_write,
                           self._ask_read, self._ask_write):
            os.close(descriptor)
        for link_socket in self._link_sockets:
            link_socket.close()
