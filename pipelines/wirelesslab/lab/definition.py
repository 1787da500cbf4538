# SPDX-License-Identifier: LGPL-2.1-or-later
"""A short checksum of everything that defines the runs of a cell, so that
results of several times and machines can be told apart: the pipelines, the
properties of the link, the clip. The seed and the repetition are not part of
it, and neither are titles and the directories of files, which differ between
machines."""

import hashlib
import json
import pathlib
import shlex
from typing import Any

from wirelesslab.descriptions import Cell
from wirelesslab.lab import matrix

# The numbers of a paper, and keys that the name of a cell has.
NOT_DEFINING = {"name", "seed", "repetition", "theirs"}
DIGITS = 12


def checksum(cell: Cell) -> str:
    own = {key: value for key, value in cell.items()
           if key not in NOT_DEFINING}
    text = json.dumps(portable(own), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def portable(value: Any, key: str = "") -> Any:
    """Returns the value without titles and without the directories of files.
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
