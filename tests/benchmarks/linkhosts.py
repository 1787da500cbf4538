# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two hosts with emulated links between them, for the benchmark links.py.
These links differ from the links of a testbed in two ways: the links of the
benchmark write no log with a line for each packet, and the properties of the
element tunsink can be chosen.
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
# An emulated link consists of three elements. A packet from host a to host b
# passes them one after another: tunsrc, wirelesslink and tunsink. This
# dictionary maps the name of each of these parts ("link" for wirelesslink) to
# the name of its thread. All three threads belong to the same process.
THREADS = {"tunsrc": "tunsrc0:src", "link": "wirelesslink",
           "tunsink": "wl:src_0"}


@dataclass(frozen=True)
class Ends:
    """A link between the two hosts. `words` contains the properties of the
    link, as in the option --link of a testbed. `source` and `sink` contain
    properties of the elements tunsrc and tunsink, as in a launch line.
    """
    words: str
    source: str = ""
    sink: str = ""


class Hosts:
    """The hosts a and b, and the links between them. `links` maps the name of
    each emulated link to an object of the class Ends, which has the options of
    the link. The network devices of these links are called wl0, wl1 and so on.
    One more link, with the name `veth`, is a veth pair without emulation.
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
        """Runs `program receive PORT` in host b, and `program send ADDRESS
        PORT WORDS...` in host a. Returns two lists: the numbers that the
        receiver prints, and the numbers that the sender prints.
        """
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
        """Returns {part: CPU time in s}, the time that the thread of each part
        of the link has used so far. The parts are the keys of THREADS. A veth
        pair has no threads, so the result for it is {}.
        """
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
    """Parses a file `stat` of a process or a thread in /proc. Returns its
    name, and a list of the fields after the name.
    """
    head, _, tail = path.read_text().rpartition(")")
    return head.partition("(")[2], tail.split()


def _tasks_below(root):
    """Yields the directories in /proc of all threads of the process `root` and
    of all its descendants.
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
