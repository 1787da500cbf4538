/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element ifdsink. */

#ifndef __GST_IFD_SINK_H__
#define __GST_IFD_SINK_H__

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_IFD_SINK (gst_ifd_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstIfdSink, gst_ifd_sink, GST, IFD_SINK, GstBin)
GST_ELEMENT_REGISTER_DECLARE (ifdsink);

G_END_DECLS

#endif /* __GST_IFD_SINK_H__ */
