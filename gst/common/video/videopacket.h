/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Describes a packet of MPEG video over RTP (RFC 3550, RFC 2250) for queues
 * that drop whole frames. The description contains the stream and the frame to
 * which the packet belongs, whether the frame begins or ends in the packet, and
 * the frame type. The description is taken from the packet itself, so senders
 * need not mark their packets. A packet is rejected if it is not certain that
 * it is MPEG video over RTP.
 */

#pragma once

#include <glib.h>

#include "mpegvideo.h"

#define VIDEO_PACKET_ANY_TYPE 128
/* The functions parse at most this number of bytes of a packet. */
#define VIDEO_PACKET_HEAD 2048

typedef struct
{
  /* Identifier of the stream. All packets of a stream have the same value. */
  guint64 stream;
  /* RTP timestamp. All packets of a frame have the same value. */
  guint32 timestamp;
  guint16 sequence;             /* RTP sequence number */
  /* type of the frame; UNKNOWN if the packet does not show it */
  MpegVideoPictureType type;
  /* temporal reference of the picture; only valid if the type of the picture is
   * known */
  guint temporal_reference;
  /* `begins` is TRUE if the packet contains the first byte of a frame, and
   * `ends` is TRUE if it contains the last byte. If a frame consists of two
   * field pictures, each field picture may count as the beginning of a frame.
   */
  gboolean begins, ends;
  /* flags of the GOP header in this packet */
  gboolean closed_gop, broken_link;
} VideoPacket;

/* The following functions return FALSE, without changing `packet`, if the data
 * are not a packet of MPEG video. `data` are the first `size` bytes of a packet
 * of `full_size` bytes. The caller must supply at least VIDEO_PACKET_HEAD
 * bytes, or the whole packet if it is shorter. */

/* Parses an RTP packet. `payload_type` is the expected payload type. It may be
 * VIDEO_PACKET_ANY_TYPE if the caller knows that the packet carries MPEG video.
 */
gboolean video_packet_parse_rtp (VideoPacket * packet, const guint8 * data,
    gsize size, gsize full_size, guint payload_type);
/* Parses an IPv4 or IPv6 packet that contains UDP or UDP-Lite, and RTP with the
 * payload type 32. Fragments are rejected, and so are IPv6 packets with
 * extension headers. */
gboolean video_packet_parse_ip (VideoPacket * packet, const guint8 * data,
    gsize size, gsize full_size);
/* Parses a complete frame of an elementary stream. */
gboolean video_packet_parse_frame (VideoPacket * packet, const guint8 * data,
    gsize size);
