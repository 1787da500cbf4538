/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mmtpinitialwindow.h"

/* Initial congestion window of a path of unknown rate, in packets.
 * INITIAL_PACKETS is the usual window (RFC 6928, section 2). A path with a long
 * round trip has a smaller window, but at least MIN_INITIAL_PACKETS (RFC 5681,
 * section 3.1).
 *
 * If another path already carries the stream, the window has at least
 * MIN_JOINED_PACKETS. There are reasons for and against a higher minimum. A
 * high minimum is too much for a narrow path: with a minimum of 8 packets, the
 * links of the MMTP paper deliver fewer frames in time. A low minimum makes the
 * slow start longer, which takes seconds if the round trip is long. */
#define INITIAL_PACKETS 10
#define MIN_INITIAL_PACKETS 3
#define MIN_JOINED_PACKETS 6
/* Initial window of a path whose rate is unknown because of jitter, in packets.
 * If the first GOP is to be in time, ten packets in a round trip are too few for
 * a high bitrate. Up to a round trip of 100 ms, the window is JITTER_PACKETS.
 * For a longer round trip it is smaller, but at least MIN_JITTER_PACKETS. The
 * links of the MMTP paper have long round trips and low rates. With JITTER_PACKETS
 * for long round trips, too, they would deliver fewer frames in time. */
#define JITTER_PACKETS 40
#define MIN_JITTER_PACKETS 15
/* The first report is expected to arrive after the round trip plus this time
 * (ns). */
#define REPORT_TIME (100 * G_GUINT64_CONSTANT (1000000))
/* If the rate of a path is unknown and its round-trip time exceeds this time
 * (ns), the initial window is smaller than for a short round trip. */
#define INITIAL_ROUND_TRIP (100 * G_GUINT64_CONSTANT (1000000))

/* Returns a number of packets. It is `max` for a short round trip, and inversely
 * proportional to a long round trip, but at least `min`. */
static guint64
get_packets (const MmtpRateControlStart * start, guint64 max, guint64 min)
{
  if (start->round_trip <= INITIAL_ROUND_TRIP)
    return max;
  return MAX (max * INITIAL_ROUND_TRIP / start->round_trip, min);
}

guint64
mmtp_get_initial_window (const MmtpRateControlStart * start)
{
  if (start->rate)
    return MAX (start->rate / 8 * ((start->round_trip +
                REPORT_TIME) / 1000000) / 1000,
        MIN_INITIAL_PACKETS * start->packet);
  if (start->is_minimum && start->has_other_paths)
    return INITIAL_PACKETS * start->packet;
  if (start->is_minimum)
    return get_packets (start, JITTER_PACKETS, MIN_JITTER_PACKETS) *
        start->packet;
  return get_packets (start, INITIAL_PACKETS, start->has_other_paths ?
      MIN_JOINED_PACKETS : MIN_INITIAL_PACKETS) * start->packet;
}
