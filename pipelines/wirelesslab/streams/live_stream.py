# SPDX-License-Identifier: LGPL-2.1-or-later
"""A stream that the sender encodes in real time, during the transmission.

A run of such a stream writes the same logs as a run that streams a clip. It
also writes a log of the captured frames and a file with the encoded access
units. After the run, the pictures can be decoded from this file and compared.
The sender also prints the messages that bitrateadapt posts.
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
    """A stream that is encoded while it is sent. Other streams send a clip,
    which was encoded before the run.
    """

    SENDER = (*stream.GST_LAUNCH, "-m")  # prints messages

    def __init__(self, transport: Protocol, source: pathlib.Path, port: int,
                 run_dir: pathlib.Path, place: placement.Place,
                 name: str = "") -> None:
        super().__init__(transport, source, port, run_dir, place, name)
        self._values.update(captured=run_dir / CAPTURED,
                            encoded=run_dir / ENCODED)


class Adaptation(typing.NamedTuple):
    """The statistics that bitrateadapt posts in one message."""

    frames: int  # The number of frames that bitrateadapt has pushed so far.
    estimate: int  # The estimated bitrate in bit/s, or 0 if there is none.
    # The bitrate in bit/s that bitrateadapt requested from the encoder, or 0 if
    # it has not requested any yet.
    target: int
    # The bitrate in bit/s of the video that bitrateadapt pushed in the last
    # second.
    encoded: int


def adaptations(output: str) -> list[Adaptation]:
    """Returns the statistics of all messages of bitrateadapt in the output of
    gst-launch-1.0 -m. The messages have no time, but their number of frames
    shows when they were sent."""
    found = []
    for text in STATS.findall(output):
        values = dict(FIELD.findall(text))
        found.append(Adaptation(*(int(values[name]) for name in (
            "buffers", "estimated-bitrate", "target-bitrate",
            "encoder-bitrate"))))
    return found
