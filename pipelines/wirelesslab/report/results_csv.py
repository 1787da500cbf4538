# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads, writes and merges the results of a matrix in the form of a table, the
file runs.csv of a report. The table has a row for each run. It can be read
without the directories of the runs, for example if somebody else has sent it.
Tables from several machines or times can be merged into one.
"""

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
# Columns that every runs.csv must have. If one of them is missing, the file is
# rejected.
NEEDED = (NAME, PROTOCOL, "link", "rate Mbit/s", "codec", "seed", REPETITION,
          "flagged", "decodable %")
LATE_MS = 500
RUNS_BETWEEN_WORDS = 20
Row = dict[str, str]


class Results(typing.NamedTuple):
    path: pathlib.Path
    heads: list[str]
    rows: list[Row]
    # The descriptions of the experiments, as {name: Cell}. The name does not
    # contain the number of the repetition, so all repetitions of an experiment
    # have one common entry. The dictionary is empty if the results come from a
    # runs.csv, which does not contain descriptions.
    cells: dict[str, Cell] = {}


def read(path: pathlib.Path, build: pathlib.Path | None,
         late_ms: int = LATE_MS,
         words: Callable[[str], None] = lambda _: None) -> Results:
    """Reads the results in `path`. `path` is a directory of runs, a directory
    that contains a runs.csv, or the file runs.csv itself. Raises LabError if
    there are no results.

    For a directory of runs, the results must be computed first, which takes
    long. During this time, the caller's function `words` is called with
    progress messages.
    """
    if (path / grid.GRID).exists():
        return measure(path, build, late_ms, words)
    for file in (path, path / RUNS, path / "report" / RUNS):
        if file.is_file():
            return read_table(file)
    if not path.exists():
        raise LabError(f"Could not read {path}: name the directory of runs or "
                       f"a {RUNS}")
    raise LabError(f"{path} has no results: neither {grid.GRID}, which "
                   f"pipelines/lab grid writes, nor {RUNS}, which "
                   "pipelines/lab report writes")


def measure(path: pathlib.Path, build: pathlib.Path | None, late_ms: int,
            words: Callable[[str], None]) -> Results:
    """Computes the results of the runs in the directory `path`. Only runs that
    stream a clip are computed. The runs are distributed over all processor
    cores. A frame counts as late if it arrives more than `late_ms` ms after
    its due time. Calls `words`, a function of the caller, with progress
    messages.
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

    If two parts contain the same run, its row is kept only once. If two parts
    contain different runs of the same experiment with the same repetition
    number, the run in the later part gets the next free repetition number.
    Raises LabError if two parts have different columns, or different
    definitions of the same experiment.
    """
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
    """Returns the values that identify a run in a table. Two rows have equal
    values if and only if they are about the same run.

    Two columns are left out. The number of the repetition changes when tables
    are merged. Whether a run is flagged as unreliable depends on a rule that
    may differ between versions of the report. The remaining columns suffice,
    because they contain the results of the run. A run takes place in real
    time, so two runs never have equal results.
    """
    return (cell_of(row[NAME]), *(
        value for head, value in row.items()
        if head not in (NAME, REPETITION, "flagged")))


def cell_of(name: str) -> str:
    """Returns the name of an experiment without the number of the repetition,
    which is at the end of the name.
    """
    return name.rpartition("-")[0]


def free_names(names: set[str], taken: set[str]) -> dict[str, str]:
    """Returns {name: free name} for all `names`. A name is free if it is not
    in `taken`. A name that is free itself is kept. In any other name, the
    repetition number at the end is replaced by the next number that makes the
    name free.
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
    """Returns two lists. The first list has those experiments (cells) in
    `found` that have no result in `results`. An experiment has a result if a
    row of `results` has the same name and the same definition. The second list
    has a line of text that says how many experiments have a result. If no
    experiment in `found` has a result, the second list is empty.
    """
    if DEFINITION not in results.heads:
        check_heads(results, results)
    known = {(row[NAME], row[DEFINITION]) for row in results.rows}
    left = [cell for cell in found
            if (cell["name"], definition.checksum(cell)) not in known]
    count = len(found) - len(left)
    return left, [f"{count} of {len(found)} cells are in {results.path}"] \
        if count else []

