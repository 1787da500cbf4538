/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Buffers and buffer lists of a live source. GstBaseSrc takes a list for a buffer
 * when it has to drop it, in a flush, an end of the stream, or after a pause, and
 * unrefs NULL (gst_base_src_get_range, 1.22). From 1.26 on it also drops a buffer
 * that create returns in PAUSED. Therefore it gets either only while it goes on.
 */

#ifndef __GST_LIVE_LIST_H__
#define __GST_LIVE_LIST_H__

#include <gst/gst.h>
#include <gst/base/gstbasesrc.h>

#include "gstwirelessprelude.h"

G_BEGIN_DECLS

/* From the source's unlock on until unlock_stop */
typedef gboolean (*GstLiveListFunc) (GstBaseSrc * src);

/* In create. Takes the list; waits while the source is paused. FLUSHING: it was
 * dropped */
GST_WIRELESS_API
GstFlowReturn gst_live_list_submit (GstBaseSrc * src, GstBufferList * list,
    GstLiveListFunc is_unlocked);
/* The same for a single buffer: `*out` is what create returns. */
GST_WIRELESS_API
GstFlowReturn gst_live_list_submit_buffer (GstBaseSrc * src, GstBuffer * buffer,
    GstLiveListFunc is_unlocked, GstBuffer ** out);

G_END_DECLS

#endif /* __GST_LIVE_LIST_H__ */
