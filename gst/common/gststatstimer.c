/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Statistics at an interval of the pipeline's clock; see the header. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gststatstimer.h"

/* What the clock's thread holds until the timer is gone */
typedef struct
{
  GstStatsTimer *timer;         /* in the element */
  GstElement *element;
  GstStatsTimerFunc create_stats;
} Tick;

static void
tick_free (gpointer data)
{
  Tick *tick = data;

  gst_object_unref (tick->element);
  g_free (tick);
}

static gboolean
on_tick (GstClock * clock, GstClockTime time, GstClockID id, gpointer data)
{
  Tick *tick = data;
  GstStructure *stats = NULL;
  gboolean current;

  GST_OBJECT_LOCK (tick->element);
  current = tick->timer->id == id;
  GST_OBJECT_UNLOCK (tick->element);

  if (current)
    stats = tick->create_stats (tick->element);
  if (stats)
    gst_element_post_message (tick->element,
        gst_message_new_element (GST_OBJECT_CAST (tick->element), stats));
  return TRUE;
}

/* Takes the new timer, NULL: none, and ends the one before. */
static void
replace (GstStatsTimer * timer, GstElement * element, GstClockID id)
{
  GstClockID old;

  GST_OBJECT_LOCK (element);
  old = timer->id;
  timer->id = id;
  GST_OBJECT_UNLOCK (element);

  if (!old)
    return;
  gst_clock_id_unschedule (old);
  gst_clock_id_unref (old);
}

void
gst_stats_timer_start (GstStatsTimer * timer, GstElement * element,
    GstClockTime interval, GstStatsTimerFunc create_stats)
{
  GstClock *clock = gst_element_get_clock (element);
  GstClockID id;
  Tick *tick;

  if (!clock || interval == 0) {
    replace (timer, element, NULL);
    gst_clear_object (&clock);
    return;
  }

  id = gst_clock_new_periodic_id (clock, gst_clock_get_time (clock) + interval,
      interval);
  tick = g_new (Tick, 1);
  tick->timer = timer;
  tick->element = gst_object_ref (element);
  tick->create_stats = create_stats;
  replace (timer, element, gst_clock_id_ref (id));
  gst_clock_id_wait_async (id, on_tick, tick, tick_free);
  gst_clock_id_unref (id);
  gst_object_unref (clock);
}

void
gst_stats_timer_stop (GstStatsTimer * timer, GstElement * element)
{
  replace (timer, element, NULL);
}
