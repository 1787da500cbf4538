/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Posts an element's statistics as element message at an interval of the
 * pipeline's clock, whether buffers come or not.
 */

#pragma once

#include <gst/gst.h>

#include "gstwirelessproperties.h"

/* Returns what is posted, or NULL for nothing; called by the clock's thread */
typedef GstStructure *(*GstStatsTimerFunc) (GstElement * element);

/* The properties stats-update-interval, ms as that of ristsink, and stats-interval,
 * its deprecated name, in ns; 0: never. They may be set at any time, by any thread.
 * A started timer takes a change at once. */
void gst_stats_timer_set_milliseconds (gpointer element, const GValue * value,
    GParamSpec * pspec);
void gst_stats_timer_get_milliseconds (gpointer element, GValue * value,
    GParamSpec * pspec);
void gst_stats_timer_set_nanoseconds (gpointer element, const GValue * value,
    GParamSpec * pspec);
void gst_stats_timer_get_nanoseconds (gpointer element, GValue * value,
    GParamSpec * pspec);
/* Two rows */
#define PROPERTY_STATS_INTERVAL(blurb, max) \
    PROPERTY_COMPUTED ("stats-update-interval", "Statistics update interval", \
        blurb, PROPERTY_PLAYING, G_TYPE_UINT, .maximum = G_MAXINT, \
        .set = gst_stats_timer_set_milliseconds, \
        .get = gst_stats_timer_get_milliseconds), \
    PROPERTY_COMPUTED ("stats-interval", "Statistics interval", \
        "Deprecated: use stats-update-interval, which is in ms; this one is in " \
        "ns", PROPERTY_PLAYING | G_PARAM_DEPRECATED, G_TYPE_UINT64, \
        .maximum = max, .set = gst_stats_timer_set_nanoseconds, \
        .get = gst_stats_timer_get_nanoseconds, \
        .instead = "stats-update-interval")
/* For the blurb */
#define STATS_INTERVAL_BLURB "Interval at which stats is posted as an element " \
    "message while the pipeline plays (ms, 0 = never)"
#define STATS_INTERVAL_OR_END_BLURB "Interval at which stats is posted as an " \
    "element message while the pipeline plays (ms, 0 = only at the end of the " \
    "stream)"

/* On the way to PLAYING. Without a clock no timer runs. */
void gst_stats_timer_start (GstElement * element,
    GstStatsTimerFunc create_stats);
/* On the way to PAUSED. None runs from here on, whoever sets the interval. */
void gst_stats_timer_stop (GstElement * element);
