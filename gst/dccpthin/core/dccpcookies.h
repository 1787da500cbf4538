/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Init Cookies (RFC 4340 section 8.1.4): a listener that has no room for another
 * half-open connection puts what it needs to know of a Request into its Response,
 * and forgets both. The client returns the cookie with its Ack. Responses with a
 * cookie belong to no connection and wait here until they are sent.
 */

#pragma once

#include "dccppacket.h"

#define DCCP_COOKIE_SECRET_SIZE 32
#define DCCP_MAX_COOKIE 253     /* bytes; the length of an option is one byte */

typedef struct
{
  guint8 bytes[DCCP_MAX_COOKIE];
  gsize size;                   /* 0: none */
} DccpCookie;

/* FALSE: the Request has more options than a cookie can hold. `epoch`: a cookie of
 * another one is not valid. */
gboolean dccp_cookie_make (DccpCookie * cookie,
    const guint8 secret[DCCP_COOKIE_SECRET_SIZE], guint64 epoch, guint64 now,
    const DatagramPath * path, const DccpPacket * request);
/* TRUE: `packet` has a valid cookie. Then `request` is the Request, whose options
 * are within the packet, and `time` is when it was answered. */
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

/* FALSE: there is no room. */
gboolean dccp_responses_push (DccpResponses * responses,
    const DatagramPath * path, const guint8 * bytes, gsize size);
/* Bytes of the next one; 0: none waits */
gsize dccp_responses_pop (DccpResponses * responses, DatagramPath * path,
    guint8 bytes[DCCP_MAX_HEADER]);
