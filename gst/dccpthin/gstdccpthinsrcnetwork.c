/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The network of dcctpthinsrc: the thread that drives the core, from one
 * connection to the next, and what ends them.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdccpthinsrcprivate.h"

#include <string.h>

/* Between two attempts to connect: the first pause, doubled up to the longest.
 * us */
#define SHORTEST_PAUSE (100 * G_TIME_SPAN_MILLISECOND)
#define LONGEST_PAUSE (5 * G_TIME_SPAN_SECOND)

/* --- the core's events: with lock ----------------------------------------- */

/* The next buffer continues none. */
void
gst_dccp_thin_src_take_event (gpointer element, const DccpEvent * event)
{
  GstDccpThinSrc *self = element;

  if (event->type != DCCP_EVENT_CONNECTED)
    return;
  self->queue_discont = TRUE;
  dccp_endpoint_set_slow (self->end.endpoint, gst_dccp_thin_now (),
      self->is_slow);
}

/* With lock. A client has chosen whom it hears. */
gboolean
gst_dccp_thin_src_allows (gpointer element, const DatagramPath * path)
{
  GstDccpThinSrc *self = element;

  return self->end.settings.mode != GST_DCCP_THIN_MODE_LISTEN
      || gst_network_src_allows (GST_NETWORK_SRC (self), path->remote,
      path->address_size);
}

/* --- one connection ------------------------------------------------------- */

static void
set_used_socket (GstDccpThinSrc * self, GSocket * socket)
{
  GST_OBJECT_LOCK (self);
  gst_network_src_set_used_socket (GST_NETWORK_SRC (self), socket);
  GST_OBJECT_UNLOCK (self);
}

/* The socket is the thread's own meanwhile. */
static gboolean
open_end (GstDccpThinSrc * self, const GstDccpThinSettings * settings,
    GSocketAddress * remote, gboolean is_last, guint64 timeout, GError ** error)
{
  if (!gst_dccp_thin_end_open (&self->end, settings, remote, is_last, timeout,
          self->cancellable, error))
    return FALSE;
  set_used_socket (self, datagram_socket_get_socket (driver_get_socket
          (&self->end.driver, 0)));
  return TRUE;
}

static void
close_end (GstDccpThinSrc * self)
{
  set_used_socket (self, NULL);
  gst_dccp_thin_end_close (&self->end);
}

/* Until the connection that there is, or that comes, has ended; `error` says
 * how. FALSE: it was none, nobody answered */
static gboolean
run_connection (GstDccpThinSrc * self, GError ** error)
{
  gboolean was_connected;
  guint64 before;
  DccpStats stats;

  LOCK (self);
  gst_dccp_thin_end_get_stats (&self->end, &stats);
  before = stats.connections;
  self->end.is_connected = FALSE;
  g_clear_error (&self->end.broken);
  UNLOCK (self);
  driver_run (&self->end.driver, gst_dccp_thin_end_is_broken, G_MAXINT64,
      self->cancellable, error);
  LOCK (self);
  gst_dccp_thin_end_get_stats (&self->end, &stats);
  was_connected = stats.connections > before;
  if (self->end.broken && !*error)
    g_propagate_error (error, g_steal_pointer (&self->end.broken));
  gst_dccp_thin_end_take_off (&self->end);
  gst_dccp_thin_end_unlock_and_post (&self->end);
  return was_connected;
}

/* Tells the other end, without waiting for its answer. */
static void
leave (GstDccpThinSrc * self)
{
  LOCK (self);
  if (self->end.endpoint) {
    dccp_endpoint_close (self->end.endpoint, gst_dccp_thin_now ());
    driver_flush (&self->end.driver);
  }
  gst_dccp_thin_end_unlock_and_post (&self->end);
}

/* Each of the addresses that a name has, until one answers */
static gboolean
connect_once (GstDccpThinSrc * self, const GstDccpThinSettings * settings,
    guint64 timeout, GError ** error)
{
  GList *remotes = gst_dccp_thin_resolve (settings, self->cancellable, error);
  gboolean was_connected = FALSE;
  GList *walk;

  for (walk = remotes; walk && !was_connected; walk = walk->next) {
    if (g_cancellable_is_cancelled (self->cancellable) && *error)
      break;
    g_clear_error (error);
    if (!open_end (self, settings, walk->data, !walk->next, timeout, error))
      continue;
    was_connected = run_connection (self, error);
    if (g_cancellable_is_cancelled (self->cancellable))
      leave (self);
    close_end (self);
  }
  g_list_free_full (remotes, g_object_unref);
  return was_connected;
}

static gboolean
listen_once (GstDccpThinSrc * self, GError ** error)
{
  gboolean was_connected = run_connection (self, error);

  if (g_cancellable_is_cancelled (self->cancellable))
    leave (self);
  return was_connected;
}

/* --- the thread ----------------------------------------------------------- */

static GstMessage *
make_error (GstDccpThinSrc * self, const GstDccpThinSettings * settings,
    const GError * reason, gboolean was_connected)
{
  gchar *peer = gst_dccp_thin_settings_describe (settings);
  GError *error;
  GstMessage *message;

  error = g_error_new (GST_RESOURCE_ERROR, was_connected ?
      GST_RESOURCE_ERROR_READ : reason->domain == G_RESOLVER_ERROR ?
      GST_RESOURCE_ERROR_NOT_FOUND : GST_RESOURCE_ERROR_OPEN_READ,
      was_connected ? "Lost the connection with %s: %s." :
      "Could not connect to %s: %s.", peer, reason->message);
  message = gst_message_new_error (GST_OBJECT_CAST (self), error, NULL);
  g_error_free (error);
  g_free (peer);
  return message;
}

/* With lock. Close is the end of the stream, anything else an error; unless the
 * next connection goes on with it. */
static void
end_stream (GstDccpThinSrc * self, const GstDccpThinSettings * settings,
    const GError * reason, gboolean was_connected)
{
  GstMiniObject *end;

  if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_CLOSED))
    end = GST_MINI_OBJECT_CAST (gst_event_new_eos ());
  else
    end = GST_MINI_OBJECT_CAST (make_error (self, settings, reason,
            was_connected));
  gst_dccp_thin_src_queue_end (self, end);
}

/* How the attempts to connect go */
typedef struct
{
  guint64 timeout;              /* ns: connect-timeout */
  gint64 pause;                 /* us: before the next one */
  gint64 refused_until;         /* monotonic us: refusals pass; 0: none came
                                 * since the last connection */
} Attempts;

static void
pause_attempts (GstDccpThinSrc * self, Attempts * attempts)
{
  gint64 now = g_get_monotonic_time ();
  gint64 pause = attempts->pause;
  GPollFD fd;

  /* the last attempt is not later than that */
  if (attempts->refused_until > now)
    pause = MIN (pause, attempts->refused_until - now);
  if (!g_cancellable_make_pollfd (self->cancellable, &fd))
    return;
  g_poll (&fd, 1, pause / G_TIME_SPAN_MILLISECOND + 1);
  g_cancellable_release_fd (self->cancellable);
  attempts->pause = MIN (2 * attempts->pause, LONGEST_PAUSE);
}

/* A refusal is not verified where it comes by ICMP, or may come before the sender
 * listens. So it ends the attempts only after connect-timeout. */
static gboolean
may_pass (Attempts * attempts, const GError * reason)
{
  gint64 now = g_get_monotonic_time ();

  if (!g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED)
      && !g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_HOST_UNREACHABLE)
      && !g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NETWORK_UNREACHABLE))
    return FALSE;
  if (attempts->refused_until == 0)
    attempts->refused_until = attempts->timeout == 0 ? G_MAXINT64 :
        now + (gint64) (attempts->timeout / GST_USECOND);
  return now < attempts->refused_until;
}

/* TRUE: there is to be another connection */
static gboolean
take_result (GstDccpThinSrc * self, const GstDccpThinSettings * settings,
    Attempts * attempts, GError * reason, gboolean was_connected)
{
  gboolean passes = !was_connected && may_pass (attempts, reason);
  gboolean again;

  if (was_connected) {
    attempts->pause = SHORTEST_PAUSE;
    attempts->refused_until = 0;
  }
  LOCK (self);
  again = !self->stopping && (passes || !self->own.eos_at_end);
  if (!self->stopping && !again)
    end_stream (self, settings, reason, was_connected);
  UNLOCK (self);
  GST_INFO_OBJECT (self, "%s", reason->message);
  g_error_free (reason);
  return again;
}

static gpointer
run (gpointer data)
{
  GstDccpThinSrc *self = data;
  GstDccpThinSettings settings;
  Attempts attempts = {.pause = SHORTEST_PAUSE };
  gboolean was_connected;
  GError *error;

  LOCK (self);
  gst_dccp_thin_settings_copy (&settings, &self->end.settings);
  attempts.timeout = self->own.connect_timeout;
  UNLOCK (self);
  while (TRUE) {
    error = NULL;
    if (settings.mode == GST_DCCP_THIN_MODE_LISTEN)
      was_connected = listen_once (self, &error);
    else
      was_connected = connect_once (self, &settings, attempts.timeout,
          &error);
    if (!take_result (self, &settings, &attempts, error, was_connected))
      break;
    if (settings.mode == GST_DCCP_THIN_MODE_CONNECT)
      pause_attempts (self, &attempts);
  }
  close_end (self);
  gst_dccp_thin_settings_clear (&settings);
  return NULL;
}

/* --- open and close ------------------------------------------------------- */

static void
reset (GstDccpThinSrc * self)
{
  LOCK (self);
  self->stopping = FALSE;
  memset (&self->counters, 0, sizeof (self->counters));
  gst_dccp_thin_end_reset_stats (&self->end);
  gst_dccp_thin_src_clear_queue (self);
  UNLOCK (self);
  g_cancellable_reset (self->cancellable);
}

/* Who listens does so from PAUSED on, and says at once if that can't be. */
static gboolean
begin_to_listen (GstDccpThinSrc * self)
{
  guint64 timeout;

  LOCK (self);
  timeout = self->own.connect_timeout;
  UNLOCK (self);
  if (!gst_dccp_thin_end_listen (&self->end, timeout, self->cancellable,
          GST_RESOURCE_ERROR_OPEN_READ))
    return FALSE;
  if (self->end.endpoint)
    set_used_socket (self, datagram_socket_get_socket (driver_get_socket
          (&self->end.driver, 0)));
  return TRUE;
}

gboolean
gst_dccp_thin_src_open (GstDccpThinSrc * self)
{
  reset (self);
  if (!begin_to_listen (self))
    return FALSE;
  self->thread = g_thread_new ("dccpthinsrc", run, self);
  return TRUE;
}

void
gst_dccp_thin_src_close (GstDccpThinSrc * self)
{
  if (!self->thread)
    return;
  LOCK (self);
  self->stopping = TRUE;
  UNLOCK (self);
  g_cancellable_cancel (self->cancellable);
  g_clear_pointer (&self->thread, g_thread_join);
  LOCK (self);
  gst_dccp_thin_src_clear_queue (self);
  g_clear_error (&self->end.broken);
  UNLOCK (self);
}
