/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures the delivery rate of a path from the receiver's reports, and how
 * much the path delivers in bursts. This module belongs to the default
 * congestion control (mmtpdeliverycontrol.c). Times are in ns, sizes in bytes,
 * rates in bytes per ns.
 */

#pragma once

#include "mmtpratecontrol.h"

/* Number of reports that are remembered. Reports usually arrive every 50 ms,
 * and every 5 ms at most. */
#define MMTP_DELIVERY_POINTS 256

typedef struct
{
  /* Arrival time (receiver's clock) and sending time (sender's clock) of the
   * newest message. */
  gdouble arrival, sent;
  gdouble delivered;            /* bytes delivered since the beginning */
} MmtpDeliveryPoint;

typedef struct
{
  MmtpDeliveryPoint points[MMTP_DELIVERY_POINTS];       /* ring buffer */
  guint n_points, next_point;

  /* Maximum delivery rate over LONG_SPAN; it decays slowly. */
  gdouble long_rate;
  gdouble time;                 /* time of the last report */
  /* arrival time at which the current burst began */
  gdouble epoch;
  gdouble epoch_bytes;          /* bytes that have arrived since `epoch` */
  /* Size of the largest recent burst, in bytes; it decays. */
  gdouble extra;
} MmtpDeliveryRate;

/* Adds a report in which new messages have arrived. `packet` is the size of the
 * largest packet, in bytes. */
void mmtp_delivery_rate_add (MmtpDeliveryRate * rate,
    const MmtpRateSample * sample, guint packet);
/* Returns the delivery rate over the last `span` ns or somewhat more; 0 if
 * unknown. */
gdouble mmtp_delivery_rate_get (const MmtpDeliveryRate * rate, gdouble span);
/* Returns the maximum rate of the last half minute at which messages were both
 * sent and delivered for a quarter of a second; 0 if unknown. */
gdouble mmtp_delivery_rate_get_long (const MmtpDeliveryRate * rate);
/* Returns the bytes by which a burst exceeds the path's maximum rate. A burst
 * is what the path delivers after a pause without deliveries. Without that many
 * additional bytes in flight, the pauses would reduce the throughput. */
gdouble mmtp_delivery_rate_get_extra (const MmtpDeliveryRate * rate);
