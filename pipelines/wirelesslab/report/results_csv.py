# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads, writes and merges the results of a matrix as a table with a row for
each run. This table is the file runs.csv of a report. It can be read without
the directories of the runs, for example if somebody else has sent it. Tables
from several machines, or from several times, are merged into one table."""

import csv
import pathlib
import typing
from collections.abc import Callable, Iterable

from wirelesslab import process_pool
from wirelesslab.descriptions import Cell
from wirelesslab.errors import LabError
from wirelesslab.lab import definition, grid, matrix
from wirelesslab.report import run_results
from wirelesslab.workloads import definitions

RUNS = "runs.csv"
NAME, PROTOCOL, REPETITION = "name", "protocol", "repetition"
DEFINITION = "definition"
# Columns that every runs.csv must have. A file without one of them is refused.
NEEDED = (NAME, PROTOCOL, "link", "rate Mbit/s", "codec", "seed", REPETITION,
          "flagged", "decodable %")
LATE_MS = 500
RUNS_BETWEEN_WORDS = 20
Row = dict[str, str]


class Results(typing.NamedTuple):
    path: pathlib.Path
    heads: list[str]
    rows: list[Row]
    # Maps the name of each experiment to its settings (a Cell). The name does
    # not contain the number of the repetition, so all repetitions of an
    # experiment share one entry. Empty if the results come from a runs.csv,
    # because that file does not contain the settings.
    cells: dict[str, Cell] = {}


def read(path: pathlib.Path, build: pathlib.Path | None,
         late_ms: int = LATE_MS,
         words: Callable[[str], None] = lambda _: None) -> Results:
    """Reads the results in `path`. This is a directory of runs, a directory
    that contains a runs.csv, or the file runs.csv itself. Raises LabError if
    `path` has no results.

    The results of a directory of runs must be computed first, which takes long.
    Therefore this function calls `words` with lines about the progress."""
    if (path / grid.GRID).exists():
        return measure(path, build, late_ms, words)
    for file in (path, path / RUNS, path / "report" / RUNS):
        if file.is_file():
            return read_table(file)
    if not path.exists():
        raise LabError(f"{path} does not exist")
    raise LabError(f"{path} has no results: neither {grid.GRID}, which "
                   f"pipelines/lab grid writes, nor {RUNS}, which "
                   "pipelines/lab report writes")


def measure(path: pathlib.Path, build: pathlib.Path | None, late_ms: int,
            words: Callable[[str], None]) -> Results:
    """Computes the results of all video runs in the directory `path`, on all
    processor cores. A frame counts as late if its lateness exceeds `late_ms`
    ms. Calls `words` from time to time with a line about the progress.
    """
    found, _, _ = run_results.read(path, build, late_ms)
    runs = [run for run in found
            if matrix.kind(run.cell) == definitions.VIDEO]
    if not runs:
        raise LabError(f"{path} has no runs with a clip, and only these have a "
                       f"{RUNS}")
    for number, (numbers, run) in enumerate(zip(
            process_pool.each(run_results.Run.numbers, runs), runs), 1):
        run.know(numbers)
        if number % RUNS_BETWEEN_WORDS == 0:
            words(f"measured {number} of {len(runs)} runs of {path}")
    heads, rows = run_results.all_numbers(runs)
    return Results(
        path, heads, [dict(zip(heads, map(str, row))) for row in rows],
        {cell_of(run.cell["name"]): run.cell for run in runs})


def read_table(path: pathlib.Path) -> Results:
    try:
        with open(path, newline="") as file:
            reader = csv.DictReader(file, strict=True)
            heads = list(reader.fieldnames or [])
            rows = list(reader)
    except (csv.Error, UnicodeDecodeError) as error:
        raise LabError(f"{path} is not a CSV file: {error}") from None
    missing = [head for head in NEEDED if head not in heads]
    if missing:
        raise LabError(f"{path} is not a {RUNS} of a report: it has no column "
                       f"{missing[0]!r}")
    for number, row in enumerate(rows, 2):
        if None in row or None in row.values():
            raise LabError(f"{path}: line {number} does not have "
                           f"{len(heads)} columns")
    if not rows:
        raise LabError(f"{path} has no runs")
    return Results(path, heads, rows)


def write(path: pathlib.Path, results: Results) -> None:
    run_results.write_csv(path, results.heads,
                          [list(row.values()) for row in results.rows])


# ---------------------------------------------------------------------- merging

def merge(parts: Iterable[Results]) -> Results:
    """Merges the results in `parts` into one table. The table has the rows of
    all parts, in the order of the parts.

    If two parts contain the same run, only one row of this run is kept. If two
    parts contain different runs with the same cell and repetition number, the
    run of the later part gets the next free repetition number. Raises LabError
    if the columns of two parts differ, or if two parts define the same cell
    differently."""
    first, *others = parts
    for other in others:
        check_heads(first, other)
    known: dict[str, tuple[str, pathlib.Path]] = {}  # {cell: its definition}
    seen, taken, found = set(), set(), []
    for part in (first, *others):
        new = [row for row in part.rows if signature(row) not in seen]
        for row in new:
            whole = cell_of(row[NAME])
            own, origin = known.setdefault(whole, (row[DEFINITION], part.path))
            if own != row[DEFINITION]:
                raise LabError(
                    f"{part.path} and {origin} have different runs of {whole}: "
                    "their pipelines, properties or clips differ. Put them "
                    "beside each other with: pipelines/lab compare")
        names = free_names({row[NAME] for row in new}, taken)
        seen |= set(map(signature, new))
        taken |= set(names.values())
        found += [{**row, NAME: names[row[NAME]],
                   REPETITION: names[row[NAME]].rpartition("-")[2]}
                  for row in new]
    return Results(first.path, first.heads, found)


def check_heads(first: Results, other: Results) -> None:
    for one, two in ((first, other), (other, first)):
        missing = [head for head in one.heads if head not in two.heads]
        if missing:
            raise LabError(
                f"{two.path} has no column {missing[0]!r}, but {one.path} has. "
                "Make the reports of both with the same version of "
                "pipelines/lab report")
    if DEFINITION not in first.heads:
        raise LabError(f"{first.path} was written by an older version and has "
                       f"no column {DEFINITION!r}. Make it again with: "
                       "pipelines/lab report")


def signature(row: Row) -> tuple[str, ...]:
    """Returns the values by which two rows are compared. These values are equal
    if and only if the rows are of the same run.

    Two values of a row are left out: the number of the repetition, because
    merging changes it, and whether the run is flagged, because a newer version
    of the report may have another rule for flagged runs. Two runs in real time
    always differ in at least one of the remaining values."""
    return (cell_of(row[NAME]), *(
        value for head, value in row.items()
        if head not in (NAME, REPETITION, "flagged")))


def cell_of(name: str) -> str:
    """Returns the name of a cell (a run of a matrix) without the number of its
    repetition.
    """
    return name.rpartition("-")[0]


def free_names(names: set[str], taken: set[str]) -> dict[str, str]:
    """Returns a dictionary that maps each name in `names` to a name that is not
    in `taken`. A name that is not in `taken` is mapped to itself. For any other
    name, the repetition number at its end is replaced by the next free number.
    """
    found, used = {}, set(taken)
    for name in sorted(names, key=lambda name: (
            name in taken, cell_of(name), int(name.rpartition("-")[2]))):
        own = name
        while own in used:
            whole, _, repetition = own.rpartition("-")
            own = f"{whole}-{int(repetition) + 1}"
        used.add(own)
        found[name] = own
    return found


# ------------------------------------------------------------------ known cells

def without_known(found: list[Cell],
                  results: Results) -> tuple[list[Cell], list[str]]:
    """Returns a pair (missing cells, lines). A cell (an experiment) is missing
    if no row of `results` has its name and its definition. `lines` contains one
    line, which says how many cells are in `results`. If all cells are missing,
    `lines` is empty.
    """
    if DEFINITION not in results.heads:
        check_heads(results, results)
    known = {(row[NAME], row[DEFINITION]) for row in results.rows}
    left = [cell for cell in found
            if (cell["name"], definition.checksum(cell)) not in known]
    count = len(found) - len(left)
    return left, [f"{count} of {len(found)} cells are in {results.path}"] \
        if count else []

