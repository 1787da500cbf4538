# SPDX-License-Identifier: LGPL-2.1-or-later
"""A stream that the sender encodes in real time, during the transmission.

Other streams transmit a clip, which was encoded before the run. A run with a
live stream writes the same logs, and two more files: a log of the captured
frames, and the encoded access units. After the run, the pictures can be
decoded from the second file and compared. The sender also prints the messages
of the element bitrateadapt, which sets the bitrate of the encoder.
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
    """A stream that is encoded while it is sent. In all other streams, the
    clip was encoded before the run.
    """

    SENDER = (*stream.GST_LAUNCH, "-m")  # prints messages

    def __init__(self, transport: Protocol, source: pathlib.Path, port: int,
                 run_dir: pathlib.Path, place: placement.Place,
                 name: str = "") -> None:
        super().__init__(transport, source, port, run_dir, place, name)
        self._values.update(captured=run_dir / CAPTURED,
                            encoded=run_dir / ENCODED)


class Adaptation(typing.NamedTuple):
    """The values of one message in which the element bitrateadapt posts its
    statistics. bitrateadapt sets the bitrate of a live encoder.
    """

    # The number of frames that the element bitrateadapt has pushed so far.
    frames: int
    # bitrateadapt's estimate of the bitrate that the network can carry, in
    # bit/s. It is 0 if there is no estimate.
    estimate: int
    # The bitrate in bit/s that the element bitrateadapt has requested from the
    # encoder. It is 0 before the first request.
    target: int
    # The bitrate in bit/s of the video that bitrateadapt pushed during the
    # last second before the message.
    encoded: int


def adaptations(output: str) -> list[Adaptation]:
    """Returns the statistics from all messages of the element bitrateadapt in
    `output`, which is the output of gst-launch-1.0 -m. The messages contain no
    time. Instead they contain the number of frames that bitrateadapt had
    pushed, which shows when a message was posted.
    """
    found = []
    for text in STATS.findall(output):
        values = dict(FIELD.findall(text))
        found.append(Adaptation(*(int(values[name]) for name in (
            "buffers", "estimated-bitrate", "target-bitrate",
            "encoder-bitrate"))))
    return found
