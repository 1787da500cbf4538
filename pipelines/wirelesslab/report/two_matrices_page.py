# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the page that compares two results of the same matrix, from the
template two_matrices.html. A matrix is a list of experiments. This module
needs Jinja2.
"""

import pathlib
import re

import jinja2

from wirelesslab import files
from wirelesslab.errors import LabError
from wirelesslab.report import run_results, two_matrices
from wirelesslab.report.two_matrices import Matrices

TEMPLATE = pathlib.Path(__file__).with_name("two_matrices.html")
# TEMPLATE is the template of the page that this module makes. It has no
# <style> element. REPORT is the template of another page, the report of the
# lab. The <style> element of REPORT is copied into the page that this module
# makes.
REPORT = TEMPLATE.with_name("page.html")
STYLE = re.compile(r"<style>.*?</style>", re.S)


def write(found: Matrices, page: pathlib.Path) -> pathlib.Path:
    """Writes the page, and a CSV file with all measures. The CSV file is put
    into the directory of the page. Returns the path of the CSV file.
    """
    table = page.with_suffix(".csv")
    if table == page:
        raise LabError(f"{page} is the name of the table. The page needs "
                       "another suffix, such as .html")
    page.parent.mkdir(parents=True, exist_ok=True)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATE.parent), autoescape=True,
        trim_blocks=True, lstrip_blocks=True)
    environment.globals["verdict"] = two_matrices.verdict_text
    environment.globals["sentence"] = two_matrices.sentence
    style = STYLE.search(REPORT.read_text())
    assert style, f"{REPORT} has no style"
    files.write_whole(page, environment.get_template(TEMPLATE.name).render(
        found=found, style=environment.from_string(style[0]).render(),
        facts_a=two_matrices.facts(found.a),
        facts_b=two_matrices.facts(found.b),
        summary=two_matrices.summary(found), rule=two_matrices.RULE))
    run_results.write_csv(table, *two_matrices.all_numbers(found))
    return table
