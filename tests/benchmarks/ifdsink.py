#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the bytes per second of ifdsink and tcpclientsink on a fast link.

    meson test -C build --benchmark -v ifdsink

Both elements send the same file over the loopback interface with sync=false.
The file is read from the file cache. A reader counts the received bytes, and
measures the time from the first byte to the last byte. The two elements are
measured alternately. The printed rates are medians with minimum and maximum.

The program fails if an element does not run, or if it sends anything other
than the frames of the file. It does not fail because an element is slow.
"""

import argparse
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import threading
import time

from wirelesslab.errors import LabError
from wirelesslab.streams import clips

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WIRELESS_BUILD_DIR", SOURCE / "build"))


SINKS = {
    "ifdsink": "ifdsink sync=false",
    "tcpclientsink": "tcpclientsink sync=false",
}
TARGET = 0.9
SECONDS = 120  # Maximum seconds for a pipeline.
READ_SIZE = 1 << 20
# The start code of an MPEG sequence header. Each stream begins with such a
# header.
START = b"\0\0\1\xb3"


class Failed(Exception):
    pass


class Reader(threading.Thread):
    """Reads from one connection and counts the bytes that arrive."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(SECONDS)
        self.port = self.listener.getsockname()[1]
        self.bytes, self.seconds, self.beginning = 0, 0.0, b""

    def run(self):
        with self.listener:
            connection, _ = self.listener.accept()
        buffer = bytearray(READ_SIZE)
        began = None
        with connection:
            while size := connection.recv_into(buffer):
                if began is None:
                    began = time.monotonic()
                    self.beginning = bytes(buffer[:len(START)])
                self.bytes += size
            self.seconds = time.monotonic() - (began or 0)


def make_stream(size):
    """Makes a file of about `size` bytes, which contains the clip several
    times. Returns its path. If the file exists already, it is not made again.
    """
    clip = clips.make_clip(BUILD, 6)
    path = BUILD / "benchmarks" / f"bunny-6M-{size // 1000000}MB-whole.m2v"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        data = clip.read_bytes()
        partial = path.with_suffix(f".{os.getpid()}")
        with partial.open("wb") as out:
            for _ in range(max(size // len(data), 1)):
                out.write(data)
        partial.rename(path)
    return path


def measure(sink, stream):
    """Sends the file `stream` through the element with the name `sink`.
    Returns the bytes per second, and the share of the file that arrived.
    """
    reader = Reader()
    reader.start()
    line = (f"gst-launch-1.0 -q filesrc location={stream} ! {SINKS[sink]} "
            f"host=127.0.0.1 port={reader.port}")
    done = subprocess.run(line.split(), stdin=subprocess.DEVNULL,
                          timeout=SECONDS)
    if done.returncode:
        raise Failed(f"{line}: exit status {done.returncode}")
    reader.join(SECONDS)
    if reader.is_alive() or not reader.bytes or reader.beginning != START:
        raise Failed(f"{line}: not the film arrived")
    return (reader.bytes / reader.seconds,
            reader.bytes / stream.stat().st_size)


def show(runs):
    for sink, values in runs.items():
        rates = [rate / 1e6 for rate, _ in values]
        print(f"    {sink:14} {statistics.median(rates):7.0f} Mbyte/s "
              f"({min(rates):.0f} to {max(rates):.0f}), "
              f"{statistics.median(v[1] for v in values):.0%} of the stream")
    ours, peer = ([rate for rate, _ in runs[sink]] for sink in SINKS)
    rounds = [a / b for a, b in zip(ours, peer)]
    ratio = statistics.median(ours) / statistics.median(peer)
    print(f"    ifdsink : tcpclientsink = {ratio:.2f} "
          f"({min(rounds):.2f} to {max(rounds):.2f})"
          + ("" if ratio >= TARGET else f"   <== less than {TARGET}"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5,
                        help="number of runs of each element "
                        "(default: %(default)s)")
    parser.add_argument("--megabytes", type=int, default=270,
                        help="size of the sent file in MB "
                        "(default: %(default)s)")
    options = parser.parse_args()
    try:
        stream = make_stream(options.megabytes * 1000000)
        # The first run of each sink is slower, because it fills the plugin
        # registry and the file cache. Its result is therefore ignored.
        for sink in SINKS:
            measure(sink, stream)
        runs = {sink: [] for sink in SINKS}
        for _ in range(options.runs):
            for sink in SINKS:
                runs[sink].append(measure(sink, stream))
    except (Failed, LabError) as failure:
        sys.exit(f"{parser.prog}: {failure}")
    print(f"TCP over the loopback, {stream.stat().st_size} bytes, median of "
          f"{options.runs} (least to most)")
    show(runs)


if __name__ == "__main__":
    main()
