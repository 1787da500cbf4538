/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A channel that alternates between a good and a bad state. Its state depends
 * only on the seed and the time, not on the packets or on the order of the
 * queries. The duration of each state is random, with an exponential
 * distribution. If the field `grain` (the duration of a block) is not 0, the
 * duration of each state is a multiple of `grain` and has a geometric
 * distribution (Gilbert 1960). */

#pragma once

#include "linkconfig.h"

typedef struct
{
  guint64 seed;
  guint32 flow, purpose;
  /* mean duration in ns of each state; index 0 is the good state, and index 1
   * is the bad state */
  guint64 mean[2];
  /* Unit of the durations, in ns. The duration of each state is a multiple of
   * it. 0 = no restriction. */
  guint64 grain;
  /* The state in which the channel was at the time of the last query. The
   * states are numbered in the order of time; `index` is the number of this
   * state. `begin` and `end` are the times in ns at which it begins and ends.
   */
  guint64 index, begin, end;
  gboolean first_bad;
} LinkOnOff;

/* Initializes the channel. `grain` is a time in ns, or 0. If it is not 0, the
 * duration of each state is a multiple of `grain`, and the mean durations are
 * raised to at least `grain`. */
void link_on_off_init (LinkOnOff * state, const LinkOnOffConfig * config,
    guint64 grain, guint64 seed, guint32 flow, guint32 purpose);
/* Returns whether the channel is in its bad state at `time`. The function is
 * fast if `time` is close to the time in the previous call, because it then has
 * to pass only few changes of the state. */
gboolean link_on_off_is_bad (LinkOnOff * state, guint64 time);
/* Returns the time of the next state change after `time`, or G_MAXUINT64 if the
 * state never changes. */
guint64 link_on_off_end (LinkOnOff * state, guint64 time);
