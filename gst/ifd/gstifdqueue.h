/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element ifdqueue. */

#pragma once

#include <gst/gst.h>

#define GST_TYPE_IFD_QUEUE (gst_ifd_queue_get_type ())
G_DECLARE_FINAL_TYPE (GstIfdQueue, gst_ifd_queue, GST, IFD_QUEUE, GstElement)
GST_ELEMENT_REGISTER_DECLARE (ifdqueue);

/* Allows the unqueued mode. In this mode, upstream's streaming thread pushes
 * the frames downstream, so that no separate thread is needed. The mode is used
 * only for a stored stream with sync=false, because no frame of such a stream
 * has to be dropped. A bin that contains ifdqueue calls this function before
 * the element starts. */
void gst_ifd_queue_allow_unqueued (GstIfdQueue * self);
