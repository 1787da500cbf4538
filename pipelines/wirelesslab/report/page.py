# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the HTML page with the results of a matrix, which is a file that
describes experiments. This module computes the values for the template
page.html. It needs Jinja2 and matplotlib.
"""

import base64
import functools
import pathlib
import re
from collections.abc import Callable, Iterable
from typing import Any

import jinja2
import markupsafe

from wirelesslab import files, process_pool
from wirelesslab.errors import LabError
from wirelesslab.lab import matrix
from wirelesslab.report import (
    encoder_page,
    encoder_runs,
    front,
    link_plots,
    output_directory,
    plots,
    problems,
    run_results,
    workload_page,
    worst_seconds,
)
from wirelesslab.streams import lateness
from wirelesslab.workloads import definitions

TEMPLATE = pathlib.Path(__file__).with_name("page.html")
# The maximum number of bytes of plots and pictures in one page. They are
# embedded in the page in an encoding (base64) that makes them a third larger.
LARGEST_PAGE = 20_000_000
RUNS_BETWEEN_WORDS = 20
# Tables that are hidden until the reader unfolds them. FOLDED maps the name of
# each table to the text that the reader clicks.
FOLDED = {
    "summary": "All columns",
    "loss-runs": "Packets lost in a row",
    "attempts": "Transmissions of a packet",
    "latency-size": "Latency by the size of the frame",
}
MIME = {".png": "image/png", ".jpg": "image/jpeg", ".svg": "image/svg+xml",
        ".mp4": "video/mp4", ".webm": "video/webm"}


def write(output: pathlib.Path, build: pathlib.Path, late_ms: int | None,
          page: pathlib.Path, words: Callable[[str], None],
          by: str = "protocol", only: str = "",
          problem_file: pathlib.Path | None = None) -> pathlib.Path:
    """Writes the page, and a directory beside it for the plots and tables of
    the page. Returns the path of this directory. Calls `words`, a function of
    the caller, with each progress message.
    """
    encoder_late_ms = late_ms
    late_ms = lateness.LATE_MS if late_ms is None else late_ms
    runs, missing, command = run_results.read(output, build, late_ms, by)
    live = encoder_page.chosen(
        [encoder_runs.of_run(run, build, encoder_late_ms) for run in runs
         if matrix.kind(run.cell) == matrix.LIVE], only)
    groups, others = chosen(
        [run for run in runs if matrix.kind(run.cell) != matrix.LIVE],
        only, bool(live))
    films = [run for own in groups for run in own]
    runs = films + [one.run for one in live] + others
    beside = output_directory.make_beside(page, output)
    measure(films, words)
    found = []
    for made in process_pool.each(functools.partial(group, beside=beside),
                                  enumerate(groups, 1)):
        words(f"group {made['number']} of {len(groups)}: {made['title']}")
        found.append(made)
    if films:
        run_results.write_csv(beside / "runs.csv",
                              *run_results.all_numbers(films))
    found += [{**made, "number": number} for number, made in enumerate(
        [*encoder_page.groups(live, beside, words),
         *workload_page.groups(others, beside)], len(found) + 1)]
    cells = run_results.of_cells(runs)
    shown = problems.read(problem_file)
    problems.claim(found, shown)
    write_pages(found, page, {
        "missing": missing, "left_out": run_results.left_out(output),
        "runs": cells, "films": films, "live": live, "late_ms": late_ms,
        "by": by, "only": only, "facts": facts(cells, command),
        "flagged": [run for run in cells if run.is_flagged],
        "notes": notes(runs), "problems": shown,
        "protocols": {run.transport["name"]: run.transport
                      for run in runs}.values(),
        "links": {run.cell["link"]["name"]: run.cell["link"]
                  for run in runs}.values()})
    return beside


def chosen(
        runs: list[run_results.Run], only: str, has_others: bool = False
) -> tuple[list[list[run_results.Run]], list[run_results.Run]]:
    """Divides `runs` for the page. `runs` does not contain the runs with a
    live encoder. Returns two lists: the groups of runs with video that are
    compared, and the runs that send other traffic than video.

    `only` is the value of the option --only, a list of words. If `only` is not
    empty, the first list contains only the groups whose titles contain all of
    these words, and the second list is empty.

    `has_others` says whether the page also shows runs with a live encoder.
    LabError is raised if `has_others` is false and no title contains all of
    the words.
    """
    films = [run for run in runs if matrix.kind(run.cell) == definitions.VIDEO]
    groups = [own for own in run_results.grouped(
        films, lambda run: run.group).values()
        if all(word in title_of(own).lower() for word in only.lower().split())]
    if only and not groups and not has_others:
        raise LabError(f"no group has all words of {only!r} in its title")
    return groups, [] if only else [run for run in runs if run not in films]


def title_of(runs: list[run_results.Run]) -> str:
    return runs[0].way.group_title(runs[0])


def measure(runs: list[run_results.Run], words: Callable[[str], None]) -> None:
    """Computes the results of each run and stores them in its Run object. This
    takes long, mainly because the pictures of each run are compared with the
    clip. The results of this comparison are kept in the directory of the run.
    The caller's function `words` is called with progress messages.
    """
    for number, (numbers, run) in enumerate(zip(
            process_pool.each(run_results.Run.numbers, runs), runs), 1):
        run.know(numbers)
        if number % RUNS_BETWEEN_WORDS == 0:
            words(f"measured {number} of {len(runs)} runs")


# ------------------------------------------------------------------------ pages

def write_pages(groups: list[dict[str, Any]], page: pathlib.Path,
                values: dict[str, Any]) -> None:
    """Writes the report as one page that contains all plots. If this page
    would be too large for a browser, writes one page for each group instead,
    and a page with links to them.
    """
    beside = page.with_suffix("")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATE.parent), autoescape=True,
        trim_blocks=True, lstrip_blocks=True)
    environment.globals["embedded"] = embedded
    environment.filters["marked"] = marked
    template = environment.get_template(TEMPLATE.name)
    if size_of(groups) <= LARGEST_PAGE:
        files.write_whole(page, template.render(
            groups=groups, index=groups[1:] and groups, part="main",
            place=f"{beside.name}/", **values))
        return
    for made in groups:
        (beside / f"{made['number']}.html").write_text(template.render(
            groups=[made], index=[], part="group", place="",
            main=f"../{page.name}", **values))
    files.write_whole(page, template.render(
        groups=[], index=groups, part="index", place=f"{beside.name}/",
        **values))


def size_of(groups: Iterable[dict[str, Any]]) -> int:
    """Returns the total size in bytes of all plots, pictures and videos."""
    return sum(path.stat().st_size for made in groups for path in (
        *(shown["path"] for shown in (*made["plots"], *made["pictures"])
          if shown["path"]), *worst_seconds.paths(made)))


def group(numbered: tuple[int, list[run_results.Run]],
          beside: pathlib.Path) -> dict[str, Any]:
    """Writes the tables and plots for one group of compared runs. Returns the
    values that the template of the page needs to show this group.
    """
    number, runs = numbered
    runs = front.in_order(runs)
    prefix = f"{number}-"
    tables = []
    for name, words, table in (
            ("summary", "", run_results.summary(runs)),
            ("loss-runs", "Series of packets that were lost one after the "
             "other. Each column has the share of the series that have this "
             "length.", run_results.loss_runs(runs)),
            ("attempts", "Number of transmissions of each packet that was on "
             "the air.", run_results.attempts(runs)),
            ("latency-size", "Median latency of frames by their size, in ms.",
             run_results.latency_by_size(runs)),
            ("fairness", "Streams over one link at the same time: the "
             "throughput of each stream while all of them were sending, and "
             "Jain's index of fairness (1: all have the same throughput). The "
             "numbers of packets are of all streams together.",
             run_results.fairness(runs))):
        if table is None:
            continue
        path = beside / f"{prefix}{name}.csv"
        run_results.write_csv(path, *table)
        tables.append({"words": words, "heads": table[0], "rows": table[1],
                       "folded": FOLDED.get(name, ""),
                       "file": path.name})
    figures = []
    for name, (draw, words) in {**plots.ALL,
                                  **link_plots.ALL}.items():
        path = beside / f"{prefix}{name}.svg"
        plots.save(draw(runs), path)
        figures.append({"words": words, "file": path.name, "path": path})
    return {"number": number, "title": title_of(runs), "tables": tables,
            "plots": figures, "is_video": True, "seeds": seeds(runs),
            "of_elements": runs[0].way.head == "protocol",
            "pictures": [], **front.group(runs),
            **worst_seconds.of_clips(runs, prefix, beside)}


def seeds(runs: list[run_results.Run]) -> list[int]:
    return sorted({run.cell["seed"] for run in runs})


def marked(words: str) -> markupsafe.Markup:
    """Returns the text `words` as HTML. Text between backquotes is marked as
    code. A line break inside a range of numbers is prevented.
    """
    words = re.sub(r"(?<=\d)–(?=\d)", "\u2060–\u2060", words)
    return markupsafe.Markup("").join(
        markupsafe.Markup("<code>{}</code>").format(part) if place % 2 else part
        for place, part in enumerate(words.split("`")))


def embedded(path: pathlib.Path | str) -> str:
    path = pathlib.Path(path)
    data = base64.b64encode(path.read_bytes()).decode()
    return f"data:{MIME[path.suffix]};base64,{data}"


# -------------------------------------------------------------- facts and notes

def facts(runs: list[run_results.Run], command: str) -> list[tuple[str, str]]:
    """Returns the facts that somebody needs in order to repeat the runs, as a
    list of tuples (name, value).
    """
    def each(value: Callable[[run_results.Run], Any]) -> str:
        return ", ".join(dict.fromkeys(str(value(run)) for run in runs))

    return [
        ("command", command),
        ("seeds", ", ".join(map(str, seeds(runs)))),
        ("seconds of the clip", each(
            lambda run: run.cell["seconds"] or "no clip")),
        ("commit", each(lambda run: run.machine["commit"] or "unknown")),
        ("kernel", each(lambda run: run.machine["kernel"])),
        ("GStreamer", each(lambda run: run.machine["gstreamer"])),
        ("cores", each(lambda run: run.machine["cores"])),
        ("runs", str(len(runs))),
    ]


def notes(runs: list[run_results.Run]) -> list[str]:
    """Returns notes about the runs, for the reader of the page. A note
    consists of the name of a run and a text. There is one note for each
    warning of the run's pipelines. If the machine has no network namespaces,
    there may be one more note for the run, whose text lists what could not be
    emulated.
    """
    return list(dict.fromkeys(
        f"{run.cell['name']}: {words}" for run in runs
        for words in [*run.warnings, run.left_out] if words))
