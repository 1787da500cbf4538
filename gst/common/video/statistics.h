/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Statistics of a stream in constant memory: a histogram with percentiles, the
 * interarrival jitter, and the throughput in a sliding window. The caller
 * supplies all times.
 */

#pragma once

#include <glib.h>

/* Stores signed values in buckets whose width grows with the magnitude of the
 * values. A percentile is accurate to 1 part in 128 over the whole range of
 * gint64. */
typedef struct _StatisticsHistogram StatisticsHistogram;

StatisticsHistogram *statistics_histogram_new (void);
void statistics_histogram_free (StatisticsHistogram * histogram);
void statistics_histogram_add (StatisticsHistogram * histogram, gint64 value);
guint64 statistics_histogram_get_count (const StatisticsHistogram * histogram);
/* Returns a percentile by the nearest-rank method, for `percent` from 0 to 100;
 * 0 if no value was added. The results for 0 and 100 are exact: the minimum and
 * the maximum. */
gint64 statistics_histogram_get_percentile (const StatisticsHistogram *
    histogram, gdouble percent);
gdouble statistics_histogram_get_mean (const StatisticsHistogram * histogram);

/* RFC 3550 section 6.4.1: J += (|D| - J) / 16, where D is the difference of two
 * consecutive one-way delays in ns. The code calls the one-way delay transit
 * time, as the RFC does. */
typedef struct
{
  gboolean valid;
  gint64 last_transit;          /* in ns */
  gdouble jitter;               /* in ns */
} StatisticsJitter;

void statistics_jitter_init (StatisticsJitter * jitter);
/* The next transit time is not compared with the previous one, for example
 * after a gap of unknown length or a seek. The jitter is kept. */
void statistics_jitter_restart (StatisticsJitter * jitter);
gdouble statistics_jitter_add (StatisticsJitter * jitter, gint64 transit);

/* Counts the bytes that arrived within the last `window` ns, with a resolution
 * of 1/1024 of the window. The window does not include its start: if n frames
 * arrive at intervals of d, a measurement at the arrival of a frame counts n
 * frames in n * d. */
typedef struct _StatisticsRate StatisticsRate;

StatisticsRate *statistics_rate_new (guint64 window);
void statistics_rate_free (StatisticsRate * rate);
void statistics_rate_add (StatisticsRate * rate, guint64 now, guint bytes);
/* Returns the bits per second over the window that ends at `now`. If less than
 * a window has passed since the first arrival, the result is the rate over this
 * time, without the first arrival. */
guint64 statistics_rate_get (StatisticsRate * rate, guint64 now);
