# SPDX-License-Identifier: LGPL-2.1-or-later
"""Divides runs into groups. A report compares the runs of a group with each
other. The runs of a group differ in one respect: the protocol, the link, the
bitrate or the codec.

If a section of a matrix lists several values of a property, the section
describes several links. These links are compared with each other. Each of the
other sections describes a single link. All these single links are compared with
each other, too.
"""

import typing
from typing import Any

from wirelesslab.descriptions import Link
from wirelesslab.lab import matrix
from wirelesslab.streams import video_codecs


class Way(typing.NamedTuple):
    """A way to compare runs."""

    # Heading of the column with the names of the runs.
    head: str
    # A function that returns the short label of a run, for plots.
    label: typing.Callable
    # A function that returns the full title of a run, for tables.
    title: typing.Callable
    # A function that returns a key for a run. Runs with equal keys are compared
    # with each other.
    group: typing.Callable
    group_title: typing.Callable
    # True if the labels of the runs have a natural order, as bitrates do.
    is_ordered: bool


def link_title(run: Any) -> str:
    return run.cell["link"]["title"]


def variant(link: Link) -> tuple[str | None, str]:
    """Splits the name of a link. If the section of the link in the matrix lists
    several values for a property, the name contains the value that this link
    has. Returns (name of the section, all values in the name). If the name
    contains no values, returns (None, name of the link).
    """
    section, *words = link["name"].split("_")
    return (section, ", ".join(words)) if words else (None, link["name"])


def section_title(link: dict[str, Any]) -> str:
    """Returns the title of the section of the matrix to which `link` belongs.
    If the name of `link` contains no property values, returns "all links".
    Otherwise the title of `link` ends with these values, and the function
    returns this title without the values.
    """
    section, words = variant(link)
    return link["title"].removesuffix(f", {words}") if section else "all links"


def title_in_section(run: Any) -> str:
    """Returns the title of the run's link for use inside a section. The links
    of a section differ only in the values of some properties, so the title
    consists of these values. If the link belongs to no such section, returns
    its full title.
    """
    section, words = variant(run.cell["link"])
    return words if section else link_title(run)


def protocol_title(run: Any) -> str:
    """Returns the text for the run's protocol in tables. It has the form `name:
    title`. The name is the name of the protocol in the plots. If the name and
    the title are equal, returns only the title.
    """
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
