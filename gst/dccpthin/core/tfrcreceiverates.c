/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* X_recv_set; see the header. */

#include "tfrcreceiverates.h"

#include <math.h>
#include <string.h>

void
tfrc_receive_rates_init (TfrcReceiveRates * rates, guint64 now)
{
  tfrc_receive_rates_replace (rates, now, INFINITY);
}

void
tfrc_receive_rates_replace (TfrcReceiveRates * rates, guint64 now, gdouble rate)
{
  rates->n = 1;
  rates->rates[0].time = now;
  rates->rates[0].rate = rate;
}

static void
forget_oldest (TfrcReceiveRates * rates)
{
  rates->n--;
  memmove (&rates->rates[0], &rates->rates[1],
      rates->n * sizeof (rates->rates[0]));
}

/* Adds the receive rate `rate` to the set. Only the largest rate of the set is
 * ever used. All older rates that are not greater than the new rate are
 * therefore removed first. The remaining rates decrease from the oldest to the
 * newest. If the set is still full, the newest of these rates is removed, too,
 * to make room for the new rate. */
static void
add (TfrcReceiveRates * rates, guint64 now, gdouble rate)
{
  while (rates->n > 0 && rates->rates[rates->n - 1].rate <= rate)
    rates->n--;
  if (rates->n == TFRC_RECEIVE_RATES_KEPT)
    rates->n--;
  rates->rates[rates->n].time = now;
  rates->rates[rates->n].rate = rate;
  rates->n++;
}

void
tfrc_receive_rates_update (TfrcReceiveRates * rates, guint64 now, gdouble rate,
    guint64 round_trip)
{
  add (rates, now, rate);
  while (rates->n > 1 && now - rates->rates[0].time > 2 * round_trip)
    forget_oldest (rates);
}

void
tfrc_receive_rates_maximize (TfrcReceiveRates * rates, guint64 now,
    gdouble rate)
{
  if (rates->n > 0 && isinf (rates->rates[0].rate))
    forget_oldest (rates);
  tfrc_receive_rates_replace (rates, now,
      rates->n > 0 ? MAX (rates->rates[0].rate, rate) : rate);
}

void
tfrc_receive_rates_halve (TfrcReceiveRates * rates)
{
  guint i;

  for (i = 0; i < rates->n; i++)
    rates->rates[i].rate /= 2;
}

gdouble
tfrc_receive_rates_get_max (const TfrcReceiveRates * rates)
{
  return rates->rates[0].rate;
}
