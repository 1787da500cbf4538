/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The IFD algorithm (I-Frame Delay, ifd.h) chooses the frames that are dropped
 * when a queue is full. This file connects the algorithm with GStreamer
 * elements. It contains a GType for the property that selects the algorithm,
 * fields for the `stats` structure, and functions that read the caps of video.
 */

#pragma once

#include <gst/gst.h>

#include "ifdclassifier.h"
#include "slotuse.h"

/* --- statistics ----------------------------------------------------------- */

/* Adds the counters of the IFD algorithm (`stats`) to `structure`, except the
 * counters of late frames. */
void gst_wireless_stats_fill_ifd (GstStructure * structure,
    const IfdStats * stats);

/* --- algorithms ----------------------------------------------------------- */

GType gst_ifd_algorithm_get_type (void);

/* --- caps of H.264 and H.265 ---------------------------------------------- */

/* Caps of H.264 and H.265. Each buffer holds one complete access unit. */
#define GST_H26X_CAPS \
    "video/x-h264, stream-format = (string) { avc, avc3, byte-stream }, " \
    "alignment = (string) au; " \
    "video/x-h265, stream-format = (string) { hvc1, hev1, byte-stream }, " \
    "alignment = (string) au"

/* Sets `codec` to the codec that the caps name. Returns FALSE if the caps are
 * neither H.264 nor H.265. */
gboolean gst_h26x_caps_get_codec (const GstCaps * caps, IfdCodec * codec);
/* Passes the codec_data of `caps` to `classifier`, which determines the frame
 * types of H.264 and H.265. `caps` must be fixed and match GST_H26X_CAPS. If
 * the codec_data is missing or malformed, the function returns FALSE and leaves
 * the classifier as it was. */
gboolean gst_h26x_caps_set_codec_data (const GstCaps * caps,
    IfdClassifier * classifier);

/* --- caps of VP8, VP9 and AV1 --------------------------------------------- */

/* Caps of VP8, VP9 and AV1. Each buffer holds a frame, a superframe (several
 * frames of VP9 that are sent together) or a temporal unit (the data of AV1
 * that belong to one presentation time). */
#define GST_SLOT_CAPS \
    "video/x-vp8; video/x-vp9; " \
    "video/x-av1, stream-format = (string) obu-stream, " \
    "alignment = (string) { tu, frame }"

/* Sets `codec` to the codec that the caps name. Returns FALSE if the caps do
 * not match GST_SLOT_CAPS, which are caps of VP8, VP9 or AV1. */
gboolean gst_slot_caps_get_codec (const GstCaps * caps, SlotCodec * codec);
/* Passes the codec_data of `caps` to `reader`, which parses the frames of VP8,
 * VP9 and AV1. The codec_data is optional for these codecs, so missing or
 * malformed codec_data is ignored. */
void gst_slot_caps_set_codec_data (const GstCaps * caps, SlotReader * reader);
/* Gets the temporal layer that the VP8 encoder of GStreamer stores with a
 * buffer. Returns FALSE if the buffer has no temporal layer. */
gboolean gst_wireless_get_vp8_layer (GstBuffer * buffer, SlotLayer * layer);
/* Fills in the type, the flags, the temporal layer and the slots of `frame`
 * from `use`. `use` describes which slots the frame uses and which it updates.
 * A slot is a part of a decoder's state, such as the buffer of a reference
 * frame. */
void gst_slot_use_to_frame (const SlotUse * use, IfdFrame * frame);
