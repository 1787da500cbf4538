/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lets one thread wait until another thread wakes it. A waker that was woken
 * stays awake until it is reset; until then, every wait returns immediately.
 * The caller of any function except gst_waker_wait () holds the element's lock.
 */

#pragma once

#include <gio/gio.h>
#include <gst/gst.h>

typedef struct
{
  GstPoll *poll;                /* has its own lock */
  gboolean woken;
} GstWaker;

void gst_waker_init (GstWaker * waker);
void gst_waker_clear (GstWaker * waker);
void gst_waker_wake (GstWaker * waker);
void gst_waker_reset (GstWaker * waker);
/* Waits until the waker is woken, `time` (GST_CLOCK_TIME_NONE = no limit) has
 * passed, or `cancellable` is cancelled. The caller does not hold the element's
 * lock. */
void gst_waker_wait (GstWaker * waker, GstClockTime time,
    GCancellable * cancellable);
