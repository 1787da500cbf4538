/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The loss intervals of TFRC (RFC 5348 sections 5.3 to 5.5, RFC 4342 section
 * 6.1) and the loss event rate that follows from them. The receiver adds the
 * losses that it finds. A sender computes the loss event rate from the
 * intervals of a Loss Intervals option, the oldest first, with the same code.
 */

#pragma once

#include <glib.h>

/* Maximum number of loss intervals. One is the open interval, which has not
 * ended yet. The others are the n = 8 latest closed intervals (RFC 5348 section
 * 5.4). */
#define TFRC_LOSSES_KEPT 9

typedef struct
{
  /* Number of packets from the first lost packet of the interval to the last
   * lost packet. */
  guint64 loss;
  /* Number of packets in the interval after its last lost packet. */
  guint64 lossless;
  /* Length I_i of the interval in packets (RFC 5348). The interval has `loss` +
   * `lossless` packets, but the length counts only those of them that have
   * data. */
  gdouble data;
  gdouble discount;             /* discount factor DF_i */
} TfrcLossInterval;

typedef struct
{
  /* number of loss intervals, including the current one; 1 = no loss yet */
  guint n;
  TfrcLossInterval intervals[TFRC_LOSSES_KEPT]; /* latest interval first */
} TfrcLosses;

void tfrc_losses_init (TfrcLosses * losses);
/* Adds packets that are not losses to the open (current) loss interval. Each of
 * them either has arrived, or is lost but had no data. `packets` is their
 * number, and `data` is the number of those that have data. */
void tfrc_losses_add_lossless (TfrcLosses * losses, guint64 packets,
    guint64 data);
/* Begins a loss event: closes the open interval and begins another one. */
void tfrc_losses_begin (TfrcLosses * losses);
/* Adds lost packets to the current loss event. The packets counted in
 * `lossless` precede these losses, so their number is moved from `lossless` to
 * `loss`. */
void tfrc_losses_add_loss (TfrcLosses * losses, guint64 packets,
    guint64 data);
/* Sets the length of the interval before the first loss to `length`. This
 * length is 1 / p, which is derived from the receive rate; it is not the number
 * of received packets (RFC 5348 section 6.3.1). */
void tfrc_losses_set_first (TfrcLosses * losses, gdouble length);
/* Returns the mean length of the loss intervals with history discounting
 * (I_mean of RFC 5348). The loss event rate p is 1 / I_mean. Returns 0 if there
 * was no loss yet. */
gdouble tfrc_losses_get_mean (const TfrcLosses * losses);

/* --- intervals that a receiver reports ------------------------------------ */

#define TFRC_MAX_INTERVALS 28      /* RFC 4342 section 8.6 */

typedef struct
{
  guint32 lossless;             /* packets, 24 bits */
  guint32 loss;                 /* packets, 23 bits */
  guint32 data;                 /* packets with data, 24 bits */
  gboolean ecn_nonce;           /* ECN nonce echo E; written as 0 */
} TfrcInterval;

typedef struct
{
  /* Skip Length: number of the latest packets that do not belong to an interval
   * yet, because missing packets among them may still arrive. The maximum is 3.
   */
  guint8 skip;
  guint n;                      /* at least 1 */
  TfrcInterval intervals[TFRC_MAX_INTERVALS];  /* latest interval first */
} TfrcIntervals;

/* Computes the loss event rate p from the loss intervals that the peer
 * reported. Returns FALSE if there are no intervals. A sender that can compute
 * p in this way should do so (RFC 4342 section 6.1). */
gboolean tfrc_intervals_get_loss_event_rate (const TfrcIntervals * intervals,
    gdouble * loss_event_rate);
