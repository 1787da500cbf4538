# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command line of the testbed: runs the steps that the options name, one
after another or at the same time, and prints the output of their commands."""

import argparse
import contextlib
import os
import pathlib
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import IO, Any, BinaryIO

from wirelesslab import processes
from wirelesslab.errors import LabError
from wirelesslab.testbed.testbed import (
    MODES,
    SECONDS_BETWEEN_LOOKS,
    SECONDS_TO_LISTEN,
    Testbed,
)

# Exit statuses of this program, the same as those of timeout(1): 124 if the
# time limit has been reached, and 125 if the testbed itself fails.
STATUS_LATE, STATUS_OURS = 124, 125
SYSCTL_FORM = "HOST: net.NAME=VALUE"
DEVICE_FORM = "[HOST.]LINK: "
MAX_LINE_LENGTH = 1 << 20


class Late(Exception):
    """Raised when the time limit of the option --timeout has been reached."""


class Steps(argparse.Action):
    """Collects the options --first, --run, --wait and --main in one list,
    because they are executed in the order in which the user typed them.
    """

    def __call__(self, _parser: argparse.ArgumentParser,
                 options: argparse.Namespace, value: Any,
                 option_string: str | None = None) -> None:
        options.steps = [*options.steps, (option_string.lstrip("-"), value)]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="pipelines/testbed",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Sets up hosts with emulated links between them, runs "
        "commands in them, and leaves\nnothing behind.",
        epilog="""\
A command gets the addresses of all hosts as environment variables. $b_wl0 is
the address of host b on the link wl0. $b is the address of host b on the first
link to it. $b_ip6 and $b_wl0_ip6 are the IPv6 addresses. $LINK_LOG_wl0 is the
log of the link wl0, and $LINK_LOG is the log of the first link.

With --shell, the exit status is that of the shell. With --main, it is that of
the command of --main. Otherwise it is that of the last command. It is 124 if
the time limit of --timeout has been reached, and 125 if the testbed itself
failed.

  pipelines/testbed --link 'wl0=a,b: profile=80211b seed=1' \\
      --run 'b: iperf3 -s' --wait 'b: tcp/5201' --run 'a: iperf3 -c $b'
""")
    parser.set_defaults(steps=[])
    parser.add_argument(
        "--link", action="append", metavar="'NAME=HOST,HOST: PROPERTIES'",
        help="link between two hosts (wl0=a,b). PROPERTIES are those of "
        "wirelesslink; or medium=LINK to share the medium of another link; or "
        "`none` for a link without emulation; or other elements, which the "
        "packets of each direction pass")
    for name, metavar, words in (
            ("--first", "'HOST: COMMAND'",
             "run a command, which must succeed before the next step"),
            ("--run", "'HOST: COMMAND'",
             "run a command at the same time as the others"),
            ("--wait", "'HOST: KIND/PORT'",
             "wait until a socket listens there, as in 'b: tcp/5201'"),
            ("--main", "'HOST: COMMAND'",
             "run the command whose end also ends all others")):
        parser.add_argument(name, action=Steps, metavar=metavar, help=words)
    parser.add_argument("--shell", metavar="HOST",
                        help="open a shell in this host after all commands "
                        "have started (in the first host if there is no "
                        "command)")
    parser.add_argument("--timeout", type=float, metavar="SECONDS",
                        help="end everything after this time")
    parser.add_argument("--sysctl", action="append", default=[],
                        metavar="'HOST: NAME=VALUE'",
                        help="set a sysctl of a host's network")
    parser.add_argument("--device", action="append", default=[],
                        metavar="'[HOST.]LINK: PROPERTIES'",
                        help="properties of tunsrc for a device, such as "
                        "mtu=576")
    parser.add_argument("--tbf", action="append", default=[],
                        metavar="'[HOST.]LINK: PARAMETERS'",
                        help="token bucket on a device, which makes sockets of "
                        "UDP wait: parameters of tc's tbf")
    parser.add_argument("--mode", choices=("auto", *MODES), default="auto",
                        help="how hosts are made: as root, as an ordinary user "
                        "in a user namespace, or as relays on the loopback "
                        "(the first one that works)")
    parser.add_argument("--relay-port", action="append", type=int, default=[],
                        metavar="PORT", help="UDP port that relays carry if "
                        "there are no network namespaces")
    parser.add_argument("--keep-logs", type=pathlib.Path, metavar="DIR",
                        help="directory for the logs of the links and the "
                        "output of the commands")
    parser.add_argument("--no-prefix", action="store_true",
                        help="do not print the host's name before each line")
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR",
                        help="build directory (build)")
    options = parser.parse_args()
    if options.shell and any(kind == "main" for kind, _ in options.steps):
        parser.error("--shell and --main cannot be combined, because each of "
                     "them decides when the testbed ends")
    for port in options.relay_port:
        if not 1 <= port <= 65535:
            parser.error("--relay-port must be from 1 to 65535")
    return options


def split_place(text: str, what: str,
                form: str = "HOST: COMMAND") -> tuple[str, str]:
    place, colon, rest = text.partition(":")
    if not colon or not rest.strip():
        raise LabError(f"{what} {text!r} is not of the form '{form}'")
    return place.strip(), rest.strip()


def sysctls_of(texts: list[str]) -> dict[str, dict[str, str]]:
    found = {}
    for text in texts:
        host, setting = split_place(text, "--sysctl", SYSCTL_FORM)
        name, equals, value = setting.partition("=")
        if not equals:
            raise LabError(f"--sysctl {text!r} is not of the form "
                           f"'{SYSCTL_FORM}'")
        found.setdefault(host, {})[name.strip()] = value.strip()
    return found


class Stream:
    """Copies the output of one command to the output of this program, line by
    line.
    """

    def __init__(self, pipe: IO[bytes], target: BinaryIO, prefix: str,
                 log: BinaryIO | None) -> None:
        self.pipe = pipe
        self._target = target
        self._prefix = prefix.encode()
        self._log = log
        self._rest = b""

    def pass_on(self) -> bool:
        """Reads available output of the command and writes it to the output of
        this program. Returns False if the output of the command has ended.
        """
        data = os.read(self.pipe.fileno(), 1 << 16)
        if self._log:
            self._log.write(data)
            self._log.flush()
        *lines, self._rest = (self._rest + data).split(b"\n")
        if self._rest and (not data or len(self._rest) >= MAX_LINE_LENGTH):
            lines, self._rest = [self._rest], b""
        for line in lines:
            self._target.write(self._prefix + line + b"\n")
        self._target.flush()
        return bool(data)


class Session:
    """Runs the steps that were given as options on the command line. The steps
    run in a testbed that has been started.
    """

    def __init__(self, bed: Testbed, options: argparse.Namespace) -> None:
        self._bed = bed
        self._options = options
        self._selector = selectors.DefaultSelector()
        self._files = contextlib.ExitStack()
        self._deadline = None
        if options.timeout is not None:
            self._deadline = time.monotonic() + options.timeout
        commands = [kind for kind, _ in options.steps if kind != "wait"]
        self._direct = (len(commands) == 1 and not options.shell
                        and options.keep_logs is None)
        self._prefixed = not options.no_prefix and (len(commands) > 1
                                                    or options.shell)
        self._started = []  # (host, command, process)

    def run(self) -> int:
        """Runs all steps. If a shell was started, returns its exit status.
        Otherwise returns the exit status of the command of --main or, without
        --main, of the last command. The result becomes the exit status of the
        whole program.
        """
        for process in self._bed.link_processes():
            self._watch(process)
        decides = self._run_steps()
        if self._options.shell:
            decides = self._start_shell(self._options.shell)
        self._until(lambda: decides.poll() is not None)
        return decides.returncode

    def _run_steps(self) -> subprocess.Popen[Any] | None:
        main = last = None
        for kind, text in self._options.steps:
            if kind == "wait":
                self._wait(*split_place(text, "--wait", "HOST: KIND/PORT"))
                continue
            host, command = split_place(text, f"--{kind}")
            last = self._start(host, command)
            if kind == "main":
                main = last
            if kind == "first":
                self._finish_first(last, text)
        return main or last

    def _finish_first(self, child: subprocess.Popen[Any], text: str) -> None:
        self._until(lambda: child.poll() is not None)
        if child.returncode != 0:
            raise LabError(f"--first {text!r} failed "
                           f"({processes.describe(child.returncode)})")

    def _wait(self, host: str, place: str) -> None:
        kind, _, port = place.partition("/")
        if not port.isdigit():
            raise LabError(f"--wait {place!r} is not of the form KIND/PORT")
        deadline = time.monotonic() + SECONDS_TO_LISTEN
        while not self._bed.is_listening(host, kind, int(port)):
            self._check_commands(host, place)
            if time.monotonic() > deadline:
                raise LabError(f"nothing listens at {place} of {host} after "
                               f"{SECONDS_TO_LISTEN} s")
            self._look(SECONDS_BETWEEN_LOOKS)

    def _check_commands(self, host: str, place: str) -> None:
        """Raises LabError if a command that was started on the host `host` has
        failed. This function is called while the program waits for a server
        that is to listen at `place`. If a command has failed, it was probably
        this server.
        """
        for place_of, command, process in self._started:
            if place_of == host and process.poll():
                raise LabError(
                    f"nothing listens at {place} of {host}: {command!r} ended "
                    f"there ({processes.describe(process.returncode)})")

    def _start(self, host: str, command: str) -> subprocess.Popen[Any]:
        if self._direct:
            child = self._bed.popen(host, command)
        else:
            child = self._bed.popen(host, command, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE)
            self._follow(child.stdout, sys.stdout.buffer, host, "out")
            self._follow(child.stderr, sys.stderr.buffer, host, "err")
        self._watch(child)
        self._started.append((host, command, child))
        return child

    def _start_shell(self, host: str) -> subprocess.Popen[Any]:
        shell = os.environ.get("SHELL", "sh")
        print(f"testbed: {shell} in host {host}; leave it to end the testbed",
              file=sys.stderr)
        # Signals from the terminal are meant for the shell, so this process
        # ignores them.
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP):
            signal.signal(number, signal.SIG_IGN)
        child = self._bed.popen(host, [shell], stdin=None, foreground=True)
        self._watch(child)
        return child

    def _follow(self, pipe: IO[bytes], target: BinaryIO, host: str,
                kind: str) -> None:
        log = None
        if self._options.keep_logs is not None:
            log = self._files.enter_context(open(
                self._bed.logs / f"{len(self._started) + 1}-{host}.{kind}",
                "wb"))
        prefix = f"{host}| " if self._prefixed else ""
        self._selector.register(pipe, selectors.EVENT_READ,
                                Stream(pipe, target, prefix, log))

    def _watch(self, process: subprocess.Popen[Any]) -> None:
        descriptor = os.pidfd_open(process.pid)
        self._files.callback(os.close, descriptor)
        self._selector.register(descriptor, selectors.EVENT_READ)

    def _until(self, condition: Callable[[], bool]) -> None:
        """Prints the output of the commands until `condition` returns True.
        The condition is checked only after output has arrived or a process has
        ended. It must therefore not depend on anything else, for example on
        the time.
        """
        while not condition():
            self._look()

    def _look(self, seconds: float | None = None) -> None:
        """Waits until a command has written output or a process has ended.
        Prints the output. Waits for at most `seconds`, or without a limit if
        `seconds` is None. Raises Late when the time limit of the option
        --timeout has been reached.
        """
        if self._deadline is not None:
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise Late()
            seconds = left if seconds is None else min(left, seconds)
        for key, _ in self._selector.select(seconds):
            if key.data is None or not key.data.pass_on():
                self._selector.unregister(key.fileobj)
        self._bed.check()

    def close(self) -> None:
        """Copies the output of the commands that has not been copied yet. All
        commands must have ended.
        """
        with self._files:
            for key in list(self._selector.get_map().values()):
                if key.data is not None:
                    while key.data.pass_on():
                        pass
        self._selector.close()


def run(options: argparse.Namespace) -> int:
    bed = Testbed(
        options.link or ["wl0=a,b"], options.mode, options.build,
        sysctls_of(options.sysctl),
        [split_place(text, "--device", DEVICE_FORM + "PROPERTIES")
         for text in options.device],
        [split_place(text, "--tbf", DEVICE_FORM + "PARAMETERS")
         for text in options.tbf],
        options.relay_port, options.keep_logs)
    if not options.shell and not any(kind != "wait"
                                     for kind, _ in options.steps):
        options.shell = bed.hosts[0]
    session = None
    try:
        with bed:
            if bed.left_out:
                print("testbed:", bed.left_out, file=sys.stderr)
            session = Session(bed, options)
            return session.run()
    finally:
        if session:
            session.close()


def main() -> None:
    options = parse_arguments()
    processes.die_on_signals()
    try:
        status = run(options)
    except Late:
        print(f"testbed: not done after {options.timeout:g} s",
              file=sys.stderr)
        status = STATUS_LATE
    except BrokenPipeError:
        raise
    except (LabError, OSError) as failure:
        print(f"testbed: {failure}", file=sys.stderr)
        status = STATUS_OURS
    sys.exit(status if status >= 0 else 128 - status)
