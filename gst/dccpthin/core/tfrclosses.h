/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The loss intervals of TFRC, and the loss event rate that is computed from
 * them (RFC 5348 sections 5.3 to 5.5, RFC 4342 section 6.1). A loss interval
 * consists of the packets from the beginning of one loss event to the beginning
 * of the next.
 *
 * A receiver of data adds the losses that it detects. A sender of data gets the
 * intervals from its peer, in the option Loss Intervals. It adds them here, the
 * oldest first, and computes the loss event rate with the same code.
 */

#pragma once

#include <glib.h>

/* Maximum number of loss intervals. One is the open interval, which has not
 * ended yet. The others are the n = 8 latest closed intervals (RFC 5348 section
 * 5.4). */
#define TFRC_LOSSES_KEPT 9

typedef struct
{
  /* Number of packets from the first lost packet of the loss interval to its
   * last lost packet. Packets between these two that have arrived are included.
   */
  guint64 loss;
  /* Number of packets in this loss interval that follow the last lost packet of
   * the interval. */
  guint64 lossless;
  /* Length I_i of the loss interval (RFC 5348): the number of its packets that
   * have data. The fields `loss` and `lossless`, in contrast, also count
   * packets without data. The first loss interval of a connection is an
   * exception: when the first loss event begins, tfrc_losses_set_first ()
   * replaces the counted length by another value. */
  gdouble data;
  gdouble discount;             /* discount factor DF_i */
} TfrcLossInterval;

typedef struct
{
  /* Number of stored loss intervals, including the open (current) one. 1 = no
   * loss yet. */
  guint n;
  TfrcLossInterval intervals[TFRC_LOSSES_KEPT]; /* latest interval first */
} TfrcLosses;

void tfrc_losses_init (TfrcLosses * losses);
/* Adds packets to the open (current) loss interval. This function is for
 * packets that do not count as losses: each of them has arrived, or it is
 * missing but had no data. `packets` is the number of these packets. `data` is
 * the number of packets among them that have data. */
void tfrc_losses_add_lossless (TfrcLosses * losses, guint64 packets,
    guint64 data);
/* Begins a new loss event: closes the open (current) loss interval, and opens a
 * new one. */
void tfrc_losses_begin (TfrcLosses * losses);
/* Adds lost packets to the current loss event. `packets` is the number of lost
 * packets, and `data` is the number of lost packets that had data.
 *
 * The open loss interval has two counters: `loss` counts the packets from the
 * first to the last lost packet, and `lossless` counts the packets after the
 * last lost packet. The packets that are added now follow all of these packets,
 * and become the last lost packets. The packets in `lossless` are now between
 * two lost packets, so the function moves them to `loss`. */
void tfrc_losses_add_loss (TfrcLosses * losses, guint64 packets,
    guint64 data);
/* Sets the length in packets of the first loss interval, which ends with the
 * first loss. RFC 5348 section 6.3.1 does not use the number of received
 * packets as this length. Instead, the caller takes the receive rate before the
 * loss, and computes the loss event rate p at which TFRC would allow this rate.
 * `length` is 1 / p. */
void tfrc_losses_set_first (TfrcLosses * losses, gdouble length);
/* Returns the mean length of the loss intervals in packets, with history
 * discounting (I_mean of RFC 5348 section 5). The loss event rate p is 1 /
 * I_mean. Returns 0 if there was no loss yet. */
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
  /* Skip Length: number of the latest packets that are not part of a loss
   * interval yet, because some of them are missing and may still arrive. The
   * maximum is 3. */
  guint8 skip;
  guint n;                      /* at least 1 */
  TfrcInterval intervals[TFRC_MAX_INTERVALS];  /* latest interval first */
} TfrcIntervals;

/* Computes the loss event rate p from the loss intervals that the peer
 * reported, and stores it in `loss_event_rate`. Returns FALSE if the peer
 * reported no intervals. A sender that can compute p in this way should not use
 * the value of p that the peer reports (RFC 4342 section 6.1). */
gboolean tfrc_intervals_get_loss_event_rate (const TfrcIntervals * intervals,
    gdouble * loss_event_rate);
