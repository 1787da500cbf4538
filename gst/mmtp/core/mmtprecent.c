/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtprecent.h: a moving minimum and a decaying sum, both in
 * constant memory. */

#include "mmtprecent.h"

#include <math.h>

/* A span is a period of time. The minimum of the samples of each span is kept
 * for the last eight spans. The moving minimum, which is the result, is the
 * minimum of these eight minima. A new span begins in two cases: the current
 * span has SPAN_SAMPLES samples and is at least SPAN_MIN (ns) old, or the
 * current span is SPAN_MAX (ns) old. The period that the moving minimum covers
 * therefore depends on the rate of the samples:
 * - At a medium rate, each span has 32 samples, so the moving minimum covers
 *   8 * 32 = 256 samples.
 * - At a high rate, each span lasts SPAN_MIN (0.5 s), so the moving minimum
 *   covers 8 * 0.5 = 4 s.
 * - At a low rate, each span lasts SPAN_MAX (2.5 s), so the moving minimum
 *   covers 8 * 2.5 = 20 s. A longer period would be useless, because a queue
 *   that delayed a message more than 20 s ago no longer exists. */
#define SPAN_SAMPLES 32
#define SPAN_MIN (G_GUINT64_CONSTANT (500000000))
#define SPAN_MAX (G_GUINT64_CONSTANT (2500000000))

void
mmtp_recent_clear (MmtpRecent * recent)
{
  recent->n = 0;
  recent->at = 0;
  recent->samples = 0;
}

static gboolean
is_full (const MmtpRecent * recent, guint64 now)
{
  guint64 age = now - recent->began;

  if (recent->n == 0 || age >= SPAN_MAX)
    return TRUE;
  return age >= SPAN_MIN && recent->samples >= SPAN_SAMPLES;
}

void
mmtp_recent_add (MmtpRecent * recent, guint64 now, gint64 min, guint samples)
{
  if (is_full (recent, now)) {
    recent->at = (recent->at + 1) % MMTP_RECENT_SPANS;
    recent->n = MIN (recent->n + 1, MMTP_RECENT_SPANS);
    recent->began = now;
    recent->samples = 0;
    recent->min[recent->at] = min;
  }
  recent->min[recent->at] = MIN (recent->min[recent->at], min);
  recent->samples += samples;
}

void
mmtp_recent_shift (MmtpRecent * recent, gint64 change)
{
  guint i;

  for (i = 0; i < MMTP_RECENT_SPANS; i++)
    recent->min[i] += change;
}

gboolean
mmtp_recent_is_known (const MmtpRecent * recent)
{
  return recent->n > 0;
}

gint64
mmtp_recent_get (const MmtpRecent * recent)
{
  gint64 min;
  guint i;

  if (recent->n == 0)
    return 0;
  min = recent->min[recent->at];
  for (i = 1; i < recent->n; i++)
    min = MIN (min, recent->min[(recent->at + MMTP_RECENT_SPANS - i)
            % MMTP_RECENT_SPANS]);
  return min;
}

/* --- sums ----------------------------------------------------------------- */

gdouble
mmtp_fading_get (const MmtpFading * fading, guint64 now, guint64 period)
{
  const guint64 age = now - MIN (now, fading->time);

  /* `age` is the time since the last addition to the sum. It is usually 0,
   * because packets are usually sent in groups. The slow function exp() is then
   * not needed. */
  if (age == 0)
    return fading->sum;
  return fading->sum * exp (-(gdouble) age / period);
}

void
mmtp_fading_add (MmtpFading * fading, guint64 now, guint64 period,
    gdouble amount)
{
  fading->sum = mmtp_fading_get (fading, now, period) + amount;
  fading->time = MAX (fading->time, now);
}
