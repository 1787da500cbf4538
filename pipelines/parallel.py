# SPDX-License-Identifier: LGPL-2.1-or-later
"""One function for many things, on all cores of this machine."""

import multiprocessing
import os
import signal

import children


def each(function, things):
    """What it makes of each, in their order. It must be known by name, as it
    runs in other processes, and these end with us. (None of them is replaced
    meanwhile: a thread would start it, and the kernel takes the end of that
    thread for ours.)"""
    with multiprocessing.get_context("fork").Pool(
            os.cpu_count(), begin) as pool:
        yield from pool.imap(function, things)


def begin():
    children.end_with_parent(signal.SIGKILL)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
