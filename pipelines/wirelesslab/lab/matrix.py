# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads a matrix, which is a file that describes the experiments of the lab:
every protocol over every link at every bitrate with every seed. Each
combination is called a cell and can be run by itself. docs/lab.md describes
the file.
"""

import configparser
import functools
import itertools
import os
import pathlib
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from wirelesslab.descriptions import Cell, Link, Protocol, Workload
from wirelesslab.errors import LabError
from wirelesslab.lab import combined_links, encoders, rate_steps
from wirelesslab.streams import (
    clips,
    link_paths,
    link_schedules,
    placement,
    protocol_variants,
    transports,
    video_codecs,
)
from wirelesslab.workloads import carriers, definitions

MATRIX = "matrix"
PROTOCOL, LINK, WORKLOAD = "protocol ", "link ", "workload "
THEIRS = "theirs "
ENCODING = "encoding "
KINDS = (PROTOCOL, LINK, WORKLOAD, THEIRS, ENCODING)
NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")
# Properties of wirelesslink whose value is a file name.
FILES = ("block-trace", "block-trace-down", "delivery-trace",
         "delivery-trace-down", "pattern")
# Matches $VARIABLE/FILE, which stands for a file in a directory. VARIABLE is
# the name of an environment variable that contains the path of the directory.
IN_DIRECTORY = re.compile(r"\$(?P<variable>\w+)/(?P<file>.+)")
# A function that describes the video of an experiment. Its arguments are the
# duration of the video in seconds, and the protocol of the experiment. It
# returns those keys of the experiment's description that concern the video,
# with their values.
Film = Callable[[int, Protocol], dict[str, Any]]
# Key in the section [matrix] of a matrix file. It marks a published matrix,
# whose results people want to compare. The value is the name and the version
# of this matrix. Each result contains a copy of the value, so results of
# another version can be recognised.
SUITE = "suite"
# The key in the section [matrix] with which a matrix file extends another
# matrix file. The value is the name of the other file.
BASE = "base"
DEFAULTS = {"protocols": "", "links": "", "rates": "6", "seeds": "1",
            "repetitions": "1", "seconds": str(clips.SECONDS), "apart": "0",
            "codecs": video_codecs.FIRST, "workloads": "", "encoders": "",
            placement.DIRECTION: placement.DOWN, SUITE: ""}
TOGETHER = "+"
COMPUTED = transports.COMPUTED
STREAM = {"name": definitions.VIDEO, "kind": definitions.VIDEO}
LIVE = "live"  # The value that kind() returns for a run with a live encoder.
STEPS, SEEDS, SCHEDULE = "steps", "seeds", link_schedules.KEY
# The keys of a section [link NAME] that this program handles itself. Every
# other key of such a section is the name of a property of the element
# wirelesslink.
OF_A_LINK = {"title", "properties", STEPS, SEEDS, SCHEDULE,
             placement.DIRECTION,
             *placement.OF_HOSTS}


def read(path: pathlib.Path) -> list[Cell]:
    """Returns the cells (experiments) of a matrix file, in the order in which
    they are run.
    """
    given = configparser.ConfigParser(interpolation=None)
    path = pathlib.Path(path)
    # If an error occurs in the `try`, the name of the matrix file is added to
    # the message. For an error in transports.ini or carriers.ini, this name
    # would be wrong. These two files are therefore read before the `try`.
    known = read_known_protocols()
    try:
        read_with_base(given, path)
        return expand(given, path.resolve().parent, known)
    except configparser.Error as error:
        raise LabError(f"{path}: {error}") from None
    except LabError as failure:
        raise LabError(f"{path}: {failure}") from None


def read_with_base(given: configparser.ConfigParser,
                   path: pathlib.Path) -> None:
    """Reads the matrix file `path` into `given`. A matrix file can extend
    another matrix file, which its key `base` names. In this case, the other
    file is read first, and the file `path` adds sections and keys to it. If
    both files have the same key in the same section, the value in the file
    `path` is used.
    """
    own = configparser.ConfigParser(interpolation=None)
    own.read_string(path.read_text(), source=str(path))
    base = own.get(MATRIX, BASE, fallback="")
    if base:
        try:
            text = (path.parent / base).read_text()
        except OSError as error:
            raise LabError(f"base = {base}: {error.strerror}") from None
        given.read_string(text, source=base)
        own.remove_option(MATRIX, BASE)
    given.read_dict(own)


def only(found: list[Cell], words: str) -> list[Cell]:
    """Returns those experiments (cells) in `found` that match all words in the
    text `words`. The name of an experiment consists of parts that are
    separated by slashes. An experiment matches a word if one of these parts is
    equal to the word. Raises LabError if no experiment matches all words.
    """
    chosen = [cell for cell in found
              if set(words.split()) <= set(cell["name"].split("/"))]
    if not chosen:
        raise LabError(f"no cell has {' and '.join(words.split())} between "
                       "the slashes of its name; --list prints the names")
    return chosen


def expand(given: configparser.ConfigParser, home: pathlib.Path,
           known: dict[str, Protocol]) -> list[Cell]:
    matrix = {**DEFAULTS, **(given[MATRIX] if MATRIX in given else {})}
    unknown = set(matrix) - set(DEFAULTS)
    if unknown:
        raise LabError(f"[{MATRIX}] has no key {min(unknown)}; its keys are: "
                       + ", ".join(DEFAULTS))
    check_sections(given)
    front = encoders.Front(given, sections(given, ENCODING)) \
        if matrix["encoders"] else None
    loads = read_workloads(given, matrix, {} if front else known, front)
    films = live_films(matrix, front) if front else clip_films(matrix)
    seconds, repetitions = (number(matrix, name)
                            for name in ("seconds", "repetitions"))
    if not 1 <= seconds <= clips.SECONDS:
        raise LabError(f"seconds must be from 1 to {clips.SECONDS}")
    if repetitions < 1:
        raise LabError("repetitions must be at least 1")
    # Each protocol runs once before any protocol runs again. If the machine is
    # slow for some time, this affects a few runs of each protocol, and not all
    # runs of one protocol.
    return [
        {**cell(protocol,
                with_direction(matrix, link, variant) if is_video(workload)
                else variant,
                film, seed, repetition, seconds, workload),
         **({SUITE: matrix[SUITE]} if matrix[SUITE] else {}),
         **theirs(given, link, workload)}
        for repetition in range(repetitions)
        for seed in all_seeds(matrix, loads)
        for workload, protocols, links in loads
        for link in links if seed in seeds_of(matrix, link)
        for variant, film, protocol in itertools.product(
            list(variants(link, home)),
            films if is_video(workload) else [None], protocols)
        # If a protocol runs in virtual time, its runs are not repeated, because
        # each repetition would have the same result.
        if not (protocol[COMPUTED] and repetition)]


def with_direction(matrix: Mapping[str, str], link: Link,
                   variant: Link) -> Link:
    """Returns a copy of `variant`, the description of a link, with the
    direction of the stream as a further entry.

    `link` is the section of the matrix file from which `variant` was made. If
    the section lists several values of a property, it describes several links,
    one for each value. `variant` is one of these links.

    A combined link consists of several links, its parts. If `link` describes a
    combined link, the direction is added to each part of `variant`, because
    the parts can have different directions.
    """
    parts = link.get(combined_links.SEVERAL)
    if not parts:
        return {**variant, **direction_of(matrix, link)}
    return {**variant, "links": [
        {**part, **direction_of(matrix, own)}
        for part, own in zip(variant["links"], parts)]}


def direction_of(matrix: Mapping[str, str], link: Link) -> dict[str, str]:
    """Returns the direction of the stream, as an entry for the description of
    a run. If the mobile host sends the stream, the result is
    {placement.DIRECTION: placement.UP}. If it receives the stream, which is
    the default, the result is an empty dictionary.

    The default has no entry because older versions did not write one. An entry
    for it would make the descriptions of old runs seem different from those of
    new runs.
    """
    section = link["section"]
    found = section.get(placement.DIRECTION, matrix[placement.DIRECTION])
    if found not in (placement.DOWN, placement.UP):
        raise LabError(
            f"link {link['name']}: {placement.DIRECTION} = {found} must be "
            f"{placement.DOWN} (the mobile host receives) or {placement.UP} "
            "(the mobile host sends)")
    return {placement.DIRECTION: found} if found == placement.UP else {}


def seeds_of(matrix: Mapping[str, str], link: Link) -> list[int]:
    """Returns the seeds with which the lab runs the link. The section of the
    link can list seeds. If it lists none, the seeds in the section [matrix]
    are used.
    """
    section = link["section"]
    return numbers(section if section.get(SEEDS) else matrix, SEEDS)


def all_seeds(matrix: Mapping[str, str],
              loads: list[tuple[Workload, list[Protocol], list[Link]]]
              ) -> list[int]:
    """Returns all seeds of the matrix file without duplicates: first the seeds
    in the section [matrix], then the seeds that single links have in addition.
    """
    return list(dict.fromkeys(
        [*numbers(matrix, SEEDS),
         *(seed for _, _, links in loads for link in links
           for seed in seeds_of(matrix, link))]))


def clip_films(matrix: Mapping[str, str]) -> list[Film]:
    """Returns a list of functions. For each combination of a codec and a
    bitrate, the list has one function, which describes the video of a run. The
    arguments of each function are the duration of the run in seconds and the
    protocol. Each function returns a dictionary: the part of the run's
    description that concerns the video.
    """
    films = list(itertools.product(
        video_codecs.chosen(matrix["codecs"].split()),
        numbers(matrix, "rates")))
    for _, rate in films:
        if rate not in clips.RATES:
            raise LabError(f"there is no clip of {rate} Mbit/s; there "
                           f"are: {', '.join(map(str, clips.RATES))}")
    return [functools.partial(of_film, *film) for film in films]


def live_films(matrix: Mapping[str, str],
               front: encoders.Front) -> list[Film]:
    """Returns a list of functions. For each video source that the key
    `encoders` of the matrix names, the list has one function. During a run, a
    live encoder encodes the video of one of these sources.

    The functions are called later, when runs are described. To describe a run,
    the caller selects the function of the video source, and passes two
    arguments to it: the duration of the run in seconds, and the protocol of
    the run. The function returns a dictionary: the part of the run's
    description that concerns the video.
    """
    return [functools.partial(front.of_source, source)
            for source in encoders.chosen(matrix["encoders"].split())]


def cell(protocol: Protocol, link: Link, film: Film | None, seed: int,
         repetition: int, seconds: int, workload: Workload) -> Cell:
    """Returns the description of a run, as a dictionary that is written as
    JSON. The description contains everything that the run depends on.
    """
    own = film(seconds, protocol) if is_video(workload) else {
        "what": workload["name"], "protocol": protocol, "workload": workload,
        "rate": None, "seconds": None}
    what = own.pop("what")
    return {"name": f"{link['name']}/{what}/{protocol['name']}/"
                    f"{seed}-{repetition + 1}",
            "link": link, "seed": seed, "repetition": repetition + 1, **own}


def of_film(codec: video_codecs.Codec, rate: int, seconds: int,
            protocol: Protocol) -> dict[str, Any]:
    """Returns those keys in the description of a run that concern its clip and
    its protocol, with their values. For the codec MPEG-2, the key `codec` is
    left out. Older versions of this program supported only MPEG-2 and did not
    write this key. Their descriptions must still be equal to the descriptions
    of new runs.
    """
    found = {"what": f"{rate}M", "protocol": protocol, "rate": rate,
             "seconds": seconds}
    if codec.name == video_codecs.FIRST:
        return found
    return {**found, "what": f"{rate}M-{codec.name}", "codec": codec.name,
            "protocol": video_codecs.protocol(codec, protocol)}


def codec(cell: Cell) -> str:
    return cell.get("codec", video_codecs.FIRST)


def is_video(workload: Workload) -> bool:
    return workload["kind"] == definitions.VIDEO


def kind(cell: Cell) -> str:
    """Returns the kind of traffic that a run sends. This is the kind of its
    workload, such as "video". For video from a live encoder, it is "live".
    `cell` is the description of the run.
    """
    if "encoder" in cell:
        return LIVE
    return cell.get("workload", STREAM)["kind"]


def numbers(matrix: Mapping[str, str], name: str) -> list[int]:
    try:
        found = [int(word) for word in matrix[name].split()]
    except ValueError:
        found = []
    if not found or min(found) < 0:
        raise LabError(f"{name} = {matrix[name]!r} must be one or more numbers")
    return list(dict.fromkeys(found))


def number(matrix: Mapping[str, str], name: str) -> int:
    found = numbers(matrix, name)
    if len(found) > 1:
        raise LabError(f"{name} = {matrix[name]!r} must be a single number")
    return found[0]


def chosen(words: str, there: Mapping[str, Any], what: str) -> list[Any]:
    names = words.split() or list(there)
    for name in names:
        if name not in there:
            raise LabError(f"there is no {what} {name}; there are: "
                           + (", ".join(there) or "none"))
    if not names:
        raise LabError(
            f"there is no {what}: a section [{what} NAME] describes one")
    return [there[name] for name in names]


def check_sections(given: configparser.ConfigParser) -> None:
    """Raises LabError if the title of a section is unknown. Without this
    check, a section with a misspelled title would be ignored silently.
    """
    for title in given.sections():
        if title not in (MATRIX, encoders.SECTION) \
                and not title.startswith(KINDS):
            raise LabError(
                f"unknown section [{title}]; the sections are: [{MATRIX}], "
                + ", ".join(f"[{kind}NAME]" for kind in KINDS)
                + f", [{encoders.SECTION}]")


def sections(given: configparser.ConfigParser,
             kind: str) -> dict[str, configparser.SectionProxy]:
    """Returns {name: section} for all sections of one kind. The title of such
    a section consists of `kind` and the name, as in [link NAME].
    """
    found = {}
    for title in given.sections():
        if not title.startswith(kind):
            continue
        name = title[len(kind):].strip()
        if not NAME.fullmatch(name):
            raise LabError(
                f"[{title}]: a name consists of small letters, digits, dots "
                "and dashes")
        found[name] = given[title]
    return found


# -------------------------------------------------------------------- workloads

def read_workloads(
        given: configparser.ConfigParser, matrix: Mapping[str, str],
        known: dict[str, Protocol], front: encoders.Front | None
) -> list[tuple[Workload, list[Protocol], list[Link]]]:
    """A workload is the traffic that an experiment sends, for example video.
    Returns a list with a tuple for each workload: (workload, its protocols,
    its links).
    """
    own = {name: definitions.read(name, section)
           for name, section in sections(given, WORKLOAD).items()}
    there = {**own, definitions.VIDEO: (STREAM, "", "")}
    if not matrix["workloads"]:
        there = own or there
    own_protocols = read_protocols(given, front, known)
    links = read_links(given)
    found = [
        (workload, chosen_protocols(workload, names, matrix, own_protocols,
                                    known),
         chosen_links(own_links or matrix["links"], links))
        for workload, names, own_links in chosen(
            matrix["workloads"], there, "workload")]
    for workload, protocols, _ in found:
        if is_video(workload):
            combined_links.check_names(protocols, list(links))
        for protocol in protocols:
            encoders.check(protocol, bool(front and is_video(workload)))
    return found


def chosen_links(names: str, links: dict[str, Link]) -> list[Link]:
    """Returns the links that `names` lists. A name that occurs twice counts
    once. Otherwise two cells of the matrix would use the same directory.
    """
    return chosen(" ".join(dict.fromkeys(names.split())),
                  combined_links.there(names, links), "link")


def theirs(given: configparser.ConfigParser, link: Link,
           workload: Workload) -> dict[str, Any]:
    """Returns {"theirs": results}. `results` are the results that a scientific
    paper reports for this workload over this link. They are written in the
    matrix file, so that people can compare them with the results of the lab.
    If the file has no such results, returns an empty dictionary.
    """
    name = f"{link['name']}/{workload['name']}"
    if is_video(workload) or THEIRS + name not in given:
        return {}
    return {"theirs": definitions.theirs(name, workload["kind"],
                                         given[THEIRS + name])}


# -------------------------------------------------------------------- protocols

def chosen_protocols(workload: Workload, names: str, matrix: Mapping[str, str],
                     own: dict[str, Protocol],
                     known: dict[str, Protocol]) -> list[Protocol]:
    """Returns the protocols for `workload`, the traffic of an experiment. A
    matrix file describes the experiments. `names` are the protocols that the
    workload names. `matrix` is the section [matrix] of the file, which may
    name protocols, too. `own` are the protocols that the file defines.

    1. If the workload names protocols, these protocols are returned.
    2. Otherwise, if the section [matrix] names protocols, those of the named
       protocols that can carry the workload are returned.
    3. Otherwise, those protocols that the file defines and that can carry the
       workload are returned.
    4. If the file defines no such protocol, all known protocols that can carry
       the workload are returned.
    """
    there = {**known, **own}
    if names:
        found = with_streams(names, there, matrix)
        for protocol in found:
            check_carries(protocol, workload)
        return found
    if matrix["protocols"]:
        found = [protocol for protocol in with_streams(
            matrix["protocols"], there, matrix)
            if carries(protocol, workload)]
    else:
        found = [protocol for protocol in own.values()
                 if carries(protocol, workload)] or [
                     protocol for protocol in known.values()
                     if carries(protocol, workload)]
    if not found:
        raise LabError(f"no chosen protocol can carry the workload "
                       f"{workload['name']}")
    return found


def with_streams(names: str, there: dict[str, dict[str, Any]],
                 matrix: Mapping[str, str]) -> list[Protocol]:
    """Returns the protocols that `names` lists. A name such as a+b stands for
    two streams that are sent at the same time, one with the protocol a and one
    with the protocol b.
    """
    return [found[0] if len(found) == 1 else transports.together(
                found, number(matrix, "apart"))
            for found in (chosen(name.replace(TOGETHER, " "), there, "protocol")
                          for name in dict.fromkeys(names.split()))]


def carries(protocol: Protocol, workload: Workload) -> bool:
    if is_video(workload):
        return all("clip" in one for _, one in transports.streams(protocol))
    return "streams" not in protocol and "clip" not in protocol \
        and carriers.can_carry(protocol, workload)


def check_carries(protocol: Protocol, workload: Workload) -> None:
    if not carries(protocol, workload):
        raise LabError(f"the protocol {protocol['name']} cannot carry the "
                       f"workload {workload['name']}")


def read_known_protocols() -> dict[str, Protocol]:
    """Returns {name: protocol} with the protocols in transports.ini that send
    the MPEG-2 clip, and with all protocols in carriers.ini.
    """
    known = {name: transport for name, transport in transports.read().items()
             if transport["clip"] == "m2v"}
    known.update(carriers.read())
    return known


def read_protocols(given: configparser.ConfigParser,
                   front: encoders.Front | None,
                   known: dict[str, Protocol]) -> dict[str, Protocol]:
    """Returns {name: protocol} for the protocols that the matrix file defines.
    `known` has the protocols that transports.ini and carriers.ini define. The
    matrix file can derive a protocol from one of them, or from a protocol that
    precedes it in the matrix file.
    """
    found = {}
    for name, section in sections(given, PROTOCOL).items():
        if carriers.is_one(section):
            found[name] = carriers.of_section(name, section)
        elif protocol_variants.is_one(section):
            found[name] = protocol_variants.of_section(
                name, section, {**known, **found})
        elif front and encoders.is_for_one(section):
            found.update(encoders.read_protocols(name, section, front))
        else:
            found[name] = transports.of_section(name, section)
    return found


# ------------------------------------------------------------------------ links

def read_links(given: configparser.ConfigParser) -> dict[str, Link]:
    found = sections(given, LINK)
    for name, section in found.items():
        for key, own in values(section).items():
            if not own:
                raise LabError(f"link {name}: the key {key} has no values")
        transports.own_link(f"link {name}", section.get("properties", ""),
                 values(section))
        if section.get(STEPS):
            rate_steps.parse(name, section[STEPS])
        if section.get(SCHEDULE):
            link_schedules.parse(name, section[SCHEDULE])
    return {name: {"name": name, "section": section}
            for name, section in found.items()}


def values(section: configparser.SectionProxy) -> dict[str, list[str]]:
    """Returns {property: its values}."""
    return {key: list(dict.fromkeys(text.split()))
            for key, text in section.items() if key not in OF_A_LINK}


def variants(link: Link, home: pathlib.Path) -> Iterator[Link]:
    """Yields the links that one section of the matrix file describes. If the
    section lists several values for some properties, there is a link for each
    combination of these values. The value of a property can be the name of a
    file. A relative file name is looked up in `home`, the directory of the
    matrix file, and not in the directory in which the lab was started.
    """
    if combined_links.SEVERAL in link:
        several = [list(variants(one, home))
                   for one in link[combined_links.SEVERAL]]
        yield from map(combined_links.combine, itertools.product(*several))
        return
    section = link["section"]
    varied = values(section)
    for choice in itertools.product(*varied.values()):
        words = [f"{key}={value}" for key, value in zip(varied, choice)]
        properties = " ".join([section.get("properties", ""), *words]).strip()
        name = "_".join([link["name"], *words]).replace("/", "-")
        title = ", ".join([section.get("title", link["name"]), *words])
        yield {"name": name, "title": title,
               "properties": with_paths(properties, home),
               **{key: section[key] for key in (STEPS, SCHEDULE,
                                               *placement.OF_HOSTS)
                  if section.get(key)}}


def with_paths(properties: str, home: pathlib.Path) -> str:
    words = []
    for word in shlex.split(properties):
        name, _, value = word.partition("=")
        words.append(f"{name}={path_of(value, home)}" if name in FILES
                     else word)
    return shlex.join(words)


def path_of(value: str, home: pathlib.Path) -> str | pathlib.Path:
    """Returns the path of the file that `value` names. `value` is either a path
    relative to `home`, or a text $VARIABLE/FILE. In the second case the file is
    in the directory that the environment variable names. If this variable is
    not set, `value` is returned unchanged."""
    found = IN_DIRECTORY.fullmatch(value)
    if not found:
        return home / value
    directory = os.environ.get(found["variable"])
    return pathlib.Path(directory, found["file"]).absolute() if directory \
        else value


def missing_files(link: Link) -> list[str]:
    """Returns the reasons why files of the link cannot be read: a variable that
    names their directory is not set, or the files do not exist."""
    found = []
    for word in [word for part in link_paths.parts(link)
                 for word in shlex.split(part["properties"])]:
        name, _, value = word.partition("=")
        variable = IN_DIRECTORY.fullmatch(value)
        if name not in FILES:
            continue
        if variable:
            found.append(f"the environment variable {variable['variable']} is "
                         "not set; it names the directory of "
                         + variable["file"])
        elif not os.path.exists(value):
            found.append(f"there is no file {value}")
    return found
