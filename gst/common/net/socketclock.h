/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When a packet came: the kernel stamps it by CLOCK_REALTIME, and a protocol
 * measures by the monotonic clock, which nobody sets. One of a socket, for the
 * thread that receives.
 */

#pragma once

#include <glib.h>

#include <sys/socket.h>

typedef struct
{
  /* What CLOCK_REALTIME has to be added to be the monotonic clock, ns: between
   * these, which come together while no clock is set */
  gint64 offset_low, offset_high;
  gint64 empty;                 /* monotonic ns at which nothing waited: what
                                 * comes now came later */
} SocketClock;

void socket_clock_init (SocketClock * clock);
/* From now on packets have stamps, where the system has such. */
void socket_clock_ask_for_stamps (gint fd);
/* ns of g_get_monotonic_time's clock */
gint64 socket_clock_now (void);
/* Nothing waited at that time. */
void socket_clock_set_empty (SocketClock * clock, gint64 now);
/* Before the stamps of what came together are looked at: the time now */
gint64 socket_clock_compare (SocketClock * clock);
/* Is this the stamp? If so it is in `stamp`, ns of CLOCK_REALTIME. */
gboolean socket_clock_read_stamp (const struct cmsghdr *control,
    guint64 * stamp);
/* ns of g_get_monotonic_time's clock. `stamp`: 0: there is none; `now`: of
 * socket_clock_compare */
guint64 socket_clock_get_arrival (const SocketClock * clock, guint64 stamp,
    gint64 now);
