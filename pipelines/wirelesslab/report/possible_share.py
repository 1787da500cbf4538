# SPDX-License-Identifier: LGPL-2.1-or-later
"""Computes the possible share of a run: the share of its frames that a sender
with perfect foresight could have delivered so that they were decodable in
time. It also computes how early these frames could have arrived. The
computation emulates the link of the run again, with the same seed. The result
is kept in a file in the directory of the run, because the computation takes
long.
"""

import csv
import pathlib
import sys
import typing
from collections.abc import Sequence

from wirelesslab import files
from wirelesslab.descriptions import Cell
from wirelesslab.errors import LabError
from wirelesslab.lab import cells, matrix, opportunities
from wirelesslab.streams import (
    link_schedules,
    measurements,
    placement,
    possible,
    possible_delays,
    transports,
)
from wirelesslab.workloads import definitions

NS_PER_MS = 1e6
# Large packets belong to the video, because the packets of a handshake are
# small. The first packet with at least this number of bytes belongs to the
# first frame.
LARGE = 500
# Maximum time, in ns, that the lab needs to open a link or to close a link.
# The lab begins to open or close a link at the times that a schedule lists.
CHANGE_NS = 20e6


class Result(typing.NamedTuple):
    """What was possible in a run."""

    # The share of the frames that could have been decodable in time, from 0 to
    # 1. These frames are called the possible frames.
    share: float
    # For each possible frame, the minimum time in ms from its due time to its
    # arrival. The list is empty if a version of the lab that did not know
    # these times has written the file.
    delays_ms: list[float]


def is_known(cell: Cell) -> bool:
    """Returns whether this module can compute the possible share for the
    experiment `cell`. The possible share is the share of frames that could
    have been delivered in time. The module cannot compute it in three cases:
    - Several streams share the link. One stream could then reach its best
      result only at the cost of the others.
    - The frames come from a live encoder. Which frames it makes depends on the
      sender's measurements of the link, and the module has no rules for this.
    - The traffic is not video. The module has no rules for other traffic.
    """
    return matrix.kind(cell) == definitions.VIDEO \
        and len(transports.streams(cell["protocol"])) == 1


def of_run(cell: Cell, directory: pathlib.Path,
           passages: Sequence[measurements.Passage],
           begins_ns: Sequence[float | None], began_ns: float, late_ms: float,
           build: pathlib.Path) -> Result | None:
    """Returns what a sender with perfect foresight could have reached in a
    run, or None if it is not known. `cell` is the experiment of the run.

    The time at which the first frame was sent is given in two forms.
    `began_ns` is this time as time of day, in ns. `begins_ns` has one number
    for each link: this time in ns by the clock of the link.
    """
    if begins_ns[0] is None or not is_known(cell):
        return None
    path = directory / f"possible-{late_ms}.csv"
    if not path.exists():
        work = possible.jobs(passages, 0, late_ms * NS_PER_MS)
        try:
            links = find_opportunities(cell, directory, work[-1].deadline_ns,
                                       begins_ns, began_ns, build)
        except LabError as error:
            print(f"{cell['name']}: the possible is not known: {error}",
                  file=sys.stderr)
            return None
        write(path, work, choose(work, links, late_ms * NS_PER_MS))
    with open(path) as file:
        rows = list(csv.DictReader(file))
    return Result(sum(row["possible"] == "1" for row in rows) / len(rows),
                  [float(row["delay_ms"]) for row in rows
                   if row.get("delay_ms")])


def write(path: pathlib.Path, work: Sequence[possible.Job],
          delays_ns: dict[int, float]) -> None:
    """Writes a line for each frame in `work` to the file `path`. `delays_ns`
    has the delay of each possible frame.
    """
    lines = ["frame,type,possible,delay_ms"]
    for number, job in enumerate(work):
        delay = (f"{delays_ns[number] / NS_PER_MS:.1f}"
                 if number in delays_ns else "")
        lines.append(f"{job.frame.coding_number},{job.frame.type},"
                     f"{int(number in delays_ns)},{delay}")
    files.write_whole(path, "\n".join(lines) + "\n")


def choose(work: Sequence[possible.Job],
           links: Sequence[Sequence[possible.Opportunity]],
           late_ns: float) -> dict[int, float]:
    """Chooses the frames that a sender with perfect foresight would send, and
    computes how early they can arrive. `work` contains the size and the
    deadline of each frame. A deadline is `late_ns` after the due time of the
    frame. `links` contains the opportunities of each link to deliver bytes.
    Returns {index of a chosen frame in `work`: minimum time in ns from its due
    time to its arrival}.
    """
    max_delay_ns = max(job.deadline_ns - job.release_ns for job in work)
    chosen = possible.best(work, possible.Supply(
        [one for link in links for one in link], max_delay_ns))
    arrivals = possible_delays.earliest_ns(
        [work[number] for number in chosen], links)
    return {number: arrival - (work[number].deadline_ns - late_ns)
            for number, arrival in zip(chosen, arrivals)}


def find_opportunities(
        cell: Cell, directory: pathlib.Path, end_ns: float,
        begins_ns: Sequence[float | None], began_ns: float,
        build: pathlib.Path) -> list[list[possible.Opportunity]]:
    """Returns the opportunities to deliver bytes of each link, up to the time
    `end_ns` or longer. All times are counted from the time at which the first
    frame was sent.
    """
    schedules = link_schedules.closed_ns(directory)
    found = []
    for number, (text, (_, station)) in enumerate(zip(
            cells.all_properties(cell, directory), cells.link_logs(cell))):
        # `begins_ns` contains the time of the first frame, once for each link,
        # by the clock of that link. If the time is not known for a link, the
        # time for the first link is used. The error is small, because the
        # clocks of all links start at nearly the same time.
        begin = begins_ns[0] if begins_ns[number] is None \
            else begins_ns[number]
        # In the log of the link, each packet has a flow number. For the
        # packets of the sender, the flow number is 0 in a run in virtual time
        # (COMPUTED). In a run in real time, it is the station number of the
        # sender.
        flow = 0 if cell["protocol"][matrix.COMPUTED] else station
        # `schedules` contains the periods in which a link was closed. The lab
        # logs the end of such a period only when it has finished opening the
        # link. Opening takes up to CHANGE_NS, and the link may already carry
        # packets during this time. CHANGE_NS is therefore subtracted from the
        # end of each period.
        closed = [(close - began_ns, end - began_ns - CHANGE_NS)
                  for close, end in schedules.get(
                      placement.link_name(number), [])]
        found.append(opportunities.moved(
            opportunities.of_link(text, flow, station, begin + end_ns, build),
            -begin, closed))
    return found


def begin_ns(packets: Sequence[measurements.Packet],
             since_ns: float | None) -> float | None:
    """Returns the time at which the first frame was sent, by the clock of the
    link. There are up to two estimates of this time. An estimate can be too
    late, but never too early. The function therefore returns the earlier one.
    If there is no estimate, the function returns None.

    - The first estimate is `since_ns`, the time from the start of the link to
      the first frame, by the clock of the machine. It may be a few ms too
      late. If `since_ns` is None, there is no first estimate.
    - The second estimate is the time at which the first large packet arrives
      at the link. Some senders wait for the first frame before they begin
      their handshake. The first large packet, and thus the estimate, is then
      too late. If `packets` is empty, there is no second estimate.
    """
    if not packets:
        return since_ns
    first = next((packet.arrival_ns for packet in packets
                  if packet.size >= LARGE), packets[0].arrival_ns)
    return first if since_ns is None else max(0, min(first, since_ns))
