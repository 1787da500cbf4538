/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs MMTP over two to eight random paths. Each path has a rate of 10 kbit/s
 * to 100 Mbit/s, a delay of 1 to 600 ms, and 0 to 10 % losses. The rate of the
 * stream is higher than the paths can carry. The test compares the result with
 * the best possible result, and checks conditions that must always hold. By
 * default it runs a few seeds, one process for each processor core at a time.
 * MMTP_SEEDS=1000 runs 1000 seeds and prints the result of each when its run
 * ends. MMTP_SEED=N prints the run of one seed.
 */

#include <gst/check/gstcheck.h>

#include <math.h>
#include <stdlib.h>

#include "fractiondraw.h"
#include "mmtpoptimum.h"
#include "mmtpsimulation.h"
#include "workers.h"

#define MS VIRTUAL_LINK_MS
#define SECOND VIRTUAL_LINK_SECOND

/* Resolution of the times in the messages, in ns. */
#define TICK (10 * MS / 1000)
#define USUAL_SEEDS 12
#define WORST 8                 /* Number of worst seeds that are printed. */
#define STREAM_SECONDS 20
/* Required minimum of the median result of all seeds. The result of a seed is
 * the number of frames in time, divided by the maximum number that is possible
 * with this seed. The goal for the median is 95 %, but the test requires only
 * this lower value, which is achieved. docs/mmtp.md explains the seeds with the
 * worst results.
 *
 * A sender that first measured each path with packet pairs for five seconds
 * achieved 94.3 % with the first 24 seeds. */
#define REACHED 0.85
/* Rate of the stream, relative to what the paths can carry. */
#define DEMAND 1.2

/* The result of a seed. `optimum` is 0 if no path is fast enough to deliver a
 * packet in time, and no simulation was run. `fault` describes the first
 * condition that did not hold. */
typedef struct
{
  guint64 seed;
  guint optimum, in_time;
  gdouble use;
  gchar fault[256];
} Outcome;

/* Purpose of a random number. */
enum
{
  DRAW_PATHS,
  DRAW_RATE,
  DRAW_DELAY,
  DRAW_LOSSY,
  DRAW_LOSS,
  DRAW_UNSTABLE,
  DRAW_FLUCTUATION,
  DRAW_QUEUE,
  DRAW_BACK,
  DRAW_LIMIT,
  DRAW_SIZE,
  DRAW_SKEW
};

static void
add_path (MmtpSimulationConfig * config, guint i)
{
  guint64 seed = config->seed;
  VirtualLinkPath forward = { 0, }, back;

  forward.rate =
      fraction_draw_logarithmic (seed, i, DRAW_RATE, 10e3, 100e6) / 8;
  forward.delay = fraction_draw_logarithmic (seed, i, DRAW_DELAY, 1, 600) * MS;
  if (fraction_draw (seed, i, DRAW_LOSSY, 0) < 0.5)
    forward.loss = fraction_draw (seed, i, DRAW_LOSS, 0) * 0.1;
  if (fraction_draw (seed, i, DRAW_UNSTABLE, 0) < 0.5)
    forward.fluctuation =
        fraction_draw (seed, i, DRAW_FLUCTUATION, 0) * forward.delay / 4;
  forward.queue =
      MAX (4 * 1500, forward.rate * fraction_draw_logarithmic (seed, i,
          DRAW_QUEUE, 0.05, 1));
  back = forward;
  if (fraction_draw (seed, i, DRAW_BACK, 0) < 0.5)
    back.rate = MAX (forward.rate / 4, 1250);
  mmtp_simulation_config_add_path (config, &forward, &back);
}

static gdouble
get_wire_size (const MmtpSimulationConfig * config)
{
  return config->source.size + 24 + MMTP_SIMULATION_OVERHEAD;
}

/* Returns the mean delay that the jitter adds to a packet. Each packet gets a
 * random delay, which is uniformly distributed from 0 to `fluctuation`. Packets
 * stay in order, so a slow packet also delays the packets that follow it.
 * `seconds` is the time from one packet to the next.
 *
 * Let m be the number of packets that are sent in a time of `fluctuation`. A
 * packet waits for the slowest of the last m packets, so its delay is the
 * maximum of m random values. The mean of this maximum is m / (m + 1) times
 * `fluctuation`. */
static gdouble
get_mean_fluctuation (const VirtualLinkPath * direction, gdouble seconds)
{
  gdouble fluctuation = direction->fluctuation / 1e9;
  gdouble m = MAX (1, fluctuation / seconds);

  return fluctuation * m / (m + 1);
}

/* Fills in `path` with the description of the simulation's path number `i`. The
 * ideal scheduler uses this description. The time per packet includes
 * retransmissions: if a path loses every tenth packet, ten transmissions
 * deliver nine packets. Returns FALSE if no packet can be in time on this path.
 */
static gboolean
get_optimum_path (const MmtpSimulationConfig * config, guint i,
    MmtpOptimumPath * path)
{
  const VirtualLinkPath *direction =
      &config->paths[i].link.path[VIRTUAL_LINK_FORWARD];
  gdouble seconds = get_wire_size (config) / direction->rate;

  path->delay =
      direction->delay / 1e9 + get_mean_fluctuation (direction, seconds);
  if (seconds + path->delay > config->sender.max_delay / 1e9)
    return FALSE;
  path->seconds = seconds / (1 - direction->loss);
  return TRUE;
}

static guint
get_optimum (const MmtpSimulationConfig * config)
{
  MmtpOptimumPath paths[MMTP_SIMULATION_MAX_PATHS];
  guint i, n = 0;

  for (i = 0; i < config->n_paths; i++)
    n += get_optimum_path (config, i, &paths[n]);
  return n ? mmtp_optimum_count (paths, n, config->source.n,
      config->source.period / 1e9, config->sender.max_delay / 1e9) : 0;
}

/* Initializes `config` with random values that depend on `seed`. Returns FALSE
 * if every path is too slow to deliver a packet before its deadline. */
static gboolean
config_init (MmtpSimulationConfig * config, guint64 seed)
{
  guint i, n = 2 + fraction_draw (seed, 0, DRAW_PATHS, 0) * 7;
  gdouble packets = 0, frames;

  mmtp_simulation_config_init (config, &mmtp_simulation_cores);
  config->seed = seed;
  for (i = 0; i < n; i++)
    add_path (config, i);
  config->sender.max_delay = config->sender.initial_delay =
      fraction_draw_logarithmic (seed, 0, DRAW_LIMIT, 200, 2000) * MS;
  config->clock_skew = (fraction_draw (seed, 0, DRAW_SKEW, 0) - 0.5) * 200000;
  config->source.size = 200 + fraction_draw (seed, 0, DRAW_SIZE, 0) * 1200;
  for (i = 0; i < n; i++) {
    MmtpOptimumPath path;

    if (get_optimum_path (config, i, &path))
      packets += 1 / path.seconds;
  }
  if (packets == 0)
    return FALSE;
  frames = packets * DEMAND * STREAM_SECONDS;
  config->source.period = SECOND / (packets * DEMAND);
  config->source.n = MAX (frames, 100);
  return TRUE;
}

/* --- conditions for each seed --------------------------------------------- */

/* Checks what must hold for each seed. If a condition does not hold, describes
 * it in `fault`. */
static void
check_always (MmtpSimulation * simulation, const MmtpSimulationConfig * config,
    gchar * fault, gsize size)
{
  const MmtpSimulationResult *result = mmtp_simulation_get_result (simulation);
  /* The sender sets a deadline up to `max_delay` in advance. Until the deadline
   * is reached, the clocks of the endpoints may drift apart by up to 100 ppm.
   * The receiver may therefore reach the deadline up to `max_delay` / 10,000
   * too early or too late. */
  guint64 drift = config->sender.max_delay / 10000;

  if (result->errors->len)
    g_strlcpy (fault, result->errors->str, size);
  else if (result->out_of_order || result->duplicates || result->corrupt)
    g_snprintf (fault, size, "%u frames out of order, %u twice, %u corrupt",
        result->out_of_order, result->duplicates, result->corrupt);
  else if (result->worst_release > result->worst_deadline + TICK + drift)
    g_snprintf (fault, size, "%u frames up to %.3f ms too late",
        result->too_late, result->worst_release / 1e6);
  /* When a path becomes silent, the packets that were sent on this path are put
   * back into the queue. Meanwhile, new packets may have filled the queue up to
   * its limit `max_bytes`. With the packets that are put back, the queue may
   * then exceed `max_bytes`, but it must not exceed twice `max_bytes`. */
  else if (result->max_queued > 2 * config->sender.max_bytes
      || result->max_held > config->receiver.max_bytes)
    g_snprintf (fault, size, "%" G_GUINT64_FORMAT " bytes are queued and %"
        G_GUINT64_FORMAT " held", result->max_queued, result->max_held);
  else if (result->ended_at == MMTP_SIMULATION_NEVER)
    g_strlcpy (fault, "the session has no end", size);
}

static void
print_outcome (const Outcome * outcome)
{
  g_print ("    seed %" G_GUINT64_FORMAT ": %.1f %%, %u of %u\n",
      outcome->seed, 100 * outcome->use, outcome->in_time, outcome->optimum);
}

/* Runs the simulation for `seed` and stores its result in `outcome`, which
 * contains zeros before. If no path is fast enough to deliver a packet in time,
 * runs no simulation. */
static void
run_seed (guint64 seed, gboolean show, Outcome * outcome)
{
  MmtpSimulationConfig config;
  MmtpSimulation *simulation;

  outcome->seed = seed;
  if (!config_init (&config, seed))
    return;
  config.verbose = show && g_getenv ("MMTP_VERBOSE");
  simulation = mmtp_simulation_new (&config);
  mmtp_simulation_run (simulation);
  outcome->optimum = get_optimum (&config);
  outcome->in_time = mmtp_simulation_get_result (simulation)->in_time;
  outcome->use = outcome->in_time / (gdouble) outcome->optimum;
  if (show) {
    g_print ("  seed %" G_GUINT64_FORMAT ": %.1f %% of %u, frames of %u bytes "
        "each %.3f ms\n", seed, 100 * outcome->use, outcome->optimum,
        config.source.size, config.source.period / 1e6);
    mmtp_simulation_print (simulation);
  }
  check_always (simulation, &config, outcome->fault, sizeof outcome->fault);
  mmtp_simulation_free (simulation);
}

/* Runs a seed in a process of its own. `seeds` contains the seeds. */
static void
run_job (guint job, gpointer outcome, gpointer seeds)
{
  run_seed (g_array_index ((GArray *) seeds, guint64, job), FALSE, outcome);
  if (((GArray *) seeds)->len > USUAL_SEEDS && ((Outcome *) outcome)->optimum)
    print_outcome (outcome);
}

/* Returns the results of the seeds with which a packet can be in time. Fails if
 * a condition did not hold in one of them. */
static GArray *
run_seeds (GArray * seeds)
{
  GArray *outcomes = g_array_new (FALSE, FALSE, sizeof (Outcome));
  gboolean complete;
  Outcome *all = workers_run (seeds->len, sizeof (Outcome), 0, run_job, seeds,
      &complete);
  guint i;

  fail_unless (all && complete);
  for (i = 0; i < seeds->len; i++) {
    fail_unless (!all[i].fault[0], "seed %" G_GUINT64_FORMAT ": %s",
        all[i].seed, all[i].fault);
    if (all[i].optimum)
      g_array_append_val (outcomes, all[i]);
  }
  workers_free_results (all, seeds->len, sizeof (Outcome));
  return outcomes;
}

static gint
compare_outcomes (gconstpointer a, gconstpointer b)
{
  const Outcome *x = a, *y = b;

  return x->use < y->use ? -1 : x->use > y->use;
}

static guint64
get_number (const gchar * name, guint64 otherwise)
{
  const gchar *value = g_getenv (name);

  return value ? g_ascii_strtoull (value, NULL, 10) : otherwise;
}

GST_START_TEST (paths_are_used_and_nothing_else_happens)
{
  guint64 n = get_number ("MMTP_SEEDS", USUAL_SEEDS);
  GArray *seeds = g_array_new (FALSE, FALSE, sizeof (guint64)), *outcomes;
  gdouble median;
  guint64 seed;
  guint i;

  for (seed = 1; seed <= n; seed++)
    g_array_append_val (seeds, seed);
  outcomes = run_seeds (seeds);
  fail_unless (outcomes->len > n / 2);
  g_array_sort (outcomes, compare_outcomes);
  median = g_array_index (outcomes, Outcome, outcomes->len / 2).use;
  g_print ("\n  %u seeds: median %.1f %%, 10th percentile %.1f %%, worst:\n",
      outcomes->len, 100 * median,
      100 * g_array_index (outcomes, Outcome, outcomes->len / 10).use);
  for (i = 0; i < MIN (WORST, outcomes->len); i++)
    print_outcome (&g_array_index (outcomes, Outcome, i));
  fail_unless (median >= REACHED, "median %.3f", median);
  g_array_unref (outcomes);
  g_array_unref (seeds);
}

GST_END_TEST;

/* Tests two seeds, in which the stream has a higher rate than the paths can
 * carry. The result of a seed is the number of frames that arrive in time,
 * divided by the maximum number that is possible. Each result must be at least
 * the value in `min_use`. Earlier versions had bad results with these seeds:
 * - The result of seed 18 was 57.7 %. The sender sent packets at the last
 *   moment at which they could still arrive in time, and most of them arrived
 *   late.
 * - The result of seed 44 was 19.0 %. Paths with jitter lost packets at random,
 *   and the sender concluded by mistake that these paths were congested. */
GST_START_TEST (neither_lateness_nor_jitter_spoils_a_path)
{
  static const guint64 known[] = { 18, 44 };
  static const gdouble min_use[G_N_ELEMENTS (known)] = { 0.88, 0.5 };
  GArray *seeds = g_array_new (FALSE, FALSE, sizeof (guint64)), *outcomes;
  guint i;

  g_array_append_vals (seeds, known, G_N_ELEMENTS (known));
  outcomes = run_seeds (seeds);
  fail_unless_equals_int (outcomes->len, G_N_ELEMENTS (known));
  for (i = 0; i < outcomes->len; i++) {
    const Outcome *outcome = &g_array_index (outcomes, Outcome, i);

    fail_unless (outcome->use >= min_use[i], "seed %" G_GUINT64_FORMAT ": %.3f",
        outcome->seed, outcome->use);
  }
  g_array_unref (outcomes);
  g_array_unref (seeds);
}

GST_END_TEST;

static Suite *
mmtpseeds_suite (void)
{
  Suite *s = suite_create ("mmtpseeds");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  /* 1000 seeds take a while */
  tcase_set_timeout (tc, 7200);
  tcase_add_test (tc, paths_are_used_and_nothing_else_happens);
  tcase_add_test (tc, neither_lateness_nor_jitter_spoils_a_path);
  return s;
}

int
main (int argc, char **argv)
{
  guint64 seed = get_number ("MMTP_SEED", 0);
  Outcome outcome = { 0 };

  gst_check_init (&argc, &argv);
  if (!seed)
    return gst_check_run_suite (mmtpseeds_suite (), "mmtpseeds", __FILE__);
  run_seed (seed, TRUE, &outcome);
  if (outcome.fault[0])
    g_print ("  %s\n", outcome.fault);
  return outcome.fault[0] != '\0';
}
