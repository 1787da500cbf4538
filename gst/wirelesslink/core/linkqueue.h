/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The device queue of a station. It decides which packets are accepted, which
 * packet is sent next, and which packets are dropped because another packet of
 * the same video frame was dropped. Only the files of the link's core use it.
 *
 * There are three queue disciplines:
 * - drop-tail: first in, first out. A full queue accepts no packet.
 * - drop-frame: like drop-tail. In addition, if one packet of a video frame is
 *   dropped, the other packets of this frame are dropped too (Ouwens 3.8):
 *   those in the queue, and those that arrive later.
 * - ifd: video packets have a queue of their own with its own limits
 *   (linkframequeue.h). All other packets are in a second queue, which is first
 *   in, first out. The station compares the next packet of the first queue with
 *   the next packet of the second queue, and sends the packet that arrived
 *   earlier. */

#pragma once

#include "linkframequeue.h"

/* Maximum number of broken frames that the queue remembers. A frame is broken
 * if the queue has dropped one of its packets. With the queue discipline
 * drop-frame, the later packets of a broken frame are dropped, too. */
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
  /* Waiting items, of type LinkItem. The item that is being transmitted is not
   * in this queue. */
  GQueue items;
  guint64 bytes;                /* sum of the sizes of all items, in bytes */
  LinkFrameQueue *frames;       /* used by ifd; otherwise NULL */
  LinkQueueFrame broken[LINK_QUEUE_MAX_BROKEN]; /* used by drop-frame */
  /* Index of the element of `broken` that will be overwritten next, because
   * this array is used as a ring buffer. */
  guint next_broken;
  GQueue lost;                  /* dropped LinkItem */
} LinkQueue;

void link_queue_init (LinkQueue * queue, const LinkQueueConfig * config);
void link_queue_clear (LinkQueue * queue, GDestroyNotify user_free);

/* Returns whether the queue would accept a packet of `size` bytes of `flow`.
 * `video` describes the packet, or is NULL if it is not a video packet. */
gboolean link_queue_has_room (LinkQueue * queue, guint64 now, guint flow,
    guint32 size, const VideoPacket * video);
/* Puts `item` into the queue and takes ownership of it. Returns FALSE if the
 * item was dropped. After each call, the caller must fetch the dropped items
 * with link_queue_poll_lost (). */
gboolean link_queue_push (LinkQueue * queue, guint64 now, LinkItem * item,
    const VideoPacket * video);
/* Returns the next dropped item, or NULL if there is none. The field `fate` of
 * the item's packet says why the packet was dropped. */
LinkItem *link_queue_poll_lost (LinkQueue * queue);
/* Returns the item that link_queue_take () would return, but leaves it in the
 * queue. Returns NULL if there is no such item. */
LinkItem *link_queue_peek (LinkQueue * queue);
LinkItem *link_queue_take (LinkQueue * queue, guint64 now);
/* link_queue_end_flow () drops the incomplete video frames of a flow that ends
 * or pauses. link_queue_timeout () drops the incomplete video frames that have
 * waited too long for their next packet. */
void link_queue_end_flow (LinkQueue * queue, guint64 now, guint flow);
void link_queue_timeout (LinkQueue * queue, guint64 now);
guint64 link_queue_next_timeout (LinkQueue * queue);

void link_queue_get_size (LinkQueue * queue, guint * packets, guint64 * bytes);
