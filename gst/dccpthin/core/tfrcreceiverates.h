/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The set X_recv_set of a TFRC sender (RFC 5348 section 4.3). It contains the
 * receive rates that the receiver reported during the last two round trips.
 * Only the largest rate of the set is ever used. When a new rate is added, all
 * rates that are not greater are therefore removed, and the set stays small.
 */

#pragma once

#include <glib.h>

#define TFRC_RECEIVE_RATES_KEPT 8

typedef struct
{
  struct
  {
    guint64 time;               /* ns */
    /* Receive rate in bytes per second. It is infinite in the first entry of a
     * new sender, which has received no report yet. */
    gdouble rate;
  /* The entries are sorted by time, the oldest first. Their rates decrease:
   * each entry has a lower rate than the entry before it. */
  } rates[TFRC_RECEIVE_RATES_KEPT];
  guint n;
} TfrcReceiveRates;

/* Initialises the set of a new sender. The set then has one entry with an
 * infinite rate, so that it does not limit the sending rate. */
void tfrc_receive_rates_init (TfrcReceiveRates * rates, guint64 now);
/* Replaces all entries of the set by one entry with the rate `rate` and the
 * time `now`. */
void tfrc_receive_rates_replace (TfrcReceiveRates * rates, guint64 now,
    gdouble rate);
/* Adds the receive rate `rate`, which the receiver has just reported, to the
 * set. Then removes the rates that were added more than two round trips ago.
 * The new rate always remains in the set. */
void tfrc_receive_rates_update (TfrcReceiveRates * rates, guint64 now,
    gdouble rate, guint64 round_trip);
/* Adds the receive rate `rate` to the set. Then removes all entries except the
 * one with the largest finite rate, and sets the time of this entry to `now`.
 */
void tfrc_receive_rates_maximize (TfrcReceiveRates * rates, guint64 now,
    gdouble rate);
void tfrc_receive_rates_halve (TfrcReceiveRates * rates);
gdouble tfrc_receive_rates_get_max (const TfrcReceiveRates * rates);
