/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What ifdqueue takes: which caps, which of them can't be used and what to do
 * about that, and how buffers become frames with a type. No pads: call from the
 * streaming thread only.
 */

#pragma once

#include <gst/gst.h>

#include "gstifd.h"
#include "gstmpegvideoinput.h"
#include "ifdqueueline.h"

#define GST_IFD_QUEUE_USABLE_CAPS \
    GST_MPEG_VIDEO_INPUT_CAPS "; " GST_H26X_CAPS
/* Linked, so that an error can tell what is missing before ifdqueue */
#define GST_IFD_QUEUE_UNUSABLE_CAPS \
    "video/x-h264; video/x-h265; " \
    "video/mpeg, systemstream = (boolean) true; video/mpegts; " \
    "application/x-rtp"

typedef struct _GstIfdQueueInput GstIfdQueueInput;

/* Counters; they never go back */
typedef struct
{
  MpegVideoFramerStats framer;
  guint64 malformed[IFD_MALFORMED_LAST];        /* H.264 and H.265 */
} GstIfdQueueInputStats;

/* Releases what the item owns: all objects but a query, which belongs to the
 * thread that waits for its answer. */
void gst_ifd_queue_item_clear (IfdLineItem * item);

/* owner: for messages; not referenced */
GstIfdQueueInput *gst_ifd_queue_input_new (GstElement * owner,
    guint max_frame_size);
void gst_ifd_queue_input_free (GstIfdQueueInput * input);
/* Forgets the stream (flush); keeps configuration, caps and counters. */
void gst_ifd_queue_input_reset (GstIfdQueueInput * input);

/* Which caps upstream may choose, the usable ones first. downstream: what is
 * taken there; filter: or NULL. */
GstCaps *gst_ifd_queue_input_query_caps (GstCaps * downstream,
    GstCaps * filter);
/* FALSE: they can't be used, and an error that says what to do was posted. For
 * MPEG video pull () tells the caps of the frames; the others go on as they
 * are. */
gboolean gst_ifd_queue_input_set_caps (GstIfdQueueInput * input,
    GstCaps * caps);
gboolean gst_ifd_queue_input_is_mpeg (const GstIfdQueueInput * input);
/* Raw bytes: a frame is whole when the next one begins. */
gboolean gst_ifd_queue_input_is_raw (const GstIfdQueueInput * input);
/* Something may wait for what comes next: raw bytes, or the first field of a
 * frame for the second. */
gboolean gst_ifd_queue_input_is_pending (const GstIfdQueueInput * input);
/* ns; the longest there is where upstream does not say */
GstClockTime gst_ifd_queue_input_get_frame_duration (const GstIfdQueueInput *
    input);
GstEvent *gst_ifd_queue_input_convert_segment (GstIfdQueueInput * input,
    GstEvent * event);
/* Caps for a stream of MPEG video without a frame so far; or NULL */
GstCaps *gst_ifd_queue_input_make_caps (GstIfdQueueInput * input);

/* Takes the buffer. FALSE: an error was posted. */
gboolean gst_ifd_queue_input_push (GstIfdQueueInput * input,
    GstBuffer * buffer);
/* What is pending is the end of a stream. FALSE: an error was posted. */
gboolean gst_ifd_queue_input_drain (GstIfdQueueInput * input);
/* The next frame, or FALSE. All of item is set but the due time; what it owns
 * is the caller's. caps: NULL, or new ones that go before it, the caller's. */
gboolean gst_ifd_queue_input_pull (GstIfdQueueInput * input,
    IfdLineItem * item, GstCaps ** caps);
void gst_ifd_queue_input_get_stats (const GstIfdQueueInput * input,
    GstIfdQueueInputStats * stats);
