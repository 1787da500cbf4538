/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "loopback.h"

/* --- one element ---------------------------------------------------------- */

static void
set_clock (LoopbackEnd * end)
{
  GstClock *clock = gst_system_clock_obtain ();

  gst_harness_use_systemclock (end->harness);
  gst_element_set_base_time (end->element, gst_clock_get_time (clock));
  gst_object_unref (clock);
}

void
loopback_end_init (LoopbackEnd * end, GstElement * element,
    const gchar * sink_pad, const gchar * src_pad)
{
  end->element = element;
  end->bus = gst_bus_new ();
  gst_element_set_bus (element, end->bus);
  end->harness = gst_harness_new_with_element (element, sink_pad, src_pad);
  gst_object_unref (element);
  set_clock (end);
}

void
loopback_end_clear (LoopbackEnd * end)
{
  gst_element_set_state (end->element, GST_STATE_NULL);
  gst_element_set_bus (end->element, NULL);
  gst_object_unref (end->bus);
  gst_harness_teardown (end->harness);
}

static GstElement *
make_element (const gchar * factory, const gchar * first_property,
    va_list values)
{
  GstElement *element = gst_element_factory_make (factory, NULL);

  fail_unless (element != NULL, "no %s", factory);
  g_object_set_valist (G_OBJECT (element), first_property, values);
  return element;
}

void
loopback_src_init (LoopbackEnd * end, const gchar * factory,
    const gchar * first_property, va_list values)
{
  loopback_end_init (end, make_element (factory, first_property, values), NULL,
      "src");
}

void
loopback_sink_init (LoopbackEnd * end, const gchar * factory,
    const gchar * first_property, va_list values)
{
  GstElement *element = make_element (factory, first_property, values);

  /* A harness sends a live stream, and a sink may drop late frames of a live
   * stream. On a slow machine, frames may be late. The following properties
   * prevent the sink from dropping them. */
  g_object_set (element, "sync", FALSE, "async", FALSE, "max-live-wait",
      86400000, NULL);
  loopback_end_init (end, element, "sink", NULL);
}

gint
loopback_port_of (LoopbackEnd * end)
{
  gint port;

  g_object_get (end->element, "port", &port, NULL);
  fail_unless (port > 0);
  return port;
}

guint64
loopback_stat_of (LoopbackEnd * end, const gchar * name)
{
  GstStructure *stats;
  guint64 value = G_MAXUINT64;

  g_object_get (end->element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, name, &value), "no %s", name);
  gst_structure_free (stats);
  return value;
}

GstMessage *
loopback_pop_message (LoopbackEnd * end, GstMessageType types)
{
  GstMessage *message = gst_bus_timed_pop_filtered (end->bus,
      GST_CLOCK_TIME_NONE, types);

  fail_unless (message != NULL);
  return message;
}

GstStructure *
loopback_pop_structure (LoopbackEnd * end, const gchar * name)
{
  GstStructure *structure = NULL;
  GstMessage *message;

  while (!structure) {
    message = loopback_pop_message (end, GST_MESSAGE_ELEMENT);
    if (gst_message_has_name (message, name))
      structure = gst_structure_copy (gst_message_get_structure (message));
    gst_message_unref (message);
  }
  return structure;
}

void
loopback_wait_for_message (LoopbackEnd * end, const gchar * name,
    const gchar * field, const gchar * text)
{
  GstStructure *structure;
  gboolean found = FALSE;

  while (!found) {
    structure = loopback_pop_structure (end, name);
    found = g_strcmp0 (gst_structure_get_string (structure, field), text) == 0;
    gst_structure_free (structure);
  }
}

guint
loopback_count_key_unit_requests (LoopbackEnd * sink)
{
  GstEvent *event;
  guint n = 0;

  while ((event = gst_harness_try_pull_upstream_event (sink->harness))) {
    n += gst_event_has_name (event, "GstForceKeyUnit");
    gst_event_unref (event);
  }
  return n;
}

gchar *
loopback_pop_error (LoopbackEnd * end)
{
  GstMessage *message = loopback_pop_message (end, GST_MESSAGE_ERROR);
  GError *error;
  gchar *text;

  gst_message_parse_error (message, &error, NULL);
  text = g_strdup (error->message);
  g_error_free (error);
  gst_message_unref (message);
  return text;
}

void
loopback_expect_no_start (LoopbackEnd * end, const gchar * expected)
{
  gchar *text;

  fail_unless_equals_int (gst_element_set_state (end->element,
          GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  text = loopback_pop_error (end);
  fail_unless (strstr (text, expected) != NULL, "\"%s\" has no \"%s\"", text,
      expected);
  g_free (text);
}

/* --- blocked downstream --------------------------------------------------- */

static GstPadProbeReturn
hold_it (GstPad * pad, GstPadProbeInfo * info, gpointer data)
{
  LoopbackHold *hold = data;

  g_atomic_int_set (&hold->held, TRUE);
  while (!g_atomic_int_get (&hold->go_on))
    g_usleep (1000);
  return GST_PAD_PROBE_OK;
}

void
loopback_hold_downstream (LoopbackEnd * src, LoopbackHold * hold)
{
  GstPad *pad = gst_element_get_static_pad (src->element, "src");

  memset (hold, 0, sizeof (*hold));
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER
      | GST_PAD_PROBE_TYPE_BUFFER_LIST, hold_it, hold, NULL);
  gst_object_unref (pad);
}

void
loopback_wait_until_held (LoopbackHold * hold)
{
  while (!g_atomic_int_get (&hold->held))
    g_usleep (1000);
}

void
loopback_let_go (LoopbackHold * hold)
{
  g_atomic_int_set (&hold->go_on, TRUE);
}

/* --- a sender and its receiver -------------------------------------------- */

void
loopback_fixture_clear (LoopbackFixture * fixture)
{
  loopback_end_clear (&fixture->sink);
  loopback_end_clear (&fixture->src);
}

/* Byte k of buffer n */
static guint8
byte_of (guint n, gsize k)
{
  return n * 31 + k * 7 + (k >> 8);
}

GstBuffer *
loopback_make_buffer (guint n, gsize size)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);
  GstMapInfo map;
  gsize i;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (i = 0; i < size; i++)
    map.data[i] = byte_of (n, i);
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

void
loopback_push (LoopbackFixture * fixture, GstBuffer * buffer)
{
  fail_unless_equals_int (gst_harness_push (fixture->sink.harness, buffer),
      GST_FLOW_OK);
}

static void
check_bytes (GstBuffer * buffer, guint n, gsize size)
{
  GstMapInfo map;
  gsize i;

  gst_buffer_map (buffer, &map, GST_MAP_READ);
  fail_unless_equals_int (map.size, size);
  for (i = 0; i < size && map.data[i] == byte_of (n, i); i++);
  fail_unless_equals_int (i, size);
  gst_buffer_unmap (buffer, &map);
}

GstBuffer *
loopback_pull (LoopbackFixture * fixture, guint n, gsize size)
{
  GstBuffer *buffer = gst_harness_pull (fixture->src.harness);

  fail_unless (buffer != NULL, "no buffer %u", n);
  check_bytes (buffer, n, size);
  return buffer;
}

void
loopback_expect (LoopbackFixture * fixture, guint n, gsize size)
{
  gst_buffer_unref (loopback_pull (fixture, n, size));
}

void
loopback_check_pooled (LoopbackFixture * fixture, guint n, gsize size)
{
  GstBufferPool *pool = pooled_new (size);
  GstBuffer *buffer;
  guint i;

  for (i = 0; i < n; i++) {
    buffer = loopback_make_buffer (i, size);
    pooled_push (fixture->sink.harness, pool, buffer);
    gst_buffer_unref (buffer);
  }
  for (i = 0; i < n; i++)
    loopback_expect (fixture, i, size);
  pooled_free (pool);
}

GstEvent *
loopback_pull_event (LoopbackFixture * fixture, GstEventType type)
{
  GstEvent *event;

  while ((event = gst_harness_pull_event (fixture->src.harness))) {
    if (GST_EVENT_TYPE (event) == type)
      return event;
    gst_event_unref (event);
  }
  fail ("no event %s", gst_event_type_get_name (type));
  return NULL;
}
