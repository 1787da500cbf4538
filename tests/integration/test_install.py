# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks into which directories `meson install` puts the files, and which
files are left out when a feature option is disabled.
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"])

# Maps each plugin to the elements that it must have.
ELEMENTS = {
    "rfc2250": ("rfc2250pay", "rfc2250depay"),
    "mpegstat": ("mpegstat",),
    "bitrateadapt": ("bitrateadapt",),
    "ifd": ("ifdqueue", "ifdsink"),
    "udplite": ("udplitesink", "udplitesrc"),
    "mmtp": ("mmtpsink", "mmtpsrc"),
    "dccpthin": ("dcctpthinsink", "dcctpthinsrc", "dccpthinsink",
                 "dccpthinsrc"),
    "wirelesslink": ("wirelesslink",),
    "tun": ("tunsrc", "tunsink"),
}
FLOORS = ("gst", "ext")
PKG_CONFIG_NAME = "gstreamer-wireless-1.0"
# Source of an application that uses the public headers of the project. It adds
# metadata (GstMeta) to a buffer and reads them again. The elements of the
# project attach such metadata to buffers.
PROGRAM = r"""
#include <gst/wireless/gstcoveragemeta.h>
#include <gst/wireless/gstframeinfometa.h>

int
main (int argc, char **argv)
{
  GstBuffer *buffer;
  gsize covered;

  gst_init (&argc, &argv);
  buffer = gst_buffer_new_allocate (NULL, 100, NULL);
  gst_buffer_add_coverage_meta (buffer, 42);
  gst_buffer_add_frame_info_meta (buffer, 1, 0, 0);
  covered = gst_buffer_get_coverage_meta (buffer)->covered;
  g_print ("%" G_GSIZE_FORMAT " %u\n", covered,
      gst_buffer_get_frame_info_meta (buffer)->picture_type);
  gst_buffer_unref (buffer);
  return 0;
}
"""


def run(*command, **options):
    done = subprocess.run([str(word) for word in command],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} failed:\n{done.stdout}")
    return done.stdout


def introspect(build, what):
    return json.loads(run("meson", "introspect", f"--{what}", build))


class Home(unittest.TestCase):
    """Base class of the test classes in this file. All tests of one class use
    the same temporary directory.
    """

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.home = pathlib.Path(directory.name)

    def has_element(self, name, **paths):
        """Returns whether GStreamer finds the element `name`. The search paths
        in the environment are removed and replaced by `paths`.
        """
        env = {key: value for key, value in os.environ.items()
               if not key.startswith("GST_") and key != "LD_LIBRARY_PATH"}
        env.update(GST_REGISTRY_1_0=str(self.home / "registry.bin"),
                   GST_PLUGIN_SYSTEM_PATH_1_0="",
                   **{key: str(value) for key, value in paths.items()})
        return subprocess.run(
            ["gst-inspect-1.0", name], env=env, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL).returncode == 0

    def check_program(self, root):
        """Compiles PROGRAM with the pkg-config file that was installed below
        the directory `root`, and runs the compiled program."""
        (installed,) = root.rglob(f"{PKG_CONFIG_NAME}.pc")
        text = installed.read_text()
        prefix = re.search(r"^prefix=(.*)$", text, re.M)[1]
        # The prefix in the pkg-config file is the directory for which the
        # project was configured, such as /usr. In this test, the files are
        # installed below `root`, so `root` is inserted before the prefix.
        (self.home / installed.name).write_text(text.replace(
            f"prefix={prefix}", f"prefix={root}{prefix}", 1))
        env = {**os.environ, "PKG_CONFIG_PATH": str(self.home)}
        flags = run("pkg-config", "--cflags", "--libs", PKG_CONFIG_NAME,
                    env=env).split()
        source, program = self.home / "program.c", self.home / "program"
        source.write_text(PROGRAM)
        run(*shlex.split(os.environ.get("CC", "cc")), "-Wall", "-Werror",
            source, "-o", program, *flags)
        self.assertEqual(run(program, env={
            **os.environ, "LD_LIBRARY_PATH": str(installed.parent.parent)}),
            "42 1\n")


class InstallTest(Home):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir",
            cls.home / "root")
        prefix = next(option["value"] for option
                      in introspect(BUILD, "buildoptions")
                      if option["name"] == "prefix")
        # The directory of the libraries comes from pkg-config, as in
        # meson.build. The option libdir of meson cannot be used: on a Debian
        # system without dpkg-dev, it is another directory.
        cls.plugins = pathlib.Path(run(
            "pkg-config", f"--define-variable=prefix={prefix}",
            "--variable=pluginsdir", "gstreamer-1.0").strip())
        cls.root = cls.home / "root"

    def installed(self, path):
        return self.root / path.relative_to("/")

    def test_plugins_go_where_gstreamer_looks(self):
        looks_in = pathlib.Path(run(
            "pkg-config", "--variable=pluginsdir", "gstreamer-1.0").strip())
        for plugin in ELEMENTS:
            with self.subTest(plugin=plugin):
                self.assertTrue(self.installed(
                    looks_in / f"libgst{plugin}.so").exists())

    def test_installed_plugins_find_the_library_by_themselves(self):
        plugins = self.installed(self.plugins)
        for element in sum(ELEMENTS.values(), ()):
            with self.subTest(element=element):
                self.assertTrue(self.has_element(
                    element, GST_PLUGIN_PATH_1_0=plugins))

    def test_only_the_one_library_stands_beside_the_plugins(self):
        plugins = self.installed(self.plugins)
        libraries = {path for path in self.root.rglob("*.so*")
                     if path.parent != plugins}
        self.assertEqual({path.parent for path in libraries},
                         {plugins.parent})
        self.assertEqual({path.name.split(".so")[0] for path in libraries},
                         {"libgstwireless-1.0"})

    def test_a_program_compiles_with_pkg_config(self):
        self.check_program(self.root)


class BuildTreeTest(Home):
    def test_devenv_finds_every_element(self):
        env = {key: value for key, value in os.environ.items()
               if not key.startswith("GST_") and key != "LD_LIBRARY_PATH"}
        env["GST_REGISTRY_1_0"] = str(self.home / "registry.bin")
        elements = sum(ELEMENTS.values(), ())
        # `meson devenv` starts slowly. It is therefore started only once, and
        # all calls of gst-inspect-1.0 run in the environment that it sets up.
        found = run("meson", "devenv", "-C", BUILD, "sh", "-c",
                    'for name; do gst-inspect-1.0 "$name" >/dev/null && '
                    'echo "found $name"; done', "sh", *elements, env=env)
        for element in elements:
            with self.subTest(element=element):
                self.assertIn(f"found {element}", found.splitlines())


class FeatureTest(Home):
    def test_every_plugin_is_a_feature_option(self):
        options = {option["name"]: option for option
                   in introspect(BUILD, "buildoptions")}
        plugins = {path.name for floor in FLOORS
                   for path in (SOURCE / floor).iterdir()
                   if (path / "meson.build").exists()} - {"common"}
        self.assertEqual(plugins, set(ELEMENTS))
        for plugin in plugins:
            with self.subTest(plugin=plugin):
                self.assertIn("auto", options[plugin]["choices"])

    def test_a_disabled_plugin_is_left_out_and_the_others_are_built(self):
        build = self.home / "build"
        run("meson", "setup", build, SOURCE, "-Dtests=disabled",
            "-Dwerror=true", "-Dbuildtype=plain")
        for disabled in ELEMENTS:
            with self.subTest(disabled=disabled):
                self.build_without(disabled, build)

    def build_without(self, disabled, build):
        """Builds the project without the plugin `disabled`, and checks that
        the elements of this plugin are missing. The test calls this function
        for each plugin, with the same build directory `build`, so that
        unchanged files are not compiled again. `cleandead` removes the files
        that only the previous build made."""
        run("meson", "configure", build,
            *(f"-D{plugin}={'disabled' if plugin == disabled else 'enabled'}"
              for plugin in ELEMENTS))
        run("ninja", "-C", build)
        run("ninja", "-C", build, "-t", "cleandead")
        plugin_dirs = ":".join(str(build / floor / plugin)
                               for floor in FLOORS for plugin in ELEMENTS)
        for plugin, elements in ELEMENTS.items():
            for element in elements:
                self.assertEqual(
                    self.has_element(element, GST_PLUGIN_PATH_1_0=plugin_dirs),
                    plugin != disabled, f"{element} without {disabled}")


if __name__ == "__main__":
    unittest.main()
