/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Internals of an endpoint. They are used by dccpendpoint.c, and by tests that
 * have to control the random values of an endpoint. */

#pragma once

#include "dccpconnection.h"
#include "dccpcookies.h"
#include "dccpendpoint.h"
#include "prefixlimiter.h"

/* Maximum number of candidates. A candidate is a connection whose client has
 * sent a Request, but has not acknowledged our Response yet. The first client
 * that acknowledges its Response gets the connection of the endpoint. A forged
 * Request therefore cannot keep other clients out. One network
 * (prefixlimiter.h) may have only DCCP_MAX_CANDIDATES_OF_PREFIX candidates. A
 * Request for which there is no room is answered with an Init Cookie, and the
 * endpoint keeps no state for it. */
#define DCCP_MAX_CANDIDATES 16
#define DCCP_MAX_CANDIDATES_OF_PREFIX 4
/* maximum number of Responses with an Init Cookie per second */
#define DCCP_MAX_COOKIE_RATE 20000
#define DCCP_MAX_GONE 16

/* A connection that has ended. While it is stored, the endpoint recognises
 * packets that the peer of this connection sends. */
typedef struct
{
  DatagramPath path;
  guint16 local_port, remote_port;
  /* gss is the greatest sequence number sent, and gsr the greatest sequence
   * number received (RFC 4340) */
  guint64 gss, gsr;
  /* TRUE if the connection is in the state TIMEWAIT, so that its ports must not
   * be used again before `until` */
  gboolean in_time_wait;
  guint64 until;                /* ns */
} DccpGone;

/* A data packet that was made by dccp_endpoint_put () and has not been returned
 * by dccp_endpoint_poll_output () yet. */
typedef struct
{
  guint8 header[DCCP_MAX_HEADER];
  gsize header_size;
  DatagramPath path;
  DatagramPart payload;         /* belongs to the caller */
} DccpPut;

struct _DccpEndpoint
{
  DccpCommon common;
  guint8 entropy[DCCP_ENTROPY_SIZE];
  guint64 n_drawn;
  /* A random number. A client uses it as the first sequence number of its next
   * connection. A listener computes the first sequence number from the
   * addresses and ports of the client, and adds this random number. */
  guint64 next_iss;
  /* latest time in ns that the caller has passed as an argument */
  guint64 now;
  DccpConnection *connection;   /* NULL: none */
  /* the oldest candidate first */
  DccpConnection *candidates[DCCP_MAX_CANDIDATES];
  guint n_candidates;
  /* limits the rate of Responses with an Init Cookie; NULL in a client */
  PrefixLimiter *limiter;
  DccpResponses *responses;     /* Responses with a cookie; listener only */
  DccpGone gone[DCCP_MAX_GONE];
  /* Number of earlier connections. `gone` contains the latest DCCP_MAX_GONE of
   * them. */
  guint n_gone;
  DccpPut *put;                 /* DCCP_MAX_PUT of them */
  guint n_put, n_polled;
};

/* The following functions are the parts of dccp_endpoint_input (),
 * dccp_endpoint_put () and dccp_endpoint_poll_output (). Tests use them to look
 * at single packets. */

/* Processes a packet. Returns TRUE if the packet has data for the application.
 */
gboolean dccp_endpoint_take (DccpEndpoint * endpoint, guint64 now,
    const DatagramPath * path, const guint8 * bytes, gsize size,
    DccpData * data);
/* Writes the header of a data packet into `header` and returns the size of the
 * header in bytes. Returns 0 if the packet is too long or must not be sent now.
 * The caller sends the header and then the payload in one packet, on the path
 * that dccp_endpoint_get_path () returns. `more` is TRUE if another packet
 * waits to be sent. */
gsize dccp_endpoint_send (DccpEndpoint * endpoint, guint64 now,
    const guint8 * payload, gsize size, gboolean more,
    guint8 header[DCCP_MAX_HEADER]);
/* Stores the next control packet, which has no application data, in `bytes`,
 * and its path in `path`. Returns the size of the packet in bytes, or 0 if no
 * control packet has to be sent. */
gsize dccp_endpoint_poll_control (DccpEndpoint * endpoint, guint64 now,
    DatagramPath * path, guint8 bytes[DCCP_MAX_CONTROL]);

/* Returns the first sequence number that a listener uses for a client. */
guint64 dccp_endpoint_make_iss (DccpEndpoint * endpoint,
    const DatagramPath * path, guint16 remote_port);
