/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Traces of random mobile links. The model follows the link model of Sprout
 * (Winstein and others, NSDI 2013, section 3.1): the link delivers packets at
 * random times (Poisson process), the rate wanders, and there are outages. Three
 * parts differ:
 * - The logarithm of the rate wanders (Ornstein-Uhlenbeck process), so that the
 *   rate stays near its mean. In Sprout's model, the rate itself wanders.
 * - Outages do not depend on the rate. In Sprout's model, an outage begins when
 *   the rate has become zero.
 * - The link delivers in batches, as a base station that schedules a phone once
 *   in each interval.
 *
 * `profile=cellular` of the element wirelesslink follows Sprout's model more
 * closely, and has no batches. */

#ifndef __ARENA_MOBILE_H__
#define __ARENA_MOBILE_H__

#include "arenapaths.h"

G_BEGIN_DECLS

typedef struct
{
  gdouble rate;                 /* mean rate outside of outages, in bit/s */
  /* standard deviation of the natural logarithm of the rate */
  gdouble spread;
  /* time in ms after which the deviation from the mean has decayed to 1/e */
  gdouble memory;
  guint32 interval;             /* time between two batches in ms */
  /* Mean time between two outages, and mean duration of an outage, in ms. If the
   * first one is 0, there are no outages. */
  gdouble outage_period, outage;
} ArenaMobileLink;

/* Draws a link. The same seed always gives the same link. */
void arena_mobile_link_init (ArenaMobileLink * link, guint64 seed);
/* Adds the packets that `link` delivers until the time `to` (ms) to the empty
 * trace `trace`. */
void arena_trace_add_mobile (ArenaTrace * trace, const ArenaMobileLink * link,
    guint64 seed, guint32 to);

G_END_DECLS

#endif /* __ARENA_MOBILE_H__ */
