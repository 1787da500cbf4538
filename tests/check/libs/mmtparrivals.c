/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the measurements that the receiver of MMTP makes on a path: lost
 * messages, arrivals, and transit times. A transit time is the one-way delay of
 * a message, measured between two clocks that do not agree. Therefore only the
 * difference between two transit times has a meaning.
 */

#include <gst/check/gstcheck.h>

#include "mmtparrivals.h"

#define MS(n) ((n) * G_GUINT64_CONSTANT (1000000))
#define PERIOD MS (200)

/* --- losses --------------------------------------------------------------- */

#define TOLERANCE MS (10)

static void
lose_add (MmtpLosses * losses, guint ms, guint64 number)
{
  mmtp_losses_add (losses, MS (ms), number, TOLERANCE, MS (1000));
}

static void
check_ranges (MmtpLosses * losses, guint ms, const gchar * expected)
{
  MmtpRange ranges[MMTP_MAX_RANGES];
  guint n =
      mmtp_losses_report (losses, MS (ms), TRUE, ranges, MMTP_MAX_RANGES), i;
  GString *text = g_string_new (NULL);

  for (i = 0; i < n; i++)
    g_string_append_printf (text, "%s%u+%u", i ? " " : "", ranges[i].first,
        ranges[i].count);
  fail_unless_equals_string (text->str, expected);
  g_string_free (text, TRUE);
}

GST_START_TEST (three_messages_behind_it_or_10_ms_make_a_loss)
{
  MmtpLosses losses;

  mmtp_losses_init (&losses);
  lose_add (&losses, 0, 7);
  lose_add (&losses, 0, 10);
  lose_add (&losses, 0, 11);
  check_ranges (&losses, 0, "");
  lose_add (&losses, 0, 12);
  check_ranges (&losses, 0, "8+2");
  fail_unless_equals_uint64 (losses.lost, 2);

  lose_add (&losses, 20, 14);
  fail_unless_equals_uint64 (mmtp_losses_next_wakeup (&losses, TOLERANCE),
      MS (30));
  mmtp_losses_timeout (&losses, MS (30) - 1, TOLERANCE);
  fail_unless_equals_uint64 (losses.lost, 2);
  mmtp_losses_timeout (&losses, MS (30), TOLERANCE);
  fail_unless_equals_uint64 (losses.lost, 3);
  fail_unless (mmtp_losses_next_wakeup (&losses, TOLERANCE) == MMTP_NEVER);
  /* A range is written as the number of its first message and its length. The
   * messages 8, 9 and 13 are lost. Ranges that were reported less often come
   * first in a report. The range 8+2 was reported before, but 13+1 was not, so
   * the report must begin with 13+1. Before 1000 ms, each report must contain
   * both ranges. From 1000 ms on, retransmissions would be too late, so no loss
   * must be reported any more. */
  check_ranges (&losses, 30, "13+1 8+2");
  check_ranges (&losses, 999, "13+1 8+2");
  check_ranges (&losses, 1000, "");
  fail_unless_equals_uint64 (losses.lost, 3);
}

GST_END_TEST;

GST_START_TEST (reordered_message_is_not_lost)
{
  MmtpLosses losses;

  mmtp_losses_init (&losses);
  lose_add (&losses, 0, 0);
  lose_add (&losses, 1, 4);
  lose_add (&losses, 2, 2);
  lose_add (&losses, 3, 1);
  lose_add (&losses, 4, 3);
  fail_unless (mmtp_losses_next_wakeup (&losses, TOLERANCE) == MMTP_NEVER);
  fail_unless_equals_uint64 (losses.lost, 0);
  /* When message 10 arrives, the messages 5 to 9 are missing. After 10 ms they
   * are counted as lost. Message 7 then arrives late. It must not be reported
   * as lost any more, but the counter of lost messages must stay 5. */
  lose_add (&losses, 5, 10);
  mmtp_losses_timeout (&losses, MS (20), TOLERANCE);
  lose_add (&losses, 21, 7);
  check_ranges (&losses, 21, "5+2 8+2");
  fail_unless_equals_uint64 (losses.lost, 5);
}

GST_END_TEST;

GST_START_TEST (where_none_was_overtaken_a_gap_is_a_loss)
{
  MmtpLosses losses;
  guint i;

  mmtp_losses_init (&losses);
  for (i = 0; i < 100; i++)
    lose_add (&losses, i, i);
  lose_add (&losses, 100, 101);
  check_ranges (&losses, 100, "100+1");
  /* Message 100 arrives after message 101, so the path changes the order of
   * messages. From now on, the receiver must wait for TOLERANCE before it
   * reports a missing message as lost. */
  lose_add (&losses, 101, 100);
  check_ranges (&losses, 101, "");
  lose_add (&losses, 102, 103);
  check_ranges (&losses, 102, "");
  mmtp_losses_timeout (&losses, MS (112), TOLERANCE);
  check_ranges (&losses, 112, "102+1");
}

GST_END_TEST;

GST_START_TEST (report_covers_the_end_of_a_long_outage)
{
  MmtpLosses losses;
  MmtpRange ranges[MMTP_MAX_RANGES];
  guint64 last = G_GUINT64_CONSTANT (1) << 40;

  mmtp_losses_init (&losses);
  lose_add (&losses, 0, 0);
  lose_add (&losses, 0, last);
  mmtp_losses_timeout (&losses, MS (10), TOLERANCE);
  fail_unless_equals_uint64 (losses.lost, last - 1);
  fail_unless_equals_int (mmtp_losses_report (&losses, MS (10), TRUE, ranges,
          MMTP_MAX_RANGES), MMTP_MAX_RANGES);
  fail_unless_equals_int (ranges[0].count, 255);
  fail_unless_equals_int (ranges[0].first,
      (last - MMTP_LOSSES_KEPT * 255) & 0xffff);
}

GST_END_TEST;

/* --- a path --------------------------------------------------------------- */

#define START MS (1000)
#define TICKS(ms) ((ms) * 100)

static void
add (MmtpArrivals * arrivals, guint sent_ms, guint transit_ms, guint64 number)
{
  MmtpArrival arrival = {.number = number,.size = 1000,.is_load = TRUE,
    .sent = START + MS (sent_ms),.repair_until = G_MAXUINT64
  };

  mmtp_arrivals_add (arrivals, START + MS (sent_ms + transit_ms), &arrival);
}

static void
take (MmtpArrivals * arrivals, guint ms, MmtpRecord * record)
{
  mmtp_arrivals_timeout (arrivals, START + MS (ms));
  mmtp_arrivals_get_record (arrivals, START + MS (ms), TRUE, MMTP_MAX_RANGES,
      record);
}

GST_START_TEST (a_record_has_what_came)
{
  MmtpArrivals arrivals;
  MmtpRecord record;
  guint i;

  mmtp_arrivals_init (&arrivals, START, PERIOD);
  take (&arrivals, 0, &record);
  fail_unless_equals_int (record.flags, MMTP_RECORD_UNMEASURED);
  fail_unless_equals_int (record.received, 0);
  /* The sender sends a message every 10 ms, and every tenth message is lost.
   * One further message arrives too late to be used. A record is the part of a
   * report that describes one path. It must contain the numbers of received,
   * lost and late messages. */
  for (i = 0; i < 1000; i++)
    if (i % 10 != 5)
      add (&arrivals, 10 * i, i == 900 ? 8 : 3, i);
  mmtp_arrivals_add_late (&arrivals);
  take (&arrivals, 10000, &record);
  fail_unless_equals_int (record.flags, 0);
  fail_unless_equals_int (record.received, 900);
  fail_unless_equals_int (record.lost, 100);
  fail_unless_equals_int (record.late, 1);
  fail_unless_equals_int (record.bytes, 900000);
  fail_unless_equals_int (record.highest, 999);
  fail_unless_equals_int (record.arrival, TICKS (1000 + 9990 + 3));
  fail_unless_equals_int (record.transit, TICKS (3));
  fail_unless_equals_int (record.min_transit, TICKS (3));
  fail_unless_equals_int (record.high_transit, TICKS (8));
  fail_unless_equals_int (record.n_ranges, MMTP_MAX_RANGES);
}

GST_END_TEST;

GST_START_TEST (transits_are_those_since_the_last_record)
{
  MmtpArrivals arrivals;
  MmtpRecord record, again;

  mmtp_arrivals_init (&arrivals, START, PERIOD);
  add (&arrivals, 0, 20, 0);
  add (&arrivals, 10, 40, 1);
  add (&arrivals, 20, 35, 2);
  take (&arrivals, 60, &record);
  fail_unless_equals_int (record.min_transit, TICKS (20));
  fail_unless_equals_int (record.high_transit, TICKS (40));
  fail_unless_equals_int (record.transit, TICKS (35));
  /* The receiver writes a second record at the same time as the first, and no
   * message has arrived in between. The second record must contain the same
   * minimum and maximum transit time as the first.
   */
  take (&arrivals, 60, &again);
  fail_unless_equals_int (again.flags, 0);
  fail_unless_equals_int (again.min_transit, TICKS (20));
  fail_unless_equals_int (again.high_transit, TICKS (40));

  add (&arrivals, 50, 30, 3);
  take (&arrivals, 100, &record);
  fail_unless_equals_int (record.flags, 0);
  fail_unless_equals_int (record.min_transit, TICKS (30));
  fail_unless_equals_int (record.high_transit, TICKS (30));
  /* No message has arrived since the previous record. The new record must
   * repeat the values of the last message, and must have the flag
   * MMTP_RECORD_UNMEASURED. */
  take (&arrivals, 150, &record);
  fail_unless_equals_int (record.flags, MMTP_RECORD_UNMEASURED);
  fail_unless_equals_int (record.arrival, TICKS (1080));
  fail_unless_equals_int (record.transit, TICKS (30));
  fail_unless_equals_int (record.min_transit, TICKS (30));
  fail_unless_equals_int (record.high_transit, TICKS (30));
}

GST_END_TEST;

/* The receiver writes two records of its measurements at the same time, and a
 * message arrives between them. The second record must include this message. A
 * third record, which is written later, must not include it again. */
GST_START_TEST (a_moment_belongs_to_one_span)
{
  MmtpArrivals arrivals;
  MmtpRecord record;

  mmtp_arrivals_init (&arrivals, START, PERIOD);
  add (&arrivals, 0, 20, 0);
  take (&arrivals, 20, &record);
  add (&arrivals, 10, 10, 1);
  take (&arrivals, 20, &record);
  fail_unless_equals_int (record.received, 2);
  fail_unless_equals_int (record.min_transit, TICKS (10));
  fail_unless_equals_int (record.high_transit, TICKS (20));
  take (&arrivals, 30, &record);
  fail_unless_equals_int (record.flags, MMTP_RECORD_UNMEASURED);
}

GST_END_TEST;

GST_START_TEST (the_latest_message_has_the_highest_number)
{
  MmtpArrivals arrivals;
  MmtpRecord record;

  mmtp_arrivals_init (&arrivals, START, PERIOD);
  add (&arrivals, 0, 20, 7);
  add (&arrivals, 2, 19, 9);
  add (&arrivals, 1, 23, 8);
  take (&arrivals, 30, &record);
  fail_unless_equals_int (record.highest, 9);
  fail_unless_equals_int (record.lost, 0);
  fail_unless_equals_int (record.arrival, TICKS (1021));
  fail_unless_equals_int (record.transit, TICKS (19));
  fail_unless_equals_int (record.min_transit, TICKS (19));
  fail_unless_equals_int (record.high_transit, TICKS (23));
}

GST_END_TEST;

/* A record contains the arrival time of the latest message, as a number with 24
 * bits in units of 10 us. After 167.77 s, this number must wrap around to 0. */
GST_START_TEST (the_arrival_wraps)
{
  MmtpArrivals arrivals;
  MmtpRecord record;

  mmtp_arrivals_init (&arrivals, START, PERIOD);
  add (&arrivals, 167772, 0, 0);
  take (&arrivals, 170000, &record);
  fail_unless_equals_int (record.arrival,
      (TICKS (167772 + 1000)) - (1 << MMTP_TICKS_BITS));
}

GST_END_TEST;

/* The transit times alternate between 20 and 36 ms, so two consecutive messages
 * differ by 16 ms. The jitter must approach 16 ms. Each message must add 1/16
 * of the difference between 16 ms and the previous jitter (RFC 3550 section
 * 6.4.1). */
GST_START_TEST (the_jitter_is_that_of_rfc_3550)
{
  MmtpArrivals arrivals;
  MmtpRecord record;
  guint i;

  mmtp_arrivals_init (&arrivals, START, PERIOD);
  add (&arrivals, 0, 20, 0);
  add (&arrivals, 20, 36, 1);
  take (&arrivals, 60, &record);
  fail_unless_equals_int (record.jitter, 1000);
  add (&arrivals, 40, 20, 2);
  take (&arrivals, 60, &record);
  fail_unless_equals_int (record.jitter, 1937);
  for (i = 3; i < 200; i++)
    add (&arrivals, 20 * i, i % 2 ? 36 : 20, i);
  take (&arrivals, 4000, &record);
  fail_unless (record.jitter > 15900 && record.jitter <= 16000);
}

GST_END_TEST;

/* On a slow path, short messages such as keep-alives have a lower delay than
 * long ones. The difference between a keep-alive and a message with data must
 * not count as jitter. */
GST_START_TEST (keepalives_are_no_jitter)
{
  MmtpArrival keepalive = {.size = 55,.repair_until = G_MAXUINT64 };
  MmtpArrivals arrivals;
  MmtpRecord record;
  guint i;

  mmtp_arrivals_init (&arrivals, START, PERIOD);
  for (i = 0; i < 20; i++) {
    add (&arrivals, 20 * i, 20, 2 * i);
    keepalive.number = 2 * i + 1;
    keepalive.sent = START + MS (20 * i + 20);
    mmtp_arrivals_add (&arrivals, START + MS (20 * i + 25), &keepalive);
  }
  take (&arrivals, 500, &record);
  fail_unless_equals_int (record.received, 40);
  fail_unless_equals_int (record.jitter, 0);
  /* The minimum transit time must be that of the keep-alives, and the maximum
   * that of the messages with data. */
  fail_unless_equals_int (record.min_transit, TICKS (5));
  fail_unless_equals_int (record.high_transit, TICKS (20));
}

GST_END_TEST;

GST_START_TEST (the_rate_is_of_what_came_lately)
{
  MmtpArrivals arrivals;
  gint64 transit;
  guint i;

  mmtp_arrivals_init (&arrivals, START, PERIOD);
  fail_unless_equals_uint64 (mmtp_arrivals_get_rate (&arrivals, START), 0);
  fail_if (mmtp_arrivals_get_min_transit (&arrivals, START, &transit));
  for (i = 0; i < 300; i++) {
    add (&arrivals, 10 * i, i % 7 ? 9 : 5, i);
    if (i >= 20) {
      guint64 rate = mmtp_arrivals_get_rate (&arrivals,
          START + MS (10 * i + 9));

      fail_unless (rate >= 97000 && rate <= 103000,
          "%" G_GUINT64_FORMAT " at %u ms", rate, 10 * i);
    }
  }
  fail_unless (mmtp_arrivals_get_min_transit (&arrivals, START + MS (3000),
          &transit));
  fail_unless_equals_int64 (transit, MS (5));
  /* No message arrives any more. The measured rate of arrivals must fall: after
   * 0.4 s it must be below three quarters of the previous rate, and after 2 s
   * it must be 0. */
  fail_unless (mmtp_arrivals_get_rate (&arrivals, START + MS (3400)) < 75000);
  fail_unless_equals_uint64 (mmtp_arrivals_get_rate (&arrivals,
          START + MS (5000)), 0);
  fail_if (mmtp_arrivals_get_min_transit (&arrivals, START + MS (5000),
          &transit));
}

GST_END_TEST;

GST_START_TEST (silence_is_told_from_the_last_message)
{
  MmtpArrivals arrivals;

  mmtp_arrivals_init (&arrivals, START, PERIOD);
  /* A path counts as silent if no message has arrived on it for longer than
   * PERIOD. A path on which no message has ever arrived must not count as
   * silent. */
  fail_if (mmtp_arrivals_is_silent (&arrivals, START + MS (1000)));
  add (&arrivals, 0, 0, 0);
  fail_if (mmtp_arrivals_is_silent (&arrivals, START + PERIOD));
  fail_unless (mmtp_arrivals_is_silent (&arrivals, START + PERIOD + 1));
}

GST_END_TEST;

GST_START_TEST (another_path_has_other_transits)
{
  MmtpArrivals arrivals;
  MmtpRecord record;

  mmtp_arrivals_init (&arrivals, START, PERIOD);
  add (&arrivals, 0, 100, 0);
  add (&arrivals, 10, 100, 1);
  mmtp_arrivals_begin_path (&arrivals, START + MS (120));
  take (&arrivals, 120, &record);
  fail_unless_equals_int (record.flags, MMTP_RECORD_UNMEASURED);
  fail_unless_equals_int (record.received, 2);
  add (&arrivals, 130, 5, 2);
  take (&arrivals, 150, &record);
  fail_unless_equals_int (record.flags, 0);
  fail_unless_equals_int (record.received, 3);
  fail_unless_equals_int (record.min_transit, TICKS (5));
  fail_unless_equals_int (record.high_transit, TICKS (5));
  fail_unless_equals_int (record.jitter, 0);
}

GST_END_TEST;

static Suite *
mmtparrivals_suite (void)
{
  Suite *s = suite_create ("mmtparrivals");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, three_messages_behind_it_or_10_ms_make_a_loss);
  tcase_add_test (tc, reordered_message_is_not_lost);
  tcase_add_test (tc, where_none_was_overtaken_a_gap_is_a_loss);
  tcase_add_test (tc, report_covers_the_end_of_a_long_outage);
  tcase_add_test (tc, a_record_has_what_came);
  tcase_add_test (tc, transits_are_those_since_the_last_record);
  tcase_add_test (tc, a_moment_belongs_to_one_span);
  tcase_add_test (tc, the_latest_message_has_the_highest_number);
  tcase_add_test (tc, the_arrival_wraps);
  tcase_add_test (tc, the_jitter_is_that_of_rfc_3550);
  tcase_add_test (tc, keepalives_are_no_jitter);
  tcase_add_test (tc, the_rate_is_of_what_came_lately);
  tcase_add_test (tc, silence_is_told_from_the_last_message);
  tcase_add_test (tc, another_path_has_other_transits);
  return s;
}

GST_CHECK_MAIN (mmtparrivals);
