/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dcctpthinsink, and the same element by the name dccpthinsink. */

#ifndef __GST_DCCP_THIN_SINK_H__
#define __GST_DCCP_THIN_SINK_H__

#include "gstnetworksink.h"

G_BEGIN_DECLS

#define GST_TYPE_DCCP_THIN_SINK (gst_dccp_thin_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstDccpThinSink, gst_dccp_thin_sink, GST,
    DCCP_THIN_SINK, GstNetworkSink)

GST_ELEMENT_REGISTER_DECLARE (dcctpthinsink);
GST_ELEMENT_REGISTER_DECLARE (dccpthinsink);

G_END_DECLS

#endif /* __GST_DCCP_THIN_SINK_H__ */
