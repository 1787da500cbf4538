/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of ifdestimate.h: the rate that a TCP connection can carry. */

#include "ifdestimate.h"

#include <string.h>

#define MILLISECOND G_GUINT64_CONSTANT (1000000)

/* Length in ns of the time window over which the rate of the connection is
 * measured. The window covers about ten frames. A much shorter window would be
 * inaccurate, because frames differ in size and acknowledgements arrive in
 * bursts. */
#define WINDOW (400 * MILLISECOND)
/* Minimum duration of a measurement */
#define MIN_WINDOW (200 * MILLISECOND)
/* Minimum time between two samples */
#define MIN_INTERVAL (10 * MILLISECOND)

void
ifd_estimate_init (IfdEstimate * estimate)
{
  memset (estimate, 0, sizeof (*estimate));
  estimate->is_app_limited = TRUE;
}

/* Returns the n-th newest sample. n = 0 is the newest one. */
static const IfdEstimateSample *
get_sample (const IfdEstimate * estimate, guint n)
{
  return &estimate->samples[(estimate->next_sample + IFD_ESTIMATE_SAMPLES - 1 -
          n) % IFD_ESTIMATE_SAMPLES];
}

static void
add_sample (IfdEstimate * estimate, const IfdEstimateSample * sample)
{
  estimate->samples[estimate->next_sample] = *sample;
  estimate->next_sample = (estimate->next_sample + 1) % IFD_ESTIMATE_SAMPLES;
  estimate->n_samples = MIN (estimate->n_samples + 1, IFD_ESTIMATE_SAMPLES);
}

gboolean
ifd_estimate_is_due (const IfdEstimate * estimate, guint64 now)
{
  return estimate->n_samples == 0
      || now >= get_sample (estimate, 0)->time + MIN_INTERVAL;
}

/* Returns the sample at which the measurement begins: the newest sample that is
 * at least WINDOW old, or the oldest sample if none is so old. `n` is set to
 * the number of samples that are newer than the returned sample. `n_full` is
 * set to the number of these newer samples that were taken while data were
 * waiting for the network. */
static const IfdEstimateSample *
find_begin (const IfdEstimate * estimate, guint64 now, guint * n,
    guint * n_full)
{
  const IfdEstimateSample *sample = NULL;
  guint i;

  *n = *n_full = 0;
  for (i = 0; i < estimate->n_samples; i++) {
    sample = get_sample (estimate, i);
    if (sample->time + WINDOW <= now || i + 1 == estimate->n_samples)
      break;
    *n += 1;
    *n_full += sample->is_full;
  }
  return sample;
}

/* Updates the estimated rate of the connection. First the rate at which data
 * were acknowledged during the last WINDOW is measured. This measured rate
 * becomes the new estimate if data were waiting to be sent during most of the
 * window and are still waiting now. Otherwise the connection might have been
 * able to deliver more. In that case, the measured rate becomes the new
 * estimate only if it is higher than the old estimate. */
static void
update (IfdEstimate * estimate, guint64 now, guint64 delivered)
{
  const IfdEstimateSample *begin;
  guint n, n_full;
  guint64 rate;

  begin = find_begin (estimate, now, &n, &n_full);
  if (!begin || begin->time + MIN_WINDOW > now)
    return;
  rate = (delivered - begin->delivered) * 8.0 * 1000 * MILLISECOND /
      (now - begin->time);
  estimate->is_app_limited = 2 * n_full <= n;
  if (estimate->is_app_limited || !get_sample (estimate, 0)->is_full)
    rate = MAX (rate, estimate->rate);
  estimate->rate = MAX (rate, 1);
}

void
ifd_estimate_input (IfdEstimate * estimate, guint64 now, guint64 delivered,
    gboolean is_full)
{
  IfdEstimateSample sample = { now, delivered, is_full };
  const IfdEstimateSample *last = get_sample (estimate, 0);

  if (!ifd_estimate_is_due (estimate, now))
    return;
  if (estimate->n_samples > 0)
    delivered = sample.delivered = MAX (delivered, last->delivered);
  add_sample (estimate, &sample);
  update (estimate, now, delivered);
}

guint64
ifd_estimate_get (const IfdEstimate * estimate, gboolean * is_app_limited)
{
  *is_app_limited = estimate->is_app_limited;
  return estimate->rate;
}
