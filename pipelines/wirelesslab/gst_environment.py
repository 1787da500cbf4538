# SPDX-License-Identifier: LGPL-2.1-or-later
"""The environment of programs that use the plugins of a build directory."""

import os
import pathlib


def environment(build_dir: pathlib.Path) -> dict[str, str]:
    """Where GStreamer finds the plugins just built, apart from the user's own
    plugins and registry. No host of ours has a proxy between it and another."""
    # Only the directories of the project's sources are searched, because
    # programs that run at the same time remove their own directories.
    plugin_dirs = sorted({str(plugin.parent) for part in ("gst", "ext")
                          for plugin in (build_dir / part).glob("*/libgst*.so")
                          if plugin.parent.name != "common"})
    values = {name: value for name, value in os.environ.items()
              if not name.lower().endswith("_proxy")}
    values.update(
        GST_PLUGIN_PATH_1_0=":".join(plugin_dirs),
        GST_REGISTRY_1_0=str(build_dir / "demo-registry.bin"),
        GST_DEBUG_NO_COLOR="1",
        LC_ALL="C.UTF-8",  # warnings are read by us
    )
    return values
