/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decides which buffers GstNetworkSink sends. A frame is sent completely or not
 * at all, and a new receiver gets a key frame first. All functions run in the
 * streaming thread.
 */

#include "gstnetworksinkprivate.h"

#include "gstframeinfometa.h"
#include "gstwirelessevents.h"

/* Maximum number of frames that are dropped while a new receiver waits for a
 * key frame. If none of so many frames is a key frame, the sink assumes that
 * the stream does not mark its key frames, and sends the next frame. */
#define MAX_FRAMES_WITHOUT_KEY 600

/* --- choice of buffers
 * -------------------------------------------------------- */

void
gst_network_sink_clear_rest (GstNetworkSink * self)
{
  gst_clear_buffer (&self->priv->rest);
  self->priv->rest_offset = 0;
}

static gboolean
ends_frame (GstNetworkSink * self, GstBuffer * buffer)
{
  return GST_NETWORK_SINK_GET_CLASS (self)->whole_frames
      || GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_MARKER);
}

void
gst_network_sink_pass_buffer (GstNetworkSink * self, GstBuffer * buffer)
{
  GstNetworkSinkPrivate *priv = self->priv;

  priv->started = TRUE;
  priv->in_frame = !ends_frame (self, buffer);
  priv->last_pts = GST_BUFFER_PTS (buffer);
  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_MARKER))
    priv->have_markers = TRUE;
  if (!priv->in_frame)
    priv->skips_frame = FALSE;
}

/* Returns whether `buffer` belongs to the same frame as the previous buffer.
 * The end of a frame is known from the flag MARKER on its last buffer, or from
 * a different PTS of the next buffer. If the stream has neither markers nor
 * PTS, the function returns FALSE. */
static gboolean
continues_frame (GstNetworkSink * self, GstBuffer * buffer)
{
  GstNetworkSinkPrivate *priv = self->priv;

  if (!priv->in_frame)
    return FALSE;
  if (GST_CLOCK_TIME_IS_VALID (priv->last_pts)
      && GST_BUFFER_PTS_IS_VALID (buffer))
    return priv->last_pts == GST_BUFFER_PTS (buffer);
  return priv->have_markers;
}

static void
log_drop (GstNetworkSink * self, GstBuffer * buffer, DropReason reason)
{
  /* For each DropReason: name of the statistics counter, and its meaning */
  static const gchar *const reasons[DROP_LAST] = {
    "not-connected: there is no connection, and wait-for-connection is false"
        " or live input has waited for max-live-wait",
    "full: the network takes nothing, and blocking is false or live input has"
        " waited for max-live-wait",
    "rest-of-frame: an earlier part of the same frame was dropped",
    "no-key-frame: a new receiver lacks the frames that it refers to",
    "broken: the connection broke while it was being sent",
    "unsendable: the transport cannot carry it",
    "eos-timeout: the stream did not end within drain-timeout"
  };

  GST_DEBUG_OBJECT (self, "dropped a buffer of %" G_GSIZE_FORMAT
      " bytes with pts %" GST_TIME_FORMAT ": %s", gst_buffer_get_size (buffer),
      GST_TIME_ARGS (GST_BUFFER_PTS (buffer)), reasons[reason]);
}

/* Returns the temporal layer of the frame, or -1 if it is unknown. */
static gint
get_layer (GstBuffer * buffer)
{
  const GstFrameInfoMeta *info = gst_buffer_get_frame_info_meta (buffer);

  return info ? info->temporal_layer : -1;
}

/* Called when a frame was dropped because the network accepts no data. If this
 * frame belongs to a temporal layer above the base layer, the frames of higher
 * layers that follow it may refer to it. These frames are then useless, and are
 * dropped, too. The next frame of the same layer or of a lower layer does not
 * depend on the dropped frame. From this next frame on, no further frame is
 * useless because of the drop. */
static void
note_dropped_layer (GstNetworkSink * self, GstBuffer * buffer)
{
  const gint layer = get_layer (buffer), before = self->priv->dropped_layer;

  if (layer > 0 && (before == 0 || layer < before)
      && !GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DROPPABLE))
    self->priv->dropped_layer = layer;
}

/* Returns whether the frame of `buffer` is useless because it refers to a
 * dropped frame of a lower temporal layer. */
static gboolean
needs_dropped_layer (GstNetworkSink * self, GstBuffer * buffer)
{
  GstNetworkSinkPrivate *priv = self->priv;
  const gint layer = get_layer (buffer);

  if (priv->dropped_layer > 0 && layer > priv->dropped_layer)
    return TRUE;
  priv->dropped_layer = 0;
  return FALSE;
}

void
gst_network_sink_drop (GstNetworkSink * self, GstBuffer * buffer,
    DropReason reason)
{
  Counters *counters = &self->priv->counters;

  log_drop (self, buffer, reason);
  LOCK (self);
  counters->dropped[reason]++;
  if (reason == DROP_FULL
      && !GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DROPPABLE))
    counters->dropped_references++;
  counters->bytes_dropped += gst_buffer_get_size (buffer);
  UNLOCK (self);
  /* Ouwens (2006, section 3.8) drops the rest of a frame when a part of it was
   * dropped, because an incomplete frame is useless. */
  self->priv->skips_frame = TRUE;
  if (reason == DROP_FULL)
    note_dropped_layer (self, buffer);
  gst_network_sink_pass_buffer (self, buffer);
}

/* Called before `buffer` is sent. If the connection is a new one, the new
 * receiver has none of the previous frames. In this case the function drops
 * `buffer` and returns TRUE. Even an I-frame is dropped: it was produced for
 * the previous receiver, so it may lack headers that the new receiver needs.
 *
 * If no buffer was sent or dropped before the first receiver connected, this
 * receiver has missed nothing. In this case the function does not drop
 * `buffer`. */
gboolean
gst_network_sink_greet_receiver (GstNetworkSink * self, GstBuffer * buffer)
{
  GstNetworkSinkPrivate *priv = self->priv;
  gboolean torn = priv->rest == buffer && priv->rest_offset > 0;
  gboolean missed = priv->started || priv->rest_offset > 0;
  guint64 generation;

  if (GST_NETWORK_SINK_GET_CLASS (self)->connectionless)
    return FALSE;
  LOCK (self);
  generation = priv->generation;
  UNLOCK (self);
  if (priv->receiver == generation)
    return FALSE;

  priv->receiver = generation;
  if (priv->rest && priv->rest != buffer)
    gst_network_sink_drop (self, priv->rest, DROP_BROKEN);
  gst_network_sink_clear_rest (self);
  if (!missed)
    return FALSE;
  GST_DEBUG_OBJECT (self,
      "the receiver is a new one: drops everything before the next key frame");
  priv->needs_key_frame = TRUE;
  priv->frames_without_key = ends_frame (self, buffer) ? 1 : 0;
  gst_network_sink_drop (self, buffer, torn ? DROP_BROKEN : DROP_NO_KEY_FRAME);
  gst_pad_push_event (GST_BASE_SINK_PAD (self),
      gst_wireless_event_new_restart ());
  return TRUE;
}

gboolean
gst_network_sink_choose (GstNetworkSink * self, GstBuffer * buffer)
{
  GstNetworkSinkPrivate *priv = self->priv;

  if (priv->skips_frame && continues_frame (self, buffer)) {
    gst_network_sink_drop (self, buffer, DROP_REST_OF_FRAME);
    return FALSE;
  }
  priv->skips_frame = FALSE;
  if (needs_dropped_layer (self, buffer)) {
    gst_network_sink_drop (self, buffer, DROP_FULL);
    return FALSE;
  }
  if (!priv->needs_key_frame)
    return TRUE;
  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT)
      && priv->frames_without_key < MAX_FRAMES_WITHOUT_KEY) {
    if (ends_frame (self, buffer))
      priv->frames_without_key++;
    gst_network_sink_drop (self, buffer, DROP_NO_KEY_FRAME);
    return FALSE;
  }
  GST_DEBUG_OBJECT (self, "the new receiver begins with this frame");
  priv->needs_key_frame = FALSE;
  return TRUE;
}

/* Called at the start of a stream. Forgets the state of the previous stream, so
 * that the next buffer begins a new frame.
 */
void
gst_network_sink_begin_stream (GstNetworkSink * self)
{
  self->priv->in_frame = FALSE;
  self->priv->skips_frame = FALSE;
  self->priv->have_markers = FALSE;
  self->priv->dropped_layer = 0;
}
