# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads carriers, which are the transports that carry workloads other than
video from one host to another. carriers.ini has the carriers of this project
and some others. A matrix of the lab may define further carriers in its sections
[protocol NAME].
"""

import configparser
import re

from wirelesslab import paths
from wirelesslab.descriptions import Protocol, Workload
from wirelesslab.errors import LabError
from wirelesslab.streams import placement, transports
from wirelesslab.workloads import definitions

OURS = paths.PIPELINES / "carriers.ini"
# Placeholders in the pipeline of a sender. If the pipeline contains one of
# them, it belongs to a carrier, which is a transport for workloads other than
# video.
INPUTS = ("{input}", "{packets}")
OUTPUT = "{output}"
SOCKET = "socket"
KEYS = {"title", "sender", "receiver", "binds", "link", SOCKET,
        transports.COMPUTED}


def read() -> dict[str, Protocol]:
    """Returns {name: carrier} from carriers.ini."""
    return transports.read_sections(OURS, of_section)


def is_one(section: configparser.SectionProxy) -> bool:
    return SOCKET in section \
        or any(name in section.get("sender", "") for name in INPUTS)


def of_section(name: str, section: configparser.SectionProxy) -> Protocol:
    """Reads the carrier `name` from its section in carriers.ini or in a matrix
    of the lab. A carrier is a transport for workloads other than video.
    Returns the carrier as a dictionary that can be written as JSON.
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
    """Returns whether the carrier supports the workload. A carrier that is
    computed in virtual time supports only workloads that do not wait for
    answers.
    """
    return not carrier[transports.COMPUTED] \
        or workload["kind"] in definitions.COMPUTABLE
