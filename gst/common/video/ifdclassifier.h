/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads access units of H.264 and H.265 and says what each of them is to the
 * choice of frames (ifd.h), for stock parsers never mark the frames to which
 * none refers; and which of its bytes are picture. A core: bytes in, type and
 * flags out. It trusts no byte: what is malformed is counted, and passes as a
 * P-frame.
 *
 * Sections are those of ITU-T H.264 (ISO/IEC 14496-10), H.265 (ISO/IEC 23008-2)
 * and, for codec data, ISO/IEC 14496-15.
 */

#pragma once

#include <glib.h>

#include "ifd.h"

typedef enum
{
  IFD_CODEC_H264,
  IFD_CODEC_H265
} IfdCodec;

/* Why an access unit is malformed: the first fault that is found. Units behind
 * those that decide are not looked at. */
typedef enum
{
  IFD_MALFORMED_NO_START_CODE,  /* a byte-stream that begins without one */
  IFD_MALFORMED_LENGTH,         /* of a NAL unit: 0, or beyond the end */
  IFD_MALFORMED_HEADER,         /* of a NAL unit: too short, or forbidden */
  IFD_MALFORMED_SEI,            /* a message goes beyond its NAL unit */
  IFD_MALFORMED_SPS,            /* too short, or too many sub-layers */
  IFD_MALFORMED_LAST
} IfdMalformed;

/* "no-start-code", "length", ...: the words of statistics */
const gchar *ifd_malformed_get_name (IfdMalformed reason);

typedef struct _IfdClassifier IfdClassifier;

IfdClassifier *ifd_classifier_new (IfdCodec codec);
void ifd_classifier_free (IfdClassifier * classifier);

/* avcC or hvcC, the codec_data of caps: from now on a length stands before each
 * NAL unit. NULL: a start code does (byte-stream), as in the beginning. FALSE:
 * it is malformed, and nothing changed. */
gboolean ifd_classifier_set_codec_data (IfdClassifier * classifier,
    const guint8 * data, gsize size);
/* Flush: forgets the last I-frame, but not the codec data. */
void ifd_classifier_reset (IfdClassifier * classifier);

/* Sets type and flags of the frame for a whole access unit, or for one field of
 * it. pts: ns, or G_MAXUINT64 for none. */
void ifd_classifier_input (IfdClassifier * classifier, const guint8 * data,
    gsize size, guint64 pts, IfdFrame * frame);

/* A frame of H.264 may be two fields, each an access unit of its own. These two
 * refer to each other and are shown as one picture, so they are one frame to
 * the choice of frames. */
typedef enum
{
  IFD_FIELD_NONE,               /* a frame, or both of its fields */
  IFD_FIELD_FIRST,              /* the next access unit may be its second */
  IFD_FIELD_SECOND              /* of the frame whose first came just before */
} IfdField;

/* Which part of a frame the last access unit is */
IfdField ifd_classifier_get_field (const IfdClassifier * classifier);
/* Makes type and flags of a first field those of the frame of both. */
void ifd_classifier_join_fields (IfdFrame * first, const IfdFrame * second);

/* The slices of an access unit, as NAL units without what frames these: the
 * same bytes in every stream format, and behind every payloader */
typedef struct
{
  const guint8 *first;          /* the first of them, in the access unit */
  gsize first_size;             /* bytes */
  gsize size;                   /* bytes, of all together */
} IfdSlices;

/* FALSE: there are none */
gboolean ifd_classifier_find_slices (const IfdClassifier * classifier,
    const guint8 * data, gsize size, IfdSlices * slices);

/* Access units that were malformed for this reason: at most one for each */
guint64 ifd_classifier_get_malformed (const IfdClassifier * classifier,
    IfdMalformed reason);
