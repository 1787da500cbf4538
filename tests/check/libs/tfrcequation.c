/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the TCP throughput equation of TFRC against values that were worked
 * out by hand. Also checks that a result from the lookup table of the equation
 * differs from the exact result by at most TABLE_ERROR. */

#include <gst/check/gstcheck.h>

#include <math.h>

#include "tfrcequation.h"
#include "tfrctable.h"

#define assert_near(a, b, error) G_STMT_START { \
  const gdouble _a = (a), _b = (b); \
  fail_unless (fabs (_a - _b) <= (error) * fabs (_b), \
      #a " is %.9g, not %.9g", _a, _b); \
} G_STMT_END

#define TABLE_ERROR 0.004       /* tfrctable.h */

/* Returns f (p), the part of the throughput equation that depends on the loss
 * event rate p. The equation is: rate = s / (R * f (p)), where s is the packet
 * size and R the round-trip time. With the table, the rate is an integer. The
 * maximum s and the minimum R make it so large that rounding does not matter.
 */
static gdouble
get_f (TfrcEquation equation, gdouble p)
{
  const gdouble segment_size = 65535, round_trip = 1e-6;

  return segment_size / (round_trip * tfrc_equation_rate (equation,
          segment_size, round_trip, p));
}

GST_START_TEST (f_has_the_values_of_the_equation)
{
  /* Pairs of the loss event rate p and the value of f (p), a part of the TCP
   * throughput equation s / (R * f (p)). The values were computed according to
   * RFC 5348 section 3.1, with b = 1 and t_RTO = 4 R. */
  const gdouble values[][2] = {
    {1e-4, .008172}, {1e-3, .026052}, {.01, .089022}, {.02, .136521},
    {.05, .271305}, {.1, .564939}, {.2, 1.863717}, {.5, 23.960036},
    {1, 243.315981}
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (values); i++) {
    assert_near (get_f (TFRC_EQUATION_EXACT, values[i][0]), values[i][1], 1e-4);
    assert_near (get_f (TFRC_EQUATION_TABLE, values[i][0]),
        values[i][1], TABLE_ERROR);
  }
}

GST_END_TEST;

GST_START_TEST (rates_of_a_large_segment)
{
  /* Pairs of the loss event rate p and the resulting rate in Mbit/s. The round
   * trip R is 100 ms, and the packet size s is 1460 bytes. */
  const gdouble values[][2] = {
    {.001, 4.48}, {.01, 1.31}, {.02, .86}, {.05, .43}
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (values); i++) {
    assert_near (tfrc_equation_rate (TFRC_EQUATION_EXACT, 1460, .1,
            values[i][0]) * 8 / 1e6, values[i][1], .006);
    assert_near (tfrc_equation_rate (TFRC_EQUATION_TABLE, 1460, .1,
            values[i][0]) * 8 / 1e6, values[i][1], .006 + TABLE_ERROR);
  }
  /* Erixzon 5.3.5: 512 / (0.022 * 0.565) */
  assert_near (tfrc_equation_rate (TFRC_EQUATION_EXACT, 512, .022, .1), 41191,
      .001);
}

GST_END_TEST;

GST_START_TEST (first_loss_intervals)
{
  /* s, R, X, p */
  const gdouble values[][4] = {
    {1460, .1, 125000, .0156836}, {1316, .05, 250000, .0132548}
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (values); i++) {
    assert_near (tfrc_equation_inverse (TFRC_EQUATION_EXACT, values[i][0],
            values[i][1], values[i][2]), values[i][3], 1e-5);
    assert_near (tfrc_equation_inverse (TFRC_EQUATION_TABLE, values[i][0],
            values[i][1], values[i][2]), values[i][3], 2 * TABLE_ERROR);
  }
}

GST_END_TEST;

GST_START_TEST (table_is_as_near_as_it_says)
{
  gdouble p, low = 0, high = 0;
  guint i;

  for (i = 0; i < TFRC_TABLE_SIZE; i++) {
    p = ldexp (1 + i % 16 / 16., (gint) (i / 16) - 27);
    assert_near (tfrc_table[i] / 16777216., sqrt (2 * p / 3) +
        12 * sqrt (3 * p / 8) * p * (1 + 32 * p * p), 4e-4);
  }
  for (p = 1e-8; p <= 1; p *= 1.0007) {
    const gdouble error = get_f (TFRC_EQUATION_TABLE, p) /
        get_f (TFRC_EQUATION_EXACT, p) - 1;

    low = MIN (low, error);
    high = MAX (high, error);
    if (p < .01 && p > 1e-4)
      fail_unless (fabs (error) <= 2e-4, "%g off by %g", p, error);
  }
  GST_INFO ("from %.5f %% to %.5f %%", 100 * low, 100 * high);
  fail_unless (low >= -TABLE_ERROR && high <= TABLE_ERROR,
      "from %g to %g", low, high);
}

GST_END_TEST;

GST_START_TEST (inverse_gives_the_rate_back)
{
  const TfrcEquation both[] = { TFRC_EQUATION_EXACT, TFRC_EQUATION_TABLE };
  gdouble rate, p;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (both); i++) {
    for (rate = 5000; rate < 1e7; rate *= 1.03) {
      p = tfrc_equation_inverse (both[i], 1000, .05, rate);
      assert_near (tfrc_equation_rate (both[i], 1000, .05, p), rate, .001);
    }
    /* tfrc_equation_inverse() returns the loss event rate for which the TCP
     * throughput equation yields a given sending rate. Sending rates of 0 and 1
     * byte/s are so low that no loss event rate yields them. For these sending
     * rates, the function must return the maximum loss event rate, which is 1.
     * A sending rate of 1e12 byte/s is so high that no loss event rate yields
     * it. For this sending rate, the function must return the minimum loss
     * event rate, which is 1e-8. */
    assert_near (tfrc_equation_inverse (both[i], 1000, .05, 1), 1, 1e-9);
    assert_near (tfrc_equation_inverse (both[i], 1000, .05, 0), 1, 1e-9);
    assert_near (tfrc_equation_inverse (both[i], 1000, .05, 1e12), 1e-8, 1e-6);
  }
}

GST_END_TEST;

GST_START_TEST (nonsense_is_the_nearer_end)
{
  const TfrcEquation both[] = { TFRC_EQUATION_EXACT, TFRC_EQUATION_TABLE };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (both); i++) {
    const gdouble min = get_f (both[i], 1e-8);
    const gdouble max = get_f (both[i], 1);

    assert_near (get_f (both[i], 0), min, 0);
    assert_near (get_f (both[i], -1), min, 0);
    assert_near (get_f (both[i], 7), max, 0);
    assert_near (get_f (both[i], NAN), max, 0);
    fail_unless (isfinite (tfrc_equation_rate (both[i], 1000, 0, 0)));
    fail_unless (tfrc_equation_rate (both[i], 1000, 0, 0) > 0);
    fail_unless (isfinite (tfrc_equation_inverse (both[i], 0, 0, NAN)));
    fail_unless (tfrc_equation_rate (both[i], 1000, 1e9, 1) >= 0);
  }
}

GST_END_TEST;

static Suite *
tfrcequation_suite (void)
{
  Suite *s = suite_create ("tfrcequation");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, f_has_the_values_of_the_equation);
  tcase_add_test (tc, rates_of_a_large_segment);
  tcase_add_test (tc, first_loss_intervals);
  tcase_add_test (tc, table_is_as_near_as_it_says);
  tcase_add_test (tc, inverse_gives_the_rate_back);
  tcase_add_test (tc, nonsense_is_the_nearer_end);
  return s;
}

GST_CHECK_MAIN (tfrcequation);
