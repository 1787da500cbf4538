# SPDX-License-Identifier: LGPL-2.1-or-later
"""Computes the definition of a cell (an experiment of the lab) and its
checksum. The definition contains everything on which the runs of the cell
depend and that all of them have in common, such as the pipelines, the
properties of the link and the clip. If the definitions of two results have the
same checksum, the results are comparable, even if they come from different
times or machines.

The definition contains no seed, no repetition number and no titles. It
contains no directories of files either, because these differ between machines.
"""

import difflib
import hashlib
import json
import pathlib
import shlex
from typing import Any

from wirelesslab.descriptions import Cell
from wirelesslab.lab import matrix

# Two runs of the lab are comparable if the definitions of their experiments
# (cells) are equal. A definition consists of the keys of the experiment's
# description, without the keys listed here. The key `theirs` contains results
# that a scientific paper reports for this experiment.
NOT_DEFINING = {"name", "seed", "repetition", "theirs"}
DIGITS = 12


def checksum(cell: Cell) -> str:
    text = json.dumps(of(cell), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def of(cell: Cell) -> dict[str, Any]:
    return portable({key: value for key, value in cell.items()
                     if key not in NOT_DEFINING})


def differences(one: Cell, other: Cell) -> list[str]:
    """Compares the definitions of two cells (experiments), `one` and `other`.
    Returns one line for each key whose values differ, such as
    "link.properties: -rate=6 +rate=5". A minus sign marks a word that occurs
    only in `one`, and a plus sign marks a word that occurs only in `other`.
    """
    values = [flat(of(cell)) for cell in (one, other)]
    lines = []
    for key in dict.fromkeys([*values[0], *values[1]]):
        words = [str(own[key]).split() if key in own else [] for own in values]
        found = [f"{line[0]}{line[2:]}" for line in difflib.ndiff(*words)
                 if line[0] in "-+"]
        if found:
            lines.append(f"{key}: {' '.join(found)}")
    return lines


def flat(value: Any, key: str = "") -> dict[str, Any]:
    """Converts nested dictionaries and lists into one dictionary without
    nesting, and returns it. The keys are joined by dots, for example {"a.b": 5}
    for {"a": {"b": 5}}. For an element of a list, its index is used as the key.
    `key` is the prefix of all keys in the result.
    """
    if not isinstance(value, (dict, list)):
        return {key: value}
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    return {name: own for part, each in inner
            for name, own in flat(each, f"{key}.{part}" if key else f"{part}"
                                  ).items()}


def portable(value: Any, key: str = "") -> Any:
    """Returns a copy of `value`, which is a description of an experiment or a
    part of it. The copy is equal on all machines. It contains no titles. In
    the properties of a link, the path of a file is reduced to the file name.
    """
    if isinstance(value, dict):
        return {name: portable(inner, name) for name, inner in value.items()
                if name != "title"}
    if isinstance(value, list):
        return [portable(inner) for inner in value]
    if key == "properties" and isinstance(value, str):
        return shlex.join(map(without_directory, shlex.split(value)))
    return value


def without_directory(word: str) -> str:
    name, _, value = word.partition("=")
    return f"{name}={pathlib.PurePath(value).name}" if name in matrix.FILES \
        else word
