/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a session of mmtpsink, from the handshake to the end. Also implements
 * the callbacks of the driver (driver.h), which does the network I/O for the
 * session.
 */

#include "gstmmtpsinkprivate.h"

#include <string.h>

#include "gsttrace.h"
#include "mmtpreceiver.h"
#include "systemrandom.h"

/* --- callbacks, which the driver calls with `lock` held ------------------- */

gboolean
gst_mmtp_sink_has_room (GstMmtpSink * self, guint64 now, gsize size)
{
  return mmtp_sender_has_room (self->sender, now)
      && mmtp_sender_fits (self->sender, size);
}

static void
tell_room (gpointer element)
{
  GstMmtpSink *self = element;

  if (!self->wants_room || !gst_mmtp_sink_has_room (self, gst_mmtp_now (),
          self->wanted_bytes))
    return;
  self->wants_room = FALSE;
  gst_waker_wake (&self->room);
}

static void
note_heard (gpointer element, guint number)
{
  GstMmtpSink *self = element;

  mmtp_retry_note_heard (&self->by_number[number]->retry, gst_mmtp_now ());
}

static void
note_sent (gpointer element, guint number)
{
  GstMmtpSink *self = element;

  mmtp_retry_note_sent (&self->by_number[number]->retry, gst_mmtp_now ());
}

/* Returns whether an error of the socket can be ignored. An error can be
 * ignored if it is transient, or if the path will be detected as silent anyway.
 * After any other error, the path is closed immediately. */
static gboolean
is_transient_error (const GError * error)
{
  return g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED)
      || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_HOST_UNREACHABLE)
      || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED)
      || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE);
}

static gboolean
take_error (gpointer element, guint number, const GError * error)
{
  GstMmtpSink *self = element;
  GstMmtpSinkPath *path = self->by_number[number];

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED))
    mmtp_retry_note_refused (&path->retry);
  if (is_transient_error (error))
    return TRUE;
  mmtp_retry_note_gone (&path->retry, g_error_matches (error, G_IO_ERROR,
          G_IO_ERROR_MESSAGE_TOO_LARGE));
  g_clear_error (&path->gone);
  path->gone = g_error_copy (error);
  return FALSE;
}

static void
prepare (gpointer element)
{
  gst_mmtp_sink_update_paths (element);
  gst_mmtp_sink_log (element);
}

static guint64
next_wakeup (gpointer element)
{
  return MIN (gst_mmtp_sink_get_retry_time (element),
      gst_mmtp_sink_get_log_time (element));
}

/* Returns TRUE if at least one path is open and every open path has received an
 * ICMP error. In this case, probably no receiver listens at the addresses to
 * which the paths send. */
static gboolean
is_refused (GstMmtpSink * self)
{
  const guint64 now = gst_mmtp_now ();
  gboolean any = FALSE;
  guint i;

  for (i = 0; i < self->paths->len; i++) {
    const GstMmtpSinkPath *path = g_ptr_array_index (self->paths, i);

    if (!path->retry.is_open)
      continue;
    any = TRUE;
    if (!mmtp_retry_is_refused (&path->retry, now, self->is_ready))
      return FALSE;
  }
  return any;
}

/* Checks during driver_run () whether the session can continue. If it cannot,
 * returns FALSE and sets `error`. */
static gboolean
check_session (gpointer element, GError ** error)
{
  GstMmtpSink *self = element;
  gchar *problem;

  if (self->broken) {
    g_propagate_error (error, g_steal_pointer (&self->broken));
    return FALSE;
  }
  if (is_refused (self)) {
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED,
        "Connection refused");
    return FALSE;
  }
  problem = self->is_ready ? NULL : gst_mmtp_sink_get_path_problem (self);
  if (!problem)
    return TRUE;
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED, problem);
  g_free (problem);
  return FALSE;
}

static void
trace (gpointer element, gboolean is_packet, const gchar * format, va_list args)
{
  gst_wireless_trace (GST_CAT_DEFAULT, element, is_packet, format, args);
}

const DriverFuncs gst_mmtp_sink_driver_funcs = {
  .take_event = gst_mmtp_sink_take_event,
  .note_heard = note_heard,
  .note_sent = note_sent,
  .take_error = take_error,
  .prepare = prepare,
  .note_flushed = tell_room,
  .next_wakeup = next_wakeup,
  .check = check_session,
  .unlock_and_post = gst_mmtp_sink_unlock_and_post,
  .trace = trace,
};

static gboolean
is_never (gpointer element)
{
  return FALSE;
}

static gboolean
is_ready (gpointer element)
{
  return GST_MMTP_SINK (element)->is_ready;
}

static gboolean
has_ended (gpointer element)
{
  return GST_MMTP_SINK (element)->has_ended;
}

/* --- functions for the base class ----------------------------------------- */

/* Call with `lock` held. */
static gboolean
fill_config (GstMmtpSink * self, MmtpSenderConfig * config,
    GstClockTime timeout, GError ** error)
{
  const GstMmtpSinkSettings *settings = &self->settings;

  mmtp_sender_config_init (config);
  config->max_delay = settings->latency * GST_MSECOND;
  config->initial_delay = settings->initial_delay * GST_MSECOND;
  config->max_lateness = MMTP_SENDER_LATENESS;
  config->keepalive_period = settings->keepalive_interval * GST_MSECOND;
  /* If no timeout is set, the session never times out. MMTP_NEVER / 2 is used
   * instead of MMTP_NEVER, because the sum of a time and MMTP_NEVER would
   * overflow. */
  config->session_timeout = timeout > 0 ? timeout : MMTP_NEVER / 2;
  config->bit_rate = settings->bitrate;
  config->frame_period = self->frame_period;
  config->max_bytes = settings->max_bytes;
  config->retransmit = settings->retransmit;
  config->padding_rate = settings->padding_bitrate;
  config->scheduler = settings->scheduler;
  return gst_mmtp_parse_key (settings->key, &config->key, error);
}

static gboolean
begin_session (GstMmtpSink * self, GError ** error)
{
  GstClockTime timeout = gst_network_sink_get_timeout (GST_NETWORK_SINK (self));
  gboolean stored = !gst_base_sink_get_sync (GST_BASE_SINK (self));
  guint8 entropy[MMTP_ENTROPY_SIZE];
  MmtpSenderConfig config;

  if (!system_random_fill (entropy, sizeof (entropy), error))
    return FALSE;
  LOCK (self);
  if (!fill_config (self, &config, timeout, error)) {
    UNLOCK (self);
    return FALSE;
  }
  config.stored = stored;
  self->sender = mmtp_sender_new (&config, entropy);
  driver_begin (&self->driver, &mmtp_sender_verbs, self->sender,
      MMTP_MAX_RECEIVER_MESSAGE);
  g_clear_pointer (&config.key, g_bytes_unref);
  memset (entropy, 0, sizeof (entropy));
  if (self->caps)
    mmtp_sender_set_caps (self->sender, gst_mmtp_now (), self->caps);
  self->is_ready = FALSE;
  self->has_ended = FALSE;
  self->tell_rate = self->frame_rate > 0 || self->settings.bitrate > 0;
  self->paths_changed = TRUE;
  UNLOCK (self);
  return TRUE;
}

/* Drops and reports the buffers that are still waiting, because they are lost
 * with the session. Call with `lock` held. */
static void
give_up_all (GstMmtpSink * self)
{
  MmtpSenderEvent event;

  mmtp_sender_give_up_all (self->sender, gst_mmtp_now ());
  while (mmtp_sender_poll_event (self->sender, &event))
    gst_mmtp_sink_take_event (self, &event);
}

/* Closes the session. Sends END once and does not wait for an answer. END is
 * necessary because the receiver accepts no other sender during a session.
 * Without END, the receiver would have to detect the end by a timeout.
 *
 * END is not sent if the receiver already has the whole stream, if the session
 * is broken, or if `reset` is TRUE. */
static void
end_session (GstMmtpSink * self, gboolean reset)
{
  LOCK (self);
  give_up_all (self);
  if (!reset && !self->has_ended && !self->broken) {
    mmtp_sender_flush (self->sender, gst_mmtp_now ());
    mmtp_sender_end (self->sender, gst_mmtp_now ());
    driver_flush (&self->driver);
  }
  gst_mmtp_sink_close_paths (self);
  driver_end (&self->driver);
  gst_mmtp_sink_keep_stats (self);
  g_clear_pointer (&self->sender, mmtp_sender_free);
  g_clear_error (&self->broken);
  self->wants_room = FALSE;
  g_clear_pointer (&self->block.bytes, g_bytes_unref);
  gst_mmtp_sink_unlock_and_post (self);
}

/* Called when a session has begun. If the receiver may have missed the
 * beginning of the stream, requests a key frame, because decoding can begin
 * only at a key frame. */
static void
note_session_begun (GstMmtpSink * self)
{
  gboolean waits;

  g_object_get (self, "wait-for-connection", &waits, NULL);
  LOCK (self);
  if (self->sessions > 0 || !waits)
    gst_mmtp_sink_ask_for_key_unit (self);
  self->sessions++;
  gst_mmtp_sink_unlock_and_post (self);
}

static gint64
get_deadline (GstMmtpSink * self)
{
  GstClockTime timeout = gst_network_sink_get_timeout (GST_NETWORK_SINK (self));

  return timeout == 0 ? G_MAXINT64 :
      g_get_monotonic_time () + (gint64) (timeout / GST_USECOND);
}

static GError *
make_timeout (GstMmtpSink * self)
{
  const gdouble seconds =
      gst_network_sink_get_timeout (GST_NETWORK_SINK (self)) /
      (gdouble) GST_SECOND;
  MmtpRefuseReason reason;
  GError *refusal, *error;
  guint version;

  LOCK (self);
  reason = mmtp_sender_get_unverified_refusal (self->sender, &version);
  UNLOCK (self);
  if (reason == 0)
    return g_error_new (G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
        "no answer within %g s", seconds);
  refusal = gst_mmtp_sink_make_refusal (reason, version);
  error = g_error_new (G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
      "no valid answer within %g s; an unverified answer said: %s", seconds,
      refusal->message);
  g_error_free (refusal);
  return error;
}

gboolean
gst_mmtp_sink_connect (GstNetworkSink * sink, GCancellable * cancellable,
    GError ** error)
{
  GstMmtpSink *self = GST_MMTP_SINK (sink);
  GError *local_error = NULL;

  if (!gst_mmtp_sink_resolve (self, cancellable, &local_error)) {
    if (g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
      g_prefix_error (&local_error, "channels: ");
    g_propagate_error (error, local_error);
    return FALSE;
  }
  if (!begin_session (self, error))
    return FALSE;
  if (driver_run (&self->driver, is_ready, get_deadline (self), cancellable,
          &local_error)) {
    note_session_begun (self);
    return TRUE;
  }
  if (!local_error)
    local_error = make_timeout (self);
  g_propagate_error (error, local_error);
  end_session (self, FALSE);
  return FALSE;
}

void
gst_mmtp_sink_watch (GstNetworkSink * sink, GCancellable * cancellable,
    GError ** error)
{
  driver_run (&GST_MMTP_SINK (sink)->driver, is_never, G_MAXINT64, cancellable,
      error);
}

gboolean
gst_mmtp_sink_drain (GstNetworkSink * sink, gint64 deadline,
    GCancellable * cancellable, GError ** error)
{
  GstMmtpSink *self = GST_MMTP_SINK (sink);
  GError *local_error = NULL;
  gboolean done;

  LOCK (self);
  mmtp_sender_end (self->sender, gst_mmtp_now ());
  UNLOCK (self);
  done = driver_run (&self->driver, has_ended, deadline, cancellable,
      &local_error);
  if (g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_clear_error (&local_error);
  if (local_error)
    g_propagate_error (error, local_error);
  return done;
}

void
gst_mmtp_sink_disconnect (GstNetworkSink * sink, gboolean reset)
{
  end_session (GST_MMTP_SINK (sink), reset);
}
