/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The queue of the element ifdqueue. It contains frames, events and queries. It
 * also contains other data, which are never dropped. The items of the queue
 * keep their order. The IFD (I-Frame Delay) algorithm in ifd.h decides which
 * frames are dropped. The queue has no pads, threads or clock, and the caller
 * protects each call with a lock. The objects in the queue belong to the
 * caller: the queue neither accesses nor frees them. Each object leaves the
 * queue through one of the functions ifd_line_pop (), ifd_line_poll_drop (),
 * ifd_line_flush () and ifd_line_withdraw ().
 *
 *   ifd_line_push_frame (line, now, &item);    or ifd_line_push (line, object)
 *   while (ifd_line_poll_drop (line, &drop)) ...
 *   if (ifd_line_pop (line, now, &item)) { send it; ifd_line_sent (...); }
 */

#pragma once

#include <glib.h>

#include "ifd.h"

/* An element of the queue */
typedef struct
{
  /* The object in the queue. It is a frame, the first field of a frame, data
   * that are never dropped, an event, or a query. */
  gpointer object;
  gboolean is_frame;            /* set by the queue */
  /* for frames only: */
  /* Second field of the frame, if `object` is only the first field; otherwise
   * NULL */
  gpointer second;
  IfdFrame frame;
  gboolean has_sequence;        /* contains an MPEG sequence header */
  /* The MPEG sequence header that a decoder needs for this frame; NULL if there
   * is none */
  gpointer sequence;
  /* Data that are sent instead of the frame if the frame is dropped; NULL if
   * there are no such data. When the frame is dropped, `object` is set to these
   * data, and the item is no longer a frame. */
  gpointer rest;
  /* Only for a transport stream. `pid` is the PID of the video, or 0 if there
   * is no video. If the frame is dropped, the data `rest` are sent instead,
   * which may contain some video packets of the frame. The video packets of the
   * frame that are not in `rest` are not sent. `n_removed` is the number of
   * these unsent packets. It counts only packets that increase the continuity
   * counter. */
  guint pid, n_removed;
  /* Only for a transport stream: `media_time` is the due time of the frame in
   * ns. It is computed from the DTS in the stream, and has the same time origin
   * as the timestamps of the buffers. It is valid if `has_media_time` is TRUE.
   */
  gboolean has_media_time;
  guint64 media_time;
  /* set by ifd_line_pop: */
  /* TRUE if the frame does not directly follow the last frame that was sent,
   * because frames were dropped */
  gboolean discont;
  /* TRUE if the frame contains no sequence header, and the receiver does not
   * have the sequence header that the frame needs. The caller has to send
   * `sequence` before the frame. */
  gboolean lacks_sequence;
} IfdLineItem;

/* A dropped frame */
typedef struct
{
  IfdEvent event;
  IfdLineItem item;
} IfdLineDrop;

typedef struct _IfdLine IfdLine;

IfdLine *ifd_line_new (const IfdConfig * config);
/* Frees the queue, which must be empty. */
void ifd_line_free (IfdLine * line);
/* Sets a function that receives log lines of the IFD algorithm: one line for
 * each arriving frame, and one line for each dropped frame. */
void ifd_line_set_trace (IfdLine * line, IfdTrace trace, gpointer owner);
void ifd_line_set_config (IfdLine * line, const IfdConfig * config);

void ifd_line_push_frame (IfdLine * line, guint64 now,
    const IfdLineItem * item);
void ifd_line_push (IfdLine * line, gpointer object);
/* Adds `item` to the end of the queue. `item` contains data that are never
 * dropped, such as the sound of an MPEG transport stream. */
void ifd_line_push_data (IfdLine * line, const IfdLineItem * item);
/* Removes the query `object` from the queue if the query is still in the queue.
 * The caller calls this function if the element that sent the query no longer
 * waits for the answer. */
void ifd_line_withdraw (IfdLine * line, gpointer object);
/* Removes the oldest item from the queue and stores it in `item`. Returns FALSE
 * if the queue is empty. Also returns FALSE if the oldest item is a frame while
 * the previous frame is still being sent. The caller reports with ifd_line_sent
 * () that a frame has been sent. */
gboolean ifd_line_pop (IfdLine * line, guint64 now, IfdLineItem * item);
void ifd_line_sent (IfdLine * line, guint64 now);

/* Stores the next dropped frame in `drop`. Returns FALSE if there is none.
 * After each push and each restart, the caller calls this function until it
 * returns FALSE. */
gboolean ifd_line_poll_drop (IfdLine * line, IfdLineDrop * drop);

/* Call this function when a new receiver is connected. Frames are then dropped
 * until a frame arrives at which the new receiver can begin to decode: an
 * I-frame, or the start of an intra refresh. */
void ifd_line_restart (IfdLine * line);
/* Removes the oldest item of the queue and stores it in `item`. Returns FALSE
 * if the queue is empty. At the end of a stream, the caller calls this function
 * repeatedly until it returns FALSE. The call that returns FALSE also resets
 * the state of the stream. */
gboolean ifd_line_flush (IfdLine * line, IfdLineItem * item);

/* Returns FALSE if the queue is so full that a frame would have to be dropped
 * if one more frame arrived. */
gboolean ifd_line_has_room (const IfdLine * line);
gboolean ifd_line_is_empty (const IfdLine * line);
/* Returns the number of items that are not frames: events, queries, and data
 * that are never dropped. */
guint ifd_line_count_objects (const IfdLine * line);
void ifd_line_get_stats (const IfdLine * line, IfdStats * stats);
