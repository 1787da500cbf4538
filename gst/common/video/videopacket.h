/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Describes a packet of MPEG video over RTP (RFC 3550, RFC 2250). Queues that
 * drop whole frames use the description. It says to which stream and frame the
 * packet belongs, whether the frame begins or ends in the packet, and which
 * type the frame has. All of this is read from the packet itself, so senders
 * need not mark their packets. If it is not certain that a packet is MPEG video
 * over RTP, the packet is rejected. */

#pragma once

#include <glib.h>

#include "mpegvideo.h"

#define VIDEO_PACKET_ANY_TYPE 128
/* The functions parse at most this number of bytes at the beginning of a
 * packet. */
#define VIDEO_PACKET_HEAD 2048

typedef struct
{
  /* Identifier of the stream: a hash of its SSRC and, for IP packets, also of
   * the addresses and ports. All packets of a stream have the same value. */
  guint64 stream;
  /* RTP timestamp. All packets of a frame have the same value. */
  guint32 timestamp;
  guint16 sequence;             /* RTP sequence number */
  /* type of the frame; UNKNOWN if the packet does not show it */
  MpegVideoPictureType type;
  /* temporal reference of the picture; only valid if `type` is not UNKNOWN */
  guint temporal_reference;
  /* `begins` is TRUE if the packet contains the first byte of a frame. `ends`
   * is TRUE if it contains the last byte of a frame. If a frame consists of two
   * field pictures, each field picture may count as the beginning of a frame.
   */
  gboolean begins, ends;
  /* closed_gop and broken_link of the GOP header; FALSE if the packet contains
   * no GOP header */
  gboolean closed_gop, broken_link;
} VideoPacket;

/* The following functions parse the packet at `data`. If it is not a packet of
 * MPEG video, they return FALSE and do not change `packet`. `full_size` is the
 * size of the whole packet in bytes. `size` is the number of bytes of the
 * packet that are available at `data`. At least VIDEO_PACKET_HEAD bytes must be
 * available, or the whole packet if it is shorter than that. */

/* Parses an RTP packet. `payload_type` is the expected payload type. It may be
 * VIDEO_PACKET_ANY_TYPE if the caller knows that the packet carries MPEG video.
 */
gboolean video_packet_parse_rtp (VideoPacket * packet, const guint8 * data,
    gsize size, gsize full_size, guint payload_type);
/* Parses an IP packet (IPv4 or IPv6) that contains a UDP or UDP-Lite packet,
 * which in turn contains an RTP packet with the payload type 32. Fragments and
 * IPv6 packets with extension headers are rejected. */
gboolean video_packet_parse_ip (VideoPacket * packet, const guint8 * data,
    gsize size, gsize full_size);
/* Parses a complete frame of an MPEG elementary stream. */
gboolean video_packet_parse_frame (VideoPacket * packet, const guint8 * data,
    gsize size);
