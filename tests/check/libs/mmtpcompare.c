/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of MMTP in simulations:
 * - The scheduler of MMTP, which chooses a path for each packet (Magalhães and
 *   Kravets 2001, 4.4), is compared with round robin and with lowest delay
 *   first, over unequal random paths. For each seed, only the scheduler
 *   differs. The paths, their losses, the stream and the rest of the protocol
 *   are the same.
 * - MMTP shares a bottleneck with TCP.
 */

#include <gst/check/gstcheck.h>

#include <math.h>

#include "mmtpsimulation.h"
#include "seededdraw.h"

#define MS VIRTUAL_LINK_MS
#define SECOND VIRTUAL_LINK_SECOND

#define SEEDS 60
#define FRAMES 500
#define PERIOD (40 * MS)
#define N_SCHEDULERS (MMTP_SCHEDULER_ARRIVAL + 1)

static gdouble
draw (guint64 seed, guint path, guint purpose)
{
  guint64 value = seeded_draw (seed, path, purpose, 0, 0);

  return (value >> 11) / 9007199254740992.0;
}

/* Configures a run with two to four paths of 100 kbit/s to 3 Mbit/s. The delay
 * of some slow paths is close to the maximum delay of the session, or exceeds
 * it. The stream needs 60 to 120 % of the total rate of the paths. `seed`
 * determines the paths and the stream; `seed` and `draws` together determine
 * the random fates of the packets. */
static void
config_init (MmtpSimulationConfig * config, guint64 seed, guint64 draws,
    MmtpSchedulerType scheduler)
{
  guint i, n = 2 + draw (seed, 0, 0) * 3;
  gdouble rate = 0;

  mmtp_simulation_config_init (config, &mmtp_simulation_cores);
  config->seed = seed + draws * 1000;
  config->sender.scheduler = scheduler;
  config->sender.max_delay = config->sender.initial_delay =
      (300 + 500 * draw (seed, 0, 1)) * MS;
  for (i = 0; i < n; i++) {
    VirtualLinkPath path = { 12500 * pow (30, draw (seed, i, 2)),
      5 * MS * pow (100, draw (seed, i, 3)), 0, FALSE, FALSE, 0,
      0.02 * draw (seed, i, 4)
    };

    path.queue = path.rate / 2;
    path.fluctuation = path.delay / 5;
    rate += path.rate;
    mmtp_simulation_config_add_path (config, &path, &path);
  }
  mmtp_simulation_config_set_source (config, FRAMES, PERIOD,
      rate * (0.6 + 0.6 * draw (seed, 0, 5)) * 0.96 * PERIOD / SECOND);
  config->source.video = TRUE;
}

/* Simulates MMTP with the scheduler `scheduler`, and returns the number of
 * frames that arrived in time and can be decoded. A frame that refers to a lost
 * frame cannot be shown, so it does not count. `seed` determines the paths and
 * the stream. `seed` and `draws` together determine which packets are lost at
 * random, and how long each packet takes. */
static guint
run (guint64 seed, guint64 draws, MmtpSchedulerType scheduler)
{
  MmtpSimulationConfig config;
  const MmtpSimulationResult *result;
  MmtpSimulation *simulation;
  guint decodable;

  config_init (&config, seed, draws, scheduler);
  simulation = mmtp_simulation_new (&config);
  mmtp_simulation_run (simulation);
  if (g_getenv ("MMTP_PRINT"))
    mmtp_simulation_print (simulation);
  result = mmtp_simulation_get_result (simulation);
  decodable = result->decodable;
  fail_unless_equals_string (result->errors->str, "");
  mmtp_simulation_free (simulation);
  return decodable;
}

/* The one-sided sign test for a paired comparison: returns the probability that
 * `n` tosses of a fair coin show at least `k` heads. */
static gdouble
sign_test (guint k, guint n)
{
  gdouble p = 0, term = pow (0.5, n);
  guint i;

  /* `term` is n over i, multiplied by 0.5^n. */
  for (i = 0; i <= n; i++) {
    if (i >= k)
      p += term;
    term = term * (n - i) / (i + 1);
  }
  return p;
}

GST_START_TEST (sign_test_is_the_tables)
{
  fail_unless (fabs (sign_test (5, 5) - 0.03125) < 1e-12);
  fail_unless (fabs (sign_test (9, 10) - 11 / 1024.0) < 1e-12);
  fail_unless (fabs (sign_test (0, 7) - 1) < 1e-12);
}

GST_END_TEST;

/* Returns whether `a` is significantly less than `b`. Both are numbers of
 * frames out of FRAMES.
 *
 * The function uses the one-sided test of two proportions. The level of
 * significance of a single comparison is 5 % / 80 = 0.0625 %, which corresponds
 * to 3.23 standard deviations. This level was chosen when the test had 40
 * seeds, and therefore made 80 comparisons. Now each tested rule is compared
 * with two other rules on 60 seeds, which makes 120 comparisons. The level of
 * all comparisons together is therefore at most 120 * 0.0625 % = 7.5 %
 * (Bonferroni). */
static gboolean
is_clearly_less (guint a, guint b)
{
  gdouble p = (a + b) / (2.0 * FRAMES);
  gdouble deviation = sqrt (2 * p * (1 - p) * FRAMES);

  return (gdouble) b - a > 3.23 * deviation;
}

/* Returns the sum of the squared deviations from the mean. */
static gdouble
get_squares (const gint * values, guint n, gdouble * mean)
{
  gdouble sum = 0, squares = 0;
  guint i;

  for (i = 0; i < n; i++)
    sum += values[i];
  *mean = sum / n;
  for (i = 0; i < n; i++)
    squares += (values[i] - *mean) * (values[i] - *mean);
  return squares;
}

/* The tests compare schedulers by the number of frames that arrive in time.
 * First they use the test of two proportions, is_clearly_less (). This test
 * assumes that the frames are independent, but they are not. A lost frame makes
 * the frames that refer to it useless, and a path with early losses stays slow
 * for a while. The results therefore vary more than the test assumes. For
 * example, an earlier version of the sender was simulated with the scheduler
 * "lowest delay first" on the paths of seed 4. This scheduler delivered between
 * 315 and 495 frames in time, depending on which packets were lost at random.
 *
 * The test of two proportions may therefore find by mistake that a scheduler is
 * worse. In this case, the same paths are simulated DRAWS times with other
 * random losses, and the paired t-test decides. DRAWS repetitions give the
 * t-test 11 degrees of freedom. CRITICAL_T is the limit of the t-test for the
 * level of significance 5 % / 80, which is_clearly_less () also uses. */
#define DRAWS 12
#define CRITICAL_T 4.31

static void
check_is_not_worse (guint64 seed, MmtpSchedulerType ours,
    MmtpSchedulerType other)
{
  gint differences[DRAWS];
  gdouble mean, error;
  guint i;

  for (i = 0; i < DRAWS; i++)
    differences[i] = (gint) run (seed, i + 1, other)
        - (gint) run (seed, i + 1, ours);
  error = sqrt (get_squares (differences, DRAWS, &mean)
      / (DRAWS * (DRAWS - 1)));
  g_print ("  seed %u again, %u draws: %+.1f frames less than scheduler %u, "
      "standard error %.1f\n", (guint) seed, DRAWS, mean, other, error);
  fail_if (mean > CRITICAL_T * error, "seed %u: %f less, standard error %f",
      (guint) seed, mean, error);
}

/* Minimum ratio of the number of decodable frames with our scheduler to the
 * number with another scheduler. Both numbers are sums over all seeds. The
 * present ratios are 1.35 and more. */
#define BETTER_IN_THE_SUM 1.25

static void
check_better (guint decodable[N_SCHEDULERS][SEEDS],
    MmtpSchedulerType ours, MmtpSchedulerType other, const gchar * name)
{
  guint i, better = 0, worse = 0, ours_sum = 0, others_sum = 0;
  gdouble p;

  for (i = 0; i < SEEDS; i++) {
    guint a = decodable[ours][i], b = decodable[other][i];

    better += a > b;
    worse += a < b;
    if (is_clearly_less (a, b))
      check_is_not_worse (i + 1, ours, other);
    ours_sum += a;
    others_sum += b;
  }
  p = sign_test (better, better + worse);
  g_print ("  against %s: better in %u seeds, worse in %u, p = %.2g; "
      "%.1f and %.1f %% decodable\n", name, better, worse, p,
      100.0 * ours_sum / (SEEDS * FRAMES),
      100.0 * others_sum / (SEEDS * FRAMES));
  fail_unless (p < 0.001, "p = %g", p);
  fail_unless (ours_sum >= BETTER_IN_THE_SUM * others_sum, "%u and %u",
      ours_sum, others_sum);
}

GST_START_TEST (scheduler_is_better_than_turns_and_lowest_delay)
{
  guint decodable[N_SCHEDULERS][SEEDS];
  guint i, scheduler;

  g_print
      ("\n  decodable frames of %u: arrival, the paper's, equal turns, lowest "
      "delay\n", FRAMES);
  for (i = 0; i < SEEDS; i++) {
    for (scheduler = 0; scheduler < N_SCHEDULERS; scheduler++)
      decodable[scheduler][i] = run (i + 1, 0, scheduler);
    g_print ("  seed %2u: %3u %3u %3u %3u\n", i + 1,
        decodable[MMTP_SCHEDULER_ARRIVAL][i], decodable[MMTP_SCHEDULER_MMTP][i],
        decodable[MMTP_SCHEDULER_EQUAL_TURNS][i],
        decodable[MMTP_SCHEDULER_LOWEST_DELAY][i]);
  }
  check_better (decodable, MMTP_SCHEDULER_MMTP, MMTP_SCHEDULER_EQUAL_TURNS,
      "equal turns");
  check_better (decodable, MMTP_SCHEDULER_ARRIVAL, MMTP_SCHEDULER_EQUAL_TURNS,
      "equal turns");
  check_better (decodable, MMTP_SCHEDULER_MMTP, MMTP_SCHEDULER_LOWEST_DELAY,
      "lowest delay");
  check_better (decodable, MMTP_SCHEDULER_ARRIVAL, MMTP_SCHEDULER_LOWEST_DELAY,
      "lowest delay");
}

GST_END_TEST;

/* --- TCP ------------------------------------------------------------------ */

/* Simulates MMTP over a bottleneck of `rate` bytes per second. The queue of the
 * bottleneck holds as many bytes as the bottleneck sends in `queue_ms`
 * milliseconds. From the time `tcp_from` on, `n` TCP flows use the same
 * bottleneck. MMTP's stream has the same bitrate as the bottleneck. */
static void
run_shared (guint64 rate, guint64 delay, guint queue_ms, guint n,
    guint64 tcp_from)
{
  VirtualLinkPath path =
      { rate, delay, 0, FALSE, FALSE, rate * queue_ms / 1000 };
  MmtpSimulationConfig config;
  const MmtpSimulationResult *result;
  MmtpSimulation *simulation;
  gdouble share, used;

  mmtp_simulation_config_init (&config, &mmtp_simulation_cores);
  config.seed = queue_ms;
  config.sender.max_delay = config.sender.initial_delay = SECOND;
  mmtp_simulation_config_add_path (&config, &path, &path);
  config.paths[0].n_tcp = n;
  config.paths[0].tcp_from = tcp_from;
  mmtp_simulation_config_set_source (&config, 3000, 20 * MS, rate / 50);
  simulation = mmtp_simulation_new (&config);
  mmtp_simulation_run (simulation);
  result = mmtp_simulation_get_result (simulation);
  used = result->mmtp_bytes[0] + result->tcp_bytes[0];
  share = result->mmtp_bytes[0] / used;
  g_print ("| %.1f | %u | %u | %u | %s | %.0f | %.0f | %.0f | %u |\n",
      rate * 8 / 1e6, (guint) (2 * delay / MS), queue_ms, n,
      tcp_from ? "second" : "first", 100 * share, 100 * (1 - share),
      100 * used / (rate * (60.0 - tcp_from / 1e9)), result->in_time);
  if (g_getenv ("MMTP_PRINT"))
    mmtp_simulation_print (simulation);
  fail_unless (share > 0.1 && share < 0.9, "share %.3f", share);
  fail_unless_equals_string (result->errors->str, "");
  mmtp_simulation_free (simulation);
}

GST_START_TEST (neither_starves_in_a_shared_bottleneck)
{
  static const guint queues[] = { 50, 100, 250, 500 };
  guint i;

  g_print ("\n| Mbit/s | round trip, ms | queue, ms | TCP flows | TCP comes | "
      "MMTP, %% | TCP, %% | used, %% | in time of 3000 |\n");
  for (i = 0; i < G_N_ELEMENTS (queues); i++) {
    run_shared (625000, 20 * MS, queues[i], 1, 0);
    run_shared (625000, 20 * MS, queues[i], 1, 10 * SECOND);
    run_shared (625000, 20 * MS, queues[i], 2, 10 * SECOND);
    run_shared (250000, 50 * MS, queues[i], 1, 10 * SECOND);
  }
}

GST_END_TEST;

static Suite *
mmtpcompare_suite (void)
{
  Suite *s = suite_create ("mmtpcompare");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, sign_test_is_the_tables);
  tcase_add_test (tc, scheduler_is_better_than_turns_and_lowest_delay);
  tcase_add_test (tc, neither_starves_in_a_shared_bottleneck);
  return s;
}

GST_CHECK_MAIN (mmtpcompare);
