/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests paths that fail and return during a video stream, in virtual time
 * (Magalhães and Kravets 2001, 4.6). Most tests have two paths. Each of the two
 * paths is fast enough for the whole stream.
 *
 * If the sender is told in advance that a path is going to fail, no frame may
 * be lost. If a path is cut without such a warning, some frames may be lost:
 * those that are in flight when the path is cut, and those that are put into
 * the sender in the next 300 ms.
 *
 * Further tests reproduce problems that users of bonding (the use of several
 * links as one) have reported:
 * - paths that answer quickly but deliver nothing,
 * - paths that fail and return again and again,
 * - paths whose delay jumps.
 */

#include <gst/check/gstcheck.h>

#include "mmtpsimulation.h"

#define MS VIRTUAL_LINK_MS
#define SECOND VIRTUAL_LINK_SECOND

#define CUT (10 * SECOND)
#define BACK (20 * SECOND)
#define END (40 * SECOND)
/* Maximum time in ns that the sender may need to detect the sudden failure of a
 * path. Frames that are put into the sender during this time may be lost. */
#define SURPRISE (300 * MS)

#define MEGABIT 125000          /* bytes per second */
#define QUEUE(rate) ((rate) / 2)        /* 500 ms */

static MmtpSimulationPathConfig *
add_path (MmtpSimulationConfig * config, guint64 rate, guint64 delay)
{
  VirtualLinkPath path = { rate, delay, 0, FALSE, FALSE, QUEUE (rate) };

  return mmtp_simulation_config_add_path (config, &path, &path);
}

/* Configures a video stream of 600 kbit/s that lasts 40 s, and two paths of
 * 1.5 Mbit/s each. The stream has I-, P- and B-frames, 25 per second. `limit`
 * is the latency of the session in ns. A frame that arrives later than this is
 * late. */
static void
config_init (MmtpSimulationConfig * config, guint64 limit, guint64 seed)
{
  mmtp_simulation_config_init (config, &mmtp_simulation_cores);
  config->seed = seed;
  mmtp_simulation_config_set_source (config, 1000, 40 * MS, 3000);
  config->source.video = TRUE;
  config->sender.max_delay = config->sender.initial_delay = limit;
  add_path (config, MEGABIT * 3 / 2, 20 * MS);
  add_path (config, MEGABIT * 3 / 2, 70 * MS);
}

static MmtpSimulation *
run (MmtpSimulationConfig * config, const gchar * what)
{
  const MmtpSimulationResult *result;
  MmtpSimulation *simulation;

  config->verbose = g_getenv ("MMTP_VERBOSE") != NULL;
  simulation = mmtp_simulation_new (config);
  mmtp_simulation_run (simulation);
  g_print ("  %-44s", what);
  if (g_getenv ("MMTP_PRINT")) {
    g_print ("\n");
    mmtp_simulation_print (simulation);
  }
  result = mmtp_simulation_get_result (simulation);
  fail_unless_equals_string (result->errors->str, "");
  fail_unless (result->ready);
  fail_unless_equals_int (result->frames, 1000);
  return simulation;
}

/* Checks that a frame is lost only for one of two reasons: it was put into the
 * sender at a time in [from, to), or it refers to such a lost frame. No frame
 * may be late. */
static void
check_lost_only (MmtpSimulation * simulation, guint64 from, guint64 to)
{
  const MmtpSimulationResult *result = mmtp_simulation_get_result (simulation);
  guint then = mmtp_simulation_count_lost (simulation, from, to);
  guint useless = mmtp_simulation_count_useless (simulation, to, END);
  guint all = mmtp_simulation_count_lost (simulation, 0, END);

  g_print (" lost %u in %.1f s, %u that need them, %u else; %" G_GUINT64_FORMAT
      " late\n", then, (to - from) / 1e9, useless, all - then - useless,
      result->late_packets);
  fail_unless_equals_int (all, then + useless);
  fail_unless_equals_int (result->too_late, 0);
  fail_unless_equals_uint64 (result->late_packets, 0);
}

static void
check_carries (MmtpSimulation * simulation, guint path, guint64 min)
{
  guint64 data =
      mmtp_simulation_get_result (simulation)->paths[path].data_packets;

  fail_unless (data >= min, "path %u carried %" G_GUINT64_FORMAT, path, data);
}

/* --- one of two paths fails ----------------------------------------------- */

static void
run_cut (guint path, guint64 limit, guint64 phase)
{
  MmtpSimulationConfig config;
  gchar *what = g_strdup_printf ("cut of %u, D0 %u ms, %u ms later", path,
      (guint) (limit / MS), (guint) (phase / MS));
  MmtpSimulation *simulation;

  config_init (&config, limit, phase / MS);
  virtual_link_config_add_outage (&config.paths[path].link, CUT + phase,
      BACK + phase, 0);
  simulation = run (&config, what);
  /* The link fails at the time CUT + phase. The sender must detect the outage
   * within SURPRISE ns. Frames that are put into the sender during this time
   * may be lost. Frames that were put into the sender before the outage may be
   * lost as well, because they may be in flight when the outage begins. This is
   * permitted for at most `limit` ns before the outage. `limit` is the initial
   * delay D0, the latency of the session. No other frame may be lost. */
  check_lost_only (simulation, CUT + phase - limit, CUT + phase + SURPRISE);
  fail_unless (mmtp_simulation_get_result (simulation)->paths[path].state
      == MMTP_PATH_ACTIVE);
  mmtp_simulation_free (simulation);
  g_free (what);
}

GST_START_TEST (cut_without_warning_is_over_in_300_ms)
{
  static const guint64 limits[] = { 300 * MS, 500 * MS, 1000 * MS };
  guint path, i;
  guint64 phase;

  g_print ("\n");
  for (path = 0; path < 2; path++) {
    for (i = 0; i < G_N_ELEMENTS (limits); i++) {
      for (phase = 0; phase < 200 * MS; phase += 50 * MS)
        run_cut (path, limits[i], phase);
    }
  }
}

GST_END_TEST;

static void
run_warned_cut (guint path, guint64 limit, guint64 phase)
{
  MmtpSimulationConfig config;
  gchar *what = g_strdup_printf ("warned cut of %u, D0 %u ms, %u ms later",
      path, (guint) (limit / MS), (guint) (phase / MS));
  MmtpSimulation *simulation;

  config_init (&config, limit, phase / MS);
  virtual_link_config_add_outage (&config.paths[path].link, CUT + phase,
      BACK + phase, 0);
  mmtp_simulation_config_add_action (&config, CUT + phase,
      MMTP_SIMULATION_REMOVE, path);
  mmtp_simulation_config_add_action (&config, BACK + phase, MMTP_SIMULATION_ADD,
      path);
  simulation = run (&config, what);
  check_lost_only (simulation, 0, 0);
  fail_unless (mmtp_simulation_get_result (simulation)->paths[path].state
      == MMTP_PATH_ACTIVE);
  mmtp_simulation_free (simulation);
  g_free (what);
}

GST_START_TEST (cut_with_warning_loses_nothing)
{
  static const guint64 limits[] = { 300 * MS, 500 * MS, 1000 * MS };
  guint path, i;
  guint64 phase;

  g_print ("\n");
  for (path = 0; path < 2; path++) {
    for (i = 0; i < G_N_ELEMENTS (limits); i++) {
      for (phase = 0; phase < 200 * MS; phase += 50 * MS)
        run_warned_cut (path, limits[i], phase);
    }
  }
}

GST_END_TEST;

/* The only path fails for 5 s. The sender must inform the application, and the
 * stream must continue when the path returns. */
GST_START_TEST (only_path_is_told_broken_and_comes_back)
{
  MmtpSimulationConfig config;
  const MmtpSimulationResult *result;
  MmtpSimulation *simulation;

  config_init (&config, 500 * MS, 1);
  config.n_paths = 1;
  virtual_link_config_add_outage (&config.paths[0].link, 10 * SECOND,
      15 * SECOND, 0);
  g_print ("\n");
  simulation = run (&config, "the only path is cut for 5 s");
  result = mmtp_simulation_get_result (simulation);
  g_print (" lost %u\n", mmtp_simulation_count_lost (simulation, 0, END));
  fail_unless (result->broken_events > 0);
  fail_unless_equals_int (mmtp_simulation_count_lost (simulation, 0, 9500 * MS),
      0);
  fail_unless_equals_int (mmtp_simulation_count_lost (simulation, 18 * SECOND,
          END), 0);
  mmtp_simulation_free (simulation);
}

GST_END_TEST;

/* A new path is added during the stream, and later the old path is removed. No
 * frame may be lost. Figure 1 of the MMTP paper shows such a change of paths (a
 * vertical handoff). */
GST_START_TEST (new_path_takes_over_from_the_old_one)
{
  MmtpSimulationConfig config;
  MmtpSimulation *simulation;

  config_init (&config, 500 * MS, 1);
  config.paths[1].is_later = TRUE;
  mmtp_simulation_config_add_action (&config, 10 * SECOND, MMTP_SIMULATION_ADD,
      1);
  mmtp_simulation_config_add_action (&config, 15 * SECOND,
      MMTP_SIMULATION_REMOVE, 0);
  virtual_link_config_add_outage (&config.paths[0].link, 15 * SECOND,
      END * 2, 0);
  g_print ("\n");
  simulation = run (&config, "one comes at 10 s, the other goes at 15");
  check_lost_only (simulation, 0, 0);
  check_carries (simulation, 1, 1000);
  fail_unless (mmtp_simulation_get_result (simulation)->paths[0].state ==
      MMTP_PATH_GONE);
  mmtp_simulation_free (simulation);
}

GST_END_TEST;

/* Both paths fail for 3 s. The media are stored, so the sender sends the frames
 * ahead of their due times (section 4.2 of the MMTP paper). The deadlines of
 * the frames are therefore so far away that no frame may be lost or late. */
GST_START_TEST (stored_media_outlasts_an_outage_of_all)
{
  MmtpSimulationConfig config;
  guint path;
  MmtpSimulation *simulation;

  config_init (&config, 500 * MS, 1);
  config.source.stored = config.sender.stored = TRUE;
  for (path = 0; path < 2; path++)
    virtual_link_config_add_outage (&config.paths[path].link, 5 * SECOND,
        8 * SECOND, 0);
  g_print ("\n");
  simulation = run (&config, "stored media, both are cut for 3 s");
  check_lost_only (simulation, 0, 0);
  mmtp_simulation_free (simulation);
}

GST_END_TEST;

/* --- cases from bonding users --------------------------------------------- */

/* The path with the shorter round trip becomes silent and stays silent. A frame
 * may be lost if it was in flight at that moment, or if it is put into the
 * sender in the next 300 ms (SURPRISE). Frames that refer to a lost frame may
 * be lost, too. All other frames must be output in time. */
GST_START_TEST (silent_fast_path_ages)
{
  MmtpSimulationConfig config;
  MmtpSimulation *simulation;

  config_init (&config, 500 * MS, 1);
  config.paths[0].link.path[0].delay = 2 * MS;
  config.paths[0].link.path[1].delay = 2 * MS;
  virtual_link_config_add_outage (&config.paths[0].link, CUT, 2 * END, 0);
  g_print ("\n");
  simulation = run (&config, "fast path falls silent");
  check_lost_only (simulation, CUT - 500 * MS, CUT + SURPRISE);
  fail_unless (mmtp_simulation_get_result (simulation)->paths[0].state
      != MMTP_PATH_ACTIVE);
  mmtp_simulation_free (simulation);
}

GST_END_TEST;

/* The path with the shorter round trip delivers only small messages, such as
 * keep-alives and their answers. All larger messages are lost on it, such as
 * those with video. The sender must not prefer this path because of its short
 * round trip. */
GST_START_TEST (short_round_trip_without_data_wins_nothing)
{
  MmtpSimulationConfig config;
  MmtpSimulation *simulation;

  config_init (&config, 500 * MS, 1);
  config.paths[0].link.path[0].delay = 2 * MS;
  config.paths[0].link.path[1].delay = 2 * MS;
  virtual_link_config_add_outage (&config.paths[0].link, CUT, 2 * END, 300);
  g_print ("\n");
  simulation = run (&config, "fast path passes small packets only");
  g_print (" lost %u\n", mmtp_simulation_count_lost (simulation, 0, END));
  fail_unless (mmtp_simulation_count_lost (simulation, 0, END) <= 10);
  fail_unless_equals_int (mmtp_simulation_get_result (simulation)->too_late, 0);
  fail_unless (mmtp_simulation_get_result (simulation)->paths[0].state
      != MMTP_PATH_ACTIVE);
  mmtp_simulation_free (simulation);
}

GST_END_TEST;

/* The first of two paths never delivers a packet. No frame may be lost, because
 * the second path can carry the whole stream. */
GST_START_TEST (path_that_never_answers_does_no_harm)
{
  MmtpSimulationConfig config;
  MmtpSimulation *simulation;

  config_init (&config, 500 * MS, 1);
  config.paths[0].link.path[0].loss = 1;
  g_print ("\n");
  simulation = run (&config, "first path never answers");
  check_lost_only (simulation, 0, 0);
  check_carries (simulation, 1, 1000);
  mmtp_simulation_free (simulation);
}

GST_END_TEST;

/* The first path works for `up` ns, is silent for `down` ns, works again, and
 * so on. A frame may be lost only if it was in flight when the path became
 * silent, or if it was put into the sender in the first 300 ms of the silence.
 */
static void
run_flapping (const gchar * what, guint64 up, guint64 down)
{
  MmtpSimulationConfig config;
  const MmtpSimulationFrame *frames;
  const MmtpSimulationResult *result;
  guint i, lost = 0, elsewhere = 0;
  MmtpSimulation *simulation;
  guint64 time;

  config_init (&config, 500 * MS, 1);
  for (time = up; time + down < END; time += up + down)
    virtual_link_config_add_outage (&config.paths[0].link, time, time + down,
        0);
  simulation = run (&config, what);
  frames = mmtp_simulation_get_frames (simulation);
  result = mmtp_simulation_get_result (simulation);
  for (i = 0; i < result->frames; i++) {
    guint64 due = frames[i].due - result->origin;
    guint64 before = (due + 500 * MS) % (up + down);
    guint64 place = due % (up + down);

    if (frames[i].released != MMTP_SIMULATION_NEVER
        && frames[i].arrived <= frames[i].limit)
      continue;
    lost++;
    /* A loss is expected only in two cases: the frame was in flight when the
     * path became silent, or the frame was passed to the sender in the first
     * 300 ms of the silence. `elsewhere` counts the losses of all other frames.
     */
    elsewhere += !(before >= up && before < up + 500 * MS)
        && !(place >= up && place < up + SURPRISE);
  }
  g_print (" lost %u, %u elsewhere; %" G_GUINT64_FORMAT " late\n", lost,
      elsewhere, result->late_packets);
  fail_unless_equals_int (elsewhere, 0);
  fail_unless_equals_int (result->too_late, 0);
  mmtp_simulation_free (simulation);
}

GST_START_TEST (flapping_path_costs_only_its_cuts)
{
  g_print ("\n");
  run_flapping ("mute for 15 s of 20", 5 * SECOND, 15 * SECOND);
  run_flapping ("mute for 3 s of 6", 3 * SECOND, 3 * SECOND);
  run_flapping ("mute for 1 s of 3", 2 * SECOND, SECOND);
}

GST_END_TEST;

/* The delay of the first path jumps every second, alternately to 1200 ms and to
 * 100 ms. The initial delay (D0) is 600 ms, so a packet with a delay of 1200 ms
 * is late. After each jump to 1200 ms, packets on the first path may be late
 * until the sender has detected the jump. No other packet may be late.
 */
GST_START_TEST (delay_that_jumps_each_second)
{
  MmtpSimulationConfig config;
  const MmtpSimulationResult *result;
  MmtpSimulation *simulation;
  guint i;

  config_init (&config, 600 * MS, 1);
  for (i = 0; i < 30; i++)
    virtual_link_config_add_step (&config.paths[0].link, (5 + i) * SECOND,
        0, (i % 2 ? 100 : 1200) * MS);
  g_print ("\n");
  simulation = run (&config, "delay of 100 and 1200 ms in turn");
  result = mmtp_simulation_get_result (simulation);
  g_print (" lost %u; %" G_GUINT64_FORMAT " late of %" G_GUINT64_FORMAT "\n",
      mmtp_simulation_count_lost (simulation, 0, END), result->late_packets,
      result->data_packets);
  fail_unless_equals_int (result->too_late, 0);
  /* The delay jumps on the first path only, and the second path has enough
   * capacity for the whole stream. Frames may therefore be lost only in the
   * short time from a jump until the sender detects it. This time is at most
   * 300 ms. */
  fail_unless (mmtp_simulation_count_lost (simulation, 0,
          END) <= 15 * 25 * 0.3);
  fail_unless_equals_int (mmtp_simulation_count_lost (simulation, 37 * SECOND,
          END), 0);
  mmtp_simulation_free (simulation);
}

GST_END_TEST;

static Suite *
mmtphandoff_suite (void)
{
  Suite *s = suite_create ("mmtphandoff");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, cut_without_warning_is_over_in_300_ms);
  tcase_add_test (tc, cut_with_warning_loses_nothing);
  tcase_add_test (tc, only_path_is_told_broken_and_comes_back);
  tcase_add_test (tc, new_path_takes_over_from_the_old_one);
  tcase_add_test (tc, stored_media_outlasts_an_outage_of_all);
  tcase_add_test (tc, silent_fast_path_ages);
  tcase_add_test (tc, short_round_trip_without_data_wins_nothing);
  tcase_add_test (tc, path_that_never_answers_does_no_harm);
  tcase_add_test (tc, flapping_path_costs_only_its_cuts);
  tcase_add_test (tc, delay_that_jumps_each_second);
  return s;
}

GST_CHECK_MAIN (mmtphandoff);
