# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests pipelines/setup, which installs missing packages, on simulated
machines. Stubs replace the programs that it uses to check and install
packages. The stub of apt-get only logs its arguments, so nothing is installed.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

SETUP = (pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"]) / "pipelines"
         / "setup")
ORDINARY = ("sh", "env", "cat", "cut", "tr", "sort", "sed", "rm")


class SetupTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        self.bin = self.root / "bin"
        self.bin.mkdir()
        for name in ORDINARY:
            (self.bin / name).symlink_to(shutil.which(name))

    def stub(self, name, script):
        path = self.bin / name
        # `path` may be a symbolic link to the real program. Without unlink(),
        # write_text() would follow the link and overwrite the real program.
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def debian(self, missing=(), uid=0, install_status=0):
        """Simulates a Debian system on which the packages `missing` are not
        installed. The simulated apt-get pretends to install them.
        """
        for package in missing:
            (self.root / package).touch()
        self.stub("dpkg-query", f"""
for package; do :; done
[ -e "{self.root}/$package" ] && exit 1
printf installed""")
        self.stub("apt-get", f"""
echo "$DEBIAN_FRONTEND: $*" >> {self.root}/calls
case "$*" in
  *install*)
    if [ {install_status} != 0 ]; then
      for line in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
        echo "E: $line"
      done
      exit {install_status}
    fi ;;
  *) exit 0 ;;
esac
for package; do
  if [ -e "{self.root}/$package" ]; then rm "{self.root}/$package"; fi
done""")
        self.stub("id", f"echo {uid}")

    def setup(self, *arguments):
        return subprocess.run(
            [SETUP, *arguments], env={"PATH": str(self.bin)},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)

    def calls(self):
        path = self.root / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def test_does_nothing_when_everything_is_installed(self):
        self.debian()
        result = self.setup("build", "demo", "ts", "test")
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        self.assertEqual(self.calls(), [])

    def test_root_installs_what_is_missing_and_only_that(self):
        self.debian(missing=["ffmpeg", "meson"])
        result = self.setup("build", "demo")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("makes the clips from the film", result.stdout)
        update, install = self.calls()
        self.assertTrue(update.endswith(" update"), update)
        self.assertTrue(install.startswith("noninteractive: "), install)
        self.assertTrue(install.endswith(
            " install --yes --no-install-recommends ffmpeg meson"), install)

    def test_a_set_that_was_not_asked_for_is_left_alone(self):
        self.debian(missing=["tshark"])
        self.assertEqual(self.setup("build", "demo").returncode, 0)
        self.assertEqual(self.calls(), [])

    def test_only_the_set_fuzz_installs_clang(self):
        self.debian(missing=["clang", "libclang-rt-dev"])
        result = self.setup("build", "demo", "ts", "test")
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        result = self.setup("build", "fuzz")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertTrue(self.calls()[-1].endswith(
            " clang libclang-rt-dev"), self.calls())

    def test_dry_run_lists_and_installs_nothing(self):
        self.debian(missing=["tshark"])
        result = self.setup("--dry-run", "test")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("tshark", result.stdout)
        self.assertEqual(self.calls(), [])

    def test_without_root_or_sudo_it_names_the_command(self):
        self.debian(missing=["ffmpeg"], uid=1000)
        result = self.setup("demo")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("apt-get update && apt-get install --yes "
                      "--no-install-recommends ffmpeg", result.stdout)
        self.assertEqual(self.calls(), [])

    def test_goes_through_sudo_and_never_waits_for_a_password(self):
        self.debian(missing=["ffmpeg"], uid=1000)
        self.stub("sudo", f"""
echo "sudo $*" >> {self.root}/calls
[ "$1" = -n ] && shift
exec "$@" """)
        result = self.setup("demo")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertEqual(
            [call.split()[:2] for call in self.calls() if "sudo" in call],
            3 * [["sudo", "-n"]])

    def test_a_failed_installation_prints_the_command(self):
        self.debian(missing=["ffmpeg"], install_status=100)
        result = self.setup("demo")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("no network?", result.stdout)
        self.assertIn("\n  E: 14\n  E: 15\n  E: 16\npipelines/setup: the inst",
                      result.stdout)
        self.assertNotIn("E: 1\n", result.stdout)
        self.assertIn("  apt-get update && apt-get install", result.stdout)

    def test_an_interrupted_installation_is_completed_first(self):
        self.debian(missing=["ffmpeg"])
        self.stub("dpkg", f"""
[ "$*" != "--configure -a" ] || touch {self.root}/configured""")
        self.stub("apt-get", f"""
case "$*" in *install*)
  if [ ! -e {self.root}/configured ]; then
    echo "E: dpkg was interrupted"
    exit 100
  fi
  rm {self.root}/ffmpeg
esac""")
        (self.bin / "touch").symlink_to(shutil.which("touch"))
        result = self.setup("demo")
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_the_installation_prints_its_progress(self):
        self.debian(missing=["ffmpeg"])
        lines = ["0 upgraded, 120 newly installed, 0 to remove.",
                 *(f"Get:{number} http" for number in range(1, 121)),
                 *(f"Unpacking p{number} ..." for number in range(1, 121)),
                 *(f"Setting up p{number} ..." for number in range(1, 121))]
        (self.root / "said").write_text("\n".join(lines) + "\n")
        self.stub("apt-get", f"""
case "$*" in *install*) cat {self.root}/said; rm {self.root}/ffmpeg ;; esac""")
        result = self.setup("demo")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("\n".join(
            f"  {what} {number} of 120 packages"
            for what in ("fetched", "unpacked", "set up")
            for number in (50, 100)), result.stdout)

    def test_the_demo_runs_without_the_packages_of_the_page(self):
        """Runs the demo on systems on which one package is missing. Without
        python3-jinja2, the demo must run, because only the report of a
        comparison needs this package. Without ffmpeg, the demo must fail. A
        stub replaces python3 and prints its arguments. The output of the stub
        shows whether the demo has started.
        """
        self.stub("dirname", f"echo {SETUP.parent}")
        self.stub("python3", "echo streams: $*")
        for missing, words, streams in (
                ("python3-jinja2", [], True),
                ("python3-jinja2", ["--all"], True),
                ("ffmpeg", [], False), ("ffmpeg", ["--rate", "6"], False)):
            with self.subTest(missing=missing, words=words):
                self.debian(missing=[missing], uid=1000)
                done = subprocess.run(
                    [SETUP.with_name("demo"), *words],
                    env={"PATH": str(self.bin)}, stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                (self.root / missing).unlink()
                self.assertEqual(done.returncode == 0, streams, done.stdout)
                self.assertIn(f"install --yes --no-install-recommends {missing}"
                              "\n", done.stdout)
                self.assertEqual("streams: " in done.stdout, streams)
        self.debian(missing=["python3-jinja2"], uid=1000)
        done = subprocess.run(
            [SETUP.with_name("demo"), "--build", "x", "--rate", "6"],
            env={"PATH": str(self.bin)}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertNotIn("jinja2", done.stdout)

    def test_an_interrupted_installation_leaves_nothing(self):
        self.debian(missing=["ffmpeg"])
        (self.bin / "sleep").symlink_to(shutil.which("sleep"))
        # This stub replaces apt-get. A shell runs pipelines/setup, and the
        # stub is a child process of this shell. The test sends a signal to the
        # shell, which handles the signal only after the stub has ended. The
        # test then creates the file `go`, which ends the stub.
        self.stub("apt-get", f"echo $* >> {self.root}/calls; "
                  f"while [ ! -e {self.root}/go ]; do sleep 0.01; done")
        temporary = self.root / "tmp"
        temporary.mkdir()
        numbers = signal.SIGHUP, signal.SIGINT, signal.SIGTERM

        def heed_them():
            # If this test runs under nohup or in the background, it ignores
            # some of the signals in `numbers`, and its child processes would
            # ignore them, too. pipelines/setup must react to these signals.
            # The child process therefore restores their default actions before
            # it runs pipelines/setup.
            for number in numbers:
                signal.signal(number, signal.SIG_DFL)

        for number in (*numbers, signal.SIGKILL):
            with self.subTest(signal=number.name):
                setup = subprocess.Popen(
                    [SETUP, "demo"],
                    env={"PATH": str(self.bin), "TMPDIR": str(temporary)},
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL, preexec_fn=heed_them)
                self.addCleanup(setup.stdout.close)
                self.addCleanup(setup.kill)
                deadline = time.monotonic() + 20
                while not self.calls() and time.monotonic() < deadline:
                    time.sleep(0.01)
                setup.send_signal(number)
                killed = number == signal.SIGKILL
                if killed:
                    setup.wait(20)
                (self.root / "go").touch()
                # apt-get is a child process of pipelines/setup and has
                # inherited the writing end of the pipe `stdout`. read()
                # therefore returns only when apt-get has ended, too.
                setup.stdout.read()
                self.assertEqual(setup.wait(20),
                                 -number if killed else 128 + number)
                self.assertEqual(list(temporary.iterdir()), [])
                (self.root / "calls").unlink()
                (self.root / "go").unlink()

    def test_other_systems_get_a_list_of_missing_programs(self):
        result = self.setup("demo")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("not a Debian system", result.stdout)
        self.assertIn("prog:ffmpeg", result.stdout)

    def test_other_systems_pass_if_the_programs_exist(self):
        self.stub("ffmpeg", "")
        result = self.setup("demo")
        self.assertEqual((result.returncode, result.stdout), (0, ""))

    def test_an_unknown_set_is_refused(self):
        result = self.setup("everything")
        self.assertEqual(result.returncode, 2)
        self.assertIn("Usage:", result.stdout)


if __name__ == "__main__":
    unittest.main()
