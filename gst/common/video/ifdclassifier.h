/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses access units of H.264 and H.265, and determines their frame types and
 * flags. I-Frame Delay (IFD, ifd.h) uses them to select frames to drop. The
 * classifier is necessary because the parsers of GStreamer do not mark frames
 * to which no other frame refers. It also finds the slices in the bytes of an
 * access unit. It does no I/O and handles invalid input safely: a malformed
 * access unit is counted and treated as a P-frame.
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

/* Reason why an access unit is malformed. If an access unit has several errors,
 * only the first one is counted. The NAL units of an access unit are checked
 * only until the frame type is known. */
typedef enum
{
  /* The data are a byte-stream, but they do not begin with a start code. */
  IFD_MALFORMED_NO_START_CODE,
  /* The length of a NAL unit is 0, or the NAL unit would extend beyond the end
   * of the data. */
  IFD_MALFORMED_LENGTH,
  /* The header of a NAL unit is too short or has a forbidden value. */
  IFD_MALFORMED_HEADER,
  IFD_MALFORMED_SEI,            /* An SEI message exceeds its NAL unit. */
  /* An SPS of H.265 is too short or has too many sub-layers. */
  IFD_MALFORMED_SPS,
  IFD_MALFORMED_LAST
} IfdMalformed;

typedef struct _IfdClassifier IfdClassifier;

IfdClassifier *ifd_classifier_new (IfdCodec codec);
void ifd_classifier_free (IfdClassifier * classifier);

/* Sets the codec data (avcC or hvcC), which are the field codec_data of the
 * caps. In a stream with codec data, each NAL unit is preceded by its length.
 * If `data` is NULL, which is the default, each NAL unit is preceded by a start
 * code (byte-stream). Returns FALSE, without changing anything, if the data are
 * malformed. */
gboolean ifd_classifier_set_codec_data (IfdClassifier * classifier,
    const guint8 * data, gsize size);
/* Call this function after a flush. Discards the state of the stream, but keeps
 * the codec data. */
void ifd_classifier_reset (IfdClassifier * classifier);

/* Determines the type, the flags and the temporal layer of an access unit, and
 * stores them in `frame`. An access unit is a whole frame or one field. `pts`
 * is in ns, or G_MAXUINT64 if unknown.
 *
 * The temporal layer is the sub-layer of H.265 or temporal_id of H.264. It is
 * -1 if the stream does not contain this value.
 *
 * In a stream with layers, the function also sets the slots of the frame (flag
 * IFD_FRAME_SLOTS), which show which frames refer to each other. A stream has
 * layers if it has reference frames outside the base layer. The function begins
 * to set the slots at the first I-frame after it has detected the layers. */
void ifd_classifier_input (IfdClassifier * classifier, const guint8 * data,
    gsize size, guint64 pts, IfdFrame * frame);

/* Says which part of a frame an access unit contains. An H.264 frame may
 * consist of two fields that are separate access units. The second field may
 * refer to the first field, and both fields are displayed as one picture.
 * I-Frame Delay (ifd.h) therefore treats the two fields as one frame. */
typedef enum
{
  /* The access unit is a whole frame, or contains both fields of a frame. */
  IFD_FIELD_NONE,
  /* The access unit is the first field of a frame. The next access unit may be
   * the second field. */
  IFD_FIELD_FIRST,
  /* The access unit is the second field of the frame that began in the previous
   * access unit. */
  IFD_FIELD_SECOND
} IfdField;

/* Returns which part of a frame the last access unit was: a whole frame, the
 * first field of a frame, or the second field. */
IfdField ifd_classifier_get_field (const IfdClassifier * classifier);
/* Computes the type of a frame that consists of two fields. `first` and
 * `second` contain the types of the fields. The result is stored in `first`,
 * whose other members do not change. */
void ifd_classifier_join_fields (IfdFrame * first, const IfdFrame * second);

/* The slices of an access unit, without the start codes or lengths that precede
 * the NAL units. The bytes of a slice are therefore the same in every stream
 * format, and a payloader does not change them.
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
 * An access unit with several errors is counted only for the first error. */
guint64 ifd_classifier_get_malformed (const IfdClassifier * classifier,
    IfdMalformed reason);
