# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes sentences about the results of a group of runs. Each sentence is made
from the numbers of the runs, and is only written if it is true of all runs to
which it refers. Names of elements are between backquotes."""

import math
import typing
from collections.abc import Callable, Sequence

from wirelesslab.report import ranking
from wirelesslab.streams import measurements

TYPES = measurements.TYPES
# A frame is missing if it did not arrive in time. Let p(T) be the percentage
# of frames of the type T that are missing. The report uses the following two
# phrases only if one percentage is much higher than another. CLEARLY is the
# factor that is required:
# - "missed key frames first": p(I) must be at least CLEARLY * p(B).
# - "missed B-frames first": p(B) must be at least CLEARLY * p(T) for each
#   other type T.
CLEARLY = 2
# In the report, a row stands for several runs, for example all runs with one
# transport. If the runs of all rows used the same seeds, the rows can be
# compared seed by seed, because a seed determines how the link behaves. The
# report says that one row is better than all other rows if both conditions are
# met:
# - There are at least MIN_SEEDS seeds.
# - With each seed, the percentage of frames decodable in time is higher in
#   this row than in each other row, by at least MIN_LEAD percentage points.
#
# A difference of a few tenths of a point is not significant, because repeated
# runs of one transport differ by more.
MIN_LEAD, MIN_SEEDS = 1.0, 3
# Several rows share the first place if their ranges overlap. If at most
# MAX_NAMED rows share the first place, the report names all of them. If more
# rows share it, the report names only the NAMED rows with the highest medians.
MAX_NAMED, NAMED = 5, 3
# Percentages below this value are shown as 0 %, because the text has no
# decimals.
MIN_SHOWN = 0.5
TOO_FEW = "fewer than three runs that were not flagged"
# The no-break space keeps the number and the % sign on the same line.
PERCENT = "\u00a0%"
KINDS = {"I": "key frames", "B": "B-frames"}


class Frames(typing.NamedTuple):
    """The frames of one run, counted by what happened to them and by frame
    type. Each field is a dictionary {frame type: number of frames}.
    """

    sent: dict[str, float]
    lost: dict[str, float]
    late: dict[str, float]
    decodable: dict[str, float]

    def missing(self, type: str) -> float:
        """Returns the percentage of the frames of one type that did not arrive
        in time.
        """
        return percent(self.lost[type] + self.late[type], self.sent[type])

    def all_late(self) -> float:
        return percent(sum(self.late.values()), sum(self.sent.values()))

    def all_lost(self) -> float:
        return percent(sum(self.lost.values()), sum(self.sent.values()))

    def undecodable(self) -> float:
        """Returns a percentage of all frames: those that arrived in time but
        cannot be decoded in time. Such a frame refers to another frame that
        did not arrive in time.
        """
        sent, lost, late, good = (sum(each.values()) for each in self)
        return percent(sent - lost - late - good, sent)


class Row(typing.NamedTuple):
    """The results of one row of the report, for example of the runs with one
    transport. Runs that are flagged as unreliable are left out. If all runs of
    a row are flagged, none of them is left out.
    """

    name: str
    # For each run, the percentage of its frames that were decodable in time.
    shares: Sequence[float]
    # For each run, the percentage of the frames that would have been decodable
    # in time if the sender had had perfect foresight. The list is empty if
    # these percentages are not known.
    possible: Sequence[float]
    frames: Sequence[Frames]
    # A pair (seed, repetition number) for each run, in the order of `shares`.
    # Within the report, runs with the same seed used the same link.
    keys: Sequence[tuple[int, int]] = ()
    is_flagged: bool = False  # Whether all runs were flagged.

    @property
    def share(self) -> ranking.Range:
        return ranking.range_of(self.shares, self.is_flagged)

    @property
    def is_complete(self) -> bool:
        """True if, in each run of the row, every frame was decodable in time.
        """
        return all(each.sent == each.decodable for each in self.frames)


def frames_of(numbers: dict[str, float]) -> Frames:
    """Returns how many frames of a run were sent, lost, late and decodable in
    time. `numbers` maps names such as "sent I" to the results of the run."""
    return Frames(*({type: numbers[f"{what} {type}"] for type in TYPES}
                    for what in ("sent", "lost", "late", "decodable")))


def percent(part: float, whole: float) -> float:
    return 100 * part / whole if whole else 0.0


def span(row: Row, value: Callable[[Frames], float]) -> str:
    """Returns a text about the runs of `row`. The function `value` returns a
    number for the frames of one run. The text is the median of this number
    over the runs, followed by the range over the runs. If there is only one
    run, the text is the number for this run.

    The number of runs is not in the text, because it stands elsewhere in the
    report.
    """
    found = ranking.range_of(map(value, row.frames))
    if not found.is_known:
        return f"{found.median:.0f}{PERCENT}"
    return found.text("{:.0f}", PERCENT)


def missing_span(row: Row, type: str) -> str:
    return span(row, lambda each: each.missing(type))


# -------------------------------------------------------------- why frames miss

def is_too_late(row: Row) -> bool:
    """Returns whether lateness was the main cause of missing frames in every
    run of the row. To find the main cause in a run, the late frames are
    compared with the sum of the lost and the undecodable frames. Lateness is
    the main cause if there are more late frames than this sum.
    """
    return all(each.all_late() > each.all_lost() + each.undecodable()
               for each in row.frames)


def is_lost_first(row: Row, type: str) -> bool:
    others = [other for other in TYPES if other != type]
    return all(
        each.missing(type) > 0
        and each.missing(type) >= CLEARLY * each.missing(other)
        for each in row.frames
        for other in (others if type == "B" else ["B"])) and all(
            each.missing(type) >= each.missing(other)
            for each in row.frames for other in others)


def is_only_b(row: Row) -> bool:
    return is_lost_first(row, "B") and all(
        each.missing(type) == 0 for each in row.frames for type in "IP")


def why(row: Row) -> str:
    """Returns a text that says what happened to the frames of `row`. The
    report puts this text after the name of the row, for example "`tcp`
    delivered frames too late".
    """
    if row.is_complete:
        return "delivered every frame in time"
    if is_too_late(row):
        return ("delivered frames too late: "
                f"{span(row, Frames.all_late)} of them")
    if is_only_b(row):
        return ("missed only B-frames, which no other frame refers to: "
                f"{missing_span(row, 'B')} of them")
    for type, other in (("I", "B"), ("B", "I")):
        if is_lost_first(row, type):
            return (f"missed {KINDS[type]} first: "
                    f"{missing_span(row, type)} of them, "
                    f"and {missing_span(row, other)} of the "
                    f"{KINDS[other]}")
    causes = [(words, value) for words, value in (
        ("lost {} of the frames", Frames.all_lost),
        ("delivered {} too late", Frames.all_late),
        ("delivered {} without the frames that they refer to",
         Frames.undecodable)) if any(map(value, row.frames))]
    # The text names the causes, and for each cause the percentage of frames
    # that it concerns. If this percentage is rounded to 0 % in every run, the
    # cause is left out, because it does not explain the result. But if all
    # causes would be left out for this reason, all are named.
    visible = [(words, value) for words, value in causes
               if max(map(value, row.frames)) >= MIN_SHOWN]
    return ranking.listed([words.format(span(row, value))
                           for words, value in visible or causes])


# -------------------------------------------------------------------- sentences

def sentences(rows: Sequence[Row], head: str = "protocol") -> list[str]:
    """Returns sentences that compare the `rows`, the most important sentence
    first. `head` is the noun that the sentences use for a row. It is "protocol"
    if each row has the runs of one protocol."""
    ranked = [row for row in rows if row.share.is_ranked]
    if not ranked:
        return [without_places(rows, head)]
    ranges = {row.name: row.share for row in ranked}
    best = [row for row in ranked if row.name in ranking.best(ranges)]
    found = [first_place(best, ranked, head)]
    if len(best) == 1 and not best[0].is_complete:
        found.append(f"{code(best)} {why(best[0])}.")
    lower = [row for row in ranked if row not in best]
    for words, is_so in (
            ("missed key frames first, and no frame that refers to a missing "
             "key frame can be decoded",
             lambda row: not is_too_late(row) and is_lost_first(row, "I")),
            ("delivered frames too late", is_too_late)):
        those = [row for row in lower if not row.is_complete and is_so(row)]
        if those:
            found.append(f"{code(those)} {words}.")
    few = [row for row in rows if not row.share.is_ranked]
    if few:
        have, they_are = ("has", "it is") if len(few) == 1 \
            else ("have", "they are")
        found.append(f"{code(few)} {have} {TOO_FEW}, so {they_are} not ranked.")
    return found


def code(rows: Sequence[Row]) -> str:
    return ranking.listed([f"`{row.name}`" for row in rows])


def without_places(rows: Sequence[Row], head: str) -> str:
    highest = max(row.share.median for row in rows)
    those = [row for row in rows if row.share.median == highest]
    if len(rows) == 1:
        return f"{code(rows)} has {TOO_FEW}: {shown(rows[0])}."
    words = f"Each {head} has {TOO_FEW}"
    if not any(row.share.high for row in rows):
        return f"{words}, and no frame was decodable in time."
    each = ranking.listed([f"`{row.name}`, {row.share.text(unit=' %')}"
                           for row in those])
    return (f"{words}, so nothing is ranked. The highest median is that of "
            f"{each} of the frames decodable in time.")


def shown(row: Row) -> str:
    """Returns a text with the percentage of frames that were decodable in
    time. A second percentage may be known: the percentage that a sender with
    perfect foresight would have delivered in time. If it is known, the text
    also contains this second percentage.
    """
    words = f"{row.share.text(unit=' %')} of the frames were decodable in time"
    if row.possible:
        # `row.possible` contains a percentage for each run: how many frames a
        # sender with perfect foresight would have delivered in time. If all
        # runs have the same percentage, `text` is this percentage. Otherwise
        # `text` is the range of the percentages.
        possible = ranking.range_of(row.possible)
        text = (possible.text(unit=PERCENT) if possible.low != possible.high
                else f"{possible.median:.1f}{PERCENT}")
        words += f", and {text} were possible"
    return words


def shared_place(best: Sequence[Row]) -> str:
    if len(best) <= MAX_NAMED:
        each = "; ".join(f"`{row.name}` {row.share.text(unit=' %')}"
                         for row in best)
        return (f"{code(best)} share the first place, because their ranges "
                f"overlap. Frames decodable in time: {each}.")
    highest = sorted(best, key=lambda row: -row.share.median)[:NAMED]
    each = ranking.listed([f"`{row.name}`, {row.share.text(unit=' %')}"
                           for row in highest])
    return (f"{len(best)} rows share the first place, because their ranges "
            f"overlap. The highest medians are those of {each} of the frames "
            "decodable in time.")


def paired_lead(best: Sequence[Row], ranked: Sequence[Row], head: str) -> str:
    """Compares each run of a row with those runs of the other rows that have
    the same seed and repetition number. If one row is better by at least
    MIN_LEAD in all these comparisons, returns a sentence about this row.
    Otherwise returns "".

    A row can be better in all comparisons even if the ranges of the rows
    overlap. For example, its worst run can be worse than the best run of
    another row. If these two runs have different seeds, they used different
    links and are not compared.
    """
    for row in best:
        others = [other for other in ranked if other is not row]
        seeds = {seed for seed, _ in row.keys}
        if len(seeds) < MIN_SEEDS or any(set(other.keys) != set(row.keys)
                                         for other in others):
            continue
        own = dict(zip(row.keys, row.shares))
        lead = min(own[key] - share for other in others
                   for key, share in zip(other.keys, other.shares))
        # The sentence says that the difference is at least this number of
        # percentage points. The number is rounded down, because otherwise the
        # sentence might be false.
        points = math.floor(10 * lead) / 10
        if points >= MIN_LEAD:
            return (f" With each seed, `{row.name}` showed at least "
                    f"{points:.1f} percentage points more than every other "
                    f"{head} with the same seed.")
    return ""


def first_place(best: Sequence[Row], ranked: Sequence[Row], head: str) -> str:
    if len(ranked) == 1:
        return (f"{code(best)}: {shown(best[0])}. Each other {head} has "
                f"{TOO_FEW}, so nothing is ranked.")
    complete = [row for row in best if row.is_complete]
    if complete:
        others = [f"`{row.name}`, {row.share.text(unit=' %')}"
                  for row in best if row not in complete]
        return (f"With {code(complete)} every frame was decodable in time in "
                "every run." + (f" The best runs of {ranking.listed(others)} "
                                "reached this, too." if others else ""))
    if len(best) > 1:
        return shared_place(best) + paired_lead(best, ranked, head)
    lower = max((row for row in ranked if row not in best),
                key=lambda row: row.share.high)
    # `lead` is the difference in percentage points that the returned text
    # names. The text says "at least", so `lead` is rounded down. Otherwise the
    # text might be false.
    lead = math.floor(10 * (best[0].share.low - lower.share.high)) / 10
    more = f"at least {lead:.1f} percentage points more" if lead else "more"
    return (f"{code(best)} wins: {shown(best[0])}. In every run it showed "
            f"{more} than every other {head}. The next one is "
            f"`{lower.name}` with {lower.share.text(unit=' %')}.")
