/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* I-Frame Delay (IFD) as a queueing discipline (Ouwens 2006, section 2.1; the
 * implementation of S. Kozlov was a queueing discipline of the Linux kernel).
 * Video packets enter, and only the packets of complete frames leave. If the
 * link cannot carry all frames, the queue drops the frames whose loss does
 * least damage. This header is private to the core of the link.
 *
 * The queue has three kinds of buffers, which are called C, W and S. In buffer
 * C, the packets of a new frame are assembled. In buffer W, complete frames
 * wait, or are dropped (ifd.h). Each stream has its own buffers C and W. Buffer
 * S holds the frame that is being sent. All streams share buffer S. The frame
 * in it is always sent completely.
 *
 * The caller uses the queue as follows:
 *
 * - link_frame_queue_push () adds a packet. FALSE: the packet is not accepted,
 *   for example because it is not a video packet.
 * - link_frame_queue_poll_lost () returns the dropped packets, one per call.
 * - While the link is free, link_frame_queue_take () returns the next packet.
 * - link_frame_queue_timeout () has to be called at the time that
 *   link_frame_queue_next_timeout () returns. */

#pragma once

#include "ifd.h"
#include "linkconfig.h"
#include "linkitem.h"
#include "videopacket.h"

/* Maximum number of streams. Packets of further streams are handled like
 * packets that are not video. */
#define LINK_FRAME_QUEUE_MAX_STREAMS 8
/* Time in ns after which a stream counts as idle if no packet of it arrives. A
 * new stream may then take its place in the table of streams. */
#define LINK_FRAME_QUEUE_STREAM_IDLE (10 * LINK_SECOND)
/* Maximum time in ns between two packets of a frame. If the next packet does
 * not arrive within this time, the frame counts as incomplete and is dropped.
 */
#define LINK_FRAME_QUEUE_FRAME_IDLE LINK_SECOND
/* Maximum number of packets of a video frame. With more packets, the order of
 * the 16-bit RTP sequence numbers of the frame would be ambiguous (RFC 3550
 * A.1). The size of a frame in bytes is limited as well, by
 * MPEG_VIDEO_DEFAULT_MAX_FRAME_SIZE. */
#define LINK_FRAME_QUEUE_MAX_PACKETS 32768

typedef struct _LinkFrameQueue LinkFrameQueue;

LinkFrameQueue *link_frame_queue_new (const IfdConfig * config);
void link_frame_queue_free (LinkFrameQueue * queue, GDestroyNotify user_free);

/* Returns whether link_frame_queue_push () would accept this packet. The
 * following packets are accepted:
 * - A packet of a known stream that is a duplicate or late.
 * - A packet of a known stream, if the picture type of its frame (I, P, B or D)
 *   is known.
 * - A packet of a new stream, if it is the first packet of a frame of known
 *   type, and there is room for another stream. */
gboolean link_frame_queue_wants (LinkFrameQueue * queue, guint64 now,
    guint flow, const VideoPacket * video);
/* Puts a packet of a video stream into the queue, takes ownership of `item` and
 * returns TRUE. If the queue does not accept the packet, returns FALSE. In this
 * case the caller keeps `item`. */
gboolean link_frame_queue_push (LinkFrameQueue * queue, guint64 now,
    LinkItem * item, const VideoPacket * video);
/* Returns the next packet that the queue has dropped, or NULL if there is none.
 * The packet then belongs to the caller. */
LinkItem *link_frame_queue_poll_lost (LinkFrameQueue * queue);
/* Returns the next packet without removing it from the queue; NULL if there is
 * none. link_frame_queue_take () would return the same packet. */
LinkItem *link_frame_queue_peek (LinkFrameQueue * queue);
LinkItem *link_frame_queue_take (LinkFrameQueue * queue, guint64 now);
/* Drops the video frames of the flow `flow` that are still incomplete. Called
 * when this flow ends or pauses: the missing packets are then not expected any
 * more. */
void link_frame_queue_end_flow (LinkFrameQueue * queue, guint64 now,
    guint flow);
/* Drops incomplete frames. An incomplete frame is dropped when
 * LINK_FRAME_QUEUE_FRAME_IDLE has passed since its latest packet arrived. */
void link_frame_queue_timeout (LinkFrameQueue * queue, guint64 now);
guint64 link_frame_queue_next_timeout (LinkFrameQueue * queue);

/* Sets `packets` and `bytes` to the number of packets and bytes in all buffers
 * of the queue. */
void link_frame_queue_get_size (LinkFrameQueue * queue, guint * packets,
    guint64 * bytes);
/* Adds the statistics of all streams of the queue to `total`, including the
 * streams that were removed. Only the counters are added; the fields about
 * lateness in `total` do not change. */
void link_frame_queue_add_stats (LinkFrameQueue * queue, IfdStats * total);
