# SPDX-License-Identifier: LGPL-2.1-or-later
"""The problems of live video that a page describes. For each problem, the page
contains a table that compares transports, a text about the result, and the
usual advice.

The program pipelines/demo measures the problems and writes them to a file. The
program that makes the page reads this file. They are separate programs,
because they may run in different versions of Python. This module does not need
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
    what: str  # A text that describes the problem of the link.

    # The table that shows the problem: the titles of its columns, and its
    # rows. The first cell of a row names the sender.
    heads: list[str]
    rows: list[list[str]]
    # A text that stands below the table and explains the columns of the table.
    key: str
    # A sentence that says which transport had the best results, and by how
    # much.
    finding: str
    why: str
    # A text with the usual advice for this problem. It says how a user can
    # reduce the problem without another transport, and what this costs.
    advice: str
    pictures: list[Picture] = dataclasses.field(default_factory=list)
    # Titles of groups of runs. A report is divided into such groups. This list
    # has the groups in whose runs the link has the problem that this Problem
    # object describes.
    groups: list[str] = dataclasses.field(default_factory=list)
    # The reason why the runs of this problem were left out, so that the table
    # has no rows. It is "" if the table has rows.
    left_out: str = ""

    def text(self, wrapped: Callable[[str], list[str]]) -> list[str]:
        """Returns the problem as lines of text for a terminal. The argument
        `wrapped` is a function that divides a paragraph into such lines.
        """
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
    """Returns the problems that are stored in the file `path`. If `path` is
    None, returns an empty list.
    """
    if path is None:
        return []
    return [Problem(**{**found, "pictures": [
        Picture(**picture) for picture in found["pictures"]]})
        for found in json.loads(path.read_text())]


def claim(groups: Sequence[dict[str, Any]],
          shown: Sequence[Problem]) -> None:
    """Each problem on the page names the groups of runs in which the problem
    occurs. Each group contains a list of sentences about its results
    (`findings`). The text of the problem already describes these results. This
    function therefore empties the list of sentences in each group that a
    problem names. `shown` contains all problems on the page.
    """
    titles = {title for problem in shown for title in problem.groups}
    for group in groups:
        if group["title"] in titles:
            group["findings"] = []
