/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the 802.11 model. They compare airtimes (times for which a packet
 * occupies the medium) with values that were computed by hand, and results with
 * the measurements of Ouwens (2006, chapter 3). A test that repeats a
 * measurement of Ouwens prints his value as "theirs" and the value of the model
 * as "ours".
 */

#include <gst/check/gstcheck.h>

#include <math.h>

#include "linkload.h"

#define US G_GUINT64_CONSTANT (1000)
#define N_SEEDS 8

/* The film of table 3.3 in Ouwens (2006) has 29,385 packets with 22.6 MB in
 * total, so the mean packet has 770 bytes. The largest packets have 1100 bytes
 * (section 3.6, conclusion 1). The model therefore sends packets of random
 * sizes from 440 to 1100 bytes, whose mean is 770 bytes. The headers of RTP,
 * UDP and IP add 44 bytes to each packet. When the same film is sent over TCP,
 * it has 15,501 full segments (table 3.5). */
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
  /* This is the first packet, so the medium has been idle for a long time. The
   * transmission therefore begins immediately, without a random backoff. */
  link_input (link, LINK_SECOND, 0, size, NULL);
  link_timeout (link, 2 * LINK_SECOND);
  fail_unless (link_poll_output (link, &packet));
  link_free (link, NULL);
  return packet.departure - LINK_SECOND;
}

GST_START_TEST (airtimes_are_those_of_the_standard)
{
  LinkConfig config = without_faults ();

  /* 802.11b at 11 Mbit/s: the preamble and header of the physical layer take
   * 192 us. Then the packet and its link-layer headers follow. They have 8 *
   * (1500 + 8 + 28) bits and are sent at 11 Mbit/s. The sum of both times is
   * rounded up to whole microseconds. */
  fail_unless_equals_uint64 (first_departure (&config, 1500), 1310 * US);
  config.dcf.short_preamble = TRUE;
  fail_unless_equals_uint64 (first_departure (&config, 1500), 1214 * US);
  config.overhead = 28;
  fail_unless_equals_uint64 (first_departure (&config, 1472), 1214 * US);
  /* At 1 Mbit/s, 802.11b uses the long preamble even if the short preamble is
   * configured. */
  config.overhead = 0;
  config.dcf.top_rate = 0;
  fail_unless_equals_uint64 (first_departure (&config, 64), 992 * US);
  /* 802.11g at 54 Mbit/s: the airtime of a packet of 1500 bytes is the sum of
   * 20 us for the preamble and header of the physical layer, 57 symbols of 4
   * us, and 6 us of signal extension. The 57 symbols carry the packet with its
   * link-layer headers (8 * 1536 bits) and 22 further bits.
   */
  config = profile (LINK_PROFILE_80211G);
  fail_unless_equals_uint64 (first_departure (&config, 1500), 254 * US);
}

GST_END_TEST;

/* A station that always has another packet sends packets of 1500 bytes. The
 * mean time per packet must be the sum of these parts, in us: DIFS, an average
 * backoff of 15.5 slots, the packet at 11 Mbit/s, SIFS, and the ACK at 2 Mbit/s
 * (its physical header, then its bits). */
GST_START_TEST (saturated_cycle_is_the_sum_of_its_parts)
{
  LinkConfig config = without_faults ();
  LinkLoadSizes full = { 1500, 1500 };
  LinkLoadResult result = link_load_saturate (&config, 20000, full);
  gdouble cycle = 50 + 15.5 * 20 + 1310 + 10 + 192 + 56;

  fail_unless (ABS (result.seconds / 20000 * 1e6 / cycle - 1) < 0.005);
  /* 802.11g: a station sends packets of 1500 bytes. Its queue is never empty.
   * The mean time per packet must be the sum of these parts: 28 us for DIFS, an
   * average backoff of 7.5 slots of 9 us each, 254 us for the packet, 10 us for
   * SIFS, and 34 us for the ACK. */
  config = profile (LINK_PROFILE_80211G);
  memset (config.dcf.failure, 0, sizeof (config.dcf.failure));
  result = link_load_saturate (&config, 20000, full);
  cycle = 28 + 7.5 * 9 + 254 + 10 + 34;
  fail_unless (ABS (result.seconds / 20000 * 1e6 / cycle - 1) < 0.005);
}

GST_END_TEST;

/* Checks for each rate how long a packet of 64 bytes and its ACK occupy the
 * medium. This time has three parts: the packet, which has 100 bytes with its
 * link-layer headers; the pause SIFS; and the ACK. The ACK must be sent at the
 * highest basic rate that is not above the rate of the packet. */
GST_START_TEST (acknowledgements_have_a_basic_rate)
{
  /* One entry per rate of 802.11g: the number of OFDM symbols of the packet,
   * and the number of OFDM symbols of the ACK, which has 134 bits. Each of the
   * two transmissions takes 20 us for the preamble and header, 4 us for each
   * symbol, and 6 us of signal extension. */
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

/* A fade is a time with a bad signal. Each station has fades of its own. A
 * transmission must fail if it takes place during a fade of the station that
 * sends, and must not depend on the fades of other stations. */
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
  /* Each of the two stations is in a fade for half of the time. Their fades
   * must be independent. In half of all cases, one station must therefore be in
   * a fade while the other one is not. */
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
  /* A retry limit of 0 selects the default of the network card that Ouwens used
   * (section 3.6), which is 16 transmissions of a packet. */
  config.dcf.retry_limit = 0;
  config.dcf.failure[3] = 1;
  result = link_load_saturate (&config, 10, small);
  fail_unless_equals_uint64 (result.stats.fates[LINK_FATE_AIR], 10);
  fail_unless_equals_uint64 (result.stats.transmissions[15], 10);
  fail_unless_equals_uint64 (result.stats.airtime,
      10 * 16 * (192 + 99 + 10 + 248) * US);
}

GST_END_TEST;

/* All transmissions fail, and each packet is transmitted eight times. Before
 * each transmission, the station draws a random backoff of up to CW slots. CW
 * must be 31 for the first transmission of a packet, 63 for the second one, and
 * so on up to 1023. The test compares the mean time per packet with this rule.
 */
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
  /* The expected number follows from Bianchi (2000), with two stations, a
   * minimum contention window W = 32 and m = 5 doublings of this window. A
   * transmission then collides with the probability p = 0.0573, so there are p
   * / (2 (1 - p)) = 0.0304 collisions per delivered packet. */
  fail_unless (ABS ((gdouble) stats.collisions / n - 0.0303) < 0.004);
  link_free (link, NULL);
}

GST_END_TEST;

/* Finds the rate of a packet of 1500 bytes from its airtime. Returns 0, 1, 2 or
 * 3 for 1, 2, 5.5 or 11 Mbit/s. */
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

/* Sends `n` packets. The packets in the list `pattern` are lost, and all others
 * are delivered. Returns a text with one digit per packet, which says at which
 * rate the packet was sent: 0 = 1 Mbit/s, 1 = 2 Mbit/s, 2 = 5.5 Mbit/s, 3 = 11
 * Mbit/s. */
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
  /* The rule ARF (automatic rate fallback), configured as follows: two failures
   * in a row decrease the rate by one step, and three successes in a row
   * increase it by one step. A single failure has no effect. */
  config.dcf.fallback = LINK_FALLBACK_ARF;
  rates = get_rates (&config, 10, HEAD FAIL (0) FAIL (2) FAIL (3));
  fail_unless_equals_string (rates, "3333222333");
  g_free (rates);
  /* The rule ARF (automatic rate fallback). Packet 5 is the first packet after
   * an increase of the rate, and it fails. The rate must then decrease
   * immediately, although only one packet has failed. */
  rates = get_rates (&config, 12, HEAD FAIL (0) FAIL (1) FAIL (5));
  fail_unless_equals_string (rates, "332223222333");
  g_free (rates);
  /* The rule LOSS: a lost packet decreases the rate to the minimum. After that,
   * five successes in a row increase the rate by one step. */
  config.dcf.fallback = LINK_FALLBACK_LOSS;
  rates = get_rates (&config, 20, HEAD FAIL (1));
  fail_unless_equals_string (rates, "33000001111122222333");
  g_free (rates);
  /* The rule ARF_LOSS combines the rules ARF (automatic rate fallback) and
   * LOSS. After a lost packet, it behaves as the rule LOSS: it decreases the
   * rate to the minimum, and then increases the rate by one step after every
   * five successes in a row. When the rate has reached its maximum again, the
   * rule behaves as ARF: the number of failures in a row that decreases the
   * rate, and the number of successes in a row that increases it, are those of
   * ARF. */
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
    /* The microwave oven is on from 2 to 4 s. It radiates only in a part of
     * each mains cycle of 20 ms, and each transmission in this part fails. The
     * reported quality of the link must be 1 minus the fraction of the cycle in
     * which the oven radiates.
     */
    if (event.type == LINK_EVENT_QUALITY && event.time >= 2 * LINK_SECOND
        && event.time < 4 * LINK_SECOND)
      fail_unless (ABS (event.quality - (1 - config.oven.on / 20e6)) < 1e-9);
  }
  /* There are 50 mains cycles per second. In most cycles, the radiation of the
   * microwave oven hits a packet, which must then be transmitted again. While
   * the oven is on, this must happen to at least 30 packets per second. */
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

/* Ouwens measured the throughput of 802.11b with the program Iperf: about 6
 * Mbit/s with UDP, and about 5 Mbit/s with TCP (section 3.6, conclusion 1, and
 * section 3.10). */
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

/* Ouwens, table 3.2: percentages of the UDP packets that were transmitted n
 * times, for n from 1 to 5. The first index is the maximum number of
 * transmissions minus 1. The second index is 1 if the microwave oven was on.
 * The third index is n minus 1. */
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

/* Some results of Ouwens contradict his other results. The test prints the
 * following results, but does not check them (docs/links.md has the details):
 *
 * - Table 3.4, with the microwave oven on. When the maximum number of
 *   transmissions is raised from four to five, the percentage of packets that
 *   are transmitted only once decreases by 3.5 percentage points. However, only
 *   0.1 % of the packets need a fifth transmission.
 * - Table 3.6, TCP, at most one transmission per packet. The oven makes the
 *   transfer 311 s longer, but causes only 27 more TCP retransmissions.
 * - Table 3.5, all results, because table 3.5 contradicts table 3.4. */
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
 * Mbit/s by 15 to 19 %. The test requires 15 to 21 %.
 *
 * Two further measurements show the same effect. Ouwens transmitted a film of 6
 * Mbit/s and switched the oven on for 20 s. Over UDP, the transfer took 88.2 s
 * instead of 85.2 s (table 3.7). Over TCP, it took 72.2 s instead of 69.2 s
 * (table 3.13). Each transfer took 3 s longer, which is 15 % of the 20 s with
 * the oven. */
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
