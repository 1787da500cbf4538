/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From buffers and their caps to what the link's core wants to know of packets
 * of video.
 */

#pragma once

#include <gst/gst.h>

#include "videopacket.h"

/* What the buffers of some caps are */
typedef enum
{
  WIRELESS_LINK_VIDEO_NONE,     /* nothing that could be told apart */
  WIRELESS_LINK_VIDEO_RTP,      /* MPEG video in RTP */
  WIRELESS_LINK_VIDEO_IP,       /* anything in IP */
  WIRELESS_LINK_VIDEO_FRAMES    /* MPEG video, a frame in each buffer that has
                                 * a GstFrameInfoMeta */
} WirelessLinkVideo;

WirelessLinkVideo wireless_link_video_from_caps (GstCaps * caps);
/* FALSE: no packet of video. number: of the buffer, where it is a frame */
gboolean wireless_link_video_parse (WirelessLinkVideo video,
    GstBuffer * buffer, guint32 number, VideoPacket * packet);
