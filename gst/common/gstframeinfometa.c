/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of the frame info metadata, which gstframeinfometa.h
 * describes. */

#include "gstframeinfometa.h"

static gboolean
gst_frame_info_meta_init (GstMeta * meta, gpointer params, GstBuffer * buffer)
{
  GstFrameInfoMeta *info = (GstFrameInfoMeta *) meta;

  info->picture_type = 0;
  info->temporal_reference = 0;
  info->coverage = GST_FRAME_INFO_COVERAGE_ALL;
  info->media_time = GST_CLOCK_TIME_NONE;
  info->temporal_layer = -1;
  return TRUE;
}

/* Copies the metadata to `dest`, a copy of `buffer`. If `dest` is a copy of the
 * whole buffer, all fields are copied. If `dest` is a copy of a region, the
 * coverage is set to all bytes, because it is unknown which bytes of the region
 * must arrive intact. The other fields are copied. */
static gboolean
gst_frame_info_meta_transform (GstBuffer * dest, GstMeta * meta,
    GstBuffer * buffer, GQuark type, gpointer data)
{
  GstFrameInfoMeta *info = (GstFrameInfoMeta *) meta;
  GstMetaTransformCopy *copy = data;
  GstFrameInfoMeta *other;

  if (!GST_META_TRANSFORM_IS_COPY (type))
    return FALSE;
  other = gst_buffer_add_frame_info_meta (dest, info->picture_type,
      info->temporal_reference,
      copy->region ? GST_FRAME_INFO_COVERAGE_ALL : info->coverage);
  other->media_time = info->media_time;
  other->temporal_layer = info->temporal_layer;
  return TRUE;
}

GType
gst_frame_info_meta_api_get_type (void)
{
  static GType type = 0;
  static const gchar *tags[] = { NULL };

  if (g_once_init_enter (&type)) {
    GType registered = gst_meta_api_type_register ("GstFrameInfoMetaAPI", tags);

    g_once_init_leave (&type, registered);
  }
  return type;
}

const GstMetaInfo *
gst_frame_info_meta_get_info (void)
{
  static const GstMetaInfo *info = NULL;

  if (g_once_init_enter ((GstMetaInfo **) & info)) {
    const GstMetaInfo *registered =
        gst_meta_register (GST_FRAME_INFO_META_API_TYPE, "GstFrameInfoMeta",
        sizeof (GstFrameInfoMeta), gst_frame_info_meta_init, NULL,
        gst_frame_info_meta_transform);

    g_once_init_leave ((GstMetaInfo **) & info, (GstMetaInfo *) registered);
  }
  return info;
}

/**
 * gst_buffer_add_frame_info_meta:
 * @buffer: a writable buffer
 * @picture_type: 1 = I, 2 = P, 3 = B, 4 = D, 0 = unknown
 * @temporal_reference: 0 to 1023
 * @coverage: number of leading bytes that must arrive intact, or
 *     %GST_FRAME_INFO_COVERAGE_ALL
 *
 * Adds a #GstFrameInfoMeta to @buffer.
 *
 * Returns: (transfer none): the new meta. Its media_time is
 *     %GST_CLOCK_TIME_NONE, and its temporal_layer is -1
 *
 * Since: 0.1
 */
GstFrameInfoMeta *
gst_buffer_add_frame_info_meta (GstBuffer * buffer, guint picture_type,
    guint temporal_reference, guint coverage)
{
  GstFrameInfoMeta *info;

  info = (GstFrameInfoMeta *) gst_buffer_add_meta (buffer,
      GST_FRAME_INFO_META_INFO, NULL);
  info->picture_type = picture_type;
  info->temporal_reference = temporal_reference;
  info->coverage = coverage;
  return info;
}

/**
 * gst_buffer_get_frame_info_meta:
 * @buffer: a buffer
 *
 * Returns: (transfer none) (nullable): the #GstFrameInfoMeta of @buffer, or
 *     %NULL if @buffer has none
 *
 * Since: 0.1
 */
GstFrameInfoMeta *
gst_buffer_get_frame_info_meta (GstBuffer * buffer)
{
  return (GstFrameInfoMeta *) gst_buffer_get_meta (buffer,
      GST_FRAME_INFO_META_API_TYPE);
}
