/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The window of a path before the first report about it. */

#pragma once

#include <glib.h>

/* Returns the initial window in bytes: what the path delivers at `rate` until
 * the first report arrives. If `rate` is 0, it is ten packets (RFC 6928) for a
 * round trip of at most 100 ms, proportionally fewer for a longer one, and at
 * least three (RFC 5681, section 3.1). A path that takes long to answer a
 * handshake usually has a low rate rather than a long distance, and ten packets
 * would block it for seconds. */
guint64 mmtp_get_initial_window (guint packet, guint64 round_trip,
    guint64 rate);
