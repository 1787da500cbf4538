/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Simulates an encoder that sends over a link whose rate changes
 * (bitratesimulation.h), in virtual time. The bitrate of the encoder follows
 * the rate that MMTP estimates. tests/integration/test_bitrate_steps.py makes
 * the same test over real sockets.
 *
 * With BITRATE_STEPS_LOG=1 the test prints the state every 100 ms.
 */

#include <gst/check/gstcheck.h>

#include "bitratesimulation.h"

#define MS LINK_MS
#define SECOND LINK_SECOND
#define LATENCY (400 * MS)
#define BITRATE 2000000         /* bit/s, at the start */

/* Prepares a simulation with one link. `trace` says how the rate of the link
 * changes over time. The queue of the link has room for `queue` packets. */
static BitrateSimulation *
begin (const ArenaTrace * trace, guint queue, guint64 seed, guint64 duration)
{
  ArenaPath path;

  arena_path_init (&path, 20000000, 20 * MS);
  path.config[ARENA_FORWARD].queue.packets = queue;
  path.config[ARENA_FORWARD].seed = seed;
  path.trace[ARENA_FORWARD] = trace;
  return bitrate_simulation_new (&path, 0, 1, seed, BITRATE, LATENCY, duration);
}

/* --- results -------------------------------------------------------------- */

/* Returns the maximum rate in bit/s at which data entered the network between
 * `from` and `to`. Each rate is a mean over 200 ms. */
static gdouble
get_max_entered (const BitrateSimulation * simulation, guint64 from, guint64 to)
{
  gdouble maximum = 0;
  guint64 time;

  for (time = from; time + 200 * MS <= to; time += 20 * MS)
    maximum =
        MAX (maximum, bitrate_simulation_get_entered (simulation, time,
            time + 200 * MS) * 40.0);
  return maximum;
}

typedef struct
{
  /* The number of frames that a decoder could not show: frames that were late
   * or lost, or that refer to a late or lost frame. */
  guint dropped;
  /* maximum time in ns from the capture of a frame to its display */
  guint64 max_delay;
} Shown;

/* Considers the frames that were captured at or after `from` and before `to`.
 * Returns how many of these frames were dropped, and the maximum delay of the
 * frames that were not dropped. */
static Shown
get_shown (const BitrateSimulation * simulation, guint64 from, guint64 to)
{
  gboolean is_decodable = FALSE;
  Shown result = { 0, 0 };
  guint i;

  for (i = 0; i < simulation->n_frames; i++) {
    const BitrateFrame *frame = &simulation->frames[i];

    is_decodable = (is_decodable || frame->is_key)
        && frame->shown != BITRATE_NEVER;
    if (frame->captured < from || frame->captured >= to)
      continue;
    result.dropped += !is_decodable;
    if (is_decodable)
      result.max_delay = MAX (result.max_delay, frame->shown - frame->captured);
  }
  return result;
}

/* --- steps ---------------------------------------------------------------- */

#define STEP_DOWN (20 * SECOND)
#define STEP_UP (30 * SECOND)
#define END (40 * SECOND)
#define N_SEEDS 9

typedef struct
{
  /* Maximum rate in bit/s at which data entered the network after the rate of
   * the link has fallen at the time STEP_DOWN. It is measured in the second
   * that begins 0.4 s after STEP_DOWN. The rate is computed for many intervals
   * of 200 ms in this second, and the highest result is stored. */
  gdouble entered;
  Shown shown;
  /* Time in s until the encoder uses the higher rate of the link. It is counted
   * from STEP_UP to the end of the first second in which data entered the
   * network at 3.2 Mbit/s or more. */
  gdouble seconds;
} StepResult;

static gdouble
get_rise_time (const BitrateSimulation * simulation)
{
  guint64 time;

  for (time = STEP_UP; time < END - SECOND; time += 100 * MS)
    if (bitrate_simulation_get_entered (simulation, time,
            time + SECOND) * 8 >= 3200000)
      break;
  return (time + SECOND - STEP_UP) / 1e9;
}

static void
run_steps (guint queue, guint64 seed, StepResult * result)
{
  ArenaTrace *trace = arena_trace_new ("steps");
  BitrateSimulation *simulation;

  arena_trace_add_rate (trace, 0, STEP_DOWN / MS, 4000000);
  arena_trace_add_rate (trace, STEP_DOWN / MS, STEP_UP / MS, 1500000);
  arena_trace_add_rate (trace, STEP_UP / MS, END / MS, 4000000);
  simulation = begin (trace, queue, seed, END + SECOND);
  bitrate_simulation_run (simulation, END);
  result->entered = get_max_entered (simulation, STEP_DOWN + 400 * MS,
      STEP_DOWN + 1400 * MS);
  result->shown = get_shown (simulation, SECOND, END - SECOND);
  result->seconds = get_rise_time (simulation);
  bitrate_simulation_free (simulation);
  arena_trace_free (trace);
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  return *(const guint *) a - *(const guint *) b;
}

static guint
check_steps (guint queue, guint64 seed)
{
  StepResult result;

  run_steps (queue, seed, &result);
  g_print ("queue %4u, seed %" G_GUINT64_FORMAT ": %.2f Mbit/s 0.4 s after the "
      "step down, %u frames dropped, %" G_GUINT64_FORMAT " ms at most, first "
      "Mbit/s after %.1f s\n", queue, seed, result.entered / 1e6,
      result.shown.dropped, result.shown.max_delay / MS, result.seconds);
  fail_unless (result.entered < 1500000);
  fail_unless (result.shown.max_delay <= LATENCY);
  fail_unless (result.shown.dropped <= 12);
  fail_unless (result.seconds <= 5);
  return result.shown.dropped;
}

/* The rate of the link falls from 4 Mbit/s to 1.5 Mbit/s, and later rises to 4
 * Mbit/s again. The encoder must follow, and only a few frames may be late or
 * lost. The round trip is 40 ms. At 1.5 Mbit/s, the queue of the link holds 0.4
 * s of data. */
GST_START_TEST (encoder_follows_a_step_down_and_up)
{
  guint dropped[N_SEEDS], i;

  for (i = 0; i < N_SEEDS; i++)
    dropped[i] = check_steps (50, i + 1);
  qsort (dropped, N_SEEDS, sizeof (guint), compare);
  fail_unless (dropped[N_SEEDS / 2] <= 8);
}

GST_END_TEST;

GST_START_TEST (long_queue_of_the_link_is_not_filled)
{
  check_steps (1000, 1);
}

GST_END_TEST;

/* --- padding -------------------------------------------------------------- */

/* Before the time SCENE, the picture is static and needs few bits. At SCENE, a
 * scene with motion begins, which needs the full bitrate. */
#define SCENE (20 * SECOND)
#define SCENE_END (30 * SECOND)
#define STATIC_RATE 500000

typedef struct
{
  /* rate in bit/s that MMTP estimates for the path just before the new scene */
  guint64 estimate;
  /* rate in Mbit/s at which data enter the network during the first second of
   * the new scene */
  gdouble entered;
  Shown before, after;
  /* mean rate of the padding that MMTP sends before the new scene, in bit/s */
  gdouble padding;
} SceneResult;

static void
run_scene (guint64 padding, guint64 seed, SceneResult * result)
{
  ArenaTrace *trace = arena_trace_new ("scene");
  BitrateSimulation *simulation;
  MmtpSenderStats stats;

  arena_trace_add_rate (trace, 0, SCENE_END / MS, 4000000);
  simulation = begin (trace, 50, seed, SCENE_END + SECOND);
  mmtp_sender_set_padding (simulation->sender, BITRATE_CLOCK_OFFSET, padding);
  simulation->encoder.needed_bitrate = STATIC_RATE;
  bitrate_simulation_run (simulation, SCENE);
  mmtp_sender_get_stats (simulation->sender, &stats);
  result->estimate = stats.estimated_rate;
  result->padding = stats.padding_bytes * 8e9 / SCENE;
  simulation->encoder.needed_bitrate = G_MAXUINT64;
  bitrate_simulation_run (simulation, SCENE_END);
  result->before = get_shown (simulation, SECOND, SCENE);
  result->after = get_shown (simulation, SCENE, SCENE_END - SECOND);
  result->entered =
      bitrate_simulation_get_entered (simulation, SCENE, SCENE + SECOND) * 8e-6;
  bitrate_simulation_free (simulation);
  arena_trace_free (trace);
}

static void
print_scene (guint64 rate, const SceneResult * result)
{
  g_print ("padding of at most %.1f Mbit/s: %.2f Mbit/s sent, estimate %.2f "
      "Mbit/s, %.2f Mbit/s in the first second of the scene; largest delay of a "
      "frame: %" G_GUINT64_FORMAT " ms before the scene, %" G_GUINT64_FORMAT
      " ms after it\n",
      rate / 1e6, result->padding / 1e6, result->estimate / 1e6,
      result->entered, result->before.max_delay / MS,
      result->after.max_delay / MS);
}

/* The rate of the link is 4 Mbit/s. A static picture needs only 0.5 Mbit/s, so
 * MMTP sends padding (data without content) to measure what the link carries.
 *
 * The test compares runs with padding with a run without padding. With padding,
 * MMTP must estimate that the link carries about 4 Mbit/s. Later, a scene with
 * motion begins. In the first second of this scene, the encoder must send
 * faster in the runs with padding than in the run without padding.
 * docs/bitrateadapt.md has the measured figures, and the limits in this test
 * allow small deviations from them. */
GST_START_TEST (padding_shows_what_the_path_carries)
{
  static const guint64 rates[] = { 500000, 1000000, 2000000 };
  SceneResult without, with;
  guint i;

  run_scene (0, __i__ + 1, &without);
  print_scene (0, &without);
  fail_unless (without.padding == 0);
  fail_unless (without.estimate < 1500000);
  for (i = 0; i < G_N_ELEMENTS (rates); i++) {
    run_scene (rates[i], __i__ + 1, &with);
    print_scene (rates[i], &with);
    fail_unless (with.padding > 0 && with.padding <= rates[i]);
    fail_unless (with.estimate > 3600000 && with.estimate < 4400000);
    fail_unless (with.entered > 1.15 * without.entered);
    fail_unless (with.before.dropped == 0 && with.after.dropped == 0);
    fail_unless (with.before.max_delay < without.before.max_delay + 60 * MS);
    fail_unless (with.after.max_delay <= LATENCY);
  }
}

GST_END_TEST;

static Suite *
bitrate_steps_suite (void)
{
  Suite *s = suite_create ("bitratesteps");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, encoder_follows_a_step_down_and_up);
  tcase_add_test (tc, long_queue_of_the_link_is_not_filled);
  tcase_add_loop_test (tc, padding_shows_what_the_path_carries, 0, N_SEEDS);
  return s;
}

GST_CHECK_MAIN (bitrate_steps);
