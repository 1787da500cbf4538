# SPDX-License-Identifier: LGPL-2.1-or-later
"""One page that shows what the runs of a matrix came to: report.html fills in
what is computed here. It needs Jinja2 and matplotlib."""

import base64
import pathlib
import shutil

import jinja2

import clips
import leftovers
import matrix
import measures
import outcomes
import plots
import quality
import workload_report
import workloads

TEMPLATE = pathlib.Path(__file__).with_name("report.html")
PICTURE_WIDTH = 360
MIME = {".png": "image/png", ".jpg": "image/jpeg"}


def write(output, build, late_ms, page, words):
    """The page, and beside it a directory with its plots and tables. Returns
    that directory."""
    runs, missing, command = outcomes.read(output, build, late_ms)
    beside = page.with_suffix("")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    films = [run for run in runs if matrix.kind(run.cell) == workloads.VIDEO]
    groups = []
    for number, own in enumerate(outcomes.grouped(
            films, lambda run: run.group).values(), 1):
        words(f"group {number}: {title_of(own)}")
        groups.append(group(own, f"{number}-", beside))
    if films:
        outcomes.write_csv(beside / "runs.csv", *outcomes.all_numbers(films))
    groups += workload_report.groups(
        [run for run in runs if run not in films], beside, embedded)
    cells = outcomes.of_cells(runs)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATE.parent), autoescape=True,
        trim_blocks=True, lstrip_blocks=True)
    leftovers.write_whole(page, environment.get_template(TEMPLATE.name).render(
        groups=groups, missing=missing, left_out=outcomes.left_out(output),
        runs=cells, beside=beside.name,
        late_ms=late_ms, facts=facts(cells, command), films=films,
        flagged=[run for run in cells if run.is_flagged],
        notes=notes(runs), protocols={run.transport["name"]: run.transport
                                  for run in runs}.values(),
        links={run.cell["link"]["name"]: run.cell["link"]
               for run in runs}.values()))
    return beside


def title_of(runs):
    cell = runs[0].cell
    return f"{cell['link']['title']}, clip of {cell['rate']} Mbit/s"


def group(runs, prefix, beside):
    """What is compared with each other, ready for the page."""
    tables = []
    for name, words, table in (
            ("summary", "", outcomes.summary(runs)),
            ("loss-runs", "Packets lost one after the other: of the times "
             "when that happened, how many were of one packet, of two and so "
             "on.", outcomes.loss_runs(runs)),
            ("latency-size", "Latency against the frame's size: the median, "
             "ms.", outcomes.latency_by_size(runs)),
            ("fairness", "Streams over one link at the same time: what each "
             "carried while all of them were being sent, and how fair that is "
             "(1: all the same). What is said of packets is of all streams "
             "together.", outcomes.fairness(runs))):
        if table is None:
            continue
        path = beside / f"{prefix}{name}.csv"
        outcomes.write_csv(path, *table)
        tables.append({"words": words, "heads": table[0], "rows": table[1],
                       "file": path.name})
    figures = []
    for name, (draw, words) in plots.ALL.items():
        path = beside / f"{prefix}{name}.png"
        plots.save(draw(runs), path)
        figures.append({"words": words, "file": path.name,
                        "data": embedded(path)})
    return {"title": title_of(runs), "tables": tables, "plots": figures,
            "is_video": True,
            "seeds": seeds(runs), **worst_moment(runs, prefix, beside)}


def seeds(runs):
    return sorted({run.cell["seed"] for run in runs})


def worst_moment(runs, prefix, beside):
    """What was sent and what each protocol showed instead where they differ
    most from it, all together, in the first run of each."""
    firsts = list(plots.first_runs(runs).values())
    place = measures.worst_place([
        [picture.mse for picture in run.pictures] for run in firsts])
    if place is None:
        return {"moment": None, "pictures": []}
    clip = firsts[0].clip()
    found = [picture(clip, place, "as sent", prefix + "sent", beside)]
    for run in firsts:
        name = run.transport["title"] if run.beside == [run] else run.protocol
        number = run.shown[place]
        score = quality.drawable(run.pictures[place].psnr())
        words = (f"{name}: " + ("unharmed" if number == place
                                else f"{score:.1f} dB"))
        found.append(picture(clip, number, words, prefix
                             + run.protocol.replace("/", "-"), beside))
    return {"moment": f"{place / clips.FRAMES_PER_SECOND:.2f}",
            "pictures": found}


def picture(clip, number, words, name, beside):
    """None: nothing was shown yet."""
    if number is None:
        return {"words": f"{words} (nothing shown yet)", "data": None}
    path = quality.take(clip, number, beside / f"{name}.jpg", PICTURE_WIDTH)
    return {"words": words, "data": embedded(path)}


def embedded(path):
    data = base64.b64encode(path.read_bytes()).decode()
    return f"data:{MIME[path.suffix]};base64,{data}"


# --------------------------------------------------- what somebody should know

def facts(runs, command):
    """(name, what) of all that another would need to repeat it"""
    def each(value):
        return ", ".join(dict.fromkeys(str(value(run)) for run in runs))

    return [
        ("command", command),
        ("seeds", ", ".join(map(str, seeds(runs)))),
        ("seconds of the clip", each(
            lambda run: run.cell["seconds"] or "no clip")),
        ("commit", each(lambda run: run.machine["commit"] or "unknown")),
        ("kernel", each(lambda run: run.machine["kernel"])),
        ("GStreamer", each(lambda run: run.machine["gstreamer"])),
        ("cores", each(lambda run: run.machine["cores"])),
        ("runs", str(len(runs))),
    ]


def notes(runs):
    """What pipelines warned of, and what a testbed without hosts left out"""
    return list(dict.fromkeys(
        f"{run.cell['name']}: {words}" for run in runs
        for words in [*run.warnings, run.left_out] if words))
