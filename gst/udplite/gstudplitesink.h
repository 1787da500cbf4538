/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element udplitesink. */

#pragma once

#include <gst/gst.h>

#include "gstnetworksink.h"

#define GST_TYPE_UDPLITE_SINK (gst_udplite_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstUdpliteSink, gst_udplite_sink, GST, UDPLITE_SINK,
    GstNetworkSink)
GST_ELEMENT_REGISTER_DECLARE (udplitesink);
