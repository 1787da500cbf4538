/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Init Cookies (RFC 4340 section 8.1.4). A listener that has no room for
 * another half-open connection encodes the Request in a cookie, puts the cookie
 * into its Response, and keeps no state. The client returns the cookie with its
 * Ack. Responses with a cookie belong to no connection and wait in the queue of
 * this file until they are sent.
 */

#pragma once

#include "dccppacket.h"

#define DCCP_COOKIE_SECRET_SIZE 32
/* Maximum size of a cookie in bytes. A cookie is sent in an option, whose
 * length field has only one byte. */
#define DCCP_MAX_COOKIE 253

typedef struct
{
  guint8 bytes[DCCP_MAX_COOKIE];
  gsize size;                   /* 0: none */
} DccpCookie;

/* Makes the cookie for `request`. `epoch` is the number of connections that
 * have been opened so far. Each cookie becomes invalid when this number
 * changes, that is, when the next connection opens. Returns FALSE if the
 * options of the Request do not fit into a cookie. */
gboolean dccp_cookie_make (DccpCookie * cookie,
    const guint8 secret[DCCP_COOKIE_SECRET_SIZE], guint64 epoch, guint64 now,
    const DatagramPath * path, const DccpPacket * request);
/* Returns TRUE if `packet` has a valid cookie. In this case, sets `request` to
 * the Request that the cookie describes, and `time` to the time at which this
 * Request was answered. request->options points into `packet`. */
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
 * Returns FALSE if the queue is full. */
gboolean dccp_responses_push (DccpResponses * responses,
    const DatagramPath * path, const guint8 * bytes, gsize size);
/* Takes a Response from the queue. Returns its size in bytes; 0 = the queue is
 * empty. */
gsize dccp_responses_pop (DccpResponses * responses, DatagramPath * path,
    guint8 bytes[DCCP_MAX_HEADER]);
