/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of virtuallink.h on top of the link model of the element
 * wirelesslink, whose type is Link. A full-duplex connection uses one Link for
 * each direction. A half-duplex connection uses a single Link, in which each
 * direction has its own station. */

#include "virtuallink.h"

#include "linkload.h"
#include "seededdraw.h"

struct _VirtualLink
{
  VirtualLinkConfig config;
  GDestroyNotify packet_free;
  /* One link for each direction. In half duplex, the two pointers of the array
   * are equal, because both directions share a link. */
  Link *links[2];
  guint flows[2];
  guint64 max_queued[2];        /* bytes */
};

void
virtual_link_config_add_outage (VirtualLinkConfig * config, guint64 from,
    guint64 to, guint32 above)
{
  VirtualLinkOutage *outage = &config->outages[config->n_outages++];

  g_assert_cmpuint (config->n_outages, <=, VIRTUAL_LINK_MAX_OUTAGES);
  outage->from = from;
  outage->to = to;
  outage->above = above;
}

static VirtualLinkStep *
add_step (VirtualLinkConfig * config, guint64 time)
{
  VirtualLinkStep *step = &config->steps[config->n_steps++];

  g_assert_cmpuint (config->n_steps, <=, VIRTUAL_LINK_MAX_STEPS);
  step->time = time;
  return step;
}

void
virtual_link_config_add_step (VirtualLinkConfig * config, guint64 time,
    guint64 rate, guint64 delay)
{
  VirtualLinkStep *step = add_step (config, time);

  step->rate = rate;
  step->delay = delay;
}

void
virtual_link_config_add_back_step (VirtualLinkConfig * config, guint64 time,
    guint64 back_rate)
{
  add_step (config, time)->back_rate = back_rate;
}

/* --- life cycle ----------------------------------------------------------- */

static void
set_loss (LinkPipeConfig * pipe, const VirtualLinkPath * path)
{
  if (!path->burst) {
    pipe->loss_good = path->loss;
  } else if (path->loss > 0) {
    pipe->fading.mean_bad = path->burst;
    pipe->fading.mean_good = path->burst * (1 - path->loss) / path->loss;
    pipe->loss_bad = 1;
  }
}

/* Checks that both directions have the same jitter, the same loss and the same
 * queue limit. This is necessary for a half-duplex link, because the link model
 * then has only one value of each of these properties for both directions. */
static void
check_is_symmetric (const VirtualLinkConfig * config)
{
  const VirtualLinkPath *forward = &config->path[VIRTUAL_LINK_FORWARD];
  const VirtualLinkPath *back = &config->path[VIRTUAL_LINK_BACK];

  g_assert_true (forward->fluctuation == back->fluctuation
      && forward->exponential == back->exponential
      && forward->reorders == back->reorders && forward->queue == back->queue
      && forward->loss == back->loss && forward->burst == back->burst);
}

static Link *
make_link (const VirtualLinkConfig * config, VirtualLinkDirection d,
    guint64 seed)
{
  const VirtualLinkPath *path = &config->path[d];
  LinkConfig link_config;
  GError *error = NULL;
  Link *link;
  guint i;

  link_config_init (&link_config, LINK_PROFILE_CUSTOM, LINK_QUALITY_IDEAL);
  link_config.seed = seed;
  link_config.overhead = 0;
  link_config.max_size = 0;
  link_config.queue.packets = 0;
  link_config.queue.bytes = MAX (path->queue, 1);
  for (i = 0; i < 2; i++) {
    link_config.pipe.rate[i] = config->path[i].rate * 8;
    link_config.pipe.delay[i] = config->path[i].delay;
  }
  link_config.pipe.half_duplex = config->half_duplex;
  link_config.pipe.take_turns = TRUE;
  link_config.pipe.turnaround = config->turnaround;
  link_config.pipe.jitter = path->fluctuation;
  link_config.pipe.jitter_exponential = path->exponential;
  link_config.pipe.reorder = path->reorders ? 1 : 0;
  set_loss (&link_config.pipe, path);
  link = link_new (&link_config, &error);
  g_assert_no_error (error);
  return link;
}

VirtualLink *
virtual_link_new (const VirtualLinkConfig * config, guint64 seed,
    guint number, GDestroyNotify packet_free)
{
  VirtualLink *self = g_new0 (VirtualLink, 1);
  guint i;

  self->config = *config;
  self->packet_free = packet_free;
  if (config->half_duplex)
    check_is_symmetric (config);
  for (i = 0; i < 2; i++) {
    if (i == VIRTUAL_LINK_BACK && config->half_duplex)
      self->links[i] = self->links[VIRTUAL_LINK_FORWARD];
    else
      self->links[i] = make_link (config, i, seeded_draw (seed,
              number * 2 + i, 0, 0, 0));
    /* There are two directions. Station `i` sends in the direction `i`. Usually
     * each direction has a Link of its own. If the VirtualLink is half-duplex,
     * one Link carries both directions. This Link needs the number of the
     * station to know the direction of a packet. */
    self->flows[i] = link_add_flow (self->links[i], i);
  }
  return self;
}

static gboolean
has_own_link (const VirtualLink * self, guint direction)
{
  return direction == VIRTUAL_LINK_FORWARD || !self->config.half_duplex;
}

void
virtual_link_free (VirtualLink * self)
{
  guint i;

  for (i = 0; i < 2; i++) {
    if (has_own_link (self, i))
      link_free (self->links[i], self->packet_free);
  }
  g_free (self);
}

void
virtual_link_set_origin (VirtualLink * self, guint64 origin)
{
  VirtualLinkPath forward = self->config.path[VIRTUAL_LINK_FORWARD];
  VirtualLinkPath back = self->config.path[VIRTUAL_LINK_BACK];
  guint i, j;

  for (i = 0; i < self->config.n_steps; i++) {
    const VirtualLinkStep *step = &self->config.steps[i];

    forward.rate = step->rate ? step->rate : forward.rate;
    forward.delay = step->delay ? step->delay : forward.delay;
    back.rate = step->back_rate ? step->back_rate : back.rate;
    link_add_step (self->links[VIRTUAL_LINK_FORWARD], origin + step->time,
        VIRTUAL_LINK_FORWARD, forward.rate * 8, forward.delay);
    link_add_step (self->links[VIRTUAL_LINK_BACK], origin + step->time,
        VIRTUAL_LINK_BACK, back.rate * 8, back.delay);
  }
  for (i = 0; i < self->config.n_outages; i++) {
    const VirtualLinkOutage *outage = &self->config.outages[i];

    for (j = 0; j < 2; j++) {
      if (has_own_link (self, j))
        link_add_cut (self->links[j], origin + outage->from,
            origin + outage->to, outage->above);
    }
  }
}

/* --- processing of packets ------------------------------------------------ */

static void
free_lost (VirtualLink * self, Link * link)
{
  LinkEvent event;

  while (link_poll_event (link, &event)) {
    if (event.type == LINK_EVENT_FATE && event.packet.fate > LINK_FATE_DAMAGED)
      self->packet_free (event.packet.user);
  }
}

void
virtual_link_input (VirtualLink * self, guint64 now,
    VirtualLinkDirection direction, guint32 size, gpointer packet)
{
  Link *link = self->links[direction];
  guint64 bytes;
  guint n;

  link_input (link, now, self->flows[direction], size, packet);
  free_lost (self, link);
  link_get_queue (link, direction, &n, &bytes);
  self->max_queued[direction] = MAX (self->max_queued[direction], bytes);
}

gpointer
virtual_link_output (VirtualLink * self, guint64 now,
    VirtualLinkDirection * direction)
{
  LinkPacket packet;
  guint i;

  for (i = 0; i < 2; i++) {
    if (!has_own_link (self, i))
      continue;
    link_timeout (self->links[i], now);
    free_lost (self, self->links[i]);
    if (link_poll_output (self->links[i], &packet)) {
      *direction = packet.station;
      return packet.user;
    }
  }
  return NULL;
}

static guint64
count_under_way (VirtualLink * self, guint direction)
{
  LinkFlowStats stats;
  guint64 ended = 0;
  guint i;

  link_get_flow_stats (self->links[direction], self->flows[direction], &stats);
  for (i = 0; i < LINK_FATE_LAST; i++)
    ended += stats.fates[i];
  return stats.offered - ended;
}

guint64
virtual_link_next (VirtualLink * self)
{
  guint64 next = G_MAXUINT64;
  guint i;

  /* Without packets in flight, no wakeup is needed. The link model may still
   * have an event to come, the next change of the radio's fading, but this
   * change affects no packet. */
  for (i = 0; i < 2; i++) {
    if (count_under_way (self, i))
      next = MIN (next, link_next_wakeup (self->links[i]));
  }
  return next;
}

void
virtual_link_get_stats (VirtualLink * self, VirtualLinkDirection direction,
    VirtualLinkStats * stats)
{
  LinkFlowStats flow;

  link_get_flow_stats (self->links[direction], self->flows[direction], &flow);
  stats->offered = flow.offered;
  stats->offered_bytes = flow.offered_bytes;
  stats->arrived = flow.fates[LINK_FATE_DELIVERED];
  stats->arrived_bytes = flow.delivered_bytes;
  stats->overflowed = flow.fates[LINK_FATE_QUEUE];
  stats->lost = flow.fates[LINK_FATE_AIR];
  stats->busy = flow.airtime;
  stats->max_queued = self->max_queued[direction];
  stats->under_way = count_under_way (self, direction);
}
