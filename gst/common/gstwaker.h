/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lets one thread wait for another one: once woken, it stays awake until it is
 * reset. All functions but gst_waker_wait () are called with the element's lock.
 */

#pragma once

#include <gio/gio.h>
#include <gst/gst.h>

#include "gstwirelessprelude.h"

typedef struct
{
  GstPoll *poll;                /* has its own lock */
  gboolean woken;
} GstWaker;

GST_WIRELESS_API
void gst_waker_init (GstWaker * waker);
GST_WIRELESS_API
void gst_waker_clear (GstWaker * waker);
GST_WIRELESS_API
void gst_waker_wake (GstWaker * waker);
GST_WIRELESS_API
void gst_waker_reset (GstWaker * waker);
/* Until it is woken, the time is over (GST_CLOCK_TIME_NONE: never), or it is
 * cancelled. Without the element's lock. */
GST_WIRELESS_API
void gst_waker_wait (GstWaker * waker, GstClockTime time,
    GCancellable * cancellable);
