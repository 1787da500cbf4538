# SPDX-License-Identifier: LGPL-2.1-or-later
"""Type names for what the sections of .ini files become: dictionaries that are
written as JSON without a conversion. docs/lab.md describes their keys."""

from typing import Any

Cell = dict[str, Any]  # one experiment of a matrix
Link = dict[str, Any]  # [link NAME]
Protocol = dict[str, Any]  # [protocol NAME]: a transport or a carrier
Workload = dict[str, Any]  # [workload NAME]
