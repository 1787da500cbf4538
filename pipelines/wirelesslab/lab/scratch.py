# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a cell (one experiment of the lab) in a local directory. When the run
is complete, copies its logs and its result into the directory of the cell.

On a cluster, the directory of the cell is in a file system that all nodes
share. Such a file system can be slow. A run takes place in real time, and
writing its logs there would delay it. The result is copied last. If the node
fails in the middle of a run, the directory of the cell therefore contains no
result.
"""

import os
import pathlib
import shutil
import tempfile

from wirelesslab import files
from wirelesslab.lab import cells

# Names of files that are not copied together with the logs. RESULT, the file
# with the result, is copied at the end, after all logs. The other files are
# never copied: the description of the experiment, the locks and the output of
# the run. They belong to the directory in which they were made.
NOT_COPIED = {cells.CELL, cells.LOCK, cells.RUN_OUT, cells.RESULT,
              files.RUNNING}


def run(directory: pathlib.Path, build: pathlib.Path) -> None:
    """Runs the experiment that is described in `directory`. All files are
    written into a new directory below $TMPDIR. After the run, the logs and the
    result are copied to `directory`. A failed run has no result, so only its
    logs are copied.
    """
    # The name of the parent directory contains the user ID, because several
    # users may share $TMPDIR.
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
    """Replaces the logs and the result in the directory `target` by the files
    of the directory `source`. Two nodes may do this for the same `target`: if
    one node seems to be lost, its run is repeated on another node, but the
    first node may still finish the run. `target` is locked while files are
    copied, so that the files of the two nodes are not mixed.
    """
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
