/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lets one thread wait for another one: once woken, it stays awake until it is
 * reset. All functions but gst_waker_wait () are called with the element's lock.
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
/* Until it is woken, the time is over (GST_CLOCK_TIME_NONE: never), or it is
 * cancelled. Without the element's lock. */
void gst_waker_wait (GstWaker * waker, GstClockTime time,
    GCancellable * cancellable);
