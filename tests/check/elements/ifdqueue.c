/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the element ifdqueue, which queues video frames in front of a slow
 * network and drops frames that do not fit. The tests check when frames enter
 * the queue, which frames leave it, and in which order. The clock is a test
 * clock. The network is simulated, and accepts as many frames as the test
 * allows.
 */

#include "gstframeinfometa.h"
#include "ifdharness.h"
#include "overwritingpool.h"

#include <glib/gstdio.h>

/* --- time ----------------------------------------------------------------- */

GST_START_TEST (frames_enter_at_their_dts)
{
  IfdHarness harness;

  harness_setup (&harness);
  harness_push_plan (&harness, "scI0 P3 B1");
  harness_expect_wait (&harness, 0 * FRAME_TIME);
  harness_set_time (&harness, 0);
  /* The element waits on the test clock. If the time of the wait has already
   * passed, the wait ends at once. Otherwise the test has to end the wait with
   * gst_test_clock_crank (). This function sets the clock to the time for which
   * the element waits. */
  gst_test_clock_crank (GST_TEST_CLOCK (harness.clock));
  harness_expect_log (&harness, "~I0s");
  harness_expect_stat (&harness, "sent", 1);
  harness_expect_wait (&harness, 1 * FRAME_TIME);
  harness_set_time (&harness, 1 * FRAME_TIME - 1);
  harness_expect_wait (&harness, 1 * FRAME_TIME);
  harness_expect_log (&harness, "~I0s");
  gst_test_clock_crank (GST_TEST_CLOCK (harness.clock));
  harness_expect_wait (&harness, 2 * FRAME_TIME);
  harness_expect_log (&harness, "~I0s P1");
  harness_expect_stat (&harness, "sent", 2);
  gst_test_clock_crank (GST_TEST_CLOCK (harness.clock));
  harness_expect_log (&harness, "~I0s P1 B2");
  harness_expect_stat (&harness, "sent", 3);
  assert_stat (&harness, "lateness-max", 0);
  harness_expect_adds_up (&harness, 0);
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (pts_where_there_is_no_dts)
{
  GstBuffer *buffer;
  IfdHarness harness;

  harness_init (&harness);
  harness_start (&harness,
      "video/x-h264,stream-format=byte-stream,alignment=au");
  buffer = gst_buffer_new_memdup ("\0\0\0\1\x65\x88\x84", 7);
  GST_BUFFER_PTS (buffer) = 7 * FRAME_TIME;
  harness_push (&harness, buffer);
  harness_expect_wait (&harness, 7 * FRAME_TIME);
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (live_upstream_adds_its_latency)
{
  IfdHarness harness;

  harness_init (&harness);
  harness.latency_ms = 100;
  harness_start (&harness, MPEG_CAPS);
  harness_push_plan (&harness, "scI0 P1");
  harness_expect_wait (&harness, 100 * GST_MSECOND);
  gst_test_clock_crank (GST_TEST_CLOCK (harness.clock));
  harness_expect_wait (&harness, 100 * GST_MSECOND + FRAME_TIME);
  harness_expect_log (&harness, "~I0s");
  harness_expect_stat (&harness, "sent", 1);
  assert_stat (&harness, "lateness-max", 0);
  harness_teardown (&harness);
}

GST_END_TEST;

/* The first frame is due at 0 ms, but the elements downstream accept it only at
 * 30 ms. The statistics must therefore report a lateness of 30 ms. */
GST_START_TEST (lateness_counts_until_downstream_took_all)
{
  IfdHarness harness;

  harness_setup (&harness);
  harness.room = 0;
  harness_push_plan (&harness, "scI0 P1");
  harness_run_until (&harness, 1);
  harness_expect_log (&harness, "~I0s");
  harness_expect_wait (&harness, FRAME_TIME);
  harness_set_time (&harness, 30 * GST_MSECOND);
  harness_open_network (&harness, 1);
  harness_expect_stat (&harness, "sent", 1);
  assert_stat (&harness, "lateness-max", 30 * GST_MSECOND);
  assert_stat (&harness, "time-blocked", 30 * GST_MSECOND);
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (a_pause_makes_nothing_late)
{
  IfdHarness harness;

  harness_setup (&harness);
  harness_push_plan (&harness, "scI0 P1");
  harness_run_until (&harness, 1);
  harness_expect_log (&harness, "~I0s");
  harness_expect_wait (&harness, FRAME_TIME);

  harness_set_state (&harness, GST_STATE_PAUSED, GST_STATE_CHANGE_NO_PREROLL);
  harness_set_time (&harness, 10 * GST_SECOND);
  assert_stat (&harness, "frames-in", 1);
  gst_element_set_base_time (harness.element, 10 * GST_SECOND);
  harness_set_state (&harness, GST_STATE_PLAYING, GST_STATE_CHANGE_SUCCESS);
  harness_expect_wait (&harness, 10 * GST_SECOND + FRAME_TIME);
  gst_test_clock_crank (GST_TEST_CLOCK (harness.clock));
  harness_expect_log (&harness, "~I0s P1");
  harness_expect_stat (&harness, "sent", 2);
  assert_stat (&harness, "lateness-max", 0);
  harness_teardown (&harness);
}

GST_END_TEST;

/* The pipeline is paused while ifdqueue sends a frame. The frame stays in
 * ifdqueue during the pause. This time must not count as time for which the
 * network blocked ifdqueue. */
GST_START_TEST (a_pause_is_no_time_blocked)
{
  IfdHarness harness;

  harness_setup (&harness);
  harness.room = 0;
  harness_push_plan (&harness, "scI0");
  harness_run_until (&harness, 1);
  harness_expect_log (&harness, "~I0s");
  harness_set_state (&harness, GST_STATE_PAUSED, GST_STATE_CHANGE_NO_PREROLL);
  harness_set_time (&harness, 10 * GST_SECOND);
  gst_element_set_base_time (harness.element, 10 * GST_SECOND);
  harness_set_state (&harness, GST_STATE_PLAYING, GST_STATE_CHANGE_SUCCESS);
  harness_open_network (&harness, 1);
  harness_expect_stat (&harness, "sent", 1);
  assert_stat (&harness, "time-blocked", 0);
  assert_stat (&harness, "lateness-max", 0);
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (nothing_enters_before_playing)
{
  IfdHarness harness;

  harness_init (&harness);
  harness.pusher = g_thread_new ("pusher", harness_run_pusher, &harness);
  harness_set_state (&harness, GST_STATE_PAUSED, GST_STATE_CHANGE_NO_PREROLL);
  harness_push_headers (&harness, MPEG_CAPS, GST_FORMAT_TIME);
  harness_push_plan (&harness, "(a) scI0");
  harness_expect_pushed (&harness, 4);
  fail_if (gst_test_clock_peek_next_pending_id (GST_TEST_CLOCK (harness.clock),
          NULL));
  harness_set_state (&harness, GST_STATE_PLAYING, GST_STATE_CHANGE_SUCCESS);
  harness_expect_wait (&harness, 0);
  gst_test_clock_crank (GST_TEST_CLOCK (harness.clock));
  harness_expect_log (&harness, "(a) ~I0s");
  harness_teardown (&harness);
}

GST_END_TEST;

/* The segment begins at the DTS of the third frame. The DTS of the first two
 * frames are earlier, so ifdqueue must send these two frames immediately. */
GST_START_TEST (frames_before_the_segment_are_sent_immediately)
{
  GstSegment segment;
  IfdHarness harness;

  harness_init (&harness);
  harness_start (&harness, MPEG_CAPS);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = 2 * FRAME_TIME;
  harness_push (&harness, gst_event_new_segment (&segment));
  harness_push_plan (&harness, "scI0 P1 P2 P3");
  harness_run_until (&harness, 3);
  harness_expect_wait (&harness, FRAME_TIME);
  harness_expect_log (&harness, "~I0s P1 P2");
  harness_teardown (&harness);
}

GST_END_TEST;

/* --- dropped frames ------------------------------------------------------- */

static void
assert_drop (IfdHarness * harness, const gchar * type, const gchar * reason,
    guint64 number, guint64 cause)
{
  GstMessage *message;
  const GstStructure *drop;
  guint64 found;

  do {
    message = gst_bus_pop_filtered (harness->bus, GST_MESSAGE_ELEMENT);
    fail_unless (message != NULL);
    drop = gst_message_get_structure (message);
  } while (!gst_structure_has_name (drop, "application/x-ifdqueue-drop"));
  fail_unless_equals_string (gst_structure_get_string (drop, "type"), type);
  fail_unless_equals_string (gst_structure_get_string (drop, "reason"), reason);
  gst_structure_get_uint64 (drop, "number", &found);
  fail_unless_equals_uint64 (found, number);
  gst_structure_get_uint64 (drop, "cause", &found);
  fail_unless_equals_uint64 (found, cause);
  gst_structure_get_uint64 (drop, "dts", &found);
  fail_unless_equals_uint64 (found, number * FRAME_TIME);
  gst_structure_get_uint64 (drop, "pts", &found);
  fail_unless_equals_uint64 (found, number * FRAME_TIME + 2 * FRAME_TIME);
  fail_unless (gst_structure_has_field_typed (drop, "size", G_TYPE_UINT));
  gst_message_unref (message);
}

/* Tests IFD (I-Frame Delay), an algorithm that drops B-frames first. The
 * network blocks while the I-frame is being sent. Three further frames then
 * fill the queue. When more frames arrive, they may replace only B-frames in
 * the queue. */
GST_START_TEST (a_blocked_network_costs_b_frames)
{
  IfdHarness harness;

  harness_init (&harness);
  g_object_set (harness.element, "post-messages", TRUE, NULL);
  harness_start (&harness, MPEG_CAPS);
  harness.room = 0;
  harness_push_plan (&harness, "scI0 P3 B1 B2 P6 B4 B5");
  harness_run_until (&harness, 1);
  harness_expect_log (&harness, "~I0s");
  harness_run_until (&harness, 7);
  assert_stat (&harness, "waiting", 3);
  harness_expect_adds_up (&harness, 1);
  harness_open_network (&harness, -1);
  harness_expect_log (&harness, "~I0s P1 ~P4 ~B6");
  harness_expect_stat (&harness, "sent", 4);
  assert_stat (&harness, "dropped-b", 3);
  assert_stat (&harness, "dropped", 3);
  harness_expect_adds_up (&harness, 0);
  assert_drop (&harness, "B", "overwritten", 2, 4);
  assert_drop (&harness, "B", "overwritten", 3, 5);
  assert_drop (&harness, "B", "overwritten", 5, 6);
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (the_papers_algorithms_hold_one_frame)
{
  static const gchar *const algorithms[] = { "paper", "paper-gop" };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (algorithms); i++) {
    IfdHarness harness;

    harness_init (&harness);
    gst_util_set_object_arg (G_OBJECT (harness.element), "algorithm",
        algorithms[i]);
    harness_start (&harness, MPEG_CAPS);
    harness.room = 0;
    harness_push_plan (&harness, "scI0 P3 B1 B2");
    harness_run_until (&harness, 1);
    harness_expect_log (&harness, "~I0s");
    harness_run_until (&harness, 4);
    assert_stat (&harness, "waiting", 1);
    assert_stat (&harness, "dropped-no-room", 2);
    harness_open_network (&harness, -1);
    harness_expect_log (&harness, "~I0s P1");
    harness_teardown (&harness);
  }
}

GST_END_TEST;

GST_START_TEST (without_sync_what_is_live_is_dropped_rather_than_waits)
{
  IfdHarness harness;

  harness_init (&harness);
  harness.live = TRUE;
  g_object_set (harness.element, "sync", FALSE, "max-frames", 1, NULL);
  harness_start (&harness, MPEG_CAPS);
  harness.room = 0;
  harness_push_plan (&harness, "scI0");
  harness_expect_log (&harness, "~I0s");
  harness_push_plan (&harness, "P3 B1 B2 P6");
  harness_expect_pushed (&harness, 3 + 5);
  assert_stat (&harness, "frames-in", 5);
  assert_stat (&harness, "dropped", 3);
  fail_if (gst_test_clock_peek_next_pending_id (GST_TEST_CLOCK (harness.clock),
          NULL));
  harness_open_network (&harness, -1);
  harness_expect_log (&harness, "~I0s P1");
  harness_expect_stat (&harness, "sent", 2);
  harness_expect_adds_up (&harness, 0);
  harness_teardown (&harness);
}

GST_END_TEST;

/* With sync=false, ifdqueue must send the frames of a file as fast as the
 * network accepts them, and must drop none of them. */
GST_START_TEST (without_sync_what_is_read_ahead_waits)
{
  IfdHarness harness;

  harness_init (&harness);
  g_object_set (harness.element, "sync", FALSE, "max-frames", 2, NULL);
  harness_start (&harness, MPEG_CAPS);
  harness.room = 0;
  harness_push_plan (&harness, "scI0 P3 B1 B2 P6");
  /* The property max-frames is 2. The first frame is being sent, and the next
   * two frames fill the queue. The thread that pushes the fourth frame is
   * therefore blocked. */
  harness_expect_pushed (&harness, 3 + 3);
  harness_expect_stat (&harness, "waiting", 2);
  harness_open_network (&harness, -1);
  harness_expect_log (&harness, "~I0s P1 B2 B3 P4");
  harness_expect_pushed (&harness, 3 + 5);
  harness_expect_stat (&harness, "sent", 5);
  assert_stat (&harness, "dropped", 0);
  harness_expect_adds_up (&harness, 0);
  harness_teardown (&harness);
}

GST_END_TEST;

/* A sink has to know early that the stream ends, because it then sets a
 * deadline for the end. ifdqueue therefore first sends an event that announces
 * EOS, and sends EOS itself after the last frame. The announcement must reach
 * the sink before the frames that still wait in the queue. */
GST_START_TEST (a_network_that_is_full_hears_that_eos_follows)
{
  IfdHarness harness;

  harness_init (&harness);
  harness.live = TRUE;
  g_object_set (harness.element, "sync", FALSE, NULL);
  harness_start (&harness, MPEG_CAPS);
  harness.room = 0;
  harness_push_plan (&harness, "scI0 P1 eos");
  harness_expect_endings (&harness, 1);
  harness_expect_log (&harness, "~I0s");
  harness_open_network (&harness, -1);
  harness_expect_log (&harness, "~I0s P1 (eos)");
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (frame_waiting_for_room_can_be_flushed)
{
  IfdHarness harness;

  harness_init (&harness);
  g_object_set (harness.element, "sync", FALSE, "max-frames", 1, NULL);
  harness_start (&harness, MPEG_CAPS);
  harness.room = 0;
  harness_push_plan (&harness, "scI0 P3 B1");
  harness_expect_pushed (&harness, 3 + 2);
  harness_expect_stat (&harness, "waiting", 1);
  harness_teardown (&harness);
}

GST_END_TEST;

/* The B-frames directly after the I-frame of a GOP, the leading B-frames, may
 * also refer to the GOP before it. In a closed GOP they do not, so ifdqueue
 * must send them. If a GOP has the flag broken_link, the GOP before it is
 * missing. The leading B-frames then cannot be decoded, and ifdqueue must drop
 * them. */
GST_START_TEST (gop_headers_say_what_leading_b_frames_are_worth)
{
  IfdHarness harness;

  harness_init (&harness);
  harness.live = TRUE;
  g_object_set (harness.element, "sync", FALSE, "max-frames", 64, NULL);
  harness_start (&harness, MPEG_CAPS);
  harness.room = 0;
  harness_push_plan (&harness, "xI2 B0 B1 P5 B3 cI2 B0 B1 P5 oI2 B0 xI2 B0 B3");
  harness_expect_pushed (&harness, 3 + 14);
  harness_open_network (&harness, -1);
  harness_expect_log (&harness, "~I0 ~P3 B4 I5 B6 B7 P8 I9 B10 I11 ~B13");
  harness_expect_stat (&harness, "dropped-leading", 3);
  harness_teardown (&harness);
}

GST_END_TEST;

/* Pushes an I-frame and a P-frame. Each of the two frames consists of two field
 * pictures. ifdqueue must count one I-frame and one P-frame. */
GST_START_TEST (two_fields_are_one_frame)
{
  IfdHarness harness;

  harness_init (&harness);
  harness.live = TRUE;
  g_object_set (harness.element, "sync", FALSE, NULL);
  harness_start (&harness, MPEG_CAPS);
  harness_push_plan (&harness, "scI0f P1f");
  harness_expect_log (&harness, "~I0s P1");
  harness_expect_stat (&harness, "sent", 2);
  assert_stat (&harness, "frames-in-i", 1);
  assert_stat (&harness, "frames-in-p", 1);
  harness_teardown (&harness);
}

GST_END_TEST;

/* The queue has room for all frames of the test. With less room, ifdqueue would
 * drop frames, because the pipeline is live. The number of dropped frames would
 * then depend on the scheduling of the streaming thread. */
GST_START_TEST (pools_may_have_their_buffers_back)
{
  static const gchar *const words[] = { "scI0", "P3", "B1", "B2", "oI2" };
  GPtrArray *frames =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  IfdHarness harness = { 0 };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (words); i++)
    g_ptr_array_add (frames, harness_time_frame (&harness,
            harness_make_mpeg (words[i])));
  pooled_compare_launch ("ifdqueue sync=false max-frames=8", MPEG_CAPS, frames);
  g_ptr_array_unref (frames);
}

GST_END_TEST;

/* The frame contains only half of its slice rows. ifdqueue must send it
 * nevertheless, because a decoder can conceal the missing rows. */
GST_START_TEST (a_damaged_frame_goes_on)
{
  GBytes *bytes = harness_make_mpeg ("P1");
  IfdHarness harness;

  harness_init (&harness);
  harness.live = TRUE;
  g_object_set (harness.element, "sync", FALSE, NULL);
  harness_start (&harness, MPEG_CAPS);
  harness_push_plan (&harness, "scI0");
  harness_push (&harness, harness_time_frame (&harness,
          g_bytes_new_from_bytes (bytes, 0, g_bytes_get_size (bytes) - 20)));
  g_bytes_unref (bytes);
  harness_expect_log (&harness, "~I0s P1");
  harness_expect_stat (&harness, "incomplete", 1);
  assert_stat (&harness, "dropped", 0);
  harness_teardown (&harness);
}

GST_END_TEST;

/* --- H.264 and H.265 ------------------------------------------------------ */

/* H.264 frames with one slice each: an IDR frame, a P-frame, and a B-frame to
 * which no other frame refers (H.264, table 7-1 and section 7.3.3). */
#define H264_IDR "\0\0\0\1\x65\x88\x84\x21"
#define H264_P "\0\0\0\1\x41\x9a\x24\x6c"
#define H264_B "\0\0\0\1\x01\x9e\x41\x78"
/* H.265 access units (table 7-1). H265_IDR consists of an SPS with one
 * sub-layer and a frame of the type IDR_W_RADL. H265_P is a frame of the type
 * TRAIL_R. H265_B is a frame of the type TRAIL_N, to which no other frame
 * refers. */
#define H265_IDR "\0\0\0\1\x42\x01\x01\x60\0\0\1\x26\x01\xaf\x08"
#define H265_P "\0\0\0\1\x02\x01\xd0\x09"
#define H265_B "\0\0\0\1\x00\x01\xe0\x24"

static void
push_unit (IfdHarness * harness, const gchar * unit, gsize size)
{
  harness_push (harness, harness_time_frame (harness,
          g_bytes_new (unit, size)));
}

static void
assert_classifies (const gchar * caps, const gchar * const units[3],
    gsize first_size)
{
  IfdHarness harness;

  harness_init (&harness);
  harness.live = TRUE;
  g_object_set (harness.element, "sync", FALSE, "max-frames", 1, NULL);
  harness_start (&harness, caps);
  harness.room = 0;
  push_unit (&harness, units[0], first_size);
  harness_expect_stat (&harness, "frames-in-i", 1);
  harness_expect_log (&harness, "~I0");
  push_unit (&harness, units[2], 8);
  push_unit (&harness, units[1], 8);
  push_unit (&harness, units[2], 8);
  harness_expect_pushed (&harness, 3 + 4);
  assert_stat (&harness, "frames-in-p", 1);
  assert_stat (&harness, "frames-in-b", 2);
  harness_open_network (&harness, -1);
  /* Both B-frames must be dropped, so the log contains the I-frame 0 and the
   * P-frame 2. The log shows the P-frame as "I2": it writes "I" for each buffer
   * that has neither the flag DROPPABLE nor the flag DELTA_UNIT. In this test,
   * no buffer has the flag DELTA_UNIT. */
  harness_expect_log (&harness, "~I0 ~I2");
  harness_expect_stat (&harness, "dropped-b", 2);
  harness_expect_adds_up (&harness, 0);
  harness_teardown (&harness);
}

GST_START_TEST (h264_and_h265_tell_their_b_frames)
{
  static const gchar *const h264[] = { H264_IDR, H264_P, H264_B };
  static const gchar *const h265[] = { H265_IDR, H265_P, H265_B };
  static const gchar *const avc[] = {
    "\0\0\0\4\x65\x88\x84\x21", "\0\0\0\4\x41\x9a\x24\x6c",
    "\0\0\0\4\x01\x9e\x41\x78"
  };

  assert_classifies ("video/x-h264,stream-format=byte-stream,alignment=au",
      h264, 8);
  assert_classifies ("video/x-h265,stream-format=byte-stream,alignment=au",
      h265, 15);
  assert_classifies ("video/x-h264,stream-format=avc,alignment=au,"
      "codec_data=(buffer)0142001effe100046742001e01000268ce", avc, 8);
}

GST_END_TEST;

/* ifdqueue must attach the temporal layer of each frame to the buffer. Elements
 * downstream that see only packets, such as dccpthinsink, need this
 * information. */
GST_START_TEST (h265_frames_carry_their_temporal_layer)
{
  static const struct
  {
    const gchar *unit;
    gsize size;
    gint layer;
  } units[] = {
    {H265_IDR, 15, 0}, {H265_P, 8, 0}, {"\0\0\0\1\x02\x02\xd0\x09", 8, 1},
  };
  GstElement *element = gst_check_setup_element ("ifdqueue");
  GstHarness *harness;
  guint i;

  g_object_set (element, "sync", FALSE, NULL);
  harness = gst_harness_new_with_element (element, "sink", "src");
  gst_harness_set_src_caps_str (harness,
      "video/x-h265,stream-format=byte-stream,alignment=au");
  for (i = 0; i < G_N_ELEMENTS (units); i++) {
    GstBuffer *buffer = gst_buffer_new_memdup (units[i].unit, units[i].size);
    const GstFrameInfoMeta *info;

    GST_BUFFER_PTS (buffer) = i * 40 * GST_MSECOND;
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
    buffer = gst_harness_pull (harness);
    info = gst_buffer_get_frame_info_meta (buffer);
    fail_unless (info != NULL);
    fail_unless_equals_int (info->temporal_layer, units[i].layer);
    fail_unless_equals_int (info->picture_type, i == 0 ? 1 : 2);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (harness);
  gst_object_unref (element);
}

GST_END_TEST;

/* Three error resilient frames of VP9 (VP9 specification, section 6.2). VP9_KEY
 * is a key frame of 320x240 pixels. VP9_P replaces a reference frame, so later
 * frames may refer to it. VP9_B replaces no reference frame, so no frame refers
 * to it. */
#define VP9_KEY "\x83\x49\x83\x42\x40\x13\xf0\x0e\xf0"
#define VP9_P "\x87\x01\0\x09\0\0\0\0"
#define VP9_B "\x87\0\0\x09\0\0\0\0"

GST_START_TEST (vp9_tells_the_frames_that_refresh_nothing)
{
  static const gchar *const units[] = { VP9_KEY, VP9_P, VP9_B };

  assert_classifies ("video/x-vp9", units, sizeof (VP9_KEY) - 1);
}

GST_END_TEST;

/* The second frame is malformed, so ifdqueue cannot know whether later frames
 * refer to it. ifdqueue must treat it as a reference frame, that is, as a
 * P-frame. */
GST_START_TEST (malformed_frame_is_counted)
{
  IfdHarness harness;

  harness_init (&harness);
  harness.live = TRUE;
  g_object_set (harness.element, "sync", FALSE, NULL);
  harness_start (&harness, "video/x-vp9");
  push_unit (&harness, VP9_KEY, sizeof (VP9_KEY) - 1);
  push_unit (&harness, "\0", 1);
  harness_expect_stat (&harness, "sent", 2);
  assert_stat (&harness, "sent-p", 1);
  assert_stat (&harness, "malformed-frame", 1);
  harness_teardown (&harness);
}

GST_END_TEST;

/* Field pictures of H.264 (section 7.3.3): the top field and the bottom field
 * of an I-frame, of a P-frame and of a B-frame. H264_SETS is an SPS and a PPS,
 * which are sent before the I-frame. */
#define H264_SETS "\0\0\0\1\x67\x4d\0\x1e\x96\x52\x94\xa0\x1e\x2c\x5b\x2c" \
    "\0\0\0\1\x68\xce\x3c\x80"
#define H264_I_TOP H264_SETS "\0\0\0\1\x45\x88\x80\x50\x42\xa0"
#define H264_I_BOTTOM "\0\0\0\1\x41\x9a\x01\x82\xe5\x40"
#define H264_P_TOP "\0\0\0\1\x41\x9a\x03\x03\x65\x40"
#define H264_P_BOTTOM "\0\0\0\1\x41\x9a\x03\x83\xe5\x40"
#define H264_B_TOP "\0\0\0\1\x01\x9e\x03\x00\x79\x50"
#define H264_B_BOTTOM "\0\0\0\1\x01\x9e\x03\x80\xf9\x50"

#define push_field(harness, unit) push_unit (harness, unit, sizeof (unit) - 1)

static void
start_h264 (IfdHarness * harness)
{
  harness_init (harness);
  harness->live = TRUE;
  g_object_set (harness->element, "sync", FALSE, "max-frames", 1, NULL);
  harness_start (harness,
      "video/x-h264,stream-format=byte-stream,alignment=au");
}

GST_START_TEST (fields_of_a_frame_go_together)
{
  IfdHarness harness;

  start_h264 (&harness);
  harness.room = 0;
  push_field (&harness, H264_I_TOP);
  push_field (&harness, H264_I_BOTTOM);
  harness_expect_log (&harness, "~I0");
  assert_stat (&harness, "frames-in", 1);
  /* The B-frame waits in the queue while only the first field of the P-frame
   * has arrived. The second field completes the P-frame, which then replaces
   * the B-frame. */
  push_field (&harness, H264_B_TOP);
  push_field (&harness, H264_B_BOTTOM);
  push_field (&harness, H264_P_TOP);
  harness_expect_pushed (&harness, 3 + 5);
  assert_stat (&harness, "waiting", 1);
  assert_stat (&harness, "bytes-waiting", 20);
  push_field (&harness, H264_P_BOTTOM);
  harness_expect_pushed (&harness, 3 + 6);
  harness_open_network (&harness, -1);
  harness_expect_log (&harness, "~I0 I1 ~I4 I5");
  harness_expect_stat (&harness, "sent", 2);
  assert_stat (&harness, "dropped-b", 1);
  assert_stat (&harness, "bytes-dropped", 20);
  assert_stat (&harness, "frames-in", 3);
  harness_expect_adds_up (&harness, 0);
  harness_teardown (&harness);
}

GST_END_TEST;

/* A first field is followed by another frame, by new caps or by the end of the
 * stream. Its second field is therefore missing. ifdqueue must then send the
 * first field as a frame of its own. */
GST_START_TEST (fields_alone_are_frames)
{
  GstCaps *caps = gst_caps_from_string ("video/x-h264,"
      "stream-format=byte-stream,alignment=au,width=32");
  IfdHarness harness;

  start_h264 (&harness);
  push_field (&harness, H264_I_TOP);
  push_field (&harness, H264_B_TOP);
  harness_expect_log (&harness, "~I0");
  harness_expect_stat (&harness, "sent", 1);
  push_field (&harness, H264_B_TOP);
  harness_expect_log (&harness, "~I0 B1");
  harness_push (&harness, gst_event_new_caps (caps));
  gst_caps_unref (caps);
  harness_expect_log (&harness, "~I0 B1 B2");
  push_field (&harness, H264_P_TOP);
  harness_push (&harness, gst_event_new_eos ());
  harness_expect_log (&harness, "~I0 B1 B2 I3 (eos)");
  assert_stat (&harness, "frames-in", 4);
  harness_expect_adds_up (&harness, 0);
  harness_teardown (&harness);
}

GST_END_TEST;

/* A frame that consists of two fields is complete when the second field has
 * arrived. Its due time must therefore be that of the second field. */
GST_START_TEST (fields_are_due_with_the_second)
{
  IfdHarness harness;

  harness_init (&harness);
  harness_start (&harness,
      "video/x-h264,stream-format=byte-stream,alignment=au");
  push_field (&harness, H264_I_TOP);
  push_field (&harness, H264_I_BOTTOM);
  harness_expect_wait (&harness, FRAME_TIME);
  harness_run_until (&harness, 1);
  harness_expect_log (&harness, "~I0 I1");
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (flush_forgets_a_first_field)
{
  IfdHarness harness;

  start_h264 (&harness);
  push_field (&harness, H264_I_TOP);
  harness_expect_pushed (&harness, 3 + 1);
  harness_push (&harness, gst_event_new_flush_start ());
  harness_push (&harness, gst_event_new_flush_stop (TRUE));
  harness_expect_pushed (&harness, 3 + 3);
  harness_push (&harness, gst_event_new_eos ());
  harness_expect_log (&harness, "(eos)");
  assert_stat (&harness, "frames-in", 0);
  harness_teardown (&harness);
}

GST_END_TEST;

/* The first frame of an intra refresh: a P-frame after a recovery point SEI
 * message. The bits of the message are 000011110 1 0 00 100. According to
 * H.264, annex D.1.8, its field recovery_frame_cnt is therefore 29. */
#define H264_REFRESH "\0\0\0\1\x06\x06\x02\x0f\x44\x80" H264_P

GST_START_TEST (refresh_does_not_restore_the_stream)
{
  IfdHarness harness;

  start_h264 (&harness);
  harness.room = 0;
  push_unit (&harness, H264_IDR, 8);
  harness_expect_log (&harness, "~I0");
  /* The queue has room for one frame. The first P-frame waits in it. The second
   * P-frame finds no room and is dropped. The third P-frame is dropped because
   * it refers to the second P-frame.
   *
   * An intra refresh then begins. Because a frame is missing, a running decoder
   * would show damaged pictures until the end of the refresh. ifdqueue must
   * therefore also drop the first frame of the refresh and the P-frame after
   * it.
   */
  push_unit (&harness, H264_P, 8);
  push_unit (&harness, H264_P, 8);
  push_unit (&harness, H264_P, 8);
  harness_expect_pushed (&harness, 3 + 4);
  fail_unless_equals_int (harness.key_unit_requests, 1);
  push_field (&harness, H264_REFRESH);
  harness_expect_pushed (&harness, 3 + 5);
  fail_unless_equals_int (harness.key_unit_requests, 1);
  push_unit (&harness, H264_P, 8);
  push_unit (&harness, H264_IDR, 8);
  harness_expect_pushed (&harness, 3 + 7);
  fail_unless_equals_int (harness.key_unit_requests, 1);
  assert_stat (&harness, "frames-in-i", 2);
  assert_stat (&harness, "dropped-disturbed", 3);
  harness_open_network (&harness, -1);
  harness_expect_log (&harness, "~I0 ~I6");
  harness_expect_adds_up (&harness, 0);
  harness_teardown (&harness);
}

GST_END_TEST;

/* A P-frame finds no room in the queue and is dropped. If an I-frame follows,
 * no other frame needs the dropped frame, so ifdqueue does not request a key
 * frame yet. If another P-frame follows, this P-frame cannot be decoded without
 * the dropped one. ifdqueue must then drop it, too, and must request a key
 * frame. */
GST_START_TEST (broken_gop_asks_for_a_key_frame)
{
  IfdHarness harness;

  start_h264 (&harness);
  harness.room = 0;
  push_unit (&harness, H264_IDR, 8);
  harness_expect_log (&harness, "~I0");
  push_unit (&harness, H264_P, 8);
  push_unit (&harness, H264_P, 8);
  harness_expect_pushed (&harness, 3 + 3);
  fail_unless_equals_int (harness.key_unit_requests, 0);
  push_unit (&harness, H264_P, 8);
  harness_expect_pushed (&harness, 3 + 4);
  assert_stat (&harness, "dropped-disturbed", 1);
  fail_unless_equals_int (harness.key_unit_requests, 1);
  /* ifdqueue must send at most one request for a key frame per second. The time
   * since the last request is less than one second, so ifdqueue must not send
   * another request. */
  harness_set_time (&harness, 999 * GST_MSECOND);
  push_unit (&harness, H264_P, 8);
  harness_expect_pushed (&harness, 3 + 5);
  fail_unless_equals_int (harness.key_unit_requests, 1);
  harness_set_time (&harness, 1000 * GST_MSECOND);
  push_unit (&harness, H264_P, 8);
  harness_expect_pushed (&harness, 3 + 6);
  fail_unless_equals_int (harness.key_unit_requests, 2);
  /* An encoder that is asked for a key frame encodes the next picture as a key
   * frame instead of a P-frame. The test now does the same and pushes a key
   * frame. */
  push_unit (&harness, H264_IDR, 8);
  harness_expect_pushed (&harness, 3 + 7);
  harness_open_network (&harness, -1);
  harness_expect_log (&harness, "~I0 ~I6");
  harness_teardown (&harness);
}

GST_END_TEST;

/* The test pushes two I-frames, the second 2 s after the first. ifdqueue
 * therefore expects a third I-frame after another 2 s. Shortly before this
 * time, ifdqueue drops P-frames. It must not request a key frame, because the
 * expected I-frame is near. */
GST_START_TEST (no_key_frame_is_asked_for_when_one_is_near)
{
  IfdHarness harness;

  start_h264 (&harness);
  push_unit (&harness, H264_IDR, 8);
  harness_expect_log (&harness, "~I0");
  harness_set_time (&harness, 2 * GST_SECOND);
  harness.room = 0;
  push_unit (&harness, H264_IDR, 8);
  harness_expect_log (&harness, "~I0 I1");
  harness_set_time (&harness, 3600 * GST_MSECOND);
  push_unit (&harness, H264_P, 8);
  push_unit (&harness, H264_P, 8);
  push_unit (&harness, H264_P, 8);
  harness_expect_pushed (&harness, 3 + 5);
  assert_stat (&harness, "dropped-disturbed", 1);
  fail_unless_equals_int (harness.key_unit_requests, 0);
  /* The I-frame does not come. */
  harness_set_time (&harness, 4100 * GST_MSECOND);
  push_unit (&harness, H264_P, 8);
  harness_expect_pushed (&harness, 3 + 6);
  fail_unless_equals_int (harness.key_unit_requests, 1);
  harness_open_network (&harness, -1);
  harness_teardown (&harness);
}

GST_END_TEST;

/* A new receiver cannot decode frames that refer to earlier frames. ifdqueue
 * must therefore begin the stream with an I-frame or with the first frame of an
 * intra refresh. (An intra refresh renews the picture part by part. The
 * receiver shows a picture only after the end of the refresh.) */
GST_START_TEST (refresh_is_a_beginning)
{
  IfdHarness harness;

  start_h264 (&harness);
  push_unit (&harness, H264_P, 8);
  push_field (&harness, H264_REFRESH);
  harness_expect_log (&harness, "~I1");
  push_unit (&harness, H264_P, 8);
  harness_expect_log (&harness, "~I1 I2");
  harness_expect_stat (&harness, "dropped-no-i-frame", 1);
  fail_unless_equals_int (harness.key_unit_requests, 0);
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (malformed_units_pass_and_are_counted)
{
  IfdHarness harness;

  harness_init (&harness);
  harness.live = TRUE;
  g_object_set (harness.element, "sync", FALSE, NULL);
  harness_start (&harness,
      "video/x-h264,stream-format=byte-stream,alignment=au");
  push_unit (&harness, H264_IDR, 8);
  push_unit (&harness, "no start code", 13);
  push_unit (&harness, "", 0);
  harness_expect_log (&harness, "~I0 I1 I2");
  harness_expect_stat (&harness, "malformed-no-start-code", 1);
  assert_stat (&harness, "frames-in-p", 2);
  harness_teardown (&harness);
}

GST_END_TEST;

/* --- sequence headers ----------------------------------------------------- */

GST_START_TEST (a_sequence_header_outlives_its_frame)
{
  IfdHarness harness;

  harness_init (&harness);
  harness.live = TRUE;
  g_object_set (harness.element, "sync", FALSE, "max-frames", 1, NULL);
  harness_start (&harness, MPEG_CAPS);
  harness.room = 0;
  harness_push_plan (&harness, "scI0");
  harness_expect_log (&harness, "~I0s");
  harness_push_plan (&harness, "scI0 cI0");
  harness_expect_pushed (&harness, 3 + 3);
  harness_open_network (&harness, 1);
  harness_expect_log (&harness, "~I0s ~I2s");
  harness_push_plan (&harness, "cI0");
  harness_expect_pushed (&harness, 3 + 4);
  harness_open_network (&harness, -1);
  harness_expect_log (&harness, "~I0s ~I2s I3");
  harness_expect_stat (&harness, "sent", 3);
  assert_stat (&harness, "sequence-headers-repeated", 1);
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (a_new_receiver_gets_what_it_needs_to_begin)
{
  IfdHarness harness;

  harness_init (&harness);
  harness.live = TRUE;
  g_object_set (harness.element, "sync", FALSE, NULL);
  harness_start (&harness, MPEG_CAPS);
  harness.room = 0;
  harness_push_plan (&harness, "scI0");
  harness_expect_log (&harness, "~I0s");
  harness_push_plan (&harness, "P1 P2");
  harness_expect_pushed (&harness, 3 + 3);
  gst_pad_push_event (harness.down, gst_wireless_event_new_restart ());
  assert_stat (&harness, "waiting", 0);
  assert_stat (&harness, "dropped-no-i-frame", 2);
  fail_unless_equals_int (harness.key_unit_requests, 1);
  harness_push_plan (&harness, "P3 cI0 P1");
  harness_expect_pushed (&harness, 3 + 6);
  harness_open_network (&harness, -1);
  harness_expect_log (&harness, "~I0s ~I4s P5");
  assert_stat (&harness, "dropped-no-i-frame", 3);
  assert_stat (&harness, "sequence-headers-repeated", 1);
  harness_teardown (&harness);
}

GST_END_TEST;

/* --- order ---------------------------------------------------------------- */

GST_START_TEST (events_keep_their_place)
{
  IfdHarness harness;

  harness_setup (&harness);
  harness.room = 0;
  harness_push_plan (&harness, "scI0 (a) P3 (b) B1 (c) B2 (d) P6 (e) eos");
  harness_run_until (&harness, 1);
  harness_expect_log (&harness, "~I0s");
  harness_run_until (&harness, 5);
  harness_expect_pushed (&harness, 3 + 11);
  harness_open_network (&harness, -1);
  harness_expect_log (&harness, "~I0s (a) P1 (b) (c) ~B3 (d) P4 (e) (eos)");
  assert_stat (&harness, "sent", 4);
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (a_query_waits_for_its_turn)
{
  GstQuery *drain = gst_query_new_drain ();
  IfdHarness harness;

  harness_init (&harness);
  harness.live = TRUE;
  g_object_set (harness.element, "sync", FALSE, NULL);
  harness_start (&harness, MPEG_CAPS);
  harness.room = 0;
  harness_push_plan (&harness, "scI0 P1");
  harness_push (&harness, drain);
  harness_expect_pushed (&harness, 3 + 2);
  harness_expect_log (&harness, "~I0s");
  harness_open_network (&harness, -1);
  harness_expect_log (&harness, "~I0s P1 (drain)");
  harness_expect_pushed (&harness, 3 + 3);
  fail_unless (harness.last_result);
  gst_query_unref (drain);
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (a_flush_ends_a_query)
{
  GstQuery *drain = gst_query_new_drain ();
  IfdHarness harness;

  harness_init (&harness);
  harness.live = TRUE;
  g_object_set (harness.element, "sync", FALSE, NULL);
  harness_start (&harness, MPEG_CAPS);
  harness.room = 0;
  harness_push_plan (&harness, "scI0 P1");
  harness_push (&harness, drain);
  harness_expect_log (&harness, "~I0s");
  gst_pad_push_event (harness.up, gst_event_new_flush_start ());
  harness_expect_pushed (&harness, 3 + 3);
  fail_if (harness.last_result);
  gst_query_unref (drain);
  gst_pad_push_event (harness.up, gst_event_new_flush_stop (TRUE));
  harness_expect_log (&harness, "~I0s");
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (downstreams_memory_is_not_offered)
{
  GstCaps *caps = gst_caps_from_string (MPEG_CAPS);
  GstQuery *allocation = gst_query_new_allocation (caps, TRUE);
  IfdHarness harness;

  harness_init (&harness);
  harness.live = TRUE;
  g_object_set (harness.element, "sync", FALSE, NULL);
  harness_start (&harness, MPEG_CAPS);
  harness.room = 0;
  harness_push_plan (&harness, "scI0");
  harness_expect_log (&harness, "~I0s");
  fail_if (gst_pad_peer_query (harness.up, allocation));
  gst_query_unref (allocation);
  gst_caps_unref (caps);
  harness_teardown (&harness);
}

GST_END_TEST;

/* The network is blocked, and the test pushes 3000 events. The queue must never
 * hold more than 1000 events. The push of the next event must therefore block.
 * When the network is open again, all 3000 events must arrive. */
GST_START_TEST (a_flood_of_events_is_held_back)
{
  const guint n = 3000;
  GString *expected = g_string_new ("~I0s");
  IfdHarness harness;
  guint i;

  harness_init (&harness);
  harness.live = TRUE;
  g_object_set (harness.element, "sync", FALSE, NULL);
  harness_start (&harness, MPEG_CAPS);
  harness.room = 0;
  harness_push_plan (&harness, "scI0");
  harness_expect_log (&harness, "~I0s");
  for (i = 0; i < n; i++) {
    harness_push (&harness, harness_make_mark ("x"));
    g_string_append (expected, " (x)");
  }
  harness_expect_pushed (&harness, 4 + 1000);
  for (i = 0; i < 100; i++) {
    g_thread_yield ();
    fail_unless_equals_int (harness.pushed, 4 + 1000);
  }
  harness_open_network (&harness, -1);
  harness_expect_log (&harness, expected->str);
  g_string_free (expected, TRUE);
  harness_teardown (&harness);
}

GST_END_TEST;

/* --- flushes and states --------------------------------------------------- */

static void
flush (IfdHarness * harness)
{
  gst_pad_push_event (harness->up, gst_event_new_flush_start ());
  gst_pad_push_event (harness->up, gst_event_new_flush_stop (TRUE));
}

/* Called after a flush. Pushes a new segment and two frames, as upstream does
 * after a seek, and checks that both frames are sent. `before` is the log of
 * the frames that were sent before the flush. */
static void
assert_goes_on (IfdHarness * harness, const gchar * before)
{
  gchar *expected = g_strconcat (before, *before ? " " : "", "~I100s P101",
      NULL);
  GstSegment segment;

  harness_open_network (harness, -1);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = 100 * FRAME_TIME;
  harness_push (harness, gst_event_new_segment (&segment));
  harness->n_frames = 100;
  harness_push_plan (harness, "scI0 P1");
  harness_run_until (harness, harness_get_stat (harness, "frames-in") + 2);
  harness_expect_log (harness, expected);
  harness_expect_stat (harness, "waiting", 0);
  g_free (expected);
}

GST_START_TEST (a_flush_takes_what_waits_and_what_is_being_sent)
{
  IfdHarness harness;

  harness_setup (&harness);
  harness.room = 0;
  harness_push_plan (&harness, "scI0 P1 (a) P2");
  harness_run_until (&harness, 1);
  harness_expect_log (&harness, "~I0s");
  harness_run_until (&harness, 3);
  flush (&harness);
  assert_stat (&harness, "flushed", 3);
  assert_stat (&harness, "sent", 0);
  harness_expect_adds_up (&harness, 0);
  assert_goes_on (&harness, "~I0s");
  harness_expect_stat (&harness, "sent", 2);
  harness_expect_adds_up (&harness, 0);
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (a_flush_ends_the_wait_for_the_clock)
{
  IfdHarness harness;

  harness_setup (&harness);
  harness_push_plan (&harness, "scI0 P1");
  harness_run_until (&harness, 1);
  harness_expect_log (&harness, "~I0s");
  harness_expect_wait (&harness, FRAME_TIME);
  flush (&harness);
  harness_expect_pushed (&harness, 3 + 2);
  fail_unless_equals_int (harness.flow, GST_FLOW_FLUSHING);
  assert_stat (&harness, "frames-in", 1);
  assert_goes_on (&harness, "~I0s");
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (a_flush_ends_the_wait_for_playing)
{
  IfdHarness harness;

  harness_init (&harness);
  harness.pusher = g_thread_new ("pusher", harness_run_pusher, &harness);
  harness_set_state (&harness, GST_STATE_PAUSED, GST_STATE_CHANGE_NO_PREROLL);
  harness_push_headers (&harness, MPEG_CAPS, GST_FORMAT_TIME);
  harness_push_plan (&harness, "scI0");
  harness_expect_caps (&harness);
  flush (&harness);
  harness_expect_pushed (&harness, 4);
  fail_unless_equals_int (harness.flow, GST_FLOW_FLUSHING);
  harness_set_state (&harness, GST_STATE_PLAYING, GST_STATE_CHANGE_SUCCESS);
  assert_goes_on (&harness, "");
  harness_teardown (&harness);
}

GST_END_TEST;

/* A sticky event waits in the queue during a flush. It must not be lost:
 * ifdqueue must send it after the flush, before the first frame. */
GST_START_TEST (a_flush_keeps_what_sticks)
{
  GstTagList *tags = gst_tag_list_new (GST_TAG_TITLE, "film", NULL);
  GstEvent *kept;
  IfdHarness harness;

  harness_setup (&harness);
  harness.room = 0;
  harness_push_plan (&harness, "scI0");
  harness_run_until (&harness, 1);
  harness_expect_log (&harness, "~I0s");
  harness_push (&harness, gst_event_new_tag (tags));
  harness_expect_pushed (&harness, 5);
  flush (&harness);
  assert_goes_on (&harness, "~I0s");
  kept = gst_pad_get_sticky_event (harness.down, GST_EVENT_TAG, 0);
  fail_unless (kept != NULL);
  gst_event_unref (kept);
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (stopping_ends_the_wait_for_the_clock)
{
  IfdHarness harness;

  harness_setup (&harness);
  harness_push_plan (&harness, "scI0");
  harness_expect_wait (&harness, 0);
  harness_stop (&harness);
  harness_expect_pushed (&harness, 4);
  fail_unless_equals_int (harness.flow, GST_FLOW_FLUSHING);
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (stopping_while_downstream_blocks)
{
  IfdHarness harness;

  harness_setup (&harness);
  harness.room = 0;
  harness_push_plan (&harness, "scI0 P1 (a) P2 eos");
  harness_run_until (&harness, 1);
  harness_expect_log (&harness, "~I0s");
  harness_run_until (&harness, 3);
  harness_stop (&harness);
  /* The element has been stopped. Its statistics must remain readable until it
   * starts again. */
  assert_stat (&harness, "flushed", 3);
  harness_expect_adds_up (&harness, 0);
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (stopping_ends_the_wait_for_playing)
{
  IfdHarness harness;

  harness_init (&harness);
  harness.pusher = g_thread_new ("pusher", harness_run_pusher, &harness);
  harness_set_state (&harness, GST_STATE_PAUSED, GST_STATE_CHANGE_NO_PREROLL);
  harness_push_headers (&harness, MPEG_CAPS, GST_FORMAT_TIME);
  harness_push_plan (&harness, "scI0");
  harness_expect_caps (&harness);
  harness_stop (&harness);
  harness_expect_pushed (&harness, 4);
  fail_unless_equals_int (harness.flow, GST_FLOW_FLUSHING);
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (stopping_ends_a_query_and_a_flood)
{
  GstQuery *drain = gst_query_new_drain ();
  guint i, flood;

  for (flood = 0; flood < 2; flood++) {
    IfdHarness harness;

    harness_init (&harness);
    harness.live = TRUE;
    g_object_set (harness.element, "sync", FALSE, NULL);
    harness_start (&harness, MPEG_CAPS);
    harness.room = 0;
    harness_push_plan (&harness, "scI0 P1");
    harness_expect_log (&harness, "~I0s");
    for (i = 0; flood && i < 1001; i++)
      harness_push (&harness, harness_make_mark ("x"));
    if (!flood)
      harness_push (&harness, drain);
    harness_expect_pushed (&harness, 3 + 2 + flood * 1000);
    harness_stop (&harness);
    harness_expect_pushed (&harness, 3 + 2 + flood * 1000 + 1);
    fail_if (harness.last_result);
    harness_expect_adds_up (&harness, 0);
    harness_teardown (&harness);
  }
  gst_query_unref (drain);
}

GST_END_TEST;

/* Upstream may push the beginning of a stream while the pipeline stops. The
 * sink pad of ifdqueue must then return FLUSHING. If it returned an error,
 * upstream would post an error message. */
GST_START_TEST (a_stream_that_begins_while_all_stops_is_no_error)
{
  GstPad *src;
  IfdHarness harness;

  harness_setup (&harness);
  harness_expect_pushed (&harness, 3);
  src = gst_element_get_static_pad (harness.element, "src");
  gst_pad_set_active (src, FALSE);
  harness_push_headers (&harness, MPEG_CAPS, GST_FORMAT_TIME);
  harness_push_plan (&harness, "scI0");
  harness_expect_pushed (&harness, 7);
  fail_unless_equals_int (harness.flow, GST_FLOW_FLUSHING);
  gst_object_unref (src);
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (each_start_is_a_new_one)
{
  IfdHarness harness;
  guint i;

  harness_setup (&harness);
  for (i = 0; i < 3; i++) {
    harness_push_plan (&harness, "scI0 P1");
    harness_run_until (&harness, 2);
    harness_expect_log (&harness, "~I0s P1");
    harness_push_plan (&harness, i == 1 ? "eos" : "P2");
    harness_stop (&harness);
    harness_expect_pushed (&harness, 3 + 3);
    harness_expect_adds_up (&harness, 0);

    g_string_truncate (harness.log, 0);
    harness_set_flushing (&harness, FALSE);
    harness.n_frames = harness.pushed = 0;
    /* The test deactivates and activates the pads, as GStreamer does when it
     * restarts an element. */
    gst_pad_set_active (harness.up, FALSE);
    gst_pad_set_active (harness.up, TRUE);
    gst_pad_set_active (harness.down, TRUE);
    gst_element_set_base_time (harness.element,
        gst_clock_get_time (harness.clock));
    harness_set_state (&harness, GST_STATE_PLAYING, GST_STATE_CHANGE_SUCCESS);
    assert_stat (&harness, "frames-in", 0);
    harness_push_headers (&harness, MPEG_CAPS, GST_FORMAT_TIME);
  }
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (another_stream_may_follow_eos)
{
  IfdHarness harness;

  harness_init (&harness);
  harness.live = TRUE;
  g_object_set (harness.element, "sync", FALSE, NULL);
  harness_start (&harness, MPEG_CAPS);
  harness_push_plan (&harness, "scI0 eos");
  harness_expect_log (&harness, "~I0s (eos)");
  harness_push_plan (&harness, "scI0");
  harness_expect_pushed (&harness, 3 + 3);
  fail_unless_equals_int (harness.flow, GST_FLOW_EOS);
  harness_push_headers (&harness, MPEG_CAPS, GST_FORMAT_TIME);
  harness_push_plan (&harness, "scI0 eos");
  harness_expect_log (&harness, "~I0s (eos) ~I2s (eos)");
  harness_teardown (&harness);
}

GST_END_TEST;

/* A second stream follows the first one. The whole second stream arrives in the
 * queue before ifdqueue has sent the EOS of the first stream. ifdqueue must
 * send both streams in order, each with its own EOS. */
GST_START_TEST (another_stream_may_follow_at_once)
{
  IfdHarness harness;

  harness_init (&harness);
  harness.live = TRUE;
  g_object_set (harness.element, "sync", FALSE, NULL);
  harness_start (&harness, MPEG_CAPS);
  harness.room = 0;
  harness_push_plan (&harness, "scI0");
  harness_expect_log (&harness, "~I0s");
  harness_push_plan (&harness, "eos");
  harness_push_headers (&harness, MPEG_CAPS, GST_FORMAT_TIME);
  harness_push_plan (&harness, "scI0 eos");
  harness_expect_pushed (&harness, 3 + 2 + 3 + 2);
  harness_open_network (&harness, -1);
  harness_expect_log (&harness, "~I0s (eos) ~I1s (eos)");
  harness_teardown (&harness);
}

GST_END_TEST;

/* --- flow returns of downstream ------------------------------------------- */

GST_START_TEST (upstream_hears_what_downstream_answers)
{
  static const GstFlowReturn answers[] = {
    GST_FLOW_EOS, GST_FLOW_ERROR, GST_FLOW_NOT_LINKED, GST_FLOW_CUSTOM_ERROR
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (answers); i++) {
    IfdHarness harness;

    harness_init (&harness);
    harness.live = TRUE;
    g_object_set (harness.element, "sync", FALSE, NULL);
    harness_start (&harness, MPEG_CAPS);
    harness.answer = answers[i];
    harness.room = 0;
    harness_push_plan (&harness, "scI0 P1");
    harness_expect_log (&harness, "~I0s");
    harness_expect_pushed (&harness, 3 + 2);
    harness_open_network (&harness, 1);
    do {
      harness_push_plan (&harness, "P1");
      harness_expect_pushed (&harness, 3 + harness.n_frames);
    } while (harness.flow == GST_FLOW_OK);
    fail_unless_equals_int (harness.flow, answers[i]);
    harness_expect_log (&harness, "~I0s");
    harness_teardown (&harness);
  }
}

GST_END_TEST;

GST_START_TEST (an_error_after_eos_is_posted)
{
  GstMessage *message;
  IfdHarness harness;

  harness_init (&harness);
  harness.live = TRUE;
  g_object_set (harness.element, "sync", FALSE, NULL);
  harness_start (&harness, MPEG_CAPS);
  harness.room = 0;
  harness.answer = GST_FLOW_ERROR;
  harness_push_plan (&harness, "scI0 eos");
  harness_expect_pushed (&harness, 3 + 2);
  harness_open_network (&harness, -1);
  message = gst_bus_timed_pop_filtered (harness.bus, TIMEOUT * GST_USECOND,
      GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_unref (message);
  harness_expect_log (&harness, "~I0s (eos)");
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (it_goes_on_when_downstream_is_linked_again)
{
  IfdHarness harness;

  harness_init (&harness);
  harness.live = TRUE;
  g_object_set (harness.element, "sync", FALSE, NULL);
  harness_start (&harness, MPEG_CAPS);
  harness.answer = GST_FLOW_NOT_LINKED;
  harness_push_plan (&harness, "scI0");
  harness_expect_log (&harness, "~I0s");
  do {
    harness_push_plan (&harness, "P1");
    harness_expect_pushed (&harness, 3 + harness.n_frames);
  } while (harness.flow == GST_FLOW_OK);
  harness.answer = GST_FLOW_OK;
  harness.n_frames = 50;
  gst_pad_push_event (harness.down, gst_event_new_reconfigure ());
  harness_push_plan (&harness, "cI0 P1");
  harness_expect_log (&harness, "~I0s ~I50s P51");
  harness_teardown (&harness);
}

GST_END_TEST;

/* --- latency -------------------------------------------------------------- */

static void
assert_latency (IfdHarness * harness, gboolean live, GstClockTime min,
    GstClockTime max)
{
  GstQuery *query = gst_query_new_latency ();
  GstClockTime found_min, found_max;
  gboolean found_live;

  fail_unless (gst_pad_peer_query (harness->down, query));
  gst_query_parse_latency (query, &found_live, &found_min, &found_max);
  gst_query_unref (query);
  fail_unless_equals_int (found_live, live);
  fail_unless_equals_uint64 (found_min, min);
  fail_unless_equals_uint64 (found_max, max);
}

static guint
count_messages (IfdHarness * harness, GstMessageType type)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (harness->bus, type))) {
    gst_message_unref (message);
    n++;
  }
  return n;
}

GST_START_TEST (each_frame_that_may_wait_is_latency)
{
  IfdHarness harness;

  harness_setup (&harness);
  harness_expect_pushed (&harness, 3);
  assert_latency (&harness, TRUE, 3 * FRAME_TIME, GST_CLOCK_TIME_NONE);
  harness.latency_ms = 100;
  assert_latency (&harness, TRUE, 100 * GST_MSECOND + 3 * FRAME_TIME,
      500 * GST_MSECOND + 3 * FRAME_TIME);
  count_messages (&harness, GST_MESSAGE_LATENCY);

  g_object_set (harness.element, "max-frames", 5, NULL);
  fail_unless_equals_int (count_messages (&harness, GST_MESSAGE_LATENCY), 1);
  assert_latency (&harness, TRUE, 100 * GST_MSECOND + 5 * FRAME_TIME,
      500 * GST_MSECOND + 5 * FRAME_TIME);
  gst_util_set_object_arg (G_OBJECT (harness.element), "algorithm", "paper");
  fail_unless_equals_int (count_messages (&harness, GST_MESSAGE_LATENCY), 1);
  assert_latency (&harness, TRUE, 100 * GST_MSECOND + FRAME_TIME,
      500 * GST_MSECOND + FRAME_TIME);
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (without_sync_only_a_live_stream_has_latency)
{
  IfdHarness harness;

  harness_init (&harness);
  g_object_set (harness.element, "sync", FALSE, NULL);
  harness_start (&harness, MPEG_CAPS);
  harness_expect_pushed (&harness, 3);
  assert_latency (&harness, FALSE, 0, GST_CLOCK_TIME_NONE);
  harness.latency_ms = 100;
  assert_latency (&harness, TRUE, 100 * GST_MSECOND + 3 * FRAME_TIME,
      500 * GST_MSECOND + 3 * FRAME_TIME);
  harness_teardown (&harness);
}

GST_END_TEST;

/* No parser has divided the stream into frames. The end of a frame is therefore
 * known only when the next frame begins. In a live stream, this wait must be
 * part of the latency. */
GST_START_TEST (raw_frames_wait_for_the_next_one)
{
  IfdHarness harness;

  harness_init (&harness);
  harness.latency_ms = 100;
  harness_start (&harness, "video/mpeg,mpegversion=2,systemstream=false,"
      "framerate=25/1");
  harness_expect_pushed (&harness, 3);
  assert_latency (&harness, TRUE, 100 * GST_MSECOND + 4 * FRAME_TIME,
      500 * GST_MSECOND + 4 * FRAME_TIME);
  harness_push_plan (&harness, "scI0 P1");
  harness_expect_wait (&harness, 100 * GST_MSECOND + FRAME_TIME);
  harness_teardown (&harness);
}

GST_END_TEST;

/* --- caps ----------------------------------------------------------------- */

/* The test pushes buffers like those of filesrc. They have no caps and no
 * timestamps, and they begin and end anywhere in the stream. ifdqueue must find
 * the frames in them and set the caps. */
GST_START_TEST (raw_bytes_become_frames_with_caps)
{
  GByteArray *bytes = g_byte_array_new ();
  const GstStructure *structure;
  gint width, fps_n, fps_d;
  gboolean parsed;
  GstCaps *caps;
  guint i;
  IfdHarness harness;

  for (i = 0; i < 3; i++) {
    GBytes *frame = harness_make_mpeg (i == 0 ? "scI0" : "P1");

    g_byte_array_append (bytes, g_bytes_get_data (frame, NULL),
        g_bytes_get_size (frame));
    g_bytes_unref (frame);
  }
  harness_init (&harness);
  harness_start (&harness, NULL);
  harness_push_headers (&harness, NULL, GST_FORMAT_BYTES);
  for (i = 0; i < bytes->len; i += 7)
    harness_push (&harness, gst_buffer_new_memdup (bytes->data + i,
            MIN (7, bytes->len - i)));
  harness_push_plan (&harness, "eos");
  harness_expect_wait (&harness, 0);
  harness_run_until (&harness, 3);
  harness_expect_log (&harness, "~I0s P1 P2 (eos)");
  caps = gst_pad_get_current_caps (harness.down);
  structure = gst_caps_get_structure (caps, 0);
  fail_unless (gst_structure_get (structure, "parsed", G_TYPE_BOOLEAN, &parsed,
          "width", G_TYPE_INT, &width, NULL));
  fail_unless (gst_structure_get_fraction (structure, "framerate", &fps_n,
          &fps_d));
  fail_unless (parsed && width == 32 && fps_n == 25 && fps_d == 1);
  gst_caps_unref (caps);
  g_byte_array_unref (bytes);
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (unusable_caps_get_a_hint)
{
  static const struct
  {
    const gchar *caps, *hint;
  } cases[] = {
    {"application/x-rtp,media=video,encoding-name=MPV",
        "put ifdqueue upstream of the payloader: ... ! ifdqueue ! rfc2250pay ! "
          "udpsink"},
    {"application/x-rtp,media=video,encoding-name=H264", "! rtph264pay !"},
    {"application/x-rtp,media=video,encoding-name=H265", "! rtph265pay !"},
    {"application/x-rtp,media=video,encoding-name=VP8", "! rtpvp8pay !"},
    {"video/x-h264,stream-format=byte-stream,alignment=nal",
        "put h264parse upstream, and set alignment=au"},
    {"video/x-h264", "put h264parse upstream"},
    {"video/x-h264,stream-format=avc,alignment=au",
        "put h264parse upstream"},
    {"video/x-h265,stream-format=byte-stream,alignment=nal",
        "put h265parse upstream, and set alignment=au"},
    {"video/x-av1,stream-format=annexb,alignment=tu",
        "put av1parse upstream"},
    {"video/x-av1", "put av1parse upstream"},
    {"video/mpegts,systemstream=true,packetsize=192", "put tsparse upstream"},
    {"video/mpeg,mpegversion=2,systemstream=true",
        "put mpegpsdemux upstream"},
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstMessage *message;
    GError *error;
    IfdHarness harness;

    harness_init (&harness);
    harness_start (&harness, cases[i].caps);
    harness_push_plan (&harness, "scI0");
    harness_expect_pushed (&harness, 4);
    fail_unless_equals_int (harness.flow, GST_FLOW_NOT_NEGOTIATED);
    message = gst_bus_pop_filtered (harness.bus, GST_MESSAGE_ERROR);
    fail_unless (message != NULL, "no error for %s", cases[i].caps);
    gst_message_parse_error (message, &error, NULL);
    fail_unless (strstr (error->message, cases[i].hint), "%s: %s",
        cases[i].caps, error->message);
    g_error_free (error);
    gst_message_unref (message);
    fail_unless_equals_int (count_messages (&harness, GST_MESSAGE_ERROR), 0);
    harness_teardown (&harness);
  }
}

GST_END_TEST;

/* The caps of a stream may change. For example, mpegtsmux adds its stream
 * headers to the caps when it outputs the first buffer. If ifdqueue can use
 * neither the old nor the new caps, it must post only one error. */
GST_START_TEST (unusable_caps_that_change_are_one_error)
{
  static const gchar *const caps[] = {
    "video/mpegts,systemstream=true,packetsize=188",
    "video/mpegts,systemstream=true,packetsize=188,streamheader=<(buffer)4740>",
    "video/mpegts,systemstream=true,packetsize=192",
  };
  IfdHarness harness;
  guint i;

  harness_init (&harness);
  harness_start (&harness, caps[0]);
  for (i = 1; i < G_N_ELEMENTS (caps); i++) {
    GstCaps *changed = gst_caps_from_string (caps[i]);

    harness_push (&harness, gst_event_new_caps (changed));
    gst_caps_unref (changed);
  }
  harness_expect_pushed (&harness, 5);
  fail_unless_equals_int (count_messages (&harness, GST_MESSAGE_ERROR), 1);
  harness_teardown (&harness);
}

GST_END_TEST;

/* Upstream may ask which caps ifdqueue accepts, and choose from the answer. The
 * answer must contain caps with complete access units first, even if upstream
 * prefers others. It must not contain caps that downstream does not accept. */
GST_START_TEST (upstream_chooses_what_is_usable)
{
  GstCaps *filter = gst_caps_from_string ("video/x-h264,alignment=nal; "
      "video/x-h264,stream-format=byte-stream,alignment={nal,au}");
  GstElement *element = gst_check_setup_element ("ifdqueue");
  GstPad *sink = gst_element_get_static_pad (element, "sink");
  GstPad *src = gst_element_get_static_pad (element, "src");
  GstElement *behind = gst_element_factory_make ("capsfilter", NULL);
  GstPad *next = gst_element_get_static_pad (behind, "sink");
  GstCaps *caps = gst_pad_query_caps (sink, filter), *accepted;

  fail_unless_equals_string (gst_structure_get_string (gst_caps_get_structure
          (caps, 0), "alignment"), "au");
  gst_caps_unref (caps);

  accepted = gst_caps_from_string ("video/mpeg,parsed=true");
  g_object_set (behind, "caps", accepted, NULL);
  gst_caps_unref (accepted);
  fail_unless_equals_int (gst_pad_link (src, next), GST_PAD_LINK_OK);
  caps = gst_pad_query_caps (sink, filter);
  fail_unless (gst_caps_is_empty (caps));
  gst_caps_unref (caps);
  caps = gst_pad_query_caps (sink, NULL);
  fail_if (gst_structure_has_field (gst_caps_get_structure (caps, 0),
          "parsed"));
  gst_caps_unref (caps);

  gst_caps_unref (filter);
  gst_object_unref (next);
  gst_object_unref (behind);
  gst_object_unref (sink);
  gst_object_unref (src);
  gst_check_teardown_element (element);
}

GST_END_TEST;

GST_START_TEST (the_codec_may_change)
{
  IfdHarness harness;

  harness_init (&harness);
  harness.live = TRUE;
  g_object_set (harness.element, "sync", FALSE, NULL);
  harness_start (&harness,
      "video/x-h264,stream-format=byte-stream,alignment=au");
  push_unit (&harness, H264_IDR, 8);
  harness_expect_log (&harness, "~I0");
  harness_push_headers (&harness, MPEG_CAPS, GST_FORMAT_TIME);
  harness_push_plan (&harness, "scI0 eos");
  harness_expect_log (&harness, "~I0 ~I1s (eos)");
  harness_teardown (&harness);
}

GST_END_TEST;

/* --- messages and warnings ------------------------------------------------ */

static guint
count_stats_messages (IfdHarness * harness)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (harness->bus, GST_MESSAGE_ELEMENT))) {
    if (gst_message_has_name (message, "application/x-ifdqueue-stats"))
      n++;
    gst_message_unref (message);
  }
  return n;
}

GST_START_TEST (statistics_come_at_eos)
{
  IfdHarness harness;

  harness_setup (&harness);
  harness_push_plan (&harness, "scI0 eos");
  harness_run_until (&harness, 1);
  harness_expect_log (&harness, "~I0s (eos)");
  fail_unless_equals_int (count_stats_messages (&harness), 1);
  harness_teardown (&harness);
}

GST_END_TEST;

GST_START_TEST (statistics_come_at_their_interval)
{
  IfdHarness harness;

  harness_init (&harness);
  g_object_set (harness.element, "stats-update-interval", 1000, NULL);
  harness_start (&harness, MPEG_CAPS);
  harness_expect_wait (&harness, GST_SECOND);
  gst_test_clock_crank (GST_TEST_CLOCK (harness.clock));
  fail_unless_equals_int (count_stats_messages (&harness), 1);
  harness_expect_wait (&harness, 2 * GST_SECOND);
  harness_teardown (&harness);
}

GST_END_TEST;

/* Runs the pipeline `line` and returns the number of warnings that ifdqueue
 * posts. Each warning must have the text `expected`. The warnings are about a
 * fakesink downstream of ifdqueue. Other elements and the ghost pads of bins
 * may be between ifdqueue and the fakesink. */
static guint
count_warnings (const gchar * line, const gchar * expected)
{
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstElement *source = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  GBytes *bytes = harness_make_mpeg ("scI0");
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  guint warnings = 0;
  gboolean eos = FALSE;
  FILE *file;
  gchar *path;
  gint fd;

  fd = g_file_open_tmp ("ifdqueue-XXXXXX.m2v", &path, NULL);
  fail_unless (fd >= 0 && (file = fdopen (fd, "wb")));
  fwrite (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), 1, file);
  fclose (file);
  g_bytes_unref (bytes);
  g_object_set (source, "location", path, NULL);
  gst_object_unref (source);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (!eos) {
    message = gst_bus_timed_pop_filtered (bus, TIMEOUT * GST_USECOND,
        GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
    fail_unless (message && GST_MESSAGE_TYPE (message) != GST_MESSAGE_ERROR);
    eos = GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
    if (!eos) {
      GError *error;

      gst_message_parse_warning (message, &error, NULL);
      fail_unless_equals_string (error->message, expected);
      g_error_free (error);
      warnings++;
    }
    gst_message_unref (message);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  g_unlink (path);
  g_free (path);
  return warnings;
}

GST_START_TEST (a_sink_that_waits_gets_a_warning)
{
  const gchar *warning = "end waits for timestamps, too: set sync=false on "
      "it.";

  fail_unless_equals_int (count_warnings ("filesrc name=in ! ifdqueue ! "
          "identity ! fakesink name=end sync=true", warning), 1);
  fail_unless_equals_int (count_warnings ("bin.( filesrc name=in ! ifdqueue ) "
          "! bin.( identity ! queue ) ! bin.( fakesink name=end sync=true )",
          warning), 1);
  fail_unless_equals_int (count_warnings ("filesrc name=in ! ifdqueue ! "
          "identity ! fakesink name=end sync=false", warning), 0);
  fail_unless_equals_int (count_warnings ("filesrc name=in ! ifdqueue "
          "sync=false ! fakesink name=end sync=true", warning), 0);
}

GST_END_TEST;

static Suite *
ifdqueue_suite (void)
{
  Suite *suite = suite_create ("ifdqueue");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, frames_enter_at_their_dts);
  tcase_add_test (tc, pts_where_there_is_no_dts);
  tcase_add_test (tc, live_upstream_adds_its_latency);
  tcase_add_test (tc, lateness_counts_until_downstream_took_all);
  tcase_add_test (tc, a_pause_makes_nothing_late);
  tcase_add_test (tc, a_pause_is_no_time_blocked);
  tcase_add_test (tc, nothing_enters_before_playing);
  tcase_add_test (tc, frames_before_the_segment_are_sent_immediately);
  tcase_add_test (tc, a_blocked_network_costs_b_frames);
  tcase_add_test (tc, the_papers_algorithms_hold_one_frame);
  tcase_add_test (tc, without_sync_what_is_live_is_dropped_rather_than_waits);
  tcase_add_test (tc, without_sync_what_is_read_ahead_waits);
  tcase_add_test (tc, frame_waiting_for_room_can_be_flushed);
  tcase_add_test (tc, a_network_that_is_full_hears_that_eos_follows);
  tcase_add_test (tc, gop_headers_say_what_leading_b_frames_are_worth);
  tcase_add_test (tc, two_fields_are_one_frame);
  tcase_add_test (tc, pools_may_have_their_buffers_back);
  tcase_add_test (tc, a_damaged_frame_goes_on);
  tcase_add_test (tc, h264_and_h265_tell_their_b_frames);
  tcase_add_test (tc, h265_frames_carry_their_temporal_layer);
  tcase_add_test (tc, vp9_tells_the_frames_that_refresh_nothing);
  tcase_add_test (tc, malformed_frame_is_counted);
  tcase_add_test (tc, fields_of_a_frame_go_together);
  tcase_add_test (tc, fields_alone_are_frames);
  tcase_add_test (tc, fields_are_due_with_the_second);
  tcase_add_test (tc, flush_forgets_a_first_field);
  tcase_add_test (tc, refresh_does_not_restore_the_stream);
  tcase_add_test (tc, broken_gop_asks_for_a_key_frame);
  tcase_add_test (tc, no_key_frame_is_asked_for_when_one_is_near);
  tcase_add_test (tc, refresh_is_a_beginning);
  tcase_add_test (tc, malformed_units_pass_and_are_counted);
  tcase_add_test (tc, a_sequence_header_outlives_its_frame);
  tcase_add_test (tc, a_new_receiver_gets_what_it_needs_to_begin);
  tcase_add_test (tc, events_keep_their_place);
  tcase_add_test (tc, a_query_waits_for_its_turn);
  tcase_add_test (tc, a_flush_ends_a_query);
  tcase_add_test (tc, downstreams_memory_is_not_offered);
  tcase_add_test (tc, a_flood_of_events_is_held_back);
  tcase_add_test (tc, a_flush_takes_what_waits_and_what_is_being_sent);
  tcase_add_test (tc, a_flush_ends_the_wait_for_the_clock);
  tcase_add_test (tc, a_flush_ends_the_wait_for_playing);
  tcase_add_test (tc, a_flush_keeps_what_sticks);
  tcase_add_test (tc, stopping_ends_the_wait_for_the_clock);
  tcase_add_test (tc, stopping_while_downstream_blocks);
  tcase_add_test (tc, stopping_ends_the_wait_for_playing);
  tcase_add_test (tc, stopping_ends_a_query_and_a_flood);
  tcase_add_test (tc, a_stream_that_begins_while_all_stops_is_no_error);
  tcase_add_test (tc, each_start_is_a_new_one);
  tcase_add_test (tc, another_stream_may_follow_eos);
  tcase_add_test (tc, another_stream_may_follow_at_once);
  tcase_add_test (tc, upstream_hears_what_downstream_answers);
  tcase_add_test (tc, an_error_after_eos_is_posted);
  tcase_add_test (tc, it_goes_on_when_downstream_is_linked_again);
  tcase_add_test (tc, each_frame_that_may_wait_is_latency);
  tcase_add_test (tc, without_sync_only_a_live_stream_has_latency);
  tcase_add_test (tc, raw_frames_wait_for_the_next_one);
  tcase_add_test (tc, raw_bytes_become_frames_with_caps);
  tcase_add_test (tc, unusable_caps_get_a_hint);
  tcase_add_test (tc, unusable_caps_that_change_are_one_error);
  tcase_add_test (tc, upstream_chooses_what_is_usable);
  tcase_add_test (tc, the_codec_may_change);
  tcase_add_test (tc, statistics_come_at_eos);
  tcase_add_test (tc, statistics_come_at_their_interval);
  tcase_add_test (tc, a_sink_that_waits_gets_a_warning);
  return suite;
}

GST_CHECK_MAIN (ifdqueue);
