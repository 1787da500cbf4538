# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the sections of the lab's report about live encoders: one section for
each pair of a link and a video source. page.py inserts the sections into the
report.
"""

import pathlib
from collections.abc import Callable
from typing import Any

from wirelesslab import process_pool
from wirelesslab.report import (
    encoder_plots,
    encoder_runs,
    plots,
    run_results,
    worst_seconds,
)
from wirelesslab.report.encoder_runs import EncoderRun
from wirelesslab.streams import display

RUNS_CSV = "encoder-runs.csv"


def chosen(runs: list[EncoderRun], only: str) -> list[EncoderRun]:
    """Returns the runs that the user wants to see. `only` is the value of the
    option --only, a list of words. The report shows runs in groups. A run is
    returned if the title of its group contains all of these words.
    """
    return [run for run in runs if all(
        word in run.group_title.lower() for word in only.lower().split())]


def groups(runs: list[EncoderRun], beside: pathlib.Path,
           words: Callable[[str], None]) -> list[dict[str, Any]]:
    if not runs:
        return []
    measure(runs, words)
    run_results.write_csv(beside / RUNS_CSV, *encoder_runs.all_numbers(runs))
    return [group(f"encoder-{number}-", own, beside)
            for number, own in enumerate(run_results.grouped(
                runs, lambda run: run.group).values(), 1)]


def measure(runs: list[EncoderRun], words: Callable[[str], None]) -> None:
    """Computes the results of all runs in parallel on all processor cores.
    Stores the results of each run in its EncoderRun object. When a run is
    finished, calls `words`, a function of the caller, with a progress message.
    """
    for number, (numbers, run) in enumerate(zip(
            process_pool.each(EncoderRun.numbers, runs), runs), 1):
        run.know(numbers)
        words(f"measured {number} of {len(runs)} runs with a live encoder")


def group(prefix: str, runs: list[EncoderRun],
          beside: pathlib.Path) -> dict[str, Any]:
    heads, rows = encoder_runs.summary(runs)
    path = beside / f"{prefix}summary.csv"
    run_results.write_csv(path, heads, rows)
    figures = []
    for name, (draw, words) in encoder_plots.ALL.items():
        picture = beside / f"{prefix}{name}.svg"
        plots.save(draw(runs), picture)
        figures.append({"words": words, "file": picture.name,
                        "path": picture})
    limit = max(run.late_ms for run in runs)
    return {"title": runs[0].group_title, "plots": figures,
            "tables": [{
                "words": "A frame that cannot be shown within "
                f"{limit} ms after its capture is dropped. A frame that is "
                "dropped or lost has an infinite delay. The medians are of the "
                "runs that are not flagged.",
                "heads": heads, "rows": rows, "file": path.name}],
            "is_video": False, "pictures": [],
            **worst(runs, prefix, beside)}


def worst(runs: list[EncoderRun], prefix: str,
          beside: pathlib.Path) -> dict[str, Any]:
    """Makes a video that shows several runs next to the source. For each
    protocol, it shows the first run that was not flagged as unreliable. The
    plots over time show the same runs. The video covers the five seconds in
    which the pictures of these runs differ most from the source.

    Returns the values for the template worst_seconds.html. The files are
    written into the directory `beside`, and their names begin with `prefix`.
    """
    firsts = encoder_runs.firsts(runs)
    return worst_seconds.describe(
        [worst_seconds.Viewer(
            name, plots.look(place)["color"], run.encoded_path,
            display.shown(run.delays_ns), run.pictures)
         for place, (name, run) in enumerate(firsts.items())],
        next(iter(firsts.values())).source(), "the source", prefix, beside)
