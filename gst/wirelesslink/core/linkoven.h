/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A microwave oven beside the link, as Ouwens had one (3.2): its magnetron
 * radiates during a part of each cycle of the mains, while the oven is switched
 * on. A function of seed and time.
 */

#pragma once

#include "linkconfig.h"

typedef struct
{
  LinkOvenConfig config;
  guint64 phase;                /* ns */
} LinkOven;

void link_oven_init (LinkOven * oven, const LinkOvenConfig * config,
    guint64 seed);
/* Whether somebody has switched it on */
gboolean link_oven_is_running (const LinkOven * oven, guint64 time);
/* When that changes next after this time; G_MAXUINT64 if never */
guint64 link_oven_next_change (const LinkOven * oven, guint64 time);
/* Whether it radiates at any time from begin up to, without, end */
gboolean link_oven_overlaps (const LinkOven * oven, guint64 begin,
    guint64 end);
/* The part of the time in which it radiates, once it runs */
gdouble link_oven_get_share (const LinkOven * oven);
