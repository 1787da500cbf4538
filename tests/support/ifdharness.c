/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ifdharness.h"

/* --- buffers and events -------------------------------------------------- */

GBytes *
harness_make_mpeg (const gchar * word)
{
  MpegPicture picture = { 0 };
  MpegStream stream;
  gchar *end;

  mpeg_stream_init (&stream);
  if (*word == 's') {
    mpeg_sequence (&stream, 32, 32, 3, TRUE, FALSE, FALSE);
    word++;
  }
  if (strchr ("cox", *word)) {
    mpeg_gop_full (&stream, FALSE, 0, 0, 0, 0, *word == 'c', *word == 'x');
    word++;
  }
  picture.type = *word;
  picture.tr = g_ascii_strtoull (word + 1, &end, 10);
  if (*end == 'f') {
    picture.structure = 1;
    picture.rows = 1;
    mpeg_picture (&stream, &picture);
    picture.structure = 2;
    if (picture.type == 'I')
      picture.type = 'P';
  }
  mpeg_picture (&stream, &picture);
  mpeg_align (&stream);
  return g_byte_array_free_to_bytes (g_steal_pointer (&stream.bytes));
}

GstBuffer *
harness_time_frame (IfdHarness * harness, GBytes * bytes)
{
  gsize size = g_bytes_get_size (bytes);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);

  gst_buffer_fill (buffer, 0, g_bytes_get_data (bytes, NULL), size);
  g_bytes_unref (bytes);
  GST_BUFFER_DTS (buffer) = harness->n_frames * FRAME_TIME;
  GST_BUFFER_PTS (buffer) = GST_BUFFER_DTS (buffer) + 2 * FRAME_TIME;
  GST_BUFFER_DURATION (buffer) = FRAME_TIME;
  harness->n_frames++;
  return buffer;
}

GstEvent *
harness_make_mark (const gchar * name)
{
  return gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
      gst_structure_new_empty (name));
}

/* --- the pusher ---------------------------------------------------------- */

static gchar end_of_work;

gpointer
harness_run_pusher (gpointer data)
{
  IfdHarness *harness = data;
  gpointer object;

  while ((object = g_async_queue_pop (harness->work)) != &end_of_work) {
    GstFlowReturn flow = GST_FLOW_OK;
    gboolean is_buffer = GST_IS_BUFFER (object), result = FALSE;

    if (is_buffer)
      flow = gst_pad_push (harness->up, object);
    else if (GST_IS_EVENT (object))
      result = gst_pad_push_event (harness->up, object);
    else
      result = gst_pad_peer_query (harness->up, object);
    g_mutex_lock (&harness->lock);
    if (is_buffer)
      harness->flow = flow;
    harness->last_result = result;
    harness->pushed++;
    g_cond_broadcast (&harness->changed);
    g_mutex_unlock (&harness->lock);
  }
  return NULL;
}

void
harness_push (IfdHarness * harness, gpointer object)
{
  g_async_queue_push (harness->work, object);
}

void
harness_push_plan (IfdHarness * harness, const gchar * plan)
{
  gchar **words = g_strsplit (plan, " ", -1);
  guint i;

  for (i = 0; words[i]; i++) {
    if (words[i][0] == '(') {
      gchar *name = g_strndup (words[i] + 1, strlen (words[i]) - 2);

      harness_push (harness, harness_make_mark (name));
      g_free (name);
    } else if (g_str_equal (words[i], "eos")) {
      harness_push (harness, gst_event_new_eos ());
    } else {
      harness_push (harness, harness_time_frame (harness,
              harness_make_mpeg (words[i])));
    }
  }
  g_strfreev (words);
}

/* --- the network --------------------------------------------------------- */

static void
log_frame (IfdHarness * harness, GstBuffer * buffer)
{
  gchar type = 'I';
  guint8 code[4] = { 0, };

  gst_buffer_extract (buffer, 0, code, sizeof (code));
  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DROPPABLE))
    type = 'B';
  else if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT))
    type = 'P';
  g_string_append_printf (harness->log, "%s%s%c%u%s", harness->log->len ? " "
      : "",
      GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT) ? "~" : "",
      type, (guint) (GST_BUFFER_DTS (buffer) / FRAME_TIME),
      code[3] == 0xb3 ? "s" : "");
}

static GstFlowReturn
take_frame (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  IfdHarness *harness = gst_pad_get_element_private (pad);
  GstFlowReturn answer;

  g_mutex_lock (&harness->lock);
  log_frame (harness, buffer);
  g_cond_broadcast (&harness->changed);
  while (harness->room == 0 && !harness->flushing)
    g_cond_wait (&harness->changed, &harness->lock);
  if (harness->room > 0)
    harness->room--;
  answer = harness->flushing ? GST_FLOW_FLUSHING : harness->answer;
  g_mutex_unlock (&harness->lock);
  gst_buffer_unref (buffer);
  return answer;
}

static void
log_name (IfdHarness * harness, const gchar * name)
{
  g_mutex_lock (&harness->lock);
  g_string_append_printf (harness->log, "%s(%s)", harness->log->len ? " " : "",
      name);
  g_cond_broadcast (&harness->changed);
  g_mutex_unlock (&harness->lock);
}

void
harness_set_flushing (IfdHarness * harness, gboolean flushing)
{
  g_mutex_lock (&harness->lock);
  harness->flushing = flushing;
  g_cond_broadcast (&harness->changed);
  g_mutex_unlock (&harness->lock);
}

static void
count_ending (IfdHarness * harness)
{
  g_mutex_lock (&harness->lock);
  harness->endings++;
  g_cond_broadcast (&harness->changed);
  g_mutex_unlock (&harness->lock);
}

static gboolean
take_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  IfdHarness *harness = gst_pad_get_element_private (pad);

  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_START)
    harness_set_flushing (harness, TRUE);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    harness_set_flushing (harness, FALSE);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    log_name (harness, "eos");
  else if (GST_EVENT_TYPE (event) == GST_EVENT_GAP)
    log_name (harness, "gap");
  else if (gst_wireless_event_is_ending (event))
    count_ending (harness);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_DOWNSTREAM)
    log_name (harness,
        gst_structure_get_name (gst_event_get_structure (event)));
  gst_event_unref (event);
  return TRUE;
}

static gboolean
take_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  IfdHarness *harness = gst_pad_get_element_private (pad);

  if (!GST_QUERY_IS_SERIALIZED (query))
    return gst_pad_query_default (pad, parent, query);
  log_name (harness, gst_query_type_get_name (GST_QUERY_TYPE (query)));
  return TRUE;
}

/* --- upstream ------------------------------------------------------------ */

static gboolean
answer_upstream (GstPad * pad, GstObject * parent, GstQuery * query)
{
  IfdHarness *harness = gst_pad_get_element_private (pad);
  GstClockTime latency = harness->latency_ms * GST_MSECOND;

  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return gst_pad_query_default (pad, parent, query);
  if (latency)
    gst_query_set_latency (query, TRUE, latency, 5 * latency);
  else
    gst_query_set_latency (query, harness->live, 0, GST_CLOCK_TIME_NONE);
  return TRUE;
}

static gboolean
take_upstream_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  IfdHarness *harness = gst_pad_get_element_private (pad);

  if (gst_event_has_name (event, "GstForceKeyUnit")) {
    g_mutex_lock (&harness->lock);
    harness->key_unit_requests++;
    g_mutex_unlock (&harness->lock);
  }
  fail_if (gst_wireless_event_is_restart (event));
  gst_event_unref (event);
  return TRUE;
}

/* --- waiting for the other threads --------------------------------------- */

void
harness_expect_log (IfdHarness * harness, const gchar * expected)
{
  gint64 deadline = g_get_monotonic_time () + TIMEOUT;

  g_mutex_lock (&harness->lock);
  while (!g_str_equal (harness->log->str, expected)
      && g_cond_wait_until (&harness->changed, &harness->lock, deadline));
  fail_unless_equals_string (harness->log->str, expected);
  g_mutex_unlock (&harness->lock);
}

void
harness_expect_pushed (IfdHarness * harness, guint pushed)
{
  gint64 deadline = g_get_monotonic_time () + TIMEOUT;

  g_mutex_lock (&harness->lock);
  while (harness->pushed < pushed
      && g_cond_wait_until (&harness->changed, &harness->lock, deadline));
  fail_unless_equals_int (harness->pushed, pushed);
  g_mutex_unlock (&harness->lock);
}

void
harness_expect_endings (IfdHarness * harness, guint endings)
{
  gint64 deadline = g_get_monotonic_time () + TIMEOUT;

  g_mutex_lock (&harness->lock);
  while (harness->endings < endings
      && g_cond_wait_until (&harness->changed, &harness->lock, deadline));
  fail_unless_equals_int (harness->endings, endings);
  g_mutex_unlock (&harness->lock);
}

void
harness_expect_caps (IfdHarness * harness)
{
  gint64 deadline = g_get_monotonic_time () + TIMEOUT;

  while (!gst_pad_has_current_caps (harness->down)
      && g_get_monotonic_time () < deadline)
    g_usleep (1000);
  fail_unless (gst_pad_has_current_caps (harness->down));
}

guint64
harness_get_stat (IfdHarness * harness, const gchar * name)
{
  GstStructure *stats = NULL;
  guint64 value = 0;
  gint64 lateness;

  g_object_get (harness->element, "stats", &stats, NULL);
  if (gst_structure_get_int64 (stats, name, &lateness))
    value = lateness;
  else
    fail_unless (gst_structure_get_uint64 (stats, name, &value), "no %s", name);
  gst_structure_free (stats);
  return value;
}

void
harness_expect_stat (IfdHarness * harness, const gchar * name, guint64 value)
{
  gint64 deadline = g_get_monotonic_time () + TIMEOUT;

  while (harness_get_stat (harness, name) != value && g_get_monotonic_time ()
      < deadline)
    g_usleep (1000);
  assert_stat (harness, name, value);
}

void
harness_open_network (IfdHarness * harness, gint room)
{
  g_mutex_lock (&harness->lock);
  harness->room = room < 0 || harness->room < 0 ? room : harness->room + room;
  g_cond_broadcast (&harness->changed);
  g_mutex_unlock (&harness->lock);
}

void
harness_expect_wait (IfdHarness * harness, GstClockTime time)
{
  GstClockID id = NULL;

  gst_test_clock_wait_for_next_pending_id (GST_TEST_CLOCK (harness->clock),
      &id);
  fail_unless_equals_uint64 (gst_clock_id_get_time (id), time);
  gst_clock_id_unref (id);
}

void
harness_set_time (IfdHarness * harness, GstClockTime time)
{
  gst_test_clock_set_time (GST_TEST_CLOCK (harness->clock), time);
}

void
harness_run_until (IfdHarness * harness, guint frames)
{
  while (harness_get_stat (harness, "frames-in") < frames) {
    guint64 before = harness_get_stat (harness, "frames-in");

    fail_unless (gst_test_clock_crank (GST_TEST_CLOCK (harness->clock)));
    harness_expect_stat (harness, "frames-in", before + 1);
  }
}

static gboolean
adds_up (IfdHarness * harness, guint being_sent)
{
  return harness_get_stat (harness, "frames-in")
      == harness_get_stat (harness, "sent")
      + harness_get_stat (harness, "dropped")
      + harness_get_stat (harness, "flushed")
      + harness_get_stat (harness, "waiting") + being_sent;
}

void
harness_expect_adds_up (IfdHarness * harness, guint being_sent)
{
  static const gchar *const reasons[] = {
    "no-room", "overwritten", "disturbed", "leading", "incomplete",
    "no-i-frame", "misordered"
  };
  gint64 deadline = g_get_monotonic_time () + TIMEOUT;
  guint64 dropped = 0;
  guint i;

  while (!adds_up (harness, being_sent) && g_get_monotonic_time () < deadline)
    g_usleep (1000);
  fail_unless (adds_up (harness, being_sent));
  for (i = 0; i < G_N_ELEMENTS (reasons); i++) {
    gchar *name = g_strconcat ("dropped-", reasons[i], NULL);

    dropped += harness_get_stat (harness, name);
    g_free (name);
  }
  assert_stat (harness, "dropped", dropped);
  assert_stat (harness, "dropped", harness_get_stat (harness, "dropped-i")
      + harness_get_stat (harness,
          "dropped-p") + harness_get_stat (harness, "dropped-b"));
}

/* --- life cycle ---------------------------------------------------------- */

static GstStaticPadTemplate harness_src = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate harness_sink = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

void
harness_init (IfdHarness * harness)
{
  memset (harness, 0, sizeof (*harness));
  g_mutex_init (&harness->lock);
  g_cond_init (&harness->changed);
  harness->log = g_string_new (NULL);
  harness->room = -1;
  harness->work = g_async_queue_new ();

  harness->element = gst_check_setup_element ("ifdqueue");
  harness->bus = gst_bus_new ();
  gst_element_set_bus (harness->element, harness->bus);
  harness->clock = gst_test_clock_new ();
  gst_element_set_clock (harness->element, harness->clock);
  harness->up = gst_check_setup_src_pad (harness->element, &harness_src);
  gst_pad_set_element_private (harness->up, harness);
  gst_pad_set_query_function (harness->up, answer_upstream);
  gst_pad_set_event_function (harness->up, take_upstream_event);
  harness->down = gst_check_setup_sink_pad (harness->element, &harness_sink);
  gst_pad_set_element_private (harness->down, harness);
  gst_pad_set_chain_function (harness->down, take_frame);
  gst_pad_set_event_function (harness->down, take_event);
  gst_pad_set_query_function (harness->down, take_query);
  gst_pad_set_active (harness->up, TRUE);
  gst_pad_set_active (harness->down, TRUE);
}

void
harness_set_state (IfdHarness * harness, GstState state,
    GstStateChangeReturn expected)
{
  fail_unless_equals_int (gst_element_set_state (harness->element, state),
      expected);
}

void
harness_push_headers (IfdHarness * harness, const gchar * caps,
    GstFormat format)
{
  GstSegment segment;

  harness_push (harness, gst_event_new_stream_start ("stream"));
  if (caps) {
    GstCaps *parsed = gst_caps_from_string (caps);

    harness_push (harness, gst_event_new_caps (parsed));
    gst_caps_unref (parsed);
  }
  gst_segment_init (&segment, format);
  harness_push (harness, gst_event_new_segment (&segment));
}

void
harness_start (IfdHarness * harness, const gchar * caps)
{
  gboolean sync;

  g_object_get (harness->element, "sync", &sync, NULL);
  harness_set_state (harness, GST_STATE_PAUSED, sync
      ? GST_STATE_CHANGE_NO_PREROLL : GST_STATE_CHANGE_SUCCESS);
  harness_set_state (harness, GST_STATE_PLAYING, GST_STATE_CHANGE_SUCCESS);
  harness->pusher = g_thread_new ("pusher", harness_run_pusher, harness);
  harness_push_headers (harness, caps, GST_FORMAT_TIME);
}

void
harness_setup (IfdHarness * harness)
{
  harness_init (harness);
  harness_start (harness, MPEG_CAPS);
}

void
harness_stop (IfdHarness * harness)
{
  harness_set_flushing (harness, TRUE);
  gst_pad_set_active (harness->down, FALSE);
  gst_element_set_state (harness->element, GST_STATE_READY);
}

void
harness_teardown (IfdHarness * harness)
{
  harness_stop (harness);
  harness_push (harness, &end_of_work);
  g_thread_join (harness->pusher);
  gst_pad_set_active (harness->up, FALSE);
  gst_element_set_state (harness->element, GST_STATE_NULL);
  gst_check_teardown_src_pad (harness->element);
  gst_check_teardown_sink_pad (harness->element);
  gst_element_set_bus (harness->element, NULL);
  gst_object_unref (harness->bus);
  gst_check_teardown_element (harness->element);
  gst_object_unref (harness->clock);
  g_async_queue_unref (harness->work);
  g_string_free (harness->log, TRUE);
  g_mutex_clear (&harness->lock);
  g_cond_clear (&harness->changed);
}
