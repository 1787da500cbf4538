/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of tfrclosses.h: the loss intervals of TFRC. Section numbers
 * refer to RFC 5348. */

#include "tfrclosses.h"

#include <string.h>

#define N (TFRC_LOSSES_KEPT - 1)
/* Minimum of the discount factor, by which the weights of old loss intervals
 * are multiplied (RFC 5348 section 5.5). In the older RFC 3448, this minimum
 * was 0.5. */
#define THRESHOLD 0.25

/* w_i (5.4) */
static const gdouble weights[N] = { 1, 1, 1, 1, .8, .6, .4, .2 };

void
tfrc_losses_init (TfrcLosses * losses)
{
  memset (losses, 0, sizeof (*losses));
  losses->n = 1;
  losses->intervals[0].discount = 1;
}

void
tfrc_losses_add_lossless (TfrcLosses * losses, guint64 packets, guint64 data)
{
  losses->intervals[0].lossless += packets;
  losses->intervals[0].data += data;
}

void
tfrc_losses_add_loss (TfrcLosses * losses, guint64 packets, guint64 data)
{
  TfrcLossInterval *open = &losses->intervals[0];

  open->loss += open->lossless + packets;
  open->lossless = 0;
  open->data += data;
}

void
tfrc_losses_set_first (TfrcLosses * losses, gdouble length)
{
  losses->intervals[0].data = length;
}

/* Returns the length in packets of the loss interval with the index `i` (I_i of
 * RFC 5348). It is at least one packet, even if the peer reports less. */
static gdouble
get_length (const TfrcLosses * losses, guint i)
{
  return MAX (losses->intervals[i].data, 1);
}

/* Computes two sums over the closed loss intervals (RFC 5348 section 5.4). The
 * closed loss intervals are all stored intervals except the current one.
 * `weight` is set to W_tot, the sum of the weights of these intervals. `length`
 * is set to I_tot, the weighted sum of their lengths. */
static void
sum_closed (const TfrcLosses * losses, gdouble * weight, gdouble * length)
{
  guint i;

  *weight = *length = 0;
  for (i = 1; i < losses->n; i++) {
    const gdouble w = weights[i - 1] * losses->intervals[i].discount;

    *weight += w;
    *length += get_length (losses, i) * w;
  }
}

/* Returns the discount factor DF, by which the weights of the closed loss
 * intervals are multiplied (RFC 5348 section 5.5). DF is less than 1 if the
 * open (current) interval is longer than twice the mean of the closed
 * intervals. The closed intervals then have less weight. */
static gdouble
get_discount (const TfrcLosses * losses)
{
  gdouble weight, length;

  sum_closed (losses, &weight, &length);
  return CLAMP (2 * length / weight / get_length (losses, 0), THRESHOLD, 1);
}

void
tfrc_losses_begin (TfrcLosses * losses)
{
  const gdouble discount = losses->n > 1 ? get_discount (losses) : 1;
  guint i;

  for (i = 1; i < losses->n; i++)
    losses->intervals[i].discount *= discount;
  losses->n = MIN (losses->n + 1, TFRC_LOSSES_KEPT);
  memmove (&losses->intervals[1], &losses->intervals[0],
      (losses->n - 1) * sizeof (losses->intervals[0]));
  memset (&losses->intervals[0], 0, sizeof (losses->intervals[0]));
  losses->intervals[0].discount = 1;
}

/* Returns the mean length of the loss intervals in packets (RFC 5348 section
 * 5.4). The intervals are numbered from the newest: I_0 is the open (current)
 * interval, and I_1 to I_k are the closed intervals. Two weighted means are
 * computed, one over I_0 to I_(k-1), and the other over I_1 to I_k. The
 * function returns the greater of the two means. The first mean omits the
 * oldest interval I_k even if there are fewer than eight closed intervals. */
gdouble
tfrc_losses_get_mean (const TfrcLosses * losses)
{
  gdouble closed_weight, closed, weight, open, discount;
  guint i;

  if (losses->n <= 1)
    return 0;
  sum_closed (losses, &closed_weight, &closed);
  discount = get_discount (losses);
  weight = weights[0];
  open = get_length (losses, 0) * weights[0];
  for (i = 1; i < losses->n - 1; i++) {
    const gdouble w = weights[i] * losses->intervals[i].discount * discount;

    weight += w;
    open += get_length (losses, i) * w;
  }
  return MAX (open / weight, closed / closed_weight);
}

/* Computes the loss event rate from the Loss Intervals option that the peer
 * sent. Each interval has a discount factor, which gives old intervals less
 * weight (RFC 5348 section 5.5). The option does not contain these factors.
 * They are computed here, in the same way as at the receiver: the intervals are
 * added one after the other, the oldest one first. Whenever a later interval
 * begins, the factors of all earlier intervals are updated. */
gboolean
tfrc_intervals_get_loss_event_rate (const TfrcIntervals * intervals,
    gdouble * loss_event_rate)
{
  TfrcLosses losses;
  gdouble mean;
  guint i;

  if (intervals->n == 0 || intervals->n > TFRC_MAX_INTERVALS)
    return FALSE;
  tfrc_losses_init (&losses);
  for (i = intervals->n; i > 0; i--) {
    const TfrcInterval *interval = &intervals->intervals[i - 1];

    if (i < intervals->n)
      tfrc_losses_begin (&losses);
    losses.intervals[0].data = interval->data;
  }
  /* If the peer reported only one loss interval, and this interval begins with
   * a loss, there is no closed interval. The length of this only interval is
   * then used as the mean. */
  if (intervals->n == 1 && intervals->intervals[0].loss > 0)
    mean = get_length (&losses, 0);
  else
    mean = tfrc_losses_get_mean (&losses);
  *loss_event_rate = mean > 0 ? 1 / mean : 0;
  return TRUE;
}
