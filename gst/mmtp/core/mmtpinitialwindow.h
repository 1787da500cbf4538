/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The congestion window of a path until the first report about that path. */

#pragma once

#include <glib.h>

/* Returns the initial window in bytes, which is what the path delivers at
 * `rate` until the first report arrives. If `rate` is 0, the window depends on
 * the round trip: up to 100 ms it is ten packets (RFC 6928), for a longer round
 * trip proportionally fewer, but at least three (RFC 5681, section 3.1). If a
 * path takes long to answer a handshake, its rate is usually low, and ten
 * packets would block it for seconds. */
guint64 mmtp_get_initial_window (guint packet, guint64 round_trip,
    guint64 rate);
