/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes the buffers that mmtpsrc outputs. The functions are documented in
 * gstmmtpsrcbuffers.h. */

#include "gstmmtpsrcbuffers.h"

void
gst_mmtp_src_buffers_init (GstMmtpSrcBuffers * self, GstElement * element)
{
  self->element = element;
}

void
gst_mmtp_src_buffers_reset (GstMmtpSrcBuffers * self)
{
  gst_mmtp_clock_map_reset (&self->clock_map);
  self->shift = 0;
}

GstMmtpSrcAnchor
gst_mmtp_src_buffers_get_anchor (GstMmtpSrcBuffers * self)
{
  GstMmtpSrcAnchor anchor = { FALSE, 0 };

  anchor.is_known = gst_mmtp_clock_map_get (&self->clock_map, self->element,
      &anchor.difference);
  return anchor;
}

/* Returns the running time at which the buffer was due at its sender, plus
 * `shift`. The due time may be before the start of the pipeline. If the sum
 * would therefore be negative, `shift` is first raised so that the sum is 0.
 * The larger `shift` delays all following buffers as well. */
static gint64
get_running_time (GstMmtpSrcBuffers * self, guint64 due,
    const GstMmtpSrcAnchor * anchor)
{
  const gint64 running = (gint64) due - anchor->difference;

  if (running + self->shift < 0)
    self->shift = -running;
  return running + self->shift;
}

/* Sets the times of a buffer. Two values are known: the due time of the buffer,
 * and the prelude, an optional header (docs/wire-mmtp.md, DATA). The prelude
 * has at most one of the flags PTS and DTS:
 * - No flag: The buffer has only a presentation time, which is the due time.
 * - DTS: The buffer has only a decoding time, which is the due time.
 * - PTS: The buffer has both times. The decoding time is the due time. The
 *   prelude contains the difference between the presentation time and the due
 *   time. */
static void
set_times (GstMmtpSrcBuffers * self, GstBuffer * buffer,
    const GstMmtpSrcItem * item, const GstMmtpSrcAnchor * anchor)
{
  const MmtpPrelude *prelude = &item->prelude;
  gint64 pts, dts;

  if (prelude->mask & MMTP_PRELUDE_DURATION)
    GST_BUFFER_DURATION (buffer) = prelude->duration * GST_USECOND;
  if (prelude->mask & MMTP_PRELUDE_NO_TIME || !anchor->is_known)
    return;
  pts = dts = get_running_time (self, item->due, anchor);
  if (prelude->mask & MMTP_PRELUDE_PTS)
    pts += prelude->pts * (gint64) GST_USECOND;
  if (prelude->mask & MMTP_PRELUDE_DTS)
    dts += prelude->dts * (gint64) GST_USECOND;
  if (prelude->mask & MMTP_PRELUDE_PTS || !(prelude->mask & MMTP_PRELUDE_DTS))
    GST_BUFFER_PTS (buffer) = MAX (0, pts);
  if (prelude->mask & (MMTP_PRELUDE_PTS | MMTP_PRELUDE_DTS))
    GST_BUFFER_DTS (buffer) = MAX (0, dts);
  /* A buffer without a PTS gets the DTS as its PTS. GstBaseSrc would do this
   * for a single buffer, but does not do it for the buffers of a list. */
  if (!GST_BUFFER_PTS_IS_VALID (buffer))
    GST_BUFFER_PTS (buffer) = GST_BUFFER_DTS (buffer);
}

static void
set_flags (GstBuffer * buffer, const GstMmtpSrcItem * item)
{
  if (item->flags & MMTP_FLAG_DELTA)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT);
  if (item->flags & MMTP_FLAG_DROPPABLE)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DROPPABLE);
  if (item->flags & MMTP_FLAG_MARKER)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_MARKER);
  if (item->flags & MMTP_FLAG_HEADER)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_HEADER);
  if (item->discont || item->prelude.mask & MMTP_PRELUDE_DISCONT)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
}

GstBuffer *
gst_mmtp_src_buffers_make (GstMmtpSrcBuffers * self, GstMmtpSrcItem * item,
    const GstMmtpSrcAnchor * anchor)
{
  GstBuffer *buffer = gst_network_src_new_buffer (&item->data);

  set_times (self, buffer, item, anchor);
  set_flags (buffer, item);
  return buffer;
}
