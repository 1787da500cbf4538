/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the element wirelesslink, which emulates a link. Packets must leave
 * it at the exact nanosecond, and events must keep their places in the stream.
 * Each call that waits must end after a limited time. The models of links are
 * tested in other suites.
 */

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/check/gsttestclock.h>

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "overwritingpool.h"

#define CAPS "application/x-test"

/* --- helpers -------------------------------------------------------------- */

static GstElement *
make_link (const gchar * properties)
{
  gchar *line = g_strdup_printf ("wirelesslink name=link %s", properties);
  GError *error = NULL;
  GstElement *element = gst_parse_launch (line, &error);
  GstPad *pad;

  fail_unless (error == NULL, "%s", error ? error->message : "");
  g_free (line);
  pad = gst_element_request_pad_simple (element, "sink_0");
  fail_unless (pad != NULL);
  gst_object_unref (pad);
  return element;
}

/* Sends the events with which a stream begins: stream-start, caps and segment.
 * Waits until the element wirelesslink has passed them on. */
static void
send_first_events (GstHarness * h)
{
  GstEvent *event = NULL;
  guint i;

  gst_harness_set_src_caps_str (h, CAPS);
  for (i = 0; i < 5000 && !event; i++) {
    event = gst_pad_get_sticky_event (h->sinkpad, GST_EVENT_SEGMENT, 0);
    g_usleep (1000);
  }
  fail_unless (event != NULL);
  gst_event_unref (event);
}

static void
begin (GstHarness * h)
{
  gst_harness_use_testclock (h);
  gst_element_set_state (h->element, GST_STATE_READY);
  gst_harness_play (h);
  send_first_events (h);
}

/* Makes an element wirelesslink with `properties` and starts it. If its
 * property `mode` is `realtime`, the element uses the test clock, and its time
 * begins when this clock shows 0. */
static GstHarness *
start (const gchar * properties)
{
  GstElement *element = make_link (properties);
  GstHarness *h = gst_harness_new_with_element (element, "sink_0", "src_0");

  gst_object_unref (element);
  begin (h);
  return h;
}

/* Adds the flow with the number `number` to the element wirelesslink in the
 * harness `first`. A flow consists of the packets that enter by one sink pad
 * and leave by the source pad with the same number. Returns the harness of the
 * new flow. */
static GstHarness *
start_flow (GstHarness * first, guint number)
{
  gchar *sink = g_strdup_printf ("sink_%u", number);
  gchar *src = g_strdup_printf ("src_%u", number);
  GstPad *pad = gst_element_request_pad_simple (first->element, sink);
  GstHarness *h;

  fail_unless (pad != NULL);
  gst_object_unref (pad);
  h = gst_harness_new_with_element (first->element, sink, src);
  send_first_events (h);
  g_free (sink);
  g_free (src);
  return h;
}

static GstBuffer *
make_packet (guint size, guint8 fill, GstClockTime time)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);

  gst_buffer_memset (buffer, 0, fill, size);
  GST_BUFFER_PTS (buffer) = time;
  return buffer;
}

static void
push (GstHarness * h, guint size, guint8 fill)
{
  fail_unless_equals_int (gst_harness_push (h, make_packet (size, fill, 0)),
      GST_FLOW_OK);
}

static void
push_at (GstHarness * h, guint size, guint8 fill, GstClockTime time)
{
  fail_unless_equals_int (gst_harness_push (h, make_packet (size, fill, time)),
      GST_FLOW_OK);
}

static guint8
get_fill (GstBuffer * buffer)
{
  guint8 fill = 0;

  fail_unless (buffer != NULL);
  gst_buffer_extract (buffer, 0, &fill, 1);
  return fill;
}

static void
pull (GstHarness * h, guint8 fill)
{
  GstBuffer *buffer = gst_harness_pull (h);

  fail_unless_equals_int (get_fill (buffer), fill);
  gst_buffer_unref (buffer);
}

static void
pull_at (GstHarness * h, guint8 fill, GstClockTime time)
{
  GstBuffer *buffer = gst_harness_pull (h);

  fail_unless_equals_int (get_fill (buffer), fill);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), time);
  gst_buffer_unref (buffer);
}

static GstClockTime
read_clock (GstHarness * h)
{
  GstTestClock *clock = gst_harness_get_testclock (h);
  GstClockTime time = gst_clock_get_time (GST_CLOCK (clock));

  gst_object_unref (clock);
  return time;
}

/* Sets the test clock to the time for which the element is waiting. */
static void
crank (GstHarness * h)
{
  fail_unless (gst_harness_crank_single_clock_wait (h));
}

static void
crank_to (GstHarness * h, GstClockTime time)
{
  while (read_clock (h) < time)
    crank (h);
  fail_unless_equals_uint64 (read_clock (h), time);
}

static guint64
get_stat (GstElement * element, const gchar * flow, const gchar * name)
{
  GstStructure *stats;
  const GstStructure *of;
  guint64 value = 0;

  g_object_get (element, "stats", &stats, NULL);
  of = stats;
  if (flow)
    of = gst_value_get_structure (gst_structure_get_value (stats, flow));
  fail_unless (gst_structure_get_uint64 (of, name, &value), "no %s", name);
  gst_structure_free (stats);
  return value;
}

static gchar *
make_name (const gchar * what)
{
  static guint n;

  return g_strdup_printf ("%s/wirelesslink-%d-%u-%s", g_get_tmp_dir (),
      (gint) getpid (), n++, what);
}

static gchar *
read_file (const gchar * name)
{
  gchar *text = NULL;

  fail_unless (g_file_get_contents (name, &text, NULL, NULL));
  return text;
}

static GstEvent *
make_custom (const gchar * name)
{
  return gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
      gst_structure_new_empty (name));
}

/* The output of a pad as a text. It has one character for each packet or event,
 * in the order of the output. Each packet is filled with copies of one byte,
 * and this byte is its character. The character is 'E' for EOS, 'S' for a
 * segment and 'C' for a custom event. */
typedef struct
{
  GMutex lock;
  GString *text;
} Record;

static GstPadProbeReturn
record (GstPad * pad, GstPadProbeInfo * info, gpointer user_data)
{
  Record *record = user_data;
  gchar letter = 0;

  if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
    letter = get_fill (GST_PAD_PROBE_INFO_BUFFER (info));
  else if (GST_EVENT_TYPE (info->data) == GST_EVENT_EOS)
    letter = 'E';
  else if (GST_EVENT_TYPE (info->data) == GST_EVENT_SEGMENT)
    letter = 'S';
  else if (GST_EVENT_TYPE (info->data) == GST_EVENT_CUSTOM_DOWNSTREAM)
    letter = 'C';
  if (letter) {
    g_mutex_lock (&record->lock);
    g_string_append_c (record->text, letter);
    g_mutex_unlock (&record->lock);
  }
  return GST_PAD_PROBE_OK;
}

static Record *
start_record (GstHarness * h, const gchar * pad_name)
{
  GstPad *pad = gst_element_get_static_pad (h->element, pad_name);
  Record *made = g_new0 (Record, 1);

  g_mutex_init (&made->lock);
  made->text = g_string_new (NULL);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER |
      GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, record, made, NULL);
  gst_object_unref (pad);
  return made;
}

static gboolean
is_recorded (Record * record, const gchar * text)
{
  gboolean equal;

  g_mutex_lock (&record->lock);
  equal = g_str_equal (record->text->str, text);
  g_mutex_unlock (&record->lock);
  return equal;
}

static gboolean
has_recorded (Record * record, gchar letter)
{
  gboolean has;

  g_mutex_lock (&record->lock);
  has = strchr (record->text->str, letter) != NULL;
  g_mutex_unlock (&record->lock);
  return has;
}

static void
expect_record (Record * record, const gchar * text)
{
  guint i;

  for (i = 0; i < 2000 && !is_recorded (record, text); i++)
    g_usleep (1000);
  fail_unless (is_recorded (record, text), "%s", text);
}

static void
end_record (Record * record)
{
  g_mutex_clear (&record->lock);
  g_string_free (record->text, TRUE);
  g_free (record);
}

static void
wait_until (GstHarness * h, const gchar * flow, const gchar * stat,
    guint64 value)
{
  guint i;

  for (i = 0; i < 5000 && get_stat (h->element, flow, stat) != value; i++)
    g_usleep (1000);
  fail_unless_equals_uint64 (get_stat (h->element, flow, stat), value);
}

/* --- real time ------------------------------------------------------------ */

GST_START_TEST (an_ideal_link_is_a_plain_filter)
{
  GstHarness *h = start ("");
  GstBuffer *in = make_packet (100, 'a', 5), *out;
  GstCaps *caps;

  gst_buffer_ref (in);
  fail_unless_equals_int (gst_harness_push (h, in), GST_FLOW_OK);
  out = gst_harness_pull (h);
  fail_unless (out == in);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (out), 5);
  caps = gst_pad_get_current_caps (h->sinkpad);
  fail_unless (caps != NULL);
  gst_caps_unref (caps);
  gst_buffer_unref (out);
  gst_buffer_unref (in);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (elements_link_to_it_without_naming_pads)
{
  GstElement *pipeline = gst_parse_launch ("fakesrc num-buffers=3 sizetype=2 "
      "! wirelesslink ! fakesink name=sink", NULL);
  GstMessage *message;
  GstBus *bus = gst_element_get_bus (pipeline);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_EOS);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

GST_END_TEST;

GST_START_TEST (delay_is_exact)
{
  GstHarness *h = start ("delay-ms=10");

  gst_harness_set_time (h, 3 * GST_MSECOND);
  push (h, 100, 'a');
  fail_unless (gst_harness_try_pull (h) == NULL);
  crank (h);
  fail_unless_equals_uint64 (read_clock (h), 13 * GST_MSECOND);
  pull (h, 'a');
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (rate_is_exact)
{
  GstHarness *h = start ("rate=8000000");
  guint i;

  /* 1000 bytes take 1 ms. */
  for (i = 0; i < 3; i++)
    push (h, 1000, 'a' + i);
  for (i = 0; i < 3; i++) {
    fail_unless (gst_harness_try_pull (h) == NULL);
    crank_to (h, (i + 1) * GST_MSECOND);
    pull (h, 'a' + i);
  }
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (overhead_costs_time)
{
  GstHarness *h = start ("rate=8000000 overhead=28 packet-overhead=2");

  push (h, 970, 'a');
  crank_to (h, GST_MSECOND);
  pull (h, 'a');
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (eos_comes_after_the_last_delayed_packet)
{
  GstHarness *h = start ("delay-ms=10");
  Record *out = start_record (h, "src_0");

  push (h, 100, 'a');
  gst_harness_set_time (h, 5 * GST_MSECOND);
  push (h, 100, 'b');
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  crank_to (h, 10 * GST_MSECOND);
  expect_record (out, "a");
  crank_to (h, 15 * GST_MSECOND);
  expect_record (out, "abE");
  gst_harness_teardown (h);
  end_record (out);
}

GST_END_TEST;

GST_START_TEST (events_keep_their_places)
{
  GstHarness *h = start ("delay-ms=10");
  Record *out = start_record (h, "src_0");
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  push (h, 100, 'a');
  gst_harness_push_event (h, make_custom ("one"));
  gst_harness_push_event (h, make_custom ("two"));
  gst_harness_set_time (h, GST_MSECOND);
  push (h, 100, 'b');
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  push (h, 100, 'c');
  gst_harness_push_event (h, gst_event_new_eos ());
  expect_record (out, "");
  crank_to (h, 10 * GST_MSECOND);
  expect_record (out, "aCC");
  crank_to (h, 11 * GST_MSECOND);
  expect_record (out, "aCCbScE");
  gst_harness_teardown (h);
  end_record (out);
}

GST_END_TEST;

GST_START_TEST (overtaking_packet_waits_for_the_event_before_it)
{
  /* Station 0 sends packet "a", whose delay is 100 ms. Then an event enters the
   * element. Then station 1 sends packets "b" and "c", whose delay is only 1
   * ms. They arrive before packet "a". However, they entered the element after
   * the event, so they must wait until the event has left the element. */
  GstHarness *h = start ("delay-ms=100 delay-down-ms=1");
  Record *out = start_record (h, "src_0");

  push (h, 100, 'a');
  gst_harness_push_event (h, make_custom ("between"));
  gst_child_proxy_set (GST_CHILD_PROXY (h->element), "sink_0::station", 1,
      NULL);
  push (h, 100, 'b');
  push (h, 100, 'c');
  crank_to (h, GST_MSECOND);
  wait_until (h, NULL, "delivered", 2);
  expect_record (out, "");
  crank_to (h, 100 * GST_MSECOND);
  expect_record (out, "aCbc");
  gst_harness_teardown (h);
  end_record (out);
}

GST_END_TEST;

GST_START_TEST (lost_packets_hold_nothing_up)
{
  GstHarness *h = start ("loss=1 rate=8000000");
  Record *out = start_record (h, "src_0");

  push (h, 1000, 'a');
  gst_harness_push_event (h, make_custom ("after"));
  push (h, 1000, 'b');
  gst_harness_push_event (h, gst_event_new_eos ());
  expect_record (out, "");
  crank_to (h, GST_MSECOND);
  expect_record (out, "C");
  crank_to (h, 2 * GST_MSECOND);
  expect_record (out, "CE");
  fail_unless_equals_uint64 (get_stat (h->element, NULL, "lost-air"), 2);
  gst_harness_teardown (h);
  end_record (out);
}

GST_END_TEST;

GST_START_TEST (duplicates_come_out_twice)
{
  GstHarness *h = start ("duplicate=1 bit-error-rate=0.5");
  GstBuffer *one, *two;

  push (h, 100, 'a');
  one = gst_harness_pull (h);
  two = gst_harness_pull (h);
  fail_unless (gst_buffer_memcmp (one, 0, "aaaaaaaaaaaaaaaaaaaa", 20) != 0);
  fail_unless_equals_int (gst_buffer_get_size (two), 100);
  gst_buffer_unref (one);
  gst_buffer_unref (two);
  fail_unless_equals_uint64 (get_stat (h->element, NULL, "duplicates"), 1);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (a_flush_drops_what_is_in_the_link)
{
  GstHarness *h = start ("delay-ms=10"), *other = start_flow (h, 1);
  Record *out = start_record (h, "src_0");
  GstSegment segment;

  push (h, 100, 'a');
  push (other, 100, 'x');
  gst_harness_push_event (h, make_custom ("lost-too"));
  gst_harness_push_event (h, gst_event_new_flush_start ());
  fail_unless_equals_int (gst_harness_push (h, make_packet (10, 'b', 0)),
      GST_FLOW_FLUSHING);
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  gst_harness_set_time (h, GST_MSECOND);
  push (h, 100, 'c');
  crank_to (h, 10 * GST_MSECOND);
  pull (other, 'x');
  crank_to (h, 11 * GST_MSECOND);
  pull (h, 'c');
  expect_record (out, "Sc");
  gst_harness_teardown (other);
  gst_harness_teardown (h);
  end_record (out);
}

GST_END_TEST;

GST_START_TEST (flows_share_one_medium)
{
  GstHarness *h = start ("rate=8000000 half-duplex=true");
  GstHarness *other = start_flow (h, 1);

  push (h, 1000, 'a');
  push (other, 1000, 'x');
  push (h, 1000, 'b');
  crank_to (h, GST_MSECOND);
  pull (h, 'a');
  crank_to (h, 2 * GST_MSECOND);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h) +
      gst_harness_buffers_in_queue (other) > 1, FALSE);
  crank_to (h, 3 * GST_MSECOND);
  pull (h, 'b');
  pull (other, 'x');
  gst_harness_teardown (other);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (flows_of_one_station_share_its_transmitter)
{
  GstHarness *h = start ("rate=8000000");
  GstHarness *same = start_flow (h, 16), *other = start_flow (h, 1);
  guint station;

  gst_child_proxy_get (GST_CHILD_PROXY (h->element), "sink_16::station",
      &station, NULL);
  fail_unless_equals_int (station, 0);
  push (h, 1000, 'a');
  push (same, 1000, 'b');
  push (other, 1000, 'c');
  crank_to (h, GST_MSECOND);
  pull (h, 'a');
  pull (other, 'c');
  fail_unless (gst_harness_try_pull (same) == NULL);
  crank_to (h, 2 * GST_MSECOND);
  pull (same, 'b');
  gst_harness_teardown (other);
  gst_harness_teardown (same);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (a_full_queue_loses_packets)
{
  GstHarness *h = start ("rate=8000000 txqueuelen=2");
  guint i;

  /* At 8 Mbit/s, the transmission of a packet takes 1 ms. The test sends five
   * packets at once. The first one is in transmission, two wait in the queue,
   * and the other two must be lost. */
  for (i = 0; i < 5; i++)
    push (h, 1000, 'a' + i);
  fail_unless_equals_uint64 (get_stat (h->element, "flow-0", "lost-queue"), 2);
  fail_unless_equals_uint64 (get_stat (h->element, NULL, "in-flight"), 3);
  gst_harness_teardown (h);
}

GST_END_TEST;

static gpointer
push_five (gpointer data)
{
  GstHarness *h = data;
  GstFlowReturn result = GST_FLOW_OK;
  guint i;

  for (i = 0; i < 5 && result == GST_FLOW_OK; i++)
    result = gst_harness_push (h, make_packet (1000, 'a' + i, 0));
  return GINT_TO_POINTER (result);
}

GST_START_TEST (blocking_push_waits_for_queue_room)
{
  GstHarness *h = start ("rate=8000000 txqueuelen=2 blocking=true");
  GThread *thread = g_thread_new ("push", push_five, h);
  guint i;

  wait_until (h, NULL, "offered", 3);
  for (i = 0; i < 5; i++) {
    crank_to (h, (i + 1) * GST_MSECOND);
    pull (h, 'a' + i);
    wait_until (h, NULL, "offered", MIN (i + 4, 5));
  }
  fail_unless_equals_int (GPOINTER_TO_INT (g_thread_join (thread)),
      GST_FLOW_OK);
  fail_unless_equals_uint64 (get_stat (h->element, NULL, "lost-queue"), 0);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (flush_wakes_a_blocked_push)
{
  GstHarness *h = start ("rate=8000000 txqueuelen=2 blocking=true");
  GThread *thread = g_thread_new ("push", push_five, h);

  wait_until (h, NULL, "offered", 3);
  gst_harness_push_event (h, gst_event_new_flush_start ());
  fail_unless_equals_int (GPOINTER_TO_INT (g_thread_join (thread)),
      GST_FLOW_FLUSHING);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (disabling_blocking_unblocks_the_push)
{
  GstHarness *h = start ("rate=8000000 txqueuelen=2 blocking=true");
  GThread *thread = g_thread_new ("push", push_five, h);

  wait_until (h, NULL, "offered", 3);
  g_object_set (h->element, "blocking", FALSE, NULL);
  fail_unless_equals_int (GPOINTER_TO_INT (g_thread_join (thread)),
      GST_FLOW_OK);
  fail_unless_equals_uint64 (get_stat (h->element, NULL, "lost-queue"), 2);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (state_change_wakes_a_blocked_push)
{
  GstHarness *h = start ("rate=8000000 txqueuelen=2 blocking=true");
  GThread *thread = g_thread_new ("push", push_five, h);

  wait_until (h, NULL, "offered", 3);
  gst_element_set_state (h->element, GST_STATE_PAUSED);
  gst_element_set_state (h->element, GST_STATE_NULL);
  fail_unless_equals_int (GPOINTER_TO_INT (g_thread_join (thread)),
      GST_FLOW_FLUSHING);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (time_stands_still_in_paused)
{
  GstHarness *h = start ("delay-ms=10");

  push (h, 100, 'a');
  gst_harness_set_time (h, 4 * GST_MSECOND);
  fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_NO_PREROLL);
  gst_harness_set_time (h, 100 * GST_MSECOND);
  fail_unless (gst_harness_try_pull (h) == NULL);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  crank_to (h, 106 * GST_MSECOND);
  pull (h, 'a');
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (runs_without_a_clock)
{
  GstElement *element = make_link ("delay-ms=1");
  GstHarness *h = gst_harness_new_with_element (element, "sink_0", "src_0");

  gst_object_unref (element);
  gst_element_set_state (h->element, GST_STATE_READY);
  gst_element_set_clock (h->element, NULL);
  gst_harness_play (h);
  gst_harness_set_src_caps_str (h, CAPS);
  push (h, 100, 'a');
  pull (h, 'a');
  gst_harness_teardown (h);
}

GST_END_TEST;

static GstPadProbeReturn
block_until (GstPad * pad, GstPadProbeInfo * info, gpointer user_data)
{
  gint *gate = user_data;

  while (!g_atomic_int_get (gate))
    g_usleep (1000);
  return GST_PAD_PROBE_OK;
}

static void
add_gate (GstHarness * h, gint * gate)
{
  gst_pad_add_probe (h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, block_until, gate,
      NULL);
}

GST_START_TEST (a_blocked_flow_holds_up_no_other)
{
  GstHarness *h = start ("max-output-packets=3"), *other = start_flow (h, 1);
  gint gate = 0;
  guint i;

  add_gate (h, &gate);
  for (i = 0; i < 10; i++)
    push (h, 100, 'a' + i);
  fail_unless_equals_uint64 (get_stat (h->element, "flow-0", "dropped-output"),
      7);
  push (other, 100, 'x');
  pull (other, 'x');
  g_atomic_int_set (&gate, 1);
  for (i = 0; i < 3; i++)
    pull (h, 'a' + i);
  fail_unless_equals_uint64 (get_stat (h->element, NULL, "delivered"), 11);
  gst_harness_teardown (other);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Waits until the output of the element wirelesslink is blocked. In this
 * pipeline, the sink blocks for longer than the test lasts. First, the queue
 * between wirelesslink and the sink becomes full. Then the output of
 * wirelesslink becomes full, so wirelesslink drops packets and counts them in
 * "dropped-output". `before` is the value of this counter before the wait, and
 * the function returns when the counter is greater. */
static void
wait_until_blocked (GstElement * link, guint64 before)
{
  while (get_stat (link, NULL, "dropped-output") <= before)
    g_usleep (1000);
}

GST_START_TEST (state_changes_with_a_blocked_downstream)
{
  GstElement *pipeline = gst_parse_launch ("fakesrc is-live=true sizetype=2 "
      "sizemax=100 datarate=100000 ! wirelesslink name=link "
      "max-output-packets=2 ! queue max-size-buffers=1 ! "
      "fakesink sync=true ts-offset=100000000000", NULL);
  GstElement *link = gst_bin_get_by_name (GST_BIN (pipeline), "link");
  GstBus *bus = gst_element_get_bus (pipeline);
  guint64 before = 0;
  guint i;

  for (i = 0; i < 5; i++) {
    fail_unless (gst_element_set_state (pipeline, GST_STATE_PLAYING) !=
        GST_STATE_CHANGE_FAILURE);
    wait_until_blocked (link, before);
    if (i % 2) {
      fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_NULL),
          GST_STATE_CHANGE_SUCCESS);
      before = 0;
    } else {
      fail_unless (gst_element_set_state (pipeline, GST_STATE_PAUSED) !=
          GST_STATE_CHANGE_FAILURE);
      before = get_stat (link, NULL, "dropped-output");
    }
  }
  fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_NULL),
      GST_STATE_CHANGE_SUCCESS);
  fail_if (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR));
  gst_object_unref (bus);
  gst_object_unref (link);
  gst_object_unref (pipeline);
}

GST_END_TEST;

static GstFlowReturn
push_until_refused (GstHarness * h)
{
  GstFlowReturn result = GST_FLOW_OK;
  guint i;

  for (i = 0; i < 5000 && result == GST_FLOW_OK; i++) {
    result = gst_harness_push (h, make_packet (100, 'a', 0));
    g_usleep (1000);
  }
  return result;
}

static GstPadProbeReturn
refuse (GstPad * pad, GstPadProbeInfo * info, gpointer user_data)
{
  GST_PAD_PROBE_INFO_FLOW_RETURN (info) = *(GstFlowReturn *) user_data;
  gst_buffer_unref (GST_PAD_PROBE_INFO_BUFFER (info));
  return GST_PAD_PROBE_HANDLED;
}

GST_START_TEST (flow_returns_go_upstream)
{
  GstFlowReturn results[] = { GST_FLOW_EOS, GST_FLOW_ERROR,
    GST_FLOW_CUSTOM_ERROR, GST_FLOW_FLUSHING
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (results); i++) {
    GstHarness *h = start (""), *other = start_flow (h, 1);

    gst_pad_add_probe (h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, refuse,
        &results[i], NULL);
    fail_unless_equals_int (push_until_refused (h), results[i]);
    push (other, 100, 'x');
    pull (other, 'x');
    gst_harness_teardown (other);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

GST_START_TEST (a_pad_that_is_linked_again_goes_on)
{
  GstHarness *h = start ("");
  GstPad *pad = gst_element_get_static_pad (h->element, "src_0");

  gst_pad_unlink (pad, h->sinkpad);
  fail_unless_equals_int (push_until_refused (h), GST_FLOW_NOT_LINKED);
  fail_unless_equals_int (gst_pad_link (pad, h->sinkpad), GST_PAD_LINK_OK);
  push (h, 100, 'b');
  pull (h, 'b');
  gst_object_unref (pad);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (lists_come_out_as_lists)
{
  GstHarness *h = start ("delay-ms=1");
  GstPad *pad = gst_element_get_static_pad (h->element, "src_0");
  GstBufferList *list = gst_buffer_list_new ();
  gint gate = 0;
  guint i;

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER_LIST, block_until, &gate,
      NULL);
  for (i = 0; i < 3; i++)
    gst_buffer_list_add (list, make_packet (100, 'a' + i, 0));
  gst_pad_push_list (h->srcpad, list);
  fail_unless_equals_uint64 (get_stat (h->element, NULL, "offered"), 3);
  crank_to (h, GST_MSECOND);
  wait_until (h, NULL, "delivered", 3);
  g_usleep (10000);
  fail_unless (gst_harness_try_pull (h) == NULL);
  g_atomic_int_set (&gate, 1);
  for (i = 0; i < 3; i++)
    pull (h, 'a' + i);
  gst_object_unref (pad);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Configurations of the element wirelesslink. The test runs once for each
 * configuration, and __i__ is the index of the configuration in this array. The
 * test checks that the output with buffers from a pool is the same as the
 * output with other buffers.
 * - The first configuration only delays packets.
 * - The second one outputs each packet twice: the original buffer and a copy.
 *   The element may change the timestamps of the original buffer.
 * - The third one damages packets.
 */
static const gchar *const keeping[] = {
  "mode=timestamp delay-ms=100",
  "mode=timestamp delay-ms=100 duplicate=1 jitter-ms=1 seed=1",
  "mode=timestamp profile=gsm-transparent block-error-rate=0.1 seed=1",
};

GST_START_TEST (pools_may_have_their_buffers_back)
{
  GPtrArray *packets =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  guint i;

  for (i = 0; i < 10; i++)
    g_ptr_array_add (packets, make_packet (200, 'a' + i, i * GST_MSECOND));
  pooled_compare (start (keeping[__i__]), start (keeping[__i__]), packets);
  g_ptr_array_unref (packets);
}

GST_END_TEST;

GST_START_TEST (pads_come_and_go_while_it_runs)
{
  GstHarness *h = start ("delay-ms=10"), *other;
  GstPad *pad;
  guint i;

  for (i = 0; i < 3; i++) {
    other = start_flow (h, 1);
    push (h, 100, 'a');
    push (other, 100, 'x');
    pad = gst_element_get_static_pad (h->element, "sink_1");
    gst_element_release_request_pad (h->element, pad);
    gst_object_unref (pad);
    fail_unless (gst_element_get_static_pad (h->element, "src_1") == NULL);
    crank_to (h, (i + 1) * 10 * GST_MSECOND);
    pull (h, 'a');
    fail_unless (gst_harness_try_pull (other) == NULL);
    gst_harness_teardown (other);
  }
  fail_unless_equals_uint64 (get_stat (h->element, NULL, "offered"), 6);
  gst_harness_teardown (h);
}

GST_END_TEST;

static void
ask_latency (GstPad * pad)
{
  GstQuery *query = gst_query_new_latency ();

  gst_pad_query (pad, query);
  gst_query_unref (query);
}

/* Uses `pad` after it was released. The pad then no longer belongs to an
 * element wirelesslink. It must still be possible to set and read the property
 * `station` of the pad. Its property `channel-quality` must be 1, which is the
 * value of a pad without a channel. */
static void
use_released_pad (GstPad * pad, guint station)
{
  GstIterator *links;
  gdouble quality;
  guint found;

  g_object_set (pad, "station", station + 1, NULL);
  g_object_get (pad, "station", &found, "channel-quality", &quality, NULL);
  fail_unless_equals_int (found, station + 1);
  fail_unless (quality == 1);
  links = gst_pad_iterate_internal_links (pad);
  if (links)
    gst_iterator_free (links);
  gst_pad_set_active (pad, TRUE);
  ask_latency (pad);
  gst_pad_send_event (pad, GST_PAD_IS_SINK (pad) ?
      gst_event_new_eos () : gst_event_new_reconfigure ());
  if (GST_PAD_IS_SINK (pad))
    fail_unless (gst_pad_chain (pad, make_packet (100, 'a', 0)) != GST_FLOW_OK);
  gst_pad_set_active (pad, FALSE);
}

/* The test uses pads of an element after it has released them. If __i__ is 0,
 * the element still exists at this time. If __i__ is 1, the test frees the
 * element before it uses the pads. */
GST_START_TEST (released_pads_may_be_kept)
{
  GstElement *link = gst_element_factory_make ("wirelesslink", NULL);
  GstPad *sink = gst_element_request_pad_simple (link, "sink_3");
  GstPad *src = gst_element_get_static_pad (link, "src_3");
  GstPad *again;
  gdouble quality;
  guint station;

  /* The element loses 25 % of the packets, so the property `channel-quality` of
   * each of its pads is 0.75. After a pad was released, its channel quality
   * must be 1. */
  g_object_set (link, "loss", 0.25, NULL);
  gst_element_set_state (link, GST_STATE_PLAYING);
  gst_element_release_request_pad (link, sink);
  if (__i__) {
    gst_element_set_state (link, GST_STATE_NULL);
    gst_clear_object (&link);
  }
  use_released_pad (sink, 3);
  use_released_pad (src, 4);
  if (link) {
    again = gst_element_request_pad_simple (link, "sink_3");
    g_object_set (sink, "station", 7, NULL);
    g_object_get (again, "station", &station, "channel-quality", &quality,
        NULL);
    fail_unless_equals_int (station, 3);
    fail_unless (quality == 0.75, "%f", quality);
    gst_object_unref (again);
    gst_element_set_state (link, GST_STATE_NULL);
    gst_object_unref (link);
  }
  gst_object_unref (sink);
  gst_object_unref (src);
}

GST_END_TEST;

GST_START_TEST (pads_have_the_numbers_that_were_asked_for)
{
  GstElement *element = gst_element_factory_make ("wirelesslink", NULL);
  GstPad *five = gst_element_request_pad_simple (element, "sink_5");
  GstPad *free_one = gst_element_request_pad_simple (element, "sink_%u");

  fail_unless_equals_string (GST_OBJECT_NAME (five), "sink_5");
  fail_unless_equals_string (GST_OBJECT_NAME (free_one), "sink_0");
  fail_unless (gst_element_request_pad_simple (element, "sink_70000") == NULL);
  gst_object_unref (five);
  gst_object_unref (free_one);
  gst_object_unref (element);
}

GST_END_TEST;

/* --- queries -------------------------------------------------------------- */

GST_START_TEST (latency_is_live_and_has_the_delay)
{
  GstHarness *h = start ("delay-ms=10 jitter-ms=5");
  GstClockTime min, max;
  GstQuery *query;
  gboolean live;

  gst_harness_set_upstream_latency (h, 3 * GST_MSECOND);
  query = gst_query_new_latency ();
  fail_unless (gst_pad_peer_query (h->sinkpad, query));
  gst_query_parse_latency (query, &live, &min, &max);
  fail_unless (live);
  fail_unless_equals_uint64 (min, 13 * GST_MSECOND);
  fail_unless_equals_uint64 (max, GST_CLOCK_TIME_NONE);
  gst_query_unref (query);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (memory_of_downstream_stays_downstream)
{
  GstHarness *h = start ("");
  GstCaps *caps = gst_caps_from_string (CAPS);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  fail_if (gst_pad_peer_query (h->srcpad, query));
  gst_query_unref (query);
  gst_caps_unref (caps);
  gst_harness_teardown (h);
}

GST_END_TEST;

static gpointer
ask_drain (gpointer data)
{
  GstHarness *h = data;
  GstQuery *query = gst_query_new_drain ();
  gboolean answer = gst_pad_peer_query (h->srcpad, query);

  gst_query_unref (query);
  return GINT_TO_POINTER (answer);
}

GST_START_TEST (a_drain_query_waits_for_its_turn)
{
  GstHarness *h = start ("delay-ms=10");
  GThread *thread;

  push (h, 100, 'a');
  thread = g_thread_new ("drain", ask_drain, h);
  g_usleep (20000);
  fail_unless (gst_harness_try_pull (h) == NULL);
  crank_to (h, 10 * GST_MSECOND);
  g_thread_join (thread);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 1);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (a_waiting_query_is_refused_at_the_end)
{
  GstHarness *h = start ("delay-ms=10");
  GThread *thread;

  push (h, 100, 'a');
  thread = g_thread_new ("drain", ask_drain, h);
  g_usleep (20000);
  gst_element_set_state (h->element, GST_STATE_NULL);
  fail_if (GPOINTER_TO_INT (g_thread_join (thread)));
  gst_harness_teardown (h);
}

GST_END_TEST;

/* --- mode=timestamp ------------------------------------------------------- */

static GstHarness *
start_timestamp (const gchar * properties)
{
  gchar *all = g_strconcat ("mode=timestamp ", properties, NULL);
  GstHarness *h = start (all);

  g_free (all);
  return h;
}

GST_START_TEST (timestamps_tell_when_packets_arrive)
{
  GstHarness *h = start_timestamp ("rate=8000000 delay-ms=5");

  push_at (h, 1000, 'a', 0);
  push_at (h, 1000, 'b', 0);
  push_at (h, 1000, 'c', 10 * GST_MSECOND);
  gst_harness_push_event (h, gst_event_new_eos ());
  pull_at (h, 'a', 6 * GST_MSECOND);
  pull_at (h, 'b', 7 * GST_MSECOND);
  pull_at (h, 'c', 16 * GST_MSECOND);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (arrival_is_dts_and_both_stamps_move)
{
  GstHarness *h = start_timestamp ("delay-ms=5");
  GstBuffer *buffer = make_packet (100, 'a', 90 * GST_MSECOND);

  GST_BUFFER_DTS (buffer) = 10 * GST_MSECOND;
  gst_harness_push (h, buffer);
  gst_harness_push_event (h, gst_event_new_eos ());
  buffer = gst_harness_pull (h);
  fail_unless_equals_uint64 (GST_BUFFER_DTS (buffer), 15 * GST_MSECOND);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), 95 * GST_MSECOND);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (timestamps_are_those_of_the_segment)
{
  GstHarness *h = start_timestamp ("rate=8000000");
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = 100 * GST_SECOND;
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  push_at (h, 1000, 'a', 100 * GST_SECOND);
  push_at (h, 1000, 'b', 100 * GST_SECOND);
  gst_harness_push_event (h, gst_event_new_eos ());
  pull_at (h, 'a', 100 * GST_SECOND + GST_MSECOND);
  pull_at (h, 'b', 100 * GST_SECOND + 2 * GST_MSECOND);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (flows_are_merged_in_the_order_of_their_times)
{
  GstHarness *h = start_timestamp ("rate=8000000 half-duplex=true");
  GstHarness *other = start_flow (h, 1);

  push_at (h, 1000, 'a', 0);
  push_at (h, 1000, 'b', 2 * GST_MSECOND);
  push_at (h, 1000, 'c', 5 * GST_MSECOND);
  fail_unless (gst_harness_try_pull (h) == NULL);
  push_at (other, 1000, 'x', 2 * GST_MSECOND + 1);
  push_at (other, 1000, 'y', 5 * GST_MSECOND - 1);
  gst_harness_push_event (h, gst_event_new_eos ());
  gst_harness_push_event (other, gst_event_new_eos ());
  pull_at (h, 'a', GST_MSECOND);
  pull_at (h, 'b', 3 * GST_MSECOND);
  pull_at (other, 'x', 4 * GST_MSECOND);
  pull_at (other, 'y', 6 * GST_MSECOND - 1);
  pull_at (h, 'c', 7 * GST_MSECOND - 1);
  gst_harness_teardown (other);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (a_gap_tells_that_nothing_comes)
{
  GstHarness *h = start_timestamp ("delay-ms=1");
  GstHarness *other = start_flow (h, 1);

  push_at (h, 100, 'a', 0);
  push_at (h, 100, 'b', 5 * GST_MSECOND);
  gst_harness_push_event (other, gst_event_new_gap (0, 10 * GST_MSECOND));
  push_at (h, 100, 'c', 9 * GST_MSECOND);
  pull_at (h, 'a', GST_MSECOND);
  pull_at (h, 'b', 6 * GST_MSECOND);
  gst_harness_teardown (other);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (a_gap_changes_no_time_before_it)
{
  GstHarness *h = start_timestamp ("delay-ms=1");
  GstHarness *other = start_flow (h, 1);

  push_at (other, 100, 'x', 2 * GST_MSECOND);
  gst_harness_push_event (other, gst_event_new_gap (3 * GST_MSECOND,
          10 * GST_MSECOND));
  push_at (h, 100, 'a', 5 * GST_MSECOND);
  push_at (h, 100, 'b', 6 * GST_MSECOND);
  pull_at (other, 'x', 3 * GST_MSECOND);
  gst_harness_teardown (other);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (an_outage_without_end_ends_with_the_stream)
{
  static const gchar *const modes[] = { "mode=timestamp", "mode=realtime" };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (modes); i++) {
    gchar *all = g_strconcat (modes[i], " outage-good=0 outage-bad=1 "
        "rate=8000000", NULL);
    GstHarness *h = start (all);
    Record *out = start_record (h, "src_0");

    push_at (h, 1000, 'a', 0);
    push_at (h, 1000, 'b', GST_MSECOND);
    gst_harness_push_event (h, gst_event_new_eos ());
    expect_record (out, "E");
    fail_unless_equals_uint64 (get_stat (h->element, NULL, "in-flight"), 2);
    gst_harness_teardown (h);
    end_record (out);
    g_free (all);
  }
}

GST_END_TEST;

/* The link is so bad that no radio block ever arrives, or that no call can be
 * set up. The radio protocol (RLP) would ask for the missing blocks forever.
 * The element must nevertheless stop when the stream ends, and must output no
 * buffer. */
GST_START_TEST (a_link_that_never_works_ends_with_the_stream)
{
  const gchar *links[] = { "profile=gsm block-error-rate=1",
    "profile=gsm dial-up=true call-failure=1"
  };
  guint i, j;

  for (i = 0; i < G_N_ELEMENTS (links); i++) {
    gchar *properties = g_strconcat ("mode=timestamp ", links[i], NULL);
    GstHarness *h = start (properties);

    for (j = 0; j < 5; j++)
      push_at (h, 100, j, j * GST_SECOND);
    fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
    fail_unless_equals_int (gst_harness_buffers_received (h), 0);
    gst_harness_teardown (h);
    g_free (properties);
  }
}

GST_END_TEST;

/* The source pad of the element wirelesslink is not linked to another pad. The
 * element notices this only when it outputs the first packet, after 300 ms. By
 * then the source has already sent EOS. The element must still post an error.
 */
GST_START_TEST (a_failure_behind_the_end_is_an_error)
{
  GstElement *pipeline = gst_parse_launch ("videotestsrc num-buffers=3 ! "
      "wirelesslink delay-ms=300", NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_ERROR);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* The element wirelesslink adds its delay to the timestamps of a packet. A
 * packet may then lie beyond the end of the segment of the input. The segment
 * of the output must therefore have no end. */
GST_START_TEST (no_packet_is_behind_the_end_of_its_segment)
{
  GstHarness *h = start ("mode=timestamp delay-ms=600");
  const GstSegment *opened;
  GstSegment segment;
  GstEvent *event;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.stop = GST_SECOND;
  fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));
  push_at (h, 100, 1, 900 * GST_MSECOND);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  gst_buffer_unref (gst_harness_pull (h));
  event = gst_pad_get_sticky_event (h->sinkpad, GST_EVENT_SEGMENT, 0);
  gst_event_parse_segment (event, &opened);
  fail_unless (opened->stop == GST_CLOCK_TIME_NONE);
  gst_event_unref (event);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (packets_without_time_have_that_of_the_last)
{
  GstHarness *h = start_timestamp ("rate=8000000");

  push_at (h, 1000, 'a', 10 * GST_MSECOND);
  push_at (h, 1000, 'b', GST_CLOCK_TIME_NONE);
  push_at (h, 1000, 'c', 10 * GST_MSECOND);
  gst_harness_push_event (h, gst_event_new_eos ());
  pull_at (h, 'a', 11 * GST_MSECOND);
  pull_at (h, 'b', GST_CLOCK_TIME_NONE);
  pull_at (h, 'c', 13 * GST_MSECOND);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (a_stream_without_times_is_an_error)
{
  GstHarness *h = start_timestamp ("");
  GstBus *bus = gst_bus_new ();
  GstMessage *message;

  gst_element_set_bus (h->element, bus);
  fail_unless_equals_int (gst_harness_push (h, make_packet (10, 'a',
              GST_CLOCK_TIME_NONE)), GST_FLOW_ERROR);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_unref (message);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (after_a_flushing_seek_the_link_goes_on)
{
  GstHarness *h = start_timestamp ("rate=8000000");
  GstSegment segment;

  push_at (h, 1000, 'a', 0);
  push_at (h, 1000, 'b', 100 * GST_SECOND);
  pull_at (h, 'a', GST_MSECOND);
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  push_at (h, 1000, 'c', 50 * GST_MSECOND);
  gst_harness_push_event (h, gst_event_new_eos ());
  pull_at (h, 'c', 51 * GST_MSECOND);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Sends 200 packets through an element wirelesslink with the given properties.
 * Returns the log that the element has written. */
static gchar *
run_logged (const gchar * properties, GstStructure ** stats)
{
  gchar *name = make_name ("log"), *text;
  gchar *all = g_strdup_printf ("%s location=%s", properties, name);
  GstHarness *h = start_timestamp (all);
  Record *out = start_record (h, "src_0");
  guint i;

  for (i = 0; i < 200; i++)
    push_at (h, 100 + i, 'a', i * GST_MSECOND);
  gst_harness_push_event (h, gst_event_new_eos ());
  for (i = 0; i < 5000 && !has_recorded (out, 'E'); i++)
    g_usleep (1000);
  fail_unless (has_recorded (out, 'E'));
  gst_element_set_state (h->element, GST_STATE_NULL);
  if (stats)
    g_object_get (h->element, "stats", stats, NULL);
  gst_harness_teardown (h);
  end_record (out);
  text = read_file (name);
  g_unlink (name);
  g_free (name);
  g_free (all);
  return text;
}

/* Returns a column of the log `text`: the word with the index `column` of each
 * line that describes a packet. */
static gchar *
get_column (const gchar * text, guint column)
{
  GString *found = g_string_new (NULL);
  gchar **lines = g_strsplit (text, "\n", -1);
  guint i;

  for (i = 0; lines[i]; i++) {
    gchar **words = g_strsplit (lines[i], " ", -1);

    if (g_strcmp0 (words[0], "packet") == 0)
      g_string_append_printf (found, "%s ", words[column]);
    g_strfreev (words);
  }
  g_strfreev (lines);
  return g_string_free (found, FALSE);
}

static void
expect_same_column (const gchar * text, const gchar * other, guint column)
{
  gchar *own = get_column (text, column), *others = get_column (other, column);

  fail_unless_equals_string (own, others);
  g_free (own);
  g_free (others);
}

#define LOG_INDEX 4
#define LOG_FATE 6
#define LOG_ATTEMPTS 7
#define LOG_ARRIVAL 8
#define LOG_DEPARTURE 9

#define BAD_LINK "rate=1500000 delay-ms=1 jitter-ms=3 loss=0.1 " \
    "bit-error-rate=0.0003 duplicate=0.05 reorder=0.05 " \
    "reorder-delay-ms=5 txqueuelen=5 "

GST_START_TEST (one_seed_is_one_run)
{
  gchar *one = run_logged (BAD_LINK "seed=7", NULL);
  gchar *same = run_logged (BAD_LINK "seed=7", NULL);
  gchar *other = run_logged (BAD_LINK "seed=8", NULL);

  fail_unless_equals_string (one, same);
  fail_if (g_str_equal (one, other));
  g_free (one);
  g_free (same);
  g_free (other);
}

GST_END_TEST;

/* --- mode=timestamp and blocking=true ------------------------------------- */

/* Starts an element wirelesslink with blocking=true, whose queue has room for
 * one packet. The transmission of a packet of 1000 bytes takes 1 ms. */
static GstHarness *
start_blocking (const gchar * properties)
{
  gchar *all = g_strconcat ("rate=8000000 txqueuelen=1 blocking=true ",
      properties, NULL);
  GstHarness *h = start_timestamp (all);

  g_free (all);
  return h;
}

static void
push_all_at (GstHarness * h, const gchar * fills, GstClockTime time)
{
  for (; *fills; fills++)
    push_at (h, 1000, *fills, time);
}

static void
end (GstHarness * h)
{
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
}

GST_START_TEST (a_packet_enters_when_there_is_room)
{
  gchar *name = make_name ("log"), *text, *entered;
  gchar *location = g_strconcat ("location=", name, NULL);
  GstHarness *h = start_blocking (location);

  push_all_at (h, "abcd", 0);
  push_at (h, 1000, 'e', 2 * GST_MSECOND);
  push_at (h, 1000, 'f', 10 * GST_MSECOND);
  end (h);
  pull_at (h, 'a', 1 * GST_MSECOND);
  pull_at (h, 'b', 2 * GST_MSECOND);
  pull_at (h, 'c', 3 * GST_MSECOND);
  pull_at (h, 'd', 4 * GST_MSECOND);
  pull_at (h, 'e', 5 * GST_MSECOND);
  pull_at (h, 'f', 11 * GST_MSECOND);
  gst_harness_teardown (h);
  text = read_file (name);
  entered = get_column (text, LOG_ARRIVAL);
  fail_unless_equals_string (entered, "0 0 1000000 2000000 3000000 10000000 ");
  g_unlink (name);
  g_free (entered);
  g_free (text);
  g_free (location);
  g_free (name);
}

GST_END_TEST;

/* With blocking=true, a packet that finds the queue full must not be dropped.
 * It waits until the queue has room. All packets must leave the element at the
 * same times as with a queue of unlimited size, and the same packets must be
 * lost on the radio. */
GST_START_TEST (blocking_queue_has_the_departures_of_an_unlimited_queue)
{
  static const gchar *const links[] = {
    "rate=300000 loss=0.2",
    "profile=80211b max-rate=2000000 interference=always retry-limit=1"
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (links); i++) {
    gchar *blocking = g_strconcat (links[i], " blocking=true txqueuelen=3",
        NULL);
    gchar *endless = g_strconcat (links[i], " txqueuelen=0", NULL);
    gchar *text = run_logged (blocking, NULL);
    gchar *other = run_logged (endless, NULL);

    expect_same_column (text, other, LOG_INDEX);
    expect_same_column (text, other, LOG_FATE);
    expect_same_column (text, other, LOG_ATTEMPTS);
    expect_same_column (text, other, LOG_DEPARTURE);
    fail_unless (strstr (text, " air ") && !strstr (text, " queue "));
    g_free (blocking);
    g_free (endless);
    g_free (text);
    g_free (other);
  }
}

GST_END_TEST;

GST_START_TEST (waiting_packet_does_not_block_other_stations)
{
  GstHarness *h = start_blocking (""), *other = start_flow (h, 1);

  push_all_at (h, "abcd", 0);
  push_at (other, 1000, 'x', GST_MSECOND / 2);
  push_at (other, 1000, 'y', 3 * GST_MSECOND);
  end (h);
  end (other);
  pull_at (other, 'x', 3 * GST_MSECOND / 2);
  pull_at (other, 'y', 4 * GST_MSECOND);
  pull_at (h, 'a', 1 * GST_MSECOND);
  pull_at (h, 'b', 2 * GST_MSECOND);
  pull_at (h, 'c', 3 * GST_MSECOND);
  pull_at (h, 'd', 4 * GST_MSECOND);
  gst_harness_teardown (other);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* The queue has room for one packet. The packets a, b, c and d belong to the
 * first flow, x and y belong to the second. At most one packet of each flow
 * waits for room in the queue. When the queue has room, the packet that has
 * waited longest must enter:
 * - 0 ms: a is being sent, b is in the queue, and c begins to wait.
 * - 0.1 ms: x begins to wait.
 * - 1 ms: c enters the queue, and d begins to wait.
 * - 2 ms: x enters the queue, and y begins to wait.
 */
GST_START_TEST (station_that_waited_for_the_maximum_time_enters_first)
{
  GstHarness *h = start_blocking (""), *other = start_flow (h, 16);

  push_all_at (h, "abcd", 0);
  push_at (other, 1000, 'x', GST_MSECOND / 10);
  push_at (other, 1000, 'y', GST_MSECOND / 5);
  end (other);
  end (h);
  pull_at (h, 'a', 1 * GST_MSECOND);
  pull_at (h, 'b', 2 * GST_MSECOND);
  pull_at (h, 'c', 3 * GST_MSECOND);
  pull_at (other, 'x', 4 * GST_MSECOND);
  pull_at (h, 'd', 5 * GST_MSECOND);
  pull_at (other, 'y', 6 * GST_MSECOND);
  gst_harness_teardown (other);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (equal_waiting_times_are_resolved_by_lowest_number)
{
  GstHarness *h = start_blocking (""), *other = start_flow (h, 16);

  push_all_at (other, "xy", GST_MSECOND / 2);
  push_all_at (h, "ab", 0);
  push_at (h, 1000, 'c', GST_MSECOND / 2);
  end (other);
  end (h);
  pull_at (h, 'a', 1 * GST_MSECOND);
  pull_at (h, 'b', 2 * GST_MSECOND);
  pull_at (h, 'c', 3 * GST_MSECOND);
  pull_at (other, 'x', 4 * GST_MSECOND);
  pull_at (other, 'y', 5 * GST_MSECOND);
  gst_harness_teardown (other);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* The packets c and d must wait until the queue has room. A custom event
 * follows c, and EOS follows d. The custom event must be output between c and
 * d, and EOS after d. */
GST_START_TEST (events_behind_who_waits_keep_their_places)
{
  GstHarness *h = start_blocking ("");
  Record *out = start_record (h, "src_0");

  push_all_at (h, "abc", 0);
  gst_harness_push_event (h, make_custom ("behind-c"));
  push_all_at (h, "d", 0);
  end (h);
  expect_record (out, "abcCdE");
  gst_harness_teardown (h);
  end_record (out);
}

GST_END_TEST;

GST_START_TEST (a_flush_drops_who_waits_and_others_go_on)
{
  GstHarness *h = start_blocking (""), *other = start_flow (h, 1);
  GstSegment segment;

  push_all_at (h, "abcd", 0);
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  push_all_at (other, "xyz", 0);
  push_at (h, 1000, 'e', 20 * GST_MSECOND);
  end (h);
  end (other);
  pull_at (other, 'x', 1 * GST_MSECOND);
  pull_at (other, 'y', 2 * GST_MSECOND);
  pull_at (other, 'z', 3 * GST_MSECOND);
  pull_at (h, 'e', 21 * GST_MSECOND);
  fail_unless_equals_int (gst_harness_buffers_received (h), 1);
  gst_harness_teardown (other);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (waiting_packet_is_lost_when_blocking_is_disabled)
{
  GstHarness *h = start_blocking (""), *other = start_flow (h, 1);

  push_all_at (h, "abc", 0);
  gst_harness_push_event (other, gst_event_new_gap (0, GST_MSECOND / 2));
  g_object_set (h->element, "blocking", FALSE, NULL);
  end (other);
  end (h);
  pull_at (h, 'a', 1 * GST_MSECOND);
  pull_at (h, 'b', 2 * GST_MSECOND);
  wait_until (h, NULL, "lost-queue", 1);
  gst_harness_teardown (other);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* The emulated link never works, so the transmission of the first packet never
 * ends. The second packet waits in the queue. The queue is then full forever.
 * Although blocking=true, the next packets must not wait: they must be lost. */
GST_START_TEST (where_there_is_never_room_packets_are_lost)
{
  GstHarness *h = start_blocking ("outage-good=0 outage-bad=1 "
      "max-output-packets=1");
  Record *out = start_record (h, "src_0");

  push_all_at (h, "abcd", 0);
  push_at (h, 1000, 'e', GST_SECOND);
  end (h);
  expect_record (out, "E");
  fail_unless_equals_uint64 (get_stat (h->element, NULL, "in-flight"), 2);
  fail_unless_equals_uint64 (get_stat (h->element, NULL, "lost-queue"), 3);
  gst_harness_teardown (h);
  end_record (out);
}

GST_END_TEST;

/* Three threads send one flow each, faster than the link can carry the flows.
 * Two of the flows belong to the same station. The link must deliver all
 * packets, and no thread may wait forever. */
GST_START_TEST (flows_that_wait_end_all)
{
  GstElement *pipeline = gst_parse_launch ("wirelesslink name=wl "
      "mode=timestamp blocking=true txqueuelen=2 rate=1000000 "
      "half-duplex=true max-output-packets=1 sink_2::station=0 "
      "videotestsrc num-buffers=100 ! video/x-raw,width=16,height=16,"
      "framerate=1000/1 ! wl.sink_0 wl.src_0 ! fakesink sync=false async=false "
      "videotestsrc num-buffers=40 ! video/x-raw,width=32,height=16,"
      "framerate=90/1 ! wl.sink_1 wl.src_1 ! fakesink sync=false async=false "
      "videotestsrc num-buffers=10 ! video/x-raw,width=16,height=16,"
      "framerate=1000/1 ! wl.sink_2 wl.src_2 ! fakesink sync=false async=false",
      NULL);
  GstElement *link = gst_bin_get_by_name (GST_BIN (pipeline), "wl");
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_EOS);
  gst_message_unref (message);
  fail_unless_equals_uint64 (get_stat (link, NULL, "delivered"), 150);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (link);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

GST_END_TEST;

GST_START_TEST (the_log_has_every_packet_and_can_be_cut)
{
  GstStructure *stats;
  gchar *text = run_logged (BAD_LINK "mean-bad=20000000 mean-good=20000000 "
      "loss-bad=0.5", &stats);
  gchar **lines = g_strsplit (text, "\n", -1);
  guint64 packets = 0, qualities = 0, delivered = 0, last = 0, count;
  guint i;

  fail_unless (g_str_has_prefix (text, "# wirelesslink-log 1\n# packet "));
  for (i = 0; lines[i] && *lines[i]; i++) {
    gchar **words = g_strsplit (lines[i], " ", -1);

    if (*words[0] != '#') {
      fail_unless (g_ascii_strtoull (words[1], NULL, 10) >= last);
      last = g_ascii_strtoull (words[1], NULL, 10);
    }
    if (g_str_equal (words[0], "packet")) {
      fail_unless_equals_int (g_strv_length (words), 12);
      packets++;
      delivered += g_str_equal (words[6], "delivered");
    }
    qualities += g_str_equal (words[0], "quality");
    g_strfreev (words);
  }
  fail_unless_equals_uint64 (packets, 200);
  fail_unless (qualities > 2);
  gst_structure_get_uint64 (stats, "delivered", &count);
  fail_unless_equals_uint64 (delivered, count);
  gst_structure_free (stats);
  g_strfreev (lines);
  g_free (text);
}

GST_END_TEST;

GST_START_TEST (every_packet_is_counted_once)
{
  static const gchar *const fates[] = { "delivered", "damaged", "lost-queue",
    "lost-air", "lost-check", "lost-reset", "lost-call", "lost-receiver",
    "lost-too-big", "in-flight"
  };
  GstStructure *stats;
  gchar *text = run_logged (BAD_LINK, &stats);
  guint64 sum = 0, value;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (fates); i++) {
    fail_unless (gst_structure_get_uint64 (stats, fates[i], &value));
    sum += value;
  }
  fail_unless_equals_uint64 (sum, 200);
  gst_structure_get_uint64 (stats, "lost-queue", &value);
  fail_unless (value > 0);
  gst_structure_get_uint64 (stats, "damaged", &value);
  fail_unless (value > 0);
  gst_structure_free (stats);
  g_free (text);
}

GST_END_TEST;

GST_START_TEST (a_recorded_run_can_be_replayed)
{
  gchar *pattern = make_name ("pattern");
  gchar *first = g_strdup_printf (BAD_LINK "seed=7 record-pattern=%s", pattern);
  gchar *second = g_strdup_printf ("rate=1500000 delay-ms=1 txqueuelen=5 "
      "reorder=0.05 reorder-delay-ms=5 seed=1 pattern=%s", pattern);
  gchar *one = run_logged (first, NULL);
  gchar *two = run_logged (second, NULL);

  fail_unless_equals_string (one, two);
  g_unlink (pattern);
  g_free (pattern);
  g_free (first);
  g_free (second);
  g_free (one);
  g_free (two);
}

GST_END_TEST;

/* --- damage --------------------------------------------------------------- */

static guint
count_changes (GstBuffer * buffer, guint8 fill)
{
  GstMapInfo map;
  guint i, n = 0;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  for (i = 0; i < map.size; i++)
    n += map.data[i] != fill;
  gst_buffer_unmap (buffer, &map);
  return n;
}

GST_START_TEST (damage_is_in_the_bytes_that_leave)
{
  GstHarness *h = start ("bit-error-rate=0.001");
  GstBuffer *whole = make_packet (20000, 'a', 0);
  GstBuffer *part = gst_buffer_copy_region (whole, GST_BUFFER_COPY_ALL, 5000,
      10000);
  GstBuffer *out;
  guint n;

  /* The packets are damaged by bit errors. The test keeps a reference to the
   * buffer `whole`, and the buffer `part` shares its memory. The element must
   * therefore damage copies of the packets. The bytes of `whole` must not
   * change. */
  gst_harness_push (h, gst_buffer_ref (whole));
  out = gst_harness_pull (h);
  n = count_changes (out, 'a');
  fail_unless (n > 50 && n < 350, "%u", n);
  gst_buffer_unref (out);
  gst_harness_push (h, part);
  out = gst_harness_pull (h);
  fail_unless (count_changes (out, 'a') > 0);
  gst_buffer_unref (out);
  fail_unless_equals_int (count_changes (whole, 'a'), 0);
  gst_buffer_unref (whole);
  fail_unless_equals_uint64 (get_stat (h->element, NULL, "damaged"), 2);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (a_frame_check_drops_what_is_damaged)
{
  GstHarness *h = start ("bit-error-rate=0.01 drop-damaged=true");

  push (h, 1000, 'a');
  fail_unless (gst_harness_try_pull (h) == NULL);
  fail_unless_equals_uint64 (get_stat (h->element, NULL, "lost-check"), 1);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* --- properties ----------------------------------------------------------- */

static guint64
read_property (const gchar * properties, const gchar * name)
{
  GstElement *element = make_link (properties);
  GValue value = G_VALUE_INIT, number = G_VALUE_INIT;
  guint64 found;

  g_value_init (&number, G_TYPE_UINT64);
  g_object_get_property (G_OBJECT (element), name, &value);
  fail_unless (g_value_transform (&value, &number));
  found = g_value_get_uint64 (&number);
  g_value_unset (&value);
  gst_object_unref (element);
  return found;
}

GST_START_TEST (properties_override_the_profile_in_any_order)
{
  fail_unless_equals_uint64 (read_property ("", "rate"), 0);
  fail_unless_equals_uint64 (read_property ("profile=gprs", "rate"), 12000);
  fail_unless_equals_uint64 (read_property ("profile=gprs rate=5", "rate"), 5);
  fail_unless_equals_uint64 (read_property ("rate=5 profile=gprs", "rate"), 5);
  fail_unless_equals_uint64 (read_property ("rate=5 profile=gprs",
          "rate-down"), 5);
  fail_unless_equals_uint64 (read_property ("rate-down=6 rate=5 profile=gprs",
          "rate-down"), 6);
  fail_unless_equals_uint64 (read_property ("profile=80211b", "max-rate"),
      11000000);
  fail_unless_equals_uint64 (read_property ("profile=80211b max-rate=2000000",
          "max-rate"), 2000000);
  fail_unless_equals_uint64 (read_property ("profile=gsm", "delay"),
      320 * GST_MSECOND);
  fail_unless_equals_uint64 (read_property ("profile=gsm", "serial-rate"),
      9600);
  fail_unless_equals_uint64 (read_property ("mains-frequency=60",
          "mains-frequency"), 60);
}

GST_END_TEST;

GST_START_TEST (an_ended_run_does_not_change_what_profiles_say)
{
  GstHarness *h = start ("profile=gprs delay-ms=1");

  gst_element_set_state (h->element, GST_STATE_READY);
  g_object_set (h->element, "delay", 2 * GST_MSECOND, "rate", (guint64) 0,
      NULL);
  gst_util_set_object_arg (G_OBJECT (h->element), "profile", "custom");
  gst_harness_play (h);
  gst_harness_set_src_caps_str (h, CAPS);
  push (h, 1000, 'a');
  crank_to (h, 2 * GST_MSECOND);
  pull (h, 'a');
  gst_harness_teardown (h);
}

GST_END_TEST;

static void
expect_error (const gchar * properties, const gchar * word,
    const gchar * other_word)
{
  GstElement *element = make_link (properties);
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error;

  gst_element_set_bus (element, bus);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, word) != NULL, "%s", error->message);
  fail_unless (strstr (error->message, other_word) != NULL, "%s",
      error->message);
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
}

static void
expect_file_error (const gchar * property, const gchar * text,
    const gchar * word)
{
  gchar *name = make_name ("bad"), *base = g_path_get_basename (name);
  gchar *properties = g_strdup_printf ("%s=%s", property, name);

  fail_unless (g_file_set_contents (name, text, -1, NULL));
  expect_error (properties, base, word);
  g_unlink (name);
  expect_error (properties, base, "No such file");
  g_free (properties);
  g_free (base);
  g_free (name);
}

GST_START_TEST (errors_name_the_file_and_the_reason)
{
  expect_file_error ("pattern", "wirelesslink-pattern 1\nseed x\n", "line 2");
  expect_file_error ("pattern", "", "empty");
  expect_file_error ("delivery-trace", "1\n2\nx\n", "line 3");
  expect_file_error ("profile=gsm block-trace", "01\n0x\n", "line 2");
  expect_error ("pattern=/dev/zero", "/dev/zero", "larger than");
  expect_error ("location=/nowhere/at/all", "/nowhere/at/all", "open");
  expect_error ("record-pattern=/nowhere/at/all", "/nowhere/at/all", "open");
}

GST_END_TEST;

GST_START_TEST (errors_name_the_property_and_its_limits)
{
  expect_error ("profile=80211b max-rate=3000000", "max-rate is 3000000",
      "1000000 2000000 5500000 11000000");
  expect_error ("profile=80211b interference=20-10", "20-10", "seconds");
  expect_error ("profile=trace", "delivery-trace", "needs");
  expect_error ("oven-on=30000000", "oven-on", "20000000");
  expect_error ("profile=cellular cellular-rate=20000000", "cellular-rate",
      "2025000 to 11475000");
  expect_error ("burst=3000", "burst", "rate is 0");
}

GST_END_TEST;

GST_START_TEST (a_burst_passes_at_once)
{
  GstHarness *h = start_timestamp ("rate=1000000 burst=3000");

  push_at (h, 1500, 'a', 0);
  push_at (h, 1500, 'b', 0);
  push_at (h, 1500, 'c', 0);
  gst_harness_push_event (h, gst_event_new_eos ());
  pull_at (h, 'a', 0);
  pull_at (h, 'b', 0);
  pull_at (h, 'c', 12 * GST_MSECOND);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (a_delivery_trace_is_the_rate)
{
  gchar *name = make_name ("trace");
  gchar *properties = g_strdup_printf ("profile=trace delivery-trace=%s",
      name);
  GstHarness *h;

  fail_unless (g_file_set_contents (name, "3\n7\n10\n", -1, NULL));
  h = start_timestamp (properties);
  push_at (h, 1500, 'a', 0);
  push_at (h, 1500, 'b', 0);
  gst_harness_push_event (h, gst_event_new_eos ());
  pull_at (h, 'a', 3 * GST_MSECOND);
  pull_at (h, 'b', 7 * GST_MSECOND);
  gst_harness_teardown (h);
  g_unlink (name);
  g_free (properties);
  g_free (name);
}

GST_END_TEST;

static void
count_notify (GObject * object, GParamSpec * pspec, gpointer user_data)
{
  g_atomic_int_inc ((gint *) user_data);
}

GST_START_TEST (a_change_of_quality_is_notified)
{
  GstHarness *h = start ("mean-good=10000000 mean-bad=10000000 loss-bad=0.75");
  GstPad *pad = gst_element_get_static_pad (h->element, "sink_0");
  gint element_count = 0, pad_count = 0;
  gdouble quality;
  guint i;

  g_signal_connect (h->element, "notify::channel-quality",
      G_CALLBACK (count_notify), &element_count);
  g_signal_connect (pad, "notify::channel-quality", G_CALLBACK (count_notify),
      &pad_count);
  push (h, 100, 'a');
  for (i = 0; i < 4; i++)
    crank (h);
  for (i = 0; i < 5000 && g_atomic_int_get (&pad_count) < 3; i++)
    g_usleep (1000);
  fail_unless (g_atomic_int_get (&pad_count) >= 3);
  fail_unless (g_atomic_int_get (&element_count) >= 3);
  g_object_get (pad, "channel-quality", &quality, NULL);
  fail_unless (quality == 1.0 || quality == 0.25, "%f", quality);
  gst_object_unref (pad);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (statistics_come_at_the_end_before_eos)
{
  GstHarness *h = start ("");
  GstBus *bus = gst_bus_new ();
  GstMessage *message;

  gst_element_set_bus (h->element, bus);
  push (h, 100, 'a');
  gst_harness_push_event (h, gst_event_new_eos ());
  message = gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND,
      GST_MESSAGE_ELEMENT);
  fail_unless (message != NULL);
  fail_unless (gst_message_has_name (message,
          "application/x-wirelesslink-stats"));
  fail_unless (gst_structure_has_field (gst_message_get_structure (message),
          "flow-0"));
  gst_message_unref (message);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

GST_END_TEST;

static Suite *
wirelesslink_suite (void)
{
  Suite *s = suite_create ("wirelesslink");
  TCase *tc;

  tc = tcase_create ("real time");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, an_ideal_link_is_a_plain_filter);
  tcase_add_test (tc, elements_link_to_it_without_naming_pads);
  tcase_add_test (tc, delay_is_exact);
  tcase_add_test (tc, rate_is_exact);
  tcase_add_test (tc, overhead_costs_time);
  tcase_add_test (tc, eos_comes_after_the_last_delayed_packet);
  tcase_add_test (tc, events_keep_their_places);
  tcase_add_test (tc, overtaking_packet_waits_for_the_event_before_it);
  tcase_add_test (tc, lost_packets_hold_nothing_up);
  tcase_add_test (tc, duplicates_come_out_twice);
  tcase_add_test (tc, a_flush_drops_what_is_in_the_link);
  tcase_add_test (tc, flows_share_one_medium);
  tcase_add_test (tc, flows_of_one_station_share_its_transmitter);
  tcase_add_test (tc, a_full_queue_loses_packets);
  tcase_add_test (tc, blocking_push_waits_for_queue_room);
  tcase_add_test (tc, flush_wakes_a_blocked_push);
  tcase_add_test (tc, disabling_blocking_unblocks_the_push);
  tcase_add_test (tc, state_change_wakes_a_blocked_push);
  tcase_add_test (tc, time_stands_still_in_paused);
  tcase_add_test (tc, runs_without_a_clock);
  tcase_add_test (tc, a_blocked_flow_holds_up_no_other);
  tcase_add_test (tc, state_changes_with_a_blocked_downstream);
  tcase_add_test (tc, flow_returns_go_upstream);
  tcase_add_test (tc, a_pad_that_is_linked_again_goes_on);
  tcase_add_test (tc, lists_come_out_as_lists);
  tcase_add_loop_test (tc, pools_may_have_their_buffers_back, 0,
      G_N_ELEMENTS (keeping));
  tcase_add_test (tc, pads_come_and_go_while_it_runs);
  tcase_add_loop_test (tc, released_pads_may_be_kept, 0, 2);
  tcase_add_test (tc, pads_have_the_numbers_that_were_asked_for);

  tc = tcase_create ("queries");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, latency_is_live_and_has_the_delay);
  tcase_add_test (tc, memory_of_downstream_stays_downstream);
  tcase_add_test (tc, a_drain_query_waits_for_its_turn);
  tcase_add_test (tc, a_waiting_query_is_refused_at_the_end);

  tc = tcase_create ("timestamps");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, timestamps_tell_when_packets_arrive);
  tcase_add_test (tc, arrival_is_dts_and_both_stamps_move);
  tcase_add_test (tc, timestamps_are_those_of_the_segment);
  tcase_add_test (tc, flows_are_merged_in_the_order_of_their_times);
  tcase_add_test (tc, a_gap_tells_that_nothing_comes);
  tcase_add_test (tc, a_gap_changes_no_time_before_it);
  tcase_add_test (tc, an_outage_without_end_ends_with_the_stream);
  tcase_add_test (tc, a_link_that_never_works_ends_with_the_stream);
  tcase_add_test (tc, a_failure_behind_the_end_is_an_error);
  tcase_add_test (tc, no_packet_is_behind_the_end_of_its_segment);
  tcase_add_test (tc, packets_without_time_have_that_of_the_last);
  tcase_add_test (tc, a_stream_without_times_is_an_error);
  tcase_add_test (tc, after_a_flushing_seek_the_link_goes_on);
  tcase_add_test (tc, one_seed_is_one_run);

  tc = tcase_create ("blocking with timestamps");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, a_packet_enters_when_there_is_room);
  tcase_add_test (tc, blocking_queue_has_the_departures_of_an_unlimited_queue);
  tcase_add_test (tc, waiting_packet_does_not_block_other_stations);
  tcase_add_test (tc, station_that_waited_for_the_maximum_time_enters_first);
  tcase_add_test (tc, equal_waiting_times_are_resolved_by_lowest_number);
  tcase_add_test (tc, events_behind_who_waits_keep_their_places);
  tcase_add_test (tc, a_flush_drops_who_waits_and_others_go_on);
  tcase_add_test (tc, waiting_packet_is_lost_when_blocking_is_disabled);
  tcase_add_test (tc, where_there_is_never_room_packets_are_lost);
  tcase_add_test (tc, flows_that_wait_end_all);

  tc = tcase_create ("logs");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, the_log_has_every_packet_and_can_be_cut);
  tcase_add_test (tc, every_packet_is_counted_once);
  tcase_add_test (tc, a_recorded_run_can_be_replayed);

  tc = tcase_create ("damage");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, damage_is_in_the_bytes_that_leave);
  tcase_add_test (tc, a_frame_check_drops_what_is_damaged);

  tc = tcase_create ("properties");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, properties_override_the_profile_in_any_order);
  tcase_add_test (tc, an_ended_run_does_not_change_what_profiles_say);
  tcase_add_test (tc, errors_name_the_file_and_the_reason);
  tcase_add_test (tc, errors_name_the_property_and_its_limits);
  tcase_add_test (tc, a_burst_passes_at_once);
  tcase_add_test (tc, a_delivery_trace_is_the_rate);
  tcase_add_test (tc, a_change_of_quality_is_notified);
  tcase_add_test (tc, statistics_come_at_the_end_before_eos);
  return s;
}

GST_CHECK_MAIN (wirelesslink);
