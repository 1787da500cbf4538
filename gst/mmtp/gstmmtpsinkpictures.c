/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Determines the type of each picture for the core of mmtpsink. The caps of the
 * stream select a parser, which reads the picture types from the bytes of the
 * buffers. If there is no parser for the caps, the buffer flags are used.
 */

#include "gstmmtpsinkprivate.h"

static const struct
{
  PictureFormat format;
  const gchar *caps;
} formats[] = {
  {PICTURE_FORMAT_MPEG, "video/mpeg, mpegversion = (int) [ 1, 2 ], "
        "systemstream = (boolean) false, parsed = (boolean) true"},
  {PICTURE_FORMAT_H264, "video/x-h264, alignment = (string) au, "
        "stream-format = (string) { byte-stream, avc, avc3 }"},
  {PICTURE_FORMAT_H265, "video/x-h265, alignment = (string) au, "
        "stream-format = (string) { byte-stream, hvc1, hev1 }"},
  {PICTURE_FORMAT_H264_NAL, "video/x-h264, alignment = (string) nal, "
        "stream-format = (string) { byte-stream, avc, avc3 }"},
  {PICTURE_FORMAT_H265_NAL, "video/x-h265, alignment = (string) nal, "
        "stream-format = (string) { byte-stream, hvc1, hev1 }"},
  {PICTURE_FORMAT_RTP_MPEG, "application/x-rtp, media = (string) video, "
        "encoding-name = (string) MPV"},
  {PICTURE_FORMAT_RTP_H264, "application/x-rtp, media = (string) video, "
        "encoding-name = (string) H264"},
  {PICTURE_FORMAT_RTP_H265, "application/x-rtp, media = (string) video, "
        "encoding-name = (string) H265"},
  {PICTURE_FORMAT_VP8, "video/x-vp8"},
  {PICTURE_FORMAT_VP9, "video/x-vp9"},
  {PICTURE_FORMAT_AV1, "video/x-av1, alignment = (string) tu, "
        "stream-format = (string) obu-stream"},
  {PICTURE_FORMAT_AV1_FRAME, "video/x-av1, alignment = (string) frame, "
        "stream-format = (string) obu-stream"},
  {PICTURE_FORMAT_RTP_VP8, "application/x-rtp, media = (string) video, "
        "encoding-name = (string) VP8"},
  {PICTURE_FORMAT_RTP_VP9, "application/x-rtp, media = (string) video, "
        "encoding-name = (string) VP9"},
  {PICTURE_FORMAT_RTP_AV1, "application/x-rtp, media = (string) video, "
        "encoding-name = (string) AV1"},
};

/* Caps of elementary video streams. Other streams, such as a transport stream
 * with sound, contain more than video. Their buffers may be useful even if an
 * earlier buffer was dropped. */
#define VIDEO_CAPS \
    "video/mpeg, systemstream = (boolean) false; " \
    "video/x-h264; video/x-h265; video/x-vp8; video/x-vp9; video/x-av1; " \
    "application/x-rtp, media = (string) video, " \
    "encoding-name = (string) { MPV, H264, H265, VP8, VP9, AV1, MP4V-ES }"

static gboolean
is_subset (const GstCaps * caps, const gchar * text)
{
  GstCaps *known = gst_caps_from_string (text);
  const gboolean is = gst_caps_is_subset (caps, known);

  gst_caps_unref (known);
  return is;
}

/* Passes the codec_data of the caps to the parser. Returns FALSE if the parser
 * needs codec_data, and they are missing or invalid. For H.264 and H.265, the
 * codec_data contain the size of the length field before each NAL unit. For
 * AV1, the codec_data are optional and may contain the sequence header. */
static gboolean
take_codec_data (GstMmtpSink * self, const GstStructure * structure)
{
  const gchar *format = gst_structure_get_string (structure, "stream-format");
  const GValue *value = gst_structure_get_value (structure, "codec_data");
  const gboolean is_optional = g_strcmp0 (format, "obu-stream") == 0;
  gboolean is_taken;
  GstMapInfo map;

  if (!format || g_str_equal (format, "byte-stream"))
    return TRUE;
  if (!value || !GST_VALUE_HOLDS_BUFFER (value)
      || !gst_buffer_map (gst_value_get_buffer (value), &map, GST_MAP_READ))
    return is_optional;
  is_taken = picture_reader_set_codec_data (self->pictures, map.data, map.size);
  gst_buffer_unmap (gst_value_get_buffer (value), &map);
  return is_taken || is_optional;
}

void
gst_mmtp_sink_take_video_caps (GstMmtpSink * self, const GstCaps * caps)
{
  guint i;

  gst_mmtp_sink_forget_pictures (self);
  self->is_video = is_subset (caps, VIDEO_CAPS);
  for (i = 0; i < G_N_ELEMENTS (formats) && !self->pictures; i++)
    if (is_subset (caps, formats[i].caps))
      self->pictures = picture_reader_new (formats[i].format);
  if (self->pictures
      && !take_codec_data (self, gst_caps_get_structure (caps, 0))) {
    GST_WARNING_OBJECT (self, "could not parse codec_data: picture types are "
        "taken from the buffer flags only");
    g_clear_pointer (&self->pictures, picture_reader_free);
  }
}

void
gst_mmtp_sink_forget_pictures (GstMmtpSink * self)
{
  g_clear_pointer (&self->pictures, picture_reader_free);
  self->is_video = FALSE;
}

static const gchar *
get_kind_name (PictureKind kind)
{
  static const gchar *const names[] = { "unknown", "part", "droppable",
    "reference", "key"
  };

  return names[kind];
}

void
gst_mmtp_sink_take_picture (GstMmtpSink * self, GstBuffer * buffer,
    gconstpointer data, gsize size, MmtpPicture * picture)
{
  /* A buffer without the flag DELTA_UNIT is a key frame only if upstream uses
   * this flag at all, that is if it has been set on another buffer of the
   * stream. */
  const gboolean is_key = self->has_delta_units &&
      !GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT);
  PictureInfo info;

  picture->is_independent = !self->is_video;
  if (!self->pictures)
    return;
  picture_reader_input (self->pictures, data, size, GST_BUFFER_PTS (buffer),
      is_key, &info);
  /* The kind PICTURE_KIND_PART means that the bytes of the buffer do not show
   * the kind of its picture, for example because the buffer contains only
   * parameter sets. However, this buffer lacks the flag DELTA_UNIT, so it
   * belongs to a key frame. PICTURE_KIND_PART would hide this from the core.
   * The kind is therefore set to unknown. If the kind is unknown, the core
   * determines it from the buffer flags, that is, from the absence of
   * DELTA_UNIT. */
  if (info.kind == PICTURE_KIND_PART && is_key)
    info.kind = PICTURE_KIND_UNKNOWN;
  GST_LOG_OBJECT (self, "%" G_GSIZE_FORMAT " bytes: %s picture%s of layer %u",
      size, get_kind_name (info.kind), info.is_leading ? ", leading" : "",
      info.layer);
  mmtp_picture_set_info (picture, &info);
}
