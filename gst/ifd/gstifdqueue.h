/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element ifdqueue. */

#pragma once

#include <gst/gst.h>

#define GST_TYPE_IFD_QUEUE (gst_ifd_queue_get_type ())
G_DECLARE_FINAL_TYPE (GstIfdQueue, gst_ifd_queue, GST, IFD_QUEUE, GstElement)
GST_ELEMENT_REGISTER_DECLARE (ifdqueue);

/* Allows the unqueued mode, in which upstream's streaming thread pushes the
 * frames and no separate thread is needed. A bin calls this function before the
 * element starts. The mode is used only if no frame has to be dropped, which is
 * the case for a stored stream with sync=false. */
void gst_ifd_queue_allow_unqueued (GstIfdQueue * self);
