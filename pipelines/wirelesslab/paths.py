# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where things are in the source directory."""

import pathlib
import sys
from collections.abc import Sequence

PACKAGE = pathlib.Path(__file__).resolve().parent
PIPELINES = PACKAGE.parent  # the scripts and their .ini files
SOURCE_DIR = PIPELINES.parent
BUILD_DIR = SOURCE_DIR / "build"  # unless a user names another


def command(name: str, python: Sequence[str] = (sys.executable,)) -> list[str]:
    """The first words of the command line of a module, or of a command; see
    __main__.py."""
    return [*python, str(PACKAGE / "__main__.py"), name]
