/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A channel that is good for a while and bad for a while: a function of seed
 * and time, whatever is sent over it and whoever asks. Sojourn times are
 * exponential, or whole blocks with a geometric distribution (Gilbert 1960).
 */

#pragma once

#include "linkconfig.h"

typedef struct
{
  guint64 seed;
  guint32 flow, purpose;
  guint64 mean[2];              /* ns of good and of bad times */
  guint64 grain;                /* ns: sojourns are whole multiples; 0: any */
  /* where it stands: sojourn number index, from begin to end */
  guint64 index, begin, end;
  gboolean first_bad;
} LinkOnOff;

/* With grain, means are taken as multiples of it, at least one. */
void link_on_off_init (LinkOnOff * state, const LinkOnOffConfig * config,
    guint64 grain, guint64 seed, guint32 flow, guint32 purpose);
/* Fast from one time to one near it, before or behind */
gboolean link_on_off_is_bad (LinkOnOff * state, guint64 time);
/* When the state that holds at this time ends; G_MAXUINT64 if never */
guint64 link_on_off_end (LinkOnOff * state, guint64 time);
