# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the elements tunsrc and tunsink between two network namespaces.

A gst-launch-1.0 process connects the two namespaces. If a program sends
packets in one namespace, the packets arrive in the other namespace. The test
checks its results with the kernel, which verifies checksums, lists the
devices, and knows the namespaces of processes.

The namespaces have no names. A sleeping process keeps each namespace alive.
The sleeping processes end when the test ends, even if the test is killed. The
namespaces then disappear.

A user who is not root runs the test as root of a user namespace.
"""

import contextlib
import ctypes
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

from wirelesslab import processes

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])

SECONDS_TO_WAIT = 30
CLONE_NEWNET = 0x40000000
IPPROTO_UDPLITE = 136  # RFC 3828; linux/udp.h
UDPLITE_SEND_CSCOV, UDPLITE_RECV_CSCOV = 10, 11
IP_HEADER, UDP_HEADER = 20, 8
IN_USER_NAMESPACE = "WIRELESS_TUN_TEST_AS_ROOT"
FLOOD_SECONDS = 2
# Constants of linux/if_tun.h, linux/sockios.h and net/if.h
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
SIOCSIFFLAGS, IFF_UP = 0x8914, 0x1

# Addresses of a and b
V4 = ("10.9.0.1", "10.9.0.2")
V6 = ("fd09::1", "fd09::2")

_libc = ctypes.CDLL(None, use_errno=True)


# ------------------------------------------------------------------- namespaces

def in_network_of(pid, function, *arguments):
    """Calls `function` in the network namespace of the process `pid`, and
    returns its result. The call runs in a thread that is started for it, so
    only this thread enters the namespace. Sockets that the function makes stay
    in that namespace.
    """
    outcome = []

    def visit():
        with open(f"/proc/{pid}/ns/net") as namespace:
            if _libc.setns(namespace.fileno(), CLONE_NEWNET) < 0:
                outcome.append(OSError(ctypes.get_errno(), "setns"))
                return
        try:
            outcome.append(function(*arguments))
        # If `function` raises an exception, the exception is passed to the
        # calling thread, which raises it again.
        except Exception as failure:
            outcome.append(failure)

    thread = threading.Thread(target=visit)
    thread.start()
    thread.join()
    if isinstance(outcome[0], Exception):
        raise outcome[0]
    return outcome[0]


def network(pid):
    return os.readlink(f"/proc/{pid}/ns/net")


def wait_for(condition, what):
    deadline = time.monotonic() + SECONDS_TO_WAIT
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {SECONDS_TO_WAIT} s: {what}")
        time.sleep(0.02)


def start_host():
    """Starts a sleeping process with a network namespace of its own. The test
    uses the pid of this process to refer to the namespace.
    """
    host = processes.start(["unshare", "--net", "sleep", "infinity"])
    wait_for(lambda: network(host.pid) != network("self"), "a namespace")
    return host


def devices(pid):
    """Returns the packet counters of each network device, as {device:
    counters}. "rx" counts received packets, "tx" transmitted packets, and
    "tx-dropped" packets that were dropped before transmission.
    """
    lines = pathlib.Path(f"/proc/{pid}/net/dev").read_text().splitlines()[2:]
    found = {}
    for line in lines:
        name, _, numbers = line.partition(":")
        numbers = [int(number) for number in numbers.split()]
        found[name.strip()] = {"rx": numbers[1], "tx": numbers[9],
                               "tx-dropped": numbers[11]}
    return found


def counter(pid, protocol, name):
    """Returns a counter of /proc/net/snmp. For each protocol, this file has a
    line with the names of the counters and a line with their values.
    """
    text = pathlib.Path(f"/proc/{pid}/net/snmp").read_text()
    names, numbers = re.findall(rf"^{protocol}: (.*)$", text, re.M)
    return int(numbers.split()[names.split().index(name)])


def why_not():
    """Returns None if the test can create TUN devices on this machine.
    Otherwise returns the reason as a text."""
    for program in ("unshare", "nsenter", "gst-launch-1.0"):
        if not shutil.which(program):
            return f"{program} is not installed"
    try:
        host = start_host()
    except AssertionError:
        return "no network namespace may be made here"
    try:
        in_network_of(host.pid, make_device, "probe")
    except OSError as failure:
        return f"no TUN device may be made here: {failure}"
    finally:
        processes.kill(host)
    return None


def make_device(name):
    with open("/dev/net/tun", "r+b", buffering=0) as tun:
        fcntl.ioctl(tun, TUNSETIFF,
                    struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))


def set_loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS,
                    struct.pack("16sH22x", b"lo", IFF_UP))


# ---------------------------------------------------------------------- traffic

def family_of(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def open_socket(pid, address, kind=socket.SOCK_DGRAM, protocol=0, options=()):
    """Returns a socket in the network namespace of the process `pid`. The
    socket is bound to `address` and to any port.
    """
    def make():
        made = socket.socket(family_of(address), kind, protocol)
        for option, value in options:
            made.setsockopt(protocol, option, value)
        made.settimeout(SECONDS_TO_WAIT)
        made.bind((address, 0))
        return made

    return in_network_of(pid, make)


def receive_all(sock):
    """Returns all packets that arrive until no packet has arrived for half a
    second.
    """
    received = []
    sock.settimeout(0.5)
    with contextlib.suppress(TimeoutError):
        while True:
            received.append(sock.recv(65536))
    return received


class Launch:
    """A process that runs gst-launch-1.0. The constructor returns when the
    pipeline is in the state PLAYING.
    """

    def __init__(self, pipeline, wrapper=()):
        self.output = ""
        self.process = processes.start(
            [*wrapper, "gst-launch-1.0", *pipeline.split()], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for line in self.process.stdout:
            self.output += line
            if "to PLAYING" in line:
                return
        raise AssertionError(f"does not play: {self.output}")

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        self.output += self.process.stdout.read()
        status = processes.finish(self.process, SECONDS_TO_WAIT)
        self.process.stdout.close()
        return status

    def wait(self):
        """Waits until gst-launch-1.0 ends without being told to end. Returns
        its exit status.
        """
        self.output += self.process.stdout.read()
        self.process.stdout.close()
        return processes.finish(self.process, SECONDS_TO_WAIT)

    def close(self):
        if self.process.poll() is None:
            processes.kill(self.process)
        self.process.stdout.close()


def cable(a, b, link="", rest=""):
    """Returns a pipeline that passes packets between the network namespaces
    `a` and `b` in both directions. In the direction from `a` to `b`, the
    packets also pass through the elements in the text `link`.
    """
    return (f"tunsrc netns={a} ifname=wl0 address={V4[0]}/24,{V6[0]}/64 {rest} "
            f"! {link} tunsink netns={b} ifname=wl0 "
            f"address={V4[1]}/24,{V6[1]}/64 "
            f"tunsrc netns={b} ifname=wl0 ! tunsink netns={a} ifname=wl0")


class Relay:
    """Takes packets from the element tunsrc, changes some of them, and passes
    all of them to the element tunsink. The packets travel over UDP sockets:
    tunsrc ! udpsink sends to this program, and this program sends to udpsrc !
    tunsink."""

    def __init__(self, change):
        self.change = change
        self.passed = 0
        self.inward = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.inward.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.inward.bind(("127.0.0.1", 0))
        self.inward.settimeout(SECONDS_TO_WAIT)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]

    def link(self):
        port = self.inward.getsockname()[1]
        return (f"udpsink host=127.0.0.1 port={port} sync=false async=false "
                f"udpsrc address=127.0.0.1 port={self.port} "
                "caps=application/x-ip ! ")

    def pass_on(self):
        packet = self.change(self.passed, bytearray(self.inward.recv(65536)))
        self.passed += 1
        self.inward.sendto(packet, ("127.0.0.1", self.port))

    def close(self):
        self.inward.close()


FLOOD = f"""
import socket, sys, time
flood = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
flood.connect(({V4[1]!r}, int(sys.argv[1])))
end = time.monotonic() + {FLOOD_SECONDS}
while time.monotonic() < end:
    for _ in range(200):
        flood.send(b"0123456789abcdef")
"""


# -------------------------------------------------------------------- the tests

class Tun(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        reason = why_not()
        if reason:
            raise unittest.SkipTest(reason)

    def setUp(self):
        self.a, self.b = (self.host().pid for _ in range(2))

    def host(self):
        host = start_host()
        self.addCleanup(processes.kill, host)
        return host

    def launch(self, pipeline, **options):
        launched = Launch(pipeline, **options)
        self.addCleanup(launched.close)
        return launched

    def socket(self, *arguments, **options):
        opened = open_socket(*arguments, **options)
        self.addCleanup(opened.close)
        return opened


class Traffic(Tun):

    def test_udp_crosses_both_ways(self):
        self.launch(cable(self.a, self.b))
        for addresses in (V4, V6):
            ends = [self.socket(pid, address) for pid, address
                    in zip((self.a, self.b), addresses)]
            for sender, receiver in (ends, ends[::-1]):
                # The last packet is fragmented.
                for size in (0, 1, 100, 1400, 5000):
                    with self.subTest(addresses=addresses, size=size):
                        payload = os.urandom(size)
                        sender.sendto(payload, receiver.getsockname())
                        self.assertEqual(receiver.recv(65536), payload)

    def test_tcp_data_crosses_unchanged(self):
        self.launch(cable(self.a, self.b))
        payload = os.urandom(1 << 20) * 20
        for addresses in (V4, V6):
            with self.subTest(addresses=addresses):
                listener = self.socket(self.b, addresses[1],
                                       socket.SOCK_STREAM)
                listener.listen()
                client = self.socket(self.a, addresses[0], socket.SOCK_STREAM)
                client.connect(listener.getsockname())
                server, _ = listener.accept()
                self.addCleanup(server.close)
                self.assertEqual(self.sent(client, server, payload),
                                 hashlib.sha256(payload).digest())

    def sent(self, client, server, payload):
        def send():
            client.sendall(payload)
            client.shutdown(socket.SHUT_WR)

        server.settimeout(SECONDS_TO_WAIT)
        sender = threading.Thread(target=send)
        sender.start()
        digest = hashlib.sha256()
        while data := server.recv(1 << 16):
            digest.update(data)
        sender.join()
        return digest.digest()

    def test_how_many_packets_per_second(self):
        """Measures how many packets per second pass through tunsrc and
        tunsink. This rate depends on the machine, so it is only printed.
        """
        self.launch(cable(self.a, self.b))
        # This socket receives the packets that the test sends. Without it, the
        # kernel would answer each packet with an ICMP error.
        receiver = self.socket(self.b, V4[1])
        flood = processes.start(["nsenter", f"--target={self.a}", "--net",
                                 sys.executable, "-c", FLOOD,
                                 str(receiver.getsockname()[1])])
        self.assertEqual(processes.finish(flood, SECONDS_TO_WAIT), 0)
        time.sleep(0.2)
        sent, received = devices(self.a)["wl0"], devices(self.b)["wl0"]
        self.assertGreater(received["rx"], 0)
        print(f"{received['rx'] / FLOOD_SECONDS:.0f} packets of "
              f"{IP_HEADER + UDP_HEADER + 16} bytes per second through "
              f"tunsrc ! tunsink; {sent['tx-dropped']} found the queue full",
              file=sys.stderr)


class Damage(Tun):
    """Checks what happens to packets in which one bit was flipped. UDP must
    drop a packet with a flipped bit in its payload. IP must drop a packet with
    a flipped bit in the IP header. tunsink must drop a packet with a wrong IP
    version. UDP-Lite must deliver a packet if the bit is outside its checksum
    coverage."""

    PACKETS, STEP, ROUND = 400, 4, 100

    def setUp(self):
        super().setUp()
        in_network_of(os.getpid(), set_loopback_up)

    def pass_damaged(self, at, protocol=0, coverage=None):
        """Sends PACKETS packets through a relay. The relay damages one of
        every STEP packets: it flips one bit of the byte at offset `at`.
        Returns two numbers: how many payloads arrived unchanged, and how many
        arrived changed."""
        def change(number, packet):
            if number % self.STEP == 0:
                packet[at] ^= 0x10
            return packet

        relay = Relay(change)
        self.addCleanup(relay.close)
        self.launch(cable(self.a, self.b, link=relay.link()))
        send = [(UDPLITE_SEND_CSCOV, coverage)] if coverage else []
        receive = [(UDPLITE_RECV_CSCOV, coverage)] if coverage else []
        sender = self.socket(self.a, V4[0], protocol=protocol, options=send)
        receiver = self.socket(self.b, V4[1], protocol=protocol,
                               options=receive)
        payloads = [struct.pack("!I", number) + bytes(96)
                    for number in range(self.PACKETS)]
        arrived = []
        for payload in payloads:
            sender.sendto(payload, receiver.getsockname())
            relay.pass_on()
            # The receiving socket has a buffer for ROUND packets. The test
            # therefore reads all packets from it after every ROUND packets.
            if relay.passed % self.ROUND == 0:
                arrived += receive_all(receiver)
        intact = set(payloads) & set(arrived)
        return len(intact), len(arrived) - len(intact)

    def test_packets_cross_the_link_unchanged(self):
        def keep(_number, packet):
            return packet

        relay = Relay(keep)
        self.addCleanup(relay.close)
        self.launch(cable(self.a, self.b, link=relay.link()))
        sender, receiver = (self.socket(self.a, V4[0]),
                            self.socket(self.b, V4[1]))
        for number in range(100):
            sender.sendto(bytes([number]), receiver.getsockname())
            relay.pass_on()
        self.assertEqual(receive_all(receiver),
                         [bytes([number]) for number in range(100)])
        self.assertEqual(counter(self.b, "Udp", "InCsumErrors"), 0)

    def test_udp_drops_packets_with_a_flipped_bit(self):
        damaged = self.PACKETS // self.STEP
        arrived = self.pass_damaged(at=IP_HEADER + UDP_HEADER + 50)
        self.assertEqual(arrived, (self.PACKETS - damaged, 0))
        self.assertEqual(counter(self.b, "Udp", "InCsumErrors"), damaged)

    def test_ip_drops_packets_with_a_damaged_header(self):
        damaged = self.PACKETS // self.STEP
        arrived = self.pass_damaged(at=8)  # time to live
        self.assertEqual(arrived, (self.PACKETS - damaged, 0))
        self.assertEqual(counter(self.b, "Ip", "InHdrErrors"), damaged)

    def test_tunsink_refuses_packets_of_other_protocols(self):
        """Changes the IP version of some packets from 4 to 5. tunsink must
        drop these packets, with a single warning for all of them. It must pass
        on the packets after them.
        """
        damaged = self.PACKETS // self.STEP
        arrived = self.pass_damaged(at=0)  # 4 becomes 5
        self.assertEqual(arrived, (self.PACKETS - damaged, 0))
        self.assertEqual(devices(self.b)["wl0"]["rx"], self.PACKETS - damaged)

    def test_udplite_delivers_damage_outside_its_coverage(self):
        try:
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM,
                          IPPROTO_UDPLITE).close()
        except OSError as failure:
            self.skipTest(f"this kernel has no UDP-Lite: {failure}")
        damaged = self.PACKETS // self.STEP
        arrived = self.pass_damaged(at=IP_HEADER + UDP_HEADER + 50,
                                    protocol=IPPROTO_UDPLITE,
                                    coverage=UDP_HEADER + 4)
        self.assertEqual(arrived, (self.PACKETS - damaged, damaged))


class Life(Tun):

    def have_devices(self):
        return ["wl0" in devices(pid) for pid in (self.a, self.b)]

    def test_devices_are_gone_after_the_pipeline(self):
        launched = self.launch(cable(self.a, self.b))
        self.assertEqual(self.have_devices(), [True, True])
        self.assertEqual(launched.end(), 0)
        self.assertEqual(self.have_devices(), [False, False])

    def test_devices_are_gone_after_a_kill(self):
        launched = self.launch(cable(self.a, self.b))
        self.assertEqual(launched.end(signal.SIGKILL), -signal.SIGKILL)
        self.assertEqual(self.have_devices(), [False, False])

    def test_no_thread_changes_its_namespace(self):
        launched = self.launch(cable(self.a, self.b))
        pid = launched.process.pid
        threads = os.listdir(f"/proc/{pid}/task")
        self.assertGreater(len(threads), 2)
        for thread in threads:
            self.assertEqual(os.readlink(f"/proc/{pid}/task/{thread}/ns/net"),
                             network("self"))

    def test_namespace_outlives_its_process_while_the_pipeline_plays(self):
        last = self.host()
        launched = self.launch(f"tunsrc netns={last.pid} ! fakesink")
        last.send_signal(signal.SIGKILL)
        last.wait()
        self.assertIsNone(launched.process.poll())
        self.assertEqual(launched.end(), 0)

    def test_another_process_finds_the_device_busy(self):
        self.launch(cable(self.a, self.b))
        with self.assertRaisesRegex(AssertionError,
                                    "TUN device wl0 .* is in use already"):
            Launch(f"tunsrc netns={self.a} ifname=wl0 ! fakesink")

    @unittest.skipUnless(shutil.which("ip"), "ip is not installed")
    def test_deleted_device_is_an_error(self):
        for pid, element in ((self.a, "tunsrc"), (self.b, "tunsink")):
            with self.subTest(element=element):
                launched = self.launch(
                    f"tunsrc netns={self.a} ifname=wl0 ! fakesink "
                    f"videotestsrc ! video/x-raw,format=GRAY8,width=20,"
                    f"height=20 ! tee ! fakesink"
                    if element == "tunsrc" else
                    "fakesrc sizetype=fixed sizemax=100 filltype=zero "
                    "datarate=10000 format=time sync=true is-live=true "
                    f"! application/x-ip ! tunsink netns={self.b} ifname=wl0")
                in_network_of(pid, subprocess.run,
                              ["ip", "link", "delete", "wl0"])
                self.assertNotEqual(launched.wait(), 0)
                self.assertIn("The TUN device wl0 was deleted",
                              launched.output)


class Names(Tun):
    """Tests the property netns of tunsrc and tunsink, which selects a network
    namespace. Its value can be a path or a name. Without a value, the element
    uses the namespace of its process.
    """

    def test_path(self):
        self.launch(f"tunsrc netns=/proc/{self.a}/ns/net ifname=wl0 "
                    f"! tunsink netns={self.a} ifname=wl0")
        self.assertIn("wl0", devices(self.a))

    def test_name_of_ip_netns(self):
        """Gives the namespace a name in /run/netns, as the command `ip netns`
        does. The test has a private /run, so no other program sees this name.
        """
        script = ("mount -t tmpfs none /run && mkdir /run/netns && "
                  "touch /run/netns/some-name && "
                  f"mount --bind /proc/{self.a}/ns/net /run/netns/some-name "
                  '&& exec "$@"')
        self.launch("tunsrc netns=some-name ifname=wl0 ! fakesink",
                    wrapper=["unshare", "--mount", "sh", "-c", script, "sh"])
        self.assertIn("wl0", devices(self.a))

    def test_our_own(self):
        launched = self.launch("tunsrc ifname=wl0 ! fakesink",
                               wrapper=["nsenter", f"--target={self.a}",
                                        "--net"])
        self.assertIn("wl0", devices(self.a))
        self.assertEqual(launched.end(), 0)


class Page(Tun):
    """Runs the commands and the launch lines of docs/tunsrc.md."""

    def lines(self, beginning):
        text = (SOURCE / "docs" / "tunsrc.md").read_text()
        return re.findall(rf"^    ({re.escape(beginning)}.*)$", text, re.M)

    def test_lines_for_users_run_as_pasted(self):
        lines = self.lines("unshare ")
        self.assertTrue(lines)
        for line in lines:
            ran = subprocess.run(["sh", "-c", line], text=True,
                                 stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT)
            self.assertIn("to PLAYING", ran.stdout)
            self.assertNotRegex(ran.stdout, "ERROR|WARNING|CRITICAL")

    @unittest.skipUnless(shutil.which("ip"), "ip is not installed")
    def test_lines_for_root_run_as_pasted(self):
        """Runs the commands on the page docs/tunsrc.md that are for root. They
        run in a private /run and in a network namespace of their own. They
        therefore need no sudo and change nothing on the machine.
        """
        names = [line.removeprefix("sudo ")
                 for line in self.lines("sudo ip netns add")]
        cables = self.lines("sudo -E ")
        self.assertTrue(names and cables)
        before = "; ".join(["mount -t tmpfs none /run", *names, 'exec "$@"'])
        for line in cables:
            words = line.removeprefix("sudo -E gst-launch-1.0 ")
            launched = self.launch(words, wrapper=[
                "unshare", "--mount", "--net", "sh", "-e", "-c", before, "sh"])
            self.assertEqual(launched.end(), 0)
            self.assertNotRegex(launched.output, "ERROR|WARNING|CRITICAL")


def become_root():
    """Restarts this test program as root of a new user namespace. If the
    system does not allow such a namespace, the program continues without it,
    and the tests are skipped later.
    """
    if os.geteuid() == 0 or IN_USER_NAMESPACE in os.environ:
        return
    enter = ["unshare", "--user", "--map-root-user", "--net"]
    try:
        allowed = subprocess.run([*enter, "true"]).returncode == 0
    except OSError:
        allowed = False
    if allowed:
        os.environ[IN_USER_NAMESPACE] = "1"
        os.execvp(enter[0], [*enter, sys.executable, *sys.argv])


if __name__ == "__main__":
    become_root()
    processes.die_on_signals()
    unittest.main()
