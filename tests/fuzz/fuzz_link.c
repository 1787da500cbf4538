/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes the simulated link of link.h. The input selects a link profile, which
 * is a set of default values, and changes some of these values. It also
 * determines the stations, the flows that they send, the packets of each flow,
 * and the times of all commands. The test checks all guarantees that link.h
 * documents. It runs the same commands three times, and the results must agree:
 * - The first run polls the link whenever the link asks for it.
 * - The second run polls the link only at the end.
 * - The third run replays the fates of the packets, which the first run has
 *   recorded.
 *
 * The input consists of:
 * - one byte each: the profile, the quality of the link, the flags, the choice
 *   of the traces, and the seed
 * - the number of values to change in the profile
 * - two bytes for each such value: its index and its new magnitude
 * - the commands (the type Order), each with an argument of two bytes */

#include "fuzzlink.h"

#define FLAG_TRACE (1 << 0)
#define FLAG_TRACE_DOWN (1 << 1)
/* With this flag, the run frees the link while the link still contains
 * packets. */
#define FLAG_ABANDON (1 << 2)
#define FLAG_DIAL_UP (1 << 3)
#define FLAG_MANY_FLOWS (1 << 4)
#define FLAG_DROP_FRAME (1 << 5)
#define FLAG_IFD (1 << 6)       /* the seed determines max_frames */
/* If the input has this flag, the command ORDER_SET_STATION ends a flow before
 * it assigns this flow to another station. */
#define FLAG_END_FLOWS (1 << 7)

#define MAX_CHANGES 15
#define MAX_ORDERS 100
/* Maximum number of wakeups in a run. A longer run is cut off. */
#define MAX_WAKEUPS 1500
/* ns: 30 years */
#define MAX_TIME G_GUINT64_CONSTANT (1000000000000000000)
/* Maximum pause in a link with a cellular model. The model draws a new rate
 * every 20 ms, even if no packet is sent, so the simulation of a pause of years
 * would take minutes. Real links have no such pauses: they are only possible in
 * a simulation with virtual time. */
#define MAX_CELLULAR_PAUSE (1000 * LINK_SECOND)
#define MAX_CELLULAR_TIME (100000 * LINK_SECOND)
/* Maximum number of wakeups per second of simulated time, in a link with 16
 * stations. It covers the wakeups for radio blocks and for changes of the
 * channel state, which may follow each other as fast as the configuration
 * allows. Wakeups that packets cause are counted separately. */
#define MAX_WAKEUPS_PER_SECOND 800000
#define MAX_WAKEUPS_PER_PACKET 1024
#define SPARE_WAKEUPS 1024

typedef enum
{
  ORDER_INPUT,
  ORDER_INPUT_SMALL,
  ORDER_BURST,
  ORDER_ADVANCE,
  ORDER_WAKEUP,
  ORDER_SET_STATION,
  ORDER_ADD_FLOW,
  ORDER_BACK                    /* The clock jumps backwards. */
} Order;

typedef enum
{
  RUN_EAGER,
  RUN_LAZY,
  RUN_REPLAY
} RunType;

typedef struct
{
  LinkConfig config;
  guint flags;
  FuzzInput orders;
  /* TRUE if the link may hold packets for an unlimited time, because its
   * configuration lets it stop for ever. */
  gboolean endless;
} Job;

/* Traces for the link profiles that need one. Each text in `deliveries` is a
 * trace of times in ms at which the link can deliver data. Each text in
 * `blocks` is a trace of radio blocks, which come through (0) or are damaged
 * (1). */
static const gchar *const deliveries[] = {
  "1\n", "5\n5\n20\n", "0\n1\n2\n300\n", "# stops\n10\n10\n10\n2000\n"
};

static const gchar *const blocks[] = {
  "0", "1", "0001\n000", "1110 1111 # long\n00000"
};

static gboolean
is_cellular (const LinkConfig * config)
{
  return config->pipe.cellular.mean_rate[0] > 0
      || config->pipe.cellular.mean_rate[1] > 0;
}

static void
limit_pauses (LinkConfig * config)
{
  if (!is_cellular (config))
    return;
  config->pipe.idle_delay = MIN (config->pipe.idle_delay, MAX_CELLULAR_PAUSE);
  config->pipe.turnaround = MIN (config->pipe.turnaround, MAX_CELLULAR_PAUSE);
}

static void
set_traces (Job * job, FuzzInput * input)
{
  LinkConfig *config = &job->config;
  guint which = fuzz_take_u8 (input);
  gboolean down = job->flags & FLAG_TRACE_DOWN;

  if (!(job->flags & FLAG_TRACE))
    return;
  config->pipe.trace[0] = deliveries[which & 3];
  config->pipe.trace[1] = down ? deliveries[which >> 2 & 3] : NULL;
  config->blocks.trace = blocks[which & 3];
  config->blocks.trace_down = down ? blocks[which >> 2 & 3] : NULL;
}

static gboolean
stops_for_ever (const LinkOnOffConfig * config)
{
  return config->mean_good == 0 && config->mean_bad > 0;
}

/* `config` describes a channel that alternates between two states. Raises the
 * mean duration of each state to at least `min`. Without this limit and the
 * limits in temper (), a channel could change its state all the time, or a
 * packet could stay in a link for days. Neither is a fault, but such a run
 * would take too long. */
static void
temper_times (LinkOnOffConfig * config, guint64 min)
{
  if (config->mean_good)
    config->mean_good = MAX (config->mean_good, min);
  if (config->mean_bad)
    config->mean_bad = MAX (config->mean_bad, min);
}

static void
temper (LinkConfig * config)
{
  LinkPipeConfig *pipe = &config->pipe;
  guint i;

  temper_times (&pipe->fading, LINK_MS);
  temper_times (&pipe->stall, LINK_MS);
  temper_times (&pipe->outage, 10 * LINK_MS);
  for (i = 0; i < 2; i++) {
    if (pipe->rate[i])
      pipe->rate[i] = MAX (pipe->rate[i], 1000);
  }
  config->blocks.block_time = CLAMP (config->blocks.block_time, LINK_MS,
      10 * LINK_SECOND);
}

static void
read_job (Job * job, FuzzInput * input)
{
  guint profile = fuzz_take_u8 (input) % link_profile_get_number ();
  LinkQuality quality = fuzz_take_u8 (input) % 3;
  guint i, n;

  memset (job, 0, sizeof (*job));
  link_config_init (&job->config, profile, quality);
  job->flags = fuzz_take_u8 (input);
  set_traces (job, input);
  job->config.seed = fuzz_take_u8 (input);
  n = fuzz_take_u8 (input) % (MAX_CHANGES + 1);
  for (i = 0; i < n; i++) {
    guint field = fuzz_take_u8 (input) % fuzz_n_fields;
    guint64 number = fuzz_take_magnitude (input);

    fuzz_set_field (&job->config, &fuzz_fields[field], number,
        number / (gdouble) G_GUINT64_CONSTANT (1000000000));
  }
  if (job->flags & FLAG_DIAL_UP)
    job->config.dial_up.enabled = TRUE;
  if (job->flags & FLAG_DROP_FRAME)
    job->config.queue.discipline = LINK_QUEUE_DROP_FRAME;
  if (job->flags & FLAG_IFD)
    job->config.queue.discipline = LINK_QUEUE_IFD;
  job->config.queue.ifd.algorithm = job->config.seed % 3;
  job->config.queue.ifd.max_frames = 1 + job->config.seed % IFD_MAX_FRAMES;
  temper (&job->config);
  job->orders = *input;
  limit_pauses (&job->config);
  job->endless = stops_for_ever (&job->config.pipe.outage)
      || stops_for_ever (&job->config.pipe.stall);
}

/* --- the commands --------------------------------------------------------- */

typedef struct
{
  const Job *job;
  RunType type;
  FuzzRun *run;
  guint wakeups;
  /* TRUE if the run was stopped before its end because the link had too many
   * wakeups. */
  gboolean cut_off;
} Player;

static void
check_wakeups (const Player * player)
{
  const FuzzRun *run = player->run;

  fuzz_check (player->wakeups <= SPARE_WAKEUPS +
      (gdouble) run->n_packets * MAX_WAKEUPS_PER_PACKET +
      run->now / 1e9 * MAX_WAKEUPS_PER_SECOND);
}

static guint64
get_max_time (const Player * player)
{
  return is_cellular (&player->job->config) ? MAX_CELLULAR_TIME : MAX_TIME;
}

/* Advances the link to `time`. If the type of the run is RUN_LAZY, this is one
 * step. Otherwise the function stops at each wakeup before `time` and polls the
 * link at this wakeup. */
static void
play_until (Player * player, guint64 time)
{
  FuzzRun *run = player->run;
  guint64 wakeup;

  while (player->type != RUN_LAZY && !player->cut_off) {
    wakeup = link_next_wakeup (run->link);
    if (wakeup >= time)
      break;
    fuzz_run_advance (run, wakeup);
    fuzz_run_poll (run);
    player->cut_off = ++player->wakeups >= MAX_WAKEUPS;
  }
  fuzz_run_advance (run, time);
}

static void
play_burst (Player * player, guint argument)
{
  FuzzRun *run = player->run;
  guint i, flow = (argument >> 12) % run->n_flows;

  for (i = 0; i < (argument >> 8 & 15); i++)
    fuzz_run_input (run, run->now, flow, (argument & 255) * 6);
}

static void
play_order (Player * player, Order order, guint argument)
{
  FuzzRun *run = player->run;
  guint flow = (argument >> 11) % run->n_flows;
  FuzzInput magnitude = { (const guint8[]) {argument >> 8}, 1 };
  guint64 wakeup, pause;

  switch (order) {
    case ORDER_INPUT:
      fuzz_run_input (run, run->now, flow, argument % 2048);
      break;
    case ORDER_INPUT_SMALL:
      fuzz_run_input (run, run->now, flow, argument % 64 ? argument % 64 :
          FUZZ_LARGEST);
      break;
    case ORDER_BURST:
      play_burst (player, argument);
      break;
    case ORDER_ADVANCE:
      pause = fuzz_take_magnitude (&magnitude);
      play_until (player, MIN (get_max_time (player), run->now +
              MIN (pause, 10 * LINK_SECOND)));
      break;
    case ORDER_WAKEUP:
      wakeup = link_next_wakeup (run->link);
      if (wakeup < get_max_time (player))
        play_until (player, wakeup);
      break;
    case ORDER_SET_STATION:
      if (player->job->flags & FLAG_END_FLOWS)
        link_end_flow (run->link, run->now, flow);
      fuzz_run_set_station (run, flow, argument & 31);
      break;
    case ORDER_ADD_FLOW:
      fuzz_run_add_flow (run, argument & 31);
      break;
    case ORDER_BACK:
      fuzz_run_advance (run, run->now - MIN (run->now, argument));
      fuzz_run_input (run, run->now / 2, flow, argument % 1024);
      break;
  }
  link_has_room_for_video (run->link, flow, argument % 2048, NULL);
}

static void
play_orders (Player * player)
{
  FuzzInput orders = player->job->orders;
  guint i;

  fuzz_run_add_flow (player->run, 0);
  for (i = 1; (player->job->flags & FLAG_MANY_FLOWS) && i < 4; i++)
    fuzz_run_add_flow (player->run, i);
  for (i = 0; i < MAX_ORDERS && orders.size > 0 && !player->cut_off; i++) {
    guint order = fuzz_take_u8 (&orders);
    guint argument = fuzz_take_u16 (&orders);

    play_order (player, order & 7, argument);
    if (player->type != RUN_LAZY)
      fuzz_run_poll (player->run);
  }
}

/* Advances the time of the link until each packet has left the link. */
static void
play_rest (Player * player)
{
  FuzzRun *run = player->run;
  guint64 wakeup;

  while ((wakeup = link_next_wakeup (run->link)) <= get_max_time (player)) {
    fuzz_run_advance (run, wakeup);
    if (player->type != RUN_LAZY)
      fuzz_run_poll (run);
    if (++player->wakeups >= MAX_WAKEUPS)
      return;
    if (player->type != RUN_LAZY && fuzz_run_count_inside (run) == 0)
      return;
  }
  fuzz_run_poll (run);
  /* The link asks for no further wakeup, so it would never output a packet that
   * is still in it. It must therefore contain no packet. */
  if (wakeup == LINK_NEVER && !player->job->endless)
    fuzz_check (fuzz_run_count_inside (run) == 0);
}

static void
play (Player * player, const Job * job, RunType type, const LinkConfig * config)
{
  GError *error = NULL;

  memset (player, 0, sizeof (*player));
  player->job = job;
  player->type = type;
  player->run = fuzz_run_new (config, &error);
  fuzz_check (player->run && !error);
  play_orders (player);
  check_wakeups (player);
}

/* Compares two runs after their last command. The fates of all packets must be
 * the same in both runs: whether a packet has left the link, when, and whether
 * it was damaged or lost. */
static void
check_same (const FuzzRun * a, const FuzzRun * b)
{
  guint i;

  fuzz_check (a->n_packets == b->n_packets);
  for (i = 0; i < a->n_packets; i++) {
    const FuzzPacket *p = &a->packets[i], *q = &b->packets[i];

    fuzz_check (p->fates == q->fates);
    fuzz_check (p->copies == q->copies);
    fuzz_check (p->damage_hash == q->damage_hash);
    fuzz_check (p->end.fate == q->end.fate);
    fuzz_check (p->end.departure == q->end.departure);
    fuzz_check (p->end.attempts == q->end.attempts);
    fuzz_check (p->end.airtime == q->end.airtime);
    fuzz_check (p->end.jitter == q->end.jitter);
  }
  fuzz_check (a->n_quality == b->n_quality);
}

/* Checks that the result does not depend on the times at which the link is
 * polled. In the run `eager`, the link was polled at each wakeup, which is a
 * time at which the link asks to be polled. This function repeats the run, but
 * polls the link only at the end. The packets must arrive at the same times in
 * both runs. */
static void
check_lazy (const Job * job, const Player * eager)
{
  Player lazy;

  play (&lazy, job, RUN_LAZY, &job->config);
  if (!(job->flags & FLAG_ABANDON)) {
    fuzz_run_poll (lazy.run);
    check_same (eager->run, lazy.run);
    play_rest (&lazy);
  }
  fuzz_run_free (lazy.run);
}

static void
check_replay (const Job * job, const Player * eager, const gchar * record)
{
  LinkConfig config = job->config;
  gchar *head = link_pattern_format_head (config.seed);
  gchar *text = g_strconcat (head, record, NULL);
  Player replay;

  config.pattern = text;
  config.seed = 0;              /* ignored: the pattern has a seed */
  play (&replay, job, RUN_REPLAY, &config);
  check_same (eager->run, replay.run);
  fuzz_run_free (replay.run);
  g_free (head);
  g_free (text);
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  FuzzInput input = { data, size };
  GError *error = NULL;
  Player eager;
  Job job;

  read_job (&job, &input);
  if (!link_config_check (&job.config, &error)) {
    fuzz_check (error->domain == LINK_ERROR && *error->message);
    g_clear_error (&error);
    fuzz_check (!link_new (&job.config, NULL));
    return 0;
  }
  play (&eager, &job, RUN_EAGER, &job.config);
  if (!eager.cut_off) {
    check_lazy (&job, &eager);
    check_replay (&job, &eager, eager.run->record->str);
    play_rest (&eager);
    check_wakeups (&eager);
  }
  fuzz_run_free (eager.run);
  return 0;
}
