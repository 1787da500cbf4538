# SPDX-License-Identifier: LGPL-2.1-or-later
"""Estimates how long the remaining cells of a matrix will take. The estimate is
computed from the durations of those cells that this machine has already run."""

import statistics
from collections.abc import Callable, Sequence
from typing import Any

from wirelesslab.descriptions import Cell
from wirelesslab.lab import cells, matrix

# A run in real time takes this number of seconds longer than its clip, because
# the hosts and both pipelines start, the last packets arrive, and the pipelines
# end. The mean was 2.9 s in 14 runs of seven transports over two LTE links.
EXTRA_S = 3.0
# A computed run is a run in virtual time. Its duration in s is COMPUTED_S, plus
# COMPUTED_S_PER_S for each second of its clip.
COMPUTED_S, COMPUTED_S_PER_S = 1.5, 1 / 20
# The estimated duration in s of a workload whose definition has no duration.
WORKLOAD_S = 60.0
# Functions that return the protocol, the link and the stream (its rate, codec
# and kind) of a run. The duration of a planned run is estimated from similar
# earlier runs. The first non-empty group in this list is used:
# - runs with the same protocol, link and stream
# - runs with the same protocol and link
# - runs with the same protocol
# - all runs
KEYS: tuple[Callable[[Cell], Any], ...] = (
    lambda cell: cell["protocol"]["name"],
    lambda cell: cell["link"]["name"],
    lambda cell: (cell["rate"], matrix.codec(cell), matrix.kind(cell)))


class Estimate:
    """Estimates the durations of runs from earlier runs. Of `results`, only the
    results of runs on this machine are used.
    """

    def __init__(self, results: Sequence[dict[str, Any]],
                 machine: dict[str, Any]) -> None:
        # Maps each key that keys() returns to a list of numbers. The list has
        # one number for each earlier run with this key: the duration of the run
        # minus the duration of its clip, in s.
        self._extra = {}
        for result in results:
            if cells.TOOK in result and is_same(result["machine"], machine):
                cell = result["cell"]
                extra = result[cells.TOOK] - length(cell)
                for key in keys(cell):
                    self._extra.setdefault(key, []).append(extra)

    def seconds(self, cell: Cell) -> float:
        """Returns the estimated duration of the run that `cell` describes,
        in s."""
        for key in keys(cell):
            if key in self._extra:
                extra = statistics.median(self._extra[key])
                return max(length(cell) + extra, 0.0)
        if is_computed(cell):
            return COMPUTED_S + COMPUTED_S_PER_S * (cell["seconds"] or 0)
        return (length(cell) or WORKLOAD_S) + EXTRA_S

    def total(self, todo: Sequence[Cell], jobs: int, cores: int) -> float:
        """Returns the time in s that the remaining runs need. `todo` has the
        description of each run. The runs in virtual time come first, up to
        `cores` of them in parallel. The runs in real time follow, up to `jobs`
        of them in parallel."""
        return sum(
            at_once([self.seconds(cell) for cell in todo
                     if is_computed(cell) == computed], number)
            for computed, number in ((True, cores), (False, jobs)))


def at_once(durations: Sequence[float], number: int) -> float:
    """Returns the total time that the runs need. `durations` contains the
    duration of each run, and up to `number` runs take place in parallel."""
    return max(sum(durations) / number, max(durations, default=0.0))


def length(cell: Cell) -> float:
    """Returns the part of a run's duration that is known before the run, in s.
    This is the total duration of the streams or of the workload. The result is
    0 for a run in virtual time.
    """
    if is_computed(cell):
        return 0.0
    own = cell["seconds"] or cell.get("workload", {}).get("seconds") or 0.0
    apart = cell["protocol"].get("apart", 0)
    return own + apart * (len(cell["protocol"].get("streams", [0])) - 1)


def keys(cell: Cell) -> list[tuple[Any, ...]]:
    """Returns four keys, with which the durations of runs that are similar to
    the run `cell` are looked up. The first key finds the most similar runs.
    Each key is a tuple. Its first element says whether the run is in virtual
    time. The other elements are results of the functions in KEYS, called with
    `cell`:

    - in the first key, the results of all three functions,
    - in the second key, the results of the first two functions,
    - in the third key, the result of the first function,
    - in the fourth key, no result.
    """
    values = tuple(key(cell) for key in KEYS)
    return [(is_computed(cell), *values[:number])
            for number in range(len(values), -1, -1)]


def is_computed(cell: Cell) -> bool:
    return cell["protocol"][matrix.COMPUTED]


def is_same(machine: dict[str, Any], other: dict[str, Any]) -> bool:
    """Returns whether two descriptions of machines have the same kernel and
    number of cores."""
    return all(machine.get(key) == other.get(key)
               for key in ("kernel", "cores"))
