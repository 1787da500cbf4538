# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program that is one endpoint of a workload. (A workload is traffic other
than video.) The program runs in a host of a testbed. It sends and receives
packets over a carrier, which is the transport of the workload, and logs the
times of the packets. Both endpoints run on one machine, so all times are from
the same clock.

The program waits for a line on its standard input before it begins. If it only
answers the other endpoint, it ends when its standard input is closed.
"""

import collections
import contextlib
import csv
import json
import os
import pathlib
import select
import shlex
import signal
import socket
import subprocess
import sys
import time
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from wirelesslab.descriptions import Workload

NS = 10**9
LARGEST = 65536
# HELLO is a special packet number. Packets with this number only show that the
# path is up, and are not part of the measurement. At most HELLOS such packets
# are sent, at intervals of SECONDS_BETWEEN_HELLOS seconds.
HELLO, SECONDS_BETWEEN_HELLOS, HELLOS = 0xFFFF, 3, 40
# Maximum time in s that a sender's pipeline may take from its start until its
# first packet.
SECONDS_TO_BEGIN = 60
# After its last packet, the sender of a voice call still waits for
# acknowledgements. If none has arrived for this time in s, the sender stops
# waiting, because no packet is in flight any more.
SECONDS_OF_QUIET = 5
# Size in bytes of an entry in an acknowledgement. An entry consists of the
# number of a packet (2 bytes) and an elapsed time (2 bytes) in units of
# ELAPSED_NS ns. The elapsed time is the time from the arrival of the packet to
# the acknowledgement.
ENTRY = 4
ELAPSED_NS = 100_000
STDIN = 0


class Reader:
    """Reads packets from a file descriptor. All packets have the same size."""

    def __init__(self, file: int, size: int) -> None:
        self._file, self._size, self._buffer = file, size, b""
        self.has_ended = False

    def files(self) -> list[int]:
        return [] if self.has_ended else [self._file]

    def fill(self) -> None:
        data = os.read(self._file, LARGEST)
        self._buffer += data
        self.has_ended = not data

    def check(self) -> None:
        if self.has_ended:
            sys.exit("could not complete the workload: the connection ended "
                     "before the last answer. Look for the reason in the log "
                     "of the other endpoint")

    def take(self) -> bytes | None:
        """Returns a complete packet, or None."""
        if len(self._buffer) < self._size:
            return None
        packet = self._buffer[:self._size]
        self._buffer = self._buffer[self._size:]
        return packet

    def wait(self, until_ns: float | None = None,
             or_end_of: tuple[()] | list[int] = ()) -> bytes | None:
        """Waits for the next packet and returns it. Returns None if no packet
        arrives before the time `until_ns`. Also returns None if a file in
        `or_end_of` reaches its end first, for example a pipe that another
        process has closed.
        """
        while True:
            packet = self.take()
            if packet is not None or self.has_ended:
                return packet
            left = None if until_ns is None \
                else max(until_ns - time.monotonic_ns(), 0) / NS
            ready = select.select([*self.files(), *or_end_of], [], [], left)[0]
            if not ready or any(file in ready for file in or_end_of):
                return None
            self.fill()


def write_all(file: int, data: bytes) -> None:
    while data:
        try:
            data = data[os.write(file, data):]
        except BlockingIOError:
            select.select([], [file], [])


def write_or_drop(file: int, data: bytes) -> bool:
    """Writes `data` to `file`. If writing would block, drops `data`, because a
    sender of live sound cannot wait. Returns whether `data` was written.
    """
    if not select.select([], [file], [], 0)[1]:
        return False
    write_all(file, data)
    return True


def numbered(number: int, size: int) -> bytes:
    """Returns a packet of `size` bytes that begins with `number`. The number
    is written in 8 bytes, with the lowest byte first (little-endian). If
    `size` is less than 8, the packet contains only the lowest bytes of the
    number.
    """
    return number.to_bytes(8, "little")[:size].ljust(size, b"\0")


def number_in(packet: bytes) -> int:
    return int.from_bytes(packet[:8], "little")


def sleep_until(ns: int) -> None:
    time.sleep(max(ns - time.monotonic_ns(), 0) / NS)


# ------------------------------------------------------------------------- bulk

def send_bulk(
        work: Workload, out: int, _incoming: int | None
) -> dict[str, tuple[tuple[str, str], list[tuple[Any, ...]]]]:
    log, sent = [], 0
    while sent < work["bytes"]:
        size = min(work["block"], work["bytes"] - sent)
        write_all(out, bytes(size))
        sent += size
        log.append((time.monotonic_ns(), sent))
    return {"sent.csv": (("time_ns", "bytes"), log)}


def receive_bulk(
        work: Workload, _out: int | None, incoming: int
) -> dict[str, tuple[tuple[str, str], list[tuple[Any, ...]]]]:
    """Receives a bulk transfer until all bytes have arrived. Gives up if
    nothing arrives for work["wait"] seconds.
    """
    log, total = [], 0
    while total < work["bytes"]:
        wait = work["wait"] if log else work["wait"] + SECONDS_TO_BEGIN
        if not select.select([incoming], [], [], wait)[0]:
            break
        data = os.read(incoming, LARGEST)
        if not data:
            break
        total += len(data)
        log.append((time.monotonic_ns(), total))
    return {"received.csv": (("time_ns", "bytes"), log)}


# --------------------------------------------------------- request-reply, calls

def ask(
        work: Workload, out: int, incoming: int
) -> dict[str, tuple[tuple[str, str, str, str], list[tuple[Any, ...]]]]:
    """Sends requests one after another and waits for the reply to each. If no
    reply arrives within work["wait"] seconds, the request counts as lost, and
    the next request is sent.
    """
    reader, log = Reader(incoming, work["reply"]), []
    for number in range(work["warm"] + work["count"]):
        if log:
            # A request and its reply are an exchange. Each workload has either
            # the key `every` or the key `pause`. `every` is the time in s from
            # the start of one request to the start of the next. `pause` is the
            # time in s from the end of an exchange to the next request.
            sleep_until(log[-1][2] + int(work["every"] * NS)
                        if "every" in work
                        else time.monotonic_ns() + int(work["pause"] * NS))
        request = numbered(number, work["request"])
        sent = time.monotonic_ns()
        write_all(out, request)
        reply = reader.wait(sent + int(work["wait"] * NS))
        while reply is not None and not is_answer(reply, request):
            reply = reader.wait(sent + int(work["wait"] * NS))
        reader.check()
        received = "" if reply is None else time.monotonic_ns()
        log.append((number, int(number < work["warm"]), sent, received))
    return {"exchanges.csv": (("number", "warm", "sent_ns", "received_ns"),
                              log)}


def is_answer(reply: bytes, request: bytes) -> bool:
    size = min(len(reply), len(request), 8)
    return reply[:size] == request[:size]


def answer(
        work: Workload, out: int, incoming: int
) -> dict[str, tuple[tuple[str, str, str], list[tuple[Any, ...]]]]:
    reader, log = Reader(incoming, work["request"]), []
    while True:
        request = reader.wait(or_end_of=[STDIN])
        if request is None:
            return {"answers.csv": (("number", "received_ns", "sent_ns"), log)}
        received = time.monotonic_ns()
        number = number_in(request)
        log.append((number, received, time.monotonic_ns()))
        write_all(out, numbered(number, work["reply"]))


# ------------------------------------------------------------------------ voice

def talk(
        work: Workload, out: int, incoming: int
) -> dict[str, tuple[tuple[str, str, str], list[tuple[Any, ...]]]]:
    """Sends the packets of a voice call at intervals of work["every"] seconds.
    Reads the acknowledgements that arrive between them. Returns the contents
    of the logs sent.csv and acknowledged.csv.
    """
    reader = Reader(incoming, work["acknowledgement"])
    greet(work, out, reader)
    sent, acknowledged = [], []
    begin = time.monotonic_ns()
    for number in range(work["packets"]):
        due = begin + int(number * work["every"] * NS)
        while time.monotonic_ns() < due:
            note(reader.wait(due), acknowledged)
        now = time.monotonic_ns()
        taken = write_or_drop(out, numbered(number, work["bytes"]))
        sent.append((number, now, int(taken)))
    while True:
        acknowledgement = reader.wait(
            time.monotonic_ns() + SECONDS_OF_QUIET * NS)
        reader.check()
        if acknowledgement is None:
            break
        note(acknowledgement, acknowledged)
    return {"sent.csv": (("number", "sent_ns", "taken"), sent),
            "acknowledged.csv": (("number", "received_ns", "elapsed_ns"),
                                 acknowledged)}


def greet(work: Workload, out: int, reader: Reader) -> None:
    """Sends HELLO packets to the other endpoint until it answers. The answer
    shows that both directions of the path are up.
    """
    for _ in range(HELLOS):
        write_all(out, numbered(HELLO, work["bytes"]))
        if reader.wait(time.monotonic_ns() + SECONDS_BETWEEN_HELLOS * NS):
            return
    sys.exit(f"could not reach the other endpoint: it did not answer {HELLOS} "
             "HELLO packets. Check the pipelines of the protocol, and that "
             "the link works in both directions")


def note(acknowledgement: bytes | None,
         log: list[tuple[int, int, int]]) -> None:
    now = time.monotonic_ns()
    for place in range(0, len(acknowledgement or b""), ENTRY):
        number, elapsed = (
            int.from_bytes(acknowledgement[at:at + 2], "little")
            for at in (place, place + 2))
        if number != HELLO:
            log.append((number, now, elapsed * ELAPSED_NS))


def listen(
        work: Workload, out: int, incoming: int
) -> dict[str, tuple[tuple[str, str], list[tuple[Any, ...]]]]:
    """Acknowledges the packets that arrive, and returns a log of their
    arrivals. One acknowledgement covers several packets. It is sent as soon as
    it is full, but at the latest work["acknowledge"] seconds after the arrival
    of its first packet.
    """
    reader = Reader(incoming, work["bytes"])
    room = work["acknowledgement"] // ENTRY
    log, waiting, due = [], collections.deque(), None
    while True:
        packet = reader.wait(due, or_end_of=[STDIN])
        now = time.monotonic_ns()
        if packet is None and (due is None or now < due):
            return {"received.csv": (("number", "received_ns"), log)}
        if packet is not None:
            number = int.from_bytes(packet[:2], "little")
            if number == HELLO:
                write_or_drop(out, acknowledge([], room, now))
                continue
            log.append((number, now))
            waiting.append((number, now))
            due = due or now + int(work["acknowledge"] * NS)
        if len(waiting) >= room or (due and now >= due):
            write_or_drop(out, acknowledge(waiting, room, now))
            waiting.clear()
            due = None


def acknowledge(packets: Sequence[tuple[int, int]], room: int,
                now: int) -> bytes:
    """Returns an acknowledgement with `room` entries. An entry contains the
    number of a packet, and the time for which this program held the packet
    before it sent the acknowledgement (Erixzon, equation 5.3). If there are
    fewer packets than entries, the unused entries contain the number HELLO.
    """
    found = b"".join(
        number.to_bytes(2, "little")
        + min((now - received) // ELAPSED_NS, 0xFFFF).to_bytes(2, "little")
        for number, received in packets)
    nobody = HELLO.to_bytes(2, "little") + bytes(2)
    return found + nobody * (room - len(packets))


# --------------------------------------------------------------------- carriers

# Maps each kind of workload to a pair of functions. The endpoint that begins
# the workload runs the first function. The other endpoint runs the second one.
ENDS = {
    "bulk": (send_bulk, receive_bulk),
    "request-reply": (ask, answer),
    "dial-up": (ask, answer),
    "voice": (talk, listen),
}


def launch(words: Any, pipelines: list[subprocess.Popen[bytes]],
           **files: Any) -> subprocess.Popen[Any]:
    """Starts a pipeline in a new process. Returns the process, and adds it to
    the list `pipelines`. `words` is the launch line of the pipeline, divided
    into words. `files` maps names to file descriptors, which the process
    inherits. A word may contain such a name in braces. The name and the braces
    are then replaced by the number of the file descriptor.
    """
    names = {name: str(file) for name, file in files.items()}
    pipelines.append(subprocess.Popen(
        ["gst-launch-1.0", "-q", "-e",
         *(word.format_map(names) for word in words)],
        stdin=subprocess.DEVNULL, stdout=sys.stderr,
        pass_fds=list(files.values())))
    return pipelines[-1]


def open_receiver(spec: dict[str, Any],
                  pipelines: list[subprocess.Popen[bytes]],
                  stack: contextlib.ExitStack) -> int | None:
    """Starts the pipeline that receives packets. Returns the file descriptor
    from which this program reads the packets. If this endpoint receives no
    packets, starts nothing and returns None.
    """
    if not spec["receiver"]:
        return None
    incoming, output = os.pipe()
    stack.callback(end, launch(spec["receiver"], pipelines, output=output))
    os.close(output)
    return incoming


def open_sender(spec: dict[str, Any], pipelines: list[subprocess.Popen[bytes]],
                stack: contextlib.ExitStack) -> int | None:
    if not spec["sender"]:
        return None
    pipe, out = os.pipe()
    stack.callback(end, launch(spec["sender"], pipelines, input=pipe))
    os.close(pipe)
    return out


def fail_with(pipelines: list[subprocess.Popen[bytes]]) -> None:
    """Makes this program end as soon as one of `pipelines` fails. Without
    this, the program would wait for an answer that cannot arrive.
    """
    def look(_number: int, _frame: types.FrameType | None) -> None:
        for child in pipelines:
            if (child.poll() or 0) > 0:
                words: Any = child.args
                sys.exit("could not run the workload: a pipeline failed, "
                         f"{shlex.join(words)}. Correct the protocol as the "
                         "messages of the pipeline in this log say")

    signal.signal(signal.SIGCHLD, look)


def end(child: subprocess.Popen[Any]) -> None:
    if child.poll() is None:
        child.kill()
    child.wait()


def without_delay(own: socket.socket) -> socket.socket:
    own.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return own


def wait_for_word() -> None:
    if not os.read(STDIN, LARGEST):
        sys.exit("standard input ended before the start of the workload")


def use_socket(
        spec: dict[str, Any], work: Workload, function: Callable[..., Any],
        stack: contextlib.ExitStack
) -> dict[str, tuple[tuple[str, ...], list[tuple[Any, ...]]]]:
    address = spec["address"], spec["port"]
    if spec["begins"]:
        wait_for_word()
        own = socket.create_connection(address)
    else:
        server = stack.enter_context(socket.create_server(address))
        wait_for_word()
        own, _ = server.accept()
    stack.enter_context(without_delay(own))
    return function(work, own.fileno(), own.fileno())


def use_pipelines(
        spec: dict[str, Any], work: Workload, function: Callable[..., Any],
        stack: contextlib.ExitStack
) -> dict[str, tuple[tuple[str, ...], list[tuple[Any, ...]]]]:
    pipelines = []
    incoming = open_receiver(spec, pipelines, stack)
    wait_for_word()
    if function in (ask, talk):
        fail_with(pipelines)
    out = open_sender(spec, pipelines, stack)
    found = function(work, out, incoming)
    if function is send_bulk:
        # Closing `out` loses no data. Bytes that are still in the pipe are
        # sent before the pipeline notices the end of its input.
        os.close(out)
        # Waits until the standard input of this process is closed. This
        # happens when the other endpoint has received all data.
        os.read(STDIN, LARGEST)
    return found


def save(directory: pathlib.Path,
         logs: Mapping[str, tuple[Sequence[str], Iterable[Any]]]) -> None:
    for name, (heads, rows) in logs.items():
        with open(directory / name, "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(heads)
            writer.writerows(rows)


def main() -> None:
    spec = json.loads(pathlib.Path(sys.argv[1]).read_text())
    work = spec["workload"]
    function = ENDS[work["kind"]][0 if spec["begins"] else 1]
    use = use_socket if spec["socket"] else use_pipelines
    with contextlib.ExitStack() as stack:
        try:
            logs = use(spec, work, function, stack)
        except OSError as error:
            sys.exit("could not run the workload: the carrier failed: "
                     f"{error}. Check the protocol in the matrix file, and "
                     "the log of the other endpoint")
        save(pathlib.Path(spec["directory"]), logs)
