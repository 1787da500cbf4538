/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A sum that forgets: each amount counts whole when it is added, and 1/e of it
 * after `period`. What was added lately thus counts as in a window of about that
 * length, without a list of what is in it. All zero: nothing was added.
 */

#pragma once

#include <glib.h>

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
