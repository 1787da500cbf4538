/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Determines how important the picture in a buffer is: whether the buffer is
 * part of a key frame, of a reference picture, or of a non-reference picture.
 * The bytes themselves are parsed, because stock elements never mark
 * non-reference pictures.
 *
 * The formats are MPEG video, H.264, H.265, VP8, VP9 and AV1, as frames or in
 * RTP packets. H.264 and H.265 may also be single NAL units. The parser does no
 * I/O and handles invalid input safely: if the data cannot be parsed, the kind
 * of the picture is unknown.
 *
 * Section numbers refer to ISO/IEC 13818-2, ITU-T H.264 and H.265, the payload
 * formats RFC 2250, RFC 6184, RFC 7798, RFC 7741 (VP8) and RFC 9628 (VP9), and
 * the RTP Payload Format For AV1 1.0.0.
 */

#pragma once

#include <glib.h>

#include "ifd.h"

typedef enum
{
  PICTURE_FORMAT_MPEG,          /* complete frames of MPEG-1 or MPEG-2 video */
  PICTURE_FORMAT_H264,          /* complete access units */
  PICTURE_FORMAT_H265,
  PICTURE_FORMAT_H264_NAL,      /* complete NAL units */
  PICTURE_FORMAT_H265_NAL,
  PICTURE_FORMAT_RTP_MPEG,      /* RTP packets */
  PICTURE_FORMAT_RTP_H264,
  PICTURE_FORMAT_RTP_H265,
  PICTURE_FORMAT_VP8,           /* complete frames */
  PICTURE_FORMAT_VP9,           /* complete frames or superframes */
  PICTURE_FORMAT_AV1,           /* complete temporal units */
  PICTURE_FORMAT_AV1_FRAME,     /* complete frames */
  PICTURE_FORMAT_RTP_VP8,
  PICTURE_FORMAT_RTP_VP9,
  PICTURE_FORMAT_RTP_AV1,
  PICTURE_FORMAT_LAST
} PictureFormat;

typedef enum
{
  PICTURE_KIND_UNKNOWN,
  /* The buffer contains no picture, but data that belong to pictures in other
   * buffers, for example parameter sets. */
  PICTURE_KIND_PART,
  /* non-reference picture: no other picture refers to it */
  PICTURE_KIND_DROPPABLE,
  /* a picture that refers to other pictures and is itself a reference of other
   * pictures */
  PICTURE_KIND_REFERENCE,
  PICTURE_KIND_KEY              /* a picture that refers to no other picture */
} PictureKind;

typedef struct
{
  PictureKind kind;
  /* TRUE if the picture follows a key frame in decoding order and refers to
   * pictures before this key frame */
  gboolean is_leading;
  /* layer of the picture; 0 if it is the base layer or unknown */
  guint layer;
  /* TRUE if the fields `uses` and `updates` are valid. A slot is a buffer in
   * which a decoder keeps data for later pictures, such as a reference picture.
   * The two fields are bit masks of the slots that the picture uses and
   * updates, as in IfdFrame (ifd.h). */
  gboolean has_slots;
  guint32 uses, updates;
} PictureInfo;

typedef struct _PictureReader PictureReader;

PictureReader *picture_reader_new (PictureFormat format);
void picture_reader_free (PictureReader * reader);

/* Sets the codec data of the caps (avcC, hvcC or av1C). With avcC or hvcC, each
 * NAL unit is preceded by its length instead of a start code. Returns FALSE if
 * the data are malformed, or if the format does not use codec data. Earlier
 * avcC or hvcC data then stay valid. */
gboolean picture_reader_set_codec_data (PictureReader * reader,
    const guint8 * data, gsize size);
/* Discards the state of the stream after a flush, but keeps the codec data. */
void picture_reader_reset (PictureReader * reader);

/* Parses the next buffer of the stream and fills `info`. `pts` is in ns, or
 * G_MAXUINT64 if unknown. `is_key` says whether the buffer is flagged as a key
 * frame. The flag is used if the bytes do not show whether a reference picture
 * is an intra picture. */
void picture_reader_input (PictureReader * reader, const guint8 * data,
    gsize size, guint64 pts, gboolean is_key, PictureInfo * info);
/* Fills `info` as picture_reader_input () does, but for a picture that the
 * caller has classified already. */
void picture_reader_input_frame (PictureReader * reader,
    const IfdFrame * frame, PictureInfo * info);
