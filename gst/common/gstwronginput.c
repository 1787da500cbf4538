/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of gstwronginput.h: errors about streams of a type that an
 * element does not accept. */

#include "gstwronginput.h"

#include <string.h>

#define TS_PACKET 188
#define TS_SYNC 0x47

static const struct
{
  const gchar *what, *remedy;
} kinds[] = {
  [GST_WRONG_INPUT_PROGRAM_STREAM] = {"an MPEG program stream", "mpegpsdemux"},
  [GST_WRONG_INPUT_MP4] = {"an MP4 or QuickTime file", "qtdemux"},
  [GST_WRONG_INPUT_MATROSKA] = {"a Matroska or WebM file", "matroskademux"},
  [GST_WRONG_INPUT_AVI] = {"an AVI file", "avidemux"},
  [GST_WRONG_INPUT_H264] = {"H.264", "h264parse"},
  [GST_WRONG_INPUT_H265] = {"H.265", "h265parse"},
};

static gboolean
has_at (const guint8 * head, gsize size, gsize offset, const gchar * bytes)
{
  gsize n = strlen (bytes);

  return size >= offset + n && memcmp (head + offset, bytes, n) == 0;
}

/* Recognizes an H.264 or H.265 byte stream by its first NAL unit, which is a
 * parameter set, an access unit delimiter or an SEI message (H.264 table 7-1,
 * H.265 table 7-1). MPEG-1/2 video cannot be mistaken for such a stream: the
 * byte after its first start code never has the value of such a NAL unit
 * header. */
static GstWrongInput
find_byte_stream (const guint8 * head, gsize size)
{
  gsize at = 0;
  guint8 first;

  while (at < size && head[at] == 0)
    at++;
  if (at < 2 || at + 2 >= size || head[at] != 1)
    return GST_WRONG_INPUT_UNKNOWN;
  first = head[at + 1];
  if (first == 0xba)
    return GST_WRONG_INPUT_PROGRAM_STREAM;
  if ((first & 0x9f) == 7 || (first & 0x9f) == 9 || first == 6)
    return GST_WRONG_INPUT_H264;
  if ((first >= 0x40 && first <= 0x4e && first % 2 == 0)
      && head[at + 2] == 1)
    return GST_WRONG_INPUT_H265;
  return GST_WRONG_INPUT_UNKNOWN;
}

GstWrongInput
gst_wrong_input_find (const guint8 * head, gsize size)
{
  if (size > TS_PACKET && head[0] == TS_SYNC && head[TS_PACKET] == TS_SYNC)
    return GST_WRONG_INPUT_TRANSPORT_STREAM;
  if (has_at (head, size, 4, "ftyp") || has_at (head, size, 4, "moov")
      || has_at (head, size, 4, "mdat") || has_at (head, size, 4, "styp"))
    return GST_WRONG_INPUT_MP4;
  if (has_at (head, size, 0, "\x1a\x45\xdf\xa3"))
    return GST_WRONG_INPUT_MATROSKA;
  if (has_at (head, size, 0, "RIFF") && has_at (head, size, 8, "AVI "))
    return GST_WRONG_INPUT_AVI;
  /* An MPEG audio frame header begins with the sync word, the ID and the layer
   * (ISO/IEC 11172-3 section 2.4.1.3). The value 00 of the layer is reserved,
   * so a header with this value is not MPEG audio. */
  if (size >= 2 && head[0] == 0xff && (head[1] & 0xf0) == 0xf0
      && (head[1] & 0x06) != 0)
    return GST_WRONG_INPUT_MPEG_AUDIO;
  return find_byte_stream (head, size);
}

gboolean
gst_wrong_input_is_container (GstWrongInput input)
{
  return input == GST_WRONG_INPUT_PROGRAM_STREAM
      || input == GST_WRONG_INPUT_MP4 || input == GST_WRONG_INPUT_MATROSKA
      || input == GST_WRONG_INPUT_AVI;
}

static gboolean
takes (GstElement * element, const gchar * media_type)
{
  GstCaps *caps = gst_caps_new_empty_simple (media_type);
  gboolean found = gst_element_factory_can_sink_any_caps
      (gst_element_get_factory (element), caps);

  gst_caps_unref (caps);
  return found;
}

gchar *
gst_wrong_input_advise (GstWrongInput input, GstElement * element)
{
  const gchar *name = GST_OBJECT_NAME (element);

  if (input == GST_WRONG_INPUT_UNKNOWN)
    return NULL;
  if (input == GST_WRONG_INPUT_TRANSPORT_STREAM)
    return g_strdup_printf ("This is an MPEG transport stream, not a video "
        "elementary stream: to send all of it, use mmtpsink or dccpthinsink "
        "instead; for its video alone, put tsdemux upstream of %s.", name);
  if (input == GST_WRONG_INPUT_MPEG_AUDIO)
    return g_strdup_printf ("This is MPEG audio, and %s takes video only: to "
        "send audio, use mpegaudioparse and mmtpsink or dccpthinsink.", name);
  if (input != GST_WRONG_INPUT_H264 && input != GST_WRONG_INPUT_H265)
    return g_strdup_printf ("This is %s, not a video elementary stream: put "
        "%s upstream of %s.", kinds[input].what, kinds[input].remedy, name);
  if (takes (element, input == GST_WRONG_INPUT_H264 ? "video/x-h264" :
          "video/x-h265"))
    return g_strdup_printf ("This is %s that is not cut into frames: put %s "
        "upstream of %s.", kinds[input].what, kinds[input].remedy, name);
  return g_strdup_printf ("This is %s, and %s takes MPEG-1 and MPEG-2 video "
      "only. Use an element for this codec, or encode the video as MPEG-2 "
      "upstream.", kinds[input].what, name);
}

GstElement *
gst_wrong_input_get_element (GstElement * owner)
{
  GstObject *parent = gst_object_get_parent (GST_OBJECT_CAST (owner));

  /* If the parent is a plain bin or a pipeline, the user has created this
   * element, so this element is returned. A bin of any other type creates its
   * own elements, and the user knows only the bin. In this case the bin is
   * returned. */
  if (parent && GST_IS_ELEMENT (parent)
      && G_OBJECT_TYPE (parent) != GST_TYPE_BIN
      && G_OBJECT_TYPE (parent) != GST_TYPE_PIPELINE
      && gst_element_get_factory (GST_ELEMENT_CAST (parent)))
    return GST_ELEMENT_CAST (parent);
  gst_clear_object (&parent);
  return gst_object_ref (owner);
}

static gboolean
post_message (GstElement * element, GstMessage * message)
{
  GstElementClass *klass = g_type_class_peek (GST_TYPE_ELEMENT);
  GError *error = NULL;
  gboolean is_start_error;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    is_start_error = g_error_matches (error, GST_CORE_ERROR,
        GST_CORE_ERROR_STATE_CHANGE);
    g_error_free (error);
    if (is_start_error) {
      gst_message_unref (message);
      return TRUE;
    }
  }
  return klass->post_message (element, message);
}

void
gst_wrong_input_drop_start_error (GstElementClass * klass)
{
  klass->post_message = post_message;
}
