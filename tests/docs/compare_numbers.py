#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lists the numbers that are in the docs of a revision but not in the working
tree.

A change of the prose must not lose or change a figure. The script reads the
numbers of all pages as one set. It prints each number that is in the docs of
the revision BASE but not in the docs of the working tree, with the lines that
contain the number:

    python3 tests/docs/compare_numbers.py BASE

The exit status is 1 if a number is missing. A number may move to another page
or into another sentence. If a figure was measured again, the old number is
reported as missing, too. The commit that replaces it should say so.
"""

import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", "docs/*.md", "pipelines/*.md",
         "tests/*.md")
# Matches a number: digits, which may have decimals, groups of three digits and
# an exponent. "1,234" and "1234" are the same number.
NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?(?![\w]*\d)")
HEXADECIMAL = re.compile(r"\b0x[0-9a-fA-F]+\b")
# Matches the "x" between the width and the height of a picture.
TIMES = re.compile(r"(?<=\d)[x×](?=\d)")
WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
         "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
         "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15,
         "sixteen": 16, "twenty": 20, "thirty": 30}


def find_numbers(text: str) -> set[str]:
    text = re.sub(HEXADECIMAL, lambda found: found[0].lower(), text)
    numbers = set(HEXADECIMAL.findall(text))
    numbers |= {found.replace(",", "") for found in NUMBER.findall(
        TIMES.sub(" ", HEXADECIMAL.sub(" ", text)))}
    return numbers | {str(value) for word, value in WORDS.items()
                      if re.search(rf"\b{word}\b", text, re.I)}


def read_pages(revision: str | None) -> dict[str, str]:
    """Returns {path of a page: text of the page}. The pages are read from the
    Git revision `revision`, or from the working tree if `revision` is None.
    """
    if revision is None:
        return {path.relative_to(SOURCE).as_posix(): path.read_text()
                for pattern in PAGES for path in sorted(SOURCE.glob(pattern))}
    git = ["git", "-C", str(SOURCE)]
    names = subprocess.run(
        [*git, "ls-tree", "-r", "--name-only", revision], check=True,
        capture_output=True, text=True).stdout.splitlines()
    chosen = [name for name in names
              if any(pathlib.PurePath(name).match(page) for page in PAGES)
              and str(pathlib.PurePath(name).parent) in (".", "docs",
                                                         "pipelines", "tests")]
    return {name: subprocess.run(
        [*git, "show", f"{revision}:{name}"], check=True,
        capture_output=True, text=True).stdout for name in chosen}


def find_missing(before: dict[str, str],
                 after: dict[str, str]) -> dict[str, list[str]]:
    """Finds the numbers that are in `before` but not in `after`. Returns a
    dictionary that maps each of these numbers to the lines of `before` that
    contain it.
    """
    kept = find_numbers("\n".join(after.values()))
    missing: dict[str, list[str]] = {}
    for name, page in before.items():
        for number, line in enumerate(page.splitlines(), 1):
            for value in find_numbers(line) - kept:
                missing.setdefault(value, []).append(
                    f"{name}:{number}: {line.strip()}")
    return missing


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 2
    missing = find_missing(read_pages(sys.argv[1]), read_pages(None))
    for value, lines in sorted(missing.items()):
        print(f"{value} is missing:", *lines, sep="\n    ")
    print(f"{len(missing)} numbers are missing")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
