/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Determines which pictures of H.264 and H.265 refer to which other pictures.
 * The object tracks the reference pictures that a decoder stores, and gives
 * each of them a slot (ifd.h, IFD_FRAME_SLOTS). The slots show which pictures
 * can be decoded if a reference picture of a B-pyramid or of a temporal layer
 * is missing. The object does no I/O and handles invalid input safely.
 *
 * In most streams, each reference picture is needed by all later pictures. The
 * slots then give no more information than the types of the pictures, so they
 * are not used at first. Once a stream is known to have reference pictures that
 * its base layer does not need, the slots are used from the next key frame on.
 *
 * For each picture, call references_begin_h264 () and then
 * references_add_h264_slice () for each of its slices, or call
 * references_begin_h265 (). Then call references_end ().
 *
 * Section numbers refer to ITU-T H.264 and H.265.
 */

#pragma once

#include "h264headers.h"
#include "h265headers.h"

#pragma GCC visibility push(hidden)

typedef struct _References References;

typedef struct
{
  /* TRUE for an I-frame at which a decoder can begin */
  gboolean is_key;
  gboolean is_closed;           /* a key frame with IFD_FRAME_CLOSED */
  /* TRUE if the picture may refer to pictures before the last key frame */
  gboolean is_leading;
  gboolean is_reference;
  gint layer;                   /* temporal layer, or -1 if unknown */
} ReferencePicture;

typedef struct
{
  guint32 uses, updates;        /* sets of slots */
  /* Number of the layer of the picture; the base layer has the number 0. In a
   * stream with temporal layers, this is the number of the temporal layer. In a
   * pyramid, it is one more than the highest layer of the pictures to which the
   * picture refers. If the stream has both, it is the higher of these two
   * numbers. */
  guint depth;
} ReferenceUse;

References *references_new (void);
void references_free (References * references);
void references_reset (References * references);

/* Declares that the stream has layers. From the next key frame on, each stored
 * reference picture is assigned a slot. */
void references_declare_layers (References * references);
/* Returns TRUE if each stored reference picture is assigned a slot. In this
 * case the caller must add all slices of the current picture. */
gboolean references_are_active (const References * references);

/* Starts a picture of H.264. `slice` is the first slice of the picture, and
 * `order` is its PicOrderCnt. */
void references_begin_h264 (References * references,
    const H264Headers * headers, const H264Slice * slice, gint32 order);
void references_add_h264_slice (References * references,
    const H264Slice * slice);
void references_begin_h265 (References * references, const H265Slice * slice);
/* Call this function if it is unknown to which pictures the current picture
 * refers. You may call it instead of references_begin_h264 () or
 * references_begin_h265 (), or after one of these functions. */
void references_abandon (References * references);
/* Ends the current picture. If the stream needs slots, because it has reference
 * pictures that its base layer does not need, fills in `use` and returns TRUE.
 * Otherwise returns FALSE, and the contents of `use` have no meaning. */
gboolean references_end (References * references,
    const ReferencePicture * picture, ReferenceUse * use);

#pragma GCC visibility pop
