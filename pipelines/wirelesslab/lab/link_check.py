# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the properties of links before any cell (an experiment of the lab) is
run. Only wirelesslink itself knows the names, types and ranges of its
properties. Each set of properties is therefore tried with a wirelesslink in a
pipeline without data."""

import functools
import pathlib
import re
import shlex
import subprocess

from wirelesslab import gst_environment
from wirelesslab.descriptions import Cell
from wirelesslab.errors import LabError
from wirelesslab.streams import link_paths

# The words that precede the reason in an error message of gst-launch-1.0. The
# reason itself is the rest of the line.
BEFORE_REASON = re.compile(
    r"(?:WARNING: erroneous pipeline: |ERROR: from element \S+: )(?P<why>.+)")
NO_ELEMENT = 'no element "wirelesslink"'
MAX_S = 30


def check(path: pathlib.Path, found: list[Cell], build: pathlib.Path) -> None:
    """Raises LabError if wirelesslink rejects the properties of a link. This
    includes properties that a protocol adds to its link. `path` is the path of
    the matrix file, for the error message.
    """
    for cell in found:
        for part in link_paths.parts(cell["link"]):
            own, added = part["properties"], cell["protocol"]["link"]
            # The error message names the section of the matrix file that
            # describes the link. The name of this section is the part of the
            # link's name before the first underscore. An underscore and values
            # of properties follow only if the section lists several values of
            # a property. Such a section describes several links, and the
            # values distinguish them.
            for owner, key, mine, text in (
                    (f"[link {part['name'].partition('_')[0]}]",
                     "its properties", own, own),
                    (f"protocol {cell['protocol']['name']}", "its key link",
                     added, f"{own} {added}")):
                why = why_rejected(text, build)
                if why:
                    raise LabError(f"{path}: {owner}: wirelesslink rejects "
                                   f"{key} {mine!r}: {why}")


@functools.cache
def why_rejected(properties: str, build: pathlib.Path) -> str:
    """Returns the reason why wirelesslink rejects the properties. Returns ""
    if it accepts them. Also returns "" if they cannot be tried on this
    machine, for example because it has no wirelesslink.
    """
    try:
        done = subprocess.run(
            ["gst-launch-1.0", "-q", "fakesrc", "num-buffers=0", "!",
             "wirelesslink", "mode=timestamp", *shlex.split(properties),
             "!", "fakesink"], env=gst_environment.environment(build),
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=MAX_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    if not done.returncode or NO_ELEMENT in done.stderr:
        return ""
    reason = BEFORE_REASON.search(done.stderr)
    return reason["why"].strip() if reason else done.stderr.strip()
