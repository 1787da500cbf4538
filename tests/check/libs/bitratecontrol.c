/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of BitrateControl, which computes the bitrate that the element
 * bitrateadapt sets on the encoder. The tests run in virtual time.
 * BitrateControl receives a report about the network every 20 ms. In this file,
 * rates are in kbit/s and times in ms.
 */

#include <gst/check/gstcheck.h>

#include <math.h>

#include "bitratecontrol.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define SECOND (1000 * MS)
#define KBIT 1000

static const BitrateConfig usual = {
  {300 * KBIT, 6000 * KBIT, 0.1, 0}, 10
};

static BitrateControl *control;
static BitrateReport report;
static guint64 target;          /* bit/s */
static guint changes;

static void
begin (const BitrateConfig * config, const BitrateRule * rule, guint64 bitrate)
{
  control = bitrate_control_new (config, rule, bitrate * KBIT);
  memset (&report, 0, sizeof (report));
  report.queued_bytes = report.queued_packets = report.in_flight =
      report.put_bytes = report.network_queue = BITRATE_UNKNOWN;
  report.round_trip = report.send_rate = BITRATE_UNKNOWN;
  report.loss = -1;
  report.now = SECOND;
  target = changes = 0;
}

static void
end (void)
{
  bitrate_control_free (control);
}

/* Passes the report in `report` to `control` every 20 ms for `duration` ms of
 * virtual time. */
static void
run (guint64 duration)
{
  guint64 until = report.now + duration * MS;

  for (; report.now < until; report.now += 20 * MS) {
    bitrate_control_input (control, &report);
    changes += bitrate_control_poll (control, report.now, &target);
  }
}

/* Simulates a network that carries `capacity` kbit/s, and an encoder that
 * always uses its target bitrate. The reports contain an estimate of the
 * capacity. If the target is lower than the capacity, the sender cannot measure
 * the capacity. The estimate then equals the target and is marked as a lower
 * bound. */
static void
run_over (guint64 capacity, guint64 duration)
{
  guint64 until = report.now + duration * MS;

  while (report.now < until) {
    report.is_lower_bound = target < capacity * KBIT;
    report.estimate = report.is_lower_bound ? target : capacity * KBIT;
    run (20);
  }
}

#define assert_target(kbit) \
    fail_unless_equals_uint64 (target, (kbit) * KBIT)
#define assert_target_between(minimum, maximum) \
    fail_unless (target >= (minimum) * KBIT && target <= (maximum) * KBIT, \
        "%" G_GUINT64_FORMAT " bit/s", target)

/* --- the estimate rule ---------------------------------------------------- */

GST_START_TEST (estimate_that_never_comes_changes_nothing)
{
  begin (&usual, &bitrate_estimate_rule, 2000);
  run (60000);
  assert_target (2000);
  fail_unless_equals_int (changes, 1);
  end ();
}

GST_END_TEST;

GST_START_TEST (estimate_that_goes_changes_nothing)
{
  begin (&usual, &bitrate_estimate_rule, 2000);
  report.estimate = 1000 * KBIT;
  run (1000);
  assert_target (900);
  report.estimate = 0;
  run (10000);
  assert_target (900);
  end ();
}

GST_END_TEST;

GST_START_TEST (first_rate_is_within_the_limits)
{
  begin (&usual, &bitrate_estimate_rule, 20000);
  run (20);
  assert_target (6000);
  end ();
  begin (&usual, &bitrate_estimate_rule, 10);
  run (20);
  assert_target (300);
  end ();
}

GST_END_TEST;

GST_START_TEST (falls_at_once)
{
  begin (&usual, &bitrate_estimate_rule, 4000);
  report.estimate = 4500 * KBIT;
  run (1000);
  report.estimate = 1500 * KBIT;
  run (20);
  assert_target (1350);
  end ();
}

GST_END_TEST;

GST_START_TEST (rises_in_small_steps_after_a_fall)
{
  guint64 last;
  guint i;

  begin (&usual, &bitrate_estimate_rule, 4000);
  report.estimate = 1500 * KBIT;
  run (100);
  report.estimate = 4000 * KBIT;
  run (200);
  assert_target (1350);
  for (i = 0; i < 50; i++) {
    last = target;
    run (100);
    fail_unless (target >= last && target <= 1.16 * last);
  }
  assert_target (3600);
  end ();
}

GST_END_TEST;

GST_START_TEST (lower_bound_never_lowers_the_rate)
{
  begin (&usual, &bitrate_estimate_rule, 2000);
  report.estimate = 400 * KBIT;
  report.is_lower_bound = TRUE;
  run (10000);
  assert_target (2000);
  end ();
}

GST_END_TEST;

GST_START_TEST (lower_bound_does_not_block_the_rise)
{
  begin (&usual, &bitrate_estimate_rule, 1350);
  run_over (1500, 1000);
  run_over (4000, 5000);
  assert_target_between (3200, 4400);
  end ();
}

GST_END_TEST;

GST_START_TEST (lower_bound_is_not_exceeded_by_much)
{
  begin (&usual, &bitrate_estimate_rule, 500);
  report.estimate = 1000 * KBIT;
  report.is_lower_bound = TRUE;
  run (60000);
  assert_target (1500);
  end ();
}

GST_END_TEST;

GST_START_TEST (stays_near_a_capacity_that_it_found)
{
  guint i;

  begin (&usual, &bitrate_estimate_rule, 1000);
  run_over (4000, 6000);
  for (i = 0; i < 100; i++) {
    run_over (4000, 200);
    assert_target_between (3500, 4400);
  }
  end ();
}

GST_END_TEST;

GST_START_TEST (waiting_data_lower_the_rate_further)
{
  begin (&usual, &bitrate_estimate_rule, 4000);
  report.estimate = 2000 * KBIT;
  report.queued_bytes = 0;
  run (200);
  assert_target (1800);
  /* 25000 bytes wait at the sender. At the estimated 2 Mbit/s, they need 100 ms
   * to drain. bitrate_estimate_rule tolerates 40 ms, so the excess is 60 ms.
   * The bitrate must therefore fall. */
  report.queued_bytes = 25000;
  run (200);
  assert_target (1260);
  report.queued_bytes = 500000;
  run (200);
  assert_target (540);
  end ();
}

GST_END_TEST;

GST_START_TEST (key_frame_that_drains_soon_is_no_queue)
{
  begin (&usual, &bitrate_estimate_rule, 1800);
  report.estimate = 2000 * KBIT;
  report.queued_bytes = 0;
  run (1000);
  report.queued_bytes = 50000;
  run (40);
  report.queued_bytes = 5000;
  run (40);
  report.queued_bytes = 0;
  run (100);
  assert_target (1800);
  end ();
}

GST_END_TEST;

/* --- frequency of changes ------------------------------------------------- */

GST_START_TEST (changes_are_limited_in_any_second)
{
  static const guint limits[] = { 1, 2, 5, 10, 50 };
  guint64 times[2000];
  guint i, j, n;

  for (i = 0; i < G_N_ELEMENTS (limits); i++) {
    BitrateConfig config = usual;

    config.max_changes = limits[i];
    begin (&config, &bitrate_estimate_rule, 4000);
    for (j = n = 0; j < 1000; j++) {
      report.estimate = (j % 2 ? 4000 - j : 4000 - 2 * j) * KBIT;
      bitrate_control_input (control, &report);
      if (bitrate_control_poll (control, report.now, &target))
        times[n++] = report.now;
      report.now += 10 * MS;
    }
    fail_unless (n > limits[i]);
    for (j = limits[i]; j < n; j++)
      fail_unless (times[j] - times[j - limits[i]] >= SECOND);
    end ();
  }
}

GST_END_TEST;

GST_START_TEST (rises_leave_room_for_a_fall)
{
  BitrateConfig config = usual;
  guint i;

  config.max_changes = 4;
  begin (&config, &bitrate_estimate_rule, 500);
  for (i = 0; i < 50; i++) {
    report.estimate = 6000 * KBIT;
    run (1700);
    report.estimate = target;
    run (20);
    fail_unless (target <= 0.9 * report.estimate, "fall %u waits", i);
  }
  end ();
}

GST_END_TEST;

GST_START_TEST (fall_that_had_to_wait_is_not_forgotten)
{
  BitrateConfig config = usual;
  BitrateStats stats;

  config.max_changes = 1;
  begin (&config, &bitrate_estimate_rule, 4000);
  run (20);
  report.estimate = 1000 * KBIT;
  run (500);
  assert_target (4000);
  run (600);
  assert_target (900);
  bitrate_control_get_stats (control, &stats);
  fail_unless_equals_uint64 (stats.held_back, 1);
  fail_unless_equals_uint64 (stats.falls, 1);
  fail_unless_equals_uint64 (stats.rises, 0);
  end ();
}

GST_END_TEST;

/* --- queues in the network ------------------------------------------------ */

/* Simulates an encoder that outputs `put` kbit/s, and a network that delivers
 * `delivered` kbit/s. If `delivered` exceeds `put`, the bytes in flight drain.
 * At the start, 100 ms of the encoder's output are in flight. At 1000 kbit/s,
 * this output is 12500 bytes of payload.
 *
 * The report to BitrateControl counts the bytes in flight with their headers.
 * 97 % of the counted bytes are payload, and 3 % are headers. BitrateControl
 * assumes the same share of headers, 3 %. */
static void
run_backlog (guint64 put, guint64 delivered, guint64 duration)
{
  const guint64 until = report.now + duration * MS;
  static const gdouble payload_share = 0.97;
  gdouble in_flight;

  if (report.put_bytes == BITRATE_UNKNOWN) {
    report.put_bytes = 1000 * KBIT;
    report.queued_bytes = 0;
    report.in_flight = 100 * 1000 / 8 / payload_share;
  }
  for (in_flight = report.in_flight; report.now < until;) {
    report.put_bytes += put * 20 / 8;
    in_flight += (put * 20.0 - delivered * 20.0) / 8 / payload_share;
    report.in_flight = in_flight;
    run (20);
  }
}

/* Simulates for `duration` ms that the encoder sends 1000 kbit/s and that the
 * network carries this bitrate. The estimated rate is 1112 kbit/s. The encoder
 * may use 90 % of it, which is 1000 kbit/s. */
static void
begin_backlog (guint64 duration)
{
  begin (&usual, &bitrate_estimate_rule, 1000);
  report.estimate = 1112 * KBIT;
  report.network_queue = 0;
  run_backlog (1000, 1000, duration);
}

/* The queueing delay in the network rises to 120 ms. BitrateControl tolerates a
 * queueing delay of 60 ms. The excess is therefore 60 ms: the network needs
 * this time to deliver the data that wait too long. The excess must drain
 * within 200 ms. In these 200 ms, the network spends 60 ms on the excess. Only
 * a share of 1 - 60 / 200 of the time remains for new data of the encoder.
 *
 * BitrateControl multiplies this share by 0.85 (BETA in bitrateestimaterule.c).
 * The bitrate must therefore fall to 0.85 * (1 - 60 / 200) of the delivered
 * bitrate. */
GST_START_TEST (queue_in_the_network_lowers_the_rate)
{
  begin (&usual, &bitrate_estimate_rule, 1000);
  report.estimate = 1112 * KBIT;
  report.network_queue = 10 * MS;
  run_backlog (1000, 1000, 400);
  assert_target_between (1000, 1001);
  report.network_queue = 120 * MS;
  run_backlog (1000, 1000, 40);
  assert_target_between (590, 600);
  report.network_queue = 0;
  run_backlog (1000, 1000, 10000);
  assert_target_between (1000, 1001);
  end ();
}

GST_END_TEST;

/* In the first part of the test, the queueing delay is usually 40 ms, but falls
 * to 5 ms every 100 ms. BitrateControl tolerates this queue, because it drains.
 *
 * In the second part, the queueing delay stays at 40 ms. BitrateControl
 * tolerates only 10 ms of a constant delay. The excess of 30 ms must drain
 * within 200 ms. In these 200 ms, the network spends 30 ms on the excess, so a
 * share of 1 - 30 / 200 of the time remains for new data. BitrateControl
 * multiplies this share by 0.85 (BETA in bitrateestimaterule.c). The bitrate
 * must therefore fall to 0.85 * (1 - 30 / 200) of the delivered bitrate. */
GST_START_TEST (standing_queue_lowers_the_rate)
{
  guint i;

  begin (&usual, &bitrate_estimate_rule, 1000);
  report.estimate = 1112 * KBIT;
  for (i = 0; i < 10; i++) {
    report.network_queue = 5 * MS;
    run_backlog (1000, 1000, 20);
    report.network_queue = 40 * MS;
    run_backlog (1000, 1000, 80);
  }
  assert_target_between (1000, 1001);
  run_backlog (1000, 1000, 60);
  assert_target_between (715, 730);
  end ();
}

GST_END_TEST;

/* bitrate_estimate_rule usually tolerates a constant queueing delay of up to 10
 * ms. A sink that reports its round-trip time measures the queueing delay of
 * the last packet of a frame. This packet has also waited behind the other
 * packets of its own frame, usually for half a frame period. For such a sink,
 * the tolerated delay must therefore be half a frame period higher. Half a
 * frame period is 10 ms in this test, so 19 ms must be tolerated, and 22 ms
 * must lower the bitrate. */
GST_START_TEST (delay_of_a_whole_frame_is_no_standing_queue)
{
  begin (&usual, &bitrate_estimate_rule, 1000);
  report.estimate = 1112 * KBIT;
  report.round_trip = 40 * MS;
  report.network_queue = 0;
  run_backlog (1000, 1000, 400);
  report.network_queue = 19 * MS;
  run_backlog (1000, 1000, 400);
  assert_target_between (1000, 1001);
  report.network_queue = 22 * MS;
  run_backlog (1000, 1000, 400);
  assert_target_between (830, 850);
  end ();
}

GST_END_TEST;

/* Simulates for `duration` ms that 1000 kbit/s are sent and delivered. The
 * receiver sends only one report in each round trip of 300 ms. Between two
 * reports, the number of bytes in flight therefore only grows. */
static void
run_rare_reports (guint64 duration)
{
  const guint64 until = report.now + duration * MS;

  while (report.now < until) {
    if (report.now % (300 * MS) == 0)
      report.in_flight = MIN (report.in_flight, 1000 * 300 / 8);
    report.put_bytes += 1000 * 20 / 8;
    report.in_flight += 1000 * 20 / 8;
    run (20);
  }
}

static void
begin_rare_reports (void)
{
  begin (&usual, &bitrate_estimate_rule, 1000);
  report.now = 1200 * MS;
  report.estimate = 1112 * KBIT;
  report.put_bytes = report.queued_bytes = report.in_flight = 0;
  report.round_trip = 300 * MS;
}

/* The round trip is 300 ms, and the receiver sends one report in each round
 * trip, as with dccpthinsink. Between two reports, more and more bytes are
 * unconfirmed, although the network delivers them. BitrateControl must not
 * treat this as an outage. After this, no report arrives for 400 ms. This is an
 * outage, so the bitrate must fall to the minimum. */
GST_START_TEST (rare_reports_are_no_outage)
{
  guint i;

  begin_rare_reports ();
  for (i = 0; i < 500; i++) {
    run_rare_reports (20);
    assert_target_between (1000, 1001);
  }
  for (i = 0; i < 20; i++) {
    report.put_bytes += 1000 * 20 / 8;
    report.in_flight += 1000 * 20 / 8;
    run (20);
  }
  assert_target (300);
  end ();
}

GST_END_TEST;

/* The receiver sends only one report in 300 ms. BitrateControl must
 * nevertheless measure the delivered bitrate correctly, which is 1000 kbit/s.
 *
 * 200 ms after a report, the queueing delay rises to 50 ms. BitrateControl
 * tolerates a queueing delay of 20 ms: the usual 10 ms, and half a frame
 * period, which is 10 ms in this test. The other 30 ms of the delay are the
 * excess.
 *
 * BitrateControl wants the excess to drain in 200 ms. The network needs 30 of
 * these 200 ms to send the data that wait too long. The remaining share of the
 * time, 1 - 30 / 200, is free for new data. BitrateControl multiplies this
 * share by 0.85 (BETA in bitrateestimaterule.c). The bitrate must therefore
 * fall to 0.85 * (1 - 30 / 200) of the delivered bitrate. */
GST_START_TEST (rare_reports_show_the_delivered_rate)
{
  guint i;

  begin_rare_reports ();
  report.network_queue = 0;
  run_rare_reports (10000);
  run_rare_reports ((300 - report.now / MS % 300) % 300 + 200);
  report.network_queue = 50 * MS;
  for (i = 0; i < 40; i++) {
    run_rare_reports (20);
    fail_unless (target >= 680 * KBIT, "%" G_GUINT64_FORMAT " bit/s", target);
  }
  assert_target_between (680, 780);
  end ();
}

GST_END_TEST;

/* Simulates an encoder that makes a frame of `size` bytes every `period` ms.
 * The sender sends each frame at 4000 kbit/s, and finishes it before the
 * encoder makes the next frame. The estimated rate of the path is 4000 kbit/s,
 * too. At the end, the bitrate must be 3600 kbit/s, which is 90 % of the
 * estimated rate. */
static void
check_large_frames (guint64 size, guint64 period)
{
  const guint64 sent = 4000 * 20 / 8;   /* bytes in 20 ms */
  guint64 i;

  begin (&usual, &bitrate_estimate_rule, 2000);
  report.estimate = 4000 * KBIT;
  report.put_bytes = report.queued_bytes = report.in_flight = 0;
  for (i = 0; i < 20000; i += 20) {
    if (i % period == 0) {
      report.put_bytes += size;
      report.queued_bytes += size;
    }
    run (20);
    report.queued_bytes -= MIN (report.queued_bytes, sent);
  }
  assert_target (3600);
  end ();
}

/* The first encoder makes a frame of 80,000 bytes every 200 ms, and the sender
 * needs 160 ms to send it. The second encoder makes a frame of 400,000 bytes
 * every 1000 ms, and the sender needs 800 ms to send it. In both cases the
 * sender has sent each frame before the next frame arrives. The bitrate must
 * therefore not be reduced. */
GST_START_TEST (large_frames_at_a_low_frame_rate_are_no_standing_queue)
{
  check_large_frames (80000, 200);
  check_large_frames (400000, 1000);
}

GST_END_TEST;

/* The network delivers nothing, so no report of the receiver arrives and the
 * estimated rate does not change. The bitrate of the encoder must nevertheless
 * fall to the minimum. */
GST_START_TEST (network_that_delivers_nothing_gets_the_minimum)
{
  begin_backlog (400);
  assert_target_between (1000, 1001);
  run_backlog (1000, 0, 100);
  assert_target_between (1000, 1001);
  run_backlog (1000, 0, 300);
  assert_target (300);
  end ();
}

GST_END_TEST;

/* An outage of the network lasts 0.4 s. Before the outage, the bitrate is 1000
 * kbit/s. During the outage, the output of the encoder waits in a queue. After
 * the outage, the queue drains at 6000 kbit/s.
 *
 * The bitrate must then rise at once to the lower one of two values:
 * - 850 kbit/s: 85 % of the bitrate before the outage
 * - 3000 kbit/s: half of the rate at which the queue drains
 *
 * The bitrate must therefore be 850 kbit/s. */
GST_START_TEST (rate_returns_when_an_outage_is_over)
{
  begin_backlog (400);
  run_backlog (1000, 0, 400);
  assert_target (300);
  run_backlog (300, 6000, 80);
  run_backlog (300, 300, 80);
  assert_target_between (849, 851);
  end ();
}

GST_END_TEST;

/* During an outage, data wait at the sender or in the network, and the bitrate
 * falls. Then the sender drops the data that wait. BitrateControl must no
 * longer count these data, so that the bitrate rises again. */
GST_START_TEST (dropped_backlog_does_not_hold_the_rate_down)
{
  begin (&usual, &bitrate_estimate_rule, 1000);
  report.estimate = 1000 * KBIT;
  report.network_queue = 0;
  run_backlog (900, 900, 1000);
  run_backlog (900, 0, 400);
  assert_target (300);
  report.in_flight = 1000;
  run_backlog (300, 300, 5000);
  assert_target (900);
  end ();
}

GST_END_TEST;

/* A handover to another network increases the round trip permanently. The
 * one-way delay therefore stays higher than before, and so does the time until
 * data are confirmed. At first this looks like a queue in the network. After
 * some seconds, the bitrate must nevertheless return to the value that it had
 * before the handover. */
GST_START_TEST (longer_round_trip_is_no_queue_for_long)
{
  begin_backlog (20000);
  assert_target_between (1000, 1001);
  report.network_queue = 130 * MS;
  run_backlog (1000, 0, 260);
  run_backlog (1000, 1000, 7000);
  assert_target_between (1000, 1001);
  end ();
}

GST_END_TEST;

/* The bitrate has fallen because of an outage. Then the sink is replaced by
 * another one, which does not report the bytes in flight. Without this number,
 * nothing shows that the outage continues, so the bitrate must rise again. */
GST_START_TEST (other_sink_ends_an_outage)
{
  begin_backlog (400);
  run_backlog (1000, 0, 400);
  assert_target (300);
  report.in_flight = report.network_queue = BITRATE_UNKNOWN;
  run (5000);
  assert_target_between (1000, 1001);
  end ();
}

GST_END_TEST;

/* The source sends nothing for 10 s. During this time, the sink continues to
 * report the queueing delay of the last packet, which was 60 ms. This delay
 * says nothing about the present, so the bitrate must not fall. */
GST_START_TEST (idle_source_keeps_the_rate)
{
  begin_backlog (400);
  run_backlog (0, 1000, 100);
  report.network_queue = 60 * MS;
  report.in_flight = 0;
  run_backlog (0, 0, 10000);
  /* The bitrate may be up to 1 % too low, because smaller differences do not
   * cause a change of the encoder's bitrate. */
  assert_target_between (990, 1001);
  end ();
}

GST_END_TEST;

/* The network accepts no data, so the sink blocks, and the encoder has to wait.
 * The encoder then sends nothing, as in a pause of the source. A pause must not
 * lower the bitrate, but a blocked sink must lower it to the minimum. */
GST_START_TEST (blocked_source_is_not_idle)
{
  begin_backlog (400);
  report.is_blocked = TRUE;
  run_backlog (0, 0, 400);
  assert_target (300);
  end ();
}

GST_END_TEST;

/* The source has sent 1000 kbit/s, and then pauses. The estimated rate is 1112
 * kbit/s and is only a lower bound. BitrateControl may let the bitrate rise to
 * 1.5 times such an estimate, which is 1668 kbit/s. During the pause, however,
 * nothing shows that the network carries more than before. The bitrate must
 * therefore stay at 1000 kbit/s until the source sends again. */
GST_START_TEST (idle_source_does_not_raise_the_rate)
{
  begin_backlog (400);
  run_backlog (0, 1000, 100);
  report.is_lower_bound = TRUE;
  run_backlog (0, 0, 10000);
  assert_target_between (1000, 1001);
  run_backlog (1000, 1000, 5000);
  assert_target (1668);
  end ();
}

GST_END_TEST;

/* The encoder pauses. The round trip is 300 ms. During the pause, the transport
 * always has some small messages of its own in flight. BitrateControl must not
 * mistake these bytes for data of the encoder that have been in flight since
 * the pause began. */
GST_START_TEST (messages_in_a_pause_are_no_old_data)
{
  guint64 in_flight, i;

  begin_backlog (400);
  run_backlog (1000, 0, 200);
  in_flight = report.in_flight;
  run_backlog (1000, 1000, 8000);
  run_backlog (0, 1000, 280);
  for (i = 0; i < 500; i++) {
    report.in_flight = i % 3 ? 332 : 249;
    run_backlog (0, 0, 20);
    assert_target_between (1000, 1001);
  }
  for (; report.in_flight < in_flight; assert_target_between (990, 1001))
    run_backlog (1000, 0, 20);
  run_backlog (1000, 1000, 2000);
  assert_target_between (990, 1001);
  end ();
}

GST_END_TEST;

/* The last packets before a pause are lost. The receiver reports this loss only
 * after the pause, so until then the packets seem to be in flight.
 * BitrateControl must not treat this as an outage: the bitrate must not fall.
 */
GST_START_TEST (loss_before_a_pause_is_no_outage)
{
  begin_backlog (400);
  run_backlog (0, 0, 10000);
  assert_target_between (1000, 1001);
  run_backlog (1000, 0, 100);
  report.in_flight = 12500;
  run_backlog (1000, 1000, 5000);
  assert_target_between (1000, 1001);
  end ();
}

GST_END_TEST;

/* A static picture needs only 20 kbit/s. Its packets are small, so headers are
 * a large part of the bytes in flight.
 *
 * BitrateControl estimates the age of the data in flight. The estimate is the
 * time in which the encoder outputs as many bytes as are in flight. The bytes
 * in flight include headers, but the encoder outputs only payload. The encoder
 * needs more time to output this number of bytes than it needed for the payload
 * that is really in flight. The estimated age is therefore too high. The
 * bitrate must nevertheless stay at 1000 kbit/s. */
GST_START_TEST (static_picture_keeps_the_rate)
{
  begin_backlog (400);
  run_backlog (0, 1000, 80);
  run_backlog (20, 20, 10000);
  assert_target_between (1000, 1001);
  end ();
}

GST_END_TEST;

/* The bitrate rises to 1500 kbit/s. This is more than the estimated rate of
 * 1000 kbit/s, which is only a lower bound. Then the transport drops packets
 * because they would be late. The bitrate must fall to 90 % of the estimated
 * rate (10 % are headroom). When the transport drops more packets, the bitrate
 * must be multiplied by 0.85. Without further drops, it must rise again. */
GST_START_TEST (drops_of_the_transport_lower_the_rate)
{
  begin (&usual, &bitrate_estimate_rule, 1400);
  report.estimate = 1000 * KBIT;
  report.is_lower_bound = TRUE;
  run (1000);
  assert_target (1500);
  report.dropped = 30;
  run (1000);
  assert_target (900);
  report.dropped = 60;
  run (1000);
  assert_target (765);
  run (3000);
  assert_target_between (1300, 1500);
  end ();
}

GST_END_TEST;

/* If the transport does not report the bytes in flight, BitrateControl does not
 * know how many data are still unconfirmed. It must then ignore the queueing
 * delay in the network, so the bitrate must not fall. */
GST_START_TEST (unknown_backlog_changes_nothing)
{
  begin (&usual, &bitrate_estimate_rule, 1000);
  report.estimate = 2000 * KBIT;
  report.network_queue = SECOND;
  report.put_bytes = 1000;
  report.queued_bytes = 0;
  run (10000);
  assert_target (1800);
  end ();
}

GST_END_TEST;

GST_START_TEST (other_encoder_gets_the_rate_again)
{
  begin (&usual, &bitrate_estimate_rule, 2000);
  run (1000);
  fail_unless_equals_int (changes, 1);
  bitrate_control_repeat (control);
  run (1000);
  fail_unless_equals_int (changes, 2);
  assert_target (2000);
  end ();
}

GST_END_TEST;

GST_START_TEST (limits_may_change_while_it_runs)
{
  BitrateConfig config = usual;

  begin (&usual, &bitrate_estimate_rule, 4000);
  run (1000);
  config.limits.max_bitrate = 1000 * KBIT;
  bitrate_control_set_config (control, &config);
  run (20);
  assert_target (1000);
  config.limits.min_bitrate = 2000 * KBIT;      /* above the maximum */
  bitrate_control_set_config (control, &config);
  run (1000);
  assert_target (2000);
  end ();
}

GST_END_TEST;

/* --- the round-trip rule -------------------------------------------------- */

static void
set_round_trip (guint64 round_trip)
{
  report.round_trip = round_trip * MS;
}

static const BitrateConfig slow_receiver = {
  {300 * KBIT, 6000 * KBIT, 0.1, 2 * SECOND}, 10
};

GST_START_TEST (constant_round_trip_lets_the_rate_rise)
{
  begin (&slow_receiver, &bitrate_round_trip_rule, 1000);
  set_round_trip (40);
  run (10000);
  /* bitrate_round_trip_rule raises the bitrate twice a second, each time by 30
   * kbit/s plus one thirtieth of the bitrate. */
  assert_target_between (2200, 3200);
  run (30000);
  assert_target (6000);
  end ();
}

GST_END_TEST;

GST_START_TEST (round_trip_of_a_third_of_the_latency_asks_for_the_minimum)
{
  begin (&slow_receiver, &bitrate_round_trip_rule, 4000);
  set_round_trip (40);
  run (1000);
  set_round_trip (700);
  run (20);
  assert_target (300);
  end ();
}

GST_END_TEST;

GST_START_TEST (round_trip_of_a_fifth_of_the_latency_lowers_it_by_tenths)
{
  begin (&slow_receiver, &bitrate_round_trip_rule, 4000);
  set_round_trip (40);
  run (1000);
  set_round_trip (500);
  run (20);
  assert_target_between (3400, 3800);
  run (1000);
  assert_target_between (1800, 2500);
  end ();
}

GST_END_TEST;

GST_START_TEST (rising_round_trip_stops_the_rise)
{
  guint i;

  begin (&slow_receiver, &bitrate_round_trip_rule, 1000);
  set_round_trip (40);
  run (4000);
  for (i = 0; i < 50; i++) {
    set_round_trip (40 + 5 * i);
    run (20);
  }
  assert_target_between (1000, 1700);
  end ();
}

GST_END_TEST;

GST_START_TEST (growing_send_buffer_lowers_the_rate)
{
  guint i;

  begin (&slow_receiver, &bitrate_round_trip_rule, 4000);
  set_round_trip (40);
  report.queued_packets = 20;
  run (5000);
  for (i = 0; i < 100; i++) {
    report.queued_packets += 4;
    run (20);
  }
  assert_target_between (300, 2500);
  end ();
}

GST_END_TEST;

GST_START_TEST (unmeasured_round_trip_changes_nothing)
{
  begin (&slow_receiver, &bitrate_round_trip_rule, 2000);
  set_round_trip (0);
  run (10000);
  assert_target (2000);
  fail_unless_equals_int (changes, 1);
  end ();
}

GST_END_TEST;

/* --- the loss rule -------------------------------------------------------- */

static void
run_with_loss (gdouble loss, guint n_reports)
{
  guint i;

  for (i = 0; i < n_reports; i++) {
    report.loss = loss;
    run (20);
    report.loss = -1;
    run (980);
  }
}

GST_START_TEST (losses_above_a_tenth_lower_the_rate_by_half_of_them)
{
  begin (&usual, &bitrate_loss_rule, 4000);
  run_with_loss (0.2, 1);
  assert_target (3600);
  run_with_loss (0.5, 1);
  assert_target (2700);
  end ();
}

GST_END_TEST;

GST_START_TEST (losses_between_leave_the_rate)
{
  begin (&usual, &bitrate_loss_rule, 4000);
  run_with_loss (0.05, 20);
  assert_target (4000);
  end ();
}

GST_END_TEST;

GST_START_TEST (rare_losses_let_the_rate_rise)
{
  begin (&usual, &bitrate_loss_rule, 1000);
  run_with_loss (0.01, 10);
  assert_target_between (1500, 1640);
  end ();
}

GST_END_TEST;

GST_START_TEST (no_report_changes_nothing)
{
  begin (&usual, &bitrate_loss_rule, 1000);
  run (60000);
  assert_target (1000);
  end ();
}

GST_END_TEST;

GST_START_TEST (another_rule_goes_on_at_the_present_rate)
{
  begin (&usual, &bitrate_loss_rule, 4000);
  run_with_loss (0.5, 1);
  assert_target (3000);
  bitrate_control_set_rule (control, &bitrate_estimate_rule);
  run (1000);
  assert_target (3000);
  report.estimate = 2000 * KBIT;
  run (20);
  assert_target (1800);
  end ();
}

GST_END_TEST;

/* --- random reports ------------------------------------------------------- */

GST_START_TEST (rate_stays_within_the_limits_whatever_is_reported)
{
  static const BitrateRule *const rules[] = { &bitrate_estimate_rule,
    &bitrate_round_trip_rule, &bitrate_loss_rule
  };
  GRand *random = g_rand_new_with_seed (1);
  guint i, j;

  for (i = 0; i < G_N_ELEMENTS (rules); i++) {
    begin (&slow_receiver, rules[i], 2000);
    for (j = 0; j < 100000; j++) {
      report.estimate = g_rand_int (random);
      report.is_lower_bound = g_rand_boolean (random);
      report.queued_bytes = g_rand_int (random) >> g_rand_int_range (random, 0,
          32);
      report.queued_packets = g_rand_int_range (random, 0, 3000);
      report.round_trip = g_rand_int_range (random, 0, 3000) * MS;
      report.send_rate = g_rand_int (random);
      report.loss = g_rand_double_range (random, -1, 1);
      run (20);
      assert_target_between (300, 6000);
    }
    end ();
  }
  g_rand_free (random);
}

GST_END_TEST;

static Suite *
bitrate_control_suite (void)
{
  Suite *s = suite_create ("bitratecontrol");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, estimate_that_never_comes_changes_nothing);
  tcase_add_test (tc, estimate_that_goes_changes_nothing);
  tcase_add_test (tc, first_rate_is_within_the_limits);
  tcase_add_test (tc, falls_at_once);
  tcase_add_test (tc, rises_in_small_steps_after_a_fall);
  tcase_add_test (tc, lower_bound_never_lowers_the_rate);
  tcase_add_test (tc, lower_bound_does_not_block_the_rise);
  tcase_add_test (tc, lower_bound_is_not_exceeded_by_much);
  tcase_add_test (tc, stays_near_a_capacity_that_it_found);
  tcase_add_test (tc, waiting_data_lower_the_rate_further);
  tcase_add_test (tc, key_frame_that_drains_soon_is_no_queue);
  tcase_add_test (tc, changes_are_limited_in_any_second);
  tcase_add_test (tc, rises_leave_room_for_a_fall);
  tcase_add_test (tc, fall_that_had_to_wait_is_not_forgotten);
  tcase_add_test (tc, queue_in_the_network_lowers_the_rate);
  tcase_add_test (tc, standing_queue_lowers_the_rate);
  tcase_add_test (tc, delay_of_a_whole_frame_is_no_standing_queue);
  tcase_add_test (tc, rare_reports_are_no_outage);
  tcase_add_test (tc, rare_reports_show_the_delivered_rate);
  tcase_add_test (tc, large_frames_at_a_low_frame_rate_are_no_standing_queue);
  tcase_add_test (tc, network_that_delivers_nothing_gets_the_minimum);
  tcase_add_test (tc, rate_returns_when_an_outage_is_over);
  tcase_add_test (tc, dropped_backlog_does_not_hold_the_rate_down);
  tcase_add_test (tc, longer_round_trip_is_no_queue_for_long);
  tcase_add_test (tc, other_sink_ends_an_outage);
  tcase_add_test (tc, idle_source_keeps_the_rate);
  tcase_add_test (tc, blocked_source_is_not_idle);
  tcase_add_test (tc, idle_source_does_not_raise_the_rate);
  tcase_add_test (tc, loss_before_a_pause_is_no_outage);
  tcase_add_test (tc, messages_in_a_pause_are_no_old_data);
  tcase_add_test (tc, static_picture_keeps_the_rate);
  tcase_add_test (tc, drops_of_the_transport_lower_the_rate);
  tcase_add_test (tc, unknown_backlog_changes_nothing);
  tcase_add_test (tc, other_encoder_gets_the_rate_again);
  tcase_add_test (tc, limits_may_change_while_it_runs);
  tcase_add_test (tc, constant_round_trip_lets_the_rate_rise);
  tcase_add_test (tc,
      round_trip_of_a_third_of_the_latency_asks_for_the_minimum);
  tcase_add_test (tc, round_trip_of_a_fifth_of_the_latency_lowers_it_by_tenths);
  tcase_add_test (tc, rising_round_trip_stops_the_rise);
  tcase_add_test (tc, growing_send_buffer_lowers_the_rate);
  tcase_add_test (tc, unmeasured_round_trip_changes_nothing);
  tcase_add_test (tc, losses_above_a_tenth_lower_the_rate_by_half_of_them);
  tcase_add_test (tc, losses_between_leave_the_rate);
  tcase_add_test (tc, rare_losses_let_the_rate_rise);
  tcase_add_test (tc, no_report_changes_nothing);
  tcase_add_test (tc, another_rule_goes_on_at_the_present_rate);
  tcase_add_test (tc, rate_stays_within_the_limits_whatever_is_reported);
  return s;
}

GST_CHECK_MAIN (bitrate_control);
