/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A queue of Responses with Init Cookies (dccpcookies.h). Such a Response
 * belongs to no connection, so it cannot wait in the output of a connection
 * until it is sent.
 */

#pragma once

#include "dccppacket.h"

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
