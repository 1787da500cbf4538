/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The queue between the two threads of a source that receives in a thread of
 * its own. The network thread appends items, and the streaming thread removes
 * them in create. An item is a buffer of any type, or the end of the stream.
 * The source limits the size of the queue.
 *
 * The source owns the lock. All functions are called with the lock held, except
 * where their comment says otherwise.
 */

#pragma once

#include <glib.h>

typedef struct
{
  GMutex *lock;                 /* of the source */
  /* signalled when an item was pushed, and when `flushing` is set */
  GCond cond;
  GDestroyNotify free_item;

  /* --- protected by `lock` */
  GQueue items;
  guint64 bytes;                /* total size of the items */
  /* At least one buffer before the next buffer is missing. */
  gboolean discont;
  gboolean flushing;            /* The streaming thread must not wait. */
  /* Buffers are dropped because the pipeline is paused. */
  gboolean paused;
} GstNetworkSrcQueue;

/* Initializes the queue. Call this function without the lock held. */
void gst_network_src_queue_init (GstNetworkSrcQueue * queue, GMutex * lock,
    GDestroyNotify free_item);
void gst_network_src_queue_finalize (GstNetworkSrcQueue * queue);

/* Appends a buffer of `size` bytes, and takes ownership of it. */
void gst_network_src_queue_push (GstNetworkSrcQueue * queue, gpointer buffer,
    gsize size);
/* Appends an item that ends the stream, and takes ownership of it. */
void gst_network_src_queue_push_end (GstNetworkSrcQueue * queue,
    gpointer end);
/* Returns whether a buffer before the next one is missing. The next call
 * returns FALSE. */
gboolean gst_network_src_queue_take_discont (GstNetworkSrcQueue * queue);

guint gst_network_src_queue_get_length (const GstNetworkSrcQueue * queue);
/* gst_network_src_queue_peek_buffer returns the first item without removing it;
 * NULL if the queue is empty or the item is the end of the stream.
 * gst_network_src_queue_pop_buffer removes and returns such an item. */
gpointer gst_network_src_queue_peek_buffer (const GstNetworkSrcQueue * queue);
gpointer gst_network_src_queue_pop_buffer (GstNetworkSrcQueue * queue);
/* Removes and returns the first item, which may be a buffer or the end of the
 * stream; NULL if there is none. `is_end` may be NULL. */
gpointer gst_network_src_queue_pop (GstNetworkSrcQueue * queue,
    gboolean * is_end);
/* Frees all buffers before the first end of a stream, and returns their number.
 * The next buffer is discontinuous. */
guint gst_network_src_queue_drop_buffers (GstNetworkSrcQueue * queue);
/* Frees all items. */
void gst_network_src_queue_clear (GstNetworkSrcQueue * queue);

/* Sets `flushing`, and makes the streaming thread return from its wait. This
 * function takes the lock itself. */
void gst_network_src_queue_set_flushing (GstNetworkSrcQueue * queue,
    gboolean flushing);
