/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes how many leading bytes of a packet must arrive undamaged. These
 * bytes are the headers: if a header is damaged, the remaining bytes cannot be
 * used. A checksum that covers only the headers provides unequal protection (R.
 * Singh et al., "Wireless Multimedia Streaming", 2000, section 8). */

#pragma once

#include <glib.h>

#define UDPLITE_COVERAGE_ALL G_MAXUINT

/* Payload formats of packets. The formats of RTP packets are named after the
 * field encoding-name of RTP caps. */
typedef enum
{
  UDPLITE_FORMAT_UNKNOWN,       /* unknown contents */
  /* The packet is authenticated, so all of it must arrive undamaged. */
  UDPLITE_FORMAT_SEALED,
  UDPLITE_FORMAT_RTP,           /* RTP with an unknown payload format */
  UDPLITE_FORMAT_RTP_MPV,       /* MPEG-1 and MPEG-2 video, RFC 2250 */
  UDPLITE_FORMAT_RTP_H263,      /* RFC 2190 */
  UDPLITE_FORMAT_RTP_H263_1998, /* RFC 4629: H263-1998 and H263-2000 */
} UdpliteFormat;

/* Returns the payload format of RTP caps. `encoding_name` is the field
 * encoding-name of the caps, or NULL if the caps do not have this field.
 * `payload` is the field payload, or negative if the caps do not have this
 * field. If `encoding_name` is NULL, `payload` determines the format, because
 * some payload types are static (RFC 3551: 32 = MPV, 34 = H263). */
UdpliteFormat udplite_format_from_rtp (const gchar * encoding_name,
    gint payload);

/* Returns how many leading bytes of the packet the checksum must cover, not
 * counting the UDP-Lite header. `mark` is the number of leading bytes that the
 * payloader has marked as necessary, or UDPLITE_COVERAGE_ALL if the payloader
 * has marked no bytes. If the format is RTP, `mark` counts the bytes from the
 * beginning of the RTP payload. Otherwise it counts them from the beginning of
 * the packet. A payload header of a known format is always covered as well.
 *
 * Returns UDPLITE_COVERAGE_ALL for RTCP, and for a packet that is padded,
 * truncated or unknown. Otherwise the result is at most `size`. */
guint udplite_coverage_of_payload (UdpliteFormat format, const guint8 * bytes,
    gsize size, guint mark);
