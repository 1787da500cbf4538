/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The arena runs the sender and the receiver of MMTP over emulated links of
 * every kind, in virtual time. The links are computed by the code of the
 * element wirelesslink. The results are compared with RTP over UDP, and with a
 * sender that has perfect foresight.
 *
 * The program prints one row for each scenario, with the medians and ranges of
 * its runs. It starts one process for each processor core, so that several runs
 * are made at the same time.
 *
 *   build/tests/benchmarks/mmtparena --group recorded --only 3M
 *
 * Every change to MMTP's rate control is judged by this table. docs/mmtp.md
 * explains its columns.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arenagroups.h"
#include "mmtpratecontrol.h"
#include "workers.h"

/* --- options -------------------------------------------------------------- */

typedef struct
{
  gchar *only, *group, *csv, *control;
  gint jobs, runs;
  gboolean verbose, list, check_possible;
} Options;

static void
print_error (GError * error)
{
  fprintf (stderr, "mmtparena: %s\n", error->message);
  g_error_free (error);
}

static gboolean
parse_options (int *argc, char ***argv, Options * options)
{
  const GOptionEntry entries[] = {
    {"only", 0, 0, G_OPTION_ARG_STRING, &options->only,
        "Scenarios whose name contains this", "PATTERN"},
    {"group", 0, 0, G_OPTION_ARG_STRING, &options->group,
        "Scenarios of this group, or of several: a,b", "NAME"},
    {"runs", 0, 0, G_OPTION_ARG_INT, &options->runs,
        "The first runs of each scenario only", "N"},
    {"jobs", 0, 0, G_OPTION_ARG_INT, &options->jobs,
        "Processes (default: one for each core)", "N"},
    {"control", 0, 0, G_OPTION_ARG_STRING, &options->control,
        "Rate control of MMTP (default: the first one)", "NAME"},
    {"csv", 0, 0, G_OPTION_ARG_FILENAME, &options->csv,
        "Write a line for each run to this file", "FILE"},
    {"verbose", 0, 0, G_OPTION_ARG_NONE, &options->verbose,
        "Print a line for each run, too", NULL},
    {"list", 0, 0, G_OPTION_ARG_NONE, &options->list,
        "Print the scenarios and leave", NULL},
    {"check-possible", 0, 0, G_OPTION_ARG_NONE, &options->check_possible,
        "Compare what is called possible with the optimum, and leave", NULL},
    {NULL}
  };
  GOptionContext *context = g_option_context_new (NULL);
  GError *error = NULL;
  gboolean parsed;

  g_option_context_set_summary (context,
      "MMTP in virtual time over links of every kind");
  g_option_context_add_main_entries (context, entries, NULL);
  parsed = g_option_context_parse (context, argc, argv, &error);
  g_option_context_free (context);
  if (!parsed)
    print_error (error);
  return parsed;
}

static gboolean
is_wanted (const Options * options, const ArenaScenario * scenario)
{
  gboolean in_group = TRUE;

  if (options->group) {
    gchar **names = g_strsplit (options->group, ",", -1);

    in_group = g_strv_contains ((const gchar * const *) names, scenario->group);
    g_strfreev (names);
  }
  return in_group && (!options->only || strstr (scenario->name, options->only));
}

/* Makes all runs use MMTP's rate control with the name `name`. If there is no
 * rate control with this name, prints an error and returns FALSE. */
static gboolean
choose_control (const gchar * name)
{
  guint i;

  if (arena_simulation_set_rate_control (name))
    return TRUE;
  fprintf (stderr, "mmtparena: there is no rate control \"%s\", but:", name);
  for (i = 0; mmtp_rate_controls[i]; i++)
    fprintf (stderr, " %s", mmtp_rate_controls[i]->name);
  fprintf (stderr, "\n");
  return FALSE;
}

/* --- runs ----------------------------------------------------------------- */

typedef struct
{
  const ArenaScenario *scenario;
  guint first, n;               /* Range of its outcomes. */
} Row;

static GArray *
make_rows (const ArenaGroups * groups, const Options * options,
    guint * n_outcomes)
{
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (Row));
  guint i;

  *n_outcomes = 0;
  for (i = 0; i < groups->scenarios->len; i++) {
    Row row = { g_ptr_array_index (groups->scenarios, i), *n_outcomes, 0 };

    if (!is_wanted (options, row.scenario))
      continue;
    row.n = row.scenario->n_runs;
    if (options->runs > 0)
      row.n = MIN (row.n, options->runs);
    *n_outcomes += row.n;
    g_array_append_val (rows, row);
  }
  return rows;
}

static void
run_outcome (guint number, gpointer outcome, gpointer data)
{
  const GArray *rows = data;
  guint i;

  for (i = 0; i < rows->len; i++) {
    const Row *row = &g_array_index (rows, Row, i);

    if (number < row->first + row->n) {
      arena_scenario_run (row->scenario, number - row->first, outcome);
      return;
    }
  }
}

/* --- the table ------------------------------------------------------------ */

typedef gdouble (*GetValue) (const ArenaOutcome * outcome);

#define GETTER(name, field) \
static gdouble \
get_##name (const ArenaOutcome * outcome) \
{ \
  return outcome->field; \
}

GETTER (possible, possible);
GETTER (first_choice, first_choice);
GETTER (max_gap, max_gap);
GETTER (share, share);
GETTER (ready, ready);
GETTER (estimate, estimate);
GETTER (udp, udp.decodable);
GETTER (mmtp, mmtp.decodable);
GETTER (p50, mmtp.p50);
GETTER (p95, mmtp.p95);
GETTER (p99, mmtp.p99);
GETTER (worst_second, mmtp.worst_second);
GETTER (sent, mmtp.sent_per_played);
GETTER (orphans, mmtp.orphans);
GETTER (vain, mmtp.vain);
GETTER (feedback, mmtp.feedback);
GETTER (queueing_mean, mmtp.queueing_mean);
GETTER (queueing_p95, mmtp.queueing_p95);
GETTER (udp_p95, udp.p95);
GETTER (udp_worst_second, udp.worst_second);
GETTER (udp_queueing_p95, udp.queueing_p95);
GETTER (first_extra, extras[0]);
GETTER (second_extra, extras[1]);
GETTER (seconds, seconds);

static const GetValue get_extra[ARENA_MAX_EXTRAS] = { get_first_extra,
  get_second_extra
};

/* The median, the minimum and the maximum of a figure over the runs of a
 * scenario. Runs that do not measure the figure are left out. */
typedef struct
{
  gdouble median, min, max;
} Range;

static Range
get_range (const Row * row, const ArenaOutcome * outcomes, GetValue get)
{
  gdouble *values = g_new (gdouble, row->n);
  Range range;
  guint i, n = 0;

  for (i = 0; i < row->n; i++) {
    const ArenaOutcome *outcome = &outcomes[row->first + i];

    if (outcome->state != ARENA_OUTCOME_NONE && !isnan (get (outcome)))
      values[n++] = get (outcome);
  }
  range.median = arena_percentile (values, n, 0.5);
  /* If the number of values is even, the median is the mean of the two values
   * in the middle. */
  if (n % 2 == 0 && n > 0)
    range.median = (values[n / 2 - 1] + values[n / 2]) / 2;
  range.min = n ? values[0] : NAN;
  range.max = n ? values[n - 1] : NAN;
  g_free (values);
  return range;
}

static gdouble
get_median (const Row * row, const ArenaOutcome * outcomes, GetValue get)
{
  return get_range (row, outcomes, get).median;
}

/* Writes a figure as a text. NAN means that the scenario does not measure this
 * figure. If the figure is the time of an event, INFINITY means that the event
 * never happened. */
static const gchar *
format (gchar text[16], gdouble value, guint digits)
{
  if (isnan (value))
    g_strlcpy (text, "", 16);
  else if (isinf (value))
    g_strlcpy (text, "-", 16);
  else
    g_snprintf (text, 16, "%.*f", digits, value);
  return text;
}

static void
print_value (gdouble value, guint width, guint digits)
{
  gchar text[16];

  printf (" %*s", width, format (text, value, digits));
}

static void
print_range (Range range, gdouble factor, guint digits)
{
  gchar median[16], min[16], max[16];

  printf (" %5s [%s..%s]", format (median, factor * range.median, digits),
      format (min, factor * range.min, digits),
      format (max, factor * range.max, digits));
}

static void
print_padded_range (Range range)
{
  gchar text[32];

  g_snprintf (text, sizeof text, "%.1f [%.1f..%.1f]", 100 * range.median,
      100 * range.min, 100 * range.max);
  printf (" %18s", text);
}

static void
print_head (void)
{
  printf ("\nShares in %% of the frames, decodable in time; delays in ms; "
      "medians of the runs\n"
      "%-56s %5s %5s %18s %6s %5s %5s %5s %5s %5s %5s %5s %5s %s\n", "",
      "poss.", "UDP", "MMTP [range]", "share", "p50", "p95", "p99", "worst",
      "sent", "back%", "queue", "p95", "");
}

static void
print_extras (const Row * row, const ArenaOutcome * outcomes)
{
  guint i;

  for (i = 0; i < ARENA_MAX_EXTRAS; i++) {
    const gchar *name = arena_scenario_get_extra_name (row->scenario, i);

    if (!name)
      continue;
    printf ("  %s:", name);
    print_range (get_range (row, outcomes, get_extra[i]), 1, 2);
  }
}

/* Returns whether MMTP delivers clearly fewer decodable frames than UDP. The
 * criterion is the median percentage of decodable frames: with MMTP, it is more
 * than one percentage point lower than with UDP. */
static gboolean
is_below_udp (const Row * row, const ArenaOutcome * outcomes)
{
  return get_median (row, outcomes, get_mmtp)
      < get_median (row, outcomes, get_udp) - 0.01;
}

static guint
count_state (const Row * row, const ArenaOutcome * outcomes,
    ArenaOutcomeState state)
{
  guint i, sum = 0;

  for (i = 0; i < row->n; i++)
    sum += outcomes[row->first + i].state == state;
  return sum;
}

static void
print_failures (const Row * row, const ArenaOutcome * outcomes)
{
  guint none = count_state (row, outcomes, ARENA_OUTCOME_NONE);
  guint stuck = count_state (row, outcomes, ARENA_OUTCOME_STUCK);

  if (none > 0)
    printf ("  %u runs DIED", none);
  if (stuck > 0)
    printf ("  %u runs STUCK", stuck);
}

static void
print_row (const Row * row, const ArenaOutcome * outcomes)
{
  gchar *name = g_strdup_printf ("%s: %s", row->scenario->group,
      row->scenario->name);

  printf ("%-56s", name);
  print_value (100 * get_median (row, outcomes, get_possible), 5, 1);
  print_value (100 * get_median (row, outcomes, get_udp), 5, 1);
  print_padded_range (get_range (row, outcomes, get_mmtp));
  printf ("%s", is_below_udp (row, outcomes) ? "<" : " ");
  print_value (100 * get_median (row, outcomes, get_share), 5, 1);
  print_value (get_median (row, outcomes, get_p50), 5, 0);
  print_value (get_median (row, outcomes, get_p95), 5, 0);
  print_value (get_median (row, outcomes, get_p99), 5, 0);
  print_value (100 * get_median (row, outcomes, get_worst_second), 5, 0);
  print_value (get_median (row, outcomes, get_sent), 5, 2);
  print_value (100 * get_median (row, outcomes, get_feedback), 5, 1);
  print_value (get_median (row, outcomes, get_queueing_mean), 5, 0);
  print_value (get_median (row, outcomes, get_queueing_p95), 5, 0);
  print_extras (row, outcomes);
  print_failures (row, outcomes);
  printf ("\n");
  g_free (name);
}

static void
print_runs (const Row * row, const ArenaOutcome * outcomes)
{
  guint i;

  for (i = 0; i < row->n; i++) {
    const ArenaOutcome *outcome = &outcomes[row->first + i];

    printf ("    run %u: possible %.1f, UDP %.1f, MMTP %.1f; ready after %.0f "
        "ms, estimate %.2f Mbit/s; longest gap %.0f ms; %.2f s of CPU time\n",
        i, 100 * outcome->possible, 100 * outcome->udp.decodable,
        100 * outcome->mmtp.decodable, outcome->ready,
        outcome->estimate / 1e6, outcome->max_gap, outcome->seconds);
  }
}

/* --- summary -------------------------------------------------------------- */

/* The maximum duration in ms of a gap that MMTP can bridge in this benchmark. A
 * gap is a time in which no packet can arrive over the link. The limit follows
 * from the latency of the session in this benchmark, which is 450 ms. */
#define BRIDGED_GAP 300

/* Prints a line about those runs of a group in which the link had no gap longer
 * than BRIDGED_GAP. In each of these runs, MMTP should deliver at least 95 % of
 * the frames that could arrive in time. */
static void
print_runs_without_gaps (const GArray * rows, guint first, guint end,
    const ArenaOutcome * outcomes)
{
  const Row *begin = &g_array_index (rows, Row, first);
  const Row *last = &g_array_index (rows, Row, end - 1);
  guint i, n = 0, n_runs = last->first + last->n - begin->first;
  gdouble *shares = g_new (gdouble, n_runs), median;

  for (i = begin->first; i < begin->first + n_runs; i++) {
    const ArenaOutcome *outcome = &outcomes[i];

    if (outcome->max_gap <= BRIDGED_GAP && !isnan (outcome->share))
      shares[n++] = outcome->share;
  }
  median = arena_percentile (shares, n, 0.5);
  if (n > 0 && n < n_runs)
    printf ("%-16s %3u of %u runs without a gap above %u ms: median share "
        "%5.1f, worst %5.1f\n", "", n, n_runs, BRIDGED_GAP,
        100 * median, 100 * shares[0]);
  g_free (shares);
}

/* Prints one line about a group of scenarios. The figures of a scenario are
 * medians over its runs. One figure is the share: the number of frames that
 * MMTP delivers in time, divided by the number that a sender with perfect
 * foresight delivers in time. The line contains:
 * - the mean of each figure over the scenarios
 * - the lowest share of all scenarios
 * - the number of scenarios in which MMTP is worse than UDP */
static void
print_group (const GArray * rows, guint first, guint end,
    const ArenaOutcome * outcomes)
{
  gdouble share = 0, worst = INFINITY, mmtp = 0, udp = 0;
  guint i, below = 0, n = 0;

  for (i = first; i < end; i++) {
    const Row *row = &g_array_index (rows, Row, i);
    gdouble of_row = get_median (row, outcomes, get_share);

    if (isnan (of_row))
      continue;
    n++;
    share += of_row;
    worst = MIN (worst, of_row);
    mmtp += get_median (row, outcomes, get_mmtp);
    udp += get_median (row, outcomes, get_udp);
    below += is_below_udp (row, outcomes);
  }
  if (n > 0)
    printf ("%-16s %3u scenarios, mean: UDP %5.1f, MMTP %5.1f, share %5.1f, "
        "worst share %5.1f; below UDP in %u\n",
        g_array_index (rows, Row, first).scenario->group, n, 100 * udp / n,
        100 * mmtp / n, 100 * share / n, 100 * worst, below);
}

static void
print_summary (const GArray * rows, const ArenaOutcome * outcomes)
{
  guint i, first = 0;

  printf ("\n");
  for (i = 1; i <= rows->len; i++) {
    const gchar *group = g_array_index (rows, Row, first).scenario->group;

    if (i < rows->len && g_str_equal (group,
            g_array_index (rows, Row, i).scenario->group))
      continue;
    print_group (rows, first, i, outcomes);
    print_runs_without_gaps (rows, first, i, outcomes);
    first = i;
  }
}

/* --- CSV ------------------------------------------------------------------ */

static const struct
{
  const gchar *name;
  GetValue get;
} columns[] = {
  {"possible", get_possible}, {"first_choice", get_first_choice},
  {"mmtp", get_mmtp}, {"share", get_share}, {"p50_ms", get_p50},
  {"p95_ms", get_p95}, {"p99_ms", get_p99},
  {"worst_second", get_worst_second}, {"sent_per_played", get_sent},
  {"feedback", get_feedback}, {"queueing_mean_ms", get_queueing_mean},
  {"orphans", get_orphans}, {"vain", get_vain},
  {"queueing_p95_ms", get_queueing_p95}, {"ready_ms", get_ready},
  {"estimate", get_estimate},
  {"max_gap_ms", get_max_gap},
  {"udp", get_udp}, {"udp_p95_ms", get_udp_p95},
  {"udp_worst_second", get_udp_worst_second},
  {"udp_queueing_p95_ms", get_udp_queueing_p95},
  {"extra1", get_first_extra}, {"extra2", get_second_extra},
  {"cpu_s", get_seconds}
};

static void
write_csv_row (FILE * file, const Row * row, const ArenaOutcome * outcomes)
{
  guint i, j;

  for (i = 0; i < row->n; i++) {
    fprintf (file, "%s,\"%s\",%u", row->scenario->group, row->scenario->name,
        i);
    for (j = 0; j < G_N_ELEMENTS (columns); j++)
      fprintf (file, ",%.6g", columns[j].get (&outcomes[row->first + i]));
    fprintf (file, "\n");
  }
}

static gboolean
write_csv (const gchar * name, const GArray * rows,
    const ArenaOutcome * outcomes)
{
  FILE *file = fopen (name, "w");
  guint i;

  if (!file) {
    fprintf (stderr, "mmtparena: cannot write %s: %s\n", name,
        g_strerror (errno));
    return FALSE;
  }
  fprintf (file, "group,scenario,run");
  for (i = 0; i < G_N_ELEMENTS (columns); i++)
    fprintf (file, ",%s", columns[i].name);
  fprintf (file, "\n");
  for (i = 0; i < rows->len; i++)
    write_csv_row (file, &g_array_index (rows, Row, i), outcomes);
  fclose (file);
  return TRUE;
}

/* --- the program ---------------------------------------------------------- */

static int
check_possible (void)
{
  gdouble worst, mean = arena_possible_check (2000, 1, &worst);

  printf ("The greedy choice brings %.2f %% of the optimum in the mean of 2000 "
      "small instances, %.1f %% in the worst\n", 100 * mean, 100 * worst);
  return worst > 1 || mean < 0.98;
}

static gchar *
get_recordings (void)
{
  const gchar *named = g_getenv ("MMTP_TRACES");

  return named ? g_strdup (named) :
      g_build_filename (ARENA_SOURCE_DIR, "..", "shared", "traces", NULL);
}

static ArenaGroups *
load_groups (void)
{
  gchar *recordings = get_recordings ();
  GError *error = NULL;
  ArenaGroups *groups = arena_groups_new (ARENA_SOURCE_DIR "/tests/check/data",
      recordings, &error);

  g_free (recordings);
  if (!groups)
    print_error (error);
  return groups;
}

static void
print_table (const GArray * rows, const ArenaOutcome * outcomes,
    gboolean verbose)
{
  guint i;

  print_head ();
  for (i = 0; i < rows->len; i++) {
    print_row (&g_array_index (rows, Row, i), outcomes);
    if (verbose)
      print_runs (&g_array_index (rows, Row, i), outcomes);
  }
  print_summary (rows, outcomes);
}

static int
run (const Options * options, const ArenaGroups * groups)
{
  guint jobs = MAX (0, options->jobs);
  guint n_outcomes;
  GArray *rows = make_rows (groups, options, &n_outcomes);
  ArenaOutcome *outcomes;
  gint64 begun = g_get_monotonic_time ();
  gboolean complete, well;

  if (n_outcomes == 0) {
    fprintf (stderr, "mmtparena: no scenario matches; --list names them%s%s\n",
        groups->skipped ? "; " : "", groups->skipped ? groups->skipped : "");
    return 1;
  }
  outcomes = workers_run (n_outcomes, sizeof (ArenaOutcome), jobs, run_outcome,
      rows, &complete);
  if (!outcomes)
    return 1;
  print_table (rows, outcomes, options->verbose);
  if (groups->skipped)
    printf ("\n%s\n", groups->skipped);
  printf ("\n%u runs of %u scenarios in %.1f s\n", n_outcomes, rows->len,
      (g_get_monotonic_time () - begun) / 1e6);
  well = !options->csv || write_csv (options->csv, rows, outcomes);
  workers_free_results (outcomes, n_outcomes, sizeof (ArenaOutcome));
  g_array_unref (rows);
  return well && complete ? 0 : 1;
}

static void
list_scenarios (const Options * options, const ArenaGroups * groups)
{
  guint i;

  for (i = 0; i < groups->scenarios->len; i++) {
    const ArenaScenario *scenario = g_ptr_array_index (groups->scenarios, i);

    if (is_wanted (options, scenario))
      printf ("%s: %s, %u runs\n", scenario->group, scenario->name,
          scenario->n_runs);
  }
}

int
main (int argc, char **argv)
{
  Options options = { NULL };
  ArenaGroups *groups;
  int status = 0;

  if (!parse_options (&argc, &argv, &options))
    return 2;
  if (options.check_possible)
    return check_possible ();
  if (!choose_control (options.control))
    return 2;
  groups = load_groups ();
  if (!groups)
    return 1;
  if (options.list)
    list_scenarios (&options, groups);
  else
    status = run (&options, groups);
  arena_groups_free (groups);
  g_free (options.only);
  g_free (options.group);
  g_free (options.csv);
  g_free (options.control);
  return status;
}
