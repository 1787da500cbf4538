/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An endpoint: dccpendpoint.c, and tests that choose what else is drawn. */

#pragma once

#include "dccpconnection.h"
#include "dccpcookies.h"
#include "dccpendpoint.h"
#include "prefixlimiter.h"

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

/* A packet of data that was put and not polled yet */
typedef struct
{
  guint8 header[DCCP_MAX_HEADER];
  gsize header_size;
  DatagramPath path;
  DatagramPart payload;         /* the caller's */
} DccpPut;

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
  DccpPut *put;                 /* DCCP_MAX_PUT of them */
  guint n_put, n_polled;
};

/* What dccp_endpoint_input, _put and _poll_output are made of; tests look at
 * each packet with these. */

/* TRUE: it brought data for the application. */
gboolean dccp_endpoint_take (DccpEndpoint * endpoint, guint64 now,
    const DatagramPath * path, const guint8 * bytes, gsize size,
    DccpData * data);
/* Header of a packet with this payload, to be sent before it by
 * dccp_endpoint_get_path; 0: not now, or too long. `more`: another one waits. */
gsize dccp_endpoint_send (DccpEndpoint * endpoint, guint64 now,
    const guint8 * payload, gsize size, gboolean more,
    guint8 header[DCCP_MAX_HEADER]);
/* The next packet that is not data; 0: there is none. */
gsize dccp_endpoint_poll_control (DccpEndpoint * endpoint, guint64 now,
    DatagramPath * path, guint8 bytes[DCCP_MAX_CONTROL]);

/* First sequence number of a listener for a client */
guint64 dccp_endpoint_make_iss (DccpEndpoint * endpoint,
    const DatagramPath * path, guint16 remote_port);
