# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the UDP-Lite elements. An element can send and receive packets in
three ways, its backends: with a UDP-Lite socket of the kernel, with a raw
socket, or inside UDP packets. Each backend is checked. tshark checks the
length, coverage and checksum of every packet.

There are three kinds of senders and receivers: the elements with the backend
of the kernel, the elements with the raw socket backend, and ffmpeg. Each
sender is tested with each receiver.

If bits are flipped, the receiver must output exactly the packets that are
valid according to RFC 3828.
"""

import random
import unittest

import clips
import peers
import udplite
from rtpfile import RtpPacket, write_rfc4571
from udplite import HEADER, LOOPBACK, PORT, sockets

RTP_HEADER = 12
STREAM_CAPS = peers.STREAM_CAPS
# Sizes in bytes of the data after the RTP header, some odd and some even. They
# range from 0 to a size with which the packet fills an Ethernet frame.
PAYLOAD_SIZES = (0, 1, 7, 8, 96, 97, 500, 1303, 1304, 1388)
WHOLE = HEADER + RTP_HEADER + 96
TOO_LONG = 60000
FIXED = (0, 1, 7, 8, 9, 20, WHOLE, TOO_LONG)
H263_CAPS = "video/x-raw,width=176,height=144,framerate=10/1"


def setUpModule():
    udplite.enter_own_network()


def rtp_packets():
    noise = random.Random(5)
    return [RtpPacket(noise.randbytes(size), number, 90 * number).pack()
            for number, size in enumerate(PAYLOAD_SIZES)]


def effective(coverage, size):
    """Returns how many bytes of a packet of `size` bytes the UDP-Lite checksum
    covers, if the application has requested the coverage `coverage` (RFC 3828
    section 3.1).
    """
    if coverage == 0 or coverage >= size:
        return size
    return max(coverage, HEADER)


def backends(*names):
    """Returns a decorator that runs a test for each of the backends `names`,
    each time with IPv4 and with IPv6.
    """
    def decorate(test):
        def each(self):
            for backend in names:
                for ip in LOOPBACK:
                    with self.subTest(backend=backend, ip=ip):
                        reason = udplite.why_no_backend(backend)
                        if reason:
                            self.skipTest(reason)
                        test(self, backend, ip)
        each.__name__ = test.__name__
        return each
    return decorate


all_backends = backends("kernel", "raw", "udp")


class UdpliteCase(unittest.TestCase):

    def setUp(self):
        work = peers.workdir()
        self.work = work.__enter__()
        self.addCleanup(work.__exit__, None, None, None)

    def send(self, backend, ip, source, options=""):
        """Sends packets with the element udplitesink. `source` is the
        description of the pipeline that makes these packets. Returns the IP
        packets that were captured.
        """
        protocol = sockets.UDP if backend == "udp" else sockets.UDPLITE
        with udplite.Capture(protocol) as capture:
            peers.gst(f"{source} ! udplitesink host={LOOPBACK[ip]} "
                      f"port={PORT} backend={backend} sync=false {options}")
        return capture.packets

    def send_packets(self, backend, ip, packets, options=""):
        path = self.work / "packets.rtp"
        write_rfc4571(path, packets)
        return self.send(backend, ip, f"filesrc {peers.location(path)} ! "
                         f"{STREAM_CAPS} ! rtpstreamdepay", options)

    def start_receiver(self, backend, ip, options=""):
        """Starts udplitesrc and waits until it receives packets. Returns the
        receiver."""
        receiver = udplite.OurReceiver(self, self.work, backend, ip, options)
        self.wait_for_probe(backend, ip, receiver)
        return receiver

    def wait_for_probe(self, backend, ip, receiver):
        injector = udplite.Injector(self, backend, ip)

        def arrives(payload):
            injector.send(udplite.udplite_packet(
                ip, payload, 0, *self.addresses(backend, ip)))
            return payload in receiver.read()

        udplite.wait_until(lambda: arrives(b"anybody there"),
                           "for a first packet")
        # Several packets with the payload "anybody there" were sent, and some
        # of them may still be on the way. The packet "end of them" is sent
        # last. When it has arrived, no earlier packet can arrive any more.
        arrives(b"end of them")
        udplite.wait_until(lambda: b"end of them" in receiver.read(),
                           "for the last of the first packets")

    @staticmethod
    def addresses(backend, ip):
        return [udplite.UNSPECIFIED[ip]] * 2 if backend == "udp" else []


class TsharkTest(UdpliteCase):

    def check(self, backend, ip, packets, payloads, coverages):
        """Checks the captured packets `packets` with tshark. The packets must
        have the payloads `payloads`, the checksum coverages `coverages` (in
        bytes) and correct checksums, all in the order of the packets.
        """
        self.assertEqual(len(packets), len(payloads))
        if backend == "udp":
            packets = [self.unwrap(ip, packet) for packet in packets]
        rows = udplite.dissect(packets)
        self.assertEqual(len(rows), len(packets))
        for row, packet, payload, coverage in zip(rows, packets, payloads,
                                                  coverages):
            size = HEADER + len(payload)
            segment = udplite.segment_of(packet)
            self.assertEqual(row["udp.checksum.status"], udplite.GOOD, row)
            self.assertEqual(row["udplite.checksum_coverage.bad"], "", row)
            self.assertEqual(row["udp.checksum.zero"], "", row)
            self.assertEqual(bytes.fromhex(row["udp.payload"]), payload)
            self.assertEqual(
                int(row["udp.checksum_coverage"]) or size, coverage)
            self.assertEqual(len(segment), size)
            # tshark has accepted the packet. sockets.py, which is an
            # independent implementation of RFC 3828, must accept it, too.
            self.assertEqual(udplite.judge(ip, backend, segment).fate,
                             sockets.DELIVERED)

    def unwrap(self, ip, packet):
        """`packet` is an IP packet with a UDP packet, which contains a
        UDP-Lite packet. Returns the UDP-Lite packet as an IP packet without
        UDP. Checks that the UDP packet has no UDP checksum.
        """
        segment = udplite.segment_of(packet)
        self.assertEqual(int.from_bytes(segment[4:6], "big"), len(segment))
        self.assertEqual(udplite.udp_checksum(segment), 0)
        inner = segment[HEADER:]
        self.assertEqual(inner[:4], segment[:4])  # the ports
        return udplite.in_udp(ip, inner)

    def check_modes(self, backend, ip, modes):
        """Checks the checksum coverage of packets that udplitesink sends. Each
        item of `modes` is a pair (options of udplitesink, expected coverage in
        bytes). The same packets are sent with the options of each pair. tshark
        starts slowly, so it runs only once, and checks the packets of all
        pairs together.
        """
        payloads = rtp_packets()
        packets, coverages = [], []
        for options, coverage in modes:
            sent = self.send_packets(backend, ip, payloads, options)
            self.assertEqual(len(sent), len(payloads), options)
            packets += sent
            coverages += [effective(coverage, HEADER + len(payload))
                          for payload in payloads]
        self.check(backend, ip, packets, payloads * len(modes), coverages)

    @all_backends
    def test_full_coverage(self, backend, ip):
        self.check_modes(backend, ip, [("coverage-mode=full", 0)])

    @all_backends
    def test_fixed_coverage(self, backend, ip):
        self.check_modes(backend, ip, [
            (f"coverage-mode=fixed checksum-coverage={coverage}", coverage)
            for coverage in FIXED])

    @all_backends
    def test_headers_of_mpeg_video(self, backend, ip):
        clip = clips.small()
        payloads = [p.pack() for p in peers.pay(clip, PAY_MPV)]
        packets = self.send(backend, ip,
                            f"filesrc {peers.location(clip)} ! {PAY_MPV}")
        coverages = [headers_of_mpv(payload) for payload in payloads]
        self.assertGreater(len(set(coverages)), 2)
        self.check(backend, ip, packets, payloads, coverages)

    @all_backends
    def test_headers_of_h263(self, backend, ip):
        for element in ("avenc_h263", "rtph263ppay"):
            if not udplite.has_element(element):
                self.skipTest(f"there is no {element}")
        packets = self.send(
            backend, ip, f"videotestsrc num-buffers=30 pattern=ball ! "
            f"{H263_CAPS} ! avenc_h263 bitrate=200000 ! rtph263ppay mtu=400")
        self.assertGreater(len(packets), 30)
        payloads = [udplite.segment_of(packet)[HEADER:] for packet in packets]
        if backend == "udp":
            payloads = [payload[HEADER:] for payload in payloads]
        coverages = [headers_of_h263(payload) for payload in payloads]
        self.assertEqual(set(coverages), {22, 27})
        self.check(backend, ip, packets, payloads, coverages)

    @all_backends
    def test_unknown_packets_are_covered_completely(self, backend, ip):
        path = self.work / "bytes"
        path.write_bytes(random.Random(7).randbytes(4000))
        packets = self.send(backend, ip, f"filesrc {peers.location(path)} "
                            "blocksize=1000")
        payloads = [path.read_bytes()[at:at + 1000]
                    for at in range(0, 4000, 1000)]
        self.check(backend, ip, packets, payloads, [HEADER + 1000] * 4)

    def test_tshark_finds_wrong_packets(self):
        """Checks that tshark finds wrong packets, because the other tests rely
        on tshark. tshark must report a wrong coverage field, and damaged bytes
        that the checksum covers. tshark must not report damaged bytes that the
        checksum does not cover.
        """
        # Each entry is a damaged packet, as a tuple: description, IP version,
        # UDP-Lite packet, and a function that checks what tshark says about
        # the packet.
        wrong = []
        for ip in LOOPBACK:
            good = udplite.udplite_packet(ip, bytes(range(32)), 20)
            for offset, status in ((0, "0"), (7, "0"), (19, "0"), (20, "1"),
                                   (39, "1")):
                wrong.append(({"offset": offset}, ip,
                              sockets.damage(good, [(offset, 4)]),
                              lambda row, status=status: self.assertEqual(
                                  row["udp.checksum.status"], status)))
            for coverage in (7, 41):
                wrong.append(({"coverage": coverage}, ip,
                              good[:4] + coverage.to_bytes(2, "big") + good[6:],
                              lambda row: self.assertNotEqual(
                                  row["udplite.checksum_coverage.bad"], "")))
        rows = udplite.dissect([
            udplite.ip_packet(ip, sockets.UDPLITE, LOOPBACK[ip], LOOPBACK[ip],
                              packet) for _, ip, packet, _ in wrong])
        for (what, ip, _, check), row in zip(wrong, rows, strict=True):
            with self.subTest(ip=ip, **what):
                check(row)


# By default, the payloader rfc2250pay chooses a random initial sequence
# number, timestamp offset and SSRC. Here they are fixed, so every run produces
# the same packets.
PAY_MPV = "rfc2250pay seqnum-offset=7 timestamp-offset=9 ssrc=11 mtu=1316"
SLICES = range(0x01, 0xb0)


def headers_of_mpv(packet):
    """Returns the number of bytes that the UDP-Lite checksum must cover in a
    packet of RFC 2250: all bytes before the first slice, or the whole packet
    if it has no slice. Sequence, GOP and picture headers precede the first
    slice.
    """
    header = RTP_HEADER + (8 if packet[RTP_HEADER] & 4 else 4)
    video = packet[header:]
    end = 0
    if video[:3] == b"\0\0\1" and video[3] not in SLICES:
        end = len(video)
        at = video.find(b"\0\0\1")
        while 0 <= at < len(video) - 3:
            if video[at + 3] in SLICES:
                end = at
                break
            at = video.find(b"\0\0\1", at + 3)
    return HEADER + header + end


def headers_of_h263(packet):
    """Returns the number of bytes that the UDP-Lite checksum must cover in a
    packet with H.263 in RTP (RFC 4629, section 5.1).

    The coverage includes the headers of UDP-Lite, RTP and RFC 4629. If the
    packet starts a picture, the coverage also includes the picture header
    (H.263, 5.1). In the pictures of this test, PTYPE is the only type field,
    and the bits CPM and PEI are 0. The picture header then has these fields:
    PSC (22 bits), TR (8), PTYPE (13), PQUANT (5), CPM (1) and PEI (1).

    The payload header of RFC 4629 has two bytes. Its bit P says that the
    sender has left out the first two bytes of the start code, which are zero.
    These 16 bits are therefore subtracted.
    """
    head = HEADER + RTP_HEADER + 2
    starts_picture = packet[RTP_HEADER] & 4 and packet[RTP_HEADER + 2] >> 2 \
        == 0x20
    return head + (22 + 8 + 13 + 5 + 1 + 1 - 16 + 7) // 8 if starts_picture \
        else head


# ----------------------------------------------------------------- combinations

SENDERS = ("kernel", "raw", "ffmpeg")
RECEIVERS = ("kernel", "raw", "ffmpeg", "socket")
# Payload size of each packet in bytes. ffmpeg sends plain data in packets of
# this size.
PACKET_SIZE = 1024
PACKETS = 12
COMBINATION_COVERAGES = (0, 8, 20, 100, HEADER + PACKET_SIZE)


class CombinationTest(UdpliteCase):
    """Tests each sender with each receiver. The senders are udplitesink with
    the backends kernel and raw, and ffmpeg. The receivers are udplitesrc with
    these backends, ffmpeg, and a plain socket.
    """

    def setUp(self):
        super().setUp()
        if udplite.why_no_backend("kernel"):
            self.skipTest(udplite.why_no_backend("kernel"))
        self.source = self.work / "source"
        self.source.write_bytes(
            random.Random(3).randbytes(PACKETS * PACKET_SIZE))

    def start_one_receiver(self, receiver, ip, coverage):
        if receiver == "ffmpeg":
            started = udplite.FfmpegReceiver(self, self.work, ip, coverage)
            udplite.wait_until(lambda: udplite.is_bound(ip),
                               "for ffmpeg to listen")
            return started
        if receiver == "socket":
            return udplite.KernelReceiver(self, ip)
        return self.start_receiver(receiver, ip,
                                   f"min-coverage={coverage}"
                                   if coverage else "")

    def send_from(self, sender, ip, coverage):
        if sender == "ffmpeg":
            # ffmpeg reads plain data in pieces of 1024 bytes, so the packets
            # that it sends must have this size.
            peers.run(["ffmpeg", "-v", "error", "-nostdin", "-f", "data",
                       "-i", self.source, "-map", "0", "-c", "copy", "-f",
                       "data", udplite.ffmpeg_url(
                           ip, coverage, f"&pkt_size={PACKET_SIZE}")])
        else:
            peers.gst(f"filesrc {peers.location(self.source)} "
                      f"blocksize={PACKET_SIZE} ! udplitesink "
                      f"host={LOOPBACK[ip]} port={PORT} backend={sender} "
                      f"coverage-mode=fixed checksum-coverage={coverage}")

    def check_one(self, sender, receiver, ip, coverage):
        """Sends a file from `sender` to `receiver`. Checks that all its bytes
        arrive, and that the packets have the checksum coverage `coverage`.
        """
        before = len(receiver.read())
        with udplite.Capture(sockets.UDPLITE) as capture:
            self.send_from(sender, ip, coverage)
        sent = self.source.read_bytes()

        def came():
            data = receiver.read()[before:]
            return data if isinstance(data, bytes) else b"".join(data)

        udplite.wait_until(lambda: len(came()) >= len(sent),
                           f"for {len(sent)} bytes")
        self.assertEqual(came(), sent)
        self.assertEqual(
            [udplite.coverage_of(udplite.segment_of(packet))
             for packet in capture.packets],
            [effective(coverage, HEADER + PACKET_SIZE)] * PACKETS)

    def check_receiver(self, receiver, ip, coverage):
        """Starts a receiver. `receiver` is its kind, an item of RECEIVERS.
        Checks that this receiver gets all bytes of each sender in SENDERS.
        """
        started = self.start_one_receiver(receiver, ip, coverage)
        for sender in SENDERS:
            with self.subTest(ip=ip, sender=sender, receiver=receiver,
                              coverage=coverage):
                self.check_one(sender, started, ip, coverage)
        started.close()

    def test_each_understands_each(self):
        for ip in LOOPBACK:
            for receiver in RECEIVERS:
                for coverage in COMBINATION_COVERAGES:
                    self.check_receiver(receiver, ip, coverage)


# ----------------------------------------------------------------------- damage

HIT_PAYLOAD = 40
# Number of packets that are sent before the test waits for their arrival. The
# receive buffer of each socket has room for this number of packets.
CHUNK = 64
# The tested checksum coverages in bytes. The first value, 0, stands for the
# whole packet. The second value covers the UDP-Lite header, and the third
# covers the headers of UDP-Lite and RTP. The last value is the size of the
# packet, so it also covers the whole packet.
HIT_COVERAGES = (0, HEADER, HEADER + RTP_HEADER, HEADER + HIT_PAYLOAD)


class HitTest(UdpliteCase):
    """Damages a packet in many ways, above all by flipping each of its bits,
    one at a time. According to RFC 3828, the receiver must output the damaged
    packet if the checksum of this packet is still correct.
    """

    def packet_of(self, backend, ip, coverage):
        """Sends an RTP packet with udplitesink, and returns the UDP-Lite
        packet that contains it. `coverage` is the value of the property
        checksum-coverage.
        """
        payload = RtpPacket(bytes(range(HIT_PAYLOAD - RTP_HEADER)), 1, 2)
        packet, = self.send_packets(
            backend, ip, [payload.pack()],
            f"coverage-mode=fixed checksum-coverage={coverage} "
            f"bind-port={udplite.INJECTOR_PORT}")
        segment = udplite.segment_of(packet)
        return segment[HEADER:] if backend == "udp" else segment

    @staticmethod
    def hits_of(segment):
        """Yields damaged copies of the UDP-Lite packet `segment`: with flipped
        bits, with another checksum coverage (which may exceed the packet),
        with the checksum 0, and truncated.
        """
        for bit in range(8 * len(segment)):
            yield sockets.damage(segment, [(bit // 8, 1 << bit % 8)])
        # If several bits are flipped, the checksum may remain correct. An
        # example is two bits at a distance of 16 bits, if one changes from 0
        # to 1 and the other from 1 to 0.
        noise = random.Random(11)
        for _ in range(200):
            yield sockets.damage(segment, [
                (noise.randrange(len(segment)), 1 << noise.randrange(8))
                for _ in range(noise.randrange(2, 6))])
        for coverage in (*range(0, len(segment) + 4), 255, 256, 65535):
            yield segment[:4] + coverage.to_bytes(2, "big") + segment[6:]
        yield segment[:6] + b"\0\0" + segment[8:]
        for size in range(HEADER, len(segment)):
            yield segment[:size]

    def inject(self, backend, ip, receiver, segments):
        """Sends the UDP-Lite packets `segments`. Returns the payloads that the
        receiver `receiver` outputs.
        """
        injector = udplite.Injector(self, backend, ip)
        came = []
        for first in range(0, len(segments), CHUNK):
            # After each chunk of packets, a packet with the unique payload
            # `mark` is sent. When this packet has arrived, each earlier packet
            # has arrived or was dropped. No earlier packet can then arrive any
            # more.
            mark = b"end of chunk %d" % first
            before = len(receiver.read())
            for segment in segments[first:first + CHUNK]:
                injector.send(segment)
            injector.send(udplite.udplite_packet(
                ip, mark, 0, *self.addresses(backend, ip)))
            udplite.wait_until(lambda: mark in receiver.read()[before:],
                               "for the mark after the packets")
            new = receiver.read()[before:]
            came += new[:new.index(mark)]
        return came

    def check(self, backend, ip, receiver, coverage, min_coverage=0):
        segment = self.packet_of(backend, ip, coverage)
        segments = list(self.hits_of(segment))
        verdicts = [udplite.judge(ip, backend, hit, min_coverage)
                    for hit in segments]
        expected = [verdict.payload for verdict in verdicts
                    if verdict.fate == sockets.DELIVERED]
        self.assertEqual(self.inject(backend, ip, receiver, segments),
                         expected)
        # The expected results are checked, too. A packet with a single flipped
        # bit must be delivered if and only if the checksum does not cover this
        # bit.
        single = verdicts[:8 * len(segment)]
        for bit, verdict in enumerate(single):
            inside = bit // 8 < (coverage or len(segment))
            self.assertEqual(verdict.fate != sockets.DELIVERED, inside,
                             f"bit {bit}")
        self.assertLess(len(expected), len(segments))

    @all_backends
    def test_arrives_when_the_hit_is_outside_the_coverage(self, backend, ip):
        for coverage in HIT_COVERAGES:
            with self.subTest(coverage=coverage):
                receiver = self.start_receiver(backend, ip)
                self.check(backend, ip, receiver, coverage)
                receiver.close()

    @all_backends
    def test_minimum_coverage_of_a_receiver(self, backend, ip):
        # A receiver refuses packets whose checksum covers fewer bytes than its
        # minimum coverage. A packet whose checksum covers the whole packet is
        # an exception: it is accepted even if the packet is shorter than the
        # minimum coverage.
        minimum = HEADER + RTP_HEADER
        receiver = self.start_receiver(backend, ip, f"min-coverage={minimum}")
        for coverage in (minimum, HEADER + HIT_PAYLOAD):
            with self.subTest(coverage=coverage):
                self.check(backend, ip, receiver, coverage, minimum)
        segments = [udplite.udplite_packet(ip, bytes([n]) * HIT_PAYLOAD, n,
                                           *self.addresses(backend, ip))
                    for n in range(HEADER, HEADER + HIT_PAYLOAD)]
        self.assertEqual(
            self.inject(backend, ip, receiver, segments),
            [bytes([n]) * HIT_PAYLOAD
             for n in range(minimum, HEADER + HIT_PAYLOAD)])

    @backends("kernel")
    def test_the_kernel_agrees_with_the_checker(self, backend, ip):
        for coverage in HIT_COVERAGES:
            with self.subTest(coverage=coverage):
                receiver = udplite.KernelReceiver(self, ip)
                self.check(backend, ip, receiver, coverage)
                receiver.close()


if __name__ == "__main__":
    unittest.main()
