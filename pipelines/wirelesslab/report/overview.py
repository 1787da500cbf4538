# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the comparison at the top of README.md: a table and a bar chart of the
runs of comparison.ini.

Each protocol has runs with several seeds. The range of a protocol extends from
the lowest to the highest share of frames in time in these runs. Protocols
whose ranges overlap are put into one group. If A overlaps B and B overlaps C,
all three are in one group, even if A and C do not overlap. Within a group the
order is alphabetical, because the runs do not show which protocol is better.
"""

import csv
import pathlib
import statistics
import typing
from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape

from wirelesslab.errors import LabError
from wirelesslab.report import names
from wirelesslab.streams import transports

# A report of the lab contains the file runs.csv, a table with a row for each
# run. These are the columns of runs.csv that are used to compare the
# transports.
COLUMNS = ("protocol", "seed", "flagged", "decodable %", "latency median ms",
           "latency 99 % ms")
SHARE, MEDIAN, PERCENTILE = COLUMNS[3:]
# The name that the table shows for each transport: its elements and settings.
# The keys are the names of sections in transports.ini.
NAMES = {
    "dccpthin": "ifdqueue ! dccpthinsink",
    "http": "web server, souphttpsrc",
    "ifd": "ifdsink",
    "mmtp": "mmtpsink latency=450",
    "rist": "ristsink, 450 ms",
    "rtp": "rfc2250pay ! udpsink",
    "rtp-stock": "rtpmpvpay ! udpsink",
    "srt": "srtsink latency=450",
    "tcp": "tcpclientsink",
    "udplite": "rfc2250pay ! udplitesink",
}
OURS = {"dccpthin", "ifd", "mmtp", "rtp", "udplite"}

WIDTH, LABELS, BARS = 824, 216, 480  # pixels
ROW, BAR, GAP, HEAD, FOOT = 24, 14, 10, 64, 30


class Spread(typing.NamedTuple):
    low: float
    median: float
    high: float

    def text(self, form: str) -> str:
        low, median, high = (form.format(value) for value in self)
        return median if low == high else f"{median} ({low}–{high})"


class Row(typing.NamedTuple):
    protocol: str
    # The percentage of the frames that can be decoded in time, with its range
    # over the runs.
    share: Spread
    # The median latency in ms, with its range over the runs.
    median: Spread
    # The 99th percentile of the latency in ms, with its range over the runs.
    percentile: Spread

    @property
    def name(self) -> str:
        return NAMES[self.protocol]

    @property
    def is_ours(self) -> bool:
        return self.protocol in OURS

    @property
    def colour(self) -> str:
        """The colour of the transport, which is the same in every report."""
        return names.colour(transports.read()[self.protocol])


# ------------------------------------------------------------------ the numbers

def reduce(runs: pathlib.Path, target: pathlib.Path) -> None:
    """Copies a table of runs from the file `runs` to the file `target`. Only
    the columns in COLUMNS are copied.
    """
    with open(runs, newline="") as file:
        found = [[row[name] for name in COLUMNS]
                 for row in csv.DictReader(file)]
    with open(target, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([*row[:3], *(f"{float(value):.3f}"
                                      for value in row[3:])]
                         for row in found)


def read(path: pathlib.Path) -> list[list[Row]]:
    """Reads the runs from the file `path`, and makes a table row for each
    protocol. The share of frames in time differs between the runs of a
    protocol, so the row contains the range of the share. Returns the rows in
    groups. The ranges of a group overlap, so it is not known which of its
    protocols is better. The group with the most frames in time comes first.
    """
    with open(path, newline="") as file:
        runs = list(csv.DictReader(file))
    flagged = sum(int(run["flagged"]) for run in runs)
    if flagged:
        raise LabError(f"{flagged} runs were flagged, because this machine was "
                       "late. They are not reliable. Repeat them with: "
                       "pipelines/lab grid --again")
    rows = []
    for protocol in dict.fromkeys(run["protocol"] for run in runs):
        own = [run for run in runs if run["protocol"] == protocol]
        rows.append(Row(protocol, *(
            spread(float(run[name]) for run in own)
            for name in (SHARE, MEDIAN, PERCENTILE))))
    return group(rows)


def spread(values: Iterable[float]) -> Spread:
    found = sorted(values)
    return Spread(found[0], statistics.median(found), found[-1])


def group(rows: Iterable[Row]) -> list[list[Row]]:
    groups, lowest = [], 0.0
    for row in sorted(rows, key=lambda row: -row.share.high):
        if groups and row.share.high >= lowest:
            groups[-1].append(row)
            lowest = min(lowest, row.share.low)
        else:
            groups.append([row])
            lowest = row.share.low
    return [sorted(own, key=lambda row: row.name) for own in groups]


# ---------------------------------------------------------------------- a table

def table(groups: Sequence[Sequence[Row]]) -> list[str]:
    """Returns the lines of a Markdown table with the results of the senders.
    The result of each sender is a range of values. The first column of the
    table is the place of the sender in the ranking, where 1 is the best place.

    Each group in `groups` has the rows of senders whose ranges overlap. It is
    not known which of them is better, so all senders of the group get the same
    text in the first column. For example, the place of three senders may be "2
    to 4".
    """
    lines = ["| place | sender | decodable in time, % | latency: median, ms "
             "| 99th percentile, ms |",
             "| --- | --- | --- | --- | --- |"]
    first = 1
    for own in groups:
        last = first + len(own) - 1
        place = f"{first}" if first == last else f"{first} to {last}"
        lines += [f"| {place} | `{row.name}` | {row.share.text('{:.1f}')} "
                  f"| {row.median.text('{:.0f}')} "
                  f"| {row.percentile.text('{:.0f}')} |" for row in own]
        first = last + 1
    return [line.replace("`web server, souphttpsrc`",
                         "web server, `souphttpsrc`")
            .replace("`ristsink, 450 ms`",
                     "`ristsink` with `receiver-buffer=450`")
            for line in lines]


def insert(text: str, lines: Sequence[str], name: str) -> str:
    """Replaces a part of `text`, the text of a page, by `lines`, and returns
    the new text. The part lies between two HTML comments that contain `name`.
    Raises LabError if one of these comments is missing.
    """
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
    before, found, rest = text.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found or not found_end:
        raise LabError(f"the page has no marks <!-- begin {name} --> and "
                       f"<!-- end {name} -->")
    return "".join((before, begin, *(line + "\n" for line in lines), end,
                    after))


# ---------------------------------------------------------------------- a chart

def chart(groups: Sequence[Sequence[Row]], title: str) -> str:
    """Returns a bar chart as an SVG. The bar of a protocol shows the
    percentage of frames that can be decoded in time, as the median over the
    runs. A thin line shows the range over the runs.
    """
    parts, top = [], HEAD
    for own in groups:
        for row in own:
            parts += draw_row(row, top)
            top += ROW
        top += GAP
    height = top + FOOT
    return "\n".join((
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
        f'height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'font-family="DejaVu Sans, Verdana, sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        text(12, 22, title, 'font-size="14" font-weight="bold"'),
        text(12, 42, "Frames that can be decoded within half a second of their "
             "time, % of all", 'fill="#444444"'),
        *draw_axis(top),
        *parts,
        *draw_legend(height - 14),
        "</svg>", ""))


def place(percent: float) -> float:
    return round(LABELS + BARS * percent / 100, 1)


def text(x: float, y: float, words: str, style: str = "") -> str:
    return f'<text x="{x}" y="{y}" {style}>{escape(words)}</text>'


def draw_row(row: Row, top: int) -> list[str]:
    middle = top + ROW / 2
    low, high = place(row.share.low), place(row.share.high)
    caps = "".join(f'M{x} {middle - 4}V{middle + 4}' for x in (low, high))
    return [
        text(LABELS - 8, middle + 4, row.name, 'text-anchor="end"'
             + (' font-weight="bold"' if row.is_ours else "")),
        f'<rect x="{LABELS}" y="{middle - BAR / 2}" '
        f'width="{round(place(row.share.median) - LABELS, 1)}" '
        f'height="{BAR}" fill="{row.colour}"/>',
        f'<path d="M{low} {middle}H{high}{caps}" stroke="#111111" '
        'stroke-width="1.5" fill="none"/>',
        text(high + 6, middle + 4, row.share.text("{:.1f}"))]


def draw_axis(bottom: int) -> list[str]:
    lines = []
    for percent in range(0, 101, 20):
        x = place(percent)
        lines += [
            f'<path d="M{x} {HEAD - 4}V{bottom - GAP}" stroke="#dddddd"/>',
            text(x, HEAD - 8, f"{percent}",
                 'text-anchor="middle" fill="#666666" font-size="10"')]
    return lines


def draw_legend(y: int) -> list[str]:
    return [
        text(12, y, "bold: this project", 'font-weight="bold"'),
        text(160, y, "others: stock elements"),
        f'<path d="M330 {y - 4}h16M330 {y - 8}v8M346 {y - 8}v8" '
        'stroke="#111111" stroke-width="1.5"/>',
        text(354, y, "lowest and highest of three seeds; rows of one block "
             "overlap")]
