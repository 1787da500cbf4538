# SPDX-License-Identifier: LGPL-2.1-or-later
"""The script tests/run runs all tests and counts the checks that passed and
failed. This file tests the counting. An error in it would be serious, because
tests/run could then overlook a failure.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"]) / "tests"
SUMMARY = TESTS / "summary.py"
CHECK = "{}%: Checks: {}, Failures: {}, Errors: {}\n".format

# This shell script replaces meson. It lists one test for each build directory,
# and reports that this test has passed.
MESON = r"""#!/bin/bash
[ "$1" = test ] || exit 0
build=$3
case "$*" in
  *--list*) echo "a test"; exit "$LIST_STATUS" ;;
esac
while [ "$1" != --logbase ]; do shift; done
echo '{"name": "a test", "result": "OK", "duration": 1, "stdout": ""}' \
  >"$build/meson-logs/$2.json"
"""


def entry(result, stdout="", stderr="", name="a test"):
    return {"name": name, "result": result, "duration": 1.0,
            "stdout": stdout, "stderr": stderr}


class SummaryTest(unittest.TestCase):
    def close(self, *entries, arguments=(), listed=None, status=None, tail=""):
        """Runs tests/summary.py, which evaluates the log of a test run that
        meson has made. Returns the exit status of tests/summary.py and the
        last line that it printed. Stores everything that it printed in
        `self.output`.

        `entries` are the entries of meson's log, one for each test. `listed`
        contains the names of the tests that meson lists; the default is the
        names in `entries`. `status` is meson's exit status; the default is the
        number of failed tests.
        """
        if listed is None:
            listed = [e["name"] for e in entries]
        if status is None:
            status = sum(e["result"] not in ("OK", "SKIP") for e in entries)
        with tempfile.TemporaryDirectory() as directory:
            log = pathlib.Path(directory) / "log.json"
            log.write_text("".join(json.dumps(e) + "\n" for e in entries)
                           + tail)
            names = pathlib.Path(directory) / "tests.list"
            names.write_text("".join(name + "\n" for name in listed))
            done = subprocess.run(
                [sys.executable, SUMMARY, "--run", "run", str(status),
                 str(names), str(log), *arguments],
                stdout=subprocess.PIPE, text=True)
        self.output = done.stdout
        return done.returncode, done.stdout.splitlines()[-1]

    def test_counts_checks_and_not_programs(self):
        self.assertEqual(self.close(
            entry("OK", CHECK(100, 12, 0, 0)),
            entry("OK", "", "..\nRan 5 tests in 0.1s\n\nOK (skipped=2)\n"),
            entry("OK", "a program that counts nothing\n"),
            entry("SKIP")), (0, "16 passed, 0 failed, 3 skipped"))

    def test_counts_every_suite_of_one_program(self):
        self.assertEqual(self.close(
            entry("OK", CHECK(100, 2, 0, 0) + CHECK(100, 3, 0, 0))),
            (0, "5 passed, 0 failed, 0 skipped"))

    def test_failures_and_errors_both_fail(self):
        self.assertEqual(self.close(
            entry("FAIL", CHECK(70, 10, 2, 1)),
            entry("FAIL", "", "Ran 8 tests in 1s\n\n"
                              "FAILED (failures=1, errors=2, skipped=1)\n")),
            (1, "11 passed, 6 failed, 1 skipped"))

    def test_a_crash_or_time_out_fails_although_all_checks_passed(self):
        for result in ("FAIL", "ERROR", "TIMEOUT", "INTERRUPT"):
            self.assertEqual(
                self.close(entry(result, CHECK(100, 12, 0, 0))),
                (1, "12 passed, 1 failed, 0 skipped"))

    def test_an_unexpected_pass_is_a_failure(self):
        self.assertEqual(self.close(entry("UNEXPECTEDPASS")),
                         (1, "0 passed, 1 failed, 0 skipped"))

    def test_a_program_that_checked_nothing_fails(self):
        self.assertEqual(self.close(
            entry("OK", CHECK(100, 0, 0, 0)),
            entry("OK", "", "Ran 0 tests in 0s\n\nOK\n")),
            (1, "0 passed, 2 failed, 0 skipped"))
        self.assertIn("without a single check", self.output)

    def test_a_run_without_tests_fails(self):
        self.assertEqual(self.close(listed=["one"]),
                         (1, "0 passed, 2 failed, 0 skipped"))
        self.assertIn("run: no test ran", self.output)

    def test_a_run_of_which_nothing_is_listed_fails(self):
        self.assertEqual(self.close(entry("OK"), listed=[])[0], 1)
        self.assertIn("run: meson listed no test", self.output)

    def test_a_log_that_lacks_a_listed_test_fails(self):
        self.assertEqual(
            self.close(entry("OK", name="one"), entry("OK", name="two"),
                       listed=["one", "two", "three", "four"]),
            (1, "2 passed, 2 failed, 0 skipped"))
        self.assertIn("run: three did not run", self.output)
        self.assertIn("2 of 4 programs", self.output)

    def test_a_log_that_lacks_one_of_two_tests_of_a_name_fails(self):
        self.assertEqual(self.close(entry("OK"), listed=["a test"] * 2)[0], 1)

    def test_a_log_that_ends_within_a_line_fails(self):
        self.assertEqual(
            self.close(entry("OK", name="one"), listed=["one", "two"],
                       tail=json.dumps(entry("OK", name="two"))[:40]),
            (1, "1 passed, 2 failed, 0 skipped"))
        self.assertIn("1 broken lines", self.output)

    def test_a_test_that_was_not_listed_fails(self):
        self.assertEqual(
            self.close(entry("OK", name="one"), entry("OK", name="two"),
                       listed=["one"]),
            (1, "2 passed, 1 failed, 0 skipped"))

    def test_an_error_of_meson_itself_fails(self):
        self.assertEqual(self.close(entry("OK"), status=2),
                         (1, "1 passed, 1 failed, 0 skipped"))
        self.assertIn("meson ended with status 2", self.output)

    def test_meson_s_status_counts_no_failure_twice(self):
        self.assertEqual(self.close(entry("FAIL"), status=1),
                         (1, "0 passed, 1 failed, 0 skipped"))

    def test_a_build_that_failed_before_its_tests_is_a_failure(self):
        self.assertEqual(
            self.close(entry("OK"), arguments=["--broken=the build"]),
            (1, "1 passed, 1 failed, 0 skipped"))

    def test_a_step_outside_of_meson_counts_as_one_check(self):
        for status, counts in (("0", (0, "2 passed, 0 failed, 0 skipped")),
                               ("77", (0, "1 passed, 0 failed, 1 skipped")),
                               ("1", (1, "1 passed, 1 failed, 0 skipped")),
                               ("127", (1, "1 passed, 1 failed, 0 skipped"))):
            with self.subTest(status=status):
                self.assertEqual(self.close(
                    entry("OK"), arguments=["--step", "lint", status]), counts)

    def test_the_end_of_a_failure_s_log_is_shown(self):
        self.close(entry("FAIL", "so it went\n"))
        self.assertIn("a test: FAIL", self.output)
        self.assertIn("so it went", self.output)


class RunTest(unittest.TestCase):
    """Runs the script tests/run itself, with stubs for all programs that it
    calls."""

    def run_all(self, list_status, ninja="#!/bin/sh\n", lint_status=0):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for build in ("build", "build-asan"):
                (root / build / "meson-logs").mkdir(parents=True)
            for name in ("tests", "pipelines", "bin"):
                (root / name).mkdir()
            for name in ("run", "summary.py"):
                shutil.copy(TESTS / name, root / "tests" / name)
            programs = {"tests/lint": f"#!/bin/sh\nexit {lint_status}\n",
                        "pipelines/setup": "#!/bin/sh\n",
                        "pipelines/clips": "#!/bin/sh\n",
                        "bin/ninja": ninja, "bin/meson": MESON}
            for name, text in programs.items():
                (root / name).write_text(text)
                (root / name).chmod(0o755)
            done = subprocess.run(
                [root / "tests" / "run"], stdout=subprocess.PIPE, text=True,
                env={**os.environ, "LIST_STATUS": str(list_status),
                     "PATH": f"{root / 'bin'}:{os.environ['PATH']}"})
        return done.returncode, done.stdout

    def test_three_complete_runs_pass(self):
        status, output = self.run_all(list_status=0)
        self.assertEqual(output.splitlines()[-1],
                         "4 passed, 0 failed, 0 skipped")
        self.assertEqual(status, 0)

    def test_a_tree_that_lint_does_not_like_fails(self):
        status, output = self.run_all(list_status=0, lint_status=1)
        self.assertEqual(output.splitlines()[-1],
                         "3 passed, 1 failed, 0 skipped")
        self.assertEqual(status, 1)

    def test_a_failed_build_with_sanitizers_is_reported(self):
        status, output = self.run_all(
            list_status=0,
            ninja='#!/bin/sh\ncase "$*" in *build-asan*) exit 1 ;; esac\n')
        self.assertEqual(output.splitlines()[-1],
                         "2 passed, 1 failed, 0 skipped")
        self.assertIn("--- build with sanitizers failed", output)
        self.assertEqual(status, 1)

    def test_a_list_that_meson_did_not_finish_fails(self):
        status, output = self.run_all(list_status=1)
        self.assertEqual(output.splitlines()[-1],
                         "4 passed, 3 failed, 0 skipped")
        self.assertIn("ordinary: meson test --list failed", output)
        self.assertEqual(status, 1)


if __name__ == "__main__":
    unittest.main()
