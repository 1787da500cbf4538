/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The queue between the two threads of a source that receives in a thread of
 * its own: the network thread pushes items, and the streaming thread takes them
 * in create. An item is a buffer of any type, or the end of the stream. The
 * source decides how much the queue may hold.
 *
 * The source owns the lock. Call the functions with the lock held, except where
 * the comment says otherwise.
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
  gboolean discont;             /* A buffer before the next one is missing. */
  gboolean flushing;            /* The streaming thread must not wait. */
  gboolean paused;              /* Buffers are dropped. */
} GstNetworkSrcQueue;

/* Without the lock. */
void gst_network_src_queue_init (GstNetworkSrcQueue * queue, GMutex * lock,
    GDestroyNotify free_item);
void gst_network_src_queue_finalize (GstNetworkSrcQueue * queue);

/* Appends a buffer of `size` bytes, and takes ownership of it. */
void gst_network_src_queue_push (GstNetworkSrcQueue * queue, gpointer buffer,
    gsize size);
/* Appends an item that ends the stream, and takes ownership of it. */
void gst_network_src_queue_push_end (GstNetworkSrcQueue * queue,
    gpointer end);
/* Returns whether a buffer before the next one is missing, and forgets it. */
gboolean gst_network_src_queue_take_discont (GstNetworkSrcQueue * queue);

guint gst_network_src_queue_get_length (const GstNetworkSrcQueue * queue);
/* Return the first item, which is removed with pop, if it is a buffer; NULL if
 * there is none or it is an end. */
gpointer gst_network_src_queue_peek_buffer (const GstNetworkSrcQueue * queue);
gpointer gst_network_src_queue_pop_buffer (GstNetworkSrcQueue * queue);
/* Removes and returns the first item, whatever it is; NULL if there is none.
 * `is_end` may be NULL. */
gpointer gst_network_src_queue_pop (GstNetworkSrcQueue * queue,
    gboolean * is_end);
/* Frees the buffers before the first end, and returns their number. The next
 * buffer is discontinuous. */
guint gst_network_src_queue_drop_buffers (GstNetworkSrcQueue * queue);
/* Frees all items. */
void gst_network_src_queue_clear (GstNetworkSrcQueue * queue);

/* Takes the lock. */
void gst_network_src_queue_set_flushing (GstNetworkSrcQueue * queue,
    gboolean flushing);
