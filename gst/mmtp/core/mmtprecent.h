/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A moving minimum, which is the minimum of recent samples. The time is divided
 * into spans, and only the minimum of the samples in each of the last eight
 * spans is kept. When a span has enough samples or is old enough, a new span
 * begins and the oldest span is forgotten.
 */

#pragma once

#include <glib.h>

#define MMTP_RECENT_SPANS 8

typedef struct
{
  guint n;                      /* spans in use */
  guint at;                     /* index of the open span */
  /* time in ns at which the current span, the newest one, began */
  guint64 began;
  guint samples;                /* number of samples since `began` */
  gint64 min[MMTP_RECENT_SPANS];
} MmtpRecent;

void mmtp_recent_clear (MmtpRecent * recent);
/* Adds `samples` new samples to the moving minimum. `min` is the minimum of
 * these samples, which were measured up to the time `now` (in ns). */
void mmtp_recent_add (MmtpRecent * recent, guint64 now, gint64 min,
    guint samples);
/* Adds `change` to all stored minima. This is necessary if the samples are
 * differences from a reference value, and the caller changes this reference
 * value. */
void mmtp_recent_shift (MmtpRecent * recent, gint64 change);
gboolean mmtp_recent_is_known (const MmtpRecent * recent);
/* Returns the moving minimum, or 0 if no sample has been added yet. */
gint64 mmtp_recent_get (const MmtpRecent * recent);

/* A sum in which old amounts count less. Each amount counts fully when it is
 * added. After a time `period`, only 1/e of it (37 %) is left. The sum is
 * therefore close to the sum of the amounts in the last `period`, but no list
 * of the amounts is needed. The functions below get `period` as an argument.
 * Before the first amount is added, all fields are 0. */
typedef struct
{
  gdouble sum;                  /* value at `time` */
  /* time in ns of the latest addition to `sum` */
  guint64 time;
} MmtpFading;

/* Adds `amount` to the sum `fading` at the time `now`. Old amounts count less:
 * when the time `period` has passed since the addition, 1/e of the amount is
 * left. `now` and `period` are in ns. If `now` is before the last addition
 * (fading->time), the time of the last addition is used instead of `now`. */
void mmtp_fading_add (MmtpFading * fading, guint64 now, guint64 period,
    gdouble amount);
gdouble mmtp_fading_get (const MmtpFading * fading, guint64 now,
    guint64 period);
