/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the simulation that is used to measure MMTP. In this test, the
 * simulated endpoints use plain UDP instead of MMTP, so the results can be
 * computed by hand. The test also checks mmtp_optimum_count (), which computes
 * how many packets an ideal scheduler delivers in time. One test case uses the
 * links of the MMTP paper. */

#include <gst/check/gstcheck.h>

#include <math.h>

#include "mmtpoptimum.h"
#include "mmtpsimulation.h"

#define MS VIRTUAL_LINK_MS
#define SECOND VIRTUAL_LINK_SECOND
#define FOREVER (G_MAXUINT64 / 2)

/* --- a link alone --------------------------------------------------------- */

static VirtualLink *
link_new (const VirtualLinkConfig * config, guint64 seed)
{
  VirtualLink *link = virtual_link_new (config, seed, 0, g_free);

  virtual_link_set_origin (link, 0);
  return link;
}

/* Sends `n` packets of `size` bytes at the same time. The simulated link
 * ignores the content of a packet, so each packet is only a guint: its number.
 */
static void
push (VirtualLink * link, guint64 now, VirtualLinkDirection direction, guint n,
    guint32 size)
{
  guint i;

  for (i = 0; i < n; i++) {
    guint *packet = g_new (guint, 1);

    *packet = i;
    virtual_link_input (link, now, direction, size, packet);
  }
}

/* Returns the next packet that arrives, and stores its arrival time in `time`.
 * Returns G_MAXUINT if no packet arrives. */
static guint
next_arrival (VirtualLink * link, guint64 * time,
    VirtualLinkDirection * direction)
{
  guint *packet, number;

  while (!(packet = virtual_link_output (link, *time, direction))) {
    if (virtual_link_next (link) == G_MAXUINT64)
      return G_MAXUINT;
    *time = MAX (*time, virtual_link_next (link));
  }
  number = *packet;
  g_free (packet);
  return number;
}

static void
assert_arrival (VirtualLink * link, guint number, guint64 time,
    VirtualLinkDirection direction)
{
  guint64 now = 0;
  VirtualLinkDirection d;
  guint got = next_arrival (link, &now, &d);

  fail_unless (got == number && now == time && d == direction,
      "packet %u at %" G_GUINT64_FORMAT " in %d", got, now, d);
}

GST_START_TEST (link_takes_rate_delay_and_queue)
{
  /* The rate in forward direction is 1000 bytes/s, so the transmission of 100
   * bytes lasts 100 ms. The queue has room for two packets of 100 bytes, in
   * addition to the packet in transmission. */
  VirtualLinkConfig config = { {{1000, 50 * MS, 0, FALSE, FALSE, 200},
      {2000, 0, 0, FALSE, FALSE, 200}}
  };
  VirtualLink *link = link_new (&config, 1);
  VirtualLinkStats stats;

  push (link, 0, VIRTUAL_LINK_FORWARD, 5, 100);
  push (link, 0, VIRTUAL_LINK_BACK, 1, 100);
  assert_arrival (link, 0, 50 * MS, VIRTUAL_LINK_BACK);
  assert_arrival (link, 0, 150 * MS, VIRTUAL_LINK_FORWARD);
  assert_arrival (link, 1, 250 * MS, VIRTUAL_LINK_FORWARD);
  assert_arrival (link, 2, 350 * MS, VIRTUAL_LINK_FORWARD);
  virtual_link_get_stats (link, VIRTUAL_LINK_FORWARD, &stats);
  fail_unless_equals_uint64 (stats.offered, 5);
  fail_unless_equals_uint64 (stats.arrived, 3);
  fail_unless_equals_uint64 (stats.overflowed, 2);
  fail_unless_equals_uint64 (stats.busy, 300 * MS);
  fail_unless_equals_uint64 (virtual_link_next (link), G_MAXUINT64);
  virtual_link_free (link);
}

GST_END_TEST;

GST_START_TEST (half_duplex_takes_turns)
{
  VirtualLinkConfig config = { {{1000, 0, 0, FALSE, FALSE, 1000},
      {1000, 0, 0, FALSE, FALSE, 1000}}, TRUE, 10 * MS
  };
  VirtualLink *link = link_new (&config, 1);

  push (link, 0, VIRTUAL_LINK_FORWARD, 3, 100);
  push (link, 0, VIRTUAL_LINK_BACK, 2, 100);
  assert_arrival (link, 0, 100 * MS, VIRTUAL_LINK_FORWARD);
  assert_arrival (link, 0, 210 * MS, VIRTUAL_LINK_BACK);
  assert_arrival (link, 1, 320 * MS, VIRTUAL_LINK_FORWARD);
  assert_arrival (link, 1, 430 * MS, VIRTUAL_LINK_BACK);
  assert_arrival (link, 2, 540 * MS, VIRTUAL_LINK_FORWARD);
  virtual_link_free (link);
}

GST_END_TEST;

GST_START_TEST (outage_takes_what_is_under_way)
{
  /* Packets leave at 0, 100, 200 ... ms and arrive 150 ms later. */
  VirtualLinkConfig config = { {{1000, 50 * MS, 0, FALSE, FALSE, 10000},
      {1000, 0, 0, FALSE, FALSE, 1000}}
  };
  VirtualLink *link;

  virtual_link_config_add_outage (&config, 220 * MS, 320 * MS, 0);
  link = link_new (&config, 1);
  push (link, 0, VIRTUAL_LINK_FORWARD, 6, 100);
  assert_arrival (link, 0, 150 * MS, VIRTUAL_LINK_FORWARD);
  /* The transmission of a packet takes 100 ms, and its delay is 50 ms. Packet 1
   * is on the link from 100 to 250 ms, packet 2 from 200 to 350 ms, and packet
   * 3 from 300 to 450 ms. */
  assert_arrival (link, 4, 550 * MS, VIRTUAL_LINK_FORWARD);
  assert_arrival (link, 5, 650 * MS, VIRTUAL_LINK_FORWARD);
  virtual_link_free (link);
}

GST_END_TEST;

GST_START_TEST (steps_change_rate_and_delay)
{
  VirtualLinkConfig config = { {{1000, 50 * MS, 0, FALSE, FALSE, 10000},
      {1000, 0, 0, FALSE, FALSE, 1000}}
  };
  VirtualLink *link;

  virtual_link_config_add_step (&config, 150 * MS, 2000, 0);
  virtual_link_config_add_step (&config, 220 * MS, 0, 300 * MS);
  link = link_new (&config, 1);
  push (link, 0, VIRTUAL_LINK_FORWARD, 4, 100);
  assert_arrival (link, 0, 150 * MS, VIRTUAL_LINK_FORWARD);
  assert_arrival (link, 1, 250 * MS, VIRTUAL_LINK_FORWARD);
  assert_arrival (link, 2, 300 * MS, VIRTUAL_LINK_FORWARD);
  assert_arrival (link, 3, 600 * MS, VIRTUAL_LINK_FORWARD);
  virtual_link_free (link);
}

GST_END_TEST;

/* For many packets at once. */
#define MANY(rate, delay, fluctuation, reorders, loss) \
    { { { rate, delay, fluctuation, FALSE, reorders, FOREVER, loss } } }

/* Sends `n` packets, each of which takes 1 ms to transmit. Returns the number
 * of packets that arrive. Stores three results:
 * - `mean`: the mean delay of these packets;
 * - `losses`: the number of gaps in the sequence of arriving packets;
 * - `overtaken`: the number of packets that were overtaken. A packet is
 *   overtaken if another packet is sent after it but arrives before it. */
static guint
count_arrivals (const VirtualLinkConfig * config, guint n, gdouble * mean,
    guint * losses, guint * overtaken)
{
  VirtualLink *link = link_new (config, 5);
  VirtualLinkDirection direction;
  guint number, last = 0, arrived = 0;
  guint64 now = 0, sum = 0;

  *losses = *overtaken = 0;
  push (link, 0, VIRTUAL_LINK_FORWARD, n, 100);
  while ((number = next_arrival (link, &now, &direction)) != G_MAXUINT) {
    *losses += number > last + 1;
    *overtaken += number < last;
    last = MAX (last, number);
    sum += now - number * MS;
    arrived++;
  }
  *mean = sum / (gdouble) arrived;
  virtual_link_free (link);
  return arrived;
}

GST_START_TEST (losses_are_as_many_and_as_long_as_asked)
{
  VirtualLinkConfig config = MANY (100000, 0, 0, FALSE, 0.1);
  guint arrived, losses, overtaken;
  gdouble mean;

  arrived = count_arrivals (&config, 20000, &mean, &losses, &overtaken);
  /* 4 standard deviations: sqrt (20000 * 0.1 * 0.9) = 42 */
  fail_unless (ABS ((gint) arrived - 18000) < 170, "%u arrived", arrived);
  fail_unless (ABS ((gint) losses - 1800) < 170, "%u blocks", losses);
  /* Here packets are lost in bursts: during a burst, every packet is lost. A
   * burst lasts 20 ms on average, and the time between two bursts is 180 ms on
   * average. In the 20 s of the test, there are therefore about 100 bursts. */
  config.path[0].burst = 20 * MS;
  arrived = count_arrivals (&config, 20000, &mean, &losses, &overtaken);
  fail_unless (ABS ((gint) arrived - 18000) < 800, "%u arrived", arrived);
  fail_unless (ABS ((gint) losses - 100) < 40, "%u blocks", losses);
}

GST_END_TEST;

GST_START_TEST (delays_fluctuate_as_asked)
{
  VirtualLinkConfig config = MANY (100000, 10 * MS, 100 * MS, TRUE, 0);
  guint losses, overtaken;
  gdouble mean;

  fail_unless_equals_int (count_arrivals (&config, 20000, &mean, &losses,
          &overtaken), 20000);
  /* The mean delay is the sum of 1 ms of transmission, the fixed delay of 10
   * ms, and 50 ms of jitter on average. */
  fail_unless (fabs (mean / MS - 61) < 1, "mean %.3f ms", mean / MS);
  fail_unless (overtaken > 1000);
  config.path[0].exponential = TRUE;
  count_arrivals (&config, 20000, &mean, &losses, &overtaken);
  fail_unless (fabs (mean / MS - 111) < 3, "mean %.3f ms", mean / MS);
  config.path[0].reorders = FALSE;
  count_arrivals (&config, 20000, &mean, &losses, &overtaken);
  fail_unless_equals_int (overtaken, 0);
  fail_unless (mean / MS > 150, "mean %.3f ms", mean / MS);
}

GST_END_TEST;

/* --- a session ------------------------------------------------------------ */

static void
config_init (MmtpSimulationConfig * config, guint64 rate, guint64 delay,
    guint64 queue)
{
  VirtualLinkPath path = { rate, delay, 0, FALSE, FALSE, queue };

  mmtp_simulation_config_init (config, &mmtp_simulation_udp);
  mmtp_simulation_config_add_path (config, &path, &path);
  config->sender.max_delay = SECOND;
  mmtp_simulation_config_set_source (config, 100, 10 * MS, 72);
}

GST_START_TEST (frames_are_judged_by_true_time)
{
  MmtpSimulationConfig config;
  MmtpSimulation *simulation;
  const MmtpSimulationResult *result;

  /* A frame of 100 bytes is generated every 10 ms. Its transmission takes 20
   * ms, and the delay of the path is 500 ms. Frame i arrives at 520 + 20 i ms,
   * and its deadline is 1000 + 10 i ms. Therefore frame 48 is the last frame
   * that arrives in time. */
  config_init (&config, 5000, 500 * MS, FOREVER);
  config.clock_skew = 200000;
  simulation = mmtp_simulation_new (&config);
  mmtp_simulation_run (simulation);
  result = mmtp_simulation_get_result (simulation);
  fail_unless_equals_int (result->frames, 100);
  fail_unless_equals_int (result->in_time, 49);
  fail_unless_equals_int (result->too_late, 51);
  fail_unless_equals_uint64 (result->worst_release, 510 * MS);
  fail_unless_equals_int (result->missing, 0);
  fail_unless_equals_int (result->out_of_order, 0);
  fail_unless_equals_int (mmtp_simulation_count_lost (simulation, 0, 490 * MS),
      0);
  fail_unless_equals_int (mmtp_simulation_count_lost (simulation, 480 * MS,
          510 * MS), 2);
  fail_unless_equals_string (result->errors->str, "");
  mmtp_simulation_free (simulation);
}

GST_END_TEST;

GST_START_TEST (tcp_fills_the_link_that_it_has_alone)
{
  MmtpSimulationConfig config;
  MmtpSimulation *simulation;
  const MmtpSimulationResult *result;

  /* Two TCP flows and a small UDP stream share a link of 10 Mbit/s with a round
   * trip of 40 ms. The queue of the link holds as many packets as the link
   * sends in 40 ms. UDP uses 4 % of the rate. TCP must use almost all of the
   * rest. */
  config_init (&config, 1250000, 20 * MS, 50000);
  config.paths[0].n_tcp = 2;
  config.paths[0].tcp_from = SECOND;
  mmtp_simulation_config_set_source (&config, 1100, 10 * MS, 472);
  simulation = mmtp_simulation_new (&config);
  mmtp_simulation_run (simulation);
  result = mmtp_simulation_get_result (simulation);
  fail_unless (result->tcp_bytes[0] > 0.9 * 10 * 1250000, "%" G_GUINT64_FORMAT,
      result->tcp_bytes[0]);
  fail_unless (result->tcp_bytes[0] + result->mmtp_bytes[0] <= 12500000);
  fail_unless (result->mmtp_bytes[0] > 0.9 * 1000 * 500);
  fail_unless (result->links[0][0].overflowed > 0);
  mmtp_simulation_free (simulation);
}

GST_END_TEST;

/* --- the ideal scheduler -------------------------------------------------- */

GST_START_TEST (optimum_brings_what_can_be_counted)
{
  /* The path carries 10 packets per second and adds no delay. Each packet must
   * arrive within 0.1 s, which is the time that its transmission takes. If 10
   * packets are generated in 1 s, all of them arrive in time. If 20 packets are
   * generated in 1 s, a packet arrives in time only if it can be sent
   * immediately. */
  MmtpOptimumPath paths[] = { {0.1, 0}, {0.1, 0.5} };

  fail_unless_equals_int (mmtp_optimum_count (paths, 1, 10, 0.1, 0.1), 10);
  fail_unless_equals_int (mmtp_optimum_count (paths, 1, 20, 0.05, 0.1), 10);
  /* The path sends 10 packets per second. The last of 20 packets is generated
   * at 0.95 s. If each packet must arrive within 1.05 s, this packet must
   * arrive by 2 s. In 2 s the path can send 20 packets, so all packets must be
   * in time.
   */
  fail_unless_equals_int (mmtp_optimum_count (paths, 1, 20, 0.05, 1.05), 20);
  /* There are two paths. On each path, the transmission of a packet takes 0.1
   * s, so the path sends 10 packets per second. In 1 s, 20 packets are
   * generated. The second path adds a delay of 0.5 s, so a packet needs 0.1 s +
   * 0.5 s = 0.6 s on it.
   *
   * In the first case, each packet must arrive within 0.1 s. The second path
   * then delivers no packet in time. In the second case, each packet must
   * arrive within 0.6 s. The two paths together then deliver all 20 packets in
   * time.
   */
  fail_unless_equals_int (mmtp_optimum_count (paths, 2, 20, 0.05, 0.1), 10);
  fail_unless_equals_int (mmtp_optimum_count (paths, 2, 20, 0.05, 0.6), 20);
}

GST_END_TEST;

GST_START_TEST (optimum_brings_what_the_papers_links_have)
{
  /* The links have the rates of Table 1 of the MMTP paper, which are 36.4 and
   * 9.2 kB/s. Each frame has 1400 bytes, without the headers of MMTP. */
  MmtpOptimumPath paths[] = { {1 / 26.0, 0.137538}, {1400 / 9200.0,
      0.162826}
  };
  static const struct
  {
    gdouble period;
    guint min, max;
  } table[] = {
    {0.010, 353, 353}, {0.015, 515, 515}, {0.020, 677, 677},
    {0.025, 840, 840}, {0.030, 999, 1000}, {0.035, 1000, 1000}
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (table); i++) {
    guint n = mmtp_optimum_count (paths, 2, 1000, table[i].period, 1);

    fail_unless (n >= table[i].min && n <= table[i].max, "%g: %u",
        table[i].period, n);
  }
}

GST_END_TEST;

static Suite *
mmtpsimulation_suite (void)
{
  Suite *s = suite_create ("mmtpsimulation");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, link_takes_rate_delay_and_queue);
  tcase_add_test (tc, half_duplex_takes_turns);
  tcase_add_test (tc, outage_takes_what_is_under_way);
  tcase_add_test (tc, steps_change_rate_and_delay);
  tcase_add_test (tc, losses_are_as_many_and_as_long_as_asked);
  tcase_add_test (tc, delays_fluctuate_as_asked);
  tcase_add_test (tc, frames_are_judged_by_true_time);
  tcase_add_test (tc, tcp_fills_the_link_that_it_has_alone);
  tcase_add_test (tc, optimum_brings_what_can_be_counted);
  tcase_add_test (tc, optimum_brings_what_the_papers_links_have);
  return s;
}

GST_CHECK_MAIN (mmtpsimulation);
