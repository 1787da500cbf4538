/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What GstBaseSink calls in the streaming thread of GstNetworkSink: buffers and
 * lists, events, and the end of the stream, at which the connection is drained.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstnetworksinkprivate.h"

#include "gstwirelessevents.h"

/* Buffers of a list that are looked at together */
#define MAX_BATCH 64
static gpointer
get_parent_class (void)
{
  return g_type_class_peek_parent (g_type_class_peek (GST_TYPE_NETWORK_SINK));
}

GstFlowReturn
gst_network_sink_render (GstBaseSink * sink, GstBuffer * buffer)
{
  GstNetworkSink *self = GST_NETWORK_SINK (sink);

  self->priv->has_input = TRUE;
  if (GST_NETWORK_SINK_GET_CLASS (self)->send_packets)
    return gst_network_sink_render_packets (self, &buffer, 1);
  return gst_network_sink_render_buffer (self, buffer);
}

static GstFlowReturn
render_buffers (GstNetworkSink * self, GstBufferList * list)
{
  guint i, n = gst_buffer_list_length (list);
  GstFlowReturn flow = GST_FLOW_OK;

  for (i = 0; i < n && flow == GST_FLOW_OK; i++)
    flow = gst_network_sink_render_buffer (self, gst_buffer_list_get (list, i));
  return flow;
}

static GstFlowReturn
render_packets (GstNetworkSink * self, GstBufferList * list)
{
  guint i, size, n = gst_buffer_list_length (list);
  GstFlowReturn flow = GST_FLOW_OK;
  GstBuffer *batch[MAX_BATCH];

  for (i = 0; i < n && flow == GST_FLOW_OK; i += size) {
    for (size = 0; size < MAX_BATCH && i + size < n; size++)
      batch[size] = gst_buffer_list_get (list, i + size);
    flow = gst_network_sink_render_packets (self, batch, size);
  }
  return flow;
}

GstFlowReturn
gst_network_sink_render_list (GstBaseSink * sink, GstBufferList * list)
{
  GstNetworkSink *self = GST_NETWORK_SINK (sink);

  self->priv->has_input = TRUE;
  if (GST_NETWORK_SINK_GET_CLASS (self)->send_packets)
    return render_packets (self, list);
  return render_buffers (self, list);
}

/* EOS that an application sends to its pipeline goes to the sources: one whose
 * thread waits here can't send it. So the sink counts as one of them, and is
 * told too. What flows goes on; the time of the end counts from where it waits. */
gboolean
gst_network_sink_send_event (GstElement * element, GstEvent * event)
{
  GstNetworkSink *self = GST_NETWORK_SINK (element);
  GstNetworkSinkPrivate *priv = self->priv;

  if (!GST_EVENT_IS_DOWNSTREAM (event))
    return GST_ELEMENT_CLASS (get_parent_class ())->send_event (element, event);
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    LOCK (self);
    priv->end_asked = TRUE;
    g_cancellable_cancel (priv->send_cancellable);
    g_cond_broadcast (&priv->cond);
    UNLOCK (self);
  }
  gst_event_unref (event);
  return TRUE;
}

gboolean
gst_network_sink_event (GstBaseSink * sink, GstEvent * event)
{
  GstNetworkSink *self = GST_NETWORK_SINK (sink);

  if (gst_wireless_event_is_ending (event))
    gst_network_sink_set_ending (self, TRUE);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    gst_network_sink_set_ending (self, FALSE);
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP
      || GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    gst_network_sink_begin_stream (self);
  return GST_BASE_SINK_CLASS (get_parent_class ())->event (sink, event);
}

void
gst_network_sink_reset_render (GstNetworkSink * self)
{
  GstNetworkSinkPrivate *priv = self->priv;

  gst_network_sink_clear_rest (self);
  priv->receiver = 0;
  priv->started = FALSE;
  priv->needs_key_frame = FALSE;
  priv->gave_up = FALSE;
  priv->last_pts = GST_CLOCK_TIME_NONE;
  gst_network_sink_begin_stream (self);
  gst_network_sink_set_ending (self, FALSE);
  LOCK (self);
  priv->generation = 0;
  UNLOCK (self);
}

/* --- the end of the stream ------------------------------------------------ */

/* From now on a receiver that goes is none that breaks the connection. FALSE:
 * there is no connection */
static gboolean
begin_drain (GstNetworkSink * self)
{
  GstNetworkSinkPrivate *priv = self->priv;
  gboolean connected;

  LOCK (self);
  connected = priv->state == STATE_CONNECTED;
  priv->draining = TRUE;
  if (connected)
    g_cancellable_cancel (priv->connection_cancellable);
  while (priv->watching)
    g_cond_wait (&priv->cond, &priv->lock);
  priv->deadline = priv->ending_until ? priv->ending_until :
      g_get_monotonic_time () + priv->eos_timeout / GST_USECOND;
  UNLOCK (self);
  return connected;
}

/* TRUE: the receiver has everything, or there is none. */
static gboolean
try_drain (GstNetworkSink * self)
{
  GstNetworkSinkClass *klass = GST_NETWORK_SINK_GET_CLASS (self);
  GstNetworkSinkPrivate *priv = self->priv;
  GError *error = NULL;
  gboolean done;

  if (priv->rest) {
    gst_network_sink_finish_rest (self);
    return FALSE;
  }
  if (!klass->drain)
    return TRUE;
  if (!gst_network_sink_begin_use (self))
    return FALSE;
  done = klass->drain (self, priv->deadline, priv->send_cancellable, &error);
  gst_network_sink_end_use (self, error);
  return done;
}

/* Until there is nothing left to do, or FLUSHING */
static GstFlowReturn
drain (GstNetworkSink * self)
{
  GstNetworkSinkPrivate *priv = self->priv;
  gboolean connected, unlocked;
  GstFlowReturn flow;

  while (TRUE) {
    LOCK (self);
    unlocked = priv->unlocked;
    connected = priv->state == STATE_CONNECTED;
    UNLOCK (self);
    if (unlocked) {
      flow = gst_base_sink_wait_preroll (GST_BASE_SINK_CAST (self));
      if (flow != GST_FLOW_OK)
        return flow;
      continue;
    }
    if (!connected || try_drain (self))
      return GST_FLOW_OK;
    if (g_get_monotonic_time () >= priv->deadline) {
      priv->gave_up = TRUE;
      return GST_FLOW_OK;
    }
  }
}

static void
warn_of_eos_timeout (GstNetworkSink * self)
{
  GstNetworkSinkPrivate *priv = self->priv;
  gchar *peer = GST_NETWORK_SINK_GET_CLASS (self)->describe (self);
  gdouble seconds;

  LOCK (self);
  priv->counters.eos_timeouts++;
  seconds = priv->eos_timeout / (gdouble) GST_SECOND;
  UNLOCK (self);
  GST_ELEMENT_WARNING (self, RESOURCE, WRITE,
      ("%s did not take everything within the eos-timeout of %g s.", peer,
          seconds), (NULL));
  g_free (peer);
}

/* What knows of connections sees the end of the stream by that of its own. */
static void
end_connection (GstNetworkSink * self)
{
  if (!GST_NETWORK_SINK_GET_CLASS (self)->connectionless) {
    gst_network_sink_end_connection (self);
    return;
  }
  LOCK (self);
  self->priv->draining = FALSE;
  g_cond_broadcast (&self->priv->cond);
  UNLOCK (self);
}

/* Whether the source is live. The other answer of the query, whether the sink
 * synchronizes to the clock, says nothing of that. */
static gboolean
is_stream_live (GstNetworkSink * self)
{
  gboolean is_live = FALSE;

  return gst_base_sink_query_latency (GST_BASE_SINK_CAST (self), NULL,
      &is_live, NULL, NULL) && is_live;
}

/* A live stream passes whether somebody listens or not; the end of one that was
 * stored must not look like success when nobody got any of it. */
static gboolean
reached_nobody (GstNetworkSink * self)
{
  GstNetworkSinkPrivate *priv = self->priv;
  gboolean is_alone;

  LOCK (self);
  is_alone = priv->counters.connections == 0 && priv->state != STATE_FAILED;
  UNLOCK (self);
  return is_alone && !GST_NETWORK_SINK_GET_CLASS (self)->connectionless
      && !is_stream_live (self);
}

static void
tell_of_nobody (GstNetworkSink * self)
{
  gchar *peer = GST_NETWORK_SINK_GET_CLASS (self)->describe (self);

  GST_ELEMENT_ERROR (self, RESOURCE, WRITE,
      ("The stream has ended, and nothing of it was sent: there was no "
          "connection to %s. Start the receiver first.", peer), (NULL));
  g_free (peer);
}

static GstFlowReturn
finish_stream (GstNetworkSink * self)
{
  GstNetworkSinkPrivate *priv = self->priv;
  GstFlowReturn flow = GST_FLOW_OK;
  gboolean is_missed = priv->has_input && reached_nobody (self);

  if (begin_drain (self))
    flow = drain (self);
  if (flow == GST_FLOW_OK && priv->gave_up)
    warn_of_eos_timeout (self);
  end_connection (self);
  gst_network_sink_clear_rest (self);
  gst_network_sink_set_ending (self, FALSE);
  priv->deadline = 0;
  priv->gave_up = FALSE;
  priv->has_input = FALSE;
  /* Another stream, another receiver, of which nothing was kept */
  priv->started = FALSE;

  LOCK (self);
  if (flow == GST_FLOW_OK && priv->state == STATE_FAILED)
    flow = GST_FLOW_ERROR;
  is_missed = is_missed && flow == GST_FLOW_OK
      && priv->counters.connections == 0;
  UNLOCK (self);
  if (flow == GST_FLOW_ERROR)
    gst_network_sink_tell_error (self);
  if (!is_missed)
    return flow;
  tell_of_nobody (self);
  return GST_FLOW_ERROR;
}

GstFlowReturn
gst_network_sink_wait_event (GstBaseSink * sink, GstEvent * event)
{
  GstFlowReturn flow =
      GST_BASE_SINK_CLASS (get_parent_class ())->wait_event (sink, event);

  if (flow != GST_FLOW_OK || GST_EVENT_TYPE (event) != GST_EVENT_EOS)
    return flow;
  return finish_stream (GST_NETWORK_SINK (sink));
}
