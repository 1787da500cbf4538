/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element ifdsink. */

#pragma once

#include <gst/gst.h>

#define GST_TYPE_IFD_SINK (gst_ifd_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstIfdSink, gst_ifd_sink, GST, IFD_SINK, GstBin)
GST_ELEMENT_REGISTER_DECLARE (ifdsink);
