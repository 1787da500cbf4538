# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads transport protocols from a file. Each section of the file describes a
protocol: its sender and its receiver are pipelines for gst-launch-1.0.
transports.ini has the protocols of this project and others. A matrix file of
the lab may define further protocols. docs/lab-protocols.md describes the keys
of a section.
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
from wirelesslab.streams import link_paths, placement

OURS = paths.PIPELINES / "transports.ini"
COMPUTED = "computed"
KINDS_OF_CLIP = ("m2v", "ts")
# Maps the first element of a receiver's pipeline to the transport protocol of
# the receiver's socket. With any other first element, the protocol is UDP.
SOCKETS = {"tcpserversrc": "tcp", "udplitesrc": "udplite"}
# Matches receivers that may not end when gst-launch-1.0 is interrupted. These
# are receivers with the element srtsrc. srtsrc waits for packets for up to a
# second at a time. During this time it does not notice a request to stop, and
# the receiver continues. The receiver then ends only when SRT has received no
# packet from the sender for five seconds. After long delays on the link, SRT
# waits for much longer than five seconds.
ENDLESS = re.compile(r"(?:^|! )srtsrc\b")
# Properties of the element wirelesslink that a user cannot set, because the
# lab sets them itself.
OF_THE_LAB = ("seed", *placement.OURS)
KEYS = {"title", "sender", "receiver", "clip", "binds", "ports", "link", "ends",
        "server", "connection", COMPUTED}
SERVERS = ("http",)
# Valid values of the key `connection` of a protocol. The value is the type of
# a connection that the lab opens between the two pipelines. The sender's
# pipeline writes to its standard output, which is one end of the connection.
# The receiver's pipeline reads from its standard input, which is the other
# end.
CONNECTIONS = ("mptcp",)
# NAMES are the names that a pipeline may contain in braces. NEEDED are the
# names that the pipeline of a sender or of a receiver must contain, because
# nothing can be measured without them. Names that need an explanation are:
# - {port+1} and {port+2}: the ports above {port}.
# - {peer}: the address of the other host, for packets that return to the
#   sender.
# - {own}: the address of the pipeline's own host, at which it receives packets
#   from the other host.
NAMES = {"clip", "host", "own", "peer", "port", "port+1", "port+2", "received",
         "sent", "sound", "sound_port"}
NEEDED = {"sender": ("clip", "sent"), "receiver": ("received",)}
# LIVE_NAMES are the names that a pipeline may contain in braces if a live
# encoder produces the video. LIVE_NEEDED are those that it must contain in
# this case. The sender's pipeline then writes two files more than usual: the
# log of the captured frames, and the encoded frames.
LIVE_NAMES = NAMES | {"captured", "encoded"}
LIVE_NEEDED = {"sender": ("clip", "captured", "sent", "encoded"),
               "receiver": ("received",)}


def read() -> dict[str, Protocol]:
    """Reads transports.ini. Returns {name of a section: its transport}."""
    return read_sections(OURS, of_section)


def read_sections(
        path: pathlib.Path,
        make: Callable[[str, configparser.SectionProxy], Protocol]
) -> dict[str, Protocol]:
    """Reads the file `path` and calls `make` for each of its sections. Returns
    {name of the section: result of `make`}. If a section is wrong, raises a
    LabError whose message names the file.
    """
    found = configparser.ConfigParser(interpolation=None)
    try:
        found.read_string(path.read_text(), source=str(path))
        return {name: make(name, found[name]) for name in found.sections()}
    except (configparser.Error, LabError) as failure:
        raise LabError(f"{path}: {failure}") from None


def of_section(name: str, section: configparser.SectionProxy,
               is_live: bool = False) -> Protocol:
    """Returns the transport that `section` describes, as a dictionary that is
    written as JSON. Rarely used keys are in the dictionary only if they are in
    the section. A new key of this kind therefore does not change the
    dictionaries of existing transports. Their older results thus remain valid,
    because a result is valid only if its dictionary is unchanged.
    """
    for key in ("sender", "receiver"):
        if not section.get(key):
            raise LabError(f"protocol {name} has no key {key}")
    unknown = set(section) - KEYS
    if unknown:
        raise LabError(f"protocol {name} has the unknown key {min(unknown)}; "
                       f"its keys are: {', '.join(sorted(KEYS))}")
    sender, receiver = (pipeline(name, section, key, is_live)
                        for key in ("sender", "receiver"))
    return {"name": name, "title": section.get("title", name),
            "sender": sender, "receiver": receiver,
            "clip": one_of(name, section, "clip", KINDS_OF_CLIP, "m2v"),
            "binds": one_of(name, section, "binds", placement.BINDS,
                            "tcp" if {"server", "connection"} & set(section)
                            else socket_of(receiver)),
            "link": own_link(f"protocol {name}", section.get("link", "")),
            COMPUTED: is_so(name, section, COMPUTED, False),
            **({"ports": ports(name, section)} if "ports" in section else {}),
            **({"ends": is_so(name, section, "ends", None)}
               if "ends" in section else {}),
            **({"server": one_of(name, section, "server", SERVERS, None)}
               if "server" in section else {}),
            **({"connection": one_of(name, section, "connection", CONNECTIONS,
                                     None)}
               if "connection" in section else {})}


def pipeline(name: str, section: configparser.SectionProxy, key: str,
             is_live: bool = False) -> str:
    """Returns the pipeline that `section` contains under the key `key`, in one
    line. `key` is "sender" or "receiver". The pipeline may contain names in
    braces, which stand for values. Raises LabError in three cases:
    - The line cannot be split into words.
    - It contains an unknown name in braces.
    - It lacks a name in braces that the measurements need.

    The elements are not checked here, because GStreamer itself checks them.
    """
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
        if link_paths.is_name(word):
            continue
        raise LabError(
            f"protocol {name}: its {key} has the unknown name {{{word}}}; the "
            "names are: "
            + ", ".join(f"{{{known}}}" for known in sorted(names))
            + " (write {{ for a brace)")
    for word in (LIVE_NEEDED if is_live else NEEDED)[key]:
        if word not in named:
            raise LabError(f"protocol {name}: its {key} has no "
                           f"{{{word}}}")
    return text


def own_link(owner: str, properties: str, others: Iterable[str] = ()) -> str:
    """Checks the properties of wirelesslink that a user sets in a section of a
    file. Raises LabError if one of them is a property that the lab sets
    itself. Returns `properties` unchanged.

    - `owner`: the name of the section, for the error message
    - `properties`: a text with properties and their values, such as
      "rate=5000000 delay=20"
    - `others`: the names of further properties of wirelesslink, which the
      section sets with separate keys and not in `properties`
    """
    placement.describe_link(properties)
    for word in [*properties.split(), *others]:
        if word.partition("=")[0] in OF_THE_LAB:
            raise LabError(f"{owner}: {word} cannot be set, because the lab "
                           "itself sets it")
    return properties


def socket_of(receiver: str) -> str:
    return SOCKETS.get(receiver.split()[0], "udp")


def one_of(name: str, section: configparser.SectionProxy, key: str,
           values: tuple[str, ...], otherwise: Any) -> str:
    value = section.get(key, otherwise)
    if value not in values:
        raise LabError(f"protocol {name}: {key} = {value} must be one of: "
                       + ", ".join(values))
    return value


def is_so(name: str, section: configparser.SectionProxy, key: str,
          otherwise: Any) -> bool:
    try:
        return section.getboolean(key, fallback=otherwise)
    except ValueError:
        raise LabError(f"protocol {name}: {key} = {section[key]} must be "
                       "yes or no") from None


def ports(name: str, section: configparser.SectionProxy) -> int:
    text = section["ports"]
    if not text.isdecimal() or not 1 <= int(text) <= placement.MAX_PORTS:
        raise LabError(f"protocol {name}: ports = {text} must be from 1 "
                       f"to {placement.MAX_PORTS}")
    return int(text)


def ports_of(transport: Protocol, port: int) -> list[int]:
    """Returns all ports at which the receiver of `transport` listens. The
    ports are consecutive, and `port` is the first of them. In the text of the
    pipeline, the placeholder {port} stands for this first port.
    """
    return [port + n for n in range(transport.get("ports", 1))]


def ends(transport: Protocol) -> bool:
    """Returns whether the pipelines of `transport` end by themselves at the
    end of the stream. Most pipelines do.
    """
    return transport.get("ends", True)


def receiver_ends(transport: Protocol) -> bool:
    """Returns whether the receiver of `transport` is certain to exit at the
    end of the stream or after an interrupt. An SRT receiver is not certain to
    exit. An SRT sender closes the connection with a packet. If the link loses
    this packet, the receiver does not notice the end.
    """
    return ends(transport) and not ENDLESS.search(transport["receiver"])


def is_asked(transport: Protocol) -> bool:
    """Returns whether the receiver of `transport` requests the stream from a
    server, which then starts the sender.
    """
    return "server" in transport


def is_over_mptcp(transport: Protocol) -> bool:
    return transport.get("connection") == "mptcp"


def listener(transport: Protocol) -> str:
    return "sender" if is_asked(transport) else "receiver"


def together(several: list[Protocol], apart: float) -> Protocol:
    """Returns a protocol that sends several streams at the same time, one
    stream with each protocol in `several`. All streams use the same link. They
    are started at intervals of `apart` seconds.
    """
    for one in several:
        if one[COMPUTED]:
            raise LabError(f"protocol {one['name']} is computed, so it cannot "
                           "stream at the same time as others")
    links = {one["link"] for one in several}
    name = "+".join(one["name"] for one in several)
    if len(links) > 1:
        raise LabError(f"{name}: these protocols share one link, but set "
                       "different properties of it: " + " and ".join(
                           repr(words) for words in sorted(links)))
    return {"name": name, "title": " beside ".join(
                one["title"] for one in several),
            COMPUTED: False, "link": links.pop(), "apart": apart,
            "streams": several}


def streams(protocol: Protocol) -> list[tuple[str, Protocol]]:
    """Returns the streams of `protocol` as a list of pairs (name of the
    stream, transport). A protocol of the lab usually has only one stream,
    whose name is empty. It can also have several streams that are sent at the
    same time, each with its own transport.
    """
    if "streams" not in protocol:
        return [("", protocol)]
    return [(f"{number}-{one['name']}", one)
            for number, one in enumerate(protocol["streams"], 1)]


def is_relayed(transport: Protocol) -> bool:
    """Returns whether `transport` can be relayed, that is, whether all of its
    streams use UDP. On a machine without network namespaces, relays take the
    place of the hosts of a testbed. The relays carry only UDP packets, so only
    these transports work there.
    """
    return all(stream["binds"] == "udp"
               for stream in transport.get("streams", [transport]))


def check_relayed(transport: Protocol, left_out: str) -> None:
    """Raises LabError if `transport` does not work on this machine. On a
    machine with network namespaces, every transport works, and `left_out` is
    empty. On any other machine, relays take the place of the hosts of a
    testbed. The relays carry only UDP packets, so only transports over UDP
    work. `left_out` is then a text for the error message, which says what the
    relays do not support.
    """
    if left_out and not is_relayed(transport):
        raise LabError(
            f"{transport['name']} is not over UDP, and there are {left_out}")
