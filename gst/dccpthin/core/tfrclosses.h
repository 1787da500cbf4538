/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The loss intervals of TFRC (RFC 5348 sections 5.3 to 5.5, RFC 4342 section
 * 6.1) and the loss event rate that they make. The receiver fills them as it
 * finds losses; a sender reads those of a Loss Intervals option, the oldest
 * first, and has by the same steps the same rate.
 */

#pragma once

#include <glib.h>

/* The open one and n = 8 closed ones (RFC 5348 section 5.4) */
#define TFRC_LOSSES_KEPT 9

typedef struct
{
  guint64 loss;                 /* packets from the first lost to the last */
  guint64 lossless;             /* ... and behind it */
  gdouble data;                 /* of both, those with data: the length I that
                                 * counts */
  gdouble discount;             /* DF_i */
} TfrcLossInterval;

typedef struct
{
  guint n;                      /* intervals, with the open one; 1: before the
                                 * first loss */
  TfrcLossInterval intervals[TFRC_LOSSES_KEPT]; /* latest first */
} TfrcLosses;

void tfrc_losses_init (TfrcLosses * losses);
/* Packets of the open interval that came, or were no data */
void tfrc_losses_add_lossless (TfrcLosses * losses, guint64 packets,
    guint64 data);
/* A loss event: the open interval is closed, another one begins. */
void tfrc_losses_begin (TfrcLosses * losses);
/* Lost packets of the same loss event: what came between is of its lossy part
 * too. */
void tfrc_losses_add_loss (TfrcLosses * losses, guint64 packets,
    guint64 data);
/* The length of the only interval before the first loss is not that of what
 * came, but 1 / p (RFC 5348 section 6.3.1). */
void tfrc_losses_set_first (TfrcLosses * losses, gdouble length);
/* I_mean, with history discounting: 1 / p; 0: no loss yet */
gdouble tfrc_losses_get_mean (const TfrcLosses * losses);

/* --- what a receiver reports of them -------------------------------------- */

#define TFRC_MAX_INTERVALS 28      /* RFC 4342 section 8.6 */

typedef struct
{
  guint32 lossless;             /* packets, 24 bits */
  guint32 loss;                 /* packets, 23 bits */
  guint32 data;                 /* packets with data, 24 bits */
  gboolean ecn_nonce;           /* E; written as 0 */
} TfrcInterval;

typedef struct
{
  guint8 skip;                  /* packets before the first one, at most 3 */
  guint n;                      /* at least 1 */
  TfrcInterval intervals[TFRC_MAX_INTERVALS];  /* latest first */
} TfrcIntervals;

/* p of what the other end of the wire says. FALSE: the intervals say nothing
 * (none). For senders: they compute p themselves where they can (RFC 4342
 * section 6.1). */
gboolean tfrc_intervals_get_loss_event_rate (const TfrcIntervals * intervals,
    gdouble * loss_event_rate);
