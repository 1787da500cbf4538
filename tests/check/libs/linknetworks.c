/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the emulated networks RangeLAN2, IrDA and GPRS. The results are
 * compared with the measurements of Magalhaes and Kravets (2001), tables 1 to
 * 3, and of Erixzon and Kallstrom (2004), sections 5.2.3, 5.3.6 and 5.4.4.
 */

#include <gst/check/gstcheck.h>

#include "linkload.h"

#define UDP_IP 28
#define ICMP_IP 28

static LinkConfig
profile (const gchar * nick, LinkQuality quality)
{
  return link_load_profile (nick, quality, 1);
}

static void
fail_unless_within (const gchar * what, gdouble theirs, gdouble ours,
    gdouble percent)
{
  g_print ("# %-36s theirs %8.1f  ours %8.1f\n", what, theirs, ours);
  fail_unless (ABS (ours / theirs - 1) <= percent / 100, "%s: %.2f", what,
      ours);
}

typedef struct
{
  gdouble min, mean;            /* ms */
} Delay;

/* Measures the minimum and the mean delay of 1000 frames of `size` bytes. A
 * frame is sent every second, so that no frame has to wait for another one. */
static Delay
measure_delay (const LinkConfig * config, guint32 size)
{
  Link *link = link_load_link_new (config);
  Delay delay = { G_MAXDOUBLE, 0 };
  LinkPacket packet;
  guint i;

  link_add_flow (link, 0);
  for (i = 0; i < 1000; i++) {
    gdouble ms;

    link_input (link, i * LINK_SECOND, 0, size, NULL);
    link_timeout (link, (i + 1) * LINK_SECOND - 1);
    fail_unless (link_poll_output (link, &packet));
    ms = (packet.departure - packet.arrival) / 1e6;
    delay.min = MIN (delay.min, ms);
    delay.mean += ms / 1000;
    link_load_drop_events (link);
  }
  link_free (link, NULL);
  return delay;
}

static gdouble
measure_throughput (const LinkConfig * config)
{
  LinkLoadSizes frames = { 1400 + UDP_IP, 1400 + UDP_IP };
  LinkLoadResult result = link_load_saturate (config, 5000, frames);

  return 5000 * 1400 / result.seconds / 1000;
}

GST_START_TEST (magalhaes_table_1)
{
  LinkConfig rangelan = profile ("rangelan2", LINK_QUALITY_IDEAL);
  LinkConfig irda = profile ("irda", LINK_QUALITY_IDEAL);
  Delay delay = measure_delay (&rangelan, 1400 + UDP_IP);

  fail_unless_within ("RangeLAN2, least delay, ms", 176, delay.min, 10);
  fail_unless_within ("RangeLAN2, mean delay, ms", 291, delay.mean, 10);
  fail_unless_within ("RangeLAN2, kbyte/s", 36.4,
      measure_throughput (&rangelan), 10);
  delay = measure_delay (&irda, 1400 + UDP_IP);
  fail_unless_within ("IrDA, least delay, ms", 315, delay.min, 10);
  fail_unless_within ("IrDA, mean delay, ms", 465, delay.mean, 10);
  fail_unless_within ("IrDA, kbyte/s", 9.2, measure_throughput (&irda), 10);
}

GST_END_TEST;

/* Table 2 of Magalhaes and Kravets shows the losses on RangeLAN2 for frames
 * that are sent every 50 ms or every 100 ms. In both cases, 17 to 21 of 1000
 * frames are lost, in 1 to 3 blocks of consecutive frames. */
GST_START_TEST (rangelan2_loses_in_blocks)
{
  guint lost = 0, blocks = 0, seed;

  for (seed = 1; seed <= 200; seed++) {
    LinkConfig config = profile ("rangelan2", LINK_QUALITY_GOOD);
    guint8 gone[1000] = { 0, };
    LinkEvent event;
    Link *link;
    guint i;

    config.seed = seed;
    link = link_load_link_new (&config);
    link_add_flow (link, 0);
    for (i = 0; i < 1000; i++)
      link_input (link, i * 50 * LINK_MS, 0, 1400 + UDP_IP, NULL);
    link_timeout (link, 100 * LINK_SECOND);
    while (link_poll_event (link, &event)) {
      if (event.type == LINK_EVENT_FATE)
        gone[event.packet.index] = event.packet.fate == LINK_FATE_AIR;
    }
    for (i = 0; i < 1000; i++) {
      lost += gone[i];
      blocks += gone[i] && (i == 0 || !gone[i - 1]);
    }
    link_free (link, NULL);
  }
  fail_unless_within ("RangeLAN2, frames lost of 1000", 19, lost / 200.0, 30);
  fail_unless_within ("RangeLAN2, in blocks", 2.5, blocks / 200.0, 30);
}

GST_END_TEST;

/* More packets are sent than the link can carry, so they fill the buffer of the
 * base station. Magalhaes and Kravets measured a maximum delay below 6 s on
 * RangeLAN2 and below 3.5 s on IrDA (sections 5.2 and 5.3). The maximum delay,
 * which depends on the size of the buffer, must be close to these values.
 * Packets must be lost only because the buffer is full, not during the
 * transmission. */
GST_START_TEST (floods_fill_the_base_stations_buffer)
{
  const gchar *profiles[] = { "rangelan2", "irda" };
  const gdouble theirs[] = { 5.6, 3.5 };
  guint i, j;

  for (i = 0; i < 2; i++) {
    LinkConfig config = profile (profiles[i], LINK_QUALITY_IDEAL);
    Link *link = link_load_link_new (&config);
    guint64 max_delay = 0;
    LinkFlowStats stats;
    LinkPacket packet;

    link_add_flow (link, 0);
    for (j = 0; j < 1000; j++)
      link_input (link, j * 10 * LINK_MS, 0, 1400 + UDP_IP, NULL);
    link_timeout (link, 1000 * LINK_SECOND);
    while (link_poll_output (link, &packet))
      max_delay = MAX (max_delay, packet.departure - packet.arrival);
    link_get_flow_stats (link, 0, &stats);
    fail_unless_within (i ? "IrDA, maximum delay, s" :
        "RangeLAN2, maximum delay, s", theirs[i], max_delay / 1e9, 15);
    fail_unless (stats.fates[LINK_FATE_QUEUE] > 500);
    fail_unless_equals_uint64 (stats.fates[LINK_FATE_AIR], 0);
    link_free (link, NULL);
  }
}

GST_END_TEST;

typedef struct
{
  gdouble mean, max, min;       /* s */
  guint answered;
} Pings;

/* Sends `n` pings with `size` bytes of data from the phone, one every
 * `interval` ns. The other end of the link answers each ping as soon as it
 * arrives. Returns the mean, the maximum and the minimum round-trip time in s.
 */
static Pings
ping (const LinkConfig * config, guint32 size, guint64 interval, guint n)
{
  guint32 packet_size = size + ICMP_IP;
  Link *link = link_load_link_new (config);
  Pings pings = { 0, 0, G_MAXDOUBLE, 0 };
  guint64 now = 0, *sent = g_new (guint64, n);
  LinkPacket packet;
  guint i = 0;

  link_add_flow (link, 0);
  link_add_flow (link, 1);
  while (i < n || link_next_wakeup (link) != LINK_NEVER) {
    if (i < n && i * interval <= link_next_wakeup (link)) {
      now = sent[i] = i * interval;
      link_input (link, now, 0, packet_size, &sent[i++]);
    } else {
      now = link_next_wakeup (link);
      link_timeout (link, now);
    }
    while (link_poll_output (link, &packet)) {
      gdouble seconds = (packet.departure - *(guint64 *) packet.user) / 1e9;

      if (packet.flow == 0) {
        link_input (link, now, 1, packet_size, packet.user);
        continue;
      }
      pings.answered++;
      pings.mean += seconds;
      pings.max = MAX (pings.max, seconds);
      pings.min = MIN (pings.min, seconds);
    }
    link_load_drop_events (link);
  }
  pings.mean /= pings.answered;
  g_free (sent);
  link_free (link, NULL);
  return pings;
}

/* Table 5.1 of Erixzon and Kallstrom has the round-trip times of pings over
 * GPRS. The first row, with pings of 60 bytes and a mean of 0.877 s, is
 * checked. The other two rows are only printed:
 * - Pings of 576 bytes have a mean of 0.825 s in the table, which is less than
 *   that of the small pings. This is impossible: at 8 to 12 kbit/s (section
 *   2.3), 576 bytes take about 0.4 s in one direction alone.
 * - In the third row, a small ping is sent every 20 ms. The link cannot carry
 *   so many pings. */
GST_START_TEST (erixzon_table_5_1)
{
  static const struct
  {
    guint size, milliseconds, n;
    gdouble mean, max, min;
  } rows[] = {
    {60, 1000, 20, 0.877, 1.078, 0.671},
    {576, 1000, 20, 0.825, 1.015, 0.687},
    {60, 20, 100, 1.256, 2.281, 0.671}
  };
  LinkConfig config = profile ("gprs", LINK_QUALITY_IDEAL);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (rows); i++) {
    Pings ours = ping (&config, rows[i].size, rows[i].milliseconds * LINK_MS,
        rows[i].n);

    g_print
        ("# GPRS, ping of %u bytes each %u ms: theirs %.3f, at most %.3f, at "
        "least %.3f s  ours %.3f, %.3f, %.3f, %u of %u answered\n",
        rows[i].size, rows[i].milliseconds, rows[i].mean, rows[i].max,
        rows[i].min, ours.mean, ours.max, ours.min, ours.answered, rows[i].n);
    if (i == 0) {
      fail_unless_within ("GPRS, round trip of 60 bytes, ms", 877,
          ours.mean * 1000, 15);
      fail_unless_within ("GPRS, round trip of the stream, ms", 900,
          ours.mean * 1000, 15);
    }
  }
}

GST_END_TEST;

/* Measures the rate of TCP data in the direction to the phone. A packet of 1500
 * bytes contains 1460 bytes of data. */
GST_START_TEST (gprs_rate)
{
  LinkConfig config = profile ("gprs", LINK_QUALITY_IDEAL);
  guint64 last = 0;
  LinkPacket packet;
  Link *link;
  guint i;

  config.queue.packets = 0;
  link = link_load_link_new (&config);
  link_add_flow (link, 1);
  for (i = 0; i < 400; i++)
    link_input (link, 0, 0, 1500, NULL);
  link_timeout (link, 1000 * LINK_SECOND);
  while (link_poll_output (link, &packet))
    last = packet.departure;
  fail_unless_within ("GPRS, to the phone, byte/s", 6000,
      400 * 1460 / (last / 1e9), 15);
  link_free (link, NULL);
}

GST_END_TEST;

/* Figure 5.7 of Erixzon and Kallstrom shows measurements of about a minute with
 * delay spikes: nothing arrives for some seconds, and then many packets arrive
 * at the same time. The test counts the pauses of more than one second in 20
 * minutes. The emulated link must have 8 to 30 of them, and must lose no
 * packet. */
GST_START_TEST (gprs_has_delay_spikes)
{
  guint spikes = 0, seed, i;

  for (seed = 1; seed <= 20; seed++) {
    LinkConfig config = profile ("gprs", LINK_QUALITY_GOOD);
    guint64 last = 0;
    LinkPacket packet;
    Link *link;

    config.seed = seed;
    link = link_load_link_new (&config);
    link_add_flow (link, 1);
    for (i = 0; i < 600; i++)
      link_input (link, i * 100 * LINK_MS, 0, 500, NULL);
    link_timeout (link, 1000 * LINK_SECOND);
    for (i = 0; link_poll_output (link, &packet); i++) {
      spikes += packet.departure - last > LINK_SECOND && last;
      last = packet.departure;
    }
    fail_unless_equals_int (i, 600);
    link_free (link, NULL);
  }
  g_print ("# GPRS, silences of over a second in a minute: %.2f\n",
      spikes / 20.0);
  fail_unless (spikes >= 8 && spikes <= 30);
}

GST_END_TEST;

static Suite *
linknetworks_suite (void)
{
  Suite *s = suite_create ("linknetworks");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, magalhaes_table_1);
  tcase_add_test (tc, rangelan2_loses_in_blocks);
  tcase_add_test (tc, floods_fill_the_base_stations_buffer);
  tcase_add_test (tc, erixzon_table_5_1);
  tcase_add_test (tc, gprs_rate);
  tcase_add_test (tc, gprs_has_delay_spikes);
  return s;
}

GST_CHECK_MAIN (linknetworks);
