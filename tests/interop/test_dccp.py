# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the DCCP elements dcctpthinsink and dcctpthinsrc against the DCCP of
Linux, which existed up to Linux 6.15.

An older kernel with DCCP runs in a virtual machine (QEMU). This kernel
exchanges packets with the elements over an emulated network (dccpnetwork.py).
The network drops some packets and records all packets. tshark and
dccppackets.py check every recorded packet. If a packet was not dropped, its
payload must arrive. No other payload may arrive.

With the argument `long`, the test streams one minute of a video clip instead
of 8 s.
"""

import collections
import dataclasses
import random
import shlex
import sys
import unittest

import clips
import dccpguest
import dccpnetwork
import dccppackets
import peers
import udplite
from rtpfile import RtpPacket, read_rfc4571
from udplite import sockets

from wirelesslab.streams import placement

PORT = 5004
PACKETS_PER_SECOND = 400
FRAMES_PER_SECOND = 25
IS_LONG = sys.argv[1:2] == ["long"]
SECONDS = 60 if IS_LONG else 8
SECONDS_TO_STREAM = 4 * SECONDS + 60
# By default, the properties seqnum-offset, timestamp-offset and ssrc of the
# payloader rfc2250pay have random values. With fixed values, two runs of
# rfc2250pay produce the same packets.
PAY = "rfc2250pay seqnum-offset=7 timestamp-offset=9 ssrc=11 mtu=1316"
HOST = dccpnetwork.HOST
GUEST = {"IPv4": "10.33.0.2", "IPv6": "fd33::2"}
OTHER_GUEST = {"IPv4": "10.33.0.3", "IPv6": "fd33::3"}
# Path of the directory with the saved states of the virtual machines (guests).
# setUpModule() sets it.
states = None


def setUpModule():
    reason = dccpguest.why_none()
    if reason:
        raise unittest.SkipTest(reason)
    udplite.enter_own_network()
    reason = dccpnetwork.why_none()
    if reason:
        raise unittest.SkipTest(reason)
    global states
    states = unittest.enterModuleContext(peers.workdir())


def noise_packets(count, size=1316):
    """Returns `count` RTP packets of `size` bytes with random contents, as
    pairs (time in seconds at which to send the packet, payload).
    """
    noise = random.Random(9)
    return [(number / PACKETS_PER_SECOND,
             RtpPacket(noise.randbytes(size - 12), number, 0).pack())
            for number in range(count)]


def losing_by_chance(probability, seed=1):
    chance = random.Random(seed)
    return dccpnetwork.losing(lambda packet: chance.random() < probability)


class DccpCase(unittest.TestCase):

    def setUp(self):
        work = peers.workdir()
        self.work = work.__enter__()
        self.addCleanup(work.__exit__, None, None, None)
        self.network = dccpnetwork.Network(self)
        self.guest = self.boot(GUEST)

    def boot(self, addresses):
        return dccpguest.Guest(self, states, self.network,
                               *addresses.values())

    def see(self):
        """Returns all packets that the network has recorded since the previous
        call. Checks with tshark that these packets have no fault.
        """
        seen = self.network.take_seen()
        dccppackets.check_with_tshark(seen)
        return seen

    def take_connection(self, port, **options):
        """Checks that exactly one connection was opened since the previous
        call, that its server has the port `port`, and that its packets have no
        fault. Returns this connection.
        """
        self.seen = self.see()
        connection, = dccppackets.Connection.all(self.seen)
        self.assertEqual(connection.server[1], port)
        connection.check(**options)
        return connection

    def check_payloads(self, connection, sent, received):
        """Checks that the connection has sent exactly the payloads in `sent`,
        in this order. Also checks that `received` contains the payloads of all
        packets that were not lost, and nothing else.
        """
        numbers = {data: number for number, data in enumerate(sent)}
        data = [(numbers.get(packet.payload), packet.is_lost)
                for packet in connection.data()]
        self.assertEqual([number for number, _ in data],
                         list(range(len(sent))))
        self.assertEqual([numbers.get(payload) for payload in received],
                         [number for number, is_lost in data if not is_lost])


class KernelTest(DccpCase):
    """Tests the checks of this file themselves. Connects two virtual machines
    that both use Linux's DCCP, the reference implementation. The checks must
    find no fault in the packets between these machines.
    """

    def stream(self, ip, **network):
        other = self.boot(OTHER_GUEST)
        packets = noise_packets(2 * PACKETS_PER_SECOND)
        receiver = self.guest.open(self, "listen", GUEST[ip], PORT)
        receiver.wait_for("listening")
        self.network.set(**network)
        sender = other.open(self, "connect", GUEST[ip], PORT, packets)
        sender.wait_for("connected")
        sender.wait_for("sent", SECONDS_TO_STREAM)
        self.assertEqual(sender.outcome().error, 0)
        received = receiver.outcome()
        self.assertEqual(received.error, 0)
        self.check_payloads(self.take_connection(PORT),
                            [data for _, data in packets],
                            [data for _, data in received.received])
        for machine in (self.guest, other):
            machine.check()

    def test_ipv4_and_that_faults_are_found(self):
        self.stream("IPv4")
        for each in (self.seen[0], self.seen[1], self.seen[-1]):
            self.assert_refuses_changes(each)
        for at in (0, len(self.seen) // 2, -2, -1):
            with self.assertRaises(dccppackets.Wrong, msg=f"without {at}"):
                without = list(self.seen)
                del without[at]
                dccppackets.Connection.all(without)[0].check()

    def assert_refuses_changes(self, seen):
        """Flips each bit of the IP payload of the packet `seen`, one at a
        time. Checks that the module dccppackets refuses each changed packet.
        tshark starts slowly, so it checks only the last changed packet.
        """
        segment = len(udplite.segment_of(seen.packet))
        for bit in range(8 * segment):
            damaged = dataclasses.replace(seen, packet=sockets.damage(
                seen.packet, [(len(seen.packet) - segment + bit // 8,
                               1 << bit % 8)]))
            with self.assertRaises(dccppackets.Wrong, msg=f"bit {bit}"):
                dccppackets.Packet.read(damaged)
        with self.assertRaises(dccppackets.Wrong):
            dccppackets.check_with_tshark([seen, damaged])

    def test_ipv6_with_loss(self):
        self.stream("IPv6", treat=losing_by_chance(0.01), delay=0.02)


# ----------------------------------------------------------------- our elements

class Ours:
    """A pipeline with a DCCP element of the project, which sends DCCP directly
    in IP (encapsulation=raw). The pipeline is stopped when the test ends.
    """

    def __init__(self, case, line):
        self.process = udplite.Process(case, shlex.split(
            f"gst-launch-1.0 -q {line}"))

    def wait_for_listener(self):
        """Waits until the DCCP socket of this pipeline listens. Checks only
        the sockets of the pipeline's process, because other elements of the
        test may listen at the same time.
        """
        udplite.wait_until(
            lambda: placement.is_bound("raw", dccppackets.DCCP,
                                    self.process.child.pid),
            "for a listening element")

    def wait_for_end(self, seconds=SECONDS_TO_STREAM):
        """Waits until the pipeline ends by itself. Fails if the pipeline
        reports an error. Returns what the pipeline has printed.
        """
        child = self.process.child
        _, errors = child.communicate(timeout=seconds)
        errors = errors.decode(errors="replace")
        if child.returncode or "CRITICAL" in errors:
            raise AssertionError(f"{child.returncode}: {errors[-1000:]}")
        return errors


def our_end(ip, mode, port):
    own, other = ((f"address={HOST[ip]}", f"host={GUEST[ip]}"))
    return (f"encapsulation=raw mode={mode} port={port} "
            + (own if mode == "listen" else other))


class OurSink(Ours):

    def __init__(self, case, source, ip, mode, port, options=""):
        end = our_end(ip, mode, port).replace(" address=", " bind-address=")
        super().__init__(case, f"{source} ! dcctpthinsink {end} {options}")


class OurSource(Ours):

    def __init__(self, case, work, ip, mode, port, options=""):
        self._path = work / f"received-{port}"
        super().__init__(case, (
            f"dcctpthinsrc {our_end(ip, mode, port)} {options} "
            "caps=application/x-rtp ! rtpstreampay ! "
            + peers.filesink(self._path)))

    def payloads(self):
        return [packet.pack() for packet in read_rfc4571(self._path)]


def file_source(path, packets):
    """Writes `packets` to the file `path`. Returns the description of a
    pipeline that reads this file and outputs PACKETS_PER_SECOND packets per
    second.
    """
    path.write_bytes(b"".join(len(data).to_bytes(2, "big") + data
                              for _, data in packets))
    return (f"filesrc {peers.location(path)} ! {peers.STREAM_CAPS} ! "
            "rtpstreamdepay ! identity sleep-time="
            f"{1000000 // PACKETS_PER_SECOND}")


def clip_packets(clip):
    """Returns a list with a tuple (time in seconds, payload) for each RTP
    packet of a clip. The time is the one at which the packet should be sent.
    All packets of a frame have the same time.
    """
    frame, found = 0, []
    for packet in peers.pay(clip, PAY):
        found.append((frame / FRAMES_PER_SECOND, packet.pack()))
        frame += packet.marker
    return found


@unittest.skipUnless(udplite.has_element("dcctpthinsink"),
                     "there is no dcctpthinsink")
class ElementCase(DccpCase):

    def setUp(self):
        super().setUp()
    def to_guest(self, ip, mode, port, packets, source, options="", **guest):
        """Starts a stream from the element dcctpthinsink to the guest, a
        virtual machine with Linux's DCCP. Returns a function that waits for
        the end of the stream.
        """
        if mode == "listen":
            sink = OurSink(self, source, ip, mode, port, options)
            sink.wait_for_listener()
            receiver = self.guest.open(self, "connect", HOST[ip], port,
                                       **guest)
        else:
            receiver = self.guest.open(self, "listen", GUEST[ip], port,
                                       **guest)
            receiver.wait_for("listening")
            sink = OurSink(self, source, ip, mode, port, options)

        def end():
            sink.wait_for_end()
            outcome = receiver.outcome(SECONDS_TO_STREAM)
            self.assertEqual(outcome.error, 0)
            return (port, [data for _, data in packets],
                    [data for _, data in outcome.received])

        return end

    def to_us(self, ip, mode, port, packets, options="", **guest):
        if mode == "listen":
            source = OurSource(self, self.work, ip, mode, port, options)
            source.wait_for_listener()
            sender = self.guest.open(self, "connect", HOST[ip], port, packets,
                                     **guest)
        else:
            sender = self.guest.open(self, "listen", GUEST[ip], port, packets,
                                     **guest)
            sender.wait_for("listening")
            source = OurSource(self, self.work, ip, mode, port, options)

        def end():
            self.assertEqual(sender.outcome(SECONDS_TO_STREAM).error, 0)
            source.wait_for_end()
            return (port, [data for _, data in packets], source.payloads())

        return end

    def finish(self, *ends, **options):
        """Waits for the end of all streams and checks every packet. `ends` are
        functions, one for each stream, which wait for the end of the stream.
        """
        streams = [end() for end in ends]
        seen = self.see()
        connections = {connection.server[1]: connection for connection
                       in dccppackets.Connection.all(seen)}
        self.assertEqual(len(connections), len(streams))
        for port, sent, received in streams:
            with self.subTest(port=port):
                connections[port].check(**options)
                self.check_payloads(connections[port], sent, received)
        self.guest.check()
        return connections


class ClipTest(ElementCase):
    """Streams the clip in both directions at the same time. In one direction,
    dccpthinsink of this project sends to Linux's DCCP. In the other, Linux's
    DCCP sends to dccpthinsrc.
    """

    def stream(self, ip, sink_mode, source_mode, **network):
        clip = clips.film(4, SECONDS)
        packets = clip_packets(clip)
        self.network.set(**network)
        self.finish(
            self.to_guest(ip, sink_mode, PORT, packets,
                          f"filesrc {peers.location(clip)} ! {PAY}"),
            self.to_us(ip, source_mode, PORT + 2, packets),
            syncs=2 if "treat" in network else 0)

    def test_ipv4(self):
        self.stream("IPv4", "connect", "listen", delay=0.005)

    def test_ipv6_the_other_way_round_with_loss(self):
        self.stream("IPv6", "listen", "connect", delay=0.005,
                    treat=losing_by_chance(0.01))


class Treatment:
    """Decides what the network does with each packet, separately for each
    connection. The test sets a function for the port of a server. This
    function then decides about each packet whose source or destination port is
    this port. All other packets are delivered unchanged.
    """

    def __init__(self):
        self._of_ports = {}  # {server's port: treat (packet, bytes)}

    def set(self, port, treat):
        self._of_ports[port] = treat

    def __call__(self, data):
        ports = udplite.segment_of(data)[:4]
        for port in (ports[:2], ports[2:]):
            treat = self._of_ports.get(int.from_bytes(port, "big"))
            if treat:
                return treat(dccppackets.Packet.read(
                    dccpnetwork.Seen(0, data, False)), data)
        return dccpnetwork.unharmed(data)


def losing_first(kind, of_client, port):
    """Returns a function that tells the network what to do with each packet.
    The function drops the first packet of the type `kind` that one endpoint
    sends. This endpoint is the client if `of_client` is true, otherwise the
    server. `port` is the server's port.
    """
    lost = []

    def treat(packet, data):
        if packet.type != kind or lost or (
                packet.to[1] == port) != of_client:
            return dccpnetwork.unharmed(data)
        lost.append(packet)
        return []

    return treat


class LostTest(ElementCase):
    """Checks that a connection opens and closes even if a packet is lost. Each
    connection of the test loses the first packet of one packet type. OF_CLIENT
    contains the tested packet types. It maps a type to True if the client
    sends it, and to False if the server sends it.
    """

    OF_CLIENT = {"Request": True, "Response": False, "Ack": True,
                 "DataAck": True, "Close": True, "CloseReq": False,
                 "Reset": False}
    # The test case that is left out. In this case, the element under test is
    # dcctpthinsrc (the second name of dccpthinsrc) with mode=listen, and its
    # peer is Linux. When Linux sends its Close, dcctpthinsrc answers with a
    # Reset and ends. This Reset is lost, so Linux repeats its Close, but
    # nobody answers. The connection of Linux closes only after a long time,
    # for which the test would have to wait.
    LINUX_WAITS = {("listen", "to_us", "Reset")}

    def test_each_once(self):
        treatment, ends, port = Treatment(), [], PORT
        packets = noise_packets(20)
        source = file_source(self.work / "packets", packets)
        self.network.set(treatment, delay=0.01)
        for mode in ("connect", "listen"):
            for kind, of_client in self.OF_CLIENT.items():
                port += 1
                treatment.set(port, losing_first(kind, of_client, port))
                if (mode, "to_guest", kind) not in self.LINUX_WAITS:
                    ends.append(self.to_guest("IPv4", mode, port, packets,
                                              source, "sync=false"))
                port += 1
                treatment.set(port, losing_first(kind, of_client, port))
                if (mode, "to_us", kind) not in self.LINUX_WAITS:
                    ends.append(self.to_us("IPv4", mode, port, packets))
        # After an endpoint has closed its connection, it may still answer a
        # late packet of the peer. The sequence number of this answer may be
        # outside the window of the peer, which then sends a Sync. One Sync is
        # therefore allowed.
        self.finish(*ends, syncs=1)


class DamageTest(ElementCase):
    """Tests how an endpoint handles damaged packets, and packets that an
    attacker has forged.
    """

    def stream_both_ways(self, coverage=0, seconds=1):
        """Starts two streams: one to the virtual machine, and one from it. In
        both streams, the sender uses the checksum coverage `coverage` (the
        value of the field CsCov), and the receiver requires this value as the
        minimum coverage.
        """
        packets = noise_packets(seconds * PACKETS_PER_SECOND)
        source = file_source(self.work / "packets", packets)
        return [self.to_guest("IPv4", "connect", PORT, packets, source,
                              f"sync=false checksum-coverage={coverage}",
                              min_coverage=coverage),
                self.to_us("IPv4", "listen", PORT + 1, packets,
                           f"min-checksum-coverage={coverage}",
                           coverage=coverage)]

    def test_bad_checksums_are_losses(self):
        chance = random.Random(4)

        def treat(data):
            if chance.random() > 0.01:
                return dccpnetwork.unharmed(data)
            bit = chance.randrange(160, 8 * len(data))
            return [(sockets.damage(data, [(bit // 8, 1 << bit % 8)]), 0)]

        self.network.set(treat, delay=0.01)
        self.finish(*self.stream_both_ways())

    def test_damage_outside_the_coverage_is_delivered(self):
        damaged = collections.defaultdict(set)  # {port: damaged payloads}

        def treat(data):
            packet = dccppackets.Packet.read(dccpnetwork.Seen(0, data, False))
            if not packet.has_data or packet.sequence % 20:
                return dccpnetwork.unharmed(data)
            damaged[packet.to[1]].add(packet.payload)
            return [(sockets.damage(data, [(len(data) - 1, 1)]), 0)]

        self.network.set(treat, delay=0.01)
        for end in self.stream_both_ways(coverage=1):
            port, sent, received = end()
            self.assertTrue(damaged[port])
            self.assertEqual(received, [
                sockets.damage(data, [(len(data) - 1, 1)])
                if data in damaged[port] else data for data in sent])
        for connection in dccppackets.Connection.all(self.see()):
            connection.check()
            self.assertEqual({packet.coverage for packet
                              in connection.data()}, {1})

    def test_forged_resets_are_asked_about(self):
        """Sends forged Reset packets to both endpoints of each connection. An
        endpoint must answer each forged Reset with one Sync, and the other
        endpoint must answer this Sync with a SyncAck.
        """
        self.network.set(delay=0.01)
        # Each stream lasts 4 s. Even if a busy machine begins one connection
        # later than the other, both connections therefore exist at the same
        # time.
        ends = self.stream_both_ways(seconds=4)
        udplite.wait_until(lambda: len(self.established()) == 2,
                           "for two connections")
        forged = 0
        for connection in self.established():
            for victim, other in ((connection.client, connection.server),
                                  (connection.server, connection.client)):
                self.network.inject(self.build_reset(connection, victim,
                                                     other))
                forged += 1
        connections = self.finish(*ends, syncs=forged)
        for connection in connections.values():
            self.assertEqual(len(connection.unexpected_syncs()),
                             forged / 2)
            self.assertEqual(connection.count("SyncAck"),
                             connection.count("Sync"))

    def established(self):
        return [connection for connection
                in dccppackets.Connection.all(self.network.seen())
                if len(connection.data()) > 20]

    def build_reset(self, connection, victim, other):
        """Returns a forged Reset from the endpoint `other` to the endpoint
        `victim` of a connection. The Reset has correct addresses and ports,
        but its sequence number is outside the window of `victim`.
        """
        sequence = connection.sent_by(other)[-1].sequence + 300000
        acknowledged = connection.sent_by(victim)[-1].sequence
        return dccppackets.reset(other, victim, sequence, acknowledged)


class RefusedTest(ElementCase):
    """Tests DCCP connection attempts that the peer refuses. The peer must
    answer with a Reset that has the correct reset code.
    """

    # The values of errno with which a connection fails on Linux: EBADRQC after
    # a Reset with the reset code 8, and EUSERS after one with the reset code
    # 9.
    EBADRQC, EUSERS = 56, 87

    def setUp(self):
        super().setUp()
        self.packets = noise_packets(100)
        self.source = file_source(self.work / "packets", self.packets)

    def check_is_refused(self, sink, code):
        """Checks that `sink` fails because it cannot connect: its Request must
        be answered by a single Reset with the reset code `code`.
        """
        with self.assertRaises(AssertionError):
            sink.wait_for_end()
        connection, = dccppackets.Connection.all(self.see())
        self.assertEqual([packet.type for packet in connection.packets],
                         ["Request", "Reset"])
        self.assertEqual(connection.packets[-1].reset_code, code)

    def connect(self, port):
        return OurSink(self, self.source, "IPv4", "connect", port,
                       "sync=false auto-reconnect=false")

    def test_sink_of_another_service(self):
        receiver = self.guest.open(self, "listen", GUEST["IPv4"], PORT,
                                   service="NONE")
        receiver.wait_for("listening")
        self.check_is_refused(self.connect(PORT), dccppackets.BAD_SERVICE)

    def test_sink_without_a_listening_receiver(self):
        self.guest.open(self, "listen", GUEST["IPv4"], PORT + 1).wait_for(
            "listening")
        self.check_is_refused(self.connect(PORT), dccppackets.NO_CONNECTION)

    def test_guest_of_another_service_and_one_too_many(self):
        end = self.to_us("IPv4", "listen", PORT, self.packets)
        udplite.wait_until(lambda: len(self.network.seen()) > 20, "for data")
        second = self.guest.open(self, "connect", HOST["IPv4"], PORT)
        self.assertEqual(second.outcome().error, self.EUSERS)
        source = OurSource(self, self.work, "IPv4", "listen", PORT + 2)
        source.wait_for_listener()
        other = self.guest.open(self, "connect", HOST["IPv4"], PORT + 2,
                                service="NONE")
        self.assertEqual(other.outcome().error, self.EBADRQC)
        port, sent, received = end()
        connections = dccppackets.Connection.all(self.see())
        self.assertEqual([connection.packets[-1].reset_code
                          for connection in connections[1:]],
                         [dccppackets.TOO_BUSY, dccppackets.BAD_SERVICE])
        connections[0].check()
        self.check_payloads(connections[0], sent, received)


if __name__ == "__main__":
    if IS_LONG:
        del sys.argv[1]
        unittest.main(defaultTest="ClipTest")
    unittest.main()
