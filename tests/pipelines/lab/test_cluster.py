# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the command `lab grid` with Snakemake, which distributes the cells
(single experiments) of a matrix over the nodes of a cluster. In these tests,
the nodes are programs on this machine, each with a directory of its own. One
node is killed while it runs cells.

By default, the matrix has 6 cells. With `--long` it has 40 cells.
"""

import functools
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import test_demo
import test_testbed

from wirelesslab.errors import LabError
from wirelesslab.lab import cells, local_nodes, scratch
from wirelesslab.report import results_csv, run_results, two_matrices

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"])
LAB = SOURCE / "pipelines" / "lab"
PROFILE = SOURCE / "pipelines" / "profiles" / "local"

LONG = "--long" in sys.argv
SECONDS_TO_WAIT = 600
# The matrix file of these tests has four links in the long test, and two links
# in the short test. One experiment is run for each link and each seed.
SEEDS = range(1, 11) if LONG else range(1, 4)
CELLS = 40 if LONG else 6
# When this number of results exists, the test kills a node.
RESULTS_BEFORE = 8 if LONG else 1
MATRIX = r"""
[matrix]
protocols = computed
rates = 6
seconds = 2
seeds = {seeds}
[link radio]
properties = profile=80211b retry-limit=1
interference = {interference}
[protocol computed]
computed = yes
sender = filesrc location={{clip}} ! mpegstat location={{sent}} ! rfc2250pay
receiver = rfc2250depay ! mpegstat location={{received}} ! fakesink sync=false async=false
"""  # noqa: E501
LATE_MS = 500


@functools.cache
def why_no_cluster():
    """Returns the reason why Snakemake cannot run jobs on a cluster here, or
    "" if it can. Snakemake 8 and later versions need a plugin for clusters,
    which is not a package of Debian."""
    if not shutil.which("snakemake"):
        return "Snakemake is not installed: pipelines/setup test"
    said = subprocess.run(["snakemake", "--help"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True).stdout
    if "--cluster-status" in said or "--cluster-generic-status-cmd" in said:
        return ""
    return "snakemake-executor-plugin-cluster-generic is not installed"


class NodesCase(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.nodes = self.directory / "nodes"
        # Snakemake 7 usually asks for the status of jobs every 10 s. With
        # CI=true it asks more often, which makes the test faster.
        self.env = {**os.environ, "WIRELESS_NODES": str(self.nodes),
                    "CI": "true", test_demo.MARK: self.id()}
        patch = mock.patch.dict(os.environ, WIRELESS_NODES=str(self.nodes))
        patch.start()
        self.addCleanup(patch.stop)

    def start_node(self, name):
        node = subprocess.Popen(
            [PROFILE / "node", name], env=self.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(node.wait)
        self.addCleanup(node.kill)
        self.assertTrue(test_demo.wait_for(
            lambda: (self.nodes / name / local_nodes.LOCK).exists()
            and local_nodes.is_alive(self.nodes / name)))
        return node

    def jobs(self, name, place):
        return {path.name for path in (self.nodes / name / place).iterdir()}

    def script(self, text):
        path = self.directory / "script"
        path.write_text(text)
        return path


class NodesTest(NodesCase):
    def wait(self, job):
        self.assertTrue(test_demo.wait_for(
            lambda: local_nodes.status(job) != local_nodes.IS_RUNNING))
        return local_nodes.status(job)

    def test_a_job_has_the_status_of_its_script(self):
        self.start_node("a")
        for text, status in (("exit 0", "success"), ("exit 3", "failed")):
            job = local_nodes.submit(self.script(text))
            self.assertEqual(self.wait(job), status)

    def test_a_job_runs_in_the_directory_of_its_node(self):
        self.start_node("a")
        job = local_nodes.submit(self.script('pwd; echo "$TMPDIR"'))
        self.wait(job)
        home = self.nodes / "a"
        self.assertEqual((home / local_nodes.LOG).read_text(),
                         f"{home}\n{home / local_nodes.WORK}\n")

    def test_jobs_go_to_the_node_that_has_the_fewest(self):
        self.start_node("a")
        self.start_node("b")
        script = self.script("sleep 60")
        self.assertEqual(
            sorted(local_nodes.submit(script).partition(":")[0]
                   for _ in range(4)), ["a", "a", "b", "b"])

    def test_a_cancelled_job_has_failed(self):
        self.start_node("a")
        job = local_nodes.submit(self.script("sleep 60"))
        waiting = local_nodes.submit(self.script("touch ran"))
        local_nodes.cancel(job)
        local_nodes.cancel(waiting)
        self.assertEqual(self.wait(job), "failed")
        self.assertEqual(self.wait(waiting), "failed")
        self.assertFalse((self.nodes / "a" / "ran").exists())

    def test_jobs_of_a_killed_node_have_failed_and_their_processes_end(self):
        node = self.start_node("a")
        running = local_nodes.submit(self.script("sleep 60 & sleep 60"))
        self.assertTrue(test_demo.wait_for(lambda: 2 == sum(
            name == "sleep"
            for _, name in test_demo.marked_processes(self.id()))))
        waiting = local_nodes.submit(self.script("exit 0"))
        self.assertEqual(local_nodes.status(waiting), "running")
        node.kill()
        node.wait()
        for job in (running, waiting):
            self.assertEqual(local_nodes.status(job), "failed")
        self.assertTrue(test_demo.wait_for(
            lambda: not test_demo.marked_processes(self.id())),
            test_demo.marked_processes(self.id()))
        # A new process is started for the same node. It must not run the jobs
        # of the killed process again.
        self.start_node("a")
        for job in (running, waiting):
            self.assertEqual(self.wait(job), "failed")

    def test_without_a_running_node_nothing_is_submitted(self):
        with self.assertRaisesRegex(LabError, "no node is running"):
            local_nodes.submit(self.script("exit 0"))
        with self.assertRaisesRegex(LabError, "there is no job a:1"):
            local_nodes.status("a:1")


class ScratchTest(NodesCase):
    """Tests scratch.run(), which runs a cell (one experiment of the lab) by
    calling cells.run(). In the test, cells.run() is replaced by a function that
    only writes files."""

    def run_cell(self, run):
        cell = self.directory / "cell"
        cell.mkdir(exist_ok=True)
        (cell / cells.CELL).write_text("{}")
        with mock.patch.object(cells, "run", run), \
                mock.patch.object(tempfile, "tempdir", str(self.directory)):
            scratch.run(cell, BUILD)
        return cell

    def kept(self):
        """Returns the files that scratch.run() has left in the temporary
        directory.
        """
        return [path for path in self.directory.glob("wireless-lab-*/*")
                if path.name != ".lock"]

    def test_the_result_and_the_logs_of_all_streams_are_copied(self):
        def run(directory, _build):
            self.assertEqual((directory / cells.CELL).read_text(), "{}")
            (directory / "1").mkdir()
            (directory / "1" / cells.SENT).write_text("new")
            (directory / cells.RESULT).write_text("{}")

        cell = self.directory / "cell"
        (cell / "1").mkdir(parents=True)
        (cell / "1" / "old").touch()
        (cell / "old").touch()
        (cell / cells.RUN_OUT).touch()
        self.run_cell(run)
        self.assertEqual(
            {str(path.relative_to(cell)) for path in cell.rglob("*")},
            {"1", "1/sent.csv", cells.CELL, cells.RESULT, cells.RUN_OUT,
             cells.LOCK})
        self.assertEqual(self.kept(), [])

    def test_a_failed_run_leaves_its_logs_but_no_result(self):
        def run(directory, _build):
            (directory / "sender.out").write_text("no room")
            raise LabError("the sender failed")

        with self.assertRaises(LabError):
            self.run_cell(run)
        cell = self.directory / "cell"
        self.assertEqual((cell / "sender.out").read_text(), "no room")
        self.assertFalse((cell / cells.RESULT).exists())
        self.assertEqual(self.kept(), [])


class ClusterTest(NodesCase):
    def setUp(self):
        super().setUp()
        if why_no_cluster():
            self.skipTest(why_no_cluster())
        for element in ("mpegstat", "rfc2250pay", "wirelesslink"):
            if not test_testbed.has_element(element):
                self.skipTest(f"{element} is not built")
        self.path = self.directory / "matrix.ini"
        self.path.write_text(MATRIX.format(
            seeds=" ".join(map(str, SEEDS)),
            interference="none 0.5-1 1-2 0-2" if LONG else "none 0.5-1"))

    def start_grid(self, output, *words):
        """Starts the command `lab grid`, which runs all cells (experiments) of
        the matrix file. The results are written to the directory `output`.
        `words` are further arguments of the command. Returns the process."""
        # The messages of the command are written to a file. If they were
        # written to a pipe that nobody reads, the pipe would become full, and
        # the command would block.
        with open(self.directory / "said", "w") as said:
            grid = subprocess.Popen(
                [LAB, "grid", self.path, "--output", output, "--build", BUILD,
                 *words], env=self.env, stdin=subprocess.DEVNULL, stdout=said,
                stderr=subprocess.STDOUT)
        self.addCleanup(grid.wait)
        self.addCleanup(grid.kill)
        return grid

    def check_ends_well(self, grid):
        status = grid.wait(SECONDS_TO_WAIT)
        said = (self.directory / "said").read_text()
        self.assertEqual(status, 0, said)
        self.assertIn(f"{CELLS} done, 0 flagged, 0 failed", said)

    def table(self, output):
        runs, missing, _ = run_results.read(output, BUILD, LATE_MS)
        self.assertEqual((len(runs), missing), (CELLS, 0))
        heads, rows = run_results.all_numbers(runs)
        # The test compares this table with the table of another run of `lab
        # grid`. Each row contains the results of one experiment. If all rows
        # of a table were equal, the comparison would prove nothing, because it
        # would not notice exchanged results. The links lose frames, so the
        # table must contain more than two different percentages of decodable
        # frames.
        self.assertGreater(
            len({row[heads.index("decodable %")] for row in rows}), 2)
        # The numbers are converted to text, because a table may contain NaN.
        # NaN is not equal to itself, so two equal tables of numbers would seem
        # to differ.
        return heads, [list(map(str, row)) for row in rows]

    def results(self, output):
        return len(list(output.glob(f"*/*/*/*/{cells.RESULT}")))

    def test_a_grid_with_a_killed_node_equals_that_of_one_machine(self):
        doomed, _ = self.start_node("a"), self.start_node("b")
        output = self.directory / "cluster"
        grid = self.start_grid(output, "--profile", PROFILE)
        self.assertTrue(test_demo.wait_for(
            lambda: self.results(output) >= RESULTS_BEFORE
            and self.jobs("a", local_nodes.RUNNING)))
        doomed.send_signal(signal.SIGKILL)
        doomed.wait()
        lost = self.jobs("a", local_nodes.RUNNING) \
            | self.jobs("a", local_nodes.QUEUE)
        self.assertTrue(lost)
        self.check_ends_well(grid)
        # Each experiment is a job. Together, the nodes a and b must have
        # completed as many jobs as there are experiments. Some jobs were
        # running or queued on the node a when it was killed, so the node b
        # must have run these jobs.
        self.assertEqual(len(self.jobs("a", local_nodes.DONE))
                         + len(self.jobs("b", local_nodes.DONE)), CELLS)
        alone = self.directory / "alone"
        self.check_ends_well(self.start_grid(alone, "--plain"))
        both = [self.table(output), self.table(alone)]
        self.assertEqual(*both)
        # The cluster has run the experiments. After that, this machine alone
        # has run the same experiments. The results of both must be equal. If
        # the two tables of results are merged, the merged table must contain
        # each run once.
        both = [results_csv.read(path, BUILD) for path in (output, alone)]
        found = two_matrices.compare(*both)
        self.assertEqual({one.verdict for group in found.groups
                          for one in group.primary()}, {two_matrices.SAME})
        self.assertEqual(results_csv.merge(both).rows, both[0].rows)
        known = self.directory / "runs.csv"
        results_csv.write(known, both[0])
        grid = self.start_grid(self.directory / "none", "--known", known)
        self.assertEqual(grid.wait(SECONDS_TO_WAIT), 0)
        self.assertEqual((self.directory / "said").read_text(),
                         f"{CELLS} of {CELLS} cells are in {known}\n")

    def test_a_grid_that_ends_cancels_its_jobs(self):
        self.start_node("a")
        grid = self.start_grid(self.directory / "out", "--profile", PROFILE)
        self.assertTrue(test_demo.wait_for(
            lambda: self.jobs("a", local_nodes.RUNNING)))
        grid.terminate()
        grid.wait(SECONDS_TO_WAIT)
        self.assertTrue(test_demo.wait_for(
            lambda: not self.jobs("a", local_nodes.RUNNING)
            and not self.jobs("a", local_nodes.QUEUE)))

    def stub(self, name, text):
        """Replaces the SLURM command `name` by a shell script with the commands
        `text`."""
        directory = self.directory / "bin"
        directory.mkdir(exist_ok=True)
        (directory / name).write_text(f"#!/bin/sh\n{text}\n")
        (directory / name).chmod(0o755)
        self.env["PATH"] = f"{directory}:{os.environ['PATH']}"

    def test_the_profile_of_slurm_uses_its_commands(self):
        """SLURM schedules the jobs of a cluster. In this test, small scripts
        replace the commands of SLURM. They pass each job to a node that runs
        on this machine."""
        self.stub("sbatch", f'''
echo "$*" >> {self.directory}/calls
for script; do :; done
exec {PROFILE}/local-submit "$script"''')
        self.stub("scontrol", "exit 1")
        self.stub("sacct", f'''
case $({PROFILE}/local-status "$2") in
  success) echo COMPLETED ;;
  failed) echo FAILED ;;
  *) echo RUNNING ;;
esac''')
        self.start_node("a")
        self.check_ends_well(self.start_grid(
            self.directory / "out", "--profile", PROFILE.with_name("slurm")))
        calls = (self.directory / "calls").read_text().splitlines()
        self.assertEqual(len(calls), CELLS)
        for call in calls:
            self.assertRegex(call, "^--parsable --no-requeue --nodes=1 "
                             "--ntasks=1 --cpus-per-task=1 --output=/dev/null "
                             r"\S+$")

    def test_slurm_gives_a_run_in_real_time_a_node_of_its_own(self):
        self.stub("sbatch", "echo \"7;$*\" >&2; echo '7;cluster'")
        done = subprocess.run(
            [PROFILE.with_name("slurm") / "slurm-submit", "1", "script"],
            env=self.env, stdin=subprocess.DEVNULL, capture_output=True,
            text=True)
        self.assertEqual(done.stdout, "7\n")
        self.assertIn("--exclusive --output=/dev/null script", done.stderr)

    def test_a_job_that_slurm_refuses_is_an_error(self):
        self.stub("sbatch", "echo no >&2; exit 3")
        done = subprocess.run(
            [PROFILE.with_name("slurm") / "slurm-submit", "0", "script"],
            env=self.env, stdin=subprocess.DEVNULL, capture_output=True,
            text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (3, "", "no\n"))

    def test_states_of_slurm_are_those_of_snakemake(self):
        for state, expected in (
                ("PENDING", "running"), ("RUNNING", "running"),
                ("", "running"), ("COMPLETED", "success"),
                ("FAILED", "failed"), ("CANCELLED by 0", "failed"),
                ("NODE_FAIL", "failed"), ("TIMEOUT", "failed")):
            # SLURM schedules the jobs of a cluster. Its command scontrol shows
            # the state of a job while the job runs. Later, scontrol fails, and
            # only the command sacct shows the state. The test replaces both
            # commands and tests both cases.
            for scontrol, sacct in (
                    (f"echo '   JobState={state} Reason=None'", "exit 1"),
                    ("echo Invalid >&2; exit 1", f"echo {state}")):
                self.stub("scontrol", scontrol)
                self.stub("sacct", sacct)
                done = subprocess.run(
                    [PROFILE.with_name("slurm") / "slurm-status", "7"],
                    env=self.env, stdin=subprocess.DEVNULL,
                    capture_output=True, text=True)
                self.assertEqual((done.stdout, done.stderr),
                                 (f"{expected}\n", ""), state)

    def test_a_profile_that_snakemake_does_not_accept_is_one_message(self):
        self.stub("snakemake", "echo invalid choice >&2; exit 2")
        grid = self.start_grid(self.directory / "out", "--profile", PROFILE)
        self.assertEqual(grid.wait(SECONDS_TO_WAIT), 1)
        said = (self.directory / "said").read_text()
        self.assertRegex(said, "invalid choice\npipelines/lab: Snakemake does "
                         "not accept the profile")
        self.assertNotIn("failed", said)

    def test_a_profile_needs_snakemake(self):
        grid = self.start_grid(self.directory / "out", "--plain", "--profile",
                               PROFILE)
        self.assertEqual(grid.wait(SECONDS_TO_WAIT), 2)


if __name__ == "__main__":
    unittest.main(argv=[word for word in sys.argv if word != "--long"])
