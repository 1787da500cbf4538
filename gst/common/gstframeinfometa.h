/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metadata of a video frame, or of a packet of a frame. It contains what the
 * standard buffer flags cannot express: the picture type, the temporal
 * reference, the temporal layer, the presentation time on the sender's clock,
 * and the number of leading bytes that must arrive intact. */

#ifndef __GST_FRAME_INFO_META_H__
#define __GST_FRAME_INFO_META_H__

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_FRAME_INFO_META_API_TYPE (gst_frame_info_meta_api_get_type ())
#define GST_FRAME_INFO_META_INFO (gst_frame_info_meta_get_info ())

/* Value of the field `coverage`. It means that all bytes of the buffer must
 * arrive intact. */
#define GST_FRAME_INFO_COVERAGE_ALL G_MAXUINT

/**
 * GstFrameInfoMeta:
 * @meta: parent
 * @picture_type: 1 = I, 2 = P, 3 = B, 4 = D, 0 = unknown
 * @temporal_reference: 0 to 1023, ISO/IEC 13818-2 6.3.9
 * @coverage: number of leading bytes that must arrive intact. They are counted
 *     from the start of the RTP payload or, if the caps are not RTP, from the
 *     start of the buffer
 * @media_time: presentation time on the sender's clock, relative to an
 *     arbitrary origin, or %GST_CLOCK_TIME_NONE. The time at which the frame
 *     arrives has no influence on it
 * @temporal_layer: temporal layer, 0 = base layer, -1 = unknown. No frame
 *     refers to a frame of a higher layer
 *
 * Since: 0.1
 */
typedef struct
{
  GstMeta meta;

  guint picture_type;
  guint temporal_reference;
  guint coverage;
  GstClockTime media_time;
  gint temporal_layer;
} GstFrameInfoMeta;

GType gst_frame_info_meta_api_get_type (void);
const GstMetaInfo *gst_frame_info_meta_get_info (void);

GstFrameInfoMeta *gst_buffer_add_frame_info_meta (GstBuffer * buffer,
    guint picture_type, guint temporal_reference, guint coverage);
GstFrameInfoMeta *gst_buffer_get_frame_info_meta (GstBuffer * buffer);

G_END_DECLS

#endif /* __GST_FRAME_INFO_META_H__ */
