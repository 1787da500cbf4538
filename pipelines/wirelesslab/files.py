# SPDX-License-Identifier: LGPL-2.1-or-later
"""Directories of runs, and their removal after a run that was killed.

No code runs after a kill -9. Each run therefore holds a file lock, which the
kernel releases when the process ends. The next run removes each directory whose
lock is free.
"""

import contextlib
import fcntl
import pathlib
import shutil
import tempfile
from collections.abc import Iterator

from wirelesslab.errors import LabError

# Each run has a directory with a file of this name, and locks the file until
# the run ends. If the lock is free, the run was killed, and the next run
# removes the directory. To keep a directory, a run deletes this file when the
# run ends. No other program uses this name, so the directories of other
# programs in the same parent are never removed.
RUNNING = ".wireless-running"


@contextlib.contextmanager
def locked(path: pathlib.Path, mode: str = "a",
           wait: bool = True) -> Iterator[None]:
    """Holds the lock of the file `path` while the `with` block runs. If the
    lock is taken by another process and `wait` is false, raises
    BlockingIOError."""
    with open(path, mode) as file:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield


def write_whole(path: pathlib.Path, text: str) -> None:
    """Writes the file in one step, so that no reader ever finds half of the
    text.
    """
    unfinished = path.with_name(f".{path.name}")
    try:
        unfinished.write_text(text)
        unfinished.replace(path)
    # The error of a full disk does not contain a file name, so the message adds
    # the name.
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}") from None


def check_own(path: pathlib.Path, marker: str) -> None:
    """Raises LabError if `path` must not be emptied, because another program
    may have made it. This is the case if `path` is a symbolic link or a file.
    It is also the case if `path` is a directory that is not empty and does not
    contain the file `marker`."""
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
    """Makes the directory `path`. If it exists already, deletes everything in
    it except the file `marker`. Raises LabError if another program may have
    made the directory (see check_own()).
    """
    check_own(path, marker)
    try:
        path.mkdir(parents=True, exist_ok=True)
        # The file `marker` is created before other files are deleted, and is
        # never removed. If this process is killed during the deletion, the next
        # process still recognises the directory as one that this program has
        # made.
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
    """A directory for one run. `close` removes it unless `keep` is set."""

    def __init__(self, parent: pathlib.Path, prefix: str) -> None:
        self.keep = False
        self._parent = parent
        self._lock = contextlib.ExitStack()
        parent.mkdir(exist_ok=True)
        # One lock covers the whole parent directory. It prevents another
        # process from removing a new directory before this process has locked
        # it.
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
