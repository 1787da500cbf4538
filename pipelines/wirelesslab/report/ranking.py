# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ranks the rows of a table. A row stands for several runs, for example all
runs with the same protocol. The range of a row extends from the lowest to the
highest value of its runs. A row is better than another row only if its whole
range is above the range of the other row. Rows whose ranges overlap are not
put in order.

Only rows with at least three runs are ranked. Runs that are flagged as
unreliable do not count. The command `lab compare` needs the same number of
runs before it reports a change.
"""

import statistics
import typing
from collections.abc import Iterable, Mapping, Sequence

MIN_RUNS = 3


class Range(typing.NamedTuple):
    low: float
    median: float
    high: float
    runs: int
    # True if all runs of the row are flagged as unreliable. The values from
    # `low` to `high` are then computed from these runs. Otherwise, they are
    # computed without the flagged runs.
    is_flagged: bool = False

    @property
    def is_known(self) -> bool:
        """Whether the range of values is known. It is known if there is more
        than one run.
        """
        return self.runs > 1

    @property
    def is_ranked(self) -> bool:
        """Whether the row takes part in the ranking. A row does not take part
        if it has too few runs, or if all of its runs are flagged as
        unreliable.
        """
        return self.runs >= MIN_RUNS and not self.is_flagged

    def text(self, form: str = "{:.1f}", unit: str = "") -> str:
        """Returns the median and the range as a text, such as "88.8 %
        (88.4–89.0)".
        """
        low, median, high = (form.format(value) for value in self[:3])
        if not self.is_known:
            return f"{median}{unit} (one\u00a0run)"
        return f"{median}{unit} ({low}–{high})"


def range_of(values: Iterable[float], is_flagged: bool = False) -> Range:
    found = sorted(values)
    return Range(found[0], statistics.median(found), found[-1], len(found),
                 is_flagged)


def is_better(one: Range, other: Range) -> bool:
    return one.low > other.high


def places(ranges: Mapping[str, Range]) -> dict[str, tuple[int, int] | None]:
    """Returns {label: (best place, worst place)} for the rows of a table.
    `ranges` contains the range of values of each row. If the range of a row
    overlaps other ranges, the row may have any place from the best to the
    worst one. If it overlaps no other range, the best and the worst place are
    equal. If a row is not ranked, its value is None.
    """
    ranked = {label: own for label, own in ranges.items() if own.is_ranked}
    found: dict[str, tuple[int, int] | None] = dict.fromkeys(ranges)
    for label, own in ranked.items():
        above = sum(is_better(other, own) for other in ranked.values())
        below = sum(is_better(own, other) for other in ranked.values())
        found[label] = (1 + above, len(ranked) - below)
    return found


def best(ranges: Mapping[str, Range]) -> list[str]:
    """Returns the labels of the rows that share the first place. A row has the
    first place if no other row is better, that is, if its range is not
    completely below another range. Any two rows with the first place have
    ranges that overlap.
    """
    return [label for label, place in places(ranges).items()
            if place and place[0] == 1]


def in_order(ranges: Mapping[str, Range]) -> list[str]:
    """Returns the labels in the order in which a chart shows them. The label
    with the highest median comes first.
    """
    return sorted(ranges, key=lambda label: (-ranges[label].median,
                                             -ranges[label].high))


def place_text(place: tuple[int, int] | None) -> str:
    if place is None:
        return "–"
    first, last = place
    return f"{first}" if first == last else f"{first}–{last}"


def listed(words: Sequence[str]) -> str:
    """Returns "a, b and c"."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
