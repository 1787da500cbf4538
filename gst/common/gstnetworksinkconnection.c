/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The connection of GstNetworkSink and its thread. The thread connects, detects
 * that the receiver has gone, disconnects, reports errors, and tries to connect
 * again.
 */

#include "gstnetworksinkprivate.h"
#include "socketmessages.h"

/* Pause in us between two attempts to connect. It starts at MIN_PAUSE, doubles
 * after each attempt, and grows up to MAX_PAUSE. After a connection that lasted
 * at least MAX_PAUSE, it starts at MIN_PAUSE again. */
#define MIN_PAUSE (100 * G_TIME_SPAN_MILLISECOND)
#define MAX_PAUSE (5 * G_TIME_SPAN_SECOND)

const gchar *
gst_network_sink_get_state_name (ConnectionState state)
{
  static const gchar *const names[] = {
    "idle", "connecting", "pausing", "connected", "broken", "failed"
  };

  return names[state];
}

static void
set_state (GstNetworkSink * self, ConnectionState state)
{
  if (state != self->priv->state)
    GST_DEBUG_OBJECT (self, "the connection is %s, was %s",
        gst_network_sink_get_state_name (state),
        gst_network_sink_get_state_name (self->priv->state));
  self->priv->state = state;
  g_cond_broadcast (&self->priv->cond);
}

Failure
gst_network_sink_classify (const GError * error)
{
  if (error->domain == G_RESOLVER_ERROR
      || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    return FAILURE_NOT_FOUND;
  if (error->domain != G_IO_ERROR)
    return FAILURE_OTHER;
  switch (error->code) {
    case G_IO_ERROR_CLOSED:
      return FAILURE_CLOSED;
    case G_IO_ERROR_CONNECTION_CLOSED: /* ECONNRESET, EPIPE */
      return FAILURE_RESET;
    case G_IO_ERROR_TIMED_OUT:
      return FAILURE_TIMEOUT;
    case G_IO_ERROR_CONNECTION_REFUSED:
      return FAILURE_REFUSED;
    case G_IO_ERROR_HOST_UNREACHABLE:
    case G_IO_ERROR_NETWORK_UNREACHABLE:
      return FAILURE_UNREACHABLE;
    default:
      return FAILURE_OTHER;
  }
}

/* --- what went wrong ----------------------------------------------------- */

static void
post_error (GstNetworkSink * self, const GError * error, gboolean connecting)
{
  gchar *peer = GST_NETWORK_SINK_GET_CLASS (self)->describe (self);
  gchar *text = socket_error_describe (error, peer);
  const gchar *advice = socket_error_get_advice (error);

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
        ("Could not use %s.%s", text, advice), (NULL));
  else if (gst_network_sink_classify (error) == FAILURE_NOT_FOUND)
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
        ("Could not find %s: %s.%s", peer, text, advice), (NULL));
  else if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT))
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_WRITE,
        ("Could not use the settings of the connection to %s: %s.", peer,
            text), (NULL));
  else if (connecting)
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_WRITE,
        ("Could not connect to %s: %s.%s", peer, text, advice), (NULL));
  else
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE,
        ("Lost the connection to %s: %s.%s", peer, text, advice), (NULL));
  g_free (text);
  g_free (peer);
}

void
gst_network_sink_post_error (GstNetworkSink * self)
{
  GstNetworkSinkPrivate *priv = self->priv;
  gboolean connecting;
  GError *error;

  LOCK (self);
  error = g_steal_pointer (&priv->error);
  connecting = priv->error_is_of_connecting;
  UNLOCK (self);
  if (error)
    post_error (self, error, connecting);
  g_clear_error (&error);
}

/* Posts a warning about `error`. `connecting` is TRUE if an attempt to connect
 * has failed, and FALSE if an existing connection has broken. If `again` is
 * TRUE, the warning says that the element tries again. The caller sets `again`
 * to FALSE if auto-reconnect is not set, because the element may then soon give
 * up. */
static void
post_warning (GstNetworkSink * self, const GError * error,
    gboolean connecting, gboolean again)
{
  gchar *peer, *text;

  if (!gst_warning_limit_allow (&self->priv->warning_limit))
    return;
  peer = GST_NETWORK_SINK_GET_CLASS (self)->describe (self);
  text = socket_error_describe (error, peer);
  GST_ELEMENT_WARNING (self, RESOURCE, WRITE,
      ("%s %s: %s.%s%s",
          connecting ? "Could not connect to" : "Lost the connection to", peer,
          text, socket_error_get_advice (error),
          again ? " This element tries again." : ""),
      ("There is at most one such warning in 10 s."));
  g_free (text);
  g_free (peer);
}

/* Waits until the next attempt to connect. The caller holds `priv->lock`. This
 * function releases the lock while it waits. */
static void
pause_attempts (GstNetworkSink * self)
{
  GstNetworkSinkPrivate *priv = self->priv;
  gint64 now = g_get_monotonic_time ();
  gint64 end = now + priv->pause;

  /* After a refusal, attempts to connect are repeated until the time
   * refused_until. The last attempt is made at this time, so the thread must
   * not wait beyond it. If the receiver refuses the last attempt too, the
   * thread gives up. */
  if (priv->refused_until > now)
    end = MIN (end, priv->refused_until);
  GST_DEBUG_OBJECT (self, "the next attempt to connect is in %"
      G_GINT64_FORMAT " ms", (end - now) / 1000);
  set_state (self, STATE_PAUSING);
  while (priv->wanted && !priv->stopping
      && g_cond_wait_until (&priv->cond, &priv->lock, end));
  priv->pause = MIN (2 * priv->pause, MAX_PAUSE);
}

/* Returns TRUE if no connection has succeeded yet, and `error` says that a name
 * in a property does not exist. The name is a host name, or the name of
 * something on this host, such as an interface. Such a name is most likely a
 * mistake of the user. If a name server does not answer, the error is a
 * different one (G_RESOLVER_ERROR_TEMPORARY_FAILURE). The caller holds
 * `priv->lock`. */
static gboolean
is_unknown_name (GstNetworkSink * self, const GError * error)
{
  return self->priv->counters.connections == 0
      && (g_error_matches (error, G_RESOLVER_ERROR, G_RESOLVER_ERROR_NOT_FOUND)
      || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND));
}

/* Returns whether a further attempt to connect would fail in the same way. This
 * is the case if a setting is invalid or the host name does not exist. In a
 * connectionless transport, such as UDP, it is also the case if the operation
 * is not permitted or not supported: such an error comes from this host and not
 * from the network. */
static gboolean
is_final (GstNetworkSink * self, const GError * error)
{
  return g_error_matches (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT)
      || is_unknown_name (self, error)
      || (GST_NETWORK_SINK_GET_CLASS (self)->connectionless
      && (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED)
          || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED)));
}

/* Returns TRUE if an attempt to connect was refused and should be repeated. A
 * further attempt may succeed, because the receiver may not listen yet, or
 * because the refusal may be forged. The attempts are repeated until the time
 * peer-timeout has passed since the first refusal. Called with the lock. */
static gboolean
is_transient_refusal (GstNetworkSink * self, const GError * error,
    gboolean connecting)
{
  GstNetworkSinkPrivate *priv = self->priv;
  Failure failure = gst_network_sink_classify (error);
  gint64 now = g_get_monotonic_time ();

  if (!connecting || !GST_NETWORK_SINK_GET_CLASS (self)->refusals_pass
      || (failure != FAILURE_REFUSED && failure != FAILURE_UNREACHABLE))
    return FALSE;
  if (priv->refused_until == 0)
    priv->refused_until = priv->timeout == 0 ? G_MAXINT64 :
        now + (gint64) (priv->timeout / GST_USECOND);
  return now < priv->refused_until;
}

/* Called after an attempt to connect has failed, or after a connection has
 * broken, because of `error`. Either waits until the next attempt, or gives up
 * and stores the error, which is then posted. The caller holds the lock. This
 * function releases the lock for a while and takes it again. Takes ownership of
 * `error`. */
static void
handle_failure (GstNetworkSink * self, GError * error, gboolean connecting)
{
  GstNetworkSinkPrivate *priv = self->priv;
  const gboolean forever = priv->auto_reconnect && !is_final (self, error);
  const gboolean again = forever || (!is_final (self, error)
      && is_transient_refusal (self, error, connecting));

  GST_INFO_OBJECT (self, "%s: %s; %s",
      connecting ? "could not connect" : "lost the connection", error->message,
      again ? "tries again" : "gives up");
  priv->counters.failures[gst_network_sink_classify (error)]++;
  if (again) {
    UNLOCK (self);
    post_warning (self, error, connecting, forever);
    g_error_free (error);
    LOCK (self);
    pause_attempts (self);
    return;
  }
  g_clear_error (&priv->error);
  priv->error = error;
  priv->error_is_of_connecting = connecting;
  priv->wanted = FALSE;
  priv->refused_until = 0;
  set_state (self, STATE_FAILED);
  /* The connection's thread posts an error itself only if an established
   * connection breaks while the pipeline is playing. In all other cases, it
   * leaves this to the streaming thread. The reason is that the application may
   * not watch the bus yet while the pipeline is on its way to PAUSED.
   *
   * On the way to PLAYING, buffers are sent before the state is PLAYING. The
   * target state is PLAYING already, so it is compared instead. */
  if (connecting || GST_STATE_TARGET (self) != GST_STATE_PLAYING)
    return;
  UNLOCK (self);
  gst_network_sink_post_error (self);
  LOCK (self);
}

/* --- connect, watch, disconnect -------------------------------------------
 *
 * The caller of each function in this section holds the lock. The functions
 * release the lock while they wait, and hold it again when they return. */

static gboolean
connect_once (GstNetworkSink * self)
{
  GstNetworkSinkPrivate *priv = self->priv;
  GError *error = NULL;
  gboolean connected;

  set_state (self, STATE_CONNECTING);
  priv->counters.connect_attempts++;
  g_cancellable_reset (priv->connection_cancellable);
  UNLOCK (self);
  connected = GST_NETWORK_SINK_GET_CLASS (self)->connect (self,
      priv->connection_cancellable, &error);
  LOCK (self);

  if (connected) {
    priv->counters.connections++;
    priv->generation++;
    priv->connected_at = g_get_monotonic_time ();
    priv->refused_until = 0;
    set_state (self, STATE_CONNECTED);
    return TRUE;
  }
  if (priv->wanted && !priv->stopping)
    handle_failure (self, error, TRUE);
  else
    g_error_free (error);
  return FALSE;
}

static void
watch_once (GstNetworkSink * self)
{
  GstNetworkSinkClass *klass = GST_NETWORK_SINK_GET_CLASS (self);
  GstNetworkSinkPrivate *priv = self->priv;
  GError *error = NULL;

  if (!klass->watch || priv->draining) {
    g_cond_wait (&priv->cond, &priv->lock);
    return;
  }
  g_cancellable_reset (priv->connection_cancellable);
  priv->watching = TRUE;
  UNLOCK (self);
  klass->watch (self, priv->connection_cancellable, &error);
  LOCK (self);
  priv->watching = FALSE;
  g_cond_broadcast (&priv->cond);

  if (!error)
    return;
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_error_free (error);
  else
    gst_network_sink_break_connection (self, error);
}

static void
watch_connection (GstNetworkSink * self)
{
  GstNetworkSinkPrivate *priv = self->priv;

  while (priv->state == STATE_CONNECTED && priv->wanted && !priv->stopping)
    watch_once (self);
}

static void
disconnect (GstNetworkSink * self)
{
  GstNetworkSinkPrivate *priv = self->priv;
  GError *error;
  gboolean reset;

  priv->awaited = TRUE;
  while (priv->using)
    g_cond_wait (&priv->cond, &priv->lock);
  priv->awaited = FALSE;
  error = g_steal_pointer (&priv->failure);
  /* The connection is reset instead of closed in two cases:
   *
   * - A buffer was sent only in part. The receiver learns by the reset that its
   *   last frame is incomplete.
   * - The receiver has accepted no data for too long. The kernel then still
   *   holds data for the receiver, and the reset discards these data. */
  reset = priv->torn
      || (error && gst_network_sink_classify (error) == FAILURE_TIMEOUT);
  UNLOCK (self);
  GST_DEBUG_OBJECT (self, reset ? "resets the connection" :
      "closes the connection");
  GST_NETWORK_SINK_GET_CLASS (self)->disconnect (self, reset);
  LOCK (self);
  priv->torn = FALSE;

  if (g_get_monotonic_time () - priv->connected_at >= MAX_PAUSE)
    priv->pause = MIN_PAUSE;
  if (error && priv->wanted && !priv->stopping)
    handle_failure (self, error, FALSE);
  else
    g_clear_error (&error);
}

/* --- the thread ---------------------------------------------------------- */

/* Waits until the sink needs a connection. Returns FALSE if the thread must
 * end. The caller holds `priv->lock`. This function releases the lock while it
 * waits. */
static gboolean
wait_until_wanted (GstNetworkSink * self)
{
  GstNetworkSinkPrivate *priv = self->priv;

  if (!priv->wanted && priv->state != STATE_FAILED)
    set_state (self, STATE_IDLE);
  while (!priv->stopping && !priv->wanted)
    g_cond_wait (&priv->cond, &priv->lock);
  return !priv->stopping;
}

static gpointer
run (gpointer data)
{
  GstNetworkSink *self = data;

  LOCK (self);
  while (wait_until_wanted (self)) {
    if (!connect_once (self))
      continue;
    watch_connection (self);
    disconnect (self);
  }
  set_state (self, STATE_IDLE);
  UNLOCK (self);
  return NULL;
}

void
gst_network_sink_start_connection (GstNetworkSink * self)
{
  GstNetworkSinkPrivate *priv = self->priv;

  LOCK (self);
  memset (&priv->counters, 0, sizeof (priv->counters));
  g_clear_error (&priv->error);
  priv->stopping = FALSE;
  priv->draining = FALSE;
  priv->end_asked = FALSE;
  priv->wanted = TRUE;
  priv->state = STATE_CONNECTING;
  UNLOCK (self);
  priv->pause = MIN_PAUSE;
  gst_warning_limit_reset (&priv->warning_limit);
  priv->refused_until = 0;
  priv->thread = g_thread_new ("network-sink", run, self);
}

void
gst_network_sink_cancel_connection (GstNetworkSink * self)
{
  LOCK (self);
  self->priv->stopping = TRUE;
  g_cancellable_cancel (self->priv->connection_cancellable);
  g_cond_broadcast (&self->priv->cond);
  UNLOCK (self);
}

void
gst_network_sink_join_connection (GstNetworkSink * self)
{
  g_clear_pointer (&self->priv->thread, g_thread_join);
}

/* --- called by the streaming thread -------------------------------------- */

void
gst_network_sink_break_connection (GstNetworkSink * self, GError * error)
{
  GstNetworkSinkPrivate *priv = self->priv;

  if (priv->state != STATE_CONNECTED) {
    g_error_free (error);
    return;
  }
  priv->failure = error;
  set_state (self, STATE_BROKEN);
  g_cancellable_cancel (priv->connection_cancellable);
  g_cancellable_cancel (priv->send_cancellable);
}

void
gst_network_sink_end_connection (GstNetworkSink * self)
{
  GstNetworkSinkPrivate *priv = self->priv;

  LOCK (self);
  /* If the connection is broken, the connection's thread still has to report
   * the error. Wait until it has done so. */
  while (priv->state == STATE_BROKEN && !priv->stopping)
    g_cond_wait (&priv->cond, &priv->lock);
  priv->draining = FALSE;
  priv->wanted = FALSE;
  g_cancellable_cancel (priv->connection_cancellable);
  g_cond_broadcast (&priv->cond);
  while (priv->state != STATE_IDLE && priv->state != STATE_FAILED
      && !priv->stopping)
    g_cond_wait (&priv->cond, &priv->lock);
  UNLOCK (self);
}
