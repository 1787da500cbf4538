/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the sender of TFRC against RFC 5348 section 4 and RFC 4342 sections
 * 5.2 and 8.1, for each case that the text distinguishes. The expected numbers
 * were worked out by hand from the text of the RFCs. */

#include <gst/check/gstcheck.h>

#include <math.h>

#include "dccpsequence.h"
#include "tfrcsender.h"

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define MS G_GUINT64_CONSTANT (1000000)

#define S 1460                  /* s and MSS, bytes */
#define R (100 * MS)
#define INITIAL 43800           /* W_init / R = 4380 / 0.1 */
#define FIRST 5000              /* sequence number */
#define EQUATION_01 164004      /* s / (R f (0.01)) = 1460 / (0.1 * 0.089022) */

#define assert_near(a, b) G_STMT_START { \
  const gdouble _a = (a), _b = (b); \
  fail_unless (fabs (_a - _b) <= 1e-4 * fabs (_b), \
      #a " is %.9g, not %.9g", _a, _b); \
} G_STMT_END

typedef struct
{
  TfrcSender *sender;
  TfrcSenderConfig config;
  guint64 now, sequence;
} Fixture;

static void
set_up (Fixture * fixture, gboolean has_round_trip)
{
  tfrc_sender_config_init (&fixture->config);
  fixture->config.segment_size = S;
  fixture->config.max_segment = S;
  fixture->config.reduce_oscillation = FALSE;
  fixture->sender = tfrc_sender_new (&fixture->config);
  fixture->now = 0;
  fixture->sequence = FIRST;
  if (has_round_trip)
    tfrc_sender_set_round_trip (fixture->sender, 0, R);
}

static void
tear_down (Fixture * fixture)
{
  tfrc_sender_free (fixture->sender);
}

static TfrcSenderState
get_state (Fixture * fixture)
{
  TfrcSenderState state;

  tfrc_sender_get_state (fixture->sender, &state);
  return state;
}

static gdouble
get_rate (Fixture * fixture)
{
  return get_state (fixture).rate;
}

static guint8
send_one (Fixture * fixture)
{
  return tfrc_sender_sent (fixture->sender, fixture->now, fixture->sequence++,
      S, FALSE);
}

static TfrcFeedback
make_feedback (Fixture * fixture, guint32 receive_rate, gdouble p)
{
  TfrcFeedback feedback = { 0 };

  feedback.acknowledged = dccp_sequence_add (fixture->sequence, -1);
  feedback.has_receive_rate = TRUE;
  feedback.receive_rate = receive_rate;
  feedback.loss_event_rate = p;
  return feedback;
}

static void
take_feedback (Fixture * fixture, guint32 receive_rate, gdouble p)
{
  const TfrcFeedback feedback = make_feedback (fixture, receive_rate, p);

  tfrc_sender_feedback (fixture->sender, fixture->now, &feedback);
}

/* Sends all packets that the sender allows at the current time, and returns
 * their number. The time is not advanced. */
static guint
send_all (Fixture * fixture)
{
  guint n;

  for (n = 0; tfrc_sender_next_send (fixture->sender, fixture->now)
      <= fixture->now; n++)
    send_one (fixture);
  return n;
}

/* Sends all packets that the sender allows now. One round trip later, passes
 * feedback to the sender, with the receive rate `receive_rate` and the loss
 * event rate `p`. The sender is not data-limited in this interval. */
static void
go_round (Fixture * fixture, guint32 receive_rate, gdouble p)
{
  fail_unless (send_all (fixture) > 0);
  fixture->now += R;
  take_feedback (fixture, receive_rate, p);
}

/* Simulates a data-limited interval, in which the application sends less than
 * the sender allows: only one packet is sent, two seconds later than allowed.
 * Then passes feedback with the receive rate `receive_rate` and the loss event
 * rate `p` to the sender. */
static void
go_round_limited (Fixture * fixture, guint32 receive_rate, gdouble p)
{
  fixture->now += 2 * SECOND;
  send_one (fixture);
  fixture->now += R;
  take_feedback (fixture, receive_rate, p);
}

static void
run_timer (Fixture * fixture)
{
  fixture->now = tfrc_sender_next_wakeup (fixture->sender);
  tfrc_sender_timeout (fixture->sender, fixture->now);
}

/* --- 4.2 */

GST_START_TEST (one_packet_a_second_without_a_round_trip)
{
  Fixture fixture;

  set_up (&fixture, FALSE);
  fail_unless_equals_uint64 (tfrc_sender_next_wakeup (fixture.sender),
      G_MAXUINT64);
  assert_near (get_rate (&fixture), S);
  fail_unless_equals_int (send_one (&fixture), 0);
  /* A packet may be sent early, by at most half of the timer granularity before
   * its scheduled time. */
  fail_unless_equals_uint64 (tfrc_sender_next_send (fixture.sender, 0),
      SECOND - MS / 2);
  fail_unless_equals_uint64 (tfrc_sender_next_wakeup (fixture.sender),
      2 * SECOND);
  run_timer (&fixture);
  assert_near (get_rate (&fixture), S / 2.);
  fail_unless_equals_uint64 (tfrc_sender_next_wakeup (fixture.sender),
      6 * SECOND);
  /* No packet was sent since the no-feedback timer last expired, so the sender
   * is idle. The timer must then not halve the rate. */
  run_timer (&fixture);
  assert_near (get_rate (&fixture), S / 2.);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (never_below_a_packet_in_64_seconds)
{
  Fixture fixture;
  guint i;

  set_up (&fixture, FALSE);
  for (i = 0; i < 20; i++) {
    send_one (&fixture);
    run_timer (&fixture);
  }
  assert_near (get_rate (&fixture), S / 64.);
  tear_down (&fixture);

  set_up (&fixture, TRUE);
  for (i = 0; i < 40; i++) {
    send_one (&fixture);
    run_timer (&fixture);
  }
  assert_near (get_rate (&fixture), S / 64.);
  go_round (&fixture, 1, 1);
  /* The receive rate is 1 byte/s, so the sender may send at most at twice this
   * rate, 2 byte/s. The TCP throughput equation would allow more:
   * 1460 / (0.1 * 243.3) = 60 byte/s. However, the rate must never fall below
   * the minimum of one packet in 64 s, which is 1460 / 64 = 22.8 byte/s. This
   * minimum is higher than 2 byte/s, so the sender must send at the minimum
   * rate. */
  assert_near (get_rate (&fixture), S / 64.);
  fail_unless_equals_uint64 (get_state (&fixture).no_feedbacks, 40);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (initial_window_of_rfc_3390)
{
  const guint values[][2] = { {512, 2048}, {1000, 4000}, {1460, 4380},
  {4000, 8000}
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (values); i++) {
    TfrcSenderState state;
    TfrcSenderConfig config;
    TfrcSender *sender;

    tfrc_sender_config_init (&config);
    config.max_segment = values[i][0];
    sender = tfrc_sender_new (&config);
    tfrc_sender_set_round_trip (sender, 0, R);
    tfrc_sender_get_state (sender, &state);
    assert_near (state.rate, values[i][1] * 10);
    fail_unless_equals_uint64 (state.round_trip, R);
    tfrc_sender_free (sender);
  }
}

GST_END_TEST;

GST_START_TEST (first_feedback_starts_and_pulls_the_next_packet_in)
{
  Fixture fixture;

  set_up (&fixture, FALSE);
  send_one (&fixture);
  fixture.now = R;
  take_feedback (&fixture, 0, 0);
  assert_near (get_rate (&fixture), INITIAL);
  fail_unless_equals_uint64 (get_state (&fixture).round_trip, R);
  fail_unless_equals_uint64 (tfrc_sender_next_send (fixture.sender, R), R);
  fail_unless_equals_uint64 (tfrc_sender_next_wakeup (fixture.sender), 5 * R);
  tear_down (&fixture);
}

GST_END_TEST;

/* --- 4.3 */

GST_START_TEST (slow_start_doubles_once_a_round_trip)
{
  Fixture fixture;

  set_up (&fixture, TRUE);
  /* The first feedback contains no receive rate, so it does not limit the rate.
   */
  go_round (&fixture, 0, 0);
  assert_near (get_rate (&fixture), 2 * INITIAL);
  fail_unless_equals_float (get_state (&fixture).receive_limit, G_MAXDOUBLE);
  /* X_recv_set contains the receive rates of the last two round trips. Its
   * first entry is Infinity, so that no receive rate limits the sender. This
   * entry is now exactly two round trips old. It is still valid, so the rate
   * must double. */
  go_round (&fixture, 40000, 0);
  assert_near (get_rate (&fixture), 4 * INITIAL);
  take_feedback (&fixture, 40000, 0);   /* too soon */
  assert_near (get_rate (&fixture), 4 * INITIAL);
  /* X_recv_set contains the receive rates of the last two round trips. Its
   * first entry is Infinity, so that no receive rate limits the sender. This
   * entry is now older than two round trips and must be removed. The rate must
   * therefore be twice the receive rate. */
  go_round (&fixture, 80000, 0);
  assert_near (get_rate (&fixture), 2 * 80000);
  go_round (&fixture, 70000, 0);        /* 80000 still counts */
  assert_near (get_rate (&fixture), 2 * 80000);
  go_round (&fixture, 60000, 0);
  assert_near (get_rate (&fixture), 2 * 80000);
  go_round (&fixture, 50000, 0);
  assert_near (get_rate (&fixture), 2 * 70000);
  /* While there was no loss, the rate must never fall below the initial rate,
   * even if the receive rate is very low. */
  go_round (&fixture, 1000, 0);
  go_round (&fixture, 1000, 0);
  go_round (&fixture, 1000, 0);
  go_round (&fixture, 1000, 0);
  assert_near (get_rate (&fixture), INITIAL);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (rate_is_that_of_the_equation_or_twice_the_received)
{
  Fixture fixture;

  set_up (&fixture, TRUE);
  go_round (&fixture, 0, 0);
  go_round (&fixture, 60000, .01);
  assert_near (get_rate (&fixture), EQUATION_01);
  go_round (&fixture, 60000, .01);
  assert_near (get_rate (&fixture), 120000);
  assert_near (get_state (&fixture).receive_limit, 120000);
  go_round (&fixture, 90000, .01);
  assert_near (get_rate (&fixture), EQUATION_01);
  go_round (&fixture, 90000, .1);
  assert_near (get_rate (&fixture), 14600 / .564939);
  fail_unless_equals_uint64 (tfrc_sender_next_wakeup (fixture.sender),
      fixture.now + 4 * R);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (slow_rate_lengthens_the_timer)
{
  Fixture fixture;

  set_up (&fixture, TRUE);
  go_round (&fixture, 1000, .9);
  /* f (0.9) = 0.774597 + 12 * 0.580948 * 0.9 * 26.92 = 169.6787 */
  assert_near (get_rate (&fixture), 14600 / 169.6787);
  fail_unless (llabs ((gint64) (tfrc_sender_next_wakeup (fixture.sender) -
              fixture.now) - (gint64) (2 * R * 169.6787)) < (gint64) MS);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (data_limited_interval_keeps_the_largest)
{
  Fixture fixture;

  set_up (&fixture, TRUE);
  go_round (&fixture, 0, 0);
  go_round (&fixture, 60000, 1e-6);
  go_round (&fixture, 60000, 1e-6);
  go_round_limited (&fixture, 2000, 1e-6);
  assert_near (get_rate (&fixture), 120000);
  go_round_limited (&fixture, 1000, 1e-6);
  assert_near (get_rate (&fixture), 120000);
  /* An interval is data-limited if the sender had too little data to use its
   * allowed rate. The receive limit is an upper limit for the allowed rate. The
   * sender computes the receive limit from the reported receive rates. As long
   * as the latest intervals are data-limited, it is twice the largest recent
   * receive rate.
   *
   * In this test, the next three intervals are not data-limited. After them,
   * the receive limit must be twice the latest receive rate, 2 * 5000. */
  send_one (&fixture);
  go_round (&fixture, 5000, 1e-6);
  go_round (&fixture, 5000, 1e-6);
  go_round (&fixture, 5000, 1e-6);
  assert_near (get_rate (&fixture), 10000);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (loss_in_a_data_limited_interval)
{
  TfrcFeedback feedback;
  Fixture fixture;

  set_up (&fixture, TRUE);
  go_round (&fixture, 0, 0);
  go_round_limited (&fixture, 20000, .001);
  /* The interval was data-limited and there was a loss. The rate must therefore
   * be limited to 0.85 * X_recv, where the receive rate X_recv is 20000.
   * Without a loss, the limit would be 2 * X_recv. */
  assert_near (get_rate (&fixture), 17000);
  go_round_limited (&fixture, 20000, .001);
  assert_near (get_rate (&fixture), 40000);
  go_round_limited (&fixture, 15000, .002);
  /* After a new loss, the rate must be the greater of two values. The first
   * value is half of the entry of X_recv_set (the recent receive rates):
   * 20000 / 2 = 10000. The second value is 0.85 times the latest receive rate
   * X_recv: 0.85 * 15000 = 12750. The second value is greater. */
  assert_near (get_rate (&fixture), 12750);
  go_round_limited (&fixture, 2000, .003);
  /* After a new loss, the rate must be the greater of two values. The first
   * value is half of the entry of X_recv_set (the recent receive rates):
   * 12750 / 2 = 6375. The second value is 0.85 times the latest receive rate
   * X_recv: 0.85 * 2000 = 1700. The first value is greater. */
  assert_near (get_rate (&fixture), 6375);
  /* The loss event rate p decreases, so there was no new loss event. The
   * entries of X_recv_set (the recent receive rates) must therefore not be
   * halved. The rate must be twice the largest entry, 2 * 6375. */
  go_round_limited (&fixture, 2000, .002);
  assert_near (get_rate (&fixture), 12750);
  /* The loss event rate p decreases, but the feedback says that there was a new
   * loss event. The entries of X_recv_set (the recent receive rates) must
   * therefore be halved. The largest of them is then 6375 / 2, and it must be
   * the new rate. */
  fixture.now += 2 * SECOND;
  send_one (&fixture);
  fixture.now += R;
  feedback = make_feedback (&fixture, 2000, .001);
  feedback.new_loss_event = TRUE;
  tfrc_sender_feedback (fixture.sender, fixture.now, &feedback);
  assert_near (get_rate (&fixture), 3187.5);
  tear_down (&fixture);
}

GST_END_TEST;

/* --- 4.4 */

GST_START_TEST (timer_halves_slow_start)
{
  Fixture fixture;

  set_up (&fixture, TRUE);
  go_round (&fixture, 0, 0);
  assert_near (get_rate (&fixture), 2 * INITIAL);
  send_one (&fixture);
  run_timer (&fixture);
  assert_near (get_rate (&fixture), INITIAL);
  send_one (&fixture);
  run_timer (&fixture);
  assert_near (get_rate (&fixture), INITIAL / 2);
  fail_unless_equals_uint64 (tfrc_sender_next_wakeup (fixture.sender),
      fixture.now + 4 * R);
  fail_unless_equals_uint64 (get_state (&fixture).no_feedbacks, 2);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (idle_slow_start_is_halved_to_the_initial_rate)
{
  Fixture fixture;

  set_up (&fixture, TRUE);
  go_round (&fixture, 0, 0);
  go_round (&fixture, 60000, 0);
  assert_near (get_rate (&fixture), 4 * INITIAL);
  run_timer (&fixture);
  assert_near (get_rate (&fixture), 2 * INITIAL);
  run_timer (&fixture);
  assert_near (get_rate (&fixture), INITIAL);
  run_timer (&fixture);
  run_timer (&fixture);
  assert_near (get_rate (&fixture), INITIAL);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (waiting_data_is_not_idle)
{
  Fixture fixture;

  set_up (&fixture, TRUE);
  tfrc_sender_sent (fixture.sender, 0, fixture.sequence++, S, TRUE);
  fixture.now = R;
  take_feedback (&fixture, 0, 0);
  run_timer (&fixture);
  assert_near (get_rate (&fixture), INITIAL);
  run_timer (&fixture);
  assert_near (get_rate (&fixture), INITIAL / 2);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (timer_halves_what_was_received)
{
  Fixture fixture;

  /* The throughput equation allows 164004 bytes per second. Twice the receive
   * rate is only 120000, so the rate must be 120000. Then no feedback arrives
   * any more. Each time the no-feedback timer expires, it must halve the rate.
   */
  set_up (&fixture, TRUE);
  go_round (&fixture, 0, 0);
  go_round (&fixture, 60000, .01);
  go_round (&fixture, 60000, .01);
  go_round (&fixture, 60000, .01);
  assert_near (get_rate (&fixture), 120000);
  send_one (&fixture);
  run_timer (&fixture);
  assert_near (get_rate (&fixture), 60000);
  send_one (&fixture);
  run_timer (&fixture);
  assert_near (get_rate (&fixture), 30000);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (timer_halves_the_equation)
{
  Fixture fixture;

  set_up (&fixture, TRUE);
  go_round (&fixture, 0, 0);
  go_round (&fixture, 90000, .01);
  go_round (&fixture, 90000, .01);
  assert_near (get_rate (&fixture), EQUATION_01);
  send_one (&fixture);
  run_timer (&fixture);
  assert_near (get_rate (&fixture), EQUATION_01 / 2.);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (idle_sender_is_halved_to_the_recover_rate)
{
  Fixture fixture;

  /* The no-feedback timer expires while the sender is idle and the receive rate
   * X_recv is 40000 bytes/s. X_recv is below recover_rate, which is the initial
   * rate W_init / R = 43800 bytes/s (RFC 5348 section 4.4). The timer must
   * therefore not halve the rate. */
  set_up (&fixture, TRUE);
  go_round (&fixture, 0, 0);
  go_round (&fixture, 40000, .01);
  go_round (&fixture, 40000, .01);
  go_round (&fixture, 40000, .01);
  run_timer (&fixture);
  assert_near (get_rate (&fixture), 80000);
  tear_down (&fixture);

  /* The sender is idle while the no-feedback timer expires twice. A timeout
   * halves the rate only if the receive rate X_recv is above recover_rate,
   * which is the initial rate W_init / R = 43800 bytes/s (RFC 5348 section
   * 4.4).
   *
   * At first X_recv is above recover_rate. The first timeout must therefore
   * halve the rate from 120000 to 60000. This timeout also sets X_recv to
   * 30000, which is below recover_rate. The second timeout must therefore not
   * halve the rate. */
  set_up (&fixture, TRUE);
  go_round (&fixture, 0, 0);
  go_round (&fixture, 60000, .01);
  go_round (&fixture, 60000, .01);
  go_round (&fixture, 60000, .01);
  run_timer (&fixture);
  assert_near (get_rate (&fixture), 60000);
  run_timer (&fixture);
  assert_near (get_rate (&fixture), 60000);
  fail_unless_equals_uint64 (tfrc_sender_next_wakeup (fixture.sender),
      fixture.now + 4 * R);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (timer_asked_too_soon_does_nothing)
{
  Fixture fixture;

  set_up (&fixture, TRUE);
  send_one (&fixture);
  tfrc_sender_timeout (fixture.sender, 4 * R - 1);
  assert_near (get_rate (&fixture), INITIAL);
  fail_unless_equals_uint64 (get_state (&fixture).no_feedbacks, 0);
  tear_down (&fixture);
}

GST_END_TEST;

/* --- 4.5 */

GST_START_TEST (longer_round_trip_slows_at_once)
{
  Fixture fixture;
  gdouble mean;

  set_up (&fixture, TRUE);
  tfrc_sender_free (fixture.sender);
  fixture.config.reduce_oscillation = TRUE;
  fixture.sender = tfrc_sender_new (&fixture.config);
  tfrc_sender_set_round_trip (fixture.sender, 0, R);
  assert_near (get_state (&fixture).instant_rate, INITIAL);
  send_one (&fixture);
  fixture.now = 2 * R;
  take_feedback (&fixture, 60000, .01);
  fail_unless_equals_uint64 (get_state (&fixture).round_trip, 110 * MS);
  assert_near (get_rate (&fixture), EQUATION_01 / 1.1);
  mean = .9 * sqrt (.1) + .1 * sqrt (.2);
  assert_near (get_state (&fixture).instant_rate,
      EQUATION_01 / 1.1 * mean / sqrt (.2));
  /* The first sample of the round trip is 100 ms. The variance begins with half
   * of this sample, 50 ms. The second sample differs from the mean by 100 ms.
   * The new variance must be three quarters of the old variance plus a quarter
   * of this difference. */
  fail_unless_equals_uint64 (get_state (&fixture).round_trip_variance,
      (3 * 50 + 100) / 4. * MS);
  tear_down (&fixture);
}

GST_END_TEST;

/* --- queueing delay */

GST_START_TEST (feedback_takes_acknowledged_bytes_out_of_flight)
{
  Fixture fixture;
  TfrcFeedback feedback;

  set_up (&fixture, TRUE);
  send_one (&fixture);
  send_one (&fixture);
  tfrc_sender_sent_other (fixture.sender, 0, fixture.sequence++);
  send_one (&fixture);
  fail_unless_equals_uint64 (get_state (&fixture).in_flight, 3 * S);
  fixture.now = R;
  feedback = make_feedback (&fixture, INITIAL, 0);
  feedback.acknowledged = FIRST + 1;
  tfrc_sender_feedback (fixture.sender, fixture.now, &feedback);
  fail_unless_equals_uint64 (get_state (&fixture).in_flight, S);
  /* A packet without data is acknowledged. The number of bytes in flight must
   * not change. */
  feedback.acknowledged = FIRST + 2;
  tfrc_sender_feedback (fixture.sender, fixture.now, &feedback);
  fail_unless_equals_uint64 (get_state (&fixture).in_flight, S);
  feedback.acknowledged = FIRST + 3;
  tfrc_sender_feedback (fixture.sender, fixture.now, &feedback);
  fail_unless_equals_uint64 (get_state (&fixture).in_flight, 0);
  /* A forged feedback acknowledges a packet that was never sent. The number of
   * bytes in flight must stay 0. */
  feedback.acknowledged = FIRST + 4;
  tfrc_sender_feedback (fixture.sender, fixture.now, &feedback);
  fail_unless_equals_uint64 (get_state (&fixture).in_flight, 0);
  tear_down (&fixture);
}

GST_END_TEST;

/* Two acknowledgements, which contain no receive rate, arrive in the wrong
 * order. When the older one arrives last, the number of bytes in flight must
 * not increase. */
GST_START_TEST (old_feedback_brings_no_bytes_back_into_flight)
{
  TfrcFeedback feedback = { 0 };
  Fixture fixture;

  set_up (&fixture, TRUE);
  send_one (&fixture);
  send_one (&fixture);
  fixture.now = R;
  feedback.acknowledged = FIRST + 1;
  feedback.has_elapsed = TRUE;
  tfrc_sender_feedback (fixture.sender, fixture.now, &feedback);
  fail_unless_equals_uint64 (get_state (&fixture).in_flight, 0);
  feedback.acknowledged = FIRST;
  tfrc_sender_feedback (fixture.sender, fixture.now, &feedback);
  fail_unless_equals_uint64 (get_state (&fixture).in_flight, 0);
  tear_down (&fixture);
}

GST_END_TEST;

/* Sends a packet. The feedback that acknowledges this packet arrives
 * `round_trip` ns later and is passed to the sender. */
static void
measure (Fixture * fixture, guint64 round_trip)
{
  send_one (fixture);
  fixture->now += round_trip;
  take_feedback (fixture, 60000, 0);
}

GST_START_TEST (queueing_delay_is_above_the_recent_minimum)
{
  Fixture fixture;
  guint i;

  set_up (&fixture, TRUE);
  measure (&fixture, R);
  fail_unless_equals_uint64 (get_state (&fixture).queue_delay, 0);
  measure (&fixture, R + 70 * MS);
  fail_unless_equals_uint64 (get_state (&fixture).queue_delay, 70 * MS);
  measure (&fixture, R - 10 * MS);
  fail_unless_equals_uint64 (get_state (&fixture).queue_delay, 0);
  measure (&fixture, R + 20 * MS);
  fail_unless_equals_uint64 (get_state (&fixture).queue_delay, 30 * MS);
  /* The queueing delay is the round trip minus the minimum round trip of the
   * last 20 s. For more than 20 s, each measured round trip is 2 * R. The
   * minimum is then 2 * R, too, so the queueing delay must be 0.
   */
  for (i = 0; i < 2 * 20 * 5; i++)
    measure (&fixture, 2 * R);
  fail_unless_equals_uint64 (get_state (&fixture).queue_delay, 0);
  tear_down (&fixture);
}

GST_END_TEST;

/* --- 4.6 */

GST_START_TEST (packets_are_spread_over_the_round_trip)
{
  Fixture fixture;
  guint64 last = 0;
  guint n;

  set_up (&fixture, TRUE);
  for (n = 0; n < 300; n++) {
    fixture.now = tfrc_sender_next_send (fixture.sender, fixture.now);
    if (n > 0)
      fail_unless (fixture.now - last >= 32 * MS, "%" G_GUINT64_FORMAT,
          fixture.now - last);
    last = fixture.now;
    send_one (&fixture);
  }
  /* With packets of 1460 bytes and a rate of 43800 byte/s, packet 300 is due
   * 299 * 1460 / 43800 s after packet 1. TFRC permits the sender to send a
   * packet earlier by half of the timer granularity t_gran. The sender does so,
   * and assert_near () tolerates the difference. */
  assert_near (fixture.now, 299 * S / (gdouble) INITIAL * SECOND);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (credit_is_less_than_a_round_trip)
{
  const gdouble rates[] = { 0, 100000, 1000000 };
  guint i, n;

  for (i = 0; i < G_N_ELEMENTS (rates); i++) {
    Fixture fixture;

    set_up (&fixture, TRUE);
    go_round (&fixture, 0, 0);
    if (rates[i] > 0) {
      go_round (&fixture, rates[i] / 2, 1e-8);
      go_round (&fixture, rates[i] / 2, 1e-8);
      go_round (&fixture, rates[i] / 2, 1e-8);
      assert_near (get_rate (&fixture), rates[i]);
    }
    send_all (&fixture);
    fixture.now += 10 * SECOND;
    n = send_all (&fixture);
    fail_unless (n >= 1 && n * S <= get_rate (&fixture) / 10,
        "%u at %g", n, get_rate (&fixture));
    fail_unless (n + 2 >= get_rate (&fixture) / 10 / S);
    tear_down (&fixture);
  }
}

GST_END_TEST;

GST_START_TEST (late_caller_catches_up)
{
  Fixture fixture;
  guint n = 0;

  set_up (&fixture, TRUE);
  /* The rate allows one packet every 33 ms, but the test calls the sender only
   * every 40 ms. The sender must still send all packets that the rate allows.
   */
  for (fixture.now = 0; fixture.now < 60 * SECOND; fixture.now += 40 * MS)
    n += send_all (&fixture);
  fail_unless (abs ((gint) n - 60 * INITIAL / S) <= 2, "%u", n);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (bytes_are_paced_unless_a_size_is_given)
{
  TfrcSenderConfig config;
  TfrcSender *sender;
  TfrcSenderState state;
  guint64 now = 0, bytes = 0;
  guint n;

  tfrc_sender_config_init (&config);
  sender = tfrc_sender_new (&config);
  tfrc_sender_set_round_trip (sender, 0, R);
  for (n = 0; n < 2000; n++) {
    const guint32 size = n % 2 ? 1400 : 100;

    now = tfrc_sender_next_send (sender, now);
    tfrc_sender_sent (sender, now, n, size, TRUE);
    bytes += size;
  }
  fail_unless (bytes <= INITIAL * (gdouble) now / SECOND + 2 * 1400);
  fail_unless (bytes >= INITIAL * (gdouble) now / SECOND - 1400);
  tfrc_sender_get_state (sender, &state);
  fail_unless (state.segment_size > 650 && state.segment_size < 850);
  /* A packet without payload counts for the pacing like a packet of the mean
   * size. */
  for (n = 2000; n < 2100; n++) {
    const guint64 next = tfrc_sender_next_send (sender, now);

    fail_unless (next > now + 10 * MS);
    now = next;
    tfrc_sender_sent (sender, now, n, 0, TRUE);
  }
  tfrc_sender_free (sender);
}

GST_END_TEST;

/* --- RFC 4342 section 8.1 */

GST_START_TEST (window_counter_counts_quarters)
{
  const guint values[][2] = {   /* ms, CCVal */
    {0, 0}, {10, 0}, {24, 0}, {25, 1}, {60, 2}, {84, 2}, {110, 4}, {400, 9},
    {1000, 14}, {1050, 0}, {1075, 1}
  };
  Fixture fixture;
  guint i;

  set_up (&fixture, TRUE);
  for (i = 0; i < G_N_ELEMENTS (values); i++) {
    fixture.now = values[i][0] * MS;
    fail_unless_equals_int (send_one (&fixture), values[i][1]);
  }
  tear_down (&fixture);
}

GST_END_TEST;

/* RFC 4342 section 8.1: the window counter increases with the time since
 * last_WC_time, the time of its last change. At the beginning there was no
 * change, so last_WC_time must be the time of the first packet. */
GST_START_TEST (window_counter_begins_with_the_first_packet)
{
  Fixture fixture;

  set_up (&fixture, TRUE);
  fixture.now = 400 * MS;
  fail_unless_equals_int (send_one (&fixture), 0);
  fixture.now = 425 * MS;
  fail_unless_equals_int (send_one (&fixture), 1);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (acknowledged_window_counter_is_left_behind)
{
  TfrcFeedback feedback;
  Fixture fixture;
  guint8 ccval;

  set_up (&fixture, TRUE);
  send_one (&fixture);          /* 0 */
  fixture.now = 10 * MS;
  /* This feedback acknowledges a packet with the window counter 0, so the
   * sender raises its counter to 4. The feedback also measures a new round trip
   * R, which is shorter than the initial R. The new R must not lower the
   * counter. */
  take_feedback (&fixture, 0, 0);
  fail_unless_equals_int (send_one (&fixture), 4);
  fixture.now = 12 * MS;
  take_feedback (&fixture, 1000, 0);
  fail_unless_equals_int (send_one (&fixture), 8);
  fixture.now += R;
  /* The window counter may increase by at most 5 from one packet to the next.
   * It was 8, so it must now be 13 or less. */
  ccval = send_one (&fixture);
  fail_unless (ccval > 8 && ccval <= 13);
  /* The window counter of the acknowledged packet is 8, and a packet with the
   * counter `ccval` was sent after it. The counter of the next packet must
   * exceed the acknowledged counter by at least 4, so it must be at least 12.
   */
  feedback = make_feedback (&fixture, 1000, 0);
  feedback.acknowledged--;
  tfrc_sender_feedback (fixture.sender, fixture.now, &feedback);
  fail_unless_equals_int (send_one (&fixture), MAX (ccval, 12));
  tear_down (&fixture);
}

GST_END_TEST;

/* --- RFC 4342 section 5.2 */

/* Returns the allowed rate X of a sender after feedback about dropped packets.
 * All rates are in bytes per second. Before this feedback, the receive rate is
 * 50000, so X is 100000. Four parameters describe the feedback:
 * - `dropped` is the number of packets that the receiver has dropped with Drop
 *   Code 2.
 * - If `others` is TRUE, the receiver has also dropped packets with another
 *   Drop Code.
 * - If `slow` is TRUE, the feedback contains the option Slow Receiver.
 * - `receive_rate` is the receive rate X_recv that the feedback reports.
 *
 * If `is_over` is FALSE, the function returns X after this feedback. If
 * `is_over` is TRUE, the sender then gets a second feedback, without dropped
 * packets and without Slow Receiver. The function returns X after the second
 * feedback. */
static gdouble
get_rate_after_drops (guint dropped, gboolean others, gboolean slow,
    guint32 receive_rate, gboolean is_over)
{
  TfrcFeedback feedback;
  Fixture fixture;
  gdouble rate;
  guint i;

  set_up (&fixture, TRUE);
  go_round (&fixture, 0, 0);
  for (i = 0; i < 3; i++)
    go_round (&fixture, 50000, 1e-6);
  send_all (&fixture);
  fixture.now += R;
  feedback = make_feedback (&fixture, receive_rate, 1e-6);
  feedback.dropped = dropped;
  feedback.dropped_others = others;
  feedback.slow_receiver = slow;
  tfrc_sender_feedback (fixture.sender, fixture.now, &feedback);
  rate = get_rate (&fixture);
  if (is_over) {
    fixture.now += R;
    /* One round trip later, no new feedback has arrived yet. The rate must not
     * have changed. */
    fail_unless (get_rate (&fixture) == rate);
    feedback = make_feedback (&fixture, receive_rate, 1e-6);
    tfrc_sender_feedback (fixture.sender, fixture.now, &feedback);
    rate = get_rate (&fixture);
  }
  fail_unless_equals_uint64 (get_state (&fixture).dropped, dropped);
  fail_unless_equals_uint64 (get_state (&fixture).slow_receivers, slow);
  tear_down (&fixture);
  return rate;
}

GST_START_TEST (receiver_drops_limit_until_they_end)
{
  /* If the receiver has dropped no packet, the rate must be twice the receive
   * rate. */
  assert_near (get_rate_after_drops (0, FALSE, FALSE, 50000, FALSE), 100000);
  /* The rate must be the receive rate in two cases: the feedback contains the
   * option Slow Receiver, or it reports dropped packets with a Drop Code other
   * than 2. */
  assert_near (get_rate_after_drops (0, FALSE, TRUE, 50000, FALSE), 50000);
  assert_near (get_rate_after_drops (0, TRUE, FALSE, 50000, FALSE), 50000);
  /* With the packet size s and the round trip R, one packet per round trip is
   * s / R = 14600 bytes per second. Each packet that the receiver dropped must
   * lower the rate by this amount. */
  assert_near (get_rate_after_drops (1, FALSE, FALSE, 50000, FALSE), 35400);
  assert_near (get_rate_after_drops (2, FALSE, TRUE, 50000, FALSE), 20800);
  /* The receiver has dropped many packets. The rate must nevertheless not fall
   * below the smaller of two rates: one packet per round trip, and the receive
   * rate. */
  assert_near (get_rate_after_drops (10, FALSE, FALSE, 50000, FALSE), 14600);
  assert_near (get_rate_after_drops (5, FALSE, FALSE, 10000, FALSE), 10000);
  /* The first feedback reports dropped packets or Slow Receiver. The second
   * feedback, one round trip later, reports neither of them. After the second
   * feedback, the rate must be twice the receive rate, as without drops. */
  assert_near (get_rate_after_drops (10, FALSE, FALSE, 50000, TRUE), 100000);
  assert_near (get_rate_after_drops (0, FALSE, TRUE, 50000, TRUE), 100000);
}

GST_END_TEST;

GST_START_TEST (slow_receiver_stops_slow_start)
{
  TfrcFeedback feedback;
  Fixture fixture;
  guint i;

  set_up (&fixture, TRUE);
  go_round (&fixture, 0, 0);
  go_round (&fixture, 50000, 0);
  for (i = 0; i < 10; i++) {
    send_all (&fixture);
    fixture.now += R;
    feedback = make_feedback (&fixture, 50000, 0);
    feedback.slow_receiver = TRUE;
    tfrc_sender_feedback (fixture.sender, fixture.now, &feedback);
    assert_near (get_rate (&fixture), 50000);
  }
  tear_down (&fixture);

  /* While each feedback contains the option Slow Receiver, the rate must not
   * grow, although the receive rate is much higher. */
  set_up (&fixture, TRUE);
  go_round (&fixture, 0, 0);
  for (i = 0; i < 10; i++) {
    send_all (&fixture);
    fixture.now += R;
    feedback = make_feedback (&fixture, 1000000, 0);
    feedback.slow_receiver = TRUE;
    tfrc_sender_feedback (fixture.sender, fixture.now, &feedback);
    assert_near (get_rate (&fixture), 2 * INITIAL);
  }
  tear_down (&fixture);
}

GST_END_TEST;

/* --- the round trip */

GST_START_TEST (other_packets_time_the_round_trip)
{
  TfrcFeedback feedback = { 0 };
  Fixture fixture;

  set_up (&fixture, FALSE);
  tfrc_sender_sent_other (fixture.sender, 0, FIRST);
  feedback.acknowledged = FIRST;
  tfrc_sender_feedback (fixture.sender, R, &feedback);
  fail_unless_equals_uint64 (get_state (&fixture).round_trip, R);
  fail_unless_equals_uint64 (get_state (&fixture).feedbacks, 0);
  assert_near (get_rate (&fixture), INITIAL);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (elapsed_time_is_not_round_trip)
{
  TfrcFeedback feedback;
  Fixture fixture;

  set_up (&fixture, FALSE);
  send_one (&fixture);
  feedback = make_feedback (&fixture, 0, 0);
  feedback.has_elapsed = TRUE;
  feedback.elapsed = 300 * MS;
  tfrc_sender_feedback (fixture.sender, 350 * MS, &feedback);
  fail_unless_equals_uint64 (get_state (&fixture).round_trip, 50 * MS);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (packet_long_ago_is_a_long_round_trip)
{
  TfrcFeedback feedback;
  Fixture fixture;
  guint i;

  set_up (&fixture, FALSE);
  for (i = 0; i < 10000; i++) {
    fixture.now = i * MS;
    send_one (&fixture);
  }
  feedback = make_feedback (&fixture, 1000, 0);
  feedback.acknowledged = FIRST;
  tfrc_sender_feedback (fixture.sender, fixture.now, &feedback);
  /* The feedback acknowledges the first of 10000 packets. The sender remembers
   * only the last 8192 packets, so it measures the round trip from the oldest
   * of these. That packet was sent 8191 ms ago. */
  fail_unless_equals_uint64 (get_state (&fixture).round_trip, 8191 * MS);
  fail_unless_equals_uint64 (get_state (&fixture).feedbacks, 1);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (numbers_wrap)
{
  Fixture fixture;
  guint i;

  set_up (&fixture, TRUE);
  fixture.sequence = DCCP_SEQUENCE_MASK - 3;
  for (i = 0; i < 10; i++) {
    fixture.now += 10 * MS;
    tfrc_sender_sent (fixture.sender, fixture.now,
        dccp_sequence_add (DCCP_SEQUENCE_MASK - 3, i), S, TRUE);
    fixture.sequence = dccp_sequence_add (DCCP_SEQUENCE_MASK - 3, i + 1);
    take_feedback (&fixture, 1000, .01);
    fail_unless_equals_uint64 (get_state (&fixture).feedbacks, i + 1);
  }
  tear_down (&fixture);
}

GST_END_TEST;

/* --- lies */

GST_START_TEST (feedback_on_what_was_never_sent_is_ignored)
{
  const gint64 lies[] = { 1, 2, 100, G_GINT64_CONSTANT (1) << 40, -3, -5000 };
  TfrcFeedback feedback;
  Fixture fixture;
  guint i;

  set_up (&fixture, TRUE);
  feedback = make_feedback (&fixture, 1, 1);
  tfrc_sender_feedback (fixture.sender, 0, &feedback);  /* nothing at all */
  fail_unless_equals_uint64 (get_state (&fixture).feedbacks, 0);
  send_one (&fixture);
  send_one (&fixture);
  for (i = 0; i < G_N_ELEMENTS (lies); i++) {
    feedback = make_feedback (&fixture, 1, 1);
    feedback.slow_receiver = TRUE;
    feedback.acknowledged = dccp_sequence_add (feedback.acknowledged, lies[i]);
    tfrc_sender_feedback (fixture.sender, R, &feedback);
    fail_unless_equals_uint64 (get_state (&fixture).feedbacks, 0);
    assert_near (get_rate (&fixture), INITIAL);
  }
  feedback.acknowledged = G_MAXUINT64;
  tfrc_sender_feedback (fixture.sender, R, &feedback);
  fail_unless_equals_uint64 (get_state (&fixture).feedbacks, 0);
  /* Feedback that is older than the last one must be ignored. */
  take_feedback (&fixture, 1000, 0);
  feedback = make_feedback (&fixture, 1, 1);
  feedback.acknowledged--;
  tfrc_sender_feedback (fixture.sender, R, &feedback);
  fail_unless_equals_uint64 (get_state (&fixture).feedbacks, 1);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (longer_elapsed_than_the_round_trip_is_not_believed)
{
  const guint64 lies[] = { R, R + 1, 10 * SECOND, G_MAXUINT64 };
  TfrcFeedback feedback;
  Fixture fixture;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (lies); i++) {
    set_up (&fixture, TRUE);
    send_one (&fixture);
    fixture.now = R;
    feedback = make_feedback (&fixture, 0, 0);
    feedback.has_elapsed = TRUE;
    feedback.elapsed = lies[i];
    tfrc_sender_feedback (fixture.sender, fixture.now, &feedback);
    fail_unless_equals_uint64 (get_state (&fixture).round_trip, R);
    tear_down (&fixture);
  }
}

GST_END_TEST;

GST_START_TEST (receive_rate_of_nothing_gives_nothing)
{
  Fixture fixture;
  guint i;

  set_up (&fixture, TRUE);
  go_round (&fixture, 0, 0);
  assert_near (get_rate (&fixture), 2 * INITIAL);
  for (i = 0; i < 100; i++)
    go_round (&fixture, 0, 0);
  assert_near (get_rate (&fixture), 2 * INITIAL);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (greatest_receive_rate_is_survived)
{
  Fixture fixture;
  guint i;

  set_up (&fixture, TRUE);
  for (i = 0; i < 100; i++) {
    send_one (&fixture);
    fixture.now += R;
    take_feedback (&fixture, G_MAXUINT32, 0);
    fail_unless (get_rate (&fixture) <= MAX (2. * G_MAXUINT32, INITIAL));
  }
  fail_unless (tfrc_sender_next_send (fixture.sender,
          fixture.now) <= fixture.now);
  send_one (&fixture);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (loss_event_rate_out_of_range)
{
  const gdouble lies[] = { 7, 1e300, INFINITY, NAN };
  Fixture fixture;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (lies); i++) {
    set_up (&fixture, TRUE);
    go_round (&fixture, 50000, lies[i]);
    assert_near (get_rate (&fixture), 14600 / 243.316);
    tear_down (&fixture);
  }
  set_up (&fixture, TRUE);
  go_round (&fixture, 50000, -1);
  fail_unless_equals_float (get_state (&fixture).loss_event_rate, 0);
  assert_near (get_rate (&fixture), 2 * INITIAL);
  tear_down (&fixture);
}

GST_END_TEST;

GST_START_TEST (clock_that_stands_still)
{
  Fixture fixture;
  guint i;

  set_up (&fixture, FALSE);
  send_one (&fixture);
  take_feedback (&fixture, 0, 0);
  /* The measured round trip is 0 ms. The sender must use the minimum of 1 ms
   * instead. */
  fail_unless_equals_uint64 (get_state (&fixture).round_trip, MS);
  assert_near (get_rate (&fixture), 4380000);
  for (i = 0; i < 100; i++) {
    fail_unless (send_all (&fixture) <= 4);
    take_feedback (&fixture, 4000000, i % 2 ? .01 : 0);
    tfrc_sender_timeout (fixture.sender, fixture.now);
    fail_unless (isfinite (get_rate (&fixture)) && get_rate (&fixture) > 0);
  }
  /* The clock jumps back from 1 s to 0. The sender has sent a packet at 1 s, so
   * it must not send the next one before 1 s. */
  fixture.now = SECOND;
  send_one (&fixture);
  fail_unless (tfrc_sender_next_send (fixture.sender, 0) >= SECOND);
  tfrc_sender_timeout (fixture.sender, 0);
  tear_down (&fixture);
}

GST_END_TEST;

/* The stream has one packet every 50 ms. The initial rate allows one packet
 * every 33 ms, so the sender never uses its full rate. It must count as
 * application-limited: the application limits the rate, and not TFRC. */
GST_START_TEST (stream_below_the_rate_is_application_limited)
{
  Fixture fixture;
  guint i;

  set_up (&fixture, TRUE);
  fail_unless (get_state (&fixture).is_app_limited);
  for (i = 0; i < 100; i++) {
    fixture.now += 40 * MS;
    send_one (&fixture);
    fixture.now += R / 10;
    take_feedback (&fixture, S * 25, 0);
    fail_unless (get_state (&fixture).is_app_limited);
  }
  tear_down (&fixture);
}

GST_END_TEST;

/* A sender is data-limited while the application sends less than the allowed
 * rate. The sender counts as application-limited if it was data-limited for at
 * least half of the recent time.
 *
 * The first part of the test lasts 0.5 s. The sender is data-limited for at
 * most 0.1 s, which is only 20 % of this time. It must not count as
 * application-limited. In the second part, the sender is data-limited for two
 * intervals of 2.1 s each, which are most of the recent time. After these
 * intervals, it must count as application-limited. */
GST_START_TEST (stream_that_uses_the_rate_is_not_application_limited)
{
  Fixture fixture;
  guint i;

  set_up (&fixture, TRUE);
  for (i = 0; i < 5; i++)
    go_round (&fixture, 30000, 0);
  fail_unless (!get_state (&fixture).is_app_limited);
  for (i = 0; i < 2; i++)
    go_round_limited (&fixture, 30000, 0);
  fail_unless (get_state (&fixture).is_app_limited);
  tear_down (&fixture);
}

GST_END_TEST;

/* Two values limit the rate. The TCP throughput equation allows 164004 bytes
 * per second. Twice the receive rate is 200000 bytes per second. The equation
 * gives the lower value, so it determines the rate. It depends only on the
 * losses, so the rate is known even if the application sends little. The sender
 * must therefore not count as application-limited. */
GST_START_TEST (rate_by_losses_is_known_however_little_is_sent)
{
  Fixture fixture;

  set_up (&fixture, TRUE);
  go_round (&fixture, 100000, 0.01);
  go_round_limited (&fixture, 100000, 0.01);
  go_round_limited (&fixture, 100000, 0.01);
  assert_near (get_rate (&fixture), EQUATION_01);
  fail_unless (!get_state (&fixture).is_app_limited);
  tear_down (&fixture);
}

GST_END_TEST;

/* The no-feedback timer expires while the sender has no packet to send. From
 * then on, the sender must count as application-limited: the application limits
 * the rate, and not TFRC. */
GST_START_TEST (idle_sender_is_application_limited)
{
  Fixture fixture;
  guint i;

  set_up (&fixture, TRUE);
  for (i = 0; i < 5; i++)
    go_round (&fixture, 30000, 0);
  fail_unless (!get_state (&fixture).is_app_limited);
  run_timer (&fixture);
  run_timer (&fixture);
  fail_unless (get_state (&fixture).is_app_limited);
  tear_down (&fixture);
}

GST_END_TEST;

static void
lie (Fixture * fixture, GRand * random)
{
  TfrcFeedback feedback = { 0 };
  const guint32 rates[] = { 0, 1, 1000, 100000, G_MAXUINT32,
    g_rand_int (random)
  };
  const gdouble p[] = { 0, 1e-12, 1e-8, .01, 1, 2, -1, NAN,
    g_rand_double (random)
  };

  feedback.acknowledged = dccp_sequence_add (fixture->sequence,
      g_rand_int_range (random, -20, 3));
  feedback.has_elapsed = g_rand_boolean (random);
  feedback.elapsed = g_rand_int_range (random, 0, 1000) * MS;
  feedback.has_receive_rate = g_rand_boolean (random);
  feedback.receive_rate =
      rates[g_rand_int_range (random, 0, G_N_ELEMENTS (rates))];
  feedback.loss_event_rate = p[g_rand_int_range (random, 0, G_N_ELEMENTS (p))];
  feedback.slow_receiver = g_rand_int_range (random, 0, 10) == 0;
  feedback.dropped = g_rand_int_range (random, 0, 5) == 0 ?
      g_rand_int (random) : 0;
  feedback.dropped_others = g_rand_int_range (random, 0, 10) == 0;
  tfrc_sender_feedback (fixture->sender, fixture->now, &feedback);
}

GST_START_TEST (rate_is_valid_for_any_feedback)
{
  GRand *random = g_rand_new_with_seed (5348);
  guint round, i;

  for (round = 0; round < 200; round++) {
    Fixture fixture;

    set_up (&fixture, round % 2);
    for (i = 0; i < 500; i++) {
      const guint64 next = tfrc_sender_next_send (fixture.sender, fixture.now);
      TfrcSenderState state;

      fixture.now += g_rand_int_range (random, 0, 200) * MS;
      if (next <= fixture.now)
        send_one (&fixture);
      if (g_rand_boolean (random))
        lie (&fixture, random);
      tfrc_sender_timeout (fixture.sender, fixture.now);
      state = get_state (&fixture);
      fail_unless (state.rate >= S / 64. - 1e-6
          && state.rate <= 2. * G_MAXUINT32 + 4380000, "%g", state.rate);
      fail_unless (state.instant_rate >= S / 64. - 1e-6
          && isfinite (state.instant_rate));
      fail_unless (state.loss_event_rate == 0
          || state.rate <= MAX (state.receive_limit, S / 64.) + 1e-6);
      fail_unless (tfrc_sender_next_send (fixture.sender, fixture.now)
          <= fixture.now + 65 * SECOND);
      fail_unless (tfrc_sender_next_wakeup (fixture.sender) > fixture.now);
    }
    tear_down (&fixture);
  }
  g_rand_free (random);
}

GST_END_TEST;

static Suite *
tfrcsender_suite (void)
{
  Suite *s = suite_create ("tfrcsender");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, one_packet_a_second_without_a_round_trip);
  tcase_add_test (tc, never_below_a_packet_in_64_seconds);
  tcase_add_test (tc, initial_window_of_rfc_3390);
  tcase_add_test (tc, first_feedback_starts_and_pulls_the_next_packet_in);
  tcase_add_test (tc, slow_start_doubles_once_a_round_trip);
  tcase_add_test (tc, rate_is_that_of_the_equation_or_twice_the_received);
  tcase_add_test (tc, slow_rate_lengthens_the_timer);
  tcase_add_test (tc, data_limited_interval_keeps_the_largest);
  tcase_add_test (tc, loss_in_a_data_limited_interval);
  tcase_add_test (tc, timer_halves_slow_start);
  tcase_add_test (tc, idle_slow_start_is_halved_to_the_initial_rate);
  tcase_add_test (tc, waiting_data_is_not_idle);
  tcase_add_test (tc, timer_halves_what_was_received);
  tcase_add_test (tc, timer_halves_the_equation);
  tcase_add_test (tc, idle_sender_is_halved_to_the_recover_rate);
  tcase_add_test (tc, timer_asked_too_soon_does_nothing);
  tcase_add_test (tc, longer_round_trip_slows_at_once);
  tcase_add_test (tc, feedback_takes_acknowledged_bytes_out_of_flight);
  tcase_add_test (tc, old_feedback_brings_no_bytes_back_into_flight);
  tcase_add_test (tc, queueing_delay_is_above_the_recent_minimum);
  tcase_add_test (tc, packets_are_spread_over_the_round_trip);
  tcase_add_test (tc, credit_is_less_than_a_round_trip);
  tcase_add_test (tc, late_caller_catches_up);
  tcase_add_test (tc, bytes_are_paced_unless_a_size_is_given);
  tcase_add_test (tc, window_counter_counts_quarters);
  tcase_add_test (tc, window_counter_begins_with_the_first_packet);
  tcase_add_test (tc, acknowledged_window_counter_is_left_behind);
  tcase_add_test (tc, receiver_drops_limit_until_they_end);
  tcase_add_test (tc, slow_receiver_stops_slow_start);
  tcase_add_test (tc, other_packets_time_the_round_trip);
  tcase_add_test (tc, elapsed_time_is_not_round_trip);
  tcase_add_test (tc, packet_long_ago_is_a_long_round_trip);
  tcase_add_test (tc, numbers_wrap);
  tcase_add_test (tc, feedback_on_what_was_never_sent_is_ignored);
  tcase_add_test (tc, longer_elapsed_than_the_round_trip_is_not_believed);
  tcase_add_test (tc, receive_rate_of_nothing_gives_nothing);
  tcase_add_test (tc, greatest_receive_rate_is_survived);
  tcase_add_test (tc, loss_event_rate_out_of_range);
  tcase_add_test (tc, clock_that_stands_still);
  tcase_add_test (tc, stream_below_the_rate_is_application_limited);
  tcase_add_test (tc, stream_that_uses_the_rate_is_not_application_limited);
  tcase_add_test (tc, rate_by_losses_is_known_however_little_is_sent);
  tcase_add_test (tc, idle_sender_is_application_limited);
  tcase_add_test (tc, rate_is_valid_for_any_feedback);
  return s;
}

GST_CHECK_MAIN (tfrcsender);
