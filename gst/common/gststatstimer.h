/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Posts an element's statistics as element message at an interval of the
 * pipeline's clock, whether buffers come or not.
 */

#ifndef __GST_STATS_TIMER_H__
#define __GST_STATS_TIMER_H__

#include <gst/gst.h>

#include "gstwirelessprelude.h"

G_BEGIN_DECLS

/* Returns what is posted, or NULL for nothing; called by the clock's thread */
typedef GstStructure *(*GstStatsTimerFunc) (GstElement * element);

/* Zero it. All is protected by the element's OBJECT_LOCK. */
typedef struct
{
  GstClockTime interval;        /* ns, 0: never */
  GstStatsTimerFunc create_stats;       /* NULL: stopped */
  guint changes;                /* of what stands above */
  GstClockID id;                /* NULL: no timer runs */
} GstStatsTimer;

/* The property: at any time, by any thread; a started timer takes it at once. */
GST_WIRELESS_API
void gst_stats_timer_set_interval (GstStatsTimer * timer, GstElement * element,
    GstClockTime interval);
GST_WIRELESS_API
GstClockTime gst_stats_timer_get_interval (GstStatsTimer * timer,
    GstElement * element);
/* On the way to PLAYING. Without a clock no timer runs. */
GST_WIRELESS_API
void gst_stats_timer_start (GstStatsTimer * timer, GstElement * element,
    GstStatsTimerFunc create_stats);
/* On the way to PAUSED. None runs from here on, whoever sets the interval. */
GST_WIRELESS_API
void gst_stats_timer_stop (GstStatsTimer * timer, GstElement * element);

G_END_DECLS

#endif /* __GST_STATS_TIMER_H__ */
