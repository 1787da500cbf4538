/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One DCCP connection (RFC 4340) between an endpoint and one peer, from its
 * first packet to its last. Only the code of the endpoint and its tests include
 * this header.
 */

#pragma once

#include "dccpcommon.h"
#include "dccpcookielist.h"
#include "dccpdropped.h"
#include "dccpdropreports.h"
#include "dccpfeatures.h"
#include "dccphalfconnections.h"
#include "dccphandshaketimes.h"
#include "dccpnumbers.h"
#include "dccpoptions.h"
#include "dccppending.h"
#include "dccpreceived.h"
#include "dccptimers.h"

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

  DccpNumbers numbers;
  DccpReceived received;

  DccpTimers timers;
  DccpHandshakeTimes handshake_times;
  /* A client has to return these cookies. A server stores the cookie that its
   * Response contains. */
  DccpCookieList cookies;

  /* packets that must be sent */
  DccpPending pending;
  /* TRUE if an Ack has to be sent, even if it contains no feedback and no
   * feature options */
  gboolean owes_ack;
  DccpLimiter responses;
  /* Size in bytes of the last packet that arrived for this connection. As long
   * as the client has not acknowledged anything, its address may be forged. A
   * Reset or Sync to it must then not be longer than this packet. */
  gsize answer_room;
  gboolean owes_echo;
  guint32 stamp;
  guint64 stamp_time;
  /* Number of packets without data that we have sent since our last packet with
   * data. The option NDP Count contains this number. */
  guint64 ndp;

  /* data */
  /* Record of the packets from the peer that we dropped. The option Data
   * Dropped has to report them to the peer. */
  DccpDropped dropped;
  /* TRUE if our last Ack contained the option Slow Receiver, which says that
   * our application is too slow for the data. */
  gboolean told_slow;
  DccpDropReports drop_reports;
  gboolean they_are_slow;
  guint64 told_rate;            /* last reported rate in bit/s */
} DccpConnection;

/* The following two functions create a connection. The connection of a client
 * begins in the state REQUEST. The connection of a server begins in the state
 * RESPOND, because the server has already received `request`. */
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

/* Processes a received packet by the steps 4 to 16 of RFC 4340 section 8.5.
 * `size` is the size of the packet in bytes. If the packet has data for the
 * application, describes the data in `data` and returns TRUE. */
gboolean dccp_connection_input (DccpConnection * connection, guint64 now,
    const DccpPacket * packet, gsize size, DccpData * data);
void dccp_connection_close (DccpConnection * connection, guint64 now);
/* Ends the connection and sets its state to `state`. Nothing is sent
 * afterwards. The application receives an event of the type `type`. There is
 * one exception: if this is a connection of a server and its opening was never
 * reported, its end is not reported either. */
void dccp_connection_end (DccpConnection * connection, DccpState state,
    DccpEventType type, guint8 code, const guint8 * data);
/* Ends the connection and sends a Reset with the code `code`. If the address of
 * the peer may be forged, special rules limit the number and the size of
 * Resets. If these rules forbid the Reset, the connection ends without one.
 *
 * The application receives an event of the type `type`. There is one exception:
 * if this is a connection of a server and its opening was never reported, its
 * end is not reported either. */
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
