/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures the delivery rate of a path from the receiver's reports. It also
 * measures the size of the bursts in which the path delivers. This module
 * belongs to the default congestion control (mmtpdeliverycontrol.c). Times are
 * in ns, sizes in bytes, rates in bytes per ns.
 */

#pragma once

#include "mmtpratecontrol.h"

/* Number of reports that are stored. Reports usually arrive every 50 ms; the
 * stored reports then cover about 13 s. At the shortest interval, which is 5
 * ms, they cover about 1.3 s. */
#define MMTP_DELIVERY_POINTS 256

typedef struct
{
  /* Times in ns of the newest message that the report covers: its arrival time
   * by the receiver's clock, and its sending time by the sender's clock. */
  gdouble arrival, sent;
  gdouble delivered;            /* bytes delivered since the beginning */
} MmtpDeliveryPoint;

typedef struct
{
  MmtpDeliveryPoint points[MMTP_DELIVERY_POINTS];       /* ring buffer */
  guint n_points, next_point;

  /* Maximum delivery rate, measured over intervals of LONG_SPAN; it decays
   * slowly. */
  gdouble long_rate;
  gdouble time;                 /* time of the last report */
  /* arrival time in ns at which the measurement of the current burst began */
  gdouble epoch;
  gdouble epoch_bytes;          /* bytes that arrived since `epoch` */
  /* Size of the largest recent burst in bytes, minus the bytes that the path
   * would have delivered in the same time anyway. The value decays with time.
   */
  gdouble extra;
} MmtpDeliveryRate;

/* Processes a report that shows that new messages have arrived. `packet` is the
 * size of the largest packet, in bytes. */
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
/* Returns the number of bytes by which the congestion window has to be larger
 * because the path delivers in bursts. A burst is the data that the path
 * delivers after a pause without deliveries. The result is the size of the
 * burst, minus the data that the path would deliver during the burst at its
 * maximum rate. If the window is larger by this number of bytes, the pauses do
 * not reduce the throughput. */
gdouble mmtp_delivery_rate_get_extra (const MmtpDeliveryRate * rate);
