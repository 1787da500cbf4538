/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One DCCP connection (RFC 4340), from its first packet to its last: the part
 * of an endpoint that deals with one peer. Only the endpoint includes this
 * header.
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
/* round-trip time that is assumed before the first measurement (RFC 4340
 * section 3.4) */
#define DCCP_DEFAULT_ROUND_TRIP (200 * DCCP_MILLISECOND)
#define DCCP_MAX_BACKOFF (64 * DCCP_SECOND)

/* Maximum size in bytes of the Init Cookies of a Response, including the option
 * headers. */
#define DCCP_MAX_COOKIES 512
/* Number of Requests whose sending times are stored. The pause after the first
 * Request is 1 second. Each further pause is twice as long, up to 64 seconds.
 * Within the default connect_timeout of eight minutes, a client therefore sends
 * fewer than 16 Requests. */
#define DCCP_MAX_REQUESTS 16

typedef struct
{
  DccpCommon *common;
  guint64 now;                  /* ns */
  DatagramPath path;
  guint16 local_port, remote_port;
  guint32 service_code;
  gboolean is_server;
  gboolean is_told;             /* DCCP_EVENT_CONNECTED was reported. */
  DccpState state;
  DccpFeatures *features;
  DccpHalfConnections halves;   /* in use from PARTOPEN or OPEN on */
  guint mtu;

  /* numbers (section 7.1) */
  /* first sequence number sent (ISS) and received (ISR) */
  guint64 iss, isr;
  /* greatest sequence number sent (GSS) and received (GSR), and greatest
   * sequence number of ours that the peer has acknowledged (GAR) */
  guint64 gss, gsr, gar;
  guint64 osr;                  /* first sequence number received in OPEN */
  /* First sequence number that a server sent in the state OPEN. If the client
   * has acknowledged this number or a greater one, the client is in the state
   * OPEN, too. */
  guint64 first_open;
  DccpHistory received;

  /* times, ns */
  /* time at which the connection began or, if it is closing, at which the
   * closing began */
  guint64 began;
  /* arrival time of the packet with the greatest sequence number received (GSR)
   */
  guint64 gsr_time;
  guint64 heard;                /* arrival time of the latest valid packet */
  /* Time at which the packet whose answer is missing is sent again. This is a
   * Request, the Ack of PARTOPEN, a Close or a CloseReq. A server in RESPOND
   * does not repeat its Response, but sends a Sync at this time. */
  guint64 retransmit_at;
  guint64 backoff;
  /* time at which a Sync is sent to check whether the peer is still there */
  guint64 probe_at;
  guint64 request_times[DCCP_MAX_REQUESTS];
  /* sequence number and sending time of the last Response */
  guint64 response, response_time;

  /* packets that must be sent */
  gboolean owes_request, owes_response, owes_ack, owes_sync, owes_sync_ack;
  gboolean owes_close, owes_close_req;
  guint64 sync_number, sync_ack_number;
  /* Maximum size in bytes of the Sync that is to be sent. If the Sync answers a
   * packet, this is the size of that packet. */
  gsize sync_room;
  DccpLimiter responses;
  /* Size in bytes of the last packet that arrived for this connection. A Reset
   * or Sync to a client that has not acknowledged anything yet must not be
   * longer than this packet, because the client's address may be forged. */
  gsize answer_room;
  gboolean owes_echo;
  guint32 stamp;
  guint64 stamp_time;
  /* number of packets without data since the last packet with data */
  guint64 ndp;

  /* The stored Init Cookie options (RFC 4340 section 8.1.4). A client stores
   * the cookies of the Response. It returns them in its packets until it is in
   * the state OPEN. A server stores the cookie that its Response contains. */
  guint8 cookies[DCCP_MAX_COOKIES];
  gsize cookies_size;

  /* data */
  guint64 delivered;            /* greatest sequence number of delivered data */
  /* packets that we dropped and have to report to the peer (Data Dropped) */
  DccpDropped dropped;
  /* TRUE if our last Ack said that we are a slow receiver */
  gboolean told_slow;
  /* `sent_data` contains the packets with data that we sent. `reported`
   * contains the packets of `sent_data` that the peer has reported as dropped.
   */
  DccpHistory sent_data, reported;
  gboolean they_are_slow;
  guint64 told_rate;            /* last reported rate in bit/s */
} DccpConnection;

/* Creates a connection. A client is then in the state REQUEST. A server is in
 * the state RESPOND, because it has received `request`. */
DccpConnection *dccp_connection_new_client (DccpCommon * common, guint64 now,
    const DatagramPath * path, guint16 local_port, guint64 iss);
DccpConnection *dccp_connection_new_server (DccpCommon * common, guint64 now,
    const DatagramPath * path, const DccpPacket * request, guint64 iss);
/* Frees the connection. Its counters are added to those of the endpoint. */
void dccp_connection_free (DccpConnection * connection);
void dccp_connection_add_stats (DccpConnection * connection,
    DccpStats * stats);
gboolean dccp_connection_is_over (const DccpConnection * connection);
gboolean dccp_connection_is_open (const DccpConnection * connection);

/* Adds a cookie of `size` bytes to the Init Cookies of the connection. Returns
 * FALSE if there is no room for it. */
gboolean dccp_connection_add_cookie (DccpConnection * connection,
    const guint8 * value, gsize size);
gboolean dccp_connection_is_sequence_valid (DccpConnection * connection,
    const DccpPacket * packet);
/* Processes a packet by the steps 4 to 16 of RFC 4340 section 8.5. Returns TRUE
 * if the packet has data for the application. `size` is the size of the packet
 * in bytes. */
gboolean dccp_connection_input (DccpConnection * connection, guint64 now,
    const DccpPacket * packet, gsize size, DccpData * data);
void dccp_connection_close (DccpConnection * connection, guint64 now);
/* Ends the connection and sets its state to `state`. Nothing is sent
 * afterwards. The application receives an event of the type `type`. The
 * exception is a connection of a server that was never reported as connected.
 */
void dccp_connection_end (DccpConnection * connection, DccpState state,
    DccpEventType type, guint8 code, const guint8 * data);
/* Ends the connection with a Reset that has the code `code`. If the rules for
 * Resets to unknown peers forbid the Reset, the connection ends without it. The
 * application receives an event of the type `type`. The exception is a
 * connection of a server that was never reported as connected. */
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
