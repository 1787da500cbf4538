/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Statistics of a stream: a histogram with percentiles, the interarrival
 * jitter, and the throughput in a sliding window. The required memory is
 * constant. The object has no clock of its own; the caller passes all times. */

#pragma once

#include <glib.h>

/* Stores signed values in buckets. The width of a bucket grows with the
 * magnitude of its values, so that every gint64 can be stored. A percentile
 * differs from the exact value by at most 1/128 of the exact value. */
typedef struct _StatisticsHistogram StatisticsHistogram;

StatisticsHistogram *statistics_histogram_new (void);
void statistics_histogram_free (StatisticsHistogram * histogram);
void statistics_histogram_add (StatisticsHistogram * histogram, gint64 value);
guint64 statistics_histogram_get_count (const StatisticsHistogram * histogram);
/* Returns a percentile by the nearest-rank method. `percent` is from 0 to 100.
 * The results for 0 and 100 are exact, because they are the minimum and the
 * maximum of all values. Returns 0 if no value was added. */
gint64 statistics_histogram_get_percentile (const StatisticsHistogram *
    histogram, gdouble percent);
gdouble statistics_histogram_get_mean (const StatisticsHistogram * histogram);

/* Interarrival jitter J (RFC 3550, section 6.4.1). Each packet changes it by J
 * += (|D| - J) / 16. D is the one-way delay of the packet in ns minus the
 * one-way delay of the packet before. The code calls a one-way delay transit
 * time, as the RFC does. */
typedef struct
{
  gboolean valid;
  gint64 last_transit;          /* in ns */
  gdouble jitter;               /* in ns */
} StatisticsJitter;

void statistics_jitter_init (StatisticsJitter * jitter);
/* Discards the last transit time (one-way delay), but keeps the jitter. The
 * jitter then stays the same until two further transit times were added. Call
 * this function if the next packet cannot be compared with the last one, for
 * example after a seek. */
void statistics_jitter_restart (StatisticsJitter * jitter);
gdouble statistics_jitter_add (StatisticsJitter * jitter, gint64 transit);

/* Counts the bytes that arrived within the last `window` ns. The resolution is
 * 1/1024 of the window. Bytes that arrived exactly at the start of the window
 * are not counted. For example, assume that a frame arrives every d ns, that
 * the window is n times d, and that the rate is measured when a frame arrives.
 * The window then begins exactly when an earlier frame arrived. This earlier
 * frame is not counted, so n frames are counted and not n + 1. */
typedef struct _StatisticsRate StatisticsRate;

StatisticsRate *statistics_rate_new (guint64 window);
void statistics_rate_free (StatisticsRate * rate);
void statistics_rate_add (StatisticsRate * rate, guint64 now, guint bytes);
/* Returns the bitrate in bit/s over the window that ends at `now`. If the
 * first arrival is less than one window ago, returns the bitrate since the
 * first arrival. In this case, the bytes of the first arrival do not count. */
guint64 statistics_rate_get (StatisticsRate * rate, guint64 now);
