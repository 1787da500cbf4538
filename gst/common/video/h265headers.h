/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses those headers of H.265 that show to which pictures a picture refers:
 * parameter sets, and the reference picture set and the picture order count of
 * slice headers. The parser does no I/O, and it handles invalid input safely.
 *
 * Section numbers refer to ITU-T H.265 (ISO/IEC 23008-2).
 */

#pragma once

#include <glib.h>

#pragma GCC visibility push(hidden)

/* Maximum number of entries of a reference picture set. A stream has at most
 * sps_max_dec_pic_buffering pictures, which is 16. */
#define H265_MAX_REFERENCES 16

typedef struct
{
  /* The picture order count. Only the bits in `mask` are known of a long-term
   * picture. */
  gint32 order;
  guint32 mask;
  /* The current picture may refer to it. If it is not set, only later pictures
   * may. */
  gboolean is_used;
} H265Reference;

typedef struct
{
  gint32 order;                 /* PicOrderCntVal, 8.3.1 */
  guint n_references;
  H265Reference references[H265_MAX_REFERENCES];
} H265Slice;

typedef struct _H265Headers H265Headers;

H265Headers *h265_headers_new (void);
void h265_headers_free (H265Headers * headers);
/* Discards the state of previous pictures, but keeps the parameter sets. */
void h265_headers_reset (H265Headers * headers);

/* Adds a parameter set, which is a complete NAL unit with its header. If the
 * NAL unit is invalid, all sets of its kind are removed, because it may have
 * replaced any of them. */
void h265_headers_add_sps (H265Headers * headers, const guint8 * data,
    gsize size);
void h265_headers_add_pps (H265Headers * headers, const guint8 * data,
    gsize size);

/* Parses the header of the first slice of a picture of the base layer. Call
 * this function once for each picture, in decoding order. Returns FALSE if the
 * NAL unit is invalid, is not the first slice, or its parameter sets are
 * missing. */
gboolean h265_headers_read_slice (H265Headers * headers, const guint8 * data,
    gsize size, H265Slice * slice);

#pragma GCC visibility pop
