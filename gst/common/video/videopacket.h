/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a queue that knows frames has to know of a packet: which frame of which
 * stream it belongs to, where that begins and ends, and what it is to others.
 * Read from the packet itself, of MPEG video over RTP (RFC 3550, RFC 2250), so
 * that no sender need tag anything. Bytes in, a description out; whatever is not
 * surely such a packet is none.
 */

#pragma once

#include <glib.h>

#include "mpegvideo.h"

#define VIDEO_PACKET_ANY_TYPE 128
/* bytes: no more of a packet is looked at */
#define VIDEO_PACKET_HEAD 2048

typedef struct
{
  guint64 stream;               /* equal for packets of one stream */
  guint32 timestamp;            /* equal for packets of one frame */
  guint16 sequence;             /* number in the stream */
  MpegVideoPictureType type;    /* UNKNOWN: the packet does not say */
  guint temporal_reference;     /* where the type is known */
  gboolean begins, ends;        /* holds the first, the last byte of a frame;
                                 * of field pictures, each may begin one */
  gboolean closed_gop, broken_link;     /* of a GOP that begins here */
} VideoPacket;

/* FALSE, with packet untouched: something else. data: the first bytes of a
 * packet of full_size bytes, at least VIDEO_PACKET_HEAD of them where it has
 * so many. */

/* payload_type: VIDEO_PACKET_ANY_TYPE where it is known from elsewhere that the
 * packet carries MPEG video */
gboolean video_packet_parse_rtp (VideoPacket * packet, const guint8 * data,
    gsize size, gsize full_size, guint payload_type);
/* IPv4 or IPv6 with UDP or UDP-Lite with RTP of payload type 32. Fragments, and
 * IPv6 with extension headers, are something else. */
gboolean video_packet_parse_ip (VideoPacket * packet, const guint8 * data,
    gsize size, gsize full_size);
/* A whole frame of an elementary stream */
gboolean video_packet_parse_frame (VideoPacket * packet, const guint8 * data,
    gsize size);
