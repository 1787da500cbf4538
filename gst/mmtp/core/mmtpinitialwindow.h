/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the initial congestion window of a path. It is used until the first
 * report about the path arrives. */

#pragma once

#include <glib.h>

/* Returns the initial congestion window in bytes. `packet` is the maximum size
 * of a packet. The window is at least three packets (RFC 5681, section 3.1).
 *
 * If `rate` is not 0, it is the rate of the path in bit/s. The window is then
 * the number of bytes that the path delivers until the first report arrives.
 *
 * If `rate` is 0, the rate is unknown. For a round trip of up to 100 ms, the
 * window is then ten packets (RFC 6928). For a longer round trip, the window is
 * inversely proportional to the round trip. A path that takes long to answer a
 * handshake usually has a low rate, and ten packets would block it for seconds.
 */
guint64 mmtp_get_initial_window (guint packet, guint64 round_trip,
    guint64 rate);
