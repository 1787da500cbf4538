# SPDX-License-Identifier: LGPL-2.1-or-later
"""A stream whose sender encodes while it sends.

Besides the logs of a clip's stream it leaves a log of the captured frames, the
encoded access units, so that pictures can be decoded and compared afterwards,
and the messages of bitrateadapt in the output of the sender.
"""

import pathlib
import re
import typing

from wirelesslab.descriptions import Protocol
from wirelesslab.streams import placement, stream

CAPTURED, ENCODED = "captured.csv", "encoded.h264"
SENDER_OUT = "sender.out"
STATS = re.compile(r"application/x-bitrateadapt-stats, (.*);")
FIELD = re.compile(r"([a-z-]+)=\((?:guint64|boolean)\)(\w+)")


class LiveStream(stream.Stream):
    """In place of a clip, the encoder gets the pictures of a source."""

    SENDER = (*stream.GST_LAUNCH, "-m")  # prints messages

    def __init__(self, transport: Protocol, source: pathlib.Path, port: int,
                 run_dir: pathlib.Path, place: placement.Place,
                 name: str = "") -> None:
        super().__init__(transport, source, port, run_dir, place, name)
        self._values.update(captured=run_dir / CAPTURED,
                            encoded=run_dir / ENCODED)


class Adaptation(typing.NamedTuple):
    """What bitrateadapt told at one time"""

    frames: int  # that had passed it
    estimate: int  # bit/s; 0: none
    target: int  # bit/s that it asked the encoder for; 0: nothing yet
    encoded: int  # bit/s that passed in the last second


def adaptations(output: str) -> list[Adaptation]:
    """Of all messages with statistics in the output of gst-launch-1.0 -m. The
    messages have no time, but the number of frames tells it."""
    found = []
    for text in STATS.findall(output):
        values = dict(FIELD.findall(text))
        found.append(Adaptation(*(int(values[name]) for name in (
            "buffers", "estimated-bitrate", "target-bitrate",
            "encoder-bitrate"))))
    return found
