# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs workloads: sends data other than video over an emulated link. A run in
real time uses two hosts of a testbed, with one program in each host. A
computed run has no hosts and takes place in virtual time, including its link.
Both kinds of run write a log of each end and a log of the link.
"""

import contextlib
import fractions
import json
import pathlib
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from typing import Any

from wirelesslab import gst_environment, paths, processes
from wirelesslab.descriptions import Cell, Workload
from wirelesslab.errors import LabError
from wirelesslab.streams import placement, stream, transports
from wirelesslab.testbed import namespaces, testbed, wakeup_delay
from wirelesslab.workloads import definitions, endpoint

# The names of the two hosts of the testbed's link. The mobile host is the
# first one, so it is station 0 of the element wirelesslink.
HOSTS = (definitions.MOBILE, definitions.NETWORK)
SECONDS_TO_START = 60
SECONDS_TO_END = 30
SECONDS_TO_DRAIN = 60
SECONDS_BETWEEN_LOOKS = 0.05
PACKETS = "packets.bin"
WARNINGS_OF = ("begins.out", "answers.out")
IP_AND_UDP = 28


def hosts_of(workload: Workload) -> tuple[str, str]:
    """Returns the names of the two hosts of a workload. The first host begins
    the workload, and the second host answers.
    """
    first = workload["from"]
    return first, HOSTS[1 - HOSTS.index(first)]


def prepared(workload: Workload) -> dict[str, Any]:
    """Returns the workload together with values that its endpoints need. The
    added values depend on the kind of the workload:
    - "dial-up": values that describe requests and replies. A request starts a
      phone call, and the reply shows that the call was set up.
    - "voice": the number of packets and the size of an acknowledgement.
    - Other kinds: no values.
    """
    if workload["kind"] == "dial-up":
        size = workload["bytes"]
        return {**workload, "request": size, "reply": size, "warm": 0,
                "count": workload["calls"], "wait": workload["every"]}
    if workload["kind"] == "voice":
        return {**workload, "packets": definitions.packets(workload),
                "acknowledgement": acknowledgement(workload)}
    return workload


def acknowledgement(workload: Workload) -> int:
    """Returns the size in bytes of one acknowledgement. An acknowledgement has
    an entry for each packet that can arrive between two acknowledgements.
    """
    return endpoint.ENTRY * max(
        round(workload["acknowledge"] / workload["every"]), 1)


def sizes(work: Workload) -> tuple[int, int | None]:
    """Returns a pair of packet sizes in bytes. The first is the size of the
    packets from the host that begins the workload. The second is the size of
    the answers, or None if the workload has no answers.
    """
    if work["kind"] == "bulk":
        return work["block"], None
    if work["kind"] == "voice":
        return work["bytes"], work["acknowledgement"]
    return work["request"], work["reply"]


# ----------------------------------------------------------------- in real time

def over_sockets(cell: Cell, properties: str, directory: pathlib.Path,
                 build: pathlib.Path) -> tuple[list[float], list[Any], str]:
    """Runs the workload in real time. Returns three values:
    - a list of wake-up delays in ms: how late this machine woke a sleeping
      process during the run,
    - the warnings of the pipelines,
    - a text that tells the user what the testbed does not support because this
      machine has no network namespaces. The text is empty if the machine has
      them.
    """
    protocol = cell["protocol"]
    port = placement.free_port(protocol["binds"])
    bed = testbed.Testbed(
        [f"{placement.LINK}={','.join(HOSTS)}: {properties}"], build=build,
        relay_ports=[port, port + 1], logs=directory,
        **placement.hosts_of(cell["link"], HOSTS))
    with bed, wakeup_delay.Measurement() as delays:
        transports.check_relayed(protocol, bed.left_out)
        Ends(cell, bed, port, directory).run()
        drain(bed)
    words = "".join((directory / name).read_text(errors="replace")
                    for name in WARNINGS_OF)
    warnings = [f"{element.rpartition(':')[2]}: {what}"
                for element, what in stream.WARNING.findall(words)]
    return delays.late_ms, list(dict.fromkeys(warnings)), bed.left_out


class Ends:
    """Runs a workload with one program at each end of the link. A file tells
    each program what to send and what to receive.
    """

    def __init__(self, cell: Cell, bed: testbed.Testbed, port: int,
                 directory: pathlib.Path) -> None:
        self._bed, self._directory = bed, directory
        self._protocol, self._port = cell["protocol"], port
        self._work = prepared(cell["workload"])
        self._hosts = hosts_of(self._work)
        self._children = []

    def run(self) -> None:
        for begins in (False, True):
            self._children.append(self._start(begins))
        answers, begins = self._children
        self._wait_until_ready()
        for child in self._children:
            child.stdin.write(b"go\n")
            child.stdin.flush()
        # One of the hosts notices the end of the workload. In the workload
        # "bulk", this is the host that receives the data. In any other
        # workload, it is the host that begins the workload.
        last, other = (answers, begins) if self._work["kind"] == "bulk" \
            else (begins, answers)
        while last.poll() is None:
            self._check(other)
            time.sleep(SECONDS_BETWEEN_LOOKS)
        self._finish(last)
        other.stdin.close()
        self._finish(other)

    def _words(self, pipeline: str, host: str, port: int,
               size: int) -> list[str]:
        """Returns the arguments of gst-launch-1.0 for one pipeline. `pipeline`
        is the description of the pipeline, which sends packets to `host` or
        receives packets on `host`. This function replaces the placeholders in
        the description, except {input} and {output}. These two are replaced by
        file descriptors when another program starts the pipeline.
        """
        return [word.format_map({
            "host": host, "port": port, "bytes": size, "input": "{input}",
            "output": "{output}"}) for word in shlex.split(pipeline)]

    def _spec(self, begins: bool) -> dict[str, Any]:
        own, peer = self._hosts if begins else self._hosts[::-1]
        variables = self._bed.variables(own)
        there, back = sizes(self._work)
        # The host that begins the workload sends its packets to the port
        # self._port of the other host. The other host sends its answers to the
        # port self._port + 1 of the first host.
        sent = (there, self._port) if begins else (back, self._port + 1)
        received = (back, self._port + 1) if begins else (there, self._port)
        protocol = self._protocol
        return {
            "workload": self._work, "begins": begins,
            "directory": str(self._directory), "socket": protocol["socket"],
            "address": variables[peer if begins else own],
            "port": self._port,
            "sender": sent[0] and self._words(
                protocol["sender"], variables[peer], sent[1], sent[0]),
            "receiver": received[0] and self._words(
                protocol["receiver"], variables[own], received[1],
                received[0])}

    def _start(self, begins: bool) -> namespaces.Command:
        name = "begins" if begins else "answers"
        path = self._directory / f"{name}.json"
        path.write_text(json.dumps(self._spec(begins), indent=1) + "\n")
        with open(self._output(begins), "w") as output:
            return self._bed.popen(
                self._hosts[0 if begins else 1],
                [*paths.command("workloads.endpoint"), str(path)],
                stdin=subprocess.PIPE, stdout=output,
                stderr=subprocess.STDOUT)

    def _output(self, begins: bool) -> pathlib.Path:
        return self._directory / ("begins.out" if begins else "answers.out")

    def _listeners(self) -> Iterator[tuple[str, int]]:
        """Yields the pair (host, port) for each port at which a program of the
        workload has to listen before the workload begins.
        """
        yield self._hosts[1], self._port
        if not self._protocol["socket"] and sizes(self._work)[1]:
            yield self._hosts[0], self._port + 1

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + SECONDS_TO_START
        for host, port in self._listeners():
            while not self._bed.is_listening(host, self._protocol["binds"],
                                             port):
                for child in self._children:
                    self._check(child)
                if time.monotonic() > deadline:
                    raise self._failure(host == self._hosts[0],
                                        "did not open its port")
                time.sleep(SECONDS_BETWEEN_LOOKS)

    def _check(self, child: namespaces.Command) -> None:
        """Raises LabError if a link of the testbed has ended, or if the
        program `child` has failed.
        """
        self._bed.check()
        if child.poll() not in (None, 0):
            raise self._failed(child)

    def _finish(self, child: namespaces.Command) -> None:
        try:
            status = child.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            raise self._failure(child is self._children[1],
                                "did not end") from None
        if status != 0:
            raise self._failed(child)

    def _failed(self, child: namespaces.Command) -> LabError:
        return self._failure(
            child is self._children[1],
            f"failed ({processes.describe(child.returncode)})")

    def _failure(self, begins: bool, what: str) -> LabError:
        """Returns an error that says which end failed. The message contains
        the output of both ends, because the cause may be in the output of the
        other end.
        """
        who = "begins" if begins else "answers"
        return LabError(
            f"the end that {who} {what}. The output of both ends:\n"
            + processes.tail(
                "".join(self._output(end).read_text(errors="replace")
                        for end in (begins, not begins))))


def drain(bed: testbed.Testbed) -> None:
    """Ends the links. Sends SIGINT to the process of each link, and waits for
    at most SECONDS_TO_DRAIN seconds until these processes have ended. The
    process of a link ends when the last packet has left the link. Only then is
    the log of the link complete.
    """
    deadline = time.monotonic() + SECONDS_TO_DRAIN
    for process in bed.link_processes():
        process.send_signal(signal.SIGINT)
    for process in bed.link_processes():
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(deadline - time.monotonic(), 0))


# -------------------------------------------------------------- in virtual time

def compute(cell: Cell, properties: str, directory: pathlib.Path,
            build: pathlib.Path) -> None:
    """Runs a cell (one experiment) in virtual time. Each packet is sent at its
    due time, even if earlier packets were lost or delayed. The sender does not
    wait for answers.
    """
    work = cell["workload"]
    count, size = definitions.packets(work), work["bytes"]
    packets = directory / PACKETS
    packets.write_bytes(bytes(count * size))
    pace = 1 / fractions.Fraction(work["every"]).limit_denominator(10**6)
    values = {"packets": packets, "bytes": size, "pace": pace}
    protocol = cell["protocol"]

    def fill(pipeline: str) -> list[str]:
        return [word.format_map(values) for word in shlex.split(pipeline)]

    processes.run(
        ["gst-launch-1.0", "-q", *fill(protocol["sender"]),
         "!", "wirelesslink", "mode=timestamp", f"overhead={IP_AND_UDP}",
         f"sink_0::station={HOSTS.index(work['from'])}",
         f"location={directory / placement.LINK}.log", *shlex.split(properties),
         "!", *fill(protocol["receiver"])], "the pipeline",
        env=gst_environment.environment(build))
