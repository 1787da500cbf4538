# SPDX-License-Identifier: LGPL-2.1-or-later
"""Process 1 of a testbed: makes its namespaces, and takes them along.

All of a testbed lives in one PID namespace, whose first process this is. When
it ends, the kernel kills everything in there; with the last process go the
network namespaces, and with them their devices. It ends when its owner closes
the testbed or is gone, however it went: it waits on the owner's pidfd. So a
kill -9 of the owner leaves nothing either, and nobody has to clean up.

Called by namespaces.py as `testbed.init_process OWNER-PID SOCKET`. The first
message on the socket says what to make; the answer carries the namespaces;
each further message is a question about a host.
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
NAMES = "/run/netns"  # where `ip` and tunsrc look for a namespace by its name
TUN = "/dev/net/tun"
TUN_HELP = {
    errno.ENOENT: "as root: modprobe tun; a container needs "
                  "--device /dev/net/tun",
    errno.EACCES: "as root: chmod 666 /dev/net/tun, which gives nobody rights "
                  "over networks that are not his",
}
# In a new host the kernel talks to nobody by itself: what crosses a link is
# what the commands send, and one seed gives one run.
QUIET = {"net.ipv6.conf.default.router_solicitations": "0",
         "net.ipv6.conf.default.addr_gen_mode": "1"}
# The states in /proc/net of a socket that can be sent to. (The port of a raw
# one is its protocol.)
LISTENING = {"tcp": "0A", "udp": "07", "udplite": "07", "raw": "07"}


def main() -> None:
    owner_pid = int(sys.argv[1])
    owner = os.pidfd_open(owner_pid)
    if os.getppid() != owner_pid:
        return  # it ended before we had its pidfd
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
    """`forbidden` is what this machine does not allow; others may."""
    if isinstance(failure, OSError):
        words = f"{failure.filename or 'a namespace'}: {failure.strerror}"
        if failure.filename == TUN and failure.errno in TUN_HELP:
            words += f" ({TUN_HELP[failure.errno]})"
        return {"forbidden": words}
    return {"error": str(failure)}


def become_root_of_our_own() -> None:
    """Enters a user namespace, where the user is root over its networks."""
    uid, gid = os.geteuid(), os.getegid()
    linux.unshare(linux.CLONE_NEWUSER, "a user namespace")
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"),
                       ("gid_map", f"0 {gid} 1")):
        pathlib.Path("/proc/self", name).write_text(text)


def answer(control: socket.socket, values: dict[str, Any],
           descriptors: Sequence[int] = ()) -> None:
    socket.send_fds(control, [json.dumps(values).encode()], descriptors)


# ------------------------------------------------------------------ process 1

def keep(owner: int, control: socket.socket,
         wanted: dict[str, Any]) -> NoReturn:
    """Never returns."""
    try:
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # orphans are reaped
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
    """Makes the namespaces; returns descriptors of the hosts' networks, and of
    that between them under the name "", where the links run."""
    linux.mount(None, "/", None, linux.MS_REC | linux.MS_SLAVE)
    # A container may forbid it; then `ps` shows the machine's processes.
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
    """Puts a directory of our own over /run, with all that is in there and a
    new `netns`: names of hosts for us that the machine never sees."""
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
            pass  # gone meanwhile, or not ours to see
    os.close(old)


def make_network(defaults: dict[str, str], settings: dict[str, str]) -> int:
    """Enters a new network, with these values of sysctl."""
    linux.unshare(linux.CLONE_NEWNET, "a network namespace")
    linux.set_up("lo")
    for name, value in defaults.items():
        with contextlib.suppress(OSError):  # a kernel without IPv6
            sysctl(name).write_text(value)
    for name, value in settings.items():
        try:
            sysctl(name).write_text(value)
        except OSError as failure:
            raise LabError(
                f"sysctl {name}={value}: {failure.strerror}") from None
    return os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def sysctl(name: str) -> pathlib.Path:
    # As sysctl(8): a name with a slash in it has its dots in device names.
    return pathlib.Path("/proc/sys",
                        name if "/" in name else name.replace(".", "/"))


def check_devices() -> None:
    """Whether /dev/net/tun opens: that of some machines is for root only."""
    os.close(os.open(TUN, os.O_RDWR | os.O_CLOEXEC))


def own_namespaces(user: bool) -> list[int]:
    return [os.open(f"/proc/self/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC)
            for kind in (["user"] if user else []) + ["mnt", "pid"]]


# ------------------------------------------------------------------ questions

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
    """Which of the devices are up, have somebody at the other end, and their
    address: that comes with tunsrc, and tunsink may have been first."""
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
    """Whether a socket of our network waits at the port; of the dotted IPv4
    address, where one is given."""
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
