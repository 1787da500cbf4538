# SPDX-License-Identifier: LGPL-2.1-or-later
"""Estimates how long the remaining experiments of a matrix will take. The
estimate is computed from the durations of those experiments that this machine
has already run.
"""

import statistics
from collections.abc import Callable, Sequence
from typing import Any

from wirelesslab.descriptions import Cell
from wirelesslab.lab import cells, matrix

# A run in real time takes this number of seconds longer than its clip. In this
# time, the hosts and both pipelines start, the last packets arrive, and the
# pipelines end. The mean was 2.9 s in 14 runs of seven transports over two LTE
# links.
EXTRA_S = 3.0
# A computed run is a run in virtual time. Its duration in s is COMPUTED_S, plus
# COMPUTED_S_PER_S for each second of its clip.
COMPUTED_S, COMPUTED_S_PER_S = 1.5, 1 / 20
# The estimated duration in s of a workload whose definition has no duration.
WORKLOAD_S = 60.0
# Three functions that return the protocol, the link and the stream of a run.
# The stream is described by its rate, codec and kind. The functions serve to
# find earlier runs that are similar to a planned run. There are four groups of
# earlier runs. The duration of the planned run is estimated from the first
# group in the following list that contains any run:
# - runs with the same protocol, link and stream
# - runs with the same protocol and link
# - runs with the same protocol
# - all runs
KEYS: tuple[Callable[[Cell], Any], ...] = (
    lambda cell: cell["protocol"]["name"],
    lambda cell: cell["link"]["name"],
    lambda cell: (cell["rate"], matrix.codec(cell), matrix.kind(cell)))


class Estimate:
    """Estimates the durations of runs from the results of earlier runs. Uses
    only the results of runs on a machine with the same kernel and the same
    number of cores.
    """

    def __init__(self, results: Sequence[dict[str, Any]],
                 machine: dict[str, Any]) -> None:
        # Maps each key that keys() returns to a list of numbers in s. A key
        # stands for a group of similar runs, and each number in the list is
        # for one earlier run of this group. The number is the duration of the
        # run minus the duration of its clip.
        self._extra = {}
        for result in results:
            if cells.TOOK in result and is_same(result["machine"], machine):
                cell = result["cell"]
                extra = result[cells.TOOK] - length(cell)
                for key in keys(cell):
                    self._extra.setdefault(key, []).append(extra)

    def seconds(self, cell: Cell) -> float:
        """Returns the estimated duration, in s, of a run that has not taken
        place yet. `cell` describes the run.
        """
        for key in keys(cell):
            if key in self._extra:
                extra = statistics.median(self._extra[key])
                return max(length(cell) + extra, 0.0)
        if is_computed(cell):
            return COMPUTED_S + COMPUTED_S_PER_S * (cell["seconds"] or 0)
        return (length(cell) or WORKLOAD_S) + EXTRA_S

    def total(self, todo: Sequence[Cell], jobs: int, cores: int) -> float:
        """Returns an estimate of the time in s that all remaining runs need.
        `todo` has the description of each run. First the runs in virtual time
        take place, up to `cores` of them at the same time. Then the runs in
        real time take place, up to `jobs` of them at the same time.
        """
        return sum(
            at_once([self.seconds(cell) for cell in todo
                     if is_computed(cell) == computed], number)
            for computed, number in ((True, cores), (False, jobs)))


def at_once(durations: Sequence[float], number: int) -> float:
    """Returns an estimate of the total time that the runs need. `durations`
    contains the duration of each run. Up to `number` runs take place at the
    same time.
    """
    return max(sum(durations) / number, max(durations, default=0.0))


def length(cell: Cell) -> float:
    """Returns the part of a run's duration, in s, that is known before the
    run: the time for which its streams or its workload send data. If the run
    takes place in virtual time, the result is 0. The duration of such a run
    depends only on the speed of the machine.
    """
    if is_computed(cell):
        return 0.0
    own = cell["seconds"] or cell.get("workload", {}).get("seconds") or 0.0
    apart = cell["protocol"].get("apart", 0)
    return own + apart * (len(cell["protocol"].get("streams", [0])) - 1)


def keys(cell: Cell) -> list[tuple[Any, ...]]:
    """Returns four keys, with which the durations of similar earlier runs are
    looked up. `cell` is the planned run. Each key is a tuple. Its first
    element says whether the run is in virtual time. The other elements are, in
    this order:

    - in the first key: the protocol, the link and the stream of the run,
    - in the second key: the protocol and the link,
    - in the third key: the protocol,
    - in the fourth key: nothing.

    The first key thus finds the most similar runs, and the last key finds all
    runs.
    """
    values = tuple(key(cell) for key in KEYS)
    return [(is_computed(cell), *values[:number])
            for number in range(len(values), -1, -1)]


def is_computed(cell: Cell) -> bool:
    return cell["protocol"][matrix.COMPUTED]


def is_same(machine: dict[str, Any], other: dict[str, Any]) -> bool:
    """Returns whether two descriptions stand for the same machine. They do if
    the kernel and the number of cores are equal.
    """
    return all(machine.get(key) == other.get(key)
               for key in ("kernel", "cores"))
