# SPDX-License-Identifier: LGPL-2.1-or-later
"""Provides environment variables that select the plugins of this build or of
another build. With them, a benchmark can compare several builds.
"""

import contextlib
import os
import pathlib
import tempfile

import turns

PLUGINS = ("dccpthin", "mmtp", "udplite")


def get_environment(build, directory):
    """Returns the environment variables for programs that use the plugins of
    the build directory `build`. Each build has its own plugin registry in
    `directory`. If the builds shared one registry, GStreamer would scan the
    plugins again whenever the build changes.
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
                        help="also measure the plugins of the build directory "
                        "OTHER; may be given several times (default: only "
                        "the present build is measured)")


@contextlib.contextmanager
def open_environments(others):
    """Yields {suffix: environment variables} with one entry for this build and
    one for each build directory in `others`. The suffix is appended to the
    names of table rows, to show to which build a row belongs.
    """
    with tempfile.TemporaryDirectory() as directory:
        environments = {"": get_environment(turns.BUILD, directory)}
        for number, other in enumerate(others, 1):
            environments[f", other build {number}"] = get_environment(
                other.resolve(), directory)
        yield environments
