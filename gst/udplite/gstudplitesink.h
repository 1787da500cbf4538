/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element udplitesink. */

#ifndef __GST_UDPLITE_SINK_H__
#define __GST_UDPLITE_SINK_H__

#include <gst/gst.h>

#include "gstnetworksink.h"

G_BEGIN_DECLS

#define GST_TYPE_UDPLITE_SINK (gst_udplite_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstUdpliteSink, gst_udplite_sink, GST, UDPLITE_SINK,
    GstNetworkSink)
GST_ELEMENT_REGISTER_DECLARE (udplitesink);

G_END_DECLS

#endif /* __GST_UDPLITE_SINK_H__ */
