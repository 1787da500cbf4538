# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a link of a testbed is: its description, its addresses, its pipeline."""

import dataclasses
import ipaddress
import re
import shlex

import children

# Hosts and links become names of variables, devices and files.
NAME = re.compile(r"[a-z][a-z0-9]{0,13}")
NOT_FOR_LINKS = {"lo", "ip6", "log"}
MAX_LINKS = 250
NONE = "none"


@dataclasses.dataclass
class Link:
    name: str
    hosts: tuple
    words: list  # what is between the hosts
    index: int

    def peer(self, host):
        return self.hosts[1 - self.hosts.index(host)]

    def address(self, host):
        return f"10.77.{self.index}.{self.hosts.index(host) + 1}"

    def address_ip6(self, host):
        end = self.hosts.index(host) + 1
        return str(ipaddress.ip_address(f"fd77:{self.index:x}::{end}"))

    def is_emulated(self):
        """By wirelesslink, of which only the properties are given."""
        return all("=" in word for word in self.words)


def parse(text, index):
    """`NAME=HOST1,HOST2[: DESCRIPTION]`, the description being properties of
    wirelesslink, `none`, or other elements that each direction goes through."""
    head, _, description = text.partition(":")
    name, _, hosts = head.partition("=")
    hosts = tuple(host.strip() for host in hosts.split(","))
    for word in (name.strip(), *hosts):
        if not NAME.fullmatch(word):
            raise children.Failed(
                f"link {text!r}: it is NAME=HOST1,HOST2: PROPERTIES, and a name "
                "is a small letter and up to 13 small letters and digits")
    if len(hosts) != 2 or hosts[0] == hosts[1]:
        raise children.Failed(f"link {text!r}: a link has two ends")
    if name.strip() in NOT_FOR_LINKS:
        raise children.Failed(f"link {text!r}: another name, please")
    try:
        words = shlex.split(description)
    except ValueError as error:
        raise children.Failed(f"link {text!r}: {error}") from None
    return Link(name.strip(), hosts, words, index)


def parse_all(texts):
    if len(texts) > MAX_LINKS:
        raise children.Failed(f"{len(texts)} links; {MAX_LINKS} is the most")
    links = [parse(text, index) for index, text in enumerate(texts)]
    names = [link.name for link in links]
    for name in names:
        if names.count(name) > 1:
            raise children.Failed(f"there are two links {name}")
    return links


def hosts_of(links):
    """In the order in which they are named first."""
    return list(dict.fromkeys(host for link in links for host in link.hosts))


def variables(links, own, address_of):
    """The addresses that a command of host `own` finds in its environment:
    $b_wl0 is b's on that link, $b that on the first link to b.
    `address_of(link, own, host)` gives one as own sees it."""
    values = {}
    for link in sorted(links, key=lambda link: own not in link.hosts):
        for host in link.hosts:
            for suffix, address in address_of(link, own, host).items():
                values[f"{host}_{link.name}{suffix}"] = address
                values.setdefault(f"{host}{suffix}", address)
    return values


def pipeline(link, ends, log):
    """The words for gst-launch-1.0. `ends` is a list of (source, sink), the
    words of both ends for each flow that shares the link."""
    words = []
    if not link.is_emulated():
        through = [] if link.words == [NONE] else ["!", *link.words]
        for source, sink in ends:
            words += [*source, "!", "queue", *through, "!", *sink]
        return words
    for number, (source, sink) in enumerate(ends):
        words += [*source, "!", f"wl.sink_{number}",
                  f"wl.src_{number}", "!", *sink]
    return [*words, "wirelesslink", "name=wl", f"location={log}", *link.words]


def device_ends(link, properties):
    """Both directions of a link between TUN devices. `properties` gives the
    words for tunsrc at each host."""
    return [(["tunsrc", f"netns={host}", f"ifname={link.name}",
              f"address={link.address(host)}/24", *properties[host]],
             ["tunsink", f"netns={link.peer(host)}", f"ifname={link.name}"])
            for host in link.hosts]
