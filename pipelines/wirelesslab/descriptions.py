# SPDX-License-Identifier: LGPL-2.1-or-later
"""Types of dictionaries that are read from .ini files. Each type stands for
one kind of section. The dictionaries can be written as JSON without a
conversion. docs/lab.md lists the pages that describe their keys.
"""

from typing import Any

# One experiment of a matrix.
Cell = dict[str, Any]
# A section [link NAME] of a matrix.
Link = dict[str, Any]
# A section [protocol NAME]: a transport or a carrier.
Protocol = dict[str, Any]
# A section [workload NAME] of a matrix.
Workload = dict[str, Any]
