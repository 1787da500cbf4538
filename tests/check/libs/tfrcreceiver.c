/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Holds the receiver of TFRC to RFC 5348 sections 5 and 6 and RFC 4342 sections
 * 6, 8 and 10: which packets are lost, which losses are one event, the loss
 * event rate that they make, the receive rate, and when feedback is due. */

#include <gst/check/gstcheck.h>

#include <math.h>

#include "dccpsequence.h"
#include "tfrclosses.h"
#include "tfrcreceiver.h"

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define MS G_GUINT64_CONSTANT (1000000)
#define NEVER G_MAXUINT64

#define R (100 * MS)
#define FIRST 7000              /* ISR */
#define SIZE 1000

#define assert_near(a, b, error) G_STMT_START { \
  const gdouble _a = (a), _b = (b); \
  fail_unless (fabs (_a - _b) <= (error) * fabs (_b), \
      #a " is %.9g, not %.9g", _a, _b); \
} G_STMT_END

typedef struct
{
  TfrcReceiver *receiver;
  guint64 now, sequence;        /* of the next packet */
  guint64 step;                 /* ns between packets */
  guint ndp;
} Bench;

static void
set_up_at (Bench * bench, guint64 step, guint64 initial_sequence)
{
  const TfrcReceiverConfig config = { TFRC_EQUATION_EXACT, initial_sequence };

  memset (bench, 0, sizeof (*bench));
  bench->receiver = tfrc_receiver_new (&config);
  bench->sequence = dccp_sequence_add (initial_sequence, 1);
  bench->step = step;
  tfrc_receiver_set_round_trip (bench->receiver, R);
}

static void
set_up (Bench * bench, guint64 step)
{
  set_up_at (bench, step, FIRST);
}

static void
tear_down (Bench * bench)
{
  tfrc_receiver_free (bench->receiver);
}

static TfrcReceiverState
get_state (Bench * bench)
{
  TfrcReceiverState state;

  tfrc_receiver_get_state (bench->receiver, &state);
  return state;
}

static guint8
get_ccval (Bench * bench)
{
  return bench->now / (R / 4) % 16;
}

/* A sender may say its round trip with each packet (RFC 6323). */
static void
input (Bench * bench, guint64 sequence)
{
  tfrc_receiver_set_round_trip (bench->receiver, R);
  tfrc_receiver_input (bench->receiver, bench->now, sequence, TRUE,
      get_ccval (bench), SIZE, bench->ndp);
}

static TfrcReport
report (Bench * bench)
{
  TfrcReport report;

  tfrc_receiver_take_report (bench->receiver, bench->now, &report);
  return report;
}

static gboolean
wants (Bench * bench)
{
  return tfrc_receiver_wants_feedback (bench->receiver, bench->now);
}

/* The next comes, and its feedback goes if it is due */
static void
take (Bench * bench, guint n)
{
  while (n-- > 0) {
    input (bench, bench->sequence);
    bench->sequence = dccp_sequence_add (bench->sequence, 1);
    if (wants (bench))
      report (bench);
    bench->now += bench->step;
  }
}

static void
lose (Bench * bench, guint n)
{
  bench->sequence = dccp_sequence_add (bench->sequence, n);
  bench->now += n * bench->step;
}

/* --- feedback */

GST_START_TEST (first_data_is_answered_at_once)
{
  TfrcReport said;
  Bench bench;

  set_up (&bench, 10 * MS);
  fail_if (wants (&bench));
  fail_unless_equals_uint64 (tfrc_receiver_next_wakeup (bench.receiver), NEVER);
  tfrc_receiver_input (bench.receiver, 0, FIRST, FALSE, 0, 0, 0);
  fail_if (wants (&bench));
  input (&bench, FIRST + 1);
  fail_unless (wants (&bench));
  bench.now += 3 * MS;
  said = report (&bench);
  fail_unless_equals_uint64 (said.acknowledged, FIRST + 1);
  fail_unless_equals_uint64 (said.elapsed, 3 * MS);
  fail_unless_equals_int (said.receive_rate, 0);
  fail_unless_equals_uint64 (said.loss_event_rate, G_MAXUINT32);
  fail_unless_equals_int (said.intervals.n, 1);
  fail_unless_equals_int (said.intervals.skip, 0);
  fail_unless_equals_int (said.intervals.intervals[0].lossless, 2);
  fail_unless_equals_int (said.intervals.intervals[0].loss, 0);
  fail_unless_equals_int (said.intervals.intervals[0].data, 0);
  fail_if (wants (&bench));
  tear_down (&bench);
}

GST_END_TEST;

GST_START_TEST (feedback_each_four_of_the_window_counter)
{
  Bench bench;
  guint i, ccval = 14, since = 0;

  set_up (&bench, 0);
  for (i = 0; i < 100; i++) {
    const guint steps[] = { 0, 1, 1, 2, 5, 0, 3 };
    const guint step = steps[i % G_N_ELEMENTS (steps)];

    ccval += step;
    since += step;
    tfrc_receiver_set_round_trip (bench.receiver, R);
    tfrc_receiver_input (bench.receiver, i, bench.sequence++, TRUE, ccval,
        SIZE, 0);
    bench.now = i;
    fail_unless_equals_int (wants (&bench), i == 0 || since >= 4);
    /* what is no data is no reason */
    tfrc_receiver_input (bench.receiver, i, bench.sequence++, FALSE,
        ccval + 7, 0, 0);
    fail_unless_equals_int (wants (&bench), i == 0 || since >= 4);
    if (wants (&bench)) {
      report (&bench);
      since = 0;
    }
  }
  tear_down (&bench);
}

GST_END_TEST;

GST_START_TEST (feedback_a_round_trip_after_the_last_data)
{
  Bench bench;

  set_up (&bench, MS);
  take (&bench, 10);
  fail_unless_equals_uint64 (tfrc_receiver_next_wakeup (bench.receiver), R);
  bench.now = R - 1;
  fail_if (wants (&bench));
  bench.now = R;
  fail_unless (wants (&bench));
  fail_unless_equals_uint64 (report (&bench).elapsed, R - 9 * MS);
  /* then nothing came */
  fail_unless_equals_uint64 (tfrc_receiver_next_wakeup (bench.receiver), NEVER);
  bench.now += SECOND;
  fail_if (wants (&bench));
  tear_down (&bench);
}

GST_END_TEST;

GST_START_TEST (new_loss_event_is_told_at_once)
{
  Bench bench;

  set_up (&bench, 2 * MS);
  take (&bench, 60);
  report (&bench);
  lose (&bench, 1);
  take (&bench, 2);
  input (&bench, bench.sequence++);
  fail_unless (wants (&bench));
  fail_unless (report (&bench).loss_event_rate < G_MAXUINT32);
  /* another one less than a round trip later is of the same event */
  lose (&bench, 1);
  input (&bench, bench.sequence++);
  input (&bench, bench.sequence++);
  input (&bench, bench.sequence++);
  fail_if (wants (&bench));
  fail_unless_equals_uint64 (get_state (&bench).loss_events, 1);
  fail_unless_equals_uint64 (get_state (&bench).lost, 2);
  tear_down (&bench);
}

GST_END_TEST;

/* --- what is lost */

/* Packet 10 comes behind `later` later ones */
static void
reorder (Bench * bench, guint later)
{
  guint64 late;

  set_up (bench, 10 * MS);
  take (bench, 10);
  late = bench->sequence++;
  take (bench, later);
  input (bench, late);
  take (bench, 20);
}

GST_START_TEST (packet_may_be_overtaken_by_two)
{
  Bench bench;
  guint later;

  for (later = 1; later <= 2; later++) {
    reorder (&bench, later);
    fail_unless_equals_uint64 (get_state (&bench).lost, 0);
    fail_unless_equals_uint64 (get_state (&bench).loss_events, 0);
    fail_unless_equals_uint64 (get_state (&bench).reordered, 1);
    fail_unless_equals_uint64 (get_state (&bench).packets, 31 + later);
    tear_down (&bench);
  }
  /* NDUPACK = 3: the third makes it lost, and late it stays so */
  for (later = 3; later <= 6; later++) {
    reorder (&bench, later);
    fail_unless_equals_uint64 (get_state (&bench).lost, 1);
    fail_unless_equals_uint64 (get_state (&bench).loss_events, 1);
    fail_unless_equals_uint64 (get_state (&bench).reordered, 1);
    fail_unless_equals_uint64 (get_state (&bench).packets, 31 + later);
    tear_down (&bench);
  }
}

GST_END_TEST;

/* A burst that was overtaken by one packet is not lost: packets count, not the
 * distance of numbers. */
GST_START_TEST (burst_may_be_overtaken)
{
  Bench bench;
  guint64 ahead;

  set_up (&bench, 10 * MS);
  take (&bench, 10);
  ahead = bench.sequence + 5;
  input (&bench, ahead);
  fail_unless_equals_int (report (&bench).intervals.skip, 3);
  take (&bench, 5);
  bench.sequence = ahead + 1;
  take (&bench, 10);
  fail_unless_equals_uint64 (get_state (&bench).lost, 0);
  fail_unless_equals_uint64 (get_state (&bench).reordered, 5);
  tear_down (&bench);
}

GST_END_TEST;

GST_START_TEST (duplicates_count_once)
{
  TfrcReceiverState state;
  Bench bench;
  guint i;

  set_up (&bench, 10 * MS);
  for (i = 0; i < 200; i++) {
    input (&bench, bench.sequence + i);
    input (&bench, bench.sequence + i);
    input (&bench, bench.sequence + i - MIN (i, 40));
    input (&bench, bench.sequence + i - MIN (i, 150));
  }
  state = get_state (&bench);
  fail_unless_equals_uint64 (state.packets, 200);
  fail_unless_equals_uint64 (state.bytes, 200 * SIZE);
  fail_unless_equals_uint64 (state.duplicates, 600);
  fail_unless_equals_uint64 (state.lost + state.reordered, 0);
  /* behind a hole too */
  input (&bench, bench.sequence + 201);
  input (&bench, bench.sequence + 201);
  fail_unless_equals_uint64 (get_state (&bench).duplicates, 601);
  tear_down (&bench);
}

GST_END_TEST;

GST_START_TEST (numbers_wrap)
{
  Bench bench;
  guint i;

  set_up_at (&bench, 10 * MS, DCCP_SEQUENCE_MASK - 50);
  for (i = 0; i < 20; i++) {
    take (&bench, 19);
    lose (&bench, 1);
  }
  take (&bench, 10);
  fail_unless_equals_uint64 (get_state (&bench).lost, 20);
  fail_unless_equals_uint64 (get_state (&bench).loss_events, 20);
  fail_unless_equals_uint64 (get_state (&bench).packets, 390);
  fail_unless_equals_uint64 (report (&bench).acknowledged, 359);
  tear_down (&bench);
}

GST_END_TEST;

GST_START_TEST (jump_of_numbers_takes_no_time)
{
  const guint64 jumps[] = { 100, 1 << 24, G_GUINT64_CONSTANT (1) << 40,
    (G_GUINT64_CONSTANT (1) << 47) - 100
  };
  guint i, n;

  for (i = 0; i < G_N_ELEMENTS (jumps); i++) {
    Bench bench;
    TfrcReport last;

    set_up (&bench, 10 * MS);
    take (&bench, 100);
    for (n = 0; n < 1000; n++) {
      bench.sequence = dccp_sequence_add (bench.sequence, jumps[i]);
      /* in no time, in less than a round trip, in many */
      bench.now += n % 3 * n % 7 * 50 * MS;
      take (&bench, 5);
    }
    last = report (&bench);
    fail_unless (last.intervals.n == 9);
    for (n = 0; n < 9; n++) {
      fail_unless (last.intervals.intervals[n].lossless < 1 << 24);
      fail_unless (last.intervals.intervals[n].loss < 1 << 23);
      fail_unless (last.intervals.intervals[n].data < 1 << 24);
    }
    fail_unless (last.loss_event_rate >= 1);
    fail_unless (get_state (&bench).lost == 1000 * jumps[i]);
    tear_down (&bench);
  }
}

GST_END_TEST;

GST_START_TEST (lost_acknowledgements_are_no_loss_event)
{
  TfrcReport last;
  Bench bench;

  set_up (&bench, 10 * MS);
  take (&bench, 10);
  lose (&bench, 3);
  bench.ndp = 3;
  take (&bench, 1);
  bench.ndp = 0;
  take (&bench, 10);
  fail_unless_equals_uint64 (get_state (&bench).lost, 3);
  fail_unless_equals_uint64 (get_state (&bench).loss_events, 0);
  last = report (&bench);
  fail_unless_equals_int (last.intervals.intervals[0].lossless, 25);
  fail_unless_equals_int (last.intervals.intervals[0].data, 0);
  /* two of three: one was data */
  lose (&bench, 3);
  bench.ndp = 2;
  take (&bench, 1);
  bench.ndp = 0;
  take (&bench, 10);
  fail_unless_equals_uint64 (get_state (&bench).loss_events, 1);
  last = report (&bench);
  fail_unless_equals_int (last.intervals.intervals[0].loss +
      last.intervals.intervals[0].lossless, 14);
  fail_unless_equals_int (last.intervals.intervals[0].data, 12);
  tear_down (&bench);
}

GST_END_TEST;

/* --- loss events */

GST_START_TEST (losses_of_a_round_trip_are_one_event)
{
  Bench bench;
  guint i;

  set_up (&bench, 10 * MS);
  take (&bench, 50);
  /* first at 500, then each 40 ms, up to 580 ms: 120 ms are too long */
  for (i = 0; i < 4; i++) {
    lose (&bench, 1);
    take (&bench, 3);
  }
  take (&bench, 3);
  fail_unless_equals_uint64 (get_state (&bench).lost, 4);
  fail_unless_equals_uint64 (get_state (&bench).loss_events, 2);
  tear_down (&bench);
}

GST_END_TEST;

GST_START_TEST (long_gap_is_an_event_each_round_trip)
{
  Bench bench;

  set_up (&bench, 10 * MS);
  take (&bench, 50);
  lose (&bench, 33);            /* at 500, 610, 720: R and the next one */
  take (&bench, 3);
  fail_unless_equals_uint64 (get_state (&bench).loss_events, 3);
  fail_unless_equals_int (report (&bench).intervals.intervals[1].data, 11);
  /* those that nobody remembers count too */
  lose (&bench, 11 * 100);
  take (&bench, 3);
  fail_unless_equals_uint64 (get_state (&bench).loss_events, 103);
  fail_unless_equals_int (report (&bench).intervals.intervals[8].data, 11);
  tear_down (&bench);
}

GST_END_TEST;

/* RFC 4342 section 10.2, of which time knows nothing: the receiver was never
 * told a round trip */
GST_START_TEST (window_counter_tells_loss_events_apart)
{
  const TfrcReceiverConfig config = { TFRC_EQUATION_EXACT, FIRST };
  guint apart, events;

  for (apart = 0; apart < 8; apart++) {
    TfrcReceiver *receiver = tfrc_receiver_new (&config);
    guint64 sequence = FIRST + 1;
    TfrcReceiverState state;
    guint i;

    /* all at the same time, so that no round trip is seen either */
    for (i = 0; i < 20; i++)
      tfrc_receiver_input (receiver, 0, sequence++, TRUE, 14, SIZE, 0);
    sequence++;
    for (i = 0; i <= apart; i++)
      tfrc_receiver_input (receiver, 0, sequence++, TRUE, 14 + i, SIZE, 0);
    sequence++;
    for (i = 0; i < 5; i++)
      tfrc_receiver_input (receiver, 0, sequence++, TRUE, 14 + apart, SIZE, 0);
    tfrc_receiver_get_state (receiver, &state);
    events = apart <= 4 ? 1 : 2;
    fail_unless_equals_uint64 (state.lost, 2);
    fail_unless_equals_uint64 (state.loss_events, events);
    tfrc_receiver_free (receiver);
  }
}

GST_END_TEST;

/* A round trip that the handshake measured before the queue grew must not make
 * many events of one. */
GST_START_TEST (window_counter_corrects_an_old_round_trip)
{
  const TfrcReceiverConfig config = { TFRC_EQUATION_EXACT, FIRST };
  TfrcReceiver *receiver = tfrc_receiver_new (&config);
  TfrcReceiverState state;
  guint64 sequence = FIRST + 1, now = 0;
  guint i;

  tfrc_receiver_set_round_trip (receiver, 10 * MS);
  tfrc_receiver_get_state (receiver, &state);
  fail_unless_equals_uint64 (state.round_trip, 10 * MS);
  /* in fact 400 ms: the counter moves each 100 */
  for (i = 0; i < 200; i++, now += 20 * MS, sequence++) {
    if (i < 160 || i % 10)
      tfrc_receiver_input (receiver, now, sequence, TRUE, i / 5, SIZE, 0);
  }
  tfrc_receiver_get_state (receiver, &state);
  assert_near (state.round_trip, 400 * MS, .06);
  fail_unless_equals_uint64 (state.lost, 4);
  fail_unless_equals_uint64 (state.loss_events, 2);
  tfrc_receiver_free (receiver);
}

GST_END_TEST;

/* --- the loss event rate */

static gdouble
get_p (const guint * lengths, guint n)
{
  TfrcIntervals intervals = { 0, n };
  gdouble p;
  guint i;

  for (i = 0; i < n; i++) {
    intervals.intervals[i].data = lengths[i];
    intervals.intervals[i].loss = i < n - 1;
    intervals.intervals[i].lossless = lengths[i];
  }
  fail_unless (tfrc_intervals_get_loss_event_rate (&intervals, &p));
  return p;
}

GST_START_TEST (mean_loss_interval)
{
  const guint rising[] = { 3, 20, 40, 60, 80, 100, 120, 140, 160 };
  const guint open[] = { 200, 100, 100, 100, 100, 100, 100, 100, 100 };
  const guint two[] = { 10, 30, 20 };
  const guint longer[] = { 60, 40 };
  const guint open_intervals[] = { 45, 40, 30 };

  /* I_tot1 = 20 + 40 + 60 + 80 + 80 + 72 + 56 + 32 = 440, by 6 */
  assert_near (1 / get_p (rising, 9), 73.333333, 1e-6);
  /* I_tot0 = 200 + 5 * 100, by 6: twice the mean, still without discount */
  assert_near (1 / get_p (open, 9), 116.666667, 1e-6);
  /* fewer: only their weights; max (40 / 2, 50 / 2) */
  assert_near (1 / get_p (two, 3), 25, 1e-6);
  /* the oldest counts once: max (60, 40), max (85 / 2, 70 / 2) */
  assert_near (1 / get_p (longer, 2), 60, 1e-6);
  assert_near (1 / get_p (open_intervals, 3), 42.5, 1e-6);
}

GST_END_TEST;

GST_START_TEST (long_loss_free_time_discounts_history)
{
  const guint open[] = { 500, 100, 100, 100, 100, 100, 100, 100, 100 };
  const guint longer[] = { 10000, 100, 100, 100, 100, 100, 100, 100, 100 };
  const guint closed[] = { 10, 500, 100, 100, 100, 100, 100, 100, 100 };

  /* DF = 2 * 100 / 500; (500 + 0.4 * 500) / (1 + 0.4 * 5). Without discounting
   * it would be 1000 / 6 = 166.67. */
  assert_near (1 / get_p (open, 9), 233.333333, 1e-6);
  /* at least 0.25: (10000 + 0.25 * 500) / (1 + 0.25 * 5) */
  assert_near (1 / get_p (longer, 9), 4500, 1e-6);
  /* It stays discounted: I_1 = 500, the others 0.4 of their weights 5, of which
   * the last, not there, had 0.2: (500 + 0.4 * 100 * 5) / (1 + 0.4 * 5) */
  assert_near (1 / get_p (closed, 9), (500 + .4 * 500) / 3, 1e-6);
}

GST_END_TEST;

GST_START_TEST (intervals_that_say_little)
{
  TfrcIntervals intervals = { 0 };
  const guint nothing[] = { 0, 0, 0 };
  gdouble p = 7;

  fail_if (tfrc_intervals_get_loss_event_rate (&intervals, &p));
  intervals.n = TFRC_MAX_INTERVALS + 1;
  fail_if (tfrc_intervals_get_loss_event_rate (&intervals, &p));
  fail_unless_equals_float (p, 7);
  intervals.n = 1;
  fail_unless (tfrc_intervals_get_loss_event_rate (&intervals, &p));
  fail_unless_equals_float (p, 0);
  intervals.intervals[0].loss = 1;
  intervals.intervals[0].data = 4;
  fail_unless (tfrc_intervals_get_loss_event_rate (&intervals, &p));
  fail_unless_equals_float (p, .25);
  /* a lie: never more than every packet */
  assert_near (get_p (nothing, 3), 1, 1e-9);
}

GST_END_TEST;

GST_START_TEST (more_intervals_than_count)
{
  guint lengths[TFRC_MAX_INTERVALS], i;

  for (i = 0; i < G_N_ELEMENTS (lengths); i++)
    lengths[i] = i < 9 ? 50 : 60;
  assert_near (1 / get_p (lengths, G_N_ELEMENTS (lengths)), 50, 1e-6);
}

GST_END_TEST;

/* RFC 4342 section 6.1.1: it has no data length before the first loss. */
GST_START_TEST (first_interval_has_no_length)
{
  TfrcReport last;
  Bench bench;

  set_up (&bench, 10 * MS);
  take (&bench, 20);
  last = report (&bench);
  fail_unless_equals_int (last.intervals.n, 1);
  fail_unless_equals_int (last.intervals.intervals[0].lossless, 21);
  fail_unless_equals_int (last.intervals.intervals[0].data, 0);
  tear_down (&bench);
}

GST_END_TEST;

/* RFC 5348 section 6.3.1: X_recv of 125000 at R = 100 ms and s = 1460, as in
 * the test of the equation */
GST_START_TEST (first_interval_comes_from_the_equation)
{
  TfrcReport last;
  Bench bench;
  guint i;

  set_up (&bench, 0);
  for (i = 0; i < 200; i++) {
    bench.now = i * (1460 * SECOND / 125000);
    if (i == 190)
      bench.sequence++;
    tfrc_receiver_set_round_trip (bench.receiver, R);
    tfrc_receiver_input (bench.receiver, bench.now, bench.sequence++, TRUE,
        get_ccval (&bench), 1460, 0);
    if (wants (&bench))
      report (&bench);
  }
  last = report (&bench);
  assert_near (last.receive_rate, 125000, .01);
  fail_unless_equals_int (last.intervals.n, 2);
  fail_unless_equals_int (last.intervals.intervals[1].data, 64);
  fail_unless_equals_int (last.intervals.intervals[1].lossless, 191);
  fail_unless_equals_int (last.loss_event_rate, 64);
  tear_down (&bench);
}

GST_END_TEST;

GST_START_TEST (loss_of_the_first_data)
{
  TfrcReport last;
  Bench bench;
  gdouble p;

  set_up (&bench, 10 * MS);
  lose (&bench, 1);
  input (&bench, bench.sequence++);
  input (&bench, bench.sequence++);
  input (&bench, bench.sequence++);
  last = report (&bench);
  /* Half a packet a round trip: f (p) = 2, p = 0.2063, 1 / p = 4.85; the open
   * interval has 4 */
  fail_unless_equals_int (last.intervals.intervals[1].data, 5);
  fail_unless_equals_int (last.loss_event_rate, 5);
  fail_unless (tfrc_intervals_get_loss_event_rate (&last.intervals, &p));
  assert_near (p, .2, .001);
  tear_down (&bench);
}

GST_END_TEST;

GST_START_TEST (every_tenth_lost_is_a_tenth)
{
  Bench bench;
  guint i;

  set_up (&bench, 12 * MS);
  for (i = 0; i < 300; i++) {
    lose (&bench, 1);
    take (&bench, 9);
    if (i >= 12) {
      const TfrcReport last = report (&bench);
      gdouble p;

      fail_unless (tfrc_intervals_get_loss_event_rate (&last.intervals, &p));
      fail_unless (fabs (p - .1) <= .005, "%g", p);
      fail_unless_equals_int (last.loss_event_rate, 10);
      fail_unless (fabs (get_state (&bench).loss_event_rate - .1) <= .005);
    }
  }
  tear_down (&bench);
}

GST_END_TEST;

/* The option has what the receiver's own p is made of, but for the packets with
 * which the first interval is rounded. */
/* What adding eight products leaves is no packet more. */
GST_START_TEST (inverse_rate_is_rounded_up_from_what_it_is)
{
  guint every, i;

  for (every = 2; every < 100; every++) {
    Bench bench;

    set_up (&bench, R + MS);
    for (i = 0; i < 12; i++) {
      lose (&bench, 1);
      take (&bench, every - 1);
    }
    fail_unless_equals_int (report (&bench).loss_event_rate, every);
    tear_down (&bench);
  }
}

GST_END_TEST;

/* The handshake's round trip of 10 ms became 400 ms before the window counter
 * was ever seen to go on by four. */
GST_START_TEST (gap_is_not_split_by_an_old_round_trip)
{
  const TfrcReceiverConfig config = { TFRC_EQUATION_EXACT, FIRST };
  guint quarters;

  for (quarters = 0; quarters < 15; quarters++) {
    TfrcReceiver *receiver = tfrc_receiver_new (&config);
    TfrcReceiverState state;
    guint64 sequence = FIRST + 1, now = 0;
    guint i;

    tfrc_receiver_set_round_trip (receiver, 10 * MS);
    for (i = 0; i < 10; i++)
      tfrc_receiver_input (receiver, now, sequence++, TRUE, 3, SIZE, 0);
    now += quarters * 100 * MS;
    sequence += 20;
    for (i = 0; i < 5; i++)
      tfrc_receiver_input (receiver, now, sequence++, TRUE, 3 + quarters, SIZE,
          0);
    tfrc_receiver_get_state (receiver, &state);
    fail_unless_equals_uint64 (state.lost, 20);
    fail_unless (state.loss_events >= MAX (quarters / 4, 1)
        && state.loss_events <= (quarters <= 4 ? 1 : (quarters + 3) / 4),
        "%u: %" G_GUINT64_FORMAT, quarters, state.loss_events);
    tfrc_receiver_free (receiver);
  }
}

GST_END_TEST;

GST_START_TEST (option_gives_the_rate_of_the_receiver)
{
  GRand *random = g_rand_new_with_seed (4342);
  Bench bench;
  guint i;

  set_up (&bench, 12 * MS);
  for (i = 0; i < 5000; i++) {
    if (g_rand_int_range (random, 0, 30) == 0)
      lose (&bench, 1);
    take (&bench, 1);
    if (i > 1000) {
      const TfrcReport last = report (&bench);
      guint64 sum = last.intervals.skip, n;
      gdouble p;

      fail_unless (tfrc_intervals_get_loss_event_rate (&last.intervals, &p));
      /* of nine intervals the discounts of longer ago are not known */
      assert_near (p, get_state (&bench).loss_event_rate, .15);
      fail_unless_equals_int (last.intervals.n, 9);
      fail_unless (last.intervals.skip <= 3);
      for (n = 0; n < 9; n++) {
        const TfrcInterval *interval = &last.intervals.intervals[n];

        /* but for what is not settled yet, and more than may be skipped */
        fail_unless (interval->loss > 0 && interval->loss +
            interval->lossless - interval->data <= (n == 0));
        sum += interval->data;
      }
      fail_unless (sum < bench.sequence - FIRST);
    }
  }
  tear_down (&bench);
  g_rand_free (random);
}

GST_END_TEST;

/* Every number from the first packet to the acknowledged one is of an interval
 * or skipped (RFC 4342 section 8.6.1). */
GST_START_TEST (intervals_cover_all_numbers)
{
  Bench bench;
  guint i;

  set_up (&bench, 12 * MS);
  for (i = 1; i < 90; i++) {
    TfrcReport last;
    guint64 sum, n;

    if (i % 20 == 11)
      lose (&bench, 1);
    take (&bench, 1);
    last = report (&bench);
    for (sum = last.intervals.skip, n = 0; n < last.intervals.n; n++)
      sum += last.intervals.intervals[n].loss +
          last.intervals.intervals[n].lossless;
    fail_unless_equals_uint64 (sum, last.acknowledged - FIRST + 1);
  }
  /* a hole of one and one behind it; then two; then it is lost */
  lose (&bench, 1);
  take (&bench, 1);
  fail_unless_equals_int (report (&bench).intervals.skip, 2);
  take (&bench, 1);
  fail_unless_equals_int (report (&bench).intervals.skip, 3);
  take (&bench, 1);
  fail_unless_equals_int (report (&bench).intervals.skip, 0);
  tear_down (&bench);
}

GST_END_TEST;

/* --- the receive rate */

/* Reports each round trip of 22 ms about packets that come each 25.6 ms: of
 * these an interval of fixed length has none, one or two. */
GST_START_TEST (receive_rate_of_sparse_packets_has_no_sawtooth)
{
  GRand *random = g_rand_new_with_seed (514);
  const TfrcReceiverConfig config = { TFRC_EQUATION_EXACT, FIRST };
  TfrcReceiver *receiver = tfrc_receiver_new (&config);
  guint64 sequence = FIRST + 1, min = G_MAXUINT64, max = 0, n = 0;
  guint i;

  tfrc_receiver_set_round_trip (receiver, 22 * MS);
  tfrc_receiver_set_round_trip (receiver, 22 * MS);
  for (i = 0; i < 2000; i++) {
    const guint64 now =
        i * (25600 * MS / 1000) + g_rand_int_range (random, 0, 1500000);

    tfrc_receiver_set_round_trip (receiver, 22 * MS);
    tfrc_receiver_input (receiver, now, sequence++, TRUE, i * 5, 512, 0);
    if (tfrc_receiver_wants_feedback (receiver, now)) {
      TfrcReport report;

      tfrc_receiver_take_report (receiver, now, &report);
      if (n++ == 0)
        continue;
      min = MIN (min, report.receive_rate);
      max = MAX (max, report.receive_rate);
    }
  }
  fail_unless_equals_uint64 (n, 2000);
  fail_unless (min >= 18800 && max <= 21300, "%" G_GUINT64_FORMAT " to %"
      G_GUINT64_FORMAT, min, max);
  tfrc_receiver_free (receiver);
  g_rand_free (random);
}

GST_END_TEST;

GST_START_TEST (receive_rate_is_over_a_round_trip_at_least)
{
  Bench bench;
  guint i;

  /* 100 kbyte/s in bursts of 5 each 50 ms, on a clock that does not see the
   * time within one; and feedback is taken much too often */
  set_up (&bench, 0);
  for (i = 0; i < 100; i++) {
    guint n;

    for (n = 0; n < 5; n++) {
      input (&bench, bench.sequence++);
      if (n == 0 || n == 3) {
        const TfrcReport last = report (&bench);

        if (i >= 3)
          fail_unless (last.receive_rate >= 50000
              && last.receive_rate <= 150000, "%u", last.receive_rate);
      }
    }
    bench.now += 50 * MS;
  }
  tear_down (&bench);
}

GST_END_TEST;

GST_START_TEST (two_packets_are_no_high_rate)
{
  Bench bench;

  set_up (&bench, 1000);
  take (&bench, 1);
  input (&bench, bench.sequence++);
  /* one in a round trip */
  fail_unless_equals_int (report (&bench).receive_rate, SIZE * SECOND / R);
  tear_down (&bench);
}

GST_END_TEST;

GST_START_TEST (burst_after_silence_is_no_high_rate)
{
  Bench bench;
  TfrcReport last;

  set_up (&bench, 10 * MS);
  take (&bench, 100);
  bench.now += 10 * SECOND;
  bench.step = 0;
  take (&bench, 1);
  last = report (&bench);
  fail_unless (last.receive_rate <= 100000);
  take (&bench, 10);
  /* 10 at once, over the round trip: 100000, not more */
  fail_unless (report (&bench).receive_rate <= 100000);
  tear_down (&bench);
}

GST_END_TEST;

/* --- lies */

GST_START_TEST (whatever_comes_the_report_is_sane)
{
  GRand *random = g_rand_new_with_seed (6323);
  guint round, i;

  for (round = 0; round < 100; round++) {
    Bench bench;

    set_up_at (&bench, 0, g_rand_int (random));
    for (i = 0; i < 500; i++) {
      const gint64 jumps[] = { 1, 1, 1, 1, 2, 5, -1, -3, -100, 1 << 20,
        G_GINT64_CONSTANT (1) << 46, -(G_GINT64_CONSTANT (1) << 46)
      };
      TfrcReport last;
      gdouble p;

      bench.sequence = dccp_sequence_add (bench.sequence,
          jumps[g_rand_int_range (random, 0, G_N_ELEMENTS (jumps))]);
      bench.now += g_rand_int_range (random, 0, 3) * R / 2;
      tfrc_receiver_input (bench.receiver, bench.now, bench.sequence,
          g_rand_boolean (random), g_rand_int (random),
          g_rand_int_range (random, 0, 65536), g_rand_int (random) >> 8 *
          g_rand_int_range (random, 0, 4));
      if (g_rand_boolean (random))
        tfrc_receiver_set_round_trip (bench.receiver,
            (guint64) g_rand_int (random) << g_rand_int_range (random, 0, 20));
      if (!wants (&bench))
        continue;
      last = report (&bench);
      fail_unless (last.intervals.skip <= 3);
      fail_unless (last.intervals.n >= 1 && last.intervals.n <= 9);
      fail_unless (last.loss_event_rate >= 1);
      fail_unless (tfrc_intervals_get_loss_event_rate (&last.intervals, &p));
      fail_unless (p >= 0 && p <= 1, "%g", p);
      fail_unless (tfrc_receiver_next_wakeup (bench.receiver) == NEVER);
    }
    tear_down (&bench);
  }
  g_rand_free (random);
}

GST_END_TEST;

GST_START_TEST (clock_that_stands_still)
{
  Bench bench;

  set_up (&bench, 0);
  tfrc_receiver_set_round_trip (bench.receiver, 1);
  take (&bench, 100);
  lose (&bench, 5);
  take (&bench, 100);
  report (&bench);
  fail_unless_equals_uint64 (get_state (&bench).loss_events, 1);
  /* and one that goes back */
  bench.now = SECOND;
  take (&bench, 1);
  bench.now = 0;
  take (&bench, 1);
  fail_unless_equals_uint64 (report (&bench).elapsed, 0);
  tear_down (&bench);
}

GST_END_TEST;

static Suite *
tfrcreceiver_suite (void)
{
  Suite *s = suite_create ("tfrcreceiver");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, first_data_is_answered_at_once);
  tcase_add_test (tc, feedback_each_four_of_the_window_counter);
  tcase_add_test (tc, feedback_a_round_trip_after_the_last_data);
  tcase_add_test (tc, new_loss_event_is_told_at_once);
  tcase_add_test (tc, packet_may_be_overtaken_by_two);
  tcase_add_test (tc, burst_may_be_overtaken);
  tcase_add_test (tc, duplicates_count_once);
  tcase_add_test (tc, numbers_wrap);
  tcase_add_test (tc, jump_of_numbers_takes_no_time);
  tcase_add_test (tc, lost_acknowledgements_are_no_loss_event);
  tcase_add_test (tc, losses_of_a_round_trip_are_one_event);
  tcase_add_test (tc, long_gap_is_an_event_each_round_trip);
  tcase_add_test (tc, window_counter_tells_loss_events_apart);
  tcase_add_test (tc, window_counter_corrects_an_old_round_trip);
  tcase_add_test (tc, mean_loss_interval);
  tcase_add_test (tc, long_loss_free_time_discounts_history);
  tcase_add_test (tc, intervals_that_say_little);
  tcase_add_test (tc, more_intervals_than_count);
  tcase_add_test (tc, first_interval_has_no_length);
  tcase_add_test (tc, first_interval_comes_from_the_equation);
  tcase_add_test (tc, loss_of_the_first_data);
  tcase_add_test (tc, every_tenth_lost_is_a_tenth);
  tcase_add_test (tc, inverse_rate_is_rounded_up_from_what_it_is);
  tcase_add_test (tc, gap_is_not_split_by_an_old_round_trip);
  tcase_add_test (tc, option_gives_the_rate_of_the_receiver);
  tcase_add_test (tc, intervals_cover_all_numbers);
  tcase_add_test (tc, receive_rate_of_sparse_packets_has_no_sawtooth);
  tcase_add_test (tc, receive_rate_is_over_a_round_trip_at_least);
  tcase_add_test (tc, two_packets_are_no_high_rate);
  tcase_add_test (tc, burst_after_silence_is_no_high_rate);
  tcase_add_test (tc, whatever_comes_the_report_is_sane);
  tcase_add_test (tc, clock_that_stands_still);
  return s;
}

GST_CHECK_MAIN (tfrcreceiver);
