/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses parameter sets and slice headers of H.264, and computes picture order
 * counts. The results show to which field or frame a slice belongs, and in
 * which order pictures are output. A single access unit does not contain all of
 * this information, and timestamps often do not show it either. The parser does
 * no I/O, and it handles invalid input safely.
 *
 * Section numbers refer to ITU-T H.264 (ISO/IEC 14496-10).
 */

#pragma once

#include <glib.h>

#pragma GCC visibility push(hidden)

typedef struct _H264Headers H264Headers;

/* One operation of ref_pic_list_modification () or of dec_ref_pic_marking () in
 * a slice header, with the first operand of the operation */
typedef struct
{
  guint operation;
  guint32 value;
} H264Operation;

/* Maximum number of operations in ref_pic_list_modification () for one list of
 * reference pictures. A list has at most 32 entries (section 7.4.3 of H.264),
 * so there are at most 32 modifications. One further operation marks the end.
 */
#define H264_MAX_LIST_CHANGES 33
#define H264_MAX_MARKS 70

/* Fields of a slice header that describe its picture, which is a frame or a
 * field */
typedef struct
{
  gboolean is_reference;        /* nal_ref_idc */
  gboolean is_idr;
  gboolean is_intra;            /* TRUE if the slice has the type I or SI */
  guint frame_num;
  gboolean is_field;            /* field_pic_flag */
  gboolean is_bottom;           /* bottom_field_flag */
  /* TRUE if the picture marks all previous reference pictures as unused
   * (memory_management_control_operation 5). An IDR picture has the same
   * effect. */
  gboolean forgets;

  /* Only for an IDR picture: TRUE if it is marked as a long-term reference
   * picture */
  gboolean has_long_term;
  guint ref_idc;                /* nal_ref_idc */
  gboolean is_b;                /* TRUE if the slice has the type B */
  /* Only for a P-slice: the number of entries in its list of reference
   * pictures, and the operations that change the order of this list
   * (ref_pic_list_modification ()) */
  guint n_references;
  guint n_changes;
  H264Operation changes[H264_MAX_LIST_CHANGES];
  /* The memory management control operations of the picture. They say which
   * reference pictures a decoder keeps. If there are no such operations, a
   * decoder removes the oldest reference picture when it needs room (sliding
   * window).
   */
  guint n_marks;
  H264Operation marks[H264_MAX_MARKS];

  /* id of the sequence parameter set (SPS) that applies to the slice;
   * h264_headers_begin_picture () needs it */
  guint sps;
  guint order_lsb;              /* pic_order_cnt_lsb */
  gint32 order_delta_bottom;    /* delta_pic_order_cnt_bottom */
  gint32 order_delta[2];        /* delta_pic_order_cnt */
} H264Slice;

H264Headers *h264_headers_new (void);
void h264_headers_free (H264Headers * headers);
/* Forgets the previous pictures, from which picture order counts are computed.
 * Keeps the parameter sets. */
void h264_headers_reset (H264Headers * headers);

/* Adds a parameter set. `data` is a complete NAL unit with its header, of type
 * 7 for an SPS and of type 8 for a PPS. If the NAL unit is invalid, all
 * parameter sets of its type are removed, because the invalid NAL unit may have
 * been meant to replace any of them. */
void h264_headers_add_sps (H264Headers * headers, const guint8 * data,
    gsize size);
void h264_headers_add_pps (H264Headers * headers, const guint8 * data,
    gsize size);

/* Parses the header of a slice, which is a NAL unit of type 1, 2 or 5. Returns
 * FALSE if the NAL unit is invalid or its parameter sets are missing. In this
 * case only the fields is_reference, is_idr and is_intra are set. These three
 * fields are correct unless the NAL unit is too short to contain them. */
gboolean h264_headers_read_slice (const H264Headers * headers,
    const guint8 * data, gsize size, H264Slice * slice);

/* Computes the picture order count of a picture (PicOrderCnt, section 8.2.1 of
 * H.264). Must be called with the first slice of each picture, in decoding
 * order. The count starts again at each IDR picture (`is_idr`), and at each
 * picture that marks all previous reference pictures as unused (`forgets`). The
 * result is therefore relative to the last such picture.
 */
gint32 h264_headers_begin_picture (H264Headers * headers,
    const H264Slice * slice);

/* Returns MaxPicOrderCntLsb, which is the number of different values of
 * order_lsb. Returns 0 if the picture order count does not depend on order_lsb
 * (pic_order_cnt_type 1 and 2). */
guint h264_headers_get_order_range (const H264Headers * headers,
    const H264Slice * slice);

/* Returns two limits from the sequence parameter set of `slice`.
 * `max_references` is the maximum number of reference frames. `max_frame_num`
 * is MaxFrameNum, which is the number of different values of frame_num.
 */
void h264_headers_get_limits (const H264Headers * headers,
    const H264Slice * slice, guint * max_references, guint * max_frame_num);

#pragma GCC visibility pop
