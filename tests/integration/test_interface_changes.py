# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the element mmtpsink with channels=auto, so that it uses all network
interfaces. Meanwhile the interfaces change all the time.

The sender has two network devices. In each change, one of them goes down and
comes back, gets another address, or gets another name. All these changes can
also happen when a USB modem is unplugged and plugged in again. At the end,
mmtpsink must still send over both devices. It must not have more file
descriptors and threads than after the first changes. The environment variable
INTERFACE_CHANGES sets the number of changes.
"""

import os
import random
import signal
import subprocess
import time
import unittest

import linktestbed
import test_soak
import test_testbed

CHANGES = int(os.environ.get("INTERFACE_CHANGES", "1000"))
PORT = 5004
LINKS = ("fast=a,b: rate=4000000 delay-ms=20",
         "slow=a,b: rate=2000000 delay-ms=50")
PACKETS_PER_SECOND = 50
SENDER = ("exec gst-launch-1.0 -m videotestsrc is-live=true ! "
          "video/x-raw,format=RGB,width=16,height=16,"
          f"framerate={PACKETS_PER_SECOND}/1 ! rtpvrawpay ! "
          f"mmtpsink host=$b_fast port={PORT} latency=450 channels=auto "
          "sync=false")
RECEIVER = (f"exec gst-launch-1.0 -q mmtpsrc port={PORT} ! "
            "filesink buffer-mode=unbuffered location=")
SECONDS_DOWN = 0.02
SECONDS_BETWEEN_CHANGES = 0.05
SECONDS_TO_SETTLE = 2
CHANGES_BETWEEN_SAMPLES = 50


class Device:
    """A network device of host a. During the test, it gets other names and
    addresses.
    """

    def __init__(self, name, address):
        self._link = name
        self.name = name
        network, _ = address.rsplit(".", 1)
        self._network = network
        self.address = address

    def route(self):
        """Returns the shell command that adds a route to the receiver through
        this device. The test runs the command after each change of the device.
        On a real host, a DHCP client would add this route.
        """
        if self._link == "fast":  # the receiver's own network
            return "true"
        return (f"ip route replace $b_fast via $b_{self._link} "
                f"dev {self.name} metric 100")

    def commands(self, change, number):
        """Returns the shell commands that make the change `change` at this
        device. If the change gives the device a new name or a new address, the
        new value is derived from `number`.
        """
        down = f"ip link set {self.name} down; sleep {SECONDS_DOWN}; "
        if change == "goes and comes":
            return down + f"ip link set {self.name} up"
        if change == "gets another name":
            old, self.name = self.name, f"usb{number}"
            return (down + f"ip link set {old} name {self.name}; "
                    f"ip link set {self.name} up")
        assert change == "gets another address"
        old = self.address
        last = 100 + number % 100
        self.address = f"{self._network}.{last}"
        # The prefix length is read from the old address and is used for the
        # new address.
        return (f"prefix=$(ip -o -4 addr show dev {self.name} | "
                "awk '{ split($4, part, \"/\"); print part[2] }'); "
                f"ip addr del {old}/$prefix dev {self.name}; "
                f"sleep {SECONDS_DOWN}; "
                f"ip addr add {self.address}/$prefix dev {self.name}")


class InterfaceChangesTest(linktestbed.LinkCase):

    CHANGES = ("goes and comes", "gets another name", "gets another address")

    def wait_for_state(self, name, state):
        def is_so():
            states = linktestbed.path_states(self.log.read_text(), name)
            return states[-1:] == [state]
        self.assertTrue(test_testbed.wait_for(is_so),
                        f"{name} is not {state}")

    def wait_until_received(self):
        size = self.received.stat().st_size
        self.assertTrue(test_testbed.wait_for(
            lambda: self.received.stat().st_size > size + 10000),
            "nothing arrives any more")

    def start(self, bed):
        self.received = self.directory / "received"
        self.log = self.directory / "sender.txt"
        bed.popen("b", RECEIVER + str(self.received))
        bed.wait_listening("b", "udp", PORT)
        with open(self.log, "w") as log:
            sender = bed.popen("a", SENDER, stdout=log,
                               stderr=subprocess.STDOUT)
        for name in ("fast", "slow"):
            self.wait_for_state(name, "active")
        return sender

    @test_testbed.needs_namespaces
    def test_nothing_leaks(self):
        bed = self.open(*LINKS)
        devices = [Device(name, self.text(
            bed, "a", f"ip -o -4 addr show dev {name} | "
            "awk '{ split($4, part, \"/\"); print part[1] }'"))
            for name in ("fast", "slow")]
        for device in devices:
            self.text(bed, "a", device.route())
        sender = self.start(bed)
        pid = test_soak.find_pipeline(sender.pid)
        draws = random.Random(1)
        samples = []
        for number in range(CHANGES):
            device = draws.choice(devices)
            self.text(bed, "a", device.commands(
                draws.choice(self.CHANGES), number) + "; " + device.route())
            time.sleep(SECONDS_BETWEEN_CHANGES)
            if number % CHANGES_BETWEEN_SAMPLES == CHANGES_BETWEEN_SAMPLES - 1:
                self.assertIsNone(sender.poll(), "mmtpsink ended")
                samples.append(test_soak.read_sample(pid))
        for device in devices:
            self.wait_for_state(device.name, "active")
        self.wait_until_received()
        time.sleep(SECONDS_TO_SETTLE)
        last = test_soak.read_sample(pid)
        print(f"{CHANGES} changes: file descriptors {samples[0].descriptors} "
              f"to {last.descriptors}, threads {samples[0].threads} to "
              f"{last.threads}")
        early = samples[:max(1, len(samples) // 4)]
        # mmtpsink opens and closes paths during the changes. Each path that is
        # being opened or closed has a file descriptor of its own, so the
        # numbers of file descriptors and threads vary. The numbers after the
        # last change must not exceed the maximum of the first quarter of the
        # test.
        for what in ("descriptors", "threads"):
            self.assertLessEqual(
                getattr(last, what),
                max(getattr(sample, what) for sample in early), what)
        sender.send_signal(signal.SIGINT)
        self.assertEqual(sender.wait(test_soak.SECONDS_TO_END), 0)


if __name__ == "__main__":
    unittest.main()
