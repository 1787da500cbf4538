# SPDX-License-Identifier: LGPL-2.1-or-later
"""The problems of live video that a page describes. For each problem, the page
contains a table that compares transports, a text about the result, and the
usual advice. The demo writes the problems to a file, and the program that makes
the page reads this file. The two programs cannot share objects, because the
second program may run in another version of Python. This module does not need
Jinja2.
"""

import dataclasses
import json
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

from wirelesslab import files

TEMPLATE = "problems.html"


@dataclasses.dataclass(frozen=True)
class Picture:
    path: str
    words: str


@dataclasses.dataclass(frozen=True)
class Problem:
    title: str
    what: str  # A text that says what is wrong with the link.

    # The table: the titles of its columns, and its rows. The first cell of a
    # row names the sender.
    heads: list[str]
    rows: list[list[str]]
    # A text that says what the columns of the table mean.
    key: str
    # A text that says which transport had the best results, and by how much.
    finding: str
    why: str
    # A text with the usual advice: it says how the problem can be reduced
    # without a change of the transport, and what this costs.
    advice: str
    pictures: list[Picture] = dataclasses.field(default_factory=list)
    # The report is divided into groups of runs. This list contains the titles
    # of the groups in which this problem is shown in detail.
    groups: list[str] = dataclasses.field(default_factory=list)
    # The reason why the table has no rows, or "" if it has rows.
    left_out: str = ""

    def text(self, wrapped: Callable[[str], list[str]]) -> list[str]:
        """Returns the problem as lines for a terminal. `wrapped` divides a
        paragraph into lines."""
        lines = [self.title, *wrapped(self.what)]
        if self.rows:
            lines += ["", *text_table(self.heads, self.rows)]
        for words in (self.key, self.finding, self.why, self.advice,
                      self.left_out):
            if words:
                lines += ["", *wrapped(words)]
        return lines


def text_table(heads: Sequence[str],
               rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [heads, *rows]
    widths = [max(map(len, column)) for column in zip(*lines)]
    return ["  ".join([line[0].ljust(widths[0]),
                       *(cell.rjust(width) for cell, width
                         in zip(line[1:], widths[1:]))]).rstrip()
            for line in lines]


def write(path: pathlib.Path, problems: Sequence[Problem]) -> None:
    files.write_whole(path, json.dumps(
        [dataclasses.asdict(problem) for problem in problems], indent=1) + "\n")


def read(path: pathlib.Path | None) -> list[Problem]:
    """Returns the problems in the file `path`, or an empty list if there is no
    such file.
    """
    if path is None:
        return []
    return [Problem(**{**found, "pictures": [
        Picture(**picture) for picture in found["pictures"]]})
        for found in json.loads(path.read_text())]


def claim(groups: Sequence[dict[str, Any]],
          shown: Sequence[Problem]) -> None:
    """Empties the list `findings` of each group whose title is in the field
    `groups` of a problem in `shown`. The list contains sentences about the
    results of the group. The text of the problem already describes these
    results.
    """
    titles = {title for problem in shown for title in problem.groups}
    for group in groups:
        if group["title"] in titles:
            group["findings"] = []
