/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Holds the regulator to what it promises: a channel that is full, and a queue
 * on the way that is short. A queue of constant rate stands here in virtual
 * time; of each packet's transit, with or without a delay that fluctuates, the
 * regulator hears the least one of a window, as the receiver would say it. */

#include <gst/check/gstcheck.h>

#include "mmtpregulator.h"

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define MS G_GUINT64_CONSTANT (1000000)
#define KBIT 1000

#define PACKET_BITS 8000
/* docs/wire-mmtp.md section 7: a window while the channel is busy */
#define WINDOW (100 * MS)
#define WINDOWS_PER_SECOND 10
/* What the channel says of a deadline of one second, and how often it lets a
 * queue go: mmtpchannelrate.c */
#define MOST (125 * MS)
#define LAG_OF_REPORT (200 * MS)
#define DRAIN_PERIOD (10 * SECOND)
#define SEED 2001

typedef struct
{
  guint64 arrival, transit;
} Packet;

typedef struct
{
  MmtpRegulator regulator;
  guint64 rate;                 /* bits per second, as it says */
  guint64 now;                  /* ns */
  guint64 limit;                /* for the window */
  gboolean is_measured;

  /* --- the channel */
  guint64 capacity;             /* bits per second */
  guint64 delay;                /* ns */
  guint64 noise;                /* ns, uniform from 0 */
  GRand *random;
  guint64 late;                 /* ns, once, for the next window */
  guint64 next;                 /* ns, of the next packet */
  guint64 source;               /* bits per second that there are, 0: enough */
  guint64 next_drain;
  guint64 free;                 /* ns, when the queue is empty */
  GArray *packets;
  guint n_arrived;
  guint sent[WINDOWS_PER_SECOND];       /* packets */
  guint window;

  /* --- since `begin_count` */
  guint n_counted;              /* packets that arrived */
  guint64 begun;
  guint64 longest;              /* ns, of the queue */
  guint64 least_rate, most_rate;
  guint n_longer;
} Bench;

static void
begin_count (Bench * bench)
{
  bench->n_counted = bench->n_longer = 0;
  bench->begun = bench->now;
  bench->longest = bench->most_rate = 0;
  bench->least_rate = G_MAXUINT64;
}

static void
set_up (Bench * bench, guint64 rate, gboolean is_guess)
{
  memset (bench, 0, sizeof (*bench));
  mmtp_regulator_init (&bench->regulator, rate, is_guess);
  bench->rate = rate;
  bench->capacity = 1000 * KBIT;
  bench->delay = 20 * MS;
  bench->random = g_rand_new_with_seed (SEED);
  bench->packets = g_array_new (FALSE, FALSE, sizeof (Packet));
  begin_count (bench);
}

static void
tear_down (Bench * bench)
{
  g_rand_free (bench->random);
  g_array_unref (bench->packets);
}

static void
send_packets (Bench * bench)
{
  guint *n = &bench->sent[bench->window % WINDOWS_PER_SECOND];

  for (*n = 0; bench->next < bench->now; (*n)++) {
    guint64 rate = bench->source ? MIN (bench->source, bench->rate) :
        bench->rate;
    Packet packet;

    bench->free = MAX (bench->free, bench->next) +
        PACKET_BITS * SECOND / bench->capacity;
    packet.arrival = bench->free + bench->delay;
    packet.transit = packet.arrival - bench->next;
    if (bench->noise)
      packet.transit += g_rand_double (bench->random) * bench->noise;
    g_array_append_val (bench->packets, packet);
    bench->next += PACKET_BITS * SECOND / rate;
  }
  if (bench->free > bench->now)
    bench->longest = MAX (bench->longest, bench->free - bench->now);
}

/* Least transit of what has come since; FALSE: nothing has */
static gboolean
receive_packets (Bench * bench, gint64 * least)
{
  guint n_before = bench->n_arrived;

  *least = G_MAXINT64;
  while (bench->n_arrived < bench->packets->len) {
    Packet *packet = &g_array_index (bench->packets, Packet, bench->n_arrived);

    if (packet->arrival > bench->now)
      break;
    *least = MIN (*least, (gint64) packet->transit);
    bench->n_arrived++;
  }
  bench->n_counted += bench->n_arrived - n_before;
  return bench->n_arrived > n_before;
}

static guint64
get_sent_rate (const Bench * bench)
{
  guint i, n = 0, n_windows = MIN (bench->window + 1, WINDOWS_PER_SECOND);

  for (i = 0; i < n_windows; i++)
    n += bench->sent[i];
  return n * PACKET_BITS * (guint64) WINDOWS_PER_SECOND / n_windows;
}

static void
regulate (Bench * bench, gint64 least)
{
  MmtpRegulatorWindow window;
  gboolean is_longer;

  window.now = bench->now;
  window.least = least;
  window.message = PACKET_BITS * SECOND / bench->rate;
  window.most = MOST;
  window.lag = bench->delay + LAG_OF_REPORT;
  window.sent = get_sent_rate (bench);
  window.limit = bench->limit;
  window.is_measured = bench->is_measured;
  bench->rate = mmtp_regulator_add (&bench->regulator, &window, &is_longer);
  bench->n_longer += is_longer;
  bench->least_rate = MIN (bench->least_rate, bench->rate);
  bench->most_rate = MAX (bench->most_rate, bench->rate);
}

static void
pass_window (Bench * bench)
{
  gint64 least;

  bench->now += WINDOW;
  send_packets (bench);
  if (receive_packets (bench, &least))
    regulate (bench, least + bench->late);
  bench->late = 0;
  bench->window++;
  if (bench->now < bench->next_drain)
    return;
  bench->next += mmtp_regulator_get_drain (&bench->regulator);
  bench->next_drain = bench->now + DRAIN_PERIOD;
}

static void
pass (Bench * bench, guint seconds)
{
  guint64 end = bench->now + seconds * SECOND;

  while (bench->now < end)
    pass_window (bench);
}

/* Part of the channel that was used, since `begin_count` */
static gdouble
get_use (const Bench * bench)
{
  return bench->n_counted * (gdouble) PACKET_BITS *SECOND /
      bench->capacity / (bench->now - bench->begun);
}

static void
assert_between (gdouble value, gdouble least, gdouble most)
{
  fail_unless (value >= least && value <= most, "%g is not in %g to %g", value,
      least, most);
}

/* Without noise, with as much as a packet takes, and with five times as much */
static const guint64 noises[] = { 0, 8 * MS, 40 * MS };

/* A channel that has been full for half a minute */
static void
set_up_full (Bench * bench, guint64 capacity, guint64 noise)
{
  set_up (bench, capacity, FALSE);
  bench->capacity = capacity;
  bench->noise = noise;
  pass (bench, 30);
  begin_count (bench);
}

/* --- full, and a short queue ---------------------------------------------- */

GST_START_TEST (fills_a_channel_of_unknown_rate)
{
  Bench bench;

  set_up (&bench, 100 * KBIT, TRUE);
  bench.noise = noises[__i__];
  pass (&bench, 15);
  assert_between (bench.rate, 900 * KBIT, 1100 * KBIT);
  fail_if (bench.regulator.is_guess);
  begin_count (&bench);
  pass (&bench, 30);
  assert_between (get_use (&bench), 0.99, 1.01);
  tear_down (&bench);
}

GST_END_TEST;

/* Less than half of what may be left standing. For three minutes: what stands
 * for longer than the blocks are remembered becomes what is usual, by some
 * milliseconds a minute. */
GST_START_TEST (leaves_only_a_short_queue)
{
  Bench bench;

  set_up_full (&bench, 1000 * KBIT, noises[__i__]);
  pass (&bench, 180);
  assert_between (bench.longest, 0, MOST / 2);
  assert_between (get_use (&bench), 0.99, 1.01);
  tear_down (&bench);
}

GST_END_TEST;

/* Nor does it become longer in an hour than what may be left standing. */
GST_START_TEST (queue_does_not_creep)
{
  Bench bench;

  set_up_full (&bench, 1000 * KBIT, noises[__i__]);
  pass (&bench, 1800);
  begin_count (&bench);
  pass (&bench, 1800);
  assert_between (bench.longest, 0, MOST);
  assert_between (get_use (&bench), 0.99, 1.01);
  tear_down (&bench);
}

GST_END_TEST;

/* Nobody knows before a window says so; after three seconds what was sent until
 * then has gone, and the queue is short again. */
GST_START_TEST (follows_a_channel_that_becomes_slower)
{
  Bench bench;

  set_up_full (&bench, 1000 * KBIT, noises[__i__]);
  bench.capacity = 400 * KBIT;
  pass (&bench, 1);
  assert_between (bench.rate, 0, 400 * KBIT);
  pass (&bench, 2);
  begin_count (&bench);
  pass (&bench, 12);
  assert_between (bench.longest, 0, MOST / 2);
  assert_between (bench.rate, 360 * KBIT, 440 * KBIT);
  begin_count (&bench);
  pass (&bench, 30);
  assert_between (get_use (&bench), 0.97, 1.01);
  tear_down (&bench);
}

GST_END_TEST;

GST_START_TEST (follows_a_channel_that_becomes_faster)
{
  Bench bench;

  set_up_full (&bench, 400 * KBIT, noises[__i__]);
  bench.capacity = 800 * KBIT;
  pass (&bench, 20);
  assert_between (bench.rate, 700 * KBIT, 880 * KBIT);
  begin_count (&bench);
  pass (&bench, 30);
  assert_between (get_use (&bench), 0.97, 1.01);
  assert_between (bench.longest, 0, MOST / 2);
  tear_down (&bench);
}

GST_END_TEST;

/* --- what is no queue ----------------------------------------------------- */

/* No packet waits for another, and all of them fluctuate. */
GST_START_TEST (noise_is_no_queue)
{
  Bench bench;

  set_up (&bench, 1000 * KBIT, FALSE);
  bench.source = 800 * KBIT;
  bench.noise = noises[__i__];
  pass (&bench, 60);
  assert_between (bench.least_rate, 900 * KBIT, 1000 * KBIT);
  assert_between (bench.most_rate, 1000 * KBIT, 1050 * KBIT);
  assert_between (bench.regulator.believed, 980 * KBIT, 1000 * KBIT);
  fail_unless_equals_int (bench.n_longer, 0);
  tear_down (&bench);
}

GST_END_TEST;

/* Less is sent for that one window, and no less is believed. What it teaches of
 * noise is forgotten; until then the queue is longer, but still short. */
GST_START_TEST (ignores_a_single_late_window)
{
  Bench bench;
  gdouble believed, rate;
  guint i;

  set_up_full (&bench, 1000 * KBIT, noises[__i__]);
  believed = bench.regulator.believed;
  rate = bench.rate;
  bench.late = 100 * MS;
  pass_window (&bench);
  assert_between (bench.rate, 0.5 * rate, 0.9 * rate);
  begin_count (&bench);
  for (i = 0; i < WINDOWS_PER_SECOND / 2; i++)
    pass_window (&bench);
  assert_between (bench.least_rate, 0.98 * rate, 1.05 * rate);
  assert_between (bench.regulator.believed, 0.98 * believed, 1.02 * believed);
  pass (&bench, 30);
  fail_unless_equals_int (bench.n_longer, 0);
  assert_between (bench.longest, 0, MOST / 2);
  assert_between (get_use (&bench), 0.97, 1.01);
  tear_down (&bench);
}

GST_END_TEST;

/* Where windows fluctuate the one before it may have been over the target too,
 * by accident: then they are a queue that grows, by the most that is believed
 * at once, a quarter. */
GST_START_TEST (late_windows_cost_a_fifth_at_most)
{
  Bench bench;
  guint i;

  set_up_full (&bench, 1000 * KBIT, 40 * MS);
  for (i = 0; i < 20; i++) {
    gdouble believed = bench.regulator.believed;

    bench.late = 100 * MS;
    pass_window (&bench);
    pass_window (&bench);
    assert_between (bench.regulator.believed, 0.78 * believed, believed * 1.02);
    pass (&bench, 10);
    assert_between (bench.rate, 880 * KBIT, 1100 * KBIT);
  }
  fail_unless_equals_int (bench.n_longer, 0);
  assert_between (bench.longest, 0, MOST);
  assert_between (get_use (&bench), 0.95, 1.01);
  tear_down (&bench);
}

GST_END_TEST;

/* A queue would go when less is sent; this doesn't, and then nothing was wrong
 * with the rate. */
GST_START_TEST (tells_a_longer_way_from_a_queue)
{
  Bench bench;

  set_up_full (&bench, 1000 * KBIT, noises[__i__]);
  bench.delay += 80 * MS;
  pass (&bench, 5);
  fail_unless_equals_int (bench.n_longer, 1);
  assert_between (bench.rate, 900 * KBIT, 1100 * KBIT);
  tear_down (&bench);
}

GST_END_TEST;

GST_START_TEST (who_sends_little_has_not_caused_a_queue)
{
  Bench bench;
  gdouble believed;

  set_up_full (&bench, 1000 * KBIT, 0);
  bench.source = 200 * KBIT;
  pass (&bench, 2);
  believed = bench.regulator.believed;
  begin_count (&bench);
  bench.delay += 50 * MS;
  pass (&bench, 10);
  assert_between (bench.least_rate, believed - 1, believed);
  assert_between (bench.most_rate, believed - 1, believed);
  tear_down (&bench);
}

GST_END_TEST;

/* --- limits --------------------------------------------------------------- */

/* 5 % more, to bring the queue to what it should be, which is never reached */
GST_START_TEST (ends_at_a_limit_that_is_known)
{
  Bench bench;

  set_up (&bench, 100 * KBIT, TRUE);
  bench.limit = 500 * KBIT;
  bench.noise = noises[__i__];
  pass (&bench, 30);
  assert_between (bench.regulator.believed, 500 * KBIT, 500 * KBIT);
  assert_between (bench.rate, 490 * KBIT, 525 * KBIT);
  assert_between (bench.most_rate, 490 * KBIT, 525 * KBIT);
  tear_down (&bench);
}

GST_END_TEST;

GST_START_TEST (fills_less_than_a_limit_where_less_fits)
{
  Bench bench;

  set_up (&bench, 100 * KBIT, TRUE);
  bench.limit = 1500 * KBIT;
  bench.noise = noises[__i__];
  pass (&bench, 20);
  begin_count (&bench);
  pass (&bench, 30);
  assert_between (bench.rate, 900 * KBIT, 1100 * KBIT);
  assert_between (get_use (&bench), 0.97, 1.01);
  tear_down (&bench);
}

GST_END_TEST;

GST_START_TEST (does_not_try_more_where_something_measures)
{
  Bench bench;

  set_up (&bench, 500 * KBIT, TRUE);
  bench.is_measured = TRUE;
  bench.noise = noises[__i__];
  pass (&bench, 10);
  assert_between (bench.rate, 490 * KBIT, 600 * KBIT);
  bench.rate = mmtp_regulator_set (&bench.regulator, 700 * KBIT);
  fail_unless_equals_float (bench.regulator.believed, 700 * KBIT);
  assert_between (bench.rate, 690 * KBIT, 735 * KBIT);
  tear_down (&bench);
}

GST_END_TEST;

/* 3 ms, so that the channel is never idle, and what the caller allows */
GST_START_TEST (target_is_within_its_limits)
{
  Bench bench;

  set_up_full (&bench, 10000 * KBIT, 0);
  fail_unless_equals_uint64 (mmtp_regulator_get_target (&bench.regulator),
      3 * MS);
  bench.noise = SECOND;
  pass (&bench, 10);
  assert_between (mmtp_regulator_get_target (&bench.regulator), 3 * MS, MOST);
  tear_down (&bench);
}

GST_END_TEST;

static Suite *
mmtpregulator_suite (void)
{
  Suite *suite = suite_create ("mmtpregulator");
  TCase *tests = tcase_create ("regulator");
  gint n = G_N_ELEMENTS (noises);

  suite_add_tcase (suite, tests);
  tcase_add_loop_test (tests, fills_a_channel_of_unknown_rate, 0, n);
  tcase_add_loop_test (tests, leaves_only_a_short_queue, 0, n);
  tcase_add_loop_test (tests, queue_does_not_creep, 0, n);
  tcase_add_loop_test (tests, follows_a_channel_that_becomes_slower, 0, n);
  tcase_add_loop_test (tests, follows_a_channel_that_becomes_faster, 0, n);
  tcase_add_loop_test (tests, noise_is_no_queue, 0, n);
  tcase_add_loop_test (tests, ignores_a_single_late_window, 0, 2);
  tcase_add_test (tests, late_windows_cost_a_fifth_at_most);
  tcase_add_loop_test (tests, tells_a_longer_way_from_a_queue, 0, n);
  tcase_add_test (tests, who_sends_little_has_not_caused_a_queue);
  tcase_add_loop_test (tests, ends_at_a_limit_that_is_known, 0, n);
  tcase_add_loop_test (tests, fills_less_than_a_limit_where_less_fits, 0, n);
  tcase_add_loop_test (tests, does_not_try_more_where_something_measures, 0, n);
  tcase_add_test (tests, target_is_within_its_limits);
  return suite;
}

GST_CHECK_MAIN (mmtpregulator);
