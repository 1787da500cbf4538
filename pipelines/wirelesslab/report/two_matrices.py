# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares two results A and B of the same matrix, for example of two commits.
A matrix is a list of experiments, and a result contains runs of all of them. A
group is one combination of a link, a bitrate and a codec. For each protocol in
each group, this module computes the difference between A and B, and an
interval that contains the true difference with high probability. It reports a
change only if the spread of the runs does not explain the difference.

The interval is computed from all differences between a run of B and a run of
A. The differences are sorted, and the k smallest and the k largest ones are
removed. The interval reaches from the smallest to the largest of the remaining
differences. If k is larger, the interval is shorter. The true difference is
then outside the interval with a higher probability. The rank-sum test of Mann
and Whitney (1947) gives the probability for each k. The module uses the
largest k whose probability is at most 5 %. If there is no such k, it uses k =
0.

This is the interval of Moses, see Hollander, Wolfe and Chicken, Nonparametric
Statistical Methods (2014), section 4.3. It makes no assumption about the
distribution of the values.

With three runs of A and three runs of B, k is always 0. The interval then
excludes 0 if and only if the ranges of A and B do not overlap. If nothing has
changed between A and B, the ranges nevertheless do not overlap in one of ten
comparisons, by chance.
"""

import collections
import functools
import itertools
import math
import statistics
import textwrap
import typing
from collections.abc import Iterable, Sequence

from wirelesslab.errors import LabError
from wirelesslab.lab import definition
from wirelesslab.report import results_csv
from wirelesslab.report.results_csv import Results, Row

# The interval of a comparison should contain the true difference between A and
# B with a high probability. CHANCE is the intended maximum probability that
# the true difference is outside the interval. With few runs, the actual
# probability can be higher. If it exceeds MAX_CHANCE, the verdict of the
# comparison is TOO_FEW (too few runs).
CHANCE, MAX_CHANCE = 0.05, 0.1
NONE_CHANGED = "no change that the spread does not explain"
SAME, TOO_FEW, FLAGGED = "the same in every run", "too few runs", \
    "only flagged runs"
UNKNOWN, BETTER, WORSE = "no number", "better", "worse"
CHANGED_BOTH = "changed in both directions"
CHANGED = (BETTER, WORSE, CHANGED_BOTH)


class Measure(typing.NamedTuple):
    # The name of the column in runs.csv that contains the values of this
    # measure.
    column: str
    head: str
    form: str
    is_more_better: bool


MEASURES = (
    Measure("decodable %", "decodable in time, %", "{:.1f}", True),
    Measure("latency median ms", "latency, median, ms", "{:.0f}", False),
    Measure("latency 99 % ms", "latency, 99 %, ms", "{:.0f}", False),
    Measure("throughput Mbit/s", "throughput, Mbit/s", "{:.2f}", True),
    Measure("PSNR dB", "PSNR, dB", "{:.1f}", True),
    Measure("longest freeze s", "longest freeze, s", "{:.2f}", False),
    Measure("frozen s", "frozen, s", "{:.2f}", False),
    Measure("packets lost %", "packets lost, %", "{:.2f}", False),
)


class Side(typing.NamedTuple):
    """The values of one measure, for example of the PSNR, in one of the two
    results that are compared. The fields summarise the runs of one protocol
    over one link: the minimum, the median and the maximum of the values, and
    the number of the runs.
    """

    low: float
    median: float
    high: float
    runs: int
    # The number of runs that are flagged as unreliable. The fields `low`,
    # `median` and `high` are computed without these runs. If all runs are
    # flagged, they are computed from all runs.
    flagged: int

    def text(self, form: str) -> str:
        if not self.runs:
            return "–"
        low, median, high = (shown(value, form) for value in self[:3])
        return median if low == high else f"{median} ({low}–{high})"


class Interval(typing.NamedTuple):
    low: float
    high: float
    # The probability that the true difference between A and B is outside the
    # range from `low` to `high`. It is 0 if all runs took place in virtual
    # time. Such a run always has the same result, so the difference is exact.
    chance: float


class Comparison(typing.NamedTuple):
    """The comparison of the results A and B, for one measure and one protocol
    over one link.
    """

    protocol: str
    measure: Measure
    a: Side
    b: Side
    difference: float
    interval: Interval | None
    verdict: str
    # True if at least one cell (experiment) is defined differently in A and in
    # B.
    is_redefined: bool

    @property
    def is_change(self) -> bool:
        return self.verdict in CHANGED

    def change_text(self) -> str:
        if math.isnan(self.difference):
            return "–"
        form = "{:+" + self.measure.form[2:]
        middle = shown(self.difference, form)
        if self.interval is None or self.interval.low == self.interval.high:
            return middle
        return (f"{middle} ({shown(self.interval.low, form)} to "
                f"{shown(self.interval.high, form)})")

    def runs_text(self) -> str:
        return ", ".join(f"{side.runs}" + (
            f" ({side.flagged} flagged)" if side.flagged else "")
            for side in (self.a, self.b))


class Group(typing.NamedTuple):
    title: str
    # The comparisons of the results A and B, as {protocol: list of
    # comparisons}. The list has one comparison for each measure that both A
    # and B contain.
    rows: dict[str, list[Comparison]]

    def primary(self) -> list[Comparison]:
        return [own[0] for own in self.rows.values()]

    def others(self) -> list[Comparison]:
        """Returns the comparisons that show a change, except those that
        primary() returns. For each protocol, primary() returns the first
        comparison. This is the comparison of the most important measure.
        """
        return [one for own in self.rows.values() for one in own[1:]
                if one.is_change]


class Matrices(typing.NamedTuple):
    a: Results
    b: Results
    groups: list[Group]
    # The names of the cells (experiments) that only A contains. The names have
    # no repetition number.
    only_a: list[str]
    only_b: list[str]
    # One line for each difference between the definition of a cell
    # (experiment) in A and its definition in B. Definitions are known only if
    # both A and B were read from directories of runs. Otherwise the list is
    # empty.
    redefined: list[str]

    def changes(self) -> list[tuple[Group, Comparison]]:
        """A group is one combination of a link, a bitrate and a codec. It
        contains several comparisons for each protocol, one for each measure.
        The first of these comparisons is for the most important measure.
        Returns a pair (group, comparison) for each of these first comparisons
        that shows a change.
        """
        return [(group, one) for group in self.groups
                for one in group.primary() if one.is_change]


def shown(value: float, form: str) -> str:
    text = form.format(value).replace("inf", "∞").replace("-", "−")
    # A difference that rounds to 0 gets the sign ±, because its own sign has
    # no meaning.
    return text.replace("−", "±").replace("+", "±") \
        if text[:1] in "+−" and not text.strip("+−0.") else text


# -------------------------------------------------------------------- intervals

@functools.cache
def rank_sums(count_a: int, count_b: int) -> list[int]:
    """Returns the distribution of U, the statistic of Mann and Whitney, for
    `count_a` runs of A and `count_b` runs of B. U is the number of pairs (a
    run of A, a run of B) in which the run of A has the larger value.

    If all runs are sorted by their values, the runs of A and of B can follow
    each other in many orders. Each order has a value of U. The result is a
    list. The item at the index u is the number of orders in which U is u.
    """
    # Suppose that all runs are sorted by their values. For each run of A,
    # count the runs of B with a smaller value. The result is a list of
    # `count_a` counts, each between 0 and `count_b`. The counts describe the
    # order of the runs of A and B. The sum of the counts is U, the number of
    # pairs in which the run of A has the larger value.
    #
    # A partition of an integer U writes U as a sum of positive integers, which
    # are called parts. The counts that are not 0 are the parts of a partition
    # of U. It has at most `count_a` parts, and no part exceeds `count_b`. Each
    # such partition belongs to one order, so there are as many orders with a
    # given U as partitions. The number of these partitions is the coefficient
    # of x^U in a polynomial, a Gaussian binomial. This polynomial is the
    # product of (1 - x^factor) / (1 - x^part) for all values of `part` from 1
    # to `count_a`, where `factor` is `count_b` + `part`.
    #
    # The list `found` has the coefficients of a polynomial. For each `part`,
    # the first inner loop multiplies the polynomial by (1 - x^factor), and the
    # second inner loop divides it by (1 - x^part).
    found = [1] + [0] * (count_a * count_b)
    for part in range(1, count_a + 1):
        factor = count_b + part
        for place in range(len(found) - 1, factor - 1, -1):
            found[place] -= found[place - factor]
        for place in range(part, len(found)):
            found[place] += found[place - part]
    return found


def interval_of(a: Sequence[float], b: Sequence[float]) -> Interval:
    differences = sorted(minus(after, before)
                         for after, before in itertools.product(b, a))
    sums = rank_sums(len(a), len(b))
    orders = sum(sums)

    def chance(removed: int) -> float:
        return min(1, 2 * sum(sums[:removed + 1]) / orders)

    removed = 0
    while chance(removed + 1) <= CHANCE:
        removed += 1
    return Interval(differences[removed], differences[-1 - removed],
                    chance(removed))


def minus(after: float, before: float) -> float:
    """Returns `after` minus `before`. The PSNR of perfect pictures is
    infinite. If both values are infinite, the difference is 0, and not NaN.
    """
    return 0.0 if after == before else after - before


# ------------------------------------------------------------------ comparisons

def compare(a: Results, b: Results) -> Matrices:
    by_key = [run_keys(results) for results in (a, b)]
    groups: dict[tuple[str, ...], dict[str, list[Comparison]]] = {}
    for key in by_key[0]:
        if key in by_key[1]:
            *group, protocol = key
            rows = [common_seeds(own[key], other[key])
                    for own, other in (by_key, by_key[::-1])]
            if rows[0]:
                groups.setdefault(tuple(group), {})[protocol] = [
                    compare_rows(protocol, measure, *rows)
                    for measure in MEASURES
                    if measure.column in a.heads and measure.column in b.heads]
    names = [list(dict.fromkeys(results_csv.cell_of(row[results_csv.NAME])
                                for row in results.rows))
             for results in (a, b)]
    return Matrices(a, b, [Group(title_of(*group), rows)
                           for group, rows in groups.items()],
                    *([name for name in own if name not in other]
                      for own, other in (names, names[::-1])),
                    redefinitions(a, b))


def redefinitions(a: Results, b: Results) -> list[str]:
    """Finds the cells (experiments) whose definition in A differs from their
    definition in B. Returns a list with one text for each difference. If
    several cells have the same difference, it is listed once. Each text ends
    with the number of these cells.
    """
    found = collections.Counter(
        line for name, cell in a.cells.items() if name in b.cells
        for line in definition.differences(cell, b.cells[name]))
    return [f"{line} ({count} cell{'s' if count > 1 else ''})"
            for line, count in found.items()]


def run_keys(results: Results) -> dict[tuple[str, ...], list[Row]]:
    """Groups the rows of a result. Returns {(link, rate, codec, protocol):
    rows}, where `rows` is the list of the rows with these four values.
    """
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in results.rows:
        found.setdefault((row["link"], row["rate Mbit/s"], row["codec"],
                          row[results_csv.PROTOCOL]), []).append(row)
    return found


def common_seeds(rows: list[Row], others: list[Row]) -> list[Row]:
    """Returns those `rows` whose seed also occurs in `others`. The seed
    determines the behaviour of the emulated link, for example which packets it
    loses. Only runs with the same seed can therefore be compared.
    """
    seeds = {row["seed"] for row in others}
    return [row for row in rows if row["seed"] in seeds]


def title_of(link: str, rate: str, codec: str) -> str:
    return f"{link}, {rate} Mbit/s" + ("" if codec == "mpeg2" else f", {codec}")


def compare_rows(protocol: str, measure: Measure, rows_a: list[Row],
                 rows_b: list[Row]) -> Comparison:
    sides, values = [], []
    for rows in (rows_a, rows_b):
        good = [row for row in rows if not is_flagged(row)]
        known = [value for row in good or rows
                 if not math.isnan(value := number(row, measure.column))]
        sides.append(Side(*(
            (min(known), statistics.median(known), max(known)) if known
            else (math.nan,) * 3), len(known), len(rows) - len(good)))
        values.append(known)
    is_redefined = {row.get(results_csv.DEFINITION) for row in rows_a} \
        != {row.get(results_csv.DEFINITION) for row in rows_b} \
        and all(row.get(results_csv.DEFINITION) for row in (*rows_a, *rows_b))
    if not all(values):
        return Comparison(protocol, measure, *sides, math.nan, None, UNKNOWN,
                          is_redefined)
    if all(row.get("computed") == "1" for row in (*rows_a, *rows_b)):
        found = compare_computed(measure, rows_a, rows_b)
    else:
        found = (minus(sides[1].median, sides[0].median), interval_of(*values))
    difference, interval = found
    return Comparison(
        protocol, measure, *sides, difference, interval, verdict_of(
            measure, interval, {value for own in values for value in own},
            all(is_flagged(row) for row in rows_a)
            or all(is_flagged(row) for row in rows_b)), is_redefined)


def is_flagged(row: Row) -> bool:
    return row["flagged"] not in ("0", "")


def number(row: Row, column: str) -> float:
    try:
        return float(row[column] or "nan")
    except ValueError:
        raise LabError(f"{row[results_csv.NAME]}: {column} is no number: "
                       f"{row[column]!r}") from None


def compare_computed(measure: Measure, rows_a: list[Row],
                     rows_b: list[Row]) -> tuple[float, Interval]:
    """Compares each run in `rows_a` with the run in `rows_b` that has the same
    seed. All of these runs took place in virtual time, that is, in a
    simulation without a real clock. Returns the median of the differences in
    `measure`, and the interval from the smallest to the largest difference.

    A repetition of such a run has the same result. Therefore each difference
    that is not 0 is a real change.
    """
    found = [value for value in (
        minus(number(after, measure.column), number(before, measure.column))
        for before, after in itertools.product(rows_a, rows_b)
        if before["seed"] == after["seed"]) if not math.isnan(value)]
    return statistics.median(found), Interval(min(found), max(found), 0)


def verdict_of(measure: Measure, interval: Interval, values: set[float],
               is_flagged: bool) -> str:
    """Returns the verdict about the difference between A and B in one measure,
    such as "better" or "too few runs". `interval` is the confidence interval
    of the difference, from which the verdict follows. `values` contains all
    values of the measure in A and in B.
    """
    if is_flagged:
        return FLAGGED
    if interval.chance > MAX_CHANCE:
        return TOO_FEW
    if len(values) == 1:
        return SAME
    # `interval.chance` is the probability that the true difference is outside
    # the interval. This probability is 0 only if all runs took place in
    # virtual time, where the results are exact.
    if not interval.chance:
        if interval.low == interval.high == 0:
            return SAME
        if interval.low < 0 < interval.high:
            return CHANGED_BOTH
    elif interval.low <= 0 <= interval.high:
        return NONE_CHANGED
    return BETTER if (interval.high > 0) == measure.is_more_better else WORSE


def expected_by_chance(groups: Iterable[Group]) -> float:
    """Returns the expected number of comparisons that show a change by chance
    alone, although nothing has changed between A and B. A group is one
    combination of a link, a bitrate and a codec. In each group, each protocol
    has one comparison for each measure. Only the comparison of the first
    measure, the most important one, is counted.
    """
    return sum(one.interval.chance for group in groups
               for one in group.primary()
               if one.interval and one.verdict not in (TOO_FEW, FLAGGED))


# ------------------------------------------------------------------------- text

RULE = (
    "A change is reported if its interval excludes 0. The interval has the "
    "differences between each run of B and each run of A, except for some of "
    "the smallest and largest ones. The rank-sum test at 5 % says how many of "
    "them are left out. With three runs on each side, the interval excludes 0 "
    "if the ranges do not overlap, which happens by chance in one of ten "
    "comparisons. With fewer runs, no change is reported. Flagged runs do not "
    "count.")
WIDTH = 80  # columns of the terminal
HEADS = ("", "A", "B", "B − A", "runs", "")


def text(found: Matrices) -> list[str]:
    """Returns the whole comparison as lines of text for a terminal."""
    lines = [f"{name}: {facts(side)}"
             for name, side in (("A", found.a), ("B", found.b))]
    for group in found.groups:
        measure = group.primary()[0].measure
        lines += ["", f"{group.title}: {measure.head}"]
        lines += aligned([HEADS, *(cells_of(one) for one in group.primary())])
        lines += [f"  also {one.protocol}: {one.measure.head}, from "
                  f"{one.a.text(one.measure.form)} to "
                  f"{one.b.text(one.measure.form)}, {one.verdict}"
                  for one in group.others()]
    for name, only in (("A", found.only_a), ("B", found.only_b)):
        if only:
            lines += ["", f"only in {name}: {', '.join(only)}"]
    if found.redefined:
        lines += ["", "definitions that differ (- in A, + in B):",
                  *(f"  {line}" for line in found.redefined)]
    return [*lines, "", *summary(found), *textwrap.wrap(RULE, WIDTH)]


def facts(side: Results) -> str:
    """Returns a text about one of the two results that are compared: its path,
    the commits of its runs, the number of its runs, and how many of them are
    flagged as unreliable.
    """
    commits = dict.fromkeys(row.get("commit") or "unknown commit"
                            for row in side.rows)
    flagged = sum(map(is_flagged, side.rows))
    return (f"{side.path}, {', '.join(commits)}, {len(side.rows)} runs"
            + (f", {flagged} of them flagged" if flagged else ""))


def cells_of(one: Comparison) -> tuple[str, ...]:
    form = one.measure.form
    return (one.protocol, one.a.text(form), one.b.text(form),
            one.change_text(), one.runs_text(), verdict_text(one))


def sentence(group: Group, one: Comparison) -> str:
    return (f"{one.protocol} over {group.title}: {one.measure.head}, from "
            f"{one.a.text(one.measure.form)} to {one.b.text(one.measure.form)}"
            f", {verdict_text(one)}.")


def verdict_text(one: Comparison) -> str:
    return one.verdict + (", with another definition" if one.is_redefined
                          else "")


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(cell.ljust(width) for cell, width
                      in zip(row, widths)).rstrip() for row in rows]


def summary(found: Matrices) -> list[str]:
    """Returns a summary as a list of one or two sentences. A group is one
    combination of a link, a bitrate and a codec. It contains several
    comparisons for each protocol, one for each measure, such as the latency.
    The first of these comparisons is for the most important measure. Only the
    first comparison of each protocol in each group is counted.

    The first sentence says how many of the counted comparisons show a change.
    The second sentence says how many of them would show a change by chance
    alone, if nothing had changed. The second sentence is left out if this
    number is 0.
    """
    rows = [one for group in found.groups for one in group.primary()]
    if not rows:
        return ["A and B have no cell in common."]
    counts = {what: sum(one.verdict == what for one in rows)
              for what in (BETTER, WORSE, CHANGED_BOTH)}
    lines = [f"Of {len(rows)} rows, {counts[BETTER]} became better and "
             f"{counts[WORSE]} worse" + (
                 f", and {counts[CHANGED_BOTH]} changed in both directions"
                 if counts[CHANGED_BOTH] else "") + "."]
    chance = expected_by_chance(found.groups)
    if chance:
        lines.append(f"If nothing had changed, {chance:.1f} of these rows "
                     "would still show a change, by chance.")
    return lines


def all_numbers(found: Matrices) -> tuple[list[str], list[list[object]]]:
    """Returns the titles of the columns, and a row for each comparison. The
    numbers in the rows are not rounded.
    """
    rows = [[group.title, one.protocol, one.measure.column,
             *one.a[:4], *one.b[:4], one.difference,
             *(one.interval or (math.nan,) * 3), one.verdict,
             int(one.is_redefined)]
            for group in found.groups for own in group.rows.values()
            for one in own]
    return ["group", "protocol", "measure", *(
        f"{side} {name}" for side in "AB"
        for name in ("lowest", "median", "highest", "runs")), "B - A",
        "interval from", "interval to", "chance", "verdict",
        "definition differs"], rows
