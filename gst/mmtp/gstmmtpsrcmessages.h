/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The messages of mmtpsrc about its session. The network thread creates them
 * while it holds the lock of the element, but no message is posted while a
 * thread holds this lock. The messages therefore wait in a queue until the lock
 * is released.
 *
 * All functions are called with the lock of the element held, unless their
 * comment says something else. */

#pragma once

#include <gst/gst.h>

typedef struct
{
  GstElement *element;          /* not owned; constant */

  /* --- protected by the lock of the element */
  GQueue queue;                 /* GstMessages to be posted */
} GstMmtpSrcMessages;

void gst_mmtp_src_messages_init (GstMmtpSrcMessages * self,
    GstElement * element);

/* Logs that the session has the new state `state`, and queues the element
 * message mmtp-session. */
void gst_mmtp_src_messages_tell_session (GstMmtpSrcMessages * self,
    const gchar * state);
/* Logs that the path `path` has the new state `state`, and queues the element
 * message mmtp-channel. */
void gst_mmtp_src_messages_tell_path (GstMmtpSrcMessages * self, guint path,
    const gchar * state);
/* Queues the element message mmtp-presentation-rate. `frame_rate` is in frames
 * per 1000 s, and `bit_rate` is in bit/s. */
void gst_mmtp_src_messages_tell_rate (GstMmtpSrcMessages * self,
    guint frame_rate, guint64 bit_rate);
/* Queues a LATENCY message. */
void gst_mmtp_src_messages_tell_latency (GstMmtpSrcMessages * self);

/* Queues a warning that the sender requests a longer delay than max-latency
 * allows. The sender sends its packets in time for the requested delay. With
 * the shorter delay of this receiver, some of them arrive too late and are
 * lost. `wanted` and `delay` are in ns. */
void gst_mmtp_src_messages_warn_of_delay (GstMmtpSrcMessages * self,
    guint64 wanted, guint64 delay);
/* Queues a warning that the buffers of the sender are larger than `max_bytes`.
 */
void gst_mmtp_src_messages_warn_of_size (GstMmtpSrcMessages * self,
    guint64 max_bytes);
/* Queues a warning that a sender was refused, because it speaks the version
 * `version` of the protocol. */
void gst_mmtp_src_messages_warn_of_version (GstMmtpSrcMessages * self,
    guint version);
/* Queues a warning that a sender was refused, because the stream has ended. */
void gst_mmtp_src_messages_warn_of_end (GstMmtpSrcMessages * self);

/* Returns the queued messages, and empties the queue. The caller posts them
 * with gst_mmtp_src_messages_post() after it has released the lock. */
GQueue gst_mmtp_src_messages_take (GstMmtpSrcMessages * self);
/* Posts the messages in `messages`. Call this function without the lock held.
 */
void gst_mmtp_src_messages_post (GstMmtpSrcMessages * self, GQueue * messages);
