/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What every element that takes MPEG video does with its input: parsed buffers
 * or raw bytes in, buffers of one frame each out, with timestamps, frame-type
 * flags, and what the framer and the timeline know of them. No pads: the
 * element owns those; call from the streaming thread only.
 */

#pragma once

#include <gst/gst.h>

#include "mpegvideoframer.h"
#include "mpegvideotimeline.h"

/* The caps that every such element takes */
#define GST_MPEG_VIDEO_INPUT_CAPS \
    "video/mpeg, mpegversion = (int) { 1, 2 }, systemstream = (boolean) false"

typedef struct _GstMpegVideoInput GstMpegVideoInput;

/* One frame. buffer: the frame's bytes, PTS, DTS, duration; no DELTA_UNIT on
 * I, DELTA_UNIT on P, DELTA_UNIT | DROPPABLE on B, DISCONT, CORRUPTED as
 * upstream said, a GstFrameInfoMeta. */
typedef struct
{
  GstBuffer *buffer;
  MpegVideoFrame frame;         /* its data pointer is not valid: map buffer */
  MpegVideoPosition position;
} GstMpegVideoInputFrame;

/* owner: for log messages and warnings; not referenced */
GstMpegVideoInput *gst_mpeg_video_input_new (GstElement * owner);
void gst_mpeg_video_input_free (GstMpegVideoInput * input);
/* Forgets the stream (flush, stop); keeps configuration and counters. */
void gst_mpeg_video_input_reset (GstMpegVideoInput * input);
/* Bytes; takes effect at the next reset or before the first buffer */
void gst_mpeg_video_input_set_max_frame_size (GstMpegVideoInput * input,
    guint bytes);
/* Reads parsed=true: then each buffer ends a frame, and frames before the
 * first sequence header pass. */
void gst_mpeg_video_input_set_caps (GstMpegVideoInput * input, GstCaps * caps);

/* Takes the buffer, when all frames before it were pulled. FALSE: the stream is
 * no MPEG video elementary stream and an error message was posted on the
 * owner. */
gboolean gst_mpeg_video_input_push (GstMpegVideoInput * input,
    GstBuffer * buffer);
/* End of stream: what is pending becomes a frame. FALSE, with an error
 * message, when bytes came but never a frame. */
gboolean gst_mpeg_video_input_drain (GstMpegVideoInput * input);
/* The next frame; gst_mpeg_video_input_frame_clear () it. */
gboolean gst_mpeg_video_input_pull (GstMpegVideoInput * input,
    GstMpegVideoInputFrame * frame);
void gst_mpeg_video_input_frame_clear (GstMpegVideoInputFrame * frame);
/* Frames that the last one pulled showed to be lost; after a drain, once
 * gst_mpeg_video_input_pull () has returned FALSE, all that are left */
gboolean gst_mpeg_video_input_pull_loss (GstMpegVideoInput * input,
    MpegVideoLoss * loss);
void gst_mpeg_video_input_get_stats (GstMpegVideoInput * input,
    MpegVideoFramerStats * stats);

/* Caps of the frames: upstream's fields kept, parsed=true and what the
 * sequence header says added. */
GstCaps *gst_mpeg_video_input_make_caps (GstMpegVideoInput * input,
    const MpegVideoSequence * sequence);
/* A time segment in place of a byte segment (filesrc), whose buffers then have
 * no times either: filesrc gives its first one a PTS of 0, or not, as it
 * happens. Takes and returns an event. */
GstEvent *gst_mpeg_video_input_convert_segment (GstMpegVideoInput * input,
    GstEvent * event);
