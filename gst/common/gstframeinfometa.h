/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the standard buffer flags can't say of a video frame or of a packet of
 * one: its picture type, its temporal reference, its time on the sender's
 * clock, and how many of its leading bytes must arrive intact.
 */

#ifndef __GST_FRAME_INFO_META_H__
#define __GST_FRAME_INFO_META_H__

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_FRAME_INFO_META_API_TYPE (gst_frame_info_meta_api_get_type ())
#define GST_FRAME_INFO_META_INFO (gst_frame_info_meta_get_info ())

/* coverage: all of the buffer */
#define GST_FRAME_INFO_COVERAGE_ALL G_MAXUINT

/**
 * GstFrameInfoMeta:
 * @meta: parent
 * @picture_type: 1 I, 2 P, 3 B, 4 D; 0 not known
 * @temporal_reference: 0 to 1023, ISO/IEC 13818-2 6.3.9
 * @coverage: leading bytes of the RTP payload (of the buffer, where caps are
 *     not RTP) that must arrive intact
 * @media_time: presentation time on the sender's clock, since an arbitrary
 *     origin, untouched by arrival times; or %GST_CLOCK_TIME_NONE
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
} GstFrameInfoMeta;

GType gst_frame_info_meta_api_get_type (void);
const GstMetaInfo *gst_frame_info_meta_get_info (void);

GstFrameInfoMeta *gst_buffer_add_frame_info_meta (GstBuffer * buffer,
    guint picture_type, guint temporal_reference, guint coverage);
GstFrameInfoMeta *gst_buffer_get_frame_info_meta (GstBuffer * buffer);

G_END_DECLS

#endif /* __GST_FRAME_INFO_META_H__ */
