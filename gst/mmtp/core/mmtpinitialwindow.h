/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The congestion window of a path until the first report about that path. */

#pragma once

#include <glib.h>

/* Returns the initial window in bytes. If `rate` is not 0, the window is what
 * the path delivers at this rate until the first report arrives. If `rate` is
 * 0, the window depends on the round trip. For a round trip of up to 100 ms it
 * is ten packets (RFC 6928). For a longer round trip it is smaller in
 * proportion, but at least three packets (RFC 5681, section 3.1). A path that
 * takes long to answer a handshake usually has a low rate, and ten packets
 * would block it for seconds. */
guint64 mmtp_get_initial_window (guint packet, guint64 round_trip,
    guint64 rate);
