/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers for live sources. They avoid two problems of GstBaseSrc:
 *
 * - If GstBaseSrc drops a buffer list, it treats the list as a buffer.
 * - After a pause, GstBaseSrc may stop the streaming task permanently.
 */

#pragma once

#include <gst/gst.h>
#include <gst/base/gstbasesrc.h>

/* --- unlock and unlock_stop ----------------------------------------------- */

/* GstBaseSrc calls unlock and unlock_stop not only for a flush, but also for a
 * pause. If a source acted on unlock and unlock_stop for a pause, two problems
 * would occur:
 *
 * - Since version 1.24, GstBaseSrc calls unlock when a live source goes from
 *   PLAYING to PAUSED. If the source returns to PLAYING before the streaming
 *   thread has noticed the pause, the streaming task stops and never starts
 *   again.
 * - After an unlock for a pause, GstBaseSrc calls unlock_stop in the streaming
 *   thread, directly before create and without a lock. At that moment, another
 *   thread may call unlock because it stops the element or sends EOS. The
 *   unlock_stop for the pause then cancels the unlock of the other thread. From
 *   then on, create waits for packets, and the other thread waits for create.
 *
 * GstLiveFlush therefore ignores unlock and unlock_stop for a pause. The source
 * then waits for packets in PAUSED as well, as it does with older versions of
 * GStreamer. GstLiveFlush finds out from the calling thread whether unlock or
 * unlock_stop was called for a pause or for a flush. */

/* Starts flushing if `flushing` is TRUE, and stops flushing if it is FALSE.
 * While the source is flushing, its `create` function must return
 * GST_FLOW_FLUSHING immediately. The caller holds the lock of GstLiveFlush. */
typedef void (*GstLiveFlushFunc) (GstBaseSrc * src, gboolean flushing);

typedef struct
{
  GstBaseSrc *src;              /* not owned */
  GstLiveFlushFunc set_flushing;

  /* The next three fields are used only by the streaming thread, and in state
   * changes while there is no streaming thread. */
  /* What create returned for the last list, see gst_live_list_submit (). Owned;
   * NULL if there was no list, or if GstBaseSrc dropped the last list. */
  GstBuffer *stand_in;
  gboolean was_list;            /* the last output of create was a list */
  /* Something was output since the last start, and not dropped. */
  gboolean has_output;

  /* Protects the fields below. A thread that also needs the live lock of
   * GstBaseSrc takes the live lock first. */
  GMutex lock;
  /* protected by lock */
  /* The thread that is just changing the state from PLAYING to PAUSED; NULL if
   * no such change is in progress. If this thread calls unlock, the call
   * belongs to the pause, and not to a flush. */
  GThread *pauser;
  /* The thread that called unlock for a flush; NULL if no flush is in progress
   */
  GThread *flusher;
  /* During the current flush, threads other than the one that began the flush
   * may call unlock_stop. This is the first of these threads; NULL if there is
   * none. */
  GThread *stopper;
} GstLiveFlush;

void gst_live_flush_init (GstLiveFlush * flush, GstBaseSrc * src,
    GstLiveFlushFunc set_flushing);
void gst_live_flush_clear (GstLiveFlush * flush);
/* Calls the change_state function of `parent_class` and returns its result.
 * During a change from PLAYING to PAUSED, records the calling thread. If this
 * thread calls unlock, the call is then known to belong to the pause, and not
 * to a flush. */
GstStateChangeReturn gst_live_flush_change_state (GstLiveFlush * flush,
    GstElementClass * parent_class, GstStateChange transition);
void gst_live_flush_unlock (GstLiveFlush * flush);
void gst_live_flush_unlock_stop (GstLiveFlush * flush);
/* The source calls this function at the beginning of its create function, in
 * the streaming thread. The function ends a flush whose end could not be
 * recognized earlier.
 *
 * Usually, one thread sends FLUSH_START and FLUSH_STOP. A flush therefore ends
 * when the thread that began it calls unlock_stop. If another thread calls
 * unlock_stop during a flush, there are two possible reasons:
 * - An application has sent FLUSH_STOP from another thread than FLUSH_START.
 *   The flush must end.
 * - The source was paused. After a pause, the streaming thread calls
 *   unlock_stop. The flush must continue.
 *
 * At that moment, GstLiveFlush, which keeps track of the flushes, cannot
 * distinguish the two reasons. If the first reason applies, the flush therefore
 * ends only when this function is called. */
void gst_live_flush_begin_create (GstLiveFlush * flush);

/* --- buffers and buffer lists --------------------------------------------- */

/* GstBaseSrc drops the result of create during a flush, at the end of the
 * stream and after a pause. Since version 1.26, GstBaseSrc also drops a buffer
 * that create returns in PAUSED. gst_live_list_submit () therefore waits while
 * the source is paused, so that no received data are lost.
 *
 * If the dropped result is a buffer list, GstBaseSrc before version 1.26 treats
 * the list as a buffer, and calls gst_buffer_unref with NULL
 * (gst_base_src_get_range in 1.22). A flush may begin directly after create, so
 * a source cannot avoid such a drop. With these versions, create therefore
 * returns a buffer without data, the stand-in, for each list. GstBaseSrc either
 * drops the stand-in, or it pushes the list and forgets the stand-in, which
 * then belongs to the source again. Newer versions get no buffer, as
 * gst_base_src_submit_buffer_list () demands. */

/* Returns how many buffers the source may put into one buffer list, at most
 * `max`. The result is 1 in two cases:
 * - The property num-buffers is set. GstBaseSrc would count a list as a single
 *   buffer.
 * - The caps of the pad are those of SRTP. srtpdec 1.22 crashes if it receives
 *   a list. */
guint gst_live_list_get_max (GstBaseSrc * src, guint max);
/* Returns whether `caps`, which are written as text, are caps of SRTP or SRTCP.
 */
gboolean gst_live_list_is_srtp (const gchar * caps);
/* Returns the present running time of the source, or GST_CLOCK_TIME_NONE if the
 * source does not set timestamps or has no clock. */
GstClockTime gst_live_list_get_time (GstBaseSrc * src);
/* The source calls this function at the end of its create function to output
 * `n` buffers (at least one). Takes ownership of the buffers. A single buffer
 * is stored in `*out`, and create returns it to GstBaseSrc. Several buffers are
 * submitted to GstBaseSrc as a list. GstBaseSrc sets missing timestamps only in
 * a single buffer. While the source is paused, the function waits. If the
 * source is flushing, the function drops the buffers and returns
 * GST_FLOW_FLUSHING. */
GstFlowReturn gst_live_list_submit (GstLiveFlush * flush,
    GstBuffer ** buffers, guint n, GstBuffer ** out);
