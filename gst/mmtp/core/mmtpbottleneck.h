/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bottleneck of a path: the slowest link, in front of which messages wait
 * in a queue. This module measures how long the bottleneck takes to transmit a
 * byte, and predicts when it has transmitted all messages that were sent.
 *
 * Times are in ns unless noted otherwise, and sizes are in bytes with IP and
 * UDP headers. */

#pragma once

#include "mmtprecent.h"
#include "mmtpsentlog.h"

typedef struct
{
  /* predicted time at which the bottleneck has transmitted all messages that
   * were sent on the path */
  guint64 busy_until;
  /* Minimum of the recently measured transmission times per byte, in ps. Only
   * large messages are measured. */
  MmtpRecent byte_times;
  /* base delay that was subtracted from the delays of messages to compute the
   * values in `byte_times` */
  gint64 base;
} MmtpBottleneck;

void mmtp_bottleneck_clear (MmtpBottleneck * bottleneck);

/* Sets the base delay of the path to `base`, and corrects the transmission
 * times that were measured with another base delay. `packet` is the size of a
 * usual packet. */
void mmtp_bottleneck_set_base (MmtpBottleneck * bottleneck, gint64 base,
    guint64 packet);
/* Adds the measurement of a large message. `time` is its delay minus the base
 * delay. */
void mmtp_bottleneck_measure (MmtpBottleneck * bottleneck, guint64 now,
    gint64 time, guint32 size);
gboolean mmtp_bottleneck_is_measured (const MmtpBottleneck * bottleneck);
/* Returns the measured transmission time of a byte; 0 if it is unknown. */
gdouble mmtp_bottleneck_get_byte_time (const MmtpBottleneck * bottleneck);

/* Called when a message is sent. `time` is its transmission time. */
void mmtp_bottleneck_sent (MmtpBottleneck * bottleneck, guint64 now,
    guint64 time);
/* Called when a report has arrived. Corrects the prediction. `newest` is the
 * newest message that has reached the receiver. `queued` is the delay of this
 * message minus the base delay. `byte_time` is the transmission time of a byte.
 * Returns how many messages in flight it has visited. */
guint mmtp_bottleneck_correct (MmtpBottleneck * bottleneck,
    const MmtpSentLog * log, const MmtpSent * newest, guint64 queued,
    gdouble byte_time);
/* Returns the time until the bottleneck has transmitted all messages that were
 * sent. */
guint64 mmtp_bottleneck_get_busy_time (const MmtpBottleneck * bottleneck,
    guint64 now);
