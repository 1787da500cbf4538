# SPDX-License-Identifier: LGPL-2.1-or-later
"""What pipelines/demo does when nothing else is asked for: the clip by every
transport that is there over the same bad link, one table, and one page."""

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
AT_ONCE_PER_CORE = 1  # docs/lab.md has how late more are
MIN_AT_ONCE = 2  # one at a time takes four minutes
LATE_MS = 500


def run(build: pathlib.Path, output: pathlib.Path) -> None:
    found, left_out = grid.possible(matrix.read(MATRIX), build)
    start_anew(found, output)
    failed = grid.run_all(found, left_out, argparse.Namespace(
        output=output, build=build,
        jobs=max(MIN_AT_ONCE, AT_ONCE_PER_CORE * os.cpu_count()),
        again=False, plain=True, command="pipelines/demo"))
    if len(failed) == len(found):
        raise LabError("nothing could be run")
    print_tables(output, build)
    print(*left_out, sep="\n", end="\n" if left_out else "", flush=True)
    write_page(output, build)


def start_anew(found: list[Cell], output: pathlib.Path) -> None:
    """Who interrupted it goes on; who saw it to its end sees it again."""
    results = [output / cell["name"] / cells.RESULT for cell in found]
    if all(result.exists() for result in results):
        for result in results:
            result.unlink()


def compare_pictures(runs: list[run_results.Run]) -> None:
    """Now, as it takes longest, and is kept: it says how far it is."""
    print()
    for number, run in enumerate(runs, 1):
        _ = run.pictures  # compared when it is read first
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
    print(f"\nwhole: frames that arrived; ok: not {LATE_MS} ms late either, "
          "nor anything that they\nrefer to. Latency in ms, PSNR in dB.")
    if any(run.is_flagged for run in runs):
        print("* This machine was busy: take the times with care "
              "(page and docs/lab.md say more).")


def write_page(output: pathlib.Path, build: pathlib.Path) -> None:
    done = subprocess.run([LAB, "report", output, "--build", build, "--late",
                           str(LATE_MS)], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    last = done.stdout.strip().splitlines()[-1:]
    print(*last if done.returncode == 0 else ["no report.html:", *last])
