# SPDX-License-Identifier: LGPL-2.1-or-later
"""Applies one function to many values on all processor cores."""

import concurrent.futures
import multiprocessing
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from wirelesslab import processes

SECONDS_TO_REMOVE = 5


def each(function: Callable[[Any], Any],
         things: Iterable[Any]) -> Iterator[Any]:
    """Yields the result of `function` for each of the `things`, in their order.
    The function is run in other processes and must be importable by its name.

    The other processes end when this process ends. The kernel ends such a
    process when the thread that started it ends, so the calling thread starts
    all of them itself.

    If a signal ends one of the other processes, that process cannot remove its
    temporary files. All temporary files are therefore in a directory that this
    process removes."""
    things = list(things)
    if not things:
        return
    directory = tempfile.mkdtemp()
    try:
        pool = concurrent.futures.ProcessPoolExecutor(
            os.cpu_count(), multiprocessing.get_context("fork"), begin,
            (directory,))
        try:
            yield from pool.map(function, things)
        finally:
            pool.shutdown(cancel_futures=True)
    finally:
        remove(directory)


def remove(directory: str) -> None:
    """Removes a temporary directory. If this process was interrupted, another
    process of the pool may still write files into the directory. This function
    therefore tries to remove it for up to SECONDS_TO_REMOVE."""
    deadline = time.monotonic() + SECONDS_TO_REMOVE
    while os.path.exists(directory) and time.monotonic() < deadline:
        shutil.rmtree(directory, ignore_errors=True)
        time.sleep(0.01)


def begin(directory: str) -> None:
    tempfile.tempdir = directory
    processes.end_with_parent(signal.SIGKILL)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
