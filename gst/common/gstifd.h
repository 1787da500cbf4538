/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adapts the IFD algorithm (ifd.h) and the frame classifier (ifdclassifier.h)
 * to elements: a GType for the property that selects the algorithm, fields for
 * the `stats` structure, and functions that read H.264 and H.265 caps.
 */

#pragma once

#include <gst/gst.h>

#include "ifdclassifier.h"

/* --- statistics ----------------------------------------------------------- */

/* Adds all counters of `stats` to `structure`, except those about late frames.
 */
void gst_wireless_stats_fill_ifd (GstStructure * structure,
    const IfdStats * stats);

/* --- algorithms ----------------------------------------------------------- */

GType gst_ifd_algorithm_get_type (void);

/* --- caps of H.264 and H.265 ---------------------------------------------- */

/* Each buffer holds one complete access unit. */
#define GST_H26X_CAPS \
    "video/x-h264, stream-format = (string) { avc, avc3, byte-stream }, " \
    "alignment = (string) au; " \
    "video/x-h265, stream-format = (string) { hvc1, hev1, byte-stream }, " \
    "alignment = (string) au"

/* Sets `codec` from the caps. Returns FALSE if the caps are neither H.264 nor
 * H.265. */
gboolean gst_h26x_caps_get_codec (const GstCaps * caps, IfdCodec * codec);
/* Passes the codec_data of `caps`, which are fixed and match GST_H26X_CAPS, to
 * `classifier`. Returns FALSE, and leaves the classifier as it was, if the
 * codec_data is missing or malformed. */
gboolean gst_h26x_caps_set_codec_data (const GstCaps * caps,
    IfdClassifier * classifier);
