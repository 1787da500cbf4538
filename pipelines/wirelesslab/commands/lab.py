# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command line of the lab, which runs every protocol over every link at
every bitrate with every seed and makes one report.
"""

import argparse
import pathlib
import shlex
import signal
import sys
from collections.abc import Callable

from wirelesslab import paths, processes
from wirelesslab.errors import LabError
from wirelesslab.lab import cells, grid, link_check, matrix, scratch
from wirelesslab.report import (
    comparisons,
    results_csv,
    run_results,
    two_matrices,
    workload_statistics,
)
from wirelesslab.workloads import definitions


def run_cell(options: argparse.Namespace) -> None:
    if options.with_parent:
        processes.end_with_parent(signal.SIGTERM)
    run = scratch.run if options.scratch else cells.run
    run(options.directory.resolve(), options.build)


def run_grid(options: argparse.Namespace) -> None:
    """Runs the experiments of a matrix file, which are called cells. Raises
    LabError if a cell failed. A cell whose result was flagged as unreliable
    does not count as failed.
    """
    found = matrix.only(matrix.read(options.file), options.only)
    if options.known:
        found, words = results_csv.without_known(
            found, results_csv.read_table(options.known))
        print("".join(f"{line}\n" for line in words), end="")
        if not found:
            return
    found, left_out = grid.possible(found, options.build)
    link_check.check(options.file, found, options.build)
    if options.list:
        print("\n".join(cell["name"] for cell in found))
        print(grid.left_to_run(found, options)[1], file=sys.stderr)
        return
    failed = grid.run_all(found, left_out, options)
    if len(failed) < len(found):
        print_numbers(options)
    if failed:
        raise LabError(f"{len(failed)} of {len(found)} cells failed; the lines "
                       "above say why")


def print_numbers(options: argparse.Namespace) -> None:
    """Prints the results of all workloads other than video, such as file
    transfers or phone calls. If a paper has published results for the same
    workload over the same link, prints the published results, too.
    """
    runs, _, _ = run_results.read(options.output, options.build, 0)
    others = [run for run in runs
              if matrix.kind(run.cell) not in (definitions.VIDEO, matrix.LIVE)]
    for own in workload_statistics.by_kind(others).values():
        print("\n".join(workload_statistics.text(own)))


def write_report(options: argparse.Namespace) -> None:
    try:
        from wirelesslab.report import page as pages
    except ImportError as missing:
        raise LabError(
            f"the report needs the Python module {missing.name}, which is not "
            "installed. Install it with: pipelines/setup lab") from None
    beside = pages.write(
        options.directory.resolve(), options.build, options.late,
        options.page.resolve(), lambda words: print(words, flush=True),
        options.by, options.only, options.problems)
    print(f"{options.page}, with its plots and tables in "
          f"{options.page.parent / beside.name}")


def compare(options: argparse.Namespace) -> None:
    """Compares two results of the lab. Prints the differences, and writes a
    page about them.
    """
    a, b = (results_csv.read(path, options.build, options.late,
                             lambda words: print(words, flush=True))
            for path in (options.a, options.b))
    found = two_matrices.compare(a, b)
    print("\n".join(two_matrices.text(found)))
    try:
        from wirelesslab.report import two_matrices_page
    except ImportError as missing:
        raise LabError(
            f"no page: it needs the Python module {missing.name}, which is not "
            "installed. Install it with: pipelines/setup lab") from None
    table = two_matrices_page.write(found, options.page.resolve())
    print(f"{options.page}, and all numbers in {table}")


def merge(options: argparse.Namespace) -> None:
    """Reads several tables of runs and writes all their rows into one table.
    """
    parts = [results_csv.read(path, options.build, options.late,
                              lambda words: print(words, flush=True))
             for path in options.parts]
    merged = results_csv.merge(parts)
    results_csv.write(options.file, merged)
    print(f"{len(merged.rows)} runs in {options.file}")
    commits = sorted({row["commit"] for row in merged.rows})
    if len(commits) > 1:
        print(f"These runs are of {len(commits)} commits: {', '.join(commits)}")


def parse_arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="pipelines/lab", description="Runs every protocol of a matrix "
        "over every link, at every bitrate, with every seed.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, function: Callable[[argparse.Namespace], None],
                words: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=words, description=words)
        added.set_defaults(function=function)
        added.add_argument("--build", type=pathlib.Path, metavar="DIR",
                           default=paths.BUILD_DIR,
                           help="build directory (build)")
        return added

    one = command("run", run_cell,
                  "Runs one cell, even if it has a result already.")
    one.add_argument("directory", type=pathlib.Path,
                     help="directory of the cell, which grid has made")
    one.add_argument("--with-parent", action="store_true",
                     help="end when the parent process ends")
    one.add_argument("--scratch", action="store_true",
                     help="run in a new directory in $TMPDIR, and copy the "
                     "result when the run is complete")
    all_ = command("grid", run_grid,
                   "Runs the cells of a matrix that have no result yet.")
    all_.add_argument("file", type=pathlib.Path,
                      help="matrix file, such as pipelines/lab.ini")
    all_.add_argument("--output", type=pathlib.Path, metavar="DIR",
                      help="directory for all runs (BUILD/lab/NAME, where NAME "
                      "is that of the file)")
    all_.add_argument("--jobs", type=int, default=1, metavar="N",
                      help="number of runs in real time at the same time "
                      "(%(default)s)")
    all_.add_argument("--only", metavar="WORDS", default="",
                      help="run only the cells whose names have each of these "
                      "words between slashes, such as '6M tcp'")
    all_.add_argument("--again", action="store_true",
                      help="repeat the runs that were flagged")
    all_.add_argument("--plain", action="store_true",
                      help="do not use Snakemake even if it is installed")
    all_.add_argument("--known", type=pathlib.Path, metavar="FILE",
                      help="do not run the cells whose results are in this "
                      "file, which is runs.csv of a report")
    all_.add_argument("--profile", metavar="DIR", default="",
                      help="run the cells on a cluster, with this profile of "
                      "Snakemake, such as pipelines/profiles/slurm")
    all_.add_argument("--list", action="store_true",
                      help="only print the names of the cells, and how long "
                      "those without a result take")
    page = command("report", write_report,
                   "Makes a page with the results of a grid.")
    page.add_argument("directory", type=pathlib.Path,
                      help="directory of the runs (--output of grid)")
    page.add_argument("--late", type=int, metavar="MS",
                      help="a frame that is later than this is of no use (500; "
                      "for live encoders, the key late of the matrix)")
    page.add_argument("--by", choices=comparisons.WAYS, default="protocol",
                      help="compare the values of this key, with all other "
                      "keys equal (%(default)s)")
    page.add_argument("--only", metavar="WORDS", default="",
                      help="show only the groups whose titles have all these "
                      "words")
    page.add_argument("--page", type=pathlib.Path, metavar="FILE",
                      help="file of the page (report.html in the directory)")
    page.add_argument("--problems", type=pathlib.Path, metavar="FILE",
                      # The help does not list --problems, because only the demo
                      # writes files that this option reads.
                      help=argparse.SUPPRESS)
    two = command("compare", compare,
                  "Compares two results of the same matrix.")
    join = command("merge", merge,
                   "Writes the results of several machines into one table.")
    join.add_argument("file", type=pathlib.Path, metavar="FILE",
                      help="table to write, such as runs.csv")
    what = ("directory of runs or of a report, or its runs.csv")
    for name in ("a", "b"):
        two.add_argument(name, type=pathlib.Path, metavar=name.upper(),
                         help=what)
    join.add_argument("parts", type=pathlib.Path, metavar="PART", nargs="+",
                      help=what)
    for one_of in (two, join):
        one_of.add_argument("--late", type=int, metavar="MS",
                            default=results_csv.LATE_MS,
                            help="a frame that is later than this is of no "
                            "use; only for directories of runs (%(default)s)")
    two.add_argument("--page", type=pathlib.Path, metavar="FILE",
                     help="file of the page (BUILD/lab/compare.html)")
    options = parser.parse_args(words)
    options.command = shlex.join(["pipelines/lab", *(words or sys.argv[1:])])
    options.build = options.build.resolve()
    if options.function is run_grid:
        if options.jobs < 1:
            parser.error("--jobs must be at least 1")
        if options.profile and options.plain:
            parser.error("--profile needs Snakemake, so it can't be used with "
                         "--plain")
        options.output = (options.output or options.build / "lab"
                          / options.file.stem).resolve()
    if options.function is compare:
        options.page = options.page or options.build / "lab" / "compare.html"
    if options.function in (write_report, compare, merge):
        if options.late is not None and options.late < 0:
            parser.error("--late must be at least 0")
    if options.function is write_report:
        options.page = options.page or options.directory / "report.html"
    return options


def main() -> None:
    options = parse_arguments()
    processes.die_on_signals()
    options.function(options)
