/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of arenabonds.h: scenarios of the arena (a benchmark of MMTP)
 * in which a sender uses two to four paths together. */

#include "arenabonds.h"

#include <string.h>

#include "fractiondraw.h"
#include "seededdraw.h"

#define MS LINK_MS
#define SECOND LINK_SECOND

#define MIN_PATHS 2

/* Purpose of a random number. */
enum
{
  DRAW_PATHS,
  DRAW_STREAM,
  DRAW_KIND,
  DRAW_RATE,
  DRAW_DELAY,
  DRAW_QUEUE,
  DRAW_QUALITY,
  DRAW_TRACE,
  DRAW_DAMAGE,
  DRAW_OFFSET
};

typedef enum
{
  KIND_CONSTANT,
  KIND_CELLULAR,
  KIND_RECORDED,
  KIND_JITTER,
  KIND_LOSS,
  KIND_OUTAGE,
  KIND_STALL,
  KIND_NARROW,
  N_KINDS
} Kind;

static const gchar *const kind_names[] = { "constant", "cellular", "recorded",
  "jitter", "loss", "outage", "stall", "narrow"
};

/* --- random bonds --------------------------------------------------------- */

static void
set_seed (ArenaPath * path, guint64 seed)
{
  guint i;

  for (i = 0; i < ARENA_N_DIRECTIONS; i++)
    path->config[i].seed = seed % 100000;
}

static void
set_queue (ArenaPath * path, gdouble rate, gdouble seconds)
{
  guint i;

  for (i = 0; i < ARENA_N_DIRECTIONS; i++) {
    path->config[i].queue.packets = 0;
    path->config[i].queue.bytes = MAX (4 * 1500, rate / 8 * seconds);
  }
}

static void
set_recorded (const ArenaGroups * groups, ArenaPath * path, guint number)
{
  path->trace[ARENA_FORWARD] = g_ptr_array_index (groups->traces, number);
  path->rotates = TRUE;
}

static void
set_cellular (ArenaPath * path, LinkQuality quality)
{
  guint i;

  for (i = 0; i < ARENA_N_DIRECTIONS; i++)
    link_config_init (&path->config[i], LINK_PROFILE_CELLULAR, quality);
}

/* Makes the path worse by a fault of the given kind, such as jitter or loss.
 * `damage` says how bad the fault is, from 0 (little or no fault) to 1 (the
 * worst fault). */
static void
spoil (ArenaPath * path, Kind kind, gdouble damage)
{
  guint i;

  for (i = 0; i < ARENA_N_DIRECTIONS; i++) {
    LinkPipeConfig *pipe = &path->config[i].pipe;

    switch (kind) {
      case KIND_JITTER:
        pipe->jitter = (5 + 45 * damage) * MS;
        pipe->jitter_exponential = TRUE;
        break;
      case KIND_LOSS:
        pipe->loss_good = 0.1 * damage;
        break;
      case KIND_OUTAGE:
        pipe->outage.mean_good = 5 * SECOND;
        pipe->outage.mean_bad = (0.2 + 2.8 * damage) * SECOND;
        break;
      case KIND_STALL:
        if (i == ARENA_FORWARD) {
          pipe->stall.mean_good = 3 * SECOND;
          pipe->stall.mean_bad = (50 + 450 * damage) * MS;
        }
        break;
      default:
        break;
    }
  }
}

static Kind
draw_path (const ArenaGroups * groups, ArenaPath * path, guint64 seed,
    guint number)
{
  Kind kind = fraction_draw (seed, number, DRAW_KIND, 0) * N_KINDS;
  gdouble rate =
      fraction_draw_logarithmic (seed, number, DRAW_RATE, 500e3, 20e6);
  guint64 delay =
      fraction_draw_logarithmic (seed, number, DRAW_DELAY, 5, 150) * MS;

  if (kind == KIND_RECORDED && groups->n_recorded == 0)
    kind = KIND_CELLULAR;
  if (kind == KIND_NARROW) {
    rate = fraction_draw_logarithmic (seed, number, DRAW_RATE, 50e3, 500e3);
    delay = 3 * delay;
  }
  arena_path_init (path, rate, delay);
  set_queue (path, rate, fraction_draw_logarithmic (seed, number, DRAW_QUEUE,
          0.05, 1));
  if (kind == KIND_CELLULAR) {
    set_cellular (path, fraction_draw (seed, number, DRAW_QUALITY, 0) * 3);
  } else if (kind == KIND_RECORDED) {
    arena_path_init (path, 0, delay);
    set_recorded (groups, path,
        fraction_draw (seed, number, DRAW_TRACE, 0) * groups->n_recorded);
  }
  spoil (path, kind, fraction_draw (seed, number, DRAW_DAMAGE, 0));
  set_seed (path, seeded_draw (seed, number, DRAW_OFFSET, 0, 0));
  return kind;
}

ArenaScenario *
arena_bond_draw (const ArenaGroups * groups, guint64 seed)
{
  ArenaScenario *scenario = g_new (ArenaScenario, 1);
  GString *name = g_string_new (NULL);
  gdouble rate = fraction_draw_logarithmic (seed, 0, DRAW_STREAM, 0.5e6, 8e6);
  guint i, n = MIN_PATHS + fraction_draw (seed, 0, DRAW_PATHS,
      0) * (ARENA_MAX_PATHS - MIN_PATHS + 1);

  g_string_printf (name, "seed %" G_GUINT64_FORMAT ", %.1fM:", seed,
      rate / 1e6);
  arena_scenario_init (scenario, "random", NULL);
  for (i = 0; i < n; i++) {
    Kind kind = draw_path (groups, &scenario->paths[i], seed, i);
    const LinkPipeConfig *pipe = &scenario->paths[i].config[0].pipe;

    g_string_append_printf (name, " %s", kind_names[kind]);
    if (pipe->rate[0])
      g_string_append_printf (name, " %.1fM", pipe->rate[0] / 1e6);
  }
  scenario->name = g_string_free (name, FALSE);
  scenario->n_paths = n;
  arena_scenario_set_clip_rate (scenario, groups->clips[0], rate);
  scenario->shifts_clip = TRUE;
  scenario->duration = 20 * SECOND;
  scenario->n_runs = 1;
  return scenario;
}

/* --- cases ---------------------------------------------------------------- */

static ArenaScenario *
add (GPtrArray * cases, const ArenaGroups * groups, const gchar * name,
    guint n_paths, gdouble rate)
{
  ArenaScenario *scenario = g_new (ArenaScenario, 1);

  arena_scenario_init (scenario, "case", g_strdup (name));
  scenario->n_paths = n_paths;
  arena_scenario_set_clip_rate (scenario, groups->clips[0], rate);
  scenario->shifts_clip = TRUE;
  scenario->n_runs = 4;
  g_ptr_array_add (cases, scenario);
  return scenario;
}

/* Makes all paths but the first one narrow. */
static void
set_narrow_paths (ArenaScenario * scenario)
{
  guint i;

  for (i = 1; i < scenario->n_paths; i++) {
    arena_path_init (&scenario->paths[i], 100000, 50 * MS);
    set_queue (&scenario->paths[i], 100000, 1);
    set_seed (&scenario->paths[i], i);
  }
}

/* OpenIRL/srtla issue 1 */
static void
add_narrow_paths (GPtrArray * cases, const ArenaGroups * groups)
{
  ArenaScenario *scenario = add (cases, groups,
      "10M and three of 100k, stream of 4M", 4, 4e6);

  arena_path_init (&scenario->paths[0], 10000000, 20 * MS);
  set_narrow_paths (scenario);
}

/* Adds the same case with a stream that begins at once. The narrow paths then
 * join while the stream already flows. The link of 6 Mbit/s and the others are
 * those of a case in pipelines/bonds.ini. */
static void
add_narrow_paths_at_once (GPtrArray * cases, const ArenaGroups * groups)
{
  ArenaScenario *scenario = add (cases, groups,
      "6M and three of 100k, stream of 4M, at once", 4, 4e6);

  scenario->begins_at_once = TRUE;
  arena_path_init (&scenario->paths[0], 6000000, 25 * MS);
  set_queue (&scenario->paths[0], 6000000, 0.2);
  set_narrow_paths (scenario);
}

/* Adds a case in which one of two paths has outages in both directions. An
 * outage lasts 5 s on average. The case is modelled on the report of a user
 * (eerimoq/moblin issue 418), which describes an outage of 10 s in either
 * direction. */
static void
add_silent_path (GPtrArray * cases, const ArenaGroups * groups)
{
  ArenaScenario *scenario = add (cases, groups,
      "two of 6M, one falls silent at times, stream of 4M", 2, 4e6);
  guint i;

  for (i = 0; i < 2; i++)
    arena_path_init (&scenario->paths[i], 6000000, 25 * MS);
  for (i = 0; i < ARENA_N_DIRECTIONS; i++) {
    scenario->paths[1].config[i].pipe.outage.mean_good = 8 * SECOND;
    scenario->paths[1].config[i].pipe.outage.mean_bad = 5 * SECOND;
  }
}

/* mp0rta/mqvpn issue 73 */
static void
add_spiking_path (GPtrArray * cases, const ArenaGroups * groups)
{
  ArenaScenario *scenario = add (cases, groups,
      "two of 6M, one with spikes of 300 ms, stream of 4M", 2, 4e6);
  LinkOnOffConfig stall = { 3 * SECOND, 300 * MS };
  guint i;

  for (i = 0; i < 2; i++)
    arena_path_init (&scenario->paths[i], 6000000, 25 * MS);
  scenario->paths[1].config[ARENA_FORWARD].pipe.stall = stall;
}

/* Adds a step to the path: from the time `time` on, its one-way delay is
 * `delay`. Both are in ms. */
static void
add_step (ArenaPath * path, guint64 time, guint64 delay)
{
  g_assert (path->n_steps < ARENA_MAX_STEPS);
  path->steps[path->n_steps++] = (ArenaStep) {
  time *MS, delay * MS};
}

/* Adds a case with a path whose round trip swings between 100 and 1,200 ms. The
 * round trip begins to grow after 5 s, and reaches its maximum 3 s later. The
 * path loses all packets from 11 to 15 s. It then has its minimum round trip
 * again, which begins to grow after 5 s more. The case is modelled on the
 * report of a user (irlserver/srtla_send issue 17). */
static void
add_swinging_path (GPtrArray * cases, const ArenaGroups * groups)
{
  ArenaScenario *scenario = add (cases, groups,
      "two of 6M, one swings from 100 to 1200 ms, stream of 4M", 2, 4e6);
  ArenaPath *path = &scenario->paths[1];
  guint64 cycle, i;

  arena_path_init (&scenario->paths[0], 6000000, 25 * MS);
  arena_path_init (path, 6000000, 50 * MS);
  for (cycle = 0; cycle <= 30000; cycle += 15000) {
    if (cycle > 0)
      add_step (path, cycle, 50);
    for (i = 1; i <= 6; i++)
      add_step (path, cycle + 5000 + 500 * i, 50 + 550 * i / 6);
  }
  path->cut_begin = 11 * SECOND;
  path->cut_end = 15 * SECOND;
}

/* Adds a case with two paths behind the same modem. */
static void
add_bottleneck (GPtrArray * cases, const ArenaGroups * groups)
{
  static const guint64 streams[] = { 4000000, 6000000 };
  guint i, j;

  for (i = 0; i < G_N_ELEMENTS (streams); i++) {
    gchar *name = g_strdup_printf ("two through one bottleneck of 6M, "
        "stream of %uM", (guint) (streams[i] / 1000000));
    ArenaScenario *scenario = add (cases, groups, name, 2, streams[i]);

    g_free (name);
    for (j = 0; j < 2; j++) {
      arena_path_init (&scenario->paths[j], 6000000, 25 * MS);
      set_queue (&scenario->paths[j], 6000000, 0.5);
      scenario->paths[j].bottleneck = 1;
    }
  }
}

/* mp0rta/mqvpn issue 270 */
static void
add_short_latency (GPtrArray * cases, const ArenaGroups * groups)
{
  ArenaScenario *scenario = add (cases, groups,
      "two of 6M and 20 ms, stream of 8M, 150 ms", 2, 8e6);
  guint i;

  for (i = 0; i < 2; i++)
    arena_path_init (&scenario->paths[i], 6000000, 10 * MS);
  scenario->latency = scenario->deadline = 150 * MS;
}

static void
add_recordings (GPtrArray * cases, const ArenaGroups * groups)
{
  guint i, j;

  for (i = 0; i < groups->n_recorded; i++) {
    for (j = i + 1; j < groups->n_recorded; j++) {
      const ArenaTrace *first = g_ptr_array_index (groups->traces, i);
      const ArenaTrace *second = g_ptr_array_index (groups->traces, j);
      gchar *name = g_strdup_printf ("%s and %s, 6M", first->name,
          second->name);
      ArenaScenario *scenario = add (cases, groups, name, 2, 6e6);

      g_free (name);
      arena_path_init (&scenario->paths[0], 0, 20 * MS);
      arena_path_init (&scenario->paths[1], 0, 20 * MS);
      set_recorded (groups, &scenario->paths[0], i);
      set_recorded (groups, &scenario->paths[1], j);
    }
  }
}

/* Adds cases with three recorded traces, one of which is interrupted for 10 s. */
static void
add_three_recordings (GPtrArray * cases, const ArenaGroups * groups)
{
  guint skipped, i;

  if (groups->n_recorded < 3)
    return;
  for (skipped = 0; skipped < groups->n_recorded; skipped++) {
    gchar *name;
    ArenaScenario *scenario;
    guint n = 0;

    if (groups->n_recorded == 3 && skipped > 0)
      return;
    name =
        g_strdup_printf
        ("three recordings, not %u, one interrupted for 10 s, 6M", skipped);
    scenario = add (cases, groups, name, 3, 6e6);
    g_free (name);
    for (i = 0; n < 3; i++) {
      if (groups->n_recorded > 3 && i == skipped)
        continue;
      arena_path_init (&scenario->paths[n], 0, 20 * MS);
      set_recorded (groups, &scenario->paths[n++], i);
    }
    scenario->paths[2].cut_begin = 11 * SECOND;
    scenario->paths[2].cut_end = 21 * SECOND;
  }
}

static void
scenario_free (gpointer data)
{
  arena_scenario_clear (data);
  g_free (data);
}

GPtrArray *
arena_bonds_get_cases (const ArenaGroups * groups)
{
  GPtrArray *cases = g_ptr_array_new_with_free_func (scenario_free);

  add_narrow_paths (cases, groups);
  add_narrow_paths_at_once (cases, groups);
  add_silent_path (cases, groups);
  add_swinging_path (cases, groups);
  add_spiking_path (cases, groups);
  add_bottleneck (cases, groups);
  add_short_latency (cases, groups);
  add_recordings (cases, groups);
  add_three_recordings (cases, groups);
  return cases;
}

/* --- subsets -------------------------------------------------------------- */

void
arena_bond_get_subset (const ArenaScenario * scenario, guint subset,
    ArenaScenario * part)
{
  guint i;

  *part = *scenario;
  part->n_paths = 0;
  for (i = 0; i < scenario->n_paths; i++) {
    if (subset & 1 << i)
      part->paths[part->n_paths++] = scenario->paths[i];
  }
}
