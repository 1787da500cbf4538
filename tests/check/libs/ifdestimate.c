/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of IfdEstimate, which estimates the rate of a TCP connection from the
 * bytes that the receiver has acknowledged. The test simulates acknowledgements
 * in virtual time and passes a sample to the estimate every 40 ms. Rates are in
 * kbit/s and times in ms.
 */

#include <gst/check/gstcheck.h>

#include "ifdestimate.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define PERIOD 40

static IfdEstimate estimate;
static guint64 now, delivered;

static void
begin (void)
{
  ifd_estimate_init (&estimate);
  now = 1000;
  delivered = 0;
}

static void
run (guint64 rate, guint64 duration, gboolean is_full)
{
  guint64 end = now + duration;

  for (; now < end; now += PERIOD) {
    ifd_estimate_input (&estimate, now * MS, delivered, is_full);
    delivered += rate * PERIOD / 8;
  }
}

static void
assert_estimate (guint64 expected, gboolean is_expected_limited)
{
  gboolean is_app_limited;
  guint64 rate = ifd_estimate_get (&estimate, &is_app_limited);

  fail_unless (rate >= 990 * expected && rate <= 1010 * expected,
      "%" G_GUINT64_FORMAT " bit/s", rate);
  fail_unless_equals_int (is_app_limited, is_expected_limited);
}

GST_START_TEST (nothing_is_known_at_first)
{
  begin ();
  assert_estimate (0, TRUE);
  run (1000, 200, TRUE);
  assert_estimate (0, TRUE);
  run (1000, 80, TRUE);
  assert_estimate (1000, FALSE);
}

GST_END_TEST;

GST_START_TEST (full_connection_carries_what_is_delivered)
{
  begin ();
  run (4000, 2000, TRUE);
  assert_estimate (4000, FALSE);
  run (1500, 440, TRUE);
  assert_estimate (1500, FALSE);
  run (4000, 440, TRUE);
  assert_estimate (4000, FALSE);
}

GST_END_TEST;

GST_START_TEST (slow_source_gives_a_lower_bound)
{
  begin ();
  run (1000, 2000, FALSE);
  assert_estimate (1000, TRUE);
  run (3000, 1000, FALSE);
  assert_estimate (3000, TRUE);
  run (500, 5000, FALSE);
  assert_estimate (3000, TRUE);
}

GST_END_TEST;

GST_START_TEST (rate_of_a_full_connection_holds_while_the_source_is_slow)
{
  begin ();
  run (2000, 1000, TRUE);
  run (200, 3000, FALSE);
  assert_estimate (2000, TRUE);
  run (1000, 1000, TRUE);
  assert_estimate (1000, FALSE);
}

GST_END_TEST;

GST_START_TEST (stalled_connection_carries_next_to_nothing)
{
  gboolean is_app_limited;

  begin ();
  run (2000, 1000, TRUE);
  run (0, 480, TRUE);
  fail_unless (ifd_estimate_get (&estimate, &is_app_limited) == 1);
  fail_if (is_app_limited);
}

GST_END_TEST;

GST_START_TEST (single_large_frame_does_not_make_it_full)
{
  begin ();
  run (1000, 1000, FALSE);
  run (1000, 80, TRUE);
  run (1000, 80, FALSE);
  assert_estimate (1000, TRUE);
}

GST_END_TEST;

GST_START_TEST (samples_that_come_too_often_change_nothing)
{
  guint64 time;

  begin ();
  for (time = 0; time < 2000; time++)
    ifd_estimate_input (&estimate, (1000 + time) * MS, time * 250, TRUE);
  assert_estimate (2000, FALSE);
}

GST_END_TEST;

GST_START_TEST (sample_is_due_after_ten_milliseconds)
{
  begin ();
  fail_unless (ifd_estimate_is_due (&estimate, 0));
  ifd_estimate_input (&estimate, 100 * MS, 0, FALSE);
  fail_if (ifd_estimate_is_due (&estimate, 100 * MS));
  fail_if (ifd_estimate_is_due (&estimate, 110 * MS - 1));
  fail_unless (ifd_estimate_is_due (&estimate, 110 * MS));
  /* A sample that is not due is not stored, so it does not delay the next. */
  ifd_estimate_input (&estimate, 109 * MS, 1000, FALSE);
  fail_unless (ifd_estimate_is_due (&estimate, 110 * MS));
}

GST_END_TEST;

static Suite *
ifd_estimate_suite (void)
{
  Suite *s = suite_create ("ifdestimate");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, nothing_is_known_at_first);
  tcase_add_test (tc, full_connection_carries_what_is_delivered);
  tcase_add_test (tc, slow_source_gives_a_lower_bound);
  tcase_add_test (tc, rate_of_a_full_connection_holds_while_the_source_is_slow);
  tcase_add_test (tc, stalled_connection_carries_next_to_nothing);
  tcase_add_test (tc, single_large_frame_does_not_make_it_full);
  tcase_add_test (tc, samples_that_come_too_often_change_nothing);
  tcase_add_test (tc, sample_is_due_after_ten_milliseconds);
  return s;
}

GST_CHECK_MAIN (ifd_estimate);
