/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element bitrateadapt, which sets the bitrate of the encoder upstream to
 * what the network downstream can carry.
 */

#pragma once

#include <gst/base/gstbasetransform.h>

#define GST_TYPE_BITRATE_ADAPT (gst_bitrate_adapt_get_type ())
G_DECLARE_FINAL_TYPE (GstBitrateAdapt, gst_bitrate_adapt, GST, BITRATE_ADAPT,
    GstBaseTransform)
GST_ELEMENT_REGISTER_DECLARE (bitrateadapt);
