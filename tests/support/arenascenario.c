/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the scenarios of the arena, a benchmark of MMTP. For each run, it
 * computes how many frames are in time with MMTP, with RTP over UDP, and with
 * an ideal sender. arenascenario.h describes the scenarios. */

#include "arenascenario.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define MS LINK_MS
#define SECOND LINK_SECOND

#define FRAME_PERIOD (40 * MS)
/* Times for scenarios with two flows that compete. The first flow is an MMTP
 * session. The second flow is TCP or another MMTP session.
 * - TCP_BEGIN: time from the start of the first flow to the start of TCP.
 * - SECOND_SESSION_BEGIN: time from the start of the first session to the start
 *   of the second session.
 * - SETTLING: time from the start of the second flow until the rates are
 *   measured, so that both flows have adapted to each other. */
#define TCP_BEGIN (2 * SECOND)
#define SECOND_SESSION_BEGIN (10 * SECOND)
#define SETTLING (10 * SECOND)

void
arena_scenario_init (ArenaScenario * scenario, const gchar * group,
    gchar * name)
{
  memset (scenario, 0, sizeof *scenario);
  scenario->group = g_strdup (group);
  scenario->name = name;
  scenario->duration = 30 * SECOND;
  scenario->latency = 450 * MS;
  scenario->deadline = 500 * MS;
  scenario->settling = 2 * SECOND;
  scenario->n_runs = 8;
  scenario->n_paths = 1;
}

void
arena_scenario_clear (ArenaScenario * scenario)
{
  g_free (scenario->group);
  g_free (scenario->name);
}

/* --- streams -------------------------------------------------------------- */

void
arena_scenario_set_clip (ArenaScenario * scenario, const GArray * clip,
    gdouble scale)
{
  scenario->clip = clip;
  scenario->scale = scale;
  scenario->period = FRAME_PERIOD;
}

void
arena_scenario_set_clip_rate (ArenaScenario * scenario, const GArray * clip,
    gdouble rate)
{
  guint64 duration = clip->len * FRAME_PERIOD;
  gdouble scale = 1;
  guint i;

  /* Chooses the factor `scale` by which the frame sizes are multiplied, so that
   * the packets have the rate `rate`. The sizes of the packet headers do not
   * grow with `scale`, so the rate is not proportional to it. The factor is
   * therefore found by iteration. */
  for (i = 0; i < 4; i++) {
    GArray *frames =
        arena_clip_get_frames (clip, 0, scale, FRAME_PERIOD, duration);

    scale *= rate / arena_frames_get_wire_rate (frames, duration,
        ARENA_MMTP_DATA + ARENA_IP_UDP);
    g_array_unref (frames);
  }
  arena_scenario_set_clip (scenario, clip, scale);
}

void
arena_scenario_set_packets (ArenaScenario * scenario, guint32 size,
    gdouble rate)
{
  scenario->clip = NULL;
  scenario->packet_size = size;
  scenario->period = (size + ARENA_RTP_HEADERS + ARENA_MMTP_DATA +
      ARENA_IP_UDP) * 8e9 / rate;
}

static void
make_independent (GArray * frames)
{
  guint i;

  for (i = 0; i < frames->len; i++)
    g_array_index (frames, ArenaFrame, i).type = ARENA_TYPE_I;
  arena_frames_set_references (frames);
}

static GArray *
make_frames (const ArenaScenario * scenario, guint number)
{
  gdouble shift =
      scenario->shifts_clip ? (gdouble) number / scenario->n_runs : 0;
  GArray *frames;

  if (!scenario->clip)
    return arena_make_packets (scenario->packet_size, scenario->period,
        scenario->duration);
  frames = arena_clip_get_frames (scenario->clip, shift, scenario->scale,
      scenario->period, scenario->duration);
  if (scenario->is_independent)
    make_independent (frames);
  return frames;
}

/* --- one run -------------------------------------------------------------- */

static void
configure (const ArenaScenario * scenario, const GArray * frames, guint number,
    ArenaTransport transport, ArenaSimulationConfig * config)
{
  ArenaSessionConfig *session = &config->sessions[0];

  memset (config, 0, sizeof *config);
  config->paths = scenario->paths;
  config->n_paths = scenario->n_paths;
  config->number = number;
  config->n = scenario->n_runs;
  config->duration = scenario->duration;
  config->n_sessions = 1;
  session->transport = transport;
  session->frames = frames;
  session->latency = scenario->latency;
  session->begins_at_once = scenario->begins_at_once;
  session->frame_period = scenario->tells_period ? scenario->period : 0;
}

static void
add_competitors (const ArenaScenario * scenario, ArenaSimulationConfig * config)
{
  guint64 begin = TCP_BEGIN;

  if (scenario->question == ARENA_ASK_TCP) {
    config->n_tcp = 1;
    config->tcp[0].begin = begin;
    config->tcp[0].algorithm = scenario->tcp;
  } else if (scenario->question == ARENA_ASK_FAIRNESS) {
    begin = SECOND_SESSION_BEGIN;
    config->n_sessions = 2;
    config->sessions[1] = config->sessions[0];
    config->sessions[1].begin = begin;
  }
  config->measure_from = begin + SETTLING;
  config->measure_to = scenario->duration;
}

static gdouble
get_possible (const ArenaScenario * scenario, const GArray * frames,
    const ArenaSupply * supply, guint64 origin, gdouble * first_choice)
{
  ArenaPossibleConfig config = { origin, scenario->deadline,
    ARENA_MMTP_DATA + ARENA_IP_UDP
  };
  guint first, sum = arena_possible_count (frames, supply, &config, &first);

  *first_choice = (gdouble) first / frames->len;
  return (gdouble) sum / frames->len;
}

/* Runs RTP over UDP, which uses only one path, on each path in turn. Keeps the
 * result of the path on which the most frames were decodable. */
static void
run_udp (const ArenaScenario * scenario, const GArray * frames, guint number,
    guint64 * origin, ArenaOutcome * outcome)
{
  ArenaSimulationConfig config;
  guint i;

  configure (scenario, frames, number, ARENA_UDP, &config);
  for (i = 0; i < scenario->n_paths; i++) {
    ArenaFigures figures;
    ArenaRecord record;

    config.sessions[0].udp_path = i;
    arena_simulation_run (&config, &record);
    arena_judge (frames, &record.sessions[0], scenario->deadline, &figures);
    *origin = record.sessions[0].origin;
    if (i == 0 || figures.decodable > outcome->udp.decodable)
      outcome->udp = figures;
    arena_record_clear (&record);
  }
}

static gdouble
to_seconds (guint64 time)
{
  return time == ARENA_NEVER ? INFINITY : time / 1e9;
}

static void
answer (const ArenaScenario * scenario, const ArenaRecord * record,
    gdouble * extras)
{
  const ArenaSessionRecord *session = &record->sessions[0];
  guint64 settled = session->origin + scenario->settling;
  guint64 end = session->origin + scenario->duration;

  switch (scenario->question) {
    case ARENA_ASK_STEPS:
      extras[0] = to_seconds (arena_judge_time_below (session,
              scenario->step_down, scenario->low_rate));
      extras[1] = to_seconds (arena_judge_time_above (session,
              scenario->step_up, 0.9 * scenario->rate));
      break;
    case ARENA_ASK_ESTIMATE:
      extras[0] = arena_judge_median_rate (session, settled, end)
          / scenario->rate;
      extras[1] = arena_judge_share_within (session, settled, end,
          scenario->rate, 0.15);
      break;
    case ARENA_ASK_TCP:
      extras[0] = (gdouble) session->measured_bytes
          / record->tcp_measured_bytes[0];
      break;
    case ARENA_ASK_FAIRNESS:
      extras[0] = arena_judge_fairness (session->measured_bytes,
          record->sessions[1].measured_bytes);
      break;
    default:
      break;
  }
}

const gchar *
arena_scenario_get_extra_name (const ArenaScenario * scenario, guint extra)
{
  static const gchar *const names[][ARENA_MAX_EXTRAS] = {
    {NULL, NULL},
    {"estimate below the link after, s", "above 90 % of it after, s"},
    {"estimate / link", "share of time within 15 %"},
    {"MMTP / TCP", NULL},
    {"Jain's index", NULL}
  };

  return names[scenario->question][extra];
}

static gboolean
has_competitors (const ArenaScenario * scenario)
{
  return scenario->question == ARENA_ASK_TCP
      || scenario->question == ARENA_ASK_FAIRNESS;
}

static guint64
run_mmtp (const ArenaScenario * scenario, const GArray * frames, guint number,
    ArenaOutcome * outcome, guint64 * length)
{
  ArenaSimulationConfig config;
  ArenaRecord record;
  guint64 origin;

  configure (scenario, frames, number, ARENA_MMTP, &config);
  if (has_competitors (scenario))
    add_competitors (scenario, &config);
  *length = arena_simulation_get_length (&config);
  arena_simulation_run (&config, &record);
  origin = record.sessions[0].origin;
  arena_judge (frames, &record.sessions[0], scenario->deadline, &outcome->mmtp);
  answer (scenario, &record, outcome->extras);
  outcome->estimate = arena_judge_median_rate (&record.sessions[0], origin,
      origin + scenario->duration);
  outcome->ready = 1e3 * to_seconds (record.sessions[0].ready_at);
  outcome->state = record.stuck ? ARENA_OUTCOME_STUCK : ARENA_OUTCOME_DONE;
  arena_record_clear (&record);
  return origin;
}

/* MMTP is compared with two other senders on the same paths: RTP over UDP, and
 * an ideal sender, which knows in advance when its links can carry data. This
 * function computes the results of these two senders and stores them in
 * `outcome`. */
static void
run_comparison (const ArenaScenario * scenario, const GArray * frames,
    guint number, guint64 origin, guint64 length, ArenaOutcome * outcome)
{
  guint64 udp_origin;
  ArenaSupply *supply;
  gdouble possible;

  run_udp (scenario, frames, number, &udp_origin, outcome);
  supply = arena_paths_get_supply (scenario->paths, scenario->n_paths, number,
      scenario->n_runs, length);
  possible = outcome->possible =
      get_possible (scenario, frames, supply, origin, &outcome->first_choice);
  if (origin != udp_origin)
    outcome->possible = get_possible (scenario, frames, supply, udp_origin,
        &outcome->first_choice);
  outcome->max_gap = arena_supply_get_max_gap (supply, origin,
      origin + scenario->duration) / 1e6;
  outcome->share = possible > 0 ? outcome->mmtp.decodable / possible : NAN;
  arena_supply_free (supply);
}

static void
outcome_init (ArenaOutcome * outcome)
{
  memset (outcome, 0, sizeof *outcome);
  outcome->possible = outcome->first_choice = outcome->share = NAN;
  outcome->udp.decodable = outcome->max_gap = NAN;
  outcome->extras[0] = outcome->extras[1] = NAN;
}

void
arena_scenario_run_mmtp (const ArenaScenario * scenario, guint number,
    ArenaOutcome * outcome)
{
  GArray *frames = make_frames (scenario, number);
  guint64 length;

  outcome_init (outcome);
  run_mmtp (scenario, frames, number, outcome, &length);
  g_array_unref (frames);
}

void
arena_scenario_run (const ArenaScenario * scenario, guint number,
    ArenaOutcome * outcome)
{
  GArray *frames = make_frames (scenario, number);
  clock_t begun = clock ();
  guint64 origin, length;

  outcome_init (outcome);
  origin = run_mmtp (scenario, frames, number, outcome, &length);
  /* The best possible result depends on the rate that competing traffic leaves
   * to the stream. This rate depends in turn on how the stream is sent. If
   * there is competing traffic, the best possible result is therefore not
   * defined, and not computed. */
  if (!has_competitors (scenario))
    run_comparison (scenario, frames, number, origin, length, outcome);
  outcome->seconds = (gdouble) (clock () - begun) / CLOCKS_PER_SEC;
  g_array_unref (frames);
}
