# SPDX-License-Identifier: LGPL-2.1-or-later
"""Derives a protocol from another protocol by replacing words in its
pipelines. A matrix of the lab can thus compare options of a transport without
repeating the pipelines. The section of the derived protocol has two keys.
`like` is the name of the other protocol, and `replace` contains the old and
the new words:

    [protocol srt-200]
    like = srt
    replace = latency=300 -> latency=200
"""

import configparser
from collections.abc import Iterable, Mapping

from wirelesslab.descriptions import Protocol
from wirelesslab.errors import LabError
from wirelesslab.streams import transports

LIKE, REPLACE = "like", "replace"
ARROW = "->"
ENDS = ("sender", "receiver")


def is_one(section: Mapping[str, str]) -> bool:
    return LIKE in section


def of_section(name: str, section: Mapping[str, str],
               known: Mapping[str, Protocol]) -> Protocol:
    """Returns the protocol that `section` derives from another protocol. The
    value of the key `like` in the section is the name of the other protocol in
    `known`. The value of the key `replace` says which words are replaced in
    the pipelines of the other protocol. All other keys of the section replace
    the keys of the other protocol.
    """
    base = known.get(section[LIKE])
    if base is None or "sender" not in base:
        raise LabError(
            f"protocol {name}: {LIKE} = {section[LIKE]} is not a protocol with "
            "a sender and a receiver")
    keys = {key: as_text(base[key]) for key in transports.KEYS
            if key in base}
    for old, new in replacements(name, section.get(REPLACE, "")):
        if not any(old in keys[end] for end in ENDS):
            raise LabError(f"protocol {name}: neither the sender nor the "
                           f"receiver of {section[LIKE]} contains {old!r}")
        keys.update({end: keys[end].replace(old, new) for end in ENDS})
    keys["title"] = f"{base['title']}, {name}"
    keys.update({key: value for key, value in section.items()
                 if key not in (LIKE, REPLACE)})
    made = configparser.ConfigParser(interpolation=None)
    made.read_dict({name: keys})
    return transports.of_section(name, made[name])


def as_text(value: str | int | bool) -> str:
    """Returns the text that a matrix file would contain for `value`. A boolean
    becomes "yes" or "no".
    """
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) \
        else str(value)


def replacements(name: str, text: str) -> Iterable[tuple[str, str]]:
    """Yields a pair (old words, new words) for each line of `text`. A line has
    the form "OLD -> NEW".
    """
    for line in filter(None, map(str.strip, text.splitlines())):
        old, arrow, new = line.partition(ARROW)
        if not arrow or not old.strip():
            raise LabError(f"protocol {name}: {REPLACE} = {line} is not "
                           f"written as: OLD {ARROW} NEW")
        yield old.strip(), new.strip()
