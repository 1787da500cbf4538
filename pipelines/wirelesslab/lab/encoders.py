# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the parts of a matrix that describe cells with a live encoder.

The section [encoder] has the pipeline of the encoder and the pipeline of
bitrateadapt. All protocols share these pipelines and differ only in the
elements downstream of them. The sender of a protocol begins with {adaptive},
which stands for the encoder and bitrateadapt, or with {encoder}, which stands
for the encoder alone. docs/lab-encoder.md describes the keys, and
pipelines/encoder.ini is an example.
"""

import configparser
from collections.abc import Mapping
from typing import Any

from wirelesslab.descriptions import Cell, Protocol
from wirelesslab.errors import LabError
from wirelesslab.streams import live_sources, transports

SECTION = "encoder"
KEYS = {"pipeline", "adapter", "bitrate", "max", "late"}
ADAPTIVE, FIXED = "{adaptive}", "{encoder}"
# The key with the bitrate in kbit/s. A section with several values makes one
# protocol for each value.
BITRATE = "bitrate"
# The bitrate in kbit/s of every protocol that does not set its own, and the
# maximum bitrate in kbit/s that no protocol exceeds.
DEFAULT_BITRATE, DEFAULT_MAX = "1000", "6000"
LATE_MS = "400"


class Front:
    """The part of a sender that is the same for every transport."""

    def __init__(self, given: configparser.ConfigParser) -> None:
        if SECTION not in given:
            raise LabError(f"encoders needs a section [{SECTION}]")
        section = given[SECTION]
        unknown = set(section) - KEYS
        if unknown:
            raise LabError(f"[{SECTION}] has no {min(unknown)}; it has: "
                           + ", ".join(sorted(KEYS)))
        for key in ("pipeline", "adapter"):
            if not section.get(key):
                raise LabError(f"[{SECTION}] has no {key}")
        self._pipeline, self._adapter = section["pipeline"], section["adapter"]
        self.bitrate, self.max, self.late_ms = (
            number(SECTION, key, section.get(key, otherwise))
            for key, otherwise in ((BITRATE, DEFAULT_BITRATE),
                                   ("max", DEFAULT_MAX), ("late", LATE_MS)))

    def fill(self, sender: str, bitrate: int) -> str:
        """Returns the sender of a protocol as a pipeline for this bitrate."""
        adaptive = f"{self._pipeline} ! {self._adapter}"
        filled = sender.replace(ADAPTIVE, adaptive) \
            .replace(FIXED, self._pipeline)
        for name, kbps in (("{bitrate}", bitrate), ("{max}", self.max)):
            filled = filled.replace(name, str(kbps))
        return filled

    def of_source(self, source: str, seconds: int,
                  protocol: Protocol) -> dict[str, Any]:
        """Returns the keys of a cell that encodes this source."""
        return {"what": source, "protocol": protocol, "rate": None,
                "seconds": seconds,
                "encoder": {"source": source, "late_ms": self.late_ms,
                            "max": self.max}}


def number(owner: str, key: str, text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise LabError(f"{owner}: {key} = {text} is no number above 0")
    return int(text)


def is_for_one(section: Mapping[str, str]) -> bool:
    """Returns whether the section of a protocol is for a live encoder."""
    return any(word in section.get("sender", "") for word in (ADAPTIVE, FIXED))


def read_protocols(name: str, section: configparser.SectionProxy,
                   front: Front) -> dict[str, Protocol]:
    """Returns {name: protocol} with one protocol for each bitrate of the
    section.
    """
    texts = section.get(BITRATE, "").split()
    return {own: read_protocol(
        own, section, front,
        number(f"protocol {name}", BITRATE, text) if text else front.bitrate)
        for own, text in ([(f"{name}-{text}", text) for text in texts]
                          or [(name, "")])}


def read_protocol(name: str, section: configparser.SectionProxy, front: Front,
                  bitrate: int) -> Protocol:
    whole = configparser.ConfigParser(interpolation=None)
    whole[name] = {
        **{key: text for key, text in section.items() if key != BITRATE},
        "sender": front.fill(section["sender"], bitrate)}
    if BITRATE in section:
        title = section.get("title", name)
        whole[name]["title"] = f"{title}, {bitrate / 1000:g} Mbit/s"
    return {**transports.of_section(name, whole[name], is_live=True),
            "is_live": True}


def is_live(protocol: Protocol) -> bool:
    return protocol.get("is_live", False)


def check(protocol: Protocol, has_encoders: bool) -> None:
    """Raises LabError if a protocol for clips would get a live encoder, or a
    protocol for a live encoder would get a clip."""
    if is_live(protocol) != has_encoders:
        raise LabError(
            f"protocol {protocol['name']} has no {ADAPTIVE} or {FIXED}, which "
            "encoders in [matrix] need" if has_encoders else
            f"protocol {protocol['name']} is for a live encoder: [matrix] "
            "needs encoders")


def chosen(names: list[str]) -> list[str]:
    """Returns the names of the sources, each once. Raises LabError if a name is
    unknown.
    """
    for name in names:
        if name not in live_sources.TITLES:
            raise LabError(f"there is no encoder source {name}; there are: "
                           + ", ".join(live_sources.TITLES))
    return list(dict.fromkeys(names))


def source_of(cell: Cell) -> str:
    return cell["encoder"]["source"]
