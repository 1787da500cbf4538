# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that the project's DCCP codec and tshark read the same values from
the packets in tests/check/data/dccp.

The packets were sent by Linux 6.1. The test compares every field and every
option of each packet.
"""

import gzip
import os
import pathlib
import struct
import subprocess
import unittest

import peers

PROGRAM = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"]) / \
    "tests" / "interop" / "dccpfields"
CAPTURES = pathlib.Path(__file__).parent.parent / "check" / "data" / "dccp"
PCAP_HEADER, RECORD_HEADER, ETHERNET = 24, 16, 14
# The values of tshark's field dccp.checksum.status for a correct and for a
# wrong checksum.
GOOD, BAD = "1", "0"

# The DCCP option types Padding and Mandatory, which the program dccpfields
# does not print in its list of options.
PADDING, MANDATORY = "0", "1"

# Maps the name of each field in the output of the program dccpfields to the
# name of the same field in tshark.
FIELDS = {
    "type": "dccp.type",
    "source": "dccp.srcport",
    "destination": "dccp.dstport",
    "ccval": "dccp.ccval",
    "coverage": "dccp.cscov",
    "extended": "dccp.x",
    "service": "dccp.service_code",
    "reset": "dccp.reset_code",
    "features": "dccp.feature_number",
    "option37": "dccp.ndp_count",
    "option41": "dccp.timestamp",
    "option42": "dccp.timestamp_echo",
    "option43": "dccp.elapsed_time",
    "option192": "dccp.ccid3_loss_event_rate",
    "option194": "dccp.ccid3_receive_rate",
    "option40": "dccp.data_dropped",
    "option193": "dccp.ccid3_loss_intervals",
}
NUMBERS = {"sequence": "dccp.seq_raw", "acknowledgement": "dccp.ack_raw"}
DATA = ("dccp.data1", "dccp.data2", "dccp.data3")
OTHERS = ("dccp.checksum.status", "dccp.data_offset", "dccp.option_type",
          "ip.len", *NUMBERS.values(), *DATA)


def ip_packets(pcap):
    at = PCAP_HEADER
    while at < len(pcap):
        size, = struct.unpack_from("<I", pcap, at + 8)
        at += RECORD_HEADER
        packet = pcap[at + ETHERNET:at + size]
        length, = struct.unpack_from(">H", packet, 2)
        yield packet[:length]
        at += size


def read_by_us(packets):
    text = "".join(packet.hex() + "\n" for packet in packets)
    out = subprocess.run([PROGRAM], input=text, text=True, check=True,
                         capture_output=True, timeout=60).stdout
    for line in out.splitlines():
        refusal, *fields = line.split(" ")
        yield refusal, dict(field.split("=") for field in fields)


def read_by_tshark(pcap):
    names = (*FIELDS.values(), *OTHERS)
    with peers.workdir() as work:
        (work / "pcap").write_bytes(pcap)
        return peers.tshark(work / "pcap", names, "-o",
                            "dccp.check_checksum:TRUE")


class CapturesTest(unittest.TestCase):

    def check_packet(self, ours, theirs):
        for name, field in FIELDS.items():
            self.assertEqual(ours.get(name, ""), theirs[field], name)
        # If a packet contains a short sequence number, tshark computes the
        # long number from earlier packets, but the project's codec shows the
        # short number. The numbers are therefore compared only if the packet
        # contains long sequence numbers.
        if ours["extended"] == "1":
            for name, field in NUMBERS.items():
                self.assertEqual(ours.get(name, ""), theirs[field], name)
        if "reset" in ours:
            self.assertEqual(ours["data"],
                             ",".join(theirs[field] for field in DATA))
        self.assertEqual(int(ours["payload"]), int(theirs["ip.len"]) - 20
                         - 4 * int(theirs["dccp.data_offset"]))

    def check_options(self, ours, theirs):
        types = theirs["dccp.option_type"].split(",")
        self.assertEqual(int(ours["mandatory"]), types.count(MANDATORY))
        types = [each for each in types if each not in (PADDING, MANDATORY)]
        self.assertEqual(ours.get("options", ""), ",".join(types))

    def check_capture(self, name):
        pcap = gzip.decompress((CAPTURES / name).read_bytes())
        packets = list(ip_packets(pcap))
        ours = list(read_by_us(packets))
        theirs = read_by_tshark(pcap)
        self.assertEqual(len(ours), len(packets))
        self.assertEqual(len(theirs), len(packets))
        for i, ((refusal, fields), row) in enumerate(zip(ours, theirs), 1):
            with self.subTest(packet=i):
                status = row["dccp.checksum.status"]
                self.assertIn(status, (GOOD, BAD))
                self.assertEqual(
                    refusal, "accepted" if status == GOOD else "checksum")
                if refusal == "accepted":
                    self.check_packet(fields, row)
                    self.check_options(fields, row)

    def test_tshark_reads_the_same_in_a_connection(self):
        self.check_capture("linux61-peer.pcap.gz")

    def test_tshark_reads_the_same_in_the_scenarios(self):
        self.check_capture("linux61-scenarios.pcap.gz")


if __name__ == "__main__":
    unittest.main()
