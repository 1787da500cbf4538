# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the environment variables for programs that use the plugins of a build
directory instead of installed plugins.
"""

import os
import pathlib


def environment(build_dir: pathlib.Path) -> dict[str, str]:
    """Returns the environment variables with which GStreamer finds the plugins
    in `build_dir`. GStreamer keeps a list of all plugins, the registry. A file
    in `build_dir` is used for it, so that the user's own registry is not
    changed. Proxy variables are removed, because no proxy can reach the
    emulated hosts.
    """
    # Only the directories that contain the project's own plugins are searched.
    # A search of the whole build directory could fail, because other programs
    # remove their temporary directories there at the same time.
    plugin_dirs = sorted({str(plugin.parent) for part in ("gst", "ext")
                          for plugin in (build_dir / part).glob("*/libgst*.so")
                          if plugin.parent.name != "common"})
    values = {name: value for name, value in os.environ.items()
              if not name.lower().endswith("_proxy")}
    values.update(
        GST_PLUGIN_PATH_1_0=":".join(plugin_dirs),
        GST_REGISTRY_1_0=str(build_dir / "demo-registry.bin"),
        GST_DEBUG_NO_COLOR="1",
        # The package parses warnings of GStreamer, so GStreamer must print
        # them in English.
        LC_ALL="C.UTF-8",
    )
    return values
