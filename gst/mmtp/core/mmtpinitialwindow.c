/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mmtpinitialwindow.h"

/* INITIAL_PACKETS is the initial window, in packets, of a path of unknown rate
 * (RFC 6928, section 2). MIN_INITIAL_PACKETS is the minimum of this window (RFC
 * 5681, section 3.1).
 */
#define INITIAL_PACKETS 10
#define MIN_INITIAL_PACKETS 3
/* time in ns that is added to the round trip to get the time until the first
 * report arrives */
#define REPORT_TIME (100 * G_GUINT64_CONSTANT (1000000))
/* If the rate of a path is unknown and its round-trip time exceeds this time
 * (ns), the initial window is smaller than INITIAL_PACKETS. */
#define INITIAL_ROUND_TRIP (100 * G_GUINT64_CONSTANT (1000000))

guint64
mmtp_get_initial_window (guint packet, guint64 round_trip, guint64 rate)
{
  guint64 packets = INITIAL_PACKETS;

  if (rate)
    return MAX (rate / 8 * ((round_trip + REPORT_TIME) / 1000000) / 1000,
        MIN_INITIAL_PACKETS * packet);

  if (round_trip > INITIAL_ROUND_TRIP)
    packets = MAX (INITIAL_PACKETS * INITIAL_ROUND_TRIP / round_trip,
        MIN_INITIAL_PACKETS);
  return packets * packet;
}
