# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs programs with the plugins of this build, or with those of another build,
so that one run compares both.
"""

import contextlib
import os
import pathlib
import tempfile

import turns

PLUGINS = ("dccpthin", "mmtp", "udplite")


def get_environment(build, directory):
    """The registry of each build is kept in `directory`. Otherwise GStreamer
    would load all plugins again whenever the build changes."""
    registry = f"registry{abs(hash(build))}.bin"
    return os.environ | {
        "GST_DEBUG": "0",
        "GST_PLUGIN_PATH_1_0": ":".join(str(build / "gst" / plugin)
                                        for plugin in PLUGINS),
        "GST_REGISTRY_1_0": os.path.join(directory, registry)}


def add_option(parser):
    parser.add_argument("--build", type=pathlib.Path, metavar="OTHER",
                        help="build directory of another version, which is "
                        "measured, too")


@contextlib.contextmanager
def open_environments(other):
    """Yields the environment of this build and, if it is not None, of the other
    one. The keys end the names of the rows."""
    with tempfile.TemporaryDirectory() as directory:
        environments = {"": get_environment(turns.BUILD, directory)}
        if other:
            environments[", other build"] = get_environment(other.resolve(),
                                                            directory)
        yield environments
