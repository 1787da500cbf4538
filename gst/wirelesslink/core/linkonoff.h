/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A channel that alternates between a good and a bad state. Its state depends
 * only on the seed and the time, not on the packets or on the order of the
 * queries. The time in a state has an exponential distribution. If the field
 * `grain` (the duration of a block) is set, the time is a multiple of `grain`
 * and has a geometric distribution (Gilbert 1960).
 */

#pragma once

#include "linkconfig.h"

typedef struct
{
  guint64 seed;
  guint32 flow, purpose;
  /* mean time in ns in the good state (index 0) and in the bad state (index 1)
   */
  guint64 mean[2];
  /* The time in a state is a multiple of this value, in ns; 0 = no restriction.
   */
  guint64 grain;
  /* The state at the time of the last query. `index` is the number of the
   * state; `begin` and `end` are the times in ns at which it begins and ends.
   */
  guint64 index, begin, end;
  gboolean first_bad;
} LinkOnOff;

/* Initializes the channel. `grain` is a time in ns, or 0. If it is not 0, the
 * time in each state is a multiple of `grain`, and the mean times are raised to
 * at least `grain`. */
void link_on_off_init (LinkOnOff * state, const LinkOnOffConfig * config,
    guint64 grain, guint64 seed, guint32 flow, guint32 purpose);
/* Returns whether the channel is in its bad state at `time`. The function is
 * fast if `time` is close to the time in the previous call, because it then has
 * to pass only few changes of the state. */
gboolean link_on_off_is_bad (LinkOnOff * state, guint64 time);
/* Returns the time of the next state change after `time`, or G_MAXUINT64 if the
 * state never changes. */
guint64 link_on_off_end (LinkOnOff * state, guint64 time);
