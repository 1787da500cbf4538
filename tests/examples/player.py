#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plays a URI and prints the statistics of its source every second, like
player.c but in Python. Needs Debian's python3-gi and gir1.2-gstreamer-1.0.

  player.py mmtp://0.0.0.0:5004
"""

import argparse
import signal
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

# The player prints these fields of the source's structure "stats", in this
# order. It skips the fields that a source does not have. The documentation
# page of each source element describes all its fields.
FIELDS = ("packets", "buffers", "bytes", "missing", "lost", "late", "recovered",
          "partly-covered", "bad-checksum", "dropped", "dropped-full",
          "loss-events")


class Player:

    def __init__(self, uri, headless):
        self.loop = GLib.MainLoop()
        self.source, self.failed = None, False
        self.frames = self.seconds = 0
        self.playbin = Gst.ElementFactory.make("playbin3")
        for kind in ("video", "audio"):
            sink = Gst.ElementFactory.make(
                "fakesink" if headless else f"auto{kind}sink")
            if headless:
                sink.set_property("sync", True)
            if kind == "video":
                self.screen = sink
                sink.get_static_pad("sink").add_probe(
                    Gst.PadProbeType.BUFFER, self.count_frame)
            self.playbin.set_property(f"{kind}-sink", sink)
        self.playbin.set_property("uri", uri)
        self.playbin.connect("source-setup", self.source_is_there)

    # ----------------------------------------------------------- the statistics

    def count_frame(self, _pad, _info):
        self.frames += 1
        return Gst.PadProbeReturn.OK

    def show(self):
        words = [f"{self.seconds:4} s  frames {self.frames}"]
        # Some source elements have no property `stats`. Others have it, but
        # without some of the fields in FIELDS.
        stats = (self.source and self.source.find_property("stats")
                 and self.source.get_property("stats"))
        for name in FIELDS if stats else ():
            if stats.has_field(name):
                words.append(f"{name} {stats.get_value(name)}")
        print("  ".join(words), flush=True)

    def show_each_second(self):
        self.seconds += 1
        self.show()
        return GLib.SOURCE_CONTINUE

    # ----------------------------------------------------- messages of playbin3

    def source_is_there(self, _playbin, source):
        """This function is called for each source. playbin3 makes a new source
        if the URI changes.
        """
        self.source = source

    def is_closed_window(self, sink, error):
        """Returns whether the error means that the user has closed the window
        of the video. GStreamer has no special error code for this case. An
        element inside the video sink posts the general error NOT_FOUND.
        """
        return (error.matches(Gst.ResourceError.quark(),
                              Gst.ResourceError.NOT_FOUND)
                and not isinstance(sink, Gst.Bin)
                and sink.has_as_ancestor(self.screen))

    def take_message(self, _bus, message):
        if message.type == Gst.MessageType.ERROR:
            error, details = message.parse_error()
            if not self.is_closed_window(message.src, error):
                print(f"{message.src.get_name()}: {error.message}\n{details}",
                      file=sys.stderr)
                self.failed = True
            self.loop.quit()
        elif message.type == Gst.MessageType.EOS:
            self.loop.quit()
        elif message.type == Gst.MessageType.LATENCY:
            # An element posts a LATENCY message when its latency has changed.
            # For example, mmtpsrc posts it when the sender requests another
            # latency.
            self.playbin.recalculate_latency()
        elif (message.type == Gst.MessageType.ELEMENT
              and message.src == self.source):
            print(f"        {message.get_structure().to_string()}", flush=True)

    # ------------------------------------------------------------------ playing

    def play(self):
        bus = self.playbin.get_bus()
        bus.add_signal_watch()
        bus.connect("message", self.take_message)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self.loop.quit())
        GLib.timeout_add_seconds(1, self.show_each_second)
        self.playbin.set_state(Gst.State.PLAYING)
        self.loop.run()
        # The statistics are printed before the state changes to NULL, because
        # the counters start at zero again in the state NULL.
        self.show()
        self.playbin.set_state(Gst.State.NULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("uri", help="URI of the stream that is played")
    parser.add_argument("--headless", action="store_true",
                        help="print the statistics without showing video "
                        "or playing sound")
    options = parser.parse_args()
    Gst.init(None)
    player = Player(options.uri, options.headless)
    player.play()
    sys.exit(player.failed)


if __name__ == "__main__":
    main()
