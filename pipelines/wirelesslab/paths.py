# SPDX-License-Identifier: LGPL-2.1-or-later
"""The paths of the source directory, of the package and of the build directory.
"""

import pathlib
import sys
from collections.abc import Sequence

PACKAGE = pathlib.Path(__file__).resolve().parent
# The directory with the scripts and their .ini files.
PIPELINES = PACKAGE.parent
SOURCE_DIR = PIPELINES.parent
BUILD_DIR = SOURCE_DIR / "build"  # the default of --build


def command(name: str, python: Sequence[str] = (sys.executable,)) -> list[str]:
    """Returns the first words of a command line that starts a program of this
    package: the Python interpreter, the file __main__.py and `name`. `name` is
    a command of the package, such as "lab", or a module with a main()
    function, such as "testbed.relay_process".
    """
    return [*python, str(PACKAGE / "__main__.py"), name]
