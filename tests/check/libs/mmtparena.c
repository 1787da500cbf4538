/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the arena. The arena simulates two transports on the same links:
 * MMTP, and RTP, which runs over UDP. The arena compares the results of the two
 * transports with each other and with the possible result. The possible result
 * is the number of frames that a sender could deliver if it knew in advance how
 * much the links will carry. The benchmark tests/benchmarks/mmtparena.c prints
 * all results of the arena.
 *
 * This file tests four parts of the arena:
 * - how the possible result is computed,
 * - which frames count as decodable,
 * - the traces of the links,
 * - the model of TCP.
 *
 * In addition, it runs some scenarios whose results can be computed by hand. */

#include <gst/check/gstcheck.h>

#include <math.h>

#include "arenabonds.h"

#define MS LINK_MS
#define SECOND LINK_SECOND

/* --- possible results ----------------------------------------------------- */

GST_START_TEST (possible_result_is_near_the_optimum)
{
  gdouble worst, mean = arena_possible_check (500, 1, &worst);

  fail_unless (mean >= 0.99, "%.4f in the mean", mean);
  fail_unless (worst <= 1, "more than the optimum");
}

GST_END_TEST;

/* There are 25 frames of one packet each, one every 40 ms from 0 to 960 ms. The
 * link can send a packet only every 80 ms, so it can carry about half of the
 * frames. A frame that is sent after 960 ms must also be counted if it meets
 * its deadline. */
GST_START_TEST (half_the_rate_carries_half_of_the_packets)
{
  static const ArenaPossibleConfig config = { 0, 100 * MS, 0 };
  GArray *opportunities = g_array_new (FALSE, FALSE, sizeof (ArenaOpportunity));
  GArray *frames = arena_make_packets (1000, 40 * MS, SECOND);
  ArenaSupply *supply;
  guint i;

  for (i = 0; i < 25; i++) {
    ArenaOpportunity opportunity = { i * 80 * MS, i * 80 * MS, i * 80 * MS,
      1000 + ARENA_RTP_HEADERS
    };

    g_array_append_val (opportunities, opportunity);
  }
  supply = arena_supply_new (opportunities);
  /* The link can send a frame at 0, 80, ..., 960 ms. The last frame is made at
   * 960 ms and has its deadline 100 ms later, so the link can send one more
   * frame at 1040 ms. In total, these are 14 frames. */
  fail_unless_equals_int (arena_possible_count (frames, supply, &config, NULL),
      14);
  arena_supply_free (supply);
  g_array_unref (frames);
}

GST_END_TEST;

/* --- frames --------------------------------------------------------------- */

/* In coding order, the stream is I0 P1 B2 B3 I4 B5 B6 P7. P1 arrives too late.
 * All B-frames refer to P1: B2 and B3 are shown directly before P1, and B5 and
 * B6 are shown between P1 and I4. The B-frames cannot be decoded in time. Only
 * I0, I4 and P7 must count as decodable. */
GST_START_TEST (frames_need_their_references)
{
  static const ArenaType types[] = { ARENA_TYPE_I, ARENA_TYPE_P, ARENA_TYPE_B,
    ARENA_TYPE_B, ARENA_TYPE_I, ARENA_TYPE_B, ARENA_TYPE_B, ARENA_TYPE_P
  };
  static const gboolean in_time[] = { TRUE, FALSE, TRUE, TRUE, TRUE, TRUE, TRUE,
    TRUE
  };
  static const gboolean expected[] = { TRUE, FALSE, FALSE, FALSE, TRUE, FALSE,
    FALSE, TRUE
  };
  GArray *frames = g_array_new (FALSE, TRUE, sizeof (ArenaFrame));
  gboolean decodable[G_N_ELEMENTS (types)];
  guint i;

  g_array_set_size (frames, G_N_ELEMENTS (types));
  for (i = 0; i < G_N_ELEMENTS (types); i++)
    g_array_index (frames, ArenaFrame, i).type = types[i];
  arena_frames_set_references (frames);
  fail_unless_equals_int (arena_frames_decode (frames, in_time, decodable), 3);
  for (i = 0; i < G_N_ELEMENTS (types); i++)
    fail_unless_equals_int (decodable[i], expected[i]);
  g_array_unref (frames);
}

GST_END_TEST;

/* --- traces --------------------------------------------------------------- */

GST_START_TEST (traces_begin_anywhere_and_repeat)
{
  ArenaTrace *trace = arena_trace_new ("test");
  gchar *text;

  arena_trace_add (trace, 10);
  arena_trace_add (trace, 30);
  text = arena_trace_get_text (trace, 20, 60);
  fail_unless_equals_string (text, "10\n20\n40\n50\n61\n");
  g_free (text);
  arena_trace_free (trace);
}

GST_END_TEST;

/* --- TCP ------------------------------------------------------------------ */

/* Simulates a TCP connection on a link of 20 Mbit/s, and returns its rate in
 * bit/s. The only other traffic is a stream of negligible rate. */
static gdouble
measure_tcp (TcpAlgorithm algorithm)
{
  GArray *frames = arena_make_packets (100, SECOND, 30 * SECOND);
  ArenaSimulationConfig config = { NULL };
  ArenaRecord record;
  ArenaPath path;
  gdouble rate;

  arena_path_init (&path, 20000000, 25 * MS);
  path.config[ARENA_FORWARD].queue.packets = 83;
  config.paths = &path;
  config.n_paths = config.n = config.n_sessions = config.n_tcp = 1;
  config.duration = 30 * SECOND;
  config.measure_from = 10 * SECOND;
  config.measure_to = 30 * SECOND;
  config.sessions[0].transport = ARENA_UDP;
  config.sessions[0].frames = frames;
  config.tcp[0].algorithm = algorithm;
  arena_simulation_run (&config, &record);
  rate = record.tcp_measured_bytes[0] * 8 / 20.0;
  arena_record_clear (&record);
  g_array_unref (frames);
  return rate;
}

GST_START_TEST (tcp_alone_fills_the_link)
{
  TcpAlgorithm algorithm;

  for (algorithm = TCP_RENO; algorithm <= TCP_CUBIC; algorithm++) {
    gdouble rate = measure_tcp (algorithm);

    fail_unless (rate > 0.9 * 20e6, "%s: %g bit/s",
        algorithm == TCP_RENO ? "Reno" : "CUBIC", rate);
  }
}

GST_END_TEST;

/* --- scenarios ------------------------------------------------------------ */

static ArenaGroups *
load_groups (void)
{
  GError *error = NULL;
  ArenaGroups *groups = arena_groups_new (ARENA_SOURCE_DIR "/tests/check/data",
      NULL, &error);

  g_assert_no_error (error);
  return groups;
}

static const ArenaScenario *
find_scenario (const ArenaGroups * groups, const gchar * group,
    const gchar * name)
{
  guint i;

  for (i = 0; i < groups->scenarios->len; i++) {
    const ArenaScenario *scenario = g_ptr_array_index (groups->scenarios, i);

    if (g_str_equal (scenario->group, group)
        && g_str_equal (scenario->name, name))
      return scenario;
  }
  g_assert_not_reached ();
}

/* Runs one case with two paths through a bottleneck, and one with a path whose
 * delay changes and that has a cut. The stream is slower than the first path, so
 * all frames are in time. */
GST_START_TEST (stream_over_shared_and_changing_links_arrives_in_time)
{
  static const gchar *const names[] = {
    "two through one bottleneck of 6M, stream of 4M",
    "two of 6M, one swings from 100 to 1200 ms, stream of 4M"
  };
  ArenaGroups *groups = load_groups ();
  GPtrArray *cases = arena_bonds_get_cases (groups);
  ArenaOutcome outcome;
  guint i, k, n = 0;

  for (i = 0; i < cases->len; i++) {
    const ArenaScenario *scenario = g_ptr_array_index (cases, i);

    for (k = 0; k < G_N_ELEMENTS (names); k++) {
      if (!g_str_equal (scenario->name, names[k]))
        continue;
      arena_scenario_run (scenario, 0, &outcome);
      fail_unless_equals_int (outcome.state, ARENA_OUTCOME_DONE);
      fail_unless_equals_float (outcome.possible, 1);
      fail_unless_equals_float (outcome.mmtp.decodable, 1);
      n++;
    }
  }
  fail_unless_equals_int (n, G_N_ELEMENTS (names));
  g_ptr_array_unref (cases);
  arena_groups_free (groups);
}

GST_END_TEST;

GST_START_TEST (stream_over_constant_link_arrives_in_time)
{
  ArenaGroups *groups = load_groups ();
  ArenaOutcome outcome;

  arena_scenario_run (find_scenario (groups, "constant",
          "3M, 10 ms, load 0.5"), 0, &outcome);
  fail_unless_equals_int (outcome.state, ARENA_OUTCOME_DONE);
  fail_unless_equals_float (outcome.possible, 1);
  fail_unless_equals_float (outcome.udp.decodable, 1);
  fail_unless (outcome.mmtp.decodable >= 0.95);
  fail_unless (outcome.mmtp.p95 < 500);
  /* A full packet carries 1384 bytes of the video and 68 bytes of headers: 24
   * bytes of MMTP, 16 bytes of RTP, and 28 bytes of UDP and IP. Some packets
   * are not full. The ratio of sent bytes to video bytes must therefore be
   * greater than 1452 / 1384.
   */
  fail_unless (outcome.mmtp.sent_per_played > 1452.0 / 1384);
  arena_groups_free (groups);
}

GST_END_TEST;

/* The bitrate of the stream is 1.5 times the rate of the link. RTP over UDP
 * sends the whole stream, so the long queue of the link fills up and delays all
 * packets. Less than 10 % of the frames must be decodable in time. */
GST_START_TEST (an_overloaded_link_is_too_late)
{
  ArenaGroups *groups = load_groups ();
  ArenaOutcome outcome;

  arena_scenario_run (find_scenario (groups, "constant",
          "1M, 10 ms, load 1.5"), 0, &outcome);
  fail_unless (outcome.possible > 0.5 && outcome.possible < 0.7,
      "possible: %.3f", outcome.possible);
  fail_unless (outcome.udp.decodable < 0.1);
  fail_unless (outcome.udp.queueing_p95 > 1000);
  fail_unless (isinf (outcome.udp.p99) || outcome.udp.p99 > 500);
  arena_groups_free (groups);
}

GST_END_TEST;

GST_START_TEST (a_run_is_the_same_each_time)
{
  ArenaGroups *groups = load_groups ();
  const ArenaScenario *scenario = find_scenario (groups, "loss",
      "random 5 %, 3M");
  ArenaOutcome first, second, other;

  arena_scenario_run (scenario, 1, &first);
  arena_scenario_run (scenario, 1, &second);
  arena_scenario_run (scenario, 2, &other);
  fail_unless (first.mmtp.sent_per_played == second.mmtp.sent_per_played);
  fail_unless (first.mmtp.queueing_mean == second.mmtp.queueing_mean);
  fail_unless (first.mmtp.sent_per_played != other.mmtp.sent_per_played);
  arena_groups_free (groups);
}

GST_END_TEST;

/* The link follows a recorded trace, and its rate is often lower than the
 * bitrate of the stream. MMTP must therefore drop frames. It must not send a
 * frame that refers to a frame that it has dropped. */
GST_START_TEST (no_frame_is_sent_without_its_references)
{
  ArenaGroups *groups = load_groups ();
  const ArenaScenario *scenario = find_scenario (groups, "cellular",
      "poor, 6M");
  ArenaOutcome outcome;
  guint run;

  for (run = 0; run < 4; run++) {
    arena_scenario_run_mmtp (scenario, run, &outcome);
    fail_unless (outcome.mmtp.decodable < 0.5, "the link was not overloaded");
    fail_unless_equals_float (outcome.mmtp.orphans, 0);
    fail_unless (outcome.mmtp.vain >= 0 && outcome.mmtp.vain < 1);
  }
  arena_groups_free (groups);
}

GST_END_TEST;

/* Runs the first scenario of each group once, to check that the scenario can be
 * simulated and has a plausible result. */
GST_START_TEST (every_group_runs)
{
  ArenaGroups *groups = load_groups ();
  const gchar *last = "";
  guint i;

  for (i = 0; i < groups->scenarios->len; i++) {
    const ArenaScenario *scenario = g_ptr_array_index (groups->scenarios, i);
    ArenaOutcome outcome;

    if (g_str_equal (scenario->group, last))
      continue;
    last = scenario->group;
    arena_scenario_run (scenario, 0, &outcome);
    fail_unless_equals_int (outcome.state, ARENA_OUTCOME_DONE);
    fail_unless (isnan (outcome.possible) || (outcome.possible > 0
            && outcome.possible <= 1));
  }
  arena_groups_free (groups);
}

GST_END_TEST;

static Suite *
mmtparena_suite (void)
{
  Suite *suite = suite_create ("mmtparena");
  TCase *tests = tcase_create ("mmtparena");

  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, possible_result_is_near_the_optimum);
  tcase_add_test (tests, half_the_rate_carries_half_of_the_packets);
  tcase_add_test (tests, frames_need_their_references);
  tcase_add_test (tests, traces_begin_anywhere_and_repeat);
  tcase_add_test (tests, tcp_alone_fills_the_link);
  tcase_add_test (tests, stream_over_constant_link_arrives_in_time);
  tcase_add_test (tests, stream_over_shared_and_changing_links_arrives_in_time);
  tcase_add_test (tests, an_overloaded_link_is_too_late);
  tcase_add_test (tests, a_run_is_the_same_each_time);
  tcase_add_test (tests, no_frame_is_sent_without_its_references);
  tcase_add_test (tests, every_group_runs);
  return suite;
}

GST_CHECK_MAIN (mmtparena);
