/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Determines the arrival time of packets on the monotonic clock. The kernel
 * stamps packets with CLOCK_REALTIME, which the user may set. Protocols measure
 * times with the monotonic clock, which is never set. Each socket has one
 * SocketClock, which only the receiving thread uses.
 */

#pragma once

#include <glib.h>

#include <sys/socket.h>

typedef struct
{
  /* Bounds of the difference between the monotonic time and CLOCK_REALTIME, in
   * ns. Each comparison of the clocks can narrow the bounds. If somebody has
   * changed CLOCK_REALTIME, the next comparison may replace the bounds. */
  gint64 offset_low, offset_high;
  /* Last monotonic time in ns at which no packet was waiting in the socket.
   * Each packet that is received afterwards has arrived after this time. */
  gint64 empty;
} SocketClock;

void socket_clock_init (SocketClock * clock);
/* Makes the kernel add a timestamp to each packet that the socket receives from
 * now on. Does nothing if the system does not support such timestamps. */
void socket_clock_ask_for_stamps (gint fd);
/* Returns the present time of g_get_monotonic_time (), converted to ns. */
gint64 socket_clock_now (void);
/* Records that at the monotonic time `now`, in ns, the socket contained no
 * packet. A packet that is received later must have arrived after this time. */
void socket_clock_set_empty (SocketClock * clock, gint64 now);
/* Compares the monotonic clock with CLOCK_REALTIME, the clock of the kernel's
 * timestamps, and updates the bounds of their difference. Returns the present
 * monotonic time in ns. Call this function once for each batch of received
 * packets, before socket_clock_get_arrival() converts their timestamps. */
gint64 socket_clock_compare (SocketClock * clock);
/* Returns whether `control` is a timestamp, and stores it in `stamp`, in ns of
 * CLOCK_REALTIME. */
gboolean socket_clock_read_stamp (const struct cmsghdr *control,
    guint64 * stamp);
/* Returns the arrival time of a packet in ns, on the monotonic clock. `stamp`
 * is the kernel's timestamp of the packet, or 0 if there is none. `now` is the
 * result of socket_clock_compare. */
guint64 socket_clock_get_arrival (const SocketClock * clock, guint64 stamp,
    gint64 now);
