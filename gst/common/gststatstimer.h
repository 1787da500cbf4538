/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Posts an element's statistics as element message at an interval of the
 * pipeline's clock, whether buffers come or not.
 */

#pragma once

#include <gst/gst.h>

#include "gstwirelessproperties.h"

/* Returns what is posted, or NULL for nothing; called by the clock's thread */
typedef GstStructure *(*GstStatsTimerFunc) (GstElement * element);

/* Of the property stats-interval, ns, 0: never; at any time, by any thread. A
 * started timer takes it at once. */
void gst_stats_timer_set_property (gpointer element, const GValue * value,
    GParamSpec * pspec);
void gst_stats_timer_get_property (gpointer element, GValue * value,
    GParamSpec * pspec);
#define PROPERTY_STATS_INTERVAL(blurb, max) \
    PROPERTY_COMPUTED ("stats-interval", "Statistics interval", blurb, \
        PROPERTY_PLAYING, G_TYPE_UINT64, .maximum = max, \
        .set = gst_stats_timer_set_property, \
        .get = gst_stats_timer_get_property)

/* On the way to PLAYING. Without a clock no timer runs. */
void gst_stats_timer_start (GstElement * element,
    GstStatsTimerFunc create_stats);
/* On the way to PAUSED. None runs from here on, whoever sets the interval. */
void gst_stats_timer_stop (GstElement * element);
