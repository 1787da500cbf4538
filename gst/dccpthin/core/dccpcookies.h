/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Init Cookies (RFC 4340 section 8.1.4). A listener that has no room for
 * another half-open connection encodes the Request in a cookie, and puts the
 * cookie into its Response. The listener then stores nothing about the client,
 * because the client returns the cookie with its Ack. A Response with a cookie
 * belongs to no connection. It waits in a separate queue until it is sent. This
 * header also declares that queue.
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

#define DCCP_MAX_RESPONSES 256
#define DCCP_MAX_RESPONSE 384           /* bytes */

typedef struct
{
  struct
  {
    DatagramPath path;
    gsize size;
    guint8 bytes[DCCP_MAX_RESPONSE];
  } responses[DCCP_MAX_RESPONSES];
  guint first, n;
} DccpResponses;

/* Adds a Response of `size` bytes, which is to be sent on `path`, to the queue.
 * Returns FALSE if the queue is full or the Response is longer than
 * DCCP_MAX_RESPONSE. */
gboolean dccp_responses_push (DccpResponses * responses,
    const DatagramPath * path, const guint8 * bytes, gsize size);
/* Takes the oldest Response from the queue. Returns the size of this Response
 * in bytes, or 0 if the queue is empty. */
gsize dccp_responses_pop (DccpResponses * responses, DatagramPath * path,
    guint8 bytes[DCCP_MAX_HEADER]);
