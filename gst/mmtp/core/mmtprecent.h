/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A moving minimum: the minimum of recent samples. The samples are divided into
 * eight spans, and only the minimum of each span is kept. When a span has
 * enough samples or is old enough, a new span begins and the oldest span is
 * forgotten.
 */

#pragma once

#include <glib.h>

#define MMTP_RECENT_SPANS 8

typedef struct
{
  guint n;                      /* spans in use */
  guint at;                     /* index of the open span */
  /* time in ns at which the newest span of samples began */
  guint64 began;
  guint samples;                /* number of samples since `began` */
  gint64 min[MMTP_RECENT_SPANS];
} MmtpRecent;

void mmtp_recent_clear (MmtpRecent * recent);
/* Updates the moving minimum with `samples` new samples, which were measured
 * until `now` (in ns). `min` is the minimum of these samples. */
void mmtp_recent_add (MmtpRecent * recent, guint64 now, gint64 min,
    guint samples);
/* Adds `change` to all stored minima. Samples are differences from a reference
 * value. If the caller changes this reference value, it must correct the minima
 * with this function. */
void mmtp_recent_shift (MmtpRecent * recent, gint64 change);
gboolean mmtp_recent_is_known (const MmtpRecent * recent);
/* Returns the moving minimum, or 0 if it is not known. */
gint64 mmtp_recent_get (const MmtpRecent * recent);

/* A decaying sum. Each amount counts fully when it is added, and 1/e of it is
 * left after `period`. The result is close to the sum of the amounts in the
 * last `period`, but no list of the amounts is needed. All fields are 0 if
 * nothing was added.
 */
typedef struct
{
  gdouble sum;                  /* value at `time` */
  /* time at which an amount was last added to `sum`, in ns */
  guint64 time;
} MmtpFading;

/* Adds `amount` to the sum at the time `now`. After `period`, 1/e of it is
 * left. `now` and `period` are in ns. If `now` is before fading->time, the time
 * of the last addition, that time is used instead of `now`. */
void mmtp_fading_add (MmtpFading * fading, guint64 now, guint64 period,
    gdouble amount);
gdouble mmtp_fading_get (const MmtpFading * fading, guint64 now,
    guint64 period);
