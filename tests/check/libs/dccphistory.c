/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of DccpHistory, which stores one bit for each of the latest sequence
 * numbers, for example whether the packet has arrived. Functions for a range of
 * numbers must give the same result as functions for single numbers. The work
 * that one packet causes must have an upper limit.
 */

#include <gst/check/gstcheck.h>

#include "dccphistory.h"

/* Maximum number of steps of one operation. A history is a ring of 64-bit
 * words, and each step processes one word. An operation on the whole ring needs
 * one step more than there are words if it begins in the middle of a word. */
#define MAX_STEPS (DCCP_HISTORY_SIZE / 64 + 1)

GST_START_TEST (the_work_of_a_jump_is_bounded)
{
  DccpHistory history;

  dccp_history_clear (&history);
  dccp_history_set (&history, 1);
  dccp_history_set (&history, DCCP_HISTORY_SIZE);
  fail_unless (history.steps <= MAX_STEPS);
  fail_unless (dccp_history_get (&history, 1));
  history.steps = 0;
  fail_unless_equals_int64 (dccp_history_count (&history, 0, 1 << 30), 2);
  fail_unless (history.steps <= MAX_STEPS);
}

GST_END_TEST;

GST_START_TEST (runs_are_the_same_as_single_numbers)
{
  GRand *rand = g_rand_new_with_seed (17);
  DccpHistory history;
  guint64 sequence = DCCP_SEQUENCE_MASK - 50000, from;
  gint64 i, n, count;
  guint round;

  dccp_history_clear (&history);
  for (round = 0; round < 2000; round++) {
    n = g_rand_int_range (rand, 1, 300);
    sequence = dccp_sequence_add (sequence, n);
    dccp_history_set (&history, sequence);
    for (i = 1; i < n; i++)
      fail_if (dccp_history_get (&history, dccp_sequence_add (sequence, -i)));
    from = dccp_sequence_add (sequence, -g_rand_int_range (rand, -100, 20000));
    n = g_rand_int_range (rand, 0, 1000);
    for (i = 0, count = 0; i < n; i++)
      count += dccp_history_get (&history, dccp_sequence_add (from, i));
    fail_unless_equals_int64 (dccp_history_count (&history, from, n), count);
  }
  g_rand_free (rand);
}

GST_END_TEST;

/* Tests two functions that process a range of sequence numbers. The first
 * function checks whether two histories have a common bit in this range. The
 * second function copies the bits of the range from one history to another. For
 * random ranges, each function must give the same result as a loop that
 * processes the sequence numbers of the range one by one. */
GST_START_TEST (two_histories_are_compared_as_single_numbers)
{
  GRand *rand = g_rand_new_with_seed (17);
  DccpHistory from, to, before;
  guint64 sequence = DCCP_SEQUENCE_MASK - 50000, start, number;
  guint64 lowest, highest, expected_lowest, expected_highest;
  gint64 i, n, count;
  gboolean any;
  guint round;

  dccp_history_clear (&from);
  dccp_history_clear (&to);
  for (round = 0; round < 500; round++) {
    for (i = 0; i < 20; i++) {
      sequence = dccp_sequence_add (sequence, g_rand_int_range (rand, 1, 20));
      dccp_history_set (&from, sequence);
      if (i < 15 && g_rand_boolean (rand))
        dccp_history_set (&to, sequence);
    }
    n = g_rand_int_range (rand, 0, 500);
    start = dccp_sequence_add (sequence, -g_rand_int_range (rand, -100, 20000));
    any = FALSE;
    for (i = 0; i < n; i++) {
      number = dccp_sequence_add (start, i);
      any |= dccp_history_get (&from, number) && dccp_history_get (&to, number);
    }
    fail_unless_equals_int (dccp_history_have_common (&from, &to, start, n),
        any);
    before = to;
    count = expected_lowest = expected_highest = 0;
    for (i = n - 1; i >= 0; i--) {
      number = dccp_sequence_add (start, i);
      if (!dccp_history_get (&from, number)
          || dccp_history_get (&before, number)
          || !dccp_history_set (&before, number))
        continue;
      expected_lowest = number;
      if (count++ == 0)
        expected_highest = number;
    }
    lowest = highest = 0;
    fail_unless_equals_int64 (dccp_history_add_run (&to, &from, start, n,
            &lowest, &highest), count);
    fail_unless_equals_uint64 (lowest, expected_lowest);
    fail_unless_equals_uint64 (highest, expected_highest);
    for (i = 0; i < n; i++) {
      number = dccp_sequence_add (start, i);
      fail_unless_equals_int (dccp_history_get (&to, number),
          dccp_history_get (&before, number));
    }
  }
  g_rand_free (rand);
}

GST_END_TEST;

static Suite *
dccphistory_suite (void)
{
  Suite *s = suite_create ("dccphistory");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, the_work_of_a_jump_is_bounded);
  tcase_add_test (tc, runs_are_the_same_as_single_numbers);
  tcase_add_test (tc, two_histories_are_compared_as_single_numbers);
  return s;
}

GST_CHECK_MAIN (dccphistory);
