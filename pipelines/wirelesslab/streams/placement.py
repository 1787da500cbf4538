# SPDX-License-Identifier: LGPL-2.1-or-later
"""Decides where the two ends of a stream run: both on this machine, or each on
a host of its own with an emulated link between them."""

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
# The permitted values of the key "binds" of a protocol: the kind of socket that
# the protocol binds to its port.
BINDS = ("udp", "udplite", "tcp")
MAX_PORTS = 3
# UDP-Lite's protocol number, which /proc/net shows as the port of a raw socket.
UDPLITE = 136
LINK = "wl0"
# The roles of the two hosts of a link in a downlink run, in which the network
# sends to the mobile. The first host of a link is the mobile.
ROLES = ("receiver", "sender")
# The key "direction" of a matrix, and its two values. With "down" the network
# sends the stream to the mobile. With "up" the mobile sends it to the network.
DIRECTION, DOWN, UP = "direction", "down", "up"
# Properties of wirelesslink that the user cannot set, because the demo sets
# them.
OURS = ("location", "mode", "name", "overhead")
# Keys that set options of both hosts of a link, namely properties of tunsrc and
# sysctls. They are used in the section of a matrix that describes the link.
OF_HOSTS = ("device", "sysctls")


def kind_of_socket(binds: str) -> socket.SocketKind:
    """Returns the type of the socket with which this module tests whether a
    port is free. For UDP-Lite, a UDP socket is used. The kernel manages the
    ports of UDP and of UDP-Lite separately, so the result is only an
    approximation, which is sufficient here."""
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
    this. The ports directly above it are also free. They may be used for the
    sound, for RTCP or for repair packets."""
    while True:
        with contextlib.closing(
                socket.socket(socket.AF_INET, kind_of_socket(binds))) as probe:
            probe.bind((HOST, 0))
            # If a TCP socket is bound to port 0, Linux assigns an odd port. If
            # this loop waited for an even port, it might never end. The
            # assigned port is therefore rounded down to an even number.
            port = probe.getsockname()[1] & ~1
        if all(is_free(binds, port + n) for n in range(MAX_PORTS)):
            return port


def sockets(pid: int) -> set[str]:
    """Returns the inodes of all sockets of a process."""
    found = set()
    for descriptor in pathlib.Path(f"/proc/{pid}/fd").glob("*"):
        # The process may have closed this descriptor after the list of
        # descriptors was read. The resulting error is ignored.
        with contextlib.suppress(OSError):
            kind, _, inode = os.readlink(descriptor).partition(":")
            if kind == "socket":
                found.add(inode.strip("[]"))
    return found


def ways_to_bind(binds: str, port: int) -> Iterator[tuple[str, int]]:
    """Yields (name of a table in /proc/net, port as the table shows it) for
    each table that may list a socket that is bound to `port`. UDP-Lite has
    several such tables, because it has several backends.
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
    """Returns whether a socket of the process `pid` is bound to `port`. Sockets
    of other processes do not count.
    """
    own = sockets(pid)
    return any(is_in_table(table, number, own)
               for table, number in ways_to_bind(binds, port))


class SameMachine:
    """Both ends run on this machine, without a link."""

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
        """Returns the address at which the end `_role` can reach the end `_of`.
        Each of these two arguments is "sender" or "receiver".
        """
        return HOST

    def paths(self, _role: str, _listener: str, port: int) -> dict[str, str]:
        """Pipelines contain placeholders for addresses, such as {host_1}.
        Returns a dictionary that maps the name of each placeholder to its
        value.
        """
        return link_paths.values([HOST], [HOST], [], port)

    def begin(self) -> None:
        """Starts the schedules of the links, if there are any. Must be called
        immediately before the first sender starts, so that the schedules begin
        together with the stream.
        """

    def start(self, _role: str, argv: Sequence[str | os.PathLike[str]],
              output: int) -> subprocess.Popen[Any]:
        return processes.start(argv, env=self._env, stdout=output,
                               stderr=subprocess.STDOUT)

    def is_ready(self, _role: str, child: subprocess.Popen[Any], binds: str,
                 port: int) -> bool:
        return is_bound(binds, port, child.pid)

    def check(self) -> None:
        """Raises LabError if the testbed between the two ends, or a schedule of
        one of its links, has failed.
        """

    def finish(self, child: subprocess.Popen[Any], seconds: float) -> int:
        return processes.finish(child, seconds)

    def kill(self, child: subprocess.Popen[Any]) -> None:
        processes.kill(child)

    def hang_up(self) -> bool:
        """Is called when nothing more will be sent. Returns whether packets may
        still be in flight. In that case the caller has to wait until carries()
        returns false."""
        return False

    def carries(self) -> bool:
        return False

    def report(self) -> list[str]:
        """Returns lines of text for the user, which report what the links
        between the two ends did. Returns an empty list if there is no link.
        """
        return []


def roles_of(link: Link) -> tuple[str, ...]:
    """Returns the roles of the two hosts of `link`, "sender" and "receiver".
    The first host of each link is the mobile host, so its role comes first.
    """
    return ROLES[::-1] if link.get(DIRECTION) == UP else ROLES


def sender_station(link: Link) -> int:
    """Returns the number of the sender's station in the log of the link."""
    return roles_of(link).index("sender")


def link_name(number: int) -> str:
    """Returns the name of the link with the index `number`. Its devices and its
    log have the same name. The first link has the index 0.
    """
    return f"wl{number}"


def describe_link(properties: str, name: str = LINK,
                  roles: tuple[str, ...] = ROLES) -> str:
    """Returns the description of the link for a testbed. Raises LabError if
    `properties` does not have the form "NAME=VALUE NAME=VALUE". wirelesslink
    itself checks the names and the values."""
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
    """Returns the arguments `devices` and `sysctls` of a testbed."""
    parts = link_paths.parts(link)
    words = [word.partition("=") for part in parts
             for word in part.get("sysctls", "").split()]
    return {"devices": {link_name(number): part["device"]
                        for number, part in enumerate(parts)
                        if part.get("device")},
            "sysctls": {role: {name: value for name, _, value in words}
                        for role in roles}}


class OverLink:
    """Runs the sender and the receiver on two hosts of a testbed, with one or
    several links between them.
    - `properties` are the properties of the wirelesslink that emulates the
      first link.
    - `further` has the properties of each other link.
    - `link` is the description of the link or of the combined link from the
      matrix file, or None. It contains the name, the direction and the schedule
      of each link.
    - `options` are passed to the testbed.
    """

    # A run over a link that loses all packets is valid, and is not reported as
    # an error.
    loses = True

    def __init__(self, properties: str, build_dir: pathlib.Path,
                 mode: str = "auto", further: Sequence[str] = (),
                 link: Link | None = None, **options: Any) -> None:
        self._properties = properties
        parts = link_paths.parts(link or {})
        # The stations of the sender and of the receiver on the first link.
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
        """Returns `wanted`. If `wanted` is None, returns a port that is free on
        this machine. If the testbed uses relays on this machine, a relay binds
        the port, so the port must be free. If the testbed uses network
        namespaces, every port is free."""
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
        """Pipelines contain placeholders for the addresses of the links.
        Returns a dictionary that maps each placeholder to the value that the
        host with the role `role` has to use. `listener` is the role of the host
        that listens on `port`.
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
        """Asks the link to end. The link ends when its last packets have left.
        The log and the statistics of the link are then complete."""
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
