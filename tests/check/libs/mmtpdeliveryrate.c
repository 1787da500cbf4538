/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the delivery rate and the bursts that are measured on a path. The
 * tests set the arrival times of the packets. The expected values were computed
 * by hand. */

#include <math.h>
#include <string.h>

#include <gst/check/gstcheck.h>

#include "mmtpdeliveryrate.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define PACKET 1000             /* bytes */
/* Converts a rate from bytes per ns to bytes per ms. */
#define PER_MS 1e6

typedef struct
{
  MmtpDeliveryRate rate;
  guint64 delivered;
} Fixture;

/* Makes a report at time `now`. Since the previous report, `n` packets have
 * arrived. The newest packet was sent at `sent` and arrived at `arrival`. Times
 * are in ms. */
static void
report (Fixture * fixture, guint64 now, guint64 sent, guint64 arrival, guint n)
{
  MmtpRateSample sample = { 0, };

  fixture->delivered += n * PACKET;
  sample.now = now * MS;
  sample.sent = sent * MS;
  sample.arrival = arrival * MS;
  sample.acked = n * PACKET;
  sample.delivered = fixture->delivered;
  mmtp_delivery_rate_add (&fixture->rate, &sample, PACKET);
}

static gdouble
get_rate (const Fixture * fixture, guint64 span)
{
  return mmtp_delivery_rate_get (&fixture->rate, span * MS) * PER_MS;
}

static gdouble
get_long (const Fixture * fixture)
{
  return mmtp_delivery_rate_get_long (&fixture->rate) * PER_MS;
}

static gdouble
get_extra (const Fixture * fixture)
{
  return mmtp_delivery_rate_get_extra (&fixture->rate);
}

/* Simulates a sender that sends a packet every 10 ms, from the time `from` to
 * the time `to` in ms. Each packet takes 20 ms to arrive, and the receiver
 * sends a report every 50 ms. */
static void
run_steadily (Fixture * fixture, guint64 from, guint64 to)
{
  guint64 time;

  for (time = from + 50; time <= to; time += 50)
    report (fixture, time + 20, time - 20, time, 5);
}

GST_START_TEST (nothing_is_known_at_first)
{
  Fixture fixture;

  memset (&fixture, 0, sizeof fixture);
  fail_unless_equals_float (get_rate (&fixture, 50), 0);
  report (&fixture, 1000, 960, 980, 5);
  fail_unless_equals_float (get_rate (&fixture, 50), 0);
  fail_unless_equals_float (get_long (&fixture), 0);
  fail_unless_equals_float (get_extra (&fixture), 0);
}

GST_END_TEST;

GST_START_TEST (rate_is_that_of_the_span_that_was_asked_for)
{
  Fixture fixture;

  memset (&fixture, 0, sizeof fixture);
  run_steadily (&fixture, 1000, 2000);
  fail_unless_equals_float (get_rate (&fixture, 50), 100);
  fail_unless_equals_float (get_rate (&fixture, 500), 100);
  /* Until 2000 ms, a packet has arrived every 10 ms. From 2000 to 2050 ms, 20
   * packets arrive. The rate over the last 50 ms must be the rate of these 20
   * packets: 400 packets per second. The last 500 ms begin at 1550 ms. From
   * 1550 to 2000 ms, 45 packets have arrived. The rate over the last 500 ms
   * must therefore be (45 + 20) / 0.5 s, which is 130 packets per second. */
  report (&fixture, 2070, 2030, 2050, 20);
  fail_unless_equals_float (get_rate (&fixture, 50), 400);
  fail_unless_equals_float (get_rate (&fixture, 500), 130);
}

GST_END_TEST;

GST_START_TEST (reports_of_one_moment_are_one_point)
{
  Fixture fixture;

  memset (&fixture, 0, sizeof fixture);
  report (&fixture, 1000, 960, 980, 5);
  report (&fixture, 1050, 1010, 1030, 5);
  report (&fixture, 1050, 1010, 1030, 5);
  fail_unless_equals_float (get_rate (&fixture, 50), 200);
  fail_unless_equals_int (fixture.rate.n_points, 2);
}

GST_END_TEST;

GST_START_TEST (steady_path_has_no_bursts)
{
  Fixture fixture;

  memset (&fixture, 0, sizeof fixture);
  run_steadily (&fixture, 1000, 20000);
  fail_unless (fabs (get_long (&fixture) - 100) < 1e-6);
  fail_unless_equals_float (get_extra (&fixture), 0);
}

GST_END_TEST;

/* Simulates a sender that sends a packet every 10 ms, from the time `from` to
 * the time `to` in ms. The packets arrive in bursts: every 200 ms, 20 packets
 * arrive within 4 ms. */
static void
run_in_bursts (Fixture * fixture, guint64 from, guint64 to)
{
  guint64 time;
  guint i;

  for (time = from + 200; time <= to; time += 200)
    for (i = 1; i <= 4; i++)
      report (fixture, time + 20 + i, time - 200 + 50 * i, time + i, 5);
}

GST_START_TEST (bursts_are_no_higher_rate_than_was_sent)
{
  Fixture fixture;

  memset (&fixture, 0, sizeof fixture);
  run_steadily (&fixture, 1000, 2000);
  run_in_bursts (&fixture, 2000, 6000);
  fail_unless (get_rate (&fixture, 3) > 4000);
  fail_unless (get_long (&fixture) < 101);
  fail_unless (get_long (&fixture) > 98);
}

GST_END_TEST;

/* In a burst, 20 packets of 1000 bytes arrive in 4 ms. The measured size of the
 * burst must be less than these 20,000 bytes, because three numbers are
 * subtracted:
 * - the 5000 bytes in the first report of the burst, because this report only
 *   marks the beginning of the burst,
 * - 2000 bytes, because 2 packets are always subtracted to allow for a rounding
 *   error,
 * - 400 bytes, which the path delivers in 4 ms at its usual rate of 100 bytes
 *   per ms.
 *
 * The result is 12,600 bytes. The test requires more than 12,000 bytes. */
GST_START_TEST (bursts_are_what_the_rate_does_not_explain)
{
  Fixture fixture;

  memset (&fixture, 0, sizeof fixture);
  run_steadily (&fixture, 1000, 2000);
  run_in_bursts (&fixture, 2000, 6000);
  fail_unless (get_extra (&fixture) > 12000);
  fail_unless (get_extra (&fixture) < 20000);
}

GST_END_TEST;

GST_START_TEST (burst_is_bounded_and_forgotten)
{
  Fixture fixture;
  gdouble extra;

  memset (&fixture, 0, sizeof fixture);
  run_steadily (&fixture, 1000, 2000);
  report (&fixture, 2420, 1990, 2400, 1);
  report (&fixture, 2421, 2391, 2401, 39);
  extra = get_extra (&fixture);
  /* The measured size of a burst must be limited to 20,000 bytes. The path
   * delivers this many bytes in 200 ms at its rate of 100 bytes per ms. */
  fail_unless (extra > 19500 && extra < 20001);
  report (&fixture, 2821, 2801, 2811, 1);
  fail_unless (fabs (get_extra (&fixture) - extra / G_E) < 1);
}

GST_END_TEST;

static Suite *
mmtpdeliveryrate_suite (void)
{
  Suite *s = suite_create ("mmtpdeliveryrate");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, nothing_is_known_at_first);
  tcase_add_test (tc, rate_is_that_of_the_span_that_was_asked_for);
  tcase_add_test (tc, reports_of_one_moment_are_one_point);
  tcase_add_test (tc, steady_path_has_no_bursts);
  tcase_add_test (tc, bursts_are_no_higher_rate_than_was_sent);
  tcase_add_test (tc, bursts_are_what_the_rate_does_not_explain);
  tcase_add_test (tc, burst_is_bounded_and_forgotten);
  return s;
}

GST_CHECK_MAIN (mmtpdeliveryrate);
