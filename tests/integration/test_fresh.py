# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a newcomer does on a fresh Debian 12, which is made for it: as a user
who may install nothing, as root, and as a user where all is installed, with
hosts and without.

WIRELESS_FRESH names a directory for that Debian, which is then kept and used
again: making and filling it takes longest.
"""

import configparser
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
ENTER = SOURCE / "tests" / "fresh" / "enter"
MIRROR = "http://deb.debian.org/debian"
USER = "newcomer"
CLONE = "git clone -q /mnt wireless"
PAGE = "wireless/build/lab/demo/report.html"


def said(argv, **options):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          errors="replace", **options)


def why_not():
    if os.geteuid() != 0:
        return "only root can make a Debian"
    for program in ("debootstrap", "unshare", "git"):
        if shutil.which(program) is None:
            return f"there is no {program}"
    if not (SOURCE / ".git").exists():
        return "this is no clone"
    return ""


class FreshTest(unittest.TestCase):
    def setUp(self):
        if why_not():
            self.skipTest(why_not())
        kept = os.environ.get("WIRELESS_FRESH")
        if kept:
            self.root = pathlib.Path(kept)
        else:
            directory = tempfile.TemporaryDirectory()
            self.addCleanup(directory.cleanup)
            self.root = pathlib.Path(directory.name, "debian")
        # One that is kept may have been used before.
        self.is_new = not (self.root / "etc" / "debian_version").exists()
        if self.is_new:
            self.make_debian()
        # Of what came with it, and who is there
        self.run_inside("666", "pivot", f"id {USER} || useradd -m {USER}; "
                        "git config --system --replace-all safe.directory '*'")

    def make_debian(self):
        if said(["curl", "-sfI", f"{MIRROR}/dists/bookworm/Release"]
                if shutil.which("curl") else
                ["wget", "-q", "--spider",
                 f"{MIRROR}/dists/bookworm/Release"]).returncode != 0:
            self.skipTest(f"{MIRROR} is out of reach")
        done = said(["debootstrap", "--variant=minbase",
                     "--include=git,ca-certificates", "bookworm", self.root,
                     MIRROR])
        self.assertEqual(done.returncode, 0, done.stdout)
        # Its files need not survive a loss of power.
        (self.root / "etc/dpkg/dpkg.cfg.d/fast").write_text("force-unsafe-io\n")

    def run_inside(self, tun, way, command):
        return said([ENTER, self.root, tun, way, SOURCE, "sh", "-c", command])

    def demo(self, what, tun="666", way="pivot", user=None):
        """Its words, when it has come to its end."""
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
        """Each transport is in the tables, or it is said why it is not."""
        matrix = configparser.ConfigParser()
        matrix.read(SOURCE / "pipelines" / "demo.ini")
        rates = matrix["matrix"]["rates"].split()
        for name in matrix["matrix"]["protocols"].split():
            rows = sum(line.startswith((f"{name} ", f"{name}*"))
                       for line in words.splitlines())
            missing = any(line.startswith("left out ")
                          and name in line.replace(":", " ")
                          .replace(",", " ").split()
                          for line in words.splitlines())
            self.assertTrue(missing or rows >= len(rates), (name, words))
        self.assertRegex(words, r"Comparing pictures: \d+ of \d+")
        self.assertRegex(words, r"\(about \d+ (s|min) left\)")
        self.assertIn("report.html, with its plots", words)
        self.assertIn("</html>", page.read_text())

    def test_what_a_newcomer_does(self):
        if self.is_new:
            done = self.run_inside(
                "666", "pivot", f"su - {USER} -c 'git clone -q /mnt first && "
                "first/pipelines/demo'")
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("As root, type:\n  apt-get update && apt-get install",
                          done.stdout)
        self.run_inside("666", "pivot", f"cd && rm -rf wireless && {CLONE}")
        words = self.demo("as root")
        self.assertNotIn("no hosts of their own", words)
        self.run_inside("666", "pivot",
                        f"su - {USER} -c 'rm -rf wireless && {CLONE}'")
        words = self.demo("as a user", user=USER)
        self.assertNotIn("no hosts of their own", words)
        for what, tun, way in (("without user namespaces", "666", "chroot"),
                               ("without /dev/net/tun", "none", "pivot"),
                               ("/dev/net/tun for root alone", "600", "pivot")):
            with self.subTest(what):
                words = self.demo(f"as a user, {what}", tun, way, USER)
                self.assertIn("no hosts of their own here (as user: ", words)
                self.assertRegex(words, "left out .*tcp.*: not over UDP")


if __name__ == "__main__":
    unittest.main()
