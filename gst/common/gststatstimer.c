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

static GstClockID
make_id (GstClock * clock, GstClockTime interval)
{
  if (!clock || interval == 0)
    return NULL;
  return gst_clock_new_periodic_id (clock, gst_clock_get_time (clock) +
      interval, interval);
}

/* FALSE: what the new timer was made of has changed meanwhile. Takes the ID,
 * NULL: none, and ends the timer before */
static gboolean
replace (GstStatsTimer * timer, GstElement * element, GstClockID id,
    guint changes)
{
  GstClockID old = id;
  gboolean current;

  GST_OBJECT_LOCK (element);
  current = timer->changes == changes;
  if (current) {
    old = timer->id;
    timer->id = id;
  }
  GST_OBJECT_UNLOCK (element);
  if (old) {
    gst_clock_id_unschedule (old);
    gst_clock_id_unref (old);
  }
  return current;
}

static void
wait_for_ticks (GstStatsTimer * timer, GstElement * element, GstClockID id,
    GstStatsTimerFunc create_stats)
{
  Tick *tick = g_new (Tick, 1);

  tick->timer = timer;
  tick->element = gst_object_ref (element);
  tick->create_stats = create_stats;
  gst_clock_id_wait_async (id, on_tick, tick, tick_free);
}

/* Makes the timer anew, as its fields say now. */
static void
update (GstStatsTimer * timer, GstElement * element)
{
  GstStatsTimerFunc create_stats;
  GstClockTime interval;
  GstClock *clock;
  GstClockID id;
  guint changes;
  gboolean done;

  do {
    clock = gst_element_get_clock (element);
    GST_OBJECT_LOCK (element);
    create_stats = timer->create_stats;
    interval = timer->interval;
    changes = timer->changes;
    GST_OBJECT_UNLOCK (element);
    id = create_stats ? make_id (clock, interval) : NULL;
    gst_clear_object (&clock);
    done = replace (timer, element, id ? gst_clock_id_ref (id) : NULL, changes);
    if (done && id)
      wait_for_ticks (timer, element, id, create_stats);
    if (id)
      gst_clock_id_unref (id);
  } while (!done);
}

void
gst_stats_timer_set_interval (GstStatsTimer * timer, GstElement * element,
    GstClockTime interval)
{
  GST_OBJECT_LOCK (element);
  timer->interval = interval;
  timer->changes++;
  GST_OBJECT_UNLOCK (element);
  update (timer, element);
}

GstClockTime
gst_stats_timer_get_interval (GstStatsTimer * timer, GstElement * element)
{
  GstClockTime interval;

  GST_OBJECT_LOCK (element);
  interval = timer->interval;
  GST_OBJECT_UNLOCK (element);
  return interval;
}

void
gst_stats_timer_start (GstStatsTimer * timer, GstElement * element,
    GstStatsTimerFunc create_stats)
{
  GST_OBJECT_LOCK (element);
  timer->create_stats = create_stats;
  timer->changes++;
  GST_OBJECT_UNLOCK (element);
  update (timer, element);
}

void
gst_stats_timer_stop (GstStatsTimer * timer, GstElement * element)
{
  gst_stats_timer_start (timer, element, NULL);
}
