# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows the results of the runs of a matrix as tables, plots and an HTML page.
"""
