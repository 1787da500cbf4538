/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See mmtpfading.h. */

#include "mmtpfading.h"

#include <math.h>

gdouble
mmtp_fading_get (const MmtpFading * fading, guint64 now, guint64 period)
{
  const guint64 age = now - MIN (now, fading->time);

  return fading->sum * exp (-(gdouble) age / period);
}

void
mmtp_fading_add (MmtpFading * fading, guint64 now, guint64 period,
    gdouble amount)
{
  fading->sum = mmtp_fading_get (fading, now, period) + amount;
  fading->time = MAX (fading->time, now);
}
