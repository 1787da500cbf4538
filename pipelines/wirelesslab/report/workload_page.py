# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the part of the lab's report that is about workloads other than video:
a section for each kind of workload, for the template page.html."""

import pathlib
from typing import Any

from wirelesslab.report import (
    plots,
    run_results,
    workload_plots,
    workload_statistics,
)

TITLES = {
    "bulk": "Bulk transfer",
    "request-reply": "Request and reply",
    "voice": "Voice",
    "dial-up": "Calls",
}


def groups(runs: list[run_results.Run],
           beside: pathlib.Path) -> list[dict[str, Any]]:
    return [group(kind, own, beside)
            for kind, own in workload_statistics.by_kind(runs).items()]


def group(kind: str, runs: list[run_results.Run],
          beside: pathlib.Path) -> dict[str, Any]:
    run_results.write_csv(beside / f"{kind}-runs.csv",
                          *workload_statistics.all_numbers(runs))
    heads, rows = workload_statistics.summary(runs)
    path = beside / f"{kind}-summary.csv"
    run_results.write_csv(path, heads, rows)
    figures = []
    for name, (draw, words) in workload_plots.ALL[kind].items():
        picture = beside / f"{kind}-{name}.svg"
        plots.save(draw(runs), picture)
        figures.append({"words": words, "file": picture.name,
                        "path": picture})
    return {"title": TITLES[kind], "plots": figures, "pictures": [],
            "tables": [{"words": "", "heads": heads, "rows": rows,
                        "file": path.name}], "is_video": False}
