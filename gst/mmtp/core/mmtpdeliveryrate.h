/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* At what rate a path delivers, measured from the reports of the receiver.
 * Times are ns, sizes bytes, and rates bytes per ns. A module of the default
 * congestion control (mmtpdeliverycontrol.c).
 */

#pragma once

#include "mmtpratecontrol.h"

/* Reports come each 50 ms, and may come each 5 ms. */
#define MMTP_DELIVERY_POINTS 256

typedef struct
{
  gdouble arrival, sent;        /* of the newest message, on the receiver's and
                                 * on the sender's clock */
  gdouble delivered;            /* since the beginning */
} MmtpDeliveryPoint;

typedef struct
{
  MmtpDeliveryPoint points[MMTP_DELIVERY_POINTS];       /* a ring */
  guint n_points, next_point;

  gdouble long_rate;            /* highest for a long time */
  gdouble time;                 /* of the last report */
  gdouble epoch;                /* arrival at which the present burst began */
  gdouble epoch_bytes;          /* that have arrived since */
  gdouble extra;                /* largest burst of late */
} MmtpDeliveryRate;

/* `packet`: bytes of the largest packet. The sample tells of something that
 * has arrived. */
void mmtp_delivery_rate_add (MmtpDeliveryRate * rate,
    const MmtpRateSample * sample, guint packet);
/* Over the last `span`, or somewhat longer; 0: unknown */
gdouble mmtp_delivery_rate_get (const MmtpDeliveryRate * rate, gdouble span);
/* Highest rate at which messages were sent and arrived, over a quarter of a
 * second, of the last half minute; 0: unknown */
gdouble mmtp_delivery_rate_get_long (const MmtpDeliveryRate * rate);
/* Bytes by which the path is ahead of its highest rate after it has delivered
 * nothing for a while: without so much in flight in addition, the pauses
 * would cost throughput. */
gdouble mmtp_delivery_rate_get_extra (const MmtpDeliveryRate * rate);
