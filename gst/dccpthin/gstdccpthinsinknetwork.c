/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A connection of dcctpthinsink: from the handshake on, at the rate that is
 * allowed, to the end.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdccpthinsinkprivate.h"

#include <string.h>

/* --- connecting ----------------------------------------------------------- */

/* A frame's packets wait no longer for the pacing, however slow the frames are */
#define MOST_PATIENCE (100 * GST_MSECOND)

static gboolean
is_connected_or_broken (gpointer data)
{
  GstDccpThinEnd *end = data;

  return end->is_connected || end->broken;
}

static void
begin (GstDccpThinSink * self, GstDccpThinSettings * settings)
{
  LOCK (self);
  gst_dccp_thin_settings_copy (settings, &self->end.settings);
  self->end.is_connected = FALSE;
  self->end.is_closing = FALSE;
  g_clear_error (&self->end.broken);
  UNLOCK (self);
  self->had_to_wait = FALSE;
  self->frame_pts = self->frame_period = GST_CLOCK_TIME_NONE;
  self->frame_is_over = TRUE;
}

/* FALSE: error */
static gboolean
wait_for_connection (GstDccpThinSink * self, GCancellable * cancellable,
    GError ** error)
{
  if (!driver_run (&self->end.driver, is_connected_or_broken, G_MAXINT64,
          cancellable, error))
    return FALSE;
  LOCK (self);
  if (self->end.broken)
    g_propagate_error (error, g_steal_pointer (&self->end.broken));
  UNLOCK (self);
  return !*error;
}

static gboolean
open_end (GstDccpThinSink * self, const GstDccpThinSettings * settings,
    GSocketAddress * remote, gboolean is_last, GCancellable * cancellable,
    GError ** error)
{
  if (gst_dccp_thin_end_open (&self->end, settings, remote, is_last,
          gst_network_sink_get_timeout (GST_NETWORK_SINK (self)), cancellable,
          error))
    return TRUE;
  /* no second attempt may more */
  if (g_error_matches (*error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED))
    (*error)->code = G_IO_ERROR_INVALID_ARGUMENT;
  return FALSE;
}

/* A Reset has the numbers of our Request: unlike ICMP it is no refusal that may
 * pass. */
static void
tell_reset_from_icmp (GstDccpThinSink * self, GError * error)
{
  LOCK (self);
  if (!self->end.refusal
      && g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED))
    error->code = G_IO_ERROR_CONNECTION_CLOSED;
  UNLOCK (self);
}

static gboolean
connect_to (GstDccpThinSink * self, const GstDccpThinSettings * settings,
    GSocketAddress * remote, gboolean is_last, GCancellable * cancellable,
    GError ** error)
{
  LOCK (self);
  g_clear_error (&self->end.broken);
  UNLOCK (self);
  if (!open_end (self, settings, remote, is_last, cancellable, error))
    return FALSE;
  if (wait_for_connection (self, cancellable, error))
    return TRUE;
  tell_reset_from_icmp (self, *error);
  gst_dccp_thin_end_close (&self->end);
  return FALSE;
}

/* Each of the addresses that a name has, until one answers; the last one may take
 * its time. */
static gboolean
connect_to_any (GstDccpThinSink * self, const GstDccpThinSettings * settings,
    GCancellable * cancellable, GError ** error)
{
  GList *remotes = gst_dccp_thin_resolve (settings, cancellable, error);
  gboolean done = FALSE;
  GList *walk;

  for (walk = remotes; walk && !done; walk = walk->next) {
    if (g_cancellable_is_cancelled (cancellable) && *error)
      break;
    g_clear_error (error);
    done = connect_to (self, settings, walk->data, !walk->next, cancellable,
        error);
  }
  g_list_free_full (remotes, g_object_unref);
  return done;
}

/* Who listens does so from PAUSED on, and says at once if that can't be. */
gboolean
gst_dccp_thin_sink_listen (GstDccpThinSink * self)
{
  return gst_dccp_thin_end_listen (&self->end,
      gst_network_sink_get_timeout (GST_NETWORK_SINK (self)), NULL,
      GST_RESOURCE_ERROR_OPEN_WRITE);
}

/* It goes on to listen from one receiver to the next, and begins again behind the
 * end of a stream. */
static gboolean
listen_for_one (GstDccpThinSink * self, const GstDccpThinSettings * settings,
    GCancellable * cancellable, GError ** error)
{
  gboolean listens;

  LOCK (self);
  listens = self->end.endpoint != NULL;
  UNLOCK (self);
  if (!listens && !open_end (self, settings, NULL, TRUE, cancellable, error))
    return FALSE;
  return wait_for_connection (self, cancellable, error);
}

gboolean
gst_dccp_thin_sink_connect (GstNetworkSink * sink, GCancellable * cancellable,
    GError ** error)
{
  GstDccpThinSink *self = GST_DCCP_THIN_SINK (sink);
  GstDccpThinSettings settings;
  GError *local_error = NULL;
  gboolean done;

  begin (self, &settings);
  if (settings.mode == GST_DCCP_THIN_MODE_LISTEN)
    done = listen_for_one (self, &settings, cancellable, &local_error);
  else
    done = connect_to_any (self, &settings, cancellable, &local_error);
  gst_dccp_thin_settings_clear (&settings);
  if (local_error)
    g_propagate_error (error, local_error);
  return done;
}

/* --- while it lasts ------------------------------------------------------- */

void
gst_dccp_thin_sink_watch (GstNetworkSink * sink, GCancellable * cancellable,
    GError ** error)
{
  GstDccpThinSink *self = GST_DCCP_THIN_SINK (sink);

  if (!driver_run (&self->end.driver, gst_dccp_thin_end_is_broken, G_MAXINT64,
          cancellable, error))
    return;
  LOCK (self);
  g_propagate_error (error, g_steal_pointer (&self->end.broken));
  UNLOCK (self);
}

/* --- sending -------------------------------------------------------------- */

/* With lock: `wait` returns at that time, or when there is more to say. */
static GstNetworkSinkResult
wait_until (GstDccpThinSink * self, guint64 time, GstNetworkSinkResult result)
{
  gst_waker_reset (&self->room);
  self->waits_until = time;
  return result;
}

/* With lock */
static void
note_key_packet (GstDccpThinSink * self, GstBuffer * buffer,
    guint64 sequence)
{
  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT))
    self->has_delta_units = TRUE;
  else if (self->has_delta_units)
    dccp_history_set (&self->key_packets, sequence);
}

/* Upstream brings the packets of a frame at once, and TFRC paces them: with
 * blocking=false they may wait while their frame lasts, nearly, so that the next one
 * is not late for it. */
static void
note_frame (GstDccpThinSink * self, GstBuffer * buffer, guint64 now)
{
  const GstClockTime pts = GST_BUFFER_PTS (buffer), last = self->frame_pts;
  GstClockTime patience;

  if (pts == last && !self->frame_is_over)
    return;
  if (GST_CLOCK_TIME_IS_VALID (pts) && GST_CLOCK_TIME_IS_VALID (last)
      && pts != last)
    self->frame_period = MIN (self->frame_period, pts > last ? pts - last
        : last - pts);
  patience = GST_CLOCK_TIME_IS_VALID (self->frame_period) ?
      MIN (self->frame_period / 10 * 9, MOST_PATIENCE) :
      gst_base_sink_get_processing_deadline (GST_BASE_SINK (self));
  self->frame_pts = pts;
  self->frame_is_over = FALSE;
  self->frame_until = now + patience;
}

static gboolean
may_wait (GstDccpThinSink * self, guint64 until)
{
  if (gst_network_sink_get_blocking (GST_NETWORK_SINK (self))
      || until <= self->frame_until)
    return TRUE;
  self->frame_is_over = TRUE;   /* what is left of it will be dropped */
  return FALSE;
}

/* With lock. SENT: one packet more, whose map stays; otherwise why not */
static GstNetworkSinkResult
put_packet (GstDccpThinSink * self, GstBuffer * buffer, GstMapInfo * map,
    gboolean more, guint64 now)
{
  guint64 next = dccp_endpoint_next_send (self->end.endpoint, now);
  guint64 sequence;

  note_frame (self, buffer, now);
  if (next > now) {
    self->had_to_wait = TRUE;
    return wait_until (self, next, may_wait (self, next) ?
        GST_NETWORK_SINK_EARLY : GST_NETWORK_SINK_FULL);
  }
  if (!gst_buffer_map (buffer, map, GST_MAP_READ))
    return GST_NETWORK_SINK_UNSENDABLE;
  if (!dccp_endpoint_put (self->end.endpoint, now, map->data, map->size,
          more || self->had_to_wait, &sequence)) {
    self->too_long = map->size;
    self->longest = dccp_endpoint_get_max_payload (self->end.endpoint);
    gst_buffer_unmap (buffer, map);
    return GST_NETWORK_SINK_UNSENDABLE;
  }
  note_key_packet (self, buffer, sequence);
  self->had_to_wait = FALSE;
  self->frame_is_over = GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_MARKER);
  return GST_NETWORK_SINK_SENT;
}

GstNetworkSinkResult
gst_dccp_thin_sink_send_packets (GstNetworkSink * sink, GstBuffer ** buffers,
    guint n, guint * sent, GError ** error)
{
  GstDccpThinSink *self = GST_DCCP_THIN_SINK (sink);
  GstNetworkSinkResult result = GST_NETWORK_SINK_SENT;
  GstMapInfo maps[DCCP_MAX_PUT];
  guint64 now = gst_dccp_thin_now ();
  guint i, n_put = 0;

  n = MIN (n, DCCP_MAX_PUT);
  LOCK (self);
  if (driver_is_blocked (&self->end.driver, 0)) {
    result = wait_until (self, G_MAXUINT64, GST_NETWORK_SINK_FULL);
    n = 0;
  }
  while (n_put < n) {
    result = put_packet (self, buffers[n_put], &maps[n_put], n_put + 1 < n,
        now);
    if (result != GST_NETWORK_SINK_SENT)
      break;
    n_put++;
  }
  driver_flush (&self->end.driver);
  driver_wake (&self->end.driver, FALSE);
  gst_dccp_thin_sink_unlock_and_tell (self);
  for (i = 0; i < n_put; i++)
    gst_buffer_unmap (buffers[i], &maps[i]);
  *sent = n_put;
  return result;
}

void
gst_dccp_thin_sink_wait (GstNetworkSink * sink, gint64 timeout,
    GCancellable * cancellable)
{
  GstDccpThinSink *self = GST_DCCP_THIN_SINK (sink);
  GstClockTime wait = timeout < 0 ? GST_CLOCK_TIME_NONE : timeout * GST_USECOND;
  guint64 now = gst_dccp_thin_now ();

  LOCK (self);
  if (self->waits_until < G_MAXUINT64)
    wait = MIN (wait, self->waits_until - MIN (now, self->waits_until));
  UNLOCK (self);
  gst_waker_wait (&self->room, wait, cancellable);
  LOCK (self);
  self->waits_until = 0;
  UNLOCK (self);
}

/* --- the end -------------------------------------------------------------- */

static void
begin_to_close (GstDccpThinSink * self)
{
  LOCK (self);
  if (!self->end.is_closing)
    dccp_endpoint_close (self->end.endpoint, gst_dccp_thin_now ());
  self->end.is_closing = TRUE;
  UNLOCK (self);
}

/* Who closed as well, or has gone, has taken what there was. */
static gboolean
has_gone (const GError * error)
{
  return g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CLOSED)
      || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED);
}

gboolean
gst_dccp_thin_sink_drain (GstNetworkSink * sink, gint64 deadline,
    GCancellable * cancellable, GError ** error)
{
  GstDccpThinSink *self = GST_DCCP_THIN_SINK (sink);
  GError *local_error = NULL;
  gboolean done;

  begin_to_close (self);
  done = driver_run (&self->end.driver, gst_dccp_thin_end_is_broken, deadline,
      cancellable, &local_error);
  LOCK (self);
  if (done)
    local_error = g_steal_pointer (&self->end.broken);
  UNLOCK (self);
  if (has_gone (local_error)) {
    done = TRUE;
    g_clear_error (&local_error);
  }
  if (g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_clear_error (&local_error);
  if (local_error)
    g_propagate_error (error, local_error);
  return done;
}

/* Told once, without waiting, when nobody did wait for the end of the stream. */
void
gst_dccp_thin_sink_disconnect (GstNetworkSink * sink, gboolean reset)
{
  GstDccpThinSink *self = GST_DCCP_THIN_SINK (sink);
  gboolean goes_on;

  LOCK (self);
  goes_on = self->end.settings.mode == GST_DCCP_THIN_MODE_LISTEN
      && !self->end.is_closing;
  if (self->end.endpoint) {
    if (reset || self->end.is_closing)
      dccp_endpoint_abort (self->end.endpoint, gst_dccp_thin_now ());
    else
      dccp_endpoint_close (self->end.endpoint, gst_dccp_thin_now ());
    driver_flush (&self->end.driver);
  }
  gst_dccp_thin_end_take_off (&self->end);
  gst_dccp_thin_sink_unlock_and_tell (self);
  if (!goes_on)
    gst_dccp_thin_end_close (&self->end);
}
