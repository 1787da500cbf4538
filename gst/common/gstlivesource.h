/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two habits of GstBaseSrc that a live source has to work around: it drops
 * buffer lists as if they were buffers, and its pause may stop a task for ever.
 */

#pragma once

#include <gst/gst.h>
#include <gst/base/gstbasesrc.h>

/* --- unlock and unlock_stop ------------------------------------------------ */

/* GstBaseSrc calls unlock and unlock_stop for flushes, and for pauses too. Those of
 * a pause are not to be obeyed:
 *
 * - From 1.24 on GstBaseSrc calls unlock when a live source goes from PLAYING to
 *   PAUSED. If PLAYING follows before the streaming thread has seen that, its task
 *   stops and never starts again.
 * - It calls the unlock_stop that belongs to it in the streaming thread, right
 *   before the next create, without a lock. If the element is stopped, or gets an
 *   end of the stream, at that moment, this unlock_stop ends the unlock of the
 *   flush: create then waits for packets, and the flush waits for create, for
 *   ever.
 *
 * A source that ignores the two waits for packets in PAUSED as well, as with older
 * versions. The calls of a pause are told from those of a flush by their thread. */

/* Makes create return FLUSHING at once, until it is called with FALSE. Called with
 * the lock of GstLiveFlush */
typedef void (*GstLiveFlushFunc) (GstBaseSrc * src, gboolean flushing);

typedef struct
{
  GstBaseSrc *src;              /* not owned */
  GstLiveFlushFunc set_flushing;

  GMutex lock;                  /* taken inside the live lock of GstBaseSrc */
  /* protected by lock */
  GThread *pauser;              /* goes from PLAYING to PAUSED; NULL: none */
  GThread *flusher;             /* called unlock for a flush; NULL: no flush */
  /* Called unlock_stop during the flush of another thread; NULL: none */
  GThread *stopper;
} GstLiveFlush;

void gst_live_flush_init (GstLiveFlush * flush, GstBaseSrc * src,
    GstLiveFlushFunc set_flushing);
void gst_live_flush_clear (GstLiveFlush * flush);
/* Calls the change_state of the parent class. */
GstStateChangeReturn gst_live_flush_change_state (GstLiveFlush * flush,
    GstElementClass * parent_class, GstStateChange transition);
void gst_live_flush_unlock (GstLiveFlush * flush);
void gst_live_flush_unlock_stop (GstLiveFlush * flush);
/* At the beginning of create */
void gst_live_flush_begin_create (GstLiveFlush * flush);

/* --- buffers and buffer lists --------------------------------------------- */

/* GstBaseSrc takes a list for a buffer when it has to drop it, in a flush, an
 * end of the stream, or after a pause, and unrefs NULL (gst_base_src_get_range,
 * 1.22). From 1.26 on it also drops a buffer that create returns in PAUSED.
 * Therefore it gets either only while it goes on. */

/* How many buffers may go in one list, at most `max`. num-buffers counts a list as
 * one buffer, so buffers are then pushed singly. */
guint gst_live_list_get_max (GstBaseSrc * src, guint max);
/* The running time now; NONE: the source sets no timestamps, or has no clock */
GstClockTime gst_live_list_get_time (GstBaseSrc * src);
/* In create. Takes the buffers, one at least: several go as a list, and of a single
 * one `*out` is what create returns. Waits while the source is paused. FLUSHING:
 * they were dropped */
GstFlowReturn gst_live_list_submit (GstLiveFlush * flush,
    GstBuffer ** buffers, guint n, GstBuffer ** out);
