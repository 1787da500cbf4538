/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the base delay and the high delay of a path. The base delay is the
 * minimum delay of the last minute. The high delay is a delay that nearly all
 * messages stay below. The clocks of the two endpoints may differ, so only
 * differences between two delays have a meaning. */

#include <gst/check/gstcheck.h>

#include "mmtppathdelay.h"

#define MS G_GINT64_CONSTANT (1000000)
#define SECOND (1000 * MS)

/* Adds a report about `n` messages to `delay`. The minimum delay of these
 * messages is `min` ms, and nearly all of their delays are below `high` ms. */
static void
add (MmtpPathDelay * delay, guint64 now, gint min, gint high, guint n)
{
  mmtp_path_delay_add (delay, now, min * MS, min * MS, high * MS, n);
}

static void
check_base (const MmtpPathDelay * delay, gint ms)
{
  fail_unless_equals_int64 (mmtp_path_delay_get_base (delay), ms * MS);
}

static void
check_high (const MmtpPathDelay * delay, guint64 now, gint ms)
{
  fail_unless_equals_int64 (mmtp_path_delay_get_high (delay, now), ms * MS);
}

GST_START_TEST (nothing_is_known_at_first)
{
  MmtpPathDelay delay;

  mmtp_path_delay_clear (&delay);
  fail_if (delay.is_known);
  check_base (&delay, 0);
  check_high (&delay, SECOND, 0);
  add (&delay, SECOND, 20, 30, 2);
  fail_unless (delay.is_known);
  mmtp_path_delay_clear (&delay);
  fail_if (delay.is_known);
  check_base (&delay, 0);
}

GST_END_TEST;

GST_START_TEST (last_report_is_kept)
{
  MmtpPathDelay delay;

  mmtp_path_delay_clear (&delay);
  mmtp_path_delay_add (&delay, 0, 25 * MS, 20 * MS, 30 * MS, 3);
  mmtp_path_delay_add (&delay, 50 * MS, 45 * MS, 40 * MS, 60 * MS, 3);
  fail_unless_equals_int64 (delay.latest, 45 * MS);
  fail_unless_equals_int64 (delay.min, 40 * MS);
  fail_unless_equals_int64 (delay.high, 60 * MS);
  check_base (&delay, 20);
}

GST_END_TEST;

/* The report with the minimum delay of some messages was lost, so only the
 * delay of the newest message is known. This delay must become the base delay
 * if it is lower than the present base delay. */
GST_START_TEST (newest_delay_alone_may_become_the_base)
{
  MmtpPathDelay delay;

  mmtp_path_delay_clear (&delay);
  mmtp_path_delay_add_latest (&delay, 0, 30 * MS, 5);
  fail_unless (delay.is_known);
  check_base (&delay, 30);
  add (&delay, 50 * MS, 40, 60, 3);
  mmtp_path_delay_add_latest (&delay, 100 * MS, 20 * MS, 5);
  check_base (&delay, 20);
  mmtp_path_delay_add_latest (&delay, 150 * MS, 90 * MS, 5);
  check_base (&delay, 20);
  fail_unless_equals_int64 (mmtp_path_delay_get_standing (&delay), 30 * MS);
  check_high (&delay, 150 * MS, 60);
}

GST_END_TEST;

/* The standing delay must be the minimum of the delays in the last three
 * reports. If fewer reports have arrived, it must be the minimum of all their
 * delays. Before the first report it must be 0. */
GST_START_TEST (standing_delay_is_the_minimum_of_three_reports)
{
  static const gint min[] = { 30, 20, 90, 80, 70, 20 };
  static const gint standing[] = { 30, 20, 20, 20, 70, 20 };
  MmtpPathDelay delay;
  guint i;

  mmtp_path_delay_clear (&delay);
  fail_unless_equals_int64 (mmtp_path_delay_get_standing (&delay), 0);
  for (i = 0; i < G_N_ELEMENTS (min); i++) {
    add (&delay, i * 50 * MS, min[i], 100, 2);
    fail_unless_equals_int64 (mmtp_path_delay_get_standing (&delay),
        standing[i] * MS);
  }
}

GST_END_TEST;

/* A measured one-way delay is the difference of two times on different clocks.
 * It may be negative, because the offset between the two clocks is arbitrary.
 * Negative delays must be accepted. */
GST_START_TEST (delays_may_be_negative)
{
  MmtpPathDelay delay;

  mmtp_path_delay_clear (&delay);
  add (&delay, 0, -500, -400, 1);
  check_base (&delay, -500);
  check_high (&delay, 0, -400);
  add (&delay, 50 * MS, -600, -550, 1);
  check_base (&delay, -600);
  check_high (&delay, 50 * MS, -400);
}

GST_END_TEST;

GST_START_TEST (base_is_the_minimum_of_a_minute)
{
  MmtpPathDelay delay;
  guint i;

  mmtp_path_delay_clear (&delay);
  add (&delay, 0, 20, 20, 1);
  for (i = 1; i < 540; i++) {
    add (&delay, i * 100 * MS, 50, 60, 5);
    check_base (&delay, 20);
  }
  for (; i < 610; i++)
    add (&delay, i * 100 * MS, 50, 60, 5);
  check_base (&delay, 50);
}

GST_END_TEST;

/* The base delay of a path is the minimum one-way delay that was measured in
 * the last minute. Here no report arrives for ten minutes, and the next report
 * has a higher delay. The path must keep its last base delay. */
GST_START_TEST (base_outlasts_a_silence)
{
  MmtpPathDelay delay;

  mmtp_path_delay_clear (&delay);
  add (&delay, 0, 20, 20, 1);
  check_base (&delay, 20);
  add (&delay, 600 * SECOND, 80, 90, 1);
  check_base (&delay, 20);
}

GST_END_TEST;

/* From time to time, the sender drains a path: it lets the queue of the path
 * become empty, and measures the delay. The measured delay must become the base
 * delay, even if it is higher than the previous base delay. If the sender
 * measures a lower delay later, the lower delay must become the base delay
 * immediately. */
GST_START_TEST (base_after_a_drain_is_what_was_measured)
{
  MmtpPathDelay delay;
  guint i;

  mmtp_path_delay_clear (&delay);
  for (i = 0; i < 300; i++)
    add (&delay, i * 100 * MS, 20, 60, 5);
  mmtp_path_delay_rebase (&delay, 45 * MS);
  check_base (&delay, 45);
  add (&delay, 30 * SECOND, 70, 90, 5);
  check_base (&delay, 45);
  add (&delay, 31 * SECOND, 30, 90, 5);
  check_base (&delay, 30);
}

GST_END_TEST;

GST_START_TEST (high_delay_is_that_of_ten_seconds)
{
  MmtpPathDelay delay;
  guint i;

  mmtp_path_delay_clear (&delay);
  add (&delay, 0, 20, 500, 1);
  for (i = 1; i <= 10; i++) {
    add (&delay, i * SECOND, 20, 60, 1);
    check_high (&delay, i * SECOND, i < 10 ? 500 : 60);
  }
  /* If more than ten seconds pass without another report,
   * mmtp_path_delay_get_high () must still return the value that it returned
   * after the last report. */
  check_high (&delay, 100 * SECOND, 60);
}

GST_END_TEST;

/* The high delay is a delay that nearly all messages stay below. One of
 * 256 messages is much slower than all others. The delay of this message must
 * not count for the high delay. */
GST_START_TEST (one_message_of_many_may_be_slower)
{
  MmtpPathDelay delay;
  guint i;

  mmtp_path_delay_clear (&delay);
  add (&delay, 0, 20, 500, 1);
  for (i = 0; i < 51; i++)
    add (&delay, i * 50 * MS, 20, 60, 5);
  check_high (&delay, 3 * SECOND, 60);
  add (&delay, 3 * SECOND, 20, 400, 5);
  check_high (&delay, 3 * SECOND, 400);
  /* The slowest message is ignored only if there are at least 256 messages. The
   * test adds 255 messages, so the high delay must be the delay of the slowest
   * message. */
  mmtp_path_delay_clear (&delay);
  add (&delay, 0, 20, 500, 1);
  add (&delay, 50 * MS, 20, 60, 254);
  check_high (&delay, 50 * MS, 500);
}

GST_END_TEST;

static Suite *
mmtppathdelay_suite (void)
{
  Suite *s = suite_create ("mmtppathdelay");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, nothing_is_known_at_first);
  tcase_add_test (tc, last_report_is_kept);
  tcase_add_test (tc, newest_delay_alone_may_become_the_base);
  tcase_add_test (tc, standing_delay_is_the_minimum_of_three_reports);
  tcase_add_test (tc, delays_may_be_negative);
  tcase_add_test (tc, base_is_the_minimum_of_a_minute);
  tcase_add_test (tc, base_outlasts_a_silence);
  tcase_add_test (tc, base_after_a_drain_is_what_was_measured);
  tcase_add_test (tc, high_delay_is_that_of_ten_seconds);
  tcase_add_test (tc, one_message_of_many_may_be_slower);
  return s;
}

GST_CHECK_MAIN (mmtppathdelay);
