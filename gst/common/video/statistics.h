/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Statistics of a stream in bounded memory: a histogram with percentiles,
 * interarrival jitter, throughput in a sliding window. A core: times are the
 * caller's.
 */

#pragma once

#include <glib.h>

/* Signed values in buckets whose width grows with the value: a percentile is
 * right to 1 part in 128, over the whole range of gint64. */
typedef struct _StatisticsHistogram StatisticsHistogram;

StatisticsHistogram *statistics_histogram_new (void);
void statistics_histogram_free (StatisticsHistogram * histogram);
void statistics_histogram_add (StatisticsHistogram * histogram, gint64 value);
guint64 statistics_histogram_get_count (const StatisticsHistogram * histogram);
/* Nearest rank, percent in 0 to 100; 0 when nothing was added; 0 and 100 are
 * exact: the smallest and the largest value */
gint64 statistics_histogram_get_percentile (const StatisticsHistogram *
    histogram, gdouble percent);
gdouble statistics_histogram_get_mean (const StatisticsHistogram * histogram);

/* RFC 3550 section 6.4.1: J += (|D| - J) / 16 with D the difference of two
 * transit times (ns) */
typedef struct
{
  gboolean valid;
  gint64 last_transit;          /* ns */
  gdouble jitter;               /* ns */
} StatisticsJitter;

void statistics_jitter_init (StatisticsJitter * jitter);
/* The next transit time has no predecessor (a gap of unknown length, a seek);
 * the jitter stays. */
void statistics_jitter_restart (StatisticsJitter * jitter);
gdouble statistics_jitter_add (StatisticsJitter * jitter, gint64 transit);

/* Bytes that arrived within the last `window` ns, with a grain of 1/1024 of the
 * window. The window is open where it begins: n frames in steps of d, measured
 * at a frame's arrival, count n frames in n * d. */
typedef struct _StatisticsRate StatisticsRate;

StatisticsRate *statistics_rate_new (guint64 window);
void statistics_rate_free (StatisticsRate * rate);
void statistics_rate_add (StatisticsRate * rate, guint64 now, guint bytes);
/* Bits per second over the window that ends at now; while less than a window
 * has passed since the first arrival, over that time, without that arrival. */
guint64 statistics_rate_get (StatisticsRate * rate, guint64 now);
