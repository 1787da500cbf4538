/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests how the usual delay of a path is learned: the delay that the path has
 * although it has no queue. Times and rates are passed in by hand. */

#include <gst/check/gstcheck.h>

#include "mmtpusualdelay.h"

#define MS 1e6
#define SECOND 1e9
#define BASE_ROUND_TRIP (40 * MS)
#define MAX_USUAL (150 * MS)
#define GROWTH 1.3
#define REPORTS 20              /* in a round of one second */
#define MESSAGES 5              /* in a report */

typedef struct
{
  MmtpUsualDelay usual;
  MmtpUsualDelayRound round;
  MmtpRateSample sample;
} Fixture;

static void
fixture_init (Fixture * fixture)
{
  memset (fixture, 0, sizeof (*fixture));
  fixture->round.base_round_trip = BASE_ROUND_TRIP;
  fixture->round.max = MAX_USUAL;
  fixture->round.round = SECOND;
  fixture->round.growth = GROWTH;
  fixture->sample.now = fixture->sample.arrival = 10 * SECOND;
  fixture->sample.n_acked = MESSAGES;
  mmtp_usual_delay_add (&fixture->usual, &fixture->sample, &fixture->round);
}

/* Passes the reports of one second. The path delivers `rate` bytes in each
 * second. `queue` is the delay of all messages, minus the base delay. */
static void
report (Fixture * fixture, gdouble rate, gdouble queue)
{
  guint i;

  for (i = 0; i < REPORTS; i++) {
    fixture->sample.now += SECOND / REPORTS;
    fixture->sample.arrival += SECOND / REPORTS;
    fixture->sample.delivered += rate / REPORTS;
    fixture->sample.queue_delay = queue;
    fixture->sample.round_trip = BASE_ROUND_TRIP + queue;
    mmtp_usual_delay_add (&fixture->usual, &fixture->sample, &fixture->round);
  }
}

/* Returns the usual delay in ms after two rounds with these rates, in bytes in
 * each second, and with these delays in ns. */
static gdouble
learn (gdouble rate, gdouble queue, gdouble next_rate, gdouble next_queue)
{
  Fixture fixture;

  fixture_init (&fixture);
  report (&fixture, rate, queue);
  report (&fixture, next_rate, next_queue);
  return fixture.usual.queue.value / MS;
}

/* The path delivers 1.4 times as much in the second round. In the first round,
 * it therefore had no queue, and the delay of 40 ms is usual. If the rate grows
 * by less than the factor 1.3, the delay may be due to a queue. */
GST_START_TEST (growing_rate_shows_the_usual_delay)
{
  fail_unless_equals_float (learn (100000, 40 * MS, 140000, 40 * MS), 40);
  fail_unless_equals_float (learn (100000, 40 * MS, 125000, 40 * MS), 0);
  fail_unless_equals_float (learn (100000, 40 * MS, 100000, 40 * MS), 0);
}

GST_END_TEST;

/* The capacity of the path rises, and the queue of the first round is drained
 * in the second one. Only the shorter delay of the second round is usual. */
GST_START_TEST (drained_queue_is_not_usual)
{
  fail_unless_equals_float (learn (100000, 90 * MS, 200000, 10 * MS), 10);
  fail_unless_equals_float (learn (100000, 10 * MS, 200000, 90 * MS), 10);
}

GST_END_TEST;

/* Returns the usual delay in ms after two rounds. `n` and `next` are the numbers
 * of messages in each report. */
static gdouble
learn_from_messages (guint n, guint next)
{
  Fixture fixture;

  fixture_init (&fixture);
  fixture.sample.n_acked = n;
  report (&fixture, 100000, 40 * MS);
  fixture.sample.n_acked = next;
  report (&fixture, 200000, 40 * MS);
  return fixture.usual.queue.value / MS;
}

/* If only 20 messages arrive in a round, all of them may be slow by chance. The
 * rule applies to the round from whose minimum something is learned. */
GST_START_TEST (few_messages_show_nothing)
{
  fail_unless_equals_float (learn_from_messages (1, 5), 0);
  fail_unless_equals_float (learn_from_messages (2, 1), 40);
}

GST_END_TEST;

/* The limit also applies when it becomes lower later. */
GST_START_TEST (usual_delay_is_limited)
{
  Fixture fixture;

  fixture_init (&fixture);
  report (&fixture, 100000, 400 * MS);
  report (&fixture, 200000, 400 * MS);
  fail_unless_equals_float (fixture.usual.queue.value, 150 * MS);
  fail_unless_equals_float (fixture.usual.round_trip.value, 340 * MS);
  fixture.round.max = 100 * MS;
  report (&fixture, 200000, 400 * MS);
  fail_unless_equals_float (fixture.usual.queue.value, 100 * MS);
  fail_unless_equals_float (fixture.usual.round_trip.value, 240 * MS);
}

GST_END_TEST;

/* The capacity of a mobile network falls and rises again. It does not become
 * much higher than before, so nothing is learned from the rise. */
GST_START_TEST (fluctuating_capacity_shows_nothing)
{
  Fixture fixture;

  fixture_init (&fixture);
  report (&fixture, 200000, 60 * MS);
  report (&fixture, 100000, 60 * MS);
  report (&fixture, 200000, 60 * MS);
  report (&fixture, 240000, 60 * MS);
  fail_unless_equals_float (fixture.usual.queue.value, 0);
}

GST_END_TEST;

/* If a later round has a shorter delay, the delay that was learned was not
 * usual. Half of the difference is forgotten in each round. */
GST_START_TEST (shorter_delay_is_followed)
{
  Fixture fixture;

  fixture_init (&fixture);
  report (&fixture, 100000, 80 * MS);
  report (&fixture, 200000, 80 * MS);
  fail_unless_equals_float (fixture.usual.queue.value, 80 * MS);
  fail_unless_equals_float (fixture.usual.round_trip.value, 120 * MS);
  report (&fixture, 200000, 20 * MS);
  fail_unless_equals_float (fixture.usual.queue.value, 50 * MS);
  fail_unless_equals_float (fixture.usual.round_trip.value, 90 * MS);
  report (&fixture, 200000, 20 * MS);
  fail_unless_equals_float (fixture.usual.queue.value, 35 * MS);
  fail_unless_equals_float (fixture.usual.round_trip.value, 75 * MS);
}

GST_END_TEST;

/* The path has once delivered 200,000 bytes in a second. The highest rate decays
 * to 1/e in 50 s. After 10 s it is 164 kB/s, and 214 kB/s must be exceeded. */
GST_START_TEST (highest_rate_decays)
{
  static const struct
  {
    gdouble rate, queue;
  } cases[] = { {210000, 0}, {220000, 40 * MS} };
  guint i, j;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    Fixture fixture;

    fixture_init (&fixture);
    report (&fixture, 200000, 40 * MS);
    for (j = 0; j < 10; j++)
      report (&fixture, 100000, 40 * MS);
    report (&fixture, cases[i].rate, 40 * MS);
    fail_unless_equals_float (fixture.usual.queue.value, cases[i].queue);
  }
}

GST_END_TEST;

/* Losses limit the window in one of three rounds, or in none. The rate grows in
 * the third round. */
GST_START_TEST (nothing_is_learned_while_losses_limit_the_window)
{
  guint limited, i;

  for (limited = 0; limited <= 3; limited++) {
    Fixture fixture;

    fixture_init (&fixture);
    for (i = 0; i < 3; i++) {
      fixture.round.is_limited = i == limited;
      report (&fixture, i < 2 ? 100000 : 200000, 40 * MS);
    }
    fail_unless_equals_float (fixture.usual.queue.value,
        limited == 0 || limited == 3 ? 40 * MS : 0);
  }
}

GST_END_TEST;

/* The caller says that nothing may be learned from the rate. */
GST_START_TEST (growth_may_be_ignored)
{
  Fixture fixture;

  fixture_init (&fixture);
  fixture.round.growth = 0;
  report (&fixture, 100000, 40 * MS);
  report (&fixture, 200000, 40 * MS);
  fail_unless_equals_float (fixture.usual.queue.value, 0);
  fail_unless_equals_float (fixture.usual.round_trip.value, 0);
}

GST_END_TEST;

/* The return path holds back the reports of a whole round, which then arrive at
 * once. The path has delivered the same rate all the time. On the clock of the
 * sender, the bytes of two rounds would seem to arrive in one. */
GST_START_TEST (reports_that_arrive_at_once_show_no_growth)
{
  Fixture fixture;
  guint i;

  fixture_init (&fixture);
  report (&fixture, 100000, 40 * MS);
  fixture.sample.now += SECOND;
  for (i = 0; i < REPORTS; i++) {
    fixture.sample.arrival += SECOND / REPORTS;
    fixture.sample.delivered += 100000 / REPORTS;
    mmtp_usual_delay_add (&fixture.usual, &fixture.sample, &fixture.round);
  }
  report (&fixture, 100000, 40 * MS);
  fail_unless_equals_float (fixture.usual.queue.value, 0);
}

GST_END_TEST;

/* While the application has nothing more to send, the usual delay follows the
 * measured delay: after 128 reports, it has reached 1 - 1/e of it. It falls
 * sixteen times as fast. The minimum of a round does not change it. */
GST_START_TEST (pauses_show_the_usual_delay)
{
  Fixture fixture;
  guint i;

  fixture_init (&fixture);
  fixture.sample.is_app_limited = TRUE;
  fixture.sample.queue_delay = 100 * MS;
  fixture.sample.round_trip = BASE_ROUND_TRIP + 100 * MS;
  for (i = 0; i < 128; i++)
    mmtp_usual_delay_add (&fixture.usual, &fixture.sample, &fixture.round);
  fail_unless (ABS (fixture.usual.queue.value - 63.3 * MS) < 0.2 * MS);
  fail_unless (ABS (fixture.usual.round_trip.value - 88.7 * MS) < 0.3 * MS);
  fixture.sample.queue_delay = 0;
  for (i = 0; i < 8; i++)
    mmtp_usual_delay_add (&fixture.usual, &fixture.sample, &fixture.round);
  fail_unless (ABS (fixture.usual.queue.value - 21.8 * MS) < 0.3 * MS);
  fixture.sample.is_app_limited = FALSE;
  report (&fixture, 100000, 0);
  report (&fixture, 100000, 0);
  fail_unless (ABS (fixture.usual.queue.value - 21.8 * MS) < 0.3 * MS);
}

GST_END_TEST;

static Suite *
mmtpusualdelay_suite (void)
{
  Suite *s = suite_create ("mmtpusualdelay");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, growing_rate_shows_the_usual_delay);
  tcase_add_test (tc, drained_queue_is_not_usual);
  tcase_add_test (tc, few_messages_show_nothing);
  tcase_add_test (tc, usual_delay_is_limited);
  tcase_add_test (tc, fluctuating_capacity_shows_nothing);
  tcase_add_test (tc, shorter_delay_is_followed);
  tcase_add_test (tc, highest_rate_decays);
  tcase_add_test (tc, nothing_is_learned_while_losses_limit_the_window);
  tcase_add_test (tc, growth_may_be_ignored);
  tcase_add_test (tc, reports_that_arrive_at_once_show_no_growth);
  tcase_add_test (tc, pauses_show_the_usual_delay);
  return s;
}

GST_CHECK_MAIN (mmtpusualdelay);
