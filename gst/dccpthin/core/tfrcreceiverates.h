/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* X_recv_set of a TFRC sender (RFC 5348 section 4.3): the receive rates of the
 * last two round trips, of which only the largest ever counts. A rate that a
 * later one exceeds is therefore not kept, and the set stays small.
 */

#pragma once

#include <glib.h>

#define TFRC_RECEIVE_RATES_KEPT 8

typedef struct
{
  struct
  {
    guint64 time;               /* ns */
    gdouble rate;               /* bytes per second; infinite: the first one */
  } rates[TFRC_RECEIVE_RATES_KEPT];     /* oldest and largest first */
  guint n;
} TfrcReceiveRates;

/* What the sender begins with: one item, infinite */
void tfrc_receive_rates_init (TfrcReceiveRates * rates, guint64 now);
/* Nothing else is in it then */
void tfrc_receive_rates_replace (TfrcReceiveRates * rates, guint64 now,
    gdouble rate);
/* Adds it and forgets what is older than two round trips */
void tfrc_receive_rates_update (TfrcReceiveRates * rates, guint64 now,
    gdouble rate, guint64 round_trip);
/* Adds it and forgets all but the largest that is finite, whose time is now */
void tfrc_receive_rates_maximize (TfrcReceiveRates * rates, guint64 now,
    gdouble rate);
void tfrc_receive_rates_halve (TfrcReceiveRates * rates);
gdouble tfrc_receive_rates_get_max (const TfrcReceiveRates * rates);
