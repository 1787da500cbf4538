/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Determines the arrival time of packets on the monotonic clock. The kernel's
 * timestamps of packets are times of CLOCK_REALTIME, which the user may set.
 * Protocols, however, measure times with the monotonic clock, which nobody can
 * set. Each socket has one SocketClock, which only the receiving thread uses.
 */

#pragma once

#include <glib.h>

#include <sys/socket.h>

typedef struct
{
  /* Lower and upper bound of the difference "monotonic time minus
   * CLOCK_REALTIME", in ns. Each comparison of the clocks can narrow the
   * bounds. If somebody has changed CLOCK_REALTIME, the next comparison may
   * replace both bounds. */
  gint64 offset_low, offset_high;
  /* Last time, in ns of the monotonic clock, at which no packet was waiting in
   * the socket. Each packet that is received later has therefore arrived after
   * this time. */
  gint64 empty;
} SocketClock;

void socket_clock_init (SocketClock * clock);
/* Makes the kernel add a timestamp to each packet that the socket `fd` receives
 * from now on. Does nothing if the system does not support such timestamps. */
void socket_clock_ask_for_stamps (gint fd);
/* Returns the present monotonic time (g_get_monotonic_time ()) in ns. */
gint64 socket_clock_now (void);
/* Call this function when the socket contains no packet. `now` is the present
 * monotonic time in ns. A packet that is received later must have arrived after
 * this time. */
void socket_clock_set_empty (SocketClock * clock, gint64 now);
/* Compares the monotonic clock with CLOCK_REALTIME, and updates the bounds of
 * the difference of these clocks. Returns the present monotonic time in ns.
 * Call this function once for each batch of received packets. Then call
 * socket_clock_get_arrival (), which converts the kernel's timestamps (times of
 * CLOCK_REALTIME) to monotonic times. */
gint64 socket_clock_compare (SocketClock * clock);
/* Returns whether the control message `control` contains a timestamp of the
 * kernel. If so, stores the timestamp in `stamp`, in ns of CLOCK_REALTIME. */
gboolean socket_clock_read_stamp (const struct cmsghdr *control,
    guint64 * stamp);
/* Returns the arrival time of a packet in ns, on the monotonic clock. `stamp`
 * is the kernel's timestamp of the packet, or 0 if there is none. `now` is the
 * present monotonic time in ns that socket_clock_compare () has returned. */
guint64 socket_clock_get_arrival (const SocketClock * clock, guint64 stamp,
    gint64 now);
