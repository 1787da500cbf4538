/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The link around its model: flows, device queues, departures in the order of
 * their times, fates and statistics. The model is advanced lazily, event by
 * event, up to the time that the caller tells, as mahimahi's link queue is; so
 * no time in it depends on when it was asked.
 */

#include "link.h"

#include <string.h>

#include "linkmodel.h"

/* bytes: larger packets than this, nobody has computed with */
#define MAX_SIZE (1 << 30)

typedef struct
{
  guint station;
  guint64 next_index;
  LinkFlowStats stats;
} LinkFlow;

static const gchar *const fate_names[LINK_FATE_LAST] = {
  "delivered", "damaged", "queue", "air", "check", "reset", "call", "receiver",
  "too-big", "frame"
};

const gchar *
link_fate_get_name (LinkFate fate)
{
  return fate_names[fate];
}

const gchar *
link_call_get_name (LinkCall call)
{
  static const gchar *const names[] = { "none", "idle", "dialling", "connected"
  };

  return names[call];
}

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
    link->dial_up = link_dial_up_new (link);
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
  /* Copies share the user of a first that may have gone already: only firsts
   * are freed with it. */
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

static LinkFlow *
get_flow (Link * link, guint flow)
{
  g_assert (flow < link->flows->len);
  return &g_array_index (link->flows, LinkFlow, flow);
}

void
link_set_station (Link * link, guint flow, guint station)
{
  get_flow (link, flow)->station = MIN (station, LINK_MAX_STATIONS - 1);
}

/* Events */

static LinkEvent *
push_event (Link * link, LinkEventType type, guint64 time)
{
  LinkEvent *event;

  if (link->first_event == link->events->len) {
    g_array_set_size (link->events, 0);
    link->first_event = 0;
  }
  g_array_set_size (link->events, link->events->len + 1);
  event = &g_array_index (link->events, LinkEvent, link->events->len - 1);
  event->type = type;
  event->time = time;
  return event;
}

static void
push_fate (Link * link, LinkItem * item)
{
  LinkEvent *event = push_event (link, LINK_EVENT_FATE, item->p.departure);

  event->station = item->p.station;
  event->packet = item->p;
  event->packet.damage = NULL;
  if (item->damage) {
    event->packet.n_damage = item->damage->len;
    event->packet.damage = g_memdup2 (item->damage->data,
        item->damage->len * sizeof (LinkDamage));
  }
}

static void
count_fate (LinkFlowStats * stats, const LinkItem * item)
{
  const LinkPacket *packet = &item->p;

  stats->fates[packet->fate]++;
  stats->airtime += packet->airtime;
  stats->transmissions[MIN (packet->attempts, LINK_MAX_ATTEMPTS - 1)]++;
  if (packet->fate <= LINK_FATE_DAMAGED)
    stats->delivered_bytes += packet->size;
  if (item->damage)
    stats->damaged_bytes += item->damage->len;
}

static void
finish_item (Link * link, LinkItem * item)
{
  count_fate (&get_flow (link, item->p.flow)->stats, item);
  push_fate (link, item);
  link->in_flight--;
  if (link->in_flight == 0 && link->dial_up)
    link_dial_up_use_changed (link->dial_up);
}

void
link_lose (Link * link, LinkItem * item, LinkFate fate)
{
  item->p.fate = fate;
  item->p.departure = link->now;
  finish_item (link, item);
  link_item_free (item, NULL);
}

void
link_quality_changed (Link * link, guint station)
{
  gdouble quality = link_get_quality (link, station);
  LinkEvent *event;

  if (quality == link->quality[station])
    return;
  link->quality[station] = quality;
  event = push_event (link, LINK_EVENT_QUALITY, link->now);
  event->station = station;
  event->quality = quality;
}

void
link_all_qualities_changed (Link * link)
{
  guint i;

  for (i = 0; i < LINK_MAX_STATIONS; i++) {
    if (link->quality[i] >= 0)
      link_quality_changed (link, i);
  }
}

/* Departures: a binary heap by time, and by order of entry among equals */

static gboolean
leaves_before (const LinkItem * a, const LinkItem * b)
{
  if (a->p.departure != b->p.departure)
    return a->p.departure < b->p.departure;
  return a->order < b->order;
}

static void
heap_push (GPtrArray * heap, LinkItem * item)
{
  guint i = heap->len;

  g_ptr_array_add (heap, item);
  while (i > 0) {
    guint parent = (i - 1) / 2;

    if (!leaves_before (item, g_ptr_array_index (heap, parent)))
      break;
    heap->pdata[i] = heap->pdata[parent];
    i = parent;
  }
  heap->pdata[i] = item;
}

static LinkItem *
heap_pop (GPtrArray * heap)
{
  LinkItem *top = heap->pdata[0], *last = heap->pdata[heap->len - 1];
  guint n = heap->len - 1, i = 0;

  g_ptr_array_set_size (heap, n);
  while (n > 0) {
    guint child = 2 * i + 1;

    if (child + 1 < n && leaves_before (heap->pdata[child + 1],
            heap->pdata[child]))
      child++;
    if (child >= n || !leaves_before (heap->pdata[child], last)) {
      heap->pdata[i] = last;
      break;
    }
    heap->pdata[i] = heap->pdata[child];
    i = child;
  }
  return top;
}

void
link_deliver (Link * link, LinkItem * item, guint64 departure)
{
  item->p.fate = item->damage ? LINK_FATE_DAMAGED : LINK_FATE_DELIVERED;
  item->p.departure = MAX (departure, link->now);
  item->order = link->n_departures++;
  heap_push (link->departures, item);
}

void
link_duplicate (Link * link, LinkItem * item, guint64 departure)
{
  LinkItem *copy = g_slice_dup (LinkItem, item);

  item->p.copies++;
  copy->p.copy = item->p.copies;
  if (copy->damage)
    g_array_ref (copy->damage);
  link_deliver (link, copy, departure);
}

static void
release_departure (Link * link)
{
  LinkItem *item = heap_pop (link->departures);

  link->now = MAX (link->now, item->p.departure);
  if (item->p.copy)
    get_flow (link, item->p.flow)->stats.duplicates++;
  else
    finish_item (link, item);
  g_queue_push_tail (&link->outputs, item);
}

/* Calls */

gboolean
link_is_connected (Link * link)
{
  return !link->dial_up
      || link_dial_up_get_state (link->dial_up) == LINK_CALL_CONNECTED;
}

void
link_disconnect (Link * link)
{
  if (link->dial_up)
    link_dial_up_break (link->dial_up);
}

void
link_call_changed (Link * link, LinkCall call)
{
  LinkEvent *event = push_event (link, LINK_EVENT_CALL, link->now);

  event->call = call;
  if (link->klass->call_changed)
    link->klass->call_changed (link->model, call == LINK_CALL_CONNECTED);
  link_all_qualities_changed (link);
}

/* Time */

static guint64
next_departure (Link * link)
{
  if (link->departures->len == 0)
    return LINK_NEVER;
  return ((LinkItem *) link->departures->pdata[0])->p.departure;
}

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

static guint64
next_call (Link * link)
{
  return link->dial_up ? link_dial_up_next (link->dial_up) : LINK_NEVER;
}

guint64
link_next_wakeup (Link * link)
{
  guint64 model = link->klass->next (link->model);
  guint64 queue = next_queue_timeout (link);
  guint64 next = MIN (next_departure (link), next_call (link));

  return MIN (next, MIN (model, queue));
}

/* Everything up to and with `until`, in the order of its times */
static void
advance (Link * link, guint64 until)
{
  while (TRUE) {
    guint64 first = link_next_wakeup (link);

    if (first == LINK_NEVER || first > until)
      break;
    link->now = MAX (link->now, first);
    if (first == next_departure (link))
      release_departure (link);
    else if (first == next_call (link))
      link_dial_up_advance (link->dial_up);
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
  return &link->queues[get_flow (link, flow)->station];
}

gboolean
link_has_room_for_video (Link * link, guint flow, guint32 size,
    const VideoPacket * video)
{
  return link_queue_has_room (get_queue (link, flow), link->now, flow, size,
      video);
}

gboolean
link_has_room (Link * link, guint flow, guint32 size)
{
  return link_has_room_for_video (link, flow, size, NULL);
}

static gboolean
is_too_big (Link * link, guint32 size)
{
  guint64 most = link->config.max_size ? link->config.max_size : MAX_SIZE;

  return (guint64) size + link->config.overhead > most;
}

static LinkItem *
create_item (Link * link, guint flow, guint32 size, gpointer user)
{
  LinkFlow *f = get_flow (link, flow);
  LinkItem *item = link_item_new (flow, f->station, size, user);

  item->p.index = f->next_index++;
  item->p.arrival = link->now;
  if (link->pattern)
    item->recorded = link_pattern_lookup (link->pattern, flow, item->p.index);
  f->stats.offered++;
  f->stats.offered_bytes += size;
  link->in_flight++;
  if (link->in_flight == 1 && link->dial_up)
    link_dial_up_use_changed (link->dial_up);
  return item;
}

/* FALSE: it has met its fate. */
static gboolean
queue_item (Link * link, LinkItem * item, const VideoPacket * video)
{
  guint station = item->p.station;
  LinkFlow *flow = get_flow (link, item->p.flow);
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
  guint station = get_flow (link, flow)->station;
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
    link->quality[station] = link_get_quality (link, station);
  if (link->dial_up)
    link_dial_up_wanted (link->dial_up);
  if (link_peek (link, station))
    link->klass->arrived (link->model, station);
  /* what leaves without any delay leaves now */
  advance (link, link->now);
}

void
link_input (Link * link, guint64 now, guint flow, guint32 size, gpointer user)
{
  link_input_video (link, now, flow, size, NULL, user);
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

LinkItem *
link_peek (Link * link, guint station)
{
  return link_queue_peek (&link->queues[station]);
}

LinkItem *
link_take (Link * link, guint station)
{
  return link_queue_take (&link->queues[station], link->now);
}

/* What comes out */

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
  *stats = get_flow (link, flow)->stats;
}

void
link_get_stats (Link * link, LinkStats * stats)
{
  *stats = link->stats;
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
  if (!link_is_connected (link))
    return 0;
  return link->klass->quality (link->model, station);
}

void
link_packet_apply_damage (const LinkPacket * packet, guint8 * data, gsize size)
{
  guint i;

  for (i = 0; i < packet->n_damage; i++) {
    if (packet->damage[i].offset < size)
      data[packet->damage[i].offset] ^= packet->damage[i].flip;
  }
}
