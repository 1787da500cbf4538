/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the size of an RTP header. This function is for the code that does not
 * depend on GStreamer; GStreamer elements use GstRTPBuffer instead. */

#pragma once

#include <glib.h>

/* size in bytes of the fixed part of an RTP header (RFC 3550, section 5.1) */
#define RTP_HEADER_SIZE 12
/* Static RTP payload types (RFC 3551, table 5). A receiver knows their meaning
 * without a session description. */
#define RTP_PAYLOAD_MPV 32
#define RTP_PAYLOAD_H263 34

/* Returns the size in bytes of an RTP header, including its contributing
 * sources and its extension. Returns 0 if the packet is not RTP of version 2,
 * or if the header does not fit into `size` bytes. */
gsize rtp_header_get_size (const guint8 * rtp, gsize size);
