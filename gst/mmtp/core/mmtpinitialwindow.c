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
/* The first report is expected to arrive after the round trip plus this time
 * (ns). */
#define REPORT_TIME (100 * G_GUINT64_CONSTANT (1000000))
/* If the rate of a path is unknown and its round-trip time exceeds this time
 * (ns), the initial window is smaller than INITIAL_PACKETS. */
#define INITIAL_ROUND_TRIP (100 * G_GUINT64_CONSTANT (1000000))

guint64
mmtp_get_initial_window (const MmtpRateControlStart * start)
{
  guint64 packets = INITIAL_PACKETS;

  if (start->rate)
    return MAX (start->rate / 8 * ((start->round_trip +
                REPORT_TIME) / 1000000) / 1000,
        MIN_INITIAL_PACKETS * start->packet);

  if (start->round_trip > INITIAL_ROUND_TRIP && !start->is_minimum)
    packets = MAX (INITIAL_PACKETS * INITIAL_ROUND_TRIP / start->round_trip,
        start->has_other_paths ? MIN_JOINED_PACKETS : MIN_INITIAL_PACKETS);
  return packets * start->packet;
}
