/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which buffers GstNetworkSink sends: frames go whole or not at all, and a new
 * receiver begins with a key frame. All in the streaming thread.
 */

#include "gstnetworksinkprivate.h"

#include "gstwirelessevents.h"

/* Frames that a new receiver misses while it waits for a key frame. After so many
 * the stream is taken for one that has none. */
#define MAX_FRAMES_WITHOUT_KEY 600

/* --- what is sent and what is not ----------------------------------------- */

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

/* Is it a further part of the frame of the buffer before? A stream without
 * marks and times doesn't say. */
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
  /* The words of the statistics, and what they mean */
  static const gchar *const reasons[DROP_LAST] = {
    "not-connected: there is no connection, and wait-for-connection is false"
        " or live input has waited for max-live-wait",
    "full: the network takes nothing, and blocking is false or live input has"
        " waited for max-live-wait",
    "rest-of-frame: an earlier part of its frame was dropped",
    "no-key-frame: the receiver has nothing that it refers to",
    "broken: the connection broke in the middle of it",
    "unsendable: the transport cannot carry it",
    "eos-timeout: the end of the stream took too long"
  };

  GST_DEBUG_OBJECT (self, "dropped a buffer of %" G_GSIZE_FORMAT
      " bytes with pts %" GST_TIME_FORMAT ": %s", gst_buffer_get_size (buffer),
      GST_TIME_ARGS (GST_BUFFER_PTS (buffer)), reasons[reason]);
}

void
gst_network_sink_drop (GstNetworkSink * self, GstBuffer * buffer,
    DropReason reason)
{
  Counters *counters = &self->priv->counters;

  log_drop (self, buffer, reason);
  LOCK (self);
  counters->dropped[reason]++;
  counters->bytes_dropped += gst_buffer_get_size (buffer);
  UNLOCK (self);
  /* Frames are worthless in parts (Ouwens, section 3.8). */
  self->priv->skips_frame = TRUE;
  gst_network_sink_pass_buffer (self, buffer);
}

/* A receiver that is not the one before has nothing of what was sent. TRUE: this
 * buffer was made for the one before, and is dropped, an I-frame too: it may lack
 * headers that the new one needs. The very first receiver has missed nothing
 * unless something was dropped. */
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
      "a new receiver: what comes before the next key frame is dropped");
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

/* What comes next continues no frame. */
void
gst_network_sink_begin_stream (GstNetworkSink * self)
{
  self->priv->in_frame = FALSE;
  self->priv->skips_frame = FALSE;
  self->priv->have_markers = FALSE;
}
