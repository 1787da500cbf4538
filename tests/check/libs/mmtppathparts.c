/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of three small modules that are parts of a path: the bottleneck, the
 * feedback time, and the correction of the expected delay for late packets. The
 * expected values were computed by hand. */

#include <gst/check/gstcheck.h>

#include "mmtpbottleneck.h"
#include "mmtpfeedbacktime.h"
#include "mmtplateness.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define START (1000 * MS)
#define SIZE 1250

/* --- bottleneck ----------------------------------------------------------- */

GST_START_TEST (byte_time_is_time_by_size)
{
  MmtpBottleneck bottleneck = { 0 };

  mmtp_bottleneck_clear (&bottleneck);
  fail_if (mmtp_bottleneck_is_measured (&bottleneck));
  fail_unless (mmtp_bottleneck_get_byte_time (&bottleneck) == 0);
  mmtp_bottleneck_measure (&bottleneck, START, 10 * MS, SIZE);
  fail_unless (mmtp_bottleneck_is_measured (&bottleneck));
  fail_unless (mmtp_bottleneck_get_byte_time (&bottleneck) == 8000);
  /* If the base delay is 1 ms longer, the packet took only 9 ms. */
  mmtp_bottleneck_set_base (&bottleneck, MS, SIZE);
  fail_unless (mmtp_bottleneck_get_byte_time (&bottleneck) == 7200);
}

GST_END_TEST;

GST_START_TEST (bottleneck_transmits_one_message_after_the_other)
{
  MmtpBottleneck bottleneck = { 0 };

  mmtp_bottleneck_sent (&bottleneck, START, 10 * MS);
  fail_unless_equals_uint64 (bottleneck.busy_until, START + 10 * MS);
  mmtp_bottleneck_sent (&bottleneck, START + 4 * MS, 10 * MS);
  fail_unless_equals_uint64 (bottleneck.busy_until, START + 20 * MS);
  fail_unless_equals_uint64 (mmtp_bottleneck_get_busy_time (&bottleneck,
          START + 15 * MS), 5 * MS);
  fail_unless_equals_uint64 (mmtp_bottleneck_get_busy_time (&bottleneck,
          START + 21 * MS), 0);
  mmtp_bottleneck_sent (&bottleneck, START + 30 * MS, 10 * MS);
  fail_unless_equals_uint64 (bottleneck.busy_until, START + 40 * MS);
}

GST_END_TEST;

/* Sends `n` messages, 2 ms apart, and corrects the prediction with a report
 * about the first one. The transmission of a message takes 1 ms. The first
 * message waited for 30 ms. */
static guint
correct (MmtpBottleneck * bottleneck, guint n)
{
  MmtpSentLog log = { 0 };
  guint i, visited;

  for (i = 0; i < n; i++) {
    mmtp_sent_log_begin (&log, START + 2 * i * MS, SIZE);
    mmtp_sent_log_commit (&log);
  }
  log.unreported = 1;
  log.in_flight -= SIZE;
  visited = mmtp_bottleneck_correct (bottleneck, &log,
      mmtp_sent_log_get (&log, 0), 30 * MS, 1.0 * MS / SIZE);
  mmtp_sent_log_clear (&log);
  return visited;
}

GST_START_TEST (report_corrects_the_prediction)
{
  MmtpBottleneck bottleneck = { 0 };

  /* The queue never becomes empty: 30 ms and ten messages of 1 ms. */
  fail_unless_equals_int (correct (&bottleneck, 11), 10);
  fail_unless_equals_uint64 (bottleneck.busy_until, START + 40 * MS);
  /* The queue is empty when message 31 is sent, at 62 ms. The bottleneck then
   * waits for each message. The last one, message 100, is sent at 200 ms. */
  fail_unless_equals_int (correct (&bottleneck, 101), 100);
  fail_unless_equals_uint64 (bottleneck.busy_until, START + 201 * MS);
  /* With 257 messages in flight, only the last one is visited. The others have
   * 256 * 1 ms, and the last one is sent later, at 514 ms. */
  fail_unless_equals_int (correct (&bottleneck, 258), 1);
  fail_unless_equals_uint64 (bottleneck.busy_until, START + 515 * MS);
}

GST_END_TEST;

/* --- feedback time -------------------------------------------------------- */

GST_START_TEST (feedback_time_has_a_margin)
{
  MmtpFeedbackTime feedback = { 0 };

  fail_unless_equals_uint64 (mmtp_feedback_time_get (&feedback, 100 * MS),
      100 * MS);
  /* The delay of the first report is not known yet, so it is ignored. */
  mmtp_feedback_time_add (&feedback, 20 * MS, 500 * MS);
  fail_unless_equals_uint64 (mmtp_feedback_time_get (&feedback, 100 * MS),
      20 * MS);
  /* 22 ms and a delay of 6 ms are 8 ms longer. The mean grows by an eighth of
   * this to 21 ms, and so does the deviation, to 1 ms. It counts four times. */
  mmtp_feedback_time_add (&feedback, 22 * MS, 6 * MS);
  fail_unless_equals_uint64 (mmtp_feedback_time_get (&feedback, 100 * MS),
      25 * MS);
  fail_unless_equals_uint64 (mmtp_feedback_time_get (&feedback, 22 * MS),
      22 * MS);
}

GST_END_TEST;

/* --- late packets --------------------------------------------------------- */

static void
report_late (MmtpLateness * lateness, guint64 since, guint late, guint marginal)
{
  lateness->marginal = marginal;
  mmtp_lateness_follow (lateness, since, late, 10, 600 * MS);
  fail_unless_equals_int (lateness->marginal, 0);
}

GST_START_TEST (late_packets_raise_the_expected_delay)
{
  MmtpLateness lateness = { 0 };
  guint i;

  /* 60 % of the packets are late. In 100 ms, the mean follows by a fifth. */
  report_late (&lateness, 100 * MS, 6, 10);
  fail_unless (ABS (lateness.share - 0.12) < 1e-9);
  fail_unless (ABS (lateness.time - 0.02 * 100 * MS / 2) < 1);
  /* A report counts for at most 100 ms: 0.12 + 0.48 / 5 = 0.216. */
  report_late (&lateness, 1000 * MS, 6, 10);
  fail_unless (ABS (lateness.share - 0.216) < 1e-9);
  fail_unless (ABS (lateness.time - (0.02 + 0.116) * 100 * MS / 2) < 1);
  /* The correction is at most a third of the room. */
  for (i = 0; i < 100; i++)
    report_late (&lateness, 100 * MS, 10, 10);
  fail_unless (lateness.time == 200 * MS);
  /* It falls by 1 ms in 100 ms as soon as hardly any packet is late. */
  for (i = 0; lateness.share >= 0.02; i++)
    report_late (&lateness, 100 * MS, 0, 10);
  fail_unless (ABS (lateness.time - 199. * MS) < 1);
}

GST_END_TEST;

GST_START_TEST (packets_that_were_sent_early_do_not_count_as_late)
{
  MmtpLateness lateness = { 0 };

  report_late (&lateness, 100 * MS, 10, 0);
  fail_unless (lateness.share == 0);
  /* Only 2 of the 10 late packets were sent shortly before their deadline. */
  report_late (&lateness, 100 * MS, 10, 2);
  fail_unless (ABS (lateness.share - 0.04) < 1e-9);
  fail_unless (lateness.time == 0);
}

GST_END_TEST;

static Suite *
mmtppathparts_suite (void)
{
  Suite *s = suite_create ("mmtppathparts");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, byte_time_is_time_by_size);
  tcase_add_test (tc, bottleneck_transmits_one_message_after_the_other);
  tcase_add_test (tc, report_corrects_the_prediction);
  tcase_add_test (tc, feedback_time_has_a_margin);
  tcase_add_test (tc, late_packets_raise_the_expected_delay);
  tcase_add_test (tc, packets_that_were_sent_early_do_not_count_as_late);
  return s;
}

GST_CHECK_MAIN (mmtppathparts);
