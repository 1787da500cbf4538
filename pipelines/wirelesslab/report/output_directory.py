# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where the plots and tables of a report are. Anybody may name the page, so
that nothing is removed but what an older report made. It needs no Jinja2."""

import pathlib

from wirelesslab import files
from wirelesslab.errors import LabError
from wirelesslab.lab import cells

# In a directory of plots and tables, which the next report may replace
MARKER = ".lab-report"


def make_beside(page: pathlib.Path, runs: pathlib.Path) -> pathlib.Path:
    """The directory for the page's plots and tables, empty but for the marker.
    It has the page's name without the ending; the directory `runs` is nowhere
    in it, nor is any other run."""
    beside = page.with_suffix("")
    what = f"{beside}, the directory for the plots and tables of {page.name},"
    if beside == page:
        raise LabError(f"{page} needs an ending, such as .html, since "
                       "its plots and tables are in a directory that "
                       "has its name without one")
    if runs.resolve().is_relative_to(beside.resolve()):
        raise LabError(f"{what} contains the runs: name another page")
    files.check_own(beside, MARKER)
    if any(beside.rglob(cells.CELL)):
        raise LabError(f"{what} contains runs: move them, or name "
                       "another page")
    files.empty(beside, MARKER)
    return beside
