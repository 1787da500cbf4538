/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Object that handles the input of an element with MPEG video input. It accepts
 * parsed buffers or unparsed bytes, and returns buffers of one frame each.
 * These buffers have timestamps and flags for the frame type. The object also
 * returns the results of two helpers: the framer, which finds the frames and
 * reads their headers, and the timeline, which computes the timestamps and
 * detects lost frames. The pads belong to the element; the object has none. All
 * functions are called from the streaming thread only. */

#pragma once

#include <gst/gst.h>

#include "mpegvideoframer.h"
#include "mpegvideotimeline.h"

/* Caps that every element with MPEG video input accepts */
#define GST_MPEG_VIDEO_INPUT_CAPS \
    "video/mpeg, mpegversion = (int) { 1, 2 }, systemstream = (boolean) false"

typedef struct _GstMpegVideoInput GstMpegVideoInput;

/* One frame. `buffer` has the frame's bytes, PTS, DTS and duration. I-frames do
 * not have the flag DELTA_UNIT, P-frames have DELTA_UNIT, and B-frames have
 * DELTA_UNIT and DROPPABLE. DISCONT, RESYNC and CORRUPTED are set if upstream
 * set them. The buffer carries a GstFrameInfoMeta. */
typedef struct
{
  GstBuffer *buffer;
  /* Information about the frame. The pointer `frame.data` is NULL, because the
   * bytes of the frame are in `buffer`. */
  MpegVideoFrame frame;
  MpegVideoPosition position;
} GstMpegVideoInputFrame;

/* Creates an object that handles the MPEG video input of the element `owner`.
 * Messages and log lines are written in the name of this element. The object
 * does not take a reference to `owner`. */
GstMpegVideoInput *gst_mpeg_video_input_new (GstElement * owner);
void gst_mpeg_video_input_free (GstMpegVideoInput * input);
/* Discards the state of the stream (for a flush or a stop), but keeps the
 * configuration and the counters. */
void gst_mpeg_video_input_reset (GstMpegVideoInput * input);
/* Sets the maximum frame size in bytes. If a buffer was pushed already, the new
 * value takes effect at the next reset. */
void gst_mpeg_video_input_set_max_frame_size (GstMpegVideoInput * input,
    guint bytes);
/* Reads the field `parsed` from `caps`. If the field is TRUE, a frame ends at
 * the end of each buffer, and frames before the first sequence header are
 * accepted. */
void gst_mpeg_video_input_set_caps (GstMpegVideoInput * input, GstCaps * caps);

/* Passes a buffer to the input, which takes ownership of it. The caller must
 * have pulled all frames of the previous buffer before. Returns FALSE if the
 * stream is not an MPEG video elementary stream. In this case, the function has
 * posted an error message. */
gboolean gst_mpeg_video_input_push (GstMpegVideoInput * input,
    GstBuffer * buffer);
/* Ends the stream. Bytes that do not form a complete frame are output as the
 * last frame. If bytes were pushed but contained no frame, the function posts
 * an error message and returns FALSE. */
gboolean gst_mpeg_video_input_drain (GstMpegVideoInput * input);
/* Stores the next frame in `frame`, which the caller releases with
 * gst_mpeg_video_input_frame_clear (). Returns FALSE if there is no complete
 * frame. */
gboolean gst_mpeg_video_input_pull (GstMpegVideoInput * input,
    GstMpegVideoInputFrame * frame);
void gst_mpeg_video_input_frame_clear (GstMpegVideoInputFrame * frame);
/* Stores the next loss in `loss`. Returns FALSE if no further loss is known.
 *
 * Each call of gst_mpeg_video_input_pull () may detect losses. The last losses
 * are detected at the end of the stream: when gst_mpeg_video_input_pull ()
 * returns FALSE after gst_mpeg_video_input_drain (). */
gboolean gst_mpeg_video_input_pull_loss (GstMpegVideoInput * input,
    MpegVideoLoss * loss);
void gst_mpeg_video_input_get_stats (GstMpegVideoInput * input,
    MpegVideoFramerStats * stats);

/* Returns the caps of the frames (transfer full). They contain the fields of
 * upstream's caps, parsed=true, and the fields whose values are taken from the
 * sequence header, such as the width and the height. */
GstCaps *gst_mpeg_video_input_make_caps (GstMpegVideoInput * input,
    const MpegVideoSequence * sequence);
/* Converts a segment event. If `event` is a segment in bytes, replaces it by a
 * segment in time, and ignores the timestamps of the buffers in this segment.
 * These timestamps cannot be trusted: filesrc sends a byte segment and
 * sometimes, but not always, sets the PTS of its first buffer to 0. Takes
 * ownership of `event` and returns an event (transfer full). */
GstEvent *gst_mpeg_video_input_convert_segment (GstMpegVideoInput * input,
    GstEvent * event);
