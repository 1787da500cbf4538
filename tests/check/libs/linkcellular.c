/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the models of two cellular networks, GSM and NMT, against published
 * measurements: Alanko et al. 1994 (section 3.1, tables 3 to 5) and Singh 2000
 * (section 5.1, figure 15, appendix B). RLP, the link protocol of GSM,
 * retransmits lost radio blocks. The rules of RLP are tested with hand-made
 * traces, which say which radio blocks are damaged. All tests run in virtual
 * time.
 */

#include <gst/check/gstcheck.h>

#include <math.h>
#include <string.h>

#include "linkload.h"
#include "seededdraw.h"

#define MS LINK_MS
#define SECOND LINK_SECOND
#define BLOCK (20 * MS)

/* TCP segments in the measurements of Alanko et al., in bytes: MSS is the size
 * of the payload of a segment, and TCP_HEADER is the size of its headers. */
#define MSS 536
#define TCP_HEADER 40

/* Prints one line of a table, which has the published value `theirs` and the
 * model's value `ours`. Checks that the two values differ by at most `within`.
 */
static void
check_line (const gchar * name, gdouble theirs, gdouble ours, gdouble within)
{
  g_print ("  %-44s theirs %8.2f  ours %8.2f  (%+.2f, within %.2f)\n", name,
      theirs, ours, ours - theirs, within);
  fail_unless (fabs (ours - theirs) <= within, "%s: %.3f, not %.3f +- %.3f",
      name, ours, theirs, within);
}

static void
check_between (const gchar * name, gdouble min, gdouble max, gdouble ours)
{
  g_print ("  %-44s theirs %g to %g  ours %.2f\n", name, min, max, ours);
  fail_unless (ours >= min && ours <= max, "%s: %.3f, not %g to %g", name,
      ours, min, max);
}

/* A link under test that carries one flow of packets in each direction */
typedef struct
{
  Link *link;
  /* Numbers of the two flows: station 0 sends flows[0], and station 1, at the
   * other end of the link, sends flows[1]. */
  guint flows[2];
  guint64 now;
} Path;

static void
path_open (Path * path, const LinkConfig * config)
{
  GError *error = NULL;

  path->link = link_new (config, &error);
  g_assert_no_error (error);
  path->flows[0] = link_add_flow (path->link, 0);
  path->flows[1] = link_add_flow (path->link, 1);
  path->now = 0;
}

static void
path_close (Path * path)
{
  link_free (path->link, NULL);
}

static void
path_drop_events (Path * path)
{
  LinkEvent event;

  while (link_poll_event (path->link, &event));
}

/* Advances the time until a packet leaves the link, stores the packet in
 * `packet`, and returns TRUE. Returns FALSE if no packet leaves the link by the
 * time `until`. */
static gboolean
path_next_output (Path * path, guint64 until, LinkPacket * packet)
{
  while (!link_poll_output (path->link, packet)) {
    guint64 next = link_next_wakeup (path->link);

    path_drop_events (path);
    if (next == LINK_NEVER || next > until)
      return FALSE;
    path->now = MAX (path->now, next);
    link_timeout (path->link, path->now);
  }
  return TRUE;
}

/* Advances the link to the time `until`. The packets that leave the link until
 * then are discarded without a check. */
static void
path_run (Path * path, guint64 until)
{
  LinkPacket packet;

  while (path_next_output (path, until, &packet));
  path->now = until;
  link_timeout (path->link, until);
}

/* Advances the time until `n` packets that `station` sent have left the link.
 * Returns the time at which the last of them left the link. */
static guint64
path_await (Path * path, guint station, guint n)
{
  LinkPacket packet = { 0, };

  while (n > 0) {
    fail_unless (path_next_output (path, LINK_NEVER - 1, &packet));
    n -= packet.station == station;
  }
  return packet.departure;
}

/* Sends a message of `bytes` bytes from `station`. The message is divided into
 * TCP segments of at most MSS bytes. Returns the number of segments. */
static guint
path_send_message (Path * path, guint station, guint bytes)
{
  guint n;

  for (n = 0; bytes > 0; n++) {
    guint segment = MIN (bytes, MSS);

    link_input (path->link, path->now, path->flows[station],
        segment + TCP_HEADER, NULL);
    bytes -= segment;
  }
  return n;
}

static guint64
path_count_resets (const Path * path)
{
  LinkStats stats;

  link_get_stats (path->link, &stats);
  return stats.resets;
}

/* Sends a message and waits until all of its segments have arrived. RLP, the
 * link protocol of GSM, may lose segments when it resets the link. The function
 * therefore sends the whole message again if no segment has arrived for
 * SECONDS_TO_REPEAT and the link was reset after the message was sent. */

#define SECONDS_TO_REPEAT 20

static void
path_transfer (Path * path, guint station, guint bytes)
{
  guint64 resets = path_count_resets (path);
  guint n = path_send_message (path, station, bytes);
  LinkPacket packet;

  while (n > 0) {
    guint64 until = path->now + SECONDS_TO_REPEAT * SECOND;

    if (path_next_output (path, until, &packet)) {
      path->now = packet.departure;
      n -= packet.station == station;
      continue;
    }
    path_run (path, until);
    if (path_count_resets (path) > resets) {
      resets = path_count_resets (path);
      n = path_send_message (path, station, bytes);
    }
  }
}

/* Sends a request of `request` bytes from station 0. When it has arrived, sends
 * a reply of `reply` bytes from station 1. Returns the time in s from the
 * beginning of the request until the reply has arrived. */
static gdouble
path_exchange (Path * path, guint request, guint reply)
{
  guint64 begin = path->now;

  path_transfer (path, 0, request);
  path_transfer (path, 1, reply);
  return (path->now - begin) / 1e9;
}

static gint
compare_seconds (gconstpointer a, gconstpointer b)
{
  const gdouble *x = a, *y = b;

  return *x < *y ? -1 : *x > *y;
}

/* Makes 500 exchanges, as many as Alanko et al. measured. An exchange is a
 * request and its reply. The pause before each exchange is random, so that the
 * exchange may begin at any time within a radio block. Stores the durations of
 * the exchanges in `seconds`, in ascending order. */

#define EXCHANGES 500

static void
measure_exchanges (const LinkConfig * config, guint request, guint reply,
    gdouble * seconds)
{
  Path path;
  guint i;

  path_open (&path, config);
  for (i = 0; i < EXCHANGES; i++) {
    path.now += SECOND;
    path.now += seeded_draw_below (seeded_draw (1, 2, 3, i, 0), SECOND);
    seconds[i] = path_exchange (&path, request, reply);
  }
  path_close (&path);
  qsort (seconds, EXCHANGES, sizeof (gdouble), compare_seconds);
}

static gdouble
get_median (const gdouble * seconds)
{
  return (seconds[EXCHANGES / 2 - 1] + seconds[EXCHANGES / 2]) / 2;
}

/* Sends TCP segments from `station` for `seconds` seconds. The station's queue
 * is always kept full. Returns the number of payload bytes that left the link
 * in this time. Stores the statistics of the link in `stats`. */
static guint64
get_bulk (const LinkConfig * config, guint station, guint seconds,
    LinkStats * stats)
{
  guint64 bytes = 0, end = seconds * SECOND;
  LinkPacket packet;
  Path path;

  path_open (&path, config);
  while (TRUE) {
    while (link_has_room (path.link, path.flows[station], MSS + TCP_HEADER))
      link_input (path.link, path.now, path.flows[station], MSS + TCP_HEADER,
          NULL);
    if (!path_next_output (&path, end, &packet))
      break;
    bytes += MSS;
  }
  link_get_stats (path.link, stats);
  path_close (&path);
  return bytes;
}

/* The values that table 3 or 4 of Alanko et al. gives for one size of request
 * and reply. An exchange is a request and its reply. `seconds` contains the
 * minimum, percentiles and the maximum of the duration of an exchange, in s.
 * `outliers` contains fractions of the exchanges, 0 to 1: outliers[j] is the
 * fraction that took longer than the median duration plus tolerances[j], which
 * is in s. */

#define PERCENTILES 6
#define TOLERANCES 6

static const gdouble percentiles[PERCENTILES] = { 0, .5, .9, .95, .99, 1 };
static const gdouble tolerances[TOLERANCES] = { 0.2, 0.5, 1, 2, 5, 10 };

typedef struct
{
  gdouble seconds[PERCENTILES];
  gdouble outliers[TOLERANCES];
} Exchange;

static const struct
{
  guint request, reply;
  Exchange gsm, nmt;
} exchanges[] = {
  {1, 1,
        {{0.77, 0.99, 1.04, 1.04, 1.10, 1.15}, {0}},
        {{.27, .44, .49, .60, 6.10, 17.64},
          {.032, .018, .012, .012, .012, .006}}},
  {32, 512,
        {{1.37, 1.54, 1.59, 1.65, 1.65, 1.70}, {0}},
        {{.71, .93, .99, 1.07, 4.67, 18.02},
          {.042, .014, .012, .012, .010, .006}}},
  {32, 1024,
        {{1.98, 2.14, 2.20, 2.20, 2.25, 2.31}, {0}},
        {{.99, 1.21, 1.32, 1.43, 15.44, 18.52},
          {.058, .030, .030, .026, .014, .012}}},
  {1024, 32,
        {{2.09, 2.20, 2.31, 2.31, 4.15, 4.56}, {.034, .028, .014, .008}},
        {{1.26, 1.48, 1.54, 1.65, 11.29, 18.52},
          {.042, .032, .030, .022, .010, .010}}},
  {32, 2048,
        {{3.13, 3.24, 3.35, 3.35, 3.35, 4.56}, {.004, .002, .002}},
        {{1.54, 1.79, 1.98, 2.03, 2.66, 8.13},
          {.086, .020, .008, .008, .006}}}
};

static void
print_values (const gchar * name, const gdouble * theirs,
    const gdouble * ours, guint n, gint digits)
{
  guint i;

  g_print ("  %-28s theirs", name);
  for (i = 0; i < n; i++)
    g_print (" %6.*f", digits, theirs[i]);
  g_print ("  ours");
  for (i = 0; i < n; i++)
    g_print (" %6.*f", digits, ours[i]);
  g_print ("\n");
}

/* An exchange is a request and its reply. Prints the durations of the exchanges
 * that were made over the emulated link, and the fractions of exchanges that
 * take much longer than the median (outliers). Each line has the values of
 * Alanko's paper and those of the model. The outliers are only printed, not
 * checked. On an ideal link, the model has no outliers. On a link of the
 * quality "good", the model has more outliers than the paper. */
static void
print_exchange (const gchar * name, const Exchange * theirs,
    const gdouble * seconds)
{
  Exchange ours = { {0,}, };
  guint i, j;

  for (i = 0; i < PERCENTILES; i++)
    ours.seconds[i] = seconds[(guint) (percentiles[i] * (EXCHANGES - 1))];
  ours.seconds[1] = get_median (seconds);
  for (i = 0; i < EXCHANGES; i++) {
    for (j = 0; j < TOLERANCES; j++)
      ours.outliers[j] += seconds[i] > ours.seconds[1] + tolerances[j];
  }
  for (j = 0; j < TOLERANCES; j++)
    ours.outliers[j] /= EXCHANGES;
  print_values (name, theirs->seconds, ours.seconds, PERCENTILES, 2);
  print_values ("  outliers", theirs->outliers, ours.outliers, TOLERANCES, 3);
}

static void
check_exchange (LinkProfile profile, guint i, const Exchange * theirs)
{
  static const gchar *const names[] = { "ideal", "good" };
  const gchar *network = profile == LINK_PROFILE_GSM ? "GSM" : "NMT";
  gdouble seconds[EXCHANGES];
  LinkConfig config;
  guint quality;

  for (quality = LINK_QUALITY_IDEAL; quality <= LINK_QUALITY_GOOD; quality++) {
    gchar *name = g_strdup_printf ("%s %u/%u, %s, s", network,
        exchanges[i].request, exchanges[i].reply, names[quality]);

    link_config_init (&config, profile, quality);
    config.seed = 1;
    measure_exchanges (&config, exchanges[i].request, exchanges[i].reply,
        seconds);
    print_exchange (name, theirs, seconds);
    if (quality == LINK_QUALITY_IDEAL)
      check_line ("median, s", theirs->seconds[1], get_median (seconds),
          theirs->seconds[1] * 0.05);
    g_free (name);
  }
}

GST_START_TEST (gsm_exchanges_as_table_4_of_alanko)
{
  check_exchange (LINK_PROFILE_GSM, __i__, &exchanges[__i__].gsm);
}

GST_END_TEST;

GST_START_TEST (nmt_exchanges_as_table_3_of_alanko)
{
  check_exchange (LINK_PROFILE_NMT, __i__, &exchanges[__i__].nmt);
}

GST_END_TEST;

/* Section 3.3 of Alanko et al. gives the rates of GSM in a long transfer: 880
 * byte/s from the phone to the network, and 890 byte/s from the network to the
 * phone. The model must have these rates, with a tolerance of about 2 %. */
GST_START_TEST (gsm_bulk_as_section_3_3_of_alanko)
{
  LinkConfig config;
  LinkStats stats;
  guint i;

  link_config_init (&config, LINK_PROFILE_GSM, LINK_QUALITY_IDEAL);
  for (i = 0; i < 2; i++)
    check_line (i ? "GSM bulk, down, byte/s" : "GSM bulk, up, byte/s",
        i ? 890 : 880, get_bulk (&config, i, 900, &stats) / 900.0, 885 * 0.02);
}

GST_END_TEST;

/* Sets `config` to the profile NMT, but with other rates. The modems of NMT
 * compress the data (V.42bis), so the rate depends on the data. The profile has
 * the rates that Alanko et al. measured with short messages. They also measured
 * transfers of a file, whose data had another compression ratio than the short
 * messages. This function sets the rates of these file transfers. */
static void
init_nmt_bulk (LinkConfig * config, LinkQuality quality)
{
  link_config_init (config, LINK_PROFILE_NMT, quality);
  config->pipe.rate[0] = 1370 * 8;
  config->pipe.rate[1] = 1490 * 8;
}

GST_START_TEST (nmt_bulk_as_section_3_3_of_alanko)
{
  LinkConfig config;
  LinkStats stats;

  init_nmt_bulk (&config, LINK_QUALITY_IDEAL);
  check_line ("NMT bulk, up, byte/s", 1270, get_bulk (&config, 0, 900,
          &stats) / 900.0, 1270 * 0.02);
  check_line ("NMT bulk, down, byte/s", 1380, get_bulk (&config, 1, 900,
          &stats) / 900.0, 1380 * 0.02);
}

GST_END_TEST;

/* Table 5 of Alanko et al.: the number of kilobytes that are transferred in 15
 * minutes. The test simulates TABLE_5_RUNS transfers with different seeds and
 * takes the mean. */

#define TABLE_5_RUNS 16

/* Simulates several transfers of 15 minutes. Checks that the mean number of
 * kilobytes per transfer differs by at most 15 % from `theirs`, the number in
 * the paper. Returns the mean number of link resets per transfer. */
static gdouble
check_quarter_hour (const gchar * name, LinkConfig * config, gdouble theirs)
{
  guint64 bytes = 0, resets = 0;
  LinkStats stats;
  guint i;

  for (i = 0; i < TABLE_5_RUNS; i++) {
    config->seed = 1 + i;
    bytes += get_bulk (config, 1, 900, &stats);
    resets += stats.resets;
  }
  check_line (name, theirs, bytes / 1000.0 / TABLE_5_RUNS, theirs * 0.15);
  g_print ("  %-44s %g\n", "  resets in 15 minutes",
      (gdouble) resets / TABLE_5_RUNS);
  return (gdouble) resets / TABLE_5_RUNS;
}

GST_START_TEST (bulk_in_15_minutes_as_table_5_of_alanko)
{
  static const gdouble gsm[] = { 800, 640, 240 }, nmt[] = { 1240, 870, 310 };
  static const gchar *const names[] = { "ideal", "good", "poor" };
  LinkConfig config;
  gdouble resets;
  gchar *name;

  name = g_strdup_printf ("GSM, %s, kbyte", names[__i__]);
  link_config_init (&config, LINK_PROFILE_GSM, __i__);
  resets = check_quarter_hour (name, &config, gsm[__i__]);
  /* RLP, the link protocol of GSM, retransmits lost blocks. It resets the link
   * only if many retransmissions fail. The mean number of resets in 15 minutes
   * must therefore be less than 1. On a link of the quality "poor", any number
   * of resets is allowed. */
  fail_unless (__i__ == LINK_QUALITY_POOR || resets < 1);
  g_free (name);
  name = g_strdup_printf ("NMT, %s, kbyte", names[__i__]);
  init_nmt_bulk (&config, __i__);
  check_quarter_hour (name, &config, nmt[__i__]);
  g_free (name);
}

GST_END_TEST;

/* Figure 7 of Alanko et al. shows the progress of a transfer of 40,000 bytes.
 * On a disturbed link, the transfer stagnates "for a while to continue later at
 * full rate". The test looks for silences: times of more than two seconds in
 * which no packet arrives. */

#define FIGURE_7_SIZE 40000
#define FIGURE_7_SILENCE 2.0

/* Transfers FIGURE_7_SIZE bytes. Prints each silence, which is a time of more
 * than FIGURE_7_SILENCE seconds in which no packet arrives. Then prints the
 * time at which the transfer ends. Returns the number of silences. */
static guint
print_trace (const LinkConfig * config)
{
  guint bytes = 0, silences = 0;
  LinkPacket packet;
  gdouble last = 0;
  Path path;

  path_open (&path, config);
  while (bytes < FIGURE_7_SIZE) {
    gdouble now;

    while (link_has_room (path.link, path.flows[1], MSS + TCP_HEADER))
      link_input (path.link, path.now, path.flows[1], MSS + TCP_HEADER, NULL);
    fail_unless (path_next_output (&path, LINK_NEVER - 1, &packet));
    now = packet.departure / 1e9;
    if (now - last > FIGURE_7_SILENCE) {
      g_print (" %.1f s at %u bytes,", now - last, bytes);
      silences++;
    }
    bytes += MSS;
    last = now;
  }
  path_close (&path);
  g_print (" end %.1f s\n", last);
  return silences;
}

GST_START_TEST (gsm_bulk_stagnates_as_figure_7_of_alanko)
{
  LinkConfig config;

  g_print ("  GSM, bulk of %u bytes, silences over %g s\n", FIGURE_7_SIZE,
      FIGURE_7_SILENCE);
  link_config_init (&config, LINK_PROFILE_GSM, LINK_QUALITY_IDEAL);
  g_print ("  ideal:");
  fail_unless_equals_int (print_trace (&config), 0);
  link_config_init (&config, LINK_PROFILE_GSM, LINK_QUALITY_GOOD);
  for (config.seed = 1; config.seed <= 3; config.seed++) {
    g_print ("  good, seed %u:", (guint) config.seed);
    fail_unless (print_trace (&config) > 0);
  }
}

GST_END_TEST;

/* Section 3.1 of Alanko: dial-up */

/* Alanko et al. measured about 400 successful phone calls. The test makes ten
 * sets of 400 successful calls, and each set has its own seed. */
#define SETS 10
#define CALLS 400

typedef struct
{
  guint n, calls, failed;
  /* Duration in s of the set-up of each call that was connected. The durations
   * are sorted after the last call. */
  gdouble seconds[SETS * CALLS];
  gdouble min_detection, max_detection;
  /* time in ns at which the set-up of the current call began; LINK_NEVER = the
   * call is connected */
  guint64 begin;
} Calls;

static void
note_call (Calls * calls, const LinkEvent * event)
{
  gdouble seconds = (event->time - calls->begin) / 1e9;

  if (event->call == LINK_CALL_DIALLING) {
    calls->begin = event->time;
    calls->calls++;
  } else if (event->call == LINK_CALL_CONNECTED) {
    calls->begin = LINK_NEVER;
    calls->seconds[calls->n++] = seconds;
  } else if (calls->begin != LINK_NEVER) {
    calls->failed++;
    calls->min_detection = MIN (calls->min_detection, seconds);
    calls->max_detection = MAX (calls->max_detection, seconds);
  }
}

/* Makes phone calls over a link until 400 of them have been connected. Adds
 * their results to `calls`. The caller has set the mean duration of a call to 1
 * ms in `config`, so each call soon breaks off and the next one can begin. */
static void
make_set (const LinkConfig * config, Calls * calls)
{
  guint end = calls->n + CALLS;
  LinkEvent event;
  Path path;

  path_open (&path, config);
  while (calls->n < end) {
    if (link_next_wakeup (path.link) == LINK_NEVER)
      link_input (path.link, path.now, path.flows[0], 100, NULL);
    path.now = MAX (path.now, link_next_wakeup (path.link));
    link_timeout (path.link, path.now);
    while (calls->n < end && link_poll_event (path.link, &event)) {
      if (event.type == LINK_EVENT_CALL)
        note_call (calls, &event);
    }
  }
  path_close (&path);
}

static Calls *
make_calls (LinkProfile profile)
{
  Calls *calls = g_new0 (Calls, 1);
  LinkConfig config;

  calls->min_detection = 1e9;
  link_config_init (&config, profile, LINK_QUALITY_IDEAL);
  config.dial_up.enabled = TRUE;
  config.dial_up.mean_time_to_break = MS;
  for (config.seed = 0; config.seed < SETS; config.seed++)
    make_set (&config, calls);
  qsort (calls->seconds, calls->n, sizeof (gdouble), compare_seconds);
  return calls;
}

static gdouble
get_quantile (const Calls * calls, gdouble part)
{
  return calls->seconds[(guint) (part * (calls->n - 1))];
}

static gdouble
get_percent_over (const Calls * calls, gdouble limit)
{
  guint i, n = 0;

  for (i = 0; i < calls->n; i++)
    n += calls->seconds[i] > limit;
  return 100.0 * n / calls->n;
}

/* Prints which percentage of the connected calls had a set-up time of 28 to 29
 * s, of 29 to 30 s, and so on. Figure 5 of Alanko et al. shows the same
 * percentages. */
static void
print_calls (const gchar * name, const Calls * calls)
{
  guint second, i, n;

  g_print ("  %s calls, %% in each second:", name);
  for (second = 28, i = 0; i < calls->n; second++, i += n) {
    for (n = 0; i + n < calls->n && calls->seconds[i + n] < second + 1; n++);
    if (n > 0)
      g_print (" %u: %.1f", second, 100.0 * n / calls->n);
  }
  g_print ("\n");
}

GST_START_TEST (gsm_calls_as_section_3_1_of_alanko)
{
  Calls *calls = make_calls (LINK_PROFILE_GSM);

  print_calls ("GSM", calls);

  check_between ("GSM call, 5 % quantile, s", 28, 31,
      get_quantile (calls, 0.05));
  check_between ("GSM call, median, s", 28, 31, get_quantile (calls, 0.5));
  check_between ("GSM call, 95 % quantile, s", 28, 31,
      get_quantile (calls, 0.95));
  check_between ("GSM calls over 35 s, %", 0, 0, get_percent_over (calls, 35));
  check_between ("GSM calls that fail, %", 10, 15,
      100.0 * calls->failed / calls->calls);
  g_free (calls);
}

GST_END_TEST;

GST_START_TEST (nmt_calls_as_section_3_1_of_alanko)
{
  Calls *calls = make_calls (LINK_PROFILE_NMT);

  print_calls ("NMT", calls);
  check_between ("NMT call, 5 % quantile, s", 31, 35,
      get_quantile (calls, 0.05));
  check_between ("NMT call, median, s", 31, 35, get_quantile (calls, 0.5));
  check_between ("NMT call, 95 % quantile, s", 31, 35,
      get_quantile (calls, 0.95));
  check_line ("NMT calls over 35 s, %", 1, get_percent_over (calls, 35), 0.5);
  check_between ("NMT calls that fail, %", 2, 3,
      100.0 * calls->failed / calls->calls);
  check_between ("NMT failure seen after, least, s", 90, 95,
      calls->min_detection);
  check_between ("NMT failure seen after, most, s", 90, 95,
      calls->max_detection);
  g_free (calls);
}

GST_END_TEST;

/* Size in bytes of a packet in the measurements of Singh (2000, section 5.1):
 * 125 bytes of video plus the headers of RTP (7 bytes), UDP (8 bytes) and IP
 * (20 bytes). */

#define VIDEO_HEADER 35
#define VIDEO_PACKET (125 + VIDEO_HEADER)
#define VIDEO_PACKETS 100000

static gboolean
header_is_hit (const LinkPacket * packet)
{
  return packet->n_damage > 0 && packet->damage[0].offset < VIDEO_HEADER;
}

/* Sends VIDEO_PACKETS video packets and returns the percentage that is lost. If
 * `lite` is FALSE, the packets are sent with UDP over PPP, and PPP drops each
 * damaged packet because of its frame check. If `lite` is TRUE, they are sent
 * with UDP-Lite over PPP Lite, and only packets with damaged headers are lost.
 */
static gdouble
get_video_loss (const LinkConfig * template, gboolean lite)
{
  LinkConfig config = *template;
  guint lost = 0, sent = 0, ended = 0;
  LinkEvent event;
  Path path;

  config.blocks.frame_check = !lite;
  path_open (&path, &config);
  while (ended < VIDEO_PACKETS) {
    while (sent < VIDEO_PACKETS
        && link_has_room (path.link, path.flows[0], VIDEO_PACKET)) {
      link_input (path.link, path.now, path.flows[0], VIDEO_PACKET, NULL);
      sent++;
    }
    path.now = MAX (path.now, link_next_wakeup (path.link));
    link_timeout (path.link, path.now);
    while (link_poll_event (path.link, &event)) {
      if (event.type != LINK_EVENT_FATE)
        continue;
      ended++;
      lost += event.packet.fate == LINK_FATE_CHECK
          || header_is_hit (&event.packet);
    }
  }
  path_close (&path);
  return 100.0 * lost / VIDEO_PACKETS;
}

/* Losses of video packets that the model must reproduce.
 *
 * The first two rows are for the simulator WSim of Singh (2000). Singh shows
 * the losses of WSim only in graphs without numbers. The losses in these two
 * rows were therefore computed from the rules of WSim: a packet consists of 6
 * radio blocks, and 2 of these blocks contain headers.
 *
 * The last row is for the measurement in Singh's figure 15. Singh gives the
 * losses with UDP and with UDP-Lite, but neither the error rate of the blocks
 * nor the length of the bursts of errors. The error rate and the length of the
 * bursts in this row were therefore chosen so that the model has Singh's
 * losses. */
static const struct
{
  const gchar *name;
  gdouble rate, burst;          /* of blocks */
  gdouble udp, lite, within;    /* percent */
} video_runs[] = {
  {"WSim, 1.58 %, bursts of 1", 0.0158, 1, 9.0, 3.0, 0.5},
  {"WSim, 1.58 %, bursts of 2", 0.0158, 2, 5.3, 2.3, 0.5},
  {"live (figure 15), 0.85 %, bursts of 3.4", 0.0085, 3.4, 2.1, 1.1, 0.3}
};

GST_START_TEST (video_losses_as_singh)
{
  LinkConfig config;
  gchar *name;

  link_config_init (&config, LINK_PROFILE_GSM_TRANSPARENT, LINK_QUALITY_IDEAL);
  config.blocks.block_error_rate = video_runs[__i__].rate;
  config.blocks.mean_burst = video_runs[__i__].burst;
  name = g_strdup_printf ("%s: UDP, %%", video_runs[__i__].name);
  check_line (name, video_runs[__i__].udp, get_video_loss (&config, FALSE),
      video_runs[__i__].within);
  g_free (name);
  name = g_strdup_printf ("%s: UDP-Lite, %%", video_runs[__i__].name);
  check_line (name, video_runs[__i__].lite, get_video_loss (&config, TRUE),
      video_runs[__i__].within);
  g_free (name);
}

GST_END_TEST;

/* Simulates 100 pings with 500 bytes of data each, and returns their mean round
 * trip in s. Appendix B of Singh (2000) has the measured round trips of such
 * pings (ping -s 500). */
static gdouble
get_mean_ping (LinkProfile profile)
{
  gdouble sum = 0;
  LinkConfig config;
  Path path;
  guint i;

  link_config_init (&config, profile, LINK_QUALITY_IDEAL);
  path_open (&path, &config);
  for (i = 0; i < 100; i++) {
    guint64 begin = path.now += SECOND + i * 7 * MS;
    guint station;

    for (station = 0; station < 2; station++) {
      link_input (path.link, path.now, path.flows[station], 528, NULL);
      path.now = path_await (&path, station, 1);
    }
    sum += (path.now - begin) / 1e9;
  }
  path_close (&path);
  return sum / 100;
}

GST_START_TEST (pings_as_appendix_b_of_singh)
{
  check_line ("ping over RLP, s", 2.023, get_mean_ping (LINK_PROFILE_GSM),
      2.023 * 0.05);
  check_line ("ping without RLP, s", 1.576,
      get_mean_ping (LINK_PROFILE_GSM_TRANSPARENT), 1.576 * 0.05);
}

GST_END_TEST;

/* Traces of radio blocks */

/* Returns a trace of `n` radio blocks: a text with one character per block,
 * which is '1' if the block is damaged, and '0' otherwise. The blocks with the
 * indices `first` to `last` are damaged. The first block of the trace has the
 * index 0.
 */
static gchar *
make_trace (guint n, guint first, guint last)
{
  gchar *trace = g_strnfill (n, '0');

  memset (trace + first, '1', last - first + 1);
  return trace;
}

typedef struct
{
  guint n, delivered, reset, call, check;
  /* The indices of the first and the last lost packet. If no packet was lost,
   * the first index is larger than the last index. */
  guint first_lost, last_lost;
  guint max_attempts;
  gboolean in_order;
  /* For each packet, by its index: the time in ns at which it left the link; 0
   * = the packet was lost */
  guint64 departures[400];
  LinkStats stats;
} Course;

static void
note_fate (Course * course, const LinkEvent * event)
{
  const LinkPacket *packet = &event->packet;

  course->max_attempts = MAX (course->max_attempts, packet->attempts);
  course->reset += packet->fate == LINK_FATE_RESET;
  course->call += packet->fate == LINK_FATE_CALL;
  course->check += packet->fate == LINK_FATE_CHECK;
  if (packet->fate <= LINK_FATE_DAMAGED)
    return;
  course->first_lost = MIN (course->first_lost, packet->index);
  course->last_lost = MAX (course->last_lost, packet->index);
}

/* Sends `n` packets of `size` bytes through a new link with the configuration
 * `config`. The time between two packets is `interval`, in ns. Runs the link
 * until each packet is delivered or lost, and stores the results in `course`.
 */
static void
run_course (const LinkConfig * config, guint n, guint32 size,
    guint64 interval, Course * course)
{
  guint sent = 0, ended = 0, next = 0;
  LinkPacket packet;
  LinkEvent event;
  Path path;

  memset (course, 0, sizeof (*course));
  course->n = n;
  course->in_order = TRUE;
  course->first_lost = G_MAXUINT;
  path_open (&path, config);
  while (ended < n) {
    guint64 due = sent < n ? sent * interval : LINK_NEVER;

    path.now = MAX (path.now, MIN (due, link_next_wakeup (path.link)));
    fail_unless (path.now != LINK_NEVER);
    if (path.now == due) {
      link_input (path.link, path.now, path.flows[0], size, NULL);
      sent++;
    } else {
      link_timeout (path.link, path.now);
    }
    while (link_poll_output (path.link, &packet)) {
      course->delivered++;
      course->in_order &= packet.index >= next;
      next = packet.index + 1;
      course->departures[packet.index] = packet.departure;
    }
    while (link_poll_event (path.link, &event)) {
      if (event.type != LINK_EVENT_FATE)
        continue;
      ended++;
      note_fate (course, &event);
    }
  }
  link_get_stats (path.link, &course->stats);
  path_close (&path);
}

/* Sets `config` to the profile GSM with two traces, which say which radio
 * blocks are damaged: `up` is for the blocks that station 0 sends, and `down`
 * is for the blocks that it receives. If `down` is NULL, `up` is used for both
 * directions. */
static void
init_traced (LinkConfig * config, const gchar * up, const gchar * down)
{
  link_config_init (config, LINK_PROFILE_GSM, LINK_QUALITY_IDEAL);
  config->blocks.trace = up;
  config->blocks.trace_down = down;
}

/* Returns how much later, in ms, packet `n` leaves the link in the run `course`
 * than in the run `ideal`, which has no errors. */
static guint64
get_extra (const Course * course, const Course * ideal, guint n)
{
  return (course->departures[n] - ideal->departures[n]) / MS;
}

static const gchar *const all_good = "0";

/* Size in bytes of the packets in the tests of RLP, the link protocol of GSM. A
 * packet of this size that enters the link when radio block i begins is sent in
 * the next block, i + 1. The reasons are:
 * - Before the radio, the packet crosses a serial line, whose framing (SLIP)
 *   adds 2 bytes to the 17 bytes of the packet. The line needs almost 20 ms for
 *   these 19 bytes, and a radio block lasts 20 ms. The packet has therefore
 *   crossed the line just before block i + 1 begins.
 * - The packet fits into one RLP frame, and block i + 1 carries this frame. */
#define SMALL 17

static void
run_small (const LinkConfig * config, guint n, Course * course)
{
  run_course (config, n, SMALL, BLOCK, course);
}

static void
run_ideal (guint n, Course * course)
{
  LinkConfig config;

  init_traced (&config, all_good, NULL);
  run_small (&config, n, course);
  fail_unless_equals_int (course->delivered, n);
  fail_unless_equals_int (course->max_attempts, 1);
}

GST_START_TEST (lost_frame_is_rejected_and_sent_again)
{
  gchar *trace = make_trace (3000, 20, 20);
  Course course, ideal;
  LinkConfig config;
  guint i;

  run_ideal (50, &ideal);
  init_traced (&config, trace, all_good);
  run_small (&config, 50, &course);
  fail_unless_equals_int (course.delivered, 50);
  fail_unless (course.in_order);
  fail_unless_equals_int (course.max_attempts, 2);
  fail_unless_equals_int (course.stats.resets, 0);
  fail_unless_equals_uint64 (course.stats.blocks_hit, 1);
  fail_unless_equals_int (get_extra (&course, &ideal, 18), 0);
  /* The receiver detects the loss of frame 19 when frame 20 arrives, one block
   * later than frame 19 would have arrived. The request for a retransmission
   * takes 6 blocks to arrive, and so does the retransmitted frame. The loss
   * must therefore delay frame 19 by 1 + 6 + 6 = 13 blocks, which last 260 ms.
   */
  fail_unless_equals_int (get_extra (&course, &ideal, 19), 260);
  /* RLP delivers frames in order. Frames 20 to 31 arrived before the lost frame
   * 19 was retransmitted, and waited for it. They must leave at the same time
   * as frame 19. */
  for (i = 20; i < 32; i++)
    fail_unless_equals_uint64 (course.departures[i], course.departures[19]);
  fail_unless (get_extra (&course, &ideal, 40) <= BLOCK / MS);
  g_free (trace);
}

GST_END_TEST;

GST_START_TEST (lost_last_frame_is_found_by_a_checkpoint)
{
  gchar *trace = make_trace (3000, 10, 10);
  Course course, ideal;
  LinkConfig config;

  run_ideal (10, &ideal);
  init_traced (&config, trace, all_good);
  run_small (&config, 10, &course);
  fail_unless_equals_int (course.delivered, 10);
  fail_unless (course.in_order);
  fail_unless_equals_int (course.max_attempts, 2);
  fail_unless_equals_int (get_extra (&course, &ideal, 8), 0);
  /* The lost packet is the last one, so no later packet shows the receiver that
   * it is missing. Only a timer of the sender detects the loss: T1, the
   * retransmission timer, which started when the last acknowledgement arrived.
   * When T1 expires, the sender asks the receiver for its state (a poll). The
   * sender retransmits the packet only after the receiver has answered. */
  check_between ("extra delay of a checkpoint, ms", 480, 980,
      get_extra (&course, &ideal, 9));
  g_free (trace);
}

GST_END_TEST;

GST_START_TEST (lost_rejection_is_repeated)
{
  gchar *up = make_trace (3000, 20, 20);
  /* The frame in block 20 of the uplink is lost. The next frame, in block 21,
   * arrives when block 27 begins. The receiver then detects the loss, and
   * requests a retransmission by SREJ (selective reject) in block 27 of the
   * downlink. This block is lost as well. */
  gchar *down = make_trace (3000, 27, 27);
  Course course, ideal;
  LinkConfig config;

  run_ideal (50, &ideal);
  init_traced (&config, up, down);
  run_small (&config, 50, &course);
  fail_unless_equals_int (course.delivered, 50);
  fail_unless (course.in_order);
  fail_unless_equals_int (course.stats.resets, 0);
  check_between ("extra delay with the SREJ lost too, ms", 480, 980,
      get_extra (&course, &ideal, 19));
  g_free (down);
  g_free (up);
}

GST_END_TEST;

GST_START_TEST (lost_acknowledgements_cost_nothing)
{
  gchar *down = make_trace (3000, 15, 25);
  Course course, ideal;
  LinkConfig config;
  guint i;

  run_ideal (50, &ideal);
  init_traced (&config, all_good, down);
  run_small (&config, 50, &course);
  for (i = 0; i < 50; i++)
    fail_unless_equals_uint64 (course.departures[i], ideal.departures[i]);
  fail_unless_equals_int (course.max_attempts, 1);
  fail_unless_equals_uint64 (course.stats.blocks_hit, 11);
  g_free (down);
}

GST_END_TEST;

/* All radio blocks are lost for 10 s. RLP asks the peer for its state (a poll)
 * seven times and gets no answer. RLP then sends the frame SABM, which asks the
 * peer to reset the link. It repeats the SABM until the peer answers. The
 * packets that were in flight must be lost, and all other packets must be
 * delivered. */
GST_START_TEST (reset_loses_what_is_in_flight)
{
  gchar *trace = make_trace (3000, 100, 600);
  LinkConfig config;
  Course course;

  init_traced (&config, trace, all_good);
  run_course (&config, 100, SMALL, 200 * MS, &course);
  fail_unless_equals_int (course.stats.resets, 1);
  fail_unless (course.in_order);
  fail_unless (course.reset > 0);
  fail_unless_equals_int (course.delivered + course.reset, 100);
  fail_unless_equals_int (course.reset,
      course.last_lost - course.first_lost + 1);
  /* The blocks 100 to 600 are damaged. Packet 10 enters the link at 2.0 s. It
   * crosses the serial line until almost 2.02 s and is then sent in block 101.
   * It must therefore be the first lost packet. */
  fail_unless_equals_int (course.first_lost, 10);
  /* A packet enters the link every 200 ms: packet 10 at 2.0 s, packet 12 at 2.4
   * s, and packet 13 at 2.6 s. Packet 10 is the first lost packet. When its
   * frame is sent, at 2.02 s, RLP's retransmission timer T1 (480 ms) starts. T1
   * expires at 2.5 s, between packet 12 and packet 13. After T1 has expired, no
   * new frame is sent. Packet 12 is therefore the last packet that is sent
   * before T1 expires, and it must be the last lost packet. */
  fail_unless_equals_int (course.last_lost, 12);
  fail_unless (course.departures[13] > 601 * BLOCK);
  g_free (trace);
}

GST_END_TEST;

/* RLP, the link protocol of GSM, polls the peer (asks for its state) if the
 * acknowledgement of a frame is missing. T1 is RLP's retransmission timer, and
 * N2 is the number of times that RLP repeats a poll. In this test, all radio
 * blocks are lost. RLP must reset the link after these steps:
 * - A frame is lost, and T1 expires.
 * - The first poll is lost, and T1 expires.
 * - N2 more polls are lost, and T1 expires after each of them. */
GST_START_TEST (polls_are_repeated_n2_times)
{
  gchar *trace = make_trace (3000, 0, 2999);
  guint n2;

  for (n2 = 1; n2 <= 3; n2++) {
    LinkConfig config;
    LinkEvent event;
    Path path;

    init_traced (&config, trace, NULL);
    config.blocks.rlp_n2 = n2;
    path_open (&path, &config);
    link_input (path.link, 0, path.flows[0], 4, NULL);
    do {
      link_timeout (path.link, link_next_wakeup (path.link));
      while (!link_poll_event (path.link, &event))
        link_timeout (path.link, link_next_wakeup (path.link));
    } while (event.type != LINK_EVENT_FATE);
    fail_unless_equals_int (event.packet.fate, LINK_FATE_RESET);
    /* With the SLIP framing, the packet has 6 bytes. They cross the serial line
     * in less than 20 ms. The next radio block begins at the time BLOCK (20
     * ms). This block carries the packet, so the timer T1 starts at this time.
     */
    fail_unless_equals_uint64 (event.time, BLOCK + (n2 + 2) *
        config.blocks.rlp_t1);
    path_close (&path);
  }
  g_free (trace);
}

GST_END_TEST;

/* When RLP resets the link, both directions start again. In this test, one
 * packet in each direction is in flight at the time of the reset. Both packets
 * must be lost. */
GST_START_TEST (reset_is_of_both_directions)
{
  gchar *trace = make_trace (3000, 100, 600);
  guint i, fates[LINK_FATE_LAST] = { 0, };
  LinkConfig config;
  LinkEvent event;
  Path path;

  init_traced (&config, trace, NULL);
  path_open (&path, &config);
  path_run (&path, 100 * BLOCK);
  for (i = 0; i < 2; i++)
    link_input (path.link, path.now, path.flows[i], 100, NULL);
  while (link_next_wakeup (path.link) < 20 * SECOND) {
    link_timeout (path.link, link_next_wakeup (path.link));
    while (link_poll_event (path.link, &event)) {
      if (event.type == LINK_EVENT_FATE)
        fates[event.packet.fate]++;
    }
  }
  fail_unless_equals_int (fates[LINK_FATE_RESET], 2);
  fail_unless_equals_int (fates[LINK_FATE_DELIVERED], 0);
  path_close (&path);
  g_free (trace);
}

GST_END_TEST;

GST_START_TEST (disconnect_after_n2_dials_again)
{
  /* The radio loses the blocks 1800 to 2300, so RLP gives up. The set-up of the
   * phone call takes 28 s to 31 s, and block 1800 begins at 36 s. The call is
   * therefore connected when the losses begin. */
  gchar *trace = make_trace (10000, 1800, 2300);
  LinkConfig config;
  Course course;

  init_traced (&config, trace, all_good);
  config.blocks.rlp_after_n2 = LINK_AFTER_N2_DISCONNECT;
  config.dial_up.enabled = TRUE;
  config.dial_up.failure = 0;
  config.queue.packets = 0;
  run_course (&config, 200, SMALL, 400 * MS, &course);
  fail_unless_equals_uint64 (course.stats.calls, 2);
  fail_unless_equals_uint64 (course.stats.calls_broken, 1);
  fail_unless_equals_uint64 (course.stats.resets, 0);
  fail_unless (course.in_order);
  fail_unless (course.call > 0);
  fail_unless_equals_int (course.delivered + course.call, 200);
  fail_unless_equals_int (course.call,
      course.last_lost - course.first_lost + 1);
  g_free (trace);
}

GST_END_TEST;

/* The configuration says that RLP ends the phone call when its retransmissions
 * fail. This link has no dial-up, so there is no phone call. RLP must therefore
 * reset the link instead. */
GST_START_TEST (disconnect_without_dial_up_is_a_reset)
{
  gchar *trace = make_trace (3000, 100, 600);
  LinkConfig config;
  Course course;

  init_traced (&config, trace, all_good);
  config.blocks.rlp_after_n2 = LINK_AFTER_N2_DISCONNECT;
  run_course (&config, 100, SMALL, 200 * MS, &course);
  fail_unless_equals_int (course.stats.resets, 1);
  fail_unless (course.reset > 0);
  g_free (trace);
}

GST_END_TEST;

/* The radio blocks have the errors 11011 (1 = damaged), which are repeated
 * without end. RLP must recover from these periodic errors, if necessary by a
 * reset of the link. Each packet must be delivered, or lost because of a reset.
 */
GST_START_TEST (periodic_errors_end)
{
  LinkConfig config;
  Course course;

  init_traced (&config, "11011", NULL);
  run_small (&config, 100, &course);
  fail_unless (course.in_order);
  fail_unless_equals_int (course.delivered + course.reset, 100);
}

GST_END_TEST;

/* Station 0 is at one end of the link, and all other stations are at the other
 * end. The other stations share one serial line. Their packets must leave one
 * after the other, in the order in which they entered the link. */
GST_START_TEST (stations_share_the_other_end)
{
  guint i, flows[LINK_MAX_STATIONS];
  guint64 last = 0;
  LinkConfig config;
  LinkPacket packet;
  Path path;

  link_config_init (&config, LINK_PROFILE_GSM, LINK_QUALITY_IDEAL);
  path_open (&path, &config);
  for (i = 1; i < LINK_MAX_STATIONS; i++)
    flows[i] = link_add_flow (path.link, i);
  for (i = LINK_MAX_STATIONS - 1; i >= 1; i--)
    link_input (path.link, (LINK_MAX_STATIONS - i) * MS, flows[i], 94, NULL);
  for (i = LINK_MAX_STATIONS - 1; i >= 1; i--) {
    fail_unless (path_next_output (&path, LINK_NEVER - 1, &packet));
    fail_unless_equals_int (packet.station, i);
    /* With the SLIP framing, the packet has 96 bytes, for which the serial line
     * needs 100 ms. */
    fail_unless (last == 0 || packet.departure == last + 100 * MS);
    last = packet.departure;
  }
  path_close (&path);
}

GST_END_TEST;

/* A packet is sent in each radio block. During 1.6 s, all acknowledgements are
 * lost. The sender must stop when it has as many unacknowledged frames as the
 * RLP window allows. It must continue when acknowledgements arrive again. The
 * retransmission timer T1 is set to 5 s, so that it does not expire. */
GST_START_TEST (full_window_stalls_and_goes_on)
{
  gchar *down = make_trace (3000, 50, 130);
  Course course, ideal;
  LinkConfig config;

  run_ideal (200, &ideal);
  init_traced (&config, all_good, down);
  config.blocks.rlp_t1 = 5 * SECOND;
  run_small (&config, 200, &course);
  fail_unless_equals_int (course.delivered, 200);
  fail_unless (course.in_order);
  fail_unless_equals_int (course.max_attempts, 1);
  fail_unless_equals_int (get_extra (&course, &ideal, 100), 0);
  /* The last acknowledgement before the outage is sent in block 49. It
   * acknowledges the frames 0 to 42. The window allows 61 unacknowledged
   * frames, so the sender may still send the frames up to number 103. */
  fail_unless_equals_int (get_extra (&course, &ideal, 103), 0);
  fail_unless (get_extra (&course, &ideal, 110) >= 400);
  fail_unless (get_extra (&course, &ideal, 199) <= 400);
  g_free (down);
}

GST_END_TEST;

GST_START_TEST (many_errors_keep_order_and_lose_nothing)
{
  LinkConfig config;
  Course course;
  guint64 resets = 0;
  guint seed;

  link_config_init (&config, LINK_PROFILE_GSM, LINK_QUALITY_IDEAL);
  config.queue.packets = 0;
  config.blocks.block_error_rate = 0.3;
  for (seed = 0; seed < 60; seed++) {
    config.seed = seed;
    config.blocks.mean_burst = 1 + seed % 20;
    run_course (&config, 400, 1 + seed * 9, 300 * MS, &course);
    fail_unless (course.in_order);
    fail_unless_equals_int (course.delivered + course.reset, 400);
    fail_unless (course.reset == 0 || course.stats.resets > 0);
    resets += course.stats.resets;
  }
  g_print ("  resets in 60 runs at 30 %%: %" G_GUINT64_FORMAT "\n", resets);
}

GST_END_TEST;

GST_START_TEST (nothing_ticks_at_rest)
{
  LinkConfig config;
  Path path;

  link_config_init (&config, LINK_PROFILE_GSM, LINK_QUALITY_IDEAL);
  path_open (&path, &config);
  fail_unless_equals_uint64 (link_next_wakeup (path.link), LINK_NEVER);
  path_exchange (&path, 1024, 32);
  path_run (&path, path.now + SECOND);
  fail_unless_equals_uint64 (link_next_wakeup (path.link), LINK_NEVER);
  path_exchange (&path, 1, 1);
  path_run (&path, path.now + SECOND);
  fail_unless_equals_uint64 (link_next_wakeup (path.link), LINK_NEVER);
  path_close (&path);
}

GST_END_TEST;

/* Transparent */

/* The radio damages one block. All damaged bytes of the packet must be bytes
 * that this block carried. The first block of the packet carries 5 bytes of PPP
 * and 23 bytes of the packet. Each further block carries 28 bytes of the
 * packet. */
GST_START_TEST (damage_is_where_the_block_was)
{
  LinkConfig config;
  LinkPacket packet;
  gchar *trace;
  Path path;
  guint i;

  /* The packet has 100 bytes, and PPP adds 7 bytes. The serial line needs 111.5
   * ms for them. The radio sends them in the blocks 3 to 6. Block 4, which
   * carries the second part of the packet, is damaged. */
  trace = make_trace (1000, 4, 4);
  link_config_init (&config, LINK_PROFILE_GSM_TRANSPARENT, LINK_QUALITY_IDEAL);
  config.blocks.trace = trace;
  config.blocks.frame_check = FALSE;
  config.blocks.corrupt_share = 1;
  path_open (&path, &config);
  link_input (path.link, 0, path.flows[0], 100, NULL);
  while (!link_poll_output (path.link, &packet))
    link_timeout (path.link, link_next_wakeup (path.link));
  fail_unless_equals_int (packet.fate, LINK_FATE_DAMAGED);
  fail_unless_equals_int (packet.n_damage, 28);
  for (i = 0; i < 28; i++) {
    fail_unless_equals_int (packet.damage[i].offset, 23 + i);
    fail_unless (packet.damage[i].flip != 0);
  }
  /* The last bytes of the packet are in radio block 6. Each radio block lasts
   * 20 ms (BLOCK), and block 0 begins at the time 0. Block 6 therefore ends at
   * 7 * BLOCK. The delays of the radio and of the network add 200 ms. */
  fail_unless_equals_uint64 (packet.departure, 7 * BLOCK + 200 * MS);
  path_close (&path);
  g_free (trace);
}

GST_END_TEST;

static LinkFate
get_fate_of_hit (guint block, gboolean frame_check)
{
  gchar *trace = make_trace (1000, block, block);
  LinkConfig config;
  LinkEvent event;
  Path path;

  event.type = LINK_EVENT_QUALITY;
  link_config_init (&config, LINK_PROFILE_GSM_TRANSPARENT, LINK_QUALITY_IDEAL);
  config.blocks.trace = trace;
  config.blocks.frame_check = frame_check;
  config.blocks.corrupt_share = 1;
  path_open (&path, &config);
  /* PPP adds 7 bytes to the packet of 84 bytes. These 91 bytes are sent in the
   * blocks 2 to 5. Block 2 begins with the header of PPP. Block 5 carries the
   * last 7 bytes, and 2 of them are the frame check of PPP. */
  link_input (path.link, 0, path.flows[0], 84, NULL);
  do {
    link_timeout (path.link, link_next_wakeup (path.link));
    while (link_poll_event (path.link, &event)
        && event.type != LINK_EVENT_FATE);
  } while (event.type != LINK_EVENT_FATE);
  path_close (&path);
  g_free (trace);
  return event.packet.fate;
}

GST_START_TEST (frame_check_and_framing_decide_on_damage)
{
  fail_unless_equals_int (get_fate_of_hit (1, TRUE), LINK_FATE_DELIVERED);
  fail_unless_equals_int (get_fate_of_hit (2, TRUE), LINK_FATE_CHECK);
  fail_unless_equals_int (get_fate_of_hit (2, FALSE), LINK_FATE_CHECK);
  fail_unless_equals_int (get_fate_of_hit (3, TRUE), LINK_FATE_CHECK);
  fail_unless_equals_int (get_fate_of_hit (3, FALSE), LINK_FATE_DAMAGED);
  fail_unless_equals_int (get_fate_of_hit (5, TRUE), LINK_FATE_CHECK);
  fail_unless_equals_int (get_fate_of_hit (5, FALSE), LINK_FATE_DAMAGED);
  fail_unless_equals_int (get_fate_of_hit (6, TRUE), LINK_FATE_DELIVERED);
}

GST_END_TEST;

/* The serial line is much faster than the radio. A packet that has crossed the
 * line must wait until the radio has sent the blocks of all earlier packets. */
GST_START_TEST (fast_line_waits_for_the_radio)
{
  LinkConfig config;
  Course course;

  link_config_init (&config, LINK_PROFILE_GSM_TRANSPARENT, LINK_QUALITY_IDEAL);
  config.queue.packets = 0;
  config.blocks.serial_rate[0] = 1000000000;
  run_course (&config, 100, 273, 0, &course);
  fail_unless_equals_int (course.delivered, 100);
  /* A packet of 273 bytes and the 7 bytes of PPP need 10 radio blocks of 28
   * bytes. Each block lasts 20 ms (BLOCK), and block 0 begins at the time 0.
   * The bytes cross the serial line during block 0, so the blocks 1 to 10 carry
   * the packet. Block 10 ends at 11 * BLOCK. */
  fail_unless_equals_uint64 (course.departures[0], 11 * BLOCK + 200 * MS);
  fail_unless_equals_uint64 (course.departures[99] - course.departures[0],
      99 * 10 * BLOCK);
}

GST_END_TEST;

GST_START_TEST (recorded_run_overrides_the_radio)
{
  static const LinkFate fates[] = { LINK_FATE_AIR, LINK_FATE_DAMAGED,
    LINK_FATE_DELIVERED, LINK_FATE_CHECK
  };
  LinkConfig config;
  LinkEvent event;
  guint i, n = 0;
  Path path;

  link_config_init (&config, LINK_PROFILE_GSM_TRANSPARENT, LINK_QUALITY_IDEAL);
  config.blocks.trace = "1";
  config.pattern = "wirelesslink-pattern 1\nseed 42\n"
      "packet 0 0 1 air 0 0\npacket 0 1 1 damaged 0 0 3:f0\n"
      "packet 0 2 1 delivered 0 0\n";
  path_open (&path, &config);
  for (i = 0; i < G_N_ELEMENTS (fates); i++)
    link_input (path.link, 0, path.flows[0], 100, NULL);
  link_timeout (path.link, 10 * SECOND);
  while (link_poll_event (path.link, &event)) {
    if (event.type != LINK_EVENT_FATE)
      continue;
    fail_unless_equals_int (event.packet.fate, fates[event.packet.index]);
    n++;
    if (event.packet.fate != LINK_FATE_DAMAGED)
      continue;
    fail_unless_equals_int (event.packet.n_damage, 1);
    fail_unless_equals_int (event.packet.damage[0].offset, 3);
    fail_unless_equals_int (event.packet.damage[0].flip, 0xf0);
  }
  fail_unless_equals_int (n, G_N_ELEMENTS (fates));
  path_close (&path);
}

GST_END_TEST;

GST_START_TEST (traces_that_cannot_be_read)
{
  static const struct
  {
    const gchar *text;
    /* Expected error code of link_new (), or -1 if the trace is valid. */
    gint code;
  } traces[] = {
    {"0101\n# comment 2\n 11 0\n", -1},
    {"# no newline\n0 # here", -1},
    {"", LINK_ERROR_EMPTY},
    {"# nothing\n \t\n", LINK_ERROR_EMPTY},
    {"0\n0 2", LINK_ERROR_SYNTAX},
    {"0\xff", LINK_ERROR_SYNTAX}
  };
  LinkConfig config;
  guint i, model;

  for (model = LINK_MODEL_BLOCKS; model <= LINK_MODEL_RLP; model++) {
    for (i = 0; i < G_N_ELEMENTS (traces); i++) {
      GError *error = NULL;
      Link *link;

      link_config_init (&config, LINK_PROFILE_GSM, LINK_QUALITY_IDEAL);
      config.model = model;
      config.blocks.trace = traces[i].text;
      link = link_new (&config, &error);
      fail_unless_equals_int (error ? error->code : -1, traces[i].code);
      fail_unless ((link == NULL) == (error != NULL));
      g_clear_error (&error);
      if (link)
        link_free (link, NULL);
    }
  }
}

GST_END_TEST;

/* Calls */

/* A phone call may break off at any time. Each packet must be either delivered
 * or reported as lost. */
GST_START_TEST (calls_that_break_lose_what_is_under_way)
{
  static const LinkProfile profiles[] = { LINK_PROFILE_GSM,
    LINK_PROFILE_GSM_TRANSPARENT, LINK_PROFILE_NMT
  };
  LinkConfig config;
  Course course;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (profiles); i++) {
    link_config_init (&config, profiles[i], LINK_QUALITY_GOOD);
    config.dial_up.enabled = TRUE;
    config.dial_up.mean_time_to_break = 10 * SECOND;
    config.blocks.frame_check = FALSE;
    config.queue.packets = 0;
    run_course (&config, 300, 500, 100 * MS, &course);
    fail_unless (course.in_order);
    fail_unless (course.stats.calls_broken > 5);
    fail_unless (course.call > 0);
    fail_unless_equals_int (course.delivered + course.call + course.reset +
        course.check, 300);
    /* When a phone call breaks off, the packets that are on the serial line or
     * in flight are lost. There are at most four of them. */
    fail_unless (course.call <= 4 * course.stats.calls_broken);
  }
}

GST_END_TEST;

/* A phone call breaks off before a single packet has been transmitted. Only the
 * packet that is on the serial line at this time must be lost. The packets in
 * the queue must stay there until the next call.
 */
GST_START_TEST (break_takes_the_packet_on_the_line)
{
  static const LinkProfile profiles[] = { LINK_PROFILE_GSM,
    LINK_PROFILE_GSM_TRANSPARENT, LINK_PROFILE_NMT
  };
  guint64 broken = LINK_NEVER;
  guint i, lost = 0;
  LinkConfig config;
  LinkStats stats;
  LinkEvent event;
  Path path;

  link_config_init (&config, profiles[__i__], LINK_QUALITY_IDEAL);
  config.dial_up.enabled = TRUE;
  config.dial_up.failure = 0;
  config.dial_up.mean_time_to_break = 10 * MS;
  path_open (&path, &config);
  for (i = 0; i < 5; i++)
    link_input (path.link, 0, path.flows[0], 1400, NULL);
  link_timeout (path.link, 1000 * SECOND);
  while (link_poll_event (path.link, &event)) {
    if (event.type == LINK_EVENT_CALL && event.call == LINK_CALL_IDLE)
      broken = event.time;
    if (event.type != LINK_EVENT_FATE)
      continue;
    fail_unless_equals_int (event.packet.fate, LINK_FATE_CALL);
    fail_unless_equals_uint64 (event.packet.index, lost++);
    fail_unless_equals_uint64 (event.time, broken);
  }
  link_get_stats (path.link, &stats);
  fail_unless_equals_int (lost, 5);
  fail_unless_equals_uint64 (stats.calls, 5);
  fail_unless_equals_uint64 (stats.calls_broken, 5);
  fail_unless_equals_uint64 (link_next_wakeup (path.link), LINK_NEVER);
  path_close (&path);
}

GST_END_TEST;

GST_START_TEST (call_is_made_when_a_packet_waits)
{
  LinkConfig config;
  LinkStats stats;
  Path path;

  link_config_init (&config, LINK_PROFILE_GSM, LINK_QUALITY_IDEAL);
  config.dial_up.enabled = TRUE;
  config.dial_up.failure = 0;
  path_open (&path, &config);
  path_run (&path, 100 * SECOND);
  fail_unless_equals_uint64 (link_next_wakeup (path.link), LINK_NEVER);
  fail_unless (link_get_quality (path.link, 0) == 0);
  link_input (path.link, path.now, path.flows[0], 100, NULL);
  path.now = path_await (&path, 0, 1);
  link_get_stats (path.link, &stats);
  fail_unless_equals_uint64 (stats.calls, 1);
  fail_unless (stats.setup_time >= 28 * SECOND);
  fail_unless (path.now > 100 * SECOND + stats.setup_time);
  fail_unless (link_get_quality (path.link, 0) == 1);
  path_run (&path, path.now + SECOND);
  fail_unless_equals_uint64 (link_next_wakeup (path.link), LINK_NEVER);
  path_close (&path);
}

GST_END_TEST;

/* The phone call ends as soon as the link has contained no packet for the time
 * `hang_up_after`, and not earlier. A packet that arrives before the end must
 * use the same call. A packet that arrives after the end must start a new call.
 */
GST_START_TEST (call_ends_when_nobody_uses_it)
{
  const guint64 after = 10 * SECOND;
  LinkConfig config;
  LinkStats stats;
  Path path;

  link_config_init (&config, LINK_PROFILE_GSM, LINK_QUALITY_IDEAL);
  config.dial_up.enabled = TRUE;
  config.dial_up.failure = 0;
  config.dial_up.hang_up_after = after;
  path_open (&path, &config);
  link_input (path.link, path.now, path.flows[0], 100, NULL);
  path.now = path_await (&path, 0, 1);
  fail_unless_equals_uint64 (link_next_wakeup (path.link), path.now + after);
  path_run (&path, path.now + after - 1);
  link_input (path.link, path.now, path.flows[0], 100, NULL);
  path.now = path_await (&path, 0, 1);
  link_get_stats (path.link, &stats);
  fail_unless_equals_uint64 (stats.calls, 1);
  fail_unless_equals_uint64 (link_next_wakeup (path.link), path.now + after);
  path_run (&path, path.now + after);
  fail_unless (link_get_quality (path.link, 0) == 0);
  fail_unless_equals_uint64 (link_next_wakeup (path.link), LINK_NEVER);
  link_input (path.link, path.now, path.flows[0], 100, NULL);
  path.now = path_await (&path, 0, 1);
  link_get_stats (path.link, &stats);
  fail_unless_equals_uint64 (stats.calls, 2);
  fail_unless_equals_uint64 (stats.calls_broken, 0);
  path_close (&path);
}

GST_END_TEST;

/* The same seed must produce the same events. */

static void
log_event (GString * log, const LinkEvent * event)
{
  g_string_append_printf (log, "%d %" G_GUINT64_FORMAT " %u %d %u %"
      G_GUINT64_FORMAT " %u %d %g\n", event->type, event->time, event->station,
      event->packet.fate, event->packet.attempts, event->packet.airtime,
      event->packet.n_damage, event->call, event->quality);
}

/* Runs a link with the profile `profile` for 5 minutes. Each second, a packet
 * of `size` bytes is sent in each direction. Returns the events of the link as
 * a text. If `quality` is TRUE, the text contains only the changes of the link
 * quality. */
static gchar *
get_log (LinkProfile profile, guint64 seed, guint32 size, gboolean quality)
{
  GString *log = g_string_new (NULL);
  LinkConfig config;
  LinkEvent event;
  guint i, flow;
  Path path;

  link_config_init (&config, profile, LINK_QUALITY_POOR);
  config.seed = seed;
  config.dial_up.enabled = !quality;
  config.dial_up.mean_time_to_break = 60 * SECOND;
  path_open (&path, &config);
  for (i = 0; i < 300; i++) {
    for (flow = 0; flow < 2; flow++)
      link_input (path.link, i * SECOND, path.flows[flow], size, NULL);
    while (link_poll_event (path.link, &event)) {
      if (!quality || event.type == LINK_EVENT_QUALITY)
        log_event (log, &event);
    }
  }
  path_close (&path);
  fail_unless (log->len > 100);
  return g_string_free (log, FALSE);
}

static const LinkProfile gsm_profiles[] = {
  LINK_PROFILE_GSM, LINK_PROFILE_GSM_TRANSPARENT
};

GST_START_TEST (seed_decides_everything)
{
  LinkProfile profile = gsm_profiles[__i__];
  gchar *one = get_log (profile, 1, 300, FALSE);
  gchar *again = get_log (profile, 1, 300, FALSE);
  gchar *other = get_log (profile, 2, 300, FALSE);

  fail_unless_equals_string (one, again);
  fail_unless (strcmp (one, other) != 0);
  g_free (other);
  g_free (again);
  g_free (one);
}

GST_END_TEST;

GST_START_TEST (traffic_does_not_change_the_radio)
{
  LinkProfile profile = gsm_profiles[__i__];
  gchar *small = get_log (profile, 1, 10, TRUE);
  gchar *large = get_log (profile, 1, 1000, TRUE);
  gchar *other = get_log (profile, 2, 10, TRUE);

  fail_unless_equals_string (small, large);
  fail_unless (strcmp (small, other) != 0);
  g_free (other);
  g_free (large);
  g_free (small);
}

GST_END_TEST;

/* The caller advances the link by calls of link_timeout (). The departure times
 * must not depend on how often it does so. */
GST_START_TEST (looking_changes_nothing)
{
  LinkConfig config;
  Course course;
  guint64 now;
  Path path;
  guint i;

  link_config_init (&config, gsm_profiles[__i__], LINK_QUALITY_POOR);
  config.queue.packets = 0;
  config.blocks.frame_check = FALSE;
  run_course (&config, 100, 200, 250 * MS, &course);
  path_open (&path, &config);
  for (i = 0, now = 0; i < 100; i++) {
    for (; now < i * 250 * MS; now += 3 * MS + 7)
      link_timeout (path.link, now);
    link_input (path.link, i * 250 * MS, path.flows[0], 200, NULL);
  }
  for (i = 0; i < 10000; i++) {
    LinkPacket packet;

    now += 77 * MS;
    link_timeout (path.link, now);
    while (link_poll_output (path.link, &packet))
      fail_unless_equals_uint64 (packet.departure,
          course.departures[packet.index]);
  }
  path_close (&path);
}

GST_END_TEST;

static Suite *
link_cellular_suite (void)
{
  Suite *s = suite_create ("linkcellular");
  TCase *papers = tcase_create ("papers");
  TCase *rlp = tcase_create ("rlp");
  TCase *blocks = tcase_create ("blocks");
  TCase *calls = tcase_create ("calls");

  tcase_set_timeout (papers, 120);
  suite_add_tcase (s, papers);
  tcase_add_loop_test (papers, gsm_exchanges_as_table_4_of_alanko, 0,
      G_N_ELEMENTS (exchanges));
  tcase_add_loop_test (papers, nmt_exchanges_as_table_3_of_alanko, 0,
      G_N_ELEMENTS (exchanges));
  tcase_add_test (papers, gsm_bulk_as_section_3_3_of_alanko);
  tcase_add_test (papers, nmt_bulk_as_section_3_3_of_alanko);
  tcase_add_loop_test (papers, bulk_in_15_minutes_as_table_5_of_alanko, 0, 3);
  tcase_add_test (papers, gsm_bulk_stagnates_as_figure_7_of_alanko);
  tcase_add_test (papers, gsm_calls_as_section_3_1_of_alanko);
  tcase_add_test (papers, nmt_calls_as_section_3_1_of_alanko);
  tcase_add_loop_test (papers, video_losses_as_singh, 0,
      G_N_ELEMENTS (video_runs));
  tcase_add_test (papers, pings_as_appendix_b_of_singh);

  suite_add_tcase (s, rlp);
  tcase_add_test (rlp, lost_frame_is_rejected_and_sent_again);
  tcase_add_test (rlp, lost_last_frame_is_found_by_a_checkpoint);
  tcase_add_test (rlp, lost_rejection_is_repeated);
  tcase_add_test (rlp, lost_acknowledgements_cost_nothing);
  tcase_add_test (rlp, reset_loses_what_is_in_flight);
  tcase_add_test (rlp, polls_are_repeated_n2_times);
  tcase_add_test (rlp, reset_is_of_both_directions);
  tcase_add_test (rlp, disconnect_after_n2_dials_again);
  tcase_add_test (rlp, disconnect_without_dial_up_is_a_reset);
  tcase_add_test (rlp, periodic_errors_end);
  tcase_add_test (rlp, stations_share_the_other_end);
  tcase_add_test (rlp, full_window_stalls_and_goes_on);
  tcase_add_test (rlp, many_errors_keep_order_and_lose_nothing);
  tcase_add_test (rlp, nothing_ticks_at_rest);

  suite_add_tcase (s, blocks);
  tcase_add_test (blocks, damage_is_where_the_block_was);
  tcase_add_test (blocks, frame_check_and_framing_decide_on_damage);
  tcase_add_test (blocks, fast_line_waits_for_the_radio);
  tcase_add_test (blocks, recorded_run_overrides_the_radio);
  tcase_add_test (blocks, traces_that_cannot_be_read);

  suite_add_tcase (s, calls);
  tcase_add_test (calls, calls_that_break_lose_what_is_under_way);
  tcase_add_loop_test (calls, break_takes_the_packet_on_the_line, 0, 3);
  tcase_add_test (calls, call_is_made_when_a_packet_waits);
  tcase_add_test (calls, call_ends_when_nobody_uses_it);
  tcase_add_loop_test (calls, seed_decides_everything, 0,
      G_N_ELEMENTS (gsm_profiles));
  tcase_add_loop_test (calls, traffic_does_not_change_the_radio, 0,
      G_N_ELEMENTS (gsm_profiles));
  tcase_add_loop_test (calls, looking_changes_nothing, 0,
      G_N_ELEMENTS (gsm_profiles));
  return s;
}

GST_CHECK_MAIN (link_cellular);
