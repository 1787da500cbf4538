/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of the coverage metadata, which gstcoveragemeta.h describes.
 */

#include "gstcoveragemeta.h"

static gboolean
gst_coverage_meta_init (GstMeta * meta, gpointer params, GstBuffer * buffer)
{
  ((GstCoverageMeta *) meta)->covered = 0;
  return TRUE;
}

/* Called when a buffer, or a region of a buffer, is copied. The metadata says
 * how many bytes of the buffer a checksum has covered. The copy gets metadata
 * with the number of covered bytes in the region. If all bytes of the region
 * were covered, the copy needs no metadata.
 */
static gboolean
gst_coverage_meta_transform (GstBuffer * dest, GstMeta * meta,
    GstBuffer * buffer, GQuark type, gpointer data)
{
  gsize covered = ((GstCoverageMeta *) meta)->covered;
  GstMetaTransformCopy *copy = data;

  if (!GST_META_TRANSFORM_IS_COPY (type))
    return FALSE;
  if (copy->region) {
    covered -= MIN (covered, copy->offset);
    if (covered >= copy->size)
      return TRUE;
  }
  gst_buffer_add_coverage_meta (dest, covered);
  return TRUE;
}

GType
gst_coverage_meta_api_get_type (void)
{
  static GType type = 0;
  static const gchar *tags[] = { NULL };

  if (g_once_init_enter (&type)) {
    GType registered = gst_meta_api_type_register ("GstCoverageMetaAPI", tags);

    g_once_init_leave (&type, registered);
  }
  return type;
}

const GstMetaInfo *
gst_coverage_meta_get_info (void)
{
  static const GstMetaInfo *info = NULL;

  if (g_once_init_enter ((GstMetaInfo **) & info)) {
    const GstMetaInfo *registered =
        gst_meta_register (GST_COVERAGE_META_API_TYPE, "GstCoverageMeta",
        sizeof (GstCoverageMeta), gst_coverage_meta_init, NULL,
        gst_coverage_meta_transform);

    g_once_init_leave ((GstMetaInfo **) & info, (GstMetaInfo *) registered);
  }
  return info;
}

/**
 * gst_buffer_add_coverage_meta:
 * @buffer: a writable buffer
 * @covered: number of leading bytes that a checksum covered
 *
 * Adds a #GstCoverageMeta to @buffer.
 *
 * Returns: (transfer none): the new meta
 *
 * Since: 0.1
 */
GstCoverageMeta *
gst_buffer_add_coverage_meta (GstBuffer * buffer, gsize covered)
{
  GstCoverageMeta *coverage;

  coverage = (GstCoverageMeta *) gst_buffer_add_meta (buffer,
      GST_COVERAGE_META_INFO, NULL);
  coverage->covered = covered;
  return coverage;
}

/**
 * gst_buffer_get_coverage_meta:
 * @buffer: a buffer
 *
 * Returns: (transfer none) (nullable): the #GstCoverageMeta of @buffer, or
 *     %NULL if @buffer has none
 *
 * Since: 0.1
 */
GstCoverageMeta *
gst_buffer_get_coverage_meta (GstBuffer * buffer)
{
  return (GstCoverageMeta *) gst_buffer_get_meta (buffer,
      GST_COVERAGE_META_API_TYPE);
}
