/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One connection of DCCP (RFC 4340), from its first packet to its last: the part
 * of an endpoint that knows its peer. Only the endpoint includes this.
 */

#pragma once

#include "dccpcommon.h"
#include "dccpdropped.h"
#include "dccpfeatures.h"
#include "dccphalfconnections.h"
#include "dccphistory.h"
#include "dccpoptions.h"

#define DCCP_NEVER G_MAXUINT64
#define DCCP_MILLISECOND G_GUINT64_CONSTANT (1000000)
#define DCCP_SECOND (1000 * DCCP_MILLISECOND)
/* MSL is two minutes (RFC 4340 section 3.4). */
#define DCCP_MSL (120 * DCCP_SECOND)
/* Without a measurement (section 3.4) */
#define DCCP_DEFAULT_ROUND_TRIP (200 * DCCP_MILLISECOND)
#define DCCP_MAX_BACKOFF (64 * DCCP_SECOND)

/* Bytes of the Init Cookies of a Response, with their headers */
#define DCCP_MAX_COOKIES 512
#define DCCP_MAX_REQUESTS 16    /* seconds 1, 2, 4 ... 64, 64 in eight minutes */

typedef struct
{
  DccpCommon *common;
  guint64 now;                  /* ns */
  DatagramPath path;
  guint16 local_port, remote_port;
  guint32 service_code;
  gboolean is_server;
  gboolean is_told;             /* CONNECTED */
  DccpState state;
  DccpFeatures *features;
  DccpHalfConnections halves;   /* from PARTOPEN or OPEN on */
  guint mtu;

  /* numbers (section 7.1) */
  guint64 iss, isr;             /* first sent, first received */
  guint64 gss, gsr, gar;        /* greatest sent, received, acknowledged */
  guint64 osr;                  /* first received in OPEN */
  guint64 first_open;           /* first sent in OPEN, a server's */
  DccpHistory received;

  /* times, ns */
  guint64 began;                /* of the connection, then of its closing */
  guint64 gsr_time;             /* the packet GSR came */
  guint64 heard;                /* the last valid packet came */
  guint64 retransmit_at;        /* Request, Ack of PARTOPEN, Close, CloseReq; of
                                 * a server in RESPOND a Sync */
  guint64 backoff;
  guint64 probe_at;             /* a Sync asks whether anybody is there */
  guint64 request_times[DCCP_MAX_REQUESTS];
  guint64 response, response_time;      /* the last Response */

  /* what is to be sent */
  gboolean owes_request, owes_response, owes_ack, owes_sync, owes_sync_ack;
  gboolean owes_close, owes_close_req;
  guint64 sync_number, sync_ack_number;
  gsize sync_room;              /* bytes that the Sync may have */
  DccpLimiter responses;
  gsize answer_room;            /* bytes of a Reset or Sync to a client that has
                                 * not acknowledged anything */
  gboolean owes_echo;
  guint32 stamp;
  guint64 stamp_time;
  guint64 ndp;                  /* packets without data since the last with */

  /* Init Cookies, as options: a client returns those of the Response until it is
   * OPEN (section 8.1.4), a server has the one that its Response is to carry */
  guint8 cookies[DCCP_MAX_COOKIES];
  gsize cookies_size;

  /* data */
  guint64 delivered;            /* greatest sequence number */
  DccpDropped dropped;          /* ours, to be reported */
  gboolean told_slow;           /* that we are, by the last Ack */
  DccpHistory sent_data, reported;      /* by the other end as dropped */
  gboolean they_are_slow;
  guint64 told_rate;            /* bits per second */
} DccpConnection;

/* A client's goes to REQUEST, a server's to RESPOND with this Request. */
DccpConnection *dccp_connection_new_client (DccpCommon * common, guint64 now,
    const DatagramPath * path, guint16 local_port, guint64 iss);
DccpConnection *dccp_connection_new_server (DccpCommon * common, guint64 now,
    const DatagramPath * path, const DccpPacket * request, guint64 iss);
/* The counters of its own go to those of the endpoint. */
void dccp_connection_free (DccpConnection * connection);
void dccp_connection_add_stats (DccpConnection * connection,
    DccpStats * stats);
gboolean dccp_connection_is_over (const DccpConnection * connection);
gboolean dccp_connection_is_open (const DccpConnection * connection);

/* FALSE: there is no room for it. */
gboolean dccp_connection_add_cookie (DccpConnection * connection,
    const guint8 * value, gsize size);
gboolean dccp_connection_is_sequence_valid (DccpConnection * connection,
    const DccpPacket * packet);
/* Steps 4 to 16 of section 8.5; TRUE: data. `size`: bytes of the packet */
gboolean dccp_connection_input (DccpConnection * connection, guint64 now,
    const DccpPacket * packet, gsize size, DccpData * data);
void dccp_connection_close (DccpConnection * connection, guint64 now);
/* Nothing is sent any more. `type`: what the application hears */
void dccp_connection_end (DccpConnection * connection, DccpState state,
    DccpEventType type, guint8 code, const guint8 * data);
/* With a Reset that tells why; `type`: what the application hears */
void dccp_connection_abort (DccpConnection * connection, DccpEventType type,
    guint8 code, const guint8 * data);

void dccp_connection_timeout (DccpConnection * connection, guint64 now);
guint64 dccp_connection_next_wakeup (DccpConnection * connection);
gsize dccp_connection_poll_output (DccpConnection * connection, guint64 now,
    guint8 bytes[DCCP_MAX_CONTROL]);

guint64 dccp_connection_next_send (DccpConnection * connection, guint64 now);
guint dccp_connection_get_max_payload (const DatagramPath * path, guint mtu);
gsize dccp_connection_send (DccpConnection * connection, guint64 now,
    const guint8 * payload, gsize size, gboolean more,
    guint8 header[DCCP_MAX_HEADER]);
