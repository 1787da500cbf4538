# SPDX-License-Identifier: LGPL-2.1-or-later
"""Provides the environment variables with which a program uses the plugins of
this build or of another build. A benchmark can thus compare several builds.
"""

import contextlib
import os
import pathlib
import tempfile

import turns

PLUGINS = ("dccpthin", "mmtp", "udplite")


def get_environment(build, directory):
    """Returns the environment variables for programs that use the plugins of
    the build directory `build`. Each build has a plugin registry of its own in
    `directory`. With one registry for all, GStreamer would scan the plugins
    again whenever the build changes.
    """
    registry = f"registry{abs(hash(build))}.bin"
    return os.environ | {
        "GST_DEBUG": "0",
        "GST_PLUGIN_PATH_1_0": ":".join(str(build / "gst" / plugin)
                                        for plugin in PLUGINS),
        "GST_REGISTRY_1_0": os.path.join(directory, registry)}


def add_option(parser):
    parser.add_argument("--build", type=pathlib.Path, metavar="OTHER",
                        action="append", default=[],
                        help="build directory of another version, which is "
                        "measured, too; may be given several times")


@contextlib.contextmanager
def open_environments(others):
    """Yields {suffix: environment} with an entry for each build. The builds
    are this build and all builds in `others`. The suffix is appended to the
    name of a table row, to show to which build the row belongs.
    """
    with tempfile.TemporaryDirectory() as directory:
        environments = {"": get_environment(turns.BUILD, directory)}
        for number, other in enumerate(others, 1):
            environments[f", other build {number}"] = get_environment(
                other.resolve(), directory)
        yield environments
