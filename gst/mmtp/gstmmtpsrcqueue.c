/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The queue between the network thread and the streaming thread of mmtpsrc. The
 * functions are documented in gstmmtpsrcqueue.h. */

#include "gstmmtpsrcqueue.h"

#include <string.h>

#include "gstlivesource.h"
#include "gstmmtpcommon.h"

/* the category of the element, from gstmmtpsrc.c */
#define GST_CAT_DEFAULT gst_mmtp_src_debug

/* --- items ---------------------------------------------------------------- */

static gsize
get_size (const GstMmtpSrcItem * item)
{
  return sizeof (*item) + item->data.size;
}

gboolean
gst_mmtp_src_item_is_transport_stream (const GstMmtpSrcItem * item)
{
  return !item->is_eos && item->caps
      && g_str_has_prefix (item->caps, "video/mpegts");
}

void
gst_mmtp_src_item_clear (GstMmtpSrcItem * item)
{
  datagram_slice_clear (&item->data);
  g_clear_pointer (&item->caps, g_ref_string_release);
}

static void
clear_item (gpointer item)
{
  gst_mmtp_src_item_clear (item);
}

/* --- life cycle ----------------------------------------------------------- */

void
gst_mmtp_src_queue_init (GstMmtpSrcQueue * self, GstNetworkSrc * src,
    GMutex * lock)
{
  self->src = src;
  gst_network_src_queue_init (&self->items, lock, sizeof (GstMmtpSrcItem),
      clear_item);
  gst_network_src_use_queue (src, &self->items);
}

void
gst_mmtp_src_queue_finalize (GstMmtpSrcQueue * self)
{
  gst_network_src_queue_finalize (&self->items);
}

void
gst_mmtp_src_queue_start (GstMmtpSrcQueue * self, guint64 max_bytes,
    guint64 delay)
{
  self->max_bytes = max_bytes;
  self->delay = delay;
  self->is_over = FALSE;
  memset (&self->counters, 0, sizeof (self->counters));
}

void
gst_mmtp_src_queue_clear (GstMmtpSrcQueue * self)
{
  gst_network_src_queue_clear (&self->items);
  gst_mmtp_src_queue_mark_gap (self);
  gst_mmtp_src_queue_set_caps (self, NULL);
}

/* --- input ---------------------------------------------------------------- */

/* Drops the first entry of the queue, which is a buffer. The next buffer gets
 * the DISCONT flag. */
static void
drop_first (GstMmtpSrcQueue * self)
{
  GstMmtpSrcItem item, *next;

  gst_network_src_queue_pop (&self->items, &item);
  GST_DEBUG_OBJECT (self->src, "dropped a buffer of %" G_GSIZE_FORMAT " bytes: "
      "full: it is late, and max-bytes wait for downstream", get_size (&item));
  clear_item (&item);
  self->counters.dropped_full++;
  next = gst_network_src_queue_peek_buffer (&self->items);
  if (next)
    next->discont = TRUE;
  else
    self->items.discont = TRUE;
}

/* Makes room in the queue for a new buffer of `size` bytes: drops entries from
 * the head of the queue that are already late. An entry that is not late is
 * never dropped, because it is due before the new buffer. Returns FALSE if the
 * new buffer does not fit; the caller then drops the new buffer. An empty queue
 * accepts a buffer of any size. */
static gboolean
make_room (GstMmtpSrcQueue * self, gsize size)
{
  const GstMmtpSrcItem *first;
  guint64 now;

  if (self->items.bytes + size <= self->max_bytes)
    return TRUE;
  now = gst_mmtp_now ();
  while (self->items.bytes + size > self->max_bytes) {
    if (gst_network_src_queue_get_length (&self->items) == 0)
      return TRUE;
    first = gst_network_src_queue_peek_buffer (&self->items);
    if (!first || first->due + self->delay >= now)
      return FALSE;
    drop_first (self);
  }
  return TRUE;
}

static void
drop_event (GstMmtpSrcQueue * self, MmtpReceiverEvent * event,
    guint64 * counter)
{
  const gchar *reason = counter == &self->counters.dropped_full ?
      "full: max-bytes wait for downstream" :
      "paused: the pipeline is not in PLAYING";

  GST_DEBUG_OBJECT (self->src,
      "dropped a buffer of %" G_GSIZE_FORMAT " bytes: %s", event->data.size,
      reason);
  (*counter)++;
  self->items.discont = TRUE;
  datagram_slice_clear (&event->data);
}

void
gst_mmtp_src_queue_push (GstMmtpSrcQueue * self, MmtpReceiverEvent * event)
{
  GstMmtpSrcItem item = { FALSE };

  if (self->items.paused) {
    drop_event (self, event, &self->counters.dropped_paused);
    return;
  }
  if (!make_room (self, sizeof (item) + event->data.size)) {
    drop_event (self, event, &self->counters.dropped_full);
    return;
  }
  item.data = event->data;
  item.due = event->due;
  item.flags = event->flags;
  item.discont = gst_network_src_queue_take_discont (&self->items)
      || event->discont;
  item.prelude = event->prelude;
  item.is_first = self->session_begins;
  self->session_begins = FALSE;
  if (self->caps)
    item.caps = g_ref_string_acquire (self->caps);
  gst_network_src_queue_push (&self->items, &item, get_size (&item));
}

void
gst_mmtp_src_queue_push_end (GstMmtpSrcQueue * self)
{
  const GstMmtpSrcItem item = {.is_eos = TRUE };

  self->items.discont = TRUE;
  if (!self->eos_at_end && !self->is_over)
    return;
  self->is_over = TRUE;
  gst_network_src_queue_push_end (&self->items, &item);
}

void
gst_mmtp_src_queue_set_caps (GstMmtpSrcQueue * self, const gchar * caps)
{
  g_clear_pointer (&self->caps, g_ref_string_release);
  if (caps)
    self->caps = g_ref_string_new (caps);
}

void
gst_mmtp_src_queue_mark_gap (GstMmtpSrcQueue * self)
{
  self->items.discont = TRUE;
}

void
gst_mmtp_src_queue_begin_session (GstMmtpSrcQueue * self)
{
  gst_mmtp_src_queue_mark_gap (self);
  self->session_begins = TRUE;
}

/* --- output --------------------------------------------------------------- */

void
gst_mmtp_src_queue_set_paused (GstMmtpSrcQueue * self, gboolean paused)
{
  self->items.paused = paused;
  if (paused) {
    gst_network_src_queue_drop_buffers (&self->items);
    gst_mmtp_src_queue_mark_gap (self);
  }
}

static void
count_buffers (GstMmtpSrcQueue * self, guint n, gsize bytes)
{
  self->counters.buffers += n;
  self->counters.bytes += bytes;
}

/* Returns TRUE if the item must not be put into a buffer list with other items.
 * This is the case for three kinds of items:
 * - EOS
 * - a buffer of a transport stream, because the joiner processes it
 * - an SRTP packet, because srtpdec 1.22 crashes if it receives a list */
static gboolean
is_alone (const GstMmtpSrcItem * item)
{
  return item->is_eos || gst_mmtp_src_item_is_transport_stream (item)
      || (item->caps && gst_live_list_is_srtp (item->caps));
}

/* `first` is the item whose buffer is the first one of a buffer list. Returns
 * whether the buffer of `item` can be put into the same list. All buffers of a
 * list must have the same caps and belong to the same session. */
static gboolean
continues (const GstMmtpSrcItem * first, const GstMmtpSrcItem * item)
{
  return item && item->caps == first->caps && !item->is_first;
}

guint
gst_mmtp_src_queue_take (GstMmtpSrcQueue * self, GstMmtpSrcItem * items,
    guint max)
{
  gsize bytes = 0;
  guint n = 0;

  g_mutex_lock (self->items.lock);
  if (!gst_network_src_wait_for_queue (self->src, &self->items)) {
    g_mutex_unlock (self->items.lock);
    return 0;
  }
  gst_network_src_queue_pop (&self->items, &items[n++]);
  if (is_alone (&items[0]))
    max = 1;
  bytes = items[0].data.size;
  while (n < max && continues (&items[0],
          gst_network_src_queue_peek_buffer (&self->items))) {
    gst_network_src_queue_pop (&self->items, &items[n]);
    bytes += items[n++].data.size;
  }
  if (!items[0].is_eos && !gst_mmtp_src_item_is_transport_stream (&items[0]))
    count_buffers (self, n, bytes);
  g_mutex_unlock (self->items.lock);
  return n;
}

void
gst_mmtp_src_queue_count_joined (GstMmtpSrcQueue * self, gsize size)
{
  g_mutex_lock (self->items.lock);
  count_buffers (self, 1, size);
  g_mutex_unlock (self->items.lock);
}
