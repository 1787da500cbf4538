/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of statistics.h. The required memory does not grow with the
 * length of the stream, so a measurement may run for weeks. */

#include "statistics.h"

#include <math.h>
#include <string.h>

/* --- histogram ---
 *
 * Each magnitude below 128 has its own bucket. For larger magnitudes, each
 * octave [2^e, 2^(e+1)) is divided into 64 buckets. The width of such a bucket
 * is 2^(e-6). A value therefore differs from the middle of its bucket by at
 * most 2^(e-7), which is at most 1/128 of the value. Positive and negative
 * values have separate buckets; zero counts as positive. */
#define EXACT_BITS 7
#define EXACT_VALUES (1 << EXACT_BITS)
#define BUCKETS_PER_OCTAVE (1 << (EXACT_BITS - 1))
#define N_BUCKETS (EXACT_VALUES + (64 - EXACT_BITS) * BUCKETS_PER_OCTAVE)

struct _StatisticsHistogram
{
  guint64 positive[N_BUCKETS];
  guint64 negative[N_BUCKETS];
  guint64 count;
  gint64 min, max;
  gdouble mean;
};

StatisticsHistogram *
statistics_histogram_new (void)
{
  return g_new0 (StatisticsHistogram, 1);
}

void
statistics_histogram_free (StatisticsHistogram * histogram)
{
  g_free (histogram);
}

/* Returns the magnitude (absolute value) of `value`. The result is also correct
 * for G_MININT64, whose magnitude does not fit into a gint64. */
static guint64
magnitude_of (gint64 value)
{
  return value < 0 ? -(guint64) value : (guint64) value;
}

static guint
bucket_of (guint64 magnitude)
{
  guint32 high = magnitude >> 32;
  guint exponent;

  if (magnitude < EXACT_VALUES)
    return magnitude;

  exponent = high ? 31 + g_bit_storage (high) : g_bit_storage (magnitude) - 1;

  return EXACT_VALUES + (exponent - EXACT_BITS) * BUCKETS_PER_OCTAVE +
      (magnitude >> (exponent - (EXACT_BITS - 1))) - BUCKETS_PER_OCTAVE;
}

static guint64
middle_of (guint bucket)
{
  guint octave;
  guint64 start, width;

  if (bucket < EXACT_VALUES)
    return bucket;

  octave = (bucket - EXACT_VALUES) / BUCKETS_PER_OCTAVE;
  width = G_GUINT64_CONSTANT (2) << octave;
  start = width * (BUCKETS_PER_OCTAVE +
      (bucket - EXACT_VALUES) % BUCKETS_PER_OCTAVE);

  return start + width / 2;
}

void
statistics_histogram_add (StatisticsHistogram * histogram, gint64 value)
{
  guint bucket = bucket_of (magnitude_of (value));

  if (value < 0)
    histogram->negative[bucket]++;
  else
    histogram->positive[bucket]++;

  if (histogram->count == 0 || value < histogram->min)
    histogram->min = value;
  if (histogram->count == 0 || value > histogram->max)
    histogram->max = value;

  histogram->count++;
  histogram->mean += (value - histogram->mean) / histogram->count;
}

guint64
statistics_histogram_get_count (const StatisticsHistogram * histogram)
{
  return histogram->count;
}

/* Returns the rank of a percentile by the nearest-rank method. This is the rank
 * of the smallest value such that at least `percent` % of all values are not
 * greater than it. For example, the percentile 99.9 % of 1000 values has the
 * rank 999. Because of the rounding error of binary fractions, the calculation
 * could give the rank 1000. A factor slightly below 1 prevents this. */
static guint64
rank_of (guint64 count, gdouble percent)
{
  gdouble rank = ceil (percent * count / 100.0 * (1.0 - 1e-12));

  return CLAMP (rank, 1.0, (gdouble) count);
}

/* Returns the value that has the given rank; the smallest value has the rank 1.
 * The result is the middle of the bucket that contains this value. */
static gint64
value_at_rank (const StatisticsHistogram * histogram, guint64 rank)
{
  guint64 seen = 0;
  guint i;

  for (i = N_BUCKETS; i-- > 0;) {
    seen += histogram->negative[i];
    if (seen >= rank)
      return -(gint64) MIN (middle_of (i), G_MAXINT64);
  }
  for (i = 0; i < N_BUCKETS; i++) {
    seen += histogram->positive[i];
    if (seen >= rank)
      return MIN (middle_of (i), G_MAXINT64);
  }
  return histogram->max;
}

gint64
statistics_histogram_get_percentile (const StatisticsHistogram * histogram,
    gdouble percent)
{
  gint64 value;

  if (histogram->count == 0)
    return 0;
  if (!(percent > 0.0))
    return histogram->min;
  if (percent >= 100.0)
    return histogram->max;

  value = value_at_rank (histogram, rank_of (histogram->count, percent));

  return CLAMP (value, histogram->min, histogram->max);
}

gdouble
statistics_histogram_get_mean (const StatisticsHistogram * histogram)
{
  return histogram->mean;
}

/* --- jitter --- */

void
statistics_jitter_init (StatisticsJitter * jitter)
{
  memset (jitter, 0, sizeof (*jitter));
}

void
statistics_jitter_restart (StatisticsJitter * jitter)
{
  jitter->valid = FALSE;
}

gdouble
statistics_jitter_add (StatisticsJitter * jitter, gint64 transit)
{
  if (jitter->valid) {
    guint64 d = transit > jitter->last_transit ?
        (guint64) transit - (guint64) jitter->last_transit :
        (guint64) jitter->last_transit - (guint64) transit;

    jitter->jitter += ((gdouble) d - jitter->jitter) / 16.0;
  }
  jitter->last_transit = transit;
  jitter->valid = TRUE;

  return jitter->jitter;
}

/* --- throughput ---
 *
 * A ring buffer contains the bytes that arrived within the window, the oldest
 * first. If bytes arrive at most window / 1024 after the time of the newest
 * entry, they are added to this entry. Otherwise they get a new entry. Two
 * entries are therefore more than window / 1024 apart, so 1024 entries are
 * enough for any number of packets. */
#define MAX_ARRIVALS 1024

typedef struct
{
  guint64 time;
  guint64 bytes;
} Arrival;

struct _StatisticsRate
{
  guint64 window;
  Arrival arrivals[MAX_ARRIVALS];
  guint first, n_arrivals;
  guint64 bytes;                /* sum of all entries */
  gboolean started;
  guint64 start;                /* time of the very first arrival in ns */
  guint64 now;                  /* the latest time so far */
};

StatisticsRate *
statistics_rate_new (guint64 window)
{
  StatisticsRate *rate;

  g_return_val_if_fail (window > 0, NULL);

  rate = g_new0 (StatisticsRate, 1);
  rate->window = window;

  return rate;
}

void
statistics_rate_free (StatisticsRate * rate)
{
  g_free (rate);
}

/* Advances the time of the measurement to `now`, and removes the entries that
 * have left the window. The time never goes back: if `now` is earlier than the
 * latest time so far, the latest time is used. */
static void
statistics_rate_advance (StatisticsRate * rate, guint64 now)
{
  rate->now = MAX (rate->now, now);

  while (rate->n_arrivals > 0 &&
      rate->now - rate->arrivals[rate->first].time >= rate->window) {
    rate->bytes -= rate->arrivals[rate->first].bytes;
    rate->first = (rate->first + 1) % MAX_ARRIVALS;
    rate->n_arrivals--;
  }
}

static Arrival *
statistics_rate_newest (StatisticsRate * rate)
{
  if (rate->n_arrivals == 0)
    return NULL;
  return &rate->arrivals[(rate->first + rate->n_arrivals - 1) % MAX_ARRIVALS];
}

void
statistics_rate_add (StatisticsRate * rate, guint64 now, guint bytes)
{
  Arrival *newest;

  statistics_rate_advance (rate, now);

  /* The first arrival is the start of the measurement. Its bytes are not
   * counted: the time during which they were sent lies before the start. */
  if (!rate->started) {
    rate->started = TRUE;
    rate->start = now;
    return;
  }

  newest = statistics_rate_newest (rate);
  if (!newest || rate->now - newest->time > rate->window / MAX_ARRIVALS) {
    rate->n_arrivals++;
    newest = statistics_rate_newest (rate);
    newest->time = rate->now;
    newest->bytes = 0;
  }
  newest->bytes += bytes;
  rate->bytes += bytes;
}

guint64
statistics_rate_get (StatisticsRate * rate, guint64 now)
{
  guint64 elapsed;

  if (!rate->started)
    return 0;

  statistics_rate_advance (rate, now);
  elapsed = MIN (rate->now - rate->start, rate->window);
  if (elapsed == 0)
    return 0;

  return (gdouble) rate->bytes * 8.0 * 1e9 / elapsed + 0.5;
}
