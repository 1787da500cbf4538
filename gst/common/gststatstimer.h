/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A timer that posts an element's statistics as an element message at regular
 * intervals of the pipeline's clock, whether buffers flow or not.
 */

#pragma once

#include <gst/gst.h>

#include "gstwirelessproperties.h"

/* Returns the statistics to post as a message (transfer full), or NULL to post
 * nothing. Called by the thread of the clock. */
typedef GstStructure *(*GstStatsTimerFunc) (GstElement * element);

/* Setters and getters of two properties: stats-update-interval is in ms, like
 * the property of ristsink, and its deprecated form stats-interval is in ns. An
 * interval of 0 means that no statistics are posted. The properties may be set
 * at any time and from any thread. A running timer immediately uses the new
 * interval. */
void gst_stats_timer_set_milliseconds (gpointer element, const GValue * value,
    GParamSpec * pspec);
void gst_stats_timer_get_milliseconds (gpointer element, GValue * value,
    GParamSpec * pspec);
void gst_stats_timer_set_nanoseconds (gpointer element, const GValue * value,
    GParamSpec * pspec);
void gst_stats_timer_get_nanoseconds (gpointer element, GValue * value,
    GParamSpec * pspec);
/* Two entries of a table of properties (gstwirelessproperties.h):
 * stats-update-interval, and its deprecated form stats-interval. */
#define PROPERTY_STATS_INTERVAL(blurb, max) \
    PROPERTY_COMPUTED ("stats-update-interval", "Statistics update interval", \
        blurb, PROPERTY_PLAYING, G_TYPE_UINT, \
        .maximum = PROPERTY_MAX_MILLISECONDS, \
        .set = gst_stats_timer_set_milliseconds, \
        .get = gst_stats_timer_get_milliseconds), \
    PROPERTY_COMPUTED ("stats-interval", "Statistics interval", \
        "Deprecated: use stats-update-interval, which is in ms; this one is in " \
        "ns", PROPERTY_PLAYING | G_PARAM_DEPRECATED, G_TYPE_UINT64, \
        .maximum = max, .set = gst_stats_timer_set_nanoseconds, \
        .get = gst_stats_timer_get_nanoseconds, \
        .instead = "stats-update-interval")
/* Descriptions (blurbs) of the property stats-update-interval. The second one
 * is for elements that also post their statistics at the end of the stream. */
#define STATS_INTERVAL_BLURB "Interval at which stats is posted as an element " \
    "message while the pipeline plays (ms, 0 = never)"
#define STATS_INTERVAL_OR_END_BLURB "Interval at which stats is posted as an " \
    "element message while the pipeline plays (ms, 0 = only at the end of the " \
    "stream)"

/* Starts posting statistics. Called in the state change from PAUSED to PLAYING.
 * If the element has no clock, nothing is posted. */
void gst_stats_timer_start (GstElement * element,
    GstStatsTimerFunc create_stats);
/* Stops posting statistics. Called in the state change from PLAYING to PAUSED.
 * Until the element is PLAYING again, a change of the interval starts no timer.
 */
void gst_stats_timer_stop (GstElement * element);
