# SPDX-License-Identifier: LGPL-2.1-or-later
"""Decides where the two ends of a stream run: both directly on this machine,
or each on a host of its own with an emulated link between the hosts.
"""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

from wirelesslab import processes
from wirelesslab.descriptions import Link
from wirelesslab.errors import LabError
from wirelesslab.streams import link_paths, link_schedules
from wirelesslab.testbed import link_log, links, namespaces, testbed

HOST = "127.0.0.1"
LISTENING = {"udp": "07", "udplite": "07", "raw": "07", "tcp": "0A"}
# The permitted values of the key "binds" in the description of a protocol. The
# key says which kind of socket the protocol opens at the port on which it
# listens.
BINDS = ("udp", "udplite", "tcp")
MAX_PORTS = 3
# The protocol number of UDP-Lite. The kernel lists the sockets of each
# protocol in a table, such as /proc/net/udp, which shows the port of each
# socket. The table /proc/net/raw lists raw sockets. Instead of a port, it
# shows the protocol number of each socket.
UDPLITE = 136
LINK = "wl0"
# The roles of the two hosts of a link if the network sends to the mobile host
# (downlink). The first host of a link is always the mobile host.
ROLES = ("receiver", "sender")
# The key "direction" of a link in a matrix file, and its two values. With
# "down", the stream is sent to the mobile host. With "up", the mobile host
# sends the stream.
DIRECTION, DOWN, UP = "direction", "down", "up"
# Properties of the element wirelesslink that a user cannot set, because the
# program sets them itself.
OURS = ("location", "mode", "name", "overhead")
# Keys of the section [link NAME] in a matrix file. They set options of both
# hosts of the link: "device" sets properties of the element tunsrc, which
# makes a network device, and "sysctls" sets sysctls of the kernel.
OF_HOSTS = ("device", "sysctls")


def kind_of_socket(binds: str) -> socket.SocketKind:
    """Returns the type of the socket with which this module tests whether a
    port is free. UDP-Lite has ports of its own in the kernel, but a UDP socket
    is used for it as well. The test is therefore not exact for UDP-Lite, but
    sufficient.
    """
    return socket.SOCK_STREAM if binds == "tcp" else socket.SOCK_DGRAM


def is_free(binds: str, port: int) -> bool:
    with contextlib.closing(
            socket.socket(socket.AF_INET, kind_of_socket(binds))) as probe:
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def free_port(binds: str) -> int:
    """Returns a free port for a stream. The port is even, because RTP requires
    this. The ports directly above it are also free, because a stream may use
    them for the sound, for RTCP or for repair packets.
    """
    while True:
        with contextlib.closing(
                socket.socket(socket.AF_INET, kind_of_socket(binds))) as probe:
            probe.bind((HOST, 0))
            # If a TCP socket is bound to port 0, Linux assigns an odd port.
            # The assigned port is therefore rounded down to an even number. A
            # loop that waits for an even port might never end.
            port = probe.getsockname()[1] & ~1
        if all(is_free(binds, port + n) for n in range(MAX_PORTS)):
            return port


def sockets(pid: int) -> set[str]:
    """Returns the inode numbers of all sockets of the process `pid`."""
    found = set()
    for descriptor in pathlib.Path(f"/proc/{pid}/fd").glob("*"):
        # The process may have closed this descriptor since the list of
        # descriptors was read. The error is then ignored.
        with contextlib.suppress(OSError):
            kind, _, inode = os.readlink(descriptor).partition(":")
            if kind == "socket":
                found.add(inode.strip("[]"))
    return found


def ways_to_bind(binds: str, port: int) -> Iterator[tuple[str, int]]:
    """Yields all places in /proc/net where a socket that is bound to `port`
    may be listed, as pairs (name of the table, port as the table shows it).
    For UDP-Lite there are several tables, because the element udplitesrc may
    receive from a UDP-Lite socket, a raw socket or a UDP socket.
    """
    yield binds, port
    if binds == "udplite":
        yield "raw", UDPLITE
        yield "udp", port


def is_in_table(table: str, port: int, own: set[str]) -> bool:
    state = LISTENING[table]
    for name in (table, table + "6"):
        with contextlib.suppress(FileNotFoundError), \
                open(f"/proc/net/{name}") as lines:
            for line in lines:
                fields = line.split()
                if (fields[1].endswith(f":{port:04X}") and fields[3] == state
                        and fields[9] in own):
                    return True
    return False


def is_bound(binds: str, port: int, pid: int) -> bool:
    """Returns whether a socket of the process `pid` is bound to `port`. Only
    sockets of this process count.
    """
    own = sockets(pid)
    return any(is_in_table(table, number, own)
               for table, number in ways_to_bind(binds, port))


class SameMachine:
    """The place of a stream whose two ends both run directly on this machine,
    without a link between them. If each end runs on a host of its own, the
    class OverLink is used instead, which has the same methods.
    """

    loses = False
    left_out = ""

    def __init__(self, env: dict[str, str]) -> None:
        self._env = env

    def choose_port(self, binds: str, wanted: int | None = None) -> int:
        port = wanted or free_port(binds)
        if not is_free(binds, port):
            raise LabError(
                f"port {port} is in use by another program; choose another "
                "one with --port")
        return port

    def way(self, port: int) -> str:
        return f"to {HOST} port {port}"

    def opened(self, _run_dir: pathlib.Path,
               _ports: list[int]) -> contextlib.AbstractContextManager:
        return contextlib.nullcontext()

    def address(self, _role: str, _of: str) -> str:
        """Returns the address at which the end with the role `_role` reaches
        the end with the role `_of`. A role is "sender" or "receiver".
        """
        return HOST

    def paths(self, _role: str, _listener: str, port: int) -> dict[str, str]:
        """Pipelines contain placeholders for addresses, such as {host_1}.
        Returns {name of a placeholder: value}. Both ends run on this machine
        without a link, so all addresses are 127.0.0.1.
        """
        return link_paths.values([HOST], [HOST], [], port)

    def begin(self) -> None:
        """Starts the schedules that interrupt and restore links, if a link has
        one. Must be called immediately before the first sender is started,
        because the times of a schedule are counted from the start of the
        stream.
        """

    def start(self, _role: str, argv: Sequence[str | os.PathLike[str]],
              output: int) -> subprocess.Popen[Any]:
        return processes.start(argv, env=self._env, stdout=output,
                               stderr=subprocess.STDOUT)

    def is_ready(self, _role: str, child: subprocess.Popen[Any], binds: str,
                 port: int) -> bool:
        return is_bound(binds, port, child.pid)

    def check(self) -> None:
        """Raises LabError if the testbed between the two ends has failed, or
        if the schedule of a link could not be executed.
        """

    def finish(self, child: subprocess.Popen[Any], seconds: float) -> int:
        return processes.finish(child, seconds)

    def kill(self, child: subprocess.Popen[Any]) -> None:
        processes.kill(child)

    def hang_up(self) -> bool:
        """Is called when nothing more will be sent. Returns whether packets
        may still be in flight. If so, the caller has to wait until carries()
        returns False.
        """
        return False

    def carries(self) -> bool:
        return False

    def report(self) -> list[str]:
        """Returns lines of text for the user that say what the link between
        the two ends did with the packets. If there is no link, the list is
        empty.
        """
        return []


def roles_of(link: Link) -> tuple[str, ...]:
    """Returns the roles "sender" and "receiver" in the order of the hosts of
    `link`. The first host of each link is the mobile host, so the first role
    is that of the mobile host.
    """
    return ROLES[::-1] if link.get(DIRECTION) == UP else ROLES


def sender_station(link: Link) -> int:
    """Returns the station number that the sender has in the log of the link.
    The log identifies each end of the link by such a number, 0 or 1.
    """
    return roles_of(link).index("sender")


def link_name(number: int) -> str:
    """Returns the name of the link with the index `number`, counted from 0.
    The devices of the link and its log have the same name.
    """
    return f"wl{number}"


def describe_link(properties: str, name: str = LINK,
                  roles: tuple[str, ...] = ROLES) -> str:
    """Returns the description of a link in the form that a testbed needs.
    Raises LabError if `properties` does not have the form "NAME=VALUE
    NAME=VALUE", or if it contains a property that the program sets itself. All
    other names and the values are not checked here, because the element
    wirelesslink checks them.
    """
    text = f"{name}={','.join(roles)}: {properties}"
    (link,) = links.parse_all([text])
    if not link.is_emulated():
        raise LabError(
            f"{properties!r} are not properties of wirelesslink, such as "
            "'profile=80211b seed=1'")
    for word in link.words:
        name = word.partition("=")[0]
        if name in OURS:
            raise LabError(f"{name} cannot be set, because the demo itself "
                           "sets it")
    return text


def hosts_of(link: Link, roles: tuple[str, ...]) -> dict[str, Any]:
    """Returns two arguments for the constructor of a testbed with this link:
    - `devices` has the properties of the elements tunsrc. These elements make
      the network devices of the link.
    - `sysctls` has the settings of the kernel for each host.
    """
    parts = link_paths.parts(link)
    words = [word.partition("=") for part in parts
             for word in part.get("sysctls", "").split()]
    return {"devices": {link_name(number): part["device"]
                        for number, part in enumerate(parts)
                        if part.get("device")},
            "sysctls": {role: {name: value for name, _, value in words}
                        for role in roles}}


class OverLink:
    """The two ends of a stream on two hosts of a testbed. The stream uses one
    link, or a combined link, which consists of several links. Each of these
    links is a part of the combined link, and is emulated by an element
    wirelesslink of its own.
    - `properties` are the properties of the element wirelesslink for the first
      part, or for the only link.
    - `further` has the properties of the elements wirelesslink for the other
      parts, one item for each part.
    - `link` is the description of the whole link in the matrix file, or None.
      It contains the name, the direction and the schedule of each part.
    - `options` are further arguments for the testbed.
    """

    # True if a run in which no frame arrives can be valid. This is the case
    # here, because a link can lose all packets.
    loses = True

    def __init__(self, properties: str, build_dir: pathlib.Path,
                 mode: str = "auto", further: Sequence[str] = (),
                 link: Link | None = None, **options: Any) -> None:
        self._properties = properties
        parts = link_paths.parts(link or {})
        # The station numbers of the sender and of the receiver in the log of
        # the first link. The log identifies each end of the link by such a
        # number.
        self._stations = [roles_of(parts[0]).index(role)
                          for role in ("sender", "receiver")]
        self._texts = [
            describe_link(own, link_name(number), roles_of(part))
            for number, (own, part) in enumerate(
                zip([properties, *further], parts, strict=True))]
        self._names = link_paths.names(link) if link else []
        self._schedule_texts = {
            link_name(number): part.get(link_schedules.KEY, "")
            for number, part in enumerate(parts)}
        self._schedules = None
        self._build = build_dir
        self._mode = mode
        self._options = options
        self._bed = None

    def choose_port(self, binds: str, wanted: int | None = None) -> int:
        """Returns the port for a stream: `wanted` or, if `wanted` is None, a
        port that is free on this machine.

        In a testbed with network namespaces, each host has ports of its own,
        and all of them are free. In a testbed without network namespaces,
        relays on this machine replace the hosts. A relay binds the port on
        this machine. For this second kind of testbed, the port must be free on
        this machine.
        """
        return wanted or free_port(binds)

    def way(self, _port: int) -> str:
        return f"over wirelesslink {self._properties}".rstrip()

    @contextlib.contextmanager
    def opened(self, run_dir: pathlib.Path,
               ports: list[int]) -> Iterator[None]:
        self._bed = testbed.Testbed(
            self._texts, self._mode, self._build, relay_ports=ports,
            logs=run_dir, **self._options)
        with self._bed, contextlib.closing(link_schedules.Runner(
                self._bed, self._schedule_texts, *reversed(ROLES))) as runner:
            self._schedules = runner
            yield

    @property
    def left_out(self) -> str:
        return self._bed.left_out

    def address(self, role: str, of: str) -> str:
        return self._bed.variables(role)[of]

    def paths(self, role: str, listener: str, port: int) -> dict[str, str]:
        """Pipelines contain placeholders for addresses, such as {host_1}.
        Returns their values for one pipeline, as {placeholder: value}. A role
        is "sender" or "receiver". The pipeline runs on the host with the role
        `role`. The host with the role `listener` listens on the port `port`.
        """
        variables = self._bed.variables(role)
        (other,) = (one for one in ROLES if one != listener)
        hosts, senders = ([variables[f"{host}_{link_name(number)}"]
                           for number in range(len(self._texts))]
                          for host in (listener, other))
        return link_paths.values(hosts, senders, self._names, port)

    def begin(self) -> None:
        self._schedules.begin()

    def start(self, role: str, argv: Sequence[str | os.PathLike[str]],
              output: int) -> namespaces.Command:
        return self._bed.popen(role, argv, stdout=output,
                               stderr=subprocess.STDOUT)

    def is_ready(self, role: str, _child: subprocess.Popen[Any], binds: str,
                 port: int) -> bool:
        return self._bed.is_listening(role, binds, port)

    def check(self) -> None:
        self._bed.check()
        self._schedules.check()

    def finish(self, child: subprocess.Popen[Any], seconds: float) -> int:
        return child.wait(seconds)

    def kill(self, child: subprocess.Popen[Any]) -> None:
        child.kill()
        child.wait()

    def hang_up(self) -> bool:
        """Asks the processes of the links to end. Each of them ends when the
        last packets have left its link. The log and the statistics of the link
        are then complete.
        """
        self._schedules.stop()
        for process in self._bed.link_processes():
            process.send_signal(signal.SIGINT)
        return True

    def carries(self) -> bool:
        return any(process.poll() is None
                   for process in self._bed.link_processes())

    def report(self) -> list[str]:
        tallies = link_log.read(self._bed.log(LINK))
        output = (self._bed.logs / f"{LINK}.out").read_text(errors="replace")
        return link_log.words(
            *(tallies[station] for station in self._stations),
            link_log.lateness_ns(output))


Place = SameMachine | OverLink
