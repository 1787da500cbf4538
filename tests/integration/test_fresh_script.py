# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the script tests/fresh, which installs Debian in a directory and runs
the steps of the README there. The test checks which options the script copies
from apt's configuration, which arguments it refuses, and that its files are
removed if it is killed. A stub replaces debootstrap, the program that installs
Debian.

With --long, tests/fresh runs without the stub. It then installs each supported
release of Debian and runs all steps of the README in each installation.
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import debians

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])

FRESH = SOURCE / "tests" / "fresh"
SECONDS_TO_WAIT = 60


def wait_for(condition):
    deadline = time.monotonic() + SECONDS_TO_WAIT
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("waited in vain")
        time.sleep(0.02)


class Stubs(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.home = pathlib.Path(directory.name)
        path = os.environ["PATH"]
        os.environ["PATH"] = f"{self.home}:{path}"
        self.addCleanup(os.environ.__setitem__, "PATH", path)

    def stub(self, name, script):
        path = self.home / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def run_fresh(self, *arguments):
        return subprocess.run(
            [FRESH, *arguments], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class AptTest(Stubs):
    """Tests which settings of apt a new Debian installation gets from this
    machine: the mirror, and options such as the proxies.
    """

    def test_the_mirror_is_that_of_debian_itself(self):
        self.stub("apt-get", """
# This stub of apt-get lists three package sources. Only the last source is the
# mirror of Debian itself: the first has security updates, and the second
# belongs to somebody else.
cat <<'END'
Debian Debian-Security http://mirror.invalid/security/
Somebody Else http://else.invalid/
Debian Debian http://mirror.invalid/debian/
END""")
        self.assertEqual(debians.machine_mirror(),
                         "http://mirror.invalid/debian")

    def test_apt_may_have_no_debian_mirror(self):
        self.stub("apt-get", "echo Somebody Else http://else.invalid/")
        self.assertIsNone(debians.machine_mirror())

    def test_the_proxies_of_the_machine_are_used(self):
        proxy = 'Acquire::http::Proxy "http://proxy.invalid:3128";'
        self.stub("apt-config", f"""cat <<'END'
APT::Architecture "amd64";
{proxy}
Acquire::IndexTargets "";
END""")
        self.assertEqual(debians.machine_options(), f"{proxy}\n")


class RefusedTest(Stubs):
    def test_an_unknown_step_is_refused(self):
        done = self.run_fresh("--steps", "demo,dance", "bookworm")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("there is no step dance", done.stdout)


class KilledTest(Stubs):
    def setUp(self):
        super().setUp()
        # This stub replaces debootstrap, which installs Debian into a
        # directory. The stub writes the path of this directory to a file, for
        # the test. After that, it writes data into the directory until it is
        # killed.
        self.stub("debootstrap", f"""
mkdir -p "$4/etc"
echo "$4" >{self.home}/root.new
mv {self.home}/root.new {self.home}/root
while :; do echo x >>"$4/etc/x"; sleep 0.01; done""")
        if debians.why_not():
            self.skipTest(debians.why_not())

    def test_nothing_is_left(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP,
                       signal.SIGKILL):
            with self.subTest(signal=number.name):
                self.check_nothing_is_left(number)

    def check_nothing_is_left(self, number):
        (self.home / "root").unlink(missing_ok=True)
        child = subprocess.Popen(
            [FRESH, "--mirror", "http://mirror.invalid", "sid"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self.addCleanup(child.kill)
        wait_for((self.home / "root").exists)
        place = pathlib.Path((self.home / "root").read_text().strip()).parent
        self.assertTrue(place.exists())
        child.send_signal(number)
        self.assertNotEqual(child.wait(SECONDS_TO_WAIT), 0)
        wait_for(lambda: not place.exists())


class EachDebianTest(unittest.TestCase):
    def test_each_debian_passes_the_steps_of_the_readme(self):
        if debians.why_not():
            self.skipTest(debians.why_not())
        done = subprocess.run([FRESH], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)
        print(done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], defaultTest=(
        "EachDebianTest" if "--long" in sys.argv
        else ["AptTest", "RefusedTest", "KilledTest"]))
