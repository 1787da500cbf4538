/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of gstnetworksrcqueue.h: the queue between the network thread
 * and the streaming thread of a source. */

#include "gstnetworksrcqueue.h"

#include <string.h>

#define MIN_SLOTS 256
/* Maximum number of slots that the queue keeps allocated while it is empty.
 * They are enough for the items that arrive in a few milliseconds at high
 * rates. */
#define KEPT_SLOTS 4096

/* The header of a slot of the ring. In each slot, this struct is followed by an
 * item. The type of the item is defined by the element that uses the queue. */
typedef struct
{
  gsize size;
  gboolean is_end;
} Entry;

/* Each slot contains an Entry, followed by an item. The type of the item is
 * unknown here. The address of the item is therefore a multiple of ALIGNMENT,
 * which is sufficient for every type. */
#define ALIGNMENT 16
#define ENTRY_SIZE ((sizeof (Entry) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)

void
gst_network_src_queue_init (GstNetworkSrcQueue * queue, GMutex * lock,
    gsize item_size, GDestroyNotify clear_item)
{
  memset (queue, 0, sizeof (*queue));
  queue->lock = lock;
  queue->item_size = item_size;
  queue->clear_item = clear_item;
  g_cond_init (&queue->cond);
}

void
gst_network_src_queue_finalize (GstNetworkSrcQueue * queue)
{
  gst_network_src_queue_clear (queue);
  g_free (queue->ring);
  g_cond_clear (&queue->cond);
}

/* --- ring ----------------------------------------------------------------- */

static gsize
get_slot_size (const GstNetworkSrcQueue * queue)
{
  return ENTRY_SIZE + (queue->item_size + ALIGNMENT - 1) / ALIGNMENT *
      ALIGNMENT;
}

/* Returns the entry at the position `i` of the queue. The first entry is at the
 * position 0. */
static Entry *
get_entry (const GstNetworkSrcQueue * queue, guint i)
{
  const guint slot = (queue->first + i) & (queue->n_slots - 1);

  return (Entry *) (queue->ring + slot * get_slot_size (queue));
}

static gpointer
get_item (Entry * entry)
{
  return (guint8 *) entry + ENTRY_SIZE;
}

static void
grow (GstNetworkSrcQueue * queue)
{
  const gsize slot_size = get_slot_size (queue);
  const guint n_slots = MAX (MIN_SLOTS, 2 * queue->n_slots);
  guint8 *ring = g_malloc (n_slots * slot_size);
  guint i;

  for (i = 0; i < queue->length; i++)
    memcpy (ring + i * slot_size, get_entry (queue, i), slot_size);
  g_free (queue->ring);
  queue->ring = ring;
  queue->n_slots = n_slots;
  queue->first = 0;
}

static void
remove_first (GstNetworkSrcQueue * queue)
{
  queue->bytes -= get_entry (queue, 0)->size;
  queue->first = (queue->first + 1) & (queue->n_slots - 1);
  queue->length--;
  if (queue->length == 0 && queue->n_slots > KEPT_SLOTS) {
    g_clear_pointer (&queue->ring, g_free);
    queue->n_slots = queue->first = 0;
  }
}

/* --- verbs ---------------------------------------------------------------- */

static void
push (GstNetworkSrcQueue * queue, gconstpointer item, gsize size,
    gboolean is_end)
{
  Entry *entry;

  if (queue->length == queue->n_slots)
    grow (queue);
  entry = get_entry (queue, queue->length++);
  entry->size = size;
  entry->is_end = is_end;
  memcpy (get_item (entry), item, queue->item_size);
  queue->bytes += size;
}

void
gst_network_src_queue_push (GstNetworkSrcQueue * queue, gconstpointer buffer,
    gsize size)
{
  push (queue, buffer, size, FALSE);
}

void
gst_network_src_queue_push_end (GstNetworkSrcQueue * queue, gconstpointer end)
{
  push (queue, end, 0, TRUE);
}

void
gst_network_src_queue_unlock (GstNetworkSrcQueue * queue)
{
  const gboolean wakes = queue->is_waiting && queue->length > 0;

  if (wakes)
    queue->is_waiting = FALSE;
  g_mutex_unlock (queue->lock);
  if (wakes)
    g_cond_signal (&queue->cond);
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
  return queue->length;
}

gpointer
gst_network_src_queue_peek_buffer (const GstNetworkSrcQueue * queue)
{
  Entry *entry = queue->length > 0 ? get_entry (queue, 0) : NULL;

  return entry && !entry->is_end ? get_item (entry) : NULL;
}

gboolean
gst_network_src_queue_pop_buffer (GstNetworkSrcQueue * queue, gpointer buffer)
{
  return gst_network_src_queue_peek_buffer (queue)
      && gst_network_src_queue_pop (queue, buffer);
}

gboolean
gst_network_src_queue_pop (GstNetworkSrcQueue * queue, gpointer item)
{
  if (queue->length == 0)
    return FALSE;
  memcpy (item, get_item (get_entry (queue, 0)), queue->item_size);
  remove_first (queue);
  return TRUE;
}

guint
gst_network_src_queue_drop_buffers (GstNetworkSrcQueue * queue)
{
  gpointer buffer;
  guint n = 0;

  while ((buffer = gst_network_src_queue_peek_buffer (queue))) {
    queue->clear_item (buffer);
    remove_first (queue);
    queue->discont = TRUE;
    n++;
  }
  return n;
}

void
gst_network_src_queue_clear (GstNetworkSrcQueue * queue)
{
  while (queue->length > 0) {
    queue->clear_item (get_item (get_entry (queue, 0)));
    remove_first (queue);
  }
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
