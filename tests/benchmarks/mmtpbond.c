/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures how much an additional path harms a bond. (A bond is a group of
 * paths that carry one stream.) The program runs each bond of the benchmark
 * mmtparena in virtual time, once with each subset of its paths. Each time, it
 * measures the share of frames that can be decoded in time.
 *
 * The harm is a difference between two shares, in percentage points: the share
 * with the best subset of paths, minus the share with all paths. The program
 * prints the bonds with the largest harm, and percentiles of the harm. With
 * --repeats, it runs each random bond several times, and also prints the results
 * of the medians.
 *
 *   build/tests/benchmarks/mmtpbond --seeds 100
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arenabonds.h"
#include "workers.h"

#define MAX_SUBSETS (1 << ARENA_MAX_PATHS)

typedef struct
{
  gint seeds, first, repeats, worst;
  gboolean cases;
  gchar *only;
} Options;

typedef struct
{
  guint number;                 /* Number of the run. */
  /* The share of frames that can be decoded in time, for each subset of the
   * paths. In the index, bit i is set if the subset contains the path i.
   * share[0] is not used. */
  gdouble share[MAX_SUBSETS];
  gdouble possible;
} Result;

typedef struct
{
  const ArenaScenario *scenario;
  guint number;                 /* Number of the run. */
} Job;

static gboolean
parse_options (int *argc, char ***argv, Options * options)
{
  const GOptionEntry entries[] = {
    {"seeds", 0, 0, G_OPTION_ARG_INT, &options->seeds,
        "Random bonds (100)", "N"},
    {"first", 0, 0, G_OPTION_ARG_INT, &options->first,
        "Seed of the first random bond (1)", "N"},
    {"repeats", 0, 0, G_OPTION_ARG_INT, &options->repeats,
        "Runs of each random bond (1)", "N"},
    {"cases", 0, 0, G_OPTION_ARG_NONE, &options->cases,
        "The cases of users, and pairs and triples of recordings, too", NULL},
    {"only", 0, 0, G_OPTION_ARG_STRING, &options->only,
        "Bonds whose name contains this", "PATTERN"},
    {"worst", 0, 0, G_OPTION_ARG_INT, &options->worst,
        "Bonds that are printed (20)", "N"},
    {NULL}
  };
  GOptionContext *context = g_option_context_new (NULL);
  GError *error = NULL;
  gboolean parsed;

  g_option_context_set_summary (context,
      "What another path costs a bond, in virtual time");
  g_option_context_add_main_entries (context, entries, NULL);
  parsed = g_option_context_parse (context, argc, argv, &error);
  g_option_context_free (context);
  if (parsed && options->repeats < 1) {
    fprintf (stderr, "mmtpbond: --repeats must be at least 1\n");
    return FALSE;
  }
  if (!parsed) {
    fprintf (stderr, "mmtpbond: %s\n", error->message);
    g_error_free (error);
  }
  return parsed;
}

static void
run_job (guint number, gpointer out, gpointer jobs)
{
  const Job *job = &g_array_index ((GArray *) jobs, Job, number);
  Result *result = out;
  guint subset, all = (1 << job->scenario->n_paths) - 1;
  ArenaOutcome outcome;

  for (subset = 1; subset < all; subset++) {
    ArenaScenario part;

    arena_bond_get_subset (job->scenario, subset, &part);
    arena_scenario_run_mmtp (&part, job->number, &outcome);
    result->share[subset] = outcome.mmtp.decodable;
  }
  arena_scenario_run (job->scenario, job->number, &outcome);
  result->share[all] = outcome.mmtp.decodable;
  result->possible = outcome.possible;
}

/* A line of the table: a bond with one run, or with the medians of several. */
typedef struct
{
  const ArenaScenario *scenario;
  guint first_run, n_runs;
  Result result;
  gdouble cost;
  /* The lowest and the highest cost of the single runs. */
  gdouble min, max;
} Row;

static guint
get_best_subset (guint n_paths, const Result * result)
{
  guint subset, best = 1, all = (1 << n_paths) - 1;

  for (subset = 1; subset <= all; subset++) {
    if (result->share[subset] > result->share[best])
      best = subset;
  }
  return best;
}

static gdouble
get_cost (guint n_paths, const Result * result)
{
  return result->share[get_best_subset (n_paths, result)]
      - result->share[(1 << n_paths) - 1];
}

/* Makes a row of `n` runs of the same bond. Its share of each subset is the
 * median of the runs. The best subset of a single run is often the luckiest
 * one, so its cost is above zero even if no path harms. */
static void
make_row (const Job * jobs, const Result * results, guint n, Row * row)
{
  guint n_paths = jobs->scenario->n_paths, subset, i;
  gdouble *shares = g_new (gdouble, n);

  *row = (Row) {
  jobs->scenario, jobs->number, n};
  row->min = row->max = get_cost (n_paths, results);
  for (i = 0; i < n; i++) {
    gdouble cost = get_cost (n_paths, &results[i]);

    row->min = MIN (row->min, cost);
    row->max = MAX (row->max, cost);
    row->result.possible += results[i].possible / n;
  }
  for (subset = 1; subset < 1 << n_paths; subset++) {
    for (i = 0; i < n; i++)
      shares[i] = results[i].share[subset];
    row->result.share[subset] = arena_median (shares, n);
  }
  row->cost = get_cost (n_paths, &row->result);
  g_free (shares);
}

static gint
compare_rows (gconstpointer a, gconstpointer b)
{
  const Row *first = a, *second = b;

  return first->cost < second->cost ? 1 : first->cost > second->cost ? -1 : 0;
}

static void
print_row (const Row * row)
{
  guint n_paths = row->scenario->n_paths;
  guint i, best = get_best_subset (n_paths, &row->result);

  printf ("%6.1f", 100 * row->cost);
  if (row->n_runs > 1)
    printf (" (%.1f to %.1f)", 100 * row->min, 100 * row->max);
  printf (": all %5.1f, best %5.1f (",
      100 * row->result.share[(1 << n_paths) - 1],
      100 * row->result.share[best]);
  for (i = 0; i < n_paths; i++)
    printf ("%c", best & 1 << i ? 'a' + i : '-');
  printf ("), possible %5.1f; %s", 100 * row->result.possible,
      row->scenario->name);
  if (row->n_runs == 1)
    printf (", run %u", row->first_run);
  printf ("\n");
}

static void
print_rows (const gchar * group, const gchar * kind, GArray * rows, guint worst)
{
  gdouble share = 0, possible = 0, sum = 0;
  guint i;

  g_array_sort (rows, compare_rows);
  for (i = 0; i < rows->len; i++) {
    const Row *row = &g_array_index (rows, Row, i);

    if (i < worst)
      print_row (row);
    share += row->result.share[(1 << row->scenario->n_paths) - 1];
    possible += row->result.possible;
    sum += row->cost;
  }
  if (rows->len > 0)
    printf ("%s: %u %s, all paths %.1f %%, possible %.1f %%; cost in points: "
        "mean %.2f, median %.2f, 90th percentile %.2f, 95th %.2f, worst %.2f\n",
        group, rows->len, kind, 100 * share / rows->len,
        100 * possible / rows->len, 100 * sum / rows->len,
        100 * g_array_index (rows, Row, rows->len / 2).cost,
        100 * g_array_index (rows, Row, rows->len / 10).cost,
        100 * g_array_index (rows, Row, rows->len / 20).cost,
        100 * g_array_index (rows, Row, 0).cost);
}

/* Prints the single runs of a group, and then the medians of each bond. */
static void
print_group (const gchar * group, const GArray * jobs, const Result * results,
    guint worst)
{
  GArray *runs = g_array_new (FALSE, FALSE, sizeof (Row));
  GArray *bonds = g_array_new (FALSE, FALSE, sizeof (Row));
  guint i;

  for (i = 0; i < jobs->len; i++) {
    const Job *job = &g_array_index (jobs, Job, i);
    Row row;

    if (!g_str_equal (job->scenario->group, group))
      continue;
    make_row (job, &results[i], 1, &row);
    g_array_append_val (runs, row);
    if (job->number > 0)
      continue;
    make_row (job, &results[i], job->scenario->n_runs, &row);
    g_array_append_val (bonds, row);
  }
  print_rows (group, "runs", runs, worst);
  if (bonds->len < runs->len)
    print_rows (group, "medians", bonds, worst);
  g_array_unref (runs);
  g_array_unref (bonds);
}

static void
add_jobs (GArray * jobs, const ArenaScenario * scenario, const gchar * only)
{
  Job job = { scenario, 0 };

  if (only && !strstr (scenario->name, only))
    return;
  for (job.number = 0; job.number < scenario->n_runs; job.number++)
    g_array_append_val (jobs, job);
}

static int
run (const Options * options, const ArenaGroups * groups)
{
  GPtrArray *cases = arena_bonds_get_cases (groups);
  GArray *jobs = g_array_new (FALSE, FALSE, sizeof (Job));
  gboolean complete;
  Result *results;
  guint i;

  for (i = 0; options->cases && i < cases->len; i++)
    add_jobs (jobs, g_ptr_array_index (cases, i), options->only);
  for (i = 0; i < options->seeds; i++) {
    ArenaScenario *scenario = arena_bond_draw (groups, options->first + i);

    scenario->n_runs = options->repeats;
    g_ptr_array_add (cases, scenario);
    add_jobs (jobs, scenario, options->only);
  }
  results = workers_run (jobs->len, sizeof (Result), 0, run_job, jobs,
      &complete);
  if (results) {
    print_group ("case", jobs, results, options->worst);
    print_group ("random", jobs, results, options->worst);
    workers_free_results (results, jobs->len, sizeof (Result));
  }
  g_array_unref (jobs);
  g_ptr_array_unref (cases);
  return complete ? 0 : 1;
}

int
main (int argc, char **argv)
{
  Options options = { 100, 1, 1, 20 };
  const gchar *named = g_getenv ("MMTP_TRACES");
  gchar *recordings = named ? g_strdup (named) :
      g_build_filename (ARENA_SOURCE_DIR, "..", "shared", "traces", NULL);
  GError *error = NULL;
  ArenaGroups *groups;
  int status = 1;

  if (!parse_options (&argc, &argv, &options))
    return 2;
  groups = arena_groups_new (ARENA_SOURCE_DIR "/tests/check/data", recordings,
      &error);
  if (groups) {
    status = run (&options, groups);
    arena_groups_free (groups);
  } else {
    fprintf (stderr, "mmtpbond: %s\n", error->message);
    g_error_free (error);
  }
  g_free (recordings);
  g_free (options.only);
  return status;
}
