# SPDX-License-Identifier: LGPL-2.1-or-later
"""A network that connects the kernel of this machine with the virtual machines
that dccpguest.py runs.

The local kernel is connected by a TUN device. Each virtual machine is
connected by a socket for its Ethernet frames. A thread forwards IP packets
between the TUN device and the sockets. The thread records each DCCP packet. A
test can define which DCCP packets the thread delays, damages or drops.
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
import sys
import threading
import time
import traceback

import peers
import udplite

DCCP = 33
HOST = {"IPv4": "10.33.0.1", "IPv6": "fd33::1"}
DEVICE = "dccp0"
# The maximum number of packets that wait in the TUN device until the thread
# reads them.
QUEUE = 10000
# Constants of linux/if_tun.h
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
# The index of a column of /proc/net/dev. The column contains the number of
# packets that a device dropped before it transmitted them.
TRANSMIT_DROPPED = 11
ETHERNET = struct.Struct("!6s6sH")
ETHERTYPES = {4: 0x0800, 6: 0x86DD}


@dataclasses.dataclass(frozen=True)
class Seen:
    """A DCCP packet as its endpoint sent it. `time` is the time in s at which
    the emulated network received the packet from the endpoint. `is_lost` is
    true if the network dropped or changed the packet after that.
    """
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
    """Returns the reason why no TUN device can be made on this machine, or
    None if one can be made.
    """
    try:
        os.close(open_tun())
    except OSError as error:
        return f"no TUN device may be made here: {error}"
    return None


def unharmed(packet):
    return [(packet, 0)]


def losing(is_lost):
    """Returns a function that can be passed to Network.set(). It makes the
    network drop the packets for which `is_lost(packet)` is true.
    """
    return lambda packet: [] if is_lost(packet) else unharmed(packet)


class Network(threading.Thread):
    """The network between the endpoints. The caller must call
    enter_own_network() before it creates this object, because the TUN device
    must be made in the new network namespace. The network is shut down at the
    end of the test `case`.
    """

    def __init__(self, case):
        super().__init__(daemon=True)
        self._seen = []
        self._treat = unharmed
        self._delay = 0
        self._late = []  # heap of (time, number, packet)
        self._late_count = 0
        self._link_sockets = []
        # Maps each IP address to a function. The function sends a packet to
        # the machine that has this address.
        self._stations = {}
        # Maps each file descriptor to a function that reads a packet from it.
        self._readers = {}
        self._poll = select.poll()
        self._lock = threading.Lock()
        self._tun = self._open_tun()
        self._end_read, self._end_write = os.pipe()
        self._poll.register(self._end_read, select.POLLIN)
        # If a byte is written into this pipe, the thread reads all waiting
        # packets. It sets the event `_quiet` when no more packets wait.
        self._ask_read, self._ask_write = os.pipe()
        self._poll.register(self._ask_read, select.POLLIN)
        self._quiet = threading.Event()
        case.addCleanup(self._end)
        self.start()

    def _open_tun(self):
        tun = open_tun()
        # The length of the device's queue is set before the device is up. If
        # the length were changed later, Linux would drop packets for a moment.
        # These could be packets of TCP connections that an earlier test has
        # left behind.
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
        """Connects a virtual machine to this network. The machine sends and
        receives its Ethernet frames through the socket `link_socket`.
        """

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
        """Sets what the network does with the packets that are sent after this
        call. `delay` is a delay in s that each packet gets, the same in each
        direction. `treat(packet)` is called for each DCCP packet. It returns a
        list of the packets that arrive instead of this packet. Each item of
        the list is a pair (packet, additional delay in s)."""
        with self._lock:
            self._treat = treat or unharmed
            self._delay = delay

    def inject(self, packet):
        """Delivers a forged packet, which no endpoint has sent, to its
        destination."""
        self._deliver(packet)

    def take_seen(self):
        """Returns all DCCP packets that were sent since the last call of this
        function. Raises AssertionError if the TUN device has lost a packet.
        """
        self._wait_until_quiet()
        line, = re.findall(rf"^ *{DEVICE}:(.*)$", pathlib.Path(
            "/proc/net/dev").read_text(), re.M)
        if int(line.split()[TRANSMIT_DROPPED]):
            raise AssertionError(f"{DEVICE} has lost packets: {line}")
        with self._lock:
            seen, self._seen = self._seen, []
        return seen

    def _wait_until_quiet(self):
        """Waits until the thread has read all packets that are still on their
        way. An endpoint may send its last packets just before it ends. These
        packets may still be waiting when the endpoint has ended."""
        self._quiet.clear()
        os.write(self._ask_write, b".")
        # Many short waits are used instead of a long one. If the machine that
        # runs the test is paused, its clock may jump. The jump then ends only
        # one of the waits.
        for _ in range(udplite.SECONDS):
            if self._quiet.wait(1):
                return
        raise AssertionError("the network does not become quiet: "
                             + self._describe_state())

    def _describe_state(self):
        """Returns a text that says what the thread is doing, for the message
        of a test that failed.
        """
        frame = sys._current_frames().get(self.ident)
        poll = select.poll()
        for descriptor in (*self._readers, self._ask_read):
            poll.register(descriptor, select.POLLIN)
        return (f"{len(self._late)} delayed packets, TUN device {self._tun}, "
                f"request {self._ask_read}, ready descriptors {poll.poll(0)}, "
                "thread:\n" + ("".join(traceback.format_stack(frame))
                               if frame else "ended"))

    def seen(self):
        """Returns the DCCP packets that were sent since the last call of
        take_seen(). In contrast to that function, it does not remove them, so
        the next call of take_seen() returns them again.
        """
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
        # Sending to a virtual machine fails if the machine has already ended.
        # The error is ignored, because such a machine cannot receive packets.
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
