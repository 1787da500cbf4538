/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The queue between the network thread and the streaming thread of a source. */

#include "gstnetworksrcqueue.h"

#include <string.h>

typedef struct
{
  gpointer data;
  gsize size;
  gboolean is_end;
} Item;

void
gst_network_src_queue_init (GstNetworkSrcQueue * queue, GMutex * lock,
    GDestroyNotify free_item)
{
  memset (queue, 0, sizeof (*queue));
  queue->lock = lock;
  queue->free_item = free_item;
  g_cond_init (&queue->cond);
  g_queue_init (&queue->items);
}

void
gst_network_src_queue_finalize (GstNetworkSrcQueue * queue)
{
  gst_network_src_queue_clear (queue);
  g_cond_clear (&queue->cond);
}

static void
push (GstNetworkSrcQueue * queue, gpointer data, gsize size, gboolean is_end)
{
  Item *item = g_new (Item, 1);

  item->data = data;
  item->size = size;
  item->is_end = is_end;
  queue->bytes += size;
  g_queue_push_tail (&queue->items, item);
  g_cond_signal (&queue->cond);
}

void
gst_network_src_queue_push (GstNetworkSrcQueue * queue, gpointer buffer,
    gsize size)
{
  push (queue, buffer, size, FALSE);
}

void
gst_network_src_queue_push_end (GstNetworkSrcQueue * queue, gpointer end)
{
  push (queue, end, 0, TRUE);
}

gboolean
gst_network_src_queue_take_discont (GstNetworkSrcQueue * queue)
{
  const gboolean discont = queue->discont;

  queue->discont = FALSE;
  return discont;
}

guint
gst_network_src_queue_get_length (const GstNetworkSrcQueue * queue)
{
  return queue->items.length;
}

gpointer
gst_network_src_queue_peek_buffer (const GstNetworkSrcQueue * queue)
{
  const Item *item = queue->items.head ? queue->items.head->data : NULL;

  return item && !item->is_end ? item->data : NULL;
}

gpointer
gst_network_src_queue_pop_buffer (GstNetworkSrcQueue * queue)
{
  return gst_network_src_queue_peek_buffer (queue) ?
      gst_network_src_queue_pop (queue, NULL) : NULL;
}

gpointer
gst_network_src_queue_pop (GstNetworkSrcQueue * queue, gboolean * is_end)
{
  Item *item = g_queue_pop_head (&queue->items);
  gpointer data;

  if (!item)
    return NULL;
  data = item->data;
  queue->bytes -= item->size;
  if (is_end)
    *is_end = item->is_end;
  g_free (item);
  return data;
}

guint
gst_network_src_queue_drop_buffers (GstNetworkSrcQueue * queue)
{
  gpointer buffer;
  guint n = 0;

  while ((buffer = gst_network_src_queue_pop_buffer (queue))) {
    queue->free_item (buffer);
    queue->discont = TRUE;
    n++;
  }
  return n;
}

void
gst_network_src_queue_clear (GstNetworkSrcQueue * queue)
{
  gpointer data;

  while ((data = gst_network_src_queue_pop (queue, NULL)))
    queue->free_item (data);
}

void
gst_network_src_queue_set_flushing (GstNetworkSrcQueue * queue,
    gboolean flushing)
{
  g_mutex_lock (queue->lock);
  queue->flushing = flushing;
  g_cond_signal (&queue->cond);
  g_mutex_unlock (queue->lock);
}
