/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the histogram, the jitter and the throughput window. The expected
 * values were worked out by hand.
 */

#include <gst/check/gstcheck.h>

#include <math.h>

#include "statistics.h"

static StatisticsHistogram *
histogram_of (const gint64 * values, guint n)
{
  StatisticsHistogram *histogram = statistics_histogram_new ();
  guint i;

  for (i = 0; i < n; i++)
    statistics_histogram_add (histogram, values[i]);
  return histogram;
}

static gint64
percentile (const StatisticsHistogram * histogram, gdouble percent)
{
  return statistics_histogram_get_percentile (histogram, percent);
}

static void
assert_within (gdouble got, gdouble want, gdouble part)
{
  fail_unless (fabs (got - want) <= fabs (want) * part,
      "got %.1f, want %.1f within %g", got, want, part);
}

GST_START_TEST (empty_histogram_is_all_zero)
{
  StatisticsHistogram *histogram = statistics_histogram_new ();

  fail_unless_equals_uint64 (statistics_histogram_get_count (histogram), 0);
  fail_unless_equals_int64 (percentile (histogram, 0), 0);
  fail_unless_equals_int64 (percentile (histogram, 50), 0);
  fail_unless_equals_int64 (percentile (histogram, 100), 0);
  fail_unless_equals_float (statistics_histogram_get_mean (histogram), 0);

  statistics_histogram_free (histogram);
}

GST_END_TEST;

GST_START_TEST (one_value_is_every_percentile)
{
  const gint64 value = 123456789;
  StatisticsHistogram *histogram = histogram_of (&value, 1);

  fail_unless_equals_int64 (percentile (histogram, 0), value);
  fail_unless_equals_int64 (percentile (histogram, 50), value);
  fail_unless_equals_int64 (percentile (histogram, 99), value);
  fail_unless_equals_int64 (percentile (histogram, 100), value);
  fail_unless_equals_float (statistics_histogram_get_mean (histogram), value);

  statistics_histogram_free (histogram);
}

GST_END_TEST;

/* The values are 1 to 100. By the nearest-rank method the p-th percentile is p.
 */
GST_START_TEST (percentiles_of_small_values_are_exact)
{
  StatisticsHistogram *histogram = statistics_histogram_new ();
  gint64 i;

  /* The values are added in mixed order, because the order must not matter. */
  for (i = 0; i < 100; i++)
    statistics_histogram_add (histogram, i * 37 % 100 + 1);

  fail_unless_equals_uint64 (statistics_histogram_get_count (histogram), 100);
  for (i = 1; i <= 100; i++)
    fail_unless_equals_int64 (percentile (histogram, i), i);
  fail_unless_equals_int64 (percentile (histogram, 0), 1);
  fail_unless_equals_int64 (percentile (histogram, 0.5), 1);
  fail_unless_equals_int64 (percentile (histogram, 50.5), 51);
  fail_unless_equals_float (statistics_histogram_get_mean (histogram), 50.5);

  statistics_histogram_free (histogram);
}

GST_END_TEST;

GST_START_TEST (rank_is_not_moved_by_binary_fractions)
{
  StatisticsHistogram *histogram = statistics_histogram_new ();
  guint i;

  /* There are 999 values of 0 and one value of 1. The 99.9th percentile of 1000
   * values is the value with the rank 999. This value is 0. */
  for (i = 0; i < 999; i++)
    statistics_histogram_add (histogram, 0);
  statistics_histogram_add (histogram, 1);

  fail_unless_equals_int64 (percentile (histogram, 99.9), 0);
  fail_unless_equals_int64 (percentile (histogram, 99.91), 1);

  statistics_histogram_free (histogram);
}

GST_END_TEST;

GST_START_TEST (negative_values_sort_below_positive_ones)
{
  const gint64 values[] = { 40, -3, 0, -100, 7, -1, 12, -50, 3 };
  StatisticsHistogram *histogram = histogram_of (values, 9);

  /* -100 -50 -3 -1 0 3 7 12 40 */
  fail_unless_equals_int64 (percentile (histogram, 0), -100);
  fail_unless_equals_int64 (percentile (histogram, 100 * 2 / 9.0), -50);
  fail_unless_equals_int64 (percentile (histogram, 100 * 4 / 9.0), -1);
  fail_unless_equals_int64 (percentile (histogram, 50), 0);
  fail_unless_equals_int64 (percentile (histogram, 100 * 8 / 9.0), 12);
  fail_unless_equals_int64 (percentile (histogram, 100), 40);

  statistics_histogram_free (histogram);
}

GST_END_TEST;

/* Tests 16 positive and 16 negative values per power of two. The histogram must
 * return each value with an error of at most 1/128 of the value. */
GST_START_TEST (every_value_is_right_to_1_part_in_128)
{
  guint e, i;

  for (e = 0; e < 63; e++) {
    for (i = 0; i < 16; i++) {
      gint64 base = G_GINT64_CONSTANT (1) << e;
      gint64 value = base - 1 + (i * (base >> 4));
      gint64 values[3];
      StatisticsHistogram *histogram;

      /* The histogram knows the minimum and the maximum of all values that it
       * has received, and limits each percentile to this range. If this range
       * were small, the limit could hide an error of the percentile. This test
       * checks the median, which is `value`. The minimum and the maximum are
       * far from it, so the limit has no effect. */
      values[0] = G_MININT64;
      values[1] = value;
      values[2] = G_MAXINT64;
      histogram = histogram_of (values, 3);
      assert_within (percentile (histogram, 50), value, 1 / 128.0);
      statistics_histogram_free (histogram);

      values[1] = -value;
      histogram = histogram_of (values, 3);
      assert_within (percentile (histogram, 50), -value, 1 / 128.0);
      statistics_histogram_free (histogram);
    }
  }
}

GST_END_TEST;

GST_START_TEST (extremes_of_gint64_survive)
{
  const gint64 values[] = { G_MAXINT64, G_MININT64 };
  StatisticsHistogram *histogram = histogram_of (values, 2);

  fail_unless_equals_int64 (percentile (histogram, 0), G_MININT64);
  fail_unless_equals_int64 (percentile (histogram, 100), G_MAXINT64);
  assert_within (percentile (histogram, 50), (gdouble) G_MININT64, 1 / 128.0);
  fail_unless (fabs (statistics_histogram_get_mean (histogram)) <= 1024);

  statistics_histogram_free (histogram);
}

GST_END_TEST;

GST_START_TEST (odd_percents_are_clamped)
{
  const gint64 values[] = { -5, 5 };
  StatisticsHistogram *histogram = histogram_of (values, 2);

  fail_unless_equals_int64 (percentile (histogram, -1), -5);
  fail_unless_equals_int64 (percentile (histogram, NAN), -5);
  fail_unless_equals_int64 (percentile (histogram, 1e9), 5);

  statistics_histogram_free (histogram);
}

GST_END_TEST;

/* RFC 3550: J += (|D| - J) / 16. Transits 0, 16, 16, 0: |D| is 16, 0, 16. */
GST_START_TEST (jitter_follows_rfc_3550)
{
  StatisticsJitter jitter;

  statistics_jitter_init (&jitter);
  fail_unless_equals_float (statistics_jitter_add (&jitter, 0), 0);
  fail_unless_equals_float (statistics_jitter_add (&jitter, 16), 1);
  fail_unless_equals_float (statistics_jitter_add (&jitter, 16), 0.9375);
  fail_unless_equals_float (statistics_jitter_add (&jitter, 0), 1.87890625);
}

GST_END_TEST;

GST_START_TEST (jitter_of_constant_delay_is_zero)
{
  StatisticsJitter jitter;
  guint i;

  statistics_jitter_init (&jitter);
  for (i = 0; i < 100; i++)
    statistics_jitter_add (&jitter, -7 * GST_SECOND);
  fail_unless_equals_float (jitter.jitter, 0);
}

GST_END_TEST;

GST_START_TEST (jitter_tends_to_alternating_difference)
{
  StatisticsJitter jitter;
  guint i;

  statistics_jitter_init (&jitter);
  for (i = 0; i < 1000; i++)
    statistics_jitter_add (&jitter, i % 2 ? 5 * GST_MSECOND : 0);
  assert_within (jitter.jitter, 5 * GST_MSECOND, 1e-6);
}

GST_END_TEST;

GST_START_TEST (jitter_restart_ignores_the_jump)
{
  StatisticsJitter jitter;

  statistics_jitter_init (&jitter);
  statistics_jitter_add (&jitter, 0);
  statistics_jitter_add (&jitter, 16);
  statistics_jitter_restart (&jitter);
  fail_unless_equals_float (statistics_jitter_add (&jitter, GST_SECOND), 1);
  fail_unless_equals_float (statistics_jitter_add (&jitter, GST_SECOND),
      0.9375);
}

GST_END_TEST;

GST_START_TEST (jitter_takes_the_whole_range)
{
  StatisticsJitter jitter;

  statistics_jitter_init (&jitter);
  statistics_jitter_add (&jitter, G_MININT64);
  assert_within (statistics_jitter_add (&jitter, G_MAXINT64), pow (2, 60),
      1e-9);
}

GST_END_TEST;

GST_START_TEST (rate_of_steady_frames_is_exact)
{
  StatisticsRate *rate = statistics_rate_new (GST_SECOND);
  guint i;

  fail_unless_equals_uint64 (statistics_rate_get (rate, 0), 0);

  /* Each frame has 30000 bytes. At 25 frames per second, this is a rate of 6
   * Mbit/s. The rate is known from the second frame on. */
  for (i = 0; i < 200; i++) {
    statistics_rate_add (rate, i * 40 * GST_MSECOND, 30000);
    fail_unless_equals_uint64 (statistics_rate_get (rate,
            i * 40 * GST_MSECOND), i ? 6000000 : 0);
  }

  statistics_rate_free (rate);
}

GST_END_TEST;

GST_START_TEST (rate_slides_to_zero_when_nothing_comes)
{
  StatisticsRate *rate = statistics_rate_new (GST_SECOND);
  guint i;

  for (i = 0; i <= 50; i++)
    statistics_rate_add (rate, i * 40 * GST_MSECOND, 5000);
  fail_unless_equals_uint64 (statistics_rate_get (rate, 2 * GST_SECOND),
      1000000);
  /* A frame arrives every 40 ms, and the last one arrives at 2000 ms. At 2500
   * ms, the rate over the last second must count only the 13 frames that
   * arrived from 1520 to 2000 ms. */
  fail_unless_equals_uint64 (statistics_rate_get (rate,
          2500 * GST_MSECOND), 13 * 40000);
  fail_unless_equals_uint64 (statistics_rate_get (rate,
          3 * GST_SECOND - 1), 40000);
  fail_unless_equals_uint64 (statistics_rate_get (rate, 3 * GST_SECOND), 0);
  fail_unless_equals_uint64 (statistics_rate_get (rate, 99 * GST_SECOND), 0);

  statistics_rate_free (rate);
}

GST_END_TEST;

GST_START_TEST (rate_of_a_flood_of_packets_stays_right)
{
  StatisticsRate *rate = statistics_rate_new (GST_SECOND);
  guint64 now = 0;
  guint i;

  /* 100,000 packets of 100 bytes arrive per second, which are 80 Mbit/s. The
   * ring buffer of the throughput window has room for far fewer packets, but
   * the measured rate must still be correct. */
  for (i = 0; i < 300000; i++, now += 10 * GST_USECOND)
    statistics_rate_add (rate, now, 100);
  assert_within (statistics_rate_get (rate, now), 80e6, 1 / 512.0);

  statistics_rate_free (rate);
}

GST_END_TEST;

GST_START_TEST (rate_survives_time_going_back_and_tiny_windows)
{
  StatisticsRate *rate = statistics_rate_new (GST_SECOND);

  statistics_rate_add (rate, 5 * GST_SECOND, 1000);
  statistics_rate_add (rate, 6 * GST_SECOND, 1000);
  statistics_rate_add (rate, 1 * GST_SECOND, 1000);
  fail_unless_equals_uint64 (statistics_rate_get (rate, 0), 16000);
  statistics_rate_free (rate);

  rate = statistics_rate_new (1);
  statistics_rate_add (rate, 0, 1);
  statistics_rate_add (rate, 1, 1);
  statistics_rate_add (rate, 2, 1);
  fail_unless_equals_uint64 (statistics_rate_get (rate, 2),
      8 * G_GUINT64_CONSTANT (1000000000));
  fail_unless_equals_uint64 (statistics_rate_get (rate, 3), 0);
  statistics_rate_free (rate);
}

GST_END_TEST;

static Suite *
statistics_suite (void)
{
  Suite *s = suite_create ("statistics");
  TCase *tc;

  tc = tcase_create ("histogram");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, empty_histogram_is_all_zero);
  tcase_add_test (tc, one_value_is_every_percentile);
  tcase_add_test (tc, percentiles_of_small_values_are_exact);
  tcase_add_test (tc, rank_is_not_moved_by_binary_fractions);
  tcase_add_test (tc, negative_values_sort_below_positive_ones);
  tcase_add_test (tc, every_value_is_right_to_1_part_in_128);
  tcase_add_test (tc, extremes_of_gint64_survive);
  tcase_add_test (tc, odd_percents_are_clamped);

  tc = tcase_create ("jitter");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, jitter_follows_rfc_3550);
  tcase_add_test (tc, jitter_of_constant_delay_is_zero);
  tcase_add_test (tc, jitter_tends_to_alternating_difference);
  tcase_add_test (tc, jitter_restart_ignores_the_jump);
  tcase_add_test (tc, jitter_takes_the_whole_range);

  tc = tcase_create ("rate");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, rate_of_steady_frames_is_exact);
  tcase_add_test (tc, rate_slides_to_zero_when_nothing_comes);
  tcase_add_test (tc, rate_of_a_flood_of_packets_stays_right);
  tcase_add_test (tc, rate_survives_time_going_back_and_tiny_windows);

  return s;
}

GST_CHECK_MAIN (statistics);
