/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The headers of H.264 that say which field or frame a slice belongs to and
 * when that is output: parameter sets, slice headers, and the picture order
 * count. An access unit alone does not tell these, and timestamps often do not
 * either. A core: bytes in, fields out. It trusts no byte.
 *
 * Sections are those of ITU-T H.264 (ISO/IEC 14496-10).
 */

#pragma once

#include <glib.h>

#pragma GCC visibility push(hidden)

typedef struct _H264Headers H264Headers;

/* What a slice header says of its picture, which is a frame or a field */
typedef struct
{
  gboolean is_reference;        /* nal_ref_idc */
  gboolean is_idr;
  gboolean is_intra;            /* this slice is of type I or SI */
  guint frame_num;
  gboolean is_field;            /* field_pic_flag */
  gboolean is_bottom;           /* bottom_field_flag */
  /* The picture marks all references before it as unused, as an IDR picture
   * does (memory_management_control_operation 5). */
  gboolean forgets;

  /* for h264_headers_begin_picture () */
  guint sps;
  guint order_lsb;              /* pic_order_cnt_lsb */
  gint32 order_delta_bottom;    /* delta_pic_order_cnt_bottom */
  gint32 order_delta[2];        /* delta_pic_order_cnt */
} H264Slice;

H264Headers *h264_headers_new (void);
void h264_headers_free (H264Headers * headers);
/* Forgets the pictures, but not the parameter sets. */
void h264_headers_reset (H264Headers * headers);

/* A whole NAL unit of type 7 or 8, with its header. One that can't be read
 * takes all sets of its kind away, since it may replace any of them. */
void h264_headers_add_sps (H264Headers * headers, const guint8 * data,
    gsize size);
void h264_headers_add_pps (H264Headers * headers, const guint8 * data,
    gsize size);

/* A NAL unit of type 1, 2 or 5. FALSE: it can't be read, or its parameter sets
 * are missing. Of the slice only is_reference, is_idr and is_intra are set
 * then, and these are right unless the NAL unit ends within them. */
gboolean h264_headers_read_slice (const H264Headers * headers,
    const guint8 * data, gsize size, H264Slice * slice);

/* Takes the first slice of each picture, in decoding order, and returns
 * PicOrderCnt (8.2.1). The count is that since the last picture that is_idr or
 * that forgets. */
gint32 h264_headers_begin_picture (H264Headers * headers,
    const H264Slice * slice);

/* MaxPicOrderCntLsb, or 0 where the picture order count does not depend on
 * order_lsb (pic_order_cnt_type 1 and 2) */
guint h264_headers_get_order_range (const H264Headers * headers,
    const H264Slice * slice);

#pragma GCC visibility pop
