/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The streaming thread of GstNetworkSink. It waits for the connection, waits
 * while the connection accepts no data, sends packets or parts of a byte
 * stream, and drains the connection at the end of the stream.
 */

#include "gstnetworksinkprivate.h"

#include "gstwirelessevents.h"

/* Maximum number of buffers of a list that are processed together */
#define MAX_BATCH 64
/* Return value of look_for_connection (): there is no connection yet, and the
 * buffer has to wait for one. */
#define FLOW_WAIT GST_FLOW_CUSTOM_SUCCESS_1

/* The packets of one buffer list, or a single packet, that upstream has passed
 * to the sink in one call. Packets that were sent or dropped are removed from
 * the batch. */
typedef struct
{
  GstBuffer **packets;
  guint n;
} Batch;

/* Result of an attempt to send a buffer */
typedef enum
{
  OUTCOME_SENT,
  /* The network accepts no more data at present. No part of the buffer was
   * sent, and the caller drops the buffer. */
  OUTCOME_FULL,
  OUTCOME_UNSENDABLE,
  /* Sending the buffer was interrupted, so there is no result yet. One of these
   * has happened: the sink was unlocked for a flush or a state change, the
   * connection broke, or the deadline for the end of the stream has passed. The
   * caller checks which one. */
  OUTCOME_INTERRUPTED
} Outcome;

/* --- settings ------------------------------------------------------------- */

GstClockTime
gst_network_sink_get_timeout (GstNetworkSink * self)
{
  GstClockTime timeout;

  LOCK (self);
  timeout = self->priv->timeout;
  UNLOCK (self);
  return timeout;
}

gboolean
gst_network_sink_get_blocking (GstNetworkSink * self)
{
  gboolean blocking;

  LOCK (self);
  blocking = self->priv->blocking;
  UNLOCK (self);
  return blocking;
}

/* Returns whether upstream answers a latency query with "live". */
static gboolean
query_live (GstPad * pad)
{
  GstQuery *query = gst_query_new_latency ();
  gboolean live = FALSE;

  if (gst_pad_peer_query (pad, query))
    gst_query_parse_latency (query, &live, NULL, NULL);
  gst_query_unref (query);
  return live;
}

static gboolean
query_drops_when_full (GstPad * pad)
{
  GstQuery *query = gst_wireless_query_new_drops_when_full ();
  const gboolean drops = gst_pad_peer_query (pad, query);

  gst_query_unref (query);
  return drops;
}

/* Returns whether a wait in this sink would block a live source upstream.
 * Queries upstream only once after the start of the sink, and stores the
 * result. The caller does not hold the lock. */
static gboolean
is_input_live (GstNetworkSink * self)
{
  GstPad *pad = GST_BASE_SINK_PAD (self);

  if (self->priv->input == INPUT_UNKNOWN) {
    self->priv->input = query_live (pad) && !query_drops_when_full (pad) ?
        INPUT_LIVE : INPUT_STORED;
    GST_DEBUG_OBJECT (self, "the input is %s",
        self->priv->input == INPUT_LIVE ? "live" : "stored");
  }
  return self->priv->input == INPUT_LIVE;
}

/* `since` is the monotonic time in us at which a buffer began to wait. Returns
 * the monotonic time in us until which this buffer may wait. If the input is
 * not live, there is no limit, and the result is G_MAXINT64. May be called with
 * or without the lock. */
static gint64
get_live_end (GstNetworkSink * self, gint64 since)
{
  GstNetworkSinkPrivate *priv = self->priv;

  if (priv->input != INPUT_LIVE)
    return G_MAXINT64;
  return priv->live_gave_up ? since :
      since + (gint64) (priv->max_live_wait / GST_USECOND);
}

/* Returns TRUE if a live buffer has waited for max-live-wait and must be
 * dropped. `since` is the monotonic time in us at which its wait began. After
 * such a drop, the next buffers do not wait at all until the network has room
 * again. */
static gboolean
gives_up (GstNetworkSink * self, gint64 since)
{
  GstNetworkSinkPrivate *priv = self->priv;

  if (g_get_monotonic_time () < get_live_end (self, since))
    return FALSE;
  if (!priv->live_gave_up)
    GST_INFO_OBJECT (self, "live input has waited for %" GST_TIME_FORMAT
        ": drops packets until the network has room",
        GST_TIME_ARGS (priv->max_live_wait));
  priv->live_gave_up = TRUE;
  return TRUE;
}

/* --- unlocking for a flush or a state change ------------------------------ */

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

/* The caller holds the lock. */
static GstFlowReturn
look_for_connection (GstNetworkSink * self)
{
  GstNetworkSinkPrivate *priv = self->priv;

  if (priv->state == STATE_CONNECTED)
    return GST_FLOW_OK;
  if (priv->state == STATE_FAILED)
    return GST_FLOW_ERROR;
  if (priv->state == STATE_IDLE && !priv->stopping && !priv->wanted) {
    /* The EOS of the previous stream has closed the connection. As a buffer has
     * arrived, a new stream has started, and a connection is needed again. */
    priv->wanted = TRUE;
    g_cond_broadcast (&priv->cond);
  }
  if (!priv->wait_for_connection)
    return FLOW_NOT_CONNECTED;
  return FLOW_WAIT;
}

/* Returns whether the deadline for the end of the stream has passed. The
 * deadline is set when it is known that EOS will arrive soon. After the
 * deadline, the buffers that arrive before EOS are dropped instead of waiting
 * for a connection. Called with the lock. */
static gboolean
is_over (GstNetworkSink * self)
{
  return self->priv->ending_until
      && g_get_monotonic_time () >= self->priv->ending_until;
}

/* Sets the deadline for the end of the stream to the present time plus
 * `drain-timeout`. Called with the lock. */
static void
begin_ending (GstNetworkSink * self)
{
  self->priv->ending_until =
      g_get_monotonic_time () + self->priv->eos_timeout / GST_USECOND;
}

/* Called with the lock before the streaming thread waits for the network. EOS
 * reaches the sink only after the current buffer was sent or dropped, so this
 * wait delays the end of the stream. The wait must be limited if the
 * application has sent EOS to the pipeline. In this case the function sets the
 * deadline for the end of the stream. */
static void
note_wait (GstNetworkSink * self)
{
  if (self->priv->end_asked && !self->priv->ending_until)
    begin_ending (self);
}

/* Waits until another thread signals a change, for example of the state of the
 * connection, or until the monotonic time `end` in us (G_MAXINT64 = no limit).
 * The caller holds the lock, which is released while waiting. */
static void
wait_for_change (GstNetworkSink * self, gint64 end)
{
  GstNetworkSinkPrivate *priv = self->priv;
  gint64 begin = g_get_monotonic_time ();

  GST_DEBUG_OBJECT (self, "waits for a connection");
  note_wait (self);
  priv->unconnected_since = begin;
  if (priv->ending_until)
    end = MIN (end, priv->ending_until);
  if (end < G_MAXINT64)
    g_cond_wait_until (&priv->cond, &priv->lock, end);
  else
    g_cond_wait (&priv->cond, &priv->lock);
  priv->unconnected_since = 0;
  priv->counters.time_unconnected +=
      (g_get_monotonic_time () - begin) * GST_USECOND;
}

/* Waits for a connection. Returns GST_FLOW_OK if the connection exists,
 * FLOW_NOT_CONNECTED if the buffer must be dropped, or an error that the
 * streaming thread has to return. Sets `over` to TRUE if the deadline for the
 * end of the stream has passed; the buffer must then be dropped as well. */
static GstFlowReturn
wait_for_connection (GstNetworkSink * self, gboolean * over)
{
  GstNetworkSinkPrivate *priv = self->priv;
  gint64 since = g_get_monotonic_time ();
  GstFlowReturn flow;

  is_input_live (self);
  LOCK (self);
  while (TRUE) {
    if (priv->unlocked) {
      /* The sink was unlocked, for a pause or for a flush.
       * gst_base_sink_wait_preroll waits until the pipeline plays again; if the
       * sink is flushed, it returns GST_FLOW_FLUSHING. */
      UNLOCK (self);
      flow = gst_base_sink_wait_preroll (GST_BASE_SINK_CAST (self));
      if (flow != GST_FLOW_OK)
        return flow;
      since = g_get_monotonic_time ();
      LOCK (self);
      continue;
    }
    flow = look_for_connection (self);
    if (flow != FLOW_WAIT || is_over (self))
      break;
    if (gives_up (self, since)) {
      flow = FLOW_NOT_CONNECTED;
      break;
    }
    wait_for_change (self, get_live_end (self, since));
  }
  *over = is_over (self) && (flow == GST_FLOW_OK || flow == FLOW_WAIT);
  UNLOCK (self);
  if (flow == GST_FLOW_ERROR)
    gst_network_sink_post_error (self);
  return flow;
}

/* --- using the connection, and waiting until it accepts data -------------- */

/* Returns FALSE if there is no usable connection, or if the deadline for the
 * end of the stream has passed. The caller then calls wait_for_connection. */
static gboolean
begin_use (GstNetworkSink * self)
{
  GstNetworkSinkPrivate *priv = self->priv;
  gboolean usable;

  LOCK (self);
  usable = priv->state == STATE_CONNECTED && !priv->unlocked && !is_over (self);
  if (usable) {
    /* g_cancellable_reset () takes a lock that the whole process shares. It is
     * therefore called only if the cancellable was cancelled. */
    if (g_cancellable_is_cancelled (priv->send_cancellable))
      g_cancellable_reset (priv->send_cancellable);
    priv->using = TRUE;
  }
  UNLOCK (self);
  return usable;
}

/* Called when the streaming thread no longer uses the connection. If `error` is
 * not NULL, it is the reason why the connection is broken, and the function
 * marks the connection as broken. Takes ownership of `error`. */
static void
end_use (GstNetworkSink * self, GError * error)
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

  GST_LOG_OBJECT (self, "waits for room in the network, or for pacing");
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

/* Returns the deadline for the end of the stream, as a monotonic time in us; 0
 * if there is none. */
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

/* The streaming thread calls this function before it waits until the network
 * accepts more data. The caller does not hold the lock. The wait delays the end
 * of the stream. If the application has already sent EOS, this function
 * therefore sets the deadline for the end of the stream. */
static void
note_full (GstNetworkSink * self)
{
  LOCK (self);
  note_wait (self);
  UNLOCK (self);
}

/* Waits until the network may accept data again. `full_since` is the monotonic
 * time in us since which the network has accepted no data. Returns TRUE if the
 * caller may try to send again. Returns FALSE in two cases:
 *
 * - The network has accepted no data for the time peer-timeout. `error` is set.
 * - The wait was interrupted, or the deadline for the end of the stream has
 *   passed. `error` is not set. */
static gboolean
wait_for_room (GstNetworkSink * self, gint64 full_since, GError ** error)
{
  GstNetworkSinkPrivate *priv = self->priv;
  GstClockTime timeout = gst_network_sink_get_timeout (self);
  gint64 deadline = get_deadline (self);
  gint64 now = g_get_monotonic_time ();
  gint64 left = -1, live_end;

  if (timeout > 0) {
    left = full_since + (gint64) (timeout / GST_USECOND) - now;
    if (left <= 0) {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
          "the peer took nothing for %g s", timeout / (gdouble) GST_SECOND);
      return FALSE;
    }
  }
  if (deadline) {
    if (now >= deadline)
      return FALSE;
    left = left < 0 ? deadline - now : MIN (left, deadline - now);
  }
  live_end = get_live_end (self, full_since);
  if (live_end < G_MAXINT64)
    left = left < 0 ? MAX (live_end - now, 0) : CLAMP (live_end - now, 0, left);
  wait_with_count (self, left);
  return !g_cancellable_is_cancelled (priv->send_cancellable);
}

/* Called when the network has room, but pacing does not allow the next packet
 * yet. Waits until pacing allows it. Returns FALSE if the wait was interrupted,
 * or if the deadline for the end of the stream has passed. The time of this
 * wait does not count towards peer-timeout or max-live-wait, because these
 * limit the time for which the network has no room. */
static gboolean
wait_until_its_time (GstNetworkSink * self, GError ** error)
{
  self->priv->live_gave_up = FALSE;
  return wait_for_room (self, g_get_monotonic_time (), error);
}

/* With `is_ending` TRUE, sets the deadline for the end of the stream, and wakes
 * all waiting threads, so that none of them waits beyond the deadline. With
 * `is_ending` FALSE, removes the deadline, because the stream continues. */
static void
set_ending (GstNetworkSink * self, gboolean is_ending)
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

/* --- packets -------------------------------------------------------------- */

/* Removes the first `n` packets from the batch, because they were sent or
 * dropped. */
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
  GST_LOG_OBJECT (self, "sent %u packets of %" G_GUINT64_FORMAT " bytes",
      sent - priv->refused, bytes - priv->refused_bytes);
  priv->live_gave_up = FALSE;
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

/* Decides how many packets, counted from the beginning of the batch, the caller
 * may send now. If the first packet must not be sent, drops it, removes it from
 * the batch and returns 0. */
static guint
choose_packets (GstNetworkSink * self, Batch * batch)
{
  GstNetworkSinkPrivate *priv = self->priv;

  if (!gst_network_sink_greet_receiver (self, batch->packets[0])) {
    /* Usually no packet has to be dropped, because no frame is being skipped
     * and no receiver waits for a key frame. The whole batch can then be sent.
     */
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
  GST_DEBUG_OBJECT (self, "Could not send the packet %" GST_PTR_FORMAT
      ": %s.", batch->packets[0],
      error ? error->message : "the reason is unknown");
  g_clear_error (&error);
  drop_first (self, batch, DROP_UNSENDABLE);
}

/* Called when the connection accepts no data at the moment. If the sink may
 * wait, waits until the connection may accept data again. Otherwise drops the
 * first packet of `batch`. Returns FALSE if the wait was interrupted or an
 * error occurred. Otherwise returns TRUE, and the caller continues to send. */
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
  if (gives_up (self, *full_since)) {
    drop_first (self, batch, DROP_FULL);
    return TRUE;
  }
  note_full (self);
  return wait_for_room (self, *full_since, error);
}

/* Sends the packets of the batch over the existing connection, and drops those
 * that cannot be sent. Returns early if a wait is interrupted or the connection
 * breaks. */
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
    result = klass->send_packets (self, batch->packets, n, &sent, &local_error);
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
      goes_on = wait_until_its_time (self, error);
    else if (result == GST_NETWORK_SINK_FULL)
      goes_on = wait_while_full (self, batch, &full_since, error);
  }
}

static GstFlowReturn
render_packets (GstNetworkSink * self, GstBuffer ** packets, guint n)
{
  Batch batch = { packets, n };
  gboolean over = FALSE;
  GError *error;
  GstFlowReturn flow;

  is_input_live (self);
  while (batch.n > 0) {
    /* Usually the connection exists already, and begin_use () returns TRUE. The
     * function wait_for_connection () is then not needed. It would take the
     * lock a second time. */
    if (begin_use (self)) {
      error = NULL;
      send_batch (self, &batch, &error);
      end_use (self, error);
      continue;
    }
    flow = wait_for_connection (self, &over);
    if (over) {
      drop_all (self, &batch, DROP_EOS_TIMEOUT);
      self->priv->gave_up = TRUE;
    } else if (flow == FLOW_NOT_CONNECTED) {
      drop_all (self, &batch, DROP_NOT_CONNECTED);
    } else if (flow != GST_FLOW_OK) {
      return flow;
    }
  }
  return GST_FLOW_OK;
}

/* --- buffers -------------------------------------------------------------- */

/* A transport for byte streams may accept only a part of a buffer. The buffer
 * is then stored in priv->rest, and priv->rest_offset is the number of bytes
 * that were sent. The rest is sent before any other buffer. */

static void
count_taken (GstNetworkSink * self, gsize taken, gboolean all)
{
  GstNetworkSinkPrivate *priv = self->priv;

  GST_LOG_OBJECT (self, "sent %" G_GSIZE_FORMAT " bytes%s", taken,
      all ? ", the last ones of the buffer" : "");
  priv->rest_offset += taken;
  if (taken > 0)
    priv->live_gave_up = FALSE;
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
  /* If a part of a buffer was sent, the rest must be sent as well, because the
   * receiver cannot use an incomplete buffer in the byte stream. The sink then
   * waits even if the property `blocking` is FALSE. */
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
    /* If a part of the buffer was sent, the rest must be sent too, because the
     * receiver cannot use an incomplete buffer. The buffer is therefore dropped
     * only if no part of it was sent. */
    if (priv->rest_offset == 0 && gives_up (self, full_since))
      return OUTCOME_FULL;
    note_full (self);
    if (!wait_for_room (self, full_since, error))
      return OUTCOME_INTERRUPTED;
  }
}

static Outcome
transmit (GstNetworkSink * self)
{
  GError *error = NULL;
  Outcome outcome;

  if (!begin_use (self))
    return OUTCOME_INTERRUPTED;
  outcome = send_rest (self, &error);
  if (outcome == OUTCOME_UNSENDABLE) {
    GST_WARNING_OBJECT (self, "Could not send the buffer %" GST_PTR_FORMAT
        ": %s.", self->priv->rest, error->message);
    g_clear_error (&error);
  }
  end_use (self, error);
  return outcome;
}

/* Sends the part of the buffer `rest` that was not sent yet. Returns whether
 * all of this part was sent. */
static gboolean
finish_rest (GstNetworkSink * self)
{
  const gboolean is_sent = transmit (self) == OUTCOME_SENT;

  if (is_sent)
    gst_network_sink_clear_rest (self);
  return is_sent;
}

/* --- processing of a buffer ----------------------------------------------- */

/* Sends `buffer` over the existing connection, or drops it. Returns FALSE if
 * the caller has to wait for a connection and try again. */
static gboolean
try_buffer (GstNetworkSink * self, GstBuffer * buffer)
{
  GstNetworkSinkPrivate *priv = self->priv;

  if (gst_network_sink_greet_receiver (self, buffer))
    return TRUE;
  if (priv->rest && priv->rest != buffer) {
    /* A flush interrupted an earlier buffer after a part of it was sent. The
     * rest of that buffer is sent first. */
    finish_rest (self);
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

/* Drops `buffer`, because it was not completely sent before the deadline for
 * the end of the stream. If no part of it was sent, priv->rest is cleared.
 * Otherwise `buffer` stays in priv->rest, which shows that the receiver has an
 * incomplete buffer. The connection is then reset at the end of the stream. */
static void
drop_for_eos (GstNetworkSink * self, GstBuffer * buffer)
{
  GstNetworkSinkPrivate *priv = self->priv;

  gst_network_sink_drop (self, buffer, DROP_EOS_TIMEOUT);
  priv->gave_up = TRUE;
  if (priv->rest_offset == 0)
    gst_network_sink_clear_rest (self);
}

static GstFlowReturn
render_buffer (GstNetworkSink * self, GstBuffer * buffer)
{
  gboolean over = FALSE;
  GstFlowReturn flow;

  if (gst_buffer_get_size (buffer) == 0)
    return GST_FLOW_OK;

  do {
    flow = wait_for_connection (self, &over);
    if (over) {
      drop_for_eos (self, buffer);
      return GST_FLOW_OK;
    }
  } while (flow == GST_FLOW_OK && !try_buffer (self, buffer));

  if (flow == FLOW_NOT_CONNECTED) {
    drop_unconnected (self, buffer);
    return GST_FLOW_OK;
  }
  /* Because of an error or a flush, the buffer was not sent completely. If a
   * part of the buffer was already sent, the buffer stays in priv->rest, and
   * the remaining bytes are sent later. If no part was sent, priv->rest is
   * cleared. */
  if (self->priv->rest_offset == 0)
    gst_network_sink_clear_rest (self);
  return flow;
}

/* --- what GstBaseSink calls ----------------------------------------------- */

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
    return render_packets (self, &buffer, 1);
  return render_buffer (self, buffer);
}

static GstFlowReturn
render_buffers (GstNetworkSink * self, GstBufferList * list)
{
  guint i, n = gst_buffer_list_length (list);
  GstFlowReturn flow = GST_FLOW_OK;

  for (i = 0; i < n && flow == GST_FLOW_OK; i++)
    flow = render_buffer (self, gst_buffer_list_get (list, i));
  return flow;
}

static GstFlowReturn
render_list_of_packets (GstNetworkSink * self, GstBufferList * list)
{
  guint i, size, n = gst_buffer_list_length (list);
  GstFlowReturn flow = GST_FLOW_OK;
  GstBuffer *batch[MAX_BATCH];

  for (i = 0; i < n && flow == GST_FLOW_OK; i += size) {
    for (size = 0; size < MAX_BATCH && i + size < n; size++)
      batch[size] = gst_buffer_list_get (list, i + size);
    flow = render_packets (self, batch, size);
  }
  return flow;
}

GstFlowReturn
gst_network_sink_render_list (GstBaseSink * sink, GstBufferList * list)
{
  GstNetworkSink *self = GST_NETWORK_SINK (sink);

  self->priv->has_input = TRUE;
  if (GST_NETWORK_SINK_GET_CLASS (self)->send_packets)
    return render_list_of_packets (self, list);
  return render_buffers (self, list);
}

/* If an application sends EOS to its pipeline, the pipeline passes the event
 * only to its sources. If the streaming thread of a source is blocked in this
 * sink, the source cannot send EOS downstream. This sink therefore has the
 * SOURCE flag, so that the pipeline sends its EOS event to this sink too.
 *
 * The EOS event from the pipeline does not end the stream. The sink continues
 * to send data until the EOS event from the source arrives. These data may have
 * to wait for the network. When the first such wait begins, the sink sets the
 * deadline for the end of the stream to the present time plus drain-timeout. */
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
    set_ending (self, TRUE);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    set_ending (self, FALSE);
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
  priv->input = INPUT_UNKNOWN;
  priv->live_gave_up = FALSE;
  priv->last_pts = GST_CLOCK_TIME_NONE;
  gst_network_sink_begin_stream (self);
  set_ending (self, FALSE);
  LOCK (self);
  priv->generation = 0;
  UNLOCK (self);
}

/* --- the end of the stream ------------------------------------------------ */

/* Begins to drain the connection. From now on the receiver may close the
 * connection, and this does not count as a broken connection. Returns FALSE if
 * there is no connection. */
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

/* Tells the receiver that the stream has ended. Returns TRUE if the receiver
 * has all data, or if the transport cannot report this. Returns FALSE if the
 * receiver may still lack data. The caller then calls the function again, until
 * the deadline. */
static gboolean
try_drain (GstNetworkSink * self)
{
  GstNetworkSinkClass *klass = GST_NETWORK_SINK_GET_CLASS (self);
  GstNetworkSinkPrivate *priv = self->priv;
  GError *error = NULL;
  gboolean done;

  if (priv->rest) {
    finish_rest (self);
    return FALSE;
  }
  if (!klass->drain)
    return TRUE;
  if (!begin_use (self))
    return FALSE;
  done = klass->drain (self, priv->deadline, priv->send_cancellable, &error);
  end_use (self, error);
  return done;
}

/* Waits until the receiver has all data of the stream that has ended. Returns
 * GST_FLOW_OK if the receiver has all data, if the connection has broken, or if
 * the deadline has passed. Returns GST_FLOW_FLUSHING if the sink was flushed.
 */
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
  guint64 milliseconds;

  LOCK (self);
  priv->counters.eos_timeouts++;
  milliseconds = priv->eos_timeout / GST_MSECOND;
  UNLOCK (self);
  GST_ELEMENT_WARNING (self, RESOURCE, WRITE,
      ("%s did not take everything within the drain-timeout of %"
          G_GUINT64_FORMAT " ms. The rest is lost: raise drain-timeout, or "
          "lower the bitrate.", peer, milliseconds), (NULL));
  g_free (peer);
}

/* Called at the end of a stream. If the transport has connections, closes the
 * connection, by which the receiver learns that the stream has ended. A
 * connectionless transport, such as UDP, has no connection to close. Its socket
 * stays open for the next stream. */
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

/* Returns whether upstream is live. gst_base_sink_query_latency can also return
 * whether the sink synchronizes to the clock, but this is not needed here. */
static gboolean
is_stream_live (GstNetworkSink * self)
{
  gboolean is_live = FALSE;

  return gst_base_sink_query_latency (GST_BASE_SINK_CAST (self), NULL,
      &is_live, NULL, NULL) && is_live;
}

/* Returns TRUE if a stream has ended and the sink never had a connection to the
 * receiver. finish_stream then posts an error. Otherwise the application would
 * assume that the stream was sent.
 *
 * There is one exception: a live stream with auto-reconnect may end without a
 * receiver. In this case the property auto-reconnect makes the sink wait for a
 * receiver as long as the stream lasts, so the missing receiver is no error. */
static gboolean
was_never_connected (GstNetworkSink * self)
{
  GstNetworkSinkPrivate *priv = self->priv;
  gboolean is_alone, reconnects;

  LOCK (self);
  is_alone = priv->counters.connections == 0 && priv->state != STATE_FAILED;
  reconnects = priv->auto_reconnect;
  UNLOCK (self);
  return is_alone && !GST_NETWORK_SINK_GET_CLASS (self)->connectionless
      && !(reconnects && is_stream_live (self));
}

static void
post_not_connected (GstNetworkSink * self)
{
  gchar *peer = GST_NETWORK_SINK_GET_CLASS (self)->describe (self);

  GST_ELEMENT_ERROR (self, RESOURCE, WRITE,
      ("The stream has ended, and nothing of it was sent: there was no "
          "connection to %s. Start the receiver first.", peer), (NULL));
  g_free (peer);
}

static void
log_stats (GstNetworkSink * self)
{
  GstStructure *stats;

  if (gst_debug_category_get_threshold (GST_CAT_DEFAULT) < GST_LEVEL_DEBUG)
    return;
  g_object_get (self, "stats", &stats, NULL);
  GST_DEBUG_OBJECT (self, "the stream has ended: %" GST_PTR_FORMAT, stats);
  gst_structure_free (stats);
}

static GstFlowReturn
finish_stream (GstNetworkSink * self)
{
  GstNetworkSinkPrivate *priv = self->priv;
  GstFlowReturn flow = GST_FLOW_OK;
  gboolean is_missed = priv->has_input && was_never_connected (self);

  GST_DEBUG_OBJECT (self, "the stream ends: sends the rest");
  if (begin_drain (self))
    flow = drain (self);
  if (flow == GST_FLOW_OK && priv->gave_up)
    warn_of_eos_timeout (self);
  log_stats (self);
  end_connection (self);
  gst_network_sink_clear_rest (self);
  set_ending (self, FALSE);
  priv->deadline = 0;
  priv->gave_up = FALSE;
  priv->has_input = FALSE;
  /* `started` is TRUE if a receiver that connects now has missed the first
   * buffers of a stream. The stream has just ended, so a receiver that connects
   * before the next stream misses nothing. `started` therefore becomes FALSE.
   */
  priv->started = FALSE;

  LOCK (self);
  if (flow == GST_FLOW_OK && priv->state == STATE_FAILED)
    flow = GST_FLOW_ERROR;
  is_missed = is_missed && flow == GST_FLOW_OK
      && priv->counters.connections == 0;
  UNLOCK (self);
  if (flow == GST_FLOW_ERROR)
    gst_network_sink_post_error (self);
  if (!is_missed)
    return flow;
  post_not_connected (self);
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
