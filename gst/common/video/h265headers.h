/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses parameter sets and slice headers of H.265. From the slice headers,
 * only the picture order count and the reference picture set are used, which
 * show to which pictures a picture refers. The parser does no I/O, and it
 * handles invalid input safely.
 *
 * Section numbers refer to ITU-T H.265 (ISO/IEC 23008-2).
 */

#pragma once

#include <glib.h>

#pragma GCC visibility push(hidden)

/* Maximum number of entries of a reference picture set. The set contains only
 * pictures that a decoder stores. A decoder stores at most
 * sps_max_dec_pic_buffering pictures, and the maximum of this number is 16. */
#define H265_MAX_REFERENCES 16

typedef struct
{
  /* `order` is the picture order count of the reference picture. The bits that
   * are set in `mask` are the known bits of `order`. For a long-term picture,
   * the upper bits may be unknown. */
  gint32 order;
  guint32 mask;
  /* TRUE if the current picture may refer to this reference picture. FALSE if
   * it is only kept for later pictures. */
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
/* Forgets the previous pictures, from which picture order counts are computed.
 * Keeps the parameter sets. */
void h265_headers_reset (H265Headers * headers);

/* Adds a parameter set. `data` contains a complete NAL unit with its header. If
 * the NAL unit is invalid, all parameter sets of its type (SPS or PPS) are
 * removed, because the invalid NAL unit may have been meant to replace any of
 * them.
 */
void h265_headers_add_sps (H265Headers * headers, const guint8 * data,
    gsize size);
void h265_headers_add_pps (H265Headers * headers, const guint8 * data,
    gsize size);

/* Parses the header of the first slice of a picture. The slice must belong to
 * the base layer. Call this function once for each picture, in decoding order.
 * Returns FALSE if the NAL unit is invalid, if it is not the first slice of its
 * picture, or if its parameter sets are missing. */
gboolean h265_headers_read_slice (H265Headers * headers, const guint8 * data,
    gsize size, H265Slice * slice);

#pragma GCC visibility pop
