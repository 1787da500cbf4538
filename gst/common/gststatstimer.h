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

typedef struct
{
  GstClockID id;                /* protected by the element's OBJECT_LOCK;
                                 * NULL: no timer runs */
} GstStatsTimer;

/* Ends the timer before. Without a clock, or an interval (ns, 0), none runs. */
GST_WIRELESS_API
void gst_stats_timer_start (GstStatsTimer * timer, GstElement * element,
    GstClockTime interval, GstStatsTimerFunc create_stats);
GST_WIRELESS_API
void gst_stats_timer_stop (GstStatsTimer * timer, GstElement * element);

G_END_DECLS

#endif /* __GST_STATS_TIMER_H__ */
