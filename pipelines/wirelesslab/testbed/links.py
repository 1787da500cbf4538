# SPDX-License-Identifier: LGPL-2.1-or-later
"""Parses the description of a link of a testbed, and returns the addresses of
the link and the GStreamer pipeline that carries its packets.
"""

import dataclasses
import ipaddress
import re
import shlex
from collections.abc import Callable, Sequence

from wirelesslab.errors import LabError

# Names of hosts and links become parts of the names of variables, devices and
# files. Only short names of lower-case letters and digits are therefore
# allowed.
NAME = re.compile(r"[a-z][a-z0-9]{0,13}")
NOT_FOR_LINKS = {"lo", "ip6", "log"}
MAX_LINKS = 250
NONE = "none"
MEDIUM = "medium="
# One direction of a link, as a tuple of three elements: the host that sends in
# this direction, the source and the sink. The source is a GStreamer element
# that supplies the packets that enter the link. The sink is a GStreamer
# element that takes the packets that leave the link. Both are lists of words
# for gst-launch-1.0.
Flow = tuple[str, list[str], list[str]]


@dataclasses.dataclass
class Link:
    name: str
    hosts: tuple
    # The description of the link, split into words. It consists either of
    # properties of the element wirelesslink or of other GStreamer elements.
    words: list
    index: int
    # The name of the link that owns the medium of this link. A medium, for
    # example a radio channel, is emulated by one element wirelesslink. If the
    # description of this link is `medium=OTHER`, this link shares the medium
    # of the link OTHER, and OTHER owns it. Otherwise, this link owns its
    # medium.
    medium: str

    def peer(self, host: str) -> str:
        return self.hosts[1 - self.hosts.index(host)]

    def address(self, host: str) -> str:
        return f"10.77.{self.index}.{self.hosts.index(host) + 1}"

    def address_ip6(self, host: str) -> str:
        end = self.hosts.index(host) + 1
        return str(ipaddress.ip_address(f"fd77:{self.index:x}::{end}"))

    def is_emulated(self) -> bool:
        """Returns whether the element wirelesslink emulates the link. If it
        does, the description of the link contains only properties of
        wirelesslink.
        """
        return all("=" in word for word in self.words)


def parse(text: str, index: int) -> Link:
    """Parses the description of a link. `text` has the form
    `NAME=HOST1,HOST2[: DESCRIPTION]`. DESCRIPTION is one of:
    - properties of the element wirelesslink,
    - `medium=LINK`, for a link that shares the medium of LINK,
    - `none`, for a link without emulation,
    - other elements, through which the packets of each direction pass.
    """
    head, _, description = text.partition(":")
    name, _, hosts = head.partition("=")
    hosts = tuple(host.strip() for host in hosts.split(","))
    for word in (name.strip(), *hosts):
        if not NAME.fullmatch(word):
            raise LabError(
                f"link {text!r} is not of the form NAME=HOST1,HOST2: "
                "PROPERTIES. A name is a small letter, followed by up to 13 "
                "small letters and digits")
    if len(hosts) != 2 or hosts[0] == hosts[1]:
        raise LabError(f"link {text!r}: a link needs two different hosts")
    if name.strip() in NOT_FOR_LINKS:
        raise LabError(f"link {text!r}: the name {name.strip()} is reserved; "
                       "choose another name")
    try:
        words = shlex.split(description)
    except ValueError as error:
        raise LabError(f"link {text!r}: {error}") from None
    medium = name.strip()
    if words and words[0].startswith(MEDIUM):
        if len(words) > 1:
            raise LabError(f"link {text!r}: a link with medium= has no "
                           "properties of its own; set them at the link that "
                           "owns the medium")
        medium = words.pop()[len(MEDIUM):]
    return Link(name.strip(), hosts, words, index, medium)


def parse_all(texts: Sequence[str]) -> list[Link]:
    if len(texts) > MAX_LINKS:
        raise LabError(f"{len(texts)} links are too many; the maximum is "
                       f"{MAX_LINKS}")
    links = [parse(text, index) for index, text in enumerate(texts)]
    names = [link.name for link in links]
    for name in names:
        if names.count(name) > 1:
            raise LabError(f"there are two links with the name {name}")
    media = {link.name for link in links
             if link.medium == link.name and link.is_emulated()}
    for link in links:
        if link.medium != link.name and link.medium not in media:
            raise LabError(f"link {link.name}: there is no link "
                           f"{link.medium!r} with a medium of its own")
    return links


def by_medium(links: list[Link]) -> list[list[Link]]:
    """Groups the links by their medium, for example a radio channel. One
    element wirelesslink emulates all links of a medium. Returns one list for
    each medium: first the link that owns the medium, then the other links.
    """
    return [[owner, *(link for link in links
                      if link.medium == owner.name and link is not owner)]
            for owner in links if owner.medium == owner.name]


def hosts_of(links: list[Link]) -> list[str]:
    """Returns the names of all hosts, in the order in which they occur in
    `links`.
    """
    return list(dict.fromkeys(host for link in links for host in link.hosts))


def variables(
        links: list[Link], own: str,
        address_of: Callable[[Link, str, str], dict[str, str]]
) -> dict[str, str]:
    """Returns the environment variables with addresses for the commands on
    host `own`. For example, $b_wl0 is the address of host b on link wl0. $b is
    the address of host b on one of its links. If hosts b and `own` have a link
    in common, $b is the address on the first such link in `links`. Otherwise
    it is the address on the first link of host b in `links`.

    A host may have several addresses on a link. The names of their variables
    differ in the suffix: $b_wl0 has the suffix "", and $b_wl0_ip6 has the
    suffix "_ip6". `address_of(link, own, host)` returns the addresses of
    `host` on `link`, in the form {suffix: address}. It gets `own` because
    commands on different hosts may have to use different addresses to reach
    `host`.
    """
    values = {}
    for link in sorted(links, key=lambda link: own not in link.hosts):
        for host in link.hosts:
            for suffix, address in address_of(link, own, host).items():
                values[f"{host}_{link.name}{suffix}"] = address
                values.setdefault(f"{host}{suffix}", address)
    return values


def pipeline(owner: Link, flows: list[Flow],
             properties: list[str]) -> list[str]:
    """Returns a pipeline that carries packets over the link `owner`, as a list
    of words for gst-launch-1.0. A flow is one direction of a link. `flows`
    contains the flows of `owner` and of the links that share its medium.

    If the element wirelesslink emulates the link, its properties come from two
    places: from the argument `properties`, and from the description of the
    link. If both set the same property, the value in the description counts,
    because its words come later.
    """
    words = []
    if not owner.is_emulated():
        through = [] if owner.words == [NONE] else ["!", *owner.words]
        for _, source, sink in flows:
            words += [*source, "!", "queue", *through, "!", *sink]
        return words
    words = ["wirelesslink", "name=wl", *properties]
    if len(flows) > len(owner.hosts):
        stations = list(dict.fromkeys(station for station, _, _ in flows))
        words += [f"sink_{number}::station={stations.index(station)}"
                  for number, (station, _, _) in enumerate(flows)]
    words += owner.words
    for number, (_, source, sink) in enumerate(flows):
        words += [*source, "!", f"wl.sink_{number}",
                  f"wl.src_{number}", "!", *sink]
    return words


def device_flows(link: Link, properties: dict[str, list[str]]) -> list[Flow]:
    """Returns the two directions of a link between TUN devices. A direction is
    a Flow. `properties` maps each host to the properties of its tunsrc. A
    property is a text "name=value".
    """
    return [(host,
             ["tunsrc", f"netns={host}", f"ifname={link.name}",
              f"address={link.address(host)}/24", *properties[host]],
             ["tunsink", f"netns={link.peer(host)}", f"ifname={link.name}"])
            for host in link.hosts]
