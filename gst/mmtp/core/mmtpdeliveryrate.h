/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures the delivery rate of a path from the receiver's reports. Some paths
 * deliver in bursts, and this module also measures the size of these bursts. It
 * belongs to the default congestion control (mmtpdeliverycontrol.c). Times are
 * in ns, sizes in bytes, rates in bytes per ns. */

#pragma once

#include "mmtpratecontrol.h"

/* Number of reports that are stored. Reports usually arrive every 50 ms; the
 * stored reports then cover about 13 s. At the shortest interval, which is 5
 * ms, they cover about 1.3 s. */
#define MMTP_DELIVERY_POINTS 256

typedef struct
{
  /* Times in ns of the newest message that the report covers. `arrival` is the
   * time on the receiver's clock at which the message arrived. `sent` is the
   * time on the sender's clock at which it was sent. */
  gdouble arrival, sent;
  gdouble delivered;            /* bytes delivered since the beginning */
} MmtpDeliveryPoint;

typedef struct
{
  MmtpDeliveryPoint points[MMTP_DELIVERY_POINTS];       /* ring buffer */
  guint n_points, next_point;

  /* Maximum of the recent delivery rates, in bytes per ns. Each rate is
   * measured over an interval of LONG_SPAN (250 ms). The maximum decays slowly.
   */
  gdouble long_rate;
  gdouble time;                 /* time of the last report */
  /* arrival time in ns at which the measurement of the current burst began */
  gdouble epoch;
  gdouble epoch_bytes;          /* bytes that arrived since `epoch` */
  /* Size of the largest recent burst, in bytes. The size of a burst is the
   * number of bytes that arrive in it, minus the bytes that the path would
   * deliver in the duration of the burst at its maximum rate, `long_rate`. The
   * value decays with time. */
  gdouble extra;
} MmtpDeliveryRate;

/* Processes a report about newly arrived messages. `packet` is the maximum size
 * of a packet, in bytes. */
void mmtp_delivery_rate_add (MmtpDeliveryRate * rate,
    const MmtpRateSample * sample, guint packet);
/* Returns the delivery rate in bytes per ns, measured over at least `span` ns.
 * The measurement ends with the newest message that the receiver has reported.
 * Returns 0 if the rate is unknown. */
gdouble mmtp_delivery_rate_get (const MmtpDeliveryRate * rate, gdouble span);
/* Returns the maximum of the recent delivery rates, or 0 if none is known. Each
 * rate is measured over a quarter of a second, and is limited to the rate at
 * which the messages were sent. The maximum decays to 1/e in 30 s. */
gdouble mmtp_delivery_rate_get_long (const MmtpDeliveryRate * rate);
/* Returns a number of bytes that has to be added to the congestion window of a
 * path that delivers data in bursts. Without these bytes, the pauses between
 * the bursts would reduce the throughput.
 *
 * The long rate is the result of mmtp_delivery_rate_get_long (). It is measured
 * over a quarter of a second, and is limited to the rate of sending. During a
 * burst, data arrive faster than that. This function returns the number of
 * bytes that arrive in the burst, minus the number of bytes that would arrive
 * in the same time at the long rate. */
gdouble mmtp_delivery_rate_get_extra (const MmtpDeliveryRate * rate);
