/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adapts the IFD algorithm (ifd.h) and the frame classifier (ifdclassifier.h)
 * to elements: a GType for the property that selects the algorithm, fields for
 * the `stats` structure, and functions that read the caps of video.
 */

#pragma once

#include <gst/gst.h>

#include "ifdclassifier.h"
#include "slotuse.h"

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
/* Passes the codec_data of `caps` to `classifier`. `caps` must be fixed and
 * match GST_H26X_CAPS. If the codec_data is missing or malformed, the function
 * returns FALSE and leaves the classifier as it was. */
gboolean gst_h26x_caps_set_codec_data (const GstCaps * caps,
    IfdClassifier * classifier);

/* --- caps of VP8, VP9 and AV1 --------------------------------------------- */

/* Each buffer holds a frame, a superframe or a temporal unit. */
#define GST_SLOT_CAPS \
    "video/x-vp8; video/x-vp9; " \
    "video/x-av1, stream-format = (string) obu-stream, " \
    "alignment = (string) { tu, frame }"

/* Sets `codec` from the caps. Returns FALSE if the caps do not match
 * GST_SLOT_CAPS. */
gboolean gst_slot_caps_get_codec (const GstCaps * caps, SlotCodec * codec);
/* Passes the codec_data of `caps` to `reader`. Codec data are optional, and
 * malformed codec data are ignored. */
void gst_slot_caps_set_codec_data (const GstCaps * caps, SlotReader * reader);
/* Gets the temporal layer that the VP8 encoder of GStreamer stores with a
 * buffer. Returns FALSE if the buffer has no temporal layer. */
gboolean gst_wireless_get_vp8_layer (GstBuffer * buffer, SlotLayer * layer);
/* Sets the type, the flags, the temporal layer and the slots of `frame`. `use`
 * describes which slots of the decoder the frame uses and updates. */
void gst_slot_use_to_frame (const SlotUse * use, IfdFrame * frame);
