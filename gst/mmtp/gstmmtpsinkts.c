/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implements the input of an MPEG transport stream into mmtpsink. The stream is
 * divided where the pictures of its video begin and end. The protocol core can
 * therefore drop whole pictures.
 */

#include "gstmmtpsinkprivate.h"

#include "tspictures.h"

/* A picture in a transport stream is complete when the next picture begins.
 * Until then, the packets of the picture and the packets of the audio wait. If
 * the video stops, no next picture begins, and they would wait forever. The
 * current picture therefore also counts as complete if no video packet has
 * arrived for MAX_PAUSE, a time in ns. */
#define MAX_PAUSE (100 * GST_MSECOND)

/* Returns whether a stream with these caps can be divided into pictures. It
 * must be an MPEG transport stream with packets of 188 bytes. The field
 * packetsize is often missing in the caps. If it is present, its value must be
 * 188. */
gboolean
gst_mmtp_sink_can_cut (const GstCaps * caps)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  gboolean is_system_stream = FALSE;
  gint packet_size = TS_PACKET_SIZE;

  gst_structure_get_boolean (structure, "systemstream", &is_system_stream);
  gst_structure_get_int (structure, "packetsize", &packet_size);
  return gst_structure_has_name (structure, "video/mpegts")
      && is_system_stream && packet_size == TS_PACKET_SIZE;
}

void
gst_mmtp_sink_take_ts_caps (GstMmtpSink * self, const GstCaps * caps)
{
  const gboolean is_cut = gst_mmtp_sink_can_cut (caps);

  if (is_cut && !self->ts) {
    self->ts = mmtp_ts_cutter_new ();
    self->told_ts_refusal = self->ts_has_gap = FALSE;
  } else if (!is_cut) {
    g_clear_pointer (&self->ts, mmtp_ts_cutter_free);
  }
}

/* If the transport stream cannot be divided into pictures, posts a warning with
 * the reason. The warning is posted only once for each stream. Call with `lock`
 * held. */
static void
warn_about_stream (GstMmtpSink * self)
{
  const gchar *reason = mmtp_ts_cutter_get_warning (self->ts);

  if (!reason || self->told_ts_refusal)
    return;
  self->told_ts_refusal = TRUE;
  gst_mmtp_sink_queue_warning (self, g_error_new (GST_STREAM_ERROR,
          GST_STREAM_ERROR_FORMAT, "The transport stream passes untouched, "
          "because %s.", reason));
}

static void
end_old_picture (GstMmtpSink * self, GstClockTime now)
{
  guint64 tag;

  if (mmtp_ts_cutter_is_open (self->ts, &tag) && GST_CLOCK_TIME_IS_VALID (now)
      && GST_CLOCK_TIME_IS_VALID (tag) && now > tag + MAX_PAUSE)
    mmtp_ts_cutter_end (self->ts);
}

gboolean
gst_mmtp_sink_cut_ts (GstMmtpSink * self, GstBuffer * buffer)
{
  GstMapInfo map;

  warn_about_stream (self);
  if (mmtp_ts_cutter_get_refusal (self->ts)) {
    mmtp_ts_cutter_drain (self->ts);
    return FALSE;
  }
  end_old_picture (self, GST_BUFFER_DTS_OR_PTS (buffer));
  if (gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    mmtp_ts_cutter_input (self->ts, map.data, map.size,
        GST_BUFFER_DTS_OR_PTS (buffer));
    gst_buffer_unmap (buffer, &map);
  }
  return TRUE;
}
