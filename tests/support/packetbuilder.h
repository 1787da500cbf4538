/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes buffers for tests of elements: frames and RTP packets of the streams
 * that streambuilder.h builds.
 */

#ifndef __PACKETBUILDER_H__
#define __PACKETBUILDER_H__

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include "streambuilder.h"

#define RAW_CAPS "video/mpeg,mpegversion=2,systemstream=false"
#define RTP_CAPS "application/x-rtp,media=video,clock-rate=90000," \
    "encoding-name=MPV,payload=32"

GstBuffer *mpeg_wrap (const guint8 * data, gsize size);
/* Returns the frames of an MPEG video stream, each as a buffer without
 * timestamps. `plan` lists the frames, such as "I2 B0 B1 P5";
 * mpeg_stream_add () describes its format. */
GPtrArray *mpeg_make_frames (const gchar * plan, gboolean mpeg1);
/* Returns the RTP packets that rfc2250pay makes of an MPEG video stream. `plan`
 * lists the frames of the stream, such as "I2 B0 B1 P5"; mpeg_stream_add ()
 * describes its format. */
GPtrArray *mpeg_make_packets (const gchar * plan, const gchar * launch);
guint64 mpeg_get_stat (GstHarness * h, const gchar * element,
    const gchar * name);

#endif /* __PACKETBUILDER_H__ */
