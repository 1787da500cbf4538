# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the comparison that pipelines/demo shows if it is started without
options. There are three problems: a link that is too slow, two mobile links of
which neither is fast enough alone, and a radio that damages packets.

For each problem, the demo runs the transport that is made for this problem, and
other transports. It also shows the usual advice for the problem, such as a
lower bitrate. The result is three tables and one page."""

import argparse
import dataclasses
import os
import pathlib
import subprocess
import sys
import textwrap
from collections.abc import Sequence

from wirelesslab import paths
from wirelesslab.commands import demo_findings, demo_radio
from wirelesslab.descriptions import Cell, Protocol
from wirelesslab.errors import LabError
from wirelesslab.lab import cells, grid, matrix
from wirelesslab.report import findings, names, problems, run_results
from wirelesslab.streams import clips, measurements
from wirelesslab.testbed import testbed

# Files that describe the experiments. BOTTLENECK contains the experiments with
# a single link that is too slow for the video. MOBILE contains the experiments
# with two mobile links.
BOTTLENECK = paths.PIPELINES / "demo.ini"
MOBILE = paths.PIPELINES / "demo-mobile.ini"
LAB = paths.PIPELINES / "lab"
# The demo streams a clip over several transports. The clip exists with several
# bitrates. Each transport is tested with the highest bitrate. The transports
# in this table are also tested with a lower bitrate. With the lower bitrate,
# nearly all frames arrive over every transport. A few transports are therefore
# enough to show the result of the lower bitrate.
ALSO_LOWER = {BOTTLENECK: ("mmtp", "rtp-stock", "srt", "tcp"),
              MOBILE: ("rtp-stock",)}
# The demo executes this number of runs per processor core at the same time.
# With more runs per core, the emulated link would often deliver packets later
# than intended, because the CPU is busy (measured in docs/lab-figures.md).
AT_ONCE_PER_CORE = 1
# The demo executes at least three runs at the same time. With only two, it
# would take too long on a machine with 2 cores. On such a machine, with three
# runs at the same time, the emulated link delivered packets at most 9 ms later
# than intended. This error is small compared with LATE_MS, the lateness in ms
# from which a frame counts as late.
MIN_AT_ONCE = 3
LATE_MS = 500
MMTP_LATENCY_MS = 1000  # The default latency of mmtpsink.
PROBLEMS = "problems.json"
COLUMNS = 80

LINE_BPS = 9600
WHAT_RADIO = (
    f"A small clip is sent over a GSM radio of {LINE_BPS} bit/s that damages "
    "1.6 % of its blocks. The bearer, which is the data service of GSM, does "
    "not check the packets, so damaged packets reach the receiver.")
CALLED = {"udplite": "udplitesink", "udp": "udpsink",
          "udp-rlp": "udpsink, bearer with RLP"}


def run(build: pathlib.Path, output: pathlib.Path,
        bottleneck: pathlib.Path = BOTTLENECK,
        mobile: pathlib.Path | None = MOBILE,
        seeds: Sequence[int] = demo_radio.SEEDS) -> None:
    """Runs the experiments for three problems: a slow link, two mobile links,
    and a radio. Prints and writes the results. `bottleneck` and `mobile` are
    the files that describe the experiments with the slow link and with the
    mobile links. `seeds` contains the random seed of each run over the radio.
    If `mobile` is None, the mobile links are left out. If `seeds` is empty, the
    radio is left out."""
    of_bottleneck = chosen(bottleneck)
    of_mobile = chosen(mobile) if mobile else []
    no_mobile = testbed.why_no_hosts() if of_mobile else ""
    if no_mobile:
        print(f"left out the two mobile links: no network namespaces "
              f"({no_mobile})")
    found, left_out = grid.possible(
        of_bottleneck + ([] if no_mobile else of_mobile), build)
    radio = demo_radio.Runs(output, build, seeds)
    no_radio = demo_radio.why_not(build) if seeds else "no seeds"
    start_anew(found, output, [] if no_radio else radio.results())
    if not no_radio:
        print("Starting the runs over a radio that damages packets. They "
              "continue beside all other runs.", flush=True)
        radio.start()
    failed = grid.run_all(found, left_out, argparse.Namespace(
        output=output, build=build,
        jobs=max(MIN_AT_ONCE, AT_ONCE_PER_CORE * os.cpu_count()),
        again=False, plain=True, profile="", command="pipelines/demo"))
    if len(failed) == len(found):
        raise LabError("no transport could be run; the lines above say why")
    runs, _, _ = run_results.read(output, build, LATE_MS)
    compare_pictures(runs)
    failures = radio.finish()
    shown = [bottleneck_problem(runs_of(runs, of_bottleneck))]
    if of_mobile:
        shown.append(mobile_problem(runs_of(runs, of_mobile), no_mobile))
    if seeds:
        shown.append(radio_problem(radio, no_radio))
    show(shown)
    print(*left_out, *failures, sep="\n",
          end="\n" if left_out or failures else "", flush=True)
    problems.write(output / PROBLEMS, shown)
    write_page(output, build)


def chosen(path: pathlib.Path) -> list[Cell]:
    """Reads the file `path`, which describes a set of experiments. Returns
    those that the demo runs: all experiments with the highest bitrate, and the
    experiments with a lower bitrate whose protocol is in ALSO_LOWER.
    """
    found = matrix.read(path)
    highest = max(cell["rate"] for cell in found)
    return [cell for cell in found if cell["rate"] == highest
            or cell["protocol"]["name"] in ALSO_LOWER.get(path, ())]


def runs_of(runs: Sequence[run_results.Run],
            found: Sequence[Cell]) -> list[run_results.Run]:
    names = {cell["name"] for cell in found}
    return [run for run in runs if run.cell["name"] in names]


def start_anew(found: list[Cell], output: pathlib.Path,
               others: Sequence[pathlib.Path] = ()) -> None:
    """Prepares the directory `output` for a new demo. A demo consists of the
    runs in `found`, which an experiment file describes, and of further runs,
    whose result files are `others`. If all of these runs have a result, the
    last demo was completed. The results are then removed, so that all runs are
    repeated. Otherwise the last demo was interrupted. Its results are kept, so
    that only the missing runs are made.
    """
    results = [output / cell["name"] / cells.RESULT for cell in found]
    results += others
    if all(result.exists() for result in results):
        for result in results:
            result.unlink()


def compare_pictures(runs: list[run_results.Run]) -> None:
    """Compares the pictures of each run with the pictures of the clip, and
    stores the results for the tables and the page. The comparison takes longer
    than all other steps, so the progress is printed.
    """
    print()
    for number, run in enumerate(runs, 1):
        # When `run.pictures` is read for the first time, it compares the
        # pictures of the run with those of the clip and stores the result. The
        # value is not needed here.
        _ = run.pictures
        if sys.stdout.isatty() or number % 4 == 0 or number == len(runs):
            print(f"Comparing pictures: {number} of {len(runs)} runs",
                  end="\r" if sys.stdout.isatty() else "\n", flush=True)
    if sys.stdout.isatty():
        print()


# ----------------------------------------------------------------- the problems

def senders_of(runs: Sequence[run_results.Run]) -> list[demo_findings.Sender]:
    labels = run_results.by_label(runs)
    looks = names.looks({label: own[0].transport
                         for label, own in labels.items()})
    found = []
    for label, own in labels.items():
        numbers = [run.numbers() for run in own]
        found.append(demo_findings.Sender(
            findings.Row(looks[label].name,
                         [each["decodable %"] for each in numbers], [],
                         [findings.frames_of(each) for each in numbers]),
            *([each[name] for each in numbers] for name in (
                "latency median ms", "latency 99 % ms", "PSNR dB")),
            any(run.is_flagged for run in own),
            names.key_element(own[0].transport),
            mmtp_latency_ms(own[0].transport)))
    return found


def mmtp_latency_ms(transport: Protocol) -> int:
    """Returns the latency in ms of the mmtpsink in the sender's pipeline.
    Returns 0 if this pipeline has no mmtpsink.
    """
    for element in names.elements(transport.get("sender", "")):
        if element.name == "mmtpsink":
            own = dict(text.split("=", 1) for text in element.properties)
            return int(own.get("latency", MMTP_LATENCY_MS))
    return 0


def bottleneck_problem(runs: Sequence[run_results.Run]) -> problems.Problem:
    return clip_problem(
        runs, "A link that is too slow", "A live clip of {rate} Mbit/s is "
        "sent over a link that carries less: {link}. All transports send the "
        "same {seconds} s of the clip over the same radio.")


def mobile_problem(runs: Sequence[run_results.Run],
                   why_not: str) -> problems.Problem:
    found = clip_problem(
        runs, "Two mobile links", "A live clip of {rate} Mbit/s is sent over "
        "two mobile links, neither of which can carry it alone: {link}. "
        "Transports for a single link use the first one, which is the better "
        "one.",
        f"no network namespaces ({why_not})" if why_not else "")
    if not found.rows:
        return found
    return dataclasses.replace(found, why=" ".join(
        [demo_findings.of_links(link_rates(runs)), found.why]))


def clip_problem(runs: Sequence[run_results.Run], title: str, what: str,
                 why_not: str = "") -> problems.Problem:
    if not runs:
        why_not = why_not or "none of its transports could be run"
        return problems.Problem(title, "", [], [], "", "", "", "",
                                left_out=f"Left out: {why_not}.")
    rate = max(run.cell["rate"] for run in runs)
    own = [run for run in runs if run.cell["rate"] == rate]
    senders = senders_of(own)
    advice = [demo_findings.lower_bitrate(lower, senders_of(
        [run for run in runs if run.cell["rate"] == lower]))
        for lower in sorted({run.cell["rate"] for run in runs} - {rate})]
    heads, rows = demo_findings.table(senders)
    return problems.Problem(
        title, what.format(rate=rate, seconds=own[0].cell["seconds"],
                           link=own[0].cell["link"]["title"]),
        heads=heads, rows=rows,
        key=demo_findings.key(senders, LATE_MS),
        finding=demo_findings.clip_finding(senders),
        why=demo_findings.clip_reasons(senders, LATE_MS),
        advice=" ".join(advice),
        groups=list(dict.fromkeys(run.way.group_title(run) for run in runs)))


def link_rates(
        runs: Sequence[run_results.Run]
) -> list[tuple[str, list[list[float]]]]:
    """Returns a list of pairs (name of a sender, rates of its runs). Only the
    runs with the highest bitrate are included. The rates of a run are a list
    with the mean rate on each link, in Mbit/s.
    """
    rate = max(run.cell["rate"] for run in runs)
    labels = run_results.by_label(
        [run for run in runs if run.cell["rate"] == rate])
    return [(sender.code, [[mean_rate(log, run.cell["seconds"])
                            for log in run.links] for run in own])
            for sender, own in zip(
                senders_of([run for own in labels.values() for run in own]),
                labels.values())]


def mean_rate(log: measurements.LinkLog, seconds: float) -> float:
    """Returns the mean rate, in Mbit/s, at which the link delivered packets
    while the clip was sent.
    """
    begin_ns = min((packet.arrival_ns for packet in log.packets), default=0)
    return sum(8 * packet.size for packet in log.packets
               if not packet.is_lost()
               and packet.departure_ns < begin_ns + seconds * measurements.NS
               ) / seconds / 1e6


def radio_problem(radio: demo_radio.Runs, why_not: str) -> problems.Problem:
    summaries = radio.summaries()
    pictures = []
    if figure := radio.figure():
        pictures.append(problems.Picture(
            str(figure), "One of the worst pictures, from left to right: as "
            "sent, with `udpsink`, with `udplitesink`, and with `udpsink` over "
            "a bearer with RLP."))
    left_out = why_not or ("" if summaries else "every run failed")
    if left_out:
        return problems.Problem(
            "Damaged packets", WHAT_RADIO, [], [], "", "", "", "",
            left_out=f"Left out: {left_out}.")
    frames = demo_radio.SECONDS * clips.QCIF["h263"][3]
    return problems.Problem(
        title="Damaged packets", what=WHAT_RADIO,
        heads=demo_findings.RADIO_HEADS,
        rows=demo_findings.radio_rows(summaries, frames, CALLED),
        key=demo_findings.RADIO_KEY,
        finding=demo_findings.radio_finding(summaries, frames, LATE_MS),
        why=demo_findings.radio_reasons(summaries, demo_radio.SECONDS),
        advice=demo_findings.let_the_bearer_retransmit(summaries),
        pictures=pictures)


def show(shown: Sequence[problems.Problem]) -> None:
    for number, problem in enumerate(shown, 1):
        print()
        lines = problem.text(lambda words: textwrap.wrap(words, COLUMNS))
        lines[0] = f"{number}. {lines[0]}"
        print("\n".join(lines), flush=True)
    print()


def write_page(output: pathlib.Path, build: pathlib.Path) -> None:
    done = subprocess.run([LAB, "report", output, "--build", build, "--late",
                           str(LATE_MS), "--problems", output / PROBLEMS],
                          stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    last = done.stdout.strip().splitlines()[-1:]
    print(*last if done.returncode == 0 else ["no report.html:", *last])
