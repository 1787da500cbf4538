# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs two kinds of recipes from the pages in docs/:

- a session description (SDP), with GStreamer and with ffmpeg;
- commands that give each link its own routing table.

Each recipe is run as its page shows it. Recipes that consist of launch lines
are run by tests/docs.
"""

import os
import pathlib
import re
import subprocess
import tempfile
import textwrap
import time
import unittest

import clips

from wirelesslab.testbed import testbed

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"])


SECONDS = 60
FRAMES = 50
# Minimum number of frames that must arrive. It is half of all frames, because
# a UDP receiver may miss the first packets while it starts. Up to half of the
# frames may be lost in this way.
MUST_ARRIVE = FRAMES // 2
DESCRIPTION = "clip.sdp"
SENDER = ("gst-launch-1.0 -q filesrc location={clip} ! rfc2250pay "
          "! udpsink host=127.0.0.1 port=5004")


def page(name):
    return (SOURCE / "docs" / name).read_text()


def spans(text, pattern):
    """Returns the code spans (text between backquotes) of a page that match
    `pattern`. The page is treated as one line, so a code span may contain a
    line break.
    """
    return re.findall(rf"`{pattern}`", re.sub(r"\s+", " ", text))


def block(text, first):
    """Returns an indented block of a page: the block whose first line begins
    with `first`."""
    found = re.search(rf"^(?: {{4}}{first}.*\n)(?: {{4}}.*\n)*", text, re.M)
    return textwrap.dedent(found[0])


def wait_for(condition, what):
    deadline = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(what)
        time.sleep(0.05)


class RecipeCase(unittest.TestCase):

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.home = pathlib.Path(directory.name)

    def bed(self, links):
        bed = testbed.Testbed(links, build=BUILD)
        bed.__enter__()
        self.addCleanup(bed.__exit__, None, None, None)
        if bed.mode == "relay":
            self.skipTest(f"needs network namespaces; there are {bed.left_out}")
        return bed

    def start(self, bed, host, command):
        child = bed.popen(host, command, stdout=subprocess.DEVNULL)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child


class DescriptionTest(RecipeCase):
    """Tests the recipe of docs/recipes.md that uses a session description
    (SDP). Each test has its own network namespace, so no other program uses
    port 5004 there.
    """

    def setUp(self):
        super().setUp()
        self.host = self.bed(["wl0=a,b: none"])
        self.description = self.home / DESCRIPTION
        self.description.write_text(block(page("recipes.md"), "v=0"))
        self.sender = SENDER.format(clip=clips.small(FRAMES))

    def stream_until(self, arrived, what):
        self.host.wait_listening("a", "udp", 5004)
        self.host.run("a", self.sender, check=True, timeout=SECONDS)
        wait_for(arrived, what)

    def test_gstreamer_receives_by_it(self):
        (receiver,) = spans(
            page("recipes.md"), rf"(filesrc location={DESCRIPTION} ! [^`]*)")
        log = self.home / "arrived.csv"
        self.start(self.host, "a",
                   f"cd {self.home} && exec gst-launch-1.0 {receiver} "
                   f"! mpegstat location={log} ! fakesink sync=false")
        self.stream_until(
            lambda: log.exists()
            and log.read_text().count("\nframe,") >= MUST_ARRIVE, "frames")

    def test_ffmpeg_receives_by_it(self):
        (options,) = spans(
            page("recipes.md"), rf"ffplay ([^`]* {DESCRIPTION})")
        options = options.replace(DESCRIPTION, f"-i {self.description}")
        log = self.home / "pictures.txt"
        self.start(self.host, "a",
                   f"exec ffmpeg -nostdin -v error {options} "
                   f"-flush_packets 1 -f framemd5 {log}")
        self.stream_until(
            lambda: log.exists() and log.read_text().count("\n0,") > 0,
            "a picture")


class SourceRoutingTest(RecipeCase):
    """Runs the commands of the page docs/mmtpsink.md with the addresses and
    devices of the testbed instead of those on the page.
    """

    # Replacements for the addresses and devices in the commands on the page
    # docs/mmtpsink.md: each key is an address or a device on the page, and its
    # value is the one in the testbed. In the testbed, the host a has two links
    # to the host b. The host b replaces the routers of both links.
    THEIRS = {"192.0.2.7": "10.77.0.1", "192.0.2.1": "10.77.0.2",
              "198.51.100.9": "10.77.1.1", "198.51.100.1": "10.77.1.2",
              "wlan0": "wl0", "usb0": "wl1", "203.0.113.1": "10.99.0.1"}

    def ours(self, commands):
        return re.sub("|".join(map(re.escape, sorted(
            self.THEIRS, key=len, reverse=True))),
            lambda found: self.THEIRS[found[0]], commands)

    def test_each_link_has_its_own_route(self):
        bed = self.bed(["wl0=a,b: none", "wl1=a,b: none"])
        text = page("mmtpsink.md")
        asks = self.ours(block(text, "ip route get"))
        # At first, the host "a" has only one default route, as most hosts do.
        # This route uses the first link, so the second link carries no
        # packets. Then the commands on the page mmtpsink.md are run in the
        # host "a". Afterwards, packets from the address of the second link
        # must leave through the second link.
        bed.run("a", "ip route add default via 10.77.0.2", check=True)
        before = self.way(bed, asks)
        bed.run("a", "set -e\n" + self.ours(block(text, "ip route add")),
                check=True)
        self.assertNotIn("via 10.77.1.2", before)
        self.assertIn("via 10.77.1.2 dev wl1", self.way(bed, asks))

    def way(self, bed, asks):
        return bed.run("a", asks, stdout=subprocess.PIPE, text=True).stdout

    def test_a_stream_uses_both_links(self):
        bed = self.bed(["wl0=a,b: none", "wl1=a,b: none"])
        bed.run("a", "ip route add default via 10.77.0.2", check=True)
        bed.run("a", "set -e\n" + self.ours(
            block(page("mmtpsink.md"), "ip route add")), check=True)
        bed.run("b", "ip address add 10.99.0.1/32 dev lo", check=True)
        log = self.home / "arrived.csv"
        self.start(bed, "b", "exec gst-launch-1.0 mmtpsrc address=10.99.0.1 "
                   f"port=5004 ! rfc2250depay ! mpegstat location={log} "
                   "! fakesink sync=false")
        bed.wait_listening("b", "udp", 5004)
        said = bed.run(
            "a", f"gst-launch-1.0 -m filesrc location={clips.small(FRAMES)} "
            "! rfc2250pay ! mmtpsink host=10.99.0.1 port=5004",
            stdout=subprocess.PIPE, text=True, timeout=SECONDS).stdout
        active = set(re.findall(r"mmtp-channel,[^;]*name=\(string\)(\w+)"
                                r"[^;]*state=\(string\)active", said))
        self.assertEqual(active, {"wl0", "wl1"}, said[-3000:])
        wait_for(lambda: log.read_text().count("\nframe,") >= MUST_ARRIVE,
                 "frames")


if __name__ == "__main__":
    unittest.main()
