/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The way of packets through GstNetworkSink, where each buffer goes whole or not
 * at all: as many at a time as upstream brings. All in the streaming thread.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstnetworksinkprivate.h"

/* Packets that upstream brought together */
typedef struct
{
  GstBuffer **packets;
  guint n;
} Batch;

/* The first ones are done with. */
static void
advance (Batch * batch, guint n)
{
  batch->packets += n;
  batch->n -= n;
}

static void
drop_first (GstNetworkSink * self, Batch * batch, DropReason reason)
{
  gst_network_sink_drop (self, batch->packets[0], reason);
  advance (batch, 1);
}

static void
drop_all (GstNetworkSink * self, Batch * batch, DropReason reason)
{
  while (batch->n > 0)
    drop_first (self, batch, reason);
}

void
gst_network_sink_refuse_packet (GstNetworkSink * self, GstBuffer * packet)
{
  self->priv->refused++;
  self->priv->refused_bytes += gst_buffer_get_size (packet);
}

static void
count_sent (GstNetworkSink * self, Batch * batch, guint sent)
{
  GstNetworkSinkPrivate *priv = self->priv;
  guint64 bytes = 0;
  guint i;

  if (sent == 0)
    return;
  for (i = 0; i < sent; i++) {
    bytes += gst_buffer_get_size (batch->packets[i]);
    gst_network_sink_pass_buffer (self, batch->packets[i]);
  }
  LOCK (self);
  priv->counters.packets_sent += sent - priv->refused;
  priv->counters.bytes_sent += bytes - priv->refused_bytes;
  priv->counters.dropped[DROP_UNSENDABLE] += priv->refused;
  priv->counters.bytes_dropped += priv->refused_bytes;
  UNLOCK (self);
  priv->refused = 0;
  priv->refused_bytes = 0;
  advance (batch, sent);
}

/* How many of the first packets are to be sent now; one that is not is dropped,
 * and the answer 0. */
static guint
choose_packets (GstNetworkSink * self, Batch * batch)
{
  GstNetworkSinkPrivate *priv = self->priv;

  if (!gst_network_sink_greet_receiver (self, batch->packets[0])) {
    /* The usual case: there is nothing to choose. */
    if (!priv->skips_frame && !priv->needs_key_frame)
      return batch->n;
    if (gst_network_sink_choose (self, batch->packets[0]))
      return 1;
  }
  advance (batch, 1);
  return 0;
}

static void
drop_unsendable (GstNetworkSink * self, Batch * batch, GError * error)
{
  GST_DEBUG_OBJECT (self, "can't send %" GST_PTR_FORMAT ": %s",
      batch->packets[0], error ? error->message : "unknown");
  g_clear_error (&error);
  drop_first (self, batch, DROP_UNSENDABLE);
}

/* Waits while the network is full. FALSE: there is something else to look at, or
 * an error */
static gboolean
wait_while_full (GstNetworkSink * self, Batch * batch, gint64 * full_since,
    GError ** error)
{
  if (!gst_network_sink_get_blocking (self)) {
    drop_first (self, batch, DROP_FULL);
    return TRUE;
  }
  if (*full_since == 0)
    *full_since = g_get_monotonic_time ();
  gst_network_sink_note_full (self);
  return gst_network_sink_wait_for_room (self, *full_since, error);
}

/* There is a connection. Sends until all is done with, or there is something
 * else to look at. */
static void
send_batch (GstNetworkSink * self, Batch * batch, GError ** error)
{
  GstNetworkSinkClass *klass = GST_NETWORK_SINK_GET_CLASS (self);
  GstNetworkSinkResult result;
  GError *local_error = NULL;
  gboolean goes_on = TRUE;
  gint64 full_since = 0;
  guint n, sent;

  while (goes_on && batch->n > 0) {
    n = choose_packets (self, batch);
    if (n == 0)
      continue;
    sent = 0;
    result = klass->send_packets (self, batch->packets, n, &sent,
        &local_error);
    count_sent (self, batch, sent);
    if (sent > 0 || result == GST_NETWORK_SINK_EARLY)
      full_since = 0;
    if (result == GST_NETWORK_SINK_BROKEN) {
      g_propagate_error (error, local_error);
      return;
    }
    if (result == GST_NETWORK_SINK_UNSENDABLE)
      drop_unsendable (self, batch, g_steal_pointer (&local_error));
    else if (result == GST_NETWORK_SINK_EARLY)
      goes_on = gst_network_sink_wait_for_room (self, g_get_monotonic_time (),
          error);
    else if (result == GST_NETWORK_SINK_FULL)
      goes_on = wait_while_full (self, batch, &full_since, error);
  }
}

GstFlowReturn
gst_network_sink_render_packets (GstNetworkSink * self, GstBuffer ** packets,
    guint n)
{
  Batch batch = { packets, n };
  gboolean over = FALSE;
  GError *error;
  GstFlowReturn flow;

  while (batch.n > 0) {
    flow = gst_network_sink_wait_for_connection (self, &over);
    if (over) {
      drop_all (self, &batch, DROP_EOS_TIMEOUT);
      self->priv->gave_up = TRUE;
    } else if (flow == FLOW_NOT_CONNECTED) {
      drop_all (self, &batch, DROP_NOT_CONNECTED);
    } else if (flow != GST_FLOW_OK) {
      return flow;
    } else if (gst_network_sink_begin_use (self)) {
      error = NULL;
      send_batch (self, &batch, &error);
      gst_network_sink_end_use (self, error);
    }
  }
  return GST_FLOW_OK;
}
