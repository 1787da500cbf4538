/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Defines all scenarios of the arena, a benchmark of MMTP. arenagroups.h
 * describes them. */

#include "arenagroups.h"

#include <string.h>

#include "arenamobile.h"

#define MS LINK_MS
#define SECOND LINK_SECOND


typedef enum
{
  CLIP_6M,
  CLIP_3M
} Clip;

static const gchar *const clip_names[] = { "6M", "3M" };

/* --- common helpers ------------------------------------------------------- */

/* Adds a scenario to the group `group`. The new scenario has one path without
 * losses and without a rate limit. The caller then changes the scenario as the
 * group requires. */
static ArenaScenario *
add (ArenaGroups * groups, const gchar * group, const gchar * format, ...)
{
  ArenaScenario *scenario = g_new (ArenaScenario, 1);
  va_list arguments;

  va_start (arguments, format);
  arena_scenario_init (scenario, group, g_strdup_vprintf (format, arguments));
  va_end (arguments);
  arena_path_init (&scenario->paths[0], 0, 20 * MS);
  g_ptr_array_add (groups->scenarios, scenario);
  return scenario;
}

static void
set_clip (ArenaGroups * groups, ArenaScenario * scenario, Clip clip)
{
  arena_scenario_set_clip (scenario, groups->clips[clip], 1);
}

static void
set_clip_rate (ArenaGroups * groups, ArenaScenario * scenario, gdouble rate)
{
  arena_scenario_set_clip_rate (scenario, groups->clips[CLIP_6M], rate);
}

static ArenaTrace *
add_trace (ArenaGroups * groups, const gchar * name)
{
  ArenaTrace *trace = arena_trace_new (name);

  g_ptr_array_add (groups->traces, trace);
  return trace;
}

/* Formats a rate: "10k", "1.5M" */
static gchar *
get_rate_name (gdouble rate)
{
  return rate < 1e6 ? g_strdup_printf ("%gk", rate / 1e3)
      : g_strdup_printf ("%gM", rate / 1e6);
}

/* Makes both directions of the path share one half-duplex medium. */
static void
make_half_duplex (ArenaPath * path)
{
  path->one_link = TRUE;
  path->station[ARENA_BACK] = 1;
  path->config[ARENA_FORWARD].pipe.half_duplex = TRUE;
}

/* --- paper ---------------------------------------------------------------- */

/* Makes `path` one of the links in table 1 of the MMTP paper (Magalhães and
 * Kravets 2001). `delay` and `fluctuation` (the maximum jitter) are in ns.
 * `queue` is in bytes. mmtppaper.c explains how these values follow from the
 * table. */
static void
set_paper_path (ArenaPath * path, guint64 bytes_per_second, guint64 delay,
    guint64 fluctuation, guint64 queue)
{
  LinkConfig *config = &path->config[ARENA_FORWARD];

  arena_path_init (path, bytes_per_second * 8, delay);
  make_half_duplex (path);
  config->pipe.jitter = fluctuation;
  config->queue.packets = 0;
  config->queue.bytes = queue;
}

typedef enum
{
  PAPER_CONSTANT,
  PAPER_FLUCTUATING,
  PAPER_RATES_GIVEN,
  PAPER_LAST
} PaperLinks;

static void
add_paper_scenario (ArenaGroups * groups, PaperLinks links, guint period)
{
  static const gchar *const names[] = { "constant", "fluctuating",
    "fluctuating, rates given"
  };
  ArenaScenario *scenario = add (groups, "paper", "%s, each %u ms",
      names[links], period);
  gboolean fluctuates = links != PAPER_CONSTANT;
  ArenaPath *paths = scenario->paths;

  scenario->n_paths = 2;
  set_paper_path (&paths[0], 37128, 137538462, fluctuates ? 230 * MS : 0,
      200000);
  set_paper_path (&paths[1], 9384, 162826087, fluctuates ? 300 * MS : 0, 32000);
  if (links == PAPER_RATES_GIVEN) {
    paths[0].known_rate = 37128 * 8;
    paths[1].known_rate = 9384 * 8;
  }
  scenario->packet_size = 1400 - ARENA_RTP_HEADERS;
  scenario->period = period * MS;
  scenario->tells_period = TRUE;
  scenario->duration = 1000 * scenario->period;
  scenario->latency = scenario->deadline = SECOND;
}

static void
add_paper (ArenaGroups * groups)
{
  static const guint periods[] = { 10, 15, 20, 25, 30, 35, 50, 100, 160 };
  PaperLinks links;
  guint i;

  for (links = 0; links < PAPER_LAST; links++)
    for (i = 0; i < G_N_ELEMENTS (periods); i++)
      add_paper_scenario (groups, links, periods[i]);
}

/* --- constant ------------------------------------------------------------- */

/* A rate in bit/s. If a link has at least this rate, the stream is a video
 * clip. If a link is slower, the stream consists of about ten packets of equal
 * size per second. */
#define CLIP_LINK 300e3

static void
ask_estimate (ArenaScenario * scenario, gdouble rate)
{
  scenario->question = ARENA_ASK_ESTIMATE;
  scenario->rate = rate;
}

static void
add_constant_scenario (ArenaGroups * groups, gdouble rate, gdouble load,
    guint delay)
{
  gchar *name = get_rate_name (rate);
  ArenaScenario *scenario = add (groups, "constant", "%s, %u ms, load %.1f",
      name, delay, load);

  g_free (name);
  arena_path_init (&scenario->paths[0], rate, delay * MS);
  if (rate >= CLIP_LINK)
    set_clip_rate (groups, scenario, load * rate);
  else
    arena_scenario_set_packets (scenario, MIN (rate / 80, 1300), load * rate);
  scenario->shifts_clip = TRUE;
  if (load > 1)
    ask_estimate (scenario, rate);
  /* The link has a constant rate and no random losses, so the runs hardly
   * differ, and two runs suffice. They differ in the random session number of
   * the sender and, if the stream is a clip, in the position at which the clip
   * begins. */
  scenario->n_runs = 2;
  if (rate > 10e6)
    scenario->duration = 10 * SECOND;
}

/* Adds a scenario with a link of 1 Gbit/s, which is faster than any video
 * stream. The scenario compares the sender's estimate of the rate with the real
 * rate of the link. The estimates of the first second do not count, because the
 * sender needs some time to measure the link. */
static void
add_gigabit (ArenaGroups * groups)
{
  ArenaScenario *scenario = add (groups, "constant", "1000M, 1 ms, load 0.9");

  arena_path_init (&scenario->paths[0], 1000000000, 1 * MS);
  arena_scenario_set_packets (scenario, ARENA_PACKET_PAYLOAD, 0.9e9);
  ask_estimate (scenario, 1e9);
  scenario->settling = SECOND;
  scenario->duration = 3 * SECOND;
  scenario->n_runs = 1;
}

static void
add_constant (ArenaGroups * groups)
{
  static const gdouble rates[] = { 10e3, 30e3, 100e3, 300e3, 1e6, 3e6, 10e6,
    30e6, 100e6
  };
  static const gdouble loads[] = { 0.5, 0.8, 1, 1.2, 1.5 };
  static const guint delays[] = { 10, 100 };
  guint i, j, k;

  for (i = 0; i < G_N_ELEMENTS (rates); i++)
    for (j = 0; j < G_N_ELEMENTS (delays); j++)
      for (k = 0; k < G_N_ELEMENTS (loads); k++)
        add_constant_scenario (groups, rates[i], loads[k], delays[j]);
  add_gigabit (groups);
}

/* --- bucket --------------------------------------------------------------- */

static void
add_bucket_scenario (ArenaGroups * groups, guint64 burst, guint queue,
    gdouble load)
{
  ArenaScenario *scenario = add (groups, "bucket",
      "4M, burst %g kB, queue of %u, load %.1f", burst / 1e3, queue, load);
  LinkConfig *config = &scenario->paths[0].config[ARENA_FORWARD];

  arena_path_init (&scenario->paths[0], 4000000, 20 * MS);
  config->pipe.burst = burst;
  config->queue.packets = queue;
  set_clip_rate (groups, scenario, load * 4e6);
  scenario->shifts_clip = TRUE;
  scenario->n_runs = 4;
  if (load > 1)
    ask_estimate (scenario, 4e6);
}

/* Adds scenarios in which a token bucket limits the rate. While the link is
 * idle, the bucket collects tokens. With these tokens, the link may later send
 * a burst that is faster than its rate. The computation of the best possible
 * result ignores them. MMTP may therefore be slightly better than the computed
 * result. */
static void
add_bucket (ArenaGroups * groups)
{
  static const guint bursts[] = { 1500, 4000, 16000, 64000 };
  static const guint queues[] = { 1000, 12 };
  static const gdouble loads[] = { 0.8, 1.5 };
  guint i, j, k;

  for (j = 0; j < G_N_ELEMENTS (queues); j++)
    for (i = 0; i < G_N_ELEMENTS (bursts); i++)
      for (k = 0; k < G_N_ELEMENTS (loads); k++)
        add_bucket_scenario (groups, bursts[i], queues[j], loads[k]);
}

/* --- wifi ----------------------------------------------------------------- */

/* Maximum rate in bit/s of a stream in the group "wifi". A run with a faster
 * stream would take too much CPU time. */
#define MAX_WIFI_STREAM 100e6

static void
add_wifi_scenario (ArenaGroups * groups, const ArenaTrace * trace,
    guint batch, guint32 interval, gdouble rate)
{
  ArenaScenario *scenario = add (groups, "wifi",
      "%u packets each %u ms, %.3gM", batch, interval, rate / 1e6);

  scenario->paths[0].trace[ARENA_FORWARD] = trace;
  set_clip_rate (groups, scenario, rate);
  scenario->shifts_clip = TRUE;
  scenario->n_runs = 4;
  scenario->duration = rate > 20e6 ? 10 * SECOND : 30 * SECOND;
}

/* Adds the scenarios with Wi-Fi links. With the frame aggregation of IEEE
 * 802.11n and later, a station sends up to 64 packets in one transmission. Then
 * other stations may send before the next transmission of the station. The
 * links of the scenarios therefore differ in two numbers: the time from one
 * transmission of the station to the next, and the number of packets in one
 * transmission. */
static void
add_wifi (ArenaGroups * groups)
{
  static const struct
  {
    guint32 interval;           /* ms */
    guint batch;                /* packets */
  } links[] = {
    {2, 2}, {5, 5}, {10, 10}, {2, 64}, {5, 64}, {10, 64}
  };
  static const gdouble loads[] = { 0.08, 0.5, 0.9, 1.2 };
  guint i, j;

  for (i = 0; i < G_N_ELEMENTS (links); i++) {
    gdouble rate = links[i].batch * 12e6 / links[i].interval;
    ArenaTrace *trace = add_trace (groups, "wifi");

    arena_trace_add_batches (trace, 10000, links[i].interval, links[i].batch);
    for (j = 0; j < G_N_ELEMENTS (loads); j++) {
      if (loads[j] * rate <= MAX_WIFI_STREAM)
        add_wifi_scenario (groups, trace, links[i].batch, links[i].interval,
            loads[j] * rate);
    }
  }
}

/* --- recorded ------------------------------------------------------------- */

/* Size of a queue in packets. The lab is a program that runs real transports
 * over links. In the measurements of the lab, this size is sufficient for RTP
 * over UDP. */
#define SHALLOW_QUEUE 200

static ArenaTrace *
get_trace (ArenaGroups * groups, guint i)
{
  return g_ptr_array_index (groups->traces, i);
}

static ArenaTrace *
find_trace (ArenaGroups * groups, const gchar * name)
{
  guint i;

  for (i = 0; i < groups->n_recorded; i++) {
    if (g_str_equal (get_trace (groups, i)->name, name))
      return get_trace (groups, i);
  }
  return NULL;
}

/* Each recording is a trace of one direction of a network. The forward
 * direction of a path uses the recording `number`. This function returns the
 * recording for the return direction of the same path. If there is a recording
 * of the opposite direction of the same network, it is returned. Otherwise, the
 * next recording in the list is returned. */
static ArenaTrace *
find_return (ArenaGroups * groups, guint number)
{
  const gchar *name = get_trace (groups, number)->name;
  const gchar *dot = strrchr (name, '.');
  ArenaTrace *found = NULL;

  if (dot) {
    gchar *other = g_strdup_printf ("%.*s.%s", (int) (dot - name), name,
        g_str_equal (dot, ".up") ? "down" : "up");

    found = find_trace (groups, other);
    g_free (other);
  }
  return found ? found : get_trace (groups, (number + 1) % groups->n_recorded);
}

static void
set_recording (ArenaPath * path, const ArenaTrace * forward,
    const ArenaTrace * back)
{
  path->trace[ARENA_FORWARD] = forward;
  path->trace[ARENA_BACK] = back;
  path->rotates = TRUE;
}

typedef enum
{
  RECORDED,
  /* As with RECORDED, the link has the recorded trace of a real network. In
   * addition, the queue of the link has room for only SHALLOW_QUEUE packets.
   * The lab, the program that measures real transports over links, uses a queue
   * of this size. */
  RECORDED_SHALLOW,
  RECORDED_BACK                 /* Both directions use recordings. */
} Recorded;

static void
add_recorded_scenario (ArenaGroups * groups, Recorded kind, guint number,
    Clip clip)
{
  static const gchar *const names[] = { "recorded", "recorded-shallow",
    "recorded-back"
  };
  ArenaTrace *trace = get_trace (groups, number);
  ArenaScenario *scenario = add (groups, names[kind], "%s, %s", trace->name,
      clip_names[clip]);
  ArenaPath *path = &scenario->paths[0];

  set_recording (path, trace,
      kind == RECORDED_BACK ? find_return (groups, number) : NULL);
  if (kind == RECORDED_SHALLOW)
    path->config[ARENA_FORWARD].queue.packets = SHALLOW_QUEUE;
  set_clip (groups, scenario, clip);
}

static void
add_recorded (ArenaGroups * groups)
{
  Recorded kind;
  Clip clip;
  guint i;

  for (kind = RECORDED; kind <= RECORDED_BACK; kind++)
    for (i = 0; i < groups->n_recorded; i++)
      for (clip = CLIP_6M; clip <= CLIP_3M; clip++)
        add_recorded_scenario (groups, kind, i, clip);
}

/* --- cellular ------------------------------------------------------------- */

static void
set_cellular (ArenaPath * path, LinkQuality quality)
{
  guint i;

  arena_path_init (path, 0, 0);
  for (i = 0; i < ARENA_N_DIRECTIONS; i++)
    link_config_init (&path->config[i], LINK_PROFILE_CELLULAR, quality);
}

static void
add_cellular (ArenaGroups * groups)
{
  static const gchar *const names[] = { "ideal", "good", "poor" };
  LinkQuality quality;
  Clip clip;

  for (quality = LINK_QUALITY_IDEAL; quality <= LINK_QUALITY_POOR; quality++) {
    for (clip = CLIP_6M; clip <= CLIP_3M; clip++) {
      ArenaScenario *scenario = add (groups, "cellular", "%s, %s",
          names[quality], clip_names[clip]);

      set_cellular (&scenario->paths[0], quality);
      set_clip (groups, scenario, clip);
      /* Each run has another seed. With eight runs, the mean share of the group
       * differs by a point between two versions of equal quality. */
      scenario->n_runs = 32;
    }
  }
}

/* --- mobile --------------------------------------------------------------- */

#define MOBILE_LINKS 12
#define MOBILE_SEED 77
#define MOBILE_LENGTH 120000    /* ms */

static void
add_mobile_scenario (ArenaGroups * groups, const ArenaTrace * trace,
    const ArenaMobileLink * link, gdouble load)
{
  ArenaScenario *scenario = add (groups, "mobile",
      "%.1fM, every %u ms, load %.1f", link->rate / 1e6, link->interval, load);

  set_recording (&scenario->paths[0], trace, NULL);
  set_clip_rate (groups, scenario, load * link->rate);
  scenario->n_runs = 4;
}

/* Adds scenarios with random mobile links. The group "recorded" has only four
 * recordings, so a rate control that is tuned with it alone may suit only these
 * networks. */
static void
add_mobile (ArenaGroups * groups)
{
  static const gdouble loads[] = { 0.5, 0.8, 1.2 };
  guint i, j;

  for (i = 0; i < MOBILE_LINKS; i++) {
    ArenaTrace *trace = add_trace (groups, "mobile");
    ArenaMobileLink link;

    arena_mobile_link_init (&link, MOBILE_SEED + i);
    arena_trace_add_mobile (trace, &link, MOBILE_SEED + i, MOBILE_LENGTH);
    for (j = 0; j < G_N_ELEMENTS (loads); j++)
      add_mobile_scenario (groups, trace, &link, loads[j]);
  }
}

/* --- bond ----------------------------------------------------------------- */

static void
add_bond_of_constants (ArenaGroups * groups, gdouble load)
{
  ArenaScenario *scenario = add (groups, "bond",
      "4M, 20 ms and 1.5M, 80 ms, load %.1f", load);

  scenario->n_paths = 2;
  arena_path_init (&scenario->paths[0], 4000000, 20 * MS);
  arena_path_init (&scenario->paths[1], 1500000, 80 * MS);
  set_clip_rate (groups, scenario, load * 5.5e6);
  scenario->shifts_clip = TRUE;
  scenario->n_runs = 4;
}

static void
add_bond_of_uplinks (ArenaGroups * groups)
{
  ArenaTrace *first = find_trace (groups, "TMobile-LTE-short.up");
  ArenaTrace *second = find_trace (groups, "Verizon-LTE-short.up");
  ArenaScenario *scenario;

  if (!first || !second)
    return;
  scenario = add (groups, "bond", "%s and %s, 6M", first->name, second->name);
  scenario->n_paths = 2;
  arena_path_init (&scenario->paths[1], 0, 20 * MS);
  set_recording (&scenario->paths[0], first, NULL);
  set_recording (&scenario->paths[1], second, NULL);
  set_clip (groups, scenario, CLIP_6M);
  scenario->duration = 60 * SECOND;
}

static void
add_bond_with_cellular (ArenaGroups * groups)
{
  ArenaScenario *scenario = add (groups, "bond", "3M, 20 ms and cellular, 6M");

  scenario->n_paths = 2;
  arena_path_init (&scenario->paths[0], 3000000, 20 * MS);
  set_cellular (&scenario->paths[1], LINK_QUALITY_GOOD);
  set_clip (groups, scenario, CLIP_6M);
}

static void
add_bond (ArenaGroups * groups)
{
  add_bond_of_uplinks (groups);
  add_bond_of_constants (groups, 0.8);
  add_bond_of_constants (groups, 1.2);
  add_bond_with_cellular (groups);
}

/* --- jitter, loss --------------------------------------------------------- */

/* Adds a scenario with the given clip and a link of 10 Mbit/s, which is fast
 * enough for the clip. The caller then adds a fault to the link, such as jitter
 * or loss. */
static ArenaScenario *
add_fast (ArenaGroups * groups, const gchar * group, const gchar * name,
    Clip clip)
{
  ArenaScenario *scenario = add (groups, group, "%s, %s", name,
      clip_names[clip]);

  arena_path_init (&scenario->paths[0], 10000000, 20 * MS);
  set_clip (groups, scenario, clip);
  scenario->shifts_clip = TRUE;
  return scenario;
}

static void
add_jitter (ArenaGroups * groups)
{
  /* Jitter in ms. The first row is for uniform jitter, and contains the maximum
   * jitter of each scenario. The second row is for exponential jitter, and
   * contains the mean jitter. A single delay may be much longer than this mean.
   * The highest value of the second row is therefore only 50 ms. Packets stay
   * in order in spite of the jitter. */
  static const guint jitters[2][3] = { {10, 30, 100}, {10, 30, 50} };
  guint exponential, i, j;
  Clip clip;

  for (exponential = 0; exponential <= 1; exponential++) {
    for (i = 0; i < G_N_ELEMENTS (jitters[0]); i++) {
      for (clip = CLIP_6M; clip <= CLIP_3M; clip++) {
        gchar *name = g_strdup_printf ("%s %u ms", exponential ?
            "exponential" : "uniform", jitters[exponential][i]);
        ArenaScenario *scenario = add_fast (groups, "jitter", name, clip);

        g_free (name);
        for (j = 0; j < ARENA_N_DIRECTIONS; j++) {
          LinkPipeConfig *pipe = &scenario->paths[0].config[j].pipe;

          pipe->jitter = jitters[exponential][i] * MS;
          pipe->jitter_exponential = exponential;
        }
      }
    }
  }
}

/* Mean duration of a loss burst in ns. All packets in a burst are lost. */
#define LOSS_BURST (50 * MS)

static void
set_loss (LinkPipeConfig * config, gdouble loss, gboolean bursty)
{
  if (!bursty) {
    config->loss_good = loss;
    return;
  }
  config->loss_bad = 1;
  config->fading.mean_bad = LOSS_BURST;
  config->fading.mean_good = LOSS_BURST * (1 - loss) / loss;
}

/* Adds losses to both directions of the path. */
static void
set_path_loss (ArenaPath * path, gdouble loss, gboolean bursty)
{
  guint i;

  for (i = 0; i < ARENA_N_DIRECTIONS; i++)
    set_loss (&path->config[i].pipe, loss, bursty);
}

static void
add_loss (ArenaGroups * groups)
{
  static const gdouble losses[] = { 0.01, 0.05, 0.1 };
  guint bursty, i;
  Clip clip;

  for (bursty = 0; bursty <= 1; bursty++) {
    for (i = 0; i < G_N_ELEMENTS (losses); i++) {
      for (clip = CLIP_6M; clip <= CLIP_3M; clip++) {
        gchar *name = g_strdup_printf ("%s %g %%", bursty ? "bursts" :
            "random", 100 * losses[i]);
        ArenaScenario *scenario = add_fast (groups, "loss", name, clip);

        g_free (name);
        set_path_loss (&scenario->paths[0], losses[i], bursty);
      }
    }
  }
}

/* --- long ----------------------------------------------------------------- */

/* Adds scenarios with a long round-trip time, such as that of satellite links
 * and of links between continents. A retransmission rarely arrives in time. The
 * window of the sender must already be large when the stream begins. With a
 * small window, the first frame does not arrive in time. */
static void
add_long (ArenaGroups * groups)
{
  static const struct
  {
    const gchar *name;
    gint rate;                  /* bit/s */
    guint delay;                /* one-way delay in ms */
    gdouble loss;
  } links[] = {
    {"10M, 300 ms", 10000000, 300, 0},
    {"10M, 300 ms, loss 0.1 %", 10000000, 300, 0.001},
    {"20M, 120 ms, loss 1 %", 20000000, 120, 0.01},
    {"5M, 120 ms, loss 1 %", 5000000, 120, 0.01},
    {"5M, 120 ms, loss 2.5 %", 5000000, 120, 0.025},
    {"8M, 120 ms", 8000000, 120, 0}
  };
  guint i;
  Clip clip;

  for (i = 0; i < G_N_ELEMENTS (links); i++) {
    for (clip = CLIP_6M; clip <= CLIP_3M; clip++) {
      ArenaScenario *scenario = add (groups, "long", "%s, %s", links[i].name,
          clip_names[clip]);

      arena_path_init (&scenario->paths[0], links[i].rate, links[i].delay * MS);
      set_clip (groups, scenario, clip);
      scenario->shifts_clip = TRUE;
      set_path_loss (&scenario->paths[0], links[i].loss, FALSE);
    }
  }
}

/* --- lossy-overload ------------------------------------------------------- */

/* Adds a scenario in which random losses are added to an overloaded link. */
static void
add_lossy (ArenaGroups * groups, const gchar * link, const ArenaPath * path,
    gdouble loss)
{
  ArenaScenario *scenario = add (groups, "lossy-overload", "%s, loss %g %%, %s",
      link, 100 * loss, clip_names[CLIP_6M]);

  scenario->paths[0] = *path;
  set_clip (groups, scenario, CLIP_6M);
  scenario->shifts_clip = !path->rotates;
  set_path_loss (&scenario->paths[0], loss, FALSE);
}

/* Adds links that are too slow for the clip and also lose packets at random.
 * The sender has to leave out some frames. It has to send the remaining frames
 * so early that their lost packets can be sent again in time. */
static void
add_lossy_overload (ArenaGroups * groups)
{
  static const gdouble losses[] = { 0.002, 0.01, 0.03 };
  static const guint delays[] = { 20, 50 };
  ArenaPath path;
  guint i, j;

  for (i = 0; i < G_N_ELEMENTS (delays); i++) {
    gchar *name = g_strdup_printf ("5M, %u ms", delays[i]);

    arena_path_init (&path, 5000000, delays[i] * MS);
    for (j = 0; j < G_N_ELEMENTS (losses); j++)
      add_lossy (groups, name, &path, losses[j]);
    g_free (name);
  }
  for (i = 0; i < groups->n_recorded; i++) {
    arena_path_init (&path, 0, 20 * MS);
    set_recording (&path, get_trace (groups, i), NULL);
    add_lossy (groups, get_trace (groups, i)->name, &path, 0.01);
  }
}

/* --- steps ---------------------------------------------------------------- */

/* Adds scenarios in which the link becomes slower for 10 s in the middle of the
 * run. */
static void
add_steps (ArenaGroups * groups)
{
  static const gdouble loads[] = { 1.5, 1.1 };
  ArenaTrace *trace = add_trace (groups, "steps");
  guint i;

  arena_trace_add_rate (trace, 0, 11000, 4000000);
  arena_trace_add_rate (trace, 11000, 21000, 1500000);
  arena_trace_add_rate (trace, 21000, 60000, 4000000);
  for (i = 0; i < G_N_ELEMENTS (loads); i++) {
    ArenaScenario *scenario = add (groups, "steps",
        "4M, 1.5M, 4M, load %.1f", loads[i]);

    scenario->paths[0].trace[ARENA_FORWARD] = trace;
    set_clip_rate (groups, scenario, loads[i] * 4e6);
    scenario->shifts_clip = TRUE;
    scenario->question = ARENA_ASK_STEPS;
    scenario->step_down = 11 * SECOND;
    scenario->step_up = 21 * SECOND;
    scenario->low_rate = 1.5e6;
    scenario->rate = 4e6;
  }
}

/* --- outage, spikes, stalled-return --------------------------------------- */

/* Adds scenarios with a link of 10 Mbit/s that is interrupted every 15 s. In
 * each scenario, all interruptions have the same duration: 0.5, 1, 2 or 5 s. An
 * interruption affects both directions at the same time. */
static void
add_outage (ArenaGroups * groups)
{
  static const guint gaps[] = { 500, 1000, 2000, 5000 };
  Clip clip;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (gaps); i++) {
    ArenaTrace *trace = add_trace (groups, "outage");

    arena_trace_add_rate (trace, 0, 15000 - gaps[i], 10000000);
    trace->period = 15000;
    for (clip = CLIP_6M; clip <= CLIP_3M; clip++) {
      ArenaScenario *scenario = add (groups, "outage", "%g s, %s",
          gaps[i] / 1e3, clip_names[clip]);

      set_recording (&scenario->paths[0], trace, trace);
      set_clip (groups, scenario, clip);
    }
  }
}

/* Adds scenarios in which the network after the link holds all packets back
 * from time to time, once in three seconds on average. The duration of each
 * hold is exponentially distributed. `stalls` has the mean durations in ms. */
static void
add_stalls (ArenaGroups * groups, const gchar * group, gboolean forward,
    const guint * stalls, guint n)
{
  Clip clip;
  guint i;

  for (i = 0; i < n; i++) {
    for (clip = CLIP_6M; clip <= CLIP_3M; clip++) {
      gchar *name = g_strdup_printf ("mean %u ms", stalls[i]);
      ArenaScenario *scenario = add_fast (groups, group, name, clip);
      LinkConfig *config = scenario->paths[0].config;
      LinkOnOffConfig stall = { 3 * SECOND, stalls[i] * MS };

      g_free (name);
      if (forward)
        config[ARENA_FORWARD].pipe.stall = stall;
      else
        config[ARENA_BACK].pipe.stall = stall;
    }
  }
}

static void
add_spikes (ArenaGroups * groups)
{
  static const guint spikes[] = { 50, 100, 300 };

  add_stalls (groups, "spikes", TRUE, spikes, G_N_ELEMENTS (spikes));
}

static void
add_stalled_return (ArenaGroups * groups)
{
  static const guint stalls[] = { 300, 1000 };

  add_stalls (groups, "stalled-return", FALSE, stalls, G_N_ELEMENTS (stalls));
}

/* --- competitors ---------------------------------------------------------- */

/* Sets the rate, the round-trip time and the queue of `path`. The queue is a
 * drop-tail queue. Its size is the bandwidth-delay product of the path,
 * multiplied by `products`. */
static void
set_shared_path (ArenaPath * path, gdouble rate, guint round_trip,
    gdouble products)
{
  LinkQueueConfig *queue = &path->config[ARENA_FORWARD].queue;

  arena_path_init (path, rate, round_trip * MS / 2);
  queue->packets = 0;
  queue->bytes = products * rate / 8 * round_trip / 1e3;
}

/* Adds a scenario in which a video stream competes with TCP.
 *
 * In the group "tcp", frames refer to other frames. If the sender drops a
 * frame, it also drops the frames that refer to it. It may then send less than
 * its rate control allows.
 *
 * In the group "tcp-independent", no frame refers to another frame, so only the
 * rate control limits the sender. */
static void
add_tcp_scenario (ArenaGroups * groups, gboolean is_independent,
    TcpAlgorithm algorithm, gdouble rate, guint round_trip, gdouble products)
{
  gchar *name = get_rate_name (rate);
  ArenaScenario *scenario = add (groups, is_independent ?
      "tcp-independent" : "tcp", "%s, %s, %u ms, %g BDP",
      algorithm == TCP_CUBIC ? "CUBIC" : "Reno", name, round_trip, products);

  g_free (name);
  set_shared_path (&scenario->paths[0], rate, round_trip, products);
  set_clip_rate (groups, scenario, 1.5 * rate);
  scenario->shifts_clip = TRUE;
  scenario->duration = 60 * SECOND;
  scenario->n_runs = 2;
  scenario->question = ARENA_ASK_TCP;
  scenario->tcp = algorithm;
  scenario->is_independent = is_independent;
}

static void
add_tcp (ArenaGroups * groups, gboolean is_independent)
{
  static const gdouble rates[] = { 5e6, 20e6 };
  static const guint round_trips[] = { 20, 50, 100 };
  static const gdouble products[] = { 0.5, 1, 2 };
  TcpAlgorithm algorithm;
  guint i, j, k;

  for (algorithm = TCP_RENO; algorithm <= TCP_CUBIC; algorithm++)
    for (i = 0; i < G_N_ELEMENTS (rates); i++)
      for (j = 0; j < G_N_ELEMENTS (round_trips); j++)
        for (k = 0; k < G_N_ELEMENTS (products); k++)
          add_tcp_scenario (groups, is_independent, algorithm, rates[i],
              round_trips[j], products[k]);
}

static void
add_two (ArenaGroups * groups)
{
  static const gdouble rates[] = { 5e6, 20e6 };
  static const gdouble products[] = { 1, 10 };
  guint i, j;

  for (i = 0; i < G_N_ELEMENTS (rates); i++) {
    for (j = 0; j < G_N_ELEMENTS (products); j++) {
      gchar *name = get_rate_name (rates[i]);
      ArenaScenario *scenario = add (groups, "two", "%s, 40 ms, %g BDP", name,
          products[j]);

      g_free (name);
      set_shared_path (&scenario->paths[0], rates[i], 40, products[j]);
      set_clip_rate (groups, scenario, rates[i]);
      scenario->shifts_clip = TRUE;
      scenario->duration = 60 * SECOND;
      scenario->n_runs = 4;
      scenario->question = ARENA_ASK_FAIRNESS;
    }
  }
}

/* --- all groups ----------------------------------------------------------- */

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  const ArenaTrace *const *first = a, *const *second = b;

  return strcmp ((*first)->name, (*second)->name);
}

/* Loads each delivery trace in the directory and ignores other files. */
static void
load_recordings (ArenaGroups * groups, const gchar * path)
{
  GDir *directory = path ? g_dir_open (path, 0, NULL) : NULL;
  const gchar *name;

  while (directory && (name = g_dir_read_name (directory))) {
    gchar *file = g_build_filename (path, name, NULL);
    gboolean is_text = g_str_has_suffix (name, ".md");
    ArenaTrace *trace = is_text ? NULL : arena_trace_load (file, NULL);

    if (trace)
      g_ptr_array_add (groups->traces, trace);
    g_free (file);
  }
  if (directory)
    g_dir_close (directory);
  g_ptr_array_sort (groups->traces, compare_names);
  groups->n_recorded = groups->traces->len;
  if (groups->n_recorded == 0)
    groups->skipped = g_strdup_printf ("recorded, recorded-back and the bond "
        "of uplinks are skipped: no recordings in \"%s\"; MMTP_TRACES names "
        "another directory", path ? path : "");
}

static gboolean
load_clips (ArenaGroups * groups, const gchar * data, GError ** error)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (groups->clips); i++) {
    gchar *file = g_strdup_printf ("%s/clip-%s.frames", data, clip_names[i]);

    groups->clips[i] = arena_clip_load (file, error);
    g_free (file);
    if (!groups->clips[i])
      return FALSE;
  }
  return TRUE;
}

static void
scenario_free (gpointer data)
{
  arena_scenario_clear (data);
  g_free (data);
}

static void
trace_free (gpointer data)
{
  arena_trace_free (data);
}

ArenaGroups *
arena_groups_new (const gchar * data, const gchar * recordings, GError ** error)
{
  ArenaGroups *groups = g_new0 (ArenaGroups, 1);

  groups->scenarios = g_ptr_array_new_with_free_func (scenario_free);
  groups->traces = g_ptr_array_new_with_free_func (trace_free);
  if (!load_clips (groups, data, error)) {
    arena_groups_free (groups);
    return NULL;
  }
  load_recordings (groups, recordings);
  add_recorded (groups);
  add_cellular (groups);
  add_mobile (groups);
  add_bond (groups);
  add_paper (groups);
  add_constant (groups);
  add_bucket (groups);
  add_wifi (groups);
  add_jitter (groups);
  add_loss (groups);
  add_long (groups);
  add_lossy_overload (groups);
  add_steps (groups);
  add_outage (groups);
  add_spikes (groups);
  add_stalled_return (groups);
  add_tcp (groups, FALSE);
  add_tcp (groups, TRUE);
  add_two (groups);
  return groups;
}

void
arena_groups_free (ArenaGroups * groups)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (groups->clips); i++)
    g_clear_pointer (&groups->clips[i], g_array_unref);
  g_ptr_array_unref (groups->scenarios);
  g_ptr_array_unref (groups->traces);
  g_free (groups->skipped);
  g_free (groups);
}
