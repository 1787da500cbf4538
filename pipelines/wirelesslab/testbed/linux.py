# SPDX-License-Identifier: LGPL-2.1-or-later
"""System calls of Linux that Python 3.11 does not offer, and functions for
network devices.

The programs init_process.py and host_command.py use this module inside a
testbed. Both are started often and have to start quickly. This module
therefore imports nothing that takes long to load.
"""

import contextlib
import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Callable
from typing import Any

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
MS_BIND, MS_REC, MS_SLAVE = 4096, 16384, 1 << 19

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

SIOCGIFFLAGS, SIOCSIFFLAGS = 0x8913, 0x8914
SIOCGIFINDEX = 0x8933
SIOCGIFADDR, SIOCSIFADDR = 0x8915, 0x8916
IFF_UP, IFF_RUNNING = 0x1, 0x40

_libc = ctypes.CDLL(None, use_errno=True)


def _call(function: Callable[..., int], what: str, *arguments: Any) -> None:
    if function(*arguments) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def unshare(flags: int, what: str) -> None:
    _call(_libc.unshare, what, flags)


def setns(descriptor: int, kind: int = 0) -> None:
    _call(_libc.setns, "setns", descriptor, kind)


def prctl(option: int, value: int) -> None:
    _call(_libc.prctl, "prctl", option, ctypes.c_ulong(value), 0, 0, 0)


def mount(source: str | None, target: str, kind: str | None = None,
          flags: int = 0, data: str | None = None) -> None:
    def text(value: str | None) -> bytes | None:
        return None if value is None else os.fsencode(value)

    _call(_libc.mount, target, text(source), text(target), text(kind),
          ctypes.c_ulong(flags), text(data))


def flags_of(device: str) -> int | None:
    """Returns the flags of a network device in the network namespace of this
    process. Returns None if there is no device with this name.
    """
    with contextlib.closing(socket.socket(type=socket.SOCK_DGRAM)) as any:
        try:
            answer = fcntl.ioctl(any, SIOCGIFFLAGS,
                                 struct.pack("16sh14x", device.encode(), 0))
        except OSError:
            return None
    return struct.unpack("16sh14x", answer)[1]


def has_ipv4_address(device: str) -> bool:
    with contextlib.closing(socket.socket(type=socket.SOCK_DGRAM)) as any:
        try:
            fcntl.ioctl(any, SIOCGIFADDR,
                        struct.pack("16s24x", device.encode()))
        except OSError:
            return False
    return True


def set_up(device: str) -> None:
    with contextlib.closing(socket.socket(type=socket.SOCK_DGRAM)) as any:
        fcntl.ioctl(any, SIOCSIFFLAGS, struct.pack(
            "16sh14x", device.encode(), flags_of(device) | IFF_UP))


def add_ipv6_address(device: str, address: str, prefix_length: int) -> None:
    with contextlib.closing(
            socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)) as any:
        index = struct.unpack("16si12x", fcntl.ioctl(
            any, SIOCGIFINDEX,
            struct.pack("16s16x", device.encode())))[1]
        fcntl.ioctl(any, SIOCSIFADDR, struct.pack(
            "16sIi", socket.inet_pton(socket.AF_INET6, address),
            prefix_length, index))
