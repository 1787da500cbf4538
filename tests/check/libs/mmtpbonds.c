/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks that an additional path hardly harms a bond, which is several paths that
 * are used together. The bonds are modelled on reports of users, in which a bad
 * path harmed the good ones (arenabonds.h). They run in virtual time. The
 * benchmark tests/benchmarks/mmtpbond.c also runs random bonds and recorded
 * links. */

#include <gst/check/gstcheck.h>

#include "arenabonds.h"

#define MAX_RUNS 8
/* Maximum cost of a bond, as a share of all frames: in the median of its runs,
 * and in each run. The cost is the share of decodable frames with the best
 * subset of the paths, minus the share with all paths. The worst run that was
 * measured has a cost of 0.023, the frames of one group of pictures. */
#define MAX_COST 0.01
#define MAX_COST_OF_RUN 0.04
/* Latency in ns of the case in which the deadline is short. */
#define SHORT_LATENCY (150 * LINK_MS)
/* Minimum share of decodable frames in this case, in the median of its runs. */
#define MIN_SHARE 0.99

static gdouble
get_share (const ArenaScenario * scenario, guint subset, guint number)
{
  ArenaScenario part;
  ArenaOutcome outcome;

  arena_bond_get_subset (scenario, subset, &part);
  arena_scenario_run_mmtp (&part, number, &outcome);
  fail_unless_equals_int (outcome.state, ARENA_OUTCOME_DONE);
  return outcome.mmtp.decodable;
}

/* Returns the cost of a run of the bond. Sets `share` to the share of decodable
 * frames with all paths. */
static gdouble
get_cost (const ArenaScenario * scenario, guint number, gdouble * share)
{
  const guint all = (1 << scenario->n_paths) - 1;
  gdouble best = *share = get_share (scenario, all, number);
  guint subset;

  for (subset = 1; subset < all; subset++)
    best = MAX (best, get_share (scenario, subset, number));
  return best - *share;
}

/* Returns whether the case is the one with the short deadline. */
static gboolean
check_case (const ArenaScenario * scenario)
{
  gdouble costs[MAX_RUNS], shares[MAX_RUNS], cost, share;
  guint i, n = scenario->n_runs;

  fail_unless (n <= MAX_RUNS);
  for (i = 0; i < n; i++)
    costs[i] = get_cost (scenario, i, &shares[i]);
  cost = arena_median (costs, n);
  share = arena_median (shares, n);
  g_print ("  %s: cost %.1f points (%.1f to %.1f), decodable %.1f %% "
      "(%.1f to %.1f)\n", scenario->name, 100 * cost, 100 * costs[0],
      100 * costs[n - 1], 100 * share, 100 * shares[0], 100 * shares[n - 1]);
  fail_unless (cost <= MAX_COST, "%s: cost %.3f", scenario->name, cost);
  fail_unless (costs[n - 1] <= MAX_COST_OF_RUN, "%s: cost %.3f in a run",
      scenario->name, costs[n - 1]);
  if (scenario->latency != SHORT_LATENCY)
    return FALSE;
  fail_unless (share >= MIN_SHARE, "%s: share %.3f", scenario->name, share);
  return TRUE;
}

GST_START_TEST (additional_path_costs_at_most_a_point)
{
  ArenaGroups *groups = arena_groups_new (ARENA_SOURCE_DIR "/tests/check/data",
      NULL, NULL);
  GPtrArray *cases;
  guint i, n_short = 0;

  fail_unless (groups != NULL);
  cases = arena_bonds_get_cases (groups);
  fail_unless (cases->len >= 8);
  for (i = 0; i < cases->len; i++)
    n_short += check_case (g_ptr_array_index (cases, i));
  fail_unless_equals_int (n_short, 1);
  g_ptr_array_unref (cases);
  arena_groups_free (groups);
}

GST_END_TEST;

static Suite *
mmtpbonds_suite (void)
{
  Suite *s = suite_create ("mmtpbonds");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_set_timeout (tc, 600);
  tcase_add_test (tc, additional_path_costs_at_most_a_point);
  return s;
}

GST_CHECK_MAIN (mmtpbonds);
