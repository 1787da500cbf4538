# SPDX-License-Identifier: LGPL-2.1-or-later
"""Interrupts links of a testbed while a stream runs, and restores them.

The line `schedule = 0 up 10 down 15 up` in a section of a matrix file
describes a link that is interrupted once. The times are counted from the start
of the sender. From 10 s to 15 s, the network device of the link at the sending
host is down. The programs `ip` and `tc` make the changes in the hosts, so the
sender notices them as it would notice the loss of a real interface.
"""

import csv
import io
import math
import pathlib
import re
import shlex
import subprocess
import threading
import time
import typing
from collections.abc import Sequence

from wirelesslab import files
from wirelesslab.descriptions import Link
from wirelesslab.errors import LabError
from wirelesslab.testbed import namespaces, testbed

UP, OUTAGE, HOLD, DOWN, ABSENT, RENUMBERED = STATES = (
    "up", "outage", "hold", "down", "absent", "renumbered")
# The states of a link in which the link carries nothing.
CLOSED = (OUTAGE, HOLD, DOWN, ABSENT)
# In the log of all changes, each line contains the new state of a link. At the
# end of the run, each link gets another line, with the word END instead of a
# state.
END = "end"
# The name of a key in the section [link NAME] of a matrix file. The value of
# the key is the schedule of the link.
KEY = "schedule"
EXAMPLE = "0 up 10 down 15 up"
LOG = "schedule.csv"
HEADS = ("wall_ns", "device", "state", "dropped")
PREFIX_LENGTH = 24
# In the state `renumbered`, a device has another address. The last number of
# the usual address is 1 or 2. In this state, RENUMBERED_BY is added to the
# last number.
RENUMBERED_BY = 100
# The queueing discipline for the state `hold` of a link, in which packets wait
# at both hosts. Its token bucket fills with only one byte per second. Only the
# first packet passes, and all others wait. The bucket must be larger than a
# packet, because it would otherwise drop the packet. The queue in front of the
# bucket has the size of 100 packets, which is also the default size of the
# queue of the element wirelesslink.
HELD = "tbf rate 8bit burst 3000 limit 150000"
# In the state `hold` of a link, packets wait in front of a token bucket with a
# very low rate. RELEASED is the configuration with which the state ends. It
# gives the bucket a high rate. The bucket applies the new rate only when
# another packet arrives. A TCP connection, however, sends no packet while its
# earlier packets still wait. KICK is therefore a command that sends an
# additional UDP packet, to the port of the service `discard`.
RELEASED = "tbf rate 1gbit burst 300000 limit 150000"
KICK = (f"{shlex.join(namespaces.PYTHON)} -c 'import socket; socket.socket("
        "type=socket.SOCK_DGRAM).sendto(b\"\", (\"{peer}\", 9))'")
DROPPED = re.compile(r"\(dropped (\d+),")
# The shell in a host prints this word after each command, followed by the exit
# status of the command. The caller thus recognises the end of the output.
ANSWER = "answer"
SECONDS_TO_END = 5


class Change(typing.NamedTuple):
    """A change of the state of a link at a scheduled time. `state` is the new
    state. `seconds` is the time of the change, counted from the start of the
    sender.
    """
    seconds: float
    state: str


def parse(name: str, text: str) -> list[Change]:
    """Parses `text`, the schedule of a link. Returns the changes of the link's
    state. If `text` is not a valid schedule, raises a LabError whose message
    says why.
    """
    def refuse(why: str) -> LabError:
        return LabError(f"link {name}: schedule = {text}: {why}")

    words = text.split()
    if not words or len(words) % 2:
        raise refuse("a schedule is pairs of a time in s and a state, such as "
                     + EXAMPLE)
    changes = []
    for time_text, state in zip(words[::2], words[1::2]):
        try:
            seconds = float(time_text)
        except ValueError:
            raise refuse(f"{time_text} is no time in s") from None
        if not 0 <= seconds < float("inf"):
            raise refuse(f"{time_text} s is no time from 0 on")
        if state not in STATES:
            raise refuse(f"there is no state {state}; the states are: "
                         + ", ".join(STATES))
        if changes and seconds <= changes[-1].seconds:
            raise refuse(f"{time_text} s must be later than "
                         f"{changes[-1].seconds:g} s, the time before it")
        changes.append(Change(seconds, state))
    return changes


def closed(changes: Sequence[Change]) -> list[tuple[float, float]]:
    """Returns the periods in which the link carries nothing, as a list of
    (begin, end) in s. If the link stays closed, the end of the last period is
    infinite.
    """
    found = []
    ends = [change.seconds for change in changes[1:]] + [float("inf")]
    for change, end in zip(changes, ends):
        if change.state not in CLOSED:
            continue
        if found and found[-1][1] == change.seconds:
            found[-1] = found[-1][0], end
        else:
            found.append((change.seconds, end))
    return found


def closed_times(link: Link) -> list[tuple[float, float]]:
    """Returns the periods in which the schedule of the link keeps it closed,
    as a list of (begin, end) in s. If the link has no schedule, the list is
    empty.
    """
    text = link.get(KEY)
    return closed(parse(link["name"], text)) if text else []


def is_closed(link: Link, seconds: float) -> bool:
    return any(begin <= seconds < end for begin, end in closed_times(link))


# --------------------------------------------------------------------- commands

def renumbered(address: str) -> str:
    network, _, last = address.rpartition(".")
    return f"{network}.{int(last) + RENUMBERED_BY}"


def replace_address(device: str, old: str, new: str) -> str:
    # The old address is removed first. If the new address were added while the
    # device still has the old one, it would be a secondary address of the same
    # network. The kernel removes secondary addresses together with the first
    # one, so the new address would be lost.
    return (f"ip addr del {old} dev {device} && "
            f"ip addr add {new} dev {device}")


def both_addresses(address: str) -> tuple[str, str]:
    """Returns two addresses of a device: its usual address, and the address
    that it has while the link is in the state RENUMBERED. In this state, the
    device has got a new address. Each address is followed by a slash and the
    prefix length.
    """
    return (f"{address}/{PREFIX_LENGTH}",
            f"{renumbered(address)}/{PREFIX_LENGTH}")


def enter(state: str, device: str, address: str) -> tuple[str, str]:
    """Returns two shell commands that bring a link from the state `up` to the
    state `state`. The sending host executes the first command, and the other
    host executes the second one. `device` is the name of the link's network
    device, which is the same in both hosts. `address` is the address of the
    device at the sending host.
    """
    own, other = both_addresses(address)
    if state == OUTAGE:
        command = f"tc qdisc replace dev {device} root blackhole"
        return command, command
    if state == HOLD:
        command = f"tc qdisc replace dev {device} root {HELD}"
        return command, command
    down = f"ip link set {device} down"
    return {UP: "", DOWN: down,
            ABSENT: f"{down} && ip -4 addr flush dev {device}",
            RENUMBERED: replace_address(device, own, other)}[state], ""


def leave(state: str, device: str, address: str,
          peer: str) -> tuple[str, str]:
    """Returns two shell commands that bring a link from the state `state` back
    to the state `up`. The sending host executes the first command, and the
    other host executes the second one. `device` is the name of the link's
    network device, which is the same in both hosts. `address` is the address
    of the device at the sending host, and `peer` is the address of the device
    at the other host.
    """
    own, other = both_addresses(address)
    if state == OUTAGE:
        command = f"tc qdisc del dev {device} root"
        return command, command
    if state == HOLD:
        # In the state `hold`, packets have waited in the queueing discipline.
        # Removing the queueing discipline would drop these packets. Instead
        # its rate is raised, so that the packets are sent.
        change = f"tc qdisc change dev {device} root {RELEASED}"
        return tuple(f"{change} && {KICK.format(peer=target)}"
                     for target in (peer, address))
    up = f"ip link set {device} up"
    return {UP: "", DOWN: up,
            ABSENT: f"ip addr add {own} dev {device} && {up}",
            RENUMBERED: replace_address(device, other, own)}[state], ""


# -------------------------------------------------------------------- execution

class Shell:
    """A shell that stays open in a host and executes one command after the
    other. Without this shell, each command would need a new process. The
    process would first start a Python program, which enters the host and then
    executes the command. This would be too slow.
    """

    def __init__(self, bed: testbed.Testbed, host: str) -> None:
        self._host = host
        self._child: namespaces.Command = bed.popen(
            host, ["sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)

    def run(self, command: str) -> str:
        """Runs `command` and returns its output. Raises LabError if the command
        fails.
        """
        try:
            self._child.stdin.write(f"{command}\necho {ANSWER} $?\n")
            self._child.stdin.flush()
        except OSError:
            raise LabError(f"the shell of the {self._host} has ended") from None
        lines = []
        for line in self._child.stdout:
            word, _, status = line.partition(" ")
            if word == ANSWER:
                if int(status) == 0:
                    return "".join(lines)
                break
            lines.append(line)
        raise LabError(f"the schedule of a link failed at the {self._host}: "
                       f"{command}: {''.join(lines).strip()}")

    def close(self) -> None:
        self._child.stdin.close()
        self._child.wait(SECONDS_TO_END)
        self._child.stdout.close()


class ScheduledLink:
    """A link that has a schedule. `addresses` and `shells` have two items
    each. The first item is for the sending host, and the second item is for
    the other host.
    """

    def __init__(self, device: str, addresses: list[str],
                 changes: list[Change], shells: tuple[Shell, Shell]) -> None:
        self.device, self.changes = device, changes
        self._addresses, self._shells = addresses, shells
        self._state, self._dropped_before = UP, 0

    def change(self, state: str) -> tuple[int, str, str, int]:
        """Brings the link into the state `state`. Returns a line for the log.
        The line contains the number of packets that were dropped at the
        sending host while the link was in its previous state.
        """
        dropped = self.dropped()
        for commands in (leave(self._state, self.device, *self._addresses),
                         enter(state, self.device, self._addresses[0])):
            for shell, command in zip(self._shells, commands):
                if command:
                    shell.run(command)
        self._state = state
        self._dropped_before = self._all_dropped()
        return time.time_ns(), self.device, state, dropped

    def end(self) -> tuple[int, str, str, int]:
        return time.time_ns(), self.device, END, self.dropped()

    def dropped(self) -> int:
        """Returns the number of packets that the sending host has dropped
        since the state of the link was last changed.
        """
        return self._all_dropped() - self._dropped_before

    def _all_dropped(self) -> int:
        # When a queueing discipline is set up again, its counter of dropped
        # packets may begin above 0. Therefore the counter is read after each
        # change of the link's state. dropped() later subtracts the value that
        # was read.
        if self._state not in (OUTAGE, HOLD):
            return 0
        shown = self._shells[0].run(f"tc -s qdisc show dev {self.device}")
        return sum(map(int, DROPPED.findall(shown)))


class Runner:
    """Executes the schedules of all links of a testbed. `schedules` maps the
    name of each device to its schedule, or to "" if its link has none.
    `sender` and `receiver` are the names of the hosts. The constructor makes
    the changes that are due at 0 s. All later changes are made by a thread,
    which begin() starts.
    """

    def __init__(self, bed: testbed.Testbed, schedules: dict[str, str],
                 sender: str, receiver: str) -> None:
        self._path = bed.logs / LOG
        self._links, self._lines, self._failure = [], [], None
        self._shells = ()
        self._stopped = threading.Event()
        self._thread = None
        if not any(schedules.values()):
            return
        if bed.left_out:
            raise LabError("links with a schedule need network namespaces. "
                           f"There are {bed.left_out}")
        self._shells = Shell(bed, sender), Shell(bed, receiver)
        self._links = [ScheduledLink(
            device, [bed.variables(host)[f"{host}_{device}"]
                     for host in (sender, receiver)],
            parse(device, text), self._shells)
            for device, text in schedules.items() if text]
        # The changes that are still to be made, in the order of their times,
        # each with its link.
        self._left = sorted(
            ((change, link) for link in self._links for change in link.changes),
            key=lambda pair: pair[0].seconds)
        while self._left and self._left[0][0].seconds == 0:
            self._change(*self._left.pop(0))

    def begin(self) -> None:
        """Starts the clock of the schedules. The times of the schedules are
        counted from the start of the first sender. The caller therefore starts
        the first sender at the same moment.
        """
        if self._links:
            self._thread = threading.Thread(
                target=self._run, args=(time.monotonic(),), daemon=True)
            self._thread.start()

    def _run(self, begin: float) -> None:
        for change, link in self._left:
            if self._stopped.wait(
                    max(begin + change.seconds - time.monotonic(), 0)):
                return
            try:
                self._change(change, link)
            except LabError as failure:
                self._failure = failure
                return

    def _change(self, change: Change, link: ScheduledLink) -> None:
        self._lines.append(link.change(change.state))

    def check(self) -> None:
        """Raises LabError if one of the scheduled changes of a link's state
        has failed.
        """
        if self._failure:
            raise self._failure

    def stop(self) -> None:
        """Stops the scheduled changes of the links' states, and writes the log
        of all changes. This function reads the links' counters of dropped
        packets a last time. The counters disappear when the links are removed,
        so the function must be called before that.
        """
        if not self._links or self._stopped.is_set():
            return
        self._stopped.set()
        if self._thread:
            self._thread.join()
        self.check()
        self._lines += [link.end() for link in self._links]
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([HEADS, *self._lines])
        files.write_whole(self._path, text.getvalue())

    def close(self) -> None:
        self._stopped.set()
        if self._thread:
            self._thread.join()
        for shell in self._shells:
            shell.close()


def dropped(directory: pathlib.Path) -> int:
    """Returns the number of packets that the sending host dropped while a
    schedule had interrupted a link. The logs of the links do not contain these
    packets, because the packets never entered a link. `directory` is the
    directory of the run.
    """
    path = directory / LOG
    if not path.exists():
        return 0
    with open(path) as log:
        return sum(int(line["dropped"]) for line in csv.DictReader(log))


def closed_ns(directory: pathlib.Path) -> dict[str, list[tuple[int, float]]]:
    """Returns {device: [(begin, end)]} with the periods in which the links of
    a run carried nothing. The times are times of day in ns. If a link stayed
    closed until the end of the run, the end of its last period is infinite.
    """
    found = {}
    path = directory / LOG
    if not path.exists():
        return found
    with open(path) as log:
        for line in csv.DictReader(log):
            own = found.setdefault(line["device"], [])
            time_ns = int(line["wall_ns"])
            if own and math.isinf(own[-1][1]) and line["state"] != END:
                own[-1] = own[-1][0], time_ns
            if line["state"] in CLOSED:
                own.append((time_ns, math.inf))
    return found
