/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of BitrateKeyFrames, which decides when the element bitrateadapt asks
 * the encoder for a key frame. The tests run in virtual time. Times are in ms.
 */

#include <gst/check/gstcheck.h>

#include "bitratekeyframes.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define LATENCY (400 * MS)

static BitrateKeyFrames frames;

static void
begin (void)
{
  bitrate_key_frames_init (&frames);
}

#define assert_poll(now, expected) \
    fail_unless_equals_int (bitrate_key_frames_poll (&frames, (now) * MS), \
        expected)

/* Passes a report to `frames`. The report says that the path carries 1.6
 * Mbit/s, which is 200 bytes per ms. The bitrate of the encoder is half of this
 * rate. */
static void
input (guint64 now, guint64 queued, guint64 in_flight, gboolean is_lower_bound)
{
  BitrateReport report = { now * MS, 1600000, is_lower_bound, queued };

  report.in_flight = in_flight;
  bitrate_key_frames_input (&frames, &report, LATENCY, 800000);
}

GST_START_TEST (loss_asks_for_one_each_second)
{
  begin ();
  assert_poll (1000, FALSE);
  bitrate_key_frames_note_loss (&frames, BITRATE_LOSS_DROPPED);
  assert_poll (1000, TRUE);
  assert_poll (1020, FALSE);
  bitrate_key_frames_note_loss (&frames, BITRATE_LOSS_DROPPED);
  assert_poll (1400, FALSE);
  assert_poll (1999, FALSE);
  assert_poll (2000, TRUE);
  assert_poll (4000, FALSE);
}

GST_END_TEST;

GST_START_TEST (loss_before_the_key_frame_that_comes_needs_no_other)
{
  begin ();
  bitrate_key_frames_note_loss (&frames, BITRATE_LOSS_DROPPED);
  assert_poll (1000, TRUE);
  fail_unless (bitrate_key_frames_is_coming (&frames, 1249 * MS));
  fail_if (bitrate_key_frames_is_coming (&frames, 1250 * MS));
  bitrate_key_frames_note_loss (&frames, BITRATE_LOSS_DROPPED);
  assert_poll (1200, FALSE);
  assert_poll (2000, FALSE);
}

GST_END_TEST;

/* A key frame has been requested, and then the receiver reports that the
 * network lost a packet. If this report arrives within 60 ms after the request,
 * the lost packet was sent before the key frame, so the key frame repairs the
 * loss. If the report arrives later, the lost packet may belong to the key
 * frame, so another key frame must be requested. */
GST_START_TEST (loss_in_the_network_may_have_hit_the_key_frame)
{
  begin ();
  bitrate_key_frames_note_loss (&frames, BITRATE_LOSS_NETWORK);
  assert_poll (1000, TRUE);
  bitrate_key_frames_note_loss (&frames, BITRATE_LOSS_NETWORK);
  assert_poll (1059, FALSE);
  assert_poll (2000, FALSE);
  bitrate_key_frames_note_loss (&frames, BITRATE_LOSS_NETWORK);
  assert_poll (2000, TRUE);
  bitrate_key_frames_note_loss (&frames, BITRATE_LOSS_NETWORK);
  assert_poll (2060, FALSE);
  assert_poll (2999, FALSE);
  assert_poll (3000, TRUE);
  assert_poll (5000, FALSE);
}

GST_END_TEST;

/* The round trip is 300 ms. If a packet is lost just before a key frame is
 * requested, the report of this loss may therefore arrive up to 300 ms after
 * the request. Such a report must not cause another request. */
GST_START_TEST (loss_in_the_network_is_reported_a_round_trip_later)
{
  BitrateReport report = { 1000 * MS, 1600000 };

  begin ();
  report.round_trip = 300 * MS;
  bitrate_key_frames_input (&frames, &report, LATENCY, 800000);
  bitrate_key_frames_note_loss (&frames, BITRATE_LOSS_NETWORK);
  assert_poll (1000, TRUE);
  bitrate_key_frames_note_loss (&frames, BITRATE_LOSS_NETWORK);
  assert_poll (1290, FALSE);
  assert_poll (2000, FALSE);
  bitrate_key_frames_note_loss (&frames, BITRATE_LOSS_NETWORK);
  assert_poll (2000, TRUE);
  bitrate_key_frames_note_loss (&frames, BITRATE_LOSS_NETWORK);
  assert_poll (2300, FALSE);
  assert_poll (3000, TRUE);
}

GST_END_TEST;

GST_START_TEST (lost_key_frame_is_asked_for_again_soon)
{
  begin ();
  bitrate_key_frames_note_loss (&frames, BITRATE_LOSS_DROPPED);
  assert_poll (1000, TRUE);
  bitrate_key_frames_note_loss (&frames, BITRATE_LOSS_KEY_FRAME);
  assert_poll (1199, FALSE);
  assert_poll (1200, TRUE);
  bitrate_key_frames_note_loss (&frames, BITRATE_LOSS_DROPPED);
  assert_poll (1900, FALSE);
  assert_poll (2200, TRUE);
}

GST_END_TEST;

GST_START_TEST (key_frames_that_are_lost_again_become_rare)
{
  static const guint64 times[] = { 1000, 1200, 1600, 2400, 3400, 4400 };
  guint64 now;
  guint n = 0;

  begin ();
  for (now = 1000; now < 5400; now += 20) {
    bitrate_key_frames_note_loss (&frames,
        now > 1000 ? BITRATE_LOSS_KEY_FRAME : BITRATE_LOSS_DROPPED);
    if (bitrate_key_frames_poll (&frames, now * MS))
      fail_unless_equals_uint64 (now, times[n++]);
  }
  fail_unless_equals_int (n, G_N_ELEMENTS (times));
  /* Each time that the requested key frame was lost, the delay before the next
   * request has doubled (backoff). Now a key frame arrives. When a key frame is
   * lost after this, the delay must have its initial value of 200 ms again. */
  bitrate_key_frames_note_loss (&frames, BITRATE_LOSS_DROPPED);
  frames.is_key_frame_lost = FALSE;
  assert_poll (6000, TRUE);
  bitrate_key_frames_note_loss (&frames, BITRATE_LOSS_KEY_FRAME);
  assert_poll (6200, TRUE);
}

GST_END_TEST;

/* The path needs 150 ms for the 30000 bytes in flight, and then 300 ms for the
 * 60000 bytes that wait at the sender. The sum is longer than the latency of
 * 400 ms, so the data at the sender will be late. A key frame must therefore be
 * requested. */
GST_START_TEST (frames_that_will_be_late_ask_for_one)
{
  begin ();
  input (1000, 60000, 30000, FALSE);
  assert_poll (1000, TRUE);
}

GST_END_TEST;

GST_START_TEST (no_key_frame_is_made_that_would_be_late_itself)
{
  begin ();
  input (1000, 60000, 60000, FALSE);
  assert_poll (1000, FALSE);
  /* The path needs 260 ms for the bytes in flight, and then 100 ms for a key
   * frame. The key frame would therefore arrive after 360 ms. The limit is the
   * latency of 400 ms minus a margin of 40 ms, which is also 360 ms. A frame is
   * in time only if it arrives before the limit. A key frame that arrives
   * exactly at the limit is late, so it must not be requested. */
  input (1100, 60000, 52000, FALSE);
  assert_poll (1100, FALSE);
  input (1200, 60000, 51000, FALSE);
  assert_poll (1200, TRUE);
}

GST_END_TEST;

GST_START_TEST (frames_in_time_ask_for_none)
{
  begin ();
  input (1000, 40000, 30000, FALSE);
  assert_poll (1000, FALSE);
  input (1100, 90000, 30000, TRUE);     /* The estimate is a lower bound. */
  assert_poll (1100, FALSE);
  input (1200, BITRATE_UNKNOWN, 30000, FALSE);
  assert_poll (1200, FALSE);
  input (1300, 90000, BITRATE_UNKNOWN, FALSE);
  assert_poll (1300, FALSE);
}

GST_END_TEST;

GST_START_TEST (falling_estimate_is_waited_for)
{
  BitrateReport report = { 1000 * MS, 4000000 };

  begin ();
  bitrate_key_frames_input (&frames, &report, LATENCY, 800000);
  input (1020, 60000, 30000, FALSE);
  assert_poll (1020, FALSE);
  input (1060, 60000, 30000, FALSE);
  assert_poll (1060, FALSE);
  input (1080, 60000, 30000, FALSE);
  assert_poll (1080, TRUE);
}

GST_END_TEST;

GST_START_TEST (unknown_latency_asks_for_none)
{
  BitrateReport report = { 1000 * MS, 1600000, FALSE, 600000 };

  begin ();
  report.in_flight = 10000;
  bitrate_key_frames_input (&frames, &report, 0, 800000);
  assert_poll (1000, FALSE);
}

GST_END_TEST;

static Suite *
bitrate_key_frames_suite (void)
{
  Suite *s = suite_create ("bitratekeyframes");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, loss_asks_for_one_each_second);
  tcase_add_test (tc, loss_before_the_key_frame_that_comes_needs_no_other);
  tcase_add_test (tc, loss_in_the_network_may_have_hit_the_key_frame);
  tcase_add_test (tc, loss_in_the_network_is_reported_a_round_trip_later);
  tcase_add_test (tc, lost_key_frame_is_asked_for_again_soon);
  tcase_add_test (tc, key_frames_that_are_lost_again_become_rare);
  tcase_add_test (tc, frames_that_will_be_late_ask_for_one);
  tcase_add_test (tc, no_key_frame_is_made_that_would_be_late_itself);
  tcase_add_test (tc, frames_in_time_ask_for_none);
  tcase_add_test (tc, falling_estimate_is_waited_for);
  tcase_add_test (tc, unknown_latency_asks_for_none);
  return s;
}

GST_CHECK_MAIN (bitrate_key_frames);
