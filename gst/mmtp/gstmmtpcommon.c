/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Enumeration, clocks and small things of the MMTP elements; see the header. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstmmtpcommon.h"

#include <string.h>

#include <gio/gio.h>

#include "mmtpscheduler.h"

/* Between the readings of the two clocks: a longer one says nothing. */
#define LONGEST_READING (100 * GST_USECOND)
/* What two readings differ by without a clock that runs otherwise */
#define DEAD_ZONE (1 * GST_MSECOND)
/* More than any clock drifts from one buffer to the next: it was set */
#define JUMP (20 * GST_MSECOND)
/* Of the rest of the difference, each buffer */
#define PART 16

GType
gst_mmtp_scheduler_get_type (void)
{
  static const GEnumValue values[] = {
    {MMTP_SCHEDULER_MMTP,
        "The channel of longest delay that meets the deadline", "mmtp"},
    {MMTP_SCHEDULER_EQUAL_TURNS, "Each in turn, for comparison",
        "equal-turns"},
    {MMTP_SCHEDULER_LOWEST_DELAY, "Always the fastest that has a token, for "
          "comparison", "lowest-delay"},
    {0, NULL, NULL}
  };
  static gsize type = 0;

  if (g_once_init_enter (&type)) {
    GType new_type = g_enum_register_static ("GstMmtpScheduler", values);

    gst_type_mark_as_plugin_api (new_type, 0);
    g_once_init_leave (&type, new_type);
  }
  return type;
}

guint64
gst_mmtp_now (void)
{
  return g_get_monotonic_time () * GST_USECOND;
}

GBytes *
gst_mmtp_key_from_string (const gchar * key)
{
  return key && *key ? g_bytes_new (key, strlen (key)) : NULL;
}

GParamSpec *
gst_mmtp_param_spec_key (const gchar * blurb)
{
  return g_param_spec_string ("key", "Key", blurb, NULL,
      G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
}

void
gst_mmtp_append_channel (GValue * array, GstStructure * channel)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, GST_TYPE_STRUCTURE);
  g_value_take_boxed (&value, channel);
  gst_value_array_append_and_take_value (array, &value);
}

void
gst_mmtp_add_refusals (GstStructure * stats,
    const guint64 refused[MMTP_LAST_REFUSAL])
{
  gchar name[32];
  guint i;

  for (i = MMTP_VALID + 1; i < MMTP_LAST_REFUSAL; i++) {
    g_snprintf (name, sizeof (name), "refused-%s", mmtp_refusal_get_name (i));
    gst_structure_set (stats, name, G_TYPE_UINT64, refused[i], NULL);
  }
}

/* --- clocks --------------------------------------------------------------- */

void
gst_mmtp_clock_map_reset (GstMmtpClockMap * map)
{
  map->valid = FALSE;
}

static void
follow (GstMmtpClockMap * map, gint64 reading)
{
  gint64 difference = reading - map->anchor;

  if (ABS (difference) > (gint64) JUMP)
    map->anchor = reading;
  else if (difference > (gint64) DEAD_ZONE)
    map->anchor += (difference - (gint64) DEAD_ZONE) / PART;
  else if (difference < -(gint64) DEAD_ZONE)
    map->anchor += (difference + (gint64) DEAD_ZONE) / PART;
}

gboolean
gst_mmtp_clock_map_get (GstMmtpClockMap * map, GstElement * element,
    gint64 * anchor)
{
  GstClock *clock = gst_element_get_clock (element);
  GstClockTime base_time = gst_element_get_base_time (element);
  guint64 before, after;
  gint64 running, reading;

  if (!clock)
    return FALSE;
  before = gst_mmtp_now ();
  running = gst_clock_get_time (clock) - base_time;
  after = gst_mmtp_now ();
  reading = (gint64) (before + (after - before) / 2) - running;

  if (!map->valid || map->clock != clock || map->base_time != base_time) {
    map->valid = TRUE;
    map->clock = clock;
    map->base_time = base_time;
    map->anchor = reading;
  } else if (after - before <= LONGEST_READING) {
    follow (map, reading);
  }
  gst_object_unref (clock);
  *anchor = map->anchor;
  return TRUE;
}
