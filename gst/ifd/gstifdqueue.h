/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element ifdqueue. */

#pragma once

#include <gst/gst.h>

#define GST_TYPE_IFD_QUEUE (gst_ifd_queue_get_type ())
G_DECLARE_FINAL_TYPE (GstIfdQueue, gst_ifd_queue, GST, IFD_QUEUE, GstElement)
GST_ELEMENT_REGISTER_DECLARE (ifdqueue);

/* For a bin that needs no thread of its own where nothing is dropped (sync=false
 * behind a file): then upstream's pushes. To be called before the start. */
void gst_ifd_queue_allow_unqueued (GstIfdQueue * self);
