/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The queue of a source that receives packets in a separate thread. This
 * network thread appends items. The streaming thread removes them in the method
 * create of the source.
 *
 * Each source defines a struct for its items. An item contains a buffer or
 * stands for the end of the stream. The queue stores copies of the items. The
 * queue grows without a limit, so the source has to limit its size.
 *
 * The source owns the lock. All functions are called with the lock held, unless
 * their comment says that the lock is not held. */

#pragma once

#include <glib.h>

typedef struct
{
  GMutex *lock;                 /* of the source */
  /* Condition that is signalled when items were appended, and when `flushing`
   * was set. */
  GCond cond;
  /* Function that frees what an item owns, but not the memory of the item
   * itself. */
  GDestroyNotify clear_item;
  gsize item_size;

  /* --- protected by `lock` */
  /* Ring buffer with `n_slots` slots. `n_slots` is a power of two. The slot
   * `first` contains the oldest of the `length` items. */
  guint8 *ring;
  guint n_slots, first, length;
  guint64 bytes;                /* total size of the items */
  /* TRUE if buffers were dropped directly before the first buffer of the queue.
   * This buffer must then get the flag DISCONT, because it follows a gap. */
  gboolean discont;
  /* TRUE during a flush, in which the streaming thread must not wait for items
   */
  gboolean flushing;
  /* TRUE while the pipeline is paused. The source then drops the packets that
   * arrive, because packets of a live stream must not be played later. */
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
/* Appends a copy of the item `end`, which stands for the end of the stream. The
 * queue takes ownership of everything that the item owns. */
void gst_network_src_queue_push_end (GstNetworkSrcQueue * queue,
    gconstpointer end);
/* Releases the lock. If the streaming thread waits for items and the queue has
 * items, wakes this thread. If several items arrive together, the network
 * thread first appends all of them, and then calls this function once. The
 * streaming thread is therefore woken only once. */
void gst_network_src_queue_unlock (GstNetworkSrcQueue * queue);
/* Returns TRUE if buffers were dropped directly before the first buffer of the
 * queue. Each such gap is reported only once: the next call returns FALSE,
 * unless more buffers were dropped in between. */
gboolean gst_network_src_queue_take_discont (GstNetworkSrcQueue * queue);

guint gst_network_src_queue_get_length (const GstNetworkSrcQueue * queue);
/* Returns the first item if it is a buffer. The item stays in the queue, and
 * the pointer is valid until an item is appended or removed. Returns NULL if
 * the queue is empty, or if the first item is the end of the stream. */
gpointer gst_network_src_queue_peek_buffer (const GstNetworkSrcQueue * queue);
/* Removes the first item of the queue, which may be a buffer or the end of the
 * stream, and stores it in `item`. Returns FALSE if the queue is empty. */
gboolean gst_network_src_queue_pop (GstNetworkSrcQueue * queue, gpointer item);
/* If the first item is a buffer, removes the item and stores it in `buffer`.
 * Returns FALSE if the first item is the end of the stream, or if the queue is
 * empty. */
gboolean gst_network_src_queue_pop_buffer (GstNetworkSrcQueue * queue,
    gpointer buffer);
/* Frees the buffers at the beginning of the queue. Stops at the first item that
 * stands for the end of a stream. Returns how many buffers were freed. The next
 * buffer then counts as discontinuous, because the buffers before it are
 * missing. */
guint gst_network_src_queue_drop_buffers (GstNetworkSrcQueue * queue);
/* Frees all items. */
void gst_network_src_queue_clear (GstNetworkSrcQueue * queue);

/* Sets the field `flushing`, and wakes the streaming thread if it waits for an
 * item. Call this function without the lock held, because it takes the lock. */
void gst_network_src_queue_set_flushing (GstNetworkSrcQueue * queue,
    gboolean flushing);
