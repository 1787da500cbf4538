/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Caps of access units of H.264 and H.265; see the header. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gsth26xcaps.h"

gboolean
gst_h26x_caps_get_codec (const GstCaps * caps, IfdCodec * codec)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);

  if (gst_structure_has_name (structure, "video/x-h264"))
    *codec = IFD_CODEC_H264;
  else if (gst_structure_has_name (structure, "video/x-h265"))
    *codec = IFD_CODEC_H265;
  else
    return FALSE;
  return TRUE;
}

gboolean
gst_h26x_caps_set_codec_data (const GstCaps * caps, IfdClassifier * classifier)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  const gchar *format = gst_structure_get_string (structure, "stream-format");
  const GValue *value = gst_structure_get_value (structure, "codec_data");
  gboolean is_set = FALSE;
  GstBuffer *data;
  GstMapInfo map;

  if (g_str_equal (format, "byte-stream"))
    return ifd_classifier_set_codec_data (classifier, NULL, 0);
  data = value && GST_VALUE_HOLDS_BUFFER (value) ?
      gst_value_get_buffer (value) : NULL;
  if (data && gst_buffer_map (data, &map, GST_MAP_READ)) {
    is_set = ifd_classifier_set_codec_data (classifier, map.data, map.size);
    gst_buffer_unmap (data, &map);
  }
  return is_set;
}
