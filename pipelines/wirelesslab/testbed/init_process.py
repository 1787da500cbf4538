# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the namespaces of a testbed, and removes them when the testbed ends.

This program runs as the init process of a testbed: all processes of a testbed
are in one PID namespace, in which the init process is process 1. When the init
process ends, the kernel kills all other processes in the namespace. The
network namespaces and their devices disappear with the last process.

The owner is the process that uses the testbed. The init process ends when the
owner closes the testbed. The init process also ends when the owner itself has
ended, which the init process notices from a pidfd of the owner. The testbed is
therefore removed completely even if SIGKILL ends the owner.

namespaces.py starts this program as `testbed.init_process OWNER-PID SOCKET`.
The first message on the socket describes the namespaces to make. The answer
contains file descriptors of these namespaces. Each further message is a
question about a host, or it requests the end of the testbed.
"""

import contextlib
import errno
import json
import os
import pathlib
import select
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from wirelesslab.errors import LabError
from wirelesslab.testbed import linux

MESSAGE_BYTES = 1 << 20
# The directory in which the program `ip` and the element tunsrc look up a
# namespace by its name.
NAMES = "/run/netns"
TUN = "/dev/net/tun"
TUN_HELP = {
    errno.ENOENT: "as root: modprobe tun; a container needs "
                  "--device /dev/net/tun",
    errno.EACCES: "as root: chmod 666 /dev/net/tun, which gives users no "
                  "rights over networks of others",
}
# With these settings, the kernel of a new host sends no packets on its own
# initiative. A link then carries only the packets of the commands. Otherwise,
# two runs with the same seed would not be identical.
QUIET = {"net.ipv6.conf.default.router_solicitations": "0",
         "net.ipv6.conf.default.addr_gen_mode": "1"}
# Maps each table in /proc/net to the state in which a socket of this table can
# receive, as a hexadecimal number. In the table "raw", the protocol number
# stands where the other tables have the port. A raw socket is therefore found
# by its protocol number.
LISTENING = {"tcp": "0A", "udp": "07", "udplite": "07", "raw": "07"}


def main() -> None:
    owner_pid = int(sys.argv[1])
    owner = os.pidfd_open(owner_pid)
    if os.getppid() != owner_pid:
        return  # The owner, which started this process, has already ended.
    control = socket.socket(fileno=int(sys.argv[2]))
    wanted = json.loads(control.recv(MESSAGE_BYTES))
    try:
        if wanted["user"]:
            become_root_of_our_own()
        linux.unshare(linux.CLONE_NEWNS | linux.CLONE_NEWPID,
                      "a mount and a PID namespace")
    except OSError as failure:
        answer(control, refusal(failure))
        return
    first = os.fork()
    if first == 0:
        keep(owner, control, wanted)
    control.close()
    os.waitpid(first, 0)


def refusal(failure: Exception) -> dict[str, str]:
    """Returns the answer that reports `failure` to the owner of the testbed.
    If `failure` is an OSError, this machine does not allow the requested kind
    of host, for example a host in a user namespace. The answer then has the
    key "forbidden", so that the owner can try another kind of host.
    """
    if isinstance(failure, OSError):
        words = f"{failure.filename or 'a namespace'}: {failure.strerror}"
        if failure.filename == TUN and failure.errno in TUN_HELP:
            words += f" ({TUN_HELP[failure.errno]})"
        return {"forbidden": words}
    return {"error": str(failure)}


def become_root_of_our_own() -> None:
    """Enters a new user namespace. In this namespace, the user is root and may
    make network namespaces.
    """
    uid, gid = os.geteuid(), os.getegid()
    linux.unshare(linux.CLONE_NEWUSER, "a user namespace")
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"),
                       ("gid_map", f"0 {gid} 1")):
        pathlib.Path("/proc/self", name).write_text(text)


def answer(control: socket.socket, values: dict[str, Any],
           descriptors: Sequence[int] = ()) -> None:
    socket.send_fds(control, [json.dumps(values).encode()], descriptors)


# -------------------------------------------------------------------- process 1

def keep(owner: int, control: socket.socket,
         wanted: dict[str, Any]) -> NoReturn:
    """Makes the namespaces, and then answers the requests of the owner, which
    is the process that uses the testbed. The requests arrive over `control`,
    until the owner ends the testbed. This function does not return, but ends
    the process.
    """
    try:
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        # SIGCHLD is ignored, so that the kernel reaps processes that have lost
        # their parent. As process 1, this process would otherwise have to reap
        # them.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        descriptors = make(wanted)
    except (LabError, OSError) as failure:
        answer(control, refusal(failure))
        os._exit(1)
    try:
        answer(control, {"hosts": list(descriptors)},
               own_namespaces(wanted["user"]) + list(descriptors.values()))
        serve(owner, control, descriptors)
    finally:
        os._exit(0)


def make(wanted: dict[str, Any]) -> dict[str, int]:
    """Makes the namespaces of a testbed. Each host of the testbed is a network
    namespace. Returns {name of the host: file descriptor of its network
    namespace}. The key "" stands for one more network namespace, in which the
    emulation of the links between the hosts runs.
    """
    linux.mount(None, "/", None, linux.MS_REC | linux.MS_SLAVE)
    # In a container, it may be forbidden to mount /proc. The error is then
    # ignored. The only consequence is that `ps` on a host of the testbed shows
    # the processes of the whole machine.
    with contextlib.suppress(OSError):
        linux.mount("proc", "/proc", "proc",
                    linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC)
    make_run_private()
    os.mkdir(NAMES)
    descriptors = {}
    for host, settings in wanted["hosts"].items():
        descriptors[host] = make_network(QUIET, settings)
        name = f"{NAMES}/{host}"
        os.close(os.open(name, os.O_CREAT | os.O_RDONLY, 0o444))
        linux.mount("/proc/self/ns/net", name, None, linux.MS_BIND)
    descriptors[""] = make_network({}, {})
    if wanted["devices"]:
        check_devices()
    return descriptors


def make_run_private() -> None:
    """Replaces /run by a new directory with all entries of the old /run,
    except `netns`. Only processes in the mount namespace of the testbed see
    the new /run. The names of the hosts are files in the new /run/netns, so
    they are visible only inside the testbed.
    """
    old = os.open("/run", os.O_RDONLY | os.O_DIRECTORY)
    linux.mount("testbed", "/run", "tmpfs",
                linux.MS_NOSUID | linux.MS_NODEV, "mode=755")
    for entry in os.scandir(old):
        if entry.name == "netns":
            continue
        new = f"/run/{entry.name}"
        try:
            if entry.is_symlink():
                os.symlink(os.readlink(entry.name, dir_fd=old), new)
                continue
            if entry.is_dir():
                os.mkdir(new)
            else:
                os.close(os.open(new, os.O_CREAT | os.O_RDONLY, 0o600))
            linux.mount(f"/proc/self/fd/{old}/{entry.name}", new, None,
                        linux.MS_BIND | linux.MS_REC)
        except OSError:
            # Some entries are left out of the new directory: those that are
            # not readable, and those that were removed after the list of
            # entries was read.
            pass
    os.close(old)


def make_network(defaults: dict[str, str], settings: dict[str, str]) -> int:
    """Makes and enters a new network namespace, and sets its sysctls.
    `defaults` and `settings` are both {name of a sysctl: value}. If a sysctl
    of `defaults` cannot be set, the error is ignored. If a sysctl of
    `settings` cannot be set, raises LabError. Returns a file descriptor of the
    namespace.
    """
    linux.unshare(linux.CLONE_NEWNET, "a network namespace")
    linux.set_up("lo")
    for name, value in defaults.items():
        with contextlib.suppress(OSError):  # The kernel has no IPv6.
            sysctl(name).write_text(value)
    for name, value in settings.items():
        try:
            sysctl(name).write_text(value)
        except OSError as failure:
            raise LabError(
                f"sysctl {name}={value}: {failure.strerror}") from None
    return os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def sysctl(name: str) -> pathlib.Path:
    # The parts of a sysctl's name are separated either by dots or by slashes.
    # If the name contains a slash, a dot in it belongs to the name of a device
    # (see sysctl(8)), so the dot must not be replaced.
    return pathlib.Path("/proc/sys",
                        name if "/" in name else name.replace(".", "/"))


def check_devices() -> None:
    """Raises OSError if /dev/net/tun cannot be opened, because a link needs
    it. On some machines only root may open it.
    """
    os.close(os.open(TUN, os.O_RDWR | os.O_CLOEXEC))


def own_namespaces(user: bool) -> list[int]:
    return [os.open(f"/proc/self/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC)
            for kind in (["user"] if user else []) + ["mnt", "pid"]]


# -------------------------------------------------------------------- questions

def serve(owner: int, control: socket.socket,
          descriptors: dict[str, int]) -> None:
    waiting = select.poll()
    waiting.register(owner, select.POLLIN)
    waiting.register(control, select.POLLIN)
    while owner not in dict(waiting.poll()):
        message = control.recv(MESSAGE_BYTES)
        if not message:
            return
        question = json.loads(message)
        if question["ask"] == "end":
            return
        try:
            with inside(descriptors, question["host"]):
                result = {"is": QUESTIONS[question["ask"]](question)}
        except OSError as failure:
            result = {"error": failure.strerror}
        answer(control, result)


@contextlib.contextmanager
def inside(descriptors: dict[str, int], host: str) -> Iterator[None]:
    linux.setns(descriptors[host], linux.CLONE_NEWNET)
    try:
        yield
    finally:
        linux.setns(descriptors[""], linux.CLONE_NEWNET)


def are_up(question: dict[str, Any]) -> list[str]:
    """Returns the devices that are ready: they are up, are connected
    (IFF_RUNNING) and have an address. The address is checked because the
    element tunsink may make a device before the element tunsrc sets the
    address of the device.
    """
    ready = linux.IFF_UP | linux.IFF_RUNNING
    return [device for device in question["devices"]
            if (linux.flags_of(device) or 0) & ready == ready
            and linux.has_ipv4_address(device)]


def add_address(question: dict[str, Any]) -> bool:
    linux.add_ipv6_address(question["device"], question["address"],
                           question["prefix_length"])
    return True


def is_listening(question: dict[str, Any]) -> bool:
    return listening(question["kind"], question["port"])


def listening(kind: str, port: int, address: str | None = None) -> bool:
    """Returns whether a socket listens at the port, in the network namespace
    of this process. `address` is an IPv4 address in dotted notation. If it is
    given, only sockets that are bound to this address count.
    """
    tables = {kind} if address else {kind, kind + "6"}
    ending = f":{port:04X}"
    if address:
        quad = bytes(reversed(socket.inet_aton(address)))
        ending = quad.hex().upper() + ending
    for table in tables:
        with contextlib.suppress(FileNotFoundError), \
                open(f"/proc/self/net/{table}") as lines:
            for line in lines:
                fields = line.split()
                if (fields[1].endswith(ending)
                        and fields[3] == LISTENING[kind]):
                    return True
    return False


QUESTIONS = {"are_up": are_up, "add_address": add_address,
             "is_listening": is_listening}
