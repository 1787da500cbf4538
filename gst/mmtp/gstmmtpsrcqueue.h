/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The queue between the two threads of mmtpsrc. The network thread appends the
 * buffers that the protocol core has reassembled, and the end of the stream.
 * The streaming thread takes them out. The queue has a maximum size in bytes.
 * If it is full because downstream is too slow, it drops buffers that are late.
 *
 * The element owns the lock. All functions are called with this lock held,
 * unless their comment says something else. */

#pragma once

#include "gstnetworksrc.h"
#include "mmtpreceiver.h"

/* The log category of mmtpsrc, in which all files of this element log. */
GST_DEBUG_CATEGORY_EXTERN (gst_mmtp_src_debug);

/* An item of the queue: EOS, or a buffer with its caps. */
typedef struct
{
  /* TRUE if the item is EOS. If it is FALSE, the item is a buffer, which the
   * other fields describe. */
  gboolean is_eos;
  DatagramSlice data;
  guint64 due;                  /* in ns */
  guint8 flags;
  gboolean discont;
  MmtpPrelude prelude;
  GRefString *caps;             /* NULL if the buffer has none */
  gboolean is_first;            /* the first buffer of a session */
} GstMmtpSrcItem;

/* Counters of what the element does with a buffer after the protocol core has
 * reassembled it. All other counters belong to the protocol core. */
typedef struct
{
  guint64 buffers, bytes;       /* sent downstream */
  /* number of buffers that were dropped because downstream was too slow */
  guint64 dropped_full;
  /* number of buffers that were dropped because the pipeline was paused */
  guint64 dropped_paused;
} GstMmtpSrcCounters;

typedef struct
{
  GstNetworkSrc *src;           /* the element, not owned; constant */

  /* --- protected by the lock of the element */
  GstNetworkSrcQueue items;     /* GstMmtpSrcItems for the streaming thread */
  guint64 max_bytes;            /* maximum size of `items` */
  /* caps, as text, of the next buffer that is added to `items`; NULL if this
   * buffer has no caps */
  GRefString *caps;
  /* TRUE if the next buffer that is added to `items` is the first one of a
   * session */
  gboolean session_begins;
  gboolean eos_at_end;          /* value of the property */
  /* TRUE if EOS is in the queue or was sent downstream */
  gboolean is_over;
  /* Initial delay (D0) in ns. A buffer is late if this time has passed since
   * the buffer was due at its sender. */
  guint64 delay;
  GstMmtpSrcCounters counters;
} GstMmtpSrcQueue;

/* Initializes the queue of the element `src`, whose lock is `lock`. Call this
 * function without the lock held. */
void gst_mmtp_src_queue_init (GstMmtpSrcQueue * self, GstNetworkSrc * src,
    GMutex * lock);
void gst_mmtp_src_queue_finalize (GstMmtpSrcQueue * self);
/* Called when the element starts. Sets the maximum size and the initial delay.
 * Sets the counters to 0, and begins a stream that is not over. */
void gst_mmtp_src_queue_start (GstMmtpSrcQueue * self, guint64 max_bytes,
    guint64 delay);
/* Called when the element stops. Frees all items. */
void gst_mmtp_src_queue_clear (GstMmtpSrcQueue * self);

/* --- functions for the network thread */

/* Appends the buffer of `event` and takes ownership of its data. The buffer is
 * dropped if the queue has no room, or if the pipeline is paused. */
void gst_mmtp_src_queue_push (GstMmtpSrcQueue * self,
    MmtpReceiverEvent * event);
/* Called at the end of the sender's stream. If the property eos-at-end is TRUE,
 * appends EOS to the queue. If it is FALSE, another sender may follow, and EOS
 * is not appended. */
void gst_mmtp_src_queue_push_end (GstMmtpSrcQueue * self);
/* Sets the caps of the buffers that are appended from now on. NULL means that
 * they have no caps. */
void gst_mmtp_src_queue_set_caps (GstMmtpSrcQueue * self, const gchar * caps);
/* The next buffer gets the flag DISCONT, because buffers may be missing before
 * it. */
void gst_mmtp_src_queue_mark_gap (GstMmtpSrcQueue * self);
/* The next buffer is the first one of a session. */
void gst_mmtp_src_queue_begin_session (GstMmtpSrcQueue * self);

/* --- functions for other threads */

/* While the pipeline is paused, the queue drops all buffers. */
void gst_mmtp_src_queue_set_paused (GstMmtpSrcQueue * self, gboolean paused);
/* Waits for the next item of the queue and removes it from the queue. Also
 * removes the items after it that can be in the same buffer list. Returns the
 * number of removed items, which is at most `max`; 0 while the source is
 * flushing. Call this function without the lock held.
 *
 * Also counts the removed buffers for the statistics. Buffers of a transport
 * stream are not counted here, because the joiner (mmtptsjoiner.h) may join
 * several of them. The caller counts the joined buffers with
 * gst_mmtp_src_queue_count_joined(). */
guint gst_mmtp_src_queue_take (GstMmtpSrcQueue * self, GstMmtpSrcItem * items,
    guint max);
/* Counts a buffer of `size` bytes that the joiner has output. Call this
 * function without the lock held. */
void gst_mmtp_src_queue_count_joined (GstMmtpSrcQueue * self, gsize size);

/* --- items */

gboolean gst_mmtp_src_item_is_transport_stream (const GstMmtpSrcItem * item);
/* Frees what `item` owns. */
void gst_mmtp_src_item_clear (GstMmtpSrcItem * item);
