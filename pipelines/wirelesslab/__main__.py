# SPDX-License-Identifier: LGPL-2.1-or-later
"""Starts a command of the package, or another program in it:

    python3 pipelines/wirelesslab COMMAND ARGUMENT...
    python3 pipelines/wirelesslab MODULE ARGUMENT...

COMMAND is the name of a module of wirelesslab.commands. MODULE is the name of
another module and contains a dot, such as testbed.relay_process. The commands
start such modules in separate processes.
"""

import importlib
import os
import os.path
import sys

# Python sets the first entry of sys.path to the directory of this file. The
# package is in the parent directory, so the entry is set to the parent
# directory.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def main() -> None:
    del sys.argv[0]
    name = sys.argv[0]
    if "." in name:
        importlib.import_module(f"wirelesslab.{name}").main()
        return
    # command_line is not imported at the top of the file. The processes inside
    # a testbed do not use it, and they need to start quickly.
    from wirelesslab import command_line
    command_line.run_main(
        f"pipelines/{name}",
        importlib.import_module(f"wirelesslab.commands.{name}").main)


if __name__ == "__main__":
    main()
