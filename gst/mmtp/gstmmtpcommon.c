/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Code that mmtpsink and mmtpsrc share: the enumeration of the schedulers, the
 * check of the key, the statistics of the channels, and the conversion between
 * the clocks.
 */

#include "gstmmtpcommon.h"

#include <string.h>

#include <gio/gio.h>

#include "gstwirelessstats.h"
#include "mmtpscheduler.h"

/* Minimum number of hexadecimal digits of a key, which must have at least 128
 * bits. */
#define MIN_KEY_DIGITS 32
/* The difference of two clocks is measured by reading one after the other. If
 * this takes longer than MAX_READING, the result is too inaccurate and is
 * ignored. */
#define MAX_READING (100 * GST_USECOND)
/* If a newly read difference of the clocks deviates from the stored difference
 * by at most this time, the deviation is ignored. Such a deviation occurs even
 * if the clocks run at the same rate, because the two clocks cannot be read at
 * exactly the same time. */
#define DEAD_ZONE (1 * GST_MSECOND)
/* The difference of two clocks is measured repeatedly and stored. A clock
 * drifts slowly, so a new reading usually differs only a little from the stored
 * difference. If it differs by more than this time, one of the clocks was set,
 * and the new difference is stored immediately. */
#define JUMP (20 * GST_MSECOND)
/* The difference of two clocks is stored. It is measured again and again, and
 * each new reading changes the stored value only a little. A reading that
 * deviates from the stored value by at most DEAD_ZONE changes nothing. If a
 * reading deviates by more, the excess is the deviation minus DEAD_ZONE. The
 * stored value then moves towards the reading by 1/PART of the excess. */
#define PART 16

/* The values of the enumeration are made from the table `mmtp_schedulers`. A
 * new scheduler in this table therefore becomes a value of the property without
 * a change here. */
GType
gst_mmtp_scheduler_get_type (void)
{
  static gsize type = 0;

  if (g_once_init_enter (&type)) {
    GArray *values = g_array_new (TRUE, TRUE, sizeof (GEnumValue));
    GType new_type;
    guint i;

    for (i = 0; mmtp_schedulers[i]; i++) {
      const GEnumValue value = { i, mmtp_schedulers[i]->description,
        mmtp_schedulers[i]->nick
      };

      g_array_append_val (values, value);
    }
    /* GObject keeps the values. */
    new_type = g_enum_register_static ("GstMmtpScheduler",
        (const GEnumValue *) g_array_free (values, FALSE));
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

/* Returns the reason why the text is not a valid key, or NULL if it is valid.
 * An attacker who has recorded the message OPEN can try keys without sending
 * anything, until one of them matches the MAC of this message. A key must
 * therefore be long and random. It must not be derived from a passphrase. */
static const gchar *
find_key_problem (const gchar * text)
{
  const gsize n_digits = strlen (text);

  if (n_digits == 0)
    return "is empty";
  if (strspn (text, "0123456789abcdefABCDEF") < n_digits)
    return "has characters other than hexadecimal digits";
  if (n_digits < MIN_KEY_DIGITS)
    return "is too short";
  return n_digits % 2 ? "has an odd number of digits" : NULL;
}

static GBytes *
read_key (const gchar * text)
{
  const gsize size = strlen (text) / 2;
  guint8 *bytes = g_malloc (size);
  gsize i;

  for (i = 0; i < size; i++)
    bytes[i] = g_ascii_xdigit_value (text[2 * i]) << 4
        | g_ascii_xdigit_value (text[2 * i + 1]);
  return g_bytes_new_take (bytes, size);
}

gboolean
gst_mmtp_parse_key (const gchar * text, GBytes ** key, GError ** error)
{
  const gchar *problem = text ? find_key_problem (text) : NULL;

  *key = NULL;
  if (problem) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "the property key %s: it takes an even number of hexadecimal digits, "
        "at least %d (128 random bits). Make a key with \"openssl rand -hex "
        "32\" and set the same key at both ends, or leave the property unset "
        "for no authentication", problem, MIN_KEY_DIGITS);
    return FALSE;
  }
  if (text)
    *key = read_key (text);
  return TRUE;
}

gboolean
gst_mmtp_check_key (GstElement * element, GstStateChange transition,
    GMutex * lock, gchar * const *key)
{
  GError *error = NULL;
  GBytes *bytes;
  gboolean done;

  /* The key can be set in the states NULL and READY. It is therefore checked in
   * the change from NULL to READY, and again in the change from READY to
   * PAUSED. */
  if (transition != GST_STATE_CHANGE_NULL_TO_READY
      && transition != GST_STATE_CHANGE_READY_TO_PAUSED)
    return TRUE;
  g_mutex_lock (lock);
  done = gst_mmtp_parse_key (*key, &bytes, &error);
  g_mutex_unlock (lock);
  if (done) {
    g_clear_pointer (&bytes, g_bytes_unref);
    return TRUE;
  }
  GST_ELEMENT_ERROR (element, RESOURCE, SETTINGS,
      ("Could not use the key: %s.", error->message), (NULL));
  g_error_free (error);
  return FALSE;
}

void
gst_mmtp_append_path (GValue * array, GstStructure * channel)
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
  guint i;

  for (i = MMTP_VALID + 1; i < MMTP_LAST_REFUSAL; i++)
    gst_wireless_stats_set (stats, "refused-", mmtp_refusal_get_name (i),
        refused[i]);
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
  } else if (after - before <= MAX_READING) {
    follow (map, reading);
  }
  gst_object_unref (clock);
  *anchor = map->anchor;
  return TRUE;
}
