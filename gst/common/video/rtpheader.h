/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the size of an RTP header. Cores that parse RTP packets of video use
 * this function; elements use GstRTPBuffer instead.
 */

#pragma once

#include <glib.h>

/* Size of the fixed part of the header, RFC 3550 section 5.1 */
#define RTP_HEADER_SIZE 12
/* Static payload types (RFC 3551, table 5), which need no session description
 */
#define RTP_PAYLOAD_MPV 32
#define RTP_PAYLOAD_H263 34

/* Returns the size of an RTP header with its contributing sources and its
 * extension. Returns 0 if the packet is not RTP of version 2, or if the header
 * does not fit into `size` bytes. */
gsize rtp_header_get_size (const guint8 * rtp, gsize size);
