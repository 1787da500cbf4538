/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element udplitesrc. */

#ifndef __GST_UDPLITE_SRC_H__
#define __GST_UDPLITE_SRC_H__

#include "gstnetworksrc.h"

G_BEGIN_DECLS

#define GST_TYPE_UDPLITE_SRC (gst_udplite_src_get_type ())
G_DECLARE_FINAL_TYPE (GstUdpliteSrc, gst_udplite_src, GST, UDPLITE_SRC,
    GstNetworkSrc)
GST_ELEMENT_REGISTER_DECLARE (udplitesrc);

G_END_DECLS

#endif /* __GST_UDPLITE_SRC_H__ */
