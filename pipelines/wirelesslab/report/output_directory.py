# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the directory for the plots and tables of a report. The directory has
the file name of the report without the suffix. The user chooses this name, so a
directory of this name may already exist. It is emptied only if an older report
made it. This module can be tested without Jinja2."""

import pathlib

from wirelesslab import files
from wirelesslab.errors import LabError
from wirelesslab.lab import cells

# The presence of this file means that the directory contains only plots and
# tables, and that the next report may empty it.
MARKER = ".lab-report"


def make_beside(page: pathlib.Path, runs: pathlib.Path) -> pathlib.Path:
    """Makes the directory for the plots and tables of a page, and returns its
    path. The directory has the name of the page without the suffix. At first it
    contains only the file MARKER. `runs` is the directory with the runs of the
    report. Raises LabError if the page has no suffix. Also raises LabError if
    the directory for the plots already exists and contains runs: those in
    `runs`, or runs of another report."""
    beside = page.with_suffix("")
    what = f"{beside}, the directory for the plots and tables of {page.name},"
    if beside == page:
        raise LabError(f"{page} needs a suffix, such as .html, because its "
                       "plots and tables are in a directory with the same name "
                       "without the suffix")
    if runs.resolve().is_relative_to(beside.resolve()):
        raise LabError(f"{what} contains the runs; choose another page")
    files.check_own(beside, MARKER)
    if any(beside.rglob(cells.CELL)):
        raise LabError(f"{what} contains runs; move them, or choose another "
                       "page")
    files.empty(beside, MARKER)
    return beside
