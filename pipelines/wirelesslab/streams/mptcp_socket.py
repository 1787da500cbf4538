# SPDX-License-Identifier: LGPL-2.1-or-later
"""Connects the standard input or output of a pipeline to an MPTCP socket of the
kernel, because GStreamer's elements open only TCP sockets.

    streams.mptcp_socket sender HOST,... PORT gst-launch-1.0 ... ! fdsink fd=1
    streams.mptcp_socket receiver HOST,... PORT gst-launch-1.0 fdsrc fd=0 ! ...

The receiver listens at all its addresses and announces every address but the
first to the sender. The sender connects to the first address, and the kernel
then opens a subflow to each of the others.
"""

import contextlib
import os
import socket
import subprocess
import sys

from wirelesslab import command_line
from wirelesslab.errors import LabError

IPPROTO_MPTCP = 262
MAX_SUBFLOWS = 8  # The kernel's maximum.
SENDER = "sender"
EXISTS = "File exists"


def why_not() -> str:
    """Returns why this machine has no MPTCP, or "" if it has."""
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


def ip_mptcp(*words: str) -> None:
    done = subprocess.run(["ip", "mptcp", *words], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    # Another stream of the same host may have announced the address before.
    if done.returncode and EXISTS not in done.stderr:
        raise LabError(f"ip mptcp {' '.join(words)} failed: "
                       + done.stderr.strip())


def run() -> None:
    role, hosts, port, *command = sys.argv[1:]
    first, *others = hosts.split(",")
    ip_mptcp("limits", "set", "subflows", str(MAX_SUBFLOWS),
             "add_addr_accepted", str(MAX_SUBFLOWS))
    own = new_socket()
    if role == SENDER:
        own.connect((first, int(port)))
        os.dup2(own.fileno(), sys.stdout.fileno())
    else:
        for other in others:
            ip_mptcp("endpoint", "add", other, "signal")
        own.bind(("0.0.0.0", int(port)))
        own.listen()
        peer, _ = own.accept()
        os.dup2(peer.fileno(), sys.stdin.fileno())
        # The kernel accepts a further subflow only while a socket listens.
        own.set_inheritable(True)
    os.execvp(command[0], command)


def main() -> None:
    command_line.run_main("mptcp_socket", run)
