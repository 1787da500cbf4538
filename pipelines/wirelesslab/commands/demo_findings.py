# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the tables and sentences that show the results of the demo. The demo
runs several transports for each of a few problems, such as a link that is too
slow. In the sentences, names of elements are between backquotes.
"""

import dataclasses
import math
import statistics
from collections.abc import Callable, Sequence

from wirelesslab.report import findings
from wirelesslab.report.findings import Frames, Row
from wirelesslab.report.names import BOTH_LINKS, MPTCP
from wirelesslab.report.ranking import listed, range_of

# Two transports are ranked only if their shares of frames that arrived in time
# differ by more than this number of percentage points. The demo runs each
# transport only once over the link of demo.ini, so a smaller difference may be
# due to chance. In three runs of the same transport, the share differed by at
# most 5.2 percentage points (docs/lab-figures.md).
REPEATS_DIFFER = 6.0
# Difference of two shares, in percentage points. The share of a transport is
# the percentage of its frames that arrive in time. The demo compares the
# transports over several pairs of mobile links. It names a transport as the
# winner only if, over each pair, the share of the winner exceeds the share of
# every other transport by more than this difference. In two runs of one
# transport over the same pair, the share differed by at most 10.8 percentage
# points.
LINKS_DIFFER = 11.0
# Fraction that decides whether a sender used both of its two links. For each
# link, the mean rate of all delivered packets is known. They include the
# packets that the receiver sent. If the lower rate is more than this fraction
# of the higher rate, the sender used both links for the video. Otherwise, the
# link with the lower rate carried only probes of the sender, or packets of the
# receiver.
USED_SHARE = 0.05
HEADS = ["sender", "in time %", "I %", "P %", "B %", "latency", "99 %", "PSNR"]
# HEADS lists all columns of the table. If each sender has several runs, the
# cells of the table contain ranges of values, such as "90 (85–95)". A table
# with all columns would then be too wide for a terminal. Columns that are not
# in RANGED are therefore left out in this case.
RANGED = ("sender", "in time %", "I %", "99 %", "PSNR")
# Transports that deliver all data in order. Each entry is the name by which
# names.key_element() identifies a transport: that of an element or of a
# connection.
IN_ORDER = ("tcpclientsink", "souphttpsrc", "mptcp")
# Transports that retransmit lost packets, but give up a packet after a limited
# time. Each entry is the name of an element.
RETRANSMITTING = ("srtsink", "ristsink", "rtprtxsend")
RADIO_HEADS = ["sender", "lost %", "used damaged", "whole frames %", "delay",
               "PSNR"]
# Results of all transports over one radio, in the form {name of the transport:
# {name of a measured value: value}}.
Summary = dict[str, dict[str, float]]


@dataclasses.dataclass(frozen=True)
class Sender:
    """The results of all runs of a transport over a link. Each field that is a
    list has one value for each run.
    """
    row: Row
    median_ms: list[float]
    percentile_ms: list[float]
    psnr_db: list[float]
    # Whether at least one run is flagged as unreliable, because the machine
    # was busy during the run.
    is_flagged: bool = False
    # The name by which the transport is identified: that of its main element,
    # or that of a connection, such as "mptcp". names.key_element() returns
    # this name.
    element: str = ""
    # The latency of mmtpsink in ms; 0 if the sender is not mmtpsink.
    mmtp_latency_ms: int = 0

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def code(self) -> str:
        """Returns the name of the transport, with backquotes around the name of
        its element.
        """
        if self.name == MPTCP:
            return self.name
        name = self.name.removesuffix(BOTH_LINKS)
        return f"`{name}`{self.name[len(name):]}"

    @property
    def share(self) -> float:
        return self.row.share.median

    def cells(self) -> list[str]:
        in_time = [[100 - each.missing(type) for each in self.row.frames]
                   for type in findings.TYPES]
        return [self.name + ("*" if self.is_flagged else ""),
                spread(self.row.shares, "{:.1f}"),
                *(spread(shares, "{:.0f}") for shares in in_time),
                spread(self.median_ms, "{:.0f}"),
                spread(self.percentile_ms, "{:.0f}"),
                spread(self.psnr_db, "{:.1f}")]


def spread(values: Sequence[float], form: str) -> str:
    """Returns the median of the values as a text. If the values differ, the
    lowest and the highest value follow in parentheses. `form` is the format of
    a value.
    """
    low, median, high = (
        "–" if math.isnan(value) else
        "∞" if math.isinf(value) else form.format(value)
        for value in range_of(values)[:3])
    return median if low == high else f"{median} ({low}–{high})"


def in_order(senders: Sequence[Sender]) -> list[Sender]:
    return sorted(senders, key=lambda sender: -sender.share)


def table(senders: Sequence[Sender]) -> tuple[list[str], list[list[str]]]:
    """Returns the column heads and the rows of a table with one row for each of
    the `senders`.
    """
    columns = [place for place, head in enumerate(HEADS)
               if head in RANGED or not have_ranges(senders)]
    return ([HEADS[place] for place in columns],
            [[cells[place] for place in columns]
             for cells in (sender.cells() for sender in in_order(senders))])


def have_ranges(senders: Sequence[Sender]) -> bool:
    return all(sender.row.share.is_known for sender in senders)


def key(senders: Sequence[Sender], late_ms: int) -> str:
    """Returns a text that explains the columns of the table of `senders`.
    A frame counts as late if it arrives more than `late_ms` ms after its due
    time.
    """
    words = (f"In time: frames that a decoder can show at most {late_ms} ms "
             "late, because they and all frames that they refer to arrived; in "
             "% of all frames. ")
    words += ("I: I-frames that arrived in time. 99 %: 99th percentile of the "
              "latency in ms. " if have_ranges(senders) else
              "I, P and B: frames of each type that arrived in time. Latency: "
              "its median and 99th percentile in ms. ")
    words += "PSNR: of the pictures that a viewer sees, in dB. "
    runs = sorted({sender.row.share.runs for sender in senders})
    if have_ranges(senders):
        words += (f"Each value is the median of {runs[0]} runs, with the "
                  "lowest and the highest run in parentheses.")
    else:
        words += ("Each sender ran once. Two runs of the same sender differ by "
                  f"up to {REPEATS_DIFFER:.0f} percentage points.")
    if any(sender.is_flagged for sender in senders):
        words += (" *: this machine was busy, which may have changed the "
                  "result.")
    return words


# ------------------------------------------------------------ frames of a clip

def percents(values: Sequence[float], form: str = "{:.0f}") -> str:
    """Returns "3 %" or "3 to 5 %"."""
    low, high = form.format(min(values)), form.format(max(values))
    return f"{low} %" if low == high else f"{low} to {high} %"


def names(senders: Sequence[Sender]) -> str:
    return listed([sender.code for sender in senders])


def first_place(senders: Sequence[Sender]) -> list[Sender]:
    """Returns the sender with the highest share of frames that arrived in
    time. Also returns all senders whose share is lower by at most
    REPEATS_DIFFER percentage points, because each of them might be the first
    if all runs were repeated.
    """
    highest = max(sender.share for sender in senders)
    return [sender for sender in in_order(senders)
            if sender.share >= highest - REPEATS_DIFFER]


def clip_finding(senders: Sequence[Sender]) -> str:
    """Returns sentences that say which of the `senders` is best, and by how
    much.
    """
    if have_ranges(senders):
        return in_pairs(in_order(senders))
    first = first_place(senders)
    return " ".join(placed(first, [
        sender for sender in in_order(senders) if sender not in first]))


def clip_reasons(senders: Sequence[Sender], late_ms: int) -> str:
    """Returns a text that says why frames of the clip were not in time. The
    text mentions the best of the `senders`, and all other senders for which a
    reason is known.
    """
    ordered = in_order(senders)
    first = ordered[:1] if have_ranges(senders) else first_place(senders)
    others = [sender for sender in ordered if sender not in first]
    return " ".join(filter(None, (
        why_first(first), *map(what_is_missing, first),
        why_next(others[:1]), why_others(others, late_ms))))


def in_pairs(senders: Sequence[Sender]) -> str:
    """Returns sentences that compare the first sender with the other senders.
    There are several pairs of links, and each sender was run once over each
    pair. Each sender has a list of results. The lists of all senders are in
    the same order: the n-th result of each sender is that of the n-th pair.
    The senders are compared separately for each pair, because a result depends
    more on the pair than on the sender.
    """
    first, *others = senders
    if not others:
        return f"{first.code}: {shares_in_time(first)}."
    leads = [[own - other for own, other in zip(
        first.row.shares, sender.row.shares, strict=True)]
        for sender in others]
    count = len(first.row.shares)
    second = others[0]
    if all(lead > LINKS_DIFFER for each in leads for lead in each):
        return (f"{first.code} wins over each of {count} pairs of links: "
                f"{shares_in_time(first)}. The next one, {second.code}, had "
                f"{spread(second.row.shares, '{:.1f}')} %, which is "
                f"{between(leads[0], '{:.1f}')} percentage points less over "
                f"the same links. The last one, {others[-1].code}, had "
                f"{spread(others[-1].row.shares, '{:.1f}')} %.")
    safest = max(senders, key=lambda one: min(one.row.shares))
    if safest is first:
        words = (f"{first.code} had the best median and the best worst "
                 f"result: {shares_in_time(first)}. ")
    else:
        words = (f"{first.code} had the best median: {shares_in_time(first)}. "
                 f"{safest.code} had the best worst result: "
                 f"{min(safest.row.shares):.1f} %. ")
    better = sum(lead > 0 for lead in leads[0])
    clearly = sum(lead > LINKS_DIFFER for lead in leads[0])
    return (f"{words}The next median is that of {second.code}: "
            f"{spread(second.row.shares, '{:.1f}')} %. Over the same links, "
            f"{first.code} showed more than {second.code} over {better} of "
            f"{count} pairs, and more than {LINKS_DIFFER:.0f} percentage "
            f"points more over {clearly} of them. Two runs of a sender over "
            f"the same links differ by up to {LINKS_DIFFER:.0f} points, and "
            "no sender is ahead of all others by more than this over each "
            "pair, so there is no winner.")


def shares_in_time(sender: Sender) -> str:
    return f"{spread(sender.row.shares, '{:.1f}')} % of the frames were in time"


def placed(first: Sequence[Sender], others: Sequence[Sender]) -> list[str]:
    """Returns sentences that compare senders. Each sender has only one run.
    The share of a sender is the percentage of frames that arrived in time.
    `first` contains the sender with the highest share. It also contains the
    senders whose share is only a little lower, because repeated runs might
    change the order of all these senders. `others` contains the other senders,
    in the order of decreasing share.
    """
    differ = ("Two runs of the same sender differ by up to "
              f"{REPEATS_DIFFER:.0f} percentage points")
    if len(first) == 1:
        words = [f"{names(first)} showed most in its one run: "
                 f"{first[0].share:.1f} % of the frames were in time."]
    else:
        words = [f"{names(first)} showed most in their one run: "
                 f"{percents([one.share for one in first], '{:.1f}')} of the "
                 f"frames were in time. {differ}, so these senders are not "
                 "ranked."]
    if not others:
        return words
    lead = first[-1].share - others[0].share
    words.append(f"The next one, {names(others[:1])}, had "
                 f"{others[0].share:.1f} %, which is {lead:.1f} percentage "
                 "points less.")
    if len(first) == 1:
        # The share of a sender is the percentage of frames that arrived in
        # time. `first` contains the sender with the highest share. It also
        # contains each sender whose share is at most REPEATS_DIFFER percentage
        # points below the highest share. Here `first` contains only one
        # sender. The share of the next sender, others[0], is therefore more
        # than REPEATS_DIFFER points below the highest share. This difference
        # is `lead`, so `lead` is greater than REPEATS_DIFFER.
        words.append(f"{differ}, which is less than this lead.")
    if len(others) > 1:
        words.append(f"The last one, {names(others[-1:])}, had "
                     f"{others[-1].share:.1f} %.")
    return words


def why_first(first: Sequence[Sender]) -> str:
    only_b = [sender for sender in first if findings.is_only_b(sender.row)]
    complete = [sender for sender in first if sender.row.is_complete]
    words = []
    if complete:
        words.append(f"With {names(complete)} every frame was in time.")
    if only_b:
        missing = of_frames(only_b, lambda each: each.missing("B"))
        words.append(
            f"With {names(only_b)} all I- and P-frames were in time. Only "
            f"B-frames are missing, {percents(missing)} of them, and no other "
            "frame refers to a B-frame.")
    return " ".join(words)


def why_next(second: Sequence[Sender]) -> str:
    """`second` is a list with the sender that ranks next after the best
    senders. The list is empty if there is no such sender. If only B-frames of
    this sender were missing, the function returns a sentence with the
    percentage of its B-frames that were missing. Otherwise it returns "".
    """
    only_b = [sender for sender in second if findings.is_only_b(sender.row)]
    if not only_b:
        return ""
    missing = of_frames(only_b, lambda each: each.missing("B"))
    return (f"{names(only_b)} missed only B-frames, too: {percents(missing)} "
            "of them.")


def why_others(others: Sequence[Sender], late_ms: int) -> str:
    """Returns the reasons why the senders in `others` did not deliver all
    frames in time. Each reason is one sentence. Senders for which no reason is
    known are not mentioned."""
    in_order = [sender for sender in others if sender.element in IN_ORDER
                and is_in_all_runs(sender, lambda each: each.all_late()
                                   > each.all_lost())]
    slow = [sender for sender in others
            if sender.mmtp_latency_ms > late_ms
            and is_in_all_runs(sender, Frames.all_late)]
    known = in_order + slow
    late = [sender for sender in others if sender not in known
            and findings.is_too_late(sender.row)]
    known += late
    retransmitting = [sender for sender in others if sender not in known
                      and sender.element in RETRANSMITTING
                      and is_in_all_runs(sender, missing_i)]
    words = []
    if in_order:
        share = of_frames(in_order, Frames.all_late)
        words.append(
            f"{names(in_order)} delivered {percents(share)} of the frames more "
            f"than {late_ms} ms late: TCP drops nothing and delivers in order, "
            "so later frames wait for earlier ones.")
    if retransmitting:
        missing = of_frames(retransmitting, missing_i)
        verbs = ("retransmits and gives up" if len(retransmitting) == 1
                 else "retransmit and give up")
        words.append(
            f"{names(retransmitting)} {verbs} packets without regard to the "
            f"type of their frame: {percents(missing)} of the I-frames were "
            "late or lost, and no frame that refers to such an I-frame can be "
            "decoded.")
    for sender in slow:
        share, lost = (of_frames([sender], value)
                       for value in (Frames.all_late, Frames.all_lost))
        words.append(
            f"{sender.code} has a latency of {sender.mmtp_latency_ms} ms, so "
            f"it also sends frames that arrive more than {late_ms} ms late: "
            f"{percents(share)} of the frames were late and "
            f"{percents(lost)} were lost.")
    if late:
        share = of_frames(late, Frames.all_late)
        words.append(f"{names(late)} delivered {percents(share)} of the frames "
                     f"more than {late_ms} ms late.")
    return " ".join(words)


def is_in_all_runs(sender: Sender, is_so: Callable[[Frames], float]) -> bool:
    return all(map(is_so, sender.row.frames))


def what_is_missing(sender: Sender) -> str:
    """Returns a sentence that says how many percent of the sender's frames
    were lost, and how many percent were late. Returns "" in two cases: if all
    frames were in time, and if all frames that were lost or late are B-frames.
    In these two cases, another function, why_first(), writes about the sender.
    """
    if sender.row.is_complete or findings.is_only_b(sender.row):
        return ""
    lost, late = (of_frames([sender], value)
                  for value in (Frames.all_lost, Frames.all_late))
    return (f"{sender.code} lost {percents(lost)} of the frames, and "
            f"{percents(late)} were late.")


def missing_i(frames: Frames) -> float:
    return frames.missing("I")


def of_frames(senders: Sequence[Sender],
              value: Callable[[Frames], float]) -> list[float]:
    """Calls the function `value` for each run of each sender. Returns a list of
    the values that the function has returned."""
    return [value(frames) for sender in senders for frames in sender.row.frames]


def lower_bitrate(rate: int, senders: Sequence[Sender]) -> str:
    """Returns the usual advice for a bottleneck, which is to lower the
    bitrate. The text states how many percent of the frames were in time when
    the clip of `rate` Mbit/s was streamed. `senders` are the senders that
    streamed this clip.
    """
    if not senders:
        return ""
    shares = [share for sender in senders for share in sender.row.shares]
    words = ("The usual advice is to lower the bitrate. With the clip of "
             f"{rate} Mbit/s, {percents(shares, '{:.1f}')} of the frames were "
             f"in time ({names(in_order(senders))}).")
    if min(shares) >= 100 - REPEATS_DIFFER:
        words += " Then the choice of the transport hardly matters."
    return words


def of_links(rates: Sequence[tuple[str, Sequence[Sequence[float]]]]) -> str:
    """Returns sentences about the rate at which each sender used each link.
    `rates` has one pair (name, runs) for each sender. The name is enclosed in
    backquotes. `runs` contains one list for each run: the rate on each link in
    Mbit/s. The sentences contain the medians over all runs.
    """
    medians = [(name, [statistics.median(each) for each in zip(*runs)])
               for name, runs in rates]
    both = [(name, each) for name, each in medians
            if min(each) > USED_SHARE * max(each)]
    words = [f"{name} got {listed([f'{rate:.1f}' for rate in each])} Mbit/s "
             "through the links."
             for name, each in both]
    single = [(name, max(each)) for name, each in medians
              if (name, each) not in both]
    if single:
        words.append(
            f"{listed([name for name, _ in single])} got "
            f"{between([rate for _, rate in single], '{:.1f}')} Mbit/s through "
            "one link.")
    return " ".join(words)


# ---------------------------------------------------- packets that are damaged

def of_each(summaries: Sequence[Summary], transport: str,
            value: Callable[[dict[str, float]], float]) -> list[float]:
    return [value(summary[transport]) for summary in summaries]


def lost_percent(numbers: dict[str, float]) -> float:
    return 100 * numbers["lost"] / numbers["sent"]


def radio_rows(summaries: Sequence[Summary], frames: int,
               called: dict[str, str]) -> list[list[str]]:
    """Returns the rows of the table, one for each transport. Each value of a
    row summarizes all radios. `summaries` has the results for each radio,
    `called` maps each transport to its name in the table, and `frames` is the
    number of frames of the clip."""
    return [[name, *(spread(of_each(summaries, transport, value), form)
                     for value, form in (
                         (lost_percent, "{:.1f}"),
                         (lambda one: one["damaged"], "{:.0f}"),
                         (lambda one: 100 * one["whole_frames"] / frames,
                          "{:.1f}"),
                         (lambda one: 1000 * one["delay_s"], "{:.0f}"),
                         (lambda one: one["psnr_db"], "{:.1f}")))]
            for transport, name in called.items()]


def radio_finding(summaries: Sequence[Summary], frames: int,
                  late_ms: int) -> str:
    """Returns sentences that compare the transports. Each transport was run
    over several emulated radios, and `summaries` has one element for each
    radio. The radios damage different packets, so two transports are compared
    only over the same radio. `frames` is the number of frames of the clip.
    """
    return " ".join([with_rlp(summaries, frames), without_rlp(summaries),
                     delays(summaries, late_ms)])


def with_rlp(summaries: Sequence[Summary], frames: int) -> str:
    best = sum(one["udp-rlp"]["psnr_db"] > max(
        one[name]["psnr_db"] for name in ("udp", "udplite"))
        for one in summaries)
    whole = of_each(summaries, "udp-rlp",
                    lambda one: 100 * one["whole_frames"] / frames)
    longer = longer_ms(summaries)
    words = (f"`udpsink` over a bearer with RLP had the best pictures with "
             f"{of_all(best, summaries)}, and {between(whole, '{:.1f}')} % of "
             "its frames were whole.")
    if min(longer) > 0:
        words += (f" Its packets took {between(longer, '{:.0f}')} ms longer on "
                  "average than without RLP.")
        if best == len(summaries):
            words += " It is the best choice if this delay is acceptable."
    return words


def without_rlp(summaries: Sequence[Summary]) -> str:
    gains = [one["udplite"]["psnr_db"] - one["udp"]["psnr_db"]
             for one in summaries]
    better = sum(gain > 0 for gain in gains)
    words = ("Without RLP, the pictures of `udplitesink` were closer to what "
             "was sent than those of `udpsink` with "
             f"{of_all(better, summaries)}")
    if better == len(gains):
        words += f", by {between(gains, '{:.1f}')} dB (PSNR)"
    lite, plain = (of_each(summaries, name, lambda one: one["psnr_db"])
                   for name in ("udplite", "udp"))
    words += "."
    if min(lite) <= max(plain) and min(plain) <= max(lite):
        words += (" Their ranges over all radios overlap, so compare them only "
                  "over the same radio." if better == len(gains) else
                  " Their ranges over all radios overlap.")
    return words


def delays(summaries: Sequence[Summary], late_ms: int) -> str:
    lite, rlp = (statistics.median(of_each(
        summaries, name, lambda one: 1000 * one["delay_s"]))
        for name in ("udplite", "udp-rlp"))
    return (f"The limit of {late_ms} ms of the other problems is not applied "
            f"here: the mean delay was {lite:.0f} ms with `udplitesink` and "
            f"{rlp:.0f} ms with RLP.")


def of_all(number: int, summaries: Sequence[Summary]) -> str:
    """Returns a text such as "2 of 3 radios". The first number is `number`.
    The second number is the number of all radios, which is the length of
    `summaries`. If the two numbers are equal, the text begins with "each of",
    as in "each of 3 radios".
    """
    return (f"{'each' if number == len(summaries) else number} of "
            f"{len(summaries)} radios")


def longer_ms(summaries: Sequence[Summary]) -> list[float]:
    """Returns a number for each radio: the mean delay of UDP with RLP minus the
    mean delay of UDP without RLP, in ms."""
    return [1000 * (one["udp-rlp"]["delay_s"] - one["udp"]["delay_s"])
            for one in summaries]


def radio_reasons(summaries: Sequence[Summary], seconds: int) -> str:
    lost = [between(of_each(summaries, name, lost_percent), "{:.1f}")
            for name in ("udp", "udplite")]
    damaged = of_each(summaries, "udplite", lambda one: one["damaged"])
    return ("The same packets are damaged for both. UDP discards a packet with "
            f"a single wrong byte, so `udpsink` loses {lost[0]} % of the "
            "packets. UDP-Lite delivers it if its headers are correct: "
            f"{between(damaged, '{:.0f}')} damaged packets in {seconds} s of "
            "the clip. The decoder uses their undamaged parts. `udplitesink` "
            f"loses {lost[1]} %.")


def between(values: Sequence[float], form: str) -> str:
    low, high = form.format(min(values)), form.format(max(values))
    return low if low == high else f"{low} to {high}"


def let_the_bearer_retransmit(summaries: Sequence[Summary]) -> str:
    lost = of_each(summaries, "udp-rlp", lost_percent)
    words = ("The usual advice is to let the bearer retransmit (RLP, the radio "
             f"link protocol of GSM). `udpsink` then lost "
             f"{between(lost, '{:.1f}')} % of the packets.")
    if min(longer_ms(summaries)) > 0:
        words += (" UDP-Lite is for video that cannot wait for the "
                  "retransmissions.")
    return words


RADIO_KEY = ("Lost: packets, in %. Used damaged: packets with wrong bytes that "
             "the receiver got. Whole frames: frames of which no packet is "
             "missing, in %. Delay: mean of the packets, in ms. PSNR: of the "
             "pictures that a viewer sees, in dB. A row has the median of the "
             "radios and, in parentheses, the lowest and highest value.")


