#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws paragraphs of the docs and comments of the code for a review.

A reviewer who has never seen the project reads each text once and marks it as
"clear", "second reading" or "not understood". The seed determines the draw, so
that a second reviewer gets the same texts.

    python3 tests/docs/draw_prose.py --seed 7 --number 70

The drawn texts are numbered, and each is preceded by its file and line. The
last line of the output says how many texts there are in total.
"""

import argparse
import dataclasses
import io
import pathlib
import random
import re
import tokenize
from collections.abc import Iterator

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PROSE_ROOTS = ("README.md", "CONTRIBUTING.md", "docs/*.md", "pipelines/*.md")
CODE_ROOTS = ("gst", "ext", "tests", "pipelines")
# This script selects paragraphs and comments at random for a review. A text
# with fewer words than these minimum numbers is a label and not prose, so it
# is not selected. There is one minimum for paragraphs and one for comments.
MIN_PARAGRAPH_WORDS = 15
MIN_COMMENT_WORDS = 6
NOT_PROSE = re.compile(r"\s*(?:\||#|```|\s{4}|!\[|---|<)")
# Tokens after which a new statement begins.
STATEMENT_ENDS = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
LICENCE = re.compile(r"SPDX-License|Copyright|ruff: noqa|-\*-")


@dataclasses.dataclass(frozen=True)
class Text:
    path: str
    line: int
    text: str

    def count_words(self) -> int:
        return len(re.findall(r"[A-Za-z][a-z']+", self.text))


def find_paragraphs(path: str, page: str) -> Iterator[Text]:
    """Yields each paragraph and list item of a Markdown page, without tables,
    headings and code."""
    collected: list[str] = []
    begin, in_code = 0, False
    for number, line in enumerate([*page.splitlines(), ""], 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        is_item = re.match(r"\s*(?:[-*]|\d+\.) ", line)
        is_prose = line.strip() and not in_code and (
            is_item or collected or not NOT_PROSE.match(line))
        if NOT_PROSE.match(line) and not is_item and not collected:
            is_prose = False
        if line.lstrip().startswith(("```", "|", "#")):
            is_prose = False
        if collected and (is_item or not is_prose):
            yield Text(path, begin, "\n".join(collected))
            collected = []
        if is_prose:
            begin = begin if collected else number
            collected.append(line)


def find_c_comments(path: str, code: str) -> Iterator[Text]:
    """Yields each comment of a C file. Ignores comment marks inside strings."""
    for found in re.finditer(r'"(?:\\.|[^"\\\n])*"|/\*(.*?)\*/', code, re.S):
        if found[1] is not None:
            text = "\n".join(re.sub(r"^\s*\*+ ?", "", line).strip()
                             for line in found[1].splitlines())
            yield Text(path, code.count("\n", 0, found.start()) + 1,
                       text.strip("* \n"))


def find_python_comments(path: str, code: str) -> Iterator[Text]:
    """Yields each block of consecutive comment lines and each docstring of a
    Python file.
    """
    block: list[str] = []
    last = begin = 0
    # Only a string that is a statement of its own is a docstring. Other strings
    # are data, such as the text of a configuration file.
    in_statement = False
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    for token in tokens:
        line = token.start[0]
        if token.type == tokenize.COMMENT:
            if block and line != last + 1:
                yield Text(path, begin, "\n".join(block))
                block = []
            begin = begin if block else line
            block.append(token.string.lstrip("# "))
            last = line
        elif (token.type == tokenize.STRING and not in_statement
              and token.string.startswith('"""')):
            yield Text(path, line, token.string.strip('"').strip())
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            in_statement = token.type not in STATEMENT_ENDS
    if block:
        yield Text(path, begin, "\n".join(block))


def read_paragraphs() -> list[Text]:
    texts: list[Text] = []
    for root in PROSE_ROOTS:
        for path in sorted(SOURCE.glob(root)):
            texts += find_paragraphs(path.relative_to(SOURCE).as_posix(),
                                     path.read_text())
    return [text for text in texts
            if text.count_words() >= MIN_PARAGRAPH_WORDS]


def read_comments() -> list[Text]:
    texts: list[Text] = []
    for root in CODE_ROOTS:
        for path in sorted((SOURCE / root).rglob("*.[chp]*")):
            find = {".c": find_c_comments, ".h": find_c_comments,
                    ".py": find_python_comments}.get(path.suffix)
            if find:
                texts += find(path.relative_to(SOURCE).as_posix(),
                              path.read_text())
    return [text for text in texts
            if text.count_words() >= MIN_COMMENT_WORDS
            and not LICENCE.search(text.text)]


def draw(texts: list[Text], seed: int, number: int) -> list[Text]:
    return random.Random(seed).sample(texts, min(number, len(texts)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1,
                        help="seed of the draw (default: 1)")
    parser.add_argument("--number", type=int, default=70,
                        help="number of texts of each kind (default: 70)")
    parser.add_argument("--kind", choices=("docs", "comments", "both"),
                        default="both",
                        help="draw paragraphs of the pages (docs), comments, "
                        "or both (default: both)")
    options = parser.parse_args()
    kinds = {"docs": read_paragraphs, "comments": read_comments}
    for kind, read in kinds.items():
        if options.kind not in (kind, "both"):
            continue
        texts = read()
        for index, text in enumerate(
                draw(texts, options.seed, options.number), 1):
            print(f"[{kind} {index}] {text.path}:{text.line}\n{text.text}\n")
        print(f"{kind}: drawn from {len(texts)} texts\n")


if __name__ == "__main__":
    main()
