# SPDX-License-Identifier: LGPL-2.1-or-later
"""Turns a link whose bitrate changes in steps into a delivery trace of
wirelesslink.

`steps = 4 20 1.5 30 4` in a section of a matrix describes a link with a rate of
4 Mbit/s. From 20 s to 30 s its rate is 1.5 Mbit/s, and then it is 4 Mbit/s
again. Each run of the lab writes the trace into the directory of the run.
"""

from wirelesslab.errors import LabError

# The number of bits that one line of a delivery trace lets through. This is
# one packet of 1500 bytes.
BITS = 8 * 1500
MS = 1000
# The duration of the trace in s. At its end, the link repeats the trace from
# the beginning, which must not happen during the stream. The link is started
# before the stream, so the trace must be longer than the stream.
SECONDS = 180
# The maximum rate of a step in Mbit/s.
MAX_RATE = 1000
# A delivery trace that lets packets pass at a constant rate of about MAX_RATE.
# The trace lasts 1 ms, and the link repeats it again and again.
FAST = "1\n" * round(MAX_RATE * 1e6 / MS / BITS)


def parse(name: str, text: str) -> list[tuple[float, float]]:
    """Parses the steps in `text`. Returns a list of pairs: a time in s, and the
    rate in Mbit/s from this time on. Raises LabError if `text` does not
    describe steps.
    """
    try:
        numbers = [float(word) for word in text.split()]
    except ValueError:
        numbers = []
    times, rates = [0.0, *numbers[1::2]], numbers[::2]
    if len(times) != len(rates) or sorted(set(times)) != times \
            or times[-1] >= SECONDS \
            or not all(0 < rate <= MAX_RATE for rate in rates):
        raise LabError(
            f"link {name}: steps = {text!r} are no bitrates in Mbit/s with the "
            "times of the changes in s between them, such as 4 20 1.5 30 4")
    return list(zip(times, rates))


def trace(steps: list[tuple[float, float]]) -> str:
    """Returns a delivery trace, as text, for a link whose rate changes in
    `steps`. Each line of the trace is a time in ms at which the link can send
    one more packet of 1500 bytes.
    """
    lines, bits = [], 0.0
    ends = [begin for begin, _ in steps[1:]] + [SECONDS]
    for (begin, rate), end in zip(steps, ends):
        for ms in range(round(begin * MS), round(end * MS)):
            bits += rate * 1e6 / MS
            while bits >= BITS:
                bits -= BITS
                lines.append(f"{ms + 1}\n")
    return "".join(lines)
