/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the initial congestion window of a path. It is used until a report
 * about the path shows how the path delivers the stream. */

#pragma once

#include "mmtpratecontrol.h"

/* Returns the initial congestion window in bytes. The window is at least three
 * packets (RFC 5681, section 3.1).
 *
 * If the rate of the path is known, the window is the number of bytes that the
 * path delivers until the first report arrives.
 *
 * If the rate is unknown, the window is ten packets for a round trip of up to
 * 100 ms (RFC 6928). For a longer round trip, the window is inversely
 * proportional to the round trip. A path that takes long to answer a handshake
 * usually has a low rate, and ten packets would block it for seconds. If
 * another path already carries the stream, a blocked path does less harm. The
 * window is then at least six packets.
 *
 * If the rate is unknown because of jitter (`is_minimum`), a long round trip is
 * no sign of a low rate. The window is then 40 packets for a round trip of up to
 * 100 ms. For a longer round trip it is smaller, but at least 15 packets. It is
 * ten packets if another path already carries the stream. */
guint64 mmtp_get_initial_window (const MmtpRateControlStart * start);
