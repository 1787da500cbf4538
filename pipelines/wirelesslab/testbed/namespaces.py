# SPDX-License-Identifier: LGPL-2.1-or-later
"""Controls the hosts of a testbed. Each host is a network namespace.

init_process.py makes the namespaces and keeps them until the end of the
testbed. host_command.py runs a command in the namespaces. Both are separate
programs, because a process with several threads cannot enter the namespaces. A
program that uses this module may have several threads.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

from wirelesslab import paths
from wirelesslab.errors import LabError
from wirelesslab.testbed import host_command

# These options make Python ignore the user's environment variables and
# packages. Python then starts faster, and its behaviour does not depend on the
# user.
PYTHON = (sys.executable, "-ES")
MESSAGE_BYTES = 1 << 20
# The maximum number of file descriptors that the kernel passes in one message
# of a Unix socket.
MAX_DESCRIPTORS = 253
MAX_HOSTS = 200
# The name that stands for the network namespace between the hosts. The links
# run in this namespace.
BETWEEN = ""
SECONDS_TO_END = 10


class Forbidden(LabError):
    """Raised if this user may not make network namespaces on this machine."""


class Command(subprocess.Popen):
    """A command that runs in a host. This Popen object controls the process of
    host_command.py, which starts the command in the host. host_command.py
    passes each signal that it receives on to the command and to the command's
    children.
    """

    def __init__(self, argv: Sequence[str | os.PathLike[str]],
                 foreground: bool = False, descriptors: Sequence[int] = (),
                 how: dict[str, Any] | tuple[()] = (), **options: Any) -> None:
        super().__init__(
            [*paths.command("testbed.host_command", PYTHON),
             json.dumps({"foreground": foreground, **dict(how)}), "--", *argv],
            pass_fds=descriptors, start_new_session=not foreground, **options)

    def kill(self) -> None:
        self.send_signal(host_command.KILL_GROUP)


class Namespaces:
    """The hosts of a testbed, each of which is a network namespace. `hosts`
    maps the name of each host to its sysctls.
    """

    def __init__(self, hosts: dict[str, dict[str, str]], as_user: bool = False,
                 with_devices: bool = True) -> None:
        if len(hosts) > MAX_HOSTS:
            raise LabError(f"{len(hosts)} hosts are too many; the maximum is "
                           f"{MAX_HOSTS}")
        self._descriptors = []
        self._commands = []
        # A thread holds this lock from its request to the init process until
        # the answer has arrived. The init process answers only one request at
        # a time.
        self._asking = threading.Lock()
        self._control, theirs = socket.socketpair(
            socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._init_process = subprocess.Popen(
                [*paths.command("testbed.init_process", PYTHON),
                 str(os.getpid()),
                 str(theirs.fileno())],
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
                start_new_session=True)
        try:
            self._make(hosts, as_user, with_devices)
        except BaseException:
            self.close()
            raise

    def _make(self, hosts: dict[str, dict[str, str]], as_user: bool,
              with_devices: bool) -> None:
        self._control.send(json.dumps({
            "hosts": hosts, "user": as_user,
            "devices": with_devices}).encode())
        message, self._descriptors, _, _ = socket.recv_fds(
            self._control, MESSAGE_BYTES, MAX_DESCRIPTORS)
        for descriptor in self._descriptors:
            os.set_inheritable(descriptor, False)
        names = self._answer(message)["hosts"]
        common = len(self._descriptors) - len(names)
        self._join = self._descriptors[:common]
        self._networks = dict(zip(names, self._descriptors[common:]))

    @staticmethod
    def _answer(message: bytes) -> dict[str, Any]:
        if not message:
            raise LabError("process 1 of the testbed has ended unexpectedly")
        answer = json.loads(message)
        if "forbidden" in answer:
            raise Forbidden(answer["forbidden"])
        if "error" in answer:
            raise LabError(answer["error"])
        return answer

    def ask(self, question: str, host: str, **values: Any) -> Any:
        message = json.dumps({"ask": question, "host": host, **values})
        with self._asking:
            try:
                self._control.send(message.encode())
                answer = self._control.recv(MESSAGE_BYTES)
            except OSError:
                answer = b""
        return self._answer(answer)["is"]

    def popen(self, host: str, argv: Sequence[str | os.PathLike[str]],
              **options: Any) -> Command:
        # The process has to enter the PID namespace last. After it has entered
        # the PID namespace, it may not be allowed to enter further namespaces.
        *others, processes = self._join
        join = [*others, self._networks[host], processes]
        child = Command(argv, descriptors=join, how={"join": join}, **options)
        self._commands.append(child)
        return child

    def close(self) -> None:
        """Ends all processes in the hosts, even those that ignore signals."""
        with contextlib.suppress(OSError):
            self._control.send(json.dumps({"ask": "end"}).encode())
        self._control.close()
        try:
            self._init_process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._init_process.kill()
            self._init_process.wait()
        for child in self._commands:
            child.wait()
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors = []
