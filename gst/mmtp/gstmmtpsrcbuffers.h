/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes the GstBuffers that mmtpsrc outputs from the items of its queue. This
 * code converts the due times of the items to timestamps, and sets the flags of
 * the buffers. Only the streaming thread of mmtpsrc uses it. */

#pragma once

#include "gstmmtpcommon.h"
#include "gstmmtpsrcqueue.h"

typedef struct
{
  GstElement *element;          /* not owned; constant */

  /* --- used by the streaming thread only */
  GstMmtpClockMap clock_map;
  /* Value in ns that is added to the times of all buffers, so that no time is
   * negative. */
  gint64 shift;
} GstMmtpSrcBuffers;

/* Difference between two clocks, in ns: monotonic time minus the running time
 * of the pipeline. The due times of buffers are monotonic times. The difference
 * is measured once for all buffers of a list, so that their times are
 * consistent. */
typedef struct
{
  gboolean is_known;            /* FALSE: the pipeline has no clock */
  gint64 difference;
} GstMmtpSrcAnchor;

void gst_mmtp_src_buffers_init (GstMmtpSrcBuffers * self,
    GstElement * element);
/* Called when the element starts, before the streaming thread runs. */
void gst_mmtp_src_buffers_reset (GstMmtpSrcBuffers * self);
/* Measures the difference between the clocks. */
GstMmtpSrcAnchor gst_mmtp_src_buffers_get_anchor (GstMmtpSrcBuffers * self);
/* Returns a buffer with the data of `item`, which must be a buffer and not EOS.
 * The buffer takes ownership of the data, and the item becomes empty. */
GstBuffer *gst_mmtp_src_buffers_make (GstMmtpSrcBuffers * self,
    GstMmtpSrcItem * item, const GstMmtpSrcAnchor * anchor);
