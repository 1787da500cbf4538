/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the 802.11 model against airtimes that were computed by hand, and
 * against the measurements of Ouwens (2006, chapter 3). Where a test repeats a
 * table of Ouwens, it prints his value as "theirs", and the tolerance as
 * "within".
 */

#include <gst/check/gstcheck.h>

#include <math.h>

#include "linkload.h"

#define US G_GUINT64_CONSTANT (1000)
#define N_SEEDS 8

/* The film of Ouwens' table 3.3 has 29,385 packets with 22.6 MB in total, so
 * the mean packet has 770 bytes. No packet has more than 1100 bytes (3.6,
 * conclusion 1). Headers of RTP, UDP and IP add 44 bytes to each packet. When
 * the same film is sent over TCP, it has 15,501 full segments (table 3.5). */
#define FILM_PACKETS 29385
static const LinkLoadSizes film_sizes = { 440 + 44, 1100 + 44 };

static const TcpConfig film_tcp = {
  .segments = 15501,.mss = 1460,.header = 40,.receive_window = 44,
  .ack_every = 2
};

static LinkConfig
profile (LinkProfile profile)
{
  LinkConfig config;

  link_config_init (&config, profile, LINK_QUALITY_IDEAL);
  return config;
}

static LinkConfig
without_faults (void)
{
  LinkConfig config = profile (LINK_PROFILE_80211B);
  guint i;

  for (i = 0; i < LINK_MAX_RATES; i++)
    config.dcf.failure[i] = config.dcf.oven_failure[i] = 0;
  return config;
}

static guint64
first_departure (const LinkConfig * config, guint32 size)
{
  Link *link = link_load_link_new (config);
  LinkPacket packet;

  link_add_flow (link, 0);
  /* No packet was sent before this one. The medium has therefore been idle for
   * so long that the transmission begins immediately, without a backoff. */
  link_input (link, LINK_SECOND, 0, size, NULL);
  link_timeout (link, 2 * LINK_SECOND);
  fail_unless (link_poll_output (link, &packet));
  link_free (link, NULL);
  return packet.departure - LINK_SECOND;
}

GST_START_TEST (airtimes_are_those_of_the_standard)
{
  LinkConfig config = without_faults ();

  /* The airtime is the sum of 192 us and the time for 8 * (1500 + 8 + 28) bits
   * at 11 Mbit/s, rounded up. */
  fail_unless_equals_uint64 (first_departure (&config, 1500), 1310 * US);
  config.dcf.short_preamble = TRUE;
  fail_unless_equals_uint64 (first_departure (&config, 1500), 1214 * US);
  config.overhead = 28;
  fail_unless_equals_uint64 (first_departure (&config, 1472), 1214 * US);
  /* At 1 Mbit/s, 802.11 always uses the long preamble. */
  config.overhead = 0;
  config.dcf.top_rate = 0;
  fail_unless_equals_uint64 (first_departure (&config, 64), 992 * US);
  /* The airtime of a packet of 1500 bytes is the sum of 20 us for the preamble
   * and the header, 57 symbols of 4 us, and 6 us of signal extension. The
   * symbols carry 8 * 1536 bits of the packet with its link-layer headers, and
   * 22 further bits.
   */
  config = profile (LINK_PROFILE_80211G);
  fail_unless_equals_uint64 (first_departure (&config, 1500), 254 * US);
}

GST_END_TEST;

/* Checks how long the transmission of a packet and its acknowledgement take
 * together. This duration is the sum of DIFS, an average backoff of 15.5 slots,
 * the data, SIFS, and the ACK at 2 Mbit/s. */
GST_START_TEST (saturated_cycle_is_the_sum_of_its_parts)
{
  LinkConfig config = without_faults ();
  LinkLoadSizes full = { 1500, 1500 };
  LinkLoadResult result = link_load_saturate (&config, 20000, full);
  gdouble cycle = 50 + 15.5 * 20 + 1310 + 10 + 192 + 56;

  fail_unless (ABS (result.seconds / 20000 * 1e6 / cycle - 1) < 0.005);
  /* With 802.11g, a packet and its acknowledgement together take the sum of 28
   * us for DIFS, an average backoff of 7.5 slots of 9 us each, 254 us for the
   * data, 10 us for SIFS, and 34 us for the ACK. */
  config = profile (LINK_PROFILE_80211G);
  memset (config.dcf.failure, 0, sizeof (config.dcf.failure));
  result = link_load_saturate (&config, 20000, full);
  cycle = 28 + 7.5 * 9 + 254 + 10 + 34;
  fail_unless (ABS (result.seconds / 20000 * 1e6 / cycle - 1) < 0.005);
}

GST_END_TEST;

/* Computes the time for which a packet of 64 bytes occupies the medium at each
 * rate. This time is the sum of three parts: the packet, which has 100 bytes
 * with its headers; SIFS; and the ACK. The ACK has the highest basic rate that
 * is not above the rate of the packet. */
GST_START_TEST (acknowledgements_have_a_basic_rate)
{
  /* Each entry belongs to one rate and has two numbers of OFDM symbols: those
   * of the data and those of the ACK, which has 134 bits. A transmission takes
   * 20 us for the preamble and the header, 4 us for each symbol, and 6 us of
   * signal extension. */
  static const guint ofdm[][2] = { {35, 6}, {23, 6}, {18, 3}, {12, 3}, {9, 2},
  {6, 2}, {5, 2}, {4, 2}
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (ofdm); i++) {
    LinkConfig config = profile (LINK_PROFILE_80211G);
    LinkLoadSizes one = { 64, 64 };

    memset (config.dcf.failure, 0, sizeof (config.dcf.failure));
    config.dcf.top_rate = i;
    fail_unless_equals_uint64 (link_load_saturate (&config, 1,
            one).stats.airtime,
        (26 + 4 * ofdm[i][0] + 10 + 26 + 4 * ofdm[i][1]) * US);
  }
  for (i = 0; i < 2; i++) {
    LinkConfig config = without_faults ();
    LinkLoadSizes one = { 64, 64 };

    config.dcf.top_rate = i;
    fail_unless_equals_uint64 (link_load_saturate (&config, 1,
            one).stats.airtime,
        (192 + 800 / (i + 1) + 10 + 192 + 112 / (i + 1)) * US);
  }
}

GST_END_TEST;

/* Each station has its own fades, which are times with a bad signal. A
 * transmission fails if it takes place during a fade of its own station. Fades
 * of other stations have no effect on it. */
GST_START_TEST (fading_is_each_stations_own)
{
  LinkConfig config = without_faults ();
  guint state[2] = { 0, 0 }, i, failed = 0, both = 0, n = 0;
  LinkEvent event;
  Link *link;

  config.pipe.fading.mean_good = config.pipe.fading.mean_bad = LINK_SECOND / 2;
  config.pipe.loss_bad = 1;
  config.dcf.retry_limit = 1;
  config.dcf.fallback = LINK_FALLBACK_FIXED;
  link = link_load_link_new (&config);
  for (i = 0; i < 2; i++)
    link_add_flow (link, i);
  for (i = 0; i < 20000; i++) {
    link_input (link, i * 20 * LINK_MS, 0, 100, NULL);
    link_input (link, i * 20 * LINK_MS + 10 * LINK_MS, 1, 100, NULL);
    while (link_poll_event (link, &event)) {
      if (event.type != LINK_EVENT_FATE)
        continue;
      state[event.packet.flow] = event.packet.fate == LINK_FATE_AIR;
      failed += state[event.packet.flow];
      both += state[0] != state[1];
      n++;
    }
  }
  fail_unless (ABS ((gdouble) failed / n - 0.5) < 0.03);
  /* Each of the two stations has a fade (a time with a bad signal) for half of
   * the time. If the fades of the stations are independent, exactly one of the
   * stations is in a fade for half of the packets. */
  fail_unless (ABS ((gdouble) both / n - 0.5) < 0.05);
  link_free (link, NULL);
}

GST_END_TEST;

GST_START_TEST (retry_limit_counts_transmissions)
{
  LinkConfig config = without_faults ();
  LinkLoadSizes small = { 100, 100 };
  LinkLoadResult result;
  guint i;

  config.dcf.fallback = LINK_FALLBACK_FIXED;
  config.dcf.failure[3] = 0.5;
  for (i = 1; i <= 4; i++) {
    guint64 lost;

    config.dcf.retry_limit = i;
    result = link_load_saturate (&config, 20000, small);
    lost = result.stats.fates[LINK_FATE_AIR];
    fail_unless (ABS (lost - 20000 * pow (0.5, i)) < 350);
    fail_unless_equals_uint64 (result.stats.transmissions[i + 1], 0);
    fail_unless (result.stats.transmissions[i] >= lost);
  }
  /* A retry limit of 0 selects the default of the card (Ouwens 3.6). */
  config.dcf.retry_limit = 0;
  config.dcf.failure[3] = 1;
  result = link_load_saturate (&config, 10, small);
  fail_unless_equals_uint64 (result.stats.fates[LINK_FATE_AIR], 10);
  fail_unless_equals_uint64 (result.stats.transmissions[15], 10);
  fail_unless_equals_uint64 (result.stats.airtime,
      10 * 16 * (192 + 99 + 10 + 248) * US);
}

GST_END_TEST;

/* Checks the size of the contention window, from which the random backoff is
 * drawn. It is 31 slots for the first attempt, 63 slots for the second one, and
 * so on up to 1023 slots. */
GST_START_TEST (contention_window_doubles)
{
  LinkConfig config = without_faults ();
  LinkLoadSizes small = { 100, 100 };
  LinkLoadResult result;
  gdouble slots = 0;
  guint i;

  config.dcf.fallback = LINK_FALLBACK_FIXED;
  config.dcf.failure[3] = 1;
  config.dcf.retry_limit = 8;
  result = link_load_saturate (&config, 5000, small);
  for (i = 0; i < 8; i++)
    slots += MIN ((32 << i) - 1, 1023) / 2.0;
  fail_unless (ABS (result.seconds * 1e6 / 5000 / (slots * 20 + 8 * (50 + 192 +
                  99 + 10 + 248)) - 1) < 0.01);
}

GST_END_TEST;

GST_START_TEST (two_saturated_stations_share_and_collide)
{
  LinkConfig config = without_faults ();
  guint64 delivered[2] = { 0, }, now = 0;
  Link *link = link_load_link_new (&config);
  LinkStats stats;
  LinkPacket packet;
  guint i, n = 0;

  for (i = 0; i < 2; i++)
    link_add_flow (link, i);
  while (n < 40000) {
    for (i = 0; i < 2; i++) {
      while (link_has_room (link, i, 1500))
        link_input (link, now, i, 1500, NULL);
    }
    now = link_next_wakeup (link);
    link_timeout (link, now);
    for (; link_poll_output (link, &packet); n++)
      delivered[packet.flow]++;
    link_load_drop_events (link);
  }
  link_get_stats (link, &stats);
  fail_unless (ABS ((gdouble) delivered[0] / delivered[1] - 1) < 0.03);
  /* The expected share of collisions follows from Bianchi (2000), with two
   * stations, a minimum contention window W = 32 and m = 5 doublings of this
   * window. A transmission collides with the probability p = 0.0573, so one in
   * 34 busy periods is a collision. */
  fail_unless (ABS ((gdouble) stats.collisions / n - 0.0303) < 0.004);
  link_free (link, NULL);
}

GST_END_TEST;

/* Finds the rate of a packet from its airtime. Returns 0 to 3 for 1, 2, 5.5 and
 * 11 Mbit/s. */
static guint
get_rate_index (guint64 airtime)
{
  /* 1536 bytes, SIFS and the ACK */
  static const guint64 airtimes[] = { (192 + 12288 + 10 + 304) * US,
    (192 + 6144 + 10 + 248) * US, (192 + 2235 + 10 + 248) * US,
    (192 + 1118 + 10 + 248) * US
  };
  guint i;

  for (i = 0; i < 4 && airtimes[i] != airtime; i++);
  return i;
}

/* Returns the rate of the first attempt of each packet in a run. The packets
 * that `pattern` lists are lost, and all others are delivered. */
static gchar *
get_rates (const LinkConfig * config, guint n, const gchar * pattern)
{
  LinkConfig c = *config;
  GString *rates = g_string_new (NULL);
  Link *link;
  LinkEvent event;
  guint i;

  c.pattern = pattern;
  c.dcf.retry_limit = 1;
  link = link_load_link_new (&c);
  link_add_flow (link, 0);
  for (i = 0; i < n; i++)
    link_input (link, i * 20 * LINK_MS, 0, 1500, NULL);
  link_timeout (link, LINK_SECOND * 60);
  while (link_poll_event (link, &event)) {
    if (event.type == LINK_EVENT_FATE)
      g_string_append_printf (rates, "%u",
          get_rate_index (event.packet.airtime));
  }
  link_free (link, NULL);
  return g_string_free (rates, FALSE);
}

#define FAIL(i) "packet 0 " #i " 1 air 0 0\n"
#define HEAD "wirelesslink-pattern 1\nseed 1\n"

GST_START_TEST (rates_fall_back_and_recover)
{
  LinkConfig config = without_faults ();
  gchar *rates;

  config.dcf.down_after = 2;
  config.dcf.up_after = 3;
  config.dcf.loss_up_after = 5;
  config.dcf.fallback = LINK_FALLBACK_FIXED;
  rates = get_rates (&config, 6, HEAD FAIL (0) FAIL (1) FAIL (2));
  fail_unless_equals_string (rates, "333333");
  g_free (rates);
  /* A single failure has no effect. Two failures in a row decrease the rate by
   * a step, and three successes increase it. */
  config.dcf.fallback = LINK_FALLBACK_ARF;
  rates = get_rates (&config, 10, HEAD FAIL (0) FAIL (2) FAIL (3));
  fail_unless_equals_string (rates, "3333222333");
  g_free (rates);
  /* A failed transmission directly after an increase of the rate decreases the
   * rate immediately. */
  rates = get_rates (&config, 12, HEAD FAIL (0) FAIL (1) FAIL (5));
  fail_unless_equals_string (rates, "332223222333");
  g_free (rates);
  /* A lost packet decreases the rate to the minimum. Then the rate increases by
   * one step after each series of five successes. */
  config.dcf.fallback = LINK_FALLBACK_LOSS;
  rates = get_rates (&config, 20, HEAD FAIL (1));
  fail_unless_equals_string (rates, "33000001111122222333");
  g_free (rates);
  /* The fallback rule LINK_FALLBACK_ARF_LOSS combines the rules ARF and LOSS.
   * After a lost packet, five successes are needed to increase the rate by one
   * step. When the rate has returned to its maximum, only three successes are
   * needed for later increases. */
  config.dcf.fallback = LINK_FALLBACK_ARF_LOSS;
  config.dcf.top_rate = 1;
  rates = get_rates (&config, 10, HEAD FAIL (1));
  fail_unless_equals_string (rates, "1100000111");
  g_free (rates);
}

GST_END_TEST;

GST_START_TEST (interference_acts_in_its_windows_only)
{
  LinkConfig config = without_faults ();
  Link *link;
  LinkEvent event;
  guint i, again[6] = { 0, };

  config.dcf.oven_failure[3] = 1;
  config.dcf.fallback = LINK_FALLBACK_FIXED;
  fail_unless (link_config_parse_interference (&config, "2-4", NULL));
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  for (i = 0; i < 6000; i++)
    link_input (link, i * LINK_MS, 0, 100, NULL);
  link_timeout (link, 100 * LINK_SECOND);
  while (link_poll_event (link, &event)) {
    if (event.type == LINK_EVENT_FATE)
      again[MIN (event.packet.arrival / LINK_SECOND, 5)] +=
          event.packet.attempts > 1;
    /* The oven radiates only in a part of each mains cycle. While the oven is
     * on, the reported quality must be 1 minus this part.
     */
    if (event.type == LINK_EVENT_QUALITY && event.time >= 2 * LINK_SECOND
        && event.time < 4 * LINK_SECOND)
      fail_unless (ABS (event.quality - (1 - config.oven.on / 20e6)) < 1e-9);
  }
  /* A mains cycle lasts 20 ms, so there are 50 cycles per second. In most
   * cycles, the radiation of the microwave oven makes a transmission fail, and
   * the packet is sent again. At least 30 packets per second must therefore be
   * sent again. */
  fail_unless (again[2] >= 30 && again[3] >= 30);
  fail_unless_equals_int (again[0] + again[1] + again[5], 0);
  link_free (link, NULL);
}

GST_END_TEST;

/* Ouwens' measurements */

static void
print_line (const gchar * what, gdouble theirs, gdouble ours)
{
  g_print ("# %-44s theirs %8.2f  ours %8.2f\n", what, theirs, ours);
}

static void
fail_unless_within (const gchar * what, gdouble theirs, gdouble ours,
    gdouble min, gdouble max)
{
  print_line (what, theirs, ours);
  fail_unless (ours >= min && ours <= max, "%s: %.3f is not in %.3f to %.3f",
      what, ours, min, max);
}

static gdouble
mbit (guint64 bytes, gdouble seconds)
{
  return bytes * 8 / seconds / 1e6;
}

/* Ouwens describes his measurements with Iperf in section 3.6, conclusion 1,
 * and in section 3.10. */
GST_START_TEST (ouwens_iperf)
{
  LinkConfig config = profile (LINK_PROFILE_80211B);
  LinkLoadSizes full = { 1500, 1500 };
  LinkLoadResult udp = link_load_saturate (&config, 30000, full);
  TcpResult tcp = link_load_tcp (&config, &film_tcp);

  fail_unless_within ("UDP, 1472 bytes, Mbit/s", 6.0,
      mbit (30000 * 1472, udp.seconds), 5.6, 6.4);
  config.dcf.ack_rate = 1000000;
  udp = link_load_saturate (&config, 30000, full);
  fail_unless_within ("UDP, ACK at 1 Mbit/s", 6.0,
      mbit (30000 * 1472, udp.seconds), 5.6, 6.4);
  fail_unless_within ("TCP, delayed ACK, Mbit/s", 5.0,
      mbit (15501 * 1460, tcp.seconds), 4.6, 5.4);
}

GST_END_TEST;

typedef struct
{
  gdouble seconds, lost;
  gdouble again;                /* segments that TCP retransmitted */
  gdouble attempts[5];          /* % of the packets */
} Row;

static LinkConfig
make_row_config (guint retry_limit, gboolean oven, guint64 seed)
{
  LinkConfig config = profile (LINK_PROFILE_80211B_OUWENS);

  config.dcf.retry_limit = retry_limit;
  config.oven.always = oven;
  config.seed = seed;
  return config;
}

static void
add_attempts (Row * row, const LinkFlowStats * stats)
{
  guint64 sum = 0;
  guint i;

  for (i = 1; i < LINK_MAX_ATTEMPTS; i++)
    sum += stats->transmissions[i];
  for (i = 0; i < 5; i++)
    row->attempts[i] += 100.0 * stats->transmissions[i + 1] / sum / N_SEEDS;
}

static Row
measure_udp (guint retry_limit, gboolean oven)
{
  Row row = { 0, };
  guint seed;

  for (seed = 1; seed <= N_SEEDS; seed++) {
    LinkConfig config = make_row_config (retry_limit, oven, seed);
    LinkLoadResult result = link_load_saturate (&config, FILM_PACKETS,
        film_sizes);

    row.seconds += result.seconds / N_SEEDS;
    row.lost += (gdouble) result.stats.fates[LINK_FATE_AIR] / N_SEEDS;
    add_attempts (&row, &result.stats);
  }
  return row;
}

static Row
measure_tcp (guint retry_limit, gboolean oven)
{
  Row row = { 0, };
  guint seed;

  for (seed = 1; seed <= N_SEEDS; seed++) {
    LinkConfig config = make_row_config (retry_limit, oven, seed);
    TcpResult result = link_load_tcp (&config, &film_tcp);

    row.seconds += result.seconds / N_SEEDS;
    row.lost += (gdouble) result.data.fates[LINK_FATE_AIR] / N_SEEDS;
    row.again += (gdouble) result.retransmissions / N_SEEDS;
    add_attempts (&row, &result.data);
  }
  return row;
}

static void
compare_attempts (const gchar * protocol, guint retry_limit, gboolean oven,
    const gdouble * theirs, const Row * ours, gboolean is_asked)
{
  gdouble within = is_asked ? 2 : 100;
  guint i;

  for (i = 0; i < 5; i++) {
    gchar *what = g_strdup_printf ("%s, R %u%s, %u times, %%", protocol,
        retry_limit, oven ? ", oven" : "", i + 1);

    fail_unless_within (what, theirs[i], ours->attempts[i],
        theirs[i] - within, theirs[i] + within);
    g_free (what);
  }
}

/* Ouwens, table 3.2: number of transmissions per packet with UDP, in % */
static const gdouble table_3_2[5][2][5] = {
  {{100}, {100}},
  {{99.8, 0.2}, {93.0, 7.0}},
  {{99.7, 0.3}, {92.9, 6.0, 1.0}},
  {{99.8, 0.2}, {91.9, 6.9, 1.1, 0.1}},
  {{99.7, 0.3}, {91.5, 6.7, 1.6, 0.1, 0.1}}
};

/* Table 3.3: lost packets of 29,385 */
static const gdouble table_3_3[5][2] = { {36, 374}, {0, 195}, {0, 18}, {0, 4},
{0, 3}
};

/* Table 3.4: as table 3.2, with TCP */
static const gdouble table_3_4[5][2][5] = {
  {{100}, {100}},
  {{97.3, 2.7}, {89.2, 10.8}},
  {{97.7, 2.3}, {88.7, 10.2, 1.1}},
  {{97.7, 2.3}, {87.0, 11.9, 1.0}},
  {{97.6, 2.4}, {83.5, 15.1, 1.3, 0.1}}
};

/* Table 3.5: segments that TCP retransmitted, of 15,501 */
static const gdouble table_3_5[5][2] = { {169, 196}, {0, 46}, {0, 5},
{0, 0}, {0, 0}
};

/* Table 3.6: seconds with UDP and with TCP */
static const gdouble table_3_6[5][2][2] = {
  {{87.4, 250.2}, {243.9, 561.6}},
  {{59.0, 52.5}, {155.3, 128.7}},
  {{66.8, 54.2}, {75.9, 91.3}},
  {{57.1, 57.8}, {92.1, 64.8}},
  {{58.2, 48.4}, {82.9, 60.9}}
};

static void
compare_seconds (const gchar * protocol, guint retry_limit, gboolean oven,
    gdouble theirs, gdouble ours, gboolean is_asked)
{
  gchar *what = g_strdup_printf ("%s, R %u%s, seconds", protocol, retry_limit,
      oven ? ", oven" : "");

  if (is_asked)
    fail_unless_within (what, theirs, ours, theirs * 0.7, theirs * 1.3);
  else
    print_line (what, theirs, ours);
  g_free (what);
}

GST_START_TEST (ouwens_tables_3_2_3_3_and_3_6_udp)
{
  guint limit, oven;

  for (limit = 1; limit <= 5; limit++) {
    for (oven = 0; oven < 2; oven++) {
      Row row = measure_udp (limit, oven);
      gdouble lost = table_3_3[limit - 1][oven];
      gchar *what = g_strdup_printf ("UDP, R %u%s, lost", limit,
          oven ? ", oven" : "");

      if (limit >= 4)
        fail_unless_within (what, lost, row.lost, 0, 10);
      else
        fail_unless_within (what, lost, row.lost, lost / 2.5,
            MAX (lost * 2.5, 1));
      g_free (what);
      compare_attempts ("UDP", limit, oven, table_3_2[limit - 1][oven], &row,
          TRUE);
      compare_seconds ("UDP", limit, oven, table_3_6[limit - 1][oven][0],
          row.seconds, TRUE);
    }
  }
}

GST_END_TEST;

/* Two results in the paper of Ouwens contradict its other results. The test
 * does not check these two results (docs/links.md has the details):
 *
 * - Table 3.4, microwave oven on, at most five transmissions per packet.
 *   Compared with at most four transmissions, the percentage of the packets
 *   that are sent only once decreases by 3.5 percentage points. However, only
 *   0.1 % of the packets need a fifth transmission.
 * - Table 3.6, TCP, only one transmission per packet. The oven makes the
 *   transfer 311 s longer, but causes only 27 more TCP retransmissions.
 *
 * Table 3.5 is not checked at all, because it contradicts table 3.4. */
GST_START_TEST (ouwens_tables_3_4_3_5_and_3_6_tcp)
{
  guint limit, oven;

  for (limit = 1; limit <= 5; limit++) {
    for (oven = 0; oven < 2; oven++) {
      Row row = measure_tcp (limit, oven);

      gchar *what = g_strdup_printf ("TCP, R %u%s, segments sent again", limit,
          oven ? ", oven" : "");

      compare_attempts ("TCP", limit, oven, table_3_4[limit - 1][oven], &row,
          limit != 5 || !oven);
      compare_seconds ("TCP", limit, oven, table_3_6[limit - 1][oven][1],
          row.seconds, limit != 1 || !oven);
      print_line (what, table_3_5[limit - 1][oven], row.again);
      g_free (what);
    }
  }
}

GST_END_TEST;

/* In the measurements of Ouwens, a microwave oven lowered the throughput at 11
 * Mbit/s by 15 to 19 %.
 *
 * Ouwens also transmitted a film of 6 Mbit/s and switched the oven on for 20 s.
 * Over UDP, the transfer took 88.2 s instead of 85.2 s (table 3.7). Over TCP,
 * it took 72.2 s instead of 69.2 s (table 3.13). */
GST_START_TEST (ouwens_sections_3_6_to_3_9_oven)
{
  gdouble udp[2] = { 0, }, tcp[2] = { 0, };
  guint seed, oven;

  for (seed = 1; seed <= 6; seed++) {
    for (oven = 0; oven < 2; oven++) {
      LinkConfig config = profile (LINK_PROFILE_80211B);

      config.seed = seed;
      config.dcf.retry_limit = 4;
      config.oven.always = oven;
      udp[oven] += link_load_saturate (&config, FILM_PACKETS,
          film_sizes).seconds;
      tcp[oven] += link_load_tcp (&config, &film_tcp).seconds;
    }
  }
  fail_unless_within ("UDP, the oven costs %", 15.0,
      100 * (1 - udp[0] / udp[1]), 15, 21);
  fail_unless_within ("TCP, the oven costs %", 15.0,
      100 * (1 - tcp[0] / tcp[1]), 15, 21);
}

GST_END_TEST;

static Suite *
linkwlan_suite (void)
{
  Suite *s = suite_create ("linkwlan");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, airtimes_are_those_of_the_standard);
  tcase_add_test (tc, saturated_cycle_is_the_sum_of_its_parts);
  tcase_add_test (tc, acknowledgements_have_a_basic_rate);
  tcase_add_test (tc, fading_is_each_stations_own);
  tcase_add_test (tc, retry_limit_counts_transmissions);
  tcase_add_test (tc, contention_window_doubles);
  tcase_add_test (tc, two_saturated_stations_share_and_collide);
  tcase_add_test (tc, rates_fall_back_and_recover);
  tcase_add_test (tc, interference_acts_in_its_windows_only);
  tcase_add_test (tc, ouwens_iperf);
  tcase_add_test (tc, ouwens_tables_3_2_3_3_and_3_6_udp);
  tcase_add_test (tc, ouwens_tables_3_4_3_5_and_3_6_tcp);
  tcase_add_test (tc, ouwens_sections_3_6_to_3_9_oven);
  return s;
}

GST_CHECK_MAIN (linkwlan);
