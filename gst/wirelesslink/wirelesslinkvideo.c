/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of wirelesslinkvideo.h: finds out whether a buffer is a video
 * packet, and to which frame the packet belongs. */

#include "wirelesslinkvideo.h"

#include "gstframeinfometa.h"
#include "rtpheader.h"

/* Returns whether the caps describe MPEG video over RTP. If they have no
 * encoding-name, the format follows from the static payload type (RFC 3551
 * table 5).
 */
static gboolean
is_mpv (const GstStructure * structure)
{
  const gchar *media = gst_structure_get_string (structure, "media");
  const gchar *name = gst_structure_get_string (structure, "encoding-name");
  gint payload = -1;

  gst_structure_get_int (structure, "payload", &payload);
  if (name)
    return g_str_equal (name, "MPV") && (!media
        || g_str_equal (media, "video"));
  return payload == RTP_PAYLOAD_MPV;
}

WirelessLinkVideo
wireless_link_video_from_caps (GstCaps * caps)
{
  const GstStructure *structure;

  if (gst_caps_is_any (caps) || gst_caps_is_empty (caps))
    return WIRELESS_LINK_VIDEO_NONE;
  structure = gst_caps_get_structure (caps, 0);
  if (gst_structure_has_name (structure, "application/x-ip"))
    return WIRELESS_LINK_VIDEO_IP;
  if (gst_structure_has_name (structure, "video/mpeg"))
    return WIRELESS_LINK_VIDEO_FRAMES;
  if (gst_structure_has_name (structure, "application/x-rtp")
      && is_mpv (structure))
    return WIRELESS_LINK_VIDEO_RTP;
  return WIRELESS_LINK_VIDEO_NONE;
}

/* Sets the picture type and the temporal reference of `packet` to the values of
 * GstFrameInfoMeta. This is done for whole frames. It is also done for packets
 * whose RFC 2250 header has no picture type, because some senders leave these
 * fields of the header empty. */
static void
add_meta (VideoPacket * packet, const GstFrameInfoMeta * info)
{
  if (!info || info->picture_type == MPEG_VIDEO_PICTURE_UNKNOWN
      || info->picture_type >= MPEG_VIDEO_PICTURE_LAST)
    return;
  packet->type = info->picture_type;
  packet->temporal_reference = info->temporal_reference;
}

static gboolean
parse_frame (VideoPacket * packet, const guint8 * head, gsize size,
    const GstFrameInfoMeta * info, guint32 number)
{
  if (!info || !video_packet_parse_frame (packet, head, size))
    return FALSE;
  packet->timestamp = number;
  packet->sequence = number;
  add_meta (packet, info);
  return TRUE;
}

gboolean
wireless_link_video_parse (WirelessLinkVideo video, GstBuffer * buffer,
    guint32 number, VideoPacket * packet)
{
  GstFrameInfoMeta *info;
  guint8 head[VIDEO_PACKET_HEAD];
  gsize size, full_size;

  if (video == WIRELESS_LINK_VIDEO_NONE)
    return FALSE;
  size = gst_buffer_extract (buffer, 0, head, sizeof (head));
  full_size = gst_buffer_get_size (buffer);
  if (video == WIRELESS_LINK_VIDEO_IP)
    return video_packet_parse_ip (packet, head, size, full_size);
  info = gst_buffer_get_frame_info_meta (buffer);
  if (video == WIRELESS_LINK_VIDEO_FRAMES)
    return parse_frame (packet, head, size, info, number);
  if (!video_packet_parse_rtp (packet, head, size, full_size,
          VIDEO_PACKET_ANY_TYPE))
    return FALSE;
  if (packet->type == MPEG_VIDEO_PICTURE_UNKNOWN)
    add_meta (packet, info);
  return TRUE;
}
