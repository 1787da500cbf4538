/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A microwave oven next to the link, as in the experiment of Ouwens (2006,
 * section 3.2). While the oven is switched on, its magnetron radiates during a
 * part of each cycle of the mains voltage. The state of the oven depends only
 * on the seed and the time. */

#pragma once

#include "linkconfig.h"

typedef struct
{
  LinkOvenConfig config;
  /* position in the mains cycle at time 0, in ns */
  guint64 phase;
} LinkOven;

void link_oven_init (LinkOven * oven, const LinkOvenConfig * config,
    guint64 seed);
/* Returns whether the oven is switched on at `time`. */
gboolean link_oven_is_running (const LinkOven * oven, guint64 time);
/* Returns the next time after `time` at which the oven is switched on or off;
 * G_MAXUINT64 = never. */
guint64 link_oven_next_change (const LinkOven * oven, guint64 time);
/* Returns whether the oven radiates at any time from `begin` (included) to
 * `end` (excluded). */
gboolean link_oven_overlaps (const LinkOven * oven, guint64 begin,
    guint64 end);
/* Returns the duty cycle of the oven while it is switched on: the time for
 * which it radiates in each mains cycle, divided by the length of the cycle. */
gdouble link_oven_get_share (const LinkOven * oven);
