/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dcctpthinsink, and the same element by the name dccpthinsink. */

#pragma once

#include "gstnetworksink.h"

#define GST_TYPE_DCCP_THIN_SINK (gst_dccp_thin_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstDccpThinSink, gst_dccp_thin_sink, GST,
    DCCP_THIN_SINK, GstNetworkSink)

GST_ELEMENT_REGISTER_DECLARE (dcctpthinsink);
GST_ELEMENT_REGISTER_DECLARE (dccpthinsink);
