# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adapts the pipelines of a protocol to the codec of a clip. The pipelines are
written for MPEG-2. For each other codec, videocodecs.ini says which elements
take the place of the elements for MPEG-2.
"""

import configparser
import functools
import re
import typing

from wirelesslab import paths
from wirelesslab.descriptions import Protocol
from wirelesslab.errors import LabError

OURS = paths.PIPELINES / "videocodecs.ini"
# The codec for which the pipelines of all protocols are written.
FIRST = "mpeg2"


class Codec(typing.NamedTuple):
    name: str
    title: str
    # Names of elements that work only with MPEG-1 and MPEG-2. If the pipelines
    # of a protocol still contain one of these elements after all replacements
    # for this codec, the protocol cannot send streams of this codec.
    alone: list
    # Pairs (old text, new text). To adapt the pipelines of a protocol to this
    # codec, each old text in them is replaced by the new text.
    instead: list


@functools.cache
def read() -> dict[str, Codec]:
    """Reads videocodecs.ini. Returns {name of a section: its codec}."""
    found = configparser.ConfigParser(interpolation=None)
    found.read_string(OURS.read_text())
    return {name: of_section(name, found[name]) for name in found.sections()}


def of_section(name: str, section: configparser.SectionProxy) -> Codec:
    lines = [line.strip() for line in section["with"].splitlines()
             if line.strip()]
    return Codec(name, section["title"], section["alone"].split(),
                 [tuple(line.split(" > ")) for line in lines])


def chosen(names: list[str]) -> list[Codec]:
    there = read()
    for name in names:
        if name not in there:
            raise LabError(f"there is no codec {name}; there are: "
                           + ", ".join(there))
    return [there[name] for name in names]


def title(name: str) -> str:
    return read()[name].title


def pipeline(codec: Codec, text: str) -> str:
    for old, new in codec.instead:
        text = text.replace(old, new)
    return text


def protocol(codec: Codec, given: Protocol) -> Protocol:
    """Returns a copy of the protocol `given` for another codec. The pipelines
    of the copy work with `codec`.
    """
    if "streams" in given:
        return {**given, "streams": [protocol(codec, one)
                                     for one in given["streams"]]}
    return {**given, **{end: pipeline(codec, given[end])
                        for end in ("sender", "receiver")}}


def misfits(codec: Codec, given: Protocol) -> list[str]:
    """Returns the names of the elements because of which the protocol `given`
    cannot send streams of `codec`. These elements work only with MPEG-1 and
    MPEG-2.

    A protocol of the lab has a pipeline for the sender and one for the
    receiver. protocol() has adapted the two pipelines of `given` to `codec`,
    but it cannot replace every element.
    """
    if "streams" in given:
        return [name for one in given["streams"]
                for name in misfits(codec, one)]
    return [name for name in codec.alone
            if re.search(rf"\b{name}\b", given["sender"] + given["receiver"])]
