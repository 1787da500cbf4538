/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The framer: bytes of an MPEG-1 or MPEG-2 video elementary stream in, whole
 * frames with an index of their start codes out. A core: no I/O, no clock.
 *
 * A frame is one coded picture, or the two field pictures of one frame, with
 * the sequence and GOP headers before it and a sequence end code behind it.
 * Whatever is damaged is counted by its reason; memory is bounded by
 * max_frame_size.
 */

#pragma once

#include "mpegvideo.h"

#define MPEG_VIDEO_TIME_NONE G_MAXUINT64

/* 13818-2 table 8-13: the largest VBV buffer, 4:2:2@High, holds 47,185,920
 * bits; no conforming coded frame is larger. */
#define MPEG_VIDEO_DEFAULT_MAX_FRAME_SIZE (6 * 1024 * 1024)

/* One start code and what follows it, up to the next start code */
typedef struct
{
  guint32 offset;               /* of the start code, from the frame's start */
  guint32 code;                 /* start code value, 0x00 to 0xff */
} MpegVideoUnit;

typedef struct
{
  MpegVideoPicture header;
  guint first_unit;             /* first unit of its headers (sequence, ...) */
  guint picture_unit;           /* its picture start code */
  guint first_slice;            /* unit of its first slice; end_unit if none */
  guint end_unit;               /* one past its last unit */
} MpegVideoFramePicture;

typedef enum
{
  /* a slice row, the whole body or the second field is not there */
  MPEG_VIDEO_FRAME_INCOMPLETE = 1 << 0,
  /* no sequence header has been seen since the stream began */
  MPEG_VIDEO_FRAME_NO_SEQUENCE = 1 << 1,
  /* never set by the framer: something is known to be missing before it; */
  MPEG_VIDEO_FRAME_DISCONT = 1 << 2,
  /* it begins a new stream, in which nothing goes on from the old one */
  MPEG_VIDEO_FRAME_RESYNC = 1 << 3,
} MpegVideoFrameFlags;

typedef struct
{
  guint8 *data;                 /* see mpeg_video_framer_poll_output () */
  gsize size;                   /* bytes */
  MpegVideoUnit *units;         /* owned; n_units of them */
  guint n_units;
  MpegVideoFramePicture pictures[2];
  guint n_pictures;             /* 1 or 2 */
  guint n_slices;
  MpegVideoFrameFlags flags;
  gboolean has_sequence;        /* a sequence header is inside */
  gboolean has_sequence_end;    /* a sequence end code closes it */
  gboolean has_gop;             /* a GOP header is inside */
  MpegVideoGop gop;             /* valid if has_gop */
  MpegVideoSequence sequence;   /* in force for this frame */
  guint64 pts, dts;             /* ns, of the input that began it; or NONE */
} MpegVideoFrame;

typedef struct
{
  gsize max_frame_size;         /* bytes; 0: the default */
  gboolean need_sequence;       /* drop all before the first sequence header */
} MpegVideoFramerConfig;

/* Counters never go back. */
typedef struct
{
  guint64 frames;               /* whole or not */
  guint64 incomplete;           /* of these, flagged INCOMPLETE */
  guint64 junk_bytes;           /* belonged to no frame */
  guint64 too_big;              /* frames given up at max_frame_size */
  guint64 truncated;            /* frames cut by a discontinuity */
  guint64 bad_headers;          /* sequence, GOP or picture header unreadable */
  guint64 before_sequence;      /* pictures before the first sequence header */
  guint64 foreign_codes;        /* system start codes (B9 to FF): no video ES */
} MpegVideoFramerStats;

typedef struct _MpegVideoFramer MpegVideoFramer;

MpegVideoFramer *mpeg_video_framer_new (const MpegVideoFramerConfig * config);
void mpeg_video_framer_free (MpegVideoFramer * framer);
/* Forgets all but the counters and the configuration. */
void mpeg_video_framer_reset (MpegVideoFramer * framer);

/* Bytes arrived. pts and dts (ns or NONE) belong to the first picture that
 * starts in them. */
void mpeg_video_framer_input (MpegVideoFramer * framer, const guint8 * data,
    gsize size, guint64 pts, guint64 dts);
/* More of the same input: its times belong to it too. */
void mpeg_video_framer_input_more (MpegVideoFramer * framer,
    const guint8 * data, gsize size);
/* The same for bytes that hold exactly one frame and end with it, without a
 * copy: fills frame, whose data stays the caller's, and returns TRUE. FALSE:
 * nothing was taken (they are not one whole frame, or bytes are pending); use
 * mpeg_video_framer_input () and mpeg_video_framer_drain (). */
gboolean mpeg_video_framer_input_frame (MpegVideoFramer * framer,
    const guint8 * data, gsize size, guint64 pts, guint64 dts,
    MpegVideoFrame * frame);
/* What is pending is a whole frame: end of stream, or a frame's last bytes. */
void mpeg_video_framer_drain (MpegVideoFramer * framer);
/* Bytes are missing here: gives up the frame that they cut. */
void mpeg_video_framer_discont (MpegVideoFramer * framer);

/* Moves the next frame out. Its data (g_malloc) and units are then the
 * caller's: data to g_free, then mpeg_video_frame_clear (). */
gboolean mpeg_video_framer_poll_output (MpegVideoFramer * framer,
    MpegVideoFrame * frame);
void mpeg_video_framer_get_stats (const MpegVideoFramer * framer,
    MpegVideoFramerStats * stats);

/* Frees the index of a frame, not its data. */
void mpeg_video_frame_clear (MpegVideoFrame * frame);
/* The end of unit i: where the next one starts, or the end of the frame */
static inline gsize
mpeg_video_frame_unit_end (const MpegVideoFrame * frame, guint i)
{
  return i + 1 < frame->n_units ? frame->units[i + 1].offset : frame->size;
}

/* The end of its last picture: its size, less a sequence end code */
gsize mpeg_video_frame_picture_end (const MpegVideoFrame * frame);
