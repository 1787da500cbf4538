/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of arenamobile.h. */

#include "arenamobile.h"

#include <float.h>
#include <math.h>

#include "fractiondraw.h"
#include "seededdraw.h"

#define PACKET_BITS 12000.      /* a packet of a trace has 1500 bytes */
/* Ranges from which the properties of a link are drawn: rates in bit/s, times
 * in ms. */
#define MIN_RATE 0.6e6
#define MAX_RATE 30e6
#define MIN_SPREAD 0.1
#define MAX_SPREAD 0.8
#define MIN_MEMORY 500.
#define MAX_MEMORY 15000.
#define MIN_OUTAGE 100.
#define MAX_OUTAGE 1000.

/* Purposes of random numbers */
enum
{
  DRAW_RATE,
  DRAW_SPREAD,
  DRAW_MEMORY,
  DRAW_INTERVAL,
  DRAW_OUTAGE_PERIOD,
  DRAW_OUTAGE,
  DRAW_WANDERING,
  DRAW_ANGLE,
  DRAW_PACKET,
  DRAW_OUTAGE_BEGIN,
  DRAW_OUTAGE_LENGTH
};

/* Returns an exponentially distributed random number with the mean 1. */
static gdouble
draw_exponential (guint64 seed, guint32 purpose, guint64 index)
{
  return -log (MAX (fraction_draw (seed, 0, purpose, index), DBL_EPSILON));
}

/* Returns a random number with the standard normal distribution (Box and
 * Muller, 1958). */
static gdouble
draw_normal (guint64 seed, guint64 index)
{
  return sqrt (2 * draw_exponential (seed, DRAW_WANDERING, index)) *
      cos (2 * G_PI * fraction_draw (seed, 0, DRAW_ANGLE, index));
}

void
arena_mobile_link_init (ArenaMobileLink * link, guint64 seed)
{
  static const guint32 intervals[] = { 1, 1, 2, 10, 20, 40 };   /* ms */
  static const guint32 periods[] = { 0, 60000, 20000, 8000 };   /* ms */

  link->rate =
      fraction_draw_logarithmic (seed, 0, DRAW_RATE, MIN_RATE, MAX_RATE);
  link->spread =
      fraction_draw_logarithmic (seed, 0, DRAW_SPREAD, MIN_SPREAD, MAX_SPREAD);
  link->memory =
      fraction_draw_logarithmic (seed, 0, DRAW_MEMORY, MIN_MEMORY, MAX_MEMORY);
  link->interval =
      intervals[seeded_draw_below (seeded_draw (seed, 0, DRAW_INTERVAL, 0, 0),
          G_N_ELEMENTS (intervals))];
  link->outage_period =
      periods[seeded_draw_below (seeded_draw (seed, 0, DRAW_OUTAGE_PERIOD, 0,
              0), G_N_ELEMENTS (periods))];
  link->outage =
      fraction_draw_logarithmic (seed, 0, DRAW_OUTAGE, MIN_OUTAGE, MAX_OUTAGE);
}

void
arena_trace_add_mobile (ArenaTrace * trace, const ArenaMobileLink * link,
    guint64 seed, guint32 to)
{
  const gdouble kept = exp (-1 / link->memory);
  gdouble deviation = link->spread * draw_normal (seed, 0);
  /* how many packets the link still has to carry, on average, until the next
   * packet */
  gdouble missing = draw_exponential (seed, DRAW_PACKET, 0);
  guint32 time, outage_end = 0, batch = 0, i;
  guint64 n = 0;

  for (time = 1; time <= to; time++) {
    deviation = kept * deviation + sqrt (1 - kept * kept) * link->spread *
        draw_normal (seed, time);
    if (time < outage_end)
      continue;
    if (link->outage_period > 0
        && fraction_draw (seed, 0, DRAW_OUTAGE_BEGIN,
            time) < 1 / link->outage_period)
      outage_end =
          time + link->outage * draw_exponential (seed, DRAW_OUTAGE_LENGTH,
          time);
    missing -=
        link->rate / 1000 / PACKET_BITS * exp (deviation -
        link->spread * link->spread / 2);
    for (; missing <= 0; batch++)
      missing += draw_exponential (seed, DRAW_PACKET, ++n);
    for (i = 0; time % link->interval == 0 && i < batch; i++)
      arena_trace_add (trace, time);
    if (time % link->interval == 0)
      batch = 0;
  }
}
