/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of MmtpFading, a sum that decays exponentially. The expected values
 * were computed by hand from the formula of exponential decay. */

#include <gst/check/gstcheck.h>

#include <math.h>

#include "mmtprecent.h"

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define assert_near(actual, expected) \
    fail_unless (fabs ((actual) - (expected)) < 1e-9 * ((expected) + 1), \
        "%g, not %g", (actual), (expected))

GST_START_TEST (nothing_is_nothing)
{
  MmtpFading fading = { 0 };

  assert_near (mmtp_fading_get (&fading, 0, SECOND), 0.0);
  assert_near (mmtp_fading_get (&fading, 1000 * SECOND, SECOND), 0.0);
}

GST_END_TEST;

GST_START_TEST (an_amount_fades)
{
  MmtpFading fading = { 0 };

  mmtp_fading_add (&fading, 5 * SECOND, 2 * SECOND, 100);
  assert_near (mmtp_fading_get (&fading, 5 * SECOND, 2 * SECOND), 100.0);
  assert_near (mmtp_fading_get (&fading, 7 * SECOND, 2 * SECOND), 100 / M_E);
  mmtp_fading_add (&fading, 7 * SECOND, 2 * SECOND, 10);
  assert_near (mmtp_fading_get (&fading, 9 * SECOND, 2 * SECOND),
      100 / M_E / M_E + 10 / M_E);
}

GST_END_TEST;

/* Adds 1 to a decaying sum (MmtpFading) every ms, with a time constant of 1 s.
 * The sum must converge to 1000, the amount that is added in 1 s. */
GST_START_TEST (a_steady_flow_is_that_of_a_period)
{
  MmtpFading fading = { 0 };
  guint i;

  for (i = 0; i <= 20000; i++)
    mmtp_fading_add (&fading, i * SECOND / 1000, SECOND, 1);
  fail_unless (fabs (mmtp_fading_get (&fading, 20 * SECOND, SECOND) - 1000)
      < 1);
}

GST_END_TEST;

GST_START_TEST (time_that_goes_back_counts_as_the_last)
{
  MmtpFading fading = { 0 };

  mmtp_fading_add (&fading, 5 * SECOND, SECOND, 1);
  mmtp_fading_add (&fading, 4 * SECOND, SECOND, 1);
  assert_near (mmtp_fading_get (&fading, 5 * SECOND, SECOND), 2.0);
  assert_near (mmtp_fading_get (&fading, 0, SECOND), 2.0);
}

GST_END_TEST;

static Suite *
mmtpfading_suite (void)
{
  Suite *suite = suite_create ("mmtpfading");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, nothing_is_nothing);
  tcase_add_test (tcase, an_amount_fades);
  tcase_add_test (tcase, a_steady_flow_is_that_of_a_period);
  tcase_add_test (tcase, time_that_goes_back_counts_as_the_last);
  return suite;
}

GST_CHECK_MAIN (mmtpfading);
