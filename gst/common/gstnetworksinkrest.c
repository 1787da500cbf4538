/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The way of a buffer through GstNetworkSink where the transport may take a part
 * of it: what is left, priv->rest from rest_offset on, is sent before anything
 * else. All in the streaming thread.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstnetworksinkprivate.h"

/* What became of an attempt to send */
typedef enum
{
  OUTCOME_SENT,
  OUTCOME_FULL,                 /* nothing was taken, and nobody waits */
  OUTCOME_UNSENDABLE,
  OUTCOME_INTERRUPTED           /* unlocked, the connection broke, or the
                                 * deadline is over: look again */
} Outcome;

static void
count_taken (GstNetworkSink * self, gsize taken, gboolean all)
{
  GstNetworkSinkPrivate *priv = self->priv;

  priv->rest_offset += taken;
  LOCK (self);
  priv->counters.bytes_sent += taken;
  if (all)
    priv->counters.packets_sent++;
  priv->torn = priv->rest_offset > 0 && !all;
  UNLOCK (self);
}

static gboolean
may_wait (GstNetworkSink * self)
{
  /* A frame that was begun is finished. */
  return self->priv->rest_offset > 0 || gst_network_sink_get_blocking (self);
}

static Outcome
send_rest (GstNetworkSink * self, GError ** error)
{
  GstNetworkSinkClass *klass = GST_NETWORK_SINK_GET_CLASS (self);
  GstNetworkSinkPrivate *priv = self->priv;
  GstNetworkSinkResult result;
  gint64 full_since = 0;
  gsize taken;

  while (TRUE) {
    taken = 0;
    result = klass->send (self, priv->rest, priv->rest_offset, &taken, error);
    count_taken (self, taken, result == GST_NETWORK_SINK_SENT);
    if (result == GST_NETWORK_SINK_SENT)
      return OUTCOME_SENT;
    if (result == GST_NETWORK_SINK_UNSENDABLE)
      return OUTCOME_UNSENDABLE;
    if (result == GST_NETWORK_SINK_BROKEN)
      return OUTCOME_INTERRUPTED;

    if (!may_wait (self))
      return OUTCOME_FULL;
    if (taken > 0 || full_since == 0)
      full_since = g_get_monotonic_time ();
    gst_network_sink_note_full (self);
    if (!gst_network_sink_wait_for_room (self, full_since, error))
      return OUTCOME_INTERRUPTED;
  }
}

static Outcome
transmit (GstNetworkSink * self)
{
  GError *error = NULL;
  Outcome outcome;

  if (!gst_network_sink_begin_use (self))
    return OUTCOME_INTERRUPTED;
  outcome = send_rest (self, &error);
  if (outcome == OUTCOME_UNSENDABLE) {
    GST_WARNING_OBJECT (self, "can't send %" GST_PTR_FORMAT ": %s",
        self->priv->rest, error->message);
    g_clear_error (&error);
  }
  gst_network_sink_end_use (self, error);
  return outcome;
}

gboolean
gst_network_sink_finish_rest (GstNetworkSink * self)
{
  const gboolean is_sent = transmit (self) == OUTCOME_SENT;

  if (is_sent)
    gst_network_sink_clear_rest (self);
  return is_sent;
}

/* --- the way of a buffer -------------------------------------------------- */

/* The connection is there. FALSE: look for it again */
static gboolean
try_buffer (GstNetworkSink * self, GstBuffer * buffer)
{
  GstNetworkSinkPrivate *priv = self->priv;

  if (gst_network_sink_greet_receiver (self, buffer))
    return TRUE;
  if (priv->rest && priv->rest != buffer) {
    /* Left over by a flush: before anything else */
    gst_network_sink_finish_rest (self);
    return FALSE;
  }
  if (!priv->rest) {
    if (!gst_network_sink_choose (self, buffer))
      return TRUE;
    priv->rest = gst_buffer_ref (buffer);
  }

  switch (transmit (self)) {
    case OUTCOME_SENT:
      gst_network_sink_pass_buffer (self, buffer);
      break;
    case OUTCOME_FULL:
      gst_network_sink_drop (self, buffer, DROP_FULL);
      break;
    case OUTCOME_UNSENDABLE:
      gst_network_sink_drop (self, buffer, DROP_UNSENDABLE);
      break;
    case OUTCOME_INTERRUPTED:
      return FALSE;
  }
  gst_network_sink_clear_rest (self);
  return TRUE;
}

static void
drop_unconnected (GstNetworkSink * self, GstBuffer * buffer)
{
  GstNetworkSinkPrivate *priv = self->priv;
  gboolean torn = priv->rest == buffer && priv->rest_offset > 0;

  gst_network_sink_drop (self, buffer, torn ? DROP_BROKEN : DROP_NOT_CONNECTED);
  if (priv->rest == buffer)
    gst_network_sink_clear_rest (self);
}

/* What is torn stays: the connection has to be reset. */
static void
drop_for_eos (GstNetworkSink * self, GstBuffer * buffer)
{
  GstNetworkSinkPrivate *priv = self->priv;

  gst_network_sink_drop (self, buffer, DROP_EOS_TIMEOUT);
  priv->gave_up = TRUE;
  if (priv->rest_offset == 0)
    gst_network_sink_clear_rest (self);
}

GstFlowReturn
gst_network_sink_render_buffer (GstNetworkSink * self, GstBuffer * buffer)
{
  gboolean over = FALSE;
  GstFlowReturn flow;

  if (gst_buffer_get_size (buffer) == 0)
    return GST_FLOW_OK;

  do {
    flow = gst_network_sink_wait_for_connection (self, &over);
    if (over) {
      drop_for_eos (self, buffer);
      return GST_FLOW_OK;
    }
  } while (flow == GST_FLOW_OK && !try_buffer (self, buffer));

  if (flow == FLOW_NOT_CONNECTED) {
    drop_unconnected (self, buffer);
    return GST_FLOW_OK;
  }
  /* What the network has nothing of is not owed to anybody. */
  if (self->priv->rest_offset == 0)
    gst_network_sink_clear_rest (self);
  return flow;
}
