/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the core's events to what goes downstream: a queue between the two
 * threads, caps, and buffers with their times on the pipeline's clock.
 */

#include "gstmmtpsrcprivate.h"

/* --- the queue: with lock ------------------------------------------------- */

/* What the streaming thread gets; a buffer with the caps that it has */
typedef struct
{
  gboolean is_eos;              /* otherwise a buffer: */
  GBytes *data;
  guint64 due;
  guint8 flags;
  gboolean discont;
  MmtpPrelude prelude;
  GRefString *caps;             /* NULL: none */
} Item;

static gsize
get_size (const Item * item)
{
  return sizeof (*item) + (item->data ? g_bytes_get_size (item->data) : 0);
}

static void
item_free (Item * item)
{
  g_clear_pointer (&item->data, g_bytes_unref);
  g_clear_pointer (&item->caps, g_ref_string_release);
  g_free (item);
}

static void
push (GstMmtpSrc * self, Item * item)
{
  self->queued_bytes += get_size (item);
  g_queue_push_tail (&self->queue, item);
  g_cond_signal (&self->cond);
}

static Item *
pop (GstMmtpSrc * self)
{
  Item *item = g_queue_pop_head (&self->queue);

  if (item)
    self->queued_bytes -= get_size (item);
  return item;
}

gboolean
gst_mmtp_src_clear_queue (GstMmtpSrc * self)
{
  gboolean had_eos = FALSE;
  Item *item;

  while ((item = pop (self))) {
    had_eos = item->is_eos;
    item_free (item);
  }
  self->queue_discont = TRUE;
  return had_eos;
}

/* What follows has a gap before it. */
static void
drop_first (GstMmtpSrc * self)
{
  Item *next;

  item_free (pop (self));
  self->counters.dropped_full++;
  next = g_queue_peek_head (&self->queue);
  if (next)
    next->discont = TRUE;
  else
    self->queue_discont = TRUE;
}

/* What is late need not wait any more. Otherwise what waits is played before
 * what comes now. */
static gboolean
make_room (GstMmtpSrc * self, gsize size)
{
  guint64 now = gst_mmtp_now ();
  const Item *first;

  while (self->queued_bytes + size > self->max_queued_bytes) {
    first = g_queue_peek_head (&self->queue);
    if (!first)
      return TRUE;
    if (first->is_eos || first->due + self->delay >= now)
      return FALSE;
    drop_first (self);
  }
  return TRUE;
}

static void
drop_event (GstMmtpSrc * self, MmtpReceiverEvent * event, guint64 * counter)
{
  (*counter)++;
  self->queue_discont = TRUE;
  g_clear_pointer (&event->data, g_bytes_unref);
}

void
gst_mmtp_src_queue_buffer (GstMmtpSrc * self, MmtpReceiverEvent * event)
{
  Item *item;

  if (self->paused) {
    drop_event (self, event, &self->counters.dropped_paused);
    return;
  }
  if (!make_room (self, sizeof (*item) + g_bytes_get_size (event->data))) {
    drop_event (self, event, &self->counters.dropped_full);
    return;
  }
  item = g_new0 (Item, 1);
  item->data = g_steal_pointer (&event->data);
  item->due = event->due;
  item->flags = event->flags;
  item->discont = event->discont || self->queue_discont;
  item->prelude = event->prelude;
  if (self->queue_caps)
    item->caps = g_ref_string_acquire (self->queue_caps);
  self->queue_discont = FALSE;
  push (self, item);
}

void
gst_mmtp_src_queue_end (GstMmtpSrc * self)
{
  Item *item;

  self->queue_discont = TRUE;
  if (!self->eos_at_end && !self->is_over)
    return;
  self->is_over = TRUE;
  item = g_new0 (Item, 1);
  item->is_eos = TRUE;
  push (self, item);
}

void
gst_mmtp_src_set_queue_caps (GstMmtpSrc * self, const gchar * caps)
{
  g_clear_pointer (&self->queue_caps, g_ref_string_release);
  if (caps)
    self->queue_caps = g_ref_string_new (caps);
}

/* --- waiting -------------------------------------------------------------- */

/* With lock. FALSE: the time is over */
static gboolean
wait_for_item (GstMmtpSrc * self, guint64 timeout, gint64 since)
{
  gint64 end = since + (gint64) (timeout / GST_USECOND);

  while (!self->flushing && g_queue_is_empty (&self->queue)) {
    if (timeout == 0)
      g_cond_wait (&self->cond, &self->lock);
    else if (!g_cond_wait_until (&self->cond, &self->lock, end))
      return FALSE;
  }
  return TRUE;
}

/* NULL: flushing */
static Item *
take_item (GstMmtpSrc * self)
{
  gint64 since = g_get_monotonic_time ();
  Item *item;
  guint64 timeout;

  LOCK (self);
  while (TRUE) {
    UNLOCK (self);
    timeout = gst_network_src_get_timeout (GST_NETWORK_SRC (self));
    LOCK (self);
    if (wait_for_item (self, timeout, since))
      break;
    UNLOCK (self);
    gst_network_src_tell_timeout (GST_NETWORK_SRC (self), timeout);
    since = g_get_monotonic_time ();
    LOCK (self);
  }
  item = self->flushing ? NULL : pop (self);
  UNLOCK (self);
  return item;
}

/* --- a buffer ------------------------------------------------------------- */

/* Running time of when the buffer was due at its sender; none is before the
 * pipeline began: then all come later by as much. */
static gboolean
get_running_time (GstMmtpSrc * self, guint64 due, gint64 * running)
{
  gint64 anchor;

  if (!gst_mmtp_clock_map_get (&self->clock_map, GST_ELEMENT_CAST (self),
          &anchor))
    return FALSE;
  *running = (gint64) due - anchor;
  if (*running + self->shift < 0)
    self->shift = -*running;
  *running += self->shift;
  return TRUE;
}

/* docs/wire-mmtp.md, DATA: without a prelude a buffer has a presentation time,
 * which is the due time; with that alone both. */
static void
set_times (GstMmtpSrc * self, GstBuffer * buffer, const Item * item)
{
  const MmtpPrelude *prelude = &item->prelude;
  gint64 running, pts, dts;

  if (prelude->mask & MMTP_PRELUDE_DURATION)
    GST_BUFFER_DURATION (buffer) = prelude->duration * GST_USECOND;
  if (prelude->mask & MMTP_PRELUDE_NO_TIME
      || !get_running_time (self, item->due, &running))
    return;
  pts = dts = running;
  if (prelude->mask & MMTP_PRELUDE_PTS)
    pts += prelude->pts * (gint64) GST_USECOND;
  if (prelude->mask & MMTP_PRELUDE_DTS)
    dts += prelude->dts * (gint64) GST_USECOND;
  if (prelude->mask & MMTP_PRELUDE_PTS || !(prelude->mask & MMTP_PRELUDE_DTS))
    GST_BUFFER_PTS (buffer) = MAX (0, pts);
  if (prelude->mask & (MMTP_PRELUDE_PTS | MMTP_PRELUDE_DTS))
    GST_BUFFER_DTS (buffer) = MAX (0, dts);
}

static void
set_flags (GstMmtpSrc * self, GstBuffer * buffer, const Item * item)
{
  if (item->flags & MMTP_FLAG_DELTA)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT);
  if (item->flags & MMTP_FLAG_DROPPABLE)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DROPPABLE);
  if (item->flags & MMTP_FLAG_MARKER)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_MARKER);
  if (item->flags & MMTP_FLAG_HEADER)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_HEADER);
  if (item->discont || item->prelude.mask & MMTP_PRELUDE_DISCONT)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
}

static GstBuffer *
make_buffer (GstMmtpSrc * self, const Item * item)
{
  gsize size = g_bytes_get_size (item->data);
  GstBuffer *buffer = size > 0 ? gst_buffer_new_wrapped_bytes (item->data) :
      gst_buffer_new ();

  set_times (self, buffer, item);
  set_flags (self, buffer, item);
  LOCK (self);
  self->counters.buffers++;
  self->counters.bytes += size;
  UNLOCK (self);
  return buffer;
}

/* --- caps, and the end ---------------------------------------------------- */

/* The core has checked the text. */
static GstFlowReturn
set_caps (GstMmtpSrc * self, const gchar * text)
{
  GstCaps *caps = gst_caps_from_string (text);
  gboolean taken;

  if (!caps) {
    GST_WARNING_OBJECT (self, "the sender's caps are none: %s", text);
    return GST_FLOW_OK;
  }
  GST_DEBUG_OBJECT (self, "the sender's caps: %" GST_PTR_FORMAT, caps);
  taken = gst_base_src_set_caps (GST_BASE_SRC (self), caps);
  gst_caps_unref (caps);
  if (taken)
    return GST_FLOW_OK;
  return GST_PAD_IS_FLUSHING (GST_BASE_SRC_PAD (self)) ? GST_FLOW_FLUSHING :
      GST_FLOW_NOT_NEGOTIATED;
}

/* Those of the property count while they are there; then the sender's again. */
static GstFlowReturn
take_caps (GstMmtpSrc * self, const Item * item)
{
  GstFlowReturn flow;

  if (gst_network_src_has_caps (GST_NETWORK_SRC (self))) {
    g_clear_pointer (&self->caps_in_use, g_ref_string_release);
    return GST_FLOW_OK;
  }
  if (!item->caps || item->caps == self->caps_in_use)
    return GST_FLOW_OK;
  flow = set_caps (self, item->caps);
  if (flow != GST_FLOW_OK)
    return flow;
  g_clear_pointer (&self->caps_in_use, g_ref_string_release);
  self->caps_in_use = g_ref_string_acquire (item->caps);
  return GST_FLOW_OK;
}

GstFlowReturn
gst_mmtp_src_create (GstPushSrc * src, GstBuffer ** buffer)
{
  GstMmtpSrc *self = GST_MMTP_SRC (src);
  Item *item = take_item (self);
  GstFlowReturn flow;

  if (!item)
    return GST_FLOW_FLUSHING;
  flow = item->is_eos ? GST_FLOW_EOS : take_caps (self, item);
  if (flow == GST_FLOW_OK)
    *buffer = make_buffer (self, item);
  item_free (item);
  return flow;
}
