# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a report compares: protocols over the same link at the same bitrate, or
links, or bitrates, or codecs, and all else the same. Links that are one section
of a matrix with several values are compared with each other, other links with
each other.
"""

import typing
from typing import Any

from wirelesslab.descriptions import Link
from wirelesslab.lab import matrix
from wirelesslab.streams import video_codecs


class Way(typing.NamedTuple):
    """To compare runs"""

    head: str  # of the column that tells them apart
    label: typing.Callable  # of a run, short, for plots
    title: typing.Callable  # the same in full
    group: typing.Callable  # what runs that are compared have in common
    group_title: typing.Callable
    is_ordered: bool  # they are values of one thing


def link_title(run: Any) -> str:
    return run.cell["link"]["title"]


def variant(link: Link) -> tuple[str | None, str]:
    """(section, its values) by the link's name; (None, name) without values"""
    section, *words = link["name"].split("_")
    return (section, ", ".join(words)) if words else (None, link["name"])


def section_title(link: dict[str, Any]) -> str:
    """Its title without its values; all links, where it has none"""
    section, words = variant(link)
    return link["title"].removesuffix(f", {words}") if section else "all links"


def title_in_section(run: Any) -> str:
    """The group has the rest of it."""
    section, words = variant(run.cell["link"])
    return words if section else link_title(run)


def protocol_title(run: Any) -> str:
    """With the name that plots have"""
    title = run.transport["title"]
    return (title if run.protocol == title else f"{run.protocol}: {title}")


def rate_title(run: Any) -> str:
    return f"{run.cell['rate']} Mbit/s"


def film_title(run: Any) -> str:
    codec = matrix.codec(run.cell)
    return f"clip of {rate_title(run)}" + (
        "" if codec == video_codecs.FIRST else f", {video_codecs.title(codec)}")


def codec_title(run: Any) -> str:
    return video_codecs.title(matrix.codec(run.cell))


WAYS = {
    "protocol": Way(
        "protocol", lambda run: run.protocol, protocol_title,
        lambda run: (run.cell["link"]["name"], run.cell["rate"],
                     matrix.codec(run.cell)),
        lambda run: f"{link_title(run)}, {film_title(run)}", False),
    "link": Way(
        "link", lambda run: variant(run.cell["link"])[1], title_in_section,
        lambda run: (run.protocol, variant(run.cell["link"])[0],
                     run.cell["rate"], matrix.codec(run.cell)),
        lambda run: f"{protocol_title(run)}, "
                    f"{section_title(run.cell['link'])}, "
                    f"{film_title(run)}", True),
    "rate": Way(
        "clip", rate_title, rate_title,
        lambda run: (run.protocol, run.cell["link"]["name"],
                     matrix.codec(run.cell)),
        lambda run: f"{protocol_title(run)}, {link_title(run)}, "
                    f"{codec_title(run)}", True),
    "codec": Way(
        "codec", codec_title, codec_title,
        lambda run: (run.protocol, run.cell["link"]["name"],
                     run.cell["rate"]),
        lambda run: f"{protocol_title(run)}, {link_title(run)}, "
                    f"clip of {rate_title(run)}", False),
}
