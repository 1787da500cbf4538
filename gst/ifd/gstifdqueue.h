/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element ifdqueue. */

#pragma once

#include <gst/gst.h>

#define GST_TYPE_IFD_QUEUE (gst_ifd_queue_get_type ())
G_DECLARE_FINAL_TYPE (GstIfdQueue, gst_ifd_queue, GST, IFD_QUEUE, GstElement)
GST_ELEMENT_REGISTER_DECLARE (ifdqueue);

/* To be called before the element starts, by a bin that needs no separate
 * thread for pushing if no frame is dropped (a stored stream with sync=false).
 * Upstream's streaming thread then pushes the frames. */
void gst_ifd_queue_allow_unqueued (GstIfdQueue * self);
