# SPDX-License-Identifier: LGPL-2.1-or-later
"""Groups the runs that a report compares. The runs of a group differ in the
protocol, in the link, in the bitrate or in the codec, and everything else is
equal.

A section of a matrix may list several values of a property. It then describes
several links, which are compared with each other. Links from sections without
such a list are all compared with each other.
"""

import typing
from typing import Any

from wirelesslab.descriptions import Link
from wirelesslab.lab import matrix
from wirelesslab.streams import video_codecs


class Way(typing.NamedTuple):
    """A way to compare runs."""

    head: str  # The head of the column that names the compared runs.
    # A function that returns the short label of a run, for plots.
    label: typing.Callable
    # A function that returns the full title of a run, for tables.
    title: typing.Callable
    # A function that returns a key for a run. Runs with equal keys are compared
    # with each other.
    group: typing.Callable
    group_title: typing.Callable
    is_ordered: bool  # True if the labels have a natural order, as bitrates do.


def link_title(run: Any) -> str:
    return run.cell["link"]["title"]


def variant(link: Link) -> tuple[str | None, str]:
    """Divides the link's name. Returns (name of the link's section in the
    matrix, values of those properties for which the section lists several
    values). Returns (None, name of the link) if the section has no such
    property.
    """
    section, *words = link["name"].split("_")
    return (section, ", ".join(words)) if words else (None, link["name"])


def section_title(link: dict[str, Any]) -> str:
    """Returns the title of the section from which `link` comes. If the section
    describes several links, the title of each link also contains values that
    only this link has; these values are removed. Returns "all links" if the
    link's name contains no such values.
    """
    section, words = variant(link)
    return link["title"].removesuffix(f", {words}") if section else "all links"


def title_in_section(run: Any) -> str:
    """Returns the title of the run's link for a comparison of the links of one
    section. These links differ only in the values of some properties. The title
    consists of these values, because the title of the section has everything
    else.
    """
    section, words = variant(run.cell["link"])
    return words if section else link_title(run)


def protocol_title(run: Any) -> str:
    """Returns a title of the run's protocol for tables: the title of the
    protocol, preceded by the name that the plots use. If the name and the title
    are equal, the title stands alone.
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
