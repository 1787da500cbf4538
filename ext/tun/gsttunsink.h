/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element tunsink; what it does and why is in gsttunsink.c. */

#ifndef __GST_TUN_SINK_H__
#define __GST_TUN_SINK_H__

#include <gst/base/gstbasesink.h>
#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_TUN_SINK (gst_tun_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstTunSink, gst_tun_sink, GST, TUN_SINK, GstBaseSink)

GST_ELEMENT_REGISTER_DECLARE (tunsink)

G_END_DECLS

#endif /* __GST_TUN_SINK_H__ */
