/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two habits of GstBaseSrc that a live source has to work around: it drops
 * buffer lists as if they were buffers, and its pause may stop a task for ever.
 */

#ifndef __GST_LIVE_SOURCE_H__
#define __GST_LIVE_SOURCE_H__

#include <gst/gst.h>
#include <gst/base/gstbasesrc.h>

#include "gstwirelessprelude.h"

G_BEGIN_DECLS

/* --- buffers and buffer lists --------------------------------------------- */

/* GstBaseSrc takes a list for a buffer when it has to drop it, in a flush, an
 * end of the stream, or after a pause, and unrefs NULL (gst_base_src_get_range,
 * 1.22). From 1.26 on it also drops a buffer that create returns in PAUSED.
 * Therefore it gets either only while it goes on. */

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

/* --- PAUSED --------------------------------------------------------------- */

/* From 1.26 on GstBaseSrc calls unlock when a live source goes from PLAYING to
 * PAUSED, and calls unlock_stop once the streaming thread has seen that. If
 * PLAYING follows before, the source is neither unlocked nor waits: its task
 * stops and never starts again. A source that ignores this one call waits for
 * packets in PAUSED as well, as with older versions. */

/* The thread that takes the source to PAUSED, or NULL; atomic */
typedef struct
{
  GThread *thread;
} GstLivePause;

/* Calls the parent's change_state. */
GST_WIRELESS_API
GstStateChangeReturn gst_live_pause_change_state (GstLivePause * pause,
    GstElementClass * parent_class, GstElement * element,
    GstStateChange transition);
/* In unlock: TRUE if the call is to be ignored. A flush comes from another thread
 * or at another time. */
GST_WIRELESS_API
gboolean gst_live_pause_ignores_unlock (GstLivePause * pause);

G_END_DECLS

#endif /* __GST_LIVE_SOURCE_H__ */
