/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Determines for each buffer whether it is a packet of a video stream, and to
 * which frame of the stream the packet belongs. The caps of the buffers tell
 * how to read the buffers. Some queues of the link's core drop whole frames,
 * and therefore need this description of each packet.
 */

#pragma once

#include <gst/gst.h>

#include "videopacket.h"

/* Format of the buffers according to their caps. */
typedef enum
{
  WIRELESS_LINK_VIDEO_NONE,     /* not recognised as video */
  WIRELESS_LINK_VIDEO_RTP,      /* MPEG video in RTP */
  WIRELESS_LINK_VIDEO_IP,       /* IP packets with any content */
  /* An elementary stream of MPEG video. Each buffer with a GstFrameInfoMeta is
   * a whole frame. */
  WIRELESS_LINK_VIDEO_FRAMES
} WirelessLinkVideo;

WirelessLinkVideo wireless_link_video_from_caps (GstCaps * caps);
/* If the buffer is a video packet or a whole video frame, fills in `packet` and
 * returns TRUE. `number` is the number of the frame. For a whole frame,
 * packet->timestamp and packet->sequence become `number`. */
gboolean wireless_link_video_parse (WirelessLinkVideo video,
    GstBuffer * buffer, guint32 number, VideoPacket * packet);
