/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From packets that came to buffers downstream: a queue between the two threads,
 * and the times of the pipeline's clock.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdccpthinsrcprivate.h"


/* RFC 4340 section 11.7.2: Drop Code 2, "Receive Buffer" */
#define DROPPED_RECEIVE_BUFFER 2
/* Buffers that go downstream together */
#define MAX_LIST 64

/* --- the queue: with lock ------------------------------------------------- */

/* The limits of the property, in parts */
static gboolean
is_filled (GstDccpThinSrc * self, guint numerator, guint denominator)
{
  return self->queued_bytes * denominator >=
      (guint64) self->own.max_bytes * numerator
      || (guint64) self->queue.length * denominator >=
      (guint64) self->own.max_packets * numerator;
}

/* Half full the sender shall not go faster, and when there is room for the other
 * half again it may. */
static void
update_slow (GstDccpThinSrc * self)
{
  gboolean slow = self->is_slow;

  if (self->paused || is_filled (self, 1, 2))
    slow = TRUE;
  else if (!is_filled (self, 1, 4))
    slow = FALSE;
  if (slow == self->is_slow)
    return;
  GST_DEBUG_OBJECT (self, "downstream is %s", slow ? "slow" : "fast enough");
  self->is_slow = slow;
  if (self->end.endpoint)
    dccp_endpoint_set_slow (self->end.endpoint, gst_dccp_thin_now (), slow);
  driver_wake (&self->end.driver, TRUE);
}

static void
drop (GstDccpThinSrc * self, const DccpData * data, guint64 * counter)
{
  (*counter)++;
  self->queue_discont = TRUE;
  dccp_endpoint_dropped (self->end.endpoint, gst_dccp_thin_now (),
      data->sequence, DROPPED_RECEIVE_BUFFER);
}

void
gst_dccp_thin_src_queue_data (gpointer element, const DccpData * data,
    guint64 time)
{
  GstDccpThinSrc *self = element;
  GstBuffer *buffer;

  /* An application may send packets without any bytes; a buffer has some. */
  if (data->size == 0)
    return;
  if (self->paused || is_filled (self, 1, 1)) {
    drop (self, data, self->paused ? &self->counters.dropped_paused :
        &self->counters.dropped_full);
  } else {
    buffer = gst_buffer_new_memdup (data->payload, data->size);
    GST_BUFFER_DTS (buffer) = time;
    if (data->discont || self->queue_discont)
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    self->queue_discont = FALSE;
    self->queued_bytes += data->size;
    g_queue_push_tail (&self->queue, buffer);
    g_cond_signal (&self->cond);
  }
  update_slow (self);
}

void
gst_dccp_thin_src_queue_end (GstDccpThinSrc * self, GstMiniObject * object)
{
  g_queue_push_tail (&self->queue, object);
  g_cond_signal (&self->cond);
}

static GstMiniObject *
pop (GstDccpThinSrc * self)
{
  GstMiniObject *object = g_queue_pop_head (&self->queue);

  if (object && GST_IS_BUFFER (object))
    self->queued_bytes -= gst_buffer_get_size (GST_BUFFER_CAST (object));
  return object;
}

void
gst_dccp_thin_src_drop_queued (GstDccpThinSrc * self)
{
  while (!g_queue_is_empty (&self->queue)
      && GST_IS_BUFFER (g_queue_peek_head (&self->queue))) {
    gst_mini_object_unref (pop (self));
    self->counters.dropped_paused++;
    self->queue_discont = TRUE;
  }
  update_slow (self);
}

void
gst_dccp_thin_src_clear_queue (GstDccpThinSrc * self)
{
  GstMiniObject *object;

  while ((object = pop (self)))
    gst_mini_object_unref (object);
  self->queue_discont = FALSE;
  self->is_slow = FALSE;
}

/* --- waiting -------------------------------------------------------------- */

/* With lock. FALSE: the time is over */
static gboolean
wait_for_object (GstDccpThinSrc * self, guint64 timeout, gint64 since)
{
  gint64 end = since + (gint64) (timeout / GST_USECOND);

  while (!self->flushing && g_queue_is_empty (&self->queue)) {
    if (timeout == 0)
      g_cond_wait (&self->cond, &self->end.lock);
    else if (!g_cond_wait_until (&self->cond, &self->end.lock, end))
      return FALSE;
  }
  return TRUE;
}

/* Until the queue has something, or flushing. Returns with lock */
static void
wait_for_queue (GstDccpThinSrc * self)
{
  GstNetworkSrc *src = GST_NETWORK_SRC (self);
  gint64 since = g_get_monotonic_time ();
  GstClockTime timeout = gst_network_src_get_timeout (src);

  LOCK (self);
  while (!wait_for_object (self, timeout, since)) {
    UNLOCK (self);
    gst_network_src_tell_timeout (src, timeout);
    since = g_get_monotonic_time ();
    timeout = gst_network_src_get_timeout (src);
    LOCK (self);
  }
}

/* --- buffers -------------------------------------------------------------- */

/* What the time of the pipeline is ahead of that of the network. FALSE: the
 * pipeline has no clock */
static gboolean
get_offset (GstDccpThinSrc * self, gint64 * offset)
{
  GstElement *element = GST_ELEMENT_CAST (self);
  GstClock *clock;

  if (!gst_base_src_get_do_timestamp (GST_BASE_SRC_CAST (self)))
    return FALSE;
  clock = gst_element_get_clock (element);
  if (!clock)
    return FALSE;
  *offset = (gint64) (gst_clock_get_time (clock)
      - gst_element_get_base_time (element)) - (gint64) gst_dccp_thin_now ();
  gst_object_unref (clock);
  return TRUE;
}

/* It came then, which was not before the pipeline began. */
static void
set_time (GstBuffer * buffer, gboolean has_offset, gint64 offset)
{
  gint64 time = (gint64) GST_BUFFER_DTS (buffer) + offset;

  GST_BUFFER_DTS (buffer) = GST_BUFFER_PTS (buffer) =
      has_offset ? MAX (0, time) : GST_CLOCK_TIME_NONE;
}

/* With lock: what is there, up to the next thing that is no buffer */
static guint
take_buffers (GstDccpThinSrc * self, GstBuffer ** buffers, guint n)
{
  guint taken = 0;

  while (taken < n && !g_queue_is_empty (&self->queue)
      && GST_IS_BUFFER (g_queue_peek_head (&self->queue))) {
    buffers[taken] = GST_BUFFER_CAST (pop (self));
    self->counters.buffers++;
    self->counters.bytes += gst_buffer_get_size (buffers[taken]);
    taken++;
  }
  if (taken > 0)
    update_slow (self);
  return taken;
}

/* Takes the object: EOS, or an error's message */
static GstFlowReturn
end_stream (GstDccpThinSrc * self, GstMiniObject * object)
{
  if (GST_IS_MESSAGE (object)) {
    gst_element_post_message (GST_ELEMENT_CAST (self),
        GST_MESSAGE_CAST (object));
    return GST_FLOW_ERROR;
  }
  gst_mini_object_unref (object);
  return GST_FLOW_EOS;
}

static GstFlowReturn
submit_list (GstDccpThinSrc * self, GstBuffer ** buffers, guint n)
{
  GstBufferList *list = gst_buffer_list_new_sized (n);
  guint i;

  for (i = 0; i < n; i++)
    gst_buffer_list_add (list, buffers[i]);
  return gst_network_src_submit_list (GST_NETWORK_SRC (self), list);
}

/* Who counts buffers gets them singly. */
static guint
get_longest_list (GstDccpThinSrc * self)
{
  return GST_BASE_SRC_CAST (self)->num_buffers_left >= 0 ? 1 : MAX_LIST;
}

GstFlowReturn
gst_dccp_thin_src_create (GstPushSrc * src, GstBuffer ** buffer)
{
  GstDccpThinSrc *self = GST_DCCP_THIN_SRC (src);
  guint i, n, longest = get_longest_list (self);
  GstBuffer *buffers[MAX_LIST];
  GstMiniObject *end = NULL;
  gboolean has_offset, flushing;
  gint64 offset = 0;

  wait_for_queue (self);
  flushing = self->flushing;
  n = flushing ? 0 : take_buffers (self, buffers, longest);
  if (!flushing && n == 0)
    end = pop (self);
  UNLOCK (self);
  if (flushing)
    return GST_FLOW_FLUSHING;
  if (n == 0)
    return end_stream (self, end);

  has_offset = get_offset (self, &offset);
  for (i = 0; i < n; i++)
    set_time (buffers[i], has_offset, offset);
  if (n > 1)
    return submit_list (self, buffers, n);
  return gst_network_src_submit_buffer (GST_NETWORK_SRC (src), buffers[0],
      buffer);
}
