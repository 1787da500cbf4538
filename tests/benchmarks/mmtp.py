#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares packet rate and CPU time of MMTP elements and RIST elements.

    meson test -C build --benchmark -v mmtp

mmtpsink and mmtpsrc use two channels. They are compared with ristsink and
ristsrc, which use two bonded links. All of them carry the same RTP packets of
1328 bytes (see turns.py).

The first runs have fixed rates and measure the CPU time. All elements can
carry the lowest of these rates. In the last run, the packets are sent as fast
as possible. ristsink does not notice that a link is full. Therefore only
packets that leave ristsrc or mmtpsrc are counted. The program fails only if a
sink and its source do not run at all. It never fails because they are slow.
"""

import secrets

import turns

SIZE = 1328
KEY = secrets.token_hex(32)
LINKS = "127.0.0.1:5004,127.0.0.1:5006"
# Maps the name of each pair of a sender and a receiver to their launch lines.
# All other pairs are compared with the first pair.
PAIRS = {f"rist {method}":
         (f"ristsink bonding-addresses={LINKS} bonding-method={method}",
          f"ristsrc bonding-addresses={LINKS}")
         for method in ("round-robin", "broadcast")}
PAIRS |= {f"mmtp{name}":
          ("mmtpsink host=127.0.0.1 port=5008 sync=false async=false "
           f"channels=127.0.0.2,127.0.0.3{key}",
           f"mmtpsrc address=127.0.0.1 port=5008{key}")
          for name, key in (("", ""), (", key", f" key={KEY}"))}


def main():
    options = turns.read_options(__doc__, [10000, 0])
    turns.compare("mmtp", PAIRS, options, SIZE)


if __name__ == "__main__":
    main()
