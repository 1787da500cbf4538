# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a command in an emulated host of a testbed.

Three processes are involved: the caller, this process and the command. The
caller runs outside the testbed. This process, which runs host_command.py, is
an ordinary child process of the caller, and the command is a child of this
process. When this process receives a signal, it forwards the signal to the
command and to the children of the command. The exit status of this process is
that of the command.

To kill the command, the caller sends the signal KILL_GROUP to this process.
This process then kills the command and its children, and reaps the command.
The caller must not send SIGKILL, because SIGKILL would end this process before
it can reap the command. Process 1 of the machine would then have to reap the
command, and the testbed could not end before that.

Called as `testbed.host_command OPTIONS -- COMMAND...`. OPTIONS is a JSON text
with these keys:
- `join`: a list of descriptors of the namespaces of the host. This process
  enters the namespaces in the order of the list. The list is empty if the
  testbed uses no namespaces, because the machine does not allow them.
- `owner`: the ID of a process. This key is only used if `join` is empty. When
  the process with this ID has ended, the command and all processes that the
  command started are killed.
- `end`: the descriptor of a pipe. This key is only used if `join` is empty.
  When the pipe becomes readable, the command and all processes that the
  command started are killed.
- `foreground`: whether the command uses the terminal.
"""

import json
import os
import pathlib
import resource
import select
import signal
import sys
import types
from typing import NoReturn

from wirelesslab.testbed import linux

KILL_GROUP = signal.SIGRTMIN
PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT,
             signal.SIGUSR1, signal.SIGUSR2, KILL_GROUP)
FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP)


def main() -> None:
    options = json.loads(sys.argv[1])
    argv = sys.argv[3:]
    directory = os.getcwd()
    try:
        for descriptor in options["join"]:
            linux.setns(descriptor)
            os.close(descriptor)
        # setns() with a mount namespace also changes the working directory to
        # the root directory of the namespace. The working directory is
        # therefore set to its previous value.
        os.chdir(directory)
    except OSError as failure:
        sys.exit(f"testbed: cannot enter the host: {failure.strerror}")
    ends = None
    if not options["join"]:
        ends = [watch(options["owner"]), options["end"]]

    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
    parent = os.pidfd_open(os.getpid())
    try:
        child = os.fork()
    except OSError:
        sys.exit(1)  # The testbed has ended.
    if child == 0:
        if ends:
            os.close(options["end"])
        become(argv, options["foreground"], parent)
    if options["foreground"]:
        # If the user presses a key such as Ctrl-C, the terminal sends the
        # signal both to the command and to this process. The command decides
        # what to do, so this process ignores the signal.
        for number in FROM_TERMINAL:
            signal.signal(number, signal.SIG_IGN)
    status = stand_for(child, ends, options["foreground"])
    if ends:
        kill_descendants()
    end_as(status)


def watch(owner_pid: int) -> int:
    """Returns a pidfd of the process `owner_pid`. Also makes the calling
    process a subreaper: if a process of the command loses its parent, it
    becomes a child of the calling process, which can then kill it.
    """
    owner = os.pidfd_open(owner_pid)
    if os.getppid() != owner_pid:
        sys.exit(1)
    linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
    return owner


def become(argv: list[str], foreground: bool, parent: int) -> NoReturn:
    """Executes the command in this process, which is the child process. Never
    returns.
    """
    if not foreground:
        os.setsid()
    elif os.isatty(0):
        # The command may be a shell. When a shell starts, it reads the ID of
        # the foreground group of the terminal. When the shell ends, it makes
        # this group the foreground group again. A shell in the emulated host
        # can only read the ID of a group inside the PID namespace of the host.
        # The group of the caller is outside this namespace. For this reason,
        # the command gets a process group of its own, which is inside the
        # namespace. This group becomes the foreground group before the command
        # starts.
        os.setpgid(0, 0)
        give_terminal(0)
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    # prctl() has requested that the kernel kill this process when its parent
    # ends. If the parent ended before this request, the kernel sends no
    # signal. This process then ends by itself.
    if select.select([parent], [], [], 0)[0]:
        os._exit(1)
    # Signals that are ignored stay ignored after exec(). Python ignores some
    # signals, and so may the program that has started this one. All of them
    # are therefore set to the default action before the command is executed.
    for number in (signal.SIGPIPE, signal.SIGXFSZ, *FROM_TERMINAL):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
    try:
        os.execvp(argv[0], argv)
    except OSError as failure:
        print(f"testbed: {argv[0]}: {failure.strerror}", file=sys.stderr,
              flush=True)
        os._exit(127 if isinstance(failure, FileNotFoundError) else 126)


def give_terminal(terminal: int) -> None:
    """Makes the process group of this process the foreground group of the
    terminal.
    """
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    os.tcsetpgrp(terminal, os.getpgrp())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)


def stand_for(child: int, ends: list[int] | None, foreground: bool) -> int:
    """Waits until the command has ended. Returns its status in the encoding of
    waitpid().
    """
    terminal = os.dup(0) if foreground and os.isatty(0) else None
    # This process replaces its standard streams by /dev/null. Suppose that it
    # kept the output open, and that a program reads the output of the command.
    # This program would then see the end of the output only when this process
    # ends, and not when the command ends.
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(null, descriptor)

    def pass_on(number: int, _frame: types.FrameType | None) -> None:
        if number == KILL_GROUP:
            number = signal.SIGKILL
        try:
            os.killpg(child, number)
        # The command makes a process group of its own after its start. If it
        # has not done so yet, the signal is sent to the command alone.
        except ProcessLookupError:
            os.kill(child, number)

    for number in PASSED_ON:
        if not (foreground and number in FROM_TERMINAL):
            signal.signal(number, pass_on)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
    if ends:
        ended = os.pidfd_open(child)
        if ended not in select.select([ended, *ends], [], [])[0]:
            os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    if terminal is not None:
        give_terminal(terminal)
    return status


def kill_descendants() -> None:
    """Kills the remaining processes that the command has started. If one of
    them has children, they become children of the calling process when their
    parent dies. The loop therefore continues until the calling process has no
    more children.
    """
    while True:
        children = pathlib.Path(
            f"/proc/self/task/{os.getpid()}/children").read_text().split()
        if not children:
            return
        for child in map(int, children):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def end_as(status: int) -> NoReturn:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status))
