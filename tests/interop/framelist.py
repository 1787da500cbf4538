# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads a log of the element mpegstat. Each line of the log becomes a
dictionary.
"""

import collections
import csv

NUMBERS = ("wall_ns", "arrival_ns", "expected_ns", "latency_ns",
           "temporal_reference", "coding_number", "display_number",
           "pts_90khz", "size_bytes", "closed_gop", "broken_link", "pictures",
           "lost_frames")


def read_log(path):
    with open(path, newline="") as lines:
        rows = list(csv.DictReader(lines))
    for row in rows:
        for name in NUMBERS:
            row[name] = int(row[name]) if row[name] else None
    return rows


def lost_by_type(rows):
    """Returns {frame type: number of lost frames of this type}. `rows`
    contains the lines of the log. A line whose event is `lost` stands for one
    lost frame or for several consecutive lost frames.
    """
    found = collections.Counter()
    for row in of(rows, "lost"):
        found[row["type"]] += row["lost_frames"]
    return found


def of(rows, event):
    return [row for row in rows if row["event"] == event]
