# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the sections of a matrix that describe runs with a live encoder. A
matrix is a file that describes runs of the lab.

The section [encoder] has two parts of a pipeline: the elements of the encoder,
and the element bitrateadapt, which adapts the bitrate of the encoder to the
network. All protocols share these parts and differ only in the elements
downstream of them.

The launch line of a protocol's sender begins with one of these placeholders:

- {adaptive} stands for the encoder and bitrateadapt.
- {encoder} stands for the encoder alone.
- {encoding} stands for a stream that was encoded before the run. A section
  [encoding NAME] describes such a stream.

docs/lab-encoder.md describes the keys of the sections. The files
pipelines/encoder.ini and pipelines/layers.ini are examples.
"""

import configparser
from collections.abc import Mapping
from typing import Any

from wirelesslab.descriptions import Cell, Protocol
from wirelesslab.errors import LabError
from wirelesslab.streams import encodings, live_sources, transports

SECTION = "encoder"
KEYS = {"pipeline", "adapter", "bitrate", "max", "late"}
ADAPTIVE, FIXED = "{adaptive}", "{encoder}"
ENCODED = "{encoding}"
# Key in the section [protocol NAME] of a matrix. The value is a list of names
# of encodings. An encoding is a stream that is encoded before the run, and a
# section [encoding NAME] describes it.
ENCODINGS = "encodings"
ENCODING_KEYS = {"title", "codec", "delay", "make"}
# Key for the bitrate in kbit/s. The sections [encoder] and [protocol NAME] can
# contain it. In a section [protocol NAME], the value can be a list of
# bitrates. Each bitrate in the list then yields a separate protocol.
BITRATE = "bitrate"
# Default values in kbit/s of two keys in the section [encoder]: `bitrate` and
# `max`. The value of `bitrate` applies to each protocol that has no key
# `bitrate` in its own section. The value of `max` is the maximum bitrate for
# all protocols.
DEFAULT_BITRATE, DEFAULT_MAX = "1000", "6000"
LATE_MS = "400"


class Front:
    """The part of a sender that is the same for every transport. There are two
    kinds of it. The first kind is a live encoder and the element bitrateadapt,
    which adapts the bitrate of the encoder. The second kind is a stream that
    was encoded before the run.
    """

    def __init__(self, given: configparser.ConfigParser,
                 sections: Mapping[str, configparser.SectionProxy]) -> None:
        """Reads the settings of the encoder from the matrix file. `given` is
        the parsed file. An encoding is a stream that is encoded before the
        run. `sections` maps the name of each encoding to the section that
        describes it. Raises LabError if a key is missing or unknown.
        """
        if SECTION not in given:
            raise LabError(f"encoders needs a section [{SECTION}]")
        section = given[SECTION]
        unknown = set(section) - KEYS
        if unknown:
            raise LabError(f"[{SECTION}] has no {min(unknown)}; it has: "
                           + ", ".join(sorted(KEYS)))
        for key in ("pipeline", "adapter"):
            if not section.get(key) and not sections:
                raise LabError(f"[{SECTION}] has no {key}")
        self._pipeline, self._adapter = (section.get(key, "")
                                         for key in ("pipeline", "adapter"))
        self.bitrate, self.max, self.late_ms = (
            number(SECTION, key, section.get(key, otherwise))
            for key, otherwise in ((BITRATE, DEFAULT_BITRATE),
                                   ("max", DEFAULT_MAX), ("late", LATE_MS)))
        self.encodings = {name: read_encoding(name, own, self.bitrate)
                          for name, own in sections.items()}

    def fill(self, sender: str, bitrate: int) -> str:
        """Returns a copy of the launch line `sender`, in which the
        placeholders of the encoder are replaced by its elements and settings.
        `bitrate` is the bitrate of the encoder in kbit/s.
        """
        adaptive = f"{self._pipeline} ! {self._adapter}"
        filled = sender.replace(ADAPTIVE, adaptive) \
            .replace(FIXED, self._pipeline)
        for name, kbps in (("{bitrate}", bitrate), ("{max}", self.max)):
            filled = filled.replace(name, str(kbps))
        return filled

    def of_source(self, source: str, seconds: int,
                  protocol: Protocol) -> dict[str, Any]:
        """Returns the dictionary that describes a run of the lab. In this run,
        the encoder encodes the source `source` for `seconds` seconds, and the
        encoded stream is sent with `protocol`.
        """
        return {"what": source, "protocol": protocol, "rate": None,
                "seconds": seconds,
                "encoder": {"source": source, "late_ms": self.late_ms,
                            "max": self.max}}


def number(owner: str, key: str, text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise LabError(f"{owner}: {key} = {text} is no number above 0")
    return int(text)


def is_for_one(section: Mapping[str, str]) -> bool:
    """Returns True if a protocol sends a stream that comes from a live
    encoder, or a stream that was encoded before the run. The launch line of
    such a protocol's sender contains one of the placeholders {adaptive},
    {encoder} and {encoding}. Returns False for all other protocols. `section`
    describes the protocol.
    """
    return any(word in section.get("sender", "")
               for word in (ADAPTIVE, FIXED, ENCODED))


def read_encoding(name: str, section: Mapping[str, str],
                  bitrate: int) -> encodings.Encoding:
    owner = f"[encoding {name}]"
    unknown = set(section) - ENCODING_KEYS
    if unknown:
        raise LabError(f"{owner} has no {min(unknown)}; it has: "
                       + ", ".join(sorted(ENCODING_KEYS)))
    for key in ("codec", "make"):
        if not section.get(key):
            raise LabError(f"{owner} has no {key}")
    if section["codec"] not in encodings.CODECS:
        raise LabError(f"{owner}: codec = {section['codec']} must be one of: "
                       + ", ".join(encodings.CODECS))
    delay = section.get("delay", "0")
    if not delay.isdecimal():
        raise LabError(f"{owner}: delay = {delay} is no number of frames")
    return {"name": name, "title": section.get("title", name),
            "codec": section["codec"], "delay": int(delay),
            "make": " ".join(section["make"].split()).replace(
                "{bitrate}", str(bitrate))}


def read_protocols(name: str, section: configparser.SectionProxy,
                   front: Front) -> dict[str, Protocol]:
    """Returns the protocols that `section` describes, as {name: protocol}. If
    the section lists several bitrates or encodings, there is a protocol for
    each of them.
    """
    if ENCODED in section.get("sender", ""):
        return {f"{name}-{encoding['name']}": with_encoding(
            name, section, encoding) for encoding in chosen_encodings(
                name, section, front)}
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


def chosen_encodings(name: str, section: Mapping[str, str],
                     front: Front) -> list[encodings.Encoding]:
    names = section.get(ENCODINGS, "").split() or list(front.encodings)
    for one in names:
        if one not in front.encodings:
            raise LabError(f"protocol {name}: there is no encoding {one}; "
                           "there are: " + ", ".join(front.encodings))
    return [front.encodings[one] for one in names]


def with_encoding(name: str, section: Mapping[str, str],
                  encoding: encodings.Encoding) -> Protocol:
    whole = configparser.ConfigParser(interpolation=None)
    own = f"{name}-{encoding['name']}"
    whole[own] = {
        **{key: text for key, text in section.items() if key != ENCODINGS},
        "sender": section["sender"].replace(ENCODED,
                                            encodings.pipeline(encoding)),
        "title": f"{encoding['title']}, {section.get('title', name)}"}
    return {**transports.of_section(own, whole[own]), "is_live": True,
            "encoding": encoding}


def is_live(protocol: Protocol) -> bool:
    return protocol.get("is_live", False)


def check(protocol: Protocol, has_encoders: bool) -> None:
    """Raises LabError if `protocol` cannot be used in the matrix, the file
    that describes the runs. `has_encoders` says whether the matrix describes
    runs with a live encoder. There are two cases:
    - With a live encoder, the sender of `protocol` must contain a placeholder
      for the encoder, or for a stream that was encoded before the run.
    - Without a live encoder, the sender of `protocol` must read a clip.
    """
    if is_live(protocol) != has_encoders:
        raise LabError(
            f"protocol {protocol['name']} has no {ADAPTIVE}, {FIXED} or "
            f"{ENCODED}, which encoders in [matrix] need" if has_encoders else
            f"protocol {protocol['name']} is for a live encoder: [matrix] "
            "needs encoders")


def chosen(names: list[str]) -> list[str]:
    """Returns `names` without duplicates. `names` are the names of video
    sources for the live encoder. Raises LabError if there is no source with
    one of these names.
    """
    for name in names:
        if name not in live_sources.TITLES:
            raise LabError(f"there is no encoder source {name}; there are: "
                           + ", ".join(live_sources.TITLES))
    return list(dict.fromkeys(names))


def source_of(cell: Cell) -> str:
    return cell["encoder"]["source"]


def encoding_of(cell: Cell) -> encodings.Encoding | None:
    """Returns the encoding with which the stream of the run was encoded before
    the run. Returns None if there is no such encoding, for example because a
    live encoder encodes the video during the run.
    """
    return cell["protocol"].get("encoding")
