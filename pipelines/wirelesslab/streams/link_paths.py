# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds the parts of a combined link, and the addresses on them. A combined
link consists of several links that a run uses together.

The pipelines of a protocol contain names in braces instead of addresses. This
module finds the address for each name. Suppose that a run uses the links
tmobile and verizon together. Then {host_tmobile} is the receiver's address on
the first link, tmobile. {host_2} is its address on the second link, verizon.
docs/lab-links.md describes all names.
"""

import re
import shlex
import string
from collections.abc import Iterable, Sequence

from wirelesslab.descriptions import Link

HOST, LOCAL = "host_", "local_"
HOSTS, HOST_PORTS = "hosts", "host_ports"
OF_A_LINK = re.compile(rf"(?:{HOST}(?!ports$)|{LOCAL})(?P<link>[a-z0-9_]+)")


def parts(link: Link) -> list[Link]:
    """Returns the parts of a link as a list. A combined link consists of
    several links, and these are its parts. Any other link has only one part,
    the link itself.
    """
    return link.get("links", [link])


def names(link: Link) -> list[str]:
    """Returns the names of the parts of a link, in the form in which pipelines
    contain them. Each part is described by a section of the matrix file. In
    pipelines, a part has the name of its section. The name in part["name"] can
    be longer: if the section lists several values of a property, the lab makes
    one link for each value. The name of each such link is the name of the
    section, an underscore and the value. This function removes the underscore
    and the value.
    """
    return [identifier(part["name"].partition("_")[0]) for part in parts(link)]


def identifier(name: str) -> str:
    """`name` is the name of a section of a matrix file. Returns the form of
    this name that is used in pipelines: dots and dashes are replaced by
    underscores. For example, the section [link t-mobile] gives t_mobile. A
    pipeline can then contain the placeholder {host_t_mobile}, which consists
    of the prefix host_ and this name. Dots are replaced because a dot inside
    the braces has a special meaning in Python's format strings.
    """
    return re.sub(r"[.-]", "_", name)


def values(hosts: Sequence[str], senders: Sequence[str],
           links: Sequence[str], port: int) -> dict[str, str]:
    """A pipeline may contain names in braces, such as {host_1}. Returns a
    dictionary that maps each such name to its value, for example an address.
    `port` is a port number. The other arguments are lists with one item for
    each link:
    - `hosts`: the address of the end that listens
    - `senders`: the address of the other end
    - `links`: the name of the link. If two links have the same name, the name
      stands for the first of them.
    """
    found = {HOSTS: ",".join(hosts),
             HOST_PORTS: ",".join(f"{host}:{port}" for host in hosts)}
    labels = [str(number) for number in range(1, len(hosts) + 1)]
    for own in (labels, links):
        for label, host, sender in zip(own, hosts, senders):
            found.setdefault(HOST + label, host)
            found.setdefault(LOCAL + label, sender)
    return found


def is_name(word: str) -> bool:
    """Returns whether the word `word` stands for an address on a link. An
    example is host_1. In a pipeline, such a word stands in braces.
    """
    return word in (HOSTS, HOST_PORTS) or bool(OF_A_LINK.fullmatch(word))


def fields(pipeline: str) -> list[str]:
    """Returns the names that stand in braces in `pipeline`."""
    return [word for written in shlex.split(pipeline)
            for _, word, _, _ in string.Formatter().parse(written)
            if word is not None]


def missing(pipelines: Iterable[str], link: Link) -> list[str]:
    """Pipelines may contain names in braces that stand for an address on a
    link, such as {host_1}. Returns those of these names that occur in
    `pipelines` although `link` has no address for them, as a sorted list.
    """
    own = names(link)
    there = values(own, own, own, 0)
    return sorted({word for pipeline in pipelines for word in fields(pipeline)
                   if is_name(word) and word not in there})
