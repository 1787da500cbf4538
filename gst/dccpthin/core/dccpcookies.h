/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Init Cookies (RFC 4340 section 8.1.4). A listener that has no room for
 * another half-open connection encodes the Request in a cookie, and puts the
 * cookie into its Response. The listener then stores nothing about the client,
 * because the client returns the cookie with its Ack.
 */

#pragma once

#include "dccppacket.h"

#define DCCP_COOKIE_SECRET_SIZE 32
/* Maximum size of a cookie in bytes. A cookie is the value of a DCCP option.
 * The length field of an option is one byte and counts all bytes of the option,
 * so an option has at most 255 bytes. The type and the length field need one
 * byte each, so 253 bytes are left for the cookie. */
#define DCCP_MAX_COOKIE 253

typedef struct
{
  guint8 bytes[DCCP_MAX_COOKIE];
  gsize size;                   /* 0: none */
} DccpCookie;

/* Makes the cookie with which a listener answers `request`. `epoch` is the
 * number of connections that the listener has opened so far. When the next
 * connection opens, this number changes, and all cookies that were made before
 * become invalid. Returns FALSE if the options of the Request do not fit into a
 * cookie. */
gboolean dccp_cookie_make (DccpCookie * cookie,
    const guint8 secret[DCCP_COOKIE_SECRET_SIZE], guint64 epoch, guint64 now,
    const DatagramPath * path, const DccpPacket * request);
/* Returns TRUE if `packet` contains a valid cookie. In this case, `request` is
 * set to the Request for which the cookie was made, and `time` to the time in
 * ns at which this Request was answered. The options of `request` point into
 * `packet`. */
gboolean dccp_cookie_check (const DccpPacket * packet,
    const guint8 secret[DCCP_COOKIE_SECRET_SIZE], guint64 epoch, guint64 now,
    const DatagramPath * path, DccpPacket * request, guint64 * time);
