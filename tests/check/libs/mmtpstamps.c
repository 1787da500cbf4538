/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks MmtpStamps. If the timestamps of the buffers have not changed for
 * longer than a limit, MmtpStamps replaces the timestamp of a buffer by the
 * arrival time of this buffer. After that, no later buffer may get a time
 * before this arrival time. MmtpStamps must not change a timestamp for any
 * other reason. All times are in ms. */

#include <gst/check/gstcheck.h>

#include "mmtpstamps.h"

#define LIMIT 500

/* Tells `stamps` that a buffer with the timestamp `stamp` has arrived at `now`,
 * and that the caller immediately waits for the next buffer. Returns the new
 * timestamp of the buffer. */
static gint64
come (MmtpStamps * stamps, gint64 now, gint64 stamp)
{
  gint64 time;

  mmtp_stamps_end_idle (stamps, now);
  time = mmtp_stamps_take (stamps, now, stamp, LIMIT);
  mmtp_stamps_begin_idle (stamps, now);
  return time;
}

#define check_come(stamps, now, stamp, expected) \
    fail_unless_equals_int64 (come (stamps, now, stamp), expected)

GST_START_TEST (timestamps_that_move_are_kept)
{
  const gint64 moving[] = { 0, 120, 40, 80, 240, 160, 200, -5, 10000, 280 };
  MmtpStamps stamps;
  guint i;

  mmtp_stamps_clear (&stamps);
  for (i = 0; i < G_N_ELEMENTS (moving); i++)
    check_come (&stamps, 1000 * i, moving[i], moving[i]);
}

GST_END_TEST;

GST_START_TEST (one_that_stands_still_is_replaced)
{
  MmtpStamps stamps;

  mmtp_stamps_clear (&stamps);
  check_come (&stamps, 100, 90, 90);
  check_come (&stamps, 600, 90, 90);
  check_come (&stamps, 601, 90, 601);
  check_come (&stamps, 700, 90, 700);
  check_come (&stamps, 2000, 90, 2000);
}

GST_END_TEST;

/* Each call passes a buffer with its arrival time and its timestamp, and checks
 * the resulting timestamp (in ms). The second buffer arrives after 1000 ms, but
 * has the same timestamp as the first one. It must therefore get its arrival
 * time, 1000, as its timestamp. The timestamps of the next two buffers are
 * earlier than 1000, so the result must stay at 1000. All later timestamps
 * exceed 1000 and must be kept. */
GST_START_TEST (times_do_not_go_back)
{
  MmtpStamps stamps;

  mmtp_stamps_clear (&stamps);
  check_come (&stamps, 0, 0, 0);
  check_come (&stamps, 1000, 0, 1000);
  check_come (&stamps, 990, 0, 1000);
  check_come (&stamps, 1040, 960, 1000);
  check_come (&stamps, 1080, 1100, 1100);
  check_come (&stamps, 1120, 1060, 1060);
  check_come (&stamps, 1160, 1140, 1140);
}

GST_END_TEST;

/* If the input comes from a file, a buffer may arrive long before the time in
 * its timestamp. If the timestamp is later than the arrival time of the
 * buffer, the timestamp must be kept. */
GST_START_TEST (one_that_is_ahead_is_kept)
{
  MmtpStamps stamps;

  mmtp_stamps_clear (&stamps);
  check_come (&stamps, 0, 3000, 3000);
  check_come (&stamps, 2000, 3000, 3000);
  check_come (&stamps, 3001, 3000, 3001);
}

GST_END_TEST;

/* If buffers repeat a timestamp, this timestamp is replaced after a time limit.
 * However, all parts of a frame have the same timestamp. If a path is slow, the
 * sender waits for the path before it accepts the next part of a frame. The
 * time of this waiting must not count towards the limit. */
GST_START_TEST (waiting_for_the_paths_does_not_count)
{
  MmtpStamps stamps;
  gint64 now;

  mmtp_stamps_clear (&stamps);
  mmtp_stamps_end_idle (&stamps, 0);
  for (now = 0; now < 5000; now += 100) {
    fail_unless_equals_int64 (mmtp_stamps_take (&stamps, now, 0, LIMIT), 0);
    mmtp_stamps_end_idle (&stamps, now);
  }
  mmtp_stamps_begin_idle (&stamps, now);
  check_come (&stamps, now + LIMIT, 0, 0);
  check_come (&stamps, now + LIMIT + 1, 0, now + LIMIT + 1);
}

GST_END_TEST;

/* MmtpStamps does not change a buffer without a timestamp. If successive
 * buffers have the same timestamp, MmtpStamps adds up the time for which the
 * caller waits for buffers. When the sum exceeds LIMIT (ms), the repeated
 * timestamp is replaced. The time for which the caller waits for a buffer
 * without a timestamp must be included in the sum. */
GST_START_TEST (buffers_without_a_timestamp_change_nothing)
{
  MmtpStamps stamps;

  mmtp_stamps_clear (&stamps);
  check_come (&stamps, 0, 0, 0);
  mmtp_stamps_end_idle (&stamps, 400);
  mmtp_stamps_begin_idle (&stamps, 400);
  check_come (&stamps, 500, 0, 0);
  mmtp_stamps_end_idle (&stamps, 501);
  mmtp_stamps_begin_idle (&stamps, 501);
  check_come (&stamps, 510, 0, 510);
}

GST_END_TEST;

GST_START_TEST (nothing_is_left_when_it_is_cleared)
{
  MmtpStamps stamps;

  mmtp_stamps_clear (&stamps);
  check_come (&stamps, 0, 0, 0);
  check_come (&stamps, 1000, 0, 1000);
  mmtp_stamps_clear (&stamps);
  check_come (&stamps, 2000, 0, 0);
  check_come (&stamps, 2100, 0, 0);
}

GST_END_TEST;

static Suite *
mmtpstamps_suite (void)
{
  Suite *suite = suite_create ("mmtpstamps");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, timestamps_that_move_are_kept);
  tcase_add_test (tcase, one_that_stands_still_is_replaced);
  tcase_add_test (tcase, times_do_not_go_back);
  tcase_add_test (tcase, one_that_is_ahead_is_kept);
  tcase_add_test (tcase, waiting_for_the_paths_does_not_count);
  tcase_add_test (tcase, buffers_without_a_timestamp_change_nothing);
  tcase_add_test (tcase, nothing_is_left_when_it_is_cleared);
  return suite;
}

GST_CHECK_MAIN (mmtpstamps);
