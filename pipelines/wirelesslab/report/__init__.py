# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows the results of experiments as tables, plots and an HTML page. The
experiments are the cells of a matrix, the file that describes them.
"""
