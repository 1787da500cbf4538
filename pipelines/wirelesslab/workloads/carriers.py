# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads carriers. A workload is traffic other than video, and a carrier is a
transport for workloads. The file carriers.ini has the carriers of this project
and some others. A matrix file, which describes experiments, may define further
carriers in its sections [protocol NAME].
"""

import configparser
import re

from wirelesslab import paths
from wirelesslab.descriptions import Protocol, Workload
from wirelesslab.errors import LabError
from wirelesslab.streams import placement, transports
from wirelesslab.workloads import definitions

OURS = paths.PIPELINES / "carriers.ini"
# Placeholders in the description of a sender's pipeline. A pipeline with one
# of these placeholders belongs to a carrier, that is, to a transport for
# traffic other than video.
INPUTS = ("{input}", "{packets}")
OUTPUT = "{output}"
SOCKET = "socket"
KEYS = {"title", "sender", "receiver", "binds", "link", SOCKET,
        transports.COMPUTED}


def read() -> dict[str, Protocol]:
    """Returns {name: carrier} with all carriers that are defined in
    carriers.ini.
    """
    return transports.read_sections(OURS, of_section)


def is_one(section: configparser.SectionProxy) -> bool:
    return SOCKET in section \
        or any(name in section.get("sender", "") for name in INPUTS)


def of_section(name: str, section: configparser.SectionProxy) -> Protocol:
    """Reads the carrier `name` from its section in carriers.ini or in a matrix
    file. A carrier is a transport for traffic other than video. Returns the
    carrier as a dictionary that can be written as JSON.
    """
    unknown = set(section) - KEYS
    if unknown:
        raise LabError(f"protocol {name} has the unknown key {min(unknown)}; "
                       "the keys of a carrier are: "
                       + ", ".join(sorted(KEYS)))
    sender, receiver = (re.sub(r"\s+", " ", section.get(key, "")).strip()
                        for key in ("sender", "receiver"))
    socket = transports.one_of(name, section, SOCKET, ("", "tcp"), "")
    computed = transports.is_so(name, section, transports.COMPUTED, False)
    if not socket and not receiver:
        raise LabError(f"protocol {name} has no key receiver")
    if not socket and not computed and OUTPUT not in receiver:
        raise LabError(f"protocol {name}: its receiver has no {OUTPUT}")
    return {"name": name, "title": section.get("title", name),
            "sender": sender, "receiver": receiver, SOCKET: socket,
            "binds": transports.one_of(
                name, section, "binds", placement.BINDS,
                socket or transports.socket_of(receiver or "-")),
            "link": transports.own_link(f"protocol {name}",
                                        section.get("link", "")),
            transports.COMPUTED: computed}


def can_carry(carrier: Protocol, workload: Workload) -> bool:
    """Returns whether the carrier supports the workload. A carrier is a
    transport, and a workload is traffic other than video. If the carrier is
    computed in virtual time, it supports only workloads that do not wait for
    answers. Any other carrier supports all workloads.
    """
    return not carrier[transports.COMPUTED] \
        or workload["kind"] in definitions.COMPUTABLE
