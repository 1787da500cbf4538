/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mmtpinitialwindow.h"

/* Initial congestion window of a path of unknown rate, in packets.
 * INITIAL_PACKETS is the usual window (RFC 6928, section 2).
 * MIN_INITIAL_PACKETS is the minimum, which is used for paths with a long round
 * trip (RFC 5681, section 3.1). */
#define INITIAL_PACKETS 10
#define MIN_INITIAL_PACKETS 3
/* The first report is expected to arrive after the round trip plus this time
 * (ns). */
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
