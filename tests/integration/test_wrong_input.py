# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the error messages that gst-launch-1.0 prints when a user feeds the
wrong kind of stream to an element.

Each pipeline runs in a process of its own, because a sink with an open socket
can block a state change of the whole program. The sinks send to 127.0.0.1. No
program listens there, so the errors do not depend on an answer.
"""

import concurrent.futures
import pathlib
import subprocess
import tempfile
import unittest

SECONDS = 20
LINES_AT_A_TIME = 2
SINK = "fakesink async=false"
PICTURES = "-f lavfi -i testsrc=size=64x64:rate=10:duration=1 -pix_fmt yuv420p"
TONE = "-f lavfi -i sine=duration=1"
INPUTS = {
    "video.m2v": f"{PICTURES} -c:v mpeg2video",
    "video.ts": f"{PICTURES} -c:v mpeg2video",
    "video.mpg": f"{PICTURES} -c:v mpeg2video -f vob",
    "video.mp4": f"{PICTURES} -c:v mpeg4",
    "video.mkv": f"{PICTURES} -c:v mpeg2video",
    "video.avi": f"{PICTURES} -c:v mpeg2video",
    "video.h264": f"{PICTURES} -c:v libx264",
    "audio.mp2": f"{TONE} -c:a mp2",
}

# Texts that GStreamer prints when an element fails without posting an error
# message. The output must not contain them.
NEVER = ["failed to post a proper error message", "Internal GStreamer error"]

RTP = ["rfc2250depay0 takes RTP packets", "udpsrc caps=", "application/x-rtp"]
BYTES = {
    "video.ts": ["MPEG transport stream", "mmtpsink or dccpthinsink",
                 "tsdemux upstream of {name}"],
    "video.mpg": ["MPEG program stream", "mpegpsdemux upstream of {name}"],
    "video.mp4": ["MP4 or QuickTime", "qtdemux upstream of {name}"],
    "video.mkv": ["Matroska or WebM", "matroskademux upstream of {name}"],
    "video.avi": ["AVI file", "avidemux upstream of {name}"],
    "audio.mp2": ["MPEG audio", "{name} takes video only"],
    "text.txt": ["No MPEG-1 or MPEG-2 video frame", "{name} takes"],
    "zeros": ["No MPEG-1 or MPEG-2 video frame", "{name} takes"],
}
PARSE = ["H.264", "h264parse upstream of {name}"]
MPEG_ONLY = ["H.264", "{name} takes MPEG-1 and MPEG-2 video only"]

# Tuples (element, end of the pipeline after filesrc, texts). If the input is
# raw H.264 video, the element must fail, and its error message must contain
# the texts in the tuple.
TAKES_BYTES = [
    ("rfc2250pay", f"rfc2250pay ! {SINK}", MPEG_ONLY),
    ("mpegstat", f"mpegstat ! {SINK}", PARSE),
    ("ifdqueue", f"ifdqueue ! {SINK}", PARSE),
    ("ifdsink", "ifdsink host=127.0.0.1 port=9", PARSE),
]
# Pairs of a sink and a list of texts. The error message of the sink must
# contain these texts. The host name no.such.invalid does not exist, because
# RFC 6761 reserves the domain invalid.
NOBODY = [
    # The element ifdsink contains other elements. The error must come from
    # ifdsink itself and not from an element that it contains.
    ("ifdsink host=no.such.invalid", ["ifdsink0: ", "no.such.invalid"]),
    ("mmtpsink host=no.such.invalid", ["no.such.invalid"]),
    ("dcctpthinsink host=no.such.invalid", ["no.such.invalid"]),
    ("udplitesink host=no.such.invalid", ["no.such.invalid"]),
    ("mmtpsink host=127.0.0.1 channels=nonexistent0", ["nonexistent0"]),
]


def make_inputs(directory):
    for name, options in INPUTS.items():
        subprocess.run(
            ["ffmpeg", "-v", "error", "-y", *options.split(), name],
            cwd=directory, check=True, timeout=SECONDS,
            stdin=subprocess.DEVNULL)
    (directory / "text.txt").write_text("This is a line of text.\n" * 400)
    (directory / "zeros").write_bytes(bytes(20_000))


def launch(directory, line):
    """Runs gst-launch-1.0 with the pipeline `line`. Returns the exit status and
    everything that was printed."""
    done = subprocess.run(
        ["gst-launch-1.0", *line.split()], cwd=directory, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=SECONDS)
    return done.returncode, done.stdout


def wrong_inputs():
    """Yields pairs of a pipeline and a list of texts. The error message of the
    pipeline must contain all of these texts."""
    for name, line, about_h264 in TAKES_BYTES:
        for source, contents in {**BYTES, "video.h264": about_h264}.items():
            yield (f"filesrc location={source} ! {line}",
                   [text.format(name=f"{name}0") for text in contents])
    for source in ("video.m2v", "video.ts", "text.txt"):
        yield f"filesrc location={source} ! rfc2250depay ! {SINK}", RTP


def no_receivers():
    for sink, contents in NOBODY:
        yield f"filesrc location=video.m2v ! {sink}", contents


class WrongInput(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.directory = pathlib.Path(temporary.name)
        make_inputs(cls.directory)

    def check(self, table):
        with concurrent.futures.ThreadPoolExecutor(LINES_AT_A_TIME) as pool:
            results = list(pool.map(
                lambda row: launch(self.directory, row[0]), table))
        for (line, contents), (status, output) in zip(table, results):
            with self.subTest(line=line):
                errors = [text for text in output.splitlines()
                          if text.startswith("ERROR: from element")]
                # If an element fails, elements upstream of it may post a
                # second error, "Internal data stream error". The test ignores
                # this second error.
                errors[1:] = [text for text in errors[1:]
                              if "Internal data stream error" not in text]
                self.assertNotEqual(status, 0, output)
                self.assertEqual(len(errors), 1, output)
                for text in contents:
                    self.assertIn(text, errors[0], output)
                for text in NEVER:
                    self.assertNotIn(text, output)

    def test_the_error_names_the_stream_and_what_it_needs(self):
        self.check(list(wrong_inputs()))

    def test_a_receiver_that_does_not_exist_is_an_error(self):
        self.check(list(no_receivers()))


if __name__ == "__main__":
    unittest.main()
