/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Determines which pictures of H.264 and H.265 refer to which other pictures.
 * The object tracks the reference pictures that a decoder stores. It gives each
 * of them a slot, which is a bit in the masks `uses` and `updates` of an
 * IfdFrame (ifd.h). The slots show which pictures can still be decoded if a
 * reference picture of a B-pyramid or of a temporal layer is missing. The
 * object does no I/O and handles invalid input safely.
 *
 * In most streams, if a reference picture is missing, none of the later
 * pictures of its group can be decoded. It is then sufficient to know the types
 * of the pictures, so slots are not used at first. In some streams, there are
 * reference pictures that the pictures of the base layer do not need. When this
 * is detected, the slots are used from the next key frame on.
 *
 * For each picture of H.264, call references_begin_h264 (), and then
 * references_add_h264_slice () for each of its slices. For each picture of
 * H.265, call references_begin_h265 (). In both cases, call references_end ()
 * at the end of the picture.
 *
 * Section numbers refer to ITU-T H.264 and H.265. */

#pragma once

#include "h264headers.h"
#include "h265headers.h"

#pragma GCC visibility push(hidden)

typedef struct _References References;

typedef struct
{
  /* TRUE for a key frame: an I-frame at which a decoder can begin */
  gboolean is_key;
  gboolean is_closed;           /* a key frame with IFD_FRAME_CLOSED */
  /* TRUE if the picture may refer to pictures that precede the last key frame
   */
  gboolean is_leading;
  gboolean is_reference;
  gint layer;                   /* temporal layer, or -1 if unknown */
} ReferencePicture;

typedef struct
{
  guint32 uses, updates;        /* sets of slots */
  /* Number of the layer of the picture. The base layer has the number 0. In a
   * stream with temporal layers, this is the number of the temporal layer. In a
   * pyramid, a picture above the base layer has a number that is one more than
   * the highest layer number of the pictures to which it refers. In a stream
   * with both temporal layers and a pyramid, it is the higher of the two
   * numbers. */
  guint depth;
} ReferenceUse;

References *references_new (void);
void references_free (References * references);
void references_reset (References * references);

/* Tells the object that the stream has temporal layers. From the next key frame
 * on, each reference picture that the decoder stores then gets a slot, a bit in
 * the masks `uses` and `updates`. */
void references_declare_layers (References * references);
/* Returns whether each reference picture that the decoder stores gets a slot, a
 * bit in the masks `uses` and `updates`. If TRUE, the caller must pass all
 * slices of a picture to references_add_h264_slice (). */
gboolean references_are_active (const References * references);

/* Starts a picture of H.264. `slice` is the first slice of the picture. `order`
 * is the PicOrderCnt of the picture, which is its position in display order. */
void references_begin_h264 (References * references,
    const H264Headers * headers, const H264Slice * slice, gint32 order);
void references_add_h264_slice (References * references,
    const H264Slice * slice);
void references_begin_h265 (References * references, const H265Slice * slice);
/* Call this function if it is unknown to which pictures the current picture
 * refers. Call it either after references_begin_h264 () or
 * references_begin_h265 (), or instead of them. */
void references_abandon (References * references);
/* Ends the current picture. If slots are in use, stores the slots of the
 * picture and its layer in `use`, and returns TRUE. Otherwise returns FALSE,
 * and the contents of `use` are not valid. Slots are in use only if the stream
 * has reference pictures that the base layer does not need. */
gboolean references_end (References * references,
    const ReferencePicture * picture, ReferenceUse * use);

#pragma GCC visibility pop
