# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a directory for each run, and removes the directories of runs that
were killed.

A process that is killed with SIGKILL cannot remove its own directory. Each run
therefore holds a file lock, which the kernel releases when the process ends.
The next run removes each directory whose lock is free.
"""

import contextlib
import fcntl
import pathlib
import shutil
import tempfile
from collections.abc import Iterator

from wirelesslab.errors import LabError

# Name of a lock file. Each run makes a directory of its own and puts a file of
# this name into it. The process of the run locks this file until the run ends.
#
# If a later run finds such a file and can lock it, the process of the earlier
# run was killed. The later run then removes the directory of the earlier run.
# If a run wants to keep its directory, it deletes the lock file when it ends.
#
# No other program uses this file name. Directories of other programs in the
# same parent directory are therefore never removed.
RUNNING = ".wireless-running"


@contextlib.contextmanager
def locked(path: pathlib.Path, mode: str = "a",
           wait: bool = True) -> Iterator[None]:
    """Locks the file `path` while the `with` block runs. If another process
    has locked the file, this function waits until the lock is free. If `wait`
    is false, this function does not wait, but raises BlockingIOError.
    """
    with open(path, mode) as file:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield


def write_whole(path: pathlib.Path, text: str) -> None:
    """Replaces the file as a whole, so that no reader ever finds half of the
    text.
    """
    unfinished = path.with_name(f".{path.name}")
    try:
        unfinished.write_text(text)
        unfinished.replace(path)
    # error.strerror says why the file could not be written, for example
    # because the disk is full, but does not name the file. The path is
    # therefore added.
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}") from None


def check_own(path: pathlib.Path, marker: str) -> None:
    """Raises LabError if `path` must not be emptied, because another program
    may have made it. This is the case in two situations:
    - `path` is a symbolic link or a file.
    - `path` is a directory that is not empty and does not contain the file
      `marker`, which this program puts into its directories.
    """
    if path.is_symlink():
        raise LabError(f"{path} is a symbolic link, which is not replaced: "
                       "remove it or choose another name")
    if path.exists() and not path.is_dir():
        raise LabError(f"{path} is not a directory: remove it or choose "
                       "another name")
    if path.exists() and not (path / marker).is_file() \
            and any(path.iterdir()):
        raise LabError(
            f"{path} was not made by this program, which therefore does not "
            "replace it: remove it or choose another name")


def empty(path: pathlib.Path, marker: str) -> None:
    """Makes the directory `path`. If it exists already, everything in it is
    deleted except the file `marker`. This file shows that this program has
    made the directory. Raises LabError if another program may have made it.
    """
    check_own(path, marker)
    try:
        path.mkdir(parents=True, exist_ok=True)
        # A file with the name `marker` shows that this program has made the
        # directory. It is created before other files are deleted, and is never
        # removed. If this process is killed during the deletion, the next
        # process still finds this file, and may empty the directory.
        (path / marker).touch()
        for entry in path.iterdir():
            if entry.name == marker:
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}") from None


class RunDirectory:
    """A directory for the files of one run. close() removes the directory,
    unless `keep` is true.
    """

    def __init__(self, parent: pathlib.Path, prefix: str) -> None:
        self.keep = False
        self._parent = parent
        self._lock = contextlib.ExitStack()
        parent.mkdir(exist_ok=True)
        # The lock of the parent directory is held while a new directory is
        # made and locked. Without this lock, another process could find the
        # new directory before it is locked. The other process would conclude
        # that a killed run has left the directory behind, and would remove it.
        with locked(parent / ".lock"):
            _remove_forgotten(parent)
            self.path = pathlib.Path(
                tempfile.mkdtemp(prefix=prefix, dir=parent))
            self._lock.enter_context(locked(self.path / RUNNING))

    def close(self) -> None:
        with locked(self._parent / ".lock"), self._lock:
            if self.keep:
                (self.path / RUNNING).unlink()
            else:
                shutil.rmtree(self.path)


def _remove_forgotten(parent: pathlib.Path) -> None:
    for running in parent.glob(f"*/{RUNNING}"):
        with contextlib.suppress(BlockingIOError), \
                locked(running, "r", wait=False):
            shutil.rmtree(running.parent)
