# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the directory for the plots and tables of a report. The directory has
the file name of the report without the suffix. The user chooses this name, so
a directory with other contents may already have it. An existing directory is
therefore emptied only if an older report made it.

This code is in a module of its own, so that it can be tested without Jinja2.
"""

import pathlib

from wirelesslab import files
from wirelesslab.errors import LabError
from wirelesslab.lab import cells

# The name of a file in a directory with the plots and tables of a report. The
# program that writes reports creates this file, and empties only directories
# that contain it.
MARKER = ".lab-report"


def make_beside(page: pathlib.Path, runs: pathlib.Path) -> pathlib.Path:
    """Makes the directory for the plots and tables of a report, and returns
    its path. The report is an HTML page, and the directory has the name of the
    page without the suffix. At first it contains only the file MARKER.

    `runs` is the directory with the runs that the report shows. Raises
    LabError if the page has no suffix. Also raises LabError if the new
    directory would replace a directory that contains runs.
    """
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
