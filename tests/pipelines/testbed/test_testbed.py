# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the testbed, which emulates hosts and bad links between them on one
machine. The hosts must reach each other. When the testbed has ended, none of
its processes, namespaces and devices may remain.

The tests check the state of the kernel. Commands on the emulated hosts list
the network devices, and send packets through sockets. After the end of the
testbed, the tests search /proc for remaining processes, namespaces and
devices. No test depends on the speed of the machine.
"""

import concurrent.futures
import contextlib
import functools
import itertools
import os
import pathlib
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from wirelesslab.commands import testbed
from wirelesslab.errors import LabError
from wirelesslab.testbed import links, namespaces
from wirelesslab.testbed.testbed import Testbed

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"])
COMMAND = SOURCE / "pipelines" / "testbed"

SECONDS_TO_WAIT = 60
MARK = "WIRELESS_TESTBED_TEST"
NOBODY = 65534
PLAIN = "wl0=a,b: none"
_numbers = itertools.count()

# Small programs that run on the hosts of the testbed. They are in Python,
# because a tool such as iperf3 is not installed on every machine.
SEND = ["python3", "-c", """
import socket, sys
kind = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
socket.socket(kind, socket.SOCK_DGRAM).sendto(
    sys.argv[3].encode(), (sys.argv[1], int(sys.argv[2])))
"""]
RECEIVE = ["python3", "-c", """
import socket, sys
kind = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
own = socket.socket(kind, socket.SOCK_DGRAM)
own.bind((sys.argv[1], int(sys.argv[2])))
data, sender = own.recvfrom(2048)
print(data.decode(), "from", sender[0])
"""]
ASK = ["python3", "-c", """
import socket, sys
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
own.settimeout(20)
own.sendto(sys.argv[3].encode(), (sys.argv[1], int(sys.argv[2])))
data, sender = own.recvfrom(2048)
assert sender == (sys.argv[1], int(sys.argv[2])), sender
print(data.decode())
"""]
ANSWER = ["python3", "-c", """
import socket, sys
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
own.bind((sys.argv[1], int(sys.argv[2])))
while True:
    data, sender = own.recvfrom(2048)
    own.sendto(data + b" is answered", sender)
"""]
SEND_MANY = ["python3", "-c", """
import socket, sys
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(int(sys.argv[3])):
    own.sendto(bytes(1000), (sys.argv[1], int(sys.argv[2])))
"""]
SERVE_TCP = ["python3", "-c", """
import hashlib, socket, sys
with socket.create_server((sys.argv[1], int(sys.argv[2]))) as server:
    peer, _ = server.accept()
    print(hashlib.file_digest(peer.makefile("rb"), "md5").hexdigest())
"""]
SEND_TCP = ["python3", "-c", """
import hashlib, socket, sys
data = bytes(range(256)) * 4096
with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as own:
    own.sendall(data)
print(hashlib.md5(data).hexdigest())
"""]
# Sends an ICMP echo request and waits for the reply, as ping(8) does.
PING = ["python3", "-c", """
import os, socket, struct, sys
own = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
words = [0x0800, 0, 7, 1]
words[1] = 0xffff - (sum(words) % 0xffff)
own.sendto(struct.pack("!4H", *words), (sys.argv[1], 0))
while True:
    data, sender = own.recvfrom(2048)
    if data[20] == 0 and sender[0] == sys.argv[1]:
        print("alive")
        break
"""]


@functools.cache
def has_element(name):
    # The option --exists of gst-inspect-1.0 would be simpler, but it fails for
    # plugins with a version below 1.0.
    return subprocess.run(
        ["gst-inspect-1.0", name], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL).returncode == 0


@functools.cache
def why_no_namespaces():
    try:
        namespaces.Namespaces({"a": {}}, os.geteuid() != 0).close()
    except LabError as failure:
        return str(failure)
    if not has_element("tunsrc"):
        return "tunsrc is not built"
    return None


def needs_namespaces(test):
    @functools.wraps(test)
    def guarded(self):
        if why_no_namespaces():
            self.skipTest(why_no_namespaces())
        test(self)
    return guarded


def wait_for(condition):
    deadline = time.monotonic() + SECONDS_TO_WAIT
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


def read_some(terminal):
    """Reads from the terminal, and returns what was read. The result is empty
    if there is nothing to read, or if the other end of the terminal is closed.
    """
    with contextlib.suppress(OSError):
        return os.read(terminal, 4096)
    return b""


def marked(mark):
    """Returns the pids of all running processes whose environment has the
    variable WIRELESS_TESTBED_TEST with the value `mark`. A test gives this
    variable to each testbed that it starts.
    """
    wanted = f"{MARK}={mark}".encode()
    found = set()
    for directory in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if wanted not in (directory / "environ").read_bytes().split(b"\0"):
                continue
            state = (directory / "stat").read_text().rsplit(")", 1)[1].split()
            if state[0] != "Z":
                found.add(int(directory.name))
        except OSError:
            # The process ended before its files were read, so it is left out.
            pass
    return found


def names_of(pids):
    found = set()
    for pid in pids:
        try:
            found.add(pathlib.Path(f"/proc/{pid}/comm").read_text().strip())
        except OSError:
            pass
    return found


def networks_of(pids):
    found = set()
    for pid in pids:
        try:
            found.add(os.readlink(f"/proc/{pid}/ns/net"))
        except OSError:
            pass
    return found


def on_the_machine():
    """Returns the parts of the testbed that are visible outside its
    namespaces, on the machine itself: network devices, tmpfs mounts and names
    of network namespaces. A test must not add any of them. The function
    ignores devices and mounts of other programs, because they may change at
    any time."""
    devices = pathlib.Path("/proc/self/net/dev").read_text()
    mounts = pathlib.Path("/proc/self/mountinfo").read_text()
    return (re.findall(r"^ *(wl[01]|wifi|phone):", devices, re.M)
            + re.findall(r" - tmpfs testbed | /run/netns/[abc] ", mounts))


def held_by_us():
    """Returns the types of the namespaces that this process has open as file
    descriptors. An open descriptor would keep its namespace alive.
    """
    found = []
    for path in pathlib.Path("/proc/self/fd").iterdir():
        try:
            found += re.findall(r"^(?:net|pid|mnt|user):", os.readlink(path))
        except OSError:
            # The list of descriptors includes the one that iterdir() opens in
            # order to read the directory. If iterdir() closes it before
            # readlink() is called, readlink() fails. This is no error.
            pass
    return found


def own_environment():
    """Returns the environment of this process without the variables of
    GStreamer (GST_...). Most users do not set these variables. The tests run
    without them to check that the testbed finds the plugins in the build
    directory by itself.
    """
    return {name: value for name, value in os.environ.items()
            if not name.startswith("GST_")}


class Nothing(unittest.TestCase):
    """Base class of the tests. Checks after each test that all processes,
    namespaces and devices of the test are gone.
    """

    def setUp(self):
        self.mark = f"{os.getpid()}-{next(_numbers)}"
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.env = {**own_environment(), MARK: self.mark,
                    "TMPDIR": directory.name}
        self.networks = set()
        self.before = on_the_machine()
        self.addCleanup(self.check_nothing_is_left)

    def check_nothing_is_left(self):
        self.assertTrue(wait_for(lambda: not marked(self.mark)),
                        "processes are left")
        # A network namespace exists as long as a process, a mount or an open
        # file descriptor uses it. The test therefore checks that no process,
        # mount or file descriptor is left. It does not check the number of the
        # namespace, because the kernel may later give this number to another
        # namespace.
        self.assertEqual(held_by_us(), [])
        self.assertEqual(on_the_machine(), self.before)

    def note_networks(self):
        """Records the network namespaces of the running testbed. At the end,
        the test checks that the record is not empty. If it were empty, the
        check that no network namespace is left would prove nothing.
        """
        self.networks |= networks_of(marked(self.mark))
        self.networks.discard(os.readlink("/proc/self/ns/net"))


class Api(Nothing):
    def setUp(self):
        super().setUp()
        os.environ[MARK] = self.mark
        self.addCleanup(os.environ.pop, MARK)

    def open(self, *texts, **options):
        bed = Testbed(texts or [PLAIN], build=BUILD, **options)
        # Cleanups run in the reverse order of their registration. The testbed
        # is therefore closed before the check that nothing is left.
        self.addCleanup(bed.close)
        bed.__enter__()
        self.note_networks()
        return bed

    def text(self, bed, host, command):
        return bed.run(host, command, check=True, stdout=subprocess.PIPE,
                       text=True).stdout.strip()

    def send_and_receive(self, bed, sender, receiver, address, port=5004,
                         kind="udp", bound_to=None):
        """Sends the text "a word" from the host `sender` to the host
        `receiver`, with UDP. Returns the text that the receiving program
        printed.
        """
        child = bed.popen(receiver, [*RECEIVE, bound_to or address, str(port)],
                          stdout=subprocess.PIPE, text=True)
        bed.wait_listening(receiver, kind, port)
        bed.run(sender, [*SEND, address, str(port), "a word"], check=True)
        out, _ = child.communicate(timeout=SECONDS_TO_WAIT)
        return out.strip()


class HostsTest(Api):
    @needs_namespaces
    def test_hosts_ping_each_other(self):
        bed = self.open()
        for host, peer in (("a", "b"), ("b", "a")):
            self.assertEqual(
                self.text(bed, host, [*PING, bed.variables(host)[peer]]),
                "alive")

    @needs_namespaces
    def test_a_device_is_up_when_it_has_its_address(self):
        """A device of the testbed is served by two elements, tunsink and
        tunsrc. tunsink may bring the device up before tunsrc sets its address.
        The test removes the address of a device. A device without an address
        must not count as up.
        """
        bed = self.open()
        question = "are_up", "a"
        self.assertTrue(bed._place.ask(*question, devices=["wl0"]))
        bed.run("a", "ip -4 address flush dev wl0", check=True)
        self.assertFalse(bed._place.ask(*question, devices=["wl0"]))

    @needs_namespaces
    def test_udp_crosses_and_names_its_sender(self):
        bed = self.open()
        self.assertEqual(self.send_and_receive(bed, "a", "b", "10.77.0.2"),
                         "a word from 10.77.0.1")

    @needs_namespaces
    def test_ipv6_crosses_at_once(self):
        bed = self.open()
        self.assertEqual(
            self.send_and_receive(bed, "b", "a", bed.variables("b")["a_ip6"]),
            "a word from fd77::2")

    @needs_namespaces
    def test_tcp_data_crosses_unchanged(self):
        bed = self.open()
        server = bed.popen("b", [*SERVE_TCP, "10.77.0.2", "5001"],
                           stdout=subprocess.PIPE, text=True)
        bed.wait_listening("b", "tcp", 5001)
        sent = self.text(bed, "a", [*SEND_TCP, "10.77.0.2", "5001"])
        received, _ = server.communicate(timeout=SECONDS_TO_WAIT)
        self.assertEqual(received.strip(), sent)

    @needs_namespaces
    def test_an_idle_link_carries_no_packets(self):
        bed = self.open()
        # This command prints how many packets wl0 has received and how many it
        # has sent.
        statistics = "awk '/wl0:/ { print $3, $11 }' /proc/self/net/dev"
        self.assertEqual(self.text(bed, "a", statistics), "0 0")

    @needs_namespaces
    def test_two_hosts_can_have_two_links(self):
        bed = self.open("wifi=a,b: none", "phone=a,b: none")
        values = bed.variables("a")
        for name in ("wifi", "phone"):
            self.assertEqual(
                self.send_and_receive(bed, "a", "b", values[f"b_{name}"]),
                f"a word from {values[f'a_{name}']}")

    @needs_namespaces
    def test_a_host_between_two_others_forwards(self):
        bed = self.open("wl0=a,b: none", "wl1=b,c: none",
                        sysctls={"b": {"net.ipv4.ip_forward": "1"}})
        for host, peer in (("a", "c"), ("c", "a")):
            bed.run(host, f"ip route add ${peer} via $b", check=True)
        self.assertEqual(self.text(bed, "a", [*PING, "10.77.1.2"]), "alive")

    @needs_namespaces
    def test_other_elements_make_a_link_too(self):
        bed = self.open("wl0=a,b: identity drop-probability=1",
                        "wl1=a,b: none")
        child = bed.popen("b", [*RECEIVE, "0.0.0.0", "5004"],
                          stdout=subprocess.PIPE, text=True)
        bed.wait_listening("b", "udp", 5004)
        for name, word in (("wl0", "lost"), ("wl1", "found")):
            bed.run("a", [*SEND, bed.variables("a")[f"b_{name}"], "5004",
                          word], check=True)
        out, _ = child.communicate(timeout=SECONDS_TO_WAIT)
        self.assertEqual(out.strip(), "found from 10.77.1.1")

    @needs_namespaces
    def test_names_of_hosts_are_those_of_their_namespaces(self):
        bed = self.open()
        self.assertEqual(
            self.text(bed, "a", "ip netns exec b cat /proc/self/net/fib_trie "
                      "| grep -c -m 1 10.77.0.2"), "1")
        self.assertFalse(pathlib.Path("/run/netns/a").exists())

    @needs_namespaces
    def test_settings_reach_host_and_device(self):
        bed = self.open(
            sysctls={"a": {"net.ipv4.tcp_timestamps": "0"}},
            devices={"wl0": "txqueuelen=7", "a.wl0": "mtu=576"})
        tcp = "cat /proc/sys/net/ipv4/tcp_timestamps"
        self.assertEqual(self.text(bed, "a", tcp), "0")
        self.assertNotEqual(self.text(bed, "b", tcp), "0")
        show = "ip link show wl0"
        self.assertIn("mtu 576 ", self.text(bed, "a", show))
        self.assertIn("mtu 1500 ", self.text(bed, "b", show))
        self.assertIn("qlen 7", self.text(bed, "b", show))

    @needs_namespaces
    def test_a_token_bucket_sits_on_one_end(self):
        if shutil.which("tc") is None:
            self.skipTest("there is no tc")
        bed = self.open(buckets={"a.wl0": "rate 1mbit burst 5kb limit 30kb"})
        show = "tc qdisc show dev wl0"
        self.assertIn("tbf", self.text(bed, "a", show))
        self.assertNotIn("tbf", self.text(bed, "b", show))

    @needs_namespaces
    def test_a_token_bucket_makes_udp_wait(self):
        if shutil.which("tc") is None:
            self.skipTest("there is no tc")
        bed = self.open(buckets={"a.wl0": "rate 32mbit burst 5kb limit 2mb"})
        bed.run("a", [*SEND_MANY, "10.77.0.2", "5004", "1000"], check=True)
        show = "tc -s qdisc show dev wl0"
        self.assertTrue(wait_for(
            lambda: "1000 pkt" in self.text(bed, "a", show)))
        self.assertIn("dropped 0", self.text(bed, "a", show))

    @needs_namespaces
    def test_a_dead_link_is_an_error_with_its_last_words(self):
        bed = self.open()
        link, = bed.link_processes()
        link.kill()
        link.wait()
        with self.assertRaisesRegex(LabError, "wl0 ended .*SIGKILL"):
            bed.check()

    @needs_namespaces
    def test_statuses_and_signals_are_the_commands(self):
        bed = self.open()
        self.assertEqual(bed.run("a", "exit 7").returncode, 7)
        self.assertEqual(bed.run("a", "kill -9 $$").returncode,
                         -signal.SIGKILL)
        self.assertEqual(
            bed.run("a", ["no-such-program"],
                    stderr=subprocess.DEVNULL).returncode, 127)
        child = bed.popen("a", "trap 'exit 3' TERM; echo; sleep 99 & wait",
                          stdout=subprocess.PIPE)
        child.stdout.readline()
        child.terminate()
        self.assertEqual(child.wait(), 3)
        child.stdout.close()

    @needs_namespaces
    def test_commands_run_in_the_current_directory(self):
        bed = self.open()
        self.assertEqual(self.text(bed, "a", ["pwd"]), os.getcwd())
        self.assertEqual(
            bed.run("a", ["pwd"], cwd=self.directory, text=True,
                    stdout=subprocess.PIPE).stdout.strip(),
            str(self.directory))

    @needs_namespaces
    def test_background_processes_end_with_the_testbed(self):
        bed = self.open()
        bed.run("a", "setsid sleep 999 & (trap '' TERM HUP; sleep 999) &",
                check=True)
        self.note_networks()
        bed.close()
        self.assertEqual(marked(self.mark), set())

    @needs_namespaces
    def test_threads_may_use_it(self):
        bed = self.open()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            told = list(pool.map(lambda host: self.text(
                bed, host, "echo $TESTBED_HOST") if bed.is_listening(
                    host, "tcp", 1) is False else None, "abababab"))
        self.assertEqual("".join(told), "abababab")

    @needs_namespaces
    def test_many_testbeds_live_side_by_side(self):
        beds = [self.open() for _ in range(3)]
        for bed in beds:
            self.assertEqual(self.send_and_receive(bed, "a", "b", "10.77.0.2"),
                             "a word from 10.77.0.1")


class EmulatedLinkTest(Api):
    def setUp(self):
        super().setUp()
        if not has_element("wirelesslink"):
            self.skipTest("wirelesslink is not built")

    @staticmethod
    def packets(log):
        return [line.split() for line in log.read_text().splitlines()
                if line.startswith("packet ")]

    @needs_namespaces
    def test_carries_and_logs(self):
        logs = self.directory / "logs"
        bed = self.open("wl0=a,b: profile=80211b seed=1", logs=logs)
        self.assertEqual(self.text(bed, "a", [*PING, "10.77.0.2"]), "alive")
        bed.close()
        fates = [fields[6] for fields in self.packets(logs / "wl0.log")]
        # The log has two packets: the echo request and the echo reply. Both
        # must be delivered.
        self.assertEqual(fates, ["delivered", "delivered"])

    @needs_namespaces
    def test_the_kernel_drops_damaged_packets(self):
        bed = self.open("wl0=a,b: bit-error-rate=0.0001 seed=1")
        count = 300
        bed.run("a", [*SEND_MANY, "10.77.0.2", "5004", str(count)], check=True)

        def verdicts():
            lines = self.text(bed, "b", "cat /proc/self/net/snmp").splitlines()
            found = {}
            for names, values in zip(lines[::2], lines[1::2]):
                kind, *names = names.split()
                found.update({kind + name: int(value) for name, value
                              in zip(names, values.split()[1:])})
            return found

        self.assertTrue(wait_for(
            lambda: verdicts()["Ip:InReceives"] >= count))
        found = verdicts()
        # The test sends packets over a link with bit errors to a UDP port
        # without a socket. The kernel counts a packet with a correct checksum
        # in NoPorts, and a packet with a wrong checksum in InCsumErrors. Both
        # counters must be above 0.
        self.assertGreater(found["Udp:NoPorts"], 0)
        self.assertGreater(found["Udp:InCsumErrors"], 0)
        self.assertLess(found["Udp:NoPorts"], count)

    @needs_namespaces
    def test_hosts_of_two_links_share_a_medium(self):
        logs = self.directory / "logs"
        bed = self.open("wl0=a,b: profile=80211b", "wl1=c,b: medium=wl0",
                        logs=logs)
        self.assertEqual(bed.log("wl1"), bed.log("wl0"))
        for host in "ac":
            self.assertEqual(
                self.text(bed, host, [*PING, bed.variables(host)["b"]]),
                "alive")
        bed.close()
        flows_and_stations = [fields[2:4]
                              for fields in self.packets(logs / "wl0.log")]
        self.assertEqual(flows_and_stations,
                         [["0", "0"], ["1", "1"], ["2", "2"], ["3", "1"]])

    def test_relays_count_the_headers(self):
        # The link delivers only packets of at most 40 bytes. The IP and UDP
        # headers have 28 bytes together. The packet with the 6 bytes "a word"
        # has 34 bytes in all and must be delivered. The packet with the 13
        # bytes "a longer word" has 41 bytes and must not be delivered.
        bed = self.open("wl0=a,b: max-size=40", mode="relay",
                        relay_ports=[5004])
        child = bed.popen("b", [*RECEIVE, bed.variables("b")["b"], "5004"],
                          stdout=subprocess.PIPE, text=True)
        bed.wait_listening("b", "udp", 5004)
        for words in ("a longer word", "a word"):
            bed.run("a", [*SEND, bed.variables("a")["b"], "5004", words],
                    check=True)
        out, _ = child.communicate(timeout=SECONDS_TO_WAIT)
        self.assertEqual(out.split(" from")[0], "a word")


class DescriptionTest(unittest.TestCase):
    def test_a_wrong_description_of_a_link_is_an_error(self):
        for text, words in (
                ("wl0", "NAME=HOST1,HOST2"), ("wl0=a", "two different hosts"),
                ("wl0=a,a", "two different hosts"),
                ("wl0=a,b,c", "two different hosts"),
                ("wl0=PATH,b", "small letter"), ("lo=a,b", "lo is reserved"),
                ("wl0=a,b: location='x", "quotation"),
                ("wl0=a,b: medium=wl1", "no link 'wl1' with a medium"),
                ("wl0=a,b: medium=wl1 seed=1", "no properties of its own")):
            with self.subTest(text), \
                    self.assertRaisesRegex(LabError, words):
                links.parse_all([text])
        with self.assertRaisesRegex(LabError, "two links with the name wl0"):
            links.parse_all([PLAIN, PLAIN])

    def test_unknown_hosts_and_links_are_errors(self):
        for options, words in (
                ({"sysctls": {"c": {}}}, "no host c; there are: a b"),
                ({"sysctls": {"a": {"kernel.hostname": "x"}}},
                 "only sysctls of the network"),
                ({"sysctls": {"a": {"net/../kernel/hostname": "x"}}},
                 "only sysctls of the network"),
                ({"devices": {"wl1": "mtu=1"}}, "no link wl1; there are: wl0"),
                ({"buckets": {"c.wl0": "x"}}, "no end at host c")):
            with self.subTest(words), \
                    self.assertRaisesRegex(LabError, words):
                Testbed([PLAIN], **options)

    def test_links_of_one_medium_are_one_pipeline(self):
        parsed = links.parse_all(["x=a,b: profile=80211b", "y=c,b: medium=x",
                                  "z=a,c: none"])
        self.assertEqual(
            [[link.name for link in group]
             for group in links.by_medium(parsed)],
            [["x", "y"], ["z"]])
        flows = [flow for link in parsed[:2] for flow in links.device_flows(
            link, {"a": [], "b": [], "c": []})]
        words = links.pipeline(parsed[0], flows, ["location=x.log"])
        stations = [word for word in words if "::station=" in word]
        # The links x and y share one radio medium, and host b is connected to
        # both links. Host b must be only one station (number 1), which sends
        # for both links.
        self.assertEqual(stations,
                         [f"sink_{number}::station={station}"
                          for number, station in enumerate([0, 1, 2, 1])])
        self.assertEqual(words.count("tunsrc"), 4)

    def test_an_address_is_that_of_the_link_that_one_shares(self):
        parsed = links.parse_all(["x=b,c: none", "y=a,b: none"])
        values = links.variables(
            parsed, "a", lambda link, _own, host: {"": link.address(host)})
        self.assertEqual(values["b"], values["b_y"])
        self.assertNotEqual(values["b"], values["b_x"])
        self.assertEqual(values["c"], values["c_x"])


class CommandLine(Nothing):
    def start(self, *arguments, link=PLAIN, program=(COMMAND,)):
        return self.launch([*program, "--build", BUILD, "--link", link,
                            *arguments])

    def launch(self, argv, **options):
        child = subprocess.Popen(
            argv, env=self.env, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.stderr.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def finish(self, *arguments, **options):
        child = self.start(*arguments, **options)
        out, err = child.communicate(timeout=SECONDS_TO_WAIT)
        return child.returncode, out, err


class CommandLineTest(CommandLine):
    @needs_namespaces
    def test_the_main_command_decides(self):
        status, out, err = self.finish(
            "--main", "a: sleep 0.2; exit 7", "--run", "b: sleep 999")
        self.assertEqual((status, out, err), (7, "", ""))

    @needs_namespaces
    def test_else_the_last_one_decides(self):
        status, _, _ = self.finish("--run", "b: sleep 999",
                                   "--run", "a: kill -15 $$")
        self.assertEqual(status, 128 + signal.SIGTERM)

    @needs_namespaces
    def test_each_line_begins_with_its_host(self):
        status, out, err = self.finish(
            "--first", "a: echo $TESTBED_HOST; printf 'no newline'",
            "--run", "b: echo $a_wl0 >&2")
        self.assertEqual((status, out, err),
                         (0, "a| a\na| no newline\n", "b| 10.77.0.1\n"))

    @needs_namespaces
    def test_one_command_has_the_output_for_itself(self):
        self.assertEqual(self.finish("--run", "a: printf $b"),
                         (0, "10.77.0.2", ""))

    @needs_namespaces
    def test_a_failed_command_ends_the_wait_for_its_port(self):
        status, _, err = self.finish(
            "--run", "b: exit 3", "--wait", "b: tcp/5001", "--run", "a: true")
        self.assertEqual(status, testbed.STATUS_OURS)
        self.assertIn("tcp/5001 of b: 'exit 3' ended there (exit status 3)",
                      err)

    @needs_namespaces
    def test_a_first_command_that_fails_ends_all(self):
        status, out, err = self.finish("--first", "a: exit 3",
                                       "--run", "a: echo never")
        self.assertEqual((status, out), (testbed.STATUS_OURS, ""))
        self.assertIn("--first 'a: exit 3' failed (exit status 3)", err)

    @needs_namespaces
    def test_timeout_ends_it(self):
        status, _, err = self.finish("--timeout", "0.1", "--run",
                                     "a: sleep 999")
        self.assertEqual(status, testbed.STATUS_LATE)
        self.assertIn("not done after 0.1 s", err)

    @needs_namespaces
    def test_a_link_that_dies_ends_it(self):
        status, out, err = self.finish(
            "--run", "a: kill -9 $(pidof gst-launch-1.0); sleep 999")
        self.assertEqual(status, testbed.STATUS_OURS)
        self.assertIn("link wl0 ended (ended by signal SIGKILL)", err)

    @needs_namespaces
    def test_logs_are_kept_in_the_chosen_directory(self):
        logs = self.directory / "logs"
        status, _, _ = self.finish("--keep-logs", logs, "--first",
                                   "a: echo x >$LINK_LOG", "--run",
                                   "b: echo out; echo err >&2")
        self.assertEqual(status, 0)
        self.assertEqual({path.name: path.read_text()
                          for path in logs.iterdir()
                          if path.name != "wl0.out"},
                         {"wl0.log": "x\n", "1-a.out": "", "1-a.err": "",
                          "2-b.out": "out\n", "2-b.err": "err\n"})

    @needs_namespaces
    def test_a_shell_in_a_host(self):
        env = {**self.env, "SHELL": "/bin/sh"}
        child = subprocess.run(
            [COMMAND, "--build", BUILD, "--link", PLAIN, "--shell", "b"],
            env=env, input="echo $TESTBED_HOST; exit 4", text=True,
            capture_output=True)
        self.assertEqual((child.returncode, child.stdout), (4, "b\n"))

    @needs_namespaces
    def test_ctrl_c_reaches_the_command_in_the_shell(self):
        child, terminal = pty.fork()
        if child == 0:
            os.execve(COMMAND, [COMMAND, "--build", BUILD, "--link", PLAIN,
                                "--shell", "b"],
                      {**self.env, "SHELL": "/bin/sh"})
        self.addCleanup(os.close, terminal)
        self.read_prompt(terminal)
        os.write(terminal, b"sleep 999\n")
        self.wait_for_sleep(True, terminal)
        os.write(terminal, b"\x03")
        self.wait_for_sleep(False, terminal)
        os.write(terminal, b"exit 4\n")
        self.assertEqual(
            os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 4)

    def read_prompt(self, terminal):
        os.set_blocking(terminal, False)
        shown = b""

        def prompted():
            nonlocal shown
            shown += read_some(terminal)
            return shown.endswith((b"# ", b"$ "))
        self.assertTrue(wait_for(prompted), shown)

    def wait_for_sleep(self, wanted, terminal):
        if not wait_for(
                lambda: ("sleep" in names_of(marked(self.mark))) == wanted):
            self.fail(f"not {wanted}: {names_of(marked(self.mark))}; "
                      f"the terminal has {read_some(terminal)}")

    @needs_namespaces
    def test_settings_of_the_machine_are_not_for_a_host(self):
        for setting, words in (("kernel.hostname=x", "net.NAME"),
                               ("net.ipv4.tcp_sack", "net.NAME=VALUE"),
                               ("net.ipv4.no_such=1",
                                "sysctl net.ipv4.no_such=1: No such file")):
            status, _, err = self.finish("--sysctl", f"a: {setting}",
                                         "--run", "a: true")
            self.assertEqual(status, testbed.STATUS_OURS)
            self.assertIn(words, err)

    @needs_namespaces
    def test_the_error_of_a_missing_element_has_the_build_command(self):
        status, _, err = self.finish("--run", "a: true",
                                     link="wl0=a,b: nosuchelement")
        self.assertEqual(status, testbed.STATUS_OURS)
        self.assertIn("no element nosuchelement", err)
        self.assertIn(f"ninja -C {BUILD}", err)

    @needs_namespaces
    def test_the_error_message_of_a_link_is_printed(self):
        # The link may report its error only after its devices have become
        # ready. The testbed must also print the error in this case.
        status, _, err = self.finish("--device", "wl0: mtu=5",
                                     "--run", "a: sleep 60")
        self.assertEqual(status, testbed.STATUS_OURS)
        self.assertRegex(err, "link wl0 ended .*\n(.*\n)*"
                         ".*Could not use the mtu of 5 bytes")


class PageTest(CommandLine):
    @needs_namespaces
    def test_its_lines_run_as_pasted(self):
        for program in ("iperf3", "ping"):
            if shutil.which(program) is None:
                self.skipTest(f"there is no {program}")
        if not has_element("wirelesslink"):
            self.skipTest("wirelesslink is not built")
        text = (SOURCE / "docs" / "testbed.md").read_text()
        lines = re.findall(r"^    (\./pipelines/testbed .*)",
                           text.replace("\\\n", ""), re.M)
        self.assertGreater(len(lines), 4)
        started = [(line, self.start_line(line)) for line in lines]
        for line, child in started:
            with self.subTest(line):
                out, err = child.communicate(timeout=SECONDS_TO_WAIT)
                self.assertEqual(child.returncode, 0, out + err)

    def start_line(self, line):
        """Starts one command line of docs/testbed.md and returns its process
        at once. The process continues in the background, so that the test can
        run all these command lines at the same time. iperf3 runs for 1 s here,
        and longer in docs/testbed.md.
        """
        words = shlex.split(line.replace("iperf3 -c", "iperf3 -t 1 -c"))
        return self.launch([COMMAND, "--build", BUILD, *words[1:]],
                           cwd=self.directory)


class KilledTest(CommandLine):
    """Kills the testbed with different signals and at different stages, for
    example while it starts. Afterwards, no process and no network namespace of
    the testbed may be left.
    """

    # A command that is hard to end: it ignores signals, and it starts a child
    # process in a session of its own.
    IGNORES_SIGNALS = ("trap '' INT TERM HUP; setsid sleep 999 & sleep 999 & "
                       "echo up; sleep 999")

    ENDS_ON_SIGNAL = "echo up; exec sleep 999"

    def kill_when_up(self, number, *options, command=IGNORES_SIGNALS):
        child = self.start("--run", f"b: {command}", "--run", f"a: {command}",
                           *options)
        self.assertIn("up", child.stdout.readline())
        self.note_networks()
        child.send_signal(number)
        return child.wait(SECONDS_TO_WAIT)

    @needs_namespaces
    def test_by_signals_that_can_be_handled(self):
        for number, command in ((signal.SIGINT, self.IGNORES_SIGNALS),
                                (signal.SIGTERM, self.ENDS_ON_SIGNAL),
                                (signal.SIGHUP, self.ENDS_ON_SIGNAL)):
            with self.subTest(number):
                self.assertEqual(
                    self.kill_when_up(number, command=command), 128 + number)
                self.check_nothing_is_left()

    @needs_namespaces
    def test_by_one_that_cannot(self):
        self.assertEqual(self.kill_when_up(signal.SIGKILL), -signal.SIGKILL)
        self.assertGreaterEqual(len(self.networks), 2)

    @needs_namespaces
    def test_while_it_sets_up(self):
        for number, seconds in itertools.product(
                (signal.SIGTERM, signal.SIGKILL),
                (0.02, 0.06, 0.1, 0.15, 0.2, 0.3)):
            with self.subTest(number, seconds=seconds):
                child = self.start("--run", "a: sleep 999")
                time.sleep(seconds)
                self.note_networks()
                child.send_signal(number)
                child.wait(SECONDS_TO_WAIT)
                self.check_nothing_is_left()

    @needs_namespaces
    def test_twice_while_it_ends(self):
        child = self.start("--run", f"b: {self.IGNORES_SIGNALS}",
                           "--run", "a: echo")
        self.assertTrue(wait_for(lambda: child.poll() is not None
                                 or child.send_signal(signal.SIGINT)))
        self.assertNotEqual(child.returncode, 0)

    def test_with_relays(self):
        options = ("--mode", "relay", "--relay-port", "5004")
        for number in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number):
                self.kill_when_up(number, *options)
                self.check_nothing_is_left()

    @needs_namespaces
    def test_an_owner_of_the_api_that_is_killed(self):
        script = (
            "import os, signal, sys\n"
            "from wirelesslab.testbed.testbed import Testbed\n"
            f"bed = Testbed([{PLAIN!r}], build={str(BUILD)!r}).__enter__()\n"
            "bed.popen('a', 'setsid sleep 999 & sleep 999')\n"
            "print(flush=True)\n"
            "sys.stdin.read()\n")
        owner = subprocess.Popen(
            [sys.executable, "-c", script], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env=self.env)
        with owner:
            owner.stdout.readline()
            self.note_networks()
            owner.kill()
        self.assertGreaterEqual(len(self.networks), 1)


class RelayTest(Api):
    def relay(self, *texts, ports=(5004,)):
        return self.open(*texts, mode="relay", relay_ports=ports)

    def test_the_same_commands_work_in_both_directions(self):
        bed = self.relay()
        for sender, receiver in (("a", "b"), ("b", "a")):
            to = bed.variables(sender)[receiver]
            own = bed.variables(receiver)[receiver]
            self.assertNotEqual(to, own)
            self.assertEqual(
                self.send_and_receive(bed, sender, receiver, to, bound_to=own),
                f"a word from {bed.variables(receiver)[sender]}")

    def test_relays_return_answers_to_the_sender(self):
        bed = self.relay()
        for asking, answering in (("a", "b"), ("b", "a")):
            server = bed.popen(answering, [*ANSWER, bed.variables(answering)[
                answering], "5004"])
            bed.wait_listening(answering, "udp", 5004)
            for word in ("first", "second"):
                self.assertEqual(self.text(bed, asking, [
                    *ASK, bed.variables(asking)[answering], "5004", word]),
                    f"{word} is answered")
            server.terminate()
            server.wait()

    def test_relays_report_what_they_leave_out(self):
        said = self.relay(ports=(5004, 5006)).left_out
        for word in ("5004, 5006", "TCP", "UDP-Lite", "checksums", "MTU",
                     "sender's port"):
            self.assertIn(word, said)

    def test_many_live_side_by_side(self):
        beds = [self.relay() for _ in range(2)]
        self.assertNotEqual(*(bed.variables("a")["b"] for bed in beds))

    def test_relays_require_a_port(self):
        with self.assertRaisesRegex(LabError, "--relay-port"):
            self.open(mode="relay")

    def test_background_processes_end_with_their_command(self):
        bed = self.relay()
        bed.run("a", "setsid sleep 999 & (trap '' TERM; sleep 999) &",
                check=True)
        self.assertNotIn("sleep", names_of(marked(self.mark)))


class OrdinaryUserTest(CommandLine):
    """Tests the testbed as an ordinary user: the testbed runs as the user
    nobody. Only root can start programs as this user, so the tests are skipped
    if they do not run as root."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("only root can become somebody else here")
        if shutil.which("setpriv") is None or shutil.which("unshare") is None:
            self.skipTest("util-linux is missing")
        self.env.update(HOME="/nonexistent")
        self.directory.chmod(0o777)
        # The tests run programs as the user nobody, who cannot read the home
        # directories of other users. The programs must not find a Python that
        # is installed in a home directory, so PATH contains only directories
        # of the system. If the build directory is in a home directory, the
        # tests are skipped.
        self.env["PATH"] = "/usr/bin:/bin:/usr/sbin:/sbin"
        if self.as_nobody("test", "-r", BUILD, "-a", "-x", COMMAND) != 0:
            self.skipTest("the build is closed to other users")

    @staticmethod
    def nobody(*argv):
        return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}",
                "--clear-groups", *argv]

    def as_nobody(self, *argv):
        return subprocess.run(self.nobody(*argv), env=self.env).returncode

    def needs_user_namespaces(self):
        if self.as_nobody("unshare", "--user", "--map-root-user", "--net",
                          "true") != 0:
            self.skipTest("user namespaces are for root only here")

    def with_device(self, mode):
        """Returns a command that runs the testbed as the user nobody. While
        this command runs, the testbed sees a device /dev/net/tun with the file
        mode `mode`. The command uses a mount namespace, so the device of the
        machine does not change.
        """
        own = self.directory / "tun"
        return ["unshare", "--mount", "sh", "-c",
                f"mknod -m {mode} {own} c 10 200 && "
                f"mount --bind {own} /dev/net/tun && exec \"$@\"", "sh",
                *self.nobody(COMMAND)]

    @needs_namespaces
    def test_namespaces_of_ones_own(self):
        self.needs_user_namespaces()
        status, out, err = self.finish(
            "--run", "a: echo $TESTBED_MODE; exec " + " ".join(
                f"'{word}'" for word in [*PING, "10.77.0.2"]),
            program=self.with_device(666))
        if "tun: Permission denied" in err:
            self.skipTest("a device node cannot be made here")
        self.assertEqual((status, out, err), (0, "user\nalive\n", ""))

    @needs_namespaces
    def test_these_end_with_kill_too(self):
        self.needs_user_namespaces()
        child = self.start("--run", f"a: {KilledTest.IGNORES_SIGNALS}",
                           program=self.with_device(666))
        if not child.stdout.readline():
            self.skipTest("a device node cannot be made here")
        self.note_networks()
        child.kill()
        child.wait()

    @needs_namespaces
    def test_a_device_that_is_closed_means_relays(self):
        status, out, err = self.finish(
            "--relay-port", "5004", "--run", "a: echo $TESTBED_MODE",
            program=self.with_device(600))
        self.assertEqual((status, out), (0, "relay\n"))
        self.assertIn("Left out are", err)

    @needs_namespaces
    def test_without_a_relay_port_the_reason_is_printed(self):
        status, _, err = self.finish("--run", "a: true",
                                     program=self.with_device(600))
        self.assertEqual(status, testbed.STATUS_OURS)
        self.assertIn("as user: ", err)


if __name__ == "__main__":
    unittest.main()
