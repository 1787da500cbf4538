/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures how well an encoder uses mobile links if it follows the estimate of
 * MMTP. (The estimate is the bitrate that MMTP expects the path to carry.) The
 * links are recorded or modelled, and time is virtual (bitratesimulation.h).
 *
 * Each frame refers to the frame before it. A frame is shown if two conditions
 * hold: it and all frames since the last key frame have arrived, and it has
 * arrived at most 400 ms after its capture.
 *
 *   build/tests/benchmarks/bitratelinks --runs 8
 *   build/tests/benchmarks/bitratelinks --bitrate 1500000
 *
 * Each link is measured in several runs. The runs over a recorded link begin at
 * different positions of the recording. The runs over a modelled link use
 * different seeds of the model.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bitratesimulation.h"

#define MS LINK_MS
#define SECOND LINK_SECOND
#define DURATION (60 * SECOND)
/* Only frames that were captured before this time count in the results. The
 * frames of the last second do not count, because they may still be in flight
 * at the end. */
#define JUDGED (DURATION - SECOND)
#define LATENCY (380 * MS)
#define LATE (400 * MS)
#define FREEZE (200 * MS)
#define FIRST_BITRATE 1000000

typedef struct
{
  gint runs;
  gint64 bitrate;               /* fixed bitrate in bit/s; 0 = bitrateadapt */
  gchar *only;
} Options;

typedef struct
{
  gdouble bitrate;              /* mean bitrate of the encoder in bit/s */
  /* The geometric mean of the frame sizes, converted to a bitrate in bit/s. It
   * is a measure of the picture quality, because the quality is about
   * proportional to the logarithm of the bitrate. If the bitrate varies, the
   * quality is lower than with a constant bitrate of the same arithmetic mean.
   * The geometric mean is then lower, too. */
  gdouble geometric;
  /* Median and 95th percentile of the delay of all frames, in ns. The delay of
   * a frame that is not shown is infinite. */
  gdouble median, p95;
  gdouble not_shown;            /* frames */
  gdouble frozen;               /* ns */
} Result;

static gboolean
parse_options (int *argc, char ***argv, Options * options)
{
  const GOptionEntry entries[] = {
    {"runs", 0, 0, G_OPTION_ARG_INT, &options->runs,
        "Runs over each link (8)", "N"},
    {"bitrate", 0, 0, G_OPTION_ARG_INT64, &options->bitrate,
        "Fixed bitrate in bit/s instead of bitrateadapt", "BITRATE"},
    {"only", 0, 0, G_OPTION_ARG_STRING, &options->only,
        "Links whose name contains this", "PATTERN"},
    {NULL}
  };
  GOptionContext *context = g_option_context_new (NULL);
  GError *error = NULL;
  gboolean is_parsed;

  g_option_context_set_summary (context,
      "An encoder that follows the estimate of MMTP, in virtual time");
  g_option_context_add_main_entries (context, entries, NULL);
  is_parsed = g_option_context_parse (context, argc, argv, &error);
  g_option_context_free (context);
  if (is_parsed && options->runs > 0)
    return TRUE;
  fprintf (stderr, "bitratelinks: %s\n", is_parsed ?
      "--runs must be at least 1" : error->message);
  g_clear_error (&error);
  return FALSE;
}

/* --- judging a run -------------------------------------------------------- */

static gint
compare (gconstpointer a, gconstpointer b)
{
  const gdouble first = *(const gdouble *) a, second = *(const gdouble *) b;

  return (first > second) - (first < second);
}

static gdouble
get_percentile (gdouble * values, guint n, gdouble share)
{
  qsort (values, n, sizeof (gdouble), compare);
  return values[MIN ((guint) (share * n), n - 1)];
}

/* Returns the delay of a frame in ns, or G_MAXDOUBLE if the frame is not shown
 * in time. Call this function for one frame after the other. Before the call,
 * `is_decodable` says whether the previous frame could be decoded. After the
 * call, it says whether this frame can be decoded. */
static gdouble
get_delay (const BitrateFrame * frame, gboolean * is_decodable)
{
  gdouble delay;

  *is_decodable = (*is_decodable || frame->is_key)
      && frame->shown != BITRATE_NEVER;
  delay = *is_decodable ? frame->shown - frame->captured : G_MAXDOUBLE;
  return delay <= LATE ? delay : G_MAXDOUBLE;
}

static void
judge (const BitrateSimulation * simulation, Result * result)
{
  gdouble delays[BITRATE_MAX_FRAMES];
  gboolean is_decodable = FALSE;
  guint64 last = BITRATE_NEVER;
  gdouble logarithms = 0;
  guint i, n = 0;

  for (i = 0; i < simulation->n_frames
      && simulation->frames[i].captured < JUDGED; i++) {
    const BitrateFrame *frame = &simulation->frames[i];

    delays[n] = get_delay (frame, &is_decodable);
    result->bitrate += frame->size * 8.0 * SECOND / JUDGED;
    logarithms += log (MAX (frame->size, 1));
    if (delays[n++] == G_MAXDOUBLE) {
      result->not_shown++;
      continue;
    }
    if (last != BITRATE_NEVER && frame->shown > last + FREEZE)
      result->frozen += frame->shown - last;
    last = frame->shown;
  }
  result->geometric = exp (logarithms / n) * 8 * SECOND / BITRATE_FRAME_PERIOD;
  result->median = get_percentile (delays, n, 0.5);
  result->p95 = get_percentile (delays, n, 0.95);
}

/* --- running -------------------------------------------------------------- */

static void
run (const ArenaPath * path, guint number, const Options * options,
    Result * result)
{
  const guint64 bitrate = options->bitrate > 0 ? options->bitrate :
      FIRST_BITRATE;
  ArenaPath seeded = *path;
  BitrateSimulation *simulation;

  seeded.config[ARENA_FORWARD].seed = seeded.config[ARENA_BACK].seed =
      number + 1;
  simulation = bitrate_simulation_new (&seeded, number, options->runs,
      number + 1, bitrate, LATENCY, DURATION + SECOND);
  simulation->encoder.is_fixed = options->bitrate > 0;
  bitrate_simulation_run (simulation, DURATION);
  judge (simulation, result);
  bitrate_simulation_free (simulation);
}

static void
print_delay (gdouble delay)
{
  if (delay == G_MAXDOUBLE)
    printf (" %7s", "-");
  else
    printf (" %7.0f", delay / MS);
}

static void
run_link (const gchar * name, const ArenaPath * path, const Options * options)
{
  gdouble *medians, *p95s;
  Result sum = { 0 };
  gint i;

  if (options->only && !g_strrstr (name, options->only))
    return;
  medians = g_new (gdouble, options->runs);
  p95s = g_new (gdouble, options->runs);
  for (i = 0; i < options->runs; i++) {
    Result result = { 0 };

    run (path, i, options, &result);
    medians[i] = result.median;
    p95s[i] = result.p95;
    sum.bitrate += result.bitrate / options->runs;
    sum.geometric += result.geometric / options->runs;
    sum.not_shown += result.not_shown / options->runs;
    sum.frozen += result.frozen / options->runs;
  }
  printf ("%-24s %7.2f %9.2f", name, sum.bitrate / 1e6, sum.geometric / 1e6);
  print_delay (get_percentile (medians, options->runs, 0.5));
  print_delay (get_percentile (p95s, options->runs, 0.5));
  printf (" %9.1f %7.2f\n", sum.not_shown, sum.frozen / SECOND);
  g_free (medians);
  g_free (p95s);
  fflush (stdout);
}

/* --- the links ------------------------------------------------------------ */

static void
run_recording (const gchar * directory, const gchar * name,
    const Options * options)
{
  gchar *file = g_build_filename (directory, name, NULL);
  GError *error = NULL;
  ArenaTrace *trace = arena_trace_load (file, &error);
  ArenaPath path;

  g_free (file);
  if (!trace) {
    printf ("%-24s skipped: %s\n", name, error->message);
    g_error_free (error);
    return;
  }
  arena_path_init (&path, 20000000, 20 * MS);
  path.config[ARENA_FORWARD].queue.packets = 200;
  path.trace[ARENA_FORWARD] = trace;
  path.rotates = TRUE;
  run_link (name, &path, options);
  arena_trace_free (trace);
}

static void
run_recordings (const Options * options)
{
  static const gchar *const names[] = { "TMobile-LTE-short.down",
    "TMobile-LTE-short.up", "Verizon-LTE-short.down", "Verizon-LTE-short.up"
  };
  const gchar *named = g_getenv ("MMTP_TRACES");
  gchar *directory = named ? g_strdup (named) :
      g_build_filename (ARENA_SOURCE_DIR, "..", "shared", "traces", NULL);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (names); i++)
    run_recording (directory, names[i], options);
  g_free (directory);
}

static void
run_cellular (const gchar * name, LinkQuality quality, const Options * options)
{
  ArenaPath path;
  guint i;

  arena_path_init (&path, 0, 0);
  for (i = 0; i < ARENA_N_DIRECTIONS; i++)
    link_config_init (&path.config[i], LINK_PROFILE_CELLULAR, quality);
  run_link (name, &path, options);
}

/* 4 Mbit/s, and 1.5 Mbit/s from 20 to 30 s */
static void
run_steps (const Options * options)
{
  ArenaTrace *trace = arena_trace_new ("steps");
  ArenaPath path;

  arena_trace_add_rate (trace, 0, 20000, 4000000);
  arena_trace_add_rate (trace, 20000, 30000, 1500000);
  arena_trace_add_rate (trace, 30000, DURATION / MS, 4000000);
  arena_path_init (&path, 20000000, 20 * MS);
  path.config[ARENA_FORWARD].queue.packets = 50;
  path.trace[ARENA_FORWARD] = trace;
  run_link ("steps", &path, options);
  arena_trace_free (trace);
}

int
main (int argc, char **argv)
{
  Options options = {.runs = 8 };

  if (!parse_options (&argc, &argv, &options))
    return 2;
  printf ("%s; medians of the delays and means of the other columns, %d runs\n"
      "%-24s %7s %9s %7s %7s %9s %7s\n", options.bitrate > 0 ? "fixed bitrate" :
      "bitrateadapt", options.runs, "link", "Mbit/s", "geometric", "p50, ms",
      "p95, ms", "not shown", "frozen");
  run_recordings (&options);
  run_cellular ("cellular, good", LINK_QUALITY_GOOD, &options);
  run_cellular ("cellular, poor", LINK_QUALITY_POOR, &options);
  run_steps (&options);
  g_free (options.only);
  return 0;
}
