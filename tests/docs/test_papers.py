# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the commands on the pages docs/papers*.md that begin with
./pipelines/testbed or ./pipelines/wsim. The commands run in real time, exactly
as the pages show them. Each command must end successfully. The test does not
check what the commands print, because the results in the tables of the pages
come from other tests. The pages name these tests.
"""

import concurrent.futures
import subprocess
import tempfile
import unittest

import test_docs

COMMANDS = ("./pipelines/testbed ", "./pipelines/wsim ")
SECONDS_TO_RUN = 900


def run(line, directory):
    options = f" --build {test_docs.BUILD}"
    command, _, rest = line.partition(" ")
    return subprocess.run(
        f"{test_docs.SOURCE / command}{options} {rest}", shell=True,
        cwd=directory, timeout=SECONDS_TO_RUN, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)


class PapersTest(unittest.TestCase):
    def test_every_line_runs_as_pasted(self):
        """Each launch line spends most of its time waiting. All launch lines
        therefore run at the same time.
        """
        lines = [line for page in test_docs.Papers.PAGES
                 for line in test_docs.code_lines(page.read_text())
                 if line.startswith(COMMANDS)]
        self.assertGreater(len(lines), 0)
        with tempfile.TemporaryDirectory() as directory, \
                concurrent.futures.ThreadPoolExecutor(len(lines)) as pool:
            for line, done in zip(lines, pool.map(
                    lambda line: run(line, directory), lines)):
                with self.subTest(line=line):
                    self.assertEqual(done.returncode, 0, done.stdout[-1500:])


if __name__ == "__main__":
    unittest.main()
