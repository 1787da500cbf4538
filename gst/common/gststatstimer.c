/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of gststatstimer.h: periodic posting of statistics. */

#include "gststatstimer.h"

/* State of an element's statistics timer. The state is freed together with the
 * element. All fields are protected by OBJECT_LOCK. */
typedef struct
{
  GstClockTime interval;        /* in ns; 0: never */
  GstStatsTimerFunc create_stats;       /* NULL: the timer is stopped */
  /* Number of times that `interval` or `create_stats` was changed. A thread
   * creates a new clock timer without holding the lock. It reads this number
   * before and after. If the number has changed, another thread has made the
   * new timer outdated. */
  guint changes;
  GstClockID id;                /* NULL: no timer is scheduled */
} GstStatsTimer;

/* The caller holds OBJECT_LOCK. */
static GstStatsTimer *
get_timer (GstElement * element)
{
  const GQuark quark = g_quark_from_static_string ("gst-stats-timer");
  GstStatsTimer *timer = g_object_get_qdata (G_OBJECT (element), quark);

  if (!timer) {
    timer = g_new0 (GstStatsTimer, 1);
    g_object_set_qdata_full (G_OBJECT (element), quark, timer, g_free);
  }
  return timer;
}

/* Argument of the function on_tick, which the clock calls in the clock's own
 * thread after each interval. The argument is freed when the timer is
 * cancelled. */
typedef struct
{
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
  current = get_timer (tick->element)->id == id;
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

/* Replaces the scheduled timer by the new timer `id`; NULL means no timer.
 * Takes ownership of `id`.
 *
 * `changes` is the value that timer->changes had before the caller created
 * `id`. If the value has changed since then, another thread has stopped the
 * timer or set another interval. The new timer `id` is then outdated: the
 * function releases it, keeps the scheduled timer, and returns FALSE. */
static gboolean
replace (GstElement * element, GstClockID id, guint changes)
{
  GstStatsTimer *timer;
  GstClockID old = id;
  gboolean current;

  GST_OBJECT_LOCK (element);
  timer = get_timer (element);
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
wait_for_ticks (GstElement * element, GstClockID id,
    GstStatsTimerFunc create_stats)
{
  Tick *tick = g_new (Tick, 1);

  tick->element = gst_object_ref (element);
  tick->create_stats = create_stats;
  gst_clock_id_wait_async (id, on_tick, tick, tick_free);
}

/* Cancels the scheduled timer. If statistics are to be posted (`create_stats`
 * is set), schedules a new timer with the current interval. */
static void
update (GstElement * element)
{
  const GstStatsTimer *timer;
  GstStatsTimerFunc create_stats;
  GstClockTime interval;
  GstClock *clock;
  GstClockID id;
  guint changes;
  gboolean done;

  do {
    clock = gst_element_get_clock (element);
    GST_OBJECT_LOCK (element);
    timer = get_timer (element);
    create_stats = timer->create_stats;
    interval = timer->interval;
    changes = timer->changes;
    GST_OBJECT_UNLOCK (element);
    id = create_stats ? make_id (clock, interval) : NULL;
    gst_clear_object (&clock);
    done = replace (element, id ? gst_clock_id_ref (id) : NULL, changes);
    if (done && id)
      wait_for_ticks (element, id, create_stats);
    if (id)
      gst_clock_id_unref (id);
  } while (!done);
}

static void
set_interval (GstElement * element, GstClockTime interval)
{
  GstStatsTimer *timer;

  GST_OBJECT_LOCK (element);
  timer = get_timer (element);
  timer->interval = interval;
  timer->changes++;
  GST_OBJECT_UNLOCK (element);
  update (element);
}

static GstClockTime
get_interval (GstElement * element)
{
  GstClockTime interval;

  GST_OBJECT_LOCK (element);
  interval = get_timer (element)->interval;
  GST_OBJECT_UNLOCK (element);
  return interval;
}

void
gst_stats_timer_set_milliseconds (gpointer element, const GValue * value,
    GParamSpec * pspec)
{
  set_interval (element, g_value_get_uint (value) * GST_MSECOND);
}

/* Getter of the property stats-update-interval, which is in ms. The interval is
 * stored in ns and rounded up to ms. An interval below 1 ms is therefore
 * returned as 1 and not as 0, because 0 means that no statistics are posted. */
void
gst_stats_timer_get_milliseconds (gpointer element, GValue * value,
    GParamSpec * pspec)
{
  const GstClockTime interval = get_interval (element);

  g_value_set_uint (value, MIN (interval / GST_MSECOND
          + (interval % GST_MSECOND != 0), G_MAXUINT));
}

void
gst_stats_timer_set_nanoseconds (gpointer element, const GValue * value,
    GParamSpec * pspec)
{
  set_interval (element, g_value_get_uint64 (value));
}

void
gst_stats_timer_get_nanoseconds (gpointer element, GValue * value,
    GParamSpec * pspec)
{
  g_value_set_uint64 (value, get_interval (element));
}

void
gst_stats_timer_start (GstElement * element, GstStatsTimerFunc create_stats)
{
  GstStatsTimer *timer;

  GST_OBJECT_LOCK (element);
  timer = get_timer (element);
  timer->create_stats = create_stats;
  timer->changes++;
  GST_OBJECT_UNLOCK (element);
  update (element);
}

void
gst_stats_timer_stop (GstElement * element)
{
  gst_stats_timer_start (element, NULL);
}
