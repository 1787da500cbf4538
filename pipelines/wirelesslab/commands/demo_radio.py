# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the part of the demo in which a radio damages packets. pipelines/wsim
sends a small clip in three ways: by UDP, by UDP-Lite, and by UDP over a bearer
that retransmits. All three are repeated with each seed in SEEDS.

These runs take place at the same time as the other runs of the demo. They need
little CPU time, because the radio has only 9600 bit/s. A busy machine does not
change their results: the radio still damages the same packets.
"""

import json
import pathlib
import signal
import subprocess
import time
from collections.abc import Sequence

from wirelesslab import paths, processes
from wirelesslab.commands import wsim
from wirelesslab.lab import cells
from wirelesslab.testbed import testbed

# The clip is sent only up to this time, in seconds. The radio is slow: its
# transmission of this part takes more than 60 s.
SECONDS = 30
SEEDS = (1, 2, 3)
ELEMENTS = ("udplitesink", "udplitesrc", "wirelesslink", "qtdemux",
            "rtph263ppay", "rtph263pdepay", "matroskamux")
SUMMARY, FIGURE = "summary.json", "figure.png"
DIRECTORY = "gsm"
SECONDS_TO_BEGIN = 60
SECONDS_BETWEEN_LOOKS = 0.1
# The runs over the emulated radio take place at the same time as the other
# runs of the demo. This command lowers their CPU priority, so that they do not
# delay the other runs.
NICE = ["nice", "-n", "5"]


def why_not(build: pathlib.Path) -> str:
    """Returns the reason why this machine cannot run the part of the demo with
    the radio. Returns "" if it can.
    """
    missing = [name for name in ELEMENTS if not cells.is_element(name, build)]
    if missing:
        return f"GStreamer has no {', '.join(missing)}"
    why = testbed.why_no_hosts()
    return (f"no network namespaces here ({why}), and relays carry no UDP-Lite"
            if why else "")


class Runs:
    """All runs of the program pipelines/wsim, which sends a clip over an
    emulated radio. There is one run for each seed, with a directory of its
    own.
    """

    def __init__(self, output: pathlib.Path, build: pathlib.Path,
                 seeds: Sequence[int] = SEEDS) -> None:
        self._build = build
        self._directories = {
            seed: output / DIRECTORY / f"{SECONDS}s-{seed}" for seed in seeds}
        self._children: dict[int, subprocess.Popen] = {}

    def results(self) -> list[pathlib.Path]:
        """Returns a list with the path of the result file of each run. The
        result is the last file that a run writes, so the run is complete if
        this file exists.
        """
        return [directory / SUMMARY for directory in self._directories.values()]

    def start(self) -> None:
        """Starts each run of pipelines/wsim that has no result yet. Returns
        when all of these runs have begun to send data. A starting program
        needs much CPU time, which would delay other runs. The demo also has
        runs that do not use pipelines/wsim. It starts those runs only after
        this function has returned.
        """
        for seed, directory in self._directories.items():
            if (directory / SUMMARY).exists():
                continue
            directory.mkdir(parents=True, exist_ok=True)
            with open(directory / cells.RUN_OUT, "w") as out:
                self._children[seed] = processes.start(
                    [*NICE, *paths.command("wsim"), "--rlp", "--seconds",
                     str(SECONDS), "--seed", str(seed), "--output",
                     str(directory), "--build", str(self._build)],
                    ended_by=signal.SIGTERM, stdout=out, stderr=out)
        deadline = time.monotonic() + SECONDS_TO_BEGIN
        while time.monotonic() < deadline and not all(
                child.poll() is not None or self._sends(seed)
                for seed, child in self._children.items()):
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def _sends(self, seed: int) -> bool:
        logs = self._directories[seed].glob(f"run-*/*/{wsim.SENDER}.out")
        return len(list(logs)) > len(wsim.TRANSPORTS)

    def finish(self) -> list[str]:
        """Waits until all runs have ended. Returns a list with an error
        message for each run that failed.
        """
        words = []
        for seed, child in self._children.items():
            status = processes.finish(child)
            if status != 0:
                words.append(
                    f"the GSM radio with seed {seed} failed "
                    f"({processes.describe(status)}): "
                    f"{self._directories[seed] / cells.RUN_OUT}")
        self._children = {}
        return words

    def summaries(self) -> list[dict[str, dict[str, float]]]:
        """Returns a list with one dictionary for each run that has ended with
        a result. The dictionary has the form {transport: {name of a measured
        value: number}}.
        """
        return [json.loads(path.read_text()) for path in self.results()
                if path.exists()]

    def figure(self) -> pathlib.Path | None:
        """Returns the path of an image file. The image shows one frame of the
        clip as it was sent, and as it arrived with each transport. The file
        belongs to the first run that has a result and an image. Returns None if
        there is no such run.
        """
        for path in self.results():
            figure = path.with_name(FIGURE)
            if path.exists() and figure.exists():
                return figure
        return None
