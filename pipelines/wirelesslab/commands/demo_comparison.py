# SPDX-License-Identifier: LGPL-2.1-or-later
"""The comparison that pipelines/demo makes without options: it streams the clip
by every available transport over the same bad link, and makes one table and one
page."""

import argparse
import os
import pathlib
import subprocess
import sys

from wirelesslab import paths
from wirelesslab.descriptions import Cell
from wirelesslab.errors import LabError
from wirelesslab.lab import cells, grid, matrix
from wirelesslab.report import run_results

MATRIX = paths.PIPELINES / "demo.ini"
LAB = paths.PIPELINES / "lab"
# Number of runs at the same time for each processor core. docs/lab.md says how
# late the runs become when more of them share a core.
AT_ONCE_PER_CORE = 1
# With a single run at a time, the demo would take four minutes.
MIN_AT_ONCE = 2
LATE_MS = 500


def run(build: pathlib.Path, output: pathlib.Path) -> None:
    found, left_out = grid.possible(matrix.read(MATRIX), build)
    start_anew(found, output)
    failed = grid.run_all(found, left_out, argparse.Namespace(
        output=output, build=build,
        jobs=max(MIN_AT_ONCE, AT_ONCE_PER_CORE * os.cpu_count()),
        again=False, plain=True, profile="", command="pipelines/demo"))
    if len(failed) == len(found):
        raise LabError("no transport could be run; the lines above say why")
    print_tables(output, build)
    print(*left_out, sep="\n", end="\n" if left_out else "", flush=True)
    write_page(output, build)


def start_anew(found: list[Cell], output: pathlib.Path) -> None:
    """Removes all results if the last demo ran to its end, so that all runs are
    repeated. If the last demo was interrupted, its results stay and this demo
    continues it.
    """
    results = [output / cell["name"] / cells.RESULT for cell in found]
    if all(result.exists() for result in results):
        for result in results:
            result.unlink()


def compare_pictures(runs: list[run_results.Run]) -> None:
    """Compares the pictures of each run with those of the clip and prints the
    progress, because this takes longest. Each run keeps its result for the
    tables and the page.
    """
    print()
    for number, run in enumerate(runs, 1):
        # The first access to this value compares the pictures.
        _ = run.pictures
        if sys.stdout.isatty() or number % 4 == 0 or number == len(runs):
            print(f"Comparing pictures: {number} of {len(runs)} runs",
                  end="\r" if sys.stdout.isatty() else "\n", flush=True)
    if sys.stdout.isatty():
        print()


def print_tables(output: pathlib.Path, build: pathlib.Path) -> None:
    runs, _, _ = run_results.read(output, build, LATE_MS)
    compare_pictures(runs)
    for own in run_results.grouped(runs, lambda run: run.group).values():
        cell = own[0].cell
        print(f"\n{cell['link']['title']}, clip of {cell['rate']} Mbit/s, "
              f"{cell['seconds']} s")
        print("\n".join(run_results.text(own)), flush=True)
    print("\nwhole: frames that arrived complete. ok: whole frames that are at "
          f"most {LATE_MS} ms late,\nas are all frames that they refer to. "
          "Latency in ms, PSNR in dB.")
    if any(run.is_flagged for run in runs):
        print("* This machine was so busy that it may have changed the result "
              "of this run\n(docs/lab.md and the page explain this).")


def write_page(output: pathlib.Path, build: pathlib.Path) -> None:
    done = subprocess.run([LAB, "report", output, "--build", build, "--late",
                           str(LATE_MS)], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    last = done.stdout.strip().splitlines()[-1:]
    print(*last if done.returncode == 0 else ["no report.html:", *last])
