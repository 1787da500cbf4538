/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many leading bytes of a packet must arrive whole: the headers, without
 * which the rest can't be used (Singh, section 8: unequal protection).
 */

#pragma once

#include <glib.h>

#define UDPLITE_COVERAGE_ALL G_MAXUINT

/* What the payload is, as RTP calls it (encoding-name) */
typedef enum
{
  UDPLITE_FORMAT_UNKNOWN,       /* nobody knows what is in there */
  UDPLITE_FORMAT_SEALED,        /* authenticated: of use only if whole */
  UDPLITE_FORMAT_RTP,           /* RTP, of a payload that nobody knows */
  UDPLITE_FORMAT_RTP_MPV,       /* MPEG-1 and MPEG-2 video, RFC 2250 */
  UDPLITE_FORMAT_RTP_H263,      /* RFC 2190 */
  UDPLITE_FORMAT_RTP_H263_1998, /* RFC 4629: H263-1998 and H263-2000 */
} UdpliteFormat;

/* encoding-name and payload of caps application/x-rtp; name may be NULL,
 * payload negative: not known. Where no name is known the static payload types
 * count (RFC 3551: 32 MPV, 34 H263). */
UdpliteFormat udplite_format_from_rtp (const gchar * encoding_name,
    gint payload);

/* Bytes of this packet's payload (without the UDP-Lite header) that must be
 * covered. `mark`: leading bytes of the RTP payload, or of all where the format
 * is not RTP, that whoever made the packet says must arrive whole; the payload
 * header, where it is known, is added if it isn't among them.
 * UDPLITE_COVERAGE_ALL: nobody said. Answers UDPLITE_COVERAGE_ALL for what it
 * can't read: padded, cut, RTCP, or unknown; else not more than size. */
guint udplite_coverage_of_payload (UdpliteFormat format, const guint8 * bytes,
    gsize size, guint mark);
