/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An endpoint: dccpendpoint.c, and tests that choose what else is drawn. */

#ifndef __DCCP_ENDPOINT_PRIVATE_H__
#define __DCCP_ENDPOINT_PRIVATE_H__

#include "dccpconnection.h"
#include "dccpcookies.h"
#include "prefixlimiter.h"

G_BEGIN_DECLS

/* Requests whose Response was not acknowledged yet: the first one that is becomes
 * the connection, so that nobody keeps others out with a forged Request. One
 * network (prefixlimiter.h) has no more than a few of them. Those for which there
 * is no room get a Response with an Init Cookie, and nothing is kept of them. */
#define DCCP_MAX_CANDIDATES 16
#define DCCP_MAX_CANDIDATES_OF_PREFIX 4
/* Responses with an Init Cookie in a second */
#define DCCP_MAX_COOKIE_RATE 20000
#define DCCP_MAX_GONE 16

/* A connection that was: while it is known, so is its other end */
typedef struct
{
  DatagramPath path;
  guint16 local_port, remote_port;
  guint64 gss, gsr;             /* greatest sequence numbers sent, received */
  gboolean in_time_wait;        /* else its ports may be used again at once */
  guint64 until;                /* ns */
} DccpGone;

struct _DccpEndpoint
{
  DccpCommon common;
  guint8 entropy[DCCP_ENTROPY_SIZE];
  guint64 n_drawn;
  guint64 next_iss;             /* of the connection that a client begins next; a
                                 * listener adds it to what it has for the
                                 * client */
  guint64 now;                  /* ns, the latest seen */
  DccpConnection *connection;   /* NULL: none */
  DccpConnection *candidates[DCCP_MAX_CANDIDATES];      /* the oldest first */
  guint n_candidates;
  PrefixLimiter *limiter;       /* of Responses with a cookie, a listener's */
  DccpResponses *responses;     /* with a cookie, a listener's */
  DccpGone gone[DCCP_MAX_GONE];
  guint n_gone;                 /* ever; the oldest are overwritten */
};

/* First sequence number of a listener for a client */
guint64 dccp_endpoint_make_iss (DccpEndpoint * endpoint,
    const DatagramPath * path, guint16 remote_port);

G_END_DECLS

#endif /* __DCCP_ENDPOINT_PRIVATE_H__ */
