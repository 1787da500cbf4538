/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Determines how important the picture in a buffer is: whether it is a key
 * frame, a reference picture or a non-reference picture. The parser reads the
 * bytes of the picture, because GStreamer's own elements do not mark
 * non-reference pictures.
 *
 * The formats are MPEG video, H.264, H.265, VP8, VP9 and AV1, as frames or in
 * RTP packets. H.264 and H.265 may also be single NAL units. The parser does no
 * I/O. It handles invalid input safely: if the data cannot be parsed, the kind
 * of the picture is unknown.
 *
 * Section numbers refer to ISO/IEC 13818-2, to ITU-T H.264 and H.265, and to
 * the RTP payload formats: RFC 2250 (MPEG video), RFC 6184 (H.264), RFC 7798
 * (H.265), RFC 7741 (VP8), RFC 9628 (VP9) and RTP Payload Format For AV1 1.0.0.
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
  /* The buffer contains no picture, but data that the pictures in other buffers
   * need, such as parameter sets. */
  PICTURE_KIND_PART,
  /* non-reference picture: no other picture refers to it */
  PICTURE_KIND_DROPPABLE,
  /* a picture that refers to other pictures, and to which later pictures may
   * refer */
  PICTURE_KIND_REFERENCE,
  PICTURE_KIND_KEY              /* key frame: refers to no other picture */
} PictureKind;

typedef struct
{
  PictureKind kind;
  /* TRUE if the picture follows a key frame in decoding order, but also refers
   * to pictures before this key frame */
  gboolean is_leading;
  /* number of the temporal layer, or of the layer in a B-pyramid; 0 for the
   * base layer, or if the layer is unknown */
  guint layer;
  /* TRUE if the fields `uses` and `updates` are valid. Each of their bits is a
   * slot. A slot is a part of the decoder's memory for later pictures, such as
   * a reference picture. `uses` contains the slots that a decoder needs for
   * this picture. `updates` contains the slots that it writes after this
   * picture. IfdFrame (ifd.h) has the same fields. */
  gboolean has_slots;
  guint32 uses, updates;
} PictureInfo;

typedef struct _PictureReader PictureReader;

PictureReader *picture_reader_new (PictureFormat format);
void picture_reader_free (PictureReader * reader);

/* Sets the codec data of the caps (avcC, hvcC or av1C). With avcC or hvcC, each
 * NAL unit is preceded by its length instead of a start code. Returns FALSE if
 * the format does not use codec data. Also returns FALSE if the data are
 * malformed; the avcC or hvcC data of the last successful call are then still
 * used. */
gboolean picture_reader_set_codec_data (PictureReader * reader,
    const guint8 * data, gsize size);
/* Discards what is known about the stream, for example after a flush. The codec
 * data are kept. */
void picture_reader_reset (PictureReader * reader);

/* Parses the next buffer of the stream and fills `info`. `pts` is in ns, or
 * G_MAXUINT64 if unknown. `is_key` says whether the buffer has the flag of a
 * key frame. This flag is needed for formats whose bytes do not show whether a
 * reference picture is a key frame. */
void picture_reader_input (PictureReader * reader, const guint8 * data,
    gsize size, guint64 pts, gboolean is_key, PictureInfo * info);
/* Fills `info` as picture_reader_input () does. The caller has parsed the
 * picture already, and passes the result in `frame`. */
void picture_reader_input_frame (PictureReader * reader,
    const IfdFrame * frame, PictureInfo * info);
