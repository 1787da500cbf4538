# SPDX-License-Identifier: LGPL-2.1-or-later
"""Streams and TCP transfers that fill a link, and measurements of what arrives.
A stream has a pipeline at each end. A TCP transfer uses the kernel's TCP."""

import contextlib
import itertools
import subprocess
import threading
import time

import linktestbed

PORT, TCP_PORT = 5004, 5001
# The tests read the messages of the emulated link from a debug log, so the
# variable GST_DEBUG is set in their environment. The pipelines in this file do
# not need the log, so they run with an empty GST_DEBUG.
QUIET = "GST_DEBUG= exec"
# A congestion control algorithm cannot be set for a network namespace, but it
# can be set for a route.
CONGESTION = "ip route replace 10.77.0.0/24 dev wl0 src $a congctl {}"


class Arrivals(threading.Thread):
    """Counts the bytes that are read from a pipe. After each read, appends a
    pair to `seen`: the time, and the total number of bytes until then."""

    def __init__(self, pipe):
        super().__init__()
        self.seen = []
        self._pipe = pipe
        self.start()

    def run(self):
        total = 0
        while data := self._pipe.read(1 << 16):
            total += len(data)
            self.seen.append((time.monotonic(), total))


def total(seen, moment):
    """Returns the number of bytes that had arrived before the time `moment`.
    `seen` is a list of pairs: a time, and the number of bytes until then."""
    before = [size for arrival, size in seen if arrival < moment]
    return before[-1] if before else 0


def rate(seen, begin, end):
    """Returns the rate in bit/s."""
    return 8 * (total(seen, end) - total(seen, begin)) / (end - begin)


def variation(seen, begin, end):
    """Counts the bytes that arrived in each second from `begin` to `end`.
    Returns the coefficient of variation of these numbers: the standard
    deviation divided by the mean.
    """
    each = [total(seen, begin + second + 1) - total(seen, begin + second)
            for second in range(int(end - begin))]
    mean = sum(each) / len(each)
    return (sum((size - mean) ** 2 for size in each) / len(each)) ** 0.5 / mean


def silences(seen, minimum):
    """Returns [(begin, length)] of all periods of at least `minimum` seconds
    in which no bytes arrived. `seen` is a list of pairs: the time of an
    arrival, and the number of bytes that had arrived by then.
    """
    return [(before, after - before) for (before, _), (after, _)
            in itertools.pairwise(seen) if after - before >= minimum]


def fairness(rates):
    """Returns Jain's index of fairness."""
    return sum(rates) ** 2 / (len(rates) * sum(rate ** 2 for rate in rates))


class Stream:
    """A stream that GStreamer sends from host a to host b. `sink` is the
    element that sends, and `source` is the element that receives. The stream
    consists of buffers of `size` bytes and has the bitrate `offered` in bit/s.
    If `offered` is 0, the buffers are sent as fast as the sink accepts them.
    """

    def __init__(self, case, bed, sink, source, size, offered=0, port=PORT,
                 binds="udp"):
        self._source = bed.popen(
            "b", f"{QUIET} gst-launch-1.0 -q {source.format(port=port)} "
            "! fdsink fd=1", stdout=subprocess.PIPE, bufsize=0)
        bed.wait_listening("b", binds, port)
        self._arrivals = Arrivals(self._source.stdout)
        sink = sink.format(port=port, to=bed.variables("a")["b"])
        self._sink = bed.popen(
            "a", f"{QUIET} gst-launch-1.0 -m fdsrc fd=0 do-timestamp=true "
            f"blocksize={size} ! {sink}", stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        self._pump = threading.Thread(target=self._write, args=(size, offered),
                                      daemon=True)
        self._pump.start()
        self._messages = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        case.addCleanup(self.stop)
        self._is_stopped = False

    def _write(self, size, offered):
        period = 8 * size / offered if offered else 0
        due = time.monotonic()
        with contextlib.suppress(BrokenPipeError, ValueError):
            while True:
                time.sleep(max(0, due - time.monotonic()))
                due += period
                self._sink.stdin.write(bytes(size))
                self._sink.stdin.flush()

    def _read(self):
        self._messages.extend(
            line.decode() for line in iter(self._sink.stdout.readline, b""))

    def stop(self):
        """Ends the stream. Returns two lists: pairs (time, number of bytes that
        had arrived by this time), and the messages of the sink.
        """
        if not self._is_stopped:
            self._is_stopped = True
            self._sink.kill()
            self._source.terminate()
            for thread in (self._arrivals, self._reader, self._pump):
                thread.join()
            for child in (self._sink, self._source):
                child.wait()
            with contextlib.suppress(BrokenPipeError):
                self._sink.stdin.close()
            self._sink.stdout.close()
            self._source.stdout.close()
        return self._arrivals.seen, self._messages


class FlowCase(linktestbed.LinkCase):

    def start_tcp(self, bed, seconds, congestion="cubic", port=TCP_PORT,
                  taken=()):
        """Starts a TCP transfer from host a to host b that sends as fast as
        TCP allows. Host b receives with the command `pull`. `taken` contains
        options that limit how fast `pull` reads. Returns the receiver. The
        caller passes it to finish(), which returns a list of pairs: a time,
        and the number of bytes that had arrived by then.
        """
        bed.run("a", CONGESTION.format(congestion), check=True)
        receiver = self.start_receiver(bed, "b", "tcp", port, "pull",
                                       "0.0.0.0", port, seconds, *taken)
        self.start(bed, "a", "push", bed.variables("a")["b"], port)
        return receiver
