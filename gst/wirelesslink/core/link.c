/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implements the parts of the simulated link that do not depend on the link
 * model: flows, device queues, time and statistics. When a caller passes the
 * present time, the model handles all events up to this time, one after the
 * other. Each event has its own time, which does not change if the caller is
 * late. The link queue of mahimahi works in the same way.
 */

#include "link.h"

#include <string.h>

#include "linkmodel.h"

/* Maximum packet size in bytes. Up to this size, the computations with the size
 * are known not to overflow. */
#define MAX_SIZE (1 << 30)

static const LinkModelClass *
get_model_class (LinkModelType type)
{
  switch (type) {
    case LINK_MODEL_DCF:
      return &link_dcf_class;
    case LINK_MODEL_BLOCKS:
      return &link_blocks_class;
    case LINK_MODEL_RLP:
      return &link_rlp_class;
    default:
      return &link_pipe_class;
  }
}

static gboolean
create_parts (Link * link, GError ** error)
{
  if (link->config.pattern) {
    link->pattern = link_pattern_parse (link->config.pattern, error);
    if (!link->pattern)
      return FALSE;
    link->config.seed = link_pattern_get_seed (link->pattern);
  }
  link->klass = get_model_class (link->config.model);
  link->model = link->klass->create (link, error);
  if (!link->model)
    return FALSE;
  if (link->config.dial_up.enabled)
    link->dial_up = link_dial_up_new (&link->config.dial_up, link->config.seed);
  return TRUE;
}

Link *
link_new (const LinkConfig * config, GError ** error)
{
  Link *link;
  guint i;

  if (!link_config_check (config, error))
    return NULL;
  link = g_new0 (Link, 1);
  link->config = *config;
  link->flows = g_array_new (FALSE, TRUE, sizeof (LinkFlow));
  link->departures = g_ptr_array_new ();
  link->steps = g_array_new (FALSE, FALSE, sizeof (LinkStep));
  link->cuts = g_array_new (FALSE, FALSE, sizeof (LinkCut));
  link->events = g_array_new (FALSE, TRUE, sizeof (LinkEvent));
  for (i = 0; i < LINK_MAX_STATIONS; i++) {
    link->quality[i] = -1;
    link_queue_init (&link->queues[i], &link->config.queue);
  }
  if (!create_parts (link, error)) {
    link_free (link, NULL);
    return NULL;
  }
  link->config.pattern = NULL;
  link->config.pipe.trace[0] = link->config.pipe.trace[1] = NULL;
  link->config.blocks.trace = link->config.blocks.trace_down = NULL;
  return link;
}

void
link_free (Link * link, GDestroyNotify user_free)
{
  LinkItem *item;
  guint i;

  for (i = 0; i < LINK_MAX_STATIONS; i++)
    link_queue_clear (&link->queues[i], user_free);
  /* Each packet has a pointer `user`, which the caller gave with the packet.
   * While the original packet is in the link, the link owns the pointer. For
   * each original that is still in the link, the link therefore frees the
   * pointer with `user_free`.
   *
   * A duplicate has the same pointer as the original packet. When the original
   * leaves the link, the pointer belongs to the caller again, but a duplicate
   * may still be in the link. `user_free` is therefore not called for
   * duplicates. */
  for (i = 0; i < link->departures->len; i++)
    link_item_free (g_ptr_array_index (link->departures, i), user_free);
  while ((item = g_queue_pop_head (&link->outputs)))
    link_item_free (item, user_free);
  for (i = link->first_event; i < link->events->len; i++) {
    LinkEvent *event = &g_array_index (link->events, LinkEvent, i);

    if (user_free && event->type == LINK_EVENT_FATE &&
        event->packet.fate > LINK_FATE_DAMAGED)
      user_free (event->packet.user);
    g_free (event->packet.damage);
  }
  if (link->last_output)
    link_item_free (link->last_output, NULL);
  if (link->model)
    link->klass->destroy (link->model, user_free);
  if (link->dial_up)
    link_dial_up_free (link->dial_up);
  if (link->pattern)
    link_pattern_free (link->pattern);
  g_free (link->event_damage);
  g_array_unref (link->flows);
  g_ptr_array_unref (link->departures);
  g_array_unref (link->events);
  g_array_unref (link->steps);
  g_array_unref (link->cuts);
  g_free (link);
}

guint
link_add_flow (Link * link, guint station)
{
  LinkFlow flow = { 0, };

  flow.station = MIN (station, LINK_MAX_STATIONS - 1);
  g_array_append_val (link->flows, flow);
  return link->flows->len - 1;
}

void
link_set_station (Link * link, guint flow, guint station)
{
  link_get_flow (link, flow)->station = MIN (station, LINK_MAX_STATIONS - 1);
}

void
link_add_step (Link * link, guint64 from, guint station, guint64 rate,
    guint64 delay)
{
  LinkStep step = { from, link_direction (station), rate, delay };

  g_return_if_fail (link->config.model == LINK_MODEL_PIPE);
  g_array_append_val (link->steps, step);
}

void
link_add_cut (Link * link, guint64 from, guint64 to, guint32 above)
{
  LinkCut cut = { from, to, above };

  g_return_if_fail (link->config.model == LINK_MODEL_PIPE);
  g_array_append_val (link->cuts, cut);
}

/* Time */

static guint64
next_queue_timeout (Link * link)
{
  guint64 next = LINK_NEVER;
  guint i;

  if (link->config.queue.discipline != LINK_QUEUE_IFD)
    return LINK_NEVER;
  for (i = 0; i < LINK_MAX_STATIONS; i++)
    next = MIN (next, link_queue_next_timeout (&link->queues[i]));
  return next;
}

static void
lose_given_up (Link * link, guint station)
{
  LinkItem *item;

  while ((item = link_queue_poll_lost (&link->queues[station])))
    link_lose (link, item, item->p.fate);
}

static void
time_queues_out (Link * link)
{
  guint i;

  for (i = 0; i < LINK_MAX_STATIONS; i++) {
    link_queue_timeout (&link->queues[i], link->now);
    lose_given_up (link, i);
  }
}

guint64
link_next_wakeup (Link * link)
{
  guint64 model = link->klass->next (link->model);
  guint64 queue = next_queue_timeout (link);
  guint64 next = MIN (link_next_departure (link), link_next_call (link));

  return MIN (next, MIN (model, queue));
}

/* Performs all events whose time is at most `until`, in the order of their
 * times. */
static void
advance (Link * link, guint64 until)
{
  while (TRUE) {
    guint64 first = link_next_wakeup (link);

    if (first == LINK_NEVER || first > until)
      break;
    link->now = MAX (link->now, first);
    if (first == link_next_departure (link))
      link_release_departure (link);
    else if (first == link_next_call (link))
      link_advance_call (link);
    else if (first == next_queue_timeout (link))
      time_queues_out (link);
    else
      link->klass->advance (link->model);
  }
  link->now = MAX (link->now, until);
}

void
link_timeout (Link * link, guint64 now)
{
  advance (link, now);
}

/* Queues */

static LinkQueue *
get_queue (Link * link, guint flow)
{
  return &link->queues[link_get_flow (link, flow)->station];
}

gboolean
link_has_room_for_video (Link * link, guint flow, guint32 size,
    const VideoPacket * video)
{
  return link_queue_has_room (get_queue (link, flow), link->now, flow, size,
      video);
}

static gboolean
is_too_big (Link * link, guint32 size)
{
  guint64 max = link->config.max_size ? link->config.max_size : MAX_SIZE;

  return (guint64) size + link->config.overhead > max;
}

static LinkItem *
create_item (Link * link, guint flow, guint32 size, gpointer user)
{
  LinkFlow *f = link_get_flow (link, flow);
  LinkItem *item = link_item_new (flow, f->station, size, user);

  item->p.index = f->next_index++;
  item->p.arrival = link->now;
  if (link->pattern)
    item->recorded = link_pattern_lookup (link->pattern, flow, item->p.index);
  f->stats.offered++;
  f->stats.offered_bytes += size;
  link->in_flight++;
  if (link->in_flight == 1 && link->dial_up)
    link_dial_up_set_used (link->dial_up, link->now, TRUE);
  return item;
}

/* Puts the packet into the queue of its station. Returns FALSE if the packet
 * was dropped. */
static gboolean
queue_item (Link * link, LinkItem * item, const VideoPacket * video)
{
  guint station = item->p.station;
  LinkFlow *flow = link_get_flow (link, item->p.flow);
  gboolean queued = link_queue_push (&link->queues[station], link->now, item,
      video);

  if (queued)
    flow->stats.queued++;
  lose_given_up (link, station);
  return queued;
}

void
link_input_video (Link * link, guint64 now, guint flow, guint32 size,
    const VideoPacket * video, gpointer user)
{
  guint station = link_get_flow (link, flow)->station;
  LinkItem *item;

  advance (link, now);
  item = create_item (link, flow, size, user);
  if (is_too_big (link, size)) {
    link_lose (link, item, LINK_FATE_TOO_BIG);
    return;
  }
  if (!queue_item (link, item, video))
    return;
  if (link->quality[station] < 0)
    link->quality[station] = link_get_model_quality (link, station);
  if (link->dial_up)
    link_want_call (link);
  if (link_peek (link, station))
    link->klass->arrived (link->model, station);
  /* Handles the events that are due now. The packet that has just entered the
   * link may be delayed by 0 ns. Its departure is then one of these events, so
   * it leaves the link before this function returns. */
  advance (link, link->now);
}

void
link_end_flow (Link * link, guint64 now, guint flow)
{
  guint i;

  advance (link, now);
  for (i = 0; i < LINK_MAX_STATIONS; i++) {
    link_queue_end_flow (&link->queues[i], link->now, flow);
    lose_given_up (link, i);
  }
}

/* Outputs and statistics */

gboolean
link_poll_output (Link * link, LinkPacket * packet)
{
  LinkItem *item = g_queue_pop_head (&link->outputs);

  if (link->last_output) {
    link_item_free (link->last_output, NULL);
    link->last_output = NULL;
  }
  if (!item)
    return FALSE;
  *packet = item->p;
  if (item->damage) {
    packet->n_damage = item->damage->len;
    packet->damage = (LinkDamage *) item->damage->data;
  }
  link->last_output = item;
  return TRUE;
}

gboolean
link_poll_event (Link * link, LinkEvent * event)
{
  g_clear_pointer (&link->event_damage, g_free);
  if (link->first_event == link->events->len)
    return FALSE;
  *event = g_array_index (link->events, LinkEvent, link->first_event);
  link->first_event++;
  link->event_damage = event->packet.damage;
  return TRUE;
}

void
link_get_flow_stats (Link * link, guint flow, LinkFlowStats * stats)
{
  *stats = link_get_flow (link, flow)->stats;
}

void
link_get_stats (Link * link, LinkStats * stats)
{
  *stats = link->stats;
  if (link->dial_up)
    link_dial_up_get_stats (link->dial_up, stats);
}

void
link_get_queue (Link * link, guint station, guint * packets, guint64 * bytes)
{
  link_queue_get_size (&link->queues[station], packets, bytes);
}

gboolean
link_get_ifd_stats (Link * link, IfdStats * stats)
{
  guint i;

  memset (stats, 0, sizeof (*stats));
  if (link->config.queue.discipline != LINK_QUEUE_IFD)
    return FALSE;
  for (i = 0; i < LINK_MAX_STATIONS; i++)
    link_frame_queue_add_stats (link->queues[i].frames, stats);
  return TRUE;
}

gdouble
link_get_quality (Link * link, guint station)
{
  return link_get_model_quality (link, station);
}
