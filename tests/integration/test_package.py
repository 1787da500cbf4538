# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the Debian package: it builds from a clean copy, contains the right
files, and works after its installation."""

import pathlib
import shutil
import unittest

import test_install

SOURCE = test_install.SOURCE
# Files that a build, git or Python has made. They do not belong to the source,
# so the test does not copy them.
NOT_SOURCE = shutil.ignore_patterns(".git", "build*", "__pycache__", "*.pyc",
                                    "obj-*", ".debhelper")
PLUGINS, DEVELOPMENT = "gstreamer1.0-wireless", "libgstreamer-wireless1.0-dev"
HEADERS = {"gstcoveragemeta.h", "gstframeinfometa.h"}


def listed(package):
    """Returns the names of the files in the package. The names have no
    directories, because the directories depend on the architecture.
    """
    lines = test_install.run("dpkg-deb", "--contents", package).splitlines()
    paths = [pathlib.PurePath(line.split(maxsplit=5)[5].partition(" -> ")[0])
             for line in lines if not line.startswith("d")]
    return {path.name for path in paths
            if not {"doc", "lintian"} & set(path.parts)}


class PackageTest(test_install.Home):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        copy = cls.home / "source"
        shutil.copytree(SOURCE, copy, ignore=NOT_SOURCE)
        cls.printed = test_install.run(
            "dpkg-buildpackage", "-us", "-uc", "-b", cwd=copy)
        cls.packages = {path.name.partition("_")[0]: path
                        for path in cls.home.glob("*.deb")}

    def test_the_packages_contain_the_right_files(self):
        files = listed(self.packages[PLUGINS])
        libraries = {name for name in files
                     if name.startswith("libgstwireless-1.0.so.")}
        self.assertGreater(len(libraries), 0)
        self.assertEqual(files - libraries, {
            f"libgst{plugin}.so" for plugin in test_install.ELEMENTS})
        self.assertEqual(listed(self.packages[DEVELOPMENT]),
                         HEADERS | {"libgstwireless-1.0.so",
                                    "gstreamer-wireless-1.0.pc"})

    def test_the_build_warns_of_nothing(self):
        warnings = [line for line in self.printed.splitlines()
                    if "warning:" in line.lower()]
        self.assertEqual(warnings, [])

    def test_it_is_as_debian_wants_packages(self):
        (changes,) = self.home.glob("*.changes")
        # lintian checks the package. The option --allow-root lets root run
        # lintian, and changes nothing in the check.
        self.assertEqual(test_install.run(
            "lintian", "--allow-root", "--fail-on", "error,warning",
            "--tag-display-limit", "0", changes), "")

    def test_the_package_works_and_can_be_removed(self):
        root = self.home / "root"
        (root / "var/lib/dpkg/updates").mkdir(parents=True)
        (root / "var/lib/dpkg/info").mkdir()
        (root / "var/lib/dpkg/status").touch()
        # The test installs only two packages into the directory `root`. These
        # packages depend on others, which are installed on the machine, but
        # not in `root`. dpkg would refuse the installation without
        # --force-depends.
        dpkg = ["fakeroot", "dpkg", f"--root={root}", "--force-depends",
                "--force-not-root", "--force-script-chrootless",
                f"--log={self.home}/dpkg.log"]
        test_install.run(*dpkg, "--install", self.packages[PLUGINS],
                         self.packages[DEVELOPMENT])
        (plugins,) = root.glob("usr/lib/*/gstreamer-1.0")
        for element in sum(test_install.ELEMENTS.values(), ()):
            with self.subTest(element=element):
                self.assertTrue(self.has_element(
                    element, GST_PLUGIN_PATH_1_0=plugins))
        self.check_program(root)
        test_install.run(*dpkg, "--purge", PLUGINS, DEVELOPMENT)
        self.assertEqual([path for path in root.glob("usr/**/*")
                          if not path.is_dir()], [])


if __name__ == "__main__":
    unittest.main()
