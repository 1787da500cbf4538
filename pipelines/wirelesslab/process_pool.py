# SPDX-License-Identifier: LGPL-2.1-or-later
"""One function for many things, on all cores of this machine."""

import concurrent.futures
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from wirelesslab import processes


def each(function: Callable[[Any], Any],
         things: Iterable[Any]) -> Iterator[Any]:
    """What it makes of each, in their order. It must be known by name, as it
    runs in other processes, and these end with us. (All of them are started at
    once: one that a thread starts later would end with that thread.)"""
    things = list(things)
    if not things:
        return
    pool = concurrent.futures.ProcessPoolExecutor(
        os.cpu_count(), multiprocessing.get_context("fork"), begin)
    try:
        yield from pool.map(function, things)
    finally:
        pool.shutdown(cancel_futures=True)


def begin() -> None:
    processes.end_with_parent(signal.SIGKILL)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
