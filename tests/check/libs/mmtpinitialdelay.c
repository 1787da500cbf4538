/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the initial delay (D0) at the receiver. The test passes the time to
 * each call. */

#include <gst/check/gstcheck.h>

#include "mmtpinitialdelay.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define START (10000 * MS)
#define US_PER_MS 1000

GST_START_TEST (delay_stays_within_its_limits)
{
  static const struct
  {
    guint min, max, wanted, delay;      /* ms */
  } cases[] = {
    {100, 1000, 500, 500},
    {100, 1000, 100, 100},
    {100, 1000, 99, 100},
    {100, 1000, 0, 100},
    {100, 1000, 1000, 1000},
    {100, 1000, 1001, 1000},
    {0, 1000, 0, 0},
    /* If the limits contradict each other, the maximum counts. */
    {2000, 1000, 500, 1000},
  };
  MmtpInitialDelay self;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    mmtp_initial_delay_init (&self, cases[i].min * MS, cases[i].max * MS,
        cases[i].wanted * US_PER_MS);
    fail_unless_equals_uint64 (self.delay, cases[i].delay * MS);
    fail_unless_equals_uint64 (self.wanted, cases[i].wanted * MS);
  }
  /* The longest delay that a message can contain. */
  mmtp_initial_delay_init (&self, 0, G_MAXUINT64, G_MAXUINT32);
  fail_unless_equals_uint64 (self.delay, G_MAXUINT32 * (MS / 1000));
}

GST_END_TEST;

GST_START_TEST (request_returns_the_difference)
{
  MmtpInitialDelay self;

  mmtp_initial_delay_init (&self, 100 * MS, 1000 * MS, 500 * US_PER_MS);
  fail_unless_equals_int64 (mmtp_initial_delay_request (&self, START,
          500 * US_PER_MS), 0);
  fail_unless_equals_int64 (mmtp_initial_delay_request (&self, START,
          700 * US_PER_MS), 200 * MS);
  fail_unless_equals_int64 (mmtp_initial_delay_request (&self, START,
          50 * US_PER_MS), -600 * (gint64) MS);
  fail_unless_equals_uint64 (self.delay, 100 * MS);
  fail_unless_equals_uint64 (self.wanted, 50 * MS);
}

GST_END_TEST;

/* The sender requests a longer D0 every 100 ms. Only four changes are accepted
 * in 1 s. The requests that are ignored must not begin a new second. */
GST_START_TEST (delay_changes_four_times_a_second)
{
  MmtpInitialDelay self;
  guint i;

  mmtp_initial_delay_init (&self, 0, 10000 * MS, 500 * US_PER_MS);
  for (i = 0; i < 24; i++) {
    const guint wanted = 501 + i;
    const gint64 change = mmtp_initial_delay_request (&self,
        START + i * 100 * MS, wanted * US_PER_MS);

    fail_unless_equals_uint64 (self.wanted, wanted * MS);
    if (i % 10 >= 4) {
      fail_unless_equals_int64 (change, 0);
      continue;
    }
    fail_unless_equals_uint64 (self.delay, wanted * MS);
    /* The first change of a second makes up for the six ignored ones. */
    fail_unless_equals_int64 (change, i == 10 || i == 20 ? 7 * MS : MS);
  }
}

GST_END_TEST;

/* A request for the D0 that is used is not a change, and does not count. */
GST_START_TEST (same_delay_is_no_change)
{
  MmtpInitialDelay self;
  guint i;

  mmtp_initial_delay_init (&self, 0, 10000 * MS, 500 * US_PER_MS);
  for (i = 0; i < 100; i++)
    fail_unless_equals_int64 (mmtp_initial_delay_request (&self, START,
            500 * US_PER_MS), 0);
  fail_unless_equals_int64 (mmtp_initial_delay_request (&self, START,
          501 * US_PER_MS), MS);
}

GST_END_TEST;

static Suite *
mmtpinitialdelay_suite (void)
{
  Suite *s = suite_create ("mmtpinitialdelay");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, delay_stays_within_its_limits);
  tcase_add_test (tc, request_returns_the_difference);
  tcase_add_test (tc, delay_changes_four_times_a_second);
  tcase_add_test (tc, same_delay_is_no_change);
  return s;
}

GST_CHECK_MAIN (mmtpinitialdelay);
