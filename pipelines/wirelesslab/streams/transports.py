# SPDX-License-Identifier: LGPL-2.1-or-later
"""Protocols as a file describes them: a section each, sender and receiver as
plain pipelines. transports.ini has ours and other people's, a matrix of the lab
may have more; docs/lab.md says what a section may have.
"""

import configparser
import pathlib
import re
import shlex
import string
from collections.abc import Callable, Iterable
from typing import Any

from wirelesslab import paths
from wirelesslab.descriptions import Protocol
from wirelesslab.errors import LabError
from wirelesslab.streams import placement

OURS = paths.PIPELINES / "transports.ini"
COMPUTED = "computed"
KINDS_OF_CLIP = ("m2v", "ts")
# How the receiver's element says what kind of socket it has
SOCKETS = {"tcpserversrc": "tcp", "udplitesrc": "udplite"}
OF_THE_LAB = ("seed", *placement.OURS)  # of wirelesslink, set by us
KEYS = {"title", "sender", "receiver", "clip", "binds", "ports", "link", "ends",
        "server", COMPUTED}
SERVERS = ("http",)
# In braces in a pipeline, and those without which nothing can be measured
NAMES = {"clip", "host", "port", "received", "sent", "sound", "sound_port"}
NEEDED = {"sender": ("clip", "sent"), "receiver": ("received",)}
# The same where a live encoder takes the place of the clip. {peer} is the
# address of the other host.
LIVE_NAMES = NAMES | {"captured", "encoded", "peer"}
LIVE_NEEDED = {"sender": ("clip", "captured", "sent", "encoded"),
               "receiver": ("received",)}


def read() -> dict[str, Protocol]:
    """{name: transport} of transports.ini."""
    return read_sections(OURS, of_section)


def read_sections(
        path: pathlib.Path,
        make: Callable[[str, configparser.SectionProxy], Protocol]
) -> dict[str, Protocol]:
    """{name: what is made of the section}; LabError names the file."""
    found = configparser.ConfigParser(interpolation=None)
    try:
        found.read_string(path.read_text(), source=str(path))
        return {name: make(name, found[name]) for name in found.sections()}
    except (configparser.Error, LabError) as failure:
        raise LabError(f"{path}: {failure}") from None


def of_section(name: str, section: configparser.SectionProxy,
               is_live: bool = False) -> Protocol:
    """All there is to know, as it goes into JSON. What a section doesn't say
    and few need is left out, so that older results stay those of the same."""
    for key in ("sender", "receiver"):
        if not section.get(key):
            raise LabError(f"protocol {name} has no {key}")
    unknown = set(section) - KEYS
    if unknown:
        raise LabError(f"protocol {name} has an unknown {min(unknown)}; "
                       f"it may have: {', '.join(sorted(KEYS))}")
    sender, receiver = (pipeline(name, section, key, is_live)
                        for key in ("sender", "receiver"))
    return {"name": name, "title": section.get("title", name),
            "sender": sender, "receiver": receiver,
            "clip": one_of(name, section, "clip", KINDS_OF_CLIP, "m2v"),
            "binds": one_of(name, section, "binds", placement.BINDS,
                            "tcp" if "server" in section
                            else socket_of(receiver)),
            "link": own_link(f"protocol {name}", section.get("link", "")),
            COMPUTED: is_so(name, section, COMPUTED, False),
            **({"ports": ports(name, section)} if "ports" in section else {}),
            **({"ends": is_so(name, section, "ends", None)}
               if "ends" in section else {}),
            **({"server": one_of(name, section, "server", SERVERS, None)}
               if "server" in section else {})}


def pipeline(name: str, section: configparser.SectionProxy, key: str,
             is_live: bool = False) -> str:
    """In one line; LabError if it could not be run, or nothing would be
    measured. What GStreamer makes of it that says itself."""
    text = re.sub(r"\s+", " ", section[key]).strip()
    try:
        words = [word for written in shlex.split(text)
                 for _, word, _, _ in string.Formatter().parse(written)]
    except ValueError as error:
        raise LabError(
            f"protocol {name}: its {key}: {error}: {text}") from None
    named = {word for word in words if word is not None}
    names = LIVE_NAMES if is_live else NAMES
    for word in sorted(named - names):
        raise LabError(
            f"protocol {name}: its {key} has {{{word}}}; there are: "
            + ", ".join(f"{{{known}}}" for known in sorted(names))
            + " (a brace that is meant is written twice)")
    for word in (LIVE_NEEDED if is_live else NEEDED)[key]:
        if word not in named:
            raise LabError(f"protocol {name}: its {key} has no "
                           f"{{{word}}}")
    return text


def own_link(owner: str, properties: str, others: Iterable[str] = ()) -> str:
    """Properties of wirelesslink, if they and the names of others are some."""
    placement.describe_link(properties)
    for word in [*properties.split(), *others]:
        if word.partition("=")[0] in OF_THE_LAB:
            raise LabError(f"{owner}: the lab itself sets {word}")
    return properties


def socket_of(receiver: str) -> str:
    return SOCKETS.get(receiver.split()[0], "udp")


def one_of(name: str, section: configparser.SectionProxy, key: str,
           values: tuple[str, ...], otherwise: Any) -> str:
    value = section.get(key, otherwise)
    if value not in values:
        raise LabError(f"protocol {name}: {key} = {value} is none of: "
                       + ", ".join(values))
    return value


def is_so(name: str, section: configparser.SectionProxy, key: str,
          otherwise: Any) -> bool:
    try:
        return section.getboolean(key, fallback=otherwise)
    except ValueError:
        raise LabError(f"protocol {name}: {key} = {section[key]} is "
                       "neither yes nor no") from None


def ports(name: str, section: configparser.SectionProxy) -> int:
    text = section["ports"]
    if not text.isdecimal() or not 1 <= int(text) <= placement.MAX_PORTS:
        raise LabError(f"protocol {name}: ports = {text} is not from 1 "
                       f"to {placement.MAX_PORTS}")
    return int(text)


def ports_of(transport: Protocol, port: int) -> list[int]:
    """Those at which its receiver listens."""
    return [port + n for n in range(transport.get("ports", 1))]


def ends(transport: Protocol) -> bool:
    """Whether its pipelines come to an end, as those of most do."""
    return transport.get("ends", True)


def is_asked(transport: Protocol) -> bool:
    """Whether its sender is behind a server, and its receiver asks for it"""
    return "server" in transport


def listener(transport: Protocol) -> str:
    return "sender" if is_asked(transport) else "receiver"


def together(several: list[Protocol], apart: float) -> Protocol:
    """Several protocols as one: that many streams over one link."""
    for one in several:
        if one[COMPUTED]:
            raise LabError(f"protocol {one['name']} is computed, and "
                           "no stream beside others")
    links = {one["link"] for one in several}
    name = "+".join(one["name"] for one in several)
    if len(links) > 1:
        raise LabError(f"{name}: there is one link, and each of them has "
                       "another idea of it: " + " and ".join(
                           repr(words) for words in sorted(links)))
    return {"name": name, "title": " beside ".join(
                one["title"] for one in several),
            COMPUTED: False, "link": links.pop(), "apart": apart,
            "streams": several}


def streams(protocol: Protocol) -> list[tuple[str, Protocol]]:
    """[(its name, its transport)]; where there is one, it needs no name."""
    if "streams" not in protocol:
        return [("", protocol)]
    return [(f"{number}-{one['name']}", one)
            for number, one in enumerate(protocol["streams"], 1)]


def is_relayed(transport: Protocol) -> bool:
    """Whether relays, where they stand in for hosts, can carry it"""
    return all(stream["binds"] == "udp"
               for stream in transport.get("streams", [transport]))


def check_relayed(transport: Protocol, left_out: str) -> None:
    """LabError where relays stand in for hosts, which is what is `left_out`
    then, and can't carry it."""
    if left_out and not is_relayed(transport):
        raise LabError(
            f"{transport['name']} is not over UDP, and there are {left_out}")
