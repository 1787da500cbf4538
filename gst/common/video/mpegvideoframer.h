/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The framer splits an MPEG-1 or MPEG-2 video elementary stream into frames,
 * and returns each frame with an index of its start codes. It does no I/O and
 * reads no clock.
 *
 * A frame is one coded picture, or two field pictures that are displayed as one
 * frame. The sequence and GOP headers before the picture and a sequence end
 * code after it belong to the frame. Damaged data are counted, with one counter
 * for each kind of damage. The parameter max_frame_size limits the use of
 * memory.
 */

#pragma once

#include "mpegvideo.h"

#define MPEG_VIDEO_TIME_NONE G_MAXUINT64

/* Default of the maximum frame size, in bytes. No conforming coded frame is
 * larger than the VBV buffer (video buffering verifier). The largest VBV buffer
 * is that of the 4:2:2 profile at High level, with 47,185,920 bits (13818-2
 * table 8-13). */
#define MPEG_VIDEO_DEFAULT_MAX_FRAME_SIZE (6 * 1024 * 1024)

/* A unit: a start code and the data after it, up to the next start code */
typedef struct
{
  /* offset of the start code from the start of the frame */
  guint32 offset;
  guint32 code;                 /* value of the start code, 0x00 to 0xff */
} MpegVideoUnit;

typedef struct
{
  MpegVideoPicture header;
  /* Index of the first unit of the picture. A unit is a start code with the
   * data after it. The units before the first picture header of a frame, such
   * as the sequence header, belong to the first picture. */
  guint first_unit;
  /* Index of the unit that contains the picture header. A unit is a start code
   * with the data after it. */
  guint picture_unit;
  /* index of the unit with the first slice; equals end_unit if the picture has
   * no slice */
  guint first_slice;
  /* index of the unit after the last unit of the picture */
  guint end_unit;
} MpegVideoFramePicture;

typedef enum
{
  /* The frame is incomplete: it lacks a row of slices, all slices of a picture,
   * or the second field. */
  MPEG_VIDEO_FRAME_INCOMPLETE = 1 << 0,
  /* No sequence header has been received since the start of the stream. */
  MPEG_VIDEO_FRAME_NO_SEQUENCE = 1 << 1,
  /* Data that precede the frame in the stream are missing. Only the caller of
   * the framer may set this flag; the framer itself never sets it. */
  MPEG_VIDEO_FRAME_DISCONT = 1 << 2,
  /* The frame starts a new stream that does not continue the previous stream.
   * Only the caller of the framer may set this flag; the framer itself never
   * sets it. */
  MPEG_VIDEO_FRAME_RESYNC = 1 << 3,
} MpegVideoFrameFlags;

typedef struct
{
  /* The data of the frame. There are two ways to get a frame. If it comes from
   * mpeg_video_framer_poll_output (), `data` belongs to the caller, who frees
   * it with g_free (). If it comes from mpeg_video_framer_input_frame (),
   * `data` points to the bytes that the caller passed to
   * mpeg_video_framer_input_frame (). In this case the frame does not own the
   * data. */
  guint8 *data;
  gsize size;                   /* in bytes */
  MpegVideoUnit *units;         /* array of n_units elements, owned */
  guint n_units;
  MpegVideoFramePicture pictures[2];
  guint n_pictures;             /* 1 or 2 */
  guint n_slices;
  MpegVideoFrameFlags flags;
  gboolean has_sequence;        /* contains a sequence header */
  gboolean has_sequence_end;    /* ends with a sequence end code */
  gboolean has_gop;             /* contains a GOP header */
  MpegVideoGop gop;             /* valid if has_gop */
  MpegVideoSequence sequence;   /* sequence parameters of this frame */
  /* timestamps, in ns, of the input in which the frame began;
   * MPEG_VIDEO_TIME_NONE if unknown */
  guint64 pts, dts;
} MpegVideoFrame;

typedef struct
{
  gsize max_frame_size;         /* in bytes; 0: the default */
  /* If TRUE, everything before the first sequence header is discarded. */
  gboolean need_sequence;
} MpegVideoFramerConfig;

/* Counters of the framer. The counters never decrease. */
typedef struct
{
  guint64 frames;               /* complete and incomplete frames */
  /* number of frames with the flag MPEG_VIDEO_FRAME_INCOMPLETE, which are also
   * counted in `frames` */
  guint64 incomplete;
  /* number of bytes that were discarded because they belonged to no frame */
  guint64 junk_bytes;
  /* number of frames that were discarded because they exceeded max_frame_size
   */
  guint64 too_big;
  guint64 truncated;            /* frames that a discontinuity cut off */
  guint64 bad_headers;          /* invalid sequence, GOP and picture headers */
  /* number of pictures that were discarded because no sequence header had been
   * received before them */
  guint64 before_sequence;
  /* number of start codes with the values B9 to FF, which belong to the system
   * layer and do not occur in a video elementary stream */
  guint64 foreign_codes;
} MpegVideoFramerStats;

typedef struct _MpegVideoFramer MpegVideoFramer;

MpegVideoFramer *mpeg_video_framer_new (const MpegVideoFramerConfig * config);
void mpeg_video_framer_free (MpegVideoFramer * framer);
/* Resets the framer, but keeps the counters and the configuration. */
void mpeg_video_framer_reset (MpegVideoFramer * framer);

/* Passes bytes to the framer. The timestamps `pts` and `dts` belong to the
 * first picture that starts in these bytes. A timestamp is in ns, or is
 * MPEG_VIDEO_TIME_NONE if unknown. */
void mpeg_video_framer_input (MpegVideoFramer * framer, const guint8 * data,
    gsize size, guint64 pts, guint64 dts);
/* Passes further bytes of the same input buffer to the framer. The timestamps
 * that were passed to mpeg_video_framer_input () apply to these bytes as well.
 */
void mpeg_video_framer_input_more (MpegVideoFramer * framer,
    const guint8 * data, gsize size);
/* Alternative to mpeg_video_framer_input () for input that is exactly one
 * frame. In this case the function fills `frame` without copying the data,
 * which still belong to the caller, and returns TRUE. If the input is not
 * exactly one frame, or if the framer still stores bytes of earlier input, the
 * function processes nothing and returns FALSE. The caller then has to use
 * mpeg_video_framer_input () and mpeg_video_framer_drain (). */
gboolean mpeg_video_framer_input_frame (MpegVideoFramer * framer,
    const guint8 * data, gsize size, guint64 pts, guint64 dts,
    MpegVideoFrame * frame);
/* Completes the frame whose bytes the framer has stored so far. Call this
 * function at the end of the stream, or when all bytes of a frame have been
 * passed to the framer. */
void mpeg_video_framer_drain (MpegVideoFramer * framer);
/* Call this function when data are missing. Discards the current frame, which
 * is incomplete because of the missing data. */
void mpeg_video_framer_discont (MpegVideoFramer * framer);

/* Stores the next complete frame in `frame`, or returns FALSE if there is none.
 * The data and the units of the frame then belong to the caller. The caller
 * frees the data with g_free () and the units with mpeg_video_frame_clear ().
 */
gboolean mpeg_video_framer_poll_output (MpegVideoFramer * framer,
    MpegVideoFrame * frame);
void mpeg_video_framer_get_stats (const MpegVideoFramer * framer,
    MpegVideoFramerStats * stats);

/* Frees the array `units` of a frame, but not its data. */
void mpeg_video_frame_clear (MpegVideoFrame * frame);
/* Returns the offset at which unit `i` of the frame ends. A unit is a start
 * code with the data after it, so the unit ends at the start of the next unit
 * or at the end of the frame. */
static inline gsize
mpeg_video_frame_unit_end (const MpegVideoFrame * frame, guint i)
{
  return i + 1 < frame->n_units ? frame->units[i + 1].offset : frame->size;
}

/* Returns the offset at which the last picture of the frame ends. This is the
 * size of the frame, without the sequence end code if there is one. */
gsize mpeg_video_frame_picture_end (const MpegVideoFrame * frame);
