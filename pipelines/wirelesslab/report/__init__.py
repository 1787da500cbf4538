# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows the results of experiments as tables, plots and an HTML page. A file
that is called the matrix describes the experiments. Each experiment is called
a cell of the matrix.
"""
