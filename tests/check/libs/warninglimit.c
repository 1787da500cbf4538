/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of GstWarningLimit, which allows at most one warning in 10 s. */

#include <gst/check/gstcheck.h>

#include "gstwarninglimit.h"

/* Pretends that the last warning was `age` seconds earlier than it was. */
static void
age_by (GstWarningLimit * limit, gint64 age)
{
  limit->warned_at -= age * G_TIME_SPAN_SECOND;
}

GST_START_TEST (the_first_warning_is_allowed)
{
  GstWarningLimit limit = { 0 };

  fail_unless (gst_warning_limit_allow (&limit));
}

GST_END_TEST;

GST_START_TEST (a_second_warning_is_allowed_after_10_s)
{
  GstWarningLimit limit = { 0 };

  gst_warning_limit_allow (&limit);
  fail_if (gst_warning_limit_allow (&limit));
  age_by (&limit, 5);
  fail_if (gst_warning_limit_allow (&limit));
  age_by (&limit, 5);
  fail_unless (gst_warning_limit_allow (&limit));
  fail_if (gst_warning_limit_allow (&limit));
}

GST_END_TEST;

GST_START_TEST (a_reset_allows_the_next_warning)
{
  GstWarningLimit limit = { 0 };

  gst_warning_limit_allow (&limit);
  gst_warning_limit_reset (&limit);
  fail_unless (gst_warning_limit_allow (&limit));
}

GST_END_TEST;

static Suite *
warning_limit_suite (void)
{
  Suite *suite = suite_create ("warninglimit");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, the_first_warning_is_allowed);
  tcase_add_test (tc, a_second_warning_is_allowed_after_10_s);
  tcase_add_test (tc, a_reset_allows_the_next_warning);
  return suite;
}

GST_CHECK_MAIN (warning_limit);
