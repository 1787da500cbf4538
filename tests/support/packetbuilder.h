/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes buffers with small MPEG video streams for tests of elements. A buffer
 * contains a frame or an RTP packet. streambuilder.h builds the streams. */

#ifndef __PACKETBUILDER_H__
#define __PACKETBUILDER_H__

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include "streambuilder.h"

#define RAW_CAPS "video/mpeg,mpegversion=2,systemstream=false"
#define RTP_CAPS "application/x-rtp,media=video,clock-rate=90000," \
    "encoding-name=MPV,payload=32"

GstBuffer *mpeg_wrap (const guint8 * data, gsize size);
/* Builds an MPEG video stream, and returns its frames as buffers without
 * timestamps. `plan` has the type and the temporal reference of each frame,
 * such as "I2 B0 B1 P5". mpeg_stream_add () describes further words. */
GPtrArray *mpeg_make_frames (const gchar * plan, gboolean mpeg1);
/* Builds an MPEG video stream, and returns the RTP packets that the element
 * rfc2250pay makes of it. `plan` has the type and the temporal reference of
 * each frame, such as "I2 B0 B1 P5". mpeg_stream_add () describes further
 * words. */
GPtrArray *mpeg_make_packets (const gchar * plan, const gchar * launch);
guint64 mpeg_get_stat (GstHarness * h, const gchar * element,
    const gchar * name);

#endif /* __PACKETBUILDER_H__ */
