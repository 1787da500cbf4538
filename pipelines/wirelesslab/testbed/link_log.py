# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the log of an element wirelesslink and describes what happened to the
packets. The texts are for readers who have never seen the statistics of a
radio link. docs/wirelesslink.md describes the log.
"""

import collections
import pathlib
import re
import subprocess
from collections.abc import Iterator

NS_PER_MS = 1e6
BUSY_NS = 20 * NS_PER_MS
# Maps each fate of a packet to a text. The fate is what the link did with the
# packet. The text follows a number of packets, as in "7 packets arrived".
FATES = {
    "delivered": "arrived",
    "queue": "were lost in the sender's queue, which was full",
    "air": "were lost on the air after all retransmissions",
    "damaged": "arrived with bytes changed by the radio",
    "check": "were damaged, and dropped by the radio's frame check",
    "reset": "were given up by the radio's own protocol",
    "call": "were lost because there was no call, or the call broke",
    "receiver": "were lost because the receiver was too slow",
    "too-big": "were larger than the link takes",
    "frame": "were given up because their frame could not arrive whole",
}
ALWAYS = ("delivered", "queue", "air")
ARRIVED = ("delivered", "damaged")
STATISTICS = re.compile(r"x-wirelesslink-stats,.*")
LATENESS = re.compile(r" lateness-(median|p99|max)=\(gint64\)(-?\d+)")


class Tally:
    """Counts the packets of one station, that is, of one sender on the link,
    by their fate. The fate of a packet is what the link did with it. Also
    counts the packets that were transmitted more than once.
    """

    def __init__(self) -> None:
        self.fates = collections.Counter()
        # The number of packets that the emulated link transmitted more than
        # once.
        self.repeated = 0

    def offered(self) -> int:
        return self.fates.total()

    def lost(self) -> int:
        return self.offered() - sum(self.fates[fate] for fate in ARRIVED)


def events(path: str | pathlib.Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields a tuple (name, values) for each event in the log. An event is a
    line of the log, and `name` is its first word. `values` maps the name of
    each column to the value in this line.
    """
    columns = {}
    with open(path) as log:
        for line in log:
            words = line.split()
            if words[:1] == ["#"] and len(words) > 1:
                columns[words[1]] = words[2:]
            elif words and words[0] in columns:
                yield words[0], dict(zip(columns[words[0]], words[1:]))


def read(path: str | pathlib.Path) -> collections.defaultdict[int, Tally]:
    """Returns a Tally for each station."""
    tallies = collections.defaultdict(Tally)
    for word, packet in events(path):
        if word == "packet":
            tally = tallies[int(packet["station"])]
            tally.fates[packet["fate"]] += 1
            tally.repeated += int(packet["attempts"]) > 1
    return tallies


def created_ns(path: str | pathlib.Path) -> int | None:
    """Returns the time of day at which the log file of a link was created, in
    ns. The clock of the link begins to run only a few ms after this time, so
    the two times are nearly equal. If the file system does not store the time
    of creation, returns None. The time is read with the program stat, because
    Python cannot read it.
    """
    said = subprocess.run(["stat", "--format=%.9W", path], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.strip()
    seconds, _, fraction = said.partition(".")
    if not seconds.isdecimal() or int(seconds) == 0:
        return None
    return int(seconds) * 10**9 + int(fraction.ljust(9, "0"))


def all_lateness_ns(output: str) -> dict[str, int] | None:
    """Returns the lateness of the packets as a dictionary with three times in
    ns: the median ("median"), the 99th percentile ("p99") and the maximum
    ("max"). `output` is the output of gst-launch-1.0 -m, which contains
    messages with the statistics of the element wirelesslink. The times are
    from the last of these messages. If there is no message, returns None.
    """
    messages = STATISTICS.findall(output)
    found = LATENESS.findall(messages[-1]) if messages else []
    return {name: int(ns) for name, ns in found} or None


def lateness_ns(output: str) -> int | None:
    """Returns the 99th percentile of the lateness of the link, in ns. The
    lateness is the time by which the element wirelesslink pushed a packet too
    late. `output` is the output of gst-launch-1.0 -m, in which wirelesslink
    prints its statistics. If the output does not contain them, returns None.
    """
    found = all_lateness_ns(output)
    return found["p99"] if found else None


def words(tally: Tally, back: Tally, lateness: int | None) -> list[str]:
    """Returns lines of text that summarise the log of the link. They are shown
    below the table of a run. `tally` counts the packets to the receiver, and
    `back` counts the packets from the receiver. The emulation pushes some
    packets too late. `lateness` is the 99th percentile of this lateness in ns,
    or None if the link ended before it reported its lateness.
    """
    rows = [(tally.offered(), "packets came to the link; of these")]
    for fate, what in FATES.items():
        if fate in ALWAYS or tally.fates[fate]:
            rows.append((tally.fates[fate], what))
    rows.append((tally.repeated, "were sent more than once"))
    if back.offered():
        rows.append((back.offered(), "packets of the receiver went the other "
                     f"way; {back.lost()} of these were lost"))
    width = max(len(str(count)) for count, _ in rows)
    lines = [f"{count:{width}} {what}" for count, what in rows]
    if lateness is None:
        lines.append("The link ended before its last packets were through.")
    else:
        lines.append("The emulation itself was up to "
                     f"{lateness / NS_PER_MS:.2f} ms late (99th percentile).")
        if lateness > BUSY_NS:
            lines.append("This machine was busy: the times are not reliable.")
    return [("link     " if number == 0 else " " * 9) + line
            for number, line in enumerate(lines)]
