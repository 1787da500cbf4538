# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts the checks in meson's test logs and prints one line with the result.

meson counts test programs, but a person wants to know how many checks ran. A
program without any check must not count as passed.

The line also says whether the run of the tests was complete. A complete run
meets two conditions:
- Its log has every test that meson lists, exactly once.
- If meson itself ended with an error, the log explains this error.
"""

import argparse
import collections
import json
import pathlib
import re
import sys
import typing

LINES_OF_A_FAILURE = 40
SKIPPED = 77  # Exit status of a program that had to skip all its checks.

GST_CHECK = re.compile(
    r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)", re.M)
# Matches the line that a test program prints for each skipped check
# (tests/support/skipped.c).
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
    """Returns how many checks passed, failed and were skipped, as Counts. The
    function finds these numbers in `output`, the text that a test program has
    printed. Returns None if `output` does not contain them.
    """
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
        # The number of passed tests is the total minus the failed and the
        # skipped tests. If setUpClass fails, unittest counts an error, but no
        # test. The difference can then be negative. In this case, no test has
        # passed.
        return Counts(max(total - failed - skipped, 0), failed, skipped)
    return None


def count(test):
    """Returns how many checks of a test passed, failed and were skipped, as
    Counts. `test` is the entry of the test in meson's log.
    """
    verdict = test["result"]
    if verdict == "SKIP":
        return Counts(skipped=1)
    output = "\n".join((test.get("stdout") or "", test.get("stderr") or ""))
    counts = count_checks(output)
    if verdict in ("OK", "EXPECTEDFAIL"):
        if counts is None:
            return Counts(passed=1)
        if sum(counts) == 0:
            return Counts(failed=1)  # passed without a check
        return counts
    # The test program failed, although all its checks may have passed. For
    # example, it may have crashed or taken too long, or a sanitizer may have
    # found an error at its end. It must therefore count as at least one failed
    # check.
    counts = counts or Counts()
    return counts if counts.failed else counts + Counts(failed=1)


def read(path):
    """Returns the entries of the file `path`, a testlog.json of meson, and the
    number of its lines that are not valid entries.

    If meson did not begin to write the file, there are no entries. If meson
    was killed while it wrote a line, this line is not a valid entry.
    """
    tests, n_broken = [], 0
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            tests.append(json.loads(line))
        except ValueError:
            n_broken += 1
    return tests, n_broken


def read_list(path):
    """Returns the names of all tests, which are the lines of the file `path`.
    The file contains the output of `meson test --list`.
    """
    lines = path.read_text().splitlines() if path.exists() else []
    return [line for line in lines if line]


def find_gaps(tests, expected, n_broken, status):
    """Checks whether a run of the tests is complete. Yields a text for each
    reason why it is not.
    """
    if not expected:
        yield "meson listed no test"
    if not tests:
        yield "no test ran"
    if n_broken:
        yield f"the log has {n_broken} broken lines"
    ran = collections.Counter(test["name"] for test in tests)
    listed = collections.Counter(expected)
    for name in listed - ran:
        yield f"{name} did not run"
    for name in ran - listed:
        yield f"{name} ran although meson did not list it"
    # The exit status of `meson test` is the number of failed tests. If meson
    # itself failed, it is some other status.
    if status and not any(count(test).failed for test in tests):
        yield f"meson ended with status {status} although no test failed"


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
    parser.add_argument("--run", nargs=4, action="append", default=[],
                        dest="runs",
                        metavar=("NAME", "STATUS", "LIST", "TESTLOG.JSON"),
                        help="count the checks of a run of meson test. NAME "
                        "is the name of the run, STATUS its exit status, LIST "
                        "a file with the output of meson test --list, and "
                        "TESTLOG.JSON the log of the run. May be given "
                        "several times.")
    parser.add_argument("--step", nargs=2, action="append", default=[],
                        dest="steps", metavar=("NAME", "STATUS"),
                        help="count the program NAME, for example lint, as "
                        "one check. STATUS is its exit status: 0 means "
                        f"passed, {SKIPPED} means skipped, and any other "
                        "number means failed. May be given several times.")
    parser.add_argument("--broken", action="append", default=[],
                        metavar="REASON",
                        help="count one more failed check and print REASON, "
                        "for example if the build failed and its tests could "
                        "not run. May be given several times.")
    options = parser.parse_args()

    total = Counts()
    for name, status in options.steps:
        counts = {0: Counts(passed=1), SKIPPED: Counts(skipped=1)}.get(
            int(status), Counts(failed=1))
        print(f"{name}: {counts.passed} passed, {counts.failed} failed, "
              f"{counts.skipped} skipped")
        total += counts
    for name, status, listed, log in options.runs:
        tests, n_broken = read(pathlib.Path(log))
        expected = read_list(pathlib.Path(listed))
        counts = sum(map(count, tests), Counts())
        for test in tests:
            if count(test).failed:
                print(describe_failure(name, test))
        seconds = sum(test["duration"] for test in tests)
        print(f"{name}: {len(tests)} of {len(expected)} programs, "
              f"{counts.passed} checks passed, {counts.failed} failed, "
              f"{counts.skipped} skipped, {seconds:.0f} s of test time")
        options.broken += (f"{name}: {gap}" for gap in find_gaps(
            tests, expected, n_broken, int(status)))
        total += counts
    for what in options.broken:
        print(f"--- {what}")
        total += Counts(failed=1)
    print(f"{total.passed} passed, {total.failed} failed, "
          f"{total.skipped} skipped")
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
