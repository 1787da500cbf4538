/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks MmtpClock, which converts times of the sender's clock to the
 * receiver's clock. */

#include <gst/check/gstcheck.h>
#include <math.h>

#include "mmtpclock.h"

#define MS(n) ((n) * G_GUINT64_CONSTANT (1000000))
#define SECONDS(n) ((n) * G_GUINT64_CONSTANT (1000000000))
#define START SECONDS (100)

GST_START_TEST (short_times_become_whole)
{
  /* The test runs once for each of these times in us, at which the sender's
   * clock starts. At the first time, the 24-bit sending times of messages are
   * about to wrap. At the second time, the 32-bit due times are about to wrap.
   * The third time is 0. The last time is the middle of the range of 64 bits.
   */
  static const guint64 starts[] = { G_GUINT64_CONSTANT (167772150),
    G_GUINT64_CONSTANT (0xfffffff0), 0, G_MAXUINT64 / 2
  };
  guint i, step;

  for (i = 0; i < G_N_ELEMENTS (starts); i++) {
    MmtpClock clock;
    guint64 sender = starts[i] / 10 * 10;

    mmtp_clock_init (&clock, START, sender);
    for (step = 1; step < 100; step++) {
      /* Messages are sent at intervals of 50 s. Every second message has a
       * one-way delay that is 300 ms longer than that of the other messages. */
      guint64 sent = sender + step * G_GUINT64_CONSTANT (50000000);
      guint64 now = START + SECONDS (50) * step + MS (300) * (step % 2);

      fail_unless_equals_int64 (mmtp_clock_unwrap_sent (&clock, now,
              sent / 10 & 0xffffff), START + SECONDS (50) * step);
      fail_unless_equals_uint64 (mmtp_clock_unwrap_due (&clock, now,
              (sent + 1234567) & G_MAXUINT32), sent + 1234567);
      fail_unless_equals_uint64 (mmtp_clock_unwrap_due (&clock, now,
              (sent - 1000000) & G_MAXUINT32), sent - 1000000);
    }
  }
}

GST_END_TEST;

GST_START_TEST (the_minimum_transit_is_the_offset_until_one_is_told)
{
  MmtpClock clock;

  mmtp_clock_init (&clock, START, 5000);
  fail_unless_equals_uint64 (mmtp_clock_map (&clock, START, 6000),
      START + MS (1));
  mmtp_clock_add_transit (&clock, MS (70));
  mmtp_clock_add_transit (&clock, MS (40));
  mmtp_clock_add_transit (&clock, MS (90));
  fail_unless_equals_uint64 (mmtp_clock_map (&clock, START, 6000),
      START + MS (41));
  mmtp_clock_set_offset (&clock, START, MS (10));
  fail_unless_equals_uint64 (mmtp_clock_map (&clock, START, 6000),
      START + MS (11));
  mmtp_clock_set_offset (&clock, START, -(gint64) MS (10));
  fail_unless_equals_uint64 (mmtp_clock_map (&clock, START, 6000),
      START - MS (9));
}

GST_END_TEST;

/* The sender announces a new offset between the two clocks, which is 100 ms
 * more than before. The times at which buffers are output must not jump. They
 * must shift by at most 1 ms per second, until they have shifted by 100 ms. */
GST_START_TEST (output_time_never_jumps)
{
  guint64 due = 0, last = 0, now = START, mapped;
  MmtpClock clock;
  guint i;

  mmtp_clock_init (&clock, START, 0);
  mmtp_clock_set_offset (&clock, START, 0);
  for (i = 0; i < 10000; i++, due += 40000, now += MS (40)) {
    if (i > 100 && i % 25 == 0)
      mmtp_clock_set_offset (&clock, now, MS (100));
    mapped = mmtp_clock_map_output (&clock, now, due);
    if (i > 0)
      fail_unless (ABS ((gint64) (mapped - last) - (gint64) MS (40)) <= 40001);
    last = mapped;
  }
  fail_unless (ABS ((gint64) (mapped - START - due * 1000) + (gint64) MS (40)
          - (gint64) MS (100)) < (gint64) MS (1));
}

GST_END_TEST;

GST_START_TEST (output_time_does_not_go_back)
{
  MmtpClock clock;
  guint64 first;

  mmtp_clock_init (&clock, START, 0);
  mmtp_clock_set_offset (&clock, START, MS (50));
  first = mmtp_clock_map_output (&clock, START, 1000000);
  mmtp_clock_set_offset (&clock, START + SECONDS (1), 0);
  fail_unless (mmtp_clock_map_output (&clock, START + SECONDS (100), 1000000)
      == first);
  /* The due time of the next buffer is earlier than that of the previous
   * buffer, so its output time must be earlier, too. This is the only case in
   * which output times may go back. */
  fail_unless (mmtp_clock_map_output (&clock, START + SECONDS (100), 900000)
      < first);
}

GST_END_TEST;

/* The sender's clock and the receiver's clock run at different speeds. The
 * ratio of the speeds is 1 + `skew`, so the measured one-way delays increase or
 * decrease steadily. Noise is added to the measured delays, but not to the
 * timestamps of the buffers. MmtpClock must find the skew in spite of the
 * noise: the interval between two output buffers must be exact to a few
 * microseconds. */
static void
check_skew (gdouble skew, gdouble noise)
{
  GRand *rand = g_rand_new_with_seed (3);
  guint64 now = START, last = 0, mapped;
  gint64 wander = 0, offset;
  MmtpClock clock;
  guint i;

  mmtp_clock_init (&clock, START, 0);
  mmtp_clock_set_offset (&clock, START, 0);
  for (i = 0; i < 7500; i++) {
    /* 40 ms of the sender's clock. */
    now = START + (guint64) (i * 40e6 * (1 + skew));
    offset = (gint64) (now - START) - (gint64) MS (40) * i;
    if (i % 25 == 0) {
      mmtp_clock_add_min (&clock, now, offset + noise * g_rand_double (rand));
      mmtp_clock_set_offset (&clock, now,
          offset + noise * g_rand_double (rand) / 2);
    }
    mapped =
        mmtp_clock_map_output (&clock, now, i * G_GUINT64_CONSTANT (40000));
    if (i > 5000)
      wander = MAX (wander, ABS ((gint64) (mapped - last)
              - (gint64) (40e6 * (1 + skew))));
    last = mapped;
  }
  fail_unless (fabs (clock.skew - skew) < 1e-5, "%g", clock.skew);
  fail_unless (wander <= 4000, "%" G_GINT64_FORMAT, wander);
  fail_unless (ABS ((gint64) (mapped - now)) < (gint64) MS (3));
  g_rand_free (rand);
}

GST_START_TEST (the_skew_of_clocks_is_followed)
{
  check_skew (0, 1e6);
  check_skew (1e-4, 1e6);
  check_skew (-1e-4, 1e6);
  check_skew (5e-5, 0);
}

GST_END_TEST;

GST_START_TEST (times_that_no_clock_has_do_no_harm)
{
  MmtpClock clock;
  guint32 due = 0;
  guint i;

  mmtp_clock_init (&clock, START, G_MAXUINT64);
  fail_unless (mmtp_clock_unwrap_sent (&clock, START, 0) < G_MAXINT64);
  mmtp_clock_set_offset (&clock, START, G_MININT32 * G_GINT64_CONSTANT (1000));
  mmtp_clock_map (&clock, START, 0);
  mmtp_clock_map (&clock, START, G_MAXUINT64);
  for (i = 0; i < 5000; i++) {
    due += 0x7fffffff;
    mmtp_clock_map (&clock, START, mmtp_clock_unwrap_due (&clock, START, due));
  }
}

GST_END_TEST;

static Suite *
mmtpclock_suite (void)
{
  Suite *s = suite_create ("mmtpclock");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, short_times_become_whole);
  tcase_add_test (tc, the_minimum_transit_is_the_offset_until_one_is_told);
  tcase_add_test (tc, output_time_never_jumps);
  tcase_add_test (tc, output_time_does_not_go_back);
  tcase_add_test (tc, the_skew_of_clocks_is_followed);
  tcase_add_test (tc, times_that_no_clock_has_do_no_harm);
  return s;
}

GST_CHECK_MAIN (mmtpclock);
