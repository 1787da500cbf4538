# SPDX-License-Identifier: LGPL-2.1-or-later
"""Streams a clip over a transport in real time and shows what arrived.

The pipelines are in transports.ini. This module starts the end that listens,
usually the receiver, and waits until this end is ready. Then the module starts
the other end. It watches the pipelines of both ends, and ends them.
"""

import contextlib
import os
import pathlib
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any

from wirelesslab import paths, processes
from wirelesslab.descriptions import Protocol
from wirelesslab.errors import LabError
from wirelesslab.streams import (
    clips,
    frame_log,
    placement,
    progress,
    transports,
)

# The maximum time in s until a pipeline is ready. It is long because GStreamer
# scans all plugins when it is started for the first time.
SECONDS_TO_START = 60
# If no frame has arrived for this time, in s, after the end of the sender, it
# is assumed that no frame is in flight any more.
SECONDS_OF_QUIET = 1.0
# The maximum time in s for sending a clip. It is long, because TCP takes up to
# seven times as long as the film plays (table 3.7 of Ouwens 2006).
SECONDS_TO_SEND = 1200
SECONDS_TO_DRAIN = 60
SECONDS_TO_END = 10
# Some pipelines end only if they get SIGINT. A pipeline that is still running
# this number of seconds after SIGINT is killed.
SECONDS_TO_ASK = 2
GST_LAUNCH = ("gst-launch-1.0", "-e")
WARNING = re.compile(r"^WARNING: from element (\S*): (.*)$", re.M)


class Launch:
    """A process of gst-launch-1.0 together with its output. `program` is the
    command to start. By default it is gst-launch-1.0 itself. It can also be
    another program that starts gst-launch-1.0.
    """

    def __init__(self, role: str, pipeline: str, values: dict[str, Any],
                 place: placement.Place, program: Sequence[str] = GST_LAUNCH,
                 name: str = "") -> None:
        self.role = role
        self.called = f"{name}: the {role}" if name else f"the {role}"
        self._place = place
        # The output is kept in memory and not in a file, because a file would
        # be incomplete if the disk is full.
        self._output = os.memfd_create(role)
        # The text of the pipeline is split into words before its placeholders
        # are replaced by values. A value with a blank in it therefore stays
        # one word.
        words = [word.format_map(values) for word in shlex.split(pipeline)]
        self.child = place.start(role, [*program, *words], self._output)

    def output(self) -> str:
        size = os.fstat(self._output).st_size
        return os.pread(self._output, size, 0).decode(errors="replace")

    def save_output(self, run_dir: pathlib.Path) -> None:
        with contextlib.suppress(OSError):
            (run_dir / f"{self.role}.out").write_text(self.output())

    def warnings(self) -> list[str]:
        """Returns the warnings that elements have printed, each warning only
        once.
        """
        return list(dict.fromkeys(
            f"{element.rpartition(':')[2]}: {words}"
            for element, words in WARNING.findall(self.output())))

    def check_log(self, log: pathlib.Path) -> None:
        """Raises LabError if an element could not write the file `log`
        completely. Results from an incomplete log would be wrong, and nothing
        would show it.
        """
        for words in self.warnings():
            if str(log) in words:
                raise LabError(f"{self.called}'s {words}")

    def ended(self) -> bool:
        return self.child.poll() is not None

    def interrupt(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.child.send_signal(signal.SIGINT)

    def finish(self) -> None:
        """Waits until the process ends. Raises LabError if the process fails,
        or if it is still running after SECONDS_TO_END seconds.
        """
        try:
            self._place.finish(self.child, SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._place.kill(self.child)
            raise self.failure("did not end") from None
        self.check()

    def check(self) -> None:
        """Raises LabError if the process has failed."""
        if self.child.poll():
            raise self.failure(
                f"failed ({processes.describe(self.child.returncode)})")

    def end(self) -> None:
        """Ends a pipeline that would otherwise run forever. First sends
        SIGINT, which asks the pipeline to end. If the pipeline is still
        running SECONDS_TO_ASK seconds later, it is killed. The exit status of
        the pipeline is ignored, because a pipeline may fail when its link has
        ended.
        """
        self.interrupt()
        try:
            self._place.finish(self.child, SECONDS_TO_ASK)
        except subprocess.TimeoutExpired:
            self._place.kill(self.child)

    def failure(self, what: str) -> LabError:
        return LabError(f"{self.called} {what}. The end of its output:\n"
                        + processes.tail(self.output()))


def wait_until_ready(end: Launch, place: placement.Place, binds: str,
                     ports: list[int]) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while not all(place.is_ready(end.role, end.child, binds, port)
                  for port in ports):
        place.check()
        if end.ended():
            end.finish()
            raise end.failure("ended before anything was sent")
        if time.monotonic() > deadline:
            raise end.failure(f"did not open {binds} port "
                              + " and ".join(map(str, ports)))
        time.sleep(0.02)


class Stream:
    """The transmission of one clip from a sender to a receiver. The directory
    `run_dir` contains the logs of both ends. If there are several streams at
    the same time, each has a `name`.
    """

    SENDER = GST_LAUNCH  # The program that runs the sender of this stream.

    def __init__(self, transport: Protocol, clip: pathlib.Path, port: int,
                 run_dir: pathlib.Path, place: placement.Place,
                 name: str = "") -> None:
        self._name = name
        self._transport, self._place = transport, place
        self._run_dir, self._port = run_dir, port
        self._sent_path = run_dir / "sent.csv"
        self._received_path = run_dir / "received.csv"
        self._values = {
            "port": port, "clip": clip,
            "sent": self._sent_path, "received": self._received_path,
            "sound_port": port + 1, "sound": run_dir / "sound.mp2",
            **{f"port+{n}": port + n for n in range(1, placement.MAX_PORTS)},
        }
        self.sent = frame_log.Log(self._sent_path)
        self.received = frame_log.Log(self._received_path)
        self._frames = (None if transports.ends(transport)
                        else clips.count_frames(clip))
        self._ends = {}  # {role: its process}
        self._is_sending = False

    @property
    def _sender(self) -> Launch:
        return self._ends["sender"]

    @property
    def _receiver(self) -> Launch:
        return self._ends["receiver"]

    def _launch(self, role: str) -> None:
        """Starts the pipeline of the sender or of the receiver, as `role`
        says. The placeholder {host} in the pipeline stands for the address of
        the end that listens.
        """
        host = self._place.address(role, transports.listener(self._transport))
        program = self.SENDER if role == "sender" else GST_LAUNCH
        if role == "sender" and transports.is_asked(self._transport):
            program = (*paths.command("streams.http_server"), host,
                       str(self._port),
                       *GST_LAUNCH, "-q")
        paths_of_links = self._place.paths(
            role, transports.listener(self._transport), self._port)
        if transports.is_over_mptcp(self._transport):
            program = (*paths.command("streams.mptcp_socket"), role, host,
                       str(self._port), *program, "-q")
        peer = self._place.address(
            role, next(other for other in placement.ROLES if other != role))
        self._ends[role] = Launch(
            role, self._transport[role],
            {**self._values, **paths_of_links, "host": host, "peer": peer,
             "own": self._place.address(role, role)},
            self._place, program, self._name)

    def listen(self) -> None:
        role = transports.listener(self._transport)
        self._launch(role)
        wait_until_ready(
            self._ends[role], self._place, self._transport["binds"],
            transports.ports_of(self._transport, self._port))

    def begin(self) -> None:
        """Starts the sender if the receiver listens, or the receiver if the
        sender listens. Which of them listens depends on the transport. The one
        that listens was started before.
        """
        for role in placement.ROLES:
            if role not in self._ends:
                self._launch(role)
        self._is_sending = True
        self._progress = progress.Progress(self.sent, self.received,
                                           self._name)

    def check(self) -> None:
        for role, path in (("sender", self._sent_path),
                           ("receiver", self._received_path)):
            if role in self._ends:
                self._ends[role].check_log(path)

    def update(self, show: bool = True) -> bool:
        """Reads the lines that were added to the logs of both ends since the
        last call. Returns whether new frames have arrived.
        """
        return self._progress.update(show)

    def is_sending(self) -> bool:
        """Returns whether the sender is still sending. Sending ends when the
        process of the sender or of the receiver ends. Some senders do not end
        by themselves. Their sending ends when they have sent all frames.
        Raises LabError if the sender or the receiver has failed.
        """
        if self._is_sending:
            self._is_sending = not (
                self._sender.ended() or self._receiver.ended()
                or len(self.sent.frames) == self._frames)
            if not self._is_sending:
                self._check_end_of_sender()
        return self._is_sending

    def _check_end_of_sender(self) -> None:
        self._receiver.check()
        if transports.ends(self._transport):
            # With this transport, both pipelines end when the connection ends.
            # If the receiver has ended first, the process of the sender may
            # still be running, so it is waited for.
            self._sender.finish()

    def fail_late(self) -> None:
        raise self._sender.failure("did not end in time")

    def is_received(self) -> bool:
        """Returns whether the receiver has ended. It ends by itself when
        nothing more can arrive.
        """
        return self._receiver.ended()

    def end_sender(self) -> None:
        """Ends the sender, if it is one that does not end by itself."""
        if not transports.ends(self._transport):
            for end in self._ends.values():
                end.check()
            self._sender.end()

    def end(self) -> None:
        if transports.receiver_ends(self._transport):
            self._receiver.interrupt()
            self._receiver.finish()
        else:
            if transports.ends(self._transport):
                self._receiver.check()
            self._receiver.end()
        self._progress.update(show=False)
        self._progress.finish()
        self.check()
        if not self.sent.frames:
            raise self._sender.failure("sent no frame")
        if not self.received.frames and not self._place.loses:
            raise self._receiver.failure("received no frame")

    def save_output(self) -> None:
        for end in self._ends.values():
            end.save_output(self._run_dir)

    def warnings(self) -> list[Any]:
        """Returns the warnings that the elements of both pipelines printed."""
        return [f"{end.called}'s {words}"
                for end in (self._sender, self._receiver)
                for words in end.warnings()]


def send(streams: list[Stream], check: Callable[[], None],
         apart: float) -> None:
    """Starts the streams one after another, with `apart` seconds between two
    starts. Returns when all of them have been sent.
    """
    started = time.monotonic()
    begun = 0
    while begun < len(streams) or any(one.is_sending() for one in streams):
        elapsed = time.monotonic() - started
        if begun < len(streams) and elapsed >= begun * apart:
            streams[begun].begin()
            begun += 1
        for one in streams[:begun]:
            if one.is_sending() and elapsed > SECONDS_TO_SEND + begun * apart:
                one.fail_late()
            one.update()
        check()
        time.sleep(0.05)


def wait_for_quiet(streams: list[Stream],
                   carries: Callable[[], bool] = lambda: False) -> None:
    """Waits until the last frames of `streams` have passed the network and the
    jitter buffer, so that no more frames will arrive.
    """
    now = time.monotonic()
    deadline = now + SECONDS_TO_DRAIN
    last_frame = now
    while now < min(last_frame + SECONDS_OF_QUIET, deadline):
        if carries():
            last_frame = now
        elif all(one.is_received() for one in streams):
            break
        time.sleep(0.05)
        now = time.monotonic()
        # The progress is printed only while frames arrive. Without new frames,
        # the same line would be printed again and again, and the run would
        # seem to hang.
        if any([one.update(show=now - last_frame < progress.LIVE_EVERY)
                for one in streams]):
            last_frame = now


def stream(
        transport: Protocol, clip: pathlib.Path, port: int,
        run_dir: pathlib.Path, place: placement.Place
) -> tuple[frame_log.Log, frame_log.Log, list[Any]]:
    """Streams one clip with `transport` between two ends. `place` says where
    the ends run. Returns three values: the log of the sender, the log of the
    receiver, and the warnings of their pipelines.
    """
    one = Stream(transport, clip, port, run_dir, place)
    stream_all([one], place)
    return one.sent, one.received, one.warnings()


def stream_all(streams: list[Stream], place: placement.Place,
               apart: float = 0) -> None:
    """Sends all `streams` to their receivers. The streams are started one
    after another, with `apart` seconds between two starts. When all of them
    have ended, the emulated links between the two ends are stopped, if there
    are any.
    """
    def check() -> None:
        place.check()
        for one in streams:
            one.check()

    with contextlib.ExitStack() as stack:
        for one in streams:
            stack.callback(one.save_output)
            one.listen()
        place.begin()
        send(streams, check, apart)
        wait_for_quiet(streams)
        check()
        for one in streams:
            one.end_sender()
        if place.hang_up():
            wait_for_quiet(streams, place.carries)
        for one in streams:
            one.end()
