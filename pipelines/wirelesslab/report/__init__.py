# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the runs of a matrix show, as tables, plots and a page."""
