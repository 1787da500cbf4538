/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of a DCCP endpoint that listens. It answers Requests, and keeps the
 * candidates. A candidate is a connection whose client has sent a Request, but
 * has not acknowledged our Response yet. The endpoint can have only one
 * connection. It belongs to the client whose acknowledgement of our Response
 * arrives first. A forged Request therefore cannot keep other clients out.
 *
 * If there is no room for another candidate, the listener answers a Request
 * with an Init Cookie (dccpcookies.h), and stores nothing about this Request.
 * The number of these answers is limited (prefixlimiter.h).
 *
 * Times are in ns, and never go back. The endpoint calls
 * dccp_listener_take_connection () after each other call that has passed a
 * packet or the time to a candidate. Only then are all candidates in the state
 * RESPOND again.
 */

#pragma once

#include "dccpconnection.h"
#include "dccpcookies.h"
#include "dccpresponses.h"
#include "dccpended.h"
#include "dccpsecrets.h"
#include "prefixlimiter.h"

/* Maximum number of candidates. All clients of one network (prefixlimiter.h)
 * together may have only DCCP_MAX_CANDIDATES_OF_PREFIX candidates. */
#define DCCP_MAX_CANDIDATES 16
#define DCCP_MAX_CANDIDATES_OF_PREFIX 4
/* Maximum number of Responses with an Init Cookie that a listener sends per
 * second. */
#define DCCP_MAX_COOKIE_RATE 20000

typedef struct
{
  DccpCommon *common;           /* belongs to the endpoint */
  const DccpSecrets *secrets;   /* belong to the endpoint */
  /* the oldest candidate first; they belong to the listener */
  DccpConnection *candidates[DCCP_MAX_CANDIDATES];
  guint n_candidates;
  /* Limiter for the rate of Responses with an Init Cookie. It belongs to the
   * listener. */
  PrefixLimiter *limiter;
  DccpResponses responses;      /* Responses with a cookie */
} DccpListener;

/* `common` and `secrets` must stay valid as long as the listener exists. */
DccpListener *dccp_listener_new (DccpCommon * common,
    const DccpSecrets * secrets);
/* Frees the listener and its candidates. Their counters are added to those of
 * the endpoint. */
void dccp_listener_free (DccpListener * listener);

/* Returns the candidate to which `packet` belongs, or NULL if there is none. */
DccpConnection *dccp_listener_find (DccpListener * listener,
    const DatagramPath * path, const DccpPacket * packet);
/* Answers a Request that may open a connection: it has the port and the service
 * code of this endpoint, which has no connection now. The listener makes a
 * candidate, or it answers with a cookie.
 *
 * `is_contested` is TRUE if there is a candidate with the addresses and ports
 * of this Request, but it was created by a Request with another sequence
 * number. One of the two Requests is then forged. The candidate is kept, and
 * this Request is answered with a cookie. The client acknowledges only the
 * Response to its genuine Request. This acknowledgement later shows which of
 * the two Requests is genuine. */
void dccp_listener_add_request (DccpListener * listener, guint64 now,
    const DatagramPath * path, const DccpPacket * request, gsize size,
    gboolean is_contested);
/* Makes a candidate from the cookie in `packet`. The cookie contains the
 * Request that the client sent earlier. The new candidate is the same as if the
 * listener had stored that Request, and it replaces the candidate `contested`,
 * which may be NULL. Returns the new candidate, or NULL if the packet has no
 * valid cookie. Must not be called while the endpoint has a connection. */
DccpConnection *dccp_listener_restore (DccpListener * listener, guint64 now,
    const DatagramPath * path, const DccpPacket * packet,
    DccpConnection * contested);
/* Removes the candidates that have ended, and adds those that are in the state
 * TIMEWAIT to `ended`. If the handshake of a candidate is complete, returns
 * this candidate, which now belongs to the caller, and refuses all others.
 * Otherwise returns NULL. */
DccpConnection *dccp_listener_take_connection (DccpListener * listener,
    guint64 now, DccpEnded * ended);

void dccp_listener_timeout (DccpListener * listener, guint64 now);
/* Writes the next Response that must be sent, or another packet of a candidate,
 * into `bytes`, and its path into `path`. Returns the size of the packet in
 * bytes, or 0 if no packet has to be sent. */
gsize dccp_listener_poll_output (DccpListener * listener, guint64 now,
    DatagramPath * path, guint8 bytes[DCCP_MAX_CONTROL]);
/* Returns the time at which dccp_listener_timeout () has to be called next. */
guint64 dccp_listener_next_wakeup (DccpListener * listener);
/* Adds the counters of all candidates to the counters in `stats`. */
void dccp_listener_add_stats (DccpListener * listener, DccpStats * stats);
