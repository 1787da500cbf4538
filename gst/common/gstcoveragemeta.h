/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metadata of a buffer whose checksum covered only the leading bytes, as in
 * UDP-Lite (RFC 3828). The bytes that the checksum did not cover may be
 * damaged.
 */

#ifndef __GST_COVERAGE_META_H__
#define __GST_COVERAGE_META_H__

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_COVERAGE_META_API_TYPE (gst_coverage_meta_api_get_type ())
#define GST_COVERAGE_META_INFO (gst_coverage_meta_get_info ())

/**
 * GstCoverageMeta:
 * @meta: parent
 * @covered: number of leading bytes of the buffer that the checksum of the
 *     transport covered. The bytes after them may be damaged
 *
 * If a buffer does not have this metadata, either the checksum covered the
 * whole buffer, or the coverage is unknown.
 *
 * Since: 0.1
 */
typedef struct
{
  GstMeta meta;

  gsize covered;
} GstCoverageMeta;

GType gst_coverage_meta_api_get_type (void);
const GstMetaInfo *gst_coverage_meta_get_info (void);

GstCoverageMeta *gst_buffer_add_coverage_meta (GstBuffer * buffer,
    gsize covered);
GstCoverageMeta *gst_buffer_get_coverage_meta (GstBuffer * buffer);

G_END_DECLS

#endif /* __GST_COVERAGE_META_H__ */
