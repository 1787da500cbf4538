/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* X_recv_set of a TFRC sender (RFC 5348 section 4.3): the receive rates of the
 * last two round trips. Only the largest rate of the set is ever used. A rate
 * that a later rate exceeds is therefore removed, and the set stays small.
 */

#pragma once

#include <glib.h>

#define TFRC_RECEIVE_RATES_KEPT 8

typedef struct
{
  struct
  {
    guint64 time;               /* ns */
    /* rate in bytes per second; infinite for the initial entry */
    gdouble rate;
  /* The entries are sorted by time, the oldest first. The rates decrease from
   * entry to entry. */
  } rates[TFRC_RECEIVE_RATES_KEPT];
  guint n;
} TfrcReceiveRates;

/* Initialises the set as for a new sender: with one entry, whose rate is
 * infinite. */
void tfrc_receive_rates_init (TfrcReceiveRates * rates, guint64 now);
/* Replaces all entries by one entry with the rate `rate`. */
void tfrc_receive_rates_replace (TfrcReceiveRates * rates, guint64 now,
    gdouble rate);
/* Adds a receive rate to the set, and removes the rates that are older than two
 * round trips. */
void tfrc_receive_rates_update (TfrcReceiveRates * rates, guint64 now,
    gdouble rate, guint64 round_trip);
/* Adds a receive rate to the set, and then removes all entries except the one
 * with the largest finite rate. The time of this entry is set to `now`. */
void tfrc_receive_rates_maximize (TfrcReceiveRates * rates, guint64 now,
    gdouble rate);
void tfrc_receive_rates_halve (TfrcReceiveRates * rates);
gdouble tfrc_receive_rates_get_max (const TfrcReceiveRates * rates);
