/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element mmtpsrc. */

#pragma once

#include "gstnetworksrc.h"

#define GST_TYPE_MMTP_SRC (gst_mmtp_src_get_type ())
G_DECLARE_FINAL_TYPE (GstMmtpSrc, gst_mmtp_src, GST, MMTP_SRC, GstNetworkSrc)
GST_ELEMENT_REGISTER_DECLARE (mmtpsrc);
