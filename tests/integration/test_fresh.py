# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a fresh installation of Debian 12. In it, the test does what a new
user does: it clones the repository and runs the demo. It does this as three
kinds of users: a user who may not install packages, root, and a user for whom
all packages are already installed. The third user runs the demo with and
without network namespaces.

If the environment variable WIRELESS_FRESH names a directory, the Debian
installation is kept there and used again. Making it takes longer than
everything else in this test.
"""

import os
import pathlib
import subprocess
import tempfile
import time
import unittest

import debians

from wirelesslab.report import names
from wirelesslab.streams import transports

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])

USER = "newcomer"
CLONE = "git clone -q /mnt wireless"
PAGE = "wireless/build/lab/demo/report.html"


def said(argv, **options):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          errors="replace", **options)


class FreshTest(unittest.TestCase):
    def setUp(self):
        if debians.why_not():
            self.skipTest(debians.why_not())
        mirror = debians.machine_mirror()
        if not mirror:
            self.skipTest("apt knows no mirror of Debian")
        kept = os.environ.get("WIRELESS_FRESH")
        if kept:
            self.root = pathlib.Path(kept)
        else:
            directory = tempfile.TemporaryDirectory()
            self.addCleanup(directory.cleanup)
            self.root = pathlib.Path(directory.name, "debian")
        # If the Debian installation was kept from an earlier test, the checks
        # that need a new installation are omitted.
        self.is_new = not debians.is_made(self.root)
        if self.is_new:
            debians.make("bookworm", self.root, mirror)
        clones = tempfile.TemporaryDirectory()
        self.addCleanup(clones.cleanup)
        # The source may be a Git worktree, whose repository is in another
        # directory. That directory is not visible inside the Debian
        # installation, so git could not clone the worktree there. The source
        # is therefore cloned here, outside the installation.
        self.clone = pathlib.Path(clones.name)
        subprocess.run(["git", "clone", "-q", "--bare", SOURCE, self.clone],
                       check=True)
        # USER clones this directory, too. By default, only the owner can read
        # a temporary directory.
        self.clone.chmod(0o755)
        # This command creates the user USER if it does not exist. Later, USER
        # clones a repository that belongs to another user. git accepts this
        # only if its setting safe.directory allows it.
        self.run_inside("666", "pivot", f"id {USER} || useradd -m {USER}; "
                        "git config --system --replace-all safe.directory '*'")

    def run_inside(self, tun, way, command):
        return said(debians.entering(
            self.root, "sh", "-c", command, tun=tun, way=way,
            shown=self.clone))

    def demo(self, what, tun="666", way="pivot", user=None):
        """Runs the demo in the Debian installation and checks its result.
        Returns the output of the demo.
        """
        command = "cd wireless && ./pipelines/demo"
        home = pathlib.Path("root" if user is None else f"home/{user}")
        command = (f"cd && {command}" if user is None
                   else f"su - {user} -c '{command}'")
        started = time.monotonic()
        done = self.run_inside(tun, way, command)
        print(f"== {what}: {time.monotonic() - started:.0f} s\n{done.stdout}",
              flush=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotIn("Traceback", done.stdout)
        self.check(done.stdout, self.root / home / PAGE)
        return done.stdout

    def check(self, words, page):
        """Checks the printed text `words` and the report file `page` of the
        demo. The demo compares several transports. For each transport, the
        text must have a row in a table. If the demo left out a transport, the
        text must have a line with the reason instead.
        """
        lines = words.splitlines()
        known = {name: transport for name, transport
                 in transports.read().items() if transport["clip"] == "m2v"}
        for name, look in names.looks(known).items():
            is_row = any(line.startswith((f"{look.name} ", f"{look.name}*"))
                         for line in lines)
            is_missing = any(line.startswith("left out ")
                             and name in line.replace(":", " ")
                             .replace(",", " ").split() for line in lines)
            self.assertTrue(is_row or is_missing, (name, words))
        for title in ("1. A link that is too slow", "2. Two mobile links",
                      "3. Damaged packets"):
            self.assertIn(title, lines)
        self.assertRegex(words, r"Comparing pictures: \d+ of \d+")
        self.assertRegex(words, r"\(about \d+ (s|min) left\)")
        self.assertIn("report.html, with its plots", words)
        self.assertIn("</html>", page.read_text())

    def test_a_new_user_can_run_the_demo(self):
        if self.is_new:
            done = self.run_inside(
                "666", "pivot", f"su - {USER} -c 'git clone -q /mnt first && "
                "first/pipelines/demo'")
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("As root, type:\n  apt-get update && apt-get install",
                          done.stdout)
        self.run_inside("666", "pivot", f"cd && rm -rf wireless && {CLONE}")
        words = self.demo("as root")
        self.assertNotIn("no network namespaces for hosts", words)
        self.run_inside("666", "pivot",
                        f"su - {USER} -c 'rm -rf wireless && {CLONE}'")
        words = self.demo("as a user", user=USER)
        self.assertNotIn("no network namespaces for hosts", words)
        for what, tun, way in (("without user namespaces", "666", "chroot"),
                               ("without /dev/net/tun", "none", "pivot"),
                               ("/dev/net/tun for root alone", "600", "pivot")):
            with self.subTest(what):
                words = self.demo(f"as a user, {what}", tun, way, USER)
                self.assertIn(
                    "no network namespaces for hosts here (as user: ", words)
                self.assertRegex(words, "left out .*tcp.*: not over UDP")


if __name__ == "__main__":
    unittest.main()
