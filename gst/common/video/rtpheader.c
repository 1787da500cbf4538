/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of rtpheader.h: the size of an RTP header. */

#include "rtpheader.h"

#include "bigendian.h"

#define RTP_VERSION 2

/* Returns the size in bytes of an RTP header, including its contributing
 * sources and its extension (RFC 3550, sections 5.1 and 5.3.1). */
gsize
rtp_header_get_size (const guint8 * rtp, gsize size)
{
  gsize header = RTP_HEADER_SIZE;

  if (size < RTP_HEADER_SIZE || rtp[0] >> 6 != RTP_VERSION)
    return 0;
  header += (rtp[0] & 0x0f) * 4;
  if (rtp[0] & 0x10) {
    if (size < header + 4)
      return 0;
    header += 4 + read_be16 (rtp + header + 2) * 4;
  }
  return header <= size ? header : 0;
}
