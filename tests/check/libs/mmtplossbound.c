/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks which losses reduce the congestion window. Losses can reduce it only
 * while the queueing delay is long. In these tests, the queueing delay is
 * always long, so only the share of lost messages decides whether the window is
 * reduced. */

#include <gst/check/gstcheck.h>

#include "mmtplossbound.h"

#define MS 1e6
#define PACKET 1250
#define ROUND_TRIP (100 * MS)
/* The congestion window in bytes that follows from the rate of the path. It is
 * so large that it limits nothing in these tests. */
#define LARGE_WINDOW 4000000

/* Passes a report about `n` messages to the code under test. `lost` of these
 * messages were lost. Returns whether the window was reduced. */
static gboolean
report (MmtpLossBound * bound, gdouble now, guint64 in_flight, guint n,
    guint lost)
{
  MmtpRateSample sample = {.now = now,.sent_in_flight = in_flight,
    .n_acked = n - lost,.n_lost = lost,.report_period = 50 * MS
  };

  /* The queueing delay alternates between 40 ms and 60 ms. Therefore it is
   * below the mean of 50 ms in some reports, and above the mean in others. */
  sample.queue_delay = sample.high_queue_delay =
      (gint64) (now / ROUND_TRIP) % 2 ? 60 * MS : 40 * MS;
  return mmtp_loss_bound_add (bound, &sample, LARGE_WINDOW, in_flight,
      ROUND_TRIP, FALSE);
}

/* Simulates eight round trips, with one report in each. The bytes in flight
 * double from each round trip to the next. In each round trip 40 messages are
 * sent. In each of the first four round trips, `early` of these 40 messages are
 * lost. In each of the last four round trips, `late` of them are lost.
 *
 * Returns whether the congestion window was reduced in the last four round
 * trips. A reduction in the first four round trips is ignored. In these round
 * trips, so few messages have been lost that the code under test cannot tell
 * yet whether the losses are random. */
static gboolean
is_reduced_in_the_start_phase (guint early, guint late)
{
  gboolean is_reduced = FALSE;
  MmtpLossBound bound;
  guint i;

  mmtp_loss_bound_init (&bound, PACKET);
  for (i = 0; i < 8; i++) {
    gboolean reduced = report (&bound, (i + 1) * ROUND_TRIP,
        (guint64) 10 * PACKET << i, 40, i < 4 ? early : late);

    is_reduced |= i >= 4 && reduced;
  }
  return is_reduced;
}

/* The bytes in flight double from each report to the next, but the share of
 * lost messages stays the same. This shows that a radio link causes the losses.
 * If a full queue caused them, they would become more frequent. The losses must
 * not reduce the congestion window. */
GST_START_TEST (random_losses_do_not_end_the_start_phase)
{
  fail_if (is_reduced_in_the_start_phase (2, 2));
  fail_if (is_reduced_in_the_start_phase (4, 4));
}

GST_END_TEST;

/* There are eight round trips, in each of which 40 messages are sent. The queue
 * is full only in the last four round trips. Two cases are tested:
 * - No message is lost in the first four round trips. In each of the last four,
 *   four messages are lost.
 * - One message is lost in each of the first four round trips. In each of the
 *   last four, twelve messages are lost.
 *
 * In both cases, the window must be reduced. */
GST_START_TEST (overflow_ends_the_start_phase)
{
  fail_unless (is_reduced_in_the_start_phase (0, 4));
  fail_unless (is_reduced_in_the_start_phase (1, 12));
}

GST_END_TEST;

/* In five reports, the bytes in flight double each time. 200,000 bytes are in
 * flight when the queue overflows, so the window becomes 140,000 bytes. */
static void
overflow (MmtpLossBound * bound)
{
  guint i;

  mmtp_loss_bound_init (bound, PACKET);
  for (i = 0; i < 5; i++)
    fail_unless (report (bound, (i + 1) * ROUND_TRIP,
            (guint64) 10 * PACKET << i, 40, i < 4 ? 0 : 4) == (i == 4));
  fail_unless_equals_float (bound->window, 140000);
}

/* After an overflow, the window has 140,000 bytes. The caller then says that
 * 500,000 bytes would be in flight if the path were fully used, and the window
 * becomes 350,000 bytes. A lower number has no effect. */
GST_START_TEST (window_is_raised_but_never_lowered)
{
  MmtpLossBound bound;

  overflow (&bound);
  mmtp_loss_bound_raise (&bound, 500000);
  fail_unless_equals_float (bound.window, 350000);
  fail_unless_equals_float (bound.reno, 350000);
  fail_unless_equals_float (bound.max, 500000);
  mmtp_loss_bound_raise (&bound, 100000);
  fail_unless_equals_float (bound.window, 350000);
  fail_unless_equals_float (bound.max, 500000);
}

GST_END_TEST;

/* 200,000 bytes are in flight in one report, and 60,000 bytes in the next one,
 * which shows that the queue has overflowed. If the second report comes within
 * a round trip, the window becomes 70 % of 200,000 bytes. If it comes two round
 * trips later, the window becomes 70 % of 60,000 bytes. */
GST_START_TEST (window_follows_the_maximum_of_a_round_trip)
{
  static const struct
  {
    gdouble later;              /* in ns */
    gdouble window;
  } cases[] = { {ROUND_TRIP / 2, 140000}, {2 * ROUND_TRIP, 42000} };
  guint i, j;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    MmtpLossBound bound;

    mmtp_loss_bound_init (&bound, PACKET);
    for (j = 0; j < 5; j++)
      fail_if (report (&bound, (j + 1) * ROUND_TRIP,
              (guint64) 10 * PACKET << j, 40, 0));
    fail_unless (report (&bound, 5 * ROUND_TRIP + cases[i].later, 60000, 20,
            4));
    fail_unless_equals_float (bound.window, cases[i].window);
  }
}

GST_END_TEST;

/* After a reduction to 140,000 bytes, only 20,000 bytes are in flight in each
 * report. The window grows in the first report, because 200,000 bytes were in
 * flight in the last round trip. It does not grow two round trips later,
 * because the application has sent too little since then. */
GST_START_TEST (window_grows_only_while_it_is_used)
{
  MmtpLossBound bound;
  gdouble window;

  overflow (&bound);
  report (&bound, 5.5 * ROUND_TRIP, 20000, 20, 0);
  window = bound.window;
  fail_unless (window > 140000);
  report (&bound, 7.5 * ROUND_TRIP, 20000, 20, 0);
  fail_unless_equals_float (bound.window, window);
}

GST_END_TEST;

/* After an overflow at 0.5 s, no further message is lost, and the window is
 * always used. A report arrives every 50 ms, except during a silence from
 * `silence` to `end` (ns). `has_queue` says whether the path has a queue. Returns
 * the window in bytes at the time `end`. */
static gdouble
get_window_after (gdouble end, gdouble silence, gboolean has_queue)
{
  MmtpRateSample sample = {.n_acked = 20,.report_period = 50 * MS };
  MmtpLossBound bound;

  overflow (&bound);
  for (sample.now = 550 * MS; sample.now <= end; sample.now += 50 * MS) {
    sample.sent_in_flight = bound.window;
    if (sample.now > silence && sample.now < end)
      continue;
    fail_if (mmtp_loss_bound_add (&bound, &sample, LARGE_WINDOW, 1,
            ROUND_TRIP, has_queue));
  }
  return bound.window;
}

/* In the first second after an overflow, only CUBIC lets the window grow. If the
 * path has no queue, the window then grows by a quarter in each half second. It
 * has grown by the factor 1.28 in each of two half seconds, because it grows in
 * ten small steps. What CUBIC adds comes on top. */
GST_START_TEST (window_grows_fast_without_a_queue)
{
  const gdouble never = 10000 * MS;
  gdouble before = get_window_after (1500 * MS, never, TRUE);
  gdouble cubic = get_window_after (2500 * MS, never, TRUE);
  gdouble fast = get_window_after (2500 * MS, never, FALSE);

  fail_unless_equals_float (get_window_after (1500 * MS, never, FALSE), before);
  fail_unless (fast >= before * 1.28 * 1.28);
  fail_unless (fast <= cubic * 1.28 * 1.28);
}

GST_END_TEST;

/* Nothing is known about the queue during a silence, so the window does not grow
 * faster than that of CUBIC at its end. */
GST_START_TEST (window_does_not_jump_after_a_silence)
{
  fail_unless_equals_float (get_window_after (4500 * MS, 1500 * MS, FALSE),
      get_window_after (4500 * MS, 1500 * MS, TRUE));
}

GST_END_TEST;

static Suite *
mmtplossbound_suite (void)
{
  Suite *s = suite_create ("mmtplossbound");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, random_losses_do_not_end_the_start_phase);
  tcase_add_test (tc, overflow_ends_the_start_phase);
  tcase_add_test (tc, window_is_raised_but_never_lowered);
  tcase_add_test (tc, window_follows_the_maximum_of_a_round_trip);
  tcase_add_test (tc, window_grows_only_while_it_is_used);
  tcase_add_test (tc, window_grows_fast_without_a_queue);
  tcase_add_test (tc, window_does_not_jump_after_a_silence);
  return s;
}

GST_CHECK_MAIN (mmtplossbound);
