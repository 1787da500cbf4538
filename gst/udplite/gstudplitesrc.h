/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element udplitesrc. */

#pragma once

#include "gstnetworksrc.h"

#define GST_TYPE_UDPLITE_SRC (gst_udplite_src_get_type ())
G_DECLARE_FINAL_TYPE (GstUdpliteSrc, gst_udplite_src, GST, UDPLITE_SRC,
    GstNetworkSrc)
GST_ELEMENT_REGISTER_DECLARE (udplitesrc);
