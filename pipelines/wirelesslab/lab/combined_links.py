# SPDX-License-Identifier: LGPL-2.1-or-later
"""Implements combined links, in which the sender and the receiver are
connected by several links. For example, `links = tmobile+verizon` in a matrix
stands for two links. Each of them has the properties of its own section [link
NAME].
"""

from collections.abc import Sequence

from wirelesslab.descriptions import Cell, Link, Protocol
from wirelesslab.errors import LabError
from wirelesslab.streams import (
    link_paths,
    link_schedules,
    mptcp_socket,
    transports,
)

TOGETHER = "+"
# Key in the dictionary of a combined link. The value is the list of the links
# that are used together.
SEVERAL = "several"
MAX_LINKS = 8


def there(words: str, links: dict[str, Link]) -> dict[str, Link]:
    """Returns {name: link} with all links in `links`, and with each combined
    link whose name is in the text `words`. A combined link consists of several
    links that a run uses together. Its name consists of their names, joined by
    plus signs. Raises LabError if a combined link has too many parts, or a
    part that is not in `links`.
    """
    found = dict(links)
    for name in words.split():
        parts = name.split(TOGETHER)
        if len(parts) == 1:
            continue
        if len(parts) > MAX_LINKS:
            raise LabError(f"{name} has {len(parts)} links; the maximum is "
                           f"{MAX_LINKS}")
        for part in parts:
            if part not in links:
                raise LabError(f"{name}: there is no link {part!r}; there are: "
                               + (", ".join(links) or "none"))
        several = [links[part] for part in parts]
        found[name] = {"name": name, "section": several[0]["section"],
                       SEVERAL: several}
    return found


def combine(parts: Sequence[Link]) -> Link:
    """Returns a combined link. It consists of the links in `parts`, which
    connect the sender and the receiver at the same time. The combined link has
    no properties of its own.
    """
    return {"name": TOGETHER.join(part["name"] for part in parts),
            "title": " and ".join(part["title"] for part in parts),
            "links": list(parts)}


def check_names(protocols: Sequence[Protocol], sections: Sequence[str]) -> None:
    """Checks the names of links that occur in the pipelines, such as the name
    tmobile in {host_tmobile}. Raises LabError if the matrix has no section for
    one of these links.

    A pipeline can also contain a number in place of a name. For example,
    {host_2} refers to the second part of a combined link. This function does
    not check numbers. If a link of the matrix has no part with this number,
    the runs over this link are left out later.
    """
    known = {link_paths.identifier(name) for name in sections}
    for protocol in protocols:
        for word in sorted(set(link_paths.fields(" ".join(
                pipelines_of(protocol))))):
            found = link_paths.OF_A_LINK.fullmatch(word)
            if found and not found["link"].isdecimal() \
                    and found["link"] not in known:
                raise LabError(
                    f"protocol {protocol['name']}: {{{word}}}: there is no "
                    f"link {found['link']}; there are: "
                    + ", ".join(sorted(known)))


def pipelines_of(protocol: Protocol) -> list[str]:
    return [one[end] for _, one in transports.streams(protocol)
            for end in ("sender", "receiver") if end in one]


def why_not(cell: Cell) -> str:
    """Returns the reason why the protocol of the experiment `cell` cannot be
    used over its link. Returns "" if it can be used.
    """
    protocol, link = cell["protocol"], cell["link"]
    parts = link_paths.parts(link)
    if len(parts) > 1 or any(part.get(link_schedules.KEY) for part in parts):
        what = "several links" if len(parts) > 1 else "a schedule"
        if protocol[transports.COMPUTED]:
            return f"a computed protocol cannot have {what}"
        if "workload" in cell:
            return f"the workload {cell['workload']['name']} cannot have {what}"
    if "workload" in cell:
        return ""
    missing = link_paths.missing(pipelines_of(protocol), link)
    if missing:
        return "the link has no " + " and ".join(
            f"{{{word}}}" for word in missing)
    if any(transports.is_over_mptcp(one)
           for _, one in transports.streams(protocol)):
        return mptcp_socket.why_not()
    return ""


def without_misfits(found: list[Cell]) -> tuple[list[Cell], list[str]]:
    """Divides `found`, a list of experiments, and returns two lists. Each
    experiment (cell) uses one protocol over one link. The first list contains
    the experiments whose protocol can use the link. The second list contains a
    line of text for each pair of a protocol and a link that do not fit
    together. The line names the protocol, the link and the reason.
    """
    left, words = [], {}
    for cell in found:
        why = why_not(cell)
        if why:
            words[f"left out {cell['protocol']['name']} over "
                  f"{cell['link']['name']}: {why}"] = True
        else:
            left.append(cell)
    return left, list(words)


def without_schedules(found: list[Cell]) -> tuple[list[Cell], list[str]]:
    """Divides `found`, a list of experiments (cells), and returns two lists.
    Each experiment uses a link. A link may have a schedule, which says when
    the link is interrupted. The first list contains the experiments whose
    links have no schedule. The second list contains a line of text for each
    link that has a schedule.

    The lab interrupts a link by changing the network devices of the hosts,
    which exist only in network namespaces. This function is called on a
    machine without network namespaces. Such a machine cannot run experiments
    with schedules.
    """
    names = dict.fromkeys(cell["link"]["name"] for cell in found if any(
        part.get(link_schedules.KEY)
        for part in link_paths.parts(cell["link"])))
    return ([cell for cell in found if cell["link"]["name"] not in names],
            [f"left out the link {name}: its schedule needs network namespaces"
             for name in names])
