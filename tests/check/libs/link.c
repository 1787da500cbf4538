/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the parts of the link model that do not belong to a particular
 * radio: queues, rates, delays, losses, bit errors, delivery traces and
 * recorded runs. The expected departure times and fates (delivered, damaged or
 * lost) of the packets were computed by hand. Further tests check that the
 * result depends only on the seed and on the packets that arrive.
 */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "linkdelivery.h"
#include "linkonoff.h"
#include "linkpattern.h"
#include "linkoven.h"
#include "linkload.h"

#define MS LINK_MS

#define CUSTOM_HASH G_GUINT64_CONSTANT (0x62908d1e4c2bc825)
#define DCF_HASH G_GUINT64_CONSTANT (0xa3a670184b4a487e)

static LinkConfig
custom (void)
{
  LinkConfig config;

  link_config_init (&config, LINK_PROFILE_CUSTOM, LINK_QUALITY_IDEAL);
  return config;
}

static void
expect_output (Link * link, guint flow, guint64 index, guint64 departure)
{
  LinkPacket packet;

  fail_unless (link_poll_output (link, &packet));
  fail_unless_equals_int (packet.flow, flow);
  fail_unless_equals_uint64 (packet.index, index);
  fail_unless_equals_uint64 (packet.departure, departure);
}

static void
expect_nothing (Link * link)
{
  LinkPacket packet;

  fail_if (link_poll_output (link, &packet));
}

/* Removes all events from the link and returns them as one text. */
static gchar *
make_log (Link * link)
{
  GString *log = g_string_new (NULL);
  LinkEvent event;
  guint i;

  while (link_poll_event (link, &event)) {
    if (event.type == LINK_EVENT_QUALITY) {
      g_string_append_printf (log, "quality %" G_GUINT64_FORMAT " %u %.6f\n",
          event.time, event.station, event.quality);
      continue;
    }
    g_string_append_printf (log, "%u %" G_GUINT64_FORMAT " %s %u %"
        G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, event.packet.flow,
        event.packet.index, link_fate_get_name (event.packet.fate),
        event.packet.attempts, event.packet.arrival, event.packet.departure);
    for (i = 0; i < event.packet.n_damage; i++)
      g_string_append_printf (log, " %u:%02x", event.packet.damage[i].offset,
          event.packet.damage[i].flip);
    g_string_append_c (log, '\n');
  }
  return g_string_free (log, FALSE);
}

/* Runs a link with two flows, one in each direction. In each flow, `n` packets
 * of `size` bytes enter the link, one every `interval` ns. Returns the events
 * of the link as a text. */
static gchar *
run_log (const LinkConfig * config, guint n, guint32 size, guint64 interval)
{
  Link *link = link_load_link_new (config);
  LinkPacket packet;
  gchar *log;
  guint i;

  link_add_flow (link, 0);
  link_add_flow (link, 1);
  for (i = 0; i < n; i++) {
    link_input (link, i * interval, 0, size, NULL);
    link_input (link, i * interval, 1, size, NULL);
  }
  link_timeout (link, n * interval + 100 * LINK_SECOND);
  while (link_poll_output (link, &packet));
  log = make_log (link);
  link_free (link, NULL);
  return log;
}

GST_START_TEST (the_error_domain_has_no_spaces)
{
  fail_unless_equals_string (g_quark_to_string (LINK_ERROR),
      "link-error-quark");
}

GST_END_TEST;

GST_START_TEST (pipe_sends_at_its_rate_and_delays)
{
  LinkConfig config = custom ();
  Link *link;

  config.pipe.rate[0] = 1000000;
  config.pipe.delay[0] = 30 * MS;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  link_input (link, 5 * MS, 0, 1250, NULL);     /* 10 ms each */
  link_input (link, 5 * MS, 0, 1250, NULL);
  fail_unless_equals_uint64 (link_next_wakeup (link), 15 * MS);
  link_timeout (link, 44 * MS);
  expect_nothing (link);
  link_timeout (link, 45 * MS);
  expect_output (link, 0, 0, 45 * MS);
  expect_nothing (link);
  fail_unless_equals_uint64 (link_next_wakeup (link), 55 * MS);
  /* The link is advanced only at 200 ms, long after the packet should have left
   * it. The departure time must nevertheless be exact. */
  link_timeout (link, 200 * MS);
  expect_output (link, 0, 1, 55 * MS);
  fail_unless (link_next_wakeup (link) == LINK_NEVER);
  link_free (link, NULL);
}

GST_END_TEST;

GST_START_TEST (pipe_without_a_limit_passes_at_once)
{
  LinkConfig config = custom ();
  Link *link = link_load_link_new (&config);

  link_add_flow (link, 0);
  link_input (link, 7, 0, 1500, NULL);
  expect_output (link, 0, 0, 7);
  link_free (link, NULL);
}

GST_END_TEST;

GST_START_TEST (directions_have_their_own_rate_and_transmitter)
{
  LinkConfig config = custom ();
  Link *link;

  config.pipe.rate[0] = 1000000;
  config.pipe.rate[1] = 2000000;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  link_add_flow (link, 1);
  link_input (link, 0, 0, 1250, NULL);
  link_input (link, 0, 1, 1250, NULL);
  link_timeout (link, LINK_SECOND);
  expect_output (link, 1, 0, 5 * MS);
  expect_output (link, 0, 0, 10 * MS);
  link_free (link, NULL);
}

GST_END_TEST;

GST_START_TEST (half_duplex_serves_in_turn_and_turns_around)
{
  LinkConfig config = custom ();
  Link *link;

  config.pipe.rate[0] = config.pipe.rate[1] = 1000000;
  config.pipe.half_duplex = TRUE;
  config.pipe.turnaround = 3 * MS;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  link_add_flow (link, 1);
  link_input (link, 0, 0, 1250, NULL);
  link_input (link, 1 * MS, 1, 1250, NULL);
  link_input (link, 2 * MS, 0, 1250, NULL);
  link_timeout (link, LINK_SECOND);
  expect_output (link, 0, 0, 10 * MS);
  expect_output (link, 1, 0, 23 * MS);
  expect_output (link, 0, 1, 36 * MS);
  link_free (link, NULL);
}

GST_END_TEST;

/* On a shared radio medium, the stations send one packet each in turn. The
 * packets do not wait in a common queue. The first packet of a station must
 * therefore leave before the second packet of another station, even if the
 * second packet has arrived earlier. */
GST_START_TEST (stations_take_turns_on_a_shared_medium)
{
  LinkConfig config = custom ();
  Link *link;
  guint i;

  config.pipe.rate[0] = config.pipe.rate[1] = 1000000;
  config.pipe.half_duplex = config.pipe.take_turns = TRUE;
  config.pipe.turnaround = 3 * MS;
  link = link_load_link_new (&config);
  for (i = 0; i < 3; i++)
    link_add_flow (link, i);
  for (i = 0; i < 3; i++)
    link_input (link, 0, 0, 1250, NULL);
  link_input (link, 1 * MS, 2, 1250, NULL);
  link_input (link, 2 * MS, 1, 1250, NULL);
  link_timeout (link, LINK_SECOND);
  expect_output (link, 0, 0, 10 * MS);
  expect_output (link, 1, 0, 23 * MS);
  expect_output (link, 2, 0, 36 * MS);
  expect_output (link, 0, 1, 49 * MS);
  /* A turnaround is a pause of the medium before another station sends. No
   * other station has a packet left, so there must be no such pause before the
   * last packet.
   */
  expect_output (link, 0, 2, 59 * MS);
  link_free (link, NULL);
}

GST_END_TEST;

/* A step changes the rate and the delay of one direction at a given time. The
 * new values must apply to each packet whose transmission begins at this time
 * or later. They must not apply to the other direction. */
GST_START_TEST (steps_change_rate_and_delay_of_one_direction)
{
  LinkConfig config = custom ();
  Link *link;
  guint i;

  config.pipe.rate[0] = config.pipe.rate[1] = 1000000;
  config.pipe.delay[0] = config.pipe.delay[1] = 5 * MS;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  link_add_flow (link, 1);
  link_add_step (link, 10 * MS, 0, 2000000, 5 * MS);
  link_add_step (link, 12 * MS, 0, 500000, 5 * MS);
  link_add_step (link, 25 * MS, 0, 500000, 50 * MS);
  for (i = 0; i < 4; i++)
    link_input (link, 0, 0, 1250, NULL);
  for (i = 0; i < 4; i++)
    link_input (link, 0, 1, 1250, NULL);
  link_timeout (link, LINK_SECOND);
  /* The four packets of flow 0 are transmitted from 0 to 10 ms, 10 to 15 ms, 15
   * to 35 ms, and 35 to 55 ms. The delay follows after the transmission: 5 ms
   * for the first three packets, and 50 ms for the last. */
  expect_output (link, 0, 0, 15 * MS);
  expect_output (link, 1, 0, 15 * MS);
  expect_output (link, 0, 1, 20 * MS);
  expect_output (link, 1, 1, 25 * MS);
  expect_output (link, 1, 2, 35 * MS);
  expect_output (link, 0, 2, 40 * MS);
  expect_output (link, 1, 3, 45 * MS);
  expect_output (link, 0, 3, 105 * MS);
  link_free (link, NULL);
}

GST_END_TEST;

/* A cut is an interruption of the link. A packet must be lost if it is in
 * transmission or in flight during a cut. A packet that waits in the queue must
 * not be lost. */
GST_START_TEST (cut_loses_what_is_under_way)
{
  LinkConfig config = custom ();
  LinkFlowStats stats;
  LinkEvent event;
  Link *link;
  guint64 lost = 0;
  guint i;

  config.pipe.rate[0] = 1000000;
  config.pipe.delay[0] = 5 * MS;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  link_add_cut (link, 22 * MS, 30 * MS, 0);
  /* The last argument of link_add_cut () limits a cut to large packets: the cut
   * affects only packets that have more bytes than this argument. The packets
   * of this test have 1250 bytes. The cut from 46 to 50 ms has the limit 1249
   * and affects these packets. The cut from 50 to 60 ms, which follows
   * directly, has the limit 1250 and does not affect them. */
  link_add_cut (link, 50 * MS, 60 * MS, 1250);
  link_add_cut (link, 46 * MS, 50 * MS, 1249);
  for (i = 0; i < 7; i++)
    link_input (link, 0, 0, 1250, NULL);
  link_timeout (link, LINK_SECOND);
  /* A cut is an interruption of the link: a packet that is in transmission or
   * in flight during a cut is lost. Each packet is in transmission for 10 ms
   * and then in flight for 5 ms:
   * - Packets 1 (10 to 25 ms) and 2 (20 to 35 ms) are lost in the cut from 22
   *   to 30 ms.
   * - Packet 3 (30 to 45 ms) arrives, because there is no cut from 30 to 45 ms.
   * - Packet 4 (40 to 55 ms) is lost in the cut from 46 to 50 ms.
   * - Packet 5 (50 to 65 ms) arrives. It has 1250 bytes, and the cut from 50 to
   *   60 ms affects only larger packets. */
  expect_output (link, 0, 0, 15 * MS);
  expect_output (link, 0, 3, 45 * MS);
  expect_output (link, 0, 5, 65 * MS);
  expect_output (link, 0, 6, 75 * MS);
  while (link_poll_event (link, &event)) {
    if (event.type == LINK_EVENT_FATE
        && event.packet.fate != LINK_FATE_DELIVERED) {
      fail_unless_equals_int (event.packet.fate, LINK_FATE_AIR);
      lost |= 1 << event.packet.index;
    }
  }
  fail_unless_equals_uint64 (lost, 1 << 1 | 1 << 2 | 1 << 4);
  link_get_flow_stats (link, 0, &stats);
  fail_unless_equals_uint64 (stats.fates[LINK_FATE_AIR], 3);
  link_free (link, NULL);
}

GST_END_TEST;

GST_START_TEST (full_queue_drops_and_counts_apart_from_the_air)
{
  LinkConfig config = custom ();
  LinkFlowStats stats;
  LinkEvent event;
  Link *link;
  guint i;

  config.pipe.rate[0] = 1000000;
  config.queue.packets = 3;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  /* The first packet is in transmission, and the next three packets fill the
   * queue. The last two packets must be dropped. */
  for (i = 0; i < 6; i++) {
    fail_unless_equals_int (link_has_room (link, 0, 125), i < 4);
    link_input (link, 0, 0, 125, GUINT_TO_POINTER (i));
  }
  link_get_flow_stats (link, 0, &stats);
  fail_unless_equals_uint64 (stats.offered, 6);
  fail_unless_equals_uint64 (stats.queued, 4);
  fail_unless_equals_uint64 (stats.fates[LINK_FATE_QUEUE], 2);
  fail_unless_equals_uint64 (stats.fates[LINK_FATE_AIR], 0);
  for (i = 4; i < 6; i++) {
    do
      fail_unless (link_poll_event (link, &event));
    while (event.type != LINK_EVENT_FATE);
    fail_unless_equals_int (event.packet.fate, LINK_FATE_QUEUE);
    fail_unless_equals_int (GPOINTER_TO_UINT (event.packet.user), i);
  }
  link_free (link, NULL);
}

GST_END_TEST;

GST_START_TEST (queue_is_limited_in_bytes_and_in_time)
{
  LinkConfig config = custom ();
  Link *link;

  config.pipe.rate[0] = 1000000;
  config.queue.packets = 0;
  config.queue.bytes = 1000;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  link_input (link, 0, 0, 1250, NULL);
  fail_unless (link_has_room (link, 0, 1000));
  link_input (link, 0, 0, 600, NULL);
  fail_unless (link_has_room (link, 0, 400));
  fail_if (link_has_room (link, 0, 401));
  link_free (link, NULL);

  config.queue.bytes = 0;
  config.queue.time = 8 * MS;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  link_input (link, 0, 0, 1250, NULL);  /* transmission takes 10 ms */
  link_input (link, 1 * MS, 0, 1250, NULL);
  link_timeout (link, 9 * MS - 1);
  fail_unless (link_has_room (link, 0, 1250));
  link_timeout (link, 9 * MS);
  fail_if (link_has_room (link, 0, 1250));
  link_free (link, NULL);
}

GST_END_TEST;

GST_START_TEST (too_big_a_packet_is_refused)
{
  LinkConfig config = custom ();
  LinkFlowStats stats;
  Link *link;

  config.max_size = 1500;
  config.overhead = 28;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  link_input (link, 0, 0, 1472, NULL);
  link_input (link, 0, 0, 1473, NULL);
  link_get_flow_stats (link, 0, &stats);
  fail_unless_equals_uint64 (stats.fates[LINK_FATE_DELIVERED], 1);
  fail_unless_equals_uint64 (stats.fates[LINK_FATE_TOO_BIG], 1);
  link_free (link, NULL);
}

GST_END_TEST;

GST_START_TEST (loss_and_duplicates_come_as_often_as_told)
{
  LinkConfig config = custom ();
  LinkFlowStats stats;
  LinkPacket packet;
  Link *link;
  guint i, n_copies = 0, n_first = 0;

  config.pipe.loss_good = 0.1;
  config.pipe.duplicate = 0.05;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  for (i = 0; i < 100000; i++) {
    link_input (link, i * MS, 0, 100, GUINT_TO_POINTER (i));
    while (link_poll_output (link, &packet)) {
      fail_unless_equals_int (GPOINTER_TO_UINT (packet.user), i);
      if (packet.copy)
        n_copies++;
      else
        n_first++;
    }
    link_load_drop_events (link);
  }
  link_get_flow_stats (link, 0, &stats);
  /* 5 standard deviations */
  fail_unless (ABS ((gint) stats.fates[LINK_FATE_AIR] - 10000) < 475);
  fail_unless (ABS ((gint) n_copies - 4500) < 330);
  fail_unless_equals_uint64 (stats.fates[LINK_FATE_DELIVERED], n_first);
  fail_unless_equals_uint64 (stats.duplicates, n_copies);
  fail_unless_equals_uint64 (stats.fates[LINK_FATE_AIR] + n_first, 100000);
  link_free (link, NULL);
}

GST_END_TEST;

GST_START_TEST (two_state_loss_is_in_time)
{
  LinkConfig config = custom ();
  LinkFlowStats stats;
  LinkEvent event;
  Link *link;
  guint i, bursts = 0;
  gboolean was_lost = FALSE;

  /* The channel alternates between a good and a bad state. The mean durations
   * are 80 ms and 20 ms. In the bad state all packets are lost. */
  config.pipe.fading.mean_good = 80 * MS;
  config.pipe.fading.mean_bad = 20 * MS;
  config.pipe.loss_bad = 1;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  for (i = 0; i < 1000000; i++)
    link_input (link, i * MS, 0, 100, NULL);
  while (link_poll_event (link, &event)) {
    gboolean lost = event.packet.fate == LINK_FATE_AIR;

    if (event.type != LINK_EVENT_FATE)
      continue;
    bursts += lost && !was_lost;
    was_lost = lost;
  }
  link_get_flow_stats (link, 0, &stats);
  fail_unless (ABS ((gint) stats.fates[LINK_FATE_AIR] - 200000) < 8000);
  /* The test lasts 1000 s and has 10 bad states per second on average, so it
   * has about 10000 bad states. A packet is sent every 1 ms. About 5 % of the
   * bad states begin and end between two packets, and lose no packet. The
   * number of bursts of losses must therefore be about 9500. */
  fail_unless (ABS ((gint) bursts - 9500) < 400);
  link_free (link, NULL);
}

GST_END_TEST;

GST_START_TEST (bit_errors_hit_bits_and_all_alike)
{
  LinkConfig config = custom ();
  guint bits[8] = { 0, }, places[4] = { 0, }, n = 0, i;
  guint8 data[1000] = { 0, };
  LinkPacket packet;
  Link *link;

  config.pipe.bit_error_good = 1e-3;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  for (i = 0; i < 10000; i++) {
    guint j;

    link_input (link, i, 0, 1000, NULL);
    fail_unless (link_poll_output (link, &packet));
    for (j = 0; j < packet.n_damage; j++) {
      guint bit = g_bit_nth_lsf (packet.damage[j].flip, -1);

      fail_unless_equals_int (packet.damage[j].flip, 1 << bit);
      bits[bit]++;
      places[packet.damage[j].offset / 250]++;
      n++;
    }
    fail_unless_equals_int (packet.fate, packet.n_damage ? LINK_FATE_DAMAGED :
        LINK_FATE_DELIVERED);
  }
  fail_unless (ABS ((gint) n - 80000) < 1500);
  for (i = 0; i < 8; i++)
    fail_unless (ABS ((gint) bits[i] - 10000) < 500);
  for (i = 0; i < 4; i++)
    fail_unless (ABS ((gint) places[i] - 20000) < 700);
  /* The damage of a packet is a list of inverted bits. If it is applied to the
   * same data twice, the data must have their original contents again. */
  config.pipe.bit_error_good = 0.1;
  link_free (link, NULL);
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  link_input (link, 0, 0, 1000, NULL);
  fail_unless (link_poll_output (link, &packet));
  link_packet_apply_damage (&packet, data, sizeof (data));
  for (i = n = 0; i < 1000; i++)
    n += __builtin_popcount (data[i]);
  fail_unless_equals_int (n, packet.n_damage);
  link_packet_apply_damage (&packet, data, sizeof (data));
  for (i = 0; i < 1000; i++)
    fail_unless_equals_int (data[i], 0);
  /* The packet has 1000 bytes, but its damage is applied to only 10 bytes of
   * data. The function must write nothing beyond these 10 bytes.
   */
  link_packet_apply_damage (&packet, data, 10);
  link_free (link, NULL);
}

GST_END_TEST;

GST_START_TEST (frame_check_drops_the_damaged)
{
  LinkConfig config = custom ();
  LinkFlowStats stats;
  Link *link;

  config.pipe.bit_error_good = 0.01;
  config.pipe.drop_damaged = TRUE;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  link_input (link, 0, 0, 1500, NULL);
  expect_nothing (link);
  link_get_flow_stats (link, 0, &stats);
  fail_unless_equals_uint64 (stats.fates[LINK_FATE_CHECK], 1);
  link_free (link, NULL);
}

GST_END_TEST;

GST_START_TEST (jitter_keeps_order_and_its_mean)
{
  LinkConfig config = custom ();
  guint64 last = 0, sum = 0;
  LinkPacket packet;
  Link *link;
  guint i;

  config.pipe.jitter = 20 * MS;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  for (i = 0; i < 10000; i++)
    link_input (link, i * 100 * MS, 0, 100, NULL);
  link_timeout (link, 2000 * LINK_SECOND);
  for (i = 0; i < 10000; i++) {
    fail_unless (link_poll_output (link, &packet));
    fail_unless_equals_uint64 (packet.index, i);
    fail_unless (packet.departure >= last);
    fail_unless (packet.departure - packet.arrival <= 20 * MS);
    last = packet.departure;
    sum += packet.departure - packet.arrival;
  }
  fail_unless (ABS ((gint64) (sum / 10000) - (gint64) (10 * MS)) < MS / 3);
  link_free (link, NULL);
  /* The time between two packets is 1 ms, and the jitter delays a packet by up
   * to 20 ms. A packet with a small delay must wait for an earlier packet with
   * a large delay, because the link must keep the order. */
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  for (i = 0; i < 1000; i++)
    link_input (link, i * MS, 0, 100, NULL);
  link_timeout (link, 10 * LINK_SECOND);
  for (i = 0, last = 0; i < 1000; i++) {
    fail_unless (link_poll_output (link, &packet));
    fail_unless_equals_uint64 (packet.index, i);
    fail_unless (packet.departure >= last);
    last = packet.departure;
  }
  link_free (link, NULL);
}

GST_END_TEST;

GST_START_TEST (reordered_packets_are_overtaken)
{
  LinkConfig config = custom ();
  guint late = 0, i;
  LinkPacket packet;
  Link *link;

  config.pipe.reorder = 0.1;
  config.pipe.reorder_delay = 5 * MS;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  for (i = 0; i < 10000; i++)
    link_input (link, i * MS, 0, 100, NULL);
  link_timeout (link, 20 * LINK_SECOND);
  while (link_poll_output (link, &packet)) {
    guint64 delay = packet.departure - packet.arrival;

    fail_unless (delay == 0 || delay == 5 * MS);
    late += delay != 0;
  }
  fail_unless (ABS ((gint) late - 1000) < 150);
  link_free (link, NULL);
}

GST_END_TEST;

GST_START_TEST (outage_stops_the_transmitter_and_loses_nothing)
{
  LinkConfig config = custom ();
  LinkFlowStats stats;
  LinkPacket packet;
  guint64 last = 0;
  Link *link;
  guint i;

  config.pipe.rate[0] = 1000000;
  config.pipe.outage.mean_good = 300 * MS;
  config.pipe.outage.mean_bad = 700 * MS;
  config.queue.packets = 0;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  for (i = 0; i < 30000; i++)
    link_input (link, 0, 0, 1250, NULL);
  while (link_next_wakeup (link) != LINK_NEVER && i > 0) {
    link_timeout (link, link_next_wakeup (link));
    while (link_poll_output (link, &packet)) {
      last = packet.departure;
      i--;
    }
  }
  link_get_flow_stats (link, 0, &stats);
  fail_unless_equals_uint64 (stats.fates[LINK_FATE_DELIVERED], 30000);
  /* At 1 Mbit/s, the transmission of all packets takes 300 s. The link can
   * transmit for only 30 % of the time, because outages take 70 %. It therefore
   * needs about 1000 s. */
  fail_unless (last > 900 * LINK_SECOND && last < 1100 * LINK_SECOND);
  link_free (link, NULL);
}

GST_END_TEST;

GST_START_TEST (stall_gives_all_at_once)
{
  LinkConfig config = custom ();
  guint64 last = 0, max_gap = 0;
  guint at_once = 0, max = 0, i;
  LinkPacket packet;
  Link *link;

  config.pipe.stall.mean_good = 20 * LINK_SECOND;
  config.pipe.stall.mean_bad = 4 * LINK_SECOND;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  for (i = 0; i < 12000; i++)
    link_input (link, i * 10 * MS, 0, 100, NULL);
  link_timeout (link, 1000 * LINK_SECOND);
  for (i = 0; link_poll_output (link, &packet); i++) {
    at_once = packet.departure == last ? at_once + 1 : 1;
    max_gap = MAX (max_gap, packet.departure - last);
    max = MAX (max, at_once);
    last = packet.departure;
  }
  fail_unless_equals_int (i, 12000);
  fail_unless (max_gap > LINK_SECOND);
  /* During a stall, the link holds all packets back. When the stall ends, the
   * packets that were held back must leave at the same time. One packet arrives
   * every 10 ms, so their number follows from the duration of the stall. */
  fail_unless (max >= max_gap / (10 * MS) - 1);
  link_free (link, NULL);
}

GST_END_TEST;

GST_START_TEST (slow_receiver_delays_then_drops)
{
  LinkConfig config = custom ();
  LinkFlowStats stats;
  Link *link;

  config.pipe.receiver_rate = 1000000;
  config.pipe.receiver_buffer = 3000;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  link_input (link, 0, 0, 1250, NULL);
  link_input (link, 0, 0, 1250, NULL);
  /* The receiver has a buffer of 3000 bytes, and the first two packets occupy
   * 2500 bytes of it. The third packet must therefore be dropped. */
  link_input (link, 0, 0, 1250, NULL);
  link_timeout (link, LINK_SECOND);
  expect_output (link, 0, 0, 10 * MS);
  expect_output (link, 0, 1, 20 * MS);
  expect_nothing (link);
  link_get_flow_stats (link, 0, &stats);
  fail_unless_equals_uint64 (stats.fates[LINK_FATE_RECEIVER], 1);
  link_free (link, NULL);
}

GST_END_TEST;

/* The link has a rate of 1 Mbit/s and a token bucket of 3000 bytes, which is
 * full at the start. Two packets of 1500 bytes must therefore leave immediately
 * and empty the bucket. It is filled again with 125 bytes per ms, so each
 * further packet of 1500 bytes must wait for 12 ms. */
GST_START_TEST (bucket_lets_bursts_pass_at_once)
{
  LinkConfig config = custom ();
  Link *link;
  guint i;

  config.pipe.rate[0] = 1000000;
  config.pipe.burst = 3000;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  for (i = 0; i < 4; i++)
    link_input (link, 0, 0, 1500, NULL);
  link_timeout (link, 50 * MS);
  expect_output (link, 0, 0, 0);
  expect_output (link, 0, 1, 0);
  expect_output (link, 0, 2, 12 * MS);
  expect_output (link, 0, 3, 24 * MS);
  /* The token bucket is full again at 48 ms. It cannot hold more than 3000
   * bytes, so it contains 3000 bytes at 100 ms, when the next packets arrive.
   */
  for (i = 0; i < 3; i++)
    link_input (link, 100 * MS, 0, 1000, NULL);
  link_input (link, 100 * MS, 0, 500, NULL);
  /* This packet is larger than the token bucket. It must wait until the bucket
   * is full, which is at 128 ms. When the packet leaves, its 4000 bytes lower
   * the level of the bucket from 3000 to -1000 bytes. The next packet has to
   * wait until the level is high enough again. */
  link_input (link, 100 * MS, 0, 4000, NULL);
  link_input (link, 100 * MS, 0, 125, NULL);
  link_timeout (link, LINK_SECOND);
  expect_output (link, 0, 4, 100 * MS);
  expect_output (link, 0, 5, 100 * MS);
  expect_output (link, 0, 6, 100 * MS);
  expect_output (link, 0, 7, 104 * MS);
  expect_output (link, 0, 8, 128 * MS);
  expect_output (link, 0, 9, 137 * MS);
  expect_nothing (link);
  link_free (link, NULL);
}

GST_END_TEST;

GST_START_TEST (bucket_waits_in_outages)
{
  LinkConfig config = custom ();
  Link *link;
  LinkPacket packet;
  guint64 now, next;
  guint n = 0, n_late = 0;

  config.pipe.rate[0] = 1000000;
  config.pipe.burst = 3000;
  config.pipe.outage.mean_good = config.pipe.outage.mean_bad = 300 * MS;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  for (now = 0; now < 100 * LINK_SECOND; now += 20 * MS) {
    link_input (link, now, 0, 1000, NULL);
    do {
      next = MIN (link_next_wakeup (link), now + 20 * MS - 1);
      for (; link_poll_output (link, &packet); n++) {
        fail_unless (link_get_quality (link, 0) > 0);
        n_late += packet.departure > packet.arrival;
      }
      link_timeout (link, next);
    } while (next < now + 20 * MS - 1);
  }
  fail_unless (n > 4000);
  fail_unless (n_late > 1000);
  link_free (link, NULL);
}

GST_END_TEST;

GST_START_TEST (delivery_trace_serves_bytes_at_its_times)
{
  LinkConfig config = custom ();
  Link *link;

  /* A delivery trace lists the times in ms at which the link can send (delivery
   * opportunities). This trace has two of them at 10 ms and one at 20 ms. It is
   * repeated every 20 ms. */
  config.pipe.trace[0] = "10\n10 # two\n\n20\r\n";
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  link_input (link, 0, 0, 1500, NULL);
  link_input (link, 0, 0, 1000, NULL);
  /* At each delivery opportunity, the link can send 1500 bytes. The first one,
   * at 10 ms, carries packet 0. The second one, also at 10 ms, carries packet 1
   * with its 1000 bytes, and the first 500 bytes of packet 2. */
  link_input (link, 0, 0, 1000, NULL);
  link_input (link, 0, 0, 1000, NULL);
  link_timeout (link, LINK_SECOND);
  expect_output (link, 0, 0, 10 * MS);
  expect_output (link, 0, 1, 10 * MS);
  expect_output (link, 0, 2, 20 * MS);
  expect_output (link, 0, 3, 20 * MS);
  /* The delivery opportunity at 1020 ms passes unused, because the next packets
   * arrive at 1025 ms. Two of them must leave at 1030 ms, where the trace has
   * two opportunities.
   */
  link_input (link, LINK_SECOND + 25 * MS, 0, 1500, NULL);
  link_input (link, LINK_SECOND + 25 * MS, 0, 1500, NULL);
  link_input (link, LINK_SECOND + 25 * MS, 0, 1500, NULL);
  link_timeout (link, 2 * LINK_SECOND);
  expect_output (link, 0, 4, 1030 * MS);
  expect_output (link, 0, 5, 1030 * MS);
  expect_output (link, 0, 6, 1040 * MS);
  /* A delivery opportunity carries 1500 bytes. If it carries a smaller packet
   * and no other packet waits, the remaining bytes must be lost, not saved for
   * a later packet.
   *
   * The last packet arrives almost 5000 s after the previous one. The trace is
   * repeated very often in this time. The packet must leave at the first
   * delivery opportunity after its arrival. */
  link_input (link, 2 * LINK_SECOND + 5 * MS, 0, 100, NULL);
  link_input (link, 2 * LINK_SECOND + 15 * MS, 0, 1400, NULL);
  link_input (link, 5000 * LINK_SECOND + 15 * MS, 0, 1400, NULL);
  link_timeout (link, 6000 * LINK_SECOND);
  expect_output (link, 0, 7, 2010 * MS);
  expect_output (link, 0, 8, 2020 * MS);
  expect_output (link, 0, 9, 5000020 * MS);
  link_free (link, NULL);
}

GST_END_TEST;

/* In the first part, the two stations of a half-duplex link share the delivery
 * opportunities, which are the times at which the link can send according to
 * the trace. In the second part, a link in one direction has outages. No packet
 * may leave during an outage. */
GST_START_TEST (delivery_trace_is_shared_and_knows_outages)
{
  LinkConfig config = custom ();
  guint64 now = 0;
  guint i, n = 0;
  LinkPacket packet;
  Link *link;

  config.pipe.trace[0] = "10\n";
  config.pipe.half_duplex = TRUE;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  link_add_flow (link, 1);
  for (i = 0; i < 100; i++) {
    link_input (link, 0, 0, 1500, NULL);
    link_input (link, 0, 1, 1500, NULL);
  }
  link_timeout (link, LINK_SECOND);
  while (link_poll_output (link, &packet))
    n++;
  fail_unless_equals_int (n, 100);
  link_free (link, NULL);

  config.pipe.half_duplex = FALSE;
  config.pipe.outage.mean_good = config.pipe.outage.mean_bad = LINK_SECOND;
  config.queue.packets = 0;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  for (i = 0; i < 20000; i++)
    link_input (link, 0, 0, 1500, NULL);
  for (n = 0; now < 200 * LINK_SECOND;) {
    now = link_next_wakeup (link);
    link_timeout (link, now);
    for (; link_poll_output (link, &packet); n++)
      fail_unless (link_get_quality (link, 0) > 0);
  }
  /* The link is in an outage for half of the time, so about half of the 20000
   * delivery opportunities are usable. */
  fail_unless (ABS ((gint) n - 10000) < 2500);
  link_free (link, NULL);
}

GST_END_TEST;

GST_START_TEST (overtaken_packets_do_not_block_the_receiver)
{
  LinkConfig config = custom ();
  LinkFlowStats stats;
  Link *link;
  guint i;

  config.pipe.reorder = 0.05;
  config.pipe.reorder_delay = LINK_SECOND;
  config.pipe.receiver_rate = 10000000;
  config.pipe.receiver_buffer = 20000;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  for (i = 0; i < 1000; i++)
    link_input (link, i * 10 * MS, 0, 1000, NULL);
  link_timeout (link, 100 * LINK_SECOND);
  link_get_flow_stats (link, 0, &stats);
  fail_unless_equals_uint64 (stats.fates[LINK_FATE_DELIVERED], 1000);
  link_free (link, NULL);
}

GST_END_TEST;

GST_START_TEST (a_packet_of_any_size_is_no_danger)
{
  LinkConfig config = custom ();
  LinkFlowStats stats;
  LinkPacket packet;
  Link *link;

  config.pipe.rate[0] = 1000000000;
  config.overhead = 28;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  link_input (link, 0, 0, G_MAXUINT32 - 15, NULL);
  link_input (link, 0, 0, 1000000000 - 28, NULL);
  link_input (link, 0, 0, 0, NULL);
  link_timeout (link, 100 * LINK_SECOND);
  link_get_flow_stats (link, 0, &stats);
  fail_unless_equals_uint64 (stats.fates[LINK_FATE_TOO_BIG], 1);
  fail_unless (link_poll_output (link, &packet));
  fail_unless_equals_uint64 (packet.departure, 8 * LINK_SECOND);
  fail_unless (link_poll_output (link, &packet));
  fail_unless_equals_uint64 (packet.departure, 8 * LINK_SECOND + 224);
  link_free (link, NULL);
}

GST_END_TEST;

/* The channel alternates between a good and a bad state. It is in the bad state
 * for 30 % of the time on average. At time 0, it must therefore be in the bad
 * state for about 30 % of the seeds. */
GST_START_TEST (states_begin_as_often_bad_as_they_are)
{
  LinkOnOffConfig config = { 700 * MS, 300 * MS };
  guint bad = 0, seed;

  for (seed = 0; seed < 10000; seed++) {
    LinkOnOff state;

    link_on_off_init (&state, &config, 0, seed, 0, 1);
    bad += link_on_off_is_bad (&state, 0);
  }
  fail_unless (ABS ((gint) bad - 3000) < 250);
}

GST_END_TEST;

GST_START_TEST (states_are_found_behind_and_before)
{
  LinkOnOffConfig config = { 3 * MS, 2 * MS };
  LinkOnOff ahead, any;
  guint64 ends[200], time = 0;
  guint i, j;

  link_on_off_init (&ahead, &config, 0, 5, 1, 2);
  any = ahead;
  for (i = 0; i < G_N_ELEMENTS (ends); i++)
    time = ends[i] = link_on_off_end (&ahead, time);
  for (i = 0; i < 2000; i++) {
    j = seeded_draw_below (seeded_draw (1, 1, 1, i, 0), 199);
    fail_unless_equals_uint64 (link_on_off_end (&any, ends[j]), ends[j + 1]);
    fail_unless (link_on_off_is_bad (&any, ends[j]) !=
        link_on_off_is_bad (&any, ends[j + 1]));
  }
}

GST_END_TEST;

/* The quality of the link is the probability that a packet of 1500 bytes
 * arrives undamaged. Each change must be reported for each station that has
 * sent a packet, and for no other station. */
GST_START_TEST (quality_counts_bit_errors_and_every_station)
{
  LinkConfig config = custom ();
  guint told[4] = { 0, };
  LinkEvent event;
  Link *link;

  config.pipe.fading.mean_good = config.pipe.fading.mean_bad = LINK_SECOND;
  config.pipe.bit_error_bad = 1e-4;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  link_add_flow (link, 3);
  link_input (link, 0, 0, 100, NULL);
  link_input (link, 0, 1, 100, NULL);
  link_timeout (link, 100 * LINK_SECOND);
  while (link_poll_event (link, &event)) {
    if (event.type != LINK_EVENT_QUALITY)
      continue;
    told[event.station]++;
    /* In the good state there are no bit errors, so the quality is 1. In the
     * bad state, the bit error rate is 1e-4. The quality is then the
     * probability that all 12,000 bits of a packet are correct, which is 0.9999
     * to the power of 12,000. */
    fail_unless (event.quality == 1 || ABS (event.quality - 0.30117) < 1e-4);
  }
  fail_unless (told[0] > 60 && told[3] > 60);
  fail_unless_equals_int (told[1] + told[2], 0);
  link_free (link, NULL);
}

GST_END_TEST;

static void
expect_refusal (const LinkConfig * config, const gchar * message)
{
  GError *error = NULL;

  fail_if (link_new (config, &error) != NULL);
  fail_unless_equals_string (error->message, message);
  g_error_free (error);
}

GST_START_TEST (bad_configurations_are_refused_by_name)
{
  LinkConfig config = custom ();
  GError *error = NULL;

  config.pipe.trace[0] = "10\n9\n";
  expect_refusal (&config,
      "line 2 of the delivery trace: 9 ms is not between 10 and 4294967295. "
      "Correct the line, or set another file");
  config.pipe.trace[0] = "10\nsoon\n";
  expect_refusal (&config,
      "line 2 of the delivery trace is \"soon\", not a time in ms such as "
      "120. Correct the line, or set another file");
  config.pipe.trace[0] = "0\n0\n";
  expect_refusal (&config, "the delivery trace has no time after 0 ms: add a "
      "line with a later time");
  config.pipe.trace[0] = "10\n";
  config.pipe.burst = 1500;
  expect_refusal (&config, "burst needs a fixed rate: set burst to 0 with a "
      "delivery trace or with cellular-rate");
  config = custom ();
  config.pipe.burst = 1500;
  expect_refusal (&config,
      "burst is 1500 bytes, but rate is 0: set rate, because a token bucket "
      "needs a rate");
  config.pipe.rate[0] = 1000000;
  config.pipe.burst = G_GUINT64_CONSTANT (2000000000);
  expect_refusal (&config,
      "burst is 2000000000: set it to a value from 0 to 1000000000");
  config = custom ();
  config.pipe.loss_good = 1.5;
  expect_refusal (&config, "loss is 1.5: set it to a value from 0 to 1");
  config = custom ();
  config.pattern = "wirelesslink-pattern 1\npacket 0 0 1 eaten 0 0\n";
  expect_refusal (&config,
      "line 2 of the pattern is malformed: \"packet 0 0 1 eaten 0 0\". "
      "Set a file that was written with record-pattern, or correct the line as "
      "docs/wirelesslink.md describes");
  link_config_init (&config, LINK_PROFILE_80211G, LINK_QUALITY_IDEAL);
  config.dial_up.enabled = TRUE;
  expect_refusal (&config, "dial-up works with profiles of telephone "
      "networks, and 802.11 has no calls: set dial-up=false or choose another "
      "profile");
  config = custom ();
  config.pattern = "# nothing\n";
  expect_refusal (&config, "the pattern is empty: set a file that was written "
      "with record-pattern");
  fail_if (link_config_parse_interference (&config, "40-20", &error));
  fail_unless (strstr (error->message, "\"40-20\"") != NULL);
  g_error_free (error);
}

GST_END_TEST;

GST_START_TEST (interference_windows_are_read)
{
  LinkConfig config = custom ();
  LinkOven oven;
  guint64 t;
  guint on = 0;

  fail_unless (link_config_parse_interference (&config, "20-40,50.5-60", NULL));
  fail_unless_equals_int (config.oven.n_windows, 2);
  fail_unless_equals_uint64 (config.oven.windows[1].begin, 50500 * MS);
  link_oven_init (&oven, &config.oven, 1);
  fail_if (link_oven_is_running (&oven, 20 * LINK_SECOND - 1));
  fail_unless (link_oven_is_running (&oven, 20 * LINK_SECOND));
  fail_if (link_oven_is_running (&oven, 40 * LINK_SECOND));
  fail_unless_equals_uint64 (link_oven_next_change (&oven, 0),
      20 * LINK_SECOND);
  fail_unless_equals_uint64 (link_oven_next_change (&oven, 60 * LINK_SECOND),
      G_MAXUINT64);
  /* A microwave oven disturbs the radio link. It runs from 20 to 40 s and from
   * 50.5 to 60 s. While it runs, it radiates during a part of each mains cycle
   * of 20 ms. The loop measures this part in the cycle after 30 s, in steps of
   * 0.1 ms. */
  for (t = 0; t < 20 * MS; t += MS / 10)
    on += link_oven_overlaps (&oven, 30 * LINK_SECOND + t,
        30 * LINK_SECOND + t + 1);
  fail_unless_equals_int (on, config.oven.on / (MS / 10));
  fail_if (link_oven_overlaps (&oven, 45 * LINK_SECOND, 46 * LINK_SECOND));
  fail_unless (link_oven_overlaps (&oven, 39 * LINK_SECOND, 46 * LINK_SECOND));
  fail_unless (link_config_parse_interference (&config, "always", NULL));
  fail_unless (config.oven.always);
  fail_unless (link_config_parse_interference (&config, "none", NULL));
  fail_if (config.oven.always || config.oven.n_windows);
}

GST_END_TEST;

/* Returns a configuration in which most random effects occur: loss, bit errors,
 * duplicates, jitter, reordering and stalls. */
static LinkConfig
lively (guint64 seed)
{
  LinkConfig config = custom ();

  config.seed = seed;
  config.pipe.rate[0] = config.pipe.rate[1] = 2000000;
  config.pipe.delay[0] = config.pipe.delay[1] = 10 * MS;
  config.pipe.jitter = 5 * MS;
  config.pipe.fading.mean_good = 200 * MS;
  config.pipe.fading.mean_bad = 30 * MS;
  config.pipe.loss_good = 0.01;
  config.pipe.loss_bad = 0.5;
  config.pipe.bit_error_good = 1e-6;
  config.pipe.bit_error_bad = 1e-3;
  config.pipe.duplicate = 0.01;
  config.pipe.reorder = 0.01;
  config.pipe.reorder_delay = 7 * MS;
  config.pipe.stall.mean_good = 2 * LINK_SECOND;
  config.pipe.stall.mean_bad = 100 * MS;
  return config;
}

/* A profile is a set of predefined values for one kind of network. All values
 * of each profile must be in their ranges for each radio quality. Without this
 * test, a wrong value would be noticed only when a user selects the profile. */
GST_START_TEST (profiles_are_valid_in_each_quality)
{
  guint i, j;
  gint quality;

  for (i = 0; i < link_profile_get_number (); i++) {
    const LinkProfileInfo *info = link_profile_get_info (i);

    fail_unless (info->nick && info->nick[0] && info->description
        && info->description[0], "profile %u has no nick or description", i);
    for (j = 0; j < i; j++)
      fail_if (!strcmp (info->nick, link_profile_get_info (j)->nick),
          "profiles %u and %u have the nick \"%s\"", j, i, info->nick);
    for (quality = LINK_QUALITY_IDEAL; quality <= LINK_QUALITY_POOR; quality++) {
      GError *error = NULL;
      LinkConfig config;

      link_config_init (&config, i, quality);
      fail_unless_equals_int (config.profile, i);
      fail_unless (link_config_check (&config, &error),
          "profile=%s, quality %d: %s", info->nick, quality,
          error ? error->message : NULL);
      /* The settings of the phone call are checked only if dial-up is enabled.
       * The configuration is therefore checked a second time with dial-up=true.
       */
      config.dial_up.enabled = config.model != LINK_MODEL_DCF;
      fail_unless (link_config_check (&config, &error),
          "profile=%s dial-up=true, quality %d: %s", info->nick, quality,
          error ? error->message : NULL);
    }
  }
}

GST_END_TEST;

GST_START_TEST (same_seed_same_log)
{
  LinkProfile profiles[] = { LINK_PROFILE_80211B, LINK_PROFILE_80211G,
    LINK_PROFILE_RANGELAN2, LINK_PROFILE_IRDA, LINK_PROFILE_GPRS,
    LINK_PROFILE_CELLULAR
  };
  LinkConfig config;
  gchar *a, *b, *c;
  guint i;

  for (i = 0; i <= G_N_ELEMENTS (profiles); i++) {
    if (i < G_N_ELEMENTS (profiles)) {
      link_config_init (&config, profiles[i], LINK_QUALITY_GOOD);
      config.seed = 1;
      config.oven.always = TRUE;
    } else {
      config = lively (1);
    }
    a = run_log (&config, 500, 1000, 12 * MS);
    b = run_log (&config, 500, 1000, 12 * MS);
    config.seed = 2;
    c = run_log (&config, 500, 1000, 12 * MS);
    fail_unless_equals_string (a, b);
    fail_if (!strcmp (a, c));
    g_free (a);
    g_free (b);
    g_free (c);
  }
}

GST_END_TEST;

/* Returns the FNV-1a hash of the text. The element mpegstat computes its hashes
 * with the same algorithm. */
static guint64
hash_text (const gchar * text)
{
  guint64 hash = G_GUINT64_CONSTANT (0xcbf29ce484222325);

  for (; *text; text++)
    hash = (hash ^ (guint8) * text) * G_GUINT64_CONSTANT (0x100000001b3);
  return hash;
}

/* A run with a given seed must produce the same events on every machine and in
 * every version. The test compares the hash of the events with a constant. If
 * this hash changes, earlier results can no longer be reproduced from their
 * seeds. */
GST_START_TEST (a_seed_means_the_same_on_every_machine)
{
  LinkConfig config = lively (42);
  gchar *log = run_log (&config, 300, 1000, 5 * MS);

  GST_INFO ("custom: %016" G_GINT64_MODIFIER "x", hash_text (log));
  fail_unless (hash_text (log) == CUSTOM_HASH);
  g_free (log);
  link_config_init (&config, LINK_PROFILE_80211B, LINK_QUALITY_GOOD);
  config.seed = 42;
  config.oven.always = TRUE;
  config.dcf.failure[3] = 0.2;
  log = run_log (&config, 300, 1000, 3 * MS);
  GST_INFO ("80211b: %016" G_GINT64_MODIFIER "x", hash_text (log));
  fail_unless (hash_text (log) == DCF_HASH);
  g_free (log);
}

GST_END_TEST;

/* The two runs use the same seed, but packets of different sizes at different
 * times. The quality of the channel must change at the same times and to the
 * same values in both runs.
 */
GST_START_TEST (channel_states_do_not_depend_on_traffic)
{
  LinkConfig config = lively (7);
  gchar *a = run_log (&config, 2000, 1400, 10 * MS);
  gchar *b = run_log (&config, 571, 60, 35 * MS);
  gchar **x = g_strsplit (a, "\n", -1), **y = g_strsplit (b, "\n", -1);
  guint i = 0, j = 0, n = 0;

  while (TRUE) {
    while (x[i] && !g_str_has_prefix (x[i], "quality"))
      i++;
    while (y[j] && !g_str_has_prefix (y[j], "quality"))
      j++;
    if (!x[i] || !y[j])
      break;
    fail_unless_equals_string (x[i], y[j]);
    i++;
    j++;
    n++;
  }
  fail_unless (n > 300);
  g_strfreev (x);
  g_strfreev (y);
  g_free (a);
  g_free (b);
}

GST_END_TEST;

static gchar *
record (const LinkConfig * config, guint n, guint64 interval, gchar ** log)
{
  Link *link = link_load_link_new (config);
  GString *pattern = g_string_new (NULL);
  GString *fates = g_string_new (NULL);
  gchar *head = link_pattern_format_head (config->seed);
  LinkPacket packet;
  LinkEvent event;
  guint i;

  g_string_append (pattern, head);
  g_free (head);
  link_add_flow (link, 0);
  for (i = 0; i < n; i++)
    link_input (link, i * interval, 0, 1000, NULL);
  link_timeout (link, 1000 * LINK_SECOND);
  while (link_poll_output (link, &packet));
  while (link_poll_event (link, &event)) {
    gchar *line;

    if (event.type != LINK_EVENT_FATE)
      continue;
    line = link_pattern_format_packet (&event.packet);
    if (!line)
      continue;
    g_string_append (pattern, line);
    /* `line` says what happened to one packet, but not at which time. `fates`
     * has the lines of all packets, and is compared with the `fates` of another
     * run. The times are left out because they may differ between the runs. */
    g_string_append (fates, line);
    g_free (line);
  }
  link_free (link, NULL);
  *log = g_string_free (fates, FALSE);
  return g_string_free (pattern, FALSE);
}

static gint
compare_lines (gconstpointer a, gconstpointer b)
{
  return strcmp (*(gchar * const *) a, *(gchar * const *) b);
}

static void
fail_unless_same_lines (const gchar * a, const gchar * b)
{
  gchar **x = g_strsplit (a, "\n", -1), **y = g_strsplit (b, "\n", -1);
  guint i, n = g_strv_length (x);

  fail_unless_equals_int (n, g_strv_length (y));
  qsort (x, n, sizeof (gchar *), compare_lines);
  qsort (y, n, sizeof (gchar *), compare_lines);
  for (i = 0; i < n; i++)
    fail_unless_equals_string (x[i], y[i]);
  g_strfreev (x);
  g_strfreev (y);
}

GST_START_TEST (recorded_run_is_replayed)
{
  LinkConfig config = lively (3);
  gchar *pattern, *again, *fates, *fates_again;

  config.queue.packets = 0;
  pattern = record (&config, 2000, 10 * MS, &fates);
  fail_unless (strstr (pattern, " air ") && strstr (pattern, " damaged ")
      && strstr (pattern, " overtaken"));
  /* Replay of the recorded run with the same packets, but with another seed and
   * a radio without faults. Each packet must nevertheless be delivered, damaged
   * or lost as in the recorded pattern. */
  config.pattern = pattern;
  config.seed = 99;
  config.pipe.loss_good = config.pipe.loss_bad = 0;
  config.pipe.bit_error_good = config.pipe.bit_error_bad = 0;
  config.pipe.jitter = 0;
  config.pipe.duplicate = config.pipe.reorder = 0;
  again = record (&config, 2000, 10 * MS, &fates_again);
  fail_unless_same_lines (fates, fates_again);
  g_free (again);
  g_free (fates_again);
  /* Another replay, in which a packet is sent every 3 ms instead of every 10
   * ms. Each packet must still be delivered, damaged or lost as in the recorded
   * pattern. */
  again = record (&config, 2000, 3 * MS, &fates_again);
  fail_unless_same_lines (fates, fates_again);
  g_free (again);
  g_free (fates_again);
  g_free (fates);
  g_free (pattern);
}

GST_END_TEST;

GST_START_TEST (recorded_attempts_are_replayed_on_80211)
{
  LinkConfig config;
  gchar *pattern, *again, *fates, *fates_again;

  link_config_init (&config, LINK_PROFILE_80211B, LINK_QUALITY_GOOD);
  config.dcf.failure[3] = 0.4;
  config.dcf.fallback = LINK_FALLBACK_FIXED;
  config.dcf.retry_limit = 4;
  pattern = record (&config, 2000, 20 * MS, &fates);
  config.pattern = pattern;
  config.dcf.failure[3] = 0;
  again = record (&config, 2000, 20 * MS, &fates_again);
  fail_unless (strstr (fates, " 4 air "));
  fail_unless_equals_string (fates, fates_again);
  g_free (again);
  g_free (fates);
  g_free (fates_again);
  g_free (pattern);
}

GST_END_TEST;

/* A recorded pattern says for each packet how often it is transmitted and
 * whether it is delivered, damaged or lost. The link must follow the pattern.
 * The random faults of the radio and the retry limit must have no effect. */
GST_START_TEST (patterns_decide_on_80211)
{
  LinkConfig config;
  gchar *pattern, *fates;

  link_config_init (&config, LINK_PROFILE_80211B, LINK_QUALITY_GOOD);
  config.dcf.retry_limit = 4;
  config.pattern = "wirelesslink-pattern 1\n"
      "packet 0 0 5 delivered 0 0\n"
      "packet 0 1 2 air 0 0\n" "packet 0 2 1 damaged 0 0 5:ff 4000:01\n";
  pattern = record (&config, 3, 20 * MS, &fates);
  fail_unless_equals_string (fates, "packet 0 0 5 delivered 0 0\n"
      "packet 0 1 2 air 0 0\n" "packet 0 2 1 damaged 0 0 5:ff\n");
  g_free (fates);
  g_free (pattern);
}

GST_END_TEST;

static guint n_freed;

static void
count_free (gpointer user)
{
  n_freed++;
}

/* The link is freed while packets are in all of these places: in the queue, in
 * transmission, in flight, and delivered but not yet fetched by the caller.
 * Each packet must be freed exactly once. */
GST_START_TEST (packets_in_link_are_freed_once)
{
  LinkProfile profiles[] = { LINK_PROFILE_CUSTOM, LINK_PROFILE_80211B };
  guint i, j;

  for (i = 0; i < G_N_ELEMENTS (profiles); i++) {
    LinkConfig config;
    Link *link;

    link_config_init (&config, profiles[i], LINK_QUALITY_GOOD);
    config.pipe.rate[0] = 1000000;
    config.pipe.delay[0] = 15 * MS;
    config.pipe.duplicate = 1;
    config.queue.packets = 8;
    link = link_load_link_new (&config);
    link_add_flow (link, 0);
    for (j = 0; j < 12; j++)
      link_input (link, 0, 0, 1250, NULL);
    link_timeout (link, 32 * MS);
    n_freed = 0;
    link_free (link, count_free);
    /* Some of the 12 packets were delivered but not fetched, and others were
     * dropped, but the caller did not fetch the event that reports this. Each
     * of the 12 packets must be freed once. */
    fail_unless_equals_int (n_freed, 12);
  }
}

GST_END_TEST;

GST_START_TEST (draws_are_uniform_exponential_and_geometric)
{
  guint64 sum = 0, exponential = 0, geometric = 0, i;

  for (i = 0; i < 100000; i++) {
    guint64 draw = seeded_draw (1, 2, 3, i, 4);

    fail_unless (seeded_draw_below (draw, 1000) < 1000);
    sum += seeded_draw_below (draw, 1000);
    exponential += seeded_draw_exponential (draw, 1000000);
    geometric += seeded_draw_geometric (draw, seeded_chance (0.1));
  }
  fail_unless (ABS ((gint64) (sum / 100000) - 499) <= 5);
  fail_unless (ABS ((gint64) (exponential / 100000) - 1000000) < 16000);
  fail_unless (ABS ((gint64) geometric - 1000000) < 15000);
  fail_unless_equals_uint64 (seeded_draw_geometric (5, G_MAXUINT64), 1);
  fail_unless (seeded_draw_geometric (5, 0) > G_MAXUINT32);
  fail_unless_equals_uint64 (seeded_draw_exponential (5, 0), 0);
  /* -ln (1/2) and -ln (1/4) */
  fail_unless (ABS ((gint64) seeded_draw_log (1ULL << 63) - 2977044471) <= 4);
  fail_unless (ABS ((gint64) seeded_draw_log (1ULL << 62) - 5954088943) <= 4);
  fail_if (seeded_draw_hits (0, seeded_chance (0)));
  fail_unless (seeded_draw_hits (G_MAXUINT64, seeded_chance (1)));
}

GST_END_TEST;

static Suite *
link_suite (void)
{
  Suite *s = suite_create ("link");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, the_error_domain_has_no_spaces);
  tcase_add_test (tc, draws_are_uniform_exponential_and_geometric);
  tcase_add_test (tc, pipe_sends_at_its_rate_and_delays);
  tcase_add_test (tc, pipe_without_a_limit_passes_at_once);
  tcase_add_test (tc, directions_have_their_own_rate_and_transmitter);
  tcase_add_test (tc, half_duplex_serves_in_turn_and_turns_around);
  tcase_add_test (tc, stations_take_turns_on_a_shared_medium);
  tcase_add_test (tc, steps_change_rate_and_delay_of_one_direction);
  tcase_add_test (tc, cut_loses_what_is_under_way);
  tcase_add_test (tc, full_queue_drops_and_counts_apart_from_the_air);
  tcase_add_test (tc, queue_is_limited_in_bytes_and_in_time);
  tcase_add_test (tc, too_big_a_packet_is_refused);
  tcase_add_test (tc, loss_and_duplicates_come_as_often_as_told);
  tcase_add_test (tc, two_state_loss_is_in_time);
  tcase_add_test (tc, bit_errors_hit_bits_and_all_alike);
  tcase_add_test (tc, frame_check_drops_the_damaged);
  tcase_add_test (tc, jitter_keeps_order_and_its_mean);
  tcase_add_test (tc, reordered_packets_are_overtaken);
  tcase_add_test (tc, outage_stops_the_transmitter_and_loses_nothing);
  tcase_add_test (tc, stall_gives_all_at_once);
  tcase_add_test (tc, slow_receiver_delays_then_drops);
  tcase_add_test (tc, bucket_lets_bursts_pass_at_once);
  tcase_add_test (tc, bucket_waits_in_outages);
  tcase_add_test (tc, delivery_trace_serves_bytes_at_its_times);
  tcase_add_test (tc, delivery_trace_is_shared_and_knows_outages);
  tcase_add_test (tc, overtaken_packets_do_not_block_the_receiver);
  tcase_add_test (tc, a_packet_of_any_size_is_no_danger);
  tcase_add_test (tc, states_begin_as_often_bad_as_they_are);
  tcase_add_test (tc, states_are_found_behind_and_before);
  tcase_add_test (tc, quality_counts_bit_errors_and_every_station);
  tcase_add_test (tc, bad_configurations_are_refused_by_name);
  tcase_add_test (tc, interference_windows_are_read);
  tcase_add_test (tc, profiles_are_valid_in_each_quality);
  tcase_add_test (tc, same_seed_same_log);
  tcase_add_test (tc, a_seed_means_the_same_on_every_machine);
  tcase_add_test (tc, channel_states_do_not_depend_on_traffic);
  tcase_add_test (tc, recorded_run_is_replayed);
  tcase_add_test (tc, recorded_attempts_are_replayed_on_80211);
  tcase_add_test (tc, patterns_decide_on_80211);
  tcase_add_test (tc, packets_in_link_are_freed_once);
  return s;
}

GST_CHECK_MAIN (link);
