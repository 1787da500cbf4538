/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The choice of frames (ifd.h) and the classifier (ifdclassifier.h) as elements
 * show them: a type for properties, fields of statistics, and caps.
 */

#pragma once

#include <gst/gst.h>

#include "ifdclassifier.h"

/* --- statistics ----------------------------------------------------------- */

/* All but the lateness */
void gst_wireless_stats_fill_ifd (GstStructure * structure,
    const IfdStats * stats);

/* --- algorithms ----------------------------------------------------------- */

GType gst_ifd_algorithm_get_type (void);

/* --- caps of H.264 and H.265 ---------------------------------------------- */

/* A buffer is a whole access unit. */
#define GST_H26X_CAPS \
    "video/x-h264, stream-format = (string) { avc, avc3, byte-stream }, " \
    "alignment = (string) au; " \
    "video/x-h265, stream-format = (string) { hvc1, hev1, byte-stream }, " \
    "alignment = (string) au"

/* FALSE: it is neither of them. */
gboolean gst_h26x_caps_get_codec (const GstCaps * caps, IfdCodec * codec);
/* caps: fixed ones out of GST_H26X_CAPS. FALSE: their codec_data is missing or
 * malformed, and nothing changed. */
gboolean gst_h26x_caps_set_codec_data (const GstCaps * caps,
    IfdClassifier * classifier);
