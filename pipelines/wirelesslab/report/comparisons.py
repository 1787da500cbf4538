# SPDX-License-Identifier: LGPL-2.1-or-later
"""Divides runs into groups. A report compares the runs of a group with each
other. The runs of a group differ in one respect: the protocol, the link, the
bitrate or the codec.

The matrix is the file that describes the runs. Some of its sections describe
links. A section that lists several values of a property describes several
links. Any other section describes a single link.

If links are compared, there are two kinds of groups. The links of a section
with several links are compared only with each other. The links of all sections
with a single link are compared with each other.
"""

import typing
from typing import Any

from wirelesslab.descriptions import Link
from wirelesslab.lab import matrix
from wirelesslab.streams import video_codecs


class Way(typing.NamedTuple):
    """A way to compare runs."""

    # The heading of the table column that contains the names of the runs.
    head: str
    # A function that takes a run and returns its short label, for plots.
    label: typing.Callable
    # A function that takes a run and returns its full title, for tables.
    title: typing.Callable
    # A function that returns a key for a run. Only runs whose keys are equal
    # are compared with each other.
    group: typing.Callable
    group_title: typing.Callable
    # True if the labels of the runs have an order of their own, as bitrates
    # do. The report then keeps this order and does not sort by result.
    is_ordered: bool


def link_title(run: Any) -> str:
    return run.cell["link"]["title"]


def variant(link: Link) -> tuple[str | None, str]:
    """Splits the name of a link. A matrix is a file that describes
    experiments, and some of its sections describe links. If a section lists
    several values of a property, it describes a link for each value. The name
    of such a link consists of the name of the section and of the values that
    distinguish this link. The function then returns a pair: the name of the
    section, and the values as text.

    If a section describes only one link, the name of the link contains no
    values. The function then returns the pair of None and the whole name of
    the link.
    """
    section, *words = link["name"].split("_")
    return (section, ", ".join(words)) if words else (None, link["name"])


def section_title(link: dict[str, Any]) -> str:
    """A report compares the links of a group with each other. Returns a title
    for the group that contains `link`. The matrix, the file that describes the
    runs, has sections that describe links.

    A section that lists several values of a property describes several links.
    These links form a group. The title of each of them consists of the
    section's title and the values of the link. If `link` is one of several
    links of a section, the function removes the values and returns the
    section's title.

    Any other section describes a single link. The links of all these sections
    together form one group. If `link` belongs to this group, the title of a
    single section would be wrong, so the function returns "all links".
    """
    section, words = variant(link)
    return link["title"].removesuffix(f", {words}") if section else "all links"


def title_in_section(run: Any) -> str:
    """Returns a title for the link of the run. The title appears in a part of
    the report that compares the links of one section of the matrix, the file
    that describes the runs. These links differ only in the values of some
    properties, so the title consists of these values. If the link is the only
    one of its section, returns its full title.
    """
    section, words = variant(run.cell["link"])
    return words if section else link_title(run)


def protocol_title(run: Any) -> str:
    """Returns the text that stands for the run's protocol in tables. It is
    `NAME: TITLE`, where NAME is also the name in the plots. If the name and
    the title are equal, it is only the title.
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
