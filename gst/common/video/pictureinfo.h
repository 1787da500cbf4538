/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a buffer of video is to the others: a part of a key frame, of a picture
 * that others need, or of one that none needs. It is read from the buffer, of
 * MPEG video, H.264 and H.265, as frames or NAL units and over RTP, because
 * stock elements never mark the pictures that none needs. A core: bytes in, a
 * description out. It trusts no byte: what it cannot read is unknown.
 *
 * Sections are those of ISO/IEC 13818-2, ITU-T H.264 and H.265, and of the
 * payload formats: RFC 2250, RFC 6184 and RFC 7798.
 */

#pragma once

#include <glib.h>

typedef enum
{
  PICTURE_FORMAT_MPEG,          /* whole frames of MPEG-1 and MPEG-2 video */
  PICTURE_FORMAT_H264,          /* whole access units */
  PICTURE_FORMAT_H265,
  PICTURE_FORMAT_H264_NAL,      /* whole NAL units */
  PICTURE_FORMAT_H265_NAL,
  PICTURE_FORMAT_RTP_MPEG,      /* packets of RTP */
  PICTURE_FORMAT_RTP_H264,
  PICTURE_FORMAT_RTP_H265,
  PICTURE_FORMAT_LAST
} PictureFormat;

typedef enum
{
  PICTURE_KIND_UNKNOWN,
  PICTURE_KIND_PART,            /* of a picture that other buffers tell, as its
                                 * parameter sets */
  PICTURE_KIND_DROPPABLE,       /* no other picture needs it */
  PICTURE_KIND_REFERENCE,       /* others need it, and it needs others */
  PICTURE_KIND_KEY              /* it needs no other */
} PictureKind;

typedef struct
{
  PictureKind kind;
  gboolean is_leading;          /* it comes behind a key frame and needs
                                 * pictures before that one */
} PictureInfo;

typedef struct _PictureReader PictureReader;

PictureReader *picture_reader_new (PictureFormat format);
void picture_reader_free (PictureReader * reader);

/* avcC or hvcC of the caps, where a length stands before each NAL unit. FALSE:
 * it is malformed, or the format has none; nothing changed. */
gboolean picture_reader_set_codec_data (PictureReader * reader,
    const guint8 * data, gsize size);
/* Flush: forgets the last key frame, but not the codec data */
void picture_reader_reset (PictureReader * reader);

/* Of the next buffer of the stream. `pts`: ns, or G_MAXUINT64 for none.
 * `is_key`: the buffer is marked as one that needs no other, which counts where
 * the bytes do not tell an intra picture from another reference. */
void picture_reader_input (PictureReader * reader, const guint8 * data,
    gsize size, guint64 pts, gboolean is_key, PictureInfo * info);
