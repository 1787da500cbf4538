/* SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_BITRATE_ADAPT_H__
#define __GST_BITRATE_ADAPT_H__

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_BITRATE_ADAPT (gst_bitrate_adapt_get_type ())
G_DECLARE_FINAL_TYPE (GstBitrateAdapt, gst_bitrate_adapt, GST, BITRATE_ADAPT,
    GstBaseTransform)
GST_ELEMENT_REGISTER_DECLARE (bitrateadapt);

G_END_DECLS

#endif /* __GST_BITRATE_ADAPT_H__ */
