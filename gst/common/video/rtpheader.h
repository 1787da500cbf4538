/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The header of an RTP packet, for cores that look into packets of video.
 * Elements use GstRTPBuffer.
 */

#pragma once

#include <glib.h>

/* RFC 3550 section 5.1: the fixed part of it */
#define RTP_HEADER_SIZE 12
/* RFC 3551 table 5: these payload types have a meaning without any session
 * description. */
#define RTP_PAYLOAD_MPV 32
#define RTP_PAYLOAD_H263 34

/* Bytes of the header with its contributing sources and its extension; 0: this
 * is not RTP of version 2, or its header does not fit into size bytes. */
gsize rtp_header_get_size (const guint8 * rtp, gsize size);
