# SPDX-License-Identifier: LGPL-2.1-or-later
"""Connects the standard input or output of a pipeline to an MPTCP socket of
the kernel. This is necessary because GStreamer's elements open only TCP
sockets.

    streams.mptcp_socket sender HOST PORT gst-launch-1.0 ... ! fdsink fd=1
    streams.mptcp_socket receiver HOST PORT gst-launch-1.0 fdsrc fd=0 ! ...

The sender connects to HOST. A second process beside the sender does what the
daemon mptcpd does: it registers each address of this host as an MPTCP endpoint
in the kernel, and updates the endpoints when an address appears or disappears.
The kernel then makes a subflow from each address over the device of this
address.
"""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys

from wirelesslab import command_line
from wirelesslab.errors import LabError
from wirelesslab.testbed import linux

IPPROTO_MPTCP = 262
MAX_SUBFLOWS = 8  # The maximum number of subflows that the kernel allows.
SENDER = "sender"
ENDPOINT = re.compile(r"(?P<address>\S+) id (?P<id>\d+)")
ADDRESS = re.compile(r"^\d+: (?P<device>\S+) +inet (?P<address>[\d.]+)/", re.M)


def why_not() -> str:
    """Returns the reason why MPTCP cannot be used on this machine. Returns ""
    if it can be used.
    """
    try:
        with contextlib.closing(new_socket()):
            pass
    except OSError as failure:
        return f"the kernel has no MPTCP ({failure.strerror})"
    try:
        done = subprocess.run(["ip", "mptcp", "limits", "show"],
                              stdin=subprocess.DEVNULL, capture_output=True,
                              text=True)
    except OSError as failure:
        return f"MPTCP needs the program ip ({failure.strerror})"
    return "" if done.returncode == 0 \
        else f"the program ip cannot set up MPTCP ({done.stderr.strip()})"


def new_socket() -> socket.socket:
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)


def ip(*words: str) -> str:
    """Runs the program ip and returns its output."""
    done = subprocess.run(["ip", *words], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    if done.returncode:
        raise LabError(f"ip {' '.join(words)} failed: {done.stderr.strip()}")
    return done.stdout


def addresses() -> dict[str, str]:
    """Returns {address: device} with the global IPv4 addresses of all network
    devices that are up.
    """
    return {found["address"]: found["device"] for found in ADDRESS.finditer(
        ip("-4", "-o", "address", "show", "up", "scope", "global"))}


def endpoints(output: str) -> dict[str, str]:
    """Returns {address: number of the endpoint} for all MPTCP endpoints of the
    kernel. `output` is the output of `ip mptcp endpoint show`.
    """
    return {found["address"]: found["id"]
            for found in ENDPOINT.finditer(output)}


def changes(there: dict[str, str], now: dict[str, str]) -> list[list[str]]:
    """Returns the changes that are necessary so that the kernel has an MPTCP
    endpoint for each address of this host. A change consists of the arguments
    of `ip mptcp endpoint`. `there` maps the address of each endpoint in the
    kernel to its number. `now` maps each address of this host to its device.
    """
    return [["delete", "id", number] for address, number in there.items()
            if address not in now] \
        + [["add", address, "dev", device, "subflow"]
           for address, device in now.items() if address not in there]


def update_endpoints() -> None:
    for words in changes(endpoints(ip("mptcp", "endpoint", "show")),
                         addresses()):
        # The command fails if an address has disappeared since addresses()
        # listed it. This error is ignored.
        with contextlib.suppress(LabError):
            ip("mptcp", "endpoint", *words)


def follow_addresses() -> None:
    """Registers each address of this host as an MPTCP endpoint in the kernel.
    Updates the endpoints whenever an address or a device changes. This
    continues until the process is killed.
    """
    with subprocess.Popen(["ip", "-o", "monitor", "address", "link"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          text=True) as monitor:
        while True:
            update_endpoints()
            if not monitor.stdout.readline():
                return


def run() -> None:
    role, host, port, *command = sys.argv[1:]
    ip("mptcp", "limits", "set", "subflows", str(MAX_SUBFLOWS),
       "add_addr_accepted", str(MAX_SUBFLOWS))
    if role == SENDER:
        # When the socket connects, the kernel makes subflows only for
        # endpoints that exist already. Therefore the endpoints are registered
        # first.
        update_endpoints()
        own = new_socket()
        own.connect((host, int(port)))
        parent = os.getpid()
        if os.fork() == 0:
            linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
            own.close()
            if os.getppid() == parent:
                follow_addresses()
            os._exit(0)
        os.dup2(own.fileno(), sys.stdout.fileno())
    else:
        own = new_socket()
        own.bind(("0.0.0.0", int(port)))
        own.listen()
        peer, _ = own.accept()
        os.dup2(peer.fileno(), sys.stdin.fileno())
        # The kernel accepts additional subflows only while the listening
        # socket is open. The command that this process executes next inherits
        # the socket and thus keeps it open.
        own.set_inheritable(True)
    os.execvp(command[0], command)


def main() -> None:
    command_line.run_main("mptcp_socket", run)
