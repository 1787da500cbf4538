# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests IFD over links that are too slow for the clip, and compares the
results with those of Ouwens (2006) and with other transports. IFD (I-Frame
Delay) drops B-frames first and I-frames last if a link is too slow for a
video. The test uses the kernel's TCP and runs in real time.

Each printed line contains the results of one run, which sends a clip of 60 s.
A run is invalid if this machine was too slow for real time. An invalid run is
repeated once. If it is invalid again, the test is skipped.

The test stores its results in the build directory. `test_ifd_papers.py
--tables` prints the latest stored results as the tables of docs/ifd.md.
"""

import dataclasses
import json
import os
import sys
import unittest

import ifdtestbed
import test_testbed

from wirelesslab.commands import ouwens

# Lost frames in Ouwens' tables 3.19 to 3.22: {bitrate of the clip in Mbit/s:
# {retry value of the radio card: (without microwave oven, with oven)}}. Each
# of the two values is a triple with the numbers of lost I-, P- and B-frames,
# out of 101 I-, 400 P- and 998 B-frames. Each number is the mean over the
# three places at which Ouwens measured.
THEIRS = ouwens.read_theirs()
OUWENS = {rate: {retry: tuple(
    tuple(THEIRS[table, "ifd", rate, retry, oven, f"lost {type}"]
          for type in "IPB") for oven in ("no", "yes"))
    for retry in (1, 2, 3, 4, 8, 16)}
    for rate, table in zip(ouwens.RATES, ouwens.LOSSES["ifd"])}
TABLES = ifdtestbed.BUILD / "ifd-papers" / "tables.json"
FREE_TABLES = TABLES.with_name("as-much-unsent-as-the-kernel-likes.json")
# Properties of an emulated network card. They do not set the length of its
# queue, so the queue holds 100 packets. This is the default of Linux.
CARD = "profile=80211b retry-limit=4"


@dataclasses.dataclass(frozen=True)
class Link:
    """A link, and limits for the streams on this link. `p_lost` is the maximum
    percentage of lost P-frames with the clip of 6 Mbit/s. `p99` is a limit in
    ms: 99 % of the frames that arrive must have a lateness of at most `p99`.
    The lateness of a frame is the time from its due time to its arrival.
    `lost_at_4` is the maximum percentage of lost frames of all types with the
    clip of 4 Mbit/s."""
    place: object
    p_lost: float
    p99: float
    lost_at_4: float


LINKS = {
    "bottleneck": Link(ifdtestbed.Bottleneck, 1, 350, 0),
    "radio": Link(ifdtestbed.Radio, 1, 350, 1),
    "radio with oven": Link(
        lambda: ifdtestbed.Radio(f"{CARD} txqueuelen=30 {ifdtestbed.OVEN}"),
        3, 400, 3),
}
# The limits for the streams with each IFD algorithm: {algorithm: (maximum
# percentage of lost B-frames, minimum percentage of decodable frames)}.
ALGORITHMS = {"paper": (50, 66), "paper-gop": (50, 66), "gop": (45, 70)}
AT_ONCE = int(os.environ.get("WIRELESS_IFD_AT_ONCE", 4))
SECONDS = 60
# If the emulated radio loses packets, a run may exceed its limits, and is then
# repeated. This is the maximum number of repetitions.
ROUNDS = 5


class Streams(ifdtestbed.IfdCase):
    def stream(self, cases):
        """Runs a stream for each of `cases`, which are {name: case}. Returns
        {name: run} with the valid runs. Stores the reason for each invalid run
        in `self.void`.
        """
        print(flush=True)
        runs = ifdtestbed.stream_valid(cases, self.directory, AT_ONCE)
        self.void = [run.why_void() for run in runs.values() if run.why_void()]
        return {name: run for name, run in runs.items() if not run.why_void()}

    def skip_void(self):
        if self.void:
            self.skipTest("; ".join(self.void))

    def hold(self, run, what, ours, maximum):
        with self.subTest(run.name, what=what):
            self.assertLessEqual(ours, maximum)


class MustHold(Streams):
    def live(self, run, link):
        """Returns the results of the run that are compared with limits: a list
        of (name of the result, result, maximum). The test fails if a result
        exceeds its maximum."""
        return [("foreign frames", run.foreign_frames, 0),
                ("I-frames lost", run.lost.get("I", 0), 0),
                ("% of P lost", run.lost_share("P"), link.p_lost),
                ("s from 60", abs(run.end - SECONDS), 0.5),
                ("ms late", run.max, ifdtestbed.MS_IN_TIME),
                ("ms late, p99", run.p99, link.p99)]

    def limits(self, case, run):
        name, rate, algorithm = case.split(", ")
        link = LINKS[name]
        if rate == "6 Mbit/s":
            b_lost, decodable = ALGORITHMS[algorithm]
            return [*self.live(run, link),
                    ("% of B lost", run.lost_share("B"), b_lost),
                    ("% not decodable", 100 - run.decodable_share(),
                     100 - decodable)]
        return [*self.live(run, link), (
            "% lost", run.all_lost_share(),
            link.lost_at_4 if rate == "4 Mbit/s" else 0)]

    def is_excused(self, case, run):
        """Returns whether the run exceeds a limit after the emulated radio has
        lost packets. The radio loses a packet if all attempts to transmit it
        fail. The radio card then reduces its rate to 1 Mbit/s for up to three
        seconds. At this rate, an I-frame of the 6 Mbit/s clip takes about 0.7
        s (docs/ifd.md). Frames are then late, no matter which frames IFD
        drops.

        The caller prints such a run and repeats it. The last repetition
        counts, even if it also exceeds a limit.
        """
        return run.air and any(
            ours > maximum for _, ours, maximum in self.limits(case, run))

    def check(self, name):
        link = LINKS[name]
        cases = {f"{name}, 6 Mbit/s, {algorithm}": ifdtestbed.Case(
            ifdtestbed.ifd(algorithm), link.place(), self.clip(6))
            for algorithm in ALGORITHMS}
        cases.update({f"{name}, {rate} Mbit/s, gop": ifdtestbed.Case(
            ifdtestbed.ifd(), link.place(), self.clip(rate))
            for rate in (3, 4)})
        runs, void = self.stream(cases), self.void
        for _ in range(ROUNDS):
            again = {case: cases[case] for case, run in runs.items()
                     if self.is_excused(case, run)}
            if again:
                runs.update(self.stream(again))
                void += self.void
        for case, run in runs.items():
            for limit in self.limits(case, run):
                self.hold(run, *limit)
        self.void = void
        self.skip_void()

    @ifdtestbed.needs_all
    def test_bottleneck(self):
        self.check("bottleneck")

    @ifdtestbed.needs_all
    def test_radio(self):
        self.check("radio")

    @ifdtestbed.needs_all
    def test_radio_with_oven(self):
        self.check("radio with oven")


class SideBySide(Streams):
    """Sends the same clip of 6 Mbit/s over the same kind of bottleneck, which
    has 5 Mbit/s. One run uses IFD, and the others use other transports.
    """

    def case(self, transport, is_paced=True):
        return ifdtestbed.Case(transport, ifdtestbed.Bottleneck(), self.clip(6),
                           is_paced)

    def check_ifd(self, run):
        self.hold(run, "% not decodable", 100 - run.decodable_share(), 30)
        self.hold(run, "ms late", run.max, ifdtestbed.MS_IN_TIME)

    @ifdtestbed.needs_all
    def test_transports(self):
        for element in ("srtsink", "ristsink"):
            if not test_testbed.has_element(element):
                self.skipTest(f"there is no {element}")
        runs = self.stream({
            "ifdsink": self.case(ifdtestbed.ifd()),
            "tcpclientsink": self.case(ifdtestbed.transport("tcp"), False),
            "srtsink": self.case(ifdtestbed.transport("srt"), False),
            "ristsink": self.case(ifdtestbed.transport("rist"), False),
            "rtpmpvpay": self.case(ifdtestbed.transport("rtp-stock"), False),
            "rfc2250pay": self.case(ifdtestbed.transport("rtp"), False),
        })
        ours = runs.pop("ifdsink", None)
        if ours:
            self.check_ifd(ours)
            for run in runs.values():
                self.hold(run, "% decodable in time", run.in_time_share(),
                          ours.in_time_share())
        self.skip_void()


class Udp(Streams):
    """Tests IFD over UDP, with the payload format of RFC 2250. Ouwens (2006)
    names this as future work, in the items 5 and 6 of his list.
    """

    @ifdtestbed.needs_all
    def test_socket_that_waits(self):
        """The test needs a sender that is slowed down by its socket, and not
        by losses. The packets pass through two buffers: first the small send
        buffer of the socket, then the larger queue of a token bucket. The send
        buffer becomes full first. The sender then has to wait, and no packet
        is dropped.
        """
        def case(queue, is_paced, transport="rtp", sink="udpsink"):
            return ifdtestbed.Case(
                ifdtestbed.transport(transport, **{
                    "rfc2250pay": f"{queue}rfc2250pay",
                    sink: f"{sink} {ifdtestbed.SMALL_BUFFER}"}),
                ifdtestbed.Bottleneck(ifdtestbed.UDP_BUCKET), self.clip(6),
                is_paced)

        cases = {
            "blocking socket": case("", False),
            "ifdqueue": case("ifdqueue ! ", True),
            "ifdqueue algorithm=paper": case(
                "ifdqueue algorithm=paper ! ", True)}
        if test_testbed.has_element("udplitesink"):
            cases["ifdqueue, UDP-Lite"] = case(
                "ifdqueue ! ", True, "udplite", "udplitesink")
        runs = self.stream(cases)
        self.skip_void()
        plain, *others = runs.values()
        for run in others:
            self.hold(run, "% decodable in time, without it",
                      plain.in_time_share(), run.in_time_share())

    @ifdtestbed.needs_all
    def test_queue_of_the_link(self):
        """Compares three kinds of queue in the emulated link: drop-tail,
        drop-frame and ifd. The share of frames that arrive in time must not be
        lower with drop-frame than with drop-tail, and not lower with ifd than
        with drop-frame.

        The latency of the jitter buffer is 0 in this test. The link keeps the
        order of packets, so a missing packet never arrives later. With a
        higher latency, the jitter buffer would wait for it in vain.
        """
        transport = ifdtestbed.transport("rtp")
        transport["receiver"] = transport["receiver"].replace(
            "latency=200", "latency=0")
        runs = self.stream({
            f"queue={queue}": ifdtestbed.Case(
                transport, ifdtestbed.Radio(f"{CARD} queue={queue}"),
                self.clip(6))
            for queue in ("drop-tail", "drop-frame", "ifd")})
        self.skip_void()
        shares = [run.in_time_share() for run in runs.values()]
        self.assertEqual(shares, sorted(shares))


class Tables(Streams):
    """Runs IFD with the algorithm that Ouwens (2006) describes, and compares
    the results with his tables 3.19 to 3.22 (section 3.9).
    """

    def check_table(self, retries, sink, path):
        cases = {
            f"{rate} Mbit/s, retry {retry}, {'oven' if oven else 'no oven'}":
            (rate, retry, oven)
            for rate in OUWENS for retry in retries for oven in (0, 1)}
        runs = self.stream({name: ifdtestbed.Case(
            ifdtestbed.transport("ifd", ifdsink=sink), ifdtestbed.Radio(
                f"profile=80211b txqueuelen=40 retry-limit={retry} "
                + oven * ifdtestbed.OVEN), self.clip(rate))
            for name, (rate, retry, oven) in cases.items()})
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps([[*cases[name], dataclasses.asdict(run)]
                                    for name, run in runs.items()]))
        for run in runs.values():
            self.hold(run, "foreign frames", run.foreign_frames, 0)
            # The loss shares must have the same order as in Ouwens' tables.
            # The share of lost P-frames must not exceed that of B-frames, and
            # the share of lost I-frames must not exceed that of P-frames.
            self.hold(run, "% of P lost", run.lost_share("P"),
                      run.lost_share("B"))
            self.hold(run, "% of I lost", run.lost_share("I"),
                      run.lost_share("P"))
        self.skip_void()

    @ifdtestbed.needs_all
    def test_tables(self):
        self.check_table(OUWENS[3], "ifdsink algorithm=paper", TABLES)

    @ifdtestbed.needs_all
    def test_as_much_unsent_as_the_kernel_likes(self):
        """Ouwens used a socket with Linux's default settings. By default,
        Linux does not limit how much unsent data waits in a TCP socket. The
        element ifdsink normally sets such a limit. With notsent-lowat=0, it
        keeps the default of Linux.
        """
        self.check_table(
            [4], "ifdsink algorithm=paper notsent-lowat=0", FREE_TABLES)


def print_tables(path):
    """Prints the tables as Markdown."""
    runs = json.loads(path.read_text())
    for rate in OUWENS:
        print(f"\n| {rate} Mbit/s: R, oven | I | P | B | all, % "
              "| decodable, % | late, 99 %, worst, ms |\n|"
              + 7 * " --- |")
        for own_rate, retry, oven, run in runs:
            if own_rate == rate:
                print_row(retry, oven, ifdtestbed.Run(**run),
                          OUWENS[rate][retry][oven])


def print_row(retry, oven, run, theirs):
    lost = " | ".join(f"{his:.1f} / {run.lost.get(type, 0)}"
                      for type, his in zip("IPB", theirs))
    print(f"| {retry}, {'yes' if oven else 'no'} | {lost} "
          f"| {100 * sum(theirs) / 1499:.1f} / {run.all_lost_share():.1f} "
          f"| {run.decodable_share():.1f} | {run.p99:.0f}, {run.max:.0f} |")


if __name__ == "__main__":
    if "--tables" in sys.argv:
        print_tables(TABLES)
        print_tables(FREE_TABLES)
    else:
        unittest.main()
