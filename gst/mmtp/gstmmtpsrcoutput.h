/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The output of mmtpsrc: what its streaming thread does with the items of the
 * queue. It sets the caps of the pad, makes the buffers, lets the joiner
 * (mmtptsjoiner.h) process transport streams, and ends the stream.
 *
 * Only the streaming thread uses this code, except where a comment says that
 * the streaming thread does not run. The lock of the element is not held. */

#pragma once

#include "gstmmtpsrcbuffers.h"
#include "gstmmtpsrcqueue.h"
#include "mmtptsjoiner.h"

/* maximum length of a buffer list */
#define GST_MMTP_SRC_MAX_LIST 64

typedef struct
{
  /* --- not owned, constant */
  GstNetworkSrc *src;           /* the element */
  GstMmtpSrcQueue *queue;

  /* --- used by the streaming thread only */
  GstMmtpSrcBuffers buffers;
  /* Text of the sender's caps, if the caps that are set on the pad come from
   * the sender. Otherwise NULL: the pad has no caps yet, or the application has
   * set the caps. */
  GRefString *caps_in_use;
  /* object that makes a valid transport stream from the received data, even if
   * some data are missing (mmtptsjoiner.h) */
  MmtpTsJoiner *joiner;
  /* TRUE if the latest buffer that was removed from the queue belonged to a
   * transport stream, so that it was passed to `joiner` */
  gboolean is_joined;
  /* `joiner` makes a valid stream of the received data. It removes incomplete
   * pictures from the stream, and counts them. This is the latest known value
   * of its counter. When the counter increases, a line is logged. */
  guint64 n_incomplete;
  /* The next items (buffers, or the end of the stream). They have been removed
   * from the queue, and are processed when `joiner` has no more output. */
  GstMmtpSrcItem next[GST_MMTP_SRC_MAX_LIST];
  guint n_next;
} GstMmtpSrcOutput;

/* Initializes the output of the element `src`, whose queue is `queue`. */
void gst_mmtp_src_output_init (GstMmtpSrcOutput * self, GstNetworkSrc * src,
    GstMmtpSrcQueue * queue);
void gst_mmtp_src_output_finalize (GstMmtpSrcOutput * self);
/* Called when the element starts, before the streaming thread runs. */
void gst_mmtp_src_output_start (GstMmtpSrcOutput * self);
/* Called when the element stops, when the streaming thread does not run any
 * more. Frees all data. */
void gst_mmtp_src_output_clear (GstMmtpSrcOutput * self);

/* Waits for the next buffers and outputs them, as the virtual function create
 * of GstPushSrc demands. */
GstFlowReturn gst_mmtp_src_output_create (GstMmtpSrcOutput * self,
    GstBuffer ** buffer);
