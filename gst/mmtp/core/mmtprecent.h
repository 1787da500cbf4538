/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The least of late: a delay that was measured long ago must not go on to be
 * believed. Eight spans, each closed when it holds samples enough, or is old;
 * the oldest is forgotten.
 */

#pragma once

#include <glib.h>

#define MMTP_RECENT_SPANS 8

typedef struct
{
  guint n;                      /* spans in use */
  guint at;                     /* the open one */
  guint64 began;                /* ns, the open one */
  guint samples;                /* in the open one */
  gint64 min[MMTP_RECENT_SPANS];
} MmtpRecent;

void mmtp_recent_clear (MmtpRecent * recent);
/* `samples`: for how many it stands */
void mmtp_recent_add (MmtpRecent * recent, guint64 now, gint64 min,
    guint samples);
/* What was added before was measured against something that has changed by so
 * much since. */
void mmtp_recent_shift (MmtpRecent * recent, gint64 change);
gboolean mmtp_recent_is_known (const MmtpRecent * recent);
/* 0 when nothing is known */
gint64 mmtp_recent_get (const MmtpRecent * recent);

/* A sum that forgets: each amount counts whole when it is added, and 1/e of it
 * after `period`. What was added lately thus counts as in a window of about that
 * length, without a list of what is in it. All zero: nothing was added.
 */
typedef struct
{
  gdouble sum;                  /* at `time` */
  guint64 time;                 /* ns, of the last amount */
} MmtpFading;

/* `now` and `period` in ns. A `now` before the last one counts as the last. */
void mmtp_fading_add (MmtpFading * fading, guint64 now, guint64 period,
    gdouble amount);
gdouble mmtp_fading_get (const MmtpFading * fading, guint64 now,
    guint64 period);
