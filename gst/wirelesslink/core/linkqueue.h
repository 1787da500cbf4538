/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The device queue of a station. It decides which packets are accepted, which
 * packet is sent next, and which packets are dropped with their frame. Private
 * to the link's core.
 *
 * - drop-tail: first in, first out. A full queue accepts no packet.
 * - drop-frame: like drop-tail. In addition, a video frame that loses one
 *   packet is dropped completely (Ouwens 3.8), both its packets in the queue
 *   and its packets that arrive later.
 * - ifd: video packets have a queue of their own with its own limits
 *   (linkframequeue.h). All other packets are first in, first out. Of the next
 *   packets of both queues, the one that arrived first is sent.
 */

#pragma once

#include "linkframequeue.h"

/* Maximum number of frames that drop-frame remembers because one of their
 * packets was lost. */
#define LINK_QUEUE_MAX_BROKEN 8

typedef struct
{
  gboolean broken;
  guint flow;
  guint64 stream;
  guint32 timestamp;
} LinkQueueFrame;

typedef struct
{
  const LinkQueueConfig *config;
  /* waiting LinkItem, without the one in transmission */
  GQueue items;
  guint64 bytes;                /* size of the items in bytes */
  LinkFrameQueue *frames;       /* used by ifd; otherwise NULL */
  LinkQueueFrame broken[LINK_QUEUE_MAX_BROKEN]; /* used by drop-frame */
  /* index of the entry of `broken` that is overwritten next */
  guint next_broken;
  GQueue lost;                  /* dropped LinkItem */
} LinkQueue;

void link_queue_init (LinkQueue * queue, const LinkQueueConfig * config);
void link_queue_clear (LinkQueue * queue, GDestroyNotify user_free);

/* Returns whether the queue would accept the packet. `video` is NULL if the
 * packet is not a video packet. */
gboolean link_queue_has_room (LinkQueue * queue, guint64 now, guint flow,
    guint32 size, const VideoPacket * video);
/* Takes ownership of the item. Returns FALSE if the packet was dropped.
 * Afterwards the caller must call link_queue_poll_lost (). */
gboolean link_queue_push (LinkQueue * queue, guint64 now, LinkItem * item,
    const VideoPacket * video);
/* Returns the next dropped item, whose fate is set, or NULL. */
LinkItem *link_queue_poll_lost (LinkQueue * queue);
/* Returns the item that link_queue_take () would return, without removing it,
 * or NULL. */
LinkItem *link_queue_peek (LinkQueue * queue);
LinkItem *link_queue_take (LinkQueue * queue, guint64 now);
/* link_queue_end_flow () and link_queue_timeout () drop incomplete frames; see
 * linkframequeue.h. */
void link_queue_end_flow (LinkQueue * queue, guint64 now, guint flow);
void link_queue_timeout (LinkQueue * queue, guint64 now);
guint64 link_queue_next_timeout (LinkQueue * queue);

void link_queue_get_size (LinkQueue * queue, guint * packets, guint64 * bytes);
