/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of linkqueue.h: the queue of a station's network device. */

#include "linkqueue.h"

#include <string.h>

void
link_queue_init (LinkQueue * queue, const LinkQueueConfig * config)
{
  memset (queue, 0, sizeof (*queue));
  queue->config = config;
  g_queue_init (&queue->items);
  g_queue_init (&queue->lost);
  if (config->discipline == LINK_QUEUE_IFD)
    queue->frames = link_frame_queue_new (&config->ifd);
}

void
link_queue_clear (LinkQueue * queue, GDestroyNotify user_free)
{
  LinkItem *item;

  while ((item = g_queue_pop_head (&queue->items)))
    link_item_free (item, user_free);
  while ((item = g_queue_pop_head (&queue->lost)))
    link_item_free (item, user_free);
  if (queue->frames)
    link_frame_queue_free (queue->frames, user_free);
}

/* Room */

static gboolean
is_within_limits (const LinkQueue * queue, guint64 now, guint32 size)
{
  const LinkQueueConfig *limit = queue->config;
  const LinkItem *oldest = g_queue_peek_head ((GQueue *) & queue->items);

  /* An empty queue accepts any packet. Without this rule, a limit below the
   * size of a packet would block the link completely. */
  if (!oldest)
    return TRUE;
  if (limit->packets && queue->items.length >= limit->packets)
    return FALSE;
  if (limit->bytes && queue->bytes + size > limit->bytes)
    return FALSE;
  return !limit->time || now - oldest->p.arrival < limit->time;
}

gboolean
link_queue_has_room (LinkQueue * queue, guint64 now, guint flow, guint32 size,
    const VideoPacket * video)
{
  if (queue->frames && video
      && link_frame_queue_wants (queue->frames, now, flow, video))
    return TRUE;
  return is_within_limits (queue, now, size);
}

/* drop-frame */

static gboolean
is_of_frame (const LinkItem * item, const LinkItem * other)
{
  return item->video && item->p.flow == other->p.flow
      && item->stream == other->stream && item->timestamp == other->timestamp;
}

static LinkQueueFrame *
find_broken (LinkQueue * queue, const LinkItem * item)
{
  guint i;

  for (i = 0; i < LINK_QUEUE_MAX_BROKEN; i++) {
    LinkQueueFrame *frame = &queue->broken[i];

    if (frame->broken && frame->flow == item->p.flow
        && frame->stream == item->stream)
      return frame;
  }
  return NULL;
}

/* Returns whether the packet `item` belongs to a broken frame, that is, a video
 * frame of which the queue has dropped a packet. `ends` is TRUE if `item` is
 * the last packet of its frame. The queue then forgets the broken frame. It
 * also forgets the frame at the first packet of the next frame of the same
 * stream. */
static gboolean
is_of_broken (LinkQueue * queue, const LinkItem * item, gboolean ends)
{
  LinkQueueFrame *frame = find_broken (queue, item);
  gboolean same = frame && frame->timestamp == item->timestamp;

  if (frame && (ends || !same))
    frame->broken = FALSE;
  return same;
}

static void
remember_broken (LinkQueue * queue, const LinkItem * item)
{
  LinkQueueFrame *frame = &queue->broken[queue->next_broken];

  queue->next_broken = (queue->next_broken + 1) % LINK_QUEUE_MAX_BROKEN;
  frame->broken = TRUE;
  frame->flow = item->p.flow;
  frame->stream = item->stream;
  frame->timestamp = item->timestamp;
}

static void
lose (LinkQueue * queue, LinkItem * item, LinkFate fate)
{
  item->p.fate = fate;
  g_queue_push_tail (&queue->lost, item);
}

/* Called when the queue drops the packet `item` of a video frame. Drops the
 * other waiting packets of this frame, too. The frame can no longer arrive
 * completely, so these packets would only delay other frames. */
static void
lose_rest (LinkQueue * queue, const LinkItem * item)
{
  GList *walk = queue->items.head, *next;

  for (; walk; walk = next) {
    LinkItem *other = walk->data;

    next = walk->next;
    if (!is_of_frame (other, item))
      continue;
    g_queue_delete_link (&queue->items, walk);
    queue->bytes -= other->p.size;
    lose (queue, other, LINK_FATE_FRAME);
  }
}

static void
break_frame (LinkQueue * queue, const LinkItem * item, gboolean ends)
{
  lose_rest (queue, item);
  if (!ends)
    remember_broken (queue, item);
}

/* Input and output */

static gboolean
push_limited (LinkQueue * queue, guint64 now, LinkItem * item, gboolean ends)
{
  if (item->video && is_of_broken (queue, item, ends)) {
    lose (queue, item, LINK_FATE_FRAME);
    return FALSE;
  }
  if (!is_within_limits (queue, now, item->p.size)) {
    if (item->video)
      break_frame (queue, item, ends);
    lose (queue, item, LINK_FATE_QUEUE);
    return FALSE;
  }
  queue->bytes += item->p.size;
  g_queue_push_tail (&queue->items, item);
  return TRUE;
}

gboolean
link_queue_push (LinkQueue * queue, guint64 now, LinkItem * item,
    const VideoPacket * video)
{
  if (queue->frames && video
      && link_frame_queue_push (queue->frames, now, item, video))
    return TRUE;
  item->video = video && queue->config->discipline == LINK_QUEUE_DROP_FRAME;
  if (item->video) {
    item->stream = video->stream;
    item->timestamp = video->timestamp;
  }
  return push_limited (queue, now, item, video && video->ends);
}

LinkItem *
link_queue_poll_lost (LinkQueue * queue)
{
  LinkItem *item = g_queue_pop_head (&queue->lost);

  if (item || !queue->frames)
    return item;
  item = link_frame_queue_poll_lost (queue->frames);
  if (item)
    item->p.fate = LINK_FATE_FRAME;
  return item;
}

LinkItem *
link_queue_peek (LinkQueue * queue)
{
  LinkItem *first = g_queue_peek_head (&queue->items);
  LinkItem *video = queue->frames ? link_frame_queue_peek (queue->frames) :
      NULL;

  if (!first || !video)
    return first ? first : video;
  return video->p.arrival < first->p.arrival ? video : first;
}

LinkItem *
link_queue_take (LinkQueue * queue, guint64 now)
{
  LinkItem *item = link_queue_peek (queue);

  if (!item)
    return NULL;
  if (item != g_queue_peek_head (&queue->items))
    return link_frame_queue_take (queue->frames, now);
  queue->bytes -= item->p.size;
  return g_queue_pop_head (&queue->items);
}

/* Incomplete frames */

void
link_queue_end_flow (LinkQueue * queue, guint64 now, guint flow)
{
  if (queue->frames)
    link_frame_queue_end_flow (queue->frames, now, flow);
}

void
link_queue_timeout (LinkQueue * queue, guint64 now)
{
  if (queue->frames)
    link_frame_queue_timeout (queue->frames, now);
}

guint64
link_queue_next_timeout (LinkQueue * queue)
{
  return queue->frames ? link_frame_queue_next_timeout (queue->frames) :
      LINK_NEVER;
}

void
link_queue_get_size (LinkQueue * queue, guint * packets, guint64 * bytes)
{
  *packets = 0;
  *bytes = 0;
  if (queue->frames)
    link_frame_queue_get_size (queue->frames, packets, bytes);
  *packets += queue->items.length;
  *bytes += queue->bytes;
}
