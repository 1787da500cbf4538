/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Caps of access units of H.264 and H.265: which elements of ours take, and
 * what they say to a classifier.
 */

#ifndef __GST_H26X_CAPS_H__
#define __GST_H26X_CAPS_H__

#include <gst/gst.h>

#include "gstwirelessprelude.h"
#include "ifdclassifier.h"

G_BEGIN_DECLS

/* A buffer is a whole access unit. */
#define GST_H26X_CAPS \
    "video/x-h264, stream-format = (string) { avc, avc3, byte-stream }, " \
    "alignment = (string) au; " \
    "video/x-h265, stream-format = (string) { hvc1, hev1, byte-stream }, " \
    "alignment = (string) au"

/* FALSE: it is neither of them. */
GST_WIRELESS_API
gboolean gst_h26x_caps_get_codec (const GstCaps * caps, IfdCodec * codec);
/* caps: fixed ones out of GST_H26X_CAPS. FALSE: their codec_data is missing or
 * malformed, and nothing changed. */
GST_WIRELESS_API
gboolean gst_h26x_caps_set_codec_data (const GstCaps * caps,
    IfdClassifier * classifier);

G_END_DECLS

#endif /* __GST_H26X_CAPS_H__ */
