/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Statistics of a stream in constant memory: a histogram with percentiles, the
 * interarrival jitter, and the throughput in a sliding window. The caller
 * supplies all times.
 */

#pragma once

#include <glib.h>

/* Stores signed values in buckets whose width grows with the magnitude of the
 * values. Every gint64 can be stored. A percentile differs from the exact value
 * by at most 1/128 of the exact value. */
typedef struct _StatisticsHistogram StatisticsHistogram;

StatisticsHistogram *statistics_histogram_new (void);
void statistics_histogram_free (StatisticsHistogram * histogram);
void statistics_histogram_add (StatisticsHistogram * histogram, gint64 value);
guint64 statistics_histogram_get_count (const StatisticsHistogram * histogram);
/* Returns a percentile by the nearest-rank method, for `percent` from 0 to 100.
 * Returns 0 if no value was added. The results for 0 and 100 are exact, because
 * these are the minimum and the maximum. */
gint64 statistics_histogram_get_percentile (const StatisticsHistogram *
    histogram, gdouble percent);
gdouble statistics_histogram_get_mean (const StatisticsHistogram * histogram);

/* Interarrival jitter (RFC 3550, section 6.4.1): J += (|D| - J) / 16, where D
 * is the difference of two consecutive one-way delays in ns. The code calls a
 * one-way delay transit time, as the RFC does. */
typedef struct
{
  gboolean valid;
  gint64 last_transit;          /* in ns */
  gdouble jitter;               /* in ns */
} StatisticsJitter;

void statistics_jitter_init (StatisticsJitter * jitter);
/* Keeps the jitter, but discards the last transit time. The next transit time
 * then does not change the jitter. Call this function after a seek or after a
 * gap of unknown length, for example. */
void statistics_jitter_restart (StatisticsJitter * jitter);
gdouble statistics_jitter_add (StatisticsJitter * jitter, gint64 transit);

/* Counts the bytes that arrived within the last `window` ns, with a resolution
 * of 1/1024 of the window. The start of the window is excluded. So if n frames
 * arrive at intervals of d and the window is n * d, a measurement at the
 * arrival of a frame counts n frames and not n + 1. */
typedef struct _StatisticsRate StatisticsRate;

StatisticsRate *statistics_rate_new (guint64 window);
void statistics_rate_free (StatisticsRate * rate);
void statistics_rate_add (StatisticsRate * rate, guint64 now, guint bytes);
/* Returns the bit rate over the window that ends at `now`, in bit/s. If less
 * than a window has passed since the first arrival, returns the bit rate since
 * the first arrival. The bytes of the first arrival do not count in this case.
 */
guint64 statistics_rate_get (StatisticsRate * rate, guint64 now);
