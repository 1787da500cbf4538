/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses access units of H.264 and H.265 and determines their frame types and
 * flags for IFD (ifd.h). This is needed because the stock parsers do not mark
 * frames to which no other frame refers. The classifier also finds the bytes of
 * an access unit that hold slices. It does no I/O and handles invalid input
 * safely: a malformed access unit is counted and treated as a P-frame.
 *
 * Section numbers refer to ITU-T H.264 (ISO/IEC 14496-10), H.265 (ISO/IEC
 * 23008-2) and, for codec data, ISO/IEC 14496-15.
 */

#pragma once

#include <glib.h>

#include "ifd.h"

typedef enum
{
  IFD_CODEC_H264,
  IFD_CODEC_H265
} IfdCodec;

/* Reason why an access unit is malformed. Only the first error of an access
 * unit is counted. NAL units that follow those that determine the frame type
 * are not checked. */
typedef enum
{
  /* A byte-stream does not begin with a start code. */
  IFD_MALFORMED_NO_START_CODE,
  /* The length of a NAL unit is 0 or exceeds the buffer. */
  IFD_MALFORMED_LENGTH,
  /* The header of a NAL unit is too short or has a forbidden value. */
  IFD_MALFORMED_HEADER,
  IFD_MALFORMED_SEI,            /* An SEI message exceeds its NAL unit. */
  /* The SPS is too short or has too many sub-layers. */
  IFD_MALFORMED_SPS,
  IFD_MALFORMED_LAST
} IfdMalformed;

/* Returns "no-start-code", "length" etc., as used in statistics. */
const gchar *ifd_malformed_get_name (IfdMalformed reason);

typedef struct _IfdClassifier IfdClassifier;

IfdClassifier *ifd_classifier_new (IfdCodec codec);
void ifd_classifier_free (IfdClassifier * classifier);

/* Sets the codec_data of the caps (avcC or hvcC); from now on each NAL unit is
 * preceded by its length. If `data` is NULL, each NAL unit is preceded by a
 * start code (byte-stream), which is the default. Returns FALSE, without
 * changing anything, if the data are malformed. */
gboolean ifd_classifier_set_codec_data (IfdClassifier * classifier,
    const guint8 * data, gsize size);
/* Discards the state of the stream after a flush, but keeps the codec data. */
void ifd_classifier_reset (IfdClassifier * classifier);

/* Sets type and flags of `frame` for an access unit, which is a whole frame or
 * one field, and its temporal layer: the sub-layer of H.265, or temporal_id of
 * H.264 if the stream has it, otherwise -1. Slots (IFD_FRAME_SLOTS) are set
 * from the I-frame on at which the stream is known to have several layers of
 * reference frames. `pts` is in ns, or G_MAXUINT64 if unknown. */
void ifd_classifier_input (IfdClassifier * classifier, const guint8 * data,
    gsize size, guint64 pts, IfdFrame * frame);

/* An H.264 frame may consist of two fields that are separate access units. The
 * second field may refer to the first one, and both fields are displayed as one
 * picture, so IFD treats them as one frame. */
typedef enum
{
  IFD_FIELD_NONE,               /* a whole frame, or both of its fields */
  /* first field of a frame; the next access unit may be its second field */
  IFD_FIELD_FIRST,
  /* the second field of the previous access unit */
  IFD_FIELD_SECOND
} IfdField;

/* Returns which part of a frame the last access unit is. */
IfdField ifd_classifier_get_field (const IfdClassifier * classifier);
/* Combines type and flags of two fields. `first` becomes the type and the flags
 * of the frame that consists of both fields. */
void ifd_classifier_join_fields (IfdFrame * first, const IfdFrame * second);

/* The slices of an access unit as NAL units, without start codes or lengths.
 * Their bytes are the same in every stream format, and also after a payloader.
 */
typedef struct
{
  const guint8 *first;          /* the first slice, inside the access unit */
  gsize first_size;             /* size of the first slice in bytes */
  gsize size;                   /* size of all slices together, in bytes */
} IfdSlices;

/* Returns FALSE if the access unit has no slices. */
gboolean ifd_classifier_find_slices (const IfdClassifier * classifier,
    const guint8 * data, gsize size, IfdSlices * slices);

/* Returns the number of access units that were malformed for this reason. Each
 * access unit is counted for at most one reason. */
guint64 ifd_classifier_get_malformed (const IfdClassifier * classifier,
    IfdMalformed reason);
