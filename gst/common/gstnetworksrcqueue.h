/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The queue between the two threads of a source that receives in a thread of
 * its own. The network thread appends items, and the streaming thread removes
 * them in create. Each source defines a struct for its items. An item contains
 * a buffer or stands for the end of the stream. The queue stores copies of the
 * items. The source limits the size of the queue.
 *
 * The source owns the lock. All functions are called with the lock held, unless
 * their comment says that the lock is not held.
 */

#pragma once

#include <glib.h>

typedef struct
{
  GMutex *lock;                 /* of the source */
  /* signalled when an item was pushed, and when `flushing` is set */
  GCond cond;
  /* Frees what an item owns, but not the item. */
  GDestroyNotify clear_item;
  gsize item_size;

  /* --- protected by `lock` */
  /* A ring buffer with `n_slots` slots. `n_slots` is a power of two. The slot
   * `first` contains the oldest of the `length` items. */
  guint8 *ring;
  guint n_slots, first, length;
  guint64 bytes;                /* total size of the items */
  /* TRUE if buffers were dropped directly before the first buffer of the queue,
   * so that this buffer must get the flag DISCONT
   */
  gboolean discont;
  /* TRUE if the streaming thread must not wait. */
  gboolean flushing;
  /* TRUE while buffers are dropped because the pipeline is paused. */
  gboolean paused;
  /* TRUE while the streaming thread waits for an item. */
  gboolean is_waiting;
} GstNetworkSrcQueue;

/* Initializes the queue for items of `item_size` bytes. Call this function
 * without the lock held. */
void gst_network_src_queue_init (GstNetworkSrcQueue * queue, GMutex * lock,
    gsize item_size, GDestroyNotify clear_item);
void gst_network_src_queue_finalize (GstNetworkSrcQueue * queue);

/* Appends a copy of the item at the address `buffer`. `size` is the number of
 * bytes of stream data in the item. The queue takes ownership of everything
 * that the item owns. The streaming thread is not woken before
 * gst_network_src_queue_unlock () is called. */
void gst_network_src_queue_push (GstNetworkSrcQueue * queue,
    gconstpointer buffer, gsize size);
/* Appends an item that ends the stream. The queue takes ownership of everything
 * that the item owns. */
void gst_network_src_queue_push_end (GstNetworkSrcQueue * queue,
    gconstpointer end);
/* Releases the lock. Wakes the streaming thread if it waits for items and there
 * are items. The network thread calls this function once for all items that
 * arrive together. */
void gst_network_src_queue_unlock (GstNetworkSrcQueue * queue);
/* Returns TRUE if buffers were dropped directly before the first buffer of the
 * queue. Each such gap is reported only once: the next call returns FALSE,
 * unless more buffers were dropped in between. */
gboolean gst_network_src_queue_take_discont (GstNetworkSrcQueue * queue);

guint gst_network_src_queue_get_length (const GstNetworkSrcQueue * queue);
/* Returns the first item, which stays in the queue and is valid until the next
 * item is pushed or removed; NULL if the queue is empty or the item is the end
 * of the stream. */
gpointer gst_network_src_queue_peek_buffer (const GstNetworkSrcQueue * queue);
/* Removes the first item, which may be a buffer or the end of the stream, and
 * stores it in `item`. Returns FALSE if there is none. */
gboolean gst_network_src_queue_pop (GstNetworkSrcQueue * queue, gpointer item);
/* If the first item is a buffer, removes the item and stores it in `buffer`.
 * Returns FALSE if the first item is the end of the stream, or if the queue is
 * empty. */
gboolean gst_network_src_queue_pop_buffer (GstNetworkSrcQueue * queue,
    gpointer buffer);
/* Frees the buffers at the beginning of the queue, up to the first item that
 * ends the stream. Returns the number of these buffers. The next buffer then
 * counts as discontinuous, because the buffers before it are missing. */
guint gst_network_src_queue_drop_buffers (GstNetworkSrcQueue * queue);
/* Frees all items. */
void gst_network_src_queue_clear (GstNetworkSrcQueue * queue);

/* Sets `flushing`, and makes the streaming thread return from its wait. This
 * function takes the lock itself. */
void gst_network_src_queue_set_flushing (GstNetworkSrcQueue * queue,
    gboolean flushing);
