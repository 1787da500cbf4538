# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names and colours of the transports, which are the same in every plot, table
and report. The name of a transport consists of the names of its elements, such
as srtsink. Its colour depends on its most important element, usually the sink.
"""

import shlex
import typing
import zlib
from collections.abc import Callable, Iterable, Mapping

from wirelesslab.descriptions import Protocol
from wirelesslab.streams import transports

# Maps the name of an element to a colour, in which reports show the transports
# that use this element. If a transport uses several elements of this table,
# the element that comes first in the transport's pipeline determines the
# colour. Usually the elements of the sender are looked up. If a web server
# starts the sender, the source element of the receiver is looked up instead,
# for example souphttpsrc.
#
# People with any kind of colour blindness can distinguish the first six
# colours (Okabe and Ito, 2008). All colours can be seen on white and on dark
# backgrounds.
COLOURS = {
    "mmtpsink": "#0072b2",
    "ifdsink": "#009e73",
    "dccpthinsink": "#56b4e9",
    "srtsink": "#d55e00",
    "ristsink": "#e69f00",
    "tcpclientsink": "#cc79a7",
    "souphttpsrc": "#aa4499",
    "udplitesink": "#999933",
    "udpsink": "#808080",
    "rtprtxsend": "#8c6d31",
    "rtpst2022-1-fecenc": "#44aa99",
    "rtpulpfecenc": "#44aa99",
    "mptcp": "#7b68c8",
}
# The colours of transports whose element is not in COLOURS. One of these
# colours is chosen by a checksum of the element's name.
OTHERS = ("#cc6677", "#a6761d", "#66a61e")
# Endings of the names of helper elements, which do not determine how the video
# is sent. For example, filesrc ends with "src". The name that a report shows
# for a transport usually leaves out its helper elements. It contains them only
# if two transports would otherwise have the same name.
HELPERS = ("src", "pay", "mux", "parse", "queue2", "mpegstat", "clocksync",
           "identity")
# Sinks that do not send to the network, but write to a file or drop the data.
LOCAL = ("filesink", "fakesink")
# The name that plots and tables show for a transport over one MPTCP
# connection. In this case, not an element but the kernel distributes the data
# of the connection over all links.
MPTCP = "MPTCP of the kernel"
# A suffix for the name of a transport that sends over two links.
BOTH_LINKS = " over both links"
# Maximum length, in characters, of the properties that the name of a transport
# may contain. Longer properties are left out of the name.
MAX_PROPERTIES = 40


class Element(typing.NamedTuple):
    name: str
    properties: tuple[str, ...]  # NAME=VALUE

    @property
    def is_helper(self) -> bool:
        return self.name == "queue" or self.name.endswith(HELPERS)


def branches(pipeline: str) -> list[list[Element]]:
    """Returns the branches of the pipeline. A branch is a chain of linked
    elements, returned as a list. In a launch line, {sent} stands for the log
    of the sent frames. If an element writes this log, this element and all
    elements upstream of it are left out.
    """
    words = shlex.split(pipeline)
    logs = [place for place, word in enumerate(words) if "{sent}" in word]
    found: list[list[Element]] = [[]]
    # Whether the next element belongs to the current branch, which is a chain
    # of linked elements. The first element of the pipeline belongs to the
    # first branch. Any other element belongs to the current branch if an
    # exclamation mark precedes it. Otherwise it begins a new branch.
    is_linked = not logs
    for word in words[logs[-1] + 1:] if logs else words:
        if word == "!":
            is_linked = True
        elif "=" in word and "/" not in word.partition("=")[0]:
            if found[-1]:
                last = found[-1][-1]
                found[-1][-1] = Element(last.name, (*last.properties, word))
        else:
            if not is_linked:
                found.append([])
            # Some words of a launch line are not elements. A word with a slash
            # is the caps of a filter. A word with a dot is a pad of an element
            # in another branch. Such words are not added to the branch.
            if "/" not in word and "." not in word:
                found[-1].append(Element(word, ()))
            is_linked = False
    return [branch for branch in found if branch]


def sink(branch: list[Element]) -> str:
    """Returns the name of the element in `branch` that sends to the network. A
    branch is a chain of linked elements. If none of its elements sends to the
    network, returns "".
    """
    return next((one.name for one in branch if one.name.endswith("sink")
                 and one.name not in LOCAL), "")


def elements(pipeline: str) -> list[Element]:
    """Returns the elements with which the pipeline sends to the network.
    `pipeline` is a launch line, which consists of branches. A branch is a
    chain of linked elements.

    - If the first branch contains the sink that sends to the network, its
      elements are returned.
    - If the first branch ends with a local sink such as filesink, another
      branch contains the network sink. The elements of that branch are
      returned.
    - If the first branch has no sink, it ends with an element such as rtpbin,
      and another branch leads from that element to the network sink. The
      elements of the first branch are returned, followed by the network sink.
    """
    found = branches(pipeline)
    if not found or sink(found[0]):
        return found[0] if found else []
    first = found[0]
    is_local = any(one.name in LOCAL for one in first)
    rest = next((branch for branch in found[1:] if sink(branch)), [])
    if is_local:
        return rest or first
    return first + [one for one in rest if one.name == sink(rest)]


def key_element(transport: Protocol) -> str:
    """Returns the name of the element that determines the transport's colour
    in the report.
    """
    if transport.get("server"):
        return transport["receiver"].split()[0]
    # A transport with the key `socket` (carriers.ini) has no GStreamer element
    # that sends, because a separate program opens the TCP connection. Such a
    # transport gets the colour of tcpclientsink.
    if transport.get("socket"):
        return "tcpclientsink"
    if "connection" in transport:
        return transport["connection"]
    found = [one.name for one in elements(transport.get("sender", ""))]
    known = [name for name in found if name in COLOURS]
    return (known or found[-1:] or [transport["name"]])[0]


def colour(transport: Protocol) -> str:
    name = key_element(transport)
    # Some transports run only in virtual time and have no network sink. Their
    # last element is a payloader, whose name ends with "pay". They get the
    # colour of udpsink.
    if name.endswith("pay"):
        name = "udpsink"
    return COLOURS.get(name) or OTHERS[zlib.crc32(name.encode()) % len(OTHERS)]


# ------------------------------------------------------------------------ names

def essential(transport: Protocol, _others: Iterable[Protocol]) -> str:
    if transport.get("server"):
        return f"web server, {key_element(transport)}"
    if transports.is_over_mptcp(transport):
        return MPTCP
    return joined([one.name for one in chain(transport)
                   if not one.is_helper]) or in_full(transport, ())


def in_full(transport: Protocol, _others: Iterable[Protocol]) -> str:
    return joined([one.name for one in chain(transport)]) or transport["name"]


def with_links(transport: Protocol, _others: Iterable[Protocol]) -> str:
    """Returns a name for a transport. If the transport uses two links, the
    name ends with BOTH_LINKS. Otherwise, the name consists of the names of all
    its elements.
    """
    sender = transport.get("sender", "")
    is_over_both = ("{host_1}" in sender and "{host_2}" in sender
                    and "{host_3}" not in sender)
    return (essential(transport, ()) + BOTH_LINKS if is_over_both
            else in_full(transport, ()))


def with_properties(transport: Protocol, others: Iterable[Protocol]) -> str:
    """Returns a name for `transport` that contains some of its properties.
    These are the properties that distinguish `transport` from the transports
    in `others`.
    """
    def properties(one: Protocol, end: str) -> list[str]:
        found = (elements(one["sender"]) if end == "sender"
                 else elements(one["receiver"]))
        return [text for element in found for text in element.properties
                if "{" not in text]

    name = essential(transport, ())
    for end in ("sender", "receiver"):
        if end not in transport:
            continue
        known = [set(properties(one, end)) for one in others if end in one]
        own = [text for text in dict.fromkeys(properties(transport, end))
               if not all(text in each for each in known)]
        if own and len(" ".join(own)) <= MAX_PROPERTIES:
            return " ".join([name, *own])
    return name


def with_section(transport: Protocol, _others: Iterable[Protocol]) -> str:
    return f"{in_full(transport, ())} ({transport['name']})"


# Functions that make a name for a transport, from the shortest name to the
# longest. They are tried in this order until one of them makes a name that no
# other transport has. The names that the last function makes are always
# unique.
KINDS: tuple[Callable[[Protocol, Iterable[Protocol]], str], ...] = (
    essential, in_full, with_links, with_properties, with_section)


def chain(transport: Protocol) -> list[Element]:
    return [one for one in elements(transport.get("sender", ""))
            if one.name != "tee"]


def joined(words: Iterable[str]) -> str:
    return " ! ".join(words)


def of_elements(known: Mapping[str, Protocol]) -> dict[str, str]:
    """Returns {name of a transport: name for the report}. The name for the
    report consists of the transport's elements. The functions in KINDS are
    tried in their order until a name results that no other transport has.
    """
    found: dict[str, str] = {}
    unnamed = list(known.values())
    for kind in KINDS:
        alike: dict[str, list[Protocol]] = {}
        for one in unnamed:
            # The essential elements of a transport are all elements except
            # helpers, such as queues. `same` lists all transports that have
            # the same essential elements as `one`, including `one` itself. The
            # new name of `one` has to distinguish it from the others.
            same = [other for other in unnamed
                    if essential(other, ()) == essential(one, ())]
            alike.setdefault(kind(one, same), []).append(one)
        unnamed = []
        for name, those in alike.items():
            if len(those) == 1 and name not in found.values():
                found[those[0]["name"]] = name
            else:
                unnamed += those
    return found | {one["name"]: one["name"] for one in unnamed}


# ---------------------------------------------------------- names in one report

class Look(typing.NamedTuple):
    name: str
    colour: str
    # The number of the line style, counted from 0. Two transports with the
    # same colour have different numbers.
    style: int


def known_with(used: Iterable[Protocol]) -> dict[str, Protocol]:
    """Returns a dictionary {name: transport}. It contains the transports in
    `used`, which are those that the report shows. It also contains all
    transports in transports.ini that can send the MPEG-2 clip.
    """
    return {**{name: one for name, one in transports.read().items()
               if one["clip"] == "m2v"},
            **{one["name"]: one for one in used}}


def looks(used: Mapping[str, Protocol]) -> dict[str, Look]:
    """`used` is a dictionary {label: transport} of the transports that the
    report shows. A label is usually the name of the transport. If several
    streams share a link, each stream has a label that differs from the name of
    its transport.

    Returns {label: Look}. A Look contains the name, the colour and the style
    with which the report shows the transport. Any two Looks differ in colour
    or style. The name in a Look consists of the names of the transport's
    elements. If the label differs from the name of the transport, the name in
    the Look begins with the label.
    """
    known = known_with(used.values())
    called = of_elements(known)
    same: dict[str, list[str]] = {}
    for name, one in known.items():
        same.setdefault(colour(one), []).append(name)
    found: dict[str, Look] = {}
    taken = set()
    for label, one in used.items():
        own = colour(one)
        style = same[own].index(one["name"])
        while (own, style) in taken:
            style += 1
        taken.add((own, style))
        name = called[one["name"]]
        found[label] = Look(name if label == one["name"]
                            else f"{label}: {name}", own, style)
    return found
