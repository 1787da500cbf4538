# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds the freezes of a clip in the list of the pictures that a viewer sees.

The player is assumed to have a fixed delay: it shows each picture a fixed time
after the due time of the picture. The due time is the time at which the
picture would be shown if the network had no delay. A frame that arrives when
its picture should already be on the screen counts as late. A picture cannot be
shown if its frame is missing or late, or if its frame refers to a missing or
late frame. In this case the last picture that was shown stays on the screen.
"""

from collections.abc import Sequence

from wirelesslab.streams import display

NS = 1e9


def durations_ns(shown: Sequence[int | None],
                 period_ns: float) -> list[float]:
    """Returns the durations of all freezes in ns. A freeze is a time of more
    than 200 ms without a new picture. `shown` is a result of
    measurements.shown(): for each frame period, the number of the picture on
    the screen.
    """
    frames = [display.Frame(place * period_ns, 0, 0, False, 0)
              for place in range(len(shown))]
    delays = [0 if number == place else display.NEVER
              for place, number in enumerate(shown)]
    return display.freezes_ns(frames, delays, period_ns)


def numbers(shown: Sequence[int | None],
            period_ns: float) -> dict[str, float]:
    """Returns the statistics of the freezes as {name: number}, for tables.
    Runs with a live encoder have the same statistics under the same names.
    """
    freezes = durations_ns(shown, period_ns)
    return {"freezes": len(freezes), "frozen s": sum(freezes) / NS,
            "longest freeze s": max(freezes, default=0) / NS}
