# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the sections [workload NAME] of a matrix file, which describes a set
of experiments. A workload is traffic other than video. docs/workloads.md
describes these sections.
"""

import configparser
import re
import typing
from typing import Any

from wirelesslab.descriptions import Workload
from wirelesslab.errors import LabError
from wirelesslab.streams import measurements

# The default workload of a matrix.
VIDEO = "video"
# Names of the two hosts between which a workload runs. A workload can begin at
# either of them. The host that begins sends data, makes requests or makes
# phone calls.
MOBILE, NETWORK = "mobile", "network"
UNITS = {"ms": 1e-3, "s": 1, "min": 60}
TIME = re.compile(r"(\d+(?:\.\d+)?) *(ms|s|min)")
# The maximum size in bytes of a packet, or of a block of a bulk transfer. A
# write() of up to this size into a pipe is atomic, so no packet is divided.
LARGEST = 4096
# The maximum number of packets in a voice call. The limit exists because the
# sequence number of a packet has only 16 bits.
VOICE_NUMBERS = 65535
DAY_S = 86400


class Number(typing.NamedTuple):
    """A number that a workload has as a parameter: its default value, its
    minimum and its maximum. If `is_time` is True, the number is a time in
    seconds. Otherwise it is an integer.
    """

    default: float
    minimum: float
    maximum: float
    is_time: bool = False


def bytes_of(default: int) -> Number:
    return Number(default, 1, LARGEST)


def time_of(default: float, minimum: float = 0, maximum: int = DAY_S) -> Number:
    return Number(default, minimum, maximum, True)


# Maps each kind of workload to a pair. The first value is the host that begins
# the workload by default. The second value contains the parameters of this
# kind.
KINDS = {
    "bulk": (NETWORK, {
        "bytes": Number(40000, 1, 10**9), "block": bytes_of(512),
        "wait": time_of(60, 0.001)}),
    "request-reply": (MOBILE, {
        "request": bytes_of(1), "reply": bytes_of(1),
        "count": Number(40, 1, 10**6), "warm": Number(2, 0, 1000),
        "pause": time_of(0), "wait": time_of(60, 0.001)}),
    "voice": (NETWORK, {
        "seconds": Number(60, 1, DAY_S), "bytes": Number(33, 2, LARGEST),
        "every": time_of(0.02, 0.001, 10),
        "acknowledge": time_of(0.2, 0.001, 10)}),
    "dial-up": (MOBILE, {
        "calls": Number(400, 1, 10**5), "every": time_of(300, 0.001),
        "bytes": bytes_of(40)}),
}
TOLL_QUALITY_MS = 150  # Erixzon 5.4.2
LONG_CALL_S = 35  # Alanko 3.1

# Maps each kind of workload to the results that are measured. A result is a
# pair: its name, and the format in which its value is printed.
NUMBERS = {
    "bulk": (("bytes", "{:.0f}"), ("arrived %", "{:.1f}"),
             ("mean byte/s", "{:.0f}"), ("sustainable byte/s", "{:.0f}")),
    "request-reply": (
        ("exchanges", "{:.0f}"), ("lost", "{:.0f}"), ("min s", "{:.3f}"),
        *((f"{percent} % s", "{:.3f}")
          for percent in measurements.ALANKO_PERCENTS), ("max s", "{:.3f}"),
        *((f"over by {tolerance} s", "{:.3f}")
          for tolerance in measurements.ALANKO_TOLERANCES_S)),
    "voice": (
        ("packets", "{:.0f}"), ("lost %", "{:.2f}"),
        ("delay median ms", "{:.1f}"), ("delay 95 % ms", "{:.1f}"),
        ("delay 99 % ms", "{:.1f}"), ("estimate median ms", "{:.1f}"),
        ("estimate 95 % ms", "{:.1f}"), ("jitter ms", "{:.1f}"),
        (f"within {TOLL_QUALITY_MS} ms %", "{:.1f}")),
    "dial-up": (
        ("calls", "{:.0f}"), ("failed", "{:.0f}"), ("failed %", "{:.1f}"),
        ("set-up min s", "{:.1f}"), ("set-up 5 % s", "{:.1f}"),
        ("set-up median s", "{:.1f}"), ("set-up 95 % s", "{:.1f}"),
        ("set-up max s", "{:.1f}"), (f"over {LONG_CALL_S} s %", "{:.1f}"),
        ("failure seen median s", "{:.1f}"), ("packets", "{:.0f}"),
        ("lost", "{:.0f}"), ("delay median s", "{:.2f}"),
        ("delay 95 % s", "{:.2f}"), ("delay max s", "{:.2f}")),
}
# The kinds of workload in which the sender does not wait for answers. No other
# kind can be computed in virtual time.
COMPUTABLE = ("voice", "dial-up")
OTHER_KEYS = ("kind", "title", "from", "protocols", "links")


def read(name: str,
         section: configparser.SectionProxy) -> tuple[dict[str, Any], str, str]:
    """Reads the workload `name` from the section `section` of a matrix file.
    Returns three values:
    - a dictionary that describes the workload. It becomes a part of the
      description of a cell (one experiment).
    - the value of the key `protocols`, or an empty text if the section does
      not have this key.
    - the value of the key `links`, or an empty text.
    """
    kind = section.get("kind")
    if kind not in KINDS:
        raise LabError(
            f"workload {name} has no kind" if kind is None
            else f"workload {name}: there is no kind {kind}; there are: "
            + ", ".join(KINDS))
    begins, parameters = KINDS[kind]
    unknown = set(section) - set(parameters) - set(OTHER_KEYS)
    if unknown:
        raise LabError(
            f"workload {name} has the unknown key {min(unknown)}; the keys of "
            f"{kind} are: "
            + ", ".join([*OTHER_KEYS, *parameters]))
    found = {"name": name, "kind": kind, "title": section.get("title", name),
             "from": section.get("from", begins)}
    if found["from"] not in (MOBILE, NETWORK):
        raise LabError(
            f"workload {name}: from must be {MOBILE} or {NETWORK}")
    for key, parameter in parameters.items():
        text = section.get(key)
        found[key] = parameter.default if text is None \
            else value(f"workload {name}: {key}", text, parameter)
    check(found)
    return found, section.get("protocols", ""), section.get("links", "")


def value(what: str, text: str, parameter: Number) -> float:
    if parameter.is_time:
        matched = TIME.fullmatch(text.strip())
        if not matched:
            raise LabError(
                f"{what} = {text!r} is not a time, such as 20 ms or 1.5 s")
        number = round(float(matched[1]) * UNITS[matched[2]], 9)
    else:
        if not re.fullmatch(r"\d+", text.strip()):
            raise LabError(f"{what} = {text!r} is not a number")
        number = int(text)
    if not parameter.minimum <= number <= parameter.maximum:
        unit = " s" if parameter.is_time else ""
        raise LabError(f"{what} must be from {parameter.minimum:g} to "
                       f"{parameter.maximum:g}{unit}")
    return number


def check(workload: Workload) -> None:
    if workload["kind"] != "voice":
        return
    if packets(workload) > VOICE_NUMBERS:
        raise LabError(
            f"workload {workload['name']} has {packets(workload)} packets; "
            f"the maximum is {VOICE_NUMBERS}")
    if workload["acknowledge"] < workload["every"]:
        raise LabError(f"workload {workload['name']}: acknowledge must not be "
                       "less than every")


def packets(workload: Workload) -> int:
    """Returns the number of packets that the workload sends. Its kind must be
    "voice" or "dial-up", because only these send packets at fixed intervals.
    """
    return workload["calls"] if workload["kind"] == "dial-up" \
        else round(workload["seconds"] / workload["every"])


def theirs(name: str, kind: str,
           section: configparser.SectionProxy) -> dict[str, str]:
    """Returns the results that a paper has published for a workload, as {name
    of the result: value}. The values are texts, written as in the paper.
    """
    known = {number.lower(): number for number, _ in NUMBERS[kind]}
    unknown = set(section) - set(known) - {"source"}
    if unknown:
        raise LabError(
            f"theirs {name}: {kind} has no number {min(unknown)}; it has: "
            + ", ".join(known))
    return {"source": section.get("source", "theirs"),
            **{known[key]: text for key, text in section.items()
               if key in known}}
