# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two hosts with emulated links between them, for the benchmark links.py.
Unlike the links of a testbed, these links write no line for each packet into a
log, and the properties of tunsink can be chosen.
"""

import os
import pathlib
import subprocess
import time
from dataclasses import dataclass

from wirelesslab.errors import LabError
from wirelesslab.testbed import links as linkage
from wirelesslab.testbed import namespaces, testbed

PORT = 5001
VETH = "10.99.0.1", "10.99.0.2"
SECONDS_TO_START = 60
TICKS = os.sysconf("SC_CLK_TCK")
# Maps each part of a link to the name of its thread. A packet from host a to
# host b passes tunsrc, the link and tunsink. All three threads belong to the
# process of the link.
THREADS = {"tunsrc": "tunsrc0:src", "link": "wirelesslink",
           "tunsink": "wl:src_0"}


@dataclass(frozen=True)
class Ends:
    """A link between the two hosts. `words` describes the link in the syntax of
    a testbed. `source` and `sink` are properties of tunsrc and tunsink in the
    syntax of gst-launch-1.0."""
    words: str
    source: str = ""
    sink: str = ""


class Hosts:
    """The hosts a and b, and the links between them. `links` is a dictionary.
    Its keys are the names of the links, and its values are of class Ends,
    which has the options of a link. The network devices of these links are
    called wl0, wl1 and so on. There is one more link with the name `veth`: a
    veth pair, which connects the hosts without wirelesslink.
    """

    def __init__(self, links, env):
        self._env = env
        self._addresses = {"veth": VETH[1]}
        self._processes = {}
        _, self._place, self.why_not = testbed.first_place(
            testbed.ways(), {"a": {}, "b": {}})
        if not self._place:
            return
        try:
            self._add_veth()
            for number, (name, ends) in enumerate(links.items()):
                self._start(name, ends, number)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self._place:
            self._place.close()

    def _add_veth(self):
        for host, command in (
                ("a", "ip link add ve0 type veth peer name ve0 netns b"),
                ("a", f"ip addr add {VETH[0]}/24 dev ve0"),
                ("a", "ip link set ve0 up"),
                ("b", f"ip addr add {VETH[1]}/24 dev ve0"),
                ("b", "ip link set ve0 up")):
            if self.popen(host, command.split()).wait():
                raise LabError(f"{command} failed")

    def _start(self, name, ends, number):
        link = linkage.parse(f"wl{number}=a,b: {ends.words}", number)
        own = ends.source.split()
        flows = [(host, source, [*sink, *ends.sink.split()])
                 for host, source, sink in linkage.device_flows(
                     link, {"a": own, "b": own})]
        process = self.popen(
            namespaces.BETWEEN,
            ["gst-launch-1.0", "-q", *linkage.pipeline(link, flows, [])])
        self._wait(lambda: all(
            self._place.ask("are_up", host, devices=[link.name])
            for host in link.hosts), f"link {name} did not come up")
        self._addresses[name] = link.address("b")
        self._processes[name] = process.pid

    @staticmethod
    def _wait(condition, otherwise):
        deadline = time.monotonic() + SECONDS_TO_START
        while not condition():
            if time.monotonic() > deadline:
                raise LabError(otherwise)
            time.sleep(0.01)

    def popen(self, host, argv, **options):
        return self._place.popen(host, argv, env=self._env,
                                 stdin=subprocess.DEVNULL, **options)

    def transfer(self, link, program, words):
        """Runs `program receive PORT` in host b, and `program send ADDRESS PORT
        WORDS...` in host a. Returns the numbers that both programs print. The
        numbers of the receiver come first."""
        receiver = self.popen("b", [program, "receive", str(PORT)],
                              stdout=subprocess.PIPE, text=True)
        self._wait(lambda: self._place.ask("is_listening", "b", kind="udp",
                                           port=PORT), "udp: no receiver")
        sender = self.popen(
            "a", [program, "send", self._addresses[link], str(PORT),
                  *map(str, words)], stdout=subprocess.PIPE, text=True)
        outputs = [process.communicate(timeout=60)[0]
                   for process in (receiver, sender)]
        if receiver.returncode or sender.returncode:
            raise LabError(f"{program} failed over {link}")
        return [list(map(float, output.split())) for output in outputs]

    def cpu_times(self, link):
        """Returns the CPU seconds that each thread of the link has used so
        far, as a dictionary. Its keys are the parts of a link, which are the
        keys of THREADS. Returns {} for the veth pair, because it has no
        threads."""
        if link not in self._processes:
            return {}
        found = dict.fromkeys(THREADS, 0.0)
        for task in _tasks_below(self._processes[link]):
            name, fields = _read_stat(task / "stat")
            for thread, comm in THREADS.items():
                if name == comm:
                    found[thread] += sum(map(int, fields[11:13])) / TICKS
        return found


def _read_stat(path):
    """Parses a stat file of /proc. Returns the name of the process, and a list
    of the fields after the name.
    """
    head, _, tail = path.read_text().rpartition(")")
    return head.partition("(")[2], tail.split()


def _tasks_below(root):
    """Yields the /proc directories of all threads of a process and its
    descendants.
    """
    children = {}
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = int(_read_stat(path / "stat")[1][1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        children.setdefault(parent, []).append(int(path.name))
    pending = [root]
    while pending:
        pid = pending.pop()
        pending += children.get(pid, [])
        yield from pathlib.Path(f"/proc/{pid}/task").iterdir()
