/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses access units of H.264 and H.265 and determines their frame types and
 * flags for IFD (ifd.h). This is necessary because the stock parsers do not
 * mark frames to which no other frame refers. The classifier also finds the
 * slices in the bytes of an access unit. It does no I/O and handles invalid
 * input safely: a malformed access unit is counted and treated as a P-frame.
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
 * unit is counted. The NAL units of an access unit are checked only until the
 * frame type is known. */
typedef enum
{
  /* The data are a byte-stream, but they do not begin with a start code. */
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

/* Returns the name of `reason` in the statistics, such as "no-start-code". */
const gchar *ifd_malformed_get_name (IfdMalformed reason);

typedef struct _IfdClassifier IfdClassifier;

IfdClassifier *ifd_classifier_new (IfdCodec codec);
void ifd_classifier_free (IfdClassifier * classifier);

/* Sets the codec_data of the caps (avcC or hvcC). If codec data are set, each
 * NAL unit is preceded by its length. If `data` is NULL, which is the default,
 * each NAL unit is preceded by a start code (byte-stream). Returns FALSE,
 * without changing anything, if the data are malformed. */
gboolean ifd_classifier_set_codec_data (IfdClassifier * classifier,
    const guint8 * data, gsize size);
/* Discards the state of the stream after a flush, but keeps the codec data. */
void ifd_classifier_reset (IfdClassifier * classifier);

/* Determines the type, the flags and the temporal layer of an access unit, and
 * stores them in `frame`. An access unit is a whole frame or one field. `pts`
 * is in ns, or G_MAXUINT64 if unknown.
 *
 * The temporal layer is the sub-layer of H.265 or temporal_id of H.264. It is
 * -1 if the stream does not contain this value.
 *
 * The slots (IFD_FRAME_SLOTS) show which frames refer to each other. They are
 * set only if the stream has reference frames outside the base layer. When the
 * classifier has found the first such frame, it sets the slots from the next
 * I-frame on. */
void ifd_classifier_input (IfdClassifier * classifier, const guint8 * data,
    gsize size, guint64 pts, IfdFrame * frame);

/* Tells which part of a frame an access unit is. An H.264 frame may consist of
 * two fields that are separate access units. The second field may refer to the
 * first field, and both fields are displayed as one picture. IFD therefore
 * treats the two fields as one frame. */
typedef enum
{
  /* The access unit is a whole frame, or contains both fields of a frame. */
  IFD_FIELD_NONE,
  /* first field of a frame; the next access unit may be its second field */
  IFD_FIELD_FIRST,
  /* the second field of the frame that began in the previous access unit */
  IFD_FIELD_SECOND
} IfdField;

/* Returns which part of a frame the last access unit is: a whole frame, its
 * first field, or its second field. */
IfdField ifd_classifier_get_field (const IfdClassifier * classifier);
/* Combines the type and the flags of two fields. The result, which describes
 * the frame that consists of both fields, is stored in `first`. */
void ifd_classifier_join_fields (IfdFrame * first, const IfdFrame * second);

/* The slices of an access unit as NAL units, without start codes or lengths.
 * The bytes of a slice are the same in every stream format, and a payloader
 * does not change them.
 */
typedef struct
{
  /* start of the first slice in the access unit */
  const guint8 *first;
  gsize first_size;             /* size of the first slice in bytes */
  gsize size;                   /* size of all slices together, in bytes */
} IfdSlices;

/* Finds the slices of an access unit. Returns FALSE if the access unit has no
 * slices. */
gboolean ifd_classifier_find_slices (const IfdClassifier * classifier,
    const guint8 * data, gsize size, IfdSlices * slices);

/* Returns the number of access units that were malformed for the given reason.
 * Each access unit is counted for at most one reason. */
guint64 ifd_classifier_get_malformed (const IfdClassifier * classifier,
    IfdMalformed reason);
