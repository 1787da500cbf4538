# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a run that was killed could not clean up, found and removed by the next.

Nobody runs code on kill -9, so each run holds a lock that the kernel gives back
for it: what lies there without its lock is nobody's.
"""

import contextlib
import fcntl
import pathlib
import shutil
import tempfile
from collections.abc import Iterator

from wirelesslab.errors import LabError

# In a directory that is not to be kept. No other program has this name: the
# parent may be a directory in which others work too.
RUNNING = ".wireless-running"


@contextlib.contextmanager
def locked(path: pathlib.Path, mode: str = "a",
           wait: bool = True) -> Iterator[None]:
    """With the lock of a file; BlockingIOError if it is taken and not to be
    waited for."""
    with open(path, mode) as file:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield


def write_whole(path: pathlib.Path, text: str) -> None:
    """So that who finds the file never finds half of it."""
    unfinished = path.with_name(f".{path.name}")
    try:
        unfinished.write_text(text)
        unfinished.replace(path)
    except OSError as error:  # of a full disk that doesn't name the file
        raise LabError(f"{path}: {error.strerror}") from None


def check_own(path: pathlib.Path, marker: str) -> None:
    """LabError where a directory is that has no file `marker`, which means that
    somebody else filled it, or a symbolic link, whatever it leads to."""
    if path.is_symlink():
        raise LabError(f"{path} is a symbolic link: remove it, or name "
                       "another place")
    if path.exists() and not path.is_dir():
        raise LabError(f"{path} is no directory: remove it, or name "
                       "another place")
    if path.exists() and not (path / marker).is_file() \
            and any(path.iterdir()):
        raise LabError(
            f"{path} was not made by this program, which therefore does not "
            "replace it: remove it, or name another place")


def empty(path: pathlib.Path, marker: str) -> None:
    """Makes or empties a directory of our own, but for its file `marker`."""
    check_own(path, marker)
    try:
        path.mkdir(parents=True, exist_ok=True)
        # The marker comes first and stays: who is killed here leaves it behind.
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
    """A directory for one run, gone after it unless `keep` is set."""

    def __init__(self, parent: pathlib.Path, prefix: str) -> None:
        self.keep = False
        self._parent = parent
        self._lock = contextlib.ExitStack()
        parent.mkdir(exist_ok=True)
        # Under one lock for all: nobody takes a directory for forgotten whose
        # owner is about to lock it.
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
