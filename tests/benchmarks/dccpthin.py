#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the packet rate and CPU time of the DCCP elements with SRT.

    meson test -C build --benchmark -v dccpthin

The DCCP elements are a sink and a source. Each of them has two names: the sink
is called dcctpthinsink or dccpthinsink, and the source is called dcctpthinsrc
or dccpthinsrc. The DCCP elements are compared with srtsink and srtsrc. All
elements carry the same RTP packets of 1316 bytes, the maximum payload size of
SRT in live mode (see turns.py). The DCCP elements are measured over UDP and
over a raw socket. The raw socket is left out if it is not permitted.

The first runs have fixed rates and measure the CPU time. All elements can
carry the lowest of these rates. In the last run, the packets are sent as fast
as possible. The program fails only if a pair of sink and source does not run
at all. It does not fail if a pair is slow.

In SRT's live mode, a sender whose buffer is full may wait forever. This
happens if the last packets before a pause are lost. The receiver does not
notice their loss, and the sender retransmits only packets that the receiver
requests (Haivision/srt issues 707, 1722 and 2706). Two options make sure that
the run ends. With nakreport=0 the sender retransmits after a timeout, and with
tlpktdrop=0 both ends wait for all packets.
"""

import socket

import turns

SIZE = 1316
# A pair is a sink and a source. The first pair consists of SRT elements, and
# all other pairs consist of DCCP elements. Each of the other pairs is compared
# with the first pair.
SRT = "nakreport=0&tlpktdrop=0"
PAIRS = {"srt": (f"srtsink uri=srt://127.0.0.1:5010?{SRT} sync=false "
                 "async=false",
                 f"srtsrc uri=srt://127.0.0.1:5010?mode=listener&{SRT}")}
PAIRS |= {f"dccp {encapsulation}":
          ("dcctpthinsink host=127.0.0.1 port=5012 sync=false async=false "
           f"encapsulation={encapsulation}",
           "dcctpthinsrc address=127.0.0.1 port=5012 "
           f"encapsulation={encapsulation}")
          for encapsulation in ("udp", "raw")}
DCCP = 33                   # of IP


def may_be_raw():
    try:
        socket.socket(socket.AF_INET, socket.SOCK_RAW, DCCP).close()
    except PermissionError as error:
        print(f"Without raw sockets: {error}")
        return False
    return True


def main():
    options = turns.read_options(__doc__, [5000, 40000, 0])
    pairs = {name: pair for name, pair in PAIRS.items()
             if name != "dccp raw" or may_be_raw()}
    turns.compare("dccpthin", pairs, options, SIZE)


if __name__ == "__main__":
    main()
