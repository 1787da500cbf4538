/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Queue, transmitter and way of a simulated channel, see the header. Time goes
 * forward lazily: each call first lets happen what was due before it.
 */

#include "virtuallink.h"

#include "seededdraw.h"

/* What a draw is for */
enum
{
  DRAW_LOSS,
  DRAW_FLUCTUATION,
  DRAW_GOOD,
  DRAW_BAD
};

typedef struct
{
  guint32 size;
  guint64 arrival;              /* once it is on its way */
  guint64 serial;
  gboolean is_lost;
  gpointer packet;
} Item;

typedef struct
{
  GQueue waiting;               /* of Item */
  guint64 waiting_bytes;
  GSequence *under_way;         /* of Item, by arrival */
  guint64 last_arrival;
  guint64 n_sent;
  /* bursts of losses: alternating times, drawn as they come */
  guint64 n_states;
  guint64 state_ends;
  gboolean is_bad;
  SimLinkStats stats;
} Direction;

struct _SimLink
{
  SimLinkConfig config;
  guint64 seed;
  guint number;
  GDestroyNotify packet_free;
  guint64 origin;
  Direction directions[2];
  /* Two transmitters; of a half-duplex link the first is both's. */
  Item *on_air[2];
  SimDirection on_air_direction[2];
  guint64 air_free[2];          /* when what is on the air has been sent */
};

void
sim_link_config_add_outage (SimLinkConfig * config, guint64 from,
    guint64 to, guint32 above)
{
  SimOutage *outage = &config->outages[config->n_outages++];

  g_assert_cmpuint (config->n_outages, <=, SIM_MAX_OUTAGES);
  outage->from = from;
  outage->to = to;
  outage->above = above;
}

static SimStep *
add_step (SimLinkConfig * config, guint64 time)
{
  SimStep *step = &config->steps[config->n_steps++];

  g_assert_cmpuint (config->n_steps, <=, SIM_MAX_STEPS);
  step->time = time;
  return step;
}

void
sim_link_config_add_step (SimLinkConfig * config, guint64 time,
    guint64 rate, guint64 delay)
{
  SimStep *step = add_step (config, time);

  step->rate = rate;
  step->delay = delay;
}

void
sim_link_config_add_back_step (SimLinkConfig * config, guint64 time,
    guint64 back_rate)
{
  add_step (config, time)->back_rate = back_rate;
}

SimLink *
sim_link_new (const SimLinkConfig * config, guint64 seed,
    guint number, GDestroyNotify packet_free)
{
  SimLink *link = g_new0 (SimLink, 1);
  guint i;

  link->config = *config;
  link->seed = seed;
  link->number = number;
  link->packet_free = packet_free;
  link->origin = G_MAXUINT64;
  for (i = 0; i < 2; i++) {
    g_queue_init (&link->directions[i].waiting);
    link->directions[i].under_way = g_sequence_new (NULL);
    link->directions[i].is_bad = TRUE;  /* the first state is a good one */
  }
  return link;
}

static void
item_free (SimLink * link, Item * item)
{
  if (item->packet)
    link->packet_free (item->packet);
  g_free (item);
}

void
sim_link_free (SimLink * link)
{
  guint i;

  for (i = 0; i < 2; i++) {
    Direction *direction = &link->directions[i];
    GSequenceIter *iter = g_sequence_get_begin_iter (direction->under_way);
    Item *item;

    while ((item = g_queue_pop_head (&direction->waiting)))
      item_free (link, item);
    for (; !g_sequence_iter_is_end (iter); iter = g_sequence_iter_next (iter))
      item_free (link, g_sequence_get (iter));
    g_sequence_free (direction->under_way);
    if (link->on_air[i])
      item_free (link, link->on_air[i]);
  }
  g_free (link);
}

void
sim_link_set_origin (SimLink * link, guint64 origin)
{
  link->origin = origin;
}

/* --- what the channel does at a time -------------------------------------- */

static guint64
draw (SimLink * link, SimDirection d, guint purpose, guint64 index)
{
  return seeded_draw (link->seed, link->number * 2 + d, purpose, index, 0);
}

static void
get_rate_and_delay (SimLink * link, SimDirection d, guint64 now,
    guint64 * rate, guint64 * delay)
{
  guint i;

  *rate = link->config.path[d].rate;
  *delay = link->config.path[d].delay;
  if (now < link->origin)
    return;
  for (i = 0; i < link->config.n_steps; i++) {
    const SimStep *step = &link->config.steps[i];

    if (now - link->origin < step->time)
      break;
    if (d == SIM_BACK ? step->back_rate : step->rate)
      *rate = d == SIM_BACK ? step->back_rate : step->rate;
    if (d == SIM_FORWARD && step->delay)
      *delay = step->delay;
  }
}

/* Whether a packet that is under way from `from` to `to` meets an outage */
static gboolean
meets_outage (SimLink * link, guint32 size, guint64 from, guint64 to)
{
  guint i;

  if (link->origin == G_MAXUINT64)
    return FALSE;
  for (i = 0; i < link->config.n_outages; i++) {
    const SimOutage *outage = &link->config.outages[i];

    if (size > outage->above && to >= link->origin + outage->from
        && from < link->origin + outage->to)
      return TRUE;
  }
  return FALSE;
}

/* Good and bad times in turn, so that `loss` of the time is bad */
static gboolean
is_bad_time (SimLink * link, SimDirection d, guint64 now)
{
  const SimPath *path = &link->config.path[d];
  Direction *direction = &link->directions[d];

  while (now >= direction->state_ends) {
    guint64 mean = path->burst;

    direction->is_bad = !direction->is_bad;
    if (!direction->is_bad)
      mean = path->burst * (1 - path->loss) / path->loss;
    direction->state_ends += seeded_draw_exponential (draw (link, d,
            direction->is_bad ? DRAW_BAD : DRAW_GOOD, direction->n_states++),
        mean);
  }
  return direction->is_bad;
}

static gboolean
is_lost (SimLink * link, SimDirection d, guint64 now)
{
  const SimPath *path = &link->config.path[d];

  if (path->loss <= 0)
    return FALSE;
  if (path->burst)
    return is_bad_time (link, d, now);
  return seeded_draw_hits (draw (link, d, DRAW_LOSS,
          link->directions[d].n_sent), seeded_chance (path->loss));
}

static guint64
get_fluctuation (SimLink * link, SimDirection d)
{
  const SimPath *path = &link->config.path[d];
  guint64 value = draw (link, d, DRAW_FLUCTUATION,
      link->directions[d].n_sent);

  if (!path->fluctuation)
    return 0;
  if (path->exponential)
    return seeded_draw_exponential (value, path->fluctuation);
  return seeded_draw_below (value, path->fluctuation + 1);
}

/* --- a packet's way ------------------------------------------------------- */

static guint
get_transmitter (SimLink * link, SimDirection d)
{
  return link->config.half_duplex ? 0 : d;
}

/* Of a half-duplex medium the direction that was not the last one, if it has
 * something; nobody can occupy it for ever. */
static gboolean
choose_direction (SimLink * link, guint transmitter, SimDirection * direction)
{
  SimDirection last = link->on_air_direction[transmitter];
  SimDirection first = link->config.half_duplex ? !last : transmitter;

  *direction = first;
  if (!g_queue_is_empty (&link->directions[first].waiting))
    return TRUE;
  *direction = last;
  return link->config.half_duplex
      && !g_queue_is_empty (&link->directions[last].waiting);
}

static void
start_transmission (SimLink * link, guint transmitter, guint64 now)
{
  SimDirection d;
  Direction *direction;
  guint64 rate, delay, time;
  Item *item;

  if (link->on_air[transmitter] || !choose_direction (link, transmitter, &d))
    return;
  direction = &link->directions[d];
  item = g_queue_pop_head (&direction->waiting);
  direction->waiting_bytes -= item->size;
  get_rate_and_delay (link, d, now, &rate, &delay);
  time = (item->size * SIM_SECOND + rate - 1) / rate;
  direction->stats.busy += time;
  if (link->config.half_duplex && d != link->on_air_direction[transmitter])
    time += link->config.turnaround;
  item->arrival = now + time + delay + get_fluctuation (link, d);
  if (!link->config.path[d].reorders)
    item->arrival = MAX (item->arrival, direction->last_arrival);
  direction->last_arrival = MAX (direction->last_arrival, item->arrival);
  item->is_lost = is_lost (link, d, now)
      || meets_outage (link, item->size, now, item->arrival);
  item->serial = direction->n_sent++;
  link->on_air[transmitter] = item;
  link->on_air_direction[transmitter] = d;
  link->air_free[transmitter] = now + time;
}

static gint
compare_items (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const Item *x = a, *y = b;

  if (x->arrival != y->arrival)
    return x->arrival < y->arrival ? -1 : 1;
  return x->serial < y->serial ? -1 : x->serial > y->serial;
}

static void
end_transmission (SimLink * link, guint transmitter)
{
  Item *item = g_steal_pointer (&link->on_air[transmitter]);
  Direction *direction = &link->directions[link->on_air_direction[transmitter]];

  if (item->is_lost) {
    direction->stats.lost++;
    item_free (link, item);
  } else {
    g_sequence_insert_sorted (direction->under_way, item, compare_items, NULL);
  }
}

static void
advance (SimLink * link, guint64 now)
{
  guint i;

  for (i = 0; i < 2; i++) {
    while (link->on_air[i] && link->air_free[i] <= now) {
      end_transmission (link, i);
      start_transmission (link, i, link->air_free[i]);
    }
  }
}

void
sim_link_input (SimLink * link, guint64 now, SimDirection d,
    guint32 size, gpointer packet)
{
  Direction *direction = &link->directions[d];
  Item *item;

  advance (link, now);
  direction->stats.offered++;
  direction->stats.offered_bytes += size;
  if (direction->waiting_bytes + size > link->config.path[d].queue
      && link->on_air[get_transmitter (link, d)]) {
    direction->stats.overflowed++;
    link->packet_free (packet);
    return;
  }
  item = g_new0 (Item, 1);
  item->size = size;
  item->packet = packet;
  g_queue_push_tail (&direction->waiting, item);
  direction->waiting_bytes += size;
  start_transmission (link, get_transmitter (link, d), now);
  direction->stats.max_queued =
      MAX (direction->stats.max_queued, direction->waiting_bytes);
}

static Item *
get_first (const Direction * direction)
{
  GSequenceIter *iter = g_sequence_get_begin_iter (direction->under_way);

  return g_sequence_iter_is_end (iter) ? NULL : g_sequence_get (iter);
}

gpointer
sim_link_output (SimLink * link, guint64 now, SimDirection * direction)
{
  guint i;

  advance (link, now);
  for (i = 0; i < 2; i++) {
    Direction *d = &link->directions[i];
    Item *item = get_first (d);
    gpointer packet;

    if (!item || item->arrival > now)
      continue;
    g_sequence_remove (g_sequence_get_begin_iter (d->under_way));
    d->stats.arrived++;
    d->stats.arrived_bytes += item->size;
    packet = g_steal_pointer (&item->packet);
    item_free (link, item);
    *direction = i;
    return packet;
  }
  return NULL;
}

guint64
sim_link_next (SimLink * link)
{
  guint64 next = G_MAXUINT64;
  guint i;

  for (i = 0; i < 2; i++) {
    Item *item = get_first (&link->directions[i]);

    if (item)
      next = MIN (next, item->arrival);
    if (link->on_air[i])
      next = MIN (next, link->air_free[i]);
  }
  return next;
}

void
sim_link_get_stats (SimLink * link, SimDirection direction,
    SimLinkStats * stats)
{
  const Direction *d = &link->directions[direction];
  guint i;

  *stats = d->stats;
  stats->under_way = d->waiting.length + g_sequence_get_length (d->under_way);
  for (i = 0; i < 2; i++)
    stats->under_way += link->on_air[i] &&
        link->on_air_direction[i] == direction;
}
