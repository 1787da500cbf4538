/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element ifdqueue. */

#pragma once

#include <gst/gst.h>

#define GST_TYPE_IFD_QUEUE (gst_ifd_queue_get_type ())
G_DECLARE_FINAL_TYPE (GstIfdQueue, gst_ifd_queue, GST, IFD_QUEUE, GstElement)
GST_ELEMENT_REGISTER_DECLARE (ifdqueue);

/* Allows the unqueued mode. In this mode, upstream's streaming thread pushes
 * most frames downstream itself, which saves a switch to another thread for
 * each frame. The element uses this mode only if the stream is not live and
 * sync=false, because no frame of such a stream has to be dropped. A bin that
 * contains ifdqueue calls this function before the element starts. */
void gst_ifd_queue_allow_unqueued (GstIfdQueue * self);
