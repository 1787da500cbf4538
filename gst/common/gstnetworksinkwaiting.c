/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the streaming thread of GstNetworkSink waits for: a connection, and room
 * in the network; for how long; and what wakes it.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstnetworksinkprivate.h"

/* There is no connection yet */
#define FLOW_WAIT GST_FLOW_CUSTOM_SUCCESS_1

/* --- woken by flush and changes of state ---------------------------------- */

gboolean
gst_network_sink_unlock (GstBaseSink * sink)
{
  GstNetworkSink *self = GST_NETWORK_SINK (sink);

  LOCK (self);
  self->priv->unlocked = TRUE;
  g_cancellable_cancel (self->priv->send_cancellable);
  g_cond_broadcast (&self->priv->cond);
  UNLOCK (self);
  return TRUE;
}

gboolean
gst_network_sink_unlock_stop (GstBaseSink * sink)
{
  GstNetworkSink *self = GST_NETWORK_SINK (sink);

  LOCK (self);
  self->priv->unlocked = FALSE;
  UNLOCK (self);
  return TRUE;
}

/* --- waiting for the connection ------------------------------------------- */

/* With lock */
static GstFlowReturn
look_for_connection (GstNetworkSink * self)
{
  GstNetworkSinkPrivate *priv = self->priv;

  if (priv->state == STATE_CONNECTED)
    return GST_FLOW_OK;
  if (priv->state == STATE_FAILED)
    return GST_FLOW_ERROR;
  if (priv->state == STATE_IDLE && !priv->stopping && !priv->wanted) {
    /* It was closed by EOS. */
    priv->wanted = TRUE;
    g_cond_broadcast (&priv->cond);
  }
  if (!priv->wait_for_connection)
    return FLOW_NOT_CONNECTED;
  return FLOW_WAIT;
}

/* With lock. EOS is to follow, and its time is over: what comes before it is not
 * waited for any more. */
static gboolean
is_over (GstNetworkSink * self)
{
  return self->priv->ending_until
      && g_get_monotonic_time () >= self->priv->ending_until;
}

/* With lock. The end may take so long from now on. */
static void
begin_ending (GstNetworkSink * self)
{
  self->priv->ending_until =
      g_get_monotonic_time () + self->priv->eos_timeout / GST_USECOND;
}

/* With lock. An end that was asked for stands behind what waits from here on. */
static void
note_wait (GstNetworkSink * self)
{
  if (self->priv->end_asked && !self->priv->ending_until)
    begin_ending (self);
}

/* With lock: until something changes */
static void
wait_for_change (GstNetworkSink * self)
{
  GstNetworkSinkPrivate *priv = self->priv;
  gint64 begin = g_get_monotonic_time ();

  note_wait (self);
  priv->unconnected_since = begin;
  if (priv->ending_until)
    g_cond_wait_until (&priv->cond, &priv->lock, priv->ending_until);
  else
    g_cond_wait (&priv->cond, &priv->lock);
  priv->unconnected_since = 0;
  priv->counters.time_unconnected +=
      (g_get_monotonic_time () - begin) * GST_USECOND;
}

GstFlowReturn
gst_network_sink_wait_for_connection (GstNetworkSink * self, gboolean * over)
{
  GstNetworkSinkPrivate *priv = self->priv;
  GstFlowReturn flow;

  LOCK (self);
  while (TRUE) {
    if (priv->unlocked) {
      /* Back when the pipeline plays again, or to give up */
      UNLOCK (self);
      flow = gst_base_sink_wait_preroll (GST_BASE_SINK_CAST (self));
      if (flow != GST_FLOW_OK)
        return flow;
      LOCK (self);
      continue;
    }
    flow = look_for_connection (self);
    if (flow != FLOW_WAIT || is_over (self))
      break;
    wait_for_change (self);
  }
  *over = is_over (self) && (flow == GST_FLOW_OK || flow == FLOW_WAIT);
  UNLOCK (self);
  if (flow == GST_FLOW_ERROR)
    gst_network_sink_tell_error (self);
  return flow;
}

/* --- using the connection, and waiting for room ---------------------------- */

gboolean
gst_network_sink_begin_use (GstNetworkSink * self)
{
  GstNetworkSinkPrivate *priv = self->priv;
  gboolean usable;

  LOCK (self);
  usable = priv->state == STATE_CONNECTED && !priv->unlocked;
  if (usable) {
    /* (To ask costs nothing; to reset it takes a lock of all the process.) */
    if (g_cancellable_is_cancelled (priv->send_cancellable))
      g_cancellable_reset (priv->send_cancellable);
    priv->using = TRUE;
  }
  UNLOCK (self);
  return usable;
}

void
gst_network_sink_end_use (GstNetworkSink * self, GError * error)
{
  GstNetworkSinkPrivate *priv = self->priv;

  LOCK (self);
  priv->using = FALSE;
  if (error)
    gst_network_sink_break_connection (self, error);
  if (priv->awaited)
    g_cond_broadcast (&priv->cond);
  UNLOCK (self);
}

static void
wait_with_count (GstNetworkSink * self, gint64 timeout)
{
  GstNetworkSinkPrivate *priv = self->priv;
  gint64 begin = g_get_monotonic_time ();

  LOCK (self);
  priv->blocked_since = begin;
  UNLOCK (self);
  GST_NETWORK_SINK_GET_CLASS (self)->wait (self, timeout,
      priv->send_cancellable);
  LOCK (self);
  priv->blocked_since = 0;
  priv->counters.time_blocked +=
      (g_get_monotonic_time () - begin) * GST_USECOND;
  UNLOCK (self);
}

/* Monotonic us; 0: none */
static gint64
get_deadline (GstNetworkSink * self)
{
  gint64 ending_until;

  if (self->priv->deadline)
    return self->priv->deadline;
  LOCK (self);
  ending_until = self->priv->ending_until;
  UNLOCK (self);
  return ending_until;
}

void
gst_network_sink_note_full (GstNetworkSink * self)
{
  LOCK (self);
  note_wait (self);
  UNLOCK (self);
}

gboolean
gst_network_sink_wait_for_room (GstNetworkSink * self, gint64 full_since,
    GError ** error)
{
  GstNetworkSinkPrivate *priv = self->priv;
  GstClockTime timeout = gst_network_sink_get_timeout (self);
  gint64 deadline = get_deadline (self);
  gint64 now = g_get_monotonic_time ();
  gint64 left = -1;

  if (timeout > 0) {
    left = full_since + (gint64) (timeout / GST_USECOND) - now;
    if (left <= 0) {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
          "it took nothing for %g s", timeout / (gdouble) GST_SECOND);
      return FALSE;
    }
  }
  if (deadline) {
    if (now >= deadline)
      return FALSE;
    left = left < 0 ? deadline - now : MIN (left, deadline - now);
  }
  wait_with_count (self, left);
  return !g_cancellable_is_cancelled (priv->send_cancellable);
}

/* --- the end of the stream ------------------------------------------------- */

void
gst_network_sink_set_ending (GstNetworkSink * self, gboolean is_ending)
{
  GstNetworkSinkPrivate *priv = self->priv;

  LOCK (self);
  priv->ending_until = 0;
  priv->end_asked = FALSE;
  if (is_ending) {
    begin_ending (self);
    g_cancellable_cancel (priv->send_cancellable);
    g_cond_broadcast (&priv->cond);
  }
  UNLOCK (self);
}
