/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The link models (linkdcf.c, linkpipe.c, linkblocks.c and linkrlp.c) call the
 * functions in this file. The functions report to the simulated link what
 * happened to a packet, schedule its departure, and control the telephone call
 * of a dial-up link. This file calls a model only through the function pointers
 * in its LinkModelClass, and never calls functions of link.c. */

#include "linkmodel.h"

/* Fates and events */

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
  count_fate (&link_get_flow (link, item->p.flow)->stats, item);
  push_fate (link, item);
  link->in_flight--;
  if (link->in_flight == 0 && link->dial_up)
    link_dial_up_set_used (link->dial_up, link->now, FALSE);
}

void
link_lose (Link * link, LinkItem * item, LinkFate fate)
{
  item->p.fate = fate;
  item->p.departure = link->now;
  finish_item (link, item);
  link_item_free (item, NULL);
}

/* Quality */

gdouble
link_get_model_quality (Link * link, guint station)
{
  if (!link_is_connected (link))
    return 0;
  return link->klass->quality (link->model, station);
}

void
link_quality_changed (Link * link, guint station)
{
  gdouble quality = link_get_model_quality (link, station);
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

/* The array `departures` is a binary heap of packets, ordered by departure
 * time. Packets with equal departure times depart in the order in which they
 * were added. */

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

void
link_release_departure (Link * link)
{
  LinkItem *item = heap_pop (link->departures);

  link->now = MAX (link->now, item->p.departure);
  if (item->p.copy)
    link_get_flow (link, item->p.flow)->stats.duplicates++;
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

static void
tell_call (Link * link, LinkCall call)
{
  LinkEvent *event = push_event (link, LINK_EVENT_CALL, link->now);

  event->call = call;
  if (link->klass->call_changed)
    link->klass->call_changed (link->model, call == LINK_CALL_CONNECTED);
  link_all_qualities_changed (link);
}

static gboolean
has_waiting_packets (Link * link)
{
  guint i;

  for (i = 0; i < LINK_MAX_STATIONS; i++) {
    if (link_peek (link, i))
      return TRUE;
  }
  return FALSE;
}

/* Reports each new state of the phone call as an event of the link. If packets
 * are waiting when a phone call has ended, another phone call begins
 * immediately. */
static void
follow_call (Link * link)
{
  LinkCall call;

  while (link_dial_up_poll_change (link->dial_up, &call)) {
    tell_call (link, call);
    if (call == LINK_CALL_IDLE && has_waiting_packets (link))
      link_dial_up_want (link->dial_up, link->now);
  }
}

void
link_want_call (Link * link)
{
  link_dial_up_want (link->dial_up, link->now);
  follow_call (link);
}

void
link_disconnect (Link * link)
{
  if (!link->dial_up)
    return;
  link_dial_up_break (link->dial_up, link->now);
  follow_call (link);
}

void
link_advance_call (Link * link)
{
  link_dial_up_timeout (link->dial_up, link->now);
  follow_call (link);
}
