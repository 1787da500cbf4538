/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element mmtpsink. */

#pragma once

#include <gst/gst.h>

#include "gstnetworksink.h"

#define GST_TYPE_MMTP_SINK (gst_mmtp_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstMmtpSink, gst_mmtp_sink, GST, MMTP_SINK,
    GstNetworkSink)
GST_ELEMENT_REGISTER_DECLARE (mmtpsink);
