# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds out how many bytes a link can deliver, and at which times. For this
purpose, the link of a run is emulated again in virtual time, with the same
seed. The link gets more packets than it can carry. Its log then says when each
packet left the link.
"""

import functools
import math
import pathlib
import shlex
import tempfile
from collections.abc import Sequence

from wirelesslab import gst_environment, processes
from wirelesslab.streams import possible
from wirelesslab.testbed import link_log

NS = 1e9
STEP_NS = 4e9
# The rate at which packets are sent to measure a link, in bytes per second. A
# link with a higher rate is therefore measured as a link with this rate.
BYTES_PER_SECOND = 60_000_000 // 8
# The size in bytes of the packets with which a link's capacity is measured. It
# is the largest size that the lab uses. With the largest packets, a link
# carries the most data, because each packet costs headers and, on a radio, a
# preamble and a backoff.
PACKET = 1500
# Size in bytes of the headers of IPv4 and UDP. No transport of the lab has
# smaller headers.
HEADERS = 28
# Properties for the measurement of a link's capacity. During this measurement,
# more packets arrive than the link can send. With these properties, the queue
# is then never empty, and drops packets only if it is full. Jitter and
# reordering are switched off, because they only delay packets. Damaged packets
# count as delivered. The measured capacity is therefore an upper bound.
ALWAYS_FULL = (
    "queue=drop-tail", "blocking=false", "txqueuelen=1000", "queue-bytes=0",
    "queue-time-ms=0", "jitter-ms=0", "reorder=0", "duplicate=0",
    "drop-damaged=false", "frame-check=false")
MAX_SIZE, BURST, RATE, RATE_DOWN = "max-size", "burst", "rate", "rate-down"


def saturate(log: pathlib.Path, properties: Sequence[str], flow: int,
             station: int, size: int, bytes_per_second: int,
             duration_ns: float, build: pathlib.Path) -> None:
    """Sends packets of `size` bytes over a link in virtual time. The station
    (host) `station` sends them as the flow `flow`, at the rate
    `bytes_per_second`, for at least `duration_ns`. `properties` are the
    properties of the link. The log of the link is written to `log`.
    """
    count = math.ceil(duration_ns / NS * bytes_per_second / size)
    processes.run(
        ["gst-launch-1.0", "-q",
         "wirelesslink", "name=wl", "mode=timestamp",
         f"sink_{flow}::station={station}", f"location={log}", *properties,
         "fakesrc", "format=time", "sizetype=fixed", f"sizemax={size}",
         f"datarate={bytes_per_second}", f"num-buffers={count}",
         "!", f"wl.sink_{flow}", f"wl.src_{flow}",
         "!", "fakesink", "sync=false", "async=false"],
        "the pipeline", env=gst_environment.environment(build))


def of_link(properties: str, flow: int, station: int, duration_ns: float,
            build: pathlib.Path) -> list[possible.Opportunity]:
    """Returns the opportunities of a link to deliver data. An opportunity is a
    number of bytes together with the time at which the link can deliver them.
    `properties` are the properties of the link.

    To find the opportunities, the function simulates the link. In the
    simulation, the station (host) `station` sends the packets of the flow
    `flow` faster than the link can usually carry them.

    The list may contain opportunities later than `duration_ns`.
    """
    steps = math.ceil(duration_ns / STEP_NS)
    return _of_link(properties, flow, station, steps * STEP_NS, build)


# The cache holds the results for the last four sets of arguments. Two runs
# with the same link and seed have nearly the same duration. The caller,
# of_link(), rounds the duration up to a multiple of 4 s, so both runs get the
# same cached result.
@functools.lru_cache(maxsize=4)
def _of_link(properties: str, flow: int, station: int, duration_ns: float,
             build: pathlib.Path) -> list[possible.Opportunity]:
    words = shlex.split(properties)
    size = packet_size(words)
    # The link is measured without its token bucket. read() adds the effect of
    # the bucket afterwards: with a bucket, a packet arrives earlier, by at
    # most the time that early_ns() returns.
    no_bucket = [f"{BURST}=0"] if value(words, BURST) else []
    with tempfile.TemporaryDirectory() as name:
        log = pathlib.Path(name, "link.log")
        saturate(log, [*words, *ALWAYS_FULL, *no_bucket], flow, station, size,
                 BYTES_PER_SECOND, duration_ns, build)
        return read(log, size - HEADERS, early_ns(words, station))


def read(log: pathlib.Path, payload: int,
         early_ns: float = 0) -> list[possible.Opportunity]:
    """Reads the log of a link. The link was measured without its token bucket.
    Returns an opportunity to deliver bytes for each packet that the link
    delivered. In the log, the departure time of a packet is the end of its
    transmission plus the delay of the link. An opportunity has two times:

    - The latest time at which the link can accept the bytes. A real link must
      accept a packet before its transmission begins. The function nevertheless
      uses the end of the transmission: the departure time minus the delay of
      the link.
    - The earliest time at which the bytes can arrive at the receiver. The link
      would deliver a packet up to `early_ns` earlier if it had its token
      bucket. The earliest time is therefore the departure time minus
      `early_ns`.
    """
    found = [(int(values["arrival_ns"]), int(values["departure_ns"]),
              int(values["airtime_ns"]))
             for word, values in link_log.events(log)
             if word == "packet" and values["fate"] in link_log.ARRIVED]
    delay_ns = max(0, min((departure - arrival - airtime
                           for arrival, departure, airtime in found),
                          default=0))
    return [possible.Opportunity(departure - delay_ns, departure - early_ns,
                                 payload) for _, departure, _ in found]


def moved(found: Sequence[possible.Opportunity], by_ns: float,
          closed_ns: Sequence[tuple[float, float]] = ()
          ) -> list[possible.Opportunity]:
    """Returns a copy of `found`, a list of opportunities to deliver bytes.
    Each opportunity has a start time, at which the link accepts the bytes, and
    an arrival time, at which the bytes arrive. In the copy, both times are
    `by_ns` later.

    A schedule closes the link for certain periods. `closed_ns` has a pair
    (begin, end) for each of these periods, which are not shifted by `by_ns`. A
    closed link accepts no packets, but it still delivers the bytes that it
    accepted before. A shifted start time may lie in a closed period. At this
    time the link accepts nothing, so bytes for this opportunity must enter the
    link before it closes. The beginning of the closed period then becomes the
    start time.
    """
    def accepted(time_ns: float) -> float:
        for begin, end in closed_ns:
            if begin <= time_ns < end:
                return begin
        return time_ns

    return [possible.Opportunity(accepted(one.taken_ns + by_ns),
                                 one.arrival_ns + by_ns, one.size)
            for one in found]


def packet_size(words: Sequence[str]) -> int:
    limit = int(value(words, MAX_SIZE))
    return min(PACKET, limit) if limit > HEADERS else PACKET


def early_ns(words: Sequence[str], station: int) -> float:
    """Returns the maximum time, in ns, by which a packet leaves a link earlier
    because the link has a token bucket. If the bucket is full, the link can
    send as many bytes at once as the bucket contains. Without a bucket, the
    link sends the same bytes at its rate. The maximum is therefore the size of
    the bucket divided by the rate.
    """
    rate = value(words, RATE_DOWN) if station else 0
    rate = rate or value(words, RATE)
    return 8 * NS * value(words, BURST) / rate if rate else 0


def value(words: Sequence[str], name: str) -> float:
    """Returns the value of the property `name`. `words` are properties in the
    form NAME=VALUE. If several words set the property, the last one counts. If
    no word sets it, returns 0.
    """
    found = [word.partition("=")[2] for word in words
             if word.partition("=")[0] == name]
    return float(found[-1]) if found else 0
