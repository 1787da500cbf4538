/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Input handling of ifdqueue. This object decides which caps are accepted and
 * which error is posted for caps that cannot be used, and it turns buffers into
 * frames with a type. The object has no pads. All functions are called from the
 * streaming thread only.
 */

#pragma once

#include <gst/gst.h>

#include "gstifd.h"
#include "gstmpegvideoinput.h"
#include "ifdqueueline.h"

/* Caps of transport streams. They do not contain the field packetsize, because
 * many streams do not have this field. If a stream has it, its value must be
 * 188; is_usable () checks this. */
#define GST_IFD_QUEUE_TS_CAPS "video/mpegts, systemstream = (boolean) true"

#define GST_IFD_QUEUE_USABLE_CAPS \
    GST_MPEG_VIDEO_INPUT_CAPS "; " GST_H26X_CAPS "; " GST_SLOT_CAPS "; " \
    GST_IFD_QUEUE_TS_CAPS
/* Caps that ifdqueue accepts when its pads are linked, but with which it posts
 * an error when the stream arrives. The error message can then name the element
 * that is missing upstream. If linking failed instead, the user would not learn
 * this name. */
#define GST_IFD_QUEUE_UNUSABLE_CAPS \
    "video/x-h264; video/x-h265; video/x-av1; " \
    "video/mpeg, systemstream = (boolean) true; video/mpegts; " \
    "application/x-rtp"

typedef struct _GstIfdQueueInput GstIfdQueueInput;

/* Counters, which never decrease */
typedef struct
{
  MpegVideoFramerStats framer;
  /* access units of H.264 and H.265 */
  guint64 malformed[IFD_MALFORMED_LAST];
  guint64 malformed_frames;     /* frames of VP8, VP9 and AV1 */
} GstIfdQueueInputStats;

/* Releases the objects that `item` owns. A query is not released, because it
 * belongs to the thread that waits for its answer. */
void gst_ifd_queue_item_clear (IfdLineItem * item);

/* Creates an input that posts its messages on the element `owner`. It does not
 * take a reference to this element. `max_frame_size` is the maximum size in
 * bytes of a frame of unparsed MPEG video. */
GstIfdQueueInput *gst_ifd_queue_input_new (GstElement * owner,
    guint max_frame_size);
void gst_ifd_queue_input_free (GstIfdQueueInput * input);
/* Discards the state of the stream, for example after a flush. Keeps the
 * configuration, the caps and the counters. */
void gst_ifd_queue_input_reset (GstIfdQueueInput * input);

/* Returns the caps that upstream may choose (transfer full). Usable caps come
 * first: ifdqueue can process streams with these caps. Unusable caps follow:
 * upstream can be linked with them, but ifdqueue posts an error when the stream
 * arrives. `downstream` are the caps that downstream accepts. `filter` may be
 * NULL. */
GstCaps *gst_ifd_queue_input_query_caps (GstCaps * downstream,
    GstCaps * filter);
/* Sets the caps of the input. If these caps cannot be used, posts an error and
 * returns FALSE. For MPEG video, the caps of the output differ from `caps`, the
 * caps of the input. gst_ifd_queue_input_pull () returns the caps of the output
 * later. For all other formats, the caps of the output are equal to `caps`. */
gboolean gst_ifd_queue_input_set_caps (GstIfdQueueInput * input,
    GstCaps * caps);
/* Posts an error and returns FALSE. Called for caps that cannot be used: they
 * do not match GST_IFD_QUEUE_USABLE_CAPS, or downstream does not accept them.
 */
gboolean gst_ifd_queue_input_refuse_caps (GstIfdQueueInput * input,
    GstCaps * caps);
gboolean gst_ifd_queue_input_is_mpeg (const GstIfdQueueInput * input);
/* Returns whether the input is unparsed. In unparsed input, a frame is known to
 * be complete only when the next frame begins. */
gboolean gst_ifd_queue_input_is_raw (const GstIfdQueueInput * input);
/* Returns whether `input` may hold data that wait for further input: unparsed
 * bytes, or the first field of a frame. */
gboolean gst_ifd_queue_input_is_pending (const GstIfdQueueInput * input);
/* Returns the duration of a frame in ns, computed from the frame rate. If the
 * frame rate is unknown, returns the longest duration that a frame of MPEG
 * video can have. */
GstClockTime gst_ifd_queue_input_get_frame_duration (const GstIfdQueueInput *
    input);
GstEvent *gst_ifd_queue_input_convert_segment (GstIfdQueueInput * input,
    GstEvent * event);
/* Returns caps that can be sent before the first frame of an MPEG video stream
 * (transfer full). Returns NULL if the stream is not MPEG video, or if no new
 * caps are needed. */
GstCaps *gst_ifd_queue_input_make_caps (GstIfdQueueInput * input);

/* Adds a buffer, and takes ownership of it. Returns FALSE if an error was
 * posted. */
gboolean gst_ifd_queue_input_push (GstIfdQueueInput * input,
    GstBuffer * buffer);
/* Ends the stream: turns the data that wait for further input into a frame.
 * Returns FALSE if an error was posted. */
gboolean gst_ifd_queue_input_drain (GstIfdQueueInput * input);
/* Stores the next frame in `item`, or returns FALSE if there is none. Sets all
 * fields of `item` except the due time. The caller becomes the owner of the
 * objects of `item`. If new caps have to be sent before the frame, `caps` is
 * set to them (transfer full); otherwise it is set to NULL. */
gboolean gst_ifd_queue_input_pull (GstIfdQueueInput * input,
    IfdLineItem * item, GstCaps ** caps);
/* Returns whether `item` contains transport stream packets that must not be
 * dropped. */
gboolean gst_ifd_queue_input_is_data (const IfdLineItem * item);
void gst_ifd_queue_input_get_stats (const GstIfdQueueInput * input,
    GstIfdQueueInputStats * stats);
