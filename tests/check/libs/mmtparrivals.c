/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the receiver measures of a channel, and when it asks for less: a
 * simulated channel with a rate, a queue without end and a delay that is random
 * for each packet, which never overtake each other. */

#include <gst/check/gstcheck.h>
#include <math.h>

#include "mmtparrivals.h"

#define MS(n) ((n) * G_GUINT64_CONSTANT (1000000))
#define PERIOD MS (200)

/* --- losses -------------------------------------------------------------- */

#define TOLERANCE MS (10)

static void
lose_add (MmtpLosses * losses, guint ms, guint64 number)
{
  mmtp_losses_add (losses, MS (ms), number, TOLERANCE, MS (1000));
}

static void
check_ranges (MmtpLosses * losses, guint ms, const gchar * expected)
{
  MmtpRange ranges[MMTP_MAX_RANGES];
  guint n =
      mmtp_losses_report (losses, MS (ms), TRUE, ranges, MMTP_MAX_RANGES), i;
  GString *text = g_string_new (NULL);

  for (i = 0; i < n; i++)
    g_string_append_printf (text, "%s%u+%u", i ? " " : "", ranges[i].first,
        ranges[i].count);
  fail_unless_equals_string (text->str, expected);
  g_string_free (text, TRUE);
}

GST_START_TEST (three_messages_behind_it_or_10_ms_make_a_loss)
{
  MmtpLosses losses;

  mmtp_losses_init (&losses);
  lose_add (&losses, 0, 7);
  lose_add (&losses, 0, 10);
  lose_add (&losses, 0, 11);
  check_ranges (&losses, 0, "");
  lose_add (&losses, 0, 12);
  check_ranges (&losses, 0, "8+2");
  fail_unless_equals_uint64 (losses.lost, 2);

  lose_add (&losses, 20, 14);
  fail_unless_equals_uint64 (mmtp_losses_next_wakeup (&losses, TOLERANCE),
      MS (30));
  mmtp_losses_timeout (&losses, MS (30) - 1, TOLERANCE);
  fail_unless_equals_uint64 (losses.lost, 2);
  mmtp_losses_timeout (&losses, MS (30), TOLERANCE);
  fail_unless_equals_uint64 (losses.lost, 3);
  fail_unless (mmtp_losses_next_wakeup (&losses, TOLERANCE) == MMTP_NEVER);
  /* what was never told first, then again until no repair is in time */
  check_ranges (&losses, 30, "13+1 8+2");
  check_ranges (&losses, 999, "13+1 8+2");
  check_ranges (&losses, 1000, "");
  fail_unless_equals_uint64 (losses.lost, 3);
}

GST_END_TEST;

GST_START_TEST (what_was_overtaken_is_not_lost)
{
  MmtpLosses losses;

  mmtp_losses_init (&losses);
  lose_add (&losses, 0, 0);
  lose_add (&losses, 1, 4);
  lose_add (&losses, 2, 2);
  lose_add (&losses, 3, 1);
  lose_add (&losses, 4, 3);
  fail_unless (mmtp_losses_next_wakeup (&losses, TOLERANCE) == MMTP_NEVER);
  fail_unless_equals_uint64 (losses.lost, 0);
  /* later than that: it is out of the ranges, and was lost all the same */
  lose_add (&losses, 5, 10);
  mmtp_losses_timeout (&losses, MS (20), TOLERANCE);
  lose_add (&losses, 21, 7);
  check_ranges (&losses, 21, "5+2 8+2");
  fail_unless_equals_uint64 (losses.lost, 5);
}

GST_END_TEST;

GST_START_TEST (where_none_was_overtaken_a_gap_is_a_loss)
{
  MmtpLosses losses;
  guint i;

  mmtp_losses_init (&losses);
  for (i = 0; i < 100; i++)
    lose_add (&losses, i, i);
  lose_add (&losses, 100, 101);
  check_ranges (&losses, 100, "100+1");
  /* until one comes later than another: then they are waited for again */
  lose_add (&losses, 101, 100);
  check_ranges (&losses, 101, "");
  lose_add (&losses, 102, 103);
  check_ranges (&losses, 102, "");
  mmtp_losses_timeout (&losses, MS (112), TOLERANCE);
  check_ranges (&losses, 112, "102+1");
}

GST_END_TEST;

GST_START_TEST (of_a_long_outage_the_end_is_told)
{
  MmtpLosses losses;
  MmtpRange ranges[MMTP_MAX_RANGES];
  guint64 last = G_GUINT64_CONSTANT (1) << 40;

  mmtp_losses_init (&losses);
  lose_add (&losses, 0, 0);
  lose_add (&losses, 0, last);
  mmtp_losses_timeout (&losses, MS (10), TOLERANCE);
  fail_unless_equals_uint64 (losses.lost, last - 1);
  fail_unless_equals_int (mmtp_losses_report (&losses, MS (10), TRUE, ranges,
          MMTP_MAX_RANGES), MMTP_MAX_RANGES);
  fail_unless_equals_int (ranges[0].count, 255);
  fail_unless_equals_int (ranges[0].first,
      (last - MMTP_LOSSES_KEPT * 255) & 0xffff);
}

GST_END_TEST;

/* --- a channel ----------------------------------------------------------- */

typedef struct
{
  MmtpArrivals arrivals;
  GRand *rand;
  gdouble sent, free, last;     /* s: next message; link idle; last arrival */
  guint64 number;
  gdouble rate;                 /* bytes per second */
  gdouble noise;                /* s, evenly */
  gdouble stall_each, stall;    /* s */
  guint decreases, more;
  MmtpDecrease decrease;
} Channel;

static void
channel_init (Channel * channel, gdouble rate, gdouble noise, guint32 seed)
{
  memset (channel, 0, sizeof (*channel));
  mmtp_arrivals_init (&channel->arrivals, MS (1000), PERIOD);
  channel->rand = g_rand_new_with_seed (seed);
  channel->rate = rate;
  channel->noise = noise;
}

static void
channel_send (Channel * channel, gsize size, gboolean is_load, gboolean pair)
{
  MmtpArrival arrival = {.number = channel->number++,.size = size,
    .is_load = is_load,.pair = pair
  };
  guint64 now, wakeup;
  gdouble start = MAX (channel->free, channel->sent), at;

  if (channel->stall_each > 0
      && fmod (start, channel->stall_each) < channel->stall)
    start += channel->stall - fmod (start, channel->stall_each);
  channel->free = start + size / channel->rate;
  at = channel->free + channel->noise * g_rand_double (channel->rand);
  channel->last = MAX (channel->last, at);
  now = MS (1000) + (guint64) (channel->last * 1e9);
  arrival.sent = MS (1000) + (guint64) (channel->sent * 1e5) * 10000;
  arrival.repair_until = now;
  while ((wakeup = mmtp_arrivals_next_wakeup (&channel->arrivals)) <= now)
    mmtp_arrivals_timeout (&channel->arrivals, wakeup);
  mmtp_arrivals_add (&channel->arrivals, now, &arrival);
  if (mmtp_arrivals_take_decrease (&channel->arrivals, now, MS (300),
          &channel->decrease))
    channel->decreases++;
  channel->more += now < channel->arrivals.more_until ? 1 : 0;
}

/* Packets of 1400 bytes in this distance, and a keep-alive each period */
static void
channel_run (Channel * channel, gdouble seconds, gdouble distance)
{
  gdouble end = channel->sent + seconds, keepalive = channel->sent;

  for (; channel->sent < end; channel->sent += distance) {
    if (channel->sent >= keepalive) {
      channel_send (channel, 53, FALSE, FALSE);
      keepalive += PERIOD / 1e9;
    }
    channel_send (channel, 1400, TRUE, FALSE);
  }
}

/* s of sending until less was asked for; `seconds`: never */
static gdouble
channel_run_until_decrease (Channel * channel, gdouble seconds,
    gdouble distance)
{
  guint before = channel->decreases;
  gdouble start = channel->sent;

  while (channel->decreases == before && channel->sent < start + seconds)
    channel_run (channel, distance, distance);
  return channel->sent - start;
}

static void
channel_clear (Channel * channel)
{
  g_rand_free (channel->rand);
}

GST_START_TEST (a_record_has_what_came)
{
  MmtpRecord record;
  Channel channel;
  guint i;

  channel_init (&channel, 1e6, 0, 1);
  /* 100 packets in a second, every tenth lost, one a tenth of a second late */
  for (i = 0; i < 1000; i++) {
    if (i == 900)
      channel.free = channel.sent + 0.1;
    if (i % 10 == 5)
      channel.number++;
    else
      channel_send (&channel, 1000, TRUE, FALSE);
    channel.sent += 0.01;
  }
  mmtp_arrivals_get_record (&channel.arrivals, MS (11000), TRUE,
      MMTP_MAX_RANGES, &record);
  fail_unless_equals_int (record.received, 900);
  fail_unless_equals_int (record.lost, 100);
  fail_unless_equals_int (record.bytes, 900000);
  fail_unless_equals_int (record.highest, 999);
  fail_unless_equals_int (record.least_transit, 100);   /* 1 ms */
  fail_unless (ABS ((gint) record.inter_arrival - 11111) < 600);
  fail_unless (ABS ((gint) record.rate - 90000) < 5000);
  fail_unless_equals_int (record.flags, 0);
  fail_unless_equals_int (record.capacity, 0);
  fail_unless_equals_int (record.decrease, 0);
  /* silent after two periods, unmeasured when its windows are over */
  mmtp_arrivals_get_record (&channel.arrivals, MS (11600), TRUE, 0, &record);
  fail_unless_equals_int (record.flags, MMTP_RECORD_SILENT);
  mmtp_arrivals_timeout (&channel.arrivals, MS (13000));
  mmtp_arrivals_timeout (&channel.arrivals, MS (15000));
  mmtp_arrivals_get_record (&channel.arrivals, MS (15000), TRUE, 0, &record);
  fail_unless_equals_int (record.flags,
      MMTP_RECORD_SILENT | MMTP_RECORD_UNMEASURED);
  channel_clear (&channel);
}

GST_END_TEST;

/* ms */
static gint
get_high_transit (Channel * channel)
{
  MmtpRecord record;

  mmtp_arrivals_get_record (&channel->arrivals, channel->arrivals.last_arrival,
      TRUE, 0, &record);
  return (record.high_transit + 50) / 100;
}

/* Messages that take 100 ms, so far apart */
static void
send_steady (Channel * channel, guint n, gdouble distance)
{
  guint i;

  for (i = 0; i < n; i++) {
    channel->free = channel->sent + 0.1;
    channel_send (channel, 100, TRUE, FALSE);
    channel->sent += distance;
  }
}

static void
send_slow (Channel * channel, gdouble transit, gdouble distance)
{
  channel->free = channel->sent + transit;
  channel_send (channel, 100, TRUE, FALSE);
  channel->sent += distance;
}

/* The slowest of 256 is left out, the second slowest is not. */
GST_START_TEST (the_high_transit_leaves_one_of_256_out)
{
  Channel channel;

  channel_init (&channel, 1e9, 0, 1);
  send_steady (&channel, 100, 0.03);
  send_slow (&channel, 0.12, 0.03);
  fail_unless_equals_int (get_high_transit (&channel), 120);
  send_steady (&channel, 99, 0.03);
  send_slow (&channel, 0.11, 0.03);
  send_steady (&channel, 55, 0.03);
  fail_unless_equals_int (get_high_transit (&channel), 110);
  /* and is forgotten */
  send_steady (&channel, 256 + 16, 0.03);
  fail_unless_equals_int (get_high_transit (&channel), 100);
  channel_clear (&channel);
}

GST_END_TEST;

/* Also where there are not 256 in such a time: after ten seconds */
GST_START_TEST (a_high_transit_is_forgotten)
{
  Channel channel;

  channel_init (&channel, 1e9, 0, 1);
  send_steady (&channel, 10, 1);
  send_slow (&channel, 0.5, 1);
  send_steady (&channel, 9, 1);
  fail_unless_equals_int (get_high_transit (&channel), 500);
  send_steady (&channel, 3, 1);
  fail_unless_equals_int (get_high_transit (&channel), 100);
  channel_clear (&channel);
}

GST_END_TEST;

static guint32
get_capacity (Channel * channel)
{
  MmtpRecord record;

  mmtp_arrivals_get_record (&channel->arrivals, channel->arrivals.last_arrival,
      TRUE, 0, &record);
  return record.capacity;
}

static void
send_pair (Channel * channel, gsize second)
{
  channel_send (channel, 1400, TRUE, FALSE);
  channel_send (channel, second, TRUE, TRUE);
  channel->sent += 1;
}

GST_START_TEST (pairs_tell_the_capacity)
{
  Channel channel;
  guint i;

  channel_init (&channel, 36400, 0, 1);
  for (i = 0; i < 7; i++)
    send_pair (&channel, i % 2 ? 1400 : 700);
  fail_unless_equals_int (get_capacity (&channel), 0);
  /* nor are those samples of which one is lost, or that were sent apart */
  for (i = 0; i < 10; i++) {
    channel_send (&channel, 1400, TRUE, FALSE);
    channel.number++;
    channel_send (&channel, 1400, TRUE, TRUE);
    channel.sent += 1;
    channel_send (&channel, 1400, TRUE, FALSE);
    channel.sent += 0.03;
    channel_send (&channel, 1400, TRUE, TRUE);
    channel.sent += 1;
  }
  fail_unless_equals_int (get_capacity (&channel), 0);
  send_pair (&channel, 1400);
  fail_unless (ABS ((gint) get_capacity (&channel) - 36400) <= 36);
  /* of a channel that becomes slower the median */
  channel.rate = 9200;
  for (i = 0; i < 8; i++)
    send_pair (&channel, 1400);
  fail_unless (get_capacity (&channel) < 36400);
  for (i = 0; i < 24; i++)
    send_pair (&channel, 1400);
  fail_unless (ABS ((gint) get_capacity (&channel) - 9200) <= 9);
  channel_clear (&channel);
}

GST_END_TEST;

/* --- congestion ---------------------------------------------------------- */

/* The paper's two channels, Table 1: delays up to twice the difference of
 * average and minimum more, at the distance of packets that each carries */
GST_START_TEST (random_delays_are_no_congestion)
{
  static const gdouble distances[] = { 0.0385, 0.152 };
  guint i, seed;

  for (i = 0; i < G_N_ELEMENTS (distances); i++) {
    for (seed = 1; seed <= 10; seed++) {
      Channel channel;

      channel_init (&channel, 1400 / distances[i] * 1.1, 0.3, seed);
      channel_run (&channel, 600, distances[i]);
      fail_unless (channel.decreases == 0, "%u at %g s, seed %u",
          channel.decreases, distances[i], seed);
      channel_clear (&channel);
    }
  }
}

GST_END_TEST;

GST_START_TEST (stalls_and_losses_are_no_congestion)
{
  Channel channel;
  guint i;

  channel_init (&channel, 1e6, 0.002, 1);
  channel.stall_each = 5;
  channel.stall = 0.15;
  channel_run (&channel, 300, 0.005);
  fail_unless_equals_int (channel.decreases, 0);
  channel.stall = 0;
  for (i = 0; i < 10000; i++) {
    channel.number += g_rand_boolean (channel.rand);
    channel_run (&channel, 0.01, 0.01);
  }
  fail_unless (channel.arrivals.losses.lost > 4000);
  fail_unless_equals_int (channel.decreases, 0);
  fail_unless_equals_int (channel.more, 0);
  channel_clear (&channel);
}

GST_END_TEST;

/* 1400 bytes each 40 ms, and the channel carries less: how long until then, and
 * what came is what it carries */
static void
check_congestion (gdouble noise, gdouble share, gdouble most_seconds)
{
  guint seed;

  for (seed = 1; seed <= 10; seed++) {
    Channel channel;
    gdouble seconds;

    channel_init (&channel, 50000, noise, seed);
    channel_run (&channel, 60, 0.04);
    fail_unless_equals_int (channel.decreases, 0);
    channel.rate = 35265 * share;       /* with keep-alives */
    seconds = channel_run_until_decrease (&channel, 60, 0.04);
    fail_unless (seconds <= most_seconds, "%g s", seconds);
    fail_unless_equals_int (channel.decrease.number, 1);
    fail_unless (channel.decrease.rate <= 1.1 * 35265);
    fail_unless (channel.decrease.jitter >= 10000);
    if (noise == 0)
      fail_unless (channel.decrease.rate >= 0.95 * channel.rate);
    channel_clear (&channel);
  }
}

GST_START_TEST (a_queue_that_grows_is_found)
{
  check_congestion (0, 0.5, 1.0);
  check_congestion (0, 0.8, 1.2);
  check_congestion (0, 0.95, 1.2);
  check_congestion (0, 0.99, 2.0);
  check_congestion (0.3, 0.5, 4);
  check_congestion (0.3, 0.8, 6);
}

GST_END_TEST;

/* Once for a queue, again while it goes on to grow, and not without end when
 * the path has become longer. */
GST_START_TEST (it_is_asked_again_only_for_more)
{
  Channel channel;

  channel_init (&channel, 1e6, 0.001, 1);
  channel_run (&channel, 30, 0.02);
  channel.rate = 1400 / 0.02 * 0.8;
  channel_run (&channel, 5, 0.02);
  fail_unless (channel.decreases >= 2);
  channel.rate = 1e6;
  channel_run (&channel, 30, 0.02);

  channel.decreases = 0;
  channel_clear (&channel);
  channel_init (&channel, 1e6, 0.001, 2);
  channel_run (&channel, 30, 0.02);
  /* 100 ms more, and no queue */
  for (; channel.sent < 90; channel.sent += 0.02) {
    channel.free = channel.sent + 0.1;
    channel_send (&channel, 1400, TRUE, FALSE);
  }
  fail_unless (channel.decreases >= 1);
  fail_unless (channel.decreases <= 2);
  /* and back: there may be more */
  fail_unless_equals_int (channel.more, 0);
  channel_run (&channel, 3, 0.02);
  fail_unless (channel.more > 0);
  channel_clear (&channel);
}

GST_END_TEST;

/* Transits of so many ms, each 20 ms until then */
static void
channel_run_at (Channel * channel, gdouble until, gdouble ms)
{
  for (; channel->sent < until; channel->sent += 0.02) {
    channel->free = channel->sent + ms / 1000;
    channel_send (channel, 1400, TRUE, FALSE);
  }
}

/* Before there was much to compare with: a queue that is full, and so does not
 * grow any more */
GST_START_TEST (a_queue_that_was_there_early_is_found)
{
  Channel channel;

  channel_init (&channel, 1e6, 0, 1);
  channel_run_at (&channel, 0.5, 5);
  channel_run_at (&channel, 6, 50);
  fail_unless (channel.decreases >= 1);
  fail_unless (channel.decrease.jitter >= 10000);
  channel_run_at (&channel, 60, 50);
  fail_unless (channel.decreases <= 2);
  channel_clear (&channel);
}

GST_END_TEST;

/* 100 ppm are 60 ms in ten minutes. */
GST_START_TEST (clocks_that_differ_are_no_congestion)
{
  static const gdouble skews[] = { 1e-4, -1e-4 };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (skews); i++) {
    Channel channel;

    channel_init (&channel, 1e6, 0.001, 1);
    for (; channel.sent < 600; channel.sent += 0.02) {
      channel.free = MAX (0, channel.sent + 0.07 + channel.sent * skews[i]);
      channel_send (&channel, 1400, TRUE, FALSE);
    }
    fail_unless_equals_int (channel.decreases, 0);
    fail_unless_equals_int (channel.more, 0);
    channel_clear (&channel);
  }
}

GST_END_TEST;

static Suite *
mmtparrivals_suite (void)
{
  Suite *s = suite_create ("mmtparrivals");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, three_messages_behind_it_or_10_ms_make_a_loss);
  tcase_add_test (tc, what_was_overtaken_is_not_lost);
  tcase_add_test (tc, where_none_was_overtaken_a_gap_is_a_loss);
  tcase_add_test (tc, of_a_long_outage_the_end_is_told);
  tcase_add_test (tc, a_record_has_what_came);
  tcase_add_test (tc, the_high_transit_leaves_one_of_256_out);
  tcase_add_test (tc, a_high_transit_is_forgotten);
  tcase_add_test (tc, pairs_tell_the_capacity);
  tcase_add_test (tc, random_delays_are_no_congestion);
  tcase_add_test (tc, stalls_and_losses_are_no_congestion);
  tcase_add_test (tc, a_queue_that_grows_is_found);
  tcase_add_test (tc, it_is_asked_again_only_for_more);
  tcase_add_test (tc, a_queue_that_was_there_early_is_found);
  tcase_add_test (tc, clocks_that_differ_are_no_congestion);
  return s;
}

GST_CHECK_MAIN (mmtparrivals);
