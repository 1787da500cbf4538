/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The device queue of a station: who finds room, who goes next, and who is given
 * up for the sake of frames. Private to the link's core.
 *
 * - drop-tail: first in, first out; a full queue takes nothing.
 * - drop-frame: the same, and a frame of video of which one packet found no room
 *   is lost whole (Ouwens 3.8): the packets of it that come later, and those
 *   that wait still.
 * - ifd: video through linkframequeue.h, which has limits of its own; all else
 *   first in, first out. Of both the packet that came first goes first.
 */

#pragma once

#include "linkframequeue.h"

/* Frames in the middle of which somebody is, with drop-frame */
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
  GQueue items;                 /* of LinkItem, without the one in service */
  guint64 bytes;                /* of these */
  LinkFrameQueue *frames;       /* ifd; else NULL */
  LinkQueueFrame broken[LINK_QUEUE_MAX_BROKEN]; /* drop-frame */
  guint next_broken;            /* is overwritten when all are in use */
  GQueue lost;                  /* of LinkItem */
} LinkQueue;

void link_queue_init (LinkQueue * queue, const LinkQueueConfig * config);
void link_queue_clear (LinkQueue * queue, GDestroyNotify user_free);

/* video: NULL where the packet is none */
gboolean link_queue_has_room (LinkQueue * queue, guint64 now, guint flow,
    guint32 size, const VideoPacket * video);
/* Takes the item. FALSE: it was not let in. Then poll for what is lost. */
gboolean link_queue_push (LinkQueue * queue, guint64 now, LinkItem * item,
    const VideoPacket * video);
/* The next item that will not be sent, with its fate; or NULL */
LinkItem *link_queue_poll_lost (LinkQueue * queue);
/* The item that a take would take, which stays; or NULL */
LinkItem *link_queue_peek (LinkQueue * queue);
LinkItem *link_queue_take (LinkQueue * queue, guint64 now);
/* Frames without end: see linkframequeue.h. */
void link_queue_end_flow (LinkQueue * queue, guint64 now, guint flow);
void link_queue_timeout (LinkQueue * queue, guint64 now);
guint64 link_queue_next_timeout (LinkQueue * queue);

void link_queue_get_size (LinkQueue * queue, guint * packets, guint64 * bytes);
