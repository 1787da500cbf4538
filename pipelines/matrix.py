# SPDX-License-Identifier: LGPL-2.1-or-later
"""The experiments of one file: every protocol over every link at every bitrate
with every seed, as cells that can be run one by one. docs/lab.md has the file.
"""

import configparser
import itertools
import pathlib
import re
import shlex

import children
import clips
import places
import transports

MATRIX = "matrix"
PROTOCOL, LINK = "protocol ", "link "
NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")
# Of wirelesslink, that name a file which it reads
FILES = ("block-trace", "block-trace-down", "delivery-trace",
         "delivery-trace-down", "pattern")
DEFAULTS = {"protocols": "", "links": "", "rates": "6", "seeds": "1",
            "repetitions": "1", "seconds": str(clips.SECONDS)}
COMPUTED = transports.COMPUTED
OF_A_LINK = {"title", "properties"}  # any other key is a property


def read(path):
    """Cells of a file, in the order in which they are run."""
    given = configparser.ConfigParser(interpolation=None)
    path = pathlib.Path(path)
    try:
        given.read_string(path.read_text(), source=str(path))
        return expand(given, path.resolve().parent)
    except configparser.Error as error:
        raise children.Failed(f"{path}: {error}") from None
    except children.Failed as failure:
        raise children.Failed(f"{path}: {failure}") from None


def expand(given, home):
    matrix = {**DEFAULTS, **(given[MATRIX] if MATRIX in given else {})}
    unknown = set(matrix) - set(DEFAULTS)
    if unknown:
        raise children.Failed(f"[{MATRIX}] has no {min(unknown)}; it has: "
                              + ", ".join(DEFAULTS))
    protocols = chosen(matrix["protocols"], read_protocols(given), "protocol")
    links = chosen(matrix["links"], read_links(given), "link")
    rates = numbers(matrix, "rates")
    for rate in rates:
        if rate not in clips.RATES:
            raise children.Failed(f"there is no clip of {rate} Mbit/s; there "
                                  f"are: {', '.join(map(str, clips.RATES))}")
    seconds, repetitions = (numbers(matrix, name)[0]
                            for name in ("seconds", "repetitions"))
    if not 1 <= seconds <= clips.SECONDS:
        raise children.Failed(f"seconds is from 1 to {clips.SECONDS}")
    return [
        cell(protocol, variant, rate, seed, repetition, seconds)
        for seed, link, rate, protocol in itertools.product(
            numbers(matrix, "seeds"), links, rates, protocols)
        for variant in variants(link, home)
        # What is computed comes out the same each time.
        for repetition in range(1 if protocol[COMPUTED] else repetitions)]


def cell(protocol, link, rate, seed, repetition, seconds):
    """All that a run depends on; it goes into JSON as it is."""
    return {
        "name": f"{link['name']}/{rate}M/{protocol['name']}/"
                f"{seed}-{repetition + 1}",
        "protocol": protocol, "link": link, "rate": rate, "seed": seed,
        "repetition": repetition + 1, "seconds": seconds}


def numbers(matrix, name):
    try:
        found = [int(word) for word in matrix[name].split()]
    except ValueError:
        found = []
    if not found or min(found) < 0:
        raise children.Failed(f"{name} = {matrix[name]!r} are no numbers")
    return found


def chosen(words, there, what):
    names = words.split() or list(there)
    for name in names:
        if name not in there:
            raise children.Failed(f"there is no {what} {name}; there are: "
                                  + (", ".join(there) or "none"))
    if not names:
        raise children.Failed(f"there is no {what}")
    return [there[name] for name in names]


def sections(given, kind):
    """{name: section} of one kind."""
    found = {}
    for title in given.sections():
        if not title.startswith(kind):
            continue
        name = title[len(kind):].strip()
        if not NAME.fullmatch(name):
            raise children.Failed(
                f"[{title}]: a name is small letters, digits, dots and dashes")
        found[name] = given[title]
    return found


# ------------------------------------------------------------------- protocols

def read_protocols(given):
    """{name: protocol}: those of the file, and those of transports.ini."""
    known = {name: transport for name, transport in transports.read().items()
             if transport["clip"] == "m2v"}
    own = {name: transports.of_section(name, section)
           for name, section in sections(given, PROTOCOL).items()}
    # A file that has its own and names none means these.
    return {**own, **known} if given.get(MATRIX, "protocols", fallback="") \
        else own or known


# ----------------------------------------------------------------------- links

def read_links(given):
    found = sections(given, LINK)
    for name, section in found.items():
        transports.own_link(f"link {name}", section.get("properties", ""),
                 values(section))
    return {name: {"name": name, "section": section}
            for name, section in found.items()}


def values(section):
    """{property: its values}"""
    return {key: text.split() for key, text in section.items()
            if key not in OF_A_LINK}


def variants(link, home):
    """One for each choice among the values of its properties. Files have their
    names from `home`, wherever the cells are run."""
    section = link["section"]
    varied = values(section)
    for choice in itertools.product(*varied.values()):
        words = [f"{key}={value}" for key, value in zip(varied, choice)]
        properties = " ".join([section.get("properties", ""), *words]).strip()
        name = "_".join([link["name"], *words]).replace("/", "-")
        title = ", ".join([section.get("title", link["name"]), *words])
        yield {"name": name, "title": title,
               "properties": with_paths(properties, home)}


def with_paths(properties, home):
    words = []
    for word in shlex.split(properties):
        name, _, value = word.partition("=")
        words.append(f"{name}={home / value}" if name in FILES else word)
    return shlex.join(words)
