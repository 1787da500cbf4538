# SPDX-License-Identifier: LGPL-2.1-or-later
"""Applies one function to many values on all processor cores."""

import concurrent.futures
import multiprocessing
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from wirelesslab import processes
from wirelesslab.errors import LabError

# Shell script that makes a directory, prints its name, and removes it at the
# end. Before it removes the directory, the script reads its standard input, a
# pipe, until EOF. The process that starts the script and all processes of its
# pool hold the write end of this pipe. EOF therefore means that all of them
# have ended, even if SIGKILL ended them. Usually the process that started the
# script outlives the others. It then closes the pipe itself, and waits until
# the script has removed the directory.
#
# The script makes the directory itself. If the process that starts the script
# made it, SIGKILL could end this process before it has started the script, and
# nobody would remove the directory. If a process of the pool was killed, its
# child may live a moment longer and make a file while `rm` runs. `rm` then
# fails, so the script tries again, for about ten seconds. The script ignores
# SIGPIPE, because the process that reads the name may be killed before that.
DIRECTORY_OF_A_POOL = """trap '' HUP INT PIPE QUIT TERM
directory=$(mktemp -d) || exit
echo "$directory" 2>/dev/null
exec >/dev/null
cat
for attempt in $(seq 100); do
  rm -rf -- "$directory" 2>/dev/null && exit
  sleep 0.1
done
rm -rf -- "$directory"
"""


def each(function: Callable[[Any], Any],
         things: Iterable[Any]) -> Iterator[Any]:
    """Yields the result of `function` for each of the `things`, in their
    order. The function is run in other processes (a pool) and must be
    importable by its name.

    The processes of the pool end when the calling process ends. For this
    purpose, the kernel ends a process of the pool when the thread that started
    this process ends. The calling thread therefore starts all processes of the
    pool itself. A process that another thread started would end together with
    that thread.

    A process that is ended by a signal cannot remove its temporary files. All
    temporary files are therefore in one directory. It is removed when the
    calling process and all processes of the pool have ended their work.
    """
    things = list(things)
    if not things:
        return
    remover = subprocess.Popen(
        ["sh", "-c", DIRECTORY_OF_A_POOL], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "TMPDIR": tempfile.gettempdir()})
    try:
        with remover.stdout:
            directory = remover.stdout.readline().rstrip("\n")
        if not directory:
            raise LabError(f"no directory could be made in "
                           f"{tempfile.gettempdir()}. Set TMPDIR to a "
                           "directory with free space")
        pool = concurrent.futures.ProcessPoolExecutor(
            os.cpu_count(), multiprocessing.get_context("fork"), begin,
            (directory,))
        try:
            yield from pool.map(function, things)
        finally:
            pool.shutdown(cancel_futures=True)
    finally:
        # The script DIRECTORY_OF_A_POOL waits for the end of its standard
        # input, a pipe, and then removes the directory. The pipe ends when no
        # process holds its write end any longer. All forked processes have
        # ended, so only this process still holds it.
        remover.stdin.close()
        remover.wait()


def begin(directory: str) -> None:
    tempfile.tempdir = directory
    processes.end_with_parent(signal.SIGKILL)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
