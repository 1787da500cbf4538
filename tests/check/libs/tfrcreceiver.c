/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the receiver of TFRC against RFC 5348 sections 5 and 6 and RFC 4342
 * sections 6, 8 and 10. The tests check which packets are lost, which losses
 * belong to one loss event, the loss event rate, the receive rate, and when
 * feedback is due. */

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
  /* `now` is the current time in ns, and `sequence` is the sequence number of
   * the next packet. */
  guint64 now, sequence;
  guint64 step;                 /* ns between packets */
  guint ndp;
} Fixture;

static void
set_up_at (Fixture * fixture, guint64 step, guint64 initial_sequence)
{
  const TfrcReceiverConfig config = { TFRC_EQUATION_EXACT, initial_sequence };

  memset (fixture, 0, sizeof (*fixture));
  fixture->receiver = tfrc_receiver_new (&config);
  fixture->sequence = dccp_sequence_add (initial_sequence, 1);
  fixture->step = step;
  tfrc_receiver_set_round_trip (fixture->receiver, R);
}

static void
set_up (Fixture * fixture, guint64 step)
{
  set_up_at (fixture, step, FIRST);
}

static void
tear_down (Fixture * fixture)
{
  tfrc_receiver_free (fixture->receiver);
}

static TfrcReceiverState
get_state (Fixture * fixture)
{
  TfrcReceiverState state;

  tfrc_receiver_get_state (fixture->receiver, &state);
  return state;
}

static guint8
get_ccval (Fixture * fixture)
{
  return fixture->now / (R / 4) % 16;
}

/* Passes a data packet to the receiver. Also sets the round trip each time,
 * because a sender may send its estimate with each packet (RFC 6323). */
static void
input (Fixture * fixture, guint64 sequence)
{
  tfrc_receiver_set_round_trip (fixture->receiver, R);
  tfrc_receiver_input (fixture->receiver, fixture->now, sequence, TRUE,
      get_ccval (fixture), SIZE, fixture->ndp);
}

static TfrcReport
report (Fixture * fixture)
{
  TfrcReport report;

  tfrc_receiver_take_report (fixture->receiver, fixture->now, &report);
  return report;
}

static gboolean
wants (Fixture * fixture)
{
  return tfrc_receiver_wants_feedback (fixture->receiver, fixture->now);
}

/* Passes the next `n` packets to the receiver, and takes its feedback whenever
 * feedback is due. */
static void
take (Fixture * fixture, guint n)
{
  while (n-- > 0) {
    input (fixture, fixture->sequence);
    fixture->sequence = dccp_sequence_add (fixture->sequence, 1);
    if (wants (fixture))
      report (fixture);
    fixture->now += fixture->step;
  }
}

static void
lose (Fixture * fixture, guint n)
{
  fixture->sequence = dccp_sequence_add (fixture->sequence, n);
  fixture->now += n * fixture->step;
}

/* --- feedback */

GST_START_TEST (first_data_is_answered_at_once)
{
  TfrcReport said;
  Fixture fixture;

  set_up (&fixture, 10 * MS);
  fail_if (wants (&fixture));
  fail_unless_equals_uint64 (tfrc_receiver_next_wakeup (fixture.receiver),
      NEVER);
  tfrc_receiver_input (fixture.receiver, 0, FIRST, FALSE, 0, 0, 0);
  fail_if (wants (&fixture));
  input (&fixture, FIRST + 1);
  fail_unless (wants (&fixture));
  fixture.now += 3 * MS;
  said = report (&fixture);
  fail_unless_equals_uint64 (said.acknowledged, FIRST + 1);
  fail_unless_equals_uint64 (said.elapsed, 3 * MS);
  fail_unless_equals_int (said.receive_rate, 0);
  fail_unless_equals_uint64 (said.loss_event_rate, G_MAXUINT32);
  fail_unless_equals_int (said.intervals.n, 1);
  fail_unless_equals_int (said.intervals.skip, 0);
  fail_unless_equals_int (said.intervals.intervals[0].lossless, 2);
  fail_unless_equals_int (said.intervals.intervals[0].loss, 0);
  fail_unless_equals_int (said.intervals.intervals[0].data, 0);
  fail_if (wants (&fixture));
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (feedback_each_four_of_the_window_counter)
{
  Fixture fixture;
  guint i, ccval = 14, since = 0;

  set_up (&fixture, 0);
  for (i = 0; i < 100; i++) {
    const guint steps[] = { 0, 1, 1, 2, 5, 0, 3 };
    const guint step = steps[i % G_N_ELEMENTS (steps)];

    ccval += step;
    since += step;
    tfrc_receiver_set_round_trip (fixture.receiver, R);
    tfrc_receiver_input (fixture.receiver, i, fixture.sequence++, TRUE, ccval,
        SIZE, 0);
    fixture.now = i;
    fail_unless_equals_int (wants (&fixture), i == 0 || since >= 4);
    /* A packet without data arrives with an increased window counter. It must
     * not trigger feedback. */
    tfrc_receiver_input (fixture.receiver, i, fixture.sequence++, FALSE,
        ccval + 7, 0, 0);
    fail_unless_equals_int (wants (&fixture), i == 0 || since >= 4);
    if (wants (&fixture)) {
      report (&fixture);
      since = 0;
    }
  }
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (feedback_a_round_trip_after_the_last_data)
{
  Fixture fixture;

  set_up (&fixture, MS);
  take (&fixture, 10);
  fail_unless_equals_uint64 (tfrc_receiver_next_wakeup (fixture.receiver), R);
  fixture.now = R - 1;
  fail_if (wants (&fixture));
  fixture.now = R;
  fail_unless (wants (&fixture));
  fail_unless_equals_uint64 (report (&fixture).elapsed, R - 9 * MS);
  /* then nothing came */
  fail_unless_equals_uint64 (tfrc_receiver_next_wakeup (fixture.receiver),
      NEVER);
  fixture.now += SECOND;
  fail_if (wants (&fixture));
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (new_loss_event_is_told_at_once)
{
  Fixture fixture;

  set_up (&fixture, 2 * MS);
  take (&fixture, 60);
  report (&fixture);
  lose (&fixture, 1);
  take (&fixture, 2);
  input (&fixture, fixture.sequence++);
  fail_unless (wants (&fixture));
  fail_unless (report (&fixture).loss_event_rate < G_MAXUINT32);
  /* A second loss follows less than a round trip after the first one. Both
   * losses must belong to the same loss event. */
  lose (&fixture, 1);
  input (&fixture, fixture.sequence++);
  input (&fixture, fixture.sequence++);
  input (&fixture, fixture.sequence++);
  fail_if (wants (&fixture));
  fail_unless_equals_uint64 (get_state (&fixture).loss_events, 1);
  fail_unless_equals_uint64 (get_state (&fixture).lost, 2);
  tear_down (&fixture);
}

GST_END_TEST;

/* --- what is lost */

/* Sets up `fixture` and inputs packets in the order of their sequence numbers,
 * except for packet 10. The parameter `later` is the number of packets that
 * were sent after packet 10 but arrive before it. */
static void
reorder (Fixture * fixture, guint later)
{
  guint64 late;

  set_up (fixture, 10 * MS);
  take (fixture, 10);
  late = fixture->sequence++;
  take (fixture, later);
  input (fixture, late);
  take (fixture, 20);
}

GST_START_TEST (packet_may_be_overtaken_by_two)
{
  Fixture fixture;
  guint later;

  for (later = 1; later <= 2; later++) {
    reorder (&fixture, later);
    fail_unless_equals_uint64 (get_state (&fixture).lost, 0);
    fail_unless_equals_uint64 (get_state (&fixture).loss_events, 0);
    fail_unless_equals_uint64 (get_state (&fixture).reordered, 1);
    fail_unless_equals_uint64 (get_state (&fixture).packets, 31 + later);
    tear_down (&fixture);
  }
  /* Packet 10 must be counted as lost when the third packet that was sent after
   * it arrives (NDUPACK = 3). It must stay counted as lost even if it arrives
   * later. */
  for (later = 3; later <= 6; later++) {
    reorder (&fixture, later);
    fail_unless_equals_uint64 (get_state (&fixture).lost, 1);
    fail_unless_equals_uint64 (get_state (&fixture).loss_events, 1);
    fail_unless_equals_uint64 (get_state (&fixture).reordered, 1);
    fail_unless_equals_uint64 (get_state (&fixture).packets, 31 + later);
    tear_down (&fixture);
  }
}

GST_END_TEST;

/* One packet overtakes five packets. A missing packet counts as lost when three
 * packets with higher sequence numbers have arrived (NDUPACK), however far
 * these numbers are ahead. Only one such packet has arrived here, so the five
 * packets must not be counted as lost. */
GST_START_TEST (burst_may_be_overtaken)
{
  Fixture fixture;
  guint64 ahead;

  set_up (&fixture, 10 * MS);
  take (&fixture, 10);
  ahead = fixture.sequence + 5;
  input (&fixture, ahead);
  fail_unless_equals_int (report (&fixture).intervals.skip, 3);
  take (&fixture, 5);
  fixture.sequence = ahead + 1;
  take (&fixture, 10);
  fail_unless_equals_uint64 (get_state (&fixture).lost, 0);
  fail_unless_equals_uint64 (get_state (&fixture).reordered, 5);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (duplicates_count_once)
{
  TfrcReceiverState state;
  Fixture fixture;
  guint i;

  set_up (&fixture, 10 * MS);
  for (i = 0; i < 200; i++) {
    input (&fixture, fixture.sequence + i);
    input (&fixture, fixture.sequence + i);
    input (&fixture, fixture.sequence + i - MIN (i, 40));
    input (&fixture, fixture.sequence + i - MIN (i, 150));
  }
  state = get_state (&fixture);
  fail_unless_equals_uint64 (state.packets, 200);
  fail_unless_equals_uint64 (state.bytes, 200 * SIZE);
  fail_unless_equals_uint64 (state.duplicates, 600);
  fail_unless_equals_uint64 (state.lost + state.reordered, 0);
  /* A packet that arrives twice must be recognized as a duplicate, even if
   * packets before it are missing. */
  input (&fixture, fixture.sequence + 201);
  input (&fixture, fixture.sequence + 201);
  fail_unless_equals_uint64 (get_state (&fixture).duplicates, 601);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (numbers_wrap)
{
  Fixture fixture;
  guint i;

  set_up_at (&fixture, 10 * MS, DCCP_SEQUENCE_MASK - 50);
  for (i = 0; i < 20; i++) {
    take (&fixture, 19);
    lose (&fixture, 1);
  }
  take (&fixture, 10);
  fail_unless_equals_uint64 (get_state (&fixture).lost, 20);
  fail_unless_equals_uint64 (get_state (&fixture).loss_events, 20);
  fail_unless_equals_uint64 (get_state (&fixture).packets, 390);
  fail_unless_equals_uint64 (report (&fixture).acknowledged, 359);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (jump_of_numbers_takes_no_time)
{
  const guint64 jumps[] = { 100, 1 << 24, G_GUINT64_CONSTANT (1) << 40,
    (G_GUINT64_CONSTANT (1) << 47) - 100
  };
  guint i, n;

  for (i = 0; i < G_N_ELEMENTS (jumps); i++) {
    Fixture fixture;
    TfrcReport last;

    set_up (&fixture, 10 * MS);
    take (&fixture, 100);
    for (n = 0; n < 1000; n++) {
      fixture.sequence = dccp_sequence_add (fixture.sequence, jumps[i]);
      /* Before each group of five packets, there is a pause of zero to three
       * round trips. The loss intervals may become very long, but their lengths
       * must fit into the fields of the option Loss Intervals. */
      fixture.now += n % 3 * n % 7 * 50 * MS;
      take (&fixture, 5);
    }
    last = report (&fixture);
    fail_unless (last.intervals.n == 9);
    for (n = 0; n < 9; n++) {
      fail_unless (last.intervals.intervals[n].lossless < 1 << 24);
      fail_unless (last.intervals.intervals[n].loss < 1 << 23);
      fail_unless (last.intervals.intervals[n].data < 1 << 24);
    }
    fail_unless (last.loss_event_rate >= 1);
    fail_unless (get_state (&fixture).lost == 1000 * jumps[i]);
    tear_down (&fixture);
  }
}

GST_END_TEST;

GST_START_TEST (lost_acknowledgements_are_no_loss_event)
{
  TfrcReport last;
  Fixture fixture;

  set_up (&fixture, 10 * MS);
  take (&fixture, 10);
  lose (&fixture, 3);
  fixture.ndp = 3;
  take (&fixture, 1);
  fixture.ndp = 0;
  take (&fixture, 10);
  fail_unless_equals_uint64 (get_state (&fixture).lost, 3);
  fail_unless_equals_uint64 (get_state (&fixture).loss_events, 0);
  last = report (&fixture);
  fail_unless_equals_int (last.intervals.intervals[0].lossless, 25);
  fail_unless_equals_int (last.intervals.intervals[0].data, 0);
  /* Three packets are lost. The number of non-data packets (NDP) in the next
   * packet says that two of them were not data packets, so only one data packet
   * is lost. */
  lose (&fixture, 3);
  fixture.ndp = 2;
  take (&fixture, 1);
  fixture.ndp = 0;
  take (&fixture, 10);
  fail_unless_equals_uint64 (get_state (&fixture).loss_events, 1);
  last = report (&fixture);
  fail_unless_equals_int (last.intervals.intervals[0].loss +
      last.intervals.intervals[0].lossless, 14);
  fail_unless_equals_int (last.intervals.intervals[0].data, 12);
  tear_down (&fixture);
}

GST_END_TEST;

/* --- loss events */

GST_START_TEST (losses_of_a_round_trip_are_one_event)
{
  Fixture fixture;
  guint i;

  set_up (&fixture, 10 * MS);
  take (&fixture, 50);
  /* The first loss is at 500 ms, and the next losses follow every 40 ms. The
   * fourth loss is 120 ms after the first one. This is more than the round trip
   * of 100 ms, so the fourth loss must begin a second loss event. */
  for (i = 0; i < 4; i++) {
    lose (&fixture, 1);
    take (&fixture, 3);
  }
  take (&fixture, 3);
  fail_unless_equals_uint64 (get_state (&fixture).lost, 4);
  fail_unless_equals_uint64 (get_state (&fixture).loss_events, 2);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (long_gap_is_an_event_each_round_trip)
{
  Fixture fixture;

  set_up (&fixture, 10 * MS);
  take (&fixture, 50);
  /* 33 packets in a row are lost. They were expected every 10 ms, beginning at
   * 500 ms. The first lost packet begins a loss event. A later lost packet
   * begins a new loss event if it was expected more than a round trip R
   * (100 ms) after the beginning of the previous loss event. Loss events must
   * therefore begin at 500, 610 and 720 ms. */
  lose (&fixture, 33);
  take (&fixture, 3);
  fail_unless_equals_uint64 (get_state (&fixture).loss_events, 3);
  fail_unless_equals_int (report (&fixture).intervals.intervals[1].data, 11);
  /* The history of the receiver contains only the newest loss intervals. The
   * counter of loss events must also include the older ones. */
  lose (&fixture, 11 * 100);
  take (&fixture, 3);
  fail_unless_equals_uint64 (get_state (&fixture).loss_events, 103);
  fail_unless_equals_int (report (&fixture).intervals.intervals[8].data, 11);
  tear_down (&fixture);
}

GST_END_TEST;

/* The receiver has not measured the round trip, so it cannot decide by times
 * whether two losses belong to the same loss event. It must use the window
 * counter instead (RFC 4342 section 10.2). */
GST_START_TEST (window_counter_tells_loss_events_apart)
{
  const TfrcReceiverConfig config = { TFRC_EQUATION_EXACT, FIRST };
  guint apart, events;

  for (apart = 0; apart < 8; apart++) {
    TfrcReceiver *receiver = tfrc_receiver_new (&config);
    guint64 sequence = FIRST + 1;
    TfrcReceiverState state;
    guint i;

    /* All packets arrive at the same time, so the receiver cannot measure a
     * round trip. It must decide by the window counter whether the two losses
     * belong to the same loss event. */
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

/* The handshake measured a round trip of 10 ms. Then a queue grew, so the real
 * round trip is longer now. The receiver must compute the real round trip from
 * the window counter in the packets. The sender knows the real round trip, and
 * increases this counter by one in every quarter of it. All losses within one
 * real round trip must count as one loss event.
 */
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
  /* The sender increases the window counter by one every quarter of a round
   * trip. In this test the counter increases every 100 ms, so the real round
   * trip is 400 ms. */
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

  /* The loss intervals become longer from the newest to the oldest one. The
   * open interval has not ended yet; all other intervals are closed. The
   * weighted sum of the closed intervals is I_tot1 = 20 + 40 + 60 + 80 + 80 +
   * 72 + 56 + 32 = 440. I_tot1 is greater than the weighted sum that includes
   * the open interval. The mean must therefore be 440 divided by 6, the sum of
   * the weights. */
  assert_near (1 / get_p (rising, 9), 73.333333, 1e-6);
  /* The open interval (the loss interval that has not ended yet) has the length
   * 200 and the weight 1. Each older interval has the length 100. The oldest
   * interval is not counted, and the weights of the other older intervals sum
   * up to 5. The weighted sum that includes the open interval is therefore
   * I_tot0 = 1 * 200 + 5 * 100 = 700. The mean must be this sum divided by 6,
   * the sum of all weights. The open interval is only twice as long as the
   * others, so no discount applies yet. */
  assert_near (1 / get_p (open, 9), 116.666667, 1e-6);
  /* A loss interval is closed when the next loss event has begun. Here the open
   * interval has the length 10, and the two closed intervals have the lengths
   * 30 and 20. Each has the weight 1. There are two sums: I_tot0 = 10 + 30 = 40
   * leaves out the oldest interval, and I_tot1 = 30 + 20 = 50 leaves out the
   * open interval. The mean must be the greater sum divided by 2. */
  assert_near (1 / get_p (two, 3), 25, 1e-6);
  /* The first interval is open, which means that it has not ended yet. The
   * result must be the greater of two means: the mean of all intervals except
   * the oldest one, and the mean of all intervals except the open one. For the
   * intervals 60 and 40, this is max (60, 40). For 45, 40 and 30, it is
   * max (85 / 2, 70 / 2). */
  assert_near (1 / get_p (longer, 2), 60, 1e-6);
  assert_near (1 / get_p (open_intervals, 3), 42.5, 1e-6);
}

GST_END_TEST;

GST_START_TEST (long_loss_free_time_discounts_history)
{
  const guint open[] = { 500, 100, 100, 100, 100, 100, 100, 100, 100 };
  const guint longer[] = { 10000, 100, 100, 100, 100, 100, 100, 100, 100 };
  const guint closed[] = { 10, 500, 100, 100, 100, 100, 100, 100, 100 };

  /* The open interval (the loss interval that has not ended yet) has 500
   * packets, and each older interval has 100. Because the open interval is
   * long, the older intervals count less: their discount factor is DF = 2 * 100
   * / 500 = 0.4. The weights of the older intervals sum up to 5, and the open
   * interval has the weight 1. The mean interval must be (500 + 0.4 * 5 * 100)
   * / (1 + 0.4 * 5) = 233.33. Without the discount, the mean would be (500 + 5
   * * 100) / (1 + 5) = 166.67. */
  assert_near (1 / get_p (open, 9), 233.333333, 1e-6);
  /* The open interval (the loss interval that has not ended yet) has 10000
   * packets, and each older interval has 100. The discount factor
   * 2 * 100 / 10000 would be below its minimum of 0.25, so 0.25 is used. The
   * weights of the older intervals sum up to 5. The mean interval is then
   * (10000 + 0.25 * 5 * 100) / (1 + 0.25 * 5). */
  assert_near (1 / get_p (longer, 9), 4500, 1e-6);
  /* A long open interval reduces the weights of the older intervals by a
   * discount factor. An open interval is a loss interval that has not ended
   * yet. At first, the interval I_1 was open and had 500 packets. Seven older
   * intervals were closed and had 100 packets each. An eighth closed interval,
   * whose weight would have been 0.2, did not exist. The discount factor was
   * therefore computed from the mean of the seven closed intervals: 2 * 100 /
   * 500 = 0.4.
   *
   * Now I_1 is closed, too. The discount is permanent, so the factor 0.4 must
   * still apply to the seven older intervals. The weight of I_1 is 1, and the
   * weights of the seven older intervals sum up to 5. The mean is (1 * 500 +
   * 0.4 * 5 * 100) / (1 + 0.4 * 5). */
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
  /* All three loss intervals have the length 0, which no valid interval has.
   * The loss event rate, which is the inverse of the mean length, must be
   * limited to 1. */
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

/* Until the first loss, the data length of the first loss interval must be 0,
 * because the true length of this interval is not known (RFC 4342 section
 * 6.1.1). */
GST_START_TEST (first_interval_has_no_length)
{
  TfrcReport last;
  Fixture fixture;

  set_up (&fixture, 10 * MS);
  take (&fixture, 20);
  last = report (&fixture);
  fail_unless_equals_int (last.intervals.n, 1);
  fail_unless_equals_int (last.intervals.intervals[0].lossless, 21);
  fail_unless_equals_int (last.intervals.intervals[0].data, 0);
  tear_down (&fixture);
}

GST_END_TEST;

/* RFC 5348 section 6.3.1: the first loss interval is computed from the receive
 * rate. In this test, the receive rate X_recv is 125000 bytes per second, the
 * round trip R is 100 ms, and the packet size s is 1460 bytes. The throughput
 * equation then gives the loss event rate p = 0.0156836. The first loss
 * interval has 1 / p packets, rounded to 64. */
GST_START_TEST (first_interval_comes_from_the_equation)
{
  TfrcReport last;
  Fixture fixture;
  guint i;

  set_up (&fixture, 0);
  for (i = 0; i < 200; i++) {
    fixture.now = i * (1460 * SECOND / 125000);
    if (i == 190)
      fixture.sequence++;
    tfrc_receiver_set_round_trip (fixture.receiver, R);
    tfrc_receiver_input (fixture.receiver, fixture.now, fixture.sequence++,
        TRUE, get_ccval (&fixture), 1460, 0);
    if (wants (&fixture))
      report (&fixture);
  }
  last = report (&fixture);
  assert_near (last.receive_rate, 125000, .01);
  fail_unless_equals_int (last.intervals.n, 2);
  fail_unless_equals_int (last.intervals.intervals[1].data, 64);
  fail_unless_equals_int (last.intervals.intervals[1].lossless, 191);
  fail_unless_equals_int (last.loss_event_rate, 64);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (loss_of_the_first_data)
{
  TfrcReport last;
  Fixture fixture;
  gdouble p;

  set_up (&fixture, 10 * MS);
  lose (&fixture, 1);
  input (&fixture, fixture.sequence++);
  input (&fixture, fixture.sequence++);
  input (&fixture, fixture.sequence++);
  last = report (&fixture);
  /* The receive rate is half a packet per round trip. At this rate the
   * throughput equation X = s / (R * f (p)) gives f (p) = 2, and therefore
   * p = 0.2063 and 1 / p = 4.85. The first loss interval must have this length,
   * rounded to 5 packets. The open interval, which has not ended yet, has 4
   * packets. It is shorter than the first interval, so it must not change the
   * loss event rate of 1/5. */
  fail_unless_equals_int (last.intervals.intervals[1].data, 5);
  fail_unless_equals_int (last.loss_event_rate, 5);
  fail_unless (tfrc_intervals_get_loss_event_rate (&last.intervals, &p));
  assert_near (p, .2, .001);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (every_tenth_lost_is_a_tenth)
{
  Fixture fixture;
  guint i;

  set_up (&fixture, 12 * MS);
  for (i = 0; i < 300; i++) {
    lose (&fixture, 1);
    take (&fixture, 9);
    if (i >= 12) {
      const TfrcReport last = report (&fixture);
      gdouble p;

      fail_unless (tfrc_intervals_get_loss_event_rate (&last.intervals, &p));
      fail_unless (fabs (p - .1) <= .005, "%g", p);
      fail_unless_equals_int (last.loss_event_rate, 10);
      fail_unless (fabs (get_state (&fixture).loss_event_rate - .1) <= .005);
    }
  }
  tear_down (&fixture);
}

GST_END_TEST;

/* The receiver computes the mean loss interval as a sum of eight products, so
 * this mean has a rounding error. The report contains the inverse loss event
 * rate, rounded up to a whole number of packets. Because of the rounding error,
 * this number could become too large by one, which must not happen. */
GST_START_TEST (inverse_rate_is_rounded_up_from_what_it_is)
{
  guint every, i;

  for (every = 2; every < 100; every++) {
    Fixture fixture;

    set_up (&fixture, R + MS);
    for (i = 0; i < 12; i++) {
      lose (&fixture, 1);
      take (&fixture, every - 1);
    }
    fail_unless_equals_int (report (&fixture).loss_event_rate, every);
    tear_down (&fixture);
  }
}

GST_END_TEST;

/* The receiver knows only an old round-trip time of 10 ms, which was measured
 * in the handshake. The real round-trip time is 400 ms. The receiver can
 * measure it only when the window counter has increased by four, which has not
 * happened yet.
 *
 * Then 20 packets in a row are missing, and the gap lasts up to n round trips
 * of 400 ms (n is a whole number). Losses within one round trip are one loss
 * event. The receiver must therefore count at most n loss events. With the old
 * value of 10 ms, it would count many more. */
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

/* The sender computes the loss event rate p from the option Loss Intervals in
 * the report. The receiver computes p from the same loss intervals, but does
 * not round the first interval to whole packets. The two results must nearly
 * agree. */
GST_START_TEST (option_gives_the_rate_of_the_receiver)
{
  GRand *random = g_rand_new_with_seed (4342);
  Fixture fixture;
  guint i;

  set_up (&fixture, 12 * MS);
  for (i = 0; i < 5000; i++) {
    if (g_rand_int_range (random, 0, 30) == 0)
      lose (&fixture, 1);
    take (&fixture, 1);
    if (i > 1000) {
      const TfrcReport last = report (&fixture);
      guint64 sum = last.intervals.skip, n;
      gdouble p;

      fail_unless (tfrc_intervals_get_loss_event_rate (&last.intervals, &p));
      /* The option Loss Intervals contains nine intervals, but not their
       * discount factors. These factors also depend on older intervals, which
       * the sender does not know. The loss event rate that the sender computes
       * may therefore differ a little from that of the receiver. */
      assert_near (p, get_state (&fixture).loss_event_rate, .15);
      fail_unless_equals_int (last.intervals.n, 9);
      fail_unless (last.intervals.skip <= 3);
      for (n = 0; n < 9; n++) {
        const TfrcInterval *interval = &last.intervals.intervals[n];

        /* A loss interval has a lossy part and a lossless part. The lossy part
         * must not be empty. The data length of an interval must be the number
         * of packets in both parts. Only the data length of the newest interval
         * (n = 0) may be smaller by one packet, for the following reason.
         *
         * It may be undecided whether the newest packets are lost. The skip
         * length of the report counts these undecided packets, but at most
         * three of them. If four packets are undecided, the fourth undecided
         * packet is counted in the lossless part of the newest interval, but
         * not yet in the data length of this interval. */
        fail_unless (interval->loss > 0 && interval->loss +
            interval->lossless - interval->data <= (n == 0));
        sum += interval->data;
      }
      fail_unless (sum < fixture.sequence - FIRST);
    }
  }
  tear_down (&fixture);
  g_rand_free (random);
}

GST_END_TEST;

/* The skip length of a report says how many of the newest packets are not part
 * of a loss interval yet (RFC 4342 section 8.6.1). The loss intervals and the
 * skip length together must cover each sequence number from the first packet to
 * the acknowledged packet. */
GST_START_TEST (intervals_cover_all_numbers)
{
  Fixture fixture;
  guint i;

  set_up (&fixture, 12 * MS);
  for (i = 1; i < 90; i++) {
    TfrcReport last;
    guint64 sum, n;

    if (i % 20 == 11)
      lose (&fixture, 1);
    take (&fixture, 1);
    last = report (&fixture);
    for (sum = last.intervals.skip, n = 0; n < last.intervals.n; n++)
      sum += last.intervals.intervals[n].loss +
          last.intervals.intervals[n].lossless;
    fail_unless_equals_uint64 (sum, last.acknowledged - FIRST + 1);
  }
  /* The skip length of a report says how many of the newest packets are not
   * part of a loss interval yet. One packet is missing, and three packets
   * arrive after it. Only the third packet shows that the missing packet is
   * lost. Before the third packet arrives, the missing packet and all packets
   * after it must belong to the skip length. */
  lose (&fixture, 1);
  take (&fixture, 1);
  fail_unless_equals_int (report (&fixture).intervals.skip, 2);
  take (&fixture, 1);
  fail_unless_equals_int (report (&fixture).intervals.skip, 3);
  take (&fixture, 1);
  fail_unless_equals_int (report (&fixture).intervals.skip, 0);
  tear_down (&fixture);
}

GST_END_TEST;

/* --- the receive rate */

/* The receive rate is reported once in each round trip of 22 ms, and a packet
 * arrives every 25.6 ms. If the receive rate were measured over an interval of
 * fixed length, the interval would contain no packet, one or two, and the
 * receive rate would oscillate. */
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
  Fixture fixture;
  guint i;

  /* A burst of 5 packets arrives every 50 ms, which is 100 kbyte/s on average.
   * The clock does not advance within a burst. The test takes two reports
   * during each burst, which is more often than feedback is due. The receive
   * rate in each report must nevertheless be between 50 and 150 kbyte/s. */
  set_up (&fixture, 0);
  for (i = 0; i < 100; i++) {
    guint n;

    for (n = 0; n < 5; n++) {
      input (&fixture, fixture.sequence++);
      if (n == 0 || n == 3) {
        const TfrcReport last = report (&fixture);

        if (i >= 3)
          fail_unless (last.receive_rate >= 50000
              && last.receive_rate <= 150000, "%u", last.receive_rate);
      }
    }
    fixture.now += 50 * MS;
  }
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (two_packets_are_no_high_rate)
{
  Fixture fixture;

  set_up (&fixture, 1000);
  take (&fixture, 1);
  input (&fixture, fixture.sequence++);
  /* The second packet arrives 1 us after the first packet. The reported receive
   * rate must still be one packet per round trip. */
  fail_unless_equals_int (report (&fixture).receive_rate, SIZE * SECOND / R);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (burst_after_silence_is_no_high_rate)
{
  Fixture fixture;
  TfrcReport last;

  set_up (&fixture, 10 * MS);
  take (&fixture, 100);
  fixture.now += 10 * SECOND;
  fixture.step = 0;
  take (&fixture, 1);
  last = report (&fixture);
  fail_unless (last.receive_rate <= 100000);
  take (&fixture, 10);
  /* 10 packets arrive at the same time. The receive rate is measured over a
   * whole round trip, so it must be at most 100000 bytes per second. */
  fail_unless (report (&fixture).receive_rate <= 100000);
  tear_down (&fixture);
}

GST_END_TEST;

/* --- lies */

GST_START_TEST (report_is_valid_for_any_input)
{
  GRand *random = g_rand_new_with_seed (6323);
  guint round, i;

  for (round = 0; round < 100; round++) {
    Fixture fixture;

    set_up_at (&fixture, 0, g_rand_int (random));
    for (i = 0; i < 500; i++) {
      const gint64 jumps[] = { 1, 1, 1, 1, 2, 5, -1, -3, -100, 1 << 20,
        G_GINT64_CONSTANT (1) << 46, -(G_GINT64_CONSTANT (1) << 46)
      };
      TfrcReport last;
      gdouble p;

      fixture.sequence = dccp_sequence_add (fixture.sequence,
          jumps[g_rand_int_range (random, 0, G_N_ELEMENTS (jumps))]);
      fixture.now += g_rand_int_range (random, 0, 3) * R / 2;
      tfrc_receiver_input (fixture.receiver, fixture.now, fixture.sequence,
          g_rand_boolean (random), g_rand_int (random),
          g_rand_int_range (random, 0, 65536), g_rand_int (random) >> 8 *
          g_rand_int_range (random, 0, 4));
      if (g_rand_boolean (random))
        tfrc_receiver_set_round_trip (fixture.receiver,
            (guint64) g_rand_int (random) << g_rand_int_range (random, 0, 20));
      if (!wants (&fixture))
        continue;
      last = report (&fixture);
      fail_unless (last.intervals.skip <= 3);
      fail_unless (last.intervals.n >= 1 && last.intervals.n <= 9);
      fail_unless (last.loss_event_rate >= 1);
      fail_unless (tfrc_intervals_get_loss_event_rate (&last.intervals, &p));
      fail_unless (p >= 0 && p <= 1, "%g", p);
      fail_unless (tfrc_receiver_next_wakeup (fixture.receiver) == NEVER);
    }
    tear_down (&fixture);
  }
  g_rand_free (random);
}

GST_END_TEST;

GST_START_TEST (clock_that_stands_still)
{
  Fixture fixture;

  set_up (&fixture, 0);
  tfrc_receiver_set_round_trip (fixture.receiver, 1);
  take (&fixture, 100);
  lose (&fixture, 5);
  take (&fixture, 100);
  report (&fixture);
  fail_unless_equals_uint64 (get_state (&fixture).loss_events, 1);
  /* The clock jumps back from 1 s to 0. The elapsed time in the report (the
   * time since the arrival of the acknowledged packet) must be 0 and not
   * negative. */
  fixture.now = SECOND;
  take (&fixture, 1);
  fixture.now = 0;
  take (&fixture, 1);
  fail_unless_equals_uint64 (report (&fixture).elapsed, 0);
  tear_down (&fixture);
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
  tcase_add_test (tc, report_is_valid_for_any_input);
  tcase_add_test (tc, clock_that_stands_still);
  return s;
}

GST_CHECK_MAIN (tfrcreceiver);
