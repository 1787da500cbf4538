/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element tunsink; what it does and why is in gsttunsink.c. */

#pragma once

#include <gst/base/gstbasesink.h>
#include <gst/gst.h>

#define GST_TYPE_TUN_SINK (gst_tun_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstTunSink, gst_tun_sink, GST, TUN_SINK, GstBaseSink)

GST_ELEMENT_REGISTER_DECLARE (tunsink)
