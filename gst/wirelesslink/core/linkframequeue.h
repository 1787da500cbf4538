/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* I-Frame Delay as a queueing discipline (Ouwens 2.1; S. Kozlov's was one of the
 * Linux kernel): packets of video go in, those of whole frames come out, of the
 * frames that the link can carry and whose loss would cost most. Each stream has
 * C, where packets become a frame again, and W, which is the core in ifd.h; S,
 * the frame that is being sent, is one for all, and is sent to its end. Private
 * to the link's core.
 *
 *   if (!link_frame_queue_push (queue, now, item, &video)) it is no such packet
 *   while ((item = link_frame_queue_poll_lost (queue))) ...    given up
 *   while the channel is free: item = link_frame_queue_take (queue, now)
 *   at link_frame_queue_next_timeout (queue): link_frame_queue_timeout (...)
 */

#pragma once

#include "ifd.h"
#include "linkconfig.h"
#include "linkitem.h"
#include "videopacket.h"

/* Packets of further streams are none of this queue's. */
#define LINK_FRAME_QUEUE_MAX_STREAMS 8
/* ns: a stream that was silent for so long makes room for another */
#define LINK_FRAME_QUEUE_STREAM_IDLE (10 * LINK_SECOND)
/* ns: a frame of which nothing more came for so long has no end */
#define LINK_FRAME_QUEUE_FRAME_IDLE LINK_SECOND
/* Limits of a frame: more bytes than MPEG_VIDEO_DEFAULT_MAX_FRAME_SIZE, or so
 * many packets that their numbers would be ambiguous (RFC 3550 A.1) */
#define LINK_FRAME_QUEUE_MAX_PACKETS 32768

typedef struct _LinkFrameQueue LinkFrameQueue;

LinkFrameQueue *link_frame_queue_new (const IfdConfig * config);
void link_frame_queue_free (LinkFrameQueue * queue, GDestroyNotify user_free);

/* Whether a push would take this packet: it begins a frame of a new stream for
 * which there is a place, or belongs to a known one and to a frame whose type
 * is known. */
gboolean link_frame_queue_wants (LinkFrameQueue * queue, guint64 now,
    guint flow, const VideoPacket * video);
/* Takes the item, or returns FALSE. */
gboolean link_frame_queue_push (LinkFrameQueue * queue, guint64 now,
    LinkItem * item, const VideoPacket * video);
/* The next packet that will not be sent, or NULL */
LinkItem *link_frame_queue_poll_lost (LinkFrameQueue * queue);
/* The packet that a take would take, which stays; or NULL */
LinkItem *link_frame_queue_peek (LinkFrameQueue * queue);
LinkItem *link_frame_queue_take (LinkFrameQueue * queue, guint64 now);
/* Nothing more comes of this flow, for now: frames without end are given up. */
void link_frame_queue_end_flow (LinkFrameQueue * queue, guint64 now,
    guint flow);
/* The same for those that have waited too long */
void link_frame_queue_timeout (LinkFrameQueue * queue, guint64 now);
guint64 link_frame_queue_next_timeout (LinkFrameQueue * queue);

/* Packets and bytes in all buffers */
void link_frame_queue_get_size (LinkFrameQueue * queue, guint * packets,
    guint64 * bytes);
/* Adds the counters of all streams that there were; not their lateness. */
void link_frame_queue_add_stats (LinkFrameQueue * queue, IfdStats * total);
