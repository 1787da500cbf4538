/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A waker lets one thread wait until another thread wakes it with
 * gst_waker_wake (). Until gst_waker_reset () is called, every further call of
 * gst_waker_wait () then returns immediately. The caller of gst_waker_wait ()
 * must not hold the element's lock. The callers of all other functions must
 * hold it. */

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
/* Waits until another thread calls gst_waker_wake (), until the duration `time`
 * has passed (GST_CLOCK_TIME_NONE = no limit), or until `cancellable` is
 * cancelled. Returns immediately if the waker was woken and not reset since
 * then. The caller does not hold the element's lock. */
void gst_waker_wait (GstWaker * waker, GstClockTime time,
    GCancellable * cancellable);
