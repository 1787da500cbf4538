# SPDX-License-Identifier: LGPL-2.1-or-later
"""Streams with every pair of sink and source of the project for 20 minutes in
real time. All streams use one emulated link with outages and losses. No
process may need more memory, file descriptors or threads in the last quarter
of the run than in the second quarter. The counters of the sender and of the
receiver must agree.

The environment variable SOAK_SECONDS sets another duration.
"""

import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

import linktestbed
import test_testbed

SECONDS = int(os.environ.get("SOAK_SECONDS", "1200"))
SECONDS_BETWEEN_SAMPLES = 1
SECONDS_TO_CONNECT = 5
SECONDS_TO_END = 30
# The link has two kinds of faults. In an outage, which lasts 2 s on average,
# packets wait in the queue. In a loss period, which lasts 1 s on average, all
# packets are lost. Outages and loss periods together last for about six
# seconds of each minute.
LINK = ("rate=4000000 delay-ms=20 queue-bytes=64000 seed=1 "
        "outage-good=30000000000 outage-bad=2000000000 "
        "mean-good=30000000000 mean-bad=1000000000 loss-bad=1")
FRAMES_PER_SECOND = 50
# Maximum difference between the number of packets that the sender has counted
# and the number that the receiver has counted. The sender and the receiver
# post their statistics every second, but not at the same moment. A packet that
# arrives between these two moments is counted by only one of them.
MAX_UNDER_WAY = 5 * FRAMES_PER_SECOND
# Limit in bytes for the growth of a process's memory. The growth is the peak
# of the memory in the last quarter of the run minus the peak of the memory in
# the second quarter. A leak of about 30 bytes per packet would reach this
# limit.
MAX_GROWTH = 1 << 20
STATS = "stats-update-interval=1000"
# Outages and loss periods have random durations. By chance, they may follow one
# another for more than 10 s, which is the default of peer-timeout. A peer that
# is silent for that long must not count as gone in this test.
PEER_TIMEOUT = "peer-timeout=60000"
PACKETS = ("videotestsrc is-live=true ! video/x-raw,format=RGB,width=16,"
           f"height=16,framerate={FRAMES_PER_SECOND}/1 ! rtpvrawpay ! ")
# The source of the stream is a file. A file is not a live source, so the
# element ifdsink itself has to send each frame when it is due.
VIDEO = "filesrc location={video} ! "
VIDEO_RATE = 25
SECONDS_TO_SPARE = 60
CAPS = ("application/x-rtp,media=video,encoding-name=RAW,clock-rate=90000,"
        "payload=96,sampling=RGB,depth=(string)8,width=(string)16,"
        "height=(string)16")
SINK = " ! fakesink sync=false async=false"
STRUCTURE = re.compile(r"application/x-[\w-]+-stats, (.*)")
COUNTER = re.compile(r"([\w-]+)=\(guint64\)(\d+)")
# Matches the names of those statistics that are counters. A counter must never
# decrease. The names are the same for all elements.
MONOTONIC = re.compile(
    r"(packets|bytes|buffers|frames-in|sent|received|dropped|discarded|refused|"
    r"retransmitted|repairs|lost|loss-events|late|missing|incomplete|"
    r"duplicates|reordered|reports|sessions|connections|connect-attempts|"
    r"failures|feedback)(?!-waiting)(-.*)?")


@dataclasses.dataclass(frozen=True)
class Pair:
    sender: str
    receiver: str
    port: int
    # The kind of socket on which the receiver listens, such as "udp". It is ""
    # if the test need not wait until the receiver listens.
    protocol: str
    # The name of the method of SoakTest that checks the counters of this pair
    # of sender and receiver.
    check: str


PAIRS = {
    "mmtp": Pair(PACKETS + f"mmtpsink host=$b {STATS}",
                 f"mmtpsrc {STATS}", 5004, "udp", "check_mmtp"),
    "dcctpthin": Pair(PACKETS + f"dcctpthinsink host=$b {STATS} {PEER_TIMEOUT}",
                      f'dcctpthinsrc caps="{CAPS}" {STATS} {PEER_TIMEOUT}',
                      5005, "udp", "check_dccp"),
    "dccpthin": Pair(PACKETS + f"dccpthinsink host=$b {STATS} {PEER_TIMEOUT}",
                     f'dccpthinsrc caps="{CAPS}" {STATS} {PEER_TIMEOUT}',
                     5006, "udp", "check_dccp"),
    "udplite": Pair(PACKETS + f"udplitesink host=$b {STATS}",
                    f'udplitesrc caps="{CAPS}" address=0.0.0.0 {STATS}', 5007,
                    "", "check_udplite"),
    "ifd": Pair(VIDEO + f"ifdsink host=$b {STATS}",
                "tcpserversrc host=0.0.0.0", 5008, "tcp", "check_ifd"),
}


@dataclasses.dataclass(frozen=True)
class Sample:
    memory: int  # resident bytes
    descriptors: int
    threads: int


def read_sample(pid):
    process = pathlib.Path("/proc") / str(pid)
    status = dict(line.split(":", 1) for line in
                  (process / "status").read_text().splitlines())
    return Sample(int(status["VmRSS"].split()[0]) * 1024,
                  sum(1 for _ in (process / "fd").iterdir()),
                  int(status["Threads"]))


def find_pipeline(pid):
    """Returns the pid of a gst-launch-1.0 process. `pid` is a process that was
    started to run gst-launch-1.0. It may be a wrapper, for example a shell.
    gst-launch-1.0 is then one of its descendants.
    """
    process = pathlib.Path("/proc") / str(pid)
    if "gst-launch" in (process / "comm").read_text():
        return pid
    for child in (process / "task" / str(pid) / "children").read_text().split():
        found = find_pipeline(int(child))
        if found:
            return found
    return None


def read_stats(path):
    """Reads the messages with statistics from a file. Returns a list with one
    dictionary per message, which maps the name of each counter to its value.
    Counters in nested structures are left out."""
    return [{name: int(value) for name, value in COUNTER.findall(text)}
            for text in STRUCTURE.findall(path.read_text(errors="replace"))]


class SoakTest(linktestbed.LinkCase):
    def setUp(self):
        for element in ("mmtpsink", "dcctpthinsink", "udplitesink", "ifdsink",
                        "rtpvrawpay"):
            if not test_testbed.has_element(element):
                self.skipTest(f"{element} is not there")
        super().setUp()
        self.video = self.directory / "video.m2v"
        subprocess.run(
            ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i",
             f"testsrc=size=64x48:rate={VIDEO_RATE}", "-t",
             str(SECONDS + SECONDS_TO_SPARE), "-c:v", "mpeg2video", "-b:v",
             "200k", "-g", "12", "-bf", "2", self.video], check=True)

    def launch(self, name, host, pipeline):
        log = self.directory / f"{name}.out"
        with log.open("w") as output:
            return self.bed.popen(
                host, f"GST_DEBUG= exec gst-launch-1.0 -e -m {pipeline}",
                stdout=output, stderr=output)

    def start_pair(self, name, pair):
        where = f" port={pair.port}"
        receiver = self.launch(f"{name}-receiver", "b",
                               pair.receiver + where + SINK)
        if pair.protocol:
            self.bed.wait_listening("b", pair.protocol, pair.port)
        else:
            time.sleep(SECONDS_TO_CONNECT)
        self.began[name] = time.monotonic()
        sender = self.launch(f"{name}-sender", "a",
                             pair.sender.format(video=self.video) + where)
        return {f"{name}-sender": sender, f"{name}-receiver": receiver}

    def watch(self, processes):
        """Takes samples of the processes until the streams end. Returns {name
        of the process: [Sample]}.
        """
        pids = {name: find_pipeline(process.pid)
                for name, process in processes.items()}
        samples = {name: [] for name in processes}
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            for name, process in processes.items():
                self.assertIsNone(process.poll(), self.last_words(name))
                samples[name].append(read_sample(pids[name]))
            time.sleep(SECONDS_BETWEEN_SAMPLES)
        return samples

    def last_words(self, name):
        path = self.directory / f"{name}.out"
        words = path.read_text(errors="replace") if path.exists() else ""
        return f"{name} ended: {words[-2000:]}"

    def end(self, processes):
        """Ends all processes. The senders end before the receivers, so that
        the data that are in flight can still arrive.
        """
        self.ended = time.monotonic()
        for role in ("sender", "receiver"):
            chosen = [process for name, process in processes.items()
                      if name.endswith(role)]
            for process in chosen:
                process.send_signal(signal.SIGINT)
            for process in chosen:
                process.wait(SECONDS_TO_END)

    # --------------------------------------------------------------- the checks

    def check_samples(self, name, samples):
        quarter = len(samples) // 4
        before, after = samples[quarter:2 * quarter], samples[3 * quarter:]
        memory, descriptors, threads = (
            [[getattr(sample, what) for sample in part]
             for part in (before, after)]
            for what in ("memory", "descriptors", "threads"))
        print(f"{name}: memory {max(memory[0])} then {max(memory[1])}, "
              f"descriptors {max(descriptors[0])} then {min(descriptors[1])}, "
              f"threads {max(threads[0])} then {min(threads[1])}",
              file=sys.stderr, flush=True)
        self.assertLessEqual(max(memory[1]), max(memory[0]) + MAX_GROWTH, name)
        # The samples of a run are divided into four quarters. If the process
        # leaked descriptors or threads, their number would grow during the
        # whole run. Even the minimum number in the last quarter would then be
        # higher than the maximum number in the second quarter. This must not
        # be the case.
        #
        # The maximum number in the last quarter is not compared. When a
        # process reopens a connection, it has more descriptors and threads for
        # a moment. This increases the maximum number in the quarter, but not
        # the minimum number.
        self.assertLessEqual(min(descriptors[1]), max(descriptors[0]), name)
        self.assertLessEqual(min(threads[1]), max(threads[0]), name)

    def check_counters(self, name, stats):
        """Checks that no counter decreases."""
        self.assertGreater(len(stats), SECONDS / 4, f"{name}: messages")
        for earlier, later in zip(stats, stats[1:]):
            for field in earlier.keys() & later.keys():
                if MONOTONIC.fullmatch(field):
                    self.assertGreaterEqual(later[field], earlier[field],
                                            f"{name}: {field}")

    def check_sum(self, name, whole, *parts):
        """Checks that the counter `whole` equals the sum of the counters in
        `parts`. Packets that are still in flight are not yet in the sum. A
        difference of up to MAX_UNDER_WAY is therefore allowed.
        """
        self.assertGreater(whole, 0, name)
        self.assertAlmostEqual(whole, sum(parts), delta=MAX_UNDER_WAY,
                               msg=name)

    def check_share(self, name, sent, received, minimum):
        self.assertLessEqual(received, sent + MAX_UNDER_WAY, name)
        self.assertGreater(received, minimum * sent - MAX_UNDER_WAY, name)

    def count_frames(self, name, rate):
        """Returns how many frames the source of the sender `name` has
        produced. The number is computed from the frame rate `rate` and from
        the time for which the sender has run.
        """
        return int((self.ended - self.began[name]) * rate)

    def check_put(self, name, sent):
        """Checks that no packet of the source is unaccounted for: the sink
        must have sent it or counted it as dropped.
        """
        self.check_sum(name, self.count_frames(name, FRAMES_PER_SECOND),
                       sent["packets-sent"], *(
                           value for field, value in sent.items()
                           if field.startswith("dropped-")
                           and field != "dropped-received"))

    def check_mmtp(self, name, sent, received):
        self.check_put(name, sent)
        self.check_sum(name, sent["packets-sent"], sent["buffers"])
        # If the sender discards a packet, its sequence number never arrives.
        # The receiver then counts the packet as missing, like a packet that
        # the network lost.
        self.check_sum(name, sent["packets"], received["packets"],
                       received["missing"])
        self.check_share(name, sent["buffers"], received["buffers"], 0.5)

    def check_dccp(self, name, sent, received):
        data = sent["sent-data"] + sent["sent-data-ack"]
        arrived = received["received-data"] + received["received-data-ack"]
        self.check_put(name, sent)
        self.check_sum(name, sent["packets-sent"], data)
        self.check_sum(name, data, arrived, received["lost"])
        self.check_share(name, data, arrived, 0.5)
        self.check_sum(name, arrived, received["buffers"],
                       received["dropped-full"], received["dropped-paused"])

    def check_udplite(self, name, sent, received):
        self.check_put(name, sent)
        self.check_share(name, sent["packets-sent"], received["packets"], 0.5)

    def check_ifd(self, name, sent, received):
        self.check_sum(name, self.count_frames(name, VIDEO_RATE),
                       sent["frames-in"])
        self.check_sum(name, sent["frames-in"], sent["sent"], sent["dropped"],
                       sent["flushed"])
        self.check_share(name, sent["frames-in"], sent["sent"], 0.5)

    @test_testbed.needs_namespaces
    def test_pairs_stay_as_they_are(self):
        self.bed = self.open_link(LINK)
        self.began = {}
        processes = {}
        for name, pair in PAIRS.items():
            processes |= self.start_pair(name, pair)
        links = {f"link-{i}": process for i, process in
                 enumerate(self.bed.link_processes())}
        time.sleep(SECONDS_TO_CONNECT)
        samples = self.watch({**processes, **links})
        self.end(processes)
        for name, own in samples.items():
            with self.subTest(process=name):
                self.check_samples(name, own)
        for name, pair in PAIRS.items():
            ends = [read_stats(self.directory / f"{name}-{role}.out")
                    for role in ("sender", "receiver")]
            with self.subTest(pair=name):
                for stats in ends[:1 if name == "ifd" else 2]:
                    self.check_counters(name, stats)
                getattr(self, pair.check)(name, *(
                    stats[-1] if stats else None for stats in ends))


if __name__ == "__main__":
    unittest.main()
