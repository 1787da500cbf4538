# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts what meson's test logs hold, check by check, and closes with one line.

meson counts programs; a person wants to know how many checks ran, and a
program that ran none must not look like one that passed.
"""

import argparse
import json
import pathlib
import re
import sys
import typing

LINES_OF_A_FAILURE = 40

GST_CHECK = re.compile(
    r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)", re.M)
# As tests/check/skipped.h prints it, once for each check
GST_CHECK_SKIPPED = re.compile(r"^\S+: skipped, ", re.M)
UNITTEST = re.compile(r"^Ran (\d+) tests? in ", re.M)
UNITTEST_RESULT = re.compile(r"^(?:OK|FAILED)(?: \((.*)\))?$", re.M)


class Counts(typing.NamedTuple):
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Counts(*(a + b for a, b in zip(self, other)))


def count_checks(output):
    """What the program itself says, None where it counts nothing."""
    runs = GST_CHECK.findall(output)
    if runs:
        checks, failures, errors = (sum(map(int, column))
                                    for column in zip(*runs))
        passed = checks - failures - errors
        skipped = min(len(GST_CHECK_SKIPPED.findall(output)), passed)
        return Counts(passed - skipped, failures + errors, skipped)
    ran = UNITTEST.findall(output)
    if ran:
        total = sum(map(int, ran))
        said = ", ".join(UNITTEST_RESULT.findall(output))
        numbers = {key: int(value)
                   for key, value in re.findall(r"(\w[a-z ]*)=(\d+)", said)}
        failed = sum(numbers.get(key, 0) for key in
                     ("failures", "errors", "unexpected successes"))
        skipped = numbers.get("skipped", 0)
        # An error in setUpClass is one of the errors, but not a test that ran.
        return Counts(max(total - failed - skipped, 0), failed, skipped)
    return None


def count(test):
    """Counts of one entry of meson's log."""
    verdict = test["result"]
    if verdict == "SKIP":
        return Counts(skipped=1)
    output = "\n".join((test.get("stdout") or "", test.get("stderr") or ""))
    counts = count_checks(output)
    if verdict in ("OK", "EXPECTEDFAIL"):
        if counts is None:
            return Counts(passed=1)
        if sum(counts) == 0:
            return Counts(failed=1)  # passed empty: nothing was tested
        return counts
    # Crash, time-out, a sanitizer's finding at the end: a failure although
    # each check may have passed.
    counts = counts or Counts()
    return counts if counts.failed else counts + Counts(failed=1)


def read(path):
    """The entries of a testlog.json; none when meson did not come to write it."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def describe_failure(build, test):
    output = "\n".join(filter(None, (test.get("stdout"), test.get("stderr"))))
    tail = output.rstrip().splitlines()[-LINES_OF_A_FAILURE:]
    verdict = test["result"]
    if verdict == "OK":
        verdict = "passed without a single check"
    return "\n".join((
        f"--- {build}: {test['name']}: {verdict} "
        f"after {test['duration']:.0f} s",
        *("    " + line for line in tail)))


def main():
    parser = argparse.ArgumentParser(
        description="Prints failures and the counts of meson's test logs.")
    parser.add_argument("logs", nargs="*", metavar="NAME=TESTLOG.JSON",
                        help="a run's name and meson's log of it")
    parser.add_argument("--broken", action="append", default=[],
                        metavar="WHAT", help="what failed before its tests ran")
    options = parser.parse_args()

    total = Counts()
    for argument in options.logs:
        name, path = argument.split("=", 1)
        tests = read(pathlib.Path(path))
        counts = sum(map(count, tests), Counts())
        for test in tests:
            if count(test).failed:
                print(describe_failure(name, test))
        seconds = sum(test["duration"] for test in tests)
        print(f"{name}: {len(tests)} programs, {counts.passed} checks passed, "
              f"{counts.failed} failed, {counts.skipped} skipped, "
              f"{seconds:.0f} s of test time")
        if not tests:
            options.broken.append(f"{name}: no test ran")
        total += counts
    for what in options.broken:
        print(f"--- {what}")
        total += Counts(failed=1)
    print(f"{total.passed} passed, {total.failed} failed, "
          f"{total.skipped} skipped")
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
