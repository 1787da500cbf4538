# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a cell in a directory on this machine and copies everything into the
directory of the cell when the run is complete.

On a cluster, the directory of the cell is in a file system that all nodes
share. Such a file system can be slow, so a log that is written to it would make
a run in real time late. A node that is lost leaves nothing there that looks
like a result, because the result is copied last.
"""

import os
import pathlib
import shutil
import tempfile

from wirelesslab import files
from wirelesslab.lab import cells

# These files belong to one of the two directories only.
NOT_COPIED = {cells.CELL, cells.LOCK, cells.RUN_OUT, cells.RESULT,
              files.RUNNING}


def run(directory: pathlib.Path, build: pathlib.Path) -> None:
    """Runs the cell of `directory` in a new directory below $TMPDIR. If the run
    fails, its logs are copied as well, but then there is no result.
    """
    # The name has the user's number, because users may share $TMPDIR.
    parent = pathlib.Path(tempfile.gettempdir(),
                          f"wireless-lab-{os.getuid()}")
    scratch = files.RunDirectory(parent, "cell-")
    try:
        shutil.copy(directory / cells.CELL, scratch.path)
        try:
            cells.run(scratch.path, build)
        except Exception:
            copy(scratch.path, directory)
            raise
        copy(scratch.path, directory)
    finally:
        scratch.close()


def copy(source: pathlib.Path, target: pathlib.Path) -> None:
    """Replaces the logs and the result of the cell in `target`. A node that was
    given up may end its run after all. Two nodes then copy the same cell, and
    the lock keeps their files apart."""
    with files.locked(target / cells.LOCK):
        cells.remove_old(target)
        for path in source.iterdir():
            if path.is_dir():
                shutil.rmtree(target / path.name, ignore_errors=True)
                shutil.copytree(path, target / path.name)
            elif path.name not in NOT_COPIED:
                shutil.copy(path, target / path.name)
        result = source / cells.RESULT
        if result.exists():
            files.write_whole(target / cells.RESULT, result.read_text())
