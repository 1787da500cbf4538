#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Packets per second, and CPU time of each, of mmtpsink and mmtpsrc with two
channels beside ristsink and ristsrc with two bonded links.

    meson test -C build --benchmark -v mmtp

All carry the same RTP packets of 1328 bytes, see turns.py. First at rates of
which the lowest is carried by all of them, for the CPU time; then as many as
they take. ristsink doesn't notice that a link is full: what counts is what
comes out. Nothing here fails for being slow: only what does not run at all
makes the program fail.
"""

import secrets

import turns

SIZE = 1328
KEY = secrets.token_hex(32)
LINKS = "127.0.0.1:5004,127.0.0.1:5006"
# The first is the one that the others are compared with.
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
    options = turns.read_options(__doc__, [10000, 20000, 40000, 0])
    turns.compare("mmtp", PAIRS, options, SIZE)


if __name__ == "__main__":
    main()
