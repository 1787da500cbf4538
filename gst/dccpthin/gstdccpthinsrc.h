/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dcctpthinsrc, and the same element by the name dccpthinsrc. */

#pragma once

#include "gstnetworksrc.h"

#define GST_TYPE_DCCP_THIN_SRC (gst_dccp_thin_src_get_type ())
G_DECLARE_FINAL_TYPE (GstDccpThinSrc, gst_dccp_thin_src, GST, DCCP_THIN_SRC,
    GstNetworkSrc)

GST_ELEMENT_REGISTER_DECLARE (dcctpthinsrc);
GST_ELEMENT_REGISTER_DECLARE (dccpthinsrc);
